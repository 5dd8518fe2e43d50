/* cpuslow - take CPU time from a node's job processes.
 *   cpuslow PERCENT
 * Runs inside the node's process namespace.  Whatever a job step started there (every descendant of a
 * slurmstepd but SyncGuard's agent) is stopped and continued in short bursts, such that its own work takes 1
 * + PERCENT/100 times as long.  Cycles last 20 ms; both halves are measured, and what a burst missed the next
 * one makes good, so the ratio holds although every single wake-up may be late.  A burst that was far too
 * long is not made good: its job would run at full speed for as long.
 *
 * The burst is taken from wall time.  A task that was only waiting for a core during it loses less: with many
 * more busy tasks than cores the slowdown is smaller than asked for.  Measured, 8 ranks on 2 cores among a
 * load of 17: 50 asked, 1.33 times as long; 20 asked, no effect to be seen.  Cycles of 60 ms, or a niceness
 * of 19 around the stop, did worse.
 *
 * It ends with SIGTERM or SIGINT.  No stop outlives it: the parent of two processes only waits, and continues
 * what the other may have left when that one dies in whatever way.  Processes that somebody else stopped
 * (scontrol suspend) are left alone. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CYCLE_NS   20000000
#define SCAN_NS    100000000 /* a process that a job starts is found within this time */
#define LONGEST_NS 200000000 /* bound of one stop, after we ourselves were kept waiting */
#define PROCS_MAX  4096

struct proc {
    int pid, parent;
    char state;
    bool in_job;
    char name[16];
};

struct targets {
    int fd[PROCS_MAX]; /* pidfds: a number that is used again is never signalled */
    size_t n;
};

static volatile sig_atomic_t ended;

static void on_signal(int signal)
{
    (void)signal;
    ended = 1;
}

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Returns early on a signal. */
static void pause_ns(int64_t ns)
{
    struct timespec t = { ns / 1000000000, ns % 1000000000 };

    if (ns > 0 && !ended)
        nanosleep(&t, NULL);
}

static bool read_proc(int pid, struct proc *p)
{
    char path[32], line[512], *open_paren, *close_paren;
    ssize_t n;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    if ((fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
        return false;
    n = read(fd, line, sizeof(line) - 1);
    close(fd);
    if (n <= 0)
        return false;
    line[n] = '\0';
    open_paren = strchr(line, '(');
    close_paren = strrchr(line, ')'); /* the name itself may hold parentheses */
    if (!open_paren || !close_paren || sscanf(close_paren, ") %c %d", &p->state, &p->parent) != 2)
        return false;
    p->pid = pid;
    *close_paren = '\0';
    snprintf(p->name, sizeof(p->name), "%s", open_paren + 1);
    return true;
}

static size_t read_procs(struct proc *procs)
{
    DIR *dir = opendir("/proc");
    struct dirent *entry;
    size_t n = 0;

    while (dir && n < PROCS_MAX && (entry = readdir(dir))) {
        int pid = atoi(entry->d_name);

        n += pid > 0 && read_proc(pid, &procs[n]);
    }
    if (dir)
        closedir(dir);
    return n;
}

static const struct proc *find(const struct proc *procs, size_t n, int pid)
{
    for (size_t i = 0; i < n; i++)
        if (procs[i].pid == pid)
            return &procs[i];
    return NULL;
}

/* A process of a job: below a slurmstepd, and neither that nor the agent (nor its children). */
static bool is_of_job(const struct proc *procs, size_t n, const struct proc *p)
{
    if (!strcmp(p->name, "slurmstepd"))
        return false;
    for (int depth = 0; p && depth < 64; depth++, p = find(procs, n, p->parent)) {
        if (!strcmp(p->name, "syncguard-agent"))
            return false;
        if (!strcmp(p->name, "slurmstepd"))
            return true;
    }
    return false;
}

static void forget(struct targets *t)
{
    while (t->n)
        close(t->fd[--t->n]);
}

/* To be called while nothing is stopped by us: what is stopped now is somebody else's doing. */
static void scan(struct targets *t)
{
    static struct proc procs[PROCS_MAX];
    size_t n = read_procs(procs);

    forget(t);
    for (size_t i = 0; i < n; i++) {
        int fd;

        if (procs[i].state == 'Z' || procs[i].state == 'T' || procs[i].state == 't' ||
            !is_of_job(procs, n, &procs[i]))
            continue;
        if ((fd = (int)syscall(SYS_pidfd_open, procs[i].pid, 0)) >= 0)
            t->fd[t->n++] = fd;
    }
}

static void send_all(const struct targets *t, int signal)
{
    for (size_t i = 0; i < t->n; i++)
        syscall(SYS_pidfd_send_signal, t->fd[i], signal, NULL, 0);
}

/* Whatever of the node's jobs is stopped goes on. */
static void continue_all(void)
{
    static struct proc procs[PROCS_MAX];
    size_t n = read_procs(procs);

    for (size_t i = 0; i < n; i++)
        if (procs[i].state == 'T' && is_of_job(procs, n, &procs[i]))
            kill(procs[i].pid, SIGCONT);
}

static void burst_forever(double slow)
{
    static struct targets targets;
    int64_t run_ns = (int64_t)(CYCLE_NS / (1 + slow)), scanned = 0, from = now_ns(), debt = 0, t;

    while (!ended) {
        if (from - scanned >= SCAN_NS) {
            scan(&targets);
            scanned = from;
        }
        if (!targets.n) {
            pause_ns(SCAN_NS / 4);
            from = now_ns();
            scanned = 0;
            debt = 0;
            continue;
        }
        pause_ns(from + run_ns - now_ns());
        if (ended)
            break;
        send_all(&targets, SIGSTOP);
        t = now_ns();
        debt += (int64_t)(slow * (double)(t - from));
        pause_ns(debt < LONGEST_NS ? debt : LONGEST_NS);
        send_all(&targets, SIGCONT);
        from = now_ns();
        debt -= from - t;
        /* we overslept: the job has lost that time, and must not run at full speed to make up for it */
        if (debt < -CYCLE_NS)
            debt = -CYCLE_NS;
    }
    send_all(&targets, SIGCONT);
    forget(&targets);
}

/* The parent's part: hand on the end, and leave nothing stopped. */
static int guard(pid_t worker, const sigset_t *signals)
{
    int status, signal;

    while (waitpid(worker, &status, WNOHANG) != worker)
        if (!sigwait(signals, &signal) && signal != SIGCHLD)
            kill(worker, SIGTERM);
    if (!WIFEXITED(status))
        continue_all();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
    struct sigaction on_end = { .sa_handler = on_signal };
    char *end = NULL;
    double percent = argc == 2 ? strtod(argv[1], &end) : 0;
    pid_t parent = getpid(), worker;
    sigset_t signals, before;

    if (!end || *end || !(percent > 0 && percent <= 1000)) {
        fputs("usage: cpuslow PERCENT   (above 0, at most 1000)\n", stderr);
        return 2;
    }
    sigaction(SIGTERM, &on_end, NULL);
    sigaction(SIGINT, &on_end, NULL);
    sigaction(SIGHUP, &on_end, NULL);
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &signals, &before);
    if ((worker = fork()) < 0) {
        perror("cpuslow: fork");
        return 1;
    }
    if (worker)
        return guard(worker, &signals);
    sigprocmask(SIG_SETMASK, &before, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        return 1;
    prctl(PR_SET_TIMERSLACK, 1);
    setpriority(PRIO_PROCESS, 0, -20); /* where it is allowed: wake up on time beside busy ranks */
    burst_forever(percent / 100);
    return 0;
}
