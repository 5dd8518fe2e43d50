/* What libevent has to say goes to the log, never to standard error. */
#include "wire/loop.h"

#include <event2/event.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/log.h"
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
       "with a log file, a warning of libevent is in the log as a warning: %s", contents(log_path));
    dup2(own, STDERR_FILENO);
    unlink(log_path);
    unlink(error_path);
    return done_testing();
}
