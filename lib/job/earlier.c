#include "job/earlier.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/now.h"
#include "common/xalloc.h"
#include "job/cadence.h"
#include "job/job.h"
#include "view/verdicts.h"
#include "view/view.h"
#include "wire/json.h"

#define TIME_MAX 4e9 /* Unix seconds */

/* Unix time of the controller's clock, and back. */
struct clocks {
    double wall_s, now_s;
};

static double wall_of(const struct clocks *c, double at_s)
{
    return c->wall_s + (at_s - c->now_s);
}

static double own_of(const struct clocks *c, const json_t *o, const char *key)
{
    return c->now_s + (json_get_real(o, key, 0, TIME_MAX) - c->wall_s);
}

static void put_number(json_t *o, const char *key, uint64_t number) /* also one above INT64_MAX */
{
    char hex[24];

    snprintf(hex, sizeof(hex), "%llx", (unsigned long long)number);
    json_put_string(o, key, hex);
}

static uint64_t get_hex(const json_t *o, const char *key)
{
    return strtoull(json_get_word(o, key), NULL, 16);
}

/* ---- writing ---- */

static json_t *verdict_json(const struct job *j, const struct clocks *c, const struct view_verdict *d)
{
    json_t *o = json_object(), *culprits = json_array();
    char text[sizeof(d->text)];

    for (uint32_t i = 0; i < d->n_culprits; i++)
        json_array_append_new(culprits, json_of_text(d->culprit[i]));
    json_put_int(o, "class", d->finding.class);
    json_put_int(o, "scope", d->finding.scope);
    json_put_json(o, "culprits", culprits);
    json_put_bool(o, "standing", d->finding.standing);
    json_put_bool(o, "follows", d->finding.follows);
    json_put_bool(o, "minor", d->minor);
    json_put_real(o, "since", wall_of(c, d->since_s));
    json_put_real(o, "found", wall_of(c, d->found_s));
    json_put_real(o, "over", d->finding.standing ? NAN : wall_of(c, d->over_s));
    json_put_int(o, "since_step", d->since_step);
    json_put_int(o, "found_step", d->found_step);
    json_put_int(o, "onset_seq", d->finding.onset_seq);
    json_put_int(o, "named_seq", d->finding.named_seq);
    json_put_int(o, "onset_step", (int64_t)d->finding.onset_step);
    json_put_real(o, "saved_s", d->finding.saved_s);
    json_put_real(o, "low", d->finding.cost.low);
    json_put_real(o, "high", d->finding.cost.high);
    json_put_real(o, "excess", d->finding.excess);
    json_put_real(o, "last_ratio", d->finding.last_ratio);
    json_put_real(o, "rate", d->finding.rate);
    json_put_int(o, "times", d->times);
    json_put_text(o, "text", view_verdict_past(j->view, d, text, sizeof(text)));
    json_put_text(o, "cause", d->cause);
    return o;
}

static json_t *agents_json(const struct job *j)
{
    json_t *list = json_array();

    for (size_t i = 0; i < j->n_agents; i++) {
        const struct job_agent *a = j->agent[i];
        json_t *o = json_object();

        json_put_text(o, "node", a->node);
        put_number(o, "life", a->instance);
        json_put_int(o, "batch", (int64_t)a->batch);
        json_put_real(o, "energy_j", a->energy_j);
        json_put_real(o, "energy_before_j", a->energy_before_j);
        json_array_append_new(list, o);
    }
    return list;
}

/* What ranks spent their time on: see detect/efficiency.h. */
static const struct json_field spent_fields[] = {
    { "useful", FIELD_AMOUNT, FIELD(struct efficiency_sums, useful) },
    { "longest_sum", FIELD_AMOUNT, FIELD(struct efficiency_sums, longest_sum) },
    { "wait_s", FIELD_AMOUNT, FIELD(struct efficiency_sums, wait_s) },
    { "transfer_s", FIELD_AMOUNT, FIELD(struct efficiency_sums, transfer_s) },
    { "stay_s", FIELD_AMOUNT, FIELD(struct efficiency_sums, stay_s) },
    { "time_s", FIELD_AMOUNT, FIELD(struct efficiency_sums, time_s) },
    { 0 },
};

static json_t *spent_json(uint32_t size, const struct efficiency_sums *s)
{
    json_t *o = json_object();

    json_put_int(o, "size", size);
    json_put_int(o, "ranks", s->ranks);
    json_put_int(o, "groups", s->groups);
    json_put_fields(o, s, spent_fields);
    return o;
}

