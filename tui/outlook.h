/* outlook.h - a job in one line each: what was found, where it is going, how it compares with similar runs.
 */
#ifndef SYNCGUARD_TUI_OUTLOOK_H
#define SYNCGUARD_TUI_OUTLOOK_H

#include "tui/canvas.h"
#include "tui/snapshot.h"

/* All verdicts with their price and age, each in its severity's colour; without any, above what nothing was
 * found. */
void outlook_verdicts(struct canvas *c, int y, int x, int width, const struct snap_job *j);

/* "synchronisation in about 40 min (25 to 70)", "no trend"; "" when nothing is known.  Returns buf. */
char *outlook_projection(const struct snap_projection *p, char *buf, size_t size);
void outlook_projection_draw(struct canvas *c, int y, int x, int width, const struct snap_projection *p);

/* "step 1.04x of the median of 6 similar runs"; "" when nothing is known.  Returns buf. */
char *outlook_past(const struct snap_past *p, char *buf, size_t size);

#endif
