/* Actions from start to end: servers that are slow, dead or wrong, a helper that hangs or crashes, a
 * controller that is restarted during an action.  Slurm is a script here; tests/cluster/action-test.sh uses
 * the real one. */
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "actions/action.h"
#include "actions/attempt.h"
#include "common/config.h"
#include "history/audit.h"
#include "tests/tap.h"

#define ENDS_S 300 /* a limit that no action comes near */

static struct event_base *base;
static char dir[] = "/tmp/syncguard-slurm-helperion-XXXXXX";
static struct config config;
static struct audit *audit;

/* ---- scripts that replace the helper and the command, and log their input ---- */

static void put(const char *name, const char *text, mode_t mode)
{
    char path[128];
    int fd;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    unlink(path);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        abort();
    close(fd);
}

static char *get(const char *name)
{
    static char text[65536];
    char path[128];
    ssize_t n;
    int fd;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    fd = open(path, O_RDONLY);
    n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
    text[n > 0 ? n : 0] = '\0';
    if (fd >= 0)
        close(fd);
    return text;
}

static unsigned lines(const char *name)
{
    unsigned n = 0;

    for (const char *c = get(name); *c; c++)
        n += *c == '\n';
    return n;
}

static void helper(const char *body)
{
    char script[2048];

    snprintf(script, sizeof(script), "#!/bin/sh\ncd %s\ncat >>helper.log\necho >>helper.log\n%s\n", dir,
             body);
    put("helper", script, 0755);
    put("helper.log", "", 0644);
}

static void command(const char *body)
{
    char script[2048];

    snprintf(script, sizeof(script), "#!/bin/sh\ncd %s\n%s\n", dir, body);
    put("command", script, 0755);
    put("command.log", "", 0644);
}

/* ---- a server ---- */

enum manner {
    FINE,    /* 200 */
    BUSY,    /* 503 */
    GONE,    /* 404 */
    MOVED,   /* 302 */
    SILENT,  /* accepts the request and does not answer */
    ENDLESS, /* answers without end */
    GARBAGE, /* 200 with an invalid body */
    LIAR,    /* slurmrestd: reports success without making the change */
    OLD,     /* slurmrestd of v0.0.38 */
    NEW,     /* slurmrestd of v0.0.40 */
};

static struct {
    enum manner manner;
    unsigned short port;
    unsigned requests, changes, fails_first;
    char body[8192], idempotency[256], authorization[256], token[256];
    char comment[512], node_state[64], node_reason[512];
} server;

static void reply(struct evhttp_request *q, int status, const char *text)
{
    struct evbuffer *b = evbuffer_new();

    evbuffer_add(b, text, strlen(text));
    evhttp_add_header(evhttp_request_get_output_headers(q), "Location", "http://127.0.0.1:1/");
    evhttp_send_reply(q, status, "so", b);
    evbuffer_free(b);
}

static void header(struct evhttp_request *q, const char *name, char *buf, size_t size)
{
    const char *v = evhttp_find_header(evhttp_request_get_input_headers(q), name);

    snprintf(buf, size, "%s", v ? v : "");
}

static void reply_json(struct evhttp_request *q, json_t *o)
{
    char *text = json_dumps(o, 0);

    reply(q, 200, text);
    free(text);
    json_decref(o);
}

/* The parts of slurmrestd that are used: ping, a job 123 of user 7, a node n1. */
static void restd(struct evhttp_request *q, int version)
{
    const char *uri = evhttp_request_get_uri(q);
    json_t *sent = json_loads(server.body, 0, NULL);
    char prefix[32];

    snprintf(prefix, sizeof(prefix), "/slurm/v0.0.%d/", version);
    if (strncmp(uri, prefix, strlen(prefix)) != 0) {
        reply(q, 404, "no such version");
        goto out;
    }
    if (evhttp_request_get_command(q) == EVHTTP_REQ_POST) {
        server.changes++;
        if (server.manner != LIAR) {
            const char *comment =
                json_string_value(json_object_get(sent, version < 39 ? "comment" : "admin_comment"));
            const char *state = json_string_value(json_array_get(json_object_get(sent, "state"), 0));
            const char *reason = json_string_value(json_object_get(sent, "reason"));

            snprintf(server.comment, sizeof(server.comment), "%s", comment ? comment : "");
            snprintf(server.node_state, sizeof(server.node_state), "%s", state ? state : "IDLE");
            snprintf(server.node_reason, sizeof(server.node_reason), "%s", reason ? reason : "");
        }
        reply(q, 200, "{\"errors\":[]}");
    } else if (strstr(uri, "/ping")) {
        reply(q, 200, "{\"pings\":[],\"errors\":[]}");
    } else if (strstr(uri, "/job/123")) {
        reply_json(q, json_pack("{s:[{s:i,s:i,s:s,s:s}],s:[]}", "jobs", "job_id", 123, "user_id", 7,
                                version < 39 ? "comment" : "admin_comment", server.comment, "nodes", "n[1-4]",
                                "errors"));
    } else if (strstr(uri, "/node/n1")) {
        reply_json(q, json_pack("{s:[{s:s,s:[s],s:s,s:s}],s:[]}", "nodes", "name", "n1", "state",
                                server.node_state, "reason", server.node_reason, "comment", "", "errors"));
    } else {
        reply(q, 500, "{\"errors\":[{\"error\":\"not found\"}]}");
    }
out:
    json_decref(sent);
}

