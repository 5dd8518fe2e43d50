#include "trace/import.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/text.h"
#include "common/utf8.h"
#include "common/xalloc.h"
#include "trace/import_format.h"
#include "trace/pickle.h"
#include "trace/progress.h"
#include "trace/unpack.h"
#include "view/view.h"

#define READ_BYTES (256u << 10)
#define LINES_SEEN 64u /* of a file, to tell whether it is one of lines */

static const struct import_format *const formats[] = { &import_chrome, &import_flight, &import_inspector };

struct import {
    const struct import_format *wanted, *format; /* format NULL: not known yet */
    void *state;                                 /* the format's */
    struct calls *calls;
    struct import_skipped skipped;
    struct import_file file;
    bool begun;                          /* the format has this file */
    const struct import_format *pickled; /* of this file, which is a pickle; NULL: it is none */
    bool cut;                            /* the file ends too early */
    bool lines;                          /* the file is one of lines */
    char *line;                          /* an incomplete one, of at most JSON_PIECE_MAX bytes */
    size_t line_bytes, line_cap;
    bool line_long; /* it has more: the rest is passed over */
    uint64_t line_number, broken;
    char broken_first[320];
    uint32_t torn;
    uint64_t bytes;
    struct progress progress;
};

struct import *import_new(const char *format)
{
    struct import *m = xcalloc(1, sizeof(*m));

    m->calls = calls_new();
    m->progress = progress_begin();
    for (size_t i = 0; format && i < ARRAY_SIZE(formats); i++)
        if (!strcmp(format, formats[i]->word))
            m->wanted = formats[i];
    return m;
}

void import_free(struct import *m)
{
    if (!m)
        return;
    if (m->state)
        m->format->free(m->state);
    calls_free(m->calls);
    free(m->line);
    free(m);
}

/* ---- which format ---- */

static const struct import_format *format_of(const struct json_piece *piece)
{
    if (piece->kind == JSON_ITEM && !piece->key[0])
        return &import_chrome;
    for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
        for (const char *const *key = formats[i]->keys; *key; key++)
            if (!strcmp(*key, piece->key))
                return formats[i];
    return NULL;
}

static int recognise(struct import *m, const struct json_piece *piece, struct err *err)
{
    const struct import_format *format = m->wanted ? m->wanted : m->pickled ? m->pickled : format_of(piece);

    if (!format && !strcmp(piece->key, "format"))
        return err_set(err, "it is a syncguard-trace, or none of the formats that are read");
    if (!format)
        return 0;
    if (m->format && m->format != format)
        return err_set(err, "it is %s, the files before are %s: import one format at a time", format->title,
                       m->format->title);
    if (!m->format) {
        m->format = format;
        m->state = format->open(m->calls, &m->skipped);
    }
    m->format->begin(m->state, &m->file);
    m->begun = true;
    return 0;
}

static int on_piece(const struct json_piece *piece, void *arg, struct err *err)
{
    struct import *m = arg;
    json_error_t why;
    json_t *value = NULL;
    int rc;

    if (!m->begun && piece->kind != JSON_END && recognise(m, piece, err) < 0)
        return -1;
    if (!m->begun) /* a member that says nothing of the format */
        return 0;
    if (piece->kind != JSON_END) {
        value = json_loadb(piece->text, piece->bytes, JSON_DECODE_ANY, &why);
        if (!value)
            return err_set(err, "no JSON at byte %llu: %s", (unsigned long long)piece->at + 1, why.text);
    }
    rc = m->format->piece(m->state, piece, value, err);
    json_decref(value);
    return rc;
}

/* Places in an error are those of what was unpacked. */
static int say_unpacked(const struct unpack *unpack, struct err *err)
{
    return unpack_is_packed(unpack) ? err_prefix(err, "unpacked") : -1;
}

/* ---- pickles ---- */

static int pass_on(struct import *m, enum json_piece_kind kind, const char *key, const json_t *value,
                   struct err *err)
{
    const struct json_piece piece = { .kind = kind, .key = key, .text = "" };

    if (!m->begun && recognise(m, &piece, err) < 0)
        return -1;
    return m->format->piece(m->state, &piece, value, err);
}

static int pass_on_items(struct import *m, const char *key, const json_t *list, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < json_array_size(list) && rc == 0; i++)
        rc = pass_on(m, JSON_ITEM, key, json_array_get(list, i), err);
    return rc;
}

