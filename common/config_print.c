/* config_print.c - the tables of syncguard.conf for people; apart from config.c, for guests print nothing. */
#include "common/config.h"

void config_print_keys(FILE *out)
{
    static const char *const titles[CONFIG_TABLES] = {
        "Keys of the whole system:",
        "Keys of a policy (Policy=NAME Key=Value ...):",
        "Keys of a selection, the first that fits a job gives it the policy (PolicyFor=NAME Key=Value ...):",
        "Keys of a rule (Rule=NAME Policy=NAME Key=Value ...):",
    };

    for (enum config_table t = CONFIG_SYSTEM; t < CONFIG_TABLES; t++) {
        fprintf(out, "%s%s\n", t ? "\n" : "", titles[t]);
        key_print(out, config_keys(t));
    }
}
