/* pairwise_run.c - the measuring step: srun, its tasks, and who measures with whom when. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/hostlist.h"
#include "common/now.h"
#include "common/text.h"
#include "common/tool.h"
#include "common/xalloc.h"
#include "ctl/pairwise.h"
#include "wire/client.h"
#include "wire/json.h"

#define ASK_S       5.0  /* sinfo */
#define START_S     12.0 /* all tasks are there, ... */
#define START_GAP_S 4.0  /* or no further one has come for so long */
#define MEASURE_S   23.0 /* all pairs once, from the beginning */
#define AGAIN_S     12.0 /* all pairs again, in as far as there is time */
#define CONFIRM_S   25.5 /* those again that were slow */
#define LAST_S      26.5 /* no answer is waited for any longer */
#define END_S       2.0
#define GRACE_S     0.5 /* beyond MEASURE_LIMIT_S, for what tasks say to arrive */
#define QUIET_S     2.0 /* no progress is shown before, nor more often */
#define GROUP       4u  /* pairs that are measured again at the same time */
#define GIVEN_UP    3u  /* partners with which nothing went */
#define AGAIN_MAX   256u
#define SHOWN       8 /* names in a sentence */

static_assert(MEASURE_TASKS_MAX == SURVEY_NODES_MAX && MEASURE_KEY_BYTES == CLIENT_KEY_BYTES,
              "as many tasks as nodes, and one key");

struct pair {
    uint32_t a, b; /* a calls, and sends first */
    struct measured m;
    char why[64];
};

struct run {
    double begin_s, shown_s;
    pid_t pid;
    int from, to;
    bool ended;
    char text[65536]; /* of srun's output, not yet read */
    size_t used, skip;
    char words[300]; /* what was no reply: srun's own */
    unsigned round, turn;

    size_t asked; /* nodes, one task each */
    struct task {
        struct measure_reply hello; /* port 0: it has not come */
        uint32_t node;              /* the survey's */
        unsigned failures;
    } * task;
    size_t n;          /* nodes of the survey */
    uint32_t *task_of; /* by node */
    const char **name;
    bool *given_up;
    struct survey *survey;
    struct pairwise_gap *gap;
    size_t n_gaps, cap_gaps;
};

/* ---- lines ---- */

