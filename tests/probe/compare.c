/* compare.c - compare a step's rings with what the program reports.
 *     compare DIRECTORY OUTPUT RANKS      the zoo's output files OUTPUT.0 ... (tests/workloads/zoo/mpizoo.c)
 *     compare DIRECTORY - RANKS           only that the ranks agree with each other
 * Per rank: the number of collectives of each kind on each communicator is what the program counted, sequence
 * numbers have no gaps, times are in order, the newest events are of communicators that the ring describes.
 * Between ranks: the same communicator has the same name, and an equal sequence number means the same
 * operation and size; each message is recorded once at both ends, with the same number and size, and the
 * numbers of a stream have no gaps.  Exit status: 0 equal, 1 different (differences are printed), 2 usage. */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ring/ring.h"

#define RANKS_MAX  64
#define EVENTS_MAX (RING_CAPACITY_MAIN * RING_THREADS_MAX)
#define NEWEST     6u /* events of a rank whose communicators cannot have lost their places */

struct rank {
    struct ring_event *events;
    size_t n_events;
    struct ring_comm comms[RING_COMMS_MAX];
    size_t n_comms;
};

static struct rank ranks[RANKS_MAX];
static unsigned wrong;

#define WRONG(...) (wrong++ < 20 ? (void)printf(__VA_ARGS__) : (void)0)

static int load(const char *path)
{
    struct ring *r = ring_open(path, true);
    struct ring_counts counts;
    struct ring_info info;
    struct rank *k;

    if (!r) {
        perror(path);
        return -1;
    }
    ring_info_get(r, &info);
    ring_counts_get(r, &counts);
    if (info.rank >= RANKS_MAX) {
        ring_close(r);
        return -1;
    }
    if (counts.dropped || counts.missed || counts.messages_missed || counts.streams_forgotten)
        WRONG("rank %u thread %u: %llu dropped, %llu missed, %llu messages missed, %llu streams forgotten\n",
              info.rank, info.thread, (unsigned long long)counts.dropped, (unsigned long long)counts.missed,
              (unsigned long long)counts.messages_missed, (unsigned long long)counts.streams_forgotten);
    k = &ranks[info.rank];
    if (!k->events)
        k->events = calloc(EVENTS_MAX, sizeof(*k->events));
    if (!k->events)
        abort();
    k->n_events += ring_last(r, k->events + k->n_events, info.capacity);
    if (info.thread == 0)
        k->n_comms = ring_comms_get(r, &(uint64_t){ 0 }, k->comms);
    ring_close(r);
    return 0;
}

static int load_all(const char *dir)
{
    DIR *d = opendir(dir);
    struct dirent *e;
    char path[4096];

    if (!d) {
        perror(dir);
        return -1;
    }
    while ((e = readdir(d))) {
        const char *dot = strrchr(e->d_name, '.');

        snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
        if (dot && !strcmp(dot, ".ring") && load(path) < 0)
            return -1;
    }
    closedir(d);
    return 0;
}

/* ---- a rank against its program ---- */

static long value(const char *line, const char *key)
{
    char name[64];
    const char *at;

    snprintf(name, sizeof(name), " %s=", key);
    at = strstr(line, name);
    return at ? strtol(at + strlen(name), NULL, 10) : 0;
}

