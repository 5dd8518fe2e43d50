#include "spank/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/preload.h"
#include "common/trust.h"
#include "pacing/pacer.h"
#include "ring/note.h"
#include "ring/ring.h"
#include "spank/keeper.h"
#include "spank/portal.h"
#include "spank/preloaded.h"
#include "spank/profiler.h"
#include "spank/settings.h"
#include "spank/stepdir.h"
#include "spank/task.h"
#include "spank/text.h"
#include "spank/watch.h"

/* The address sanitizer's, which may not mind the probe. */
#define ENV_ASAN "ASAN_OPTIONS"
/* Makes waiting ranks of Open MPI yield their core.  Set where there are more ranks than cores; ENV_YIELDS
 * marks that the plugin set it. */
#define ENV_YIELD  "OMPI_MCA_mpi_yield_when_idle"
#define ENV_YIELDS "SYNCGUARD_YIELDS"

#define NONE UINT32_MAX

#define END_QUICK_MS 20  /* longest wait for a keeper without an agent */
#define END_SLOW_MS  120 /* longest wait for the agent to drain its rings */

/* Nothing that the end of a step waits for may depend on the user.  Waiting is bounded by the times above,
 * the system calls on his directory are single ones (rmdir), and whatever takes longer is the keeper's
 * work. */
static struct {
    pid_t stepd; /* 0: not known */
    bool watching;
    int keeper; /* its socket; -1: none */
    uint32_t tasks_left;
    char name[224];         /* of step and node, in messages */
    char dir[STEPDIR_SIZE]; /* "": none made */
    char parent[STEPDIR_SIZE];
    int portal;           /* shows the parent to tasks; -1: none */
    struct err not_shown; /* in a task: why it does not see the parent */
    struct strings argv, env, credential;
    struct keeper_plan plan;
} guard = { .keeper = -1, .portal = -1 };

/* The step on this node. */
struct slurm_step {
    spank_t sp;
    uid_t uid;
    uint32_t job, id, node_index, nodes, local_tasks, tasks;
    uint32_t het_job, het_offset; /* NONE: not heterogeneous */
    const char *node;
    struct notes notes;
    bool unguarded;
    bool local_trouble; /* this node's alone, so the first node cannot report it for all */
};

static uint32_t item(spank_t sp, spank_item_t which)
{
    uint32_t value = NONE;

    return spank_get_item(sp, which, &value) == ESPANK_SUCCESS ? value : NONE;
}

/* A variable of the job's environment; "" when it is not set. False when it does not fit: buf is "" then,
 * too. */
static bool job_env_whole(const struct slurm_step *s, const char *name, char *buf, size_t size)
{
    spank_err_t rc = spank_getenv(s->sp, name, buf, (int)size);

    if (rc != ESPANK_SUCCESS)
        buf[0] = '\0';
    return rc == ESPANK_SUCCESS || rc == ESPANK_ENV_NOEXIST;
}

static const char *job_env(const struct slurm_step *s, const char *name, char *buf, size_t size)
{
    job_env_whole(s, name, buf, size);
    return buf;
}

static uint32_t job_env_number(const struct slurm_step *s, const char *name)
{
    char buf[32], *end;
    unsigned long value = strtoul(job_env(s, name, buf, sizeof(buf)), &end, 10);

    return *buf && !*end && value < NONE ? (uint32_t)value : NONE;
}

/* In a heterogeneous step SPANK gives each component its own job id and counts.  The id of the whole job is
 * that of its first component. */
static void step_het(struct slurm_step *s)
{
    uint32_t size = job_env_number(s, "SLURM_HET_SIZE"), n;
    char name[48];

    s->het_job = s->het_offset = NONE;
    if (size == NONE || size > 1024)
        return;
    for (uint32_t i = 0; i < size; i++) {
        snprintf(name, sizeof(name), "SLURM_JOB_ID_PACK_GROUP_%u", i);
        n = job_env_number(s, name);
        if (n == NONE) {
            snprintf(name, sizeof(name), "SLURM_JOB_ID_HET_GROUP_%u", i);
            n = job_env_number(s, name);
        }
        if (i == 0)
            s->het_job = n;
        if (n == s->job)
            s->het_offset = i;
    }
}

