/* syncguard-agent: see agent.h */
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/arguments.h"
#include "agent/shield.h"
#include "common/log.h"
#include "wire/identity.h"

/* The step's credential, which the plugin's keeper had made as root.  NULL: the controller cannot confirm the
 * step. */
static struct identity *take_identity(struct agent_arguments *a)
{
    struct identity *identity;
    struct err err;

    if (a->identity_fd < 0)
        return NULL;
    identity = identity_load(a->identity_fd, &err);
    close(a->identity_fd);
    if (!identity)
        a->unconfirmed = err;
    return identity;
}

int main(int argc, char **argv)
{
    struct identity *identity;
    struct options options;
    struct agent_arguments arguments;
    struct agent *agent;
    struct rlimit files;
    sigset_t set;
    struct err err;
    int rc;

    shield_raise();
    /* The step may end before the agent is ready: block the signals until agent_run() handles them. */
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    log_open("syncguard-agent", NULL, LOG_LEVEL_INFO, NULL);
    rc = options_start(&options, &agent_program, argc, argv);
    if (rc >= 0)
        return rc;
    if (agent_arguments_read(&arguments, &options, &err) < 0)
        return options_misuse(&options, &err);
    /* Each ring is an open file; a node with many threads needs more than the usual limit. */
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    arguments.end.identity = identity = take_identity(&arguments);
    agent = agent_new(&arguments, &err);
    if (!agent) {
        log_error("%s", err.text);
        return 1;
    }
    if (shield_filter(&err) < 0)
        log_warn("%s; running without it", err.text);
    agent_run(agent);
    agent_free(agent);
    identity_free(identity);
    return 0;
}
