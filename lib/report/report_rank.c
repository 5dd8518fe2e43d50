#include "report/report_rank.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "report/report_history.h"
#include "ring/ring.h"
#include "view/comms.h"
#include "view/marks.h"
#include "view/timeline.h"
#include "view/view.h"
#include "wire/json.h"

static const struct json_field rank_fields[] = {
    { "rank", FIELD_COUNT, FIELD(struct report_rank, rank) },
    { "node", FIELD_TEXT, FIELD(struct report_rank, node) },
    { "switch", FIELD_TEXT, FIELD(struct report_rank, switch_name) },
    { "lateness_s", FIELD_AMOUNT, FIELD(struct report_rank, lateness_s) },
    { "lateness_p50_s", FIELD_AMOUNT, FIELD(struct report_rank, lateness_p50_s) },
    { "lateness_p95_s", FIELD_AMOUNT, FIELD(struct report_rank, lateness_p95_s) },
    { "lateness_p99_s", FIELD_AMOUNT, FIELD(struct report_rank, lateness_p99_s) },
    { "wait_s", FIELD_AMOUNT, FIELD(struct report_rank, wait_s) },
    { "delay_s", FIELD_AMOUNT, FIELD(struct report_rank, delay_s) },
    { "last_ratio", FIELD_AMOUNT, FIELD(struct report_rank, last_ratio) },
    { "compute_s", FIELD_AMOUNT, FIELD(struct report_rank, compute_s) },
    { "stay_s", FIELD_AMOUNT, FIELD(struct report_rank, stay_s) },
    { "slowdown", FIELD_AMOUNT, FIELD(struct report_rank, slowdown) },
    { 0 },
};

static const struct json_field inside_fields[] = {
    { "op", FIELD_TEXT, FIELD(struct report_rank, op) },
    { "comm", FIELD_TEXT, FIELD(struct report_rank, comm) },
    { "seq", FIELD_COUNT, FIELD(struct report_rank, seq) },
    { "age_s", FIELD_AMOUNT, FIELD(struct report_rank, inside_age_s) },
    { 0 },
};

static const struct json_field message_fields[] = {
    { "message", FIELD_TEXT, FIELD(struct report_rank, message) },
    { "peer", FIELD_COUNT, FIELD(struct report_rank, peer) },
    { "tag", FIELD_INTEGER, FIELD(struct report_rank, tag) },
    { 0 },
};

static const struct json_field condition_fields[] = {
    { "phase", FIELD_TEXT | FIELD_OPTIONAL, FIELD(struct report_rank, phase) },
    { "phase_s", FIELD_AMOUNT | FIELD_OPTIONAL, FIELD(struct report_rank, phase_s) },
    { "health", FIELD_PART | FIELD_OPTIONAL, PART(struct report_rank, health, report_rank_health_fields) },
    { 0 },
};

static const struct json_field job_fields[] = {
    { "pid", FIELD_COUNT, FIELD(struct report_rank, pid) },
    { "state", FIELD_TEXT, FIELD(struct report_rank, state) },
    { "state_s", FIELD_AMOUNT, FIELD(struct report_rank, state_s) },
    { "outside_s", FIELD_AMOUNT, FIELD(struct report_rank, outside_s) },
    { 0 },
};

static const struct json_field trace_fields[] = {
    { "lost", FIELD_COUNT, FIELD(struct report_rank, lost) },
    { 0 },
};

/* ---- writing ---- */

static const char *state_name(const struct view_rank_figures *f)
{
    static const char *const states[PROCESS_STATES] = {
        [PROCESS_RUNS] = "running",
        [PROCESS_STOPPED] = "stopped",
        [PROCESS_TRACED] = "traced",
        [PROCESS_BLOCKED] = "blocked",
    };

    if (f->ended)
        return f->gone ? "gone" : "ended";
    return f->heard ? states[f->process] : "unknown";
}

void report_rank_get(struct report_rank *r, const struct view *v, double now_s,
                     const struct view_rank_figures *f)
{
    enum marks_phase phase;

    *r = (struct report_rank){
        .rank = f->rank,
        .lateness_s = f->lateness_s,
        .lateness_p50_s = f->lateness_p50_s,
        .lateness_p95_s = f->lateness_p95_s,
        .lateness_p99_s = f->lateness_p99_s,
        .wait_s = f->wait_s,
        .delay_s = f->delay_s,
        .last_ratio = f->last_ratio,
        .compute_s = f->compute_s,
        .stay_s = f->stay_s,
        .slowdown = f->slowdown,
        .seq = -1,
        .inside_age_s = NAN,
        .peer = -1,
        .pid = f->pid,
        .state_s = f->process == PROCESS_RUNS ? NAN : f->process_s,
        .outside_s = f->outside_s,
        .lost = -1,
    };
    snprintf(r->node, sizeof(r->node), "%s", f->node);
    snprintf(r->switch_name, sizeof(r->switch_name), "%s", f->switch_name);
    snprintf(r->state, sizeof(r->state), "%s", state_name(f));
    if (f->inside_op != RING_OP_NONE) {
        r->inside = true;
        r->seq = f->inside_seq;
        r->inside_age_s = f->inside_s;
        snprintf(r->op, sizeof(r->op), "%s", ring_op_name(f->inside_op));
        view_comm_label(v, f->inside_comm, r->comm, sizeof(r->comm));
    }
    if (r->inside && f->partner) {
        snprintf(r->message, sizeof(r->message), "%s", ring_op_name(f->partner->op));
        r->peer = f->partner->peer;
        r->tag = f->partner->tag;
    }
    phase = view_rank_phase(v, now_s, f->rank, &r->phase_s);
    if (phase != MARKS_PHASES)
        snprintf(r->phase, sizeof(r->phase), "%s", marks_phase_name(phase));
    else
        r->phase_s = NAN;
    report_rank_health_get(&r->health, v, now_s, f->rank);
}

