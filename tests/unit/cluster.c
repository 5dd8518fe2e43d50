/* The doctor of a cluster: what it finds in what was declared, what Slurm lists and what the controller
 * knows. */
#include "doctor/cluster.h"

#include <stdlib.h>

#include "tests/tap.h"
#include "topology/topology_conf.h"

/* In the form of Slurm 22.05's scontrol -o show nodes, with fewer keys. */
#define NODE(name, state)                                                                           \
    "NodeName=" name                                                                                \
    " Arch=x86_64 CoresPerSocket=1 CPUAlloc=0 NodeAddr=10.0.0.1 NodeHostName=host Version=22.05.8 " \
    "OS=Linux 6.1 RealMemory=1 State=" state " ThreadsPerCore=1 Partitions=main \n"
#define NODES NODE("node1", "IDLE") NODE("node2", "DOWN*+DRAIN") NODE("node3", "IDLE") NODE("node4", "IDLE")
#define TREE                                                 \
    "SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=node[1-2]\n" \
    "SwitchName=leaf2 Level=0 LinkSpeed=1 Nodes=node[3-4]\n" \
    "SwitchName=top Level=1 LinkSpeed=1 Nodes=node[1-4] Switches=leaf[1-2]\n"
#define CONF \
    "SwitchName=leaf1 Nodes=node[1-2]\nSwitchName=leaf2 Nodes=node[3-4]\nSwitchName=top Switches=leaf[1-2]\n"

#define STATUS         "{\"version\":\"1.0\",\"operator\":true}"
#define AGENT(version) "{\"connected\":true,\"version\":\"" version "\"}"
#define ROW(name, leaf, recorded, agent)                                                             \
    "{\"node\":\"" name "\",\"switch\":\"" leaf "\",\"jobs\":[\"7.0\"],\"ranks_recorded\":" recorded \
    ",\"agent\":" agent "}"
#define ROWS(last)                                                   \
    "{\"nodes\":[" ROW("node1", "leaf1", "1", AGENT("1.0")) "," ROW( \
        "node2", "leaf1", "1", AGENT("1.0")) "," ROW("node3", "leaf2", "1", AGENT("1.0")) "," last "]}"
#define FINE ROW("node4", "leaf2", "1", AGENT("1.0"))
#define JOB(guarded, agents, silent, verdicts)                                              \
    "[{\"id\":\"7.0\",\"nodes_total\":4,\"agents_total\":" agents                           \
    ",\"elapsed_s\":100,\"steps\":400,\"notes\":[],"                                        \
    "\"probe\":{\"ranks_guarded\":" guarded ",\"ranks_total\":4},\"agents_silent\":" silent \
    ",\"verdicts\":[" verdicts "]}]"
#define NONE     "{\"number\":0,\"nodes\":[]}"
#define JOB_FINE JOB("4", "4", NONE, "")

static char *judge(const char *conf, const char *nodes, const char *tree, const char *status,
                   const char *rows, const char *jobs)
{
    struct err err = { "" }, slurm_err = { "" };
    struct topology *t = conf ? topology_conf_parse("/etc/topology.conf", conf, strlen(conf), &err) : NULL;
    struct slurm_nodes slurm = { 0 };
    struct findings f = { 0 };
    json_t *answers[] = { status ? json_loads(status, 0, NULL) : NULL,
                          rows ? json_loads(rows, 0, NULL) : NULL, jobs ? json_loads(jobs, 0, NULL) : NULL };
    struct cluster_facts c = { .path = "/etc/topology.conf",
                               .topology = t,
                               .status = answers[0],
                               .nodes = answers[1],
                               .jobs = answers[2],
                               .controller_why = "no answer",
                               .version = "1.0" };
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    c.topology_why = conf && !t ? err.text : NULL;
    if (nodes && slurm_nodes_parse(&slurm, nodes, &slurm_err) == 0 &&
        slurm_nodes_leaves(&slurm, tree, &slurm_err) == 0)
        c.slurm = &slurm;
    c.slurm_why = nodes ? slurm_err.text : "cannot run scontrol";
    cluster_judge(&c, &f);
    findings_print(&f, out);
    fclose(out);
    findings_free(&f);
    slurm_nodes_free(&slurm);
    topology_free(t);
    for (size_t i = 0; i < 3; i++)
        json_decref(answers[i]);
    return text;
}

/* Lines that begin with the state. */
static int count(const char *text, const char *state)
{
    int n = 0;

    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        n += !strncmp(line, state, strlen(state));
    }
    return n;
}

