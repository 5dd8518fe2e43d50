/* trainer - data-parallel training of a small language model on MPI: the job that the guard is tried on.
 *
 * Each step: a batch a rank, forward, backward with the gradient all-reduced in buckets, one 8-byte
 * all-reduce of the loss, update (stochastic gradient descent with momentum).  Rank 0 reports.  Nothing in it
 * knows that it may be guarded. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/hash.h"
#include "common/xalloc.h"
#include "tests/workloads/shared/arguments.h"
#include "tests/workloads/shared/device.h"
#include "tests/workloads/shared/feed.h"
#include "tests/workloads/shared/model.h"
#include "tests/workloads/shared/random.h"
#include "tests/workloads/shared/reduce.h"
#include "tests/workloads/shared/step_times.h"
#include "tests/workloads/shared/text.h"
#include "tests/workloads/shared/world.h"
#include "tests/workloads/trainer/checkpoint.h"
#include "tests/workloads/trainer/options.h"

struct trainer {
    struct options options;
    struct world world;
    struct text text;
    struct model *model;
    struct feed *feed;
    struct reduce *reduce;
    struct checkpoint state; /* parameters and velocity are the model's */
    double loss;             /* mean over all ranks, of the last step */
    double started_s, reported_s;
    int64_t reported_step;
    struct step_times step_times;
    FILE *log;
};

static struct checkpoint_run run_of(const struct trainer *t)
{
    const struct options *o = &t->options;

    return (struct checkpoint_run){
        .text = t->text.hash,
        .seed = o->seed,
        .ranks = t->world.ranks,
        .batch = o->batch,
        .context = o->context,
        .embed = o->embed,
        .hidden = o->hidden,
        .inner = o->inner,
        .buckets = o->buckets,
        .overlap = o->overlap,
        .rate = o->rate,
        .momentum = o->momentum,
    };
}

