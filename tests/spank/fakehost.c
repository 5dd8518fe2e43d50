/* fakehost.c - srun, sbatch, slurmd and slurmstepd as the plugin sees them: implements the SPANK functions
 * that it uses, loads it, and calls its callbacks in Slurm's order, each run in a child of its own because
 * the plugin keeps its state per process.  Agent and probe are stand-ins. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Slurm's symbols that the plugin uses. */
#pragma GCC visibility push(default)
#include <slurm/slurm_errno.h>
#include <slurm/spank.h>
#pragma GCC visibility pop

#include "spank/watch.h"
#include "tests/tap.h"

#define STEP_BATCH       0xfffffffbu
#define STEP_INTERACTIVE 0xfffffffau
#define STEP_EXTERN      0xfffffffcu
#define NOBODY           65534

enum during {
    NOTHING,
    MAKE_RING,
    KILL_AGENT,
    KILL_KEEPER,
    KILL_KEEPERS,
    VANISH,
    LET_FAIL,
    FILL,
    FILL_AND_KILL_KEEPER,
    STOP_AGENT
};
enum twice { ONCE, SAME_FILE, COPY };
enum mounts {
    AS_HOST,
    OWN_SHM, /* the job's, which the tasks join before any callback is called there */
    LATE_SHM /* another plugin's, between the two callbacks in tasks */
};
#define LINES_MAX 2u /* of plugstack.conf */
#define FILES     20000
/* nothing that is waited for takes as long, unless the machine has no time for it */
#define STUCK_S 2.0

struct run {
    spank_context_t context;
    const char *args;       /* of plugstack.conf, separated by blanks */
    const char *options[3]; /* given to the option callback in turn; "-": an argument left out */
    const char *env[9];     /* the user's or the job's */
    uint32_t step, node_index;
    enum during during; /* between user_init and the last task's exit */
    bool tasks;         /* two tasks start: task_init is called, too */
    enum twice twice;   /* a second line of plugstack.conf names the plugin */
    bool container;     /* their root does not have the probe */
    bool apart;         /* user_init is called in a process of its own, as contain_spank=yes does */
    enum mounts mounts; /* the tasks' */
};

struct outcome {
    int option_rc, has_arg, registered, exit_code, restarts;
    bool callbacks_ok, dir_made, dir_left, agent_ran, as_user;
    double begin_s, end_s; /* user_init; task_exit and exit */
    char log[8192];        /* what the user sees */
    char hidden[4096];     /* what only the log files see */
    char out[4096];        /* stdout */
    char dir[256], preload[1024], asan[256], yields[16], nccl[256], nccl_events[16];
    char note[300];      /* of the tasks' */
    char agent[16384];   /* the log of the last agent */
    char hosts[256];     /* what SLURM_HOSTFILE names when srun reads it */
    char placement[128]; /* what the tasks' environment says of the order */
    /* and of the algorithm of all-reduces; what tells it to the libraries */
    char algorithm[128], openmpi[16], mpich[64];
    bool hosts_left; /* the variable is still set when the tasks' environment is made */
};

struct spank_handle {
    int unused;
};

static struct outcome *seen; /* shared with the child */
static const struct run *now;
static char base[64], node[32];
static struct {
    char name[64], value[16384];
    bool set;
} job_env[64];
static uint32_t task; /* that starts */
static spank_opt_cb_f option_cb;

/* ---- SPANK's own functions ---- */

__attribute__((format(printf, 3, 0))) static void append(char *to, size_t size, const char *fmt, va_list ap)
{
    size_t len = strlen(to);

    vsnprintf(to + len, size - len, fmt, ap);
    len = strlen(to);
    snprintf(to + len, size - len, "\n");
}

#define LOGGER(name, where)                                \
    void name(const char *fmt, ...)                        \
    {                                                      \
        va_list ap;                                        \
        va_start(ap, fmt);                                 \
        append(seen->where, sizeof(seen->where), fmt, ap); \
        va_end(ap);                                        \
    }
LOGGER(slurm_error, log)
LOGGER(slurm_spank_log, log)
LOGGER(slurm_info, hidden)
LOGGER(slurm_verbose, hidden)

spank_context_t spank_context(void)
{
    return now->context;
}

spank_err_t spank_option_register(spank_t sp, struct spank_option *opt)
{
    (void)sp;
    option_cb = opt->cb;
    seen->has_arg = opt->has_arg;
    seen->registered++;
    return ESPANK_SUCCESS;
}

static long slot_of(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(job_env); i++) {
        if (job_env[i].set && !strcmp(job_env[i].name, name))
            return (long)i;
    }
    return -1;
}

spank_err_t spank_getenv(spank_t sp, const char *name, char *buf, int len)
{
    long i = slot_of(name);

    (void)sp;
    if (i < 0)
        return ESPANK_ENV_NOEXIST;
    return snprintf(buf, (size_t)len, "%s", job_env[i].value) < len ? ESPANK_SUCCESS : ESPANK_NOSPACE;
}

spank_err_t spank_setenv(spank_t sp, const char *name, const char *value, int overwrite)
{
    long i = slot_of(name);

    (void)sp;
    if (i >= 0 && !overwrite)
        return ESPANK_ENV_EXISTS;
    for (size_t k = 0; i < 0 && k < ARRAY_SIZE(job_env); k++) {
        if (!job_env[k].set)
            i = (long)k;
    }
    job_env[i].set = true;
    snprintf(job_env[i].name, sizeof(job_env[i].name), "%s", name);
    snprintf(job_env[i].value, sizeof(job_env[i].value), "%s", value);
    return ESPANK_SUCCESS;
}

spank_err_t spank_unsetenv(spank_t sp, const char *name)
{
    long i = slot_of(name);

    (void)sp;
    if (i >= 0)
        job_env[i].set = false;
    return ESPANK_SUCCESS;
}

spank_err_t spank_get_item(spank_t sp, spank_item_t item, ...)
{
    uint32_t value = 0;
    va_list ap;

    (void)sp;
    switch (item) {
    case S_JOB_ID:
        value = 4242;
        break;
    case S_JOB_STEPID:
        value = now->step;
        break;
    case S_JOB_NODEID:
        value = now->node_index;
        break;
    case S_JOB_NNODES:
        value = 2;
        break;
    case S_JOB_LOCAL_TASK_COUNT:
        value = 2;
        break;
    case S_JOB_TOTAL_TASK_COUNT:
        value = 4;
        break;
    case S_TASK_ID:
    case S_TASK_GLOBAL_ID:
        value = task;
        break;
    case S_JOB_LOCAL_TO_GLOBAL_ID: /* ranks 2 and 3 of 0 to 3 */
        va_start(ap, item);
        value = va_arg(ap, uint32_t) + 2;
        *va_arg(ap, uint32_t *) = value;
        va_end(ap);
        return ESPANK_SUCCESS;
    default:
        return ESPANK_NOT_AVAIL;
    }
    va_start(ap, item);
    *va_arg(ap, uint32_t *) = value;
    va_end(ap);
    return ESPANK_SUCCESS;
}

/* ---- one run ---- */

static double clock_s(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static void nap(int ms)
{
    usleep((useconds_t)ms * 1000);
}

/* The agents' logs, base/agent.log.NODE.PID: how many there are, and the path of the newest. */
static size_t agent_logs(char *path, size_t size)
{
    char pattern[128];
    struct stat st, youngest = { 0 };
    glob_t g;
    size_t n = 0;

    snprintf(pattern, sizeof(pattern), "%s/agent.log.%s.*", base, node);
    if (glob(pattern, 0, NULL, &g) != 0)
        return 0;
    for (size_t i = 0; i < g.gl_pathc; i++) {
        if (stat(g.gl_pathv[i], &st) < 0 || st.st_size == 0)
            continue;
        n++;
        if (st.st_mtim.tv_sec > youngest.st_mtim.tv_sec || (st.st_mtim.tv_sec == youngest.st_mtim.tv_sec &&
                                                            st.st_mtim.tv_nsec >= youngest.st_mtim.tv_nsec)) {
            youngest = st;
            snprintf(path, size, "%s", g.gl_pathv[i]);
        }
    }
    globfree(&g);
    return n;
}

static bool wait_logs(size_t n, char *path, size_t size)
{
    for (int i = 0; i < 1000; i++) {
        if (agent_logs(path, size) >= n)
            return true;
        nap(10);
    }
    return false;
}

/* The parent of process pid; the keeper of an agent. */
static pid_t parent_of(pid_t pid)
{
    char path[64];
    FILE *f;
    int parent = -1;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    f = fopen(path, "r");
    if (f && fscanf(f, "%*d %*s %*c %d", &parent) != 1)
        parent = -1;
    if (f)
        fclose(f);
    return parent;
}

static void become(uid_t uid, gid_t gid)
{
    if (getuid() == 0 && (seteuid(0) < 0 || setegid(gid) < 0 || seteuid(uid) < 0))
        _exit(99);
}

static void make_ring(void)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/0.0.0.ring", seen->dir);
    close(open(path, O_CREAT | O_WRONLY, 0600));
}

