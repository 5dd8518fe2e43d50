/* rest_answer.h - reads the answers of slurmrestd, versions v0.0.36 and later.
 *
 * Pure.  An answer must be about the requested job or node.  Numbers may be plain or {"set","number"}, states
 * a word or a list. */
#ifndef SYNCGUARD_ACTIONS_REST_ANSWER_H
#define SYNCGUARD_ACTIONS_REST_ANSWER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

enum rest_answer {
    REST_FINE,
    REST_REFUSED,    /* Slurm returned an error; err has it */
    REST_UNREADABLE, /* not an answer of slurmrestd; err has the reason */
};

struct rest_job {
    uint32_t uid;
    const char *comment, *admin_comment, *nodes; /* valid as long as the answer; "" if missing */
};
struct rest_node {
    bool drained;
    const char *comment; /* valid as long as the answer; "" if missing */
};

/* Parse an answer. The caller frees *answer, which is NULL if it is unreadable. */
enum rest_answer rest_read(const char *body, size_t bytes, json_t **answer, struct err *err);
/* Find the job, or the node, in an answer. */
enum rest_answer rest_job(const json_t *answer, uint32_t job, struct rest_job *out, struct err *err);
enum rest_answer rest_node(const json_t *answer, const char *name, struct rest_node *out, struct err *err);

#endif
