/* http.h - requests to HTTP servers on the loop (libcurl's multi interface).
 *
 * http and https only, certificates verified, no redirects, no cookies, answers limited in size.  A server
 * that is slow, dead or sends without end takes its time limit and nothing else, nor does a name server that
 * does not answer: libcurl asks it in a thread, which is left to itself then. */
#ifndef SYNCGUARD_ACTIONS_HTTP_H
#define SYNCGUARD_ACTIONS_HTTP_H

#include <stdbool.h>
#include <stddef.h>

struct event_base;
struct http;
struct http_call;

#define HTTP_HEADERS_MAX 8

struct http_request {
    const char *method, *url;             /* strings need to be valid during http_start() only */
    const char *unix_socket;              /* NULL: connect to host and port of the URL */
    const char *body;                     /* of type application/json; NULL: none */
    const char *header[HTTP_HEADERS_MAX]; /* "Name: value", ended by NULL */
    double timeout_s;
    size_t answer_max;
    bool proxy; /* use http_proxy and similar environment variables */
};

struct http_answer {
    int status;       /* 0: no valid answer; why has the reason */
    const char *body; /* NUL-terminated, valid during the call */
    size_t bytes;
    const char *why;
    bool sent; /* part of the request was sent, so that it may have taken effect */
};
typedef void http_fn(void *arg, const struct http_answer *a);

struct http *http_new(struct event_base *base);
void http_free(struct http *h); /* NULL is fine; cancels all calls */

/* Start a request; fn is called once, never from within this function. NULL: invalid URL. */
struct http_call *http_start(struct http *h, const struct http_request *r, http_fn *fn, void *arg);
void http_cancel(struct http_call *c); /* fn is not called; NULL is fine */

/* Write "https://host.example" to buf: the part of a URL that may be shown, as path, query and user may be
 * secret. */
char *http_origin(const char *url, char *buf, size_t size);

#endif
