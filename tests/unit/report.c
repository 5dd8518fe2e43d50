#include "common/xalloc.h"
#include "report/event_list.h"
#include "report/report.h"
#include "report/report_comm.h"
#include "report/report_diagnosis.h"
#include "report/report_event.h"
#include "report/report_history.h"
#include "report/report_marks.h"
#include "report/report_nodes.h"
#include "report/report_rank.h"
#include "report/report_row.h"
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
#include <stdlib.h>

#include "wire/json.h"

static void test_events(void)
{
    struct event_list l = { 0 };
    struct report_events r;
    json_t *o;

    for (unsigned i = 0; i < EVENT_LIST_MAX + 3; i++)
        event_list_add(&l, i, "event %u", i);
    report_events_get(&r, &l, EVENT_LIST_MAX + 2);
    is_int((long long)r.n, EVENT_LIST_MAX, "only the newest events are kept");
    is_str(r.list[0].text, "event 52", "the newest event is the first");
    ok(r.list[EVENT_LIST_MAX - 1].age_s == EVENT_LIST_MAX - 1, "the oldest event of the list has its age");
    l = (struct event_list){ 0 };
    for (unsigned i = 0; i < 7; i++)
        event_list_put(&l, i, "", i % 2 ? "regime: compute" : "regime: synchronisation");
    event_list_put(&l, 8, "straggler n1", "straggler: n1 computes 20 % longer");
    event_list_put(&l, 9, "straggler n1", "straggler: n1 computes 21 % longer");
    report_events_get(&r, &l, 10);
    o = json_pack("{s:o}", "events", report_events_json(&r));
    report_events_read(&r, o);
    json_decref(o);
    is_int((long long)r.n, 3, "what happens again is one event");
    is_str(r.list[0].text, "straggler: n1 computes 21 % longer",
           "it has the newest text, though figures differ");
    ok(r.list[1].count == 4 && r.list[1].over_s == 6 && r.list[1].age_s == 4,
       "it has its count, the time over which it happened and the age of the newest");
}

static void test_selection(void)
{
    json_t *o = json_pack("{s:i,s:i,s:I,s:s,s:s}", "offset", -5, "count", 7, "columns", (json_int_t)1 << 40,
                          "sort", "compute", "filter", "n1");
    struct report_selection s, again;

    report_selection_parse(&s, o);
    ok(s.offset == 0 && s.count == 7 && s.columns == VIEW_COLUMNS,
       "a selection's numbers out of range become the nearest allowed ones");
    ok(s.sort == REPORT_BY_COMPUTE && !strcmp(s.filter, "n1"), "a selection's order and filter are read");
    json_decref(o);
    s.picture = 5;
    o = report_selection_json(&s);
    report_selection_parse(&again, o);
    ok(!memcmp(&s, &again, sizeof(s)), "a selection is read as it was written");
    report_selection_parse(&s, NULL);
    ok(s.offset == 0 && s.count == UINT32_MAX, "without a selection all rows are selected");
    json_decref(o);
}

static json_t *list_of(const char *key, json_t *o)
{
    return json_pack("{s:[o]}", key, o);
}

/* A rank that waits for a message, and one of which hardly anything is known. */
static void test_ranks(void)
{
    struct report_rank waits = { .rank = 3,
                                 .node = "n1",
                                 .lateness_s = 0.5,
                                 .inside = true,
                                 .op = "recv",
                                 .comm = "world",
                                 .seq = 7,
                                 .message = "recv",
                                 .peer = 2,
                                 .tag = -1,
                                 .phase = "forward",
                                 .phase_s = 2,
                                 .health = { .known = true, .cpu = 4, .numa = -1, .voluntary_per_s = NAN },
                                 .state = "blocked",
                                 .state_s = 1.5 },
                       quiet = { .rank = 4, .seq = -1, .state_s = NAN, .lost = 2 }, *back;
    json_t *o = list_of("rank_table", report_rank_json(&waits, RANK_OF_JOB)), *rank;
    struct report_heat_row *row;
    size_t n, n_rows;

    rank = json_array_get(json_get_array(o, "rank_table"), 0);
    ok(!json_object_get(rank, "lost") && !json_object_get(json_get_object(rank, "health"), "numa") &&
           !json_object_get(json_get_object(rank, "health"), "voluntary_per_s"),
       "a job's rank has no number of lost records, and its health nothing that is unknown");
    back = report_ranks_read(o, &n, &row, &n_rows);
    ok(n == 1 && back->inside && !strcmp(back->message, "recv") && back->peer == 2 && back->tag == -1 &&
           !strcmp(back->phase, "forward") && back->phase_s == 2 && back->lost == -1,
       "the call, the message and the phase of a rank are read as they were written");
    ok(back->health.known && back->health.cpu == 4 && back->health.numa == -1 &&
           isnan(back->health.voluntary_per_s) && !strcmp(back->state, "blocked") && back->state_s == 1.5,
       "the health and the state of a rank are read as they were written");
    free(back);
    json_decref(o);
    o = list_of("rank_table", report_rank_json(&quiet, RANK_OF_TRACE));
    rank = json_array_get(json_get_array(o, "rank_table"), 0);
    ok(json_is_null(json_object_get(rank, "inside")) && !json_object_get(rank, "phase") &&
           !json_object_get(rank, "health") && !json_object_get(rank, "state"),
       "a trace's rank outside of calls, phases and health has no keys of them");
    back = report_ranks_read(o, &n, &row, &n_rows);
    ok(n == 1 && !back->inside && !*back->phase && !back->health.known && back->lost == 2,
       "what a trace's rank lacks is unknown, and its lost records are read");
    free(back);
    json_decref(o);
}

