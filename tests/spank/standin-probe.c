/* standin-probe.c - what the plugin's tests preload in place of the probe: a task that has it makes an empty
 * ring. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void loaded(void)
{
    const char *dir = getenv("SYNCGUARD_DIR"), *task = getenv("SLURM_PROCID");
    char path[4096];
    int fd;

    /* Only in tasks that ask: a step of `true` has no ring. */
    if (!dir || !task || !getenv("STANDIN_RING"))
        return;
    snprintf(path, sizeof(path), "%s/%s.0.0.ring", dir, task);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
}
