#include "calls/roles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "model/statistics.h"

/* steps whose medians are the first levels: as many as detectors need before they weigh (PLACES_STEPS_MIN) */
#define LEVEL_STEPS 8u
#define ENOUGH      3u /* of them, before anything is reported: with fewer, the median is a mean */
/* that show how a role's excess varies from step to step.  Chosen: the first ones may be longer for some
 * roles, which compile more, and of five one or two that are make the interval wide */
#define FIRST_STEPS_MIN      5u
#define MEDIAN_TO_MEAN_ERROR 1.2533 /* of a median, for a mean's of 1: normal noise */
/* Of a level, by which it moves a step. Chosen: so slow that a fault is named long before it is usual (10 %
 * take 24 steps), and fast enough to follow what grows within hundreds of steps. */
#define LEVEL_GAIN 0.004
/* Excess of each rank at a seat over the median of the others.  Chosen: as ROLES_EXCESS of call_steps.c, with
 * which a role is reported. */
#define SEAT_EXCESS 0.06
/* The ranks at a seat are that alike: the most excess over the least.  Chosen: data differ from group to
 * group, what makes several machines slow is seldom alike. */
#define SEAT_ALIKE 2.0
/* Probability that chance alone puts as many slow ranks as there are on all seats of one number. */
#define SEAT_CHANCE 0.01
/* Of the heaviest role's level. Chosen: what has less to do than a tenth of it waits for others by design. */
#define SERVES 0.1

struct roles {
    uint32_t n, roles, steps;
    float *first_s; /* LEVEL_STEPS rows of n */
    float *level_s; /* by rank; NaN not known */
    float *role_s;  /* by role */
    float min_s;    /* of a role's level: those below serve the others */
    float mean_s;   /* of the roles' */
    float others_s; /* median of all but the heaviest; NaN: there are none to compare it with */
    float *scratch;
};

struct roles *roles_new(void)
{
    return xcalloc(1, sizeof(struct roles));
}

void roles_reset(struct roles *r)
{
    free(r->first_s);
    free(r->level_s);
    free(r->role_s);
    free(r->scratch);
    memset(r, 0, sizeof(*r));
}

void roles_free(struct roles *r)
{
    if (!r)
        return;
    roles_reset(r);
    free(r);
}

/* What all ranks that are not held do more of in this step than their level says: a median over slow ones,
 * too, would lower the level of the others step by step. */
static float factor_of(struct roles *r, const float *own_s, const bool *held)
{
    uint32_t m = 0;

    for (uint32_t i = 0; i < r->n; i++)
        if (!isnan(own_s[i]) && r->level_s[i] > 0 && !(held && held[i]))
            r->scratch[m++] = own_s[i] / r->level_s[i];
    return m ? statistics_medianf(r->scratch, m) : NAN;
}

/* The first step that a rank is known in stands for its level until there are more. */
static void learn_levels(struct roles *r, const float *own_s)
{
    memcpy(r->first_s + (size_t)r->steps * r->n, own_s, r->n * sizeof(float));
    for (uint32_t i = 0; i < r->n; i++)
        if (!r->steps || isnan(r->level_s[i]))
            r->level_s[i] = own_s[i];
    if (!r->steps)
        return;
    for (uint32_t i = 0; i <= r->steps; i++) { /* each row over what is common in it */
        float *row = r->first_s + (size_t)i * r->n, factor = factor_of(r, row, NULL);

        for (uint32_t j = 0; j < r->n && factor > 0; j++)
            row[j] /= factor;
    }
    for (uint32_t i = 0; i < r->n; i++) {
        float v[LEVEL_STEPS];
        uint32_t m = 0;

        for (uint32_t k = 0; k <= r->steps; k++)
            if (!isnan(r->first_s[(size_t)k * r->n + i]))
                v[m++] = r->first_s[(size_t)k * r->n + i];
        if (m)
            r->level_s[i] = statistics_medianf(v, m);
    }
}