static void compare_comm(unsigned rank, const struct ring_comm *c, const char *line)
{
    const struct rank *k = &ranks[rank];
    long total = 0, nonblocking = 0, persistent = 0, failed = 0, count[RING_OP_MAX] = { 0 };
    uint64_t numbers = 0;

    for (size_t i = 0; i < k->n_events; i++) {
        const struct ring_event *e = &k->events[i];

        if (e->comm != c->name || e->op >= RING_OP_POINT_TO_POINT)
            continue;
        total++;
        numbers += e->seq;
        count[e->op]++;
        persistent += (e->flags & RING_EVENT_PERSISTENT) != 0;
        if (e->op != RING_OP_COMM_CREATE) /* the zoo does not count MPI_Comm_idup as nonblocking */
            nonblocking +=
                (e->flags & (RING_EVENT_NONBLOCKING | RING_EVENT_PERSISTENT)) == RING_EVENT_NONBLOCKING;
        failed += (e->flags & RING_EVENT_FAILED) != 0;
        if (e->enter > e->leave || (e->wait && (e->wait < e->enter || e->wait > e->leave)))
            WRONG("rank %u: %s %u on %016llx: times out of order\n", rank, ring_op_name((enum ring_op)e->op),
                  e->seq, (unsigned long long)e->comm);
    }
    if (total != value(line, "total") || nonblocking != value(line, "nonblocking") ||
        persistent != value(line, "persistent") || failed != value(line, "failed"))
        WRONG("rank %u: recorded %ld events, %ld nonblocking, %ld persistent, %ld failed; the program: %s",
              rank, total, nonblocking, persistent, failed, line);
    if (numbers != (uint64_t)total * (uint64_t)(total - 1) / 2 && total)
        WRONG("rank %u: sequence numbers have gaps; the program: %s", rank, line);
    for (int op = 1; op < RING_OP_POINT_TO_POINT; op++)
        if (count[op] != value(line, ring_op_name((enum ring_op)op)))
            WRONG("rank %u: recorded %ld times %s; the program: %s", rank, count[op],
                  ring_op_name((enum ring_op)op), line);
    if ((long)c->first != value(line, "first") || (long)c->last != value(line, "last") ||
        (long)c->instance != value(line, "instance"))
        WRONG("rank %u: first %u last %u instance %u; the program: %s", rank, c->first, c->last, c->instance,
              line);
}

/* Ring and program list communicators in the order in which they were made. */
static void compare_rank(unsigned rank, const char *output)
{
    char path[4096], line[4096];
    size_t n = 0;
    FILE *f;

    snprintf(path, sizeof(path), "%s.%u", output, rank);
    f = fopen(path, "r");
    if (!f) {
        perror(path);
        exit(2);
    }
    while (fgets(line, sizeof(line), f)) {
        if (!strstr(line, " comm="))
            continue;
        if (n < ranks[rank].n_comms)
            compare_comm(rank, &ranks[rank].comms[n], line);
        n++;
    }
    fclose(f);
    if (n != ranks[rank].n_comms)
        WRONG("rank %u: recorded %zu communicators, the program made %zu\n", rank, ranks[rank].n_comms, n);
}

/* ---- ranks against each other ---- */

static const struct ring_event *find(const struct rank *k, uint64_t comm, uint32_t seq)
{
    for (size_t i = 0; i < k->n_events; i++)
        if (k->events[i].comm == comm && k->events[i].seq == seq && !ring_op_is_message(k->events[i].op))
            return &k->events[i];
    return NULL;
}

static bool member(const struct rank *k, uint64_t comm)
{
    for (size_t i = 0; i < k->n_comms; i++)
        if (k->comms[i].name == comm)
            return true;
    return false;
}

static void compare_members(unsigned n_ranks, unsigned rank, const struct ring_comm *c)
{
    uint32_t members = 0;

    for (unsigned i = 0; i < n_ranks; i++)
        members += member(&ranks[i], c->name);
    if (members != c->size)
        WRONG("rank %u: communicator %016llx has %u members, but %u ranks recorded it\n", rank,
              (unsigned long long)c->name, c->size, members);
}

static void compare_event(unsigned n_ranks, unsigned rank, const struct ring_event *e)
{
    for (unsigned i = 0; i < n_ranks; i++) {
        const struct ring_event *o =
            i != rank && member(&ranks[i], e->comm) ? find(&ranks[i], e->comm, e->seq) : e;
        bool inter = e->flags & RING_EVENT_INTER, rooted = !ring_op_synchronises((enum ring_op)e->op);

        if (!o)
            WRONG("%s %u on %016llx: recorded by rank %u, but not by rank %u\n",
                  ring_op_name((enum ring_op)e->op), e->seq, (unsigned long long)e->comm, rank, i);
        else if (o->op != e->op || (!inter && o->root != e->root) ||
                 ((o->flags ^ e->flags) &
                  (RING_EVENT_NONBLOCKING | RING_EVENT_PERSISTENT | RING_EVENT_INTER)) ||
                 (!(inter && rooted) && !ring_op_irregular((enum ring_op)e->op) && o->bytes != e->bytes))
            WRONG(
                "number %u on %016llx: rank %u recorded %s, %llu bytes, root %d, flags %u; rank %u %s, %llu, "
                "%d, %u\n",
                e->seq, (unsigned long long)e->comm, rank, ring_op_name((enum ring_op)e->op),
                (unsigned long long)e->bytes, e->root, e->flags, i, ring_op_name((enum ring_op)o->op),
                (unsigned long long)o->bytes, o->root, o->flags);
    }
}

