/* sgring.c - prints the contents of a ring, or of all rings in a step's directory.  Never moves the agent's
 * position. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/options.h"
#include "ring/control_page.h"
#include "ring/ring.h"

#define SHM "/dev/shm"

struct printer {
    bool json;
    bool all; /* steps of the whole node, some of which may be ending */
    size_t events;
    struct ring_clock_map clock;
    size_t printed, failed;
};

struct snapshot {
    struct ring_info info;
    struct ring_counts counts;
    struct ring_live live;
    bool live_known;
    uint64_t now; /* ticks */
    struct ring_comm comms[RING_COMMS_MAX];
    size_t n_comms, n_events;
    struct ring_event *events;
};

static const struct option_spec events = { "events", "N", VALUE_RANGE(VALUE_COUNT, 1, 1 << 20),
                                           "also print the last N recorded events of each ring" };
static const struct option_use uses[] = { { &events, NULL }, { &option_json, NULL }, { NULL, NULL } };
static const struct options_command only = {
    .name = "",
    .operands = "[RING|DIRECTORY...]",
    .uses = uses,
    .more =
        "The agent's position in the ring does not change. Without an operand the directory is $SYNCGUARD_DIR; where that is not set, "
        "all steps on this node that you may read are printed.",
};

static const struct options_program program = {
    .name = "sgring",
    .text =
        "Print the rings of a guarded step: their writers, totals, the MPI call that each rank is in, and its "
        "communicators.",
    .only = &only,
    .examples = { "sgring", "sgring --events=20 --json" },
    .help_end = "Exit status: 0, 1 (a ring could not be read), 2 (wrong usage). Manual page: sgring(1).",
};

static const char *const states[] = {
    [RING_STATE_RUNNING] = "running", [RING_STATE_FINALIZED] = "finalized", [RING_STATE_ABORTED] = "aborted"
};

/* The rank's state.  A process that ended without MPI_Finalize has vanished. */
static const char *state_name(const struct ring_info *info)
{
    if (info->state == RING_STATE_RUNNING && info->pid > 0 && kill(info->pid, 0) < 0 && errno == ESRCH)
        return "vanished";
    return states[info->state];
}

static const struct {
    uint32_t bit;
    const char *name;
} flag_names[] = {
    { RING_EVENT_NONBLOCKING, "nonblocking" },
    { RING_EVENT_PERSISTENT, "persistent" },
    { RING_EVENT_UNWAITED, "unwaited" },
    { RING_EVENT_FAILED, "failed" },
    { RING_EVENT_INTER, "inter" },
    { RING_EVENT_EARLY, "early" },
    { RING_EVENT_MEMBER, "member" },
};

static void print_flags(uint32_t flags, const char *quote, const char *separator)
{
    const char *before = "";

    for (size_t i = 0; i < sizeof(flag_names) / sizeof(flag_names[0]); i++)
        if (flags & flag_names[i].bit) {
            printf("%s%s%s%s", before, quote, flag_names[i].name, quote);
            before = separator;
        }
}

static void print_json_string(const char *s)
{
    putchar('"');
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;

        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < 0x20 || c >= 0x7f) /* the file may contain anything, and the JSON must be valid */
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}

static void print_text_string(const char *s)
{
    for (; *s; s++)
        putchar((unsigned char)*s < 0x20 || (unsigned char)*s >= 0x7f ? '?' : *s);
}

static double seconds(const struct printer *v, const struct snapshot *s, uint64_t from, uint64_t to)
{
    return ((double)ring_clock_ns(&v->clock, s->info.clock, to) -
            (double)ring_clock_ns(&v->clock, s->info.clock, from)) /
           1e9;
}

static double duration(const struct printer *v, const struct snapshot *s, uint64_t ticks)
{
    return seconds(v, s, v->clock.tick0, v->clock.tick0 + ticks);
}

/* ---- text ---- */

static void text_events(const struct printer *v, const struct snapshot *s)
{
    if (!s->n_events)
        return;
    printf("  %12s  %-20s %-16s %8s %5s %10s %12s %12s  %s\n", "s ago", "operation", "communicator", "seq",
           "peer", "bytes", "stay us", "p2p us", "flags");
    for (size_t i = 0; i < s->n_events; i++) {
        const struct ring_event *e = &s->events[i];

        printf("  %12.6f  %-20s %016" PRIx64 " %8" PRIu32 " %5" PRId32 " %10" PRIu64 " %12.3f %12.3f  ",
               seconds(v, s, e->enter, s->now), ring_op_name((enum ring_op)e->op), e->comm, e->seq, e->root,
               e->bytes, seconds(v, s, e->enter, e->leave) * 1e6,
               e->op == RING_OP_ACCESS ? 0 : duration(v, s, e->p2p) * 1e6);
        if (e->op == RING_OP_ACCESS)
            printf("read=%" PRIu64 "%s", e->read_bytes, e->flags ? "," : "");
        if (ring_op_is_message(e->op))
            printf("tag=%" PRId32 "%s", e->tag, e->flags ? "," : "");
        print_flags(e->flags, "", ",");
        putchar('\n');
    }
}