static void on_request(struct evhttp_request *q, void *arg)
{
    struct evbuffer *in = evhttp_request_get_input_buffer(q);
    size_t n = evbuffer_get_length(in);
    static char huge[6 << 20];

    (void)arg;
    server.requests++;
    n = n < sizeof(server.body) - 1 ? n : sizeof(server.body) - 1;
    evbuffer_copyout(in, server.body, n);
    server.body[n] = '\0';
    header(q, "Idempotency-Key", server.idempotency, sizeof(server.idempotency));
    header(q, "Authorization", server.authorization, sizeof(server.authorization));
    header(q, "X-SLURM-USER-TOKEN", server.token, sizeof(server.token));
    if (server.fails_first) {
        server.fails_first--;
        reply(q, 503, "later");
        return;
    }
    switch (server.manner) {
    case FINE:
        reply(q, 200, "ok");
        break;
    case BUSY:
        reply(q, 503, "busy");
        break;
    case GONE:
        reply(q, 404, "gone");
        break;
    case MOVED:
        reply(q, 302, "");
        break;
    case SILENT:
        evhttp_request_own(q);
        break;
    case ENDLESS:
        memset(huge, 'x', sizeof(huge) - 1);
        reply(q, 200, huge);
        break;
    case GARBAGE:
        reply(q, 200, "<html>{\"jobs\":");
        break;
    default:
        restd(q, server.manner == OLD ? 38 : 40);
    }
}

static void serve(void)
{
    struct evhttp *http = evhttp_new(base);
    struct evhttp_bound_socket *s = evhttp_bind_socket_with_handle(http, "127.0.0.1", 0);
    struct sockaddr_in a;
    socklen_t len = sizeof(a);

    evhttp_set_gencb(http, on_request, NULL);
    if (!s || getsockname(evhttp_bound_socket_get_fd(s), (struct sockaddr *)&a, &len) < 0)
        abort();
    server.port = ntohs(a.sin_port);
}

static void behave(enum manner m)
{
    unsigned short port = server.port;

    memset(&server, 0, sizeof(server));
    server.port = port;
    server.manner = m;
    strcpy(server.node_state, "IDLE");
}

/* ---- actions ---- */

static struct {
    unsigned n;
    enum action_state state;
    unsigned tries;
    char outcome[1024], key[ACTION_KEY_MAX];
} ended;
static unsigned checkpoints;

static void on_ended(const struct action_record *r, void *arg)
{
    (void)arg;
    ended.n++;
    ended.state = r->state;
    ended.tries = r->tries;
    snprintf(ended.outcome, sizeof(ended.outcome), "%s", r->outcome);
    snprintf(ended.key, sizeof(ended.key), "%s", r->key);
}

static int on_checkpoint(const struct action_record *r, void *arg, struct err *err)
{
    (void)arg;
    checkpoints++;
    return r->job.job == 123 ? 0 : err_set(err, "no such job here");
}

/* For what ends by itself, however slow the machine; for what never does. */
static const struct attempt_limits patient = {
    .first_s = 0.01, .longest_s = 0.05, .stale_s = 3600, .answer_s = ENDS_S, .program_s = ENDS_S, .tries = 3
};
static const struct attempt_limits hasty = {
    .first_s = 0.01, .longest_s = 0.05, .stale_s = 3600, .answer_s = 0.1, .program_s = 0.2, .tries = 3
};

/* Bit i: the answer is no when it is asked the i-th time whether this controller may act. */
static unsigned denied, asked;

static bool on_may_act(void *arg)
{
    (void)arg;
    return asked >= 32 || !(denied >> asked++ & 1);
}

static bool on_may_again(void *arg)
{
    (void)arg;
    return true;
}

static struct actions *fresh_with(const char *extra, const struct attempt_limits *limits)
{
    static const struct action_hooks hooks = {
        .ended = on_ended, .checkpoint = on_checkpoint, .may_act = on_may_act, .may_again = on_may_again
    };
    char text[4096];
    struct actions *as;
    struct err err;

