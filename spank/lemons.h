/* lemons.h - nodes that hold jobs back again and again, for --exclude, as the controller names them. */
#ifndef SYNCGUARD_SPANK_LEMONS_H
#define SYNCGUARD_SPANK_LEMONS_H

#include <stddef.h>

#define LEMONS_MAX  16u
#define LEMONS_SIZE 512u

/* Those of sgctl's answer that are among `nodes` (as Slurm writes lists; NULL: any), at most LEMONS_MAX that
 * fit, separated by commas; returns how many. What is no line of names has none. */
size_t lemons_parse(const char *answer, const char *nodes, char list[LEMONS_SIZE]);
/* Ask for them (question.h).  0 also if there is no answer in limit_s. */
size_t lemons_ask(const char *conf, double limit_s, const char *nodes, char list[LEMONS_SIZE]);

#endif
