/* What becomes of other programs' records: times, operations, sizes, groups and partners, worked out by hand.
 */
#include "tests/import.h"

#include <math.h>
#include <zlib.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "tests/tap.h"
#include "trace/json_pieces.h"
#include "trace/unpack.h"

static char *import_one(const char *name, const char *text, struct import_figures *f, struct err *err)
{
    const struct import_text files[] = { { name, text, 0 }, { 0 } };

    return import_texts(NULL, files, f, err);
}

static void has(const char *trace, const char *line, const char *what)
{
    ok(trace && strstr(trace, line), "%s", what);
    if (!trace || !strstr(trace, line))
        printf("# expected %s\n# in %.1500s\n", line, trace ? trace : "nothing");
}

/* ---- the pieces of JSON ---- */

static int note(const struct json_piece *piece, void *arg, struct err *err)
{
    char *notes = arg;
    size_t n = strlen(notes);

    (void)err;
    snprintf(notes + n, 400 - n, "%s%s=%.*s;",
             piece->kind == JSON_END    ? "end"
             : piece->kind == JSON_ITEM ? "item "
                                        : "",
             piece->key, (int)piece->bytes, piece->kind == JSON_END ? "" : piece->text);
    return 0;
}

static void pieces(void)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        { "{\"a\":1,\"b\":[2, {\"c\":\"]\\\"}\"}],\"d\":{\"e\":[1]}}",
          "a=1;item b=2;item b={\"c\":\"]\\\"}\"};d={\"e\":[1]};end=;" },
        { "[1,\"x\"] {\"a\":null} ", "item =1;item =\"x\";end=;a=null;end=;" },
        { "{}[]", "end=;end=;" },
        { "{\"a\":[],\"b\":true}", "b=true;end=;" },
        { "{\"a\":[1,2", "item a=1;" },
    };
    static const char *const wrong[] = { "x", "{1}", "{\"a\" 1}", "{\"a\":}", "[1}", "{\"a\":1 \"b\":2}" };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        for (size_t step = 1; step <= strlen(cases[i].text); step += 6) {
            char notes[400] = "";
            struct json_pieces *p = json_pieces_new(note, notes);
            struct err err = { "" };
            int rc = 0;

            for (size_t at = 0; at < strlen(cases[i].text) && rc == 0; at += step)
                rc = json_pieces_feed(p, cases[i].text + at,
                                      strlen(cases[i].text) - at < step ? strlen(cases[i].text) - at : step,
                                      &err);
            if (rc < 0 || strcmp(notes, cases[i].expected))
                is_str(notes, cases[i].expected, "%s in steps of %zu bytes (%s)", cases[i].text, step,
                       err.text);
            if (step == 1)
                ok(rc == 0 && !strcmp(notes, cases[i].expected), "%s is taken apart", cases[i].text);
            json_pieces_free(p);
        }
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        char notes[400] = "";
        struct json_pieces *p = json_pieces_new(note, notes);
        struct err err = { "" };

        ok(json_pieces_feed(p, wrong[i], strlen(wrong[i]), &err) < 0 && strstr(err.text, "expected"),
           "%s is no JSON: %s", wrong[i], err.text);
        json_pieces_free(p);
    }
}

/* ---- torch.profiler ---- */

#define ALLREDUCE \
    "\"Collective name\":\"allreduce\",\"In msg nelems\":1000,\"dtype\":\"Float\",\"Group size\":2,\"Process Group Name\":\"0\",\"Process Group Ranks\":\"[0, 1]\""
#define KINETO(rank, work)                                                                                                                      \
    "{\"distributedInfo\":{\"rank\":" rank ",\"world_size\":2},\"traceEvents\":["                                                               \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":10,\"dur\":" work "},"                                       \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_AllReduce_Sum\",\"pid\":0,\"tid\":20,\"ts\":40,\"dur\":100,\"args\":{" ALLREDUCE \
    "}},"                                                                                                                                       \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":500}]}"

static void kineto(void)
{
    const struct import_text files[] = { { "a.json", KINETO("0", "20"), 0 },
                                         { "b.json", KINETO("1", "90"), 0 },
                                         { 0 } };
    struct import_figures f;
    struct err err;
    char *trace = import_texts(NULL, files, &f, &err);

    /* Times begin 1 ms after 0. Rank 1's work lasts until 100 us, 60 us of the all-reduce run beside it. */
    has(trace,
        "{\"r\":0,\"c\":\"world\",\"s\":0,\"o\":\"allreduce\",\"b\":4000,\"ti\":1040000,\"t0\":1040000,\"t1\":1140000}",
        "a kernel that nothing runs beside holds its rank all the time");
    has(trace,
        "{\"r\":1,\"c\":\"world\",\"s\":0,\"o\":\"allreduce\",\"b\":4000,\"ti\":1040000,\"t0\":1100000,\"t1\":1140000}",
        "a kernel beside work holds its rank from the end of that work on");
    if (trace) {
        is_int(f.calls.ranks, 2, "distributedInfo has the rank");
        is_int((long long)f.calls.collectives, 2, "each kernel of NCCL is a record");
    }
    free(trace);
    trace = import_one(
        "noname.json",
        "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclKernel_AllReduce\",\"ts\":1,\"dur\":1}]}",
        &f, &err);
    ok(!trace, "a timeline whose rank is unknown is refused");
    is_str(
        err.text,
        "noname.json: the timeline has no distributedInfo with its rank, and its name has no number: name it like rank3.json",
        "what is missing is said");
}

/* An old profiler's: kernels without arguments, launched within annotations. */
#define OLD_KERNEL(name, correlation, ts)                                                                    \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name "\",\"pid\":0,\"tid\":20,\"ts\":" ts                 \
    ",\"dur\":100,\"args\":{\"External id\":" correlation ",\"correlation\":" correlation "}},"              \
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernelExC\",\"pid\":9,\"tid\":" correlation \
    ",\"ts\":5,\"dur\":1,\"args\":{\"correlation\":" correlation "}}"
#define ANNOTATION(name, tid, args)                                                               \
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"nccl:" name "\",\"pid\":9,\"tid\":" tid \
    ",\"ts\":3,\"dur\":4,\"args\":{" args "}}"
