#include "sim/scenario.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/conf.h"
#include "common/xalloc.h"
#include "network/network.h"

static const char *const placements[] = { "contiguous", "round-robin", "shuffled", NULL };
static const char *const syncs[] = { "synchronous", "staleness", "local", "asynchronous", NULL };
static const char *const pacings[] = { "none", "delay", "gate", "auto", NULL };
static const char *const scopes[] = { "rank", "node", "switch", "job", "link", "loss", NULL };
static const char *const shapes[] = { "normal", "lognormal", "gamma", NULL };
static const char *const fault_kinds[] = { "slow", "drift", "link", "latency", "stall", "death", NULL };
static const char *const gate_kinds[] = { "node", "switch", NULL };
static const char *const cadences[] = { "fixed", "young", "daly", "exact", NULL };
static const char *const clocks[] = { "perfect", "own", NULL };
static const char *const yes_no[] = { "no", "yes", NULL };
static const char *const fabrics[] = { "flat", "leafspine", "fattree", NULL };

#define RUN(field)        KEY_AT(scenario, field)
#define FABRIC(field)     KEY_AT(scenario_fabric, field)
#define OF_JOB(field)     KEY_AT(scenario_job, field)
#define NOISE(field)      KEY_AT(scenario_noise, field)
#define FAULT(field)      KEY_AT(scenario_fault, field)
#define GATE(field)       KEY_AT(scenario_gate, field)
#define POLICY(field)     KEY_AT(scenario_policy, field)
#define CHECKPOINT(field) KEY_AT(scenario_checkpoint, field)

static const struct key run_keys[] = {
    { "Run", RUN(name), VALUE(VALUE_NAME), NULL, "Name of the run." },
    { "Description", RUN(text), VALUE(VALUE_TEXT), "", "What the run shows, in one sentence." },
    { "Seed", RUN(seed), VALUE_RANGE(VALUE_INTEGER, 0, 2147483647), "1",
      "Seed of all random numbers; runs with the same seed are identical." },
    { "Network", RUN(network), VALUE_ONE_OF(network_modes), "auto",
      "How collectives of a single job are simulated: by rounds, by rounds with the times of one exact run "
      "(sampled), message by message (exact), or chosen by the need (auto); several jobs are always exact." },
    { "Clocks", RUN(clocks), VALUE_ONE_OF(clocks), "perfect",
      "Clocks of the nodes in traces: one for all, or one per node, hours apart and up to 50 ppm fast or slow." },
    { "Lost", RUN(lost_ratio), VALUE_RANGE(VALUE_RATIO, 0, 1), "0",
      "Share of a trace's records that are omitted at random, as full rings drop some." },
    { 0 },
};
KEYS_FIT(run_keys);

static const struct key fabric_keys[] = {
    { "Fabric", FABRIC(kind), VALUE_ONE_OF(fabrics), NULL,
      "Topology: one non-blocking switch; leaf switches connected by spine switches; or pods of these, "
      "connected by top switches." },
    { "Nodes", FABRIC(nodes), VALUE_RANGE(VALUE_INTEGER, 1, SCENARIO_NODES_MAX), NULL,
      "Total number of nodes." },
    { "NodesPerSwitch", FABRIC(nodes_per_switch), VALUE_RANGE(VALUE_INTEGER, 1, 4096), "16",
      "leafspine, fattree: nodes below one leaf." },
    { "Spines", FABRIC(spines), VALUE_RANGE(VALUE_INTEGER, 1, 4096), "8",
      "leafspine: spine switches, fattree: of each pod; each leaf has one cable to each." },
    { "Rails", FABRIC(rails), VALUE_RANGE(VALUE_INTEGER, 1, 64), "1",
      "Links of each node; its ranks use them in turn." },
    { "Link", FABRIC(link_bytes_per_s), VALUE_RANGE(VALUE_RATE, 1e3, 1e14), "25GB/s",
      "Bandwidth of a node's link, each way." },
    { "Uplink", FABRIC(uplink_bytes_per_s), VALUE_RANGE(VALUE_RATE, 1e3, 1e14), "25GB/s",
      "leafspine, fattree: bandwidth of a cable between leaf and spine, each way." },
    { "LeavesPerPod", FABRIC(leaves_per_pod), VALUE_RANGE(VALUE_INTEGER, 1, 4096), "8",
      "fattree: leaves of a pod, which share its spines." },
    { "TopCables", FABRIC(top_cables), VALUE_RANGE(VALUE_INTEGER, 1, 4096), "8",
      "fattree: cables from a spine to the top, each to a switch of its own." },
    { "TopLink", FABRIC(top_bytes_per_s), VALUE_RANGE(VALUE_RATE, 1e3, 1e14), "25GB/s",
      "fattree: bandwidth of a cable between spine and top, each way." },
    { "Latency", FABRIC(latency_s), VALUE_RANGE(VALUE_SECONDS, 0, 1), "1us",
      "Latency of a cable, including the switch." },
    { "Local", FABRIC(local_bytes_per_s), VALUE_RANGE(VALUE_RATE, 1e3, 1e15), "200GB/s",
      "Bandwidth of a rank inside its node." },
    { "LocalLatency", FABRIC(local_latency_s), VALUE_RANGE(VALUE_SECONDS, 0, 1), "500ns",
      "Latency between ranks of a node." },
    { "Buffer", FABRIC(buffer), VALUE_RANGE(VALUE_INTEGER, 0, 1000000), "8",
      "Maximum number of messages that leave a switch by one port at the same time without loss." },
    { "Loss", FABRIC(loss), VALUE_RANGE(VALUE_RATIO, 0, 1000), "0",
      "Share of each message beyond Buffer that is dropped and sent again; 0: switches are lossless." },
    { 0 },
};
KEYS_FIT(fabric_keys);

