#include "spank/args.h"

#include <string.h>
#include <strings.h>

bool choice_parse(struct choice *c, const char *text)
{
    static const struct {
        const char *word;
        enum choice_kind kind;
    } words[] = {
        { "", CHOICE_DEFAULT },    { "(null)", CHOICE_DEFAULT },  { "on", CHOICE_DEFAULT },
        { "yes", CHOICE_DEFAULT }, { "default", CHOICE_DEFAULT }, { "off", CHOICE_OFF },
        { "no", CHOICE_OFF },      { "none", CHOICE_OFF },        { "help", CHOICE_HELP },
    };

    if (!text)
        text = "";
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (!strcasecmp(text, words[i].word)) {
            *c = (struct choice){ .kind = words[i].kind };
            return true;
        }
    }
    if (strlen(text) >= sizeof(c->policy))
        return false;
    *c = (struct choice){ .kind = CHOICE_POLICY };
    memcpy(c->policy, text, strlen(text) + 1);
    return true;
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

    if (!*value || !choice_parse(&parsed, value) || parsed.kind == CHOICE_HELP)
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

static const char *value_of(const char *arg, const char *key)
{
    size_t len = strlen(key);

    return !strncasecmp(arg, key, len) && arg[len] == '=' ? arg + len + 1 : NULL;
}

static bool take(struct args *a, const char *arg)
{
    const char *value;

    if ((value = value_of(arg, "conf")))
        return take_path(a->conf, sizeof(a->conf), value);
    if ((value = value_of(arg, "agent")))
        return take_path(a->agent, sizeof(a->agent), value);
    if ((value = value_of(arg, "probe")))
        return take_path(a->probe, sizeof(a->probe), value);
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
    for (int i = 0; i < argc; i++) {
        if (argv[i] && !take(a, argv[i]) && !unknown)
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
