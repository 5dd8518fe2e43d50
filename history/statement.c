#include "history/statement.h"

#include <math.h>

void statement_bind_text(sqlite3_stmt *st, int at, const char *text)
{
    sqlite3_bind_text(st, at, text, -1, SQLITE_TRANSIENT);
}

void statement_bind_real(sqlite3_stmt *st, int at, double value)
{
    if (isfinite(value))
        sqlite3_bind_double(st, at, value);
    else
        sqlite3_bind_null(st, at);
}

double statement_real(sqlite3_stmt *st, int at)
{
    return sqlite3_column_type(st, at) == SQLITE_NULL ? NAN : sqlite3_column_double(st, at);
}

int statement_run(sqlite3_stmt *st, const char *what, struct err *err)
{
    int rc = sqlite3_step(st);

    if (rc != SQLITE_DONE)
        err_set(err, "%s: %s", what, sqlite3_errmsg(sqlite3_db_handle(st)));
    sqlite3_reset(st);
    sqlite3_clear_bindings(st);
    return rc == SQLITE_DONE ? 0 : -1;
}
