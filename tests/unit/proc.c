/* Whether a process runs, also where this one has no descriptor left to look. */
#include "common/proc.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tap.h"

int main(void)
{
    struct rlimit usual, none;
    uint64_t started = proc_start(getpid()), theirs;
    pid_t child = fork();

    if (!child)
        for (;;)
            pause();
    theirs = proc_start(child);
    ok(started && theirs, "processes that run have started");
    ok(proc_alive(getpid(), started) && proc_alive(child, theirs), "they are alive");
    ok(!proc_alive(getpid(), started + 1), "one that has started at another time is not");

    getrlimit(RLIMIT_NOFILE, &usual);
    none = usual;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &none);
    ok(!proc_start(child) && errno == EMFILE, "nothing is known of it without a descriptor");
    ok(proc_alive(child, theirs), "which does not mean that it is gone");
    setrlimit(RLIMIT_NOFILE, &usual);

    kill(child, SIGKILL);
    waitid(P_PID, (id_t)child, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
    ok(!proc_start(child) && errno == ESRCH && !proc_alive(child, theirs), "a zombie does not run");
    waitpid(child, NULL, 0);
    ok(!proc_start(child) && errno == ESRCH && !proc_alive(child, theirs), "nor does one that is gone");
    return done_testing();
}
