#include "sim/noise.h"

#include <math.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "sim/random.h"

#define FLOOR 0.1 /* least value of a normal factor, so that work is never negative */

/* Streams of a source's random numbers. */
enum { STREAM_STEP, STREAM_FIXED, STREAM_SPIKE, STREAM_SPIKE_SIZE, STREAMS };

struct source {
    const struct scenario_noise *s;
    struct random stream[STREAMS];
    uint32_t places;
    double *fixed;           /* by place; NULL: none */
    double *state;           /* by place: the autoregression's normal; NULL: none */
    double *value, *spike_s; /* by place, of this step */
};

struct noise {
    const struct scenario *s;
    size_t job;
    const struct placement *place;
    bool over[SCENARIO_FAULTS_MAX]; /* faults of kind death that were repaired */
    size_t n;
    struct source source[SCENARIO_NOISES_MAX];
};

static uint32_t places_of(const struct noise *n, int scope)
{
    switch (scope) {
    case SCOPE_RANK:
        return n->place->ranks;
    case SCOPE_NODE:
        return n->place->nodes;
    case SCOPE_SWITCH:
        return n->place->switches;
    default:
        return 1;
    }
}

static uint32_t place_of(const struct noise *n, int scope, uint32_t rank)
{
    switch (scope) {
    case SCOPE_RANK:
        return rank;
    case SCOPE_NODE:
        return n->place->node[rank];
    case SCOPE_SWITCH:
        return n->place->switch_id[rank];
    default:
        return 0;
    }
}

static void source_init(struct source *src, const struct noise *n, size_t index)
{
    const struct scenario_noise *s = &n->s->noises[index];

    src->s = s;
    src->places = places_of(n, s->scope);
    for (uint32_t k = 0; k < STREAMS; k++)
        src->stream[k] = random_of((uint64_t)n->s->seed, (uint32_t)n->job, (uint32_t)(index * STREAMS + k));
    src->value = xcalloc(src->places, sizeof(*src->value));
    src->spike_s = xcalloc(src->places, sizeof(*src->spike_s));
    if (s->autocorrelation > 0)
        src->state = xcalloc(src->places, sizeof(*src->state));
    if (s->fixed > 0) {
        src->fixed = xcalloc(src->places, sizeof(*src->fixed));
        for (uint32_t i = 0; i < src->places; i++)
            src->fixed[i] = fmax(FLOOR, 1 + s->fixed * random_normal(&src->stream[STREAM_FIXED], i, 0));
    }
}

struct noise *noise_new(const struct scenario *s, size_t job, const struct placement *p)
{
    struct noise *n = xcalloc(1, sizeof(*n));

    n->s = s;
    n->job = job;
    n->place = p;
    for (size_t i = 0; i < s->n_noises; i++) {
        if ((size_t)s->noises[i].job == job && s->noises[i].scope != SCOPE_LINK &&
            s->noises[i].scope != SCOPE_LOSS)
            source_init(&n->source[n->n++], n, i);
    }
    return n;
}

void noise_free(struct noise *n)
{
    if (!n)
        return;
    for (size_t i = 0; i < n->n; i++) {
        free(n->source[i].fixed);
        free(n->source[i].state);
        free(n->source[i].value);
        free(n->source[i].spike_s);
    }
    free(n);
}

double noise_value(const struct scenario_noise *s, const struct random *r, uint32_t place, uint64_t sample,
                   double *state)
{
    double z, rho = s->autocorrelation;

    if (s->cv <= 0)
        return 1;
    if (s->shape == SHAPE_GAMMA)
        return random_gamma(r, place, sample, s->cv);
    z = random_normal(r, place, sample);
    if (state) {
        if (sample > 0)
            z = rho * *state + sqrt(1 - rho * rho) * z;
        *state = z;
    }
    return s->shape == SHAPE_NORMAL ? fmax(FLOOR, 1 + s->cv * z) : random_lognormal_of(z, s->cv);
}

struct random noise_random(const struct scenario *s, size_t i)
{
    return random_of((uint64_t)s->seed, (uint32_t)s->noises[i].job, (uint32_t)(i * STREAMS + STREAM_STEP));
}

/* Samples of an autocorrelated place must be taken in order. */
static double source_value(struct source *src, uint32_t place, uint64_t sample)
{
    double *state = src->state ? &src->state[place] : NULL;
    double value = noise_value(src->s, &src->stream[STREAM_STEP], place, sample, state);

    return src->fixed ? value * src->fixed[place] : value;
}

static double spike_s(const struct source *src, uint32_t place, uint64_t sample, double compute_s)
{
    if (src->s->spike_rate <= 0 ||
        random_uniform(&src->stream[STREAM_SPIKE], place, sample) >= src->s->spike_rate)
        return 0;
    return src->s->spike_mean * compute_s *
           random_exponential(&src->stream[STREAM_SPIKE_SIZE], place, sample);
}

