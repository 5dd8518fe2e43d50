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
      "Step time over the step time without the straggler, below which it is not named." },
    { "HangTimeout", CONFIG_SECONDS, AT(hang_timeout_s), CONFIG_RANGE(1, 86400), "30s",
      "A collective that is open for longer is called a hang." },
    { "SampleRate", CONFIG_HERTZ, AT(sample_rate_hz), CONFIG_RANGE(1, 1000), "50",
      "Samples a rank and second that the agents aim at." },
    /* rules */
    { "Action", CONFIG_WORD, AT(action), CONFIG_WORDS(actions), "dryrun",
      "Whether what the rules decide is done, or only written down." },
    { "ActionsPerHour", CONFIG_INTEGER, AT(actions_per_hour), CONFIG_RANGE(0, 60), "6",
      "So many actions are taken an hour at most for one job." },
    { "NodesPerHour", CONFIG_INTEGER, AT(nodes_per_hour), CONFIG_OF(0, 1000, "nodes"), "2",
      "Actions of one job are taken against so many nodes an hour at most." },
    { "NodesAtOnce", CONFIG_INTEGER, AT(nodes_at_once), CONFIG_OF(1, 16, "nodes"), "1",
      "An action against more nodes than that is not taken." },
    { "EffectWindow", CONFIG_SECONDS, AT(effect_window_s), CONFIG_RANGE(2, 3600), "60s",
      "The step time so long before an action is compared with that so long after it." },
    /* pacing */
    { "Pacing", CONFIG_WORD, AT(pace), CONFIG_WORDS(paces), "auto",
      "Whether ranks that are early in a collective may be made to wait otherwise than by spinning, where "
      "that proves to make the job faster. Results stay the same to the bit." },
    { "PaceLevers", CONFIG_SET, AT(pace_levers), CONFIG_WORDS(levers), "release,gate",
      "What may be tried: release (the MPI library gives the core away while it waits), gate (early ranks "
      "sleep until the last one of the node has come), delay (a rank sleeps part of what it is reliably "
      "early by), stagger (ranks of a node enter one after another)." },
    { "PaceMaxDelay", CONFIG_SECONDS, AT(pace_max_delay_s), CONFIG_RANGE(1e-5, 1), "20ms",
      "A rank is held back for no longer than that in one collective." },
    { "PaceShare", CONFIG_RATIO, AT(pace_share_ratio), CONFIG_RANGE(0, 1), "0.8",
      "Share of what a rank is reliably early by that it may sleep." },
    { "PaceEpoch", CONFIG_INTEGER, AT(pace_epoch), CONFIG_OF(1, 16, "collectives"), "16",
      "So many collectives in a row have the lever, or do without it, where its effect outlasts a collective: "
      "ranks do not outnumber cores." },
    { "PaceHoldout", CONFIG_INTEGER, AT(pace_holdout), CONFIG_OF(2, 12, "epochs"), "12",
      "Of so many epochs one goes without the lever, to see whether it still helps; of two, where epochs are "
      "long." },

    /* checkpoints: Checkpoint..., PreemptionGrace */
    { "Checkpoint", CONFIG_WORD, AT(checkpoint), CONFIG_WORDS(checkpoints), "advise",
      "Whether checkpoints are left alone, advised, or asked for when they are due." },
    { "CheckpointSignal", CONFIG_NAME, AT(checkpoint_signal), CONFIG_ANY, "",
      "Signal that asks programs for a checkpoint that do not use libsyncguard or SCR, e.g. USR1; empty: "
      "none." },
    { "CheckpointFile", CONFIG_PATH, AT(checkpoint_file), CONFIG_ANY, "",
      "File that is touched on the step's first node to ask such programs; %j is the job's number; empty: "
      "none." },
    { "CheckpointCost", CONFIG_SECONDS, AT(checkpoint_cost_s), CONFIG_RANGE(0.001, 86400), "60s",
      "What writing one holds the job up, until it was measured." },
    { "CheckpointMinInterval", CONFIG_SECONDS, AT(checkpoint_least_s), CONFIG_RANGE(0, 2592000), "60s",
      "Of work between two checkpoints, at least." },
    { "CheckpointMaxInterval", CONFIG_SECONDS, AT(checkpoint_most_s), CONFIG_RANGE(1, 2592000), "86400s",
      "Of work between two checkpoints, at most." },
    { "PreemptionGrace", CONFIG_SECONDS, AT(preemption_grace_s), CONFIG_RANGE(0, 86400), "30s",
      "From Slurm's notice (SIGTERM) to a preempted job's end, as GraceTime in slurm.conf." },

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
      "Jobs of so many nodes at least." },
    { "MaxNodes", CONFIG_INTEGER, AT(max_nodes), CONFIG_OF(0, 1e6, "nodes"), "0",
      "Jobs of so many nodes at most; 0: of any size." },
    { "MinRanks", CONFIG_INTEGER, AT(min_ranks), CONFIG_OF(0, 1e8, "ranks"), "0",
      "Jobs of so many ranks at least." },
    { "MaxRanks", CONFIG_INTEGER, AT(max_ranks), CONFIG_OF(0, 1e8, "ranks"), "0",
      "Jobs of so many ranks at most; 0: of any size." },
    { "Override", CONFIG_WORD, AT(override), CONFIG_WORDS(no_yes), "yes",
      "Whether a user's own choice, --sync-guard=NAME, wins over this line." },
};

#undef AT
#define AT(field) CONFIG_AT(config_rule, field)

static const struct config_key rule_keys[] = {
    { "Policy", CONFIG_NAME, AT(policy), CONFIG_ANY, "",
      "The policy that the rule belongs to; must be given." },
    { "When", CONFIG_TEXT, AT(when), CONFIG_ANY, "",
      "The condition: comparisons of figures, with and, or, not, for." },
    { "Module", CONFIG_NAME, AT(module), CONFIG_ANY, "",
      "Name of the policy in PolicyModule that decides; When, if given, must be true as well." },
    { "Hold", CONFIG_SECONDS, AT(hold_s), CONFIG_RANGE(0, 86400), "30s",
      "The condition must be true for so long without a break." },
    { "Hysteresis", CONFIG_RATIO, AT(hysteresis_ratio), CONFIG_RANGE(0, 0.9), "0.1",
      "By this share of a bound a figure must come back before its comparison counts as false again." },
    { "CoolDown", CONFIG_SECONDS, AT(cool_down_s), CONFIG_RANGE(0, 604800), "10m",
      "So long passes at least from one action of the rule to its next." },
    { "MaxPerJob", CONFIG_INTEGER, AT(max_per_job), CONFIG_RANGE(0, 1000), "0",
      "The rule acts so many times a job at most; 0: no limit." },
    { "Action", CONFIG_NAME, AT(action), CONFIG_ANY, "", "What is done, see below; must be given." },
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
