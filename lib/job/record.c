#include "job/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "job/job.h"
#include "view/comms.h"
#include "view/figures.h"
#include "view/switches.h"
#include "view/view.h"
#include "wire/link.h"

#define GROUPS      1024u       /* collectives whose records are being collected or written */
#define QUEUED_MAX  (1u << 18)  /* records that wait, of all ranks */
#define CHUNK_BYTES (64u << 10) /* of lines in a frame */
#define COMMS       256u
#define SLOW_BYTES  (4u << 20) /* records are left out while more than this waits to be sent */
#define NO_GROUP    UINT32_MAX /* of a message */

enum group_state { UNUSED, COLLECTING, COMPLETE, DROPPED };

/* A collective of which some records are still in the queues of their ranks. */
struct group {
    enum group_state state;
    uint64_t comm;
    uint32_t seq;
    bool nonblocking;
    double since_s;
    uint32_t *rank; /* whose records have arrived */
    size_t n, cap;
    size_t queued; /* of these, not written yet */
};

struct entry {
    struct call call;
    uint32_t group;
};

/* A rank's records, in the order in which it left the calls: a ring. */
struct queue {
    struct entry *entry;
    size_t first, n, cap; /* cap: a power of two */
};

struct recorder {
    struct recorder *next;
    struct link *to;
    struct group group[GROUPS];
    struct queue *queue; /* by rank */
    size_t n_queues, cap_queues, queued;
    struct {
        uint64_t comm;
        uint32_t seq;
    } first[COMMS]; /* a communicator's first complete collective; the trace has all later ones */
    size_t n_first;
    double since_s; /* of the first record; NaN: none yet */
    bool open;      /* records are written from now on */
    bool header;    /* written, with the first record */
    uint8_t *ranks; /* 1: the header names this rank */
    uint32_t n_ranks;
    char *text; /* lines not sent yet */
    size_t bytes, cap;
    uint64_t records, left_out;
};

static void send_object(struct recorder *r, json_t *o)
{
    if (r->to)
        link_send_json(r->to, o);
    json_decref(o);
}

/* A line longer than a frame, such as the header of many ranks, comes in pieces of whole characters. */
static void flush_lines(struct recorder *r)
{
    for (size_t at = 0, n; at < r->bytes; at += n) {
        json_t *o;

        n = r->bytes - at;
        if (n > CHUNK_BYTES)
            for (n = CHUNK_BYTES; n > 1 && ((unsigned char)r->text[at + n] & 0xc0) == 0x80;)
                n--;
        o = json_pack("{s:s%}", "trace", r->text + at, n);
        if (at + n < r->bytes)
            json_object_set_new(o, "more", json_true());
        send_object(r, o);
    }
    r->bytes = 0;
}

static void put_line(struct recorder *r, const char *line, size_t n)
{
    if (r->bytes + n > CHUNK_BYTES)
        flush_lines(r);
    r->text = xgrow(r->text, &r->cap, r->bytes + n + 1, 1);
    memcpy(r->text + r->bytes, line, n);
    r->bytes += n;
}

/* The switches above the one, as switches_add() takes them, unless they are there. */
static void add_switches(json_t *paths, const struct view *v, const char *name)
{
    char path[SWITCHES_PATH], between;
    json_t *one;
    size_t i;

    switches_path(view_switches(v), name, path);
    if (!strchr(path, '\n')) /* nothing is known above it: the ranks have its name */
        return;
    between = strchr(path, '.') ? ' ' : '.';
    for (char *c = path; *c; c++)
        *c = *c == '\n' ? between : *c;
    json_array_foreach(paths, i, one)
        if (!strcmp(json_string_value(one), path))
            return;
    json_array_append_new(paths, json_string(path));
}

/* The header is written with the first record, because the ranks are only known once a collective is complete
 * or the agents had time to report them. */
