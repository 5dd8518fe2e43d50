#include "sim/scenario.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/conf.h"
#include "common/xalloc.h"
#include "sim/line.h"

static const char *const placements[] = { "contiguous", "round-robin", "shuffled", NULL };
static const char *const syncs[] = { "synchronous", "staleness", "local", "asynchronous", NULL };
static const char *const pacings[] = { "none", "delay", "gate", "auto", NULL };
/* In the order of PACER_... (pacing/pacer.h). */
static const char *const levers[] = { "release", "gate", "delay", "stagger", NULL };
/* In the order of enum schedule_algorithm: those that can do an all-reduce. */
static const char *const algorithms[] = {
    "ring", "tree", "doubling", "halving", "hierarchical", "hierarchical-halving", "server", NULL
};
static const char *const scopes[] = { "rank", "node", "switch", "job", "link", "loss", NULL };
static const char *const shapes[] = { "normal", "lognormal", "gamma", NULL };
static const char *const fault_kinds[] = { "slow", "drift", "link", "latency", "stall", "death", NULL };
static const char *const gate_kinds[] = { "node", "switch", NULL };
static const char *const cadences[] = { "fixed", "young", "daly", "exact", NULL };
static const char *const clocks[] = { "perfect", "own", NULL };
static const char *const networks[] = { "auto", "rounds", "exact", "sampled", NULL };
static const char *const yes_no[] = { "no", "yes", NULL };
static const char *const fabrics[] = { "flat", "leafspine", "fattree", NULL };

#define RUN(field)        offsetof(struct scenario, field)
#define FABRIC(field)     offsetof(struct scenario_fabric, field)
#define OF_JOB(field)     offsetof(struct scenario_job, field)
#define NOISE(field)      offsetof(struct scenario_noise, field)
#define FAULT(field)      offsetof(struct scenario_fault, field)
#define GATE(field)       offsetof(struct scenario_gate, field)
#define POLICY(field)     offsetof(struct scenario_policy, field)
#define CHECKPOINT(field) offsetof(struct scenario_checkpoint, field)

static const struct line_key run_keys[] = {
    { "Run", LINE_NAME, RUN(name), 0, 0, NULL, "Name of the run.", NULL },
    { "Description", LINE_TEXT, RUN(text), 0, 0, "", "What the run shows, in one sentence.", NULL },
    { "Seed", LINE_INTEGER, RUN(seed), 0, 2147483647, "1",
      "Seed of all random numbers; runs with the same seed are identical.", NULL },
    { "Network", LINE_CHOICE, RUN(network), 0, 0, "auto",
      "How collectives of a lone job are executed: by rounds, by rounds with what an exact run showed "
      "(sampled), message by message (exact), or as it fits; several jobs are always exact.",
      networks },
    { "Clocks", LINE_CHOICE, RUN(clocks), 0, 0, "perfect",
      "Clocks of the nodes in traces: one for all, or one per node, hours apart and up to 50 ppm fast or slow.",
      clocks },
    { "Lost", LINE_RATIO, RUN(lost_ratio), 0, 1, "0",
      "Share of a trace's records that are omitted at random, as full rings drop some.", NULL },
    { NULL, 0, 0, 0, 0, NULL, NULL, NULL },
};

