#include "model/algorithm.h"

#include <math.h>

#define LEAST_GAIN    0.01 /* of the step: less is not worth that sums are rounded otherwise */
#define ELEMENT_LEAST 4.0  /* bytes of usual elements: from integers and floats */
#define ELEMENT_MOST  16.0 /* to complex numbers of two doubles */
#define CONSTRAINTS   (2 * ALGORITHM_SIZES + 3)
#define TOLERANCE     1e-9

const char *algorithm_name(enum algorithm a)
{
    static const char *const names[ALGORITHMS + 1] = { "recursive_doubling", "rabenseifner", "ring", "" };

    return names[a];
}

static double power_below(uint32_t n)
{
    return exp2(floor(log2(n) + 1e-12));
}

/* ---- what libraries do ---- */

bool algorithm_can(enum algorithm_library l, enum algorithm a)
{
    return l == ALGORITHM_OPENMPI ||
           a != ALGORITHM_RING; /* MPICH has a ring from 4.1 on; 4.0 ends at its name */
}

/* Rabenseifner's algorithm and the ring need an element for each rank (of a power of two). */
static double elements_needed(enum algorithm a, uint32_t ranks)
{
    return a == ALGORITHM_RING ? ranks : a == ALGORITHM_RABENSEIFNER ? power_below(ranks) : 0;
}

static bool surely_fits(enum algorithm a, uint32_t ranks, double bytes)
{
    return bytes / ELEMENT_MOST >= elements_needed(a, ranks);
}

static bool surely_not(enum algorithm a, uint32_t ranks, double bytes)
{
    return bytes / ELEMENT_LEAST < elements_needed(a, ranks);
}

bool algorithm_keeps_order(enum algorithm a)
{
    return a != ALGORITHM_RING;
}

/* A row holds below so many ranks, and its algorithms below so many bytes each. */
struct rule {
    double ranks;
    struct {
        double bytes;
        enum algorithm algorithm;
    } below[8];
};

/* ompi_coll_tuned_allreduce_intra_dec_fixed() of Open MPI (coll_tuned_decision_fixed in ompi/mca/coll/tuned),
 * the same in v4.1.4 and v5.0.7, for operations that commute. Its 3 is recursive doubling, 4 a ring, 5 a
 * segmented ring, which without a size of segments is a ring, and 6 Rabenseifner's; 2, a reduction and a
 * broadcast, is none of ours. A ring of fewer elements than ranks is recursive doubling (coll_base_allreduce
 * in ompi/mca/coll/base). */
#define OTHER ALGORITHMS
static const struct rule tuned[] = {
    { 4,
      { { 8, ALGORITHM_RING },
        { 4096, ALGORITHM_DOUBLING },
        { 8192, ALGORITHM_RING },
        { 16384, ALGORITHM_DOUBLING },
        { 262144, ALGORITHM_RING },
        { INFINITY, ALGORITHM_RABENSEIFNER } } },
    { 8, { { 16, ALGORITHM_RING }, { 8192, ALGORITHM_DOUBLING }, { INFINITY, ALGORITHM_RABENSEIFNER } } },
    { 16, { { 8192, ALGORITHM_DOUBLING }, { INFINITY, ALGORITHM_RABENSEIFNER } } },
    { 32, { { 64, ALGORITHM_RING }, { 4096, ALGORITHM_DOUBLING }, { INFINITY, ALGORITHM_RABENSEIFNER } } },
    { 64, { { 128, ALGORITHM_RING }, { INFINITY, ALGORITHM_RABENSEIFNER } } },
    { 128, { { 262144, ALGORITHM_DOUBLING }, { INFINITY, ALGORITHM_RABENSEIFNER } } },
    { 256, { { 131072, OTHER }, { 262144, ALGORITHM_DOUBLING }, { INFINITY, ALGORITHM_RABENSEIFNER } } },
    { 512, { { 4096, OTHER }, { INFINITY, ALGORITHM_RABENSEIFNER } } },
    { 2048, { { 2048, OTHER }, { 16384, ALGORITHM_DOUBLING }, { INFINITY, ALGORITHM_RABENSEIFNER } } },
    { 4096,
      { { 2048, OTHER },
        { 4096, ALGORITHM_RING },
        { 16384, ALGORITHM_DOUBLING },
        { INFINITY, ALGORITHM_RABENSEIFNER } } },
    { INFINITY,
      { { 2048, OTHER },
        { 16384, ALGORITHM_RING },
        { 32768, ALGORITHM_DOUBLING },
        { INFINITY, ALGORITHM_RABENSEIFNER } } },
};

