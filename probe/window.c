/* window.c - see window.h */
#include "probe/window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct access {
    int target;     /* its rank in the window */
    bool locked;    /* by itself, not with all others */
    uint64_t enter; /* 0: nothing was passed since it was flushed */
    uint64_t read, written;
};

struct window {
    atomic_bool taken;
    handle _Atomic at;             /* NULL: not ready */
    struct thread *_Atomic locker; /* that the rest belongs to; NULL: nobody */
    uint64_t comm;                 /* name of what it was made over */
    uint8_t flags;
    uint32_t size, *world; /* ranks in the job of its members; NULL: as in the window */
    uint32_t accesses;
    bool all; /* targets are locked */
    unsigned n;
    struct access open[WINDOW_TARGETS];
};
static struct window windows[WINDOWS_MAX];

/* NULL: not known. */
static struct window *window_find(handle win)
{
    handle h = handle_of(win);

    for (struct window *w = windows; h && w < windows + WINDOWS_MAX; w++)
        if (atomic_load_explicit(&w->at, memory_order_acquire) == h)
            return w;
    return NULL;
}

/* The window, if its state is this thread's, or becomes it. */
static struct window *window_take(handle win, bool locks)
{
    struct window *w = window_find(win);
    struct thread *nobody = NULL;

    if (!w || atomic_load_explicit(&w->locker, memory_order_relaxed) == &self)
        return w;
    return locks && atomic_compare_exchange_strong(&w->locker, &nobody, &self) ? w : NULL;
}

static struct access *access_find(struct window *w, int target)
{
    for (struct access *a = w->open; a < w->open + w->n; a++)
        if (a->target == target)
            return a;
    return NULL;
}

static struct access *access_add(struct window *w, int target, bool locked)
{
    struct access *a = w->n < WINDOW_TARGETS ? &w->open[w->n++] : NULL;

    if (a)
        *a = (struct access){ .target = target, .locked = locked };
    return a;
}

/* ---- windows ---- */

static bool copy_world(struct window *w, const struct comm *c)
{
    int saved = errno;

    w->size = c->peers;
    w->world = NULL;
    if (!c->world)
        return true;
    w->world = malloc(c->peers * sizeof(*w->world));
    errno = saved; /* the program's call has succeeded */
    if (w->world)
        memcpy(w->world, c->world, c->peers * sizeof(*w->world));
    return w->world;
}

void window_made(const struct comm *c, handle win)
{
    for (struct window *w = windows; c && handle_of(win) && w < windows + WINDOWS_MAX; w++) {
        if (atomic_exchange(&w->taken, true))
            continue;
        if (!copy_world(w, c)) {
            atomic_store(&w->taken, false);
            return;
        }
        w->comm = c->name;
        w->flags = c->flags;
        w->accesses = w->n = 0;
        w->all = false;
        atomic_store(&w->locker, NULL);
        atomic_store_explicit(&w->at, handle_of(win), memory_order_release);
        return;
    }
}

void window_ending(handle win)
{
    struct window *w = window_find(win);

    if (!w)
        return;
    atomic_store(&w->at, NULL);
    free(w->world);
    atomic_store(&w->taken, false);
}

/* ---- accesses ---- */

void window_locked(handle win, int target, uint64_t enter)
{
    struct window *w = window_take(win, true);
    struct access *a;

    if (!w)
        return;
    if (target == WINDOW_ALL) {
        w->all = true;
        return;
    }
    a = access_add(w, target, true);
    if (a)
        a->enter = enter;
}

void window_passed(struct ring *r, handle win, int target, uint64_t enter, uint64_t read, uint64_t written)
{
    struct window *w = window_take(win, false);
    struct access *a;

    if (!w || target == probe.abi.proc_null)
        return;
    a = access_find(w, target);
    if (!a && !w->all)
        return; /* no lock protects it */
    if (!a)
        a = access_add(w, target, false);
    if (!a) {
        ring_message_missed(r);
        return;
    }
    if (!a->enter)
        a->enter = enter;
    a->read += read;
    a->written += written;
}

/* What the rank has in its own memory is no access to another's. */
static void put_event(struct ring *r, struct window *w, const struct access *a, uint64_t now)
{
    uint32_t other = (uint32_t)a->target >= w->size ? COMM_FOREIGN
                     : w->world                     ? w->world[a->target]
                                                    : (uint32_t)a->target;

    if (!r || !a->enter || (!a->read && !a->written) || other == probe.rank)
        return;
    if (other > INT32_MAX) {
        ring_message_missed(r);
        return;
    }
    hot_access(r, &(struct ring_event){ .enter = a->enter,
                                        .leave = now,
                                        .comm = w->comm,
                                        .bytes = a->written,
                                        .read_bytes = a->read,
                                        .seq = w->accesses++,
                                        .root = (int32_t)other,
                                        .op = RING_OP_ACCESS,
                                        .flags = w->flags });
}

/* Nothing is under way any more; whether the target stays in the table. */
static bool access_end(struct access *a, enum window_end how)
{
    a->enter = a->read = a->written = 0;
    return a->locked && how != WINDOW_UNLOCKED;
}

void window_completed(struct ring *r, handle win, int target, enum window_end how, uint64_t now)
{
    struct window *w = window_take(win, false);
    unsigned n = 0;

    if (!w) {
        if (r && how == WINDOW_UNLOCKED)
            ring_message_missed(r);
        return;
    }
    for (struct access *a = w->open; a < w->open + w->n; a++) {
        bool ends =
            (target == WINDOW_ALL || a->target == target) && !(how == WINDOW_FLUSHED_LOCALLY && a->written);

        if (ends)
            put_event(r, w, a, now);
        if (!ends || access_end(a, how))
            w->open[n++] = *a;
    }
    w->n = n;
    if (how == WINDOW_UNLOCKED && target == WINDOW_ALL)
        w->all = false;
    if (!w->n && !w->all)
        atomic_store_explicit(&w->locker, NULL, memory_order_release);
}
