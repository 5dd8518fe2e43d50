/* Any bytes as a configuration file: the dialect alone, then the table of keys over it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/conf.h"
#include "common/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int check_line(const struct conf_line *line, void *arg, struct err *err)
{
    size_t *total = arg;

    (void)err;
    if (line->n == 0 || line->n > CONF_PAIRS_MAX)
        abort();
    for (size_t i = 0; i < line->n; i++) {
        if (!*line->pairs[i].key || line->pairs[i].line == 0)
            abort();
        *total += strlen(line->pairs[i].key) + strlen(line->pairs[i].value);
    }
    if (*total > 2 * CONF_FILE_MAX * CONF_FILES_MAX)
        abort();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[64];
    static struct config c;
    struct err err = { "" };
    size_t total = 0;
    FILE *f;

    if (conf_parse("fuzz.conf", (const char *)data, size, check_line, &total, &err) < 0 && !err.text[0])
        abort(); /* a failure without a reason */
    if (!path[0])
        snprintf(path, sizeof(path), "/dev/shm/sg-fuzz-conf.%d", (int)getpid());
    f = fopen(path, "wb");
    if (!f)
        return 0;
    fwrite(data, 1, size, f);
    fclose(f);
    err.text[0] = '\0';
    if (config_load(&c, path, &err) < 0 ? !err.text[0]
                                        : c.n_policies < 2 || c.n_policies > CONFIG_POLICIES_MAX)
        abort();
    unlink(path);
    return 0;
}
