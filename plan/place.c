/* sgplan place: what orders of a job's ranks cost on the cluster's switches, and a cheap one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/hostlist.h"
#include "common/xalloc.h"
#include "plan/answer.h"
#include "plan/options.h"
#include "plan/question.h"
#include "topology/arrange.h"
#include "topology/slow_links.h"
#include "topology/topology_conf.h"
#include "wire/json.h"

enum { TOPOLOGY, NODELIST, PATTERN, BANDWIDTH, LATENCY, OVERSUBSCRIPTION, LINK, SLOW, SUGGEST };

static const struct option_spec own[] = {
    [TOPOLOGY] = { "topology", "FILE", VALUE(VALUE_ANY), "topology.conf of Slurm, with switches or blocks" },
    [NODELIST] = { "nodelist", "LIST", VALUE(VALUE_ANY),
                   "nodes of the job, as in node[1-8,11]; otherwise all of the file" },
    [PATTERN] = { "pattern", "PATTERN", VALUE(VALUE_ANY),
                  "what the ranks communicate: ring, halving, doubling, groups:G or pipeline:SxR" },
    [BANDWIDTH] = { "node-bandwidth", "RATE", VALUE_RANGE(VALUE_RATE, VALUE_POSITIVE, INFINITY),
                    "bandwidth of one node's link, one way" },
    [LATENCY] = { "link-latency", "TIME", VALUE_RANGE(VALUE_SECONDS, 0, 3600), "latency of one link" },
    [OVERSUBSCRIPTION] = { "oversubscription", "RATIO[,RATIO...]", VALUE(VALUE_ANY),
                           "bandwidth below a switch over that of its link up: first for switches with nodes, then for those above" },
    [LINK] = { "link", "NAME=RATE", VALUE(VALUE_ANY),
               "measured bandwidth of a node's link, or of a switch's link up" },
    [SLOW] = { "measured", "FILE", VALUE(VALUE_ANY),
               "slow links as sgctl doctor --cluster --probe --measured wrote them, of any age" },
    [SUGGEST] = { "suggest", NULL, VALUE(VALUE_ANY),
                  "print the suggested order alone, as a host file: a line per rank" },
};

static const struct option_use uses[] = {
    { &own[TOPOLOGY], OPTION_REQUIRED },
    { &own[NODELIST], NULL },
    { &option_ranks_per_node, "1" },
    { &own[PATTERN], "ring" },
    { &option_bytes, "100MB" },
    { &own[BANDWIDTH], "100Gbit/s" },
    { &own[LATENCY], "1us" },
    { &own[OVERSUBSCRIPTION], "2" },
    { &own[LINK], OPTION_REPEATED },
    { &own[SLOW], NULL },
    { &own[SUGGEST], NULL },
    { NULL, NULL },
};

static int add_name(void *names, const char *name, struct err *err)
{
    (void)err;
    json_texts_add(names, name);
    return 0;
}

static int by_number(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* ---- options ---- */

static int read_oversubscription(const char *text, struct topology_assumption *a, struct err *err)
{
    static const struct value_type ratio = VALUE_RANGE(VALUE_NUMBER, 0.01, 1000);
    char *copy = xstrdup(text), *rest = copy, *one;
    int rc = 0;

    a->n_oversubscription = 0;
    while (rc == 0 && (one = strsep(&rest, ","))) {
        if (a->n_oversubscription == TOPOLOGY_LEVELS_MAX)
            rc = err_set(err, "at most %u levels are accepted", TOPOLOGY_LEVELS_MAX);
        else
            rc = value_parse(&ratio, one, &a->oversubscription[a->n_oversubscription++], err);
    }
    free(copy);
    return rc < 0 ? err_prefix(err, "--oversubscription=%.60s", text) : 0;
}

/* "s1=40Gbit/s" */
static int read_link(struct topology *t, const char *text, struct err *err)
{
    const char *equals = strrchr(text, '=');
    char *name = xasprintf("%.*s", equals ? (int)(equals - text) : 0, text);
    uint32_t node = topology_find_node(t, name), a_switch = topology_find_switch(t, name);
    double bytes_per_s;
    int rc;

    if (node == TOPOLOGY_NONE && a_switch == TOPOLOGY_NONE)
        rc = err_set(err, "--link=%.60s: a node or switch of the topology is accepted, as in node1=40Gbit/s",
                     text);
    else if ((rc = value_parse(&own[BANDWIDTH].type, equals + 1, &bytes_per_s, err)) < 0)
        err_prefix(err, "--link=%.60s", text);
    else {
        struct topology_link *up = node != TOPOLOGY_NONE ? &t->node[node].up : &t->a_switch[a_switch].up;

        up->measured_bytes_per_s = bytes_per_s;
        up->slower = 1; /* a rate says more than --measured */
    }
    free(name);
    return rc;
}

