#include "trace/reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/names.h"
#include "common/xalloc.h"
#include "sampling/flow.h"
#include "trace/line.h"
#include "trace/numbering.h"
#include "view/verdicts.h"

#define COUNTS_S 5.0 /* how often the view gets the count of lost records */

struct rank {
    struct flow *flow; /* NULL: not in the header */
    uint32_t clock;
    uint64_t records;
    uint64_t left_ns; /* its newest call */
    uint64_t p2p_ns;  /* in messages since its newest collective */
};

struct clock { /* of a node */
    bool began;
    uint64_t first_ns;
};

struct comm {
    uint64_t name;
    uint32_t *member; /* ranks, by place */
    size_t members, cap;
    uint32_t first, last;  /* smallest and largest member */
    bool announced, grown; /* announced: the view has it; grown: it has members that the view does not know */
    bool world;            /* of all ranks */
    bool told;             /* the header has its members, and how far they have come: by place */
    uint32_t *left, *called;
    struct numbers counted;
};

struct group { /* the records of one collective that have arrived */
    uint32_t comm, seq;
    struct trace_record *record;
    size_t n, cap;
};

struct named { /* a finding that became a verdict */
    uint32_t finding;
    uint64_t records; /* read by then */
};

struct trace_reader {
    struct view *view;
    char *line; /* an incomplete line */
    size_t line_bytes, line_cap;
    struct rank *rank; /* by number */
    uint32_t n_ranks;  /* their numbers are below this */
    struct clock *clock;
    struct names *comm_names;
    struct comm *comm; /* by number of its name */
    size_t comms_cap;
    struct numbering *numbering; /* NULL before the header */
    struct group group;
    bool calls;    /* are recorded one by one: messages, and nonblocking calls with their begin */
    uint32_t size; /* of the job: more than the header's ranks where some have no records */
    double now_s, ticked_s, counted_s;
    struct named *named; /* in that order; the newest are asked for most */
    size_t n_named, named_cap;
    struct trace_figures figures;
    bool failed;
    struct err err;
};

struct trace_reader *trace_reader_new(const struct view_params *p)
{
    struct trace_reader *r = xcalloc(1, sizeof(*r));

    r->view = view_new(p, 0);
    r->comm_names = names_new();
    return r;
}

void trace_reader_free(struct trace_reader *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->n_ranks; i++)
        flow_free(r->rank[i].flow);
    for (uint32_t i = 0; i < names_count(r->comm_names); i++) {
        free(r->comm[i].member);
        free(r->comm[i].left);
        free(r->comm[i].called);
    }
    view_free(r->view);
    names_free(r->comm_names);
    free(r->comm);
    free(r->line);
    free(r->rank);
    free(r->clock);
    numbering_free(r->numbering);
    free(r->named);
    free(r->group.record);
    free(r);
}

/* ---- items, as agents send them ---- */

static void on_item(const struct telemetry_item *item, void *arg)
{
    struct trace_reader *r = arg;

    view_item(r->view, r->now_s, item);
}

/* Of the job's ranks those without records are members of "world" as well. */
static uint32_t comm_size(const struct trace_reader *r, const struct comm *c)
{
    return c->world && r->size > c->members ? r->size : (uint32_t)c->members;
}

/* Pass an item of the communicator for each of its members. */
static void send_comm(struct trace_reader *r, uint32_t number)
{
    struct comm *c = &r->comm[number];
    uint32_t size = comm_size(r, c);
    bool partly = size > c->members;

    c->grown = false;
    if (size < 2)
        return;
    if (c->announced)
        view_comm_forget(r->view, c->name);
    c->announced = true;
    for (uint32_t place = 0; place < c->members; place++) {
        struct telemetry_item item = { .kind = TELEMETRY_COMM,
                                       .comm = { .rank = c->member[place],
                                                 .name = c->name,
                                                 .size = size,
                                                 .comm_rank = place,
                                                 .first = partly ? 0 : c->first,
                                                 .last = partly && c->last < size ? size - 1 : c->last } };

        on_item(&item, r);
    }
    view_comm_call(r->view, c->name, names_text(r->comm_names, number));
    for (uint32_t place = 0; place < c->members && c->told; place++)
        view_comm_reached(r->view, c->name, c->member[place], c->left[place], c->called[place]);
}

