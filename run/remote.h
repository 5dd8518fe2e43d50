/* remote.h - one program on each of several hosts: an sgrun that is started there by ssh joins the run, and
 * starts the program.
 *
 * They end with their programs.  A host whose program fails asks the others to end; one that can no longer be
 * reached is on its own. */
#ifndef SYNCGUARD_RUN_REMOTE_H
#define SYNCGUARD_RUN_REMOTE_H

#include <stdbool.h>

#include "run/guard.h"

struct remote;

struct remote_plan {
    /* in Slurm's notation: "node[1-4],gpu7"; a name may be what ssh knows, USER@HOST too */
    const char *list;
    const char *ssh; /* command line; its words are separated by blanks */
    /* file that takes what the programs print; NULL: sgrun's own standard output and error */
    const char *output;
    const char *const *argv;             /* of the program */
    const struct assignment *assignment; /* what all of them are told; node, number and count are filled in */
};

/* NULL with the reason: the list is wrong, or a command cannot be run; then nothing runs. */
struct remote *remote_start(const struct remote_plan *plan, struct err *err);
void remote_free(struct remote *h); /* NULL is fine */

/* Have all of them ended?  Never waits.  Prints which one failed, and asks the others to end. */
bool remote_ended(struct remote *h);
void remote_signal(struct remote *h, int sig);
/* Of the first that failed, as process_exit_status(); 0: none did. */
int remote_exit_status(const struct remote *h);

/* The address of this host that the first host of the list may reach it by, in IPv4. 0, or -1 with the
 * reason. */
#define REMOTE_ADDRESS_SIZE 64
int remote_address(const char *list, char address[REMOTE_ADDRESS_SIZE], struct err *err);

#endif
