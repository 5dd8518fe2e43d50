/* report_scaling.c - what a job would be on more ranks, and what that stands on, as JSON. */
#include <math.h>
#include <stdlib.h>

#include "analysis/view.h"
#include "common/xalloc.h"
#include "report/report_view.h"
#include "ring/ring.h"
#include "wire/json.h"

static void put_projected(json_t *o, const char *key, const struct projection_range *r)
{
    put_range(o, key, r->p5, r->p50, r->p95);
}

static json_t *points_json(const struct projection *p)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < PROJECTION_POINTS; i++) {
        const struct projection_point *k = &p->point[i];
        json_t *o = json_object(), *shares = json_object();

        put_real(o, "ranks", k->ranks);
        put_real(o, "factor", k->factor);
        put_projected(o, "step_s", &k->step_s);
        put_projected(o, "throughput_ratio", &k->throughput_ratio);
        put_real(o, "ideal_ratio", k->ideal_ratio);
        put_real(shares, "compute", k->compute_s / k->step_s.p50);
        put_real(shares, "communication", k->communication_s / k->step_s.p50);
        put_real(shares, "synchronisation", k->synchronisation_s / k->step_s.p50);
        json_object_set_new(o, "shares", shares);
        put_string(o, "regime", projection_regime_name(k->regime));
        put_real(o, "regime_share", k->regime_share);
        json_array_append_new(list, o);
    }
    return list;
}

static void put_fitted(json_t *o, const char *key, const struct linkfit_range *r)
{
    put_estimate(o, key, r->value, r->low, r->high);
}

static json_t *links_json(const struct view_scaling *s)
{
    json_t *list = json_array();

    for (size_t i = 0; i < s->n_links; i++) {
        const struct view_link *l = &s->link[i];
        json_t *o = json_object(), *segments = json_array();

        put_string(o, "op", ring_op_name(l->op));
        put_int(o, "ranks", l->ranks);
        put_int(o, "instances", l->instances);
        json_object_set_new(o, "grows", json_boolean(l->grows));
        put_int(o, "sizes", l->fit.sizes);
        put_int(o, "samples", (int64_t)l->fit.samples);
        put_real(o, "noise", l->fit.noise);
        for (unsigned k = 0; k < l->fit.segments; k++) {
            const struct linkfit_segment *g = &l->fit.segment[k];
            json_t *part = json_object();

            put_real(part, "from_bytes", g->from_bytes);
            put_real(part, "to_bytes", g->to_bytes);
            put_int(part, "sizes", g->sizes);
            put_fitted(part, "fixed_s", &g->a_s);
            put_fitted(part, "s_per_byte", &g->b_s_per_byte);
            json_array_append_new(segments, part);
        }
        json_object_set_new(o, "segments", segments);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *parts_json(const struct variation_part part[VARIATION_LEVELS])
{
    static const char *const names[VARIATION_LEVELS] = {
        [VARIATION_RANK] = "rank", [VARIATION_NODE] = "node", [VARIATION_SWITCH] = "switch"
    };
    json_t *o = json_object();

    for (int i = 0; i < VARIATION_LEVELS; i++)
        put_estimate(o, names[i], part[i].sd, part[i].low, part[i].high);
    return o;
}

static json_t *noise_json(const struct view_scaling *s)
{
    const struct variation *n = &s->noise;
    json_t *o = json_object(), *apart = json_array();

    put_int(o, "steps", n->steps);
    put_real(o, "ranks_per_node", n->ranks_per_node);
    put_real(o, "nodes_per_switch", n->switches > 1 ? n->nodes_per_switch : NAN);
    put_real(o, "compute_s", n->mean_s);
    put_real(o, "cv", n->cv);
    put_real(o, "common_cv", n->common_cv);
    put_string(o, "shape", variation_shape_name(n->shape));
    json_object_set_new(o, "lasting", parts_json(n->lasting));
    json_object_set_new(o, "passing", parts_json(n->passing));
    put_real(o, "tail_rate", n->tail_rate);
    put_real(o, "tail_mean", n->tail_rate > 0 ? n->tail_from + n->tail_mean : NAN);
    for (unsigned i = 0; i < n->apart; i++)
        json_array_append_new(apart, json_integer(s->apart_rank[i]));
    json_object_set_new(o, "slow_ranks", apart);
    return o;
}

static json_t *algorithms_json(const struct projection *p)
{
    json_t *o = json_object();

    for (int a = 0; a < TRAFFIC_ALGORITHMS; a++)
        put_real(o, traffic_algorithm_name(a), p->algorithm[a]);
    return o;
}

/* What the figures take for granted, for this job. */
static json_t *assumes_json(const struct report_scaling *r)
{
    const struct projection *p = &r->s.projection;
    const char *const assumes[] = {
        r->strong ? "the work is divided among the ranks (strong scaling)"
                  : "each rank has as much to do as now (weak scaling)",
        "messages are as large, and more ranks are like those there are",
        p->fixed_known ? NULL
                       : "one size of message tells no latency: that of usual networks, 1.3 to 19 us a hop, "
                         "is assumed",
        p->rate_known ? NULL
                      : "no node tells how fast its adapters are: usual ones, 1.4 to 72 GB/s, are assumed",
        p->between_nodes ? NULL
                         : "all ranks are on one node: what a network between nodes costs was never seen",
        p->between_switches ? NULL : "one switch, or none told of: what lies between switches was never seen",
        r->s.noise.apart ? "slow ranks stay as they are, and no more of them come" : NULL,
    };

    return texts_json(assumes, ARRAY_SIZE(assumes));
}

static json_t *runs_json(const struct view_scaling *s)
{
    json_t *list = json_array();

    for (size_t i = 0; i < s->n_runs; i++)
        json_array_append_new(list, json_integer((json_int_t)s->run_ranks[i]));
    return list;
}

void report_scaling_get(struct report_scaling *r, const struct view *v, bool strong)
{
    r->strong = strong;
    r->missing = view_scaling_get(v, strong, &r->s);
}

json_t *report_scaling_json(const struct report_scaling *r)
{
    const struct projection *p = &r->s.projection;
    json_t *o = json_object();

    put_string(o, "mode", r->strong ? "strong" : "weak");
    if (r->missing) {
        put_string(o, "missing", r->missing);
        return o;
    }
    put_int(o, "ranks", (int64_t)p->ranks);
    put_real(o, "step_s", p->step_s);
    put_string(o, "text", p->text);
    put_string(o, "wall", projection_wall_name(p->wall));
    put_real(o, "wall_ranks", p->wall_ranks);
    put_json(o, "points", points_json(p));
    put_json(o, "algorithms", algorithms_json(p));
    put_json(o, "noise", noise_json(&r->s));
    put_json(o, "links", links_json(&r->s));
    put_json(o, "runs", runs_json(&r->s));
    put_json(o, "assumes", assumes_json(r));
    return o;
}
