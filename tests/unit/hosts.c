/* Lists of controllers, and the waits between tries. */
#include <stdlib.h>

#include "common/hosts.h"
#include "tests/tap.h"

static const struct {
    const char *hosts;
    unsigned index;
    int n, port;
    const char *name;
} good[] = {
    { "ctl", 0, 1, 6825, "ctl" },          { "ctl:7000", 0, 1, 7000, "ctl" },
    { "a,b:1,c", 1, 3, 1, "b" },           { "a,b:1,c", 5, 3, 6825, "c" },
    { " a , b ", 1, 2, 6825, "b" },        { "10.77.0.1:65535", 0, 1, 65535, "10.77.0.1" },
    { "[fe80::1]:9", 0, 1, 9, "fe80::1" }, { "[::1]", 0, 1, 6825, "::1" },
    { "fe80::1", 7, 1, 6825, "fe80::1" },
};

static const char *const bad[] = { "",   " , ",  "a:",     "a:0",  "a:65536", "a:7x", "a:-1",
                                   ":7", "[::1", "[::1]7", "[]:7", "a,b:x",   "a/b" };

/* It doubles from 0.2 to 2 s, and only once all hosts were tried. */
static const struct {
    unsigned failures;
    int hosts;
    double wait_s;
} waits[] = {
    { 1, 1, 0.2 },         { 2, 1, 0.4 }, { 4, 1, 1.6 }, { 5, 1, 2 },
    { 4000000000u, 1, 2 }, { 3, 3, 0.2 }, { 4, 3, 0.4 },
};

int main(void)
{
    struct err err;
    struct host h;

    for (size_t i = 0; i < ARRAY_SIZE(good); i++)
        ok(hosts_pick(good[i].hosts, good[i].index, 6825, &h, &err) == good[i].n &&
               !strcmp(h.name, good[i].name) && h.port == good[i].port,
           "hosts_pick: host %2$u of '%1$s' is %3$s, port %4$d", good[i].hosts, good[i].index, good[i].name,
           good[i].port);
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        ok(hosts_pick(bad[i], 0, 6825, &h, &err) < 0, "hosts_pick: '%s' is rejected: %s", bad[i], err.text);
    char longest[600];

    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    ok(hosts_pick(longest, 0, 6825, &h, &err) < 0, "hosts_pick: a name of 599 characters is rejected");

    for (size_t i = 0; i < ARRAY_SIZE(waits); i++)
        is_near(hosts_retry_s(waits[i].failures, waits[i].hosts, 0.5), waits[i].wait_s, 0,
                "hosts_retry_s: the mean wait after %u failures with %d hosts", waits[i].failures,
                waits[i].hosts);
    is_near(hosts_retry_s(5, 1, 0), 1.5, 1e-9, "hosts_retry_s: by chance the wait is a quarter shorter");
    is_near(hosts_retry_s(5, 1, 1), 2.5, 1e-9, "hosts_retry_s: by chance the wait is a quarter longer");
    char all[64];

    is_int(hosts_complete("head1, head2:7000,[::1]", 6825, all, sizeof(all), &err), 0,
           "hosts_complete: hosts with and without ports are accepted");
    is_str(all, "head1:6825,head2:7000,[::1]:6825", "hosts_complete: every port is written out");
    ok(hosts_complete("head1:x", 6825, all, sizeof(all), &err) < 0,
       "hosts_complete: a port that is no number is rejected: %s", err.text);
    ok(hosts_complete("head1,head2", 6825, all, sizeof("head1:6825"), &err) < 0,
       "hosts_complete: a list that is too long is rejected: %s", err.text);
    return done_testing();
}
