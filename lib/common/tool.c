#include "common/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/now.h"

extern char **environ;

bool tool_wait(int fd, short events, double until_s)
{
    struct pollfd p = { .fd = fd, .events = events };
    double left_s = until_s - now_s();

    return left_s > 0 && poll(&p, 1, (int)(left_s * 1e3) + 1) > 0;
}

/* in -1: /dev/null. */
static int start_tool(const char *const *argv, pid_t *pid, int in)
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
    return start_tool(argv, pid, -1);
}

int tool_talk(const char *const *argv, pid_t *pid, int *to)
{
    int ends[2], fd;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    fd = start_tool(argv, pid, ends[0]);
    close(ends[0]);
    *to = ends[1];
    if (fd < 0) {
        close(ends[1]);
        *to = -1;
    }
    return fd;
}

/* Its status when it has ended by until_s; else it is killed. -1: not known. */
static int end_by(pid_t pid, double until_s)
{
    const struct timespec nap = { 0, 1000000 };
    int status = -1;

    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (now_s() >= until_s) {
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            break;
        }
        nanosleep(&nap, NULL);
    }
    return status;
}

char *tool_run(const char *const *argv, double limit_s, size_t max, struct err *err)
{
    double until_s = now_s() + limit_s;
    size_t room = 65536, used = 0;
    char *text = malloc(room + 1), *more;
    ssize_t n = -1;
    int fd, status;
    pid_t pid;

    fd = text ? tool_start(argv, &pid) : -1;
    if (fd < 0) {
        err_set(err, "cannot run %s: %s", argv[0], strerror(errno));
        free(text);
        return NULL;
    }
    while (used < max && tool_wait(fd, POLLIN, until_s)) {
        if (used == room) {
            more = realloc(text, 2 * room + 1);
            if (!more) {
                n = -1;
                break;
            }
            text = more;
            room *= 2;
        }
        n = read(fd, text + used, room - used);
        if (n <= 0)
            break;
        used += (size_t)n;
    }
    text[used] = '\0';
    close(fd);
    status = end_by(pid, n == 0 ? until_s : 0);
    if (n == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return text;
    if (n != 0 || !WIFEXITED(status))
        err_set(err, used >= max ? "%s prints too much" : "%s does not end in time", argv[0]);
    else
        err_set(err, "%s fails: %.200s", argv[0], used ? text : "it prints no reason");
    free(text);
    return NULL;
}
