/* Jobs that stand still: who holds them up, and that no figure of before is reported as if it were now.  And
 * jobs of which not all is seen: ranks that nobody records, a node that has gone silent, a job that Slurm has
 * suspended. */
#include "report/report_verdict.h"
#include "report/report_view.h"
#include "view/figures.h"
#include "view/verdicts.h"
#include "view/view.h"

#include "ring/ring.h"
#include "tests/tap.h"

#define RANKS  8u
#define WORLD  0x1234u
#define ROW    0x77u /* ranks 4 to 7 */
#define LOW    0x78u /* ranks 0 to 3 */
#define AGAIN  0x79u /* ranks 4 to 7 */
#define STEP_S 0.1

static struct view *view;
static double now_s;
static uint32_t recorded = RANKS;      /* ranks from 0 on that are ... */
static uint32_t left_out = UINT32_MAX; /* ... but this one */

/* What a rank does while the job stands still. */
struct rank {
    uint8_t op; /* RING_OP_NONE: in no call */
    uint64_t comm;
    uint32_t seq;
    enum process_state process;
    bool idle;       /* it uses no CPU */
    uint8_t message; /* that its call lasts for: RING_OP_SEND or RING_OP_RECV; 0: not known */
    uint32_t peer;
    uint64_t bytes;        /* 0: not known */
    struct left_item left; /* what it called last; op RING_OP_NONE: not known */
};

static void put(struct telemetry_item item)
{
    view_item(view, now_s, &item);
}

static void announce_as(uint64_t name, uint32_t first, uint32_t size, uint32_t flags)
{
    for (uint32_t r = first; r < first + size; r++)
        put((struct telemetry_item){ .kind = TELEMETRY_COMM,
                                     .comm = { .rank = r,
                                               .name = name,
                                               .membership = name,
                                               .size = size,
                                               .comm_rank = r - first,
                                               .first = first,
                                               .last = first + size - 1,
                                               .flags = flags } });
}

static void announce(uint64_t name, uint32_t first, uint32_t size)
{
    announce_as(name, first, size, 0);
}

static void sample(uint64_t comm, uint32_t r, uint32_t seq)
{
    put((struct telemetry_item){ .kind = TELEMETRY_SAMPLE,
                                 .sample = { .rank = r,
                                             .op = RING_OP_ALLREDUCE,
                                             .comm = comm,
                                             .seq = seq,
                                             .n = 1,
                                             .root = -1,
                                             .bytes = 8,
                                             .stay_ns = 1000000 * (1 + r),
                                             .stay_sum_ns = 1000000 * (1 + r),
                                             .gap_sum_ns = 90000000 } });
}

static void step(uint32_t seq)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        sample(WORLD, r, seq);
        put((struct telemetry_item){ .kind = TELEMETRY_STEP,
                                     .step = { .rank = r,
                                               .comm = WORLD,
                                               .seq = seq,
                                               .period = 1,
                                               .parts = 1,
                                               .n_steps = 1,
                                               .duration_ns = (uint64_t)(STEP_S * 1e9),
                                               .gap_ns = 90000000,
                                               .stay_ns = 10000000 } });
    }
    now_s += STEP_S;
    view_tick(view, now_s);
}

static void start(uint32_t steps)
{
    static const struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 30 };
    char node[16];

    now_s = 1000;
    view = view_new(&params, now_s);
    for (uint32_t r = 0; r < recorded; r++) {
        snprintf(node, sizeof(node), "node%u", r);
        if (r != left_out)
            view_rank_add(view, r, 0, node, "");
    }
    announce(WORLD, 0, RANKS);
    announce(ROW, 4, 4);
    for (uint32_t i = 0; i < steps; i++)
        step(i);
}

/* Report what the ranks do, every second, until they have done it for `seconds`. */
static void stand_still(const struct rank rank[RANKS], double seconds)
{
    uint64_t enter_ns = (uint64_t)(now_s * 1e9);

    for (double s = 1; s <= seconds; s++) {
        now_s += 1;
        for (uint32_t r = 0; r < RANKS; r++) {
            const struct rank *k = &rank[r];

            put((struct telemetry_item){ .kind = TELEMETRY_LIVE,
                                         .live = { .rank = r,
                                                   .op = k->op,
                                                   .state = RING_STATE_RUNNING,
                                                   .comm = k->comm,
                                                   .seq = k->seq,
                                                   .bytes = k->bytes,
                                                   .enter_ns = enter_ns,
                                                   .age_ns = (uint64_t)(s * 1e9) } });
            if (k->message)
                put((struct telemetry_item){
                    .kind = TELEMETRY_PARTNER,
                    .partner = {
                        .rank = r, .op = k->message, .peer = k->peer, .tag = 7, .enter_ns = enter_ns } });
            if (k->left.op != RING_OP_NONE) {
                struct telemetry_item left = { .kind = TELEMETRY_LEFT, .left = k->left };

                left.left.rank = r;
                left.left.age_ns += (uint64_t)(s * 1e9);
                put(left);
            }
            if (k->process != PROCESS_RUNS)
                put((struct telemetry_item){
                    .kind = TELEMETRY_PROCESS,
                    .process = { .rank = r, .state = (uint8_t)k->process, .age_ns = (uint64_t)(s * 1e9) } });
            put((struct telemetry_item){ .kind = TELEMETRY_TASK,
                                         .task = { .rank = r,
                                                   .cpu = -1,
                                                   .numa = -1,
                                                   .nic_numa = -1,
                                                   .gpu = -1,
                                                   .gpu_numa = -1,
                                                   .cpu_ratio = k->idle ? 0 : 1 } });
        }
        for (int tick = 0; tick < 4; tick++)
            view_tick(view, now_s);
    }
}

static void fill(struct rank rank[RANKS], struct rank all)
{
    for (uint32_t r = 0; r < RANKS; r++)
        rank[r] = all;
}

