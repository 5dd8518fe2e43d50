/* Links that were measured to be slow: the file, what orders cost with them, and which order is chosen. */
#include "topology/slow_links.h"

#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"
#include "topology/arrange.h"
#include "topology/topology_conf.h"

#define RATE 12.5e9 /* of a node, of topology_usual */
#define N    8

static const char tree[] =
    "SwitchName=s0 Nodes=n[0-3]\nSwitchName=s1 Nodes=n[4-7]\nSwitchName=top Switches=s[0-1]\n",
                  one[] = "SwitchName=s Nodes=n[0-7]\n";

static const struct {
    const char *text, *why; /* NULL: it is accepted */
} files[] = {
    { "Measured=2026-11-25T05:00:00Z Nodes=64\n", NULL },
    { "# by hand\nmeasured=2026-11-25T05:00:00Z nodes=8\nNode=n[0-1] Slower=2 Delay=1ms Below=s1\nPair=n1,n2 Delay=5us\nSwitch=s0 Slower=1e3\n",
      NULL },
    { "", "f: nothing in it: a first line such as Measured=" },
    { "Node=n1 Slower=2\n", "f:1: Node=n1: one line of Measured and Nodes is accepted, the first" },
    { "Measured=yesterday Nodes=2\n",
      "f:1: Measured=yesterday: a time in UTC such as 2026-11-25T05:00:00Z is accepted" },
    { "Measured=2026-11-25T05:00:00 Nodes=2\n", "a time in UTC" },
    { "Measured=2026-11-25T05:00:00Z\n", "Nodes is missing" },
    { "Measured=2026-11-25T05:00:00Z Nodes=1\n", "f:1: Nodes=1: " },
    { "Measured=2026-11-25T05:00:00Z Nodes=9 Node=n1\n", "the first" },
    { "Measured=2026-11-25T05:00:00Z Nodes=9\nMeasured=2026-11-25T05:00:00Z Nodes=9\n", "f:2: " },
    { "Measured=2026-11-25T05:00:00Z Nodes=9\nLink=n1 Slower=2\n",
      "f:2: Link=n1: Measured with Nodes; then Node, Switch or Pair" },
    { "Measured=2026-11-25T05:00:00Z Nodes=9\nNode=n1 Switch=s Slower=2\n",
      "f:2: Node=n1: Measured with Nodes; then" },
    { "Measured=2026-11-25T05:00:00Z Nodes=9\nNode=n1 Slower=2 Slower=3\n",
      "f:2: Slower=3: Slower is given twice" },
    { "Measured=2026-11-25T05:00:00Z Nodes=9\nNode=n1\n", "f:2: Node=n1: Slower, Delay or Below is missing" },
    { "Measured=2026-11-25T05:00:00Z Nodes=9\nNode=n1 Slower=0.5\n", "f:2: Slower=0.5: " },
    { "Measured=2026-11-25T05:00:00Z Nodes=9\nNode=n1 Slower=nan\n", "f:2: Slower=nan: " },
    { "Measured=2026-11-25T05:00:00Z Nodes=9\nNode=n1 Delay=1h\n", "f:2: Delay=1h: " },
    { "Measured=2026-11-25T05:00:00Z Nodes=9\nSwitch=s Below=t\n",
      "f:2: Below=t: Below is accepted of a node" },
    { "Measured=2026-11-25T05:00:00Z Nodes=9\nNode=n[1- Slower=2\n", "f:2: Node=n[1-: " },
    { "Measured=2026-11-25T05:00:00Z Nodes=9\nNode=n[1-9999] Slower=2\n", "f:2: Node=n[1-9999]: " },
    { "Measured=2026-11-25T05:00:00Z Nodes=9\nPair=n1 Slower=2\n",
      "f:2: Pair=n1: two nodes are accepted, as in node1,node2" },
    { "Measured=2026-11-25T05:00:00Z Nodes=9\nPair=n1,n1 Slower=2\n", "two nodes are accepted" },
    { "Measured=2026-11-25T05:00:00Z Nodes=9\nPair=n1,n2,n3 Slower=2\n", "two nodes are accepted" },
    { "Measured=2026-11-25T05:00:00Z Nodes=9\nPair=n[1-2],n3 Slower=2\n", "a name of letters" },
};

