/* The step's directory, its parent, and what another user can do about either. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spank/stepdir.h"
#include "tests/tap.h"

#define NOBODY 65534

static char base[64], parent[STEPDIR_SIZE];

/* Who owns what is at path; -1 when it is no directory. */
static long owner_of(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) ? (long)st.st_uid : -1;
}

static unsigned mode_of(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 ? st.st_mode & 07777 : 0;
}

static void make_file(const char *path)
{
    int fd = open(path, O_CREAT | O_WRONLY, 0600);

    if (fd >= 0)
        close(fd);
}

/* Run fn as another user, in a child; a fn that does not return is ended by the caller. */
static pid_t as_nobody(void (*fn)(void))
{
    pid_t pid = fork();

    if (pid == 0) {
        if (setgid(NOBODY) < 0 || setuid(NOBODY) < 0)
            _exit(1);
        fn();
        _exit(0);
    }
    return pid;
}

static void squat_dir(void)
{
    char inside[300];

    mkdir(parent, 0777);
    snprintf(inside, sizeof(inside), "%s/file", parent);
    make_file(inside);
}

static void squat_file(void)
{
    make_file(parent);
}

static void squat_link(void)
{
    char target[80];

    snprintf(target, sizeof(target), "%s/target", base);
    if (symlink(target, parent) < 0)
        _exit(1);
}

static void squat_again_and_again(void)
{
    for (;;) {
        if (mkdir(parent, 0777) == 0)
            rmdir(parent);
        if (symlink("/", parent) == 0)
            unlink(parent);
    }
}

static void test_names(void)
{
    char path[STEPDIR_SIZE];

    is_int(stepdir_path(path, sizeof(path), "/p", 7, 8, 9, "node1"), 0, "a step's path fits");
    is_str(path, "/p/7.8.9.node1", "a step's path consists of uid, job, step and node");
    ok(stepdir_path(path, sizeof(path), "/p", 7, 8, 9, "") < 0 &&
           stepdir_path(path, sizeof(path), "/p", 7, 8, 9, "../x") < 0 &&
           stepdir_path(path, 10, "/p", 7, 8, 9, "node1") < 0,
       "an empty node, one with a slash, and a path that does not fit are refused");
}

static void test_parent(void)
{
    char root[STEPDIR_SIZE];
    struct err err = { "" };
    mode_t old = umask(0077);

    is_int(stepdir_make_parent(parent, &err), 0, "the parent is made: '%s'", err.text);
    umask(old);
    ok(owner_of(parent) == (long)geteuid() && mode_of(parent) == 0755,
       "the parent belongs to the effective user, and all users may enter it, whatever the umask");
    chmod(parent, 0777);
    is_int(stepdir_make_parent(parent, &err), 0, "a parent that exists is used");
    is_int(mode_of(parent), 0755, "a parent that all may write is corrected");
    snprintf(root, sizeof(root), "%s/nowhere/syncguard", base);
    ok(stepdir_make_parent(root, &err) < 0 && strstr(err.text, "No such file"),
       "a parent that cannot be made is an error\n%s", err.text);
}

static void test_squatters(void)
{
    static const struct {
        void (*squat)(void);
        const char *what;
    } cases[] = { { squat_dir, "a directory with a file" },
                  { squat_file, "a file" },
                  { squat_link, "a link" } };
    char command[200], target[80];
    struct err err = { "" };
    pid_t pid;
    int failed = 0;

    if (geteuid() != 0)
        return; /* there is no other user to try */
    snprintf(target, sizeof(target), "%s/target", base);
    mkdir(target, 0700);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        rmdir(parent);
        waitpid(as_nobody(cases[i].squat), NULL, 0);
        ok(stepdir_make_parent(parent, &err) == 0 && owner_of(parent) == 0 && mode_of(parent) == 0755,
           "%s of another user in the parent's place is renamed: '%s'", cases[i].what, err.text);
    }
    is_int(mode_of(target), 0700, "the target of another user's link is not touched");
    rmdir(parent);
    pid = as_nobody(squat_again_and_again);
    for (int i = 0; i < 300; i++) {
        if (stepdir_make_parent(parent, &err) < 0 || owner_of(parent) != 0 || mode_of(parent) != 0755)
            failed++;
        rmdir(parent);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    is_int(failed, 0, "a user who keeps taking the parent's name never gets it: '%s'", err.text);
    snprintf(command, sizeof(command), "rm -rf %s/syncguard*", base);
    is_int(system(command), 0, "what was renamed can be removed");
}

