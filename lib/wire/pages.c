#include "wire/pages.h"

#include <stdio.h>
#include <string.h>

#include "wire/json.h"

#define ROWS_MAX 100000 /* of a list that is gathered */

void pages_append(struct pages_page *p, json_t *row, size_t bytes)
{
    if (!row)
        return;
    if (!bytes)
        bytes = json_dumpb(row, NULL, 0, JSON_COMPACT);
    if (bytes > PAGES_ROW_MAX && pages_cut(row, PAGES_ROW_MAX))
        bytes = PAGES_ROW_MAX;
    if (bytes > PAGES_ROW_MAX) {
        p->left_out++;
        json_decref(row);
        return;
    }
    p->bytes += bytes + 1;
    json_array_append_new(p->rows, row);
}

bool pages_full(const struct pages_page *p)
{
    return p->bytes >= PAGES_BYTES;
}

bool pages_append_id(struct pages_page *p, json_t *row, int64_t id)
{
    pages_append(p, row, 0);
    if (pages_full(p))
        snprintf(p->next, sizeof(p->next), "%lld", (long long)id);
    return !*p->next;
}

void pages_put(struct pages_page *p, json_t *answer, const char *list)
{
    json_object_set_new(answer, list, p->rows);
    p->rows = NULL;
    if (*p->next)
        json_put_json(answer, "page", json_pack("{s:s,s:s}", "list", list, "next", p->next));
    if (p->left_out)
        json_put_int(answer, "left_out", (int64_t)p->left_out);
}

/* ---- what has to fit ---- */

static size_t size_of(const json_t *o)
{
    return json_dumpb(o, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY);
}

struct longest {
    json_t *list;
    size_t bytes;
    char name[PAGES_WORD_MAX]; /* "rank_table", "heat.rows" */
};

static void find_longest(struct longest *l, json_t *o, const char *within)
{
    const char *key;
    json_t *value;

    json_object_foreach(o, key, value) {
        size_t bytes = json_is_array(value) && json_array_size(value) ? size_of(value) : 0;

        if (bytes > l->bytes) {
            l->list = value;
            l->bytes = bytes;
            snprintf(l->name, sizeof(l->name), "%s%s%s", within, *within ? "." : "", key);
        }
        if (!*within && json_is_object(value))
            find_longest(l, value, key);
    }
}

bool pages_cut(json_t *o, size_t bytes)
{
    size_t has = size_of(o);

    while (has > bytes) {
        struct longest l = { .list = NULL };
        size_t n, lost = 0, rows = 0;
        json_t *cut;

        find_longest(&l, o, "");
        if (!l.list)
            return false;
        /* Half of it at most: another one may be longer then. */
        for (n = json_array_size(l.list); n > 0 && lost < has - bytes && lost <= l.bytes / 2; rows++) {
            lost += size_of(json_array_get(l.list, --n)) + 1;
            json_array_remove(l.list, n);
        }
        if (!json_get_object(o, "cut"))
            json_object_set_new(o, "cut", json_object());
        cut = json_object_get(o, "cut");
        json_put_int(cut, l.name, json_get_int(cut, l.name, 0, INT64_MAX, 0) + (int64_t)rows);
        has -= lost;
        if (has <= bytes)
            has = size_of(o); /* `cut` has grown */
    }
    return true;
}

/* ---- who asks ---- */

void pages_free(struct pages *p)
{
    json_decref(p->answer);
    json_decref(p->question);
    *p = (struct pages){ 0 };
}

/* Cut the list to what was wanted.  True: there are so many. */
static bool cut_to(json_t *list, int64_t limit)
{
    size_t n = json_array_size(list);

    while (n > (size_t)limit)
        json_array_remove(list, --n);
    return n == (size_t)limit;
}

int pages_take(struct pages *p, const json_t *question, json_t *answer, struct err *err)
{
    const json_t *page = json_get_object(answer, "page");
    const char *list = json_get_word(page, "list"), *next = json_get_word(page, "next");
    int64_t limit = json_get_int(question, "limit", 1, ROWS_MAX, ROWS_MAX);
    char before[PAGES_WORD_MAX];
    json_t *whole;

    json_get_text(p->question, "from", before, sizeof(before));
    if (page &&
        (!json_get_array(answer, list) || !*next || strlen(next) >= PAGES_WORD_MAX || !strcmp(next, before)))
        return err_set(err, "the controller's answer has no valid page");
    if (!p->answer) {
        p->answer = json_incref(answer);
    } else {
        const char *earlier = json_get_word(json_get_object(p->answer, "page"), "list");

        if (!json_get_array(answer, earlier) || (page && strcmp(list, earlier) != 0))
            return err_set(err, "the controller's answer has another list than the page before it");
        json_array_extend(json_object_get(p->answer, earlier), json_object_get(answer, earlier));
        if (json_get_count(answer, "left_out") > 0)
            json_put_int(p->answer, "left_out",
                         json_get_int(p->answer, "left_out", 0, ROWS_MAX, 0) +
                             json_get_int(answer, "left_out", 0, ROWS_MAX, 0));
        list = earlier;
    }
    whole = json_object_get(p->answer, list);
    if (!page || cut_to(whole, limit)) {
        if (json_is_array(whole))
            cut_to(whole, limit);
        json_object_del(p->answer, "page"); /* what it says of pages is for us alone */
        json_decref(p->question);
        p->question = NULL;
        return 0;
    }
    json_decref(p->question);
    p->question = json_deep_copy(question);
    json_object_set_new(p->question, "from", json_string(next));
    return 1;
}
