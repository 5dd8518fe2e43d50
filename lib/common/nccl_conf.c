#include "common/nccl_conf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool nccl_conf_value(const char *text, size_t bytes, const char *variable, char value[NCCL_CONF_VALUE])
{
    size_t name = strlen(variable);

    for (const char *line = text, *end = text + bytes, *next; line < end; line = next) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        size_t n = strnlen(line, (size_t)((newline ? newline : end) - line));

        next = newline ? newline + 1 : end;
        if (n && line[n - 1] == '\r')
            n--;
        if (n <= name || memcmp(line, variable, name) != 0 || line[name] != '=')
            continue;
        n -= name + 1;
        n = n < NCCL_CONF_VALUE ? n : NCCL_CONF_VALUE - 1;
        memcpy(value, line + name + 1, n);
        value[n] = '\0';
        return true;
    }
    return false;
}

static size_t read_text(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    struct stat st;
    size_t bytes = 0;
    ssize_t n = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? 1 : 0;

    while (n > 0 && bytes < size) {
        n = read(fd, text + bytes, size - bytes);
        if (n < 0 && errno == EINTR)
            n = 1;
        else
            bytes += n > 0 ? (size_t)n : 0;
    }
    if (fd >= 0)
        close(fd);
    return bytes;
}

/* The value in the file at path; false where that is too long, or there is none. */
static bool value_in(const char *path, int length, size_t size, const char *variable,
                     char value[NCCL_CONF_VALUE])
{
    char *text = length > 0 && (size_t)length < size ? malloc(NCCL_CONF_BYTES) : NULL;
    bool found = text && nccl_conf_value(text, read_text(path, text, NCCL_CONF_BYTES), variable, value);

    free(text);
    return found;
}

bool nccl_conf_find(const struct nccl_conf_files *f, char *path, size_t size)
{
    static const char *const libraries[] = { "nccl", "rccl" };
    bool named = f->named && *f->named;
    char value[NCCL_CONF_VALUE];
    int n = 0;

    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
        bool found = false;

        if (named)
            n = snprintf(path, size, "%s", f->named);
        else if (f->home && *f->home)
            n = snprintf(path, size, "%s/.%s.conf", f->home, libraries[i]);
        if (named || (f->home && *f->home))
            found = value_in(path, n, size, f->variable, value);
        if (!found) {
            n = snprintf(path, size, "%s/%s.conf", f->etc, libraries[i]);
            found = value_in(path, n, size, f->variable, value);
        }
        if (found && strcmp(value, f->ours) != 0)
            return true;
    }
    return false;
}
