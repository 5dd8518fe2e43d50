/* report_health.c - the health of nodes and ranks as JSON. */
#include <math.h>

#include "common/xalloc.h"
#include "detect/cause.h"
#include "report/report_view.h"
#include "view/health.h"
#include "wire/json.h"

/* Unknown values of a node or a rank are left out, because most nodes lack some of them. */

static json_t *gpus_json(const struct view_node_health *h)
{
    json_t *list = json_array();

    for (size_t i = 0; i < h->n_gpus; i++) {
        const struct gpu_item *g = &h->gpu[i];
        json_t *o = json_object();

        put_place(o, "index", g->index);
        put_known(o, "clock_ratio", g->clock_ratio);
        put_known(o, "temperature_c", g->temperature_c);
        put_known(o, "power_w", g->power_w);
        put_known(o, "busy_ratio", g->busy_ratio);
        put_text(o, "throttle", cause_throttle_name(g->throttle));
        json_array_append_new(list, o);
    }
    return list;
}

json_t *report_node_health(const struct view *v, double now_s, const char *node)
{
    struct view_node_health h;
    const struct node_item *n = &h.figures;
    json_t *o;

    if (!view_node_health_get(v, now_s, node, &h))
        return NULL;
    o = json_object();
    put_known(o, "run_queue", n->run_queue);
    put_known(o, "involuntary_per_s", h.involuntary_per_s);
    put_known(o, "busy_ratio", n->busy_ratio);
    put_known(o, "steal_ratio", n->steal_ratio);
    put_known(o, "frequency_hz", n->frequency_hz);
    put_known(o, "frequency_ratio", n->frequency_ratio);
    put_known(o, "throttled_per_s", n->throttled_per_s);
    put_known(o, "quota_ratio", n->quota_ratio);
    put_known(o, "cpu_pressure_ratio", n->cpu_pressure_ratio);
    put_known(o, "memory_pressure_ratio", n->memory_pressure_ratio);
    put_known(o, "io_pressure_ratio", n->io_pressure_ratio);
    put_known(o, "swap_per_s", n->swap_per_s);
    put_known(o, "retransmits_per_s", n->retransmits_per_s);
    put_known(o, "nic_errors_per_s", n->nic_errors_per_s);
    if (*n->nic)
        json_object_set_new(o, "nic", json_string(n->nic));
    if (h.n_gpus)
        put_json(o, "gpus", gpus_json(&h));
    return o;
}

json_t *report_rank_health(const struct view *v, double now_s, uint32_t rank)
{
    struct view_rank_health h;
    const struct task_item *t = &h.figures;
    json_t *o;

    if (!view_rank_health_get(v, now_s, rank, &h))
        return NULL;
    o = json_object();
    put_known(o, "run_delay_ratio", t->run_delay_ratio);
    put_known(o, "involuntary_per_s", t->involuntary_per_s);
    put_known(o, "voluntary_per_s", t->voluntary_per_s);
    put_known(o, "cpu_ratio", t->cpu_ratio);
    put_known(o, "foreign_ratio", t->foreign_ratio);
    put_known(o, "major_faults_per_s", t->major_faults_per_s);
    put_place(o, "cpu", t->cpu);
    put_text(o, "cpus", t->cpus);
    put_bool(o, "shared_cpu", t->flags & TASK_SHARED_CPU);
    put_place(o, "numa", t->numa);
    put_place(o, "nic_numa", t->nic_numa);
    put_place(o, "gpu", t->gpu);
    put_place(o, "gpu_numa", t->gpu_numa);
    put_known(o, "lateness_correlation", h.follows);
    put_text(o, "cause", h.cause);
    return o;
}
