#include "history/lease.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/now.h"
#include "common/xalloc.h"

#define HELD_RATIO  0.75 /* of valid_s: the rest is for clocks that run at different rates */
#define RENEW_RATIO (1.0 / 3)

struct lease {
    char *dir;
    char self[LEASE_HOLDER_MAX];
    double valid_s;
    enum lease_state state;
    struct lease_record record; /* seen last, or our own */
    /* held */
    double until_s, renew_s;
    /* standby */
    char seen[LEASE_BYTES];
    size_t seen_bytes;
    double seen_s;
};

double lease_now_s(void)
{
    return now_of(CLOCK_BOOTTIME);
}

static bool is_holder(const char *s)
{
    return *s && strlen(s) < LEASE_HOLDER_MAX &&
           !s[strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")];
}

/* ---- the file ---- */

int lease_parse(const char *text, size_t bytes, struct lease_record *r, struct err *err)
{
    char copy[LEASE_BYTES + 1], state[9], holder[LEASE_HOLDER_MAX];
    struct lease_record found = { 0 };
    int end = 0;

    if (bytes > LEASE_BYTES || memchr(text, '\0', bytes))
        return err_set(err, "not a lease: expected a text of at most %u bytes", LEASE_BYTES);
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    if (sscanf(copy, "syncguard-lease 1 %19" SCNu64 " %19" SCNu64 " %8s %63s%n", &found.epoch,
               &found.renewals, state, holder, &end) != 4 ||
        strcmp(copy + end, "\n") != 0 || !found.epoch || !is_holder(holder) ||
        (strcmp(state, "held") != 0 && strcmp(state, "released") != 0))
        return err_set(err, "not a lease: expected 'syncguard-lease 1 EPOCH RENEWALS held|released HOST'");
    found.released = !strcmp(state, "released");
    strcpy(found.holder, holder);
    *r = found;
    return 0;
}

static char *path_of(const struct lease *l, uint64_t epoch)
{
    return xasprintf("%s/%" PRIu64, l->dir, epoch);
}

/* Returns the number of bytes, LEASE_BYTES + 1 if there are more; -1: cannot be read, errno is set. */
static ssize_t read_epoch(const struct lease *l, uint64_t epoch, char text[LEASE_BYTES + 1])
{
    char *path = path_of(l, epoch);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), error;
    ssize_t n = -1;

    if (fd >= 0)
        n = pread(fd, text, LEASE_BYTES + 1, 0);
    error = errno;
    if (fd >= 0)
        close(fd);
    free(path);
    errno = error;
    return n;
}

/* Write our record; flags: O_CREAT and O_EXCL for a new epoch. */
static int write_epoch(const struct lease *l, const struct lease_record *r, int flags, struct err *err)
{
    char *path = path_of(l, r->epoch), text[LEASE_BYTES];
    int n = snprintf(text, sizeof(text), "syncguard-lease 1 %" PRIu64 " %" PRIu64 " %s %s\n", r->epoch,
                     r->renewals, r->released ? "released" : "held", r->holder);
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | flags, 0600), error = 0;
    ssize_t written = fd < 0 ? -1 : pwrite(fd, text, (size_t)n, 0);

    if (written != n)
        error = written < 0 ? errno : ENOSPC;
    else if (ftruncate(fd, n) < 0 || fsync(fd) < 0)
        error = errno;
    if (fd >= 0 && close(fd) < 0 && !error)
        error = errno;
    if (error)
        err_set(err, "%s: %s", path, strerror(error));
    free(path);
    errno = error;
    return error ? -1 : 0;
}

/* The highest number of a file; 0: there is none.  -1 with a reason. */
static int find_newest(const struct lease *l, uint64_t *epoch, struct err *err)
{
    DIR *d = opendir(l->dir);
    struct dirent *e;

    if (!d)
        return err_set(err, "%s: %s", l->dir, strerror(errno));
    *epoch = 0;
    errno = 0;
    while ((e = readdir(d))) {
        size_t n = strspn(e->d_name, "0123456789");
        uint64_t number;

        if (!n || n > 18 || e->d_name[n])
            continue;
        number = strtoull(e->d_name, NULL, 10);
        if (number > *epoch)
            *epoch = number;
    }
    if (errno) {
        err_set(err, "%s: %s", l->dir, strerror(errno));
        closedir(d);
        return -1;
    }
    closedir(d);
    return 0;
}

/* ---- a standby ---- */

static enum lease_state take_lease(struct lease *l, uint64_t before, double at_s, struct err *err)
{
    struct lease_record r = { .epoch = before + 1 };
    char *path;

