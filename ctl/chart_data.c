#include "ctl/chart_data.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/utf8.h"
#include "common/xalloc.h"
#include "ctl/page_parts.h"
#include "wire/json.h"

#define NODE_CHARS 12 /* of a node's name beside a row: its end, which differs most */

size_t chart_data_bands(struct chart_band *band, const struct report_verdicts *timeline)
{
    size_t n = 0;

    for (size_t i = 0; i < timeline->n && n < CHART_BANDS_MAX; i++) {
        const struct report_verdict *span = &timeline->list[i];
        double to_s = span->to_s;
        char words[180];

        if (isnan(span->from_s))
            continue;
        page_verdict_words(span, words, sizeof(words));
        band[n] = (struct chart_band){ .from_s = span->from_s,
                                       .to_s = isnan(to_s) ? 0 : to_s,
                                       .bad = report_verdict_severity(span) == SEVERITY_BAD };
        snprintf(band[n].label, sizeof(band[n].label), "%s", words);
        if (report_verdict_is_priced(span))
            text_append(band[n].label, sizeof(band[n].label), ", %s", text_times(span->slowdown).s);
        n++;
    }
    return n;
}

/* ---- lines ---- */

/* Columns end now, one behind the other. */
bool chart_data_columns(struct chart_lines *c, double column_s, const struct json_series *s)
{
    c->width_s = column_s;
    c->n = column_s > 0 ? s->n : 0;
    for (size_t i = 0; i < c->n; i++) {
        c->value[i] = s->value[i];
        c->age_s[i] = ((double)(c->n - i) - 0.5) * column_s;
    }
    return c->n > 0;
}

/* Stretches have their ages beside them. */
bool chart_data_run(struct chart_lines *c, const struct report_stretches *run, const struct json_series *s)
{
    c->n = 0;
    c->width_s = run->width_s;
    for (size_t i = 0; i < s->n && i < run->age_s.n && run->width_s > 0; i++) {
        double age_s = run->age_s.value[i];

        if (isnan(age_s) || (c->n && age_s >= c->age_s[c->n - 1])) /* not in order */
            continue;
        c->age_s[c->n] = age_s;
        c->value[c->n++] = s->value[i];
    }
    return c->n > 0;
}

void chart_data_past(struct chart_lines *c, const struct report_past *past)
{
    c->mark = past->runs > 0 ? past->step_p50_s : NAN;
    snprintf(c->mark_label, sizeof(c->mark_label), "median of %s similar earlier run%s",
             page_count(past->runs).s, text_plural(past->runs));
}

/* ---- the map ---- */

struct heat_row {
    int64_t rank;
    const char *levels, *node;
};

static int by_rank(const void *a, const void *b)
{
    const struct heat_row *x = a, *y = b;

    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* The rows in the order of ranks; *n of them.  The caller's. */
static struct heat_row *heat_rows(const struct report *r, size_t *n)
{
    struct heat_row *list = xcalloc(r->n_ranks + r->n_heat + 1, sizeof(*list));

    *n = 0;
    for (size_t i = 0; i < r->n_ranks; i++)
        if (*r->rank[i].heat)
            list[(*n)++] = (struct heat_row){ r->rank[i].rank, r->rank[i].heat, r->rank[i].node };
    for (size_t i = 0; i < r->n_heat; i++)
        list[(*n)++] = (struct heat_row){ r->heat_row[i].rank, r->heat_row[i].levels, "" };
    qsort(list, *n, sizeof(*list), by_rank);
    return list;
}

/* The latest of the ranks of a row, column by column. */
static void merge_levels(char *into, size_t columns, const char *levels)
{
    size_t have = strlen(levels), n = have < columns ? have : columns;

    for (size_t i = 0; i < n; i++) {
        char level = levels[have - n + i], *at = &into[columns - n + i];

        if (level >= '0' && level <= '9' && level > *at) /* '.' is below all digits */
            *at = level;
    }
}

/* "n3 r12", "r0-r255" */
static void put_label(char *buf, size_t size, const struct heat_row *first, const struct heat_row *last)
{
    char node[64];
    int cut;

    if (last > first) {
        snprintf(buf, size, "r%lld-r%lld", (long long)first->rank, (long long)last->rank);
        return;
    }
    utf8_clean(node, sizeof(node), first->node);
    cut = (int)strlen(node) > NODE_CHARS ? (int)strlen(node) - NODE_CHARS : 0;
    snprintf(buf, size, "%s%.*s%sr%lld", cut ? ".." : "", NODE_CHARS, node + cut, *node ? " " : "",
             (long long)first->rank);
}

size_t chart_data_map(struct chart_map *c, const struct report *r, size_t *ranks)
{
    const struct report_heat *heat = &r->heat;
    size_t n, per;
    struct heat_row *row = heat_rows(r, &n);

    c->column_s = heat->column_s;
    for (size_t i = 0; i < n; i++)
        c->columns = strlen(row[i].levels) > c->columns ? strlen(row[i].levels) : c->columns;
    c->columns = c->columns < CHART_COLUMNS_MAX ? c->columns : CHART_COLUMNS_MAX;
    for (size_t i = 0; i < heat->scale.n && i < ARRAY_SIZE(c->scale) && heat->scale.value[i] > 0; i++)
        c->scale[c->n_scale++] = heat->scale.value[i];
    per = !c->columns || !(c->column_s > 0) ? 0 : (n + CHART_ROWS_MAX - 1) / CHART_ROWS_MAX;
    for (size_t i = 0; per && i < n; i += per) {
        struct chart_row *to = &c->row[c->n++];
        size_t last = i + per < n ? i + per - 1 : n - 1;

        memset(to->level, '.', c->columns);
        for (size_t k = i; k <= last; k++)
            merge_levels(to->level, c->columns, row[k].levels);
        put_label(to->label, sizeof(to->label), &row[i], &row[last]);
    }
    free(row);
    *ranks = n;
    return per;
}
