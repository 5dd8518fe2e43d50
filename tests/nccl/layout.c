/* layout.c - are our declarations of NCCL's profiler interface those of NCCL's own headers?  Built where
 * configure is told where these are (--with-nccl-headers); what it compares, it compares while it is
 * compiled.
 *
 * The headers are those for plugins (ext-profiler/example/nccl, from 2.29 on plugins/profiler/example/nccl),
 * which are complete by themselves, or NCCL's own (src/include/plugin/profiler, from 2.26 on), which need
 * some names from others.  A release has no headers of versions that came later: they are not compared. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#if __has_include(<profiler.h>)
#include <err.h> /* NCCL's, not the C library's */
#include <profiler.h>
#define EVENTS true
#else
typedef int ncclResult_t, ncclProfilerEventState_v1_t, ncclProfilerEventState_v2_t,
    ncclProfilerEventState_v3_t, ncclProfilerEventState_v4_t, ncclProfilerEventState_v5_t,
    ncclProfilerEventState_v6_t, ncclProfilerEventState_v7_t;
typedef void (*ncclDebugLogger_t)(int, unsigned long, const char *, int, const char *, ...);
typedef pid_t ncclPid_t;
#endif
#if __has_include(<profiler_v1.h>)
#define V1 true
#include <profiler_v1.h>
#endif
#if __has_include(<profiler_v2.h>)
#define V2 true
#include <profiler_v2.h>
#endif
#if __has_include(<profiler_v3.h>)
#define V3 true
#include <profiler_v3.h>
#endif
#if __has_include(<profiler_v4.h>)
#define V4 true
#include <profiler_v4.h>
#endif
#if __has_include(<profiler_v5.h>)
#define V5 true
#include <profiler_v5.h>
#endif
#if __has_include(<profiler_v6.h>)
#define V6 true
#include <profiler_v6.h>
#endif
#if __has_include(<profiler_v7.h>)
#define V7 true
#include <profiler_v7.h>
#endif

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

