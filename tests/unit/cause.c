/* Late, and why: what stands out in the health of the late from that of the others. */
#include "detect/cause.h"

#include <stdlib.h>

#include "tests/tap.h"
#include "view/health.h"
#include "view/view_private.h"

/* ---- standing out ---- */

static void scores(void)
{
    static const struct {
        enum cause_kind kind;
        double value;
        float others[8];
        size_t n;
        double score;
        const char *what;
    } cases[] = {
        { CAUSE_RUN_DELAY,
          0.34,
          { 0.004f, 0.003f, 0.005f, 0.004f },
          4,
          0.336,
          "waits for its CPU, the others do not" },
        { CAUSE_RUN_DELAY, 0.34, { 0.34f, 0.3f, 0.36f, 0.33f }, 4, 0, "all wait for their CPUs alike" },
        { CAUSE_RUN_DELAY, 0.34, { 0.1f, 0.2f, 0.3f, 0.4f, 0.5f }, 5, 0, "within the spread of the others" },
        { CAUSE_RUN_DELAY, 0.02, { 0, 0, 0 }, 3, 0, "too little to explain anything" },
        { CAUSE_RUN_DELAY, 0.34, { 0.004f }, 1, 0.336, "one other is enough where the difference is large" },
        { CAUSE_RUN_DELAY, 0.34, { 0 }, 0, 0, "nobody to compare with" },
        { CAUSE_RUN_DELAY, NAN, { 0 }, 1, 0, "not known of it" },
        { CAUSE_CLOCK, 1.9e9, { 3.1e9f, 3.1e9f, 3.0e9f }, 3, 0.3871, "a slower clock" },
        { CAUSE_CLOCK, 3.9e9, { 3.1e9f, 3.1e9f, 3.0e9f }, 3, 0, "a faster one is no trouble" },
        { CAUSE_NIC_ERRORS, 210, { 0, 0, 1 }, 3, 0.0976, "a count is worth less than a tenth of the time" },
        { CAUSE_NIC_ERRORS, 9, { 0, 0, 0 }, 3, 0, "a few errors are none" },
        { CAUSE_GPU_FAR, 1, { 0, 0, 0 }, 3, 0.075, "alone far from its GPU" },
        { CAUSE_GPU_FAR, 1, { 1, 0, 1 }, 3, 0, "as most are" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        float others[8];
        struct cause_norm norm;

        memcpy(others, cases[i].others, sizeof(others));
        norm = cause_norm(cases[i].kind, others, cases[i].n);
        ok(near(cause_score(cases[i].kind, cases[i].value, &norm), cases[i].score, 1e-3), "%s: %.3g",
           cases[i].what, cause_score(cases[i].kind, cases[i].value, &norm));
    }
}

static void median_and_mad(void)
{
    float odd[] = { 5, 1, 2, 9, 4 }, even[] = { 1, 100 }, clocks[] = { 1, 100 };
    struct cause_norm norm = cause_norm(CAUSE_FAULTS, odd, 5);

    ok(norm.median == 4 && norm.mad == 2, "median 4 and median deviation 2 of 1 2 4 5 9");
    norm = cause_norm(CAUSE_FAULTS, even, 2);
    ok(norm.median == 1 && norm.mad == 0,
       "the norm of two values is the better one, so that the other can stand out");
    norm = cause_norm(CAUSE_CLOCK, clocks, 2);
    ok(norm.median == 100, "the norm of two clocks is the larger one");
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

/* The median without ordering is the one with. */
static void any_order(void)
{
    static float value[200], sorted[200];
    int wrong = 0;

    srand(7);
    for (size_t n = 1; n <= ARRAY_SIZE(value); n++) {
        for (size_t i = 0; i < n; i++)
            sorted[i] = value[i] = (float)(rand() % (n % 7 ? 10 : 1000)); /* with equal ones */
        qsort(sorted, n, sizeof(*sorted), by_value);
        wrong += cause_norm(CAUSE_FAULTS, value, n).median != sorted[(n - 1) / 2];
    }
    is_int(wrong, 0, "median and deviation equal those of sorted values, for any number and order");
}

/* ---- a job of four nodes, two ranks each ---- */

#define RANKS 8u

static const struct node_item well_node = { .cpus = 64,
                                            .run_queue = 2,
                                            .steal_ratio = 0.001f,
                                            .frequency_hz = 3.1e9f,
                                            .frequency_ratio = 0.8f,
                                            .throttled_per_s = 0,
                                            .quota_ratio = NAN,
                                            .memory_pressure_ratio = 0,
                                            .io_pressure_ratio = 0.01f,
                                            .swap_per_s = 0,
                                            .retransmits_per_s = 1,
                                            .nic_errors_per_s = 0,
                                            .busy_ratio = 0.5f,
                                            .cpu_pressure_ratio = NAN };
static const struct task_item well_task = { .cpu = 3,
                                            .n_cpus = 4,
                                            .numa = 0,
                                            .nic_numa = 0,
                                            .gpu = 0,
                                            .gpu_numa = 0,
                                            .run_delay_ratio = 0.004f,
                                            .cpu_ratio = 1,
                                            .foreign_ratio = 0.01f,
                                            .involuntary_per_s = 3,
                                            .voluntary_per_s = 10,
                                            .major_faults_per_s = 0,
                                            .cpus = "0-3" };
static const struct gpu_item well_gpu = {
    .clock_ratio = 0.98f, .temperature_c = 60, .power_w = 500, .busy_ratio = 1
};

static struct node_item node[RANKS / 2];
static struct task_item task[RANKS];
static struct gpu_item gpu[RANKS];
static const struct gpu_state_item well_state = {
    .rank = 3, .index = 1, .clock_mhz = 1940, .clock_max_mhz = 1980
};
static struct gpu_state_item state[RANKS]; /* those with a clock are reported */

static void all_well(void)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        node[r / 2] = well_node;
        node[r / 2].rank = r / 2 * 2;
        task[r] = well_task;
        task[r].rank = r;
        task[r].gpu = (int16_t)(r % 2);
        gpu[r] = well_gpu;
        gpu[r].rank = r;
        gpu[r].index = (uint16_t)(r % 2);
        state[r] = (struct gpu_state_item){ .rank = r, .index = (uint16_t)(r % 2) };
    }
}