static const struct key job_keys[] = {
    { "Job", OF_JOB(name), VALUE(VALUE_NAME), NULL, "Name of the job." },
    { "Ranks", OF_JOB(ranks), VALUE_RANGE(VALUE_INTEGER, 1, SCENARIO_RANKS_MAX), NULL,
      "Total number of ranks." },
    { "RanksPerNode", OF_JOB(ranks_per_node), VALUE_RANGE(VALUE_INTEGER, 1, SCENARIO_NODE_RANKS_MAX), "8",
      "Ranks on each node." },
    { "FirstNode", OF_JOB(first_node), VALUE_RANGE(VALUE_INTEGER, 0, SCENARIO_NODES_MAX - 1), "0",
      "First node of the job." },
    { "NodeStride", OF_JOB(node_stride), VALUE_RANGE(VALUE_INTEGER, 1, SCENARIO_NODES_MAX), "1",
      "Distance from one node of the job to the next: 2 leaves every other node to other jobs." },
    { "Placement", OF_JOB(placement), VALUE_ONE_OF(placements), "contiguous",
      "Placement of ranks on nodes: neighbours together, round-robin, or random." },
    { "Steps", OF_JOB(steps), VALUE_RANGE(VALUE_INTEGER, 1, SCENARIO_STEPS_MAX), "100", "Number of steps." },
    { "Start", OF_JOB(start_s), VALUE_RANGE(VALUE_SECONDS, 0, 1e9), "0s", "Time at which the job begins." },
    { "Compute", OF_JOB(compute_s), VALUE_RANGE(VALUE_SECONDS, 0, 86400), "100ms",
      "A rank's own work in a step, before noise." },
    { "Forward", OF_JOB(forward_ratio), VALUE_RANGE(VALUE_RATIO, 0, 1), "0.4",
      "Share of the work before the first part of the backward pass." },
    { "Buckets", OF_JOB(buckets), VALUE_RANGE(VALUE_INTEGER, 1, SCENARIO_BUCKETS_MAX), "4",
      "Parts of the backward pass; each ends with a collective." },
    { "Bytes", OF_JOB(bytes), VALUE_RANGE(VALUE_BYTES, 0, 1e13), "100MB",
      "Gradient that a rank exchanges in a step." },
    { "LastBucket", OF_JOB(last_ratio), VALUE_RANGE(VALUE_RATIO, 0.001, 1), "1",
      "Size of the last part over that of the others." },
    { "Algorithm", OF_JOB(algorithm), VALUE_ONE_OF(schedule_algorithms), "ring",
      "Algorithm of the collectives." },
    { "Overlap", OF_JOB(overlap), VALUE_ONE_OF(yes_no), "no",
      "Do collectives run while the backward pass goes on?" },
    { "Inner", OF_JOB(inner), VALUE_RANGE(VALUE_INTEGER, 0, 16), "0",
      "Collectives inside each node in a step, in the forward pass." },
    { "InnerBytes", OF_JOB(inner_bytes), VALUE_RANGE(VALUE_BYTES, 0, 1e12), "1MiB",
      "Size of each of these collectives." },
    { "Cores", OF_JOB(cores), VALUE_RANGE(VALUE_INTEGER, 0, 4096), "0",
      "Cores that the ranks of a node share, including waiting ranks; 0: every rank has its own." },
    { "Wake", OF_JOB(wake_s), VALUE_RANGE(VALUE_SECONDS, 0, 1), "20us",
      "Time until a rank that yielded its core runs again." },
    { "Sync", OF_JOB(sync), VALUE_ONE_OF(syncs), "synchronous",
      "How ranks synchronise: at every collective, within Staleness steps, every Every steps, or not at "
      "all (through a parameter server)." },
    { "Staleness", OF_JOB(staleness), VALUE_RANGE(VALUE_INTEGER, 0, SCENARIO_STALENESS_MAX), "1",
      "Steps that a rank may be ahead of the slowest, with Sync=staleness." },
    { "Every", OF_JOB(every), VALUE_RANGE(VALUE_INTEGER, 1, 1000000), "8",
      "Steps between collectives, with Sync=local." },
    { "Servers", OF_JOB(servers), VALUE_RANGE(VALUE_INTEGER, 1, 65536), "1",
      "Parameter servers, each with a node's link, with Algorithm=server or Sync=asynchronous." },
    { "Pacing", OF_JOB(pacing), VALUE_ONE_OF(pacings), "none",
      "What early ranks do: nothing, sleep before they enter, or yield their core to late ranks of their node; "
      "auto: whichever of PaceLevers proves to help on the node, as in live jobs; release and gate both yield "
      "the core here. PaceMaxDelay and PaceShare bound a sleep." },
    CONFIG_PACING_KEYS(scenario_job),
    { "Samples", OF_JOB(samples), VALUE_RANGE(VALUE_NUMBER, 0, 1e9), "1",
      "Training samples per rank and step." },
    { 0 },
};
KEYS_FIT(job_keys);

