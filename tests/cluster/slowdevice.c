/* slowdevice.c - a library to preload: what a process writes to sockets leaves it 300 us late, as if Open MPI
 * had fallen back to a slow device. */
#include <dlfcn.h>
#include <sys/uio.h>
#include <time.h>

ssize_t writev(int fd, const struct iovec *part, int n)
{
    static ssize_t (*real)(int, const struct iovec *, int);
    const struct timespec late = { 0, 300000 };

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "writev");
    nanosleep(&late, NULL);
    return real(fd, part, n);
}
