#include "wire/session.h"

#include <stdlib.h>
#include <string.h>

#include "common/hosts.h"
#include "common/xalloc.h"
#include "wire/json.h"

#define COMPLETION_S 1.0 /* an unreachable controller must not block the shell */

struct session *session_open(const struct options *o, struct err *err)
{
    const char *controller = options_text(o, "controller"), *munge_socket = options_text(o, "munge-socket");
    struct session *s = xcalloc(1, sizeof(*s));

    if (config_load(&s->config, config_path(options_text(o, "conf")), err) < 0)
        goto fail;
    if (hosts_complete(controller ? controller : s->config.controller, s->config.port, s->hosts,
                       sizeof(s->hosts), err) < 0)
        goto fail;
    s->client.hosts = s->hosts;
    link_end_configure(&s->client.end, &s->config);
    if (munge_socket)
        s->client.end.munge_socket = munge_socket;
    return s;
fail:
    session_close(s);
    return NULL;
}

void session_close(struct session *s)
{
    free(s);
}

/* NULL: there are none. */
static const char *skip_digits(const char *s)
{
    size_t n = strspn(s, "0123456789");

    return n ? s + n : NULL;
}

int session_check_job(const char *job, struct err *err)
{
    const char *end = skip_digits(job);
    bool fits = end && end - job <= 10;

    if (end && (*end == '_' || *end == '+'))
        end = skip_digits(end + 1);
    if (end && *end == '.')
        end = skip_digits(end + 1);
    if (fits && end && !*end && end - job < 40)
        return 0;
    return err_set(
        err, "invalid job '%.60s': expected 123, 123.0 (a step), 123_4 (of an array) or 123+1 (of a het job)",
        job);
}

void session_complete(const struct options *o, const char *name, FILE *out)
{
    static const struct {
        const char *name, *query, *list, *key, *text;
    } known[] = {
        { "JOB", "jobs", "jobs", "id", "name" },
        { "NODES", "nodes", "nodes", "node", "switch" },
        { "POLICY", "policy", "policies", "name", "text" },
    };
    struct session *s;
    struct err err;

    for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
        json_t *question, *answer;
        const json_t *each;
        size_t k;

        if (strcmp(known[i].name, name) != 0 || !(s = session_open(o, &err)))
            continue;
        question = json_pack("{s:s}", "query", known[i].query);
        answer = client_ask(&s->client, question, COMPLETION_S, &err);
        json_array_foreach(json_object_get(answer, known[i].list), k, each) {
            const char *word = json_get_string(each, known[i].key),
                       *more = json_get_word(each, known[i].text);

            if (strpbrk(more, "\t\n"))
                more = "";
            /* Only a plain word is safe in a command line. */
            if (word && *word && !word[strcspn(word, " \t\n'\"\\\\$`&|;<>(){}*?!#~")])
                fprintf(out, "%s%s%s\n", word, *more ? "\t" : "", more);
        }
        json_decref(answer);
        json_decref(question);
        session_close(s);
    }
}
