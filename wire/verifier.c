#include "wire/verifier.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <event2/event.h>

#include "common/xalloc.h"

struct verification {
    struct verification *next;
    verifier_done *done; /* NULL: cancelled; read and written by the loop only */
    void *arg;
    struct identity_check check;
    struct err err;
    bool genuine;
    size_t bytes;
    char credential[];
};

struct list {
    struct verification *first, **last;
};

struct verifier {
    char *munge_socket;
    struct event *ready;
    int wake; /* eventfd: there are checked ones */
    pthread_t thread;
    unsigned pending; /* not yet reported; the loop's */
    pthread_mutex_t lock;
    pthread_cond_t some;
    /* under the lock */
    struct list waiting, checked;
    bool ending;
};

static void list_init(struct list *l)
{
    l->first = NULL;
    l->last = &l->first;
}

static void list_put(struct list *l, struct verification *c)
{
    c->next = NULL;
    *l->last = c;
    l->last = &c->next;
}

static struct verification *list_take(struct list *l)
{
    struct verification *c = l->first;

    if (!c)
        return NULL;
    l->first = c->next;
    if (!l->first)
        l->last = &l->first;
    return c;
}

static void list_free(struct list *l)
{
    struct verification *c;

    while ((c = list_take(l))) {
        identity_check_clear(&c->check);
        free(c);
    }
}

static void *check_them(void *arg)
{
    struct verifier *v = arg;
    const uint64_t one = 1;
    struct verification *c;

    pthread_mutex_lock(&v->lock);
    for (;;) {
        while (!v->ending && !v->waiting.first)
            pthread_cond_wait(&v->some, &v->lock);
        if (v->ending)
            break;
        c = list_take(&v->waiting);
        pthread_mutex_unlock(&v->lock);
        c->genuine = identity_check(v->munge_socket, c->credential, c->bytes, &c->check, &c->err) == 0;
        pthread_mutex_lock(&v->lock);
        list_put(&v->checked, c);
        if (write(v->wake, &one, sizeof(one)) < 0)
            continue; /* its counter is full: the loop is awake */
    }
    pthread_mutex_unlock(&v->lock);
    return NULL;
}

static void on_ready(evutil_socket_t fd, short what, void *arg)
{
    struct verifier *v = arg;
    struct verification *c;
    struct list checked;
    uint64_t n;

    (void)what;
    if (read(fd, &n, sizeof(n)) < 0)
        return;
    list_init(&checked);
    pthread_mutex_lock(&v->lock);
    while ((c = list_take(&v->checked)))
        list_put(&checked, c);
    pthread_mutex_unlock(&v->lock);
    while ((c = list_take(&checked))) {
        v->pending--;
        if (c->done)
            c->done(&c->check, c->genuine ? NULL : c->err.text, c->arg);
        identity_check_clear(&c->check);
        free(c);
    }
}

struct verifier *verifier_new(struct event_base *base, const char *munge_socket, struct err *err)
{
    struct verifier *v = xcalloc(1, sizeof(*v));
    sigset_t all, old;
    int rc;

    v->munge_socket = xstrdup(munge_socket);
    list_init(&v->waiting);
    list_init(&v->checked);
    pthread_mutex_init(&v->lock, NULL);
    pthread_cond_init(&v->some, NULL);
    v->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    v->ready = event_new(base, v->wake, EV_READ | EV_PERSIST, on_ready, v);
    event_add(v->ready, NULL);
    sigfillset(&all); /* signals are the loop's */
    pthread_sigmask(SIG_BLOCK, &all, &old);
    rc = pthread_create(&v->thread, NULL, check_them, v);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rc == 0)
        return v;
    err_set(err, "cannot start a thread that checks credentials: %s", strerror(rc));
    v->ending = true;
    verifier_free(v);
    return NULL;
}

void verifier_free(struct verifier *v)
{
    if (!v)
        return;
    if (!v->ending) {
        pthread_mutex_lock(&v->lock);
        v->ending = true;
        pthread_cond_signal(&v->some);
        pthread_mutex_unlock(&v->lock);
        pthread_join(v->thread, NULL);
    }
    list_free(&v->waiting);
    list_free(&v->checked);
    event_free(v->ready);
    close(v->wake);
    pthread_cond_destroy(&v->some);
    pthread_mutex_destroy(&v->lock);
    free(v->munge_socket);
    free(v);
}

struct verification *verifier_begin(struct verifier *v, const char *credential, size_t bytes, verifier_done *done, void *arg)
{
    struct verification *c;

    if (v->pending >= VERIFIER_PENDING_MAX)
        return NULL;
    c = xcalloc(1, sizeof(*c) + bytes);
    c->done = done;
    c->arg = arg;
    c->bytes = bytes;
    memcpy(c->credential, credential, bytes);
    v->pending++;
    pthread_mutex_lock(&v->lock);
    list_put(&v->waiting, c);
    pthread_cond_signal(&v->some);
    pthread_mutex_unlock(&v->lock);
    return c;
}

void verification_cancel(struct verification *c)
{
    if (c)
        c->done = NULL;
}