static const struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 30 };

/* Once one GPU's state is reported all are. */
static bool any_state(void)
{
    for (uint32_t r = 0; r < RANKS; r++)
        if (state[r].clock_mhz > 0)
            return true;
    return false;
}

static struct view *reported(void)
{
    struct view *v = view_new(&params, 0);

    for (uint32_t r = 0; r < RANKS; r++) {
        char name[16], switch_name[16];

        snprintf(name, sizeof(name), "node%02u", r / 2);
        snprintf(switch_name, sizeof(switch_name), "leaf%u", r / 4);
        view_rank_add(v, r, 0, name, switch_name);
    }
    for (int s = 1; s <= 5; s++) {
        for (uint32_t r = 0; r < RANKS; r++) {
            if (r % 2 == 0)
                view_item(v, s, &(struct telemetry_item){ .kind = TELEMETRY_NODE, .node = node[r / 2] });
            view_item(v, s, &(struct telemetry_item){ .kind = TELEMETRY_TASK, .task = task[r] });
            view_item(v, s, &(struct telemetry_item){ .kind = TELEMETRY_GPU, .gpu = gpu[r] });
            if (any_state())
                view_item(v, s,
                          &(struct telemetry_item){ .kind = TELEMETRY_GPU_STATE, .gpu_state = state[r] });
        }
        view_tick(v, s);
    }
    return v;
}

static const char *cause_of(enum finding_class class, enum finding_scope scope, const char *culprit,
                            char buf[256])
{
    struct view_verdict d = { .finding.class = class,
                              .finding.scope = scope,
                              .n_culprits = scope != SCOPE_NONE };
    struct view *v = reported();

    snprintf(d.culprit[0], sizeof(d.culprit[0]), "%s", culprit);
    view_cause(v, &d, buf, 256);
    view_free(v);
    return buf;
}

#define RANK3 FINDING_STRAGGLER, SCOPE_RANK, "r3"
#define NODE1 FINDING_STRAGGLER, SCOPE_NODE, "node01"
#define LEAF1 FINDING_STRAGGLER, SCOPE_SWITCH, "leaf1"

