#include "report/event_list.h"
#include "report/report_nodes.h"
#include "report/report_switches.h"
#include "report/report_verdict.h"
#include "report/report_view.h"
#include "tests/tap.h"
#include "view/figures.h"
#include "view/switches.h"
#include "view/timeline.h"
#include "view/verdicts.h"
#include "view/view.h"

#include <math.h>

#include "wire/json.h"

static void test_events(void)
{
    struct event_list l = { 0 };
    char text[16];
    json_t *o;

    for (unsigned i = 0; i < EVENT_LIST_MAX + 3; i++)
        event_list_add(&l, i, "event %u", i);
    o = event_list_json(&l, EVENT_LIST_MAX + 2);
    is_int((long long)json_array_size(o), EVENT_LIST_MAX, "only the newest events are kept");
    get_text(json_array_get(o, 0), "text", text, sizeof(text));
    is_str(text, "event 52", "the newest event is the first");
    ok(get_number(json_array_get(o, EVENT_LIST_MAX - 1), "age_s") == EVENT_LIST_MAX - 1,
       "the oldest event of the list has its age");
    json_decref(o);
    l = (struct event_list){ 0 };
    for (unsigned i = 0; i < 7; i++)
        event_list_put(&l, i, "", i % 2 ? "regime: compute" : "regime: synchronisation");
    event_list_put(&l, 8, "straggler n1", "straggler: n1 computes 20 % longer");
    event_list_put(&l, 9, "straggler n1", "straggler: n1 computes 21 % longer");
    o = event_list_json(&l, 10);
    is_int((long long)json_array_size(o), 3, "what happens again is one event");
    get_text(json_array_get(o, 0), "text", text, sizeof(text));
    is_str(text, "straggler: n1 c", "it has the newest text, though figures differ");
    ok(get_int(json_array_get(o, 1), "count", 0, 99, 0) == 4 &&
           get_number(json_array_get(o, 1), "over_s") == 6 && get_number(json_array_get(o, 1), "age_s") == 4,
       "it has its count, the time over which it happened and the age of the newest");
    json_decref(o);
}

static void test_selection(void)
{
    json_t *o = json_pack("{s:i,s:i,s:I,s:s,s:s}", "offset", -5, "count", 7, "columns", (json_int_t)1 << 40,
                          "sort", "compute", "filter", "n1");
    struct report_selection s;

    report_selection_parse(&s, o);
    ok(s.offset == 0 && s.count == 7 && s.columns == VIEW_COLUMNS,
       "a selection's numbers out of range become the nearest allowed ones");
    ok(s.sort == REPORT_BY_COMPUTE && !strcmp(s.filter, "n1"), "a selection's order and filter are read");
    report_selection_parse(&s, NULL);
    ok(s.offset == 0 && s.count == UINT32_MAX, "without a selection all rows are selected");
    json_decref(o);
}

/* Three ranks on two nodes, in a view that has seen nothing yet. */
static void test_view(void)
{
    struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 60 };
    struct view *v = view_new(&params, 0);
    struct report_nodes t = { 0 };
    struct report_selection s = { .sort = REPORT_BY_RANK, .offset = 1, .count = 5, .columns = 10 };
    struct report_ranks ranks;
    struct view_figures f;
    json_t *o = json_object(), *node;

    view_rank_add(v, 0, 0, "n0", "s0");
    view_rank_add(v, 1, 0, "n1", "s0");
    view_rank_add(v, 2, 0, "n1", "s0");
    report_nodes_add(&t, v, "7.0", 0);
    report_nodes_of(&t, v, "7.0", "n1", "s0", 0);
    report_nodes_get(&t, "n9");
    report_nodes_get(&t, "n1");
    report_nodes_sort(&t);
    ok(t.n == 3 && !strcmp(t.row[0].name, "n0") && !strcmp(t.row[1].name, "n1") &&
           !strcmp(t.row[2].name, "n9"),
       "the list has two nodes with ranks and one without, each once and by name");
    node = report_node_json(&t.row[1]);
    ok(get_int(node, "ranks", 0, 9, -1) == 2 && json_array_size(get_array(node, "jobs")) == 1,
       "a node has two ranks and lists its job once");
    view_figures_get(v, 0, &f);
    report_ranks_get(&ranks, v, 0, &s);
    report_put_row(o, v, 0, &f);
    put_json(o, "verdicts", report_verdicts(v, 0));
    report_put_view(o, v, 0, &ranks, &s, NULL, NULL, NULL);
    put_json(o, "rank_table", report_rank_table(v, 0, &ranks));
    is_int(get_int(o, "rank_table_total", 0, 9, -1), 3, "rank_table_total counts all ranks");
    is_int((long long)json_array_size(get_array(o, "rank_table")), 2,
           "a selection with offset 1 leaves out the first of three ranks");
    is_str(get_word(json_array_get(get_array(o, "rank_table"), 0), "state"), "running",
           "a rank in the table is running");
    ok(get_string(get_object(o, "scaling"), "missing") && get_string(get_object(o, "strategies"), "missing"),
       "scaling and strategies name what is missing");
    ok(!json_object_get(o, "agents") && !json_object_get(o, "pace"),
       "the report of a view has no agents and no pacing");
    report_ranks_free(&ranks);
    report_nodes_free(&t);
    json_decref(node);
    json_decref(o);
    view_free(v);
}

