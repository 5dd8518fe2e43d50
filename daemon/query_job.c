#include "daemon/query_job.h"

#include <math.h>
#include <stdlib.h>

#include "common/now.h"
#include "history/store.h"
#include "wire/json.h"

#define ID_MAX 64 /* characters of a job's id */

json_t *query_error(const char *text)
{
    return json_pack("{s:s}", "error", text);
}

uid_t query_sees(const struct peer *p)
{
    uid_t uid = link_uid(p->link);

    return operators_has(&p->controller->operators, uid) ? UINT32_MAX : uid;
}

bool query_may_see(const struct peer *p, const struct job *j)
{
    uid_t uid = query_sees(p);

    return uid == UINT32_MAX || uid == j->id.uid;
}

/* The numbers of "123" or "123.0"; step -1: not given.  Only these are in the history. */
static bool parse_stored(const char *text, int64_t *job, int64_t *step)
{
    char *end;

    *job = strtoll(text, &end, 10);
    *step = *end == '.' ? strtoll(end + 1, &end, 10) : -1;
    return *job > 0 && *end == '\0';
}

static void add_age(json_t *o, double s)
{
    double age_s = json_get_number(o, "age_s");

    if (!isnan(age_s))
        json_put_real(o, "age_s", age_s + s);
}

void query_job_age(json_t *report, double now_wall_s)
{
    double age_s = json_get_number(report, "age_s"),
           saved_s = json_get_number(report, "start") + json_get_number(report, "elapsed_s") + age_s,
           since_s = fmax(0, now_wall_s - saved_s);
    json_t *o;
    size_t i;

    if (isnan(saved_s))
        return;
    add_age(report, since_s);
    json_array_foreach(json_object_get(report, "agents"), i, o)
        add_age(o, since_s);
    json_array_foreach(json_object_get(report, "events"), i, o)
        add_age(o, since_s);
}

/* Which of the job's runs the query names, between which Slurm requeued it: 1 is the first; 0: the newest. */
static int64_t run_of(const json_t *q)
{
    return json_get_int(q, "run", 1, UINT32_MAX, 0);
}

json_t *query_job_stored(const struct peer *p, const json_t *q)
{
    json_t *report = NULL;
    char text[ID_MAX];
    int64_t job, step;

    if (parse_stored(json_show_text(q, "job", text, sizeof(text)), &job, &step))
        report = store_report(p->controller->store, job, step, run_of(q) - 1, query_sees(p));
    if (report)
        query_job_age(report, wall_s());
    return report;
}

static bool is_stored(const struct peer *p, const char *text, uid_t uid)
{
    int64_t job, step;

    return parse_stored(text, &job, &step) && store_has_report(p->controller->store, job, step, uid);
}

struct job *query_job(const struct peer *p, const json_t *q, bool running, struct err *err)
{
    const struct jobs *jobs = &p->controller->jobs;
    char buf[ID_MAX];
    const char *text = json_show_text(q, "job", buf, sizeof(buf));
    struct job *j = jobs_lookup(jobs, text, query_sees(p), err);
    int64_t run = run_of(q);

    if (run && (j ? run != (int64_t)j->id.restarts + 1 : is_stored(p, text, query_sees(p)))) {
        err_set(err, "no guarded run %lld of this job is known", (long long)run);
        return NULL;
    }
    if (j && running && job_over(j)) {
        err_set(err, "job %s has ended", j->text_id);
        return NULL;
    }
    if (j || !jobs_is_id(text))
        return j;
    if (is_stored(p, text, query_sees(p)))
        err_set(err, "job %.40s has ended", text);
    else if (jobs_lookup(jobs, text, UINT32_MAX, NULL) || is_stored(p, text, UINT32_MAX))
        err_set(err, "job %.40s is not yours: only its owner and operators may see it", text);
    else
        err_set(
            err,
            "no guarded job %.40s: it is pending, runs without --sync-guard, has started no step (ranks that "
            "mpirun starts on its own node are in none: use srun), was over within a second without a call of "
            "MPI, NCCL or Gloo, or does not exist (squeue --job=%.40s)",
            text, text);
    return NULL;
}

bool query_job_known(const struct peer *p, const json_t *q, struct err *err)
{
    char text[ID_MAX];

    return query_job(p, q, false, err) ||
           is_stored(p, json_show_text(q, "job", text, sizeof(text)), query_sees(p));
}
