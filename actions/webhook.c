#include "actions/webhook.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "actions/action_record.h"
#include "actions/http.h"
#include "actions/secret.h"
#include "actions/template.h"
#include "common/config.h"
#include "common/xalloc.h"

#define ANSWER_MAX (64u << 10)

struct webhook {
    struct event_base *base;
    struct http *http;
    double answer_s;
    char url[2048], template[1024], token[1024]; /* as configured */
};

struct webhook_call {
    struct webhook *webhook;
    const struct action_record *r;
    attempt_fn *fn;
    void *arg;
    struct event *begin;
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

static json_t *values(const struct action_record *r, const char *token)
{
    char host[64] = "", stamp[32];
    char *text = r->job.job ? xasprintf("job %s: %s", r->job_text, r->reason) : xstrdup(r->reason);
    char *escaped = mrkdwn(text);
    time_t at = (time_t)r->asked_s;
    struct tm tm;
    json_t *v;

    gethostname(host, sizeof(host) - 1);
    strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&at, &tm));
    v = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s}", "controller", host, "key", r->key, "text",
                  text, "mrkdwn", escaped, "job", r->job.job ? r->job_text : "", "nodes", r->nodes, "rule",
                  r->rule, "policy", r->policy, "reason", r->reason, "time", stamp, "token", token);
    json_object_set_new(v, "figures", action_figures(r));
    free(escaped);
    free(text);
    return v;
}

/* The template's text, which the caller frees. */
static char *load(const char *template, struct err *err)
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
    char *text = load(template, err), *body = NULL;
    json_t *v;

    if (!text)
        return NULL;
    v = values(r, token);
    body = template_fill(text, v, err);
    if (!body)
        err_prefix(err, "WebhookTemplate=%s", template);
    json_decref(v);
    free(text);
    return body;
}

/* ---- a call ---- */

static void call_free(struct webhook_call *c)
{
    event_free(c->begin);
    free(c);
}

static void end(struct webhook_call *c, enum attempt_result result, const char *text)
{
    c->fn(c->arg, result, text);
    call_free(c);
}

static void on_answer(void *arg, const struct http_answer *a)
{
    struct webhook_call *c = arg;
    char text[600];
    bool later = a->status == 408 || a->status == 425 || a->status == 429 || a->status >= 500;

    c->http = NULL;
    if (!a->status) {
        snprintf(text, sizeof(text), "%s did not answer: %.200s", c->origin, a->why);
        end(c, ATTEMPT_AGAIN, text);
        return;
    }
    snprintf(text, sizeof(text), "%s answered %d%s", c->origin, a->status,
             a->status / 100 == 3 ? "; redirects are not followed: configure the final URL" : "");
    end(c, a->status / 100 == 2 ? ATTEMPT_DONE : later ? ATTEMPT_AGAIN : ATTEMPT_REFUSED, text);
}

/* The URL as configured, or the content of the configured file. */
static int find_url(const struct webhook *w, char *url, struct err *err)
{
    if (*w->url != '/') {
        snprintf(url, SECRET_MAX, "%s", w->url);
        return 0;
    }
    if (secret_read(w->url, url, err) < 0)
        return -1;
    if (strncasecmp(url, "https://", 8) != 0 && strncasecmp(url, "http://", 7) != 0)
        return err_set(err, "%s: expected an http:// or https:// URL", w->url);
    return 0;
}

static void on_begin(evutil_socket_t fd, short what, void *arg)
{
    struct webhook_call *c = arg;
    struct webhook *w = c->webhook;
    char url[SECRET_MAX], token[SECRET_MAX] = "", bearer[SECRET_MAX + 32], key[ACTION_KEY_MAX + 32];
    struct http_request request = {
        .method = "POST", .url = url, .timeout_s = w->answer_s, .answer_max = ANSWER_MAX, .proxy = true
    };
    char *text = NULL, *body = NULL;
    size_t n = 0;
    struct err err;

    (void)fd;
    (void)what;
    if (find_url(w, url, &err) < 0 || (*w->token && secret_read(w->token, token, &err) < 0) ||
        !(text = load(w->template, &err)) || !(body = webhook_body(w->template, c->r, token, &err)))
        goto out;
    http_origin(url, c->origin, sizeof(c->origin));
    snprintf(key, sizeof(key), "Idempotency-Key: \"%s\"", c->r->key);
    snprintf(bearer, sizeof(bearer), "Authorization: Bearer %s", token);
    request.body = body;
    request.header[n++] = key;
    if (*token && !template_uses(text, "token"))
        request.header[n++] = bearer;
    c->http = http_start(w->http, &request, on_answer, c);
    if (!c->http)
        err_set(&err, "%s: invalid URL", c->origin);
out:
    explicit_bzero(token, sizeof(token));
    explicit_bzero(bearer, sizeof(bearer));
    explicit_bzero(url, sizeof(url));
    free(text);
    free(body);
    if (!c->http)
        end(c, ATTEMPT_REFUSED, err.text);
}

struct webhook_call *webhook_start(struct webhook *w, const struct action_record *r, attempt_fn *fn,
                                   void *arg)
{
    struct webhook_call *c = xcalloc(1, sizeof(*c));

    c->webhook = w;
    c->r = r;
    c->fn = fn;
    c->arg = arg;
    c->begin = event_new(w->base, -1, 0, on_begin, c);
    event_active(c->begin, EV_TIMEOUT, 0);
    return c;
}

void webhook_cancel(struct webhook_call *c)
{
    if (!c)
        return;
    http_cancel(c->http);
    call_free(c);
}

/* ---- creation and end ---- */

struct webhook *webhook_new(struct event_base *base, struct http *http)
{
    struct webhook *w = xcalloc(1, sizeof(*w));

    w->base = base;
    w->http = http;
    return w;
}

void webhook_configure(struct webhook *w, const struct config *c)
{
    snprintf(w->url, sizeof(w->url), "%s", c->webhook);
    snprintf(w->template, sizeof(w->template), "%s", c->webhook_template);
    snprintf(w->token, sizeof(w->token), "%s", c->webhook_token);
}

void webhook_patience(struct webhook *w, double answer_s)
{
    w->answer_s = answer_s;
}

void webhook_free(struct webhook *w)
{
    free(w);
}

int webhook_can(const struct webhook *w, struct err *err)
{
    static const struct action_record sample = {
        .job_text = "1.0", .nodes = "", .rule = "", .policy = "", .reason = "", .key = "", .outcome = ""
    };
    char *body;

    if (!*w->url)
        return err_set(err, "no webhook is configured: see Webhook in syncguard.conf(5)");
    body = webhook_body(w->template, &sample, "", err);
    free(body);
    return body ? 0 : -1;
}
