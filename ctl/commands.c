#include "ctl/commands.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "common/config.h"
#include "common/xalloc.h"
#include "wire/session.h"

#define JOB_RANKS_MAX 65536 /* that a step of the controller has */

/* ---- options ---- */

static const struct option_spec timeout = {
    "timeout",
    "TIME",
    VALUE_RANGE(VALUE_SECONDS, VALUE_POSITIVE, INFINITY),
    "wait at most this long for an answer",
};
static const struct option_spec finished = { .name = "finished", .text = "list finished job steps too" };
static const struct option_spec newest = { "newest", "N", VALUE_RANGE(VALUE_COUNT, 1, 100000),
                                           "of finished steps list the newest N" };
static const struct option_spec wide = {
    .name = "wide", .text = "print tables in full, even where they are wider than the terminal"
};
static const struct option_spec fail = {
    .name = "fail", .text = "exit with 1 when a verdict stands at the end, minor ones apart"
};
static const struct option_spec dry_run = { .name = "dry-run",
                                            .text = "print what would be done, and do nothing" };
static const struct option_spec yes = { .name = "yes", .text = "do not ask for confirmation" };
static const struct option_spec force = {
    .name = "force", .text = "send a signal that the program has no handler for, and that ends it"
};
static const struct option_spec seconds = {
    "seconds", "TIME", VALUE_RANGE(VALUE_SECONDS, VALUE_POSITIVE, INFINITY),
    "stop after this time instead of at the end of the job step or at Ctrl-C"
};
static const struct option_spec output = { .name = "output",
                                           .value = "FILE",
                                           .text = "write to this file instead of standard output" };
static const struct option_spec speed = {
    .name = "speed",
    .value = "X",
    .text = "play at this multiple of the recorded speed: 0.25 to 1000, or max (default 1)"
};
static const struct option_spec from = { "from", "TIME", VALUE_RANGE(VALUE_SECONDS, 0, INFINITY),
                                         "begin at this time of the trace" };
static const struct option_spec mdoc = { .name = "mdoc",
                                         .value = "TABLE",
                                         .type = VALUE_ONE_OF(VALUE_WORDS("system", "policy", "selection",
                                                                          "rule", "figure", "action")),
                                         .text = "print one table as the source of a manual page" };

static const struct option_use common[] = {
    { &option_conf, NULL }, { &option_controller, NULL }, { &option_munge_socket, NULL }, { &timeout, "5s" },
    { NULL, NULL },
};
static const struct option_use answers[] = { { &option_json, NULL }, { &wide, NULL }, { NULL, NULL } };
static const struct option_spec full = { .name = "full",
                                         .text = "print all that is known, instead of ten lines" };
static const struct option_spec html = { .name = "html", .text = "write a page with charts, for a browser" };
static const struct option_spec run = { "run", "N", VALUE_RANGE(VALUE_COUNT, 1, INT_MAX),
                                        "of a job that Slurm requeued show the run N: 1 is the first" };
static const struct option_use job_uses[] = { { &option_json, NULL }, { &full, NULL }, { &html, NULL },
                                              { &output, NULL },      { &run, NULL },  { &wide, NULL },
                                              { NULL, NULL } };
static const struct option_use analyze_uses[] = { { &option_json, NULL }, { &html, NULL }, { &output, NULL },
                                                  { &wide, NULL },        { &fail, NULL }, { NULL, NULL } };
static const struct option_spec state = {
    .name = "state",
    .value = "STATE",
    .type =
        VALUE_ONE_OF(VALUE_WORDS("starting", "running", "stalled", "suspended", "ended", "finished", "lost")),
    .text = "list only job steps in this state; ended is finished or lost"
};
static const struct option_spec cost = {
    "cost", "PERCENT", VALUE_RANGE(VALUE_NUMBER, 0, 100),
    "list only job steps whose worst verdict costs at least this much of the step time"
};
static const struct option_use jobs_uses[] = { { &option_json, NULL }, { &wide, NULL },  { &finished, NULL },
                                               { &newest, "100" },     { &state, NULL }, { &cost, NULL },
                                               { NULL, NULL } };
