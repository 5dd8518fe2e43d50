#include "report/report_marks.h"

#include <math.h>
#include <stdio.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "report/report_overlap.h"
#include "view/figures.h"
#include "view/marks.h"

/* ---- phases ---- */

static const struct json_field step_fields[] = {
    { "ranks", FIELD_COUNT, FIELD(struct report_step_phases, ranks) },
    { "source", FIELD_TEXT, FIELD(struct report_step_phases, source) },
    { "step_s", FIELD_AMOUNT, FIELD(struct report_step_phases, step_s) },
    { 0 },
};

static const struct json_field phase_fields[] = {
    { "phase", FIELD_TEXT, FIELD(struct report_phase, phase) },
    { "ranks", FIELD_COUNT, FIELD(struct report_phase, ranks) },
    { "median_s", FIELD_AMOUNT, FIELD(struct report_phase, median_s) },
    { "least_s", FIELD_AMOUNT, FIELD(struct report_phase, least_s) },
    { "most_s", FIELD_AMOUNT, FIELD(struct report_phase, most_s) },
    { "most_rank", FIELD_COUNT, FIELD(struct report_phase, most_rank) },
    { "most_node", FIELD_TEXT, FIELD(struct report_phase, most_node) },
    { 0 },
};

static const struct json_field inferred_fields[] = {
    { "step_s", FIELD_AMOUNT, FIELD(struct report_inferred, step_s) },
    { "waiting_s", FIELD_AMOUNT, FIELD(struct report_inferred, waiting_s) },
    { "exposed_s", FIELD_AMOUNT, FIELD(struct report_inferred, exposed_s) },
    { "hidden_s", FIELD_AMOUNT, FIELD(struct report_inferred, hidden_s) },
    { "backward_s", FIELD_AMOUNT, FIELD(struct report_inferred, backward_s) },
    { "rest_s", FIELD_AMOUNT, FIELD(struct report_inferred, rest_s) },
    { 0 },
};

static const struct json_field text_fields[] = {
    { "inferred", FIELD_PART, PART(struct report_step_phases, inferred, inferred_fields) },
    { "text", FIELD_TEXT, FIELD(struct report_step_phases, text) },
    { 0 },
};