/* Five ranks on four nodes, one of them below no known switch. */
static void test_switches(void)
{
    struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 60 };
    struct view *v = view_new(&params, 0);
    struct report_switches *s, *again;
    json_t *o, *first;

    view_rank_add(v, 0, 0, "n10", "s10");
    view_rank_add(v, 1, 0, "n2", "s2");
    view_rank_add(v, 2, 0, "n2", "s2");
    view_rank_add(v, 3, 0, "n3", "s2");
    view_rank_add(v, 4, 0, "n4", NULL);
    s = report_switches_get(v, NULL, 0, 0, REPORT_SWITCHES_MAX);
    ok(s->total == 2 && s->n == 2 && s->nodes == 4 && s->unknown_nodes == 1 && s->ranks == 5,
       "two switches, and a node of which the switch is not known");
    is_str(s->list[0].name, "s2", "switches are in the order of their numbers");
    ok(s->list[0].nodes == 2 && s->list[0].ranks == 3, "a switch counts its nodes and ranks");
    ok(isnan(s->list[0].slowdown) && s->list[0].worst_rank == -1 && s->eventful == 0,
       "work that is not known is unknown, and nothing is named");
    o = report_switches_json(s);
    first = json_array_get(get_array(o, "list"), 0);
    json_object_set_new(
        first, "named",
        json_pack("[{s:s,s:s,s:s}]", "node", "n\0333", "class", "communication", "culprit", "n3-n10"));
    again = report_switches_read(o);
    ok(again && again->n == 2 && again->total == 2 && again->list[0].nodes == 2 &&
           again->list[0].n_named == 1 && again->list[1].n_named == 0,
       "what was written is read again");
    is_str(again ? again->named[0].name : "", "n?3", "control characters in a name are replaced");
    ok(again && again->named[0].ranks == -1, "a number that is missing is unknown");
    report_switches_free(again);
    report_switches_free(s);
    s = report_switches_get(v, NULL, 0, 0, 1);
    ok(s->n == 1 && s->total == 2, "a list that is cut has the number of all switches");
    report_switches_free(s);
    ok(!report_switches_read(NULL), "what is no object is no list of switches");
    json_decref(o);
    view_free(v);
}

static void check_path(const struct switches *s, const char *name, const char *expected, const char *what)
{
    char path[SWITCHES_PATH];

    is_str(switches_path(s, name, path), expected, "%s", what);
}

static void test_paths(void)
{
    struct switches *s = switches_new();
    char text[1000], path[SWITCHES_PATH];

    switches_add(s, "core.spine0.leaf1");
    switches_add(s, "core.spine1.leaf2");
    check_path(s, "leaf1", "core\nspine0\nleaf1", "the switches above one, from the root down");
    check_path(s, "spine1", "core\nspine1", "also of one in between");
    check_path(s, "leaf9", "leaf9", "of one that nobody named only itself");
    switches_add(s, "core.spine1.leaf1");
    check_path(s, "leaf1", "core\nspine1\nleaf1", "the newest is right");
    switches_add(s, "");
    switches_add(s, "core..leaf7");
    check_path(s, "leaf7", "leaf7", "what follows an empty name is ignored");
    memset(text, 'x', sizeof(text));
    memcpy(text + 100, ".leaf8", 7);
    switches_add(s, text);
    check_path(s, "leaf8", "leaf8", "and what follows a name that is too long");
    switches_add(s, "a.b.a");
    ok(strlen(switches_path(s, "a", path)) == 2 * SWITCHES_LEVELS - 1, "a circle ends");
    for (unsigned i = 0; i < 2 * SWITCHES_MAX; i++) {
        snprintf(text, sizeof(text), "root.n%u", i);
        switches_add(s, text);
    }
    snprintf(text, sizeof(text), "n%u", 2 * SWITCHES_MAX - 1);
    check_path(s, text, text, "of too many the last are not kept");
    check_path(s, "n0", "root\nn0", "but the first");
    switches_free(s);
}

