/* Who is in a communicator of which each member says only its own place, and which ranks of the job messages
 * connect that name places in it. */
#include "ring/ring.h"
#include "tests/tap.h"
#include "view/comms.h"
#include "view/figures.h"
#include "view/view.h"

enum { RANKS = 4 };
static const uint64_t comm = 0xc0ffee;
static struct view *view;
static double now_s;

static void start(void)
{
    static const struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 30 };

    now_s = 10;
    view = view_new(&params, now_s);
    for (uint32_t r = 0; r < RANKS; r++)
        view_rank_add(view, r, 0, "node", NULL);
}

static void put(struct telemetry_item item)
{
    view_item(view, now_s, &item);
}

static void describe_as(uint64_t name, uint32_t size, uint32_t rank, uint32_t place, uint32_t flags)
{
    put((struct telemetry_item){ .kind = TELEMETRY_COMM,
                                 .comm = { .rank = rank,
                                           .name = name,
                                           .membership = name,
                                           .size = size,
                                           .comm_rank = place,
                                           .last = RANKS - 1,
                                           .flags = flags } });
}

static void describe(uint64_t name, uint32_t size, uint32_t rank, uint32_t place)
{
    describe_as(name, size, rank, place, RING_COMM_BOUNDED);
}

static void frees(uint64_t name, uint32_t rank)
{
    put((struct telemetry_item){ .kind = TELEMETRY_COMM_END, .comm_end = { .rank = rank, .name = name } });
}

static struct call message(uint64_t name, uint32_t from, uint32_t place)
{
    return (struct call){ .rank = from,
                          .op = RING_OP_SEND,
                          .flags = RING_EVENT_MEMBER,
                          .comm = name,
                          .peer = place,
                          .bytes = 8,
                          .begin_ns = 1000,
                          .enter_ns = 1000,
                          .leave_ns = 2000 };
}

/* The rank that a message of `from`, in a process of that number, to a place goes to; -1: that is not known.
 */
static int goes_to_of(uint64_t name, uint32_t from, uint32_t place, uint16_t app)
{
    struct call c = message(name, from, place);

    c.app = app;
    return view_call_place(view, &c) && !(c.flags & RING_EVENT_MEMBER) ? (int)c.peer : -1;
}

static int goes_to(uint64_t name, uint32_t from, uint32_t place)
{
    return goes_to_of(name, from, place, 0);
}

static const char *label(uint64_t name)
{
    static char buf[64];

    return view_comm_label(view, name, buf, sizeof(buf));
}

static struct view_figures figures(void)
{
    struct view_figures f;

    view_figures_get(view, now_s, &f);
    return f;
}

static void late_members(void)
{
    uint64_t refused;

    start();
    is_int(goes_to(comm, 1, 1), -1, "of a communicator that nobody described no place is known");
    describe(comm, 2, 1, 0);
    is_int(goes_to(comm, 1, 1), -1, "a member that has not described itself is not known");
    is_int(goes_to(comm, 3, 0), -1, "nor is another one, before all are: it could be another's of that name");
    is_str(label(comm), "0000000000c0ffee", "until then the communicator has its name alone");
    put((struct telemetry_item){ .kind = TELEMETRY_CALL, .call = message(comm, 1, 1) });
    is_int((long long)figures().messages_unplaced, 4, "messages to places that are not known are counted");
    describe(comm, 2, 3, 1);
    is_int(goes_to(comm, 1, 1), 3, "once the last member has come, a place is its rank");
    is_int(goes_to(comm, 3, 0), 1, "and so is the place of the first one");
    is_int(goes_to(comm, 3, 2), -1, "a place that it does not have is none");
    is_str(label(comm), "2@1", "the communicator is labelled by its true first rank");
    is_int(goes_to_of(comm, 1, 5, 7), -1, "a late message of a process before this rank's goes nowhere");
    is_int((long long)figures().messages_unplaced, 5, "and is not counted as one of the rank's");
    refused = figures().refused;
    put((struct telemetry_item){ .kind = TELEMETRY_CALL, .call = message(comm, 1, 1) });
    ok(figures().messages_unplaced == 5 && figures().refused == refused,
       "a message to a rank that is known is taken");
    describe(comm, 2, 1, 0);
    is_int(goes_to(comm, 3, 0), 1, "members that describe themselves once more change nothing");
    view_rank_end(view, 3, 0, false);
    is_int(goes_to(comm, 1, 1), 3, "a rank that has ended keeps its place: messages to it may come late");
    view_free(view);
}

