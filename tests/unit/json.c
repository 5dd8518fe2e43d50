#include "wire/json.h"

#include <math.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "tests/tap.h"

static json_t *object(const char *text)
{
    return json_loads(text, 0, NULL);
}

static bool same(double got, double want)
{
    return got == want || (isnan(got) && isnan(want));
}

static void test_numbers(void)
{
    static const struct {
        const char *json;
        double number, amount, share;
        int64_t count, whole;
    } cases[] = {
        { "{\"k\":7}", 7, 7, NAN, 7, 7 },
        { "{\"k\":0.5}", 0.5, 0.5, 0.5, 0, -9 },
        { "{\"k\":1.0005}", 1.0005, 1.0005, 1, 1, -9 },
        { "{\"k\":-3}", -3, NAN, NAN, -1, -9 },
        { "{\"k\":1e300}", NAN, NAN, NAN, -1, -9 },
        { "{\"k\":\"7\"}", NAN, NAN, NAN, -1, -9 },
        { "{\"k\":null}", NAN, NAN, NAN, -1, -9 },
        { "{}", NAN, NAN, NAN, -1, -9 },
        { "[7]", NAN, NAN, NAN, -1, -9 },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *o = object(cases[i].json);

        ok(same(json_get_number(o, "k"), cases[i].number), "get_number() of %s", cases[i].json);
        ok(same(json_get_amount(o, "k"), cases[i].amount), "get_amount() of %s", cases[i].json);
        ok(same(json_get_share(o, "k"), cases[i].share), "get_share() of %s", cases[i].json);
        ok(json_get_count(o, "k") == cases[i].count, "get_count() of %s", cases[i].json);
        ok(json_get_int(o, "k", 0, 100, -9) == cases[i].whole, "%s: a whole number of 0 to 100",
           cases[i].json);
        json_decref(o);
    }
    is_int(json_get_int(NULL, "k", 0, 1, 5), 5, "get_int without an object returns the default");
}

static void test_texts(void)
{
    json_t *o = object("{\"name\":\"red \\u001b[31m\",\"n\":12,\"list\":[\"a\",3,\"b\\n\"],\"none\":\"\"}");
    char buf[32], small[6];

    json_get_text(o, "name", buf, sizeof(buf));
    is_str(buf, "red ?[31m", "control characters of a copied text become ?");
    json_get_text(o, "name", small, sizeof(small));
    is_str(small, "red ?", "get_text cuts a text that is longer than its buffer");
    json_get_text(o, "n", buf, sizeof(buf));
    is_str(buf, "", "get_text of a number is empty");
    is_str(json_show_text(o, "n", buf, sizeof(buf)), "12", "show_text of a number is the number");
    is_str(json_show_text(o, "none", buf, sizeof(buf)), "-", "show_text of an empty text is -");
    is_str(json_show_text(o, "missing", buf, sizeof(buf)), "-", "show_text of a missing text is -");
    is_str(json_get_word(o, "missing"), "", "get_word of a missing key is empty");
    ok(!json_get_string(o, "missing"), "get_string of a missing key is NULL");
    is_str(json_show_list(json_object_get(o, "list"), 2, buf, sizeof(buf)), "a, 3 and 1 more",
           "show_text of a list joins its strings");
    json_decref(o);
}

static void test_writing(void)
{
    json_t *o = json_object();
    char *text;

    json_put_real(o, "nan", NAN);
    json_put_real(o, "real", 0.5);
    json_put_count(o, "unknown", -1);
    json_put_text(o, "empty", "");
    json_put_text(o, "broken", "a\377b");
    json_put_string(o, "string", "");
    json_put_json(o, "nothing", NULL);
    json_put_known(o, "left_out", INFINITY);
    text = json_dumps(o, JSON_COMPACT);
    is_str(text,
           "{\"nan\":null,\"real\":0.5,\"unknown\":null,\"empty\":null,\"broken\":\"a?b\",\"string\":\"\","
           "\"nothing\":null}",
           "unknown values are null, text is valid UTF-8");
    free(text);
    json_decref(o);
}

struct row {
    char name[8];
    double range[3], estimate[3], number;
    int64_t count;
    bool flag;
    int64_t tag;
};

/* What is unknown of them is left out. */
static void test_optional(void)
{
    static const struct json_field fields[] = {
        { "name", FIELD_TEXT | FIELD_OPTIONAL, FIELD(struct row, name) },
        { "number", FIELD_NUMBER | FIELD_OPTIONAL, FIELD(struct row, number) },
        { "count", FIELD_COUNT | FIELD_OPTIONAL, FIELD(struct row, count) },
        { "tag", FIELD_INTEGER, FIELD(struct row, tag) },
        { 0 }
    };
    struct row rows[] = { { .name = "a", .number = -0.5, .count = 0, .tag = -7 },
                          { .number = NAN, .count = -1 } },
               back[2] = { 0 };
    json_t *o = json_object();
    char *text;

    json_put_rows(o, "rows", rows, sizeof(rows[0]), 2, fields);
    text = json_dumps(o, JSON_COMPACT);
    is_str(text, "{\"rows\":[{\"name\":\"a\",\"number\":-0.5,\"count\":0,\"tag\":-7},{\"tag\":0}]}",
           "optional members that are unknown are left out");
    is_int((long)json_get_rows(back, sizeof(back[0]), 2, o, "rows", fields), 2,
           "rows without some keys are read");
    ok(!strcmp(back[0].name, "a") && back[0].number == -0.5 && back[0].count == 0 && back[0].tag == -7 &&
           !*back[1].name && isnan(back[1].number) && back[1].count == -1 && back[1].tag == 0,
       "an optional member that is not there is unknown");
    free(text);
    json_decref(o);
}