static void test_step(void)
{
    char path[STEPDIR_SIZE], old[STEPDIR_SIZE], file[STEPDIR_SIZE + 20];
    uid_t uid = geteuid() == 0 ? NOBODY : geteuid();
    struct err err = { "" };

    stepdir_make_parent(parent, NULL);
    stepdir_path(path, sizeof(path), parent, uid, 1, 2, "n");
    ok(stepdir_make(path, uid, getegid(), old, &err) == 0 && !*old && owner_of(path) == (long)uid &&
           mode_of(path) == 0700,
       "a step's directory belongs to the user alone: '%s'", err.text);
    ok(!stepdir_has_ring(path), "a new directory has no ring");
    snprintf(file, sizeof(file), "%s/0.0.0.ring", path);
    make_file(file);
    ok(stepdir_has_ring(path), "a file named .ring is a ring");
    ok(stepdir_make(path, uid, getegid(), old, &err) == 0 && *old && !stepdir_has_ring(path) &&
           stepdir_has_ring(old),
       "the directory of an earlier run is renamed, and the step gets an empty one");
    ok(!stepdir_remove(old) && owner_of(old) == (long)uid, "a directory with files is not removed");
    stepdir_empty(old);
    ok(stepdir_remove(old) && owner_of(old) < 0, "an emptied directory is removed");
    ok(stepdir_remove(old), "a directory that does not exist counts as removed");
    ok(stepdir_has_room(path, 1, &err), "there is room for a byte");
    ok(!stepdir_has_room(path, UINT64_MAX / 2, &err) && strstr(err.text, "no space in /dev/shm"),
       "there is no room for more than there is\n%s", err.text);
    stepdir_remove(path);
}

/* 1,000 directories, each in the one before, and some that their owner has closed. */
static void test_deep(void)
{
    char path[STEPDIR_SIZE], old[STEPDIR_SIZE];
    struct err err;

    stepdir_path(path, sizeof(path), parent, geteuid(), 1, 3, "n");
    if (stepdir_make(path, geteuid(), getegid(), old, &err) < 0 || chdir(path) < 0) {
        ok(0, "a directory is made");
        return;
    }
    for (int i = 0; i < 300; i++) {
        char name[16];

        snprintf(name, sizeof(name), ".%d", i);
        make_file(name);
    }
    for (int i = 0; i < 1000 && mkdir("d", 0700) == 0 && chdir("d") == 0; i++)
        make_file("f");
    mkdir("closed", 0700);
    mkdir("closed/inner", 0700);
    make_file("closed/inner/f");
    chmod("closed/inner", 0);
    chmod("closed", 0);
    ok(chdir(base) == 0 && !stepdir_remove(path), "a directory with deep directories is made");
    stepdir_empty(path);
    ok(stepdir_remove(path), "deep and closed directories are removed");
}

int main(void)
{
    strcpy(base, "/tmp/sg-stepdir.XXXXXX");
    if (!mkdtemp(base) || chmod(base, 01777) < 0 || stepdir_parent(parent, sizeof(parent), base) < 0)
        return skip_all("no temporary directory");
    ok(!strncmp(parent + strlen(base), geteuid() == 0 ? "/syncguard" : "/syncguard-",
                geteuid() == 0 ? 10 : 11),
       "the parent of users other than root has a name of its own");
    test_names();
    test_parent();
    test_squatters();
    test_step();
    test_deep();
    if (chdir("/") == 0) {
        char command[100];

        snprintf(command, sizeof(command), "rm -rf %s", base);
        is_int(system(command), 0, "the files of this test are removed");
    }
    return done_testing();
}