static const struct {
    const char *what, *conf, *nodes, *tree, *status, *rows, *jobs;
    int faults;
    const char *has; /* a part of a line */
} cases[] = {
    { "a healthy cluster", CONF, NODES, TREE, STATUS, ROWS(FINE), JOB_FINE, 0, "ok       nodes" },
    { "no topology.conf", NULL, NODES, "No topology information available\n", STATUS, ROWS(FINE), JOB_FINE, 0,
      "note     topology       there is no" },
    { "switches without a file here", NULL, NODES, TREE, STATUS, ROWS(FINE), JOB_FINE, 0,
      "unknown  topology" },
    { "a file without switches", "# none yet\n", NODES, "No topology information available\n", STATUS,
      ROWS(FINE), JOB_FINE, 0, "note     topology       /etc/topology.conf declares no switches" },
    { "switches that are not in the file here", "# none yet\n", NODES, TREE, STATUS, ROWS(FINE), JOB_FINE, 0,
      "(scontrol show topology), but /etc/topology.conf declares none" },
    { "no scontrol", CONF, NULL, "", STATUS, ROWS(FINE), JOB_FINE, 0,
      "unknown  slurm          cannot run scontrol" },
    { "a switch twice", "SwitchName=a Nodes=node1\nSwitchName=a Nodes=node2\n", NODES, TREE, STATUS,
      ROWS(FINE), JOB_FINE, 1, "is already in line 1" },
    { "a circle", "SwitchName=a Switches=b\nSwitchName=b Switches=a\n", NODES, TREE, STATUS, ROWS(FINE),
      JOB_FINE, 1, "fault    topology" },
    { "a node that the file lacks",
      "SwitchName=leaf1 Nodes=node[1-2]\nSwitchName=leaf2 Nodes=node3\n"
      "SwitchName=top Switches=leaf[1-2]\n",
      NODES, "", STATUS, ROWS(FINE), JOB_FINE, 1,
      "1 of Slurm's 4 nodes (scontrol show nodes) is below no switch in /etc/topology.conf: node4" },
    { "a node that Slurm lacks", CONF "SwitchName=leaf3 Nodes=old[1-3]\n", NODES, TREE, STATUS, ROWS(FINE),
      JOB_FINE, 1, "old1, old2, old3" },
    { "trees that nothing connects", "SwitchName=leaf1 Nodes=node[1-2]\nSwitchName=leaf2 Nodes=node[3-4]\n",
      NODES, TREE, STATUS, ROWS(FINE), JOB_FINE, 0,
      "note     topology       /etc/topology.conf declares 2 trees" },
    { "nodes on two leaves",
      "SwitchName=leaf1 Nodes=node[1-2]\nSwitchName=leaf2 Nodes=node[3-4]\nSwitchName=leaf3 Nodes=node1\nSwitchName=top Switches=leaf[1-3]\n",
      NODES, "", STATUS, ROWS(FINE), JOB_FINE, 0,
      "note     topology       1 node is below several leaf switches in /etc/topology.conf" },
    { "a file that slurmctld has not read",
      "SwitchName=leaf1 Nodes=node[1,3]\nSwitchName=leaf2 Nodes=node[2,4]\n"
      "SwitchName=top Switches=leaf[1-2]\n",
      NODES, TREE, STATUS, "{\"nodes\":[]}", "[]", 1,
      "node2 is below leaf2 in the file, below leaf1 for slurmctld" },
    { "a step placed by other switches", CONF, NODES, TREE, STATUS,
      ROWS(ROW("node4", "leaf1", "1", AGENT("1.0"))), JOB_FINE, 1, "fault    switches" },
    { "an agent of another version", CONF, NODES, TREE, STATUS,
      ROWS(ROW("node4", "leaf2", "1", AGENT("0.9"))), JOB_FINE, 1,
      "the agents of 1 node are version 0.9, the controller is 1.0 (sgctl nodes): node4" },
    { "an agent whose version is not known", CONF, NODES, TREE, STATUS,
      ROWS(ROW("node4", "leaf2", "1", "{\"connected\":true}")), JOB_FINE, 0, "unknown  versions" },
    { "a former agent of another version", CONF, NODES, TREE, STATUS,
      ROWS(ROW("node4", "leaf2", "1", "{\"connected\":false,\"version\":\"0.9\"}")), JOB_FINE, 0,
      "ok       versions" },
    { "a node without recorded ranks", CONF, NODES, TREE, STATUS,
      ROWS(ROW("node4", "leaf2", "0", AGENT("1.0"))), JOB("3", "4", NONE, ""), 1,
      "next: srun -N1 -w node4 --sync-guard env | grep LD_PRELOAD" },
    { "a job of which no rank is recorded", CONF, NODES, TREE, STATUS,
      ROWS(ROW("node4", "leaf2", "0", AGENT("1.0"))), JOB("0", "4", NONE, ""), 0, "ok       jobs" },
    { "a controller that does not count them", CONF, NODES, TREE, STATUS,
      ROWS(ROW("node4", "leaf2", "null", AGENT("1.0"))), JOB("3", "4", NONE, ""), 0, "ok       jobs" },
    { "an agent that never reported", CONF, NODES, TREE, STATUS, ROWS(FINE), JOB("4", "3", NONE, ""), 1,
      "runs on 4 nodes, and agents of 3 have reported" },
    { "an agent that fell silent", CONF, NODES, TREE, STATUS, ROWS(FINE),
      JOB("4", "4", "{\"number\":1,\"nodes\":[\"node4\"]}", ""), 1, "sgctl doctor   (on node4)" },
    { "a verdict that names a link", CONF, NODES, TREE, STATUS, ROWS(FINE),
      JOB("4", "4", NONE, "{\"scope\":\"link\",\"standing\":true,\"text\":\"node1-node2 is slow\"}"), 1,
      "job 7.0: node1-node2 is slow" },
    { "a verdict of a link that is over, and one of a node", CONF, NODES, TREE, STATUS, ROWS(FINE),
      JOB("4", "4", NONE,
          "{\"scope\":\"link\",\"standing\":false,\"text\":\"x\"},{\"scope\":\"node\",\"standing\":true}"),
      0, "ok       jobs" },
    { "no controller", CONF, NODES, TREE, NULL, NULL, NULL, 1, "fault    controller     no answer" },
    { "answers of another shape", CONF, NODES, TREE, "{\"version\":5}", "{\"nodes\":[7,{\"agent\":[]}]}",
      "[1,{}]", 0, "unknown  versions" },
    { "names that would drive a terminal", CONF, NODES, TREE, STATUS,
      ROWS(ROW("node4", "leaf2", "1", AGENT("0.9\\u001b[2J"))), JOB_FINE, 1, "0.9?[2J" },
};

