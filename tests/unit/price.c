/* What a suspect costs: programs of one collective a step, with known work. */
#include "calls/price.h"

#include <math.h>

#include "ring/ring.h"
#include "tests/calls.h"
#include "tests/random.h"
#include "tests/tap.h"

#define RANKS 8u
#define STEPS 60u
#define WORK  0.1

/* Work in a step: twice as much in every fifth one, a pause of a second in one, and rank 3 by half longer
 * from a step on. */
static double work_of(uint32_t rank, uint32_t step, uint32_t onset)
{
    double work_s = WORK * (step % 5 ? 1 : 2);

    return work_s * (rank == 3 && step >= onset ? 1.5 : 1) + (step == 47 ? 1 : 0);
}

/* Off the mean by this share: like lengths that differ, with no mean of their own. */
static double uneven(uint32_t rank, uint32_t step)
{
    return 0.2 * sin(rank * 12.9898 + step * 78.233 + rank * step * 0.37) * sqrt(2);
}

static void play(struct graph *g, uint32_t onset, double share)
{
    double now_s = 0;

    for (uint32_t r = 0; r < RANKS; r++)
        graph_rank(g, r, 0);
    for (uint32_t i = 0; i < STEPS; i++) {
        double at_s[RANKS], end_s = 0;

        for (uint32_t r = 0; r < RANKS; r++) {
            at_s[r] = now_s + work_of(r, i, onset) * (1 + share * uneven(r, i));
            end_s = fmax(end_s, at_s[r]);
        }
        for (uint32_t r = 0; r < RANKS; r++) {
            give_allreduce(g, r, 1, i, (uint64_t)((5 + at_s[r]) * 1e9), (uint64_t)((5 + end_s + 1e-5) * 1e9));
            graph_step_end(g, r, i + 1);
        }
        now_s = end_s + 1e-5;
    }
    graph_finish(g);
}

/* Steps that do twice the work lose twice as much to a slow rank, a pause nothing. */
static void slow_rank(void)
{
    struct graph *g = graph_new();
    struct price_work work[RANKS] = { [3] = { .excess = 0.5f, .from = 21 } };
    struct price_change change = { .from = 1, .work = work };
    struct price p;
    struct prices since;

    play(g, 20, 0);
    p = price_take(g, &change, 0).all;
    ok(near(p.saved_s, 48 * WORK * 0.5, 0.02), "what a slow rank costs follows the work\n%g s of %g",
       p.saved_s, 48 * WORK * 0.5);
    since = price_take(g, &change, 51);
    ok(since.all.saved_s == p.saved_s && near(since.recent.saved_s, 12 * WORK * 0.5, 0.02) &&
           near(since.recent.of_s, 12 * WORK * 1.5, 0.02),
       "of ten steps, two of them twice as long, it is priced by their own time\n%g s of %g",
       since.recent.saved_s, since.recent.of_s);
    graph_free(g);
}

/* As if all pieces had taken what they do on the mean. */
static void even(void)
{
    struct graph *g = graph_new();
    struct expected *e = expected_new();
    struct price_change change = { .from = 1, .expected = e, .even = 0 };
    struct price p;
    double even_s = 0;

    for (uint32_t i = 1; i < STEPS; i++)
        even_s += work_of(0, i, STEPS);
    play(g, STEPS, 1);
    p = price_take(g, &change, 0).all;
    ok(near(p.of_s - p.saved_s, even_s, 0.01), "without uneven pieces the steps take %g s\n%g", even_s,
       p.of_s - p.saved_s);
    expected_free(e);
    graph_free(g);
}

/* Steps of `calls` collectives of one kind, before which each rank does pieces of work. */
static void play_pieces(struct graph *g, uint32_t calls,
                        double (*piece_s)(uint32_t rank, uint32_t step, uint32_t call))
{
    uint64_t now_ns = 5000000000, enter_ns[RANKS];

    for (uint32_t r = 0; r < RANKS; r++)
        graph_rank(g, r, 0);
    for (uint32_t i = 0; i < STEPS * calls; i++) {
        uint64_t end_ns = 0;

        for (uint32_t r = 0; r < RANKS; r++) {
            enter_ns[r] = now_ns + (uint64_t)(piece_s(r, i / calls, i % calls) * 1e9);
            end_ns = enter_ns[r] > end_ns ? enter_ns[r] : end_ns;
        }
        now_ns = end_ns + 10000;
        for (uint32_t r = 0; r < RANKS; r++) {
            give_allreduce(g, r, 1, i, enter_ns[r], now_ns);
            if (i % calls == calls - 1)
                graph_step_end(g, r, i / calls + 1);
        }
    }
    graph_finish(g);
}

