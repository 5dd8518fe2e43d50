#include "agent/adapter.h"

#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/proc.h"

#define RATE_MAX_BITS 8e13 /* larger numbers are implausible */

static void add(struct adapter *a, double bits_per_s)
{
    double bytes_per_s = bits_per_s / 8;

    if (!(bits_per_s > 0 && bits_per_s < RATE_MAX_BITS) || bytes_per_s < a->bytes_per_s)
        return;
    if (bytes_per_s > a->bytes_per_s)
        *a = (struct adapter){ bytes_per_s, 0 };
    a->number++;
}

static bool file_is(const char *folder, const char *file, const char *begin)
{
    char path[1700], text[64];

    snprintf(path, sizeof(path), "%s/%s", folder, file);
    return proc_read(path, text, sizeof(text)) && !strncmp(text, begin, strlen(begin));
}

/* The number at the start of a file; NaN: none. */
static double number_of(const char *folder, const char *file)
{
    char path[1700], text[64], *end;
    double v;

    snprintf(path, sizeof(path), "%s/%s", folder, file);
    if (!proc_read(path, text, sizeof(text)))
        return NAN;
    v = strtod(text, &end);
    return end > text ? v : NAN;
}

/* "4: ACTIVE", "400 Gb/sec (4X NDR)" */
static void add_port(struct adapter *a, const char *folder)
{
    if (file_is(folder, "state", "4:"))
        add(a, 1e9 * number_of(folder, "rate"));
}

/* The file is in megabits per second, -1 where the driver does not know.  Bridges and the loopback interface have
 * no device. */
static void add_interface(struct adapter *a, const char *folder)
{
    char path[1700], text[64];

    snprintf(path, sizeof(path), "%s/device/uevent", folder);
    if (proc_read(path, text, sizeof(text)) && file_is(folder, "operstate", "up"))
        add(a, 1e6 * number_of(folder, "speed"));
}

static void each(struct adapter *a, const char *folder, void (*take)(struct adapter *a, const char *folder))
{
    char path[1600];
    struct dirent *e;
    DIR *d = opendir(folder);

    while (d && (e = readdir(d))) {
        snprintf(path, sizeof(path), "%.1300s/%.255s", folder, e->d_name);
        if (e->d_name[0] != '.')
            take(a, path);
    }
    if (d)
        closedir(d);
}

static void add_device(struct adapter *a, const char *folder)
{
    char ports[1700];

    snprintf(ports, sizeof(ports), "%s/ports", folder);
    each(a, ports, add_port);
}

struct adapter adapter_read(const char *root)
{
    struct adapter a = { 0 };
    char folder[1024];

    snprintf(folder, sizeof(folder), "%s/sys/class/infiniband", root);
    each(&a, folder, add_device);
    snprintf(folder, sizeof(folder), "%s/sys/class/net", root);
    if (!a.number)
        each(&a, folder, add_interface);
    return a;
}