static void check_files(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        struct slow_links s;
        struct err err = { "" };
        int rc = slow_links_parse(&s, "f", files[i].text, strlen(files[i].text), &err);

        if (files[i].why)
            ok(rc < 0 && strstr(err.text, files[i].why) && !s.n, "not accepted: %s", err.text);
        else
            ok(rc == 0, "file %zu is accepted%s", i, err.text);
        slow_links_free(&s);
    }
}

/* Each line that is accepted, written and read again. */
static void check_line(const char *line)
{
    struct slow_links s, again;
    struct err err = { "" };
    char head[256], *text = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);

    snprintf(head, sizeof(head), "Measured=2026-11-25T05:00:00Z Nodes=8\n%s", line);
    if (slow_links_parse(&s, "f", head, strlen(head), &err) < 0)
        ok(false, "the test's line: %s", err.text);
    slow_links_write(&s, f);
    fclose(f);
    if (slow_links_parse(&again, "again", text, bytes, &err) < 0)
        ok(false, "what was written of \"%s\" is accepted: %s", line, err.text);
    else
        ok(again.n == 1 && s.n == 1 && again.link[0].slower == s.link[0].slower &&
               again.link[0].delay_s == s.link[0].delay_s,
           "\"%s\" is written, and read again as it was", line);
    slow_links_free(&again);
    slow_links_free(&s);
    free(text);
}

/* What is written is what is read. */
static void check_writing(void)
{
    struct slow_links s;
    struct err err = { "" };
    char *text = NULL, *again = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);

    slow_links_parse(&s, "f", files[1].text, strlen(files[1].text), &err);
    is_int(s.n, 4, "two nodes, a pair and a switch are read");
    is_near(s.measured_s, 1795582800, 1e-12, "the time is seconds since 1970");
    slow_links_write(&s, f);
    fclose(f);
    slow_links_free(&s);
    ok(strstr(text,
              "\nMeasured=2026-11-25T05:00:00Z Nodes=8\nNode=n0 Slower=2 Delay=1ms Below=s1\nNode=n1 ") &&
           strstr(text, "\nPair=n1,n2 Delay=5us\nSwitch=s0 Slower=1e+03\n"),
       "they are written as they were read");
    f = open_memstream(&again, &bytes);
    if (slow_links_parse(&s, "f", text, strlen(text), &err) < 0)
        ok(false, "what was written is accepted: %s", err.text);
    slow_links_write(&s, f);
    fclose(f);
    is_str(again, text, "what was written is read, and written again as it was");
    slow_links_free(&s);
    free(text);
    free(again);
}

static struct topology *with(const char *conf, const char *lines, int *applied)
{
    struct err err = { "" };
    struct topology *t = topology_conf_parse("t.conf", conf, strlen(conf), &err);
    struct slow_links s;
    char text[512];

    snprintf(text, sizeof(text), "Measured=2026-11-25T05:00:00Z Nodes=8\n%s", lines);
    if (slow_links_parse(&s, "f", text, strlen(text), &err) < 0)
        ok(false, "the test's file: %s", err.text);
    *applied = slow_links_apply(&s, t, &err);
    slow_links_free(&s);
    topology_assume(t, &topology_usual);
    return t;
}

static struct layout *layout_of(const struct topology *t)
{
    static const struct layout_node nodes[N] = { { "n0", 1 }, { "n1", 1 }, { "n2", 1 }, { "n3", 1 },
                                                 { "n4", 1 }, { "n5", 1 }, { "n6", 1 }, { "n7", 1 } };
    struct err err = { "" };
    struct layout *l = layout_new(t, nodes, N, &err);

    if (!l)
        ok(false, "the test's layout: %s", err.text);
    return l;
}

