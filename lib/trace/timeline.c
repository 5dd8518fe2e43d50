#include "trace/timeline.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calls/boundary.h"
#include "calls/step_paths.h"
#include "calls/updates.h"
#include "common/hash.h"
#include "common/map.h"
#include "common/names.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "graph/clock.h"
#include "trace/calls.h"
#include "trace/line.h"
#include "trace/numbering.h"
#include "trace/progress.h"
#include "trace/reader.h"
#include "trace/trace_events.h"

/* calls that wait for the record of another node, which is near in a trace */
#define PARTNERS       8192u
#define HELD_NS        50000u /* a wait that finds all done takes less */
#define PROGRESS_LINES 65536u
#define LAST_S         1e9   /* what is later, as by a clock that was set, is put there */
#define PATH_ORIGIN_NS 1000u /* what the critical path calls the beginning: 0 is no time in a call */

struct rank {
    bool known;
    bool called, followed; /* it left a call; its calls are part of the critical path */
    uint32_t node;
    struct nesting nesting;
};

struct node {
    bool seen, named;
    bool apart; /* its clock cannot be compared with the first one's */
    uint64_t first_ns;
};

/* One end of a collective or a message, by the hash of what both ends share. */
struct partner {
    uint64_t key;
    uint32_t node;
    uint64_t ns;
};

struct timeline {
    FILE *in, *out;
    const char *name;
    char *line;
    size_t bytes, cap; /* of the line, and room for it */
    uint64_t lines;
    json_t *header;
    struct names *nodes;
    struct rank *rank; /* by number */
    uint32_t ranks;
    struct node *node;
    struct graph_clock *clock;
    struct partner *partner;
    double base_s;
    struct numbering *numbering; /* of each pass */
    struct map comms;            /* by their names' hashes: where in members */
    uint32_t *members;
    size_t members_cap;
    struct boundary *boundary; /* learnt in the first pass; the paths' in the second */
    struct updates *updates;   /* of the first pass: where nobody waits there are no steps to learn */
    struct step_paths *paths;
    struct trace_events events;
    struct timeline_figures *figures;
};

/* ---- reading ---- */

static int malformed(const struct timeline *t, struct err *err)
{
    struct err why = *err;

    return err_set(err, "%s:%llu: %.900s", t->name, (unsigned long long)t->lines, why.text);
}

/* 1: there is a line, 0: the end, -1: an error.  A last line without its end was cut off while it was
 * written. */
static int next_line(struct timeline *t, size_t max, struct err *err)
{
    int c;

    t->bytes = 0;
    t->lines++;
    while ((c = getc_unlocked(t->in)) != EOF && c != '\n') {
        if (t->bytes == max) {
            err_set(err, "the line has more than %zu bytes", max);
            return malformed(t, err);
        }
        t->line = xgrow(t->line, &t->cap, t->bytes + 2, 1);
        t->line[t->bytes++] = (char)c;
    }
    if (c == EOF)
        return ferror(t->in) ? err_set(err, "%s: %s", t->name, strerror(errno)) : 0;
    t->line = xgrow(t->line, &t->cap, t->bytes + 2, 1);
    t->line[t->bytes] = '\0';
    return 1;
}

static int read_header(struct timeline *t, struct err *err)
{
    int rc = next_line(t, TRACE_HEADER_MAX, err);

    if (rc <= 0)
        return rc < 0 ? -1
                      : err_set(err, "%s: no header: it is no syncguard-trace, or an empty one", t->name);
    t->header = trace_header_parse(t->line, t->bytes, err);
    if (!t->header)
        return malformed(t, err);
    if (trace_header_is_untimed(t->header))
        return err_set(err,
                       "%s: its calls have no times that could be drawn: sgctl analyze tells who came last",
                       t->name);
    for (size_t i = 0; i < trace_header_ranks(t->header); i++) {
        uint32_t number = trace_header_rank(t->header, i).rank;

        t->ranks = number >= t->ranks ? number + 1 : t->ranks;
    }
    t->rank = xcalloc(t->ranks + 1, sizeof(*t->rank));
    for (size_t i = 0; i < trace_header_ranks(t->header); i++) {
        struct trace_rank r = trace_header_rank(t->header, i);
        char name[32];

        /* A rank whose node is not given has a clock, and a process, of its own. */
        if (*r.node)
            snprintf(name, sizeof(name), "n%016llx",
                     (unsigned long long)hash_bytes(HASH_START, r.node, strlen(r.node)));
        else
            snprintf(name, sizeof(name), "r%u", r.rank);
        t->rank[r.rank] = (struct rank){ .known = true, .node = names_add(t->nodes, name, strlen(name)) };
    }
    t->node = xcalloc(names_count(t->nodes) + 1, sizeof(*t->node));
    return 0;
}

