/* One step as a picture: steps by hand, whose critical path is known. */
#include "calls/picture.h"

#include <math.h>
#include <string.h>

#include "tests/graph_calls.h"
#include "tests/tap.h"

#define STEPS 12u

static struct graph *graph_of(uint32_t ranks)
{
    struct graph *g = graph_new();

    for (uint32_t r = 0; r < ranks; r++)
        graph_rank(g, r, r % 2);
    return g;
}

static void step_ends(struct graph *g, uint32_t ranks, uint32_t number)
{
    for (uint32_t r = 0; r < ranks; r++)
        graph_step_end(g, r, number);
}

/* "work 0 30, transfer 0>1 1": kind, ranks and milliseconds. */
static const char *path_of(const struct picture *p)
{
    static char text[512];
    size_t at = 0;

    for (size_t i = 0; i < p->n_pieces; i++) {
        const struct picture_piece *x = &p->piece[i];
        double ms = (x->end_s - x->begin_s) * 1e3;

        if (x->rank == x->from)
            at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s %lld %.1f", i ? ", " : "",
                                   picture_kind_name(x->kind), (long long)x->rank, ms);
        else
            at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s %lld>%lld %.1f", i ? ", " : "",
                                   picture_kind_name(x->kind), (long long)x->from, (long long)x->rank, ms);
    }
    return text;
}

static const char *lane_of(const struct picture *p, size_t row)
{
    static char text[512];
    size_t at = 0;

    text[0] = '\0';
    for (size_t i = 0; i < p->row[row].n; i++) {
        const struct picture_segment *x = &p->segment[p->row[row].first + i];

        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s %.1f", i ? ", " : "",
                               picture_kind_name(x->kind), (x->end_s - x->begin_s) * 1e3);
    }
    return text;
}

static void like_end(const char *text, const char *end, const char *what)
{
    size_t n = strlen(text), m = strlen(end);

    ok(n >= m && !strcmp(text + n - m, end), "%s: %s", what, text);
}

/* Rank 0 works 10 ms, rank 1 works 30 ms, then both meet for 1 ms. */
static void a_slow_rank(void)
{
    struct graph *g = graph_of(2);
    struct picture *p;

    for (uint32_t i = 0; i < STEPS; i++) {
        double now_s = i * 0.031;

        collective(g, 0, i, now_s + 0.010, now_s + 0.031);
        collective(g, 1, i, now_s + 0.030, now_s + 0.031);
        step_ends(g, 2, i + 1);
    }
    graph_finish(g);
    p = picture_of_calls(g, 0, 2, 8);
    is_str(path_of(p), "work 1 30.0, transfer 1 1.0",
           "a slow rank: the path is its work and the transfer that it began");
    is_str(lane_of(p, 0), "work 10.0, wait 20.0, transfer 1.0",
           "the other rank works, waits until the slow one has arrived, and takes part in the transfer");
    is_str(lane_of(p, 1), "work 30.0, transfer 1.0", "the slow rank waits for nobody");
    is_near(p->duration_s, 0.031, 1e-3, "a step lasts from the end of the step before to its own");
    is_near(p->row[1].peers_s, 0.010, 1e-3, "beside the slow rank's work stands that of its peers");
    snprintf(p->part[0].node, sizeof(p->part[0].node), "n1");
    picture_describe(p);
    is_str(p->text, "30.0 ms is work of r1 on n1 (its peers work 10.0 ms); 1.00 ms is transfers",
           "a slow rank: the text has its work, its peers' and the transfer");
    picture_free(p);
    graph_free(g);
}

/* As before, but at last rank 0 leaves 10 ms after rank 1: something keeps it inside of the call. */
static void a_late_leaver(void)
{
    struct graph *g = graph_of(2);
    struct picture *p;

    for (uint32_t i = 0; i < STEPS; i++) {
        double now_s = i * 0.031;

        collective(g, 0, i, now_s + 0.010, now_s + (i == STEPS - 1 ? 0.041 : 0.031));
        collective(g, 1, i, now_s + 0.030, now_s + 0.031);
        step_ends(g, 2, i + 1);
    }
    graph_finish(g);
    p = picture_of_calls(g, 0, 2, 8);
    like_end(path_of(p), "call 0 10.0", "a rank that leaves late: the path ends inside of its call");
    is_near(p->row[0].call_s, 0.010, 0.01,
            "its time in the call after the transfer is not counted as transfer");
    picture_describe(p);
    ok(strstr(p->text, "10.0 ms is inside calls whose transfer was over, 10.0 ms of it of r0"),
       "the text names who stays inside of calls: %s", p->text);
    picture_free(p);
    graph_free(g);
}

/* Rank 0 works 20 ms and sends, rank 1 works `busy_s`, receives, works 5 ms; both meet at the end. */
static struct picture *pipeline(double transfer_s, double busy_s)
{
    struct graph *g = graph_of(2);
    struct picture *p;
    double now_s = 0;

