/* portal.h - the parent of the steps' directories (stepdir.h), shown to tasks that have a /dev/shm of their
 * own.
 *
 * Slurm can give each job private mounts (JobContainerType=job_container/tmpfs), which its tasks join after
 * slurmstepd made the step's directory in those of the host; other plugins do the same.  The portal is the
 * host's parent as a mount of no namespace; in the tasks' namespaces it is mounted over a directory of the
 * same name, so that agent and ranks have one directory at one path.  Linux 5.2 and newer. */
#ifndef SYNCGUARD_SPANK_PORTAL_H
#define SYNCGUARD_SPANK_PORTAL_H

#include "common/err.h"

/* In slurmstepd, as root: take hold of the parent.  Its descriptor, which no program that is started inherits
 * and the caller closes; -1 where the parent cannot be opened.  Where the kernel cannot copy mounts, what
 * portal_show() says is the reason. */
int portal_open(const char *parent);

/* In a task, as root, once it has joined its namespaces: make the path parent lead to the host's parent,
 * unless it does.  Tasks of one job may call it at the same time.  0, or -1 with the reason. */
int portal_show(int portal, const char *parent, struct err *err);

#endif
