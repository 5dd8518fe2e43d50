/* trainer - data-parallel training of a small language model on MPI: the job that the guard is tried on.
 *
 * Each step: a batch a rank, forward, backward with the gradient all-reduced in buckets, one 8-byte
 * all-reduce of the loss, update (stochastic gradient descent with momentum).  Rank 0 reports.  Nothing in it
 * knows that it may be guarded. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/hash.h"
#include "common/xalloc.h"
#include "tests/workloads/trainer/checkpoint.h"
#include "tests/workloads/trainer/device.h"
#include "tests/workloads/trainer/feed.h"
#include "tests/workloads/trainer/model.h"
#include "tests/workloads/trainer/options.h"
#include "tests/workloads/trainer/step_times.h"
#include "tests/workloads/trainer/reduce.h"
#include "tests/workloads/trainer/text.h"

struct trainer {
    struct options options;
    int rank, ranks;
    struct text text;
    struct model *model;
    struct feed *feed;
    struct reduce *reduce;
    struct checkpoint state; /* parameters are the model's */
    double loss;             /* mean over all ranks, of the last step */
    double started_s, reported_s;
    int64_t reported_step;
    struct step_times step_times;
    FILE *log;
};

/* Before MPI_Init: what the launcher tells; one of many ranks is to speak. */
static bool speaks_first(void)
{
    static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID" };

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (getenv(names[i]))
            return atoi(getenv(names[i])) == 0;
    return true;
}

/* All ranks go on, or none: the lowest one that failed says why.  -1 on all of them. */
static int agree(const struct trainer *t, int rc, const struct err *err)
{
    int first = rc < 0 ? t->rank : t->ranks;

    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == t->rank)
        fprintf(stderr, "trainer: rank %d: %s\n", t->rank, err->text);
    return first < t->ranks ? -1 : 0;
}