static const struct option_use action_uses[] = {
    { &option_json, NULL }, { &dry_run, NULL }, { &yes, NULL }, { &force, NULL }, { NULL, NULL },
};
static const struct option_use node_uses[] = {
    { &option_json, NULL },
    { &dry_run, NULL },
    { &yes, NULL },
    { NULL, NULL },
};
static const struct option_use record_uses[] = { { &seconds, NULL }, { &output, NULL }, { NULL, NULL } };
static const struct option_use replay_uses[] = {
    { &option_json, NULL },
    { &speed, NULL },
    { &from, NULL },
    { NULL, NULL },
};
static const struct option_use step_uses[] = {
    { &option_json, NULL }, { &wide, NULL }, { &output, NULL }, { NULL, NULL }
};
static const struct option_spec format = { .name = "format",
                                           .value = "FORMAT",
                                           .type = VALUE_ONE_OF(
                                               VALUE_WORDS("chrome", "flight-recorder", "nccl-inspector")),
                                           .text = "what the files are; otherwise their content tells" };
static const struct option_use import_uses[] = { { &format, NULL }, { &output, NULL }, { NULL, NULL } };
static const struct option_spec perfetto = {
    .name = "perfetto", .text = "write Perfetto's format, which is the only one so far, and the default"
};
static const struct option_use export_uses[] = { { &perfetto, NULL }, { &output, NULL }, { NULL, NULL } };
static const struct option_spec cluster = {
    .name = "cluster",
    .text =
        "check the cluster: what is declared against what Slurm and the controller know, and the setup of each node"
};
static const struct option_spec topology = { "topology", "FILE", VALUE(VALUE_ANY),
                                             "with --cluster: this topology.conf instead of Slurm's" };
static const struct option_spec probe = {
    .name = "probe",
    .text = "with --cluster: measure between nodes as well, by a job of at most half a minute"
};
static const struct option_spec measured = {
    "measured", "FILE", VALUE(VALUE_ANY),
    "with --probe: write the links that were found slow to this file, for srun and sgplan place"
};
static const struct option_spec by_mpi = {
    .name = "mpi", .text = "with --probe: measure by MPI, too, by another job of half a minute"
};
static const struct option_spec clock_limit = {
    "clock-limit", "TIME", VALUE_RANGE(VALUE_SECONDS, VALUE_POSITIVE, INFINITY),
    "with --probe: how far a node's wall clock may be from the other nodes' median"
};
static const struct option_use doctor_uses[] = { { &cluster, NULL },     { &probe, NULL },
                                                 { &by_mpi, NULL },      { &measured, NULL },
                                                 { &clock_limit, "1s" }, { &topology, NULL },
                                                 { &option_json, NULL }, { NULL, NULL } };
static const struct option_spec job_name = { .name = "name",
                                             .value = "NAME",
                                             .text = "name of the job, as in Slurm" };
static const struct option_spec job_ranks = { "ranks", "N", VALUE_RANGE(VALUE_COUNT, 1, JOB_RANKS_MAX),
                                              "number of its ranks" };
static const struct option_spec job_nodes = { "nodes", "N", VALUE_RANGE(VALUE_COUNT, 1, JOB_RANKS_MAX),
                                              "number of its nodes; otherwise runs on any number count" };
static const struct option_use earlier_uses[] = {
    { &job_name, OPTION_REQUIRED },
    { &job_ranks, OPTION_REQUIRED },
    { &job_nodes, NULL },
    { &option_json, NULL },
    { &wide, NULL },
    { NULL, NULL },
};
static const struct option_use config_uses[] = { { &mdoc, NULL }, { NULL, NULL } };

/* ---- commands ---- */

