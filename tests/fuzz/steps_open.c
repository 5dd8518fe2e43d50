/* steps_open.c - fuzz target: a page of any content in the place of one that a program tells its steps in. */
#include <fcntl.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/checkpoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[] = "/tmp/steps-fuzz.XXXXXX", path[64];

static void remove_dir(void)
{
    unlink(path);
    rmdir(dir);
}

static void ignore(const char *text, void *arg)
{
    (void)text;
    (void)arg;
}

static bool name(pid_t pid, uint32_t *rank, uint16_t *app, void *arg)
{
    (void)pid;
    (void)arg;
    *rank = 0;
    *app = 0;
    return true;
}

static void take(const struct telemetry_item *item, void *arg)
{
    (void)arg;
    if (item->kind == TELEMETRY_PHASES ? item->phases.phase >= MARKS_PHASES
                                       : item->value.value >= MARKS_VALUES)
        abort();
}

static const struct checkpoint_sink sink = { name, take, NULL };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    /* Inputs of even size are filled up to a page. */
    off_t bytes = size & 1 ? (off_t)size : 4096;
    struct checkpoint *c;
    json_t *o;

    if (fd < 0) {
        if (!mkdtemp(dir))
            return 0;
        snprintf(path, sizeof(path), "%s/0.0.steps", dir);
        fd = open(path, O_RDWR | O_CREAT, 0600);
        atexit(remove_dir);
    }
    if (ftruncate(fd, 0) < 0 || ftruncate(fd, bytes) < 0 || pwrite(fd, data, size, 0) < 0)
        return 0;
    c = checkpoint_new(dir, 1, NULL, ignore, NULL);
    checkpoint_scan(c);
    checkpoint_second(c);
    o = checkpoint_report(c, true);
    if (o && !json_object_get(o, "checkpoint"))
        abort();
    json_decref(o);
    checkpoint_marks(c, true, &sink);
    checkpoint_free(c);
    return 0;
}