/* Then the answer says of when they are; "": there are none. */
static int read_slow(const struct options *o, struct topology *t, char *note, size_t size, struct err *err)
{
    const char *path = options_text(o, "measured");
    struct slow_links slow;
    time_t at;
    struct tm tm;
    char when[32];
    int n;

    *note = '\0';
    if (!path)
        return 0;
    if (slow_links_read(&slow, path, err) < 0)
        return -1;
    n = slow_links_apply(&slow, t, err);
    at = (time_t)slow.measured_s;
    strftime(when, sizeof(when), "%Y-%m-%d %H:%M UTC", gmtime_r(&at, &tm));
    snprintf(note, size, "Links that were measured to be slow: %d, between %u nodes at %s.", n, slow.nodes,
             when);
    slow_links_free(&slow);
    return n < 0 ? -1 : 0;
}

/* The nodes in Slurm's order, which is by name and number in most clusters; given: as they were listed, if
 * they were. */
static int read_nodes(const struct options *o, const struct topology *t, struct json_texts *given,
                      struct json_texts *sorted, struct err *err)
{
    const char *list = options_text(o, "nodelist");

    for (size_t i = 0; !list && i < t->n_nodes; i++)
        json_texts_add(given, t->node[i].name);
    if (list && hostlist_each(list, TOPOLOGY_NODES_MAX, add_name, given, err) < 0)
        return err_prefix(err, "--nodelist");
    if (!given->n)
        return err_set(err, "--nodelist is empty: names such as node1 or node[1-3,07] are accepted");
    for (size_t i = 0; i < given->n; i++)
        json_texts_add(sorted, given->text[i]);
    qsort(sorted->text, sorted->n, sizeof(*sorted->text), by_number);
    if (!list)
        qsort(given->text, given->n, sizeof(*given->text), by_number);
    return 0;
}

/* ---- orders ---- */

static void put_order(struct answer *answer, const struct layout *l, const char *name,
                      const struct layout_cost *c, double slurm_s)
{
    answer_cell_words(answer, "%s", name);
    answer_cells(answer, c->time_s, slurm_s > 0 ? c->time_s / slurm_s : NAN);
    if (c->link == TOPOLOGY_NONE)
        answer_cell_words(answer, "none");
    else if (c->link >= l->vertices)
        answer_cell_words(answer, "%s to %s", l->vertex[l->pair[c->link - l->vertices].a].name,
                          l->vertex[l->pair[c->link - l->vertices].b].name);
    else
        answer_cell_words(answer, "%s to %s", l->vertex[c->link].name,
                          l->vertex[l->vertex[c->link].parent].name);
    answer_cell(answer, c->link_bytes);
}

static void put_cyclic(struct answer *answer, struct layout *l, const struct pattern *p, double slurm_s)
{
    struct flows *f = flows_new(p, l->ranks, 1);
    uint32_t *rank_node = xcalloc(l->ranks, sizeof(*rank_node));
    struct layout_cost c;

    layout_cyclic(l, rank_node);
    if (f) {
        layout_cost(l, f, rank_node, &c);
        put_order(answer, l, "Slurm's cyclic", &c, slurm_s);
    }
    flows_free(f);
    free(rank_node);
}

/* The nodes as they were given, where that is not Slurm's order. */
static void put_given(struct answer *answer, struct layout *l, const struct pattern *p,
                      const struct json_texts *given, const struct json_texts *sorted, double slurm_s)
{
    struct flows *f = layout_flows(l, p);
    uint32_t *order = xcalloc(l->nodes, sizeof(*order)), *slot_node = xcalloc(l->ranks, sizeof(*slot_node));
    struct layout_cost c;
    bool same = true;

    for (uint32_t i = 0; i < l->nodes; i++) {
        char **at = bsearch(&given->text[i], sorted->text, sorted->n, sizeof(*at), by_number);

        order[i] = (uint32_t)(at - sorted->text);
        same &= order[i] == i;
    }
    if (f && !same) {
        layout_slots(l, f, order, slot_node);
        layout_cost(l, f, slot_node, &c);
        put_order(answer, l, "as listed", &c, slurm_s);
    }
    flows_free(f);
    free(order);
    free(slot_node);
}

