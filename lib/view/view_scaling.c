/* view_scaling.c - what a view shows of the job on more ranks: the transfers that it took, its newest steps,
 * and the projection from them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "model/statistics.h"
#include "ring/ring.h"
#include "view/scaling.h"
#include "view/view_private.h"

#define P99_MIN    100u       /* steps that show it */
#define VALUES_MAX (1u << 18) /* own works looked at: of many ranks fewer steps */

struct fitted_link {
    uint32_t ranks;
    uint8_t op;
    struct linkfit fit;   /* of the shortest stays */
    struct linkfit *mean; /* of all-reduces: of the mean stays; NULL: none */
};

struct scaling {
    struct fitted_link *link[VIEW_LINKS_MAX];
    size_t n_links;
    double steps;                   /* since the step is known */
    struct traffic_adapter adapter; /* the slowest node's; 0: unknown */
    struct projection_run other_run[PROJECTION_RUNS];
    size_t n_other_runs;
    bool posted; /* some all-reduce was nonblocking */
    char library[VIEW_LIBRARY_SIZE];
    bool libraries; /* the ranks' differ */
};

struct scaling *scaling_new(void)
{
    return xcalloc(1, sizeof(struct scaling));
}

void scaling_forget(struct scaling *s)
{
    for (size_t i = 0; i < s->n_links; i++) {
        free(s->link[i]->mean);
        free(s->link[i]);
    }
    s->n_links = 0;
    s->steps = 0;
    s->posted = false;
}

void scaling_free(struct scaling *s)
{
    scaling_forget(s);
    free(s);
}

static struct fitted_link *link_of(struct scaling *s, uint32_t ranks, uint8_t op)
{
    for (size_t i = 0; i < s->n_links; i++)
        if (s->link[i]->ranks == ranks && s->link[i]->op == op)
            return s->link[i];
    if (s->n_links == VIEW_LINKS_MAX)
        return NULL;
    s->link[s->n_links] = xcalloc(1, sizeof(struct fitted_link));
    s->link[s->n_links]->ranks = ranks;
    s->link[s->n_links]->op = op;
    if (op == RING_OP_ALLREDUCE)
        s->link[s->n_links]->mean = xcalloc(1, sizeof(struct linkfit));
    return s->link[s->n_links++];
}

void scaling_take_joined(struct scaling *s, bool in_step, uint32_t ranks, const struct joined *j)
{
    struct fitted_link *l = in_step ? link_of(s, ranks, j->op) : NULL;

    if (l)
        linkfit_add(&l->fit, (double)j->bytes, j->stay_min_s, j->n);
    if (l && l->mean)
        linkfit_add(l->mean, (double)j->bytes, j->stay_sum_s / j->present, j->n);
    if (j->op == RING_OP_ALLREDUCE && (j->flags & RING_EVENT_NONBLOCKING))
        s->posted = true;
}

void scaling_take_steps(struct scaling *s, uint32_t steps)
{
    s->steps += steps;
}

void view_adapter(struct view *v, double bytes_per_s, unsigned number)
{
    struct traffic_adapter *a = &v->scaling->adapter;

    if (!(bytes_per_s > 0) || !(bytes_per_s <= VIEW_ADAPTER_MAX) || !number || number > VIEW_ADAPTERS_MAX)
        return;
    if (!a->number || bytes_per_s * number < a->bytes_per_s * a->number)
        *a = (struct traffic_adapter){ bytes_per_s, number };
}

double view_adapter_get(const struct view *v, unsigned *number)
{
    *number = v->scaling->adapter.number;
    return v->scaling->adapter.bytes_per_s;
}

void view_library(struct view *v, const char *library)
{
    struct scaling *s = v->scaling;

    if (!*library)
        return;
    if (*s->library && strcmp(s->library, library) != 0)
        s->libraries = true;
    snprintf(s->library, sizeof(s->library), "%s", library);
}

const char *view_library_get(const struct view *v)
{
    return v->scaling->libraries ? "" : v->scaling->library;
}

/* ---- the newest steps, ordered ---- */

struct newest_steps {
    uint32_t n, ranks;
    float *own_s;
    uint32_t *rank, *node, *switch_id; /* by column: who it is, where it sits */
    /* by column: what the work that is kept was divided by, see calls/roles.h */
    double *of_mean;
    double *scratch;
};

static void newest_steps_free(struct newest_steps *s)
{
    free(s->own_s);
    free(s->rank);
    free(s->node);
    free(s->switch_id);
    free(s->of_mean);
    free(s->scratch);
}

