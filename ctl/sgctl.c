/* sgctl - ask SyncGuard's controller about guarded jobs.  What each command says is in page.c, what there
 * is in usage.c. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/config.h"
#include "common/xalloc.h"
#include "ctl/act.h"
#include "ctl/analyze.h"
#include "ctl/doctor.h"
#include "ctl/page.h"
#include "ctl/record.h"
#include "ctl/try.h"
#include "ctl/usage.h"
#include "rules/rule.h"
#include "wire/client.h"
#include "wire/hosts.h"

#define SLURM_CONF "/etc/slurm/slurm.conf"
#define COLUMNS    100 /* of paragraphs, where there is no terminal */

enum { OK = 0, FAILED = 1, USAGE = 2 };

typedef int page_fn(FILE *out, const json_t *answer, int columns, struct err *err);

static int complain(int code, const struct err *err)
{
    fprintf(stderr, "sgctl: %s\n", err->text);
    return code;
}

static const char *config_path(const struct usage *u)
{
    const char *environment = getenv("SYNCGUARD_CONF");

    return u->conf ? u->conf : environment && *environment ? environment : NULL;
}

/* Whom to ask and how: command line before configuration. */
struct session {
    struct config config;
    char *hosts; /* each with its port */
    struct client_options client;
};

static void session_close(struct session *s)
{
    if (s)
        free(s->hosts);
    free(s);
}

static struct session *session_open(const struct usage *u, struct err *err)
{
    struct session *s = xcalloc(1, sizeof(*s));

    if (config_load(&s->config, config_path(u), err) < 0)
        goto fail;
    s->hosts = hosts_complete(u->controller ? u->controller : s->config.controller, s->config.port, err);
    if (!s->hosts)
        goto fail;
    s->client.hosts = s->hosts;
    s->client.munge_socket = u->munge_socket           ? u->munge_socket
                             : *s->config.munge_socket ? s->config.munge_socket
                                                       : NULL;
    return s;
fail:
    session_close(s);
    return NULL;
}

static int terminal_columns(void)
{
    struct winsize w;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) < 0 || w.ws_col < 40)
        return COLUMNS;
    return w.ws_col < COLUMNS ? w.ws_col : COLUMNS;
}

