/* action.h - what the controller can do about a job, by name.
 *
 * The words that configuration, rules, engine, simulator, protocol and terminals share.  Pure: how an action
 * is carried out is actions/action.h's affair. */
#ifndef SYNCGUARD_RULES_ACTION_H
#define SYNCGUARD_RULES_ACTION_H

#include <stddef.h>

enum action_kind {
    ACTION_SIGNAL,       /* a signal to the guarded step */
    ACTION_CHECKPOINT,   /* ask the job to write a checkpoint now */
    ACTION_REQUEUE,      /* end this run and start the job anew */
    ACTION_EXCLUDE,      /* the same, and keep it off the named nodes */
    ACTION_NODE_COMMENT, /* a comment on the named nodes, for sinfo and scontrol */
    ACTION_DRAIN,        /* let nothing new start on the named nodes */
    ACTION_JOB_COMMENT,  /* a comment on the job, for squeue and sacct */
    ACTION_WEBHOOK,      /* tell the configured URL */
    ACTION_COMMAND,      /* run the configured command */
    ACTION_RESUME,       /* take drained nodes back; by hand only */
    ACTION_KINDS
};

/* What an action changes, and so who may ask for it. */
enum action_scope {
    ACTION_ON_JOB,    /* its owner */
    ACTION_ON_NODES,  /* operators only */
    ACTION_ON_NOBODY, /* it only tells */
};

/* "signal", "checkpoint", "requeue", "exclude", "node_comment", ... */
const char *action_name(enum action_kind kind);
/* What it does, half a sentence for help and manual pages. */
const char *action_text(enum action_kind kind);
enum action_scope action_scope(enum action_kind kind);
/* Must it be told nodes? */
int action_wants_nodes(enum action_kind kind);
/* Does it end the present run of the job? */
int action_ends_run(enum action_kind kind);
/* Is it for people only? Whoever drained a node had a reason, which no rule can know to be gone. */
int action_by_hand_only(enum action_kind kind);

/* The kind of that name, in any case, '-' as good as '_'; -1: there is none. */
int action_parse(const char *name);
/* "signal, checkpoint, ..." into buf, with what is for people only or without; returns buf. */
char *action_names(int by_hand, char *buf, size_t size);

/* "USR1", "SIGUSR1", "usr1" or "10": the signal's number, 1 to 64; -1: not a signal. */
int action_signal_parse(const char *name);
/* "USR1"; "" for a number without a name. */
const char *action_signal_name(int number);

#endif
