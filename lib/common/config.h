/* config.h - syncguard.conf: one table of keys, read by controller, plugin and agent alike.
 *
 * Slurm's dialect: `Key=Value` lines, '#' comments, `Include FILE`, a backslash continues a line, keys are
 * case-insensitive; `Policy=NAME Key=Value ...` defines (or, for a known name, changes) a policy,
 * `PolicyFor=NAME Key=Value ...` selects the jobs it applies to, `Rule=NAME Policy=NAME Key=Value ...`
 * defines its conditions and actions. Loading is all or nothing: an error names file, line, key and accepted
 * values. Conditions and actions are only stored here; rules/rule.h parses them, so that the plugin does not
 * need it. Never aborts, never prints: the plugin calls it inside srun and slurmstepd (memory failure is an
 * error like any other). */
#ifndef SYNCGUARD_COMMON_CONFIG_H
#define SYNCGUARD_COMMON_CONFIG_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/config_policy.h"
#include "common/err.h"

#define CONFIG_DEFAULT_PATH   SYSCONFDIR "/syncguard/syncguard.conf"
#define CONFIG_DEFAULT_PORT   6825
#define CONFIG_POLICIES_MAX   64
#define CONFIG_SELECTIONS_MAX 128
#define CONFIG_RULES_MAX      128

enum config_confirm { CONFIG_CONFIRM_SLURM, CONFIG_CONFIRM_CREDENTIAL };

struct config {
    char path[4096];
    char controller[1024];    /* Controller=host[:port][,host[:port]...]; each with its port once loaded */
    int port;                 /* Port= */
    char listen[256];         /* Listen=address; "" is every address */
    char munge_socket[108];   /* AuthInfo=socket=PATH, as in slurm.conf; "" is munge's own */
    int metrics_port;         /* MetricsPort=; 0: off */
    char metrics_listen[256]; /* MetricsListen=address; "" is every address */
    char state_dir[4096];     /* StateDir= : history; LOCALSTATEDIR/lib/syncguard */
    char log_file[4096];      /* LogFile=; "" is stderr */
    int log_level;            /* LogLevel=error|warning|info|debug: enum log_level (log.h) */
    char operators[1024];     /* Operators=user,user: see all jobs */
    char slurm_user[64];      /* SlurmUser=; "slurm" */
    char controller_user[64]; /* ControllerUser=; "" */
    int confirm;              /* Confirm=slurm|credential: enum config_confirm */
    char cluster[64];         /* ClusterName=; "" is unknown */
    char default_policy[32];  /* DefaultPolicy=; "balanced" */
    char agent[4096];         /* AgentPath=; PKGLIBEXECDIR/syncguard-agent */
    char credential[4096];    /* CredentialPath=; PKGLIBEXECDIR/syncguard-credential */
    char probe[4096];         /* ProbePath=; PKGLIBDIR/libsyncguard_probe.so */
    char nccl[4096];          /* NcclPath=; PKGLIBDIR/libsyncguard_nccl.so */
    int history_days;         /* HistoryDays=; 90 */
    int accounting_days;      /* AccountingDays=; 90 */
    double lease_s;           /* LeaseTime=; 0: one controller alone: history/lease.h */
    /* bounds: daemon/bounds.h, history/store.h, common/log.h */
    int user_connections, user_steps;  /* UserConnections=, UserSteps= */
    double user_memory, memory;        /* UserMemory=, Memory=: bytes */
    double user_load;                  /* UserLoad=: share of the controller's time */
    int handshakes_per_s;              /* HandshakesPerSecond= */
    double history_size, history_free; /* HistorySize=, HistoryFreeSpace=: bytes */
    int log_lines_per_minute;          /* LogLinesPerMinute= */
    /* what the controller acts through: actions/action.h */
    char slurmrestd[1024];       /* Slurmrestd=unix:/PATH|http://HOST:PORT; "" is none */
    char slurmrestd_token[1024]; /* SlurmrestdToken=FILE; "" is none */
    char slurmrestd_version[16]; /* SlurmrestdVersion=v0.0.40; "": negotiated */
    char webhook[2048];          /* Webhook=URL|FILE; "" is none */
    char webhook_template[1024]; /* WebhookTemplate=NAME|FILE; "generic" */
    char webhook_token[1024];    /* WebhookToken=FILE; "" is none */
    char command_hook[1024];     /* CommandHook=PATH; "" is none */
    char slurm_helper[4096];     /* SlurmHelperPath=; PKGLIBEXECDIR/syncguard-slurm-helper */
    /* all jobs together */
    char audit_log[4096];         /* AuditLog=; "" is none */
    char policy_module[4096];     /* PolicyModule=; "" is none */
    int user_actions_per_hour;    /* UserActionsPerHour= */
    int cluster_actions_per_hour; /* ClusterActionsPerHour= */
    int cluster_nodes_per_hour;   /* ClusterNodesPerHour= */
    size_t n_policies;
    struct config_policy policies[CONFIG_POLICIES_MAX]; /* the built-in ones (observe, balanced) first */
    size_t n_selections;
    struct config_selection selections[CONFIG_SELECTIONS_MAX];
    size_t n_rules;
    struct config_rule rules[CONFIG_RULES_MAX];
};

/* The folder of the policies that are installed with the programs, to be named without an Include. A test
 * points it elsewhere. */
extern const char *config_shipped_policies;

/* The configuration file to read: given (--conf, NULL without), else SYNCGUARD_CONF unless that is empty,
 * else NULL, which means the installed one. */
const char *config_path(const char *given);

/* Fill in defaults and the shipped policies, then read path (NULL: CONFIG_DEFAULT_PATH, and no file there is
 * no error). 0, or -1 with the reason and *c unchanged. */
int config_load(struct config *c, const char *path, struct err *err);
/* The same for text in memory (reasons use name as the file name; c->path is then empty).  "" gives the
 * defaults. */
int config_parse(struct config *c, const char *name, const char *text, size_t bytes, struct err *err);
/* Loads the file, or where path is NULL the built-in defaults whatever this machine has, so that a trace is
 * judged alike everywhere; the default policy of c.  NULL: the file is rejected. */
const struct config_policy *config_default_policy(struct config *c, const char *path, struct err *err);
/* Case does not matter; NULL: there is none. */
const struct config_policy *config_policy_find(const struct config *c, const char *name);
/* "observe, balanced, ..." into buf; returns buf. */
char *config_policy_names(const struct config *c, char *buf, size_t size);

/* The properties of a job that select its policy.  Unknown values are "" and 0; they only match a selection
 * without that property. */
struct config_job {
    const char *partition, *account, *qos, *user;
    uint32_t nodes, ranks;
};
/* The policy of a job: that of the first PolicyFor= line that matches, unless the user requested another one
 * (asked, or NULL) and the line allows an override; if no line matches, the requested or the default policy.
 * *why, if not NULL, is set to the matching line or NULL.  Returns NULL if the policy is unknown. */
const struct config_policy *config_policy_select(const struct config *c, const struct config_job *j,
                                                 const char *asked, const struct config_selection **why);

/* The tables, in the order of the manual page. */
const struct key *config_keys(enum config_table table);
/* "system", "policy", "selection", "rule". */
const char *config_table_name(enum config_table table);
/* The tables of keys with unit, range, default and meaning: for --help. */
void config_print_keys(FILE *out, int columns); /* columns as in text_wrap() */

#endif
