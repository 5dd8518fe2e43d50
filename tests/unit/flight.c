/* Sets of dumps of PyTorch's flight recorder, of jobs that hang: who is named, and in which words.  Each set
 * is written as JSON and as pickles, and must be judged alike. */
#include "tests/import.h"

#include <jansson.h>

#include "tests/tap.h"
#include "view/verdicts.h"

/* ---- a pickle of a value, protocol 2 ---- */

static void put_le(FILE *out, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++)
        fputc((int)(number >> 8 * i & 0xff), out);
}

static void put_text(FILE *out, const char *text)
{
    fputc('X', out);
    put_le(out, strlen(text), 4);
    fputs(text, out);
}

static void put_value(FILE *out, const json_t *value)
{
    const char *key;
    json_t *member;

    switch (json_typeof(value)) {
    case JSON_OBJECT:
        fputs("}(", out);
        json_object_foreach((json_t *)(uintptr_t)value, key, member) {
            put_text(out, key);
            put_value(out, member);
        }
        fputc('u', out);
        break;
    case JSON_ARRAY:
        fputs("](", out);
        for (size_t i = 0; i < json_array_size(value); i++)
            put_value(out, json_array_get(value, i));
        fputc('e', out);
        break;
    case JSON_STRING:
        put_text(out, json_string_value(value));
        break;
    case JSON_INTEGER:
        fputs("\x8a\x08", out);
        put_le(out, (uint64_t)json_integer_value(value), 8);
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        fputc(json_is_true(value) ? 0x88 : 0x89, out);
        break;
    default: /* null; there are no floats here */
        fputc('N', out);
    }
}

static char *pickle_of(const char *json, size_t *bytes)
{
    json_t *value = json_loads(json, 0, NULL);
    char *data = NULL;
    FILE *out = open_memstream(&data, bytes);

    fputs("\x80\x02", out);
    put_value(out, value);
    fputc('.', out);
    fclose(out);
    json_decref(value);
    return data;
}

/* ---- what is said ---- */

/* "r1,r3: text" of the hang; ": text" where nobody is named; "" where there is none. */
static void judge(const char *trace, char *said, size_t size)
{
    static const struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 30 };
    struct trace_reader *r = trace_reader_new(&params);
    const struct view_verdict *d;
    struct err err = { "" };
    size_t n, at = 0;

    said[0] = '\0';
    if (trace_reader_feed(r, trace, strlen(trace), &err) < 0 || trace_reader_finish(r, &err) < 0)
        snprintf(said, size, "%s", err.text);
    n = view_verdicts_get(trace_reader_view(r), &d);
    if (n && d->finding.class == FINDING_HANG) {
        for (uint32_t i = 0; i < d->n_culprits; i++)
            at += (size_t)snprintf(said + at, size - at, "%s%s", i ? "," : "", d->culprit[i]);
        snprintf(said + at, size - at, ": %s", d->text);
    }
    trace_reader_free(r);
}

#define FILES_MAX 9

/* The set's verdict, as JSON or as pickles. */
static void judge_set(const char *const *dump, bool pickled, char *said, size_t size)
{
    struct import_text files[FILES_MAX] = { 0 };
    char *data[FILES_MAX] = { NULL }, names[FILES_MAX][32];
    struct import_figures f;
    struct err err = { "" };
    size_t n = 0, bytes;
    char *trace;

    for (size_t rank = 0; rank < FILES_MAX - 1; rank++) {
        if (!dump[rank])
            continue;
        snprintf(names[n], sizeof(names[n]), "_dump_%zu", rank);
        files[n] = (struct import_text){ names[n], dump[rank], 0 };
        if (pickled) {
            files[n].text = data[n] = pickle_of(dump[rank], &bytes);
            files[n].bytes = bytes;
        }
        n++;
    }
    trace = import_texts(NULL, files, &f, &err);
    if (trace)
        judge(trace, said, size);
    else
        snprintf(said, size, "refused: %s", err.text);
    free(trace);
    for (size_t i = 0; i < FILES_MAX; i++)
        free(data[i]);
}

/* ---- sets ---- */

#define WORLD4 "\"0\":{\"name\":\"0\",\"desc\":\"default_pg\",\"ranks\":\"[0, 1, 2, 3]\"}"
#define WORLD3 "\"0\":{\"name\":\"0\",\"desc\":\"default_pg\",\"ranks\":\"[0, 1, 2]\"}"
#define WORLD2 "\"0\":{\"name\":\"0\",\"desc\":\"default_pg\",\"ranks\":\"[0, 1]\"}"
#define GROUP(name, desc, ranks) \
    ",\"" name "\":{\"name\":\"" name "\",\"desc\":\"" desc "\",\"ranks\":\"[" ranks "]\"}"
