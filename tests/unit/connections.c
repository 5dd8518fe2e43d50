/* What TCP connections send, as the kernel counts it: two addresses of the loopback interface stand for two
 * nodes. */
#include "nodefigures/connections.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/tap.h"

#define FROM  0x7f000002u
#define TO    0x7f000003u
#define BYTES 300000u

static struct sockaddr_in address(uint32_t host)
{
    return (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(host) };
}

/* Connects a socket at FROM to one at TO; 0, or -1. */
static int connect_two(int end[2])
{
    struct sockaddr_in from = address(FROM), to = address(TO);
    socklen_t size = sizeof(to);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    end[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&to, sizeof(to)) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&to, &size) ||
        bind(end[0], (struct sockaddr *)&from, sizeof(from)) ||
        connect(end[0], (struct sockaddr *)&to, sizeof(to)))
        return -1;
    end[1] = accept(listener, NULL, NULL);
    close(listener);
    return end[1] < 0 ? -1 : 0;
}

static void transfer(const int end[2])
{
    static char data[BYTES];
    size_t got = 0;

    if (write(end[0], data, sizeof(data)) != (ssize_t)sizeof(data))
        return;
    while (got < sizeof(data)) {
        ssize_t n = read(end[1], data, sizeof(data));

        if (n <= 0)
            return;
        got += (size_t)n;
    }
}

static const struct traffic_item *between(const struct traffic_item *item, size_t n, uint32_t from,
                                          uint32_t to)
{
    for (size_t i = 0; i < n; i++)
        if (!item[i].local[0] && item[i].local[1] == (0xffff00000000u | from) && !item[i].remote[0] &&
            item[i].remote[1] == (0xffff00000000u | to))
            return &item[i];
    return NULL;
}

/* The last bytes may not be acknowledged yet when they have been read. */
static uint64_t bytes_sent(struct connections *c)
{
    uint64_t sum = 0;

    for (int i = 0; i < 12000 && sum < BYTES; i++) {
        struct traffic_item item[CONNECTIONS_PAIRS_MAX];
        const struct traffic_item *it = between(item, connections_look(c, item), FROM, TO);

        sum += it ? it->bytes : 0;
        usleep(10000);
    }
    return sum;
}

int main(void)
{
    struct connections *c = connections_new();
    struct traffic_item item[CONNECTIONS_PAIRS_MAX];
    int end[2];

    if (connect_two(end) < 0) {
        ok(true, "# SKIP no two addresses here");
        connections_free(c);
        return done_testing();
    }
    transfer(end);
    connections_find(c, 0);
    ok(!between(item, connections_look(c, item), FROM, TO),
       "what was sent before a connection was found does not count");
    transfer(end);
    is_int((long long)bytes_sent(c), BYTES,
           "the bytes since then are counted, by the addresses of both ends");
    ok(!between(item, connections_look(c, item), FROM, TO), "and only once");
    connections_find(c, 100);
    transfer(end);
    is_int((long long)bytes_sent(c), BYTES, "a connection that is found again goes on");
    close(end[0]);
    close(end[1]);
    ok(!between(item, connections_look(c, item), FROM, TO), "one that is closed is forgotten");
    connections_free(c);
    connections_free(NULL);
    return done_testing();
}
