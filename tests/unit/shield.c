/* What the agent can still do behind its shield, and what not. */
#include "agent/shield.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/proc.h"
#include "tests/tap.h"

/* Each returns 0 when it is possible, otherwise errno. */

static int try_exec(void)
{
    char *argv[] = { (char *)"true", NULL };

    execv("/bin/true", argv);
    return errno;
}

static int try_fork(void)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    return pid < 0 ? errno : 0;
}

static int try_vfork(void)
{
    pid_t pid = (pid_t)syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0);

    if (pid == 0)
        _exit(0);
    return pid < 0 ? errno : 0;
}

static int result(long rc)
{
    return rc < 0 ? errno : 0;
}

static int try_ptrace(void)
{
    return result(ptrace(PTRACE_ATTACH, getppid(), NULL, NULL));
}

static int try_packet(void)
{
    return result(socket(AF_PACKET, SOCK_RAW, 0));
}

static int try_setuid(void)
{
    return result(syscall(SYS_setuid, getuid()));
}

static int try_unshare(void)
{
    return result(unshare(CLONE_NEWUSER));
}

static int try_dumpable(void)
{
    return result(prctl(PR_SET_DUMPABLE, 1));
}

static int try_keyctl(void)
{
    return result(syscall(SYS_keyctl, 0, 0, 0, 0, 0));
}

static int try_chmod(void)
{
    return result(chmod("/dev/null", 0666));
}

static void *nothing(void *arg)
{
    return arg;
}

static int try_thread(void)
{
    pthread_t thread;
    int rc = pthread_create(&thread, NULL, nothing, NULL);

    return rc ? rc : pthread_join(thread, NULL);
}

static int try_library(void)
{
    void *library = dlopen("libresolv.so.2", RTLD_NOW);

    return library ? dlclose(library) : 1;
}

static int try_sockets(void)
{
    static const int families[] = { AF_UNIX, AF_INET, AF_NETLINK };

    for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
        int fd = socket(families[i], SOCK_DGRAM | SOCK_CLOEXEC, 0);

        if (fd < 0)
            return errno;
        close(fd);
    }
    return 0;
}

static int try_files(void)
{
    char text[4096], path[64] = "/tmp/sg-shield.XXXXXX";
    int fd = mkstemp(path);
    void *map;

    if (fd < 0 || unlink(path) < 0 || ftruncate(fd, 4096) < 0)
        return errno;
    map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED || munmap(map, 4096) < 0 || close(fd) < 0)
        return errno;
    return proc_read(text, sizeof(text), "/proc/self/statm") && proc_read(text, sizeof(text), "/proc/stat")
               ? 0
               : 1;
}

static int try_timers(void)
{
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

    return fd < 0 ? errno : usleep(1000);
}

static int try_signal(void)
{
    return kill(getpid(), 0) < 0 ? errno : 0;
}

static int try_memory(void)
{
    void *map = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return map == MAP_FAILED ? errno : result(munmap(map, 1 << 20));
}

/* What fn returns behind the shield; -1 when it did not return. */
static int behind(int (*fn)(void))
{
    pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        struct err err;

        shield_raise();
        if (shield_filter(&err) < 0) {
            fprintf(stderr, "# %s\n", err.text);
            _exit(255);
        }
        _exit(fn());
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* What another process of the same user, who is not root, can do to one behind the shield.  0: nothing. */
static int reach(void)
{
    char path[64];
    int up[2];
    pid_t pid;
    int reached = 0;
    char byte;

    if ((getuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0)) || pipe(up) < 0)
        return 100;
    prctl(PR_SET_DUMPABLE, 1);
    pid = fork();
    if (pid == 0) {
        struct err err;

        shield_raise();
        if (shield_filter(&err) < 0 || write(up[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(up[1]);
    if (read(up[0], &byte, 1) != 1)
        return 101;
    snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
    if (open(path, O_RDONLY) >= 0)
        reached |= 1;
    snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
    if (open(path, O_RDONLY) >= 0)
        reached |= 2;
    if (ptrace(PTRACE_ATTACH, pid, NULL, NULL) == 0)
        reached |= 4;
    kill(pid, SIGKILL);
    return reached;
}

static int outside(int (*fn)(void))
{
    pid_t pid = fork();
    int status = 0;

    if (pid == 0)
        _exit(fn());
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void)
{
    static const struct {
        int (*fn)(void);
        int want;
        const char *what;
    } cases[] = {
        { try_exec, EPERM, "starting a program" },
        { try_fork, EPERM, "fork()" },
        { try_vfork, EPERM, "vfork()" },
        { try_ptrace, EPERM, "tracing a process" },
        { try_packet, EPERM, "a packet socket" },
        { try_setuid, EPERM, "changing the uid" },
        { try_unshare, EPERM, "a new namespace" },
        { try_dumpable, EPERM, "becoming dumpable again" },
        { try_keyctl, EPERM, "the kernel's keys" },
        { try_chmod, EPERM, "changing modes" },
        { try_thread, 0, "a thread" },
        { try_library, 0, "loading a library" },
        { try_sockets, 0, "sockets of networks, munge and look-ups" },
        { try_files, 0, "files, mappings and /proc" },
        { try_timers, 0, "timers" },
        { try_signal, 0, "signals" },
        { try_memory, 0, "memory" },
    };

    if (!HAVE_SECCOMP || SANITIZED)
        return skip_all("this build has no filter of system calls");
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        is_int(behind(cases[i].fn), cases[i].want, "%s is %s", cases[i].what,
               cases[i].want ? "refused with EPERM" : "allowed");
    is_int(outside(reach), 0, "another process of the user cannot read or trace one behind the shield");
    return done_testing();
}
