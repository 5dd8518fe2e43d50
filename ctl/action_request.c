#include "ctl/action_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "common/hostlist.h"
#include "common/now.h"
#include "common/suggest.h"
#include "common/xalloc.h"
#include "ctl/output.h"
#include "doctor/node_check.h"
#include "rules/action.h"
#include "wire/json.h"

#define WAIT_S    90.0  /* a try and its repetition, where Slurm is slow */
#define NODES_MAX 65536 /* of Slurm */
#define QUIET_S   2.0   /* after this time a line reports that we wait */

/* ---- what is asked for ---- */

static char *joined(char *const *words, int n)
{
    char *text = xstrdup("");

    for (int i = 0; i < n; i++) {
        char *longer = xasprintf("%s%s%s", text, i ? " " : "", words[i]);

        free(text);
        text = longer;
    }
    return text;
}

/* Words of a command line are bytes; JSON is UTF-8. */
static int put_argument(json_t *q, const char *key, char *text, struct err *err)
{
    json_t *s = json_string(text);

    free(text);
    if (!s)
        return err_set(err, "the text is not valid UTF-8");
    json_object_set_new(q, key, s);
    return 0;
}

static bool is_nodes(const char *key)
{
    return key && !strcmp(key, "nodes");
}

/* Slurm itself makes some node of what is no list. */
static int check_nodes(char *const *words, int n, struct err *err)
{
    char *list = joined(words, n);
    int rc = hostlist_check(list, NODES_MAX, err);

    free(list);
    return rc;
}

struct verb {
    const char *word;
    enum action_kind kind;
    const char *key;    /* of what follows; NULL: nothing may */
    const char *wanted; /* what must follow; NULL: it may be left out */
};

/* The question for words: PLACE VERB [MORE...]; NULL: no such verb, or not its words. */
static json_t *request(const struct verb *verbs, size_t n_verbs, const char *place_key, char *const *words,
                       int n, struct err *err)
{
    struct suggestion near = suggest_for(words[1]);
    const struct verb *v = NULL;
    char meant[80], key[CLIENT_KEY_BYTES];
    json_t *q;

    for (size_t i = 0; i < n_verbs; i++) {
        suggest_offer(&near, verbs[i].word);
        if (!strcmp(words[1], verbs[i].word))
            v = &verbs[i];
    }
    if (!v)
        err_set(err, "unknown action '%.60s'%s", words[1], suggest_text(&near, meant, sizeof(meant)));
    else if (v->wanted && n < 3)
        err_set(err, "missing %s", v->wanted);
    else if (!v->key && n > 2)
        err_set(err, "unexpected argument '%.60s'", words[2]);
    else if (is_nodes(place_key) && check_nodes(words, 1, err) < 0)
        return NULL;
    else if (is_nodes(v->key) && check_nodes(words + 2, n - 2, err) < 0)
        return NULL;
    else {
        client_key(key);
        q = json_pack("{s:s,s:s,s:s}", "query", "action", "action", action_name(v->kind), "key", key);
        if (put_argument(q, place_key, xstrdup(words[0]), err) == 0 &&
            (!v->key || put_argument(q, v->key, joined(words + 2, n - 2), err) == 0))
            return q;
        json_decref(q);
    }
    return NULL;
}

json_t *action_request_on_job(char *const *words, int n, struct err *err)
{
    static const struct verb verbs[] = {
        { "checkpoint", ACTION_CHECKPOINT, NULL, NULL },
        { "signal", ACTION_SIGNAL, "signal", "SIGNAL, such as USR1" },
        { "requeue", ACTION_REQUEUE, NULL, NULL },
        { "exclude", ACTION_EXCLUDE, "nodes", "NODES, such as node3,node[7-8]" },
        { "comment", ACTION_JOB_COMMENT, "text", "TEXT" },
        { "webhook", ACTION_WEBHOOK, "text", "TEXT" },
        { "command", ACTION_COMMAND, "text", "TEXT" },
    };

    return request(verbs, ARRAY_SIZE(verbs), "job", words, n, err);
}

json_t *action_request_on_node(char *const *words, int n, struct err *err)
{
    static const struct verb verbs[] = {
        { "drain", ACTION_DRAIN, "text", "TEXT, the reason" },
        { "comment", ACTION_NODE_COMMENT, "text", "TEXT" },
        { "resume", ACTION_RESUME, "text", NULL },
    };

    return request(verbs, ARRAY_SIZE(verbs), "nodes", words, n, err);
}

/* ---- confirming ---- */