#define STATUS(id, enqueued, completed)                                                     \
    "\"" id "\":{\"last_enqueued_collective\":" enqueued ",\"last_started_collective\":-1," \
    "\"last_completed_collective\":" completed "}"
#define DUMP(config, status, entries)                                                                    \
    "{\"version\":\"2.9\",\"pg_config\":{" config "},\"nccl_version\":\"2.27.3\",\"pg_status\":{" status \
    "},\"entries\":[" entries "]}"
/* id: the group's number in its process; messages: how many it has made there; at: when it was made */
#define ENTRY(id, name, seq, messages, op, at, size, state, over, p2p)                                   \
    "{\"record_id\":" at ",\"pg_id\":" id ",\"process_group\":[\"" name "\",\"undefined\"],"             \
    "\"collective_seq_id\":" seq ",\"p2p_seq_id\":" messages ",\"profiling_name\":\"nccl:" op            \
    "\",\"time_created_ns\":1000" at ",\"input_sizes\":[[" size "]],\"input_dtypes\":[\"Float\"],"       \
    "\"state\":\"" state "\",\"time_discovered_started_ns\":null,\"time_discovered_completed_ns\":" over \
    ",\"retired\":false,\"timeout_ms\":600000,\"is_p2p\":" p2p "}"
#define CALL(id, name, seq, op, at) ENTRY(id, name, seq, "0", op, at, "8", "scheduled", "null", "false")
#define CALLED(id, name, seq, op, at) \
    ENTRY(id, name, seq, "0", op, at, "8", "completed", "1000" at "9", "false")
#define MESSAGE(id, name, count, op, at) ENTRY(id, name, "3", count, op, at, "8", "scheduled", "null", "true")

/* Two tensor groups and one of all ranks, whose names and numbers differ. */
#define MOE01 WORLD4 GROUP("5", "tp", "0, 1") GROUP("12", "ep", "0, 1, 2, 3")
#define MOE23 WORLD4 GROUP("6", "tp", "2, 3") GROUP("12", "ep", "0, 1, 2, 3")
#define MOE(tp_enqueued, tp_completed, ep_enqueued, ep_completed) \
    STATUS("0", "9", "9")                                         \
    "," STATUS("2", tp_enqueued, tp_completed) "," STATUS("4", ep_enqueued, ep_completed)

