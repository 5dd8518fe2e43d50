#include "agent/energy.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

#define FOLDER    "/sys/class/powercap"
#define ZONES_MAX 64u

/* Packages, which include cores and caches, and the memory beside them.  Not "psys", the whole platform, nor
 * "intel-rapl-mmio", the same packages by another interface: both would count them twice.  AMD's driver uses the
 * same names. */
static const char *const counted[] = { "package-", "dram" };

struct zone {
    char *path; /* of the counter's file */
    uint64_t last_uj, range_uj;
};

struct energy {
    struct zone zone[ZONES_MAX];
    size_t n;
    bool broken;
    uint64_t sum_uj;
};

/* Read the first line of a file; false when there is none. */
static bool read_line(const char *folder, const char *file, char *buf, size_t size)
{
    char *path = file ? xasprintf("%s/%s", folder, file) : xstrdup(folder);
    FILE *f = fopen(path, "re");
    bool good = f && fgets(buf, (int)size, f);

    if (f)
        fclose(f);
    free(path);
    if (good)
        buf[strcspn(buf, "\n")] = '\0';
    return good;
}

static bool read_number(const char *folder, const char *file, uint64_t *n)
{
    char line[32], *end;

    if (!read_line(folder, file, line, sizeof(line)) || line[0] < '0' || line[0] > '9')
        return false;
    errno = 0;
    *n = strtoull(line, &end, 10);
    return !errno && !*end;
}

static bool is_counted(const char *folder)
{
    char name[32];

    if (!read_line(folder, "name", name, sizeof(name)))
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(counted); i++)
        if (!strncmp(name, counted[i], strlen(counted[i])))
            return true;
    return false;
}

static void add_zone(struct energy *e, const char *folder)
{
    struct zone z = { 0 };

    if (!is_counted(folder))
        return;
    z.path = xasprintf("%s/energy_uj", folder);
    if (e->n == ZONES_MAX || !read_number(folder, "max_energy_range_uj", &z.range_uj) ||
        !read_number(z.path, NULL, &z.last_uj) || z.last_uj > z.range_uj) {
        e->broken = true;
        free(z.path);
        return;
    }
    e->zone[e->n++] = z;
}

struct energy *energy_open(const char *root)
{
    struct energy *e = xcalloc(1, sizeof(*e));
    char *folder = xasprintf("%s" FOLDER, root);
    DIR *dir = opendir(folder);
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        char *zone = xasprintf("%s/%s", folder, entry->d_name);

        if (!strncmp(entry->d_name, "intel-rapl:", strlen("intel-rapl:")))
            add_zone(e, zone);
        free(zone);
    }
    if (dir)
        closedir(dir);
    free(folder);
    return e;
}

void energy_close(struct energy *e)
{
    if (!e)
        return;
    for (size_t i = 0; i < e->n; i++)
        free(e->zone[i].path);
    free(e);
}

double energy_j(struct energy *e)
{
    for (size_t i = 0; i < e->n && !e->broken; i++) {
        struct zone *z = &e->zone[i];
        uint64_t now_uj;

        if (!read_number(z->path, NULL, &now_uj) || now_uj > z->range_uj) {
            e->broken = true;
            break;
        }
        /* The counter wraps to 0 at its range. */
        e->sum_uj += now_uj >= z->last_uj ? now_uj - z->last_uj : z->range_uj - z->last_uj + now_uj;
        z->last_uj = now_uj;
    }
    return e->broken || !e->n ? NAN : (double)e->sum_uj * 1e-6;
}