/* "collective=allreduce" of maint/tuning/coll/mpir/generic.json, the same in v4.0.2, v4.2.1 and v4.3.2, for
 * predefined operations. */
static const struct rule mpich[] = {
    { INFINITY, { { 9, ALGORITHM_DOUBLING }, { INFINITY, ALGORITHM_RABENSEIFNER } } },
};

enum algorithm algorithm_usual(enum algorithm_library l, uint32_t ranks, double bytes)
{
    const struct rule *r = l == ALGORITHM_OPENMPI ? tuned : mpich;
    enum algorithm a;
    size_t i = 0;

    while (!(ranks < r->ranks))
        r++;
    while (!(bytes < r->below[i].bytes))
        i++;
    a = r->below[i].algorithm;
    if (a == ALGORITHMS || surely_fits(a, ranks, bytes))
        return a;
    return surely_not(a, ranks, bytes) && (l == ALGORITHM_MPICH || a == ALGORITHM_RING) ? ALGORITHM_DOUBLING
                                                                                        : ALGORITHMS;
}

/* Latencies of one message, at most: those of the longest one. */
static double most_trips(enum algorithm a, uint32_t ranks, double bytes)
{
    bool halves = a == ALGORITHM_RABENSEIFNER && power_below(ranks) >= ranks;
    double longest_bytes = a == ALGORITHM_RING ? bytes / ranks : halves ? bytes / 2 : bytes;

    return longest_bytes > ALGORITHM_READY_BYTES ? ALGORITHM_READY_TRIPS : 1;
}

/* ---- networks that explain the run ---- */

/* x fixed + y per_byte <= most, for a network (x, y). */
struct network_line {
    double fixed, per_byte, max;
};

struct networks {
    struct network_line line[CONSTRAINTS];
    size_t n;
};

static void add_network(struct networks *w, double fixed, double per_byte, double max)
{
    double scale = fmax(fabs(fixed), fabs(per_byte));

    w->line[w->n++] = (struct network_line){ fixed / scale, per_byte / scale, max / scale };
}

static void explain(const struct algorithm_job *j, const enum algorithm *usual, struct networks *w)
{
    w->n = 0;
    add_network(w, -1, 0, 0);
    add_network(w, 0, -1, 0);
    add_network(w, 0, 1, j->slower);
    for (size_t i = 0; i < j->n; i++) {
        const struct algorithm_size *s = &j->size[i];
        const struct algorithm_cost *c;
        double trips;
        double error = ALGORITHM_ERROR * (1 + 2 * s->time_error);

        if (usual[i] == ALGORITHMS)
            continue;
        c = &j->cost[usual[i]];
        trips = most_trips(usual[i], j->ranks, s->bytes);
        add_network(w, c->fixed_s, c->s_per_byte * s->bytes, s->stay_s * error);
        add_network(w, -trips * c->fixed_s, -c->s_per_byte * s->bytes, -s->time_s / error);
    }
}

static bool allows(const struct networks *w, double x, double y)
{
    for (size_t i = 0; i < w->n; i++) {
        const struct network_line *l = &w->line[i];
        double left = l->fixed * x + l->per_byte * y;

        if (left - l->max > TOLERANCE * (fabs(l->fixed * x) + fabs(l->per_byte * y) + fabs(l->max)))
            return false;
    }
    return true;
}

/* The most that x fixed + y per_byte is on any of the networks; NaN: there are none. They are bounded,
 * because times are. */
static double worst_s(const struct networks *w, struct algorithm_cost c)
{
    double max = NAN;

    for (size_t i = 0; i < w->n; i++)
        for (size_t k = i + 1; k < w->n; k++) {
            const struct network_line *a = &w->line[i], *b = &w->line[k];
            double determinant = a->fixed * b->per_byte - b->fixed * a->per_byte;
            double x = (a->max * b->per_byte - b->max * a->per_byte) / determinant;
            double y = (a->fixed * b->max - b->fixed * a->max) / determinant;

            if (isfinite(x) && isfinite(y) && allows(w, x, y))
                max = fmax(max, x * c.fixed_s +
                                    y * c.s_per_byte); /* fmax() takes the number of a number and NaN */
        }
    return max;
}

/* ---- the choice ---- */