static void check_lists(void)
{
    struct slurm_nodes s = { 0 };
    struct err err = { "" };

    is_int(slurm_nodes_parse(&s, NODES, &err), 0, "what scontrol prints of nodes is read");
    is_int((long long)s.n, 4, "it has four nodes");
    is_int(slurm_nodes_leaves(&s, TREE, &err), 0, "what scontrol prints of switches is read");
    is_str(slurm_nodes_find(&s, "node3")->leaf, "leaf2",
           "a node is below its leaf, not below the switch above");
    is_str(slurm_nodes_find(&s, "node2")->state, "DOWN*+DRAIN", "a node has its state");
    is_str(slurm_nodes_find(&s, "node1")->address, "10.0.0.1", "a node has its address");
    is_int(slurm_nodes_find(&s, "node1")->port, 0, "a node whose port is not printed has none");
    ok(!slurm_nodes_find(&s, "node5"), "a node that is not listed is not found");
    slurm_nodes_free(&s);
    is_int(
        slurm_nodes_parse(&s, "NodeName=a NodeAddr=b Port=7001 Version=22.05\nNodeName=c Port=70000\n", &err),
        0, "nodes with ports are read");
    is_int(slurm_nodes_find(&s, "a")->port, 7001, "a node has the port that is printed");
    is_int(slurm_nodes_find(&s, "c")->port, 0, "a port that is none is not known");
    slurm_nodes_free(&s);
    is_int(slurm_nodes_port(
               "SlurmctldPort           = 6817\nSlurmdPort              = 6818\nSlurmdSpoolDir = x\n"),
           6818, "the configuration has the port of most nodes");
    is_int(slurm_nodes_port("SlurmctldPort           = 6817\nSlurmdPort = no\n"), 0,
           "a configuration without one");
    is_int(slurm_nodes_port(""), 0, "no configuration");
    is_int(slurm_nodes_parse(&s, "No nodes in the system\n", &err), -1, "no node is a failure");
    is_str(err.text, "scontrol lists no node", "and the reason says so");
    slurm_nodes_free(&s);
    is_int(slurm_nodes_parse(&s, "NodeName=a\nNodeName=a\n", &err), -1, "a node listed twice is a failure");
    slurm_nodes_free(&s);
}

int main(void)
{
    check_lists();
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char *text = judge(cases[i].conf, cases[i].nodes, cases[i].tree, cases[i].status, cases[i].rows,
                           cases[i].jobs);

        if (!is_int(count(text, "fault"), cases[i].faults, "%s: faults", cases[i].what) ||
            !ok(strstr(text, cases[i].has) != NULL, "%s: a line has '%s'", cases[i].what, cases[i].has))
            printf("# %s\n", text);
        free(text);
    }
    return done_testing();
}
