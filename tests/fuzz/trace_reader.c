/* Whatever a trace says: it is read or refused, the same in pieces as whole; the two ways to read a line
 * agree; and nothing of it moves a terminal's cursor. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/analyze.h"
#include "ctl/page.h"
#include "trace/line.h"
#include "trace/reader.h"
#include "trace/timeline.h"
#include "view/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static json_t *answer_json(struct trace_reader *r)
{
    struct report *report = analyze_report(r, false);
    json_t *answer = report_json(report);

    report_free(report);
    return answer;
}

/* The answer as text, or why there is none. */
static char *read_pieces(const char *text, size_t bytes, size_t piece)
{
    static const struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 30 };
    struct trace_reader *r = trace_reader_new(&params);
    json_t *answer = NULL;
    struct err err;
    char *out;
    int rc = 0;

    for (size_t at = 0; at < bytes && rc == 0; at += piece)
        rc = trace_reader_feed(r, text + at, bytes - at < piece ? bytes - at : piece, &err);
    if (rc == 0)
        rc = trace_reader_finish(r, &err);
    if (rc == 0)
        answer = answer_json(r);
    out = answer ? json_dumps(answer, JSON_COMPACT) : strdup(err.text);
    json_decref(answer);
    trace_reader_free(r);
    return out;
}

static void check_lines(const char *text, size_t bytes)
{
    const char *end = text + bytes, *next;

    for (; text < end; text = next) {
        struct trace_record a, b;

        next = memchr(text, '\n', (size_t)(end - text));
        next = next ? next + 1 : end;
        if (!trace_record_scan(text, (size_t)(next - text), &a))
            continue;
        if (trace_record_parse(text, (size_t)(next - text), &b, NULL) < 0 || strcmp(a.comm, b.comm) ||
            a.comm_bytes != b.comm_bytes || a.left != b.left || a.call.rank != b.call.rank ||
            a.call.seq != b.call.seq || a.call.op != b.call.op || a.call.flags != b.call.flags ||
            a.call.bytes != b.call.bytes || a.call.begin_ns != b.call.begin_ns ||
            a.call.peer != b.call.peer || a.call.tag != b.call.tag || a.call.enter_ns != b.call.enter_ns ||
            a.call.leave_ns != b.call.leave_ns)
            abort();
    }
}

static long long ns_of(const json_t *e, const char *key)
{
    return llround(json_number_value(json_object_get(e, key)) * 1000);
}

/* Of two slices of one thread, the first one begins first, or stands first in the file. */
static bool overlap_in_part(const json_t *a, const json_t *b)
{
    long long end_ns = ns_of(a, "ts") + ns_of(a, "dur");

    return ns_of(b, "ts") < end_ns && ns_of(b, "ts") + ns_of(b, "dur") > end_ns;
}

#define COMPARED_MAX 200u

/* Perfetto drops slices that overlap in part. */
static void check_slices(const json_t *timeline)
{
    const json_t *slice[COMPARED_MAX], *e;
    size_t n = 0, at;

    json_array_foreach(json_object_get(timeline, "traceEvents"), at, e)
        if (!strcmp(json_string_value(json_object_get(e, "ph")), "X") && n < COMPARED_MAX)
            slice[n++] = e;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            long long first = ns_of(slice[i], "ts"), second = ns_of(slice[k], "ts");

            if (i != k && json_equal(json_object_get(slice[i], "tid"), json_object_get(slice[k], "tid")) &&
                (first < second || (first == second && i < k)) && overlap_in_part(slice[i], slice[k]))
                abort();
        }
}

/* A timeline is JSON whatever names the trace has, and nothing of it is dropped. */
static void check_timeline(const char *text, size_t bytes)
{
    FILE *in = bytes ? fmemopen((void *)(uintptr_t)text, bytes, "r") : NULL, *out;
    struct timeline_figures f;
    struct err err;
    char *timeline = NULL;
    size_t size;
    json_t *o;

    if (!in)
        return;
    out = open_memstream(&timeline, &size);
    if (timeline_write(in, "trace", out, &f, &err) == 0) {
        fflush(out);
        o = json_loadb(timeline, size, JSON_ALLOW_NUL, NULL);
        if (!o)
            abort();
        check_slices(o);
        json_decref(o);
    }
    fclose(out);
    fclose(in);
    free(timeline);
}

static void check_harmless(const char *text)
{
    for (; *text; text++)
        if (*text != '\n' && ((unsigned char)*text < 0x20 || *text == 0x7f))
            abort();
}

static void check_report(const char *text)
{
    json_t *answer = json_loads(text, 0, NULL);
    struct report *r = report_read(answer, NULL);
    char *report = NULL;
    size_t bytes;
    FILE *out;

    if (!answer) { /* it was refused: that is said to a person, too */
        check_harmless(text);
        return;
    }
    out = open_memstream(&report, &bytes);
    if (!r)
        abort();
    page_report(out, r, (struct page_form){ .columns = 80 });
    report_free(r);
    fclose(out);
    check_harmless(report);
    free(report);
    json_decref(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    char *whole = read_pieces(text, size, size + 1), *cut = read_pieces(text, size, size % 13 + 1);

    if (strcmp(whole, cut))
        abort();
    check_lines(text, size);
    check_timeline(text, size);
    check_report(whole);
    free(whole);
    free(cut);
    return 0;
}
