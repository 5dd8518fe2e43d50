#include "run/assignment.h"

#include <jansson.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "wire/json.h"

#define VARIABLES_MAX 10000u

char *assignment_write(const struct assignment *j)
{
    char key[2 * ASSIGNMENT_KEY_BYTES + 1], *line, *text;
    json_t *o = json_object(), *environment = json_array();

    sodium_bin2hex(key, sizeof(key), j->key, sizeof(j->key));
    json_put_text(o, "node", j->node);
    json_put_int(o, "number", j->number);
    json_put_int(o, "count", j->count);
    json_put_text(o, "controller", j->controller);
    json_put_text(o, "key", key);
    json_put_text(o, "name", j->name);
    json_put_text(o, "policy", j->policy);
    json_object_set_new(o, "policy_asked", json_boolean(j->policy_asked));
    json_put_real(o, "rate_hz", j->rate_hz);
    json_put_text(o, "agent", j->agent);
    json_put_text(o, "probe", j->probe);
    json_put_text(o, "nccl", j->nccl);
    json_put_text(o, "nccl_events", j->nccl_events);
    json_put_text(o, "folder", j->folder);
    for (char **e = j->environment; e && *e; e++)
        json_array_append_new(environment, json_string(*e)); /* of what is no UTF-8 nothing is appended */
    json_put_json(o, "environment", environment);
    text = json_dumps(o, JSON_COMPACT);
    json_decref(o);
    sodium_memzero(key, sizeof(key));
    line = text ? xasprintf("%s\n", text) : NULL;
    free(text);
    return line;
}

static int read_environment(struct assignment *j, const json_t *o, struct err *err)
{
    size_t n;
    const json_t *list = json_get_list(o, "environment", VARIABLES_MAX, &n);

    j->environment = xcalloc(n + 1, sizeof(*j->environment));
    for (size_t i = 0; i < n; i++) {
        const char *text = json_string_value(json_array_get(list, i));

        if (!text || !strchr(text, '=') || *text == '=')
            return err_set(err, "'environment' has something that is not NAME=VALUE");
        j->environment[i] = xstrdup(text);
    }
    return 0;
}

static int read_fields(struct assignment *j, const json_t *o, struct err *err)
{
    const struct {
        const char *key;
        char *at;
        size_t size;
    } texts[] = {
        { "node", j->node, sizeof(j->node) },      { "controller", j->controller, sizeof(j->controller) },
        { "name", j->name, sizeof(j->name) },      { "policy", j->policy, sizeof(j->policy) },
        { "agent", j->agent, sizeof(j->agent) },   { "probe", j->probe, sizeof(j->probe) },
        { "nccl", j->nccl, sizeof(j->nccl) },      { "nccl_events", j->nccl_events, sizeof(j->nccl_events) },
        { "folder", j->folder, sizeof(j->folder) }
    };
    const char *key = json_get_word(o, "key");
    size_t bytes = 0;

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        const char *text = json_get_string(o, texts[i].key);

        if (!text || !*text || strlen(text) >= texts[i].size)
            return err_set(err, "'%s' is missing, empty or longer than %zu bytes", texts[i].key,
                           texts[i].size - 1);
        memcpy(texts[i].at, text, strlen(text) + 1);
    }
    j->count = (unsigned)json_get_int(o, "count", 1, ASSIGNMENT_HOSTS_MAX, 0);
    j->number = (unsigned)json_get_int(o, "number", 0, (int64_t)j->count - 1, ASSIGNMENT_HOSTS_MAX);
    j->policy_asked = json_get_true(o, "policy_asked");
    j->rate_hz = json_get_real(o, "rate_hz", 0.001, 1e6);
    if (j->number >= j->count)
        return err_set(err, "'number' and 'count' do not name a host of at most %u", ASSIGNMENT_HOSTS_MAX);
    if (!(j->rate_hz > 0))
        return err_set(err, "'rate_hz' is not a rate");
    if (sodium_hex2bin(j->key, sizeof(j->key), key, strlen(key), NULL, &bytes, NULL) < 0 ||
        bytes != sizeof(j->key))
        return err_set(err, "'key' does not have %zu hexadecimal digits", 2 * sizeof(j->key));
    return read_environment(j, o, err);
}

int assignment_read(struct assignment *j, const char *line, size_t bytes, struct err *err)
{
    json_error_t at;
    json_t *o = bytes < ASSIGNMENT_LINE_MAX ? json_loadb(line, bytes, JSON_REJECT_DUPLICATES, &at) : NULL;
    int rc = -1;

    *j = (struct assignment){ 0 };
    if (!json_is_object(o))
        err_set(err, "not a line of `sgrun --hosts`");
    else
        rc = read_fields(j, o, err);
    json_decref(o);
    if (rc < 0)
        assignment_free(j);
    return rc;
}

void assignment_free(struct assignment *j)
{
    for (char **e = j->environment; e && *e; e++)
        free(*e);
    free(j->environment);
    sodium_memzero(j, sizeof(*j));
}

const char *assignment_write_signal(int sig, char buf[ASSIGNMENT_SIGNAL_SIZE])
{
    snprintf(buf, ASSIGNMENT_SIGNAL_SIZE, "signal %d\n", sig);
    return buf;
}

int assignment_read_signal(const char *line)
{
    int sig = 0, end = 0;

    return sscanf(line, "signal %9d%n", &sig, &end) == 1 && !line[end] && sig > 0 && sig < NSIG ? sig : 0;
}

bool assignment_takes_variable(const char *name_and_value)
{
    static const char *const of_a_host[] = {
        "DBUS_", "DISPLAY=",   "HOSTNAME=", "OLDPWD=",  "PWD=",        "SHLVL=", "SLURM",
        "SSH_",  "SYNCGUARD_", "TMPDIR=",   "WAYLAND_", "XAUTHORITY=", "XDG_",   "_="
    };

    for (size_t i = 0; i < ARRAY_SIZE(of_a_host); i++)
        if (!strncmp(name_and_value, of_a_host[i], strlen(of_a_host[i])))
            return false;
    return strchr(name_and_value, '=') != NULL;
}
