/* syncguardd - the controller: combines the data of all ranks of all guarded steps, and answers terminals. */
#include <event2/event.h>
#include <limits.h>
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
#include "history/backup.h"
#include "history/lease.h"
#include "wire/loop.h"

static const struct option_spec conf = { "conf", "FILE", VALUE(VALUE_ANY),
                                         "read this configuration instead of the installed one" };
static const struct option_spec verbose = { .name = "verbose",
                                            .text = "log everything, regardless of LogLevel" };
static const struct option_spec backup = {
    "backup", "DIR", VALUE(VALUE_ANY), "copy the databases to this new folder, and end; a controller may run"
};
static const struct option_spec restore = {
    "restore", "DIR", VALUE(VALUE_ANY),
    "put the databases of this backup in the place of the present ones, which are kept, and end; no controller may run"
};
static const struct option_use uses[] = {
    { &conf, NULL }, { &verbose, NULL }, { &backup, NULL }, { &restore, NULL }, { NULL, NULL }
};
static const struct options_command only = { .name = "", .operands = "", .uses = uses };

static const struct options_program program = {
    .name = "syncguardd",
    .text = "The controller of SyncGuard: listens for agents and terminals, in the foreground.",
    .only = &only,
    .help_end =
        "SIGHUP reads the configuration again (all of it or nothing) and reopens the log; SIGTERM and SIGINT "
        "end the program. Manual page: syncguardd(8).",
};

struct daemon {
    const char *conf;
    bool verbose;
    struct event_base *base;
    struct config *config;
    struct config started;         /* the configuration at the start */
    struct controller *server;     /* NULL: a standby */
    struct lease *lease;           /* NULL: it is the only controller */
    char holder[LEASE_HOLDER_MAX]; /* as logged last */
    struct err trouble;            /* with the lease, as logged last */
    int rc;
};

#define LEASE_MIN_S       1.0
#define LEASE_LOST_STATUS 3

static void on_end(evutil_socket_t sig, short what, void *arg)
{
    (void)sig;
    (void)what;
    event_base_loopbreak(((struct daemon *)arg)->base);
}

/* "Port, StateDir": the keys that differ, of those that are read only at the start.  Returns buf. */
static const char *changes_for_restart(const struct config *was, const struct config *is, char *buf,
                                       size_t size)
{
    const struct {
        const char *key;
        bool differs;
    } keys[] = {
        { "Port", was->port != is->port },
        { "Listen", strcmp(was->listen, is->listen) != 0 },
        { "AuthInfo", strcmp(was->munge_socket, is->munge_socket) != 0 },
        { "StateDir", strcmp(was->state_dir, is->state_dir) != 0 },
        { "LogFile", strcmp(was->log_file, is->log_file) != 0 },
        { "LogLevel", was->log_level != is->log_level },
        { "LeaseTime", was->lease_s != is->lease_s },
    };
    size_t at = 0;

    buf[0] = '\0';
    for (size_t i = 0; i < ARRAY_SIZE(keys) && at < size; i++)
        if (keys[i].differs)
            at += (size_t)snprintf(buf + at, size - at, "%s%s", at ? ", " : "", keys[i].key);
    return buf;
}

static void on_reload(evutil_socket_t sig, short what, void *arg)
{
    static struct config c; /* large */
    struct daemon *d = arg;
    char keys[80];
    struct err err;

    (void)sig;
    (void)what;
    log_reopen();
    if (config_load(&c, d->conf, &err) < 0 || (d->server && server_configure(d->server, &c, &err) < 0)) {
        log_error("%s: keeping the present configuration", err.text);
        return;
    }
    if (!d->server)
        *d->config = c;
    if (*changes_for_restart(&d->started, &c, keys, sizeof(keys)))
        log_warn("configuration reloaded; changes of %s take effect at the next start", keys);
    else
        log_info("configuration reloaded");
}

static struct event *watch_signal(struct daemon *d, int sig, event_callback_fn fn)
{
    struct event *e = evsignal_new(d->base, sig, fn, d);

    evsignal_add(e, NULL);
    return e;
}

static int start_server(struct daemon *d)
{
    struct err err;

    d->server = server_new(d->base, d->config, d->lease, &err);
    if (!d->server) {
        log_error("%s", err.text);
        return -1;
    }
    log_info("syncguardd " PACKAGE_VERSION " listens on %s port %d",
             *d->config->listen ? d->config->listen : "every address", d->config->port);
    return 0;
}

/* Another controller may be active by now: nothing is saved, and the other one recovers what is under way. */
static void step_down(struct daemon *d, const char *why)
{
    log_error("%s: this controller steps down", why);
    if (d->server)
        server_abandon(d->server);
    _exit(LEASE_LOST_STATUS);
}

static void on_lease(evutil_socket_t fd, short what, void *arg)
{
    struct daemon *d = arg;
    struct err err;
    enum lease_state state = lease_tick(d->lease, lease_now_s(), &err);

    (void)fd;
    (void)what;
    if (state == LEASE_LOST)
        step_down(d, err.text);
    if (*err.text && strcmp(err.text, d->trouble.text) != 0)
        log_warn("%s: %s", err.text,
                 state == LEASE_HELD ? "the lease is not renewed" : "waiting for the lease");
    d->trouble = err;
    if (state == LEASE_STANDBY && strcmp(lease_holder(d->lease), d->holder) != 0) {
        snprintf(d->holder, sizeof(d->holder), "%s", lease_holder(d->lease));
        log_info("standby: the active controller is on %s", *d->holder ? d->holder : "an unknown host");
    }
    if (state != LEASE_HELD || d->server)
        return;
    log_info("active: took the lease, epoch %llu", (unsigned long long)lease_epoch(d->lease));
    if (start_server(d) < 0) {
        lease_release(d->lease, lease_now_s());
        d->rc = 1;
        event_base_loopbreak(d->base);
    }
}

