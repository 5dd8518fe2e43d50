/* text.h - the text that the trainer learns, as small integers.
 * Every byte value that occurs becomes a symbol; the last twentieth of the text is held out for evaluation.
 * Reads plain files; refuses what is empty or too short to cut one window from. */
#ifndef SYNCGUARD_WORKLOADS_TEXT_H
#define SYNCGUARD_WORKLOADS_TEXT_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "tests/workloads/shared/arguments.h"

#define TEXT_DEFAULT "/usr/share/common-licenses"

struct text {
    unsigned char *byte;       /* the files, one after the other */
    size_t length;             /* bytes in all */
    size_t train;              /* bytes to learn from; the rest is held out */
    int symbols;               /* distinct byte values */
    unsigned char id[256];     /* byte value to symbol */
    unsigned char letter[256]; /* symbol to byte value */
    uint64_t hash;             /* of the bytes: do all ranks read the same? */
};

/* Reads files and folders (every regular file inside, by name); none: TEXT_DEFAULT. */
int text_load(struct text *t, const struct paths *paths, struct err *err);
void text_free(struct text *t);

#endif
