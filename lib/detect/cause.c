#include "detect/cause.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "common/units.h"
#include "common/xalloc.h"
#include "model/statistics.h"

#define OUTLIER_Z   3.5
#define COUNT_SCORE 0.1 /* maximum score of a count */
#define FOLLOWS     0.6 /* a correlation that is worth reporting */
#define SHARED      0.1 /* of its CPUs' time used by others: the CPU is shared */
/* of its CPUs' time used by its own threads: they are what it waits for */
#define CROWDED 0.9

enum scale { SHARE, CLOCK, COUNT };

static const struct {
    enum scale scale;
    double floor; /* a share of the time; of the others' clock; a count */
} kinds[CAUSE_KINDS] = {
    [CAUSE_RUN_DELAY] = { SHARE, 0.03 }, [CAUSE_FAULTS] = { COUNT, 10 },
    [CAUSE_GPU_CLOCK] = { CLOCK, 0.05 }, [CAUSE_GPU_FAR] = { COUNT, 0.5 },
    [CAUSE_STEAL] = { SHARE, 0.02 },     [CAUSE_CLOCK] = { CLOCK, 0.05 },
    [CAUSE_THROTTLED] = { COUNT, 1 },    [CAUSE_QUOTA] = { SHARE, 0.02 },
    [CAUSE_MEMORY] = { SHARE, 0.05 },    [CAUSE_IO] = { SHARE, 0.1 },
    [CAUSE_SWAP] = { COUNT, 50 },        [CAUSE_RETRANSMITS] = { COUNT, 20 },
    [CAUSE_NIC_ERRORS] = { COUNT, 10 },  [CAUSE_GPU_ERRORS] = { COUNT, 1 },
};

/* ---- standing out ---- */

/* Worse is larger, also for clocks. */
static double badness(enum cause_kind kind, double value)
{
    return kinds[kind].scale == CLOCK ? -value : value;
}

struct cause_norm cause_norm(enum cause_kind kind, float *value, size_t n)
{
    struct cause_norm norm = { .median = NAN, .mad = NAN, .n = (uint32_t)n };

    if (!n)
        return norm;
    for (size_t i = 0; i < n; i++)
        value[i] = (float)badness(kind, value[i]);
    norm.median = statistics_selectf(value, n, (n - 1) / 2);
    for (size_t i = 0; i < n; i++)
        value[i] = fabsf(value[i] - (float)norm.median);
    norm.mad = statistics_selectf(value, n, (n - 1) / 2);
    norm.median = badness(kind, norm.median);
    return norm;
}

double cause_score(enum cause_kind kind, double value, const struct cause_norm *others)
{
    double excess = badness(kind, value) - badness(kind, others->median);

    if (!others->n || isnan(excess) || STATISTICS_SD_TO_MAD * excess <= OUTLIER_Z * others->mad)
        return 0;
    if (kinds[kind].scale == CLOCK)
        excess = others->median > 0 ? excess / others->median : 0;
    if (excess < kinds[kind].floor)
        return 0;
    return kinds[kind].scale == COUNT ? COUNT_SCORE * (1 - 0.5 * kinds[kind].floor / excess)
                                      : fmin(excess, 1);
}

double cause_common_ratio(enum cause_kind kind, const struct cause_norm *all)
{
    bool matters = all->n && kinds[kind].scale == SHARE && all->median >= kinds[kind].floor;

    return matters ? fmin(all->median, 1) : 0;
}

/* ---- words ---- */

/* nvml.h: nvmlClocksEventReason..., of older drivers nvmlClocksThrottleReason..., the weightiest first. */
static const struct {
    uint32_t bits;
    const char *name, *text;
} reasons[] = {
    { 0x60, "thermal", ", held down for its temperature" },
    { 0x80, "power brake", ", held down by the power supply" },
    { 0x08, "hardware", ", slowed down by the hardware" },
    { 0x04, "power limit", ", held down by its power limit" },
    { 0x112, "set", ", set so" },
    { 0x01, "idle", "" },
    { 0, "", "" },
};

static size_t weightiest(uint32_t bits)
{
    size_t i = 0;

    while (i + 1 < ARRAY_SIZE(reasons) && !(bits & reasons[i].bits))
        i++;
    return i;
}

