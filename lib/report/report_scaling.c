#include "report/report_scaling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "ring/ring.h"
#include "view/scaling.h"
#include "wire/json.h"

static const struct json_field scaling_fields[] = {
    { "mode", FIELD_TEXT, FIELD(struct report_scaling, mode) },
    { "ranks", FIELD_COUNT, FIELD(struct report_scaling, ranks) },
    { "step_s", FIELD_AMOUNT, FIELD(struct report_scaling, step_s) },
    { "text", FIELD_TEXT, FIELD(struct report_scaling, text) },
    { "wall", FIELD_TEXT, FIELD(struct report_scaling, wall) },
    { "wall_ranks", FIELD_AMOUNT, FIELD(struct report_scaling, wall_ranks) },
    { 0 },
};

static const struct json_field point_fields[] = {
    { "ranks", FIELD_AMOUNT, FIELD(struct report_point, ranks) },
    { "factor", FIELD_AMOUNT, FIELD(struct report_point, factor) },
    { "step_s", FIELD_RANGE, FIELD(struct report_point, step_s) },
    { "throughput_ratio", FIELD_RANGE, FIELD(struct report_point, throughput) },
    { "step_p99_ratio", FIELD_RANGE, FIELD(struct report_point, p99_ratio) },
    { "step_cv", FIELD_AMOUNT, FIELD(struct report_point, cv) },
    { "ideal_ratio", FIELD_AMOUNT, FIELD(struct report_point, ideal) },
    { "shares.compute", FIELD_SHARE, FIELD(struct report_point, compute) },
    { "shares.communication", FIELD_SHARE, FIELD(struct report_point, communication) },
    { "shares.synchronisation", FIELD_SHARE, FIELD(struct report_point, synchronisation) },
    { "regime", FIELD_TEXT, FIELD(struct report_point, regime) },
    { "regime_share", FIELD_SHARE, FIELD(struct report_point, regime_share) },
    { 0 },
};

static const struct json_field noise_fields[] = {
    { "steps", FIELD_COUNT, FIELD(struct report_noise, steps) },
    { "ranks_per_node", FIELD_AMOUNT, FIELD(struct report_noise, ranks_per_node) },
    { "nodes_per_switch", FIELD_AMOUNT, FIELD(struct report_noise, nodes_per_switch) },
    { "compute_s", FIELD_AMOUNT, FIELD(struct report_noise, compute_s) },
    { "cv", FIELD_AMOUNT, FIELD(struct report_noise, cv) },
    { "common_cv", FIELD_AMOUNT, FIELD(struct report_noise, common_cv) },
    { "shape", FIELD_TEXT, FIELD(struct report_noise, shape) },
    { "lasting.rank", FIELD_ESTIMATE, FIELD(struct report_noise, lasting[VARIATION_RANK]) },
    { "lasting.node", FIELD_ESTIMATE, FIELD(struct report_noise, lasting[VARIATION_NODE]) },
    { "lasting.switch", FIELD_ESTIMATE, FIELD(struct report_noise, lasting[VARIATION_SWITCH]) },
    { "passing.rank", FIELD_ESTIMATE, FIELD(struct report_noise, passing[VARIATION_RANK]) },
    { "passing.node", FIELD_ESTIMATE, FIELD(struct report_noise, passing[VARIATION_NODE]) },
    { "passing.switch", FIELD_ESTIMATE, FIELD(struct report_noise, passing[VARIATION_SWITCH]) },
    { "tail_rate", FIELD_AMOUNT, FIELD(struct report_noise, tail_rate) },
    { "tail_mean", FIELD_AMOUNT, FIELD(struct report_noise, tail_mean) },
    { 0 },
};

static const struct json_field link_fields[] = {
    { "op", FIELD_TEXT, FIELD(struct report_link, op) },
    { "ranks", FIELD_COUNT, FIELD(struct report_link, ranks) },
    { "instances", FIELD_COUNT, FIELD(struct report_link, instances) },
    { "grows", FIELD_TRUE, FIELD(struct report_link, grows) },
    { "sizes", FIELD_COUNT, FIELD(struct report_link, sizes) },
    { "samples", FIELD_COUNT, FIELD(struct report_link, samples) },
    { "noise", FIELD_AMOUNT, FIELD(struct report_link, noise) },
    { 0 },
};