static bool is_empty_list(const json_t *value)
{
    return json_is_array(value) && !json_array_size(value);
}

/* Only the flight recorder writes pickles: a dictionary, or, before version 1 of its dumps, a list of
 * entries.  Without any, other files tell what it is of. */
static bool is_dump(const struct import *m, const json_t *value)
{
    bool known = json_is_object(json_array_get(value, 0)) ||
                 (is_empty_list(value) && (m->wanted ? m->wanted : m->format) == &import_flight);

    for (const char *const *key = import_flight.keys; *key; key++)
        known |= json_object_get(value, *key) != NULL;
    return known;
}

/* The pieces of the value are those that the same value as JSON would have. */
static int pass_on_all(struct import *m, json_t *value, struct err *err)
{
    const char *key;
    json_t *member;
    int rc = json_is_array(value) ? pass_on_items(m, "", value, err) : 0;

    json_object_foreach(value, key, member) {
        if (rc == 0 && json_is_array(member))
            rc = pass_on_items(m, key, member, err);
        else if (rc == 0)
            rc = pass_on(m, JSON_MEMBER, key, member, err);
    }
    return rc == 0 ? pass_on(m, JSON_END, "", NULL, err) : rc;
}

static int read_pickle(struct import *m, struct unpack *unpack, const char *begin, size_t begin_bytes,
                       struct err *err)
{
    size_t cap = 0, bytes = begin_bytes;
    int64_t n = 1;
    unsigned char *data;
    json_t *value = NULL;
    int rc = 0;

    if (m->wanted && m->wanted != &import_flight)
        return err_set(err, "it is a pickle, and not %s", m->wanted->title);
    data = xgrow(NULL, &cap, begin_bytes + READ_BYTES, 1);
    memcpy(data, begin, begin_bytes);
    while (n > 0 && bytes <= PICKLE_FILE_MAX) {
        data = xgrow(data, &cap, bytes + READ_BYTES, 1);
        n = unpack_read(unpack, (char *)data + bytes, READ_BYTES, err);
        bytes += n > 0 ? (size_t)n : 0;
    }
    m->bytes += bytes - begin_bytes;
    if (n < 0)
        rc = -1;
    else if (bytes > PICKLE_FILE_MAX)
        rc = err_set(err, "a pickle of more than %s", text_bytes(PICKLE_FILE_MAX).s);
    else if (!(value = pickle_read(data, bytes, err)))
        rc = say_unpacked(unpack, err);
    free(data);
    if (rc == 0 && (m->wanted || is_dump(m, value))) {
        m->pickled = &import_flight;
        rc = pass_on_all(m, value, err) < 0 ? say_unpacked(unpack, err) : 0;
    } else if (rc == 0 && is_empty_list(value)) {
        rc = err_set(err,
                     "it is an empty list, which does not tell of what: give another file before it, or say "
                     "--format=flight-recorder");
    }
    json_decref(value);
    return rc;
}

/* ---- lines ---- */

static bool is_blank(const char *line, size_t bytes)
{
    while (bytes && strchr(" \t\r", line[bytes - 1]) && line[bytes - 1])
        bytes--;
    return !bytes;
}

/* A whole document of a format whose documents stand on lines? */
static bool is_line_of_format(const char *line, size_t bytes)
{
    json_t *document;
    bool known = false;

    while (bytes && strchr(" \t\r", line[bytes - 1]) && line[bytes - 1])
        bytes--;
    if (!bytes || line[0] != '{' || line[bytes - 1] != '}')
        return false;
    document = json_loadb(line, bytes, 0, NULL);
    for (size_t i = 0; i < ARRAY_SIZE(formats) && !known; i++)
        for (const char *const *key = formats[i]->keys; formats[i]->lines && *key && !known; key++)
            known = json_object_get(document, *key) != NULL;
    json_decref(document);
    return known;
}

/* Is the file one of lines, by what it begins with?  A file that has not so many bytes ends there. */
static bool has_lines(const char *data, size_t bytes)
{
    const char *end = data + bytes;

    for (unsigned i = 0; i < LINES_SEEN && data < end; i++) {
        const char *newline = memchr(data, '\n', (size_t)(end - data)), *to = newline ? newline : end;

        if ((newline || bytes < READ_BYTES) && is_line_of_format(data, (size_t)(to - data)))
            return true;
        data = to + (newline != NULL);
    }
    return false;
}

