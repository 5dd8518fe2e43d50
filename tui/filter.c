#include "tui/filter.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/units.h"

/* Bare figures are seconds, per cent and bytes. */
static bool figure(enum table_kind kind, const char *text, double *value)
{
    switch (kind) {
    case TABLE_SECONDS:
    case TABLE_ABOUT_SECONDS:
        return units_seconds(text, value, NULL) == 0;
    case TABLE_PERCENT:
        if (strchr(text, '%'))
            return units_ratio(text, value, NULL) == 0;
        if (units_number(text, value, NULL) < 0)
            return false;
        *value /= 100;
        return true;
    case TABLE_BYTES:
        return units_bytes(text, value, NULL) == 0;
    case TABLE_TIMES:
    case TABLE_NUMBER:
        return units_count(text, value, NULL) == 0 || units_number(text, value, NULL) == 0;
    case TABLE_COUNT:
    case TABLE_RANK:
        return units_count(text, value, NULL) == 0;
    case TABLE_TEXT:
        break;
    }
    return false;
}

/* Counts and ranks that are not known are negative; a comparison with NaN is false. */
static bool is_unknown(const struct table_column *column, double number)
{
    return (column->kind == TABLE_COUNT || column->kind == TABLE_RANK) && number < 0;
}

static const struct table_column *titled(const struct table_column *columns, int n, const char *title,
                                         size_t length)
{
    for (int i = 0; i < n; i++)
        if (length && strlen(columns[i].title) == length && !strncasecmp(columns[i].title, title, length))
            return &columns[i];
    return NULL;
}

/* 1, 0: the word compares a column, and the row is shown, or not; -1: it is a text. */
static int compares(const char *word, const struct table_column *columns, int n, const void *row)
{
    size_t length = strcspn(word, "<>=");
    const struct table_column *column = titled(columns, n, word, length);
    const char *value = word + length + 1;
    double wanted, number;

    if (!word[length] || !column)
        return -1;
    if (word[length] == '=' && column->begins)
        return column->begins(row, value);
    if (word[length] == '=')
        return column->kind == TABLE_TEXT && (!column->draw || column->field)
                   ? !strncasecmp((const char *)row + column->field, value, strlen(value))
                   : -1;
    if (column->kind == TABLE_TEXT)
        return -1;
    if (!*value)
        return 1;
    if (!figure(column->kind, value, &wanted))
        return -1;
    number = table_number(column, row);
    if (is_unknown(column, number))
        return 0;
    return word[length] == '>' ? number > wanted : number < wanted;
}

bool filter_shows(const char *filter, const struct table_column *columns, int n, const void *row,
                  bool (*has)(const void *row, const char *text))
{
    char words[256], *save = NULL;

    snprintf(words, sizeof(words), "%s", filter);
    for (char *word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        int shows = compares(word, columns, n, row);

        if (shows < 0 ? !has(row, word) : !shows)
            return false;
    }
    return true;
}
