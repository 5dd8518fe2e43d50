/* Batches by number: kept until they are had, a while longer, and never more than fit. */
#include "agent/backlog.h"
#include "tests/tap.h"

static bool holds(const struct backlog *b, uint64_t batch, const char *want)
{
    size_t bytes;
    const char *data = backlog_get(b, batch, &bytes);

    return data && bytes == strlen(want) && !memcmp(data, want, bytes);
}

static void add(struct backlog *b, const char *text, double now_s)
{
    backlog_add(b, text, strlen(text), now_s);
}

static void keeping(void)
{
    struct backlog *b = backlog_new(1, 100, 30);

    ok(backlog_first(b) == 1 && backlog_next(b) == 1 && !holds(b, 1, ""), "empty");
    add(b, "one", 0);
    add(b, "two", 0);
    add(b, "three", 0);
    ok(holds(b, 1, "one") && holds(b, 2, "two") && holds(b, 3, "three") && backlog_next(b) == 4,
       "numbered from 1");
    is_int((long long)backlog_waiting_bytes(b), 11, "all of them wait");
    backlog_ack(b, 2, 10);
    ok(holds(b, 1, "one") && backlog_waiting_bytes(b) == 5 && backlog_bytes(b) == 11,
       "acknowledged, they stay");
    backlog_ack(b, 1, 10);
    is_int((long long)backlog_acked(b), 2, "an old acknowledgement takes nothing back");
    backlog_ack(b, 4, 10);
    backlog_ack(b, UINT64_MAX, 10);
    is_int((long long)backlog_acked(b), 2, "a batch that does not exist cannot be acknowledged");
    add(b, "four", 39);
    ok(holds(b, 1, "one"), "for 30 s");
    add(b, "five", 41);
    ok(!holds(b, 1, "one") && !holds(b, 2, "two") && holds(b, 3, "three"),
       "then they go; what is not acknowledged stays");
    is_int((long long)backlog_lost(b), 0, "nothing is lost");
    backlog_free(b);
}

static void bounded(void)
{
    struct backlog *b = backlog_new(1, 50, 30);

    for (int i = 0; i < 10; i++)
        add(b, "0123456789", i);
    ok(backlog_first(b) == 6 && backlog_next(b) == 11 && backlog_bytes(b) == 50, "the oldest give way");
    is_int((long long)backlog_lost(b), 5, "and are counted");
    backlog_ack(b, 7, 20);
    ok(backlog_waiting_bytes(b) == 30 && backlog_acked(b) == 7, "acknowledging past the lost ones");
    add(b, "x", 21);
    is_int((long long)backlog_lost(b), 5, "what was acknowledged is no loss");
    backlog_drop(b, 8);
    ok(backlog_first(b) == 9 && backlog_lost(b) == 6, "giving some up");
    backlog_drop(b, 1000);
    ok(backlog_first(b) == backlog_next(b) && !backlog_bytes(b) && !backlog_waiting_bytes(b),
       "giving all up");
    add(b, "again", 22);
    ok(holds(b, 12, "again"), "numbers go on");
    backlog_free(b);
}

static void many(void)
{
    struct backlog *b = backlog_new(1000, 1u << 20, 30);
    bool good = true;
    char text[16];

    for (int i = 1000; i < 21000; i++) {
        snprintf(text, sizeof(text), "%d", i);
        add(b, text, 0);
        if (i % 3 == 0)
            backlog_ack(b, (uint64_t)i - 500, i < 10000 ? 0 : 100);
    }
    for (uint64_t i = backlog_first(b); i < backlog_next(b); i++) {
        snprintf(text, sizeof(text), "%d", (int)i);
        good &= holds(b, i, text);
    }
    ok(good && backlog_next(b) == 21000 && backlog_lost(b) == 0, "20000 batches, each under its own number");
    backlog_free(b);
}

int main(void)
{
    keeping();
    bounded();
    many();
    return done_testing();
}
