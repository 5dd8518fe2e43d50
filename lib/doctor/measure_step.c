#include "doctor/measure_step.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/now.h"
#include "common/tool.h"
#include "common/xalloc.h"

#define END_S   2.0
#define QUIET_S 2.0 /* no progress is shown before, nor more often */
/* The measuring job is not to be guarded where that is a site's default. */
#define ENV_OPTION "SLURM_SPANK__SLURM_SPANK_OPTION_syncguard_sync_guard"

void measure_step_show(struct measure_step *s, const char *fmt, ...)
{
    double t = now_s();
    va_list ap;

    if (t < s->begin_s + QUIET_S || t < s->shown_s + QUIET_S)
        return;
    s->shown_s = t;
    va_start(ap, fmt);
    fputs("sgctl: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
}

static bool wait_for(int fd, short events, double until_s)
{
    struct pollfd p = { .fd = fd, .events = events };
    double left_s = until_s - now_s();

    return left_s > 0 && poll(&p, 1, (int)(left_s * 1e3) + 1) > 0;
}

void measure_step_tell(struct measure_step *s, const char *line, double until_s)
{
    size_t n = strlen(line);

    while (n && !s->ended) {
        ssize_t k = write(s->to, line, n);

        if (k < 0 && ((errno != EAGAIN && errno != EINTR) || !wait_for(s->to, POLLOUT, until_s)))
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
        if (s->ended || !wait_for(s->from, POLLIN, until_s))
            return false;
        n = read(s->from, s->text + s->used, sizeof(s->text) - s->used);
        if (n > 0)
            s->used += (size_t)n;
        else if (n == 0 || (errno != EAGAIN && errno != EINTR))
            s->ended = true;
    }
}

/* --nodelist=n1,n2,...: the caller's. */
static char *nodelist(const json_t *nodes)
{
    json_t *name;
    size_t i, bytes;
    char *text;
    FILE *f = open_memstream(&text, &bytes);

    fputs("--nodelist=", f);
    json_array_foreach(nodes, i, name)
        fprintf(f, "%s%s", i ? "," : "", json_string_value(name));
    fclose(f);
    return text;
}

void measure_step_begin(struct measure_step *s, const json_t *nodes, const char *program, const char *mpi)
{
    char n[32], all[32], by[64], *list = nodelist(nodes);
    const char *argv[24];
    size_t k = 0;

    s->tasks = json_array_size(nodes);
    snprintf(n, sizeof(n), "-N%zu", s->tasks);
    snprintf(all, sizeof(all), "-n%zu", s->tasks);
    snprintf(by, sizeof(by), "--mpi=%.50s", mpi ? mpi : "none");
    argv[k++] = "srun";
    argv[k++] = "-Q";
    argv[k++] = n;
    argv[k++] = all;
    argv[k++] = "--ntasks-per-node=1";
    argv[k++] = list;
    argv[k++] = "--input=all";
    argv[k++] = by;
    argv[k++] = "--kill-on-bad-exit=0";
    argv[k++] = "--wait=0";
    argv[k++] = "--job-name=syncguard-measure";
    argv[k++] = "--immediate=10";
    if (getenv("SLURM_JOB_ID"))
        argv[k++] = "--overlap";
    else
        argv[k++] = "--time=1";
    argv[k++] = program;
    if (mpi)
        argv[k++] = by;
    argv[k] = NULL;
    setenv(ENV_OPTION, "off", 1);
    s->from = tool_talk(argv, &s->pid, &s->to);
    unsetenv(ENV_OPTION);
    free(list);
    if (s->from < 0) {
        snprintf(s->words, sizeof(s->words), "cannot run srun: %s", strerror(errno));
        s->ended = true;
        return;
    }
    fcntl(s->to, F_SETFL, O_NONBLOCK);
}

static bool gone(const struct measure_step *s, double until_s)
{
    while (waitpid(s->pid, NULL, WNOHANG) == 0) {
        if (now_s() > until_s)
            return false;
        usleep(10000);
    }
    return true;
}

/* Tasks end with their input, and srun with them. Else it is asked to cancel the job, as for a person's
 * interrupt. */
void measure_step_end(struct measure_step *s)
{
    struct measure_reply ignored;

    if (s->from < 0)
        return;
    measure_step_tell(s, "end\n", now_s() + END_S / 2);
    close(s->to);
    for (double until_s = now_s() + END_S; measure_step_hear(s, &ignored, until_s);)
        continue;
    if (!gone(s, now_s() + (s->ended ? END_S / 2 : 0))) {
        kill(s->pid, SIGTERM);
        if (!gone(s, now_s() + END_S / 2)) {
            kill(s->pid, SIGKILL);
            waitpid(s->pid, NULL, 0);
        }
    }
    close(s->from);
}