static bool step_read(struct slurm_step *s, spank_t sp)
{
    memset(s, 0, sizeof(*s));
    s->sp = sp;
    s->uid = geteuid();
    s->job = item(sp, S_JOB_ID);
    s->id = item(sp, S_JOB_STEPID);
    s->node_index = item(sp, S_JOB_NODEID);
    s->nodes = item(sp, S_JOB_NNODES);
    s->local_tasks = item(sp, S_JOB_LOCAL_TASK_COUNT);
    s->tasks = item(sp, S_JOB_TOTAL_TASK_COUNT);
    s->node = getenv("SLURMD_NODENAME"); /* set by slurmd in slurmstepd's environment */
    step_het(s);
    return s->job != NONE && s->id < STEP_FIRST_SPECIAL;
}

__attribute__((format(printf, 2, 3))) static void unguarded(struct slurm_step *s, const char *fmt, ...)
{
    char reason[600];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(reason, sizeof(reason), fmt, ap);
    va_end(ap);
    notes_add(&s->notes, "unguarded: %s", reason);
    if (!s->unguarded &&
        (s->local_trouble || (s->node_index == 0 && (s->het_offset == NONE || s->het_offset == 0))))
        slurm_spank_log("sync-guard: %u.%u runs unguarded: %s: %s", s->job, s->id, s->node ? s->node : "?",
                        reason);
    else
        slurm_info("sync-guard: %u.%u runs unguarded: %s", s->job, s->id, reason);
    s->unguarded = true;
}

/* ---- the tasks' environment ---- */

/* A step inside a guarded one inherits the outer step's guard from the environment; remove it. */
static void environment_clean(struct slurm_step *s)
{
    char set[4096];

    if (!*job_env(s, RING_ENV_DIR, set, sizeof(set)) && !*job_env(s, PRELOAD_ENV_ADDED, set, sizeof(set)))
        return;
    spank_unsetenv(s->sp, RING_ENV_DIR);
    preloaded_remove(s->sp);
    if (*job_env(s, ENV_YIELDS, set, sizeof(set))) {
        spank_unsetenv(s->sp, ENV_YIELD);
        spank_unsetenv(s->sp, ENV_YIELDS);
    }
    profiler_unset(s->sp);
}

/* The host file of the order makes the step's distribution "arbitrary", which srun exports.  A step inside of
 * this one would take it for its own, and have no host file. */
static void environment_forget_order(struct slurm_step *s)
{
    char set[64];

    if (strcmp(job_env(s, "SLURM_DISTRIBUTION", set, sizeof(set)), "arbitrary") != 0)
        return;
    job_env(s, "SYNCGUARD_PLACEMENT", set, sizeof(set));
    if (!strncmp(set, "on ", 3) || !strncmp(set, "placed ", 7))
        spank_unsetenv(s->sp, "SLURM_DISTRIBUTION");
}

/* With more ranks than cores, ranks that spin take time from the ranks they wait for: measured 3 to 6 times
 * as slow.  Unlike the probe's release lever, this setting holds from the first collective on.  A value that
 * the user set stays.  MPICH has no such setting (its POLLS_BEFORE_YIELD is for ch3); there the probe
 * yields. */
static void environment_yield(struct slurm_step *s, const struct config_policy *policy)
{
    uint32_t cpus = job_env_number(s, "SLURM_CPUS_ON_NODE");
    char set[32];

    if (!policy->pacing || !(policy->pace.levers & PACER_RELEASE) || cpus == NONE || s->local_tasks == NONE ||
        s->local_tasks <= cpus || spank_getenv(s->sp, ENV_YIELD, set, sizeof(set)) != ESPANK_ENV_NOEXIST)
        return;
    if (spank_setenv(s->sp, ENV_YIELD, "1", 0) == ESPANK_SUCCESS)
        spank_setenv(s->sp, ENV_YIELDS, "1", 1);
}