static bool is_known(const struct algorithm_job *j)
{
    bool known = j->library < ALGORITHM_LIBRARIES && j->ranks >= 2 && j->ranks <= ALGORITHM_RANKS_MAX &&
                 j->n > 0 && j->n <= ALGORITHM_SIZES && j->step_s > 0 && j->slower > 0;

    for (size_t a = 0; known && a < ALGORITHMS; a++)
        known = j->cost[a].fixed_s > 0 && j->cost[a].s_per_byte > 0 &&
                isfinite(j->cost[a].fixed_s + j->cost[a].s_per_byte);
    for (size_t i = 0; known && i < j->n; i++) {
        const struct algorithm_size *s = &j->size[i];

        known = s->bytes > 0 && s->per_step > 0 && s->time_s > 0 && s->time_error >= 0 &&
                s->stay_s >= s->time_s && isfinite(s->bytes + s->per_step + s->stay_s + s->time_error);
    }
    return known;
}

/* What the library does when it is told to take this algorithm for too few elements: recursive doubling, but
 * for Rabenseifner's in Open MPI, which is then a reduction and a broadcast by one rank, a message after
 * another at most. A ring has as many, each as slow as the slowest way. */
static struct algorithm_cost instead(const struct algorithm_job *j, enum algorithm a)
{
    const struct algorithm_cost *ring = &j->cost[ALGORITHM_RING];

    if (j->library == ALGORITHM_MPICH || a == ALGORITHM_RING)
        return j->cost[ALGORITHM_DOUBLING];
    return (struct algorithm_cost){ ring->fixed_s, j->ranks * ring->s_per_byte };
}

static struct algorithm_cost told(const struct algorithm_job *j, enum algorithm a, double bytes)
{
    struct algorithm_cost c = j->cost[a], other = instead(j, a);

    if (surely_fits(a, j->ranks, bytes))
        return c;
    if (surely_not(a, j->ranks, bytes))
        return other;
    return (struct algorithm_cost){ fmax(c.fixed_s, other.fixed_s), fmax(c.s_per_byte, other.s_per_byte) };
}

/* A step's all-reduces by this algorithm: those that change, and the time of those that the library does so
 * by itself. */
struct step_times {
    struct algorithm_cost changed;
    double same_s;
    bool changes;
};

static struct step_times step_of(const struct algorithm_job *j, const enum algorithm *usual, enum algorithm a)
{
    struct step_times t = { .changes = false };

    for (size_t i = 0; i < j->n; i++) {
        const struct algorithm_size *s = &j->size[i];
        struct algorithm_cost c = told(j, a, s->bytes);

        if (usual[i] == a) {
            t.same_s += s->per_step * s->time_s;
            continue;
        }
        t.changes = true;
        t.changed.fixed_s += s->per_step * most_trips(a, j->ranks, s->bytes) * c.fixed_s;
        t.changed.s_per_byte += s->per_step * s->bytes * c.s_per_byte;
    }
    return t;
}

void algorithm_choose(const struct algorithm_job *j, algorithm_allowed_fn *allowed,
                      struct algorithm_choice *c)
{
    enum algorithm usual[ALGORITHM_SIZES];
    struct networks networks;
    bool known = false;

    *c = (struct algorithm_choice){ ALGORITHM_UNKNOWN, ALGORITHMS, NAN, NAN };
    if (!is_known(j))
        return;
    c->usual_s = 0;
    for (size_t i = 0; i < j->n; i++) {
        usual[i] = algorithm_usual(j->library, j->ranks, j->size[i].bytes);
        known = known || usual[i] != ALGORITHMS;
        c->usual_s += j->size[i].per_step * j->size[i].time_s;
    }
    if (!known)
        return;
    explain(j, usual, &networks);
    c->result = isnan(worst_s(&networks, j->cost[ALGORITHM_DOUBLING])) ? ALGORITHM_STRANGE : ALGORITHM_UNSURE;
    for (enum algorithm a = 0; c->result != ALGORITHM_STRANGE && a < ALGORITHMS; a++) {
        struct step_times t = step_of(j, usual, a);
        double max;

        if (!algorithm_can(j->library, a) || (allowed && !allowed(a)) || !t.changes)
            continue;
        max = t.same_s + ALGORITHM_ERROR * worst_s(&networks, t.changed);
        if (max < c->usual_s && !(c->most_s <= max)) {
            c->algorithm = a;
            c->most_s = max;
            c->result = c->usual_s - max >= LEAST_GAIN * j->step_s ? ALGORITHM_FASTER : ALGORITHM_LITTLE;
        }
    }
}