/* Rank 0 reads and sends to the others: the file need not be visible on every node. */
static int restart(struct trainer *t)
{
    const struct options *o = &t->options;
    struct checkpoint *c = &t->state;
    struct err err;
    int rc = 0;

    if (o->restart == RESTART_NO)
        return 0;
    if (t->world.rank == 0 && (o->restart == RESTART_YES || access(o->checkpoint, F_OK) == 0))
        rc = checkpoint_read(o->checkpoint, c, &err);
    if (world_agree(&t->world, rc, &err) < 0)
        return -1;
    MPI_Bcast(&c->step, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    MPI_Bcast(c->parameters, (int)c->count, MPI_FLOAT, 0, MPI_COMM_WORLD);
    MPI_Bcast(c->velocity, (int)c->count, MPI_FLOAT, 0, MPI_COMM_WORLD);
    if (t->world.rank == 0 && c->step)
        printf("restart: from step %" PRId64 "\n", c->step);
    return 0;
}

static int open_log(struct trainer *t, struct err *err)
{
    if (t->world.rank != 0 || !t->options.log)
        return 0;
    t->log = fopen(t->options.log, "w");
    if (!t->log)
        return err_set(err, "%s: %s", t->options.log, strerror(errno));
    fputs("step\tstep_s\tcollectives_s\tloss\n", t->log);
    return 0;
}

static int make_feed(struct trainer *t, struct err *err)
{
    const struct options *o = &t->options;

    t->feed = feed_new(&(struct feed_plan){ .text = &t->text,
                                            .context = o->context,
                                            .batch = o->batch,
                                            .rank = t->world.rank,
                                            .ranks = t->world.ranks,
                                            .seed = o->seed,
                                            .ahead = o->loader },
                       t->state.step, err);
    return t->feed ? 0 : -1;
}

static void make_model(struct trainer *t)
{
    const struct options *o = &t->options;
    struct model_shape shape = { t->text.symbols, o->context, o->embed, o->hidden, o->layers };

    t->model = model_new(&shape, model_whole(&shape), o->batch, 1, o->seed);
    t->state.count = model_count(t->model);
    t->state.parameters = model_parameters(t->model);
    t->state.velocity = model_velocity(t->model);
    t->state.run = run_of(t);
    t->reduce =
        reduce_new(&(struct reduce_plan){ &t->world, MPI_COMM_WORLD, o->buckets, o->inner, o->overlap },
                   model_gradient(t->model), t->state.count);
}

static int set_up(struct trainer *t)
{
    struct options *o = &t->options;
    struct err err;

    if (world_agree(&t->world, options_fit(o, t->world.ranks, &err), &err) < 0 ||
        world_agree(&t->world, text_load(&t->text, &o->text, &err), &err) < 0 ||
        world_same(&t->world, MPI_COMM_WORLD, t->text.hash, "text") < 0)
        return -1;
    make_model(t);
    if (restart(t) < 0 || world_agree(&t->world, open_log(t, &err), &err) < 0 ||
        world_agree(&t->world, make_feed(t, &err), &err) < 0)
        return -1;
    if (t->world.rank == 0)
        printf("trainer: %d ranks, %zu parameters in %d buckets, %zu bytes of text, %d symbols\n",
               t->world.ranks, t->state.count, o->buckets, t->text.length, t->text.symbols);
    return 0;
}

/* Rank 0 checks whether it is over; an infinite loss in the sum tells the others.  Returns whether the run
 * goes on. */
static bool mean_loss(struct trainer *t, double own)
{
    bool late = world_over(&t->world, t->started_s, t->options.seconds, t->options.while_file);
    double sum = late ? -INFINITY : own;
    bool stop;

    reduce_sum(t->reduce, &sum, 1);
    stop = isinf(sum) && sum < 0;
    if (stop) {
        sum = own;
        reduce_sum(t->reduce, &sum, 1);
    }
    t->loss = sum / t->world.ranks;
    return !stop;
}

static bool train_step(struct trainer *t)
{
    const struct batch *b = feed_next(t->feed);
    double begun_s = clock_s(), own = 0;

    model_forward(t->model, 0, b, &own);
    device_wait(&(struct device){ t->options.device, t->options.device_clock }, begun_s);
    model_clear_gradient(t->model);
    model_backward(t->model, 0, b, 1.0f / (float)t->world.ranks / (float)b->n, reduce_ready, t->reduce);
    reduce_finish(t->reduce);
    model_update(t->model, (float)t->options.rate, (float)t->options.momentum);
    t->state.step++;
    return mean_loss(t, own / b->n);
}

static void evaluate(struct trainer *t)
{
    const struct batch *b = feed_held_out(t->feed);
    double sum[2] = { 0, b->n };

    model_forward(t->model, 0, b, &sum[0]);
    reduce_sum(t->reduce, sum, 2);
    if (t->world.rank == 0)
        printf("eval: step %" PRId64 " loss %.4f\n", t->state.step, sum[0] / sum[1]);
}

static int save(struct trainer *t)
{
    struct err err;
    int rc = 0;

    if (t->world.rank == 0)
        rc = checkpoint_write(t->options.checkpoint, &t->state, &err);
    return world_agree(&t->world, rc, &err);
}

static void report(struct trainer *t, double now_s)
{
    double steps_per_s = (double)(t->state.step - t->reported_step) / (now_s - t->reported_s);

    printf("step %6" PRId64 "  loss %.4f  %.2f steps/s  %.0f samples/s\n", t->state.step, t->loss,
           steps_per_s, steps_per_s * t->options.batch * t->world.ranks);
    fflush(stdout);
    t->reported_s = now_s;
    t->reported_step = t->state.step;
}

static bool due(int64_t every, int64_t step)
{
    return every && step % every == 0;
}

static int train(struct trainer *t)
{
    const struct options *o = &t->options;
    bool going = true;

    t->started_s = t->reported_s = clock_s();
    t->reported_step = t->state.step;
    while (going && (!o->steps || t->state.step < o->steps)) {
        double t0 = clock_s(), step_s, inside_s;

        going = train_step(t);
        step_s = clock_s() - t0;
        inside_s = reduce_spent_s(t->reduce);
        step_times_add(&t->step_times, step_s, 0, inside_s);
        if (t->log)
            fprintf(t->log, "%" PRId64 "\t%.6f\t%.6f\t%.6f\n", t->state.step, step_s, inside_s, t->loss);
        if (!isfinite(t->loss)) {
            if (t->world.rank == 0)
                fprintf(stderr, "trainer: the loss diverged at step %" PRId64 ": lower --rate\n",
                        t->state.step);
            return -1;
        }
        if (t->world.rank == 0 && t0 + step_s - t->reported_s >= 1)
            report(t, t0 + step_s);
        if (due(o->eval_every, t->state.step))
            evaluate(t);
        if (due(o->checkpoint_every, t->state.step) && save(t) < 0)
            return -1;
    }
    return 0;
}

static void print_sample(struct trainer *t)
{
    int context = t->options.context;
    unsigned char *last = xcalloc((size_t)context, 1);

    for (int i = 0; i < context; i++)
        last[i] = t->text.id[t->text.byte[i]];
    puts("sample:");
    for (int i = 0; i < t->options.sample; i++) {
        int s = model_next(t->model, last, 0.7, random_unit(t->options.seed, 5, (uint64_t)i));

        memmove(last, last + 1, (size_t)context - 1);
        last[context - 1] = (unsigned char)s;
        putchar(t->text.letter[s]);
    }
    puts("\nend of sample");
    free(last);
}

static int finish(struct trainer *t)
{
    uint64_t hash = hash_bytes(HASH_START, t->state.parameters, t->state.count * sizeof(float));

    if (world_same(&t->world, MPI_COMM_WORLD, hash, "parameters") < 0)
        return -1;
    step_times_print(&t->step_times, &t->world);
    if (t->world.rank == 0) {
        if (t->options.sample)
            print_sample(t);
        printf("result: step %" PRId64 " loss %.17g hash %016" PRIx64 "\n", t->state.step, t->loss, hash);
        fflush(stdout);
    }
    return 0;
}

static void tear_down(struct trainer *t)
{
    if (t->log)
        fclose(t->log);
    step_times_free(&t->step_times);
    feed_free(t->feed);
    reduce_free(t->reduce);
    model_free(t->model);
    text_free(&t->text);
    free(t->options.text.path);
}

int main(int argc, char **argv)
{
    struct trainer t = { 0 };
    int rc = arguments_start(&options_arguments, &t.options, argc, argv);

    if (rc != ARGUMENTS_GO_ON)
        return rc;
    t.world =
        world_start("trainer", t.options.gentle, t.options.loader ? MPI_THREAD_FUNNELED : MPI_THREAD_SINGLE);
    rc = set_up(&t) < 0 || train(&t) < 0 || finish(&t) < 0;
    tear_down(&t);
    MPI_Finalize();
    return rc;
}
