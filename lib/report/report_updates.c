#include "report/report_updates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "view/figures.h"
#include "view/updates.h"
#include "wire/json.h"

static const struct json_field rank_fields[] = {
    { "rank", FIELD_COUNT, FIELD(struct report_updates_rank, rank) },
    { "node", FIELD_TEXT, FIELD(struct report_updates_rank, node) },
    { "part", FIELD_TEXT, FIELD(struct report_updates_rank, part) },
    { "updates", FIELD_COUNT, FIELD(struct report_updates_rank, updates) },
    { "update_bytes", FIELD_AMOUNT, FIELD(struct report_updates_rank, update_bytes) },
    { "iteration_s", FIELD_AMOUNT, FIELD(struct report_updates_rank, iteration_s) },
    { "work_s", FIELD_AMOUNT, FIELD(struct report_updates_rank, work_s) },
    { "wait_s", FIELD_AMOUNT, FIELD(struct report_updates_rank, wait_s) },
    { "work_ratio", FIELD_AMOUNT, FIELD(struct report_updates_rank, times) },
    { "slowdown", FIELD_AMOUNT, FIELD(struct report_updates_rank, slowdown) },
    { "staleness.mean", FIELD_AMOUNT, FIELD(struct report_updates_rank, stale_mean) },
    { "staleness.p95", FIELD_AMOUNT, FIELD(struct report_updates_rank, stale_p95) },
    { "staleness.max", FIELD_COUNT, FIELD(struct report_updates_rank, stale_max) },
    { "busy.ratio", FIELD_AMOUNT, FIELD(struct report_updates_rank, busy_ratio) },
    { "busy.low", FIELD_AMOUNT, FIELD(struct report_updates_rank, busy_low) },
    { "busy.high", FIELD_AMOUNT, FIELD(struct report_updates_rank, busy_high) },
    { "limit", FIELD_TRUE, FIELD(struct report_updates_rank, limit) },
    { "silent_s", FIELD_AMOUNT, FIELD(struct report_updates_rank, silent_s) },
    { "silent", FIELD_TRUE, FIELD(struct report_updates_rank, silent) },
    { 0 },
};

static const struct json_field fields[] = {
    { "text", FIELD_TEXT, FIELD(struct report_updates, text) },
    { "standing", FIELD_TRUE, FIELD(struct report_updates, standing) },
    { "servers", FIELD_COUNT, FIELD(struct report_updates, servers) },
    { "workers", FIELD_COUNT, FIELD(struct report_updates, workers) },
    { "silent", FIELD_COUNT, FIELD(struct report_updates, silent) },
    { "iterations_per_s", FIELD_AMOUNT, FIELD(struct report_updates, iterations_per_s) },
    { "server_busy_ratio", FIELD_SHARE, FIELD(struct report_updates, busy_ratio) },
    { "worker_wait_ratio", FIELD_SHARE, FIELD(struct report_updates, wait_ratio) },
    { "staleness.mean", FIELD_AMOUNT, FIELD(struct report_updates, stale_mean) },
    { "staleness.p95", FIELD_AMOUNT, FIELD(struct report_updates, stale_p95) },
    { "staleness.max", FIELD_COUNT, FIELD(struct report_updates, stale_max) },
    { "lr_lambda_limit.mean", FIELD_AMOUNT, FIELD(struct report_updates, limit) },
    { "lr_lambda_limit.p95", FIELD_AMOUNT, FIELD(struct report_updates, limit_p95) },
    { "lr_lambda_limit.fresh", FIELD_AMOUNT, FIELD(struct report_updates, limit_fresh) },
    { 0 },
};

/* The slowest against the others of their kind first; then by number. */
static int by_times(const void *a, const void *b)
{
    const struct updates_rank *x = *(const struct updates_rank *const *)a,
                              *y = *(const struct updates_rank *const *)b;
    double p = isnan(x->times) ? 0 : x->times, q = isnan(y->times) ? 0 : y->times;

    return q != p ? (q > p) - (q < p) : (x->rank > y->rank) - (x->rank < y->rank);
}

static struct report_updates_rank row_of(const struct view *v, double now_s, const struct updates_rank *k)
{
    struct report_updates_rank r = { .rank = k->rank,
                                     .updates = (int64_t)k->updates,
                                     .update_bytes = k->bytes,
                                     .iteration_s = k->turn_s,
                                     .work_s = k->work_s,
                                     .wait_s = k->wait_s,
                                     .times = k->times,
                                     .slowdown = k->slowdown,
                                     .busy_ratio = k->busy_ratio,
                                     .busy_low = k->busy.low,
                                     .busy_high = k->busy.high,
                                     .limit = k->limit,
                                     .silent_s = k->silent_s,
                                     .silent = k->silent,
                                     .stale_mean = k->stale_mean,
                                     .stale_p95 = k->stale_p95,
                                     .stale_max = isnan(k->stale_mean) ? -1 : (int64_t)k->stale_max };
    struct view_rank_figures f;

    if (view_rank_get(v, now_s, k->rank, &f))
        snprintf(r.node, sizeof(r.node), "%s", f.node);
    snprintf(r.part, sizeof(r.part), "%s", k->serves ? "server" : "worker");
    return r;
}

void report_updates_get(struct report_updates *r, const struct view *v, double now_s)
{
    const struct updates_rank **list;
    struct view_updates f;

    memset(r, 0, sizeof(*r));
    if (!view_updates_get(v, &f))
        return;
    r->known = true;
    r->standing = f.u.found;
    r->servers = f.u.servers;
    r->workers = f.u.workers;
    r->silent = f.u.silent;
    r->iterations_per_s = f.u.per_s;
    r->busy_ratio = f.u.busy_ratio;
    r->wait_ratio = f.u.wait_ratio;
    r->stale_mean = f.u.stale_mean;
    r->stale_p95 = f.u.stale_p95;
    r->stale_max = isnan(f.u.stale_mean) ? -1 : (int64_t)f.u.stale_max;
    r->limit = f.limit;
    r->limit_p95 = f.limit_p95;
    r->limit_fresh = f.limit_fresh;
    view_updates_text(&f, r->text, sizeof(r->text));
    list = xcalloc(f.u.n, sizeof(*list));
    for (size_t i = 0; i < f.u.n; i++)
        list[i] = &f.u.rank[i];
    qsort(list, f.u.n, sizeof(*list), by_times);
    for (; r->n < f.u.n && r->n < REPORT_UPDATES_RANKS; r->n++)
        r->rank[r->n] = row_of(v, now_s, list[r->n]);
    free(list);
}

json_t *report_updates_json(const struct report_updates *r)
{
    json_t *o = json_object();

    json_put_fields(o, r, fields);
    json_put_rows(o, "ranks", r->rank, sizeof(r->rank[0]), r->n, rank_fields);
    return o;
}

void report_updates_read(struct report_updates *r, const json_t *o)
{
    r->known = o != NULL;
    json_get_fields(r, o, fields);
    r->n = json_get_rows(r->rank, sizeof(r->rank[0]), REPORT_UPDATES_RANKS, o, "ranks", rank_fields);
}
