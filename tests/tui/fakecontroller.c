/* fakecontroller - a controller that answers from fake.h, with a munged of its own.
 *
 *   fakecontroller [--ranks N] [--at S] [--frozen] [--port N]
 *
 * Prints "HOST:PORT SOCKET" (for sgtop's --controller and --munge-socket) on one line and answers until
 * standard input ends or a signal comes.  --at: the job's second to begin with; --frozen: it stays at that
 * second. */
#include <arpa/inet.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <getopt.h>
#include <signal.h>
#include <time.h>

#include "common/xalloc.h"
#include "tests/ends.h"
#include "tests/munge.h"
#include "tests/tui/fake.h"
#include "wire/link.h"

struct server {
    struct event_base *base;
    struct test_munge munge;
    struct test_end end;
    struct fake fake;
    double begin_s, at_s;
    bool frozen;
};

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void on_up(struct link *l, void *arg)
{
    (void)l;
    (void)arg;
}

static void on_frame(struct link *l, enum link_frame type, const void *data, size_t bytes, void *arg)
{
    struct server *s = arg;
    json_t *question = type == LINK_JSON ? json_loadb(data, bytes, 0, NULL) : NULL;
    json_t *answer = fake_answer(&s->fake, question, s->frozen ? s->at_s : s->at_s + now_s() - s->begin_s);
    char *text = json_dumps(answer, JSON_COMPACT);

    link_send(l, LINK_JSON, text, strlen(text));
    free(text);
    json_decref(answer);
    json_decref(question);
}

static void on_down(struct link *l, const char *why, void *arg)
{
    (void)l;
    (void)why;
    (void)arg;
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *from, int len,
                      void *arg)
{
    static const struct link_events events = { .up = on_up, .frame = on_frame, .down = on_down };
    struct server *s = arg;

    (void)listener;
    (void)from;
    (void)len;
    link_accept(s->base, fd, &s->end.end, &events, s, NULL);
}

static void on_end(evutil_socket_t fd, short what, void *arg)
{
    struct server *s = arg;
    char buf[64];

    if (what & EV_SIGNAL || read(fd, buf, sizeof(buf)) <= 0)
        event_base_loopbreak(s->base);
}

static void parse(struct server *s, int argc, char **argv, int *port)
{
    static const struct option longs[] = { { "ranks", 1, NULL, 'r' },
                                           { "at", 1, NULL, 'a' },
                                           { "frozen", 0, NULL, 'f' },
                                           { "port", 1, NULL, 'p' },
                                           { 0 } };
    int c;

    while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
        if (c == 'r')
            s->fake.ranks = atoi(optarg);
        else if (c == 'a')
            s->at_s = atof(optarg);
        else if (c == 'f')
            s->frozen = true;
        else if (c == 'p')
            *port = atoi(optarg);
        else
            exit(2);
    }
}

int main(int argc, char **argv)
{
    struct server s = { .fake = fake_default, .begin_s = now_s() };
    struct sockaddr_in sin = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct evconnlistener *listener;
    struct event *ends[3];
    socklen_t len = sizeof(sin);
    int port = 0;

    parse(&s, argc, argv, &port);
    signal(SIGPIPE, SIG_IGN); /* as syncguardd does: who asked may be gone */
    if (!test_munge_start(&s.munge)) {
        fputs("munged does not start\n", stderr);
        return 1;
    }
    sin.sin_port = htons((uint16_t)port);
    s.base = event_base_new();
    test_end_open(&s.end, s.base, s.munge.socket);
    listener = evconnlistener_new_bind(s.base, on_accept, &s, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_REUSEABLE, 5,
                                       (struct sockaddr *)&sin, sizeof(sin));
    if (listener) {
        getsockname(evconnlistener_get_fd(listener), (struct sockaddr *)&sin, &len);
        printf("127.0.0.1:%d %s\n", ntohs(sin.sin_port), s.munge.socket);
        fflush(stdout);
        ends[0] = event_new(s.base, STDIN_FILENO, EV_READ | EV_PERSIST, on_end, &s);
        ends[1] = evsignal_new(s.base, SIGTERM, on_end, &s);
        ends[2] = evsignal_new(s.base, SIGINT, on_end, &s);
        for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
            event_add(ends[i], NULL);
        event_base_dispatch(s.base);
        for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
            event_free(ends[i]);
        evconnlistener_free(listener);
    }
    test_end_close(&s.end);
    test_munge_stop(&s.munge);
    event_base_free(s.base);
    return listener ? 0 : 1;
}
