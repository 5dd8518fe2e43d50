/* What sgctl doctor --probe says of what was measured, and how a pair of sockets is measured. */
#include "ctl/pairwise.h"

#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/xalloc.h"
#include "tests/tap.h"
#include "topology/topology_conf.h"
#include "wire/json.h"

#define N 12

static const char *const name[N] = { "node01", "node02", "node03", "node04", "node05", "node06",
                                     "node07", "node08", "node09", "node10", "node11", "node12" };
static const char declared[] = "SwitchName=leaf0 Nodes=node[01-04]\nSwitchName=leaf1 Nodes=node[05-08]\n"
                               "SwitchName=leaf2 Nodes=node[09-12]\nSwitchName=top Switches=leaf[0-2]\n";

/* A survey of all pairs in which node `at` has these factors, and is below leaf `leaf` in truth. */
static struct survey *surveyed(const struct topology *t, uint32_t at, uint32_t leaf, double slower,
                               double out, double in)
{
    struct survey *s = survey_new(t, name, N);

    for (uint32_t a = 0; a < N; a++)
        for (uint32_t b = a + 1; b < N; b++) {
            bool near = (a == at ? leaf : a / 4) == (b == at ? leaf : b / 4);
            double rtt_s = (near ? 20e-6 : 60e-6) * (1 + 0.01 * ((a * 7 + b) % 5)), to = 1e9, from = 1e9;

            if (a == at || b == at) {
                rtt_s += slower;
                to *= a == at ? out : in;
                from *= a == at ? in : out;
            }
            survey_add(s, a, b, rtt_s, to, from);
        }
    return s;
}

static json_t *judged(const struct topology *t, const struct survey *s, const struct pairwise_gap *gap,
                      size_t n_gaps, const bool *given_up)
{
    static const bool none[N];
    struct pairwise p = { .n = N,
                          .name = name,
                          .path = "topology.conf",
                          .topology = t,
                          .survey = s,
                          .given_up = given_up ? given_up : none,
                          .gap = gap,
                          .n_gaps = n_gaps };
    struct findings f = { 0 };
    json_t *answer;

    pairwise_judge(&p, &f);
    answer = findings_json(&f);
    findings_free(&f);
    return answer;
}

/* Its only fault is of that check and node, and its text and next command have these words. */
static void check_fault(json_t *answer, const char *check, const char *node, const char *words,
                        const char *next)
{
    const json_t *first = json_array_get(get_array(answer, "findings"), 0);
    bool right = get_int(answer, "faults", 0, 100, -1) == 1 && !strcmp(get_word(first, "check"), check) &&
                 !strcmp(json_string_value(json_array_get(get_array(first, "nodes"), 0)), node) &&
                 strstr(get_word(first, "text"), words) && strstr(get_word(first, "next"), next);

    ok(right, "%s of %s: %s", check, node, words);
    if (!right)
        json_dumpf(answer, stdout, JSON_COMPACT), puts("");
    json_decref(answer);
}

static void check_judgement(void)
{
    struct err err;
    struct topology *t = topology_conf_parse("topology.conf", declared, strlen(declared), &err);
    struct survey *clean = surveyed(t, N, 0, 0, 1, 1), *s;
    struct pairwise_gap gaps[] = {
        { 0, 5, "no route" }, { 1, 5, "no route" }, { 2, 5, "no route" }, { 3, 4, "connection refused" }
    };
    bool given_up[N] = { false };
    json_t *answer = judged(t, clean, NULL, 0, NULL);

    ok(get_int(answer, "faults", 0, 100, -1) == 0 && json_array_size(get_array(answer, "findings")) == 1,
       "a clean cluster: one line, and no fault");
    json_decref(answer);
    answer = judged(NULL, clean, NULL, 0, NULL);
    is_int(get_int(answer, "faults", 0, 100, -1), 0, "no topology: no fault");
    json_decref(answer);
    check_fault(judged(t, s = surveyed(t, 4, 1, 1e-3, 1, 1), NULL, 0, NULL), "delay", "node05", "take 1.1 ms",
                "-w node05 ip -s link");
    survey_free(s);
    check_fault(judged(t, s = surveyed(t, 4, 1, 0, 0.01, 0.01), NULL, 0, NULL), "rate", "node05",
                "sends and receives 10", "speed");
    survey_free(s);
    check_fault(judged(t, s = surveyed(t, 4, 1, 0, 0.01, 1), NULL, 0, NULL), "rate", "node05", "sends 10",
                "speed");
    survey_free(s);
    check_fault(judged(t, s = surveyed(t, 4, 2, 0, 1, 1), NULL, 0, NULL), "place", "node05",
                "declared below leaf1, but is near to the nodes below leaf2", "scontrol reconfigure");
    survey_free(s);
    s = survey_new(t, name, N);
    for (uint32_t a = 0; a < N; a++)
        for (uint32_t b = a + 1; b < N; b++)
            survey_add(s, a, b, 20e-6, a % 3 && b % 3 ? 1e9 : 1e8, a % 3 && b % 3 ? 1e9 : 1e8);
    check_fault(judged(t, s, NULL, 0, NULL), "rate", "node01",
                "4 of 12 nodes reach 100 MB/s, the others 1.00 GB/s: node01, node04, node07, node10",
                "speed");
    survey_free(s);
    check_fault(judged(t, clean, gaps + 3, 1, NULL), "reach", "node04",
                "node04 and node05 (connection refused)", "-w node04 ping -c 3 node05");
    given_up[5] = true;
    check_fault(judged(t, clean, gaps, 3, given_up), "reach", "node06", "several others: no route",
                "-w node06 ip address");
    survey_free(clean);
    topology_free(t);
}