#define CHANNELS(n, theirs)                                              \
    SAME(struct nccl_event_v##n, coll.channels, theirs, coll.nChannels); \
    SAME(struct nccl_event_v##n, coll.algorithm, theirs, coll.algo);     \
    SAME(struct nccl_event_v##n, p2p.channels, theirs, p2p.nChannels)
#define KERNELS(n, theirs, states)                                       \
    SAME(struct nccl_event_v##n, kernel.timer, theirs, kernelCh.pTimer); \
    SAME(union nccl_state_v4, kernel.timer, states, kernelCh.pTimer)
#define CALLS(theirs)                                                             \
    SAME(struct nccl_event_v5, coll_api.captured, theirs, collApi.graphCaptured); \
    SAME(struct nccl_event_v5, p2p_api.captured, theirs, p2pApi.graphCaptured)
#define COPY_ENGINES(theirs)                                           \
    SAME(struct nccl_event_v5, ce_coll.seq, theirs, ceColl.seqNumber); \
    SAME(struct nccl_event_v5, ce_coll.func, theirs, ceColl.func);     \
    SAME(struct nccl_event_v5, ce_coll.count, theirs, ceColl.count);   \
    SAME(struct nccl_event_v5, ce_coll.root, theirs, ceColl.root);     \
    SAME(struct nccl_event_v5, ce_coll.datatype, theirs, ceColl.datatype)

#ifdef V1
HEAD(1, ncclProfilerEventDescr_v1_t);
COLL(1, ncclProfilerEventDescr_v1_t);
NAMED(1, ncclProfilerEventDescr_v1_t);
TABLE(struct nccl_profiler_v1, ncclProfiler_v1_t);
#ifdef EVENTS
_Static_assert(NCCL_EVENT_GROUP == (int)ncclProfileGroup && NCCL_EVENT_COLL == (int)ncclProfileColl &&
                   NCCL_EVENT_P2P == (int)ncclProfileP2p,
               "our events are NCCL's");
#endif
#endif

#ifdef V2
HEAD(2, ncclProfilerEventDescr_v2_t);
COLL(2, ncclProfilerEventDescr_v2_t);
NAMED(2, ncclProfilerEventDescr_v2_t);
TABLE(struct nccl_profiler_v1, ncclProfiler_v2_t);
#endif

#ifdef V3
HEAD(2, ncclProfilerEventDescr_v3_t);
COLL(2, ncclProfilerEventDescr_v3_t);
NAMED(2, ncclProfilerEventDescr_v3_t);
TABLE(struct nccl_profiler_v1, ncclProfiler_v3_t);
#endif

#ifdef V4
HEAD(4, ncclProfilerEventDescr_v4_t);
COLL(4, ncclProfilerEventDescr_v4_t);
CHANNELS(4, ncclProfilerEventDescr_v4_t);
KERNELS(4, ncclProfilerEventDescr_v4_t, ncclProfilerEventStateArgs_v4_t);
TABLE(struct nccl_profiler_v4, ncclProfiler_v4_t);
#ifdef EVENTS
_Static_assert(NCCL_EVENT_KERNEL == (int)ncclProfileKernelCh &&
                   NCCL_STATE_KERNEL_STOP == (int)ncclProfilerKernelChStop,
               "our event and its state are NCCL's");
#endif
#endif

#ifdef V5
HEAD(5, ncclProfilerEventDescr_v5_t);
COLL(5, ncclProfilerEventDescr_v5_t);
CHANNELS(5, ncclProfilerEventDescr_v5_t);
KERNELS(5, ncclProfilerEventDescr_v5_t, ncclProfilerEventStateArgs_v5_t);
CALLS(ncclProfilerEventDescr_v5_t);
TABLE(struct nccl_profiler_v5, ncclProfiler_v5_t);
#ifdef EVENTS
_Static_assert(NCCL_EVENT_COLL_API == (int)ncclProfileCollApi && NCCL_EVENT_P2P_API == (int)ncclProfileP2pApi,
               "our events are NCCL's");
#endif
#endif

#ifdef V6
HEAD(5, ncclProfilerEventDescr_v6_t);
COLL(5, ncclProfilerEventDescr_v6_t);
CHANNELS(5, ncclProfilerEventDescr_v6_t);
KERNELS(5, ncclProfilerEventDescr_v6_t, ncclProfilerEventStateArgs_v6_t);
CALLS(ncclProfilerEventDescr_v6_t);
COPY_ENGINES(ncclProfilerEventDescr_v6_t);
TABLE(struct nccl_profiler_v5, ncclProfiler_v6_t);
#ifdef EVENTS
_Static_assert(NCCL_EVENT_CE_COLL == (int)ncclProfileCeColl, "our event is NCCL's");
#endif
#endif

#ifdef V7
HEAD(5, ncclProfilerEventDescr_v7_t);
COLL(5, ncclProfilerEventDescr_v7_t);
CHANNELS(5, ncclProfilerEventDescr_v7_t);
KERNELS(5, ncclProfilerEventDescr_v7_t, ncclProfilerEventStateArgs_v7_t);
CALLS(ncclProfilerEventDescr_v7_t);
COPY_ENGINES(ncclProfilerEventDescr_v7_t);
TABLE(struct nccl_profiler_v5, ncclProfiler_v7_t);
_Static_assert(sizeof(ncclProfiler_v7_t) <= sizeof(struct nccl_profiler_v7),
               "what lies behind our functions is ours");
#endif

static void is_compared(int version)
{
    ok(true, "version %d: our declarations are those of NCCL's headers", version);
}

int main(void)
{
#ifdef V1
    is_compared(1);
#endif
#ifdef V2
    is_compared(2);
#endif
#ifdef V3
    is_compared(3);
#endif
#ifdef V4
    is_compared(4);
#endif
#ifdef V5
    is_compared(5);
#endif
#ifdef V6
    is_compared(6);
#endif
#ifdef V7
    is_compared(7);
#endif
    return done_testing();
}