static struct event *watch_lease(struct daemon *d, struct err *err)
{
    struct timeval every = loop_timeval(d->config->lease_s / 12);
    char host[LEASE_HOLDER_MAX] = "";
    struct event *e;

    if (d->config->lease_s < LEASE_MIN_S) {
        err_set(err, "LeaseTime: expected 0, or at least %g s", LEASE_MIN_S);
        return NULL;
    }
    gethostname(host, sizeof(host) - 1);
    d->lease = lease_open(d->config->state_dir, host, d->config->lease_s, err);
    if (!d->lease)
        return NULL;
    e = event_new(d->base, -1, EV_PERSIST, on_lease, d);
    event_priority_set(e, LOOP_URGENT);
    event_add(e, &every);
    return e;
}

static int run_loop(struct daemon *d)
{
    struct event *signals[3], *lease = NULL;
    struct err err;

    d->base = loop_new_priorities();
    if (d->config->lease_s > 0 && !(lease = watch_lease(d, &err)))
        log_error("%s", err.text);
    if (d->config->lease_s > 0 ? !lease : start_server(d) < 0) {
        event_base_free(d->base);
        return 1;
    }
    signals[0] = watch_signal(d, SIGTERM, on_end);
    signals[1] = watch_signal(d, SIGINT, on_end);
    signals[2] = watch_signal(d, SIGHUP, on_reload);
    event_base_dispatch(d->base);
    log_info("exiting");
    if (d->server && d->lease && !lease_in_force(d->lease, lease_now_s()))
        step_down(d, "the lease is no longer held");
    server_free(d->server);
    if (lease) {
        event_free(lease);
        lease_release(d->lease, lease_now_s());
        lease_free(d->lease);
    }
    for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
        event_free(signals[i]);
    event_base_free(d->base);
    return d->rc;
}

/* Its files name users and jobs, and decide what is done to nodes: nobody else may read or write them. */
static int prepare_state_dir(const char *dir, struct err *err)
{
    struct stat st;

    umask(077);
    if (stat(dir, &st) < 0)
        return 0; /* it is created, or it is reported why that is impossible */
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return err_set(err, "StateDir=%s belongs to uid %u: chown it to the user that syncguardd runs as",
                       dir, (unsigned)st.st_uid);
    if (!(st.st_mode & 077))
        return 0;
    if (chmod(dir, st.st_mode & 0700) == 0)
        log_warn("%s: other users had access to it (mode %04o): changed its mode to 0700", dir,
                 (unsigned)st.st_mode & 07777);
    else if (st.st_mode & 022)
        return err_set(err, "StateDir=%s: other users may write there: chmod 0700 it", dir);
    return 0;
}

/* ---- backup and restore ---- */

/* What another user made, the controller could not open. */
static int check_owner(const char *dir, struct err *err)
{
    struct stat st;

    umask(077);
    if (stat(dir, &st) == 0 && st.st_uid != geteuid())
        return err_set(err, "StateDir=%s belongs to uid %u: run this as that user, by runuser or sudo -u",
                       dir, (unsigned)st.st_uid);
    return 0;
}

/* The exit status. */
static int run_backup(const struct options *o, const char *state_dir)
{
    const char *to = options_text(o, "backup"), *from = options_text(o, "restore");
    char kept[PATH_MAX];
    struct err err;

    if (to && from) {
        err_set(&err, "--backup and --restore exclude each other");
        return options_misuse(o, &err);
    }
    if (check_owner(state_dir, &err) < 0 ||
        (to ? backup_make(state_dir, to, &err) : backup_restore(state_dir, from, kept, sizeof(kept), &err)) <
            0) {
        fprintf(stderr, "syncguardd: %s\n", err.text);
        return 1;
    }
    if (to)
        printf("%s has the databases of %s\n", to, state_dir);
    else
        printf("%s has the databases of %s; those before are in %s\n", state_dir, from, kept);
    return 0;
}

static void report_no_memory(void)
{
    log_error("out of memory: the controller ends; what was saved is in the history");
}

int main(int argc, char **argv)
{
    static struct config c; /* large */
    static struct daemon d; /* large */
    struct err err;
    struct options o;
    int rc = options_start(&o, &program, argc, argv);

    if (rc >= 0)
        return rc;
    d.conf = options_text(&o, "conf");
    d.verbose = options_given(&o, "verbose");
    if (config_load(&c, d.conf, &err) < 0)
        goto fail;
    if (options_given(&o, "backup") || options_given(&o, "restore"))
        return run_backup(&o, c.state_dir);
    if (log_open("syncguardd", *c.log_file ? c.log_file : NULL,
                 d.verbose ? LOG_LEVEL_DEBUG : (enum log_level)c.log_level, &err) < 0 ||
        prepare_state_dir(c.state_dir, &err) < 0 || backup_hold_off(c.state_dir, &err) < 0)
        goto fail;
    signal(SIGPIPE, SIG_IGN);
    xalloc_at_failure(report_no_memory);
    /* By default the limit grows with what is freed: large arrays end up where they cannot be given back. */
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
    d.config = &c;
    d.started = c;
    return run_loop(&d);
fail:
    fprintf(stderr, "syncguardd: %s\n", err.text);
    return 1;
}
