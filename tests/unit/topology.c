/* topology.conf, the lists of nodes in it, and the tree that it becomes. */
#include "topology/topology.h"

#include <stdlib.h>

#include "common/hostlist.h"
#include "tests/tap.h"
#include "topology/address.h"
#include "topology/topology_conf.h"

/* ---- lists ---- */

static int append(void *arg, const char *name, struct err *err)
{
    char *all = arg;

    (void)err;
    snprintf(all + strlen(all), 200 - strlen(all), "%s%s", *all ? " " : "", name);
    return 0;
}

static void check_lists(void)
{
    static const struct {
        const char *list, *names; /* NULL: not accepted */
    } cases[] = {
        { "node1", "node1" },
        { "", "" },
        { "a,b", "a b" },
        { "node[1-3,7]", "node1 node2 node3 node7" },
        { "node[08-11],gpu", "node08 node09 node10 node11 gpu" },
        { "r[1-2]n[1-2]", "r1n1 r1n2 r2n1 r2n2" },
        { "r[1-2][3-4]", "r13 r14 r23 r24" },
        { "node[1-]", "node1" },
        { "node[1-2]x", NULL },
        { "a,r[1-2]n1", NULL },
        { "[1-2]", "1 2" },
        { "node[1-3", NULL },
        { "node]", NULL },
        { "node[]", NULL },
        { "node[3-1]", NULL },
        { "node[1,]", NULL },
        { "node[a]", NULL },
        { ",a,,b,", "a b" },
        { "a b", "a b" },
        { "n[1-11]", NULL }, /* more than the maximum */
        { "n[1-999999999999]", NULL },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char all[200] = "";
        struct err err = { "" };
        int rc = hostlist_each(cases[i].list, 10, append, all, &err);

        if (cases[i].names)
            is_str(rc == 0 ? all : err.text, cases[i].names, "hostlist_each(): %s", cases[i].list);
        else
            ok(rc < 0 && err.text[0], "hostlist_each(): %s is rejected with a reason: %s", cases[i].list,
               err.text);
    }
}

/* ---- files ---- */

static struct topology *parse(const char *text, struct err *err)
{
    return topology_conf_parse("t.conf", text, strlen(text), err);
}

static void check_tree(void)
{
    struct err err = { "" };
    struct topology *t = parse("# two leaves\n"
                               "SwitchName=s0 Nodes=node[2-4] LinkSpeed=200\n"
                               "switchname=s1 nodes=node[10-11] \\\n  LinkSpeed=400\n"
                               "SwitchName=s2 Nodes=far\n"
                               "SwitchName=mid Switches=s[0-1]\n"
                               "SwitchName=top Switches=mid,s2\n",
                               &err);
    struct topology_assumption a = topology_usual;
    uint32_t mid;

    if (!ok(!!t, "a tree of three levels is read%s", err.text))
        return;
    is_int((long long)t->n_nodes, 6, "nodes of the tree");
    is_int((long long)t->n_switches, 5, "switches of the tree");
    is_str(t->a_switch[t->node[topology_find_node(t, "node10")].parent].name, "s1", "the switch of node10");
    ok(topology_find_node(t, "node1") == TOPOLOGY_NONE, "node1 is not in it");
    mid = topology_find_switch(t, "mid");
    is_int(t->a_switch[mid].height, 1, "the height of mid");
    is_int(t->a_switch[mid].n_below, 2, "the switches below mid");
    is_str(t->a_switch[t->a_switch[mid].parent].name, "top", "the switch above mid");
    is_int(t->a_switch[t->a_switch[mid].parent].height, 2, "the height of top");

    a.node_bytes_per_s = 10;
    a.oversubscription[1] = 4;
    a.n_oversubscription = 2;
    topology_assume(t, &a);
    is_near(t->a_switch[topology_find_switch(t, "s0")].up.bytes_per_s, 3 * 10 / 2.0 * 200 / 400, 1e-9,
            "a switch with half the LinkSpeed of another has half its rate per node");
    is_near(t->a_switch[topology_find_switch(t, "s1")].up.bytes_per_s, 2 * 10 / 2.0, 1e-9,
            "the link of a switch has its nodes' rate over the oversubscription");
    is_near(t->a_switch[mid].up.bytes_per_s, (7.5 + 10) / 4, 1e-9,
            "the second level has its own oversubscription");
    t->a_switch[topology_find_switch(t, "s0")].up.measured_bytes_per_s = 3;
    t->node[topology_find_node(t, "node10")].up.measured_bytes_per_s = 2;
    topology_assume(t, &a);
    is_near(t->a_switch[mid].up.bytes_per_s, (3 + (10 + 2) / 2.0) / 4, 1e-9,
            "measured rates replace assumed ones");
    topology_free(t);

    t = parse("BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\nBlockSizes=2,4\n", &err);
    if (!ok(!!t, "blocks are read%s", err.text))
        return;
    ok(t->n_switches == 3 && t->a_switch[0].parent == 2 && t->a_switch[1].parent == 2,
       "one switch joins the blocks");
    topology_free(t);
}

