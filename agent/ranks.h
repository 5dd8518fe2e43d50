/* ranks.h - the ranks on this node: found in the step's directory, drained together. */
#ifndef SYNCGUARD_AGENT_RANKS_H
#define SYNCGUARD_AGENT_RANKS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "agent/rank.h"

#define RANKS_MAX 16384u /* a step that starts more programs on a node than that goes on unheard */

struct ranks;

/* note: told once about each thing that goes wrong; lent words. */
struct ranks *ranks_new(const char *dir, double rate_hz, flow_sink *put,
                        void (*note)(const char *text, void *arg), void *arg);
void ranks_free(struct ranks *rs); /* NULL is fine; the directory stays */

/* Look for rings that are new.  -1: the directory is gone. */
int ranks_scan(struct ranks *rs);
/* Wait until the clock is calibrated, 50 ms from ranks_new(); the three below do nothing before. */
void ranks_settle(struct ranks *rs);
size_t ranks_drain(struct ranks *rs);
void ranks_second(struct ranks *rs);
void ranks_flush(struct ranks *rs);

/* Tells each that runs: its number, program and process. */
void ranks_each(const struct ranks *rs, void (*each)(uint32_t rank, uint16_t app, pid_t pid, void *arg),
                void *arg);
size_t ranks_running(const struct ranks *rs);
/* All communicators again, and all ranks are news; counts follow with the next second. */
void ranks_announce(struct ranks *rs);
void ranks_control(struct ranks *rs, double rate_hz, bool whole);
/* The next {"ranks":[...]} of those with news, from the *at-th on (begin with 0); NULL: none left. */
json_t *ranks_news(struct ranks *rs, size_t *at);

/* Remove the directory with what probes and agents leave in it; anything else stays, and then so does it. */
void ranks_remove_dir(const char *dir);

#endif
