#include "report/report_comm.h"

#include <stdio.h>

#include "ring/ring.h"
#include "wire/json.h"

#define SHOWN_MAX 32u /* communicators of a view */

static const struct json_field comm_fields[] = {
    { "name", FIELD_TEXT, FIELD(struct report_comm, name) },
    { "label", FIELD_TEXT, FIELD(struct report_comm, label) },
    { "size", FIELD_COUNT, FIELD(struct report_comm, size) },
    { "instances", FIELD_COUNT, FIELD(struct report_comm, instances) },
    { "collectives_per_s", FIELD_AMOUNT, FIELD(struct report_comm, collectives_per_s) },
    { "bytes_per_s", FIELD_AMOUNT, FIELD(struct report_comm, bytes_per_s) },
    { "skew_s", FIELD_AMOUNT, FIELD(struct report_comm, skew_s) },
    { "transfer_s", FIELD_AMOUNT, FIELD(struct report_comm, transfer_s) },
    { "efficiency", FIELD_OBJECT, PART(struct report_comm, efficiency, report_efficiency_fields) },
    { 0 },
};

static const struct json_field shortfall_fields[] = {
    { "label", FIELD_TEXT, FIELD(struct report_shortfall, label) },
    { "op", FIELD_TEXT, FIELD(struct report_shortfall, op) },
    { "ranks", FIELD_COUNT, FIELD(struct report_shortfall, ranks) },
    { "nodes", FIELD_COUNT, FIELD(struct report_shortfall, nodes) },
    { "bytes", FIELD_AMOUNT, FIELD(struct report_shortfall, bytes) },
    { "time_s", FIELD_AMOUNT, FIELD(struct report_shortfall, time_s) },
    { "expected_s", FIELD_AMOUNT, FIELD(struct report_shortfall, expected_s) },
    { "source", FIELD_TEXT, FIELD(struct report_shortfall, source) },
    { "text", FIELD_TEXT, FIELD(struct report_shortfall, text) },
    { 0 },
};

void report_comms_get(struct report_comms *c, const struct view *v, double now_s)
{
    struct view_comm comm[SHOWN_MAX];

    c->n = view_comms_get(v, now_s, comm, SHOWN_MAX);
    for (size_t i = 0; i < c->n; i++) {
        struct report_comm *r = &c->list[i];

        *r = (struct report_comm){ .size = comm[i].size,
                                   .instances = comm[i].instances,
                                   .collectives_per_s = comm[i].collectives_per_s,
                                   .bytes_per_s = comm[i].bytes_per_s,
                                   .skew_s = comm[i].skew_s,
                                   .transfer_s = comm[i].transfer_s };
        report_efficiency_get(&r->efficiency, &comm[i].recent, &comm[i].run);
        snprintf(r->name, sizeof(r->name), "%016llx", (unsigned long long)comm[i].name);
        if (comm[i].instances > 1)
            snprintf(r->label, sizeof(r->label), "%u groups of %u", comm[i].instances, comm[i].size);
        else
            view_comm_label(v, comm[i].name, r->label, sizeof(r->label));
    }
}

json_t *report_comms_json(const struct report_comms *c)
{
    return json_of_rows(c->list, sizeof(c->list[0]), c->n, comm_fields);
}

void report_comms_read(struct report_comms *c, const json_t *answer)
{
    c->n = json_get_rows(c->list, sizeof(c->list[0]), REPORT_COMMS_MAX, answer, "communicators", comm_fields);
}

void report_shortfalls_get(struct report_shortfalls *s, const struct view *v)
{
    static const char *const sources[] = { [BASELINE_BY_ADAPTER] = "adapter",
                                           [BASELINE_BY_PEERS] = "peers",
                                           [BASELINE_BY_SIZES] = "smaller sizes" };
    const struct view_shortfall *found;

    s->n = view_shortfalls_get(v, &found);
    for (size_t i = 0; i < s->n; i++) {
        const struct baseline_shortfall *f = &found[i].s;
        struct report_shortfall *r = &s->list[i];

        *r = (struct report_shortfall){ .ranks = f->ranks,
                                        .nodes = f->nodes,
                                        .bytes = f->bytes,
                                        .time_s = f->time_s,
                                        .expected_s = f->expected_s };
        view_comm_label(v, f->comm, r->label, sizeof(r->label));
        snprintf(r->op, sizeof(r->op), "%s", ring_op_name(f->op));
        snprintf(r->source, sizeof(r->source), "%s", sources[f->source]);
        snprintf(r->text, sizeof(r->text), "%s", found[i].text);
    }
}

json_t *report_shortfalls_json(const struct report_shortfalls *s)
{
    return json_of_rows(s->list, sizeof(s->list[0]), s->n, shortfall_fields);
}

void report_shortfalls_read(struct report_shortfalls *s, const json_t *answer)
{
    s->n = json_get_rows(s->list, sizeof(s->list[0]), VIEW_SHORTFALLS_MAX, answer, "shortfalls",
                         shortfall_fields);
}
