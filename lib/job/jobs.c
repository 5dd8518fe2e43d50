#include "job/jobs.h"

#include <stdlib.h>
#include <string.h>

#include "common/now.h"
#include "common/xalloc.h"
#include "job/cadence.h"
#include "job/record.h"
#include "view/view.h"

struct job *job_new(const struct job_id *id, const struct config_policy *params, double now_s)
{
    struct job *j = xcalloc(1, sizeof(*j));
    struct view_params vp = view_params_of(params);

    j->id = *id;
    j->params = *params;
    j->array_job = j->array_task = -1;
    j->start_wall_s = wall_s();
    j->start_s = j->heard_s = j->idle_since_s = j->saved_s = now_s;
    j->view = view_new(&vp, now_s);
    j->cadence = cadence_new(now_s);
    return j;
}

void job_free(struct job *j)
{
    if (!j)
        return;
    recorders_end(j, "the controller removed this step from memory");
    view_free(j->view);
    cadence_free(j->cadence);
    for (size_t i = 0; i < j->n_agents; i++)
        free(j->agent[i]);
    for (size_t i = 0; i < j->n_notes; i++)
        free(j->note[i]);
    free(j->nodelist);
    free(j->scaling[0]);
    free(j->scaling[1]);
    free(j->strategies);
    free(j->overlap);
    free(j->agent);
    free(j);
}

struct job *jobs_find(const struct jobs *t, const struct job_id *id)
{
    struct job *best = NULL;

    for (size_t i = 0; i < t->n; i++)
        if (job_id_same(&t->job[i]->id, id) && (!best || t->job[i]->trust > best->trust))
            best = t->job[i];
    return best;
}

void jobs_add(struct jobs *t, struct job *j)
{
    t->job = xgrow(t->job, &t->cap, t->n + 1, sizeof(struct job *));
    t->job[t->n++] = j;
}

void jobs_remove(struct jobs *t, struct job *j)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->job[i] == j) {
            memmove(&t->job[i], &t->job[i + 1], (t->n - i - 1) * sizeof(struct job *));
            t->n--;
            break;
        }
    job_free(j);
}

/* The numbers of the id that was asked for; -1: not given. */
struct wanted {
    int64_t job, step, task, component;
};

/* Read the number after the mark if the mark is next.  false: no number follows it. */
static bool take_part(const char **text, char mark, int64_t *n)
{
    char *end;

    if (**text != mark)
        return true;
    *n = strtoll(*text + 1, &end, 10);
    if (end == *text + 1 || *n < 0)
        return false;
    *text = end;
    return true;
}

static int parse_id(const char *text, struct wanted *w, struct err *err)
{
    char *end;
    const char *rest;

    *w = (struct wanted){ -1, -1, -1, -1 };
    w->job = strtoll(text, &end, 10);
    rest = end;
    if (end == text || w->job <= 0 || !take_part(&rest, '_', &w->task) ||
        (w->task < 0 && !take_part(&rest, '+', &w->component)) || !take_part(&rest, '.', &w->step) || *rest)
        return err_set(
            err, "invalid job: expected 123, 123.0 (a step), 123_4 (of an array) or 123+1 (of a het job)");
    return 0;
}

bool jobs_is_id(const char *text)
{
    struct wanted w;

    return parse_id(text, &w, NULL) == 0;
}

static bool fits(const struct job *j, const struct wanted *w)
{
    if (w->step >= 0 && j->id.step != (uint64_t)w->step)
        return false;
    if (w->component >= 0 && !j->het) /* 10+1 is no other name of job 10 */
        return false;
    if (w->task >= 0)
        return j->array_job == w->job && j->array_task == w->task;
    return j->id.job == (uint64_t)w->job || j->array_job == w->job;
}

struct job *jobs_lookup(const struct jobs *t, const char *text, uid_t uid, struct err *err)
{
    struct job *best = NULL, *rival = NULL; /* rival: as well confirmed, but another user's */
    struct wanted w;

    if (parse_id(text, &w, err) < 0)
        return NULL;
    for (size_t i = 0; i < t->n; i++) {
        struct job *j = t->job[i];

        if ((uid != UINT32_MAX && j->id.uid != uid) || !fits(j, &w) || (best && j->trust < best->trust))
            continue;
        if (best && j->trust > best->trust)
            rival = NULL;
        else if (best && best->id.uid != j->id.uid)
            rival = best;
        if (!best || j->trust > best->trust || j->start_s >= best->start_s)
            best = j;
    }
    if (rival && best->trust != JOB_CONFIRMED) {
        err_set(err, "job %.40s: users %u and %u both run a step of that number, and Slurm confirms neither",
                text, (unsigned)best->id.uid, (unsigned)rival->id.uid);
        return NULL;
    }
    if (!best)
        err_set(err, "no guarded job %.40s", text);
    return best;
}