static void test_rows(void)
{
    static const struct json_field fields[] = { { "name", FIELD_TEXT, FIELD(struct row, name) },
                                                { "in.range", FIELD_RANGE, FIELD(struct row, range) },
                                                { "in.estimate", FIELD_ESTIMATE,
                                                  FIELD(struct row, estimate) },
                                                { "in.number", FIELD_NUMBER, FIELD(struct row, number) },
                                                { "count", FIELD_COUNT, FIELD(struct row, count) },
                                                { "flag", FIELD_TRUE, FIELD(struct row, flag) },
                                                { 0 } };
    struct row rows[] = { { "a", { 1, 2, 3 }, { 0, -1, 1 }, -0.5, 7, true, 0 },
                          { "", { NAN, 2, NAN }, { 1, NAN, NAN }, NAN, -1, false, 0 } };
    struct row back[3] = { 0 };
    char lines[2][4] = { "one", "two" }, copy[3][4];
    json_t *o = json_object();
    char *text;

    json_put_rows(o, "rows", rows, sizeof(rows[0]), 2, fields);
    json_put_lines(o, "lines", lines[0], sizeof(lines[0]), 2);
    text = json_dumps(o, JSON_COMPACT);
    is_str(text,
           "{\"rows\":[{\"name\":\"a\",\"in\":{\"range\":{\"p5\":1.0,\"p50\":2.0,\"p95\":3.0},\"estimate\":"
           "{\"value\":0.0,\"low\":-1.0,\"high\":1.0},\"number\":-0.5},\"count\":7,\"flag\":true},"
           "{\"name\":null,\"in\":{\"range\":{\"p5\":null,\"p50\":2.0,\"p95\":null},\"estimate\":"
           "{\"value\":1.0,\"low\":null,\"high\":null},\"number\":null},\"count\":null,\"flag\":false}],"
           "\"lines\":[\"one\",\"two\"]}",
           "structs are written as objects by a table of fields");
    is_int((long)json_get_rows(back, sizeof(back[0]), 3, o, "rows", fields), 2,
           "rows that were written are read");
    ok(!strcmp(back[0].name, "a") && back[0].range[2] == 3 && back[0].estimate[1] == -1 &&
           back[0].number == -0.5 && back[0].count == 7 && back[0].flag && !back[1].name[0] &&
           isnan(back[1].range[0]) && back[1].range[1] == 2 && isnan(back[1].number) && back[1].count == -1 &&
           !back[1].flag,
       "a row that is read by the table that wrote it is the same");
    is_int((long)json_get_lines(copy[0], sizeof(copy[0]), 1, o, "lines"), 1, "at most max lines are read");
    is_str(copy[0], "one", "a line that was written is read");
    free(text);
    json_decref(o);
}

/* What may be unknown, and is null, left out, or an object that is not there. */
static void test_unknown(void)
{
    struct maybe {
        bool there;
        int64_t number;
        int yes, no, unknown;
        double known, left_out;
    };
    static const struct json_field fields[] = {
        { "in", FIELD_KNOWN, FIELD(struct maybe, there) },
        { "in.number", FIELD_COUNT, FIELD(struct maybe, number) },
        { "yes", FIELD_TERNARY, FIELD(struct maybe, yes) },
        { "no", FIELD_TERNARY, FIELD(struct maybe, no) },
        { "unknown", FIELD_TERNARY, FIELD(struct maybe, unknown) },
        { "known", FIELD_NUMBER | FIELD_OPTIONAL, FIELD(struct maybe, known) },
        { "left_out", FIELD_NUMBER | FIELD_OPTIONAL, FIELD(struct maybe, left_out) },
        { 0 }
    };
    static const struct {
        struct maybe row;
        const char *want;
    } cases[] = {
        { { true, 7, 1, 0, -1, -2, NAN },
          "{\"in\":{\"number\":7},\"yes\":true,\"no\":false,\"unknown\":null,\"known\":-2.0}" },
        { { false, 7, 1, 0, -1, -2, NAN },
          "{\"in\":null,\"yes\":true,\"no\":false,\"unknown\":null,\"known\":-2.0}" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        json_t *o = json_object();
        struct maybe back;
        char *text;

        json_put_fields(o, &cases[i].row, fields);
        text = json_dumps(o, JSON_COMPACT);
        is_str(text, cases[i].want, "what is unknown is null or left out, case %zu", i);
        json_get_fields(&back, o, fields);
        ok(back.there == cases[i].row.there && back.number == (back.there ? 7 : -1) && back.yes == 1 &&
               back.no == 0 && back.unknown == -1 && back.known == -2 && isnan(back.left_out),
           "what is unknown is read as unknown, case %zu", i);
        free(text);
        json_decref(o);
    }
}

/* An answer that is not what was asked for says why itself. */
static void test_check(void)
{
    static const struct {
        const char *answer, *want;
    } cases[] = {
        { "{\"jobs\":[]}", "" },
        { "{\"jobs\":{},\"error\":\"not your\\njob\"}", "not your?job" },
        { "{\"jobs\":{}}", "the controller's answer has no 'jobs' that is a list" },
        { "[]", "the controller's answer is not a JSON object" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        json_t *o = object(cases[i].answer);
        struct err err = { "" };

        ok(json_check_answer(o, "jobs", JSON_ARRAY, &err) == (*cases[i].want ? -1 : 0), "%s is %s",
           cases[i].answer, *cases[i].want ? "rejected" : "accepted");
        is_str(err.text, cases[i].want, "with the reason");
        json_decref(o);
    }
}

int main(void)
{
    test_unknown();
    test_check();
    test_rows();
    test_optional();
    test_numbers();
    test_texts();
    test_writing();
    return done_testing();
}
