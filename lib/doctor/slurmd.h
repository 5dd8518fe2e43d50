/* slurmd.h - sgctl doctor --cluster: does a slurmd answer on each node, before a step is started there?
 *
 * srun waits for a node whose slurmd is gone for longer than all others take together, and slurmctld takes it
 * for idle until SlurmdTimeout (300 s) is over.  So all ports are tried at once, for at most SLURMD_LIMIT_S,
 * and only as long where something does not answer.  Nothing is said to a slurmd but that nothing will be: it
 * logs that, and ends the connection, or it hangs. */
#ifndef SYNCGUARD_DOCTOR_SLURMD_H
#define SYNCGUARD_DOCTOR_SLURMD_H

#include "doctor/findings.h"
#include "doctor/slurm_nodes.h"

/* What got no answer was asked at least 1.1 s before, twice: the kernel asks again after a second. */
#define SLURMD_LIMIT_S 1.8
/* Who accepted a connection by then has so much longer to end it, which takes a slurmd milliseconds, and a
 * loaded node its time. */
#define SLURMD_ANSWER_S 4.0

enum slurmd_state {
    SLURMD_UNKNOWN, /* not asked: no address, no room for a connection, no time left */
    SLURMD_ANSWERS,
    SLURMD_HANGS,    /* accepts connections, and does nothing with them */
    SLURMD_REFUSES,  /* the host is there, and nothing listens */
    SLURMD_NO_ROUTE, /* to the host */
    SLURMD_SILENT,   /* no answer in time */
};

struct slurmd_peer {
    const char *address; /* name or number */
    uint16_t port;       /* 0: not known */
    enum slurmd_state state;
};

/* Sets every state, within limit_s, and SLURMD_ANSWER_S more where one hangs.  What there is no time to look
 * up, or to ask for long enough, remains unknown. */
void slurmd_ask(struct slurmd_peer *peer, size_t n, double limit_s);

/* What the states say of nodes, given in the same order, one for each peer; which ones are silent is set.
 * Where no peer answers, only those that refuse are: the rest may as well be out of this host's reach. */
void slurmd_judge(const struct slurmd_peer *peer, struct slurm_node *const *node, size_t n,
                  struct findings *f);

/* Ask and judge those of the nodes that a step would run on (nodes_use(), by that allocation). */
void slurmd_check(struct slurm_nodes *slurm, const char *allocation, struct findings *f);

#endif
