/* simjob - the agents of a job that does not exist: nodes, ranks, steps, one slower rank, in real time; or of
 * --jobs of them, with nodes of their own. For tests and benchmarks of the controller and the terminals; the
 * telemetry goes the real way (link, batches). The step ends after --seconds, or earlier at SIGUSR1: a test
 * whose job has to last until something was seen does not guess how long that takes. */
#include <event2/event.h>
#include <getopt.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/hosts.h"
#include "common/xalloc.h"
#include "ring/ring.h"
#include "sampling/flow.h"
#include "tests/ends.h"
#include "wire/link.h"
#include "wire/telemetry.h"

#define WORLD   0x5797c03d7ab1e001u
#define SEND_S  0.1
#define NODE_W  100.0 /* what a node uses */
#define STATS_S 1.0
/* between the starts of jobs: a controller bounds how fast an address connects */
#define START_S 0.1
#define LAST_S  60.0 /* for what a slow controller has not taken when the step ends */

static struct {
    unsigned uid, jobs, nodes, per_node, job, restarts, slow_rank, messages;
    int own_addresses, gpus;
    double step_s, factor, slow_after_s, seconds, noise, health_s;
    const char *hosts, *munge, *user, *partition;
    const char *endured; /* signals, as in proc(5); NULL: they are not reported */
} o = {
    0, 1, 8, 1, 4242, 0, UINT32_MAX, 0, 0, 0, 0.1, 1.2, 5, 20, 0.03, 1, "127.0.0.1", NULL, "sim", "", NULL
};

struct job {
    unsigned number;
    struct node *node;
    struct flow **flow;
    double *now_s; /* true time of each rank */
    bool *missing; /* calls of each rank were not asked for */
    uint32_t seq;
};

struct node {
    struct job *job;
    unsigned index, place; /* in its job; among all nodes */
    struct link *link;
    struct link_end end;
    bool up, tried;
    unsigned failures;
    double retry_at_s;
    double open_s, period_s; /* of the calls that are asked for */
    uint64_t batch;
    struct telemetry_writer w;
    uint8_t data[TELEMETRY_BATCH_MAX];
};

static struct job *job;
static struct event_base *base;
static double begin_s, stats_at_s, health_at_s;

static double clock_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double gauss(void)
{
    double sum = 0;

    for (int i = 0; i < 12; i++)
        sum += drand48();
    return sum - 6;
}

static void send_batch(struct node *n)
{
    if (n->w.items && n->up) {
        size_t bytes = telemetry_end(&n->w, ++n->batch, (uint64_t)(clock_s() * 1e9));

        link_send(n->link, LINK_TELEMETRY, n->data, bytes);
    }
    telemetry_begin(&n->w, n->data, sizeof(n->data));
}

static void put(const struct telemetry_item *item, void *arg)
{
    struct node *n = arg;

    if (telemetry_put(&n->w, item) == 0)
        return;
    send_batch(n);
    telemetry_put(&n->w, item);
}

