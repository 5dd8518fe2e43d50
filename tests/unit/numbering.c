/* The numbers of a trace's records: missing, twice, late. */
#include "trace/numbering.h"

#include "ring/ring.h"
#include "tests/tap.h"

static struct trace_record record(uint8_t op, uint32_t rank, uint32_t peer, uint32_t seq, uint64_t at_ns)
{
    return (struct trace_record){ .call = { .rank = rank,
                                            .op = op,
                                            .peer = peer,
                                            .seq = seq,
                                            .enter_ns = at_ns,
                                            .leave_ns = at_ns + 10 },
                                  .left = true };
}

static struct numbered take(struct numbering *n, uint8_t op, uint32_t seq, uint64_t at_ns)
{
    struct trace_record r = record(op, 1, 2, seq, at_ns);

    return numbering_take(n, &r, 7);
}

static void collectives(void)
{
    struct numbering *n = numbering_new(4);
    struct numbered k = take(n, RING_OP_BARRIER, 5, 0);

    ok(k.is == NUMBERING_GOOD && k.first && !k.skipped && !k.lost_calls,
       "numbering: the first number of a series is where it begins");
    k = take(n, RING_OP_BARRIER, 6, 20);
    ok(k.is == NUMBERING_GOOD && !k.first && !k.lost_calls, "numbering: the next one is good");
    k = take(n, RING_OP_BARRIER, 6, 20);
    ok(k.is == NUMBERING_TWICE, "numbering: one that came before is recognised");
    k = take(n, RING_OP_BARRIER, 9, 40);
    ok(k.is == NUMBERING_GOOD && k.skipped == 2 && k.lost_calls && numbering_lost(n, 1) == 2,
       "numbering: collectives that were skipped are lost");
    k = take(n, RING_OP_BARRIER, 8, 30);
    ok(k.is == NUMBERING_LATE && k.found && numbering_lost(n, 1) == 1,
       "numbering: one that comes behind a newer one is late, and not lost");
    k = take(n, RING_OP_BARRIER, 8, 30);
    ok(k.is == NUMBERING_TWICE, "numbering: a late one is recognised when it comes again");
    is_int((long long)numbering_lost(n, 0), 0, "numbering: nothing is lost of another rank");
    numbering_free(n);
}

static void messages(void)
{
    struct numbering *n = numbering_new(4);
    struct numbered k;

    take(n, RING_OP_SEND, 0, 0);
    k = take(n, RING_OP_SEND, 2, 20);
    ok(k.is == NUMBERING_GOOD && k.skipped == 1 && !k.lost_calls && !k.lost_messages,
       "numbering: a message that was skipped may yet come");
    k = take(n, RING_OP_SEND, 1, 20);
    ok(k.is == NUMBERING_GOOD && k.found && numbering_lost(n, 1) == 0,
       "numbering: a message that comes behind a newer one is good");
    take(n, RING_OP_SEND, 4, 40);
    k = take(n, RING_OP_SEND, 5, 60);
    ok(k.is == NUMBERING_GOOD && k.lost_messages && numbering_lost(n, 1) == 1,
       "numbering: what is still missing later is lost");
    k = take(n, RING_OP_SEND, 6, 80);
    ok(!k.lost_messages, "numbering: that is said once");
    k = take(n, RING_OP_RECV, 0, 100);
    ok(k.is == NUMBERING_GOOD && !k.skipped, "numbering: the other way is another series");
    numbering_free(n);
}

int main(void)
{
    collectives();
    messages();
    return done_testing();
}
