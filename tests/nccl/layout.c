/* layout.c - are our declarations of NCCL's profiler interface those of NCCL's own headers?  Built where
 * configure is told where these are (--with-nccl-headers); what it compares, it compares while it is
 * compiled. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <err.h> /* NCCL's, not the C library's */
#include <profiler.h>

#include "nccl/profiler.h"
#include "tests/tap.h"

#define SAME(ours, our_member, theirs, their_member)                                           \
    _Static_assert(offsetof(ours, our_member) == offsetof(theirs, their_member) &&             \
                       sizeof(((ours *)0)->our_member) == sizeof(((theirs *)0)->their_member), \
                   #ours "." #our_member " is " #theirs "." #their_member)
#define HEAD(n, theirs)                                      \
    SAME(struct nccl_event_v##n, type, theirs, type);        \
    SAME(struct nccl_event_v##n, parent, theirs, parentObj); \
    SAME(struct nccl_event_v##n, rank, theirs, rank);        \
    _Static_assert(sizeof(struct nccl_event_v##n) <= sizeof(theirs), "ours ends before theirs")
#define COLL(n, theirs)                                                 \
    SAME(struct nccl_event_v##n, coll.seq, theirs, coll.seqNumber);     \
    SAME(struct nccl_event_v##n, coll.func, theirs, coll.func);         \
    SAME(struct nccl_event_v##n, coll.count, theirs, coll.count);       \
    SAME(struct nccl_event_v##n, coll.root, theirs, coll.root);         \
    SAME(struct nccl_event_v##n, coll.datatype, theirs, coll.datatype); \
    SAME(struct nccl_event_v##n, p2p.func, theirs, p2p.func);           \
    SAME(struct nccl_event_v##n, p2p.count, theirs, p2p.count);         \
    SAME(struct nccl_event_v##n, p2p.peer, theirs, p2p.peer);           \
    SAME(struct nccl_event_v##n, p2p.datatype, theirs, p2p.datatype)
#define NAMED(n, theirs)                                            \
    SAME(struct nccl_event_v##n, coll.comm, theirs, coll.commHash); \
    SAME(struct nccl_event_v##n, p2p.comm, theirs, p2p.commHash)
#define TABLE(ours, theirs)                       \
    SAME(ours, name, theirs, name);               \
    SAME(ours, init, theirs, init);               \
    SAME(ours, start, theirs, startEvent);        \
    SAME(ours, stop, theirs, stopEvent);          \
    SAME(ours, record, theirs, recordEventState); \
    SAME(ours, finalize, theirs, finalize)

HEAD(1, ncclProfilerEventDescr_v1_t);
COLL(1, ncclProfilerEventDescr_v1_t);
NAMED(1, ncclProfilerEventDescr_v1_t);
HEAD(2, ncclProfilerEventDescr_v2_t);
COLL(2, ncclProfilerEventDescr_v2_t);
NAMED(2, ncclProfilerEventDescr_v2_t);
HEAD(2, ncclProfilerEventDescr_v3_t);
COLL(2, ncclProfilerEventDescr_v3_t);
NAMED(2, ncclProfilerEventDescr_v3_t);
HEAD(4, ncclProfilerEventDescr_v4_t);
COLL(4, ncclProfilerEventDescr_v4_t);
SAME(struct nccl_event_v4, coll.channels, ncclProfilerEventDescr_v4_t, coll.nChannels);
SAME(struct nccl_event_v4, p2p.channels, ncclProfilerEventDescr_v4_t, p2p.nChannels);
HEAD(5, ncclProfilerEventDescr_v5_t);
COLL(5, ncclProfilerEventDescr_v5_t);
SAME(struct nccl_event_v5, coll.channels, ncclProfilerEventDescr_v5_t, coll.nChannels);
SAME(struct nccl_event_v5, p2p.channels, ncclProfilerEventDescr_v5_t, p2p.nChannels);
HEAD(5, ncclProfilerEventDescr_v6_t);
COLL(5, ncclProfilerEventDescr_v6_t);
SAME(struct nccl_event_v5, coll.channels, ncclProfilerEventDescr_v6_t, coll.nChannels);
SAME(struct nccl_event_v5, ce_coll.seq, ncclProfilerEventDescr_v6_t, ceColl.seqNumber);
SAME(struct nccl_event_v5, ce_coll.func, ncclProfilerEventDescr_v6_t, ceColl.func);
SAME(struct nccl_event_v5, ce_coll.count, ncclProfilerEventDescr_v6_t, ceColl.count);
SAME(struct nccl_event_v5, ce_coll.root, ncclProfilerEventDescr_v6_t, ceColl.root);
SAME(struct nccl_event_v5, ce_coll.datatype, ncclProfilerEventDescr_v6_t, ceColl.datatype);

TABLE(struct nccl_profiler_v1, ncclProfiler_v1_t);
TABLE(struct nccl_profiler_v1, ncclProfiler_v2_t);
TABLE(struct nccl_profiler_v1, ncclProfiler_v3_t);
TABLE(struct nccl_profiler_v4, ncclProfiler_v4_t);
TABLE(struct nccl_profiler_v5, ncclProfiler_v5_t);
TABLE(struct nccl_profiler_v5, ncclProfiler_v6_t);

_Static_assert(NCCL_EVENT_COLL == (int)ncclProfileColl && NCCL_EVENT_P2P == (int)ncclProfileP2p &&
                   NCCL_EVENT_KERNEL == (int)ncclProfileKernelCh &&
                   NCCL_EVENT_CE_COLL == (int)ncclProfileCeColl,
               "our events are NCCL's");

int main(void)
{
    ok(true, "our declarations are those of NCCL's headers");
    return done_testing();
}
