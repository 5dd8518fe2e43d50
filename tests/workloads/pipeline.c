/* pipeline - pipeline-parallel training of the trainer's language model: each rank has some of its layers.
 *
 * The ranks are replicas of a pipeline of stages; rank r is stage r % stages of replica r / stages.  Each
 * step cuts a replica's batch into microbatches, which follow each other through the stages: activations up,
 * gradients down, each stage alternating between one forward and one backward pass as soon as it is filled
 * (1F1B; Narayanan et al., PipeDream, 2019).  Then the replicas of each stage sum their gradients.  Nothing
 * in it knows that it may be guarded. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/hash.h"
#include "common/xalloc.h"
#include "tests/workloads/shared/arguments.h"
#include "tests/workloads/shared/device.h"
#include "tests/workloads/shared/feed.h"
#include "tests/workloads/shared/model.h"
#include "tests/workloads/shared/reduce.h"
#include "tests/workloads/shared/step_times.h"
#include "tests/workloads/shared/text.h"
#include "tests/workloads/shared/world.h"

enum { ACTIVATION = 1, GRADIENT, HASH }; /* tags */

struct options {
    struct paths text;
    int64_t steps;
    double seconds;
    const char *while_file;
    int stages, layers, uneven;
    int microbatches, batch, context, embed, hidden;
    double rate, momentum;
    uint64_t seed;
    int buckets, loss_every;
    bool gentle;
    double device;
    const char *device_clock;
};

#define AT(field) .offset = offsetof(struct options, field)

static const struct argument rows[] = {
    { "text", "FILE", "learn FILE or every file of a folder; more may follow (default the licence texts)",
      ARGUMENT_PATHS, AT(text), 0, 0 },
    { "stages", "N", "of a pipeline; the number of ranks is a multiple", ARGUMENT_INT, AT(stages), 1, 48 },
    { "layers", "N", "hidden layers of a stage", ARGUMENT_INT, AT(layers), 1, MODEL_LAYERS_MAX },
    { "uneven", "K", "stage K, from 0, has twice as many (default none)", ARGUMENT_INT, AT(uneven), 0, 47 },
    { "microbatches", "N", "pieces of a batch", ARGUMENT_INT, AT(microbatches), 1, 4096 },
    { "steps", "N", "stop after N steps (default 200, without limit if --seconds or --while is given)",
      ARGUMENT_WIDE, AT(steps), 0, 1e15 },
    { "seconds", "S", "stop at the first sum of the loss after S seconds", ARGUMENT_REAL, AT(seconds), 0,
      1e9 },
    { "while", "FILE", "stop at the first sum of the loss once FILE is gone", ARGUMENT_PATH, AT(while_file),
      0, 0 },
    { "seed", "N", "of the parameters and of the order of the text", ARGUMENT_WIDE, AT(seed), 0, 9e15 },
    { "batch", "N", "windows a replica and step", ARGUMENT_INT, AT(batch), 1, 1 << 16 },
    { "context", "N", "characters that the model sees", ARGUMENT_INT, AT(context), 1, 256 },
    { "embed", "N", "numbers that stand for a character", ARGUMENT_INT, AT(embed), 1, 256 },
    { "hidden", "N", "units of a hidden layer", ARGUMENT_INT, AT(hidden), 1, 8192 },
    { "rate", "R", "learning rate", ARGUMENT_REAL, AT(rate), 0, 100 },
    { "momentum", "M", "share of the last update that goes on", ARGUMENT_REAL, AT(momentum), 0, 0.999 },
    { "buckets", "N", "pieces of a stage's gradient, each its own all-reduce", ARGUMENT_INT, AT(buckets), 1,
      256 },
    { "loss-every", "N", "sum the loss over all ranks every N steps, and after the last", ARGUMENT_INT,
      AT(loss_every), 1, 1000000 },
    { "gentle", NULL, "sleep between looks while waiting for other ranks", ARGUMENT_FLAG, AT(gentle), 0, 1 },
    { "device", "S",
      "let an accelerator that is not there compute for S seconds a step in a stage of --layers",
      ARGUMENT_REAL, AT(device), 0, 3600 },
    { "device-clock", "DIR", "its clock is in DIR/HOST, 1 without that file; read at every pass",
      ARGUMENT_PATH, AT(device_clock), 0, 0 },
    { 0 },
};

