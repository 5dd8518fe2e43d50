/* A report printed while its lists arrive: the same text as the whole object in one piece, and pages that
 * make no sense. */
#include "report/report_print.h"

#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "tests/tap.h"
#include "wire/json.h"

static const char whole[] =
    "{\"id\":\"7.0\", \"rank_table\":[{\"rank\":1,\"node\":\"n\\u00e41\"},{\"rank\":0,\"inside\":{\"op\":\"bcast\"}},{\"rank\":2}],"
    " \"heat\":{\"columns\":2, \"rows\":[{\"levels\":\"0.\"}], \"scale\":[0.5]}, \"agents\":[], \"pace\":null, \"text\":\"a\\nb\"}";
static const char later[] =
    "{\"id\":\"7.0\", \"rank_table\":[], \"heat\":{\"columns\":2, \"rows\":[], \"scale\":[0.5]}, \"agents\":[], \"pace\":null,"
    " \"text\":\"a\\nb\", \"rows_later\":[\"rank_table\", \"heat.rows\", \"agents\", \"pace.nodes\"]}";

/* What each question for rows is answered with, in turn. */
struct pages {
    const char *const *text;
    size_t n;
    char asked[512];
};

static json_t *ask(const json_t *question, void *arg, struct err *err)
{
    struct pages *p = arg;
    size_t used = strlen(p->asked);

    snprintf(p->asked + used, sizeof(p->asked) - used, "%s %s %s %lld; ", json_get_word(question, "query"),
             json_get_word(question, "job"), json_get_word(question, "list"),
             (long long)json_get_count(question, "from"));
    if (*p->text)
        return json_loads(p->text[p->n++], 0, NULL);
    err_set(err, "gone");
    return NULL;
}

/* What is printed, the caller's. */
static char *printed(const char *answer, struct pages *p, int *rc, struct err *err)
{
    json_t *o = json_loads(answer, 0, NULL);
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);

    *rc = report_print(out, o, ask, p, err);
    fclose(out);
    json_decref(o);
    return text;
}

static void good(void)
{
    static const char *const pages[] = {
        "{\"rows\":[{\"rank\":1,\"node\":\"n\\u00e41\"},{\"rank\":0,\"inside\":{\"op\":\"bcast\"}}], \"next\":2}",
        "{\"rows\":[{\"rank\":2}], \"next\":null}",
        "{\"rows\":[{\"levels\":\"0.\"}], \"next\":null}",
        "{\"rows\":[], \"next\":null}",
    };
    struct pages p = { .text = pages };
    json_t *o = json_loads(whole, 0, NULL);
    char *text = json_dumps(o, JSON_INDENT(2) | JSON_ENSURE_ASCII), *want = xasprintf("%s\n", text), *got;
    struct err err = { "" };
    int rc;

    got = printed(later, &p, &rc, &err);
    is_int(rc, 0, "a report whose lists come in pages is printed: %s", err.text);
    is_str(got, want, "its text is that of the whole object");
    is_str(p.asked, "rows 7.0 rank_table 0; rows 7.0 rank_table 2; rows 7.0 heat.rows 0; rows 7.0 agents 0; ",
           "each list that the report has is asked for, page by page, in its order");
    free(got);
    got = printed(whole, &p, &rc, &err);
    ok(rc == 0 && !strcmp(got, want), "a report that is complete is printed as it is");
    free(got);
    free(text);
    free(want);
    json_decref(o);
}

static void bad(void)
{
    static const struct {
        const char *page, *words, *what;
    } cases[] = {
        { "{\"rows\":[], \"next\":0}", "no valid page of rank_table", "a page that is followed by itself" },
        { "{\"rows\":{}, \"next\":null}", "no valid page of rank_table", "a page without a list" },
        { "{}", "no valid page of rank_table", "an empty answer" },
        { NULL, "gone", "a connection that is lost" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct pages p = { .text = &cases[i].page };
        struct err err = { "" };
        int rc;

        free(printed(later, &p, &rc, &err));
        ok(rc < 0 && strstr(err.text, cases[i].words), "%s is an error: %s", cases[i].what, err.text);
    }
}

int main(void)
{
    good();
    bad();
    return done_testing();
}
