/* report_health.h - the health of a node and of a rank's process as it is reported: filled from a view,
 * written as JSON, and read from it by screens (sgctl(1), "health").
 *
 * Ratios are of the time; what is unknown is NaN, -1 or "", and left out of the JSON, because most nodes lack
 * some of it. */
#ifndef SYNCGUARD_REPORT_REPORT_HEALTH_H
#define SYNCGUARD_REPORT_REPORT_HEALTH_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "view/health.h"
#include "wire/json.h"

struct view;

struct report_gpu {
    int64_t index; /* NVML's */
    double clock_ratio, temperature_c, power_w, busy_ratio;
    double clock_mhz, clock_max_mhz;
    int64_t corrected, uncorrected; /* errors of its memory since its agent began */
    bool mig;                       /* divided by MIG */
    char throttle[24];              /* why its clock is held down; "" it is not */
};

/* Of a node. */
struct report_health {
    bool known; /* its agent reported lately */
    double run_queue, involuntary_per_s, busy_ratio, steal_ratio, frequency_hz, frequency_ratio,
        throttled_per_s, quota_ratio;
    double cpu_pressure_ratio, memory_pressure_ratio, io_pressure_ratio, swap_per_s;
    double retransmits_per_s, nic_errors_per_s;
    char nic[16]; /* the interface with most errors */
    size_t n_gpus;
    struct report_gpu gpu[VIEW_GPUS_MAX];
};
void report_health_get(struct report_health *h, const struct view *v, double now_s, const char *node);
json_t *report_health_json(const struct report_health *h); /* the caller's; NULL: not known */
void report_health_read(struct report_health *h, const json_t *o);

struct report_rank_health {
    bool known;
    double run_delay_ratio, involuntary_per_s; /* ready and not running; how often preempted */
    double voluntary_per_s, cpu_ratio, foreign_ratio, major_faults_per_s;
    int64_t cpu; /* where it ran last */
    char cpus[32];
    bool shared_cpu, several_gpus;
    int64_t numa, nic_numa, gpu, gpu_numa;
    double lateness_correlation; /* with its run delay */
    char cause[256];             /* what stands out from the others; "": nothing does */
};
void report_rank_health_get(struct report_rank_health *h, const struct view *v, double now_s, uint32_t rank);
extern const struct json_field report_rank_health_fields[];

#endif