static const struct {
    const char *what, *dump[FILES_MAX], *said;
} sets[] = {
    { "two ranks that have nothing pending, by what their status says",
      { DUMP(MOE01, MOE("13", "12", "41", "40"),
             CALL("4", "12", "41", "all_to_all", "50") "," CALL("2", "5", "13", "_all_gather_base", "60")),
        DUMP(MOE01, MOE("12", "12", "40", "40"), ""),
        DUMP(MOE23, MOE("13", "12", "41", "40"),
             CALL("4", "12", "41", "all_to_all", "50") "," CALL("2", "6", "13", "_all_gather_base", "60")),
        DUMP(MOE23, MOE("12", "12", "40", "40"), "") },
      "r1,r3: ranks 1 and 3 have not come to alltoall 41 of world ep (4 ranks), in which 2 wait: they are in no call, "
      "and left number 40 there last" },
    { "a rank that has not left what all others of it have left",
      { DUMP(MOE01, MOE("13", "12", "41", "40"),
             CALL("4", "12", "41", "all_to_all", "50") "," CALL("2", "5", "13", "_all_gather_base", "60")),
        DUMP(MOE01, MOE("12", "9", "40", "38"),
             CALL("2", "5", "10", "_all_gather_base",
                  "20") "," CALL("4", "12", "39", "all_to_all",
                                 "30") "," CALL("4", "12", "40", "all_to_all",
                                                "40") "," CALL("2", "5", "12", "_all_gather_base", "45")),
        DUMP(MOE23, MOE("12", "12", "41", "40"), CALL("4", "12", "41", "all_to_all", "50")),
        DUMP(MOE23, MOE("12", "12", "41", "40"), CALL("4", "12", "41", "all_to_all", "50")) },
      "r1: rank 1 is still in allgather 10 of tp 0,1, which others have left, and is missed in alltoall 41 of world ep "
      "(4 ranks), in which 3 wait and which it has not called" },
    { "a rank without a file",
      { DUMP(WORLD4, STATUS("0", "7", "6"), CALL("0", "0", "7", "all_reduce", "50")),
        DUMP(WORLD4, STATUS("0", "7", "6"), CALL("0", "0", "7", "all_reduce", "51")),
        DUMP(WORLD4, STATUS("0", "7", "6"), CALL("0", "0", "7", "all_reduce", "52")), NULL },
      "r3: rank 3 has not come to allreduce 7 of world (4 ranks), in which 3 wait: nothing of it is recorded, so its "
      "process has ended or its file is missing" },
    { "most files are missing: nobody is blamed",
      { DUMP(WORLD4, STATUS("0", "7", "6"), CALL("0", "0", "7", "all_reduce", "50")), NULL, NULL, NULL },
      ": 1 other waits in allreduce 7 of world for 3 ranks of which nothing is recorded (rank 1, ...): give the files of "
      "all ranks" },
    { "another operation under the same number",
      { DUMP(WORLD4, "", CALL("0", "0", "5", "all_reduce", "50")),
        DUMP(WORLD4, "", CALL("0", "0", "5", "all_reduce", "51")),
        DUMP(WORLD4, "", CALL("0", "0", "5", "all_reduce", "52")),
        DUMP(WORLD4, "", CALL("0", "0", "5", "_all_gather_base", "53")) },
      "r3: rank 3 is in allgather 5 of world, 3 others wait in allreduce 5 of world: the program calls different "
      "collectives" },
    { "another size under the same number",
      { DUMP(WORLD3, "", CALL("0", "0", "5", "all_reduce", "50")),
        DUMP(WORLD3, "", ENTRY("0", "0", "5", "0", "all_reduce", "51", "16", "scheduled", "null", "false")),
        DUMP(WORLD3, "", CALL("0", "0", "5", "all_reduce", "52")) },
      "r1: rank 1 is in allreduce 5 of world with 64 B, rank 0 with 32 B: the program calls it with different sizes" },
    { "the same calls in different orders",
      { DUMP(WORLD2 GROUP("1", "a", "0, 1") GROUP("2", "b", "0, 1"), "",
             CALL("1", "1", "5", "all_reduce", "50") "," CALL("2", "2", "7", "all_reduce", "60")),
        DUMP(WORLD2 GROUP("1", "a", "0, 1") GROUP("2", "b", "0, 1"), "",
             CALL("2", "2", "7", "all_reduce", "50") "," CALL("1", "1", "5", "all_reduce", "60")) },
      "r0,r1: a deadlock of 2 ranks: rank 0 waits in allreduce 5 of world a for rank 1, rank 1 waits in allreduce 7 of "
      "world b for rank 0; they made these calls in different orders" },
    { "a pipeline, whose last stage is in no call",
      { DUMP(WORLD3 GROUP("1", "pp", "0, 1, 2"), STATUS("0", "4", "4") "," STATUS("1", "31", "30"),
             MESSAGE("1", "1", "31", "recv 0<-1", "50")),
        DUMP(WORLD3 GROUP("1", "pp", "0, 1, 2"), STATUS("0", "4", "4") "," STATUS("1", "61", "60"),
             MESSAGE("1", "1", "61", "recv 1<-2", "50")),
        DUMP(WORLD3 GROUP("1", "pp", "0, 1, 2"), STATUS("0", "4", "4") "," STATUS("1", "30", "30"), "") },
      "r2: rank 2 does not answer rank 1, which waits in a receive from rank 2: it is in no call" },
    { "two hangs that have nothing to do with each other",
      { DUMP(WORLD4 GROUP("1", "a", "0, 1"), STATUS("0", "4", "4") "," STATUS("1", "6", "5"),
             CALL("1", "1", "6", "all_reduce", "50")),
        DUMP(WORLD4 GROUP("1", "a", "0, 1"), STATUS("0", "4", "4") "," STATUS("1", "5", "5"), ""),
        DUMP(WORLD4 GROUP("2", "a", "2, 3"), STATUS("0", "4", "4") "," STATUS("1", "9", "8"),
             CALL("1", "2", "9", "broadcast", "50")),
        DUMP(WORLD4 GROUP("2", "a", "2, 3"), STATUS("0", "4", "4") "," STATUS("1", "8", "8"), "") },
      "r1,r3: rank 1 has not come to allreduce 6 of a 0,1 (2 ranks), in which 1 waits: it is in no call, and left number 5 "
      "there last; rank 3 has not come to bcast 9 of a 2,3 (2 ranks), in which 1 waits: it is in no call, and left "
      "number 8 there last" },
    { "a rank all of whose calls are over",
      { DUMP(WORLD2, "",
             CALLED("0", "0", "4", "all_reduce", "40") "," CALL("0", "0", "5", "all_reduce", "50")),
        DUMP(WORLD2, "", CALLED("0", "0", "4", "all_reduce", "41")) },
      "r1: allreduce 5 of world (2 ranks) is open: 1 inside, waiting for rank 1 (its last record is leaving allreduce 4 of "
      "world)" },
    { "a transfer that stands still: nobody is blamed",
      { DUMP(WORLD2, STATUS("0", "5", "4"), CALL("0", "0", "5", "all_reduce", "50")),
        DUMP(WORLD2, STATUS("0", "5", "4"), CALL("0", "0", "5", "all_reduce", "51")) },
      ": allreduce 5 of world (2 ranks) is open: every rank has entered and none leaves, so the transfer itself has "
      "stopped" },
    { "a message that may be queued is no deadlock",
      { DUMP(WORLD2 GROUP("1", "pp", "0, 1"), "",
             MESSAGE("1", "1", "4", "send 0->1", "50") "," CALL("0", "0", "5", "all_reduce", "60")),
        DUMP(WORLD2 GROUP("1", "pp", "0, 1"), "",
             CALL("0", "0", "5", "all_reduce", "50") "," MESSAGE("1", "1", "4", "recv 1<-0", "60")) },
      ": allreduce 5 of world (2 ranks) is open: ranks wait for each other, and for calls that are queued: what stands "
      "still first is not known" },
    { "a group's status that counts messages is not believed",
      { DUMP(WORLD2, STATUS("0", "9001", "9000"),
             ENTRY("0", "0", "5", "9001", "all_reduce", "50", "8", "scheduled", "null", "false")),
        DUMP(WORLD2, STATUS("0", "9001", "9001"), "") },
      "r1: allreduce 5 of world (2 ranks) is open: 1 inside, waiting for rank 1 (it is in no call)" },
    { "a call that is not over and not understood: its rank is not free",
      { DUMP(WORLD2, STATUS("0", "5", "4"), CALL("0", "0", "5", "all_reduce", "50")),
        DUMP(WORLD2 GROUP("1", "pp", "0, 1"), STATUS("0", "4", "4"),
             MESSAGE("1", "1", "4", "send somewhere", "60")) },
      ": allreduce 5 of world (2 ranks) is open: 1 inside; the other ranks wait in other calls, and which of them holds the "
      "others up is not known" },
    { "a dump that is older than the others says nothing of its rank",
      { DUMP(WORLD2, STATUS("0", "9", "8"), CALL("0", "0", "9", "all_reduce", "50")),
        DUMP(WORLD2, STATUS("0", "5", "5"), "") },
      ": allreduce 9 of world (2 ranks) is open: 1 inside; the other ranks wait in other calls, and which of them holds the "
      "others up is not known" },
    { "a batch of messages with one rank waits for that rank, one with several for nobody who is known",
      { DUMP(WORLD3 GROUP("1", "pp", "0, 1, 2"), "",
             MESSAGE("1", "1", "8", "send 0->1", "50") "," MESSAGE(
                 "1", "1", "8", "recv 0<-1", "51") "," MESSAGE("1", "1", "8", "coalesced", "52")),
        DUMP(WORLD3 GROUP("1", "pp", "0, 1, 2"), "",
             MESSAGE("1", "1", "8", "recv 1<-0", "50") "," MESSAGE(
                 "1", "1", "8", "recv 1<-2", "51") "," MESSAGE("1", "1", "8", "coalesced", "52")),
        DUMP(WORLD3 GROUP("1", "pp", "0, 1, 2"), "", "") },
      ": no message: 2 of 3 ranks wait for one, no process is stopped, and who should send is not known" },
    { "statuses as text, as in dumps as JSON",
      { DUMP(MOE01, MOE("\"12\"", "\"12\"", "\"41\"", "\"40\""), CALL("4", "12", "41", "all_to_all", "50")),
        DUMP(MOE01, MOE("\"12\"", "\"12\"", "\"41\"", "\"40\""), CALL("4", "12", "41", "all_to_all", "50")),
        DUMP(MOE23, MOE("\"12\"", "\"12\"", "\"41\"", "\"40\""), CALL("4", "12", "41", "all_to_all", "50")),
        DUMP(MOE23, MOE("\"12\"", "\"12\"", "\"40\"", "\"40\""), "") },
      "r3: alltoall 41 of world ep (4 ranks) is open: 3 inside, waiting for rank 3 (it is in no call, and left number 40 "
      "there last)" },
};

