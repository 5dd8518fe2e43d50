#include "daemon/metrics.h"

#include <errno.h>
#include <event2/event.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/log.h"
#include "common/xalloc.h"
#include "daemon/query.h"
#include "job/report_job.h"
#include "report/openmetrics.h"
#include "wire/loop.h"

#define REQUEST_BYTES_MAX 16384u /* memory of a connection */

struct metrics {
    struct controller *controller;
    struct MHD_Daemon *daemon;
    struct event *ready, *timer;
    struct made {
        char *text;
        size_t bytes;
        double made_s;
    } made[2]; /* by format */
};

static const char front[] = "SyncGuard's metrics are at /metrics\n";

/* ---- answers ---- */

static const struct made *make_answer(struct metrics *m, enum openmetrics_format format)
{
    const struct jobs *jobs = &m->controller->jobs;
    struct made *made = &m->made[format];
    double now_s = controller_now_s();
    struct report_status status;
    struct report_row *row;
    size_t n = 0;

    if (made->text && now_s < made->made_s + METRICS_AGE_S)
        return made;
    free(made->text);
    query_status(&status, m->controller);
    row = xcalloc(jobs->n, sizeof(*row));
    for (size_t i = 0; i < jobs->n; i++)
        if (!job_over(jobs->job[i]))
            report_job_row(&row[n++], jobs->job[i], now_s);
    made->text = openmetrics_text(&status, row, n, METRICS_JOBS_MAX, format, &made->bytes);
    made->made_s = now_s;
    report_status_free(&status);
    while (n > 0)
        report_row_free(&row[--n]);
    free(row);
    return made->text ? made : NULL;
}

static enum MHD_Result reply(struct MHD_Connection *c, unsigned code, const char *type, const void *text,
                             size_t bytes)
{
    struct MHD_Response *r =
        MHD_create_response_from_buffer(bytes, (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);
    enum MHD_Result sent = MHD_NO;

    if (!r)
        return MHD_NO;
    MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    if (code == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    sent = MHD_queue_response(c, code, r);
    MHD_destroy_response(r);
    return sent;
}

static enum MHD_Result reply_text(struct MHD_Connection *c, unsigned code, const char *text)
{
    return reply(c, code, "text/plain; charset=utf-8", text, strlen(text));
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *url, const char *method,
                                  const char *version, const char *data, size_t *data_bytes, void **request)
{
    struct metrics *m = arg;
    enum openmetrics_format format;
    const struct made *made;

    (void)version;
    (void)data;
    (void)request;
    if (*data_bytes)
        return MHD_NO; /* nobody has to send anything */
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return reply_text(c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET\n");
    if (!strcmp(url, "/"))
        return reply_text(c, MHD_HTTP_OK, front);
    if (strcmp(url, "/metrics") != 0)
        return reply_text(c, MHD_HTTP_NOT_FOUND, front);
    if (!controller_is_active(m->controller))
        return reply_text(c, MHD_HTTP_SERVICE_UNAVAILABLE, "this controller is not active\n");
    format = openmetrics_accepted(MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT));
    made = make_answer(m, format);
    return made ? reply(c, MHD_HTTP_OK, openmetrics_type(format), made->text, made->bytes) : MHD_NO;
}

/* ---- on the controller's loop ---- */

/* libmicrohttpd names the time when it wants to look at its connections again. */
static void on_ready(evutil_socket_t fd, short what, void *arg)
{
    struct metrics *m = arg;
    MHD_UNSIGNED_LONG_LONG next_ms;
    struct timeval next;

    (void)fd;
    (void)what;
    MHD_run(m->daemon);
    if (MHD_get_timeout(m->daemon, &next_ms) != MHD_YES) {
        evtimer_del(m->timer);
        return;
    }
    next = loop_timeval((double)next_ms * 1e-3);
    evtimer_add(m->timer, &next);
}

static int listen_on(const struct config *c, struct err *err)
{
    struct addrinfo hints = { .ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM }, *found;
    const char *host = *c->metrics_listen ? c->metrics_listen : NULL;
    char port[16];
    int rc, fd, yes = 1;

    snprintf(port, sizeof(port), "%d", c->metrics_port);
    rc = getaddrinfo(host, port, &hints, &found);
    if (rc)
        return err_set(err, "MetricsListen=%s: %s", c->metrics_listen, gai_strerror(rc));
    fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (fd < 0 || bind(fd, found->ai_addr, found->ai_addrlen) < 0 ||
        listen(fd, METRICS_CONNECTIONS_MAX) < 0) {
        err_set(err, "no metrics: cannot listen on %s port %s: %s", host ? host : "any address", port,
                strerror(errno));
        if (fd >= 0)
            close(fd);
        fd = -1;
    }
    freeaddrinfo(found);
    return fd;
}

__attribute__((format(printf, 2, 0))) static void on_log(void *arg, const char *fmt, va_list ap)
{
    char line[256];

    (void)arg;
    vsnprintf(line, sizeof(line), fmt, ap);
    line[strcspn(line, "\n")] = '\0';
    log_debug("metrics: %s", line);
}

static int start_serving(struct metrics *m, int fd, struct err *err)
{
    const union MHD_DaemonInfo *info;

    m->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_ERROR_LOG, 0, NULL, NULL, on_request, m, MHD_OPTION_EXTERNAL_LOGGER, on_log,
        NULL, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)METRICS_CONNECTIONS_MAX,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)METRICS_ADDRESS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)METRICS_TIMEOUT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_BYTES_MAX,
        MHD_OPTION_END);
    if (!m->daemon) {
        close(fd);
        return err_set(err, "no metrics: libmicrohttpd cannot serve them");
    }
    info = MHD_get_daemon_info(m->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    if (!info)
        return err_set(err, "no metrics: libmicrohttpd was built without epoll");
    m->timer = evtimer_new(m->controller->base, on_ready, m);
    m->ready = event_new(m->controller->base, info->epoll_fd, EV_READ | EV_PERSIST, on_ready, m);
    /* behind agents and terminals */
    event_priority_set(m->ready, event_base_get_npriorities(m->controller->base) - 1);
    event_priority_set(m->timer, event_base_get_npriorities(m->controller->base) - 1);
    event_add(m->ready, NULL);
    return 0;
}

struct metrics *metrics_start(struct controller *s, struct err *err)
{
    struct metrics *m;
    int fd;

    err->text[0] = '\0';
    if (!s->config.metrics_port)
        return NULL;
    fd = listen_on(&s->config, err);
    if (fd < 0)
        return NULL;
    m = xcalloc(1, sizeof(*m));
    m->controller = s;
    if (start_serving(m, fd, err) == 0)
        return m;
    metrics_stop(m);
    return NULL;
}

void metrics_stop(struct metrics *m)
{
    if (!m)
        return;
    if (m->ready)
        event_free(m->ready);
    if (m->timer)
        event_free(m->timer);
    if (m->daemon)
        MHD_stop_daemon(m->daemon);
    for (size_t i = 0; i < ARRAY_SIZE(m->made); i++)
        free(m->made[i].text);
    free(m);
}
