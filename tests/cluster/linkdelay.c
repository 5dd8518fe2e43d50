/* linkdelay - a wire that takes time: relay Ethernet frames between two interfaces, DELAY_US late in each
 * direction, in order.
 *   linkdelay INTERFACE INTERFACE DELAY_US [BACK_US]
 * BACK_US is from the second one to the first; without it both are alike.
 * For kernels without sch_netem.  The interfaces must not segment or coalesce (ethtool -K IF tx off gso off
 * tso off gro off), or frames longer than a link's arrive here.  A direction holds at most QUEUE_MAX frames
 * and drops what comes on top, as a full switch does. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define QUEUE_MAX  16384 /* a power of two: positions are taken modulo */
#define FRAME_MAX  65600
#define BURST      64 /* frames taken from one side before the other has its turn */
#define NEVER      INT64_MAX
#define SOCKET_BUF (8 << 20)

struct frame {
    int64_t due_ns;
    size_t len;
    void *data;
};

struct direction {
    int from, to;
    unsigned head, tail;
    struct frame frames[QUEUE_MAX];
};

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int open_interface(const char *name)
{
    struct sockaddr_ll address = { .sll_family = AF_PACKET,
                                   .sll_protocol = htons(ETH_P_ALL),
                                   .sll_ifindex = (int)if_nametoindex(name) };
    struct packet_mreq promiscuous = { .mr_ifindex = address.sll_ifindex, .mr_type = PACKET_MR_PROMISC };
    int buffer = SOCKET_BUF, one = 1, fd = -1;

    if (address.sll_ifindex)
        fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
        setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promiscuous, sizeof(promiscuous)) < 0 ||
        setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one)) < 0) {
        fprintf(stderr, "linkdelay: %s: %s\n", name, strerror(errno));
        exit(1);
    }
    /* SO_RCVBUFFORCE where we may, the usual bound where we may not */
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof(buffer)) < 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer));
    return fd;
}

/* Take what has come.  A frame that finds no room is dropped. */
static void receive(struct direction *d, int64_t delay_ns)
{
    static unsigned char buf[FRAME_MAX];
    ssize_t len;

    for (int i = 0; i < BURST && (len = recv(d->from, buf, sizeof(buf), 0)) > 0; i++) {
        struct frame *f = &d->frames[d->tail % QUEUE_MAX];

        if (d->tail - d->head == QUEUE_MAX || !(f->data = malloc((size_t)len)))
            continue;
        memcpy(f->data, buf, (size_t)len);
        f->len = (size_t)len;
        f->due_ns = now_ns() + delay_ns;
        d->tail++;
    }
}

/* Send on what is due.  Returns when the next frame is, or NEVER. */
static int64_t forward(struct direction *d)
{
    while (d->head != d->tail) {
        struct frame *f = &d->frames[d->head % QUEUE_MAX];

        if (f->due_ns > now_ns())
            return f->due_ns;
        if (send(d->to, f->data, f->len, 0) < 0 && (errno == EAGAIN || errno == ENOBUFS))
            return now_ns() + 100000; /* the link is full: look again */
        free(f->data);
        d->head++;
    }
    return NEVER;
}

static void relay(struct direction d[2], int64_t delay_ns, int64_t back_ns)
{
    for (;;) {
        struct pollfd fds[2] = { { d[0].from, POLLIN, 0 }, { d[1].from, POLLIN, 0 } };
        int64_t a = forward(&d[0]), b = forward(&d[1]), next = a < b ? a : b, wait = next - now_ns();
        struct timespec t = { 0, 0 };

        if (wait > 0)
            t = (struct timespec){ wait / 1000000000, wait % 1000000000 };
        if (ppoll(fds, 2, next == NEVER ? NULL : &t, NULL) < 0 && errno != EINTR)
            return;
        receive(&d[0], delay_ns);
        receive(&d[1], back_ns);
    }
}

/* -1: it is none. */
static double microseconds(const char *text)
{
    char *end;
    double us = strtod(text, &end);

    return end > text && !*end && us >= 0 && us <= 10e6 ? us : -1;
}

int main(int argc, char **argv)
{
    static struct direction directions[2];
    double delay_us = argc == 4 || argc == 5 ? microseconds(argv[3]) : -1,
           back_us = argc == 5 ? microseconds(argv[4]) : delay_us;

    if (delay_us < 0 || back_us < 0) {
        fputs("usage: linkdelay INTERFACE INTERFACE DELAY_US [BACK_US]   (at most 10000000)\n", stderr);
        return 2;
    }
    directions[0].from = directions[1].to = open_interface(argv[1]);
    directions[1].from = directions[0].to = open_interface(argv[2]);
    prctl(PR_SET_TIMERSLACK, 1);
    relay(directions, (int64_t)(delay_us * 1000), (int64_t)(back_us * 1000));
    perror("linkdelay");
    return 1;
}
