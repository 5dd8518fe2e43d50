/* To which CPUs a step's tasks are bound, on hosts of several shapes. */
#include "spank/binding.h"

#include "tests/tap.h"
#include "tests/tree.h"

struct host {
    const char *numa[5]; /* the CPUs of each NUMA node; "": it has memory alone */
    int gpu[5];          /* on which NUMA node each is, -1: the firmware does not know; END */
};
#define END (-9)

static const struct host one = { { "0-7" }, { 0, 0, END } }, two = { { "0-3", "4-7" }, { 0, 0, 1, 1, END } },
                         crossed = { { "0-3", "4-7" }, { 1, 1, 0, 0, END } },
                         four = { { "0-1", "2-3", "4-5", "6-7" }, { END } },
                         uneven = { { "0-5", "6-7" }, { END } },
                         unknown = { { "0-3", "4-7" }, { 0, -1, END } },
                         far = { { "0-3", "4-7", "" }, { END } }, lacks = { { "0-3", "4-6" }, { END } },
                         none = { { NULL }, { END } };

static void host_make(const struct host *h)
{
    tree_new();
    for (int i = 0; i < 5 && h->numa[i]; i++) {
        char path[64];

        snprintf(path, sizeof(path), "sys/devices/system/node/node%d/cpulist", i);
        put(path, "%s\n", h->numa[i]);
    }
    for (int i = 0; i < 5 && h->gpu[i] != END; i++) {
        char path[96];

        snprintf(path, sizeof(path), "proc/driver/nvidia/gpus/0000:%d0:00.0/information", i + 1);
        put(path, "Model: \t\t A GPU\nBus Location: \t 0000:%d0:00.0\nDevice Minor: \t %d\n", i + 1, i);
        snprintf(path, sizeof(path), "sys/bus/pci/devices/0000:%d0:00.0/numa_node", i + 1);
        put(path, "%d\n", h->gpu[i]);
    }
}

/* "0-3" */
static void write_list(const struct cpuset *s, char *out, size_t size)
{
    size_t at = 0;

    *out = '\0';
    for (uint32_t cpu = cpuset_next(s, 0), last; cpu < CPUSET_MAX && at < size;
         cpu = cpuset_next(s, last + 1)) {
        last = cpu;
        while (cpuset_has(s, last + 1))
            last++;
        at +=
            (size_t)snprintf(out + at, size - at, cpu == last ? "%s%u" : "%s%u-%u", at ? "," : "", cpu, last);
    }
}

int main(void)
{
    static const struct {
        const char *what;
        const struct host *host;
        const char *allowed;
        uint32_t tasks, cpus;
        uint32_t gpu[4];
        size_t gpus;
        const char *want; /* the CPUs of each task, or why they are left alone */
    } cases[] = {
        { "two tasks, one on each NUMA node", &two, "0-7", 2, 1, { 0 }, 0, "0-3 4-7" },
        { "neighbours stay together", &two, "0-7", 4, 2, { 0 }, 0, "0-3 0-3 4-7 4-7" },
        { "a NUMA node without CPUs is none", &far, "0-7", 2, 4, { 0 }, 0, "0-3 4-7" },
        { "each has its GPU's", &crossed, "0-7", 4, 1, { 0, 1, 2, 3 }, 4, "4-7 4-7 0-3 0-3" },
        { "each has that of its GPU in the step", &crossed, "0-7", 2, 1, { 3, 0 }, 2, "0-3 4-7" },
        { "two tasks share a GPU", &crossed, "0-7", 4, 1, { 1, 2 }, 2, "4-7 4-7 0-3 0-3" },
        { "each has two GPUs", &crossed, "0-7", 2, 4, { 0, 1, 2, 3 }, 4, "4-7 0-3" },
        { "a task with GPUs on two NUMA nodes", &two, "0-7", 2, 1, { 0, 2, 1, 3 }, 4, "0-3 4-7" },
        { "three GPUs for two tasks: in order", &crossed, "0-7", 2, 1, { 0, 1, 2 }, 3, "0-3 4-7" },
        { "a GPU whose place is unknown: in order", &unknown, "0-7", 2, 1, { 1, 0 }, 2, "0-3 4-7" },
        { "GPUs on one NUMA node, which has too few CPUs: in order",
          &two,
          "0-7",
          2,
          3,
          { 0, 1 },
          2,
          "0-3 4-7" },
        { "fewer tasks than NUMA nodes: several each", &four, "0-7", 2, 4, { 0 }, 0, "0-3 4-7" },
        { "three tasks on four NUMA nodes",
          &four,
          "0-7",
          3,
          1,
          { 0 },
          0,
          "NUMA nodes cannot be shared out evenly" },
        { "the job has some CPUs of the host", &two, "2-5", 2, 2, { 0 }, 0, "2-3 4-5" },
        { "the job has CPUs of one NUMA node", &two, "4-7", 2, 1, { 0 }, 0, "there is one NUMA node" },
        { "uneven NUMA nodes get tasks by their CPUs", &uneven, "0-7", 4, 2, { 0 }, 0, "0-5 0-5 0-5 6-7" },
        { "a NUMA node would have too few CPUs",
          &two,
          "0-7",
          3,
          3,
          { 0 },
          0,
          "a NUMA node has too few CPUs for its tasks" },
        { "more tasks than CPUs",
          &two,
          "0-7",
          16,
          1,
          { 0 },
          0,
          "a NUMA node has too few CPUs for its tasks" },
        { "a host with one NUMA node", &one, "0-7", 2, 1, { 0, 1 }, 2, "there is one NUMA node" },
        { "one task may use them all", &two, "0-7", 1, 1, { 0 }, 0, "there is one task" },
        { "a CPU that is on no NUMA node", &lacks, "0-7", 2, 1, { 0 }, 0, "some CPUs are on no NUMA node" },
        { "a host whose kernel knows no NUMA nodes",
          &none,
          "0-7",
          2,
          1,
          { 0 },
          0,
          "NUMA nodes are not known" },
        { "a million tasks", &two, "0-7", 1000000, 1, { 0 }, 0, "its number of tasks is out of range" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct binding_step s = { .tasks = cases[i].tasks, .cpus = cases[i].cpus, .n_gpus = cases[i].gpus };
        struct locality *l;
        struct cpuset cpus;
        char got[512] = "", text[96];

        host_make(cases[i].host);
        l = locality_new(root);
        cpuset_parse(&s.allowed, cases[i].allowed);
        memcpy(s.gpu, cases[i].gpu, sizeof(cases[i].gpu));
        for (uint32_t task = 0; task < s.tasks && task < 16; task++) {
            size_t at = strlen(got);

            if (!binding_choose(&cpus, text, sizeof(text), l, &s, task)) {
                snprintf(got, sizeof(got), "%s", text);
                break;
            }
            if (at)
                got[at++] = ' ';
            write_list(&cpus, got + at, sizeof(got) - at);
        }
        is_str(got, cases[i].want, "%s", cases[i].what);
        locality_free(l);
        tree_remove();
    }
    return done_testing();
}
