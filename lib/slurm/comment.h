/* comment.h - adds SyncGuard's text to comments of jobs and nodes, and to reasons of nodes, that others may
 * have set. */
#ifndef SYNCGUARD_SLURM_COMMENT_H
#define SYNCGUARD_SLURM_COMMENT_H

#define COMMENT_MARK "SyncGuard: "

/* The comment `old` (NULL: none) with `text` added: text of others is kept before it, SyncGuard's earlier
 * text is replaced.  Control characters become spaces.  The caller frees the result. */
char *comment_merge(const char *old, const char *text);

#endif
