/* Timelines in Chrome's Trace Event Format: as an object with "traceEvents", or as an array.  Three writers
 * are known: `sgctl export` (read here), torch.profiler and recorders of pipeline-parallel trainings
 * (import_dialect.h). */
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/map.h"
#include "common/utf8.h"
#include "common/xalloc.h"
#include "trace/import_dialect.h"
#include "trace/timeline.h"
#include "view/view.h"
#include "wire/json.h"

/* An event that was begun (phase B), and has not ended yet. */
struct begun {
    char *name, *category;
    uint64_t begin_ns;
    json_t *args;
    uint32_t below; /* 1 + the one within which it began; 0: none */
};

#define OPEN_MAX       (1u << 16) /* of up to 7 KB: threads nest a few dozen */
#define LANES_MAX      (1u << 22) /* threads that begin events */
#define ARGS_MAX       16         /* that are kept of an event that was begun */
#define TEXT_MAX       127        /* bytes of a name or an argument of it */
#define ITERATIONS_MAX (1u << 20) /* that are counted */

struct chrome {
    struct calls *calls;
    struct import_skipped *skipped;
    const struct import_file *file;
    struct kineto *kineto;
    struct pipeline *pipeline;
    /* passes of pipeline stages, without messages: of how many stages and iterations, by their numbers */
    uint64_t passes;
    struct map stages, iterations;
    json_t *node;   /* names of processes by their numbers, of as many as there can be nodes */
    uint32_t clock; /* of the operations of a pipeline: the first file's */
    struct begun *begun;
    size_t n_begun, begun_cap;
    struct map lanes;   /* by a hash of process and thread: 1 + the newest of its events that is open */
    uint32_t free_slot; /* 1 + of begun, chained by below; 0: none */
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

/* Those that never end. */
static void forget_begun(struct chrome *f)
{
    for (size_t i = 0; i < f->n_begun; i++) {
        f->skipped->other += f->begun[i].name != NULL;
        free(f->begun[i].name);
        free(f->begun[i].category);
        json_decref(f->begun[i].args);
    }
    f->n_begun = 0;
    f->free_slot = 0;
    map_clear(&f->lanes);
}

static void chrome_free(void *state)
{
    struct chrome *f = state;

    kineto_free(f->kineto);
    pipeline_free(f->pipeline);
    map_free(&f->stages);
    map_free(&f->iterations);
    forget_begun(f);
    free(f->begun);
    map_free(&f->lanes);
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
    char pid[24], clean[TRACE_NAME_MAX + 1];

    if (!thread && strcmp(what, "process_name") != 0)
        return;
    pipeline_name(f->pipeline, thread, lane_of(e, "pid"), lane_of(e, "tid"), name);
    if (thread || json_object_size(f->node) >= VIEW_RANKS_MAX)
        return;
    snprintf(pid, sizeof(pid), "%llx", (unsigned long long)lane_of(e, "pid"));
    utf8_clean(clean, sizeof(clean), name);
    json_put_text(f->node, pid, clean);
}

/* ---- events in two halves: B, and E, which ends the newest of its thread ---- */

static uint64_t lane_key(const struct timeline_event *e)
{
    const uint64_t words[] = { e->pid, e->tid };

    return hash_bytes(HASH_START, words, sizeof(words));
}

/* Numbers and short texts, and so many of them: an event that is open is kept until it ends. */
static json_t *small_args(const json_t *args)
{
    json_t *kept = json_object(), *value;
    const char *key;

    json_object_foreach((json_t *)(uintptr_t)args, key, value) {
        if (json_object_size(kept) < ARGS_MAX && strlen(key) <= TEXT_MAX &&
            (json_is_number(value) || (json_is_string(value) && json_string_length(value) <= TEXT_MAX)))
            json_object_set(kept, key, value);
    }
    return kept;
}

static int push_begun(struct chrome *f, const struct timeline_event *e, struct err *err)
{
    uint32_t top = map_get(&f->lanes, lane_key(e)), slot = f->free_slot;
    struct begun b = { xasprintf("%.*s", TEXT_MAX, e->name), xasprintf("%.*s", TEXT_MAX, e->category),
                       e->begin_ns, NULL, top == MAP_NONE ? 0 : top };

    if (slot && (top != MAP_NONE || f->lanes.n < LANES_MAX)) {
        f->free_slot = f->begun[slot - 1].below;
    } else if (f->n_begun < OPEN_MAX && f->lanes.n < LANES_MAX) {
        f->begun = xgrow(f->begun, &f->begun_cap, f->n_begun + 1, sizeof(*f->begun));
        slot = (uint32_t)++f->n_begun;
    } else {
        free(b.name);
        free(b.category);
        return err_set(err, "more than %u events are begun and not ended, or more than %u threads begin some",
                       OPEN_MAX, LANES_MAX);
    }
    b.args = small_args(e->args);
    f->begun[slot - 1] = b;
    map_put(&f->lanes, lane_key(e), slot);
    return 0;
}

/* The whole event that ends here, in b, whose parts are the caller's; false: none was begun. */
static bool pop_begun(struct chrome *f, struct timeline_event *e, struct begun *b)
{
    uint32_t slot = map_get(&f->lanes, lane_key(e));

    if (slot == MAP_NONE || !slot)
        return false;
    *b = f->begun[slot - 1];
    map_put(&f->lanes, lane_key(e), b->below);
    f->begun[slot - 1] = (struct begun){ .below = f->free_slot };
    f->free_slot = slot;
    e->name = b->name;
    e->category = b->category;
    e->end_ns = e->begin_ns;
    e->begin_ns = b->begin_ns < e->end_ns ? b->begin_ns : e->end_ns;
    /* some writers know at the end only what it was */
    json_object_update(b->args, (json_t *)(uintptr_t)e->args);
    e->args = b->args;
    return true;
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
    if (strcmp(json_get_word(e, "ph"), "X") != 0)
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

/* A pass of a pipeline's stage, as MegatronApp's tracer has it ("forward", "backward", with args pp_rank,
 * microbatch, model_chunk, iteration): nothing in it tells when a message came, or where a step ends. */
static bool is_pass(struct chrome *f, const struct timeline_event *e)
{
    int64_t stage = json_get_int(e->args, "pp_rank", 0, VIEW_RANKS_MAX - 1, -1);

    if (stage < 0 || !json_object_get(e->args, "microbatch") ||
        (strcmp(e->name, "forward") != 0 && strcmp(e->name, "backward") != 0))
        return false;
    f->passes++;
    map_put(&f->stages, (uint64_t)stage, 0);
    if (f->iterations.n < ITERATIONS_MAX)
        map_put(&f->iterations, (uint64_t)json_get_int(e->args, "iteration", 0, INT64_MAX, 0), 0);
    return true;
}

static int take_whole(struct chrome *f, const struct timeline_event *e, struct err *err)
{
    int taken = pipeline_event(f->pipeline, e, err);

    if (taken == 0)
        taken = is_pass(f, e) ? 1 : kineto_event(f->kineto, e, err);
    f->skipped->other += taken == 0;
    return taken < 0 ? -1 : 0;
}

static int take_event(struct chrome *f, const json_t *e, struct err *err)
{
    const char *phase = json_get_word(e, "ph");
    struct timeline_event event;
    struct begun b;
    int rc;

    if (!strcmp(phase, "M")) {
        take_name(f, e);
        return 0;
    }
    if ((strcmp(phase, "X") != 0 && strcmp(phase, "B") != 0 && strcmp(phase, "E") != 0) ||
        !read_event(e, &event)) {
        f->skipped->other++;
        return 0;
    }
    if (strcmp(phase, "E") != 0 && json_get_string(event.args, "communicator")) {
        if (strcmp(event.category, TIMELINE_ACCESS) != 0)
            return add_exported(f, &event, err);
        /* its number is of accesses alone: as a call it could stand in a collective's place */
        f->skipped->other++;
        return 0;
    }
    if (!strcmp(event.category, TIMELINE_PATH)) /* which follows from the calls */
        return 0;
    if (!strcmp(phase, "X"))
        return take_whole(f, &event, err);
    if (!strcmp(phase, "B"))
        return push_begun(f, &event, err);
    if (!pop_begun(f, &event, &b)) {
        f->skipped->other++;
        return 0;
    }
    rc = take_whole(f, &event, err);
    free(b.name);
    free(b.category);
    json_decref(b.args);
    return rc;
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

    forget_begun(f);
    if (!pipeline_has_calls(f->pipeline))
        f->clock = f->file->number + 1;
    if (f->passes && !f->skipped->nothing[0])
        snprintf(
            f->skipped->nothing, sizeof(f->skipped->nothing),
            "%.100s has %llu forward and backward passes of %zu pipeline stages in %zu iteration%s, and none of the "
            "messages between them: when a stage waited for another is not in it",
            f->file->name, (unsigned long long)f->passes, f->stages.n, f->iterations.n,
            f->iterations.n == 1 ? "" : "s");
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
