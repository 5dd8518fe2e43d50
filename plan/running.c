#include "plan/running.h"

#include "common/text.h"
#include "trace/file.h"
#include "view/view.h"
#include "wire/json.h"
#include "wire/session.h"

#define TIMEOUT_S 10.0

const struct option_spec running_trace = { "trace", "FILE", VALUE(VALUE_ANY),
                                           "recorded trace of a job; - is standard input" };
const struct option_spec running_job = { "job", "JOB", VALUE(VALUE_ANY), "job of the controller" };

struct trace_reader *running_read(const char *path, struct err *err)
{
    static const struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 60 };

    struct trace_reader *r = trace_file_open(path, &params, err);
    struct trace_figures f;

    if (!r)
        return NULL;
    trace_reader_figures_get(r, &f);
    if (!f.untimed)
        return r;
    err_set(err, "%s: its calls have no times that a prediction could stand on", path);
    trace_reader_free(r);
    return NULL;
}

json_t *running_ask(const struct options *a, json_t *question, const char *key, struct err *err)
{
    struct session *s = session_open(a, err);
    json_t *answer = NULL, *o = NULL;

    if (json_object_set_new(question, "job", json_string(options_text(a, "job"))) < 0)
        err_set(err, "--job: '%s' is not UTF-8", options_text(a, "job"));
    else if (s)
        answer = client_ask(&s->client, question, TIMEOUT_S, err);
    if (answer && json_check_answer(answer, key, JSON_OBJECT, err) == 0)
        o = json_incref(json_object_get(answer, key));
    json_decref(answer);
    json_decref(question);
    session_close(s);
    return o;
}

void running_put_assumes(struct answer *answer, char (*assumes)[160], size_t n)
{
    char all[1024] = "";

    for (size_t i = 0; i < n; i++)
        text_append(all, sizeof(all), "%s%s", i ? "; " : "", assumes[i]);
    answer_assumes(answer, "%s", all);
}
