/* executable.c - fuzz target: a program's file of any content, and any bytes as a process' environment. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/executable.h"
#include "agent/processes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char root[] = "/tmp/executable-fuzz.XXXXXX", folder[64], process[80], path[96];

static void remove_files(void)
{
    unlink(path);
    rmdir(process);
    rmdir(folder);
    rmdir(root);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    static char room[PROCESSES_ENVIRONMENT_BYTES];
    struct executable x;
    const char *value;

    if (fd < 0) {
        if (!mkdtemp(root))
            return 0;
        snprintf(folder, sizeof(folder), "%s/proc", root);
        snprintf(process, sizeof(process), "%s/1", folder);
        snprintf(path, sizeof(path), "%s/environ", process);
        mkdir(folder, 0700);
        mkdir(process, 0700);
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        atexit(remove_files);
    }
    if (fd < 0 || ftruncate(fd, 0) < 0 || pwrite(fd, data, size, 0) < 0)
        return 0;
    if (executable_read(&x, path) && !memchr(x.loader, '\0', sizeof(x.loader)))
        abort();
    if (processes_environment(root, 1, room) && (value = processes_variable(room, "LD_PRELOAD")) &&
        value + strlen(value) >= room + sizeof(room))
        abort();
    return 0;
}