static void send_counts(struct trace_reader *r)
{
    r->counted_s = r->now_s;
    for (uint32_t i = 0; i < r->n_ranks; i++) {
        struct telemetry_item item = {
            .kind = TELEMETRY_COUNTS,
            .counts = { .rank = i, .events = r->rank[i].records, .dropped = numbering_lost(r->numbering, i) }
        };

        if (r->rank[i].flow)
            on_item(&item, r);
    }
}

/* Of a call that was never left; op: as a slot has it. */
static void send_inside(struct trace_reader *r, const struct call *call, enum ring_op op)
{
    struct telemetry_item item = { .kind = TELEMETRY_LIVE,
                                   .live = { .rank = call->rank,
                                             .op = (uint8_t)op,
                                             .state = RING_STATE_RUNNING,
                                             .comm = call->comm,
                                             .seq = call->seq,
                                             .bytes = call->bytes,
                                             .enter_ns = call->enter_ns,
                                             .age_ns = LIVE_NEVER_LEFT } };

    r->figures.never_left++;
    if (op ==
        RING_OP_NONE) /* that would mean outside MPI; a wait for a collective does not say which it is */
        item.live.op = RING_OP_WAIT;
    on_item(&item, r);
}

/* ---- the trace's clock ---- */

static double age_s(const struct clock *c, uint64_t ns)
{
    return (double)(int64_t)(ns - c->first_ns) * 1e-9;
}

static double record_age_s(const struct trace_reader *r, const struct trace_record *rec)
{
    return age_s(&r->clock[r->rank[rec->call.rank].clock],
                 rec->left ? rec->call.leave_ns : rec->call.enter_ns);
}

/* ---- collectives ---- */

static void deliver_group(struct trace_reader *r)
{
    struct group *g = &r->group;
    struct comm *c;

    if (!g->n)
        return;
    c = &r->comm[g->comm];
    if (c->grown)
        send_comm(r, g->comm);
    for (size_t i = 0; i < g->n; i++)
        r->now_s = fmax(r->now_s, record_age_s(r, &g->record[i]));
    for (size_t i = 0; i < g->n; i++) {
        const struct call *call = &g->record[i].call;
        struct rank *rank = &r->rank[call->rank];

        if (!g->record[i].left) {
            send_inside(r, call, (enum ring_op)call->op);
            continue;
        }
        rank->left_ns = call->leave_ns;
        if (r->figures.untimed) /* what the rank did before it is not known */
            flow_lost(rank->flow);
        else if (r->calls)
            view_call(r->view, r->now_s, call);
        flow_call(rank->flow, call, comm_size(r, c), rank->p2p_ns, on_item, r);
        rank->p2p_ns = 0;
    }
    /* Where communicators take turns its records do not stand together: only the first ones count it. */
    r->figures.collectives += numbers_add(&c->counted, g->seq);
    g->n = 0;
    if (r->now_s >= r->counted_s + COUNTS_S)
        send_counts(r);
    if (r->now_s >= r->ticked_s + TRACE_TICK_S) {
        r->ticked_s = r->now_s;
        view_tick(r->view, r->now_s);
    }
}

/* ---- members of communicators, and their sequence numbers ---- */

static void member_add(struct comm *c, uint32_t rank)
{
    c->member = xgrow(c->member, &c->cap, c->members + 1, sizeof(*c->member));
    c->first = c->members && c->first < rank ? c->first : rank;
    c->last = c->members && c->last > rank ? c->last : rank;
    c->member[c->members++] = rank;
    c->grown = true;
}

