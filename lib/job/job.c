#include "job/job.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hostlist.h"
#include "common/names.h"
#include "common/text.h"
#include "common/utf8.h"
#include "common/xalloc.h"
#include "rules/action.h"
#include "view/figures.h"
#include "view/marks.h"
#include "view/view.h"

static const char *const states[] = { "starting", "running", "stalled", "suspended", "finished", "lost" };

const char *job_state_name(enum job_state s)
{
    return s < ARRAY_SIZE(states) ? states[s] : "unknown";
}

const char *job_unconfirmed(const struct job *j)
{
    if (j->trust == JOB_CONFIRMED)
        return NULL;
    if (j->trust == JOB_UNCONFIRMED)
        return "nobody but its user vouches for its agents";
    return j->unknown_to_slurm ? "Slurm has no job of this number and user"
                               : "Slurm has not confirmed it yet";
}

void job_policy_set(struct job *j, const struct config_policy *p)
{
    struct view_params vp = view_params_of(p);

    j->params = *p;
    view_params_set(j->view, &vp);
}

struct job_agent *job_agent_find(const struct job *j, const char *node)
{
    for (size_t i = 0; i < j->n_agents; i++)
        if (!strcmp(j->agent[i]->node, node))
            return j->agent[i];
    return NULL;
}

struct job_agent *job_agent_get(struct job *j, const char *node)
{
    struct job_agent *a = job_agent_find(j, node);

    if (a)
        return a;
    if (j->n_agents >= JOB_AGENTS_MAX)
        return NULL;
    a = xcalloc(1, sizeof(*a));
    snprintf(a->node, sizeof(a->node), "%s", node);
    a->cpu_ratio = a->rss_bytes = a->backlog_bytes = a->lost_batches = a->energy_j = NAN;
    j->agent = xgrow(j->agent, &j->agents_cap, j->n_agents + 1, sizeof(struct job_agent *));
    j->agent[j->n_agents++] = a;
    return a;
}

size_t job_agents_connected(const struct job *j)
{
    size_t n = 0;

    for (size_t i = 0; i < j->n_agents; i++)
        n += j->agent[i]->link != NULL;
    return n;
}

struct missing {
    const struct names *heard;
    void (*fn)(void *arg, const char *node);
    void *arg;
};

static int if_missing(void *arg, const char *node, struct err *err)
{
    const struct missing *m = arg;

    (void)err;
    if (names_find(m->heard, node, strlen(node)) == NAMES_NONE)
        m->fn(m->arg, node);
    return 0;
}

void job_each_missing(const struct job *j, void (*fn)(void *arg, const char *node), void *arg)
{
    struct names *heard;
    struct missing m;
    struct err err;

    if (!j->nodelist || j->n_agents >= j->nodes_total)
        return;
    heard = names_new();
    for (size_t i = 0; i < j->n_agents; i++)
        names_add(heard, j->agent[i]->node, strlen(j->agent[i]->node));
    m = (struct missing){ heard, fn, arg };
    hostlist_each(j->nodelist, JOB_AGENTS_MAX, if_missing, &m, &err);
    names_free(heard);
}

/* Takes the note. */
static void add_note(struct job *j, char *note)
{
    for (size_t i = 0; i < j->n_notes; i++)
        if (!strcmp(j->note[i], note)) {
            free(note);
            return;
        }
    if (j->n_notes == JOB_NOTES_MAX) {
        free(note);
        return;
    }
    j->note[j->n_notes++] = note;
}

void job_note(struct job *j, const char *node, const char *text)
{
    add_note(j, utf8_mend(xasprintf("%s: %.400s", node, text)));
}

void job_notes_copy(struct job *to, const struct job *from)
{
    for (size_t i = 0; i < from->n_notes; i++)
        add_note(to, xstrdup(from->note[i]));
}

const struct job_agent *job_unseen_get(const struct job *j, size_t *nodes, int64_t *processes)
{
    const struct job_agent *first = NULL;

    *nodes = 0;
    *processes = 0;
    for (size_t i = 0; i < j->n_agents; i++) {
        if (!*j->agent[i]->unseen.text)
            continue;
        first = first ? first : j->agent[i];
        ++*nodes;
        *processes += j->agent[i]->unseen.processes;
    }
    return first;
}

