#include "common/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/conf.h"
#include "common/config_policy.h"
#include "common/suggest.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define KEYS_MAX 64 /* of a table */

static const struct config_key system_keys[] = {
    { "Controller", CONFIG_HOSTS, CONFIG_AT(config, controller), CONFIG_ANY, "localhost",
      "Where syncguardd runs; further hosts are tried in order." },
    { "Port", CONFIG_INTEGER, CONFIG_AT(config, port), CONFIG_RANGE(1, 65535), "6825",
      "TCP port of syncguardd." },
    { "Listen", CONFIG_ADDRESS, CONFIG_AT(config, listen), CONFIG_ANY, "",
      "Address that syncguardd listens on; empty: all addresses." },
    { "AuthInfo", CONFIG_AUTHINFO, CONFIG_AT(config, munge_socket), CONFIG_ANY, "",
      "Munge's socket, as in slurm.conf; empty: munge's own." },
    { "StateDir", CONFIG_PATH, CONFIG_AT(config, state_dir), CONFIG_ANY, LOCALSTATEDIR "/lib/syncguard",
      "Where syncguardd keeps its history." },
    { "LogFile", CONFIG_PATH, CONFIG_AT(config, log_file), CONFIG_ANY, "",
      "Where syncguardd logs; empty: standard error." },
    { "LogLevel", CONFIG_LEVEL, CONFIG_AT(config, log_level), CONFIG_ANY, "info",
      "Level of detail that syncguardd logs." },
    { "Operators", CONFIG_LIST, CONFIG_AT(config, operators), CONFIG_ANY, "",
      "Users, in addition to root, who may see and control every job." },
    { "SlurmUser", CONFIG_NAME, CONFIG_AT(config, slurm_user), CONFIG_ANY, "slurm",
      "As in slurm.conf; trusted like an operator." },
    { "DefaultPolicy", CONFIG_NAME, CONFIG_AT(config, default_policy), CONFIG_ANY, "balanced",
      "Policy of a plain --sync-guard." },
    { "AgentPath", CONFIG_PATH, CONFIG_AT(config, agent), CONFIG_ANY, PKGLIBEXECDIR "/syncguard-agent",
      "The agent, on the nodes." },
    { "ProbePath", CONFIG_PATH, CONFIG_AT(config, probe), CONFIG_ANY, PKGLIBDIR "/libsyncguard_probe.so",
      "The probe, on the nodes." },
    { "HistoryDays", CONFIG_INTEGER, CONFIG_AT(config, history_days), CONFIG_RANGE(1, 36500), "90",
      "How long finished jobs are kept, in days." },
    { "AccountingDays", CONFIG_INTEGER, CONFIG_AT(config, accounting_days), CONFIG_RANGE(0, 3650), "90",
      "Number of days of Slurm's accounting that node failure rates are computed from; 0: accounting is not read." },
    /* actions: actions/action.h */
    { "Slurmrestd", CONFIG_RESTD, CONFIG_AT(config, slurmrestd), CONFIG_ANY, "",
      "Address of slurmrestd, used for the actions it supports; empty: all actions go through libslurm." },
    { "SlurmrestdToken", CONFIG_PATH, CONFIG_AT(config, slurmrestd_token), CONFIG_ANY, "",
      "File (0600) with the token (JWT) sent to slurmrestd; empty: none." },
    { "SlurmrestdVersion", CONFIG_NAME, CONFIG_AT(config, slurmrestd_version), CONFIG_ANY, "",
      "Version of slurmrestd's interface, such as v0.0.40; empty: the newest that both support." },
    { "Webhook", CONFIG_WEBHOOK, CONFIG_AT(config, webhook), CONFIG_ANY, "",
      "URL that actions are posted to, or a file (0600) that holds the URL if it is secret; empty: none." },
    { "WebhookTemplate", CONFIG_NAME_OR_PATH, CONFIG_AT(config, webhook_template), CONFIG_ANY, "generic",
      "Format of the webhook's messages: generic, slack (also for Mattermost), alertmanager, pagerduty, or a "
      "file with JSON." },
    { "WebhookToken", CONFIG_PATH, CONFIG_AT(config, webhook_token), CONFIG_ANY, "",
      "File (0600) with the token sent to the webhook; empty: none." },
    { "CommandHook", CONFIG_PATH, CONFIG_AT(config, command_hook), CONFIG_ANY, "",
      "Program that is run with the action as JSON on its standard input; empty: none." },
    { "SlurmHelperPath", CONFIG_PATH, CONFIG_AT(config, slurm_helper), CONFIG_ANY,
      PKGLIBEXECDIR "/syncguard-slurm-helper", "The controller's helper that calls libslurm." },
    /* policies: all jobs together */
    { "AuditLog", CONFIG_PATH, CONFIG_AT(config, audit_log), CONFIG_ANY, "",
      "File that every decision of a policy is appended to, one JSON object per line; empty: none." },
    { "PolicyModule", CONFIG_PATH, CONFIG_AT(config, policy_module), CONFIG_ANY, "",
      "Shared object with the site's own policy; must be owned by root and writable by nobody else." },
    { "ClusterActionsPerHour", CONFIG_INTEGER, CONFIG_AT(config, cluster_actions_per_hour),
      CONFIG_RANGE(0, 10000), "60", "Maximum number of actions per hour, all jobs together." },
    { "ClusterNodesPerHour", CONFIG_INTEGER, CONFIG_AT(config, cluster_nodes_per_hour),
      CONFIG_OF(0, 10000, "nodes"), "8",
      "Maximum number of nodes that actions may affect per hour, all jobs together." },
};

