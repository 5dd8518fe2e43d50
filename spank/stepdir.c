#include "spank/stepdir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

/* of taking a name that another user keeps changing, or of finding a free one */
#define TRIES_MAX 100

int stepdir_parent(char *path, size_t size, const char *base)
{
    uid_t uid = geteuid();
    int n = uid == 0 ? snprintf(path, size, "%s/syncguard", base)
                     : snprintf(path, size, "%s/syncguard-%u", base, (unsigned)uid);

    return n < 0 || (size_t)n >= size ? -1 : 0;
}

int stepdir_path(char *path, size_t size, const char *parent, uid_t uid, uint32_t job, uint32_t step,
                 const char *node)
{
    int n;

    if (!*node || strchr(node, '/') || strlen(node) > 128)
        return -1;
    n = snprintf(path, size, "%s/%u.%u.%u.%s", parent, (unsigned)uid, job, step, node);
    return n < 0 || (size_t)n >= size ? -1 : 0;
}

/* Open the directory, unless its name is a link. */
static int open_dir(int at, const char *name)
{
    return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* ---- making ---- */

/* True when the parent is ours.  Its mode is corrected, because the process may have any umask. */
static bool parent_is_ours(const char *parent)
{
    int fd = open_dir(AT_FDCWD, parent);
    struct stat st;
    bool ours;

    if (fd < 0)
        return false;
    ours = fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
           ((st.st_mode & 07777) == 0755 || fchmod(fd, 0755) == 0);
    close(fd);
    return ours;
}

/* Put a directory of ours in the place of what another user put there.  The names are exchanged in one step,
 * so there is no moment at which he could take the name again; in a sticky directory he cannot rename
 * ours. */
static int take_parent(const char *parent)
{
    char mine[STEPDIR_SIZE];
    uint64_t random;
    int rc;

    if (getrandom(&random, sizeof(random), 0) != sizeof(random) ||
        snprintf(mine, sizeof(mine), "%s.%016llx", parent, (unsigned long long)random) >= (int)sizeof(mine) ||
        mkdir(mine, 0755) < 0)
        return -1;
    rc = renameat2(AT_FDCWD, mine, AT_FDCWD, parent, RENAME_EXCHANGE);
    rmdir(mine); /* ours if it failed, otherwise his if it is empty */
    return rc < 0 && errno != ENOENT ? -1 : 0;
}

int stepdir_make_parent(const char *parent, struct err *err)
{
    struct stat st;

    for (int i = 0; i < TRIES_MAX; i++) {
        if (parent_is_ours(parent) || (mkdir(parent, 0755) == 0 && parent_is_ours(parent)))
            return 0;
        if (errno == ENOSPC)
            return err_set(err, "no space in " STEPDIR_BASE " for %s", parent);
        if (lstat(parent, &st) == 0 && st.st_uid != geteuid() && take_parent(parent) < 0)
            break;
    }
    return err_set(err, "%s: cannot make a directory of uid %u there: %s", parent, (unsigned)geteuid(),
                   strerror(errno));
}

static int rename_old(const char *path, char old[STEPDIR_SIZE])
{
    for (int i = 0; i < TRIES_MAX; i++) {
        if (snprintf(old, STEPDIR_SIZE, "%s.old%d", path, i) >= STEPDIR_SIZE)
            break;
        if (renameat2(AT_FDCWD, path, AT_FDCWD, old, RENAME_NOREPLACE) == 0)
            return 0;
    }
    old[0] = '\0';
    return -1;
}

int stepdir_make(const char *path, uid_t uid, gid_t gid, char old[STEPDIR_SIZE], struct err *err)
{
    int fd, rc = mkdir(path, 0700);

    old[0] = '\0';
    if (rc < 0 && errno == EEXIST && rename_old(path, old) == 0)
        rc = mkdir(path, 0700);
    if (rc < 0)
        return errno == ENOSPC ? err_set(err, "no space in " STEPDIR_BASE " for %s", path)
                               : err_set(err, "%s: %s", path, strerror(errno));
    fd = open_dir(AT_FDCWD, path);
    if (fd < 0 || fchmod(fd, 0700) < 0 || (uid != geteuid() && fchown(fd, uid, gid) < 0)) {
        rc = err_set(err, "%s: %s", path, strerror(errno));
        rmdir(path);
    }
    if (fd >= 0)
        close(fd);
    return rc;
}

bool stepdir_has_room(const char *path, uint64_t bytes, struct err *err)
{
    struct statvfs v;
    uint64_t left;

    if (statvfs(path, &v) < 0 || v.f_blocks == 0) /* unknown, or without a limit */
        return true;
    left = (uint64_t)v.f_bavail * v.f_frsize;
    if (left >= bytes)
        return true;
    err_set(err, "no space in %s: %llu MiB are free, the ranks' rings need %llu MiB", STEPDIR_BASE,
            (unsigned long long)(left >> 20), (unsigned long long)(bytes >> 20) + 1);
    return false;
}

/* ---- reading and emptying ---- */

struct entry { /* the kernel's struct linux_dirent64 */
    uint64_t ino;
    int64_t off;
    uint16_t reclen;
    uint8_t type;
    char name[];
};

/* Call fn for each entry until it returns true, at most max.  getdents64, because readdir() allocates. */
static bool each_entry(int fd, size_t max, bool (*fn)(int fd, const char *name, void *arg), void *arg)
{
    _Alignas(struct entry) char buf[4096];
    long n;

    while ((n = syscall(SYS_getdents64, fd, buf, sizeof(buf))) > 0) {
        for (long at = 0; at < n;) {
            const struct entry *e = (const struct entry *)(buf + at);

            if (max-- == 0)
                return false;
            if (strcmp(e->name, ".") && strcmp(e->name, "..") && fn(fd, e->name, arg))
                return true;
            at += e->reclen;
        }
    }
    return false;
}

static bool is_ring(int fd, const char *name, void *arg)
{
    size_t len = strlen(name);

    (void)fd;
    (void)arg;
    return len > 5 && !strcmp(name + len - 5, ".ring");
}

bool stepdir_has_ring(const char *path)
{
    int fd = open_dir(AT_FDCWD, path);
    bool found;

    if (fd < 0)
        return false;
    found = each_entry(fd, STEPDIR_LOOKS_MAX, is_ring, NULL);
    close(fd);
    return found;
}

struct emptying {
    int top;
    unsigned names; /* given to directories that were moved up */
    bool progress;
};

/* ".123": snprintf() may allocate. */
static void number_name(char name[16], unsigned n)
{
    char digits[12];
    size_t k = 0, at = 0;

    do
        digits[k++] = (char)('0' + n % 10);
    while (n /= 10);
    name[at++] = '.';
    while (k > 0)
        name[at++] = digits[--k];
    name[at] = '\0';
}

/* A directory in a directory in the top one becomes an entry of the top one: the depth has no limit, and
 * neither the stack nor the number of open files may grow with it. */
static bool empty_inner(int fd, const char *name, void *arg)
{
    struct emptying *e = arg;
    char up[16];

    if (unlinkat(fd, name, 0) == 0 || unlinkat(fd, name, AT_REMOVEDIR) == 0) {
        e->progress = true;
        return false;
    }
    if (fchmodat(fd, name, 0700, 0) < 0) /* or it cannot be moved */
        return false;
    for (int i = 0; i < TRIES_MAX; i++) {
        number_name(up, e->names++);
        if (renameat2(fd, name, e->top, up, RENAME_NOREPLACE) == 0) {
            e->progress = true;
            break;
        }
        if (errno != EEXIST)
            break;
    }
    return false;
}

static bool empty_entry(int top, const char *name, void *arg)
{
    struct emptying *e = arg;
    int fd;

    if (unlinkat(top, name, 0) == 0 || unlinkat(top, name, AT_REMOVEDIR) == 0) {
        e->progress = true;
        return false;
    }
    fd = fchmodat(top, name, 0700, 0) < 0 ? -1 : open_dir(top, name);
    if (fd < 0)
        return false;
    each_entry(fd, SIZE_MAX, empty_inner, e);
    close(fd);
    if (unlinkat(top, name, AT_REMOVEDIR) == 0)
        e->progress = true;
    return false;
}

void stepdir_empty(const char *path)
{
    struct emptying e = { .top = open_dir(AT_FDCWD, path), .progress = true };

    if (e.top < 0)
        return;
    fchmod(e.top, 0700);
    while (e.progress) {
        e.progress = false;
        if (lseek(e.top, 0, SEEK_SET) < 0)
            break;
        each_entry(e.top, SIZE_MAX, empty_entry, &e);
    }
    close(e.top);
}

bool stepdir_remove(const char *path)
{
    return rmdir(path) == 0 || errno == ENOENT;
}
