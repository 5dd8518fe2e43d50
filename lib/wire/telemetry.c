#include "wire/telemetry.h"

#include <endian.h>
#include <string.h>

/* Layout of each kind of item, in order of bytes; used for encoding and decoding. */
struct field {
    uint16_t offset, size;
};
#define FIELD(type, member)                                               \
    {                                                                     \
        offsetof(struct type, member), sizeof(((struct type *)0)->member) \
    }

static const struct field sample_fields[] = {
    FIELD(sample, rank),       FIELD(sample, app),        FIELD(sample, op),
    FIELD(sample, flags),      FIELD(sample, comm),       FIELD(sample, seq),
    FIELD(sample, n),          FIELD(sample, root),       FIELD(sample, bytes),
    FIELD(sample, enter_ns),   FIELD(sample, stay_ns),    FIELD(sample, stay_sum_ns),
    FIELD(sample, gap_sum_ns), FIELD(sample, p2p_sum_ns), { 0, 0 },
};
static const struct field step_fields[] = {
    FIELD(step, rank),      FIELD(step, app),
    FIELD(step, comm),      FIELD(step, seq),
    FIELD(step, period),    FIELD(step, n_steps),
    FIELD(step, enter_ns),  FIELD(step, duration_ns),
    FIELD(step, gap_ns),    FIELD(step, p2p_ns),
    FIELD(step, stay_ns),   FIELD(step, flags),
    FIELD(step, parts),     FIELD(step, stay_s[0]),
    FIELD(step, stay_s[1]), FIELD(step, stay_s[2]),
    FIELD(step, stay_s[3]), FIELD(step, stay_s[4]),
    FIELD(step, stay_s[5]), FIELD(step, stay_s[6]),
    FIELD(step, stay_s[7]), { 0, 0 },
};
_Static_assert(STEP_PARTS_MAX == 8, "each part is a field");
static const struct field live_fields[] = {
    FIELD(live, rank), FIELD(live, app),   FIELD(live, op),       FIELD(live, state),  FIELD(live, comm),
    FIELD(live, seq),  FIELD(live, bytes), FIELD(live, enter_ns), FIELD(live, age_ns), { 0, 0 },
};
static const struct field counts_fields[] = {
    FIELD(counts, rank),      FIELD(counts, app),    FIELD(counts, events),
    FIELD(counts, dropped),   FIELD(counts, missed), FIELD(counts, p2p_calls),
    FIELD(counts, p2p_bytes), FIELD(counts, p2p_ns), { 0, 0 },
};
static const struct field comm_fields[] = {
    FIELD(comm_item, rank),
    FIELD(comm_item, app),
    FIELD(comm_item, name),
    FIELD(comm_item, membership),
    FIELD(comm_item, size),
    FIELD(comm_item, comm_rank),
    FIELD(comm_item, instance),
    FIELD(comm_item, first),
    FIELD(comm_item, last),
    FIELD(comm_item, flags),
    { 0, 0 },
};
static const struct field node_fields[] = {
    FIELD(node_item, rank),
    FIELD(node_item, app),
    FIELD(node_item, cpus),
    FIELD(node_item, run_queue),
    FIELD(node_item, busy_ratio),
    FIELD(node_item, steal_ratio),
    FIELD(node_item, frequency_hz),
    FIELD(node_item, frequency_ratio),
    FIELD(node_item, throttled_per_s),
    FIELD(node_item, quota_ratio),
    FIELD(node_item, cpu_pressure_ratio),
    FIELD(node_item, memory_pressure_ratio),
    FIELD(node_item, io_pressure_ratio),
    FIELD(node_item, swap_per_s),
    FIELD(node_item, retransmits_per_s),
    FIELD(node_item, nic_errors_per_s),
    FIELD(node_item, nic),
    { 0, 0 },
};
static const struct field task_fields[] = {
    FIELD(task_item, rank),
    FIELD(task_item, app),
    FIELD(task_item, flags),
    FIELD(task_item, cpu),
    FIELD(task_item, n_cpus),
    FIELD(task_item, numa),
    FIELD(task_item, nic_numa),
    FIELD(task_item, gpu),
    FIELD(task_item, gpu_numa),
    FIELD(task_item, run_delay_ratio),
    FIELD(task_item, cpu_ratio),
    FIELD(task_item, foreign_ratio),
    FIELD(task_item, involuntary_per_s),
    FIELD(task_item, voluntary_per_s),
    FIELD(task_item, major_faults_per_s),
    FIELD(task_item, cpus),
    { 0, 0 },
};
static const struct field gpu_fields[] = {
    FIELD(gpu_item, rank),     FIELD(gpu_item, app),         FIELD(gpu_item, index),
    FIELD(gpu_item, throttle), FIELD(gpu_item, clock_ratio), FIELD(gpu_item, temperature_c),
    FIELD(gpu_item, power_w),  FIELD(gpu_item, busy_ratio),  { 0, 0 },
};
static const struct field gpu_state_fields[] = {
    FIELD(gpu_state_item, rank),
    FIELD(gpu_state_item, app),
    FIELD(gpu_state_item, index),
    FIELD(gpu_state_item, flags),
    FIELD(gpu_state_item, clock_mhz),
    FIELD(gpu_state_item, clock_max_mhz),
    FIELD(gpu_state_item, corrected),
    FIELD(gpu_state_item, uncorrected),
    { 0, 0 },
};
static const struct field call_fields[] = {
    FIELD(call, rank),     FIELD(call, app),      FIELD(call, op),  FIELD(call, flags), FIELD(call, comm),
    FIELD(call, seq),      FIELD(call, peer),     FIELD(call, tag), FIELD(call, bytes), FIELD(call, begin_ns),
    FIELD(call, enter_ns), FIELD(call, leave_ns), { 0, 0 },
};
static const struct field onesided_fields[] = {
    FIELD(call, rank),       FIELD(call, app),      FIELD(call, op),       FIELD(call, flags),
    FIELD(call, comm),       FIELD(call, seq),      FIELD(call, peer),     FIELD(call, bytes),
    FIELD(call, read_bytes), FIELD(call, enter_ns), FIELD(call, leave_ns), { 0, 0 },
};
static const struct field process_fields[] = {
    FIELD(process_item, rank),
    FIELD(process_item, app),
    FIELD(process_item, state),
    FIELD(process_item, age_ns),
    { 0, 0 },
};
static const struct field traffic_fields[] = {
    FIELD(traffic_item, rank),     FIELD(traffic_item, app),       FIELD(traffic_item, local[0]),
    FIELD(traffic_item, local[1]), FIELD(traffic_item, remote[0]), FIELD(traffic_item, remote[1]),
    FIELD(traffic_item, bytes),    FIELD(traffic_item, busy_ns),   { 0, 0 },
};
static const struct field partner_fields[] = {
    FIELD(partner_item, rank),
    FIELD(partner_item, app),
    FIELD(partner_item, op),
    FIELD(partner_item, peer),
    FIELD(partner_item, tag),
    FIELD(partner_item, enter_ns),
    { 0, 0 },
};
static const struct field phases_fields[] = {
    FIELD(phases_item, rank),        FIELD(phases_item, app),
    FIELD(phases_item, phase),       FIELD(phases_item, used),
    FIELD(phases_item, age_ns),      FIELD(phases_item, steps),
    FIELD(phases_item, duration_ns), FIELD(phases_item, phase_ns[0]),
    FIELD(phases_item, phase_ns[1]), FIELD(phases_item, phase_ns[2]),
    FIELD(phases_item, phase_ns[3]), FIELD(phases_item, phase_ns[4]),
    FIELD(phases_item, phase_ns[5]), { 0, 0 },
};
_Static_assert(MARKS_PHASES == 6, "each phase is a field");
static const struct field value_fields[] = {
    FIELD(value_item, rank),       FIELD(value_item, app),
    FIELD(value_item, value),      FIELD(value_item, given),
    FIELD(value_item, non_finite), FIELD(value_item, since),
    FIELD(value_item, newest),     { 0, 0 },
};
static const struct field comm_end_fields[] = {
    FIELD(comm_end_item, rank),
    FIELD(comm_end_item, app),
    FIELD(comm_end_item, name),
    { 0, 0 },
};
static const struct field losses_fields[] = {
    FIELD(losses_item, rank),    FIELD(losses_item, app),   FIELD(losses_item, messages),
    FIELD(losses_item, streams), FIELD(losses_item, comms), { 0, 0 },
};
static const struct field signals_fields[] = {
    FIELD(signals_item, rank),
    FIELD(signals_item, app),
    FIELD(signals_item, endured),
    { 0, 0 },
};
static const struct field member_fields[] = {
    FIELD(member_item, rank),     FIELD(member_item, app),
    FIELD(member_item, op),       FIELD(member_item, comm),
    FIELD(member_item, place),    FIELD(member_item, tag),
    FIELD(member_item, enter_ns), { 0, 0 },
};
static const struct field left_fields[] = {
    FIELD(left_item, rank),   FIELD(left_item, app),
    FIELD(left_item, op),     FIELD(left_item, flags),
    FIELD(left_item, comm),   FIELD(left_item, seq),
    FIELD(left_item, peer),   FIELD(left_item, tag),
    FIELD(left_item, age_ns), { 0, 0 },
};
static const struct field header_fields[] = {
    FIELD(telemetry_header, batch),
    FIELD(telemetry_header, now_ns),
    FIELD(telemetry_header, items),
    { 0, 0 },
};

