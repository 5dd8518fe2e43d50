#include "agent/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

bool proc_read(const char *path, char *buf, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t have = 0;
    ssize_t n;

    if (fd < 0)
        return false;
    while (have < size - 1 && (n = read(fd, buf + have, size - 1 - have)) > 0)
        have += (size_t)n;
    close(fd);
    buf[have] = '\0';
    return have > 0;
}

/* proc(5): the state is the 3rd field of stat, the start time the 22nd; the 2nd is a name, which may contain
 * anything, up to the last ')'. */
uint64_t proc_start(pid_t pid)
{
    char path[40], buf[1024], *p, state;
    uint64_t start;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    if (!proc_read(path, buf, sizeof(buf)) || !(p = strrchr(buf, ')')))
        return 0;
    if (sscanf(p + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %" SCNu64,
               &state, &start) != 2)
        return 0;
    return state == 'Z' || state == 'X' ? 0 : start;
}

bool proc_alive(pid_t pid, uint64_t started)
{
    if (pid <= 0)
        return false;
    if (started)
        return proc_start(pid) == started;
    return kill(pid, 0) == 0 || errno == EPERM;
}

double proc_own_cpu_s(void)
{
    struct rusage r;

    getrusage(RUSAGE_SELF, &r);
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
           1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

uint64_t proc_own_rss_bytes(void)
{
    char buf[256];
    uint64_t pages;

    if (!proc_read("/proc/self/statm", buf, sizeof(buf)) || sscanf(buf, "%*u %" SCNu64, &pages) != 1)
        return 0;
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}