#define OLD(rank, ts)                                                                                                               \
    "{\"distributedInfo\":{\"rank\":" rank ",\"world_size\":3},\"traceEvents\":[" OLD_KERNEL(                                       \
        "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*)", "77",                                                           \
        ts) "," ANNOTATION("all_to_all", "77",                                                                                      \
                           "\"Input Dims\":[[16,4],[]],\"Input type\":[\"float\",\"\"]") "," OLD_KERNEL("ncclKernel_SendRecv_RING", \
                                                                                                        "78",                       \
                                                                                                        "900") "]}"

static void kineto_described(void)
{
    const struct import_text old[] = { { "a.json", OLD("0", "40"), 0 },
                                       { "b.json", OLD("1", "90"), 0 },
                                       { 0 } };
    /* What an event of many ranks writes out of them is cut; the groups of the header are whole. */
    static const char grouped[] =
        "{\"distributedInfo\":{\"rank\":%u,\"world_size\":8,\"pg_config\":[{\"pg_name\":\"0\",\"pg_desc\":\"default_pg\",\"ranks\":[0,1,2,3,4,5,6,7]},"
        "{\"pg_name\":\"3\",\"pg_desc\":\"dp\",\"ranks\":[1,3]}]},\"traceEvents\":["
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_AllReduce_Sum\",\"pid\":0,\"tid\":20,\"ts\":40,\"dur\":100,\"args\":{\"Collective name\":\"allreduce\","
        "\"In msg nelems\":10,\"dtype\":\"Float\",\"Group size\":2,\"Process Group Name\":\"3\",\"Process Group Description\":\"dp\",\"Process Group Ranks\":\"[1, ...]\"}}]}";
    static const struct import_text nothing[] = {
        { "one.json",
          "{\"distributedInfo\":{\"rank\":0,\"world_size\":2},\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"ts\":1,\"dur\":5}]}",
          0 },
        { "two.json",
          "{\"distributedInfo\":{\"rank\":1,\"world_size\":2},\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"record_param_comms\",\"ts\":1,\"dur\":5,"
          "\"args\":{" ALLREDUCE "}}]}",
          0 },
        { 0 }
    };
    char *text[2] = { xasprintf(grouped, 1), xasprintf(grouped, 3) };
    const struct import_text groups[] = { { "a.json", text[0], 0 }, { "b.json", text[1], 0 }, { 0 } };
    struct import_figures f;
    struct err err;
    char *trace = import_texts(NULL, old, &f, &err);

    has(trace,
        "{\"r\":1,\"c\":\"world\",\"s\":0,\"o\":\"alltoall\",\"b\":256,\"ti\":1090000,\"t0\":1090000,\"t1\":1190000}",
        "a kernel without arguments does what the annotation says in which it was launched");
    has(trace, "\"size\":3,\"ranks\":[{\"rank\":0},{\"rank\":1}]", "a rank without a file is counted");
    if (trace) {
        is_int((long long)f.ungrouped, 2, "collectives that name no group are counted");
        is_int((long long)f.unclear, 2, "a kernel that was launched in no annotation is left out");
    }
    free(trace);
    trace = import_texts(NULL, groups, &f, &err);
    has(trace, "{\"r\":3,\"c\":\"dp 1,3\",\"s\":0,",
        "a group whose ranks an event cuts has those of the header");
    free(trace);
    free(text[0]);
    free(text[1]);
    ok(!import_one(
           "cpu.json",
           "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"ts\":1,\"dur\":5}]}",
           &f, &err) &&
           strstr(err.text, "cpu.json has operations of the CPU alone") &&
           strstr(err.text, "distributedInfo"),
       "a timeline of the CPU alone is refused with the reason: %s", err.text);
    ok(!import_one(
           "one.json",
           "{\"distributedInfo\":{\"rank\":0,\"world_size\":1},\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"ts\":1,\"dur\":5}]}",
           &f, &err) &&
           strstr(err.text, "one.json has kernels, and none of NCCL's"),
       "a timeline without a collective is refused with the reason: %s", err.text);
    ok(!import_texts(NULL, nothing, &f, &err) &&
           strstr(err.text, "one.json has kernels, and none of NCCL's") &&
           strstr(err.text, "1 was left out, the first: a collective of which only the launch"),
       "what a file has instead of communication is said beside what was left out: %s", err.text);
}

/* ---- the flight recorder ---- */

#define ENTRY(seq, state, over)                                                                  \
    "{\"record_id\":" seq ",\"process_group\":[\"0\",\"default_pg\"],\"collective_seq_id\":" seq \
    ",\"profiling_name\":\"nccl:all_reduce\",\"time_created_ns\":" seq                           \
    "000000,\"time_discovered_completed_ns\":" over ",\"state\":\"" state                        \
    "\",\"is_p2p\":false,\"input_sizes\":[[3,4]],\"input_dtypes\":[\"Float\"]}"
#define DUMP(entries)        \
    "{\"entries\":[" entries \
    "],\"pg_config\":{\"0\":{\"name\":\"0\",\"desc\":\"default_pg\",\"ranks\":\"[0, 1]\"}},\"version\":\"2.4\"}"

