/* sgctl - query SyncGuard's controller about guarded jobs.  What each command prints is in page.c, which commands
 * there are in commands.c. */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/xalloc.h"
#include "ctl/action_request.h"
#include "ctl/cluster.h"
#include "ctl/commands.h"
#include "ctl/doctor.h"
#include "ctl/slurmd.h"
#include "ctl/host_report.h"
#include "ctl/nodes.h"
#include "ctl/page.h"
#include "ctl/pager.h"
#include "ctl/record.h"
#include "ctl/sgctl.h"
#include "ctl/try.h"
#include "report/report_print.h"
#include "rules/rule.h"
#include "topology/slurm_conf.h"
#include "wire/session.h"

int complain(int code, const struct err *err)
{
    fprintf(stderr, "sgctl: %s\n", err->text);
    return code;
}

int print_answer(const struct options *o, const json_t *answer, page_fn *page)
{
    /* sgrun ends the controller when it has shown this. */
    struct page_form form = { .columns = pager_columns(), .colour = pager_colour(), .more = getenv("SYNCGUARD_MORE") };
    struct pager pager;
    struct err err;
    int rc;

    if (options_given(o, "json")) {
        /* ASCII only: a name in it cannot drive a terminal. */
        json_dumpf(answer, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
        putchar('\n');
        return OK;
    }
    if (options_given(o, "wide"))
        form.columns = 0;
    pager_begin(&pager);
    rc = page(pager.out, answer, form, &err);
    pager_end(&pager);
    return rc < 0 ? complain(FAILED, &err) : OK;
}

/* question is taken. */
static int query(const struct options *o, json_t *question, page_fn *page)
{
    struct err err;
    struct session *s = session_open(o, &err);
    json_t *answer = s ? client_ask(&s->client, question, options_number(o, "timeout"), &err) : NULL;
    int rc = answer ? print_answer(o, answer, page) : complain(FAILED, &err);

    json_decref(answer);
    json_decref(question);
    session_close(s);
    return rc;
}

static int run_status(const struct options *o)
{
    return query(o, json_pack("{s:s}", "query", "status"), page_status);
}

static int run_jobs(const struct options *o)
{
    return query(o, json_pack("{s:s, s:b, s:i}", "query", "jobs", "finished", options_given(o, "finished"), "newest", options_int(o, "newest", 100)),
                 page_jobs);
}

static int run_nodes(const struct options *o)
{
    return query(o, json_pack("{s:s}", "query", "nodes"), page_nodes);
}

static int run_lemons(const struct options *o)
{
    return query(o, json_pack("{s:s}", "query", "lemons"), page_lemons);
}

static int run_earlier(const struct options *o)
{
    json_t *question = json_pack("{s:s, s:s, s:i}", "query", "earlier", "name", options_text(o, "name"), "ranks",
                                 options_int(o, "ranks", 0));

    if (!question) {
        const struct err err = { "the name is not UTF-8" };

        return complain(USAGE, &err);
    }
    if (options_given(o, "nodes"))
        json_object_set_new(question, "nodes", json_integer(options_int(o, "nodes", 0)));
    return query(o, question, page_earlier);
}

/* The first operand is a job in every command that has one; of step, which takes traces too, it need not be. */
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

/* All ranks, as they arrive. */
static int print_whole_job(const struct options *o, const char *job)
{
    struct err err;
    struct session *s = session_open(o, &err);
    struct calling c = { .options = o };
    json_t *question = report_print_question(job), *answer = NULL;
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
    return query(o,
                 json_pack("{s:s, s:s, s:{s:s, s:i, s:i, s:i, s:i}}", "query", "job", "job", job, "view", "sort", "lateness", "offset", 0, "count",
                           full ? PAGE_RANKS : 0, "columns", 1, "agents", full ? PAGE_AGENTS : 0),
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

#define ACTIONS_SHOWN 200
#define AUDIT_SHOWN   50

static int run_actions(const struct options *o)
{
    return query(o,
                 json_pack("{s:s, s:i, s:s*}", "query", "actions", "limit", ACTIONS_SHOWN, "job", o->n_operands ? o->operands[0] : NULL),
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

static void print_actions(FILE *out)
{
    fputs(".Bl -tag -width Ds\n", out);
    for (int k = 0; k < ACTION_KINDS; k++) {
        const char *text = action_table[k].text;

        if (action_table[k].by_hand_only)
            continue;
        fprintf(out, ".It Cm %s\n%c%s%s.\n", action_name((enum action_kind)k), toupper((unsigned char)*text),
                text + 1,
                action_table[k].scope == ACTION_ON_NODES
                    ? "; only recorded where the job's owner, who is no operator, set Action=enforce"
                    : "");
    }
    fputs(".El\n", out);
}

/* A table as the manual page has it. */
static void print_table(const char *name)
{
    for (enum config_table t = CONFIG_SYSTEM; t < CONFIG_TABLES; t++)
        if (!strcmp(name, config_table_name(t)))
            key_mdoc(stdout, config_keys(t));
    if (!strcmp(name, "figure"))
        figures_mdoc(stdout);
    else if (!strcmp(name, "action"))
        print_actions(stdout);
}

/* As the controller would read it, the rules too. */
static int run_check(const struct options *o)
{
    struct config *c = xcalloc(1, sizeof(*c));
    struct ruleset *rules = NULL;
    const char *path = o->operands[0];
    char names[1024];
    struct err err;
    int rc = OK;

    if (config_load(c, path, &err) < 0 || !(rules = ruleset_new(c, &err)))
        rc = complain(FAILED, &err);
    else if (o->command->id == COMMAND_CONFIG_CHECK)
        printf("%s is fine: controller %s, policies %s\n", path, c->controller,
               config_policy_names(c, names, sizeof(names)));
    else
        printf("%s is fine: policies %s; %zu rules, %zu selections\n", path,
               config_policy_names(c, names, sizeof(names)), c->n_rules, c->n_selections);
    ruleset_free(rules);
    free(c);
    return rc;
}

static int run_config(const struct options *o)
{
    struct pager pager;

    if (options_given(o, "mdoc")) {
        print_table(options_text(o, "mdoc"));
        return OK;
    }
    pager_begin(&pager);
    config_print_keys(pager.out, pager_columns());
    pager_end(&pager);
    return OK;
}

/* ---- policy ---- */

static int policy_list(const struct options *o)
{
    return query(o, json_pack("{s:s}", "query", "policy"), page_policies);
}

static int policy_show(const struct options *o)
{
    return query(o, json_pack("{s:s, s:s}", "query", "policy", "name", o->operands[0]), page_policy);
}

static int policy_explain(const struct options *o)
{
    return query(o,
                 json_pack("{s:s, s:s, s:{s:i, s:i, s:i}}", "query", "job", "job", o->operands[0], "view",
                           "count", 0, "columns", 1, "agents", 0),
                 page_explain);
}

/* set, pause, resume, acknowledge */
static int policy_control(const struct options *o)
{
    json_t *words = json_array();

    for (int i = 1; i < o->n_operands; i++)
        json_array_append_new(words, json_string(o->operands[i]));
    return query(o,
                 json_pack("{s:s, s:s, s:s, s:o}", "query", "control", "do",
                           strchr(o->command->name, ' ') + 1, "job", o->operands[0], "words", words),
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

static int policy_figures(const struct options *o)
{
    struct pager pager;

    (void)o;
    pager_begin(&pager);
    figures_print(pager.out, pager_columns());
    pager_end(&pager);
    return OK;
}

static int run_audit(const struct options *o)
{
    return query(o, json_pack("{s:s, s:i, s:s*}", "query", "audit", "limit", AUDIT_SHOWN, "job", o->n_operands ? o->operands[0] : NULL),
                 page_audit);
}

/* For the step on the nodes: what does not answer by then does not answer a job either. */
#define NODES_LIMIT_S 20.0

static int run_cluster(const struct options *o, const struct doctor *d)
{
    const char *allocation = getenv("SLURM_JOB_ID") ? getenv("SLURM_JOB_NODELIST") : NULL;
    struct slurm_nodes slurm = { 0 };
    struct findings f = { 0 };
    struct err err, slurm_err = { "" };
    bool has_slurm;
    struct session *s = session_open(o, &err);
    struct pairwise_options measure = { .save = options_text(o, "measured"),
                                        .clock_limit_s = options_number(o, "clock-limit"),
                                        .mpi = options_given(o, "mpi") };
    char *program = NULL;
    size_t faults;
    json_t *answer;

    if (!s)
        return complain(FAILED, &err);
    if (options_given(o, "probe")) { /* it is installed beside the agent */
        const char *slash = strrchr(s->config.agent, '/');

        measure.program = program = xasprintf("%.*s/syncguard-measure", slash ? (int)(slash - s->config.agent) : 0, s->config.agent);
    }
    has_slurm = slurm_nodes_ask(&slurm, options_number(o, "timeout"), &slurm_err) == 0;
    if (has_slurm)
        slurmd_check(&slurm, allocation, &f);
    cluster_check(&s->client, options_number(o, "timeout"), options_text(o, "topology"), has_slurm ? &slurm : NULL, slurm_err.text,
                  program ? &measure : NULL, &f);
    free(program);
    session_close(s);
    if (has_slurm)
        nodes_check(d, options_text(o, "conf"), &slurm, allocation, NODES_LIMIT_S, &f);
    slurm_nodes_free(&slurm);
    faults = findings_count(&f, FINDING_FAULT);
    if (options_given(o, "json")) {
        answer = findings_json(&f);
        print_answer(o, answer, NULL);
        json_decref(answer);
    } else {
        findings_print(&f, stdout);
    }
    findings_free(&f);
    return faults ? FAILED : OK;
}

/* For doctor --cluster on another host, whose step this is, and for scripts. */
static int print_report(const struct options *o, struct doctor *d)
{
    struct host_report *r = xcalloc(1, sizeof(*r));
    json_t *answer;
    size_t missing = 0;

    d->in_step = getenv(HOST_ENV_CREDENTIAL) != NULL;
    host_report_take(r, d, getenv(HOST_ENV_CREDENTIAL));
    for (size_t i = 0; i < r->n_checks; i++)
        missing += r->check[i].missing;
    answer = host_report_json(r);
    print_answer(o, answer, NULL);
    json_decref(answer);
    free(r);
    return missing && !d->in_step ? FAILED : OK; /* srun would report each task that fails */
}

static int check_doctor(const struct options *o, struct err *err)
{
    if (!options_given(o, "cluster") && (options_given(o, "topology") || options_given(o, "probe")))
        return err_set(err, "--probe and --topology belong to --cluster");
    if (!options_given(o, "probe") && (options_given(o, "measured") || options_given(o, "clock-limit") || options_given(o, "mpi")))
        return err_set(err, "--measured, --mpi and --clock-limit belong to --probe");
    return 0;
}

static int run_doctor(const struct options *o)
{
    char slurm_conf[4096];
    struct doctor d = { .timeout_s = options_number(o, "timeout"), .slurm_conf = slurm_conf };
    struct session *s = session_open(o, &d.config_err);
    const char *controller = options_text(o, "controller");
    int missing, rc;

    if (check_doctor(o, &d.config_err) < 0) {
        session_close(s);
        return options_misuse(o, &d.config_err);
    }
    slurm_conf_locate(SLURM_CONF_NAME, slurm_conf, sizeof(slurm_conf));
    d.config = s ? &s->config : NULL;
    d.config_path = config_path(options_text(o, "conf"));
    if (!d.config_path)
        d.config_path = CONFIG_DEFAULT_PATH;
    d.client =
        s ? s->client
          : (struct client_options){ .hosts = controller ? controller : "localhost",
                                     .end = { .munge_socket = options_text(o, "munge-socket") } };
    if (options_given(o, "cluster") || options_given(o, "json")) {
        rc = options_given(o, "cluster") ? run_cluster(o, &d) : print_report(o, &d);
        session_close(s);
        return rc;
    }
    missing = doctor_run(&d, stdout);
    session_close(s);
    if (missing)
        printf("\n%d missing. Run the commands after `next:`, then `sgctl doctor` again.\n", missing);
    return missing ? FAILED : OK;
}

static int (*const run[COMMANDS])(const struct options *o) = {
    [COMMAND_STATUS] = run_status,
    [COMMAND_JOBS] = run_jobs,
    [COMMAND_JOB] = run_job,
    [COMMAND_NODES] = run_nodes,
    [COMMAND_LEMONS] = run_lemons,
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
    [COMMAND_POLICY_LIST] = policy_list,
    [COMMAND_POLICY_SHOW] = policy_show,
    [COMMAND_POLICY_EXPLAIN] = policy_explain,
    [COMMAND_POLICY_CONTROL] = policy_control,
    [COMMAND_POLICY_CHECK] = run_check,
    [COMMAND_POLICY_TRY] = policy_try,
    [COMMAND_POLICY_FIGURES] = policy_figures,
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
