/* Processes of a step of which nothing is recorded: found in a /proc of the test's own, and why nothing is.
 */
#include "agent/unseen.h"

#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include "agent/executable.h"
#include "tests/tap.h"
#include "tests/tree.h"

#define DIR_OF "SYNCGUARD_DIR=/dev/shm/step"
#define PROBE  "/opt/lib/libsyncguard_probe.so"
#define LOADED "7f01 " PROBE "\n"
#define SELF   90
#define STEPD  10

enum file { DYNAMIC, STATIC, MUSL, FOREIGN, SCRIPT };

/* ---- a /proc ---- */

/* A file with NULs in it. */
static void put_environment(const char *path, const char *first, const char *second)
{
    char full[512];
    FILE *f;

    put(path, "x");
    snprintf(full, sizeof(full), "%s/%s", root, path);
    f = fopen(full, "w");
    if (*first)
        fprintf(f, "%s%c%s%c", first, 0, second, 0);
    fclose(f);
}

static void put_executable(const char *path, enum file kind)
{
    static const char *const loaders[] = { "/lib64/ld-linux-x86-64.so.2", "", "/lib/ld-musl-x86_64.so.1",
                                           "/lib/ld.so", "" };
    char full[512];
    ElfW(Ehdr) h;
    ElfW(Phdr) segment = { .p_type = *loaders[kind] ? PT_INTERP : PT_LOAD,
                           .p_offset = sizeof(h) + sizeof(segment),
                           .p_filesz = strlen(loaders[kind]) + 1 };
    int own = open("/proc/self/exe", O_RDONLY);
    FILE *f;

    if (read(own, &h, sizeof(h)) != sizeof(h))
        perror("# /proc/self/exe");
    close(own);
    h.e_phoff = sizeof(h);
    h.e_phnum = 1;
    if (kind == FOREIGN)
        h.e_machine = (ElfW(Half))(h.e_machine + 1);
    if (kind == SCRIPT)
        h.e_ident[0] = '#';
    put(path, "x");
    snprintf(full, sizeof(full), "%s/%s", root, path);
    f = fopen(full, "w");
    fwrite(&h, sizeof(h), 1, f);
    fwrite(&segment, sizeof(segment), 1, f);
    fwrite(loaders[kind], strlen(loaders[kind]) + 1, 1, f);
    fclose(f);
}

static void put_process(int pid, int parent, const char *name, const char *first, const char *second,
                        const char *maps, enum file kind)
{
    char path[64];

    snprintf(path, sizeof(path), "proc/%d/stat", pid);
    put(path, "%d (%s) S %d 1 1 0 -1", pid, name, parent);
    snprintf(path, sizeof(path), "proc/%d/status", pid);
    put(path, "Name:\t%s\nUid:\t%u\t%u\t%u\t%u\nNSpid:\t%d\n", name, geteuid(), geteuid(), geteuid(),
        geteuid(), pid);
    snprintf(path, sizeof(path), "proc/%d/environ", pid);
    put_environment(path, first, second);
    snprintf(path, sizeof(path), "proc/%d/exe", pid);
    put_executable(path, kind);
    if (!maps)
        return;
    snprintf(path, sizeof(path), "proc/%d/maps", pid);
    put(path, "7f00 /usr/lib/libc.so.6\n%s", maps);
}

static void begin(void)
{
    tree_new();
    put("proc/uptime", "1");
    put("proc/self/stat", "not a number");
    put_process(STEPD, 1, "slurmstepd", "A=1", "B=1", "", DYNAMIC);
    put_process(SELF, STEPD, "syncguard-agent", DIR_OF, "A=1", "", DYNAMIC);
}

static int with_rings;

static bool recorded(pid_t pid, void *arg)
{
    (void)arg;
    return pid == with_rings;
}

static struct unseen found[UNSEEN_REASONS];

static enum unseen_reason look(pid_t parent)
{
    struct processes_plan plan = { root, "/dev/shm/step", SELF, parent, recorded, NULL };

    return unseen_look(&plan, found);
}

/* ---- one process: the reason ---- */

