#include "nodefigures/health_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');

    return end ? end + 1 : NULL;
}

/* The text after key in the line that begins with it; NULL: there is no such line. */
static const char *after_key(const char *text, const char *key)
{
    size_t n = strlen(key);

    for (const char *line = text; line && *line; line = next_line(line))
        if (!strncmp(line, key, n))
            return line + n;
    return NULL;
}

/* Read and skip the next number on this line.  False at a sign, a name or the end of the line. */
static bool take_number(const char **at, uint64_t *n)
{
    char *end;

    *at += strspn(*at, " \t");
    if (**at < '0' || **at > '9')
        return false;
    *n = strtoull(*at, &end, 10);
    *at = end;
    return true;
}

/* ---- the node ---- */

/* user nice system idle iowait irq softirq steal; user and nice include the guests' time that follows. */
static bool take_ticks(const char *at, struct health_ticks *t)
{
    uint64_t v[8] = { 0 };
    size_t n = 0;

    while (n < 8 && take_number(&at, &v[n]))
        n++;
    if (n < 4)
        return false;
    t->busy = v[0] + v[1] + v[2] + v[5] + v[6];
    t->steal = v[7];
    t->total = t->busy + t->steal + v[3] + v[4];
    return true;
}

bool health_text_stat(const char *text, struct health_stat *s, struct health_ticks *cpu, uint32_t max)
{
    const char *all = after_key(text, "cpu "), *running = after_key(text, "procs_running ");
    uint64_t n;

    memset(cpu, 0, max * sizeof(*cpu));
    *s = (struct health_stat){ .running = UINT32_MAX };
    if (!all || !take_ticks(all, &s->all))
        return false;
    for (const char *line = next_line(all); line && !strncmp(line, "cpu", 3); line = next_line(line)) {
        const char *at = line + 3;

        if (!take_number(&at, &n))
            break;
        s->n++;
        if (n < max)
            take_ticks(at, &cpu[n]);
    }
    if (running && take_number(&running, &n) && n < UINT32_MAX)
        s->running = (uint32_t)n;
    return true;
}

bool health_text_value(const char *text, const char *key, uint64_t *n)
{
    char start[64];
    const char *at;

    snprintf(start, sizeof(start), "%s ", key);
    at = after_key(text, start);
    return at && take_number(&at, n);
}

/* The index of a word in a line; -1: not found. */
static int word_at(const char *line, const char *word)
{
    size_t n = strlen(word);

    for (int i = 0;; i++) {
        size_t length;

        line += strspn(line, " ");
        length = strcspn(line, " \n");
        if (!length)
            return -1;
        if (length == n && !strncmp(line, word, n))
            return i;
        line += length;
    }
}

bool health_text_table(const char *text, const char *group, const char *name, uint64_t *n)
{
    char start[32];
    const char *names, *numbers;
    int place;

    snprintf(start, sizeof(start), "%s:", group);
    names = after_key(text, start);
    numbers = names && (numbers = next_line(names)) ? after_key(numbers, start) : NULL;
    place = numbers ? word_at(names, name) : -1;
    if (place < 0)
        return false;
    for (; place; place--) {
        numbers += strspn(numbers, " ");
        numbers += strcspn(numbers, " \n");
    }
    return take_number(&numbers, n);
}

bool health_text_pressure(const char *text, uint64_t *some_us)
{
    const char *line = after_key(text, "some "), *total = line ? strstr(line, "total=") : NULL, *end;

    end = line ? strchr(line, '\n') : NULL;
    if (!total || (end && total > end))
        return false;
    total += strlen("total=");
    return take_number(&total, some_us);
}

/* NAME: bytes packets errs drop fifo frame compressed multicast, received, then the same for sent. */
static bool take_nic(const char *line, struct health_nic *nic)
{
    const char *colon, *end = strchr(line, '\n');
    uint64_t v[12];

    line += strspn(line, " ");
    colon = strchr(line, ':');
    if (!colon || (end && colon > end) || colon == line || colon - line >= (ptrdiff_t)sizeof(nic->name))
        return false;
    snprintf(nic->name, sizeof(nic->name), "%.*s", (int)(colon - line), line);
    line = colon + 1;
    for (size_t i = 0; i < 12; i++)
        if (!take_number(&line, &v[i]))
            return false;
    nic->errors = v[2] + v[3] + v[10] + v[11];
    return strcmp(nic->name, "lo") != 0;
}

