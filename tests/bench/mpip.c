/* mpip.c - see mpip.h */
#include "tests/bench/mpip.h"

#include <stdlib.h>
#include <string.h>

enum { CHAINS = 256, STACK = 8 };

/* What identifies a call site, and what is kept of it. */
struct site {
    struct site *next;
    unsigned op;
    int rank;
    void *stack[STACK];
    long calls;
    double sum_us, sum_squared, least_us, most_us;
    double sent, least_sent, most_sent;
    double io, least_io, most_io, rma, least_rma, most_rma;
};

static struct site *chains[CHAINS];
static int nested, depth = 2; /* of the stack: mpiP's own frames are compared even with -k 0 */

static unsigned hash(const struct site *key)
{
    unsigned h = 52271u ^ key->op ^ (unsigned)key->rank;

    for (int i = 0; i < depth; i++)
        h ^= (unsigned)(size_t)key->stack[i];
    return h % CHAINS;
}

static int same(const struct site *a, const struct site *b)
{
    if (a->op != b->op || a->rank != b->rank)
        return 0;
    for (int i = 0; i < depth; i++)
        if (a->stack[i] != b->stack[i])
            return 0;
    return 1;
}

/* Through pointers, as there: neither is known when the table is compiled. */
static unsigned (*volatile hash_of)(const struct site *) = hash;
static int (*volatile is_same)(const struct site *, const struct site *) = same;

static struct site *find(const struct site *key)
{
    struct site **chain = &chains[hash_of(key)], *s = *chain;

    while (s && !is_same(s, key))
        s = s->next;
    if (!s && (s = malloc(sizeof(*s)))) {
        *s = *key;
        s->next = *chain;
        *chain = s;
    }
    return s;
}

static void least_and_most(double *least, double *most, double x)
{
    if (x < *least)
        *least = x;
    if (x > *most)
        *most = x;
}

double mpip_enter(void)
{
    double start_us = PMPI_Wtime() * 1e6;

    nested++;
    return start_us;
}

void mpip_leave(unsigned op, double start_us, int count, MPI_Datatype type)
{
    struct site key, *s;
    double took_us, bytes = 0;
    int size = 0;

    nested--;
    took_us = PMPI_Wtime() * 1e6 - start_us;
    if (count >= 0) {
        PMPI_Type_size(type, &size);
        bytes = (double)count * size;
    }
    if (nested || took_us < 0)
        return;
    memset(&key, 0, sizeof(key));
    key.op = op;
    s = find(&key);
    if (!s)
        return;
    s->calls++;
    s->sum_us += took_us;
    s->sum_squared += took_us * took_us;
    s->sent += bytes;
    least_and_most(&s->least_us, &s->most_us, took_us);
    least_and_most(&s->least_sent, &s->most_sent, bytes);
    least_and_most(&s->least_io, &s->most_io, 0);
    least_and_most(&s->least_rma, &s->most_rma, 0);
}