/* What the record's number says of those before it. */
static struct numbered take_number(struct trace_reader *r, const struct trace_record *rec, uint64_t comm)
{
    struct numbered n = numbering_take(r->numbering, rec, comm);

    if (n.lost_messages) {
        view_call_lost(r->view, rec->call.rank);
        flow_lost(r->rank[rec->call.rank].flow);
    }
    if (n.lost_calls)
        view_call_lost(r->view, rec->call.rank);
    r->figures.lost += n.skipped;
    r->figures.lost -= n.found;
    r->figures.duplicates += n.is == NUMBERING_TWICE;
    r->figures.reordered += n.is == NUMBERING_LATE;
    r->figures.beyond += n.is == NUMBERING_BEYOND;
    return n;
}

/* The communicator's number; NAMES_NONE: too many. */
static uint32_t comm_add(struct trace_reader *r, const char *name, uint32_t bytes)
{
    uint32_t number = names_find(r->comm_names, name, bytes);
    uint64_t hash;

    if (number != NAMES_NONE || r->figures.comms >= TRACE_COMMS_MAX)
        return number;
    hash = hash_bytes(HASH_START, name, bytes);
    for (uint32_t i = 0; i < r->figures.comms; i++)
        if (r->comm[i].name == hash) { /* two names, one hash: change it and search again from the start */
            hash++;
            i = UINT32_MAX;
        }
    number = names_add(r->comm_names, name, bytes);
    r->comm = xgrow(r->comm, &r->comms_cap, number + 1, sizeof(*r->comm));
    r->comm[number] = (struct comm){ .name = hash };
    r->figures.comms = number + 1;
    return number;
}

/* The same, of a record.  The header's ranks are members of "world" before they have a record in it. */
static uint32_t comm_get(struct trace_reader *r, const struct trace_record *rec)
{
    uint32_t known = r->figures.comms, number = comm_add(r, rec->comm, rec->comm_bytes);

    if (number == NAMES_NONE || number < known || strcmp(rec->comm, "world") != 0)
        return number;
    r->comm[number].world = true;
    for (uint32_t i = 0; i < r->n_ranks; i++)
        if (r->rank[i].flow)
            member_add(&r->comm[number], i);
    return number;
}

/* The view gets them at once: where ranks are stuck in messages alone no record of a collective may come. */
static void take_comms(struct trace_reader *r, const json_t *header)
{
    for (size_t i = 0; i < trace_header_comms(header); i++) {
        struct trace_comm t = trace_header_comm(header, i);
        uint32_t number = comm_add(r, t.name, (uint32_t)strlen(t.name));
        struct comm *c = &r->comm[number]; /* there cannot be too many */

        c->told = true;
        c->left = xcalloc(t.ranks, sizeof(*c->left));
        c->called = xcalloc(t.ranks, sizeof(*c->called));
        for (uint32_t place = 0; place < t.ranks; place++) {
            struct trace_member m = trace_header_member(header, i, place);

            member_add(c, m.rank);
            c->left[place] = m.left;
            c->called[place] = m.called;
        }
        send_comm(r, number);
    }
}

/* A record without times: its number came, and neither the call's graph nor the samples can use it. */
static void skip_backward(struct trace_reader *r, uint32_t rank)
{
    r->figures.backward++;
    view_call_lost(r->view, rank);
    flow_lost(r->rank[rank].flow);
}

/* ---- messages ---- */

