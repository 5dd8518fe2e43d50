/* question.h - one question to the controller, by way of sgctl(1).
 *
 * sgctl is a process of its own that is killed in time: nothing of the controller's protocol, and no wait for
 * a name or a connection, is in srun or sbatch. Never aborts and never prints. */
#ifndef SYNCGUARD_SPANK_QUESTION_H
#define SYNCGUARD_SPANK_QUESTION_H

#define QUESTION_LIMIT_S      0.2 /* unless plugstack.conf has another (spank/args.h) */
#define QUESTION_ANSWER_BYTES 16384u
#define QUESTION_WORDS_MAX    8u

/* What sgctl prints for this command, which the caller frees, after limit_s at most.  conf: the
 * syncguard.conf to read; words: the command and its arguments, at most QUESTION_WORDS_MAX, ended by NULL.
 * NULL: there is no answer. */
char *question_ask(const char *conf, double limit_s, const char *const *words);

#endif