    for (uint32_t i = 0; i < STEPS; i++) {
        double received_s = fmax(0.020 + transfer_s, busy_s + 1e-6), end_s = received_s + 0.005 + 0.001;

        message(g, RING_OP_SEND, 0, 1, i, now_s + 0.020, now_s + 0.0201);
        message(g, RING_OP_RECV, 1, 0, i, now_s + busy_s, now_s + received_s);
        collective(g, 0, i, now_s + 0.0201, now_s + end_s);
        collective(g, 1, i, now_s + end_s - 0.001, now_s + end_s);
        step_ends(g, 2, i + 1);
        now_s += end_s;
    }
    graph_finish(g);
    p = picture_of_calls(g, 0, 2, 8);
    graph_free(g);
    return p;
}

static void messages(void)
{
    struct picture *p = pipeline(0.008, 0);

    is_str(path_of(p), "work 0 20.0, transfer 0>1 8.0, work 1 5.0, transfer 1 1.0",
           "a slow message: the path leads over it from its sender to its receiver");
    is_int(p->n_messages, 1, "the picture has the message");
    ok(p->message[0].on_path && p->message[0].from == 0 && p->message[0].to == 1,
       "the message is marked as one of the critical path");
    ok(near(p->message[0].sent_s, 0.020, 0.01) && near(p->message[0].received_s, 0.028, 0.01),
       "it was sent after 20 ms and received after 28 ms\n%g, %g", p->message[0].sent_s,
       p->message[0].received_s);
    is_near(p->message[0].held_s, 0.028, 0.01, "its receiver waited for it from the beginning");
    is_str(lane_of(p, 1), "wait 20.0, transfer 8.0, work 5.0, transfer 1.0",
           "the receiver waits for the sender, then for the transfer, and works");
    picture_describe(p);
    is_str(
        p->text,
        "25.0 ms is work of 2 ranks, 20.0 ms of it of r0; 9.00 ms is transfers, 8.00 ms of them from r0 to r1",
        "a slow message: the text names the pair of ranks");
    picture_free(p);

    p = pipeline(0.008, 0.040);
    is_str(path_of(p), "work 1 45.0, transfer 1 1.0",
           "a hidden message is not on the path: its receiver was busy until long after it came");
    ok(p->n_messages == 1 && !p->message[0].on_path, "a hidden message is in the picture, and not marked");
    picture_free(p);
}

/* The record of a call of rank 1 is missing in every step: the time before the next may hold that call. */
static void missing(void)
{
    struct graph *g = graph_of(2);
    struct picture *p;

    for (uint32_t i = 0; i < STEPS; i++) {
        double now_s = i * 0.031;

        collective(g, 0, i, now_s + 0.010, now_s + 0.031);
        graph_lost(g, 1);
        collective(g, 1, i, now_s + 0.030, now_s + 0.031);
        step_ends(g, 2, i + 1);
    }
    graph_finish(g);
    p = picture_of_calls(g, 0, 2, 8);
    is_str(path_of(p), "unknown 1 30.0, transfer 1 1.0",
           "where a call is missing, the path is unknown, not work");
    ok(isnan(p->row[1].work_s), "the work of a rank of which a call is missing is not known");
    picture_free(p);
    graph_free(g);
}

/* Many ranks in pairs: each sends to its neighbour and all meet; 777 is slow. */
static void many_ranks(void)
{
    enum { RANKS = 1000, SLOW = 777 };
    struct graph *g = graph_of(RANKS);
    struct picture *p;
    bool has_slow = false, ascending = true, roles[8] = { false };

    for (uint32_t i = 0; i < 4; i++) {
        double now_s = i * 0.050;

        for (uint32_t r = 0; r < RANKS; r += 2) {
            double work_s = r + 1 == SLOW ? 0.030 : 0.010;

            message(g, RING_OP_SEND, r, r + 1, i, now_s + 0.005, now_s + 0.0051);
            message(g, RING_OP_RECV, r + 1, r, i, now_s, now_s + 0.006);
            collective(g, r, i, now_s + 0.010, now_s + 0.050);
            collective(g, r + 1, i, now_s + 0.006 + work_s, now_s + 0.050);
        }
        step_ends(g, RANKS, i + 1);
    }
    graph_finish(g);
    p = picture_of_calls(g, 0, RANKS, 16);
    is_int(p->n_rows, 16, "of many ranks as many rows as are asked for are drawn");
    is_int(p->ranks, RANKS, "the picture has the number of all ranks");
    for (size_t i = 0; i < p->n_rows; i++) {
        has_slow = has_slow || p->row[i].rank == SLOW;
        ascending = ascending && (!i || p->row[i - 1].rank < p->row[i].rank);
        if (p->row[i].role >= 0 && p->row[i].role < 8)
            roles[p->row[i].role] = true;
    }
    ok(has_slow, "the slow rank has a row");
    ok(ascending, "rows are in the order of the ranks");
    ok(p->roles == 2 && roles[0] && roles[1], "each of the two roles has a row");
    is_int(p->messages, RANKS / 2, "all messages are counted");
    ok(p->n_messages == RANKS / 2 && p->message[0].on_path, "those of the critical path come first");
    picture_free(p);
    p = picture_of_calls(g, 0, RANKS, 5000);
    is_int(p->n_rows, PICTURE_ROWS_MAX, "there are never more rows than a picture can have");
    picture_free(p);
    graph_free(g);
}

