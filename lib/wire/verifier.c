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
    struct verifier *verifier;
    struct in6_addr from;
    uint64_t turn;       /* the least is next */
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
    pthread_mutex_t lock;
    pthread_cond_t some;
    /* under the lock */
    struct list waiting, checked; /* waiting: by turn */
    uint64_t turn;                /* of the one that was taken last */
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

/* A turn later than the last that waits from the same address, so that in each turn every address has one at
 * most. */
static void list_put_in_turn(struct list *l, struct verification *c, uint64_t now)
{
    struct verification **at = &l->first;

    c->turn = now + 1;
    for (const struct verification *w = l->first; w; w = w->next)
        if (!memcmp(&w->from, &c->from, sizeof(c->from)))
            c->turn = w->turn + 1;
    while (*at && (*at)->turn <= c->turn)
        at = &(*at)->next;
    c->next = *at;
    *at = c;
    if (!c->next)
        l->last = &c->next;
}

/* False when it is not in the list. */
static bool list_remove(struct list *l, struct verification *c)
{
    struct verification **at = &l->first;

    while (*at && *at != c)
        at = &(*at)->next;
    if (!*at)
        return false;
    *at = c->next;
    if (!c->next)
        l->last = at;
    return true;
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
        v->turn = c->turn;
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

struct verification *verifier_begin(struct verifier *v, const struct in6_addr *from, const char *credential,
                                    size_t bytes, verifier_done *done, void *arg)
{
    struct verification *c = xcalloc(1, sizeof(*c) + bytes);

    c->verifier = v;
    c->from = *from;
    c->done = done;
    c->arg = arg;
    c->bytes = bytes;
    memcpy(c->credential, credential, bytes);
    pthread_mutex_lock(&v->lock);
    list_put_in_turn(&v->waiting, c, v->turn);
    pthread_cond_signal(&v->some);
    pthread_mutex_unlock(&v->lock);
    return c;
}

/* One that is being checked is freed when that is reported. */
void verification_cancel(struct verification *c)
{
    bool waits;

    if (!c)
        return;
    c->done = NULL;
    pthread_mutex_lock(&c->verifier->lock);
    waits = list_remove(&c->verifier->waiting, c);
    pthread_mutex_unlock(&c->verifier->lock);
    if (waits)
        free(c);
}
