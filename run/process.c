#include "run/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/now.h"
#include "common/xalloc.h"

#define LOOK_NS 2000000

/* sgrun ignores the latter and not the former; of others it changes only whether they are blocked. */
static const int changed[] = { SIGCHLD, SIGPIPE };
static struct sigaction inherited[ARRAY_SIZE(changed)];
static sigset_t inherited_mask;

void process_inherit_signals(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(changed); i++)
        sigaction(changed[i], NULL, &inherited[i]);
    sigprocmask(SIG_SETMASK, NULL, &inherited_mask);
    signal(SIGCHLD, SIG_DFL);
}

/* What the user had ignored, as nohup does, stays so. */
static void restore_signals(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(changed); i++)
        sigaction(changed[i], &inherited[i], NULL);
    sigprocmask(SIG_SETMASK, &inherited_mask, NULL);
}

/* A service must end when it is asked to, whatever the user had ignored. */
static void reset_signals(void)
{
    static const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE, SIGTSTP, SIGTTOU, SIGTTIN };
    sigset_t none;

    for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
        signal(signals[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static bool redirect_files(const struct process_plan *plan)
{
    int in = plan->input > 0                                   ? plan->input
             : plan->service || plan->output || plan->no_input ? open("/dev/null", O_RDONLY)
                                                               : STDIN_FILENO,
        out;

    if (in < 0 || (in != STDIN_FILENO && dup2(in, STDIN_FILENO) < 0))
        return false;
    if (plan->output) {
        out = open(plan->output, O_WRONLY | O_CREAT | O_APPEND, 0600);
        if (out < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0)
            return false;
        if (out > STDERR_FILENO)
            close(out);
    }
    return !plan->output_to_errors || dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
}

static void become_program(const struct process_plan *plan, pid_t parent)
{
    if (plan->own_group)
        setpgid(0, 0);
    if (plan->service) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent)
            _exit(1); /* sgrun has died before */
    }
    for (size_t i = 0; i < plan->n_environment; i++)
        if (plan->environment[i].value)
            setenv(plan->environment[i].name, plan->environment[i].value, 1);
        else
            unsetenv(plan->environment[i].name);
    if (plan->service)
        reset_signals();
    else
        restore_signals();
    if (redirect_files(plan))
        execvp(plan->argv[0], (char *const *)plan->argv);
}

/* One of few threads is not enough to make setenv() after fork() unsafe: sgrun has one. */
int process_start(struct process *p, const struct process_plan *plan, struct err *err)
{
    int ends[2], reason = 0;
    pid_t parent = getpid();

    *p = (struct process){ 0 };
    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_set(err, "cannot start %s: %s", plan->argv[0], strerror(errno));
    p->pid = fork();
    if (p->pid == 0) {
        become_program(plan, parent);
        reason = errno;
        if (write(ends[1], &reason, sizeof(reason)) < 0)
            _exit(126);
        _exit(127);
    }
    close(ends[1]);
    if (p->pid < 0)
        reason = errno;
    else if (read(ends[0], &reason, sizeof(reason)) != sizeof(reason))
        reason = 0; /* closed by execve */
    close(ends[0]);
    if (!reason)
        return 0;
    if (p->pid > 0)
        waitpid(p->pid, &p->status, 0);
    p->pid = 0;
    errno = reason;
    err_set(err, "cannot run %s: %s", plan->argv[0], strerror(reason));
    errno = reason;
    return -1;
}

bool process_ended(struct process *p)
{
    pid_t ended = p->pid > 0 ? waitpid(p->pid, &p->status, WNOHANG) : 0;
    bool unknown = ended < 0 && errno == ECHILD;

    if (unknown)
        p->status = W_EXITCODE(1, 0); /* nobody can tell any more how it ended */
    if (ended > 0 || unknown)
        p->pid = 0;
    return p->pid <= 0;
}

bool process_wait(struct process *p, double limit_s)
{
    const struct timespec look = { 0, LOOK_NS };
    double until_s = now_s() + limit_s;

    while (!process_ended(p) && now_s() < until_s)
        nanosleep(&look, NULL);
    return p->pid <= 0;
}

void process_end(struct process *p, double grace_s)
{
    if (process_ended(p))
        return;
    kill(p->pid, SIGTERM);
    if (process_wait(p, grace_s))
        return;
    kill(p->pid, SIGKILL);
    waitpid(p->pid, &p->status, 0);
    p->pid = 0;
}

int process_exit_status(const struct process *p)
{
    return WIFSIGNALED(p->status) ? 128 + WTERMSIG(p->status) : WEXITSTATUS(p->status);
}
