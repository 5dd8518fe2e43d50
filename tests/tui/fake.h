/* fake.h - answers as a controller would give them (doc/protocol.md), computed from the time alone: the same
 * for the same time, animated when it goes on.
 *
 * One job of many ranks trains; from slow_at_s on one node is slower.  Beside it stand a hung, a new and an
 * ended job, a node without its agent, and whatever a name may hold. */
#ifndef SYNCGUARD_TESTS_TUI_FAKE_H
#define SYNCGUARD_TESTS_TUI_FAKE_H

#include <jansson.h>

struct fake {
    int ranks, ranks_per_node;
    double slow_at_s;
    int slow_node;
    int jobs; /* further quiet ones in the list */
};

extern const struct fake fake_default;

/* The answer to a question, t_s seconds after the job's start (new reference). */
json_t *fake_answer(const struct fake *f, const json_t *question, double t_s);

/* fake_control.c: policy, pacing and checkpoints of a job; the answer to `control` and `action` (new). */
void fake_put_control(json_t *job);
json_t *fake_act(const json_t *question);

/* fake_step.c: a step, drawn with at most so many rows (new). */
json_t *fake_step(unsigned rows);

#endif
