#include "common/config_policy.h"

static const char *const actions[] = { "dryrun", "enforce", NULL };
static const char *const checkpoints[] = { "off", "advise", "request", NULL };
static const char *const paces[] = { "off", "auto", NULL };
const char *const config_levers[] = { "release", "gate", "delay", "stagger", NULL };
const char *const config_placements[] = { "off", "advise", "on", NULL };
const char *const config_nccl_events[] = { "host", "device", NULL };
static const char *const no_yes[] = { "no", "yes", NULL };
static const char *const holds[] = { "hold", "ignore", NULL };

#define AT(field) KEY_AT(config_policy, field)

/* name, kind, place, what is accepted, default, meaning */
static const struct key policy_keys[] = {
    { "Description", AT(text), VALUE(VALUE_TEXT), "", "What --sync-guard=help says about the policy." },
    /* what is found */
    { "MinSlowdown", AT(min_slowdown_ratio), VALUE_RANGE(VALUE_RATIO, 1, 10), "1.02",
      "Minimum ratio of step times with a straggler to those without it, for the straggler to be reported." },
    { "HangTimeout", AT(hang_timeout_s), VALUE_RANGE(VALUE_SECONDS, 1, 86400), "30s",
      "A collective that lasts longer than this is reported as a hang." },
    { "SampleRate", AT(sample_rate_hz), VALUE_RANGE(VALUE_HERTZ, 1, 1000), "50",
      "Target number of samples per rank and second." },
    { "NcclEvents", AT(nccl_events), VALUE_ONE_OF(config_nccl_events), "host",
      "What is recorded of NCCL's collectives: host, when the program enqueues each; device (NCCL 2.27 and "
      "later), how long the GPU spends in each, by which stragglers are found. device adds about 1% to the "
      "time of small messages, more with some releases." },
    /* rules */
    { "Action", AT(action), VALUE_ONE_OF(actions), "dryrun",
      "Whether the actions that rules decide on are carried out (enforce) or only logged (dryrun)." },
    { "ActionsPerHour", AT(actions_per_hour), VALUE_RANGE(VALUE_INTEGER, 0, 60), "6",
      "Maximum number of actions per job and hour." },
    { "NodesPerHour", AT(nodes_per_hour), VALUE_UNITS(0, 1000, "nodes"), "2",
      "Maximum number of nodes that the actions of one job may affect per hour." },
    { "NodesAtOnce", AT(nodes_at_once), VALUE_UNITS(1, 16, "nodes"), "1",
      "Maximum number of nodes that one action may affect; larger actions are rejected." },
    { "EffectWindow", AT(effect_window_s), VALUE_RANGE(VALUE_SECONDS, 2, 3600), "60s",
      "The effect of an action is the change of the step time from a window of this length before it to "
      "one after it." },
    { "NonFinite", AT(non_finite), VALUE_ONE_OF(holds), "hold",
      "What happens while the newest loss or norm of the gradient that a rank reports (syncguard(3)) is "
      "infinite or not a number: hold, no checkpoint is requested, pacing is off, and only rules whose "
      "condition names non_finite act; ignore, nothing changes." },
    /* placement */
    { "Placement", AT(placement), VALUE_ONE_OF(config_placements), "advise",
      "on: inside an allocation, srun orders a step's ranks along the switches of topology.conf; tasks "
      "that nobody has bound are bound to NUMA nodes; jobs are submitted with --switches. advise: srun and "
      "sbatch print with -v what that would gain. off: neither. Read when the job is submitted and when "
      "the step is launched." },
    { "PlacementHoldout", AT(placement_holdout), VALUE_UNITS(0, 12, "starts"), "0",
      "With Placement=on: one in this many starts of the same job keeps its ranks in Slurm's order, to "
      "measure whether the other order helps; likewise for Algorithm=on, drawn independently; 0: none." },
    { "Algorithm", AT(algorithm), VALUE_ONE_OF(config_placements), "off",
      "With Placement=on. on: srun tells the MPI library (Open MPI, MPICH) to use another algorithm for "
      "all-reduces than it would choose, where that is certainly faster for what the job's last run did. "
      "advise: srun prints with -v that it would. off: neither. Another algorithm adds in another order, "
      "so that the last digits of sums differ. Read when the step is launched." },
    /* pacing */
    { "Pacing", AT(pacing), VALUE_ONE_OF(paces), "off",
      "Whether ranks that are early in a collective may wait other than by spinning, where "
      "measurements show that this makes the job faster. Results stay the same to the last bit." },
    CONFIG_PACING_KEYS(config_policy),
    /* checkpoints: Checkpoint..., PreemptionGrace */
    { "Checkpoint", AT(checkpoint), VALUE_ONE_OF(checkpoints), "advise",
      "Whether checkpoints are left alone, recommended, or requested when they are due." },
    { "CheckpointSignal", AT(checkpoint_signal), VALUE(VALUE_NAME), "",
      "Signal that requests a checkpoint from programs that do not use libsyncguard or SCR, e.g. USR1; not "
      "sent while it would kill a rank whose program has no handler for it; empty: none." },
    { "CheckpointFile", AT(checkpoint_file), VALUE(VALUE_PATH), "",
      "File that is touched on the step's first node to request a checkpoint from programs that do not use "
      "libsyncguard or SCR; %j is the job's number; empty: none." },
    { "CheckpointCost", AT(checkpoint_cost_s), VALUE_RANGE(VALUE_SECONDS, 0.001, 86400), "60s",
      "Assumed duration of writing a checkpoint, until it has been measured." },
    { "CheckpointMinInterval", AT(checkpoint_min_interval_s), VALUE_RANGE(VALUE_SECONDS, 0, 2592000), "60s",
      "Minimum time of work between two checkpoints." },
    { "CheckpointMaxInterval", AT(checkpoint_max_interval_s), VALUE_RANGE(VALUE_SECONDS, 1, 2592000),
      "86400s", "Maximum time of work between two checkpoints." },
    { "PreemptionGrace", AT(preemption_grace_s), VALUE_RANGE(VALUE_SECONDS, 0, 86400), "30s",
      "Time from Slurm's notice (SIGTERM) to the end of a preempted job, as GraceTime in slurm.conf." },
    { 0 },
};
KEYS_FIT(policy_keys);

