#include "daemon/query_rows.h"

#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "daemon/query_job.h"
#include "job/pacing.h"
#include "job/report_job.h"
#include "report/report_rank.h"
#include "wire/json.h"

struct query_order {
    struct job_id job;
    uint32_t columns;
    size_t n;
    uint32_t rank[];
};

void query_order_begin(struct peer *p, const struct job *j, struct report_selection *s)
{
    struct report_ranks ranks;
    size_t n;

    report_ranks_get(&ranks, j->view, controller_now_s(), s);
    n = ranks.end - ranks.begin;
    free(p->order);
    p->order = xcalloc(1, sizeof(*p->order) + n * sizeof(p->order->rank[0]));
    p->order->job = j->id;
    p->order->columns = s->columns;
    p->order->n = n;
    for (size_t i = 0; i < n; i++)
        p->order->rank[i] = ranks.f[ranks.begin + i].rank;
    report_ranks_free(&ranks);
    s->count = s->agents = 0;
}

/* ---- the lists ---- */

static json_t *some_ranks(const struct peer *p, const struct job *j, size_t from, size_t end, bool heat)
{
    double now_s = job_newest_s(j, controller_now_s());
    double step_s = view_newest_steps_s(j->view, now_s);
    struct report_ranks ranks;
    json_t *rows = json_array();

    report_ranks_of(&ranks, j->view, now_s, p->order->rank + from, end - from);
    for (size_t i = 0; i < ranks.n; i++) {
        struct report_rank r = { .rank = ranks.f[i].rank };

        if (heat)
            report_rank_heat_get(&r, j->view, step_s, p->order->columns);
        else
            report_rank_get(&r, j->view, now_s, &ranks.f[i]);
        json_array_append_new(rows, heat ? report_rank_heat_json(&r) : report_rank_json(&r, RANK_OF_JOB));
    }
    report_ranks_free(&ranks);
    return rows;
}

static json_t *rank_rows(const struct peer *p, const struct job *j, size_t from, size_t end)
{
    return some_ranks(p, j, from, end, false);
}

static json_t *heat_rows(const struct peer *p, const struct job *j, size_t from, size_t end)
{
    return some_ranks(p, j, from, end, true);
}

static json_t *agent_rows(const struct peer *p, const struct job *j, size_t from, size_t end)
{
    (void)p;
    return report_job_agents(j, controller_now_s(), from, end);
}

static json_t *pace_rows(const struct peer *p, const struct job *j, size_t from, size_t end)
{
    (void)p;
    return pacing_nodes(j, from, end);
}

/* Rows of a page: with every text in them as long as it can be, a page has less than half a frame. */
static const struct {
    const char *name;
    bool of_ranks;
    size_t page;
    json_t *(*rows)(const struct peer *p, const struct job *j, size_t from, size_t end);
} lists[] = {
    { "rank_table", true, 256, rank_rows },
    { "heat.rows", true, 1024, heat_rows },
    { "agents", false, 64, agent_rows },
    { "pace.nodes", false, 128, pace_rows },
};

json_t *query_rows_lists(void)
{
    json_t *names = json_array();

    for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
        json_array_append_new(names, json_string(lists[i].name));
    return names;
}

json_t *query_rows(struct peer *p, const json_t *q)
{
    const char *name = json_get_string(q, "list");
    size_t i = 0, n, from, end;
    struct err err;
    struct job *j = query_job(p, q, false, &err);
    json_t *answer;

    while (i < ARRAY_SIZE(lists) && (!name || strcmp(name, lists[i].name) != 0))
        i++;
    if (i == ARRAY_SIZE(lists))
        return query_error("unknown list: expected rank_table, heat.rows, agents or pace.nodes");
    if (!j)
        return query_error(err.text);
    if (!p->order || !job_id_same(&p->order->job, &j->id))
        return query_error("ask for the job with rows_later before its rows");
    n = lists[i].of_ranks ? p->order->n : j->n_agents;
    from = (size_t)json_get_int(q, "from", 0, UINT32_MAX, 0);
    from = from < n ? from : n;
    end = n - from > lists[i].page ? from + lists[i].page : n;
    answer =
        json_pack("{s:s,s:s,s:o}", "job", j->text_id, "list", name, "rows", lists[i].rows(p, j, from, end));
    json_put_count(answer, "next", end < n ? (int64_t)end : -1);
    return answer;
}