/* Whether b is a message of a's stream, seen from rank `at`: the other end, or the same. */
static bool same_stream(const struct ring_event *a, unsigned of, const struct ring_event *b, unsigned at)
{
    bool same_end = a->op == b->op;

    return ring_op_is_message(b->op) && a->comm == b->comm && a->tag == b->tag &&
           (same_end ? of == at && a->root == b->root : (unsigned)a->root == at && (unsigned)b->root == of);
}

static void compare_message(unsigned n_ranks, unsigned rank, const struct ring_event *e)
{
    unsigned ends = 0, again = 0, before = 0;

    if (e->root < 0 || (unsigned)e->root >= n_ranks) {
        WRONG("rank %u: a message to or from rank %d\n", rank, e->root);
        return;
    }
    for (unsigned i = 0; i < n_ranks; i++)
        for (size_t k = 0; (i == rank || i == (unsigned)e->root) && k < ranks[i].n_events; k++) {
            const struct ring_event *o = &ranks[i].events[k];

            if (!same_stream(e, rank, o, i) || (o->seq ^ e->seq) & RING_PARTITIONED)
                continue;
            if (o->op == e->op) {
                again += o != e && o->seq == e->seq;
                before += o->seq < e->seq;
            } else if (o->seq == e->seq) {
                ends++;
                if (o->bytes != e->bytes)
                    WRONG("rank %u: message %u with rank %d, tag %d: %llu bytes, %llu at the other end\n",
                          rank, e->seq, e->root, e->tag, (unsigned long long)e->bytes,
                          (unsigned long long)o->bytes);
            }
        }
    if (ends != 1 || again || before != (e->seq & ~RING_PARTITIONED))
        WRONG("rank %u: %s %u with rank %d, tag %d, comm %016llx: %u other ends, %u of the same number, %u "
              "before it\n",
              rank, ring_op_name((enum ring_op)e->op), e->seq, e->root, e->tag, (unsigned long long)e->comm,
              ends, again, before);
    if (e->enter > e->leave || (e->wait && (e->wait < e->enter || e->wait > e->leave)))
        WRONG("rank %u: message %u with rank %d: times out of order\n", rank, e->seq, e->root);
}

int main(int argc, char **argv)
{
    unsigned n_ranks = argc == 4 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
    size_t collectives = 0, messages = 0, comms = 0;

    if (n_ranks < 1 || n_ranks > RANKS_MAX) {
        fprintf(stderr, "usage: compare DIRECTORY OUTPUT|- RANKS\n");
        return 2;
    }
    if (load_all(argv[1]) < 0)
        return 2;
    for (unsigned i = 0; i < n_ranks; i++) {
        if (!ranks[i].n_comms)
            WRONG("rank %u: no ring\n", i);
        if (strcmp(argv[2], "-") != 0)
            compare_rank(i, argv[2]);
        for (size_t k = 0; k < ranks[i].n_comms; k++)
            compare_members(n_ranks, i, &ranks[i].comms[k]);
        for (size_t k = 0; k < ranks[i].n_events; k++) {
            const struct ring_event *e = &ranks[i].events[k];

            if (ring_op_is_message(e->op)) {
                compare_message(n_ranks, i, e);
                messages++;
            } else {
                if (k + NEWEST >= ranks[i].n_events && !member(&ranks[i], e->comm))
                    WRONG("rank %u: communicator %016llx is not described\n", i, (unsigned long long)e->comm);
                compare_event(n_ranks, i, e);
                collectives++;
            }
        }
        comms += ranks[i].n_comms;
    }
    printf("%zu collectives, %zu ends of messages, %zu communicators, %u differences\n", collectives,
           messages, comms, wrong);
    return wrong != 0;
}
