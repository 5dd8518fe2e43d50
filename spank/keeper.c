#include "spank/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "spank/stepdir.h"

/* Everything below keeper_main() runs after fork() in a process that had threads: only system calls, no
 * allocation, no locks, no stdio. */

struct keeper {
    const struct keeper_plan *plan;
    bool root;
    int sock, children; /* descriptors: socket to slurmstepd; signalfd of SIGCHLD */
    pid_t child;        /* the agent or, after it, a process that empties the directory; 0: not running */
    int64_t started_ms; /* when the child was started */
    int status;         /* exit status of the last child */
};

/* What the keeper sends to slurmstepd. */
#define AGENT_STARTED 'A'
#define FINISHED      'F'

enum wake { WAKE_OVER, WAKE_CHILD, WAKE_TIME };

static int64_t now_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* True once, when the child has ended.  Processes that the child left are ours too (see keeper_main()). */
static bool reap_child(struct keeper *k)
{
    char signals[4096];
    bool ended = false;
    int status;
    pid_t pid;

    while (read(k->children, signals, sizeof(signals)) > 0)
        ;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == k->child) {
            k->child = 0;
            k->status = status;
            ended = true;
        }
    }
    return ended;
}

/* Wait until the child has ended, ms have passed (ms < 0: no limit) or, if over_too, the step is over. */
static enum wake wait_for(struct keeper *k, int ms, bool over_too)
{
    int64_t until = now_ms() + ms;
    struct pollfd fds[2] = {
        { .fd = over_too ? k->sock : -1, .events = POLLIN },
        { .fd = k->children, .events = POLLIN },
    };

    for (;;) {
        int64_t left = ms < 0 ? -1 : until - now_ms();

        if (ms >= 0 && left <= 0)
            return WAKE_TIME;
        if (poll(fds, 2, (int)left) < 0)
            continue;
        if (fds[0].revents)
            return WAKE_OVER; /* slurmstepd never writes, so readable means closed */
        if (fds[1].revents && reap_child(k))
            return WAKE_CHILD;
    }
}

/* fork() would take locks that a thread of slurmstepd may have held when this copy was made. */
static pid_t plain_fork(void)
{
    return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

/* Limits of everything that runs as the job's user: slurmstepd's own have little to do with the job's. */
static void set_limits(void)
{
    static const struct {
        int what;
        rlim_t most;
    } limits[] = {
        { RLIMIT_CORE, 0 },          { RLIMIT_FSIZE, 256u << 20 }, { RLIMIT_MEMLOCK, 8u << 20 },
        { RLIMIT_MSGQUEUE, 0 },      { RLIMIT_NICE, 0 },           { RLIMIT_RTPRIO, 0 },
        { RLIMIT_SIGPENDING, 1024 }, { RLIMIT_STACK, 8u << 20 },
    };
    struct rlimit limit;

    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        if (getrlimit((__rlimit_resource_t)limits[i].what, &limit) < 0)
            continue;
        if (limit.rlim_max > limits[i].most)
            limit.rlim_max = limits[i].most;
        if (limit.rlim_cur > limit.rlim_max)
            limit.rlim_cur = limit.rlim_max;
        setrlimit((__rlimit_resource_t)limits[i].what, &limit);
    }
}

/* Become the job's user for ever.  Use raw system calls: glibc's wrappers signal all threads, which do not
 * exist in this copy. */
static bool drop_privileges(const struct keeper *k)
{
    const struct keeper_plan *plan = k->plan;
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    /* The out-of-memory killer is to take this process before the job's; slurmstepd is protected from it. */
    if (fd >= 0 && write(fd, "500", 3) < 0)
        errno = 0; /* not permitted; run without it */
    if (fd >= 0)
        close(fd);
    set_limits();
    if (k->root && (syscall(SYS_setgroups, plan->n_groups, plan->groups) < 0 ||
                    syscall(SYS_setresgid, plan->gid, plan->gid, plan->gid) < 0 ||
                    syscall(SYS_setresuid, plan->uid, plan->uid, plan->uid) < 0))
        return false;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_DUMPABLE, 0) == 0;
}

/* Fork a child that is the job's user.  0 in the child, which ends with the keeper. */
static pid_t start_child(struct keeper *k)
{
    pid_t keeper = getpid(), pid = plain_fork();

    if (pid == 0) {
        /* A change of the ids clears the signal, so set it after that.  On SIGTERM the agent would remove the
         * rings as at the step's end. */
        if (!drop_privileges(k) || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != keeper)
            _exit(127);
        return 0;
    }
    k->child = pid > 0 ? pid : 0;
    k->started_ms = now_ms();
    k->status = 127 << 8;
    return pid;
}

