/* slurm_helper.h - what syncguard-slurm-helper does: one change in Slurm, through libslurm, looked up before
 * it is made.
 *
 * libslurm blocks, retries by itself and may end the process that calls it; so the controller never calls it,
 * but starts a child for each try. Every change is one that may be asked for twice: what is so already is not
 * done again, and a job is touched only when it belongs to the user that it should and is still in the run
 * that it was in.
 *
 * Request: {"do":KIND, "job", "uid", "step", "restarts", "nodes", "signal", "text", "comment":"admin"|"own",
 * "of_job":bool}. KIND is an action's name; of_job: the nodes must be the job's. Answer:
 * {"result":"done"|"refused"|"again"|"unsure", "text"}. */
#ifndef SYNCGUARD_ACTIONS_SLURM_HELPER_H
#define SYNCGUARD_ACTIONS_SLURM_HELPER_H

#include <jansson.h>

#define SLURM_HELPER_REQUEST_MAX 65536u

/* The answer, the caller's. */
json_t *slurm_helper_do(const json_t *request);

#endif
