/* munge.h - a munged of the test's own, with a key of its own, in a folder of its own.
 * tests need no munged on the machine, and two of these stand for two clusters. */
#ifndef SYNCGUARD_TESTS_MUNGE_H
#define SYNCGUARD_TESTS_MUNGE_H

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct test_munge {
    char dir[64], socket[96];
    pid_t pid;
};

static inline void test_munge_exec(const char *dir, const char *socket)
{
    char key[128], log[128], pid[128], seed[128], sock[128];
    int fd;

    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that crashes leaves no daemon behind */
    snprintf(key, sizeof(key), "--key-file=%s/key", dir);
    snprintf(log, sizeof(log), "--log-file=%s/log", dir);
    snprintf(pid, sizeof(pid), "--pid-file=%s/pid", dir);
    snprintf(seed, sizeof(seed), "--seed-file=%s/seed", dir);
    snprintf(sock, sizeof(sock), "--socket=%s", socket);
    fd = open("/dev/null", O_RDWR);
    dup2(fd, 0);
    dup2(fd, 1);
    dup2(fd, 2);
    /* --force: as root, or in a folder that others may write, it only warns */
    execl("/usr/sbin/munged", "munged", "--foreground", "--force", "--num-threads=1", key, log, pid, seed,
          sock, NULL);
    _exit(127);
}

/* False when there is no munged here, or it does not start. */
static inline bool test_munge_start(struct test_munge *m)
{
    char path[128], key[64];
    struct stat st;
    int fd, in;

    strcpy(m->dir, "/tmp/syncguard-test-XXXXXX");
    m->pid = -1;
    if (access("/usr/sbin/munged", X_OK) < 0 || !mkdtemp(m->dir))
        return false;
    chmod(m->dir, 0755); /* munged insists that everybody may reach its socket */
    snprintf(m->socket, sizeof(m->socket), "%s/socket", m->dir);
    snprintf(path, sizeof(path), "%s/key", m->dir);
    in = open("/dev/urandom", O_RDONLY);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (in < 0 || fd < 0 || read(in, key, sizeof(key)) != sizeof(key) ||
        write(fd, key, sizeof(key)) != sizeof(key))
        return false;
    close(in);
    close(fd);
    m->pid = fork();
    if (!m->pid)
        test_munge_exec(m->dir, m->socket);
    for (int i = 0; i < 12000; i++) {
        snprintf(path, sizeof(path), "%s/pid", m->dir);
        if (!stat(path, &st) && st.st_size && !stat(m->socket, &st))
            return true;
        if (waitpid(m->pid, NULL, WNOHANG) == m->pid)
            break;
        nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
    }
    return false;
}

static inline void test_munge_stop(struct test_munge *m)
{
    static const char *const files[] = { "key", "log", "pid", "seed", "socket", "socket.lock" };
    char path[128];

    if (m->pid > 0) {
        kill(m->pid, SIGTERM);
        waitpid(m->pid, NULL, 0);
    }
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", m->dir, files[i]);
        unlink(path);
    }
    rmdir(m->dir);
}

#endif
