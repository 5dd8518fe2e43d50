/* Any bytes as any of the kernel's texts: read or refused, never more than is there. */
#include <stdlib.h>
#include <string.h>

#include "nodefigures/health_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct health_ticks cpu[8];
    struct health_nic nic[4];
    struct health_status status;
    struct health_process process;
    struct health_stat stat;
    struct cpuset cpus;
    uint64_t a, b;
    char path[32], *text = malloc(size + 1);

    memcpy(text, data, size);
    text[size] = '\0';
    health_text_stat(text, &stat, cpu, 8);
    health_text_value(text, "pswpin", &a);
    health_text_table(text, "Tcp", "RetransSegs", &a);
    health_text_pressure(text, &a);
    health_text_nics(text, nic, 4);
    health_text_schedstat(text, &a, &b);
    health_text_process(text, &process);
    health_text_cgroup(text, path, sizeof(path));
    if (health_text_status(text, &status) &&
        (status.cpus.n > CPUSET_MAX || !memchr(status.cpus_text, '\0', sizeof(status.cpus_text))))
        abort();
    if (!cpuset_parse(&cpus, text))
        for (uint32_t i = cpuset_next(&cpus, 0), n = 0; i < CPUSET_MAX || n != cpus.n;
             i = cpuset_next(&cpus, i + 1))
            if (++n > cpus.n)
                abort();
    free(text);
    return 0;
}
