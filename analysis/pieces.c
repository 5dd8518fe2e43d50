#include "analysis/pieces.h"

#include <math.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "model/statistics.h"

#define WIDE      0.09
#define NARROW    0.06
#define STEPS_MIN 6u
#define GAIN      0.15
#define PIECE_MIN 0.1f /* of the longest piece of its rank: shorter ones are noise */

/* Of the pieces in a step, the spread about what is usual there. */
static double spread_of(const struct graph_step *s)
{
    float *off = xcalloc(s->n + 1, sizeof(*off)), longest_s = 0, spread;
    size_t m = 0;

    for (size_t i = 0; i < s->n; i++)
        longest_s = fmaxf(longest_s, s->op[i].usual_s);
    for (size_t i = 0; i < s->n; i++) {
        const struct graph_op *op = &s->op[i];

        if (op->known && op->usual_s > PIECE_MIN * longest_s)
            off[m++] = fabsf(op->work_s / (op->usual_s * (float)s->factor) - 1);
    }
    spread = m ? STATISTICS_MAD_TO_SD * statistics_medianf(off, m) : NAN;
    free(off);
    return spread;
}

void pieces_step(struct pieces *p, const struct graph_step *s)
{
    double spread = spread_of(s);

    if (isnan(spread) || ++p->steps < 3) /* nothing is usual yet */
        return;
    p->sigma = p->steps == 3 ? spread : p->sigma + GAIN * (spread - p->sigma);
    if (!(p->sigma > (p->wide ? NARROW : WIDE))) {
        p->wide = false;
        p->since = 0;
        return;
    }
    if (!p->since++)
        p->from = s->number;
    p->wide = p->since >= STEPS_MIN;
}