#define BYTES  1e9
#define EIGHTH (BYTES / 8 / RATE)

/* Computed by hand: 14 rounds of an eighth of the bytes over each link of a ring; halving has rounds of half,
 * a quarter and an eighth and back. */
static void check_costs(void)
{
    static const struct {
        const char *conf, *lines, *pattern;
        int applied;
        double slurm_s, chosen_s;
        const char *link; /* the busiest in Slurm's order */
    } cases[] = {
        { one, "", "ring", 0, 14 * (2e-6 + EIGHTH), 14 * (2e-6 + EIGHTH), "n0" },
        /* an order without 0 next to 1 costs what it would without the slow pair */
        { one, "Pair=n0,n1 Slower=5\n", "ring", 1, 14 * (2e-6 + 5 * EIGHTH), 14 * (2e-6 + EIGHTH), "n0 n1" },
        { one, "Pair=n1,n0 Delay=1ms\n", "ring", 1, 14 * (2e-6 + 0.5e-3 + EIGHTH), 14 * (2e-6 + EIGHTH),
          "n0" },
        { one, "Pair=n0,n7 Slower=3\nPair=n3,n4 Slower=3\n", "ring", 2, 14 * (2e-6 + 3 * EIGHTH),
          14 * (2e-6 + EIGHTH), "n3 n4" },
        { tree, "Pair=n3,n4 Slower=2\n", "ring", 1, 14 * (4e-6 + 2 * EIGHTH), 14 * (4e-6 + EIGHTH), "n3 n4" },
        { tree, "Pair=n0,n9 Slower=2\nNode=n9 Slower=2\nSwitch=s9 Slower=4\n", "ring", 0,
          14 * (4e-6 + EIGHTH), 14 * (4e-6 + EIGHTH), "n0" },
        /* no order avoids a node, or the link of a switch that has half of them */
        { tree, "Node=n2 Slower=4 Delay=2ms\n", "ring", 1, 14 * (2e-6 + 1e-3 + 4 * EIGHTH),
          14 * (2e-6 + 1e-3 + 4 * EIGHTH), "n2" },
        { tree, "Switch=s1 Slower=3\n", "ring", 1, 14 * (4e-6 + 3 * EIGHTH), 14 * (4e-6 + 3 * EIGHTH), "s1" },
        /* n0 and n2 are below the other switch: the ring leaves s0 twice instead of once, and its link
         * has one cable (two nodes, 2 to 1) */
        { tree, "Node=n0 Below=s1\nNode=n2 Below=s1\n", "ring", 2, 14 * (4e-6 + 2 * EIGHTH),
          14 * (4e-6 + EIGHTH), "s0" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        int applied;
        struct topology *t = with(cases[i].conf, cases[i].lines, &applied);
        struct layout *l = layout_of(t);
        struct pattern p = { .bytes = BYTES };
        struct arranged a;
        struct err err = { "" };
        uint32_t order[N];
        char link[64] = "";

        pattern_parse(&p, cases[i].pattern, &err);
        if (arrange(l, &p, ARRANGE_WORK, order, &a, &err) < 0)
            ok(false, "arrange(): %s", err.text);
        is_int(applied, cases[i].applied, "case %zu: links of the topology", i);
        is_near(a.slurm.time_s, cases[i].slurm_s, 1e-9, "case %zu: Slurm's order", i);
        is_near(a.chosen.time_s, cases[i].chosen_s, 1e-9, "case %zu: the chosen order", i);
        if (a.slurm.link >= l->vertices)
            snprintf(link, sizeof(link), "%s %s", l->vertex[l->pair[a.slurm.link - l->vertices].a].name,
                     l->vertex[l->pair[a.slurm.link - l->vertices].b].name);
        else
            snprintf(link, sizeof(link), "%s", l->vertex[a.slurm.link].name);
        is_str(link, cases[i].link, "case %zu: the busiest link in Slurm's order", i);
        ok(a.chosen.pair_messages <= 0, "case %zu: no message between a slow pair", i);
        layout_free(l);
        topology_free(t);
    }
}

/* In halving each rank has three partners: the two of a slow pair are none of each other's. */
static void check_halving(void)
{
    int applied;
    struct topology *t =
        with(one, "Pair=n0,n1 Slower=9\nPair=n0,n2 Slower=9\nPair=n0,n4 Slower=9\n", &applied);
    struct layout *l = layout_of(t);
    struct pattern p = { .bytes = BYTES };
    struct arranged a;
    struct err err = { "" };
    uint32_t order[N];

    pattern_parse(&p, "halving", &err);
    arrange(l, &p, ARRANGE_WORK, order, &a, &err);
    is_near(a.slurm.time_s, 2 * (3 * 2e-6 + 9 * 7 * EIGHTH), 1e-9,
            "halving in which all partners of one node are slow pairs");
    is_near(a.chosen.time_s, 2 * (3 * 2e-6 + 7 * EIGHTH), 1e-9, "halving in an order without them");
    layout_free(l);
    topology_free(t);
}

/* More nodes than are searched exhaustively, and a topology of a plugin's size. */
static void check_larger(void)
{
    enum { LARGE = 4096 };
    static char names[LARGE][16];
    static struct layout_node nodes[LARGE];
    static uint32_t order[LARGE];
    struct err err = { "" };
    struct slow_links s;
    char *conf = NULL, *slow = NULL;
    size_t bytes;
    FILE *f = open_memstream(&conf, &bytes);
    struct topology *t;
    struct layout *l;
    struct pattern p = { .bytes = BYTES };
    struct arranged a;

    for (unsigned i = 0; i < LARGE / 32; i++)
        fprintf(f, "SwitchName=s%u Nodes=n[%u-%u]\n", i, 32 * i, 32 * i + 31);
    fputs("SwitchName=top Switches=s[0-127]\n", f);
    fclose(f);
    f = open_memstream(&slow, &bytes);
    fputs("Measured=2026-11-25T05:00:00Z Nodes=4096\n", f);
    for (unsigned i = 0; i < 20; i++) /* within switches and between them */
        fprintf(f, "Pair=n%u,n%u Slower=10\n", 100 * i + (i % 2 ? 27 : 10), 100 * i + (i % 2 ? 28 : 11));
    fclose(f);
    for (unsigned i = 0; i < LARGE; i++) {
        snprintf(names[i], sizeof(names[i]), "n%u", i);
        nodes[i] = (struct layout_node){ names[i], 1 };
    }
    t = topology_conf_parse("t.conf", conf, strlen(conf), &err);
    ok(t && slow_links_parse(&s, "f", slow, strlen(slow), &err) == 0 && slow_links_apply(&s, t, &err) == 20,
       "20 slow pairs among 4096 nodes");
    topology_assume(t, &topology_usual);
    l = layout_new(t, nodes, LARGE, &err);
    pattern_parse(&p, "ring", &err);
    arrange(l, &p, 4000000, order, &a, &err);
    ok(a.slurm.pair_messages > 0 && a.chosen.pair_messages <= 0 && a.exact,
       "a ring over 4096 nodes avoids 20 slow pairs, and no order is better");
    is_near(a.slurm.time_s / a.chosen.time_s,
            (4e-6 + 10 * BYTES / LARGE / RATE) / (4e-6 + BYTES / LARGE / RATE), 1e-9,
            "it is as much faster as its rounds are");
    slow_links_free(&s);
    layout_free(l);
    topology_free(t);
    free(conf);
    free(slow);
}

int main(void)
{
    check_files();
    check_line("Node=n0 Slower=1");
    check_line("Node=n0 Slower=2 Delay=1ms Below=s1");
    check_line("Node=n0 Below=s1");
    check_line("Switch=s0 Slower=1");
    check_line("Pair=n0,n1 Delay=5us");
    check_writing();
    check_costs();
    check_halving();
    check_larger();
    return done_testing();
}