/* ---- fabrics ---- */

static const char *above(const struct topology *t, const char *name)
{
    uint32_t node = topology_find_node(t, name),
             parent = node != TOPOLOGY_NONE ? t->node[node].parent
                                            : t->a_switch[topology_find_switch(t, name)].parent;

    return parent == TOPOLOGY_NONE ? "nothing" : t->a_switch[parent].name;
}

static void check_fabrics(void)
{
    static const struct {
        const char *text, *of, *above;
        unsigned ways; /* to that */
    } cases[] = {
        /* two spines above each leaf */
        { "SwitchName=leaf1 Nodes=n[1-4]\nSwitchName=leaf2 Nodes=n[5-8]\n"
          "SwitchName=spine1 Switches=leaf[1-2]\nSwitchName=spine2 Switches=leaf[1-2]\n",
          "leaf2", "spine1", 2 },
        /* each node on two leaves */
        { "SwitchName=railA Nodes=n[1-8]\nSwitchName=railB Nodes=n[1-8]\nSwitchName=core Switches=railA,railB\n",
          "n7", "railA", 2 },
        { "SwitchName=railA Nodes=n[1-8]\nSwitchName=railB Nodes=n[1-8]\nSwitchName=core Switches=railA,railB\n",
          "railB", "core", 1 },
        /* three levels, as Al-Fares, Loukissas & Vahdat (2008) have them for four ports, with each core
           switch below no two of a pod */
        { "SwitchName=e1 Nodes=n1\nSwitchName=e2 Nodes=n2\nSwitchName=e3 Nodes=n3\nSwitchName=e4 Nodes=n4\n"
          "SwitchName=a1 Switches=e1,e2\nSwitchName=a2 Switches=e1,e2\n"
          "SwitchName=a3 Switches=e3,e4\nSwitchName=a4 Switches=e3,e4\n"
          "SwitchName=c1 Switches=a1,a3\nSwitchName=c2 Switches=a1,a3\n"
          "SwitchName=c3 Switches=a2,a4\nSwitchName=c4 Switches=a2,a4\n",
          "a4", "c1", 2 },
        /* children and nodes twice, and commas too many */
        { "SwitchName=a Nodes=,n1,n[1-2],\nSwitchName=b Switches=a,a,\n", "a", "b", 1 },
        { "SwitchName=a Nodes=n3 Nodes=,n1,n[1-2],\nSwitchName=b Switches=a,a,\n", "n2", "a", 1 },
        /* several trees */
        { "SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\n", "b", "nothing", 0 },
        /* unlike ones: the way to the highest switch, then the lower, then the first */
        { "SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[2-3]\nSwitchName=top Switches=b\n", "n2", "b", 1 },
        { "SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[2-3]\n", "n2", "a", 1 },
        { "SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\nSwitchName=top Switches=a,mid\nSwitchName=mid Switches=a,b\n",
          "a", "mid", 1 },
        { "SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\nSwitchName=x Switches=a\nSwitchName=top Switches=a,b\n",
          "a", "top", 1 },
        /* with nothing below */
        { "SwitchName=a Nodes=n1\nSwitchName=b\nSwitchName=c Nodes=\"\"\nSwitchName=top Switches=a,b,c\n",
          "c", "top", 1 },
        /* what Slurm takes and nobody means: a bracket too few or too many, operators, open quotes */
        { "SwitchName=a Nodes=n1,n[2-3,n4\nSwitchName=b Nodes=n5],n[6-7]\n", "n[2-3", "a", 1 },
        { "SwitchName=a Nodes=n1,n[2-3,n4\nSwitchName=b Nodes=n5],n[6-7]\n", "n4", "a", 1 },
        { "SwitchName=a Nodes=n1,n[2-3,n4\nSwitchName=b Nodes=n5],n[6-7]\n", "n5]", "b", 1 },
        { "SwitchName=a Nodes=n1,n[2-3,n4\nSwitchName=b Nodes=n5],n[6-7]\n", "n7", "b", 1 },
        { "SwitchName+=a Nodes -=n1 LinkSpeed *= 4\nSwitchName=b Nodes/=n2\n", "n1", "a", 1 },
        { "SwitchName=\"a Nodes=\"n1,n2 LinkSpeed=7\nSwitchName=b Nodes=\"n3\n", "n2", "\"a", 1 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err err = { "" };
        struct topology *t = parse(cases[i].text, &err);
        uint32_t node = t ? topology_find_node(t, cases[i].of) : TOPOLOGY_NONE;

        if (!ok(!!t, "fabric %zu is read%s", i, err.text))
            continue;
        is_str(above(t, cases[i].of), cases[i].above, "fabric %zu: what is above %s", i, cases[i].of);
        is_int(node != TOPOLOGY_NONE ? t->node[node].up.cables
                                     : t->a_switch[topology_find_switch(t, cases[i].of)].ways,
               cases[i].ways, "fabric %zu: ways from %s to it", i, cases[i].of);
        topology_free(t);
    }
}

static void check_speeds(void)
{
    static const struct {
        const char *text;
        double speed;
    } cases[] = { { "10", 10 },       { "010", 8 },      { "0x10", 16 }, { "10K", 10240 },
                  { "\"2k\"", 2048 }, { "INFINITE", 0 }, { "+3", 3 },    { "4294967295", 0 } };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char text[80];
        struct err err = { "" };
        struct topology *t;

        snprintf(text, sizeof(text), "SwitchName = a Nodes = \"n1\" LinkSpeed=%s\r\n", cases[i].text);
        t = parse(text, &err);
        if (ok(!!t, "LinkSpeed=%s is read%s", cases[i].text, err.text))
            is_near(t->a_switch[0].link_speed, cases[i].speed, 1e-9, "LinkSpeed=%s", cases[i].text);
        topology_free(t);
    }
}