static const struct key noise_keys[] = {
    { "Noise", NOISE(scope), VALUE_ONE_OF(scopes), NULL,
      "Scope that shares the noise: a rank, a node, a switch, or the whole job; link: the time on a link varies "
      "because of other traffic (its bandwidth is then the mean share); loss: the factor on the fabric's Loss "
      "varies." },
    { "Job", NOISE(of), VALUE(VALUE_NAME), "", "The job; by default the first one." },
    { "Node", NOISE(node), VALUE_RANGE(VALUE_INTEGER, 0, SCENARIO_NODES_MAX - 1), "",
      "link: the node whose link is affected." },
    { "Switch", NOISE(where_switch), VALUE_RANGE(VALUE_INTEGER, 0, SCENARIO_NODES_MAX - 1), "",
      "link: the leaf switch whose uplinks are affected." },
    { "Cv", NOISE(cv), VALUE_RANGE(VALUE_RATIO, 0, 10), "0",
      "Standard deviation of the work from step to step, over its mean." },
    { "Shape", NOISE(shape), VALUE_ONE_OF(shapes), "lognormal", "Distribution of the noise." },
    { "Autocorrelation", NOISE(autocorrelation), VALUE_RANGE(VALUE_RATIO, 0, 0.999), "0",
      "Correlation of the deviation in a step with that in the next one." },
    { "Static", NOISE(fixed), VALUE_RANGE(VALUE_RATIO, 0, 1), "0",
      "Standard deviation of lasting differences, over the mean." },
    { "SpikeRate", NOISE(spike_rate), VALUE_RANGE(VALUE_RATIO, 0, 1), "0",
      "Probability of a long delay in a step." },
    { "SpikeMean", NOISE(spike_mean), VALUE_RANGE(VALUE_RATIO, 0, 1000), "0.5",
      "Mean of such a delay over Compute; delays are exponentially distributed." },
    { 0 },
};
KEYS_FIT(noise_keys);

static const struct key fault_keys[] = {
    { "Fault", FAULT(kind), VALUE_ONE_OF(fault_kinds), NULL,
      "Kind of fault: slower work, increasingly slower work, a slower link, more latency, a rank that pauses, or "
      "one that dies." },
    { "Job", FAULT(of), VALUE(VALUE_NAME), "",
      "The job whose steps From and Until count; by default the first one." },
    { "Rank", FAULT(rank), VALUE_RANGE(VALUE_INTEGER, 0, SCENARIO_RANKS_MAX - 1), "", "The affected rank." },
    { "Node", FAULT(node), VALUE_RANGE(VALUE_INTEGER, 0, SCENARIO_NODES_MAX - 1), "",
      "The affected node of the fabric, or its link." },
    { "Switch", FAULT(where_switch), VALUE_RANGE(VALUE_INTEGER, 0, SCENARIO_NODES_MAX - 1), "",
      "The switch whose nodes, or whose uplink, are affected." },
    { "Ratio", FAULT(ratio), VALUE_RANGE(VALUE_RATIO, 0.0001, 1000), "1.2",
      "slow, drift: time over the usual time; link: bandwidth over the usual bandwidth." },
    { "From", FAULT(from), VALUE_RANGE(VALUE_INTEGER, 0, SCENARIO_STEPS_MAX), "0",
      "First step with the fault." },
    { "Until", FAULT(until), VALUE_RANGE(VALUE_INTEGER, 0, SCENARIO_STEPS_MAX), "0",
      "First step without the fault; 0: it stays." },
    { "Over", FAULT(over), VALUE_RANGE(VALUE_INTEGER, 1, SCENARIO_STEPS_MAX), "100",
      "drift: steps until Ratio is reached." },
    { "Every", FAULT(every), VALUE_RANGE(VALUE_INTEGER, 0, SCENARIO_STEPS_MAX), "0",
      "stall: number of steps between two pauses; 0: only one." },
    { "Time", FAULT(time_s), VALUE_RANGE(VALUE_SECONDS, 0, 1e6), "1s",
      "stall: duration; latency: additional latency." },
    { 0 },
};
KEYS_FIT(fault_keys);