static const struct line_key fabric_keys[] = {
    { "Fabric", LINE_CHOICE, FABRIC(kind), 0, 0, NULL,
      "Topology: one non-blocking switch; leaf switches connected by spine switches; or pods of these, "
      "connected by top switches.",
      fabrics },
    { "Nodes", LINE_INTEGER, FABRIC(nodes), 1, SCENARIO_NODES_MAX, NULL, "Total number of nodes.", NULL },
    { "NodesPerSwitch", LINE_INTEGER, FABRIC(nodes_per_switch), 1, 4096, "16",
      "leafspine, fattree: nodes below one leaf.", NULL },
    { "Spines", LINE_INTEGER, FABRIC(spines), 1, 4096, "8",
      "leafspine: spine switches, fattree: of each pod; each leaf has one cable to each.", NULL },
    { "Rails", LINE_INTEGER, FABRIC(rails), 1, 64, "1", "Links of each node; its ranks use them in turn.",
      NULL },
    { "Link", LINE_RATE, FABRIC(link_bytes_per_s), 1e3, 1e14, "25GB/s",
      "Bandwidth of a node's link, each way.", NULL },
    { "Uplink", LINE_RATE, FABRIC(uplink_bytes_per_s), 1e3, 1e14, "25GB/s",
      "leafspine, fattree: bandwidth of a cable between leaf and spine, each way.", NULL },
    { "LeavesPerPod", LINE_INTEGER, FABRIC(leaves_per_pod), 1, 4096, "8",
      "fattree: leaves of a pod, which share its spines.", NULL },
    { "TopCables", LINE_INTEGER, FABRIC(top_cables), 1, 4096, "8",
      "fattree: cables from a spine to the top, each to a switch of its own.", NULL },
    { "TopLink", LINE_RATE, FABRIC(top_bytes_per_s), 1e3, 1e14, "25GB/s",
      "fattree: bandwidth of a cable between spine and top, each way.", NULL },
    { "Latency", LINE_SECONDS, FABRIC(latency_s), 0, 1, "1us", "Latency of a cable, including the switch.",
      NULL },
    { "Local", LINE_RATE, FABRIC(local_bytes_per_s), 1e3, 1e15, "200GB/s",
      "Bandwidth of a rank inside its node.", NULL },
    { "LocalLatency", LINE_SECONDS, FABRIC(local_latency_s), 0, 1, "500ns",
      "Latency between ranks of a node.", NULL },
    { "Buffer", LINE_INTEGER, FABRIC(buffer), 0, 1000000, "8",
      "Maximum number of messages that leave a switch by one port at the same time without loss.", NULL },
    { "Loss", LINE_RATIO, FABRIC(loss), 0, 1000, "0",
      "Share of each message beyond Buffer that is dropped and sent again; 0: switches are lossless.", NULL },
    { NULL, 0, 0, 0, 0, NULL, NULL, NULL },
};

static const struct line_key job_keys[] = {
    { "Job", LINE_NAME, OF_JOB(name), 0, 0, NULL, "Name of the job.", NULL },
    { "Ranks", LINE_INTEGER, OF_JOB(ranks), 1, SCENARIO_RANKS_MAX, NULL, "Total number of ranks.", NULL },
    { "RanksPerNode", LINE_INTEGER, OF_JOB(ranks_per_node), 1, SCENARIO_NODE_RANKS_MAX, "8",
      "Ranks on each node.", NULL },
    { "FirstNode", LINE_INTEGER, OF_JOB(first_node), 0, SCENARIO_NODES_MAX - 1, "0", "First node of the job.",
      NULL },
    { "NodeStride", LINE_INTEGER, OF_JOB(node_stride), 1, SCENARIO_NODES_MAX, "1",
      "Distance from one node of the job to the next: 2 leaves every other node to other jobs.", NULL },
    { "Placement", LINE_CHOICE, OF_JOB(placement), 0, 0, "contiguous",
      "Placement of ranks on nodes: neighbours together, round-robin, or random.", placements },
    { "Steps", LINE_INTEGER, OF_JOB(steps), 1, SCENARIO_STEPS_MAX, "100", "Number of steps.", NULL },
    { "Start", LINE_SECONDS, OF_JOB(start_s), 0, 1e9, "0s", "Time at which the job begins.", NULL },
    { "Compute", LINE_SECONDS, OF_JOB(compute_s), 0, 86400, "100ms",
      "A rank's own work in a step, before noise.", NULL },
    { "Forward", LINE_RATIO, OF_JOB(forward_ratio), 0, 1, "0.4",
      "Share of the work before the first part of the backward pass.", NULL },
    { "Buckets", LINE_INTEGER, OF_JOB(buckets), 1, SCENARIO_BUCKETS_MAX, "4",
      "Parts of the backward pass; each ends with a collective.", NULL },
    { "Bytes", LINE_BYTES, OF_JOB(bytes), 0, 1e13, "100MB", "Gradient that a rank exchanges in a step.",
      NULL },
    { "LastBucket", LINE_RATIO, OF_JOB(last_ratio), 0.001, 1, "1",
      "Size of the last part over that of the others.", NULL },
    { "Algorithm", LINE_CHOICE, OF_JOB(algorithm), 0, 0, "ring", "Algorithm of the collectives.",
      algorithms },
    { "Overlap", LINE_CHOICE, OF_JOB(overlap), 0, 0, "no",
      "Do collectives run while the backward pass goes on?", yes_no },
    { "Inner", LINE_INTEGER, OF_JOB(inner), 0, 16, "0",
      "Collectives inside each node in a step, in the forward pass.", NULL },
    { "InnerBytes", LINE_BYTES, OF_JOB(inner_bytes), 0, 1e12, "1MiB", "Size of each of these collectives.",
      NULL },
    { "Cores", LINE_INTEGER, OF_JOB(cores), 0, 4096, "0",
      "Cores that the ranks of a node share, including waiting ranks; 0: every rank has its own.", NULL },
    { "Wake", LINE_SECONDS, OF_JOB(wake_s), 0, 1, "20us",
      "Time until a rank that yielded its core runs again.", NULL },
    { "Sync", LINE_CHOICE, OF_JOB(sync), 0, 0, "synchronous",
      "How ranks synchronise: at every collective, within Staleness steps, every Every steps, or not at "
      "all (through a parameter server).",
      syncs },
    { "Staleness", LINE_INTEGER, OF_JOB(staleness), 0, SCENARIO_STALENESS_MAX, "1",
      "Steps that a rank may be ahead of the slowest, with Sync=staleness.", NULL },
    { "Every", LINE_INTEGER, OF_JOB(every), 1, 1000000, "8", "Steps between collectives, with Sync=local.",
      NULL },
    { "Servers", LINE_INTEGER, OF_JOB(servers), 1, 65536, "1",
      "Parameter servers, each with a node's link, with Algorithm=server or Sync=asynchronous.", NULL },
    { "Pacing", LINE_CHOICE, OF_JOB(pacing), 0, 0, "none",
      "What early ranks do: nothing, sleep before they enter, or yield their core to late ranks of their node; "
      "auto: whichever of PaceLevers proves to help on the node, as in live jobs.",
      pacings },
    { "PaceMax", LINE_SECONDS, OF_JOB(pace_max_s), 0, 3600, "10ms", "Maximum duration of a sleep.", NULL },
    { "PaceShare", LINE_RATIO, OF_JOB(pace_share), 0, 1, "0.8",
      "Share of its expected waiting time that a rank sleeps.", NULL },
    { "PaceLevers", LINE_SET, OF_JOB(levers), 0, 0, "release,gate",
      "auto: levers that may be tried, as in syncguard.conf. release: the library yields the core while it "
      "waits; gate: early ranks sleep until the last one of the node arrives; both yield the core here. "
      "delay: a rank sleeps part of the time that it is reliably early by; stagger: ranks of a node enter one after "
      "another.",
      levers },
    { "PaceEpoch", LINE_INTEGER, OF_JOB(pace_epoch), 1, 16, "16",
      "auto: number of consecutive collectives that run with the lever, or without it, where alternating "
      "collectives did not prove an effect.",
      NULL },
    { "PaceHoldout", LINE_INTEGER, OF_JOB(pace_holdout), 2, 12, "12",
      "auto: one epoch in this many runs without the lever in force, to see whether it still helps.", NULL },
    { "Samples", LINE_RATIO, OF_JOB(samples), 0, 1e9, "1", "Training samples per rank and step.", NULL },
    { NULL, 0, 0, 0, 0, NULL, NULL, NULL },
};