static int print_answer(const struct usage *u, const json_t *answer, page_fn *page)
{
    struct err err;

    if (u->json) {
        /* ASCII only: a name in it cannot drive a terminal. */
        json_dumpf(answer, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
        putchar('\n');
        return OK;
    }
    return page(stdout, answer, terminal_columns(), &err) < 0 ? complain(FAILED, &err) : OK;
}

/* question is taken. */
static int query(const struct usage *u, json_t *question, page_fn *page)
{
    struct err err;
    struct session *s = session_open(u, &err);
    json_t *answer = s ? client_ask(&s->client, question, u->timeout_s, &err) : NULL;
    int rc = answer ? print_answer(u, answer, page) : complain(FAILED, &err);

    json_decref(answer);
    json_decref(question);
    session_close(s);
    return rc;
}

static int run_status(const struct usage *u)
{
    return query(u, json_pack("{s:s}", "query", "status"), page_status);
}

static int run_jobs(const struct usage *u)
{
    return query(u, json_pack("{s:s, s:b}", "query", "jobs", "finished", u->finished), page_jobs);
}

static int run_nodes(const struct usage *u)
{
    return query(u, json_pack("{s:s}", "query", "nodes"), page_nodes);
}

/* 123, 123.0, 123_4, 123_4.0, 123+1, 123+1.0 */
static bool is_job(const char *s)
{
    const char *start = s;

    while (isdigit((unsigned char)*s))
        s++;
    if (s == start || s - start > 10)
        return false;
    if ((*s == '_' || *s == '+') && isdigit((unsigned char)s[1]))
        for (s++; isdigit((unsigned char)*s);)
            s++;
    if (*s == '.' && isdigit((unsigned char)s[1]))
        for (s++; isdigit((unsigned char)*s);)
            s++;
    return !*s && s - start < 40;
}

static int refuse_job(const char *word)
{
    fprintf(stderr,
            "sgctl: '%s' is no job; accepted are 123, 123.0 (a step), 123_4 (of an array), 123+1 (of a het "
            "job)\n",
            word);
    return USAGE;
}

static int run_job(const struct usage *u)
{
    const char *job = u->operands[0];
    json_t *question;

    if (!is_job(job))
        return refuse_job(job);
    /* As text the worst ranks do; as JSON all of them are wanted. */
    if (u->json)
        question = json_pack("{s:s, s:s}", "query", "job", "job", job);
    else
        question = json_pack("{s:s, s:s, s:{s:s, s:i, s:i, s:i}}", "query", "job", "job", job, "view", "sort",
                             "lateness", "offset", 0, "count", PAGE_RANKS, "columns", 1);
    return query(u, question, page_job);
}

/* question NULL: err says what is wrong with the command line. */
static int act(const struct usage *u, json_t *question, struct err *err)
{
    struct act_options o = {
        .timeout_s = u->timeout_s, .dry_run = u->dry_run, .yes = u->yes, .json = u->json
    };
    struct session *s = question ? session_open(u, err) : NULL;
    int rc = question ? FAILED : USAGE;

    if (s) {
        o.client = s->client;
        rc = act_run(&o, json_incref(question), err);
    }
    json_decref(question);
    session_close(s);
    return rc == OK ? OK : complain(rc, err);
}

static int run_action(const struct usage *u)
{
    struct err err;

    if (!is_job(u->operands[0]))
        return refuse_job(u->operands[0]);
    return act(u, act_on_job(u->operands, u->n_operands, &err), &err);
}

static int run_node(const struct usage *u)
{
    struct err err;

    return act(u, act_on_node(u->operands, u->n_operands, &err), &err);
}

static int run_actions(const struct usage *u)
{
    json_t *question = json_pack("{s:s}", "query", "actions");

    if (u->n_operands && !is_job(u->operands[0])) {
        json_decref(question);
        return refuse_job(u->operands[0]);
    }
    if (u->n_operands)
        json_object_set_new(question, "job", json_string(u->operands[0]));
    return query(u, question, page_actions);
}

static int run_record(const struct usage *u)
{
    struct record_options o = {
        .job = u->operands[0], .output = u->output, .timeout_s = u->timeout_s, .seconds = u->seconds
    };
    struct session *s;
    struct err err;
    int rc = OK;

    if (!is_job(o.job))
        return refuse_job(o.job);
    s = session_open(u, &err);
    if (!s)
        return complain(FAILED, &err);
    o.client = s->client;
    if (record_run(&o, &err) < 0)
        rc = complain(FAILED, &err);
    session_close(s);
    return rc;
}

/* The default policy's; a configuration is read only where one is named: a trace is judged alike everywhere.
 */
static int view_params(const struct usage *u, struct view_params *p, struct err *err)
{
    struct config *c = xcalloc(1, sizeof(*c));
    int rc = u->conf ? config_load(c, u->conf, err) : config_parse(c, "defaults", "", 0, err);
    const struct config_policy *policy = rc == 0 ? config_policy_find(c, c->default_policy) : NULL;

    if (policy)
        *p = (struct view_params){ .min_slowdown = policy->min_slowdown_ratio,
                                   .hang_timeout_s = policy->hang_timeout_s };
    else if (rc == 0)
        rc = err_set(err, "there is no policy %s", c->default_policy);
    free(c);
    return rc;
}

static int run_analyze(const struct usage *u)
{
    struct view_params params;
    json_t *answer;
    struct err err;
    int rc;

    if (view_params(u, &params, &err) < 0)
        return complain(FAILED, &err);
    answer = analyze_file(u->operands[0], &params, &err);
    if (!answer)
        return complain(FAILED, &err);
    rc = print_answer(u, answer, page_analysis);
    if (rc == OK && u->fail && analyze_stands(answer))
        rc = FAILED;
    json_decref(answer);
    return rc;
}

struct passed_on {
    const char *name, *value; /* value NULL: not given */
};

/* The sgtop beside this sgctl if there is one, else the one in PATH; does not return unless there is none. */
static int start_sgtop(const struct passed_on *options, size_t n_options, char *const *operands,
                       int n_operands)
{
    char self[PATH_MAX] = "", beside[PATH_MAX + 8];
    const char **argv = xcalloc(2 * n_options + (size_t)n_operands + 2, sizeof(*argv));
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char *slash = n > 0 ? strrchr(self, '/') : NULL;
    struct err err;
    int argc = 0;

    argv[argc++] = "sgtop";
    for (size_t i = 0; i < n_options; i++) {
        if (!options[i].value)
            continue;
        argv[argc++] = options[i].name;
        if (*options[i].value) /* a flag has none */
            argv[argc++] = options[i].value;
    }
    for (int i = 0; i < n_operands; i++)
        argv[argc++] = operands[i];
    if (slash) {
        snprintf(beside, sizeof(beside), "%.*s/sgtop", (int)(slash - self), self);
        execv(beside, (char *const *)argv);
    }
    execvp("sgtop", (char *const *)argv);
    err_set(&err, "cannot start sgtop: %s", strerror(errno));
    free(argv);
    return complain(FAILED, &err);
}

static int run_top(const struct usage *u)
{
    const struct passed_on options[] = { { "--conf", config_path(u) },
                                         { "--controller", u->controller },
                                         { "--munge-socket", u->munge_socket } };

    return start_sgtop(options, ARRAY_SIZE(options), u->operands, u->n_operands);
}

static int run_replay(const struct usage *u)
{
    const struct passed_on options[] = { { "--conf", u->conf },
                                         { "--speed", u->speed },
                                         { "--from", u->from },
                                         { "--json", u->json ? "" : NULL },
                                         { "--replay", u->operands[0] } };

    return start_sgtop(options, ARRAY_SIZE(options), NULL, 0);
}

static void print_actions(FILE *out)
{
    fputs(".Bl -tag -width Ds\n", out);
    for (int k = 0; k < ACTION_KINDS; k++) {
        const char *text = action_text((enum action_kind)k);

        fprintf(out, ".It Cm %s\n%c%s%s.\n", action_name((enum action_kind)k), toupper((unsigned char)*text),
                text + 1,
                action_scope((enum action_kind)k) == ACTION_ON_NODES ? "; enforced for operators alone" : "");
    }
    fputs(".El\n", out);
}

/* A table as the manual page has it. */
static int print_table(const struct usage *u)
{
    const char *name = u->n_operands ? u->operands[0] : "";
    size_t n;

    for (enum config_table t = CONFIG_SYSTEM; t < CONFIG_TABLES; t++)
        if (!strcmp(name, config_table_name(t))) {
            const struct config_key *keys = config_keys(t, &n);

            config_key_mdoc(stdout, keys, n);
            return OK;
        }
    if (!strcmp(name, "figure") || !strcmp(name, "action")) {
        (*name == 'f' ? figures_mdoc : print_actions)(stdout);
        return OK;
    }
    fputs("sgctl: usage: sgctl config --mdoc system|policy|selection|rule|figure|action\n", stderr);
    return USAGE;
}

/* As the controller would read it, the rules too. */
static int check_file(struct config *c, const char *path, struct err *err)
{
    struct ruleset *rules = config_load(c, path, err) < 0 ? NULL : ruleset_new(c, err);
    int rc = rules ? 0 : -1;

    ruleset_free(rules);
    return rc;
}

static int run_config(const struct usage *u)
{
    struct config *c;
    char names[1024];
    struct err err;
    int rc = OK;

    if (u->mdoc)
        return print_table(u);
    if (u->n_operands == 0) {
        config_print_keys(stdout);
        return OK;
    }
    if (strcmp(u->operands[0], "check") || u->n_operands != 2) {
        err_set(&err, "usage: sgctl config, or sgctl config check FILE");
        return complain(USAGE, &err);
    }
    c = xcalloc(1, sizeof(*c));
    if (check_file(c, u->operands[1], &err) < 0)
        rc = complain(FAILED, &err);
    else
        printf("%s is fine: controller %s, policies %s\n", u->operands[1], c->controller,
               config_policy_names(c, names, sizeof(names)));
    free(c);
    return rc;
}

/* ---- policy ---- */

static int policy_list(const struct usage *u)
{
    return query(u, json_pack("{s:s}", "query", "policy"), page_policies);
}

static int policy_show(const struct usage *u)
{
    return query(u, json_pack("{s:s, s:s}", "query", "policy", "name", u->operands[1]), page_policy);
}

static int policy_explain(const struct usage *u)
{
    return is_job(u->operands[1]) ? query(u,
                                          json_pack("{s:s, s:s, s:{s:i, s:i}}", "query", "job", "job",
                                                    u->operands[1], "view", "count", 0, "columns", 1),
                                          page_explain)
                                  : refuse_job(u->operands[1]);
}

/* set, pause, resume, acknowledge */
static int policy_control(const struct usage *u)
{
    json_t *words = json_array();

    if (!is_job(u->operands[1])) {
        json_decref(words);
        return refuse_job(u->operands[1]);
    }
    for (int i = 2; i < u->n_operands; i++)
        json_array_append_new(words, json_string(u->operands[i]));
    return query(u,
                 json_pack("{s:s, s:s, s:s, s:o}", "query", "control", "do", u->operands[0], "job",
                           u->operands[1], "words", words),
                 page_control);
}

static int policy_check(const struct usage *u)
{
    struct config *c = xcalloc(1, sizeof(*c));
    char names[1024];
    struct err err;
    int rc = OK;

    if (check_file(c, u->operands[1], &err) < 0)
        rc = complain(FAILED, &err);
    else
        printf("%s is fine: policies %s; %zu rules, %zu selections\n", u->operands[1],
               config_policy_names(c, names, sizeof(names)), c->n_rules, c->n_selections);
    free(c);
    return rc;
}

static int policy_try(const struct usage *u)
{
    struct err err;
    json_t *answer =
        try_policy(u->operands[1], u->operands[2], u->n_operands > 3 ? u->operands[3] : NULL, &err);
    int rc = answer ? print_answer(u, answer, page_try) : complain(FAILED, &err);

    json_decref(answer);
    return rc;
}

static int policy_figures(const struct usage *u)
{
    (void)u;
    figures_print(stdout);
    return OK;
}

static int run_policy(const struct usage *u)
{
    static const struct {
        const char *name, *operands;
        int min, max;
        int (*run)(const struct usage *u);
    } table[] = {
        { "list", "", 0, 0, policy_list },
        { "show", "NAME", 1, 1, policy_show },
        { "explain", "JOB", 1, 1, policy_explain },
        { "set", "JOB Key=Value ...", 2, 33, policy_control },
        { "pause", "JOB", 1, 1, policy_control },
        { "resume", "JOB", 1, 1, policy_control },
        { "acknowledge", "JOB", 1, 1, policy_control },
        { "check", "FILE", 1, 1, policy_check },
        { "try", "FILE TRACE [NAME]", 2, 3, policy_try },
        { "figures", "", 0, 0, policy_figures },
    };
    const char *name = u->n_operands ? u->operands[0] : "list";
    int n = u->n_operands ? u->n_operands - 1 : 0;

    for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
        if (strcmp(table[i].name, name) != 0)
            continue;
        if (n >= table[i].min && n <= table[i].max)
            return table[i].run(u);
        fprintf(stderr, "sgctl: usage: sgctl policy %s %s\n", name, table[i].operands);
        return USAGE;
    }
    fprintf(stderr, "sgctl: 'policy %s' is no command; there are", name);
    for (size_t i = 0; i < ARRAY_SIZE(table); i++)
        fprintf(stderr, "%s policy %s", i ? "," : "", table[i].name);
    fputc('\n', stderr);
    return USAGE;
}

