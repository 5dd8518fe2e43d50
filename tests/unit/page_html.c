/* A report as a page for a browser, from JSON files to expected pages; where a change of the page is meant:
 *     UPDATE=1 tests/unit/page_html     writes the expected files again; look at them in a browser before committing.
 */
#include "ctl/page_html.h"

#include <stdlib.h>
#include <string.h>

#include "ctl/chart.h"
#include "ctl/page.h"
#include "report/report.h"
#include "wire/json.h"
#include "tests/page_files.h"
#include "tests/tap.h"

static const char *const pages[] = { "job-charts", "job-starting", "job-ended", "job-updates" };

/* The page, or "" where the answer is refused.  Not inlined: gcc 12 then warns that what is found in the page
 * points to the variable. */
__attribute__((noinline)) static char *page_of(const json_t *answer, size_t *size, struct err *err)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    struct report *r = page_read(answer, err);

    if (r)
        page_html(out, r);
    fclose(out);
    report_free(r);
    return text;
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;

    for (; (text = strstr(text, word)); text += strlen(word))
        n++;
    return n;
}

/* The whole report in words is not compared: tests/unit/page.c does. */
static void cut_words(char *page)
{
    char *words = strstr(page, "<section id=\"words\">");

    if (words)
        *words = '\0';
}

/* The lines that differ first: whole pages are too long to be printed. */
static void same_lines(const char *got, const char *wanted, const char *name)
{
    const char *from = got, *wanted_from = wanted;
    char line[2][400];

    while (*got && *got == *wanted) {
        if (*got++ == '\n') {
            from = got;
            wanted_from = wanted + 1;
        }
        wanted++;
    }
    snprintf(line[0], sizeof(line[0]), "%.*s", (int)strcspn(from, "\n"), from);
    snprintf(line[1], sizeof(line[1]), "%.*s", (int)strcspn(wanted_from, "\n"), wanted_from);
    is_str(line[0], line[1], "page_html: %s is printed as in its file", name);
}

static void compare(const char *name)
{
    json_t *answer = json_load_file(page_file_path(name, "json"), 0, NULL);
    struct err err = { "" };
    char *got, *wanted;
    size_t size;

    ok(answer != NULL, "page_html: %s.json is readable", name);
    got = page_of(answer, &size, &err);
    is_str(err.text, "", "page_html: %s is accepted", name);
    is_int((long long)count(got, "<section"), strcmp(name, "job-updates") ? 8 : 9,
           "page_html: %s has all sections, also those of which nothing is known", name);
    is_int((long long)(count(got, "<script") + count(got, "http-equiv=\"refresh") + count(got, "src=") +
                       count(got, "href=")),
           0, "page_html: %s has no script and nothing from elsewhere", name);
    cut_words(got);
    wanted = page_file_wanted(name, "html", got);
    same_lines(got, wanted, name);
    free(wanted);
    free(got);
    json_decref(answer);
}

/* What is not known is said to be so, and not drawn. */
static void unknown(void)
{
    json_t *answer = json_load_file(page_file_path("job-starting", "json"), 0, NULL);
    struct err err;
    size_t size;
    char *page = page_of(answer, &size, &err);

    is_int((long long)count(page, "Not measured: "), 6,
           "of a job of which nothing is known each chart says so");
    is_int((long long)count(page, "class=\"chart\""), 0,
           "of a job of which nothing is known there is no chart");
    free(page);
    json_decref(answer);
}

/* A gap is hatched, and no line leads across it. */
static void gaps(void)
{
    json_t *answer = json_loads("{\"id\":\"1.0\",\"state\":\"running\",\"elapsed_s\":10,"
                                "\"history\":{\"column_s\":1,\"step_s\":[0.1,0.1,null,null,0.1,0.2]}}",
                                0, NULL);
    struct err err;
    size_t size;
    char *page = page_of(answer, &size, &err), *line = strstr(page, "class=\"line\" d=\"");

    is_int((long long)count(page, "<title>not measured</title>"), 1,
           "two columns without a step are one gap");
    ok(line && strcspn(line + 16, "\"") == strspn(line + 16, "MLh0123456789. "),
       "the line has coordinates alone");
    if (line) {
        line[16 + strcspn(line + 16, "\"")] = '\0';
        is_int((long long)count(line, "M"), 2, "the line begins anew behind the gap");
        is_int((long long)count(line, "L"), 2, "of four known columns two follow another");
    }
    free(page);
    json_decref(answer);
}

