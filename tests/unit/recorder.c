/* The trace that a controller records of a running step can be read back, also when records were lost. */
#include <stdlib.h>

#include "common/xalloc.h"
#include "job/jobs.h"
#include "job/record.h"
#include "ring/ring.h"
#include "tests/tap.h"
#include "trace/reader.h"
#include "view/switches.h"
#include "view/view.h"
#include "wire/link.h"

/* ---- a link that keeps what is sent on it ---- */

static struct {
    char *trace;                /* content of the "trace" frames */
    size_t bytes, cap, longest; /* longest: of a frame */
    json_int_t left_out;
} sent;

int link_send(struct link *l, enum link_frame type, const void *data, size_t bytes)
{
    json_t *frame = json_loadb(data, bytes, 0, NULL);
    const json_t *trace = json_object_get(frame, "trace"), *left_out = json_object_get(frame, "left_out");
    size_t n = json_string_length(trace);

    (void)l;
    (void)type;
    sent.longest = bytes > sent.longest ? bytes : sent.longest;
    sent.trace = xgrow(sent.trace, &sent.cap, sent.bytes + n + 1, 1);
    if (n)
        memcpy(sent.trace + sent.bytes, json_string_value(trace), n + 1);
    sent.bytes += n;
    if (left_out)
        sent.left_out = json_integer_value(left_out);
    json_decref(frame);
    return 0;
}

size_t link_pending_bytes(const struct link *l)
{
    (void)l;
    return 0;
}

/* ---- a step of four ranks ---- */

#define RANKS 4u
#define WORLD 77u

static struct job *job_make(void)
{
    static const struct config_policy policy = { .min_slowdown_ratio = 1.02, .hang_timeout_s = 30 };
    struct job *j = job_new(&(struct job_id){ .job = 7 }, &policy, 0);

    snprintf(j->text_id, sizeof(j->text_id), "7.0");
    sent.bytes = sent.longest = 0;
    sent.left_out = 0;
    return j;
}

static void rank_begins(struct job *j, uint32_t rank)
{
    struct telemetry_item comm = {
        .kind = TELEMETRY_COMM,
        .comm = { .rank = rank, .name = WORLD, .size = RANKS, .comm_rank = rank, .last = RANKS - 1 }
    };

    view_rank_add(j->view, rank, 0, rank < 2 ? "a" : "b", NULL);
    view_item(j->view, 0, &comm);
}

static void leaves(struct job *j, uint32_t rank, uint32_t seq)
{
    struct call c = { .rank = rank,
                      .op = RING_OP_ALLREDUCE,
                      .comm = WORLD,
                      .seq = seq,
                      .bytes = 8,
                      .begin_ns = 1000000u * (seq + 1),
                      .enter_ns = 1000000u * (seq + 1),
                      .leave_ns = 1000000u * (seq + 1) + 1000 };

    recorders_call(j, seq * 1e-3, &c);
}

static struct trace_figures read_back(struct job *j)
{
    static const struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 30 };
    struct trace_reader *r = trace_reader_new(&params);
    struct trace_figures f;
    struct err err = { "" };

    recorders_end(j, "step ended");
    ok(trace_reader_feed(r, sent.trace, sent.bytes, &err) == 0 && trace_reader_finish(r, &err) == 0,
       "the recorded trace can be read %s", err.text);
    trace_reader_figures_get(r, &f);
    trace_reader_free(r);
    job_free(j);
    return f;
}

/* The line that names all ranks of a large job, in names of several bytes a character, has no room in a
 * frame. */
static void a_long_header(void)
{
    struct job *j = job_make();
    struct trace_figures f;

    for (uint32_t r = 0; r < RANKS; r++)
        rank_begins(j, r);
    for (uint32_t r = RANKS; r < 40000; r++)
        view_rank_add(j->view, r, 0, "näme-of-än-ordinäry-length", NULL);
    recorder_start(j, (struct link *)&sent, NULL);
    for (uint32_t r = 0; r < RANKS; r++)
        leaves(j, r, 0);
    f = read_back(j);
    ok(sent.longest <= 130u << 10 && sent.bytes > LINK_FRAME_MAX,
       "a long header: no frame is too long\n%zu bytes of %zu", sent.longest, sent.bytes);
    is_int((long long)f.records, RANKS, "a long header: the trace has all records");
}

