/* pairwise_rounds.c - the measuring step: its tasks, and who measures with whom when. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/now.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "doctor/pairwise_private.h"
#include "wire/client.h"

#define TELL_S    2.0 /* tasks take a line */
#define GROUP     4u  /* pairs that are measured again at the same time */
#define GIVEN_UP  3u  /* partners with which nothing went */
#define AGAIN_MAX 256u

static_assert(MEASURE_TASKS_MAX == SURVEY_NODES_MAX && MEASURE_KEY_BYTES == CLIENT_KEY_BYTES,
              "as many tasks as nodes, and one key");

struct pair {
    uint32_t a, b; /* a calls, and sends first */
    struct measured m;
    char why[64];
    bool answered; /* all that was asked of it, whatever */
};

/* ---- the tasks ---- */

void pairwise_run_gather(struct pairwise_run *r, const struct slurm_nodes *slurm)
{
    double until_s = r->step.begin_s + r->limits->start_s;
    struct measure_reply reply;
    size_t there = 0;
    char key[CLIENT_KEY_BYTES], line[700];

    while (there < r->step.tasks && measure_step_hear(&r->step, &reply, until_s)) {
        if (!reply.node[0] || r->task[reply.task].hello.node[0])
            continue;
        r->task[reply.task].hello = reply;
        there++;
        until_s = fmin(r->step.begin_s + r->limits->start_s, now_s() + r->limits->start_gap_s);
        measure_step_show(&r->step, "%zu of %zu nodes are ready", there, r->step.tasks);
    }
    client_key(key);
    snprintf(line, sizeof(line), "key %s\n", key);
    measure_step_tell(&r->step, line, until_s + TELL_S);
    for (uint32_t i = 0; i < r->step.tasks; i++) {
        struct pairwise_task *t = &r->task[i];
        bool came = t->hello.node[0] && (r->mpi ? t->hello.mpi[0] : t->hello.port);
        const struct slurm_node *node = slurm && came ? slurm_nodes_find(slurm, t->hello.node) : NULL;

        t->node = TOPOLOGY_NONE;
        t->other = came && t->hello.protocol != MEASURE_PROTOCOL;
        if (!came || t->other)
            continue;
        snprintf(line, sizeof(line), "peer %u %.255s %u\n", i,
                 node && node->address[0] ? node->address : t->hello.node, t->hello.port);
        if (!r->mpi)
            measure_step_tell(&r->step, line, until_s + TELL_S);
        t->node = (uint32_t)r->n;
        r->name[r->n] = t->hello.node;
        r->task_of[r->n++] = i;
    }
}

/* ---- rounds ---- */

/* Measure pairs that share no node, at the same time. false: the tasks have gone. */
static bool play_kind(struct pairwise_run *r, const char *kind, struct pair *pair, size_t n)
{
    size_t size = 32 + n * 24, left = 2 * n;
    double until_s = fmin(now_s() + r->limits->round_s, r->step.begin_s + r->limits->last_s);
    char *line = xcalloc(1, size);
    struct measure_reply reply;

    text_append(line, size, "%s %u", kind, ++r->round);
    for (size_t i = 0; i < n; i++) {
        pair[i].answered = false;
        text_append(line, size, " %u-%u", r->task_of[pair[i].a], r->task_of[pair[i].b]);
    }
    text_append(line, size, "\n");
    measure_step_tell(&r->step, line, until_s);
    free(line);
    while (left && measure_step_hear(&r->step, &reply, until_s)) {
        struct pair *p = NULL;

        if (reply.node[0] || reply.round != r->round)
            continue;
        left--;
        for (size_t i = 0; i < n && !p; i++)
            if (pair[i].a == r->task[reply.task].node)
                p = &pair[i];
        if (!p)
            continue;
        p->answered = true;
        if (!isnan(reply.rtt_s)) {
            p->m.rtt_s = reply.rtt_s;
            p->m.ahead_s = reply.ahead_s;
        }
        p->m.there_bytes_per_s = fmax(p->m.there_bytes_per_s, reply.there_bytes_per_s);
        p->m.back_bytes_per_s = fmax(p->m.back_bytes_per_s, reply.back_bytes_per_s);
        if (reply.why[0])
            snprintf(p->why, sizeof(p->why), "%s", reply.why);
    }
    return !r->step.ended && !(r->mpi && left);
}

static bool is_silent(const struct pair *p)
{
    return isnan(p->m.rtt_s) && isnan(p->m.there_bytes_per_s) && isnan(p->m.back_bytes_per_s);
}

static bool is_gap(const struct pairwise_gap *g, const struct pair *p)
{
    return (g->a == p->a && g->b == p->b) || (g->a == p->b && g->b == p->a);
}

static void note_gap(struct pairwise_run *r, const struct pair *p)
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

/* Who sends first, over a connection that is new, is slower: each node is that with every other partner, and
 * in the next turn with the others. */
static void choose_caller(const struct pairwise_run *r, struct pair *p)
{
    uint32_t low = p->a < p->b ? p->a : p->b, high = p->a ^ p->b ^ low;
    bool low_calls = ((low ^ high ^ r->turn) & 1) != 0;

    p->a = low_calls ? low : high;
    p->b = low_calls ? high : low;
}

