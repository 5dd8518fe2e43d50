/* The log: one clean line for each event, and not more of one kind than are allowed. */
#include "common/log.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/err.h"
#include "common/now.h"
#include "common/utf8.h"
#include "common/xalloc.h"
#include "tests/tap.h"

static char path[] = "/tmp/syncguard-log-XXXXXX";

static int lines_with(const char *what, char *last, size_t size)
{
    FILE *f = fopen(path, "r");
    char line[2048];
    int n = 0;

    while (f && fgets(line, sizeof(line), f))
        if (strstr(line, what)) {
            n++;
            snprintf(last, size, "%s", strstr(line, what));
        }
    if (f)
        fclose(f);
    return n;
}

/* The sum of the numbers of lines that were left out, as the log has them. */
static long left_out(void)
{
    static const char before[] = "warning: ", after[] = " lines were left out that begin like this: flood";
    FILE *f = fopen(path, "r");
    char line[2048], *at, *end;
    long sum = 0, n;

    while (f && fgets(line, sizeof(line), f))
        if ((at = strstr(line, before))) {
            n = strtol(at + strlen(before), &end, 10);
            sum += strncmp(end, after, strlen(after)) == 0 ? n : 0;
        }
    if (f)
        fclose(f);
    return sum;
}

/* A limit of lines for each minute.  However long the machine takes, every line is written or counted, and
 * there are as many as the minute's and what came due meanwhile. */
static void flood(void)
{
    enum { LINES = 5000, A_MINUTE = 300 };
    double begin_s = now_s(), due, until_s = begin_s + 120;
    char last[2048];
    int n;

    log_limit(A_MINUTE);
    for (int i = 0; i < LINES; i++)
        log_warn("flood %d", i);
    due = (now_s() - begin_s) * A_MINUTE / 60;
    log_warn("other");
    n = lines_with("warning: flood", last, sizeof(last));
    printf("# %d of %d lines of one kind are written\n", n, LINES);
    ok(n >= A_MINUTE && n <= A_MINUTE + due + 1,
       "of 5000 lines of one kind those of a minute's limit are written");
    is_int(lines_with("other", last, sizeof(last)), 1, "a line of another kind is written");
    while (left_out() < LINES - n && now_s() < until_s) {
        usleep(10000);
        log_tick();
    }
    is_int(left_out(), LINES - n, "the number of those left out is written later");
}

static const struct {
    const char *text, *clean, *what;
} hostile[] = {
    { "\033]0;pwned\a\033[2Jx", "?]0;pwned??[2Jx", "escape sequences" },
    { "a\nb\tc\r", "a?b?c?", "ends of lines" },
    { "caf\xc3\xa9 \xff\xc3. \xed\xa0\x80", "caf\xc3\xa9 ??. ???", "invalid UTF-8" },
    { "\xc2\x9b"
      "31m \xe2\x80\xae"
      "abc",
      "?31m ?abc", "C1 controls and directions" },
};

int main(void)
{
    struct err err;
    char last[2048], *text;
    int fd = mkstemp(path);

    close(fd);
    log_open("test", path, LOG_LEVEL_INFO, &err);
    for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
        char clean[200];

        utf8_clean(clean, sizeof(clean), hostile[i].text);
        is_str(clean, hostile[i].clean, "utf8_clean: %s are replaced", hostile[i].what);
        err_set(&err, "%s", hostile[i].text);
        is_str(err.text, hostile[i].clean, "err_set: %s are replaced", hostile[i].what);
        err_set(&err, "x");
        err_prefix(&err, "%s", hostile[i].text);
        text = xasprintf("%s: x", hostile[i].clean);
        is_str(err.text, text, "err_prefix: %s are replaced", hostile[i].what);
        free(text);
        log_info("<%zu>%s", i, hostile[i].text);
        text = xasprintf("<%zu>", i);
        lines_with(text, last, sizeof(last));
        free(text);
        text = xasprintf("<%zu>%s\n", i, hostile[i].clean);
        is_str(last, text, "log: %s are replaced", hostile[i].what);
        free(text);
    }
    flood();
    unlink(path);
    return done_testing();
}
