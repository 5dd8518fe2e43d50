/* config_print.c - the tables of keys for people; apart, for guests print nothing. */
#include <ctype.h>
#include <string.h>

#include "common/config.h"
#include "common/text.h"

void config_key_print(FILE *out, const struct config_key *keys, size_t n)
{
    char accepted[160];

    for (size_t i = 0; i < n; i++) {
        fprintf(out, "  %s=\n      %s\n      %s", keys[i].name, keys[i].text,
                config_key_accepts(&keys[i], accepted, sizeof(accepted)));
        if (*keys[i].standard)
            fprintf(out, "; default %s", keys[i].standard);
        fputc('\n', out);
    }
}

void config_key_mdoc(FILE *out, const struct config_key *keys, size_t n)
{
    char accepted[160];

    fputs(".Bl -tag -width Ds\n", out);
    for (size_t i = 0; i < n; i++) {
        fprintf(out, ".It Cm %s=\n", keys[i].name);
        text_mdoc(out, keys[i].text);
        config_key_accepts(&keys[i], accepted, sizeof(accepted));
        accepted[0] = (char)toupper((unsigned char)accepted[0]);
        fputs(accepted, out);
        if (*keys[i].standard)
            fprintf(out, "; default: %s", keys[i].standard);
        fputs(".\n", out);
    }
    fputs(".El\n", out);
}

void config_print_keys(FILE *out)
{
    static const char *const titles[CONFIG_TABLES] = {
        "Keys of the whole system:",
        "Keys of a policy (Policy=NAME Key=Value ...):",
        "Keys of a selection, the first that fits a job gives it the policy (PolicyFor=NAME Key=Value ...):",
        "Keys of a rule (Rule=NAME Policy=NAME Key=Value ...):",
    };

    for (enum config_table t = CONFIG_SYSTEM; t < CONFIG_TABLES; t++) {
        size_t n;
        const struct config_key *keys = config_keys(t, &n);

        fprintf(out, "%s%s\n", t ? "\n" : "", titles[t]);
        config_key_print(out, keys, n);
    }
}