static void take_message(struct trace_reader *r, const struct trace_record *rec)
{
    struct rank *rank = &r->rank[rec->call.rank];
    uint64_t comm = hash_bytes(HASH_START, rec->comm, rec->comm_bytes);
    struct call call = rec->call;

    call.comm = comm;
    deliver_group(r);
    if (take_number(r, rec, comm).is != NUMBERING_GOOD)
        return;
    if (rec->backward) {
        skip_backward(r, call.rank);
        return;
    }
    r->figures.records++;
    r->figures.messages++;
    rank->records++;
    if (r->figures.untimed) /* how long it was says nothing by itself */
        return;
    r->now_s = fmax(r->now_s, record_age_s(r, rec));
    if (!rec->left) {
        send_inside(r, &call, RING_OP_POINT_TO_POINT);
        on_item(&(struct telemetry_item){ .kind = TELEMETRY_PARTNER,
                                          .partner = { .rank = rec->call.rank,
                                                       .op = rec->call.op,
                                                       .peer = rec->call.peer,
                                                       .tag = rec->call.tag,
                                                       .enter_ns = rec->call.enter_ns } },
                r);
        return;
    }
    if (rec->call.leave_ns > rank->left_ns)
        rank->p2p_ns +=
            rec->call.leave_ns - (rec->call.enter_ns > rank->left_ns ? rec->call.enter_ns : rank->left_ns);
    rank->left_ns = rec->call.leave_ns > rank->left_ns ? rec->call.leave_ns : rank->left_ns;
    view_call(r->view, r->now_s, &call);
}

/* Accesses to one rank's memory meet nothing, and have no numbers that could be missing. */
static void take_access(struct trace_reader *r, const struct trace_record *rec)
{
    struct rank *rank = &r->rank[rec->call.rank];
    struct call call = rec->call;

    call.comm = hash_bytes(HASH_START, rec->comm, rec->comm_bytes);
    deliver_group(r);
    if (rec->backward) {
        skip_backward(r, call.rank);
        return;
    }
    r->figures.records++;
    rank->records++;
    if (r->figures.untimed || !rec->left)
        return;
    r->now_s = fmax(r->now_s, record_age_s(r, rec));
    rank->left_ns = call.leave_ns > rank->left_ns ? call.leave_ns : rank->left_ns;
    view_call(r->view, r->now_s, &call);
}

static int take_record(struct trace_reader *r, const struct trace_record *rec, struct err *err)
{
    struct group *g = &r->group;
    struct clock *clock;
    struct numbered number;
    uint32_t comm;

    if (rec->call.rank >= r->n_ranks || !r->rank[rec->call.rank].flow)
        return err_set(err, "rank %u is not in the header", rec->call.rank);
    clock = &r->clock[r->rank[rec->call.rank].clock];
    if (!clock->began)
        *clock = (struct clock){ true, rec->call.enter_ns };
    /* A record a year away from its node's first would stop the trace's clock for all that follow. */
    if (fabs(age_s(clock, rec->call.enter_ns)) > TRACE_SPAN_MAX_S ||
        fabs(record_age_s(r, rec)) > TRACE_SPAN_MAX_S)
        return err_set(err, "its time is more than %.0f days from its node's first record",
                       TRACE_SPAN_MAX_S / 86400);
    if (call_is_pairwise(&rec->call)) {
        if (rec->call.peer >= r->n_ranks || !r->rank[rec->call.peer].flow)
            return err_set(err, "rank %u is not in the header", rec->call.peer);
        (call_is_access(&rec->call) ? take_access : take_message)(r, rec);
        return 0;
    }
    /* Most records are of the same communicator as the one before. */
    comm = g->n && !strcmp(g->record[0].comm, rec->comm) ? g->comm : comm_get(r, rec);
    if (g->n && (g->comm != comm || g->seq != rec->call.seq))
        deliver_group(r);
    if (comm == NAMES_NONE) {
        r->figures.beyond++;
        return 0;
    }
    number = take_number(r, rec, comm);
    if (number.first && !r->comm[comm].world && !r->comm[comm].told)
        member_add(&r->comm[comm], rec->call.rank);
    if (number.is != NUMBERING_GOOD)
        return 0;
    if (rec->backward) {
        skip_backward(r, rec->call.rank);
        return 0;
    }
    r->figures.records++;
    r->figures.unnamed += rec->call.op == RING_OP_NONE;
    r->rank[rec->call.rank].records++;
    g->comm = comm;
    g->seq = rec->call.seq;
    g->record = xgrow(g->record, &g->cap, g->n + 1, sizeof(*g->record));
    g->record[g->n] = *rec;
    g->record[g->n++].call.comm = r->comm[comm].name;
    return 0;
}