/* The share of a kind in a row's segments. */
static double share_of(const struct picture *p, size_t row, enum path_kind kind)
{
    double part_s = 0, all_s = 0;

    for (size_t i = 0; i < p->row[row].n; i++) {
        const struct picture_segment *x = &p->segment[p->row[row].first + i];

        all_s += x->end_s - x->begin_s;
        part_s += x->kind == kind ? x->end_s - x->begin_s : 0;
    }
    return part_s / all_s;
}

/* A step of very many short calls: segments and path are bounded, and their ends stay. */
static void many_calls(void)
{
    enum { CALLS = 2000 };
    struct graph *g = graph_of(2);
    struct picture *p;
    double now_s = 0;

    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t c = 0; c < CALLS; c++) {
            collective(g, 0, i * CALLS + c, now_s + (c % 2 ? 1e-4 : 3e-4), now_s + 4e-4);
            collective(g, 1, i * CALLS + c, now_s + (c % 2 ? 3e-4 : 1e-4), now_s + 4e-4);
            now_s += 4e-4;
        }
        step_ends(g, 2, i + 1);
    }
    graph_finish(g);
    p = picture_of_calls(g, 0, 2, 8);
    ok(p->row[0].coarse && p->row[0].n <= PICTURE_ROW_SEGMENTS && p->row[0].n > 0,
       "a row of many segments is drawn coarsely\n%zu", p->row[0].n);
    ok(p->n_pieces <= PICTURE_PIECES_MAX && p->n_pieces > 0, "the drawn path is bounded\n%zu", p->n_pieces);
    is_near(p->piece[p->n_pieces - 1].end_s, CALLS * 4e-4, 1e-3,
            "a bounded path still ends where the step does");
    is_near(share_of(p, 0, PATH_WAIT), 0.25, 0.05, "a coarse row keeps the shares of its kinds");
    is_near(p->path_s[PATH_WORK], CALLS * 3e-4, 1e-2, "the path's times are those of all its pieces");
    picture_free(p);
    graph_free(g);
}

/* Two ranks of one node that only pass messages: the first begins a step while the second ends the one
 * before. */
static void overlapping_steps(void)
{
    struct graph *g = graph_new();
    struct picture *p;

    graph_rank(g, 0, 0);
    graph_rank(g, 2, 0);
    for (uint32_t i = 0; i < STEPS; i++) {
        double now_s = i * 0.020;

        message(g, RING_OP_SEND, 0, 2, i, now_s + 0.019, now_s + 0.020);
        message(g, RING_OP_RECV, 2, 0, i, now_s + 0.018, now_s + 0.021);
        message(g, RING_OP_SEND, 2, 0, i, now_s + 0.036, now_s + 0.037);
        graph_step_end(g, 0, i + 1);
        graph_step_end(g, 2, i + 1);
    }
    graph_finish(g);
    p = picture_of_calls(g, 0, 3, 8);
    is_near(p->duration_s, 0.020, 0.01, "overlapping steps: one takes 20 ms");
    is_near(p->span_s, 0.037, 0.01, "overlapping steps: from its first beginning to its end it is 37 ms");
    picture_describe(p);
    ok(strstr(p->text, "It spans 37.0 ms, partly beside the step before: 34.0 ms is work of 2 ranks") ==
           p->text,
       "overlapping steps: the text says so: %s", p->text);
    picture_free(p);
    graph_free(g);
}

static void of_sums(void)
{
    static const float own_s[] = { 0.010f, 0.030f, NAN, 0.012f };
    struct work *w = work_new();
    struct picture *p = picture_of_work(w, 7, 8);

    ok(!p, "without a step there is no picture");
    for (uint32_t r = 0; r < 4; r++)
        work_place(w, r, r, WORK_PLACE_NONE);
    work_take(w, 1, own_s, 4, 0.033, 0.001);
    p = picture_of_work(w, 7, 8);
    is_int(p->basis, PICTURE_OF_SUMS, "sums: the picture says what it stands on");
    is_int(p->n_rows, 3, "sums: a rank of which nothing is known has no row");
    is_str(path_of(p), "work 1 30.0, wait 1 2.0, transfer 1 1.0",
           "sums: the path is the slowest rank's work, what is waiting in turn, and the transfer");
    is_str(lane_of(p, 0), "work 10.0, wait 22.0, transfer 1.0", "sums: the others wait for the slowest");
    picture_free(p);
    work_free(w);
}

int main(void)
{
    a_slow_rank();
    a_late_leaver();
    messages();
    missing();
    many_ranks();
    many_calls();
    overlapping_steps();
    of_sums();
    return done_testing();
}