static const struct {
    const char *name;
    const struct field *fields;
    bool checked; /* has values that check_values() checks */
} kinds[] = {
    [TELEMETRY_SAMPLE] = { "sample", sample_fields, true },
    [TELEMETRY_STEP] = { "step", step_fields, true },
    [TELEMETRY_LIVE] = { "live", live_fields, true },
    [TELEMETRY_COUNTS] = { "counts", counts_fields, false },
    [TELEMETRY_COMM] = { "communicator", comm_fields, false },
    [TELEMETRY_NODE] = { "node", node_fields, true },
    [TELEMETRY_TASK] = { "task", task_fields, true },
    [TELEMETRY_GPU] = { "GPU", gpu_fields, false },
    [TELEMETRY_CALL] = { "call", call_fields, true },
    [TELEMETRY_PROCESS] = { "process", process_fields, true },
    [TELEMETRY_TRAFFIC] = { "traffic", traffic_fields, false },
    [TELEMETRY_PARTNER] = { "partner", partner_fields, true },
    [TELEMETRY_PHASES] = { "phases", phases_fields, true },
    [TELEMETRY_VALUE] = { "value", value_fields, true },
    [TELEMETRY_COMM_END] = { "end of a communicator", comm_end_fields, false },
    [TELEMETRY_LOSSES] = { "losses", losses_fields, false },
    [TELEMETRY_SIGNALS] = { "signals", signals_fields, false },
    [TELEMETRY_MEMBER] = { "member", member_fields, true },
    [TELEMETRY_LEFT] = { "call left", left_fields, true },
    [TELEMETRY_GPU_STATE] = { "state of a GPU", gpu_state_fields, false },
    [TELEMETRY_ONESIDED] = { "access", onesided_fields, true },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static size_t layout_bytes(const struct field *f)
{
    size_t n = 0;

    for (; f->size; f++)
        n += f->size;
    return n;
}

/* Copy a field between the host's byte order and little-endian, in either direction.  Single bytes and text
 * are copied unchanged. */
static void copy_field(void *to, const void *from, size_t size)
{
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;

    switch (size) {
    case 2:
        memcpy(&u16, from, 2);
        u16 = htole16(u16);
        memcpy(to, &u16, 2);
        break;
    case 4:
        memcpy(&u32, from, 4);
        u32 = htole32(u32);
        memcpy(to, &u32, 4);
        break;
    case 8:
        memcpy(&u64, from, 8);
        u64 = htole64(u64);
        memcpy(to, &u64, 8);
        break;
    default:
        memcpy(to, from, size);
    }
}

static void encode(uint8_t *out, const void *base, const struct field *f)
{
    for (; f->size; out += f->size, f++)
        copy_field(out, (const uint8_t *)base + f->offset, f->size);
}

static void decode(const uint8_t *in, void *base, const struct field *f)
{
    for (; f->size; in += f->size, f++)
        copy_field((uint8_t *)base + f->offset, in, f->size);
}

void telemetry_begin(struct telemetry_writer *w, uint8_t *data, size_t cap)
{
    *w = (struct telemetry_writer){ .data = data, .bytes = layout_bytes(header_fields), .cap = cap };
}

int telemetry_put(struct telemetry_writer *w, const struct telemetry_item *item)
{
    const struct field *fields = kinds[item->kind].fields;
    size_t n = 1 + layout_bytes(fields);

    if (w->bytes > w->cap || n > w->cap - w->bytes)
        return -1;
    w->data[w->bytes] = (uint8_t)item->kind;
    /* all members of the union have the same address */
    encode(w->data + w->bytes + 1, &item->sample, fields);
    w->bytes += n;
    w->items++;
    return 0;
}

size_t telemetry_end(struct telemetry_writer *w, uint64_t batch, uint64_t now_ns)
{
    struct telemetry_header h = { .batch = batch, .now_ns = now_ns, .items = w->items };

    encode(w->data, &h, header_fields);
    return w->bytes;
}

static int check_text(const char *text, size_t size, size_t at, struct err *err)
{
    return memchr(text, '\0', size) ? 0 : err_set(err, "telemetry: item at byte %zu: unterminated text", at);
}

/* Events have these. */
static bool is_of_event(unsigned op)
{
    return ring_op_is_message(op) || op < RING_OP_POINT_TO_POINT;
}

/* Check the values that readers use as index or divisor. */
static int check_values(const struct telemetry_item *item, size_t at, struct err *err)
{
    const struct sample *s = &item->sample;
    const struct step *t = &item->step;
    const struct call *c = &item->call;

    switch (item->kind) {
    case TELEMETRY_SAMPLE:
        if (s->op == RING_OP_NONE || s->op >= RING_OP_MAX)
            return err_set(err, "telemetry: sample at byte %zu: unknown operation %u", at, s->op);
        if (!s->n || (s->n & (s->n - 1)) || s->seq % s->n)
            return err_set(
                err,
                "telemetry: sample at byte %zu: a block of %u at %u, expected a power of two that divides it",
                at, s->n, s->seq);
        return 0;
    case TELEMETRY_STEP:
        if (!t->n_steps || !t->period)
            return err_set(err, "telemetry: step at byte %zu: %u steps of %u collectives", at, t->n_steps,
                           t->period);
        if (!t->parts || t->parts > STEP_PARTS_MAX || t->parts > t->period)
            return err_set(err, "telemetry: step at byte %zu: %u parts of %u collectives", at, t->parts,
                           t->period);
        return 0;
    case TELEMETRY_LIVE:
        if (item->live.op >= RING_OP_MAX)
            return err_set(err, "telemetry: live at byte %zu: unknown operation %u", at, item->live.op);
        return 0;
    case TELEMETRY_NODE:
        return check_text(item->node.nic, sizeof(item->node.nic), at, err);
    case TELEMETRY_TASK:
        return check_text(item->task.cpus, sizeof(item->task.cpus), at, err);
    case TELEMETRY_CALL:
        if (!is_of_event(c->op))
            return err_set(err, "telemetry: call at byte %zu: operation %u", at, c->op);
        if (c->begin_ns > c->enter_ns || c->enter_ns > c->leave_ns)
            return err_set(err, "telemetry: call at byte %zu: times out of order", at);
        return 0;
    case TELEMETRY_ONESIDED:
        if (!call_is_access(c) || c->flags & ~RING_EVENT_INTER)
            return err_set(err, "telemetry: access at byte %zu: operation %u, flags %u", at, c->op, c->flags);
        if (c->enter_ns > c->leave_ns)
            return err_set(err, "telemetry: access at byte %zu: times out of order", at);
        return 0;
    case TELEMETRY_PROCESS:
        if (item->process.state >= PROCESS_STATES)
            return err_set(err, "telemetry: process at byte %zu: unknown state %u", at, item->process.state);
        return 0;
    case TELEMETRY_PARTNER:
        if (!ring_op_is_message(item->partner.op))
            return err_set(err, "telemetry: partner at byte %zu: operation %u", at, item->partner.op);
        return 0;
    case TELEMETRY_MEMBER:
        if (!ring_op_is_message(item->member.op))
            return err_set(err, "telemetry: member at byte %zu: operation %u", at, item->member.op);
        return 0;
    case TELEMETRY_LEFT:
        if (!is_of_event(item->left.op) || item->left.op == RING_OP_NONE)
            return err_set(err, "telemetry: call left at byte %zu: operation %u", at, item->left.op);
        return 0;
    case TELEMETRY_PHASES:
        if (item->phases.phase >= MARKS_PHASES)
            return err_set(err, "telemetry: phases at byte %zu: unknown phase %u", at, item->phases.phase);
        return 0;
    case TELEMETRY_VALUE:
        if (item->value.value >= MARKS_VALUES)
            return err_set(err, "telemetry: value at byte %zu: unknown value %u", at, item->value.value);
        return 0;
    case TELEMETRY_COUNTS:
    case TELEMETRY_COMM:
    case TELEMETRY_GPU:
    case TELEMETRY_TRAFFIC:
    case TELEMETRY_COMM_END:
    case TELEMETRY_LOSSES:
    case TELEMETRY_SIGNALS:
    case TELEMETRY_GPU_STATE:
        break;
    }
    return 0;
}

/* Check the item at r->at.  0 and its size, or -1. */
static int check_item(const struct telemetry_reader *r, size_t *bytes, struct err *err)
{
    struct telemetry_item item;
    size_t left = r->bytes - r->at;
    uint8_t kind = r->data[r->at];

    if (kind >= KINDS || !kinds[kind].fields)
        return err_set(err, "telemetry: item at byte %zu: unknown kind %u", r->at, kind);
    *bytes = 1 + layout_bytes(kinds[kind].fields);
    if (left < *bytes)
        return err_set(err, "telemetry: %s at byte %zu: %zu bytes, expected %zu", kinds[kind].name, r->at,
                       left - 1, *bytes - 1);
    if (!kinds[kind].checked)
        return 0;
    item.kind = kind;
    decode(r->data + r->at + 1, &item.sample, kinds[kind].fields);
    return check_values(&item, r->at, err);
}

int telemetry_open(struct telemetry_reader *r, const uint8_t *data, size_t bytes, struct err *err)
{
    size_t head = layout_bytes(header_fields), n = 0;
    uint32_t items = 0;

    if (bytes < head || bytes > TELEMETRY_BATCH_MAX)
        return err_set(err, "telemetry: batch of %zu bytes, expected %zu to %u", bytes, head,
                       TELEMETRY_BATCH_MAX);
    *r = (struct telemetry_reader){ .data = data, .bytes = bytes, .at = head };
    decode(data, &r->header, header_fields);
    if (!r->header.batch)
        return err_set(err, "telemetry: batch number 0, expected 1 or more");
    for (; r->at < bytes; r->at += n, items++) {
        if (items == r->header.items)
            return err_set(err, "telemetry: %zu bytes after the last item", bytes - r->at);
        if (check_item(r, &n, err) < 0)
            return -1;
    }
    if (items < r->header.items)
        return err_set(err, "telemetry: %u items are missing at the end", r->header.items - items);
    r->at = head;
    return 0;
}

bool telemetry_next(struct telemetry_reader *r, struct telemetry_item *item)
{
    const struct field *fields;

    if (r->at == r->bytes)
        return false;
    memset(item, 0, sizeof(*item));
    item->kind = r->data[r->at];
    fields = kinds[item->kind].fields;
    decode(r->data + r->at + 1, &item->sample, fields);
    r->at += 1 + layout_bytes(fields);
    return true;
}
