/* halo - Jacobi's method for Laplace's equation on a grid: each rank has a block of it and exchanges its
 * edges.
 *
 * Each step sends the four edges of the block to the neighbours and receives theirs, computes what needs none
 * of them meanwhile, and then the rest: every cell becomes the mean of its four neighbours.  Every few steps
 * all ranks reduce the largest change.  No sum depends on how the grid is cut: any number of ranks gives the
 * same bits.  Nothing in it knows that it may be guarded. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/xalloc.h"
#include "tests/workloads/shared/arguments.h"
#include "tests/workloads/shared/device.h"
#include "tests/workloads/shared/random.h"
#include "tests/workloads/shared/step_times.h"
#include "tests/workloads/shared/world.h"

enum side { NORTH, SOUTH, WEST, EAST, SIDES };

struct options {
    int rows, columns;
    int64_t steps, residual_every;
    double seconds;
    const char *while_file;
    uint64_t seed;
    bool gentle;
    double device;
    const char *device_clock;
};

#define AT(field) .offset = offsetof(struct options, field)

static const struct argument option_rows[] = {
    { "rows", "N", "of the whole grid", ARGUMENT_INT, AT(rows), 1, 1 << 20 },
    { "columns", "N", "of the whole grid", ARGUMENT_INT, AT(columns), 1, 1 << 20 },
    { "steps", "N", "stop after N steps (default 1000, without limit if --seconds or --while is given)",
      ARGUMENT_WIDE, AT(steps), 0, 1e15 },
    { "seconds", "S", "stop at the first reduction after S seconds", ARGUMENT_REAL, AT(seconds), 0, 1e9 },
    { "while", "FILE", "stop at the first reduction once FILE is gone", ARGUMENT_PATH, AT(while_file), 0, 0 },
    { "residual-every", "N", "reduce the largest change every N steps, and after the last", ARGUMENT_WIDE,
      AT(residual_every), 1, 1e15 },
    { "seed", "N", "of the cells at the beginning", ARGUMENT_WIDE, AT(seed), 0, 9e15 },
    { "gentle", NULL, "sleep between looks while waiting for other ranks", ARGUMENT_FLAG, AT(gentle), 0, 1 },
    { "device", "S", "let an accelerator that is not there compute for S seconds a step", ARGUMENT_REAL,
      AT(device), 0, 3600 },
    { "device-clock", "DIR", "its clock is in DIR/HOST, 1 without that file; read at every step",
      ARGUMENT_PATH, AT(device_clock), 0, 0 },
    { 0 },
};

static const struct options defaults = { .rows = 1024, .columns = 1024, .residual_every = 10, .seed = 1 };

static int check(void *options, struct err *err)
{
    struct options *o = options;

    (void)err;
    if (!o->steps && o->seconds <= 0 && !o->while_file)
        o->steps = 1000;
    return 0;
}

static const struct arguments arguments = {
    .program = "halo",
    .usage = "[OPTION]...",
    .text =
        "Solve Laplace's equation on a grid that the MPI ranks have blocks of.\n"
        "The result is the same bit by bit for the same options, whatever the number of ranks and the MPI library.",
    .row = option_rows,
    .defaults = &defaults,
    .size = sizeof(defaults),
    .check = check,
};

struct halo {
    struct options options;
    struct world world;
    MPI_Comm grid;
    int neighbour[SIDES];        /* MPI_PROC_NULL at the edge of the whole grid */
    int first_row, first_column; /* of the block, in the whole grid */
    int rows, columns;           /* of the block */
    double *cell, *next;         /* (rows + 2) * (columns + 2): the block within its frame */
    MPI_Datatype column;
    double change;              /* largest of this rank in the last step */
    double residual;            /* largest of all ranks, when it was last reduced */
    double waited_s, reduced_s; /* for messages and in collectives, in this step */
    int64_t step;
    double started_s, reported_s;
    struct step_times step_times;
};

static size_t at(const struct halo *h, int row, int column)
{
    return (size_t)row * (size_t)(h->columns + 2) + (size_t)column;
}

/* Cuts n cells into parts: where part i begins. */
static int begin_of(int n, int parts, int i)
{
    return (int)((int64_t)n * i / parts);
}

