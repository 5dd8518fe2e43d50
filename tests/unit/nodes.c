/* The doctor of a cluster's nodes: which are asked, what srun prints, and what is found in the nodes'
 * reports. */
#include "doctor/nodes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

#define FROM_S 1000.0 /* srun is started, by this host's clock */
#define AT_S   1002.0 /* every line is read */

static const struct {
    const char *state, *partitions, *allocation;
    enum node_use use;
} uses[] = {
    { "IDLE", "main", NULL, NODE_ASKED },
    { "MIXED+CLOUD", "main", NULL, NODE_ASKED },
    { "IDLE+COMPLETING+PLANNED", "main", NULL, NODE_ASKED },
    { "ALLOCATED", "main", NULL, NODE_BUSY },
    { "ALLOCATED+DRAIN", "main", NULL, NODE_BUSY },
    { "IDLE*", "main", NULL, NODE_CLOSED },
    { "IDLE~", "main", NULL, NODE_CLOSED },
    { "IDLE+DRAIN", "main", NULL, NODE_CLOSED },
    { "IDLE+CLOUD+POWERED_DOWN", "main", NULL, NODE_CLOSED },
    { "IDLE+PLAN", "main", NULL, NODE_CLOSED },
    { "DOWN*", "main", NULL, NODE_CLOSED },
    { "IDLE", "", NULL, NODE_CLOSED },
    { "", "main", NULL, NODE_CLOSED },
    { "ALLOCATED", "main", "node[1-3]", NODE_ASKED },
    { "IDLE", "main", "node[1-2]", NODE_BUSY },
};

#define HEAD(task, node) task ": node " node "\n" task ": sgctl (SyncGuard) 1.0\n"
#define REPORT(task, node, version, rest, checks)                                           \
    HEAD(task, node)                                                                        \
    task ": {\n" task ": \"node\":\"" node "\",\"version\":\"" version "\"," rest "\n" task \
         ": \"checks\":[" checks "]\n" task ": }\n"
#define FILES(conf, agent)                                                                                 \
    "\"platform\":\"x86_64\",\"at_s\":1001,\"files\":{\"configuration\":{\"path\":\"/c\",\"hash\":\"" conf \
    "\"},"                                                                                                 \
    "\"agent\":{\"path\":\"/a\",\"hash\":\"" agent "\"}},"
#define FINE(task, node)    REPORT(task, node, "1.0", FILES("c1", "a1"), OK)
#define OK                  "{\"check\":\"agent\",\"missing\":false,\"text\":\"/a\"}"
#define BAD(check, text)    "{\"check\":\"" check "\",\"missing\":true,\"text\":\"" text "\",\"next\":\"do\"}"
#define THIRD(rest, checks) FINE("0", "node1") FINE("1", "node2") REPORT("2", "node3", "1.0", rest, checks)