static enum view_regime regime(void)
{
    struct view_figures f;

    view_figures_get(view, now_s, &f);
    return f.regime;
}

/* "r5: text", "r3,r5: text", ": text" where nobody is named; "" where there is no verdict of that class. */
static const char *stop(enum finding_class class)
{
    static char buf[1024];
    const struct view_verdict *d;
    size_t n = view_verdicts_get(view, &d), at = 0;

    buf[0] = '\0';
    if (!n || d->finding.class != class)
        return buf;
    for (uint32_t i = 0; i < d->n_culprits; i++)
        at += (size_t)snprintf(buf + at, sizeof(buf) - at, "%s%s", i ? "," : "", d->culprit[i]);
    snprintf(buf + at, sizeof(buf) - at, ": %s", d->text);
    return buf;
}

static const char *hang(void)
{
    return stop(FINDING_HANG);
}

static const char *sentence(void)
{
    static char buf[512];

    return view_sentence(view, now_s, buf, sizeof(buf));
}

static bool says(const char *words)
{
    return strstr(sentence(), words) != NULL;
}

#define ALLREDUCE RING_OP_ALLREDUCE
#define MESSAGE   RING_OP_POINT_TO_POINT
#define NONE      RING_OP_NONE
#define STOPPED   PROCESS_STOPPED

