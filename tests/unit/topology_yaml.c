/* topology.yaml, which newer versions of Slurm read instead of topology.conf. */
#include "topology/topology_yaml.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/xalloc.h"
#include "tests/tap.h"
#include "topology/topology_conf.h"

static struct topology *parse(const char *text, struct err *err)
{
    return topology_yaml_parse("t.yaml", text, strlen(text), NULL, err);
}

/* "leaf1: node1 node2": each switch with nodes, and these. */
static const char *described(const struct topology *t, char *buf, size_t size)
{
    *buf = '\0';
    for (uint32_t s = 0; s < t->n_switches; s++) {
        size_t used = strlen(buf);

        snprintf(buf + used, size - used, "%s%s:", used ? "; " : "", t->a_switch[s].name);
        for (uint32_t n = 0; n < t->n_nodes; n++)
            if (t->node[n].parent == s) {
                used = strlen(buf);
                snprintf(buf + used, size - used, " %s", t->node[n].name);
            }
    }
    return buf;
}

static void check_files(void)
{
    static const struct {
        const char *what, *text, *switches;
    } cases[] = {
        { "a tree",
          "# a comment\n- topology: topo1\n  cluster_default: True\n  tree:\n    switches:\n    - switch: root\n"
          "      children: s[1-2]\n    - switch: s1\n      nodes: node[01-02]\n    - switch: s2\n      nodes: node03\n",
          "root:; s1: node01 node02; s2: node03" },
        { "blocks",
          "---\n- topology: b\n  block:\n    block_sizes:\n      - 4\n      - 16\n    blocks:\n    - block: b1\n"
          "      nodes: n[1-2]\n    - {block: b2, nodes: 'n3'}\n",
          "b1: n1 n2; b2: n3; (between blocks):" },
        { "a default one that is not the first",
          "- topology: a\n  cluster_default: false\n  tree: {switches: [{switch: s, nodes: x}]}\n- topology: b\n"
          "  cluster_default: true\n  tree: {switches: [{switch: s, nodes: y}]}\n",
          "s: y" },
        { "no default one",
          "- topology: a\n  tree: {switches: [{switch: s, nodes: x}]}\n- topology: b\n  flat: true\n",
          "s: x" },
        { "a default one that is flat",
          "- topology: f\n  cluster_default: true\n  flat: {alpha_step_rank: true}\n- topology: a\n"
          "  tree: {switches: [{switch: s, nodes: x}]}\n",
          "s: x" },
        { "flat ones alone", "- topology: f\n  flat: true\n- topology: g\n  flat: true\n", "" },
        { "a switch with nothing below it",
          "- topology: a\n  tree: {switches: [{switch: s, nodes: x}, {switch: t, nodes: ''}]}\n",
          "s: x; t:" },
    };
    char buf[256];

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err err = { "" };
        struct topology *t = parse(cases[i].text, &err);

        is_str(t ? described(t, buf, sizeof(buf)) : err.text, cases[i].switches, "%s", cases[i].what);
        topology_free(t);
    }
}

/* That a partition names. */
static void check_wanted(void)
{
    static const char text[] =
        "- topology: a\n  cluster_default: true\n  tree: {switches: [{switch: s, nodes: x}]}\n"
        "- topology: b\n  tree: {switches: [{switch: t, nodes: y}]}\n"
        "- topology: c\n  flat: true\n";
    static const struct {
        const char *wanted, *switches;
    } cases[] = {
        { NULL, "s: x" },
        { "a", "s: x" },
        { "b", "t: y" },
        { "c", "" },
        { "d", "t.yaml: there is no topology d" },
    };
    char buf[256];

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err err = { "" };
        struct topology *t = topology_yaml_parse("t.yaml", text, sizeof(text) - 1, cases[i].wanted, &err);

        is_str(t ? described(t, buf, sizeof(buf)) : err.text, cases[i].switches, "topology %s",
               cases[i].wanted ? cases[i].wanted : "by default");
        topology_free(t);
    }
}

