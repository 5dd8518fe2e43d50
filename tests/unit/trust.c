/* Which files root believes: the owners and modes along a path. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/trust.h"
#include "tests/tap.h"

static char base[64];

static void in(char *path, const char *name)
{
    snprintf(path, 200, "%s/%s", base, name);
}

static void make(const char *name, mode_t mode)
{
    char path[200];
    int fd;

    in(path, name);
    fd = open(path, O_CREAT | O_WRONLY, 0600);
    if (fd >= 0)
        close(fd);
    chmod(path, mode);
}

static void make_dir(const char *name, mode_t mode)
{
    char path[200];

    in(path, name);
    mkdir(path, 0700);
    chmod(path, mode);
}

static void give(const char *name, uid_t uid)
{
    char path[200];

    in(path, name);
    if (lchown(path, uid, (gid_t)-1) < 0)
        perror(path);
}

static void make_link(const char *name, const char *target)
{
    char path[200];

    in(path, name);
    if (symlink(target, path) < 0)
        perror(path);
}

static void check(const char *name, const char *want, const char *what)
{
    char path[300];
    struct err err = { "" };
    int rc;

    if (*name == '/')
        strcpy(path, name);
    else
        in(path, name);
    rc = trust_check(path, &err);
    ok(want ? rc < 0 && strstr(err.text, want) : rc == 0, "%s\n'%s'", what, err.text);
}

int main(void)
{
    char command[100];

    strcpy(base, "/tmp/sg-trust.XXXXXX");
    if (!mkdtemp(base) || chmod(base, 0755) < 0)
        return skip_all("no temporary directory");
    make("good", 0644);
    make_dir("dir", 0755);
    make("dir/good", 0755);
    make("open", 0646);
    make_dir("open.d", 0777);
    make("open.d/file", 0644);
    make_dir("sticky.d", 01777);
    make("sticky.d/file", 0644);
    make_link("link", "dir/good");
    make_link("up", "dir/../dir/./good");
    make_link("to-open", "open.d/file");
    make_link("loop", "loop");
    check("good", NULL, "a file that only its owner can write is trusted");
    check("dir/good", NULL, "so is one in a directory that only its owner can write");
    check("dir/../good", NULL, "a path with .. is resolved");
    check("open", "/open can be written by all users", "a file that all can write is not trusted");
    check("open.d/file", "/open.d can be written by all users",
          "a file in a directory that all can write is not trusted");
    check("sticky.d/file", NULL, "a file in a sticky directory is trusted");
    check("link", NULL, "a link to a trusted file is trusted");
    check("up", NULL, "the target of a link may contain .. and .");
    check("to-open", "/open.d can be written", "a link to a file that is not trusted is not");
    check("loop", "Too many levels", "a link to itself is an error");
    check("dir", "is not a regular file", "a directory is not a trusted file");
    check("missing", "No such file", "a missing file is an error");
    check("/etc/../etc/passwd", NULL, "/etc/passwd is trusted");
    ok(trust_check("relative", NULL) < 0, "a relative path is not trusted");
    if (getuid() == 0) {
        make("alien", 0644);
        give("alien", 65534);
        make_dir("alien.d", 0755);
        make("alien.d/file", 0644);
        give("alien.d", 65534);
        make_link("alien-link", "good");
        give("alien-link", 65534);
        make("group", 0664);
        check("group", NULL, "members of group 0 count as root");
        in(command, "group");
        if (chown(command, 0, 65534) == 0)
            check("group", "can be written by its group",
                  "a file that another group can write is not trusted");
        check("alien", "belongs to uid 65534", "a file of another user is not trusted");
        check("alien.d/file", "/alien.d belongs to uid 65534", "nor a file in his directory");
        check("alien-link", "/alien-link belongs to uid 65534", "nor his link to a trusted file");
    }
    snprintf(command, sizeof(command), "rm -rf %s", base);
    is_int(system(command), 0, "the files of this test are removed");
    return done_testing();
}
