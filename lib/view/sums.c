#include "view/sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "detect/delay.h"

struct sums {
    const struct roster *roster;
    struct {
        struct rank_sums recent, run;
        struct rank_delays {
            /* recent, of those joined, each for those that it stands for */
            double wait_s, delay_s, collectives;
        } delays;
    } * rank;
    size_t cap;
    struct joined_sums recent, run;
    double stay_s;                 /* recent, of all ranks */
    struct efficiency_sums before; /* of the run, in an earlier view */
    struct delay *delay;           /* of the collective being shared out, and as much to sort them */
    size_t delay_cap;
};

struct sums *sums_new(const struct roster *roster)
{
    struct sums *s = xcalloc(1, sizeof(*s));

    s->roster = roster;
    return s;
}

void sums_free(struct sums *s)
{
    free(s->rank);
    free(s->delay);
    free(s);
}

void sums_reserve(struct sums *s, uint32_t ranks)
{
    s->rank = xgrow(s->rank, &s->cap, ranks, sizeof(*s->rank));
}

void sums_forget(struct sums *s)
{
    if (s->cap)
        memset(s->rank, 0, s->cap * sizeof(*s->rank));
    memset(&s->recent, 0, sizeof(s->recent));
    memset(&s->run, 0, sizeof(s->run));
    s->stay_s = 0;
    memset(&s->before, 0, sizeof(s->before));
}

const struct rank_sums *sums_rank(const struct sums *s, uint32_t rank, bool run)
{
    return run ? &s->rank[rank].run : &s->rank[rank].recent;
}

void joined_sums_fade(struct joined_sums *s)
{
    s->wait_s *= SUMS_FADE;
    s->transfer_s *= SUMS_FADE;
}

void joined_sums_add(struct joined_sums *a, const struct joined_sums *b)
{
    a->wait_s += b->wait_s;
    a->transfer_s += b->transfer_s;
}

/* Below, the last columns have faded away: what is left of them is rounding. */
#define FADED_S 1e-9

void sums_fade(struct sums *s)
{
    joined_sums_fade(&s->recent);
    s->stay_s *= SUMS_FADE;
    for (uint32_t r = 0; r < roster_limit(s->roster); r++) {
        struct rank_sums *k = &s->rank[r].recent;
        struct rank_delays *d = &s->rank[r].delays;
        double fade = k->time_s < FADED_S ? 0 : SUMS_FADE;

        k->work_s *= fade;
        k->stay_s *= fade;
        k->time_s *= fade;
        d->wait_s *= SUMS_FADE;
        d->delay_s *= SUMS_FADE;
        d->collectives *= SUMS_FADE;
    }
}

static void add_sample(struct rank_sums *to, double work_s, double stay_s, double time_s)
{
    to->work_s += work_s;
    to->stay_s += stay_s;
    to->time_s += time_s;
}

void sums_take_sample(struct sums *s, const struct sample *i)
{
    double stay_s = (double)i->stay_sum_ns * 1e-9, gap_s = (double)i->gap_sum_ns * 1e-9;
    double work_s = gap_s - (double)i->p2p_sum_ns * 1e-9;

    s->stay_s += stay_s;
    add_sample(&s->rank[i->rank].recent, work_s, stay_s, gap_s + stay_s);
    add_sample(&s->rank[i->rank].run, work_s, stay_s, gap_s + stay_s);
}

struct joined_sums sums_take_joined(struct sums *s, const struct joined *j)
{
    /* Rounded as lateness is: the last one's wait is zero, and nobody's is below. */
    float skew_s = (float)(j->stay_max_s - j->stay_min_s);
    struct joined_sums joined = { 0 };
    struct delay *d = s->delay = xgrow(s->delay, &s->delay_cap, 2 * (size_t)j->slots, sizeof(*s->delay));
    size_t n = 0;

    for (uint32_t i = 0; i < j->slots; i++)
        if (j->rank[i] < roster_limit(s->roster) && !isnan(j->stay_s[i]))
            d[n++] = (struct delay){ .late_s = (float)(j->stay_max_s - j->stay_s[i]), .rank = j->rank[i] };
    delay_share(d, d + n, n);
    for (size_t i = 0; i < n; i++) {
        struct rank_delays *to = &s->rank[d[i].rank].delays;
        double own_s = (double)(skew_s - d[i].late_s) * j->n;

        to->wait_s += own_s;
        to->delay_s += (double)d[i].cost_s * j->n;
        to->collectives += j->n;
        joined.wait_s += own_s;
    }
    joined.transfer_s = j->stay_min_s * (double)n * j->n;
    joined_sums_add(&s->recent, &joined);
    joined_sums_add(&s->run, &joined);
    return joined;
}

struct efficiency_sums sums_all(const struct sums *s, bool run)
{
    const struct joined_sums *joined = run ? &s->run : &s->recent;
    struct efficiency_sums sums = { .wait_s = joined->wait_s, .transfer_s = joined->transfer_s };

    for (uint32_t r = 0; r < roster_limit(s->roster); r++) {
        const struct rank_sums *k = sums_rank(s, r, run);

        if (roster_at(s->roster, r)->known)
            efficiency_rank(&sums, k->work_s, k->stay_s, k->time_s);
    }
    efficiency_group(&sums);
    return run ? efficiency_joined(&s->before, &sums) : sums;
}

void sums_go_on(struct sums *s, const struct efficiency_sums *before)
{
    s->before = *before;
}

struct rank_waiting sums_waiting(const struct sums *s, uint32_t rank, const struct totals *recent)
{
    const struct rank_delays *k = &s->rank[rank].delays;
    const struct joined_sums *joined = &s->recent;
    double time_s = s->rank[rank].recent.time_s, held;

    if (!(k->collectives > 0 && time_s > 0 && recent->steps && joined->wait_s + joined->transfer_s > 0))
        return (struct rank_waiting){ NAN, NAN };
    /* A rank that is late for several collectives in flight is late for each of them; those who wait for all
     * of them wait once. */
    held = fmin(1, s->stay_s / (joined->wait_s + joined->transfer_s)) / time_s *
           (recent->step_sum_s / recent->steps);
    return (struct rank_waiting){ k->wait_s * held, k->delay_s * held };
}
