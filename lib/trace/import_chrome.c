/* Timelines in Chrome's Trace Event Format: as an object with "traceEvents", or as an array.  Three writers
 * are known: `sgctl export` (read here), torch.profiler and recorders of pipeline-parallel trainings
 * (import_dialect.h). */
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/xalloc.h"
#include "trace/import_dialect.h"
#include "view/view.h"
#include "wire/json.h"

struct chrome {
    struct calls *calls;
    struct import_skipped *skipped;
    const struct import_file *file;
    struct kineto *kineto;
    struct pipeline *pipeline;
    json_t *node;   /* names of processes by their numbers */
    uint32_t clock; /* of the operations of a pipeline: the first file's */
};

static const char *const keys[] = { "traceEvents",     "schemaVersion",    "displayTimeUnit",     "otherData",
                                    "distributedInfo", "deviceProperties", "baseTimeNanoseconds", NULL };

static void *chrome_open(struct calls *calls, struct import_skipped *skipped)
{
    struct chrome *f = xcalloc(1, sizeof(*f));

    f->calls = calls;
    f->skipped = skipped;
    f->kineto = kineto_new(calls, skipped);
    f->pipeline = pipeline_new(calls, skipped);
    f->node = json_object();
    return f;
}

static void chrome_free(void *state)
{
    struct chrome *f = state;

    kineto_free(f->kineto);
    pipeline_free(f->pipeline);
    json_decref(f->node);
    free(f);
}

static void chrome_begin(void *state, const struct import_file *file)
{
    struct chrome *f = state;

    f->file = file;
    kineto_begin(f->kineto, file);
    json_object_clear(f->node);
}

/* ---- events ---- */

/* Processes and threads are numbers, or text in some writers' files. */
static uint64_t lane_of(const json_t *e, const char *key)
{
    const json_t *value = json_object_get(e, key);

    if (json_is_integer(value) && json_integer_value(value) >= 0)
        return (uint64_t)json_integer_value(value);
    return json_is_string(value) ? hash_bytes(HASH_START, json_string_value(value), json_string_length(value))
                                 : UINT64_MAX;
}

static void take_name(struct chrome *f, const json_t *e)
{
    const char *what = json_get_word(e, "name"), *name = json_get_word(json_get_object(e, "args"), "name");
    bool thread = !strcmp(what, "thread_name");
    char pid[24];

    if (!thread && strcmp(what, "process_name") != 0)
        return;
    pipeline_name(f->pipeline, thread, lane_of(e, "pid"), lane_of(e, "tid"), name);
    if (thread)
        return;
    snprintf(pid, sizeof(pid), "%llx", (unsigned long long)lane_of(e, "pid"));
    json_put_text(f->node, pid, name);
}

static bool read_event(const json_t *e, struct timeline_event *event)
{
    const json_t *dur = json_object_get(e, "dur");
    uint64_t lasts_ns;

    *event = (struct timeline_event){ .name = json_get_word(e, "name"),
                                      .category = json_get_word(e, "cat"),
                                      .pid = lane_of(e, "pid"),
                                      .tid = lane_of(e, "tid"),
                                      .args = json_get_object(e, "args") };
    if (!import_us(json_object_get(e, "ts"), EVENT_BASE_NS, &event->begin_ns))
        return false;
    if (!strcmp(json_get_word(e, "ph"), "B"))
        return true;
    if (!import_us(dur, 0, &lasts_ns) || lasts_ns > CALLS_TIME_MAX - event->begin_ns - 1)
        return false;
    event->end_ns = event->begin_ns + lasts_ns;
    return true;
}

/* ---- what sgctl export wrote ---- */