static const struct line_key noise_keys[] = {
    { "Noise", LINE_CHOICE, NOISE(scope), 0, 0, NULL,
      "Scope that shares the noise: a rank, a node, a switch, or the whole job; link: the time on a link varies "
      "because of other traffic (its bandwidth is then the mean share); loss: the factor on the fabric's Loss "
      "varies.",
      scopes },
    { "Job", LINE_REFERENCE, NOISE(job), 0, 0, "", "The job; by default the first one.", NULL },
    { "Node", LINE_INTEGER, NOISE(node), 0, SCENARIO_NODES_MAX - 1, "",
      "link: the node whose link is affected.", NULL },
    { "Switch", LINE_INTEGER, NOISE(where_switch), 0, SCENARIO_NODES_MAX - 1, "",
      "link: the leaf switch whose uplinks are affected.", NULL },
    { "Cv", LINE_RATIO, NOISE(cv), 0, 10, "0",
      "Standard deviation of the work from step to step, over its mean.", NULL },
    { "Shape", LINE_CHOICE, NOISE(shape), 0, 0, "lognormal", "Distribution of the noise.", shapes },
    { "Autocorrelation", LINE_RATIO, NOISE(autocorrelation), 0, 0.999, "0",
      "Correlation of the deviation in a step with that in the next one.", NULL },
    { "Static", LINE_RATIO, NOISE(fixed), 0, 1, "0",
      "Standard deviation of lasting differences, over the mean.", NULL },
    { "SpikeRate", LINE_RATIO, NOISE(spike_rate), 0, 1, "0", "Probability of a long delay in a step.", NULL },
    { "SpikeMean", LINE_RATIO, NOISE(spike_mean), 0, 1000, "0.5",
      "Mean of such a delay over Compute; delays are exponentially distributed.", NULL },
    { NULL, 0, 0, 0, 0, NULL, NULL, NULL },
};

