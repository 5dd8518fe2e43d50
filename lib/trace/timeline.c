#include "trace/timeline.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/names.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "graph/clock.h"
#include "trace/calls.h"
#include "trace/line.h"
#include "trace/progress.h"

/* calls that wait for the record of another node, which is near in a trace */
#define PARTNERS       8192u
#define HELD_NS        50000u /* a wait that finds all done takes less */
#define PROGRESS_LINES 65536u

struct rank {
    bool known;
    uint32_t node;
};

struct node {
    bool seen;
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
        t->rank[r.rank] = (struct rank){ true, names_add(t->nodes, name, strlen(name)) };
    }
    t->node = xcalloc(names_count(t->nodes) + 1, sizeof(*t->node));
    return 0;
}

/* The next record, as of next_line(). */
static int next_record(struct timeline *t, struct trace_record *r, struct err *err)
{
    int rc;

    do {
        while ((rc = next_line(t, TRACE_LINE_MAX, err)) > 0 && t->line[strspn(t->line, " \t\r")] == '\0')
            ;
        if (rc <= 0)
            return rc;
        if (!trace_record_scan(t->line, t->bytes, r) && trace_record_parse(t->line, t->bytes, r, err) < 0)
            return malformed(t, err);
    } while (r->backward);
    if (r->call.rank >= t->ranks || !t->rank[r->call.rank].known) {
        err_set(err, "rank %u is not in the header", r->call.rank);
        return malformed(t, err);
    }
    return 1;
}

static uint64_t key_of(const struct trace_record *r)
{
    return calls_meeting(&r->call, hash_bytes(HASH_START, r->comm, r->comm_bytes));
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

static void see_record(struct timeline *t, const struct trace_record *r)
{
    struct node *n = &t->node[t->rank[r->call.rank].node];
    bool message = call_is_message(&r->call), shows = r->left;
    uint64_t ns = call_begin_ns(&r->call);

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
        if (!graph_clock_comparable(t->clock, first, i))
            f->apart++;
        else
            f->error_s = fmax(f->error_s, graph_clock_error_s(t->clock, first, i));
    }
    if (!isfinite(f->error_s))
        f->error_s = NAN;
    if (!isfinite(t->base_s))
        t->base_s = 0;
}

/* ---- writing ---- */

static void put_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c < 0x20)
            fprintf(out, "\\u%04x", *c);
        else if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else
            fputc(*c, out);
    }
    fputc('"', out);
}

static double us(const struct timeline *t, const struct trace_record *r, uint64_t ns)
{
    return (graph_clock_s(t->clock, t->rank[r->call.rank].node, ns) - t->base_s) * 1e6;
}

/* The beginning that all events have; the caller writes the rest of the object. */
static void put_event(const struct timeline *t, const struct trace_record *r, const char *phase, double at_us)
{
    fprintf(t->out, ",\n{\"ph\":\"%s\",\"name\":\"%s\",\"cat\":\"%s\",\"pid\":%u,\"tid\":%u,\"ts\":%.3f",
            phase, r->call.op == RING_OP_NONE ? "collective" : ring_op_name(r->call.op),
            call_is_message(&r->call) ? "message" : "collective", t->rank[r->call.rank].node + 1,
            r->call.rank, at_us);
}

