/* Batches survive the way, and only whole ones are believed. */
#include "ring/ring.h"
#include "tests/tap.h"
#include "wire/telemetry.h"

static const struct telemetry_item items[] = {
    { TELEMETRY_SAMPLE, .sample = { .rank = 7,
                                    .app = 2,
                                    .op = RING_OP_ALLREDUCE,
                                    .flags = SAMPLE_GAP,
                                    .comm = 0x0123456789abcdefULL,
                                    .seq = 48,
                                    .n = 16,
                                    .root = -1,
                                    .bytes = 4096,
                                    .enter_ns = 1ULL << 60,
                                    .stay_ns = 3,
                                    .stay_sum_ns = 50,
                                    .gap_sum_ns = 99,
                                    .p2p_sum_ns = 1 } },
    { TELEMETRY_STEP, .step = { .rank = UINT32_MAX,
                                .app = UINT16_MAX,
                                .comm = 5,
                                .seq = 6,
                                .period = 7,
                                .n_steps = 8,
                                .enter_ns = 9,
                                .duration_ns = UINT64_MAX,
                                .gap_ns = 11,
                                .p2p_ns = 12,
                                .stay_ns = 13,
                                .flags = STEP_INCOMPLETE,
                                .parts = 7,
                                .stay_s = { 0.5f, 1, 2, 3, 4, 5, 6, 0 } } },
    { TELEMETRY_LIVE, .live = { .rank = 1,
                                .app = 0,
                                .op = RING_OP_WAIT,
                                .state = RING_STATE_RUNNING,
                                .comm = 2,
                                .seq = 3,
                                .bytes = 4,
                                .enter_ns = 5,
                                .age_ns = 6 } },
    { TELEMETRY_PARTNER,
      .partner = { .rank = 1, .app = 2, .op = RING_OP_RECV, .peer = 7, .tag = -3, .enter_ns = 5 } },
    { TELEMETRY_COUNTS, .counts = { .rank = 1,
                                    .app = 1,
                                    .events = 2,
                                    .dropped = 3,
                                    .missed = 4,
                                    .p2p_calls = 5,
                                    .p2p_bytes = 6,
                                    .p2p_ns = 7 } },
    { TELEMETRY_COMM, .comm = { .rank = 3,
                                .app = 1,
                                .name = 4,
                                .membership = 5,
                                .size = 6,
                                .comm_rank = 2,
                                .instance = 8,
                                .first = 9,
                                .last = 10,
                                .flags = RING_EVENT_INTER } },
    { TELEMETRY_NODE, .node = { .rank = 3,
                                .app = 1,
                                .cpus = 128,
                                .run_queue = 7,
                                .busy_ratio = 0.5f,
                                .steal_ratio = 0.12f,
                                .frequency_hz = 1.9e9f,
                                .frequency_ratio = 0.6f,
                                .throttled_per_s = NAN,
                                .quota_ratio = 0,
                                .cpu_pressure_ratio = 0.25f,
                                .memory_pressure_ratio = 0.18f,
                                .io_pressure_ratio = 1,
                                .swap_per_s = 4e3f,
                                .retransmits_per_s = 12,
                                .nic_errors_per_s = 210,
                                .nic = "eth0" } },
    { TELEMETRY_TASK, .task = { .rank = 3,
                                .app = 1,
                                .flags = TASK_SHARED_CPU,
                                .cpu = 5,
                                .n_cpus = 2,
                                .numa = -1,
                                .nic_numa = 1,
                                .gpu = 0,
                                .gpu_numa = 1,
                                .run_delay_ratio = 0.34f,
                                .cpu_ratio = 1.5f,
                                .foreign_ratio = 0.5f,
                                .involuntary_per_s = 250,
                                .voluntary_per_s = 1,
                                .major_faults_per_s = NAN,
                                .cpus = "4-5" } },
    { TELEMETRY_CALL, .call = { .rank = 3,
                                .app = 1,
                                .op = RING_OP_RECV,
                                .flags = RING_EVENT_NONBLOCKING,
                                .comm = 4,
                                .seq = 5,
                                .peer = 6,
                                .tag = -7,
                                .bytes = 8,
                                .begin_ns = 9,
                                .enter_ns = 10,
                                .leave_ns = 11 } },
    { TELEMETRY_ONESIDED, .call = { .rank = 3,
                                    .app = 1,
                                    .op = RING_OP_ACCESS,
                                    .comm = 4,
                                    .seq = 5,
                                    .peer = 6,
                                    .bytes = 8,
                                    .read_bytes = 1ull << 40,
                                    .enter_ns = 10,
                                    .leave_ns = 11 } },
    { TELEMETRY_PROCESS, .process = { .rank = 3, .app = 1, .state = PROCESS_TRACED, .age_ns = 1ull << 40 } },
    { TELEMETRY_TRAFFIC, .traffic = { .rank = 3,
                                      .app = 1,
                                      .local = { 0, 0xffff0a000001 },
                                      .remote = { 0, 0xffff0a000002 },
                                      .bytes = 1ull << 40,
                                      .busy_ns = 12 } },
    { TELEMETRY_PHASES, .phases = { .rank = 3,
                                    .app = 1,
                                    .phase = MARKS_BACKWARD,
                                    .used = 1 << MARKS_BACKWARD | 1 << MARKS_INPUT,
                                    .age_ns = 12,
                                    .steps = 5,
                                    .duration_ns = 1ull << 40,
                                    .phase_ns = { 1, 2, 3, 1ull << 39, 5, 6 } } },
    { TELEMETRY_VALUE, .value = { .rank = 3,
                                  .app = 1,
                                  .value = MARKS_GRAD_NORM,
                                  .given = 9,
                                  .non_finite = 3,
                                  .since = 7,
                                  .newest = -INFINITY } },
    { TELEMETRY_COMM_END, .comm_end = { .rank = 3, .app = 1, .name = 1ull << 60 } },
    { TELEMETRY_LOSSES, .losses = { .rank = 3, .app = 1, .messages = 1ull << 40, .streams = 5, .comms = 6 } },
    { TELEMETRY_SIGNALS, .signals = { .rank = 3, .app = 1, .endured = 1ull << 63 | 1 << 9 } },
    { TELEMETRY_MEMBER, .member = { .rank = 3,
                                    .app = 1,
                                    .op = RING_OP_RECV,
                                    .comm = 1ull << 60,
                                    .place = 2,
                                    .tag = -3,
                                    .enter_ns = 5 } },
    { TELEMETRY_LEFT, .left = { .rank = 3,
                                .app = 1,
                                .op = RING_OP_SEND,
                                .flags = RING_EVENT_MEMBER,
                                .comm = 1ull << 60,
                                .seq = 5,
                                .peer = 6,
                                .tag = -7,
                                .age_ns = 1ull << 40 } },
    { TELEMETRY_GPU_STATE, .gpu_state = { .rank = 3,
                                          .app = 1,
                                          .index = 2,
                                          .flags = GPU_STATE_PARTS,
                                          .clock_mhz = 1110,
                                          .clock_max_mhz = 1980,
                                          .corrected = 1ull << 40,
                                          .uncorrected = GPU_ERRORS_UNKNOWN } },
    { TELEMETRY_GPU, .gpu = { .rank = 3,
                              .app = 1,
                              .index = 2,
                              .throttle = 0x40,
                              .clock_ratio = 0.7f,
                              .temperature_c = 91,
                              .power_w = 650,
                              .busy_ratio = NAN } },
};

