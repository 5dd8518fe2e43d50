/* odd.c - a program that makes its own environment odd, and calls MPI in it.
 *
 *     odd HOW
 *
 * It says what it has seen: sums, how many files it has open, which signals it does not leave to the default
 * and whether errno was kept.  Its exit status is 3 where all of that is as it must be. */
#include "tests/probe/standard.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS    100
#define CHILDREN 50
#define FILES    64           /* more than it has open */
#define AS_SPARE (256L << 10) /* bytes: a ring does not fit */

extern char **environ;

typedef int (*allreduce_fn)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
typedef int (*init_fn)(int *, char ***);
typedef int (*finalize_fn)(void);

static init_fn init = MPI_Init;
static allreduce_fn allreduce = MPI_Allreduce;
static finalize_fn finalize = MPI_Finalize;

__attribute__((noreturn)) static void fail(const char *what)
{
    perror(what);
    _exit(99);
}

static void limit(int resource, rlim_t to)
{
    struct rlimit l = { to, to };

    if (setrlimit(resource, &l) < 0)
        fail("setrlimit");
}

/* ---- before MPI_Init() ---- */

static void no_files(void)
{
    limit(RLIMIT_NOFILE, 3);
}

static void no_memory(void)
{
    FILE *in = fopen("/proc/self/statm", "r");
    long pages;

    if (!in || fscanf(in, "%ld", &pages) != 1)
        fail("statm");
    fclose(in);
    limit(RLIMIT_AS, (rlim_t)(pages * sysconf(_SC_PAGESIZE) + AS_SPARE));
}

static void small_files(void)
{
    limit(RLIMIT_FSIZE, 65536);
}

static void no_locked_memory(void)
{
    limit(RLIMIT_MEMLOCK, 0);
}

static void hidden(void)
{
    if (prctl(PR_SET_DUMPABLE, 0) < 0)
        fail("prctl");
}

/* The library in a namespace of the loader's own, which nothing was preloaded into. */
static void own_namespace(void)
{
    void *library = dlmopen(LM_ID_NEWLM, "libmpi_abi.so.0", RTLD_NOW | RTLD_LOCAL);

    if (!library)
        fail("dlmopen");
    init = (init_fn)dlsym(library, "MPI_Init");
    allreduce = (allreduce_fn)dlsym(library, "MPI_Allreduce");
    finalize = (finalize_fn)dlsym(library, "MPI_Finalize");
}

/* ---- behind it ---- */

static void close_all(void)
{
    for (int fd = 3; fd < FILES; fd++)
        close(fd);
}

static pid_t child(char **argv, bool by_vfork)
{
    pid_t pid;

    if (!by_vfork)
        return posix_spawnp(&pid, *argv, NULL, NULL, argv, environ) ? -1 : pid;
    pid = vfork();
    if (pid == 0) {
        execvp(*argv, argv);
        _exit(98);
    }
    return pid;
}

static void spawn_many(void)
{
    char *argv[] = { "true", NULL };
    int status;

    for (int i = 0; i < CHILDREN; i++) {
        pid_t pid = child(argv, i % 2);

        if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
            fail("a child");
    }
}

/* From here on it may only write and end, on pain of death. */
static void locked_up(void)
{
    static const unsigned allowed[] = { SYS_write, SYS_exit_group };
    struct sock_filter code[2 * sizeof(allowed) / sizeof(allowed[0]) + 2];
    struct sock_fprog program = { 0, code };

    code[program.len++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
        code[program.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i], 0, 1);
        code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        fail("seccomp");
}

static const struct {
    const char *name;
    void (*before)(void), (*behind)(void);
} hows[] = {
    { "plain", NULL, NULL },
    { "files", no_files, NULL },
    { "memory", no_memory, NULL },
    { "size", small_files, NULL },
    { "locked-memory", no_locked_memory, NULL },
    { "hidden", hidden, NULL },
    { "namespace", own_namespace, NULL },
    { "close", NULL, close_all },
    { "spawn", NULL, spawn_many },
    { "seccomp", NULL, locked_up },
};

/* ---- what it sees ---- */

static int files_open(void)
{
    int n = 0;

    for (int fd = 0; fd < FILES; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static int signals_taken(void)
{
    struct sigaction now;
    int n = 0;

    for (int s = 1; s < 32; s++)
        n += sigaction(s, NULL, &now) == 0 && now.sa_handler != SIG_DFL;
    return n;
}

int main(int argc, char **argv)
{
    const char *wanted = argc > 1 ? argv[1] : "plain";
    size_t how = 0;
    int sum = 0, kept = 0, files, signals, n;
    ssize_t written;
    char text[128];

    while (how < sizeof(hows) / sizeof(hows[0]) && strcmp(hows[how].name, wanted) != 0)
        how++;
    if (how == sizeof(hows) / sizeof(hows[0]))
        return 99;
    if (hows[how].before)
        hows[how].before();
    if (init(&argc, &argv))
        return 98;
    files = files_open();
    signals = signals_taken();
    if (hows[how].behind)
        hows[how].behind();
    for (int i = 1; i <= CALLS; i++) {
        int got = 0;

        errno = i;
        allreduce(&i, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        kept += errno == i;
        sum += got;
    }
    finalize();
    n = snprintf(text, sizeof(text), "%d calls, sum %d, errno kept %d times, %d files, %d signals\n", CALLS,
                 sum, kept, files, signals);
    written = write(STDOUT_FILENO, text, (size_t)n); /* it may have been closed */
    (void)written;
    return sum == CALLS * (CALLS + 1) / 2 && kept == CALLS ? 3 : 97;
}