static const struct {
    const char *what, *first, *second, *maps;
    enum file kind;
    enum unseen_reason reason; /* UNSEEN_REASONS: it is not found */
    const char *says;
} cases[] = {
    { "PyTorch and the probe", "A=1", DIR_OF, "7f00 /opt/torch/lib/libtorch_cpu.so.1\n" LOADED, DYNAMIC,
      UNSEEN_CALLS,
      "train (pid 12): has loaded PyTorch, and no function by which it communicates over Gloo, NCCL or MPI was seen" },
    { "MPI and PyTorch", DIR_OF, "A=1", "/usr/lib/libmpi.so.40\n/opt/libtorch_cpu.so\n" LOADED, DYNAMIC,
      UNSEEN_CALLS, "no function of MPI was seen" },
    { "a library that is not recorded", DIR_OF, "A=1", "/usr/lib/liboshmem.so.40\n" LOADED, DYNAMIC,
      UNSEEN_OTHER, "has loaded OpenSHMEM, which is not recorded" },
    { "the probe alone", DIR_OF, "A=1", LOADED, DYNAMIC, UNSEEN_NOTHING,
      "has loaded no library of MPI, PyTorch, Gloo or NCCL" },
    { "no LD_PRELOAD", DIR_OF, "A=1", "/opt/torch/lib/libtorch_cpu.so\n", DYNAMIC, UNSEEN_PRELOAD,
      "LD_PRELOAD was taken out of its environment" },
    { "another LD_PRELOAD", "LD_PRELOAD=/opt/tool.so", DIR_OF, "", DYNAMIC, UNSEEN_REPLACED,
      "LD_PRELOAD was replaced" },
    { "a name that ends as LD_PRELOAD", "OLD_LD_PRELOAD=" PROBE, DIR_OF, "", DYNAMIC, UNSEEN_PRELOAD,
      "taken out" },
    { "a statically linked program", "LD_PRELOAD=" PROBE, DIR_OF, "", STATIC, UNSEEN_STATIC,
      "linked statically" },
    { "another C library", "LD_PRELOAD=" PROBE, DIR_OF, "", MUSL, UNSEEN_LIBC, "/lib/ld-musl-x86_64.so.1" },
    { "another processor", "LD_PRELOAD=" PROBE, DIR_OF, "", FOREIGN, UNSEEN_MACHINE,
      "another kind of processor" },
    { "a probe that was refused", "LD_PRELOAD=/opt/tool.so:" PROBE, DIR_OF, "", SCRIPT, UNSEEN_REFUSED,
      "the loader has not loaded it" },
    { "a process that hides what it has mapped", "LD_PRELOAD=" PROBE, DIR_OF, NULL, DYNAMIC, UNSEEN_SECURE,
      "set-uid" },
    { "another step's process", "SYNCGUARD_DIR=/dev/shm/step2", "A=1", "/opt/libtorch_cpu.so\n", DYNAMIC,
      UNSEEN_REASONS, NULL },
    { "a process of no step", "PATH=/bin", "A=1", "/opt/libtorch_cpu.so\n", DYNAMIC, UNSEEN_REASONS, NULL },
};

static void reasons(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        enum unseen_reason most;

        begin();
        put_process(12, 1, "train", cases[i].first, cases[i].second, cases[i].maps, cases[i].kind);
        most = look(0);
        ok(most == cases[i].reason, "%s: %s\n%s", cases[i].what,
           cases[i].says ? unseen_name(cases[i].reason) : "it is not told",
           most < UNSEEN_REASONS ? found[most].text : "nothing is told");
        if (cases[i].says)
            ok(most < UNSEEN_REASONS && strstr(found[most].text, cases[i].says) != NULL,
               "%s: the sentence says '%s'", cases[i].what, cases[i].says);
        tree_remove();
    }
    begin();
    put_process(12, 1, "train", "LD_PRELOAD=" PROBE, DIR_OF, "", DYNAMIC);
    put("proc/12/root/bin/sh", "x");
    ok(look(0) == UNSEEN_CONTAINER && strstr(found[UNSEEN_CONTAINER].text, "without " PROBE),
       "a container that lacks the probe is told with its path: %s", found[UNSEEN_CONTAINER].text);
    put("proc/12/root" PROBE, "x");
    ok(look(0) == UNSEEN_REFUSED, "a container that has the probe is not");
    tree_remove();

    begin();
    put_process(12, 1, "train", "SYNCGUARD_PRELOADED=" PROBE, DIR_OF, "", DYNAMIC);
    ok(look(0) == UNSEEN_PRELOAD, "LD_PRELOAD without what the plugin added was taken away");
    put("proc/12/root/bin/sh", "x");
    ok(look(0) == UNSEEN_CONTAINER && strstr(found[UNSEEN_CONTAINER].text, "without " PROBE),
       "unless it is a container that lacks the probe, which the plugin has taken out: %s",
       found[UNSEEN_CONTAINER].text);
    put("proc/12/root" PROBE, "x");
    ok(look(0) == UNSEEN_PRELOAD, "a container that has the probe does not explain it");
    tree_remove();
}

