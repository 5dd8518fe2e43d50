#include "view/presence.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "detect/work.h"

#define SETTLE_S 5.0 /* a node's ranks may be reported this much later than the others */

struct presence {
    const struct roster *roster;
    const struct communicators *communicators;
    double began_s; /* NaN: not yet */
    bool finished;
    bool still;      /* it was stalled or suspended when it was judged last */
    double still_s;  /* when it was last seen stalled; minus infinity: never */
    double *since_s; /* by place: when a silent node was heard last; infinite: it is heard */
    size_t n, cap;
    enum view_slurm slurm;
    double suspended_s; /* since when it is suspended */
    double resumed_s;   /* what began before is not measured; minus infinity: it never was suspended */
    double lost_s;      /* for how long it was, in all */
    char state[VIEW_STATE_SIZE];
};

struct presence *presence_new(const struct roster *roster, const struct communicators *communicators)
{
    struct presence *s = xcalloc(1, sizeof(*s));

    s->roster = roster;
    s->communicators = communicators;
    s->began_s = NAN;
    s->still_s = s->resumed_s = -INFINITY;
    return s;
}

void presence_free(struct presence *s)
{
    free(s->since_s);
    free(s);
}

/* ---- the run ---- */

void presence_begin(struct presence *s, double now_s)
{
    if (isnan(s->began_s))
        s->began_s = now_s;
}

double presence_began_s(const struct presence *s)
{
    return s->began_s;
}

void presence_finish(struct presence *s)
{
    s->finished = true;
}

bool presence_finished(const struct presence *s)
{
    return s->finished;
}

void presence_go_on(struct presence *s, double began_s, double suspended_s)
{
    s->began_s = began_s;
    s->lost_s = isnan(suspended_s) ? 0 : suspended_s;
}

double presence_run_s(const struct presence *s, double now_s)
{
    return now_s - s->began_s - s->lost_s - (s->slurm == VIEW_SLURM_SUSPENDED ? now_s - s->suspended_s : 0);
}

/* ---- nodes ---- */

void presence_node_silent(struct presence *s, const char *node, double since_s)
{
    uint32_t place = roster_place_find(s->roster, node);

    if (place == WORK_PLACE_NONE || (isnan(since_s) && place >= s->n))
        return;
    if (place >= s->n) {
        s->since_s = xgrow(s->since_s, &s->cap, place + 1, sizeof(*s->since_s));
        while (s->n <= place)
            s->since_s[s->n++] = INFINITY;
    }
    s->since_s[place] = isnan(since_s) ? INFINITY : since_s;
}

double presence_silent_since_s(const struct presence *s, uint32_t place)
{
    return place < s->n ? s->since_s[place] : INFINITY;
}

struct view_silence presence_silence(const struct presence *s)
{
    struct view_silence silence = { .first = WORK_PLACE_NONE };

    for (uint32_t p = 0; p < s->n; p++)
        silence.nodes += !isinf(s->since_s[p]);
    for (uint32_t r = 0; silence.nodes && r < roster_limit(s->roster); r++) {
        const struct view_rank *k = roster_at(s->roster, r);

        if (!k->known || k->ended || isinf(presence_silent_since_s(s, k->node)))
            continue;
        if (!silence.ranks++)
            silence.first = k->node;
    }
    return silence;
}

/* ---- ranks ---- */

/* What is said of who waits in a communicator rests on all of its members. */
uint32_t presence_missing(const struct presence *s, double now_s, uint32_t *first)
{
    uint32_t size = communicators_main_size(s->communicators), limit = roster_limit(s->roster), known = 0;

    if (now_s < roster_count(s->roster)->added_s + SETTLE_S && !s->finished)
        return 0;
    *first = limit;
    for (uint32_t r = limit; r-- > 0;) {
        known += roster_at(s->roster, r)->known;
        if (!roster_at(s->roster, r)->known)
            *first = r;
    }
    return size > known ? size - known : 0;
}

bool presence_is_partial(const struct presence *s, double now_s)
{
    uint32_t first;

    return presence_silence(s).ranks || presence_missing(s, now_s, &first);
}

/* ---- Slurm ---- */

bool presence_slurm_set(struct presence *s, double now_s, enum view_slurm slurm, const char *state)
{
    bool resumes = s->slurm == VIEW_SLURM_SUSPENDED && slurm != s->slurm;

    snprintf(s->state, sizeof(s->state), "%s", state);
    if (slurm == VIEW_SLURM_SUSPENDED && slurm != s->slurm)
        s->suspended_s = now_s;
    if (resumes) {
        s->resumed_s = now_s;
        s->lost_s += now_s - s->suspended_s;
    }
    s->slurm = slurm;
    return resumes;
}

enum view_slurm presence_slurm(const struct presence *s)
{
    return s->slurm;
}

const char *presence_slurm_state(const struct presence *s)
{
    return s->state;
}

double presence_suspended_s(const struct presence *s, double now_s)
{
    return s->slurm == VIEW_SLURM_SUSPENDED ? now_s - s->suspended_s : NAN;
}

bool presence_was_suspended(const struct presence *s, double now_s, double duration_s)
{
    return s->slurm == VIEW_SLURM_SUSPENDED || now_s - duration_s < s->resumed_s;
}

/* ---- standstills ---- */

void presence_stand_still(struct presence *s, double now_s, bool stalled, bool suspended)
{
    s->still = stalled || suspended;
    if (stalled)
        s->still_s = now_s;
}

bool presence_stands_still(const struct presence *s)
{
    return s->still && !s->finished;
}

bool presence_stood_still(const struct presence *s, double now_s, double duration_s)
{
    return presence_stands_still(s) || now_s - duration_s < s->still_s ||
           presence_was_suspended(s, now_s, duration_s);
}
