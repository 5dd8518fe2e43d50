#include "nodefigures/connections.h"

#include <endian.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <math.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common/now.h"
#include "common/xalloc.h"

#define ESTABLISHED 1u /* state of a connection in the kernel: TCP_ESTABLISHED */
#define REPLY_BYTES (32u << 10)
#define FOUND_MAX   4096u  /* of this user */
#define DUMP_MAX    65536u /* of the node: with more it would cost too much */
#define FIND_SHARE  2e-4   /* of a core */
/* times that it is done at the beginning, as programs connect with their first messages ... */
#define SOON       6u
#define SOON_S     0.9 /* ... from one to the next */
#define INFO_BYTES (offsetof(struct tcp_info, tcpi_rwnd_limited) + sizeof(uint64_t))

struct connection {
    struct inet_diag_sockid id;
    uint8_t family;
    uint64_t bytes, busy_us; /* when last asked */
};

struct connections {
    int fd; /* -1: the kernel does not answer */
    uint32_t seq, times;
    double due_s;
    struct connection followed[CONNECTIONS_MAX];
    size_t n;
    uint8_t reply[REPLY_BYTES];
};

struct connections *connections_new(void)
{
    struct connections *c = xcalloc(1, sizeof(*c));

    c->due_s = -INFINITY;
    c->fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
    return c;
}

static void stop_asking(struct connections *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    c->n = 0;
}

void connections_free(struct connections *c)
{
    if (!c)
        return;
    stop_asking(c);
    free(c);
}

/* ---- questions and answers ---- */

/* About all connections of the family, or about the one with this id. */
static bool ask_kernel(struct connections *c, uint8_t family, const struct inet_diag_sockid *id)
{
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 request;
    } q = { .head = { .nlmsg_len = sizeof(q),
                      .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                      .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | (id ? 0 : NLM_F_DUMP)),
                      .nlmsg_seq = ++c->seq },
            .request = { .sdiag_family = family,
                         .sdiag_protocol = IPPROTO_TCP,
                         .idiag_ext = 1 << (INET_DIAG_INFO - 1),
                         .idiag_states = 1 << ESTABLISHED } };
    struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

    if (id)
        q.request.id = *id;
    return sendto(c->fd, &q, sizeof(q), 0, (struct sockaddr *)&kernel, sizeof(kernel)) == (ssize_t)sizeof(q);
}

/* The connection that an answer describes.  False: it is another user's, or the kernel is older than these
 * counters (4.10). */
static bool read_connection(const struct nlmsghdr *h, struct connection *out)
{
    const struct inet_diag_msg *m = NLMSG_DATA(h);
    int left = (int)h->nlmsg_len - (int)NLMSG_LENGTH(sizeof(*m));
    struct tcp_info info = { 0 };

    if (left < 0 || m->idiag_uid != geteuid())
        return false;
    for (const struct rtattr *a = (const struct rtattr *)(m + 1); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
        if (a->rta_type != INET_DIAG_INFO || RTA_PAYLOAD(a) < INFO_BYTES)
            continue;
        memcpy(&info, RTA_DATA(a), RTA_PAYLOAD(a) < sizeof(info) ? RTA_PAYLOAD(a) : sizeof(info));
        *out = (struct connection){ .id = m->id, .family = m->idiag_family, .bytes = info.tcpi_bytes_acked };
        if (info.tcpi_busy_time > info.tcpi_rwnd_limited)
            out->busy_us = info.tcpi_busy_time - info.tcpi_rwnd_limited;
        return true;
    }
    return false;
}

/* ---- which are followed ---- */

struct search { /* what it has found */
    struct connection *list;
    size_t n;
    uint32_t dumped;
};

/* NLMSG_OK compares signed with unsigned. */
static bool is_whole(const struct nlmsghdr *h, ssize_t left)
{
    return left >= (ssize_t)sizeof(*h) && h->nlmsg_len >= sizeof(*h) && h->nlmsg_len <= (size_t)left;
}

/* Each reading makes the kernel prepare the next part, so that none is waited for.  False: it is over. */
static bool take_part(struct connections *c, struct search *found)
{
    ssize_t got = recv(c->fd, c->reply, sizeof(c->reply), MSG_DONTWAIT);
    ssize_t left = got;

    if (got <= 0)
        return got < 0 && errno == EINTR;
    for (const struct nlmsghdr *h = (const struct nlmsghdr *)c->reply; is_whole(h, left);
         h = NLMSG_NEXT(h, left)) {
        struct connection one;

        if (h->nlmsg_seq != c->seq) /* of a question that was given up */
            continue;
        if (h->nlmsg_type != SOCK_DIAG_BY_FAMILY)
            return false; /* done, or an error */
        if (++found->dumped > DUMP_MAX) {
            stop_asking(c);
            return false;
        }
        if (found->n < FOUND_MAX && read_connection(h, &one) &&
            memcmp(one.id.idiag_src, one.id.idiag_dst, sizeof(one.id.idiag_src)) != 0)
            found->list[found->n++] = one;
    }
    return true;
}