/* 40 steps were done, collectives 0 to 39; then, for 40 s, most ranks do the one and rank 5 the other. */
static const struct {
    const char *what;
    struct rank most, r5;
    const char *hang;
} cases[] = {
    { "a rank inside of an older collective of the same communicator is behind",
      { .op = ALLREDUCE, .comm = WORLD, .seq = 40 },
      { .op = ALLREDUCE, .comm = WORLD, .seq = 39 },
      "r5: rank 5 on node5 is one collective behind: in allreduce 39 of world for 40.0 s, 7 others wait in allreduce 40 of world" },
    { "a stopped rank inside of an older collective is reported as stopped",
      { .op = ALLREDUCE, .comm = WORLD, .seq = 40 },
      { .op = ALLREDUCE, .comm = WORLD, .seq = 39, .process = STOPPED },
      "r5: rank 5 on node5 is stopped (SIGSTOP) in allreduce 39 of world for 40.0 s, one collective behind; 7 others wait in "
      "allreduce 40 of world" },
    { "a stopped rank inside of the same collective as all others is named",
      { .op = ALLREDUCE, .comm = WORLD, .seq = 40 },
      { .op = ALLREDUCE, .comm = WORLD, .seq = 40, .process = STOPPED },
      "r5: rank 5 on node5 is stopped (SIGSTOP) in allreduce 40 of world for 40.0 s; 7 others wait in allreduce 40 of world" },
    { "a rank between calls is waited for",
      { .op = ALLREDUCE, .comm = WORLD, .seq = 40 },
      { .op = NONE, .comm = WORLD, .seq = 39 },
      "r5: allreduce 40 of world (8 ranks) has been open for 40.0 s: 7 inside, waiting for rank 5 on node5 (between calls for 40.0 s, "
      "its last collective was 39)" },
    { "a rank that neither computes nor is in a call is reported as that",
      { .op = ALLREDUCE, .comm = WORLD, .seq = 40 },
      { .op = NONE, .comm = WORLD, .seq = 39, .idle = true },
      "r5: allreduce 40 of world (8 ranks) has been open for 40.0 s: 7 inside, waiting for rank 5 on node5 (between calls for 40.0 s "
      "without computing, its last collective was 39)" },
    { "of a rank between calls it is said what it called last, and when",
      { .op = ALLREDUCE, .comm = WORLD, .seq = 40 },
      { .op = NONE,
        .comm = WORLD,
        .seq = 39,
        .left = { .op = RING_OP_BCAST, .comm = ROW, .seq = 3, .age_ns = 500000000 } },
      "r5: allreduce 40 of world (8 ranks) has been open for 40.0 s: 7 inside, waiting for rank 5 on node5 (between calls for 40.0 s, "
      "its last call was bcast 3 of 4@4 40.5 s ago)" },
    { "also a message, with its other end and its number",
      { .op = ALLREDUCE, .comm = WORLD, .seq = 40 },
      { .op = NONE,
        .comm = WORLD,
        .seq = 39,
        .left = { .op = RING_OP_RECV, .comm = WORLD, .seq = 12, .peer = 2, .tag = 7 } },
      "r5: allreduce 40 of world (8 ranks) has been open for 40.0 s: 7 inside, waiting for rank 5 on node5 (between calls for 40.0 s, "
      "its last call was recv 12 from rank 2 on world 40.0 s ago)" },
    { "a message whose other end is not known is reported without it",
      { .op = ALLREDUCE, .comm = WORLD, .seq = 40 },
      { .op = NONE,
        .comm = WORLD,
        .seq = 39,
        .left = { .op = RING_OP_SEND, .flags = RING_EVENT_MEMBER, .comm = 5, .seq = 12, .peer = 2 } },
      "r5: allreduce 40 of world (8 ranks) has been open for 40.0 s: 7 inside, waiting for rank 5 on node5 (between calls for 40.0 s, "
      "its last call was send 12 on 0000000000000005 40.0 s ago)" },
    { "what a stopped rank called last is said",
      { .op = ALLREDUCE, .comm = WORLD, .seq = 40 },
      { .op = NONE,
        .comm = WORLD,
        .seq = 39,
        .process = STOPPED,
        .left = { .op = RING_OP_SEND, .comm = WORLD, .seq = 12, .peer = 2 } },
      "r5: rank 5 on node5 is stopped (SIGSTOP) between calls, after send 12 to rank 2 on world, for 40.0 s, one collective behind; 7 "
      "others wait in allreduce 40 of world" },
    { "a process that a debugger stopped is reported as that",
      { .op = ALLREDUCE, .comm = WORLD, .seq = 40 },
      { .op = NONE, .comm = WORLD, .seq = 39, .process = PROCESS_TRACED },
      "r5: rank 5 on node5 is stopped by a debugger between calls, after collective 39 of world, for 40.0 s, one collective behind; 7 "
      "others wait in allreduce 40 of world" },
    { "when every rank has entered, the transfer itself has stopped",
      { .op = ALLREDUCE, .comm = WORLD, .seq = 40 },
      { .op = ALLREDUCE, .comm = WORLD, .seq = 40 },
      ": allreduce 40 of world (8 ranks) has been open for 40.0 s: every rank has entered and none leaves, so the transfer itself has "
      "stopped" },
    { "ranks inside of a collective that one has left, for whom nobody waits, are not named",
      { .op = ALLREDUCE, .comm = WORLD, .seq = 40 },
      { .op = NONE, .comm = WORLD, .seq = 40 },
      ": allreduce 40 of world (8 ranks) has been open for 40.0 s: 7 inside, and for whom or what they wait is not known" },
    { "nor is the only one that is still inside, though all others have left it",
      { .op = NONE, .comm = WORLD, .seq = 40 },
      { .op = ALLREDUCE, .comm = WORLD, .seq = 40 },
      ": allreduce 40 of world (8 ranks) has been open for 40.0 s: 1 inside, and for whom or what it waits is not known" },
    { "of ranks that poll, the one whose newest collective is older is behind",
      { .op = NONE, .comm = WORLD, .seq = 40 },
      { .op = NONE, .comm = WORLD, .seq = 39 },
      "r5: no step for 40.1 s: rank 5 on node5 is behind the others (between calls for 40.0 s, its last collective was 39)" },
    { "of ranks that poll, the stopped one is named",
      { .op = NONE, .comm = WORLD, .seq = 40 },
      { .op = NONE, .comm = WORLD, .seq = 40, .process = STOPPED },
      "r5: rank 5 on node5 is stopped (SIGSTOP) between calls, after collective 40 of world, for 40.0 s; no step for 40.1 s" },
    { "when all ranks are in no call, nothing is called a hang",
      { .op = NONE, .comm = WORLD, .seq = 40 },
      { .op = NONE, .comm = WORLD, .seq = 40 },
      "" },
    { "the rank that is in no call is the root of those that wait for messages",
      { .op = MESSAGE },
      { .op = NONE, .comm = WORLD, .seq = 39 },
      "r5: no message for 40.0 s: 7 ranks wait for one; rank 5 on node5 is in no call (between calls for 40.0 s, its last collective was 39)" },
    { "a rank that is stopped inside of a receive is named",
      { .op = RING_OP_WAIT },
      { .op = MESSAGE, .process = STOPPED },
      "r5: rank 5 on node5 is stopped (SIGSTOP) in a send, receive, probe or one-sided call for 40.0 s; 7 others wait for messages" },
    { "when all ranks wait for messages, nobody is named",
      { .op = MESSAGE },
      { .op = RING_OP_WAIT },
      ": no message for 40.0 s: 8 of 8 ranks wait for one, no process is stopped, and who should send is not known" },
    { "the rank at the end of all chains of messages is named",
      { .op = MESSAGE, .message = RING_OP_RECV, .peer = 5 },
      { .op = RING_OP_WAIT },
      "r5: no message for 40.0 s: 8 ranks wait for one; rank 5 on node5 is the one that they wait for (in a wait for messages for 40.0 s)" },
    { "a rank is stopped in a receive from another one",
      { .op = RING_OP_WAIT },
      { .op = MESSAGE, .message = RING_OP_RECV, .peer = 2, .process = STOPPED },
      "r5: rank 5 on node5 is stopped (SIGSTOP) in a receive from rank 2 (tag 7) for 40.0 s; 7 others wait for messages" },
    { "a rank that waits for a message from one that waits for it in a collective is a deadlock",
      { .op = ALLREDUCE, .comm = WORLD, .seq = 40 },
      { .op = RING_OP_WAIT, .message = RING_OP_RECV, .peer = 2 },
      "r2,r5: a deadlock of 2 ranks: rank 2 waits in allreduce 40 of world for rank 5, rank 5 waits in a wait for a message from rank 2 "
      "(tag 7)" },
    { "a rank that calls another collective than the others is named",
      { .op = ALLREDUCE, .comm = WORLD, .seq = 40 },
      { .op = RING_OP_BCAST, .comm = WORLD, .seq = 40 },
      "r5: rank 5 on node5 is in bcast 40 of world for 40.0 s, 7 others wait in allreduce 40 of world: the program calls different "
      "collectives" },
    { "a rank that calls the same collective with another size is named",
      { .op = ALLREDUCE, .comm = WORLD, .seq = 40, .bytes = 8 },
      { .op = ALLREDUCE, .comm = WORLD, .seq = 40, .bytes = 16 },
      "r5: rank 5 on node5 is in allreduce 40 of world with 16 B for 40.0 s, rank 0 with 8 B: the program calls it with different sizes" },
    { "a rank that called a collective which all others, who do nothing any more, did not call is named",
      { .op = NONE, .comm = WORLD, .seq = 39, .idle = true },
      { .op = ALLREDUCE, .comm = WORLD, .seq = 40 },
      "r5: rank 5 on node5 is alone in allreduce 40 of world (8 ranks) for 40.0 s: the 7 others have not called it, and are in no call" },
    { "who computes is waited for, how many they are",
      { .op = NONE, .comm = WORLD, .seq = 39 },
      { .op = ALLREDUCE, .comm = WORLD, .seq = 40 },
      "r0,r1,r2,r3,r4,r6,r7: allreduce 40 of world (8 ranks) has been open for 40.0 s: 1 inside, waiting for 7 others, the first of them "
      "rank 0 on node0 (between calls for 40.0 s, its last collective was 39)" },
    { "a rank in a message while all others are in a collective is waited for",
      { .op = ALLREDUCE, .comm = WORLD, .seq = 40 },
      { .op = MESSAGE },
      "r5: allreduce 40 of world (8 ranks) has been open for 40.0 s: 7 inside, waiting for rank 5 on node5 (in a send, receive, probe or one-sided call "
      "for 40.0 s)" },
};

