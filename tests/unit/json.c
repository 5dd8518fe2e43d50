#include "wire/json.h"

#include <math.h>
#include <stdlib.h>

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

        ok(same(get_number(o, "k"), cases[i].number), "get_number() of %s", cases[i].json);
        ok(same(get_amount(o, "k"), cases[i].amount), "get_amount() of %s", cases[i].json);
        ok(same(get_share(o, "k"), cases[i].share), "get_share() of %s", cases[i].json);
        ok(get_count(o, "k") == cases[i].count, "get_count() of %s", cases[i].json);
        ok(get_int(o, "k", 0, 100, -9) == cases[i].whole, "%s: a whole number of 0 to 100", cases[i].json);
        json_decref(o);
    }
    is_int(get_int(NULL, "k", 0, 1, 5), 5, "get_int without an object returns the default");
}

static void test_texts(void)
{
    json_t *o = object("{\"name\":\"red \\u001b[31m\",\"n\":12,\"list\":[\"a\",3,\"b\\n\"],\"none\":\"\"}");
    char buf[32], small[6];

    get_text(o, "name", buf, sizeof(buf));
    is_str(buf, "red ?[31m", "control characters of a copied text become ?");
    get_text(o, "name", small, sizeof(small));
    is_str(small, "red ?", "get_text cuts a text that is longer than its buffer");
    get_text(o, "n", buf, sizeof(buf));
    is_str(buf, "", "get_text of a number is empty");
    is_str(show_text(o, "n", buf, sizeof(buf)), "12", "show_text of a number is the number");
    is_str(show_text(o, "none", buf, sizeof(buf)), "-", "show_text of an empty text is -");
    is_str(show_text(o, "missing", buf, sizeof(buf)), "-", "show_text of a missing text is -");
    is_str(get_word(o, "missing"), "", "get_word of a missing key is empty");
    ok(!get_string(o, "missing"), "get_string of a missing key is NULL");
    join_texts(json_object_get(o, "list"), buf, sizeof(buf));
    is_str(buf, "a, b?", "the strings of an array are joined by commas");
    is_str(show_list(json_object_get(o, "list"), 2, buf, sizeof(buf)), "a, 3 and 1 more",
           "show_text of a list joins its strings");
    json_decref(o);
}

static void test_writing(void)
{
    json_t *o = json_object();
    char *text;

    put_real(o, "nan", NAN);
    put_real(o, "real", 0.5);
    put_count(o, "unknown", -1);
    put_text(o, "empty", "");
    put_text(o, "broken", "a\377b");
    put_string(o, "string", "");
    put_json(o, "nothing", NULL);
    put_known(o, "left_out", INFINITY);
    put_place(o, "nowhere", -1);
    put_estimate(o, "estimate", 1.5, NAN, 2.5);
    text = json_dumps(o, JSON_COMPACT);
    is_str(text,
           "{\"nan\":null,\"real\":0.5,\"unknown\":null,\"empty\":null,\"broken\":\"a?b\",\"string\":\"\","
           "\"nothing\":null,\"estimate\":{\"value\":1.5,\"low\":null,\"high\":2.5}}",
           "unknown values are null, text is valid UTF-8");
    free(text);
    json_decref(o);
}

struct row {
    char name[8];
    double range[3], estimate[3], number;
    int64_t count;
    bool flag;
};

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
    struct row rows[] = { { "a", { 1, 2, 3 }, { 0, -1, 1 }, -0.5, 7, true },
                          { "", { NAN, 2, NAN }, { 1, NAN, NAN }, NAN, -1, false } };
    struct row back[3] = { 0 };
    char lines[2][4] = { "one", "two" }, copy[3][4];
    json_t *o = json_object();
    char *text;

    put_rows(o, "rows", rows, sizeof(rows[0]), 2, fields);
    put_lines(o, "lines", lines[0], sizeof(lines[0]), 2);
    text = json_dumps(o, JSON_COMPACT);
    is_str(text,
           "{\"rows\":[{\"name\":\"a\",\"in\":{\"range\":{\"p5\":1.0,\"p50\":2.0,\"p95\":3.0},\"estimate\":"
           "{\"value\":0.0,\"low\":-1.0,\"high\":1.0},\"number\":-0.5},\"count\":7,\"flag\":true},"
           "{\"name\":null,\"in\":{\"range\":{\"p5\":null,\"p50\":2.0,\"p95\":null},\"estimate\":"
           "{\"value\":1.0,\"low\":null,\"high\":null},\"number\":null},\"count\":null,\"flag\":false}],"
           "\"lines\":[\"one\",\"two\"]}",
           "structs are written as objects by a table of fields");
    is_int((long)get_rows(back, sizeof(back[0]), 3, o, "rows", fields), 2, "rows that were written are read");
    ok(!strcmp(back[0].name, "a") && back[0].range[2] == 3 && back[0].estimate[1] == -1 &&
           back[0].number == -0.5 && back[0].count == 7 && back[0].flag && !back[1].name[0] &&
           isnan(back[1].range[0]) && back[1].range[1] == 2 && isnan(back[1].number) && back[1].count == -1 &&
           !back[1].flag,
       "a row that is read by the table that wrote it is the same");
    is_int((long)get_lines(copy[0], sizeof(copy[0]), 1, o, "lines"), 1, "at most max lines are read");
    is_str(copy[0], "one", "a line that was written is read");
    free(text);
    json_decref(o);
}

int main(void)
{
    test_rows();
    test_numbers();
    test_texts();
    test_writing();
    return done_testing();
}
