#include "report/report_verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "report/verdict_words.h"
#include "view/figures.h"
#include "view/verdicts.h"

static const struct json_field named_fields[] = {
    { "class", FIELD_TEXT, FIELD(struct report_verdict, class) },
    { "scope", FIELD_TEXT, FIELD(struct report_verdict, scope) },
    { "culprits", FIELD_TEXTS, FIELD(struct report_verdict, culprits) },
    { "slowdown", FIELD_AMOUNT, FIELD(struct report_verdict, slowdown) },
    { "slowdown_low", FIELD_AMOUNT, FIELD(struct report_verdict, slowdown_low) },
    { "slowdown_high", FIELD_AMOUNT, FIELD(struct report_verdict, slowdown_high) },
    { "slowdown_alone", FIELD_AMOUNT, FIELD(struct report_verdict, slowdown_alone) },
    { "slow_messages_ratio", FIELD_AMOUNT, FIELD(struct report_verdict, slow_messages_ratio) },
    { "minor", FIELD_TRUE, FIELD(struct report_verdict, minor) },
    { "text", FIELD_TEXT, FIELD(struct report_verdict, text) },
    { 0 },
};

static const struct json_field found_fields[] = {
    { "since_step", FIELD_COUNT, FIELD(struct report_verdict, since_step) },
    { "found_step", FIELD_COUNT, FIELD(struct report_verdict, found_step) },
    { "onset_seq", FIELD_COUNT, FIELD(struct report_verdict, onset_seq) },
    { "detected_seq", FIELD_COUNT, FIELD(struct report_verdict, detected_seq) },
    { "since_s", FIELD_AMOUNT, FIELD(struct report_verdict, since_s) },
    { "found_s", FIELD_AMOUNT, FIELD(struct report_verdict, found_s) },
    { "standing", FIELD_NOT_FALSE, FIELD(struct report_verdict, standing) },
    { "over_s", FIELD_AMOUNT, FIELD(struct report_verdict, over_s) },
    { "lost_s", FIELD_AMOUNT, FIELD(struct report_verdict, lost_s) },
    { "times", FIELD_COUNT, FIELD(struct report_verdict, times) },
    { "cause", FIELD_TEXT, FIELD(struct report_verdict, cause) },
    { 0 },
};

static const struct json_field process_fields[] = {
    { "rank", FIELD_COUNT, FIELD(struct report_process, rank) },
    { "node", FIELD_TEXT, FIELD(struct report_process, node) },
    { "pid", FIELD_COUNT, FIELD(struct report_process, pid) },
    { 0 },
};

static const struct json_field job_fields[] = {
    { "acknowledged", FIELD_TRUE, FIELD(struct report_verdict, acknowledged) },
    { "next", FIELD_TEXT, FIELD(struct report_verdict, next) },
    { "ahead_s", FIELD_ESTIMATE, FIELD(struct report_verdict, ahead_s) },
    { "process", FIELD_PART, PART(struct report_verdict, process, process_fields) },
    { 0 },
};

static const struct json_field span_fields[] = {
    { "from_s", FIELD_AMOUNT, FIELD(struct report_verdict, from_s) },
    { "to_s", FIELD_AMOUNT, FIELD(struct report_verdict, to_s) },
    { 0 },
};

/* ---- writing ---- */

static void process_get(struct report_process *r, const struct view *v, const struct view_verdict *d,
                        double now_s)
{
    struct view_rank_figures f;

    *r = (struct report_process){ .rank = -1, .pid = -1 };
    if (d->finding.class != FINDING_HANG || d->finding.scope != SCOPE_RANK ||
        !view_rank_get(v, now_s, d->finding.place, &f))
        return;
    r->known = true;
    r->rank = f.rank;
    r->pid = f.pid;
    snprintf(r->node, sizeof(r->node), "%s", f.node);
}

