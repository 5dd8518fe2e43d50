#include "common/config.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/conf.h"
#include "common/units.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum kind { TEXT, NAME, PATH, HOSTS, ADDRESS, AUTHINFO, USERS, LEVEL, INTEGER, RATIO, SECONDS, HERTZ };

/* A key of the file, and all there is to say about it.  A key that may be empty has an empty default. */
struct key {
    const char *name;
    enum kind kind;
    size_t offset, size;  /* of its place in struct config or config_policy */
    double min, max;      /* of numbers */
    const char *standard; /* default, as it would be written */
    const char *text;
};

#define IN(structure, field) offsetof(struct structure, field), sizeof(((struct structure *)0)->field)

static const struct key config_keys[] = {
    { "Controller", HOSTS, IN(config, controller), 0, 0, "localhost",
      "Where syncguardd runs; further hosts are tried in turn." },
    { "Port", INTEGER, IN(config, port), 1, 65535, "6825", "TCP port of syncguardd." },
    { "Listen", ADDRESS, IN(config, listen), 0, 0, "",
      "Address that syncguardd listens on; empty: every one." },
    { "AuthInfo", AUTHINFO, IN(config, munge_socket), 0, 0, "",
      "Munge's socket, as in slurm.conf; empty: munge's own." },
    { "StateDir", PATH, IN(config, state_dir), 0, 0, LOCALSTATEDIR "/lib/syncguard",
      "Where syncguardd keeps its history." },
    { "LogFile", PATH, IN(config, log_file), 0, 0, "", "Where syncguardd logs; empty: standard error." },
    { "LogLevel", LEVEL, IN(config, log_level), 0, 0, "info", "How much syncguardd logs." },
    { "Operators", USERS, IN(config, operators), 0, 0, "",
      "Users who see and control every job, beside root." },
    { "SlurmUser", NAME, IN(config, slurm_user), 0, 0, "slurm",
      "As in slurm.conf; trusted like an operator." },
    { "DefaultPolicy", NAME, IN(config, default_policy), 0, 0, "balanced",
      "Policy of a plain --sync-guard." },
    { "AgentPath", PATH, IN(config, agent), 0, 0, PKGLIBEXECDIR "/syncguard-agent",
      "The agent, on the nodes." },
    { "ProbePath", PATH, IN(config, probe), 0, 0, PKGLIBDIR "/libsyncguard_probe.so",
      "The probe, on the nodes." },
    { "HistoryDays", INTEGER, IN(config, history_days), 1, 36500, "90",
      "How long finished jobs are kept, in days." },
};

/* Keys of a Policy= line. */
static const struct key policy_keys[] = {
    { "Description", TEXT, IN(config_policy, text), 0, 0, "",
      "What --sync-guard=help says about the policy." },
    { "MinSlowdown", RATIO, IN(config_policy, min_slowdown_ratio), 1, 10, "1.02",
      "Step time over the step time without the straggler, below which it is not named." },
    { "HangTimeout", SECONDS, IN(config_policy, hang_timeout_s), 1, 86400, "30s",
      "A collective that is open for longer is called a hang." },
    { "SampleRate", HERTZ, IN(config_policy, sample_rate_hz), 1, 1000, "50",
      "Samples a rank and second that the agents aim at." },
};

/* The built-in policies are written as an administrator would write them; policies/ ships the same lines,
 * commented. */
static const char builtin[] =
    "Policy=observe Description=\"Watch lightly: name only who costs the job 5 % or more.\" "
    "MinSlowdown=1.05 HangTimeout=60s SampleRate=20\n"
    "Policy=balanced Description=\"The default: name whoever costs the job 2 % or more.\"\n";

static const char *const levels[] = { "error", "warning", "info", "debug" };
/* They mean something else after --sync-guard=. */
static const char *const reserved[] = { "on", "off", "yes", "no", "none", "help", "default" };

/* ---- what a key accepts ---- */

static bool in_words(const char *word, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcasecmp(word, words[i]))
            return true;
    }
    return false;
}