static void check_replies(void)
{
    struct measure_reply r;
    char *text;

    ok(measure_read("{\"task\":3,\"node\":\"n4\",\"port\":40001}", &r) == 0 && r.task == 3 &&
           r.port == 40001 && !strcmp(r.node, "n4"),
       "a task says where it listens");
    ok(measure_read("{\"task\":3,\"round\":7,\"rtt_s\":1e-5,\"there\":1e9}", &r) == 0 && !r.port &&
           r.round == 7 && r.rtt_s < 2e-5 && isnan(r.back_bytes_per_s),
       "a task says what it measured");
    is_int(measure_read("{\"task\":1024,\"round\":7}", &r), -1, "a task out of range is refused");
    is_int(measure_read("{\"task\":1,\"port\":5}", &r), -1, "a port without a node is refused");
    is_int(measure_read("srun: error", &r), -1, "srun's words are no reply");
    text = pairwise_nodes("small node[1-2]\nmain* node[3-9]\n", NULL);
    is_str(text, "node[3-9]", "the default partition's idle nodes");
    free(text);
    text = pairwise_nodes("small node[1-2]\nmain* node[3-9]\n", "small");
    is_str(text, "node[1-2]", "another partition's");
    free(text);
    text = pairwise_nodes("small node[1-2]\n", NULL);
    ok(!text, "no idle node in it");
}

/* Of this process and a child. */
static void check_sockets(void)
{
    static const char key[MEASURE_KEY_BYTES] = "0123456789abcdef0123456789abcdef",
                      other[MEASURE_KEY_BYTES] = "0123456789abcdef0123456789abcdeX";
    struct measure_peer peer;
    struct measured m;
    struct err err = { "" };
    uint16_t port = 0;
    int listening = measure_listen(&port, &err), status;
    pid_t child;

    ok(listening >= 0 && port, "listens on a port of the kernel's choice (%s)", err.text);
    is_int(measure_find(&peer, "127.0.0.1", port), 0, "an address is found");
    child = fork();
    if (child == 0) {
        measure_answer(listening, key, false);
        measure_answer(listening, key, true);
        _exit(0);
    }
    m = measure_call(&peer, other, false);
    ok(isnan(m.rtt_s) && m.why, "a stranger is not answered (%s)", m.why ? m.why : "-");
    m = measure_call(&peer, key, false);
    ok(m.rtt_s > 0 && !m.why, "a partner's round trip is measured after that (%s)", m.why ? m.why : "-");
    m = measure_call(&peer, key, true);
    ok(m.there_bytes_per_s > 0 && m.back_bytes_per_s > 0 && !m.why,
       "rates are measured in both directions (%s)", m.why ? m.why : "-");
    waitpid(child, &status, 0);
    close(listening);
    m = measure_call(&peer, key, false);
    ok(isnan(m.rtt_s) && m.why && !strcmp(m.why, "connection refused"),
       "nobody listens: the reason is known");
}

int main(void)
{
    check_judgement();
    check_replies();
    check_sockets();
    return done_testing();
}