static void never_described(void)
{
    start();
    describe(comm, 3, 0, 0);
    describe(comm, 3, 2, 2);
    ok(goes_to(comm, 0, 2) == -1 && goes_to(comm, 0, 1) == -1,
       "while one member never describes itself, no message finds its other end");
    is_int(view_comm_size(view, comm), 2, "its guarded members are those that have");
    view_free(view);
}

static void all_ranks(void)
{
    start();
    describe(comm, RANKS, 3, 0);
    is_str(label(comm), "world", "a communicator of all ranks is called so at once");
    for (uint32_t r = 0; r < 3; r++)
        describe(comm, RANKS, r, r + 1);
    is_int(goes_to(comm, 0, 0), 3, "its places need not be in the order of the ranks");
    view_free(view);
}

static void collective(uint64_t name, uint32_t rank, uint32_t seq)
{
    put((struct telemetry_item){ .kind = TELEMETRY_SAMPLE,
                                 .sample = { .rank = rank,
                                             .op = RING_OP_ALLREDUCE,
                                             .comm = name,
                                             .seq = seq,
                                             .n = 1,
                                             .root = -1,
                                             .bytes = 8,
                                             .stay_ns = 1000,
                                             .stay_sum_ns = 1000,
                                             .gap_sum_ns = 1000000 } });
}

static size_t rows(void)
{
    struct view_comm row[4];

    return view_comms_get(view, now_s, row, ARRAY_SIZE(row));
}

static void contradictions(void)
{
    start();
    describe(comm, 2, 0, 0);
    describe(comm, 2, 1, 1);
    for (uint32_t r = 0; r < 2; r++)
        collective(comm, r, 0);
    ok(rows() == 1 && figures().collectives == 1, "a collective of both members is joined");
    describe(comm, 2, 2, 1);
    is_int((long long)figures().comms_disputed, 1,
           "a communicator of which two ranks claim one place is disputed");
    is_int(goes_to(comm, 0, 1), -1, "none of its places is known any more");
    ok(!view_comm_size(view, comm) && !rows(), "nor its size, and it is not shown");
    for (uint32_t r = 0; r < 3; r++)
        collective(comm, r, 1);
    is_int((long long)figures().collectives, 1, "its collectives are not joined any more");
    describe(comm, 2, 3, 0);
    is_int((long long)figures().comms_disputed, 1, "it is counted once");
    view_free(view);
    start();
    describe(comm, 3, 0, 0);
    describe(comm, 3, 0, 1);
    is_int((long long)figures().comms_disputed, 1, "so is one of which a rank claims two places");
    view_free(view);
    start();
    describe_as(comm, 2, 0, 0, 0);
    describe_as(comm, 2, 1, 0, 0);
    is_int((long long)figures().comms_disputed, 0, "one whose name stands for its members is not");
    view_free(view);
    start();
    describe(comm, 3, 0, 3);
    ok(figures().refused == 1 && !view_comm_size(view, comm), "a place out of bounds is refused");
    view_free(view);
}

static void made_again(void)
{
    start();
    describe(comm, 2, 0, 0);
    describe(comm, 2, 1, 1);
    is_str(label(comm), "2@0", "ranks 0 and 1 have a communicator");
    frees(comm, 0);
    frees(comm, 1);
    describe(comm, 2, 2, 1);
    is_int(goes_to(comm, 0, 1), -1,
           "made again under its name, after all have freed it, it waits for all members");
    describe(comm, 2, 0, 0);
    is_int(goes_to(comm, 0, 1), 2, "then its places are those of the new members");
    is_int((long long)figures().comms_disputed, 0, "that is no contradiction");
    is_str(label(comm), "2@0.1", "its label is not that of the one before: both may be in one trace");
    view_free(view);
    start();
    describe(comm, 2, 0, 0);
    describe(comm, 2, 1, 1);
    frees(comm, 0);
    describe(comm, 2, 0, 0);
    frees(comm, 1);
    describe(comm, 2, 1, 1);
    is_int(goes_to(comm, 0, 1), 1,
           "members that free it and describe it again one after the other keep their places");
    view_free(view);
    start();
    describe(comm, 2, 0, 0);
    frees(comm, 0);
    describe(comm, 2, 1, 1);
    is_int(goes_to(comm, 1, 0), 0, "a member that comes after another one has freed it is one of the same");
    view_free(view);
    start();
    describe(comm, 3, 0, 0);
    frees(comm, 0);
    describe(comm, 3, 1, 0);
    is_int((long long)figures().comms_disputed, 0,
           "one of which not all members are recorded is made again where another rank has a place");
    view_free(view);
}

