/* wrongclock.c - a library to preload: the wall clock of a process is 3 s ahead. */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *t)
{
    int rc = (int)syscall(SYS_clock_gettime, clock, t);

    if (rc == 0 && clock == CLOCK_REALTIME)
        t->tv_sec += 3;
    return rc;
}