static const struct key gate_keys[] = {
    { "Gate", GATE(kind), VALUE_ONE_OF(gate_kinds), NULL,
      "Where messages wait: at a node's links, or at each of a leaf switch's uplinks; outgoing and incoming "
      "messages wait separately." },
    { "Node", GATE(node), VALUE_RANGE(VALUE_INTEGER, 0, SCENARIO_NODES_MAX - 1), "", "The node." },
    { "Switch", GATE(where_switch), VALUE_RANGE(VALUE_INTEGER, 0, SCENARIO_NODES_MAX - 1), "",
      "The leaf switch." },
    { "Limit", GATE(limit), VALUE_RANGE(VALUE_INTEGER, 0, 1000000), "1",
      "Maximum number of messages at a time, first come, first served; 0: any number." },
    { "Gap", GATE(gap_s), VALUE_RANGE(VALUE_SECONDS, 0, 3600), "0s",
      "Minimum time between two admitted messages." },
    { 0 },
};
KEYS_FIT(gate_keys);

static const struct key policy_keys[] = {
    { "Policy", POLICY(of), VALUE(VALUE_NAME), NULL, "The job, one with Pacing=auto." },
    { "From", POLICY(from), VALUE_RANGE(VALUE_INTEGER, 0, SCENARIO_STEPS_MAX), NULL,
      "First step of the policy; it applies until the next policy of the job." },
    { "PaceLevers", POLICY(levers), VALUE_SOME_OF(config_levers), NULL,
      "Levers that may be tried from then on." },
    { 0 },
};
KEYS_FIT(policy_keys);

static const struct key checkpoint_keys[] = {
    { "Checkpoint", CHECKPOINT(of), VALUE(VALUE_NAME), NULL, "The job that writes checkpoints." },
    { "Write", CHECKPOINT(write_s), VALUE_RANGE(VALUE_SECONDS, 0, 1e6), "30s",
      "How long writing one stops the job." },
    { "Restart", CHECKPOINT(restart_s), VALUE_RANGE(VALUE_SECONDS, 0, 1e6), "60s",
      "Time from a failure until the last checkpoint is read and work continues." },
    { "Cadence", CHECKPOINT(cadence), VALUE_ONE_OF(cadences), "exact",
      "When to write: every Interval, or after Young, Daly, or the exact optimum for NodeMtbf." },
    { "Interval", CHECKPOINT(interval_s), VALUE_RANGE(VALUE_SECONDS, 0.000001, 1e9), "1h",
      "Time between two checkpoints, with Cadence=fixed." },
    { "NodeMtbf", CHECKPOINT(node_mtbf_s), VALUE_RANGE(VALUE_SECONDS, 0.001, 1e12), "",
      "Mean time between failures of one node; by default nodes do not fail." },
    { 0 },
};
KEYS_FIT(checkpoint_keys);

/* ---- reading ---- */

enum {
    RUN_LINE,
    FABRIC_LINE,
    JOB_LINE,
    NOISE_LINE,
    FAULT_LINE,
    CHECKPOINT_LINE,
    POLICY_LINE,
    GATE_LINE,
    KINDS
};

#define ROWS_MAX 64 /* of any kind */

struct place { /* start of reasons about a line: "FILE:LINE: KEY=VALUE" with its first pair */
    char text[160];
};

struct reading {
    struct scenario *s;
    struct scenario_checkpoint checkpoints[SCENARIO_JOBS_MAX]; /* in the order of their lines */
    size_t n_runs, n_fabrics, n_checkpoints;
    struct rows { /* where the lines of a kind are stored */
        void *first;
        size_t size, max, *n;
    } rows[KINDS];
    struct place place[KINDS][ROWS_MAX];
};

/* ---- checks of one line ---- */

