#include "ring/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

int shared_path(char path[PATH_MAX], const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(path, PATH_MAX, fmt, ap);
    va_end(ap);
    if (n < PATH_MAX)
        return 0;
    errno = ENAMETOOLONG;
    return -1;
}

int shared_make(const char *path, size_t bytes)
{
    struct rlimit limit;
    int fd, rc;

    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes > limit.rlim_cur) {
        errno = EFBIG; /* the kernel would send SIGXFSZ, which ends the job's program */
        return -1;
    }
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -1;
    do {
        rc = posix_fallocate(fd, 0, (off_t)bytes);
    } while (rc == EINTR);
    if (rc) {
        unlink(path);
        close(fd);
        errno = rc;
        return -1;
    }
    return fd;
}

int shared_publish(const char *dir, const char *name, const void *head, size_t head_bytes, size_t bytes,
                   bool replace)
{
    char path[PATH_MAX], temporary[PATH_MAX];
    int fd, rc = -1, saved;

    if (shared_path(path, "%s/%s", dir, name) < 0 ||
        shared_path(temporary, "%s/.%s.%ld.tmp", dir, name, (long)getpid()) < 0)
        return -1;
    unlink(temporary);
    fd = shared_make(temporary, bytes);
    if (fd < 0)
        return -1;
    if (write(fd, head, head_bytes) == (ssize_t)head_bytes)
        rc = replace ? rename(temporary, path) : link(temporary, path);
    if (rc < 0 && errno == EEXIST)
        rc = 0;
    saved = errno;
    unlink(temporary);
    close(fd);
    errno = saved;
    return rc;
}

void *shared_map(const char *dir, const char *name, size_t bytes, bool write)
{
    char path[PATH_MAX];
    void *map = MAP_FAILED;
    struct stat st;
    int fd, saved;

    if (shared_path(path, "%s/%s", dir, name) < 0)
        return NULL;
    fd = open(path, (write ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size != (off_t)bytes)
        errno = EPROTO;
    else
        map = mmap(NULL, bytes, PROT_READ | (write ? PROT_WRITE : 0), MAP_SHARED, fd, 0);
    saved = errno;
    close(fd);
    errno = saved;
    return map == MAP_FAILED ? NULL : map;
}
