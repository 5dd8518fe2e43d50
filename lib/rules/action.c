#include "rules/action.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SIGNAL_MAX 64

const struct action_type action_table[ACTION_KINDS] = {
    [ACTION_SIGNAL] = { "signal", ACTION_ON_JOB, 0, 0, 0, "send a signal to the guarded step", "send",
                        "sent" },
    [ACTION_CHECKPOINT] = { "checkpoint", ACTION_ON_JOB, 0, 0, 0, "ask the job to write a checkpoint now",
                            "ask for a checkpoint", "asked for a checkpoint" },
    [ACTION_REQUEUE] = { "requeue", ACTION_ON_JOB, 0, 1, 0, "end this run and start the job again",
                         "requeue the job", "requeued the job" },
    [ACTION_EXCLUDE] = { "exclude", ACTION_ON_JOB, 1, 1, 0, "requeue the job and keep it off the nodes",
                         "exclude", "excluded" },
    [ACTION_NODE_COMMENT] = { "node_comment", ACTION_ON_NODES, 1, 0, 0, "put a comment on the nodes",
                              "comment on", "commented on" },
    [ACTION_DRAIN] = { "drain", ACTION_ON_NODES, 1, 0, 0, "drain the nodes: nothing new starts there",
                       "drain", "drained" },
    [ACTION_JOB_COMMENT] = { "job_comment", ACTION_ON_JOB, 0, 0, 0, "put a comment on the job",
                             "comment on the job", "commented on the job" },
    [ACTION_WEBHOOK] = { "webhook", ACTION_ON_NOBODY, 0, 0, 0, "notify the configured URL",
                         "call the webhook", "called the webhook" },
    [ACTION_COMMAND] = { "command", ACTION_ON_NOBODY, 0, 0, 0, "run the configured command",
                         "run the command", "ran the command" },
    [ACTION_RESUME] = { "resume", ACTION_ON_NODES, 1, 0, 1, "resume drained nodes", "resume", "resumed" },
};

const char *action_name(enum action_kind kind)
{
    return action_table[kind].name;
}

static int same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++) {
        char c = *b == '-' ? '_' : *b;

        if (strncasecmp(a, &c, 1) != 0)
            return 0;
    }
    return *a == *b;
}

int action_parse(const char *name)
{
    for (int k = 0; k < ACTION_KINDS; k++)
        if (same_name(action_table[k].name, name))
            return k;
    return -1;
}

char *action_names(bool by_hand, char *buf, size_t size)
{
    size_t at = 0;

    if (size > 0)
        buf[0] = '\0';
    for (int k = 0; k < ACTION_KINDS && at < size; k++)
        if (by_hand || !action_table[k].by_hand_only)
            at += (size_t)snprintf(buf + at, size - at, "%s%s", at ? ", " : "", action_table[k].name);
    return buf;
}

int action_signal_parse(const char *name)
{
    char *end;
    long n = strtol(name, &end, 10);

    if (end != name)
        return *name >= '0' && *name <= '9' && !*end && n >= 1 && n <= SIGNAL_MAX ? (int)n : -1;
    if (!strncasecmp(name, "SIG", 3))
        name += 3;
    for (int s = 1; s <= SIGNAL_MAX; s++)
        if (*action_signal_name(s) && !strcasecmp(action_signal_name(s), name))
            return s;
    return -1;
}

bool action_signal_wants_handler(int number)
{
    static const int others[] = { SIGKILL, SIGTERM, SIGINT,  SIGQUIT, SIGSTOP,  SIGTSTP,
                                  SIGTTIN, SIGTTOU, SIGCONT, SIGCHLD, SIGWINCH, SIGURG };

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (number == others[i])
            return false;
    return true;
}

const char *action_signal_name(int number)
{
    const char *name = number >= 1 && number <= SIGNAL_MAX ? sigabbrev_np(number) : NULL;

    return name ? name : "";
}