static void get_verdict(struct report_verdict *r, const struct view *v, const struct view_verdict *d,
                        double now_s)
{
    const struct finding *f = &d->finding;
    struct interval slowdown = finding_slowdown_interval(f);

    *r = (struct report_verdict){
        .slowdown = f->slowdown,
        .slowdown_low = slowdown.low,
        .slowdown_high = slowdown.high,
        .slowdown_alone = f->alone,
        .slow_messages_ratio = finding_has_two_speeds(f) ? f->rate : NAN,
        .minor = d->minor,
        .since_step = d->since_step,
        .found_step = d->found_step,
        .onset_seq = f->onset_seq,
        .detected_seq = f->named_seq,
        .since_s = now_s - d->since_s,
        .found_s = now_s - d->found_s,
        .standing = f->standing,
        .over_s = f->standing ? NAN : now_s - d->over_s,
        .lost_s = f->saved_s,
        .times = d->times,
        .detected_record = -1,
        .ahead_s = { NAN, NAN, NAN },
        .from_s = fmax(0, now_s - view_verdict_from_s(d)),
        .to_s = f->standing ? NAN : fmax(0, now_s - d->over_s),
    };
    process_get(&r->process, v, d, now_s);
    snprintf(r->class, sizeof(r->class), "%s", finding_class_name(f->class));
    snprintf(r->scope, sizeof(r->scope), "%s", finding_scope_name(f->scope));
    snprintf(r->text, sizeof(r->text), "%s", d->text);
    snprintf(r->cause, sizeof(r->cause), "%s", d->cause);
    for (uint32_t c = 0; c < d->n_culprits; c++)
        json_texts_add(&r->culprits, d->culprit[c]);
}

static json_t *verdict_json(const struct report_verdict *r, enum report_verdict_of of)
{
    json_t *o = json_of_fields(r, named_fields);

    json_put_fields(o, r, of == VERDICT_OF_TIMELINE ? span_fields : found_fields);
    if (of == VERDICT_OF_JOB)
        json_put_fields(o, r, job_fields);
    if (of != VERDICT_OF_TRACE)
        return o;
    /* Unknown slowdown and detected_seq are left out, so that sums over verdicts need no test. */
    if (!isfinite(r->slowdown))
        json_object_del(o, "slowdown");
    if (r->detected_seq < 0)
        json_object_del(o, "detected_seq");
    json_object_del(o, "minor");
    json_put_count(o, "detected_record", r->detected_record);
    return o;
}

void report_verdicts_get(struct report_verdicts *to, const struct view *v, double now_s)
{
    const struct view_verdict *d;
    size_t n = view_verdicts_reported(v, &d);

    *to = (struct report_verdicts){ .n = n, .list = xcalloc(n, sizeof(*to->list)) };
    for (size_t i = 0; i < n; i++)
        get_verdict(&to->list[i], v, &d[i], now_s);
}

/* Of that time a slowdown of 1.25 takes a fifth. */
static double lost_of(double left_s, double slowdown)
{
    return slowdown >= 1 ? left_s * (1 - 1 / slowdown) : NAN;
}

void report_verdicts_look_ahead(struct report_verdicts *v, double left_s)
{
    for (size_t i = 0; i < v->n; i++) {
        struct report_verdict *r = &v->list[i];

        if (!r->standing)
            continue;
        if (verdict_stops(r->class))
            r->ahead_s = (struct report_ahead){ left_s, left_s, left_s };
        else
            r->ahead_s =
                (struct report_ahead){ lost_of(left_s, r->slowdown), lost_of(left_s, r->slowdown_low),
                                       lost_of(left_s, r->slowdown_high) };
    }
}

/* Places that hide one another have one price, but each can be replaced: each has its entry, beside the
 * names of those that it is priced with. A timeline tells of all at once. */
static void append_each(json_t *list, const struct report_verdict *r, enum report_verdict_of of)
{
    for (size_t i = 0; i < r->culprits.n; i++) {
        json_t *o = verdict_json(r, of), *others = json_array();

        for (size_t k = 0; k < r->culprits.n; k++)
            if (k != i)
                json_array_append_new(others, json_of_text(r->culprits.text[k]));
        json_put_json(o, "culprits", json_pack("[o]", json_of_text(r->culprits.text[i])));
        json_put_json(o, "with", others);
        json_array_append_new(list, o);
    }
}

json_t *report_verdicts_json(const struct report_verdicts *v, enum report_verdict_of of)
{
    json_t *list = json_array();

    for (size_t i = 0; i < v->n; i++)
        if (isnan(v->list[i].slowdown_alone) || of == VERDICT_OF_TIMELINE)
            json_array_append_new(list, verdict_json(&v->list[i], of));
        else
            append_each(list, &v->list[i], of);
    return list;
}

