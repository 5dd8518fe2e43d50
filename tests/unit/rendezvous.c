/* Collectives whose recorded ends lie before the last rank came, as NCCL's trees record them: out of rings,
 * through the agent's reader, into verdicts. */
#include "agent/rendezvous.h"

#include <stdlib.h>
#include <time.h>

#include "agent/ranks.h"
#include "common/xalloc.h"
#include "ring/ring.h"
#include "tests/tap.h"
#include "view/verdicts.h"
#include "view/view.h"

enum { RANKS = 4, COMM = 9, STEPS = 200 };

/* ---- the module ---- */

static void come(struct rendezvous *v, uint64_t comm, uint32_t seq, uint64_t begin_ns, uint64_t leave_ns)
{
    struct call c = {
        .comm = comm, .seq = seq, .begin_ns = begin_ns, .enter_ns = begin_ns, .leave_ns = leave_ns
    };

    rendezvous_come(v, &c, 3);
}

/* When it was over; 0: not known, 1: it is awaited. */
static long long over(struct rendezvous *v, uint64_t comm, uint32_t seq)
{
    uint64_t ns = 0;

    switch (rendezvous_get(v, &(struct call){ .comm = comm, .seq = seq }, &ns)) {
    case RENDEZVOUS_OVER:
        return (long long)ns;
    case RENDEZVOUS_AWAITED:
        return 1;
    default:
        return 0;
    }
}

static void ends(void)
{
    struct rendezvous *v = rendezvous_new();

    come(v, COMM, 0, 100, 900);
    come(v, COMM, 0, 200, 250);
    is_int(over(v, COMM, 0), 0, "of a communicator whose members never came all, nobody is waited for");
    come(v, COMM, 0, 150, 160);
    is_int(over(v, COMM, 0), 250, "a collective is over when the one who came last left it");
    come(v, COMM, 1, 300, 310);
    is_int(over(v, COMM, 1), 1, "once all have come to one, the next one's members are waited for");
    is_int(over(v, COMM, 2), 0, "where nobody came, nobody is waited for");
    come(v, COMM, 2, 400, 410);
    come(v, COMM, 1, 330, 340);
    come(v, COMM, 2, 420, 430);
    come(v, COMM, 2, 410, 440);
    is_int(over(v, COMM, 2), 430, "the one who came last decides, whoever was read last");
    is_int(over(v, COMM, 1), 0, "who is missing where all have come to a later one is not waited for");
    come(v, COMM, 3, 500, 510);
    rendezvous_give_up(v);
    is_int(over(v, COMM, 3), 0, "where records are missing, nobody is waited for");
    come(v, COMM, 4, 600, 610);
    is_int(over(v, COMM, 4), 0, "nor in those that follow");
    come(v, COMM, 4, 600, 620);
    come(v, COMM, 4, 600, 630);
    come(v, COMM, 5, 700, 710);
    ok(over(v, COMM, 4) == 610 && over(v, COMM, 5) == 1, "until all have come to one again");
    rendezvous_free(v);
}

static void far_ahead(void)
{
    struct rendezvous *v = rendezvous_new();
    uint32_t wrong = 0;

    for (uint32_t member = 0; member < 3; member++)
        for (uint32_t seq = 0; seq < 3000; seq++)
            come(v, COMM, seq, 100 * seq + member, 100 * seq + 10 + member);
    for (uint32_t seq = 0; seq < 3000; seq++)
        wrong += over(v, COMM, seq) != 100 * seq + 12;
    is_int(wrong, 0, "ranks that are read one after the other, 3,000 collectives each, meet in all of them");
    for (uint32_t seq = 3000; seq <= 3000 + RENDEZVOUS_OPEN_MAX; seq++)
        come(v, COMM, seq, 100, 110);
    ok(over(v, COMM, 3000) == 0 && over(v, COMM, 3001) == 1, "of too many open ones the oldest is given up");
    for (uint64_t comm = 100; comm < 100 + RENDEZVOUS_COMMS_MAX; comm++)
        come(v, comm, 0, 100, 110);
    is_int(over(v, COMM, 3001), 0, "of too many communicators the one that was silent longest is given up");
    rendezvous_free(v);
}

/* ---- rings ---- */

static char dir[64];
static struct ring *ring[RANKS];
static struct ranks *reader;
static struct view *view;
static double now_at_s; /* the view's clock */
static double ticks_per_ms;
static uint64_t begun; /* ticks */
static struct {
    uint32_t calls, open_ended, wrong_end;
} seen;

