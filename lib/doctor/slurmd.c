#include "doctor/slurmd.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/now.h"
#include "common/tool.h"
#include "common/xalloc.h"
#include "doctor/nodes.h"
#include "wire/json.h"

#define PATIENCE_S    1.1  /* for a connection: the first packet is sent again after a second */
#define GRACE_S       0.3  /* for the last news */
#define SLOTS         256u /* connections at a time: fewer than files may be open */
#define ADDRESSES_MAX 4u   /* of one name */
#define SHOWN         8

/* ---- asking, in a child: looking up a name may take any time, and cannot be interrupted ---- */

struct news {
    uint32_t peer, state; /* of a peer the last one counts */
};

struct asker {
    int to;
    struct slurmd_peer *peer;
    struct target {
        struct addrinfo *all; /* NULL: none is known */
        unsigned pending;     /* of them: without an outcome */
        enum slurmd_state best;
        bool settled;
    } * target;                /* by peer */
    struct pollfd slot[SLOTS]; /* to be written to: it is not connected yet; to be read from: it is */
    uint32_t of[SLOTS];        /* its peer */
    size_t n;
};

static void tell_state(struct asker *a, uint32_t i, enum slurmd_state state)
{
    struct news news = { i, state };

    a->peer[i].state = state;
    if (write(a->to, &news, sizeof(news)) != sizeof(news))
        _exit(1);
}

static enum slurmd_state state_of(int error)
{
    switch (error) {
    case ECONNREFUSED:
        return SLURMD_REFUSES;
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EAFNOSUPPORT:
        return SLURMD_NO_ROUTE;
    case ETIMEDOUT:
        return SLURMD_SILENT;
    default:
        return SLURMD_UNKNOWN; /* this host's own trouble */
    }
}

/* One of the peer's addresses has an outcome. It answers if one of them does. */
static void settle_address(struct asker *a, uint32_t i, enum slurmd_state state)
{
    struct target *t = &a->target[i];

    t->pending--;
    if (t->settled)
        return;
    if (t->best == SLURMD_UNKNOWN || state < t->best)
        t->best = state;
    t->settled = state <= SLURMD_ANSWERS || !t->pending;
    if (t->settled)
        tell_state(a, i, state <= SLURMD_ANSWERS ? state : t->best);
}

static void forget_connection(struct asker *a, size_t k)
{
    close(a->slot[k].fd);
    a->slot[k] = a->slot[--a->n];
    a->of[k] = a->of[a->n];
}

/* Something happened on a connection.  What follows the end of what we say is an answer, an error of the
 * other side or an end, too. */
static void advance_connection(struct asker *a, size_t k)
{
    uint32_t i = a->of[k];
    socklen_t length = sizeof(int);
    int error = 0;

    if (a->slot[k].events == POLLIN) {
        forget_connection(a, k);
        settle_address(a, i, SLURMD_ANSWERS);
        return;
    }
    if (getsockopt(a->slot[k].fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0)
        error = errno;
    if (error || shutdown(a->slot[k].fd, SHUT_WR) < 0) {
        forget_connection(a, k);
        settle_address(a, i, state_of(error));
        return;
    }
    a->slot[k].events = POLLIN;
    if (!a->target[i].settled)
        tell_state(a, i, SLURMD_HANGS); /* until it answers */
}

static void watch_slots(struct asker *a, int wait_ms)
{
    if (poll(a->slot, a->n, wait_ms) <= 0)
        return;
    for (size_t k = a->n; k-- > 0;)
        if (a->slot[k].revents)
            advance_connection(a, k);
}

static void ask_address(struct asker *a, uint32_t i, const struct addrinfo *to)
{
    int fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error;

    if (fd < 0) {
        settle_address(a, i, state_of(errno));
        return;
    }
    error = connect(fd, to->ai_addr, to->ai_addrlen) < 0 ? errno : 0;
    if (!error || error == EINPROGRESS) {
        a->of[a->n] = i;
        a->slot[a->n++] = (struct pollfd){ .fd = fd, .events = POLLOUT };
        return;
    }
    close(fd);
    settle_address(a, i, state_of(error));
}

static void ask_peer(struct asker *a, uint32_t i)
{
    struct target *t = &a->target[i];
    unsigned n = 0;

    for (const struct addrinfo *one = t->all; one && n < ADDRESSES_MAX; one = one->ai_next)
        n++;
    if (!n)
        return;
    t->pending = n;
    tell_state(a, i, SLURMD_SILENT); /* until it is settled */
    for (const struct addrinfo *one = t->all; n--; one = one->ai_next)
        ask_address(a, i, one);
}

static void watch_until(struct asker *a, double until_s)
{
    while (a->n && now_s() < until_s)
        watch_slots(a, 50);
    watch_slots(a, 0); /* this process may have had to wait for a processor */
}

/* Names first: while one of them is looked up, no answer is read, and one that came would count as none. */
static void ask_all(struct asker *a, size_t n, double until_s)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV }, *all;
    double begun_s = until_s - PATIENCE_S;
    char service[8];

    for (size_t i = 0; i < n && now_s() < begun_s; i++) {
        const struct slurmd_peer *p = &a->peer[i];

        snprintf(service, sizeof(service), "%u", p->port);
        if (p->port && *p->address && getaddrinfo(p->address, service, &hints, &all) == 0)
            a->target[i].all = all;
    }
    for (uint32_t i = 0; i < n && now_s() < begun_s; i++) {
        watch_slots(a, 0);
        while (a->n + ADDRESSES_MAX > SLOTS && now_s() < begun_s)
            watch_slots(a, 10);
        if (a->n + ADDRESSES_MAX <= SLOTS)
            ask_peer(a, i);
    }
    watch_until(a, until_s);
    for (size_t k = a->n; k-- > 0;)
        if (a->slot[k].events != POLLIN)
            forget_connection(a, k);
    watch_until(a, until_s + SLURMD_ANSWER_S);
}