static bool confirmed(const char *what)
{
    char line[64];

    fprintf(stderr, "%s? [y/N] ", what);
    fflush(stderr);
    return fgets(line, sizeof(line), stdin) && (!strcasecmp(line, "y\n") || !strcasecmp(line, "yes\n"));
}

/* What the controller would do: its answer, the caller's.  NULL: it would not. */
static json_t *rehearse(const struct action_request_options *o, json_t *q, struct err *err)
{
    const char *nodes = json_get_word(q, "nodes");
    json_t *answer;

    json_object_set_new(q, "dry_run", json_true());
    answer = client_ask(&o->client, q, o->timeout_s, err);
    json_object_del(q, "dry_run");
    /* an action of --yes looks its nodes up itself */
    if (answer && (json_check_answer(answer, "action", JSON_OBJECT, err) < 0 ||
                   ((o->dry_run || !o->yes) && *nodes && node_check(nodes, err) < 0))) {
        json_decref(answer);
        return NULL;
    }
    return answer;
}

/* ---- waiting ---- */

static bool is_pending(const json_t *action)
{
    char state[16];

    return !strcmp(json_show_text(action, "state", state, sizeof(state)), "pending");
}

/* The action as it stands when it has ended, or when we have waited long enough; the caller's.  NULL: the
 * controller does not answer any more. */
static json_t *await(const struct action_request_options *o, json_t *action, struct err *err)
{
    double begin_s = now_s(), pause_s = 0.05;
    json_t *q = json_pack("{s:s,s:I}", "query", "actions", "id",
                          (json_int_t)json_integer_value(json_object_get(action, "id")));
    bool reported = false;
    char why[512];

    while (action && is_pending(action) && now_s() - begin_s < WAIT_S) {
        json_t *answer;

        nanosleep(&(struct timespec){ 0, (long)(pause_s * 1e9) }, NULL);
        pause_s = pause_s < 0.5 ? pause_s * 1.5 : 0.5;
        answer = client_ask(&o->client, q, o->timeout_s, err);
        json_decref(action);
        action = json_incref(json_array_get(json_object_get(answer, "actions"), 0));
        json_decref(answer);
        if (action && !reported && now_s() - begin_s > QUIET_S && isatty(STDERR_FILENO)) {
            json_show_text(action, "outcome", why, sizeof(why));
            fprintf(stderr, "waiting%s%s\n", strcmp(why, "-") ? ": " : " for Slurm",
                    strcmp(why, "-") ? why : "");
            reported = true;
        }
    }
    json_decref(q);
    return action;
}

static int conclude(const struct action_request_options *o, const json_t *action, const char *what,
                    struct err *err)
{
    char state[16], outcome[512];
    bool done = !strcmp(json_show_text(action, "state", state, sizeof(state)), "done");

    json_show_text(action, "outcome", outcome, sizeof(outcome));
    if (o->json) {
        output_json(action);
    } else if (done) {
        printf("%s: %s\n", what, outcome);
    }
    if (done)
        return ACTION_REQUEST_DONE;
    if (is_pending(action)) {
        err_set(err, "%s: still pending (%s); `sgctl actions` shows how it ends", what, outcome);
        return ACTION_REQUEST_PENDING;
    }
    err_set(err, "%s: %s", what, outcome);
    return ACTION_REQUEST_FAILED;
}

int action_request_run(const struct action_request_options *o, json_t *q, struct err *err)
{
    char what[512];
    json_t *rehearsed = rehearse(o, q, err), *answer = NULL, *action = NULL;
    int rc = ACTION_REQUEST_FAILED;

    if (!rehearsed)
        goto out;
    json_show_text(rehearsed, "text", what, sizeof(what));
    if (o->dry_run) {
        if (o->json)
            output_json(json_object_get(rehearsed, "action"));
        else
            printf("would %s\n", what);
        rc = ACTION_REQUEST_DONE;
        goto out;
    }
    if (!o->yes && !isatty(STDIN_FILENO)) {
        rc = ACTION_REQUEST_USAGE;
        err_set(err, "%s: not done: no terminal to confirm on; use --yes", what);
        goto out;
    }
    if (!o->yes && !confirmed(what)) {
        err_set(err, "%s: not done", what);
        goto out;
    }
    answer = client_ask(&o->client, q, o->timeout_s, err);
    if (!answer) /* it may have arrived: the same key does it once */
        answer = client_ask(&o->client, q, o->timeout_s, err);
    action = answer ? await(o, json_incref(json_object_get(answer, "action")), err) : NULL;
    if (action)
        rc = conclude(o, action, what, err);
out:
    json_decref(rehearsed);
    json_decref(action);
    json_decref(answer);
    json_decref(q);
    return rc;
}