static void follow_levels(struct roles *r, const float *own_s, const bool *held)
{
    float factor = factor_of(r, own_s, held);

    /* As many levels rise as fall, by the same ratio, so that together they stay where those that are held
     * were left. */
    for (uint32_t i = 0; i < r->n && factor > 0; i++) {
        float ratio = own_s[i] / r->level_s[i];

        if (isnan(r->level_s[i]))
            r->level_s[i] = own_s[i] / factor;
        else if (ratio > factor && !(held && held[i]))
            r->level_s[i] *= 1 + (float)LEVEL_GAIN;
        else if (ratio < factor && !(held && held[i]))
            r->level_s[i] /= 1 + (float)LEVEL_GAIN;
    }
}

static uint32_t heaviest(const struct roles *r)
{
    uint32_t best = GRAPH_NONE;

    for (uint32_t i = 0; i < r->roles; i++)
        if (!isnan(r->role_s[i]) && (best == GRAPH_NONE || r->role_s[i] > r->role_s[best]))
            best = i;
    return best;
}

/* A few ranks with almost no work serve the others, as a parameter server does, and could not do theirs. */
static void compare_roles(struct roles *r, const struct graph *g)
{
    uint32_t best = heaviest(r), m = 0, n = 0, serve = 0;
    float min_s = best == GRAPH_NONE ? 0 : (float)SERVES * r->role_s[best];
    double sum = 0;

    for (uint32_t i = 0; i < r->n; i++)
        serve += r->role_s[graph_role(g, i)] < min_s;
    if (2 * serve >= r->n) /* where most ranks have that little, no role serves */
        min_s = 0;
    for (uint32_t i = 0; i < r->roles; i++)
        if (i != best && !isnan(r->role_s[i])) {
            sum += r->role_s[i];
            n++;
            if (r->role_s[i] >= min_s)
                r->scratch[m++] = r->role_s[i];
        }
    r->min_s = min_s;
    r->mean_s = best == GRAPH_NONE ? NAN : (float)((sum + r->role_s[best]) / (n + 1));
    r->others_s = m ? statistics_medianf(r->scratch, m) : NAN;
}

/* ---- seats in groups ---- */

/* The ranks of a program at one seat, and its others. */
struct seat {
    uint32_t role, seating, number;
    uint32_t seats;       /* in each group */
    uint32_t n, n_others; /* ranks */
    double least, most;   /* excess of its ranks over the others' median */
    uint32_t slow;        /* ranks of the role with at least half of its least excess */
};

static bool is_at(const struct graph *g, uint32_t rank, const struct seat *s)
{
    return graph_role(g, rank) == s->role && graph_seat(g, rank, s->seating) == s->number;
}

static bool look_at_seat(const struct roles *r, const struct graph *g, struct seat *s)
{
    double base_s;
    uint32_t m = 0;

    for (uint32_t i = 0; i < r->n; i++)
        if (graph_role(g, i) == s->role && !is_at(g, i, s) && r->level_s[i] > 0)
            r->scratch[m++] = r->level_s[i];
    s->n_others = m;
    s->n = s->slow = 0;
    if (!m)
        return false;
    base_s = statistics_medianf(r->scratch, m);
    s->least = INFINITY;
    s->most = -INFINITY;
    for (uint32_t i = 0; i < r->n; i++)
        if (is_at(g, i, s)) {
            s->n++;
            s->least = fmin(s->least, r->level_s[i] > 0 ? r->level_s[i] / base_s - 1 : -INFINITY);
            s->most = fmax(s->most, r->level_s[i] / base_s - 1);
        }
    for (uint32_t i = 0; i < r->n; i++)
        s->slow += graph_role(g, i) == s->role && r->level_s[i] / base_s - 1 >= s->least / 2;
    return true;
}

/* Do its ranks have more to do, in every group and from the start, and would chance hardly pick them? */
static bool has_more(const struct seat *s)
{
    double chance = s->seats;

    if (s->n < 2 || s->n_others < s->n || !(s->least > SEAT_EXCESS) || s->most > SEAT_ALIKE * s->least)
        return false;
    for (uint32_t i = 0; i < s->n; i++)
        chance *= (s->slow - i) / (double)(s->n + s->n_others - i);
    return chance <= SEAT_CHANCE;
}

