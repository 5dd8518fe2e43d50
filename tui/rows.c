#include "tui/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "report/job_line.h"
#include "tui/filter.h"
#include "tui/screen.h"

static bool any_contains(const struct json_texts *texts, const char *part)
{
    for (size_t i = 0; i < texts->n; i++)
        if (strcasestr(texts->text[i], part))
            return true;
    return false;
}

static bool job_has(const void *row, const char *text)
{
    const struct report_row *j = row;

    return strcasestr(j->id, text) || strcasestr(j->name, text) || strcasestr(j->user, text) ||
           strcasestr(j->partition, text) || strcasestr(j->state, text) || strcasestr(j->regime, text) ||
           strcasestr(j->sentence, text) || strcasestr(job_line_tag(j), text) ||
           (j->verdicts.n && any_contains(&j->verdicts.list[0].culprits, text));
}

static bool node_has(const void *row, const char *text)
{
    const struct report_node *n = row;

    return strcasestr(n->node, text) || strcasestr(n->switch_name, text) || strcasestr(n->jobs_text, text) ||
           strcasestr(n->verdict, text);
}

static const void *row_of(const struct ui *ui, enum screen s, int i)
{
    return s == SCREEN_JOBS ? (const void *)&ui->jobs->job[i] : (const void *)&ui->nodes->node[i];
}

/* Of a job that Slurm requeued each run has a row. */
static char *key_of(const struct ui *ui, enum screen s, int i, char *buf, size_t size)
{
    if (s == SCREEN_JOBS)
        snprintf(buf, size, "%s %lld", ui->jobs->job[i].id, (long long)ui->jobs->job[i].restarts);
    else
        snprintf(buf, size, "%s", ui->nodes->node[i].node);
    return buf;
}

struct order_context {
    const struct ui *ui;
    enum screen screen;
    const struct table_column *column;
    bool reverse;
};

/* Equal rows stay in the controller's order, so that nothing flutters. */
static int compare_rows(const void *pa, const void *pb, void *arg)
{
    const struct order_context *o = arg;
    int a = *(const int *)pa, b = *(const int *)pb;
    int by = table_compare(o->column, row_of(o->ui, o->screen, a), row_of(o->ui, o->screen, b));

    if (by == 0)
        return a - b;
    return o->reverse ? -by : by;
}

static int stride_of(const struct ui_list *l)
{
    return l->stride > 1 ? l->stride : 1;
}

/* The multiple of the stride from there on. */
static int whole_from(const struct ui_list *l, int row)
{
    return row > 0 ? (row + stride_of(l) - 1) / stride_of(l) * stride_of(l) : 0;
}

int rows_last_top(const struct ui_list *l)
{
    return whole_from(l, (int)l->n - l->rows);
}

void rows_clamp(struct ui_list *l)
{
    int n = (int)l->n, rows = l->rows > 0 ? l->rows : 1;

    if (l->selected >= n)
        l->selected = n - 1;
    if (l->selected < 0)
        l->selected = 0;
    if (l->top > l->selected)
        l->top = l->selected;
    l->top -= l->top % stride_of(l);
    if (l->top < l->selected - rows + 1)
        l->top = whole_from(l, l->selected - rows + 1);
    if (l->top > whole_from(l, n - rows))
        l->top = whole_from(l, n - rows);
    if (l->top < 0)
        l->top = 0;
}

void rows_hold(struct ui *ui, enum screen s)
{
    struct ui_list *l = &ui->list[s];

    l->key[0] = '\0';
    if (s != SCREEN_JOB && l->selected < (int)l->n)
        key_of(ui, s, l->order[l->selected], l->key, sizeof(l->key));
}

void rows_arrange(struct ui *ui, enum screen s)
{
    struct ui_list *l = &ui->list[s];
    struct order_context o = { ui, s, &screens[s]->columns[l->sort], l->reverse };
    char key[sizeof(l->key)];
    int n = s == SCREEN_JOBS ? (ui->jobs ? (int)ui->jobs->n : 0) : ui->nodes ? (int)ui->nodes->n : 0;

    if (s == SCREEN_JOB) {
        l->n = ui->view ? (size_t)ui->view->rank_total : 0;
        rows_clamp(l);
        return;
    }
    l->n = 0;
    l->order = xgrow(l->order, &l->cap, (size_t)n + 1, sizeof(*l->order));
    for (int i = 0; i < n; i++) {
        if (s == SCREEN_JOBS && !ui->finished && !report_row_alive(&ui->jobs->job[i]))
            continue;
        if (filter_shows(l->filter, screens[s]->columns, screens[s]->n_columns, row_of(ui, s, i),
                         s == SCREEN_JOBS ? job_has : node_has))
            l->order[l->n++] = i;
    }
    qsort_r(l->order, l->n, sizeof(*l->order), compare_rows, &o);
    for (int i = 0; l->key[0] && l->selected > 0 && i < (int)l->n; i++)
        if (!strcmp(key_of(ui, s, l->order[i], key, sizeof(key)), l->key))
            l->selected = i;
    rows_clamp(l);
    rows_hold(ui, s);
}
