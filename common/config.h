/* config.h - syncguard.conf: one table of keys, read by controller, plugin and agent alike.
 *
 * Slurm's dialect: `Key=Value` lines, '#' comments, `Include FILE`, a backslash continues a line, keys are
 * case-insensitive; `Policy=NAME Key=Value ...` defines (or, for a known name, changes) a policy. Loading is
 * all or nothing: an error names file, line, key and what is accepted. Never aborts, never prints: the plugin
 * calls it inside srun and slurmstepd (memory failure is an error like any other).
 */
#ifndef SYNCGUARD_COMMON_CONFIG_H
#define SYNCGUARD_COMMON_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/err.h"

#define CONFIG_DEFAULT_PATH SYSCONFDIR "/syncguard/syncguard.conf"
#define CONFIG_DEFAULT_PORT 6825
#define CONFIG_POLICIES_MAX 64

/* What a policy may tell so far.  All have defaults; units as in units.h. */
struct config_policy {
    char name[32];
    char text[128];            /* Description=: for --sync-guard=help */
    double min_slowdown_ratio; /* MinSlowdown: a straggler below this price is not named (1.02) */
    double hang_timeout_s;     /* HangTimeout: a collective open longer than this is a hang (30 s) */
    double sample_rate_hz;     /* SampleRate: samples a rank and second (50) */
};

struct config {
    char path[4096];
    char controller[1024];   /* Controller=host[:port][,host[:port]...]; "localhost". Each with its port once
                                loaded */
    int port;                /* Port= */
    char listen[256];        /* Listen=address; "" is every address */
    char munge_socket[108];  /* AuthInfo=socket=PATH, as in slurm.conf; "" is munge's own */
    char state_dir[4096];    /* StateDir= : history; LOCALSTATEDIR/lib/syncguard */
    char log_file[4096];     /* LogFile=; "" is stderr */
    char log_level[16];      /* LogLevel=error|warning|info|debug */
    char operators[1024];    /* Operators=user,user: see all jobs */
    char slurm_user[64];     /* SlurmUser=; "slurm" */
    char default_policy[32]; /* DefaultPolicy=; "balanced" */
    char agent[4096];        /* AgentPath=; PKGLIBEXECDIR/syncguard-agent */
    char probe[4096];        /* ProbePath=; PKGLIBDIR/libsyncguard_probe.so */
    int history_days;        /* HistoryDays=; 90 */
    size_t n_policies;
    struct config_policy policies[CONFIG_POLICIES_MAX]; /* the built-in ones (observe, balanced) first */
};

/* Fill in defaults, then read path (NULL: CONFIG_DEFAULT_PATH, and no file there is no error).
 * 0, or -1 with the reason and *c unchanged. */
int config_load(struct config *c, const char *path, struct err *err);
/* The same with text in memory in place of the file (name stands for it in reasons; c->path is then empty).
 * "" gives the defaults. */
int config_parse(struct config *c, const char *name, const char *text, size_t bytes, struct err *err);
const struct config_policy *config_policy_find(const struct config *c,
                                               const char *name); /* case-insensitive; NULL */
/* "observe, balanced, ..." into buf; returns buf. */
char *config_policy_names(const struct config *c, char *buf, size_t size);
/* The table of keys with unit, range, default and meaning: for --help and the manual page. */
void config_print_keys(FILE *out);

#endif