/* ---- lines ---- */

static int take_header(struct trace_reader *r, const char *line, size_t bytes, struct err *err)
{
    json_t *header = trace_header_parse(line, bytes, err);
    size_t n = trace_header_ranks(header);
    struct names *nodes, *switches;
    unsigned number;
    double bytes_per_s;

    if (!header)
        return -1;
    snprintf(r->figures.job, sizeof(r->figures.job), "%s", trace_header_job(header));
    for (size_t i = 0; i < n; i++) {
        uint32_t rank = trace_header_rank(header, i).rank;

        r->n_ranks = rank >= r->n_ranks ? rank + 1 : r->n_ranks;
    }
    r->rank = xcalloc(r->n_ranks, sizeof(*r->rank));
    r->numbering = numbering_new(r->n_ranks);
    r->clock = xcalloc(2 * n, sizeof(*r->clock)); /* named nodes, then ranks without */
    nodes = names_new();
    switches = names_new();
    for (size_t i = 0; i < n; i++) {
        struct trace_rank t = trace_header_rank(header, i);
        struct rank *k = &r->rank[t.rank];

        /* The ranks of a node share a clock; a rank whose node is not given has its own. */
        k->clock = *t.node ? names_add(nodes, t.node, strlen(t.node)) : (uint32_t)(n + i);
        if (*t.switch_name)
            names_add(switches, t.switch_name, strlen(t.switch_name));
        k->flow = flow_new(t.rank, 0, 1);
        flow_control(k->flow, 1, true); /* every collective is a sample; the rate has no effect */
        view_rank_add(r->view, t.rank, 0, t.node, t.switch_name);
        view_rank_record(r->view, t.rank, t.recorded, t.queued);
    }
    take_comms(r, header);
    r->figures.ranks = (uint32_t)n;
    r->figures.nodes = names_count(nodes);
    r->figures.switches = names_count(switches);
    names_free(nodes);
    names_free(switches);
    for (size_t i = 0; trace_header_switches(header, i); i++)
        view_switches_add(r->view, trace_header_switches(header, i));
    bytes_per_s = trace_header_adapter(header, &number);
    view_adapter(r->view, bytes_per_s, number);
    r->calls = trace_header_has_messages(header);
    r->size = r->figures.size = trace_header_size(header);
    r->figures.untimed = trace_header_is_untimed(header);
    r->figures.header = true;
    json_decref(header);
    return 0;
}

static bool is_blank(const char *line, size_t bytes)
{
    while (bytes && strchr(" \t\r\n", line[bytes - 1]) && line[bytes - 1])
        bytes--;
    return !bytes;
}

static int end_failed(struct trace_reader *r, struct err *err)
{
    r->failed = true;
    return err_set(err, "%s", r->err.text);
}

static const struct named *find_named(const struct trace_reader *r, uint32_t finding)
{
    for (size_t i = r->n_named; i-- > 0;)
        if (r->named[i].finding == finding)
            return &r->named[i];
    return NULL;
}

/* Most findings are doubted for a while before they are verdicts, and some never become one. */
static void note_verdicts(struct trace_reader *r)
{
    const struct view_verdict *verdict;
    size_t n = view_verdicts_get(r->view, &verdict);

    for (size_t i = 0; i < n; i++) {
        uint32_t id = verdict[i].finding.id;

        if (verdict[i].minor || verdict[i].finding.duty != DUTY_STEPS || find_named(r, id))
            continue;
        r->named = xgrow(r->named, &r->named_cap, r->n_named + 1, sizeof(*r->named));
        r->named[r->n_named++] = (struct named){ id, r->figures.records };
    }
}

