#include "common/conf.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

struct reader { /* one conf_read(), all its files */
    bool slurm; /* they are Slurm's */
    conf_line_fn *fn;
    void *arg;
    struct err *err;
    unsigned depth, files;
    char cluster[256]; /* ClusterName in lower case, "": none so far */
};

struct source { /* one file */
    struct reader *reader;
    const char *at, *end;
    unsigned line_number;
    size_t used; /* of words */
    struct conf_line line;
    char *words; /* the line's keys and values, each ended by NUL: no longer than the text */
};

static int read_text(struct reader *r, const char *name, const char *text, size_t bytes);

__attribute__((format(printf, 2, 3))) static int fail_at(struct source *s, const char *fmt, ...)
{
    char reason[256];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(reason, sizeof(reason), fmt, ap);
    va_end(ap);
    return err_set(s->reader->err, "%s:%u: %s", s->line.file, s->line_number, reason);
}

int conf_error(const struct conf_line *line, const struct conf_pair *pair, struct err *err, const char *fmt,
               ...)
{
    char reason[sizeof(err->text)];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(reason, sizeof(reason), fmt, ap);
    va_end(ap);
    return err_set(err, "%s:%u: %s=%.80s: %s", line->file, pair->line, pair->key, pair->value, reason);
}

/* The next byte, or -1 at the end.  What goes back or on by a line or page is blank: files come from
 * everywhere. */
static int peek(const struct source *s)
{
    if (s->at == s->end)
        return -1;
    return strchr("\r\f\v", *s->at) && *s->at ? ' ' : (unsigned char)*s->at;
}

static bool is_blank(int c)
{
    return c == ' ' || c == '\t';
}

static bool ends_word(int c)
{
    return c < 0 || is_blank(c) || c == '\n' || c == '#';
}

/* Step over a backslash that ends the line, and its newline. */
static bool skip_continuation(struct source *s)
{
    const char *p = s->at;

    if (p == s->end || *p++ != '\\')
        return false;
    while (p < s->end && (is_blank(*p) || *p == '\r'))
        p++;
    if (p < s->end && *p != '\n')
        return false;
    s->at = p < s->end ? p + 1 : p;
    s->line_number++;
    return true;
}

/* Up to the next word, or the newline (not taken). */
static void skip_blank(struct source *s)
{
    for (;;) {
        int c = peek(s);

        if (is_blank(c))
            s->at++;
        else if (c == '#')
            while (s->at < s->end && *s->at != '\n')
                s->at++;
        else if (!skip_continuation(s))
            return;
    }
}

static int put_character(struct source *s, int c)
{
    if (c && ((c < ' ' && c != '\t') || c == 0x7f))
        return fail_at(s, "character 0x%02x: plain text expected", (unsigned)c);
    s->words[s->used++] = (char)c;
    return 0;
}

static int read_quoted(struct source *s)
{
    s->at++;
    for (;;) {
        int c = peek(s);

        if (c < 0 || c == '\n')
            return fail_at(s, "missing closing quote");
        if (skip_continuation(s))
            continue;
        s->at++;
        if (c == '"')
            break;
        if (c == '\\' && (peek(s) == '"' || peek(s) == '\\'))
            c = (unsigned char)*s->at++;
        if (c == 0)
            return fail_at(s, "character 0x00: plain text expected");
        if (put_character(s, c) < 0)
            return -1;
    }
    if (!ends_word(peek(s)) && peek(s) != '\\')
        return fail_at(s, "expected a blank after a closing quote");
    return put_character(s, 0);
}

/* A run of characters up to a blank, a comment, the line's end, or stop. */
static int read_bare(struct source *s, int stop)
{
    for (;;) {
        int c = peek(s);

        if (ends_word(c) || c == stop)
            break;
        if (skip_continuation(s))
            continue;
        s->at++;
        if (c == '\\' && peek(s) == '#')
            c = (unsigned char)*s->at++;
        if (c == 0)
            return fail_at(s, "character 0x00: plain text expected");
        if (put_character(s, c) < 0)
            return -1;
    }
    return put_character(s, 0);
}