/* Slurm takes such a file. */
static void check_no_switch(void)
{
    struct err err = { "" };
    struct topology *t = parse("# none yet\n", &err);

    if (!ok(!!t, "a file without switches is read%s", err.text))
        return;
    is_int((long long)(t->n_switches + t->n_nodes), 0, "it has neither switches nor nodes");
    is_int(topology_find_node(t, "n1"), TOPOLOGY_NONE, "no node is known");
    is_int(topology_find_switch(t, "s1"), TOPOLOGY_NONE, "no switch is known");
    is_int(topology_needed(t, &err), -1, "it is nothing to place a job by");
    is_str(
        err.text,
        "t.conf: no switch: lines such as SwitchName=s1 Nodes=node[1-16] or BlockName=b1 Nodes=node[1-16] are needed",
        "and what is needed is said");
    topology_free(t);
}

static void check_errors(void)
{
    static const struct {
        const char *text, *reason; /* how it begins */
    } cases[] = {
        { "SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n", "t.conf:2: switch a: is already in line 1; " },
        { "SwitchName=a Nodes=n1\nSwitchName=b Switches=a,c\n",
          "t.conf:2: switch b: switch c below it is nowhere described" },
        { "SwitchName=a Nodes=n1\nSwitchName=b Switches=n1\n",
          "t.conf:2: switch b: n1 is a node, not a switch" },
        { "SwitchName=a Switches=a\n", "t.conf:1: switch a: is above itself; no circle is accepted" },
        { "SwitchName=l Nodes=n\nSwitchName=a Switches=c\nSwitchName=b Switches=a\nSwitchName=c Switches=b\n",
          "t.conf:" },
        { "SwitchName=a Nodes=n[1-3]]\n",
          "t.conf:1: switch a: 'n[1-3]]' is not accepted: names such as node1" },
        { "SwitchName=a Nodes=n[1-99999]\n", "t.conf:1: switch a: " },
        { "SwitchName=a Nod", "t.conf:1: \"Nod\": expected Key=Value" },
        { "SwitchName=a Nodes=", "t.conf:1: Nodes=: a list of names is accepted" },
        { "SwitchName=a Switches=,", "t.conf:1: Switches=,: a list of names is accepted" },
        { "SwitchName=a Nodes=n[1-2]x\n", "t.conf:1: switch a: 'n[1-2]x' is not accepted" },
        { "SwitchName=a Nodes=n Switches=b\n", "t.conf:1: SwitchName=a: a switch has Nodes= or Switches=" },
        { "Nodes=n\n", "t.conf:1: Nodes=n: SwitchName=NAME or BlockName=NAME is needed" },
        { "Nodes=n SwitchName=a\n", "t.conf:1: Nodes=n: SwitchName= comes first" },
        { "SwitchName=a Nodes=n SwitchName=b\n", "t.conf:1: SwitchName=b: SwitchName is given twice" },
        { "SwitchName=a Nodes=n Color=red\n", "t.conf:1: Color=red: SwitchName with Nodes or Switches and" },
        { "SwitchName=a Nodes=n LinkSpeed=fast\n", "t.conf:1: LinkSpeed=fast: a whole number from 0 to" },
        { "SwitchName=a Nodes=n LinkSpeed=-3\n", "t.conf:1: LinkSpeed=-3: a whole number from 0 to" },
        { "SwitchName=a Nodes=n LinkSpeed=4194304K\n", "t.conf:1: LinkSpeed=4194304K: a whole number" },
        { "SwitchName=a Nodes=n\nBlockName=b Nodes=m\n",
          "t.conf:2: BlockName=b: switches or blocks are accepted, and not both" },
    };
    struct err err;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct topology *t = parse(cases[i].text, &err);

        ok(!t && !strncmp(err.text, cases[i].reason, strlen(cases[i].reason)), "rejected: %s",
           t ? "nothing" : err.text);
        topology_free(t);
    }
    ok(!topology_conf_read("/nowhere/topology.conf", NULL, &err) &&
           strstr(err.text, "/nowhere/topology.conf"),
       "a missing file is reported by its name: %s", err.text);
}

