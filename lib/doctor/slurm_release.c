#include "doctor/slurm_release.h"

#include <slurm/slurm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/tool.h"

#define LIMIT_S    5.0
#define BYTES_MAX  4096
#define DIGITS_MAX 4 /* of a number of a release */

struct slurm_release slurm_release_built(void)
{
    return (struct slurm_release){ SLURM_VERSION_MAJOR(SLURM_VERSION_NUMBER),
                                   SLURM_VERSION_MINOR(SLURM_VERSION_NUMBER) };
}

/* The digits at text as a number; behind them is *end.  False: none, or too many. */
static bool read_number(const char *text, unsigned *n, const char **end)
{
    size_t digits = strspn(text, "0123456789");

    *n = 0;
    for (size_t i = 0; i < digits && digits <= DIGITS_MAX; i++)
        *n = *n * 10 + (unsigned)(text[i] - '0');
    *end = text + digits;
    return digits > 0 && digits <= DIGITS_MAX;
}

bool slurm_release_parse(const char *text, struct slurm_release *r)
{
    const char *at = strchr(text, ' ');
    struct slurm_release read;

    if (strncmp(text, "slurm", 5) != 0 || !at || !read_number(at + 1, &read.major, &at) || *at != '.' ||
        !read_number(at + 1, &read.minor, &at))
        return false;
    *r = read;
    return true;
}

int slurm_release_installed(struct slurm_release *r, struct err *err)
{
    const char *const argv[] = { "scontrol", "--version", NULL };
    char *text = tool_run(argv, LIMIT_S, BYTES_MAX, err);
    int rc = -1;

    if (!text)
        return -1;
    if (slurm_release_parse(text, r))
        rc = 0;
    else
        err_set(err, "scontrol --version printed no release of Slurm");
    free(text);
    return rc;
}
