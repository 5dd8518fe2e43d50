#include "calls/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

#define LEAST (-0.9) /* excess: a piece is at most ten times as long as it was */

static uint32_t program_of(const struct graph *g, uint32_t role, uint32_t ranks)
{
    for (uint32_t r = 0; r < ranks; r++)
        if (graph_role(g, r) == role)
            return graph_program(g, r);
    return GRAPH_NONE;
}

bool parts_is_one(const struct graph *g, uint32_t role, uint32_t ranks)
{
    uint32_t program = program_of(g, role, ranks);

    for (uint32_t r = 0; r < ranks && program != GRAPH_NONE; r++)
        if (graph_program(g, r) == program && graph_role(g, r) != role)
            return true;
    return false;
}

/* Of the pieces of one number what they usually take, summed up over the ranks of the part and of all the
 * program. */
struct pieces_sum {
    double part_s, all_s;
    uint32_t n_part, n;
};

static double share_of(const struct pieces_sum *k, bool part)
{
    uint32_t n = part ? k->n_part : k->n - k->n_part;

    return n && k->all_s > 0 ? (part ? k->part_s : k->all_s - k->part_s) / n / (k->all_s / k->n) - 1 : 0;
}

bool parts_excess(const struct graph *g, uint32_t role, uint32_t ranks, double times, float *by_place)
{
    struct graph_step s = graph_step_get(g, 0);
    uint32_t program = program_of(g, role, ranks), pieces = GRAPH_NONE;
    uint32_t *number = xcalloc(ranks, sizeof(*number)); /* of the rank's next piece */
    struct pieces_sum *sum = xcalloc(s.n + 1, sizeof(*sum));
    bool same = parts_is_one(g, role, ranks);

    memset(by_place, 0, graph_places(g) * sizeof(*by_place));
    for (size_t i = 0; i < s.n && same; i++) {
        const struct graph_op *op = &s.op[i];
        bool part = graph_role(g, op->rank) == role;
        struct pieces_sum *k;

        if (!op->has_work || graph_program(g, op->rank) != program)
            continue;
        k = &sum[number[op->rank]++];
        if (!(op->usual_s > 0))
            continue;
        k->part_s += part ? op->usual_s : 0;
        k->all_s += op->usual_s;
        k->n_part += part;
        k->n++;
    }
    for (uint32_t r = 0; r < ranks && same; r++)
        if (graph_program(g, r) == program) {
            same = pieces == GRAPH_NONE || number[r] == pieces;
            pieces = number[r];
            number[r] = 0;
        }
    for (size_t i = 0; i < s.n && same; i++) {
        const struct graph_op *op = &s.op[i];

        if (!op->has_work || graph_program(g, op->rank) != program)
            continue;
        if (op->place != GRAPH_NONE)
            by_place[op->place] =
                (float)fmax(LEAST, times * share_of(&sum[number[op->rank]], graph_role(g, op->rank) == role));
        number[op->rank]++;
    }
    free(number);
    free(sum);
    return same;
}
