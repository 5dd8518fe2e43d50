#include "report/report_health.h"

#include <stdio.h>

#include "detect/cause.h"

#define AMOUNT (FIELD_AMOUNT | FIELD_OPTIONAL)
#define COUNT  (FIELD_COUNT | FIELD_OPTIONAL)

static const struct json_field gpu_fields[] = {
    { "index", COUNT, FIELD(struct report_gpu, index) },
    { "clock_ratio", AMOUNT, FIELD(struct report_gpu, clock_ratio) },
    { "temperature_c", AMOUNT, FIELD(struct report_gpu, temperature_c) },
    { "power_w", AMOUNT, FIELD(struct report_gpu, power_w) },
    { "busy_ratio", FIELD_SHARE | FIELD_OPTIONAL, FIELD(struct report_gpu, busy_ratio) },
    { "clock_mhz", AMOUNT, FIELD(struct report_gpu, clock_mhz) },
    { "clock_max_mhz", AMOUNT, FIELD(struct report_gpu, clock_max_mhz) },
    { "corrected_errors", COUNT, FIELD(struct report_gpu, corrected) },
    { "uncorrected_errors", COUNT, FIELD(struct report_gpu, uncorrected) },
    { "mig", FIELD_TRUE, FIELD(struct report_gpu, mig) },
    { "throttle", FIELD_TEXT, FIELD(struct report_gpu, throttle) },
    { 0 },
};

static const struct json_field node_fields[] = {
    { "run_queue", AMOUNT, FIELD(struct report_health, run_queue) },
    { "involuntary_per_s", AMOUNT, FIELD(struct report_health, involuntary_per_s) },
    { "busy_ratio", AMOUNT, FIELD(struct report_health, busy_ratio) },
    { "steal_ratio", AMOUNT, FIELD(struct report_health, steal_ratio) },
    { "frequency_hz", AMOUNT, FIELD(struct report_health, frequency_hz) },
    { "frequency_ratio", AMOUNT, FIELD(struct report_health, frequency_ratio) },
    { "throttled_per_s", AMOUNT, FIELD(struct report_health, throttled_per_s) },
    { "quota_ratio", AMOUNT, FIELD(struct report_health, quota_ratio) },
    { "cpu_pressure_ratio", AMOUNT, FIELD(struct report_health, cpu_pressure_ratio) },
    { "memory_pressure_ratio", AMOUNT, FIELD(struct report_health, memory_pressure_ratio) },
    { "io_pressure_ratio", AMOUNT, FIELD(struct report_health, io_pressure_ratio) },
    { "swap_per_s", AMOUNT, FIELD(struct report_health, swap_per_s) },
    { "retransmits_per_s", AMOUNT, FIELD(struct report_health, retransmits_per_s) },
    { "nic_errors_per_s", AMOUNT, FIELD(struct report_health, nic_errors_per_s) },
    { "nic", FIELD_TEXT | FIELD_OPTIONAL, FIELD(struct report_health, nic) },
    { 0 },
};

const struct json_field report_rank_health_fields[] = {
    { "run_delay_ratio", AMOUNT, FIELD(struct report_rank_health, run_delay_ratio) },
    { "involuntary_per_s", AMOUNT, FIELD(struct report_rank_health, involuntary_per_s) },
    { "voluntary_per_s", AMOUNT, FIELD(struct report_rank_health, voluntary_per_s) },
    { "cpu_ratio", AMOUNT, FIELD(struct report_rank_health, cpu_ratio) },
    { "foreign_ratio", AMOUNT, FIELD(struct report_rank_health, foreign_ratio) },
    { "major_faults_per_s", AMOUNT, FIELD(struct report_rank_health, major_faults_per_s) },
    { "cpu", COUNT, FIELD(struct report_rank_health, cpu) },
    { "cpus", FIELD_TEXT, FIELD(struct report_rank_health, cpus) },
    { "shared_cpu", FIELD_TRUE, FIELD(struct report_rank_health, shared_cpu) },
    { "numa", COUNT, FIELD(struct report_rank_health, numa) },
    { "nic_numa", COUNT, FIELD(struct report_rank_health, nic_numa) },
    { "gpu", COUNT, FIELD(struct report_rank_health, gpu) },
    { "gpu_numa", COUNT, FIELD(struct report_rank_health, gpu_numa) },
    { "several_gpus", FIELD_TRUE, FIELD(struct report_rank_health, several_gpus) },
    { "lateness_correlation", FIELD_NUMBER | FIELD_OPTIONAL,
      FIELD(struct report_rank_health, lateness_correlation) },
    { "cause", FIELD_TEXT, FIELD(struct report_rank_health, cause) },
    { 0 },
};

