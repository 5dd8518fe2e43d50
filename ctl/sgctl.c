/* sgctl - query SyncGuard's controller about guarded jobs.  What each command prints is in page.c, which
 * commands there are in commands.c. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ctl/action_request.h"
#include "ctl/commands.h"
#include "ctl/page.h"
#include "ctl/record.h"
#include "ctl/sgctl.h"
#include "ctl/try.h"
#include "report/report_print.h"
#include "wire/session.h"

#define ACTIONS_SHOWN 200
#define AUDIT_SHOWN   50

/* Questions that are no more than a word. */
static int run_word(const struct options *o)
{
    static const struct {
        const char *query;
        page_fn *page;
    } words[COMMANDS] = {
        [COMMAND_STATUS] = { "status", page_status },
        [COMMAND_LEMONS] = { "lemons", page_lemons },
        [COMMAND_POLICY_LIST] = { "policy", page_policies },
    };

    return query_controller(o, json_pack("{s:s}", "query", words[o->command->id].query),
                            words[o->command->id].page);
}

/* All of them, or the jobs of one. */
static int run_nodes(const struct options *o)
{
    const struct err not_text = { "the node's name is not UTF-8" };
    json_t *question;

    if (!o->n_operands)
        return query_controller(o, json_pack("{s:s}", "query", "nodes"), page_nodes);
    question = json_pack("{s:s, s:s}", "query", "node", "node", o->operands[0]);
    return question ? query_controller(o, question, page_node) : complain(USAGE, &not_text);
}

static int run_earlier(const struct options *o)
{
    json_t *question = json_pack("{s:s, s:s, s:i}", "query", "earlier", "name", options_text(o, "name"),
                                 "ranks", options_int(o, "ranks", 0));

    if (!question) {
        const struct err err = { "the name is not UTF-8" };

        return complain(USAGE, &err);
    }
    if (options_given(o, "nodes"))
        json_object_set_new(question, "nodes", json_integer(options_int(o, "nodes", 0)));
    return query_controller(o, question, page_earlier);
}

/* The first operand is a job in every command that has one, except in step, which takes traces too. */
static int check_job(const struct options *o, struct err *err)
{
    const char *operands = o->command->operands;

    if (!operands || strncmp(operands + strspn(operands, "["), "JOB", 3) != 0 || !o->n_operands ||
        o->command->id == COMMAND_STEP)
        return 0;
    return session_check_job(o->operands[0], err);
}

struct calling {
    const struct options *options;
    struct client_call *call;
};

static json_t *ask_more(const json_t *question, void *arg, struct err *err)
{
    struct calling *c = arg;

    return client_call_ask(c->call, question, options_number(c->options, "timeout"), err);
}

/* Of a job that was requeued: the run that is asked for.  Returns question. */
static json_t *add_run(const struct options *o, json_t *question)
{
    if (options_given(o, "run"))
        json_object_set_new(question, "run", json_integer(options_int(o, "run", 0)));
    return question;
}

/* All ranks, as they arrive. */
static int print_whole_job(const struct options *o, const char *job)
{
    struct err err;
    struct session *s = session_open(o, &err);
    struct calling c = { .options = o };
    json_t *question = add_run(o, report_print_question(job)), *answer = NULL;
    int rc = FAILED;

    if (s)
        answer = client_call(&c.call, &s->client, question, options_number(o, "timeout"), &err);
    if (answer && report_print(stdout, answer, ask_more, &c, &err) == 0)
        rc = OK;
    else
        complain(FAILED, &err);
    json_decref(answer);
    json_decref(question);
    client_call_end(c.call);
    session_close(s);
    return rc;
}

/* Text lists the worst ranks, JSON all of them. */
static int run_job(const struct options *o)
{
    const char *job = o->operands[0];
    bool full = options_given(o, "full");
    struct err err;

    if (full && (options_given(o, "json") || options_given(o, "html"))) {
        err_set(&err, "--full belongs to text: --json and --html have all there is");
        return options_misuse(o, &err);
    }
    if (check_page(o, &err) < 0)
        return options_misuse(o, &err);
    if (options_given(o, "json"))
        return print_whole_job(o, job);
    if (options_given(o, "html"))
        return write_job_page(o, job);
    return query_controller(
        o,
        add_run(o, json_pack("{s:s, s:s, s:{s:s, s:i, s:i, s:i, s:i}}", "query", "job", "job", job, "view",
                             "sort", "lateness", "offset", 0, "count", full ? PAGE_RANKS : 0, "columns", 1,
                             "agents", full ? PAGE_AGENTS : 0)),
        full ? page_job : page_brief);
}

/* question NULL: err has the reason why the command line is rejected. */
static int request_action(const struct options *o, json_t *question, struct err *err)
{
    struct action_request_options request = { .timeout_s = options_number(o, "timeout"),
                                              .dry_run = options_given(o, "dry-run"),
                                              .yes = options_given(o, "yes"),
                                              .json = options_given(o, "json") };
    struct session *s = question ? session_open(o, err) : NULL;
    int rc = FAILED;

    if (!question)
        return options_misuse(o, err);
    if (s) {
        request.client = s->client;
        rc = action_request_run(&request, json_incref(question), err);
    }
    json_decref(question);
    session_close(s);
    return rc == OK ? OK : complain(rc, err);
}

