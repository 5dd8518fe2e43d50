/* measure.h - one pair's measurement, and what syncguard-measure and sgctl doctor --probe say to each other.
 *
 * A task per node. srun passes the doctor's lines to all tasks, and theirs, JSON, to the doctor:
 *
 *   task     {"task": 3, "protocol": 2, "node": "node4", "port": 40001}    where it listens
 *   doctor   key KEY                                        a connection that does not begin with it is a stranger's, and closed
 *   doctor   peer TASK ADDRESS PORT                         for each task
 *   doctor   trips ROUND A-B C-D ...                        each task at most once
 *   doctor   rates ROUND A-B C-D ...
 *   task A   {"task": A, "round": 7, "rtt_s": 1.2e-05, "ahead_s": 0.0004, "there": 9e8, "back": 8e8, "why": null}
 *   task B   {"task": B, "round": 7}                        it is free again
 *   doctor   end
 *
 * With --mpi=TYPE, as srun was given, the same by MPI (measure_mpi.h): the round trip of a byte, and of 1
 * MiB, of which follows the same rate for both ways. There is no key and no address then.
 *
 *   task     {"task": 3, "protocol": 2, "node": "node4", "mpi": "Open MPI v4.1.4"}    or a "why" instead of "mpi"
 *
 * Each node has a program of its own, maybe of another build: a task of another MEASURE_PROTOCOL is not
 * measured with.  Between tasks, behind the key and a letter for what is measured, a round trip is a byte,
 * answered by the partner's wall clock (8 bytes, nanoseconds, big-endian).
 *
 * Plain TCP sockets.  No measurement takes longer than MEASURE_LIMIT_S; a task ends with its input, and after
 * MEASURE_LIFE_S. */
#ifndef SYNCGUARD_DOCTOR_MEASURE_H
#define SYNCGUARD_DOCTOR_MEASURE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "common/err.h"

#define MEASURE_PROTOCOL    2 /* 1, which is not said: without clocks */
#define MEASURE_TASKS_MAX   1024u
#define MEASURE_KEY_BYTES   33 /* with its NUL; CLIENT_KEY_BYTES */
#define MEASURE_LIMIT_S     2.0
#define MEASURE_LIFE_S      60u
#define MEASURE_LINE_BYTES  32768 /* of the doctor's */
#define MEASURE_REPLY_BYTES 1024  /* of a task's */

struct measured {
    double rtt_s, there_bytes_per_s, back_bytes_per_s; /* NaN: not measured */
    double ahead_s;  /* B's wall clock of A's, give or take half of rtt_s (clocks.h) */
    const char *why; /* a literal: why something was not; NULL: all was */
};

/* A task's line. */
struct measure_reply {
    uint32_t task;
    char node[256]; /* "": it is about a round; else: */
    uint16_t port;  /* 0: none */
    char mpi[64];   /* "": none */
    int protocol;
    unsigned round;                                             /* where it is about one */
    double rtt_s, ahead_s, there_bytes_per_s, back_bytes_per_s; /* NaN: not in it */
    char why[64];                                               /* "": not in it */
};
/* 0, or -1: it is malformed, or a number is out of range. */
int measure_read(const char *line, struct measure_reply *r);

struct measure_peer {
    struct sockaddr_storage address;
    socklen_t length; /* 0: not known */
};
/* Look an address up; -1: unknown. */
int measure_find(struct measure_peer *p, const char *address, uint16_t port);

/* Listen on a port that the kernel chooses: the socket; -1: err has the reason. */
int measure_listen(uint16_t *port, struct err *err);
/* Be A of a pair: the shortest of some round trips, or else (rates) how fast bytes arrive, each way. */
struct measured measure_call(const struct measure_peer *p, const char *key, bool rates);
/* Be B of a pair: answer one caller that knows the key. */
void measure_answer(int listening, const char *key, bool rates);

#endif