static void text_live(const struct printer *v, const struct snapshot *s)
{
    if (!s->live_known)
        printf("  live         unknown (it changed during every attempt to read it)\n");
    else if (s->live.op == RING_OP_NONE && !s->live.comm)
        printf("  live         outside MPI\n");
    else if (s->live.op == RING_OP_NONE)
        printf("  live         outside MPI for %.6f s; last collective: %016" PRIx64 " seq %" PRIu32 "\n",
               seconds(v, s, s->live.enter, s->now), s->live.comm, s->live.seq);
    else
        printf("  live         in %s for %.6f s: communicator %016" PRIx64 " seq %" PRIu32 ", %" PRIu64
               " bytes\n",
               ring_op_name((enum ring_op)s->live.op), seconds(v, s, s->live.enter, s->now), s->live.comm,
               s->live.seq, s->live.bytes);
}

static void text_ring(struct printer *v, const char *path, const struct snapshot *s)
{
    const struct ring_info *i = &s->info;
    const struct ring_counts *c = &s->counts;

    printf("%s%s\n", v->printed ? "\n" : "", path);
    printf("  rank         %" PRIu32 " (incarnation %" PRIu32 ", thread %" PRIu32 "), %" PRIu32 " of %" PRIu32
           " in its world\n",
           i->rank, i->incarnation, i->thread, i->world_rank, i->world_size);
    printf("  process      %ld ", (long)i->pid);
    print_text_string(i->program);
    printf(", %s, ", state_name(i));
    print_text_string(i->library);
    printf("\n  events       %" PRIu64 " recorded, %" PRIu64 " dropped, %" PRIu64 " missed (room for %" PRIu32
           ")\n",
           c->events, c->dropped, c->missed, i->capacity);
    printf("  messages     %" PRIu64 " calls, %" PRIu64 " bytes sent, %.6f s; %" PRIu64
           " not recorded, %" PRIu64 " streams forgotten\n",
           c->p2p_calls, c->p2p_bytes, duration(v, s, c->p2p_ticks), c->messages_missed,
           c->streams_forgotten);
    if (c->comms_missed)
        printf("  communicators %" PRIu64 " more, whose description nobody has read\n", c->comms_missed);
    text_live(v, s);
    for (size_t k = 0; k < s->n_comms; k++)
        printf("  communicator %016" PRIx64 ": rank %" PRIu32 " of %" PRIu32 ", world ranks %" PRIu32
               "-%" PRIu32 ", instance %" PRIu32 "%s%s\n",
               s->comms[k].name, s->comms[k].rank, s->comms[k].size, s->comms[k].first, s->comms[k].last,
               s->comms[k].instance, s->comms[k].flags & RING_EVENT_INTER ? ", between two groups" : "",
               s->comms[k].freed ? ", freed" : "");
    text_events(v, s);
}

/* ---- JSON ---- */

static void json_string(const char *key, const char *value)
{
    printf(",\"%s\":", key);
    print_json_string(value);
}

static void json_events(const struct printer *v, const struct snapshot *s)
{
    printf(",\"events\":[");
    for (size_t i = 0; i < s->n_events; i++) {
        const struct ring_event *e = &s->events[i];

        printf("%s{\"op\":\"%s\",\"comm\":\"%016" PRIx64 "\",\"seq\":%" PRIu32 ",\"%s\":", i ? "," : "",
               ring_op_name((enum ring_op)e->op), e->comm, e->seq,
               ring_op_is_pairwise(e->op) ? "peer" : "root");
        if (e->root < 0)
            printf("null");
        else
            printf("%" PRId32, e->root);
        printf(",\"bytes\":%" PRIu64 ",\"enter_ns\":%" PRIu64 ",\"leave_ns\":%" PRIu64 ",\"wait_ns\":",
               e->bytes, ring_clock_ns(&v->clock, s->info.clock, e->enter),
               ring_clock_ns(&v->clock, s->info.clock, e->leave));
        if (e->wait)
            printf("%" PRIu64, ring_clock_ns(&v->clock, s->info.clock, e->wait));
        else
            printf("null");
        if (ring_op_is_message(e->op))
            printf(",\"tag\":%" PRId32, e->tag);
        else if (e->op == RING_OP_ACCESS)
            printf(",\"read_bytes\":%" PRIu64, e->read_bytes);
        else
            printf(",\"p2p_s\":%.9f,\"p2p_calls\":%" PRIu32, duration(v, s, e->p2p), e->p2p_calls);
        printf(",\"flags\":[");
        print_flags(e->flags, "\"", ",");
        printf("]}");
    }
    printf("]");
}

