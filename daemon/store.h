/* store.h - what outlives the controller and the step: history in SQLite (WAL).
 * One row a step, with the report as it last stood; one row a verdict. The controller works without it:
 * every function takes NULL. */
#ifndef SYNCGUARD_DAEMON_STORE_H
#define SYNCGUARD_DAEMON_STORE_H

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"

struct store;
struct job;

/* DIR/history.sqlite, made when it is new.  NULL on failure. */
struct store *store_open(const char *dir, struct err *err);
void store_close(struct store *s);

/* The step's row as it is now; report is lent. */
int store_step(struct store *s, const struct job *j, const json_t *report, struct err *err);
int store_verdict(struct store *s, const struct job *j, const char *class, const char *scope,
                  const char *culprit, const char *node, double slowdown, const char *text, struct err *err);
/* The report of the newest stored step that fits (step -1: any) and that uid may see (UINT32_MAX: every).
 * NULL: none.  The caller's. */
json_t *store_report(struct store *s, int64_t job, int64_t step, uid_t uid);
/* Rows for the list of finished steps, newest first: array of the reports' first keys. The caller's. */
json_t *store_list(struct store *s, uid_t uid, int limit);
/* How often a node was a culprit, and when last (Unix time; 0: never). */
int store_node(struct store *s, const char *node, int *count, double *last_wall_s);
int store_expire(struct store *s, int days, struct err *err);
double store_bytes(struct store *s); /* NaN without one */

#endif