    snprintf(text, sizeof(text), "StateDir=%s\nSlurmHelperPath=%s/helper\n%s\n", dir, dir, extra);
    if (config_parse(&config, "test", text, strlen(text), &err) < 0) {
        ok(false, "%s", err.text);
        exit(done_testing());
    }
    audit_close(audit);
    audit = audit_open(config.state_dir, &err);
    as = actions_new(base, &config, audit, limits, &hooks, NULL);
    memset(&ended, 0, sizeof(ended));
    return as;
}

static struct actions *fresh(const char *extra)
{
    return fresh_with(extra, &patient);
}

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void tick(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
}

/* Run the loop until n actions have ended. */
static bool await(unsigned n)
{
    double until_s = now_s() + ENDS_S;
    struct event *e = event_new(base, -1, EV_PERSIST, tick, NULL);

    event_add(e, &(struct timeval){ 0, 20000 });
    while (ended.n < n && now_s() < until_s)
        event_base_loop(base, EVLOOP_ONCE);
    event_free(e);
    return ended.n >= n;
}

/* Run the loop until the log has n lines. */
static bool await_lines(const char *name, unsigned n)
{
    double until_s = now_s() + ENDS_S;
    struct event *e = event_new(base, -1, EV_PERSIST, tick, NULL);

    event_add(e, &(struct timeval){ 0, 20000 });
    while (lines(name) < n && now_s() < until_s)
        event_base_loop(base, EVLOOP_ONCE);
    event_free(e);
    return lines(name) >= n;
}

static struct action an_action(enum action_kind kind)
{
    static char key[32];
    static unsigned n;

    snprintf(key, sizeof(key), "key-%u", ++n);
    return (struct action){ .kind = kind,
                            .job = { .uid = 7, .job = 123, .step = 0 },
                            .job_text = "123.0",
                            .nodes = action_table[kind].wants_nodes ? "n1" : "",
                            .signal = kind == ACTION_SIGNAL ? 10 : 0,
                            .rule = "slow",
                            .reason = "rank 3 is slow",
                            .key = key,
                            .by = ACTION_BY_ITSELF };
}

/* Start an action and wait for its end. */
static void through_on(struct actions *as, enum action_kind kind, uid_t by, const char *nodes)
{
    struct action a = an_action(kind);
    unsigned before = ended.n;
    struct err err = { "" };

    a.by = by;
    if (nodes)
        a.nodes = nodes;
    if (!actions_start(as, &a, &err) || !await(before + 1))
        ok(false, "%s: %s", action_name(kind), *err.text ? err.text : "never ended");
}

static void through_by(struct actions *as, enum action_kind kind, uid_t by)
{
    through_on(as, kind, by, NULL);
}

static void through(struct actions *as, enum action_kind kind)
{
    through_by(as, kind, ACTION_BY_ITSELF);
}

static void is_end(enum action_state state, unsigned tries, const char *words, const char *what)
{
    static const char *const states[] = { "pending", "done", "failed" };

    if (!ok(ended.state == state && ended.tries == tries && strstr(ended.outcome, words), "%s", what))
        printf("#   %s after %u tries: %s\n#   wanted %s after %u: ...%s...\n", states[ended.state],
               ended.tries, ended.outcome, states[state], tries, words);
}

/* ---- the helper ---- */

static void check_helper(void)
{
    struct actions *as = fresh("");
    json_t *sent;

    helper("echo '{\"result\":\"done\",\"text\":\"requeued\"}'");
    through(as, ACTION_EXCLUDE);
    is_end(ACTION_DONE, 1, "requeued", "an action that the helper carries out is done");
    sent = json_loads(get("helper.log"), 0, NULL);
    ok(json_integer_value(json_object_get(sent, "job")) == 123 &&
           json_integer_value(json_object_get(sent, "uid")) == 7,
       "the helper's request has job and user");
    is_str(json_string_value(json_object_get(sent, "nodes")), "n1", "the helper's request has the nodes");
    json_decref(sent);
    helper("echo '{\"result\":\"refused\",\"text\":\"not yours\"}'");
    through(as, ACTION_DRAIN);
    is_end(ACTION_FAILED, 1, "not yours", "an action that the helper refuses is not tried again");
    sent = json_loads(get("helper.log"), 0, NULL);
    ok(json_is_true(json_object_get(sent, "of_job")), "a rule may drain only nodes of the job");
    json_decref(sent);
    helper("[ -e once ] && { rm once; echo '{\"result\":\"done\",\"text\":\"now\"}'; exit; }; touch once; "
           "echo '{\"result\":\"again\",\"text\":\"slurmctld is away\"}'");
    through(as, ACTION_REQUEUE);
    is_end(ACTION_DONE, 2, "now", "an action that fails temporarily is tried again");
    helper("echo '{\"result\":\"again\",\"text\":\"slurmctld is away\"}'");
    through(as, ACTION_REQUEUE);
    is_end(ACTION_FAILED, 3, "given up after 3 tries: slurmctld is away",
           "an action that fails temporarily 3 times is given up");
    actions_free(as);
}