static int by_place(const void *a, const void *b, void *arg)
{
    const struct work_rank *rank = arg, *x = &rank[*(const uint32_t *)a], *y = &rank[*(const uint32_t *)b];

    if (x->switch_id != y->switch_id)
        return x->switch_id < y->switch_id ? -1 : 1;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

/* Ranks with anything in the newest steps, in the order that variation_fit wants. */
static void order_ranks(const struct view *v, struct newest_steps *s)
{
    const struct work *w = diagnosis_work(v->diagnosis);

    s->rank = xcalloc(w->n, sizeof(*s->rank));
    for (uint32_t r = 0; r < w->n; r++)
        if (w->rank[r].steps)
            s->rank[s->ranks++] = r;
    qsort_r(s->rank, s->ranks, sizeof(*s->rank), by_place, w->rank);
    s->node = xcalloc(s->ranks, sizeof(*s->node));
    s->switch_id = xcalloc(s->ranks, sizeof(*s->switch_id));
    s->of_mean = xcalloc(s->ranks, sizeof(*s->of_mean));
    for (uint32_t i = 0; i < s->ranks; i++) {
        s->node[i] = w->rank[s->rank[i]].node;
        s->switch_id[i] = w->rank[s->rank[i]].switch_id;
        s->of_mean[i] = call_steps_of_mean(v->calls, s->rank[i]);
        if (s->node[i] == WORK_PLACE_NONE) /* not known: each on its own */
            s->node[i] = UINT32_MAX / 2 + i;
    }
}

/* The steps of one state of the run: those since a costly verdict last began or ended, if there are enough,
 * without pauses and without the run's first ones, which may be warming up.  How long they took, and how much
 * they differ. */
static void take_steps(const struct view *v, struct newest_steps *s, struct projection_input *in)
{
    const struct work *w = diagnosis_work(v->diagnosis);
    double duration_s[WORK_STEPS], sum_s = 0, median_s;
    struct statistics_mean m;
    uint32_t kept = work_kept(w), most = s->ranks ? VALUES_MAX / s->ranks : 0, first = 0,
             warm_up = phases_warm_up(v->phases);

    if (w->steps < WORK_STEPS)
        first = warm_up < kept ? warm_up : kept;
    most = most < VARIATION_STEPS_MIN ? VARIATION_STEPS_MIN : most > kept ? kept : most;
    s->own_s = xcalloc((size_t)most * s->ranks + 1, sizeof(*s->own_s));
    s->scratch = xcalloc(2 * (size_t)s->ranks + 1, sizeof(*s->scratch));
    for (uint32_t back = 0; back < kept - first && s->n < most; back++) {
        uint32_t slot = work_slot(w, back);

        if (w->step[slot].ended_s < steps_count(v->steps)->changed_s && s->n >= VARIATION_STEPS_MIN)
            break;
        if (w->step[slot].pause || !(w->step[slot].typical_s > 0))
            continue;
        for (uint32_t i = 0; i < s->ranks; i++)
            s->own_s[(size_t)s->n * s->ranks + i] = work_own_s(w, slot, s->rank[i]) * (float)s->of_mean[i];
        sum_s += w->step[slot].duration_s;
        duration_s[s->n++] = w->step[slot].duration_s;
    }
    m = statistics_mean(duration_s, s->n);
    median_s = statistics_quantile(duration_s, s->n, 0.5);
    in->step_s = s->n ? sum_s / s->n : NAN;
    in->cv = m.sd / m.mean;
    in->p99_ratio = s->n < P99_MIN ? NAN : statistics_quantile(duration_s, s->n, 0.99) / median_s;
    for (uint32_t i = 0; i < s->n; i++)
        duration_s[i] = fabs(duration_s[i] - median_s);
    in->spread = STATISTICS_MAD_TO_SD * statistics_median(duration_s, s->n) / median_s;
}

/* ---- links ---- */

static enum collective_op model_op(uint8_t op)
{
    switch (op) {
    case RING_OP_ALLGATHER:
    case RING_OP_ALLGATHERV:
        return COLLECTIVE_ALLGATHER;
    case RING_OP_ALLTOALL:
    case RING_OP_ALLTOALLV:
    case RING_OP_ALLTOALLW:
        return COLLECTIVE_ALLTOALL;
    case RING_OP_REDUCE_SCATTER:
    case RING_OP_REDUCE_SCATTER_BLOCK:
        return COLLECTIVE_REDUCE_SCATTER;
    default:
        return COLLECTIVE_ALLREDUCE;
    }
}

static double time_of(const struct fitted_link *l)
{
    double sum = 0;

    for (uint32_t i = 0; i < l->fit.n; i++)
        sum += l->fit.size[i].time_sum_s;
    return sum;
}

static int by_time(const void *a, const void *b)
{
    double x = time_of(*(struct fitted_link *const *)a), y = time_of(*(struct fitted_link *const *)b);

    return (x < y) - (x > y);
}

static void put_links(const struct view *v, struct view_scaling *out, struct projection_input *in)
{
    struct scaling *s = v->scaling;

    qsort(s->link, s->n_links, sizeof(struct fitted_link *), by_time);
    out->n_links = s->n_links;
    for (size_t i = 0; i < s->n_links; i++) {
        const struct fitted_link *l = s->link[i];
        struct view_link *o = &out->link[i];
        uint32_t instances = communicators_of_size(v->communicators, l->ranks);

        *o = (struct view_link){ .op = l->op,
                                 .ranks = l->ranks,
                                 .instances = instances ? instances : 1,
                                 .grows = l->ranks == communicators_main_size(v->communicators) };
        linkfit_fit(&l->fit, &o->fit);
        in->traffic.n_links +=
            traffic_links(&l->fit, &o->fit, s->steps * o->instances, model_op(l->op), l->ranks, o->grows,
                          in->traffic.link + in->traffic.n_links, TRAFFIC_LINKS - in->traffic.n_links);
    }
}

/* ---- the projection ---- */

/* The newest steps, which the caller frees, and what a projection takes of them; NULL, or what is missing. */
static const char *look_at_steps(const struct view *v, struct newest_steps *s, struct projection_input *in)
{
    struct view_figures f;

    if (!steps_count(v->steps)->period)
        return "no steps are seen yet";
    order_ranks(v, s);
    take_steps(v, s, in);
    view_shares(v, &f);
    in->other_s = f.p2p_ratio > 0 ? f.p2p_ratio * in->step_s : 0;
    if (s->ranks > 1)
        return NULL;
    return roster_limit(v->roster) > 1 ? "the work of fewer than two ranks is seen yet"
                                       : "a job of one rank waits for no other";
}

/* All that a projection stands on; NULL, or what is missing. */
static const char *collect_input(const struct view *v, struct view_scaling *out, struct projection_input *in)
{
    struct newest_steps steps = { 0 };
    const char *why;

    memset(out, 0, sizeof(*out));
    *in = (struct projection_input){ .noise = &out->noise };
    why = look_at_steps(v, &steps, in);
    if (!why && !variation_fit(&out->noise, steps.own_s, steps.n, steps.ranks, steps.node, steps.switch_id,
                               steps.scratch))
        why = "too few steps are seen yet";
    for (unsigned i = 0; i < out->noise.apart; i++)
        out->apart_rank[i] = steps.rank[out->noise.apart_rank[i]];
    newest_steps_free(&steps);
    if (why)
        return why;
    in->traffic.adapter = v->scaling->adapter;
    put_links(v, out, in);
    return NULL;
}

const char *view_scaling_get(const struct view *v, bool strong, struct view_scaling *out)
{
    struct projection_input in;
    const char *why = collect_input(v, out, &in);

    if (why)
        return why;
    in.strong = strong;
    for (size_t i = 0; i < v->scaling->n_other_runs; i++)
        if (v->scaling->other_run[i].ranks != out->noise.ranks)
            in.run[in.n_runs++] = v->scaling->other_run[i];
    out->n_runs = in.n_runs;
    for (size_t i = 0; i < in.n_runs; i++)
        out->run_ranks[i] = in.run[i].ranks;
    return projection_make(&in, &out->projection) ? NULL : "too little is known yet";
}

static double median_s(const struct linkfit_size *size, uint32_t *samples)
{
    float time_s[LINKFIT_SAMPLES];

    *samples = size->seen < LINKFIT_SAMPLES ? size->seen : LINKFIT_SAMPLES;
    memcpy(time_s, size->time_s, *samples * sizeof(*time_s));
    return statistics_medianf(time_s, *samples);
}

size_t view_allreduces_get(const struct view *v, struct algorithm_size *out, size_t max)
{
    const struct scaling *s = v->scaling;
    size_t n = 0;

    if (s->posted || s->n_links == VIEW_LINKS_MAX || !(s->steps > 0))
        return 0;
    for (size_t i = 0; i < s->n_links; i++) {
        const struct fitted_link *l = s->link[i];
        struct linkfit_result fit;

        if (l->op != RING_OP_ALLREDUCE)
            continue;
        if (l->ranks != communicators_main_size(v->communicators) || l->mean->n != l->fit.n ||
            n + l->fit.n > max)
            return 0;
        linkfit_fit(&l->fit, &fit);
        for (uint32_t k = 0; k < l->fit.n; k++) {
            const struct linkfit_size *size = &l->fit.size[k];
            uint32_t samples;
            double stay_s = median_s(&l->mean->size[k], &samples), time_s = median_s(size, &samples);

            out[n++] = (struct algorithm_size){ size->bytes_sum / size->weight, size->weight / s->steps,
                                                time_s, fmax(stay_s, time_s), fit.noise / sqrt(samples) };
        }
    }
    return n;
}

const char *view_run_get(const struct view *v, struct projection_run *out)
{
    struct view_scaling *s = xcalloc(1, sizeof(*s));
    struct projection_input in;
    const char *why = collect_input(v, s, &in);

    if (!why)
        projection_run_of(&in, out);
    free(s);
    return why;
}

void view_runs_set(struct view *v, const struct projection_run *run, size_t n)
{
    v->scaling->n_other_runs = n < PROJECTION_RUNS ? n : PROJECTION_RUNS;
    if (v->scaling->n_other_runs)
        memcpy(v->scaling->other_run, run, v->scaling->n_other_runs * sizeof(*run));
}

/* ---- other strategies ---- */

/* The newest steps in the order of the ranks. */
struct replayed {
    const struct newest_steps *steps;
    const float *own_s;
    uint32_t *column, *node; /* by place in that order */
    bool placed;             /* all nodes are known */
};

static void work_of(void *arg, size_t step, double *own_s)
{
    const struct replayed *r = arg;
    const float *row = r->own_s + step * r->steps->ranks;

    for (uint32_t i = 0; i < r->steps->ranks; i++)
        own_s[i] = row[r->column[i]];
}

/* Nodes get new numbers, from 0 on: columns stand node by node. */
static void order_columns(const struct work *w, const struct newest_steps *s, struct replayed *r)
{
    uint32_t *column = xcalloc(w->n, sizeof(*column)), *node = xcalloc(s->ranks, sizeof(*node)), n = 0;

    r->column = xcalloc(s->ranks, sizeof(*r->column));
    r->node = xcalloc(s->ranks, sizeof(*r->node));
    r->placed = true;
    for (uint32_t i = 0; i < s->ranks; i++) {
        node[i] = i && s->node[i] != s->node[i - 1] ? node[i - 1] + 1 : i ? node[i - 1] : 0;
        r->placed = r->placed && w->rank[s->rank[i]].node != WORK_PLACE_NONE;
        column[s->rank[i]] = i + 1;
    }
    for (uint32_t k = 0; k < w->n; k++)
        if (column[k]) {
            r->node[n] = node[column[k] - 1];
            r->column[n++] = column[k] - 1;
        }
    free(column);
    free(node);
}

/* Inside of nodes: as collectives of that size cost, or as is usual there: 100 GB/s and 1 us, within a factor
 * of three nine times in ten. */
#define INNER_S_PER_BYTE 1e-11
#define INNER_HOP_S      1e-6
#define INNER_SPREAD     0.67
#define LOCAL_STEPS      8.0 /* an example, where the number is not given */

static bool set_inner(const struct view_scaling *s, double per_node, struct strategy_input *in)
{
    in->inner_hop_s = INNER_HOP_S;
    in->inner_s_per_byte = INNER_S_PER_BYTE;
    in->inner_spread = INNER_SPREAD;
    for (size_t i = 0; i < s->n_links; i++) {
        const struct view_link *l = &s->link[i];
        const struct linkfit_segment *g = &l->fit.segment[0];

        if (l->grows || l->ranks != per_node || !l->fit.segments || !(g->b_s_per_byte.value > 0) ||
            model_op(l->op) != COLLECTIVE_ALLREDUCE)
            continue;
        in->inner_hop_s = fmax(0, g->a_s.value) / (2 * (per_node - 1));
        in->inner_s_per_byte = g->b_s_per_byte.value / (2 * (per_node - 1) / per_node);
        in->inner_spread = 0;
    }
    return in->inner_spread == 0;
}

static void name_replaced(const struct view *v, const struct work *w, const struct newest_steps *s,
                          const struct replayed *r, struct strategies *o)
{
    for (size_t i = 0; i < o->n; i++) {
        struct strategy *k = &o->list[i];
        uint32_t at = 0, rank;

        if (k->kind != STRATEGY_REPLACE_RANK && k->kind != STRATEGY_REPLACE_NODE)
            continue;
        while (k->kind == STRATEGY_REPLACE_NODE && r->node[at] != (uint32_t)k->parameter)
            at++;
        rank = s->rank[r->column[k->kind == STRATEGY_REPLACE_RANK ? (uint32_t)k->parameter : at]];
        if (k->kind == STRATEGY_REPLACE_RANK) {
            snprintf(k->name, sizeof(k->name), "replace rank r%u, the slowest", rank);
            k->parameter = rank;
        } else {
            snprintf(k->name, sizeof(k->name), "replace node %.32s, the slowest",
                     roster_place_name(v->roster, w->rank[rank].node));
        }
    }
}

static const char *rank_strategies(const struct view *v, const struct view_strategy_options *o,
                                   struct newest_steps *steps, struct view_scaling *k,
                                   struct projection_input *in, struct view_strategies *out)
{
    const struct work *w = diagnosis_work(v->diagnosis);
    size_t values = (size_t)steps->n * steps->ranks, n_wires;
    struct traffic_wire *wire = xcalloc(STRATEGY_WIRES, sizeof(*wire));
    float *own_s = xcalloc(values, sizeof(*own_s));
    double *scratch = NULL, transfer_s = 0;
    struct replayed r = { .steps = steps, .own_s = own_s };
    struct strategy_input rank;
    const char *why = NULL;

    memcpy(own_s, steps->own_s, values * sizeof(*own_s));
    if (!variation_fit(&k->noise, steps->own_s, steps->n, steps->ranks, steps->node, steps->switch_id,
                       steps->scratch)) {
        why = "too few steps are seen yet";
        goto out;
    }
    in->traffic.adapter = v->scaling->adapter;
    put_links(v, k, in);
    n_wires = projection_traffic(in, &in->traffic) ? STRATEGY_WIRES : 0;
    traffic_wires(&in->traffic, o->algorithm, wire, n_wires);
    for (size_t l = 0; l < in->traffic.n_links; l++)
        transfer_s += in->traffic.link[l].per_step * in->traffic.link[l].time_s;
    order_columns(w, steps, &r);
    *out = (struct view_strategies){ .ranks = steps->ranks,
                                     .steps = steps->n,
                                     .fixed_known = true,
                                     .algorithm_known = o->algorithm != TRAFFIC_ALGORITHMS,
                                     .several_nodes = k->noise.nodes > 1 };
    for (size_t l = 0; l < in->traffic.n_links; l++)
        out->fixed_known =
            out->fixed_known && !(in->traffic.link[l].grows && isnan(in->traffic.link[l].fixed_s));
    rank = (struct strategy_input){
        .ranks = { steps->ranks, k->noise.nodes, r.placed ? r.node : NULL, steps->n, 0, in->other_s, work_of,
                   &r },
        .ranks_per_node = k->noise.nodes > 1 ? k->noise.ranks_per_node : NAN,
        .step_s = in->step_s,
        .compute_s = k->noise.mean_s,
        .waiting_s = fmax(0, in->step_s - k->noise.mean_s - transfer_s - in->other_s),
        .link = in->traffic.link,
        .n_links = in->traffic.n_links,
        .wire = wire,
        .n_wires = n_wires,
        .shards = isnan(o->shards) ? k->noise.nodes : o->shards,
        .every = isnan(o->every) ? LOCAL_STEPS : o->every,
        .shards_assumed = isnan(o->shards),
        .every_assumed = isnan(o->every),
        .staleness_penalty = o->staleness_penalty,
        .local_penalty = o->local_penalty,
        .async_growth = o->async_growth,
    };
    out->inside_seen = set_inner(k, k->noise.ranks_per_node, &rank);
    rank.inner_assumed = out->several_nodes && !out->inside_seen;
    scratch = xcalloc(WAITING_SCRATCH * (size_t)steps->ranks, sizeof(*scratch));
    if (!strategy_rank(&rank, scratch, &out->s))
        why = "no collective of all ranks is seen yet";
    else
        name_replaced(v, w, steps, &r, &out->s);
out:
    free(wire);
    free(own_s);
    free(scratch);
    free(r.column);
    free(r.node);
    return why;
}

const char *view_strategies_get(const struct view *v, const struct view_strategy_options *o,
                                struct view_strategies *out)
{
    struct view_scaling *k = xcalloc(1, sizeof(*k));
    struct projection_input in = { .noise = &k->noise };
    struct newest_steps steps = { 0 };
    const char *why = look_at_steps(v, &steps, &in);

    memset(out, 0, sizeof(*out));
    if (!why)
        why = rank_strategies(v, o, &steps, k, &in, out);
    newest_steps_free(&steps);
    free(k);
    return why;
}