static void table(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct rank rank[RANKS];

        start(40);
        fill(rank, cases[i].most);
        rank[5] = cases[i].r5;
        stand_still(rank, 40);
        is_str(hang(), cases[i].hang, "%s", cases[i].what);
        ok(regime() == VIEW_STALLED, "the regime is stalled: %s", cases[i].what);
        view_free(view);
    }
}

/* Ranks 0 to 3 wait for all, 4, 6 and 7 for the rows' rank 5, which is behind in the row. */
static void chain(void)
{
    struct rank rank[RANKS];

    start(40);
    fill(rank, (struct rank){ .op = ALLREDUCE, .comm = WORLD, .seq = 40 });
    rank[4] = rank[6] = rank[7] = (struct rank){ .op = ALLREDUCE, .comm = ROW, .seq = 78 };
    rank[5] = (struct rank){ .op = ALLREDUCE, .comm = ROW, .seq = 77 };
    stand_still(rank, 40);
    ok(!strncmp(hang(), "r5: ", 4),
       "through two communicators the rank that is behind in the inner one is named: %s", hang());
    rank[5] = (struct rank){ .op = NONE, .comm = ROW, .seq = 77 };
    stand_still(rank, 40);
    ok(!strncmp(hang(), "r5: ", 4), "through two communicators the rank that is in no call is named: %s",
       hang());
    rank[5] = (struct rank){ .op = MESSAGE };
    rank[1] = (struct rank){ .op = NONE, .comm = WORLD, .seq = 39 };
    stand_still(rank, 40);
    ok(!strncmp(hang(), "r1: ", 4),
       "a rank that waits for a message is not the root where another is in no call: %s", hang());
    view_free(view);
}

/* Rank 5 has left the collective in which ranks 0 to 3 wait for its row, and is the one for whom that waits.
 */
static void chain_to_a_rank_that_was_there(void)
{
    struct rank rank[RANKS];

    start(40);
    fill(rank, (struct rank){ .op = ALLREDUCE, .comm = WORLD, .seq = 40 });
    rank[4] = rank[6] = rank[7] = (struct rank){ .op = ALLREDUCE, .comm = ROW, .seq = 78 };
    rank[5] = (struct rank){ .op = NONE, .comm = WORLD, .seq = 40 };
    stand_still(rank, 40);
    is_str(
        hang(),
        "r5: rank 5 on node5 has not come to allreduce 78 of 4@4 (4 ranks), in which 3 wait (between calls for 40.0 s, "
        "its last collective was 40)",
        "the rank at the end of all chains is named, with the collective that it misses");
    view_free(view);
}

/* Ranks report one after the other: when the missing one goes on, the others still seem to wait, by what they
 * reported before. */
static void what_was_said_stays(void)
{
    struct rank rank[RANKS];
    char before[512];

    start(40);
    fill(rank, (struct rank){ .op = ALLREDUCE, .comm = WORLD, .seq = 40 });
    rank[3] = (struct rank){ .op = NONE, .comm = WORLD, .seq = 39 };
    stand_still(rank, 40);
    snprintf(before, sizeof(before), "%s", hang());
    ok(!strncmp(before, "r3: ", 4), "the missing rank is named: %s", before);
    now_s += 0.5;
    put((struct telemetry_item){ .kind = TELEMETRY_LIVE,
                                 .live = { .rank = 3,
                                           .op = ALLREDUCE,
                                           .state = RING_STATE_RUNNING,
                                           .comm = WORLD,
                                           .seq = 46,
                                           .enter_ns = (uint64_t)(now_s * 1e9) } });
    view_tick(view, now_s);
    is_str(hang(), before, "when it goes on before the others report, what was said of it stays");
    for (uint32_t i = 40; i < 47; i++)
        step(i);
    is_str(hang(), "", "when all have gone on it is over");
    view_free(view);
}

/* The same in a communicator that was made again under its name: what its ranks did in the one before is not
 * what they did in this one. */
static void chain_in_one_made_again(void)
{
    struct rank rank[RANKS];

    start(40);
    announce_as(AGAIN, 4, 4, RING_COMM_BOUNDED);
    for (uint32_t r = 4; r < RANKS; r++)
        sample(AGAIN, r, 100);
    for (uint32_t r = 4; r < RANKS; r++)
        put((struct telemetry_item){ .kind = TELEMETRY_COMM_END, .comm_end = { .rank = r, .name = AGAIN } });
    announce_as(AGAIN, 4, 4, RING_COMM_BOUNDED);
    step(40);
    fill(rank, (struct rank){ .op = ALLREDUCE, .comm = WORLD, .seq = 41 });
    rank[4] = rank[6] = rank[7] = (struct rank){ .op = ALLREDUCE, .comm = AGAIN, .seq = 78 };
    rank[5] = (struct rank){ .op = NONE, .comm = WORLD, .seq = 41 };
    stand_still(rank, 40);
    is_str(
        hang(),
        "r5: rank 5 on node5 has not come to allreduce 78 of 4@4.2 (4 ranks), in which 3 wait (between calls for 40.0 s, "
        "its last collective was 41)",
        "a rank has not passed a collective because it has in an earlier communicator of the same name");
    view_free(view);
}