static int place(struct halo *h, struct err *err)
{
    const struct options *o = &h->options;
    int parts[2] = { 0, 0 }, whole[2] = { 0, 0 }, here[2], me;

    MPI_Dims_create(h->world.ranks, 2, parts);
    if (o->rows < parts[0] || o->columns < parts[1])
        return err_set(err, "--rows %d --columns %d: too few cells for %d by %d ranks", o->rows, o->columns,
                       parts[0], parts[1]);
    MPI_Cart_create(MPI_COMM_WORLD, 2, parts, whole, 0, &h->grid);
    MPI_Comm_rank(h->grid, &me);
    MPI_Cart_coords(h->grid, me, 2, here);
    MPI_Cart_shift(h->grid, 0, 1, &h->neighbour[NORTH], &h->neighbour[SOUTH]);
    MPI_Cart_shift(h->grid, 1, 1, &h->neighbour[WEST], &h->neighbour[EAST]);
    h->first_row = begin_of(o->rows, parts[0], here[0]);
    h->first_column = begin_of(o->columns, parts[1], here[1]);
    h->rows = begin_of(o->rows, parts[0], here[0] + 1) - h->first_row;
    h->columns = begin_of(o->columns, parts[1], here[1] + 1) - h->first_column;
    return 0;
}

/* The frame of the whole grid keeps its values. */
static void fill(struct halo *h)
{
    size_t n = at(h, h->rows + 2, 0), wide = (size_t)h->options.columns + 2;

    h->cell = xcalloc(n, sizeof(double));
    h->next = xcalloc(n, sizeof(double));
    for (int i = 0; i < h->rows + 2; i++)
        for (int j = 0; j < h->columns + 2; j++)
            h->cell[at(h, i, j)] = random_unit(
                h->options.seed, 1, (size_t)(h->first_row + i) * wide + (size_t)(h->first_column + j));
    memcpy(h->next, h->cell, n * sizeof(double));
    MPI_Type_vector(h->rows, 1, h->columns + 2, MPI_DOUBLE, &h->column);
    MPI_Type_commit(&h->column);
}

static int set_up(struct halo *h)
{
    struct err err;

    h->grid = MPI_COMM_NULL;
    if (world_agree(&h->world, place(h, &err), &err) < 0)
        return -1;
    fill(h);
    if (h->world.rank == 0)
        printf("halo: %d ranks, %d by %d cells, %d by %d on rank 0\n", h->world.ranks, h->options.rows,
               h->options.columns, h->rows, h->columns);
    return 0;
}

/* Each edge goes to the neighbour on that side; its frame there is what the opposite neighbour sends. */
static void exchange(struct halo *h, MPI_Request request[2 * SIDES])
{
    const struct {
        size_t edge, frame;
        MPI_Datatype type;
        int n, opposite;
    } way[SIDES] = {
        [NORTH] = { at(h, 1, 1), at(h, 0, 1), MPI_DOUBLE, h->columns, SOUTH },
        [SOUTH] = { at(h, h->rows, 1), at(h, h->rows + 1, 1), MPI_DOUBLE, h->columns, NORTH },
        [WEST] = { at(h, 1, 1), at(h, 1, 0), h->column, 1, EAST },
        [EAST] = { at(h, 1, h->columns), at(h, 1, h->columns + 1), h->column, 1, WEST },
    };

    for (int s = 0; s < SIDES; s++)
        MPI_Irecv(h->cell + way[s].frame, way[s].n, way[s].type, h->neighbour[s], way[s].opposite, h->grid,
                  &request[s]);
    for (int s = 0; s < SIDES; s++)
        MPI_Isend(h->cell + way[s].edge, way[s].n, way[s].type, h->neighbour[s], s, h->grid,
                  &request[SIDES + s]);
}