static void check_sets(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
        char said[1024], again[1024];

        judge_set(sets[i].dump, false, said, sizeof(said));
        is_str(said, sets[i].said, "a set of dumps: %s", sets[i].what);
        judge_set(sets[i].dump, true, again, sizeof(again));
        is_str(again, said, "the same as pickles: %s", sets[i].what);
    }
}

/* The first dumps: a list of entries, in microseconds, without groups; a call that is over has no time. */
#define OLD(seq, state, at)                                                                          \
    "{\"pg_id\":0,\"seq_id\":" seq ",\"profiling_name\":\"nccl:all_reduce\",\"time_created_us\":" at \
    ",\"input_sizes\":[[8]],\"output_sizes\":[[8]],\"state\":\"" state "\",\"retired\":false,\"frames\":[]}"

static void check_first_version(void)
{
    static const char *const dump[FILES_MAX] = {
        "[" OLD("7", "completed", "70") "," OLD("8", "started", "80") "]", "[" OLD("7", "completed", "71") "]"
    };
    char said[1024];

    judge_set(dump, true, said, sizeof(said));
    is_str(said,
           "r1: allreduce 8 of 0 (2 ranks) is open: 1 inside, waiting for rank 1 (it is in no call, and left "
           "number 7 there last)",
           "a list of entries as the first versions wrote it is read");
}

