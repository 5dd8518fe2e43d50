/* live.h - a controller of the test's own with its configuration, jobs of simjob, and questions to it.
 * All functions inline, as in tests/tap.h: a test program uses what it needs. */
#ifndef SYNCGUARD_TESTS_DAEMON_LIVE_H
#define SYNCGUARD_TESTS_DAEMON_LIVE_H

#include <arpa/inet.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "common/xalloc.h"
#include "tests/munge.h"
#include "tests/tap.h"
#include "wire/client.h"

static struct {
    struct test_munge munge;
    struct link_end end; /* of a client */
    char conf[PATH_MAX], hosts[64];
    int port;
    int simjob; /* the program: a user may start it who may not enter the folder that it lies in */
    pid_t controller;
    const char *confirm; /* Confirm= of the controller; NULL: credential */
    const char *uid;     /* of simulated jobs, for which this process vouches; NULL: its own */
    const char *endured; /* signals that do not end their ranks; NULL: not known */
} live;

static inline char *built(const char *name)
{
    const char *top = getenv("top_builddir");

    return xasprintf("%s/%s", top ? top : ".", name);
}

static inline pid_t spawn(char *const argv[])
{
    pid_t pid = fork();

    if (pid)
        return pid;
    execv(argv[0], argv);
    _exit(127);
}

/* A port for a controller that is started again: none that the kernel hands out, and no other test's, as in
 * tests/controller.sh, whose locks these are.  -1: none was found. */
static inline int own_port(void)
{
    unsigned low, high;
    FILE *range = fopen("/proc/sys/net/ipv4/ip_local_port_range", "r");
    char *locks = xasprintf("/tmp/syncguard-ports-%u", (unsigned)getuid());
    bool known = range && fscanf(range, "%u %u", &low, &high) == 2;
    int port = -1;

    if (range)
        fclose(range);
    mkdir(locks, 0700);
    srandom((unsigned)getpid());
    for (int tries = 0; known && port < 0 && tries < 1000; tries++) {
        unsigned from = low >= 12000 ? 10000 : high + 1, to = low >= 12000 ? low - 1 : 65535,
                 one = from + (unsigned)random() % (to - from + 1);
        struct sockaddr_in a = { .sin_family = AF_INET,
                                 .sin_port = htons((uint16_t)one),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        char *path = xasprintf("%s/%u", locks, one);
        int lock = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600),
            fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0 &&
            bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
            port = (int)one; /* the lock lasts as long as this process */
        else
            close(lock);
        close(fd);
        free(path);
    }
    free(locks);
    return port;
}

static inline void pause_s(double s)
{
    nanosleep(&(struct timespec){ (time_t)s, (long)((s - (double)(time_t)s) * 1e9) }, NULL);
}

/* False: there is no munged. */
static inline bool live_begin(void)
{
    char *simjob = built("tests/daemon/simjob");

    live.simjob = open(simjob, O_PATH | O_CLOEXEC);
    free(simjob);
    if (!test_munge_start(&live.munge))
        return false;
    live.end.munge_socket = live.munge.socket;
    snprintf(live.conf, sizeof(live.conf), "%s/sg.conf", live.munge.dir);
    live.port = own_port();
    snprintf(live.hosts, sizeof(live.hosts), "127.0.0.1:%d", live.port);
    return true;
}

static inline void live_configure(const char *more)
{
    FILE *f = fopen(live.conf, "w");

    fprintf(
        f,
        "Controller=127.0.0.1\nPort=%d\nListen=127.0.0.1\nAuthInfo=socket=%s\nStateDir=%s/state\nConfirm=%s\n"
        "LogFile=%s/log.d\n%s\n",
        live.port, live.munge.socket, live.munge.dir, live.confirm ? live.confirm : "credential",
        live.munge.dir, more);
    fclose(f);
}

/* An object, the caller's; {"error": ...} also when there is no answer. */
static inline json_t *ask(const char *question)
{
    struct client_options o = { .hosts = live.hosts, .end = live.end };
    json_t *q = json_loads(question, 0, NULL), *answer;
    struct err err;

    answer = client_ask(&o, q, 60, &err);
    json_decref(q);
    return answer ? answer : json_pack("{s:s}", "error", err.text);
}

/* "a.b.0.c" of an object; NULL when a part is not there. */
static inline json_t *at(json_t *o, const char *path)
{
    char copy[128], *rest = copy, *key;

    snprintf(copy, sizeof(copy), "%s", path);
    while (o && (key = strsep(&rest, ".")))
        o = json_is_array(o) ? json_array_get(o, (size_t)atoi(key)) : json_object_get(o, key);
    return o;
}