    strcpy(r.holder, l->self);
    if (write_epoch(l, &r, O_CREAT | O_EXCL, err) < 0)
        return LEASE_STANDBY; /* another one was first, or it will count as unchanged */
    l->record = r;
    l->until_s = at_s + l->valid_s * HELD_RATIO;
    l->renew_s = at_s + l->valid_s * RENEW_RATIO;
    if (before) {
        path = path_of(l, before);
        unlink(path);
        free(path);
    }
    return LEASE_HELD;
}

static enum lease_state watch_lease(struct lease *l, double at_s, struct err *err)
{
    char text[LEASE_BYTES + 1];
    struct lease_record r = { 0 };
    uint64_t epoch = 0;
    ssize_t n;
    size_t kept;

    if (find_newest(l, &epoch, err) < 0) {
        l->seen_s = at_s; /* what cannot be seen is not known to be unchanged */
        return LEASE_STANDBY;
    }
    if (!epoch)
        return take_lease(l, 0, at_s, err);
    n = read_epoch(l, epoch, text);
    if (n < 0) {
        l->seen_s = at_s;
        err_set(err, "%s/%" PRIu64 ": %s", l->dir, epoch, strerror(errno));
        return LEASE_STANDBY;
    }
    if (lease_parse(text, (size_t)n, &r, err) < 0)
        err_prefix(err, "%s/%" PRIu64, l->dir, epoch);
    kept = (size_t)n < sizeof(l->seen) ? (size_t)n : sizeof(l->seen);
    if (epoch != l->record.epoch || kept != l->seen_bytes || memcmp(text, l->seen, kept) != 0) {
        memcpy(l->seen, text, kept);
        l->seen_bytes = kept;
        l->seen_s = at_s;
    }
    r.epoch = epoch; /* by its name: the content may be malformed */
    l->record = r;
    if (r.released || at_s - l->seen_s > l->valid_s)
        return take_lease(l, epoch, at_s, err);
    return LEASE_STANDBY;
}

/* ---- the holder ---- */

static enum lease_state renew_lease(struct lease *l, double at_s, struct err *err)
{
    struct lease_record r = l->record;

    if (at_s >= l->until_s) {
        err_set(err, "the lease was not renewed in time");
        return LEASE_LOST;
    }
    if (at_s < l->renew_s)
        return LEASE_HELD;
    r.renewals++;
    if (write_epoch(l, &r, 0, err) < 0) {
        if (errno != ENOENT)
            return LEASE_HELD; /* until it ends */
        err_set(err, "another controller has taken over");
        return LEASE_LOST;
    }
    l->record = r;
    l->until_s = at_s + l->valid_s * HELD_RATIO;
    l->renew_s = at_s + l->valid_s * RENEW_RATIO;
    return LEASE_HELD;
}

enum lease_state lease_tick(struct lease *l, double at_s, struct err *err)
{
    err_set(err, "%s", "");
    if (l->state == LEASE_STANDBY)
        l->state = watch_lease(l, at_s, err);
    else if (l->state == LEASE_HELD)
        l->state = renew_lease(l, at_s, err);
    return l->state;
}

bool lease_held(const struct lease *l, double at_s)
{
    return l->state == LEASE_HELD && at_s < l->until_s;
}

bool lease_in_force(const struct lease *l, double at_s)
{
    char text[LEASE_BYTES + 1];
    struct lease_record r;
    ssize_t n;

    if (!lease_held(l, at_s))
        return false;
    n = read_epoch(l, l->record.epoch, text);
    return n >= 0 && lease_parse(text, (size_t)n, &r, NULL) == 0 && r.epoch == l->record.epoch &&
           !strcmp(r.holder, l->self);
}

void lease_release(struct lease *l, double at_s)
{
    struct lease_record r = l->record;

    if (!lease_in_force(l, at_s))
        return;
    r.released = true;
    write_epoch(l, &r, 0, NULL);
    l->state = LEASE_LOST;
}

uint64_t lease_epoch(const struct lease *l)
{
    return l->record.epoch;
}

const char *lease_holder(const struct lease *l)
{
    return l->record.holder;
}

/* ---- creation and end ---- */

struct lease *lease_open(const char *dir, const char *holder, double valid_s, struct err *err)
{
    struct lease *l;

    if (!is_holder(holder)) {
        err_set(err, "'%s': not a host's name of at most %d characters", holder, LEASE_HOLDER_MAX - 1);
        return NULL;
    }
    l = xcalloc(1, sizeof(*l));
    strcpy(l->self, holder);
    l->valid_s = valid_s;
    l->dir = xasprintf("%s/lease", dir);
    if ((mkdir(dir, 0700) < 0 && errno != EEXIST) || (mkdir(l->dir, 0700) < 0 && errno != EEXIST)) {
        err_set(err, "%s: %s", l->dir, strerror(errno));
        lease_free(l);
        return NULL;
    }
    return l;
}

void lease_free(struct lease *l)
{
    if (!l)
        return;
    free(l->dir);
    free(l);
}