/* The built-in policies are written as an administrator would write them; policies/ ships the same lines,
 * commented. */
static const char builtin[] =
    "Policy=observe Description=\"Watch lightly: name only who costs the job 5 % or more.\" "
    "MinSlowdown=1.05 HangTimeout=60s SampleRate=20 Pacing=off\n"
    "Policy=balanced Description=\"The default: name whoever costs the job 2 % or more.\"\n";

/* These names have another meaning after --sync-guard=. */
static const char *const reserved[] = { "on", "off", "yes", "no", "none", "help", "default" };

static bool is_reserved(const char *name)
{
    for (size_t i = 0; i < COUNT(reserved); i++)
        if (!strcasecmp(name, reserved[i]))
            return true;
    return false;
}

/* ---- reading the file ---- */

struct loading {
    struct config *config;
    struct {
        char file[256];
        unsigned line;
    } seen[COUNT(system_keys)]; /* where a key was set first; line 0: not yet */
};

static int store_pair(const struct conf_line *line, const struct conf_pair *pair,
                      const struct config_key *key, void *base, struct err *err)
{
    char accepted[160];

    if (config_key_store(key, base, pair->value) == 0)
        return 0;
    config_key_accepts(key, accepted, sizeof(accepted));
    return *key->standard ? conf_error(line, pair, err, "%s (default %s)", accepted, key->standard)
                          : conf_error(line, pair, err, "%s", accepted);
}

/* The keys behind the first of a line, each at most once. */
static int load_keys(const struct conf_line *line, enum config_table table, const char *whose, void *base,
                     struct err *err)
{
    bool seen[KEYS_MAX] = { false };
    char names[512];
    size_t n;
    const struct config_key *keys = config_keys(table, &n);

    for (size_t i = 1; i < line->n; i++) {
        const struct config_key *key = config_key_find(keys, n, line->pairs[i].key);

        if (!key && config_key_near(keys, n, line->pairs[i].key))
            return conf_error(line, &line->pairs[i], err, "unknown key. Did you mean '%s'?",
                              config_key_near(keys, n, line->pairs[i].key));
        if (!key)
            return conf_error(line, &line->pairs[i], err, "unknown key; %s has %s", whose,
                              config_key_names(keys, n, names, sizeof(names)));
        if (seen[key - keys])
            return conf_error(line, &line->pairs[i], err, "set twice on this line");
        seen[key - keys] = true;
        if (store_pair(line, &line->pairs[i], key, base, err) < 0)
            return -1;
    }
    return 0;
}

static int check_name(const struct conf_line *line, struct err *err)
{
    const struct conf_pair *pair = &line->pairs[0];

    if (strlen(pair->value) >= sizeof(((struct config_policy *)0)->name) || !config_is_name(pair->value))
        return conf_error(line, pair, err, "a name of at most %zu letters, digits, '_', '-' and '.'",
                          sizeof(((struct config_policy *)0)->name) - 1);
    return 0;
}

static void set_defaults(enum config_table table, void *base)
{
    size_t n;
    const struct config_key *keys = config_keys(table, &n);

    config_key_defaults(keys, n, base);
}

static struct config_policy *policy_take(struct config *c, const char *name)
{
    struct config_policy *p = (struct config_policy *)config_policy_find(c, name);

    if (p || c->n_policies == CONFIG_POLICIES_MAX)
        return p;
    p = &c->policies[c->n_policies++];
    memset(p, 0, sizeof(*p));
    set_defaults(CONFIG_POLICY, p);
    memcpy(p->name, name, strlen(name) + 1);
    return p;
}