static void causes(void)
{
    char buf[256];

    all_well();
    is_str(cause_of(RANK3, buf), "", "no cause is named where nothing stands out");

    task[3].run_delay_ratio = 0.34f;
    is_str(cause_of(RANK3, buf), "it waited 34.0 % of the time for a CPU, the others 0.40 %",
           "cause: run delay alone");
    task[3].foreign_ratio = 0.5f;
    is_str(
        cause_of(RANK3, buf),
        "its CPU is shared with other processes: it waited 34.0 % of the time for a CPU, the others 0.40 %",
        "cause: another process on its CPUs");
    task[3].flags = TASK_SHARED_CPU;
    is_str(cause_of(RANK3, buf),
           "its CPU is shared with other ranks: it waited 34.0 % of the time for a CPU, the others 0.40 %",
           "cause: ranks that outnumber their CPUs");
    task[3].flags = 0;
    task[3].foreign_ratio = 0;
    task[3].cpu_ratio = 3.9f;
    is_str(cause_of(RANK3, buf),
           "its own threads outnumber its CPUs: it waited 34.0 % of the time for a CPU, the others 0.40 %",
           "cause: its own threads on its CPUs");
    is_str(cause_of(FINDING_STRAGGLER, SCOPE_RANK, "r4", buf), "",
           "trouble of one rank is not the cause of another rank");

    all_well();
    gpu[3].clock_ratio = 0.6f;
    gpu[3].throttle = 0x40;
    is_str(
        cause_of(RANK3, buf),
        "its GPU runs at 60.0 % of the largest clock, the others' at 98.0 %, held down for its temperature",
        "cause: a GPU that is too hot");
    gpu[3].throttle = 1;
    is_str(cause_of(RANK3, buf), "", "the clock of an idle GPU is no cause");

    all_well();
    gpu[3].clock_ratio = 0.56f;
    gpu[3].throttle = 0x40;
    gpu[3].temperature_c = 91;
    state[3] = well_state;
    state[3].clock_mhz = 1110;
    is_str(
        cause_of(RANK3, buf),
        "its GPU 1 runs at 1110 of 1980 MHz, held down for its temperature (91 C), the others' at 98.0 % of the largest clock",
        "cause: a GPU that is too hot, with its clock and temperature");
    gpu[3].throttle = 0x04;
    gpu[3].temperature_c = NAN;
    state[3].uncorrected = 1;
    is_str(
        cause_of(RANK3, buf),
        "its GPU 1 runs at 1110 of 1980 MHz, held down by its power limit, the others' at 98.0 % of the largest clock; it counts 1 uncorrected memory error since its agent began",
        "cause: a GPU at its power limit, whose memory has an error");
    state[3].corrected = 40;
    state[3].flags = GPU_STATE_PARTS;
    task[3].flags = TASK_SEVERAL_GPUS;
    is_str(
        cause_of(RANK3, buf),
        "the slowest of its GPUs, GPU 1, divided by MIG, runs at 1110 of 1980 MHz, held down by its power limit, the others' at 98.0 % of the largest clock; it counts 1 uncorrected and 40 corrected memory errors since its agent began",
        "cause: one of several GPUs, that is divided");
    gpu[2] = gpu[3];
    gpu[2].rank = gpu[2].index = 0;
    gpu[2].clock_ratio = 0.5f;
    gpu[2].throttle = 0x80;
    gpu[2].rank = 2;
    state[2] = well_state;
    state[2].rank = 2;
    state[2].index = 0;
    state[2].clock_mhz = 990;
    is_str(
        cause_of(NODE1, buf),
        "their GPUs run at 56.0 % of the largest clock, the others' at 98.0 %, held down by the power supply; slowest: rank 2's GPU 0 990 of 1980 MHz",
        "cause: both GPUs of a node, and the slower one of them");
    state[2].clock_max_mhz = 0;
    state[2].uncorrected = 2;
    is_str(
        cause_of(NODE1, buf),
        "their GPUs run at 56.0 % of the largest clock, the others' at 98.0 %, held down by the power supply; rank 2's GPU 0 counts 2 uncorrected memory errors since its agent began",
        "cause: which one counts errors is said where no GPU has been spoken of");

    all_well();
    state[3] = well_state;
    state[3].uncorrected = 2;
    is_str(cause_of(RANK3, buf),
           "possibly its GPU 1 counts 2 uncorrected memory errors since its agent began, the others' none",
           "cause: a GPU whose memory has errors");
    state[3].uncorrected = 0;
    state[3].corrected = 500;
    is_str(cause_of(RANK3, buf), "", "errors that were corrected are no cause");
    state[3].uncorrected = state[3].corrected = GPU_ERRORS_UNKNOWN;
    is_str(cause_of(RANK3, buf), "", "errors that are not known are no cause");

    all_well();
    task[3].gpu_numa = 1;
    is_str(cause_of(RANK3, buf), "its GPU is on another NUMA node than its CPUs, the others' are not",
           "cause: a GPU on another NUMA node");

    all_well();
    node[1].frequency_hz = 1.9e9f;
    is_str(cause_of(NODE1, buf), "the CPUs on node01 run at 1.9 GHz, the others' at 3.1",
           "cause: slow clocks of a node");
    node[1].steal_ratio = 0.5f;
    is_str(cause_of(NODE1, buf), "the hypervisor steals 50.0 % of the CPU time on node01, elsewhere 0.10 %",
           "of two causes the stronger is named");
    node[1].memory_pressure_ratio = 0.9f;
    is_str(cause_of(NODE1, buf), "memory pressure on node01 is 90.0 %, elsewhere 0.00 %",
           "of three causes the strongest is named");

    all_well();
    node[2].frequency_hz = node[3].frequency_hz = 1.9e9f;
    is_str(cause_of(LEAF1, buf), "the CPUs on 2 nodes run at 1.9 GHz, the others' at 3.1",
           "cause: slow clocks of a switch's nodes");

    all_well();
    node[1].nic_errors_per_s = 210;
    strcpy(node[1].nic, "eth0");
    is_str(
        cause_of(NODE1, buf),
        "possibly the network of node01: its NIC eth0 counts 210 errors a second (node-wide), other nodes' 0",
        "cause: errors of a network interface");
    is_str(
        cause_of(FINDING_CONGESTION, SCOPE_NONE, "", buf),
        "possibly the network of node01: its NIC eth0 counts 210 errors a second (node-wide), other nodes' 0",
        "errors of an interface are a cause of congestion");
    is_str(cause_of(FINDING_JITTER, SCOPE_NONE, "", buf), "",
           "errors of an interface are no cause of jitter");

    all_well();
    node[1].retransmits_per_s = 310;
    is_str(cause_of(FINDING_COMMUNICATION, SCOPE_NONE, "", buf),
           "possibly the network of node01: it retransmits 310 packets a second (node-wide), other nodes 1",
           "retransmits of a node are only a possible cause");
}

