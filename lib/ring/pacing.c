/* pacing.c - see pacing.h */
#include "ring/pacing.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ring/seqlock.h"
#include "ring/shared.h"

/* ---- the page ---- */

static struct pacing_page *page_open(const char *dir, bool write)
{
    struct pacing_page *p = shared_map(dir, PACING_FILE, sizeof(*p), write);

    if (p && (p->magic != PACING_MAGIC || p->version != PACING_VERSION || p->bytes != sizeof(*p))) {
        pacing_close(p);
        errno = EPROTO;
        return NULL;
    }
    return p;
}

struct pacing_page *pacing_join(const char *dir)
{
    const struct {
        uint64_t magic;
        uint32_t version, bytes;
    } head = { PACING_MAGIC, PACING_VERSION, sizeof(struct pacing_page) };
    struct pacing_page *p = page_open(dir, true);

    if (p || errno != ENOENT || shared_publish(dir, PACING_FILE, &head, sizeof(head), sizeof(*p), false) < 0)
        return p;
    return page_open(dir, true);
}

struct pacing_page *pacing_look(const char *dir)
{
    return page_open(dir, false);
}

void pacing_close(struct pacing_page *p)
{
    if (p)
        munmap(p, sizeof(*p));
}

/* ---- the report: a sequence lock ---- */

#define WORDS (sizeof(((struct pacing_page *)0)->report) / sizeof(uint64_t))

void pacing_report_put(struct pacing_page *p, const struct pacing_report *r)
{
    uint64_t word[WORDS] = { 0 };

    memcpy(word, r, sizeof(*r));
    seqlock_write(&p->report_version, p->report, word, WORDS);
}

bool pacing_report_get(struct pacing_page *p, struct pacing_report *r)
{
    uint64_t word[WORDS];

    if (!atomic_load_explicit(&p->report_version, memory_order_relaxed) ||
        !seqlock_read(&p->report_version, p->report, word, WORDS))
        return false;
    memcpy(r, word, sizeof(*r));
    return true;
}

/* ---- gates ---- */

struct pacing_gate *pacing_gate_join(struct pacing_page *p, uint64_t key)
{
    for (uint32_t i = 0; i < PACING_GATES; i++) {
        struct pacing_gate *g = &p->gate[(key + i) % PACING_GATES];
        uint64_t expected = 0;

        if (atomic_compare_exchange_strong_explicit(&g->key, &expected, key, memory_order_relaxed,
                                                    memory_order_relaxed) ||
            expected == key) {
            atomic_fetch_add_explicit(&g->members, 1, memory_order_relaxed);
            return g;
        }
    }
    return NULL;
}

static long futex(_Atomic uint32_t *word, int what, uint32_t value, const struct timespec *timeout)
{
    return syscall(SYS_futex, word, what, value, timeout, NULL, 0);
}

bool pacing_gate_arrive(struct pacing_gate *g, uint32_t seq)
{
    _Atomic uint64_t *at = &g->arrived[seq & 1];
    uint64_t was = atomic_load_explicit(at, memory_order_relaxed), now;

    do {
        if (was && (int32_t)((uint32_t)(was >> 32) - seq) > 0)
            return false; /* the other ranks are ahead, so they do not wait here */
        now = was && was >> 32 == seq ? was + 1 : ((uint64_t)seq << 32 | 1);
    } while (
        !atomic_compare_exchange_weak_explicit(at, &was, now, memory_order_seq_cst, memory_order_relaxed));
    if ((now & UINT32_MAX) < atomic_load_explicit(&g->members, memory_order_relaxed))
        return false;
    atomic_fetch_add_explicit(&g->open, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&g->sleepers, memory_order_seq_cst))
        futex(&g->open, FUTEX_WAKE, INT_MAX, NULL);
    return true;
}

static bool all_here(struct pacing_gate *g, uint32_t seq)
{
    uint64_t n = atomic_load_explicit(&g->arrived[seq & 1], memory_order_seq_cst);

    /* A later number means that all have arrived and left. */
    return n >> 32 != seq || (n & UINT32_MAX) >= atomic_load_explicit(&g->members, memory_order_relaxed);
}

bool pacing_gate_sleep(struct pacing_gate *g, uint32_t seq, uint64_t wait_ns)
{
    const struct timespec timeout = { .tv_sec = (time_t)(wait_ns / 1000000000u),
                                      .tv_nsec = (long)(wait_ns % 1000000000u) };
    uint32_t open = atomic_load_explicit(&g->open, memory_order_seq_cst);

    if (all_here(g, seq))
        return true;
    atomic_fetch_add_explicit(&g->sleepers, 1, memory_order_seq_cst);
    /* The kernel compares the word, so an arrival since then ends the wait at once. */
    futex(&g->open, FUTEX_WAIT, open, &timeout);
    atomic_fetch_sub_explicit(&g->sleepers, 1, memory_order_seq_cst);
    return all_here(g, seq);
}
