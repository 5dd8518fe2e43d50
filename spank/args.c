#include "spank/args.h"

#include <string.h>
#include <strings.h>

#include "common/config_policy.h"
#include "common/value.h"
#include "spank/question.h"

/* Of a ring the order does not depend on the bytes; of others it hardly does. */
#define PATTERN_BYTES 1e8

static const char *value_of(const char *arg, const char *key)
{
    size_t len = strlen(key);

    return !strncasecmp(arg, key, len) && arg[len] == '=' ? arg + len + 1 : NULL;
}

static int parse_policy(struct choice *c, const char *text, struct err *err)
{
    static const struct {
        const char *word;
        enum choice_kind kind;
    } words[] = {
        { "", CHOICE_DEFAULT },    { "(null)", CHOICE_DEFAULT },  { "on", CHOICE_DEFAULT },
        { "yes", CHOICE_DEFAULT }, { "default", CHOICE_DEFAULT }, { "off", CHOICE_OFF },
        { "no", CHOICE_OFF },      { "none", CHOICE_OFF },        { "help", CHOICE_HELP },
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (!strcasecmp(text, words[i].word)) {
            c->kind = words[i].kind;
            return 0;
        }
    }
    if (strlen(text) >= sizeof(c->policy))
        return err_set(err, "%s", "");
    c->kind = CHOICE_POLICY;
    memcpy(c->policy, text, strlen(text) + 1);
    return 0;
}

/* ARGS_UNSAID: it is not one of them. */
static int parse_mode(const char *value)
{
    for (int i = 0; config_placements[i]; i++)
        if (!strcasecmp(value, config_placements[i]))
            return i;
    return ARGS_UNSAID;
}

static int take_mode(int *mode, const char *name, const char *value, struct err *err)
{
    *mode = parse_mode(value);
    return *mode == ARGS_UNSAID ? err_set(err, "%s=%.60s: off, advise and on are accepted", name, value) : 0;
}

static int parse_word(struct choice *c, const char *word, bool *named, struct err *err)
{
    const char *value;

    if (!strchr(word, '=')) {
        if (*named)
            return err_set(err, "one policy is accepted, and '%.60s' is a second one", word);
        *named = true;
        return parse_policy(c, word, err);
    }
    if ((value = value_of(word, "placement")))
        return take_mode(&c->placement, "placement", value, err);
    if ((value = value_of(word, "algorithm")))
        return take_mode(&c->algorithm, "algorithm", value, err);
    value = value_of(word, "groups") ? word : value_of(word, "pattern");
    if (value) {
        c->patterned = true;
        return pattern_parse(&c->pattern, value, err);
    }
    return err_set(err,
                   "unknown argument '%.60s'; known are placement=, algorithm=, pattern= and groups=", word);
}

int choice_parse(struct choice *c, const char *text, struct err *err)
{
    struct choice parsed = { .kind = CHOICE_DEFAULT,
                             .placement = ARGS_UNSAID,
                             .algorithm = ARGS_UNSAID,
                             .pattern = { .bytes = PATTERN_BYTES } };
    bool named = false;
    char word[128];

    for (text = text ? text : ""; *text; text += *text == ',') {
        size_t len = strcspn(text, ",");

        if (len >= sizeof(word))
            return err_set(err, "%s", "");
        memcpy(word, text, len);
        word[len] = '\0';
        text += len;
        if (*word && parse_word(&parsed, word, &named, err) < 0)
            return -1;
    }
    *c = parsed;
    return 0;
}

static bool take_path(char *path, size_t size, const char *value)
{
    if (*value != '/' || strlen(value) >= size)
        return false;
    memcpy(path, value, strlen(value) + 1);
    return true;
}

static bool take_default(struct choice *c, const char *value)
{
    struct choice parsed;

    if (!*value || choice_parse(&parsed, value, NULL) < 0 || parsed.kind == CHOICE_HELP)
        return false;
    *c = parsed;
    return true;
}

/* NAME:on|off|POLICY */
static bool take_partition(struct args *a, const char *value)
{
    const char *colon = strchr(value, ':');
    size_t len = colon ? (size_t)(colon - value) : 0, i;
    struct choice choice;

    if (len == 0 || len >= sizeof(a->partitions[0].name) || !take_default(&choice, colon + 1))
        return false;
    for (i = 0; i < a->n_partitions; i++) {
        if (strlen(a->partitions[i].name) == len && !strncmp(a->partitions[i].name, value, len))
            break;
    }
    if (i == ARGS_PARTITIONS_MAX)
        return false;
    memcpy(a->partitions[i].name, value, len);
    a->partitions[i].name[len] = '\0';
    a->partitions[i].choice = choice;
    if (i == a->n_partitions)
        a->n_partitions++;
    return true;
}

static bool take_site_mode(int *mode, const char *value)
{
    int parsed = parse_mode(value);

    if (parsed != ARGS_UNSAID)
        *mode = parsed;
    return parsed != ARGS_UNSAID;
}

static bool take_argument(struct args *a, const char *arg)
{
    static const struct value_type answer = VALUE_RANGE(VALUE_SECONDS, 0.01, 60);
    const char *value;

    if ((value = value_of(arg, "conf")))
        return take_path(a->conf, sizeof(a->conf), value);
    if ((value = value_of(arg, "agent")))
        return take_path(a->agent, sizeof(a->agent), value);
    if ((value = value_of(arg, "probe")))
        return take_path(a->probe, sizeof(a->probe), value);
    if ((value = value_of(arg, "topology")))
        return take_path(a->topology, sizeof(a->topology), value);
    if ((value = value_of(arg, "measured")))
        return take_path(a->measured, sizeof(a->measured), value);
    if ((value = value_of(arg, "answer")))
        return value_parse(&answer, value, &a->answer_s, NULL) == 0;
    if ((value = value_of(arg, "placement")))
        return take_site_mode(&a->placement, value);
    if ((value = value_of(arg, "algorithm")))
        return take_site_mode(&a->algorithm, value);
    if ((value = value_of(arg, "default")))
        return take_default(&a->standard, value);
    if ((value = value_of(arg, "partition")))
        return take_partition(a, value);
    return false;
}

const char *args_parse(struct args *a, int argc, char **argv)
{
    const char *unknown = NULL;

    memset(a, 0, sizeof(*a));
    a->placement = a->algorithm = ARGS_UNSAID;
    a->answer_s = QUESTION_LIMIT_S;
    choice_parse(&a->standard, "off", NULL);
    for (int i = 0; i < argc; i++) {
        if (argv[i] && !take_argument(a, argv[i]) && !unknown)
            unknown = argv[i];
    }
    return unknown;
}

struct choice args_default(const struct args *a, const char *partition)
{
    for (size_t i = 0; partition && i < a->n_partitions; i++) {
        if (!strcmp(a->partitions[i].name, partition))
            return a->partitions[i].choice;
    }
    return a->standard;
}
