/* A link of which every other message is slow from the start, beside pairs of nodes that do the same, by
 * hand; a node of which all are, in a ring; and what looks like them. */
#include "calls/mixed.h"

#include <math.h>

#include "ring/ring.h"
#include "tests/calls.h"
#include "tests/random.h"
#include "tests/tap.h"

#define PAIRS_MAX 6u
#define TIMES     6u /* messages one way in a step */
#define STEPS     60u
#define TAKES_S   0.001
#define VARIES    0.03

struct speeds {
    uint32_t pairs;    /* of nodes; pair p is nodes 2 p and 2 p + 1 */
    uint32_t from, to; /* pairs that are different: from, and before to */
    double fast, slow; /* times TAKES_S, of theirs: messages in turn */
    uint32_t every;    /* one of so many is slow */
    bool one_way;      /* only those from the first node of the pair are */
    uint32_t until;    /* they are until that step; 0: to the end */
    double tail;       /* chance of a message of any pair to take 5 times as long */
    bool alone;        /* each pair has a communicator of its own, and calls it more often in each step */
    double busy;       /* times TAKES_S: so much later come the receivers of theirs that are not `slow` */
    double varies;     /* standard deviation of what all take, as a share of it; 0: VARIES */
};

static uint32_t number; /* of a pair's messages one way */

static void message(struct graph *g, uint32_t from, uint32_t to, double sent_s, double takes_s, double busy_s)
{
    double enter_s = sent_s - 1e-4 + busy_s;

    graph_call(g,
               &(struct call){ .rank = from,
                               .op = RING_OP_SEND,
                               .comm = 1,
                               .seq = number,
                               .peer = to,
                               .tag = (int32_t)(from % 2),
                               .bytes = 1 << 20,
                               .enter_ns = (uint64_t)((5 + sent_s) * 1e9),
                               .leave_ns = (uint64_t)((5 + sent_s + 1e-6) * 1e9) },
               1);
    graph_call(g,
               &(struct call){ .rank = to,
                               .op = RING_OP_RECV,
                               .comm = 1,
                               .seq = number,
                               .peer = from,
                               .tag = (int32_t)(from % 2),
                               .bytes = 1 << 20,
                               .enter_ns = (uint64_t)((5 + enter_s) * 1e9),
                               .leave_ns = (uint64_t)((5 + fmax(enter_s + 2e-6, sent_s + takes_s)) * 1e9) },
               1);
}

static void reduce(struct graph *g, uint32_t rank, uint64_t comm, uint32_t seq, double at_s)
{
    give_allreduce(g, rank, comm, seq, (uint64_t)((5 + at_s) * 1e9), (uint64_t)((5 + at_s + 1e-4) * 1e9));
}

static double takes_s(const struct speeds *k, uint32_t pair, uint32_t step, bool back)
{
    double s = TAKES_S * fmax(0.1, 1 + (k->varies > 0 ? k->varies : VARIES) * gauss());

    if (k->tail > 0 && uniform() < k->tail)
        s *= 5;
    if (pair < k->from || pair >= k->to || (back && k->one_way) || (k->until && step >= k->until))
        return s;
    return s * (number % k->every ? k->fast : k->slow);
}

static struct mixed_link run(const struct speeds *k, struct mixed *m, struct price_slow slow[64])
{
    struct graph *g = graph_new();
    struct mixed_link found;
    uint32_t seen = 0, times = k->alone ? 2 * TIMES : TIMES;