static void json_ring(struct printer *v, const char *path, const struct snapshot *s)
{
    const struct ring_info *i = &s->info;
    const struct ring_counts *c = &s->counts;

    printf("%s\n{\"path\":", v->printed ? "," : "");
    print_json_string(path);
    printf(",\"rank\":%" PRIu32 ",\"incarnation\":%" PRIu32 ",\"thread\":%" PRIu32, i->rank, i->incarnation,
           i->thread);
    if (i->task == UINT32_MAX)
        printf(",\"task\":null");
    else
        printf(",\"task\":%" PRIu32, i->task);
    printf(",\"world_rank\":%" PRIu32 ",\"world_size\":%" PRIu32
           ",\"pid\":%ld,\"state\":\"%s\",\"clock\":\"%s\"",
           i->world_rank, i->world_size, (long)i->pid, state_name(i),
           i->clock == RING_CLOCK_COUNTER ? "counter" : "monotonic");
    json_string("program", i->program);
    json_string("library", i->library);
    json_string("topology", i->topology);
    printf(",\"capacity\":%" PRIu32 ",\"counts\":{\"events\":%" PRIu64 ",\"dropped\":%" PRIu64
           ",\"missed\":%" PRIu64 ",\"p2p_calls\":%" PRIu64 ",\"p2p_bytes\":%" PRIu64
           ",\"p2p_s\":%.9f,\"messages_missed\":%" PRIu64 ",\"streams_forgotten\":%" PRIu64
           ",\"comms_missed\":%" PRIu64 "}",
           i->capacity, c->events, c->dropped, c->missed, c->p2p_calls, c->p2p_bytes,
           duration(v, s, c->p2p_ticks), c->messages_missed, c->streams_forgotten, c->comms_missed);
    if (s->live_known)
        printf(",\"live\":{\"op\":\"%s\",\"comm\":\"%016" PRIx64 "\",\"seq\":%" PRIu32 ",\"bytes\":%" PRIu64
               ",\"age_s\":%.9f}",
               ring_op_name((enum ring_op)s->live.op), s->live.comm, s->live.seq, s->live.bytes,
               seconds(v, s, s->live.enter, s->now));
    else
        printf(",\"live\":null");
    printf(",\"comms\":[");
    for (size_t k = 0; k < s->n_comms; k++)
        printf("%s{\"name\":\"%016" PRIx64 "\",\"membership\":\"%016" PRIx64 "\",\"size\":%" PRIu32
               ",\"rank\":%" PRIu32 ",\"instance\":%" PRIu32 ",\"first\":%" PRIu32 ",\"last\":%" PRIu32
               ",\"inter\":%s,\"freed\":%s}",
               k ? "," : "", s->comms[k].name, s->comms[k].membership, s->comms[k].size, s->comms[k].rank,
               s->comms[k].instance, s->comms[k].first, s->comms[k].last,
               s->comms[k].flags & RING_EVENT_INTER ? "true" : "false", s->comms[k].freed ? "true" : "false");
    printf("]");
    if (v->events)
        json_events(v, s);
    printf("}");
}

/* ---- rings and directories ---- */

static void show_ring(struct printer *v, const char *path)
{
    struct ring *r = ring_open(path, true);
    struct snapshot *s;

    if (!r && v->all && errno == ENOENT)
        return;
    if (!r) {
        fprintf(stderr, "sgring: %s: %s\n", path,
                errno == EPROTO ? "not a ring, or a ring of another version of SyncGuard" : strerror(errno));
        v->failed++;
        return;
    }
    s = calloc(1, sizeof(*s));
    if (!s || (v->events && !(s->events = calloc(v->events, sizeof(*s->events)))))
        abort();
    ring_info_get(r, &s->info);
    ring_counts_get(r, &s->counts);
    s->live_known = ring_live_get(r, &s->live);
    s->now = ring_now(r);
    s->n_comms = ring_comms_get(r, &(uint64_t){ 0 }, s->comms);
    s->n_events = v->events ? ring_last(r, s->events, v->events) : 0;
    (v->json ? json_ring : text_ring)(v, path, s);
    v->printed++;
    free(s->events);
    free(s);
    ring_close(r);
}