static void put_header(struct recorder *r, const struct job *j)
{
    unsigned adapters;
    double bytes_per_s = view_adapter_get(j->view, &adapters);
    json_t *ranks = json_array(), *switches = json_array(), *adapter = NULL, *header;
    char *text;

    r->header = true;
    r->n_ranks = view_rank_limit(j->view);
    r->ranks = xcalloc(r->n_ranks ? r->n_ranks : 1, sizeof(*r->ranks));
    for (uint32_t i = 0; i < r->n_ranks; i++) {
        struct view_rank_figures f;

        r->ranks[i] = view_rank_get(j->view, j->heard_s, i, &f);
        if (!r->ranks[i])
            continue;
        json_array_append_new(ranks, json_pack("{s:i,s:s,s:s*}", "rank", (int)i, "node", f.node, "switch",
                                               f.switch_name[0] ? f.switch_name : NULL));
        if (f.switch_name[0])
            add_switches(switches, j->view, f.switch_name);
    }
    if (!json_array_size(switches)) {
        json_decref(switches);
        switches = NULL;
    }
    if (adapters)
        adapter = json_pack("{s:f,s:i}", "bytes_per_s", bytes_per_s, "number", (int)adapters);
    header = json_pack("{s:s,s:i,s:s,s:o*,s:o*,s:o}", "format", "syncguard-trace", "version", 2, "job",
                       j->text_id, "adapter", adapter, "switches", switches, "ranks", ranks);
    text = json_dumps(header, JSON_COMPACT);
    put_line(r, text, strlen(text));
    put_line(r, "\n", 1);
    free(text);
    json_decref(header);
}

static bool is_named(const struct recorder *r, uint32_t rank)
{
    return rank < r->n_ranks && r->ranks[rank];
}

/* left false: the rank never left it. */
static void put_record(struct recorder *r, const struct job *j, const struct call *c, bool left)
{
    char line[400], label[64], leave[32] = "null", begin[40] = "", message[64] = "";
    int n;

    if (!r->header)
        put_header(r, j);
    if (!is_named(r, c->rank) ||
        (call_is_pairwise(c) && !is_named(r, c->peer))) { /* connected after the header was written */
        r->left_out++;
        return;
    }
    if (left)
        snprintf(leave, sizeof(leave), "%llu", (unsigned long long)c->leave_ns);
    if (call_is_nonblocking(c))
        snprintf(begin, sizeof(begin), "\"ti\":%llu,", (unsigned long long)c->begin_ns);
    if (call_is_message(c))
        snprintf(message, sizeof(message), "\"p\":%u,\"g\":%d,", c->peer, c->tag);
    else if (call_is_access(c))
        snprintf(message, sizeof(message), "\"rb\":%llu,\"p\":%u,", (unsigned long long)c->read_bytes,
                 c->peer);
    n = snprintf(line, sizeof(line),
                 "{\"r\":%u,\"c\":\"%s\",\"s\":%u,\"o\":\"%s\",\"b\":%llu,%s%s\"t0\":%llu,\"t1\":%s}\n",
                 c->rank, view_comm_label(j->view, c->comm, label, sizeof(label)), c->seq,
                 ring_op_name(c->op), (unsigned long long)c->bytes, message, begin,
                 (unsigned long long)c->enter_ns, leave);
    put_line(r, line, (size_t)n);
    r->records++;
}

/* ---- queues ---- */

static void queue_push(struct recorder *r, const struct call *c, uint32_t group)
{
    uint32_t rank = c->rank;
    struct queue *q;

    r->queue = xgrow(r->queue, &r->cap_queues, (size_t)rank + 1, sizeof(*r->queue));
    if (r->n_queues <= rank)
        r->n_queues = (size_t)rank + 1;
    q = &r->queue[rank];
    if (q->n == q->cap) {
        size_t cap = q->cap ? 2 * q->cap : 16;
        struct entry *more = xcalloc(cap, sizeof(*more));

        for (size_t i = 0; i < q->n; i++)
            more[i] = q->entry[(q->first + i) & (q->cap - 1)];
        free(q->entry);
        *q = (struct queue){ .entry = more, .n = q->n, .cap = cap };
    }
    q->entry[(q->first + q->n++) & (q->cap - 1)] = (struct entry){ *c, group };
    r->queued++;
}

