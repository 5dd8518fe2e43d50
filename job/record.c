#include "job/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "job/job.h"
#include "ring/ring.h"
#include "wire/link.h"

#define GROUPS      1024u       /* collectives whose records are being collected */
#define CHUNK_BYTES (64u << 10) /* of lines in a frame */
#define COMMS       256u
#define SLOW_BYTES  (4u << 20) /* records are left out while more than this waits to be sent */

struct group {
    bool used;
    uint64_t comm;
    uint32_t seq;
    double since_s;
    struct sample *sample;
    size_t n, cap;
};

struct recorder {
    struct recorder *next;
    struct link *to;
    struct group group[GROUPS];
    struct {
        uint64_t comm;
        uint32_t seq;
    } first[COMMS]; /* a communicator's first complete collective; the trace has all later ones */
    size_t n_first;
    bool header;    /* written, with the first record */
    uint8_t *ranks; /* 1: the header names this rank */
    uint32_t n_ranks;
    char *text; /* lines not sent yet */
    size_t bytes, cap;
    uint64_t records, left_out;
};

static void send_object(struct recorder *r, json_t *o)
{
    char *text = json_dumps(o, JSON_COMPACT);

    if (r->to && text)
        link_send(r->to, LINK_JSON, text, strlen(text));
    free(text);
    json_decref(o);
}

static void flush(struct recorder *r)
{
    if (!r->bytes)
        return;
    send_object(r, json_pack("{s:s%}", "trace", r->text, r->bytes));
    r->bytes = 0;
}

static void put_line(struct recorder *r, const char *line, size_t n)
{
    if (r->bytes + n > CHUNK_BYTES)
        flush(r);
    r->text = xgrow(r->text, &r->cap, r->bytes + n + 1, 1);
    memcpy(r->text + r->bytes, line, n);
    r->bytes += n;
}

static json_t *adapter_json(const struct view *v)
{
    unsigned number;
    double bytes_per_s = view_adapter_get(v, &number);

    return number ? json_pack("{s:f,s:i}", "bytes_per_s", bytes_per_s, "number", (int)number) : NULL;
}

/* The header is written with the first record, because the ranks are only known once a collective is complete. */
static void put_header(struct recorder *r, const struct job *j)
{
    json_t *ranks = json_array(), *header;
    char *text;

    r->header = true;
    r->n_ranks = view_rank_limit(j->view);
    r->ranks = xcalloc(r->n_ranks ? r->n_ranks : 1, sizeof(*r->ranks));
    for (uint32_t i = 0; i < r->n_ranks; i++) {
        struct view_rank_figures f;

        r->ranks[i] = view_rank_get(j->view, j->heard_s, i, &f);
        if (r->ranks[i])
            json_array_append_new(ranks, json_pack("{s:i,s:s,s:s*}", "rank", (int)i, "node", f.node, "switch",
                                                   f.switch_name[0] ? f.switch_name : NULL));
    }
    header = json_pack("{s:s,s:i,s:s,s:o*,s:o}", "format", "syncguard-trace", "version", 1, "job", j->text_id,
                       "adapter", adapter_json(j->view), "ranks", ranks);
    text = json_dumps(header, JSON_COMPACT);
    put_line(r, text, strlen(text));
    put_line(r, "\n", 1);
    free(text);
    json_decref(header);
}

static void put_record(struct recorder *r, const struct job *j, uint32_t rank, uint64_t comm, uint32_t seq,
                       uint8_t op, uint64_t bytes, uint64_t t0, const uint64_t *t1)
{
    char line[320], label[64], leave[32] = "null";
    int n;

    if (!r->header)
        put_header(r, j);
    if (rank >= r->n_ranks || !r->ranks[rank]) { /* it connected after the header was written */
        r->left_out++;
        return;
    }
    if (t1)
        snprintf(leave, sizeof(leave), "%llu", (unsigned long long)*t1);
    n = snprintf(line, sizeof(line),
                 "{\"r\":%u,\"c\":\"%s\",\"s\":%u,\"o\":\"%s\",\"b\":%llu,\"t0\":%llu,\"t1\":%s}\n", rank,
                 view_comm_label(j->view, comm, label, sizeof(label)), seq, ring_op_name(op),
                 (unsigned long long)bytes, (unsigned long long)t0, leave);
    put_line(r, line, (size_t)n);
    r->records++;
}

static bool is_covered(const struct recorder *r, uint64_t comm, uint32_t seq)
{
    for (size_t i = 0; i < r->n_first; i++)
        if (r->first[i].comm == comm)
            return seq >= r->first[i].seq;
    return r->n_first == COMMS;
}

static void begin(struct recorder *r, const struct sample *s)
{
    for (size_t i = 0; i < r->n_first; i++)
        if (r->first[i].comm == s->comm)
            return;
    if (r->n_first == COMMS)
        return;
    r->first[r->n_first].comm = s->comm;
    r->first[r->n_first++].seq = s->seq;
}

static void drop_group(struct group *g)
{
    g->used = false;
    g->n = 0;
}

static void put_group(struct recorder *r, const struct job *j, struct group *g)
{
    for (size_t i = 0; i < g->n; i++) {
        const struct sample *s = &g->sample[i];
        uint64_t t1 = s->enter_ns + s->stay_ns;

        put_record(r, j, s->rank, s->comm, s->seq, s->op, s->bytes, s->enter_ns, &t1);
    }
    drop_group(g);
}