static bool is_name(const char *s)
{
    if (!isalnum((unsigned char)*s))
        return false;
    return s[strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.")] == '\0';
}

/* One host[:port], [address] or [address]:port, up to the comma. */
static bool is_host(const char *s, size_t len)
{
    const char *colon, *end = s + len;
    size_t host;
    long port;
    char *after;

    if (len > 0 && *s == '[') {
        host = 1 + strspn(s + 1, "0123456789abcdefABCDEF:.%");
        if (host < 3 || s[host] != ']')
            return false;
        colon = s + host + 1;
    } else {
        host = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.");
        if (host == 0)
            return false;
        colon = s + host;
    }
    if (colon == end)
        return true;
    if (*colon != ':' || !isdigit((unsigned char)colon[1]))
        return false;
    port = strtol(colon + 1, &after, 10);
    return after == end && port >= 1 && port <= 65535;
}

static bool is_hosts(const char *s)
{
    for (;;) {
        size_t len = strcspn(s, ",");

        if (!is_host(s, len))
            return false;
        if (!s[len])
            return true;
        s += len + 1;
    }
}

static bool is_users(const char *s)
{
    return *s != ',' && !strstr(s, ",,") && s[strlen(s) - 1] != ',' && !strpbrk(s, " \t=\"");
}

static bool is_printable(const char *s)
{
    while (*s && (unsigned char)*s >= ' ')
        s++;
    return !*s;
}

static bool text_fits(const struct key *key, const char *value)
{
    if (strlen(value) >= key->size || !is_printable(value))
        return false;
    if (!*value)
        return !*key->standard;
    switch (key->kind) {
    case NAME:
        return is_name(value);
    case PATH:
    case AUTHINFO:
        return *value == '/';
    case HOSTS:
        return is_hosts(value);
    case ADDRESS:
        return value[strspn(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-.:%_")] ==
               '\0';
    case USERS:
        return is_users(value);
    case LEVEL:
        return in_words(value, levels, COUNT(levels));
    default:
        return true;
    }
}

/* "a ratio from 1 to 10": what would have been right. */
static char *key_accepts(const struct key *key, char *buf, size_t size)
{
    char low[32], high[32];

    switch (key->kind) {
    case TEXT:
        snprintf(buf, size, "at most %zu printable characters", key->size - 1);
        break;
    case NAME:
        snprintf(buf, size, "a name of at most %zu letters, digits, '_', '-' and '.'", key->size - 1);
        break;
    case PATH:
        snprintf(buf, size, "a path that begins with /");
        break;
    case HOSTS:
        snprintf(buf, size, "HOST[:PORT][,HOST[:PORT]...]");
        break;
    case ADDRESS:
        snprintf(buf, size, "an address or host name");
        break;
    case AUTHINFO:
        snprintf(buf, size, "socket=PATH, at most %zu characters of path", key->size - 1);
        break;
    case USERS:
        snprintf(buf, size, "USER[,USER...]");
        break;
    case LEVEL:
        snprintf(buf, size, "error, warning, info or debug");
        break;
    case INTEGER:
        snprintf(buf, size, "a whole number from %.0f to %.0f", key->min, key->max);
        break;
    case RATIO:
        snprintf(buf, size, "a ratio from %g to %g", key->min, key->max);
        break;
    case SECONDS:
        snprintf(buf, size, "a time from %s to %s", units_format_s(low, sizeof(low), key->min),
                 units_format_s(high, sizeof(high), key->max));
        break;
    case HERTZ:
        snprintf(buf, size, "a rate from %g to %g a second", key->min, key->max);
        break;
    }
    return buf;
}

/* ---- storing values ---- */

static int number_of(const struct key *key, const char *value, double *number)
{
    switch (key->kind) {
    case SECONDS:
        return units_seconds(value, number, NULL);
    case RATIO:
        return units_ratio(value, number, NULL);
    default: /* a ratio's "%" makes no sense here */
        return strchr(value, '%') ? -1 : units_ratio(value, number, NULL);
    }
}

/* Write value to its place in base.  -1 when it is not accepted. */
static int key_store(const struct key *key, void *base, const char *value)
{
    char *place = (char *)base + key->offset;
    double number;

    if (key->kind >= INTEGER) {
        if (number_of(key, value, &number) < 0 || number < key->min || number > key->max)
            return -1;
        if (key->kind != INTEGER)
            memcpy(place, &number, sizeof(number));
        else if (number == floor(number))
            memcpy(place, &(int){ (int)number }, sizeof(int));
        else
            return -1;
        return 0;
    }
    if (key->kind == AUTHINFO && *value) {
        if (strncasecmp(value, "socket=", strlen("socket=")) != 0)
            return -1;
        value += strlen("socket=");
    }
    if (!text_fits(key, value))
        return -1;
    memcpy(place, value, strlen(value) + 1);
    return 0;
}

static const struct key *key_find(const struct key *keys, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcasecmp(keys[i].name, name))
            return &keys[i];
    }
    return NULL;
}

static char *key_names(const struct key *keys, size_t n, char *buf, size_t size)
{
    size_t at = 0;

    buf[0] = '\0';
    for (size_t i = 0; i < n && at < size; i++)
        at += (size_t)snprintf(buf + at, size - at, "%s%s", i ? ", " : "", keys[i].name);
    return buf;
}

static void defaults(const struct key *keys, size_t n, void *base)
{
    for (size_t i = 0; i < n; i++)
        key_store(&keys[i], base, keys[i].standard);
}

/* ---- reading the file ---- */

struct loading {
    struct config *config;
    struct {
        char file[256];
        unsigned line;
    } seen[COUNT(config_keys)]; /* where a key was set first; line 0: not yet */
};

static int store_pair(const struct conf_line *line, const struct conf_pair *pair, const struct key *key,
                      void *base, struct err *err)
{
    char accepted[160];

    if (key_store(key, base, pair->value) == 0)
        return 0;
    key_accepts(key, accepted, sizeof(accepted));
    return *key->standard ? conf_error(line, pair, err, "%s (default %s)", accepted, key->standard)
                          : conf_error(line, pair, err, "%s", accepted);
}

static struct config_policy *policy_take(struct config *c, const char *name)
{
    struct config_policy *p = (struct config_policy *)config_policy_find(c, name);

    if (p || c->n_policies == CONFIG_POLICIES_MAX)
        return p;
    p = &c->policies[c->n_policies++];
    memset(p, 0, sizeof(*p));
    defaults(policy_keys, COUNT(policy_keys), p);
    memcpy(p->name, name, strlen(name) + 1);
    return p;
}

/* Policy=NAME Key=Value ...: what is not named stays as it was. */
static int load_policy(struct loading *l, const struct conf_line *line, struct err *err)
{
    const struct conf_pair *pair = &line->pairs[0];
    bool seen[COUNT(policy_keys)] = { false };
    struct config_policy *p;
    char names[128];

    if (strlen(pair->value) >= sizeof(p->name) || !is_name(pair->value))
        return conf_error(line, pair, err, "a name of at most %zu letters, digits, '_', '-' and '.'",
                          sizeof(p->name) - 1);
    if (in_words(pair->value, reserved, COUNT(reserved)))
        return conf_error(line, pair, err, "the name has another meaning in --sync-guard=%s", pair->value);
    p = policy_take(l->config, pair->value);
    if (!p)
        return conf_error(line, pair, err, "at most %d policies", CONFIG_POLICIES_MAX);
    for (size_t i = 1; i < line->n; i++) {
        const struct key *key = key_find(policy_keys, COUNT(policy_keys), line->pairs[i].key);

        if (!key)
            return conf_error(line, &line->pairs[i], err, "unknown key; a policy has %s",
                              key_names(policy_keys, COUNT(policy_keys), names, sizeof(names)));
        if (seen[key - policy_keys])
            return conf_error(line, &line->pairs[i], err, "set twice on this line");
        seen[key - policy_keys] = true;
        if (store_pair(line, &line->pairs[i], key, p, err) < 0)
            return -1;
    }
    return 0;
}

static int load_pair(struct loading *l, const struct conf_line *line, const struct conf_pair *pair,
                     struct err *err)
{
    const struct key *key = key_find(config_keys, COUNT(config_keys), pair->key);
    char names[256];
    size_t i;

    if (!key && key_find(policy_keys, COUNT(policy_keys), pair->key))
        return conf_error(line, pair, err, "belongs to a policy: Policy=NAME %s=...", pair->key);
    if (!key)
        return conf_error(line, pair, err, "unknown key; there are %s, Policy, Include",
                          key_names(config_keys, COUNT(config_keys), names, sizeof(names)));
    i = (size_t)(key - config_keys);
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
    for (size_t i = 0; i < line->n; i++) {
        if (load_pair(l, line, &line->pairs[i], err) < 0)
            return -1;
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
    char names[256];

    if (strlen(from->name) >= sizeof(c->path))
        return err_set(err, "%.64s...: the path is too long", from->name);
    defaults(config_keys, COUNT(config_keys), c);
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
        return err_set(err, "%s: DefaultPolicy=%s: no such policy; there are %s", from->name,
                       c->default_policy, config_policy_names(c, names, sizeof(names)));
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

static void print_keys(FILE *out, const struct key *keys, size_t n)
{
    char accepted[160];

    for (size_t i = 0; i < n; i++) {
        fprintf(out, "  %s=\n      %s\n      %s", keys[i].name, keys[i].text,
                key_accepts(&keys[i], accepted, sizeof(accepted)));
        if (*keys[i].standard)
            fprintf(out, "; default %s", keys[i].standard);
        fputc('\n', out);
    }
}

void config_print_keys(FILE *out)
{
    fputs("Keys of the whole system:\n", out);
    print_keys(out, config_keys, COUNT(config_keys));
    fputs("\nKeys of a policy (Policy=NAME Key=Value ...):\n", out);
    print_keys(out, policy_keys, COUNT(policy_keys));
}