static int read_value(struct source *s, const char **value)
{
    const char *at = s->at;
    unsigned line_number = s->line_number;
    size_t used = s->used;

    *value = s->words + s->used;
    if (peek(s) != '"')
        return read_bare(s, -1);
    if (read_quoted(s) == 0)
        return 0;
    if (!s->reader->slurm)
        return -1;
    err_set(s->reader->err, "%s", "");
    s->at = at;
    s->line_number = line_number;
    s->used = used;
    return read_bare(s, -1);
}

/* Regular files only: a pipe or device would block or never end. */
int conf_file_read(const char *path, char **text, size_t *bytes, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;
    ssize_t n = 0;
    int saved = 0;

    *text = NULL;
    *bytes = 0;
    if (fd < 0 || fstat(fd, &st) < 0) {
        saved = errno;
        err_set(err, "%s: %s", path, strerror(saved));
        goto done;
    }
    if (!S_ISREG(st.st_mode) || st.st_size > CONF_FILE_MAX) {
        saved = EINVAL;
        err_set(err, "%s: expected a regular file of at most %u KiB", path, CONF_FILE_MAX / 1024);
        goto done;
    }
    *text = malloc((size_t)st.st_size + 1);
    if (!*text) {
        saved = ENOMEM;
        err_set(err, "%s: out of memory", path);
        goto done;
    }
    while (*bytes < (size_t)st.st_size && (n = read(fd, *text + *bytes, (size_t)st.st_size - *bytes)) > 0)
        *bytes += (size_t)n;
    if (n < 0) {
        saved = errno;
        err_set(err, "%s: %s", path, strerror(saved));
    }
done:
    if (fd >= 0)
        close(fd);
    errno = saved;
    return saved ? -1 : 0;
}

/* Where the file of an Include line is, relative to the folder of this one, with the cluster's name for each
 * "%c". */
static int include_path(struct source *s, const char *name, char *path, size_t size)
{
    const char *slash = strrchr(s->line.file, '/');
    size_t used = 0;

    if (*name != '/' && slash)
        used = (size_t)snprintf(path, size, "%.*s/", (int)(slash - s->line.file), s->line.file);
    while (used < size && *name) {
        bool cluster = !strncmp(name, "%c", 2);

        if (cluster && !s->reader->cluster[0])
            return fail_at(s, "Include: %%c stands for ClusterName, which is not given before");
        used += (size_t)snprintf(path + used, size - used, "%.*s", cluster ? 255 : 1,
                                 cluster ? s->reader->cluster : name);
        name += cluster ? 2 : 1;
    }
    return used < size ? 0 : fail_at(s, "Include: the path is too long");
}

static int read_include(struct source *s)
{
    const char *name;
    char path[4096], *text;
    struct err reason;
    size_t bytes;
    int rc;

    if (read_value(s, &name) < 0)
        return -1;
    skip_blank(s);
    if (!*name || (peek(s) >= 0 && peek(s) != '\n'))
        return fail_at(s, "Include: expected one file name");
    if (include_path(s, name, path, sizeof(path)) < 0)
        return -1;
    if (s->reader->depth == CONF_DEPTH_MAX || s->reader->files == CONF_FILES_MAX)
        return fail_at(s, "Include %s: at most %u files, %u deep (does a file include itself?)", name,
                       CONF_FILES_MAX, CONF_DEPTH_MAX);
    if (conf_file_read(path, &text, &bytes, &reason) < 0)
        return fail_at(s, "Include: %s", reason.text);
    rc = read_text(s->reader, path, text, bytes); /* its reasons name their own place */
    free(text);
    return rc;
}

static void keep_cluster(struct reader *r, const char *name)
{
    size_t n = 0;

    for (; name[n] && n < sizeof(r->cluster) - 1; n++)
        r->cluster[n] = (char)tolower((unsigned char)name[n]);
    r->cluster[n] = '\0';
}

static bool is_operator(int c)
{
    return c > 0 && strchr("-*+/", c);
}

