#include "nodefigures/energy.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/proc.h"
#include "common/xalloc.h"

#define ZONES_MAX 64u

/* Packages, which include cores and caches, and the memory beside them.  Not "psys", the whole platform, nor
 * "intel-rapl-mmio", the same packages by another interface: both would count them twice.  AMD's driver uses
 * the same names. */
static const char *const counted[] = { "package-", "dram" };

struct zone {
    char *folder;
    uint64_t last_uj, range_uj;
};

struct energy {
    struct zone zone[ZONES_MAX];
    size_t n;
    bool broken;
    uint64_t sum_uj;
};

static bool is_counted(const char *folder)
{
    char name[32];

    if (strncmp(strrchr(folder, '/'), "/intel-rapl:", strlen("/intel-rapl:")) != 0 ||
        !proc_read(name, sizeof(name), "%s/name", folder))
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(counted); i++)
        if (!strncmp(name, counted[i], strlen(counted[i])))
            return true;
    return false;
}

static bool read_counter(const struct zone *z, uint64_t *uj)
{
    return proc_number(uj, "%s/energy_uj", z->folder) && *uj <= z->range_uj;
}

static void add_zone(const char *folder, void *arg)
{
    struct energy *e = arg;
    struct zone z = { .folder = xstrdup(folder) };

    if (!is_counted(folder)) {
        free(z.folder);
    } else if (e->n == ZONES_MAX || !proc_number(&z.range_uj, "%s/max_energy_range_uj", folder) ||
               !read_counter(&z, &z.last_uj)) {
        e->broken = true;
        free(z.folder);
    } else {
        e->zone[e->n++] = z;
    }
}

struct energy *energy_open(const char *root)
{
    struct energy *e = xcalloc(1, sizeof(*e));

    proc_each(add_zone, e, "%s/sys/class/powercap", root);
    return e;
}

void energy_close(struct energy *e)
{
    if (!e)
        return;
    for (size_t i = 0; i < e->n; i++)
        free(e->zone[i].folder);
    free(e);
}

double energy_j(struct energy *e)
{
    for (size_t i = 0; i < e->n && !e->broken; i++) {
        struct zone *z = &e->zone[i];
        uint64_t now_uj;

        if (!read_counter(z, &now_uj)) {
            e->broken = true;
            break;
        }
        /* The counter wraps to 0 at its range. */
        e->sum_uj += now_uj >= z->last_uj ? now_uj - z->last_uj : z->range_uj - z->last_uj + now_uj;
        z->last_uj = now_uj;
    }
    return e->broken || !e->n ? NAN : (double)e->sum_uj * 1e-6;
}