void job_unseen(struct job *j)
{
    char where[128] = "", text[512] = "";
    int64_t processes;
    size_t nodes;
    const struct job_agent *a = job_unseen_get(j, &nodes, &processes);

    if (nodes > 1)
        snprintf(where, sizeof(where), "%s and %zu other node%s: ", a->node, nodes - 1, nodes > 2 ? "s" : "");
    else if (a && j->nodes_total != 1)
        snprintf(where, sizeof(where), "%s: ", a->node);
    if (a)
        snprintf(text, sizeof(text), "%s%s", where, a->unseen.text);
    view_unseen_set(j->view, a && a->unseen.quiet, text);
}

void job_event(struct job *j, double now_s, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    event_list_vadd(&j->events, now_s, fmt, ap);
    va_end(ap);
}

/* ---- acknowledged verdicts ---- */

bool job_acknowledged(const struct job *j, uint32_t verdict_id)
{
    for (size_t i = 0; i < j->n_seen; i++)
        if (j->seen[i] == verdict_id)
            return true;
    return false;
}

static void mark_seen(struct job *j, const struct view_verdict *v)
{
    if (j->n_seen < JOB_SEEN_MAX && !job_acknowledged(j, v->finding.id))
        j->seen[j->n_seen++] = v->finding.id;
}

void job_acknowledge(struct job *j)
{
    const struct view_verdict *v;
    size_t n = view_verdicts_get(j->view, &v);

    for (size_t i = 0; i < n; i++)
        mark_seen(j, &v[i]);
}

/* A verdict in words that it has after a restart, too. */
static void known_as(const struct view_verdict *v, char words[JOB_KNOWN_SIZE])
{
    snprintf(words, JOB_KNOWN_SIZE, "%s%s%s", finding_class_name(v->finding.class), v->n_culprits ? " " : "",
             v->n_culprits ? v->culprit[0] : "");
}

bool job_unacknowledged(const struct job *j, char *buf, size_t size)
{
    const struct view_verdict *v;
    size_t n = view_verdicts_get(j->view, &v);
    char words[JOB_KNOWN_SIZE];

    buf[0] = '\0';
    for (size_t i = 0; i < n; i++)
        if (!job_acknowledged(j, v[i].finding.id)) {
            known_as(&v[i], words);
            text_append(buf, size, "%s%s", *buf ? "; " : "", words);
        }
    return *buf;
}

void job_acknowledge_again(struct job *j, const char *words, double now_s)
{
    j->known_until_s = now_s + JOB_KNOWN_S;
    while (*words && j->n_known < JOB_SEEN_MAX) {
        size_t length = strcspn(words, ";");

        snprintf(j->known[j->n_known++], JOB_KNOWN_SIZE, "%.*s", (int)length, words);
        words += length;
        words += strspn(words, "; ");
    }
}

static void mark_known(struct job *j, double now_s)
{
    const struct view_verdict *v;
    size_t n = view_verdicts_get(j->view, &v);
    char words[JOB_KNOWN_SIZE];

    if (now_s > j->known_until_s)
        j->n_known = 0;
    for (size_t i = 0; i < n && j->n_known; i++) {
        known_as(&v[i], words);
        for (size_t k = 0; k < j->n_known; k++)
            if (!strcmp(j->known[k], words)) {
                mark_seen(j, &v[i]);
                memmove(j->known[k], j->known[k + 1], (--j->n_known - k) * JOB_KNOWN_SIZE);
                break;
            }
    }
}

/* A verdict that was withdrawn is a new one when it recurs. */
static void forget_seen(struct job *j)
{
    const struct view_verdict *v;
    size_t n = view_verdicts_get(j->view, &v), kept = 0;

    for (size_t i = 0; i < j->n_seen; i++)
        for (size_t k = 0; k < n; k++)
            if (v[k].finding.standing && v[k].finding.id == j->seen[i]) {
                j->seen[kept++] = j->seen[i];
                break;
            }
    j->n_seen = kept;
}

static void set_state(struct job *j, double now_s, enum job_state s)
{
    if (j->state == s)
        return;
    if (s == JOB_FINISHED || s == JOB_LOST) {
        j->end_s = now_s;
        job_event(j, now_s, s == JOB_FINISHED ? "the step ended" : "no agent connected for %.0f s: lost",
                  JOB_LOST_S);
    }
    j->state = s;
}

static void end_job(struct job *j, double now_s, enum job_state s)
{
    if (j->state == s)
        return;
    view_finish(j->view, now_s);
    set_state(j, now_s, s);
}

/* ---- silence ---- */

bool job_silent(const struct job_agent *a, double now_s)
{
    return !a->bye && now_s > a->heard_s + JOB_SILENT_S;
}

bool job_doubt(const struct job *j)
{
    enum view_regime r = view_regime_get(j->view);

    return r == VIEW_STALLED || r == VIEW_SUSPENDED || j->n_silent || j->rank_broke;
}