#undef AT
#define AT(field) KEY_AT(config_selection, field)

static const struct key selection_keys[] = {
    { "Partition", AT(partition), VALUE(VALUE_LIST), "", "Jobs of one of these partitions; empty: of any." },
    { "Account", AT(account), VALUE(VALUE_LIST), "", "Jobs of one of these accounts; empty: of any." },
    { "QOS", AT(qos), VALUE(VALUE_LIST), "", "Jobs of one of these qualities of service; empty: of any." },
    { "User", AT(user), VALUE(VALUE_LIST), "", "Jobs of one of these users; empty: of any." },
    { "MinNodes", AT(min_nodes), VALUE_UNITS(0, 1e6, "nodes"), "0", "Jobs of at least this many nodes." },
    { "MaxNodes", AT(max_nodes), VALUE_UNITS(0, 1e6, "nodes"), "0",
      "Jobs of at most this many nodes; 0: of any size." },
    { "MinRanks", AT(min_ranks), VALUE_UNITS(0, 1e8, "ranks"), "0", "Jobs of at least this many ranks." },
    { "MaxRanks", AT(max_ranks), VALUE_UNITS(0, 1e8, "ranks"), "0",
      "Jobs of at most this many ranks; 0: of any size." },
    { "Override", AT(override), VALUE_ONE_OF(no_yes), "yes",
      "Whether a user's own choice, --sync-guard=NAME, overrides this line." },
    { 0 },
};
KEYS_FIT(selection_keys);

#undef AT
#define AT(field) KEY_AT(config_rule, field)

static const struct key rule_keys[] = {
    { "Policy", AT(policy), VALUE(VALUE_NAME), "", "The policy that the rule belongs to; must be given." },
    { "When", AT(when), VALUE(VALUE_TEXT), "",
      "The condition: comparisons of figures, with and, or, not, for." },
    { "Module", AT(module), VALUE(VALUE_NAME), "",
      "Name of the policy in PolicyModule that decides; When, if given, must also be true." },
    { "Hold", AT(hold_s), VALUE_RANGE(VALUE_SECONDS, 0, 86400), "30s",
      "How long the condition must be true without interruption." },
    { "Hysteresis", AT(hysteresis_ratio), VALUE_RANGE(VALUE_RATIO, 0, 0.9), "0.1",
      "Share of a bound by which a figure must fall back before its comparison is false again; of what is between the bound and "
      "the end of the figure's range where that is less: slowdown > 1.1 ends at 1.09." },
    { "CoolDown", AT(cool_down_s), VALUE_RANGE(VALUE_SECONDS, 0, 604800), "10m",
      "Minimum time between two actions of the rule." },
    { "MaxPerJob", AT(max_per_job), VALUE_RANGE(VALUE_INTEGER, 0, 1000), "0",
      "Maximum number of actions of the rule per job; 0: no limit." },
    { "Action", AT(action), VALUE(VALUE_NAME), "", "The action to take, see below; must be given." },
    { "Signal", AT(signal), VALUE(VALUE_NAME), "",
      "The signal that action signal sends; withheld while it would kill a rank whose program has no handler for it." },
    { "Description", AT(text), VALUE(VALUE_TEXT), "", "What the rule is for, in words." },
    { 0 },
};
KEYS_FIT(rule_keys);

const struct key *config_policy_keys(enum config_table table)
{
    return table == CONFIG_POLICY ? policy_keys : table == CONFIG_SELECTION ? selection_keys : rule_keys;
}
