/* share: max-min fair rates, on cases with known answers and against the definition. */
#include "network/share.h"

#include <stdlib.h>

#include "tests/tap.h"

static const uint32_t *changed;

static uint32_t add(struct share *s, uint32_t flow, const uint32_t *link, uint32_t hops, double weight)
{
    share_add(s, flow, link, hops, weight);
    return flow;
}

/* Bertsekas and Gallager's parking lot: one long flow over n links, a short one on each. */
static void parking_lot(void)
{
    uint32_t links[5] = { 0, 1, 2, 3, 4 }, all, one[5];
    struct share *s = share_new(5);

    for (uint32_t i = 0; i < 5; i++)
        share_set_capacity(s, i, 10);
    all = add(s, 0, links, 5, 1);
    for (uint32_t i = 0; i < 5; i++)
        one[i] = add(s, i + 1, &links[i], 1, 1);
    is_int((long long)share_solve(s, &changed), 6, "parking lot: all six rates change");
    ok(near(share_rate(s, all), 5, 1e-12) && near(share_rate(s, one[3]), 5, 1e-12),
       "parking lot: long and short flows have half of each link");

    share_set_capacity(s, 2, 4);
    share_solve(s, &changed);
    ok(near(share_rate(s, all), 2, 1e-12), "a narrow link limits the long flow");
    ok(near(share_rate(s, one[2]), 2, 1e-12) && near(share_rate(s, one[0]), 8, 1e-12),
       "short flows get what the limited long flow leaves");

    share_remove(s, all);
    share_solve(s, &changed);
    ok(near(share_rate(s, one[2]), 4, 1e-12) && near(share_rate(s, one[4]), 10, 1e-12),
       "without the long flow the short ones have their full links");
    share_free(s);
}

/* Two bottlenecks: three flows on a link of 12, two of which continue over links of 2 and 3. */
static void two_bottlenecks(void)
{
    uint32_t narrow[2] = { 0, 1 }, middle[2] = { 0, 2 }, a, b, c;
    struct share *s = share_new(3);

    share_set_capacity(s, 0, 12);
    share_set_capacity(s, 1, 2);
    share_set_capacity(s, 2, 3);
    a = add(s, 0, narrow, 2, 1);
    b = add(s, 1, narrow, 1, 1);
    c = add(s, 2, middle, 2, 1);
    share_solve(s, &changed);
    ok(near(share_rate(s, a), 2, 1e-12), "two bottlenecks: the narrow link limits its flow");
    ok(near(share_rate(s, c), 3, 1e-12), "two bottlenecks: a flow alone on its narrow link has all of it");
    ok(near(share_rate(s, b), 7, 1e-12), "an unlimited flow gets the rest of the link");
    share_free(s);
}

static void weights(void)
{
    uint32_t link = 0, a, b;
    struct share *s = share_new(1);

    share_set_capacity(s, 0, 12);
    a = add(s, 0, &link, 1, 1);
    b = add(s, 1, &link, 1, 3);
    share_solve(s, &changed);
    ok(near(share_rate(s, a), 3, 1e-12) && near(share_rate(s, b), 9, 1e-12), "a link is shared by weight");
    share_free(s);
}

static void loners(void)
{
    uint32_t path[3] = { 0, 1, 2 }, f;
    struct share *s = share_new(3);

    for (uint32_t i = 0; i < 3; i++)
        share_set_capacity(s, i, 5 + i);
    f = add(s, 5, path, 3, 1);
    is_int((long long)share_solve(s, &changed), 1, "a single flow changes one rate");
    ok(share_rate(s, f) == 5, "a single flow has the rate of its slowest link");
    is_int((long long)share_solves(s), 0, "a single flow needs no solution of the whole network");
    share_remove(s, f);
    is_int((long long)share_solve(s, &changed), 0, "after the last flow is removed no rate changes");
    share_free(s);
}

/* Max-min: every flow has a full link on which no other has more for its weight. */
enum { LINKS = 24, FLOWS = 60 };

struct world {
    struct share *share;
    double capacity[LINKS];
    struct {
        bool used;
        uint32_t id, hops, link[4];
        double weight;
    } flow[FLOWS];
};

static bool is_max_min(const struct world *w)
{
    double used[LINKS] = { 0 }, most[LINKS] = { 0 };
    bool good = true;

    for (int f = 0; f < FLOWS; f++)
        for (uint32_t h = 0; w->flow[f].used && h < w->flow[f].hops; h++) {
            double rate = share_rate(w->share, w->flow[f].id);

            used[w->flow[f].link[h]] += rate;
            most[w->flow[f].link[h]] = fmax(most[w->flow[f].link[h]], rate / w->flow[f].weight);
        }
    for (int l = 0; l < LINKS; l++)
        good &= used[l] <= w->capacity[l] * (1 + 1e-9);
    for (int f = 0; f < FLOWS; f++) {
        double rate = w->flow[f].used ? share_rate(w->share, w->flow[f].id) : 0;
        bool stopped = !w->flow[f].used;

        for (uint32_t h = 0; w->flow[f].used && h < w->flow[f].hops; h++) {
            uint32_t l = w->flow[f].link[h];

            stopped |=
                near(used[l], w->capacity[l], 1e-8) && rate / w->flow[f].weight >= most[l] * (1 - 1e-8);
        }
        good &= stopped;
    }
    return good;
}

static void random_change(struct world *w)
{
    int f = rand() % FLOWS;

    if (rand() % 20 == 0) {
        uint32_t l = (uint32_t)rand() % LINKS;

        w->capacity[l] = 1 + rand() % 9;
        share_set_capacity(w->share, l, w->capacity[l]);
    } else if (w->flow[f].used) {
        share_remove(w->share, w->flow[f].id);
        w->flow[f].used = false;
    } else {
        uint32_t first = (uint32_t)rand() % LINKS;

        w->flow[f].used = true;
        w->flow[f].hops = 1 + (uint32_t)rand() % 4;
        w->flow[f].weight = rand() % 2 ? 1 : 0.5 + rand() % 3;
        for (uint32_t h = 0; h < w->flow[f].hops; h++)
            w->flow[f].link[h] = (first + h * 5) % LINKS;
        w->flow[f].id = add(w->share, (uint32_t)f, w->flow[f].link, w->flow[f].hops, w->flow[f].weight);
    }
}

static void random_worlds(void)
{
    int wrong = 0, changes = 0;

    for (int seed = 1; seed <= 40; seed++) {
        struct world w = { .share = share_new(LINKS) };

        srand((unsigned)seed);
        for (uint32_t l = 0; l < LINKS; l++)
            share_set_capacity(w.share, l, w.capacity[l] = 1 + rand() % 9);
        for (int i = 0; i < 400; i++, changes++) {
            for (int many = 1 + rand() % 4; many--;)
                random_change(&w);
            share_solve(w.share, &changed);
            wrong += !is_max_min(&w);
        }
        share_free(w.share);
    }
    ok(!wrong, "rates are max-min fair after each of %d added or removed flows\n%d wrong", changes, wrong);
}

int main(void)
{
    parking_lot();
    two_bottlenecks();
    weights();
    loners();
    random_worlds();
    return done_testing();
}
