/* draw.h - bars, sparklines, heat maps and rules on a canvas. */
#ifndef SYNCGUARD_TERM_DRAW_H
#define SYNCGUARD_TERM_DRAW_H

#include <stddef.h>

#include "term/canvas.h"

/* A horizontal bar, an eighth of a column exact; nothing for an unknown ratio. */
void draw_bar(struct canvas *c, int y, int x, int width, enum style style, double ratio);

/* The newest of n values, which stand last, at the right end, one a column; nothing for an unknown one.  The
 * scale runs from the least to the largest of them; when they are closer than a fifth it is widened around
 * them: noise is not blown up into mountains. */
void draw_spark(struct canvas *c, int y, int x, int width, enum style style, const double *value, size_t n);

/* One row of a heat map: taller and hotter with each of scale thresholds that was reached; n_scale >= 1. */
void draw_heat(struct canvas *c, int y, int x, int width, const char *levels, size_t n_scale);

/* "── title ─────" over the width. */
void draw_rule(struct canvas *c, int y, int x, int width, const char *title);

#endif