static void put_record(const struct timeline *t, const struct trace_record *r)
{
    bool send = r->call.op == RING_OP_SEND, message = call_is_message(&r->call);
    double begin_us = us(t, r, r->call.enter_ns);
    unsigned long long id;

    put_event(t, r, r->left ? "X" : "B", begin_us);
    if (r->left)
        fprintf(t->out, ",\"dur\":%.3f", fmax(0, us(t, r, r->call.leave_ns) - begin_us));
    fputs(",\"args\":{\"communicator\":", t->out);
    put_text(t->out, r->comm);
    fprintf(t->out, ",\"number\":%u,\"bytes\":%llu", r->call.seq, (unsigned long long)r->call.bytes);
    if (message)
        fprintf(t->out, ",\"peer\":%u,\"tag\":%d", r->call.peer, r->call.tag);
    if (call_is_nonblocking(&r->call))
        fprintf(t->out, ",\"begun\":%.3f", us(t, r, r->call.begin_ns));
    fputs("}}", t->out);
    if (!r->left)
        return;
    /* From the nonblocking call to the end of what it began.  Each rank has its own, so the number is of rank
     * and call. */
    if (call_is_nonblocking(&r->call) && r->call.begin_ns < r->call.leave_ns) {
        id = hash_mix(key_of(r) ^ ((uint64_t)r->call.rank << 2 | call_side(r->call.op)));
        put_event(t, r, "b", us(t, r, r->call.begin_ns));
        fprintf(t->out, ",\"id\":\"%llx\"}", id);
        put_event(t, r, "e", us(t, r, r->call.leave_ns));
        fprintf(t->out, ",\"id\":\"%llx\"}", id);
    }
    /* An arrow's ends have the same number; they stand within the slices that they belong to. */
    if (message) {
        id = key_of(r);
        put_event(t, r, send ? "s" : "f", us(t, r, send ? r->call.enter_ns : r->call.leave_ns));
        fprintf(t->out, ",\"id\":\"%llx\"%s}", id, send ? "" : ",\"bp\":\"e\"");
    }
}

static void put_beginning(const struct timeline *t)
{
    const struct timeline_figures *f = t->figures;
    uint32_t shown = UINT32_MAX;

    fputs("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"writer\":\"SyncGuard " PACKAGE_VERSION "\",\"job\":",
          t->out);
    put_text(t->out, trace_header_job(t->header));
    fprintf(t->out, ",\"nodes_without_common_clock\":%u,\"clock_error_s\":", f->apart);
    if (isnan(f->error_s))
        fputs("null", t->out);
    else
        fprintf(t->out, "%.3g", f->error_s);
    fputs("},\n\"traceEvents\":[\n", t->out);
    for (size_t i = 0; i < trace_header_ranks(t->header); i++) {
        struct trace_rank r = trace_header_rank(t->header, i);
        uint32_t node = t->rank[r.rank].node;

        fprintf(
            t->out,
            "%s{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":\"rank %u\"}}",
            i ? ",\n" : "", node + 1, r.rank, r.rank);
        if (node == shown)
            continue;
        shown = node;
        fprintf(t->out,
                ",\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%u,\"args\":{\"name\":", node + 1);
        if (*r.node)
            put_text(t->out, r.node);
        else
            fprintf(t->out, "\"rank %u\"", r.rank);
        fputs("}}", t->out);
    }
}

/* ---- both passes ---- */

static int pass_over(struct timeline *t, bool write, struct err *err)
{
    struct trace_record r;
    struct progress progress = progress_begin();
    uint64_t n = 0;
    int rc;

    while ((rc = next_record(t, &r, err)) > 0) {
        if (write)
            put_record(t, &r);
        else
            see_record(t, &r);
        if (++n % PROGRESS_LINES == 0 && progress_is_due(&progress))
            progress_say(&progress, "%llu records %s", (unsigned long long)n, write ? "written" : "read");
        if (write && ferror(t->out))
            return err_set(err, "cannot write: %s", strerror(errno));
    }
    progress_end(&progress);
    t->figures->records = n;
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
    if (pass_over(t, true, err) < 0)
        return -1;
    fputs("\n]}\n", t->out);
    return fflush(t->out) == 0 && !ferror(t->out) ? 0 : err_set(err, "cannot write: %s", strerror(errno));
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
    rc = write_all(&t, err);
    json_decref(t.header);
    names_free(t.nodes);
    graph_clock_free(t.clock);
    free(t.line);
    free(t.rank);
    free(t.node);
    free(t.partner);
    return rc;
}