static int by_bytes(const void *a, const void *b)
{
    const struct connection *x = a, *y = b;

    return (y->bytes > x->bytes) - (y->bytes < x->bytes);
}

static bool is_same(const struct connection *a, const struct connection *b)
{
    return !memcmp(a->id.idiag_cookie, b->id.idiag_cookie, sizeof(a->id.idiag_cookie));
}

void connections_find(struct connections *c, double now_s)
{
    static const uint8_t families[] = { AF_INET, AF_INET6 };
    struct search found = { 0 };
    double began_s = now_of(CLOCK_THREAD_CPUTIME_ID);
    size_t n;

    if (c->fd < 0 || now_s < c->due_s)
        return;
    found.list = xcalloc(FOUND_MAX, sizeof(found.list[0]));
    for (size_t i = 0; i < ARRAY_SIZE(families) && c->fd >= 0; i++)
        if (ask_kernel(c, families[i], NULL))
            while (take_part(c, &found))
                ;
    if (c->fd >= 0) {
        /* Those that have sent most.  One that was followed before goes on from where it was. */
        n = found.n < CONNECTIONS_MAX ? found.n : CONNECTIONS_MAX;
        qsort(found.list, found.n, sizeof(found.list[0]), by_bytes);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < c->n; k++)
                if (is_same(&found.list[i], &c->followed[k]))
                    found.list[i] = c->followed[k];
        memcpy(c->followed, found.list, n * sizeof(c->followed[0]));
        c->n = n;
    }
    free(found.list);
    c->due_s = now_s + (c->times < SOON ? SOON_S : (now_of(CLOCK_THREAD_CPUTIME_ID) - began_s) / FIND_SHARE);
    c->times += c->times < SOON;
}

/* ---- what they send ---- */

/* IPv4 as IPv6 writes it. */
static void take_address(uint8_t family, const __be32 *from, uint64_t address[2])
{
    uint8_t bytes[16] = { 0 };

    if (family == AF_INET) {
        memset(bytes + 10, 0xff, 2);
        memcpy(bytes + 12, from, 4);
    } else {
        memcpy(bytes, from, 16);
    }
    memcpy(address, bytes, 16);
    address[0] = be64toh(address[0]);
    address[1] = be64toh(address[1]);
}

/* Ask for this one: what it has sent since it was asked last.  False: it is closed. */
static bool follow_connection(struct connections *c, struct connection *was, struct traffic_item *sent)
{
    struct connection now;
    const struct nlmsghdr *h = (const struct nlmsghdr *)c->reply;
    ssize_t got;

    if (!ask_kernel(c, was->family, &was->id))
        return false;
    do
        got = recv(c->fd, c->reply, sizeof(c->reply), MSG_DONTWAIT);
    while (got >= (ssize_t)sizeof(*h) && h->nlmsg_seq != c->seq);
    if (got <= 0 || !is_whole(h, got) || h->nlmsg_type != SOCK_DIAG_BY_FAMILY || !read_connection(h, &now) ||
        !is_same(&now, was))
        return false;
    *sent = (struct traffic_item){ .bytes = now.bytes - was->bytes,
                                   .busy_ns =
                                       now.busy_us > was->busy_us ? 1000 * (now.busy_us - was->busy_us) : 0 };
    take_address(now.family, now.id.idiag_src, sent->local);
    take_address(now.family, now.id.idiag_dst, sent->remote);
    *was = now;
    return true;
}

static void add_traffic(struct traffic_item *pair, size_t *n, const struct traffic_item *sent)
{
    for (size_t i = 0; i < *n; i++)
        if (!memcmp(pair[i].local, sent->local, sizeof(sent->local)) &&
            !memcmp(pair[i].remote, sent->remote, sizeof(sent->remote))) {
            pair[i].bytes += sent->bytes;
            pair[i].busy_ns += sent->busy_ns;
            return;
        }
    pair[(*n)++] = *sent;
}

static int by_sent(const void *a, const void *b)
{
    const struct traffic_item *x = a, *y = b;

    return (y->bytes > x->bytes) - (y->bytes < x->bytes);
}

size_t connections_look(struct connections *c, struct traffic_item *item)
{
    struct traffic_item pair[CONNECTIONS_MAX], sent;
    size_t n = 0, kept = 0;

    for (size_t i = 0; i < c->n; i++) {
        if (!follow_connection(c, &c->followed[i], &sent))
            continue;
        c->followed[kept++] = c->followed[i];
        if (sent.bytes)
            add_traffic(pair, &n, &sent);
    }
    c->n = kept;
    qsort(pair, n, sizeof(pair[0]), by_sent);
    n = n < CONNECTIONS_PAIRS_MAX ? n : CONNECTIONS_PAIRS_MAX;
    memcpy(item, pair, n * sizeof(*item));
    return n;
}