static int next_line(struct trace_reader *r, const char *line, size_t bytes, struct err *err)
{
    struct trace_record rec;
    int rc = 0;

    r->figures.lines++;
    if (!r->figures.header)
        rc = is_blank(line, bytes) ? 0 : take_header(r, line, bytes, &r->err);
    else if (trace_record_scan(line, bytes, &rec))
        rc = take_record(r, &rec, &r->err);
    else if (!is_blank(line, bytes))
        rc = trace_record_parse(line, bytes, &rec, &r->err) < 0 ? -1 : take_record(r, &rec, &r->err);
    if (rc < 0) {
        err_prefix(&r->err, "line %llu", (unsigned long long)r->figures.lines);
        return end_failed(r, err);
    }
    note_verdicts(r);
    return 0;
}

static int keep_piece(struct trace_reader *r, const char *data, size_t bytes, struct err *err)
{
    size_t max = r->figures.header ? TRACE_LINE_MAX : TRACE_HEADER_MAX;

    if (r->line_bytes + bytes > max) {
        err_set(&r->err, "line %llu is longer than %zu bytes", (unsigned long long)r->figures.lines + 1, max);
        return end_failed(r, err);
    }
    r->line = xgrow(r->line, &r->line_cap, r->line_bytes + bytes, 1);
    memcpy(r->line + r->line_bytes, data, bytes);
    r->line_bytes += bytes;
    return 0;
}

int trace_reader_feed(struct trace_reader *r, const char *data, size_t bytes, struct err *err)
{
    const char *end = data + bytes, *newline;
    int rc = 0;

    if (r->failed)
        return end_failed(r, err);
    r->figures.bytes += bytes;
    for (; rc == 0 && data < end; data = newline + 1) {
        newline = memchr(data, '\n', (size_t)(end - data));
        if (!newline)
            return keep_piece(r, data, (size_t)(end - data), err);
        if (!r->line_bytes && (size_t)(newline - data) <= TRACE_LINE_MAX) {
            rc = next_line(r, data, (size_t)(newline - data), err);
        } else { /* it may have started in an earlier piece */
            rc = keep_piece(r, data, (size_t)(newline - data), err);
            if (rc == 0)
                rc = next_line(r, r->line, r->line_bytes, err);
            r->line_bytes = 0;
        }
    }
    return rc;
}

int trace_reader_finish(struct trace_reader *r, struct err *err)
{
    struct trace_record rec;

    if (r->failed)
        return end_failed(r, err);
    /* A last line without a newline: a record if it is complete, else torn. */
    r->figures.torn = r->figures.header && !is_blank(r->line, r->line_bytes) &&
                      !trace_record_scan(r->line, r->line_bytes, &rec) &&
                      trace_record_parse(r->line, r->line_bytes, &rec, NULL) < 0;
    if (r->line_bytes && !r->figures.torn && next_line(r, r->line, r->line_bytes, err) < 0)
        return -1;
    if (!r->figures.header) {
        err_set(&r->err, "no header: the trace is empty");
        return end_failed(r, err);
    }
    deliver_group(r);
    for (uint32_t i = 0; i < r->n_ranks; i++)
        if (r->rank[i].flow)
            flow_flush(r->rank[i].flow, 0, 0, on_item, r);
    send_counts(r);
    view_finish(r->view, r->now_s);
    return 0;
}

double trace_reader_now_s(const struct trace_reader *r)
{
    return r->now_s;
}

struct view *trace_reader_view(struct trace_reader *r)
{
    return r->view;
}

void trace_reader_figures_get(const struct trace_reader *r, struct trace_figures *f)
{
    *f = r->figures;
}

uint64_t trace_reader_lost(const struct trace_reader *r, uint32_t rank)
{
    return r->numbering ? numbering_lost(r->numbering, rank) : 0;
}

uint64_t trace_reader_records_at(const struct trace_reader *r, uint32_t finding)
{
    const struct named *named = find_named(r, finding);

    return named ? named->records : r->figures.records;
}
