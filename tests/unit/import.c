/* What becomes of other programs' records: times, operations, sizes, groups and partners, worked out by hand.
 */
#include "tests/import.h"

#include "tests/tap.h"
#include "trace/json_pieces.h"

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

/* ---- NCCL Inspector ---- */

static void inspector(void)
{
    static const char plain
        [] =
            "{\"header\":{\"id\":\"0x7f\",\"rank\":1,\"n_ranks\":2,\"nnodes\":1},\"metadata\":{\"dump_timestamp_us\":2000,\"hostname\":\"h1\",\"pid\":7},\"coll_perf\":{\"coll\":\"ReduceScatter\",\"coll_sn\":129,\"coll_msg_size_bytes\":65536,\"coll_exec_time_us\":110}}\n",
   verbose[] =
        "{\"header\":{\"id\":\"0x7f\",\"rank\":0,\"n_ranks\":2,\"nnodes\":1},\"metadata\":{\"dump_timestamp_us\":2000,\"hostname\":\"h1\",\"pid\":6},\"dump_stats\":{\"coll_records\":1}}\n"
        "{\"coll_perf\":{\"coll\":\"ReduceScatter\",\"coll_sn\":129,\"coll_msg_size_bytes\":65536,\"coll_exec_time_us\":110,\"event_trace_ts\":{\"coll_start_ts\":1500,\"kernel_events\":[{\"kernel_start_ts\":1600,\"kernel_stop_ts\":1790},{\"kernel_start_ts\":1610,\"kernel_stop_ts\":1800}]}}}\n";
    const struct import_text files[] = { { "a.log", plain, 0 }, { "b.log", verbose, 0 }, { 0 } };
    struct import_figures f = { 0 };
    struct err err;
    char *trace = import_texts(NULL, files, &f, &err);

    has(trace, "{\"rank\":0,\"node\":\"h1\"},{\"rank\":1,\"node\":\"h1\"}",
        "ranks are those of the largest communicator, nodes the hosts");
    has(trace,
        "{\"r\":1,\"c\":\"world\",\"s\":129,\"o\":\"reduce_scatter\",\"b\":65536,\"t0\":1890000,\"t1\":2000000}",
        "without kernels' times a call ends when it was written, and lasts its execution time");
    has(trace,
        "{\"r\":0,\"c\":\"world\",\"s\":129,\"o\":\"reduce_scatter\",\"b\":65536,\"t0\":1600000,\"t1\":1800000}",
        "kernels' times are those of all channels; a dump's header is that of the lines behind it");
    free(trace);
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
    ok(!import_one("t", "\x1f\x8b\x08", &f, &err) && strstr(err.text, "gzip -dk"),
       "a compressed file is refused with what to type");
    ok(!import_one("t", "[]", &f, &err), "an empty timeline is refused");
    ok(!import_one("t", "[{\"ph\":\"X\",}]", &f, &err) && strstr(err.text, "no JSON at byte 2"),
       "a broken event is named by its place: %s", err.text);
}

int main(void)
{
    pieces();
    kineto();
    flight();
    inspector();
    pipeline();
    refused();
    return done_testing();
}
