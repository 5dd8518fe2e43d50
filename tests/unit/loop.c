/* What libevent has to say goes to the log, never to standard error. */
#include "wire/loop.h"

#include <event2/event.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/log.h"
#include "common/xalloc.h"
#include "tests/tap.h"

static char log_path[] = "/tmp/syncguard-loop.XXXXXX", error_path[] = "/tmp/syncguard-loop.XXXXXX";

/* libevent warns of a loop that is run inside itself. */
static void on_timer(evutil_socket_t fd, short what, void *base)
{
    (void)fd, (void)what;
    event_base_loop(base, EVLOOP_NONBLOCK);
}

static void provoke(void)
{
    struct event_base *base = loop_new();
    struct event *timer = evtimer_new(base, on_timer, base);

    evtimer_add(timer, &(struct timeval){ 0 });
    event_base_dispatch(base);
    event_free(timer);
    event_base_free(base);
}

/* ---- priorities ---- */

static struct {
    struct event_base *base;
    struct event *bulk[1000], *urgent;
    int handled, before_urgent;
} turn;

static void on_urgent(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what, (void)arg;
    turn.before_urgent = turn.handled;
}

static void on_bulk(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what, (void)arg;
    if (++turn.handled == 10)
        event_active(turn.urgent, EV_TIMEOUT, 0);
}

static void priorities(void)
{
    turn.base = loop_new_priorities();
    ok(turn.base && event_base_get_npriorities(turn.base) == LOOP_BULK + 1, "a loop has priorities");
    turn.urgent = event_new(turn.base, -1, 0, on_urgent, NULL);
    is_int(event_get_priority(turn.urgent), LOOP_URGENT, "a new event is urgent");
    for (size_t i = 0; i < ARRAY_SIZE(turn.bulk); i++) {
        turn.bulk[i] = event_new(turn.base, -1, 0, on_bulk, NULL);
        event_priority_set(turn.bulk[i], LOOP_BULK);
        event_active(turn.bulk[i], EV_TIMEOUT, 0);
    }
    event_base_dispatch(turn.base);
    is_int(turn.handled, 1000, "all events are handled");
    ok(turn.before_urgent <= LOOP_BULK_CALLS, "an urgent event waits for at most %d others\n%d",
       LOOP_BULK_CALLS, turn.before_urgent);
    for (size_t i = 0; i < ARRAY_SIZE(turn.bulk); i++)
        event_free(turn.bulk[i]);
    event_free(turn.urgent);
    event_base_free(turn.base);
}

static const char *contents(const char *path)
{
    static char text[4096];
    int fd = open(path, O_RDONLY);
    ssize_t n = read(fd, text, sizeof(text) - 1);

    text[n > 0 ? n : 0] = '\0';
    close(fd);
    return text;
}

int main(void)
{
    int log = mkstemp(log_path), errors = mkstemp(error_path), own = dup(STDERR_FILENO);

    if (log < 0 || errors < 0)
        return skip_all("no files in /tmp");
    dup2(errors, STDERR_FILENO);
    provoke();
    is_str(contents(error_path), "", "without a log, a warning of libevent is not printed");
    log_open("loop", log_path, LOG_LEVEL_WARN, NULL);
    provoke();
    is_str(contents(error_path), "", "with a log file, a warning of libevent is not on standard error");
    ok(strstr(contents(log_path), "loop: warning: libevent: event_base_loop: reentrant"),
       "with a log file, a warning of libevent is in the log as a warning\n%s", contents(log_path));
    dup2(own, STDERR_FILENO);
    priorities();
    unlink(log_path);
    unlink(error_path);
    return done_testing();
}