static const struct options defaults = {
    .stages = 2,
    .layers = 1,
    .uneven = -1,
    .microbatches = 8,
    .batch = 512,
    .context = 12,
    .embed = 24,
    .hidden = 256,
    .rate = 0.1,
    .momentum = 0.9,
    .seed = 1,
    .buckets = 4,
    .loss_every = 1,
};

static int layers_of(const struct options *o, int stage)
{
    return stage == o->uneven ? 2 * o->layers : o->layers;
}

static int layers_below(const struct options *o, int stage)
{
    return stage * o->layers + (o->uneven >= 0 && o->uneven < stage ? o->layers : 0);
}

static int check(void *options, struct err *err)
{
    struct options *o = options;

    if (o->uneven >= o->stages)
        return err_set(err, "--uneven %d: expected a stage between 0 and %d", o->uneven, o->stages - 1);
    if (layers_below(o, o->stages) > MODEL_LAYERS_MAX)
        return err_set(err, "--layers %d: %d layers in all, at most %d are possible", o->layers,
                       layers_below(o, o->stages), MODEL_LAYERS_MAX);
    if (o->batch % o->microbatches)
        return err_set(err, "--batch %d: cannot be cut into %d microbatches of equal size", o->batch,
                       o->microbatches);
    if (!o->steps && o->seconds <= 0 && !o->while_file)
        o->steps = 200;
    return 0;
}

static const struct arguments arguments = {
    .program = "pipeline",
    .usage = "[OPTION]... [--text FILE...]",
    .text =
        "Train a small character-level language model: replicas of a pipeline of stages, each with some layers.\n"
        "The result is the same bit by bit for the same text, options, number of ranks and MPI library.  It is\n"
        "that of trainer with as many ranks as replicas and as many layers as all stages have, with the same\n"
        "batch, rate and buckets, where a microbatch has a multiple of four windows and sums of more than two\n"
        "replicas are made in the same order.",
    .row = rows,
    .defaults = &defaults,
    .size = sizeof(defaults),
    .check = check,
};

struct pipeline {
    struct options options;
    struct world world;
    MPI_Comm line, replicas; /* the stages of this replica, and this stage of all replicas */
    int stage, replica, n_replicas;
    struct text text;
    struct feed *feed;
    struct model *model;
    struct reduce *reduce;
    int ahead;              /* forward passes of a stage before its first backward pass */
    int slots;              /* microbatches between their two passes */
    MPI_Request *up, *down; /* of what each slot sends to the next and to the previous stage */
    int64_t step;
    double own_loss, loss; /* of the last step: the sum of this rank's rows; the mean of all, if it is due */
    double waited_s;       /* for messages, in this step */
    double started_s, reported_s;
    int64_t reported_step;
    struct step_times step_times;
};

static bool is_first(const struct pipeline *p)
{
    return p->stage == 0;
}

static bool is_last(const struct pipeline *p)
{
    return p->stage == p->options.stages - 1;
}

/* ---- set up ---- */

static int place(struct pipeline *p, struct err *err)
{
    const struct options *o = &p->options;

    if (p->world.ranks % o->stages)
        return err_set(err, "--stages %d: %d ranks cannot be cut into pipelines of %d", o->stages,
                       p->world.ranks, o->stages);
    p->stage = p->world.rank % o->stages;
    p->replica = p->world.rank / o->stages;
    p->n_replicas = p->world.ranks / o->stages;
    return 0;
}

static int make_feed(struct pipeline *p, struct err *err)
{
    const struct options *o = &p->options;

    /* Every stage cuts the windows of its replica from the text: the first needs their characters, the last
     * their ends. */
    p->feed = feed_new(&(struct feed_plan){ .text = &p->text,
                                            .context = o->context,
                                            .batch = o->batch,
                                            .rank = p->replica,
                                            .ranks = p->n_replicas,
                                            .seed = o->seed },
                       0, err);
    return p->feed ? 0 : -1;
}

