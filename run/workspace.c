#include "run/workspace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DIR_PREFIX "sgrun-"
#define SHM_PREFIX "syncguard-run-"
#define NAMES_SIZE 64 /* of what stands in the folder */
#define LEFT_OLD_S 60 /* one that is just being made is not locked yet */
#define LEFT_MAX   64 /* removed at once */

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    remove(path);
    return 0;
}

static void remove_tree(const char *path)
{
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* A directory of this user that nobody holds. */
static bool is_left(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    bool left;

    if (fd < 0)
        return false;
    left = fstat(fd, &st) == 0 && st.st_uid == geteuid() && time(NULL) - st.st_ctime > LEFT_OLD_S &&
           flock(fd, LOCK_EX | LOCK_NB) == 0;
    close(fd);
    return left;
}

static void remove_left(const char *base, const char *prefix)
{
    DIR *d = opendir(base);
    const struct dirent *e;
    char path[WORKSPACE_SIZE];
    int removed = 0;

    while (d && removed < LEFT_MAX && (e = readdir(d))) {
        if (strncmp(e->d_name, prefix, strlen(prefix)) != 0 ||
            snprintf(path, sizeof(path), "%s/%s", base, e->d_name) >= (int)sizeof(path) || !is_left(path))
            continue;
        remove_tree(path);
        removed++;
    }
    if (d)
        closedir(d);
}

/* Make BASE/PREFIXxxxxxx; *lock holds it. */
static int make_folder(const char *base, const char *prefix, mode_t mode, char path[WORKSPACE_SIZE],
                       int *lock, struct err *err)
{
    *lock = -1;
    if (snprintf(path, WORKSPACE_SIZE, "%s/%sXXXXXX", base, prefix) >= WORKSPACE_SIZE - NAMES_SIZE) {
        *path = '\0';
        return err_set(err, "%.100s...: the path is too long", base);
    }
    remove_left(base, prefix);
    if (!mkdtemp(path)) {
        *path = '\0';
        return err_set(err, "cannot make a folder in %s: %s", base, strerror(errno));
    }
    *lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*lock < 0 || flock(*lock, LOCK_EX | LOCK_NB) < 0 || fchmod(*lock, mode) < 0)
        return err_set(err, "cannot prepare %s: %s", path, strerror(errno));
    return 0;
}

int workspace_make(struct workspace *w, const char *tmp, const char *shm, struct err *err)
{
    if (!tmp)
        tmp = getenv("TMPDIR");
    *w = (struct workspace){ .dir_lock = -1, .shm_lock = -1 };
    if (make_folder(tmp && *tmp ? tmp : "/tmp", DIR_PREFIX, 0755, w->dir, &w->dir_lock, err) < 0 ||
        make_folder(shm ? shm : "/dev/shm", SHM_PREFIX, 0700, w->shm, &w->shm_lock, err) < 0)
        goto fail;
    if (snprintf(w->rings, sizeof(w->rings), "%s/rings", w->shm) < (int)sizeof(w->rings) &&
        mkdir(w->rings, 0700) == 0)
        return 0;
    err_set(err, "cannot make a folder in %s: %s", w->shm, strerror(errno));
fail:
    workspace_remove(w);
    return -1;
}

static void remove_one(char *path, int *lock)
{
    if (*path)
        remove_tree(path);
    if (*lock >= 0)
        close(*lock);
    *path = '\0';
    *lock = -1;
}

void workspace_remove(struct workspace *w)
{
    remove_one(w->shm, &w->shm_lock);
    remove_one(w->dir, &w->dir_lock);
}

const char *workspace_path(const struct workspace *w, const char *name, char path[WORKSPACE_SIZE])
{
    if (snprintf(path, WORKSPACE_SIZE, "%s/%s", w->dir, name) >= WORKSPACE_SIZE)
        *path = '\0'; /* longer than NAMES_SIZE */
    return path;
}

int workspace_write(const struct workspace *w, const char *name, const void *data, size_t bytes,
                    struct err *err)
{
    char path[WORKSPACE_SIZE];
    int fd = open(workspace_path(w, name, path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool written = fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes;

    if (fd >= 0 && close(fd) < 0)
        written = false;
    return written ? 0 : err_set(err, "cannot write %s: %s", path, strerror(errno));
}
