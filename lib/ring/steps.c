/* steps.c - see steps.h.  The file is one page; every field that changes is atomic and has one writer. */
#include "ring/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ring/clock.h"
#include "ring/control_page.h"
#include "ring/ring.h"
#include "ring/shared.h"

#define STEPS_MAGIC      0x53475453u /* "SGTS" */
#define STEPS_VERSION    1u
#define INCARNATIONS_MAX 4096u
/* The control page is looked for at each of the first calls, then once in this many. */
#define CONTROL_TRY_CALLS 64u

struct steps_page {
    uint32_t magic, version;
    uint32_t rank, incarnation;
    int32_t pid;
    _Atomic uint32_t state;
    _Alignas(64) _Atomic uint64_t calls;
    _Atomic uint64_t call_ns, yes, yes_at, samples;
    _Alignas(64) _Atomic uint64_t begun_ns;
    _Atomic uint64_t writes, write_ns;
    _Atomic uint32_t notice, hears;
    _Alignas(64) struct marks_page marks; /* zero in a page of an earlier release's program */
    char unused[4096 - 64 * 3 - sizeof(struct marks_page)];
};
_Static_assert(sizeof(struct steps_page) == 4096, "the file is one page");

struct steps {
    struct steps_page *page;
    const struct control_page *control; /* NULL: not found yet */
    uint32_t rank, incarnation;
    int fd; /* reader only; -1 */
    struct marks marks;
    char dir[];
};

/* ---- join ---- */

/* The page has one writer, so no locked addition is needed. */
static void store_value(_Atomic uint64_t *place, uint64_t value)
{
    atomic_store_explicit(place, value, memory_order_release);
}

static uint64_t load_value(const _Atomic uint64_t *place)
{
    return atomic_load_explicit(place, memory_order_acquire);
}

/* Under mpirun all ranks of a node are one Slurm task, so the MPI launcher's variables come first. */
static uint32_t own_rank(void)
{
    static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "RANK",
                                         "SLURM_PROCID" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *text = getenv(names[i]);
        unsigned long n;
        char *end;

        if (!text || *text < '0' || *text > '9')
            continue;
        n = strtoul(text, &end, 10);
        if (!*end && n <= INT32_MAX)
            return (uint32_t)n;
    }
    return (uint32_t)getpid();
}

static bool publish_page(struct steps *s, const char *temporary)
{
    char path[PATH_MAX];

    for (s->incarnation = 0; s->incarnation < INCARNATIONS_MAX; s->incarnation++) {
        s->page->incarnation = s->incarnation;
        if (shared_path(path, "%s/%u.%u" STEPS_SUFFIX, s->dir, s->rank, s->incarnation) < 0)
            return false;
        if (link(temporary, path) == 0)
            return true;
        if (errno != EEXIST)
            return false;
    }
    return false;
}

