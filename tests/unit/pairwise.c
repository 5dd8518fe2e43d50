/* What sgctl doctor --probe says of what was measured, and how a pair of sockets is measured. */
#include "doctor/pairwise.h"

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

static struct slow_links slow; /* what the last judgement left for orders of ranks */

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

    slow_links_free(&slow);
    pairwise_judge(&p, &f, &slow);
    answer = findings_json(&f);
    findings_free(&f);
    return answer;
}

/* Its only fault is of that check and node, and its text and next command have these words. */
static void check_fault(json_t *answer, const char *check, const char *node, const char *words,
                        const char *next)
{
    const json_t *first = json_array_get(json_get_array(answer, "findings"), 0);
    bool right = json_get_int(answer, "faults", 0, 100, -1) == 1 &&
                 !strcmp(json_get_word(first, "check"), check) &&
                 !strcmp(json_string_value(json_array_get(json_get_array(first, "nodes"), 0)), node) &&
                 strstr(json_get_word(first, "text"), words) && strstr(json_get_word(first, "next"), next);

    ok(right, "%s of %s: %s", check, node, words);
    if (!right)
        json_dumpf(answer, stdout, JSON_COMPACT), puts("");
    json_decref(answer);
}

/* What is left for orders of ranks, behind its first lines. */
static void check_slow(const char *want)
{
    char *text = NULL, *from;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);

    slow_links_write(&slow, f);
    fclose(f);
    from = strstr(text, "Nodes=");
    is_str(from ? strchr(from, '\n') + 1 : "", want, "slow links for orders of ranks");
    free(text);
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

    ok(json_get_int(answer, "faults", 0, 100, -1) == 0 &&
           json_array_size(json_get_array(answer, "findings")) == 1,
       "a clean cluster: one line, and no fault");
    json_decref(answer);
    answer = judged(NULL, clean, NULL, 0, NULL);
    is_int(json_get_int(answer, "faults", 0, 100, -1), 0, "no topology: no fault");
    json_decref(answer);
    check_fault(judged(t, s = surveyed(t, 4, 1, 1e-3, 1, 1), NULL, 0, NULL), "delay", "node05", "take 1.1 ms",
                "-w node05 ip -s link");
    check_slow("Node=node05 Delay=1ms\n");
    survey_free(s);
    check_fault(judged(t, s = surveyed(t, 4, 1, 0, 0.01, 0.01), NULL, 0, NULL), "rate", "node05",
                "sends and receives 10", "speed");
    check_slow("Node=node05 Slower=100\n");
    survey_free(s);
    check_fault(judged(t, s = surveyed(t, 4, 1, 0, 0.01, 1), NULL, 0, NULL), "rate", "node05", "sends 10",
                "speed");
    survey_free(s);
    check_fault(judged(t, s = surveyed(t, 4, 2, 0, 1, 1), NULL, 0, NULL), "place", "node05",
                "declared below leaf1, but is near to the nodes below leaf2", "scontrol reconfigure");
    check_slow("Node=node05 Below=leaf2\n");
    survey_free(s);
    s = survey_new(t, name, N);
    for (uint32_t a = 0; a < N; a++)
        for (uint32_t b = a + 1; b < N; b++)
            survey_add(s, a, b, 20e-6, a % 3 && b % 3 ? 1e9 : 1e8, a % 3 && b % 3 ? 1e9 : 1e8);
    check_fault(judged(t, s, NULL, 0, NULL), "rate", "node01",
                "4 of 12 nodes reach 100 MB/s, the others 1.00 GB/s: node01, node04, node07, node10",
                "speed");
    check_slow(
        "Node=node01 Slower=10\nNode=node04 Slower=10\nNode=node07 Slower=10\nNode=node10 Slower=10\n");
    survey_free(s);
    s = surveyed(t, N, 0, 0, 1, 1);
    s->cell[2 * N + 9].bytes_per_s = 2e8;
    s->cell[2 * N + 9].times = s->cell[9 * N + 2].times = SURVEY_CONFIRMED;
    check_fault(judged(t, s, NULL, 0, NULL), "rate", "node03", "node03 sends 200 MB/s to node10",
                "tracepath");
    check_slow("Pair=node03,node10 Slower=5\n");
    survey_free(s);
    check_fault(judged(t, clean, gaps + 3, 1, NULL), "reach", "node04",
                "node04 and node05 (connection refused)", "-w node04 ping -c 3 node05");
    given_up[5] = true;
    check_fault(judged(t, clean, gaps, 3, given_up), "reach", "node06", "several others: no route",
                "-w node06 ip address");
    survey_free(clean);
    slow_links_free(&slow);
    topology_free(t);
}

/* ---- by MPI ---- */

static struct slow_node {
    uint32_t node, pair; /* the pair's other one; N: all are slow */
    double times;        /* as long */
} no_node = { N, N, 1 };

/* By MPI a tenth of what sockets take, and ten times their rate, in another order of nodes, but for what is
 * slow. */