static void make_stage(struct pipeline *p)
{
    const struct options *o = &p->options;
    struct model_shape shape = { p->text.symbols, o->context, o->embed, o->hidden,
                                 layers_below(o, o->stages) };
    int first = layers_below(o, p->stage);
    struct model_part part = { first, first + layers_of(o, p->stage) + (is_last(p) ? 1 : 0) };

    p->ahead = o->stages - 1 - p->stage;
    if (p->ahead > o->microbatches)
        p->ahead = o->microbatches;
    p->slots = p->ahead + 1;
    p->up = xcalloc((size_t)p->slots, sizeof(*p->up));
    p->down = xcalloc((size_t)p->slots, sizeof(*p->down));
    for (int i = 0; i < p->slots; i++)
        p->up[i] = p->down[i] = MPI_REQUEST_NULL;
    p->model = model_new(&shape, part, o->batch / o->microbatches, p->slots, o->seed);
    MPI_Comm_split(MPI_COMM_WORLD, p->replica, p->stage, &p->line);
    MPI_Comm_split(MPI_COMM_WORLD, p->stage, p->replica, &p->replicas);
    p->reduce =
        reduce_new(&(struct reduce_plan){ .world = &p->world, .comm = p->replicas, .buckets = o->buckets },
                   model_gradient(p->model), model_count(p->model));
}

static int set_up(struct pipeline *p)
{
    struct err err;

    p->line = p->replicas = MPI_COMM_NULL;
    if (world_agree(&p->world, place(p, &err), &err) < 0 ||
        world_agree(&p->world, text_load(&p->text, &p->options.text, &err), &err) < 0 ||
        world_same(&p->world, MPI_COMM_WORLD, p->text.hash, "text") < 0 ||
        world_agree(&p->world, make_feed(p, &err), &err) < 0)
        return -1;
    make_stage(p);
    if (p->world.rank == 0)
        printf("pipeline: %d replicas of %d stages, %d layers, %zu bytes of text, %d symbols\n",
               p->n_replicas, p->options.stages, layers_below(&p->options, p->options.stages), p->text.length,
               p->text.symbols);
    return 0;
}

/* ---- a step ---- */

static int values(const struct pipeline *p) /* of a message: `hidden` numbers a row */
{
    return p->options.batch / p->options.microbatches * p->options.hidden;
}

/* The slot's last message must have gone before its memory is received into. */
static void receive(struct pipeline *p, float *into, int from, int tag, MPI_Request *sent)
{
    double t0 = clock_s();
    MPI_Request request;

    world_wait(&p->world, 1, sent);
    MPI_Irecv(into, values(p), MPI_FLOAT, from, tag, p->line, &request);
    world_wait(&p->world, 1, &request);
    p->waited_s += clock_s() - t0;
}

static void send(struct pipeline *p, const float *from, int to, int tag, MPI_Request *sent)
{
    double t0 = clock_s();

    MPI_Isend(from, values(p), MPI_FLOAT, to, tag, p->line, sent);
    p->waited_s += clock_s() - t0;
}

/* A pass takes its share of the device's step: a third forward, two thirds backward. */
static void compute(const struct pipeline *p, double share, double begun_s)
{
    const struct options *o = &p->options;
    double step_s = o->device * layers_of(o, p->stage) / o->layers;

    device_wait(&(struct device){ step_s * share / o->microbatches, o->device_clock }, begun_s);
}

static struct batch microbatch(const struct pipeline *p, const struct batch *whole, int i)
{
    int n = p->options.batch / p->options.microbatches;

    return (struct batch){ n, whole->context, whole->input + i * n * whole->context, whole->target + i * n };
}

static void forward(struct pipeline *p, const struct batch *whole, int i)
{
    struct batch b = microbatch(p, whole, i);
    int slot = i % p->slots;
    double begun_s;

    if (!is_first(p))
        receive(p, model_below(p->model, slot), p->stage - 1, ACTIVATION, &p->down[slot]);
    begun_s = clock_s();
    model_forward(p->model, slot, &b, &p->own_loss);
    compute(p, 1.0 / 3, begun_s);
    if (!is_last(p))
        send(p, model_above(p->model, slot), p->stage + 1, ACTIVATION, &p->up[slot]);
}

static void backward(struct pipeline *p, const struct batch *whole, int i)
{
    struct batch b = microbatch(p, whole, i);
    int slot = i % p->slots;
    double begun_s;

    if (!is_last(p))
        receive(p, model_above(p->model, slot), p->stage + 1, GRADIENT, &p->up[slot]);
    begun_s = clock_s();
    model_backward(p->model, slot, &b, 1.0f / (float)p->n_replicas / (float)whole->n, NULL, NULL);
    compute(p, 2.0 / 3, begun_s);
    if (!is_first(p))
        send(p, model_below(p->model, slot), p->stage - 1, GRADIENT, &p->down[slot]);
}