static void environment_guard(struct slurm_step *s, const char *probe)
{
    char list[16384], with[16384];

    if (!job_env_whole(s, "LD_PRELOAD", list, sizeof(list))) {
        unguarded(s, "LD_PRELOAD is too long");
        return;
    }
    if (!preload_add(list, probe, with, sizeof(with)))
        unguarded(s, "the probe %s does not fit into LD_PRELOAD", probe);
    else if (spank_setenv(s->sp, RING_ENV_DIR, guard.dir, 1) != ESPANK_SUCCESS ||
             spank_setenv(s->sp, PRELOAD_ENV_ADDED, probe, 1) != ESPANK_SUCCESS ||
             spank_setenv(s->sp, "LD_PRELOAD", with, 1) != ESPANK_SUCCESS)
        unguarded(s, "cannot set the tasks' environment");
    else if (job_env_whole(s, ENV_ASAN, list, sizeof(list)) && preload_allow(list, with, sizeof(with)))
        spank_setenv(s->sp, ENV_ASAN, with, 1);
}

/* ---- the agent's command line and environment ---- */

#define DISTRUST "%s, and root uses no file that others can change"

static void add_number(struct strings *env, const char *name, uint32_t value)
{
    if (value != NONE)
        strings_add(env, "%s=%u", name, value);
}

struct counts {
    uint32_t nodes, tasks; /* NONE: not known */
};

/* Of all components of the step.  In a heterogeneous job srun alone knows them, and tells the tasks. */
static struct counts counts_of_all(const struct slurm_step *s)
{
    if (s->het_job == NONE)
        return (struct counts){ s->nodes, s->tasks };
    return (struct counts){ job_env_number(s, "SLURM_STEP_NUM_NODES"),
                            job_env_number(s, "SLURM_STEP_NUM_TASKS") };
}

static void agent_environment(const struct slurm_step *s, struct strings *env)
{
    static const char *const passed[] = {
        "SLURM_JOB_NAME",      "SLURM_JOB_PARTITION", "SLURM_JOB_ACCOUNT",           "SLURM_JOB_QOS",
        "SLURM_JOB_USER",      "SLURM_JOB_UID",       "SLURM_RESTART_COUNT",         "SLURM_CLUSTER_NAME",
        "SLURM_TOPOLOGY_ADDR", "SLURM_JOB_END_TIME",  "SLURM_TOPOLOGY_ADDR_PATTERN", "SYNCGUARD_PLACEMENT",
        "SYNCGUARD_ALGORITHM", "SLURM_STEP_NODELIST",
    };
    struct counts all = counts_of_all(s);
    char value[4096];

    strings_add(env, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    add_number(env, "SLURM_JOB_ID", s->job);
    add_number(env, "SLURM_STEP_ID", s->id);
    add_number(env, "SLURM_NNODES", all.nodes);
    add_number(env, "SLURM_NTASKS", all.tasks);
    add_number(env, "SLURM_NODEID", s->node_index);
    add_number(env, "SYNCGUARD_LOCAL_TASKS", s->local_tasks);
    add_number(env, "SYNCGUARD_TASKS_PARENT", (uint32_t)getpid());
    add_number(env, "SLURM_HET_JOB_ID", s->het_job);
    add_number(env, "SLURM_HET_JOB_OFFSET", s->het_offset);
    strings_add(env, "SLURMD_NODENAME=%s", s->node);
    for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++) {
        if (*job_env(s, passed[i], value, sizeof(value)))
            strings_add(env, "%s=%s", passed[i], value);
    }
    if (s->notes.n)
        strings_add(env, "SYNCGUARD_NOTES=%s", s->notes.text);
}

static void agent_command(const struct slurm_step *s, const struct config *c,
                          const struct config_policy *policy, const char *policy_name, bool asked,
                          struct strings *argv)
{
    strings_add(argv, "%s", c->agent);
    strings_add(argv, "--dir=%s", guard.dir);
    strings_add(argv, "--policy=%s", policy_name);
    if (asked)
        strings_add(argv, "--policy-asked");
    strings_add(argv, "--controller=%s", c->controller);
    if (*c->munge_socket)
        strings_add(argv, "--munge-socket=%s", c->munge_socket);
    if (policy)
        strings_add(argv, "--rate=%g", policy->sample_rate_hz);
    strings_add(argv, "--node=%s", s->node);
    strings_add(argv, "--cluster=%s", c->cluster);
    if (guard.credential.n)
        strings_add(argv, "--identity-fd=%d", KEEPER_IDENTITY_FD);
    strings_add(argv, "--trust=%s,%s", c->slurm_user, c->controller_user);
}

