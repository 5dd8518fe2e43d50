/* slurm_helper.h - the work of syncguard-slurm-helper: one change in Slurm through libslurm, after a check
 * whether it is needed.
 *
 * libslurm blocks, retries by itself and may end the process that calls it, so the controller never calls it
 * but starts a child for each try. Requests may be repeated: a change that was made already is not made
 * again, and a job is changed only if it belongs to the given user and is still in the given run.
 *
 * Request: {"do":KIND, "job", "uid", "step", "restarts", "nodes", "signal", "text", "comment":"admin"|"own",
 * "of_job":bool}. KIND is an action's name; of_job: the nodes must belong to the job. Answer:
 * {"result":"done"|"refused"|"again"|"unsure", "text"}. */
#ifndef SYNCGUARD_ACTIONS_SLURM_HELPER_H
#define SYNCGUARD_ACTIONS_SLURM_HELPER_H

#include <jansson.h>

#define SLURM_HELPER_REQUEST_MAX 65536u

/* Carry out the request; the caller owns the answer. */
json_t *slurm_helper_do(const json_t *request);

#endif
