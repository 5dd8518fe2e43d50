#include "calls/pieces.h"

#include <math.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "model/statistics.h"

/* above NOISE_WIDE of detect/variability.c: a piece is a part of a step's work, and parts vary more */
#define PIECES_WIDE 0.09
/* in a row above that: about half of the steps that the spread is a mean over (2 / GAIN - 1) */
#define PIECES_STEPS_MIN 6u
#define GAIN             0.15
/* Pieces that show what all do more of. Chosen: the median of fewer is often that of a slow rank. */
#define CLASS_MIN 8u
#define CLASS_MAX 512u /* that are looked at: the error of their median is a twentieth of a piece's noise */
/* Of the longest piece in the step. Chosen: a shorter one may vary much, and costs little. */
#define PIECE_WORK_MIN 0.1f

bool pieces_shows(const struct graph_op *op, float longest_s)
{
    return op->known && op->place != GRAPH_NONE && op->usual_s > PIECE_WORK_MIN * longest_s;
}

/* Takes away what all ranks do more of between the same two calls. */
static void level_ratios(float *ratio, size_t n)
{
    float copy[CLASS_MAX], common;
    size_t step = 1 + (n - 1) / CLASS_MAX, m = 0;

    if (n < CLASS_MIN)
        return;
    for (size_t i = 0; i < n; i += step)
        copy[m++] = ratio[i];
    common = statistics_medianf(copy, m);
    for (size_t i = 0; i < n && common > 0; i++)
        ratio[i] /= common;
}

/* Of the pieces in a step, the spread about what is usual there. */
static float spread_of(const struct graph *g, const struct graph_step *s)
{
    uint32_t classes = graph_classes(g);
    /* of each class in ratio, after its pieces are there */
    size_t *end = xcalloc(classes + 1, sizeof(*end)), m = 0;
    float *ratio = xcalloc(s->n + 1, sizeof(*ratio)), longest_s = 0, spread;

    for (size_t i = 0; i < s->n; i++)
        longest_s = fmaxf(longest_s, s->op[i].usual_s);
    for (size_t i = 0; i < s->n; i++)
        if (pieces_shows(&s->op[i], longest_s))
            end[graph_place_class(g, s->op[i].place) + 1]++;
    for (uint32_t c = 0; c < classes; c++)
        end[c + 1] += end[c];
    m = end[classes];
    for (size_t i = 0; i < s->n; i++)
        if (pieces_shows(&s->op[i], longest_s))
            ratio[end[graph_place_class(g, s->op[i].place)]++] =
                s->op[i].work_s / (s->op[i].usual_s * (float)s->factor);
    for (uint32_t c = 0; c < classes; c++)
        level_ratios(ratio + (c ? end[c - 1] : 0), end[c] - (c ? end[c - 1] : 0));
    for (size_t i = 0; i < m; i++)
        ratio[i] = fabsf(ratio[i] - 1);
    spread = m ? (float)STATISTICS_MAD_TO_SD * statistics_medianf(ratio, m) : NAN;
    free(end);
    free(ratio);
    return spread;
}

void pieces_step(struct pieces *p, const struct graph *g, const struct graph_step *s)
{
    double spread = spread_of(g, s);

    if (isnan(spread) || ++p->steps < 3) /* nothing is usual yet */
        return;
    p->sigma = p->steps == 3 ? spread : p->sigma + GAIN * (spread - p->sigma);
    if (!(p->sigma > (p->wide ? PIECES_NARROW : PIECES_WIDE))) {
        p->wide = false;
        p->since = 0;
        return;
    }
    if (!p->since++)
        p->from = s->number;
    p->wide = p->since >= PIECES_STEPS_MIN;
}