static void flight(void)
{
    const struct import_text files[] = { { "trace_rank_0.json",
                                           DUMP(ENTRY("7", "completed", "9000000") "," ENTRY(
                                               "8", "started", "null") "," ENTRY("9", "scheduled", "null")),
                                           0 },
                                         { "trace_rank_1.json", DUMP(ENTRY("7", "completed", "9500000")), 0 },
                                         { 0 } };
    struct import_figures f = { 0 };
    struct trace_figures read;
    struct err err;
    char *trace = import_texts(NULL, files, &f, &err);

    has(trace, "{\"r\":0,\"c\":\"world\",\"s\":7,\"o\":\"allreduce\",\"b\":48,\"t0\":7000000,\"t1\":9000000}",
        "an entry has the number, the size and the times of its call");
    has(trace, "{\"r\":0,\"c\":\"world\",\"s\":8,\"o\":\"allreduce\",\"b\":48,\"t0\":8000000,\"t1\":null}",
        "the call that is not over was never left");
    is_int((long long)f.calls.stuck, 1, "a rank is stuck in one call");
    is_int((long long)f.unclear, 1, "calls queued behind it are left out, and counted");
    ok(trace && import_readable(trace, &read, &err) == 0 && read.never_left == 1,
       "the trace of a hang is read");
    free(trace);

    /* Rank 1 of the group is rank 5 of the job; the batch's messages have the state of the entry behind them.
     */
    const struct import_text batch[] = {
        { "r4.json",
          "{\"rank\":4,\"pg_config\":{\"pp\":{\"name\":\"pp\",\"desc\":\"pipe\",\"ranks\":[4,5]}},\"entries\":["
          "{\"record_id\":0,\"process_group\":[\"pp\",\"pipe\"],\"p2p_seq_id\":1,\"profiling_name\":\"nccl:send 0->1\",\"time_created_ns\":100,\"state\":\"scheduled\",\"is_p2p\":true},"
          "{\"record_id\":1,\"process_group\":[\"pp\",\"pipe\"],\"p2p_seq_id\":1,\"profiling_name\":\"nccl:coalesced\",\"time_created_ns\":120,\"time_discovered_completed_ns\":900,\"state\":\"completed\",\"is_p2p\":true}]}",
          0 },
        { 0 }
    };

    trace = import_texts("flight-recorder", batch, &f, &err);
    has(trace,
        "{\"r\":4,\"c\":\"pipe 4,5\",\"s\":0,\"o\":\"send\",\"b\":0,\"p\":5,\"g\":0,\"t0\":100,\"t1\":900}",
        "a message of a batch goes to the group's rank, and ends with the batch");
    free(trace);
}

#define MESSAGE(name, rest)                                                                                 \
    "{\"record_id\":0,\"process_group\":[\"pp\",\"pipe\"],\"p2p_seq_id\":1,\"profiling_name\":\"nccl:" name \
    "\",\"time_created_ns\":100,\"is_p2p\":true" rest "}"
#define BATCH(rest)                                                                                                                          \
    "{\"rank\":4,\"pg_config\":{\"pp\":{\"name\":\"pp\",\"desc\":\"pipe\",\"ranks\":[4,5]}},\"entries\":[" MESSAGE(                          \
        "send 0->1",                                                                                                                         \
        ",\"state\":\"scheduled\"") "," MESSAGE("send 0->1",                                                                                 \
                                                ",\"state\":\"scheduled\"") "," MESSAGE("recv 0<-1",                                         \
                                                                                        ",\"state\":\"scheduled\"") "," MESSAGE("coalesced", \
                                                                                                                                ",\"time_discovered_completed_ns\":900,\"state\":\"completed\"" rest) "]}"