/* Policy=NAME Key=Value ...: what is not named stays as it was. */
static int load_policy(struct loading *l, const struct conf_line *line, struct err *err)
{
    const struct conf_pair *pair = &line->pairs[0];
    struct config_policy *p;

    if (check_name(line, err) < 0)
        return -1;
    if (is_reserved(pair->value))
        return conf_error(line, pair, err, "the name has another meaning in --sync-guard=%s", pair->value);
    p = policy_take(l->config, pair->value);
    if (!p)
        return conf_error(line, pair, err, "at most %d policies", CONFIG_POLICIES_MAX);
    return load_keys(line, CONFIG_POLICY, "a policy", p, err);
}

/* PolicyFor=NAME Key=Value ...: a line of its own each time. */
static int load_selection(struct loading *l, const struct conf_line *line, struct err *err)
{
    struct config *c = l->config;
    struct config_selection *s = &c->selections[c->n_selections];

    if (check_name(line, err) < 0)
        return -1;
    if (c->n_selections == CONFIG_SELECTIONS_MAX)
        return conf_error(line, &line->pairs[0], err, "at most %d such lines", CONFIG_SELECTIONS_MAX);
    memset(s, 0, sizeof(*s));
    set_defaults(CONFIG_SELECTION, s);
    snprintf(s->policy, sizeof(s->policy), "%s", line->pairs[0].value);
    snprintf(s->file, sizeof(s->file), "%s", line->file);
    s->line = line->pairs[0].line;
    c->n_selections++;
    if (load_keys(line, CONFIG_SELECTION, "a selection", s, err) < 0)
        return -1;
    if ((s->max_nodes && s->max_nodes < s->min_nodes) || (s->max_ranks && s->max_ranks < s->min_ranks))
        return conf_error(line, &line->pairs[0], err, "the largest size is below the smallest: no job fits");
    return 0;
}

static const struct conf_pair *pair_find(const struct conf_line *line, const char *key)
{
    for (size_t i = 1; i < line->n; i++)
        if (!strcasecmp(line->pairs[i].key, key))
            return &line->pairs[i];
    return NULL;
}

static struct config_rule *rule_take(struct config *c, const char *policy, const char *name)
{
    struct config_rule *r;

    for (size_t i = 0; i < c->n_rules; i++)
        if (!strcasecmp(c->rules[i].policy, policy) && !strcasecmp(c->rules[i].name, name))
            return &c->rules[i];
    if (c->n_rules == CONFIG_RULES_MAX)
        return NULL;
    r = &c->rules[c->n_rules++];
    memset(r, 0, sizeof(*r));
    set_defaults(CONFIG_RULE, r);
    snprintf(r->name, sizeof(r->name), "%s", name);
    return r;
}

/* Rule=NAME Policy=NAME Key=Value ...: of a rule that the policy has already, what is not named stays. */
static int load_rule(struct loading *l, const struct conf_line *line, struct err *err)
{
    const struct conf_pair *pair = &line->pairs[0], *policy = pair_find(line, "Policy"), *key;
    struct config_rule *r;

    if (check_name(line, err) < 0)
        return -1;
    if (!policy)
        return conf_error(line, pair, err, "a rule belongs to a policy: Rule=%s Policy=NAME When=...",
                          pair->value);
    r = rule_take(l->config, policy->value, pair->value);
    if (!r)
        return conf_error(line, pair, err, "at most %d rules", CONFIG_RULES_MAX);
    snprintf(r->file, sizeof(r->file), "%s", line->file);
    r->line = pair->line;
    if ((key = pair_find(line, "When")) || !r->when_line)
        r->when_line = key ? key->line : pair->line;
    if ((key = pair_find(line, "Action")) || !r->action_line)
        r->action_line = key ? key->line : pair->line;
    return load_keys(line, CONFIG_RULE, "a rule", r, err);
}

/* A key that stands on a line of another kind. */
static const char *belongs_to(const char *name)
{
    static const char *const lines[CONFIG_TABLES] = { [CONFIG_POLICY] = "a policy: Policy=NAME",
                                                      [CONFIG_SELECTION] = "a selection: PolicyFor=NAME",
                                                      [CONFIG_RULE] = "a rule: Rule=NAME Policy=NAME" };

    for (enum config_table t = CONFIG_POLICY; t < CONFIG_TABLES; t++) {
        size_t n;
        const struct config_key *keys = config_keys(t, &n);

        if (config_key_find(keys, n, name))
            return lines[t];
    }
    return NULL;
}

