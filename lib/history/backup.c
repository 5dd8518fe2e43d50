#include "history/backup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/xalloc.h"
#include "history/audit.h"
#include "history/database.h"
#include "history/store.h"

#define LOCK_FILE "in-use"
#define KEPT_MAX  1000 /* restored in one second */

static const struct database_tables *const parts[] = { &store_tables, &audit_tables };
/* what SQLite may have beside a database: without it, the newest changes are missing */
static const char *const companions[] = { "", "-wal", "-shm", "-journal" };

/* ---- the lock ---- */

/* how: LOCK_SH or LOCK_EX.  The descriptor, which holds it; or -1 and errno. */
static int lock_state(const char *state_dir, int how)
{
    char *path = xasprintf("%s/" LOCK_FILE, state_dir);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600), saved;

    if (fd >= 0 && flock(fd, how | LOCK_NB) < 0) {
        saved = errno;
        close(fd);
        errno = saved;
        fd = -1;
    }
    free(path);
    return fd;
}

int backup_hold_off(const char *state_dir, struct err *err)
{
    mkdir(state_dir, 0700);
    if (lock_state(state_dir, LOCK_SH) < 0 && errno == EWOULDBLOCK)
        return err_set(err, "%s: a backup is being restored there", state_dir);
    return 0;
}

/* ---- folders ---- */

static void sync_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

/* Move what is there of one database; -1 and errno. */
static int move_part(const char *from, const char *to, const char *file)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(companions); i++) {
        char *old = xasprintf("%s/%s%s", from, file, companions[i]);
        char *new = xasprintf("%s/%s%s", to, file, companions[i]);

        if (rename(old, new) < 0 && errno != ENOENT)
            rc = -1;
        free(old);
        free(new);
    }
    return rc;
}

static void remove_folder(const char *path)
{
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
        for (size_t k = 0; k < ARRAY_SIZE(companions); k++) {
            char *file = xasprintf("%s/%s%s", path, parts[i]->file, companions[k]);

            unlink(file);
            free(file);
        }
    rmdir(path);
}

static int copy_parts(const char *from, const char *to, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(parts); i++) {
        char *source = xasprintf("%s/%s", from, parts[i]->file);
        char *copy = xasprintf("%s/%s", to, parts[i]->file);

        rc = database_copy(source, copy, err);
        free(source);
        free(copy);
    }
    return rc;
}

static int check_parts(const char *dir, struct err *err)
{
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
        if (database_check(dir, parts[i], err) < 0)
            return -1;
    return 0;
}

/* A new folder beside or in another one, for what is not complete.  NULL with a reason; the caller frees it.
 */
static char *begin_folder(const char *name, struct err *err)
{
    char *path = xasprintf("%s.XXXXXX", name);

    if (mkdtemp(path))
        return path;
    err_set(err, "%s: %s", name, strerror(errno));
    free(path);
    return NULL;
}

/* ---- backup ---- */

static int make_folder(const char *state_dir, const char *to, const char *begun, struct err *err)
{
    if (copy_parts(state_dir, begun, err) < 0 || check_parts(begun, err) < 0)
        return -1;
    sync_folder(begun);
    /* Of folders, rename(2) replaces empty ones only. */
    if (rename(begun, to) < 0)
        return err_set(err, "%s: %s", to, strerror(errno));
    return 0;
}

int backup_make(const char *state_dir, const char *to, struct err *err)
{
    size_t n = strlen(to);
    char *name, *begun;
    int rc = -1;

    while (n > 1 && to[n - 1] == '/')
        n--;
    name = xasprintf("%.*s", (int)n, to);
    if (access(name, F_OK) == 0) {
        err_set(err, "%s exists: a backup needs a new name", name);
    } else if ((begun = begin_folder(name, err))) {
        rc = make_folder(state_dir, name, begun, err);
        if (rc < 0)
            remove_folder(begun);
        free(begun);
    }
    free(name);
    return rc;
}

/* ---- restore ---- */

/* That its tables are those of this program shows when it is opened as they are. */
static int migrate_parts(const char *dir, struct err *err)
{
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        struct database *d = database_open(dir, parts[i], err);

        if (!d)
            return -1;
        database_close(d);
    }
    return 0;
}

static int exchange_parts(const char *state_dir, const char *fresh, const char *kept, struct err *err)
{
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
        if (move_part(state_dir, kept, parts[i]->file) < 0 || move_part(fresh, state_dir, parts[i]->file) < 0)
            return err_set(err, "%s: %s; the databases that were there are in %s", parts[i]->file,
                           strerror(errno), kept);
    sync_folder(kept);
    sync_folder(state_dir);
    return 0;
}

/* By the time; a second one of the same second gets a number. */
static int make_kept(const char *state_dir, char *kept, size_t size, struct err *err)
{
    char when[32];
    time_t now = time(NULL);
    int length;

    strftime(when, sizeof(when), "%Y%m%dT%H%M%S", localtime(&now));
    length = snprintf(kept, size, "%s/before-%s", state_dir, when);
    for (int n = 2; mkdir(kept, 0700) < 0; n++) {
        if (errno != EEXIST || n > KEPT_MAX || length < 0 || (size_t)length >= size)
            return err_set(err, "%s: %s", kept, strerror(errno));
        snprintf(kept + length, size - (size_t)length, "-%d", n);
    }
    return 0;
}

static int put_back(const char *state_dir, const char *from, const char *fresh, char *kept, size_t size,
                    struct err *err)
{
    if (check_parts(from, err) < 0 || copy_parts(from, fresh, err) < 0 || migrate_parts(fresh, err) < 0)
        return -1;
    if (make_kept(state_dir, kept, size, err) < 0)
        return -1;
    return exchange_parts(state_dir, fresh, kept, err);
}

int backup_restore(const char *state_dir, const char *from, char *kept, size_t size, struct err *err)
{
    char *name, *fresh;
    int fd, rc = -1;

    if (mkdir(state_dir, 0700) < 0 && errno != EEXIST)
        return err_set(err, "%s: %s", state_dir, strerror(errno));
    fd = lock_state(state_dir, LOCK_EX);
    if (fd < 0)
        return errno == EWOULDBLOCK
                   ? err_set(err, "%s: a controller runs on it; stop it first", state_dir)
                   : err_set(err, "%s/" LOCK_FILE ": cannot lock it: %s", state_dir, strerror(errno));
    name = xasprintf("%s/restored", state_dir);
    if ((fresh = begin_folder(name, err))) {
        rc = put_back(state_dir, from, fresh, kept, size, err);
        remove_folder(fresh);
        free(fresh);
    }
    free(name);
    close(fd);
    return rc;
}