static uint32_t seats_of(const struct roles *r, const struct graph *g, uint32_t role, uint32_t seating)
{
    uint32_t seats = 0;

    for (uint32_t i = 0; i < r->n; i++)
        if (graph_role(g, i) == role && graph_seat(g, i, seating) != GRAPH_NONE &&
            graph_seat(g, i, seating) >= seats)
            seats = graph_seat(g, i, seating) + 1;
    return seats;
}

/* The seat of a role's ranks whose member has the highest level. */
static uint32_t highest_seat(const struct roles *r, const struct graph *g, uint32_t role, uint32_t seating)
{
    uint32_t best = GRAPH_NONE;

    for (uint32_t i = 0; i < r->n; i++)
        if (graph_role(g, i) == role && r->level_s[i] > 0 && graph_seat(g, i, seating) != GRAPH_NONE &&
            (best == GRAPH_NONE || r->level_s[i] > r->level_s[best]))
            best = i;
    return best == GRAPH_NONE ? GRAPH_NONE : graph_seat(g, best, seating);
}

/* Ranks at the same seat of each group that have more to do from the start: what they hold is theirs by the
 * program, such as the experts that most tokens go to.  They are a role of their own. */
static void part_seats(struct roles *r, struct graph *g)
{
    uint32_t roles = graph_roles(g);
    bool *seen = xcalloc((size_t)roles * GRAPH_SEATINGS, sizeof(*seen));

    for (uint32_t i = 0; i < r->n; i++)
        for (uint32_t k = 0; k < GRAPH_SEATINGS; k++) {
            uint32_t role = graph_role(g, i);
            struct seat s = { .role = role, .seating = k };

            if (role >= roles || seen[role * GRAPH_SEATINGS + k] || graph_seat(g, i, k) == GRAPH_NONE)
                continue;
            seen[role * GRAPH_SEATINGS + k] = true;
            s.seats = seats_of(r, g, role, k);
            for (;;) {
                s.number = highest_seat(r, g, role, k);
                if (s.number == GRAPH_NONE || !look_at_seat(r, g, &s) || !has_more(&s))
                    break;
                graph_part(g, role, k, s.number);
            }
        }
    free(seen);
    r->role_s = xrealloc(r->role_s, graph_roles(g), sizeof(*r->role_s));
    r->roles = graph_roles(g);
}

/* Each role's level.  Ranks are sorted by role first, since there may be as many roles as ranks. */
static void take_role_levels(struct roles *r, const struct graph *g)
{
    uint32_t *end = xcalloc(r->roles, sizeof(*end)), begin = 0;

    for (uint32_t i = 0; i < r->n; i++)
        end[graph_role(g, i)] += r->level_s[i] > 0;
    for (uint32_t role = 0; role < r->roles; role++) {
        uint32_t n = end[role];

        end[role] = begin; /* it moves as the role's ranks come */
        begin += n;
    }
    for (uint32_t i = 0; i < r->n; i++)
        if (r->level_s[i] > 0)
            r->scratch[end[graph_role(g, i)]++] = r->level_s[i];
    begin = 0;
    for (uint32_t role = 0; role < r->roles; role++) {
        uint32_t n = end[role] - begin;

        r->role_s[role] = n ? statistics_selectf(r->scratch + begin, n, (n - 1) / 2) : NAN;
        begin = end[role];
    }
    free(end);
}

bool roles_take(struct roles *r, struct graph *g, float *own_s, uint32_t n, const bool *held)
{
    if (!graph_roles(g))
        return false;
    if (r->n != n || r->roles != graph_roles(g)) {
        roles_reset(r);
        r->n = n;
        r->roles = graph_roles(g);
        r->first_s = xcalloc((size_t)n * LEVEL_STEPS, sizeof(float));
        r->level_s = xcalloc(n, sizeof(float));
        r->role_s = xcalloc(r->roles, sizeof(float));
        r->scratch = xcalloc(n > LEVEL_STEPS ? n : LEVEL_STEPS, sizeof(float));
    }
    if (r->steps < LEVEL_STEPS)
        learn_levels(r, own_s);
    else
        follow_levels(r, own_s, held);
    if (++r->steps == LEVEL_STEPS)
        part_seats(r, g);
    take_role_levels(r, g);
    compare_roles(r, g);
    if (r->roles < 2)
        return true;
    for (uint32_t i = 0; i < n; i++)
        own_s[i] *= r->mean_s / r->role_s[graph_role(g, i)];
    return r->steps >= ENOUGH;
}

