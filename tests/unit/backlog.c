/* Numbered batches: kept until acknowledged and a while longer, within a bound of bytes. */
#include "agent/backlog.h"
#include "tests/tap.h"

static bool holds(const struct backlog *b, uint64_t batch, const char *want)
{
    size_t bytes;
    const char *data = backlog_get(b, batch, &bytes);

    return data && bytes == strlen(want) && !memcmp(data, want, bytes);
}

static size_t held_bytes(const struct backlog *b)
{
    size_t all = 0, bytes;

    for (uint64_t i = backlog_state_get(b)->first; i < backlog_state_get(b)->next; i++)
        all += backlog_get(b, i, &bytes) ? bytes : 0;
    return all;
}

static void add(struct backlog *b, const char *text, double now_s)
{
    backlog_add(b, text, strlen(text), now_s);
}

static void keeping(void)
{
    struct backlog *b = backlog_new(1, 100, 30);

    ok(backlog_state_get(b)->first == 1 && backlog_state_get(b)->next == 1 && !holds(b, 1, ""),
       "a new backlog is empty");
    add(b, "one", 0);
    add(b, "two", 0);
    add(b, "three", 0);
    ok(holds(b, 1, "one") && holds(b, 2, "two") && holds(b, 3, "three") && backlog_state_get(b)->next == 4,
       "batches are numbered from 1");
    is_int((long long)backlog_state_get(b)->waiting_bytes, 11,
           "all bytes of new batches wait for acknowledgement");
    backlog_ack(b, 2, 10);
    ok(holds(b, 1, "one") && backlog_state_get(b)->waiting_bytes == 5 && held_bytes(b) == 11,
       "acknowledged batches stay for a while");
    backlog_ack(b, 1, 10);
    is_int((long long)backlog_state_get(b)->acked, 2, "an older acknowledgement changes nothing");
    backlog_ack(b, 4, 10);
    backlog_ack(b, UINT64_MAX, 10);
    is_int((long long)backlog_state_get(b)->acked, 2,
           "the acknowledgement of a batch that does not exist is ignored");
    add(b, "four", 39);
    ok(holds(b, 1, "one"), "acknowledged batches are still there after 29 s");
    add(b, "five", 41);
    ok(!holds(b, 1, "one") && !holds(b, 2, "two") && holds(b, 3, "three"),
       "acknowledged batches are removed after keep_s, others stay");
    is_int((long long)backlog_state_get(b)->lost, 0, "removing acknowledged batches loses none");
    backlog_free(b);
}

static void bounded(void)
{
    struct backlog *b = backlog_new(1, 50, 30);

    for (int i = 0; i < 10; i++)
        add(b, "0123456789", i);
    ok(backlog_state_get(b)->first == 6 && backlog_state_get(b)->next == 11 && held_bytes(b) == 50,
       "a full backlog drops the oldest batches");
    is_int((long long)backlog_state_get(b)->lost, 5,
           "dropped batches that were not acknowledged are counted as lost");
    backlog_ack(b, 7, 20);
    ok(backlog_state_get(b)->waiting_bytes == 30 && backlog_state_get(b)->acked == 7,
       "an acknowledgement beyond the dropped batches is accepted");
    add(b, "x", 21);
    is_int((long long)backlog_state_get(b)->lost, 5, "batches dropped but acknowledged are not lost");
    backlog_drop(b, 8);
    ok(backlog_state_get(b)->first == 9 && backlog_state_get(b)->lost == 6,
       "backlog_drop() up to 8 leaves batch 9 first and counts one more as lost");
    backlog_drop(b, 1000);
    ok(backlog_state_get(b)->first == backlog_state_get(b)->next && !held_bytes(b) &&
           !backlog_state_get(b)->waiting_bytes,
       "backlog_drop() beyond the last batch leaves an empty backlog");
    add(b, "again", 22);
    ok(holds(b, 12, "again"), "the numbers continue after the backlog was emptied");
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
    for (uint64_t i = backlog_state_get(b)->first; i < backlog_state_get(b)->next; i++) {
        snprintf(text, sizeof(text), "%d", (int)i);
        good &= holds(b, i, text);
    }
    ok(good && backlog_state_get(b)->next == 21000 && backlog_state_get(b)->lost == 0,
       "20000 batches are each found under their number");
    backlog_free(b);
}

int main(void)
{
    keeping();
    bounded();
    many();
    return done_testing();
}