static void kill_both(pid_t agent)
{
    pid_t keeper = parent_of(agent);

    become(0, 0);
    kill(keeper, SIGKILL);
    kill(agent, SIGKILL);
    become(NOBODY, NOBODY);
    nap(50);
}

/* End each keeper of the step as soon as its agent runs, n in all. */
static void kill_keepers(char *path, size_t size, size_t n)
{
    for (size_t i = 1; i <= n && wait_logs(i, path, size); i++) {
        pid_t keeper = parent_of((pid_t)atoi(strrchr(path, '.') + 1));

        become(0, 0);
        kill(keeper, SIGKILL);
        become(NOBODY, NOBODY);
    }
}

/* Many files, and directories deeper than a path may be long.  The last has no permissions. */
static void fill(void)
{
    char path[512];

    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof(path), "%s/x%d", seen->dir, i);
        close(open(path, O_CREAT | O_WRONLY, 0600));
    }
    if (chdir(seen->dir) < 0)
        return;
    for (int i = 0; i < 3000 && mkdir("a-deep-directory", 0700) == 0 && chdir("a-deep-directory") == 0; i++)
        close(open("file", O_CREAT | O_WRONLY, 0600));
    if (mkdir("closed", 0700) == 0 && mkdir("closed/inner", 0) == 0)
        chmod("closed", 0);
    if (chdir("/") < 0)
        _exit(98);
}

static void meanwhile(void)
{
    char path[512] = "";
    pid_t agent;

    if (now->during == NOTHING)
        return;
    make_ring();
    if (!wait_logs(1, path, sizeof(path)))
        return;
    agent = (pid_t)atoi(strrchr(path, '.') + 1);
    if (now->during == KILL_AGENT) {
        kill(agent, SIGKILL);
        wait_logs(2, path, sizeof(path));
    } else if (now->during == KILL_KEEPER) {
        kill_both(agent);
        wait_logs(2, path, sizeof(path));
    } else if (now->during == KILL_KEEPERS) {
        kill_keepers(path, sizeof(path), WATCH_RESTARTS_MAX + 1);
        nap(200);
    } else if (now->during == FILL || now->during == FILL_AND_KILL_KEEPER) {
        fill();
        if (now->during == FILL_AND_KILL_KEEPER)
            kill_both(agent);
    } else if (now->during == STOP_AGENT) {
        kill(agent, SIGSTOP);
    } else if (now->during == LET_FAIL) {
        wait_logs(3, path, sizeof(path)); /* the first tries come at 0, 0.1 and 0.6 s */
    }
}

static spank_f *callback(void *plugin, const char *name)
{
    spank_f *fn;

    *(void **)&fn = dlsym(plugin, name);
    return fn;
}

/* For each line of plugstack.conf in turn, as Slurm does. */
static bool call(void *const *plugins, const char *name, int argc, char **argv)
{
    static struct spank_handle handle;
    bool ok = true;

    for (size_t i = 0; i < LINES_MAX && plugins[i]; i++) {
        spank_f *fn = callback(plugins[i], name);

        ok &= !fn || fn(&handle, argc, argv) == 0;
    }
    return ok;
}

static void steal(char *to, size_t size, const char *name)
{
    long i = slot_of(name);

    snprintf(to, size, "%s", i >= 0 ? job_env[i].value : "");
}

static void read_into(const char *path, char *to, size_t size)
{
    FILE *f = fopen(path, "r");

    to[f ? fread(to, 1, size - 1, f) : 0] = '\0';
    if (f)
        fclose(f);
}

/* The path of the step's directory. */
static void dir_path(char *path, size_t size, uint32_t step)
{
    if (getuid() == 0)
        snprintf(path, size, "/dev/shm/syncguard/%d.4242.%u.%s", NOBODY, step, node);
    else
        snprintf(path, size, "/dev/shm/syncguard-%d/%d.4242.%u.%s", (int)getuid(), (int)getuid(), step, node);
}

static void read_note(const char *path)
{
    ssize_t n = readlink(path, seen->note, sizeof(seen->note) - 1);

    seen->note[n > 0 ? n : 0] = '\0';
}

/* What the tasks left for the agent. */
static void read_notes(void)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/%s.note", seen->dir, now->container ? "probe" : "nccl");
    read_note(path);
    if (!*seen->note) {
        dir_path(path, sizeof(path), now->step);
        strcat(path, "/unseen.note");
        read_note(path);
    }
}

static void hide_shm(void)
{
    if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("shm", "/dev/shm", "tmpfs", 0, "mode=1777") < 0)
        _exit(99); /* nothing is seen then */
}

/* By root: a container without the probe's file, and its end. */
static void hide_probe(bool hidden)
{
    char probe[128], other[128];

    snprintf(probe, sizeof(probe), "%s/probe.so", base);
    snprintf(other, sizeof(other), "%s/hidden", base);
    seen->callbacks_ok &= rename(hidden ? probe : other, hidden ? other : probe) == 0;
}

static void start_task(void *const *plugins, int argc, char **argv)
{
    become(0, 0);
    if (task == 0 && now->mounts == OWN_SHM)
        hide_shm();
    seen->callbacks_ok &= call(plugins, "slurm_spank_task_init_privileged", argc, argv);
    if (task == 0 && now->mounts == LATE_SHM)
        hide_shm();
    if (now->container)
        hide_probe(true);
    become(NOBODY, NOBODY);
    seen->callbacks_ok &= call(plugins, "slurm_spank_task_init", argc, argv);
    become(0, 0);
    if (now->container)
        hide_probe(false);
    become(NOBODY, NOBODY);
}

static void start_tasks(void *const *plugins, int argc, char **argv)
{
    struct stat st;

    for (task = 0; task < 2 && now->tasks; task++)
        start_task(plugins, argc, argv);
    steal(seen->dir, sizeof(seen->dir), "SYNCGUARD_DIR");
    steal(seen->preload, sizeof(seen->preload), "LD_PRELOAD");
    steal(seen->asan, sizeof(seen->asan), "ASAN_OPTIONS");
    steal(seen->yields, sizeof(seen->yields), "OMPI_MCA_mpi_yield_when_idle");
    steal(seen->nccl, sizeof(seen->nccl), "NCCL_PROFILER_PLUGIN");
    steal(seen->nccl_events, sizeof(seen->nccl_events), "SYNCGUARD_NCCL_EVENTS");
    seen->dir_made = *seen->dir && lstat(seen->dir, &st) == 0 && S_ISDIR(st.st_mode) &&
                     (st.st_mode & 07777) == 0700 && st.st_uid == geteuid();
}