static void on_up(struct link *l, void *arg)
{
    struct node *n = arg;
    char name[32], switch_name[32], switches[64], instance[32];
    json_t *ranks = json_array();

    (void)l;
    snprintf(name, sizeof(name), "sim%u", n->place);
    snprintf(switch_name, sizeof(switch_name), "leaf%u", n->place / 4);
    snprintf(switches, sizeof(switches), "core.spine%u.%s", n->place / 16, switch_name);
    snprintf(instance, sizeof(instance), "%x", n->place + 1);
    n->up = true;
    n->failures = 0;
    test_send_json(
        n->link,
        json_pack(
            "{s:s,s:s,s:s,s:i,s:i,s:i,s:i,s:s,s:s,s:s,s:s,s:s,s:s,s:i,s:i,s:i,s:s,s:{s:s,s:b,s:f,s:f},s:i}",
            "hello", "agent", "version", PACKAGE_VERSION, "agent", instance, "job", (int)n->job->number,
            "step", 0, "restarts", (int)o.restarts, "uid", (int)o.uid, "user", o.user, "partition",
            o.partition, "name", "simulated", "node", name, "switch", switch_name, "switches", switches,
            "node_index", (int)n->index, "nodes", (int)o.nodes, "tasks", (int)(o.nodes * o.per_node),
            "policy", "balanced", "placement", "pattern", "groups:8", "applied", 0, "slurm_s", 0.04,
            "chosen_s", 0.02, "first_batch", (int)n->batch + 1));
    for (unsigned i = 0; i < o.per_node; i++) {
        unsigned r = n->index * o.per_node + i;

        if (o.messages)
            put(&(struct telemetry_item){ .kind = TELEMETRY_COUNTS, .counts = { .rank = r, .p2p_calls = 1 } },
                n);
        json_array_append_new(ranks, json_pack("{s:i,s:i,s:i,s:s,s:s}", "rank", (int)r, "app", 0,
                                               "world_size", (int)(o.nodes * o.per_node), "program", "simjob",
                                               "state", "running"));
        put(&(struct telemetry_item){ .kind = TELEMETRY_COMM,
                                      .comm = { .rank = r,
                                                .name = WORLD,
                                                .membership = 1,
                                                .size = o.nodes * o.per_node,
                                                .comm_rank = r,
                                                .last = o.nodes * o.per_node - 1 } },
            n);
    }
    test_send_json(n->link, json_pack("{s:o}", "ranks", ranks));
}

static void on_frame(struct link *l, enum link_frame type, const void *data, size_t bytes, void *arg)
{
    struct node *n = arg;
    json_t *said = type == LINK_JSON ? json_loadb(data, bytes, 0, NULL) : NULL, *control;

    (void)l;
    control = json_object_get(said, "control");
    for (unsigned i = 0; json_is_object(control) && i < o.per_node; i++)
        flow_control(n->job->flow[n->index * o.per_node + i],
                     json_number_value(json_object_get(control, "rate_hz")), false);
    if (control) {
        const json_t *calls = json_object_get(control, "calls");

        n->open_s = json_number_value(json_object_get(calls, "open_s"));
        n->period_s = json_number_value(json_object_get(calls, "period_s"));
    }
    json_decref(said);
}

static void on_down(struct link *l, const char *why, void *arg)
{
    struct node *n = arg;

    (void)l;
    if (n->up || !n->tried)
        fprintf(stderr, "simjob: node %u: %s\n", n->place, why);
    n->tried = true;
    n->up = false;
    n->link = NULL;
    n->retry_at_s = clock_s() + hosts_retry_s(++n->failures, 1, drand48());
}

static const struct link_events events = { .up = on_up, .frame = on_frame, .down = on_down };

/* A moment of a rank as its node shows it. */
static uint64_t shown_ns(unsigned rank, double s)
{
    return (uint64_t)((s + 1e4 * (rank / o.per_node) + 1) * 1e9);
}

static void put_call(const struct job *j, unsigned rank, struct call c, double enter_s, double leave_s)
{
    struct node *n = &j->node[rank / o.per_node];
    bool asked = n->open_s > 0 && (n->open_s >= n->period_s || fmod(leave_s, n->period_s) < n->open_s);

    c.rank = rank;
    if (asked && j->missing[rank])
        put(&(struct telemetry_item){ .kind = TELEMETRY_CALL, .call = { .rank = rank } }, n);
    j->missing[rank] = !asked;
    c.begin_ns = c.enter_ns = shown_ns(rank, enter_s);
    c.leave_ns = shown_ns(rank, leave_s);
    if (asked)
        put(&(struct telemetry_item){ .kind = TELEMETRY_CALL, .call = c }, n);
}

#define STAGES 8u