static const struct json_field segment_fields[] = {
    { "from_bytes", FIELD_AMOUNT, FIELD(struct report_segment, from_bytes) },
    { "to_bytes", FIELD_AMOUNT, FIELD(struct report_segment, to_bytes) },
    { "sizes", FIELD_COUNT, FIELD(struct report_segment, sizes) },
    { "fixed_s", FIELD_ESTIMATE, FIELD(struct report_segment, fixed_s) },
    { "s_per_byte", FIELD_ESTIMATE, FIELD(struct report_segment, s_per_byte) },
    { 0 },
};

/* ---- from a view ---- */

static struct report_point point_of(const struct projection_point *k)
{
    struct report_point p = { .ranks = k->ranks,
                              .factor = k->factor,
                              .step_s = k->step_s,
                              .throughput = k->throughput_ratio,
                              .ideal = k->ideal_ratio,
                              .p99_ratio = k->p99_ratio,
                              .cv = k->cv,
                              .compute = k->compute_s / k->step_s.p50,
                              .communication = k->communication_s / k->step_s.p50,
                              .synchronisation = k->synchronisation_s / k->step_s.p50,
                              .regime_share = k->regime_share };

    snprintf(p.regime, sizeof(p.regime), "%s", regime_names[k->regime]);
    return p;
}

static struct report_noise noise_of(const struct view_scaling *s)
{
    const struct variation *n = &s->noise;
    struct report_noise r = { .steps = n->steps,
                              .ranks_per_node = n->ranks_per_node,
                              .nodes_per_switch = n->switches > 1 ? n->nodes_per_switch : NAN,
                              .compute_s = n->mean_s,
                              .cv = n->cv,
                              .common_cv = n->common_cv,
                              .tail_rate = n->tail_rate,
                              .tail_mean = n->tail_rate > 0 ? n->tail_from + n->tail_mean : NAN,
                              .n_slow = n->apart };

    snprintf(r.shape, sizeof(r.shape), "%s", variation_shapes[n->shape]);
    memcpy(r.lasting, n->lasting, sizeof(r.lasting));
    memcpy(r.passing, n->passing, sizeof(r.passing));
    for (size_t i = 0; i < r.n_slow; i++)
        r.slow[i] = s->apart_rank[i];
    return r;
}

static struct report_link link_of(const struct view_link *l)
{
    struct report_link r = { .ranks = l->ranks,
                             .instances = l->instances,
                             .grows = l->grows,
                             .sizes = l->fit.sizes,
                             .samples = (int64_t)l->fit.samples,
                             .noise = l->fit.noise,
                             .n = l->fit.segments };

    snprintf(r.op, sizeof(r.op), "%s", ring_op_name(l->op));
    for (size_t i = 0; i < r.n; i++) {
        const struct linkfit_segment *g = &l->fit.segment[i];

        r.segment[i] =
            (struct report_segment){ g->from_bytes, g->to_bytes, g->sizes, g->a_s, g->b_s_per_byte };
    }
    return r;
}

/* The assumptions behind the figures of this job. */
static void put_assumes(struct report_scaling *r, const struct view_scaling *s, bool strong)
{
    const struct projection *p = &s->projection;
    const char *const assumes[] = {
        strong ? "the work is divided among the ranks (strong scaling)"
               : "each rank has the same work as now (weak scaling)",
        "messages have the same size, and further ranks are like the present ones",
        p->fixed_known
            ? NULL
            : "messages of one size do not show the latency: that of usual networks, 1.3 to 19 us per hop, "
              "is assumed",
        p->rate_known ? NULL
                      : "no node reports the speed of its adapters: usual ones, 1.4 to 72 GB/s, are assumed",
        p->between_nodes ? NULL : "all ranks are on one node: traffic between nodes was never measured",
        p->between_switches
            ? NULL
            : "the ranks are on one switch or their switches are unknown: traffic between switches was never measured",
        s->noise.apart ? "slow ranks stay slow, and no further ranks are slow" : NULL,
    };

    for (size_t i = 0; i < ARRAY_SIZE(assumes); i++)
        if (assumes[i])
            snprintf(r->assumes[r->n_assumes++], sizeof(r->assumes[0]), "%s", assumes[i]);
}

