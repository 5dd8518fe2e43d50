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
        ok(*action_text(k), "%s: %s", action_name(k), action_text(k));
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
    ok(action_scope(ACTION_DRAIN) == ACTION_ON_NODES && action_scope(ACTION_NODE_COMMENT) == ACTION_ON_NODES,
       "actions on nodes have the scope of nodes");
    ok(action_scope(ACTION_RESUME) == ACTION_ON_NODES && action_by_hand_only(ACTION_RESUME) &&
           !action_by_hand_only(ACTION_DRAIN),
       "only resume is for users alone");
    ok(action_scope(ACTION_EXCLUDE) == ACTION_ON_JOB && action_wants_nodes(ACTION_EXCLUDE) &&
           action_ends_run(ACTION_EXCLUDE),
       "exclude needs nodes, changes the job and ends its run");
    ok(!action_ends_run(ACTION_SIGNAL) && !action_wants_nodes(ACTION_REQUEUE),
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
