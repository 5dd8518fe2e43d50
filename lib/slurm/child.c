#include "slurm/child.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/now.h"
#include "common/xalloc.h"

#define ERRORS_MAX 1000
/* interval at which the end is checked, as a program may end while others keep its output open */
#define LOOK_US 50000

extern char **environ;

struct stream {
    int fd; /* ours; -1: closed */
    struct event *event;
    char *data;
    size_t bytes, max; /* kept of what came; of the input: written, and all of it */
};

struct child {
    struct event_base *base;
    pid_t pid;
    child_fn *fn;
    void *arg;
    struct stream in, out, err;
    struct event *look;
    double until_s;
    bool timed_out;
};

static void stream_close(struct stream *s)
{
    if (s->event)
        event_free(s->event);
    if (s->fd >= 0)
        close(s->fd);
    s->event = NULL;
    s->fd = -1;
}

static void child_free(struct child *c)
{
    struct stream *all[] = { &c->in, &c->out, &c->err };

    for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
        stream_close(all[i]);
        free(all[i]->data);
    }
    if (c->look)
        event_free(c->look);
    free(c);
}

/* ---- streams ---- */

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct stream *s = arg;
    ssize_t n = write(fd, s->data + s->bytes, s->max - s->bytes);

    (void)what;
    if (n > 0)
        s->bytes += (size_t)n;
    if (s->bytes == s->max || (n < 0 && errno != EAGAIN && errno != EINTR))
        stream_close(s); /* the program need not read its input */
}

/* Read one piece; false: there is no more at present. */
static bool read_piece(struct stream *s)
{
    char piece[4096];
    ssize_t n = read(s->fd, piece, sizeof(piece));
    size_t kept;

    if (n < 0 && errno == EINTR)
        return true;
    if (n < 0 && errno == EAGAIN)
        return false;
    if (n <= 0) {
        stream_close(s);
        return false;
    }
    kept = (size_t)n < s->max - s->bytes ? (size_t)n : s->max - s->bytes;
    memcpy(s->data + s->bytes, piece, kept);
    s->bytes += kept;
    return true;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    read_piece(arg); /* one piece per turn, so that endless output does not block the loop */
}

/* ---- end ---- */

static void on_look(evutil_socket_t fd, short what, void *arg)
{
    struct child *c = arg;
    struct child_end e = { .output = c->out.data, .errors = c->err.data };
    pid_t pid = waitpid(c->pid, &e.status, WNOHANG);

    (void)fd;
    (void)what;
    if (pid != c->pid && !(pid < 0 && errno == ECHILD)) {
        if (now_s() >= c->until_s) {
            c->timed_out = true;
            kill(-c->pid, SIGKILL);
        }
        return;
    }
    /* what is in the pipes already */
    for (int i = 0; i < 64 && c->out.fd >= 0 && read_piece(&c->out); i++)
        ;
    if (c->err.fd >= 0)
        read_piece(&c->err);
    c->out.data[c->out.bytes] = c->err.data[c->err.bytes] = '\0';
    e.output_bytes = c->out.bytes;
    e.timed_out = c->timed_out;
    c->fn(c->arg, &e);
    child_free(c);
}

void child_cancel(struct child *c)
{
    if (!c)
        return;
    kill(-c->pid, SIGKILL);
    waitpid(c->pid, NULL, 0);
    child_free(c);
}

/* ---- start ---- */

static int spawn_program(struct child *c, const struct child_options *o, const int theirs[3])
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    size_t n = 0;
    char **argv;
    sigset_t all, none;
    int rc;

    while (o->args && o->args[n])
        n++;
    argv = xcalloc(n + 2, sizeof(*argv));
    argv[0] = (char *)o->path;
    for (size_t i = 0; i < n; i++)
        argv[i + 1] = (char *)o->args[i];
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    for (int i = 0; i < 3; i++)
        posix_spawn_file_actions_adddup2(&files, theirs[i], i);
#ifdef HAVE_SPAWN_CLOSEFROM
    posix_spawn_file_actions_addclosefrom_np(&files, 3); /* ours are close-on-exec; a library's may not be */
#endif
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    rc = posix_spawn(&c->pid, o->path, &files, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    free(argv);
    return rc;
}

static void listen_to(struct child *c, struct stream *s, int fd, short what, event_callback_fn fn)
{
    s->fd = fd;
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    s->event = event_new(c->base, fd, (short)(what | EV_PERSIST), fn, s);
    event_add(s->event, NULL);
}

struct child *child_start(struct event_base *base, const struct child_options *o, child_fn *fn, void *arg,
                          struct err *err)
{
    struct child *c = xcalloc(1, sizeof(*c));
    int in[2] = { -1, -1 }, out[2] = { -1, -1 }, errors[2] = { -1, -1 }, rc;

    c->base = base;
    c->fn = fn;
    c->arg = arg;
    c->in.fd = c->out.fd = c->err.fd = -1;
    c->in.data = xstrdup(o->input);
    c->in.max = strlen(o->input);
    c->out.max = o->output_max;
    c->err.max = ERRORS_MAX;
    c->out.data = xcalloc(1, c->out.max + 1);
    c->err.data = xcalloc(1, c->err.max + 1);
    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0 || pipe2(errors, O_CLOEXEC) < 0)
        rc = errno;
    else
        rc = spawn_program(c, o, (int[]){ in[0], out[1], errors[1] });
    for (int i = 0; i < 3; i++) {
        int theirs = (int[]){ in[0], out[1], errors[1] }[i], ours = (int[]){ in[1], out[0], errors[0] }[i];

        if (theirs >= 0)
            close(theirs);
        if (rc && ours >= 0)
            close(ours);
    }
    if (rc) {
        err_set(err, "%s: %s", o->path, strerror(rc));
        child_free(c);
        return NULL;
    }
    listen_to(c, &c->in, in[1], EV_WRITE, on_writable);
    listen_to(c, &c->out, out[0], EV_READ, on_readable);
    listen_to(c, &c->err, errors[0], EV_READ, on_readable);
    c->until_s = now_s() + o->timeout_s;
    c->look = event_new(base, -1, EV_PERSIST, on_look, c);
    event_add(c->look, &(struct timeval){ 0, LOOK_US });
    return c;
}