/* The ranks of this node's tasks as "0-3,8". */
static void local_ranks(const struct slurm_step *s, char *out, size_t size)
{
    uint32_t first = NONE, last = NONE, rank;
    size_t at = 0;

    out[0] = '\0';
    for (uint32_t i = 0; s->local_tasks != NONE && i <= s->local_tasks; i++) {
        if (i == s->local_tasks ||
            spank_get_item(s->sp, S_JOB_LOCAL_TO_GLOBAL_ID, i, &rank) != ESPANK_SUCCESS)
            rank = NONE;
        if (first != NONE && rank == last + 1) {
            last = rank;
            continue;
        }
        if (first != NONE && at < size)
            at += (size_t)snprintf(out + at, size - at, first == last ? "%s%u" : "%s%u-%u", at ? "," : "",
                                   first, last);
        first = last = rank;
    }
    if (at >= size)
        out[0] = '\0'; /* unknown rather than cut */
}

/* Root vouches for these facts, so they come from SPANK and never from the job's environment. */
static void credential_command(struct slurm_step *s, const struct config *c, struct strings *argv)
{
    char ranks[4096];
    struct err err;

    if (trust_check(c->credential, &err) < 0) {
        notes_add(&s->notes, "unconfirmed: " DISTRUST, err.text);
        return;
    }
    local_ranks(s, ranks, sizeof(ranks));
    strings_add(argv, "%s", c->credential);
    if (*c->munge_socket)
        strings_add(argv, "--munge-socket=%s", c->munge_socket);
    strings_add(argv, "--cluster=%s", c->cluster);
    strings_add(argv, "--uid=%u", s->uid);
    strings_add(argv, "--job=%u", s->job);
    strings_add(argv, "--step=%u", s->id);
    strings_add(argv, "--node=%s", s->node);
    strings_add(argv, "--ranks=%s", ranks);
    strings_add(argv, "--tasks=%u", s->tasks);
    strings_add(argv, "--nodes=%u", s->nodes);
}

/* Have a directory emptied and removed by a keeper without an agent.  Nobody waits for it. */
static void leave_to_keeper(const char *dir)
{
    struct keeper_plan plan = guard.plan;
    int fd;

    plan.dir = dir;
    plan.argv = NULL;
    fd = keeper_start(&plan);
    if (fd >= 0)
        close(fd);
}

static void watch_run(struct slurm_step *s, const struct config *c, const struct config_policy *policy,
                      const char *policy_name, bool asked)
{
    struct keeper_plan *plan = &guard.plan;

    credential_command(s, c, &guard.credential);
    agent_command(s, c, policy, policy_name, asked, &guard.argv);
    agent_environment(s, &guard.env);
    plan->argv = guard.argv.item;
    plan->envp = guard.env.item;
    plan->credential_argv = guard.credential.item;
    plan->at_once = s->unguarded;
    if (guard.argv.lost || guard.env.lost || guard.credential.lost)
        unguarded(s, "out of memory");
    else if (watch_start(plan) < 0)
        unguarded(s, "cannot create a thread that starts the agent: %s", strerror(errno));
    else
        guard.watching = true;
}

/* ---- the guard ---- */

