/* Trace events: slices of a thread are apart or nested, whatever calls a rank left in which order. */
#include "trace/trace_events.h"

#include "tests/tap.h"

#define SLICES 4000u

struct written {
    int64_t begin_ns, end_ns;
};

/* As viewers take them: by their begin, those that begin together in the order of the file. Does none of them
 * overlap another in part? */
static bool is_laminar(const struct written *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            bool opens_first = x[i].begin_ns < x[k].begin_ns || (x[i].begin_ns == x[k].begin_ns && i < k);

            if (i != k && opens_first && x[k].begin_ns < x[i].end_ns && x[k].end_ns > x[i].end_ns)
                return false;
        }
    return true;
}

static void cases(void)
{
    static const struct {
        int64_t begin_ns, end_ns, at_ns;
        const char *what;
    } list[] = {
        { 0, 10, 0, "the first slice is written as it is" },
        { 10, 20, 10, "a slice that follows is written as it is" },
        { 10, 20, 10, "of a wait that completes several, each is written as it is" },
        { 12, 20, 12, "what ends with another and begins in it is within it" },
        { 15, 30, 20, "a slice that overlaps another is written from that one's end on" },
        { 40, 50, 40, "a slice behind a gap is written as it is" },
        { 35, 60, 35, "a slice around another is written as it is" },
        { 35, 70, 60, "of two that begin together the longer one, which comes later, is cut" },
        { 5, 80, 70, "a slice around some, and into one before them, is cut" },
        { 60, 75, 75, "what ended before the newest is a moment" },
    };
    struct nesting n = { 0 };

    for (size_t i = 0; i < ARRAY_SIZE(list); i++)
        is_int(nesting_add(&n, list[i].begin_ns, list[i].end_ns), list[i].at_ns, "nesting: %s", list[i].what);
    is_int(nesting_open(&n, 70), 80, "nesting: what never ends begins where an earlier slice ends");
    is_int(nesting_add(&n, 60, 90), 80, "nesting: what comes after that is within it");
}

static void any_slices(void)
{
    static struct written list[SLICES];
    int64_t now_ns = 1000;
    size_t kept = 0;
    struct nesting n = { 0 };
    bool inside = true;

    srand(3);
    for (size_t i = 0; i < SLICES; i++) {
        int64_t begin_ns, at_ns;

        now_ns += rand() % 3 ? rand() % 10 : 0;
        begin_ns = now_ns - rand() % (rand() % 20 ? 12 : 200);
        at_ns = nesting_add(&n, begin_ns, now_ns);
        kept += at_ns == begin_ns;
        inside = inside && at_ns >= begin_ns && at_ns <= now_ns;
        list[i] = (struct written){ at_ns, now_ns };
    }
    ok(is_laminar(list, SLICES), "nesting: of 4000 slices by chance none overlaps another in part");
    ok(inside, "nesting: each ends when it did, and begins no earlier");
    ok(kept > SLICES / 4, "nesting: what need not be cut is not\n%zu of %u", kept, SLICES);
}

static void text(void)
{
    char *got = NULL;
    size_t bytes;
    FILE *out = open_memstream(&got, &bytes);
    struct trace_events t;

    trace_events_open(&t, out);
    trace_events_text(&t, "job", "a\"\\\n");
    trace_events_real(&t, "error", NAN);
    trace_events_list(&t);
    trace_events_thread(&t, (struct trace_lane){ 1, 2 }, "rank 2", 2);
    trace_events_slice(&t, (struct trace_lane){ 1, 2 }, "send", "message", -5, 1001);
    trace_events_number(&t, "peer", 3);
    trace_events_us(&t, "begun", 1234567);
    trace_events_end(&t);
    trace_events_point(&t, (struct trace_lane){ 1, 2 }, "send", "message", 'f', 20, 255);
    is_int(trace_events_close(&t), 0, "trace_events: a file is written");
    fclose(out);
    is_str(
        got,
        "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"job\":\"a\\\"\\\\\\u000a\",\"error\":null},\n"
        "\"traceEvents\":[\n"
        "{\"ph\":\"M\",\"pid\":1,\"name\":\"thread_name\",\"tid\":2,\"args\":{\"name\":\"rank 2\"}},\n"
        "{\"ph\":\"M\",\"pid\":1,\"name\":\"thread_sort_index\",\"tid\":2,\"args\":{\"sort_index\":2}},\n"
        "{\"ph\":\"X\",\"pid\":1,\"name\":\"send\",\"cat\":\"message\",\"tid\":2,\"ts\":0.000,\"dur\":1.001,"
        "\"args\":{\"peer\":3,\"begun\":1234.567}},\n"
        "{\"ph\":\"f\",\"pid\":1,\"name\":\"send\",\"cat\":\"message\",\"tid\":2,\"ts\":0.020,\"id\":\"ff\","
        "\"bp\":\"e\"}\n]}\n",
        "trace_events: it has each event, with times to a nanosecond");
    free(got);
}

int main(void)
{
    cases();
    any_slices();
    text();
    return done_testing();
}