static const struct line_key fault_keys[] = {
    { "Fault", LINE_CHOICE, FAULT(kind), 0, 0, NULL,
      "Kind of fault: slower work, increasingly slower work, a slower link, more latency, a rank that pauses, or "
      "one that dies.",
      fault_kinds },
    { "Job", LINE_REFERENCE, FAULT(job), 0, 0, "",
      "The job, whose steps time the fault; by default the first one.", NULL },
    { "Rank", LINE_INTEGER, FAULT(rank), 0, SCENARIO_RANKS_MAX - 1, "", "The affected rank.", NULL },
    { "Node", LINE_INTEGER, FAULT(node), 0, SCENARIO_NODES_MAX - 1, "",
      "The affected node of the fabric, or its link.", NULL },
    { "Switch", LINE_INTEGER, FAULT(where_switch), 0, SCENARIO_NODES_MAX - 1, "",
      "The switch whose nodes, or whose uplink, are affected.", NULL },
    { "Ratio", LINE_RATIO, FAULT(ratio), 0.0001, 1000, "1.2",
      "slow, drift: time over the usual time; link: bandwidth over the usual bandwidth.", NULL },
    { "From", LINE_INTEGER, FAULT(from), 0, SCENARIO_STEPS_MAX, "0", "First step with the fault.", NULL },
    { "Until", LINE_INTEGER, FAULT(until), 0, SCENARIO_STEPS_MAX, "0",
      "First step without the fault; 0: it stays.", NULL },
    { "Over", LINE_INTEGER, FAULT(over), 1, SCENARIO_STEPS_MAX, "100", "drift: steps until Ratio is reached.",
      NULL },
    { "Every", LINE_INTEGER, FAULT(every), 0, SCENARIO_STEPS_MAX, "0",
      "stall: number of steps between two pauses; 0: only one.", NULL },
    { "Time", LINE_SECONDS, FAULT(time_s), 0, 1e6, "1s", "stall: duration; latency: additional latency.",
      NULL },
    { NULL, 0, 0, 0, 0, NULL, NULL, NULL },
};

static const struct line_key gate_keys[] = {
    { "Gate", LINE_CHOICE, GATE(kind), 0, 0, NULL,
      "Where messages wait: at a node's links, or at each of a leaf switch's uplinks; outgoing and incoming "
      "messages wait separately.",
      gate_kinds },
    { "Node", LINE_INTEGER, GATE(node), 0, SCENARIO_NODES_MAX - 1, "", "The node.", NULL },
    { "Switch", LINE_INTEGER, GATE(where_switch), 0, SCENARIO_NODES_MAX - 1, "", "The leaf switch.", NULL },
    { "Limit", LINE_INTEGER, GATE(limit), 0, 1000000, "1",
      "Maximum number of messages at a time, first come, first served; 0: any number.", NULL },
    { "Gap", LINE_SECONDS, GATE(gap_s), 0, 3600, "0s", "Minimum time between two admitted messages.", NULL },
    { NULL, 0, 0, 0, 0, NULL, NULL, NULL },
};

static const struct line_key policy_keys[] = {
    { "Policy", LINE_REFERENCE, 0, 0, 0, NULL, "The job, one with Pacing=auto.", NULL },
    { "From", LINE_INTEGER, POLICY(from), 0, SCENARIO_STEPS_MAX, NULL,
      "First step of the policy; it applies until the next policy of the job.", NULL },
    { "PaceLevers", LINE_SET, POLICY(levers), 0, 0, NULL, "Levers that may be tried from then on.", levers },
    { NULL, 0, 0, 0, 0, NULL, NULL, NULL },
};

static const struct line_key checkpoint_keys[] = {
    { "Checkpoint", LINE_REFERENCE, 0, 0, 0, NULL, "The job that writes checkpoints.", NULL },
    { "Write", LINE_SECONDS, CHECKPOINT(write_s), 0, 1e6, "30s", "How long writing one stops the job.",
      NULL },
    { "Restart", LINE_SECONDS, CHECKPOINT(restart_s), 0, 1e6, "60s",
      "Time from a failure until the last checkpoint is read and work continues.", NULL },
    { "Cadence", LINE_CHOICE, CHECKPOINT(cadence), 0, 0, "exact",
      "When to write: every Interval, or after Young, Daly, or the exact optimum for NodeMtbf.", cadences },
    { "Interval", LINE_SECONDS, CHECKPOINT(interval_s), 0.000001, 1e9, "1h",
      "Time between two checkpoints, with Cadence=fixed.", NULL },
    { "NodeMtbf", LINE_SECONDS, CHECKPOINT(node_mtbf_s), 0.001, 1e12, "",
      "Mean time between failures of one node; by default nodes do not fail.", NULL },
    { NULL, 0, 0, 0, 0, NULL, NULL, NULL },
};

