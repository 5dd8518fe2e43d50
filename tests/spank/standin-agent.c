/* standin-agent.c - runs in place of syncguard-agent in the plugin's tests.  It logs how it was
 * started, and fails or lasts as the test asks:
 *     LOG.NODE.PID   is written at each start: arguments, environment, descriptors, ignored signals, parents'
 *                    names.  LOG is the program's own path with ".log" added, so that no environment
 *                    variable has to pass the plugin.  It appears with all that it says (a name that begins
 *                    with a dot is one that is being written).
 * A file PROGRAM.fail makes it exit with 3. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;
static const char *dir = "";

static void remove_dir(void)
{
    DIR *d = opendir(dir);
    struct dirent *e;
    char path[4096];

    while (d && (e = readdir(d))) {
        snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
        unlink(path);
    }
    if (d)
        closedir(d);
    rmdir(dir);
}

static void print_descriptors(FILE *out)
{
    DIR *d = opendir("/proc/self/fd");
    struct dirent *e;
    char link[64], target[256];
    ssize_t n;

    while (d && (e = readdir(d))) {
        int fd = atoi(e->d_name);

        snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        n = readlink(link, target, sizeof(target) - 1);
        if (e->d_name[0] != '.' && fd != dirfd(d) && fd != fileno(out) && n > 0)
            fprintf(out, "fd %d %.*s\n", fd, (int)n, target);
    }
    if (d)
        closedir(d);
}

/* What the keeper had made before it became the user. */
static void print_identity(FILE *out)
{
    char text[1024];
    ssize_t n = pread(10, text, sizeof(text), 0);

    if (n > 0)
        fprintf(out, "identity %.*s", (int)n, text);
}

static void write_log(const char *path, const char *unfinished, char **argv)
{
    char line[256];
    FILE *out = fopen(unfinished, "w"), *status = fopen("/proc/self/status", "r"), *parent;

    if (!out)
        return;
    for (int i = 0; argv[i]; i++)
        fprintf(out, "arg %s\n", argv[i]);
    print_identity(out);
    for (int i = 0; environ[i]; i++)
        fprintf(out, "env %s\n", environ[i]);
    print_descriptors(out);
    fprintf(out, "uid %d %d %d\n", (int)getuid(), (int)geteuid(), (int)getsid(0));
    while (status && fgets(line, sizeof(line), status)) {
        if (!strncmp(line, "Sig", 3) || !strncmp(line, "Uid", 3) || !strncmp(line, "NoNew", 5))
            fprintf(out, "%s", line);
    }
    snprintf(line, sizeof(line), "/proc/%d/maps", (int)getppid());
    fprintf(out, "parent's memory %s\n", access(line, F_OK) == 0 && fopen(line, "r") ? "open" : "closed");
    snprintf(line, sizeof(line), "/proc/%d/comm", (int)getppid());
    parent = fopen(line, "r");
    if (parent && fgets(line, sizeof(line), parent))
        fprintf(out, "parent %s", line);
    if (parent)
        fclose(parent);
    if (status)
        fclose(status);
    if (fclose(out) == 0)
        rename(unfinished, path);
}

int main(int argc, char **argv)
{
    const char *node = "", *slash = strrchr(argv[0], '/');
    int dir_length = slash ? (int)(slash - argv[0]) + 1 : 0;
    char path[4096], unfinished[4096];
    sigset_t set;
    int sig;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    for (int i = 1; i < argc; i++) {
        if (!strncmp(argv[i], "--dir=", 6))
            dir = argv[i] + 6;
        else if (!strncmp(argv[i], "--node=", 7))
            node = argv[i] + 7;
    }
    snprintf(path, sizeof(path), "%s.log.%s.%d", argv[0], node, (int)getpid());
    snprintf(unfinished, sizeof(unfinished), "%.*s.%s.%d", dir_length, argv[0], node, (int)getpid());
    write_log(path, unfinished, argv);
    snprintf(path, sizeof(path), "%s.fail", argv[0]);
    if (access(path, F_OK) == 0)
        return 3;
    sigwait(&set, &sig);
    remove_dir();
    return 0;
}