/* The next record, as of next_line(). */
static int next_record(struct timeline *t, struct trace_record *r, struct err *err)
{
    int rc;

    while ((rc = next_line(t, TRACE_LINE_MAX, err)) > 0 && t->line[strspn(t->line, " \t\r")] == '\0')
        ;
    if (rc <= 0)
        return rc;
    if (!trace_record_scan(t->line, t->bytes, r) && trace_record_parse(t->line, t->bytes, r, err) < 0)
        return malformed(t, err);
    for (int i = 0; i < (call_is_pairwise(&r->call) ? 2 : 1); i++) {
        uint32_t rank = i ? r->call.peer : r->call.rank;

        if (rank < t->ranks && t->rank[rank].known)
            continue;
        err_set(err, "rank %u is not in the header", rank);
        return malformed(t, err);
    }
    return 1;
}

static uint64_t comm_of(const struct trace_record *r)
{
    return hash_bytes(HASH_START, r->comm, r->comm_bytes);
}

static uint64_t key_of(const struct trace_record *r)
{
    return calls_meeting(&r->call, comm_of(r));
}

/* ---- communicators ---- */

/* The rank is a member of it; all of the header's are of "world". */
static void see_member(struct timeline *t, const struct trace_record *r)
{
    bool world = !strcmp(r->comm, "world");
    uint32_t at = map_get(&t->comms, comm_of(r));

    if (at == MAP_NONE) {
        if (t->comms.n >= TRACE_COMMS_MAX)
            return;
        at = (uint32_t)t->comms.n;
        map_put(&t->comms, comm_of(r), at);
        t->members = xgrow(t->members, &t->members_cap, at + 1, sizeof(*t->members));
        t->members[at] = world ? (uint32_t)trace_header_ranks(t->header) : 0;
    }
    t->members[at] += !world;
}

static uint32_t members_of(uint64_t comm, void *arg)
{
    const struct timeline *t = arg;
    uint32_t at = map_get(&t->comms, comm);

    return at == MAP_NONE ? 0 : t->members[at];
}

/* ---- the clocks ---- */

/* Both ends of a call, from the record of the one that came first. */
static void compare_clocks(struct timeline *t, const struct trace_record *r)
{
    uint64_t key = key_of(r), ns = r->call.op == RING_OP_SEND ? call_begin_ns(&r->call) : r->call.leave_ns;
    struct partner *p = &t->partner[key % PARTNERS], mine = { key, t->rank[r->call.rank].node, ns };

    if (p->key != key) {
        *p = mine;
        return;
    }
    if (p->node == mine.node)
        return;
    if (!call_is_message(&r->call)) {
        graph_clock_meet(t->clock, p->node, p->ns, mine.node, mine.ns);
        return;
    }
    if (r->call.op == RING_OP_SEND)
        graph_clock_message(t->clock, mine.node, mine.ns, p->node, p->ns);
    else
        graph_clock_message(t->clock, p->node, p->ns, mine.node, mine.ns);
    p->key = 0;
}

/* Where the program's steps end: known, it is so from the first record of the second pass on. */
static void learn_steps(struct timeline *t, const struct trace_record *r)
{
    struct call c = r->call;

    c.comm = comm_of(r);
    if (!t->rank[c.rank].called)
        boundary_rank(t->boundary, c.rank);
    t->rank[c.rank].called = true;
    updates_call(t->updates, &c);
    if (!updates_found(t->updates) && !updates_undecided(t->updates))
        boundary_call(t->boundary, &c, c.comm);
}

