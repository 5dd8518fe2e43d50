/* report_marks.c - what programs mark of their steps, as JSON; and of programs that mark nothing what their
 * calls show of it. */
#include <math.h>
#include <stdio.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "report/report_view.h"
#include "view/figures.h"
#include "view/marks.h"
#include "wire/json.h"

/* ---- phases ---- */

static const char *node_of(const struct view *v, uint32_t rank, double now_s)
{
    struct view_rank_figures f;

    return view_rank_get(v, now_s, rank, &f) ? f.node : "";
}

static json_t *phase_json(const struct view *v, double now_s, enum marks_phase phase,
                          const struct view_phase_time *t)
{
    json_t *o = json_object();

    put_text(o, "phase", marks_phase_name(phase));
    put_int(o, "ranks", t->ranks);
    put_real(o, "median_s", t->median_s);
    put_real(o, "least_s", t->least_s);
    put_real(o, "most_s", t->most_s);
    put_int(o, "most_rank", t->most_rank);
    put_text(o, "most_node", node_of(v, t->most_rank, now_s));
    return o;
}

static const char *name_of(const struct view_marked *m, enum marks_phase phase)
{
    return m->seen && phase == MARKS_INPUT ? "still before forward" : marks_phase_name(phase);
}

/* "; input takes longest on rank 3 on node4: 40.0 ms" */
static void append_longest(const struct view *v, double now_s, const struct view_marked *m, char *buf,
                           size_t size)
{
    const struct view_phase_time *worst = NULL;
    int phase = 0;

    for (int p = MARKS_INPUT; p < MARKS_PHASES; p++) {
        const struct view_phase_time *t = &m->phase[p];

        if (view_phase_deviates(m, (enum marks_phase)p, t->most_s) &&
            (!worst || t->most_s - t->median_s > worst->most_s - worst->median_s)) {
            worst = t;
            phase = p;
        }
    }
    if (worst) {
        const char *node = node_of(v, worst->most_rank, now_s);

        text_append(buf, size, "; %s takes longest on rank %u%s%s: %s", name_of(m, (enum marks_phase)phase),
                    worst->most_rank, *node ? " on " : "", node, text_s(worst->most_s).s);
    }
}

/* "input 12.0 ms (20.0 %), backward 30.0 ms (50.0 %), other 1.00 ms (1.67 %)" in the order of a step. */
static void write_marked(const struct view *v, double now_s, const struct view_marked *m,
                         const struct report_overlap *overlap, char *buf, size_t size)
{
    static const enum marks_phase order[MARKS_PHASES] = { MARKS_INPUT,     MARKS_FORWARD,
                                                          MARKS_BACKWARD,  MARKS_COMMUNICATION,
                                                          MARKS_OPTIMIZER, MARKS_OTHER };

    for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
        const struct view_phase_time *t = &m->phase[order[i]];

        if (t->ranks)
            text_append(buf, size, "%s%s %s (%s)", *buf ? ", " : "", name_of(m, order[i]),
                        text_s(t->median_s).s, text_percent(t->median_s / m->step.median_s).s);
    }
    if (!overlap->missing[0] && overlap->all.hidden_s.value > 0)
        text_append(buf, size, "; beside its work %s of transfers", text_s(overlap->all.hidden_s.value).s);
    append_longest(v, now_s, m, buf, size);
    if (m->seen)
        text_append(buf, size, "; as PyTorch's calls show");
}

/* Calls show when communication begins and what holds a rank.  What it does in between looks the same from
 * outside, but for the time in which the calls that it begins follow each other: of a training, a backward
 * pass that makes one bucket of gradients after the other. */
static json_t *inferred_json(const struct report_overlap *r, char *buf, size_t size)
{
    double own_s = r->step_s - r->all.waiting_s - r->all.exposed_s, backward_s = fmin(r->all.ready_s, own_s);
    json_t *o;

    if (r->missing[0] || !(own_s >= 0))
        return NULL;
    if (isnan(r->all.ready_s))
        backward_s = NAN;
    o = json_object();
    put_real(o, "step_s", r->step_s);
    put_real(o, "waiting_s", r->all.waiting_s);
    put_real(o, "exposed_s", r->all.exposed_s);
    put_real(o, "hidden_s", r->all.hidden_s.value);
    put_real(o, "backward_s", backward_s);
    put_real(o, "rest_s", own_s - (isnan(backward_s) ? 0 : backward_s));
    if (isnan(backward_s))
        text_append(buf, size, "inferred: communication %s, own work %s, whose phases are not told apart",
                    text_s(r->all.waiting_s + r->all.exposed_s).s, text_s(own_s).s);
    else
        text_append(
            buf, size,
            "inferred: communication %s, backward about %s while its buckets become ready; input, forward and "
            "optimizer %s, not told apart",
            text_s(r->all.waiting_s + r->all.exposed_s).s, text_s(backward_s).s,
            text_s(own_s - backward_s).s);
    return o;
}

json_t *report_step_phases(const struct view *v, double now_s, const struct report_overlap *overlap)
{
    json_t *o = json_object(), *phases = json_array(), *inferred;
    char text[512] = "", guess[256] = "";
    struct view_marked m;

    if (view_marked_get(v, &m))
        write_marked(v, now_s, &m, overlap, text, sizeof(text));
    for (int p = 0; p < MARKS_PHASES; p++)
        if (m.phase[p].ranks)
            json_array_append_new(phases, phase_json(v, now_s, (enum marks_phase)p, &m.phase[p]));
    inferred = inferred_json(overlap, guess, sizeof(guess));
    put_int(o, "ranks", m.step.ranks);
    put_text(o, "source", !m.step.ranks ? NULL : m.seen ? "PyTorch" : "marks");
    put_real(o, "step_s", m.step.median_s);
    put_json(o, "phases", phases);
    put_json(o, "inferred", inferred);
    put_text(o, "text", *text ? text : guess);
    return o;
}

/* ---- values ---- */

static json_t *value_json(const struct view *v, enum marks_value value)
{
    struct view_value x;
    json_t *o;

    if (!view_value_get(v, value, &x))
        return NULL;
    o = json_object();
    put_int(o, "ranks", x.ranks);
    put_int(o, "non_finite", x.non_finite);
    put_int(o, "step", (int64_t)x.step);
    put_real(o, "median", x.median);
    put_real(o, "least", x.least);
    put_real(o, "most", x.most);
    return o;
}

json_t *report_values(const struct view *v, double now_s)
{
    struct view_non_finite bad;
    json_t *o = json_object(), *at = NULL;

    for (int i = 0; i < MARKS_VALUES; i++)
        put_json(o, marks_value_name((enum marks_value)i), value_json(v, (enum marks_value)i));
    if (view_non_finite_get(v, &bad)) {
        at = json_object();
        put_text(at, "value", marks_value_name(bad.value));
        put_int(at, "step", (int64_t)bad.step);
        put_int(at, "rank", bad.rank);
        put_text(at, "node", node_of(v, bad.rank, now_s));
        put_int(at, "ranks", bad.ranks);
        put_text(at, "text", bad.text);
    }
    put_json(o, "non_finite", at);
    return o;
}
