/* fake.c - a library that has the functions of Gloo and PyTorch which the probe wraps, and does nothing; and,
 * compiled with -DPROGRAM, a program that calls them as PyTorch does:
 *     fake.program good       makes a group with a context; 20 all-reduces, the one numbered 7 ends after number 8; a message to itself that is awaited
 *     fake.program later      the same, with a context as Gloo has it from 2025 on
 *     fake.program odd        the sizes in the options of an all-reduce contradict each other
 *     fake.program foreign    a collective on a context of nobody's
 *     fake.program unreached  the group's context is not seen being made
 *     fake.program cost       prints the nanoseconds that posting, running and awaiting an all-reduce that does nothing takes
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gloo/layout.h"

union context {
    struct gloo_context old;
    struct gloo_context_shared later;
};

#define GROUP \
    _ZN4c10d16ProcessGroupGlooC1ERKN3c1013intrusive_ptrINS_5StoreENS1_6detail34intrusive_target_default_null_typeIS3_EEEEiiNS2_INS0_7OptionsENS5_ISA_EEEE
#define STORE \
    _ZN4c10d11PrefixStoreC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEN3c1013intrusive_ptrINS_5StoreENS9_6detail34intrusive_target_default_null_typeISB_EEEE
#define TAG    _ZN4c10d16ProcessGroupGloo7nextTagEv
#define REDUCE _ZN4gloo9allreduceERKNS_16AllreduceOptionsE
#define MAKE   _ZN4gloo10rendezvous7ContextC1Eiii
#define SEND   _ZN4gloo9transport3tcp13UnboundBuffer4sendEimmm
#define SENT   _ZN4gloo9transport3tcp13UnboundBuffer8waitSendEPiNSt6chrono8durationIlSt5ratioILl1ELl1000EEEE
#define WAIT   _ZN4c10d4Work4waitENSt6chrono8durationIlSt5ratioILl1ELl1000EEEE

struct group {
    uint32_t next;
    union context *context;
    bool unreached, later;
};
struct turn {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool go;
};

void MAKE(union context *c, int32_t rank, int32_t size, int32_t base);
void GROUP(struct group *g, const struct gloo_shared *store, int32_t rank, int32_t size, void *options);
void STORE(void *store, const struct gloo_string *prefix, const struct gloo_shared *parent);
uint32_t TAG(struct group *g);
void REDUCE(const struct gloo_allreduce *o);
void SEND(const struct gloo_buffer *b, int32_t peer, uint64_t slot, size_t offset, size_t bytes);
bool SENT(const struct gloo_buffer *b, int32_t *peer, int64_t timeout_ms);
bool WAIT(struct turn *t, int64_t timeout_ms);

#ifndef PROGRAM

static struct gloo_transport transport;

void MAKE(union context *c, int32_t rank, int32_t size, int32_t base)
{
    c->old = (struct gloo_context){ .rank = rank, .size = size, .base = base };
}

void GROUP(struct group *g, const struct gloo_shared *store, int32_t rank, int32_t size, void *options)
{
    (void)store;
    (void)options;
    g->next = 0;
    if (!g->unreached)
        MAKE(g->context, rank, size, 2);
    transport = (struct gloo_transport){ .rank = rank, .size = size };
    *(g->later ? &g->context->later.transport.at : &g->context->old.transport.at) = &transport;
}

void STORE(void *store, const struct gloo_string *prefix, const struct gloo_shared *parent)
{
    (void)store;
    (void)prefix;
    (void)parent;
}

uint32_t TAG(struct group *g)
{
    return g->next++;
}

/* Waits for its turn, where it has one: Gloo's reduction function is what the fake takes for it. */
void REDUCE(const struct gloo_allreduce *o)
{
    struct turn *t = (struct turn *)(uintptr_t)o->reduce.at[0];

    if (t)
        WAIT(t, 0);
}

void SEND(const struct gloo_buffer *b, int32_t peer, uint64_t slot, size_t offset, size_t bytes)
{
    (void)b;
    (void)peer;
    (void)slot;
    (void)offset;
    (void)bytes;
}