static uint8_t batch[TELEMETRY_BATCH_MAX];

static size_t write_items(uint8_t *data, size_t cap)
{
    struct telemetry_writer w;

    telemetry_begin(&w, data, cap);
    for (size_t i = 0; i < ARRAY_SIZE(items); i++)
        if (telemetry_put(&w, &items[i]) < 0)
            return 0;
    return telemetry_end(&w, 42, 4711);
}

/* All of a batch: the number of items, or -1. */
static int read_all(const uint8_t *data, size_t bytes, struct err *err)
{
    struct telemetry_reader r;
    struct telemetry_item item;
    int n = 0;

    if (telemetry_open(&r, data, bytes, err) < 0)
        return -1;
    while (telemetry_next(&r, &item))
        n++;
    return n;
}

static void there_and_back(void)
{
    size_t n = write_items(batch, sizeof(batch));
    struct telemetry_reader r;
    struct telemetry_item got;
    struct err err = { "" };

    is_int((long long)n,
           20 + 77 + 101 + 45 + 24 + 55 + 47 + 77 + 77 + 29 + 61 + 16 + 55 + 77 + 40 + 15 + 31 + 15 + 32 +
               37 + 35 + 57,
           "a batch has the documented layout, without padding");
    ok(!telemetry_open(&r, batch, n, &err) && r.header.batch == 42 && r.header.now_ns == 4711 &&
           r.header.items == ARRAY_SIZE(items),
       "the header that was written is read");
    for (size_t i = 0; i < ARRAY_SIZE(items); i++) {
        struct telemetry_item want;

        memset(&want, 0, sizeof(want));
        want.kind = items[i].kind;
        switch (want.kind) {
        case TELEMETRY_SAMPLE:
            want.sample = items[i].sample;
            break;
        case TELEMETRY_STEP:
            want.step = items[i].step;
            break;
        case TELEMETRY_LIVE:
            want.live = items[i].live;
            break;
        case TELEMETRY_COUNTS:
            want.counts = items[i].counts;
            break;
        case TELEMETRY_COMM:
            want.comm = items[i].comm;
            break;
        case TELEMETRY_NODE:
            want.node = items[i].node;
            break;
        case TELEMETRY_TASK:
            want.task = items[i].task;
            break;
        case TELEMETRY_GPU:
            want.gpu = items[i].gpu;
            break;
        case TELEMETRY_CALL:
        case TELEMETRY_ONESIDED:
            want.call = items[i].call;
            break;
        case TELEMETRY_PROCESS:
            want.process = items[i].process;
            break;
        case TELEMETRY_TRAFFIC:
            want.traffic = items[i].traffic;
            break;
        case TELEMETRY_PARTNER:
            want.partner = items[i].partner;
            break;
        case TELEMETRY_PHASES:
            want.phases = items[i].phases;
            break;
        case TELEMETRY_VALUE:
            want.value = items[i].value;
            break;
        case TELEMETRY_COMM_END:
            want.comm_end = items[i].comm_end;
            break;
        case TELEMETRY_LOSSES:
            want.losses = items[i].losses;
            break;
        case TELEMETRY_SIGNALS:
            want.signals = items[i].signals;
            break;
        case TELEMETRY_MEMBER:
            want.member = items[i].member;
            break;
        case TELEMETRY_LEFT:
            want.left = items[i].left;
            break;
        case TELEMETRY_GPU_STATE:
            want.gpu_state = items[i].gpu_state;
            break;
        }
        ok(telemetry_next(&r, &got) && got.kind == want.kind,
           "telemetry_next returns item %zu, of the kind that was written", i);
        /* field by field through a second encoding: padding does not count */
        uint8_t a[256] = { 0 }, b[256] = { 0 };
        struct telemetry_writer wa, wb;

        telemetry_begin(&wa, a, sizeof(a));
        telemetry_begin(&wb, b, sizeof(b));
        telemetry_put(&wa, &got);
        telemetry_put(&wb, &want);
        ok(!memcmp(a, b, sizeof(a)), "item %zu is read as it was written", i);
    }
    ok(!telemetry_next(&r, &got), "telemetry_next ends after the last item");
    ok(got.gpu.throttle == 0x40 && got.gpu.power_w == 650 && isnan(got.gpu.busy_ratio),
       "fields of an item are at their documented offsets");
    is_int(batch[20], TELEMETRY_SAMPLE, "the first byte of an item is its kind");
    is_int(batch[21], 7, "little-endian: the lowest byte of rank comes first");
}

