#include "topology/locality.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/proc.h"

struct locality {
    const char *root;
    struct cpuset node[LOCALITY_NODES_MAX]; /* empty: no such node */
    uint64_t nics;                          /* bit n: NUMA node n has an adapter */
};

/* A device's numa_node file: one number, -1 where the firmware does not know. */
static int read_numa(const char *root, const char *device)
{
    char text[32];
    int n;

    if (!proc_read(text, sizeof(text), "%s%s/numa_node", root, device) || sscanf(text, "%d", &n) != 1 ||
        n < 0 || n >= LOCALITY_NODES_MAX)
        return -1;
    return n;
}

/* Adapters without a device (loopback, bridges) have no node. */
static void add_nic(const char *path, void *arg)
{
    struct locality *l = arg;
    int numa = read_numa(path, "/device");

    if (numa >= 0)
        l->nics |= 1ull << numa;
}

struct locality *locality_new(const char *root)
{
    struct locality *l = calloc(1, sizeof(*l));
    char text[4096];

    if (!l)
        return NULL;
    l->root = root;
    for (int i = 0; i < LOCALITY_NODES_MAX; i++)
        if (proc_read(text, sizeof(text), "%s/sys/devices/system/node/node%d/cpulist", root, i))
            cpuset_parse(&l->node[i], text);
    proc_each(add_nic, l, "%s/sys/class/infiniband", root);
    if (!l->nics) /* with RDMA, the job's messages use it */
        proc_each(add_nic, l, "%s/sys/class/net", root);
    return l;
}

void locality_free(struct locality *l)
{
    free(l);
}

const struct cpuset *locality_node(const struct locality *l, int numa)
{
    return l && numa >= 0 && numa < LOCALITY_NODES_MAX && l->node[numa].n ? &l->node[numa] : NULL;
}

int locality_cpus(const struct locality *l, const struct cpuset *cpus)
{
    for (int i = 0; l && i < LOCALITY_NODES_MAX; i++)
        if (cpus->n && l->node[i].n && cpuset_within(cpus, &l->node[i]))
            return i;
    return -1;
}

int locality_nic(const struct locality *l, int numa)
{
    if (!l)
        return -1;
    if (numa >= 0 && numa < LOCALITY_NODES_MAX && l->nics >> numa & 1)
        return numa;
    return l->nics ? __builtin_ctzll(l->nics) : -1;
}

int locality_pci(const struct locality *l, const char *bus)
{
    const char *colon = strchr(bus, ':');
    char device[64];
    size_t at;

    if (!l || !colon || strlen(bus) > 31 || strspn(bus, "0123456789abcdefABCDEF:.") != strlen(bus))
        return -1;
    if (colon - bus > 4) /* NVML's domain has eight digits, the kernel's four */
        bus = colon - 4;
    at = (size_t)snprintf(device, sizeof(device), "/sys/bus/pci/devices/");
    for (; *bus; bus++)
        device[at++] = (char)tolower((unsigned char)*bus);
    device[at] = '\0';
    return read_numa(l->root, device);
}

struct wanted {
    const struct locality *l;
    uint32_t number;
    int numa;
};

static void match_gpu(const char *path, void *arg)
{
    struct wanted *w = arg;
    char text[4096];
    const char *minor;

    if (!proc_read(text, sizeof(text), "%s/information", path))
        return;
    minor = strstr(text, "Device Minor:");
    if (minor && strtoul(minor + strlen("Device Minor:"), NULL, 10) == w->number)
        w->numa = locality_pci(w->l, strrchr(path, '/') + 1);
}

int locality_gpu(const struct locality *l, uint32_t number)
{
    struct wanted w = { l, number, -1 };

    if (l)
        proc_each(match_gpu, &w, "%s/proc/driver/nvidia/gpus", l->root);
    return w.numa;
}