/* Ranks 5 to 7 have left the row's collective in which rank 4 is still, and all wait for it in world. */
static void behind_where_others_have_left(void)
{
    struct rank rank[RANKS];

    start(40);
    for (uint32_t r = 5; r < RANKS; r++)
        sample(ROW, r, 78);
    fill(rank, (struct rank){ .op = ALLREDUCE, .comm = WORLD, .seq = 40 });
    rank[4] = (struct rank){ .op = ALLREDUCE, .comm = ROW, .seq = 78 };
    stand_still(rank, 40);
    is_str(
        hang(),
        "r4: rank 4 on node4 is still in allreduce 78 of 4@4 for 40.0 s, which others have left, and is missed in allreduce 40 of world (8 ranks), "
        "in which 7 wait",
        "a rank inside of a collective that others have left is named where these wait for it");
    view_free(view);
}

/* Two groups have made one of the same name: of that nothing is known. */
static void in_a_disputed_one(void)
{
    struct rank rank[RANKS];

    start(40);
    announce_as(AGAIN, 0, 4, RING_COMM_BOUNDED);
    announce_as(AGAIN, 4, 4, RING_COMM_BOUNDED);
    fill(rank, (struct rank){ .op = ALLREDUCE, .comm = AGAIN, .seq = 3 });
    stand_still(rank, 40);
    is_str(hang(),
           ": 8 ranks wait in collectives of which it is not known who takes part, the first for 40.0 s",
           "ranks that wait in a communicator of which two claim a place do wait in a call");
    rank[5].process = STOPPED;
    stand_still(rank, 40);
    is_str(
        hang(),
        "r5: rank 5 on node5 is stopped (SIGSTOP) in allreduce 3 of 0000000000000079 for 40.0 s; 7 others wait in collectives of which "
        "it is not known who takes part",
        "so it is said where one of them is stopped");
    view_free(view);
}

/* Ranks 4 to 7 wait in their row for rank 5, which waits in world for them. */
static void deadlock(void)
{
    struct rank rank[RANKS];

    start(40);
    fill(rank, (struct rank){ .op = ALLREDUCE, .comm = WORLD, .seq = 40 });
    rank[4] = rank[6] = rank[7] = (struct rank){ .op = ALLREDUCE, .comm = ROW, .seq = 78 };
    stand_still(rank, 40);
    is_str(
        hang(),
        "r4,r5: a deadlock of 2 ranks: rank 4 waits in allreduce 78 of 4@4 for rank 5, rank 5 waits in allreduce 40 of world for "
        "rank 4",
        "ranks that wait for each other in two communicators are a deadlock, with their calls");
    view_free(view);
}

/* Ranks 0 to 3 wait in a communicator of theirs, of 4 to 7 those in the row wait for rank 5. */
static void front_of_the_missing(void)
{
    struct rank rank[RANKS];

    start(40);
    announce(LOW, 0, 4);
    fill(rank, (struct rank){ .op = ALLREDUCE, .comm = LOW, .seq = 9 });
    rank[4] = rank[6] = rank[7] = (struct rank){ .op = ALLREDUCE, .comm = ROW, .seq = 78 };
    rank[5] = (struct rank){ .op = NONE, .comm = ROW, .seq = 77 };
    stand_still(rank, 40);
    is_str(
        hang(),
        "r5: allreduce 78 of 4@4 (4 ranks) has been open for 40.0 s: 3 inside, waiting for rank 5 on node5 (between calls for 40.0 s, "
        "its last collective was 77)",
        "those are said to wait for a rank in whose communicator it is missing, though more wait in another");
    rank[4] = rank[6] = rank[7] = (struct rank){ .op = MESSAGE, .message = RING_OP_RECV, .peer = 5 };
    rank[5] = (struct rank){ .op = NONE, .comm = WORLD, .seq = 39 };
    stand_still(rank, 40);
    is_str(
        hang(),
        "r5: allreduce 9 of 4@0 (4 ranks) has been open for 40.0 s: 4 inside, held up by rank 5 on node5 (between calls for 40.0 s, "
        "its last collective was 39)",
        "a rank that is no member where the others wait holds them up");
    view_free(view);
}

/* Each receives from the next one. */
static void messages_in_a_circle(void)
{
    struct rank rank[RANKS];

    start(40);
    for (uint32_t r = 0; r < RANKS; r++)
        rank[r] = (struct rank){ .op = MESSAGE, .message = RING_OP_RECV, .peer = (r + 1) % RANKS };
    stand_still(rank, 40);
    is_str(
        hang(),
        "r0,r1,r2,r3,r4,r5,r6,r7: a deadlock of 8 ranks: rank 0 waits in a receive from rank 1 (tag 7), rank 1 waits in a receive from "
        "rank 2 (tag 7), rank 2 waits in a receive from rank 3 (tag 7), rank 3 waits in a receive from rank 4 (tag 7)",
        "ranks that receive from each other in a circle are a deadlock, with their calls");
    rank[6] = (struct rank){ .op = MESSAGE, .message = RING_OP_SEND, .peer = 2 };
    stand_still(rank, 40);
    ok(!strncmp(hang(), "r2,r3,r4,r5,r6: a deadlock of 5 ranks: rank 2 ", 46),
       "those who wait for the circle and are not in it are not named: %s", hang());
    rank[3] = (struct rank){ .op = NONE };
    rank[7] = (struct rank){ .op = NONE };
    stand_still(rank, 40);
    ok(!strncmp(hang(), "r3: ", 4), "of two ranks in no call the one that others wait for is the root: %s",
       hang());
    view_free(view);
}

/* All receive from rank 5, which computes, but rank 3, which sleeps and for which nobody waits. */
static void awaited_before_asleep(void)
{
    struct rank rank[RANKS];

    start(40);
    fill(rank, (struct rank){ .op = MESSAGE, .message = RING_OP_RECV, .peer = 5 });
    rank[3] = (struct rank){ .op = NONE, .idle = true };
    rank[5] = (struct rank){ .op = NONE };
    stand_still(rank, 40);
    ok(!strncmp(hang(), "r5: ", 4), "who is waited for is named, not who sleeps and is not: %s", hang());
    view_free(view);
}

