/* query_rows.h - the long lists of a job's report, a page at a time.  A terminal that asks for a job with
 * "rows_later" receives the report without them, and then asks for their rows page by page (doc/protocol.md).
 * A page fits into a frame whatever the job's size, and is made when it is asked for, so that a slow reader
 * holds up nobody.  Between the pages the controller keeps the order of the ranks for that terminal, 4 bytes
 * a rank, so that each rank comes once. */
#ifndef SYNCGUARD_DAEMON_QUERY_ROWS_H
#define SYNCGUARD_DAEMON_QUERY_ROWS_H

#include <jansson.h>

#include "daemon/peer.h"
#include "report/report_view.h"

struct query_order;

/* Selected rows of ranks beyond which no report fits into a frame: a row has more than 256 bytes. */
#define QUERY_ROWS_MAX (LINK_FRAME_MAX / 256)

/* Fix the order of the selected ranks for this terminal, and leave all rows out of the selection. */
void query_order_begin(struct peer *p, const struct job *j, struct report_selection *s);
/* The names of the lists that are left out, as paths in the report. */
json_t *query_rows_lists(void);
/* The answer to "rows". */
json_t *query_rows(struct peer *p, const json_t *q);

#endif
