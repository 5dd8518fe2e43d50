/* The critical path of steps one after another: what it is made of, that it fills each step, and what is said
 * where calls or steps are missing. */
#include "calls/step_paths.h"

#include "calls/boundary.h"
#include "ring/ring.h"
#include "tests/served.h"
#include "tests/tap.h"

#define RANKS     4u
#define ORIGIN_NS 1000u
#define STEP_NS   16000000u /* 15 ms of work of the slow rank, 1 ms of transfer */
#define SLICES    32u
#define STEPS     400u

static struct {
    struct step_path path;
    struct step_slice slice[SLICES];
} got[STEPS];
static size_t n_got;

static void take(const struct step_path *p, void *arg)
{
    (void)arg;
    if (n_got == STEPS || p->n > SLICES)
        return;
    got[n_got].path = *p;
    memcpy(got[n_got++].slice, p->slice, p->n * sizeof(*p->slice));
}

static uint32_t members(uint64_t comm, void *arg)
{
    (void)arg;
    return comm == 1 ? RANKS : 0;
}

/* The calls of a program, in the order in which they are given; of rank `lost`, some are missing. */
#define CALLS 4000u
static struct {
    struct call call;
    bool lost;
} given[CALLS];
static size_t n_given;

static void give(struct call c)
{
    c.enter_ns += ORIGIN_NS;
    c.leave_ns += ORIGIN_NS;
    if (n_given < CALLS)
        given[n_given++].call = c;
}

static void allreduce(uint32_t rank, uint32_t seq, uint64_t enter_ns, uint64_t leave_ns)
{
    give((struct call){ .rank = rank,
                        .op = RING_OP_ALLREDUCE,
                        .comm = 1,
                        .seq = seq,
                        .bytes = 8,
                        .enter_ns = enter_ns,
                        .leave_ns = leave_ns });
}

static void message(uint8_t op, uint32_t rank, uint32_t peer, uint32_t seq, uint64_t enter_ns,
                    uint64_t leave_ns)
{
    give((struct call){ .rank = rank,
                        .op = op,
                        .comm = 1,
                        .seq = seq,
                        .peer = peer,
                        .bytes = 1000,
                        .enter_ns = enter_ns,
                        .leave_ns = leave_ns });
}

/* What was given becomes paths; known: after a first pass over it. */
static void play(bool known)
{
    struct boundary *boundary = boundary_new(members, NULL);
    struct step_paths *s;

    n_got = 0;
    for (uint32_t r = 0; r < RANKS; r++)
        boundary_rank(boundary, r);
    for (size_t i = 0; i < n_given && known; i++)
        if (!given[i].lost)
            boundary_call(boundary, &given[i].call, given[i].call.comm);
    s = step_paths_new(ORIGIN_NS, 0, boundary, take, NULL);
    for (uint32_t r = 0; r < RANKS; r++)
        step_paths_rank(s, r, r / 2);
    for (size_t i = 0; i < n_given; i++)
        if (given[i].lost)
            step_paths_lost(s, given[i].call.rank);
        else
            step_paths_call(s, &given[i].call);
    step_paths_finish(s);
    step_paths_free(s);
}

static void forget(void)
{
    memset(given, 0, sizeof(given));
    n_given = 0;
}

/* Each step's slices fill it, in order, and no step begins before the one before it has ended. */
static bool is_filled(void)
{
    for (size_t i = 0; i < n_got; i++) {
        const struct step_path *p = &got[i].path;
        uint64_t at_ns = p->begin_ns, sum_ns = 0;

        for (size_t k = 0; k < p->n; k++) {
            if (got[i].slice[k].begin_ns != at_ns || got[i].slice[k].end_ns <= at_ns)
                return false;
            at_ns = got[i].slice[k].end_ns;
        }
        for (size_t k = 0; k < PATH_KINDS; k++)
            sum_ns += p->sum_ns[k];
        if (at_ns != p->end_ns || sum_ns != p->end_ns - p->begin_ns)
            return false;
        if (i && p->begin_ns < got[i - 1].path.end_ns)
            return false;
    }
    return true;
}

static bool lasts(const struct step_slice *x, double ns)
{
    return near((double)(x->end_ns - x->begin_ns), ns, 1e-3);
}

/* All wait for rank 3 in each step. */
static void one_slow_rank(void)
{
    bool right = true, follow = true;

    forget();
    for (uint32_t k = 0; k < 100; k++)
        for (uint32_t r = 0; r < RANKS; r++)
            allreduce(r, k, (uint64_t)k * STEP_NS + (r == 3 ? 15000000 : 10000000),
                      (uint64_t)(k + 1) * STEP_NS);
    play(false);
    ok(n_got > 50 && n_got < 99, "step_paths: there is no path before it is found where steps end\n%zu",
       n_got);
    ok(is_filled(), "step_paths: slices fill each step that there is");
    play(true);
    is_int((long long)n_got, 99, "step_paths: after a first pass all steps have a path but the first");
    for (size_t i = 0; i < n_got; i++) {
        const struct step_slice *x = got[i].slice;

        right = right && got[i].path.n == 2 && x[0].kind == PATH_WORK && x[0].rank == 3 &&
                lasts(&x[0], 15e6) && x[1].kind == PATH_TRANSFER && !x[1].message &&
                x[1].op == RING_OP_ALLREDUCE && x[1].from == 3 && lasts(&x[1], 1e6);
        follow = follow && (!i || (got[i].path.number == got[i - 1].path.number + 1 &&
                                   got[i].path.begin_ns == got[i - 1].path.end_ns));
    }
    ok(right, "step_paths: a step waits for the work of the slow rank, then for the collective");
    ok(follow, "step_paths: each step begins when the one before it ended");
    ok(is_filled(), "step_paths: slices fill each step");
}