static json_t *position_json(const struct job *j, const struct clocks *c)
{
    struct view_position p;
    json_t *o = json_object(), *spent = json_array();

    view_position_get(j->view, &p);
    /* Of the job, as if of size 0, and of the communicators of each size. */
    json_array_append_new(spent, spent_json(0, &p.spent));
    for (size_t i = 0; i < VIEW_SIZES_MAX && p.of_size[i].size; i++)
        json_array_append_new(spent, spent_json(p.of_size[i].size, &p.of_size[i].sums));
    json_put_real(o, "began", wall_of(c, p.began_s));
    json_put_int(o, "steps", (int64_t)p.steps);
    put_number(o, "comm", p.comm);
    json_put_int(o, "size", p.size);
    json_put_int(o, "period", p.period);
    json_put_count(o, "counted", p.counts ? (int64_t)p.counted : -1);
    json_put_int(o, "app", p.app);
    json_put_json(o, "spent", spent);
    json_put_real(o, "suspended_s", p.suspended_s);
    json_put_bool(o, "judged", p.judged);
    return o;
}

static json_t *events_json(const struct job *j, const struct clocks *c)
{
    json_t *list = json_array();

    for (size_t i = 0; i < j->events.n; i++) {
        json_t *o = json_object();

        json_put_real(o, "at", wall_of(c, j->events.event[i].at_s));
        json_put_text(o, "key", j->events.event[i].key);
        json_put_text(o, "text", j->events.event[i].text);
        json_array_append_new(list, o);
    }
    return list;
}

json_t *earlier_json(const struct job *j, double now_s)
{
    struct clocks c = { wall_s(), now_s };
    const struct view_verdict *d;
    size_t n = view_verdicts_raised(j->view, &d);
    json_t *o = json_object(), *verdicts = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(verdicts, verdict_json(j, &c, &d[i]));
    json_put_real(o, "at", c.wall_s);
    json_put_real(o, "start", j->start_wall_s);
    json_put_real(o, "unsaved", wall_of(&c, cadence_unsaved_since_s(j)));
    json_put_bool(o, "rank_broke", j->rank_broke);
    json_put_json(o, "position", position_json(j, &c));
    json_put_json(o, "agents", agents_json(j));
    json_put_json(o, "verdicts", verdicts);
    json_put_json(o, "events", events_json(j, &c));
    return o;
}

/* ---- reading ---- */

static bool take_verdict(struct view_verdict *d, const struct clocks *c, double until_s, const json_t *o)
{
    int64_t class = json_get_int(o, "class", 0, FINDING_CLASSES - 1, -1),
            scope = json_get_int(o, "scope", 0, SCOPES - 1, -1);

    if (class < 0 || scope < 0)
        return false;
    *d =
        (struct view_verdict){ .finding = { .class = (enum finding_class) class,
                                            .scope = (enum finding_scope)scope,
                                            .follows = json_get_true(o, "follows"),
                                            .standing = json_get_true(o, "standing"),
                                            .onset_seq = json_get_int(o, "onset_seq", -1, INT64_MAX, -1),
                                            .named_seq = json_get_int(o, "named_seq", -1, INT64_MAX, -1),
                                            .onset_step =
                                                (uint64_t)json_get_int(o, "onset_step", 0, INT64_MAX, 0),
                                            .saved_s = json_get_real(o, "saved_s", 0, TIME_MAX),
                                            .slowdown = NAN,
                                            .alone = NAN,
                                            .cost = { json_get_number(o, "low"), json_get_number(o, "high") },
                                            .excess = json_get_number(o, "excess"),
                                            .last_ratio = json_get_share(o, "last_ratio"),
                                            .rate = json_get_number(o, "rate"),
                                            .z = NAN },
                               .since_step = json_get_int(o, "since_step", -1, INT64_MAX, -1),
                               .found_step = json_get_int(o, "found_step", -1, INT64_MAX, -1),
                               .since_s = own_of(c, o, "since"),
                               .found_s = own_of(c, o, "found"),
                               .over_s = own_of(c, o, "over"),
                               .minor = json_get_true(o, "minor"),
                               .times = (uint32_t)json_get_int(o, "times", 1, 1000000, 1) };
    if (isnan(d->over_s))
        d->over_s = until_s;
    d->n_culprits =
        (uint32_t)json_get_lines(d->culprit[0], VIEW_CULPRIT_SIZE, VIEW_CULPRITS_MAX, o, "culprits");
    json_get_text(o, "text", d->text, sizeof(d->text));
    json_get_text(o, "cause", d->cause, sizeof(d->cause));
    return !isnan(d->found_s);
}