/* Rows r0 to r1 and columns c0 to c1 of the block, counted from 1, all included. */
static void compute(struct halo *h, int r0, int r1, int c0, int c1)
{
    int wide = h->columns + 2;
    double change = h->change;

    for (int i = r0; i <= r1; i++) {
        const double *cell = h->cell + at(h, i, 0);
        double *restrict next = h->next + at(h, i, 0);

        for (int j = c0; j <= c1; j++) {
            double value = 0.25 * ((cell[j - wide] + cell[j + wide]) + (cell[j - 1] + cell[j + 1]));
            double by = fabs(value - cell[j]);

            next[j] = value;
            change = by > change ? by : change;
        }
    }
    h->change = change;
}

static void one_step(struct halo *h)
{
    MPI_Request request[2 * SIDES];
    double begun_s = clock_s(), sent_s, waiting_s, *old = h->cell;
    int rows = h->rows, columns = h->columns;

    h->change = 0;
    exchange(h, request);
    sent_s = clock_s();
    compute(h, 2, rows - 1, 2, columns - 1);
    device_wait(&(struct device){ h->options.device, h->options.device_clock }, sent_s);
    waiting_s = clock_s();
    world_wait(&h->world, 2 * SIDES, request);
    h->waited_s += sent_s - begun_s + clock_s() - waiting_s;
    compute(h, 1, 1, 1, columns);
    if (rows > 1)
        compute(h, rows, rows, 1, columns);
    compute(h, 2, rows - 1, 1, 1);
    if (columns > 1)
        compute(h, 2, rows - 1, columns, columns);
    h->cell = h->next;
    h->next = old;
    h->step++;
}

/* Rank 0 checks whether it is over, and the others learn it from the same all-reduce.  Returns whether the
 * run goes on. */
static bool reduce_residual(struct halo *h)
{
    double t0 = clock_s();
    bool late = world_over(&h->world, h->started_s, h->options.seconds, h->options.while_file);
    double largest[2] = { h->change, late };

    world_reduce(&h->world, largest, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    h->reduced_s += clock_s() - t0;
    h->residual = largest[0];
    if (h->world.rank == 0 && t0 - h->reported_s >= 1) {
        printf("step %6" PRId64 "  residual %.3e\n", h->step, h->residual);
        fflush(stdout);
        h->reported_s = t0;
    }
    return largest[1] == 0;
}

static void solve(struct halo *h)
{
    const struct options *o = &h->options;
    bool going = true;

    h->started_s = h->reported_s = clock_s();
    while (going) {
        double t0 = clock_s();

        one_step(h);
        going = h->step != o->steps;
        if (!going || h->step % o->residual_every == 0)
            going &= reduce_residual(h);
        step_times_add(&h->step_times, clock_s() - t0, h->waited_s, h->reduced_s);
        h->waited_s = h->reduced_s = 0;
    }
}

/* Of every cell and its place, summed: in any order the same. */
static uint64_t checksum(const struct halo *h)
{
    uint64_t sum = 0;

    for (int i = 1; i <= h->rows; i++)
        for (int j = 1; j <= h->columns; j++) {
            uint64_t place = (uint64_t)(h->first_row + i) << 32 | (uint64_t)(h->first_column + j), bits;

            memcpy(&bits, &h->cell[at(h, i, j)], sizeof(bits));
            sum += hash_mix(bits ^ hash_mix(place));
        }
    return sum;
}

static void finish(struct halo *h)
{
    uint64_t sum = checksum(h);

    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    step_times_print(&h->step_times, &h->world);
    if (h->world.rank == 0)
        printf("result: step %" PRId64 " residual %.17g checksum %016" PRIx64 "\n", h->step, h->residual,
               sum);
}

static void tear_down(struct halo *h)
{
    if (h->grid == MPI_COMM_NULL)
        return;
    MPI_Type_free(&h->column);
    MPI_Comm_free(&h->grid);
    step_times_free(&h->step_times);
    free(h->cell);
    free(h->next);
}

int main(int argc, char **argv)
{
    struct halo h = { 0 };
    int rc = arguments_start(&arguments, &h.options, argc, argv);

    if (rc != ARGUMENTS_GO_ON)
        return rc;
    h.world = world_start("halo", h.options.gentle, MPI_THREAD_SINGLE);
    rc = set_up(&h) < 0;
    if (!rc) {
        solve(&h);
        finish(&h);
    }
    tear_down(&h);
    MPI_Finalize();
    return rc;
}