static void refusals(void)
{
    static const struct {
        size_t at;
        uint8_t value;
        const char *what, *why;
    } cases[] = {
        { 16, 7, "fewer items announced than there are", "bytes after the last item" },
        { 16, 22, "more items announced", "missing at the end" },
        { 20, 0, "kind 0", "unknown kind 0" },
        { 20, 200, "kind 200", "unknown kind 200" },
        { 27, 0, "no operation", "unknown operation 0" },
        { 27, 255, "operation 255", "unknown operation 255" },
        { 41, 0, "a block of none", "power of two" },
        { 41, 15, "a block of 15", "power of two" },
        { 37, 49, "a block at a number it does not divide", "power of two" },
        { 0, 0, "batch 0", "expected 1 or more" },
    };
    struct err err = { "" };
    struct telemetry_reader r;
    size_t n = write_items(batch, sizeof(batch)), last = n - 29; /* a GPU's item has 29 bytes */

    batch[last] = 200;
    ok(telemetry_open(&r, batch, n, &err) < 0 && strstr(err.text, "kind 200"),
       "a batch whose last item is bad is rejected before its first is returned: %s", err.text);
    batch[last] = TELEMETRY_GPU;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        uint8_t copy[2048];

        memcpy(copy, batch, n);
        copy[cases[i].at] = cases[i].value;
        ok(read_all(copy, n, &err) < 0 && strstr(err.text, cases[i].why),
           "a batch is rejected with its reason, %s: %s", cases[i].what, err.text);
    }
    for (size_t cut = 0; cut < n; cut++)
        if (read_all(batch, cut, &err) >= 0) {
            ok(false, "a batch cut at byte %zu is rejected", cut);
            return;
        }
    ok(true, "a batch cut at any byte is rejected");
    ok(read_all(batch, TELEMETRY_BATCH_MAX + 1, &err) < 0, "a batch above the bound is refused: %s",
       err.text);
}

static void full(void)
{
    struct telemetry_writer w;
    struct err err = { "" };
    size_t n = 0, bytes;

    telemetry_begin(&w, batch, sizeof(batch));
    while (!telemetry_put(&w, &items[n % ARRAY_SIZE(items)]))
        n++;
    bytes = telemetry_end(&w, 1, 1);
    ok(bytes <= TELEMETRY_BATCH_MAX && bytes > TELEMETRY_BATCH_MAX - 100,
       "telemetry_put rejects an item when the batch is full\nafter %zu items", n);
    is_int(read_all(batch, bytes, &err), (long long)n, "all items of a full batch are read");
    telemetry_begin(&w, batch, 10);
    ok(telemetry_put(&w, &items[0]) < 0, "telemetry_put rejects memory smaller than a header");
}

int main(void)
{
    there_and_back();
    refusals();
    full();
    return done_testing();
}