__attribute__((format(printf, 2, 3))) static void show(struct run *r, const char *fmt, ...)
{
    double t = now_s();
    va_list ap;

    if (t < r->begin_s + QUIET_S || t < r->shown_s + QUIET_S)
        return;
    r->shown_s = t;
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

/* Say a line to all tasks. */
static void tell(struct run *r, const char *line, double until_s)
{
    size_t n = strlen(line);

    while (n && !r->ended) {
        ssize_t k = write(r->to, line, n);

        if (k < 0 && ((errno != EAGAIN && errno != EINTR) || !wait_for(r->to, POLLOUT, until_s)))
            r->ended = true;
        line += k > 0 ? k : 0;
        n -= (size_t)(k > 0 ? k : 0);
    }
}

/* A line in the buffer, valid until the next call; NULL: none is complete. */
static char *take_line(struct run *r)
{
    char *end;

    memmove(r->text, r->text + r->skip, r->used -= r->skip);
    r->skip = 0;
    end = memchr(r->text, '\n', r->used);
    if (!end && r->used == sizeof(r->text)) /* longer than any of ours */
        r->used = 0;
    if (!end)
        return NULL;
    *end = '\0';
    r->skip = (size_t)(end - r->text) + 1;
    return r->text;
}

/* The next reply of a task. false: none in time, or srun has ended. */
static bool hear(struct run *r, struct measure_reply *reply, double until_s)
{
    for (;;) {
        char *line;
        ssize_t n;

        while ((line = take_line(r))) {
            if (measure_read(line, reply) == 0 && reply->task < r->asked)
                return true;
            if (!r->words[0] && *line)
                snprintf(r->words, sizeof(r->words), "%.290s", line);
        }
        if (r->ended || !wait_for(r->from, POLLIN, until_s))
            return false;
        n = read(r->from, r->text + r->used, sizeof(r->text) - r->used);
        if (n > 0)
            r->used += (size_t)n;
        else if (n == 0 || (errno != EAGAIN && errno != EINTR))
            r->ended = true;
    }
}

/* ---- the step ---- */

static void begin(struct run *r, const char *nodes, const char *program)
{
    char n[32], all[32], *list = xasprintf("--nodelist=%s", nodes);
    const char *argv[24];
    size_t k = 0;

    snprintf(n, sizeof(n), "-N%zu", r->asked);
    snprintf(all, sizeof(all), "-n%zu", r->asked);
    argv[k++] = "srun";
    argv[k++] = "-Q";
    argv[k++] = n;
    argv[k++] = all;
    argv[k++] = "--ntasks-per-node=1";
    argv[k++] = list;
    argv[k++] = "--input=all";
    argv[k++] = "--mpi=none";
    argv[k++] = "--kill-on-bad-exit=0";
    argv[k++] = "--wait=0";
    argv[k++] = "--job-name=syncguard-measure";
    argv[k++] = "--immediate=10";
    if (getenv("SLURM_JOB_ID"))
        argv[k++] = "--overlap";
    else
        argv[k++] = "--time=1";
    argv[k++] = program;
    argv[k] = NULL;
    r->from = tool_talk(argv, &r->pid, &r->to);
    free(list);
    if (r->from < 0) {
        snprintf(r->words, sizeof(r->words), "cannot run srun: %s", strerror(errno));
        r->ended = true;
        return;
    }
    fcntl(r->to, F_SETFL, O_NONBLOCK);
}

static bool gone(const struct run *r, double until_s)
{
    while (waitpid(r->pid, NULL, WNOHANG) == 0) {
        if (now_s() > until_s)
            return false;
        usleep(10000);
    }
    return true;
}

/* Tasks end with their input, and srun with them. Else it is asked to cancel the job, as for a person's interrupt. */
static void end(struct run *r)
{
    struct measure_reply ignored;

    if (r->from < 0)
        return;
    tell(r, "end\n", now_s() + END_S / 2);
    close(r->to);
    for (double until_s = now_s() + END_S; hear(r, &ignored, until_s);)
        continue;
    if (!gone(r, now_s() + (r->ended ? END_S / 2 : 0))) {
        kill(r->pid, SIGTERM);
        if (!gone(r, now_s() + END_S / 2)) {
            kill(r->pid, SIGKILL);
            waitpid(r->pid, NULL, 0);
        }
    }
    close(r->from);
}

/* Wait for the tasks; they are told of each other. */
static void gather(struct run *r, const struct slurm_nodes *slurm)
{
    double until_s = r->begin_s + START_S;
    struct measure_reply reply;
    size_t there = 0;
    char key[CLIENT_KEY_BYTES], line[700];

    while (there < r->asked && hear(r, &reply, until_s)) {
        if (!reply.port || r->task[reply.task].hello.port)
            continue;
        r->task[reply.task].hello = reply;
        there++;
        until_s = fmin(r->begin_s + START_S, now_s() + START_GAP_S);
        show(r, "%zu of %zu nodes are ready", there, r->asked);
    }
    client_key(key);
    snprintf(line, sizeof(line), "key %s\n", key);
    tell(r, line, until_s + END_S);
    for (uint32_t i = 0; i < r->asked; i++) {
        struct task *t = &r->task[i];
        const struct slurm_node *node =
            slurm && t->hello.port ? slurm_nodes_find(slurm, t->hello.node) : NULL;

        t->node = TOPOLOGY_NONE;
        if (!t->hello.port)
            continue;
        snprintf(line, sizeof(line), "peer %u %.255s %u\n", i,
                 node && node->address[0] ? node->address : t->hello.node, t->hello.port);
        tell(r, line, until_s + END_S);
        t->node = (uint32_t)r->n;
        r->name[r->n] = t->hello.node;
        r->task_of[r->n++] = i;
    }
}

/* ---- rounds ---- */

static struct pair *pair_of(struct pair *pair, size_t n, uint32_t node)
{
    for (size_t i = 0; i < n; i++)
        if (pair[i].a == node)
            return &pair[i];
    return NULL;
}

/* Measure pairs that share no node, at the same time. false: the tasks have gone. */
static bool play_kind(struct run *r, const char *kind, struct pair *pair, size_t n)
{
    size_t size = 32 + n * 24, left = 2 * n;
    double until_s = fmin(now_s() + MEASURE_LIMIT_S + GRACE_S, r->begin_s + LAST_S);
    char *line = xcalloc(1, size);
    struct measure_reply reply;

    text_append(line, size, "%s %u", kind, ++r->round);
    for (size_t i = 0; i < n; i++)
        text_append(line, size, " %u-%u", r->task_of[pair[i].a], r->task_of[pair[i].b]);
    text_append(line, size, "\n");
    tell(r, line, until_s);
    free(line);
    while (left && hear(r, &reply, until_s)) {
        struct pair *p;

        if (reply.port || reply.round != r->round)
            continue;
        left--;
        p = r->task[reply.task].node == TOPOLOGY_NONE ? NULL : pair_of(pair, n, r->task[reply.task].node);
        if (!p)
            continue;
        p->m.rtt_s = fmin(p->m.rtt_s, reply.rtt_s);
        p->m.there_bytes_per_s = fmax(p->m.there_bytes_per_s, reply.there_bytes_per_s);
        p->m.back_bytes_per_s = fmax(p->m.back_bytes_per_s, reply.back_bytes_per_s);
        if (reply.why[0])
            snprintf(p->why, sizeof(p->why), "%s", reply.why);
    }
    return !r->ended;
}

static bool nothing(const struct pair *p)
{
    return isnan(p->m.rtt_s) && isnan(p->m.there_bytes_per_s) && isnan(p->m.back_bytes_per_s);
}

static bool is_gap(const struct pairwise_gap *g, const struct pair *p)
{
    return (g->a == p->a && g->b == p->b) || (g->a == p->b && g->b == p->a);
}

static void note_gap(struct run *r, const struct pair *p)
{
    struct pairwise_gap *g = r->gap;

    while (g < r->gap + r->n_gaps && !is_gap(g, p))
        g++;
    if (g < r->gap + r->n_gaps)
        return;
    r->gap = xgrow(r->gap, &r->cap_gaps, r->n_gaps + 1, sizeof(*r->gap));
    g = &r->gap[r->n_gaps++];
    *g = (struct pairwise_gap){ .a = p->a, .b = p->b };
    snprintf(g->why, sizeof(g->why), "%s", p->why[0] ? p->why : "no answer");
    for (int i = 0; i < 2; i++) {
        uint32_t node = i ? p->b : p->a;

        r->given_up[node] |= ++r->task[r->task_of[node]].failures >= GIVEN_UP;
    }
}

static void forget_gap(struct run *r, const struct pair *p)
{
    for (size_t i = 0; i < r->n_gaps; i++)
        if (is_gap(&r->gap[i], p))
            r->gap[i--] = r->gap[--r->n_gaps];
}

/* Who sends first, over a connection that is new, is slower: each node is that with every other partner, and in the next turn with the
 * others. */
static void choose_caller(const struct run *r, struct pair *p)
{
    uint32_t low = p->a < p->b ? p->a : p->b, high = p->a ^ p->b ^ low;
    bool low_calls = ((low ^ high ^ r->turn) & 1) != 0;

    p->a = low_calls ? low : high;
    p->b = low_calls ? high : low;
}

static bool play(struct run *r, struct pair *pair, size_t n)
{
    if (!n)
        return !r->ended;
    for (size_t i = 0; i < n; i++) {
        choose_caller(r, &pair[i]);
        pair[i].m = (struct measured){ NAN, NAN, NAN, NULL };
        pair[i].why[0] = '\0';
    }
    if (!play_kind(r, "trips", pair, n) || !play_kind(r, "rates", pair, n))
        return false;
    for (size_t i = 0; i < n; i++) {
        struct pair *p = &pair[i];

        if (nothing(p)) {
            note_gap(r, p);
            continue;
        }
        forget_gap(r, p);
        survey_add(r->survey, p->a, p->b, p->m.rtt_s, p->m.there_bytes_per_s, p->m.back_bytes_per_s);
    }
    return true;
}

/* All pairs once, until then. false: the time was over before, or the tasks have gone. */
static bool play_all(struct run *r, const char *turn, double until_s)
{
    size_t rounds = survey_rounds(r->n), round;
    struct pair *pair = xcalloc(r->n, sizeof(*pair));
    bool more = true;

    for (round = 0; more && round < rounds && now_s() < until_s; round++) {
        size_t n = 0;

        for (uint32_t a = 0; a < r->n; a++) {
            uint32_t b = survey_partner(r->n, round, a);

            if (b != TOPOLOGY_NONE && a < b && !r->given_up[a] && !r->given_up[b])
                pair[n++] = (struct pair){ .a = a, .b = b };
        }
        more = play(r, pair, n);
        show(r, "measured%s in %zu of %zu rounds between %zu nodes", turn, round + 1, rounds, r->n);
    }
    free(pair);
    r->turn++;
    return more && round == rounds;
}

/* All pairs once; and again while that takes little time, because the best of several measurements scatters less. */
static void play_turns(struct run *r)
{
    if (play_all(r, "", r->begin_s + MEASURE_S) && play_all(r, " again", r->begin_s + AGAIN_S))
        play_all(r, " again", r->begin_s + AGAIN_S);
}

/* A few at a time of what is to be measured again, none of which shares a node. true: any is left. */
static bool play_group(struct run *r, struct pair *again, size_t *n)
{
    struct pair group[GROUP];
    size_t k = 0;

    for (size_t i = 0; i < *n && k < GROUP;) {
        bool busy = r->given_up[again[i].a] || r->given_up[again[i].b];

        if (busy) { /* it is given up: the pair is not wanted any more */
            again[i] = again[--*n];
            continue;
        }
        for (size_t g = 0; g < k; g++)
            busy |= group[g].a == again[i].a || group[g].b == again[i].a || group[g].a == again[i].b ||
                    group[g].b == again[i].b;
        if (busy) {
            i++;
            continue;
        }
        group[k++] = again[i];
        again[i] = again[--*n];
    }
    return play(r, group, k) && *n;
}

/* Pairs that were slow, or silent, as often as it takes to believe it.  How many could not be measured often enough. */
static size_t confirm(struct run *r)
{
    struct survey_finding *suspect = xcalloc(AGAIN_MAX, sizeof(*suspect));
    struct pair *again = xcalloc(2 * AGAIN_MAX, sizeof(*again));
    double until_s = r->begin_s + CONFIRM_S;
    size_t n = 0, suspects = 0;
    struct err err;

    for (size_t i = 0; i < r->n_gaps && n < AGAIN_MAX; i++)
        again[n++] = (struct pair){ .a = r->gap[i].a, .b = r->gap[i].b };
    while (n && now_s() < until_s && play_group(r, again, &n))
        continue;
    for (unsigned times = 1; times < 2 * SURVEY_CONFIRMED && !r->ended && now_s() < until_s; times++) {
        if (survey_suspects(r->survey, suspect, AGAIN_MAX, &suspects, &err) < 0 || !suspects)
            break;
        n = 0;
        for (size_t i = 0; i < suspects; i++)
            again[n++] = (struct pair){ .a = suspect[i].a, .b = suspect[i].b };
        while (n && now_s() < until_s && play_group(r, again, &n))
            show(r, "measuring %zu slow pairs again", suspects);
        r->turn++;
    }
    if (survey_suspects(r->survey, suspect, AGAIN_MAX, &suspects, &err) < 0)
        suspects = 0;
    free(suspect);
    free(again);
    return suspects;
}

/* ---- which nodes ---- */

char *pairwise_nodes(const char *text, const char *partition)
{
    char name[256], *list = NULL;
    int used;

    for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
        bool is_default;
        const char *nodes;
        size_t length;

        end = strchrnul(line, '\n');
        if (sscanf(line, "%254s %n", name, &used) != 1 || line + used >= end)
            continue;
        nodes = line + used;
        length = strlen(name);
        is_default = name[length - 1] == '*';
        if (is_default)
            name[length - 1] = '\0';
        if (partition ? strcmp(name, partition) != 0 : !is_default)
            continue;
        free(list);
        list = strndup(nodes, (size_t)(end - nodes));
    }
    return list;
}

