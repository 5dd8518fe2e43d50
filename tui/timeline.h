/* timeline.h - the verdicts of a job over time, under the columns of its heat map.
 *
 * A verdict is a bar: its class's letter where it began, a line, '|' where it ended or '▶' when it still
 * stands; '◀' when it began before the oldest column. One line a verdict; when there are more verdicts than
 * lines, the last line has all the others together, the most costly in front, of the others the letters. */
#ifndef SYNCGUARD_TUI_TIMELINE_H
#define SYNCGUARD_TUI_TIMELINE_H

#include "term/canvas.h"
#include "report/report.h"

/* Where the heat map's columns stand on the canvas, the newest at the right end; labels go from 1 to before
 * them. column_s: how long a column is; unknown: nothing is drawn. */
struct timeline_place {
    int x, columns;
    double column_s;
};

/* Lines that it can use, at least 1, at most max. */
int timeline_rows(const struct report *v, const struct timeline_place *at, int max);
void timeline_draw(struct canvas *c, int y, int rows, const struct report *v,
                   const struct timeline_place *at);

#endif
