/* draw.h - parts of screens: bars, sparklines, labels, rules. */
#ifndef SYNCGUARD_TUI_DRAW_H
#define SYNCGUARD_TUI_DRAW_H

#include <stddef.h>

#include "tui/canvas.h"
#include "tui/snapshot.h"

/* A horizontal bar, an eighth of a column exact; nothing for an unknown ratio. */
void draw_bar(struct canvas *c, int y, int x, int width, enum style style, double ratio);

/* The newest values at the right end, one a column.  The scale runs from the least to the largest of them;
 * when they are closer than a fifth it is widened around them: noise is not blown up into mountains. */
void draw_spark(struct canvas *c, int y, int x, int width, enum style style, const struct snap_series *s);

/* One row of a heat map: taller and hotter with each of scale thresholds that was reached; n_scale >= 1. */
void draw_heat(struct canvas *c, int y, int x, int width, const char *levels, size_t n_scale);

/* Shares of the time as one stacked bar. */
void draw_shares(struct canvas *c, int y, int x, int width, const double share[SHARES]);

/* "── title ─────" over the width. */
void draw_rule(struct canvas *c, int y, int x, int width, const char *title);

enum style draw_severity_style(enum severity s);
enum style draw_severity_tag_style(enum severity s);
enum style draw_class_style(const char *class);
/* A class of verdicts in one column, in its colour: "S" of a straggler; "?" of one that is unknown here. */
void draw_class(struct canvas *c, int y, int x, const char *class);
/* "S straggler  D drift ...", in their colours, over as many rows as it takes; returns how many. */
int draw_classes(struct canvas *c, int y, int x, int width);
/* "r3, r9", "r3, r9 +14": the first names, and how many more there are. Returns buf. */
char *draw_culprits(char *buf, size_t size, const char *culprits, size_t n);
/* "OK", "SLOW", "HUNG", "LOST", ...: the severity in a word, for screens without colour. */
const char *draw_job_tag(const struct snap_job *j);

#endif
