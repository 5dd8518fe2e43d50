/* A name server that does not answer holds up a request, not the loop. */
#include "actions/http.h"

#include <event2/event.h>
#include <netdb.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "tests/tap.h"

#define PATIENCE_S 20 /* of the name server, far beyond what the loop may take */

static sem_t released;
static atomic_int asked, gave_up;

/* What libcurl calls, in a thread of its own. */
__attribute__((visibility("default"))) int getaddrinfo(const char *name, const char *service,
                                                       const struct addrinfo *hints, struct addrinfo **found)
{
    struct timespec until;

    (void)name, (void)service, (void)hints;
    *found = NULL;
    atomic_fetch_add(&asked, 1);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    if (sem_timedwait(&released, &until) < 0)
        atomic_fetch_add(&gave_up, 1);
    return EAI_AGAIN;
}

static const struct http_request request = {
    .method = "POST", .url = "http://hooks.example/", .body = "{}", .timeout_s = 0.2, .answer_max = 1000
};

struct seen {
    struct event_base *base;
    int answers, status;
    bool sent;
    char why[256];
};

static void on_answer(void *arg, const struct http_answer *a)
{
    struct seen *seen = arg;

    seen->answers++;
    seen->status = a->status;
    seen->sent = a->sent;
    snprintf(seen->why, sizeof(seen->why), "%s", a->why ? a->why : "");
    event_base_loopbreak(seen->base);
}

static void request_ends(struct http *h, struct event_base *base)
{
    struct seen seen = { .base = base };

    ok(http_start(h, &request, on_answer, &seen), "a request to a host whose name server is silent starts");
    event_base_dispatch(base);
    is_int(atomic_load(&asked), 1, "the name server is asked");
    is_int(atomic_load(&gave_up), 0, "the request ends while it still thinks");
    is_int(seen.answers, 1, "it ends once");
    is_int(seen.status, 0, "without an answer");
    ok(strstr(seen.why, "timed out"), "the reason is the time limit: %s", seen.why);
    ok(!seen.sent, "nothing was sent");
}

static void request_is_cancelled(struct http *h, struct event_base *base)
{
    struct seen seen = { .base = base };
    struct http_call *call = http_start(h, &request, on_answer, &seen);

    while (atomic_load(&asked) < 2 && !seen.answers)
        event_base_loop(base, EVLOOP_NONBLOCK);
    if (is_int(seen.answers, 0, "a request that is cancelled gives no answer"))
        http_cancel(call);
    is_int(atomic_load(&gave_up), 0, "and nobody waits for the name server");
}

int main(void)
{
    struct event_base *base = event_base_new();
    struct http *h = http_new(base);

    sem_init(&released, 0, 0);
    request_ends(h, base);
    request_is_cancelled(h, base);
    http_free(h);
    is_int(atomic_load(&gave_up), 0, "nor at the end");
    for (int i = 0; i < 2; i++)
        sem_post(&released);
    event_base_free(base);
    return done_testing();
}
