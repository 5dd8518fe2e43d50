#include "calls/told_phases.h"

#include <math.h>
#include <stdlib.h>

#include "common/xalloc.h"

/* steps that a phase is looked for in, at most and at least, and after which it is looked for again */
#define PHASE_STEPS 16u
#define PHASE_MIN   4u

struct told_phase {
    uint32_t id;   /* of the straggler's finding */
    uint32_t step; /* when it was looked for */
    enum finding_scope scope;
    uint32_t place;
    bool found;
    struct slow_phase phase;
    struct phase_excess excess; /* if found */
};

struct told_phases {
    struct told_phase told[STRAGGLERS_MAX];
    size_t n; /* ever; the newest is told[(n - 1) % STRAGGLERS_MAX] */
    float *excess;
    size_t cap;
};

struct told_phases *told_phases_new(void)
{
    return xcalloc(1, sizeof(struct told_phases));
}

void told_phases_free(struct told_phases *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < STRAGGLERS_MAX; i++)
        phase_excess_free(&p->told[i].excess);
    free(p->excess);
    free(p);
}

void told_phases_reset(struct told_phases *p)
{
    p->n = 0;
}

static struct told_phase *find(struct told_phases *p, uint32_t id)
{
    for (size_t i = 0; i < p->n && i < STRAGGLERS_MAX; i++)
        if (p->told[i].id == id)
            return &p->told[i];
    return NULL;
}

void told_phases_look(struct told_phases *p, const struct graph *g, const struct work *w,
                      const struct straggler *named, size_t n, uint32_t step, bool last)
{
    for (size_t i = 0; i < n; i++) {
        struct told_phase *t = find(p, named[i].id);
        uint32_t since = work_steps_since(w, named[i].onset, PHASE_STEPS);

        if (named[i].late_min > 0 || since < PHASE_MIN || (t && step - t->step < PHASE_STEPS && !last))
            continue;
        if (t && named[i].fading) /* the newest steps show less of it, and maybe no part any more */
            continue;
        t = t ? t : &p->told[p->n++ % STRAGGLERS_MAX];
        *t = (struct told_phase){ .id = named[i].id,
                                  .step = step,
                                  .scope = named[i].scope,
                                  .place = named[i].place,
                                  .excess = t->excess };
        t->found = phase_find(g, since, straggler_is_one, &(struct straggler_ranks){ &named[i], w },
                              &t->phase, &t->excess);
    }
}

bool told_phases_get(const struct told_phases *p, enum finding_scope scope, uint32_t place,
                     struct slow_phase *found)
{
    for (size_t i = p->n, n = 0; i-- > 0 && n < STRAGGLERS_MAX; n++) {
        const struct told_phase *t = &p->told[i % STRAGGLERS_MAX];

        if (t->scope != scope || t->place != place)
            continue;
        *found = t->phase;
        return t->found;
    }
    return false;
}

const float *told_phases_excess(struct told_phases *p, const struct graph *g, const struct work *w,
                                const struct straggler *list, size_t n)
{
    uint32_t places = graph_places(g);
    bool any = false;

    for (size_t i = 0; i < n; i++) {
        const struct told_phase *t = find(p, list[i].id);

        /* What it is on the mean of the newest steps is not what it is in those in which it is slow. */
        if (!t || !t->found || list[i].drift || list[i].late_min > 0 || straggler_is_sometimes_away(&list[i]))
            continue;
        if (!any) {
            p->excess = xgrow(p->excess, &p->cap, places, sizeof(*p->excess));
            for (uint32_t k = 0; k < places; k++)
                p->excess[k] = NAN;
        }
        any = true;
        phase_excess_by_place(&t->excess, g, straggler_is_one, &(struct straggler_ranks){ &list[i], w },
                              p->excess);
    }
    return any ? p->excess : NULL;
}