/* Mounts of their own are those of a process of their own. */
static void start_tasks_apart(void *const *plugins, int argc, char **argv)
{
    pid_t pid = fork();

    if (pid == 0) {
        start_tasks(plugins, argc, argv);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

static void remote_life(void *const *plugins, int argc, char **argv)
{
    double t0;

    setenv("SLURMD_NODENAME", node, 1);
    become(NOBODY, NOBODY);
    t0 = clock_s();
    if (!now->apart || !fork()) {
        seen->callbacks_ok &= call(plugins, "slurm_spank_user_init", argc, argv);
        if (now->apart)
            _exit(0);
    } else {
        wait(NULL);
    }
    seen->begin_s = clock_s() - t0;
    if (now->mounts == AS_HOST)
        start_tasks(plugins, argc, argv);
    else
        start_tasks_apart(plugins, argc, argv);
    read_notes();
    meanwhile();
    become(0, 0);
    if (now->during == VANISH)
        return;
    t0 = clock_s();
    seen->callbacks_ok &= call(plugins, "slurm_spank_task_exit", argc, argv);
    seen->callbacks_ok &= call(plugins, "slurm_spank_task_exit", argc, argv);
    seen->callbacks_ok &= call(plugins, "slurm_spank_exit", argc, argv);
    seen->end_s = clock_s() - t0;
}

static void read_variable(const char *name, char *to, size_t size)
{
    snprintf(to, size, "%s", getenv(name) ? getenv(name) : "");
}

static void live(const char *plugin_path)
{
    void *plugins[LINES_MAX] = { dlopen(plugin_path, RTLD_NOW | RTLD_LOCAL) };
    bool remote = now->context == S_CTX_REMOTE;
    char copy[128], *argv[16], *words = strdup(now->args ? now->args : "");
    int argc = 0;

    if (now->twice != ONCE) {
        snprintf(copy, sizeof(copy), "%s/copy/syncguard.so", base);
        plugins[1] = dlopen(now->twice == COPY ? copy : plugin_path, RTLD_NOW | RTLD_LOCAL);
    }
    if (!plugins[0] || !plugins[1] != (now->twice == ONCE) || !words) {
        snprintf(seen->log, sizeof(seen->log), "%s", dlerror());
        return;
    }
    for (char *w = strtok(words, " "); w && argc < 16; w = strtok(NULL, " "))
        argv[argc++] = w;
    for (size_t i = 0; i < ARRAY_SIZE(now->env) && now->env[i]; i++) {
        char name[64];

        snprintf(name, sizeof(name), "%.*s", (int)strcspn(now->env[i], "="), now->env[i]);
        if (remote)
            spank_setenv(NULL, name, strchr(now->env[i], '=') + 1, 1);
        else
            setenv(name, strchr(now->env[i], '=') + 1, 1);
    }
    seen->callbacks_ok = call(plugins, "slurm_spank_init", argc, argv);
    for (size_t i = 0; option_cb && i < ARRAY_SIZE(now->options) && now->options[i] && seen->option_rc == 0;
         i++)
        seen->option_rc = option_cb(0, strcmp(now->options[i], "-") ? now->options[i] : NULL, remote);
    if (getenv("SLURM_HOSTFILE"))
        read_into(getenv("SLURM_HOSTFILE"), seen->hosts, sizeof(seen->hosts));
    seen->callbacks_ok &= call(plugins, "slurm_spank_init_post_opt", argc, argv);
    seen->hosts_left = getenv("SLURM_HOSTFILE") != NULL;
    read_variable("SYNCGUARD_PLACEMENT", seen->placement, sizeof(seen->placement));
    read_variable("SYNCGUARD_ALGORITHM", seen->algorithm, sizeof(seen->algorithm));
    read_variable("OMPI_MCA_coll_tuned_allreduce_algorithm", seen->openmpi, sizeof(seen->openmpi));
    read_variable("MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM", seen->mpich, sizeof(seen->mpich));
    if (now->context == S_CTX_LOCAL)
        seen->callbacks_ok &= call(plugins, "slurm_spank_local_user_init", argc, argv);
    if (remote)
        remote_life(plugins, argc, argv);
    else
        seen->callbacks_ok &= call(plugins, "slurm_spank_exit", argc, argv);
}

static void clear_logs(void)
{
    char path[512];

    while (agent_logs(path, sizeof(path)) > 0)
        unlink(path);
}

/* Whether the directory remains.  The keeper may remove it a moment after the plugin's last callback. */
static bool dir_stays(void)
{
    struct stat st;
    char path[256];

    dir_path(path, sizeof(path), now->step);
    for (int i = 0; i < 1500; i++) {
        if (lstat(path, &st) < 0)
            return false;
        nap(10);
    }
    return true;
}

static struct outcome *run(const struct run *r)
{
    const char *top = getenv("top_builddir");
    char plugin[4096], path[512], out[128];
    int status = 0;
    pid_t pid;

    snprintf(plugin, sizeof(plugin), "%s/.libs/syncguard.so", top ? top : ".");
    snprintf(out, sizeof(out), "%s/stdout", base);
    memset(seen, 0, sizeof(*seen));
    now = r;
    clear_logs();
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        if (!freopen(out, "w", stdout))
            _exit(98);
        seen->exit_code = -1;
        live(plugin);
        fflush(stdout);
        _exit(77);
    }
    waitpid(pid, &status, 0);
    seen->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    read_into(out, seen->out, sizeof(seen->out));
    seen->dir_left = r->context == S_CTX_REMOTE && dir_stays();
    seen->restarts = (int)agent_logs(path, sizeof(path));
    seen->agent_ran = seen->restarts > 0;
    if (seen->agent_ran)
        read_into(path, seen->agent, sizeof(seen->agent));
    return seen;
}

/* ---- the tests ---- */

static char conf_arg[256];

static int lines(const char *text)
{
    int n = 0;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static void write_file(const char *name, const char *text)
{
    char path[256];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", base, name);
    f = fopen(path, "w");
    if (f) {
        fputs(text, f);
        fclose(f);
    }
}

static void test_local(void)
{
    struct outcome *o;

    for (spank_context_t context = S_CTX_LOCAL; context <= S_CTX_ALLOCATOR;
         context += S_CTX_ALLOCATOR - S_CTX_LOCAL) {
        const char *who = context == S_CTX_LOCAL ? "srun" : "sbatch";

        o = run(&(struct run){ .context = context, .args = conf_arg, .options = { "-" } });
        ok(o->option_rc == 0 && o->callbacks_ok && !*o->log && o->has_arg == 2,
           "%s: --sync-guard without a policy is accepted silently", who);
        o = run(&(struct run){ .context = context, .args = conf_arg, .options = { "nosuch" } });
        ok(o->option_rc == -1, "%s: an unknown policy is refused", who);
        is_str(o->log,
               "--sync-guard=nosuch: unknown policy; known are observe, balanced, night, placed, tuned, off "
               "(--sync-guard=help describes them)\n",
               "%s: the refusal of an unknown policy lists the known ones", who);
        o = run(&(struct run){ .context = context, .args = conf_arg, .options = { "off" } });
        ok(o->option_rc == 0 && !*o->log, "%s: --sync-guard=off is accepted silently", who);
        o = run(&(struct run){ .context = context, .args = conf_arg, .options = { "help" } });
        ok(o->exit_code == 0 && strstr(o->out, "  night            At night\n") &&
               strstr(o->out, "[default]") && !*o->log,
           "%s: --sync-guard=help lists the policies and exits with 0", who);
        o = run(&(struct run){ .context = context, .args = conf_arg, .options = { "observe", "NIGHT" } });
        ok(o->option_rc == 0 && !*o->log, "%s: its own --sync-guard and an inherited one are accepted", who);
        o = run(&(struct run){ .context = context, .args = conf_arg });
        ok(o->callbacks_ok && !*o->log, "%s: without --sync-guard nothing is printed", who);
    }
    o = run(&(struct run){
        .context = S_CTX_LOCAL, .args = conf_arg, .options = { "a-name-that-is-longer-than-any-policy" } });
    is_int(o->option_rc, -1, "srun refuses a policy's name that is too long");
}

/* srun inside an allocation of four nodes that are in turn on two switches. */
static void test_placement(void)
{
    char topology[300], with[600], conf[300], broken[600];
    struct run r = { .context = S_CTX_LOCAL,
                     .args = with,
                     .env = { "SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=n[1-4]", "SLURM_JOB_NUM_NODES=4",
                              "SLURM_NNODES=4", "SLURM_JOB_PARTITION=main", conf } };
    static const char order[] = "n1\nn3\nn2\nn4\n";
    struct outcome *o;

    write_file("topology.conf",
               "SwitchName=a Nodes=n1,n3\nSwitchName=b Nodes=n2,n4\nSwitchName=top Switches=a,b\n");
    write_file("loop.conf", "SwitchName=a Switches=b\nSwitchName=b Switches=a\n");
    snprintf(topology, sizeof(topology), "%s/topology.conf", base);
    snprintf(conf, sizeof(conf), "SLURM_CONF=%s/slurm.conf", base);
    snprintf(with, sizeof(with), "%s", conf_arg);
    r.options[0] = "placement=on";
    o = run(&r);
    is_str(o->hosts, order, "placement=on: srun reads a host file that follows the switches");
    ok(!o->hosts_left && !*o->log &&
           strstr(o->hidden, "ranks are ordered along the switches: ring, 4 ranks on 4 nodes"),
       "placement=on: the variable does not reach the tasks, and one line says what was done\n%s", o->hidden);
    ok(!strncmp(o->placement, "on ring 0.0", 11),
       "placement=on: the tasks' environment has what was found\n%s", o->placement);
    r.options[0] = "balanced,placement=on,groups=2";
    ok(!strcmp(run(&r)->hosts, order), "with a policy and groups=2, too\n%s", seen->hidden);
    r.options[0] = "placement=on";
    r.options[1] = "placement=off";
    o = run(&r);
    ok(!*o->hosts && !*o->hidden && !*o->log && !*o->placement,
       "srun's own placement=off takes an inherited placement=on back");
    r.options[1] = "off";
    ok(!*run(&r)->hosts, "so does --sync-guard=off");
    r.options[1] = NULL;
    r.options[0] = "-";
    o = run(&r);
    ok(!*o->hosts && !*o->log && strstr(o->hidden, "with placement=on ranks would be ordered"),
       "by default it only advises\n%s", o->hidden);
    ok(!strncmp(o->placement, "advise ring 0.0", 15), "and the tasks' environment says so\n%s", o->placement);
    snprintf(with, sizeof(with), "%s placement=on", conf_arg);
    ok(!strcmp(run(&r)->hosts, order), "placement=on in plugstack.conf");
    r.options[0] = "placement=advise";
    ok(!*run(&r)->hosts, "the option overrides plugstack.conf");
    r.options[0] = NULL;
    ok(!*run(&r)->hosts, "a step that is not guarded is left alone");
    snprintf(with, sizeof(with), "%s default=on placement=on", conf_arg);
    ok(!strcmp(run(&r)->hosts, order), "a step that is guarded by default is not");
    snprintf(with, sizeof(with), "%s default=placed", conf_arg);
    ok(!strcmp(run(&r)->hosts, order), "nor one whose policy has Placement=on");
    r.options[0] = "off";
    ok(!*run(&r)->hosts, "the option off overrides the default");
    r.options[0] = "placement=on";
    r.env[6] = "SLURM_HOSTFILE=/nonexistent/mine";
    o = run(&r);
    ok(!*o->hosts && o->hosts_left && strstr(o->hidden, "left in Slurm's order: SLURM_HOSTFILE is set"),
       "the user's own SLURM_HOSTFILE stays");
    r.env[6] = "SLURM_DISTRIBUTION=cyclic";
    ok(!*run(&r)->hosts, "the user's SLURM_DISTRIBUTION stays");
    r.env[7] = "SYNCGUARD_PLACEMENT=on ring 2 1";
    ok(!*run(&r)->placement, "what was found for a step around this one is not passed on");
    r.env[7] = NULL;
    r.env[6] = NULL;
    snprintf(broken, sizeof(broken), "%s topology=%s/loop.conf", conf_arg, base);
    r.args = broken;
    o = run(&r);
    ok(!*o->hosts && o->callbacks_ok && lines(o->log) == 1 &&
           strstr(o->log, "ranks are left in Slurm's order: ") && strstr(o->log, "loop.conf"),
       "a topology.conf with a loop: one line, and Slurm's order\n%s", o->log);
    snprintf(broken, sizeof(broken), "%s topology=%s/missing.conf", conf_arg, base);
    o = run(&r);
    ok(!*o->hosts && !*o->log && strstr(o->hidden, "missing.conf"), "no topology.conf: a line with -v");
    r.args = with;
    r.context = S_CTX_ALLOCATOR;
    o = run(&r);
    ok(!*o->hosts && o->option_rc == 0, "sbatch and salloc place nothing");
    r.options[0] = "placement=maybe";
    o = run(&r);
    ok(o->option_rc == -1 && lines(o->log) == 1 &&
           strstr(o->log, "--sync-guard=placement=maybe: placement=maybe: off, advise and on are accepted"),
       "they refuse an invalid value\n%s", o->log);
    r.context = S_CTX_LOCAL;
    r.options[0] = "pattern=star";
    o = run(&r);
    ok(o->option_rc == -1 && lines(o->log) == 1 &&
           strstr(o->log, "ring, halving, doubling, groups:G or pipeline:SxR"),
       "srun refuses an unknown pattern\n%s", o->log);
}

/* A program of this name answers in the controller's stead. */
static void write_sgctl(const char *lines)
{
    char text[600], path[128];

    snprintf(text, sizeof(text), "#!/bin/sh\nprintf '%s'\n", lines);
    write_file("sgctl", text);
    snprintf(path, sizeof(path), "%s/sgctl", base);
    chmod(path, 0755);
}

#define LAST_RUN "step 0.01\\nallreduce 8 1 0.002 0.002 0\\nallreduce 2048 1 0.004 0.004 0\\n"

static void test_algorithm(void)
{
    char conf[300], path[300];
    struct run r = { .context = S_CTX_LOCAL,
                     .args = conf_arg,
                     .options = { "placement=on,algorithm=on" },
                     .env = { "SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=n[1-4]", "SLURM_JOB_NUM_NODES=4",
                              "SLURM_NNODES=4", "SLURM_JOB_PARTITION=main", conf, "SLURM_JOB_NAME=train",
                              path } };
    struct outcome *o;

    write_file("topology.conf", "SwitchName=top Nodes=n[1-4]\n");
    snprintf(conf, sizeof(conf), "SLURM_CONF=%s/slurm.conf", base);
    snprintf(path, sizeof(path), "PATH=%s:/usr/bin:/bin", base);
    write_sgctl("runs 0\\n");
    o = run(&r);
    ok(!*o->mpich && !*o->openmpi &&
           strstr(
               o->hidden,
               "all-reduces are left to the library's own choice: no earlier run shows the job's all-reduces"),
       "algorithm=on: a first run sets nothing\n%s", o->hidden);
    is_str(o->algorithm, "default", "and tells the agents that it looked");
    write_sgctl("library MPICH 4.0.2\\n" LAST_RUN);
    o = run(&r);
    is_str(o->mpich, "recursive_doubling", "after a run with MPICH its variable is set");
    ok(!*o->openmpi && lines(o->hidden) == 2 &&
           strstr(o->hidden,
                  "all-reduces are done by recursive_doubling (MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM="),
       "and one line says so\n%s", o->hidden);
    ok(!strncmp(o->algorithm, "on recursive_doubling 0.006 0.00", 32), "and the agents\n%s", o->algorithm);
    r.env[8] = "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=nb";
    o = run(&r);
    is_str(o->mpich, "nb", "the user's own setting stays");
    ok(!*o->algorithm && strstr(o->hidden, "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM is set"), "and is said\n%s",
       o->hidden);
    r.env[8] = NULL;
    r.options[0] = "placement=on,algorithm=advise";
    o = run(&r);
    ok(!*o->mpich && strstr(o->hidden, "with algorithm=on all-reduces would be done by recursive_doubling") &&
           !strncmp(o->algorithm, "advise recursive", 16),
       "algorithm=advise only says it\n%s", o->hidden);
    r.options[0] = "placement=on";
    o = run(&r);
    ok(!*o->mpich && !*o->algorithm && !strstr(o->hidden, "all-reduces"),
       "without algorithm= nothing is looked for");
    r.options[0] = "placement=advise,algorithm=on";
    ok(!*run(&r)->mpich, "nor set with placement=advise");
    r.options[0] = "placement=on,algorithm=on";
    r.options[1] = "placement=on,algorithm=off";
    ok(!*run(&r)->mpich && !*seen->algorithm,
       "srun's own algorithm=off takes an inherited algorithm=on back");
    r.options[1] = NULL;
    r.options[0] = "algorithm=maybe";
    o = run(&r);
    ok(o->option_rc == -1 && strstr(o->log, "algorithm=maybe: off, advise and on are accepted"),
       "an invalid value is refused\n%s", o->log);
    r.options[0] = "placement=on,algorithm=on";
    r.env[8] = "SYNCGUARD_ALGORITHM=on recursive_doubling 2 1";
    write_sgctl("runs 0\\n");
    is_str(run(&r)->algorithm, "default", "what was told to a step around this one is not passed on");
    r.env[8] = NULL;
    write_sgctl("library MPICH 4.0.2\\nalgorithm_placed 0\\nalgorithm_held_out 0\\n" LAST_RUN);
    r.options[0] = "tuned";
    o = run(&r);
    ok(!strncmp(o->algorithm, *o->mpich ? "placed recursive" : "held-out recursive", 16),
       "a policy with Algorithm=on and PlacementHoldout=2\n%s", o->algorithm);
    write_sgctl(
        "library MPICH 4.0.2\\nalgorithm_placed 1\\nalgorithm_held_out 0\\nalgorithm_last placed\\n" LAST_RUN);
    o = run(&r);
    ok(!*o->mpich && !strncmp(o->algorithm, "held-out recursive", 18) &&
           strstr(o->hidden, "to compare with that: recursive_doubling"),
       "after one of two starts the other is held out\n%s", o->hidden);
    write_sgctl("runs 0\\n");
}

static void test_local_trouble(void)
{
    char with[512];
    struct outcome *o;

    o = run(&(struct run){
        .context = S_CTX_LOCAL, .args = "conf=/nonexistent/s.conf", .options = { "observe" } });
    ok(o->option_rc == 0 && !*o->log, "srun without syncguard.conf accepts a built-in policy silently");
    o = run(
        &(struct run){ .context = S_CTX_LOCAL, .args = "conf=/nonexistent/s.conf", .options = { "night" } });
    ok(o->option_rc == 0 && lines(o->log) == 1 &&
           strstr(o->log, "cannot check policy night (/nonexistent/s.conf: No such"),
       "srun without syncguard.conf warns once that it cannot check another policy");
    snprintf(with, sizeof(with), "conf=%s/broken.conf", base);
    o = run(&(struct run){ .context = S_CTX_LOCAL, .args = with, .options = { "night" } });
    ok(o->option_rc == 0 && lines(o->log) == 1 && strstr(o->log, "broken.conf:2: Port=x: a whole number"),
       "srun names the line of a broken syncguard.conf");
    snprintf(with, sizeof(with), "%s default=night", conf_arg);
    o = run(&(struct run){ .context = S_CTX_LOCAL, .args = with });
    ok(o->callbacks_ok && !*o->log, "default=night: srun prints nothing without --sync-guard");
    snprintf(with, sizeof(with), "%s colour=red conf=relative", conf_arg);
    o = run(&(struct run){ .context = S_CTX_SLURMD, .args = with });
    ok(lines(o->log) == 1 && strstr(o->log, "colour=red"),
       "slurmd logs an invalid argument of plugstack.conf once");
    o = run(&(struct run){ .context = S_CTX_LOCAL, .args = with, .options = { "-" } });
    ok(!*o->log && o->option_rc == 0, "srun does not print an invalid argument of plugstack.conf");
}

#define CREDENTIAL "#!/bin/sh\necho $(id -u) \"$@\"\n"

static bool agent_says(const struct outcome *o, const char *line)
{
    char whole[512];

    snprintf(whole, sizeof(whole), "%s\n", line);
    return strstr(o->agent, whole) != NULL;
}

static void test_remote(void)
{
    struct run r = { .context = S_CTX_REMOTE,
                     .args = conf_arg,
                     .options = { "-", "" },
                     .during = MAKE_RING,
                     .env = { "SLURM_JOB_PARTITION=main", "SLURM_JOB_NAME=train", "NCCL_DEBUG=INFO" } };
    struct outcome *o = run(&r);
    char line[256];

    ok(o->callbacks_ok && !*o->log && o->exit_code == 77,
       "a guarded step keeps its exit code and prints nothing\n%s", o->log);
    ok(o->dir_made, "a guarded step's directory is accessible to its user only");
    snprintf(line, sizeof(line), "%s/probe.so", base);
    is_str(o->preload, line, "the probe is in LD_PRELOAD of a guarded step");
    is_str(o->asan, "verify_asan_link_order=0",
           "and the address sanitizer is told not to check that it was loaded first");
    ok(o->agent_ran && !o->dir_left, "the agent ran, and the directory is removed at the end");
    snprintf(
        line, sizeof(line),
        "arg --policy=balanced\narg --controller=head:7000,head2:9\narg --munge-socket=/m/sock\narg --rate=50\n"
        "arg --node=%s\narg --cluster=one\narg --identity-fd=10\narg --trust=slurm,",
        node);
    ok(agent_says(o, line),
       "the agent's command line has policy, controller, socket, rate, node, cluster and whom to trust");
    snprintf(
        line, sizeof(line),
        "identity %u --munge-socket=/m/sock --cluster=one --uid=%u --job=4242 --step=0 --node=%s --ranks=2-3 --tasks=4 "
        "--nodes=2",
        (unsigned)getuid(), getuid() ? (unsigned)getuid() : 65534, node);
    ok(agent_says(o, line),
       "slurmstepd's user vouches for what Slurm knows of the step, and the agent gets that");
    ok(agent_says(o, "env SLURM_JOB_ID=4242") && agent_says(o, "env SLURM_NTASKS=4") &&
           agent_says(o, "env SYNCGUARD_LOCAL_TASKS=2") && agent_says(o, "env SLURM_JOB_NAME=train") &&
           agent_says(o, "env SLURM_JOB_PARTITION=main") && !strstr(o->agent, "NCCL") &&
           !strstr(o->agent, "NOTES"),
       "the agent's environment has the job's ids, tasks, name and partition, and nothing else of the job's");
    ok(agent_says(o, "fd 0 /dev/null") && agent_says(o, "fd 2 /dev/null") && !strstr(o->agent, "fd 3 ") &&
           !strstr(o->agent, "fd 11 ") && !strstr(o->agent, "stdout"),
       "the agent inherits no descriptor but /dev/null and its identity");
    ok(agent_says(o, "parent sg-keeper"), "the agent is the keeper's child");
    if (getuid() == 0)
        ok(agent_says(o, "parent's memory closed"), "the user cannot read the keeper's memory");
    if (getuid() == 0)
        ok(strstr(o->agent, "NoNewPrivs:\t1"), "neither the agent nor what it starts can gain privileges");
    if (getuid() == 0)
        ok(strstr(o->agent, "Uid:\t65534\t65534\t65534\t65534"), "the agent has none of root's user ids");
    ok(o->end_s < STUCK_S, "the end of a guarded step is not held up\n%.0f ms", 1e3 * o->end_s);

    r.during = NOTHING;
    o = run(&r);
    ok(!o->agent_ran && !o->dir_left && o->dir_made,
       "a step without rings has no agent\n%.1f ms to begin, %.1f to end", 1e3 * o->begin_s, 1e3 * o->end_s);
    r.options[0] = "(null)";
    r.options[1] = NULL;
    ok(run(&r)->dir_made, "slurmstepd takes '(null)' as --sync-guard without a policy");
    r.options[0] = "help";
    ok(!run(&r)->dir_made, "slurmstepd does not guard a step with --sync-guard=help");
    r.options[0] = "night";
    r.env[3] = "LD_PRELOAD=/a/tool.so:/b/other.so";
    r.env[4] = "ASAN_OPTIONS=detect_leaks=0";
    o = run(&r);
    snprintf(line, sizeof(line), "/a/tool.so:/b/other.so:%s/probe.so", base);
    is_str(o->preload, line, "the probe is added after the user's LD_PRELOAD");
    is_str(o->asan, "detect_leaks=0:verify_asan_link_order=0",
           "and the word to the sanitizer after the user's options");
    r.env[4] = "ASAN_OPTIONS=verify_asan_link_order=1";
    is_str(run(&r)->asan, "verify_asan_link_order=1", "what the user says of it stays");
}

/* The agent learns why its step has no credential, in the words of the program or of the keeper. */
static void test_credential(void)
{
    struct run r = { .context = S_CTX_REMOTE, .args = conf_arg, .options = { "-" }, .during = MAKE_RING };
    char path[256], line[300];
    struct outcome *o;

    snprintf(path, sizeof(path), "%s/credential", base);
    write_file("credential", "#!/bin/sh\necho munge: no socket >&2\nexit 1\n");
    o = run(&r);
    snprintf(line, sizeof(line), "identity munge: no socket\n%s failed", path);
    ok(agent_says(o, line), "a credential program that fails: the agent gets what it said");
    write_file("credential", "#!/bin/sh\necho vouched\necho a warning >&2\n");
    o = run(&r);
    ok(agent_says(o, "identity vouched") && !agent_says(o, "a warning"),
       "one that warns and succeeds: the agent gets what it vouches for, and not the warning");
    write_file("credential", "#!/bin/sh\nprintf half\necho munge: gone >&2\nexit 1\n");
    o = run(&r);
    snprintf(line, sizeof(line), "identity munge: gone\n%s failed", path);
    ok(agent_says(o, line), "one that fails half way: the agent gets what it said, and not the half");
    is_int(chmod(path, 0644), 0, "the credential program cannot be run");
    o = run(&r);
    snprintf(line, sizeof(line), "identity %s cannot be run", path);
    ok(agent_says(o, line) && !*o->log, "the agent gets that, and the user's terminal nothing");
    is_int(chmod(path, 0777), 0, "all users can change the credential program");
    o = run(&r);
    ok(strstr(o->agent, "env SYNCGUARD_NOTES=unconfirmed: ") && !strstr(o->agent, "--identity-fd") &&
           !strstr(o->agent, "\nidentity "),
       "it is not run, and the agent gets a note of it, and no credential");
    write_file("credential", CREDENTIAL);
    is_int(chmod(path, 0755), 0, "the credential program is as before");
}

/* SPANK counts one component, srun all of them. */
static void test_heterogeneous(void)
{
    struct run r = { .context = S_CTX_REMOTE,
                     .args = conf_arg,
                     .options = { "-" },
                     .during = MAKE_RING,
                     .env = { "SLURM_HET_SIZE=2", "SLURM_JOB_ID_HET_GROUP_0=4241",
                              "SLURM_JOB_ID_HET_GROUP_1=4242", "SLURM_STEP_NUM_NODES=5",
                              "SLURM_STEP_NUM_TASKS=9", "SLURM_NNODES=2", "SLURM_NTASKS=4" } };
    struct outcome *o = run(&r);

    ok(agent_says(o, "env SLURM_HET_JOB_ID=4241") && agent_says(o, "env SLURM_HET_JOB_OFFSET=1"),
       "the agent of a heterogeneous step knows the job of all components and the place of its own");
    ok(agent_says(o, "env SLURM_NNODES=5") && agent_says(o, "env SLURM_NTASKS=9"),
       "it has the nodes and tasks of all components");
    r.env[3] = "SLURM_STEP_NUM_NODES=many";
    o = run(&r);
    ok(!strstr(o->agent, "env SLURM_NNODES") && agent_says(o, "env SLURM_NTASKS=9"),
       "if srun gave no total, the agent does not get its own component's instead");
}

static void test_defaults(void)
{
    static const struct {
        const char *args, *option, *partition;
        uint32_t step;
        bool guarded;
    } cases[] = {
        { "", NULL, "main", 0, false },
        { "default=on", NULL, "main", 0, true },
        { "default=on", "off", "main", 0, false },
        { "default=on partition=debug:off", NULL, "debug", 0, false },
        { "default=on partition=debug:off", NULL, "main", 0, true },
        { "partition=gpu:night", NULL, "gpu", 0, true },
        { "partition=gpu:night", NULL, "cpu", 0, false },
        { "partition=gpu:off", "night", "gpu", 0, true },
        { "default=on", "night", "main", STEP_BATCH, false },
        { "default=on", "night", "main", STEP_INTERACTIVE, false },
        { "default=on", "night", "main", STEP_EXTERN, false },
        { "default=on", NULL, "main", 7, true },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char args[512], partition[64];
        struct outcome *o;

        snprintf(args, sizeof(args), "%s %s", conf_arg, cases[i].args);
        snprintf(partition, sizeof(partition), "SLURM_JOB_PARTITION=%s", cases[i].partition);
        o = run(&(struct run){ .context = S_CTX_REMOTE,
                               .args = args,
                               .options = { cases[i].option },
                               .env = { partition },
                               .step = cases[i].step });
        ok(o->dir_made == cases[i].guarded && !*o->log && !o->dir_left,
           "%s, --sync-guard=%s, %s, step %d: %s", cases[i].args,
           cases[i].option ? cases[i].option : "(not given)", cases[i].partition, (int)cases[i].step,
           cases[i].guarded ? "guarded" : "not guarded");
    }
}

/* A step inside a guarded step must not write into the outer one's directory. */
static void test_inside(void)
{
    char preload[256], preloaded[256];
    struct run r = { .context = S_CTX_REMOTE,
                     .args = conf_arg,
                     .options = { "off" },
                     .step = 1,
                     .env = { "SYNCGUARD_DIR=/dev/shm/outer", preload, preloaded } };
    struct outcome *o;

    snprintf(preload, sizeof(preload), "LD_PRELOAD=/a/tool.so:%s/probe.so", base);
    snprintf(preloaded, sizeof(preloaded), "SYNCGUARD_PRELOADED=%s/probe.so", base);
    o = run(&r);
    is_str(o->preload, "/a/tool.so",
           "--sync-guard=off inside a guarded step removes the probe from LD_PRELOAD");
    is_str(o->dir, "", "--sync-guard=off inside a guarded step unsets the directory");
    r.options[0] = "on";
    o = run(&r);
    ok(o->dir_made && strcmp(o->dir, "/dev/shm/outer"),
       "a guarded step inside a guarded step has its own directory");
    is_str(o->preload, preload + strlen("LD_PRELOAD="),
           "a guarded step inside a guarded step has the probe in LD_PRELOAD once");
}

/* Two tasks that share a core, under a policy that paces: Open MPI is set to yield, unless the user has set
 * it. */
static void test_yield(void)
{
    static const struct {
        const char *cpus, *own, *policy, *want;
    } cases[] = {
        { "SLURM_CPUS_ON_NODE=1", NULL, "night", "1" },
        { "SLURM_CPUS_ON_NODE=2", NULL, "night", "" },
        { "SLURM_CPUS_ON_NODE=1", NULL, "balanced", "" },
        { "SLURM_CPUS_ON_NODE=1", NULL, "off", "" },
        { "SLURM_CPUS_ON_NODE=1", "OMPI_MCA_mpi_yield_when_idle=0", "night", "0" },
        { "SLURM_CPUS_ON_NODE=many", NULL, "night", "" },
        { NULL, NULL, "night", "" },
    };
    struct run inside = { .context = S_CTX_REMOTE,
                          .args = conf_arg,
                          .options = { "off" },
                          .env = { "SYNCGUARD_DIR=/dev/shm/outer", "OMPI_MCA_mpi_yield_when_idle=1",
                                   "SYNCGUARD_YIELDS=1" } };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct run r = { .context = S_CTX_REMOTE, .args = conf_arg, .options = { cases[i].policy } };
        size_t n = 0;

        if (cases[i].cpus)
            r.env[n++] = cases[i].cpus;
        if (cases[i].own)
            r.env[n++] = cases[i].own;
        ok(!strcmp(run(&r)->yields, cases[i].want), "two tasks, %s, %s, policy %s: yields '%s'",
           cases[i].cpus ? cases[i].cpus : "CPUs unknown", cases[i].own ? cases[i].own : "not set",
           cases[i].policy, cases[i].want);
    }
    is_str(run(&inside)->yields, "",
           "--sync-guard=off inside a guarded step unsets the plugin's setting for Open MPI");
}

/* NCCL is told of the plugin where there is one, unless the user has told it of another. */
static void test_nccl(void)
{
    struct run r = { .context = S_CTX_REMOTE, .args = conf_arg, .options = { "night" } };
    struct run inside = { .context = S_CTX_REMOTE,
                          .args = conf_arg,
                          .options = { "off" },
                          .env = { "SYNCGUARD_DIR=/dev/shm/outer", "NCCL_PROFILER_PLUGIN=/p.so",
                                   "SYNCGUARD_NCCL=1", "SYNCGUARD_NCCL_EVENTS=host" } };
    char path[128];
    struct outcome *o = run(&r);

    snprintf(path, sizeof(path), "%s/nccl.so", base);
    is_str(o->nccl, path, "a guarded step: NCCL is told of the plugin");
    is_str(o->nccl_events, "host", "a guarded step: the plugin records what the host does");
    r.options[0] = "placed";
    is_str(run(&r)->nccl_events, "device",
           "a policy with NcclEvents=device: the plugin records what the GPU does");
    r.env[0] = "NCCL_PROFILER_PLUGIN=mine";
    r.during = MAKE_RING; /* so that its agent runs */
    o = run(&r);
    is_str(o->nccl, "mine", "a profiler that the user has set stays");
    ok(strstr(o->agent, "NCCL's collectives are not recorded: the user has set NCCL_PROFILER_PLUGIN"),
       "a profiler that the user has set is among the step's notes");
    r.env[0] = NULL;
    is_str(run(&inside)->nccl, "",
           "--sync-guard=off inside a guarded step unsets the plugin's setting for NCCL");
}

/* The tasks' root lacks the probe: nothing may reach their standard error, and what the user preloads stays.
 */
static void test_container(void)
{
    char want[300];
    struct run r = { .context = S_CTX_REMOTE, .args = conf_arg, .options = { "night" }, .tasks = true };
    struct outcome *o;

    snprintf(want, sizeof(want), "%s/probe.so", base);
    o = run(&r);
    is_str(o->preload, want, "tasks whose root has the probe keep it in LD_PRELOAD");
    r.container = true;
    o = run(&r);
    is_str(o->preload, "", "tasks whose root lacks the probe have no LD_PRELOAD");
    snprintf(
        want, sizeof(want),
        "the probe was not loaded: the tasks are in a container without %s/probe.so; bind it and /dev/shm",
        base);
    is_str(o->note, want, "the tasks leave the agent a note that names the probe");
    ok(o->callbacks_ok && !*o->log && !*o->out && o->dir_made && !o->dir_left,
       "nothing is printed, and the directory is removed with the note\n%s", o->log);
    r.env[0] = "LD_PRELOAD=/a/tool.so:/b/other.so";
    o = run(&r);
    is_str(o->preload, r.env[0] + strlen("LD_PRELOAD="), "what the user preloads stays in LD_PRELOAD there");
}

static void test_contain_spank(void)
{
    struct run r = { .context = S_CTX_REMOTE, .args = conf_arg, .options = { "night" }, .apart = true };
    struct outcome *o = run(&r);

    ok(o->callbacks_ok && lines(o->log) == 1 && strstr(o->log, "unguarded: ") &&
           strstr(o->log, "contain_spank"),
       "a step whose hooks run in a process that does not stay is unguarded, which is said in one line\n%s",
       o->log);
    ok(!o->dir_made && !o->agent_ran && !*o->preload, "and nothing is begun there");
}

/* What NCCL would find in a file, were the variable not set.  The tasks look, as the user. */
static void test_nccl_files(void)
{
    char home[128], named[128], path[128], want[256];
    struct run r = {
        .context = S_CTX_REMOTE, .args = conf_arg, .options = { "night" }, .tasks = true, .env = { home }
    };
    struct outcome *o;

    snprintf(home, sizeof(home), "HOME=%s", base);
    snprintf(path, sizeof(path), "%s/nccl.so", base);
    o = run(&r);
    ok(o->callbacks_ok && !strcmp(o->nccl, path) && !*o->note,
       "tasks without a file of NCCL's settings keep the plugin\n'%s' %s", o->nccl, o->note);
    write_file(".nccl.conf", "NCCL_DEBUG=WARN\nNCCL_PROFILER_PLUGIN=mine\n");
    o = run(&r);
    is_str(o->nccl, "", "a profiler in ~/.nccl.conf stays: the tasks' environment names none");
    is_str(o->nccl_events, "", "and says nothing of what is recorded");
    snprintf(want, sizeof(want),
             "NCCL's collectives are not recorded: %s/.nccl.conf sets NCCL_PROFILER_PLUGIN", base);
    is_str(o->note, want, "the tasks leave the agent a note that names the file");
    ok(o->callbacks_ok && !*o->log && !o->dir_left,
       "nothing is printed, and the directory is removed with the note\n%s", o->log);
    write_file("my.conf", "NCCL_PROFILER_PLUGIN=none\n");
    snprintf(named, sizeof(named), "NCCL_CONF_FILE=%s/my.conf", base);
    r.env[1] = named;
    o = run(&r);
    ok(!*o->nccl && strstr(o->note, "/my.conf sets"),
       "so does one in the file that NCCL_CONF_FILE names\n'%s' %s", o->nccl, o->note);
    write_file("my.conf", "NCCL_DEBUG=WARN\n");
    o = run(&r);
    ok(!strcmp(o->nccl, path) && !*o->note, "instead of which ~/.nccl.conf is not read\n'%s' %s", o->nccl,
       o->note);
    if (getuid() == 0) {
        write_file("my.conf", "NCCL_PROFILER_PLUGIN=none\n");
        snprintf(want, sizeof(want), "%s/my.conf", base);
        chmod(want, 0600);
        o = run(&r);
        ok(!strcmp(o->nccl, path) && !*o->note, "a file that only root can read is not read for the user");
    }
    r.options[0] = "off";
    r.env[1] = "NCCL_PROFILER_PLUGIN=mine";
    is_str(run(&r)->nccl, "mine", "where nothing is guarded the user's variable is left alone");
    for (size_t i = 0; i < 2; i++) {
        snprintf(want, sizeof(want), "%s/%s", base, i ? "my.conf" : ".nccl.conf");
        unlink(want);
    }
}

/* Slurm and its plugins can give a job mounts of its own. */
static void test_own_shm(void)
{
    struct run r = { .context = S_CTX_REMOTE, .args = conf_arg, .options = { "night" }, .tasks = true };
    struct outcome *o;
    char dir[256];

    if (getuid() != 0) {
        ok(true, "tasks with a /dev/shm of their own # SKIP only root can mount");
        return;
    }
    dir_path(dir, sizeof(dir), r.step);
    r.mounts = OWN_SHM;
    o = run(&r);
    ok(o->callbacks_ok && !strcmp(o->dir, dir) && o->dir_made && strstr(o->preload, "probe.so"),
       "tasks with a /dev/shm of their own see the step's directory at the same path\n'%s' '%s'", o->dir,
       o->preload);
    ok(!*o->log && !*o->note && !o->dir_left, "nothing is said of it, and nothing is left\n%s%s", o->log,
       o->note);
    r.mounts = LATE_SHM;
    o = run(&r);
    ok(o->callbacks_ok && !*o->dir && !*o->preload && !*o->nccl,
       "tasks whose /dev/shm came too late run without the probe\n'%s' '%s'", o->dir, o->preload);
    ok(strstr(o->note, "unguarded: a task does not see /dev/shm/syncguard/"),
       "and leave the agent a note\n%s", o->note);
    ok(strstr(o->log, "runs unguarded: a task does not see /dev/shm/syncguard/") && !o->dir_left,
       "it is said on standard error, and nothing is left\n%s", o->log);
}

static void test_missing(void)
{
    struct run r = { .context = S_CTX_REMOTE, .options = { "-" } };
    char args[512], untrusted[512];
    struct outcome *o;

    r.args = args;
    snprintf(args, sizeof(args), "%s agent=/nonexistent/agent", conf_arg);
    o = run(&r);
    ok(!*o->preload && !*o->dir && !o->dir_left && o->callbacks_ok,
       "a step whose agent is missing runs without probe and directory");
    ok(lines(o->log) == 1 && strstr(o->log, "runs unguarded") &&
           strstr(o->log, "cannot run the agent /nonexistent/agent: No such"),
       "a missing agent is reported to the user once\n%.100s", o->log);
    r.node_index = 1;
    o = run(&r);
    ok(!*o->log && strstr(o->hidden, "/nonexistent/agent"),
       "only the first node reports a missing agent to the user");
    r.node_index = 0;

    snprintf(args, sizeof(args), "%s probe=/nonexistent/probe.so", conf_arg);
    r.during = KILL_AGENT;
    o = run(&r);
    ok(!*o->preload && !*o->dir && lines(o->log) == 1 &&
           strstr(o->log, "cannot read the probe /nonexistent/probe.so"),
       "a step whose probe is missing runs unguarded, with one line to the user\n%.100s", o->log);
    r.during = NOTHING;

    snprintf(args, sizeof(args), "conf=/nonexistent/s.conf");
    o = run(&r);
    ok(!*o->preload && lines(o->log) == 1 && strstr(o->log, "/nonexistent/s.conf: No such file"),
       "a step without syncguard.conf runs unguarded, with one line to the user\n%.100s", o->log);
    r.env[0] = untrusted;
    snprintf(untrusted, sizeof(untrusted), "SYNCGUARD_SETTINGS=AgentPath=%s/agent ProbePath=%s/probe.so",
             base, base);
    r.during = NOTHING;
    o = run(&r);
    ok(!o->dir_made && !o->agent_ran && lines(o->log) == 1,
       "a step without syncguard.conf takes no setting from the job's environment");
    r.env[0] = NULL;

    snprintf(args, sizeof(args), "%s agent=%s/open.d/agent", conf_arg, base);
    o = run(&r);
    ok(!o->dir_made && !o->agent_ran &&
           strstr(o->log, "/open.d can be written by all users, and root uses no"),
       "an agent that all users could exchange is not started\n%.160s", o->log);
    snprintf(args, sizeof(args), "conf=%s/open.d/s.conf", base);
    o = run(&r);
    ok(!o->dir_made && !o->agent_ran &&
           strstr(o->log, "/open.d can be written by all users, and root uses no"),
       "a syncguard.conf that all users could exchange is not believed");
    snprintf(args, sizeof(args), "%s probe=%s/open.d/probe.so", conf_arg, base);
    o = run(&r);
    ok(!*o->preload && strstr(o->log, "/open.d can be written by all users, and root uses no"),
       "a probe that all users could exchange is not preloaded");

    snprintf(args, sizeof(args), "%s", conf_arg);
    r.options[0] = "unheard";
    o = run(&r);
    ok(!o->dir_made && lines(o->log) == 1 &&
           strstr(o->log, "unknown policy unheard; known are observe, balanced"),
       "a step whose policy the node does not know runs unguarded and reports it");
    snprintf(args, sizeof(args), "%s colour=red", conf_arg);
    r.options[0] = "on";
    r.during = MAKE_RING;
    o = run(&r);
    ok(o->dir_made && !*o->log &&
           strstr(o->agent, "env SYNCGUARD_NOTES=plugstack.conf: invalid argument colour=red"),
       "the agent gets an invalid argument of plugstack.conf as a note");
}

/* Two lines of plugstack.conf name the plugin: the second stands aside. */
static void test_twice(void)
{
    for (enum twice twice = SAME_FILE; twice <= COPY; twice++) {
        const char *what = twice == COPY ? "a copy of the plugin" : "the plugin";
        struct run r = { .context = S_CTX_REMOTE,
                         .args = conf_arg,
                         .options = { "-" },
                         .step = 6,
                         .during = MAKE_RING,
                         .tasks = true,
                         .twice = twice };
        struct outcome *o = run(&r);

        ok(o->dir_made && o->restarts == 1 && o->callbacks_ok && o->exit_code == 77,
           "a second line with %s: one agent guards the step\n%d agents", what, o->restarts);
        ok(!*o->log && !o->dir_left, "a second line with %s: nothing is printed or left behind\n%s", what,
           o->log);
        r = (struct run){ .context = S_CTX_LOCAL, .args = conf_arg, .options = { "-" }, .twice = twice };
        o = run(&r);
        is_int(o->registered, 1, "a second line with %s: srun gets the option once", what);
        r = (struct run){ .context = S_CTX_SLURMD, .args = conf_arg, .twice = twice };
        o = run(&r);
        is_str(o->log, "sync-guard: plugstack.conf names the plugin twice; the first line counts\n",
               "a second line with %s: slurmd logs it once", what);
    }
}

/* What a user can do in his directory delays nothing but the keeper. */
static void test_hostile(void)
{
    struct run r = { .context = S_CTX_REMOTE, .args = conf_arg, .options = { "-" }, .step = 3 };
    char path[256], inside[300];
    struct outcome *o;

    dir_path(path, sizeof(path), 3);
    if (mkdir(path, 0755) == 0 && (getuid() != 0 || chown(path, NOBODY, NOBODY) == 0)) {
        snprintf(inside, sizeof(inside), "%s/9.0.0.ring", path);
        close(open(inside, O_CREAT | O_WRONLY, 0600));
        o = run(&r);
        ok(o->dir_made && !o->agent_ran && !o->dir_left,
           "a step whose directory is left from an earlier run gets an empty one");
        strcat(path, ".old0");
        for (int i = 0; i < 600 && access(path, F_OK) == 0; i++)
            nap(10);
        ok(access(path, F_OK) < 0, "the directory of the earlier run is removed");
    }
    r.during = FILL;
    o = run(&r);
    ok(o->dir_made && !o->dir_left, "a directory with deep directories and %d files is removed", FILES);
    ok(o->end_s < STUCK_S, "slurmstepd does not wait for a full directory\n%.0f ms", 1e3 * o->end_s);
    r.during = FILL_AND_KILL_KEEPER;
    o = run(&r);
    ok(o->dir_made && !o->dir_left && o->end_s < STUCK_S,
       "nor when the keeper was killed before the directory was emptied\n%.0f ms", 1e3 * o->end_s);
    r.during = STOP_AGENT;
    o = run(&r);
    ok(o->end_s < STUCK_S && !o->dir_left,
       "slurmstepd does not wait for an agent that its user stopped\n%.0f ms", 1e3 * o->end_s);
}

static void test_deaths(void)
{
    struct run r = {
        .context = S_CTX_REMOTE, .args = conf_arg, .options = { "-" }, .during = KILL_AGENT, .step = 5
    };
    struct outcome *o = run(&r);

    ok(o->restarts == 2 && !o->dir_left && o->callbacks_ok, "an agent that is killed is started again");
    r.during = KILL_KEEPER;
    o = run(&r);
    ok(o->restarts == 2 && strstr(o->agent, "identity ") && strstr(o->agent, "parent " KEEPER_NAME "\n"),
       "a keeper that is killed is started again, with an agent that has a credential");
    ok(!o->dir_left && o->callbacks_ok && o->exit_code == 77 && !*o->log,
       "the second keeper removes the directory, and the user sees nothing");
    r.during = KILL_KEEPERS;
    o = run(&r);
    is_int(o->restarts, WATCH_RESTARTS_MAX + 1, "a keeper that is killed each time is started again %d times",
           WATCH_RESTARTS_MAX);
    ok(lines(o->log) == 1 && strstr(o->log, "was guarded only in part: its keeper died"),
       "then the user gets one line at the step's end\n%.*s", (int)strcspn(o->log, "\n"), o->log);
    ok(!o->dir_left && o->callbacks_ok && o->exit_code == 77, "and slurmstepd has the directory removed");
    r.during = VANISH;
    o = run(&r);
    ok(o->agent_ran && !o->dir_left, "the keeper removes the directory when slurmstepd has vanished");
    write_file("agent.fail", "");
    r.during = LET_FAIL;
    o = run(&r);
    ok(o->restarts >= 3 && !o->dir_left && o->callbacks_ok && o->end_s < STUCK_S,
       "an agent that fails is started at least three times");
}

static bool set_up(void)
{
    const char *top = getenv("top_builddir");
    char command[8192];

    strcpy(base, "/tmp/sg-fakehost.XXXXXX");
    seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (seen == MAP_FAILED || !mkdtemp(base) || chmod(base, 01777) < 0)
        return false;
    snprintf(node, sizeof(node), "fake%d", (int)getpid());
    snprintf(
        command, sizeof(command),
        "mkdir %s/copy && cp '%s/.libs/syncguard.so' %s/copy && "
        "cp '%s/tests/spank/standin-agent' %s/agent && cp '%s/.libs/standin-probe.so' %s/probe.so && "
        "cd %s && cp probe.so nccl.so && chmod 755 credential && mkdir open.d && cp agent probe.so open.d && chmod 777 open.d",
        base, top ? top : ".", base, top ? top : ".", base, top ? top : ".", base, base);
    write_file("credential", CREDENTIAL);
    write_file("broken.conf", "Controller=head\nPort=x\n");
    snprintf(conf_arg, sizeof(conf_arg), "conf=%s/s.conf", base);
    return system(command) == 0;
}

int main(void)
{
    char text[640], command[128];

    if (!set_up())
        return skip_all("the stand-ins are not built, or there is no temporary folder");
    snprintf(
        text, sizeof(text),
        "Controller=head,head2:9\nPort=7000\nClusterName=one\nAuthInfo=socket=/m/sock\nAgentPath=%s/agent\nProbePath=%s/"
        "probe.so\nNcclPath=%s/nccl.so\nCredentialPath=%s/credential\n"
        "Policy=night Description=\"At night\" Pacing=auto\nPolicy=placed Placement=on NcclEvents=device\nPolicy=tuned Placement=on Algorithm=on PlacementHoldout=2\n",
        base, base, base, base);
    write_file("s.conf", text);
    write_file("open.d/s.conf", text);
    test_local();
    test_placement();
    test_algorithm();
    test_local_trouble();
    test_remote();
    test_credential();
    test_heterogeneous();
    test_defaults();
    test_inside();
    test_yield();
    test_nccl();
    test_nccl_files();
    test_container();
    test_contain_spank();
    test_own_shm();
    test_missing();
    test_twice();
    test_hostile();
    test_deaths();
    snprintf(command, sizeof(command), "rm -r '%s'", base);
    is_int(system(command), 0, "the files of this test are removed");
    return done_testing();
}
