#include "agent/unseen.h"

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/executable.h"
#include "common/preload.h"
#include "common/proc.h"
#include "common/xalloc.h"

#define MAPS_BYTES (1u << 21) /* a process with PyTorch has some 300 KB */
/* of all maps; beyond, a process is taken to be as the one of the same name */
#define LOOK_BYTES (1u << 24)
#define PROBE      "syncguard_probe"

static const char *const names[] = {
    [UNSEEN_STATIC] = "static",       [UNSEEN_MACHINE] = "machine", [UNSEEN_LIBC] = "libc",
    [UNSEEN_SECURE] = "secure",       [UNSEEN_PRELOAD] = "preload", [UNSEEN_REPLACED] = "replaced",
    [UNSEEN_CONTAINER] = "container", [UNSEEN_REFUSED] = "refused", [UNSEEN_CALLS] = "calls",
    [UNSEEN_OTHER] = "other",         [UNSEEN_NOTHING] = "nothing",
};

const char *unseen_name(enum unseen_reason r)
{
    return names[r];
}

bool unseen_is_quiet(enum unseen_reason r)
{
    return r >= UNSEEN_CALLS;
}

/* The first that is mapped counts. */
static const struct library {
    const char *file, *name, *calls; /* calls NULL: it is not recorded */
} libraries[] = {
    { "/libmpi.so", "MPI", "of MPI" },
    { "/libmpich.so", "MPI", "of MPI" },
    { "/libtorch_cpu.so", "PyTorch", "by which it communicates over Gloo, NCCL or MPI" },
    { "/libgloo.so", "Gloo", "of Gloo" },
    { "/libnccl.so", "NCCL", "of NCCL" },
    { "/librccl.so", "RCCL", NULL },
    { "/libccl.so", "oneCCL", NULL },
    { "/liboshmem.so", "OpenSHMEM", NULL },
    { "/libsma.so", "OpenSHMEM", NULL },
    { "/libGPI2.so", "GPI-2", NULL },
    { "/libucp.so", "UCX", NULL },
    { "/libfabric.so", "libfabric", NULL },
};

struct verdict {
    enum unseen_reason reason;     /* UNSEEN_REASONS: not known, or it has ended */
    const struct library *library; /* NULL: none is loaded */
    char why[256];
    bool told;
};

struct look {
    const struct processes_plan *plan;
    const struct processes_one *one;
    size_t n;
    struct verdict *verdict;
    char *maps, *environment;
    size_t bytes;
};

static const struct library *find_library(const char *maps)
{
    for (size_t i = 0; i < ARRAY_SIZE(libraries); i++)
        if (strstr(maps, libraries[i].file))
            return &libraries[i];
    return NULL;
}

__attribute__((format(printf, 3, 4))) static void give_reason(struct verdict *v, enum unseen_reason reason,
                                                              const char *fmt, ...)
{
    va_list ap;

    v->reason = reason;
    va_start(ap, fmt);
    vsnprintf(v->why, sizeof(v->why), fmt, ap);
    va_end(ap);
}

/* ---- why the probe is not loaded ---- */

/* The kernel tells the loader so. */
static bool is_secure(const struct look *l, pid_t pid)
{
    ElfW(auxv_t) v[64] = { 0 };

    if (!proc_read((char *)v, sizeof(v), "%s/proc/%d/auxv", l->plan->root, (int)pid))
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(v) && v[i].a_type != AT_NULL; i++)
        if (v[i].a_type == AT_SECURE)
            return v[i].a_un.a_val != 0;
    return false;
}

/* The probe's path in LD_PRELOAD.  False: it is not in there. */
static bool find_probe(const char *list, char path[PATH_MAX])
{
    for (size_t n; *list; list += n + strspn(list + n, ": ")) {
        n = strcspn(list, ": ");
        snprintf(path, PATH_MAX, "%.*s", (int)(n < PATH_MAX ? n : PATH_MAX - 1), list);
        if (strstr(path, PROBE))
            return true;
    }
    return false;
}