static void put(const struct telemetry_item *item, void *arg)
{
    const struct call *c = &item->call;

    (void)arg;
    if (item->kind == TELEMETRY_CALL && c->op == RING_OP_ALLREDUCE) {
        seen.calls++;
        seen.open_ended += (c->flags & (RING_EVENT_UNWAITED | RING_EVENT_NONBLOCKING)) != 0;
        seen.wrong_end += (c->flags & RING_EVENT_EARLY) || c->leave_ns < c->enter_ns;
    }
    view_item(view, now_at_s, item);
}

static void note(const char *text, void *arg)
{
    (void)arg;
    printf("# %s\n", text);
}

/* size: of the communicator; of its ranks those below RANKS are on this node. */
static void rings_begin(uint32_t size)
{
    struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 5 };
    struct timespec wait = { .tv_nsec = 20000000 };
    uint64_t from;

    strcpy(dir, "/dev/shm/syncguard-test-XXXXXX");
    if (!mkdtemp(dir))
        perror("# mkdtemp");
    memset(&seen, 0, sizeof(seen));
    now_at_s = 0;
    view = view_new(&params, now_at_s);
    reader = ranks_new(dir, 1000, put, note, NULL);
    ranks_newest_item(reader, TELEMETRY_NEWEST);
    ranks_settle(reader);
    for (uint32_t r = 0; r < RANKS; r++) {
        struct ring_info info = { .rank = r, .task = r, .world_rank = r, .world_size = size, .program = "p" };
        struct ring_comm c = { .name = COMM, .membership = 1, .size = size, .rank = r, .last = size - 1 };

        ring[r] = ring_create(dir, &info, 4096);
        ring_comm_add(ring[r], &c);
        view_rank_add(view, r, 0, "n0", NULL);
    }
    for (uint32_t r = RANKS; r < size; r++)
        view_rank_add(view, r, 0, "n1", NULL);
    from = ring_now(ring[0]);
    nanosleep(&wait, NULL);
    ticks_per_ms = (double)(ring_now(ring[0]) - from) / 20;
    begun = from - (uint64_t)(20000 * ticks_per_ms); /* 20 s ago, which is more than all steps take */
    ranks_scan(reader);
    ranks_control(reader, 1000, (struct call_window){ 1, 1 });
}

static void rings_end(void)
{
    for (uint32_t r = 0; r < RANKS; r++)
        ring_close(ring[r]);
    ranks_free(reader);
    view_free(view);
    ranks_remove_dir(dir);
}

static void emit(uint32_t rank, uint32_t seq, double enter_ms, double leave_ms)
{
    struct ring_event e = { .enter = begun + (uint64_t)(enter_ms * ticks_per_ms),
                            .leave = begun + (uint64_t)(leave_ms * ticks_per_ms),
                            .comm = COMM,
                            .bytes = 4096,
                            .seq = seq,
                            .root = -1,
                            .op = RING_OP_ALLREDUCE,
                            .flags = RING_EVENT_NONBLOCKING | RING_EVENT_UNWAITED | RING_EVENT_EARLY };

    ring_emit(ring[rank], &e);
}

/* A step of work and one all-reduce, whose recorded ends lie before the last one came: 0.1 ms after each
 * arrival.  Those who are in `missing` do not come.  Returns when it was over. */
static double play_step(uint32_t seq, double at_ms, uint32_t slow, double factor, uint32_t missing)
{
    double last_ms = 0;

    for (uint32_t r = 0; r < RANKS; r++) {
        uint32_t spread = (seq * 7 + r * 13) % 11; /* up to 2 % */
        double enter_ms = at_ms + 10 * (1 + 0.002 * spread) * (r == slow ? factor : 1);

        if (r == missing)
            continue;
        emit(r, seq, enter_ms, enter_ms + 0.1);
        last_ms = enter_ms > last_ms ? enter_ms : last_ms;
    }
    return last_ms + 0.2;
}

/* The agent reads every few steps, some ranks before they have written what others did. */
static double play_steps(uint32_t slow, double factor)
{
    double at_ms = 0;

    for (uint32_t i = 0; i < STEPS; i++) {
        at_ms = play_step(i, at_ms, slow, factor, RANKS);
        now_at_s = at_ms * 1e-3;
        if (i % 5 == 0) {
            ranks_drain(reader);
            view_tick(view, now_at_s);
        }
    }
    ranks_drain(reader);
    ranks_drain(reader);
    view_tick(view, now_at_s);
    return at_ms;
}

