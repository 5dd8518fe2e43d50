/* control_command.c - the commands of `sgctl policy`: parameters that users set, pauses, acknowledgements. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/log.h"
#include "common/xalloc.h"
#include "daemon/control_private.h"
#include "daemon/controller.h"
#include "daemon/peer.h"

#define WORDS_MAX   32u
#define COMMAND_MAX 700

/* ---- parameters ---- */

/* Limits that protect other users, which only an operator may change. */
static bool operators_only(const struct key *key)
{
    static const char *const names[] = { "ActionsPerHour", "NodesPerHour", "NodesAtOnce" };

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (!strcmp(key->name, names[i]))
            return true;
    return false;
}

void control_params_apply(struct control *c)
{
    const struct key *keys = config_keys(CONFIG_POLICY);
    struct config_policy p = c->config;

    for (size_t i = 0; keys[i].name; i++)
        if (c->override[i])
            key_store(&keys[i], &p, c->override[i], NULL);
    if (job_unconfirmed(c->job))
        p.action = CONFIG_DRYRUN;
    job_policy_set(c->job, &p);
}

struct change {
    size_t key;
    const char *value; /* NULL: the policy's value */
};

/* Parse "Key=Value", and check that the user may change this key. */
static int change_parse(const struct control *c, const char *word, bool trusted, struct change *change,
                        struct err *err)
{
    const char *equal = strchr(word, '=');
    struct config_policy scratch = { 0 };
    const struct key *keys = config_keys(CONFIG_POLICY), *key;
    char name[64], names[400];

    if (!equal || equal == word || (size_t)(equal - word) >= sizeof(name) || strpbrk(word, " \t\n"))
        return err_set(err, "'%.80s': expected Key=Value without blanks", word);
    snprintf(name, sizeof(name), "%.*s", (int)(equal - word), word);
    key = key_find(keys, name);
    if (!key || !strcmp(key->name, "Description"))
        return err_set(err, "unknown parameter '%s': expected one of %s", name,
                       key_names(keys + 1, names, sizeof(names)));
    if (operators_only(key) && !trusted)
        return err_set(err, "%s: only operators may set it", key->name);
    *change = (struct change){ (size_t)(key - keys), strcasecmp(equal + 1, "default") ? equal + 1 : NULL };
    if (change->value && key_store(key, &scratch, change->value, err) < 0)
        return err_prefix(err, "%s=%.80s", key->name, change->value);
    return c->fixed[change->key] && !trusted
               ? err_set(err, "%s: an operator has set it for this run", key->name)
               : 0;
}

/* Parse all words. -1 with a reason if one is invalid or not allowed. */
static int changes_parse(const struct control *c, const char *const *word, size_t n, bool trusted,
                         struct change change[WORDS_MAX], struct err *err)
{
    if (n == 0 || n > WORDS_MAX)
        return err_set(err, "expected Key=Value, 1 to %u times", WORDS_MAX);
    for (size_t i = 0; i < n; i++) {
        if (change_parse(c, word[i], trusted, &change[i], err) < 0)
            return -1;
        for (size_t k = 0; k < i; k++)
            if (change[k].key == change[i].key)
                return err_set(err, "'%.80s': set twice", word[i]);
    }
    return 0;
}

static void changes_make(struct control *c, const struct change *change, size_t n, bool trusted)
{
    const struct key *keys = config_keys(CONFIG_POLICY);

    for (size_t i = 0; i < n; i++) {
        free(c->override[change[i].key]);
        c->override[change[i].key] = xstrdup(change[i].value);
        c->fixed[change[i].key] = change[i].value && trusted;
        if (!strcmp(keys[change[i].key].name, "Action"))
            c->owner_enforces = change[i].value && !trusted;
    }
    control_params_apply(c);
}

/* ---- commands ---- */

static int record_command(struct controls *cs, struct control *c, uid_t by, double now_s, const char *text,
                          struct err *err)
{
    struct audit_entry e;

