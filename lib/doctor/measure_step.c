#include "doctor/measure_step.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/now.h"
#include "common/tool.h"
#include "common/xalloc.h"
#include "doctor/srun.h"

#define END_S   2.0
#define QUIET_S 2.0 /* no progress is shown before, nor more often */

void measure_step_show(struct measure_step *s, const char *fmt, ...)
{
    double t = now_s();
    va_list ap;

    if (t < s->begin_s + QUIET_S || t < s->shown_s + QUIET_S)
        return;
    s->shown_s = t;
    va_start(ap, fmt);
    fprintf(stderr, "%s: ", program_invocation_short_name);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
}

void measure_step_tell(struct measure_step *s, const char *line, double until_s)
{
    size_t n = strlen(line);

    while (n && !s->ended) {
        ssize_t k = write(s->to, line, n);

        if (k < 0 && ((errno != EAGAIN && errno != EINTR) || !tool_wait(s->to, POLLOUT, until_s)))
            s->ended = true;
        line += k > 0 ? k : 0;
        n -= (size_t)(k > 0 ? k : 0);
    }
}

/* A line in the buffer, valid until the next call; NULL: none is complete. */
static char *take_line(struct measure_step *s)
{
    char *end;

    memmove(s->text, s->text + s->skip, s->used -= s->skip);
    s->skip = 0;
    end = memchr(s->text, '\n', s->used);
    if (!end && s->used == sizeof(s->text)) /* longer than any of ours */
        s->used = 0;
    if (!end)
        return NULL;
    *end = '\0';
    s->skip = (size_t)(end - s->text) + 1;
    return s->text;
}

bool measure_step_hear(struct measure_step *s, struct measure_reply *reply, double until_s)
{
    for (;;) {
        char *line;
        ssize_t n;

        while ((line = take_line(s))) {
            if (measure_read(line, reply) == 0 && reply->task < s->tasks)
                return true;
            if (!s->words[0] && *line)
                snprintf(s->words, sizeof(s->words), "%.290s", line);
        }
        if (s->ended || !tool_wait(s->from, POLLIN, until_s))
            return false;
        n = read(s->from, s->text + s->used, sizeof(s->text) - s->used);
        if (n > 0)
            s->used += (size_t)n;
        else if (n == 0 || (errno != EAGAIN && errno != EINTR))
            s->ended = true;
    }
}

static char *nodelist_of(const json_t *nodes)
{
    size_t n = json_array_size(nodes);
    const char **name = xcalloc(n, sizeof(*name));
    char *list;

    for (size_t i = 0; i < n; i++)
        name[i] = json_string_value(json_array_get(nodes, i));
    list = srun_nodelist(name, n);
    free(name);
    return list;
}

void measure_step_begin(struct measure_step *s, const json_t *nodes, const char *program, const char *mpi)
{
    char n[32], all[32], by[64], *list = nodelist_of(nodes);
    const char *argv[] = { "srun",
                           "-Q",
                           n,
                           all,
                           "--ntasks-per-node=1",
                           list,
                           "--input=all",
                           by,
                           "--kill-on-bad-exit=0",
                           "--wait=0",
                           "--job-name=syncguard-measure",
                           "--immediate=10",
                           getenv("SLURM_JOB_ID") ? "--overlap" : "--time=1",
                           program,
                           mpi ? by : NULL,
                           NULL };

    s->tasks = json_array_size(nodes);
    snprintf(n, sizeof(n), "-N%zu", s->tasks);
    snprintf(all, sizeof(all), "-n%zu", s->tasks);
    snprintf(by, sizeof(by), "--mpi=%.50s", mpi ? mpi : "none");
    setenv(SRUN_ENV_OPTION, "off", 1); /* also where guarding is a site's default */
    s->from = tool_talk(argv, &s->pid, &s->to);
    unsetenv(SRUN_ENV_OPTION);
    free(list);
    if (s->from < 0) {
        snprintf(s->words, sizeof(s->words), "cannot run srun: %s", strerror(errno));
        s->ended = true;
        return;
    }
    fcntl(s->to, F_SETFL, O_NONBLOCK);
}

/* Tasks end with their input, and srun with them. */
void measure_step_end(struct measure_step *s)
{
    struct measure_reply ignored;

    if (s->from < 0)
        return;
    measure_step_tell(s, "end\n", now_s() + END_S / 2);
    close(s->to);
    for (double until_s = now_s() + END_S; measure_step_hear(s, &ignored, until_s);)
        continue;
    srun_end(s->pid, s->ended ? END_S / 2 : 0, END_S / 2);
    close(s->from);
}
