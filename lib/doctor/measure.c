#include "doctor/measure.h"

#include <endian.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/now.h"
#include "common/tool.h"
#include "wire/json.h"

#define PINGS       40
#define PINGS_MIN   5
#define PINGS_S     0.03
#define BULK_BYTES  (2u << 20) /* or as many as go in BULK_S */
#define BULK_S      0.05
#define CHUNK_BYTES 65536u
/* the kernel takes twice that: 0.2 s at 10 Mbit/s, which are sent after BULK_S */
#define SEND_BUFFER (128 << 10)
/* queues and token buckets let a burst of this many bytes through at once */
#define SKIPPED     (256u << 10)
#define SPAN_MIN_S  20e-6             /* of less no rate can be told */
#define RATE_BYTES  24                /* a rate as text */
#define HELLO_BYTES MEASURE_KEY_BYTES /* the key, then what is asked for */
#define HELLO_S     0.5
#define FIGURE_MAX  1e15
#define AHEAD_MAX_S 1e10 /* a clock since 1970 */

int measure_read(const char *line, struct measure_reply *r)
{
    json_t *o = strlen(line) < MEASURE_REPLY_BYTES ? json_loads(line, JSON_REJECT_DUPLICATES, NULL) : NULL;
    int64_t task = json_get_int(o, "task", 0, MEASURE_TASKS_MAX - 1, -1),
            port = json_get_int(o, "port", 1, 65535, 0), round = json_get_int(o, "round", 0, 1000000, -1);

    *r = (struct measure_reply){ .task = (uint32_t)task, .port = (uint16_t)port, .round = (unsigned)round };
    r->protocol = (int)json_get_int(o, "protocol", 1, 1000, 1);
    r->ahead_s = json_get_real(o, "ahead_s", -AHEAD_MAX_S, AHEAD_MAX_S);
    r->rtt_s = json_get_real(o, "rtt_s", 1e-9, MEASURE_LIMIT_S);
    r->there_bytes_per_s = json_get_real(o, "there", 1, FIGURE_MAX);
    r->back_bytes_per_s = json_get_real(o, "back", 1, FIGURE_MAX);
    json_get_text(o, "node", r->node, sizeof(r->node));
    json_get_text(o, "mpi", r->mpi, sizeof(r->mpi));
    json_get_text(o, "why", r->why, sizeof(r->why));
    json_decref(o);
    return task >= 0 && (r->node[0] ? port || r->mpi[0] || r->why[0] : !port && !r->mpi[0] && round >= 0)
               ? 0
               : -1;
}

int measure_find(struct measure_peer *p, const char *address, uint16_t port)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *all = NULL;
    char service[8];

    p->length = 0;
    snprintf(service, sizeof(service), "%u", port);
    if (getaddrinfo(address, service, &hints, &all) != 0)
        return -1;
    if (all->ai_addrlen <= sizeof(p->address)) {
        memcpy(&p->address, all->ai_addr, all->ai_addrlen);
        p->length = all->ai_addrlen;
    }
    freeaddrinfo(all);
    return p->length ? 0 : -1;
}

int measure_listen(uint16_t *port, struct err *err)
{
    struct sockaddr_in6 any = { .sin6_family = AF_INET6 };
    struct sockaddr_in any4 = { .sin_family = AF_INET };
    struct sockaddr_storage got;
    socklen_t length = sizeof(got);
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), no = 0;

    if (fd >= 0) {
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
        if (bind(fd, (struct sockaddr *)&any, sizeof(any)) < 0) {
            close(fd);
            fd = -1;
        }
    }
    if (fd < 0) { /* no IPv6 here */
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0 || bind(fd, (struct sockaddr *)&any4, sizeof(any4)) < 0)
            goto fail;
    }
    if (listen(fd, 16) < 0 || getsockname(fd, (struct sockaddr *)&got, &length) < 0)
        goto fail;
    *port = ntohs(got.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&got)->sin6_port
                                            : ((struct sockaddr_in *)&got)->sin_port);
    return fd;