uint32_t roles_heaviest(const struct roles *r, double *excess)
{
    uint32_t best = heaviest(r);
    bool others = r->steps && !isnan(r->others_s);

    *excess = others ? r->role_s[best] / r->others_s - 1 : NAN;
    return others ? best : GRAPH_NONE;
}

double roles_of_mean(const struct roles *r, uint32_t role)
{
    return r->roles > 1 && role < r->roles && r->role_s[role] > 0 ? r->role_s[role] / r->mean_s : 1;
}

double roles_of_others(const struct roles *r, uint32_t role)
{
    return r->roles > 1 && role < r->roles && r->role_s[role] > 0 && r->others_s > 0
               ? r->role_s[role] / r->others_s
               : 1;
}

double roles_error(const struct roles *r, const struct graph *g, uint32_t role, double *freedom)
{
    double within = 0, between = 0, mean = 0, n = 0, n_role = 0, n_others = 0, others = 0, square;

    *freedom = 0;
    for (uint32_t i = 0; i < r->n && role < r->roles; i++) {
        double off = r->level_s[i] / r->role_s[graph_role(g, i)] - 1;

        if (isnan(off))
            continue;
        within += off * off;
        n++;
        *(graph_role(g, i) == role ? &n_role : &n_others) += 1;
    }
    for (uint32_t i = 0; i < r->roles; i++)
        if (i != role && !isnan(r->role_s[i])) {
            mean += r->role_s[i];
            others++;
        }
    *freedom = n - r->roles;
    if (!(*freedom > 0) || !others)
        return NAN;
    within /= *freedom;
    mean /= others;
    for (uint32_t i = 0; i < r->roles; i++)
        if (i != role && !isnan(r->role_s[i]))
            between += pow(r->role_s[i] / mean - 1, 2);
    square = within / n_role +
             (others > 1 ? fmax(within / n_others, between / (others - 1) / others) : within / n_others);
    return MEDIAN_TO_MEAN_ERROR * sqrt(square) * r->role_s[role] / mean;
}

/* In one of the first steps; NaN: not known. */
static double excess_in(const struct roles *r, const struct graph *g, uint32_t role, const float *own_s)
{
    struct mean {
        float s;
        uint32_t n;
    } *of = xcalloc(r->roles, sizeof(*of));
    float *others = xcalloc(r->roles, sizeof(*others)), least_s = INFINITY;
    uint32_t m = 0;

    for (uint32_t i = 0; i < r->n; i++) {
        struct mean *k = &of[graph_role(g, i)];

        if (isnan(own_s[i]))
            continue;
        k->s += (own_s[i] - k->s) / (float)++k->n;
        if (graph_role(g, i) == role)
            least_s = fminf(least_s, own_s[i]);
    }
    for (uint32_t i = 0; i < r->roles; i++)
        if (i != role && of[i].n && r->role_s[i] >= r->min_s)
            others[m++] = of[i].s;
    least_s = m && !isinf(least_s) ? least_s / statistics_medianf(others, m) - 1 : NAN;
    free(of);
    free(others);
    return least_s;
}

struct interval roles_first_steps(const struct roles *r, const struct graph *g, uint32_t role)
{
    uint32_t steps = r->steps < LEVEL_STEPS ? r->steps : LEVEL_STEPS, n = 0;
    double sum = 0, squares = 0;

    for (uint32_t i = 0; i < steps && role < r->roles; i++) {
        double x = excess_in(r, g, role, r->first_s + (size_t)i * r->n), off = n ? x - sum / n : 0;

        if (isnan(x))
            continue;
        squares += off * off * n / (n + 1); /* Welford 1962 */
        sum += x;
        n++;
    }
    return n < FIRST_STEPS_MIN ? INTERVAL_UNKNOWN : interval_of(sum / n, sqrt(squares / (n - 1) / n), n - 1);
}

uint32_t roles_steps(const struct roles *r)
{
    return r->steps;
}