static inline double number(json_t *o, const char *path)
{
    json_t *v = at(o, path);

    return json_is_number(v) ? json_number_value(v) : NAN;
}

/* "" when it is not there. */
static inline const char *text(json_t *o, const char *path)
{
    const char *s = json_string_value(at(o, path));

    return s ? s : "";
}

/* Asks until path of the answer is the text want, or is there at all where want is NULL; a minute at most.
 * Returns the last answer, the caller's. */
static inline json_t *ask_until(const char *question, const char *path, const char *want)
{
    for (int i = 0;; i++) {
        json_t *answer = ask(question), *v = at(answer, path);

        if (i == 600 || (want ? !strcmp(text(answer, path), want) : v && !json_is_null(v)))
            return answer;
        json_decref(answer);
        pause_s(0.1);
    }
}

/* Asks until the number at path of the answer is at least that, a minute at most. */
static inline void wait_until_least(const char *question, const char *path, double least)
{
    bool enough = false;

    for (int i = 0; i < 600 && !enough; i++) {
        json_t *answer = ask(question);

        enough = number(answer, path) >= least;
        json_decref(answer);
        if (!enough)
            pause_s(0.1);
    }
}

/* Waits until the controller's log has a line with these words, a minute at most. */
static inline bool live_logged(const char *words)
{
    char *path = xasprintf("%s/log.d", live.munge.dir), line[2048];
    bool found = false;

    for (int i = 0; i < 600 && !found; i++) {
        FILE *f = fopen(path, "r");

        while (f && !found && fgets(line, sizeof(line), f))
            found = strstr(line, words) != NULL;
        if (f)
            fclose(f);
        if (!found)
            pause_s(0.1);
    }
    free(path);
    return found;
}

static inline bool live_start(void)
{
    char *path = built("syncguardd");
    char *argv[] = { path, (char *)"-f", live.conf, NULL };
    bool up = false;

    live.controller = spawn(argv);
    for (int i = 0; i < 1200 && !up; i++) {
        json_t *answer;

        pause_s(0.05);
        answer = ask("{\"query\":\"status\"}");
        up = *text(answer, "version");
        json_decref(answer);
    }
    free(path);
    return up;
}

static inline int live_stop(int sig)
{
    int status;

    kill(live.controller, sig);
    waitpid(live.controller, &status, 0);
    return status;
}

/* Removes the folder with all that is in it. */
static inline void live_end(void)
{
    char *command = xasprintf("rm -rf '%s/state' '%s'/log.d '%s'/sg.conf '%s'/*.jsonl '%s'/*.so '%s'/*.log",
                              live.munge.dir, live.munge.dir, live.munge.dir, live.munge.dir, live.munge.dir,
                              live.munge.dir);

    if (system(command))
        printf("# not cleaned up: %s\n", live.munge.dir);
    free(command);
    test_munge_stop(&live.munge);
}

/* A run of a simulated job whose rank 3 becomes so much slower after two seconds. */
static inline pid_t live_run(const char *job, const char *restarts, const char *seconds, const char *nodes,
                             const char *factor)
{
    char own_uid[16];
    char *argv[] = { (char *)"simjob",
                     (char *)"--controller",
                     live.hosts,
                     (char *)"--munge-socket",
                     live.munge.socket,
                     (char *)"--job",
                     (char *)job,
                     (char *)"--restarts",
                     (char *)restarts,
                     (char *)"--seconds",
                     (char *)seconds,
                     (char *)"--nodes",
                     (char *)nodes,
                     (char *)"--step",
                     (char *)"0.05",
                     (char *)"--slow-rank",
                     (char *)"3",
                     (char *)"--slow-after",
                     (char *)"2",
                     (char *)"--factor",
                     (char *)factor,
                     (char *)"--uid",
                     live.uid ? (char *)live.uid : own_uid,
                     live.endured ? (char *)"--endured" : NULL,
                     (char *)live.endured,
                     NULL };
    pid_t pid;

    snprintf(own_uid, sizeof(own_uid), "%u", (unsigned)getuid());
    pid = fork();
    if (pid)
        return pid;
    fexecve(live.simjob, argv, environ);
    _exit(127);
}

static inline pid_t live_job(const char *job, const char *seconds, const char *nodes)
{
    return live_run(job, "0", seconds, nodes, "1.3");
}

#endif
