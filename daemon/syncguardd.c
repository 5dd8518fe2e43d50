/* syncguardd - the controller: joins what all ranks of all guarded steps see, and answers the terminals. */
#include <event2/event.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/xalloc.h"
#include "daemon/server.h"

static const char usage[] =
    "usage: syncguardd [-f FILE] [-v]\n"
    "The controller of SyncGuard: listens for agents and terminals, in the foreground.\n"
    "\n"
    "  -f, --conf FILE   configuration (default " CONFIG_DEFAULT_PATH ")\n"
    "  -v, --verbose     log more, whatever LogLevel says\n"
    "  -h, --help        this text\n"
    "  -V, --version     the version\n"
    "\n"
    "SIGHUP reads the configuration again (all of it or nothing) and reopens the log; SIGTERM and SIGINT end "
    "it.\n";

struct options {
    const char *conf;
    bool verbose;
};

struct daemon {
    struct options o;
    struct event_base *base;
    struct controller *server;
};

/* Returns an exit code, or -1: go on. */
static int parse_options(int argc, char **argv, struct options *o)
{
    static const struct option longs[] = { { "conf", required_argument, NULL, 'f' },
                                           { "verbose", no_argument, NULL, 'v' },
                                           { "help", no_argument, NULL, 'h' },
                                           { "version", no_argument, NULL, 'V' },
                                           { 0 } };
    int c;

    while ((c = getopt_long(argc, argv, "f:vhV", longs, NULL)) != -1) {
        switch (c) {
        case 'f':
            o->conf = optarg;
            break;
        case 'v':
            o->verbose = true;
            break;
        case 'h':
            fputs(usage, stdout);
            return 0;
        case 'V':
            puts("syncguardd " PACKAGE_VERSION);
            return 0;
        default:
            fputs(usage, stderr);
            return 2;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "syncguardd: %s: no argument is accepted\n%s", argv[optind], usage);
        return 2;
    }
    return -1;
}

static enum log_level log_level(const struct options *o, const struct config *c)
{
    static const char *const names[] = { "error", "warning", "info", "debug" };

    for (size_t i = 0; i < ARRAY_SIZE(names) && !o->verbose; i++)
        if (!strcasecmp(c->log_level, names[i]))
            return (enum log_level)i;
    return o->verbose ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO;
}

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
    if (config_load(&c, d->o.conf, &err) < 0 || server_configure(d->server, &c, &err) < 0) {
        log_error("%s: the configuration stays as it is", err.text);
        return;
    }
    log_info("configuration read again");
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

    d->base = event_base_new();
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

int main(int argc, char **argv)
{
    static struct config c; /* large */
    struct daemon d = { 0 };
    struct err err;
    int rc = parse_options(argc, argv, &d.o);

    if (rc >= 0)
        return rc;
    if (config_load(&c, d.o.conf, &err) < 0 ||
        log_open("syncguardd", *c.log_file ? c.log_file : NULL, log_level(&d.o, &c), &err) < 0) {
        fprintf(stderr, "syncguardd: %s\n", err.text);
        return 1;
    }
    signal(SIGPIPE, SIG_IGN);
    return serve(&d, &c);
}