    number = 0;
    for (uint32_t r = 0; r < 2 * k->pairs; r++)
        graph_rank(g, r, r);
    for (uint32_t i = 0; i < STEPS; i++) {
        double begin_s = 2.0 * i;

        for (uint32_t t = 0; t < times; t++, number++)
            for (uint32_t p = 0; p < k->pairs; p++) {
                double sent_s = begin_s + 1.2 / times * t;
                bool busy = p >= k->from && p < k->to && number % k->every;
                double busy_s = busy ? TAKES_S * k->busy : 0;

                message(g, 2 * p, 2 * p + 1, sent_s, takes_s(k, p, i, false), busy_s);
                message(g, 2 * p + 1, 2 * p, sent_s + 0.6 / times, takes_s(k, p, i, true), busy_s);
            }
        for (uint32_t r = 0; r < 2 * k->pairs; r++) {
            for (uint32_t c = 0; c < (k->alone ? i + 1 : 1); c++)
                reduce(g, r, k->alone ? 2 + r / 2 : 2, k->alone ? i * (i + 1) / 2 + c : i,
                       begin_s + 1.5 + 0.001 * c);
            graph_step_end(g, r, i + 1);
        }
        for (; seen < graph_steps(g); seen++)
            mixed_step(m, g, graph_steps(g) - 1 - seen);
    }
    found = *mixed_get(m);
    mixed_instead(m, slow, graph_kinds(g));
    for (uint32_t i = 0; i < graph_kinds(g); i++) {
        const struct graph_kind_info *q = graph_kind_get(g, i);
        bool its = found.standing && q->message && q->nodes == 2 && q->node[0] == found.node[0];

        if ((slow[i].above_s > 0) != its && found.standing)
            ok(false, "only what is sent through the link is priced: kind %u", i);
        if (its)
            is_near(slow[i].instead_s, TAKES_S, 0.1, "its messages should take what others' do");
    }
    graph_free(g);
    return found;
}

static const struct {
    struct speeds k;
    bool named;
    const char *what;
} cases[] = {
    { { 4, 1, 2, 1, 10, 2, false, 0, 0, false, 0, 0 },
      true,
      "every other message between two nodes is slow" },
    { { 4, 1, 2, 1, 4, 3, false, 0, 0, false, 0, 0 }, true, "one of three is" },
    { { 4, 1, 2, 1, 10, 2, false, 0, 0.01, false, 0, 0 },
      true,
      "so it is where others take longer now and then" },
    { { 4, 1, 2, 10, 1, 6, false, 0, 0, false, 0, 0 }, true, "five of six are" },
    { { 4, 1, 2, 1, 10, 2, false, 0, 0, false, 7.5, 0 },
      true,
      "so it is where the fast ones are found by receivers that come late themselves" },
    { { 4, 1, 2, 10, 10, 2, false, 0, 0, false, 9.5, 0.2 },
      false,
      "all messages of a link are slow, and some are found by receivers that come late" },
    { { 4, 1, 2, 10, 10, 2, false, 0, 0, false, 9.5, 0.05 }, false, "so they are where they vary little" },
    { { 4, 1, 2, 10, 10, 2, false, 0, 0, false, 0, 0 },
      false,
      "all messages of a link are slow: it may be far" },
    { { 4, 1, 2, 5, 7, 2, false, 0, 0, false, 0, 0 }, false, "a far link varies" },
    { { 4, 1, 2, 1, 2, 2, false, 0, 0, false, 0, 0 }, false, "twice as long is no second speed" },
    { { 4, 1, 2, 1, 10, 2, true, 0, 0, false, 0, 0 }, false, "one direction is as fast as others" },
    { { 4, 0, 4, 1, 10, 2, false, 0, 0, false, 0, 0 },
      false,
      "every other message of all pairs is slow: the program's" },
    { { 4, 1, 3, 1, 10, 2, false, 0, 0, false, 0, 0 }, false, "two pairs of four have two speeds" },
    { { 3, 1, 2, 1, 10, 2, false, 0, 0, false, 0, 0 },
      false,
      "two other pairs are too few to show what is usual" },
    { { 4, 1, 2, 1, 10, 12, false, 0, 0, false, 0, 0 }, false, "one message of twelve is slow now and then" },
    { { 4, 0, 0, 1, 1, 2, false, 0, 0.02, false, 0, 0 }, false, "all are as fast, but for a tail" },
    { { 4, 1, 2, 1, 10, 2, false, 30, 0, false, 0, 0 }, false, "the link has healed" },
    { { 4, 1, 2, 1, 10, 2, false, 0, 0, true, 0, 0 }, false, "no two pairs do the same" },
};

/* ---- a ring of nodes, each with messages to both neighbours ---- */

struct ring {
    uint32_t nodes;
    double to_next,
        to_last;     /* times TAKES_S, of node 2's messages with the next node and with the one before */
    double of_fifth; /* and of node 5's */
    uint32_t every;  /* one of so many is as slow */
    uint32_t until;  /* until that step; 0: to the end */
};

