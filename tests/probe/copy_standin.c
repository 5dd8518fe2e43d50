/* copy_standin.c - one of two copies of UCX, with contexts and workers of its own; and what uses it, a
 * module, if MODULE is defined. */
#include <stdlib.h>

#define SEEN __attribute__((visibility("default")))

void *ucp_init(void); /* as the real one's, a function that the probe does not wrap */
signed char ucp_worker_create(void *context, const void *params, void **worker);
unsigned ucp_worker_progress(void *worker);

#ifndef MODULE

struct worker {
    int copy, polls;
};

SEEN void *ucp_init(void)
{
    static int copy = COPY;

    return &copy;
}

/* Contexts and workers of another version have another layout. */
SEEN signed char ucp_worker_create(void *context, const void *params, void **worker)
{
    struct worker *w = calloc(1, sizeof(*w));

    (void)params;
    if (*(int *)context != COPY || !w)
        abort();
    w->copy = COPY;
    *worker = w;
    return 0;
}

SEEN unsigned ucp_worker_progress(void *worker)
{
    struct worker *w = worker;

    if (w->copy != COPY)
        abort();
    return (unsigned)(COPY * 100 + ++w->polls);
}

#else

int SCR_Need_checkpoint(int *flag);
int module_begin(void);
unsigned module_poll(void);
int module_asks(int *flag);

static void *worker[100];

SEEN int module_begin(void)
{
    for (int i = 0; i < 100; i++)
        if (ucp_worker_create(ucp_init(), NULL, &worker[i]) != 0)
            return -1;
    return 0;
}

/* Of each worker in turn; what the first one says. */
SEEN unsigned module_poll(void)
{
    unsigned said = ucp_worker_progress(worker[0]);

    for (int i = 1; i < 100; i++)
        if (ucp_worker_progress(worker[i]) != said)
            abort();
    return said;
}

SEEN int module_asks(int *flag)
{
    return SCR_Need_checkpoint(flag);
}

#endif