void slurmd_ask(struct slurmd_peer *peer, size_t n, double limit_s)
{
    double until_s = now_s() + limit_s;
    struct news news; /* written whole: it is shorter than PIPE_BUF */
    int ends[2];
    pid_t child;

    for (size_t i = 0; i < n; i++)
        peer[i].state = SLURMD_UNKNOWN;
    if (!n || pipe(ends) < 0)
        return;
    child = fork();
    if (child == 0) {
        struct asker *a = xcalloc(1, sizeof(*a));

        close(ends[0]);
        a->to = ends[1];
        a->peer = peer;
        a->target = xcalloc(n, sizeof(*a->target));
        ask_all(a, n, until_s - GRACE_S);
        _exit(0);
    }
    close(ends[1]);
    if (child > 0) {
        while (tool_wait(ends[0], POLLIN, until_s + SLURMD_ANSWER_S) &&
               read(ends[0], &news, sizeof(news)) == sizeof(news))
            if (news.peer < n)
                peer[news.peer].state = (enum slurmd_state)news.state;
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    close(ends[0]);
}

/* ---- judging ---- */

static const char *const reasons[] = {
    [SLURMD_HANGS] = "it accepts a connection, and says nothing",
    [SLURMD_REFUSES] = "connection refused",
    [SLURMD_NO_ROUTE] = "no route to its address",
    [SLURMD_SILENT] = "connection timed out",
};

static void judge_state(enum slurmd_state state, const struct slurmd_peer *peer,
                        struct slurm_node *const *node, size_t n, bool reached, struct findings *f)
{
    json_t *list = json_array();
    char names[512], next[700];
    const char *first;

    for (size_t i = 0; i < n; i++)
        if (peer[i].state == state) {
            node[i]->silent = reached;
            json_array_append_new(list, json_of_text(node[i]->name));
        }
    first = json_string_value(json_array_get(list, 0));
    if (first) {
        json_show_list(list, SHOWN, names, sizeof(names));
        if (state == SLURMD_HANGS || state == SLURMD_REFUSES)
            snprintf(next, sizeof(next),
                     "systemctl status slurmd   (on %.200s; then systemctl restart slurmd)", first);
        else
            snprintf(next, sizeof(next),
                     "ping -c 3 %.200s; scontrol show node %.200s   (is it up, is NodeAddr right?)", first,
                     first);
        if (reached)
            findings_add(f, FINDING_FAULT, "slurmd", json_incref(list), next,
                         "no slurmd answers on %s (%s): no step was started there", names, reasons[state]);
        else
            findings_add(f, FINDING_UNKNOWN, "slurmd", json_incref(list), next,
                         "this host reaches no node's slurmd (%s): whether one runs was not seen",
                         reasons[state]);
    }
    json_decref(list);
}

void slurmd_judge(const struct slurmd_peer *peer, struct slurm_node *const *node, size_t n,
                  struct findings *f)
{
    bool reached = false;

    for (size_t i = 0; i < n; i++)
        reached |= peer[i].state == SLURMD_ANSWERS;
    judge_state(SLURMD_HANGS, peer, node, n, reached, f);
    judge_state(SLURMD_REFUSES, peer, node, n, true, f);
    judge_state(SLURMD_NO_ROUTE, peer, node, n, reached, f);
    judge_state(SLURMD_SILENT, peer, node, n, reached, f);
}

void slurmd_check(struct slurm_nodes *slurm, const char *allocation, struct findings *f)
{
    struct slurmd_peer *peer = xcalloc(slurm->n, sizeof(*peer));
    struct slurm_node **node = xcalloc(slurm->n, sizeof(struct slurm_node *));
    size_t n = 0;

    for (size_t i = 0; i < slurm->n; i++) {
        struct slurm_node *one = &slurm->node[i];

        if (nodes_use(one, allocation) != NODE_ASKED)
            continue;
        peer[n] = (struct slurmd_peer){ .address = one->address, .port = one->port };
        node[n++] = one;
    }
    slurmd_ask(peer, n, SLURMD_LIMIT_S);
    slurmd_judge(peer, node, n, f);
    free(peer);
    free(node);
}