static void check_mpi(const char *what, struct slow_node slow_node, size_t left_out, int faults,
                      const char *words, const char *summary)
{
    const char *reversed[N];
    uint32_t of[N];
    /* a slow node of the network is none of MPI */
    struct survey *sockets = surveyed(NULL, 2, 0, 1e-3, 0.1, 0.1), *mpi;
    struct pairwise_by_mpi p = {
        .n = N, .name = reversed, .sockets = sockets, .of = of, .library = "Open MPI v4.1.4", .type = "pmix"
    };
    struct findings f = { 0 };
    char *text;
    size_t bytes, n = 0;
    FILE *out;

    for (uint32_t i = 0; i < N; i++) {
        of[i] = N - 1 - i;
        reversed[i] = name[of[i]];
    }
    mpi = survey_new(NULL, reversed, N);
    for (uint32_t a = 0; a < N; a++)
        for (uint32_t b = a + 1; b < N; b++) {
            const struct survey_cell *there = &sockets->cell[of[a] * N + of[b]];
            bool is_slow = (of[a] == slow_node.node && (slow_node.pair == N || of[b] == slow_node.pair)) ||
                           (of[b] == slow_node.node && (slow_node.pair == N || of[a] == slow_node.pair));
            double times = is_slow ? slow_node.times : 1;

            for (int i = 0; i < SURVEY_CONFIRMED && n >= left_out; i++)
                survey_add(mpi, a, b, there->rtt_s / 10 * times, there->bytes_per_s * 10 / times,
                           there->bytes_per_s * 10 / times);
            n++;
        }
    p.survey = mpi;
    pairwise_judge_mpi(&p, &f);
    out = open_memstream(&text, &bytes);
    findings_print(&f, out);
    fclose(out);
    is_int((long long)findings_count(&f, FINDING_FAULT), faults, "by MPI, %s: faults", what);
    if (!ok(strstr(text, words) && strstr(text, summary), "by MPI, %s: the answer has '%s' and '%s'", what,
            words, summary))
        puts(text);
    free(text);
    findings_free(&f);
    survey_free(mpi);
    survey_free(sockets);
}

static void check_types(void)
{
    const char *type = pairwise_mpi_type(
        "MPI plugin types are...\n\tpmix\n\tnone\n\tpmi2\nspecific pmix plugin versions available: pmix_v4\n");

    is_str(type ? type : "", "pmix", "of srun's ways to start MPI, pmix");
    type = pairwise_mpi_type("srun: MPI types are...\nsrun: none\nsrun: pmi2\n");
    is_str(type ? type : "", "pmi2", "without it pmi2");
    ok(!pairwise_mpi_type("MPI plugin types are...\n\tnone\n\tpmix_v4\n"), "and nothing else");
}

static void check_all_mpi(void)
{
    check_mpi("all nodes alike", no_node, 0, 0, "ok ", "66 of 66 pairs by Open MPI v4.1.4 (srun --mpi=pmix)");
    check_mpi("a node with another device", (struct slow_node){ 4, N, 10 }, 0, 1,
              "round trips with node05 take 1.00x as long by MPI as by sockets, between other nodes 0.10x",
              "note ");
    check_mpi("a node that is a little slower", (struct slow_node){ 4, N, 2 }, 0, 0, "ok ",
              "no node and no pair has a much slower MPI");
    check_mpi("a pair with another device", (struct slow_node){ 4, 7, 10 }, 0, 1,
              "round trips between node08 and node05 take 1.00x", "note ");
    check_mpi("most pairs not measured", no_node, 50, 0, "unknown ", "50 pairs were not measured by MPI");
}

static void check_replies(void)
{
    struct measure_reply r;
    char *text;

    ok(measure_read("{\"task\":3,\"node\":\"n4\",\"port\":40001}", &r) == 0 && r.task == 3 &&
           r.port == 40001 && !strcmp(r.node, "n4"),
       "a task says where it listens");
    is_int(r.protocol, 1, "one that does not say its protocol speaks the first");
    ok(measure_read("{\"task\":3,\"protocol\":2,\"node\":\"n4\",\"port\":40001}", &r) == 0 && r.protocol == 2,
       "a task says its protocol");
    ok(measure_read("{\"task\":3,\"round\":7,\"rtt_s\":1e-5,\"ahead_s\":-3600.5}", &r) == 0 &&
           r.ahead_s < -3600,
       "a task says how far its partner's clock is behind");
    ok(measure_read("{\"task\":3,\"round\":7,\"rtt_s\":1e-5,\"there\":1e9}", &r) == 0 && !r.port &&
           r.round == 7 && r.rtt_s < 2e-5 && isnan(r.back_bytes_per_s),
       "a task says what it measured");
    is_int(measure_read("{\"task\":1024,\"round\":7}", &r), -1, "a task out of range is refused");
    is_int(measure_read("{\"task\":1,\"port\":5}", &r), -1, "a port without a node is refused");
    ok(measure_read("{\"task\":3,\"node\":\"n4\",\"mpi\":\"MPICH 4\"}", &r) == 0 && !r.port &&
           !strcmp(r.mpi, "MPICH 4"),
       "a task says its MPI");
    ok(measure_read("{\"task\":3,\"node\":\"n4\",\"why\":\"no MPI\"}", &r) == 0 && !strcmp(r.why, "no MPI"),
       "or why it has none");
    is_int(measure_read("{\"task\":3,\"node\":\"n4\",\"round\":7}", &r), -1,
           "a node that says neither is refused");
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
    ok(fabs(m.ahead_s) <= m.rtt_s / 2 + 1e-6,
       "two clocks of one machine differ by less than half of a round trip");
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
    check_all_mpi();
    check_types();
    check_replies();
    check_sockets();
    return done_testing();
}