static int run_audit(const struct usage *u)
{
    if (u->n_operands && !is_job(u->operands[0]))
        return refuse_job(u->operands[0]);
    return query(u, json_pack("{s:s, s:s*}", "query", "audit", "job", u->n_operands ? u->operands[0] : NULL),
                 page_audit);
}

static int run_doctor(const struct usage *u)
{
    struct doctor d = { .timeout_s = u->timeout_s, .slurm_conf = SLURM_CONF };
    struct session *s = session_open(u, &d.config_err);
    int missing;

    d.config = s ? &s->config : NULL;
    d.config_path = config_path(u) ? config_path(u) : CONFIG_DEFAULT_PATH;
    d.client = s ? s->client
                 : (struct client_options){ u->controller ? u->controller : "localhost", u->munge_socket };
    missing = doctor_run(&d, stdout);
    session_close(s);
    if (missing)
        printf("\n%d missing. Type what stands behind `next:`, then `sgctl doctor` again.\n", missing);
    return missing ? FAILED : OK;
}

static int run_help(const struct usage *u)
{
    enum usage_command command = u->n_operands ? usage_command_find(u->operands[0]) : USAGE_COMMANDS;
    struct err err;

    if (u->mdoc) {
        usage_mdoc(stdout);
        return OK;
    }
    if (u->n_operands && command == USAGE_COMMANDS) {
        err_set(&err, "'%s' is no command; `sgctl help` lists them", u->operands[0]);
        return complain(USAGE, &err);
    }
    (u->words ? usage_words : usage_help)(stdout, command);
    return OK;
}

