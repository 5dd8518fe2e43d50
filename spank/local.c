#include "spank/local.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <slurm/spank.h>

#include "spank/launch.h"
#include "spank/settings.h"

static void print_help(const struct config *c, const char *trouble)
{
    printf("Policies of --sync-guard[=POLICY]:\n");
    for (size_t i = 0; i < c->n_policies; i++) {
        const struct config_policy *p = &c->policies[i];

        printf("  %-16s %s%s\n", p->name, p->text,
               !strcasecmp(p->name, c->default_policy) ? "  [default]" : "");
    }
    printf("  %-16s %s\n  %-16s %s\n", "off", "Do not guard this job.", "help", "Print this.");
    if (*trouble)
        printf("These are the built-in policies: %s\n", trouble);
}

static int refuse_policy(const struct config *c, const char *text)
{
    char names[1024];

    slurm_error("--sync-guard=%s: unknown policy; known are %s, off (--sync-guard=help describes them)", text,
                config_policy_names(c, names, sizeof(names)));
    return -1;
}

void local_default(const struct args *args, const char *partition)
{
    struct choice choice = args_default(args, partition);
    struct config *c = choice.kind == CHOICE_OFF ? NULL : calloc(1, sizeof(*c));

    if (!c)
        return;
    settings_load(c, args, NULL);
    launch_place(args, &choice, settings_policy(c, &choice));
    free(c);
}

int local_option(const struct args *args, const char *text, bool launches, struct choice *choice)
{
    struct config *c = calloc(1, sizeof(*c));
    struct err err = { "" }, wrong = { "" };
    bool loaded;
    int rc = 0;

    if (!c)
        return 0; /* srun is about to fail by itself */
    loaded = settings_load(c, args, &err) == 0;
    if (choice_parse(choice, text, &wrong) < 0) {
        rc = -1;
        if (*wrong.text)
            slurm_error("--sync-guard=%s: %s", text, wrong.text);
        else
            refuse_policy(c, text);
    } else if (choice->kind == CHOICE_HELP) {
        print_help(c, err.text);
        free(c);
        fflush(stdout);
        exit(0);
    } else if (choice->kind != CHOICE_OFF && !settings_policy(c, choice)) {
        if (loaded)
            rc = refuse_policy(c, text);
        else /* only the nodes can check it */
            slurm_spank_log(
                "sync-guard: cannot check policy %s (%s); the job runs unguarded on nodes that do not know it",
                choice->policy, err.text);
    }
    if (rc == 0 && launches)
        launch_place(args, choice, settings_policy(c, choice));
    free(c);
    return rc;
}
