/* syncguard-agent: see agent.h */
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

#include "agent/agent.h"
#include "agent/arguments.h"
#include "common/log.h"

/* A ring is a file: a node full of threads needs more of them than the usual limit. */
static void raise_file_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* A step may end before we are ready: the signal waits until agent_run() hears it. */
static void hold_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
}

int main(int argc, char **argv)
{
    struct options options;
    struct arguments arguments;
    struct agent *agent;
    struct err err;
    int rc;

    hold_signals();
    log_open("syncguard-agent", NULL, LOG_LEVEL_INFO, NULL);
    rc = options_start(&options, &agent_program, argc, argv);
    if (rc >= 0)
        return rc;
    if (agent_arguments_read(&arguments, &options, &err) < 0)
        return options_misuse(&options, &err);
    raise_file_limit();
    agent = agent_new(&arguments, &err);
    if (!agent) {
        log_error("%s", err.text);
        return 1;
    }
    agent_run(agent);
    agent_free(agent);
    return 0;
}