static double ring_takes_s(const struct ring *k, uint32_t node, uint32_t step) /* with the next one */
{
    double s = TAKES_S * (1 + 0.03 * gauss());

    if (number % k->every || (k->until && step >= k->until))
        return s;
    return s * (node == 2 ? k->to_next : node == 1 ? k->to_last : node == 4 || node == 5 ? k->of_fifth : 1);
}

static struct mixed_link run_ring(const struct ring *k, struct mixed *m, uint32_t *priced)
{
    static struct price_slow slow[64];
    struct graph *g = graph_new();
    struct mixed_link found;
    uint32_t seen = 0;

    number = *priced = 0;
    for (uint32_t r = 0; r < k->nodes; r++)
        graph_rank(g, r, r);
    for (uint32_t i = 0; i < STEPS; i++) {
        double begin_s = 2.0 * i;

        for (uint32_t t = 0; t < TIMES; t++, number++)
            for (uint32_t r = 0; r < k->nodes; r++) {
                uint32_t next = (r + 1) % k->nodes;

                message(g, r, next, begin_s + 1.2 / TIMES * t, ring_takes_s(k, r, i), 0);
                message(g, next, r, begin_s + 1.2 / TIMES * (t + 0.5), ring_takes_s(k, r, i), 0);
            }
        for (uint32_t r = 0; r < k->nodes; r++) {
            reduce(g, r, 2, i, begin_s + 1.5);
            graph_step_end(g, r, i + 1);
        }
        for (; seen < graph_steps(g); seen++)
            mixed_step(m, g, graph_steps(g) - 1 - seen);
    }
    found = *mixed_get(m);
    mixed_instead(m, slow, graph_kinds(g));
    for (uint32_t i = 0; i < graph_kinds(g); i++)
        *priced += slow[i].above_s > 0;
    graph_free(g);
    return found;
}

static void rings(void)
{
    static const struct {
        struct ring k;
        bool named;
        const char *what;
    } shapes[] = {
        { { 8, 5, 5, 1, 1, 0 }, true, "all messages of a node take five times as long" },
        { { 8, 5, 3.5, 1, 1, 0 }, true, "they take as long as that, or less" },
        { { 8, 5, 1, 1, 1, 0 }, false, "those of one of its links are slow: it may be far" },
        { { 8, 2, 2, 1, 1, 0 }, false, "twice as long may be the network's" },
        { { 8, 5, 5, 5, 1, 0 }, false, "two nodes are slow" },
        { { 4, 5, 5, 1, 1, 0 }, false, "two pairs of other nodes are too few to show what is usual" },
        { { 8, 5, 5, 1, 2, 0 }, false, "one of two is slow, on both of its links" },
        { { 8, 1, 1, 1, 1, 0 }, false, "all are as fast" },
        { { 8, 5, 5, 1, 1, 30 }, false, "the node has healed" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
        struct mixed *m = mixed_new();
        uint32_t priced;
        struct mixed_link l = run_ring(&shapes[i].k, m, &priced);

        ok(l.standing == shapes[i].named && (!l.standing || (l.node[0] == 2 && l.node[1] == GRAPH_NONE)),
           "a ring of nodes: %s: %s", shapes[i].what, shapes[i].named ? "it is named" : "nothing is named");
        if (l.standing) {
            is_near(l.times, (shapes[i].k.to_next + shapes[i].k.to_last) / 2, 0.1,
                    "how much longer its messages take than others'");
            is_int(priced, 4, "messages on both of its links, both ways, are priced, and no others");
        }
        mixed_free(m);
    }
}

int main(void)
{
    static struct price_slow slow[64];

    random_state = 5;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct mixed *m = mixed_new();
        struct mixed_link l = run(&cases[i].k, m, slow);

        ok(l.standing == cases[i].named && (!l.standing || (l.node[0] == 2 && l.node[1] == 3)), "%s: %s",
           cases[i].what, cases[i].named ? "it is named" : "nothing is named");
        if (l.standing)
            is_near(l.times, fmax(cases[i].k.slow, cases[i].k.fast), 0.1,
                    "how much longer its slow messages take");
        mixed_free(m);
    }
    rings();
    return done_testing();
}