static void see_record(struct timeline *t, const struct trace_record *r)
{
    struct node *n = &t->node[t->rank[r->call.rank].node];
    bool message = call_is_message(&r->call), shows = r->left;
    uint64_t ns = call_begin_ns(&r->call);
    struct numbered number = { .is = NUMBERING_GOOD };

    if (!call_is_access(&r->call)) /* it has no number that others have, and stands in no step */
        number = numbering_take(t->numbering, r, comm_of(r));
    if (number.first)
        see_member(t, r);
    if (r->backward)
        return;
    if (call_is_access(&r->call))
        shows = false;
    else if (number.is == NUMBERING_GOOD && r->left)
        learn_steps(t, r);
    if (!n->seen || ns < n->first_ns)
        n->first_ns = ns;
    n->seen = true;
    graph_clock_see(t->clock, t->rank[r->call.rank].node, ns);
    /* A collective ends where the rank was held until its end: by a blocking call, or by a wait that found it
     * incomplete. */
    if (!message)
        shows &= ring_op_synchronises(r->call.op) &&
                 (!call_is_nonblocking(&r->call) || r->call.leave_ns > r->call.enter_ns + HELD_NS);
    if (shows)
        compare_clocks(t, r);
}

static void judge_clocks(struct timeline *t)
{
    struct timeline_figures *f = t->figures;
    uint32_t nodes = names_count(t->nodes), first = 0;

    graph_clock_align(t->clock, nodes);
    while (first < nodes && !t->node[first].seen)
        first++;
    t->base_s = INFINITY;
    f->nodes = nodes;
    for (uint32_t i = first; i < nodes; i++) {
        if (!t->node[i].seen)
            continue;
        t->base_s = fmin(t->base_s, graph_clock_s(t->clock, i, t->node[i].first_ns));
        if (i == first)
            continue;
        t->node[i].apart = !graph_clock_comparable(t->clock, first, i);
        f->apart += t->node[i].apart;
        if (!t->node[i].apart)
            f->error_s = fmax(f->error_s, graph_clock_error_s(t->clock, first, i));
    }
    if (!isfinite(f->error_s))
        f->error_s = NAN;
    if (!isfinite(t->base_s))
        t->base_s = 0;
}

/* ---- the critical path ---- */

static int64_t moment_ns(const struct timeline *t, const struct trace_record *r, uint64_t ns)
{
    double s = graph_clock_s(t->clock, t->rank[r->call.rank].node, ns) - t->base_s;

    return s > 0 ? llround(fmin(s, LAST_S) * 1e9) : 0;
}

/* A process of its own, beside those of the nodes. */
static struct trace_lane path_lane(const struct timeline *t)
{
    return (struct trace_lane){ names_count(t->nodes) + 1, t->ranks };
}

static void name_slice(const struct step_slice *x, char *buf, size_t size)
{
    switch (x->kind) {
    case PATH_WORK:
        snprintf(buf, size, "work of rank %u", x->rank);
        break;
    case PATH_WAIT:
        snprintf(buf, size, "waiting in turn of rank %u", x->rank);
        break;
    case PATH_TRANSFER:
        if (x->message)
            snprintf(buf, size, "transfer from rank %u to rank %u", x->from, x->rank);
        else
            snprintf(buf, size, "%s entered last by rank %u",
                     x->op == RING_OP_NONE ? "collective" : ring_op_name(x->op), x->from);
        break;
    case PATH_CALL:
        snprintf(buf, size, "inside a call of rank %u", x->rank);
        break;
    default:
        snprintf(buf, size, "not known, of rank %u", x->rank);
    }
}

static int64_t path_ns(uint64_t ns)
{
    return (int64_t)(ns - PATH_ORIGIN_NS);
}

static void put_path(const struct step_path *p, void *arg)
{
    static const char *const sums[PATH_KINDS] = { "work_us", "wait_us", "transfer_us", "call_us",
                                                  "unknown_us" };
    static const char category[] = TIMELINE_PATH;
    struct timeline *t = arg;
    struct trace_events *e = &t->events;
    struct trace_lane lane = path_lane(t);
    char name[96];

    if (!t->figures->steps++) {
        trace_events_process(e, lane.process, category, -1);
        trace_events_thread(e, lane, "steps", 0);
    }
    snprintf(name, sizeof(name), "step %u", p->number + 1);
    trace_events_slice(e, lane, name, category, path_ns(p->begin_ns), path_ns(p->end_ns));
    for (size_t kind = 0; kind < PATH_KINDS; kind++)
        if (p->sum_ns[kind])
            trace_events_us(e, sums[kind], (int64_t)p->sum_ns[kind]);
    trace_events_end(e);
    for (const struct step_slice *x = p->slice; x < p->slice + p->n; x++) {
        name_slice(x, name, sizeof(name));
        trace_events_slice(e, lane, name, category, path_ns(x->begin_ns), path_ns(x->end_ns));
        trace_events_number(e, "step", (long long)p->number + 1);
        trace_events_number(e, "rank", x->rank);
        if (x->kind == PATH_TRANSFER)
            trace_events_number(e, "from", x->from);
        trace_events_end(e);
    }
}

