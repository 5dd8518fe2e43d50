/* enter - run a command inside the namespaces of a process.
 *   enter [-c] PID COMMAND [ARGUMENT...]
 * As nsenter, with what a script needs beyond it: -c keeps the capabilities that joining a user namespace
 * gives (nsenter of util-linux before 2.40 loses them at exec), signals sent to it reach the command, the
 * command ends with it, and the working directory stays.  Exits as the command does, 128 + N for signal N,
 * 126 when it cannot be run, 125 when the namespaces cannot be joined. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

enum { EXIT_NAMESPACE = 125, EXIT_COMMAND = 126 };

/* The user namespace first: it gives the right to join the others. */
static const char *const kinds[] = { "user", "ipc", "uts", "net", "pid", "mnt" };

static int fail(const char *what)
{
    fprintf(stderr, "enter: %s: %s\n", what, strerror(errno));
    return EXIT_NAMESPACE;
}

static bool is_ours(int fd, const char *kind)
{
    char path[64];
    struct stat theirs, ours;

    snprintf(path, sizeof(path), "/proc/self/ns/%s", kind);
    return !fstat(fd, &theirs) && !stat(path, &ours) && theirs.st_ino == ours.st_ino &&
           theirs.st_dev == ours.st_dev;
}

static int join(const char *pid)
{
    int fds[ARRAY_SIZE(kinds)];
    char path[64];

    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        snprintf(path, sizeof(path), "/proc/%.20s/ns/%s", pid, kinds[i]);
        if ((fds[i] = open(path, O_RDONLY | O_CLOEXEC)) < 0)
            return fail(path);
        if (is_ours(fds[i], kinds[i])) { /* one's own user namespace cannot be joined again */
            close(fds[i]);
            fds[i] = -1;
        }
    }
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        if (fds[i] < 0)
            continue;
        if (setns(fds[i], 0) < 0)
            return fail(kinds[i]);
        close(fds[i]);
    }
    return 0;
}

/* Make every capability held an ambient one, so that exec keeps it. */
static int keep_capabilities(void)
{
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct data[2];

    if (syscall(SYS_capget, &header, data) < 0)
        return fail("capget");
    data[0].inheritable = data[0].permitted;
    data[1].inheritable = data[1].permitted;
    if (syscall(SYS_capset, &header, data) < 0)
        return fail("capset");
    for (unsigned cap = 0; cap < 64; cap++)
        if (data[cap / 32].permitted & (1u << (cap % 32)))
            prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0);
    return 0;
}

static int status_of(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Wait for the command; hand it the signals that were sent to us alone.  What the terminal sends (SI_KERNEL)
 * it has got itself: srun takes two interrupts in a row for "abort". */
static int attend(pid_t child, const sigset_t *signals)
{
    siginfo_t info;
    int status;

    for (;;) {
        if (waitpid(child, &status, WNOHANG) == child)
            return status_of(status);
        if (sigwaitinfo(signals, &info) > 0 && info.si_signo != SIGCHLD && info.si_code != SI_KERNEL)
            kill(child, info.si_signo);
    }
}

int main(int argc, char **argv)
{
    static const int forwarded[] = { SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };
    bool keep = argc > 1 && !strcmp(argv[1], "-c");
    char cwd[PATH_MAX];
    sigset_t signals, before;
    pid_t child;
    int rc;

    argv += keep;
    if (argc - keep < 3 || strspn(argv[1], "0123456789") != strlen(argv[1])) {
        fputs("usage: enter [-c] PID COMMAND [ARGUMENT...]\n", stderr);
        return EXIT_NAMESPACE;
    }
    if (!getcwd(cwd, sizeof(cwd)))
        strcpy(cwd, "/");
    if ((rc = join(argv[1])) || (keep && (rc = keep_capabilities())))
        return rc;
    if (chdir(cwd) < 0 && chdir("/") < 0)
        return fail(cwd);

    sigemptyset(&signals);
    for (size_t i = 0; i < ARRAY_SIZE(forwarded); i++)
        sigaddset(&signals, forwarded[i]);
    sigprocmask(SIG_BLOCK, &signals, &before);
    if ((child = fork()) < 0) /* only a child is inside the process namespace */
        return fail("fork");
    if (child)
        return attend(child, &signals);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigprocmask(SIG_SETMASK, &before, NULL);
    execvp(argv[2], argv + 2);
    fprintf(stderr, "%s: %s\n", argv[2], strerror(errno));
    return errno == ENOENT ? 127 : EXIT_COMMAND;
}