static int by_onset(const void *a, const void *b)
{
    const struct view_verdict *const *x = a, *const *y = b;

    double a_s = view_verdict_from_s(*x), b_s = view_verdict_from_s(*y);

    return (a_s > b_s) - (a_s < b_s);
}

void report_timeline_get(struct report_verdicts *to, const struct view *v, double now_s)
{
    const struct view_verdict *raised, *order[VIEW_RAISED_MAX];
    size_t n = view_verdicts_raised(v, &raised);

    for (size_t i = 0; i < n; i++)
        order[i] = &raised[i];
    qsort(order, n, sizeof(order[0]), by_onset);
    *to = (struct report_verdicts){ .n = n, .list = xcalloc(n, sizeof(*to->list)) };
    for (size_t i = 0; i < n; i++)
        get_verdict(&to->list[i], v, order[i], now_s);
}

void report_verdicts_drop_minor(struct report_verdicts *v)
{
    size_t kept = 0;

    for (size_t i = 0; i < v->n; i++) {
        if (v->list[i].minor)
            json_texts_free(&v->list[i].culprits);
        else
            v->list[kept++] = v->list[i];
    }
    v->n = kept;
}

bool report_verdict_is_priced(const struct report_verdict *v)
{
    return !isnan(v->slowdown) && !view_is_minor(v->slowdown);
}

/* ---- reading ---- */

static bool blames(const struct report_verdict *r, const char *culprit)
{
    for (size_t i = 0; i < r->culprits.n; i++)
        if (!strcmp(r->culprits.text[i], culprit))
            return true;
    return false;
}

/* Those that it is priced with are culprits of the same verdict, whose text all have.  false: it was read
 * with one of them. */
static bool join_places(struct report_verdicts *to, struct report_verdict *r, const json_t *with)
{
    const struct report_verdict *before = to->n ? &to->list[to->n - 1] : NULL;
    const json_t *other;
    size_t i;

    if (before && !isnan(before->slowdown_alone) && !isnan(r->slowdown_alone) && r->culprits.n &&
        blames(before, r->culprits.text[0]) && !strcmp(before->text, r->text))
        return false;
    json_array_foreach(with, i, other)
        if (json_is_string(other))
            json_texts_add(&r->culprits, json_string_value(other));
    return true;
}

static void read_from(struct report_verdicts *to, const json_t *list, size_t from)
{
    size_t end = json_array_size(list) - from < REPORT_VERDICTS_MAX ? json_array_size(list)
                                                                    : from + REPORT_VERDICTS_MAX;

    *to = (struct report_verdicts){ .list = xcalloc(end - from, sizeof(*to->list)) };
    for (size_t i = from; i < end; i++) {
        const json_t *o = json_array_get(list, i);
        struct report_verdict *r = &to->list[to->n];

        if (json_get_true(o, "minor"))
            continue;
        json_get_fields(r, o, named_fields);
        json_get_fields(r, o, found_fields);
        json_get_fields(r, o, job_fields);
        json_get_fields(r, o, span_fields);
        if (join_places(to, r, json_get_array(o, "with")))
            to->n++;
        else
            json_texts_free(&r->culprits);
    }
}

void report_verdicts_read(struct report_verdicts *to, const json_t *answer)
{
    read_from(to, json_get_array(answer, "verdicts"), 0);
}

void report_timeline_read(struct report_verdicts *to, const json_t *answer)
{
    const json_t *list = json_get_array(answer, "timeline");
    size_t n = json_array_size(list);

    read_from(to, list, n > REPORT_VERDICTS_MAX ? n - REPORT_VERDICTS_MAX : 0);
}

void report_verdicts_free(struct report_verdicts *v)
{
    for (size_t i = 0; i < v->n; i++)
        json_texts_free(&v->list[i].culprits);
    free(v->list);
}

/* ---- what it means ---- */

enum severity report_verdict_severity(const struct report_verdict *v)
{
    if (verdict_stops(v->class))
        return SEVERITY_BAD;
    return v->slowdown >= VERDICT_BAD_SLOWDOWN && !v->acknowledged ? SEVERITY_BAD : SEVERITY_WARN;
}
