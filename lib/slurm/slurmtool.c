#include "slurm/slurmtool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void slurmtool_find(char path[SLURMTOOL_PATH_MAX], const char *name)
{
    const char *given = getenv("PATH");
    char list[4096], *rest = list, *dir;

    snprintf(list, sizeof(list), "%s:/usr/bin:/usr/local/bin:/opt/slurm/bin", given ? given : "");
    while ((dir = strsep(&rest, ":"))) {
        if (*dir == '/' && snprintf(path, SLURMTOOL_PATH_MAX, "%s/%s", dir, name) < SLURMTOOL_PATH_MAX &&
            access(path, X_OK) == 0)
            return;
    }
    *path = '\0';
}

double slurmtool_time(const char *text)
{
    struct tm tm = { .tm_isdst = -1 };
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);

    return end && !*end ? (double)mktime(&tm) : NAN;
}
