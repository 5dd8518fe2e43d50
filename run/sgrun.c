/* sgrun - runs a program under SyncGuard without Slurm, on this host (`sgrun mpirun -n 4 ./train`) or on
 * several (`sgrun --hosts=a,b ./train`). */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/nccl_conf.h"
#include "common/options.h"
#include "common/preload.h"
#include "common/xalloc.h"
#include "ring/ring.h"
#include "run/guard.h"
#include "run/remote.h"

#define LOOK_MS    50
#define CANNOT_RUN 126
#define NOT_FOUND  127
#define SIGNALLED  128 /* and the number of the signal */
/* the program's, in the workspace, while the screen has the terminal */
#define OUTPUT "output"

static const struct option_spec policy = { .name = "policy",
                                           .value = "POLICY",
                                           .text = "guard it with this policy" };
static const struct option_spec name = { .name = "name",
                                         .value = "NAME",
                                         .text = "call it this; default: the program's name" };
static const struct option_spec no_screen = {
    .name = "no-screen",
    .text =
        "leave the terminal to the program; implied where input or output is not a terminal, or one without a cursor (TERM=dumb)"
};
static const struct option_spec report = {
    .name = "report",
    .value = "FILE",
    .text = "at the end also write the report to this file, as JSON (see sgctl(1))"
};
static const struct option_spec full = { .name = "full",
                                         .text = "at the end print the whole report, not ten lines of it" };
static const struct option_spec conf = { .name = "conf",
                                         .value = "FILE",
                                         .text = "take policies and paths from this configuration" };
static const struct option_spec hosts = {
    .name = "hosts",
    .value = "LIST",
    .text = "run PROGRAM once on each of these hosts, by ssh: node[1-4],gpu7"
};
static const struct option_spec ssh = {
    .name = "ssh", .value = "COMMAND", .text = "what runs a command on a host; default: ssh -o BatchMode=yes"
};
static const struct option_spec address = {
    .name = "address",
    .value = "ADDRESS",
    .text = "address at which the hosts reach this one; default: that of the route to the first host"
};
static const struct option_spec join = {
    .name = "join", .text = "be the part on a host that --hosts starts: standard input says what to do"
};
static const struct option_use uses[] = {
    { &policy, NULL },  { &name, NULL }, { &no_screen, NULL }, { &report, NULL },
    { &full, NULL },    { &conf, NULL }, { &hosts, NULL },     { &ssh, "ssh -o BatchMode=yes" },
    { &address, NULL }, { &join, NULL }, { NULL, NULL },
};
static const struct options_command only = { .name = "", .operands = "PROGRAM [ARGUMENT...]", .uses = uses };

static const struct options_program program = {
    .name = "sgrun",
    .text = "Run a program under SyncGuard, without Slurm, and say at its end what held it back.",
    .only = &only,
    .runs_program = true,
    .examples = { "sgrun mpirun -n 4 ./train", "sgrun torchrun --nproc_per_node 4 train.py" },
    .help_end =
        "On a terminal sgtop shows the run; Q leaves it, and the program's output follows. The exit status is the program's; 126 and 127 when it "
        "cannot be run, 2 for a wrong command line. Manual page: sgrun(1).",
};

struct run {
    sigset_t signals, ending; /* those it takes, and of these the ones that ask to end */
    struct options o;
    struct config config;               /* large */
    const struct config_policy *policy; /* of it; NULL with --join */
    struct guard guard;
    bool guarded, settled, reached; /* reached: settle() saw the end of it */
    char *preload;                  /* LD_PRELOAD with the probe, where it is guarded */
    const char **argv;              /* of the program */
    struct process child, screen;
    struct remote *remote;              /* with --hosts the programs, in place of child */
    struct assignment assignment;       /* with --join: the run that this one is a part of */
    char order[ASSIGNMENT_SIGNAL_SIZE]; /* of it, as far as it was read */
    size_t ordered;
    bool on_its_own;             /* no more orders come */
    char output[WORKSPACE_SIZE]; /* "": the program writes to the terminal */
    long printed;                /* of it */
};

/* ---- signals: blocked, and taken where sgrun waits ---- */

