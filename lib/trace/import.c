#include "trace/import.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "trace/import_format.h"
#include "trace/progress.h"
#include "view/view.h"

#define READ_BYTES (256u << 10)

static const struct import_format *const formats[] = { &import_chrome, &import_flight, &import_inspector };

struct import {
    const struct import_format *wanted, *format; /* format NULL: not known yet */
    void *state;                                 /* the format's */
    struct calls *calls;
    struct import_skipped skipped;
    struct import_file file;
    bool begun; /* the format has this file */
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
    const struct import_format *format = m->wanted ? m->wanted : format_of(piece);

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
    char *data = xcalloc(READ_BYTES, 1);
    const unsigned char *start = (const unsigned char *)data;
    bool first = true;
    size_t n;
    int rc = 0;

    while (rc == 0 && (n = fread(data, 1, READ_BYTES, in)) > 0) {
        /* what is often given, and is no JSON */
        if (first && n >= 2 && start[0] == 0x80 && start[1] <= 5)
            rc = err_set(
                err,
                "it is a Python pickle: write it as JSON first, python3 -c 'import json,pickle,sys; "
                "json.dump(pickle.load(open(sys.argv[1],\"rb\")),open(sys.argv[2],\"w\"),default=str)' DUMP DUMP.json");
        else if (first && n >= 2 && start[0] == 0x1f && start[1] == 0x8b)
            rc = err_set(err, "it is compressed: unpack it first, with gzip -dk");
        else
            rc = json_pieces_feed(pieces, data, n, err);
        first = false;
        m->bytes += n;
        if (progress_is_due(&m->progress))
            say_read(m, in);
    }
    if (rc == 0 && ferror(in))
        rc = err_set(err, "%s", strerror(errno));
    progress_end(&m->progress);
    free(data);
    return rc;
}

int import_read(struct import *m, FILE *in, const char *name, struct err *err)
{
    struct json_pieces *pieces = json_pieces_new(on_piece, m);
    int rc;

    m->file.name = name;
    m->file.name_rank = rank_of_name(name);
    m->begun = false;
    rc = read_all(m, in, pieces, err);
    if (rc == 0 && !m->begun)
        rc = err_set(
            err,
            "it is none of the formats that are read: a timeline (Chrome's Trace Event Format), a dump of PyTorch's flight recorder, "
            "or lines of NCCL Inspector");
    if (rc == 0)
        rc = m->format->end(m->state, err);
    m->torn += rc == 0 && json_pieces_torn(pieces);
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
    if (calls_write(m->calls, out, &f->calls, err) == 0)
        return 0;
    if (f->unclear && !calls_count(m->calls)) {
        struct err why = *err;

        return err_set(err, "%.200s; %llu were left out, the first: %s", why.text,
                       (unsigned long long)f->unclear, f->why);
    }
    return -1;
}
