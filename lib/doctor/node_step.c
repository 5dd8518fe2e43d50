#include "doctor/node_step.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/now.h"
#include "common/text.h"
#include "common/tool.h"
#include "common/utf8.h"
#include "common/xalloc.h"
#include "doctor/host_report.h"
#include "doctor/srun.h"

#define LINE_BYTES      4096
#define PROGRESS_S      2.0
#define END_S           3.0        /* for srun to end by itself, and again after SIGTERM */
#define OUTPUT_PER_TASK (1u << 18) /* a step that prints more is ended */
#define NODE_SAYS       "node "

/* ---- what srun prints ---- */

void node_answers_begin(struct node_answers *a, size_t n, double now_s)
{
    *a = (struct node_answers){ .answer = xcalloc(n, sizeof(*a->answer)), .n = n, .from_s = now_s };
}

static void add_report_line(struct node_answer *t, const char *line)
{
    size_t length = strlen(line);

    if (t->bytes + length + 1 > HOST_REPORT_BYTES_MAX) {
        t->open = false;
        free(t->report);
        t->report = NULL;
        t->bytes = t->cap = 0;
        snprintf(t->said, sizeof(t->said), "its report has more than %u bytes", HOST_REPORT_BYTES_MAX);
        return;
    }
    t->report = xgrow(t->report, &t->cap, t->bytes + length + 2, 1);
    memcpy(t->report + t->bytes, line, length);
    t->bytes += length;
    t->report[t->bytes++] = '\n';
    t->report[t->bytes] = '\0';
}

/* The version in "sgctl (SyncGuard) 1.2.3"; NULL: it is another line. */
static const char *version_in(const char *line)
{
    static const char head[] = "sgctl (SyncGuard) ";

    return strncmp(line, head, sizeof(head) - 1) ? NULL : line + sizeof(head) - 1;
}

static void take_line(struct node_answer *t, const char *line, double now_s)
{
    if (t->open || !strcmp(line, "{")) {
        if (!t->open && t->report) /* one is enough */
            return;
        t->open = true;
        add_report_line(t, line);
        if (t->open && !strcmp(line, "}")) {
            t->open = false;
            t->at_s = now_s;
        }
    } else if (!*t->node && !strncmp(line, NODE_SAYS, strlen(NODE_SAYS))) {
        utf8_clean(t->node, sizeof(t->node), line + strlen(NODE_SAYS));
    } else if (!*t->version && version_in(line)) {
        utf8_clean(t->version, sizeof(t->version), version_in(line));
    } else if (*line) {
        utf8_clean(t->said, sizeof(t->said), line);
    }
}

void node_answers_line(struct node_answers *a, const char *line, double now_s)
{
    const char *from = line + strspn(line, " ");
    char *end = NULL;
    unsigned long task = isdigit((unsigned char)*from) ? strtoul(from, &end, 10) : a->n;

    if (task < a->n && *end == ':')
        take_line(&a->answer[task], end + 1 + (end[1] == ' '), now_s);
    else if (*line && !strstr(line, "Exited with exit code")) /* what the task said is known */
        utf8_clean(a->srun, sizeof(a->srun), line);
}

size_t node_answers_count(const struct node_answers *a)
{
    size_t n = 0;

    for (size_t i = 0; i < a->n; i++)
        n += a->answer[i].report && !a->answer[i].open;
    return n;
}

void node_answers_free(struct node_answers *a)
{
    for (size_t i = 0; i < a->n; i++)
        free(a->answer[i].report);
    free(a->answer);
    *a = (struct node_answers){ 0 };
}

/* ---- the step ---- */

struct words {
    char *item[32];
    size_t n;
};

__attribute__((format(printf, 2, 3))) static void add_word(struct words *w, const char *fmt, ...)
{
    va_list ap;

    if (w->n + 1 == ARRAY_SIZE(w->item))
        return;
    va_start(ap, fmt);
    if (vasprintf(&w->item[w->n], fmt, ap) < 0)
        abort();
    va_end(ap);
    w->n++;
}

