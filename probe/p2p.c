/* p2p.c - wrappers of send, receive and probe calls, generated from p2p.def; see p2p.h. */
#include "probe/p2p.h"

#define MESSAGE_AS(symbol, blocks, comm, bytes, params, args)                 \
    EXPORT int symbol params;                                                 \
    int symbol params                                                         \
    {                                                                         \
        static struct next next = { #symbol, NULL };                          \
        void *frame = __builtin_frame_address(0);                             \
        uint64_t sent = 0;                                                    \
        struct p2p m;                                                         \
        int rc;                                                               \
                                                                              \
        if (p2p_wanted(&m, frame)) {                                          \
            sent = bytes;                                                     \
            p2p_enter(&m, RING_OP_POINT_TO_POINT, comm, sent, blocks, frame); \
        }                                                                     \
        rc = ((int(*) params)next_get(&next))args;                            \
        if (m.ring)                                                           \
            ring_p2p(m.ring, sent, p2p_leave(&m) - m.enter);                  \
        return rc;                                                            \
    }

#define COUNT              int
#define MESSAGE(name, ...) BOTH(MESSAGE_AS, name, __VA_ARGS__)
#include "probe/p2p.def"
#undef MESSAGE
#undef COUNT

#define LARGE
#define COUNT              int64_t
#define MESSAGE(name, ...) BOTH(MESSAGE_AS, name##_c, __VA_ARGS__)
#include "probe/p2p.def"