static bool make_page(struct steps *s)
{
    char temporary[PATH_MAX];
    bool done = false;
    void *map;
    int fd;

    if (shared_path(temporary, "%s/.steps.%ld.tmp", s->dir, (long)getpid()) < 0)
        return false;
    fd = shared_make(temporary, sizeof(*s->page));
    if (fd < 0)
        return false;
    map = mmap(NULL, sizeof(*s->page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map != MAP_FAILED) {
        s->page = map;
        s->page->magic = STEPS_MAGIC;
        s->page->version = STEPS_VERSION;
        s->page->rank = s->rank;
        s->page->pid = getpid();
        atomic_store_explicit(&s->page->state, STEPS_RUNNING, memory_order_relaxed);
        done = publish_page(s, temporary);
    }
    unlink(temporary);
    close(fd);
    return done;
}

struct steps *steps_join(void)
{
    const char *dir = getenv(RING_ENV_DIR);
    size_t length = dir ? strlen(dir) : 0;
    int saved = errno;
    struct steps *s;

    if (!length || *dir != '/' || length >= PATH_MAX - 64)
        return NULL;
    s = calloc(1, sizeof(*s) + length + 1);
    if (s) {
        memcpy(s->dir, dir, length + 1);
        s->fd = -1;
        s->rank = own_rank();
        if (!make_page(s)) {
            steps_close(s);
            s = NULL;
        }
    }
    errno = saved;
    return s;
}

void steps_leave(struct steps *s)
{
    if (!s)
        return;
    atomic_store_explicit(&s->page->state, STEPS_LEFT, memory_order_release);
    steps_close(s);
}

/* ---- write ---- */

/* The agent makes the control page when it starts, which may be later. */
static bool have_control(struct steps *s, uint64_t n)
{
    int saved;

    if (s->control)
        return true;
    if (n > CONTROL_TRY_CALLS && n % CONTROL_TRY_CALLS)
        return false;
    saved = errno;
    s->control = control_page_open(s->dir);
    errno = saved;
    if (s->control)
        atomic_store_explicit(&s->page->hears, 1, memory_order_release);
    return s->control != NULL;
}

bool steps_due(struct steps *s)
{
    uint64_t n;

    if (!s)
        return false;
    n = atomic_load_explicit(&s->page->calls, memory_order_relaxed) + 1;
    store_value(&s->page->call_ns, clock_monotonic_ns());
    /* The count must be visible before the answer is read, see control_page_ask(). */
    atomic_store_explicit(&s->page->calls, n, memory_order_seq_cst);
    if (!have_control(s, n) || !control_page_asked(s->control, n, s->incarnation))
        return false;
    store_value(&s->page->yes_at, n);
    store_value(&s->page->yes, load_value(&s->page->yes) + 1);
    return true;
}

void steps_write_begin(struct steps *s)
{
    if (s && !load_value(&s->page->begun_ns))
        store_value(&s->page->begun_ns, clock_monotonic_ns());
}

void steps_write_end(struct steps *s, bool written)
{
    uint64_t begun_ns = s ? load_value(&s->page->begun_ns) : 0;

    if (!begun_ns)
        return;
    if (written) {
        store_value(&s->page->write_ns, clock_monotonic_ns() - begun_ns);
        store_value(&s->page->writes, load_value(&s->page->writes) + 1);
    }
    store_value(&s->page->begun_ns, 0);
}

void steps_samples(struct steps *s, uint64_t n)
{
    if (s)
        store_value(&s->page->samples, load_value(&s->page->samples) + n);
}

void steps_notice(struct steps *s)
{
    if (s)
        atomic_store_explicit(&s->page->notice, 1, memory_order_release);
}

enum marks_phase steps_mark_phase(struct steps *s, int phase)
{
    return s ? marks_phase(&s->marks, &s->page->marks, phase, clock_monotonic_ns()) : MARKS_OTHER;
}

void steps_mark_step(struct steps *s)
{
    if (s)
        marks_step(&s->marks, &s->page->marks, clock_monotonic_ns());
}

void steps_mark_value(struct steps *s, enum marks_value value, double x)
{
    if (s)
        marks_value(&s->marks, &s->page->marks, value, x);
}

/* ---- read ---- */

bool steps_name_parse(const char *name, uint32_t *rank, uint32_t *incarnation)
{
    char again[64];

    if (sscanf(name, "%10u.%9u" STEPS_SUFFIX, rank, incarnation) != 2)
        return false;
    snprintf(again, sizeof(again), "%u.%u" STEPS_SUFFIX, *rank, *incarnation);
    return !strcmp(name, again);
}

struct steps *steps_open(const char *dir, const char *name)
{
    struct steps *s = calloc(1, sizeof(*s) + 1);
    char path[PATH_MAX];
    struct steps_page head;
    struct stat st;
    void *map;

    if (!s)
        return NULL;
    s->fd = -1;
    if (!steps_name_parse(name, &s->rank, &s->incarnation) || shared_path(path, "%s/%s", dir, name) < 0) {
        errno = EPROTO;
        goto fail;
    }
    s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (s->fd < 0)
        goto fail;
    if (fstat(s->fd, &st) < 0 || !S_ISREG(st.st_mode) ||
        pread(s->fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) || head.magic != STEPS_MAGIC ||
        head.version != STEPS_VERSION || head.rank != s->rank || head.incarnation != s->incarnation) {
        errno = EPROTO;
        goto fail;
    }
    map = mmap(NULL, sizeof(struct steps_page), PROT_READ, MAP_SHARED, s->fd, 0);
    if (map == MAP_FAILED)
        goto fail;
    s->page = map;
    return s;
fail:
    steps_close(s);
    return NULL;
}

void steps_close(struct steps *s)
{
    int saved = errno;

    if (!s)
        return;
    if (s->page)
        munmap(s->page, sizeof(*s->page));
    control_page_close(s->control);
    if (s->fd >= 0)
        close(s->fd);
    free(s);
    errno = saved;
}

void steps_figures_get(const struct steps *s, struct steps_figures *f)
{
    const struct steps_page *p = s->page;
    struct stat st;

    *f = (struct steps_figures){ .rank = s->rank, .incarnation = s->incarnation, .state = STEPS_LEFT };
    /* Accessing a file that was truncated would raise SIGBUS. */
    if (fstat(s->fd, &st) < 0 || st.st_size < (off_t)sizeof(*p))
        return;
    f->pid = p->pid;
    if (atomic_load_explicit(&p->state, memory_order_acquire) == STEPS_RUNNING)
        f->state = STEPS_RUNNING;
    f->calls = atomic_load_explicit(&p->calls, memory_order_seq_cst);
    f->call_ns = load_value(&p->call_ns);
    f->yes = load_value(&p->yes);
    f->yes_at = load_value(&p->yes_at);
    f->samples = load_value(&p->samples);
    f->begun_ns = load_value(&p->begun_ns);
    f->writes = load_value(&p->writes);
    f->write_ns = load_value(&p->write_ns);
    f->hears = atomic_load_explicit(&p->hears, memory_order_acquire) != 0;
    f->notice = atomic_load_explicit(&p->notice, memory_order_acquire) != 0;
    f->marked = marks_get(&p->marks, &f->marks);
}
