#include "spank/cmdline.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/path.h"

/* ---- this process ---- */

int cmdline_own(struct cmdline *l, struct err *err)
{
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    size_t room = 0;
    ssize_t n = 1;

    *l = (struct cmdline){ NULL, 0 };
    for (; fd >= 0 && n > 0; l->bytes += (size_t)n) {
        if (l->bytes == room) {
            char *more;

            room = room ? 2 * room : 8192;
            more = room <= CMDLINE_BYTES_MAX ? realloc(l->words, room) : NULL;
            if (!more) {
                errno = E2BIG;
                n = -1;
                break;
            }
            l->words = more;
        }
        n = read(fd, l->words + l->bytes, room - l->bytes);
        if (n < 0)
            break;
    }
    if (n != 0)
        err_set(err, "cannot read the command line: %s", strerror(errno));
    if (fd >= 0)
        close(fd);
    if (n == 0)
        return 0;
    cmdline_free(l);
    return -1;
}

void cmdline_free(struct cmdline *l)
{
    free(l->words);
    *l = (struct cmdline){ NULL, 0 };
}

/* ---- directives ---- */

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static const char *skip_blank(const char *at, const char *end)
{
    while (at < end && is_blank(*at))
        at++;
    return at;
}

static bool begins(const char *at, const char *end, const char *with)
{
    return (size_t)(end - at) >= strlen(with) && !memcmp(at, with, strlen(with));
}

static bool is_word(const char *at, const char *end, const char *text)
{
    size_t length = strlen(text);

    return (size_t)(end - at) >= length && !strncasecmp(at, text, length) &&
           (at + length == end || is_blank(at[length]));
}

/* The words of one line, each ended by a NUL; returns where they end in `to`, which has room for the line and
 * a NUL. NULL: a quote has no end. */
static char *split(const char *at, const char *end, char *to)
{
    while ((at = skip_blank(at, end)) < end && *at != '#') {
        const char *const word = to;
        char quote = '\0';

        for (; at < end && (quote || !is_blank(*at)); at++) {
            if (*at == '\\' && at + 1 < end)
                *to++ = *++at;
            else if (quote && *at == quote)
                quote = '\0';
            else if (!quote && (*at == '"' || *at == '\''))
                quote = *at;
            else if (!quote && *at == '#')
                break;
            else
                *to++ = *at;
        }
        if (quote)
            return NULL;
        if (to == word)
            break; /* sbatch ends the line at an empty word */
        *to++ = '\0';
    }
    return to;
}

/* Writes the words of all directives; returns where they end, or NULL with the reason. */
static char *read_directives(const char *text, size_t bytes, char *to, struct err *err)
{
    const char *const end = text + bytes;

    for (const char *line = text, *eol; line < end; line = eol + 1) {
        const char *at;

        eol = memchr(line, '\n', (size_t)(end - line));
        if (!eol)
            eol = end;
        if (memchr(line, '\0', (size_t)(eol - line))) {
            err_set(err, "the script is not a text file");
            return NULL;
        }
        if (begins(line, eol, "#PBS") || begins(line, eol, "#BSUB")) {
            err_set(err, "the script has directives of another batch system");
            return NULL;
        }
        if (begins(line, eol, "#SBATCH") || begins(line, eol, "#SLURM")) {
            at = skip_blank(line + (line[2] == 'B' ? 7 : 6), eol);
            if (is_word(at, eol, "hetjob") || is_word(at, eol, "packjob")) {
                err_set(err, "the job is heterogeneous");
                return NULL;
            }
            to = split(at, eol, to);
            if (!to) {
                err_set(err, "a directive of the script has a quote without its end");
                return NULL;
            }
            continue;
        }
        at = skip_blank(line, eol);
        if (at < eol && *at != '#')
            return to;
    }
    if (bytes >= CMDLINE_HEAD_MAX) {
        err_set(err, "the script's first %u KiB are comments", CMDLINE_HEAD_MAX >> 10);
        return NULL;
    }
    return to;
}

int cmdline_insert(struct cmdline *l, const char *text, size_t bytes, struct err *err)
{
    const char *nul = l->bytes ? memchr(l->words, '\0', l->bytes) : NULL;
    size_t first = nul ? (size_t)(nul - l->words) + 1 : 0;
    char *both = first ? malloc(l->bytes + bytes + 1) : NULL, *end;

    if (!both)
        return err_set(err, first ? "out of memory" : "the command line is empty");
    end = read_directives(text, bytes, both + first, err);
    if (!end) {
        free(both);
        return -1;
    }
    memcpy(both, l->words, first);
    memcpy(end, l->words + first, l->bytes - first);
    free(l->words);
    l->bytes = (size_t)(end - both) + (l->bytes - first);
    l->words = both;
    return 0;
}

/* ---- the script ---- */

/* Regular files only: others could keep sbatch waiting, or lose what is read twice. */
static int open_script(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;

    if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        errno = EINVAL;
        return -1;
    }
    return fd;
}

/* A bare name is searched in the current directory, then in PATH. */
static int find_script(const char *name)
{
    const char *path = *name == '/' || *name == '.' ? NULL : getenv("PATH");
    int fd = open_script(name);
    char full[4096];

    while (fd < 0 && errno == ENOENT && path_next(&path, name, full, sizeof(full)))
        fd = open_script(full);
    return fd;
}

int cmdline_insert_script(struct cmdline *l, const char *name, struct err *err)
{
    int fd = find_script(name), rc = -1;
    char *text = malloc(CMDLINE_HEAD_MAX);
    size_t bytes = 0;
    ssize_t n = -1;

    while (fd >= 0 && text && bytes < CMDLINE_HEAD_MAX &&
           (n = read(fd, text + bytes, CMDLINE_HEAD_MAX - bytes)) > 0)
        bytes += (size_t)n;
    if (n < 0)
        err_set(err, "cannot read the script: %s", strerror(errno));
    else
        rc = cmdline_insert(l, text, bytes, err);
    free(text);
    if (fd >= 0)
        close(fd);
    return rc;
}