static void check_bad_helpers(void)
{
    struct actions *as = fresh("");

    helper("kill -SEGV $$");
    through(as, ACTION_DRAIN);
    is_end(ACTION_FAILED, 3, "ended by signal 11", "a helper that crashes fails the action");
    helper("echo 'libslurm: fatal: no slurm.conf' >&2; exit 1");
    through(as, ACTION_DRAIN);
    is_end(ACTION_FAILED, 3, "libslurm: fatal: no slurm.conf",
           "the outcome has the error output of a helper that fails");
    actions_free(as);
    as = fresh_with("", &hasty);
    helper("yes '{\"result\":'");
    through(as, ACTION_DRAIN);
    is_end(ACTION_FAILED, 3, "killed at its time limit", "a helper that writes without end is killed");
    helper("sleep 1000");
    through(as, ACTION_REQUEUE);
    is_end(ACTION_FAILED, 3, "killed at its time limit", "a helper that hangs is killed");
    through(as, ACTION_SIGNAL);
    is_end(ACTION_FAILED, 1, "not known whether", "a signal that may have been sent is not sent again");
    actions_free(as);
    as = fresh("");
    helper("exec >&-; echo '{\"result\":\"done\",\"text\":\"\\u001b[2J\"}'; sleep 0.2");
    through(as, ACTION_JOB_COMMENT);
    is_end(ACTION_FAILED, 3, "exit status", "a helper that closes its output fails the action");
    helper("echo '{\"result\":\"done\",\"text\":\"\\u001b[2Jx\"}'");
    through(as, ACTION_JOB_COMMENT);
    is_end(ACTION_DONE, 1, "?[2Jx", "control characters in the helper's answer are replaced");
    actions_free(as);
}

/* ---- keys, refusals, the checkpoint ---- */

static void check_keys(void)
{
    struct actions *as = fresh("");
    struct action a = an_action(ACTION_REQUEUE);
    struct err err;
    int64_t id;

    helper("echo '{\"result\":\"done\",\"text\":\"requeued\"}'");
    id = actions_start(as, &a, &err);
    ok(id > 0 && actions_start(as, &a, &err) == id,
       "a second start with the same key returns the same action");
    ok(await(1), "an action with a key ends");
    ok(actions_start(as, &a, &err) == id, "a start with the key of an ended action returns that action");
    actions_free(as);
    as = fresh("");
    ok(actions_start(as, &a, &err) == id,
       "a start with the key of an earlier controller's action returns that action");
    through(as, ACTION_EXCLUDE); /* would end after a second run */
    ok(ended.n == 1 && lines("helper.log") == 2,
       "an action started 4 times with one key is carried out once");
    is_str(actions_find(as, a.key)->outcome, "requeued", "the outcome is known after a restart");
    a.job.job = 124;
    ok(!actions_start(as, &a, &err), "a key of another action is refused\n%s", err.text);
    actions_free(as);
}

static void check_refusals(void)
{
    struct actions *as = fresh("");
    struct action a = an_action(ACTION_DRAIN);
    struct err err;

    a.nodes = "n1; reboot";
    ok(!actions_start(as, &a, &err), "an invalid list of nodes is refused: %s", err.text);
    a.nodes = "n[1-";
    ok(!actions_start(as, &a, &err), "a list of nodes whose bracket is open is refused");
    is_str(err.text,
           "drain: 'n[1-' is not accepted: names such as node1 or node[1-3,07], with commas between them",
           "a list of nodes that is none is named in the reason");
    a.nodes = "";
    ok(!actions_start(as, &a, &err), "a drain without nodes is refused: %s", err.text);
    a = an_action(ACTION_SIGNAL);
    a.signal = 0;
    ok(!actions_start(as, &a, &err), "signal 0 is refused: %s", err.text);
    a = an_action(ACTION_REQUEUE);
    a.job.job = 0;
    ok(!actions_start(as, &a, &err), "a requeue without a job is refused: %s", err.text);
    a = an_action(ACTION_JOB_COMMENT);
    a.reason = "";
    ok(!actions_start(as, &a, &err), "a comment without text is refused: %s", err.text);
    a = an_action(ACTION_WEBHOOK);
    ok(!actions_start(as, &a, &err), "a webhook without a configured URL is refused: %s", err.text);
    a = an_action(ACTION_COMMAND);
    ok(!actions_start(as, &a, &err), "a command that is not configured is refused: %s", err.text);
    actions_free(as);
    put("helper", "", 0644);
    as = fresh("");
    a = an_action(ACTION_REQUEUE);
    ok(!actions_start(as, &a, &err), "a requeue without libslurm and slurmrestd is refused\n%s", err.text);
    ok(actions_can(as, ACTION_CHECKPOINT, &err) == 0,
       "a checkpoint is possible without libslurm and slurmrestd");
    checkpoints = 0;
    through(as, ACTION_CHECKPOINT);
    ok(checkpoints == 1 && ended.state == ACTION_DONE, "a checkpoint action asks the job once and is done");
    actions_free(as);
}

