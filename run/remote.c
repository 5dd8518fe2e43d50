#include "run/remote.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/hostlist.h"
#include "common/xalloc.h"

#define SSH_WORDS_MAX 64

struct host {
    char name[HOSTLIST_NAME_MAX + 1]; /* as ssh knows it */
    struct process ssh;
    int to; /* its standard input; -1: closed */
    bool over;
};

struct remote {
    struct host *host;
    size_t n, cap;
    int status;
};

/* ---- the list ---- */

static int add_host(void *arg, const char *name, struct err *err)
{
    struct remote *h = arg;

    for (size_t i = 0; i < h->n; i++)
        if (!strcmp(h->host[i].name, name))
            return err_set(err, "%s is in the list of hosts twice", name);
    if (*name == '-')
        return err_set(err, "a host cannot be called %s", name);
    h->host = xgrow(h->host, &h->cap, h->n + 1, sizeof(*h->host));
    h->host[h->n] = (struct host){ .to = -1, .over = true };
    snprintf(h->host[h->n++].name, sizeof(h->host->name), "%s", name);
    return 0;
}

static struct remote *read_list(const char *list, struct err *err)
{
    struct remote *h = xcalloc(1, sizeof(*h));

    if (hostlist_each(list, ASSIGNMENT_HOSTS_MAX, add_host, h, err) == 0 && h->n)
        return h;
    if (!h->n && !*err->text)
        err_set(err, "the list of hosts is empty");
    remote_free(h);
    return NULL;
}

/* Without the user's name before it. */
static const char *node_of(const struct host *x)
{
    const char *at = strrchr(x->name, '@');

    return at ? at + 1 : x->name;
}

static int local_address(const struct addrinfo *to, char address[REMOTE_ADDRESS_SIZE])
{
    struct sockaddr_in own;
    socklen_t length = sizeof(own);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc = -1; /* connecting it sends nothing */

    if (fd >= 0 && connect(fd, to->ai_addr, to->ai_addrlen) == 0 &&
        getsockname(fd, (struct sockaddr *)&own, &length) == 0 &&
        inet_ntop(AF_INET, &own.sin_addr, address, REMOTE_ADDRESS_SIZE))
        rc = 0;
    if (fd >= 0)
        close(fd);
    return rc;
}

int remote_address(const char *list, char address[REMOTE_ADDRESS_SIZE], struct err *err)
{
    const struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_DGRAM };
    struct addrinfo *found = NULL;
    struct remote *h;
    const char *why = "";
    int rc;

    err->text[0] = '\0';
    h = read_list(list, err);
    if (!h)
        return -1;
    rc = getaddrinfo(node_of(&h->host[0]), "ssh", &hints, &found);
    if (rc)
        why = rc == EAI_SYSTEM ? strerror(errno) : gai_strerror(rc);
    else if (local_address(found, address) < 0)
        why = strerror(errno);
    if (*why)
        err_set(err, "cannot tell by which address %s reaches this host (%s): give it with --address",
                node_of(&h->host[0]), why);
    if (found)
        freeaddrinfo(found);
    remote_free(h);
    return *why ? -1 : 0;
}

/* ---- starting ---- */

/* Behind what is there already; in quotes, as a shell takes them apart. */
static void append_quoted(FILE *out, const char *word)
{
    fputs(" '", out);
    for (const char *c = word; *c; c++)
        fputs(*c == '\'' ? "'\\''" : (const char[2]){ *c, '\0' }, out);
    fputc('\'', out);
}

/* For the shell of the other host: this program at the same path there, and what it runs.  The caller frees
 * it. */
static char *command_of(const char *const *argv)
{
    char own[WORKSPACE_SIZE], *text = NULL;
    ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    if (!out)
        return NULL;
    own[n > 0 ? n : 0] = '\0';
    fputs("exec", out);
    append_quoted(out, n > 0 ? own : "sgrun");
    fputs(" --join --", out);
    for (size_t i = 0; argv[i]; i++)
        append_quoted(out, argv[i]);
    return fclose(out) == 0 ? text : NULL;
}

