#include "actions/rest.h"

#include <event2/event.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "actions/http.h"
#include "actions/rest_answer.h"
#include "actions/secret.h"
#include "common/config.h"
#include "common/err.h"
#include "common/hostlist.h"
#include "common/xalloc.h"
#include "history/action_record.h"
#include "slurm/comment.h"
#include "wire/json.h"

#define NEWEST     46 /* v0.0.NN; older versions are tried after it */
#define OLDEST     36
#define ADMIN_FROM 39 /* first with AdminComment; v0.0.38 answers "Failure during parsing" */
#define NODES_FROM 40 /* first that can change nodes */
#define ANSWER_MAX (4u << 20)
#define NODE_MAX   256

struct rest {
    struct event_base *base;
    struct http *http;
    const struct config *config;
    double answer_s;
    int version; /* 0: not known yet */
    bool version_fixed;
};

struct rest_call {
    struct rest *rest;
    const struct action_record *action;
    attempt_fn *fn;
    void *arg;
    struct event *begin;
    struct http_call *http;
    int asked;         /* the version that is being tried */
    bool of_job;       /* check first that the nodes are the job's */
    bool changed;      /* the change was sent and is to be verified */
    bool known;        /* Slurm has all nodes: none is changed before that is known */
    const char *nodes; /* nodes that remain; NULL: the action is on a job */
    char node[NODE_MAX];
    char *wanted; /* the comment to set */
};

static void continue_call(struct rest_call *c);

static void call_free(struct rest_call *c)
{
    event_free(c->begin);
    free(c->wanted);
    free(c);
}

static void end_call(struct rest_call *c, enum attempt_result result, const char *text)
{
    char said[600];

    snprintf(said, sizeof(said), "slurmrestd: %s", text);
    c->fn(c->arg, result, said);
    call_free(c);
}

/* ---- one request ---- */

static const char *own_name(void)
{
    const struct passwd *pw = getpwuid(geteuid());

    return pw ? pw->pw_name : "";
}

static void send_request(struct rest_call *c, const char *method, const char *path, const json_t *body,
                         http_fn *fn)
{
    const char *where = c->rest->config->slurmrestd, *token_file = c->rest->config->slurmrestd_token,
               *socket = !strncmp(where, "unix:", 5) ? where + 5 : NULL;
    char token[SECRET_MAX], key[SECRET_MAX + 32], name[300];
    const char *host = socket ? "http://localhost" : where;
    size_t n = strlen(host);
    char *url, *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
    struct http_request r = { .method = method,
                              .unix_socket = socket,
                              .body = text,
                              .timeout_s = c->rest->answer_s,
                              .answer_max = ANSWER_MAX };
    struct err err = { "cannot send the request" };

    while (n > 0 && host[n - 1] == '/')
        n--;
    r.url = url = xasprintf("%.*s/slurm/%s", (int)n, host, path);
    if (*token_file && secret_read(token_file, token, &err) < 0)
        goto out;
    if (*token_file) {
        snprintf(key, sizeof(key), "X-SLURM-USER-TOKEN: %s", token);
        snprintf(name, sizeof(name), "X-SLURM-USER-NAME: %.250s", own_name());
        r.header[0] = key;
        r.header[1] = name;
    }
    c->http = http_start(c->rest->http, &r, fn, c);
out:
    explicit_bzero(token, sizeof(token));
    explicit_bzero(key, sizeof(key));
    free(text);
    free(url);
    if (!c->http)
        end_call(c, ATTEMPT_AGAIN, err.text);
}

/* The answer's object; NULL: the answer was an error, and the call has ended. */
static json_t *read_answer(struct rest_call *c, const struct http_answer *a)
{
    enum rest_answer how;
    json_t *answer = NULL;
    struct err err;

    c->http = NULL;
    if (!a->status) {
        end_call(c, ATTEMPT_AGAIN, a->why);
        return NULL;
    }
    if (a->status == 404 && !c->rest->version_fixed)
        c->rest->version = 0; /* slurmrestd may have been replaced: determine its version again */
    how = rest_read(a->body, a->bytes, &answer, &err);
    if (how == REST_FINE && a->status == 200)
        return answer;
    if (how != REST_REFUSED)
        err_set(&err, "HTTP status %d%s%s", a->status, how == REST_UNREADABLE ? ", " : "",
                how == REST_UNREADABLE ? "and not a JSON object" : "");
    json_decref(answer);
    if (a->status == 405 || a->status == 501)
        end_call(c, ATTEMPT_CANNOT, err.text);
    else
        end_call(c, ATTEMPT_AGAIN, err.text);
    return NULL;
}

/* ---- version ---- */

static void ask_version(struct rest_call *c);

