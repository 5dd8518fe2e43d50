#include "report/report_overlap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "view/comms.h"
#include "wire/json.h"

#define WORTH 0.01 /* of the step: what buckets of another size win is said from there on */
#define CLOSE 0.1  /* relative: a closer interval is left out */

static const struct json_field group_fields[] = {
    { "label", FIELD_TEXT, FIELD(struct report_overlap_group, label) },
    { "ranks", FIELD_COUNT, FIELD(struct report_overlap_group, ranks) },
    { "instances", FIELD_COUNT, FIELD(struct report_overlap_group, instances) },
    { "calls", FIELD_AMOUNT, FIELD(struct report_overlap_group, calls) },
    { "nonblocking_ratio", FIELD_SHARE, FIELD(struct report_overlap_group, nonblocking) },
    { "waiting_s", FIELD_AMOUNT, FIELD(struct report_overlap_group, waiting_s) },
    { "exposed_s", FIELD_AMOUNT, FIELD(struct report_overlap_group, exposed_s) },
    { "hidden_s", FIELD_ESTIMATE, FIELD(struct report_overlap_group, hidden_s) },
    { "ready_s", FIELD_AMOUNT, FIELD(struct report_overlap_group, ready_s) },
    { "most_won_s", FIELD_AMOUNT, FIELD(struct report_overlap_group, most_won_s) },
    { "buckets.now", FIELD_AMOUNT, FIELD(struct report_overlap_group, buckets) },
    { "buckets.now_bytes", FIELD_AMOUNT, FIELD(struct report_overlap_group, bucket_bytes) },
    { "buckets.best", FIELD_AMOUNT, FIELD(struct report_overlap_group, best_buckets) },
    { "buckets.best_bytes", FIELD_AMOUNT, FIELD(struct report_overlap_group, best_bucket_bytes) },
    { "buckets.won_s", FIELD_ESTIMATE, FIELD(struct report_overlap_group, won_s) },
    { "buckets.missing", FIELD_TEXT, FIELD(struct report_overlap_group, no_estimate) },
    { 0 },
};

static const struct json_field all_fields[] = {
    { "text", FIELD_TEXT, FIELD(struct report_overlap, text) },
    { "steps", FIELD_COUNT, FIELD(struct report_overlap, steps) },
    { "step_s", FIELD_AMOUNT, FIELD(struct report_overlap, step_s) },
    { "nonblocking_ratio", FIELD_SHARE, FIELD(struct report_overlap, all.nonblocking) },
    { "waiting_s", FIELD_AMOUNT, FIELD(struct report_overlap, all.waiting_s) },
    { "exposed_s", FIELD_AMOUNT, FIELD(struct report_overlap, all.exposed_s) },
    { "hidden_s", FIELD_ESTIMATE, FIELD(struct report_overlap, all.hidden_s) },
    { "ready_s", FIELD_AMOUNT, FIELD(struct report_overlap, all.ready_s) },
    { "most_won_s", FIELD_AMOUNT, FIELD(struct report_overlap, all.most_won_s) },
    { 0 },
};

static struct report_overlap_group group_of(const struct overlap_group *o)
{
    struct report_overlap_group g = { .ranks = o->ranks,
                                      .instances = 1,
                                      .calls = o->calls,
                                      .nonblocking = o->nonblocking_ratio,
                                      .waiting_s = o->waiting_s,
                                      .exposed_s = o->exposed_s,
                                      .ready_s = o->ready_s,
                                      .most_won_s = o->most_won_s,
                                      .hidden_s = o->hidden_s,
                                      .won_s = o->buckets.won_s,
                                      .buckets = o->buckets.now,
                                      .bucket_bytes = o->buckets.now_bytes,
                                      .best_buckets = o->buckets.best,
                                      .best_bucket_bytes = o->buckets.best_bytes };

    if (o->buckets.missing)
        snprintf(g.no_estimate, sizeof(g.no_estimate), "%s", o->buckets.missing);
    return g;
}

