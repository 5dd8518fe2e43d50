/* sgplan collective: the expected time of a collective. */
#include "model/collective.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plan/answer.h"
#include "plan/job.h"
#include "plan/options.h"
#include "plan/question.h"

enum { OP, CROSSOVER, SLOWEST, SHARDS, SKEW, MEASURED };

static const struct option_spec own[] = {
    [OP] = { "op", "NAME", VALUE_ONE_OF(collective_ops), "the operation" },
    [CROSSOVER] = { "crossover", "A,B", VALUE(VALUE_ANY),
                    "find the size at which two algorithms take equally long, as in ring,tree" },
    [SLOWEST] = { "slowest-link", "RATE", VALUE_RANGE(VALUE_RATE, VALUE_POSITIVE, INFINITY),
                  "bandwidth of the slowest link, if lower than --bandwidth" },
    [SHARDS] = { "shards", "S", VALUE_RANGE(VALUE_COUNT, 1, 1e6), "parameter servers that share the vector" },
    [SKEW] = { "skew", "RATIO", VALUE_RANGE(VALUE_NUMBER, 1, 1e6),
               "all-to-all: bytes of the busiest rank over the mean of all ranks" },
    [MEASURED] = { "measured", "TIME", VALUE_RANGE(VALUE_SECONDS, VALUE_POSITIVE, INFINITY),
                   "measured time, to be compared with the expected one" },
};

static const struct option_use uses[] = {
    { &own[OP], OPTION_REQUIRED }, { &option_algo, NULL }, { &option_bytes, NULL }, JOB_NETWORK_USES,
    { &own[SLOWEST], NULL },       { &own[SHARDS], "1" },  { &own[SKEW], "1" },     { &own[CROSSOVER], NULL },
    { &own[MEASURED], NULL },      { NULL, NULL },
};

/* "ring,tree" */
static int read_pair(const char *text, enum collective_algo pair[2], struct err *err)
{
    const char *comma = strchr(text, ',');
    char first[32], algorithms[120];
    double one, two;

    snprintf(first, sizeof(first), "%.*s", comma ? (int)(comma - text) : 0, text);
    if (!comma || options_value(&option_algo, first, &one, NULL) < 0 ||
        options_value(&option_algo, comma + 1, &two, NULL) < 0 || one == two)
        return err_set(
            err, "--crossover: '%.60s' is not accepted: two different algorithms of %s, as in ring,tree",
            text, value_accepts(&option_algo.type, algorithms, sizeof(algorithms)));
    pair[0] = (enum collective_algo)one;
    pair[1] = (enum collective_algo)two;
    return 0;
}

static int put_crossover(const struct options *a, const struct collective *c, struct answer *answer,
                         struct err *err)
{
    struct collective one = *c, two = *c;
    enum collective_algo pair[2] = { COLLECTIVE_RING, COLLECTIVE_RING };
    double bytes;

    if (read_pair(options_text(a, "crossover"), pair, err) < 0)
        return -1;
    one.algo = pair[0];
    two.algo = pair[1];
    if (job_network_check(&one, err) < 0 || job_network_check(&two, err) < 0)
        return -1;
    bytes = collective_crossover_bytes(&one, &two);
    answer_title(answer, "%s over %.0f ranks, %s against %s", collective_ops[c->op], c->ranks,
                 collective_algos[pair[0]], collective_algos[pair[1]]);
    answer_figure(answer, "crossover_bytes", bytes, ANSWER_BYTES,
                  "vector size at which both take equally long");
    if (isnan(bytes)) {
        answer_note(answer, "One of the two algorithms is faster at every size.");
        return 0;
    }
    answer_figure(answer, "time_s", collective_time_s(&one, bytes), ANSWER_SECONDS, "time at that size");
    answer_word(answer, "cheaper_above",
                collective_cost(&one).s_per_byte < collective_cost(&two).s_per_byte
                    ? collective_algos[pair[0]]
                    : collective_algos[pair[1]],
                "faster above that size; the other one is faster below");
    return 0;
}