/* Before the '=': at the end of the key, which was read last, or after blanks. */
static void skip_operator(struct source *s, const char *key)
{
    size_t length = strlen(key);

    if (length > 1 && peek(s) == '=' && is_operator(key[length - 1]))
        s->words[s->used - 2] = '\0';
    else if (is_operator(peek(s)) && s->at + 1 < s->end && s->at[1] == '=')
        s->at++;
}

static int read_pair(struct source *s)
{
    struct conf_pair *pair = &s->line.pairs[s->line.n];

    if (s->line.n == CONF_PAIRS_MAX)
        return fail_at(s, "at most %u keys per line", CONF_PAIRS_MAX);
    pair->line = s->line_number;
    pair->key = s->words + s->used;
    if (read_bare(s, '=') < 0)
        return -1;
    skip_blank(s);
    if (s->reader->slurm)
        skip_operator(s, pair->key);
    if (s->line.n == 0 && peek(s) != '=' && !strcasecmp(pair->key, "Include"))
        return read_include(s);
    if (!*pair->key || peek(s) != '=')
        return fail_at(s, "\"%.80s\": expected Key=Value", pair->key);
    s->at++;
    skip_blank(s);
    s->line.n++;
    pair->quoted = peek(s) == '"';
    if (read_value(s, &pair->value) < 0)
        return -1;
    if (!strcasecmp(pair->key, "ClusterName"))
        keep_cluster(s->reader, pair->value);
    return 0;
}

static int read_line(struct source *s)
{
    s->line.n = 0;
    s->used = 0;
    for (;;) {
        skip_blank(s);
        if (peek(s) < 0 || peek(s) == '\n')
            break;
        if (read_pair(s) < 0)
            return -1;
    }
    if (s->line.n > 0 && s->reader->fn(&s->line, s->reader->arg, s->reader->err) < 0)
        return -1;
    if (s->at < s->end)
        s->at++;
    s->line_number++;
    return 0;
}

static int read_text(struct reader *r, const char *name, const char *text, size_t bytes)
{
    struct source *s = calloc(1, sizeof(*s));
    int rc = 0;

    /* each NUL takes the place of a '=', a blank, a newline or the end, but for a line's last two at the end
     */
    if (!s || !(s->words = malloc(bytes + 2))) {
        free(s);
        return err_set(r->err, "%s: out of memory", name);
    }
    s->reader = r;
    s->line.file = name;
    s->at = text;
    s->end = text + bytes;
    s->line_number = 1;
    r->depth++;
    r->files++;
    while (rc == 0 && s->at < s->end)
        rc = read_line(s);
    r->depth--;
    free(s->words);
    free(s);
    return rc;
}

/* text NULL: the file itself. */
static int read_all(const char *name, const char *text, size_t bytes, struct reader *r)
{
    char *own = NULL;
    int rc;

    if (!text && conf_file_read(name, &own, &bytes, r->err) < 0)
        return -1;
    rc = read_text(r, name, text ? text : own, bytes);
    if (!text) {
        free(own);
        errno = rc < 0 ? EINVAL : 0;
    }
    return rc;
}

int conf_parse(const char *name, const char *text, size_t bytes, conf_line_fn *fn, void *arg, struct err *err)
{
    return read_text(&(struct reader){ .fn = fn, .arg = arg, .err = err }, name, text, bytes);
}

int conf_read(const char *path, conf_line_fn *fn, void *arg, struct err *err)
{
    return read_all(path, NULL, 0, &(struct reader){ .fn = fn, .arg = arg, .err = err });
}

int conf_load(const char *name, const char *text, size_t bytes, conf_line_fn *fn, void *arg, struct err *err)
{
    return read_all(name, text, bytes, &(struct reader){ .fn = fn, .arg = arg, .err = err });
}

int conf_load_slurm(const char *name, const char *text, size_t bytes, conf_line_fn *fn, void *arg,
                    struct err *err)
{
    return read_all(name, text, bytes, &(struct reader){ .slurm = true, .fn = fn, .arg = arg, .err = err });
}
