#include "trace/trace_events.h"

#include <math.h>
#include <stdlib.h>

/* ---- values ---- */

static void put_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c < 0x20)
            fprintf(out, "\\u%04x", *c);
        else if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else
            fputc(*c, out);
    }
    fputc('"', out);
}

static void put_us(FILE *out, int64_t ns)
{
    lldiv_t us = lldiv(ns > 0 ? ns : 0, 1000);

    fprintf(out, "%lld.%03lld", us.quot, us.rem);
}

static void put_key(struct trace_events *t, const char *key)
{
    if (t->arguments)
        fputc(',', t->out);
    put_text(t->out, key);
    fputc(':', t->out);
    t->arguments = true;
}

void trace_events_text(struct trace_events *t, const char *key, const char *text)
{
    put_key(t, key);
    put_text(t->out, text);
}

void trace_events_number(struct trace_events *t, const char *key, long long number)
{
    put_key(t, key);
    fprintf(t->out, "%lld", number);
}

void trace_events_real(struct trace_events *t, const char *key, double number)
{
    put_key(t, key);
    if (isnan(number))
        fputs("null", t->out);
    else
        fprintf(t->out, "%.3g", number);
}

void trace_events_us(struct trace_events *t, const char *key, int64_t ns)
{
    put_key(t, key);
    put_us(t->out, ns);
}

/* ---- the file ---- */

void trace_events_open(struct trace_events *t, FILE *out)
{
    *t = (struct trace_events){ .out = out };
    fputs("{\"displayTimeUnit\":\"ms\",\"otherData\":{", out);
}

void trace_events_list(struct trace_events *t)
{
    fputs("},\n\"traceEvents\":[", t->out);
}

int trace_events_close(struct trace_events *t)
{
    fputs("\n]}\n", t->out);
    return fflush(t->out) == 0 && !ferror(t->out) ? 0 : -1;
}

/* ---- events ---- */

static void begin_event(struct trace_events *t, const char *phase, const char *name, uint32_t process)
{
    fprintf(t->out, "%s\n{\"ph\":\"%s\",\"pid\":%u,\"name\":", t->any ? "," : "", phase, process);
    put_text(t->out, name);
    t->any = true;
}

static void begin_arguments(struct trace_events *t)
{
    fputs(",\"args\":{", t->out);
    t->arguments = false;
}

void trace_events_end(struct trace_events *t)
{
    fputs("}}", t->out);
}

void trace_events_process(struct trace_events *t, uint32_t process, const char *name, int place)
{
    begin_event(t, "M", "process_name", process);
    begin_arguments(t);
    trace_events_text(t, "name", name);
    trace_events_end(t);
    begin_event(t, "M", "process_sort_index", process);
    begin_arguments(t);
    trace_events_number(t, "sort_index", place);
    trace_events_end(t);
}

static void put_thread(struct trace_events *t, const char *what, struct trace_lane lane)
{
    begin_event(t, "M", what, lane.process);
    fprintf(t->out, ",\"tid\":%u", lane.thread);
    begin_arguments(t);
}

void trace_events_thread(struct trace_events *t, struct trace_lane lane, const char *name, int place)
{
    put_thread(t, "thread_name", lane);
    trace_events_text(t, "name", name);
    trace_events_end(t);
    put_thread(t, "thread_sort_index", lane);
    trace_events_number(t, "sort_index", place);
    trace_events_end(t);
}

static void begin_at(struct trace_events *t, const char *phase, struct trace_lane lane, const char *name,
                     const char *category, int64_t at_ns)
{
    begin_event(t, phase, name, lane.process);
    fprintf(t->out, ",\"cat\":\"%s\",\"tid\":%u,\"ts\":", category, lane.thread);
    put_us(t->out, at_ns);
}

void trace_events_slice(struct trace_events *t, struct trace_lane lane, const char *name,
                        const char *category, int64_t begin_ns, int64_t end_ns)
{
    bool ended = end_ns != TRACE_EVENTS_NEVER;

    begin_at(t, ended ? "X" : "B", lane, name, category, begin_ns);
    if (ended) {
        fputs(",\"dur\":", t->out);
        /* of the times as they are written, so that it ends where another one begins */
        put_us(t->out, (end_ns > 0 ? end_ns : 0) - (begin_ns > 0 ? begin_ns : 0));
    }
    begin_arguments(t);
}

void trace_events_point(struct trace_events *t, struct trace_lane lane, const char *name,
                        const char *category, char phase, int64_t at_ns, uint64_t id)
{
    begin_at(t, (const char[]){ phase, '\0' }, lane, name, category, at_ns);
    fprintf(t->out, ",\"id\":\"%llx\"%s}", (unsigned long long)id, phase == 'f' ? ",\"bp\":\"e\"" : "");
}

/* ---- nested or apart ---- */

int64_t nesting_add(struct nesting *n, int64_t begin_ns, int64_t end_ns)
{
    if (n->any && end_ns < n->end_ns) /* it came too late: a moment overlaps nothing */
        return end_ns;
    if (!n->any || begin_ns >= n->end_ns) {
        *n = (struct nesting){ true, begin_ns, end_ns, n->any ? n->end_ns : INT64_MIN, begin_ns };
        return begin_ns;
    }
    if (end_ns == n->end_ns && begin_ns >= n->inside_ns) {
        n->inside_ns = begin_ns;
        return begin_ns;
    }
    /* Of two that begin together the longer one comes first in a file, and this one cannot. */
    if (begin_ns < n->begin_ns && begin_ns >= n->before_ns) {
        if (end_ns > n->end_ns)
            n->inside_ns = n->end_ns;
        n->begin_ns = begin_ns;
        n->end_ns = end_ns;
        return begin_ns;
    }
    if (end_ns == n->end_ns)
        return n->inside_ns;
    *n = (struct nesting){ true, n->end_ns, end_ns, n->end_ns, n->end_ns };
    return n->begin_ns;
}

int64_t nesting_open(struct nesting *n, int64_t begin_ns)
{
    if (n->any && n->end_ns > begin_ns)
        begin_ns = n->end_ns;
    *n = (struct nesting){ true, begin_ns, begin_ns, begin_ns, begin_ns };
    return begin_ns;
}