static char *choose_nodes(struct err *err)
{
    static const char *const argv[] = { "sinfo", "-h", "-r", "-t", "idle", "-o", "%P %N", NULL };
    const char *job = getenv("SLURM_JOB_NODELIST");
    char *text, *list;

    if (job)
        return xstrdup(job);
    text = tool_run(argv, ASK_S, 1u << 20, err);
    list = text ? pairwise_nodes(text, getenv("SLURM_PARTITION")) : NULL;
    if (text && !list)
        err_set(err, "no node is idle (sinfo -t idle)");
    free(text);
    return list;
}

static int add_name(void *arg, const char *name, struct err *err)
{
    (void)err;
    json_array_append_new(arg, text_json(name));
    return 0;
}

/* Nodes on which the program did not start. */
static void judge_start(const struct run *r, const json_t *asked, const char *program, struct findings *f)
{
    json_t *missing = json_array(), *name;
    char list[512], next[1400];
    size_t i;

    json_array_foreach(asked, i, name) {
        size_t k = 0;

        while (k < r->n && strcmp(r->name[k], json_string_value(name)) != 0)
            k++;
        if (k == r->n)
            json_array_append(missing, name);
    }
    if (json_array_size(missing)) {
        const char *first = json_string_value(json_array_get(missing, 0));

        snprintf(next, sizeof(next),
                 "srun -N1 -w %.200s ls -l %.1000s   (make install there, if it is missing)",
                 first ? first : "NODE", program);
        findings_add(f, r->n ? FINDING_FAULT : FINDING_UNKNOWN, "measured", json_incref(missing), next,
                     "%s did not start on %zu of %zu nodes: %s%s%s", "syncguard-measure",
                     json_array_size(missing), r->asked, show_list(missing, SHOWN, list, sizeof(list)),
                     r->words[0] ? "; srun: " : "", r->words);
    }
    json_decref(missing);
}