const char *cause_throttle_name(uint32_t bits)
{
    return reasons[weightiest(bits)].name;
}

static void run_delay_text(const struct cause *c, const char *mine, const char *others, char *buf,
                           size_t size)
{
    const char *they = c->ranks > 1 ? "they" : "it", *their = c->ranks > 1 ? "their" : "its";
    const char *cpus_are = c->ranks > 1 ? "CPUs are" : "CPU is";
    char why[96] = "";

    if (c->shared)
        snprintf(why, sizeof(why), "%s %s shared with other ranks: ", their, cpus_are);
    else if (c->foreign_ratio > SHARED)
        snprintf(why, sizeof(why), "%s %s shared with other processes: ", their, cpus_are);
    else if (c->threads_ratio > CROWDED)
        snprintf(why, sizeof(why), "%s own threads outnumber %s CPUs: ", their, their);
    snprintf(buf, size, "%s%s waited %s of the time for a CPU, the others %s%s", why, they, mine, others,
             c->follows > FOLLOWS ? "; the lateness follows it" : "");
}

/* ": 2 uncorrected and 40 corrected memory errors since its agent began"; nothing where none are known. */
static void append_errors(const struct cause_gpu *g, const char *before, char *buf, size_t size)
{
    bool corrected = g->corrected > 0, uncorrected = g->uncorrected > 0;

    if (!corrected && !uncorrected)
        return;
    text_append(buf, size, "%s", before);
    if (uncorrected)
        text_append(buf, size, "%.0f uncorrected%s", g->uncorrected, corrected ? " and " : "");
    if (corrected)
        text_append(buf, size, "%.0f corrected", g->corrected);
    text_append(buf, size, " memory error%s since its agent began",
                fmax(g->corrected, g->uncorrected) > 1 || (corrected && uncorrected) ? "s" : "");
}

/* "its GPU 1", "the slowest of its GPUs, GPU 1,", "rank 12's GPU 1, divided by MIG," */
static void append_gpu(const struct cause *c, char *buf, size_t size)
{
    const struct cause_gpu *g = &c->gpu;

    if (c->ranks > 1)
        text_append(buf, size, "rank %u's GPU %d", g->rank, g->index);
    else if (g->several && c->kind == CAUSE_GPU_CLOCK)
        text_append(buf, size, "the slowest of its GPUs, GPU %d", g->index);
    else
        text_append(buf, size, "its GPU %d", g->index);
    if (g->parts)
        text_append(buf, size, ", divided by MIG");
    if (g->parts || (c->ranks <= 1 && g->several && c->kind == CAUSE_GPU_CLOCK))
        text_append(buf, size, ",");
}

static void append_temperature(const struct cause_gpu *g, const char *before, const char *after, char *buf,
                               size_t size)
{
    if (!isnan(g->temperature_c))
        text_append(buf, size, "%s%.0f C%s", before, g->temperature_c, after);
}

/* One GPU's clock is said in MHz; of several ranks' that of the slowest, behind what is typical of them. */
static void gpu_clock_text(const struct cause *c, const char *mine, const char *others, char *buf,
                           size_t size)
{
    const struct cause_gpu *g = &c->gpu;
    const char *why = reasons[weightiest(c->throttle)].text;
    bool known = g->index >= 0 && g->clock_max_mhz > 0;
    char which[96] = "";

    buf[0] = '\0';
    if (known && c->ranks <= 1) {
        append_gpu(c, buf, size);
        text_append(buf, size, " runs at %.0f of %.0f MHz%s", g->clock_mhz, g->clock_max_mhz, why);
        append_temperature(g, " (", ")", buf, size);
        text_append(buf, size, ", the others' at %s of the largest clock", others);
    } else {
        text_append(buf, size, "%s GPU%s run%s at %s of the largest clock, the others' at %s%s",
                    c->ranks > 1 ? "their" : "its", c->ranks > 1 ? "s" : "", c->ranks > 1 ? "" : "s", mine,
                    others, why);
        if (known) {
            text_append(buf, size, "; slowest: ");
            append_gpu(c, buf, size);
            text_append(buf, size, " %.0f of %.0f MHz", g->clock_mhz, g->clock_max_mhz);
            append_temperature(g, ", ", "", buf, size);
        }
    }
    if (!known && c->ranks > 1 && g->index >= 0) { /* it has not been spoken of */
        text_append(which, sizeof(which), "; ");
        append_gpu(c, which, sizeof(which));
        text_append(which, sizeof(which), " counts ");
        append_errors(g, which, buf, size);
    } else if (known || c->ranks <= 1) {
        append_errors(g, "; it counts ", buf, size);
    }
}

