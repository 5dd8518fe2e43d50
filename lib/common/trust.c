#include "common/trust.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS_MAX 40 /* as the kernel's */

/* Members of group 0 count as root. */
static int check_owner(const char *path, const struct stat *st, struct err *err)
{
    bool link = S_ISLNK(st->st_mode), sticky = S_ISDIR(st->st_mode) && (st->st_mode & S_ISVTX);
    const char *who = st->st_mode & S_IWOTH ? "all users" : "its group";

    if (st->st_uid != 0 && st->st_uid != getuid())
        return err_set(err, "%s belongs to uid %u", path, (unsigned)st->st_uid);
    if (!link && !sticky && ((st->st_mode & S_IWOTH) || ((st->st_mode & S_IWGRP) && st->st_gid != 0)))
        return err_set(err, "%s can be written by %s", path, who);
    return 0;
}

/* Write the link's target in front of the rest of the path. */
static int follow_link(const char *link, char *rest, struct err *err)
{
    char target[PATH_MAX], whole[PATH_MAX];
    ssize_t n = readlink(link, target, sizeof(target) - 1);

    if (n < 0)
        return err_set(err, "%s: %s", link, strerror(errno));
    target[n] = '\0';
    if (snprintf(whole, sizeof(whole), "%s/%s", target, rest) >= (int)sizeof(whole))
        return err_set(err, "%s: %s", link, strerror(ENAMETOOLONG));
    strcpy(rest, whole);
    return 0;
}

static void cut_last(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash)
        *slash = '\0';
}

int trust_check(const char *path, struct err *err)
{
    char done[PATH_MAX] = "", rest[PATH_MAX], name[NAME_MAX + 1];
    struct stat st;
    int links = 0;

    if (*path != '/' || strlen(path) >= sizeof(rest))
        return err_set(err, "%s: not an absolute path", path);
    strcpy(rest, path);
    if (lstat("/", &st) < 0 || check_owner("/", &st, err) < 0)
        return -1;
    for (;;) {
        size_t skip = strspn(rest, "/"), len = strcspn(rest + skip, "/"), at = strlen(done);

        if (len == 0)
            break;
        if (len > NAME_MAX || at + len + 2 > sizeof(done))
            return err_set(err, "%s: %s", path, strerror(ENAMETOOLONG));
        memcpy(name, rest + skip, len);
        name[len] = '\0';
        memmove(rest, rest + skip + len, strlen(rest + skip + len) + 1);
        if (!strcmp(name, ".")) {
            continue;
        } else if (!strcmp(name, "..")) {
            cut_last(done);
            continue;
        }
        snprintf(done + at, sizeof(done) - at, "/%s", name);
        if (lstat(done, &st) < 0)
            return err_set(err, "%s: %s", done, strerror(errno));
        if (check_owner(done, &st, err) < 0)
            return -1;
        if (S_ISLNK(st.st_mode)) {
            if (++links > LINKS_MAX)
                return err_set(err, "%s: %s", path, strerror(ELOOP));
            if (follow_link(done, rest, err) < 0)
                return -1;
            if (*rest == '/')
                done[0] = '\0';
            else
                cut_last(done);
        }
    }
    return S_ISREG(st.st_mode) ? 0 : err_set(err, "%s is not a regular file", path);
}