static void measure(struct run *r, const struct topology *t, const char *path,
                    const struct slurm_nodes *slurm, const json_t *asked, const char *program,
                    struct findings *f)
{
    struct pairwise p = { .path = path, .topology = t };

    gather(r, slurm);
    if (r->n >= SURVEY_NODES_MIN && !r->ended)
        r->survey = survey_new(t, r->name, r->n);
    if (r->survey) {
        play_turns(r);
        p.unconfirmed = confirm(r);
    }
    end(r);
    judge_start(r, asked, program, f);
    if (!r->survey)
        return;
    p.n = r->n;
    p.name = r->name;
    p.survey = r->survey;
    p.given_up = r->given_up;
    p.gap = r->gap;
    p.n_gaps = r->n_gaps;
    pairwise_judge(&p, f);
}

void pairwise_check(const struct topology *t, const char *path, const struct slurm_nodes *slurm,
                    const char *program, struct findings *f)
{
    struct run *r = xcalloc(1, sizeof(*r));
    struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
    struct err err = { "" };
    json_t *asked = json_array();
    char *nodes;

    r->begin_s = now_s();
    r->from = -1;
    nodes = choose_nodes(&err);
    if (!nodes || hostlist_each(nodes, SLURM_NODES_MAX, add_name, asked, &err) < 0) {
        findings_add(f, FINDING_UNKNOWN, "measured", NULL, "sinfo -N", "%s", err.text);
    } else if (json_array_size(asked) < SURVEY_NODES_MIN || json_array_size(asked) > SURVEY_NODES_MAX) {
        findings_add(f, FINDING_UNKNOWN, "measured", NULL, "salloc -N 64 sgctl doctor --cluster --probe",
                     "%zu nodes are idle or allocated here: between %u and %u can be compared",
                     json_array_size(asked), SURVEY_NODES_MIN, SURVEY_NODES_MAX);
    } else {
        r->asked = json_array_size(asked);
        r->task = xcalloc(r->asked, sizeof(*r->task));
        r->task_of = xcalloc(r->asked, sizeof(*r->task_of));
        r->name = xcalloc(r->asked, sizeof(*r->name));
        r->given_up = xcalloc(r->asked, sizeof(*r->given_up));
        begin(r, nodes, program);
        sigaction(SIGPIPE, &ignore, &before); /* tasks that have gone are seen by what they do not say */
        measure(r, t, path, slurm, asked, program, f);
        sigaction(SIGPIPE, &before, NULL);
    }
    survey_free(r->survey);
    free(r->task);
    free(r->task_of);
    free(r->name);
    free(r->given_up);
    free(r->gap);
    free(nodes);
    json_decref(asked);
    free(r);
}