static int load_pair(struct loading *l, const struct conf_line *line, const struct conf_pair *pair,
                     struct err *err)
{
    const struct config_key *key = config_key_find(system_keys, COUNT(system_keys), pair->key);
    const char *whose = key ? NULL : belongs_to(pair->key);
    char names[512];
    size_t i;

    if (whose)
        return conf_error(line, pair, err, "belongs to %s %s=...", whose, pair->key);
    if (!key && config_key_near(system_keys, COUNT(system_keys), pair->key))
        return conf_error(line, pair, err, "unknown key. Did you mean '%s'?",
                          config_key_near(system_keys, COUNT(system_keys), pair->key));
    if (!key)
        return conf_error(line, pair, err, "unknown key; there are %s, Policy, PolicyFor, Rule, Include",
                          config_key_names(system_keys, COUNT(system_keys), names, sizeof(names)));
    i = (size_t)(key - system_keys);
    if (l->seen[i].line)
        return conf_error(line, pair, err, "set before, at %s:%u", l->seen[i].file, l->seen[i].line);
    snprintf(l->seen[i].file, sizeof(l->seen[i].file), "%s", line->file);
    l->seen[i].line = pair->line;
    return store_pair(line, pair, key, l->config, err);
}

static int load_line(const struct conf_line *line, void *arg, struct err *err)
{
    struct loading *l = arg;

    if (!strcasecmp(line->pairs[0].key, "Policy"))
        return load_policy(l, line, err);
    if (!strcasecmp(line->pairs[0].key, "PolicyFor"))
        return load_selection(l, line, err);
    if (!strcasecmp(line->pairs[0].key, "Rule"))
        return load_rule(l, line, err);
    for (size_t i = 0; i < line->n; i++) {
        if (load_pair(l, line, &line->pairs[i], err) < 0)
            return -1;
    }
    return 0;
}

static const char *no_such_policy(const struct config *c, const char *name, char *buf, size_t size)
{
    struct suggestion near = suggest_for(name);
    char names[256];

    for (size_t i = 0; i < c->n_policies; i++)
        suggest_offer(&near, c->policies[i].name);
    if (near.best)
        snprintf(buf, size, "unknown policy. Did you mean '%s'?", near.best);
    else
        snprintf(buf, size, "unknown policy; there are %s", config_policy_names(c, names, sizeof(names)));
    return buf;
}

/* Policies may be defined behind the lines that name them. */
static int check_policies(const struct config *c, struct err *err)
{
    char why[320];

    for (size_t i = 0; i < c->n_selections; i++) {
        const struct config_selection *s = &c->selections[i];

        if (!config_policy_find(c, s->policy))
            return err_set(err, "%s:%u: PolicyFor=%s: %s", s->file, s->line, s->policy,
                           no_such_policy(c, s->policy, why, sizeof(why)));
    }
    for (size_t i = 0; i < c->n_rules; i++) {
        const struct config_rule *r = &c->rules[i];

        if (!config_policy_find(c, r->policy))
            return err_set(err, "%s:%u: Rule=%s Policy=%s: %s", r->file, r->line, r->name, r->policy,
                           no_such_policy(c, r->policy, why, sizeof(why)));
    }
    return 0;
}

/* Where the settings come from: a file, or text in memory. */
struct origin {
    const char *name, *text;
    size_t bytes;
    bool optional; /* no file is no error */
};

/* Has this host a port of its own?  A colon behind the name, or behind the bracket of an IPv6 address. */
static bool has_port(const char *host, size_t len)
{
    const char *bracket = memchr(host, ']', len);

    return memchr(bracket ? bracket : host, ':', bracket ? (size_t)(host + len - bracket) : len) != NULL;
}

/* Controller's hosts without a port listen on Port: written out once, so that everybody who connects need not
 * know. */
static int complete_ports(struct config *c, const char *name, struct err *err)
{
    char out[sizeof(c->controller)];
    size_t at = 0;

    for (const char *host = c->controller; *host;) {
        size_t len = strcspn(host, ",");
        int n = has_port(host, len)
                    ? snprintf(out + at, sizeof(out) - at, "%.*s", (int)len, host)
                    : snprintf(out + at, sizeof(out) - at, "%.*s:%d", (int)len, host, c->port);

        at += (size_t)n;
        if (host[len] && at < sizeof(out))
            out[at++] = ',';
        if (at >= sizeof(out))
            return err_set(err, "%s: Controller=%.64s...: too long with its ports", name, c->controller);
        host += len + (host[len] != '\0');
    }
    out[at] = '\0';
    memcpy(c->controller, out, at + 1);
    return 0;
}