static void skip_line(struct import *m, const char *why)
{
    char text[sizeof(m->broken_first)];

    if (m->broken++)
        return;
    snprintf(text, sizeof(text), "%s: line %llu: %s", m->file.name, (unsigned long long)m->line_number, why);
    utf8_clean(m->broken_first, sizeof(m->broken_first), text);
}

/* The members of a line's object, and the items of those that are arrays, as json_pieces.h passes them. */
static int take_members(struct import *m, json_t *document, struct err *err)
{
    const char *key;
    json_t *value, *item;
    size_t i;

    json_object_foreach(document, key, value) {
        struct json_piece piece = { .kind = json_is_array(value) ? JSON_ITEM : JSON_MEMBER, .key = key };

        if (!json_is_array(value) && m->format->piece(m->state, &piece, value, err) < 0)
            return -1;
        json_array_foreach(value, i, item) {
            if (m->format->piece(m->state, &piece, item, err) < 0)
                return -1;
        }
    }
    return m->format->piece(m->state, &(struct json_piece){ .kind = JSON_END, .key = "" }, NULL, err);
}

/* last: the file ends with it, and has no newline behind it. */
static int take_line(struct import *m, const char *line, size_t bytes, bool last, struct err *err)
{
    json_error_t why = { 0 };
    json_t *document = NULL;
    const char *key;
    json_t *value;
    int rc = 0;

    m->line_number++;
    if (m->line_long) {
        snprintf(why.text, sizeof(why.text), "it has more than %u bytes", JSON_PIECE_MAX);
    } else if (is_blank(line, bytes)) {
        return 0;
    } else {
        document = json_loadb(line, bytes, 0, &why);
        if (document && !json_is_object(document))
            snprintf(why.text, sizeof(why.text), "an object is expected");
    }
    m->line_long = false;
    if (!json_is_object(document)) {
        if (last) /* it was cut off while it was written */
            m->cut = true;
        else
            skip_line(m, why.text);
        json_decref(document);
        return 0;
    }
    /* a document is known by any of its members, and all of them are the format's */
    json_object_foreach(document, key, value) {
        const struct json_piece piece = { .kind = JSON_MEMBER, .key = key };

        if (!m->begun && rc == 0)
            rc = recognise(m, &piece, err);
    }
    if (rc == 0 && m->begun && take_members(m, document, err) < 0)
        rc = err_prefix(err, "line %llu", (unsigned long long)m->line_number);
    json_decref(document);
    return rc;
}

static void keep_part(struct import *m, const char *data, size_t bytes)
{
    m->line_long |= m->line_bytes + bytes > JSON_PIECE_MAX;
    if (m->line_long) {
        m->line_bytes = 0;
        return;
    }
    m->line = xgrow(m->line, &m->line_cap, m->line_bytes + bytes + 1, 1);
    memcpy(m->line + m->line_bytes, data, bytes);
    m->line_bytes += bytes;
}

static int feed_lines(struct import *m, const char *data, size_t bytes, struct err *err)
{
    const char *end = data + bytes, *newline;
    int rc = 0;

    for (; rc == 0 && (newline = memchr(data, '\n', (size_t)(end - data))) != NULL; data = newline + 1) {
        if (m->line_bytes || m->line_long) { /* it began in an earlier piece */
            keep_part(m, data, (size_t)(newline - data));
            rc = take_line(m, m->line, m->line_bytes, false, err);
            m->line_bytes = 0;
        } else {
            rc = take_line(m, data, (size_t)(newline - data), false, err);
        }
    }
    if (rc == 0)
        keep_part(m, data, (size_t)(end - data));
    return rc;
}

static int end_lines(struct import *m, struct err *err)
{
    return m->line_bytes || m->line_long ? take_line(m, m->line, m->line_bytes, true, err) : 0;
}

/* ---- reading ---- */

