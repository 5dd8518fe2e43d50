#include "ctl/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/now.h"
#include "common/xalloc.h"

extern char **environ;

/* in -1: /dev/null. */
static int start(const char *const *argv, pid_t *pid, int in)
{
    posix_spawn_file_actions_t files;
    int ends[2], rc;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    posix_spawn_file_actions_init(&files);
    if (in < 0)
        posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    else
        posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, ends[1], STDERR_FILENO);
    rc = posix_spawnp(pid, argv[0], &files, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    if (rc == 0)
        return ends[0];
    close(ends[0]);
    errno = rc;
    return -1;
}

int tool_start(const char *const *argv, pid_t *pid)
{
    return start(argv, pid, -1);
}

int tool_talk(const char *const *argv, pid_t *pid, int *to)
{
    int ends[2], fd;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    fd = start(argv, pid, ends[0]);
    close(ends[0]);
    *to = ends[1];
    if (fd < 0) {
        close(ends[1]);
        *to = -1;
    }
    return fd;
}

char *tool_run(const char *const *argv, double limit_s, size_t max, struct err *err)
{
    double until_s = now_s() + limit_s;
    struct pollfd p = { .events = POLLIN };
    size_t room = 65536, used = 0;
    char *text;
    ssize_t n = -1;
    int status = -1;
    pid_t pid;

    p.fd = tool_start(argv, &pid);
    if (p.fd < 0) {
        err_set(err, "cannot run %s: %s", argv[0], strerror(errno));
        return NULL;
    }
    text = xcalloc(1, room + 1);
    while (used < max && now_s() < until_s && poll(&p, 1, (int)((until_s - now_s()) * 1e3) + 1) > 0) {
        if (used == room) {
            room *= 2;
            text = xrealloc(text, room + 1, 1);
        }
        n = read(p.fd, text + used, room - used);
        if (n <= 0)
            break;
        used += (size_t)n;
    }
    text[used] = '\0';
    close(p.fd);
    if (n != 0)
        kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    if (n == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return text;
    if (n != 0)
        err_set(err, used >= max ? "%s prints too much" : "%s does not end in time", argv[0]);
    else
        err_set(err, "%s fails: %.200s", argv[0], used ? text : "it prints no reason");
    free(text);
    return NULL;
}
