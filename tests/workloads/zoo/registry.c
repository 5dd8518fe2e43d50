#include "tests/workloads/zoo/zoo.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

static struct zoo_comm *first_comm, **last_link = &first_comm;
static int wrong;

/* The world ranks of a group's members, appended. */
static void append_members(struct zoo_comm *c, MPI_Group group)
{
    MPI_Group world;
    int n, *local;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_size(group, &n);
    local = xcalloc((size_t)n, sizeof(int));
    for (int i = 0; i < n; i++)
        local[i] = i;
    c->members = xrealloc(c->members, (size_t)(c->member_count + n), sizeof(int));
    MPI_Group_translate_ranks(group, n, local, world, c->members + c->member_count);
    c->member_count += n;
    free(local);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

static void find_members(struct zoo_comm *c)
{
    MPI_Group group;
    int inter;

    MPI_Comm_test_inter(c->comm, &inter);
    c->inter = inter;
    MPI_Comm_group(c->comm, &group);
    append_members(c, group);
    if (inter) {
        MPI_Comm_remote_group(c->comm, &group);
        append_members(c, group);
    }
    c->first = c->last = c->members[0];
    for (int i = 1; i < c->member_count; i++) {
        c->first = c->members[i] < c->first ? c->members[i] : c->first;
        c->last = c->members[i] > c->last ? c->members[i] : c->last;
    }
}

static bool same_members(const struct zoo_comm *a, const struct zoo_comm *b)
{
    return a->inter == b->inter && a->member_count == b->member_count &&
           memcmp(a->members, b->members, (size_t)a->member_count * sizeof(int)) == 0;
}

struct zoo_comm *zoo_add(MPI_Comm comm, const char *name)
{
    struct zoo_comm *c = xcalloc(1, sizeof(*c));

    c->comm = comm;
    c->name = name;
    MPI_Comm_size(comm, &c->size);
    MPI_Comm_rank(comm, &c->rank);
    find_members(c);
    for (const struct zoo_comm *o = first_comm; o; o = o->next)
        c->instance += same_members(c, o);
    *last_link = c;
    last_link = &c->next;
    return c;
}

void zoo_count(struct zoo_comm *c, enum zoo_op op, enum zoo_mode mode)
{
    c->count[op]++;
    c->nonblocking += mode == ZOO_NONBLOCKING;
    c->persistent += mode == ZOO_PERSISTENT;
}

void zoo_free(struct zoo_comm *c)
{
    MPI_Comm_free(&c->comm);
}

void zoo_check(bool good, const char *fmt, ...)
{
    va_list ap;

    if (good || __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED) >= 20)
        return;
    flockfile(stderr);
    fputs("zoo: wrong: ", stderr);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    funlockfile(stderr);
}

bool zoo_good(void)
{
    return wrong == 0;
}

void zoo_print(FILE *out, int world_rank)
{
    for (const struct zoo_comm *c = first_comm; c; c = c->next) {
        char line[1024];
        int n, total = 0;

        for (int op = 0; op < ZOO_OPS; op++)
            total += c->count[op];
        n = snprintf(line, sizeof(line),
                     "zoo: rank=%d comm=%s size=%d place=%d first=%d last=%d instance=%d inter=%d total=%d "
                     "nonblocking=%d persistent=%d failed=0",
                     world_rank, c->name, c->size, c->rank, c->first, c->last, c->instance, c->inter, total,
                     c->nonblocking, c->persistent);
        for (int op = 0; op < ZOO_OPS; op++)
            if (c->count[op])
                n += snprintf(line + n, sizeof(line) - (size_t)n, " %s=%d", zoo_op_name(op), c->count[op]);
        fprintf(out, "%s\n", line);
    }
    fprintf(out, "zoo: rank=%d %s\n", world_rank, zoo_good() ? "ok" : "FAILED");
    fflush(out);
}

void zoo_forget(void)
{
    while (first_comm) {
        struct zoo_comm *next = first_comm->next;

        free(first_comm->members);
        free(first_comm);
        first_comm = next;
    }
    last_link = &first_comm;
}
