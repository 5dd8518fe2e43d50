/* sgrun - runs a program under SyncGuard on this host, without Slurm: `sgrun mpirun -n 4 ./train`. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/options.h"
#include "common/preload.h"
#include "common/xalloc.h"
#include "ring/ring.h"
#include "run/guard.h"

#define LOOK_MS    50
#define CANNOT_RUN 126
#define NOT_FOUND  127
#define OUTPUT     "output" /* the program's, in the workspace, while the screen has the terminal */

static const struct option_spec policy = { .name = "policy", .value = "POLICY", .text = "guard it with this policy" };
static const struct option_spec name = { .name = "name", .value = "NAME", .text = "call it this; default: the program's name" };
static const struct option_spec no_screen = { .name = "no-screen",
                                              .text = "leave the terminal to the program; so it is where input or output is no terminal" };
static const struct option_spec report = { .name = "report", .value = "FILE", .text = "at the end also write the report to this file, as JSON (see sgctl(1))" };
static const struct option_spec conf = { .name = "conf", .value = "FILE", .text = "take policies and paths from this configuration" };
static const struct option_use uses[] = {
    { &policy, NULL }, { &name, NULL }, { &no_screen, NULL }, { &report, NULL }, { &conf, NULL }, { NULL, NULL },
};
static const struct options_command only = { .name = "", .operands = "PROGRAM [ARGUMENT...]", .uses = uses };

static const struct options_command *command(size_t i)
{
    return i ? NULL : &only;
}

static const struct options_program program = {
    .name = "sgrun",
    .text = "Run a program under SyncGuard on this host, without Slurm, and say at its end what held it back.",
    .command = command,
    .runs_program = true,
    .examples = { "sgrun mpirun -n 4 ./train", "sgrun --no-screen --report=run.json mpiexec -n 8 ./halo" },
    .help_end = "On a terminal sgtop shows the run; Q leaves it, and the program's output follows. The exit status is the program's; 126 and 127 when it "
                "cannot be run, 2 for a wrong command line. Manual page: sgrun(1).",
};

struct run {
    struct options o;
    struct config config; /* large */
    struct guard guard;
    bool guarded;
    char *preload;     /* LD_PRELOAD with the probe; NULL: not guarded */
    const char **argv; /* of the program */
    struct process child, screen;
    char output[WORKSPACE_SIZE]; /* "": the program writes to the terminal */
    long printed;                /* of it */
};

/* ---- signals: blocked, and taken where sgrun waits ---- */

static sigset_t signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGQUIT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    return set;
}

/* Wait for a moment, or a signal.  What asks sgrun to end is the program's to decide about. */
static void wait_a_moment(struct run *r)
{
    const struct timespec moment = { 0, LOOK_MS * 1000000 };
    sigset_t set = signals();
    siginfo_t info;
    int sig = sigtimedwait(&set, &info, &moment);
    bool by_terminal = info.si_code == SI_KERNEL;

    if (sig <= 0 || sig == SIGCHLD || r->child.pid <= 0)
        return;
    if (r->screen.pid > 0 && by_terminal && sig != SIGHUP)
        return; /* the screen's */
    if (*r->output)
        kill(-r->child.pid, sig); /* in a group of its own, which no key reaches */
    else if (!by_terminal)
        kill(r->child.pid, sig);
}

/* ---- the program ---- */

/* The value of an environment variable; "" when it is not set. */
static const char *environment(const char *variable)
{
    const char *value = getenv(variable);

    return value ? value : "";
}

/* What LD_PRELOAD becomes; NULL when it cannot name the probe. */
static char *preload(const char *probe)
{
    const char *have = environment("LD_PRELOAD");
    size_t size = strlen(have) + strlen(probe) + 2;
    char *list = xcalloc(1, size);

    if (preload_add(have, probe, list, size))
        return list;
    free(list);
    return NULL;
}

