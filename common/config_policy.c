#include "common/config_policy.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *const actions[] = { "dryrun", "enforce", NULL };
static const char *const checkpoints[] = { "off", "advise", "request", NULL };
static const char *const paces[] = { "off", "auto", NULL };
/* As pacing/pacer.h has them. */
static const char *const levers[] = { "release", "gate", "delay", "stagger", NULL };
static const char *const no_yes[] = { "no", "yes", NULL };

#define AT(field) CONFIG_AT(config_policy, field)

/* name, kind, place, what is accepted, default, meaning */
static const struct config_key policy_keys[] = {
    { "Description", CONFIG_TEXT, AT(text), CONFIG_ANY, "", "What --sync-guard=help says about the policy." },
    /* what is found */
    { "MinSlowdown", CONFIG_RATIO, AT(min_slowdown_ratio), CONFIG_RANGE(1, 10), "1.02",
      "Stragglers are reported from this ratio of step times, with the straggler to without it." },
    { "HangTimeout", CONFIG_SECONDS, AT(hang_timeout_s), CONFIG_RANGE(1, 86400), "30s",
      "A collective that lasts longer than this is reported as a hang." },
    { "SampleRate", CONFIG_HERTZ, AT(sample_rate_hz), CONFIG_RANGE(1, 1000), "50",
      "Target number of samples per rank and second." },
    /* rules */
    { "Action", CONFIG_WORD, AT(action), CONFIG_WORDS(actions), "dryrun",
      "Whether the actions that rules decide on are taken, or only logged." },
    { "ActionsPerHour", CONFIG_INTEGER, AT(actions_per_hour), CONFIG_RANGE(0, 60), "6",
      "Maximum number of actions per job and hour." },
    { "NodesPerHour", CONFIG_INTEGER, AT(nodes_per_hour), CONFIG_OF(0, 1000, "nodes"), "2",
      "Maximum number of nodes that the actions of one job may affect per hour." },
    { "NodesAtOnce", CONFIG_INTEGER, AT(nodes_at_once), CONFIG_OF(1, 16, "nodes"), "1",
      "Maximum number of nodes that one action may affect; larger actions are rejected." },
    { "EffectWindow", CONFIG_SECONDS, AT(effect_window_s), CONFIG_RANGE(2, 3600), "60s",
      "The effect of an action is its change of step time between two windows of this length, one before it "
      "and one after it." },
    /* pacing */
    { "Pacing", CONFIG_WORD, AT(pace), CONFIG_WORDS(paces), "auto",
      "Whether ranks that are early in a collective may be made to wait otherwise than by spinning, where "
      "that proves to make the job faster. Results stay the same to the bit." },
    { "PaceLevers", CONFIG_SET, AT(pace_levers), CONFIG_WORDS(levers), "release,gate",
      "What may be tried: release (the MPI library gives the core away while it waits), gate (early ranks "
      "sleep until the last one of the node has come), delay (a rank sleeps part of what it is reliably "
      "early by), stagger (ranks of a node enter one after another)." },
    { "PaceMaxDelay", CONFIG_SECONDS, AT(pace_max_delay_s), CONFIG_RANGE(1e-5, 1), "20ms",
      "Maximum time that a rank is held back in one collective." },
    { "PaceShare", CONFIG_RATIO, AT(pace_share_ratio), CONFIG_RANGE(0, 1), "0.8",
      "Share of its expected waiting time that a rank may sleep." },
    { "PaceEpoch", CONFIG_INTEGER, AT(pace_epoch), CONFIG_OF(1, 16, "collectives"), "16",
      "Number of consecutive collectives that run with the lever, or without it, where its effect outlasts a "
      "collective, that is, where ranks do not outnumber cores." },
    { "PaceHoldout", CONFIG_INTEGER, AT(pace_holdout), CONFIG_OF(2, 12, "epochs"), "12",
      "One epoch in this many runs without the lever, to see whether it still helps; one in two where epochs "
      "are long." },

    /* checkpoints: Checkpoint..., PreemptionGrace */
    { "Checkpoint", CONFIG_WORD, AT(checkpoint), CONFIG_WORDS(checkpoints), "advise",
      "Whether checkpoints are left alone, recommended, or requested when they are due." },
    { "CheckpointSignal", CONFIG_NAME, AT(checkpoint_signal), CONFIG_ANY, "",
      "Signal that requests a checkpoint from programs that do not use libsyncguard or SCR, e.g. USR1; empty: "
      "none." },
    { "CheckpointFile", CONFIG_PATH, AT(checkpoint_file), CONFIG_ANY, "",
      "File that is touched on the step's first node to request a checkpoint from programs that do not use "
      "libsyncguard or SCR; %j is the job's number; empty: none." },
    { "CheckpointCost", CONFIG_SECONDS, AT(checkpoint_cost_s), CONFIG_RANGE(0.001, 86400), "60s",
      "Assumed duration of writing a checkpoint, until it has been measured." },
    { "CheckpointMinInterval", CONFIG_SECONDS, AT(checkpoint_least_s), CONFIG_RANGE(0, 2592000), "60s",
      "Minimum time of work between two checkpoints." },
    { "CheckpointMaxInterval", CONFIG_SECONDS, AT(checkpoint_most_s), CONFIG_RANGE(1, 2592000), "86400s",
      "Maximum time of work between two checkpoints." },
    { "PreemptionGrace", CONFIG_SECONDS, AT(preemption_grace_s), CONFIG_RANGE(0, 86400), "30s",
      "Time from Slurm's notice (SIGTERM) to the end of a preempted job, as GraceTime in slurm.conf." },

};