static void say_read(struct import *m, FILE *in)
{
    struct stat st;
    char part[32] = "";

    if (fstat(fileno(in), &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        text_append(part, sizeof(part), " (%s)", text_percent((double)ftello(in) / (double)st.st_size).s);
    progress_say(&m->progress, "%s read, %s%s, %zu calls", text_bytes((double)m->bytes).s, m->file.name, part,
                 calls_count(m->calls));
}

/* nccl_trace_rank_3.json: 3; host-12-rank7.json: 7; trace2.v1/a.json: unknown. */
static uint32_t rank_of_name(const char *name)
{
    const char *base = strrchr(name, '/'), *from = NULL;

    base = base ? base + 1 : name;
    for (const char *at = base; *at; at++)
        if (isdigit((unsigned char)*at) && (at == base || !isdigit((unsigned char)at[-1])))
            from = at;
    return from && strtoul(from, NULL, 10) < VIEW_RANKS_MAX ? (uint32_t)strtoul(from, NULL, 10)
                                                            : IMPORT_RANK_UNKNOWN;
}

static int read_all(struct import *m, FILE *in, struct json_pieces *pieces, struct err *err)
{
    struct unpack *unpack = unpack_new(in);
    char *data = xcalloc(READ_BYTES, 1);
    const unsigned char *start = (const unsigned char *)data;
    bool first = true, pickled;
    int64_t n;
    int rc = 0;

    while (rc == 0 && (n = unpack_read(unpack, data, READ_BYTES, err)) != 0) {
        if (n < 0) {
            rc = -1;
            break;
        }
        m->bytes += (uint64_t)n;
        if (first)
            m->lines = has_lines(data, (size_t)n);
        pickled = first && pickle_begins(start, (size_t)n);
        if (pickled)
            rc = read_pickle(m, unpack, data, (size_t)n, err);
        else if (m->lines)
            rc = feed_lines(m, data, (size_t)n, err);
        else
            rc = json_pieces_feed(pieces, data, (size_t)n, err);
        if (rc < 0 && !pickled)
            say_unpacked(unpack, err);
        first = false;
        if (progress_is_due(&m->progress))
            say_read(m, in);
    }
    if (rc == 0 && m->lines)
        rc = end_lines(m, err);
    m->cut |= unpack_torn(unpack) || json_pieces_torn(pieces);
    progress_end(&m->progress);
    unpack_free(unpack);
    free(data);
    return rc;
}

int import_read(struct import *m, FILE *in, const char *name, struct err *err)
{
    struct json_pieces *pieces = json_pieces_new(on_piece, m);
    int rc;

    m->file.name = name;
    m->file.name_rank = rank_of_name(name);
    m->pickled = NULL;
    m->begun = m->cut = m->lines = m->line_long = false;
    m->line_bytes = 0;
    m->line_number = 0;
    rc = read_all(m, in, pieces, err);
    if (rc == 0 && !m->begun)
        rc = err_set(
            err,
            "it is none of the formats that are read: a timeline (Chrome's Trace Event Format), a dump of PyTorch's flight recorder, "
            "or lines of NCCL Inspector");
    if (rc == 0)
        rc = m->format->end(m->state, err);
    m->torn += rc == 0 && m->cut;
    json_pieces_free(pieces);
    m->file.number++;
    return rc < 0 ? err_prefix(err, "%s", name) : 0;
}

int import_write(struct import *m, FILE *out, struct import_figures *f, struct err *err)
{
    *f = (struct import_figures){ .format = m->format ? m->format->title : "",
                                  .files = m->file.number,
                                  .torn = m->torn,
                                  .bytes = m->bytes };
    if (!m->format)
        return err_set(err, "no file was read");
    if (m->format->close(m->state, err) < 0)
        return -1;
    f->other = m->skipped.other;
    f->unclear = m->skipped.unclear;
    f->why = m->skipped.why;
    f->late = m->skipped.late;
    f->broken = m->broken;
    memcpy(f->broken_first, m->broken_first, sizeof(f->broken_first));
    f->ungrouped = m->skipped.ungrouped;
    if (calls_write(m->calls, out, &f->calls, err) == 0)
        return 0;
    if (!calls_count(m->calls) && (f->unclear || m->skipped.nothing[0])) {
        struct err why = *err;

        err_set(err, "%.100s%s%s", why.text, m->skipped.nothing[0] ? ": " : "", m->skipped.nothing);
        if (f->unclear)
            text_append(err->text, sizeof(err->text), "; %llu %s left out, the first: %s",
                        (unsigned long long)f->unclear, f->unclear == 1 ? "was" : "were", f->why);
    }
    return -1;
}