static bool ring_name_parse(const char *name, unsigned long part[3])
{
    int end = 0;

    return sscanf(name, "%lu.%lu.%lu.ring%n", &part[0], &part[1], &part[2], &end) == 3 && end > 0 &&
           !name[end];
}

static int is_ring(const struct dirent *d)
{
    unsigned long part[3];

    return ring_name_parse(d->d_name, part);
}

static int by_number(const struct dirent **a, const struct dirent **b)
{
    unsigned long x[3] = { 0 }, y[3] = { 0 };

    ring_name_parse((*a)->d_name, x);
    ring_name_parse((*b)->d_name, y);
    for (int i = 0; i < 3; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

static void show_directory(struct printer *v, const char *dir)
{
    struct dirent **entries = NULL;
    const struct control_page *page = control_page_open(dir);
    int n = scandir(dir, &entries, is_ring, by_number);

    if (n < 0 && !(v->all && errno == ENOENT)) {
        fprintf(stderr, "sgring: %s: %s\n", dir, strerror(errno));
        v->failed++;
    }
    if (page && page->record == 0 && !v->json)
        printf("%s: recording is switched off\n", dir);
    for (int i = 0; i < n; i++) {
        char path[PATH_MAX];

        if (snprintf(path, sizeof(path), "%s/%s", dir, entries[i]->d_name) < (int)sizeof(path))
            show_ring(v, path);
        free(entries[i]);
    }
    free(entries);
    control_page_close(page);
}

/* Of the plugin: syncguard, or syncguard-UID where slurmstepd does not run as root; of sgrun:
 * syncguard-run-... */
static int is_parent(const struct dirent *d)
{
    return !strncmp(d->d_name, "syncguard", 9) && (!d->d_name[9] || d->d_name[9] == '-');
}

static int is_step(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

/* Anybody may make names in shared memory: no link is followed, and no control character reaches a terminal.
 */
static bool is_directory(const char *path)
{
    struct stat st;

    for (const char *c = path; *c; c++)
        if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 0x7f)
            return false;
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The steps in a directory; counts those that only others can read. */
static void show_steps(struct printer *v, const char *parent, size_t *shown, size_t *of_others)
{
    struct dirent **entries = NULL;
    int n = is_directory(parent) ? scandir(parent, &entries, is_step, alphasort) : 0;
    char path[PATH_MAX];

    for (int i = 0; i < n; i++) {
        if (snprintf(path, sizeof(path), "%s/%s", parent, entries[i]->d_name) < (int)sizeof(path) &&
            is_directory(path)) {
            bool readable = access(path, R_OK | X_OK) == 0;

            ++*(readable ? shown : of_others);
            if (readable)
                show_directory(v, path);
        }
        free(entries[i]);
    }
    free(entries);
}

/* All steps on the node. */
static void show_node(struct printer *v)
{
    struct dirent **parents = NULL;
    int n = scandir(SHM, &parents, is_parent, alphasort);
    size_t shown = 0, of_others = 0;

    v->all = true;
    for (int i = 0; i < n; i++) {
        char path[sizeof(SHM) + sizeof(parents[i]->d_name)];

        snprintf(path, sizeof(path), SHM "/%s", parents[i]->d_name);
        show_steps(v, path, &shown, &of_others);
        free(parents[i]);
    }
    free(parents);
    if (v->json || v->printed || v->failed)
        return;
    if (shown)
        printf("The guarded steps on this node have no ring yet.\n");
    else if (of_others)
        printf("The guarded steps on this node belong to other users.\n");
    else
        printf("No guarded step runs on this node.\n");
}

static void show_path(struct printer *v, const char *path)
{
    struct stat st;

    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        show_directory(v, path);
    else
        show_ring(v, path);
}

int main(int argc, char **argv)
{
    struct printer v = { 0 };
    const char *dir = getenv(RING_ENV_DIR);
    struct options o;
    int rc = options_start(&o, &program, argc, argv);

    if (rc >= 0)
        return rc;
    v.json = options_given(&o, "json");
    v.events = (size_t)options_int(&o, "events", 0);
    ring_clock_start(&v.clock);
    while (!ring_clock_ready(&v.clock))
        nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
    if (v.json)
        printf("{\"rings\":[");
    if (o.n_operands == 0 && dir && *dir)
        show_path(&v, dir);
    else if (o.n_operands == 0)
        show_node(&v);
    for (int i = 0; i < o.n_operands; i++)
        show_path(&v, o.operands[i]);
    if (v.json)
        printf("\n]}\n");
    return v.failed ? 1 : 0;
}
