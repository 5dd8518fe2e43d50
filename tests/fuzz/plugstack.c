/* Any bytes as slurm.conf and as plugstack.conf, which may include itself. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor/plugstack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[] = "/dev/shm/plugstack-fuzz.XXXXXX", path[64];

/* Patterns over the whole of this machine's files say nothing about the reader. */
static int far(const uint8_t *data, size_t size)
{
    return (memchr(data, '*', size) || memchr(data, '?', size) || memchr(data, '[', size)) &&
           memchr(data, '/', size);
}

static void remove_dir(void)
{
    unlink(path);
    rmdir(dir);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plugstack p = { .path = "" };
    struct err err = { "" };
    FILE *f;

    if (size && far(data, size))
        return 0;
    if (!path[0]) {
        unsetenv("SLURM_CONF");
        if (!mkdtemp(dir))
            abort();
        snprintf(path, sizeof(path), "%s/plugstack.conf", dir);
        atexit(remove_dir);
    }
    f = fopen(path, "wb");
    if (!f)
        return 0;
    fwrite(data, 1, size, f);
    fclose(f);
    plugstack_locate(&p, path);
    snprintf(p.path, sizeof(p.path), "%s", path);
    if (plugstack_find(&p, "syncguard.so", &err) < 0 ? !err.text[0] : !p.line.file[0] || !p.plugin[0])
        abort(); /* neither where it is nor why not */
    return 0;
}
