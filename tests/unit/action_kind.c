/* The names of actions and signals. */
#include <signal.h>
#include <string.h>

#include "rules/action.h"
#include "tests/tap.h"

static void check_names(void)
{
    char names[256];

    for (int k = 0; k < ACTION_KINDS; k++) {
        ok(action_parse(action_name(k)) == k, "action_parse() finds action %s by its name", action_name(k));
        ok(*action_table[k].text, "%s: %s", action_name(k), action_table[k].text);
    }
    ok(action_parse("Node-Comment") == ACTION_NODE_COMMENT,
       "names of actions ignore case, and - is the same as _");
    ok(action_parse("") < 0 && action_parse("drai") < 0 && action_parse("drains") < 0 &&
           action_parse("d") < 0,
       "an incomplete name of an action is not found");
    ok(!strncmp(action_names(true, names, sizeof(names)), "signal, checkpoint, ", 20),
       "the list of actions is %s", names);
    ok(!strcmp(action_names(true, names, 4), "sig"), "the list of actions is cut to its buffer");
}

static void check_scopes(void)
{
    ok(action_table[ACTION_DRAIN].scope == ACTION_ON_NODES &&
           action_table[ACTION_NODE_COMMENT].scope == ACTION_ON_NODES,
       "actions on nodes have the scope of nodes");
    ok(action_table[ACTION_RESUME].scope == ACTION_ON_NODES && action_table[ACTION_RESUME].by_hand_only &&
           !action_table[ACTION_DRAIN].by_hand_only,
       "only resume is for users alone");
    ok(action_table[ACTION_EXCLUDE].scope == ACTION_ON_JOB && action_table[ACTION_EXCLUDE].wants_nodes &&
           action_table[ACTION_EXCLUDE].ends_run,
       "exclude needs nodes, changes the job and ends its run");
    ok(!action_table[ACTION_SIGNAL].ends_run && !action_table[ACTION_REQUEUE].wants_nodes,
       "a signal does not end the run, requeue needs no nodes");
}

static void check_signals(void)
{
    static const struct {
        const char *text;
        int want;
    } cases[] = {
        { "USR1", SIGUSR1 }, { "sigusr2", SIGUSR2 }, { "10", 10 }, { "64", 64 },        { "0", -1 },
        { "65", -1 },        { "-9", -1 },           { "+9", -1 }, { " 9", -1 },        { "", -1 },
        { "SIG", -1 },       { "USR", -1 },          { "9 ", -1 }, { "TERM", SIGTERM }, { "USR11", -1 },
        { "9x", -1 },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        ok(action_signal_parse(cases[i].text) == cases[i].want, "signal \"%s\"", cases[i].text);
    ok(!strcmp(action_signal_name(SIGUSR1), "USR1") && !*action_signal_name(0) && !*action_signal_name(1000),
       "signals are found by name and number");
}

int main(void)
{
    check_names();
    check_scopes();
    check_signals();
    return done_testing();
}
