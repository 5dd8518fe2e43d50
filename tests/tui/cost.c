/* cost - what sgtop costs, in a terminal of its own (a pty).
 *
 *   cost SECONDS COLUMNSxROWS SGTOP [ARGUMENT...]
 *
 * Prints one JSON object: first_paint_s (from fork to the first line of the picture; -1: none within
 * LIMIT_S), cpu_ratio (user and system time over SECONDS, from a second after the first line), bytes_per_s
 * that it wrote meanwhile, restored (the terminal is as it was before), status. */
#include <poll.h>
#include <pty.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <utmp.h>

#define LIMIT_S 120.0 /* for what a slow machine takes to start and to end it */
#define LOOK_S  0.1   /* how often to look whether it has ended */

struct run {
    int fd;
    pid_t pid;
    double began_s, first_paint_s;
    size_t bytes;
    char tail[4096]; /* the last that it wrote */
    size_t n_tail;
};

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void keep(struct run *r, const char *data, size_t n)
{
    size_t half = sizeof(r->tail) / 2;

    if (n > half) {
        data += n - half;
        n = half;
    }
    if (r->n_tail + n >= sizeof(r->tail)) {
        memmove(r->tail, r->tail + r->n_tail - half, half);
        r->n_tail = half;
    }
    memcpy(r->tail + r->n_tail, data, n);
    r->n_tail += n;
    r->tail[r->n_tail] = '\0';
}

/* Read what it writes until then, or until it has painted for the first time, or has ended. */
static void watch(struct run *r, double until_s)
{
    char buf[65536];

    for (;;) {
        struct pollfd p = { .fd = r->fd, .events = POLLIN };
        double left_s = until_s - now_s();
        ssize_t n;

        if (left_s <= 0)
            return;
        /* This program holds the terminal's other end, too: that nobody writes any more is not to be read
         * from it. */
        if (poll(&p, 1, (int)((left_s < LOOK_S ? left_s : LOOK_S) * 1000) + 1) <= 0) {
            siginfo_t ended = { .si_pid = 0 };

            if (waitid(P_PID, (id_t)r->pid, &ended, WEXITED | WNOHANG | WNOWAIT) < 0 || ended.si_pid)
                return;
            continue;
        }
        n = read(r->fd, buf, sizeof(buf));
        if (n <= 0)
            return;
        keep(r, buf, (size_t)n);
        r->bytes += (size_t)n;
        /* A whole picture that comes at once does not fit the tail. */
        if (r->first_paint_s < 0 &&
            (memmem(buf, (size_t)n, "sgtop", 5) || memmem(r->tail, r->n_tail, "sgtop", 5))) {
            r->first_paint_s = now_s() - r->began_s;
            return;
        }
    }
}

/* Its status, once it has ended by itself; one that does not is ended. */
static int end(struct run *r)
{
    double until_s = now_s() + LIMIT_S;
    int status;

    while (waitpid(r->pid, &status, WNOHANG) != r->pid) {
        if (now_s() > until_s)
            kill(r->pid, SIGKILL);
        watch(r, now_s() + 0.01);
    }
    watch(r, now_s() + 0.05); /* the last that it wrote is there already */
    return status;
}

/* User and system time of a running process, from /proc. */
static double cpu_s(pid_t pid)
{
    char path[64], text[1024], *at;
    unsigned long user = 0, system = 0;
    FILE *in;
    size_t n;

    /* nanoseconds; stat has only ticks of 10 ms */
    snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
    in = fopen(path, "r");
    if (in) {
        unsigned long long ns = 0;
        int got = fscanf(in, "%llu", &ns);

        fclose(in);
        if (got == 1 && ns)
            return (double)ns * 1e-9;
    }
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    in = fopen(path, "r");
    if (!in)
        return 0;
    n = fread(text, 1, sizeof(text) - 1, in);
    fclose(in);
    text[n] = '\0';
    at = strrchr(text, ')');
    if (at)
        sscanf(at + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

int main(int argc, char **argv)
{
    struct run r = { .first_paint_s = -1 };
    struct winsize ws = { .ws_row = 24, .ws_col = 80 };
    struct termios before, after;
    double seconds, cpu0_s, cpu1_s, t0_s;
    size_t bytes0;
    int status, slave;

    if (argc < 4 || sscanf(argv[2], "%hux%hu", &ws.ws_col, &ws.ws_row) != 2) {
        fputs("Usage: cost SECONDS COLUMNSxROWS SGTOP [ARGUMENT...]\n", stderr);
        return 2;
    }
    seconds = atof(argv[1]);
    if (openpty(&r.fd, &slave, NULL, NULL, &ws) < 0) {
        perror("openpty");
        return 1;
    }
    tcgetattr(slave, &before);
    r.began_s = now_s();
    r.pid = fork();
    if (!r.pid) {
        close(r.fd);
        login_tty(dup(slave));
        setenv("TERM", "xterm-256color", 1);
        execv(argv[3], argv + 3);
        _exit(127);
    }
    watch(&r, r.began_s + LIMIT_S);
    watch(&r, now_s() + 1);
    cpu0_s = cpu_s(r.pid);
    bytes0 = r.bytes;
    t0_s = now_s();
    watch(&r, t0_s + seconds);
    cpu1_s = cpu_s(r.pid);
    seconds = now_s() - t0_s;
    if (write(r.fd, "Q", 1) != 1)
        perror("write");
    bytes0 = r.bytes - bytes0;
    status = end(&r);
    tcgetattr(slave, &after);
    printf("{\"first_paint_s\": %.4f, \"cpu_ratio\": %.5f, \"bytes_per_s\": %.0f, \"restored\": %s, "
           "\"status\": %d}\n",
           r.first_paint_s, (cpu1_s - cpu0_s) / seconds, (double)bytes0 / seconds,
           before.c_lflag == after.c_lflag && before.c_iflag == after.c_iflag &&
                   before.c_oflag == after.c_oflag && strstr(r.tail, "\033[?1049l")
               ? "true"
               : "false",
           WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return 0;
}
