#include "plan/running.h"

#include <stdlib.h>

#include "common/config.h"
#include "common/xalloc.h"
#include "ctl/analyze.h"
#include "ctl/answer.h"
#include "wire/client.h"
#include "wire/hosts.h"

#define TIMEOUT_S 10.0

const struct question_option running_trace = {
    "trace", "FILE", QUESTION_TEXT, 0, 0, NULL, "a recorded trace; - is standard input"
};
const struct question_option running_job = {
    "job", "ID", QUESTION_TEXT, 0, 0, NULL, "a job that the controller knows"
};
const struct question_option running_conf = {
    "conf", "PATH", QUESTION_TEXT, 0, 0, NULL, "syncguard.conf, for --job"
};
const struct question_option running_controller = {
    "controller", "HOST", QUESTION_TEXT, 0, 0, NULL, "whom to ask, for --job"
};

struct trace_reader *running_read_file(const char *path, struct err *err)
{
    static const struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 60 };
    struct trace_reader *r = trace_reader_new(&params);

    if (analyze_read(path, r, err) == 0)
        return r;
    trace_reader_free(r);
    return NULL;
}

struct trace_reader *running_read(const struct asked *a, struct err *err)
{
    return running_read_file(asked_text(a, "trace"), err);
}

static json_t *ask(const struct config *config, const char *controller, json_t *question, const char *key,
                   struct err *err)
{
    struct client_options client = { .munge_socket = *config->munge_socket ? config->munge_socket : NULL };
    char *hosts = hosts_complete(controller ? controller : config->controller, config->port, err);
    json_t *answer, *o = NULL;

    if (!hosts)
        return NULL;
    client.hosts = hosts;
    answer = client_ask(&client, question, TIMEOUT_S, err);
    if (answer && answer_check(answer, key, JSON_OBJECT, err) == 0)
        o = json_incref(json_object_get(answer, key));
    json_decref(answer);
    free(hosts);
    return o;
}

json_t *running_ask(const struct asked *a, json_t *question, const char *key, struct err *err)
{
    const char *environment = getenv("SYNCGUARD_CONF"), *conf = asked_text(a, "conf");
    struct config *config = xcalloc(1, sizeof(*config));
    json_t *o = NULL;

    if (!conf && environment && *environment)
        conf = environment;
    if (json_object_set_new(question, "job", json_string(asked_text(a, "job"))) < 0)
        err_set(err, "--job: that is no text");
    else if (config_load(config, conf, err) == 0)
        o = ask(config, asked_text(a, "controller"), question, key, err);
    json_decref(question);
    free(config);
    return o;
}