static const char *node_of(const struct view *v, uint32_t rank, double now_s)
{
    struct view_rank_figures f;

    return view_rank_get(v, now_s, rank, &f) ? f.node : "";
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
static void infer(struct report_inferred *i, const struct report_overlap *r, char *buf, size_t size)
{
    double own_s = r->step_s - r->all.waiting_s - r->all.exposed_s,
           backward_s = isnan(r->all.ready_s) ? NAN : fmin(r->all.ready_s, own_s);

    if (r->missing[0] || !(own_s >= 0))
        return;
    *i = (struct report_inferred){ .known = true,
                                   .step_s = r->step_s,
                                   .waiting_s = r->all.waiting_s,
                                   .exposed_s = r->all.exposed_s,
                                   .hidden_s = r->all.hidden_s.value,
                                   .backward_s = backward_s,
                                   .rest_s = own_s - (isnan(backward_s) ? 0 : backward_s) };
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
}

void report_step_phases_get(struct report_step_phases *s, const struct view *v, double now_s,
                            const struct report_overlap *overlap)
{
    char guess[256] = "";
    struct view_marked m;

    *s = (struct report_step_phases){ 0 };
    report_step_phases_read(s, NULL); /* nothing is known */
    if (view_marked_get(v, &m))
        write_marked(v, now_s, &m, overlap, s->text, sizeof(s->text));
    for (int i = 0; i < MARKS_PHASES; i++) {
        const struct view_phase_time *t = &m.phase[i];
        struct report_phase *p = &s->phase[s->n];

        if (!t->ranks)
            continue;
        s->n++;
        *p = (struct report_phase){ "", t->ranks, t->median_s, t->least_s, t->most_s, t->most_rank, "" };
        snprintf(p->phase, sizeof(p->phase), "%s", marks_phase_name((enum marks_phase)i));
        snprintf(p->most_node, sizeof(p->most_node), "%s", node_of(v, t->most_rank, now_s));
    }
    infer(&s->inferred, overlap, guess, sizeof(guess));
    s->ranks = m.step.ranks;
    s->step_s = m.step.median_s;
    if (s->ranks)
        snprintf(s->source, sizeof(s->source), m.seen ? "PyTorch" : "marks");
    if (!*s->text)
        snprintf(s->text, sizeof(s->text), "%s", guess);
}

json_t *report_step_phases_json(const struct report_step_phases *s)
{
    json_t *o = json_of_fields(s, step_fields);

    json_put_rows(o, "phases", s->phase, sizeof(s->phase[0]), s->n, phase_fields);
    json_put_fields(o, s, text_fields);
    return o;
}

void report_step_phases_read(struct report_step_phases *s, const json_t *o)
{
    json_get_fields(s, o, step_fields);
    s->n = json_get_rows(s->phase, sizeof(s->phase[0]), MARKS_PHASES, o, "phases", phase_fields);
    json_get_fields(s, o, text_fields);
}

bool report_step_phases_known(const struct report_step_phases *s)
{
    return *s->text && (s->ranks > 0 || !isnan(s->inferred.backward_s));
}

/* ---- values ---- */

static const struct json_field value_fields[] = {
    { "ranks", FIELD_COUNT, FIELD(struct report_value, ranks) },
    { "non_finite", FIELD_COUNT, FIELD(struct report_value, non_finite) },
    { "step", FIELD_COUNT, FIELD(struct report_value, step) },
    { "median", FIELD_NUMBER, FIELD(struct report_value, median) },
    { "least", FIELD_NUMBER, FIELD(struct report_value, least) },
    { "most", FIELD_NUMBER, FIELD(struct report_value, most) },
    { 0 },
};

static const struct json_field non_finite_fields[] = {
    { "value", FIELD_TEXT, FIELD(struct report_non_finite, value) },
    { "step", FIELD_COUNT, FIELD(struct report_non_finite, step) },
    { "rank", FIELD_COUNT, FIELD(struct report_non_finite, rank) },
    { "node", FIELD_TEXT, FIELD(struct report_non_finite, node) },
    { "ranks", FIELD_COUNT, FIELD(struct report_non_finite, ranks) },
    { "text", FIELD_TEXT, FIELD(struct report_non_finite, text) },
    { 0 },
};

const struct json_field report_values_fields[] = {
    { "loss", FIELD_PART, PART(struct report_values, value[MARKS_LOSS], value_fields) },
    { "grad_norm", FIELD_PART, PART(struct report_values, value[MARKS_GRAD_NORM], value_fields) },
    { "non_finite", FIELD_PART, PART(struct report_values, non_finite, non_finite_fields) },
    { 0 },
};

void report_values_get(struct report_values *r, const struct view *v, double now_s)
{
    struct view_non_finite bad;

    *r = (struct report_values){ 0 };
    json_get_fields(r, NULL, report_values_fields); /* nothing is known */
    for (int i = 0; i < MARKS_VALUES; i++) {
        struct view_value x;

        if (view_value_get(v, (enum marks_value)i, &x))
            r->value[i] = (struct report_value){ true,     x.ranks, x.non_finite, (int64_t)x.step,
                                                 x.median, x.least, x.most };
    }
    if (!view_non_finite_get(v, &bad))
        return;
    r->non_finite = (struct report_non_finite){
        .known = true, .step = (int64_t)bad.step, .rank = bad.rank, .ranks = bad.ranks
    };
    snprintf(r->non_finite.value, sizeof(r->non_finite.value), "%s", marks_value_name(bad.value));
    snprintf(r->non_finite.node, sizeof(r->non_finite.node), "%s", node_of(v, bad.rank, now_s));
    snprintf(r->non_finite.text, sizeof(r->non_finite.text), "%s", bad.text);
}