/* NCCL has one profiler: one that the user set stays. */
static bool may_record_nccl(const struct run *r)
{
    const char *have = getenv("NCCL_PROFILER_PLUGIN");

    if (!r->guarded || access(r->config.nccl, R_OK) < 0)
        return false;
    if (!have || !strcmp(have, r->config.nccl)) /* an sgrun around this one */
        return true;
    fprintf(stderr, "sgrun: NCCL's collectives are not recorded: NCCL_PROFILER_PLUGIN is set\n");
    return false;
}

static int start_program(struct run *r, struct err *err)
{
    const char *asan = environment("ASAN_OPTIONS"), *wanted = options_text(&r->o, "policy");
    char allowing[4096];
    bool allows = preload_allow(asan, allowing, sizeof(allowing));
    const struct config_policy *by = config_policy_find(&r->config, wanted ? wanted : r->config.default_policy);
    const char *const set[] = { "LD_PRELOAD", r->preload, RING_ENV_DIR, r->guard.workspace.rings, "SYNCGUARD_CONF", r->guard.conf,
                                "ASAN_OPTIONS", allows ? allowing : asan,
                                may_record_nccl(r) ? "NCCL_PROFILER_PLUGIN" : NULL, r->config.nccl,
                                "SYNCGUARD_NCCL_EVENTS", config_nccl_events[by ? by->nccl_events : 0], NULL };
    struct process_plan plan = { .argv = r->argv, .output = *r->output ? r->output : NULL, .own_group = *r->output, .set = r->guarded ? set : NULL };

    return process_start(&r->child, &plan, err);
}

/* Print what the program has written since. */
static void print_output(struct run *r)
{
    char part[65536];
    ssize_t n;
    int fd = *r->output ? open(r->output, O_RDONLY | O_CLOEXEC) : -1;

    while (fd >= 0 && (n = pread(fd, part, sizeof(part), r->printed)) > 0) {
        r->printed += n;
        fwrite(part, 1, (size_t)n, stdout);
    }
    fflush(stdout);
    if (fd >= 0)
        close(fd);
}

/* ---- the screen ---- */