static void test_nodes(void)
{
    static const char *jobs[] = { "7.0", "8.0" };
    const struct report_node_sums sums = { .name = "n1",
                                           .switch_name = "s0",
                                           .job = jobs,
                                           .n_jobs = 2,
                                           .ranks = 4,
                                           .joined = 2,
                                           .lateness_s = 3,
                                           .slowdown = NAN };
    struct report_node r;
    struct report_node_rows *back;
    json_t *o, *node;

    report_node_get(&r, &sums);
    node = report_node_json(&r, NODE_OF_TRACE);
    ok(json_is_null(json_object_get(node, "agent")) && !json_object_get(node, "lemon_score"),
       "a trace's node has no agent and no history");
    json_decref(node);
    r.has_agent = true;
    r.agent = (struct report_agent){ .node = "n1", .connected = true, .age_s = 2 };
    r.culprit_count = 3;
    r.last_culprit = 90;
    o = list_of("nodes", report_node_json(&r, NODE_OF_JOBS));
    json_put_int(o, "now", 100);
    back = report_node_rows_read(o, NULL);
    json_decref(o);
    report_node_free(&r);
    ok(back->n == 1 && back->node->jobs.n == 2 && !strcmp(back->node->jobs_text, "7.0, 8.0") &&
           back->node->ranks == 4 && back->node->lateness_s == 1.5 && isnan(back->node->slowdown),
       "a node has its jobs, its ranks and their mean lateness");
    ok(back->node->has_agent && back->node->agent.connected && back->node->agent.age_s == 2 &&
           !back->node->agent.health.known && back->node->culprit_count == 3 &&
           back->node->last_culprit_age_s == 10 && isnan(back->node->lemon_score),
       "a node's agent and history are read as they were written");
    report_node_rows_free(back);
}

static void test_comms(void)
{
    static const struct report_comms comms = {
        1,
        { { .name = "00ff",
            .label = "world",
            .size = 8,
            .instances = 1,
            .skew_s = NAN,
            .efficiency = { 0.5, 0.6, NAN, 0.8, { 0.9, NAN, NAN, NAN } } } }
    };
    static const struct report_shortfalls shortfalls = { 1,
                                                         { { .label = "world",
                                                             .op = "allreduce",
                                                             .ranks = 8,
                                                             .nodes = 2,
                                                             .expected_s = 0.5,
                                                             .source = "peers",
                                                             .text = "slow" } } };
    struct report_comms c;
    struct report_shortfalls s;
    json_t *o = json_object();

    json_put_json(o, "communicators", report_comms_json(&comms));
    json_put_json(o, "shortfalls", report_shortfalls_json(&shortfalls));
    report_comms_read(&c, o);
    report_shortfalls_read(&s, o);
    json_decref(o);
    ok(c.n == 1 && !strcmp(c.list->name, "00ff") && !strcmp(c.list->label, "world") && c.list->size == 8 &&
           c.list->instances == 1 && isnan(c.list->skew_s),
       "a communicator is read as it was written");
    ok(c.list->efficiency.parallel == 0.5 && isnan(c.list->efficiency.serialisation) &&
           c.list->efficiency.transfer == 0.8 && c.list->efficiency.run.parallel == 0.9 &&
           isnan(c.list->efficiency.run.transfer),
       "its efficiencies, recent and of the run, are read as they were written");
    ok(s.n == 1 && !strcmp(s.list->label, "world") && !strcmp(s.list->op, "allreduce") &&
           s.list->ranks == 8 && s.list->nodes == 2 && s.list->expected_s == 0.5 &&
           !strcmp(s.list->source, "peers") && !strcmp(s.list->text, "slow"),
       "a communicator below expectation is read as it was written");
}