static int same_everywhere(const struct trainer *t, uint64_t value, const char *what)
{
    uint64_t least[2] = { value, ~value };
    struct err err;
    int rc = 0;

    MPI_Allreduce(MPI_IN_PLACE, least, 2, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    if (least[0] != ~least[1])
        rc = err_set(&err, "the ranks do not have the same %s", what);
    return agree(t, rc, &err);
}

static struct checkpoint_run run_of(const struct trainer *t)
{
    const struct options *o = &t->options;

    return (struct checkpoint_run){
        .text = t->text.hash,
        .seed = o->seed,
        .ranks = t->ranks,
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

/* Rank 0 reads and tells the others: the file need not be visible on every node. */
static int restart(struct trainer *t)
{
    const struct options *o = &t->options;
    struct checkpoint *c = &t->state;
    struct err err;
    int rc = 0;

    if (o->restart == RESTART_NO)
        return 0;
    if (t->rank == 0 && (o->restart == RESTART_YES || access(o->checkpoint, F_OK) == 0))
        rc = checkpoint_read(o->checkpoint, c, &err);
    if (agree(t, rc, &err) < 0)
        return -1;
    MPI_Bcast(&c->step, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    MPI_Bcast(c->parameters, (int)c->count, MPI_FLOAT, 0, MPI_COMM_WORLD);
    MPI_Bcast(c->velocity, (int)c->count, MPI_FLOAT, 0, MPI_COMM_WORLD);
    if (t->rank == 0 && c->step)
        printf("restart: from step %" PRId64 "\n", c->step);
    return 0;
}

static int open_log(struct trainer *t, struct err *err)
{
    if (t->rank != 0 || !t->options.log)
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
                                            .rank = t->rank,
                                            .ranks = t->ranks,
                                            .seed = o->seed,
                                            .ahead = o->loader },
                       t->state.step, err);
    return t->feed ? 0 : -1;
}

static void make_model(struct trainer *t)
{
    const struct options *o = &t->options;
    struct model_shape shape = { t->text.symbols, o->context, o->embed, o->hidden };

    t->model = model_new(&shape, o->batch, o->seed);
    t->state.count = model_count(t->model);
    t->state.parameters = model_parameters(t->model);
    t->state.velocity = xcalloc(t->state.count, sizeof(float));
    t->state.run = run_of(t);
    t->reduce = reduce_new(&(struct reduce_plan){ o->buckets, o->inner, o->overlap, o->gentle },
                           model_gradient(t->model), t->state.count);
}

static int set_up(struct trainer *t)
{
    struct options *o = &t->options;
    struct err err;

    if (agree(t, options_fit(o, t->ranks, &err), &err) < 0 ||
        agree(t, text_load(&t->text, o->text, o->texts, &err), &err) < 0 ||
        same_everywhere(t, t->text.hash, "text") < 0)
        return -1;
    make_model(t);
    if (restart(t) < 0 || agree(t, open_log(t, &err), &err) < 0 || agree(t, make_feed(t, &err), &err) < 0)
        return -1;
    if (t->rank == 0)
        printf("trainer: %d ranks, %zu parameters in %d buckets, %zu bytes of text, %d symbols\n", t->ranks,
               t->state.count, o->buckets, t->text.length, t->text.symbols);
    return 0;
}

static void update(struct trainer *t)
{
    const struct options *o = &t->options;
    const float *g = model_gradient(t->model);
    float *restrict p = t->state.parameters, *restrict v = t->state.velocity;
    float keep = (float)o->momentum, rate = (float)o->rate;

    for (size_t i = 0; i < t->state.count; i++) {
        v[i] = keep * v[i] + g[i];
        p[i] -= rate * v[i];
    }
}

/* Rank 0 watches the clock; its word travels in the sum that is made anyway (an infinite loss). */
static bool mean_loss(struct trainer *t, double own)
{
    bool late = t->rank == 0 && t->options.seconds > 0 && clock_s() - t->started_s >= t->options.seconds;
    double sum = late ? -INFINITY : own;
    bool stop;

    reduce_sum(t->reduce, &sum, 1);
    stop = isinf(sum) && sum < 0;
    if (stop) {
        sum = own;
        reduce_sum(t->reduce, &sum, 1);
    }
    t->loss = sum / t->ranks;
    return !stop;
}

static bool train_step(struct trainer *t)
{
    const struct batch *b = feed_next(t->feed);
    double begun_s = clock_s(), own = model_forward(t->model, b);

    device_wait(&(struct device){ t->options.device, t->options.device_clock }, begun_s);
    model_backward(t->model, b, 1.0f / (float)t->ranks, reduce_ready, t->reduce);
    reduce_finish(t->reduce);
    update(t);
    t->state.step++;
    return mean_loss(t, own);
}

static void evaluate(struct trainer *t)
{
    double sum[2] = { model_forward(t->model, feed_held_out(t->feed)), 1 };

    reduce_sum(t->reduce, sum, 2);
    if (t->rank == 0)
        printf("eval: step %" PRId64 " loss %.4f\n", t->state.step, sum[0] / sum[1]);
}

static int save(struct trainer *t)
{
    struct err err;
    int rc = 0;

    if (t->rank == 0)
        rc = checkpoint_write(t->options.checkpoint, &t->state, &err);
    return agree(t, rc, &err);
}

static void report(struct trainer *t, double now_s)
{
    double steps_per_s = (double)(t->state.step - t->reported_step) / (now_s - t->reported_s);

    printf("step %6" PRId64 "  loss %.4f  %.2f steps/s  %.0f samples/s\n", t->state.step, t->loss,
           steps_per_s, steps_per_s * t->options.batch * t->ranks);
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
        step_times_add(&t->step_times, step_s, inside_s);
        if (t->log)
            fprintf(t->log, "%" PRId64 "\t%.6f\t%.6f\t%.6f\n", t->state.step, step_s, inside_s, t->loss);
        if (!isfinite(t->loss)) {
            if (t->rank == 0)
                fprintf(stderr, "trainer: the loss diverged at step %" PRId64 ": lower --rate\n",
                        t->state.step);
            return -1;
        }
        if (t->rank == 0 && t0 + step_s - t->reported_s >= 1)
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

/* What each rank computed in a step differs from what it waited: the slowest rank shows in both. */
static void print_timing(struct trainer *t)
{
    struct step_times_summary s = step_times_sum(&t->step_times);
    double compute[2] = { s.mean_s - s.inside_s, s.inside_s - s.mean_s };

    MPI_Allreduce(MPI_IN_PLACE, compute, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (t->rank == 0 && t->step_times.n)
        printf("timing: steps %zu mean_s %.6f p50_s %.6f p95_s %.6f cv %.4f collectives_s %.6f compute_min_s "
               "%.6f compute_max_s %.6f\n",
               t->step_times.n, s.mean_s, s.p50_s, s.p95_s, s.cv, s.inside_s, -compute[1], compute[0]);
}

static int finish(struct trainer *t)
{
    uint64_t hash = hash_bytes(HASH_START, t->state.parameters, t->state.count * sizeof(float));

    if (same_everywhere(t, hash, "parameters") < 0)
        return -1;
    print_timing(t);
    if (t->rank == 0) {
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
    free(t->state.velocity);
    text_free(&t->text);
    free(t->options.text);
}

int main(int argc, char **argv)
{
    struct trainer t = { 0 };
    struct err err;
    int threads, rc;

    if (options_parse(&t.options, argc, argv, &err) < 0) {
        if (speaks_first())
            fprintf(stderr, "trainer: %s\n", err.text);
        return 2;
    }
    if (t.options.help) {
        if (speaks_first())
            options_help(stdout, "trainer");
        return 0;
    }
    MPI_Init_thread(&argc, &argv, t.options.loader ? MPI_THREAD_FUNNELED : MPI_THREAD_SINGLE, &threads);
    MPI_Comm_rank(MPI_COMM_WORLD, &t.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &t.ranks);
    rc = set_up(&t) < 0 || train(&t) < 0 || finish(&t) < 0;
    tear_down(&t);
    MPI_Finalize();
    return rc;
}
