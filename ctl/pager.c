#include "ctl/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/xalloc.h"

#define NOT_FOUND 127 /* as a shell has it */

static struct winsize terminal_size(void)
{
    struct winsize w = { 0 };

    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) < 0 ? (struct winsize){ 0 } : w;
}

int pager_columns(void)
{
    return terminal_size().ws_col;
}

bool pager_colour(void)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(STDOUT_FILENO) && !(no_color && *no_color) && term && *term && strcmp(term, "dumb") != 0;
}

void pager_begin(struct pager *p)
{
    *p = (struct pager){ .out = stdout };
    if (!isatty(STDOUT_FILENO))
        return;
    p->out = open_memstream(&p->text, &p->size);
    if (!p->out)
        abort();
}

static void put_all(int fd, const char *text, size_t size)
{
    ssize_t n;

    for (size_t at = 0; at < size; at += (size_t)n)
        if ((n = write(fd, text + at, size - at)) < 0) {
            if (errno != EINTR)
                return; /* the reader has seen enough */
            n = 0;
        }
}

/* Ctrl-C is the pager's while it runs: it must not be left alone on the terminal.  -1: it cannot be
 * started. */
static int show_by(const struct pager *p, const char *command)
{
    static const int ours[] = { SIGINT, SIGQUIT, SIGPIPE };
    void (*before[ARRAY_SIZE(ours)])(int);
    int fd[2], status = 0;
    pid_t pid;

    if (pipe2(fd, O_CLOEXEC) < 0)
        return -1;
    pid = fork();
    if (pid == 0) {
        dup2(fd[0], STDIN_FILENO);
        setenv("LESS", "FRX", 0);
        if (command)
            execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        else
            execlp("less", "less", (char *)NULL);
        _exit(NOT_FOUND);
    }
    close(fd[0]);
    for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
        before[i] = signal(ours[i], SIG_IGN);
    if (pid > 0)
        put_all(fd[1], p->text, p->size);
    close(fd[1]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
        signal(ours[i], before[i]);
    return pid < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND) ? -1 : 0;
}

void pager_end(struct pager *p)
{
    const char *command = getenv("PAGER");
    bool none = command && (!*command || !strcmp(command, "cat"));
    int rows = terminal_size().ws_row, lines = 0;

    if (p->out == stdout)
        return;
    fclose(p->out);
    fflush(stdout);
    for (size_t i = 0; i < p->size; i++)
        lines += p->text[i] == '\n';
    if (none || !rows || lines < rows || show_by(p, command) < 0)
        fwrite(p->text, 1, p->size, stdout);
    free(p->text);
}
