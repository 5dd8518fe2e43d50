/* hostile - a user who tries to take the controller away from the others: tests/daemon/bounds.sh and
 * tests/security/siege.sh run it with another uid.
 *   hostile HOST:PORT MUNGE_SOCKET WHAT SECONDS|FILE     (for SECONDS, or until FILE is gone: a path with a slash)
 * WHAT: ranks (steps whose only rank has the largest number), comms (communicators of 65,536 members), period
 * (a rank that alternates between two), halves (frames that are begun and not finished), jobs (many steps),
 * reports (steps with all ranks, ended), questions (large answers that nobody reads), greetings (without a
 * credential), silence (connections that say nothing). */
#include <event2/event.h>
#include <jansson.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/now.h"
#include "common/xalloc.h"
#include "ring/ring.h"
#include "tests/ends.h"
#include "wire/link.h"
#include "wire/seal.h"
#include "wire/telemetry.h"

#define LARGEST 65535u
#define COMMS   1000u

struct agent {
    unsigned job;
    struct link *link;
    bool up;
    uint64_t batch;
    uint32_t seq;
    int fd;         /* of its link */
    size_t written; /* of a frame, past the link */
};

/* The floods through links; each has job numbers of its own, so that all can go on at once. */
static const struct kind {
    const char *name;
    unsigned links, job;
} kinds[] = {
    { "ranks", 30, 700000 },  { "comms", 1, 710000 },  { "period", 1, 720000 }, { "jobs", 1500, 730000 },
    { "reports", 5, 740000 }, { "questions", 100, 0 }, { "halves", 400, 0 },    { 0 },
};

static struct event_base *base;
static const char *what, *hosts, *munge, *file;
static double until_s;
static struct telemetry_writer w;
static uint8_t data[TELEMETRY_BATCH_MAX];
static unsigned errors;

/* A flood comes from a host of its own, on the loopback too: an address that others have as well is limited
 * for them with it. */
int connect(int fd, const struct sockaddr *to, socklen_t bytes)
{
    const struct sockaddr_in from = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1) };
    const int port_later = 1; /* which the kernel then has for each partner */

    if (to->sa_family == AF_INET &&
        ntohl(((const struct sockaddr_in *)to)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET &&
        (setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &port_later, sizeof(port_later)) < 0 ||
         bind(fd, (const struct sockaddr *)&from, sizeof(from)) < 0))
        return -1;
    return (int)syscall(SYS_connect, fd, to, bytes);
}

static bool lasts(void)
{
    return file ? access(file, F_OK) == 0 : now_s() < until_s;
}

static void flush(struct agent *a)
{
    if (w.items)
        link_send(a->link, LINK_TELEMETRY, data, telemetry_end(&w, ++a->batch, 1));
    telemetry_begin(&w, data, sizeof(data));
}

static void put(struct agent *a, const struct telemetry_item *i)
{
    if (telemetry_put(&w, i) == 0)
        return;
    flush(a);
    telemetry_put(&w, i);
}

static void announce(struct agent *a, uint32_t first, uint32_t last)
{
    json_t *ranks = json_array();

    for (uint32_t r = first; r <= last; r++) {
        json_array_append_new(ranks,
                              json_pack("{s:i,s:i,s:s}", "rank", (int)r, "app", 0, "state", "running"));
        if (r % 8192 == 8191 || r == last) {
            test_send_json(a->link, json_pack("{s:O}", "ranks", ranks));
            json_array_clear(ranks);
        }
    }
    json_decref(ranks);
}

static void on_up(struct link *l, void *arg)
{
    struct agent *a = arg;

    (void)l;
    a->up = true;
    if (!strcmp(what, "questions") || !strcmp(what, "halves"))
        return;
    test_send_json(a->link, json_pack("{s:s,s:s,s:i,s:i,s:i,s:s,s:i,s:i}", "hello", "agent", "agent", "f00d",
                                      "job", (int)a->job, "step", 0, "uid", (int)getuid(), "node", "node1",
                                      "nodes", 1, "tasks", (int)LARGEST + 1));
    if (!strcmp(what, "ranks") || !strcmp(what, "period"))
        announce(a, LARGEST, LARGEST);
    else if (!strcmp(what, "comms"))
        announce(a, 0, 0);
    else if (!strcmp(what, "reports"))
        announce(a, 0, LARGEST);
    if (!strcmp(what, "jobs") || !strcmp(what, "reports"))
        test_send_json(a->link, json_pack("{s:s}", "bye", "step ended"));
}

static void on_frame(struct link *l, enum link_frame type, const void *text, size_t bytes, void *arg)
{
    (void)l, (void)type, (void)arg;
    if (memmem(text, bytes, "\"error\"", 7) && !errors++)
        printf("%.*s\n", bytes < 400 ? (int)bytes : 400, (const char *)text);
}

static void on_down(struct link *l, const char *why, void *arg)
{
    struct agent *a = arg;

    (void)l, (void)why;
    a->link = NULL;
    a->up = false;
}

static const struct link_events events = { .up = on_up, .frame = on_frame, .down = on_down };

