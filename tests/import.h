/* import.h - for tests: text of another program's file into a trace, and that trace checked. */
#ifndef SYNCGUARD_TESTS_IMPORT_H
#define SYNCGUARD_TESTS_IMPORT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/import.h"
#include "trace/reader.h"
#include "view/view.h"

/* The text of each file by its name; ends with NULL. */
struct import_text {
    const char *name, *text;
    size_t bytes; /* 0: as far as the text goes */
};

/* The trace, which the caller frees, or NULL with the reason. */
static inline char *import_texts(const char *format, const struct import_text *file, struct import_figures *f,
                                 struct err *err)
{
    struct import *m = import_new(format);
    char *trace = NULL;
    size_t size;
    FILE *out = open_memstream(&trace, &size), *in;
    int rc = 0;

    for (; file->name && rc == 0; file++) {
        size_t bytes = file->bytes ? file->bytes : strlen(file->text);

        in = bytes ? fmemopen((void *)(uintptr_t)file->text, bytes, "r") : fopen("/dev/null", "re");
        if (!in)
            break;
        rc = import_read(m, in, file->name, err);
        fclose(in);
    }
    if (rc == 0)
        rc = import_write(m, out, f, err);
    fclose(out);
    import_free(m);
    if (rc == 0)
        return trace;
    free(trace);
    return NULL;
}

/* Whatever was imported is a trace that can be read. */
static inline int import_readable(const char *trace, struct trace_figures *f, struct err *err)
{
    static const struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 30 };
    struct trace_reader *r = trace_reader_new(&params);
    int rc = trace_reader_feed(r, trace, strlen(trace), err);

    if (rc == 0)
        rc = trace_reader_finish(r, err);
    trace_reader_figures_get(r, f);
    trace_reader_free(r);
    return rc;
}

/* For the fuzz targets: half of the bytes are one file's and all of them another's, or all of them are the
 * only file's. Whatever they say, they are refused, or what comes of them is a trace that can be read. */
static inline void import_fuzz(const char *format, const uint8_t *data, size_t size)
{
    const struct import_text files[] = { { "rank0.json", (const char *)data, size / 2 + size % 2 },
                                         { "rank1.json", (const char *)data, size },
                                         { 0 } };
    struct import_figures f;
    struct trace_figures read;
    struct err err;

    for (int first = 0; first < 2 && size; first++) {
        char *trace = import_texts(format, files + first, &f, &err);

        if (trace && import_readable(trace, &read, &err) < 0 && !strstr(err.text, "days from"))
            abort();
        free(trace);
    }
}

#endif