static int (*const run[USAGE_COMMANDS])(const struct usage *u) = {
    [USAGE_STATUS] = run_status,   [USAGE_JOBS] = run_jobs,     [USAGE_JOB] = run_job,
    [USAGE_NODES] = run_nodes,     [USAGE_RECORD] = run_record, [USAGE_ANALYZE] = run_analyze,
    [USAGE_REPLAY] = run_replay,   [USAGE_TOP] = run_top,       [USAGE_CONFIG] = run_config,
    [USAGE_DOCTOR] = run_doctor,   [USAGE_HELP] = run_help,     [USAGE_POLICY] = run_policy,
    [USAGE_AUDIT] = run_audit,     [USAGE_ACTION] = run_action, [USAGE_NODE] = run_node,
    [USAGE_ACTIONS] = run_actions,
};

int main(int argc, char **argv)
{
    struct usage u;
    struct err err;
    int rc = OK;

    if (usage_parse(&u, argc, argv, &err) < 0)
        return complain(USAGE, &err);
    if (u.version)
        puts("sgctl " PACKAGE_VERSION);
    else if (u.help)
        usage_help(stdout, u.command == USAGE_HELP ? USAGE_COMMANDS : u.command);
    else
        rc = run[u.command](&u);
    if ((fflush(stdout) != 0 || ferror(stdout)) && rc == OK) {
        err_set(&err, "cannot write: %s", strerror(errno));
        rc = complain(FAILED, &err);
    }
    return rc;
}
