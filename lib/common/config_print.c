/* config_print.c - the tables of syncguard.conf for people; apart from config.c, for guests print nothing. */
#include "common/config.h"
#include "common/text.h"

void config_print_keys(FILE *out, int columns)
{
    static const char *const titles[CONFIG_TABLES] = {
        "Keys of the whole system:",
        "Keys of a policy (Policy=NAME Key=Value ...):",
        "Keys of a selection, the first that fits a job gives it the policy (PolicyFor=NAME Key=Value ...):",
        "Keys of a rule (Rule=NAME Policy=NAME Key=Value ...):",
    };

    for (enum config_table t = CONFIG_SYSTEM; t < CONFIG_TABLES; t++) {
        if (t)
            fputc('\n', out);
        text_wrap(out, titles[t], 0, columns);
        key_print(out, config_keys(t), columns);
    }
}