static const char *lack(double *ratio, char buf[80])
{
    struct view *v = reported();

    *ratio = view_cpu_lack(v, buf, 80);
    view_free(v);
    return buf;
}

static void common_causes(void)
{
    char buf[256];
    double ratio;

    all_well();
    is_str(lack(&ratio, buf), "", "nobody lacks a CPU");
    ok(ratio == 0, "then the ratio is 0");
    for (uint32_t r = 0; r < RANKS; r++)
        task[r].run_delay_ratio = 0.58f;
    is_str(lack(&ratio, buf), "the ranks wait 58.0 % of the time for a CPU",
           "what all ranks lack is reported");
    ok(near(ratio, 0.58, 1e-6), "with its share of the time");
    is_str(cause_of(RANK3, buf), "", "what all suffer from explains no straggler");
    for (uint32_t n = 0; n < RANKS / 2; n++)
        node[n].steal_ratio = 0.7f;
    is_str(lack(&ratio, buf), "the hypervisor steals 70.0 % of the CPU time on the nodes",
           "of two things that all lack, the one they lack most is named");
}

static void rows(void)
{
    struct view_rank_health r;
    struct view_node_health n;
    struct view *v;

    all_well();
    task[3].run_delay_ratio = 0.34f;
    node[1].steal_ratio = NAN;
    v = reported();
    ok(view_rank_health_get(v, 5, 3, &r) && strstr(r.cause, "waited 34.0 %"),
       "the health of a rank names its cause: %s", r.cause);
    ok(view_rank_health_get(v, 5, 2, &r) && !*r.cause && !strcmp(r.figures.cpus, "0-3"),
       "the health of a rank without trouble has no cause");
    ok(isnan(r.follows), "the correlation is unknown without lateness");
    ok(view_node_health_get(v, 5, "node01", &n) && isnan(n.figures.steal_ratio) &&
           near(n.involuntary_per_s, 6, 1e-6) && n.n_gpus == 2,
       "the health of a node keeps unknown figures unknown and sums its ranks' switches");
    ok(!view_node_health_get(v, 5, "leaf0", &n) && !view_node_health_get(v, 5, "x", &n),
       "there is no health of a switch or an unknown node");
    ok(!view_rank_health_get(v, 60, 3, &r) && !view_node_health_get(v, 60, "node01", &n),
       "old figures are not returned");
    view_free(v);
    v = view_new(&params, 0);
    ok(!view_node_health_get(v, 0, "node01", &n), "there is no health of a node before any is reported");
    view_free(v);
}