/* One task ending badly is to end no other, and no setting of the user's for his own jobs is to hold. */
static void build_command(const struct node_step *s, struct words *w)
{
    char *list = srun_nodelist(s->nodes, s->n);

    add_word(w, "srun");
    add_word(w, "--label");
    add_word(w, "--input=none");
    add_word(w, "--nodes=%zu", s->n);
    add_word(w, "--ntasks=%zu", s->n);
    add_word(w, "--ntasks-per-node=1");
    add_word(w, "--cpus-per-task=1");
    add_word(w, "%s", list);
    add_word(w, "--kill-on-bad-exit=0");
    add_word(w, "--mpi=none");
    add_word(w, "--job-name=sgctl-doctor");
    if (s->partition) {
        add_word(w, "--partition=%s", s->partition);
        add_word(w, "--immediate=%d", (int)s->limit_s / 2 + 1);
        add_word(w, "--time=1");
        add_word(w, "--mem=64M");
    } else {
        add_word(w, "--overlap");
        add_word(w, "--mem=0");
    }
    add_word(w, "sh");
    add_word(w, "-c");
    add_word(w, "echo \"" NODE_SAYS "$SLURMD_NODENAME\"; \"$0\" --version; exec \"$0\" \"$@\"");
    add_word(w, "%s", s->program);
    if (s->conf)
        add_word(w, "--conf=%s", s->conf);
    add_word(w, "doctor");
    add_word(w, "--json");
    free(list);
}

static void take_part(struct node_answers *a, char *line, size_t *length, const char *part, size_t bytes)
{
    double at_s = wall_s();

    for (size_t i = 0; i < bytes; i++) {
        if (part[i] != '\n') {
            *length += *length + 1 < LINE_BYTES; /* the rest of a longer one is left out */
            line[*length - 1] = part[i];
            continue;
        }
        line[*length] = '\0';
        node_answers_line(a, line, at_s);
        *length = 0;
    }
}

/* Returns when srun has ended, true, or when the time or what it may print has. */
static bool gather_answers(const struct node_step *s, struct node_answers *a, int fd)
{
    double begin_s = now_s(), until_s = begin_s + s->limit_s, shown_s = begin_s;
    size_t length = 0, all = 0;
    char line[LINE_BYTES], part[16384];
    struct pollfd p = { .fd = fd, .events = POLLIN };

    while (now_s() < until_s && all < a->n * (size_t)OUTPUT_PER_TASK) {
        if (poll(&p, 1, 200) > 0) {
            ssize_t n = read(fd, part, sizeof(part));

            if (n <= 0)
                return true;
            all += (size_t)n;
            take_part(a, line, &length, part, (size_t)n);
        }
        if (s->progress && now_s() - shown_s >= PROGRESS_S) {
            shown_s = now_s();
            fprintf(stderr, "%s: %zu of %zu node%s answered so far, after %s\n",
                    program_invocation_short_name, node_answers_count(a), a->n, text_plural((int64_t)a->n),
                    text_age(shown_s - begin_s).s);
        }
    }
    return false;
}

int node_step_run(const struct node_step *s, struct node_answers *a, struct err *err)
{
    struct words w = { .n = 0 };
    pid_t pid;
    int fd;

    node_answers_begin(a, s->n, wall_s());
    setenv(SRUN_ENV_OPTION, "observe", 1); /* the plugin's work is what is looked at */
    setenv(HOST_ENV_CREDENTIAL, s->credential ? s->credential : "",
           1); /* it also says that this is such a step */
    build_command(s, &w);
    fd = tool_start((const char *const *)w.item, &pid);
    unsetenv(SRUN_ENV_OPTION);
    unsetenv(HOST_ENV_CREDENTIAL);
    if (fd >= 0) {
        a->late = !gather_answers(s, a, fd);
        close(fd);
        srun_end(pid, a->late ? 0 : END_S, END_S);
    } else {
        err_set(err, "cannot run srun: %m");
    }
    for (size_t i = 0; i < w.n; i++)
        free(w.item[i]);
    return fd < 0 ? -1 : 0;
}