static void begin_path(struct timeline *t)
{
    t->paths = step_paths_new(PATH_ORIGIN_NS, t->figures->error_s, t->boundary, put_path, t);
    t->boundary = NULL;
    for (uint32_t r = 0; r < t->ranks; r++) {
        t->rank[r].followed = t->rank[r].called && !t->node[t->rank[r].node].apart;
        if (t->rank[r].followed)
            step_paths_rank(t->paths, r, t->rank[r].node);
    }
}

/* Of ranks with records whose clocks can be compared: of the others nothing is waited for. */
static void follow_path(struct timeline *t, const struct trace_record *r)
{
    struct call c = r->call;
    bool unknown = r->backward || (call_is_message(&c) && !t->rank[c.peer].followed);
    struct numbered n;

    if (call_is_access(&c))
        return;
    n = numbering_take(t->numbering, r, comm_of(r));
    if (!t->rank[c.rank].followed)
        return;
    if (n.lost_calls || n.lost_messages || unknown)
        step_paths_lost(t->paths, c.rank);
    if (n.is != NUMBERING_GOOD || !r->left || unknown)
        return;
    c.comm = comm_of(r);
    if (call_is_nonblocking(&c))
        c.begin_ns = PATH_ORIGIN_NS + (uint64_t)moment_ns(t, r, c.begin_ns);
    c.enter_ns = PATH_ORIGIN_NS + (uint64_t)moment_ns(t, r, c.enter_ns);
    c.leave_ns = PATH_ORIGIN_NS + (uint64_t)moment_ns(t, r, c.leave_ns);
    step_paths_call(t->paths, &c);
}

/* ---- writing ---- */

static void put_record(struct timeline *t, const struct trace_record *r)
{
    const struct call *c = &r->call;
    struct rank *rank = &t->rank[c->rank];
    struct trace_events *e = &t->events;
    bool message = call_is_message(c);
    struct trace_lane lane = { rank->node + 1, c->rank };
    const char *name = c->op == RING_OP_NONE ? "collective" : ring_op_name(c->op),
               *category = message             ? "message"
                           : call_is_access(c) ? TIMELINE_ACCESS
                                               : "collective";
    int64_t entered_ns = moment_ns(t, r, c->enter_ns), begin_ns,
            end_ns = r->left ? moment_ns(t, r, c->leave_ns) : TRACE_EVENTS_NEVER;
    uint64_t id;

    begin_ns =
        r->left ? nesting_add(&rank->nesting, entered_ns, end_ns) : nesting_open(&rank->nesting, entered_ns);
    trace_events_slice(e, lane, name, category, begin_ns, end_ns);
    trace_events_text(e, "communicator", r->comm);
    trace_events_number(e, "number", c->seq);
    trace_events_number(e, "bytes", (long long)c->bytes);
    if (message) {
        trace_events_number(e, "peer", c->peer);
        trace_events_number(e, "tag", c->tag);
    }
    if (call_is_access(c)) {
        trace_events_number(e, "read", (long long)c->read_bytes);
        trace_events_number(e, "peer", c->peer);
    }
    if (begin_ns != entered_ns)
        trace_events_us(e, "entered", entered_ns);
    if (call_is_nonblocking(c))
        trace_events_us(e, "begun", moment_ns(t, r, c->begin_ns));
    trace_events_end(e);
    if (!r->left)
        return;
    /* From the nonblocking call to the end of what it began.  Each rank has its own, so the number is of rank
     * and call. */
    if (call_is_nonblocking(c) && c->begin_ns < c->leave_ns) {
        id = hash_mix(key_of(r) ^ ((uint64_t)c->rank << 2 | call_side(c->op)));
        trace_events_point(e, lane, name, category, 'b', moment_ns(t, r, c->begin_ns), id);
        trace_events_point(e, lane, name, category, 'e', end_ns, id);
    }
    /* An arrow's ends have the same number; they stand within the slices that they belong to. */
    if (message)
        trace_events_point(e, lane, name, category, c->op == RING_OP_SEND ? 's' : 'f',
                           c->op == RING_OP_SEND ? begin_ns : end_ns, key_of(r));
}