static bool play_pairs(struct pairwise_run *r, struct pair *pair, size_t n)
{
    bool more;

    if (!n)
        return !r->step.ended;
    for (size_t i = 0; i < n; i++) {
        choose_caller(r, &pair[i]);
        pair[i].m = (struct measured){ NAN, NAN, NAN, NAN, NULL };
        pair[i].why[0] = '\0';
    }
    more = play_kind(r, "trips", pair, n) && play_kind(r, "rates", pair, n);
    if (!more && !r->mpi)
        return false;
    for (size_t i = 0; i < n; i++) {
        struct pair *p = &pair[i];

        if (r->mpi ? !p->answered : is_silent(p)) {
            note_gap(r, p);
            continue;
        }
        for (size_t k = 0; k < r->n_gaps; k++)
            if (is_gap(&r->gap[k], p))
                r->gap[k--] = r->gap[--r->n_gaps];
        if (is_silent(p))
            continue;
        survey_add(r->survey, p->a, p->b, p->m.rtt_s, p->m.there_bytes_per_s, p->m.back_bytes_per_s);
        if (r->clocks)
            clocks_add(r->clocks, p->a, p->b, p->m.ahead_s, p->m.rtt_s);
    }
    return more;
}

/* All pairs once, until then. false: the time was over before, or the tasks have gone. */
static bool play_all(struct pairwise_run *r, const char *turn, double until_s)
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
        more = play_pairs(r, pair, n);
        measure_step_show(&r->step, "measured%s in %zu of %zu rounds between %zu nodes", turn, round + 1,
                          rounds, r->n);
    }
    free(pair);
    r->turn++;
    return more && round == rounds;
}

/* A few at a time of what is to be measured again, none of which shares a node. true: any is left. */
static bool play_group(struct pairwise_run *r, struct pair *again, size_t *n)
{
    struct pair group[GROUP];
    /* Who waits in MPI takes a whole core, of which there may be few. */
    size_t k = 0, max = r->mpi ? 1 : GROUP;

    for (size_t i = 0; i < *n && k < max;) {
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
    return play_pairs(r, group, k) && *n;
}

/* Pairs that were disturbed, alone, while there is time for more than that. */
static void play_missing(struct pairwise_run *r)
{
    struct pair *again = xcalloc(AGAIN_MAX, sizeof(*again));
    double until_s = r->step.begin_s + r->limits->again_s;
    size_t n = 1;

    while (n && now_s() < until_s) {
        n = 0;
        for (uint32_t a = 0; a < r->n; a++)
            for (uint32_t b = a + 1; b < r->n && n < AGAIN_MAX; b++)
                if (isnan(r->survey->cell[a * r->n + b].rtt_s) ||
                    isnan(r->survey->cell[a * r->n + b].bytes_per_s))
                    again[n++] = (struct pair){ .a = a, .b = b };
        while (now_s() < until_s && play_group(r, again, &n))
            measure_step_show(&r->step, "measuring disturbed pairs again by MPI");
        r->turn++;
        if (r->step.ended || r->n_gaps)
            break;
    }
    free(again);
}

static size_t find_suspects(const struct pairwise_run *r, struct survey_finding *suspect)
{
    struct survey *relative = r->sockets ? pairwise_relative(r->survey, r->name, r->sockets, r->of) : NULL;
    size_t n = 0;
    struct err err;

    if (survey_suspects(relative ? relative : r->survey, suspect, AGAIN_MAX, &n, &err) < 0)
        n = 0;
    survey_free(relative);
    return n;
}

/* Pairs that were slow, or silent, as often as it takes to believe it.  How many could not be measured often
 * enough. */
static size_t confirm_slow(struct pairwise_run *r)
{
    struct survey_finding *suspect = xcalloc(AGAIN_MAX, sizeof(*suspect));
    struct pair *again = xcalloc(2 * AGAIN_MAX, sizeof(*again));
    double until_s = r->step.begin_s + r->limits->confirm_s;
    size_t n = 0, suspects;

    for (size_t i = 0; i < r->n_gaps && n < AGAIN_MAX; i++)
        again[n++] = (struct pair){ .a = r->gap[i].a, .b = r->gap[i].b };
    while (n && now_s() < until_s && play_group(r, again, &n))
        continue;
    for (unsigned times = 1; times < 2 * SURVEY_CONFIRMED && !r->step.ended && now_s() < until_s; times++) {
        suspects = find_suspects(r, suspect);
        if (!suspects)
            break;
        n = 0;
        for (size_t i = 0; i < suspects; i++)
            again[n++] = (struct pair){ .a = suspect[i].a, .b = suspect[i].b };
        while (n && now_s() < until_s && play_group(r, again, &n))
            measure_step_show(&r->step, "measuring %zu slow pair%s again", suspects,
                              text_plural((int64_t)suspects));
        r->turn++;
    }
    suspects = find_suspects(r, suspect);
    free(suspect);
    free(again);
    return suspects;
}

size_t pairwise_run_measure(struct pairwise_run *r)
{
    double again_s = r->step.begin_s + r->limits->again_s;

    /* Again while that takes little time, because the best of several measurements scatters less. */
    if (play_all(r, "", r->step.begin_s + r->limits->measure_s) && play_all(r, " again", again_s))
        play_all(r, " again", again_s);
    if (r->mpi && !r->n_gaps)
        play_missing(r);
    return r->mpi && r->n_gaps ? 0 : confirm_slow(r); /* what does not answer holds its tasks */
}

/* ---- its life ---- */

void pairwise_run_begin(struct pairwise_run *r, const json_t *nodes, const char *program, const char *mpi)
{
    size_t n = json_array_size(nodes);

    r->mpi = mpi != NULL;
    r->task = xcalloc(n, sizeof(*r->task));
    r->task_of = xcalloc(n, sizeof(*r->task_of));
    r->name = xcalloc(n, sizeof(*r->name));
    r->given_up = xcalloc(n, sizeof(*r->given_up));
    measure_step_begin(&r->step, nodes, program, mpi);
}

void pairwise_run_free(struct pairwise_run *r)
{
    survey_free(r->survey);
    clocks_free(r->clocks);
    free(r->task);
    free(r->task_of);
    free(r->name);
    free(r->given_up);
    free(r->gap);
}