/* ---- a restart during an action ---- */

static void check_restart(void)
{
    struct actions *as = fresh("");
    struct action drain = an_action(ACTION_DRAIN), signal, late;
    const struct action_record *sent;
    struct err err;
    int64_t id;

    helper("sleep 1000");
    id = actions_start(as, &drain, &err);
    signal = an_action(ACTION_SIGNAL);
    actions_start(as, &signal, &err);
    ok(await_lines("helper.log", 2) && lines("helper.log") == 2, "two actions are under way");
    actions_free(as); /* as if the controller were killed: their end is not recorded */
    helper("echo '{\"result\":\"done\",\"text\":\"n1 was drained by us already\"}'");
    as = fresh("");
    ok(await(2), "a restarted controller ends both interrupted actions");
    is_str(actions_get(as, id)->outcome, "n1 was drained by us already",
           "an interrupted drain is looked up in Slurm");
    sent = actions_find(as, signal.key);
    ok(sent->state == ACTION_FAILED && strstr(sent->outcome, "restarted during a try"),
       "an interrupted signal is not sent a second time\n%s", sent->outcome);
    ok(lines("helper.log") == 1, "after the restart the helper is called for the drain only");
    actions_free(as);

    as = fresh("");
    late = an_action(ACTION_REQUEUE);
    actions_start(as, &late, &err);
    actions_free(as);
    as = fresh_with("", &(const struct attempt_limits){ .stale_s = -1, .tries = 3 });
    ok(await(1), "an action that was requested too long ago ends");
    is_end(ACTION_FAILED, 0, "too late", "an action that was requested too long ago is not tried");
    actions_free(as);
}

/* ---- webhooks ---- */

static void check_webhook(void)
{
    struct actions *as;
    char conf[300];

    put("token", "s3cret-token\n", 0600);
    snprintf(conf, sizeof(conf), "Webhook=http://127.0.0.1:%u/services/s3cret\nWebhookToken=%s/token",
             server.port, dir);
    as = fresh(conf);
    behave(FINE);
    through(as, ACTION_WEBHOOK);
    is_end(ACTION_DONE, 1, "answered 200", "a webhook that answers 200 is done");
    ok(strstr(server.body, "rank 3 is slow") && strstr(server.body, "\"job\":\"123.0\""),
       "the webhook's body has the reason and the job");
    ok(strstr(server.idempotency, ended.key) != NULL, "the webhook's Idempotency-Key has the action's key");
    is_str(server.authorization, "Bearer s3cret-token", "the webhook's Authorization has the token");
    ok(!strstr(ended.outcome, "s3cret"), "the record of a webhook lacks the token");
    behave(FINE);
    server.fails_first = 2;
    through(as, ACTION_WEBHOOK);
    is_end(ACTION_DONE, 3, "answered 200", "a webhook that answers 503 twice is tried again");
    for (unsigned at = 0; at < 2; at++) {
        behave(FINE);
        server.requests = 0;
        asked = 0;
        denied = 7u << at;
        through(as, ACTION_WEBHOOK);
        is_end(ACTION_DONE, 1, "answered 200",
               at ? "what was done while the lease could not be read is recorded once it can"
                  : "what is due while the lease cannot be read is done once it can");
        is_int(server.requests, 1, "and done once");
    }
    denied = 0;
    behave(BUSY);
    through(as, ACTION_WEBHOOK);
    is_end(ACTION_FAILED, 3, "answered 503", "a webhook that answers 503 three times is given up");
    behave(GONE);
    through(as, ACTION_WEBHOOK);
    is_end(ACTION_FAILED, 1, "answered 404", "a webhook that answers 404 is not tried again");
    behave(MOVED);
    through(as, ACTION_WEBHOOK);
    is_end(ACTION_FAILED, 1, "redirects are not followed", "a webhook's redirect is not followed");
    ok(server.requests == 1, "a webhook that redirects gets one request");
    behave(ENDLESS);
    through(as, ACTION_WEBHOOK);
    is_end(ACTION_FAILED, 3, "too long", "a webhook whose answer is too long is given up");
    ok(!strstr(ended.outcome, "s3cret"), "the outcome lacks the secret part of the URL\n%s", ended.outcome);
    actions_free(as);
    as = fresh_with(conf, &hasty);
    behave(SILENT);
    through(as, ACTION_WEBHOOK);
    is_end(ACTION_FAILED, 3, "did not answer", "a webhook that does not answer is given up");
    actions_free(as);
}