/* ---- trees of processes ---- */

static void tasks(void)
{
    begin();
    for (int i = 0; i < 4; i++) { /* `env -i bash -c ./train`: nothing but the tree shows whose they are */
        put_process(20 + 10 * i, STEPD, "bash", "", "", "", DYNAMIC);
        put_process(21 + 10 * i, 20 + 10 * i, "train (x)", "", "", "", DYNAMIC);
    }
    ok(look(0) == UNSEEN_REASONS, "an empty environment: processes are not found by themselves");
    ok(look(STEPD) == UNSEEN_PRELOAD && found[UNSEEN_PRELOAD].processes == 4,
       "they are found below the one that started the tasks");
    ok(strstr(found[UNSEEN_PRELOAD].text, "4 processes, such as train (x) (pid 21): ") ==
           found[UNSEEN_PRELOAD].text,
       "the programs are told, not the shells: %s", found[UNSEEN_PRELOAD].text);
    with_rings = 21;
    ok(look(STEPD) == UNSEEN_PRELOAD && found[UNSEEN_PRELOAD].processes == 3,
       "a process that has rings is not told, nor its shell");
    with_rings = 0;
    put("proc/31/status", "Name:\ttrain\nUid:\t%u\t0\t0\t0\n", geteuid() + 1);
    look(STEPD);
    ok(found[UNSEEN_PRELOAD].processes == 3, "another user's process is not looked at");
    tree_remove();

    begin();
    put_process(20, STEPD, "bash", "A=1", DIR_OF, LOADED, DYNAMIC);
    put_process(21, 20, "train", "A=1", DIR_OF, "/usr/lib/libmpi.so.40\n" LOADED, DYNAMIC);
    put_process(22, 20, "tee", "A=1", DIR_OF, LOADED, DYNAMIC);
    put_process(23, 21, "loader", "A=1", DIR_OF, "/usr/lib/libmpi.so.40\n" LOADED, DYNAMIC);
    ok(look(STEPD) == UNSEEN_CALLS && found[UNSEEN_CALLS].processes == 1 && !found[UNSEEN_NOTHING].processes,
       "neither what a program started nor what runs beside it is told");
    with_rings = 21;
    ok(look(STEPD) == UNSEEN_REASONS, "nothing is told of a task that has rings");
    put_process(24, 20, "solve", "A=1", DIR_OF, "/usr/lib/libmpi.so.40\n" LOADED, DYNAMIC);
    ok(look(STEPD) == UNSEEN_CALLS && strstr(found[UNSEEN_CALLS].text, "solve (pid 24)"),
       "but of what else in it has loaded MPI");
    put("proc/24/status", "Uid:\t%u\t%u\t%u\t%u\nNSpid:\t24\t21\n", geteuid(), geteuid(), geteuid(),
        geteuid());
    ok(look(STEPD) == UNSEEN_REASONS, "a process in a container is known by its number in there");
    with_rings = 0;
    tree_remove();

    begin();
    put_process(20, STEPD, "munged", "A=1", "B=1", "", DYNAMIC);
    put_process(21, SELF, "helper", "A=1", DIR_OF, "", DYNAMIC);
    ok(look(STEPD) == UNSEEN_REASONS, "what sgrun and the agent started is not told");
    tree_remove();
}

int main(void)
{
    reasons();
    tasks();
    return done_testing();
}
