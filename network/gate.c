#include "network/gate.h"

#include <math.h>

double gate_opens_s(const struct gate_state *s, const struct gate_params *p, double now_s)
{
    if (p->limit && s->inside >= p->limit)
        return INFINITY;
    return s->entries ? fmax(now_s, s->last_s + p->gap_s) : now_s;
}

void gate_enter(struct gate_state *s, double now_s)
{
    s->inside++;
    s->entries++;
    s->last_s = now_s;
}

void gate_leave(struct gate_state *s)
{
    if (s->inside)
        s->inside--;
}