/* What it needs depends on how far its ranks are from each other. */
static void made_again_wider(void)
{
    struct telemetry_item wide = { .kind = TELEMETRY_COMM,
                                   .comm = { .rank = 0,
                                             .name = comm,
                                             .membership = comm,
                                             .size = 2,
                                             .last = 1000,
                                             .flags = RING_COMM_BOUNDED } };
    double bytes;

    start();
    put(wide);
    bytes = view_bytes(view);
    view_free(view);
    start();
    describe(comm, 2, 0, 0);
    describe(comm, 2, 1, 1);
    frees(comm, 0);
    frees(comm, 1);
    put(wide);
    is_near(view_bytes(view), bytes, 1e-9, "made again for ranks farther apart it counts as what it needs");
    view_free(view);
}

/* Rows and columns of a grid share their first ranks. */
static void labels(void)
{
    char first[64];

    start();
    describe(comm, 2, 0, 0);
    describe(comm, 2, 1, 1);
    describe(comm + 1, 2, 0, 0);
    describe(comm + 1, 2, 2, 1);
    snprintf(first, sizeof(first), "%s", label(comm));
    is_str(first, "2@0", "the first communicator of two ranks from rank 0 on is 2@0");
    is_str(label(comm + 1), "2@0.1", "one of other ranks from rank 0 on has another label");
    describe_as(comm + 2, 2, 1, 0, 0);
    is_str(label(comm + 2), "2@0.2", "so has one that was described by bounds that are exact");
    view_free(view);
}

/* Made for each step: those of all ranks in their order, and those of all in another order. */
static void labels_of_series(void)
{
    enum { INSTANCES = 40 };
    static char had[2 * INSTANCES][64];
    size_t n = 0, twice = 0;

    start();
    for (uint32_t i = 0; i < INSTANCES; i++) {
        for (uint64_t kind = 0; kind < 2; kind++) {
            uint64_t name = comm + 1000 * (kind + 1) + i;

            put((struct telemetry_item){ .kind = TELEMETRY_COMM,
                                         .comm = { .name = name,
                                                   .membership = comm + kind,
                                                   .size = RANKS,
                                                   .last = RANKS - 1,
                                                   .instance = i } });
            snprintf(had[n], sizeof(had[n]), "%s", label(name));
            for (size_t j = 0; j < n; j++)
                twice += !strcmp(had[j], had[n]);
            n++;
            if (i >= 20) /* the former one is forgotten soon after all have freed it */
                for (uint32_t r = 0; r < RANKS; r++)
                    frees(name - 1, r);
        }
        now_s += 10;
        view_tick(view, now_s);
    }
    is_int((long long)twice, 0, "no two communicators of a job get the same label");
    view_free(view);
}

/* A rank waits for a message, and says of it only which place it is to come from. */
static void partner(void)
{
    struct telemetry_item live = { .kind = TELEMETRY_LIVE,
                                   .live = { .rank = 1,
                                             .op = RING_OP_POINT_TO_POINT,
                                             .state = RING_STATE_RUNNING,
                                             .comm = comm,
                                             .enter_ns = 7,
                                             .age_ns = 2000000000 } };
    struct telemetry_item member = {
        .kind = TELEMETRY_MEMBER,
        .member = { .rank = 1, .op = RING_OP_RECV, .comm = comm, .place = 1, .enter_ns = 7 }
    };
    struct view_rank_figures f;

    start();
    describe(comm, 2, 1, 0);
    put(live);
    put(member);
    ok(view_rank_get(view, now_s, 1, &f) && !f.partner,
       "whom it waits for is not known before the other member");
    describe(comm, 2, 3, 1);
    put(live);
    put(member);
    ok(view_rank_get(view, now_s, 1, &f) && f.partner && f.partner->peer == 3 &&
           f.partner->op == RING_OP_RECV,
       "and then it is a rank of the job");
    view_free(view);
}

int main(void)
{
    late_members();
    never_described();
    all_ranks();
    contradictions();
    made_again();
    made_again_wider();
    labels();
    labels_of_series();
    partner();
    return done_testing();
}
