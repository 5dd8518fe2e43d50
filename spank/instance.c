#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dl_iterate_phdr(), dladdr() */
#endif
#include "spank/instance.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

/* A line's arguments cannot tell the lines apart, because none has to have any; their order can. */
static struct {
    unsigned lines;                      /* that name this file */
    unsigned called[INSTANCE_CALLBACKS]; /* for how many of them */
    bool copied;                         /* an earlier line names a copy of it */
} instance;

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Objects come in the order in which they were loaded. Returns 1 at the first of this file's name. */
static int first_of_name(struct dl_phdr_info *info, size_t size, void *arg)
{
    const char **path = arg;

    (void)size;
    if (strcmp(name_of(info->dlpi_name), name_of(*path)) != 0)
        return 0;
    *path = info->dlpi_name;
    return 1;
}

static bool is_copy(void)
{
    const char *path;
    Dl_info own;

    if (!dladdr(&instance, &own) || !own.dli_fname)
        return false;
    path = own.dli_fname;
    return dl_iterate_phdr(first_of_name, &path) == 1 && strcmp(path, own.dli_fname) != 0;
}

bool instance_begin(void)
{
    if (instance.lines++ == 0)
        instance.copied = is_copy();
    return instance.lines == 1 && !instance.copied;
}

bool instance_is_first(enum instance_callback callback)
{
    bool first = instance.called[callback] == 0 && !instance.copied;

    if (++instance.called[callback] < instance.lines)
        return first;
    instance.called[callback] = 0;
    if (callback == INSTANCE_EXIT)
        instance.lines = 0; /* a process that stays may load its lines again */
    return first;
}