static const struct {
    const char *what, *output;
    bool late;
    const char *own_missing; /* a check that this host misses */
    int faults;
    const char *has;
} cases[] = {
    { "three nodes as they should be", THIRD(FILES("c1", "a1"), OK), false, "", 0,
      "ok       setup          3 of 3 nodes asked" },
    { "their clocks", THIRD(FILES("c1", "a1"), OK), false, "", 0,
      "ok       clock          3 clocks agree with this host's within 1.0 s" },
    { "two nodes without an agent",
      FINE("0", "node1") REPORT("1", "node2", "1.0", FILES("c1", ""), BAD("agent", "gone"))
          REPORT("2", "node3", "1.0", FILES("c1", ""), BAD("agent", "gone")),
      false, "", 1, "fault    agent          node2, node3: gone" },
    { "a node that runs unguarded for what it lacks",
      THIRD(FILES("c1", ""), BAD("agent", "gone") "," BAD("preload", "no")), false, "", 1,
      "fault    agent          node3: gone" },
    { "a node where LD_PRELOAD is removed", THIRD(FILES("c1", "a1"), BAD("preload", "removed")), false, "", 1,
      "fault    preload        node3: removed" },
    { "the same where srun here has no plugin", THIRD(FILES("c1", "a1"), BAD("preload", "removed")), false,
      "plugin", 0, "unknown  preload" },
    { "no controller, for this host either", THIRD(FILES("c1", "a1"), BAD("controller", "none")), false,
      "controller", 0, "ok       setup" },
    { "no controller for one node", THIRD(FILES("c1", "a1"), BAD("controller", "none")), false, "", 1,
      "fault    controller     node3: none" },
    { "another configuration", THIRD(FILES("c2", "a1"), OK), false, "", 1,
      "fault    configuration  node3: /c has another content than /c" },
    { "another build of the agent", THIRD(FILES("c1", "a2"), OK), false, "", 1,
      "fault    agent          node3: /a is another build" },
    { "the same on another platform",
      THIRD("\"platform\":\"arm\",\"at_s\":1001,\"files\":{\"agent\":{\"path\":\"/a\",\"hash\":\"a2\"}},",
            OK),
      false, "", 0, "note     agent          node3: /a is another build" },
    { "another version",
      FINE("0", "node1") FINE("1", "node2") REPORT("2", "node3", "0.9", FILES("c2", "a2"), OK), false, "", 1,
      "fault    version        node3: sgctl there is version 0.9, here 1.0" },
    { "an old version that gives no report",
      FINE("0", "node1") FINE("1", "node2") "2: node node3\n2: sgctl (SyncGuard) 0.8\n2: sgctl: no\n", false,
      "", 1, "fault    version        node3: sgctl there is version 0.8, here 1.0" },
    { "no sgctl", FINE("0", "node1") FINE("1", "node2") "2: node node3\n2: sh: exec: sgctl: not found\n",
      false, "", 1, "fault    sgctl          node3: sgctl does not run there: sh: exec: sgctl: not found" },
    { "a clock an hour ahead", THIRD("\"platform\":\"x86_64\",\"at_s\":4601,", OK), false, "", 1,
      "node3: its clock is 1h00m ahead of" },
    { "a clock a minute behind", THIRD("\"platform\":\"x86_64\",\"at_s\":941,", OK), false, "", 1,
      "behind this host's, give or take 1.0 s" },
    { "a clock not known", THIRD("\"platform\":\"x86_64\",", OK), false, "", 0, "2 clocks agree" },
    { "a clock of which too little is known", THIRD("\"platform\":\"x86_64\",\"at_s\":1006.5,", OK), false,
      "", 0, "unknown  clock          node3: its clock may be up to 6.5 s" },
    { "munge that refuses ours", THIRD(FILES("c1", "a1") "\"refused\":\"Expired credential\",", OK), false,
      "", 1,
      "fault    munge          node3: munge there does not decode a credential made here: Expired credential" },
    { "munge whose credential is refused here", THIRD(FILES("c1", "a1") "\"credential\":\"bad\",", OK), false,
      "", 1,
      "fault    munge          node3: munge here does not decode a credential made there: Invalid credential" },
    { "a node that does not answer", FINE("0", "node1") FINE("1", "node2") "srun: error: no connection\n",
      true, "", 1,
      "fault    answers        node3: no answer within 20 s; srun says: srun: error: no connection" },
    { "nodes that all hang once the step has begun", "0: node node1\n1: node node2\n2: node node3\n", true,
      "", 1, "fault    answers        node1, node2, node3: no answer within 20 s" },
    { "a node whose report is cut",
      FINE("0", "node1") FINE("1", "node2") "2: node node3\n2: {\n2: \"node\":\n", true, "", 1,
      "fault    answers        node3: no answer" },
    { "a report that is none", FINE("0", "node1") FINE("1", "node2") HEAD("2", "node3") "2: {\n2: x\n2: }\n",
      false, "", 1, "fault    version        node3: sgctl there gives no report" },
    { "a report in the name of another node",
      FINE("0", "node1") FINE("1", "node2") REPORT("2", "node9", "1.0", "", BAD("agent", "gone")), false, "",
      1, "fault    answers        node3: no answer" },
    { "what drives a terminal", THIRD(FILES("c1", "a1"), BAD("agent", "\\u001b[2J")), false, "", 1,
      "node3: ?[2J" },
    { "no step from Slurm", "srun: error: Unable to allocate resources: Requested nodes are busy\n", false,
      "", 0, "unknown  answers        Slurm gives no step on 3 nodes" },
};

static const char *decode(void *arg, const char *credential, struct err *err)
{
    (void)arg;
    if (strcmp(credential, "bad") != 0)
        return "";
    err_set(err, "Invalid credential");
    return err->text;
}

static void read_lines(struct node_answers *a, const char *output)
{
    char *copy = strdup(output), *rest = copy, *line;

    while ((line = strsep(&rest, "\n")))
        node_answers_line(a, line, AT_S);
    free(copy);
}

