/* Where steps end: programs of four ranks by hand, their calls in the order of time. */
#include "calls/boundary.h"

#include "ring/ring.h"
#include "tests/tap.h"

#define RANKS  4u
#define STEPS  20u
#define WORLD  1u
#define PAIR   2u /* of ranks 0 and 1, or 2 and 3: 2, 3 */
#define SERIES 7u /* of communicators of all, each used once: 100, 101 ... */

static uint32_t members_of(uint64_t comm, void *arg)
{
    (void)arg;
    return comm == WORLD || comm == SERIES ? RANKS : 2;
}

struct run {
    struct boundary *b;
    uint64_t now_ns;
    uint32_t seq[RANKS][8], sent[RANKS];
    uint32_t ends[RANKS], first[RANKS], last[RANKS];
    uint32_t moved;
    uint64_t ended_bytes;       /* of the newest end */
    bool after_world;           /* every end so far was a collective of all */
    uint32_t calls, lose_every; /* lose_every: one of this many calls of the first two ranks is missing */
    uint32_t made, lose[2];     /* rank 3's calls; these of them, counted from 1, are missing */
};

static struct run begin(void)
{
    struct run run = { .b = boundary_new(members_of, NULL), .after_world = true };

    for (uint32_t r = 0; r < RANKS; r++)
        boundary_rank(run.b, r);
    return run;
}

static void call(struct run *run, struct call c, uint64_t series)
{
    struct boundary_at at;

    c.leave_ns = c.enter_ns + 1000;
    if (run->lose_every && c.rank < 2 && ++run->calls % run->lose_every == 0)
        return;
    if (c.rank == 3 && (++run->made == run->lose[0] || run->made == run->lose[1]))
        return;
    at = boundary_call(run->b, &c, series);
    run->moved += at.moved;
    if (!at.ends)
        return;
    run->after_world = run->after_world && !call_is_message(&c) && c.comm == WORLD;
    run->ended_bytes = c.bytes;
    if (!run->ends[c.rank]++)
        run->first[c.rank] = at.number;
    run->last[c.rank] = at.number;
}

static void all_reduce(struct run *run, uint64_t comm, uint64_t work_ns, uint64_t bytes)
{
    run->now_ns += work_ns;
    for (uint32_t r = 0; r < RANKS; r++) {
        uint64_t of = comm == PAIR ? PAIR + r / 2 : comm;

        call(run,
             (struct call){ .rank = r,
                            .op = RING_OP_ALLREDUCE,
                            .comm = of,
                            .seq = run->seq[r][of]++,
                            .bytes = bytes,
                            .enter_ns = run->now_ns },
             of);
    }
    run->now_ns += 1000;
}

static void all_reduce_on_new(struct run *run, uint64_t comm)
{
    run->now_ns += 50000;
    for (uint32_t r = 0; r < RANKS; r++)
        call(run,
             (struct call){
                 .rank = r, .op = RING_OP_ALLREDUCE, .comm = comm, .bytes = 8, .enter_ns = run->now_ns },
             SERIES);
    run->now_ns += 1000;
}

/* Everybody sends to the next, or, in a pipeline, to the next and back. */
static void exchange(struct run *run, bool pipeline)
{
    for (uint32_t r = 0; r < RANKS; r++)
        for (uint32_t way = 0; way < 2; way++) {
            uint32_t peer = way ? (r + RANKS - 1) % RANKS : (r + 1) % RANKS;

            if (pipeline && (way ? r == 0 : r == RANKS - 1))
                continue;
            call(run,
                 (struct call){ .rank = r,
                                .op = way ? RING_OP_RECV : RING_OP_SEND,
                                .comm = WORLD,
                                .seq = run->sent[r],
                                .peer = peer,
                                .tag = 1,
                                .bytes = 100,
                                .enter_ns = run->now_ns += 100 },
                 WORLD);
            run->sent[r] += way;
        }
    for (uint32_t r = 0; pipeline && r < RANKS; r += RANKS - 1)
        run->sent[r] += r == 0;
}

static void ends_are(const struct run *run, uint32_t least, const char *what)
{
    for (uint32_t r = 0; r < RANKS; r++)
        ok(run->ends[r] >= least && run->last[r] == run->last[0] &&
               run->last[r] - run->first[r] + 1 >= run->ends[r],
           "%s: the ends are counted alike on all ranks\nrank %u: %u ends, %u to %u", what, r, run->ends[r],
           run->first[r], run->last[r]);
    boundary_free(run->b);
}