static void put_beginning(struct timeline *t)
{
    const struct timeline_figures *f = t->figures;
    struct trace_events *e = &t->events;

    trace_events_open(e, t->out);
    trace_events_text(e, "writer", "SyncGuard " PACKAGE_VERSION);
    trace_events_text(e, "job", trace_header_job(t->header));
    trace_events_number(e, "nodes_without_common_clock", f->apart);
    trace_events_real(e, "clock_error_s", f->error_s);
    trace_events_list(e);
    for (size_t i = 0; i < trace_header_ranks(t->header); i++) {
        struct trace_rank r = trace_header_rank(t->header, i);
        uint32_t node = t->rank[r.rank].node;
        char name[32];

        snprintf(name, sizeof(name), "rank %u", r.rank);
        trace_events_thread(e, (struct trace_lane){ node + 1, r.rank }, name, (int)r.rank);
        if (!t->node[node].named)
            trace_events_process(e, node + 1, *r.node ? r.node : name, (int)node);
        t->node[node].named = true;
    }
}

/* ---- both passes ---- */

static int pass_over(struct timeline *t, bool write, struct err *err)
{
    struct trace_record r;
    struct progress progress = progress_begin();
    uint64_t n = 0, skipped = 0;
    int rc;

    numbering_free(t->numbering);
    t->numbering = numbering_new(t->ranks);
    while ((rc = next_record(t, &r, err)) > 0) {
        if (write) {
            follow_path(t, &r);
            if (!r.backward)
                put_record(t, &r);
        } else {
            see_record(t, &r);
        }
        skipped += r.backward;
        if (++n % PROGRESS_LINES == 0 && progress_is_due(&progress))
            progress_say(&progress, "%llu records %s", (unsigned long long)n, write ? "written" : "read");
        if (write && ferror(t->out))
            return err_set(err, "cannot write: %s", strerror(errno));
    }
    progress_end(&progress);
    t->figures->records = n - skipped;
    return rc;
}

static int write_all(struct timeline *t, struct err *err)
{
    if (read_header(t, err) < 0 || pass_over(t, false, err) < 0)
        return -1;
    judge_clocks(t);
    t->figures->ranks = (uint32_t)trace_header_ranks(t->header);
    if (fseek(t->in, 0, SEEK_SET) < 0)
        return err_set(err, "%s: a timeline needs a file, not a pipe: the trace is read twice", t->name);
    t->lines = 0;
    if (next_line(t, TRACE_HEADER_MAX, err) <= 0)
        return err_set(err, "%s: it changed while it was read", t->name);
    put_beginning(t);
    begin_path(t);
    if (pass_over(t, true, err) < 0)
        return -1;
    step_paths_finish(t->paths);
    return trace_events_close(&t->events) == 0 ? 0 : err_set(err, "cannot write: %s", strerror(errno));
}

int timeline_write(FILE *in, const char *name, FILE *out, struct timeline_figures *f, struct err *err)
{
    struct timeline t = {
        .in = in,
        .out = out,
        .name = name,
        .nodes = names_new(),
        .clock = graph_clock_new(),
        .partner = xcalloc(PARTNERS, sizeof(*t.partner)),
        .figures = f,
    };
    int rc;

    *f = (struct timeline_figures){ 0 };
    t.boundary = boundary_new(members_of, &t);
    t.updates = updates_new();
    rc = write_all(&t, err);
    json_decref(t.header);
    names_free(t.nodes);
    graph_clock_free(t.clock);
    numbering_free(t.numbering);
    boundary_free(t.boundary);
    updates_free(t.updates);
    step_paths_free(t.paths);
    map_free(&t.comms);
    free(t.members);
    free(t.line);
    free(t.rank);
    free(t.node);
    free(t.partner);
    return rc;
}