static void gpu_errors_text(const struct cause *c, char *buf, size_t size)
{
    buf[0] = '\0';
    text_append(buf, size, "possibly ");
    append_gpu(c, buf, size);
    append_errors(&c->gpu, " counts ", buf, size);
    if (c->others > 0)
        text_append(buf, size, ", the others' %.3g", c->others);
    else
        text_append(buf, size, ", the others' none");
}

char *cause_text(const struct cause *c, char *buf, size_t size)
{
    const char *their = c->ranks > 1 ? "their" : "its", *s = c->ranks > 1 ? "s" : "";
    char mine[32], others[32];

    units_format_percent(mine, sizeof(mine), c->value);
    units_format_percent(others, sizeof(others), c->others);
    switch (c->kind) {
    case CAUSE_RUN_DELAY:
        run_delay_text(c, mine, others, buf, size);
        break;
    case CAUSE_FAULTS:
        snprintf(buf, size, "%s memory is read back from disk: %.3g major faults a second, the others' %.3g",
                 their, c->value, c->others);
        break;
    case CAUSE_GPU_FAR:
        snprintf(buf, size, "%s GPU%s %s on another NUMA node than %s CPUs, the others' are not", their, s,
                 *s ? "are" : "is", their);
        break;
    case CAUSE_STEAL:
        snprintf(buf, size, "the hypervisor steals %s of the CPU time on %s, elsewhere %s", mine, c->node,
                 others);
        break;
    case CAUSE_CLOCK:
        snprintf(buf, size, "the CPUs on %s run at %.3g GHz, the others' at %.3g", c->node, c->value * 1e-9,
                 c->others * 1e-9);
        break;
    case CAUSE_THROTTLED:
        snprintf(buf, size, "the CPUs on %s are throttled for heat %.3g times a second, the others' %.3g",
                 c->node, c->value, c->others);
        break;
    case CAUSE_QUOTA:
        snprintf(buf, size, "the CPU quota holds the step up %s of the time on %s, elsewhere %s", mine,
                 c->node, others);
        break;
    case CAUSE_MEMORY:
        snprintf(buf, size, "memory pressure on %s is %s, elsewhere %s", c->node, mine, others);
        break;
    case CAUSE_IO:
        snprintf(buf, size, "storage is waited for %s of the time on %s, elsewhere %s", mine, c->node,
                 others);
        break;
    case CAUSE_SWAP:
        snprintf(buf, size, "%.3g pages a second are swapped on %s, elsewhere %.3g", c->value, c->node,
                 c->others);
        break;
    case CAUSE_RETRANSMITS:
        snprintf(
            buf, size,
            "possibly the network of %s: it retransmits %.3g packets a second (node-wide), other nodes %.3g",
            c->node, c->value, c->others);
        break;
    case CAUSE_NIC_ERRORS:
        snprintf(buf, size,
                 "possibly the network of %s: its NIC %s counts %.3g errors a second (node-wide), other "
                 "nodes' %.3g",
                 c->node, *c->nic ? c->nic : "?", c->value, c->others);
        break;
    case CAUSE_GPU_ERRORS:
        gpu_errors_text(c, buf, size);
        break;
    default:
        gpu_clock_text(c, mine, others, buf, size);
    }
    return buf;
}

char *cause_common_text(enum cause_kind kind, double ratio, char *buf, size_t size)
{
    static const struct {
        const char *before, *after;
    } words[CAUSE_KINDS] = {
        [CAUSE_RUN_DELAY] = { "the ranks wait ", " of the time for a CPU" },
        [CAUSE_STEAL] = { "the hypervisor steals ", " of the CPU time on the nodes" },
        [CAUSE_QUOTA] = { "the CPU quota holds the step up ", " of the time" },
    };
    char share[32];

    buf[0] = '\0';
    if (words[kind].before)
        snprintf(buf, size, "%s%s%s", words[kind].before, units_format_percent(share, sizeof(share), ratio),
                 words[kind].after);
    return buf;
}