static int load_into(struct loading *l, const struct origin *from, struct err *err)
{
    struct config *c = l->config;
    char why[320];

    if (strlen(from->name) >= sizeof(c->path))
        return err_set(err, "%.64s...: the path is too long", from->name);
    config_key_defaults(system_keys, COUNT(system_keys), c);
    if (conf_parse("built-in", builtin, sizeof(builtin) - 1, load_line, l, err) < 0)
        return -1;
    if (from->text) {
        if (conf_parse(from->name, from->text, from->bytes, load_line, l, err) < 0)
            return -1;
    } else if (conf_read(from->name, load_line, l, err) == 0) {
        memcpy(c->path, from->name, strlen(from->name) + 1);
    } else if (!from->optional || errno != ENOENT) {
        return -1;
    }
    if (!config_policy_find(c, c->default_policy))
        return err_set(err, "%s: DefaultPolicy=%s: %s", from->name, c->default_policy,
                       no_such_policy(c, c->default_policy, why, sizeof(why)));
    if (check_policies(c, err) < 0)
        return -1;
    return complete_ports(c, from->name, err);
}

static int load(struct config *c, const struct origin *from, struct err *err)
{
    struct loading *l = calloc(1, sizeof(*l));
    int rc = -1;

    if (l)
        l->config = calloc(1, sizeof(*l->config));
    if (!l || !l->config)
        err_set(err, "%s: out of memory", from->name);
    else if ((rc = load_into(l, from, err)) == 0)
        memcpy(c, l->config, sizeof(*c));
    if (l)
        free(l->config);
    free(l);
    return rc;
}

const char *config_path(const char *given)
{
    const char *environment = getenv("SYNCGUARD_CONF");

    return given ? given : environment && *environment ? environment : NULL;
}

int config_load(struct config *c, const char *path, struct err *err)
{
    struct origin from = { .name = path ? path : CONFIG_DEFAULT_PATH, .optional = !path };

    return load(c, &from, err);
}

int config_parse(struct config *c, const char *name, const char *text, size_t bytes, struct err *err)
{
    struct origin from = { .name = name, .text = text, .bytes = bytes };

    return load(c, &from, err);
}

const struct config_policy *config_policy_find(const struct config *c, const char *name)
{
    for (size_t i = 0; i < c->n_policies; i++) {
        if (!strcasecmp(c->policies[i].name, name))
            return &c->policies[i];
    }
    return NULL;
}

char *config_policy_names(const struct config *c, char *buf, size_t size)
{
    size_t at = 0;

    if (size > 0)
        buf[0] = '\0';
    for (size_t i = 0; i < c->n_policies && at < size; i++)
        at += (size_t)snprintf(buf + at, size - at, "%s%s", i ? ", " : "", c->policies[i].name);
    return buf;
}

/* ---- whom a policy is for ---- */

/* Is it one of the names with commas between?  An empty list has room for all. */
static bool in_list(const char *list, const char *name)
{
    size_t len = strlen(name), part;

    if (!*list)
        return true;
    for (; len; list += part + 1) {
        part = strcspn(list, ",");
        if (part == len && !strncasecmp(list, name, len))
            return true;
        if (!list[part])
            break;
    }
    return false;
}

/* An unknown number (0) fits no bound. */
static bool in_bounds(uint32_t n, int min, int max)
{
    if (!min && !max)
        return true;
    return n && n >= (uint32_t)min && (!max || n <= (uint32_t)max);
}

static bool selects(const struct config_selection *s, const struct config_job *j)
{
    return in_list(s->partition, j->partition) && in_list(s->account, j->account) &&
           in_list(s->qos, j->qos) && in_list(s->user, j->user) &&
           in_bounds(j->nodes, s->min_nodes, s->max_nodes) && in_bounds(j->ranks, s->min_ranks, s->max_ranks);
}

const struct config_policy *config_policy_select(const struct config *c, const struct config_job *j,
                                                 const char *asked, const struct config_selection **why)
{
    const struct config_selection *s = NULL;

    for (size_t i = 0; !s && i < c->n_selections; i++)
        if (selects(&c->selections[i], j))
            s = &c->selections[i];
    if (s && asked && s->override)
        s = NULL;
    if (why)
        *why = s;
    return config_policy_find(c, s ? s->policy : asked ? asked : c->default_policy);
}

/* ---- the tables ---- */

static const char *const table_names[CONFIG_TABLES] = { "system", "policy", "selection", "rule" };

const char *config_table_name(enum config_table table)
{
    return table_names[table];
}

const struct config_key *config_keys(enum config_table table, size_t *n)
{
    if (table != CONFIG_SYSTEM)
        return config_policy_keys(table, n);
    *n = COUNT(system_keys);
    return system_keys;
}