static int check_noise_line(const void *row, const struct conf_line *line, struct err *err)
{
    const struct scenario_noise *n = row;

    if ((n->node >= 0) + (n->where_switch >= 0) != (n->scope == SCOPE_LINK))
        return conf_error(line, &line->pairs[0], err,
                          "Noise=link needs exactly one of Node= and Switch=; other noise has neither");
    if ((n->scope == SCOPE_LINK || n->scope == SCOPE_LOSS) && (n->fixed > 0 || n->spike_rate > 0))
        return conf_error(line, &line->pairs[0], err,
                          "Noise=%s has only Cv=, Shape= and Autocorrelation=", scopes[n->scope]);
    return 0;
}

/* Check that the fault has the place that its kind needs. */
static int check_fault_line(const void *row, const struct conf_line *line, struct err *err)
{
    const struct scenario_fault *f = row;
    bool link = f->kind == FAULT_LINK || f->kind == FAULT_LATENCY;
    int places = (f->rank >= 0) + (f->node >= 0) + (f->where_switch >= 0);

    if (places != 1 || (link && f->rank >= 0))
        return conf_error(line, &line->pairs[0], err, "exactly one of %sNode= and Switch= is expected",
                          link ? "" : "Rank=, ");
    if (f->kind == FAULT_LINK && f->ratio > 1)
        return conf_error(line, &line->pairs[0], err,
                          "Fault=link needs Ratio= of at most 1: the link's bandwidth over the usual");
    if (f->until && f->until <= f->from)
        return conf_error(line, &line->pairs[0], err, "Until= must be a step after From=");
    return 0;
}

static int check_checkpoint_line(const void *row, const struct conf_line *line, struct err *err)
{
    const struct scenario_checkpoint *c = row;

    if (c->cadence != CADENCE_FIXED && isinf(c->node_mtbf_s))
        return conf_error(line, &line->pairs[0], err,
                          "Cadence=%s needs NodeMtbf=; without it use Cadence=fixed", cadences[c->cadence]);
    return 0;
}

static int check_gate_line(const void *row, const struct conf_line *line, struct err *err)
{
    const struct scenario_gate *g = row;

    if ((g->node >= 0) != (g->kind == GATE_NODE) || (g->where_switch >= 0) != (g->kind == GATE_SWITCH))
        return conf_error(line, &line->pairs[0], err, "Gate=node needs Node=, Gate=switch needs Switch=");
    if (!g->limit && g->gap_s <= 0)
        return conf_error(line, &line->pairs[0], err, "Limit=0 needs Gap=");
    return 0;
}

static const struct sort {
    const struct key *keys;
    int (*check)(const void *row, const struct conf_line *line, struct err *err);
    const char *many; /* for "at most 16 ..." */
    const char *text;
} kinds[KINDS] = {
    [RUN_LINE] = { run_keys, NULL, "run", "The run itself (one line)" },
    [FABRIC_LINE] = { fabric_keys, NULL, "fabric", "The network (one line)" },
    [JOB_LINE] = { job_keys, NULL, "jobs", "A job (one line each)" },
    [NOISE_LINE] = { noise_keys, check_noise_line, "lines of noise",
                     "Noise of a job's work (any number of lines; they multiply)" },
    [FAULT_LINE] = { fault_keys, check_fault_line, "faults", "A fault (one line each)" },
    [CHECKPOINT_LINE] = { checkpoint_keys, check_checkpoint_line, "lines of checkpoints",
                          "Checkpoints and failures of a job" },
    [POLICY_LINE] = { policy_keys, NULL, "lines of policies",
                      "A change of the policy of a job with Pacing=auto (one line each)" },
    [GATE_LINE] = { gate_keys, check_gate_line, "gates",
                    "A gate before links that messages share (one line each)" },
};

/* Set the defaults of a row, then the pairs of the line. */
static int load_row(struct reading *r, size_t kind, const struct conf_line *line, struct err *err)
{
    const struct rows *rows = &r->rows[kind];
    const struct sort *sort = &kinds[kind];
    void *row = (char *)rows->first + *rows->n * rows->size;
    char whose[32];

    if (*rows->n == rows->max && rows->max == 1)
        return conf_error(line, &line->pairs[0], err, "only one %s per file", sort->many);
    if (*rows->n == rows->max)
        return conf_error(line, &line->pairs[0], err, "at most %zu %s", rows->max, sort->many);
    snprintf(r->place[kind][*rows->n].text, sizeof(struct place), "%.100s:%u: %s=%s", line->file,
             line->pairs[0].line, line->pairs[0].key, line->pairs[0].value);
    snprintf(whose, sizeof(whose), "a %s line has", sort->keys[0].name);
    key_defaults(sort->keys, row);
    if (key_load(line, 0, sort->keys, whose, row, err) < 0 ||
        (sort->check && sort->check(row, line, err) < 0))
        return -1;
    ++*rows->n;
    return 0;
}

