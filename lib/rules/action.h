/* action.h - what the controller can do about a job, by name.
 *
 * The names that configuration, rules, engine, protocol and terminals share.  Pure; actions/action.h
 * carries actions out. */
#ifndef SYNCGUARD_RULES_ACTION_H
#define SYNCGUARD_RULES_ACTION_H

#include <stdbool.h>
#include <stddef.h>

enum action_kind {
    ACTION_SIGNAL,       /* a signal to the guarded step */
    ACTION_CHECKPOINT,   /* ask the job to write a checkpoint now */
    ACTION_REQUEUE,      /* end this run and let Slurm start the job again */
    ACTION_EXCLUDE,      /* requeue, and exclude the named nodes from the next run */
    ACTION_NODE_COMMENT, /* a comment on the named nodes, for sinfo and scontrol */
    ACTION_DRAIN,        /* no new jobs start on the named nodes */
    ACTION_JOB_COMMENT,  /* a comment on the job, for squeue and sacct */
    ACTION_WEBHOOK,      /* notify the configured URL */
    ACTION_COMMAND,      /* run the configured command */
    ACTION_RESUME,       /* resume drained nodes; only on a user's request */
    ACTION_KINDS
};

/* What an action changes, which determines who may ask for it. */
enum action_scope {
    ACTION_ON_JOB,    /* its owner and operators */
    ACTION_ON_NODES,  /* operators only */
    ACTION_ON_NOBODY, /* a notification, which changes neither */
};

struct action_type {
    const char *name;
    enum action_scope scope;
    bool wants_nodes; /* needs a list of nodes */
    bool ends_run;    /* ends the present run of the job */
    /* only users may ask for it: no rule can know whether the reason for a drain is gone */
    bool by_hand_only;
    const char *text;       /* description without a subject: "drain the nodes ..." */
    const char *now, *done; /* for sentences, before the nodes: "exclude", "excluded" */
};
extern const struct action_type action_table[ACTION_KINDS];

/* "signal", "checkpoint", "requeue", "exclude", "node_comment", ... */
const char *action_name(enum action_kind kind);

/* The kind with this name; case is ignored and '-' is the same as '_'. -1: there is none. */
int action_parse(const char *name);
/* Write "signal, checkpoint, ..." to buf, with or without those for users only; returns buf. */
char *action_names(bool by_hand, char *buf, size_t size);

/* "USR1", "SIGUSR1", "usr1" or "10": the signal's number, 1 to 64; -1: not a signal. */
int action_signal_parse(const char *name);
/* Whether the signal, 1 to 64, ends a program that has no handler for it, and is not sent to that end: KILL,
 * TERM, INT and QUIT are, and some others stop a program, continue it, or are ignored. */
bool action_signal_wants_handler(int number);
/* "USR1"; "" for a number without a name. */
const char *action_signal_name(int number);

#endif