static char *judge(const char *output, bool late, const char *own_missing)
{
    static const char *const nodes[] = { "node1", "node2", "node3" };
    struct host_report own = { .version = "1.0", .platform = "x86_64" };
    struct node_answers answers;
    struct nodes_facts c = {
        .asked = nodes, .n = 3, .answers = &answers, .own = &own, .limit_s = 20, .decode = decode
    };
    struct findings f = { 0 };
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    strcpy(own.file[HOST_CONFIGURATION].path, "/c");
    strcpy(own.file[HOST_CONFIGURATION].hash, "c1");
    strcpy(own.file[HOST_AGENT].path, "/a");
    strcpy(own.file[HOST_AGENT].hash, "a1");
    snprintf(own.check[0].name, sizeof(own.check[0].name), "%s", own_missing);
    own.check[0].missing = *own_missing;
    own.n_checks = 1;
    node_answers_begin(&answers, 3, FROM_S);
    answers.late = late;
    read_lines(&answers, output);
    nodes_judge(&c, &f);
    findings_print(&f, out);
    fclose(out);
    findings_free(&f);
    node_answers_free(&answers);
    return text;
}

static int count(const char *text, const char *state)
{
    int n = 0;

    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        n += !strncmp(line, state, strlen(state));
    }
    return n;
}

static void check_long_report(void)
{
    struct node_answers a;
    char line[2000] = "0: \"";

    memset(line + 4, 'x', sizeof(line) - 5);
    node_answers_begin(&a, 1, FROM_S);
    node_answers_line(&a, "0: {", AT_S);
    for (int i = 0; i < 40; i++)
        node_answers_line(&a, line, AT_S);
    node_answers_line(&a, "0: }", AT_S);
    is_int((long long)node_answers_count(&a), 0, "a report without end is dropped");
    node_answers_free(&a);
}

static void check_own_report(void)
{
    struct host_report r = { .node = "node1", .version = "1.0", .at_s = 1e9 + 0.25, .n_checks = 1 }, back;
    struct err err = { "" };
    json_t *o;
    char *text;

    strcpy(r.file[HOST_AGENT].hash, "a1");
    strcpy(r.check[0].name, "agent");
    r.check[0].missing = true;
    o = host_report_json(&r);
    text = json_dumps(o, JSON_INDENT(2) | JSON_ENSURE_ASCII);
    is_int(host_report_read(&back, text, strlen(text), &err), 0, "a report that was written is read");
    ok(back.at_s == r.at_s && back.check[0].missing && back.n_checks == 1,
       "a report keeps its time and its checks");
    is_str(back.file[HOST_AGENT].hash, "a1", "a report keeps the hash of a file");
    is_str(back.file[HOST_PLUGIN].hash, "", "a report keeps that a file has no hash");
    is_int(host_report_read(&back, "{}", 2, &err), -1, "a report without a node is refused");
    is_str(err.text, "its report has no node or no version", "and the reason says so");
    free(text);
    json_decref(o);
}

static void check_known_clock(void)
{
    static const char *const nodes[] = { "node1" };
    struct host_report own = { .version = "1.0", .platform = "x86_64" };
    struct node_answers answers;
    struct nodes_facts c = {
        .asked = nodes, .n = 1, .answers = &answers, .own = &own, .limit_s = 20, .decode = decode
    };
    struct findings f = { 0 };

    findings_add(&f, FINDING_FAULT, "clock", json_pack("[s]", "node1"), NULL, "behind the others");
    node_answers_begin(&answers, 1, FROM_S);
    read_lines(&answers, REPORT("0", "node1", "1.0", "\"platform\":\"x86_64\",\"at_s\":4601,", OK));
    nodes_judge(&c, &f);
    is_int((long long)findings_count(&f, FINDING_FAULT), 1,
           "a clock that was found to be wrong before is not reported again");
    findings_free(&f);
    node_answers_free(&answers);
}

int main(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(uses); i++) {
        struct slurm_node n = { .name = (char *)"node3",
                                .state = (char *)uses[i].state,
                                .partitions = (char *)uses[i].partitions };

        is_int((int)nodes_use(&n, uses[i].allocation), (int)uses[i].use, "a node in state '%s'%s%s",
               uses[i].state, uses[i].allocation ? ", in the allocation " : "",
               uses[i].allocation ? uses[i].allocation : "");
    }
    check_long_report();
    check_own_report();
    check_known_clock();
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char *text = judge(cases[i].output, cases[i].late, cases[i].own_missing);

        if (!is_int(count(text, "fault"), cases[i].faults, "%s: faults", cases[i].what) ||
            !ok(strstr(text, cases[i].has) != NULL, "%s: a line has '%s'", cases[i].what, cases[i].has))
            printf("# %s\n", text);
        free(text);
    }
    return done_testing();
}
