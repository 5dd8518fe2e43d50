/* standin-probe.c - preloaded in place of the probe in the plugin's tests: makes an empty ring in a task that
 * asks for it. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void loaded(void)
{
    const char *dir = getenv("SYNCGUARD_DIR"), *task = getenv("SLURM_PROCID");
    char path[4096];
    int fd;

    /* Only in tasks that ask for it: a step of `true` has no ring. */
    if (!dir || !task || !getenv("STANDIN_RING"))
        return;
    snprintf(path, sizeof(path), "%s/%s.0.0.ring", dir, task);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
}