static void on_version(void *arg, const struct http_answer *a)
{
    struct rest_call *c = arg;
    json_t *answer = NULL;
    struct err err;

    c->http = NULL;
    if (!a->status) {
        end_call(c, ATTEMPT_AGAIN, a->why);
    } else if (a->status == 200) {
        if (rest_read(a->body, a->bytes, &answer, &err) == REST_UNREADABLE) {
            end_call(c, ATTEMPT_AGAIN, err.text);
            return;
        }
        json_decref(answer);
        c->rest->version = c->asked;
        continue_call(c);
    } else if (a->status == 401 || a->status == 403 || a->status == 407) {
        end_call(c, ATTEMPT_AGAIN, "access denied: see SlurmrestdToken");
    } else if (a->status != 404) {
        snprintf(err.text, sizeof(err.text), "HTTP status %d", a->status);
        end_call(c, ATTEMPT_AGAIN, err.text);
    } else if (c->asked > OLDEST) {
        c->asked--;
        ask_version(c);
    } else {
        end_call(c, ATTEMPT_CANNOT, "it answers to no supported version");
    }
}

static void ask_version(struct rest_call *c)
{
    char path[64];

    snprintf(path, sizeof(path), "v0.0.%d/ping", c->asked);
    send_request(c, "GET", path, NULL, on_version);
}

/* ---- reading and changing ---- */

static void on_change(void *arg, const struct http_answer *a)
{
    struct rest_call *c = arg;
    json_t *answer = read_answer(c, a);

    if (!answer)
        return;
    json_decref(answer);
    c->changed = true;
    continue_call(c);
}

/* Job or node has the wanted state: continue with the next node, or end. */
static void as_wanted(struct rest_call *c, const char *text)
{
    bool was = !c->changed;

    c->changed = false;
    if (c->nodes && *c->nodes)
        continue_call(c);
    else
        end_call(c, ATTEMPT_DONE,
                 was                                ? text
                 : c->action->kind == ACTION_DRAIN  ? "drained"
                 : c->action->kind == ACTION_RESUME ? "resumed"
                                                    : "comment set");
}

/* Job or node lacks the wanted state: change it, unless a change was sent already and had no effect. */
static void request_change(struct rest_call *c, const char *path, json_t *body)
{
    if (c->changed)
        end_call(c, ATTEMPT_AGAIN, "it accepted the change, but did not make it");
    else
        send_request(c, "POST", path, body, on_change);
    json_decref(body);
}

static void job_seen(struct rest_call *c, const struct rest_job *job)
{
    bool own = action_own_comment(c->action);
    const char *old = own ? job->comment : job->admin_comment;
    char path[64];

    snprintf(path, sizeof(path), "v0.0.%d/job/%u", c->rest->version, c->action->job.job);
    if (!c->wanted)
        c->wanted = comment_merge(old, c->action->reason);
    if (!strncmp(old, c->wanted, strlen(c->wanted)) &&
        strspn(old + strlen(c->wanted), " ") == strlen(old + strlen(c->wanted)))
        as_wanted(c, "the job has this comment already");
    else
        request_change(c, path, json_pack("{s:s}", own ? "comment" : "admin_comment", c->wanted));
}

static bool all_in_job(const struct rest_call *c, const char *list)
{
    const char *s = c->action->nodes;

    while (*s) {
        char name[NODE_MAX];
        size_t n = strcspn(s, ",");

        snprintf(name, sizeof(name), "%.*s", (int)n, s);
        if (!hostlist_has(list, name))
            return false;
        s += n + (s[n] == ',');
    }
    return true;
}

static void on_job(void *arg, const struct http_answer *a)
{
    struct rest_call *c = arg;
    json_t *answer = read_answer(c, a);
    struct rest_job job;
    struct err err;

    if (!answer)
        return;
    if (rest_job(answer, c->action->job.job, &job, &err) != REST_FINE)
        end_call(c, ATTEMPT_AGAIN, err.text);
    else if (job.uid != c->action->job.uid)
        end_call(c, ATTEMPT_REFUSED, "the job is another user's");
    else if (!c->of_job)
        job_seen(c, &job);
    else if (!all_in_job(c, job.nodes))
        end_call(c, ATTEMPT_REFUSED, "the job is not on these nodes");
    else {
        c->of_job = false;
        continue_call(c);
    }
    json_decref(answer);
}

/* The node's state in words if it is as wanted, otherwise NULL. */
static const char *node_is(const struct rest_call *c, const struct rest_node *node)
{
    if (c->action->kind == ACTION_DRAIN)
        return node->drained ? "drained already" : NULL;
    if (c->action->kind == ACTION_RESUME)
        return node->drained ? NULL : "the node is not drained";
    return !strcmp(node->comment, c->wanted) ? "the node has this comment already" : NULL;
}

/* The body of the change; the caller owns it. */
static json_t *node_change(const struct rest_call *c)
{
    if (c->action->kind == ACTION_DRAIN)
        return json_pack("{s:[s],s:s}", "state", "DRAIN", "reason", c->wanted);
    if (c->action->kind == ACTION_RESUME)
        return json_pack("{s:[s]}", "state", "RESUME");
    return json_pack("{s:s}", "comment", c->wanted);
}