/* Whether the user may read or run the file.  access() would check for slurmstepd's real user, root. */
static bool usable(const char *path, int mode)
{
    struct stat st;

    return faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Change this thread's effective user, between the job's and root.  The raw system call: glibc's wrapper
 * would change slurmstepd's other threads too.  False where slurmstepd is not root. */
static bool become(uid_t uid)
{
    return syscall(SYS_setresuid, -1, uid, -1) == 0;
}

/* Make the step's directory, as root.  guard.dir is "" when there is none, and the reason is reported. */
static void directory_make(struct slurm_step *s)
{
    char *parent = guard.parent, old[STEPDIR_SIZE] = "";
    uint64_t ranks = s->local_tasks != NONE ? s->local_tasks : 1;
    bool root = become(0), made = false;
    struct err err = { "" };

    if (stepdir_parent(parent, sizeof(guard.parent), STEPDIR_BASE) < 0 ||
        stepdir_path(guard.dir, sizeof(guard.dir), parent, s->uid, s->job, s->id, s->node) < 0) {
        guard.dir[0] = '\0';
        err_set(&err, "the node's name %s cannot be part of a directory's name", s->node);
    } else if (stepdir_make_parent(parent, &err) == 0) {
        made = stepdir_make(guard.dir, s->uid, guard.plan.gid, old, &err) == 0;
    }
    if (made)
        guard.portal = portal_open(parent);
    if (*old)
        leave_to_keeper(old);
    if (root)
        become(s->uid);
    s->local_trouble = true;
    if (!made) {
        guard.dir[0] = '\0';
        unguarded(s, "%s", err.text);
    } else if (!stepdir_has_room(guard.dir, ranks * RING_MAIN_BYTES, &err)) {
        unguarded(s, "%s", err.text);
    }
    s->local_trouble = false;
}

/* One that the user set stays: in the environment, which is seen here, or in a file, which the tasks read as
 * that user (profiler_give_way()). */
static void environment_nccl(struct slurm_step *s, const struct config *c, const struct config_policy *policy)
{
    static const char missing[] = "NCCL's collectives are not recorded";
    struct err err;
    char set[32];

    if (!usable(c->nccl, R_OK))
        return;
    if (trust_check(c->nccl, &err) < 0)
        notes_add(&s->notes, "%s: " DISTRUST, missing, err.text);
    else if (spank_getenv(s->sp, PROFILER_ENV, set, sizeof(set)) != ESPANK_ENV_NOEXIST)
        notes_add(&s->notes, "%s: the user has set " PROFILER_ENV, missing);
    else if (spank_setenv(s->sp, PROFILER_ENV, c->nccl, 0) != ESPANK_SUCCESS ||
             spank_setenv(s->sp, PROFILER_ENV_OURS, "1", 1) != ESPANK_SUCCESS ||
             spank_setenv(s->sp, PROFILER_ENV_EVENTS, config_nccl_events[policy->nccl_events], 1) !=
                 ESPANK_SUCCESS)
        notes_add(&s->notes, "%s: cannot set the tasks' environment", missing);
}

/* Guard the step by these settings.  The agent runs even when the ranks cannot be guarded, to report why. */
static void guard_with(struct slurm_step *s, const struct config *c, const struct args *args,
                       const struct choice *choice)
{
    const struct config_policy *policy = settings_policy(c, choice);
    const char *policy_name = policy ? policy->name : choice->policy;
    char names[1024];
    struct err err;

    if (!policy)
        unguarded(s, "unknown policy %s; known are %s", policy_name,
                  config_policy_names(c, names, sizeof(names)));
    else
        task_plan(settings_placement(policy, args, choice));
    if (!usable(c->agent, X_OK)) {
        unguarded(s, "cannot run the agent %s: %s", c->agent, strerror(errno));
        return;
    }
    if (settings_trusted(c, args, &err) < 0) {
        unguarded(s, DISTRUST, err.text);
        return;
    }
    if (!usable(c->probe, R_OK))
        unguarded(s, "cannot read the probe %s: %s", c->probe, strerror(errno));
    else if (trust_check(c->probe, &err) < 0) /* it runs in this user's programs, with all of his rights */
        unguarded(s, DISTRUST, err.text);
    guard.plan = (struct keeper_plan){ .dir = guard.dir, .uid = s->uid, .gid = getegid() };
    guard.plan.n_groups = getgroups(KEEPER_GROUPS_MAX, guard.plan.groups);
    if (guard.plan.n_groups < 0)
        guard.plan.n_groups = 0;
    directory_make(s);
    if (!*guard.dir)
        return;
    if (!s->unguarded)
        environment_guard(s, c->probe);
    if (!s->unguarded)
        environment_yield(s, policy);
    if (!s->unguarded)
        environment_nccl(s, c, policy);
    watch_run(s, c, policy, policy_name, choice->kind == CHOICE_POLICY);
    if (!guard.watching)
        environment_clean(s); /* remote_end() removes the directory */
}

void remote_init(void)
{
    guard.stepd = getpid();
}

void remote_begin(spank_t sp, const struct args *args, const struct choice *option, const char *unknown)
{
    char partition[128];
    struct choice choice;
    struct slurm_step step;
    bool is_step = step_read(&step, sp);
    struct config *c;
    struct err err;

    environment_clean(&step);
    if (!is_step)
        return;
    environment_forget_order(&step);
    choice = option ? *option
                    : args_default(args, job_env(&step, "SLURM_JOB_PARTITION", partition, sizeof(partition)));
    if (choice.kind == CHOICE_OFF || choice.kind == CHOICE_HELP)
        return;
    if (unknown)
        notes_add(&step.notes, "plugstack.conf: invalid argument %.128s, ignored", unknown);
    guard.tasks_left = step.local_tasks;
    snprintf(guard.name, sizeof(guard.name), "%u.%u on %s", step.job, step.id, step.node ? step.node : "?");
    c = calloc(1, sizeof(*c));
    if (!c)
        unguarded(&step, "out of memory");
    else if (guard.stepd && guard.stepd != getpid())
        unguarded(&step,
                  "Slurm calls the plugin in a process that does not stay: SlurmdParameters=contain_spank");
    else if (!step.node)
        unguarded(&step, "SLURMD_NODENAME is not set");
    else if (settings_load(c, args, &err) < 0)
        unguarded(&step, "%s", err.text);
    else
        guard_with(&step, c, args, &choice);
    free(c);
}

/* ---- in a task ---- */

void remote_task_show(void)
{
    if (*guard.dir && guard.portal >= 0)
        portal_show(guard.portal, guard.parent, &guard.not_shown);
}

void remote_task_check(spank_t sp)
{
    char held[STEPDIR_SIZE + 32], text[900];
    struct slurm_step s = { .sp = sp };
    const char *why = guard.not_shown.text;

    if (!*guard.dir || access(guard.dir, W_OK | X_OK) == 0)
        return;
    environment_clean(&s);
    snprintf(text, sizeof(text), "unguarded: a task does not see %s: %s", guard.dir,
             *why ? why : "it has other mounts than slurmstepd");
    if (item(sp, S_TASK_GLOBAL_ID) == 0)
        slurm_spank_log("sync-guard: %s runs %s", guard.name, text);
    /* The task does not have the directory, but it has what shows it. */
    snprintf(held, sizeof(held), "/proc/self/fd/%d%s", guard.portal, guard.dir + strlen(guard.parent));
    note_leave(held, "unseen", text, false);
}

/* ---- the end ---- */

static void end_guard(void)
{
    bool given_up;

    if (!guard.watching)
        return;
    guard.watching = false;
    guard.keeper = watch_end(&given_up);
    if (given_up)
        slurm_spank_log("sync-guard: %s was guarded only in part: its keeper died %d times", guard.name,
                        WATCH_RESTARTS_MAX + 1);
    if (guard.keeper < 0)
        return;
    keeper_end(guard.keeper);
    keeper_wait(guard.keeper, END_QUICK_MS, END_SLOW_MS);
}

void remote_task_exit(void)
{
    if (guard.tasks_left > 0 && guard.tasks_left != NONE && --guard.tasks_left == 0)
        end_guard();
}

void remote_end(void)
{
    bool through;

    end_guard();
    if (!*guard.dir)
        return;
    /* A keeper that still runs removes the directory when the agent has ended.  Remove it here when the
     * keeper was killed, or was never started because no rank made a ring. */
    through = guard.keeper < 0 || keeper_wait(guard.keeper, 1, 1);
    if (through && !stepdir_remove(guard.dir))
        leave_to_keeper(guard.dir);
    if (guard.keeper >= 0)
        close(guard.keeper);
    guard.keeper = -1;
    if (guard.portal >= 0)
        close(guard.portal);
    guard.portal = -1;
    guard.dir[0] = '\0';
    strings_free(&guard.argv);
    strings_free(&guard.env);
    strings_free(&guard.credential);
}
