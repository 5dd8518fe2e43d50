#include "nodefigures/adapter.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/proc.h"

#define RATE_MAX_BITS 8e13 /* larger numbers are implausible */

static void add_adapter(struct adapter *a, double bits_per_s)
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
    char text[64];

    return proc_read(text, sizeof(text), "%s/%s", folder, file) && !strncmp(text, begin, strlen(begin));
}

/* The number at the start of a file; NaN: none. */
static double number_of(const char *folder, const char *file)
{
    char text[64], *end;
    double v;

    if (!proc_read(text, sizeof(text), "%s/%s", folder, file))
        return NAN;
    v = strtod(text, &end);
    return end > text ? v : NAN;
}

/* "4: ACTIVE", "400 Gb/sec (4X NDR)" */
static void add_port(const char *folder, void *a)
{
    if (file_is(folder, "state", "4:"))
        add_adapter(a, 1e9 * number_of(folder, "rate"));
}

static void add_device(const char *folder, void *a)
{
    proc_each(add_port, a, "%s/ports", folder);
}

/* The file is in megabits per second, -1 where the driver does not know.  Bridges and the loopback interface
 * have no device. */
static void add_interface(const char *folder, void *a)
{
    if (file_is(folder, "device/uevent", "") && file_is(folder, "operstate", "up"))
        add_adapter(a, 1e6 * number_of(folder, "speed"));
}

struct adapter adapter_read(const char *root)
{
    struct adapter a = { 0 };

    proc_each(add_device, &a, "%s/sys/class/infiniband", root);
    if (!a.number)
        proc_each(add_interface, &a, "%s/sys/class/net", root);
    return a;
}