static void check_webhook_files(void)
{
    struct actions *as;
    char conf[300], url[100];

    snprintf(url, sizeof(url), "http://127.0.0.1:%u/hidden", server.port);
    put("url", url, 0600);
    put("template", "{\"summary\":\"${text}\",\"fixed\":1}", 0644);
    snprintf(conf, sizeof(conf), "Webhook=%s/url\nWebhookTemplate=%s/template", dir, dir);
    as = fresh(conf);
    behave(FINE);
    through(as, ACTION_WEBHOOK);
    is_end(ACTION_DONE, 1, "answered 200", "the URL of a webhook is read from a file");
    is_str(server.body, "{\"summary\":\"job 123.0: rank 3 is slow\",\"fixed\":1}",
           "the body of a webhook follows a template in a file");
    put("url", url, 0644);
    through(as, ACTION_WEBHOOK);
    is_end(ACTION_FAILED, 1, "lets others read it", "a secret that others may read is refused");
    put("url", "ftp://127.0.0.1/x", 0600);
    through(as, ACTION_WEBHOOK);
    is_end(ACTION_FAILED, 1, "http", "a URL that is not http or https is refused");
    put("template", "{\"summary\":\"${nothing}\"}", 0644);
    ok(actions_can(as, ACTION_WEBHOOK, &(struct err){ "" }) < 0,
       "a template with an unknown name is refused before the action");
    actions_free(as);
}

/* Start webhooks about a user's job until one is refused; returns how many were accepted. */
static unsigned queue(struct actions *as, uid_t uid, struct err *err)
{
    for (unsigned n = 0; n < 1000; n++) {
        struct action a = an_action(ACTION_WEBHOOK);

        a.job.uid = uid;
        if (!actions_start(as, &a, err))
            return n;
    }
    return 1000;
}

/* Many webhooks to a server that does not answer: other actions go on, and the queue is bounded. */
static void check_queue(void)
{
    struct actions *as;
    char conf[100];
    unsigned n = 0;
    struct err err;

    snprintf(conf, sizeof(conf), "Webhook=http://127.0.0.1:%u/", server.port);
    as = fresh(conf);
    behave(SILENT);
    helper("echo '{\"result\":\"done\",\"text\":\"requeued\"}'");
    n += queue(as, 1001, &err);
    ok(n == 200 && strstr(err.text, "the user's jobs"),
       "of one user's jobs 200 webhooks are accepted\n%u, then: %s", n, err.text);
    n += queue(as, 1002, &err);
    ok(n == 256, "of all jobs 256 webhooks are accepted\n%u, then: %s", n, err.text);
    through(as, ACTION_REQUEUE);
    ok(ended.state == ACTION_DONE && strstr(ended.outcome, "requeued"),
       "a requeue does not wait for queued webhooks");
    actions_free(as);
    as = fresh(conf);
    behave(FINE);
    ok(await(256) && server.requests == 256, "a restarted controller sends all 256 queued webhooks\n%u",
       server.requests);
    actions_free(as);
}

/* ---- the command ---- */

