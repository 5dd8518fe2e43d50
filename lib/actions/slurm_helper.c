#include "actions/slurm_helper.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include "actions/attempt.h"
#include "common/xalloc.h"
#include "rules/action.h"
#include "slurm/comment.h"
#include "slurm/compat.h"
#include "slurm/nodelist.h"
#include "wire/json.h"

__attribute__((format(printf, 2, 3))) static json_t *answer(enum attempt_result result, const char *fmt, ...)
{
    static const char *const names[] = { [ATTEMPT_DONE] = "done",
                                         [ATTEMPT_REFUSED] = "refused",
                                         [ATTEMPT_AGAIN] = "again",
                                         [ATTEMPT_UNSURE] = "unsure" };
    char text[512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    return json_pack("{s:s,s:s}", "result", names[result], "text", text);
}

/* The result for an error of Slurm: its daemons did not answer, or they refused. */
static enum attempt_result meaning(int error)
{
    switch (error) {
    case SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR:
    case SLURMCTLD_COMMUNICATIONS_SHUTDOWN_ERROR:
    case SLURM_COMMUNICATIONS_CONNECTION_ERROR:
    case ESLURM_IN_STANDBY_MODE:
    case ESLURM_TRANSITION_STATE_NO_UPDATE:
    case ESLURM_PROTOCOL_INCOMPLETE_PACKET:
    case ECONNREFUSED:
    case EAGAIN:
        return ATTEMPT_AGAIN;
    case SLURM_COMMUNICATIONS_SEND_ERROR:
    case SLURM_COMMUNICATIONS_RECEIVE_ERROR:
    case SLURMCTLD_COMMUNICATIONS_SEND_ERROR:
    case SLURMCTLD_COMMUNICATIONS_RECEIVE_ERROR:
    case SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT:
    case ETIMEDOUT:
        return ATTEMPT_UNSURE;
    default:
        return ATTEMPT_REFUSED;
    }
}

/* A failed query or change may be repeated after any error of the connection, because each try of a change
 * checks first whether it was made. */
static json_t *failed(const char *what)
{
    int error = errno;

    return answer(meaning(error) == ATTEMPT_REFUSED ? ATTEMPT_REFUSED : ATTEMPT_AGAIN, "%s: %s", what,
                  slurm_strerror(error));
}

struct request {
    uint32_t job, uid, step, restarts;
    int signal;
    const char *nodes, *text;
    bool own_comment, of_job;
};

/* ---- which nodes there are ---- */

/* Load one node. NULL: info has it, and the caller frees it. */
static json_t *load_node(char *name, node_info_msg_t **info)
{
    *info = NULL;
    if (slurm_load_node_single(info, name, SHOW_ALL | SHOW_DETAIL) != SLURM_SUCCESS)
        return failed(name);
    if ((*info)->record_count == 1 && (*info)->node_array[0].name)
        return NULL;
    slurm_free_node_info_msg(*info);
    return answer(ATTEMPT_REFUSED, "node %s does not exist in Slurm", name);
}

/* NULL: Slurm has all nodes of the list. */
static json_t *not_known(const char *nodes)
{
    __auto_type list = slurm_hostlist_create(nodes);
    json_t *no = NULL;
    char *name;

    while (list && !no && (name = slurm_hostlist_shift(list))) {
        node_info_msg_t *info;

        no = load_node(name, &info);
        if (!no)
            slurm_free_node_info_msg(info);
        free(name);
    }
    if (list)
        slurm_hostlist_destroy(list);
    return no;
}

/* ---- jobs ---- */

/* Carries out a request on the job, which is one of info. */
typedef json_t *job_fn(const struct request *r, const slurm_job_info_t *job, const job_info_msg_t *info);

/* Look the job up and act on it, unless it does not exist or is another user's. */
static json_t *on_job(const struct request *r, job_fn *act)
{
    job_info_msg_t *info = NULL;
    const slurm_job_info_t *job = NULL;
    json_t *said;

    if (compat_load_job(r->job, &info) != SLURM_SUCCESS)
        return failed("the job cannot be looked up");
    for (uint32_t i = 0; i < info->record_count && !job; i++)
        if (info->job_array[i].job_id == r->job)
            job = &info->job_array[i];
    if (!job)
        said = answer(ATTEMPT_REFUSED, "job %u does not exist in Slurm", r->job);
    else if (job->user_id != r->uid)
        said = answer(ATTEMPT_REFUSED, "job %u is not user %u's but user %u's", r->job, r->uid, job->user_id);
    else
        said = act(r, job, info);
    slurm_free_job_info_msg(info);
    return said;
}

static uint32_t base_state(const slurm_job_info_t *job)
{
    return job->job_state & JOB_STATE_BASE;
}

static bool was_requeued(const slurm_job_info_t *job, const struct request *r)
{
    return base_state(job) == JOB_PENDING || job->restart_cnt > r->restarts;
}

static json_t *job_comment(const struct request *r, const slurm_job_info_t *job, const job_info_msg_t *info)
{
    const char *old = r->own_comment ? job->comment : job->admin_comment;
    char *text = comment_merge(old, r->text);
    job_desc_msg_t change;
    json_t *said;

    (void)info;
    slurm_init_job_desc_msg(&change);
    compat_name_job(&change, r->job);
    *(r->own_comment ? &change.comment : &change.admin_comment) = text;
    if (old && !strcmp(old, text))
        said = answer(ATTEMPT_DONE, "the job has this comment already");
    else if (slurm_update_job(&change) == SLURM_SUCCESS)
        said = answer(ATTEMPT_DONE, "%s set", r->own_comment ? "Comment" : "AdminComment");
    else
        said = failed("the comment cannot be set");
    free(text);
    return said;
}

/* Slurm accepts a signal to a step that does not exist without an error. */
static bool has_step(const struct request *r)
{
    job_step_info_response_msg_t *steps = NULL;
    bool there = compat_load_step(r->job, r->step, &steps) == SLURM_SUCCESS && steps->job_step_count > 0;

    slurm_free_job_step_info_response_msg(steps);
    return there;
}

static json_t *signal_step(const struct request *r, const slurm_job_info_t *job, const job_info_msg_t *info)
{
    int error;

    (void)info;
    if (base_state(job) != JOB_RUNNING && base_state(job) != JOB_SUSPENDED)
        return answer(ATTEMPT_REFUSED, "the job is not running");
    if (job->restart_cnt != r->restarts)
        return answer(ATTEMPT_REFUSED, "the job was restarted since");
    if (!has_step(r))
        return answer(ATTEMPT_REFUSED, "the job has no running step %u", r->step);
    if (compat_signal_step(r->job, r->step, (uint16_t)r->signal) == SLURM_SUCCESS)
        return answer(ATTEMPT_DONE, "signal %s sent to step %u.%u", action_signal_name(r->signal), r->job,
                      r->step);
    error = errno;
    return answer(meaning(error), "the signal cannot be sent: %s", slurm_strerror(error));
}

/* NULL: the run ends. */
static json_t *end_run(const struct request *r, const slurm_job_info_t *job)
{
    if (base_state(job) >= JOB_COMPLETE && !(job->job_state & JOB_REQUEUE))
        return answer(ATTEMPT_REFUSED, "the job has ended");
    if (compat_requeue(r->job) != SLURM_SUCCESS)
        return failed("the job cannot be requeued");
    return NULL;
}

static json_t *requeue_job(const struct request *r, const slurm_job_info_t *job, const job_info_msg_t *info)
{
    json_t *no;

    (void)info;
    if (was_requeued(job, r))
        return answer(ATTEMPT_DONE, "the job was requeued already");
    no = end_run(r, job);
    return no ? no : answer(ATTEMPT_DONE, "requeued");
}

/* Add the nodes to the pending job's ExcNodeList. */
static json_t *keep_off(const struct request *r, const slurm_job_info_t *job)
{
    job_desc_msg_t change;
    json_t *said;
    char *list;
    int added = nodelist_add(job->exc_nodes, r->nodes, &list);

    if (added < 0)
        return answer(ATTEMPT_REFUSED, "the job is requeued, but %.200s cannot be added to its ExcNodeList",
                      r->nodes);
    if (added == 0)
        return answer(ATTEMPT_DONE, "%s is in the job's ExcNodeList already", r->nodes);
    slurm_init_job_desc_msg(&change);
    compat_name_job(&change, r->job);
    change.exc_nodes = list;
    said = slurm_update_job(&change) == SLURM_SUCCESS
               ? answer(ATTEMPT_DONE, "%s, ExcNodeList=%s",
                        job->restart_cnt || r->restarts ? "requeued" : "pending", list)
               : failed("the job is requeued, but its ExcNodeList cannot be set");
    free(list);
    return said;
}

static json_t *exclude_requeued(const struct request *r, const slurm_job_info_t *job,
                                const job_info_msg_t *info)
{
    int of;

    (void)info;
    if (base_state(job) == JOB_PENDING)
        return keep_off(r, job);
    if (nodelist_common(job->nodes, r->nodes, &of) == 0)
        return answer(ATTEMPT_DONE, "the job was restarted on %s", job->nodes ? job->nodes : "other nodes");
    return answer(ATTEMPT_REFUSED, "the job was requeued, but was restarted on %s", job->nodes);
}

/* A running job's ExcNodeList cannot be changed, so it is requeued first and the list is set while it is
 * pending. */
static json_t *exclude_nodes(const struct request *r, const slurm_job_info_t *job, const job_info_msg_t *info)
{
    json_t *no;

    if (was_requeued(job, r))
        return exclude_requeued(r, job, info);
    no = not_known(r->nodes); /* else the run would be ended and the list not be set */
    if (!no)
        no = end_run(r, job);
    return no ? no : on_job(r, exclude_requeued);
}

/* ---- nodes ---- */

/* NULL: the nodes belong to the job. */
static json_t *not_of_job(const struct request *r, const slurm_job_info_t *job, const job_info_msg_t *info)
{
    int n = 0, of = 1;

    (void)job;
    /* the components of a het job are adjacent */
    for (uint32_t i = 0; i < info->record_count && n < of; i++)
        if (info->job_array[i].user_id == r->uid)
            n = nodelist_common(info->job_array[i].nodes, r->nodes, &of);
    return n == of && of > 0 ? NULL : answer(ATTEMPT_REFUSED, "job %u is not on %s", r->job, r->nodes);
}

/* Whether the node needs the change; if not, found has its state in words. */
typedef bool needs_fn(const node_info_t *node, const struct request *r, char *found, size_t size);

static bool needs_drain(const node_info_t *node, const struct request *r, char *found, size_t size)
{
    char *ours;
    bool same;

    if (!(node->node_state & NODE_STATE_DRAIN))
        return true;
    ours = comment_merge(NULL, r->text);
    same = node->reason && !strcmp(node->reason, ours);
    free(ours);
    if (same)
        snprintf(found, size, "%s was drained by us already", node->name);
    else
        snprintf(found, size, "%s is drained already: %.200s", node->name,
                 node->reason ? node->reason : "no reason");
    return false;
}

static bool needs_resume(const node_info_t *node, const struct request *r, char *found, size_t size)
{
    bool down = (node->node_state & NODE_STATE_BASE) == NODE_STATE_DOWN;

    (void)r;
    if (node->node_state & NODE_STATE_DRAIN)
        return true;
    snprintf(found, size, "%s is not drained%s", node->name, down ? " but down" : "");
    return false;
}

static bool needs_comment(const node_info_t *node, const struct request *r, char *found, size_t size)
{
    char *text = comment_merge(node->comment, r->text);
    bool same = node->comment && !strcmp(node->comment, text);

    free(text);
    if (same)
        snprintf(found, size, "%s has this comment already", node->name);
    return !same;
}

static int change_node(const node_info_t *node, const struct request *r, enum action_kind kind)
{
    update_node_msg_t change;
    char *text = comment_merge(kind == ACTION_DRAIN ? NULL : node->comment, r->text);
    int rc;

    slurm_init_update_node_msg(&change);
    change.node_names = node->name;
    if (kind == ACTION_DRAIN) {
        change.node_state = NODE_STATE_DRAIN;
        change.reason = text;
        compat_name_user(&change, getuid());
    } else if (kind == ACTION_RESUME) {
        change.node_state = NODE_RESUME; /* whether the reason goes with it is Slurm's to say */
    } else {
        change.comment = text;
    }
    rc = slurm_update_node(&change);
    free(text);
    return rc;
}

/* Change one node. NULL: it has the wanted state; found is not empty if it had it before. */
static json_t *one_node(char *name, const struct request *r, enum action_kind kind, char *found, size_t size)
{
    needs_fn *needs = kind == ACTION_DRAIN    ? needs_drain
                      : kind == ACTION_RESUME ? needs_resume
                                              : needs_comment;
    node_info_msg_t *info;
    json_t *no = load_node(name, &info);

    if (no)
        return no;
    if (needs(&info->node_array[0], r, found, size) &&
        change_node(&info->node_array[0], r, kind) != SLURM_SUCCESS)
        no = failed(name);
    slurm_free_node_info_msg(info);
    return no;
}

/* No node is changed where Slurm lacks one of them: a list with a slip in it changes nothing. */
static json_t *change_nodes(const struct request *r, enum action_kind kind)
{
    json_t *no = r->of_job ? on_job(r, not_of_job) : not_known(r->nodes);
    __auto_type list = slurm_hostlist_create(r->nodes);
    char found[300] = "", *name; /* found: state of the last node that needed no change */
    const char *done = kind == ACTION_DRAIN ? "drained" : kind == ACTION_RESUME ? "resumed" : "comment set";
    int n = 0, changed = 0;

    while (list && !no && (name = slurm_hostlist_shift(list))) {
        char was[sizeof(found)] = "";

        no = one_node(name, r, kind, was, sizeof(was));
        n++;
        changed += !*was;
        if (*was)
            memcpy(found, was, sizeof(found));
        free(name);
    }
    if (list)
        slurm_hostlist_destroy(list);
    if (no)
        return no;
    if (n == 0)
        return answer(ATTEMPT_REFUSED, "invalid list of nodes '%s'", r->nodes);
    return answer(ATTEMPT_DONE, "%s%s%s", changed ? done : "", changed && *found ? "; " : "", found);
}

json_t *slurm_helper_do(const json_t *request)
{
    struct request r = {
        .job = (uint32_t)json_get_int(request, "job", 0, UINT32_MAX - 1, 0),
        .uid = (uint32_t)json_get_int(request, "uid", 0, UINT32_MAX - 1, UINT32_MAX),
        .step = (uint32_t)json_get_int(request, "step", 0, UINT32_MAX - 1, NO_VAL),
        .restarts = (uint32_t)json_get_int(request, "restarts", 0, UINT32_MAX - 1, 0),
        .signal = (int)json_get_int(request, "signal", 0, UINT32_MAX - 1, 0),
        .nodes = json_get_word(request, "nodes"),
        .text = json_get_word(request, "text"),
        .own_comment = !strcmp(json_get_word(request, "comment"), "own"),
        .of_job = json_get_true(request, "of_job"),
    };
    const char *name = json_get_word(request, "do");
    int kind = action_parse(name);

    slurm_init(NULL);
    switch (kind) {
    case ACTION_SIGNAL:
        return on_job(&r, signal_step);
    case ACTION_REQUEUE:
        return on_job(&r, requeue_job);
    case ACTION_EXCLUDE:
        return on_job(&r, exclude_nodes);
    case ACTION_JOB_COMMENT:
        return on_job(&r, job_comment);
    case ACTION_NODE_COMMENT:
    case ACTION_DRAIN:
    case ACTION_RESUME:
        return change_nodes(&r, (enum action_kind)kind);
    default:
        return answer(ATTEMPT_REFUSED, "unknown action '%s'", name);
    }
}