static void all_stopped(void)
{
    struct rank rank[RANKS];

    start(40);
    fill(rank, (struct rank){ .op = ALLREDUCE, .comm = WORLD, .seq = 40, .process = STOPPED });
    stand_still(rank, 40);
    is_str(strchr(hang(), ':'), ": all 8 ranks are stopped (SIGSTOP), the first for 40.0 s",
           "a suspended job is reported as one");
    view_free(view);
}

/* Without collectives there is no step. */
static void messages_only(void)
{
    struct rank rank[RANKS];

    start(0);
    for (uint32_t r = 0; r < RANKS; r++)
        put((struct telemetry_item){ .kind = TELEMETRY_COUNTS, .counts = { .rank = r, .events = 100 } });
    fill(rank, (struct rank){ .op = MESSAGE });
    rank[5] = (struct rank){ .op = NONE };
    stand_still(rank, 40);
    ok(regime() != VIEW_STALLED, "ranks that wait for one that computes are not stalled");
    rank[5].idle = true;
    stand_still(rank, 40);
    ok(regime() == VIEW_STALLED && !strncmp(hang(), "r5: ", 4),
       "ranks that wait for one that does nothing are stalled: %s", hang());
    view_free(view);
    start(0);
    for (uint32_t r = 0; r < RANKS; r++)
        put((struct telemetry_item){ .kind = TELEMETRY_COUNTS, .counts = { .rank = r, .events = 100 } });
    rank[5] = (struct rank){ .op = NONE, .process = STOPPED };
    stand_still(rank, 8);
    ok(regime() == VIEW_STALLED, "without steps a stopped rank makes the job stalled within 8 s");
    view_free(view);
}

/* Polling ranks: only the missing steps show that nothing moves. */
static void limits(void)
{
    struct rank rank[RANKS];
    struct view_rank_figures r;
    struct view_efficiency e;
    struct view_figures f;

    start(40);
    view_figures_get(view, now_s, &f);
    ok(near(f.steps_per_s, 10, 0.01) && f.skew_p50_s > 0, "while the job moves its pace is known");
    fill(rank, (struct rank){ .op = NONE, .comm = WORLD, .seq = 40 });
    rank[5].seq = 39;
    stand_still(rank, 28);
    ok(regime() != VIEW_STALLED, "28 s without a step of 0.1 s are no stall");
    stand_still(rank, 4);
    view_figures_get(view, now_s, &f);
    view_rank_get(view, now_s, 5, &r);
    view_efficiency_get(view, &e);
    ok(f.regime == VIEW_STALLED, "32 s without a step of 0.1 s are a stall");
    ok(isnan(f.steps_per_s) && isnan(f.step_mean_s) && isnan(f.step_p50_s) && isnan(f.step_p95_s) &&
           isnan(f.step_cv),
       "the pace of a stalled job is not known");
    ok(isnan(f.skew_p50_s) && isnan(f.skew_p95_s) && isnan(f.synchronisation_ratio) &&
           isnan(f.compute_ratio) && isnan(f.worst_lateness_s) && isnan(f.mds),
       "skew and shares of a stalled job are not known");
    ok(isnan(r.lateness_s) && isnan(r.compute_s) && isnan(e.recent.parallel),
       "nor are the lateness and the efficiency of its ranks");
    is_int((long long)f.steps, 40, "the steps that were done are");
    is_str(
        sentence(),
        "no step for 32.1 s: rank 5 on node5 is behind the others (between calls for 4.00 s, its last collective was 39)",
        "the sentence about a stalled job names who is behind, and for how long there was no step");
    for (uint32_t i = 40; i < 60; i++)
        step(i);
    view_figures_get(view, now_s, &f);
    ok(f.regime != VIEW_STALLED && near(f.steps_per_s, 10, 0.01) && !*hang(),
       "a job that goes on has its pace again, and no hang");
    view_free(view);
}

/* What is not reported is not known to stand still. */
static void silence(void)
{
    start(40);
    for (int s = 0; s < 60; s++)
        view_tick(view, now_s += 1);
    ok(regime() != VIEW_STALLED && !*hang(), "without any telemetry nothing is called stalled");
    view_free(view);
}

/* Ranks that start long after the others: their first collective, in which nothing moved, says nothing about
 * the pace, but counts as seen. */
static void late_start(void)
{
    struct view_figures f;
    struct rank rank[RANKS];

    start(0);
    fill(rank, (struct rank){ .op = ALLREDUCE, .comm = WORLD, .seq = 0 });
    rank[5] = (struct rank){ .op = NONE };
    stand_still(rank, 40);
    ok(regime() == VIEW_STALLED, "ranks that wait for one that starts late stand still");
    for (uint32_t i = 0; i < 40; i++)
        step(i);
    view_figures_get(view, now_s, &f);
    is_int((long long)f.collectives, 40, "then all collectives are seen, with the first one");
    ok(f.synchronisation_ratio < 0.2, "and the shares are those of the steps: %.2f", f.synchronisation_ratio);
    view_free(view);
}

static void ended(void)
{
    struct rank rank[RANKS];
    struct view_figures f;

    start(40);
    fill(rank, (struct rank){ .op = ALLREDUCE, .comm = WORLD, .seq = 40 });
    rank[5] = (struct rank){ .op = ALLREDUCE, .comm = WORLD, .seq = 39, .process = STOPPED };
    stand_still(rank, 40);
    view_finish(view, now_s);
    view_figures_get(view, now_s, &f);
    ok(f.regime != VIEW_STALLED && f.regime != VIEW_STARTING,
       "a job that ended while it hung is not stalled any more: %s", view_regime_name(f.regime));
    ok(near(f.steps_per_s, 10, 0.01), "a job that ended has the pace that it had");
    ok(*hang() && !strncmp(sentence(), "Ended while it hung: rank 5", 27),
       "a job that ended while it hung is reported so: %s", sentence());
    view_free(view);
}