static bool wants_screen(const struct run *r)
{
    return r->guarded && !options_given(&r->o, "no-screen") && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

/* Until the user leaves it, or the program fails. */
static void show_screen(struct run *r)
{
    char path[WORKSPACE_SIZE], file[WORKSPACE_SIZE + 8];
    const char *argv[] = { path, file, GUARD_JOB, NULL };
    struct process_plan plan = { .argv = argv };
    struct err err;

    guard_program("sgtop", path);
    snprintf(file, sizeof(file), "--conf=%s", r->guard.conf);
    if (process_start(&r->screen, &plan, &err) < 0) {
        fprintf(stderr, "sgrun: no screen: %s\n", err.text);
        return;
    }
    while (!process_ended(&r->screen)) {
        if (process_ended(&r->child) && process_exit_status(&r->child) != 0) {
            process_end(&r->screen, 2);
            return;
        }
        wait_a_moment(r);
    }
    if (!process_ended(&r->child))
        fprintf(stderr, "sgrun: the program goes on; what it printed follows\n");
}

/* ---- the report ---- */

static void write_report(struct run *r, const char *file)
{
    struct err err;
    json_t *job = guard_ask(&r->guard, &err);

    if (!job)
        fprintf(stderr, "sgrun: no report: %s\n", err.text);
    else if (json_dump_file(job, file, JSON_INDENT(2)) < 0)
        fprintf(stderr, "sgrun: cannot write %s: %s\n", file, strerror(errno));
    json_decref(job);
}

static void print_report(struct run *r)
{
    char path[WORKSPACE_SIZE], file[WORKSPACE_SIZE + 8];
    const char *argv[] = { path, file, "job", "--full", GUARD_JOB, NULL }; /* nobody can be asked for the rest later */
    static const char *const no_pager[] = { "PAGER", "cat", NULL };        /* the shell behind sgrun must not wait for a reader */
    struct process_plan plan = { .argv = argv, .output_to_errors = true, .set = no_pager };
    struct process sgctl;
    struct err err;

    if (!guard_settle(&r->guard))
        fprintf(stderr, "sgrun: not all that the ranks recorded has reached the report\n");
    guard_program("sgctl", path);
    snprintf(file, sizeof(file), "--conf=%s", r->guard.conf);
    fputc('\n', stderr);
    if (process_start(&sgctl, &plan, &err) < 0)
        fprintf(stderr, "sgrun: no report: %s\n", err.text);
    else
        process_wait(&sgctl, 30);
    if (options_given(&r->o, "report"))
        write_report(r, options_text(&r->o, "report"));
}

/* ---- from the beginning to the end ---- */

static bool is_launcher(const char *path)
{
    static const char *const known[] = { "mpirun", "mpiexec", "orterun", "torchrun", "python" };

    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        if (!strncmp(basename(path), known[i], strlen(known[i])))
            return true;
    return false;
}

/* The program's name; behind a launcher, that of the first file. */
static const char *name_of(const struct run *r)
{
    struct stat st;

    for (int i = 1; is_launcher(r->argv[0]) && i < r->o.n_operands; i++)
        if (stat(r->argv[i], &st) == 0 && S_ISREG(st.st_mode))
            return basename(r->argv[i]);
    return basename(r->argv[0]);
}

static void begin(struct run *r)
{
    const struct guard_plan plan = {
        .config = &r->config,
        .policy = options_text(&r->o, "policy"),
        .name = options_given(&r->o, "name") ? options_text(&r->o, "name") : name_of(r),
    };
    struct err err;

    if (access(r->config.agent, X_OK) < 0)
        err_set(&err, "cannot run %s: %s", r->config.agent, strerror(errno));
    else if (access(r->config.probe, R_OK) < 0)
        err_set(&err, "cannot read %s: %s", r->config.probe, strerror(errno));
    else if (!(r->preload = preload(r->config.probe)))
        err_set(&err, "LD_PRELOAD cannot name %s: blanks and colons separate its paths", r->config.probe);
    else
        r->guarded = guard_start(&r->guard, &plan, &err) == 0;
    if (!r->guarded)
        fprintf(stderr, "sgrun: %s runs unguarded: %s\n", r->argv[0], err.text);
}

/* The exit status. */
static int run(struct run *r)
{
    struct err err;
    int why;

    begin(r);
    if (wants_screen(r))
        workspace_path(&r->guard.workspace, OUTPUT, r->output);
    else if (r->guarded)
        fprintf(stderr, "sgrun: guarded; to look at it from another terminal: sgtop --conf=%s\n", r->guard.conf);
    if (start_program(r, &err) < 0) {
        why = errno;
        fprintf(stderr, "sgrun: %s\n", err.text);
        return why == ENOENT ? NOT_FOUND : CANNOT_RUN;
    }
    if (*r->output)
        show_screen(r);
    while (!process_ended(&r->child)) {
        wait_a_moment(r);
        print_output(r);
    }
    print_output(r);
    if (r->guarded)
        print_report(r);
    return process_exit_status(&r->child);
}

static int check(struct run *r, struct err *err)
{
    const char *wanted = options_text(&r->o, "policy");
    char names[1024];

    if (config_load(&r->config, config_path(options_text(&r->o, "conf")), err) < 0)
        return -1;
    if (wanted && !config_policy_find(&r->config, wanted))
        return err_set(err, "unknown policy '%.40s'; known are %.900s", wanted, config_policy_names(&r->config, names, sizeof(names)));
    return 0;
}

int main(int argc, char **argv)
{
    static struct run r;
    sigset_t set = signals();
    struct err err;
    int rc = options_start(&r.o, &program, argc, argv);

    if (rc >= 0)
        return rc;
    if (check(&r, &err) < 0)
        return options_misuse(&r.o, &err);
    r.argv = xcalloc((size_t)r.o.n_operands + 1, sizeof(*r.argv));
    memcpy(r.argv, r.o.operands, (size_t)r.o.n_operands * sizeof(*r.argv));
    sigprocmask(SIG_BLOCK, &set, NULL);
    rc = run(&r);
    if (r.guarded)
        guard_end(&r.guard);
    free(r.preload);
    free(r.argv);
    return rc;
}