static bool lacks_file(const struct look *l, pid_t pid, const char *file)
{
    char path[2 * PATH_MAX];

    snprintf(path, sizeof(path), "%s/proc/%d/root/", l->plan->root, (int)pid);
    if (access(path, F_OK) < 0)
        return false;
    snprintf(path, sizeof(path), "%s/proc/%d/root%s", l->plan->root, (int)pid, file);
    return access(path, F_OK) < 0;
}

/* By the names of their loaders: the probe is built for glibc. */
static bool is_other_libc(const char *loader)
{
    static const char *const others[] = { "/ld-musl", "uClibc", "/linker" };

    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        if (strstr(loader, others[i]))
            return true;
    return false;
}

static void give_container(struct verdict *v, const char *probe)
{
    give_reason(v, UNSEEN_CONTAINER, "in a container without %.120s; bind that file and /dev/shm into it",
                probe);
}

/* hidden: the kernel shows it to nobody but root, as it does set-uid programs. */
static void judge_unloaded(struct look *l, pid_t pid, bool hidden, struct verdict *v)
{
    bool open = !hidden && processes_environment(l->plan->root, pid, l->environment);
    const char *list = open ? processes_variable(l->environment, "LD_PRELOAD") : NULL;
    /* what the plugin added, and has taken out again where the task could not load it */
    const char *added = open ? processes_variable(l->environment, PRELOAD_ENV_ADDED) : NULL;
    char path[PATH_MAX];
    struct executable x;
    bool known;

    snprintf(path, sizeof(path), "%s/proc/%d/exe", l->plan->root, (int)pid);
    known = executable_read(&x, path);
    if (known && !x.native)
        give_reason(v, UNSEEN_MACHINE,
                    "built for another kind of processor than the probe, which cannot be loaded into it");
    else if (known && !*x.loader)
        give_reason(v, UNSEEN_STATIC,
                    "linked statically, so that LD_PRELOAD does not reach it; link MPI as a shared library");
    else if (known && is_other_libc(x.loader))
        give_reason(v, UNSEEN_LIBC, "it uses another C library (%.100s) than the probe, which needs glibc",
                    x.loader);
    else if (hidden || is_secure(l, pid))
        give_reason(
            v, UNSEEN_SECURE,
            "set-uid, with capabilities or hidden: the loader ignores LD_PRELOAD for it; run it as a plain program");
    else if (added && lacks_file(l, pid, added))
        give_container(v, added);
    else if (!list || !*list)
        give_reason(
            v, UNSEEN_PRELOAD,
            "LD_PRELOAD was taken out of its environment (env -i, sudo, a task prolog, a wrapper), and so the probe is not loaded; let it pass");
    else if (!find_probe(list, path))
        give_reason(
            v, UNSEEN_REPLACED,
            "LD_PRELOAD was replaced (a task prolog, a module, a wrapper), and so the probe is not loaded; add to it instead");
    else if (lacks_file(l, pid, path))
        give_container(v, path);
    else
        give_reason(
            v, UNSEEN_REFUSED,
            "LD_PRELOAD names the probe, and the loader has not loaded it; the program's standard error says why");
}

/* ---- one process ---- */

static void judge_loaded(struct verdict *v)
{
    if (!v->library)
        give_reason(v, UNSEEN_NOTHING, "has loaded no library of MPI, PyTorch, Gloo or NCCL");
    else if (!v->library->calls)
        give_reason(v, UNSEEN_OTHER,
                    "has loaded %s, which is not recorded, and no library of MPI, PyTorch, Gloo or NCCL",
                    v->library->name);
    else
        give_reason(
            v, UNSEEN_CALLS,
            "has loaded %s, and no function %s was seen: it calls none yet, or they are hidden in its libraries",
            v->library->name, v->library->calls);
}

