#include "spank/stepdir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int stepdir_path(char *path, size_t size, const char *base, uid_t uid, uint32_t job, uint32_t step,
                 const char *node)
{
    int n;

    if (!*node || strchr(node, '/') || strlen(node) > 128)
        return -1;
    n = snprintf(path, size, "%s/syncguard.%u.%u.%u.%s", base, (unsigned)uid, job, step, node);
    return n < 0 || (size_t)n >= size ? -1 : 0;
}

/* Open the directory, unless path is a link. */
static int open_dir(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* The same, if it belongs to the effective user; -1 with errno otherwise. */
static int open_ours(const char *path)
{
    int fd = open_dir(path);
    struct stat st;

    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && st.st_uid == geteuid())
        return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

struct entry { /* the kernel's struct linux_dirent64 */
    uint64_t ino;
    int64_t off;
    uint16_t reclen;
    uint8_t type;
    char name[];
};

/* Call fn for each entry until it returns true.  getdents64, because readdir() allocates. */
static bool each_entry(int fd, bool (*fn)(int fd, const char *name))
{
    _Alignas(struct entry) char buf[4096];
    long n;

    while ((n = syscall(SYS_getdents64, fd, buf, sizeof(buf))) > 0) {
        for (long at = 0; at < n;) {
            const struct entry *e = (const struct entry *)(buf + at);

            if (strcmp(e->name, ".") && strcmp(e->name, "..") && fn(fd, e->name))
                return true;
            at += e->reclen;
        }
    }
    return false;
}

static bool unlink_entry(int fd, const char *name)
{
    unlinkat(fd, name, 0);
    return false;
}

static bool is_ring(int fd, const char *name)
{
    size_t len = strlen(name);

    (void)fd;
    return len > 5 && !strcmp(name + len - 5, ".ring");
}

bool stepdir_has_ring(const char *path)
{
    int fd = open_dir(path);
    bool found;

    if (fd < 0)
        return false;
    found = each_entry(fd, is_ring);
    close(fd);
    return found;
}

bool stepdir_remove(const char *path)
{
    int fd = open_ours(path);

    if (fd < 0)
        return errno == ENOENT;
    each_entry(fd, unlink_entry);
    close(fd);
    return rmdir(path) == 0 || errno == ENOENT;
}

static bool any_entry(int fd, const char *name)
{
    (void)fd;
    (void)name;
    return true;
}

int stepdir_make(const char *path, struct err *err)
{
    int fd, rc = 0;

    if (mkdir(path, 0700) == 0)
        return 0;
    if (errno != EEXIST)
        return err_set(err, "%s: %s", path, strerror(errno));
    fd = open_ours(path);
    if (fd < 0)
        return err_set(err, "%s: exists and is not a directory of the user", path);
    each_entry(fd, unlink_entry);
    if (lseek(fd, 0, SEEK_SET) < 0 || each_entry(fd, any_entry) || fchmod(fd, 0700) < 0)
        rc = err_set(err, "%s: cannot remove the files of an earlier step", path);
    close(fd);
    return rc;
}
