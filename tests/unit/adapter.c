/* Number and speed of network adapters, read from trees like the kernel's. */
#include "nodefigures/adapter.h"

#include "tests/tap.h"
#include "tests/tree.h"

static void port(const char *device, int number, const char *state, const char *rate)
{
    char path[128];

    snprintf(path, sizeof(path), "sys/class/infiniband/%s/ports/%d/state", device, number);
    put(path, "%s\n", state);
    snprintf(path, sizeof(path), "sys/class/infiniband/%s/ports/%d/rate", device, number);
    put(path, "%s\n", rate);
}

static void interface(const char *name, const char *state, const char *speed, bool device)
{
    char path[128];

    snprintf(path, sizeof(path), "sys/class/net/%s/operstate", name);
    put(path, "%s\n", state);
    snprintf(path, sizeof(path), "sys/class/net/%s/speed", name);
    put(path, "%s\n", speed);
    snprintf(path, sizeof(path), "sys/class/net/%s/device/uevent", name);
    if (device)
        put(path, "DRIVER=some\n");
}

int main(void)
{
    struct adapter a;

    tree_new();
    a = adapter_read(root);
    ok(!a.number && a.bytes_per_s == 0, "in an empty tree no adapter is known");
    interface("lo", "unknown", "10", false);
    interface("br0", "up", "100000", false);
    interface("virt0", "up", "-1", true);
    interface("eth2", "down", "100000", true);
    a = adapter_read(root);
    ok(!a.number, "loopback, bridges and interfaces that are down or of unknown speed do not count");
    interface("eth0", "up", "1000", true);
    interface("eth1", "up", "25000", true);
    a = adapter_read(root);
    ok(a.number == 1 && near(a.bytes_per_s, 25e9 / 8, 1e-9),
       "of several interfaces the fastest counts\n%g bytes/s", a.bytes_per_s);
    port("mlx5_0", 1, "4: ACTIVE", "400 Gb/sec (4X NDR)");
    port("mlx5_1", 1, "4: ACTIVE", "400 Gb/sec (4X NDR)");
    port("mlx5_2", 1, "1: DOWN", "800 Gb/sec (8X NDR)");
    port("mlx5_3", 1, "4: ACTIVE", "100 Gb/sec (4X EDR)");
    port("mlx5_4", 1, "4: ACTIVE", "fast");
    a = adapter_read(root);
    ok(a.number == 2 && near(a.bytes_per_s, 50e9, 1e-9),
       "RDMA ports count before interfaces\n%u of %g bytes/s", a.number, a.bytes_per_s);
    tree_remove();
    return done_testing();
}
