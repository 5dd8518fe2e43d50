#include "gloo/phase.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "gloo/collective.h"
#include "gloo/guest.h"
#include "ring/layout.h"

/* All under the guest's lock. */
static struct marks marks;
/* the reducer that has the steps; NULL: no gradient has travelled by Gloo yet */
static const void *model;
static const void *other;      /* has begun a forward pass since that one */
static uint64_t posted_before; /* collectives before the backward pass */
static struct {
    bool known; /* gradients are there, and no forward pass has begun since */
    pthread_t thread;
    uint64_t at_ns, ran_ns; /* when, and for how long the thread had run */
} between;

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t = { 0 };

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Whether the forward pass of this one begins a step. */
static bool has_steps(const void *reducer)
{
    if (reducer == other)
        model = reducer;
    other = reducer == model ? NULL : reducer;
    return reducer == model;
}

static void enter_phase(const void *reducer, enum marks_phase phase, uint64_t now_ns)
{
    struct marks_page *page = &guest.ring->file->marks;
    uint64_t ran_ns;

    if (phase == MARKS_BACKWARD)
        posted_before = collective_count();
    if (!model && (phase != MARKS_COMMUNICATION || collective_count() == posted_before))
        return;
    if (!model)
        model = reducer;
    marks.f.used |= MARKS_SEEN;
    if (phase == MARKS_FORWARD && between.known) {
        ran_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - between.ran_ns;
        if (pthread_equal(between.thread, pthread_self()) && ran_ns < now_ns - between.at_ns)
            marks_phase(&marks, page, MARKS_INPUT, between.at_ns + ran_ns); /* the thread stood still */
        between.known = false;
        if (has_steps(reducer))
            marks_step(&marks, page, now_ns);
    }
    marks_phase(&marks, page, phase, now_ns);
    if (phase == MARKS_OTHER) {
        between.known = true;
        between.thread = pthread_self();
        between.at_ns = now_ns;
        between.ran_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    }
}

void phase_enter(const void *reducer, enum marks_phase phase)
{
    int saved = errno;

    if (!guest_lock())
        return;
    enter_phase(reducer, phase, clock_ns(CLOCK_MONOTONIC));
    guest_unlock();
    errno = saved;
}
