/* algorithm.h - whether an MPI library would surely do a job's all-reduces faster by another algorithm than
 * the one that it takes by itself.
 *
 * What is known: the sizes of the all-reduces, how many there are in a step and how long they took in a run
 * in which the library took its own choice; which algorithm that is for a size and a number of ranks, from
 * the libraries' sources; and what each algorithm costs on the job's tree (topology/layout.h), in fixed
 * seconds and in seconds per byte of latencies and rates that were declared or assumed. The real network is
 * not known: its latencies are x times those, its seconds per byte y times.
 *
 * How long an all-reduce took is known between two bounds: the shortest stay of a rank, which may have come
 * when the others' data was waiting, and the mean stay, which contains the waiting for ranks that came late.
 * A network (x, y) explains the run where for each size
 *
 *     shortest / E <= x fixed + y per_byte bytes <= mean E,    E = ALGORITHM_ERROR (1 + 2 standard errors),
 *
 * and no link is slower than any that MPI jobs run on, y <= slower. These networks are a polygon; what an
 * algorithm takes is linear in x and y, and so longest at one of its corners. An algorithm is surely faster
 * if on every network that explains the run it takes less than the shortest stays, even if the model is wrong
 * by ALGORITHM_ERROR once more in what it says of it. If no network explains the run, something else made its
 * times, and nothing is sure.
 *
 * From some size on libraries first ask the receiver whether it is ready, and from which is not known. A
 * message of more than the least such size takes one latency to ALGORITHM_READY_TRIPS of them: any of these
 * explains the run, and the most counts for the other algorithm.
 *
 * Pure. Seconds, bytes. */
#ifndef SYNCGUARD_MODEL_ALGORITHM_H
#define SYNCGUARD_MODEL_ALGORITHM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ALGORITHM_ERROR       1.15 /* a real time over the model's, either way */
#define ALGORITHM_READY_TRIPS 3.0  /* request, answer, message */
/* the least size that is sent so: shared memory in Open MPI; others 8 to 64 KiB */
#define ALGORITHM_READY_BYTES 4096.0
#define ALGORITHM_LEAST_RATE  1e7 /* bytes per second: a twelfth of gigabit Ethernet */
#define ALGORITHM_SIZES       16u
#define ALGORITHM_RANKS_MAX   1048576u

enum algorithm {
    ALGORITHM_DOUBLING,     /* recursive doubling */
    ALGORITHM_RABENSEIFNER, /* reduce-scatter by recursive halving, all-gather by recursive doubling */
    ALGORITHM_RING,
    ALGORITHMS /* another one, or not certain */
};
/* "recursive_doubling", as Open MPI and MPICH write it; "" for ALGORITHMS. */
const char *algorithm_name(enum algorithm a);

/* Which fixed rules the library has. */
enum algorithm_library {
    ALGORITHM_OPENMPI, /* coll/tuned of 4.1 and 5.0 */
    ALGORITHM_MPICH,   /* 4.0 to 4.3 */
    ALGORITHM_LIBRARIES
};

/* What the library takes by itself for an all-reduce of so many bytes, of a predefined operation on elements
 * of 4 to 16 bytes; ALGORITHMS: one that is none of these, or it depends on the elements. */
enum algorithm algorithm_usual(enum algorithm_library l, uint32_t ranks, double bytes);
/* Can every release of the library be told to take it? */
bool algorithm_can(enum algorithm_library l, enum algorithm a);
/* Whether it computes what the standard asks for also of operations that do not commute, by itself or because
 * the library then takes another one. */
bool algorithm_keeps_order(enum algorithm a);

struct algorithm_cost {
    double fixed_s, s_per_byte; /* both positive */
};

/* All-reduces of one size, over all ranks. */
struct algorithm_size {
    double bytes, per_step;
    double time_s;     /* the shortest stay in one, with the library's own choice */
    double stay_s;     /* the mean stay; at least time_s */
    double time_error; /* their standard error, relative */
};

struct algorithm_job {
    enum algorithm_library library;
    uint32_t ranks;
    double step_s;
    double slower; /* the most that a link's rate is below that of cost */
    struct algorithm_cost cost[ALGORITHMS];
    struct algorithm_size size[ALGORITHM_SIZES];
    size_t n;
};

enum algorithm_result {
    ALGORITHM_UNKNOWN, /* a time is not known, or for no size what the library takes */
    ALGORITHM_STRANGE, /* no network explains the times */
    ALGORITHM_UNSURE,  /* none is surely faster */
    ALGORITHM_LITTLE,  /* one is, and less than 1 % of the step is gained */
    ALGORITHM_FASTER
};

struct algorithm_choice {
    enum algorithm_result result;
    enum algorithm algorithm; /* LITTLE, FASTER: the one that is surely fastest */
    double usual_s, most_s;   /* of a step's all-reduces: as they were, and with that algorithm at most */
};

/* The surely fastest of those for which allowed() is true; NULL: of all. */
typedef bool algorithm_allowed_fn(enum algorithm a);
void algorithm_choose(const struct algorithm_job *j, algorithm_allowed_fn *allowed,
                      struct algorithm_choice *c);

#endif