/* Whatever a job is called, and whatever a controller of another kind answers. */
static void hostile(void)
{
    static const char *const names[] = { "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>",
                                         "</title></style><b>", "&lt;", "a\a\033[2J\x7f" };
    struct err err;

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        json_t *answer = json_pack(
            "{s:s,s:s,s:s,s:s,s:i,s:[{s:s,s:[s],s:s,s:f,s:s}],s:[{s:s,s:[s],s:i}],s:[{s:i,s:s}],s:{s:f,s:[{s:i,s:s}]},s:[s],s:{s:i,s:[s]}}",
            "id", "1.0", "state", "running", "name", names[i], "sentence", names[i], "elapsed_s", 9,
            "verdicts", "class", names[i], "culprits", names[i], "text", names[i], "slowdown", 1.2, "cause",
            names[i], "timeline", "class", names[i], "culprits", names[i], "from_s", 5, "rank_table", "rank",
            0, "node", names[i], "heat", "column_s", 1.0, "rows", "rank", 0, "levels", "0123<b>", "notes",
            names[i], "agents_silent", "number", 1, "nodes", names[i]);
        size_t size;
        char *page = page_of(answer, &size, &err), *text = page;
        bool clean = true;

        for (; *text; text++)
            clean &= (unsigned char)*text >= 0x20 || *text == '\n';
        ok(clean, "hostile name %zu: no control character is in the page", i);
        is_int((long long)(count(page, "<script") + count(page, "<img") + count(page, "<b>") +
                           count(page, "onerror=alert(1)>")),
               0, "hostile name %zu: it is no markup", i);
        is_int((long long)count(page, "</title>\n<style>"), 1,
               "hostile name %zu: the title ends where it should", i);
        free(page);
        json_decref(answer);
    }
}

/* Figures that no job has: whatever is drawn of them is bounded, and has coordinates. */
static void absurd(void)
{
    static const char *const histories[] = {
        "{\"column_s\":1,\"step_s\":[5e-324,1e-323]}",
        "{\"column_s\":5e-324,\"step_s\":[0.1,0.2]}",
        "{\"column_s\":1e18,\"step_s\":[1e18,-1e18]}",
        "{\"column_s\":1,\"step_s\":[-1,0,1e300,\"x\"]}",
        "{\"column_s\":-1,\"step_s\":[1]}",
        "{\"run\":{\"width_s\":1e-300,\"age_s\":[1e-320,0],\"step_s\":[1,1]}}",
        "{\"run\":{\"width_s\":2,\"age_s\":[3,5,1,null],\"step_s\":[1,2,3]}}",
    };

    for (size_t i = 0; i < ARRAY_SIZE(histories); i++) {
        json_t *answer = json_pack("{s:s,s:s,s:o}", "id", "1.0", "state", "running", "history",
                                   json_loads(histories[i], 0, NULL));
        struct err err = { "" };
        size_t size;
        char *page = page_of(answer, &size, &err), *line = strstr(page, "class=\"line\" d=\"");

        ok(size > 1000 && size < 100000, "absurd history %zu: the page has a bounded size\n%zu", i, size);
        ok(!line || line[16 + strspn(line + 16, "MLh0123456789. ")] == '"',
           "absurd history %zu: its line has coordinates alone", i);
        free(page);
        json_decref(answer);
    }
}

/* 16,384 ranks, each column another level. */
static void large(void)
{
    json_t *answer = json_pack("{s:s,s:s,s:i}", "id", "1.0", "state", "running", "rank_table_total", 16384),
           *heat = json_object(), *rows = json_array();
    struct err err;
    size_t size;
    char *page;

    for (int r = 0; r < 16384; r++) {
        char levels[121];

        for (int i = 0; i < 120; i++)
            levels[i] = (char)(i % 2 ? '0' + (r / 256 + i) % 9 : '.');
        if (r == 5130)
            levels[61] = '9';
        levels[120] = '\0';
        json_array_append_new(rows, json_pack("{s:i,s:s}", "rank", r, "levels", levels));
    }
    json_object_set_new(heat, "column_s", json_real(1));
    json_object_set_new(heat, "scale", json_loads("[0.005,0.01,0.02,0.04,0.08,0.15,0.25,0.4,0.6]", 0, NULL));
    json_object_set_new(heat, "rows", rows);
    json_object_set_new(answer, "heat", heat);
    page = page_of(answer, &size, &err);
    ok(size < 300000, "a page about 16,384 ranks has less than 300 kB\n%zu", size);
    is_int((long long)count(page, "r5120-r5375"), 1, "its map has a row for each 256 ranks");
    is_int((long long)count(page, "<path class=\"h9\" d=\"M"), 2,
           "the latest rank of a row is what the row shows, beside the legend");
    free(page);
    json_decref(answer);
}

static void refused(void)
{
    static const char *const answers[] = { "{}", "[]", "null", "{\"id\":\"1.0\"}",
                                           "{\"id\":1,\"state\":\"running\"}" };

    for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
        json_t *answer = json_loads(answers[i], JSON_DECODE_ANY, NULL);
        struct err err = { "" };
        size_t size;
        char *page = page_of(answer, &size, &err);

        ok(!size && *err.text, "%s is no report: %s", answers[i], err.text);
        free(page);
        json_decref(answer);
    }
}

int main(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(pages); i++)
        compare(pages[i]);
    unknown();
    gaps();
    hostile();
    absurd();
    large();
    refused();
    return done_testing();
}
