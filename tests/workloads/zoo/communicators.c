#include "tests/workloads/zoo/zoo.h"

#include <stdlib.h>

#include "common/xalloc.h"

/* A new communicator, or MPI_COMM_NULL: counted on its parent either way. */
static struct zoo_comm *born(struct zoo_comm *parent, MPI_Comm comm, const char *name)
{
    if (parent)
        zoo_count(parent, ZOO_COMM_CREATE, ZOO_BLOCKING);
    return comm == MPI_COMM_NULL ? NULL : zoo_add(comm, name);
}

static void use_and_free(struct zoo_comm *c)
{
    if (!c)
        return;
    zoo_small(c);
    zoo_free(c);
}

static void splits(struct zoo_comm *w)
{
    MPI_Comm comm;

    MPI_Comm_split(w->comm, w->rank % 2, w->rank, &comm);
    use_and_free(born(w, comm, "split"));
    MPI_Comm_split(w->comm, 0, -w->rank, &comm);
    use_and_free(born(w, comm, "reversed"));
    MPI_Comm_split(w->comm, w->rank ? 7 : MPI_UNDEFINED, 0, &comm);
    zoo_check((comm == MPI_COMM_NULL) == (w->rank == 0), "MPI_UNDEFINED gave a communicator");
    use_and_free(born(w, comm, "undefined"));
    MPI_Comm_split_type(w->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    use_and_free(born(w, comm, "shared"));
}

static void copies(struct zoo_comm *w)
{
    struct zoo_comm *dup, *again;
    MPI_Request request;
    MPI_Comm comm;

    MPI_Comm_dup(w->comm, &comm);
    dup = born(w, comm, "dup");
    MPI_Comm_dup(dup->comm, &comm);
    again = born(dup, comm, "dup-of-dup");
    zoo_small(again);
    zoo_small(dup);
    zoo_free(dup);
    use_and_free(again);
    MPI_Comm_dup_with_info(w->comm, MPI_INFO_NULL, &comm);
    use_and_free(born(w, comm, "dup-with-info"));
    MPI_Comm_idup(w->comm, &comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    use_and_free(born(w, comm, "idup"));
    for (int i = 0; i < 3; i++) { /* the library gives the same handle again */
        MPI_Comm_dup(w->comm, &comm);
        use_and_free(born(w, comm, "reused"));
    }
}

static void groups(struct zoo_comm *w)
{
    int range[1][3] = { { 0, (w->size - 1) / 2, 1 } };
    bool inside = w->rank <= (w->size - 1) / 2;
    MPI_Group all, half;
    MPI_Comm comm;

    MPI_Comm_group(w->comm, &all);
    MPI_Group_range_incl(all, 1, range, &half);
    MPI_Comm_create(w->comm, half, &comm);
    use_and_free(born(w, comm, "create"));
    if (inside) { /* the others take no part */
        MPI_Comm_create_group(w->comm, half, 5, &comm);
        use_and_free(born(NULL, comm, "create-group"));
    }
    MPI_Group_free(&half);
    MPI_Group_free(&all);
}

static void use_neighbours(struct zoo_comm *c)
{
    zoo_blocking(c, 2);
    zoo_nonblocking(c);
    zoo_persistent(c);
    zoo_small(c);
    zoo_free(c);
}

/* A line of ranks (its ends have a missing neighbour), and the columns of a grid. */
static void grids(struct zoo_comm *w)
{
    int line[1] = { w->size }, open[2] = { 0, 0 }, keep[2] = { 1, 0 }, dims[2] = { 0, 0 }, left, right;
    struct zoo_comm *c;
    MPI_Comm comm, columns;

    MPI_Cart_create(w->comm, 1, line, open, 0, &comm);
    c = born(w, comm, "cart");
    MPI_Cart_shift(comm, 0, 1, &left, &right);
    c->neighbours = (struct zoo_neighbours){ 2, 2, { left, right }, { 1, 0 } };
    use_neighbours(c);
    MPI_Dims_create(w->size, 2, dims);
    MPI_Cart_create(w->comm, 2, dims, open, 0, &comm);
    c = born(w, comm, "grid");
    MPI_Cart_sub(comm, keep, &columns);
    use_and_free(born(c, columns, "column"));
    use_and_free(c);
}

/* A ring, each rank hears its left and tells its right, made in the three ways of the standard. */
static void graphs(struct zoo_comm *w)
{
    int left = (w->rank + w->size - 1) % w->size, right = (w->rank + 1) % w->size, one_edge = 1;
    int *index = xcalloc((size_t)w->size, sizeof(int)), *edge = xcalloc((size_t)w->size, sizeof(int));
    struct zoo_neighbours ring = { 1, 1, { left }, { 0 } };
    struct zoo_comm *c;
    MPI_Comm comm;

    MPI_Dist_graph_create_adjacent(w->comm, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &comm);
    c = born(w, comm, "adjacent");
    c->neighbours = ring;
    use_neighbours(c);
    MPI_Dist_graph_create(w->comm, 1, &w->rank, &one_edge, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    c = born(w, comm, "dist-graph");
    c->neighbours = ring;
    use_neighbours(c);
    for (int i = 0; i < w->size; i++) { /* here each rank has one neighbour: its partner, or itself */
        int partner = i ^ 1;

        index[i] = i + 1;
        edge[i] = partner < w->size ? partner : i;
    }
    MPI_Graph_create(w->comm, w->size, index, edge, 0, &comm);
    c = born(w, comm, "graph");
    c->neighbours = (struct zoo_neighbours){ 1, 1, { edge[w->rank] }, { 0 } };
    use_neighbours(c);
    free(index);
    free(edge);
}

/* The even ranks on one side, the odd ones on the other: the sums are the other side's. */
static void use_inter(struct zoo_comm *c, int remote)
{
    int mine = c->rank + 1, sum = 0, word = mine, *all = xcalloc((size_t)remote, sizeof(int));
    int root = c->members[0] % 2 ? 0 : c->rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Request request;

    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, c->comm);
    zoo_count(c, ZOO_ALLREDUCE, ZOO_BLOCKING);
    zoo_check(sum == remote * (remote + 1) / 2, "allreduce across: %d", sum);
    MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, c->comm);
    zoo_count(c, ZOO_ALLGATHER, ZOO_BLOCKING);
    for (int i = 0; i < remote; i++)
        zoo_check(all[i] == i + 1, "allgather across: %d from %d", all[i], i);
    MPI_Bcast(&word, 1, MPI_INT, root, c->comm);
    zoo_count(c, ZOO_BCAST, ZOO_BLOCKING);
    zoo_check(root || word == 1, "bcast across: %d", word);
    MPI_Ibarrier(c->comm, &request);
    zoo_count(c, ZOO_BARRIER, ZOO_NONBLOCKING);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(c->comm);
    zoo_count(c, ZOO_BARRIER, ZOO_BLOCKING);
    free(all);
}

static void inter(struct zoo_comm *w)
{
    struct zoo_comm *side, *across;
    MPI_Comm comm;
    int remote;

    if (w->size < 2)
        return;
    MPI_Comm_split(w->comm, w->rank % 2, w->rank, &comm);
    side = born(w, comm, "side");
    MPI_Intercomm_create(side->comm, 0, w->comm, 1 - w->rank % 2, 9, &comm);
    across = born(side, comm, "inter");
    MPI_Comm_remote_size(comm, &remote);
    use_inter(across, remote);
    MPI_Intercomm_merge(across->comm, w->rank % 2, &comm);
    use_and_free(born(across, comm, "merged"));
    zoo_free(across);
    zoo_free(side);
}

/* A call that the library refuses, on one rank: it is none. */
static void refused(struct zoo_comm *w)
{
    struct zoo_comm *c;
    MPI_Comm comm;
    int x = 0, rc;

    MPI_Comm_dup(w->comm, &comm);
    c = born(w, comm, "refused");
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    rc = w->rank ? MPI_ERR_ROOT : MPI_Bcast(&x, 1, MPI_INT, w->size + 3, comm);
    zoo_check(rc != MPI_SUCCESS, "a broadcast from nowhere succeeded");
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    use_and_free(c);
}

void zoo_communicators(struct zoo_comm *w)
{
    splits(w);
    copies(w);
    groups(w);
    grids(w);
    graphs(w);
    inter(w);
    refused(w);
}