static int put_time(const struct options *a, const struct collective *c, struct answer *answer,
                    struct err *err)
{
    static const struct answer_column columns[] = { { "algo", "ALGORITHM", ANSWER_WORDS },
                                                    { "time_s", "TIME", ANSWER_SECONDS },
                                                    { "fixed_s", "LATENCY", ANSWER_SECONDS },
                                                    { "bytes_per_rank", "SENT", ANSWER_BYTES } };
    double bytes = options_number(a, "bytes"), took_s = options_number(a, "measured");
    bool one_way = c->op == COLLECTIVE_ALLTOALL || c->op == COLLECTIVE_PARAMETER_SERVER;
    double time_s = collective_time_s(c, bytes), sent = collective_sent_bytes(c, bytes);

    if (isnan(bytes))
        return err_set(err, "--bytes=SIZE is needed, or --crossover=A,B");
    if (job_network_check(c, err) < 0)
        return -1;
    answer_title(answer, "%s over %.0f ranks%s%s", collective_ops[c->op], c->ranks, one_way ? "" : ", ",
                 one_way ? "" : collective_algos[c->algo]);
    answer_figure(answer, "time_s", time_s, ANSWER_SECONDS, "until the last rank has the result");
    answer_figure(answer, "bytes_per_rank", sent, ANSWER_BYTES, "sent by the busiest rank");
    answer_figure(answer, "bytes_per_s", time_s > 0 ? bytes / time_s : NAN, ANSWER_RATE,
                  "vector size over time");
    if (c->op != COLLECTIVE_PARAMETER_SERVER)
        answer_figure(answer, "latency_s", collective_cost(c).fixed_s, ANSWER_SECONDS,
                      "part of the time that does not depend on the size");
    if (!isnan(took_s))
        answer_figure(answer, "health", time_s / took_s, ANSWER_SHARE,
                      "expected time over measured time; above 90 %% is healthy");
    if (!one_way)
        answer_table(answer, "algorithms", "Expected time by algorithm:", columns, 4);
    for (int i = 0; i < COLLECTIVE_ALGOS && !one_way; i++) {
        struct collective other = *c;

        other.algo = (enum collective_algo)i;
        if (!collective_has(c->op, other.algo) || (i == COLLECTIVE_HIERARCHICAL && !job_network_has_nodes(c)))
            continue; /* the options are not sufficient for it */
        answer_cell_words(answer, "%s", collective_algos[other.algo]);
        answer_cells(answer, collective_time_s(&other, bytes), collective_cost(&other).fixed_s,
                     collective_sent_bytes(&other, bytes));
    }
    if (c->algo == COLLECTIVE_HIERARCHICAL && c->rails == 1)
        answer_note(
            answer,
            "With one rail, hierarchical sends as many bytes over a node's link as a ring that follows the "
            "nodes; more --rails spread them over more links.");
    return 0;
}

static int run(const struct options *a, struct answer *answer, struct err *err)
{
    double algo = options_number(a, "algo");
    struct collective c;

    job_network(a, &c);
    c.op = (enum collective_op)options_number(a, "op");
    if (!isnan(algo))
        c.algo = (enum collective_algo)algo;
    else if (!collective_has(c.op, c.algo))
        c.algo = COLLECTIVE_TREE;
    c.shards = options_number(a, "shards");
    c.skew = options_number(a, "skew");
    if (options_given(a, "slowest-link"))
        c.slowest_bytes_per_s = options_number(a, "slowest-link");
    answer_source(
        answer,
        "latency-bandwidth model (Hockney 1994); ring: Patarasuk & Yuan 2009; tree, halving-doubling: "
        "Thakur, Rabenseifner & Gropp 2005");
    answer_assumes(answer,
                   "all ranks enter at the same time; links are not shared; the ring follows the nodes; "
                   "trees are not pipelined, and their log2 of the ranks is not rounded up");
    return options_given(a, "crossover") ? put_crossover(a, &c, answer, err) : put_time(a, &c, answer, err);
}

const struct question question_collective = {
    .command.name = "collective",
    .command.operands = "",
    .command.text = "expected time of a collective, by operation and algorithm",
    .command.more =
        "--bytes is the size of the whole vector: before a reduce-scatter, after an all-gather; in an "
        "all-to-all, all that one rank sends, including the part for itself. The default of --algo is ring, "
        "or tree for operations that have no ring. hierarchical is a ring inside each node and --rails rings "
        "between the nodes.",
    .command.uses = uses,
    .run = run,
};