json_t *report_rank_json(const struct report_rank *r, enum report_rank_of of)
{
    json_t *o = json_object(), *inside = r->inside ? json_object() : NULL;

    json_put_fields(o, r, rank_fields);
    if (inside)
        json_put_fields(inside, r, inside_fields);
    if (inside && *r->message)
        json_put_fields(inside, r, message_fields);
    json_put_json(o, "inside", inside);
    json_put_fields(o, r, condition_fields);
    json_put_fields(o, r, of == RANK_OF_JOB ? job_fields : trace_fields);
    return o;
}

char *report_rank_inside(char *buf, size_t size, const struct report_rank *r, bool brief, double *for_s)
{
    buf[0] = '\0';
    *for_s = r->inside ? r->inside_age_s : r->outside_s;
    if (!r->inside && !isnan(r->outside_s))
        text_append(buf, size, "no call");
    else if (r->inside && *r->message)
        text_append(buf, size, "%s %s rank %s", r->message, !strcmp(r->message, "send") ? "to" : "from",
                    text_count((double)r->peer).s);
    else if (r->inside)
        text_append(buf, size, "%s", *r->op ? r->op : "-");
    if (r->inside && !*r->message && !brief)
        text_append(buf, size, " %s on %s", text_count((double)r->seq).s, *r->comm ? r->comm : "-");
    return buf;
}

/* ---- the heat map ---- */

void report_rank_heat_get(struct report_rank *r, const struct view *v, double step_s, uint32_t max)
{
    float late_s[VIEW_COLUMNS];
    size_t have = view_rank_columns(v, (uint32_t)r->rank, late_s), columns = have < max ? have : max;

    for (size_t c = 0; c < columns; c++)
        r->heat[c] = report_heat_level(late_s[have - columns + c], step_s);
    r->heat[columns] = '\0';
}

json_t *report_rank_heat_json(const struct report_rank *r)
{
    json_t *o = json_object();

    json_put_int(o, "rank", r->rank);
    json_put_string(o, "levels", r->heat);
    return o;
}

/* ---- reading ---- */

/* Only what a heat row may hold; of a long one the newest. */
static void read_levels(char heat[REPORT_HEAT_MAX + 1], const char *levels)
{
    size_t n = strlen(levels), i;

    if (n > REPORT_HEAT_MAX) {
        levels += n - REPORT_HEAT_MAX;
        n = REPORT_HEAT_MAX;
    }
    for (i = 0; i < n; i++)
        heat[i] = levels[i] >= '0' && levels[i] <= '9' ? levels[i] : '.';
    heat[i] = '\0';
}

struct report_rank *report_ranks_read(const json_t *answer, size_t *n, struct report_heat_row **row,
                                      size_t *n_rows)
{
    const json_t *list = json_get_list(answer, "rank_table", REPORT_RANKS_MAX, n);
    struct report_rank *rank = xcalloc(*n, sizeof(*rank));
    size_t n_heat, cap = 0;
    const json_t *heat = json_get_list(json_get_object(answer, "heat"), "rows", VIEW_RANKS_MAX, &n_heat);

    *row = NULL;
    *n_rows = 0;
    for (size_t i = 0; i < *n; i++) {
        const json_t *o = json_array_get(list, i), *inside = json_get_object(o, "inside");
        struct report_rank *r = &rank[i];

        json_get_fields(r, o, rank_fields);
        r->inside = inside != NULL;
        json_get_fields(r, inside, inside_fields);
        json_get_fields(r, inside, message_fields);
        json_get_fields(r, o, condition_fields);
        json_get_fields(r, o, job_fields);
        json_get_fields(r, o, trace_fields);
    }
    for (size_t i = 0; i < n_heat; i++) {
        const json_t *o = json_array_get(heat, i);
        const char *levels = json_get_string(o, "levels");
        int64_t of = json_get_count(o, "rank");
        size_t k = i < *n && rank[i].rank == of ? i : 0; /* they come in the table's order */

        while (k < *n && rank[k].rank != of)
            k++;
        if (!levels || of < 0)
            continue;
        if (k < *n) {
            read_levels(rank[k].heat, levels);
            continue;
        }
        *row = xgrow(*row, &cap, *n_rows + 1, sizeof(**row));
        (*row)[*n_rows].rank = of;
        read_levels((*row)[(*n_rows)++].levels, levels);
    }
    return rank;
}
