/* ranks.h - the ranks on this node: found in the step's directory, drained together. */
#ifndef SYNCGUARD_AGENT_RANKS_H
#define SYNCGUARD_AGENT_RANKS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "agent/rank.h"

#define RANKS_MAX 16384u /* further programs that a step starts on a node are ignored */

struct ranks;

/* note: called once for each problem, with a text that is valid during the call; dir is lent. */
struct ranks *ranks_new(const char *dir, double rate_hz, flow_sink *put,
                        void (*note)(const char *text, void *arg), void *arg);
void ranks_free(struct ranks *rs); /* NULL is fine; the directory stays */

/* Open new rings.  -1: the directory does not exist any more. */
int ranks_scan(struct ranks *rs);
/* Wait until the clock is calibrated, at most 50 ms; draining, ranks_second() and ranks_flush() do nothing
 * before that. */
void ranks_settle(struct ranks *rs);
size_t ranks_drain(struct ranks *rs);
/* rank_release() for every rank. */
void ranks_release(struct ranks *rs);
void ranks_second(struct ranks *rs);
void ranks_flush(struct ranks *rs);

/* Call each for every running rank, with its number, program and process. */
void ranks_each(const struct ranks *rs, void (*each)(uint32_t rank, uint16_t app, pid_t pid, void *arg),
                void *arg);
/* The names of a rank by its process, also of one that has ended; false: there is none. */
bool ranks_of_process(const struct ranks *rs, pid_t pid, uint32_t *rank, uint16_t *app);
size_t ranks_running(const struct ranks *rs);
size_t ranks_seen(const struct ranks *rs); /* also those that have ended */
/* rank_announce() for every rank. */
void ranks_announce(struct ranks *rs);
void ranks_control(struct ranks *rs, double rate_hz, struct call_window window);
/* Whether calls may be sent, at first they may: they must not push out what judging needs. */
void ranks_room(struct ranks *rs, bool room);
/* The newest enum telemetry_kind that the controller can read; at first it is taken for an old one. */
void ranks_newest_item(struct ranks *rs, unsigned newest);
/* The next {"ranks":[...]} of ranks with news, which the caller frees; NULL: no more.  *at is 0 in the first
 * call. */
json_t *ranks_news(struct ranks *rs, size_t *at);

/* Remove the files of probes and agents in the directory, and the directory if nothing else is in it. */
void ranks_remove_dir(const char *dir);

#endif