/* ---- a node ---- */

static int64_t errors_of(uint64_t n)
{
    return n > INT64_MAX ? -1 : (int64_t)n; /* GPU_ERRORS_UNKNOWN, too */
}

void report_health_get(struct report_health *h, const struct view *v, double now_s, const char *node)
{
    struct view_node_health now;
    const struct node_item *n = &now.figures;

    if (!view_node_health_get(v, now_s, node, &now)) {
        report_health_read(h, NULL);
        return;
    }
    *h = (struct report_health){
        .known = true,
        .run_queue = n->run_queue,
        .involuntary_per_s = now.involuntary_per_s,
        .busy_ratio = n->busy_ratio,
        .steal_ratio = n->steal_ratio,
        .frequency_hz = n->frequency_hz,
        .frequency_ratio = n->frequency_ratio,
        .throttled_per_s = n->throttled_per_s,
        .quota_ratio = n->quota_ratio,
        .cpu_pressure_ratio = n->cpu_pressure_ratio,
        .memory_pressure_ratio = n->memory_pressure_ratio,
        .io_pressure_ratio = n->io_pressure_ratio,
        .swap_per_s = n->swap_per_s,
        .retransmits_per_s = n->retransmits_per_s,
        .nic_errors_per_s = n->nic_errors_per_s,
        .n_gpus = now.n_gpus,
    };
    snprintf(h->nic, sizeof(h->nic), "%.*s", (int)sizeof(n->nic), n->nic);
    for (size_t i = 0; i < now.n_gpus; i++) {
        const struct gpu_item *g = &now.gpu[i];
        const struct gpu_state_item *more = &now.state[i];

        h->gpu[i] = (struct report_gpu){ .index = g->index,
                                         .clock_ratio = g->clock_ratio,
                                         .temperature_c = g->temperature_c,
                                         .power_w = g->power_w,
                                         .busy_ratio = g->busy_ratio,
                                         .clock_mhz = more->clock_mhz,
                                         .clock_max_mhz = more->clock_max_mhz,
                                         .corrected = errors_of(more->corrected),
                                         .uncorrected = errors_of(more->uncorrected),
                                         .mig = more->flags & GPU_STATE_PARTS };
        snprintf(h->gpu[i].throttle, sizeof(h->gpu[i].throttle), "%s", cause_throttle_name(g->throttle));
    }
}

json_t *report_health_json(const struct report_health *h)
{
    json_t *o = h->known ? json_object() : NULL;

    if (!o)
        return NULL;
    json_put_fields(o, h, node_fields);
    if (h->n_gpus)
        json_put_rows(o, "gpus", h->gpu, sizeof(h->gpu[0]), h->n_gpus, gpu_fields);
    return o;
}

void report_health_read(struct report_health *h, const json_t *o)
{
    json_get_fields(h, o, node_fields);
    h->known = json_is_object(o);
    h->n_gpus = json_get_rows(h->gpu, sizeof(h->gpu[0]), VIEW_GPUS_MAX, o, "gpus", gpu_fields);
}

/* ---- a rank ---- */

void report_rank_health_get(struct report_rank_health *h, const struct view *v, double now_s, uint32_t rank)
{
    struct view_rank_health now;
    const struct task_item *t = &now.figures;

    if (!view_rank_health_get(v, now_s, rank, &now)) {
        *h = (struct report_rank_health){ .known = false };
        json_get_fields(h, NULL, report_rank_health_fields);
        return;
    }
    *h = (struct report_rank_health){
        .known = true,
        .run_delay_ratio = t->run_delay_ratio,
        .involuntary_per_s = t->involuntary_per_s,
        .voluntary_per_s = t->voluntary_per_s,
        .cpu_ratio = t->cpu_ratio,
        .foreign_ratio = t->foreign_ratio,
        .major_faults_per_s = t->major_faults_per_s,
        .cpu = t->cpu,
        .shared_cpu = t->flags & TASK_SHARED_CPU,
        .numa = t->numa,
        .nic_numa = t->nic_numa,
        .gpu = t->gpu,
        .gpu_numa = t->gpu_numa,
        .several_gpus = t->flags & TASK_SEVERAL_GPUS,
        .lateness_correlation = now.follows,
    };
    snprintf(h->cpus, sizeof(h->cpus), "%s", t->cpus);
    snprintf(h->cause, sizeof(h->cause), "%s", now.cause);
}
