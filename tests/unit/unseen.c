/* A process that should have been a rank: found by its environment and what it has mapped, in a /proc of the test's own. */
#include "agent/unseen.h"

#include "tests/tap.h"
#include "tests/tree.h"

#define DIR_OF "SYNCGUARD_DIR=/dev/shm/step"

/* A file with NULs in it. */
static void put_environment(const char *path, const char *first, const char *second)
{
    char full[512];
    FILE *f;

    put(path, "x");
    snprintf(full, sizeof(full), "%s/%s", root, path);
    f = fopen(full, "w");
    fprintf(f, "%s%c%s%c", first, 0, second, 0);
    fclose(f);
}

static void put_process(const char *pid, const char *name, const char *first, const char *second,
                        const char *maps)
{
    char path[64];

    snprintf(path, sizeof(path), "proc/%s/environ", pid);
    put_environment(path, first, second);
    snprintf(path, sizeof(path), "proc/%s/comm", pid);
    put(path, "%s\n", name);
    snprintf(path, sizeof(path), "proc/%s/maps", pid);
    put(path, "%s\n", maps);
}

static const struct {
    const char *what, *first, *second, *maps, *says; /* says NULL: it is not found */
} cases[] = {
    { "PyTorch and the probe", "A=1", DIR_OF,
      "7f00 /opt/torch/lib/libtorch_cpu.so.1\n7f01 /usr/lib/libsyncguard_probe.so",
      "train has loaded PyTorch, and no function by which it communicates over Gloo, NCCL or MPI was seen" },
    { "PyTorch without the probe", DIR_OF, "A=1", "7f00 /opt/torch/lib/libtorch_cpu.so",
      "train has loaded PyTorch, but not the probe: something removed it from LD_PRELOAD" },
    { "MPI and PyTorch", DIR_OF, "A=1",
      "/usr/lib/libmpi.so.40\n/opt/libtorch_cpu.so\n/usr/lib/libsyncguard_probe.so",
      "no function of MPI was seen" },
    { "none of them", DIR_OF, "A=1", "/usr/lib/libc.so.6\n/usr/lib/libsyncguard_probe.so", NULL },
    { "another step's process", "SYNCGUARD_DIR=/dev/shm/step2", "A=1", "/opt/libtorch_cpu.so", NULL },
    { "a process of no step", "PATH=/bin", "A=1", "/opt/libtorch_cpu.so", NULL },
};

int main(void)
{
    char text[256];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bool found;

        tree_new();
        put("proc/uptime", "1");
        put_process("12", "train", cases[i].first, cases[i].second, cases[i].maps);
        *text = '\0';
        found = unseen_find(root, "/dev/shm/step", text, sizeof(text));
        ok(found == (cases[i].says != NULL), "%s: %s", cases[i].what,
           cases[i].says ? "it is found" : "it is not found");
        if (cases[i].says)
            ok(strstr(text, cases[i].says) != NULL, "%s: the sentence says what is known (%s)", cases[i].what,
               text);
        tree_remove();
    }
    return done_testing();
}