/* "core/spine0/leaf0!" */
static const char *row_text(const struct report_switches *s, size_t i)
{
    static char text[128];

    snprintf(text, sizeof(text), "%lld %s %lld nodes, %lld slow routes, %zu named",
             (long long)s->list[i].depth, s->list[i].name, (long long)s->list[i].nodes,
             (long long)s->list[i].slow_routes, s->list[i].n_named);
    return text;
}

/* Two spines of two leaves each, with a node or two below; a verdict on the link between two of the nodes. */
static void test_tree(void)
{
    static const char *const switch_of[] = { "leaf0", "leaf0", "leaf1", "leaf2", "leaf3" };
    static const char *const name[] = { "a-node", "a-node-with-a-name-longer-than-thirty-one", "c", "a",
                                        "e" };
    static const char *const one_spine[] = {
        "0 core 5 nodes, 0 slow routes, 0 named",   "1 spine0 3 nodes, 0 slow routes, 0 named",
        "2 leaf0 2 nodes, 1 slow routes, 1 named",  "2 leaf1 1 nodes, 1 slow routes, 1 named",
        "1 spine1 2 nodes, 0 slow routes, 0 named", "2 leaf2 1 nodes, 0 slow routes, 0 named",
        "2 leaf3 1 nodes, 0 slow routes, 0 named"
    };
    static const char *const two_spines[] = {
        "0 core 5 nodes, 0 slow routes, 0 named",   "1 spine0 3 nodes, 1 slow routes, 0 named",
        "2 leaf0 2 nodes, 1 slow routes, 1 named",  "2 leaf1 1 nodes, 0 slow routes, 0 named",
        "1 spine1 2 nodes, 1 slow routes, 0 named", "2 leaf3 1 nodes, 1 slow routes, 1 named",
        "2 leaf2 1 nodes, 0 slow routes, 0 named"
    };
    struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 60 };
    struct view *v = view_new(&params, 0);
    struct view_verdict d = { .finding = { .class = FINDING_COMMUNICATION, .scope = SCOPE_LINK },
                              .n_culprits = 1 };
    struct report_switches *s;

    for (uint32_t i = 0; i < ARRAY_SIZE(name); i++)
        view_rank_add(v, i, 0, name[i], switch_of[i]);
    view_switches_add(v, "core.spine0.leaf0");
    view_switches_add(v, "core.spine0.leaf1");
    view_switches_add(v, "core.spine1.leaf2");
    view_switches_add(v, "core.spine1.leaf3");
    for (uint32_t place = 0; *view_place_name(v, place); place++) {
        d.finding.place = !strcmp(view_place_name(v, place), name[1]) ? place : d.finding.place;
        d.finding.other = !strcmp(view_place_name(v, place), name[2]) ? place : d.finding.other;
    }
    s = report_switches_get(v, &d, 1, 0, REPORT_SWITCHES_MAX);
    ok(s->total == 7 && s->n == 7 && s->eventful == 2 && s->n_named == 2,
       "all switches of the tree are listed");
    for (size_t i = 0; i < s->n; i++)
        is_str(row_text(s, i), one_spine[i], "a slow link below one spine: %s", one_spine[i]);
    is_str(s->named[0].name, name[1], "its end below the first leaf, in full");
    is_str(s->named[0].culprit, "c", "is a slow link to the other end");
    is_str(s->named[1].culprit, name[1], "which names the first, in full");
    report_switches_free(s);
    for (uint32_t place = 0; *view_place_name(v, place); place++)
        d.finding.other = !strcmp(view_place_name(v, place), "e") ? place : d.finding.other;
    s = report_switches_get(v, &d, 1, 0, REPORT_SWITCHES_MAX);
    for (size_t i = 0; i < s->n; i++)
        is_str(row_text(s, i), two_spines[i], "one between two spines: %s", two_spines[i]);
    report_switches_free(s);
    d.minor = true;
    s = report_switches_get(v, &d, 1, 0, REPORT_SWITCHES_MAX);
    ok(s->eventful == 0 && s->n_named == 0 && s->list[1].slow_routes == 0, "what costs little is not marked");
    report_switches_free(s);
    view_free(v);
}

int main(void)
{
    test_paths();
    test_tree();
    test_switches();
    test_events();
    test_selection();
    test_view();
    return done_testing();
}
