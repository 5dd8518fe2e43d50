/* run/process: the processes that sgrun starts, and how signals are treated in them. */
#include "run/process.h"

#include <signal.h>

#include "tests/tap.h"

#define ENDS_S 300 /* a limit that no program comes near */

/* -1: it could not be run, or has not ended. */
static int status_of(const char *script, bool service)
{
    const char *argv[] = { "/bin/bash", "-c", script, NULL };
    struct process_plan plan = { .argv = argv, .service = service };
    struct process p;
    struct err err = { "" };

    if (process_start(&p, &plan, &err) < 0 || !process_wait(&p, ENDS_S)) {
        tap_remark(err.text);
        return -1;
    }
    return process_exit_status(&p);
}

static void statuses(void)
{
    is_int(status_of("exit 7", false), 7, "a program's exit status is known");
    is_int(status_of("kill -KILL $$", false), 128 + SIGKILL, "so is the signal that ended it");
    signal(SIGCHLD, SIG_IGN);
    ok(status_of("exit 0", false) > 0, "a program whose exit status nobody can tell has failed");
}

static bool ignores(int sig, bool service)
{
    char script[128];

    snprintf(script, sizeof(script), "kill -%d $$; exit 7", sig);
    return status_of(script, service) == 7;
}

static void ignored(void)
{
    sigset_t set;

    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_IGN);
    process_inherit_signals();
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    is_int(status_of("exit 7", false), 7,
           "a program's exit status is known where sgrun was started with SIGCHLD ignored");
    ok(ignores(SIGHUP, false), "a signal that sgrun was started with as ignored is ignored in a program");
    ok(ignores(SIGPIPE, false), "so is SIGPIPE, although sgrun treats it in another way");
    ok(!ignores(SIGTERM, false), "a signal that sgrun blocks for itself is not blocked in a program");
    ok(!ignores(SIGHUP, true), "a service ignores nothing");
    ok(!ignores(SIGTERM, true), "a service blocks nothing");
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int main(void)
{
    statuses();
    ignored();
    return done_testing();
}