/* A rank's third collective was dropped by its ring: only that one is missing in the trace. */
static void a_lost_record(void)
{
    struct job *j = job_make();
    struct trace_figures f;

    for (uint32_t r = 0; r < RANKS; r++)
        rank_begins(j, r);
    recorder_start(j, (struct link *)&sent, NULL);
    for (uint32_t r = 0; r < RANKS; r++) /* an agent reports several at a time */
        for (uint32_t seq = 0; seq < 8; seq++)
            if (r != 1 || seq != 3)
                leaves(j, r, seq);
    f = read_back(j);
    is_int((long long)f.records, RANKS * 8 - 1,
           "a lost record: the trace has all records that were reported");
    is_int((long long)f.lost, 1, "a lost record: the reader counts 1 lost");
    is_int((long long)f.reordered, 0, "a lost record: the other records are in order");
}

/* Recording starts with the step, before all agents have connected. */
static void ranks_that_come_later(void)
{
    struct job *j = job_make();
    struct trace_figures f;

    recorder_start(j, (struct link *)&sent, NULL);
    for (uint32_t r = 0; r < RANKS - 1; r++)
        rank_begins(j, r);
    for (uint32_t seq = 0; seq < 2; seq++)
        for (uint32_t r = 0; r < RANKS - 1; r++)
            leaves(j, r, seq);
    rank_begins(j, RANKS - 1);
    for (uint32_t seq = 2; seq < 4; seq++)
        for (uint32_t r = 0; r < RANKS; r++)
            leaves(j, r, seq);
    f = read_back(j);
    is_int(f.ranks, RANKS - 1,
           "a late rank: the header names the ranks that were known at the first complete collective");
    is_int((long long)f.records, (RANKS - 1) * 4,
           "a late rank: the trace has all records of the ranks in the header");
    is_int(sent.left_out, 2, "a late rank: its 2 records are left out and counted");
}

/* The switches above the lowest ones are in the header, each way once, and the reader has them. */
static void switches_above(const char *const way[2], const char *const leaf[2], const char *in_header,
                           const char *read)
{
    static const struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 30 };
    struct job *j = job_make();
    struct trace_reader *r = trace_reader_new(&params);
    struct err err = { "" };
    char path[SWITCHES_PATH];

    view_switches_add(j->view, way[0]);
    view_switches_add(j->view, way[1]);
    for (uint32_t i = 0; i < RANKS; i++) {
        rank_begins(j, i);
        view_rank_add(j->view, i, 0, i < 2 ? "a" : "b", leaf[i / 2]);
    }
    recorder_start(j, (struct link *)&sent, NULL);
    for (uint32_t i = 0; i < RANKS; i++)
        leaves(j, i, 0);
    recorders_end(j, "step ended");
    ok(strstr(sent.trace, in_header) != NULL, "switches %s: the header has each way once", way[0]);
    ok(trace_reader_feed(r, sent.trace, sent.bytes, &err) == 0 && trace_reader_finish(r, &err) == 0,
       "switches %s: the trace can be read %s", way[0], err.text);
    is_str(switches_path(view_switches(trace_reader_view(r)), leaf[1], path), read,
           "switches %s: the reader has those above a switch", way[0]);
    trace_reader_free(r);
    job_free(j);
}

static void passes(struct job *j, double now_s, uint32_t rank, uint8_t op, uint32_t peer, uint32_t seq)
{
    recorders_call(j, now_s,
                   &(struct call){ .rank = rank,
                                   .op = op,
                                   .flags = op == RING_OP_RECV ? RING_EVENT_NONBLOCKING : 0,
                                   .comm = WORLD,
                                   .seq = seq,
                                   .peer = peer,
                                   .tag = 5,
                                   .bytes = 64,
                                   .begin_ns = 10,
                                   .enter_ns = 20,
                                   .leave_ns = 30 });
}

/* Place of a text in the trace; SIZE_MAX: it is not there. */
static size_t place(const char *text)
{
    const char *at = strstr(sent.trace, text);

    return at ? (size_t)(at - sent.trace) : SIZE_MAX;
}

