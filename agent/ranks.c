#include "agent/ranks.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/now.h"
#include "common/xalloc.h"
#include "ring/control_page.h"
#include "ring/note.h"
#include "ring/pacing.h"
#include "ring/steps.h"

/* Touching one page of a ring maps 16 of them, about 128 KiB per ring and drain.  With few ranks it is
 * cheaper to keep them for a second (0.5 % of a core instead of 0.9 % with 8 ranks at 1000 events/s); with 64
 * ranks that would be 10 MiB. */
#define MANY         16u
#define CALLS        16384u /* the node's for one drain, 1.2 MiB; further ones are missing */
#define DESCRIBE_MAX 256u   /* ranks per JSON frame, far below a frame's limit */

struct ranks {
    char *dir;
    struct ring_clock_map clock;
    struct rendezvous *rendezvous;
    struct rank **rank;
    size_t n, cap, live; /* live: all ranks before this index are over */
    double rate_hz;
    struct call_window window;
    bool room;
    unsigned newest; /* enum telemetry_kind that the controller can read; 0: nothing is known of it */
    flow_sink *put;
    void (*note)(const char *text, void *arg);
    void *arg;
};

struct ranks *ranks_new(const char *dir, double rate_hz, flow_sink *put,
                        void (*note)(const char *text, void *arg), void *arg)
{
    struct ranks *rs = xcalloc(1, sizeof(*rs));

    rs->dir = xstrdup(dir);
    rs->rendezvous = rendezvous_new();
    rs->rate_hz = rate_hz;
    rs->room = true;
    rs->put = put;
    rs->note = note;
    rs->arg = arg;
    ring_clock_start(&rs->clock);
    return rs;
}

void ranks_free(struct ranks *rs)
{
    if (!rs)
        return;
    for (size_t i = 0; i < rs->n; i++)
        rank_free(rs->rank[i]);
    rendezvous_free(rs->rendezvous);
    free(rs->rank);
    free(rs->dir);
    free(rs);
}

static bool get_output(struct ranks *rs, struct rank_output *out)
{
    size_t live = rs->n - rs->live;

    *out = (struct rank_output){ .clock = &rs->clock,
                                 .rendezvous = rs->rendezvous,
                                 .put = rs->put,
                                 .arg = rs->arg,
                                 .many = live > MANY,
                                 .newest = rs->newest };
    if (rs->window.open_s > 0) {
        out->window = rs->window;
        out->wall_s = wall_s() - now_s();
        if (rs->room)
            out->calls = (uint32_t)(live < CALLS ? CALLS / (live ? live : 1) : 1);
    }
    return ring_clock_ready(&rs->clock);
}

void ranks_settle(struct ranks *rs)
{
    while (!ring_clock_ready(&rs->clock))
        nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
}

/* ---- finding rings ---- */

/* Parse "RANK.INCARNATION.THREAD.ring", exactly as the probe writes it. */
static bool parse_name(const char *name, uint32_t *rank, uint32_t *incarnation, uint32_t *thread)
{
    char again[64];

    if (sscanf(name, "%9u.%9u.%9u.ring", rank, incarnation, thread) != 3)
        return false;
    snprintf(again, sizeof(again), "%u.%u.%u.ring", *rank, *incarnation, *thread);
    return !strcmp(name, again);
}

static struct rank *find_rank(const struct ranks *rs, uint32_t rank, uint32_t incarnation)
{
    for (size_t i = rs->n; i-- > 0;) { /* newest first */
        const struct ring_info *info = rank_info(rs->rank[i]);

        if (info->rank == rank && info->incarnation == incarnation)
            return rs->rank[i];
    }
    return NULL;
}

__attribute__((format(printf, 2, 3))) static void note(const struct ranks *rs, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    rs->note(text, rs->arg);
}

static void take_ring(struct ranks *rs, const char *name, uint32_t rank, uint32_t incarnation,
                      uint32_t thread)
{
    struct rank *r = find_rank(rs, rank, incarnation);
    struct ring_info info;
    struct ring *ring;
    char path[4096];

    if (r && rank_has_thread(r, thread))
        return;
    if (!r && rs->n == RANKS_MAX) {
        note(rs, "more than %u programs of ranks on this node: the others are not watched", RANKS_MAX);
        return;
    }
    snprintf(path, sizeof(path), "%s/%s", rs->dir, name);
    ring = ring_open(path, false);
    if (!ring) {
        note(rs, "cannot watch %s: %s", name,
             errno == EPROTO ? "not a ring of this version" : strerror(errno));
        return;
    }
    ring_info_get(ring, &info);
    if (info.rank != rank || info.incarnation != incarnation || info.thread != thread ||
        incarnation > UINT16_MAX) {
        note(rs, "cannot watch %s: it belongs to another rank", name);
        ring_close(ring);
        return;
    }
    if (!r) {
        r = rank_new(&info, rs->rate_hz);
        rs->rank = xgrow(rs->rank, &rs->cap, rs->n + 1, sizeof(struct rank *));
        rs->rank[rs->n++] = r;
    }
    if (rank_add(r, ring, &info) < 0)
        note(rs, "cannot watch %s: more than %u threads record", name, RING_RANK_MAX);
}

