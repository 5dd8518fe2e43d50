#include "actions/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int check_file(int fd, const char *path, struct err *err)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return err_set(err, "%s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return err_set(err, "%s: not a regular file", path);
    if (st.st_uid != 0 && st.st_uid != geteuid())
        return err_set(err, "%s: owned by user %u: expected this user or root", path, (unsigned)st.st_uid);
    if (st.st_mode & 077)
        return err_set(err, "%s: mode %04o lets others read it: expected 0600", path,
                       (unsigned)(st.st_mode & 07777));
    return 0;
}

int secret_read(const char *path, char *buf, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc = -1;
    ssize_t n;

    if (fd < 0)
        return err_set(err, "%s: %s", path, strerror(errno));
    if (check_file(fd, path, err) < 0)
        goto out;
    n = read(fd, buf, SECRET_MAX - 1);
    if (n < 0) {
        err_set(err, "%s: %s", path, strerror(errno));
        goto out;
    }
    buf[n] = '\0';
    buf[strcspn(buf, "\r\n")] = '\0';
    if (!*buf || n == SECRET_MAX - 1) {
        err_set(err, "%s: expected one line of 1 to %d characters", path, SECRET_MAX - 2);
        goto out;
    }
    for (const char *c = buf; *c; c++)
        if (*c <= ' ' || *c >= 0x7f) {
            err_set(err, "%s: expected printable characters without blanks", path);
            goto out;
        }
    rc = 0;
out:
    close(fd);
    return rc;
}
