/* layout.h - the parts of Gloo's objects that are read, as x86-64 and arm64 Linux lay them out with
 * libstdc++.
 *
 * They are those of Gloo as of 2022 to 2026 (PyTorch 1.13 to 2.14), and are not taken on trust: an options
 * object counts only if its context is one that was seen being made, and if its buffers and numbers agree
 * (wrappers.c); a buffer only if its transport is that of such a context. */
#ifndef SYNCGUARD_GLOO_LAYOUT_H
#define SYNCGUARD_GLOO_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

struct gloo_shared { /* std::shared_ptr */
    const void *at, *count;
};

struct gloo_vector { /* std::vector of std::unique_ptr */
    void **begin, **end, **room;
};

struct gloo_string { /* std::string since C++11 */
    const char *at;
    size_t length;
};

struct gloo_old_string { /* std::string of before, in programs built with _GLIBCXX_USE_CXX11_ABI=0 */
    const char *at;      /* behind its length, its room and a counter, of a word each */
};

/* gloo::rendezvous::Context. */
struct gloo_context {
    const void *methods;
    int32_t rank, size, base;
    struct gloo_shared device, transport;
};
/* Options have a pointer to its base, gloo::Context: it is the whole object until 2022, and has no methods of
 * its own since. */
#define GLOO_CONTEXT_BASE offsetof(struct gloo_context, rank)
/* From 2025 on there may be something shared before the device. */
struct gloo_context_shared {
    const void *methods;
    int32_t rank, size, base;
    struct gloo_shared memory, device, transport;
};

struct gloo_transport { /* gloo::transport::Context */
    const void *methods;
    int32_t rank, size;
};

struct gloo_buffer { /* gloo::transport::tcp::UnboundBuffer */
    const void *methods, *at;
    size_t bytes;
    struct gloo_shared transport;
};

struct gloo_function { /* std::function */
    const void *at[4];
};

/* ---- options ---- */

struct gloo_allreduce {
    struct gloo_shared context;
    int64_t timeout_ms;
    int32_t algorithm;
    struct gloo_vector in, out;
    size_t elements, element_bytes;
    struct gloo_function reduce;
    uint32_t tag;
};

struct gloo_broadcast {
    struct gloo_shared context;
    const struct gloo_buffer *in, *out;
    size_t elements, element_bytes;
    int32_t root;
    uint32_t tag;
};

struct gloo_reduce {
    struct gloo_shared context;
    const struct gloo_buffer *in, *out;
    size_t elements, element_bytes;
    int32_t root;
    struct gloo_function reduce;
    uint32_t tag;
};

struct gloo_allgather { /* and alltoall */
    struct gloo_shared context;
    const struct gloo_buffer *in, *out;
    size_t element_bytes;
    uint32_t tag;
};

struct gloo_allgatherv {
    struct gloo_shared context;
    const struct gloo_buffer *in, *out;
    struct gloo_vector elements;
    size_t element_bytes;
    uint32_t tag;
};

struct gloo_gather {
    struct gloo_shared context;
    const struct gloo_buffer *in, *out;
    size_t element_bytes;
    int32_t root;
    uint32_t tag;
};

struct gloo_scatter {
    struct gloo_shared context;
    struct gloo_vector in;
    const struct gloo_buffer *out;
    size_t element_bytes;
    int32_t root;
    uint32_t tag;
};

struct gloo_alltoallv {
    struct gloo_shared context;
    const struct gloo_buffer *in, *out;
    struct gloo_vector places[4];
    size_t element_bytes;
    uint32_t tag;
};

struct gloo_barrier {
    struct gloo_shared context;
    const struct gloo_buffer *buffer;
    uint32_t tag;
};

#endif