fail:
    err_set(err, "cannot listen: %s", strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool again(ssize_t k)
{
    return k < 0 && (errno == EAGAIN || errno == EINTR);
}

static bool write_all(int fd, const void *data, size_t n, double until_s)
{
    const char *from = data;

    while (n) {
        ssize_t k = send(fd, from, n, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (k < 0 && (!again(k) || !tool_wait(fd, POLLOUT, until_s)))
            return false;
        from += k > 0 ? k : 0;
        n -= (size_t)(k > 0 ? k : 0);
    }
    return true;
}

static bool read_all(int fd, void *data, size_t n, double until_s)
{
    char *to = data;

    while (n) {
        ssize_t k = recv(fd, to, n, MSG_DONTWAIT);

        if (k == 0 || (k < 0 && (!again(k) || !tool_wait(fd, POLLIN, until_s))))
            return false;
        to += k > 0 ? k : 0;
        n -= (size_t)(k > 0 ? k : 0);
    }
    return true;
}

static void prepare_socket(int fd)
{
    int yes = 1, bytes = SEND_BUFFER;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

/* Connect and show the key.  -1: not in time, *why says what failed. */
static int call_peer(const struct measure_peer *p, const char *key, bool rates, double until_s,
                     const char **why)
{
    char hello[HELLO_BYTES];
    socklen_t length = sizeof(int);
    int fd, bad = 0;

    *why = "its address is not known";
    fd = p->length ? socket(p->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0) : -1;
    if (fd < 0)
        return -1;
    prepare_socket(fd);
    memcpy(hello, key, sizeof(hello));
    hello[sizeof(hello) - 1] = rates ? 'r' : 't';
    if (connect(fd, (const struct sockaddr *)&p->address, p->length) < 0 && errno != EINPROGRESS)
        *why = "no connection";
    else if (!tool_wait(fd, POLLOUT, until_s))
        *why = "no connection in time";
    else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &bad, &length) < 0 || bad)
        *why = bad == ECONNREFUSED   ? "connection refused"
               : bad == EHOSTUNREACH ? "no route"
                                     : "no connection";
    else if (!write_all(fd, hello, sizeof(hello), until_s))
        *why = "the connection broke";
    else
        return fd;
    close(fd);
    return -1;
}

/* Send for a while, then end this direction. */
static void send_bulk(int fd, double until_s)
{
    static const char chunk[CHUNK_BYTES];
    double stop_s = now_s() + BULK_S;

    for (size_t sent = 0; sent < BULK_BYTES && now_s() < stop_s; sent += sizeof(chunk))
        if (!write_all(fd, chunk, sizeof(chunk), until_s))
            break;
    shutdown(fd, SHUT_WR);
}

/* The rate at which it arrives, after what came at once; of less, after what was received first. NaN: too
 * little came. */
static double receive_bulk(int fd, double until_s)
{
    char chunk[CHUNK_BYTES];
    double first_s = NAN, from_s = NAN, last_s = NAN;
    size_t bytes = 0, first = 0, from = 0;

    for (;;) {
        ssize_t k = recv(fd, chunk, sizeof(chunk), MSG_DONTWAIT);

        if (k == 0 || (k < 0 && (!again(k) || !tool_wait(fd, POLLIN, until_s))) || now_s() > until_s)
            break;
        if (k < 0)
            continue;
        bytes += (size_t)k;
        last_s = now_s();
        if (isnan(first_s)) {
            first_s = last_s;
            first = bytes;
        }
        if (isnan(from_s) && bytes >= SKIPPED) {
            from_s = last_s;
            from = bytes;
        }
    }
    if (last_s - from_s > SPAN_MIN_S)
        return (double)(bytes - from) / (last_s - from_s);
    return last_s - first_s > SPAN_MIN_S ? (double)(bytes - first) / (last_s - first_s) : NAN;
}

static uint64_t wall_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The shortest of some round trips: what the path takes when nothing waits. B read its clock at some time
 * within it. */
static void ping_partner(int fd, double until_s, struct measured *m)
{
    double begin_s = now_s();

    for (int i = 0; i < PINGS && (i < PINGS_MIN || now_s() < begin_s + PINGS_S); i++) {
        double from_s = now_s(), rtt_s;
        uint64_t wall = wall_ns(), there;
        char byte = 'p';

        if (!write_all(fd, &byte, 1, until_s) || !read_all(fd, &there, sizeof(there), until_s))
            break;
        rtt_s = now_s() - from_s;
        if (rtt_s >= m->rtt_s)
            continue;
        m->rtt_s = rtt_s;
        m->ahead_s = (double)(int64_t)(be64toh(there) - wall) * 1e-9 - rtt_s / 2;
    }
}

/* Both ways, one after the other; B tells what arrived there. */
static void exchange_bulk(int fd, double until_s, struct measured *m)
{
    char byte, text[RATE_BYTES + 1] = "";

    if (!read_all(fd, &byte, 1, until_s)) {
        m->why = "no answer in time";
        return;
    }
    send_bulk(fd, until_s);
    if (!read_all(fd, text, RATE_BYTES, until_s)) {
        m->why = "bytes did not arrive in time";
        return;
    }
    if (sscanf(text, "%lf", &m->there_bytes_per_s) != 1)
        m->there_bytes_per_s = NAN;
    m->back_bytes_per_s = receive_bulk(fd, until_s);
    if (isnan(m->there_bytes_per_s) || isnan(m->back_bytes_per_s))
        m->why = "bytes did not arrive in time";
}

struct measured measure_call(const struct measure_peer *p, const char *key, bool rates)
{
    double until_s = now_s() + MEASURE_LIMIT_S;
    struct measured m = { NAN, NAN, NAN, NAN, NULL };
    int fd = call_peer(p, key, rates, until_s, &m.why);

    if (fd < 0)
        return m;
    m.why = NULL;
    if (rates) {
        exchange_bulk(fd, until_s, &m);
    } else {
        ping_partner(fd, until_s, &m);
        if (isnan(m.rtt_s))
            m.why = "no answer in time";
    }
    close(fd);
    return m;
}

/* A connection that shows the key within the time. */
static int accept_peer(int listening, const char *key, bool rates, double until_s)
{
    while (tool_wait(listening, POLLIN, until_s)) {
        char hello[HELLO_BYTES];
        int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd < 0)
            continue;
        prepare_socket(fd);
        if (read_all(fd, hello, sizeof(hello), fmin(until_s, now_s() + HELLO_S)) &&
            !memcmp(hello, key, sizeof(hello) - 1) && hello[sizeof(hello) - 1] == (rates ? 'r' : 't'))
            return fd;
        close(fd);
    }
    return -1;
}

void measure_answer(int listening, const char *key, bool rates)
{
    double until_s = now_s() + MEASURE_LIMIT_S;
    int fd = accept_peer(listening, key, rates, until_s);
    char byte = 'r', text[RATE_BYTES + 1];
    uint64_t here;

    if (fd < 0)
        return;
    while (!rates && read_all(fd, &byte, 1, until_s)) { /* a byte is answered by the time */
        here = htobe64(wall_ns());
        if (!write_all(fd, &here, sizeof(here), until_s))
            break;
    }
    if (rates && write_all(fd, &byte, 1, until_s)) {
        double rate = receive_bulk(fd, until_s);

        snprintf(text, sizeof(text), "%-*.9g", RATE_BYTES, rate);
        if (write_all(fd, text, RATE_BYTES, until_s))
            send_bulk(fd, until_s);
        read_all(fd, &byte, 1, until_s); /* until it has them all */
    }
    close(fd);
}
