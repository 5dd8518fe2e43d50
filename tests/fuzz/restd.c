/* Whatever slurmrestd answers, whatever squeue prints, whatever a site's template says, whatever a comment or
 * a host list holds. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "actions/action.h"
#include "actions/rest_answer.h"
#include "actions/template.h"
#include "common/hostlist.h"
#include "slurm/comment.h"
#include "slurm/jobtime.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_answer(const char *text, size_t size)
{
    struct rest_node node;
    struct rest_job job;
    struct err err;
    json_t *answer;

    if (rest_read(text, size, &answer, &err) != REST_UNREADABLE) {
        if (rest_job(answer, 123, &job, &err) == REST_FINE) {
            free(comment_merge(job.comment, job.admin_comment));
            hostlist_has(job.nodes, "node3");
        }
        if (rest_node(answer, "node3", &node, &err) == REST_FINE)
            free(comment_merge(NULL, node.comment));
    }
    json_decref(answer);
}

static void fill(const char *text)
{
    json_t *values = json_pack("{s:s,s:{s:i},s:n}", "text", "a \"b\" ${text}", "figures", "step", 3, "none");
    struct err err;
    char *filled = template_fill(text, values, &err);
    json_t *back = filled ? json_loads(filled, 0, NULL) : NULL;

    if (filled && !back)
        abort(); /* what was filled in is JSON, or nothing */
    json_decref(back);
    json_decref(values);
    free(filled);
}

/* A line of squeue: a job's end, when it is preempted, its state. */
static void read_line(const char *text)
{
    struct jobtime_line l;

    if (jobtime_line(text, &l) && (!l.job || isinf(l.end_wall_s) || isinf(l.preempted_wall_s) ||
                                   jobtime_outcome(&l, 0, false) > JOB_OUTCOME_ENDED))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    memcpy(text, data, size);
    text[size] = '\0';
    read_answer(text, size);
    fill(text);
    read_line(text);
    hostlist_has(text, "node3");
    hostlist_has("node[1-3]", text);
    free(comment_merge(text, "slow"));
    action_parse(text);
    action_signal_parse(text);
    free(text);
    return 0;
}