int main(void)
{
    struct run run = begin();

    for (uint32_t s = 0; s < STEPS; s++) {
        all_reduce(&run, WORLD, 1000, 8);
        all_reduce(&run, WORLD, 1000, 16);
        all_reduce(&run, WORLD, 50000, 24); /* after most of the work */
    }
    is_int(boundary_period(run.b), 3, "a step of three collectives has three");
    ok(!boundary_on_messages(run.b), "... and is counted by them");
    is_int(run.ended_bytes, 16, "... and ends before the longest work");
    ends_are(&run, STEPS / 3, "three collectives");

    run = begin();
    for (uint32_t s = 0; s < STEPS; s++) {
        for (uint32_t m = 0; m < 12; m++)
            exchange(&run, true);
        all_reduce(&run, PAIR, 1000, 1 << 20);
        all_reduce(&run, WORLD, 1000, 8);
    }
    is_int(run.moved, 0, "microbatches of a pipeline are never taken for steps");
    ok(run.after_world, "its step ends with the collective of all");
    ends_are(&run, STEPS / 2, "a pipeline");

    run = begin();
    for (uint32_t s = 0; s < 2 * STEPS; s++) {
        for (uint32_t m = 0; m < 4; m++)
            exchange(&run, true);
        all_reduce(&run, WORLD, 1000, 8);
    }
    ok(run.after_world, "nor are those of a short one, whose first and last stage are seen to repeat last");
    ends_are(&run, STEPS, "a short pipeline");

    run = begin();
    for (uint32_t s = 0; s < STEPS; s++) {
        for (uint32_t m = 0; m < 16; m++) {
            exchange(&run, true);
            all_reduce(&run, PAIR, 1000, 1 << 20);
        }
        all_reduce(&run, WORLD, 1000, 8);
        if (s == 3)
            run.after_world = true;
    }
    ok(run.after_world && run.moved <= 1,
       "what pairs repeat by themselves is no step, once all were seen to meet");
    ok(run.last[0] - run.first[0] < STEPS, "... and is not counted\nends %u to %u", run.first[0],
       run.last[0]);
    boundary_free(run.b);

    run = begin();
    for (uint32_t s = 0; s < STEPS; s++) {
        for (uint32_t m = 0; m < 40; m++)
            all_reduce(&run, PAIR, 1000, 1 << 20);
        for (uint32_t bucket = 0; bucket < 3; bucket++)
            all_reduce(&run, WORLD, 1000, 8);
        if (s == 3)
            run.after_world = true;
    }
    ok(run.after_world && run.moved <= 1,
       "layers that exchange in pairs many times before all ranks meet are no steps");
    is_int(boundary_period(run.b), 3, "... whose three collectives of all are one");
    boundary_free(run.b);

    run = begin();
    run.lose_every = 40;
    for (uint32_t s = 0; s < STEPS; s++) {
        for (uint32_t m = 0; m < 12; m++)
            exchange(&run, true);
        all_reduce(&run, WORLD, 1000, 8);
    }
    ok(run.after_world && run.ends[2] >= STEPS / 2,
       "where half of the ranks lose calls, the others show where a step ends\n%u of %u", run.ends[2], STEPS);
    boundary_free(run.b);

    /* without the first of the second step, the first two look to that rank like two of eight */
    run = begin();
    run.lose[0] = 10;
    for (uint32_t s = 0; s < STEPS; s++) {
        for (uint32_t layer = 0; layer < 8; layer++)
            all_reduce(&run, WORLD, layer ? 1000 : 50000, 1 << 20);
        all_reduce(&run, WORLD, 1000, 8);
    }
    is_int(boundary_period(run.b), 9,
           "a step has as many collectives as most ranks see repeat, where one lost one");
    ends_are(&run, STEPS / 2, "... in a job of which one call is missing");

    run = begin();
    for (uint32_t s = 0; s < 8 * STEPS; s++) {
        exchange(&run, false);
        if (s % 8 == 7)
            all_reduce(&run, WORLD, 1000, 8);
    }
    ok(!run.after_world, "an exchange of halos is the step, a reduction now and then is not");
    ok(boundary_on_messages(run.b), "... which messages count");
    ends_are(&run, 7 * STEPS, "halos");

    /* of the first and of the third eight exchanges the same call is missing, so that sixteen look like what
     * that rank repeats */
    run = begin();
    run.lose[0] = 12;
    run.lose[1] = 46;
    for (uint32_t s = 0; s < 16 * STEPS; s++) {
        exchange(&run, false);
        if (s % 8 == 7)
            all_reduce(&run, WORLD, 1000, 8);
    }
    ok(boundary_on_messages(run.b), "nor is it where one rank lost calls");
    ends_are(&run, 14 * STEPS, "halos of which calls are missing");

    run = begin();
    for (uint32_t s = 0; s < STEPS; s++) {
        all_reduce(&run, WORLD, 1000, 8);
        all_reduce_on_new(&run, 100 + s);
    }
    ok(run.after_world && boundary_period(run.b) == 1,
       "a step with a communicator of its own ends with a collective of one that lasts");
    ends_are(&run, STEPS / 3, "a communicator each step");
    return done_testing();
}