/* What the steps after the first would take if their pieces were even, over what they should. */
static double even_ratio(uint32_t calls, double (*piece_s)(uint32_t rank, uint32_t step, uint32_t call),
                         double should_s)
{
    struct graph *g = graph_new();
    struct expected *e = expected_new();
    struct price_change change = { .from = 1, .expected = e, .even = 0 };
    struct price p;

    play_pieces(g, calls, piece_s);
    p = price_take(g, &change, 0).all;
    expected_free(e);
    graph_free(g);
    return (p.of_s - p.saved_s) / should_s;
}

static double by_chance(uint32_t rank, uint32_t step, uint32_t call)
{
    (void)rank, (void)step, (void)call;
    return WORK * (1 + 0.2 * box_muller());
}

/* Between two calls of one kind there is a short piece, a long one, ... */
static double short_and_long(uint32_t rank, uint32_t step, uint32_t call)
{
    return (call % 2 ? 1.5 : 0.5) * by_chance(rank, step, call);
}

/* Two steps of which nothing is known but that they were there. */
static double nothing_twice(uint32_t rank, uint32_t step, uint32_t call)
{
    return step == 20 || step == 40 ? 0 : by_chance(rank, step, call);
}

/* As lengths of sequences are: one piece in a hundred takes more than 2.2 times what most do. */
static double skewed(uint32_t rank, uint32_t step, uint32_t call)
{
    (void)rank, (void)step, (void)call;
    return WORK * exp(0.35 * box_muller() - 0.06125);
}

static void even_pieces(void)
{
    double by_chance_ratio = even_ratio(6, by_chance, 6 * WORK * (STEPS - 1));
    double of_two = even_ratio(6, short_and_long, 6 * WORK * (STEPS - 1));
    double twice = even_ratio(2, nothing_twice, 2 * WORK * (STEPS - 3));
    double of_lengths = even_ratio(6, skewed, 6 * WORK * (STEPS - 1));

    ok(near(by_chance_ratio, 1, 0.01),
       "pieces that differ by chance alone should be as long as their mean\n%g", by_chance_ratio);
    ok(near(of_two, 1, 0.01),
       "of short and long pieces between the same calls, each should be as long as those of other ranks\n%g",
       of_two);
    ok(near(twice, 1, 0.01), "steps in which nothing was done leave it known what the others should take\n%g",
       twice);
    ok(near(of_lengths, 1, 0.02), "pieces of a wide spread that are twice as long as most are no pauses\n%g",
       of_lengths);
}

#define BLOCKS 12u

/* What all pieces of a rank in a step are off by. */
static double lasts[STEPS][RANKS], off_by;

static double with_noise(uint32_t rank, uint32_t step, uint32_t call)
{
    (void)call;
    return WORK * (1 + lasts[step][rank]) * (1 + off_by * box_muller());
}

/* Pieces that vary by off_by each, of steps that vary by `noise`: what the steps after the first take without
 * the former, and what they should. */
static void lasting_noise(double noise, double *without_s, double *should_s, double *sigma)
{
    struct graph *g = graph_new();
    struct expected *e = expected_new();
    struct lasting_noise *l = lasting_noise_new();
    struct price_change change = { .from = 1, .expected = e, .lasting = l };
    struct price p;

    *should_s = 0;
    for (uint32_t i = 0; i < STEPS; i++) {
        double most = 0;

        for (uint32_t r = 0; r < RANKS; r++) {
            lasts[i][r] = noise * box_muller();
            most = r ? fmax(most, lasts[i][r]) : lasts[i][r];
        }
        *should_s += i ? BLOCKS * WORK * (1 + most) : 0;
    }
    play_pieces(g, BLOCKS, with_noise);
    p = price_take(g, &change, 0).all;
    *without_s = p.of_s - p.saved_s;
    *sigma = lasting_noise_sigma(l);
    lasting_noise_free(l);
    expected_free(e);
    graph_free(g);
}

/* Noise that lasts does not average out in a step, and is no uneven work. */
static void lasting(void)
{
    double without_s, should_s, sigma;

    off_by = 0.12;
    lasting_noise(0.02, &without_s, &should_s, &sigma);
    ok(near(sigma, 0.02, 0.15), "ranks whose whole steps vary by 2 %% beside uneven pieces do so\n%g", sigma);
    ok(near(without_s, should_s, 0.01),
       "with even pieces they would still wait for the slowest of them: %g s\n%g", should_s, without_s);
    lasting_noise(0, &without_s, &should_s, &sigma);
    ok(sigma == 0, "of uneven pieces alone nothing lasts\n%g", sigma);
    ok(near(without_s, should_s, 0.01), "and even they would take %g s\n%g", should_s, without_s);
    lasting_noise(0.1, &without_s, &should_s, &sigma);
    ok(sigma == 0,
       "what lasts and is more than any machine's noise is the work, and shows nothing of that\n%g", sigma);
}

