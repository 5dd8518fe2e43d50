#include "doctor/node_check.h"

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/now.h"
#include "common/tool.h"

#define LIMIT_S 5.0

/* Look for the line on a missing node until the output or the time ends. line: that one. */
static bool find_missing(int fd, double until_s, char *line, size_t size)
{
    size_t length = 0;
    char more[4096];
    ssize_t n = 1;

    while (n > 0 && tool_wait(fd, POLLIN, until_s)) {
        n = read(fd, more, sizeof(more));
        for (ssize_t i = 0; i < n; i++) {
            if (more[i] != '\n') {
                length += length + 1 < size;
                line[length - 1] = more[i];
                continue;
            }
            line[length] = '\0';
            if (!strncmp(line, "Node ", 5) && strstr(line, " not found"))
                return true;
            length = 0;
        }
    }
    return false;
}

int node_check(const char *nodes, struct err *err)
{
    const char *argv[] = { "scontrol", "show", "node", nodes, NULL };
    char line[256];
    bool missing;
    pid_t pid;
    int fd;

    if (*nodes == '-') /* it would be an option of scontrol */
        return err_set(err, "'%.80s' is not a list of nodes", nodes);
    fd = tool_start(argv, &pid);
    if (fd < 0)
        return 0;
    missing = find_missing(fd, now_s() + LIMIT_S, line, sizeof(line));
    close(fd);
    kill(pid, SIGKILL); /* has no effect on one that has ended */
    waitpid(pid, NULL, 0);
    return missing ? err_set(err, "Slurm has no such node: %.200s", line) : 0;
}