static void check_command(void)
{
    struct actions *as;
    char conf[100];
    json_t *sent;

    snprintf(conf, sizeof(conf), "CommandHook=%s/command", dir);
    command("cat >command.log; echo pager called");
    as = fresh(conf);
    through(as, ACTION_COMMAND);
    is_end(ACTION_DONE, 1, "pager called", "a command that succeeds is done");
    sent = json_loads(get("command.log"), 0, NULL);
    is_str(json_string_value(json_object_get(sent, "reason")), "rank 3 is slow",
           "the command's input has the action");
    json_decref(sent);
    command("echo x >>command.log; echo broken >&2; exit 3");
    through(as, ACTION_COMMAND);
    is_end(ACTION_FAILED, 1, "exit status 3: broken", "a command that fails is not run again");
    command("echo x >>command.log; exit 75");
    through(as, ACTION_COMMAND);
    is_end(ACTION_FAILED, 3, "exit status 75", "a command that ends with EX_TEMPFAIL is run again");
    ok(lines("command.log") == 3, "a command that ends with EX_TEMPFAIL is run 3 times");
    actions_free(as);
    as = fresh_with(conf, &hasty);
    command("sleep 1000 & sleep 1000");
    through(as, ACTION_COMMAND);
    is_end(ACTION_FAILED, 1, "killed at its time limit", "a command that hangs is killed");
    command("exec cat /dev/zero");
    through(as, ACTION_COMMAND);
    is_end(ACTION_FAILED, 1, "killed at its time limit", "a command that writes without end is killed");
    actions_free(as);
    as = fresh(conf);
    command("ls -l /proc/self/fd | grep -vc -e total -e pipe: -e /proc/ ; grep SigIgn /proc/self/status "
            ">command.log");
    through(as, ACTION_COMMAND);
    is_end(ACTION_DONE, 1, "0", "the command inherits no file descriptors");
    /* 32 and 33 are libc's own */
    ok((strtoull(get("command.log") + strlen("SigIgn:"), NULL, 16) & ~0x180000000ull) == 0,
       "the command ignores no signals");
    actions_free(as);
}

/* ---- slurmrestd ---- */

static void check_restd(void)
{
    struct actions *as;
    char conf[300];

    put("jwt", "abc.def.ghi\n", 0600);
    snprintf(conf, sizeof(conf), "Slurmrestd=http://127.0.0.1:%u\nSlurmrestdToken=%s/jwt", server.port, dir);
    helper("echo '{\"result\":\"done\",\"text\":\"by the helper\"}'");
    as = fresh(conf);
    behave(OLD);
    through_by(as, ACTION_JOB_COMMENT, 7);
    is_end(ACTION_DONE, 1, "slurmrestd: comment set", "slurmrestd v0.0.38 sets the user's comment");
    is_str(server.comment, "SyncGuard: rank 3 is slow", "slurmrestd gets the comment");
    is_str(server.token, "abc.def.ghi", "slurmrestd gets the token");
    through_by(as, ACTION_JOB_COMMENT, 7);
    is_end(ACTION_DONE, 1, "has this comment already", "a comment that is set already is not changed");
    ok(server.changes == 1, "the comment is changed once");
    through(as, ACTION_JOB_COMMENT);
    is_end(ACTION_DONE, 1, "by the helper",
           "the helper sets the administrator's comment, which v0.0.38 cannot");
    through(as, ACTION_DRAIN);
    is_end(ACTION_DONE, 1, "by the helper", "the helper drains nodes, which v0.0.38 cannot");
    through(as, ACTION_REQUEUE);
    is_end(ACTION_DONE, 1, "by the helper", "the helper requeues jobs, which no version can");
    actions_free(as);

    put("helper", "", 0644); /* no libslurm */
    as = fresh(conf);
    behave(NEW);
    through(as, ACTION_JOB_COMMENT);
    is_end(ACTION_DONE, 1, "slurmrestd: comment set", "slurmrestd v0.0.40 sets the administrator's comment");
    behave(NEW);
    through(as, ACTION_DRAIN);
    is_end(ACTION_DONE, 1, "slurmrestd: drained", "slurmrestd v0.0.40 drains a node");
    is_str(server.node_reason, "SyncGuard: rank 3 is slow", "slurmrestd gets the reason of the drain");
    through(as, ACTION_DRAIN);
    is_end(ACTION_DONE, 1, "drained already", "a drained node is not drained again");
    ok(server.changes == 1, "the node is drained once");
    through_by(as, ACTION_RESUME, 0);
    is_end(ACTION_DONE, 1, "slurmrestd: resumed", "slurmrestd v0.0.40 resumes a node");
    through_by(as, ACTION_RESUME, 0);
    is_end(ACTION_DONE, 1, "is not drained", "a node that is not drained is not resumed");
    ok(server.changes == 2, "the node is drained once and resumed once");
    behave(NEW);
    through_on(as, ACTION_DRAIN, 0, "n1,n1");
    is_end(ACTION_DONE, 1, "drained already", "slurmrestd v0.0.40 drains the nodes of a list");
    ok(server.changes == 1, "a node that is twice in a list is drained once");
    behave(NEW);
    through_on(as, ACTION_DRAIN, 0, "n1,n9");
    is_end(ACTION_FAILED, 3, "not found", "a drain of two nodes of which slurmrestd lacks one fails");
    ok(server.changes == 0, "no node is drained when slurmrestd lacks one of them");
    actions_free(as);
}

