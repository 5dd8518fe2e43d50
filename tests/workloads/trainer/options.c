#include "tests/workloads/trainer/options.h"

#include <string.h>

#include "tests/workloads/shared/model.h"

static int take_restart(void *options, const char *value, struct err *err)
{
    struct options *o = options;

    if (value && strcmp(value, "auto") != 0)
        return err_set(err, "--restart=%s: expected --restart or --restart=auto", value);
    o->restart = value ? RESTART_AUTO : RESTART_YES;
    return 0;
}

#define AT(field) .offset = offsetof(struct options, field)

static const struct argument rows[] = {
    { "text", "FILE", "learn FILE or every file of a folder; more may follow (default the licence texts)",
      ARGUMENT_PATHS, AT(text), 0, 0 },
    { "steps", "N", "stop after N steps in all (default 600, without limit if --seconds or --while is given)",
      ARGUMENT_WIDE, AT(steps), 0, 1e15 },
    { "seconds", "S", "stop after S seconds", ARGUMENT_REAL, AT(seconds), 0, 1e9 },
    { "while", "FILE", "stop after the step once FILE is gone", ARGUMENT_PATH, AT(while_file), 0, 0 },
    { "seed", "N", "of the parameters and of the order of the text", ARGUMENT_WIDE, AT(seed), 0, 9e15 },
    { "batch", "N", "windows a rank and step: sets the computing time", ARGUMENT_INT, AT(batch), 1, 1 << 16 },
    { "context", "N", "characters that the model sees", ARGUMENT_INT, AT(context), 1, 256 },
    { "embed", "N", "numbers that stand for a character", ARGUMENT_INT, AT(embed), 1, 256 },
    { "hidden", "N", "units of the hidden layer", ARGUMENT_INT, AT(hidden), 1, 8192 },
    { "layers", "N", "hidden layers", ARGUMENT_INT, AT(layers), 1, MODEL_LAYERS_MAX },
    { "rate", "R", "learning rate", ARGUMENT_REAL, AT(rate), 0, 100 },
    { "momentum", "M", "share of the last update that goes on", ARGUMENT_REAL, AT(momentum), 0, 0.999 },
    { "buckets", "N", "pieces of the gradient, each its own all-reduce", ARGUMENT_INT, AT(buckets), 1, 256 },
    { "overlap", NULL, "reduce with MPI_Iallreduce while computing goes on", ARGUMENT_FLAG, AT(overlap), 0,
      1 },
    { "inner", "G", "reduce inside groups of G ranks first, then across groups", ARGUMENT_INT, AT(inner), 0,
      1 << 20 },
    { "gentle", NULL, "sleep between looks while waiting for other ranks", ARGUMENT_FLAG, AT(gentle), 0, 1 },
    { "device", "S", "let an accelerator that is not there compute for S seconds a step", ARGUMENT_REAL,
      AT(device), 0, 3600 },
    { "device-clock", "DIR", "its clock is in DIR/HOST, 1 without that file; read at every step",
      ARGUMENT_PATH, AT(device_clock), 0, 0 },
    { "loader", "[=N]", "a thread prepares N batches ahead (4)", ARGUMENT_INT, AT(loader), 1, 1024,
      .bare = 4 },
    { "eval-every", "N", "loss on held-out text every N steps", ARGUMENT_WIDE, AT(eval_every), 0, 1e15 },
    { "checkpoint", "FILE", "where checkpoints go", ARGUMENT_PATH, AT(checkpoint), 0, 0 },
    { "checkpoint-every", "N", "write one every N steps", ARGUMENT_WIDE, AT(checkpoint_every), 0, 1e15 },
    { "restart", "[=auto]", "go on from the checkpoint; auto: start from the beginning if there is none",
      ARGUMENT_OWN, .own = take_restart },
    { "log", "FILE", "rank 0 writes a line a step: step, seconds, seconds in collectives, loss",
      ARGUMENT_PATH, AT(log), 0, 0 },
    { "sample", "N", "print N characters written by the model at the end", ARGUMENT_INT, AT(sample), 0,
      1000000 },
    { 0 },
};

static const struct options defaults = {
    .batch = 512,
    .context = 12,
    .embed = 24,
    .hidden = 256,
    .layers = 1,
    .rate = 0.5,
    .momentum = 0.9,
    .seed = 1,
    .buckets = 4,
};

static int check(void *options, struct err *err)
{
    struct options *o = options;

    if (o->checkpoint_every && !o->checkpoint)
        return err_set(err, "--checkpoint-every needs --checkpoint FILE");
    if (o->restart && !o->checkpoint)
        return err_set(err, "--restart needs --checkpoint FILE");
    if (!o->steps && o->seconds <= 0 && !o->while_file)
        o->steps = 600;
    return 0;
}

const struct arguments options_arguments = {
    .program = "trainer",
    .usage = "[OPTION]... [--text FILE...]",
    .text = "Train a small character-level language model, data-parallel over the MPI ranks.\n"
            "The result is the same bit by bit for the same text, options, number of ranks and MPI library.",
    .row = rows,
    .defaults = &defaults,
    .size = sizeof(defaults),
    .check = check,
};

int options_fit(const struct options *o, int ranks, struct err *err)
{
    if (o->inner && ranks % o->inner)
        return err_set(err, "--inner %d: %d ranks cannot be cut into groups of %d", o->inner, ranks,
                       o->inner);
    return 0;
}