/* Write a rank's records up to the first whose collective is still being collected. */
static void advance_rank(struct recorder *r, const struct job *j, uint32_t rank)
{
    struct queue *q = &r->queue[rank];

    while (r->open && q->n) {
        const struct entry *e = &q->entry[q->first];
        struct group *g = e->group == NO_GROUP ? NULL : &r->group[e->group];

        if (g && g->state == COLLECTING)
            return;
        if (!g || g->state == COMPLETE)
            put_record(r, j, &e->call, true);
        if (g && --g->queued == 0)
            g->state = UNUSED;
        q->first = (q->first + 1) & (q->cap - 1);
        q->n--;
        r->queued--;
    }
}

static void advance_all(struct recorder *r, const struct job *j)
{
    for (size_t i = 0; i < r->n_queues; i++)
        advance_rank(r, j, (uint32_t)i);
}

static void open_trace(struct recorder *r, const struct job *j)
{
    if (r->open)
        return;
    r->open = true;
    advance_all(r, j);
}

/* ---- collectives ---- */

static bool is_covered(const struct recorder *r, uint64_t comm, uint32_t seq)
{
    for (size_t i = 0; i < r->n_first; i++)
        if (r->first[i].comm == comm)
            return seq >= r->first[i].seq;
    return r->n_first == COMMS;
}

static void begin_recording(struct recorder *r, const struct call *c)
{
    for (size_t i = 0; i < r->n_first; i++)
        if (r->first[i].comm == c->comm)
            return;
    if (r->n_first == COMMS)
        return;
    r->first[r->n_first].comm = c->comm;
    r->first[r->n_first++].seq = c->seq;
}

/* The group's records follow those that its ranks left before. */
static void release_group(struct recorder *r, const struct job *j, struct group *g, enum group_state state)
{
    size_t n = g->n;

    g->state = state;
    /* The group may be unused after the last of its ranks. */
    for (size_t i = 0; i < n; i++)
        advance_rank(r, j, g->rank[i]);
}

/* A record is missing.  Before the first complete collective this is because some agents do not send calls
 * yet; such a collective is not part of the trace. */
static void release_incomplete(struct recorder *r, const struct job *j, struct group *g)
{
    release_group(r, j, g, is_covered(r, g->comm, g->seq) ? COMPLETE : DROPPED);
}

/* newer is complete.  A rank's collectives arrive in order, except nonblocking ones, so the records that
 * older ones of this communicator lack were lost. */
static void release_older(struct recorder *r, const struct job *j, const struct group *newer)
{
    for (;;) {
        struct group *oldest = NULL;

        for (struct group *g = r->group; g < r->group + GROUPS && (g->state || g->cap); g++)
            if (g->state == COLLECTING && g->comm == newer->comm && g->seq < newer->seq && !g->nonblocking &&
                (!oldest || g->seq < oldest->seq))
                oldest = g;
        if (!oldest)
            return;
        release_incomplete(r, j, oldest);
    }
}

/* Write all that waits, whatever it lacks. */
static void release_all(struct recorder *r, const struct job *j)
{
    for (struct group *g = r->group; g < r->group + GROUPS; g++)
        if (g->state == COLLECTING)
            g->state = is_covered(r, g->comm, g->seq) ? COMPLETE : DROPPED;
    open_trace(r, j);
    advance_all(r, j);
}

void recorder_start(struct job *j, struct link *to, json_t *tag)
{
    struct recorder *r = xcalloc(1, sizeof(*r));

    r->to = to;
    r->since_s = NAN;
    r->next = j->recorders;
    j->recorders = r;
    send_object(r, json_pack("{s:s,s:O*}", "recording", j->text_id, "tag", tag));
}

bool recording(const struct job *j)
{
    return j->recorders != NULL;
}

static struct group *group_get(struct recorder *r, const struct job *j, const struct call *c, double now_s)
{
    struct group *unused = NULL;

    for (int tries = 0; !unused; tries++) {
        if (tries)
            release_all(r, j);
        for (struct group *g = r->group; g < r->group + GROUPS; g++) {
            if (g->state == COLLECTING && g->comm == c->comm && g->seq == c->seq)
                return g;
            if (g->state == UNUSED && !unused)
                unused = g;
            if (g->state == UNUSED && !g->cap)
                break; /* this entry was never used, nor were those after it */
        }
    }
    unused->state = COLLECTING;
    unused->comm = c->comm;
    unused->seq = c->seq;
    unused->nonblocking = call_is_nonblocking(c);
    unused->since_s = now_s;
    unused->n = unused->queued = 0;
    return unused;
}

