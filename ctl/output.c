#include "ctl/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

void output_json(const json_t *answer)
{
    json_dumpf(answer, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
    putchar('\n');
}

int output_create(const char *path, mode_t mode, struct err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);

    if (fd < 0 && errno == EEXIST)
        return err_set(err, "%s exists: name another file, or remove it first", path);
    return fd < 0 ? err_set(err, "%s: %s", path, strerror(errno)) : fd;
}

FILE *output_open(const char *path, struct err *err)
{
    int fd;
    FILE *out;

    if (!strcmp(path, "-"))
        return stdout;
    fd = output_create(path, 0666, err);
    if (fd < 0)
        return NULL;
    out = fdopen(fd, "w");
    if (!out) {
        err_set(err, "%s: %s", path, strerror(errno));
        close(fd);
    }
    return out;
}

int output_close(FILE *out, const char *path, int rc, struct err *err)
{
    bool failed = ferror(out);

    if (out != stdout)
        failed |= fclose(out) != 0;
    if (rc >= 0 && failed)
        rc = err_set(err, "%s: cannot write: %s", path, strerror(errno));
    if (rc < 0 && out != stdout)
        unlink(path);
    return rc;
}
