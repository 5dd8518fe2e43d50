/* sgctl_config.c - the commands about syncguard.conf: its keys, the figures of its rules, and whether a file
 * is accepted. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "ctl/commands.h"
#include "ctl/pager.h"
#include "ctl/sgctl.h"
#include "rules/rule.h"

/* As the manual page has them. */
static void print_actions(FILE *out)
{
    fputs(".Bl -tag -width Ds\n", out);
    for (int k = 0; k < ACTION_KINDS; k++) {
        const char *text = action_table[k].text;

        if (action_table[k].by_hand_only)
            continue;
        fprintf(out, ".It Cm %s\n%c%s%s.\n", action_name((enum action_kind)k), toupper((unsigned char)*text),
                text + 1,
                action_table[k].scope == ACTION_ON_NODES
                    ? "; only recorded if the job's owner set Action=enforce without being an operator"
                    : "");
    }
    fputs(".El\n", out);
}

/* As the controller would read it, the rules too. */
int run_check(const struct options *o)
{
    struct config *c = xcalloc(1, sizeof(*c));
    struct ruleset *rules = NULL;
    const char *path = o->operands[0];
    char names[1024];
    struct err err;
    int rc = OK;

    if (config_load(c, path, &err) < 0 || !(rules = ruleset_new(c, &err)))
        rc = complain(FAILED, &err);
    else if (o->command->id == COMMAND_CONFIG_CHECK)
        printf("%s is fine: controller %s, policies %s\n", path, c->controller,
               config_policy_names(c, names, sizeof(names)));
    else
        printf("%s is fine: policies %s; %zu rule%s, %zu selection%s\n", path,
               config_policy_names(c, names, sizeof(names)), c->n_rules, text_plural((int64_t)c->n_rules),
               c->n_selections, text_plural((int64_t)c->n_selections));
    ruleset_free(rules);
    free(c);
    return rc;
}

int run_config(const struct options *o)
{
    const char *table = options_text(o, "mdoc");
    struct pager pager;

    if (table) {
        for (enum config_table t = CONFIG_SYSTEM; t < CONFIG_TABLES; t++)
            if (!strcmp(table, config_table_name(t)))
                key_mdoc(stdout, config_keys(t));
        if (!strcmp(table, "figure"))
            figures_mdoc(stdout);
        else if (!strcmp(table, "action"))
            print_actions(stdout);
        return OK;
    }
    pager_begin(&pager);
    config_print_keys(pager.out, pager_columns());
    pager_end(&pager);
    return OK;
}

int run_figures(const struct options *o)
{
    struct pager pager;

    (void)o;
    pager_begin(&pager);
    figures_print(pager.out, pager_columns());
    pager_end(&pager);
    return OK;
}