/* ---- reading ---- */

struct reading {
    struct scenario *s;
    struct line_reference of_noise[SCENARIO_NOISES_MAX], of_fault[SCENARIO_FAULTS_MAX];
    struct line_reference of_checkpoint[SCENARIO_JOBS_MAX], of_policy[SCENARIO_POLICIES_MAX];
    struct line_reference of_job[SCENARIO_JOBS_MAX]; /* only their places */
    struct scenario_checkpoint checkpoints[SCENARIO_JOBS_MAX];
    size_t n_checkpoints;
    bool has_run, has_fabric;
};

static int load_run(struct reading *r, const struct conf_line *line, struct err *err)
{
    struct line_reference none = { "", "" };

    if (r->has_run)
        return conf_error(line, &line->pairs[0], err, "only one run per file");
    r->has_run = true;
    return line_load(line, run_keys, r->s, &none, err);
}

static int load_fabric(struct reading *r, const struct conf_line *line, struct err *err)
{
    struct line_reference none = { "", "" };

    if (r->has_fabric)
        return conf_error(line, &line->pairs[0], err, "only one fabric per file");
    r->has_fabric = true;
    return line_load(line, fabric_keys, &r->s->fabric, &none, err);
}

static int find_job(const struct scenario *s, const char *name)
{
    for (size_t i = 0; i < s->n_jobs; i++) {
        if (!strcasecmp(s->jobs[i].name, name))
            return (int)i;
    }
    return -1;
}

static int load_job(struct reading *r, const struct conf_line *line, struct err *err)
{
    struct scenario *s = r->s;
    struct scenario_job *j = &s->jobs[s->n_jobs];

    if (s->n_jobs == SCENARIO_JOBS_MAX)
        return conf_error(line, &line->pairs[0], err, "at most %d jobs", SCENARIO_JOBS_MAX);
    if (line_load(line, job_keys, j, &r->of_job[s->n_jobs], err) < 0)
        return -1;
    if (find_job(s, j->name) >= 0)
        return conf_error(line, &line->pairs[0], err, "duplicate job name");
    s->checkpoints[s->n_jobs++].node_mtbf_s = INFINITY;
    return 0;
}

static int load_noise(struct reading *r, const struct conf_line *line, struct err *err)
{
    struct scenario *s = r->s;
    struct scenario_noise *n;

    if (s->n_noises == SCENARIO_NOISES_MAX)
        return conf_error(line, &line->pairs[0], err, "at most %d lines of noise", SCENARIO_NOISES_MAX);
    n = &s->noises[s->n_noises];
    n->node = n->where_switch = -1;
    if (line_load(line, noise_keys, n, &r->of_noise[s->n_noises], err) < 0)
        return -1;
    if ((n->node >= 0) + (n->where_switch >= 0) != (n->scope == SCOPE_LINK))
        return conf_error(line, &line->pairs[0], err,
                          "exactly one of Node= and Switch= with Noise=link, else none");
    if ((n->scope == SCOPE_LINK || n->scope == SCOPE_LOSS) && (n->fixed > 0 || n->spike_rate > 0))
        return conf_error(line, &line->pairs[0], err, "%s has Cv=, Shape= and Autocorrelation= alone",
                          scopes[n->scope]);
    s->n_noises++;
    return 0;
}

/* What a kind of fault needs to know of where it is. */
static int check_fault(const struct scenario_fault *f, const struct conf_line *line, struct err *err)
{
    bool link = f->kind == FAULT_LINK || f->kind == FAULT_LATENCY;
    int places = (f->rank >= 0) + (f->node >= 0) + (f->where_switch >= 0);

    if (places != 1 || (link && f->rank >= 0))
        return conf_error(line, &line->pairs[0], err, "exactly one of %sNode= and Switch= is expected",
                          link ? "" : "Rank=, ");
    if (f->kind == FAULT_LINK && f->ratio > 1)
        return conf_error(line, &line->pairs[0], err,
                          "Ratio= is missing or above 1: the link's bandwidth over the usual");
    if (f->until && f->until <= f->from)
        return conf_error(line, &line->pairs[0], err, "Until= is a step after From=");
    return 0;
}

