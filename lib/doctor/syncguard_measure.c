/* syncguard_measure.c - syncguard-measure, a task of `sgctl doctor --cluster --probe`: measures what is
 * between its node and others (doctor/measure.h). */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/xalloc.h"
#include "doctor/measure.h"
#include "doctor/measure_mpi.h"
#include "wire/json.h"

struct task {
    uint32_t self;
    int listening;
    char key[MEASURE_KEY_BYTES];
    struct measure_peer *peer; /* MEASURE_TASKS_MAX */
    struct measure_mpi *mpi;   /* NULL: by sockets */
};

static void say_line(json_t *o)
{
    char *line = json_dumps(o, JSON_COMPACT);

    if (line) {
        puts(line);
        fflush(stdout);
    }
    free(line);
    json_decref(o);
}

static json_t *reply_of(const struct task *t)
{
    json_t *o = json_object();

    json_put_int(o, "task", t->self);
    return o;
}

/* The first line: its node, and what it is reached by, or why not. */
static void say_hello(const struct task *t, uint16_t port, const char *why)
{
    const char *node = getenv("SLURMD_NODENAME");
    char host[256] = "";
    json_t *o = reply_of(t);

    if (!node && gethostname(host, sizeof(host) - 1) == 0)
        node = host;
    json_put_int(o, "protocol", MEASURE_PROTOCOL);
    json_put_text(o, "node", node);
    if (port)
        json_put_int(o, "port", port);
    if (t->mpi)
        json_put_text(o, "mpi", measure_mpi_name(t->mpi));
    json_put_text(o, "why", why);
    say_line(o);
}

static void call_peer(const struct task *t, unsigned round, uint32_t b, bool rates)
{
    struct measured m =
        t->mpi ? measure_mpi_call(t->mpi, b, rates) : measure_call(&t->peer[b], t->key, rates);
    json_t *o = reply_of(t);

    json_put_int(o, "round", round);
    json_put_known(o, "rtt_s", m.rtt_s);
    json_put_known(o, "ahead_s", m.ahead_s);
    json_put_known(o, "there", m.there_bytes_per_s);
    json_put_known(o, "back", m.back_bytes_per_s);
    json_put_text(o, "why", m.why);
    say_line(o);
}

static void answer_peer(const struct task *t, unsigned round, uint32_t a, bool rates)
{
    json_t *o;

    if (t->mpi)
        measure_mpi_answer(t->mpi, a, rates);
    else
        measure_answer(t->listening, t->key, rates);
    o = reply_of(t);
    json_put_int(o, "round", round);
    say_line(o);
}

/* "ROUND A-B C-D ..." */
static void play_round(const struct task *t, const char *words, bool rates)
{
    unsigned round, a, b;
    int used;

    if (sscanf(words, "%u%n", &round, &used) != 1)
        return;
    for (words += used; sscanf(words, " %u-%u%n", &a, &b, &used) == 2; words += used) {
        if (a >= MEASURE_TASKS_MAX || b >= MEASURE_TASKS_MAX)
            continue;
        if (a == t->self)
            call_peer(t, round, b, rates);
        else if (b == t->self)
            answer_peer(t, round, a, rates);
    }
}

/* Until the doctor says that this is the end, or is gone. */
static void obey_doctor(struct task *t)
{
    char *line = xcalloc(1, MEASURE_LINE_BYTES), address[256];
    unsigned task, port;

    while (fgets(line, MEASURE_LINE_BYTES, stdin) && strcmp(line, "end\n") != 0) {
        bool ready = t->mpi || t->key[0];

        if (!strncmp(line, "key ", 4))
            sscanf(line + 4, "%32s", t->key);
        else if (sscanf(line, "peer %u %255s %u", &task, address, &port) == 3 && task < MEASURE_TASKS_MAX &&
                 port < 65536)
            measure_find(&t->peer[task], address, (uint16_t)port);
        else if (!strncmp(line, "trips ", 6) && ready)
            play_round(t, line + 6, false);
        else if (!strncmp(line, "rates ", 6) && ready)
            play_round(t, line + 6, true);
    }
    free(line);
}

static int run_by_sockets(struct task *t)
{
    struct err err;
    uint16_t port;

    t->listening = measure_listen(&port, &err);
    if (t->listening < 0) {
        fprintf(stderr, "syncguard-measure: %s\n", err.text);
        return 1;
    }
    t->peer = xcalloc(MEASURE_TASKS_MAX, sizeof(*t->peer));
    say_hello(t, port, NULL);
    obey_doctor(t);
    free(t->peer);
    close(t->listening);
    return 0;
}

static int run_by_mpi(struct task *t, const char *type)
{
    const char *tasks = getenv("SLURM_NTASKS");
    struct err err;

    t->mpi = measure_mpi_open(type, t->self, tasks ? (uint32_t)strtoul(tasks, NULL, 10) : 1, &err);
    say_hello(t, 0, t->mpi ? NULL : err.text);
    if (!t->mpi)
        return 1;
    obey_doctor(t);
    measure_mpi_close(t->mpi);
    return 0;
}

int main(int argc, char **argv)
{
    static const char mpi[] = "--mpi=";
    const char *id = getenv("SLURM_PROCID");
    struct task t = { .self = id ? (uint32_t)strtoul(id, NULL, 10) : 0 };

    alarm(MEASURE_LIFE_S);
    return argc > 1 && !strncmp(argv[1], mpi, sizeof(mpi) - 1) ? run_by_mpi(&t, argv[1] + sizeof(mpi) - 1)
                                                               : run_by_sockets(&t);
}
