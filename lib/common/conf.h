/* conf.h - reads files in the syntax of slurm.conf into lines of keys and values, with their file and line
 * numbers.
 *
 *   Key=Value Key="a value with spaces"   # comment
 *   Include FILE                          (relative to the file that includes it; %c in it is the value that
 *                                         ClusterName has so far, in lower case)
 *   a backslash at the end, or with blanks behind it, continues a line; inside quotes \" and \\ are meant
 * literally, elsewhere \# is a #
 *
 * Which keys there are is the caller's business (config.c).  Sizes are bounded, and only regular files are
 * read. It never aborts and never prints, because the plugin and the agent's guests use it. */
#ifndef SYNCGUARD_COMMON_CONF_H
#define SYNCGUARD_COMMON_CONF_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

#define CONF_FILE_MAX  (16u << 20) /* bytes per file; a line may be as long */
#define CONF_PAIRS_MAX 64u         /* per line */
#define CONF_DEPTH_MAX 8u          /* nested Include lines */
#define CONF_FILES_MAX 64u         /* files read, includes counted */

struct conf_pair {
    const char *key, *value; /* never NULL */
    bool quoted;             /* the value: only so Slurm accepts an empty one */
    unsigned line;
};

struct conf_line {
    const char *file;
    size_t n; /* at least 1 */
    struct conf_pair pairs[CONF_PAIRS_MAX];
};

/* Called for each line that has pairs; line is valid during the call only.  Returning -1 with a reason
 * (conf_error) stops reading. */
typedef int conf_line_fn(const struct conf_line *line, void *arg, struct err *err);

/* 0, or -1 with a reason that names file and line.  errno is ENOENT when path itself does not exist. */
int conf_read(const char *path, conf_line_fn *fn, void *arg, struct err *err);
/* The same for text in memory.  Reasons use name as the file name, and Include is relative to its folder. */
int conf_parse(const char *name, const char *text, size_t bytes, conf_line_fn *fn, void *arg,
               struct err *err);
/* One or the other: text NULL reads the file `name`. */
int conf_load(const char *name, const char *text, size_t bytes, conf_line_fn *fn, void *arg, struct err *err);
/* The same of a file of Slurm's, which takes more than anybody means: "Nodes+=a" is "Nodes=a", with any of
 * -*+/, and a quote that is not closed is part of the value, which ends at the next blank. */
int conf_load_slurm(const char *name, const char *text, size_t bytes, conf_line_fn *fn, void *arg,
                    struct err *err);

/* A whole file of at most CONF_FILE_MAX into *text (the caller's, also of a failure), whatever its syntax. */
int conf_file_read(const char *path, char **text, size_t *bytes, struct err *err);

/* "FILE:LINE: KEY=VALUE: " and the reason.  Returns -1. */
__attribute__((format(printf, 4, 5))) int
conf_error(const struct conf_line *line, const struct conf_pair *pair, struct err *err, const char *fmt, ...);

#endif
