/* view_picture.c - the newest step of a view, drawn. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "calls/picture.h"
#include "common/xalloc.h"
#include "view/view_private.h"

struct newest_picture { /* what it was drawn of */
    struct picture *picture;
    uint32_t rows;
    uint64_t done;
    double seen_s;
    bool of_calls;
};

static struct picture *draw_step(const struct view *v, uint32_t rows)
{
    const struct graph *g = call_steps_graph(v->calls);
    const struct step_count *steps = steps_count(v->steps);
    struct picture *p;

    if (g)
        p = picture_of_calls(g, 0, roster_limit(v->roster), rows);
    else
        p = picture_of_work(diagnosis_work(v->diagnosis), (int64_t)steps->done, rows);
    if (!p)
        return NULL;
    p->step = steps->done ? (int64_t)steps->done : p->step;
    for (size_t i = 0; i < p->n_rows; i++)
        snprintf(p->row[i].node, sizeof(p->row[i].node), "%s",
                 roster_place_name(v->roster, roster_at(v->roster, (uint32_t)p->row[i].rank)->node));
    for (size_t i = 0; i < p->n_parts; i++)
        snprintf(p->part[i].node, sizeof(p->part[i].node), "%s",
                 roster_place_name(v->roster, roster_at(v->roster, (uint32_t)p->part[i].rank)->node));
    picture_describe(p);
    return p;
}

const struct picture *view_picture(const struct view *v, double now_s, uint32_t rows)
{
    const struct step_count *steps = steps_count(v->steps);
    struct newest_picture *d = v->picture;

    if (!d->picture || d->rows != rows || d->done != steps->done || d->seen_s != steps->seen_s ||
        d->of_calls != call_steps_active(v->calls)) {
        picture_free(d->picture);
        *d = (struct newest_picture){ draw_step(v, rows), rows, steps->done, steps->seen_s,
                                      call_steps_active(v->calls) };
    }
    if (d->picture)
        d->picture->age_s = steps->seen_s > 0 ? fmax(0, now_s - steps->seen_s) : NAN;
    return d->picture;
}

struct newest_picture *newest_picture_new(void)
{
    return xcalloc(1, sizeof(struct newest_picture));
}

void newest_picture_free(struct newest_picture *d)
{
    picture_free(d->picture);
    free(d);
}