/* Stages of a pipeline pass messages on before the step's collectives. */
static void pass_messages(struct job *j, bool slow)
{
    unsigned ranks = o.nodes * o.per_node;
    double *sent_s = xcalloc(ranks, sizeof(*sent_s));

    for (unsigned m = 0; m < o.messages; m++)
        for (unsigned r = 0; r < ranks; r++) {
            struct call c = { .op = RING_OP_RECV,
                              .comm = WORLD,
                              .seq = j->seq / 3 * o.messages + m,
                              .tag = 1,
                              .bytes = 1 << 20 };
            double enter_s = j->now_s[r];

            if (r % STAGES) {
                c.peer = r - 1;
                j->now_s[r] = fmax(enter_s, sent_s[r - 1]) + 1e-5;
                put_call(j, r, c, enter_s, j->now_s[r]);
            }
            j->now_s[r] += 0.3 * o.step_s / o.messages * (1 + o.noise * gauss()) *
                           (slow && r == o.slow_rank ? o.factor : 1);
            sent_s[r] = j->now_s[r];
            if (r % STAGES == STAGES - 1 || r + 1 == ranks)
                continue;
            c.op = RING_OP_SEND;
            c.peer = r + 1;
            put_call(j, r, c, j->now_s[r], j->now_s[r] + 2e-6);
            j->now_s[r] += 2e-6;
        }
    free(sent_s);
}

/* A step: two buckets and a loss, each an all-reduce of all ranks. */
static void step(struct job *j)
{
    static const uint64_t buckets[] = { 25 << 20, 5 << 20, 8 };
    unsigned ranks = o.nodes * o.per_node;
    bool slow = j->now_s[0] > o.slow_after_s;

    if (o.messages)
        pass_messages(j, slow);
    for (size_t b = 0; b < 3; b++) {
        double *enter = xcalloc(ranks, sizeof(*enter)), last = 0;

        for (unsigned r = 0; r < ranks; r++) {
            double work = o.step_s * (b || o.messages ? 0.2 : 0.5) * (1 + o.noise * gauss());

            enter[r] = j->now_s[r] + work * (slow && r == o.slow_rank ? o.factor : 1);
            last = fmax(last, enter[r]);
        }
        for (unsigned r = 0; r < ranks; r++) {
            double leave = last + 0.02 * o.step_s + 1e-5 * drand48();
            struct call c = { .enter_ns = shown_ns(r, enter[r]),
                              .leave_ns = shown_ns(r, leave),
                              .comm = WORLD,
                              .bytes = buckets[b],
                              .seq = j->seq,
                              .root = -1,
                              .op = RING_OP_ALLREDUCE };

            put_call(j, r, c, enter[r], leave);
            flow_call(j->flow[r], &c, ranks, 0, put, &j->node[r / o.per_node]);
            j->now_s[r] = leave;
        }
        j->seq++;
        free(enter);
    }
}

/* A rank's GPU: that of the slow one is held down for its temperature. */
static void tell_gpu(struct node *n, unsigned place, bool late)
{
    struct telemetry_item item = { .kind = TELEMETRY_GPU,
                                   .gpu = { .rank = n->index * o.per_node,
                                            .index = (uint16_t)place,
                                            .throttle = late ? 0x40 : 0,
                                            .clock_ratio = late ? 1110 / 1980.0f : 0.98f,
                                            .temperature_c = late ? 91 : 60,
                                            .power_w = 400,
                                            .busy_ratio = 1 } };

    put(&item, n);
    item = (struct telemetry_item){ .kind = TELEMETRY_GPU_STATE,
                                    .gpu_state = { .rank = n->index * o.per_node,
                                                   .index = (uint16_t)place,
                                                   .clock_mhz = late ? 1110 : 1940,
                                                   .clock_max_mhz = 1980,
                                                   .uncorrected = late ? 2 : 0 } };
    put(&item, n);
}

/* The slow rank is slow because another process uses its CPU; values that nodes mostly cannot measure are
 * left out. */
