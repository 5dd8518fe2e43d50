/* rest_answer.h - what slurmrestd answered, of the versions from v0.0.36 on.
 *
 * Pure: bytes in, figures out.  Nothing of an answer is believed that was not asked for: it must be about the
 * job or the node that was named.  Numbers come plain or as {"set","number"}, states as a word or a list. */
#ifndef SYNCGUARD_ACTIONS_REST_ANSWER_H
#define SYNCGUARD_ACTIONS_REST_ANSWER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

enum rest_answer {
    REST_FINE,
    REST_REFUSED,    /* Slurm said no; err says why */
    REST_UNREADABLE, /* not what slurmrestd says; err says what is wrong */
};

struct rest_job {
    uint32_t uid;
    const char *comment, *admin_comment, *nodes; /* lent from the answer, "" without */
};
struct rest_node {
    bool drained;
    const char *reason, *comment; /* lent from the answer, "" without */
};

/* *answer is the caller's to free, NULL when it is unreadable. */
enum rest_answer rest_read(const char *body, size_t bytes, json_t **answer, struct err *err);
enum rest_answer rest_job(const json_t *answer, uint32_t job, struct rest_job *out, struct err *err);
enum rest_answer rest_node(const json_t *answer, const char *name, struct rest_node *out, struct err *err);

#endif