static void check_addresses(void)
{
    static const struct {
        const char *address;
        size_t levels, leaf; /* where it begins; 0: not to be cut */
    } cases[] = { { "core.leaf.b", 2, 5 },     { "core.leaf", 2, 0 }, { "core.x.leaf.b", 2, 7 },
                  { "x.leaf.b", 2, 0 },        { "leaf.b", 2, 0 },    { ".leaf.b", 2, 1 },
                  { "core.x.leaf.b", 3, 0 },   { "", 1, 0 },          { "core.leaf.b,leaf.c", 2, 5 },
                  { "core.leaf.[b-c]", 2, 0 }, { "a.b.c", 2, 0 } /* in two ways */ };
    struct topology *t = parse("SwitchName=leaf.b Nodes=n1\nSwitchName=leaf.c Nodes=n1\n"
                               "SwitchName=core Switches=leaf.b\nSwitchName=core.x Switches=leaf.c\n"
                               "SwitchName=c Nodes=n2\nSwitchName=b.c Nodes=n2\nSwitchName=a Switches=c\n"
                               "SwitchName=a.b Switches=b.c\n",
                               NULL);

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        size_t begins[TOPOLOGY_LEVELS_MAX] = { 0 };
        bool known = address_cut(t, cases[i].address, cases[i].levels, begins);

        is_int(known ? (long long)begins[cases[i].levels - 1] : 0, (long long)cases[i].leaf,
               "address %s of %zu levels: where its leaf begins", cases[i].address, cases[i].levels);
    }
    topology_free(t);
}

/* The most levels, one more, and as many nodes as are accepted. */
static void check_limits(void)
{
    char text[4000] = "SwitchName=s0 Nodes=n\n";
    struct topology *t;
    struct err err = { "" };

    for (unsigned i = 1; i < TOPOLOGY_LEVELS_MAX; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "SwitchName=s%u Switches=s%u\n", i, i - 1);
    t = parse(text, &err);
    ok(!!t, "%u levels of switches are accepted%s", TOPOLOGY_LEVELS_MAX, err.text);
    topology_free(t);
    snprintf(text + strlen(text), sizeof(text) - strlen(text), "SwitchName=more Switches=s%u\n",
             TOPOLOGY_LEVELS_MAX - 1);
    t = parse(text, &err);
    ok(!t && strstr(err.text, "more than 16 switches above each other"), "one more is not: %s", err.text);

    t = parse("SwitchName=a Nodes=n[1-65536]\n", &err);
    ok(t && t->n_nodes == TOPOLOGY_NODES_MAX, "%u nodes are accepted", TOPOLOGY_NODES_MAX);
    topology_free(t);
    t = parse("SwitchName=a Nodes=n[1-65536]\nSwitchName=b Nodes=m\n", &err);
    ok(!t && strstr(err.text, "t.conf: at most 65536 nodes are accepted"), "one more is not: %s", err.text);
}

int main(void)
{
    check_lists();
    check_tree();
    check_fabrics();
    check_speeds();
    check_no_switch();
    check_errors();
    check_addresses();
    check_limits();
    return done_testing();
}