static void node_seen(struct rest_call *c, const struct rest_node *node)
{
    const char *is;
    char path[NODE_MAX + 32];

    snprintf(path, sizeof(path), "v0.0.%d/node/%s", c->rest->version, c->node);
    if (!c->wanted)
        c->wanted =
            comment_merge(c->action->kind == ACTION_NODE_COMMENT ? node->comment : NULL, c->action->reason);
    is = node_is(c, node);
    if (is) {
        free(c->wanted);
        c->wanted = NULL;
        *c->node = '\0';
        as_wanted(c, is);
    } else {
        request_change(c, path, node_change(c));
    }
}

static void on_node(void *arg, const struct http_answer *a)
{
    struct rest_call *c = arg;
    json_t *answer = read_answer(c, a);
    struct rest_node node;
    struct err err;

    if (!answer)
        return;
    if (rest_node(answer, c->node, &node, &err) != REST_FINE)
        end_call(c, ATTEMPT_AGAIN, err.text);
    else if (c->known)
        node_seen(c, &node);
    else { /* one more node exists: continue with the next, or begin again from the first and change them */
        *c->node = '\0';
        if (!*c->nodes) {
            c->known = true;
            c->nodes = c->action->nodes;
        }
        continue_call(c);
    }
    json_decref(answer);
}

static void continue_call(struct rest_call *c)
{
    char path[NODE_MAX + 32];

    if (!c->rest->version) {
        ask_version(c);
        return;
    }
    if (!c->nodes && c->rest->version < ADMIN_FROM && !action_own_comment(c->action)) {
        snprintf(path, sizeof(path), "v0.0.%d cannot set AdminComment", c->rest->version);
        end_call(c, ATTEMPT_CANNOT, path);
    } else if (c->nodes && c->rest->version < NODES_FROM) {
        snprintf(path, sizeof(path), "v0.0.%d cannot change nodes", c->rest->version);
        end_call(c, ATTEMPT_CANNOT, path);
    } else if (!c->nodes || c->of_job) {
        snprintf(path, sizeof(path), "v0.0.%d/job/%u", c->rest->version, c->action->job.job);
        send_request(c, "GET", path, NULL, on_job);
    } else {
        if (!*c->node) {
            size_t n = strcspn(c->nodes, ",");

            snprintf(c->node, sizeof(c->node), "%.*s", (int)n, c->nodes);
            c->nodes += n + (c->nodes[n] == ',');
        }
        snprintf(path, sizeof(path), "v0.0.%d/node/%s", c->rest->version, c->node);
        send_request(c, "GET", path, NULL, on_node);
    }
}

static void on_begin(evutil_socket_t fd, short what, void *arg)
{
    struct rest_call *c = arg;

    (void)fd;
    (void)what;
    if (c->nodes && strpbrk(c->nodes, "[]"))
        end_call(c, ATTEMPT_CANNOT, "slurmrestd does not accept ranges of nodes");
    else
        continue_call(c);
}

/* ---- creation and end ---- */

struct rest *rest_new(struct event_base *base, struct http *http, const struct config *c, double answer_s)
{
    struct rest *r = xcalloc(1, sizeof(*r));

    r->base = base;
    r->http = http;
    r->config = c;
    r->answer_s = answer_s;
    rest_configured(r);
    return r;
}

void rest_configured(struct rest *r)
{
    r->version = 0;
    r->version_fixed = sscanf(r->config->slurmrestd_version, "v0.0.%d", &r->version) == 1;
}

void rest_free(struct rest *r)
{
    free(r);
}

bool rest_can(const struct rest *r, enum action_kind kind)
{
    if (!*r->config->slurmrestd)
        return false;
    if (action_table[kind].scope == ACTION_ON_NODES)
        return !r->version || r->version >= NODES_FROM;
    return kind == ACTION_JOB_COMMENT;
}

struct rest_call *rest_start(struct rest *r, const struct action_record *action, attempt_fn *fn, void *arg)
{
    struct rest_call *c = xcalloc(1, sizeof(*c));

    c->rest = r;
    c->action = action;
    c->fn = fn;
    c->arg = arg;
    c->asked = NEWEST;
    c->nodes = action->kind == ACTION_JOB_COMMENT ? NULL : c->action->nodes;
    c->known = !c->nodes || !strchr(c->nodes, ','); /* a single node is read before it is changed anyway */
    c->of_job = action_of_job(action);
    c->begin = event_new(r->base, -1, 0, on_begin, c);
    event_active(c->begin, EV_TIMEOUT, 0);
    return c;
}

void rest_cancel(struct rest_call *c)
{
    if (!c)
        return;
    http_cancel(c->http);
    call_free(c);
}