/* ---- not all is seen ---- */

static struct rank waiting[RANKS];

/* Of all but rank 5, which is known to be in no call. */
static void all_wait(void)
{
    fill(waiting, (struct rank){ .op = ALLREDUCE, .comm = WORLD, .seq = 40 });
    waiting[5] = (struct rank){ .op = NONE, .comm = WORLD, .seq = 39 };
}

static void lost_node(void)
{
    start(40);
    all_wait();
    stand_still(waiting, 2);
    view_node_silent(view, "node5", now_s - 5);
    view_tick(view, now_s);
    is_str(stop(FINDING_LOST), "", "a node that is silent while nothing stands still is not lost yet");
    stand_still(waiting, 6);
    is_str(stop(FINDING_LOST),
           "node5: node5 is lost (no report for 11.0 s); 7 others wait in allreduce 40 of world",
           "a silent node for whose ranks the others wait is lost, long before it would be a hang");
    is_str(sentence(), "node5 is lost (no report for 11.0 s); 7 others wait in allreduce 40 of world",
           "the sentence says so");
    for (uint32_t r = 0; r < RANKS; r++)
        if (r != 5)
            view_rank_end(view, r, 0, true);
    view_tick(view, now_s += 1);
    is_str(stop(FINDING_LOST),
           "node5: node5 is lost (no report for 12.0 s); the ranks of the other nodes were ended",
           "ranks whose process is gone after a node was lost are not its culprits");
    view_slurm_set(view, now_s, VIEW_SLURM_ENDS, "NODE_FAIL");
    view_finish(view, now_s);
    is_str(
        sentence(),
        "node5 is lost (no report for 12.0 s; Slurm says NODE_FAIL); the ranks of the other nodes were ended",
        "the ended job's sentence names the node, and what Slurm says");
    view_free(view);
}

/* Who waits for processes that are gone is not alone by its own doing. */
static void gone(void)
{
    struct rank rank[RANKS];

    start(40);
    fill(rank, (struct rank){ .op = NONE, .comm = WORLD, .seq = 39, .idle = true });
    rank[5] = (struct rank){ .op = ALLREDUCE, .comm = WORLD, .seq = 40 };
    stand_still(rank, 40);
    ok(!strncmp(hang(), "r5: ", 4), "a rank that waits alone, while the others do nothing, is named");
    for (uint32_t r = 0; r < RANKS; r++)
        if (r != 5)
            view_rank_end(view, r, 0, true);
    view_tick(view, now_s += 1);
    is_str(
        hang(),
        "r0,r1,r2,r3,r4,r6,r7: allreduce 40 of world (8 ranks) has been open for 41.0 s: 1 inside, waiting for 7 others, "
        "the first of them rank 0 on node0 (its process is gone)",
        "when the processes of the others are gone, these are named");
    view_free(view);
}

/* The sentence names a rank before the time is up after which there is a verdict, and the table follows it.
 */
static void named_before_the_verdict(void)
{
    struct report_selection all = REPORT_ALL;
    struct report_ranks ranks;

    start(40);
    all_wait();
    waiting[5].process = STOPPED;
    stand_still(waiting, 12);
    ok(!*stop(FINDING_HANG) && says("rank 5"), "there is no verdict yet: %s", sentence());
    report_ranks_get(&ranks, view, now_s, &all);
    is_int(ranks.f[0].rank, 5, "the rank that the sentence names comes first all the same");
    report_ranks_free(&ranks);
    view_free(view);
}

/* Who looks at the process on its node needs its number. */
static void processes(void)
{
    struct report_selection all = REPORT_ALL;
    struct report_verdicts verdicts;
    struct report_ranks ranks;

    start(40);
    all_wait();
    waiting[5].process = STOPPED;
    for (uint32_t r = 0; r < RANKS; r++)
        view_rank_process(view, r, 0, r == 4 ? 0 : 4700 + r);
    stand_still(waiting, 40);
    is_str(stop(FINDING_HANG),
           "r5: rank 5 (pid 4705) on node5 is stopped (SIGSTOP) between calls, after collective 39 of world, "
           "for 40.0 s, one collective behind; 7 others wait in allreduce 40 of world",
           "the text of a hang has the number of the process on its node");
    report_verdicts_get(&verdicts, view, now_s);
    ok(verdicts.n && verdicts.list[0].process.known, "the verdict has a process");
    is_int(verdicts.list[0].process.rank, 5, "the process is that of the rank that is named");
    is_int(verdicts.list[0].process.pid, 4705, "the process has its number");
    is_str(verdicts.list[0].process.node, "node5", "the process has its node");
    report_verdicts_free(&verdicts);
    report_ranks_get(&ranks, view, now_s, &all);
    is_int(ranks.f[0].rank, 5, "of a job that hangs, the rank that is named comes first");
    ok(ranks.f[1].rank == 0 && ranks.f[RANKS - 1].rank == 7, "the others follow in their order");
    is_int(ranks.f[5].pid, -1, "a process without a number is unknown");
    is_near(ranks.f[0].outside_s, 40, 1e-9, "how long the named rank has been in no call is known");
    ok(isnan(ranks.f[1].outside_s), "a rank that waits in a call is not in none");
    report_ranks_free(&ranks);
    view_node_silent(view, "node5", now_s - 5);
    report_ranks_get(&ranks, view, now_s, &all);
    ok(!ranks.f[0].heard && ranks.f[1].heard, "what a process on a silent node does is not known");
    report_ranks_free(&ranks);
    view_rank_end(view, 5, 0, true);
    view_rank_add(view, 5, 0, "node5", "");
    report_ranks_get(&ranks, view, now_s, &all);
    for (size_t i = 0; i < ranks.n; i++)
        if (ranks.f[i].rank == 5)
            is_int(ranks.f[i].pid, -1, "the number of a process that has ended is not that of the next one");
    report_ranks_free(&ranks);
    view_free(view);
}

