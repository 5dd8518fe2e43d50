/* The log: one clean line for each event, and not more of one kind than are allowed. */
#include "common/log.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/err.h"
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
    int n, fd = mkstemp(path);

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
    log_limit(300);
    for (int i = 0; i < 5000; i++)
        log_warn("flood %d", i);
    log_warn("other");
    n = lines_with("flood", last, sizeof(last));
    ok(n >= 300 && n < 400, "of 5000 lines of one kind about 300 are written: %d", n);
    is_int(lines_with("other", last, sizeof(last)), 1, "a line of another kind is written");
    usleep(300000);
    log_tick();
    text = xasprintf("%d lines were left out", 5000 - n);
    is_int(lines_with(text, last, sizeof(last)), 1, "the number of those left out is written later");
    free(text);
    unlink(path);
    return done_testing();
}