/* Parts of a batch have no state; in a dump of what is pending only, a batch that is over is not there. */
static void check_batches(void)
{
#define PP                                                                                                 \
    DUMP(WORLD2 GROUP("1", "pp", "0, 1"), "",                                                              \
         MESSAGE("1", "1", "4", "send 0->1", "40") "," MESSAGE("1", "1", "4", "recv 0<-1", "41") "," CALL( \
             "0", "0", "5", "all_reduce", "50"))
    static const char *const dump[FILES_MAX] = { PP, DUMP(WORLD2 GROUP("1", "pp", "0, 1"), "",
                                                          CALL("0", "0", "4", "all_reduce", "45")) };
    char said[1024];

    judge_set(dump, true, said, sizeof(said));
    is_str(
        said,
        "r1: rank 1 is still in allreduce 4 of world, which others have left, and is missed in allreduce 5 of world (2 "
        "ranks), in which 1 waits and which it has not called",
        "parts of a batch that is over are not what the rank is stuck in");
}

static void check_refusals(void)
{
    static const char dump[] = DUMP(WORLD2, "", CALL("0", "0", "5", "all_reduce", "50"));
    const struct import_text wrong[] = { { "tutorial_2.3.json", dump, 0 }, { 0 } },
                             twice[] = { { "a_1", dump, 0 }, { "b_1", dump, 0 }, { 0 } },
                             code[] = { { "_dump_0", "\x80\x02}cos\nsystem\n.", 0 }, { 0 } },
                             other[] = { { "_dump_0", "\x80\x02}U\x01xK\x01s.", 0 }, { 0 } },
                             empty[] = { { "_dump_0", "\x80\x02]q\x00.", 6 }, { 0 } },
                             torn[] = { { "_dump_0", "\x80\x02}(X\x07\x00\x00\x00vers", 13 }, { 0 } };
    struct import_figures f;
    struct err err = { "" };
    char *data;
    size_t bytes;

    ok(!import_texts(NULL, wrong, &f, &err), "a dump whose name has another number than a rank's is refused");
    is_str(err.text,
           "tutorial_2.3.json: rank 3, by its name, is not in the job's default group: name it like "
           "nccl_trace_rank_0.json",
           "the reason says which number it was, and how to name the file");
    ok(!import_texts(NULL, twice, &f, &err) && strstr(err.text, "b_1: rank 1 has calls in two files"),
       "two files of one rank are refused: %s", err.text);
    ok(!import_texts(NULL, code, &f, &err), "a pickle that calls something is refused");
    is_str(
        err.text,
        "_dump_0: a pickle that is not read: GLOBAL at byte 4: it could import, call or fetch something, and only "
        "data is read",
        "the reason has the file, the instruction and the byte");
    ok(!import_texts(NULL, other, &f, &err) && strstr(err.text, "none of the formats"),
       "a pickle of something else is refused: %s", err.text);
    ok(!import_texts(NULL, torn, &f, &err) &&
           strstr(err.text,
                  "_dump_0: a pickle that is not read: BINUNICODE at byte 5: 7 bytes are expected and 4 are "
                  "left, so the file is not complete"),
       "a pickle that ends too early is refused: %s", err.text);
    ok(!import_texts("nccl-inspector", torn, &f, &err) &&
           strstr(err.text, "_dump_0: it is a pickle, and not NCCL Inspector's lines"),
       "a pickle is not taken for what the caller says that it is: %s", err.text);
    ok(!import_texts(NULL, empty, &f, &err) &&
           strstr(err.text, "_dump_0: it is an empty list, which does not tell of what"),
       "an empty list alone does not tell that it is a dump: %s", err.text);
    data = pickle_of("[{\"record_id\":0,\"process_group\":[\"0\",\"default_pg\"],\"seq_id\":5,"
                     "\"profiling_name\":\"nccl:all_reduce\",\"time_created_ns\":50,\"state\":\"started\"}]",
                     &bytes);
    {
        const struct import_text after[] = {
            { "_dump_1", data, bytes }, { "_dump_2", data, bytes }, empty[0], { 0 }
        };
        char *trace = import_texts(NULL, after, &f, &err);

        ok(trace && f.calls.ranks == 3 && f.calls.stuck == 2,
           "an empty list beside dumps that are lists is a rank without a pending call");
        if (!trace)
            printf("# %s\n", err.text);
        free(trace);
    }
    free(data);
    data = pickle_of("{\"entries\":[{\"state\":\"scheduled\"}],\"version\":\"2.9\"}", &bytes);
    {
        const struct import_text nameless[] = { { "x/_dump_0", data, bytes }, { 0 } };

        ok(!import_texts(NULL, nameless, &f, &err) &&
               strstr(err.text, "_dump_0, entry 1: no time_created_ns"),
           "an entry without its time is named by its file and number: %s", err.text);
    }
    free(data);
}