void job_slurm_state(struct job *j, double now_s, const char *state, uint32_t restarts)
{
    static const char *const running[] = { "RUNNING",   "CONFIGURING", "RESIZING",
                                           "SIGNALING", "STAGE_OUT",   "PENDING" };
    enum view_slurm slurm = VIEW_SLURM_ENDS;

    if (!strcmp(state, "SUSPENDED") || !strcmp(state, "STOPPED"))
        slurm = VIEW_SLURM_SUSPENDED;
    for (size_t i = 0; i < ARRAY_SIZE(running) && restarts <= j->id.restarts; i++)
        if (!strcmp(state, running[i]))
            slurm = VIEW_SLURM_RUNS;
    view_slurm_set(j->view, now_s, slurm, restarts > j->id.restarts ? "REQUEUED" : state);
}

static void look_for_silence(struct job *j, double now_s)
{
    bool listening;

    if (now_s > j->looked_s + JOB_SILENT_S / 4)
        j->awake_s = now_s; /* this controller itself paused: frames of the agents may wait to be read */
    j->looked_s = now_s;
    listening = now_s > j->awake_s + JOB_SILENT_S;
    j->n_silent = 0;
    for (size_t i = 0; i < j->n_agents; i++) {
        struct job_agent *a = j->agent[i];
        bool silent = listening && job_silent(a, now_s);

        j->n_silent += silent;
        if (silent || a->was_silent)
            view_node_silent(j->view, a->node, silent ? a->heard_s : NAN);
        a->was_silent = silent;
    }
}

/* The step is over where some agents have said so and nobody hears the others. */
static bool is_over(const struct job *j)
{
    size_t bye = 0;

    for (size_t i = 0; i < j->n_agents; i++)
        bye += j->agent[i]->bye;
    return bye && bye + j->n_silent == j->n_agents;
}

void job_tick(struct job *j, double now_s, void (*raised)(struct job *j, const char *text, void *arg),
              void *arg)
{
    struct view_event e;

    if (j->state == JOB_FINISHED || (j->state == JOB_LOST && !job_agents_connected(j)))
        return;
    look_for_silence(j, now_s);
    if (is_over(j)) {
        end_job(j, now_s, JOB_FINISHED);
        return;
    }
    view_tick(j->view, now_s);
    while (view_event_take(j->view, &e)) {
        event_list_put(&j->events, e.at_s, e.key, e.text);
        if (raised)
            raised(j, e.text, arg);
    }
    forget_seen(j);
    mark_known(j, now_s);
    if (job_agents_connected(j) || !j->n_agents)
        j->idle_since_s = now_s;
    if (!job_doubt(j))
        j->doubt_s = 0;
    else if (!j->doubt_s)
        j->doubt_s = now_s;
    if (now_s > j->idle_since_s + JOB_LOST_S)
        end_job(j, now_s, JOB_LOST);
    else if (view_regime_get(j->view) == VIEW_STALLED)
        set_state(j, now_s, JOB_STALLED);
    else if (view_regime_get(j->view) == VIEW_SUSPENDED)
        set_state(j, now_s, JOB_SUSPENDED);
    else
        set_state(j, now_s, view_called(j->view) ? JOB_RUNNING : JOB_STARTING);
}

bool job_hangs(const struct job *j)
{
    const struct view_verdict *d;
    size_t n = view_verdicts_get(j->view, &d);

    for (size_t i = 0; i < n; i++)
        if (finding_stops(d[i].finding.class))
            return true;
    return false;
}

bool job_broken(const struct job *j)
{
    return j->state == JOB_LOST || (j->state == JOB_FINISHED && (j->rank_broke || job_hangs(j)));
}

const char *job_hold(const struct job *j)
{
    if (j->state == JOB_SUSPENDED)
        return "Slurm has suspended the job";
    if (j->params.non_finite != CONFIG_HOLD || !view_non_finite(j->view))
        return NULL;
    return "a loss or gradient is not finite; NonFinite=hold";
}

int job_takes_signal(const struct job *j, int signal, struct err *err)
{
    const char *known_as = action_signal_name(signal);
    char name[32];
    uint32_t rank;

    if (!action_signal_wants_handler(signal) || !view_rank_ended_by(j->view, signal, &rank))
        return 0;
    if (*known_as)
        snprintf(name, sizeof(name), "SIG%s", known_as);
    else
        snprintf(name, sizeof(name), "signal %d", signal);
    return err_set(err, "rank %u's program has no handler for %s: it would be killed", rank, name);
}