/* Of 1000 s that are left, a slowdown of 1.25 takes a fifth. */
static void test_ahead(void)
{
    static const struct {
        const char *what, *class, *state;
        double slowdown, low, high, left_s;
        const char *want;
    } cases[] = {
        { "a price with its interval", "straggler", "running", 1.25, 1.0, 2.0, 1000,
          "another 3m20s (0 s to 8m20s) until its time limit, in 16m40s, if nothing is done" },
        { "a price alone", "straggler", "running", 1.25, NAN, NAN, 1000,
          "another 3m20s until its time limit, in 16m40s, if nothing is done" },
        { "no price yet", "straggler", "running", NAN, NAN, NAN, 1000,
          "not known, because its price is not, until its time limit, in 16m40s, if nothing is done" },
        { "a hang", "hang", "stalled", NAN, NAN, NAN, 1000,
          "nothing moves until its time limit, in 16m40s, if nothing is done" },
        { "no time limit", "straggler", "running", 1.25, NAN, NAN, NAN,
          "not known: Slurm has given no time limit" },
        { "a job that has ended", "straggler", "finished", 1.25, NAN, NAN, NAN, "" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct report_verdict v = { .slowdown = cases[i].slowdown,
                                    .slowdown_low = cases[i].low,
                                    .slowdown_high = cases[i].high,
                                    .standing = true,
                                    .ahead_s = { NAN, NAN, NAN } };
        struct report_verdicts verdicts = { 1, &v };
        struct report_row row = { .start = 1, .left_s = cases[i].left_s };
        char buf[256];

        snprintf(v.class, sizeof(v.class), "%s", cases[i].class);
        snprintf(row.state, sizeof(row.state), "%s", cases[i].state);
        report_verdicts_look_ahead(&verdicts, cases[i].left_s);
        is_str(report_row_ahead(buf, sizeof(buf), &row, &v), cases[i].want, "what lies ahead, of %s",
               cases[i].what);
    }
}

/* Three ranks on two nodes, in a view that has seen nothing yet. */
static void test_view(void)
{
    struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 60 };
    struct view *v = view_new(&params, 0);
    struct report_nodes t = { 0 };
    struct report_node r;
    struct report_selection s = { .sort = REPORT_BY_RANK, .offset = 1, .count = 5, .columns = 10 };
    struct report_ranks ranks;
    struct view_figures f;
    struct report *report;
    json_t *o, *node;

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
    report_node_get(&r, &t.row[1]);
    node = report_node_json(&r, NODE_OF_TRACE);
    report_node_free(&r);
    ok(json_get_int(node, "ranks", 0, 9, -1) == 2 && json_array_size(json_get_array(node, "jobs")) == 1,
       "a node has two ranks and lists its job once");
    view_figures_get(v, 0, &f);
    report_ranks_get(&ranks, v, 0, &s);
    report = xcalloc(1, sizeof(*report));
    report_row_get(&report->job, v, 0, &f);
    report_projections_get(report, v, 0);
    report_view_get(report, v, 0, &s, &ranks);
    o = report_json(report);
    is_int(json_get_int(o, "rank_table_total", 0, 9, -1), 3, "rank_table_total counts all ranks");
    is_int((long long)json_array_size(json_get_array(o, "rank_table")), 2,
           "a selection with offset 1 leaves out the first of three ranks");
    is_str(json_get_word(json_array_get(json_get_array(o, "rank_table"), 0), "state"), "running",
           "a rank in the table is running");
    ok(json_is_null(json_object_get(o, "cpu_lack")), "no lack of CPU time is null");
    ok(json_get_string(json_get_object(o, "scaling"), "missing") &&
           json_get_string(json_get_object(o, "strategies"), "missing"),
       "scaling and strategies name what is missing");
    ok(json_array_size(json_get_array(o, "agents")) == 0 && json_is_null(json_object_get(o, "pace")),
       "the report of a view has no agents and no pacing");
    report_free(report);
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
    first = json_array_get(json_get_array(o, "list"), 0);
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

/* What is written of a part is what is read of it. */
static void test_diagnosis(void)
{
    static const struct report_efficiency efficiency = { 0.5, 0.8, 0.75, 0.6, { 0.25, 0.9, 0.4, 1 } };
    static const struct report_path path = { .concentration = 0.5,
                                             .n = 2,
                                             .rank = { { 7, "n1", 0.75, 0.25, 0.125 }, { 0, "", 0, 1, 0 } },
                                             .moves = 1,
                                             .move = { { "", "n1", 12.5, 40 } } };
    static const struct report_cpu_lack lack = { true, 0.25, "other processes" };
    static struct report_efficiency e;
    static struct report_path p;
    static struct report_cpu_lack c;
    json_t *o = json_of_fields(&efficiency, report_efficiency_fields);

    json_get_fields(&e, o, report_efficiency_fields);
    ok(!memcmp(&e, &efficiency, sizeof(e)), "efficiency is read as it was written");
    json_decref(o);
    o = report_path_json(&path);
    report_path_read(&p, o);
    ok(!memcmp(&p, &path, sizeof(p)), "the critical path is read as it was written");
    json_decref(o);
    c.known = true;
    o = json_of_fields(&lack, report_cpu_lack_fields);
    json_get_fields(&c, o, report_cpu_lack_fields);
    ok(!memcmp(&c, &lack, sizeof(c)), "lack of CPU time is read as it was written");
    json_decref(o);
}

static void test_history(void)
{
    static const struct report_history history = {
        .column_s = 0.5,
        .step_s = { 3, { 0.125, 0, 0.25 } },
        .steps_per_s = { 2, { 8, 4 } },
        .run = { true, 60, { 2, { 90, 30 } }, { 2, { 0.5, 0.75 } }, { 2, { 0.25, 1 } } },
    };
    static const struct json_series gap = { 2, { NAN, 1 } };
    static struct report_history h;
    struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 60 };
    struct view *v = view_new(&params, 0);
    struct report_heat heat, again;
    json_t *o = json_of_fields(&history, report_history_fields);

    json_get_fields(&h, o, report_history_fields);
    ok(!memcmp(&h, &history, sizeof(h)), "history is read as it was written");
    json_decref(o);
    h.step_s = gap;
    h.run.known = false;
    o = json_of_fields(&h, report_history_fields);
    ok(json_is_null(json_object_get(o, "run")), "a run without stretches that are over is null");
    ok(json_is_null(json_array_get(json_get_array(o, "step_s"), 0)), "a gap in a series is null");
    json_get_fields(&h, o, report_history_fields);
    ok(h.step_s.n == 2 && isnan(h.step_s.value[0]) && h.step_s.value[1] == 1 && isnan(h.run.width_s) &&
           h.run.age_s.n == 0,
       "a gap in a series is read as one");
    json_decref(o);
    report_heat_get(&heat, v, 7);
    o = report_heat_json(&heat);
    report_heat_read(&again, o);
    ok(again.columns == 7 && again.scale.n == REPORT_SCALE_MAX && again.scale.value[1] == heat.scale.value[1],
       "the heat map's scale is read as it was written");
    ok(report_heat_level(0, 1) == '0' && report_heat_level(heat.scale.value[1], 1) == '2' &&
           report_heat_level(1, 1) == '9' && report_heat_level(NAN, 1) == '.' &&
           report_heat_level(1, 0) == '.',
       "levels of the heat map are those of its scale");
    json_decref(o);
    view_free(v);
}

static void test_step_phases(void)
{
    static const struct report_step_phases phases = {
        .ranks = 4,
        .source = "marks",
        .step_s = 0.5,
        .n = 1,
        .phase = { { "input", 4, 0.125, 0.0625, 0.25, 3, "n1" } },
        .inferred = { true, 0.5, 0.0625, 0.125, 0, 0.25, 0.0625 },
        .text = "input 125 ms",
    };
    static struct report_step_phases s;
    json_t *o = report_step_phases_json(&phases);

    report_step_phases_read(&s, o);
    ok(!memcmp(&s, &phases, sizeof(s)), "phases of a step are read as they were written");
    json_decref(o);
    report_step_phases_read(&s, NULL);
    ok(!report_step_phases_known(&s) && s.ranks == -1 && s.n == 0, "without phases none is known");
}

int main(void)
{
    test_step_phases();
    test_history();
    test_diagnosis();
    test_paths();
    test_tree();
    test_switches();
    test_events();
    test_ranks();
    test_nodes();
    test_comms();
    test_selection();
    test_ahead();
    test_view();
    return done_testing();
}
