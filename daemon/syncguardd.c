/* syncguardd - the controller: combines the data of all ranks of all guarded steps, and answers terminals. */
#include <event2/event.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "common/options.h"
#include "common/xalloc.h"
#include "daemon/server.h"
#include "wire/loop.h"

static const struct option_spec conf = { .name = "conf",
                                         .value = "FILE",
                                         .text = "read this configuration instead of the installed one" };
static const struct option_spec verbose = { .name = "verbose",
                                            .text = "log everything, regardless of LogLevel" };
static const struct option_use uses[] = { { &conf, NULL }, { &verbose, NULL }, { NULL, NULL } };
static const struct options_command only = { .name = "", .operands = "", .uses = uses };

static const struct options_command *command(size_t i)
{
    return i ? NULL : &only;
}

static const struct options_program program = {
    .name = "syncguardd",
    .text = "The controller of SyncGuard: listens for agents and terminals, in the foreground.",
    .command = command,
    .help_end =
        "SIGHUP reads the configuration again (all of it or nothing) and reopens the log; SIGTERM and SIGINT "
        "end the program. Manual page: syncguardd(8).",
};

struct daemon {
    const char *conf;
    bool verbose;
    struct event_base *base;
    struct controller *server;
};

static void on_end(evutil_socket_t sig, short what, void *arg)
{
    (void)sig;
    (void)what;
    event_base_loopbreak(((struct daemon *)arg)->base);
}

static void on_reload(evutil_socket_t sig, short what, void *arg)
{
    static struct config c; /* large */
    struct daemon *d = arg;
    struct err err;

    (void)sig;
    (void)what;
    log_reopen();
    if (config_load(&c, d->conf, &err) < 0 || server_configure(d->server, &c, &err) < 0) {
        log_error("%s: keeping the present configuration", err.text);
        return;
    }
    log_info("configuration reloaded");
}

static struct event *on_signal(struct daemon *d, int sig, event_callback_fn fn)
{
    struct event *e = evsignal_new(d->base, sig, fn, d);

    evsignal_add(e, NULL);
    return e;
}

static int serve(struct daemon *d, const struct config *c)
{
    struct event *signals[3];
    struct err err;

    d->base = loop_new_priorities();
    d->server = server_new(d->base, c, &err);
    if (!d->server) {
        log_error("%s", err.text);
        event_base_free(d->base);
        return 1;
    }
    signals[0] = on_signal(d, SIGTERM, on_end);
    signals[1] = on_signal(d, SIGINT, on_end);
    signals[2] = on_signal(d, SIGHUP, on_reload);
    log_info("syncguardd " PACKAGE_VERSION " listens on %s port %d", *c->listen ? c->listen : "every address",
             c->port);
    event_base_dispatch(d->base);
    log_info("ends");
    server_free(d->server);
    for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
        event_free(signals[i]);
    event_base_free(d->base);
    return 0;
}

/* Its files name users and jobs, and decide what is done to nodes: nobody else may read or write them. */
static int prepare_state_dir(const char *dir, struct err *err)
{
    struct stat st;

    umask(077);
    if (stat(dir, &st) < 0)
        return 0; /* it is created, or it is reported why that is impossible */
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return err_set(err, "StateDir=%s belongs to uid %u: chown it to the user that syncguardd runs as", dir,
                       (unsigned)st.st_uid);
    if (!(st.st_mode & 077))
        return 0;
    if (chmod(dir, st.st_mode & 0700) == 0)
        log_warn("%s: other users had access to it (mode %04o): its mode is 0700 now", dir, (unsigned)st.st_mode & 07777);
    else if (st.st_mode & 022)
        return err_set(err, "StateDir=%s: other users may write there: chmod 0700 it", dir);
    return 0;
}

static void report_no_memory(void)
{
    log_error("out of memory: the controller ends; what was saved is in the history");
}

int main(int argc, char **argv)
{
    static struct config c; /* large */
    struct daemon d = { 0 };
    struct err err;
    struct options o;
    int rc = options_start(&o, &program, argc, argv);

    if (rc >= 0)
        return rc;
    d.conf = options_text(&o, "conf");
    d.verbose = options_given(&o, "verbose");
    if (config_load(&c, d.conf, &err) < 0 ||
        log_open("syncguardd", *c.log_file ? c.log_file : NULL,
                 d.verbose ? LOG_LEVEL_DEBUG : (enum log_level)c.log_level, &err) < 0 ||
        prepare_state_dir(c.state_dir, &err) < 0) {
        fprintf(stderr, "syncguardd: %s\n", err.text);
        return 1;
    }
    signal(SIGPIPE, SIG_IGN);
    xalloc_at_failure(report_no_memory);
    /* By default the limit grows with what is freed, and large arrays end up where they cannot be given back. */
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
    return serve(&d, &c);
}