bool SENT(const struct gloo_buffer *b, int32_t *peer, int64_t timeout_ms)
{
    (void)b;
    (void)timeout_ms;
    *peer = 0;
    return true;
}

bool WAIT(struct turn *t, int64_t timeout_ms)
{
    (void)timeout_ms;
    pthread_mutex_lock(&t->lock);
    while (!t->go)
        pthread_cond_wait(&t->changed, &t->lock);
    pthread_mutex_unlock(&t->lock);
    return true;
}

#else

static struct turn turn = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false },
                   open_turn = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, true };
static union context context, foreign, *context_used = &context;
static struct group group = { .context = &context };

static void reduce(uint32_t tag, size_t elements, struct turn *t)
{
    struct gloo_buffer buffer = { .bytes = 400 };
    void *buffers[] = { &buffer };
    struct gloo_allreduce o = {
        .context = { group.later ? (char *)context_used + GLOO_CONTEXT_BASE : (char *)context_used, NULL },
        .out = { buffers, buffers + 1, buffers + 1 },
        .elements = elements,
        .element_bytes = 4,
        .reduce = { { t } },
        .tag = tag
    };

    REDUCE(&o);
}

static void *late(void *tag)
{
    reduce((uint32_t)(uintptr_t)tag, 100, &turn);
    return NULL;
}

static void go(void)
{
    pthread_mutex_lock(&turn.lock);
    turn.go = true;
    pthread_cond_signal(&turn.changed);
    pthread_mutex_unlock(&turn.lock);
}

static void *sleep_on(void *none)
{
    pause();
    return none;
}

/* The least of some rounds.  All events find room in the ring, and there is another thread: locks are cheaper
 * where there is none. */
static void cost(void)
{
    double least = 1e9;
    pthread_t other;

    pthread_create(&other, NULL, sleep_on, NULL);
    for (int round = 0; round < 16; round++) {
        struct timespec a, b;
        double ns;

        clock_gettime(CLOCK_MONOTONIC, &a);
        for (int i = 0; i < 1000; i++) {
            reduce(TAG(&group), 100, NULL);
            WAIT(&open_turn, 0);
        }
        clock_gettime(CLOCK_MONOTONIC, &b);
        ns = ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / 1000;
        least = ns < least ? ns : least;
    }
    printf("%.0f\n", least);
}

int main(int argc, char **argv)
{
    static const struct gloo_string prefix = { "fake", 4 };
    static const struct gloo_shared none;
    static int store, options;
    struct gloo_shared at = { &store, NULL };
    const char *mode = argc > 1 ? argv[1] : "good";
    pthread_t thread;

    STORE(&store, &prefix, &none);
    group.unreached = !strcmp(mode, "unreached");
    group.later = !strcmp(mode, "later");
    GROUP(&group, &at, 0, 2, &options);
    if (!strcmp(mode, "cost")) {
        cost();
        return 0;
    }
    if (!strcmp(mode, "foreign")) {
        context_used = &foreign;
        reduce(0, 100, NULL);
        return 0;
    }
    for (int i = 0; i < 20; i++) {
        uint32_t tag = TAG(&group);

        if (tag == 7)
            pthread_create(&thread, NULL, late, (void *)(uintptr_t)tag);
        else
            reduce(tag, strcmp(mode, "odd") ? 100 : 99, NULL);
        if (tag != 8)
            continue;
        go();
        pthread_join(thread, NULL);
        WAIT(&open_turn, 0);
    }
    if (!strcmp(mode, "good") || group.later) {
        struct gloo_buffer buffer = { .bytes = 64,
                                      .transport =
                                          group.later ? context.later.transport : context.old.transport };
        int32_t peer = -1;

        SEND(&buffer, 1, 3, 0, SIZE_MAX);
        printf("%d\n", SENT(&buffer, &peer, 0));
    }
    return 0;
}

#endif
