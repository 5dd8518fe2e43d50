/* clock.c - see clock.h and ring.h */
#include "ring/clock.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define CALIBRATE_NS 50000000u
#define CLOCKSOURCES "/sys/devices/system/clocksource/clocksource0/available_clocksource"

#if defined(__x86_64__)
/* The CPU says that its counter is invariant, and the kernel believes it: it removes tsc from this list when
 * its watchdog or its test between CPUs fails.  Under kvm-clock it stays listed, and is reliable. */
static bool counter_reliable(void)
{
    char list[256] = " ";
    unsigned a, b, c, d;
    ssize_t n;
    int fd;

    if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & (1u << 8)))
        return false;
    fd = open(CLOCKSOURCES, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    n = read(fd, list + 1, sizeof(list) - 3);
    close(fd);
    if (n <= 0)
        return false;
    for (char *p = list; *p; p++)
        if (*p == '\n')
            *p = ' ';
    return strstr(list, " tsc ") != NULL;
}
#endif

enum ring_clock clock_choose(void)
{
#if defined(__x86_64__)
    return counter_reliable() ? RING_CLOCK_COUNTER : RING_CLOCK_MONOTONIC;
#elif defined(__aarch64__)
    return RING_CLOCK_COUNTER; /* the architecture requires an invariant, system-wide counter */
#else
    return RING_CLOCK_MONOTONIC;
#endif
}

/* Read both clocks at one moment.  The shortest of several tries counts, so that an interrupt between the
 * readings has no effect. */
static void read_both(uint64_t *tick, uint64_t *ns)
{
    uint64_t best = 0;

    for (int i = 0; i < 16; i++) {
        uint64_t before = clock_counter(), now = clock_monotonic_ns(), after = clock_counter();

        if (i == 0 || after - before < best) {
            best = after - before;
            *tick = before + (after - before) / 2;
            *ns = now;
        }
    }
}

void ring_clock_start(struct ring_clock_map *m)
{
    memset(m, 0, sizeof(*m));
    read_both(&m->tick0, &m->ns0);
}

bool ring_clock_ready(struct ring_clock_map *m)
{
    uint64_t tick, ns;

    if (m->ns_per_tick > 0)
        return true;
    if (!CLOCK_HAVE_COUNTER) {
        m->ns_per_tick = 1;
        return true;
    }
    read_both(&tick, &ns);
    if (ns - m->ns0 < CALIBRATE_NS || tick <= m->tick0)
        return false;
    m->ns_per_tick = (double)(ns - m->ns0) / (double)(tick - m->tick0);
    return true;
}

uint64_t ring_clock_ns(const struct ring_clock_map *m, enum ring_clock clock, uint64_t ticks)
{
    double ns;

    if (clock != RING_CLOCK_COUNTER)
        return ticks;
    /* Ticks of a hostile writer may be before the map's origin or far after it. */
    ns = (double)(int64_t)(ticks - m->tick0) * m->ns_per_tick + (double)m->ns0;
    return ns <= 0 ? 0 : ns >= 0x1p63 ? UINT64_MAX : (uint64_t)ns;
}