static void check_errors(void)
{
#define ONE "- topology: a\n  tree:\n    switches:\n"
    static const struct {
        const char *text, *reason; /* how it begins */
    } cases[] = {
        { "", "t.yaml: it has no topology" },
        { "[]", "t.yaml: it has no topology" },
        { "a: b\n", "t.yaml:1: the file: a list is accepted" },
        { "- a\n", "t.yaml:1: the file: keys and values are accepted" },
        { "- tree: {}\n", "t.yaml:1: tree: topology: with its name comes first" },
        { "- topology: a\n", "t.yaml:1: topology a is none of tree, block and flat" },
        { "- topology: a\n  flat: true\n  tree: {}\n",
          "t.yaml:3: tree: one of tree, block and flat is accepted" },
        { "- topology: a\n  cluster_default: maybe\n", "t.yaml:2: cluster_default: maybe: true or false" },
        { "- topology: a\n  color: red\n", "t.yaml:2: color: topology, cluster_default and one of" },
        { ONE "    - switch: s\n      nodes: n1\n    - switch: s\n      nodes: n2\n",
          "t.yaml:6: switch s: is already in line 4; " },
        { ONE "    - switch: s\n      children: t\n",
          "t.yaml:4: switch s: switch t below it is nowhere described" },
        { ONE "    - nodes: n1\n", "t.yaml:4: it has no name" },
        { ONE "    - switch: s\n      nodes: n[1-\n      speed: 7\n",
          "t.yaml:6: speed: switch with children or nodes" },
        { ONE "    - switch: s\n      nodes: [n1, n2]\n",
          "t.yaml:5: nodes: a name or a list such as node[1-16]" },
        { ONE "    - switch: s\n      nodes: n1\n      nodes: n2\n", "t.yaml:6: nodes is given twice" },
        { ONE "    - &x {switch: s, nodes: n1}\n    - *x\n", "t.yaml:5: aliases are not accepted" },
        { "- topology: 'a\n", "t.yaml:" },
        { "\t- topology: a\n", "t.yaml:1: " },
        { "- topology: a\n  flat: [[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]\n",
          "t.yaml:2: at most 16 levels" },
    };
    struct err err;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct topology *t = parse(cases[i].text, &err);

        ok(!t && !strncmp(err.text, cases[i].reason, strlen(cases[i].reason)), "rejected: %s\n%s",
           cases[i].reason, t ? "it was accepted" : err.text);
        topology_free(t);
    }
}

/* Slurm ignores topology.conf where there is a topology.yaml. */
static void check_place(void)
{
    char dir[] = "/tmp/topology_yaml.XXXXXX", path[64], conf[64];
    struct err err = { "" };
    struct topology *t;
    FILE *f;

    if (!mkdtemp(dir))
        return;
    snprintf(conf, sizeof(conf), "%s/slurm.conf", dir);
    setenv("SLURM_CONF", conf, 1);
    topology_conf_locate(path, sizeof(path));
    ok(strstr(path, "/topology.conf"), "without any file it is topology.conf");
    snprintf(conf, sizeof(conf), "%s/topology.yaml", dir);
    f = fopen(conf, "w");
    if (f) {
        fputs("- topology: a\n  tree: {switches: [{switch: s, nodes: 'n[1-3]'}]}\n", f);
        fclose(f);
    }
    topology_conf_locate(path, sizeof(path));
    is_str(path, conf, "topology.yaml is found beside slurm.conf");
    t = topology_conf_read(path, NULL, &err);
    is_int(t ? (long long)t->n_nodes : -1, 3, "and read as what it is%s", err.text);
    topology_free(t);
    unlink(conf);
    rmdir(dir);
}

int main(void)
{
    struct err err = { "" };
    struct topology *t = parse("- topology: a\n  tree: {switches: [{switch: s, nodes: x}]}\n", &err);

    if (!t && strstr(err.text, "libyaml")) {
        printf("1..0 # SKIP %s\n", err.text);
        return 0;
    }
    topology_free(t);
    check_files();
    check_wanted();
    check_errors();
    check_place();
    return done_testing();
}
