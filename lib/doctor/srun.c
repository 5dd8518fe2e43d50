#include "doctor/srun.h"

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "common/now.h"
#include "common/xalloc.h"

#define LOOK_MS 10 /* between two looks whether it has ended: short beside a step's start */

char *srun_nodelist(const char *const *nodes, size_t n)
{
    static const char option[] = "--nodelist=";
    size_t size = sizeof(option), at = sizeof(option) - 1;
    char *text;

    for (size_t i = 0; i < n; i++)
        size += strlen(nodes[i]) + 1;
    text = xcalloc(1, size);
    memcpy(text, option, sizeof(option));
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%s", i ? "," : "", nodes[i]);
    return text;
}

static bool has_ended(pid_t pid, double within_s)
{
    double until_s = now_s() + within_s;

    while (waitpid(pid, NULL, WNOHANG) == 0) {
        if (now_s() >= until_s)
            return false;
        poll(NULL, 0, LOOK_MS);
    }
    return true;
}

void srun_end(pid_t pid, double alone_s, double end_s)
{
    if (has_ended(pid, alone_s))
        return;
    kill(pid, SIGTERM);
    if (has_ended(pid, end_s))
        return;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}
