/* Lists in pages: whoever asks gets each row once, and no answer is longer than a frame. */
#include "wire/pages.h"

#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "tests/tap.h"
#include "wire/json.h"

/* Answers with rows of so many bytes, from the one on that the question names. */
static json_t *answer(const json_t *question, int rows, size_t bytes)
{
    struct pages_page page = { .rows = json_array() };
    char *text = xcalloc(1, bytes + 1);
    json_t *o = json_object();
    int from = atoi(json_get_word(question, "from"));

    memset(text, 'x', bytes);
    for (int i = from; i < rows && !*page.next; i++) {
        pages_append(&page, json_pack("{s:i,s:s}", "row", i, "text", text), 0);
        if (pages_full(&page) && i + 1 < rows)
            snprintf(page.next, sizeof(page.next), "%d", i + 1);
    }
    pages_put(&page, o, "rows");
    free(text);
    return o;
}

static const struct {
    const char *what;
    int rows, limit, asked; /* asked: how many questions it takes */
    size_t bytes;
} lists[] = {
    { "an empty list", 0, 0, 1, 10 },
    { "a short list", 3, 0, 1, 10 },
    { "rows of 10,000 bytes", 100, 0, 4, 10000 },
    { "many short rows", 20000, 0, 3, 10 },
    { "rows longer than a page", 5, 0, 5, 300000 },
    { "what is wanted of it", 100, 30, 2, 10000 },
    { "a limit beyond its end", 100, 1000, 4, 10000 },
};

static void gather(size_t at)
{
    json_t *question = json_pack("{s:s}", "query", "rows"), *a, *rows;
    int limit = lists[at].limit, wanted = limit && limit < lists[at].rows ? limit : lists[at].rows, asked = 0,
        rc;
    struct pages p = { 0 };
    size_t most = 0, i;
    bool in_order = true;
    struct err err;

    if (limit)
        json_object_set_new(question, "limit", json_integer(limit));
    do {
        const json_t *next = p.question ? p.question : question;
        size_t bytes;

        a = answer(next, lists[at].rows, lists[at].bytes);
        bytes = json_dumpb(a, NULL, 0, JSON_COMPACT);
        most = bytes > most ? bytes : most;
        rc = pages_take(&p, question, a, &err);
        json_decref(a);
        asked++;
    } while (rc > 0 && asked < 100);
    rows = json_object_get(p.answer, "rows");
    json_array_foreach(rows, i, a)
        in_order &= json_get_count(a, "row") == (int64_t)i;
    is_int(rc, 0, "%s: comes to an end", lists[at].what);
    is_int((long long)json_array_size(rows), wanted, "%s: has as many rows as there are, or as were wanted",
           lists[at].what);
    ok(in_order && !json_object_get(p.answer, "page"),
       "%s: has each row once, in order, and says nothing of pages", lists[at].what);
    is_int(asked, lists[at].asked, "%s: takes as many questions as it has pages", lists[at].what);
    ok(most <= LINK_FRAME_MAX, "%s: each answer fits into a frame\n%zu bytes", lists[at].what, most);
    pages_free(&p);
    json_decref(question);
}

static void too_long(void)
{
    struct pages_page page = { .rows = json_array() };
    char *text = xcalloc(1, PAGES_ROW_MAX + 1);
    json_t *o = json_object();

    memset(text, 'x', PAGES_ROW_MAX);
    pages_append(&page, json_pack("{s:s}", "text", text), 0);
    pages_append(&page, NULL, 0);
    pages_put(&page, o, "rows");
    ok(json_array_size(json_get_array(o, "rows")) == 0 && json_get_count(o, "left_out") == 1,
       "a row that no page has room for is left out, and counted");
    json_decref(o);
    free(text);
}

/* A row with lists is not left out: they are cut. */
static void cut(void)
{
    struct pages_page page = { .rows = json_array() };
    json_t *row = json_pack("{s:i,s:{s:[]},s:[]}", "row", 7, "heat", "rows", "names"),
           *rows = json_object_get(json_object_get(row, "heat"), "rows"), *o = json_object();
    size_t whole;

    for (int i = 0; i < 100000; i++) {
        json_array_append_new(rows, json_integer(i));
        if (i < 10)
            json_array_append_new(json_object_get(row, "names"), json_integer(i));
    }
    whole = json_dumpb(row, NULL, 0, JSON_COMPACT);
    ok(!pages_cut(json_object_get(row, "row"), 0) && pages_cut(row, whole) && !json_get_object(row, "cut"),
       "what fits is not cut, and a number cannot be");
    pages_append(&page, row, 0);
    row = json_array_get(page.rows, 0);
    rows = json_object_get(json_object_get(row, "heat"), "rows");
    ok(json_dumpb(row, NULL, 0, JSON_COMPACT) <= PAGES_ROW_MAX && json_array_size(rows) > 80000,
       "a long row is cut to what there is room for");
    is_int(json_get_count(json_get_object(row, "cut"), "heat.rows") + (long long)json_array_size(rows),
           100000, "how many it has lost is said");
    is_int((long long)json_array_size(json_object_get(row, "names")), 10, "a short list of it is not cut");
    is_int(json_integer_value(json_array_get(rows, 1)), 1, "the first rows stay");
    ok(!pages_cut(row, 30), "it cannot be cut to less than its other keys");
    pages_put(&page, o, "rows");
    ok(json_get_count(o, "left_out") < 0, "it is not left out");
    json_decref(o);
}

/* After a good page, an answer that a controller should not give. */
static void nonsense(void)
{
    static const char *const answers[] = {
        "{\"rows\":[1],\"page\":{\"list\":\"rows\",\"next\":\"2\"}}",
        "{\"rows\":[1],\"page\":{\"list\":\"rows\"}}",
        "{\"rows\":[1],\"page\":{\"list\":\"others\",\"next\":\"3\"}}",
        "{\"others\":[1],\"page\":{\"list\":\"others\",\"next\":\"3\"}}",
        "{\"rows\":1,\"page\":{\"list\":\"rows\",\"next\":\"3\"}}",
        "{\"others\":[1]}",
    };

    for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
        json_t *question = json_pack("{s:s}", "query", "rows"),
               *first = json_loads("{\"rows\":[0],\"page\":{\"list\":\"rows\",\"next\":\"2\"}}", 0, NULL),
               *a = json_loads(answers[i], 0, NULL);
        struct pages p = { 0 };
        struct err err = { "" };

        ok(pages_take(&p, question, first, &err) == 1 && !strcmp(json_get_word(p.question, "from"), "2"),
           "the next page is asked for by its word");
        ok(pages_take(&p, question, a, &err) == -1 && *err.text, "nonsense is refused: %s", answers[i]);
        pages_free(&p);
        json_decref(question);
        json_decref(first);
        json_decref(a);
    }
}

int main(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
        gather(i);
    too_long();
    cut();
    nonsense();
    return done_testing();
}
