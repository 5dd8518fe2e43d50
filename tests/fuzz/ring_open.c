/* ring_open.c - fuzz target: a ring file of any content, read in every way a reader has. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ring/layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[] = "/tmp/ring-fuzz.XXXXXX";

static void read_all(bool peek)
{
    static struct ring_event events[256];
    static struct ring_comm comms[RING_COMMS_MAX];
    struct ring *r = ring_open(path, peek);
    struct ring_info info;
    struct ring_counts counts;
    struct ring_live live;
    size_t n;

    if (!r)
        return;
    ring_info_get(r, &info);
    ring_counts_get(r, &counts);
    ring_live_get(r, &live);
    n = ring_comms_get(r, &(uint64_t){ 0 }, comms) + ring_last(r, events, 256) + ring_drain(r, events, 256) +
        ring_drain(r, events, 256);
    if (n > RING_COMMS_MAX + 3 * 256 || strlen(info.program) >= sizeof(info.program))
        abort(); /* more than was asked for */
    ring_close(r);
}

static void remove_file(void)
{
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    /* Inputs of even size are filled up to the size of a ring of 64 events: else the fuzzer would have to
     * invent 25 KiB. */
    off_t bytes = size & 1 ? (off_t)size : (off_t)ring_file_bytes(64);

    if (fd < 0) {
        fd = mkstemp(path);
        if (fd < 0)
            return 0;
        atexit(remove_file);
    }
    if (ftruncate(fd, 0) < 0 || ftruncate(fd, bytes) < 0 || pwrite(fd, data, size, 0) < 0)
        return 0;
    read_all(true);
    read_all(false);
    return 0;
}