static void silent_node_comes_back(void)
{
    start(40);
    view_node_silent(view, "node5", now_s - 5);
    view_tick(view, now_s);
    ok(view_judged_get(view, now_s) == VIEW_PARTLY && says("node5 is silent (no report for 5.00 s)"),
       "a job that goes on without word of a node is judged in part: %s", sentence());
    all_wait();
    stand_still(waiting, 6);
    ok(*stop(FINDING_LOST), "it is lost when the others wait for it");
    view_node_silent(view, "node5", NAN);
    for (uint32_t i = 40; i < 80; i++)
        step(i);
    ok(!*stop(FINDING_LOST) && says("Healthy"), "a node that is heard again is not lost: %s", sentence());
    view_free(view);
}

/* Nobody is heard: that says more of the controller than of the nodes. */
static void all_silent(void)
{
    char node[16];

    start(40);
    for (uint32_t r = 0; r < RANKS; r++) {
        snprintf(node, sizeof(node), "node%u", r);
        view_node_silent(view, node, now_s);
    }
    for (int s = 0; s < 60; s++)
        view_tick(view, now_s += 1);
    ok(!*stop(FINDING_LOST) && regime() != VIEW_STALLED, "where no node is heard none is called lost");
    view_free(view);
}

static void unrecorded(void)
{
    recorded = RANKS - 1;
    start(200);
    ok(view_judged_get(view, now_s) == VIEW_PARTLY && says("7 of 8 ranks are recorded (not rank 7)"),
       "a job of which a rank is not recorded is judged in part: %s", sentence());
    ok(regime() == VIEW_UNKNOWN, "who waits for whom, and its regime, are unknown: %s",
       view_regime_name(regime()));
    fill(waiting, (struct rank){ .op = ALLREDUCE, .comm = WORLD, .seq = 200 });
    stand_still(waiting, 40);
    is_str(
        hang(),
        ": allreduce 200 of world (8 ranks) has been open for 40.0 s: 7 inside, and what the other does is not recorded (rank 7)",
        "that all recorded ranks have entered does not mean that every rank has");
    view_free(view);
    recorded = RANKS;
}

/* It is there, and what it calls is counted only: that the others wait says nothing of it. */
static void only_counted(void)
{
    recorded = RANKS - 1;
    start(200);
    view_rank_add(view, RANKS - 1, 0, "node7", "");
    put((struct telemetry_item){ .kind = TELEMETRY_COUNTS, .counts = { .rank = RANKS - 1, .missed = 200 } });
    fill(waiting, (struct rank){ .op = ALLREDUCE, .comm = WORLD, .seq = 200 });
    waiting[RANKS - 1] = (struct rank){ .op = RING_OP_NONE };
    stand_still(waiting, 40);
    ok(hang()[0] == ':', "of whom all collectives are counted, and none is recorded, is not named: %s",
       hang());
    view_free(view);
    recorded = RANKS;
}

/* All others receive from one of which nothing is known, or only how much it calls. */
static void messages_from_the_unseen(void)
{
    left_out = 5;
    start(200);
    fill(waiting, (struct rank){ .op = MESSAGE, .message = RING_OP_RECV, .peer = 5 });
    stand_still(waiting, 40);
    ok(hang()[0] == ':', "a rank that is not recorded is not named, though others wait for its message: %s",
       hang());
    view_free(view);
    left_out = UINT32_MAX;
    recorded = RANKS - 1;
    start(200);
    view_rank_add(view, RANKS - 1, 0, "node7", "");
    put((struct telemetry_item){ .kind = TELEMETRY_COUNTS, .counts = { .rank = RANKS - 1, .missed = 200 } });
    fill(waiting, (struct rank){ .op = MESSAGE, .message = RING_OP_RECV, .peer = RANKS - 1 });
    waiting[RANKS - 1] = (struct rank){ .op = NONE };
    stand_still(waiting, 40);
    ok(hang()[0] == ':', "nor is one of whom everything is only counted: %s", hang());
    view_free(view);
    recorded = RANKS;
}

static void suspended(void)
{
    struct view_figures f;

    start(200);
    fill(waiting, (struct rank){ .op = ALLREDUCE, .comm = WORLD, .seq = 200, .process = STOPPED });
    stand_still(waiting, 10);
    view_slurm_set(view, now_s, VIEW_SLURM_SUSPENDED, "SUSPENDED");
    stand_still(waiting, 60);
    ok(!*hang() && regime() == VIEW_SUSPENDED, "a suspended job does not hang");
    is_str(sentence(), "Suspended by Slurm for 1m00s: this time does not count.",
           "the sentence says why nothing moves");
    view_slurm_set(view, now_s, VIEW_SLURM_RUNS, "RUNNING");
    for (uint32_t i = 200; i < 260; i++)
        step(i);
    view_figures_get(view, now_s, &f);
    ok(!*hang() && near(f.step_mean_s, STEP_S, 0.01) && says("Healthy"),
       "a resumed job is as it was before: %s", sentence());
    view_free(view);
}

int main(void)
{
    table();
    chain();
    chain_to_a_rank_that_was_there();
    what_was_said_stays();
    chain_in_one_made_again();
    behind_where_others_have_left();
    in_a_disputed_one();
    deadlock();
    front_of_the_missing();
    messages_in_a_circle();
    awaited_before_asleep();
    all_stopped();
    messages_only();
    limits();
    silence();
    late_start();
    ended();
    lost_node();
    gone();
    named_before_the_verdict();
    processes();
    silent_node_comes_back();
    all_silent();
    unrecorded();
    only_counted();
    messages_from_the_unseen();
    suspended();
    return done_testing();
}