/* Rank 0 works, sends to rank 1, which works, and then all meet: the path goes through both. */
static void through_a_message(void)
{
    bool right = true;

    forget();
    for (uint32_t k = 0; k < 100; k++) {
        uint64_t at_ns = (uint64_t)k * STEP_NS, end_ns = at_ns + STEP_NS;

        message(RING_OP_SEND, 0, 1, k, at_ns + 5000000, at_ns + 5010000);
        message(RING_OP_RECV, 1, 0, k, at_ns + 1000000, at_ns + 7000000);
        for (uint32_t r = 0; r < RANKS; r++)
            allreduce(r, k, at_ns + (r == 1 ? 15000000 : 8000000), end_ns);
    }
    play(true);
    for (size_t i = 0; i < n_got; i++) {
        const struct step_slice *x = got[i].slice;

        right = right && got[i].path.n == 4 && x[0].kind == PATH_WORK && x[0].rank == 0 &&
                lasts(&x[0], 5e6) && x[1].kind == PATH_TRANSFER && x[1].message && x[1].from == 0 &&
                x[1].rank == 1 && lasts(&x[1], 2e6) && x[2].kind == PATH_WORK && x[2].rank == 1 &&
                lasts(&x[2], 8e6) && x[3].kind == PATH_TRANSFER && x[3].from == 1;
    }
    ok(n_got == 99 && right,
       "step_paths: the path goes from the sender's work through its message to the receiver's\n%zu", n_got);
    ok(is_filled(), "step_paths: slices fill each step, with a message");
}

/* Calls are missing: what was before is not called work, and steps still follow each other. */
static void with_losses(void)
{
    uint64_t unknown_ns = 0;

    forget();
    for (uint32_t k = 0; k < 100; k++)
        for (uint32_t r = 0; r < RANKS; r++) {
            uint64_t at_ns = (uint64_t)k * STEP_NS;

            message(RING_OP_SEND, r, r ^ 1, k, at_ns + 3000000, at_ns + 3010000);
            message(RING_OP_RECV, r, r ^ 1, k, at_ns + 3010000, at_ns + 3020000);
            given[n_given - 1].lost = k == 60 && r == 3;
            allreduce(r, k, at_ns + (r == 3 ? 15000000 : 10000000), at_ns + STEP_NS);
        }
    play(true);
    for (size_t i = 0; i < n_got; i++)
        unknown_ns += got[i].path.sum_ns[PATH_UNKNOWN];
    ok(n_got == 99 && is_filled(), "step_paths: slices fill each step, with calls that are missing\n%zu",
       n_got);
    ok(unknown_ns < STEP_NS, "step_paths: no more than the step with the missing call is not known\n%llu",
       (unsigned long long)unknown_ns);
}

/* A ring of ranks hands on what each works on for 4 ms: a step's path goes back through all of them, and
 * takes longer than steps are apart. */
static void beside_each_other(void)
{
    static const uint64_t apart_ns = 4000000;
    bool right = true;

    forget();
    for (uint32_t k = 0; k < 400; k++)
        for (uint32_t r = 0; r < RANKS; r++) {
            uint64_t at_ns = (k + r + 1) * apart_ns;

            if (r > 0 || k >= RANKS)
                message(RING_OP_RECV, r, (r + RANKS - 1) % RANKS, r ? k : k - RANKS, at_ns - 700000,
                        at_ns - 300000);
            message(RING_OP_SEND, r, (r + 1) % RANKS, k, at_ns + 3100000, at_ns + 3200000);
        }
    play(true);
    for (size_t i = 1; i < n_got; i++)
        right = right && got[i].path.begin_ns == got[i - 1].path.end_ns &&
                near((double)(got[i].path.end_ns - got[i].path.begin_ns), (double)apart_ns, 1e-3);
    ok(n_got > 100 && right,
       "step_paths: a step lasts from the end of the one before it, whatever its path does\n%zu", n_got);
    ok(is_filled(), "step_paths: slices fill each step, where ranks are not at the same one");
}

static struct step_paths *served_paths;

static void give_served(const struct call *c, void *arg)
{
    (void)arg;
    step_paths_call(served_paths, c);
}

/* So many paths of workers at a server, which all wait for all of them, or do not. */
static size_t paths_of_served(uint32_t bound)
{
    struct served s = { .workers = 4,
                        .servers = 1,
                        .work_s = 0.02,
                        .service_s = 0.0002,
                        .latency_s = 2e-5,
                        .cv = 0.1,
                        .bound = bound,
                        .read_bytes = 400000,
                        .write_bytes = 400000,
                        .call = give_served };
    struct boundary *boundary = boundary_new(members, NULL);

    n_got = 0;
    random_state = 1;
    served_paths = step_paths_new(ORIGIN_NS, 0, boundary, take, NULL);
    for (uint32_t r = 0; r < 5; r++)
        step_paths_rank(served_paths, r, r);
    served_begin(&s);
    for (uint32_t i = 0; i < 4 * 6000; i++)
        served_step(&s);
    step_paths_finish(served_paths);
    step_paths_free(served_paths);
    return n_got;
}

static void where_nobody_waits(void)
{
    is_int((long long)paths_of_served(SERVED_FREE), 0,
           "where workers do not wait for one another there is no path");
    ok(paths_of_served(0) > 0, "where a server waits for all of them there are paths");
}

int main(void)
{
    where_nobody_waits();
    one_slow_rank();
    through_a_message();
    with_losses();
    beside_each_other();
    return done_testing();
}
