#include "agent/processes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/proc.h"
#include "common/xalloc.h"
#include "nodefigures/health_text.h"
#include "ring/ring.h"

/* levels of a tree of processes; reused process numbers could make it a loop */
#define DEPTH_MAX 256

struct found_process {
    pid_t pid, parent;
    char name[16];
    bool first; /* known to be the step's by itself, not by what started it */
    bool ours;  /* it is not the step's, nor what it started */
    /* index of the topmost process of the step that it descends from; -1: it is none of the step's */
    int task;
    int member; /* index in the answer */
};

struct search {
    const struct processes_plan *plan;
    struct found_process *found;
    size_t n, cap;
};

/* ---- environments ---- */

bool processes_environment(const char *root, pid_t pid, char *room)
{
    memset(room, 0, PROCESSES_ENVIRONMENT_BYTES);
    /* Behind a NUL, as every other variable is. */
    return proc_read(room + 1, PROCESSES_ENVIRONMENT_BYTES - 2, "%s/proc/%d/environ", root, (int)pid);
}

const char *processes_variable(const char *room, const char *name)
{
    char begin[64] = "";
    int n = snprintf(begin + 1, sizeof(begin) - 1, "%s=", name) + 1;
    const char *at = memmem(room, PROCESSES_ENVIRONMENT_BYTES, begin, (size_t)n);

    return at ? at + n : NULL;
}

/* ---- in containers ---- */

struct namesakes {
    pid_t inner, pid;
    int n;
};

static bool is_known_as(const char *path, pid_t inner)
{
    struct health_status status;
    char text[8192];

    return proc_read(text, sizeof(text), "%s/status", path) && health_text_status(text, &status) &&
           status.pid == (uint32_t)inner && status.uid == geteuid();
}

/* Whose folder it is costs a tenth of what the text costs. */
static void count_namesake(const char *path, void *arg)
{
    struct namesakes *s = arg;
    const char *number = strrchr(path, '/') + 1;
    struct stat st;

    if (*number < '0' || *number > '9' || stat(path, &st) < 0 || st.st_uid != geteuid() ||
        !is_known_as(path, s->inner))
        return;
    s->pid = atoi(number);
    s->n++;
}

pid_t processes_host_id(pid_t inner)
{
    struct namesakes s = { .inner = inner };
    char path[32];

    if (inner <= 0)
        return -1;
    snprintf(path, sizeof(path), "/proc/%d", (int)inner);
    if (is_known_as(path, inner))
        return inner;
    proc_each(count_namesake, &s, "/proc");
    return s.n == 1 ? s.pid : -1;
}

/* ---- all processes of the node ---- */

/* proc(5): the name may contain anything, up to the last ')'. */
static void add_process(const char *path, void *arg)
{
    struct search *s = arg;
    const char *number = strrchr(path, '/') + 1;
    char text[512], *begin, *end, state;
    struct found_process f = { .task = -1, .member = -1 };
    int pid, parent;

    if (*number < '0' || *number > '9' || s->n == PROCESSES_MAX ||
        !proc_read(text, sizeof(text), "%s/stat", path) || !(begin = strchr(text, '(')) ||
        !(end = strrchr(text, ')')) || sscanf(text, "%d", &pid) != 1 ||
        sscanf(end + 1, " %c %d", &state, &parent) != 2 || state == 'Z' || state == 'X')
        return;
    f.pid = pid;
    f.parent = parent;
    snprintf(f.name, sizeof(f.name), "%.*s", (int)(end - begin - 1), begin + 1);
    s->found = xgrow(s->found, &s->cap, s->n + 1, sizeof(*s->found));
    s->found[s->n++] = f;
}

static int by_pid(const void *a, const void *b)
{
    const struct found_process *x = a, *y = b;

    return (x->pid > y->pid) - (x->pid < y->pid);
}

static struct found_process *find_process(const struct search *s, pid_t pid)
{
    const struct found_process key = { .pid = pid };

    return s->n ? bsearch(&key, s->found, s->n, sizeof(key), by_pid) : NULL;
}

/* ---- those of the step ---- */

/* What sgrun starts beside the program. */
static bool is_ours(const struct search *s, const struct found_process *f)
{
    static const char *const ours[] = { "munged", "syncguardd", "sgtop" };

    if (f->pid == s->plan->self)
        return true;
    for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
        if (f->parent == s->plan->parent && !strcmp(f->name, ours[i]))
            return true;
    return false;
}