/* " 5.00 ms", " 5.00 ms (4.10 ms to 6.20 ms)", " at most 6.20 ms", " an unknown time" */
static void append_hidden(char *buf, size_t size, const struct linkfit_range *h)
{
    if (isnan(h->value))
        text_append(buf, size, isnan(h->high) ? " an unknown time" : " at most %s", text_s(h->high).s);
    else if (h->high - h->low > CLOSE * h->value)
        text_append(buf, size, " %s (%s to %s)", text_s(h->value).s, text_s(h->low).s, text_s(h->high).s);
    else
        text_append(buf, size, " %s", text_s(h->value).s);
}

static void put_text_of(struct report_overlap *r)
{
    const struct report_overlap_group *a = &r->all;
    char share[128];

    snprintf(share, sizeof(share), "%s a step (%s)", text_s(a->exposed_s).s,
             text_percent(a->exposed_s / r->step_s).s);
    if (r->steps == 1)
        text_append(r->text, sizeof(r->text), "in the newest step ");
    else if (r->steps)
        text_append(r->text, sizeof(r->text), "in the newest %lld steps ", (long long)r->steps);
    if (a->nonblocking > 0 || !(a->hidden_s.high == 0)) {
        text_append(r->text, sizeof(r->text), "transfers hold a rank for %s and run beside its work for",
                    share);
        append_hidden(r->text, sizeof(r->text), &a->hidden_s);
    } else {
        text_append(r->text, sizeof(r->text), "every call blocks, so that all transfers hold their ranks: %s",
                    share);
    }
    text_append(r->text, sizeof(r->text), "; with all of them hidden a step would be at most %s shorter (%s)",
                text_s(a->most_won_s).s, text_percent(a->most_won_s / r->step_s).s);
    for (const struct report_overlap_group *g = r->group; g < r->group + r->n; g++)
        if (g->won_s.value > WORTH * r->step_s)
            text_append(r->text, sizeof(r->text),
                        "; on %s %s buckets of %s instead of %s of %s would win about %s of it (%s to %s)",
                        g->label, text_count(g->best_buckets).s, text_bytes(g->best_bucket_bytes).s,
                        text_number(g->buckets).s, text_bytes(g->bucket_bytes).s, text_s(g->won_s.value).s,
                        text_s(g->won_s.low).s, text_s(g->won_s.high).s);
}

void report_overlap_get(struct report_overlap *r, const struct view *v, double now_s)
{
    struct view_overlap *o = xcalloc(1, sizeof(*o));
    const char *missing = view_overlap_get(v, now_s, o);

    memset(r, 0, sizeof(*r));
    if (missing) {
        snprintf(r->missing, sizeof(r->missing), "%s", missing);
        free(o);
        return;
    }
    r->steps = o->o.steps;
    r->step_s = o->o.step_s;
    r->all = group_of(&o->o.all);
    for (r->n = 0; r->n < o->o.n; r->n++) {
        const struct view_overlap_group *k = &o->group[r->n];
        struct report_overlap_group *g = &r->group[r->n];

        *g = group_of(&o->o.group[r->n]);
        g->instances = k->instances;
        if (!k->size)
            snprintf(g->label, sizeof(g->label), "messages");
        else if (k->instances > 1)
            snprintf(g->label, sizeof(g->label), "%u groups of %u", k->instances, k->size);
        else
            view_comm_label(v, k->comm, g->label, sizeof(g->label));
    }
    put_text_of(r);
    free(o);
}

json_t *report_overlap_json(const struct report_overlap *r)
{
    json_t *o = json_object();

    if (r->missing[0]) {
        json_put_text(o, "missing", r->missing);
        return o;
    }
    json_put_fields(o, r, all_fields);
    json_put_rows(o, "groups", r->group, sizeof(r->group[0]), r->n, group_fields);
    return o;
}

void report_overlap_read(struct report_overlap *r, const json_t *o)
{
    json_get_fields(r, o, all_fields);
    json_get_text(o, "missing", r->missing, sizeof(r->missing));
    r->n = json_get_rows(r->group, sizeof(r->group[0]), OVERLAP_GROUPS_MAX, o, "groups", group_fields);
}
