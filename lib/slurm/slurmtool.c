#include "slurm/slurmtool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/path.h"
#include "common/xalloc.h"

void slurmtool_find(char path[SLURMTOOL_PATH_MAX], const char *name)
{
    const char *lists[] = { getenv("PATH"), "/usr/bin:/usr/local/bin:/opt/slurm/bin" };

    for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
        while (path_next(&lists[i], name, path, SLURMTOOL_PATH_MAX))
            if (*path == '/' && access(path, X_OK) == 0)
                return;
    *path = '\0';
}

double slurmtool_time(const char *text)
{
    struct tm tm = { .tm_isdst = -1 };
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);

    return end && !*end ? (double)mktime(&tm) : NAN;
}
