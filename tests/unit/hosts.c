/* Lists of controllers, and the waits between tries. */
#include "wire/hosts.h"
#include <stdlib.h>

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

int main(void)
{
    struct err err;
    struct host h;

    for (size_t i = 0; i < ARRAY_SIZE(good); i++)
        ok(hosts_pick(good[i].hosts, good[i].index, 6825, &h, &err) == good[i].n &&
               !strcmp(h.name, good[i].name) && h.port == good[i].port,
           "\"%s\", %u: %s port %d", good[i].hosts, good[i].index, h.name, h.port);
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        ok(hosts_pick(bad[i], 0, 6825, &h, &err) < 0, "\"%s\" is refused: %s", bad[i], err.text);
    char longest[600];

    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    ok(hosts_pick(longest, 0, 6825, &h, &err) < 0, "a name of 599 characters is refused");

    ok(near(hosts_retry_s(1, 1), 0.2, 0) && near(hosts_retry_s(2, 1), 0.4, 0) &&
           near(hosts_retry_s(4, 1), 1.6, 0) && near(hosts_retry_s(5, 1), 2, 0) &&
           near(hosts_retry_s(4000000000u, 1), 2, 0),
       "one host: 0.2, 0.4 ... 2 s");
    ok(near(hosts_retry_s(3, 3), 0.2, 0) && near(hosts_retry_s(4, 3), 0.4, 0),
       "three hosts: each is tried before the wait grows");
    char *all = hosts_complete("head1, head2:7000,[::1]", 6825, &err);

    is_str(all, "head1:6825,head2:7000,[::1]:6825", "a list with every port written out");
    free(all);
    ok(!hosts_complete("head1:x", 6825, &err), "or refused: %s", err.text);
    return done_testing();
}
