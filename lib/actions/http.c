#include "actions/http.h"

#include <curl/curl.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

#define CONNECT_S 5L

struct http {
    struct event_base *base;
    CURLM *multi;
    struct event *timer;
    struct http_call *calls;
};

struct http_call {
    struct http *http;
    struct http_call *next, **back;
    CURL *easy;
    struct curl_slist *headers;
    http_fn *fn;
    void *arg;
    char *body, *answer;
    size_t bytes, max;
    bool too_long;
    char why[CURL_ERROR_SIZE];
};

/* ---- calls ---- */

static void call_free(struct http_call *c)
{
    *c->back = c->next;
    if (c->next)
        c->next->back = c->back;
    if (c->easy) {
        curl_multi_remove_handle(c->http->multi, c->easy);
        curl_easy_cleanup(c->easy);
    }
    curl_slist_free_all(c->headers);
    free(c->body);
    free(c->answer);
    free(c);
}

static size_t on_data(char *data, size_t size, size_t n, void *arg)
{
    struct http_call *c = arg;
    size_t bytes = size * n;

    if (bytes > c->max - c->bytes) {
        c->too_long = true;
        return 0; /* makes curl abort the transfer */
    }
    c->answer = xrealloc(c->answer, c->bytes + bytes + 1, 1);
    memcpy(c->answer + c->bytes, data, bytes);
    c->bytes += bytes;
    c->answer[c->bytes] = '\0';
    return bytes;
}

static void finish_call(struct http_call *c, CURLcode rc)
{
    struct http_answer a = { .body = c->answer ? c->answer : "", .bytes = c->bytes };
    long status = 0, sent = 0;

    curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(c->easy, CURLINFO_REQUEST_SIZE, &sent);
    a.sent = sent > 0;
    if (rc == CURLE_OK && status >= 100)
        a.status = (int)status;
    else if (c->too_long || rc == CURLE_FILESIZE_EXCEEDED)
        a.why = "the answer is too long";
    else if (rc == CURLE_OK)
        a.why = "the answer is not HTTP";
    else
        a.why = *c->why ? c->why : curl_easy_strerror(rc);
    c->fn(c->arg, &a);
    call_free(c);
}

static void set_options(struct http_call *c, const struct http_request *r)
{
    CURL *e = c->easy;

    curl_easy_setopt(e, CURLOPT_URL, r->url);
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(e, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
    curl_easy_setopt(e, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
    curl_easy_setopt(e, CURLOPT_REDIR_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
    curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700
    curl_easy_setopt(e, CURLOPT_QUICK_EXIT, 1L); /* else the loop waits for the thread that looks a name up */
#endif
    curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
    curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, (long)(r->timeout_s * 1000));
    curl_easy_setopt(e, CURLOPT_MAXFILESIZE, (long)r->answer_max);
    curl_easy_setopt(e, CURLOPT_HTTP09_ALLOWED, 0L);
    curl_easy_setopt(e, CURLOPT_FRESH_CONNECT, 1L); /* an idle connection may be dead */
    curl_easy_setopt(e, CURLOPT_FORBID_REUSE, 1L);
    curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, r->method);
    curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_data);
    curl_easy_setopt(e, CURLOPT_WRITEDATA, c);
    curl_easy_setopt(e, CURLOPT_ERRORBUFFER, c->why);
    curl_easy_setopt(e, CURLOPT_PRIVATE, c);
    curl_easy_setopt(e, CURLOPT_USERAGENT, "syncguard/" PACKAGE_VERSION);
    if (r->unix_socket)
        curl_easy_setopt(e, CURLOPT_UNIX_SOCKET_PATH, r->unix_socket);
    if (!r->proxy)
        curl_easy_setopt(e, CURLOPT_PROXY, "");
    if (c->body)
        curl_easy_setopt(e, CURLOPT_POSTFIELDS, c->body);
    if (c->body)
        c->headers = curl_slist_append(c->headers, "Content-Type: application/json");
    c->headers = curl_slist_append(c->headers, "Expect:"); /* avoids a second round trip */
    for (size_t i = 0; i < HTTP_HEADERS_MAX && r->header[i]; i++)
        c->headers = curl_slist_append(c->headers, r->header[i]);
    curl_easy_setopt(e, CURLOPT_HTTPHEADER, c->headers);
}