#undef AT
#define AT(field) CONFIG_AT(config_selection, field)

static const struct config_key selection_keys[] = {
    { "Partition", CONFIG_LIST, AT(partition), CONFIG_ANY, "",
      "Jobs of one of these partitions; empty: of any." },
    { "Account", CONFIG_LIST, AT(account), CONFIG_ANY, "", "Jobs of one of these accounts; empty: of any." },
    { "QOS", CONFIG_LIST, AT(qos), CONFIG_ANY, "",
      "Jobs of one of these qualities of service; empty: of any." },
    { "User", CONFIG_LIST, AT(user), CONFIG_ANY, "", "Jobs of one of these users; empty: of any." },
    { "MinNodes", CONFIG_INTEGER, AT(min_nodes), CONFIG_OF(0, 1e6, "nodes"), "0",
      "Jobs of at least this many nodes." },
    { "MaxNodes", CONFIG_INTEGER, AT(max_nodes), CONFIG_OF(0, 1e6, "nodes"), "0",
      "Jobs of at most this many nodes; 0: of any size." },
    { "MinRanks", CONFIG_INTEGER, AT(min_ranks), CONFIG_OF(0, 1e8, "ranks"), "0",
      "Jobs of at least this many ranks." },
    { "MaxRanks", CONFIG_INTEGER, AT(max_ranks), CONFIG_OF(0, 1e8, "ranks"), "0",
      "Jobs of at most this many ranks; 0: of any size." },
    { "Override", CONFIG_WORD, AT(override), CONFIG_WORDS(no_yes), "yes",
      "Whether a user's own choice, --sync-guard=NAME, overrides this line." },
};

#undef AT
#define AT(field) CONFIG_AT(config_rule, field)

static const struct config_key rule_keys[] = {
    { "Policy", CONFIG_NAME, AT(policy), CONFIG_ANY, "",
      "The policy that the rule belongs to; must be given." },
    { "When", CONFIG_TEXT, AT(when), CONFIG_ANY, "",
      "The condition: comparisons of figures, with and, or, not, for." },
    { "Module", CONFIG_NAME, AT(module), CONFIG_ANY, "",
      "Name of the policy in PolicyModule that decides; When, if given, must also be true." },
    { "Hold", CONFIG_SECONDS, AT(hold_s), CONFIG_RANGE(0, 86400), "30s",
      "How long the condition must be true without interruption." },
    { "Hysteresis", CONFIG_RATIO, AT(hysteresis_ratio), CONFIG_RANGE(0, 0.9), "0.1",
      "Share of a bound by which a figure must fall back before its comparison is false again." },
    { "CoolDown", CONFIG_SECONDS, AT(cool_down_s), CONFIG_RANGE(0, 604800), "10m",
      "Minimum time between two actions of the rule." },
    { "MaxPerJob", CONFIG_INTEGER, AT(max_per_job), CONFIG_RANGE(0, 1000), "0",
      "Maximum number of actions of the rule per job; 0: no limit." },
    { "Action", CONFIG_NAME, AT(action), CONFIG_ANY, "", "The action to take, see below; must be given." },
    { "Signal", CONFIG_NAME, AT(signal), CONFIG_ANY, "USR1", "The signal that action signal sends." },
    { "Description", CONFIG_TEXT, AT(text), CONFIG_ANY, "", "What the rule is for, in words." },
};

const struct config_key *config_policy_keys(enum config_table table, size_t *n)
{
    switch (table) {
    case CONFIG_POLICY:
        *n = COUNT(policy_keys);
        return policy_keys;
    case CONFIG_SELECTION:
        *n = COUNT(selection_keys);
        return selection_keys;
    default:
        *n = COUNT(rule_keys);
        return rule_keys;
    }
}
