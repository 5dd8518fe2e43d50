#include "spank/portal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "spank/stepdir.h"

/* <linux/mount.h> cannot be included beside <sys/mount.h>, and neither has these everywhere. */
#define COPY_TREE       1          /* OPEN_TREE_CLONE */
#define FROM_DESCRIPTOR 0x00000004 /* MOVE_MOUNT_F_EMPTY_PATH */
#define TO_DESCRIPTOR   0x00000040 /* MOVE_MOUNT_T_EMPTY_PATH */

static int copy_tree(const char *path)
{
#ifdef SYS_open_tree
    return (int)syscall(SYS_open_tree, AT_FDCWD, path, COPY_TREE | O_CLOEXEC | AT_SYMLINK_NOFOLLOW);
#else
    (void)path;
    errno = ENOSYS;
    return -1;
#endif
}

static int attach(int portal, int at)
{
#ifdef SYS_move_mount
    return (int)syscall(SYS_move_mount, portal, "", at, "", FROM_DESCRIPTOR | TO_DESCRIPTOR);
#else
    (void)portal, (void)at;
    errno = ENOSYS;
    return -1;
#endif
}

/* O_PATH, of a directory that is no link. */
static int take(const char *path)
{
    return open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int portal_open(const char *parent)
{
    int fd = copy_tree(parent);

    return fd >= 0 ? fd : take(parent);
}

static bool leads_to(int portal, int at)
{
    struct stat theirs, ours;

    return fstat(portal, &ours) == 0 && fstat(at, &theirs) == 0 && ours.st_dev == theirs.st_dev &&
           ours.st_ino == theirs.st_ino;
}

int portal_show(int portal, const char *parent, struct err *err)
{
    int at = take(parent), rc = 0, why = 0;

    if (at >= 0 && leads_to(portal, at)) {
        close(at);
        return 0;
    }
    if (at >= 0)
        close(at);
    if (stepdir_make_parent(parent, err) < 0)
        return -1;
    at = take(parent);
    if (at < 0)
        return err_set(err, "%s: %s", parent, strerror(errno));
    if (attach(portal, at) < 0)
        why = errno;
    close(at);
    at = take(parent); /* another task may have been faster, and what is there counts */
    if (at < 0 || !leads_to(portal, at))
        rc = err_set(err, "%s cannot be mounted in the job's own /dev/shm: %s", parent,
                     why ? strerror(why) : "another mount covers it");
    if (at >= 0)
        close(at);
    return rc;
}
