/* comment.h - our words beside other people's, in comments of jobs and nodes and in reasons of nodes. */
#ifndef SYNCGUARD_SLURM_COMMENT_H
#define SYNCGUARD_SLURM_COMMENT_H

#define COMMENT_MARK "SyncGuard: "

/* What a comment becomes that was `old` (NULL: none) when we say `text`: what others wrote stays in front,
 * what we wrote before goes.  Control characters become spaces.  The caller's (free). */
char *comment_merge(const char *old, const char *text);

#endif