/* What a trace's header may say of communicators. */
#define HEADER(comms)                                                                                      \
    "{\"format\":\"syncguard-trace\",\"version\":2,\"ranks\":[{\"rank\":0},{\"rank\":1}],\"comms\":" comms \
    "}\n"

static const struct {
    const char *header, *why;
} headers[] = {
    { HEADER("[{\"name\":\"tp\",\"ranks\":[0,1],\"left\":[4,null],\"called\":[5,4]}]"), "" },
    { HEADER("[{\"name\":\"tp\",\"ranks\":[0]}]"), "" },
    { HEADER("null"), "" },
    { HEADER("{}"), "line 1: invalid \"comms\": a list of at most 4096 is expected" },
    { HEADER("[{\"ranks\":[0,1]}]"),
      "line 1: comms[0]: invalid \"name\": 1 to 63 bytes of text is expected" },
    { HEADER("[{\"name\":\"tp\",\"ranks\":[0,2]}]"),
      "line 1: comms[0]: ranks[1] is none of the header's ranks" },
    { HEADER("[{\"name\":\"tp\",\"ranks\":[1,1]}]"), "line 1: comms[0]: duplicate rank 1" },
    { HEADER("[{\"name\":\"a\",\"ranks\":[1]},{\"name\":\"a\",\"ranks\":[0]}]"),
      "line 1: comms[1]: a second one of that name" },
    { HEADER("[{\"name\":\"tp\",\"ranks\":[0,1],\"left\":[4]}]"),
      "line 1: comms[0]: expected \"ranks\":[0,1,...], and as many numbers or null in \"left\" and \"called\"" },
    { HEADER("[{\"name\":\"tp\",\"ranks\":[0,1],\"called\":[4,-1]}]"),
      "line 1: comms[0]: expected \"ranks\":[0,1,...], and as many numbers or null in \"left\" and \"called\"" },
};

static void check_headers(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(headers); i++) {
        struct trace_figures f;
        struct err err = { "" };

        if (import_readable(headers[i].header, &f, &err) == 0)
            err.text[0] = '\0';
        is_str(err.text, headers[i].why, "a header with %s", strstr(headers[i].header, "comms"));
    }
}

int main(void)
{
    check_sets();
    check_first_version();
    check_batches();
    check_refusals();
    check_headers();
    return done_testing();
}