static bool ends_with(const char *name, const char *suffix)
{
    size_t n = strlen(name), k = strlen(suffix);

    return n > k && !strcmp(name + n - k, suffix);
}

int ranks_scan(struct ranks *rs)
{
    DIR *d = opendir(rs->dir);
    uint32_t rank, incarnation, thread;
    char text[NOTE_MAX];
    struct dirent *e;

    if (!d)
        return errno == ENOENT || errno == ENOTDIR ? -1 : 0;
    while ((e = readdir(d)))
        if (parse_name(e->d_name, &rank, &incarnation, &thread))
            take_ring(rs, e->d_name, rank, incarnation, thread);
        else if (ends_with(e->d_name, NOTE_SUFFIX) && note_read(rs->dir, e->d_name, text))
            note(rs, "%s", text);
    closedir(d);
    return 0;
}

/* ---- all of them ---- */

size_t ranks_drain(struct ranks *rs)
{
    struct rank_output out;
    size_t taken = 0;

    if (!get_output(rs, &out))
        return 0;
    for (size_t i = rs->live; i < rs->n; i++)
        taken += rank_drain(rs->rank[i], &out);
    return taken;
}

void ranks_release(struct ranks *rs)
{
    for (size_t i = rs->live; i < rs->n; i++)
        rank_release(rs->rank[i]);
}

static void each_live(struct ranks *rs, void (*each)(struct rank *r, const struct rank_output *out))
{
    struct rank_output out;

    if (get_output(rs, &out))
        for (size_t i = rs->live; i < rs->n; i++)
            each(rs->rank[i], &out);
}

void ranks_second(struct ranks *rs)
{
    each_live(rs, rank_second);
    while (rs->live < rs->n && rank_over(rs->rank[rs->live]))
        rs->live++;
}

void ranks_flush(struct ranks *rs)
{
    each_live(rs, rank_flush);
}

void ranks_each(const struct ranks *rs, void (*each)(uint32_t rank, uint16_t app, pid_t pid, void *arg),
                void *arg)
{
    for (size_t i = rs->live; i < rs->n; i++) {
        const struct ring_info *info = rank_info(rs->rank[i]);

        if (rank_state(rs->rank[i]) == RANK_RUNNING)
            each(info->rank, (uint16_t)info->incarnation, rank_pid(rs->rank[i]), arg);
    }
}

bool ranks_of_process(const struct ranks *rs, pid_t pid, uint32_t *rank, uint16_t *app)
{
    for (size_t i = rs->n; i-- > 0;) { /* newest first */
        const struct ring_info *info = rank_info(rs->rank[i]);

        if (info->pid != pid)
            continue;
        *rank = info->rank;
        *app = (uint16_t)info->incarnation;
        return true;
    }
    return false;
}

size_t ranks_running(const struct ranks *rs)
{
    size_t n = 0;

    for (size_t i = rs->live; i < rs->n; i++)
        n += rank_state(rs->rank[i]) == RANK_RUNNING;
    return n;
}

size_t ranks_seen(const struct ranks *rs)
{
    return rs->n;
}

void ranks_announce(struct ranks *rs)
{
    struct rank_output out;

    get_output(rs, &out);
    for (size_t i = 0; i < rs->n; i++)
        rank_announce(rs->rank[i], &out);
    rs->live = 0; /* ranks that are over must send their counts again */
}

void ranks_room(struct ranks *rs, bool room)
{
    rs->room = room;
}

void ranks_newest_item(struct ranks *rs, unsigned newest)
{
    rs->newest = newest;
}

void ranks_control(struct ranks *rs, double rate_hz, struct call_window window)
{
    rs->rate_hz = rate_hz;
    rs->window = window;
    for (size_t i = rs->live; i < rs->n; i++)
        rank_rate(rs->rank[i], rate_hz);
}

json_t *ranks_news(struct ranks *rs, size_t *at)
{
    json_t *list = json_array();

    for (; *at < rs->n && json_array_size(list) < DESCRIBE_MAX; ++*at)
        if (rank_take_news(rs->rank[*at]))
            json_array_append_new(list, rank_describe(rs->rank[*at]));
    if (json_array_size(list))
        return json_pack("{s:o}", "ranks", list);
    json_decref(list);
    return NULL;
}

/* ---- the end ---- */

static bool is_ours(const char *name)
{
    return !strcmp(name, CONTROL_PAGE_FILE) || !strcmp(name, CONTROL_PAGE_FILE ".new") ||
           !strcmp(name, PACING_FILE) || ends_with(name, ".ring") || ends_with(name, STEPS_SUFFIX) ||
           ends_with(name, NOTE_SUFFIX) || (name[0] == '.' && ends_with(name, ".tmp"));
}

void ranks_remove_dir(const char *dir)
{
    DIR *d = opendir(dir);
    struct dirent *e;

    if (!d)
        return;
    while ((e = readdir(d)))
        if (is_ours(e->d_name))
            unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
    rmdir(dir);
}