static void smoothed(void)
{
    struct view_rank_health r;
    struct view *v;

    all_well();
    v = reported();
    task[3].run_delay_ratio = 1;
    view_item(v, 6, &(struct telemetry_item){ .kind = TELEMETRY_TASK, .task = task[3] });
    view_rank_health_get(v, 6, 3, &r);
    ok(near(r.figures.run_delay_ratio, 0.004 + (1 - 0.004) * (1 - exp(-1 / 3.0)), 1e-4),
       "one second has the weight of a third\n%.3f", r.figures.run_delay_ratio);
    task[3].run_delay_ratio = NAN;
    view_item(v, 7, &(struct telemetry_item){ .kind = TELEMETRY_TASK, .task = task[3] });
    view_rank_health_get(v, 7, 3, &r);
    ok(isnan(r.figures.run_delay_ratio), "a figure that is no longer reported is unknown");
    view_free(v);
}

static void refused(void)
{
    struct telemetry_item bad[] = {
        { .kind = TELEMETRY_TASK, .task = { .rank = 1, .run_delay_ratio = -1 } },
        { .kind = TELEMETRY_TASK, .task = { .rank = 1, .cpu_ratio = INFINITY } },
        { .kind = TELEMETRY_TASK, .task = { .rank = 99 } },
        { .kind = TELEMETRY_NODE, .node = { .rank = 99 } },
        { .kind = TELEMETRY_NODE, .node = { .steal_ratio = 1e9f } },
        { .kind = TELEMETRY_GPU, .gpu = { .index = VIEW_GPUS_MAX } },
        { .kind = TELEMETRY_GPU, .gpu = { .power_w = -3 } },
        { .kind = TELEMETRY_GPU_STATE, .gpu_state = { .index = VIEW_GPUS_MAX } },
        { .kind = TELEMETRY_GPU_STATE, .gpu_state = { .clock_mhz = INFINITY } },
    };
    struct telemetry_item odd = { .kind = TELEMETRY_TASK, .task = { .cpus = "1\x1b[2J" } };
    struct view_rank_health r;
    struct view_figures f;
    struct view *v;

    all_well();
    v = reported();
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        view_item(v, 6, &bad[i]);
    view_figures_get(v, 6, &f);
    is_int((long long)f.refused, ARRAY_SIZE(bad), "impossible figures are rejected and counted");
    view_item(v, 6, &odd);
    view_rank_health_get(v, 6, 0, &r);
    is_str(r.figures.cpus, "1?[2J", "texts are made printable");
    view_free(v);
}

/* A rank whose lateness comes and goes with its run delay. */
static void follows(void)
{
    struct view_rank_health r;
    struct view *v;

    all_well();
    v = reported();
    for (int s = 6; s < 40; s++) { /* two columns of history each: lateness is of the newest two */
        bool bad = s / 3 % 2;
        const float stay_s[] = { 0.1f, bad ? 0.08f : 0.099f };
        const struct joined joined = {
            .n = 1, .stay_max_s = stay_s[0], .rank = (const uint32_t[]){ 0, 3 }, .stay_s = stay_s, .slots = 2
        };

        view_tick(v, 2 * s);
        columns_take_joined(v->columns, &joined, false);
        task[3].run_delay_ratio = bad ? 0.4f : 0.01f;
        view_item(v, 2 * s, &(struct telemetry_item){ .kind = TELEMETRY_TASK, .task = task[3] });
    }
    ok(view_rank_health_get(v, 79, 3, &r) && r.follows > 0.99, "the correlation is above 0.99\n%.2f",
       r.follows);
    view_free(v);
}

int main(void)
{
    scores();
    median_and_mad();
    any_order();
    causes();
    common_causes();
    rows();
    smoothed();
    refused();
    follows();
    return done_testing();
}