static int load_fault(struct reading *r, const struct conf_line *line, struct err *err)
{
    struct scenario *s = r->s;
    struct scenario_fault *f = &s->faults[s->n_faults];

    if (s->n_faults == SCENARIO_FAULTS_MAX)
        return conf_error(line, &line->pairs[0], err, "at most %d faults", SCENARIO_FAULTS_MAX);
    f->rank = f->node = f->where_switch = -1;
    if (line_load(line, fault_keys, f, &r->of_fault[s->n_faults], err) < 0 || check_fault(f, line, err) < 0)
        return -1;
    s->n_faults++;
    return 0;
}

static int load_checkpoint(struct reading *r, const struct conf_line *line, struct err *err)
{
    struct scenario_checkpoint *c = &r->checkpoints[r->n_checkpoints];

    if (r->n_checkpoints == SCENARIO_JOBS_MAX)
        return conf_error(line, &line->pairs[0], err, "at most %d lines of checkpoints", SCENARIO_JOBS_MAX);
    c->node_mtbf_s = INFINITY;
    if (line_load(line, checkpoint_keys, c, &r->of_checkpoint[r->n_checkpoints], err) < 0)
        return -1;
    if (c->cadence != CADENCE_FIXED && isinf(c->node_mtbf_s))
        return conf_error(line, &line->pairs[0], err,
                          "Cadence=%s needs NodeMtbf=; without it use Cadence=fixed", cadences[c->cadence]);
    c->given = true;
    r->n_checkpoints++;
    return 0;
}

static int load_gate(struct reading *r, const struct conf_line *line, struct err *err)
{
    struct scenario *s = r->s;
    struct scenario_gate *g = &s->gates[s->n_gates];
    struct line_reference none = { "", "" };

    if (s->n_gates == SCENARIO_GATES_MAX)
        return conf_error(line, &line->pairs[0], err, "at most %d gates", SCENARIO_GATES_MAX);
    g->node = g->where_switch = -1;
    if (line_load(line, gate_keys, g, &none, err) < 0)
        return -1;
    if ((g->node >= 0) != (g->kind == GATE_NODE) || (g->where_switch >= 0) != (g->kind == GATE_SWITCH))
        return conf_error(line, &line->pairs[0], err, "Node= with Gate=node, Switch= with Gate=switch");
    if (!g->limit && g->gap_s <= 0)
        return conf_error(line, &line->pairs[0], err, "with Limit=0 a Gap= is expected");
    s->n_gates++;
    return 0;
}

static int load_policy(struct reading *r, const struct conf_line *line, struct err *err)
{
    struct scenario *s = r->s;

    if (s->n_policies == SCENARIO_POLICIES_MAX)
        return conf_error(line, &line->pairs[0], err, "at most %d lines of policies", SCENARIO_POLICIES_MAX);
    if (line_load(line, policy_keys, &s->policies[s->n_policies], &r->of_policy[s->n_policies], err) < 0)
        return -1;
    s->n_policies++;
    return 0;
}

static const struct sort {
    const struct line_key *keys;
    int (*load)(struct reading *r, const struct conf_line *line, struct err *err);
    const char *text;
} kinds[] = {
    { run_keys, load_run, "The run itself (one line)" },
    { fabric_keys, load_fabric, "The network (one line)" },
    { job_keys, load_job, "A job (one line each)" },
    { noise_keys, load_noise, "Noise of a job's work (any number of lines; they multiply)" },
    { fault_keys, load_fault, "A fault (one line each)" },
    { checkpoint_keys, load_checkpoint, "Checkpoints and failures of a job" },
    { policy_keys, load_policy, "Another policy of a job that paces, from a step on (one line each)" },
    { gate_keys, load_gate, "A gate before links that messages share (one line each)" },
};

static int load_line(const struct conf_line *line, void *arg, struct err *err)
{
    char names[128] = "";
    size_t at = 0;

    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        if (!strcasecmp(line->pairs[0].key, kinds[i].keys[0].name))
            return kinds[i].load(arg, line, err);
        at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s=", i ? ", " : "", kinds[i].keys[0].name);
    }
    return conf_error(line, &line->pairs[0], err, "a line begins with %s", names);
}

/* ---- what only the whole file tells ---- */

static int resolve(const struct scenario *s, const struct line_reference *ref, int *job, struct err *err)
{
    *job = *ref->name ? find_job(s, ref->name) : 0;
    if (*job < 0)
        return err_set(err, "%s: unknown job \"%s\"", ref->place, ref->name);
    return 0;
}