/* A batch has one end, which is that of each of its messages. */
static void flight_late(void)
{
    const struct {
        const char *text, *other, *what;
        int late;
    } cases[] = {
        { BATCH(""), NULL, "a batch ends when the recorder looked: so do its three messages", 3 },
        { BATCH(",\"duration_ms\":0.0005"), NULL, "how long a batch lasted is known: no message ends late",
          0 },
        { DUMP(ENTRY("7", "completed", "9000000") "," MESSAGE(
              "send 0->9", ",\"time_discovered_completed_ns\":900,\"state\":\"completed\"")),
          DUMP(ENTRY("7", "completed", "9500000")), "a message that is left out does not end late", 2 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct import_text files[] = { { "rank_0.json", cases[i].text, 0 },
                                             { cases[i].other ? "rank_1.json" : NULL, cases[i].other, 0 },
                                             { 0 } };
        struct import_figures f = { 0 };
        struct err err = { "" };
        char *trace = import_texts("flight-recorder", files, &f, &err);

        ok(trace, "%s: the trace is written\n%s", cases[i].what, err.text);
        is_int((long long)f.late, cases[i].late, "%s: calls that end late are counted", cases[i].what);
        free(trace);
    }
}

/* ---- NCCL Inspector ---- */

static void inspector(void)
{
    static const char plain
        [] =
            "{\"header\":{\"id\":\"0x7f\",\"rank\":1,\"n_ranks\":2,\"nnodes\":1},\"metadata\":{\"dump_timestamp_us\":2000,\"hostname\":\"h1\",\"pid\":7},\"coll_perf\":{\"coll\":\"ReduceScatter\",\"coll_sn\":129,\"coll_msg_size_bytes\":65536,\"coll_exec_time_us\":110}}\n",
   verbose[] =
        "{\"header\":{\"id\":\"0x7f\",\"rank\":0,\"n_ranks\":2,\"nnodes\":1},\"metadata\":{\"dump_timestamp_us\":2000,\"hostname\":\"h1\",\"pid\":6},\"dump_stats\":{\"coll_records\":1}}\n"
        "{\"coll_perf\":{\"coll\":\"ReduceScatter\",\"coll_sn\":129,\"coll_msg_size_bytes\":65536,\"coll_exec_time_us\":110,\"event_trace_ts\":{\"coll_start_ts\":1500,\"kernel_events\":[{\"kernel_start_ts\":1600,\"kernel_stop_ts\":1790},{\"kernel_start_ts\":1610,\"kernel_stop_ts\":1800}]}}}\n",
   other[] =
        "{\"header\":{\"id\":\"0x7f\",\"rank\":1,\"n_ranks\":2,\"nnodes\":1},\"metadata\":{\"dump_timestamp_us\":2000,\"hostname\":\"h1\",\"pid\":7},"
        "\"coll_perf\":{\"coll\":\"ReduceScatter\",\"coll_sn\":129,\"coll_exec_time_us\":110,\"event_trace_ts\":{\"kernel_events\":[{\"kernel_start_ts\":1700,\"kernel_stop_ts\":1801}]}}}\n";
    const struct import_text files[] = { { "a.log", plain, 0 }, { "b.log", verbose, 0 }, { 0 } },
                             both[] = { { "a.log", other, 0 }, { "b.log", verbose, 0 }, { 0 } };
    struct import_figures f = { 0 };
    struct err err;
    char *trace = import_texts(NULL, files, &f, &err);

    has(trace, "{\"rank\":0,\"node\":\"h1\"},{\"rank\":1,\"node\":\"h1\"}",
        "ranks are those of the largest communicator, nodes the hosts");
    /* The one call without a time of its own has none that follows from when its line was written: the two
     * leave at one moment, and rank 0 was held for 200 us. */
    has(trace, "\"untimed\":true,\"ranks\":[{\"rank\":0,\"node\":\"h1\"},{\"rank\":1,\"node\":\"h1\"}]",
        "a trace whose calls have no times says so");
    has(trace,
        "{\"r\":1,\"c\":\"world\",\"s\":129,\"o\":\"reduce_scatter\",\"b\":65536,\"t0\":90002,\"t1\":200002}",
        "without times a call lasts its execution time, and those who met leave together");
    has(trace,
        "{\"r\":0,\"c\":\"world\",\"s\":129,\"o\":\"reduce_scatter\",\"b\":65536,\"t0\":2,\"t1\":200002}",
        "kernels' times are those of all channels; a dump's header is that of the lines behind it");
    free(trace);
    ok(!import_one("inspector.jsonl", verbose, &f, &err) && strstr(err.text, "all calls are of rank 0 of 2"),
       "calls of one of two ranks are refused: %s", err.text);
    trace = import_texts(NULL, both, &f, &err);
    has(trace,
        "{\"r\":0,\"c\":\"world\",\"s\":129,\"o\":\"reduce_scatter\",\"b\":65536,\"t0\":1600000,\"t1\":1800000}",
        "calls with kernels' times keep them");
    ok(trace && !strstr(trace, "untimed"), "a trace whose calls have times does not say otherwise");
    free(trace);
}

/* A line of the plain format. */
static void add_line(char *buf, size_t size, unsigned rank, unsigned n_ranks, unsigned pid,
                     unsigned long long written_us, const char *coll, unsigned sn, unsigned lasted_us)
{
    text_append(
        buf, size,
        "{\"header\":{\"id\":\"0x7f\",\"comm_name\":\"unknown\",\"rank\":%u,\"n_ranks\":%u,\"nnodes\":1},"
        "\"metadata\":{\"dump_timestamp_us\":%llu,\"hostname\":\"h1\",\"pid\":%u},\"coll_perf\":{\"coll\":\"%s\","
        "\"coll_sn\":%u,\"coll_msg_size_bytes\":65536,\"coll_exec_time_us\":%u}}\n",
        rank, n_ranks, written_us, pid, coll, sn, lasted_us);
}

#define LINES_BYTES 16384

/* Ten steps of 10 ms, in each an all-reduce and an all-gather, which NCCL counts each by itself; rank 1 is
 * late to the all-reduce by 2 ms. late_us: how long after a call its line is written; at_end: all are written
 * when the communicator is destroyed. */
static void plain_lines(char *buf, unsigned rank, bool at_end, const unsigned late_us[3])
{
    buf[0] = '\0';
    for (unsigned i = 0; i < 10; i++)
        for (unsigned k = 0; k < 2; k++) {
            unsigned long long ended_us = 1000000 + 10000 * i + (k ? 9000 : 5000);

            add_line(buf, LINES_BYTES, rank, 2, 10 + rank,
                     at_end ? 2000000 + 10 * i + 5 * k : ended_us + late_us[(i + rank) % 3],
                     k ? "AllGather" : "AllReduce", 1 + i,
                     k      ? 500
                     : rank ? 1000
                            : 3000);
        }
}

static void plain(void)
{
    static const unsigned soon_us[3] = { 100, 120, 90 }, late_us[3] = { 100, 4000, 2000 };
    char *text[2] = { xcalloc(LINES_BYTES, 1), xcalloc(LINES_BYTES, 1) };
    struct import_text files[] = { { "a.jsonl", text[0], 0 }, { "b.jsonl", text[1], 0 }, { 0 } };
    struct import_figures f;
    struct err err;
    char *trace;

    for (unsigned rank = 0; rank < 2; rank++)
        plain_lines(text[rank], rank, false, soon_us);
    trace = import_texts(NULL, files, &f, &err);
    ok(trace && !f.calls.untimed && f.calls.collectives == 40 && !f.calls.repeated && !f.calls.strange,
       "lines that were written soon after their calls give them times, and two operations two numbers");
    has(trace,
        "{\"r\":0,\"c\":\"world\",\"s\":2,\"o\":\"allreduce\",\"b\":65536,\"t0\":1012120000,\"t1\":1015120000}",
        "such a call ends when its line was written, and lasts its execution time");
    has(trace, "{\"r\":1,\"c\":\"world\",\"s\":19,\"o\":\"allgather\",\"b\":65536,",
        "collectives of two operations are numbered in the order of the lines");
    free(trace);

    for (unsigned rank = 0; rank < 2; rank++)
        plain_lines(text[rank], rank, false, late_us);
    trace = import_texts(NULL, files, &f, &err);
    ok(trace && f.calls.untimed, "lines that ranks write late by milliseconds give their calls no times");
    free(trace);

    for (unsigned rank = 0; rank < 2; rank++)
        plain_lines(text[rank], rank, true, soon_us);
    trace = import_texts(NULL, files, &f, &err);
    ok(trace && f.calls.untimed && f.calls.collectives == 40,
       "lines that are all written at the end give no times");
    /* Twice 3000 and 500 us, and a nanosecond each. */
    has(trace,
        "{\"r\":1,\"c\":\"world\",\"s\":2,\"o\":\"allreduce\",\"b\":65536,\"t0\":5500004,\"t1\":6500004}",
        "without times one collective follows the other, each over when who came first was held as long as it was");
    free(trace);
    files[1] = (struct import_text){ 0 };
    trace = import_texts(NULL, files, &f, &err);
    ok(!trace && strstr(err.text, "who is late shows beside the others only") &&
           strstr(err.text, "rank 0 of 2 of communicator 0x7f"),
       "one rank's calls without times are refused: %s", err.text);
    free(trace);
    free(text[0]);
    free(text[1]);
}

/* Durations that cannot be: 2.2 * 10^18 ns, and a sum beyond what a trace spans. */
static void long_calls(void)
{
    static const char line[] =
        "{\"id\":\"0x9\",\"rank\":%u,\"n_ranks\":2,\"hostname\":\"h%u\",\"pid\":1,\"coll_perf\":{\"coll\":\"AllReduce\","
        "\"coll_sn\":%u,\"coll_msg_size_bytes\":8,\"coll_exec_time_us\":%llu}}\n";
    enum { ROOM = 1 << 18 };
    char *text = xcalloc(ROOM, 1);
    struct import_figures f;
    struct trace_figures read;
    struct err err;
    char *trace;

    for (unsigned sn = 1; sn <= 2; sn++)
        for (unsigned rank = 0; rank < 2; rank++)
            text_append(text, ROOM, line, rank, rank, sn,
                        sn == 2 && rank ? 2200000000000000ull : 10ull + rank);
    trace = import_one("garbage.jsonl", text, &f, &err);
    ok(trace && f.unclear == 1 && import_readable(trace, &read, &err) == 0,
       "a call of more than a day has no known duration, and is left out");
    free(trace);

    text[0] = '\0';
    for (unsigned sn = 1; sn <= 400; sn++)
        for (unsigned rank = 0; rank < 2; rank++)
            text_append(text, ROOM, line, rank, rank, sn, 86400000000ull);
    ok(!import_one("days.jsonl", text, &f, &err) &&
           strstr(err.text, "the collectives take more than 366 days one after the other"),
       "calls that together last longer than a trace may are refused with the reason: %s", err.text);
    free(text);
}

static void inspector_whose(void)
{
    char *text = xcalloc(LINES_BYTES, 1);
    struct import_figures f;
    struct err err;
    char *trace;

    /* Three ranks of a process with a GPU each, of four. */
    for (unsigned rank = 0; rank < 3; rank++)
        add_line(text, LINES_BYTES, rank, 4, 7, 5000, "AllReduce", 3, 100 + 10 * rank);
    text_append(text, LINES_BYTES,
                "this is not json\n{\"proxy_op\":{\"peer\":1},\"header\":{\"id\":\"0x7f\"}}\n{\"header\":");
    trace = import_one("node.log", text, &f, &err);
    has(trace, "\"size\":4,\"untimed\":true,\"ranks\":[{\"rank\":0,\"node\":\"h1\"},{\"rank\":1,",
        "a process has a rank for each of its GPUs, and the job has those without records");
    if (trace) {
        is_int((long long)f.calls.collectives, 3, "each rank of a process has its record");
        is_int((long long)f.broken, 1, "a broken line is skipped, and counted");
        is_int((long long)f.torn, 1, "a last line without an end was cut off");
        is_int((long long)f.other, 1, "a line of the proxy is no communication");
        ok(!strncmp(f.broken_first, "node.log: line 4: ", 18), "a broken line is named by its number: %s",
           f.broken_first);
    }
    free(trace);

    text[0] = '\0';
    for (unsigned rank = 0; rank < 2; rank++)
        text_append(
            text, LINES_BYTES,
            "{\"id\":\"0x9\",\"rank\":%u,\"n_ranks\":2,\"hostname\":\"h%u\",\"pid\":1,\"coll_perf\":{\"coll\":\"AllReduce\","
            "\"coll_sn\":1,\"coll_msg_size_bytes\":8,\"coll_exec_time_us\":%u.5}}\n",
            rank, rank, 10 + rank);
    add_line(text, LINES_BYTES, 0, 2, 9, 5000, "AllReduce", 1, 100);
    trace = import_one("flat.jsonl", text, &f, &err);
    has(trace, "\"o\":\"allreduce\",\"b\":8,\"t0\":1002,", "who and where may stand beside what a call did");
    free(trace);

    text[0] = '\0';
    text_append(
        text, LINES_BYTES,
        "{\"id\":\"%0300d\",\"rank\":0,\"n_ranks\":2,\"hostname\":\"h\",\"pid\":1,\"coll_perf\":{\"coll\":\"AllReduce\","
        "\"coll_sn\":1,\"coll_msg_size_bytes\":8,\"coll_exec_time_us\":10}}\n",
        7);
    ok(!import_one("long.jsonl", text, &f, &err) && strstr(err.text, "without communicator"),
       "of what stands beside a call short texts alone are kept: %s", err.text);

    text[0] = '\0';
    add_line(text, LINES_BYTES, 0, 2, 7, 5000, "AllReduce", 3, 100);
    add_line(text, LINES_BYTES, 0, 2, 8, 5000, "AllReduce", 4, 100);
    ok(!import_one("two.jsonl", text, &f, &err) &&
           strstr(err.text, "two.jsonl: line 2: rank 0 of communicator 0x7f is two processes"),
       "a rank that is two processes is refused: %s", err.text);

    text[0] = '\0';
    text_append(
        text, LINES_BYTES,
        "{\"header\":{\"id\":\"0x7f\",\"rank\":0,\"n_ranks\":2},\"metadata\":{\"dump_timestamp_us\":2000,\"hostname\":\"h1\",\"pid\":7},"
        "\"coll_perf\":{\"coll\":\"AllReduce\",\"coll_sn\":1,\"coll_exec_time_us\":110,\"coll_timing_source\":\"collective_cpu\"}}\n");
    ok(!import_one("cpu.jsonl", text, &f, &err) &&
           strstr(err.text, "whose time is the host's (collective_cpu)"),
       "a call whose time is the host's is left out: %s", err.text);
    free(text);
}

/* ---- pipelines ---- */

#define THREAD(pid, tid, name) \
    "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":" pid ",\"tid\":" tid ",\"args\":{\"name\":\"" name "\"}}"
#define OP(name, pid, tid, ts, dur, step)                                                            \
    "{\"ph\":\"X\",\"name\":\"" name "\",\"pid\":" pid ",\"tid\":" tid ",\"ts\":" ts ",\"dur\":" dur \
    ",\"args\":{\"step\":" step "}}"

static void pipeline(void)
{
    struct import_figures f = { 0 };
    struct err err;
    /* Stage 1 waits since it has nothing to do; the transfer takes 10 us. The second step begins 1 ms later,
     * which is cut. */
    char *trace = import_one(
        "p.json",
        "[" THREAD("0", "0", "PP rank 0, TP rank 0, compute") "," THREAD("0", "1", "PP rank 0, TP rank 0, pp-comm") "," THREAD("0", "2", "PP rank 1, TP rank 0, compute") "," THREAD("0", "3", "PP rank 1, TP rank 0, pp-comm") "," OP(
            "forward-compute", "0", "0", "0", "100",
            "5") "," OP("forward-send", "0", "1", "100", "10",
                        "5") "," OP("backward-compute", "0", "2", "0", "20",
                                    "5") "," OP("forward-recv", "0", "3", "100", "10",
                                                "5") "," OP("forward-compute", "0", "2", "110", "50",
                                                            "5") "," OP("forward-compute", "0", "0", "1160",
                                                                        "100",
                                                                        "8") "," OP("forward-send", "0", "1",
                                                                                    "1260", "10",
                                                                                    "8") "," OP("forward-recv",
                                                                                                "0", "3",
                                                                                                "1260", "10",
                                                                                                "8") "]",
        &f, &err);

    has(trace,
        "{\"r\":0,\"c\":\"stages\",\"s\":0,\"o\":\"send\",\"b\":0,\"p\":1,\"g\":1,\"t0\":1100000,\"t1\":1110000}",
        "a send goes to the next stage, when its work is done");
    has(trace,
        "{\"r\":1,\"c\":\"stages\",\"s\":0,\"o\":\"recv\",\"b\":0,\"p\":0,\"g\":1,\"t0\":1020000,\"t1\":1110000}",
        "a receive holds its worker from the end of its work on");
    has(trace,
        "{\"r\":0,\"c\":\"stages\",\"s\":1,\"o\":\"send\",\"b\":0,\"p\":1,\"g\":1,\"t0\":1260000,\"t1\":1270000}",
        "a step begins when the one before it ended");
    is_int((long long)f.calls.unsized, 4, "calls without a size are counted");
    free(trace);
    ok(!import_one("q.json", "[" OP("forward-send", "0", "1", "100", "10", "5") "]", &f, &err) &&
           strstr(err.text, "no thread is named"),
       "a pipeline whose stages are not known is refused");
}

/* Messages that begin within 1 us overlap. */
static void batches(void)
{
    static const char text[] = "[" THREAD("0", "0", "PP rank 0, TP rank 0, pp-comm") "," THREAD(
        "0", "1", "PP rank 1, TP rank 0, pp-comm") "," OP("forward-send", "0", "0", "100", "30",
                                                          "5") "," OP("backward-recv", "0", "0", "100.5",
                                                                      "9.5", "5") "," OP("backward-send", "0",
                                                                                         "0", "102", "40",
                                                                                         "5") "]";
    struct import_figures f;
    struct err err;
    char *trace = import_one("p.json", text, &f, &err);

    has(trace, "\"o\":\"recv\",\"b\":0,\"p\":1,\"g\":2,\"ti\":1100000,\"t0\":1130000,\"t1\":1130000}",
        "messages of a batch have the times of the one that ends last");
    has(trace, "\"o\":\"send\",\"b\":0,\"p\":1,\"g\":1,\"t0\":1100000,\"t1\":1130000}",
        "the one that ends last keeps its times");
    has(trace, "\"t1\":1142000}", "a message that begins later is of no batch");
    free(trace);
}

/* So many that to look at each pair of them would take minutes. */
static void many_messages(void)
{
    enum { MESSAGES = 200000, ROOM = 128 * MESSAGES };
    char *text = xcalloc(ROOM, 1), *trace;
    size_t at = (size_t)snprintf(text, ROOM, "[%s,%s", THREAD("0", "0", "PP rank 0, TP rank 0, pp-comm"),
                                 THREAD("0", "1", "PP rank 1, TP rank 0, pp-comm"));
    struct import_figures f = { 0 };
    struct err err;

    for (unsigned i = 1; i <= MESSAGES; i++)
        at += (size_t)snprintf(
            text + at, ROOM - at,
            ",{\"ph\":\"X\",\"name\":\"forward-send\",\"pid\":0,\"tid\":0,\"ts\":0,\"dur\":%u}", i);
    snprintf(text + at, ROOM - at, "]");
    trace = import_one("p.json", text, &f, &err);
    is_int((long long)f.calls.messages, MESSAGES, "200,000 messages that begin at one moment are read");
    has(trace,
        "{\"r\":0,\"c\":\"stages\",\"s\":0,\"o\":\"send\",\"b\":0,\"p\":1,\"g\":1,\"t0\":1000000,\"t1\":201000000}",
        "200,000 messages that begin at one moment are one batch");
    free(trace);
    free(text);
}

static void many_workers(void)
{
    enum { WIDTH = 256, ROOM = 256 * WIDTH * WIDTH };
    char *text = xcalloc(ROOM, 1), *trace;
    size_t at = 0;
    struct import_figures f = { 0 };
    struct err err;

    for (unsigned i = 0; i < WIDTH * WIDTH; i++)
        at += (size_t)snprintf(
            text + at, ROOM - at,
            "%c{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":%u,\"args\":{\"name\":\"PP rank %u, TP rank %u, compute\"}},"
            "{\"ph\":\"X\",\"name\":\"forward-send\",\"pid\":0,\"tid\":%u,\"ts\":1,\"dur\":9}",
            i ? ',' : '[', i, i / WIDTH, i % WIDTH, i);
    snprintf(text + at, ROOM - at, "]");
    trace = import_one("p.json", text, &f, &err);
    is_int(f.calls.ranks, WIDTH * WIDTH, "as many workers as there may be ranks are read");
    has(trace, "{\"r\":515,\"c\":\"stages\",\"s\":0,\"o\":\"send\",\"b\":0,\"p\":771,",
        "of as many workers as there may be ranks, each has its partner");
    free(trace);
    free(text);
}

/* ---- what sgctl export wrote ---- */

#define EXPORTED(category, name, rank, ts, rest)                                                         \
    "{\"ph\":\"X\",\"name\":\"" name "\",\"cat\":\"" category "\",\"pid\":1,\"tid\":" rank ",\"ts\":" ts \
    ",\"dur\":5,\"args\":{\"communicator\":\"world\",\"number\":0,\"bytes\":8" rest "}}"

static void exported(void)
{
    struct import_figures f = { 0 };
    struct err err;
    char *trace = import_one(
        "t.json",
        "{\"traceEvents\":[" EXPORTED("access", "access", "0", "1", ",\"read\":0,\"peer\":1") "," EXPORTED(
            "collective", "allreduce", "0", "10", "") "," EXPORTED("collective", "allreduce", "1", "10",
                                                                   "") "]}",
        &f, &err);

    has(trace, "{\"r\":0,\"c\":\"world\",\"s\":0,\"o\":\"allreduce\",\"b\":8,\"t0\":1010000,\"t1\":1015000}",
        "a one-sided access takes no collective's place");
    is_int((long long)f.calls.collectives, 2, "a one-sided access does not come back as a collective");
    is_int((long long)f.other, 1, "a one-sided access is skipped, and counted");
    free(trace);
}

static void many_names(void)
{
    enum { ROOM = 100 * (VIEW_RANKS_MAX + 16) };
    char *text = xcalloc(ROOM, 1), *trace;
    size_t at = 0;
    struct import_figures f = { 0 };
    struct err err;

    for (unsigned i = 0; i <= VIEW_RANKS_MAX; i++)
        at += (size_t)snprintf(
            text + at, ROOM - at,
            "%c{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%u,\"args\":{\"name\":\"n%u\"}}",
            i ? ',' : '[', i, i);
    for (unsigned i = 0; i < 2; i++)
        at += (size_t)snprintf(
            text + at, ROOM - at,
            ",{\"ph\":\"X\",\"name\":\"allreduce\",\"pid\":%u,\"tid\":%u,\"ts\":1,\"dur\":9,\"args\":{\"communicator\":\"world\"}}",
            VIEW_RANKS_MAX - 1 + i, i);
    snprintf(text + at, ROOM - at, "]");
    trace = import_one("t.json", text, &f, &err);
    has(trace, "\"ranks\":[{\"rank\":0,\"node\":\"n65535\"},{\"rank\":1}]",
        "names of processes are kept of as many as there may be nodes");
    free(trace);
    free(text);
}

/* ---- events in two halves ---- */

#define HALF(phase, name, tid, ts, args) \
    "{\"ph\":\"" phase "\",\"name\":\"" name "\",\"pid\":0,\"tid\":" tid ",\"ts\":" ts ",\"args\":{" args "}}"

static void halves(void)
{
    static const char names[] = THREAD("0", "0", "PP rank 0, TP rank 0, compute") "," THREAD(
        "0", "1", "PP rank 1, TP rank 0, compute") ",";
    char *text = xasprintf(
        "[%s%s]", names,
        HALF("B", "forward-compute", "0", "0", "\"step\":5") "," HALF("B", "inner", "0", "20", "") "," HALF("E", "", "0", "50", "") "," HALF(
            "E", "", "0", "100",
            "") "," HALF("B", "forward-send", "0", "100",
                         "\"step\":5") "," HALF("B", "forward-recv", "1", "100",
                                                "") "," HALF("E", "", "0", "110",
                                                             "") "," HALF("E", "forward-recv", "1", "110",
                                                                          "\"step\":5") "," HALF("E", "", "1",
                                                                                                 "120",
                                                                                                 "") "," HALF("B",
                                                                                                              "never",
                                                                                                              "1",
                                                                                                              "130",
                                                                                                              ""));
    struct import_figures f;
    struct err err;
    char *trace = import_one("p.json", text, &f, &err);

    has(trace,
        "{\"r\":0,\"c\":\"stages\",\"s\":0,\"o\":\"send\",\"b\":0,\"p\":1,\"g\":1,\"t0\":1100000,\"t1\":1110000}",
        "what begins and ends in two events is one");
    has(trace, "\"o\":\"recv\",", "what an event did may be known at its end only");
    if (trace)
        is_int((long long)f.other, 3, "events that never end, or never began, are skipped");
    free(trace);
    free(text);
    ok(!import_one("stages.json",
                   "[" HALF("B", "forward", "1", "0", "") "," HALF(
                       "E", "forward", "1", "9", "\"iteration\":10,\"microbatch\":0,\"pp_rank\":2") "]",
                   &f, &err) &&
           strstr(
               err.text,
               "stages.json has 1 forward and backward passes of 1 pipeline stages in 1 iteration, and none"),
       "passes of stages without their messages are refused with the reason: %s", err.text);
}

/* Events that are open are kept. */
static void many_halves(void)
{
    enum { OPEN = 1 << 16, ROOM = OPEN * 64 };
    char *text = xcalloc(ROOM, 1);
    size_t at = 0;
    struct import_figures f;
    struct err err;

    text[at++] = '[';
    for (unsigned i = 0; i <= OPEN; i++)
        at += (size_t)snprintf(text + at, ROOM - at,
                               "%s{\"ph\":\"B\",\"name\":\"x\",\"pid\":0,\"tid\":%u,\"ts\":1}", i ? "," : "",
                               i % 100);
    ok(!import_one("open.json", text, &f, &err) &&
           strstr(err.text, "more than 65536 events are begun and not ended"),
       "more events than can be kept that are begun and not ended are refused: %s", err.text);
    free(text);
}

/* ---- compressed files ---- */

/* Compress text as gzip does, behind what is in buf already; the new size. */
static size_t add_packed(unsigned char *buf, size_t at, size_t size, const char *text, size_t bytes)
{
    z_stream z = { 0 };

    if (deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return 0;
    z.next_in = (Bytef *)(uintptr_t)text;
    z.avail_in = (uInt)bytes;
    z.next_out = buf + at;
    z.avail_out = (uInt)(size - at);
    deflate(&z, Z_FINISH);
    at = size - z.avail_out;
    deflateEnd(&z);
    return at;
}

/* What a reader gets of data that it reads by so many bytes. */
static size_t unpacked_bytes(unsigned char *data, size_t bytes, size_t step, bool *torn)
{
    FILE *in = fmemopen(data, bytes, "r");
    struct unpack *u = unpack_new(in);
    char *to = xcalloc(step, 1);
    struct err err;
    size_t sum = 0;
    int64_t n;

    while ((n = unpack_read(u, to, step, &err)) > 0)
        sum += (size_t)n;
    *torn = n == 0 && unpack_torn(u);
    unpack_free(u);
    fclose(in);
    free(to);
    return sum;
}

/* All that can be made of a file that ends too early comes out, however little is read at a time. */
static void packed_torn(void)
{
    enum { ROOM = 65536 };
    unsigned char *buf = xcalloc(ROOM, 1);
    char *text = xcalloc(20000, 1);
    bool torn[2];
    size_t bytes, whole, parts;

    memset(text, 'a', 20000);
    bytes = add_packed(buf, 0, ROOM, text, 20000) - 12;
    whole = unpacked_bytes(buf, bytes, ROOM, &torn[0]);
    parts = unpacked_bytes(buf, bytes, 1, &torn[1]);
    ok(whole > 1000 && torn[0] && torn[1], "a compressed file without its last bytes is torn");
    is_int((long long)parts, (long long)whole, "what zlib held back at the end of a torn file is not lost");
    free(text);
    free(buf);
}

/* Of a pickle that is damaged behind its first piece. */
static void packed_pickle(void)
{
    enum { BYTES = 600000, ROOM = BYTES + 65536 };
    unsigned char *buf = xcalloc(ROOM, 1), *pickle = xcalloc(BYTES + 16, 1);
    struct import_text files[] = { { "_dump_0.gz", (const char *)buf, 0 }, { 0 } };
    uint32_t random = 1;
    struct import_figures f;
    struct err err;

    memcpy(pickle,
           "\x80\x03"
           "B\xc0\x27\x09\x00",
           7); /* BINBYTES of BYTES */
    for (size_t i = 0; i < BYTES; i++) {
        random = random * 1664525 + 1013904223;
        pickle[7 + i] = 'a' + (random >> 24) % 26;
    }
    pickle[7 + BYTES] = '.';
    files[0].bytes = add_packed(buf, 0, ROOM, (const char *)pickle, BYTES + 8);
    buf[files[0].bytes - 5] ^= 1;
    ok(!import_texts(NULL, files, &f, &err) &&
           strstr(err.text, "_dump_0.gz: its compressed data is damaged at about byte"),
       "damage in a compressed pickle is placed in the file: %s", err.text);
    pickle[7 + BYTES] = 'R';
    files[0].bytes = add_packed(buf, 0, ROOM, (const char *)pickle, BYTES + 8);
    ok(!import_texts(NULL, files, &f, &err) &&
           strstr(err.text, "_dump_0.gz: unpacked: a pickle that is not read: REDUCE at byte 600008"),
       "an instruction that is refused is placed in what the file unpacks to: %s", err.text);
    free(pickle);
    free(buf);
}

static void packed(void)
{
    enum { ROOM = 65536 };
    static const char text[] = KINETO("0", "20");
    const char *half = strstr(text, "gemm");
    unsigned char *buf = xcalloc(ROOM, 1);
    struct import_figures f;
    struct err err;
    struct import_text files[] = { { "a.json", text, 0 }, { "b.json", KINETO("1", "90"), 0 }, { 0 } };
    char *plain_trace = import_texts(NULL, files, &f, &err), *trace, *archive = xcalloc(1024, 1);
    size_t whole;

    files[0] = (struct import_text){ "a.json.gz", (const char *)buf, 0 };
    files[0].bytes = whole = add_packed(buf, 0, ROOM, text, strlen(text));
    trace = import_texts(NULL, files, &f, &err);
    is_str(trace ? trace : err.text, plain_trace, "a compressed timeline gives the trace of the timeline");
    free(trace);

    files[0].bytes =
        add_packed(buf, add_packed(buf, 0, ROOM, text, (size_t)(half - text)), ROOM, half, strlen(half));
    memset(buf + files[0].bytes, 0, 512);
    files[0].bytes += 512;
    trace = import_texts(NULL, files, &f, &err);
    is_str(trace ? trace : err.text, plain_trace,
           "members behind each other, and zeros behind them, are one file");
    free(trace);

    files[0].bytes = add_packed(buf, 0, ROOM, text, strlen(text));
    buf[files[0].bytes++] = 'x';
    ok(!import_texts(NULL, files, &f, &err) &&
           strstr(err.text, "a.json.gz: what stands behind its compressed data"),
       "other bytes behind compressed ones are refused: %s", err.text);

    files[0].bytes = whole - 12;
    trace = import_texts(NULL, files, &f, &err);
    ok(trace && f.torn == 1,
       "of a compressed file that ends too early, what is there is read, and that is said");
    free(trace);

    files[0].bytes = whole;
    memset(buf + whole / 2, 0xff, 16);
    ok(!import_texts(NULL, files, &f, &err) && strstr(err.text, "damaged at about byte"),
       "damaged data is refused with the place: %s", err.text);

    files[0].bytes = add_packed(buf, 0, ROOM, "[{\"ph\":\"X\",}]", 13);
    ok(!import_texts(NULL, files, &f, &err) && strstr(err.text, "a.json.gz: unpacked: no JSON at byte 2"),
       "a broken event in a compressed file is named by its place in what it unpacks to: %s", err.text);

    snprintf(archive, 1024, "trace/rank0.json");
    memcpy(archive + 257, "ustar", 5);
    files[0].bytes = add_packed(buf, 0, ROOM, archive, 1024);
    ok(!import_texts(NULL, files, &f, &err) && strstr(err.text, "unpack it first, with tar -xf"),
       "a compressed archive is refused with what to type: %s", err.text);
    files[0] = (struct import_text){ "a.tar", archive, 1024 };
    ok(!import_texts(NULL, files, &f, &err) && strstr(err.text, "unpack it first, with tar -xf"),
       "an archive is refused with what to type");
    free(archive);
    free(plain_trace);
    free(buf);
}

/* ---- what is refused ---- */

static void refused(void)
{
    struct import_figures f;
    struct err err;

    ok(!import_one("t", "{\"format\":\"syncguard-trace\",\"version\":2}\n", &f, &err) &&
           strstr(err.text, "it is a syncguard-trace"),
       "a syncguard-trace is refused: %s", err.text);
    ok(!import_one("t", "{\"a\":1}", &f, &err) && strstr(err.text, "none of the formats"),
       "an unknown object is refused");
    ok(!import_one("t", "\x28\xb5\x2f\xfd....", &f, &err) &&
           strstr(err.text, "it is compressed with zstd: unpack it first, with zstd -dk"),
       "a file that is compressed otherwise is refused with what to type");
    ok(!import_one("t", "[]", &f, &err), "an empty timeline is refused");
    ok(!import_one("t", "[{\"ph\":\"X\",}]", &f, &err) && strstr(err.text, "no JSON at byte 2"),
       "a broken event is named by its place: %s", err.text);
}

int main(void)
{
    pieces();
    kineto();
    kineto_described();
    flight();
    flight_late();
    inspector();
    plain();
    long_calls();
    inspector_whose();
    pipeline();
    batches();
    many_messages();
    many_workers();
    exported();
    many_names();
    halves();
    many_halves();
    packed();
    packed_torn();
    packed_pickle();
    refused();
    return done_testing();
}