/* Every fourth transfer takes 40 ms, the others 10 ms, and all took half of that before. */
static void slow_transfers(void)
{
    struct graph *g = graph_new();
    float excess[] = { 1 };
    struct price_change change = { .transfer_excess = excess };
    struct price p;
    double now_s = 0, slow_s = 0, grows_s = 0;

    graph_rank(g, 0, 0);
    graph_rank(g, 1, 1);
    for (uint32_t i = 0; i < STEPS; i++) {
        double transfer_s = i % 4 ? 0.01 : 0.04;

        for (uint32_t r = 0; r < 2; r++) {
            give_allreduce(g, r, 1, i, (uint64_t)((5 + now_s + WORK) * 1e9),
                           (uint64_t)((5 + now_s + WORK + transfer_s) * 1e9));
            graph_step_end(g, r, i + 1);
        }
        now_s += WORK + transfer_s;
        slow_s += i ? transfer_s : 0;
    }
    graph_finish(g);
    p = price_take(g, &change, 0).all;
    ok(fabs(p.saved_s / (slow_s / 2) - 1) < 0.01,
       "transfers that took half as long before cost half of their time, whatever they vary by\n%g s of %g s",
       p.saved_s, slow_s);
    /* Ramps: in step k, from 1 on, as large a share of the excess as k is of all steps. */
    for (uint32_t i = 1; i < STEPS; i++) {
        double transfer_s = i % 4 ? 0.01 : 0.04, share = (double)(i + 1) / STEPS;

        grows_s += transfer_s * (1 - 1 / (1 + share));
    }
    change.transfer_until = STEPS;
    p = price_take(g, &change, 0).all;
    ok(fabs(p.saved_s / grows_s - 1) < 0.01,
       "and as much less as they were less longer while that grew\n%g s of %g s", p.saved_s, grows_s);
    graph_free(g);
}

/* Steps of so many calls, each two of other sizes; all pieces of rank 3 are half longer in every seventh
 * step. */
static void late_now_and_then(uint32_t calls)
{
    struct graph *g = graph_new();
    struct expected *mostly = expected_new();
    bool late[GRAPH_STEPS] = { 0 };
    struct price_work work[RANKS] = { [3] = { .excess = 0.5f, .late = late } };
    struct price_change change = { .from = 1, .work = work, .ranks = RANKS, .mostly = mostly };
    double now_s = 0, lost_s = 0, piece_s = WORK / calls;
    struct price p;

    for (uint32_t r = 0; r < RANKS; r++)
        graph_rank(g, r, 0);
    for (uint32_t i = 0; i < GRAPH_STEPS; i++) {
        bool is_late = i > 20 && i % 7 == 0;

        late[(i + 1) % GRAPH_STEPS] = is_late;
        for (uint32_t k = 0; k < calls; k++) {
            double end_s = now_s + piece_s * (is_late ? 1.5 : 1);

            for (uint32_t r = 0; r < RANKS; r++)
                graph_call(
                    g,
                    &(struct call){ .rank = r,
                                    .op = RING_OP_ALLREDUCE,
                                    .comm = 1,
                                    .seq = i * calls + k,
                                    .bytes = 8ull << (k % 2 ? 10 + k / 20 : k / 2 % 10),
                                    .enter_ns = (uint64_t)((5 + (r == 3 ? end_s : now_s + piece_s)) * 1e9),
                                    .leave_ns = (uint64_t)((5 + end_s + 1e-5) * 1e9) },
                    1);
            now_s = end_s + 1e-5;
        }
        for (uint32_t r = 0; r < RANKS; r++)
            graph_step_end(g, r, i + 1);
        lost_s += is_late ? WORK / 2 : 0;
    }
    graph_finish(g);
    p = price_take(g, &change, 0).all;
    is_near(p.saved_s, lost_s, 0.02,
            "with %u calls a step a rank that is late in every seventh one costs what it is late by", calls);
    expected_free(mostly);
    graph_free(g);
}

int main(void)
{
    late_now_and_then(4);
    late_now_and_then(100);
    slow_rank();
    even();
    even_pieces();
    lasting();
    slow_transfers();
    return done_testing();
}