struct http_call *http_start(struct http *h, const struct http_request *r, http_fn *fn, void *arg)
{
    struct http_call *c = xcalloc(1, sizeof(*c));

    c->http = h;
    c->fn = fn;
    c->arg = arg;
    c->max = r->answer_max;
    c->body = xstrdup(r->body);
    c->next = h->calls;
    c->back = &h->calls;
    if (c->next)
        c->next->back = &c->next;
    h->calls = c;
    c->easy = curl_easy_init();
    if (c->easy)
        set_options(c, r);
    if (!c->easy || curl_multi_add_handle(h->multi, c->easy) != CURLM_OK) {
        call_free(c);
        return NULL;
    }
    return c;
}

void http_cancel(struct http_call *c)
{
    if (c)
        call_free(c);
}

/* ---- curl's sockets and timer on the loop ---- */

static void take_finished(struct http *h)
{
    CURLMsg *m;
    int left;

    while ((m = curl_multi_info_read(h->multi, &left))) {
        struct http_call *c;

        if (m->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &c);
        finish_call(c, m->data.result);
    }
}

static void on_socket(evutil_socket_t fd, short what, void *arg)
{
    struct http *h = arg;
    int action = (what & EV_READ ? CURL_CSELECT_IN : 0) | (what & EV_WRITE ? CURL_CSELECT_OUT : 0), running;

    curl_multi_socket_action(h->multi, fd, action, &running);
    take_finished(h);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct http *h = arg;
    int running;

    (void)fd;
    (void)what;
    curl_multi_socket_action(h->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    take_finished(h);
}

static int watch_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *of_socket)
{
    struct http *h = arg;
    struct event *e = of_socket;
    short events = (short)((what & CURL_POLL_IN ? EV_READ : 0) | (what & CURL_POLL_OUT ? EV_WRITE : 0));

    (void)easy;
    if (e)
        event_free(e);
    e = NULL;
    if (what != CURL_POLL_REMOVE) {
        e = event_new(h->base, fd, (short)(events | EV_PERSIST), on_socket, h);
        event_add(e, NULL);
    }
    curl_multi_assign(h->multi, fd, e);
    return 0;
}

static int watch_timer(CURLM *multi, long ms, void *arg)
{
    struct http *h = arg;

    (void)multi;
    if (ms < 0)
        event_del(h->timer);
    else
        event_add(h->timer, &(struct timeval){ ms / 1000, ms % 1000 * 1000 });
    return 0;
}

struct http *http_new(struct event_base *base)
{
    struct http *h = xcalloc(1, sizeof(*h));

    curl_global_init(CURL_GLOBAL_DEFAULT);
    h->base = base;
    h->multi = curl_multi_init();
#if LIBCURL_VERSION_NUM >= 0x081400
    curl_multi_setopt(h->multi, CURLMOPT_QUICK_EXIT, 1L); /* the same for those of newer releases */
#endif
    h->timer = event_new(base, -1, 0, on_timer, h);
    curl_multi_setopt(h->multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
    curl_multi_setopt(h->multi, CURLMOPT_SOCKETDATA, h);
    curl_multi_setopt(h->multi, CURLMOPT_TIMERFUNCTION, watch_timer);
    curl_multi_setopt(h->multi, CURLMOPT_TIMERDATA, h);
    return h;
}

void http_free(struct http *h)
{
    if (!h)
        return;
    while (h->calls)
        call_free(h->calls);
    curl_multi_cleanup(h->multi);
    event_free(h->timer);
    free(h);
}

char *http_origin(const char *url, char *buf, size_t size)
{
    const char *host = strstr(url, "://"), *end, *at;

    host = host ? host + 3 : url;
    end = host + strcspn(host, "/?#");
    at = memchr(host, '@', (size_t)(end - host));
    snprintf(buf, size, "%.*s%.*s", (int)(host - url), url, (int)(end - (at ? at + 1 : host)),
             at ? at + 1 : host);
    return buf;
}