static int load_line(const struct conf_line *line, void *arg, struct err *err)
{
    char names[128] = "";
    size_t at = 0;

    for (size_t i = 0; i < KINDS; i++) {
        if (!strcasecmp(line->pairs[0].key, kinds[i].keys[0].name))
            return load_row(arg, i, line, err);
        at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s=", i ? ", " : "", kinds[i].keys[0].name);
    }
    return conf_error(line, &line->pairs[0], err, "a line begins with %s", names);
}

/* ---- checks that need the whole file ---- */

static int find_job(const struct scenario *s, const char *name)
{
    for (size_t i = 0; i < s->n_jobs; i++) {
        if (!strcasecmp(s->jobs[i].name, name))
            return (int)i;
    }
    return -1;
}

static int resolve_job(const struct scenario *s, const char *name, const struct place *place, int *job,
                       struct err *err)
{
    *job = *name ? find_job(s, name) : 0;
    if (*job < 0)
        return err_set(err, "%s: unknown job \"%s\"", place->text, name);
    return 0;
}

static int resolve_all(struct reading *r, struct err *err)
{
    struct scenario *s = r->s;
    int job;

    for (size_t i = 0; i < s->n_noises; i++) {
        if (resolve_job(s, s->noises[i].of, &r->place[NOISE_LINE][i], &s->noises[i].job, err) < 0)
            return -1;
    }
    for (size_t i = 0; i < s->n_faults; i++) {
        if (resolve_job(s, s->faults[i].of, &r->place[FAULT_LINE][i], &s->faults[i].job, err) < 0)
            return -1;
    }
    for (size_t i = 0; i < s->n_policies; i++) {
        if (resolve_job(s, s->policies[i].of, &r->place[POLICY_LINE][i], &s->policies[i].job, err) < 0)
            return -1;
        if (s->jobs[s->policies[i].job].pacing != PACING_AUTO)
            return err_set(err, "%s: the job needs Pacing=auto", r->place[POLICY_LINE][i].text);
    }
    for (size_t i = 0; i < r->n_checkpoints; i++) {
        if (resolve_job(s, r->checkpoints[i].of, &r->place[CHECKPOINT_LINE][i], &job, err) < 0)
            return -1;
        if (s->checkpoints[job].given)
            return err_set(err, "%s: duplicate checkpoints of this job", r->place[CHECKPOINT_LINE][i].text);
        s->checkpoints[job] = r->checkpoints[i];
        s->checkpoints[job].given = true;
    }
    return 0;
}

int scenario_switches(const struct scenario_fabric *f)
{
    return f->kind == FABRIC_FLAT ? 1 : (f->nodes + f->nodes_per_switch - 1) / f->nodes_per_switch;
}

int scenario_cables(const struct scenario_fabric *f)
{
    return f->kind == FABRIC_FLAT ? 2 : f->kind == FABRIC_LEAFSPINE ? 4 : 6;
}

int scenario_job_nodes(const struct scenario_job *j)
{
    return (j->ranks + j->ranks_per_node - 1) / j->ranks_per_node;
}

int scenario_job_node(const struct scenario_job *j, int n)
{
    return j->first_node + n * j->node_stride;
}

uint32_t scenario_levers(const struct scenario *s, size_t job, uint64_t step)
{
    int since = -1, now = s->jobs[job].pace.levers;

    for (size_t i = 0; i < s->n_policies; i++) {
        const struct scenario_policy *p = &s->policies[i];

        if ((size_t)p->job != job || (uint64_t)p->from > step || p->from < since)
            continue;
        since = p->from;
        now = p->levers;
    }
    return (uint32_t)now;
}

