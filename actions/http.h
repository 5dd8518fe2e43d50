/* http.h - requests to HTTP servers on the loop (libcurl's multi interface).
 *
 * http and https only, certificates verified, no redirects, no cookies, nothing kept of an answer beyond the
 * limit.  A server that is slow, dead or talks without end costs its time limit and nothing else. */
#ifndef SYNCGUARD_ACTIONS_HTTP_H
#define SYNCGUARD_ACTIONS_HTTP_H

#include <stdbool.h>
#include <stddef.h>

struct event_base;
struct http;
struct http_call;

#define HTTP_HEADERS_MAX 8

struct http_request {
    const char *method, *url;             /* all text is lent for the call */
    const char *unix_socket;              /* NULL: by name and port, as the URL says */
    const char *body;                     /* NULL: none; else application/json */
    const char *header[HTTP_HEADERS_MAX]; /* "Name: value", ended by NULL */
    double timeout_s;
    size_t answer_max;
    bool proxy; /* heed http_proxy and the like of the environment */
};

struct http_answer {
    int status;       /* 0: there was none, or a broken one: why says so */
    const char *body; /* ended by NUL, lent */
    size_t bytes;
    const char *why;
    bool sent; /* the request, or a part of it, went out: it may have had its effect */
};
typedef void http_fn(void *arg, const struct http_answer *a);

struct http *http_new(struct event_base *base);
void http_free(struct http *h); /* NULL is fine; cancels what is under way */

/* fn is called once, never from within this function. NULL: it could not be begun (no such URL). */
struct http_call *http_start(struct http *h, const struct http_request *r, http_fn *fn, void *arg);
void http_cancel(struct http_call *c); /* fn is not called; NULL is fine */

/* "https://host.example": what may be said of a URL whose path, query or user may be a secret. */
char *http_origin(const char *url, char *buf, size_t size);

#endif