static int start_one(struct host *x, const struct remote_plan *plan, const char *command, struct err *err)
{
    char *words = xstrdup(plan->ssh), *rest = words, *word;
    const char *argv[SSH_WORDS_MAX + 3];
    struct process_plan p = { .argv = argv, .output = plan->output, .own_group = true };
    int ends[2], n = 0, rc;

    while (n < SSH_WORDS_MAX && (word = strsep(&rest, " ")))
        if (*word)
            argv[n++] = word;
    argv[n++] = x->name;
    argv[n++] = command;
    argv[n] = NULL;
    if (pipe2(ends, O_CLOEXEC) < 0) {
        free(words);
        return err_set(err, "cannot start %s: %s", plan->ssh, strerror(errno));
    }
    p.input = ends[0];
    rc = process_start(&x->ssh, &p, err);
    free(words);
    close(ends[0]);
    x->to = ends[1];
    x->over = rc < 0;
    return rc;
}

static void write_line(struct host *x, const char *line)
{
    size_t bytes = strlen(line);

    while (bytes && x->to >= 0) {
        ssize_t n = write(x->to, line, bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            close(x->to);
            x->to = -1;
            return;
        }
        line += n;
        bytes -= (size_t)n;
    }
}

static int send_assignments(struct remote *h, const struct assignment *assignment, struct err *err)
{
    for (size_t i = 0; i < h->n; i++) {
        struct assignment own = *assignment;
        char *line;

        snprintf(own.node, sizeof(own.node), "%s", node_of(&h->host[i]));
        own.number = (unsigned)i;
        own.count = (unsigned)h->n;
        line = assignment_write(&own);
        if (!line)
            return err_set(err, "out of memory");
        write_line(&h->host[i], line);
        free(line);
    }
    return 0;
}

struct remote *remote_start(const struct remote_plan *plan, struct err *err)
{
    struct remote *h;
    char *command;
    int rc = 0;

    err->text[0] = '\0';
    h = read_list(plan->list, err);
    command = h ? command_of(plan->argv) : NULL;
    if (!command) {
        remote_free(h);
        return NULL;
    }
    signal(SIGPIPE, SIG_IGN); /* ssh may end at any time */
    for (size_t i = 0; i < h->n && rc == 0; i++)
        rc = start_one(&h->host[i], plan, command, err);
    free(command);
    if (rc == 0 && send_assignments(h, plan->assignment, err) == 0)
        return h;
    remote_free(h);
    return NULL;
}

void remote_free(struct remote *h)
{
    if (!h)
        return;
    for (size_t i = 0; i < h->n; i++) {
        if (h->host[i].to >= 0)
            close(h->host[i].to);
        process_end(&h->host[i].ssh, 1);
    }
    free(h->host);
    free(h);
}

/* ---- while they run ---- */

void remote_signal(struct remote *h, int sig)
{
    char line[ASSIGNMENT_SIGNAL_SIZE];

    for (size_t i = 0; i < h->n; i++)
        if (!h->host[i].over)
            write_line(&h->host[i], assignment_write_signal(sig, line));
}

bool remote_ended(struct remote *h)
{
    size_t running = 0;

    for (size_t i = 0; i < h->n; i++) {
        struct host *x = &h->host[i];
        int status;

        if (!x->over && process_ended(&x->ssh)) {
            x->over = true;
            status = process_exit_status(&x->ssh);
            if (status && !h->status) {
                h->status = status;
                fprintf(stderr, "sgrun: %s: exit status %d; the other hosts' programs are asked to end\n",
                        node_of(x), status);
                remote_signal(h, SIGTERM);
            }
        }
        running += !x->over;
    }
    return !running;
}

int remote_exit_status(const struct remote *h)
{
    return h->status;
}
