#include "actions/webhook.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "actions/http.h"
#include "actions/secret.h"
#include "actions/template.h"
#include "common/config.h"
#include "common/xalloc.h"
#include "history/action_record.h"

#define ANSWER_MAX (64u << 10)

struct webhook_call {
    attempt_fn *fn;
    void *arg;
    struct http_call *http;
    char origin[300]; /* the part of the URL that may be shown */
};

/* ---- the body ---- */

/* &, < and > have a meaning for Slack: "<!channel>" in a job's name must not notify everybody. */
static char *mrkdwn(const char *text)
{
    char *out = xcalloc(strlen(text) + 1, 5), *o = out;

    for (; *text; text++)
        o = *text == '&'   ? stpcpy(o, "&amp;")
            : *text == '<' ? stpcpy(o, "&lt;")
            : *text == '>' ? stpcpy(o, "&gt;")
                           : (*o = *text, o + 1);
    return out;
}

/* The template's text, which the caller frees. */
static char *load_template(const char *template, struct err *err)
{
    const char *builtin = template_builtin(template);
    char names[128], *text;
    struct stat st;
    ssize_t n;
    int fd;

    if (builtin)
        return xstrdup(builtin);
    if (*template != '/') {
        err_set(err, "WebhookTemplate=%s: expected one of %s, or a file", template,
                template_names(names, sizeof(names)));
        return NULL;
    }
    fd = open(template, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > (off_t)TEMPLATE_MAX) {
        err_set(err, "WebhookTemplate=%s: %s", template,
                fd < 0 ? strerror(errno) : "not a regular file of at most 64 KiB");
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    text = xcalloc(1, TEMPLATE_MAX + 1);
    n = read(fd, text, TEMPLATE_MAX);
    close(fd);
    if (n >= 0)
        return text;
    free(text);
    err_set(err, "WebhookTemplate=%s: cannot be read", template);
    return NULL;
}

char *webhook_body(const char *template, const struct action_record *r, const char *token, struct err *err)
{
    char *form = load_template(template, err), *text, *escaped, *body;
    char host[64] = "", stamp[32], next[400];
    time_t at = (time_t)r->asked_s;
    struct tm tm;
    json_t *v;

    if (!form)
        return NULL;
    action_next(r, next, sizeof(next));
    text = xasprintf("%s%s%s%s%s%s", r->job.job ? "job " : "", r->job.job ? r->job_text : "",
                     r->job.job ? ": " : "", r->reason, *next ? "; next: " : "", next);
    escaped = mrkdwn(text);
    gethostname(host, sizeof(host) - 1);
    strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&at, &tm));
    v = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:o}", "controller", host, "key", r->key,
                  "text", text, "mrkdwn", escaped, "job", r->job.job ? r->job_text : "", "nodes", r->nodes,
                  "rule", r->rule, "policy", r->policy, "reason", r->reason, "time", stamp, "token", token,
                  "next", next, "figures", action_figures(r));
    body = template_fill(form, v, err);
    if (!body)
        err_prefix(err, "WebhookTemplate=%s", template);
    json_decref(v);
    free(escaped);
    free(text);
    free(form);
    return body;
}

/* ---- a call ---- */

static void end_call(struct webhook_call *c, enum attempt_result result, const char *text)
{
    c->fn(c->arg, result, text);
    free(c);
}

static void on_answer(void *arg, const struct http_answer *a)
{
    struct webhook_call *c = arg;
    char text[600];
    bool later = a->status == 408 || a->status == 425 || a->status == 429 || a->status >= 500;

    c->http = NULL;
    if (!a->status) {
        snprintf(text, sizeof(text), "%s did not answer: %.200s", c->origin, a->why);
        end_call(c, ATTEMPT_AGAIN, text);
        return;
    }
    snprintf(text, sizeof(text), "%s answered %d%s", c->origin, a->status,
             a->status / 100 == 3 ? "; redirects are not followed: configure the final URL" : "");
    end_call(c, a->status / 100 == 2 ? ATTEMPT_DONE : later ? ATTEMPT_AGAIN : ATTEMPT_REFUSED, text);
}

/* The URL as configured, or the content of the configured file. */
static int find_url(const struct config *c, char *url, struct err *err)
{
    if (*c->webhook != '/') {
        snprintf(url, SECRET_MAX, "%s", c->webhook);
        return 0;
    }
    if (secret_read(c->webhook, url, err) < 0)
        return -1;
    if (strncasecmp(url, "https://", 8) != 0 && strncasecmp(url, "http://", 7) != 0)
        return err_set(err, "%s: expected an http:// or https:// URL", c->webhook);
    return 0;
}

struct webhook_call *webhook_start(struct http *http, const struct config *c, double answer_s,
                                   const struct action_record *r, attempt_fn *fn, void *arg, struct err *err)
{
    char url[SECRET_MAX], token[SECRET_MAX] = "", bearer[SECRET_MAX + 32], key[ACTION_KEY_MAX + 32];
    struct http_request request = {
        .method = "POST", .url = url, .timeout_s = answer_s, .answer_max = ANSWER_MAX, .proxy = true
    };
    struct webhook_call *call = xcalloc(1, sizeof(*call));
    char *text = NULL, *body = NULL;
    size_t n = 0;

    call->fn = fn;
    call->arg = arg;
    if (find_url(c, url, err) < 0 || (*c->webhook_token && secret_read(c->webhook_token, token, err) < 0) ||
        !(text = load_template(c->webhook_template, err)) ||
        !(body = webhook_body(c->webhook_template, r, token, err)))
        goto out;
    http_origin(url, call->origin, sizeof(call->origin));
    snprintf(key, sizeof(key), "Idempotency-Key: \"%s\"", r->key);
    snprintf(bearer, sizeof(bearer), "Authorization: Bearer %s", token);
    request.body = body;
    request.header[n++] = key;
    if (*token && !template_uses(text, "token"))
        request.header[n++] = bearer;
    call->http = http_start(http, &request, on_answer, call);
    if (!call->http)
        err_set(err, "%s: invalid URL", call->origin);
out:
    explicit_bzero(token, sizeof(token));
    explicit_bzero(bearer, sizeof(bearer));
    explicit_bzero(url, sizeof(url));
    free(text);
    free(body);
    if (call->http)
        return call;
    free(call);
    return NULL;
}

void webhook_cancel(struct webhook_call *c)
{
    if (!c)
        return;
    http_cancel(c->http);
    free(c);
}

int webhook_can(const struct config *c, struct err *err)
{
    static const struct action_record sample = {
        .job_text = "1.0", .nodes = "", .rule = "", .policy = "", .reason = "", .key = "", .outcome = ""
    };
    char *body;

    if (!*c->webhook)
        return err_set(err, "no webhook is configured: see Webhook in syncguard.conf(5)");
    body = webhook_body(c->webhook_template, &sample, "", err);
    free(body);
    return body ? 0 : -1;
}