/* By the user who started it: a set-uid program runs as another one. */
static bool is_user_s(const struct search *s, const struct found_process *f)
{
    char text[4096];
    const char *at;
    unsigned uid;

    return proc_read(text, sizeof(text), "%s/proc/%d/status", s->plan->root, (int)f->pid) &&
           (at = strstr(text, "\nUid:")) && sscanf(at, " Uid: %u", &uid) == 1 && uid == geteuid();
}

static bool names_step(const struct search *s, const struct found_process *f, char *room)
{
    const char *dir =
        processes_environment(s->plan->root, f->pid, room) ? processes_variable(room, RING_ENV_DIR) : NULL;

    return dir && !strcmp(dir, s->plan->dir);
}

/* The topmost process of the step among it and what started it; NULL: there is none. */
static struct found_process *task_of(const struct search *s, struct found_process *f)
{
    struct found_process *top = NULL;

    for (int i = 0; f && i < DEPTH_MAX; i++, f = find_process(s, f->parent)) {
        if (f->ours)
            return NULL;
        if (f->first)
            top = f;
    }
    return top;
}

/* ---- what of them is recorded ---- */

/* A process in a container knows itself, and names its rings, by its number in there. */
static bool has_rings(const struct processes_plan *plan, pid_t pid)
{
    char text[4096], *at;
    int inner, n;

    if (plan->recorded(pid, plan->arg))
        return true;
    if (!proc_read(text, sizeof(text), "%s/proc/%d/status", plan->root, (int)pid) ||
        !(at = strstr(text, "\nNSpid:")))
        return false;
    at += strlen("\nNSpid:");
    inner = (int)pid;
    while (*at != '\n' && sscanf(at, "%d%n", &inner, &n) == 1)
        at += n;
    return inner != pid && plan->recorded(inner, plan->arg);
}

static void find_recorded(const struct processes_plan *plan, struct processes_one *one, size_t n)
{
    bool *rings = xcalloc(n, sizeof(*rings));

    for (size_t i = 0; i < n; i++) {
        rings[i] = has_rings(plan, one[i].pid);
        for (int up = rings[i] ? (int)i : -1; up >= 0 && !one[up].recorded; up = one[up].up)
            one[up].recorded = true;
    }
    for (size_t i = 0; i < n; i++)
        one[i].task_recorded = one[one[i].task].recorded;
    for (size_t i = 0; i < n; i++)
        for (int up = one[i].up, depth = 0; up >= 0 && depth < DEPTH_MAX && !one[i].recorded;
             up = one[up].up, depth++)
            one[i].recorded = rings[up];
    free(rings);
}

static size_t list_members(struct search *s, struct processes_one **list)
{
    size_t n = 0;
    struct processes_one *one;

    for (struct found_process *f = s->found; f < s->found + s->n; f++)
        if (f->task >= 0)
            f->member = (int)n++;
    *list = one = xcalloc(n + 1, sizeof(*one));
    for (struct found_process *f = s->found; f < s->found + s->n; f++) {
        const struct found_process *up =
            f->member >= 0 && f->task != (int)(f - s->found) ? find_process(s, f->parent) : NULL;

        if (f->member < 0)
            continue;
        one[f->member] = (struct processes_one){ .pid = f->pid,
                                                 .up = up ? up->member : -1,
                                                 .task = s->found[f->task].member,
                                                 .leaf = true,
                                                 .foreign = !is_user_s(s, f) };
        memcpy(one[f->member].name, f->name, sizeof(f->name));
    }
    for (size_t i = 0; i < n; i++)
        if (one[i].up >= 0)
            one[one[i].up].leaf = false;
    return n;
}

size_t processes_of_step(const struct processes_plan *plan, struct processes_one **list)
{
    struct search s = { .plan = plan };
    char *room = xcalloc(PROCESSES_ENVIRONMENT_BYTES, 1);
    size_t n;

    proc_each(add_process, &s, "%s/proc", plan->root);
    if (s.n)
        qsort(s.found, s.n, sizeof(*s.found), by_pid);
    for (struct found_process *f = s.found; f < s.found + s.n; f++) {
        f->ours = is_ours(&s, f);
        f->first = plan->parent > 0 && f->parent == plan->parent;
    }
    for (struct found_process *f = s.found; f < s.found + s.n; f++)
        if (!task_of(&s, f))
            f->first = names_step(&s, f, room);
    for (struct found_process *f = s.found; f < s.found + s.n; f++) {
        struct found_process *top = task_of(&s, f);

        f->task = top ? (int)(top - s.found) : -1;
    }
    n = list_members(&s, list);
    find_recorded(plan, *list, n);
    free(s.found);
    free(room);
    return n;
}