static void send_report(const struct keeper *k, char what)
{
    send(k->sock, &what, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* In a child. */
__attribute__((noreturn)) static void become_program(char *const *argv, char *const *envp)
{
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(argv[0], argv, envp);
    _exit(127);
}

/* Wait for the child, and end it when the time is up, also when its user has stopped it. */
static void child_end(struct keeper *k, int ms)
{
    if (k->child && wait_for(k, ms, false) != WAKE_CHILD && k->child) {
        kill(k->child, SIGKILL);
        waitpid(k->child, NULL, 0);
        k->child = 0;
    }
}

/* Instead of the credential leave the agent the reason why nothing vouches for the step: the first of what
 * the program said on its standard error, said, and what became of it. */
static void leave_reason(const struct keeper *k, int said, const char *what)
{
    const char *program = k->plan->credential_argv[0];
    char words[512];
    ssize_t n = pread(said, words, sizeof(words), 0);
    const struct iovec line[] = { { words, n > 0 ? (size_t)n : 0 },
                                  { (void *)program, strlen(program) },
                                  { (void *)what, strlen(what) } };

    if (ftruncate(KEEPER_IDENTITY_FD, 0) < 0 || pwritev(KEEPER_IDENTITY_FD, line, 3, 0) < 0)
        errno = 0; /* the agent reports that there is no reason */
}

/* Run the program that vouches for the step; the agent does without when it fails. */
static void make_identity(struct keeper *k)
{
    static char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
    static char *const env[] = { path, NULL };
    int fd = (int)syscall(SYS_memfd_create, "identity", MFD_CLOEXEC), said;
    pid_t pid;

    if (fd < 0 || dup3(fd, KEEPER_IDENTITY_FD, O_CLOEXEC) < 0)
        return;
    close(fd);
    if (!k->plan->credential_argv || !k->plan->credential_argv[0])
        return;
    said = (int)syscall(SYS_memfd_create, "said", MFD_CLOEXEC);
    pid = plain_fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(KEEPER_IDENTITY_FD, STDOUT_FILENO);
        dup2(said,
             STDERR_FILENO); /* its own: a program that warns and succeeds must not spoil what it vouches */
        become_program(k->plan->credential_argv, env);
    }
    k->status = -1;
    if (pid > 0) {
        k->child = pid;
        child_end(k, KEEPER_IDENTITY_MS);
    }
    if (pid < 0 || (WIFEXITED(k->status) && WEXITSTATUS(k->status) == 127))
        leave_reason(k, said, " cannot be run\n");
    else if (k->status == -1)
        leave_reason(k, said, " did not finish within 3 s: does munged answer?\n");
    else if (k->status)
        leave_reason(k, said, " failed\n");
    close(said);
}

/* End what the agent left running.  Processes whose parent has ended become children of ours, so a few rounds
 * reach all of them. */
static void end_rest(struct keeper *k)
{
    for (int round = 0; round < 100; round++) {
        int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC), pid = 0;
        char buf[4096];
        ssize_t n = fd >= 0 ? read(fd, buf, sizeof(buf)) : -1;

        if (fd >= 0)
            close(fd);
        if (n <= 0)
            return;
        for (ssize_t i = 0; i < n; i++) {
            if (buf[i] >= '0' && buf[i] <= '9') {
                pid = pid * 10 + (buf[i] - '0');
            } else {
                if (pid > 1)
                    kill(pid, SIGKILL);
                pid = 0;
            }
        }
        wait_for(k, 10, false);
    }
}

/* Run the agent until the step is over or the agent has exited with status 0. */
static void run_agent(struct keeper *k)
{
    static const int backoff_ms[] = { 100, 500, 2000, 5000, 10000 };
    size_t tries = 0, last = sizeof(backoff_ms) / sizeof(backoff_ms[0]) - 1;
    pid_t pid;

    for (;;) {
        pid = start_child(k);
        if (pid == 0) {
            fcntl(KEEPER_IDENTITY_FD, F_SETFD, 0);
            become_program(k->plan->argv, k->plan->envp);
        }
        if (pid > 0)
            send_report(k, AGENT_STARTED); /* keeper_wait() then waits slow_ms */
        if (k->child) {
            if (wait_for(k, -1, true) == WAKE_OVER)
                return;
            if (WIFEXITED(k->status) && WEXITSTATUS(k->status) == 0)
                return;
        }
        /* After the last try wait for the step's end: the ranks still write to rings in the directory. */
        if (wait_for(k, tries == KEEPER_RESTARTS_MAX ? -1 : backoff_ms[tries < last ? tries : last], true) ==
            WAKE_OVER)
            return;
        tries++;
    }
}

/* SIG_IGN or SIG_DFL.  From 2.41 on glibc's sigaction() takes a lock for SIGABRT, which another thread of
 * slurmstepd may have held when this copy was made: while it started a program, say. */
static void set_action(int sig, void (*action)(int))
{
    const struct {
        void (*action)(int);
        unsigned long rest[8]; /* the kernel's flags, restorer and mask, all zero */
    } set = { .action = action };

    syscall(SYS_rt_sigaction, sig, &set, NULL, (size_t)(NSIG / 8));
}

