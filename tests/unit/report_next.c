/* The command that is printed under a verdict: one that sgctl has, and that can be carried out. */
#include "report/report_next.h"

#include <math.h>
#include <string.h>

#include "ctl/commands.h"
#include "detect/finding.h"
#include "tests/tap.h"

#define WORDS_MAX 16

static const struct report_next_job usual = { .id = "12.0", .nodes_per_hour = 2, .nodes_at_once = 1 };
static const struct report_next_job ended = {
    .id = "12.0", .ended = true, .nodes_per_hour = 2, .nodes_at_once = 1
};
static const struct report_next_job stays = {
    .id = "12.0", .no_requeue = true, .nodes_per_hour = 2, .nodes_at_once = 1
};
static const struct report_next_job spared = { .id = "12.0", .nodes_per_hour = 0, .nodes_at_once = 1 };

static struct report_verdict verdict_of(const char *class, const char *scope, char **culprit, size_t n)
{
    struct report_verdict v = { .standing = true, .culprits = { .n = n, .text = culprit } };

    snprintf(v.class, sizeof(v.class), "%s", class);
    snprintf(v.scope, sizeof(v.scope), "%s", scope);
    return v;
}

static void check_choice(void)
{
    char node3[] = "node3", node4[] = "node4", worse[] = "node3;reboot", r9[] = "r9";
    char *one[] = { node3 }, *two[] = { node3, node4 }, *bad[] = { worse }, *rank[] = { r9 };
    const struct {
        const char *class, *scope;
        char **culprit;
        size_t n;
        const struct report_next_job *job;
        const char *want, *what;
    } cases[] = {
        { "straggler", "node", one, 1, &usual, "sgctl action 12.0 exclude node3", "a slow node" },
        { "drift", "node", one, 1, &usual, "sgctl action 12.0 exclude node3", "a node that becomes slower" },
        { "straggler", "node", one, 1, &stays, "sgctl node node3 drain slow in job 12.0",
          "a slow node of a job that cannot be requeued" },
        { "straggler", "node", one, 1, &ended, "sgctl lemons", "a slow node of a job that has ended" },
        { "straggler", "node", one, 1, &spared, "sgctl node node3 drain slow in job 12.0",
          "a slow node of a job whose policy takes no nodes" },
        { "straggler", "node", two, 2, &usual, "sgctl node node3,node4 drain slow in job 12.0",
          "more slow nodes than the policy takes at once" },
        { "straggler", "node", bad, 1, &usual, "sgctl lemons", "a node whose name is no word for a shell" },
        { "straggler", "rank", rank, 1, &usual, "sgctl step 12.0", "a slow rank" },
        { "straggler", "rank", rank, 1, &ended, "", "a slow rank of a job that has ended" },
        { "hang", "rank", rank, 1, &usual, "sgctl action 12.0 requeue", "a hang" },
        { "hang", "rank", rank, 1, &stays, "sgctl doctor --cluster",
          "a hang of a job that cannot be requeued" },
        { "lost", "node", one, 1, &usual, "sgctl doctor --cluster", "a lost node" },
        { "communication", "link", one, 1, &usual, "sgctl doctor --cluster --probe", "a slow link" },
        { "another", "node", one, 1, &usual, "", "a class that is not known" },
    };
    char text[400];

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct report_verdict v = verdict_of(cases[i].class, cases[i].scope, cases[i].culprit, cases[i].n);

        is_str(report_next(text, sizeof(text), cases[i].job, &v), cases[i].want, "the next command about %s",
               cases[i].what);
        v.standing = false;
        if (!cases[i].job->ended)
            is_str(report_next(text, sizeof(text), cases[i].job, &v), "", "none once it is over: %s",
                   cases[i].what);
    }
}

static bool sgctl_has(const char *line, struct err *err)
{
    static char copy[400], *argv[WORDS_MAX + 1];
    struct options o;
    int argc = 0;

    snprintf(copy, sizeof(copy), "%s", line);
    for (char *word = strtok(copy, " "); word && argc < WORDS_MAX; word = strtok(NULL, " "))
        argv[argc++] = word;
    return !strcmp(argv[0], "sgctl") && options_parse(&o, &sgctl_program, argc, argv, err) == 0;
}

/* Of each class, each scope and each kind of job. */
static void check_commands(void)
{
    static const struct report_next_job *const jobs[] = { &usual, &ended, &stays, &spared };
    static const char *const scopes[] = { "none", "rank", "node", "switch", "link", "ranks" };
    char name[] = "node3", *names[] = { name }, text[400], lines[4096] = "";
    size_t none = 0;

    for (enum finding_class c = 0; c < FINDING_CLASSES; c++) {
        size_t some = 0;

        for (size_t s = 0; s < ARRAY_SIZE(scopes); s++)
            for (size_t j = 0; j < ARRAY_SIZE(jobs); j++) {
                struct report_verdict v = verdict_of(finding_class_name(c), scopes[s], names, 1);
                struct err err = { "" };

                report_next(text, sizeof(text), jobs[j], &v);
                some += *text != '\0';
                if (!*text || strstr(lines, text))
                    continue;
                ok(sgctl_has(text, &err), "sgctl accepts: %s%s%s", text, *err.text ? ": " : "", err.text);
                snprintf(lines + strlen(lines), sizeof(lines) - strlen(lines), "%s\n", text);
            }
        none += !some;
    }
    is_int((long)none, 0, "each class of verdicts has a command");
}

int main(void)
{
    check_choice();
    check_commands();
    return done_testing();
}