static int run_action(const struct options *o)
{
    struct err err;
    json_t *question = action_request_on_job(o->operands, o->n_operands, &err);

    if (question && options_given(o, "force") && !json_object_get(question, "signal")) {
        err_set(&err, "--force belongs to the action signal");
        json_decref(question);
        question = NULL;
    } else if (question && options_given(o, "force")) {
        json_object_set_new(question, "force", json_true());
    }
    return request_action(o, question, &err);
}

static int run_node(const struct options *o)
{
    struct err err;

    return request_action(o, action_request_on_node(o->operands, o->n_operands, &err), &err);
}

static int run_actions(const struct options *o)
{
    return query_controller(o,
                            json_pack("{s:s, s:i, s:s*}", "query", "actions", "limit", ACTIONS_SHOWN, "job",
                                      o->n_operands ? o->operands[0] : NULL),
                            page_actions);
}

static int run_record(const struct options *o)
{
    struct record_options record = { .job = o->operands[0],
                                     .output = options_text(o, "output"),
                                     .timeout_s = options_number(o, "timeout"),
                                     .seconds = options_number(o, "seconds") };
    struct err err;
    struct session *s = session_open(o, &err);
    int rc = OK;

    if (!s)
        return complain(FAILED, &err);
    record.client = s->client;
    if (record_run(&record, &err) < 0)
        rc = complain(FAILED, &err);
    session_close(s);
    return rc;
}

/* ---- policy ---- */

static int policy_show(const struct options *o)
{
    return query_controller(o, json_pack("{s:s, s:s}", "query", "policy", "name", o->operands[0]),
                            page_policy);
}

static int policy_explain(const struct options *o)
{
    return query_controller(o,
                            json_pack("{s:s, s:s, s:{s:i, s:i, s:i}}", "query", "job", "job", o->operands[0],
                                      "view", "count", 0, "columns", 1, "agents", 0),
                            page_explain);
}

/* set, pause, resume, acknowledge */
static int policy_control(const struct options *o)
{
    json_t *words = json_array();

    for (int i = 1; i < o->n_operands; i++)
        json_array_append_new(words, json_string(o->operands[i]));
    return query_controller(o,
                            json_pack("{s:s, s:s, s:s, s:o}", "query", "control", "do",
                                      strchr(o->command->name, ' ') + 1, "job", o->operands[0], "words",
                                      words),
                            page_control);
}

static int policy_try(const struct options *o)
{
    struct err err;
    json_t *answer =
        try_policy(o->operands[0], o->operands[1], o->n_operands > 2 ? o->operands[2] : NULL, &err);
    int rc = answer ? print_answer(o, answer, page_try) : complain(FAILED, &err);

    json_decref(answer);
    return rc;
}

static int run_audit(const struct options *o)
{
    return query_controller(o,
                            json_pack("{s:s, s:i, s:s*}", "query", "audit", "limit", AUDIT_SHOWN, "job",
                                      o->n_operands ? o->operands[0] : NULL),
                            page_audit);
}

static int (*const run[COMMANDS])(const struct options *o) = {
    [COMMAND_STATUS] = run_word,
    [COMMAND_JOBS] = run_jobs,
    [COMMAND_JOB] = run_job,
    [COMMAND_NODES] = run_nodes,
    [COMMAND_LEMONS] = run_word,
    [COMMAND_EARLIER] = run_earlier,
    [COMMAND_ACTION] = run_action,
    [COMMAND_NODE] = run_node,
    [COMMAND_ACTIONS] = run_actions,
    [COMMAND_AUDIT] = run_audit,
    [COMMAND_RECORD] = run_record,
    [COMMAND_ANALYZE] = run_analyze,
    [COMMAND_REPLAY] = run_replay,
    [COMMAND_STEP] = run_step,
    [COMMAND_EXPORT] = run_export,
    [COMMAND_IMPORT] = run_import,
    [COMMAND_TOP] = run_top,
    [COMMAND_CONFIG] = run_config,
    [COMMAND_CONFIG_CHECK] = run_check,
    [COMMAND_POLICY_LIST] = run_word,
    [COMMAND_POLICY_SHOW] = policy_show,
    [COMMAND_POLICY_EXPLAIN] = policy_explain,
    [COMMAND_POLICY_CONTROL] = policy_control,
    [COMMAND_POLICY_CHECK] = run_check,
    [COMMAND_POLICY_TRY] = policy_try,
    [COMMAND_POLICY_FIGURES] = run_figures,
    [COMMAND_DOCTOR] = run_doctor,
};

int main(int argc, char **argv)
{
    struct options o;
    struct err err;
    int rc = options_start(&o, &sgctl_program, argc, argv);

    if (rc < 0)
        rc = check_job(&o, &err) < 0 ? options_misuse(&o, &err) : run[o.command->id](&o);
    if ((fflush(stdout) != 0 || ferror(stdout)) && rc == OK) {
        err_set(&err, "cannot write: %s", strerror(errno));
        rc = complain(FAILED, &err);
    }
    return rc;
}
