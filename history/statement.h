/* statement.h - SQLite's prepared statements as the controller's databases use them.
 *
 * NaN and infinity are null, both ways; texts are copied. */
#ifndef SYNCGUARD_HISTORY_STATEMENT_H
#define SYNCGUARD_HISTORY_STATEMENT_H

#include <sqlite3.h>

#include "common/err.h"

void statement_bind_text(sqlite3_stmt *st, int at, const char *text);
void statement_bind_real(sqlite3_stmt *st, int at, double value);
double statement_real(sqlite3_stmt *st, int at);

/* Run one that gives no rows, and make it ready again.  0, or -1 with "WHAT: " and SQLite's reason. */
int statement_run(sqlite3_stmt *st, const char *what, struct err *err);

#endif