static const struct options_command table[] = {
    { "status", "", "show the controller's state and what it guards",
      "Asks the controller one question: the quickest check that everything on the way to it works.", answers,
      NULL, COMMAND_STATUS },
    { "jobs", "", "list the guarded job steps that you may see",
      "Running steps come first: those that stand still, then the costliest; ended ones follow, the newest first. HEALTH is how "
      "the step is in a word, COST the share of the step time that its worst verdict costs (100 % where nothing moves), TREND whether "
      "the step comes to lose more or less, CULPRIT whom that verdict names. STEP is the median step time, SKEW the median time between the first and the last "
      "arrival at a collective, SYNC the share of the ranks' time spent waiting for later ranks.",
      jobs_uses, NULL, COMMAND_JOBS },
    { "job", "JOB", "report on one job: its state, what slows it down, and what that costs",
      "JOB is a Slurm job or step: 123, 123.0, 123_4 (of an array), 123+1 (of a heterogeneous job). Without a step the "
      "newest one is shown. Finished steps are read from the controller's history, and so are with --run the runs of a job before it was requeued. "
      "Ten lines say what holds the job back, what that costs, where it is, how it changes and what to do; of a healthy job it is two or three. "
      "With --full the report has every verdict, figure and table. "
      "With --html it is a page for a browser, to be sent to somebody: one file that needs nothing else, with the verdicts and what to do, charts of step "
      "time, waiting, skew, the lateness of ranks and what their time is spent on, the newest step drawn, and the whole report. An existing file is not "
      "overwritten; to a terminal it is not written.",
      job_uses, NULL, COMMAND_JOB },
    { "nodes", "[NODE]", "list the nodes, the most expensive one first, or the jobs of one of them",
      "NAMED counts how often a verdict named the node, LAST NAMED is when it last did. Of one node, idle or not, the newest 100 job steps "
      "that ran on it and that you may see are listed: SEEN is when the step was last looked at, NAMED FOR for how long verdicts named the node or ranks on it, LOST "
      "what the step lost by that, AT MOST the highest slowdown and VERDICT its class; below, what the newest verdict said.",
      answers, NULL, COMMAND_NODES },
    { "lemons", "", "list the nodes that hold jobs back again and again, for sbatch --exclude",
      "As Slurm writes lists; nothing where there are none. Who does not see all jobs is told those only that jobs of several users "
      "blame.",
      answers, NULL, COMMAND_LEMONS },
    { "earlier", "",
      "show what your earlier runs of a job communicated, by which the next start may order its ranks",
      "Runs of your own alone, of the same name and number of ranks. A line for each thing that is known: runs is how many there are; "
      "pattern is what the newest communicated, as srun --sync-guard=pattern= takes it, where that is certain; communication is the share "
      "of the ranks' time; placed and held_out are how many starts are compared, and last which of the two the newest was. Of the newest run whose MPI library chose the algorithm of its all-reduces itself: library "
      "is what it calls itself, step the seconds of a step, allreduce a line for each size, with the bytes, how many there are in a step, the shortest and the mean "
      "stay of a rank in one, and their relative standard error; algorithm_placed, algorithm_held_out and algorithm_last are as placed, held_out and last. The plugin in srun asks this, and skips lines that it does not know.",
      earlier_uses, NULL, COMMAND_EARLIER },
    { "action", "JOB ACTION [VALUE...]", "act on a running job",
      "ACTION is checkpoint (ask the job for one now), signal SIGNAL (to the guarded step; one that a rank's program has no handler for would kill it, and is refused), requeue, exclude NODES "
      "(requeue and keep the job off these nodes), or comment TEXT, on your own jobs; webhook TEXT and command TEXT, for "
      "operators, try what is configured. The command asks for confirmation and waits at most 90 s for the action to "
      "end; it exits with 3 when the action is still pending then. What cannot be done is refused before the question, and alike with --dry-run, whose "
      "--json has the keys of the action's and dry_run.",
      action_uses, "ACTION checkpoint signal requeue exclude comment webhook command", COMMAND_ACTION },
    { "node", "NODES ACTION [TEXT...]", "act on nodes (operators)",
      "ACTION is drain, with the reason as TEXT; comment; or resume, which takes drained nodes back, whoever drained "
      "them (its TEXT goes into the record only). NODES is a list as Slurm writes it. A node that is drained already "
      "keeps its reason; a comment by others stays in front of ours. Confirmation, waiting and exit status are those "
      "of the command action.",
      node_uses, "ACTION drain comment resume", COMMAND_NODE },
    { "actions", "[JOB]", "list actions on jobs and nodes, and how they ended",
      "The newest first, those of policies and those by hand. Failed and abandoned actions show why, pending ones why "
      "they are tried again. Below them the effect of the order of ranks, of jobs some of whose starts are held out.",
      answers, NULL, COMMAND_ACTIONS },
    { "audit", "[JOB]", "list decisions of policies, why they were made, and their effect",
      "The newest first, of one job or of all that you may see: what was done, what a dry run would have done, what was "
      "withheld and why, what people set, and the effect of each action, measured afterwards.",
      answers, NULL, COMMAND_AUDIT },
    { "record", "JOB", "write every collective and message of a job step as a trace",
      "The format is syncguard-trace version 2, JSON lines. While a recording runs, the agents of that step send every "
      "collective and message instead of samples. It ends with the step, after --seconds, or at Ctrl-C, always at the end of a "
      "line; then the numbers of records, ranks and lost records are printed on standard error. An existing file is not overwritten.",
      record_uses, NULL, COMMAND_RECORD },
    { "analyze", "TRACE", "judge a recorded trace as the controller would have",
      "TRACE is a file written by sgctl record, or - for standard input. The engine that judges live jobs reads it, by "
      "the trace's own clock and without looking ahead. The parameters are those of the default policy, or with --conf "
      "of the one in that file. No controller is asked. With --html the report is a page for a browser, as that of a job.",
      analyze_uses, NULL, COMMAND_ANALYZE },
    { "replay", "TRACE", "play a recorded trace on the live screen",
      "TRACE is a file written by sgctl record. Starts sgtop on it: the screens, and the verdicts as they were known "
      "then. Space pauses, + and - change the speed, the arrows seek; ? lists all keys. Where the output is no "
      "terminal, one report of the whole trace is printed.",
      replay_uses, NULL, COMMAND_REPLAY },
    { "step", "JOB|TRACE", "show why the newest step takes as long as it does",
      "Prints what the step's critical path consists of, and what its ranks did: those on the path, one of each role, and "
      "the slowest. With --output the step is drawn as an SVG file: ranks down, time across, with messages and the critical "
      "path; an existing file is not overwritten. TRACE is a file written by sgctl record, or - for standard input, and no "
      "controller is asked then; a file whose name could be a job is written ./123. The key t of sgtop shows the same live.",
      step_uses, NULL, COMMAND_STEP },
    { "export", "TRACE", "write a recorded trace as a timeline for Perfetto or Chrome",
      "TRACE is a file written by sgctl record. What is written is the Trace Event Format, to be opened at https://ui.perfetto.dev or "
      "chrome://tracing: a node is a process, a rank a thread, a call a slice, a message an arrow. The critical path is a track of its own: a "
      "slice for each step, and within it what the step waited for, moment by moment. The nodes' clocks are aligned; how well is said at the "
      "end and in the file. An existing file is not overwritten.",
      export_uses, NULL, COMMAND_EXPORT },
    { "import", "FILE...", "write other programs' records of a training as a trace",
      "FILE is a timeline in Chrome's Trace Event Format (of torch.profiler, of a pipeline-parallel training, or of sgctl export), a dump of "
      "PyTorch's flight recorder, or lines of NCCL Inspector: one file for each rank, or one for all, or - for standard input. Content "
      "tells what it is. What is written is syncguard-trace version 2, for the commands analyze, step, replay and export. "
      "What was not understood is skipped, and counted on standard error. An existing file is not overwritten.",
      import_uses, NULL, COMMAND_IMPORT },
    { "top", NULL, "start sgtop, the live screen", "Everything behind the word top is passed to sgtop.", NULL,
      "sgtop", COMMAND_TOP },
    { "config", "", "list the keys of syncguard.conf with unit, range, default and meaning", NULL,
      config_uses, NULL, COMMAND_CONFIG },
    { "config check", "FILE", "check a configuration file as the controller reads it",
      "Names the line that is wrong. Rules are checked too.", NULL, NULL, COMMAND_CONFIG_CHECK },
    { "policy", "", "the same as policy list", NULL, answers, NULL, COMMAND_POLICY_LIST },
    { "policy list", "", "list the controller's policies", NULL, answers, NULL, COMMAND_POLICY_LIST },
    { "policy show", "POLICY", "show a policy's parameters and rules", NULL, answers, NULL,
      COMMAND_POLICY_SHOW },
    { "policy explain", "JOB", "show why each rule acts on a job or does not",
      "For each rule: its condition with the present figures, since when it holds, what is left of its cool-down and "
      "budget, and its last decision.",
      answers, NULL, COMMAND_POLICY_EXPLAIN },
    { "policy set", "JOB KEY=VALUE...", "change parameters of a running job's policy",
      "They take effect on all ranks within a second: all of them or, when one is not accepted, none. KEY=default takes "
      "one back. What was set survives a reload of the configuration and ends with the run. Owners may change their own "
      "jobs; budgets, and what is done to nodes, are for operators.",
      answers, NULL, COMMAND_POLICY_CONTROL },
    { "policy pause", "JOB", "stop a job's policy from deciding", NULL, answers, NULL,
      COMMAND_POLICY_CONTROL },
    { "policy resume", "JOB", "let a paused policy decide again", NULL, answers, NULL,
      COMMAND_POLICY_CONTROL },
    { "policy acknowledge", "JOB", "mark a job's verdicts as seen",
      "Screens show it, and rules can ask for it.", answers, NULL, COMMAND_POLICY_CONTROL },
    { "policy check", "FILE", "check a policy file as the controller reads it", "Rules are checked too.",
      NULL, NULL, COMMAND_POLICY_CHECK },
    { "policy try", "FILE TRACE [POLICY]", "run a policy on a recorded trace",
      "Prints what the policy of that file would have decided, and where that is nothing, why. POLICY is one of the file's policies, where it has "
      "several.",
      answers, NULL, COMMAND_POLICY_TRY },
    { "policy figures", "", "list the figures that a rule's condition can use", NULL, NULL, NULL,
      COMMAND_POLICY_FIGURES },
    { "doctor", "", "check the setup of this machine, and print what to type where something is missing",
      "One line for each thing that a guarded job needs: configuration, munge, controller, plugin, probe, agent, shared "
      "memory, clock. With --cluster the cluster is checked instead, from here: the switches of topology.conf against the "
      "nodes and switches that slurmctld has, and what the controller knows of the running jobs that you may see: agents of "
      "another version or that are missing, nodes without recorded ranks, verdicts that name a link. "
      "The slurmd of each node that a step would use is tried first, for at most 2 s: a node where it refuses the connection or does not "
      "answer is a fault, and left out. "
      "A step of one task per free node (srun, at most 20 s), or per node of the allocation that this is called in, then checks what one machine is checked for, and "
      "LD_PRELOAD, limits, clock, munge in both directions, and whether version, build and configuration are those of this host. Each line is ok, a "
      "note, unknown (it could not be seen from here) or a fault, with where its figures come from and what to type next. "
      "With --probe it also measures between all pairs of nodes, round after round of pairs that share no node: of the allocation that "
      "it is called in (salloc), else of the default partition's (SLURM_PARTITION) idle nodes, 6 to 1024 of them, by a job step of one task per "
      "node. Measured are the shortest of up to 40 round trips of a byte, and how fast up to 2 MiB (what goes in 50 ms) arrive in each direction, "
      "over one plain TCP connection to the node's address in Slurm: what the kernel's network does, not an adapter that bypasses it. What is usual "
      "is the median of the pairs that are as far apart in topology.conf. Faults are nodes, pairs and switches' links that are slow or "
      "delayed (a round trip does not tell which way), rates that differ by direction, links of two rates, nodes that are "
      "nearer to another switch's nodes than to those of their own, and nodes that cannot reach each other. Pairs that were slow once are measured again "
      "before anything is said of them. Round trips carry the partner's wall clock, so each node's clock is compared with the median of the "
      "others', to within half of a round trip. "
      "It takes at most half a minute: with more nodes than fit it says how many pairs were "
      "measured. With --mpi the same pairs then measure by MPI, with the library that LD_LIBRARY_PATH leads to and srun's --mpi=pmix, else "
      "pmi2 (SLURM_MPI_TYPE): "
      "faults are nodes and pairs where MPI does much worse beside sockets than it does elsewhere, because it fell back to another device. "
      "Other jobs that use the network meanwhile are disturbed for that time, and disturb it.",
      doctor_uses, NULL, COMMAND_DOCTOR },
};

static const struct options_command *command(size_t i)
{
    return i < ARRAY_SIZE(table) ? &table[i] : NULL;
}

static void complete(const struct options *o, const char *name, FILE *out)
{
    bool or_trace = !strcmp(name, "JOB|TRACE");

    if (!strcmp(name, "KEY=VALUE")) { /* what `sgctl policy set` can change */
        for (const struct key *key = config_keys(CONFIG_POLICY); key->name; key++)
            fprintf(out, "%s=\t%s\n", key->name, key->text);
        return;
    }
    session_complete(o, or_trace ? "JOB" : name, out);
    if (or_trace)
        fputs("@files\n", out);
}

const struct options_program sgctl_program = {
    .name = "sgctl",
    .text = "Ask SyncGuard's controller about guarded jobs, and act on them.",
    .noun = "command",
    .command = command,
    .common = common,
    .examples = { "sgctl jobs --finished", "sgctl action 123 requeue --dry-run" },
    .help_end =
        "Exit status: 0, 1 (no answer, not found, failed), 2 (wrong usage), 3 (the action is still pending). "
        "Manual page: sgctl(1).",
    .complete = complete,
};
