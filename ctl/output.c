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

FILE *output_open(const char *path, struct err *err)
{
    int fd;
    FILE *out;

    if (!strcmp(path, "-"))
        return stdout;
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    out = fd < 0 ? NULL : fdopen(fd, "w");
    if (!out && errno == EEXIST)
        err_set(err, "%s exists: name another file, or remove it first", path);
    else if (!out)
        err_set(err, "%s: %s", path, strerror(errno));
    if (!out && fd >= 0)
        close(fd);
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