size_t health_text_nics(const char *text, struct health_nic *nic, size_t max)
{
    size_t n = 0;

    for (const char *line = text; line && *line && n < max; line = next_line(line))
        n += take_nic(line, &nic[n]);
    return n;
}

/* ---- a process ---- */

bool health_text_schedstat(const char *text, uint64_t *run_ns, uint64_t *delay_ns)
{
    return take_number(&text, run_ns) && take_number(&text, delay_ns);
}

static bool take_field(const char *text, const char *key, int place, uint64_t *n)
{
    const char *at = after_key(text, key);

    for (int i = 0; at && i <= place; i++)
        if (!take_number(&at, n))
            return false;
    return at != NULL;
}

static void copy_cpus(const char *line, char *out, size_t size)
{
    size_t n;

    line += strspn(line, " \t");
    n = strcspn(line, "\n");
    snprintf(out, size, "%.*s", (int)(n < size ? n : size - 1), line);
    if (n >= size) { /* cut after a whole number */
        char *comma = strrchr(out, ',');

        while (comma && comma > out + size - 3) {
            *comma = '\0';
            comma = strrchr(out, ',');
        }
        strcpy(comma ? comma : out, "..");
    }
}

/* A set of signals, in hexadecimal. */
static bool take_signals(const char *text, const char *key, uint64_t *set)
{
    const char *at = after_key(text, key);
    char *end;
    uint64_t n;

    if (!at)
        return false;
    at += strspn(at, " \t");
    n = strtoull(at, &end, 16);
    if (end - at != 16)
        return false;
    *set |= n;
    return true;
}

bool health_text_status(const char *text, struct health_status *s)
{
    const char *cpus = after_key(text, "Cpus_allowed_list:"), *pids = after_key(text, "NSpid:");
    uint64_t uid, pid;

    memset(s, 0, sizeof(*s));
    if (!take_field(text, "Uid:", 1, &uid) || !take_field(text, "Pid:", 0, &pid) ||
        !take_field(text, "voluntary_ctxt_switches:", 0, &s->voluntary) ||
        !take_field(text, "nonvoluntary_ctxt_switches:", 0, &s->involuntary) || !cpus)
        return false;
    while (pids && take_number(&pids, &pid))
        ; /* the innermost namespace comes last */
    s->uid = (uint32_t)uid;
    s->pid = (uint32_t)pid;
    s->cpus_known = cpuset_parse(&s->cpus, cpus) == 0;
    copy_cpus(cpus, s->cpus_text, sizeof(s->cpus_text));
    s->signals_known = take_signals(text, "SigBlk:", &s->endured) &&
                       take_signals(text, "SigIgn:", &s->endured) &&
                       take_signals(text, "SigCgt:", &s->endured);
    return true;
}

/* The 2nd field is a name, which may contain anything up to the last ')'. */
bool health_text_process(const char *text, struct health_process *p)
{
    const char *at = strrchr(text, ')');
    uint64_t user, system;
    char state;

    if (!at || sscanf(at + 1,
                      " %c %*d %*d %*d %*d %*d %*u %*u %*u %" SCNu64 " %*u %" SCNu64 " %" SCNu64
                      " %*d %*d %*d %*d %*d %*d %" SCNu64
                      " %*u %*d %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*d %" SCNu32,
                      &state, &p->major_faults, &user, &system, &p->started, &p->cpu) != 6)
        return false;
    p->cpu_ticks = user + system;
    return true;
}

bool health_text_cgroup(const char *text, char *path, size_t size)
{
    const char *at = after_key(text, "0::"), *step;
    size_t n;

    if (!at || *at != '/')
        return false;
    n = strcspn(at, "\n");
    step = strstr(at, "/step_");
    if (step && step < at + n)
        n = (size_t)(step - at) + 1 + strcspn(step + 1, "/\n");
    if (n >= size)
        return false;
    snprintf(path, size, "%.*s", (int)n, at);
    return true;
}
