/* key_print.c - tables of keys for people; apart from key.c, for guests print nothing. */
#include "common/key.h"
#include "common/text.h"

static const char *value_name(const struct value_type *t)
{
    return t->kind == VALUE_NAME ? "NAME" : t->kind == VALUE_WORD || t->kind == VALUE_SET ? "WORD" : "VALUE";
}

void key_print(FILE *out, const struct key *keys, int columns)
{
    char accepted[240], range[512];

    for (; keys->name; keys++) {
        const char *standard = keys->standard ? keys->standard : "";

        fprintf(out, "  %s=\n", keys->name);
        text_wrap(out, keys->text, 6, columns);
        snprintf(range, sizeof(range), "%s%s%s", key_accepts(keys, accepted, sizeof(accepted)),
                 !keys->standard ? "; required"
                 : *standard     ? "; default "
                                 : "",
                 standard);
        text_wrap(out, range, 6, columns);
    }
}

void key_mdoc(FILE *out, const struct key *keys)
{
    char accepted[240];

    fputs(".Bl -tag -width Ds\n", out);
    for (; keys->name; keys++) {
        fprintf(out, ".It Cm %s= Ns Ar %s\n", keys->name, value_name(&keys->type));
        text_mdoc(out, keys->text);
        key_accepts(keys, accepted, sizeof(accepted));
        if (keys->type.kind == VALUE_WORD)
            fprintf(out, "One of %s", accepted);
        else
            text_capital(out, accepted);
        if (!keys->standard)
            fputs("; required", out);
        else if (*keys->standard)
            fprintf(out, "; default: %s", keys->standard);
        fputs(".\n", out);
    }
    fputs(".El\n", out);
}