/* Ignore all signals that are meant for the job.  The agent inherits this and handles only SIGTERM. */
static int settle_signals(void)
{
    sigset_t mask;

    for (int sig = 1; sig < NSIG; sig++)
        set_action(sig, sig == SIGCHLD || sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL ||
                                sig == SIGABRT || sig == SIGSYS || sig == SIGTRAP
                            ? SIG_DFL
                            : SIG_IGN);
    set_action(SIGTERM, SIG_DFL); /* default for the agent; blocked in the keeper */
    sigemptyset(&mask);
    sigaddset(&mask, SIGCHLD);
    sigaddset(&mask, SIGTERM);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    sigdelset(&mask, SIGTERM);
    return signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Leave open only sock, as 3, and /dev/null as 0, 1 and 2. */
static int settle_descriptors(int sock)
{
    int null;
    struct rlimit limit;

    if (dup2(sock, 3) < 0)
        return -1;
    fcntl(3, F_SETFD, FD_CLOEXEC);
    for (int fd = 0; fd < 3; fd++)
        close(fd);
    if (syscall(SYS_close_range, 4u, ~0u, 0u) < 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        for (int fd = 4; fd < 65536 && (rlim_t)fd < limit.rlim_cur; fd++)
            close(fd);
    }
    null = open("/dev/null", O_RDWR);
    if (null == 0) {
        dup2(0, 1);
        dup2(0, 2);
    }
    return 3;
}

__attribute__((noreturn)) static void keeper_main(const struct keeper_plan *plan, int sock)
{
    struct keeper k = { .plan = plan };
    int64_t settle_ms;

    setsid();
    k.sock = settle_descriptors(sock);
    k.children = settle_signals();
    prctl(PR_SET_NAME, KEEPER_NAME);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* the agent's own children must not outlive the step either */
    if (chdir("/") < 0 || k.sock < 0 || k.children < 0)
        _exit(1);
    /* slurmstepd runs with root's real ids and sometimes the user's effective ones.  Become root entirely, or
     * the user could signal this process.  Make it undumpable, because it is a copy of root's memory. */
    k.root = syscall(SYS_setresuid, -1, 0, -1) == 0;
    if (prctl(PR_SET_DUMPABLE, 0) < 0 ||
        (k.root && (syscall(SYS_setresgid, 0, 0, 0) < 0 || syscall(SYS_setgroups, 0, NULL) < 0 ||
                    syscall(SYS_setresuid, 0, 0, 0) < 0)))
        _exit(1);
    if (plan->argv) {
        make_identity(&k);
        run_agent(&k);
        /* SIGTERM that arrives before the agent handles it would lose the record of a short step. */
        settle_ms = k.started_ms + KEEPER_SETTLE_MS - now_ms();
        if (k.child && settle_ms > 0)
            wait_for(&k, (int)settle_ms, false);
        if (k.child)
            kill(k.child, SIGTERM);
        child_end(&k, KEEPER_GRACE_MS);
        end_rest(&k);
    }
    /* Its own user empties the directory: root must not walk a tree that a user can change. */
    for (int i = 0; i < KEEPER_CLEAN_TRIES && !stepdir_remove(plan->dir); i++) {
        if (start_child(&k) == 0) {
            stepdir_empty(plan->dir);
            _exit(0);
        }
        child_end(&k, KEEPER_CLEAN_MS);
    }
    stepdir_remove(plan->dir);
    send_report(&k, FINISHED);
    shutdown(k.sock, SHUT_RDWR); /* ends keeper_wait() before this process has exited */
    _exit(0);
}

int keeper_start(const struct keeper_plan *plan)
{
    sigset_t all, old;
    int pair[2], saved, status = 0;
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return -1;
    /* The host's handlers must not run in the child. */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    /* Fork twice, so that the keeper is not our child.  The process in between is a vfork(), which saves a
     * copy of our memory. */
    pid = vfork();
    if (pid == 0) {
        pid_t keeper = plain_fork();

        if (keeper == 0)
            keeper_main(plan, pair[1]);
        _exit(keeper < 0);
    }
    saved = errno;
    if (pid > 0)
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
    if (pid > 0 && status) {
        pid = -1;
        saved = EAGAIN;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    close(pair[1]);
    if (pid > 0)
        return pair[0];
    close(pair[0]);
    errno = saved;
    return -1;
}

void keeper_end(int fd)
{
    shutdown(fd, SHUT_WR);
}

bool keeper_died(int fd, int wake)
{
    /* Of the keeper's socket its end alone, not what it sends: keeper_wait() reads that. */
    struct pollfd fds[2] = { { .fd = fd }, { .fd = wake, .events = POLLIN } };
    char sent[KEEPER_RESTARTS_MAX + 2];
    ssize_t n;

    while (poll(fds, 2, -1) < 0)
        ;
    if (!fds[0].revents)
        return false;
    n = recv(fd, sent, sizeof(sent), MSG_PEEK | MSG_DONTWAIT);
    return n <= 0 || sent[n - 1] != FINISHED;
}

bool keeper_wait(int fd, int quick_ms, int slow_ms)
{
    int64_t start = now_ms();
    int patience = quick_ms;

    for (;;) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        int64_t left = start + patience - now_ms();
        char byte;

        if (left <= 0 || poll(&p, 1, (int)left) == 0)
            return false;
        if (p.revents && recv(fd, &byte, 1, MSG_DONTWAIT) <= 0)
            return true; /* its end is closed */
        if (p.revents)
            patience = slow_ms;
    }
}
