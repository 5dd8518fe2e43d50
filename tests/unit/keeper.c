/* The keeper, forked while another thread of its process is inside the C library. */
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spank/keeper.h"
#include "tests/tap.h"

#define LIMIT_MS 60000

extern char **environ;
static char begun[64], go_on[64];

/* A program that opens two FIFOs before it runs: until then posix_spawn() has not returned, and holds its
 * locks. */
static void *start_program(void *unused)
{
    static char path[] = "/bin/true";
    static char *const argv[] = { path, NULL };
    posix_spawn_file_actions_t actions;
    pid_t pid;

    (void)unused;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, begun, O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 0, go_on, O_RDONLY, 0);
    if (posix_spawn(&pid, path, &actions, NULL, argv, environ) == 0)
        waitpid(pid, NULL, 0);
    posix_spawn_file_actions_destroy(&actions);
    return NULL;
}

int main(void)
{
    char base[] = "/tmp/keeper-test.XXXXXX", dir[64];
    struct keeper_plan plan = { .dir = dir, .uid = getuid(), .gid = getgid() };
    pthread_t thread;
    int begins, goes_on, keeper;

    if (!mkdtemp(base))
        return skip_all("no temporary directory");
    snprintf(dir, sizeof(dir), "%s/step", base);
    snprintf(begun, sizeof(begun), "%s/begun", base);
    snprintf(go_on, sizeof(go_on), "%s/go-on", base);
    if (mkdir(dir, 0700) < 0 || mkfifo(begun, 0600) < 0 || mkfifo(go_on, 0600) < 0 ||
        pthread_create(&thread, NULL, start_program, NULL))
        return 99;
    begins = open(begun, O_RDONLY); /* returns when the program opens it, too */
    keeper = keeper_start(&plan);
    ok(keeper >= 0 && keeper_wait(keeper, LIMIT_MS, LIMIT_MS),
       "a keeper that is forked while another thread starts a program finishes");
    ok(access(dir, F_OK) < 0, "a keeper without an agent removes the step's directory");
    goes_on = open(go_on, O_WRONLY);
    pthread_join(thread, NULL);
    close(begins);
    close(goes_on);
    close(keeper);
    unlink(begun);
    unlink(go_on);
    rmdir(base);
    return done_testing();
}