/* Write a collective of which a record is missing.  Before the first complete one this is because agents still
 * send blocks; such a collective is not part of the trace. */
static void put_incomplete(struct recorder *r, const struct job *j, struct group *g)
{
    if (is_covered(r, g->comm, g->seq))
        put_group(r, j, g);
    else
        drop_group(g);
}

static bool overtaken(const struct group *g, const struct group *by)
{
    return g->used && g->comm == by->comm && g->seq < by->seq && !(g->sample[0].flags & SAMPLE_NONBLOCKING);
}

/* newer is complete.  A rank's collectives arrive in order, except nonblocking ones, so the records that older ones
 * of this communicator lack were lost.  The older ones are written first, to keep the trace in order. */
static void put_older(struct recorder *r, const struct job *j, const struct group *newer)
{
    for (;;) {
        struct group *oldest = NULL;

        for (struct group *g = r->group; g < r->group + GROUPS && (g->used || g->cap); g++)
            if (overtaken(g, newer) && (!oldest || g->seq < oldest->seq))
                oldest = g;
        if (!oldest)
            return;
        put_incomplete(r, j, oldest);
    }
}

void recorder_start(struct job *j, struct link *to, json_t *tag)
{
    struct recorder *r = xcalloc(1, sizeof(*r));

    r->to = to;
    r->next = j->recorders;
    j->recorders = r;
    send_object(r, json_pack("{s:s,s:O*}", "recording", j->text_id, "tag", tag));
}

bool recording(const struct job *j)
{
    return j->recorders != NULL;
}

static struct group *group_get(struct recorder *r, const struct job *j, const struct sample *s, double now_s)
{
    struct group *oldest = NULL, *unused = NULL;

    for (struct group *g = r->group; g < r->group + GROUPS; g++) {
        if (g->used && g->comm == s->comm && g->seq == s->seq)
            return g;
        if (!g->used)
            unused = unused ? unused : g;
        else if (!oldest || g->since_s < oldest->since_s)
            oldest = g;
        if (!g->used && !g->cap)
            break; /* this entry was never used, nor were those after it */
    }
    if (!unused) {
        put_incomplete(r, j, oldest);
        unused = oldest;
    }
    unused->used = true;
    unused->comm = s->comm;
    unused->seq = s->seq;
    unused->since_s = now_s;
    return unused;
}

void recorders_sample(struct job *j, double now_s, const struct sample *s)
{
    uint32_t members = view_comm_size(j->view, s->comm);

    /* Until the agents know of the recording they send blocks, which do not contain every collective. */
    if (s->n != 1 || (s->flags & SAMPLE_WHOLE))
        return;
    for (struct recorder *r = j->recorders; r; r = r->next) {
        struct group *g;

        if (r->to && link_pending_bytes(r->to) > SLOW_BYTES) {
            r->left_out++;
            continue;
        }
        g = group_get(r, j, s, now_s);
        g->sample = xgrow(g->sample, &g->cap, g->n + 1, sizeof(*g->sample));
        g->sample[g->n++] = *s;
        if (!members || g->n < members)
            continue;
        put_older(r, j, g);
        begin(r, s);
        put_group(r, j, g);
    }
}

void recorders_tick(struct job *j, double now_s)
{
    for (struct recorder *r = j->recorders; r; r = r->next) {
        for (struct group *g = r->group; g < r->group + GROUPS; g++)
            if (g->used && g->since_s + RECORD_WAIT_S < now_s)
                put_incomplete(r, j, g);
        flush(r);
    }
}

/* Ranks that are inside a collective: entered and not left.  Agents report the entry as an age, the trace needs it
 * by the node's clock, which the last batch's header has. */
static void put_inside(struct recorder *r, const struct job *j)
{
    for (uint32_t i = 0; i < view_rank_limit(j->view); i++) {
        struct view_rank_figures f;
        uint64_t enter_ns;

        if (!view_rank_get(j->view, j->heard_s, i, &f) || f.inside_op == RING_OP_NONE ||
            f.inside_op == RING_OP_POINT_TO_POINT || f.inside_op == RING_OP_WAIT)
            continue;
        enter_ns = view_rank_inside_ns(j->view, i);
        put_record(r, j, i, f.inside_comm, f.inside_seq, f.inside_op, 0, enter_ns, NULL);
    }
}

static void recorder_free(struct recorder *r)
{
    for (struct group *g = r->group; g < r->group + GROUPS; g++)
        free(g->sample);
    free(r->ranks);
    free(r->text);
    free(r);
}

static void end(struct job *j, struct recorder *r, const char *why)
{
    if (why) {
        /* The rest of incomplete collectives is still on its way: they belong after the end, and are not lost. */
        put_inside(r, j);
        if (!r->header)
            put_header(r, j);
        flush(r);
        send_object(r, json_pack("{s:s,s:I,s:I}", "end", why, "records", (json_int_t)r->records, "left_out",
                                 (json_int_t)r->left_out));
    }
    recorder_free(r);
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
        end(j, r, why);
    }
}

void recorders_end(struct job *j, const char *why)
{
    while (j->recorders) {
        struct recorder *r = j->recorders;

        j->recorders = r->next;
        end(j, r, why);
    }
}
