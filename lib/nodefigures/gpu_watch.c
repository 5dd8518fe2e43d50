#include "nodefigures/gpu_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/proc.h"
#include "common/xalloc.h"

struct message {
    double cpu_s;
    size_t n;
    struct gpu_figures gpu[GPUS_MAX];
};
_Static_assert(sizeof(struct message) <= PIPE_BUF, "a message is written and read whole");

struct gpu_watch {
    pid_t pid;
    int fd;
    double cpu_s;
};

__attribute__((noreturn)) static void watch_gpus(const char *library, double every_s, void (*confine)(void),
                                                 int fd)
{
    struct timespec pause = { .tv_sec = (time_t)every_s,
                              .tv_nsec = (long)((every_s - (double)(time_t)every_s) * 1e9) };
    struct gpu *g = gpu_open(library);
    struct message m = { 0 };

    if (confine)
        confine(); /* after NVIDIA's library has started what it needs */
    while (g) {
        m.n = gpu_read(g, m.gpu);
        m.cpu_s = proc_own_cpu_s();
        if (write(fd, &m, sizeof(m)) < 0 && errno == EPIPE)
            break; /* the parent has ended; a full pipe only means that it is busy */
        nanosleep(&pause, NULL);
    }
    _exit(0);
}

struct gpu_watch *gpu_watch_start(const char *library, double every_s, void (*confine)(void))
{
    struct gpu_watch *w;
    pid_t parent = getpid(), pid;
    int end[2];

    if (pipe2(end, O_CLOEXEC | O_NONBLOCK) < 0)
        return NULL;
    pid = fork();
    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(0);
        /* Close everything else, so that no lock or socket of the parent stays open here. */
        dup2(end[1], 3);
        close_range(4, ~0u, 0);
        watch_gpus(library, every_s, confine, 3);
    }
    close(end[1]);
    if (pid < 0) {
        close(end[0]);
        return NULL;
    }
    w = xcalloc(1, sizeof(*w));
    w->pid = pid;
    w->fd = end[0];
    return w;
}

void gpu_watch_stop(struct gpu_watch *w)
{
    if (!w)
        return;
    kill(w->pid, SIGKILL);
    waitpid(w->pid, NULL, WNOHANG);
    close(w->fd);
    free(w);
}

size_t gpu_watch_take(struct gpu_watch *w, struct gpu_figures out[GPUS_MAX])
{
    struct message m;
    size_t n = 0;

    while (read(w->fd, &m, sizeof(m)) == (ssize_t)sizeof(m)) {
        n = m.n < GPUS_MAX ? m.n : GPUS_MAX;
        for (size_t i = 0; i < n; i++)
            out[i] = m.gpu[i];
        w->cpu_s = m.cpu_s;
    }
    return n;
}

double gpu_watch_cpu_s(const struct gpu_watch *w)
{
    return w->cpu_s;
}
