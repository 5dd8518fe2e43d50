#include "tui/health.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "common/xalloc.h"
#include "term/padded.h"

enum kind { PERCENT, RATE, NUMBER };

/* A figure is shown from warn on, and as a fault from bad on; where less is worse, both are upper bounds.
 * They are far from what is usual, which differs between machines: the controller finds out what is unusual
 * among the nodes of a job (the ranks' cause).  The last three are never faults. */
static const struct {
    const char *name;
    size_t field;
    enum kind kind;
    bool less;
    double warn, bad;
} figures[] = {
    { "clock", offsetof(struct report_health, frequency_ratio), PERCENT, true, 0.65, 0.4 },
    { "throttled", offsetof(struct report_health, throttled_per_s), RATE, false, 0.1, 10 },
    { "quota", offsetof(struct report_health, quota_ratio), PERCENT, false, 0.02, 0.2 },
    { "steal", offsetof(struct report_health, steal_ratio), PERCENT, false, 0.02, 0.1 },
    { "swap", offsetof(struct report_health, swap_per_s), RATE, false, 10, 1000 },
    { "memory pressure", offsetof(struct report_health, memory_pressure_ratio), PERCENT, false, 0.05, 0.25 },
    { "I/O pressure", offsetof(struct report_health, io_pressure_ratio), PERCENT, false, 0.1, 0.4 },
    { "CPU pressure", offsetof(struct report_health, cpu_pressure_ratio), PERCENT, false, 0.3, 0.7 },
    { "NIC errors", offsetof(struct report_health, nic_errors_per_s), RATE, false, 1e-2, 1 },
    { "retransmits", offsetof(struct report_health, retransmits_per_s), RATE, false, 50, 1000 },
    { "busy", offsetof(struct report_health, busy_ratio), PERCENT, false, INFINITY, INFINITY },
    { "run queue", offsetof(struct report_health, run_queue), NUMBER, false, INFINITY, INFINITY },
    { "switched out", offsetof(struct report_health, involuntary_per_s), RATE, false, INFINITY, INFINITY },
};

/* A lower clock is shown when the GPU has work; a limit of power, or one that somebody set, only together
 * with it. */
#define GPU_CLOCK_WARN 0.9
static const char *const gpu_faults[] = { "thermal", "power brake", "hardware" };

static double value_of(const struct report_health *h, size_t i)
{
    return *(const double *)(const void *)((const char *)h + figures[i].field);
}

/* "74 %", "0.4 %": symptoms are short */
static struct text share(double ratio)
{
    struct text f = text_percent(ratio);

    if (ratio >= 0.1 && ratio < 99)
        snprintf(f.s, sizeof(f.s), "%.0f %%", ratio * 100);
    return f;
}

static void add_figure(char *buf, size_t size, const char *between, const struct report_health *h, size_t i)
{
    double x = value_of(h, i);
    struct text f = figures[i].kind == PERCENT ? share(x) : padded_trim(padded_number(x));

    text_append(buf, size, "%s%s %s%s", *buf ? between : "", figures[i].name, f.s,
                figures[i].kind == RATE ? "/s" : "");
}

static enum severity severity_of(const struct report_health *h, size_t i)
{
    double x = value_of(h, i), sign = figures[i].less ? -1 : 1;

    if (!(sign * x >= sign * figures[i].warn))
        return SEVERITY_GOOD;
    return sign * x >= sign * figures[i].bad ? SEVERITY_BAD : SEVERITY_WARN;
}

static bool is_fault(const char *throttle)
{
    for (size_t i = 0; i < ARRAY_SIZE(gpu_faults); i++)
        if (!strcmp(throttle, gpu_faults[i]))
            return true;
    return false;
}

/* Appends it. */
static bool gpu_symptom(const struct report_gpu *g, char *buf, size_t size)
{
    bool slow = g->clock_ratio < GPU_CLOCK_WARN && strcmp(g->throttle, "idle") != 0 && g->busy_ratio != 0;

    if (!slow && !is_fault(g->throttle) && !(g->uncorrected > 0))
        return false;
    text_append(buf, size, "%sGPU%lld", *buf ? ", " : "", (long long)g->index);
    if (slow)
        text_append(buf, size, " clock %s", share(g->clock_ratio).s);
    if (g->throttle[0])
        text_append(buf, size, " throttled: %s", g->throttle);
    if (g->uncorrected > 0)
        text_append(buf, size, ", %lld uncorrected errors", (long long)g->uncorrected);
    return true;
}

enum severity health_symptoms(const struct report_health *h, char *buf, size_t size)
{
    enum severity worst = SEVERITY_GOOD;

    buf[0] = '\0';
    if (!h->known)
        return SEVERITY_NONE;
    for (size_t i = 0; i < h->n_gpus; i++)
        if (gpu_symptom(&h->gpu[i], buf, size))
            worst = SEVERITY_WARN;
    for (size_t i = 0; i < ARRAY_SIZE(figures); i++) {
        enum severity s = severity_of(h, i);

        if (s > SEVERITY_GOOD)
            add_figure(buf, size, ", ", h, i);
        worst = s > worst ? s : worst;
    }
    if (!buf[0])
        snprintf(buf, size, "fine");
    return worst;
}

char *health_figures(const struct report_health *h, char *buf, size_t size)
{
    buf[0] = '\0';
    for (size_t i = 0; h->known && i < ARRAY_SIZE(figures); i++)
        if (value_of(h, i) > 0 || figures[i].less)
            add_figure(buf, size, " · ", h, i);
    return buf;
}

char *health_gpus_text(const struct report_health *h, char *buf, size_t size)
{
    buf[0] = '\0';
    for (size_t i = 0; h->known && i < h->n_gpus; i++) {
        const struct report_gpu *g = &h->gpu[i];

        text_append(buf, size, "%sGPU%lld clock %s", *buf ? " · " : "", (long long)g->index,
                    share(g->clock_ratio).s);
        if (g->clock_max_mhz > 0)
            text_append(buf, size, " of %.0f MHz", fmin(g->clock_max_mhz, 99999));
        if (!isnan(g->temperature_c))
            text_append(buf, size, " %.0f C", fmin(g->temperature_c, 9999));
        if (!isnan(g->power_w))
            text_append(buf, size, " %.0f W", fmin(g->power_w, 99999));
        if (g->throttle[0])
            text_append(buf, size, " throttled: %s", g->throttle);
        if (g->uncorrected > 0)
            text_append(buf, size, ", %lld uncorrected errors", (long long)g->uncorrected);
        if (g->corrected > 0)
            text_append(buf, size, ", %lld corrected errors", (long long)g->corrected);
        if (g->mig)
            text_append(buf, size, ", MIG");
    }
    return buf;
}