static int resolve_all(struct reading *r, struct err *err)
{
    struct scenario *s = r->s;
    int job;

    for (size_t i = 0; i < s->n_noises; i++) {
        if (resolve(s, &r->of_noise[i], &s->noises[i].job, err) < 0)
            return -1;
    }
    for (size_t i = 0; i < s->n_faults; i++) {
        if (resolve(s, &r->of_fault[i], &s->faults[i].job, err) < 0)
            return -1;
    }
    for (size_t i = 0; i < s->n_policies; i++) {
        if (resolve(s, &r->of_policy[i], &s->policies[i].job, err) < 0)
            return -1;
        if (s->jobs[s->policies[i].job].pacing != PACING_AUTO)
            return err_set(err, "%s: the job needs Pacing=auto", r->of_policy[i].place);
    }
    for (size_t i = 0; i < r->n_checkpoints; i++) {
        if (resolve(s, &r->of_checkpoint[i], &job, err) < 0)
            return -1;
        if (s->checkpoints[job].given)
            return err_set(err, "%s: duplicate checkpoints of this job", r->of_checkpoint[i].place);
        s->checkpoints[job] = r->checkpoints[i];
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
    int since = -1, now = s->jobs[job].levers;

    for (size_t i = 0; i < s->n_policies; i++) {
        const struct scenario_policy *p = &s->policies[i];

        if ((size_t)p->job != job || (uint64_t)p->from > step || p->from < since)
            continue;
        since = p->from;
        now = p->levers;
    }
    return (uint32_t)now;
}

static int check_job(const struct scenario *s, size_t i, const struct line_reference *ref, struct err *err)
{
    const struct scenario_job *j = &s->jobs[i];
    int nodes = scenario_job_nodes(j);
    long last = j->first_node + (nodes - 1L) * j->node_stride;

    if (last >= s->fabric.nodes)
        return err_set(err, "%s: its %d nodes end with node %ld; the fabric has %d", ref->place, nodes, last,
                       s->fabric.nodes);
    if (!strncmp(algorithms[j->algorithm], "hierarchical", 12) &&
        (j->ranks % j->ranks_per_node || j->placement != PLACEMENT_CONTIGUOUS))
        return err_set(err, "%s: Algorithm=%s needs full nodes and Placement=contiguous", ref->place,
                       algorithms[j->algorithm]);
    if (j->servers > j->ranks)
        return err_set(err, "%s: Servers=%d: at most one a rank", ref->place, j->servers);
    if (j->sync == SYNC_ASYNCHRONOUS && (j->overlap || j->inner))
        return err_set(err, "%s: Sync=asynchronous has no collectives: Overlap=no Inner=0 are expected",
                       ref->place);
    if (s->n_jobs > 1 && j->inner && j->sync == SYNC_STALENESS)
        return err_set(err, "%s: Inner= with Sync=staleness is for a job that has the fabric to itself",
                       ref->place);
    if (s->fabric.rails > j->ranks_per_node)
        return err_set(err, "%s: RanksPerNode=%d are fewer than the fabric's Rails=%d", ref->place,
                       j->ranks_per_node, s->fabric.rails);
    if (j->sync == SYNC_LOCAL && j->inner && j->every > 10000)
        return err_set(err, "%s: with Inner=, Every= is at most 10000", ref->place);
    if (j->sync == SYNC_ASYNCHRONOUS && s->checkpoints[i].given)
        return err_set(err,
                       "%s: Sync=asynchronous has no step that all ranks end: no Checkpoint= is expected",
                       ref->place);
    if (j->pacing == PACING_GATE && !j->cores)
        return err_set(err, "%s: Pacing=gate needs Cores=", ref->place);
    if (j->pacing == PACING_AUTO && (j->overlap || j->sync == SYNC_STALENESS || j->sync == SYNC_ASYNCHRONOUS))
        return err_set(err, "%s: Pacing=auto needs ranks that wait: Overlap=no, Sync=synchronous or local",
                       ref->place);
    if (j->cores && (j->overlap || j->sync == SYNC_STALENESS || j->sync == SYNC_ASYNCHRONOUS))
        return err_set(err, "%s: Cores= needs ranks that wait: Overlap=no, Sync=synchronous or local",
                       ref->place);
    return 0;
}

/* Ranks of an asynchronous job are each in a step of their own. */
static int check_noise(const struct scenario *s, const struct scenario_noise *n,
                       const struct line_reference *ref, struct err *err)
{
    int switches = scenario_switches(&s->fabric);

    if (n->node >= s->fabric.nodes)
        return err_set(err, "%s: Node=%d: a node from 0 to %d", ref->place, n->node, s->fabric.nodes - 1);
    if (n->where_switch >= 0 && s->fabric.kind == FABRIC_FLAT)
        return err_set(err, "%s: Switch=%d: a flat fabric has no uplinks", ref->place, n->where_switch);
    if (n->where_switch >= switches)
        return err_set(err, "%s: Switch=%d: a switch from 0 to %d", ref->place, n->where_switch,
                       switches - 1);
    if (n->autocorrelation > 0 && n->shape == SHAPE_GAMMA)
        return err_set(err, "%s: Autocorrelation= goes with Shape=normal or lognormal", ref->place);
    if (n->autocorrelation > 0 && n->scope != SCOPE_RANK && s->jobs[n->job].sync == SYNC_ASYNCHRONOUS)
        return err_set(err, "%s: Autocorrelation= in an asynchronous job goes with Noise=rank", ref->place);
    return 0;
}

static int check_place(const struct scenario *s, const struct scenario_fault *f,
                       const struct line_reference *ref, struct err *err)
{
    int switches = scenario_switches(&s->fabric);

    if (f->rank >= s->jobs[f->job].ranks)
        return err_set(err, "%s: Rank=%d: a rank of %s from 0 to %d", ref->place, f->rank,
                       s->jobs[f->job].name, s->jobs[f->job].ranks - 1);
    if (f->node >= s->fabric.nodes)
        return err_set(err, "%s: Node=%d: a node from 0 to %d", ref->place, f->node, s->fabric.nodes - 1);
    if (f->where_switch >= 0 && s->fabric.kind == FABRIC_FLAT &&
        (f->kind == FAULT_LINK || f->kind == FAULT_LATENCY))
        return err_set(err, "%s: Switch=%d: a flat fabric has no uplinks", ref->place, f->where_switch);
    if (f->where_switch >= switches)
        return err_set(err, "%s: Switch=%d: a switch from 0 to %d", ref->place, f->where_switch,
                       switches - 1);
    return 0;
}

static int check_gate(const struct scenario *s, const struct scenario_gate *g, const char *name,
                      struct err *err)
{
    int switches = scenario_switches(&s->fabric);

    if (g->node >= s->fabric.nodes)
        return err_set(err, "%s: Gate=node Node=%d: a node from 0 to %d", name, g->node, s->fabric.nodes - 1);
    if (g->where_switch >= 0 && s->fabric.kind == FABRIC_FLAT)
        return err_set(err, "%s: Gate=switch: a flat fabric has no uplinks", name);
    if (g->where_switch >= switches)
        return err_set(err, "%s: Gate=switch Switch=%d: a switch from 0 to %d", name, g->where_switch,
                       switches - 1);
    return 0;
}

static int check_all(const struct reading *r, const char *name, struct err *err)
{
    const struct scenario *s = r->s;

    if (!r->has_run)
        return err_set(err, "%s: a line Run=NAME is missing", name);
    if (!r->has_fabric)
        return err_set(err, "%s: a line Fabric=flat Nodes=... is missing", name);
    if (s->n_jobs == 0)
        return err_set(err, "%s: a line Job=NAME Ranks=... is missing", name);
    return 0;
}

static int finish(struct reading *r, const char *name, struct err *err)
{
    const struct scenario *s = r->s;

    if (check_all(r, name, err) < 0 || resolve_all(r, err) < 0)
        return -1;
    for (size_t i = 0; i < s->n_jobs; i++) {
        if (check_job(s, i, &r->of_job[i], err) < 0)
            return -1;
    }
    for (size_t i = 0; i < s->n_noises; i++) {
        if (check_noise(s, &s->noises[i], &r->of_noise[i], err) < 0)
            return -1;
    }
    for (size_t i = 0; i < s->n_faults; i++) {
        if (check_place(s, &s->faults[i], &r->of_fault[i], err) < 0)
            return -1;
    }
    for (size_t i = 0; i < s->n_gates; i++) {
        if (check_gate(s, &s->gates[i], name, err) < 0)
            return -1;
    }
    return 0;
}

static int reading_end(struct reading *r, int rc, const char *name, struct err *err)
{
    if (rc == 0)
        rc = finish(r, name, err);
    free(r);
    return rc;
}

static struct reading *reading_begin(struct scenario *s)
{
    struct reading *r = xcalloc(1, sizeof(*r));

    memset(s, 0, sizeof(*s));
    r->s = s;
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
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        fprintf(out, mdoc ? ".Ss %s\n.Bl -tag -width Ds\n" : "%s:\n", kinds[i].text);
        for (const struct line_key *key = kinds[i].keys; key->name; key++)
            (mdoc ? line_print_mdoc : line_print)(out, key);
        fputs(mdoc ? ".El\n" : i + 1 < ARRAY_SIZE(kinds) ? "\n" : "", out);
    }
}
