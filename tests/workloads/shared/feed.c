#include "tests/workloads/shared/feed.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "tests/workloads/shared/random.h"

enum { ORDER_STREAM = 16 }; /* of random_bits; one stream an epoch from here on */

struct feed {
    struct feed_plan plan;
    uint64_t windows; /* training windows in the text */
    int64_t steps_an_epoch;
    int64_t next_step; /* to be made */
    struct batch held_out;
    struct batch *slot; /* a ring of slots batches, the oldest at taken % slots */
    int slots;
    int64_t made, taken; /* batches; the one lent out is number taken - 1 */
    pthread_t thread;
    bool threaded, stop;
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

static struct batch batch_new(int n, int context)
{
    return (struct batch){ n, context, xcalloc((size_t)n, (size_t)context), xcalloc((size_t)n, 1) };
}

static void batch_clear(struct batch *b)
{
    free(b->input);
    free(b->target);
}

/* One place of a permutation of 0..n-1: a Feistel network on the next even power of two, walked until it
 * lands inside (Black & Rogaway 2002).  No table to keep, and any place can be asked for. */
static uint64_t shuffled(uint64_t seed, uint64_t stream, uint64_t place, uint64_t n)
{
    unsigned half = 1;
    uint64_t mask;

    while ((1ull << (2 * half)) < n)
        half++;
    mask = (1ull << half) - 1;
    do {
        uint64_t left = place >> half, right = place & mask;

        for (uint64_t round = 0; round < 4; round++) {
            uint64_t swap = left ^ (random_bits(seed, stream * 4 + round, right) & mask);

            left = right;
            right = swap;
        }
        place = left << half | right;
    } while (place >= n);
    return place;
}

static void cut_window(const struct text *t, struct batch *b, int row, size_t at)
{
    for (int c = 0; c < b->context; c++)
        b->input[row * b->context + c] = t->id[t->byte[at + (size_t)c]];
    b->target[row] = t->id[t->byte[at + (size_t)b->context]];
}

static void make(const struct feed *f, int64_t step, struct batch *b)
{
    const struct feed_plan *p = &f->plan;
    uint64_t epoch = (uint64_t)(step / f->steps_an_epoch);
    uint64_t place = (uint64_t)(step % f->steps_an_epoch * p->ranks + p->rank) * (uint64_t)p->batch;

    for (int i = 0; i < b->n; i++)
        cut_window(p->text, b, i, shuffled(p->seed, ORDER_STREAM + epoch, place + (uint64_t)i, f->windows));
}

static void *load(void *arg)
{
    struct feed *f = arg;

    pthread_mutex_lock(&f->lock);
    while (!f->stop) {
        if (f->made - f->taken >= f->slots - 1) { /* the lent one is not to be overwritten */
            pthread_cond_wait(&f->changed, &f->lock);
            continue;
        }
        pthread_mutex_unlock(&f->lock);
        make(f, f->next_step++, &f->slot[f->made % f->slots]);
        pthread_mutex_lock(&f->lock);
        f->made++;
        pthread_cond_broadcast(&f->changed);
    }
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

/* Evenly spread over the held-out text, each rank from its own place. */
static void cut_held_out(struct feed *f)
{
    const struct feed_plan *p = &f->plan;
    const struct text *t = p->text;
    size_t room = t->length - t->train - (size_t)p->context;
    uint64_t rows = (uint64_t)p->batch * (uint64_t)p->ranks;

    f->held_out = batch_new(p->batch, p->context);
    for (int i = 0; i < p->batch; i++)
        cut_window(t, &f->held_out, i,
                   t->train + ((uint64_t)i * (uint64_t)p->ranks + (uint64_t)p->rank) * room / rows);
}

struct feed *feed_new(const struct feed_plan *plan, int64_t first_step, struct err *err)
{
    uint64_t a_step = (uint64_t)plan->batch * (uint64_t)plan->ranks, context = (uint64_t)plan->context;
    struct feed *f;

    if (plan->text->train < context + a_step || plan->text->length - plan->text->train <= context) {
        err_set(err, "the text is too short: %zu bytes to learn from, one step takes %llu windows of %d",
                plan->text->train, (unsigned long long)a_step, plan->context + 1);
        return NULL;
    }
    f = xcalloc(1, sizeof(*f));
    f->plan = *plan;
    f->windows = plan->text->train - context;
    f->steps_an_epoch = (int64_t)(f->windows / a_step);
    f->next_step = first_step;
    f->slots = plan->ahead ? plan->ahead + 1 : 1;
    f->slot = xcalloc((size_t)f->slots, sizeof(*f->slot));
    for (int i = 0; i < f->slots; i++)
        f->slot[i] = batch_new(plan->batch, plan->context);
    cut_held_out(f);
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->changed, NULL);
    f->threaded = plan->ahead && pthread_create(&f->thread, NULL, load, f) == 0;
    if (plan->ahead && !f->threaded) {
        err_set(err, "no thread for the loader");
        feed_free(f);
        return NULL;
    }
    return f;
}

void feed_free(struct feed *f)
{
    if (!f)
        return;
    if (f->threaded) {
        pthread_mutex_lock(&f->lock);
        f->stop = true;
        pthread_cond_broadcast(&f->changed);
        pthread_mutex_unlock(&f->lock);
        pthread_join(f->thread, NULL);
    }
    for (int i = 0; i < f->slots; i++)
        batch_clear(&f->slot[i]);
    batch_clear(&f->held_out);
    pthread_mutex_destroy(&f->lock);
    pthread_cond_destroy(&f->changed);
    free(f->slot);
    free(f);
}

const struct batch *feed_next(struct feed *f)
{
    const struct batch *b;

    if (!f->threaded) {
        make(f, f->next_step++, &f->slot[0]);
        return &f->slot[0];
    }
    pthread_mutex_lock(&f->lock);
    while (f->made == f->taken)
        pthread_cond_wait(&f->changed, &f->lock);
    b = &f->slot[f->taken++ % f->slots];
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
    return b;
}

const struct batch *feed_held_out(const struct feed *f)
{
    return &f->held_out;
}