static int check_job(const struct scenario *s, size_t i, const struct place *place, struct err *err)
{
    const struct scenario_job *j = &s->jobs[i];
    int nodes = scenario_job_nodes(j);
    long last = j->first_node + (nodes - 1L) * j->node_stride;

    if (find_job(s, j->name) != (int)i)
        return err_set(err, "%s: duplicate job name", place->text);
    if (last >= s->fabric.nodes)
        return err_set(err, "%s: the last of its %d nodes is node %ld; the fabric has %d nodes", place->text,
                       nodes, last, s->fabric.nodes);
    if (!strncmp(schedule_algorithms[j->algorithm], "hierarchical", 12) &&
        (j->ranks % j->ranks_per_node || j->placement != PLACEMENT_CONTIGUOUS))
        return err_set(err, "%s: Algorithm=%s needs full nodes and Placement=contiguous", place->text,
                       schedule_algorithms[j->algorithm]);
    if (j->servers > j->ranks)
        return err_set(err, "%s: Servers=%d: at most one per rank is accepted", place->text, j->servers);
    if (j->algorithm == SCHEDULE_SERVER && (uint64_t)j->ranks * (uint64_t)j->servers > SCHEDULE_SERVER_MAX)
        return err_set(err, "%s: Servers=%d times Ranks=%d: a product of at most %u is accepted", place->text,
                       j->servers, j->ranks, SCHEDULE_SERVER_MAX);
    if (j->sync == SYNC_ASYNCHRONOUS && (j->overlap || j->inner))
        return err_set(err, "%s: Sync=asynchronous has no collectives: Overlap=no Inner=0 are expected",
                       place->text);
    if (s->n_jobs > 1 && j->inner && j->sync == SYNC_STALENESS)
        return err_set(err, "%s: Inner= with Sync=staleness needs a job that has the fabric to itself",
                       place->text);
    if (s->fabric.rails > j->ranks_per_node)
        return err_set(err, "%s: RanksPerNode=%d is less than the fabric's Rails=%d", place->text,
                       j->ranks_per_node, s->fabric.rails);
    if (j->sync == SYNC_LOCAL && j->inner && j->every > 10000)
        return err_set(err, "%s: with Inner=, Every= must be at most 10000", place->text);
    if (j->sync == SYNC_ASYNCHRONOUS && s->checkpoints[i].given)
        return err_set(err,
                       "%s: Sync=asynchronous has no step that all ranks end, so Checkpoint= is not possible",
                       place->text);
    if (j->sync == SYNC_ASYNCHRONOUS && j->pacing != PACING_NONE)
        return err_set(err, "%s: with Sync=asynchronous nobody waits for others: Pacing=none is expected",
                       place->text);
    if (j->pacing == PACING_GATE && !j->cores)
        return err_set(err, "%s: Pacing=gate needs Cores=", place->text);
    if (j->pacing == PACING_AUTO && (j->overlap || j->sync == SYNC_STALENESS || j->sync == SYNC_ASYNCHRONOUS))
        return err_set(err, "%s: Pacing=auto needs ranks that wait: Overlap=no, Sync=synchronous or local",
                       place->text);
    if (j->cores && (j->overlap || j->sync == SYNC_STALENESS || j->sync == SYNC_ASYNCHRONOUS))
        return err_set(err, "%s: Cores= needs ranks that wait: Overlap=no, Sync=synchronous or local",
                       place->text);
    return 0;
}

/* Whether node and switch (-1: none) are on the fabric; uplinks: the switch must have some. */
static int check_where(const struct scenario *s, int node, int where_switch, bool uplinks,
                       const struct place *place, struct err *err)
{
    int switches = scenario_switches(&s->fabric);

    if (node >= s->fabric.nodes)
        return err_set(err, "%s: Node=%d: a node from 0 to %d", place->text, node, s->fabric.nodes - 1);
    if (where_switch >= 0 && uplinks && s->fabric.kind == FABRIC_FLAT)
        return err_set(err, "%s: Switch=%d: a flat fabric has no uplinks", place->text, where_switch);
    if (where_switch >= switches)
        return err_set(err, "%s: Switch=%d: a switch from 0 to %d", place->text, where_switch, switches - 1);
    return 0;
}

/* Ranks of an asynchronous job are each in a step of their own. */
static int check_noise(const struct scenario *s, const struct scenario_noise *n, const struct place *place,
                       struct err *err)
{
    if (check_where(s, n->node, n->where_switch, true, place, err) < 0)
        return -1;
    if (n->autocorrelation > 0 && n->shape == SHAPE_GAMMA)
        return err_set(err, "%s: Autocorrelation= needs Shape=normal or lognormal", place->text);
    if (n->autocorrelation > 0 && n->scope != SCOPE_RANK && s->jobs[n->job].sync == SYNC_ASYNCHRONOUS)
        return err_set(err, "%s: Autocorrelation= in an asynchronous job needs Noise=rank", place->text);
    if ((n->scope == SCOPE_LINK || n->scope == SCOPE_LOSS) && s->jobs[n->job].sync == SYNC_ASYNCHRONOUS)
        return err_set(err, "%s: an asynchronous job has its servers' links, which no other traffic uses",
                       place->text);
    return 0;
}

static int check_fault(const struct scenario *s, const struct scenario_fault *f, const struct place *place,
                       struct err *err)
{
    if (f->rank >= s->jobs[f->job].ranks)
        return err_set(err, "%s: Rank=%d: a rank of %s from 0 to %d", place->text, f->rank,
                       s->jobs[f->job].name, s->jobs[f->job].ranks - 1);
    if ((f->kind == FAULT_LINK || f->kind == FAULT_LATENCY || f->kind == FAULT_DEATH) &&
        s->jobs[f->job].sync == SYNC_ASYNCHRONOUS)
        return err_set(err, "%s: in an asynchronous job only slow, drift and stall are possible",
                       place->text);
    return check_where(s, f->node, f->where_switch, f->kind == FAULT_LINK || f->kind == FAULT_LATENCY, place,
                       err);
}