static bool take_spent(struct view_spent *to, const json_t *o)
{
    struct efficiency_sums *s = &to->sums;

    *to = (struct view_spent){ .size = (uint32_t)json_get_int(o, "size", 0, VIEW_RANKS_MAX, 0) };
    json_get_fields(s, o, spent_fields);
    s->ranks = (uint32_t)json_get_int(o, "ranks", 0, UINT32_MAX, 0);
    s->groups = (uint32_t)json_get_int(o, "groups", 0, UINT32_MAX, 0);
    return s->useful <= s->ranks && s->longest_sum <= s->groups && s->wait_s >= 0 && s->transfer_s >= 0 &&
           s->stay_s <= s->time_s;
}

static void take_position(struct job *j, const struct clocks *c, double until_s, const json_t *earlier)
{
    const json_t *o = json_get_object(earlier, "position");
    struct view_position p = { .began_s = own_of(c, o, "began"),
                               .steps = (uint64_t)json_get_int(o, "steps", 0, INT64_MAX, 0),
                               .comm = get_hex(o, "comm"),
                               .size = (uint32_t)json_get_int(o, "size", 0, VIEW_RANKS_MAX, 0),
                               .period = (uint32_t)json_get_int(o, "period", 0, UINT32_MAX, 0),
                               .counted = (uint32_t)json_get_int(o, "counted", 0, UINT32_MAX, 0),
                               .counts = json_get_int(o, "counted", 0, UINT32_MAX, -1) >= 0,
                               .app = (uint16_t)json_get_int(o, "app", 0, UINT16_MAX, 0),
                               .suspended_s = json_get_real(o, "suspended_s", 0, TIME_MAX),
                               .judged = json_get_true(o, "judged") };
    struct view_verdict *verdict = xcalloc(VIEW_RAISED_MAX, sizeof(*verdict));
    struct view_spent spent;
    const json_t *v;
    size_t i, n = 0, sizes = 0;

    json_array_foreach(json_get_array(earlier, "verdicts"), i, v)
        if (n < VIEW_RAISED_MAX)
            n += take_verdict(&verdict[n], c, until_s, v);
    json_array_foreach(json_get_array(o, "spent"), i, v) {
        if (!take_spent(&spent, v))
            continue;
        if (!spent.size)
            p.spent = spent.sums;
        else if (sizes < VIEW_SIZES_MAX)
            p.of_size[sizes++] = spent;
    }
    view_position_set(j->view, &p, verdict, n);
    free(verdict);
}

static void take_agents(struct job *j, double now_s, const json_t *earlier)
{
    const json_t *o;
    size_t i;

    json_array_foreach(json_get_array(earlier, "agents"), i, o) {
        struct job_agent *a = *json_get_word(o, "node") ? job_agent_get(j, json_get_word(o, "node")) : NULL;
        double before_j = json_get_amount(o, "energy_before_j");

        if (!a)
            continue;
        a->instance = get_hex(o, "life");
        a->batch = (uint64_t)json_get_int(o, "batch", 0, INT64_MAX, 0);
        a->energy_j = json_get_amount(o, "energy_j");
        a->energy_before_j = isnan(before_j) ? 0 : before_j;
        a->heard_s = now_s;
    }
}

static void take_events(struct job *j, const struct clocks *c, const json_t *earlier)
{
    char key[sizeof(j->events.event[0].key)], text[sizeof(j->events.event[0].text)];
    const json_t *o;
    size_t i;

    json_array_foreach(json_get_array(earlier, "events"), i, o) {
        json_get_text(o, "key", key, sizeof(key));
        json_get_text(o, "text", text, sizeof(text));
        if (*text && i < EVENT_LIST_MAX && !isnan(own_of(c, o, "at")))
            event_list_put(&j->events, own_of(c, o, "at"), key, text);
    }
}

void earlier_take(struct job *j, double now_s, const json_t *earlier)
{
    struct clocks c = { wall_s(), now_s };
    double start_s = own_of(&c, earlier, "start"), until_s = own_of(&c, earlier, "at"),
           unsaved_s = own_of(&c, earlier, "unsaved");

    if (!(start_s <= until_s && until_s <= now_s))
        return;
    take_agents(j, now_s, earlier);
    take_position(j, &c, until_s, earlier);
    take_events(j, &c, earlier);
    j->rank_broke = json_get_true(earlier, "rank_broke");
    j->start_s = start_s;
    cadence_unsaved_set(j, unsaved_s >= start_s && unsaved_s <= until_s ? unsaved_s : start_s);
    j->start_wall_s = json_get_real(earlier, "start", 0, TIME_MAX);
    job_event(j, now_s, "the controller was restarted; what it knew of the step %.0f s ago is kept",
              now_s - until_s);
}