static void say(void)
{
    char text[512];

    printf("# %s\n", view_sentence(view, now_at_s, text, sizeof(text)));
}

static void straggler(void)
{
    const struct view_verdict *v;
    struct interval price = INTERVAL_UNKNOWN;
    double slowdown = NAN;
    size_t n;

    rings_begin(RANKS);
    play_steps(2, 1.3);
    n = view_verdicts_get(view, &v);
    say();
    ok(n == 1 && v[0].n_culprits == 1 && !strcmp(v[0].culprit[0], "r2"),
       "of a job that is all trees the rank that comes last is named, and nobody else");
    if (n) {
        price = finding_slowdown_interval(&v[0].finding);
        slowdown = v[0].finding.slowdown;
    }
    ok(price.low <= 1.29 && 1.27 <= price.high && price.high < 1.35,
       "at a price whose interval has what the others lost\n%.3f, from %.3f to %.3f", slowdown, price.low,
       price.high);
    ok(seen.calls >= RANKS * (STEPS - 6) && !seen.wrong_end && seen.open_ended <= RANKS * 6,
       "all calls are passed on, and but for the first ones with an end\n%u, %u without", seen.calls,
       seen.open_ended);
    rings_end();
}

static void healthy(void)
{
    const struct view_verdict *v;

    rings_begin(RANKS);
    play_steps(0, 1);
    say();
    is_int((long long)view_verdicts_get(view, &v), 0, "of a healthy job that is all trees nobody is named");
    ok(view_judged_get(view, now_at_s) == VIEW_JUDGED, "and it is judged");
    rings_end();
}

static void other_node(void)
{
    const struct view_verdict *v;

    rings_begin(RANKS + 1);
    play_steps(2, 1.3);
    is_int((long long)view_verdicts_get(view, &v), 0, "where members are on other nodes nobody is named");
    is_int(seen.calls, RANKS * STEPS, "and each call is passed on as it is read");
    is_int(seen.open_ended, RANKS * STEPS, "without an end");
    rings_end();
}

static void hang(void)
{
    const struct view_verdict *v;
    double at_ms;
    size_t n;

    rings_begin(RANKS);
    at_ms = play_steps(0, 1);
    play_step(STEPS, at_ms, 0, 1, 2);
    now_at_s = (double)(ring_now(ring[0]) - begun) / ticks_per_ms * 1e-3;
    for (int i = 0; i < 3; i++, now_at_s++) {
        ranks_drain(reader);
        ranks_second(reader);
        view_tick(view, now_at_s);
    }
    n = view_verdicts_get(view, &v);
    say();
    ok(n && v[0].finding.class == FINDING_HANG && v[0].n_culprits == 1 && !strcmp(v[0].culprit[0], "r2"),
       "where one does not come, those who have left by their records are still inside, and it is named");
    now_at_s += 1;
    emit(2, STEPS, 15000, 15000.1);
    seen.calls = 0;
    ranks_drain(reader);
    ranks_drain(reader);
    is_int(seen.calls, RANKS, "when it comes, the others' calls are over");
    view_tick(view, now_at_s);
    is_int((long long)view_verdicts_get(view, &v), 0, "and so is the hang");
    rings_end();
}

/* A rank's record is lost: the others have gone on, and are not held up by it. */
static void lost_record(void)
{
    int waits = 0;

    rings_begin(RANKS);
    for (uint32_t i = 0; i < 20; i++)
        play_step(i, 11 * i, 0, 1, i == 15 ? 1 : RANKS);
    ranks_drain(reader);
    ranks_drain(reader);
    is_int(seen.calls, 20 * RANKS - 1, "calls behind one of which a record is lost are passed on");
    seen.calls = 0;
    play_step(20, 11 * 20, 0, 1, 1);
    play_step(21, 11 * 21, 0, 1, 1);
    while (seen.calls < 6 && waits++ < 60000) {
        ranks_drain(reader);
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
    is_int(seen.calls, 6, "so are those of ranks that have gone on to another one since");
    for (uint32_t i = 22; i < 24; i++) {
        play_step(i, 11 * i, 0, 1, i == 23 ? 1 : RANKS);
        ranks_drain(reader);
        ranks_drain(reader);
    }
    is_int(seen.calls, 10, "after the next one to which all came, they are waited for again");
    ranks_flush(reader);
    is_int(seen.calls, 13, "but not at the end");
    rings_end();
}

int main(void)
{
    ends();
    far_ahead();
    straggler();
    healthy();
    other_node();
    hang();
    lost_record();
    return done_testing();
}