static void send_comms(struct agent *a)
{
    for (uint32_t c = 1; c <= COMMS; c++) {
        put(a, &(struct telemetry_item){ .kind = TELEMETRY_COMM,
                                         .comm = { .name = c, .size = LARGEST + 1, .last = LARGEST } });
        put(a, &(struct telemetry_item){ .kind = TELEMETRY_SAMPLE,
                                         .sample = { .op = RING_OP_ALLREDUCE,
                                                     .comm = c,
                                                     .seq = a->seq,
                                                     .n = 1,
                                                     .root = -1,
                                                     .stay_ns = 1000,
                                                     .stay_sum_ns = 1000,
                                                     .gap_sum_ns = 1000000 } });
    }
    a->seq++;
}

static void send_periods(struct agent *a)
{
    put(a,
        &(struct telemetry_item){
            .kind = TELEMETRY_COMM,
            .comm = {
                .rank = LARGEST, .name = 1, .size = LARGEST + 1, .comm_rank = LARGEST, .last = LARGEST } });
    for (uint32_t k = 0; k < 20000; k++)
        put(a, &(struct telemetry_item){ .kind = TELEMETRY_STEP,
                                         .step = { .rank = LARGEST,
                                                   .comm = 1,
                                                   .period = 3 + (k & 1),
                                                   .n_steps = 1,
                                                   .parts = 1,
                                                   .duration_ns = 1000000,
                                                   .gap_ns = 1000 } });
}

/* All of the largest frame but its last bytes. */
static void begin_frame(struct agent *a)
{
    static uint8_t frame[LINK_FRAME_MAX];
    ssize_t n;

    seal_u32_put(frame, LINK_FRAME_MAX);
    n = send(a->fd, frame + a->written, sizeof(frame) - a->written, MSG_NOSIGNAL | MSG_DONTWAIT);
    a->written += n > 0 ? (size_t)n : 0;
}

static void go_on(struct agent *a)
{
    telemetry_begin(&w, data, sizeof(data));
    if (!strcmp(what, "comms"))
        send_comms(a);
    else if (!strcmp(what, "period"))
        send_periods(a);
    else if (!strcmp(what, "halves"))
        begin_frame(a);
    else if (!strcmp(what, "questions"))
        for (int i = 0; i < 50; i++)
            test_send_json(a->link, json_pack("{s:s}", "query", "policy"));
    flush(a);
}

static void by_links(const struct kind *k)
{
    const struct link_end end = { .munge_socket = munge };
    const unsigned n = k->links;
    struct agent *a = xcalloc(n, sizeof(*a));
    struct err err;

    for (unsigned i = 0; i < n; i++) {
        a[i].job = k->job + i;
        a[i].fd = dup(STDOUT_FILENO); /* the number that the next socket gets */
        close(a[i].fd);
        a[i].link = link_connect(base, hosts, 0, &end, &events, &a[i], &err);
        while (!strcmp(what, "halves") && a[i].link && !a[i].up && lasts())
            event_base_loop(base, EVLOOP_ONCE);
    }
    while (lasts()) {
        event_base_loopexit(base, &(struct timeval){ .tv_usec = 200000 });
        event_base_dispatch(base);
        for (unsigned i = 0; i < n; i++)
            if (a[i].up)
                go_on(&a[i]);
    }
}

#define KEY "0123456789abcdef0123456789abcdef"

/* The first address of hosts; ends the program if there is none. */
static struct sockaddr_in first_address(void)
{
    const struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM };
    char *host = xstrdup(hosts), *port = strrchr(host, ':');
    struct addrinfo *found = NULL;
    struct sockaddr_in to;

    if (port)
        *port++ = 0;
    if (getaddrinfo(host, port, &hints, &found)) {
        fprintf(stderr, "hostile: %s has no address\n", hosts);
        exit(1);
    }
    memcpy(&to, found->ai_addr, sizeof(to));
    freeaddrinfo(found);
    free(host);
    return to;
}

/* A stranger without munge. */
static void by_sockets(bool greet)
{
    static const char greeting[] = "SGLK\x02\0\0\0\x01\x30\0" KEY "MUNGE:AAAAAAAAA:";
    struct sockaddr_in to = first_address();
    struct rlimit files;
    unsigned n = 0, open = 0;

    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    while (lasts()) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);

        if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0) {
            usleep(10000);
        } else if (greet) {
            n += send(fd, greeting, sizeof(greeting) - 1, MSG_NOSIGNAL) > 0;
        } else if (++n && open++ < 20000) {
            continue;
        }
        if (fd >= 0)
            close(fd);
    }
    printf("%u connections\n", n);
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    hosts = argv[1];
    munge = argv[2];
    what = argv[3];
    file = strchr(argv[4], '/') ? argv[4] : NULL;
    until_s = now_s() + atof(argv[4]);
    base = event_base_new();
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!strcmp(what, "greetings") || !strcmp(what, "silence")) {
        by_sockets(!strcmp(what, "greetings"));
        return 0;
    }
    for (const struct kind *k = kinds; k->name; k++)
        if (!strcmp(what, k->name)) {
            by_links(k);
            return 0;
        }
    return 2;
}