static void source_add(struct source *src, const struct noise *n, uint64_t sample, double *factor,
                       double *delay_s)
{
    double compute_s = n->s->jobs[n->job].compute_s;

    for (uint32_t place = 0; place < src->places; place++) {
        src->value[place] = source_value(src, place, sample);
        src->spike_s[place] = spike_s(src, place, sample, compute_s);
    }
    for (uint32_t i = 0; i < n->place->ranks; i++) {
        uint32_t place = place_of(n, src->s->scope, i);

        factor[i] *= src->value[place];
        delay_s[i] += src->spike_s[place];
    }
}

/* ---- faults ---- */

static bool fault_has(const struct noise *n, const struct scenario_fault *f, uint32_t rank)
{
    if (f->rank >= 0)
        return (uint32_t)f->rank == rank;
    if (f->node >= 0)
        return (uint32_t)f->node == n->place->fabric_node[rank];
    return (uint32_t)f->where_switch == n->place->switch_id[rank];
}

bool noise_fault_is_on(const struct scenario_fault *f, uint64_t step)
{
    if (step < (uint64_t)f->from || (f->until && step >= (uint64_t)f->until))
        return false;
    if (f->kind != FAULT_STALL)
        return true;
    return f->every ? (step - (uint64_t)f->from) % (uint64_t)f->every == 0 : step == (uint64_t)f->from;
}

static void fault_add(const struct scenario_fault *f, uint64_t step, double *factor, double *delay_s)
{
    if (f->kind == FAULT_SLOW)
        *factor *= f->ratio;
    else if (f->kind == FAULT_DRIFT)
        *factor *= 1 + (f->ratio - 1) * fmin(1, (double)(step - (uint64_t)f->from) / f->over);
    else if (f->kind == FAULT_STALL)
        *delay_s += f->time_s;
}

static bool fault_strikes(const struct noise *n, const struct scenario_fault *f, uint64_t step)
{
    return (size_t)f->job == n->job && f->kind != FAULT_LINK && f->kind != FAULT_LATENCY &&
           noise_fault_is_on(f, step);
}

void noise_step(struct noise *n, uint64_t sample, uint64_t step, double *factor, double *delay_s)
{
    for (uint32_t i = 0; i < n->place->ranks; i++) {
        factor[i] = 1;
        delay_s[i] = 0;
    }
    for (size_t i = 0; i < n->n; i++)
        source_add(&n->source[i], n, sample, factor, delay_s);
    for (size_t k = 0; k < n->s->n_faults; k++) {
        const struct scenario_fault *f = &n->s->faults[k];

        if (!fault_strikes(n, f, step))
            continue;
        for (uint32_t i = 0; i < n->place->ranks; i++) {
            if (fault_has(n, f, i))
                fault_add(f, step, &factor[i], &delay_s[i]);
        }
    }
}

void noise_rank_step(struct noise *n, uint32_t rank, uint64_t step, double *factor, double *delay_s)
{
    double compute_s = n->s->jobs[n->job].compute_s;

    *factor = 1;
    *delay_s = 0;
    for (size_t i = 0; i < n->n; i++) {
        struct source *src = &n->source[i];
        uint32_t place = place_of(n, src->s->scope, rank);

        *factor *= source_value(src, place, step);
        *delay_s += spike_s(src, place, step, compute_s);
    }
    for (size_t k = 0; k < n->s->n_faults; k++) {
        const struct scenario_fault *f = &n->s->faults[k];

        if (fault_strikes(n, f, step) && fault_has(n, f, rank))
            fault_add(f, step, factor, delay_s);
    }
}

static bool death_struck(const struct noise *n, size_t k, uint64_t step)
{
    const struct scenario_fault *f = &n->s->faults[k];

    return f->kind == FAULT_DEATH && (size_t)f->job == n->job && step >= (uint64_t)f->from && !n->over[k];
}

uint32_t noise_dead(const struct noise *n, uint64_t step, bool *dead)
{
    uint32_t count = 0;

    for (size_t k = 0; k < n->s->n_faults; k++) {
        if (!death_struck(n, k, step))
            continue;
        for (uint32_t i = 0; i < n->place->ranks; i++) {
            if (!fault_has(n, &n->s->faults[k], i))
                continue;
            count++;
            if (dead)
                dead[i] = true;
        }
    }
    return count;
}

void noise_repair(struct noise *n, uint64_t step)
{
    for (size_t k = 0; k < n->s->n_faults; k++)
        n->over[k] = n->over[k] || death_struck(n, k, step);
}