/* A message waits for the collective that its rank left before, and only for that. */
static void messages(void)
{
    struct job *j = job_make();

    for (uint32_t r = 0; r < RANKS; r++)
        rank_begins(j, r);
    recorder_start(j, (struct link *)&sent, NULL);
    passes(j, 0, 0, RING_OP_SEND, 1, 0);
    for (uint32_t r = 0; r < RANKS - 1; r++)
        leaves(j, r, 0);
    passes(j, 0, 0, RING_OP_SEND, 1, 1);
    passes(j, 0, 3, RING_OP_RECV, 2, 0);
    leaves(j, 3, 0);
    passes(j, 0, 9, RING_OP_SEND, 1, 0); /* no rank of the job */
    recorders_end(j, "step ended");
    ok(place("\"version\":2") != SIZE_MAX, "messages: the trace is of version 2");
    ok(place(
           "{\"r\":0,\"c\":\"world\",\"s\":0,\"o\":\"send\",\"b\":64,\"p\":1,\"g\":5,\"t0\":20,\"t1\":30}") <
           place("\"r\":0,\"c\":\"world\",\"s\":0,\"o\":\"allreduce\""),
       "messages: one that was left before a collective stands before it");
    ok(place("\"r\":0,\"c\":\"world\",\"s\":0,\"o\":\"allreduce\"") <
               place("\"r\":0,\"c\":\"world\",\"s\":1,\"o\":\"send\"") &&
           place("\"r\":0,\"c\":\"world\",\"s\":1,\"o\":\"send\"") != SIZE_MAX,
       "messages: one that was left after a collective stands behind it");
    ok(place(
           "\"r\":3,\"c\":\"world\",\"s\":0,\"o\":\"recv\",\"b\":64,\"p\":2,\"g\":5,\"ti\":10,\"t0\":20,\"t1\":30}") <
           place("\"r\":3,\"c\":\"world\",\"s\":0,\"o\":\"allreduce\""),
       "messages: a nonblocking one has the time when it was posted");
    is_int(sent.left_out, 1, "messages: one of an unknown rank is left out and counted");
    job_free(j);
}

/* A job without collectives is recorded, once its ranks had time to report. */
static void messages_alone(void)
{
    struct job *j = job_make();

    for (uint32_t r = 0; r < RANKS; r++)
        rank_begins(j, r);
    recorder_start(j, (struct link *)&sent, NULL);
    passes(j, 0, 0, RING_OP_SEND, 1, 0);
    recorders_tick(j, 1);
    is_int((long long)sent.bytes, 0, "messages alone: nothing is written in the first second");
    recorders_tick(j, RECORD_WAIT_S + 1);
    ok(sent.bytes && place("\"o\":\"send\"") != SIZE_MAX, "messages alone: they are written after that");
    recorders_end(j, "step ended");
    job_free(j);
}

/* A nonblocking collective was posted at ti, and held the rank from t0. */
static void nonblocking(void)
{
    struct job *j = job_make();

    for (uint32_t r = 0; r < RANKS; r++)
        rank_begins(j, r);
    recorder_start(j, (struct link *)&sent, NULL);
    for (uint32_t r = 0; r < RANKS; r++)
        recorders_call(j, 0,
                       &(struct call){ .rank = r,
                                       .op = RING_OP_ALLREDUCE,
                                       .flags = RING_EVENT_NONBLOCKING,
                                       .comm = WORLD,
                                       .begin_ns = 1000,
                                       .enter_ns = 1400,
                                       .leave_ns = 1500 });
    recorders_end(j, "step ended");
    ok(place("\"ti\":1000,\"t0\":1400,\"t1\":1500}") != SIZE_MAX,
       "a nonblocking collective: ti is when it was posted, t0 when it began to hold the rank");
    job_free(j);
}

static void nothing_at_all(void)
{
    struct job *j = job_make();
    struct trace_figures f;

    rank_begins(j, 0);
    recorder_start(j, (struct link *)&sent, NULL);
    f = read_back(j);
    ok(f.header && f.ranks == 1 && !f.records && !strcmp(f.job, "7.0"),
       "a recording without any collective has a header and no records");
}

int main(void)
{
    if (!SANITIZED) /* a megabyte of names, letter by letter, takes one a quarter of an hour */
        a_long_header();
    a_lost_record();
    ranks_that_come_later();
    switches_above((const char *const[]){ "core.spine0.leaf0", "core.spine1.leaf1" },
                   (const char *const[]){ "leaf0", "leaf1" },
                   "\"switches\":[\"core.spine0.leaf0\",\"core.spine1.leaf1\"]", "core\nspine1\nleaf1");
    switches_above((const char *const[]){ "core s.0 l.0", "core s.1 l.1" },
                   (const char *const[]){ "l.0", "l.1" }, "\"switches\":[\"core s.0 l.0\",\"core s.1 l.1\"]",
                   "core\ns.1\nl.1");
    /* With one level only the ranks have the name. */
    switches_above((const char *const[]){ "rack.0 ", "rack.1 " }, (const char *const[]){ "rack.0", "rack.1" },
                   "\"ranks\":", "rack.1");
    messages();
    messages_alone();
    nonblocking();
    nothing_at_all();
    free(sent.trace);
    return done_testing();
}