/* Another one of that name, judged before. */
static const struct verdict *find_like(const struct look *l, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (!strcmp(l->one[k].name, l->one[i].name) && l->verdict[k].reason != UNSEEN_REASONS)
            return &l->verdict[k];
    return NULL;
}

static void judge_process(struct look *l, size_t i)
{
    pid_t pid = l->one[i].pid;
    struct verdict *v = &l->verdict[i];
    const struct verdict *like;
    char path[PATH_MAX];
    bool mapped;

    v->reason = UNSEEN_REASONS;
    if (l->one[i].recorded || l->one[i].foreign)
        return;
    if (l->bytes > LOOK_BYTES) {
        if ((like = find_like(l, i)))
            *v = *like;
        return;
    }
    mapped = proc_read(l->maps, MAPS_BYTES, "%s/proc/%d/maps", l->plan->root, (int)pid);
    snprintf(path, sizeof(path), "%s/proc/%d/stat", l->plan->root, (int)pid);
    if (!mapped && access(path, F_OK) < 0)
        return;
    if (mapped) {
        l->bytes += strlen(l->maps);
        v->library = find_library(l->maps);
    }
    if (mapped && strstr(l->maps, PROBE))
        judge_loaded(v);
    else
        judge_unloaded(l, pid, !mapped, v);
}

/* ---- all of them ---- */

/* A shell or a launcher says nothing of the programs behind it, and what a program starts is its own. */
static bool is_program(const struct look *l, size_t i)
{
    if (l->verdict[i].reason == UNSEEN_REASONS || (!l->one[i].leaf && !l->verdict[i].library) ||
        (l->one[i].task_recorded && !l->verdict[i].library))
        return false;
    for (int up = l->one[i].up, depth = 0; up >= 0 && depth < 64; up = l->one[up].up, depth++)
        if (l->verdict[up].library)
            return false;
    return true;
}

/* Beside `train | tee log` the latter says nothing. */
static bool is_beside(const struct look *l, size_t i)
{
    for (size_t k = 0; l->verdict[i].reason == UNSEEN_NOTHING && k < l->n; k++)
        if (l->verdict[k].told && l->one[k].task == l->one[i].task && l->verdict[k].reason != UNSEEN_NOTHING)
            return true;
    return false;
}

enum unseen_reason unseen_look(const struct processes_plan *plan, struct unseen found[UNSEEN_REASONS])
{
    struct processes_one *one;
    struct look l = { .plan = plan };
    enum unseen_reason most = UNSEEN_REASONS;
    size_t first[UNSEEN_REASONS];

    memset(found, 0, UNSEEN_REASONS * sizeof(found[0]));
    l.n = processes_of_step(plan, &one);
    l.one = one;
    l.verdict = xcalloc(l.n, sizeof(*l.verdict));
    l.environment = xcalloc(PROCESSES_ENVIRONMENT_BYTES, 1);
    l.maps = xcalloc(MAPS_BYTES, 1);
    for (size_t i = 0; i < l.n; i++)
        judge_process(&l, i);
    for (size_t i = 0; i < l.n; i++)
        l.verdict[i].told = is_program(&l, i);
    for (size_t i = 0; i < l.n; i++) {
        const struct verdict *v = &l.verdict[i];

        if (v->told && !is_beside(&l, i) && !found[v->reason].processes++)
            first[v->reason] = i;
    }
    for (int r = 0; r < UNSEEN_REASONS; r++) {
        char many[48] = "";

        if (!found[r].processes)
            continue;
        if (found[r].processes > 1)
            snprintf(many, sizeof(many), "%zu processes, such as ", found[r].processes);
        snprintf(found[r].text, sizeof(found[r].text), "%s%s (pid %d): %s", many, one[first[r]].name,
                 (int)one[first[r]].pid, l.verdict[first[r]].why);
        if (most == UNSEEN_REASONS || found[r].processes > found[most].processes)
            most = (enum unseen_reason)r;
    }
    free(l.maps);
    free(l.environment);
    free(l.verdict);
    free(one);
    return most;
}