    control_fill(&e, c);
    e.command = true;
    e.by = by;
    snprintf(e.d.sentence, sizeof(e.d.sentence), "%s", text);
    if (audit_add(cs->controller->audit, &e, err) < 0)
        return -1;
    job_event(c->job, now_s, "policy: %s, by uid %u", text, (unsigned)by);
    log_info("job %s: policy: %s, by uid %u", c->job->text_id, text, (unsigned)by);
    return 0;
}

int controls_set(struct controls *cs, struct job *j, const json_t *words, uid_t by, double now_s,
                 struct err *err)
{
    bool trusted = operators_has(&cs->controller->operators, by);
    struct change change[WORDS_MAX];
    char text[COMMAND_MAX] = "set";
    size_t at = strlen(text), n = json_array_size(words);
    const char *word[WORDS_MAX];

    for (size_t i = 0; i < n && i < WORDS_MAX; i++)
        word[i] = json_is_string(json_array_get(words, i)) ? json_string_value(json_array_get(words, i)) : "";
    if (changes_parse(j->control, word, n, trusted, change, err) < 0)
        return -1;
    if (job_unconfirmed(j))
        return err_set(err, "job %s is unconfirmed: %s", j->text_id, job_unconfirmed(j));
    for (size_t i = 0; i < n; i++) {
        at += (size_t)snprintf(text + at, sizeof(text) - at, " %s", word[i]);
        if (at >= sizeof(text))
            return err_set(err, "too long: at most %d characters at once", COMMAND_MAX - 1);
    }
    if (record_command(cs, j->control, by, now_s, text, err) < 0)
        return -1;
    changes_make(j->control, change, n, trusted);
    peers_instruct(cs->controller, j);
    return 0;
}

int controls_pause(struct controls *cs, struct job *j, bool pause, uid_t by, double now_s, struct err *err)
{
    struct control *c = j->control;
    bool trusted = operators_has(&cs->controller->operators, by);

    if (c->paused == pause && (!trusted || c->paused_by_operator == pause))
        return 0;
    if (c->paused_by_operator && !trusted)
        return err_set(err, "an operator has paused the policy of job %s", j->text_id);
    if (record_command(cs, c, by, now_s, pause ? "pause" : "resume", err) < 0)
        return -1;
    c->paused = pause;
    c->paused_by_operator = pause && trusted;
    return 0;
}

int controls_acknowledge(struct controls *cs, struct job *j, uid_t by, double now_s, struct err *err)
{
    char text[COMMAND_MAX] = "acknowledge ";
    size_t at = strlen(text);

    if (!job_unacknowledged(j, text + at, sizeof(text) - at))
        return 0;
    if (record_command(cs, j->control, by, now_s, text, err) < 0)
        return -1;
    job_acknowledge(j);
    return 0;
}

/* ---- after a restart ---- */

void control_command_restore(struct control *c, const char *text, bool trusted, double now_s)
{
    char copy[COMMAND_MAX], *rest = copy, *word;
    const char *key[WORDS_MAX + 1]; /* one more than allowed, to detect too many */
    struct change change[WORDS_MAX];
    size_t n = 0;

    snprintf(copy, sizeof(copy), "%s", text);
    word = strsep(&rest, " ");
    while (rest && n < ARRAY_SIZE(key))
        key[n++] = strsep(&rest, " ");
    if (!strcmp(word, "set")) {
        if (changes_parse(c, key, n, trusted, change, NULL) == 0) /* ignore a key that no longer exists */
            changes_make(c, change, n, trusted);
    } else if (!strcmp(word, "pause") || !strcmp(word, "resume")) {
        c->paused = !strcmp(word, "pause");
        c->paused_by_operator = c->paused && trusted;
    } else if (!strcmp(word, "acknowledge")) {
        text += strlen(word);
        job_acknowledge_again(c->job, text + strspn(text, " "), now_s);
    }
}