static void put_answer(struct answer *answer, struct layout *l, const struct pattern *p, const char *pattern,
                       const struct json_texts *given, const struct json_texts *sorted, const char *note,
                       const struct arranged *a)
{
    static const struct answer_column columns[] = { { "order", "ORDER", ANSWER_WORDS },
                                                    { "time_s", "TIME", ANSWER_SECONDS },
                                                    { "over_block", "OF BLOCK", ANSWER_TIMES },
                                                    { "link", "BUSIEST LINK", ANSWER_WORDS },
                                                    { "link_bytes", "CARRIES", ANSWER_BYTES } };
    double slurm_s = a->slurm.time_s;
    uint32_t leaves = 0;

    for (uint32_t v = l->nodes; v < l->vertices; v++)
        leaves += l->vertex[v].child < l->nodes;
    answer_title(answer, "%u ranks on %u nodes below %u switch%s, %s", l->ranks, l->nodes, leaves,
                 leaves == 1 ? "" : "es", pattern);
    answer_figure(answer, "nodes", l->nodes, ANSWER_COUNT, "nodes of the job");
    answer_figure(answer, "switches", leaves, ANSWER_COUNT, "switches with nodes of the job");
    answer_figure(answer, "time_s", a->chosen.time_s, ANSWER_SECONDS,
                  "communication of one step in the suggested order");
    answer_figure(answer, "gain", a->chosen.time_s > 0 ? slurm_s / a->chosen.time_s : NAN, ANSWER_TIMES,
                  "time in Slurm's block order over it");
    answer_figure(answer, "optimal", a->exact, ANSWER_FLAG,
                  "whether it is known that no order of the nodes costs less");
    answer_table(answer, "orders", "Communication of one step by order of the ranks:", columns,
                 ARRAY_SIZE(columns));
    put_order(answer, l, "Slurm's block", &a->slurm, slurm_s);
    put_cyclic(answer, l, p, slurm_s);
    put_given(answer, l, p, given, sorted, slurm_s);
    put_order(answer, l, "suggested", &a->chosen, slurm_s);
    if (*note)
        answer_note(answer, "%s", note);
    if (a->chosen.time_s < slurm_s)
        answer_note(
            answer,
            "With --suggest the order is printed as a host file: srun uses it if SLURM_HOSTFILE names it.");
    else
        answer_note(answer, "Slurm's block order is suggested, because no order was found that costs less.");
    answer_source(
        answer,
        "latency and bandwidth (Hockney 1994) with shared links (Hoefler & Snir 2011); rings along a tree: Patarasuk & "
        "Yuan 2009; halving-doubling: Thakur, Rabenseifner & Gropp 2005; pipelines: Narayanan et al. 2021");
    answer_assumes(
        answer,
        "Slurm sorts nodes by name and number; ranks of a node follow one another, except in the cyclic order; all ranks "
        "enter a round at the same time; nobody else uses the links; LinkSpeed matters as a ratio between switches of "
        "one level");
}

static int place(const struct options *o, struct topology *t, struct answer *answer, struct err *err)
{
    struct pattern p = { .bytes = options_number(o, "bytes") };
    struct json_texts given = { 0 }, sorted = { 0 };
    struct layout_node *nodes = NULL;
    struct layout *l = NULL;
    struct arranged a;
    struct topology_assumption assumed = { .node_bytes_per_s = options_number(o, "node-bandwidth"),
                                           .latency_s = options_number(o, "link-latency") };
    uint32_t *order = NULL;
    const char *link;
    char note[160];
    int rc = -1;

    if (pattern_parse(&p, options_text(o, "pattern"), err) < 0 ||
        read_slow(o, t, note, sizeof(note), err) < 0 ||
        read_oversubscription(options_text(o, "oversubscription"), &assumed, err) < 0)
        goto done;
    for (size_t i = 0; (link = options_texts(o, "link", i)); i++)
        if (read_link(t, link, err) < 0)
            goto done;
    topology_assume(t, &assumed);
    if (read_nodes(o, t, &given, &sorted, err) < 0)
        goto done;
    nodes = xcalloc(sorted.n, sizeof(*nodes));
    order = xcalloc(sorted.n, sizeof(*order));
    for (size_t i = 0; i < sorted.n; i++)
        nodes[i] = (struct layout_node){ sorted.text[i], (uint32_t)options_number(o, "ranks-per-node") };
    l = layout_new(t, nodes, sorted.n, err);
    if (!l || arrange(l, &p, ARRANGE_WORK, order, &a, err) < 0)
        goto done;
    if (options_given(o, "suggest"))
        layout_write_hosts(l, order, stdout);
    else
        put_answer(answer, l, &p, options_text(o, "pattern"), &given, &sorted, note, &a);
    rc = 0;
done:
    layout_free(l);
    free(nodes);
    free(order);
    json_texts_free(&given);
    json_texts_free(&sorted);
    return rc;
}

static int run(const struct options *o, struct answer *answer, struct err *err)
{
    struct topology *t = topology_conf_read(options_text(o, "topology"), NULL, err);
    int rc = t && topology_needed(t, err) == 0 ? place(o, t, answer, err) : QUESTION_FAILED;

    topology_free(t);
    return rc;
}

const struct question question_place = {
    .command.name = "place",
    .command.operands = "",
    .command.text = "what orders of a job's ranks cost on the cluster's switches, and which one costs least",
    .command.more =
        "Patterns: ring, halving and doubling are all-reduces over all ranks. groups:G is a ring in each group of G ranks that follow one another, "
        "and rings between the groups. pipeline:SxR has S stages of R replicas; rank s R + r is replica r of stage s, and sends --bytes to "
        "the next stage and back, and the replicas of a stage sum --bytes in a ring. The suggested order is never one that costs more than "
        "Slurm's block order; up to 10 nodes it is the best of all.",
    .command.uses = uses,
    .run = run,
};