/* But for those that are ignored: the program ignores them, too, and on other hosts it must not get them. */
static void add_signals(sigset_t *set, const int *sig, size_t n)
{
    struct sigaction now;

    for (size_t i = 0; i < n; i++)
        if (sigaction(sig[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(set, sig[i]);
}

static void block_signals(struct run *r)
{
    static const int ending[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
    static const int others[] = { SIGCHLD, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU };

    sigemptyset(&r->ending);
    add_signals(&r->ending, ending, ARRAY_SIZE(ending));
    r->signals = r->ending;
    add_signals(&r->signals, others, ARRAY_SIZE(others));
    sigprocmask(SIG_BLOCK, &r->signals, NULL);
}

/* The signal that has asked sgrun to end since they are blocked. 0: none */
static int asked_to_end(const struct run *r)
{
    const struct timespec at_once = { 0 };
    int sig = sigtimedwait(&r->ending, NULL, &at_once);

    return sig > 0 ? sig : 0;
}

static void signal_program(struct run *r, int sig)
{
    /* A group of its own no key reaches.  What does not ask to end would end others in it. */
    bool all = *r->output && sigismember(&r->ending, sig);

    if (r->remote)
        remote_signal(r->remote, sig);
    else if (r->child.pid > 0)
        kill(all ? -r->child.pid : r->child.pid, sig);
}

/* What the sgrun that started this one passes on, and nothing else: it may have died, and the program goes
 * on. */
static void take_orders(struct run *r)
{
    struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
    int sig;
    char c;

    while (*r->assignment.node && !r->on_its_own && poll(&in, 1, 0) > 0) {
        if (read(STDIN_FILENO, &c, 1) != 1) {
            r->on_its_own = true;
        } else if (c != '\n') {
            r->ordered += r->ordered < sizeof(r->order) - 1;
            r->order[r->ordered - 1] = c;
        } else {
            r->order[r->ordered] = '\0';
            r->ordered = 0;
            sig = assignment_read_signal(r->order);
            if (sig)
                signal_program(r, sig);
        }
    }
}

static bool ended(struct run *r)
{
    return r->remote ? remote_ended(r->remote) : process_ended(&r->child);
}

static int exit_status(const struct run *r)
{
    return r->remote ? remote_exit_status(r->remote) : process_exit_status(&r->child);
}

/* Wait for a moment, or a signal, which is the program's to decide about. */
static void wait_a_moment(struct run *r)
{
    const struct timespec moment = { 0, LOOK_MS * 1000000 };
    siginfo_t info = { 0 };
    int sig = sigtimedwait(&r->signals, &info, &moment);
    /* an alarm is of the kernel, too: one that was set before sgrun was executed */
    bool by_terminal = info.si_code == SI_KERNEL && sigismember(&r->ending, sig);

    take_orders(r);
    if (sig <= 0 || sig == SIGCHLD)
        return;
    if (r->screen.pid > 0 && by_terminal && sig != SIGHUP)
        return;                                  /* the screen's */
    if (*r->output || r->remote || !by_terminal) /* else the terminal has sent it to the program, too */
        signal_program(r, sig);
}

/* ---- the program ---- */

/* The value of an environment variable; "" when it is not set. */
static const char *text_of(const char *variable)
{
    const char *value = getenv(variable);

    return value ? value : "";
}

#define PROFILER "NCCL_PROFILER_PLUGIN"

/* NCCL has one profiler: one that the user set stays, in the environment or in a file. */
static bool may_record_nccl(const struct run *r)
{
    const char *have = getenv(PROFILER);
    const struct nccl_conf_files files = { .named = getenv("NCCL_CONF_FILE"),
                                           .home = getenv("HOME"),
                                           .etc = "/etc",
                                           .variable = PROFILER,
                                           .ours = r->config.nccl };
    char path[4096];

    if (!r->guarded || access(r->config.nccl, R_OK) < 0)
        return false;
    if (have && strcmp(have, r->config.nccl) != 0)
        fprintf(stderr, "sgrun: NCCL's collectives are not recorded: " PROFILER " is set\n");
    else if (!have && nccl_conf_find(&files, path, sizeof(path)))
        fprintf(stderr, "sgrun: NCCL's collectives are not recorded: %s sets " PROFILER "\n", path);
    else /* where it is ours already, there is an sgrun around this one */
        return true;
    return false;
}

static bool is_launcher(const char *path)
{
    static const char *const known[] = { "mpirun", "mpiexec", "orterun", "torchrun", "python" };

    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        if (!strncmp(basename(path), known[i], strlen(known[i])))
            return true;
    return false;
}

/* By default the program's name; behind a launcher, that of the first file that is none. */
static const char *job_name(const struct run *r)
{
    struct stat st;

    if (options_given(&r->o, "name"))
        return options_text(&r->o, "name");
    for (int i = 1; is_launcher(r->argv[0]) && i < r->o.n_operands; i++)
        if (stat(r->argv[i], &st) == 0 && S_ISREG(st.st_mode) && !is_launcher(r->argv[i]))
            return basename(r->argv[i]);
    return basename(r->argv[0]);
}

static const char *nccl_events_of(const struct run *r)
{
    return r->policy ? config_nccl_events[r->policy->nccl_events] : r->assignment.nccl_events;
}

static int start_here(struct run *r, struct err *err)
{
    const char *asan = text_of("ASAN_OPTIONS");
    char allowing[4096];
    bool allows = preload_allow(asan, allowing, sizeof(allowing));
    const struct process_variable environment[] = {
        { "LD_PRELOAD", r->preload },        { RING_ENV_DIR, r->guard.workspace.rings },
        { "SYNCGUARD_CONF", r->guard.conf }, { "ASAN_OPTIONS", allows ? allowing : asan },
        { PROFILER, r->config.nccl },        { "SYNCGUARD_NCCL_EVENTS", nccl_events_of(r) },
    };
    /* The last two are NCCL's: left out where the user's own profiler stays. */
    size_t n = ARRAY_SIZE(environment) - (may_record_nccl(r) ? 0 : 2);
    struct process_plan plan = { .argv = r->argv,
                                 .output = *r->output ? r->output : NULL,
                                 .no_input = *r->assignment.node, /* ours has orders */
                                 .own_group = *r->output,
                                 .environment = environment,
                                 .n_environment = r->guarded ? n : 0 };

    return process_start(&r->child, &plan, err);
}

/* Of this environment, what is the same on all hosts; lent, but for the list itself. */
static char **shared_environment(void)
{
    size_t n = 0, kept = 0;
    char **list;

    while (environ[n])
        n++;
    list = xcalloc(n + 1, sizeof(*list));
    for (size_t i = 0; i < n; i++)
        if (assignment_takes_variable(environ[i]))
            list[kept++] = environ[i];
    return list;
}

static int start_on_hosts(struct run *r, struct err *err)
{
    const struct remote_plan plan = { .list = options_text(&r->o, "hosts"),
                                      .ssh = options_text(&r->o, "ssh"),
                                      .output = *r->output ? r->output : NULL,
                                      .argv = r->argv,
                                      .assignment = &r->assignment };

    snprintf(r->assignment.controller, sizeof(r->assignment.controller), "%s", r->guard.config->controller);
    memcpy(r->assignment.key, r->guard.key, sizeof(r->assignment.key));
    snprintf(r->assignment.name, sizeof(r->assignment.name), "%s", job_name(r));
    snprintf(r->assignment.policy, sizeof(r->assignment.policy), "%s", r->policy->name);
    r->assignment.policy_asked = options_given(&r->o, "policy");
    r->assignment.rate_hz = r->policy->sample_rate_hz;
    snprintf(r->assignment.agent, sizeof(r->assignment.agent), "%s", r->config.agent);
    snprintf(r->assignment.probe, sizeof(r->assignment.probe), "%s", r->config.probe);
    snprintf(r->assignment.nccl, sizeof(r->assignment.nccl), "%s", r->config.nccl);
    snprintf(r->assignment.nccl_events, sizeof(r->assignment.nccl_events), "%s", nccl_events_of(r));
    if (!getcwd(r->assignment.folder, sizeof(r->assignment.folder)))
        return err_set(err, "cannot tell the current folder: %s", strerror(errno));
    r->assignment.environment = shared_environment();
    r->remote = remote_start(&plan, err);
    free(r->assignment.environment);
    r->assignment.environment = NULL;
    return r->remote ? 0 : -1;
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

/* sgtop would print one report at the begin on a terminal that cannot place its cursor. */
static bool is_screen(void)
{
    const char *type = getenv("TERM");

    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && type && *type && strcmp(type, "dumb") != 0;
}

/* Once the program has ended; false: not all of it has reached the controller. */
static bool settle(struct run *r)
{
    if (!r->settled)
        r->reached = guard_settle(&r->guard);
    r->settled = true;
    return r->reached;
}

/* Until the user leaves it, or the program fails.  Of a program that has ended it shows the end. */
static void show_screen(struct run *r)
{
    char path[WORKSPACE_SIZE], file[WORKSPACE_SIZE + 8];
    const char *argv[] = { path, file, GUARD_JOB, NULL };
    struct process_plan plan = { .argv = argv };
    json_t *job = NULL;
    struct err err;

    /* There is something to see once a host's agent has reached the controller. */
    while (r->remote && !job) {
        if (ended(r))
            return;
        job = guard_ask(&r->guard, &err);
        if (!job)
            wait_a_moment(r);
    }
    json_decref(job);
    guard_program("sgtop", path);
    snprintf(file, sizeof(file), "--conf=%s", r->guard.conf);
    if (process_start(&r->screen, &plan, &err) < 0) {
        fprintf(stderr, "sgrun: no screen: %s\n", err.text);
        return;
    }
    while (!process_ended(&r->screen)) {
        if (ended(r) && exit_status(r) != 0) {
            process_end(&r->screen, 2);
            return;
        }
        if (ended(r))
            settle(r);
        wait_a_moment(r);
    }
    if (!ended(r))
        fprintf(stderr, "sgrun: the program goes on; what it printed follows\n");
}

/* ---- the report ---- */

static void print_report(struct run *r)
{
    char path[WORKSPACE_SIZE], file[WORKSPACE_SIZE + 8];
    const char *argv[] = {
        path, file, "job", GUARD_JOB, options_given(&r->o, "full") ? "--full" : NULL, NULL
    };
    /* The shell behind sgrun must not wait for a reader, and nobody can be asked for the rest later. */
    static const struct process_variable environment[] = {
        { "PAGER", "cat" },
        { "SYNCGUARD_MORE", "sgrun --full, or --report=FILE as JSON" },
    };
    struct process_plan plan = { .argv = argv,
                                 .output_to_errors = true,
                                 .environment = environment,
                                 .n_environment = ARRAY_SIZE(environment) };
    struct process sgctl;
    struct err err;
    json_t *job;

    if (!settle(r))
        fprintf(stderr, "sgrun: not all that the ranks recorded has reached the report\n");
    guard_program("sgctl", path);
    snprintf(file, sizeof(file), "--conf=%s", r->guard.conf);
    fputc('\n', stderr);
    if (process_start(&sgctl, &plan, &err) < 0)
        fprintf(stderr, "sgrun: no report: %s\n", err.text);
    else
        process_wait(&sgctl, 30);
    if (!options_given(&r->o, "report"))
        return;
    job = guard_ask(&r->guard, &err);
    if (!job)
        fprintf(stderr, "sgrun: no report: %s\n", err.text);
    else if (json_dump_file(job, options_text(&r->o, "report"), JSON_INDENT(2)) < 0)
        fprintf(stderr, "sgrun: cannot write %s: %s\n", options_text(&r->o, "report"), strerror(errno));
    json_decref(job);
}

/* ---- from the beginning to the end ---- */

/* Also sets r->preload. */
static int check_files(struct run *r, struct err *err)
{
    const char *have = text_of("LD_PRELOAD");
    size_t size;

    if (access(r->config.agent, X_OK) < 0)
        return err_set(err, "cannot run %s: %s", r->config.agent, strerror(errno));
    if (access(r->config.probe, R_OK) < 0)
        return err_set(err, "cannot read %s: %s", r->config.probe, strerror(errno));
    size = strlen(have) + strlen(r->config.probe) + 2;
    r->preload = xcalloc(1, size);
    if (preload_add(have, r->config.probe, r->preload, size))
        return 0;
    return err_set(err, "LD_PRELOAD cannot name %s: blanks and colons separate its paths", r->config.probe);
}

/* -1: there is no run on hosts without a controller that they reach; here the program runs unguarded. */
static int begin_guard(struct run *r, struct err *err)
{
    char own[REMOTE_ADDRESS_SIZE];
    struct guard_plan plan = {
        .config = &r->config,
        .policy = r->policy,
        .policy_asked = options_given(&r->o, "policy"),
        .name = job_name(r),
    };

    if (options_given(&r->o, "hosts")) {
        plan.address = options_given(&r->o, "address") ? options_text(&r->o, "address") : own;
        if (plan.address == own && remote_address(options_text(&r->o, "hosts"), own, err) < 0)
            return -1;
        r->guarded = guard_start(&r->guard, &plan, err) == 0;
        return r->guarded ? 0 : -1;
    }
    r->guarded = check_files(r, err) == 0 && (*r->assignment.node ? guard_join(&r->guard, &r->assignment, err)
                                                                  : guard_start(&r->guard, &plan, err)) == 0;
    if (!r->guarded)
        fprintf(stderr, "sgrun: %s%s%s runs unguarded: %s\n", r->argv[0], *r->assignment.node ? " on " : "",
                r->assignment.node, err->text);
    return 0;
}

/* The exit status. */
static int run_program(struct run *r)
{
    struct err err;
    int why, sig;

    if (begin_guard(r, &err) < 0) {
        fprintf(stderr, "sgrun: %s\n", err.text);
        return CANNOT_RUN;
    }
    sig = asked_to_end(r);
    if (sig) {
        fprintf(stderr, "sgrun: %s was not started: %s\n", r->argv[0], strsignal(sig));
        return SIGNALLED + sig;
    }
    if (r->guarded && !options_given(&r->o, "no-screen") && is_screen())
        workspace_path(&r->guard.workspace, OUTPUT, r->output);
    else if (r->guarded && !*r->assignment.node)
        fprintf(stderr, "sgrun: guarded; to look at it from another terminal: sgtop --conf=%s\n",
                r->guard.conf);
    if ((options_given(&r->o, "hosts") ? start_on_hosts(r, &err) : start_here(r, &err)) < 0) {
        why = errno;
        fprintf(stderr, "sgrun: %s\n", err.text);
        return !r->remote && why == ENOENT ? NOT_FOUND : CANNOT_RUN;
    }
    if (*r->output)
        show_screen(r);
    while (!ended(r)) {
        wait_a_moment(r);
        print_output(r);
    }
    print_output(r);
    if (*r->assignment.node && r->guarded)
        guard_settle(&r->guard);
    else if (r->guarded)
        print_report(r);
    return exit_status(r);
}

/* ---- a part of a run ---- */

/* This process becomes what the run's is: its environment, folder and files. */
static int take_join(struct run *r, struct err *err)
{
    char number[16], *line = NULL, c = 0;
    size_t bytes = 0, cap = 0;
    int rc;

    /* Up to the newline, and no byte more: what follows are orders. */
    while (bytes < ASSIGNMENT_LINE_MAX && c != '\n' && read(STDIN_FILENO, &c, 1) == 1) {
        line = xgrow(line, &cap, bytes + 1, 1);
        line[bytes++] = c;
    }
    rc = assignment_read(&r->assignment, line, bytes, err);
    free(line);
    if (rc < 0)
        return -1;
    for (char **e = r->assignment.environment; *e; e++) {
        char *value = strchr(*e, '=');

        *value = '\0';
        setenv(*e, value + 1, 1);
    }
    snprintf(number, sizeof(number), "%u", r->assignment.number);
    setenv("SGRUN_NODE", number, 1);
    snprintf(number, sizeof(number), "%u", r->assignment.count);
    setenv("SGRUN_NODES", number, 1);
    snprintf(r->config.agent, sizeof(r->config.agent), "%s", r->assignment.agent);
    snprintf(r->config.probe, sizeof(r->config.probe), "%s", r->assignment.probe);
    snprintf(r->config.nccl, sizeof(r->config.nccl), "%s", r->assignment.nccl);
    return chdir(r->assignment.folder) < 0 ? err_set(err, "%s: cannot enter %s: %s", r->assignment.node,
                                                     r->assignment.folder, strerror(errno))
                                           : 0;
}

static int check_options(struct run *r, struct err *err)
{
    const char *wanted = options_text(&r->o, "policy");
    char names[1024];

    if (options_given(&r->o, "join"))
        return options_given(&r->o, "hosts") ? err_set(err, "--join and --hosts exclude each other") : 0;
    if ((options_given(&r->o, "ssh") || options_given(&r->o, "address")) && !options_given(&r->o, "hosts"))
        return err_set(err, "--ssh and --address are for --hosts");
    if (config_load(&r->config, config_path(options_text(&r->o, "conf")), err) < 0)
        return -1;
    r->policy = config_policy_find(&r->config, wanted ? wanted : r->config.default_policy);
    if (!r->policy)
        return err_set(err, "unknown policy '%.40s'; known are %.900s", wanted,
                       config_policy_names(&r->config, names, sizeof(names)));
    return 0;
}

int main(int argc, char **argv)
{
    static struct run r;
    struct err err;
    int rc;

    process_inherit_signals();
    rc = options_start(&r.o, &program, argc, argv);
    if (rc >= 0)
        return rc;
    if (check_options(&r, &err) < 0)
        return options_misuse(&r.o, &err);
    r.argv = xcalloc((size_t)r.o.n_operands + 1, sizeof(*r.argv));
    memcpy(r.argv, r.o.operands, (size_t)r.o.n_operands * sizeof(*r.argv));
    if (options_given(&r.o, "join") && take_join(&r, &err) < 0) {
        fprintf(stderr, "sgrun: %s\n", err.text);
        return CANNOT_RUN;
    }
    block_signals(&r);
    rc = run_program(&r);
    remote_free(r.remote);
    assignment_free(&r.assignment);
    if (r.guarded)
        guard_end(&r.guard);
    free(r.preload);
    free(r.argv);
    return rc;
}
