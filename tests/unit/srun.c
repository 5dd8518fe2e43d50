/* What the doctor's steps tell srun, and how they end it: by itself, when it is told to, or by force. */
#include "doctor/srun.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tap.h"

#define LONG_S 60.0 /* nothing here takes as long */

static int told; /* where a child says that it was told to end */

static void on_term(int signal)
{
    (void)signal;
    if (write(told, "t", 1) == 1)
        _exit(0);
    _exit(1);
}

enum child { ENDS, OBEYS, IGNORES };

/* Whether it was told to end, when it is ended so. */
static bool is_told(enum child kind, double alone_s, double end_s)
{
    int ready[2], end[2];
    char letter;
    bool was;
    pid_t pid;

    if (pipe(ready) < 0 || pipe(end) < 0)
        abort();
    pid = fork();
    if (!pid) {
        told = end[1];
        signal(SIGTERM, kind == OBEYS ? on_term : SIG_IGN);
        if (write(ready[1], "r", 1) != 1 || kind == ENDS)
            _exit(0);
        for (;;)
            pause();
    }
    if (read(ready[0], &letter, 1) != 1)
        abort();
    srun_end(pid, alone_s, end_s);
    close(end[1]);
    was = read(end[0], &letter, 1) == 1;
    close(end[0]);
    close(ready[0]);
    close(ready[1]);
    return was;
}

static bool is_reaped(void)
{
    return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD;
}

int main(void)
{
    static const char *const nodes[] = { "n1", "gpu-20", "n3" };
    char *text = srun_nodelist(nodes, 3);

    is_str(text, "--nodelist=n1,gpu-20,n3", "a list of nodes as srun takes it");
    free(text);
    text = srun_nodelist(nodes, 1);
    is_str(text, "--nodelist=n1", "a list of one node has no comma");
    free(text);
    ok(!is_told(ENDS, LONG_S, LONG_S) && is_reaped(), "an srun that ends by itself is waited for");
    ok(is_told(OBEYS, 0, LONG_S) && is_reaped(), "an srun without time of its own is told to end");
    ok(is_told(OBEYS, 0.05, LONG_S) && is_reaped(), "an srun that does not end by itself is told to end");
    ok(!is_told(IGNORES, 0, 0.05) && is_reaped(), "an srun that does not end when told to is killed");
    return done_testing();
}
