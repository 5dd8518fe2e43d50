/* Collectives out of what their ranks tell, in whatever order, or not at all. */
#include "view/join.h"

#include "ring/ring.h"
#include "tests/tap.h"

static struct {
    int n;
    struct joined last;
    double late_s[8]; /* by rank */
} got;

static void take(const struct joined *j, void *arg)
{
    (void)arg;
    got.n++;
    got.last = *j;
    for (uint32_t i = 0; i < j->slots; i++)
        if (j->rank[i] < 8)
            got.late_s[j->rank[i]] = j->stay_max_s - j->stay_s[i];
}

static struct join *four(void)
{
    struct join *j = join_new(&(struct comm_item){ .name = 9, .size = 4, .first = 0, .last = 6 });

    for (uint32_t r = 0; r < 4; r++)
        join_member(j, 2 * r, r); /* ranks 0 2 4 6 */
    memset(&got, 0, sizeof(got));
    return j;
}

static bool put(struct join *j, uint32_t rank, uint32_t seq, double stay_s)
{
    struct sample s = { .rank = rank,
                        .comm = 9,
                        .seq = seq,
                        .n = 1,
                        .op = RING_OP_ALLREDUCE,
                        .stay_ns = (uint64_t)(stay_s * 1e9) };

    return join_sample(j, &s, take, NULL);
}

/* Of a group of which a member is never announced. */
static void unannounced(void)
{
    struct join *j = join_new(&(struct comm_item){ .name = 9, .size = 3, .first = 0, .last = 2 });
    struct sample s = { .comm = 9, .seq = 1, .n = 1, .op = RING_OP_BARRIER };

    memset(&got, 0, sizeof(got));
    join_member(j, 0, 0);
    join_member(j, 1, 1);
    for (uint32_t i = 0; i < 5; i++) {
        s.rank = i % 2;
        s.seq = 1 + i / 2;
        s.stay_ns = s.rank ? 1000000 : 3000000;
        join_sample(j, &s, take, NULL);
    }
    is_int(got.n, 0, "while members may be announced a collective waits for them");
    join_finish(j, take, NULL);
    ok(got.n == 2 && got.last.seq == 2 && got.last.complete && got.last.last == 1,
       "at the end those are joined that all announced members reported, in order");
    join_finish(j, take, NULL);
    is_int(got.n, 2, "they are joined once");
    join_free(j);
}

int main(void)
{
    struct join *j = four();

    put(j, 6, 0, 0.001);
    put(j, 0, 0, 0.011);
    put(j, 4, 0, 0.005);
    is_int(got.n, 0, "a collective is not complete before all members have reported");
    put(j, 2, 0, 0.011);
    ok(got.n == 1 && got.last.complete, "a collective is complete when the last member has reported");
    ok(got.last.last == 6, "the rank with the shortest stay arrived last\nrank %u", got.last.last);
    ok(near(got.late_s[6], 0.010, 1e-5) && near(got.late_s[4], 0.006, 1e-5) && got.late_s[0] == 0,
       "lateness is the longest stay minus the own stay");
    ok(near(got.last.stay_min_s, 0.001, 1e-5), "transfer is the stay of the last arriver");
    ok(!put(j, 1, 1, 0.1) && !put(j, 99, 1, 0.1), "records of ranks that are not members are rejected");
    join_free(j);

    j = four();
    for (uint32_t seq = 0; seq < 100; seq++)
        for (uint32_t r = 0; r < 8; r += 2)
            if (seq != 50 || r != 4)
                put(j, r, seq, 0.01);
    is_int(got.n, 100, "a lost record costs one rank's share of one collective");
    ok(!put(j, 4, 50, 0.01) || got.n == 100, "a record that arrives too late is ignored");
    join_free(j);

    j = four();
    for (uint32_t seq = 0; seq < 100; seq++)
        put(j, 0, seq, 0.01);
    is_int(got.n, 0, "records of one rank of four complete no collective");
    join_leave(j, 2);
    join_leave(j, 4);
    for (uint32_t seq = 100; seq < 300; seq++) {
        put(j, 0, seq, 0.01);
        put(j, 6, seq, 0.02);
    }
    ok(got.n >= 150, "ranks that ended are no longer waited for\n%d", got.n);
    join_free(j);

    ok(!join_new(&(struct comm_item){ .size = 0 }) &&
           !join_new(&(struct comm_item){ .size = 4, .first = 3, .last = 1 }) &&
           !join_new(&(struct comm_item){ .size = 4, .last = 2 }) &&
           !join_new(&(struct comm_item){ .size = UINT32_MAX, .last = UINT32_MAX - 1 }),
       "impossible communicators are rejected");
    unannounced();
    return done_testing();
}
