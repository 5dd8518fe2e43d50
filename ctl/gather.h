/* gather.h - all that a page about a job needs (ctl/page_html.h), by several questions on one connection: the
 * job, its newest step drawn, and the lateness over time of all of its ranks. */
#ifndef SYNCGUARD_CTL_GATHER_H
#define SYNCGUARD_CTL_GATHER_H

#include <jansson.h>
#include <stdint.h>

#include "common/err.h"
#include "wire/client.h"

/* The answer of the job, or of that run of it (0: the newest), with `picture` and all rows of `heat`; the
 * caller's.  NULL with the reason. */
json_t *gather_job(const struct client_options *client, const char *job, int64_t run, double timeout_s,
                   struct err *err);

#endif