static int finish_reading(struct reading *r, const char *name, struct err *err)
{
    const struct scenario *s = r->s;

    if (!r->n_runs)
        return err_set(err, "%s: a line Run=NAME is missing", name);
    if (!r->n_fabrics)
        return err_set(err, "%s: a line Fabric=flat Nodes=... is missing", name);
    if (!s->n_jobs)
        return err_set(err, "%s: a line Job=NAME Ranks=... is missing", name);
    if (resolve_all(r, err) < 0)
        return -1;
    for (size_t i = 0; i < s->n_jobs; i++) {
        if (check_job(s, i, &r->place[JOB_LINE][i], err) < 0)
            return -1;
    }
    for (size_t i = 0; i < s->n_noises; i++) {
        if (check_noise(s, &s->noises[i], &r->place[NOISE_LINE][i], err) < 0)
            return -1;
    }
    for (size_t i = 0; i < s->n_faults; i++) {
        if (check_fault(s, &s->faults[i], &r->place[FAULT_LINE][i], err) < 0)
            return -1;
    }
    for (size_t i = 0; i < s->n_gates; i++) {
        const struct scenario_gate *g = &s->gates[i];

        if (check_where(s, g->node, g->where_switch, true, &r->place[GATE_LINE][i], err) < 0)
            return -1;
    }
    return 0;
}

static int reading_end(struct reading *r, int rc, const char *name, struct err *err)
{
    if (rc == 0)
        rc = finish_reading(r, name, err);
    free(r);
    return rc;
}

static struct reading *reading_begin(struct scenario *s)
{
    struct reading *r = xcalloc(1, sizeof(*r));
    const struct rows rows[KINDS] = {
        [RUN_LINE] = { s, 0, 1, &r->n_runs },
        [FABRIC_LINE] = { &s->fabric, 0, 1, &r->n_fabrics },
        [JOB_LINE] = { s->jobs, sizeof(*s->jobs), SCENARIO_JOBS_MAX, &s->n_jobs },
        [NOISE_LINE] = { s->noises, sizeof(*s->noises), SCENARIO_NOISES_MAX, &s->n_noises },
        [FAULT_LINE] = { s->faults, sizeof(*s->faults), SCENARIO_FAULTS_MAX, &s->n_faults },
        [CHECKPOINT_LINE] = { r->checkpoints, sizeof(*r->checkpoints), SCENARIO_JOBS_MAX, &r->n_checkpoints },
        [POLICY_LINE] = { s->policies, sizeof(*s->policies), SCENARIO_POLICIES_MAX, &s->n_policies },
        [GATE_LINE] = { s->gates, sizeof(*s->gates), SCENARIO_GATES_MAX, &s->n_gates },
    };

    memset(s, 0, sizeof(*s));
    r->s = s;
    memcpy(r->rows, rows, sizeof(rows));
    /* Keys without a default. */
    for (size_t i = 0; i < SCENARIO_NOISES_MAX; i++)
        s->noises[i].node = s->noises[i].where_switch = -1;
    for (size_t i = 0; i < SCENARIO_FAULTS_MAX; i++)
        s->faults[i].rank = s->faults[i].node = s->faults[i].where_switch = -1;
    for (size_t i = 0; i < SCENARIO_GATES_MAX; i++)
        s->gates[i].node = s->gates[i].where_switch = -1;
    for (size_t i = 0; i < SCENARIO_JOBS_MAX; i++)
        r->checkpoints[i].node_mtbf_s = s->checkpoints[i].node_mtbf_s = INFINITY;
    return r;
}

int scenario_parse(struct scenario *s, const char *name, const char *text, size_t bytes, struct err *err)
{
    struct reading *r = reading_begin(s);

    return reading_end(r, conf_parse(name, text, bytes, load_line, r, err), name, err);
}

int scenario_read(struct scenario *s, const char *path, struct err *err)
{
    struct reading *r = reading_begin(s);

    return reading_end(r, conf_read(path, load_line, r, err), path, err);
}

void scenario_print_keys(FILE *out, bool mdoc)
{
    for (size_t i = 0; i < KINDS; i++) {
        fprintf(out, mdoc ? ".Ss %s\n" : "%s:\n", kinds[i].text);
        if (mdoc)
            key_mdoc(out, kinds[i].keys);
        else
            key_print(out, kinds[i].keys, 0);
        fputs(!mdoc && i + 1 < KINDS ? "\n" : "", out);
    }
}