static void train_step(struct pipeline *p)
{
    const struct options *o = &p->options;
    const struct batch *whole = feed_next(p->feed);

    p->own_loss = 0;
    model_clear_gradient(p->model);
    for (int i = 0; i < o->microbatches + p->ahead; i++) {
        if (i < o->microbatches)
            forward(p, whole, i);
        if (i >= p->ahead)
            backward(p, whole, i - p->ahead);
    }
    reduce_ready(p->reduce, model_count(p->model));
    reduce_finish(p->reduce);
    model_update(p->model, (float)o->rate, (float)o->momentum);
    p->step++;
}

/* ---- many steps ---- */

/* Rank 0 checks whether it is over, and the others learn it from the same all-reduce.  Returns whether the
 * run goes on. */
static bool sum_loss(struct pipeline *p)
{
    const struct options *o = &p->options;
    bool late = world_over(&p->world, p->started_s, o->seconds, o->while_file);
    double sum[2] = { p->own_loss / o->batch, late };

    reduce_sum(p->reduce, sum, 2);
    p->loss = sum[0] / p->n_replicas;
    return sum[1] == 0;
}

static void report(struct pipeline *p)
{
    double now_s = clock_s();

    if (p->world.rank != 0 || now_s - p->reported_s < 1)
        return;
    printf("step %6" PRId64 "  loss %.4f  %.2f steps/s\n", p->step, p->loss,
           (double)(p->step - p->reported_step) / (now_s - p->reported_s));
    fflush(stdout);
    p->reported_s = now_s;
    p->reported_step = p->step;
}

static int train(struct pipeline *p)
{
    const struct options *o = &p->options;
    bool going = true;

    p->started_s = p->reported_s = clock_s();
    while (going) {
        double t0 = clock_s();

        train_step(p);
        going = p->step != o->steps;
        if (!going || p->step % o->loss_every == 0) {
            going &= sum_loss(p);
            report(p);
        }
        step_times_add(&p->step_times, clock_s() - t0, p->waited_s, reduce_spent_s(p->reduce));
        p->waited_s = 0;
        if (!isfinite(p->loss)) {
            if (p->world.rank == 0)
                fprintf(stderr, "pipeline: the loss diverged before step %" PRId64 ": lower --rate\n",
                        p->step);
            return -1;
        }
    }
    world_wait(&p->world, p->slots, p->up);
    world_wait(&p->world, p->slots, p->down);
    return 0;
}

/* Of the whole model's parameters, which are those of the last stage, then of the one before it, ...; on
 * stage 0. */
static uint64_t hash_line(struct pipeline *p)
{
    uint64_t hash = HASH_START;

    if (!is_last(p))
        MPI_Recv(&hash, 1, MPI_UINT64_T, p->stage + 1, HASH, p->line, MPI_STATUS_IGNORE);
    hash = hash_bytes(hash, model_parameters(p->model), model_count(p->model) * sizeof(float));
    if (!is_first(p))
        MPI_Send(&hash, 1, MPI_UINT64_T, p->stage - 1, HASH, p->line);
    return hash;
}

static int finish(struct pipeline *p)
{
    uint64_t hash = hash_line(p);

    if (world_same(&p->world, p->replicas, hash, "parameters") < 0)
        return -1;
    step_times_print(&p->step_times, &p->world);
    if (p->world.rank == 0)
        printf("result: step %" PRId64 " loss %.17g hash %016" PRIx64 "\n", p->step, p->loss, hash);
    return 0;
}

static void tear_down(struct pipeline *p)
{
    if (p->line != MPI_COMM_NULL) {
        MPI_Comm_free(&p->line);
        MPI_Comm_free(&p->replicas);
    }
    step_times_free(&p->step_times);
    reduce_free(p->reduce);
    model_free(p->model);
    feed_free(p->feed);
    text_free(&p->text);
    free(p->up);
    free(p->down);
    free(p->options.text.path);
}

int main(int argc, char **argv)
{
    struct pipeline p = { 0 };
    int rc = arguments_start(&arguments, &p.options, argc, argv);

    if (rc != ARGUMENTS_GO_ON)
        return rc;
    p.world = world_start("pipeline", p.options.gentle, MPI_THREAD_SINGLE);
    rc = set_up(&p) < 0 || train(&p) < 0 || finish(&p) < 0;
    tear_down(&p);
    MPI_Finalize();
    return rc;
}