static void tell_health(struct node *n, bool slow)
{
    struct telemetry_item item = { .kind = TELEMETRY_NODE,
                                   .node = { .rank = n->index * o.per_node,
                                             .cpus = 64,
                                             .run_queue = (float)o.per_node,
                                             .busy_ratio = 0.5f,
                                             .frequency_hz = 3.1e9f,
                                             .frequency_ratio = 0.8f,
                                             .throttled_per_s = NAN,
                                             .quota_ratio = NAN } };

    put(&item, n);
    for (unsigned r = n->index * o.per_node; r < (n->index + 1) * o.per_node; r++) {
        bool slowest = slow && r == o.slow_rank, late = slowest && !o.gpus;
        unsigned place = r - n->index * o.per_node;

        item =
            (struct telemetry_item){ .kind = TELEMETRY_TASK,
                                     .task = { .rank = r,
                                               .cpu = 3,
                                               .n_cpus = 1,
                                               .numa = 0,
                                               .nic_numa = -1,
                                               .gpu = o.gpus ? (int16_t)place : -1,
                                               .gpu_numa = -1,
                                               .run_delay_ratio = late ? (float)(1 - 1 / o.factor) : 0.004f,
                                               .cpu_ratio = 0.75f,
                                               .foreign_ratio = late ? 0.5f : 0.01f,
                                               .involuntary_per_s = late ? 250 : 3,
                                               .voluntary_per_s = 10,
                                               .cpus = "3" } };
        put(&item, n);
        if (o.gpus)
            tell_gpu(n, place, slowest);
        item = (struct telemetry_item){ .kind = TELEMETRY_SIGNALS, .signals = { .rank = r } };
        if (o.endured) {
            item.signals.endured = strtoull(o.endured, NULL, 16);
            put(&item, n);
        }
    }
}

/* As the agent of its step, for which this process vouches. */
static void present(struct node *n)
{
    char name[24], ranks[32];
    struct test_step step = { .uid = o.uid,
                              .job = n->job->number,
                              .tasks = o.nodes * o.per_node,
                              .nodes = o.nodes,
                              .node = name,
                              .ranks = ranks };

    snprintf(name, sizeof(name), "sim%u", n->place);
    snprintf(ranks, sizeof(ranks), "%u-%u", n->index * o.per_node, (n->index + 1) * o.per_node - 1);
    n->end.munge_socket = o.munge;
    n->end.identity = test_step_identity(o.munge, &step);
}

/* With addresses of its own each node reaches the controller at another of this host's, which the kernel then
 * uses as the connection's source too: 10.66.0.1, 10.66.0.2 and so on. */
static int connect_node(struct node *n, struct err *err)
{
    unsigned at = n->place + 1;
    char host[64];

    snprintf(host, sizeof(host), "10.66.%u.%u%s", at >> 8, at & 255,
             strchr(o.hosts, ':') ? strrchr(o.hosts, ':') : "");
    n->link = link_connect(base, o.own_addresses ? host : o.hosts, 0, &n->end, &events, n, err);
    return n->link ? 0 : -1;
}

/* A controller that was restarted is found again, as an agent would; what happened meanwhile is lost. */
static void connect_when_due(struct node *n)
{
    struct err err;

    if (!n->link && clock_s() >= n->retry_at_s && connect_node(n, &err) < 0)
        fprintf(stderr, "simjob: node %u: %s\n", n->place, err.text);
}

static void on_end(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what, (void)arg;
    o.seconds = fmin(o.seconds, clock_s() - begin_s);
}

static void tick_job(struct job *j, double t, bool stats, bool health, size_t *pending_bytes)
{
    while (j->now_s[0] < t)
        step(j);
    for (unsigned i = 0; i < o.nodes; i++) {
        struct node *n = &j->node[i];

        if (health)
            tell_health(n, t > o.slow_after_s);
        *pending_bytes += n->up ? link_pending_bytes(n->link) : 0; /* of the tick before */
        if (t < o.seconds)
            connect_when_due(n);
        if (n->up && stats)
            test_send_json(n->link, json_pack("{s:{s:f,s:f,s:f}}", "agent_stats", "cpu_s", 0.0, "wall_s", t,
                                              "energy_j", t * NODE_W));
        if (t > o.seconds && n->up)
            test_send_json(n->link, json_pack("{s:s}", "bye", "step ended"));
        send_batch(n);
    }
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    double t = clock_s() - begin_s;
    bool stats = t > stats_at_s, health = t > health_at_s;
    size_t pending_bytes = 0;

    (void)fd, (void)what, (void)arg;
    stats_at_s += stats ? STATS_S : 0;
    health_at_s += health ? o.health_s : 0;
    for (unsigned i = 0; i < o.jobs; i++)
        tick_job(&job[i], t, stats || t > o.seconds, health, &pending_bytes);
    if (t > o.seconds + 0.5 && (!pending_bytes || t > o.seconds + LAST_S))
        event_base_loopbreak(base);
}