static void push_collective(struct recorder *r, const struct job *j, double now_s, const struct call *c)
{
    uint32_t members = view_comm_size(j->view, c->comm);
    struct group *g = group_get(r, j, c, now_s);

    g->rank = xgrow(g->rank, &g->cap, g->n + 1, sizeof(*g->rank));
    g->rank[g->n++] = c->rank;
    g->queued++;
    queue_push(r, c, (uint32_t)(g - r->group));
    if (!members || g->n < members)
        return;
    release_older(r, j, g);
    begin_recording(r, c);
    open_trace(r, j);
    release_group(r, j, g, COMPLETE);
}

void recorders_call(struct job *j, double now_s, const struct call *c)
{
    if (c->rank >= VIEW_RANKS_MAX || c->op == RING_OP_NONE)
        return;
    for (struct recorder *r = j->recorders; r; r = r->next) {
        if (r->to && link_pending_bytes(r->to) > SLOW_BYTES) {
            r->left_out++;
            continue;
        }
        if (isnan(r->since_s))
            r->since_s = now_s;
        if (r->queued >= QUEUED_MAX)
            release_all(r, j);
        if (!call_is_pairwise(c)) {
            push_collective(r, j, now_s, c);
            continue;
        }
        queue_push(r, c, NO_GROUP);
        advance_rank(r, j, c->rank);
    }
}

void recorders_tick(struct job *j, double now_s)
{
    for (struct recorder *r = j->recorders; r; r = r->next) {
        if (r->since_s + RECORD_WAIT_S < now_s)
            open_trace(r, j);
        for (struct group *g = r->group; g < r->group + GROUPS; g++)
            if (g->state == COLLECTING && g->since_s + RECORD_WAIT_S < now_s)
                release_incomplete(r, j, g);
        flush_lines(r);
    }
}

static void end_recording(struct job *j, struct recorder *r, const char *why)
{
    if (why) {
        /* The rest of incomplete collectives is still on its way: they belong after the end, and are not
         * lost. */
        open_trace(r, j);
        /* Ranks that are inside a collective: entered and not left.  Agents report the entry as an age, the
         * trace needs it by the node's clock, which the last batch's header has. */
        for (uint32_t i = 0; i < view_rank_limit(j->view); i++) {
            struct view_rank_figures f;
            struct call c;

            if (!view_rank_get(j->view, j->heard_s, i, &f) || f.inside_op == RING_OP_NONE ||
                f.inside_op == RING_OP_POINT_TO_POINT || f.inside_op == RING_OP_WAIT)
                continue;
            c = (struct call){ .rank = i,
                               .comm = f.inside_comm,
                               .enter_ns = view_rank_inside_ns(j->view, i),
                               .seq = f.inside_seq,
                               .op = (uint8_t)f.inside_op };
            put_record(r, j, &c, false);
        }
        if (!r->header)
            put_header(r, j);
        flush_lines(r);
        send_object(r, json_pack("{s:s,s:I,s:I}", "end", why, "records", (json_int_t)r->records, "left_out",
                                 (json_int_t)r->left_out));
    }
    for (struct group *g = r->group; g < r->group + GROUPS; g++)
        free(g->rank);
    for (size_t i = 0; i < r->n_queues; i++)
        free(r->queue[i].entry);
    free(r->queue);
    free(r->ranks);
    free(r->text);
    free(r);
}

void recorder_stop(struct job *j, struct link *to, const char *why)
{
    for (struct recorder **p = &j->recorders; *p;) {
        struct recorder *r = *p;

        if (r->to != to) {
            p = &r->next;
            continue;
        }
        *p = r->next;
        end_recording(j, r, why);
    }
}

void recorders_end(struct job *j, const char *why)
{
    while (j->recorders) {
        struct recorder *r = j->recorders;

        j->recorders = r->next;
        end_recording(j, r, why);
    }
}