static void check_bad_restd(void)
{
    static const struct {
        enum manner manner;
        const char *words;
    } cases[] = {
        { BUSY, "503" },    { GARBAGE, "not a JSON object" }, { SILENT, "slurmrestd: " },
        { ENDLESS, "too" }, { LIAR, "did not make it" },      { GONE, "no supported version" },
    };
    char conf[300];
    struct actions *as;

    put("helper", "", 0644);
    snprintf(conf, sizeof(conf), "Slurmrestd=http://127.0.0.1:%u", server.port);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        as = fresh_with(conf, cases[i].manner == SILENT ? &hasty : &patient);
        behave(cases[i].manner);
        through(as, ACTION_JOB_COMMENT);
        is_end(ACTION_FAILED, cases[i].manner == GONE ? 1 : 3, cases[i].words,
               "a comment by a slurmrestd that misbehaves fails");
        actions_free(as);
    }
    as = fresh("Slurmrestd=http://127.0.0.1:1");
    through(as, ACTION_JOB_COMMENT);
    is_end(ACTION_FAILED, 3, "slurmrestd: ", "a comment by a slurmrestd that is down fails");
    actions_free(as);

    helper("echo '{\"result\":\"done\",\"text\":\"by the helper\"}'");
    as = fresh("Slurmrestd=http://127.0.0.1:1");
    through(as, ACTION_JOB_COMMENT);
    is_end(ACTION_DONE, 2, "by the helper", "the helper is tried after a slurmrestd that is down");
    actions_free(as);

    as = fresh(conf);
    behave(NEW);
    put("helper", "", 0644);
    {
        struct action a = an_action(ACTION_JOB_COMMENT);

        a.job.uid = 8;
        actions_start(as, &a, &(struct err){ "" });
        await(1);
        is_end(ACTION_FAILED, 1, "another user's", "a job of another user is not changed through slurmrestd");
        ok(server.changes == 0, "slurmrestd gets no change for a job of another user");
    }
    actions_free(as);
}

/* Without a file, actions work and a warning has the reason. */
static void check_no_file(void)
{
    static const struct action_hooks hooks = { .ended = on_ended };
    struct err warning;
    struct actions *as;

    helper("echo '{\"result\":\"done\",\"text\":\"done\"}'");
    snprintf(config.state_dir, sizeof(config.state_dir), "/proc/no/such/folder");
    audit_close(audit);
    audit = audit_open(config.state_dir, &warning);
    as = actions_new(base, &config, audit, &patient, &hooks, NULL);
    memset(&ended, 0, sizeof(ended));
    ok(*warning.text, "without a folder there is a warning\n%s", warning.text);
    through(as, ACTION_REQUEUE);
    is_end(ACTION_DONE, 1, "done", "without a folder actions are carried out");
    actions_free(as);
}

struct listed {
    int n, max;
    int64_t first, last;
};

static bool one_listed(const struct action_record *r, void *arg)
{
    struct listed *l = arg;

    l->first = l->n ? l->first : r->id;
    l->last = r->id;
    return ++l->n < l->max;
}

static struct listed listed(struct actions *as, uint32_t job, uid_t uid, int64_t before, int max)
{
    struct listed l = { .max = max };

    actions_list(as, job, uid, before, 5, one_listed, &l);
    return l;
}

static void check_list(void)
{
    struct actions *as = fresh("");
    struct listed all = listed(as, 0, UINT32_MAX, 0, 9), some = listed(as, 0, UINT32_MAX, 0, 2), rest;
    struct err err = { "" };

    ok(all.n == 5 && listed(as, 0, 99, 0, 9).n == 0 && listed(as, 4, 7, 0, 9).n == 0,
       "a list can be limited to a user, to a job and in length");
    ok(all.first > all.last, "a list begins with the newest action");
    rest = listed(as, 0, UINT32_MAX, some.last, 3);
    ok(some.n == 2 && some.first == all.first && rest.first < some.last && rest.last == all.last,
       "it goes on behind any of them");
    ok(audit_expire(audit, -1, &err) == 0, "actions are deleted that ended before the time that is kept");
    is_int(listed(as, 0, UINT32_MAX, 0, 9).n, 0, "old actions are deleted");
    actions_free(as);
}

int main(void)
{
    char remove[128];

    signal(SIGPIPE, SIG_IGN);
    setenv("no_proxy", "127.0.0.1", 1);
    if (!mkdtemp(dir))
        return 1;
    base = event_base_new();
    serve();
    check_helper();
    check_bad_helpers();
    check_keys();
    check_refusals();
    check_restart();
    check_webhook();
    check_webhook_files();
    check_queue();
    check_command();
    check_restd();
    check_bad_restd();
    check_list();
    check_no_file();
    audit_close(audit);
    snprintf(remove, sizeof(remove), "rm -rf %s", dir);
    if (system(remove) != 0)
        printf("# %s stays\n", dir);
    return done_testing();
}