/* Jobs begin one after the other, and their steps are spread over a step's time. */
static void begin_job(unsigned number)
{
    struct job *j = &job[number];
    unsigned ranks = o.nodes * o.per_node;

    *j = (struct job){ .number = o.job + number,
                       .node = xcalloc(o.nodes, sizeof(*j->node)),
                       .flow = xcalloc(ranks, sizeof(struct flow *)),
                       .now_s = xcalloc(ranks, sizeof(*j->now_s)),
                       .missing = xcalloc(ranks, sizeof(*j->missing)) };
    for (unsigned r = 0; r < ranks; r++) {
        j->flow[r] = flow_new(r, 0, 50);
        j->now_s[r] = o.step_s * number / o.jobs;
    }
    for (unsigned i = 0; i < o.nodes; i++) {
        struct node *n = &j->node[i];

        n->job = j;
        n->index = i;
        n->place = number * o.nodes + i;
        present(n);
        telemetry_begin(&n->w, n->data, sizeof(n->data));
        n->retry_at_s = begin_s + START_S * number;
    }
}

static const struct option longs[] = {
    { "nodes", 1, 0, 'n' },
    { "per-node", 1, 0, 'p' },
    { "job", 1, 0, 'j' },
    { "jobs", 1, 0, 'J' }, /* numbers from --job on */
    { "restarts", 1, 0, 't' },
    { "slow-rank", 1, 0, 'r' },
    { "step", 1, 0, 's' },
    { "factor", 1, 0, 'f' },
    { "slow-after", 1, 0, 'a' },
    { "seconds", 1, 0, 'd' },
    { "controller", 1, 0, 'c' },
    { "munge-socket", 1, 0, 'm' },
    { "messages", 1, 0, 'M' },
    { "health", 1, 0, 'H' }, /* seconds between what nodes report of their health */
    { "uid", 1, 0, 'u' },    /* vouch for a step of this user's */
    { "own-addresses", 0, &o.own_addresses, 1 },
    { "gpus", 0, &o.gpus, 1 }, /* each rank has one, and the slow rank is slow because of its */
    { "user", 1, 0, 'U' },     /* claim this name */
    { "partition", 1, 0, 'P' },
    { "endured", 1, 0, 'E' },
    { 0 },
};

int main(int argc, char **argv)
{
    struct timeval every = { 0, (long)(SEND_S * 1e6) };
    struct event *tick;
    int c;

    o.uid = getuid();
    while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
        switch (c) {
        case 'n':
            o.nodes = (unsigned)atoi(optarg);
            break;
        case 'p':
            o.per_node = (unsigned)atoi(optarg);
            break;
        case 'j':
            o.job = (unsigned)atoi(optarg);
            break;
        case 'J':
            o.jobs = (unsigned)atoi(optarg);
            break;
        case 'H':
            o.health_s = atof(optarg);
            break;
        case 't':
            o.restarts = (unsigned)atoi(optarg);
            break;
        case 'r':
            o.slow_rank = (unsigned)atoi(optarg);
            break;
        case 's':
            o.step_s = atof(optarg);
            break;
        case 'f':
            o.factor = atof(optarg);
            break;
        case 'a':
            o.slow_after_s = atof(optarg);
            break;
        case 'd':
            o.seconds = atof(optarg);
            break;
        case 'c':
            o.hosts = optarg;
            break;
        case 'u':
            o.uid = (unsigned)atoi(optarg);
            break;
        case 'U':
            o.user = optarg;
            break;
        case 'P':
            o.partition = optarg;
            break;
        case 'E':
            o.endured = optarg;
            break;
        case 'M':
            o.messages = (unsigned)atoi(optarg);
            break;
        case 'm':
            o.munge = optarg;
            break;
        case 0:
            break;
        default:
            return 2;
        }
    }
    base = event_base_new();
    job = xcalloc(o.jobs, sizeof(*job));
    begin_s = clock_s();
    for (unsigned i = 0; i < o.jobs; i++)
        begin_job(i);
    tick = event_new(base, -1, EV_PERSIST, on_tick, NULL);
    event_add(tick, &every);
    event_add(evsignal_new(base, SIGUSR1, on_end, NULL), NULL);
    event_base_dispatch(base);
    return 0;
}
