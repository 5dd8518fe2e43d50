/* slurm/child: what a program is started with, and what comes of it. */
#include "slurm/child.h"

#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

#define ENDS_S 300 /* a limit that no program comes near */

static struct event_base *base;
static char output[4096];
static int status;

static void on_end(void *arg, const struct child_end *end)
{
    (void)arg;
    snprintf(output, sizeof(output), "%s", end->output);
    status = end->status;
    event_base_loopbreak(base);
}

static void arguments(void)
{
    static char word[100][8];
    const char *args[ARRAY_SIZE(word) + 3] = { "-c", "echo $# $0 ${99}" };
    struct child_options o = {
        .path = "/bin/bash", .input = "", .timeout_s = ENDS_S, .output_max = sizeof(output) - 1, .args = args
    };
    struct err err = { "" };

    for (size_t i = 0; i < ARRAY_SIZE(word); i++) {
        snprintf(word[i], sizeof(word[i]), "w%zu", i);
        args[i + 2] = word[i];
    }
    ok(child_start(base, &o, on_end, NULL, &err) != NULL, "a program is started with 102 arguments\n%s",
       err.text);
    event_base_dispatch(base);
    /* $0 is the first of the words, and so 99 remain */
    is_str(output, "99 w0 w99\n", "a program that is started with 102 arguments gets all of them");
    is_int(status, 0, "a program that was started with them reports its exit status");
}

static void missing(void)
{
    struct child_options o = {
        .path = "/nonexistent/program", .input = "", .timeout_s = ENDS_S, .output_max = 1
    };
    struct err err = { "" };

    ok(!child_start(base, &o, on_end, NULL, &err) && strstr(err.text, "/nonexistent/program: "),
       "a program that does not exist is an error\n%s", err.text);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    base = event_base_new();
    arguments();
    missing();
    event_base_free(base);
    return done_testing();
}