void report_scaling_get(struct report_scaling *r, const struct view *v, bool strong)
{
    struct view_scaling *s = xcalloc(1, sizeof(*s));
    const struct projection *p = &s->projection;
    const char *missing = view_scaling_get(v, strong, s);

    memset(r, 0, sizeof(*r));
    snprintf(r->mode, sizeof(r->mode), "%s", strong ? "strong" : "weak");
    if (missing) {
        snprintf(r->missing, sizeof(r->missing), "%s", missing);
        free(s);
        return;
    }
    r->ranks = (int64_t)p->ranks;
    r->step_s = p->step_s;
    r->wall_ranks = p->wall_ranks;
    snprintf(r->text, sizeof(r->text), "%s", p->text);
    snprintf(r->wall, sizeof(r->wall), "%s", projection_wall_name(p->wall));
    for (r->n = 0; r->n < PROJECTION_POINTS; r->n++)
        r->point[r->n] = point_of(&p->point[r->n]);
    memcpy(r->algorithm, p->algorithm, sizeof(r->algorithm));
    r->noise = noise_of(s);
    for (; r->n_links < s->n_links; r->n_links++)
        r->link[r->n_links] = link_of(&s->link[r->n_links]);
    r->n_runs = s->n_runs;
    memcpy(r->run_ranks, s->run_ranks, sizeof(r->run_ranks));
    put_assumes(r, s, strong);
    free(s);
}

/* ---- JSON ---- */

json_t *report_scaling_json(const struct report_scaling *r)
{
    json_t *o = json_object(), *algorithms, *noise, *slow, *links, *runs;

    if (r->missing[0]) {
        json_put_text(o, "mode", r->mode);
        json_put_text(o, "missing", r->missing);
        return o;
    }
    json_put_fields(o, r, scaling_fields);
    json_put_rows(o, "points", r->point, sizeof(r->point[0]), r->n, point_fields);
    algorithms = json_object();
    for (int a = 0; a < TRAFFIC_ALGORITHMS; a++)
        json_put_real(algorithms, traffic_algorithm_name(a), r->algorithm[a]);
    json_put_json(o, "algorithms", algorithms);
    noise = json_of_fields(&r->noise, noise_fields);
    slow = json_array();
    for (size_t i = 0; i < r->noise.n_slow; i++)
        json_array_append_new(slow, json_integer(r->noise.slow[i]));
    json_put_json(noise, "slow_ranks", slow);
    json_put_json(o, "noise", noise);
    links = json_array();
    for (size_t i = 0; i < r->n_links; i++) {
        const struct report_link *l = &r->link[i];
        json_t *link = json_of_fields(l, link_fields);

        json_put_rows(link, "segments", l->segment, sizeof(l->segment[0]), l->n, segment_fields);
        json_array_append_new(links, link);
    }
    json_put_json(o, "links", links);
    runs = json_array();
    for (size_t i = 0; i < r->n_runs; i++)
        json_array_append_new(runs, json_integer((json_int_t)r->run_ranks[i]));
    json_put_json(o, "runs", runs);
    json_put_lines(o, "assumes", r->assumes[0], sizeof(r->assumes[0]), r->n_assumes);
    return o;
}

void report_scaling_read(struct report_scaling *r, const json_t *o)
{
    const json_t *links = json_get_list(o, "links", VIEW_LINKS_MAX, &r->n_links),
                 *runs = json_get_list(o, "runs", PROJECTION_RUNS, &r->n_runs);

    json_get_fields(r, o, scaling_fields);
    json_get_text(o, "missing", r->missing, sizeof(r->missing));
    r->n = json_get_rows(r->point, sizeof(r->point[0]), PROJECTION_POINTS, o, "points", point_fields);
    json_get_fields(&r->noise, json_get_object(o, "noise"), noise_fields);
    for (size_t i = 0; i < r->n_links; i++) {
        struct report_link *l = &r->link[i];

        json_get_fields(l, json_array_get(links, i), link_fields);
        l->n = json_get_rows(l->segment, sizeof(l->segment[0]), LINKFIT_SEGMENTS, json_array_get(links, i),
                             "segments", segment_fields);
    }
    for (size_t i = 0; i < r->n_runs; i++)
        r->run_ranks[i] = json_number_of(json_array_get(runs, i));
    r->n_assumes = json_get_lines(r->assumes[0], sizeof(r->assumes[0]), REPORT_ASSUMES_MAX, o, "assumes");
}