static int add_exported(struct chrome *f, const struct timeline_event *e, struct err *err)
{
    int64_t comm = calls_comm(f->calls, json_get_word(e->args, "communicator"), err),
            bytes = json_get_int(e->args, "bytes", 0, INT64_MAX / 4, -1);
    struct call k = { .rank = (uint32_t)e->tid,
                      .op = !strcmp(e->name, "send")   ? RING_OP_SEND
                            : !strcmp(e->name, "recv") ? RING_OP_RECV
                                                       : (uint8_t)ring_op_from_name(e->name),
                      .seq = (uint32_t)json_get_int(e->args, "number", 0, UINT32_MAX - 1, CALLS_IN_ORDER),
                      .peer = (uint32_t)json_get_int(e->args, "peer", 0, VIEW_RANKS_MAX - 1, VIEW_RANKS_MAX),
                      .tag = (int32_t)json_get_int(e->args, "tag", 0, INT32_MAX, -1),
                      .bytes = bytes < 0 ? CALLS_UNSIZED : (uint64_t)bytes,
                      .enter_ns = e->begin_ns,
                      .leave_ns = e->end_ns ? e->end_ns : CALLS_STUCK };
    char pid[24], alone[24];
    const char *node;

    if (comm < 0)
        return -1;
    if (e->tid >= VIEW_RANKS_MAX)
        return err_set(err, "an exported call has no rank");
    snprintf(pid, sizeof(pid), "%llx", (unsigned long long)e->pid);
    /* the process of a rank whose node is not known */
    snprintf(alone, sizeof(alone), "rank %u", k.rank);
    node = json_get_word(f->node, pid);
    if (calls_rank(f->calls, k.rank, f->file->number, strcmp(node, alone) ? node : "", err) < 0)
        return -1;
    k.comm = (uint64_t)comm;
    if (import_us(json_object_get(e->args, "begun"), EVENT_BASE_NS, &k.begin_ns)) {
        k.begin_ns = k.begin_ns < k.enter_ns ? k.begin_ns : k.enter_ns;
        k.flags = RING_EVENT_NONBLOCKING;
    }
    return calls_add(f->calls, &k, err);
}

static int take_event(struct chrome *f, const json_t *e, struct err *err)
{
    const char *phase = json_get_word(e, "ph");
    struct timeline_event event;
    int taken;

    if (!strcmp(phase, "M")) {
        take_name(f, e);
        return 0;
    }
    if ((strcmp(phase, "X") != 0 && strcmp(phase, "B") != 0) || !read_event(e, &event)) {
        f->skipped->other++;
        return 0;
    }
    if (json_get_string(event.args, "communicator"))
        return add_exported(f, &event, err);
    taken = event.end_ns ? pipeline_event(f->pipeline, &event, err) : 0;
    if (taken == 0 && event.end_ns)
        taken = kineto_event(f->kineto, &event, err);
    f->skipped->other += taken == 0;
    return taken < 0 ? -1 : 0;
}

static int chrome_piece(void *state, const struct json_piece *piece, const json_t *value, struct err *err)
{
    struct chrome *f = state;

    if (piece->kind == JSON_ITEM && (!piece->key[0] || !strcmp(piece->key, "traceEvents")))
        return json_is_object(value) ? take_event(f, value, err) : 0;
    if (piece->kind != JSON_MEMBER)
        return 0;
    if (!strcmp(piece->key, "distributedInfo"))
        kineto_info(f->kineto, value);
    else if (!strcmp(piece->key, "otherData") && *json_get_word(value, "job"))
        calls_job(f->calls, json_get_word(value, "job"));
    return 0;
}

static int chrome_end(void *state, struct err *err)
{
    struct chrome *f = state;

    if (!pipeline_has_calls(f->pipeline))
        f->clock = f->file->number + 1;
    return kineto_end(f->kineto, err);
}

static int chrome_close(void *state, struct err *err)
{
    struct chrome *f = state;

    return pipeline_has_calls(f->pipeline) ? pipeline_close(f->pipeline, f->clock, err) : 0;
}

const struct import_format import_chrome = { .word = "chrome",
                                             .title = "timelines",
                                             .keys = keys,
                                             .open = chrome_open,
                                             .begin = chrome_begin,
                                             .piece = chrome_piece,
                                             .end = chrome_end,
                                             .close = chrome_close,
                                             .free = chrome_free };
