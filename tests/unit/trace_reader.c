/* A trace is read the same however it is cut, what is wrong with it is named or counted, and what it shows is
 * judged as if it were live. */
#include <stdint.h>
#include <stdlib.h>

#include "common/hash.h"
#include "common/xalloc.h"
#include "ctl/analyze.h"
#include "tests/tap.h"
#include "tests/text.h"
#include "trace/line.h"
#include "trace/reader.h"
#include "view/comms.h"
#include "view/figures.h"
#include "view/verdicts.h"
#include "view/view.h"

/* ---- traces made here ---- */

static uint64_t random_next(uint64_t *state) /* xorshift64* */
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1du;
}

enum { NODES = 4, PER_NODE = 4, RANKS = NODES * PER_NODE, PARTS = 3 };

struct plan {
    int steps, onset, slow_rank, hung_rank; /* -1: none */
    double loss_ratio;
    bool inner;     /* a collective inside of each node, too */
    bool all;       /* from the onset on all ranks work twice as long */
    double delay_s; /* of rank 3 at the onset, and of rank 9 ten steps later */
};

static void put_header(struct text *t, int version)
{
    put(t, "{\"format\":\"syncguard-trace\",\"version\":%d,\"job\":\"7.0\",\"ranks\":[", version);
    for (int r = 0; r < RANKS; r++)
        put(t, "%s{\"rank\":%d,\"node\":\"n%d\",\"switch\":\"s%d\"}", r ? "," : "", r, r / PER_NODE,
            r / PER_NODE / 2);
    put(t, "]}\n");
}

/* Ranks compute 90 to 100 ms (the slow one a third more) before each of PARTS all-reduces a step; nodes'
 * clocks are hours apart.  The hung rank enters nothing from the onset on. */
static char *trace_make(const struct plan *p, size_t *bytes)
{
    uint64_t now[RANKS] = { 0 }, random = 88172645463325252u;
    struct text t = { 0 };
    unsigned seq = 0;

    put_header(&t, 1);
    for (int step = 0; step < p->steps; step++)
        for (int part = p->inner ? -1 : 0; part < PARTS; part++) {
            uint64_t enter[RANKS], last[NODES] = { 0 }, all = 0;
            bool hung = p->hung_rank >= 0 && step >= p->onset;

            for (int r = 0; r < RANKS; r++) {
                double work_s = 0.03 + 1e-3 * (double)(random_next(&random) % 1000) / 1000;

                if (r == p->slow_rank && step >= p->onset)
                    work_s *= 1.33;
                if (p->all && step >= p->onset)
                    work_s *= 2;
                if (!part && ((r == 3 && step == p->onset) || (r == 9 && step == p->onset + 10)))
                    work_s += p->delay_s;
                enter[r] = now[r] + (uint64_t)(work_s * 1e9);
                last[r / PER_NODE] = enter[r] > last[r / PER_NODE] ? enter[r] : last[r / PER_NODE];
                all = enter[r] > all ? enter[r] : all;
            }
            for (int r = 0; r < RANKS; r++) {
                uint64_t clock_ns = (uint64_t)(r / PER_NODE + 1) * 3600000000000u;
                uint64_t leave = (part < 0 ? last[r / PER_NODE] : all) + 1000000;
                bool lost = (double)(random_next(&random) % 100000) < p->loss_ratio * 100000;

                now[r] = leave;
                if (lost || (hung && r == p->hung_rank))
                    continue;
                if (part < 0)
                    put(&t, "{\"r\":%d,\"c\":\"node%d\",\"s\":%d,\"o\":\"barrier\",\"b\":0", r, r / PER_NODE,
                        step);
                else
                    put(&t, "{\"r\":%d,\"c\":\"world\",\"s\":%u,\"o\":\"allreduce\",\"b\":%d", r, seq,
                        4096 << part);
                put(&t, ",\"t0\":%llu", (unsigned long long)(clock_ns + enter[r]));
                if (hung)
                    put(&t, ",\"t1\":null}\n");
                else
                    put(&t, ",\"t1\":%llu}\n", (unsigned long long)(clock_ns + leave));
            }
            if (hung)
                goto end;
            seq += part >= 0;
        }
end:
    *bytes = t.n;
    return t.s;
}

static const struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 30 };

/* Feeds text in pieces of the given size (0: whole). */
static struct trace_reader *read_pieces(const char *text, size_t bytes, size_t piece, struct err *err,
                                        int *rc)
{
    struct trace_reader *r = trace_reader_new(&params);

    *rc = 0;
    for (size_t at = 0; at < bytes && *rc == 0; at += piece ? piece : bytes)
        *rc = trace_reader_feed(r, text + at, piece && piece < bytes - at ? piece : bytes - at, err);
    if (*rc == 0)
        *rc = trace_reader_finish(r, err);
    return r;
}

static json_t *answer_so_far_json(struct trace_reader *r)
{
    struct report *report = analyze_report(r, false);
    json_t *answer = report_json(report);

    report_free(report);
    return answer;
}

static char *answer_of(const char *text, size_t bytes, size_t piece)
{
    struct err err;
    int rc;
    struct trace_reader *r = read_pieces(text, bytes, piece, &err, &rc);
    json_t *answer = rc == 0 ? answer_so_far_json(r) : NULL;
    char *json = answer ? json_dumps(answer, JSON_INDENT(1)) : xstrdup(err.text);

    json_decref(answer);
    trace_reader_free(r);
    return json;
}

static struct trace_figures figures_of(const char *text, struct err *err, int *rc)
{
    struct trace_figures f;
    struct trace_reader *r = read_pieces(text, strlen(text), 0, err, rc);

    trace_reader_figures_get(r, &f);
    trace_reader_free(r);
    return f;
}

/* ---- what it shows ---- */

static void check_verdicts(void)
{
    static const struct plan plans[] = { { 120, 0, -1, -1, 0, true, false, 0 },
                                         { 120, 40, 5, -1, 0.002, true, false, 0 } };
    const struct view_verdict *d;

    for (size_t i = 0; i < ARRAY_SIZE(plans); i++) {
        struct view_figures f;
        struct err err;
        size_t bytes, n;
        char *text = trace_make(&plans[i], &bytes), label[64];
        int rc;
        struct trace_reader *r = read_pieces(text, bytes, 0, &err, &rc);
        double now_s = trace_reader_now_s(r);

        is_int(rc, 0, i ? "a trace with a slow rank is read" : "a healthy trace is read");
        view_figures_get(trace_reader_view(r), now_s, &f);
        is_int(f.period, PARTS, "the period of the trace is found");
        n = view_verdicts_raised(trace_reader_view(r), &d);
        is_int((long long)n, plans[i].slow_rank >= 0, "number of verdicts equals number of slow ranks");
        if (n && plans[i].slow_rank >= 0) {
            is_str(d->culprit[0], "r5", "the verdict names the slow rank");
            ok(d->finding.standing && llabs(d->finding.onset_seq - plans[i].onset * PARTS) <= 4 * PARTS &&
                   d->finding.named_seq >= plans[i].onset * PARTS,
               "still at the end, from about collective %d on\n%lld, seen at %lld", plans[i].onset * PARTS,
               (long long)d->finding.onset_seq, (long long)d->finding.named_seq);
        }
        ok(near(now_s, f.step_mean_s * 120, 0.2), "the clock is the trace's own\n%.1f s", now_s);
        is_str(
            view_comm_label(trace_reader_view(r), hash_bytes(HASH_START, "node2", 5), label, sizeof(label)),
            "node2", "communicators have the names of the trace");
        is_int(view_comm_size(trace_reader_view(r), hash_bytes(HASH_START, "node2", 5)), PER_NODE,
               "communicators have the members that used them");
        trace_reader_free(r);
        free(text);
    }
}

/* Nobody holds the others back, and it is not called healthy. */
static void check_all_slower(void)
{
    static const struct plan plan = { 160, 100, -1, -1, 0, false, true, 0 };
    const struct view_verdict *d;
    struct err err;
    size_t bytes;
    char *text = trace_make(&plan, &bytes), sentence[1024];
    const char *want = "on all of them a step took 1.9";
    int rc;
    struct trace_reader *r = read_pieces(text, bytes, 0, &err, &rc);

    view_sentence(trace_reader_view(r), trace_reader_now_s(r), sentence, sizeof(sentence));
    ok(strstr(sentence, want) && !strstr(sentence, "Healthy") && strstr(sentence, "since about step "),
       "that all ranks became slower is said\n%s", sentence);
    is_int((long long)view_verdicts_raised(trace_reader_view(r), &d), 0, "and is no verdict");
    trace_reader_free(r);
    free(text);
}

static void check_single_delays(void)
{
    static const struct plan plan = { 120, 40, -1, -1, 0, false, false, 0.3 };
    struct err err;
    size_t bytes;
    char *text = trace_make(&plan, &bytes), sentence[1024];
    const char *clause;
    double cost_ms = 0;
    int rc;
    struct trace_reader *r = read_pieces(text, bytes, 0, &err, &rc);

    view_sentence(trace_reader_view(r), trace_reader_now_s(r), sentence, sizeof(sentence));
    clause = strstr(sentence, "; 2 single delays");
    ok(clause && sscanf(clause, "; 2 single delays cost at most %lf ms", &cost_ms) == 1,
       "the sentence mentions two long delays of single ranks\n%s", sentence);
    is_near(cost_ms, 600, 0.05, "and their cost, in ms");
    trace_reader_free(r);
    free(text);
}

/* A verdict is dated by when it was listed, not by when its detector first saw something. */
static void check_first_a_verdict(void)
{
    static const struct plan plan = { 120, 60, 5, -1, 0, false, false, 0 };
    struct trace_reader *r = trace_reader_new(&params);
    const struct view_verdict *d;
    struct trace_figures f;
    uint64_t first = 0;
    struct err err;
    size_t bytes, n;
    char *text = trace_make(&plan, &bytes), *line = text, *end;

    for (; (end = strchr(line, '\n')) && trace_reader_feed(r, line, (size_t)(end + 1 - line), &err) == 0;
         line = end + 1) {
        n = view_verdicts_get(trace_reader_view(r), &d);
        trace_reader_figures_get(r, &f);
        if (n && !d->minor && !first)
            first = f.records;
    }
    trace_reader_finish(r, &err);
    n = view_verdicts_raised(trace_reader_view(r), &d);
    if (ok(n == 1 && first > 0, "one verdict came while the trace was read"))
        is_int((long long)trace_reader_records_at(r, d->finding.id), (long long)first,
               "it is dated by the record with which it was first a verdict");
    is_int((long long)trace_reader_records_at(r, d->finding.id + 1), (long long)f.records,
           "what was none, by the last one");
    trace_reader_free(r);
    free(text);
}

static void check_never_left(void)
{
    static const struct plan plan = { 40, 20, -1, 6, 0, false, false, 0 };
    const struct view_verdict *d;
    struct trace_figures f;
    struct err err;
    size_t bytes, n;
    char *text = trace_make(&plan, &bytes);
    int rc;
    struct trace_reader *r = read_pieces(text, bytes, 0, &err, &rc);

    trace_reader_figures_get(r, &f);
    is_int(rc, 0, "a trace that ends in a hang is read");
    is_int((long long)f.never_left, RANKS - 1,
           "all other ranks are counted as inside a collective they never left");
    is_int((long long)f.lost, 0, "no record is counted as lost");
    n = view_verdicts_raised(trace_reader_view(r), &d);
    if (ok(n == 1 && d->finding.class == FINDING_HANG, "the only verdict is a hang"))
        is_str(d->culprit[0], "r6", "the hang names the missing rank");
    trace_reader_free(r);
    free(text);
}

/* ---- cut anywhere, known early ---- */

static void check_pieces(void)
{
    static const struct plan plan = { 60, 20, 5, -1, 0.01, true, false, 0 };
    static const size_t pieces[] = { 1, 7, 120, 4096, 65537 };
    size_t bytes;
    char *text = trace_make(&plan, &bytes), *whole = answer_of(text, bytes, 0);

    for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
        char *cut = answer_of(text, bytes, pieces[i]);

        ok(!strcmp(cut, whole), "pieces of %zu bytes give the same answer, byte for byte", pieces[i]);
        free(cut);
    }
    free(whole);
    free(text);
}

static char *answer_so_far(struct trace_reader *r)
{
    json_t *answer = answer_so_far_json(r);
    char *json = json_dumps(answer, JSON_INDENT(1));

    json_decref(answer);
    return json;
}

/* Causal: what is said after so many lines is what a reader says that knows of no others. */
static void check_prefixes(void)
{
    static const struct plan plan = { 60, 20, 5, -1, 0.01, true, false, 0 };
    struct trace_reader *all = trace_reader_new(&params);
    size_t bytes, line = 0, different = 0, compared = 0;
    char *text = trace_make(&plan, &bytes);
    struct err err;

    for (size_t at = 0, next; at < bytes; at = next, line++) {
        next = (size_t)((char *)memchr(text + at, '\n', bytes - at) - text) + 1;
        trace_reader_feed(all, text + at, next - at, &err);
        if (line % 397 == 0) {
            struct trace_reader *some = trace_reader_new(&params);
            char *want = answer_so_far(all), *got;

            trace_reader_feed(some, text, next, &err);
            got = answer_so_far(some);
            different += strcmp(got, want) != 0;
            compared++;
            free(want);
            free(got);
            trace_reader_free(some);
        }
    }
    ok(compared > 5 && !different, "cut at many places: results do not depend on later records\n%zu places",
       compared);
    trace_reader_free(all);
    free(text);
}

/* ---- what is wrong with it ---- */

#define HEADER \
    "{\"format\":\"syncguard-trace\",\"version\":1,\"ranks\":[{\"rank\":0,\"node\":\"a\"},{\"rank\":1}]}\n"
#define RECORD(r, s) \
    "{\"r\":" #r ",\"c\":\"w\",\"s\":" #s ",\"o\":\"barrier\",\"b\":0,\"t0\":" #s "0,\"t1\":" #s "5}\n"

static void check_fatal(void)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "", "no header: the trace is empty" },
        { "{\"format\":\"syncg", "line 1: no header: not JSON" },
        { "hello\n", "line 1: no header: not JSON" },
        { "[1]\n", "line 1: no header: not a JSON object" },
        { RECORD(0, 1), "line 1: no header: a trace begins with" },
        { "{\"format\":\"syncguard-trace\",\"version\":3,\"ranks\":[{\"rank\":0}]}\n",
          "line 1: unknown \"version\"" },
        { "{\"format\":\"syncguard-trace\",\"version\":1,\"ranks\":[]}\n", "line 1: no ranks" },
        { "{\"format\":\"syncguard-trace\",\"version\":1,\"ranks\":[{\"rank\":65536}]}\n",
          "line 1: ranks[0] has no \"rank\" from 0 to 65535" },
        { "{\"format\":\"syncguard-trace\",\"version\":1,\"ranks\":[{\"rank\":3},{\"rank\":3}]}\n",
          "line 1: ranks[1]: duplicate rank 3" },
        { HEADER HEADER, "line 2: a second header" },
        { HEADER RECORD(0, 1) RECORD(2, 1), "line 3: rank 2 is not in the header" },
        { HEADER "\n{\"r\":0,\"c\":\"w\",\"s\":1,\"o\":\"barrier\",\"b\":0,\"t0\":9,\"t1\":\"8\"}\n",
          "line 3: invalid \"t1\" in a record: an integer is expected" },
        { HEADER "{\"r\":0,\"c\":\"w\",\"s\":1,\"o\":\"barrier\",\"b\":0,\"t0\":9}\n",
          "line 2: a record has no \"t1\"" },
        { HEADER "{\"r\":-1,\"c\":\"w\",\"s\":1,\"o\":\"barrier\",\"b\":0,\"t0\":9,\"t1\":9}\n",
          "line 2: invalid \"r\" in a record: -1, accepted: 0 to 65535" },
        { HEADER "{\"r\":0,\"c\":\"w\",\"s\":1.5,\"o\":\"barrier\",\"b\":0,\"t0\":9,\"t1\":9}\n",
          "line 2: invalid \"s\" in a record" },
        { HEADER "{\"r\":0,\"c\":\"\",\"s\":1,\"o\":\"barrier\",\"b\":0,\"t0\":9,\"t1\":9}\n",
          "line 2: invalid \"c\" in a record" },
        { HEADER "{\"r\":0,\"c\":\"w\",\"s\":4294967295,\"o\":\"barrier\",\"b\":0,\"t0\":9,\"t1\":9}\n",
          "line 2: invalid \"s\" in a record: 4294967295" },
        { HEADER
          "{\"r\":0,\"c\":\"w\",\"s\":1,\"o\":\"barrier\",\"b\":0,\"t0\":9,\"t1\":4611686018427387904}\n",
          "line 2: invalid \"t1\" in a record: 4611686018427387904" },
        { HEADER
          "{\"r\":0,\"c\":\"w\",\"s\":1,\"o\":\"barrier\",\"b\":0,\"t0\":9,\"t1\":99999999999999999999}\n",
          "line 2: not JSON: too big" },
        { HEADER
          "{\"r\":0,\"c\":\"w\",\"s\":1,\"o\":\"barrier\",\"b\":0,\"t0\":9,\"t1\":4611686018427387903}\n",
          "line 2: its time is more than 366 days" },
        { "{\"format\":\"syncguard-trace\",\"version\":1,\"adapter\":{\"bytes_per_s\":-1,\"number\":1},"
          "\"ranks\":[{\"rank\":0}]}\n",
          "line 1: invalid \"adapter\"" },
        { "{\"format\":\"syncguard-trace\",\"version\":1,\"adapter\":{\"bytes_per_s\":1e9,\"number\":1e9},"
          "\"ranks\":[{\"rank\":0}]}\n",
          "line 1: invalid \"adapter\"" },
        { "{\"format\":\"syncguard-trace\",\"version\":2,\"switches\":[\"a.b\",7],\"ranks\":[{\"rank\":0}]}\n",
          "line 1: invalid \"switches\"" },
        { HEADER RECORD(0, 1) "{\"r\":0\n", "line 3: not JSON" },
        { HEADER "{\"r\":0,\"c\":\"w\",\"o\":\"send\",\"g\":1,\"s\":1,\"b\":0,\"t0\":8,\"t1\":9}\n",
          "line 2: invalid \"p\" in a record: an integer is expected, 0 to 65535" },
        { HEADER "{\"r\":0,\"c\":\"w\",\"o\":\"recv\",\"p\":1,\"g\":-1,\"s\":1,\"b\":0,\"t0\":8,\"t1\":9}\n",
          "line 2: invalid \"g\" in a record: -1, accepted: 0 to 2147483647" },
        { HEADER "{\"r\":0,\"c\":\"w\",\"o\":\"recv\",\"p\":9,\"g\":1,\"s\":1,\"b\":0,\"t0\":8,\"t1\":9}\n",
          "line 2: rank 9 is not in the header" },
        { HEADER "{\"r\":0,\"c\":\"w\",\"s\":1,\"o\":\"all\\u001bgather\",\"b\":0,\"t0\":8,\"t1\":null}\n",
          "line 2: unknown operation \"all?gather\": expected allreduce," },
        { HEADER "{\"r\":0,\"c\":\"w\",\"s\":1,\"o\":\"wait\",\"b\":0,\"t0\":8,\"t1\":9}\n",
          "line 2: unknown operation \"wait\"" },
        { "{\"format\":\"syncguard-trace\",\"version\":1,\"size\":65537,\"ranks\":[{\"rank\":3}]}\n",
          "line 1: invalid \"size\"" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        for (int by_byte = 0; by_byte < 2; by_byte++) {
            struct err err = { "" };
            int rc;
            struct trace_reader *r = read_pieces(cases[i].text, strlen(cases[i].text), by_byte, &err, &rc);

            ok(rc < 0 && !strncmp(err.text, cases[i].want, strlen(cases[i].want)),
               "a wrong trace is rejected with its reason, case %zu: %s", i, err.text);
            if (i == 10)
                ok(trace_reader_feed(r, RECORD(0, 2), 10, &err) < 0 && strstr(err.text, "line 3: rank 2"),
                   "a reader that failed returns the same error again");
            trace_reader_free(r);
        }
}

static void check_counted(void)
{
    static const struct {
        const char *what, *text;
        unsigned records, lost, duplicates, reordered, unnamed;
        bool torn;
    } cases[] = {
        { "nothing", HEADER, 0, 0, 0, 0, 0, false },
        { "two ranks", HEADER RECORD(0, 1) RECORD(1, 1), 2, 0, 0, 0, 0, false },
        { "two lost", HEADER RECORD(0, 1) RECORD(0, 4), 2, 2, 0, 0, 0, false },
        { "one twice at once", HEADER RECORD(0, 1) RECORD(0, 1), 1, 0, 1, 0, 0, false },
        { "one twice, later", HEADER RECORD(0, 1) RECORD(0, 2) RECORD(0, 3) RECORD(0, 1), 3, 0, 1, 0, 0,
          false },
        { "a late one was not lost", HEADER RECORD(0, 1) RECORD(0, 3) RECORD(0, 2) RECORD(0, 2), 2, 0, 1, 1,
          0, false },
        { "older than is remembered", HEADER RECORD(0, 9) RECORD(0, 1000) RECORD(0, 10), 2, 990, 0, 1, 0,
          false },
        { "an operation without a name",
          HEADER "{\"r\":0,\"c\":\"w\",\"s\":1,\"o\":\"collective\",\"b\":0,\"t0\":1,\"t1\":2}\n", 1, 0, 0, 0,
          1, false },
        { "a torn end", HEADER RECORD(0, 1) "{\"r\":0,\"c\":\"w\",\"s\":2,\"o\":\"barr", 1, 0, 0, 0, 0,
          true },
        { "no newline at the end",
          HEADER "{\"r\":0,\"c\":\"w\",\"s\":1,\"o\":\"barrier\",\"b\":0,\"t0\":1,\"t1\":2}", 1, 0, 0, 0, 0,
          false },
        { "empty lines", HEADER "\n" RECORD(0, 1) " \r\n", 1, 0, 0, 0, 0, false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err err = { "" };
        int rc;
        struct trace_figures f = figures_of(cases[i].text, &err, &rc);

        ok(rc == 0 && f.records == cases[i].records && f.lost == cases[i].lost &&
               f.duplicates == cases[i].duplicates && f.reordered == cases[i].reordered &&
               f.unnamed == cases[i].unnamed && f.torn == cases[i].torn,
           "%s: the records are counted\n%llu records, %llu lost, %llu twice, %llu out of order, %llu unnamed%s%s",
           cases[i].what, (unsigned long long)f.records, (unsigned long long)f.lost,
           (unsigned long long)f.duplicates, (unsigned long long)f.reordered, (unsigned long long)f.unnamed,
           f.torn ? ", torn " : " ", err.text);
    }
}

/* A clock that is set back inside a call: its times say nothing, the others go on, and it is not missing. */
static void check_backward(void)
{
    static const char text[] = HEADER
        RECORD(0, 1) "{\"r\":0,\"c\":\"w\",\"s\":2,\"o\":\"barrier\",\"b\":0,\"t0\":9,\"t1\":8}\n" RECORD(
            0,
            3) "{\"r\":0,\"c\":\"w\",\"s\":4,\"o\":\"barrier\",\"b\":0,\"ti\":9,\"t0\":8,\"t1\":9}\n"
               "{\"r\":0,\"c\":\"w\",\"o\":\"send\",\"p\":1,\"g\":1,\"s\":1,\"b\":0,\"t0\":8,\"t1\":7}\n" RECORD(
                   0, 5);
    struct err err = { "" };
    int rc;
    struct trace_figures f = figures_of(text, &err, &rc);

    ok(rc == 0 && f.backward == 3 && f.records == 3 && !f.lost && !f.reordered && !f.messages,
       "records that end before they begin are skipped and counted: %llu of 3, %llu others, %llu lost %s",
       (unsigned long long)f.backward, (unsigned long long)f.records, (unsigned long long)f.lost, err.text);
}

/* Three of a job's four ranks have records, of which the last one comes 3 ms late each time. */
static char *partly(const char *more)
{
    struct text t = { 0 };

    put(&t,
        "{\"format\":\"syncguard-trace\",\"version\":2,\"size\":4,%s\"ranks\":[{\"rank\":0},{\"rank\":1},{\"rank\":3}]}\n",
        more);
    for (unsigned i = 0; i < 3; i++)
        for (unsigned r = 0; r < 4; r++)
            if (r != 2)
                put(&t,
                    "{\"r\":%u,\"c\":\"world\",\"s\":%u,\"o\":\"barrier\",\"b\":0,\"t0\":%u000000,\"t1\":%u000000}\n",
                    r, i, 10 * i + (r == 3 ? 5 : 2), 10 * i + 6);
    return t.s;
}

static void check_partly(void)
{
    char *text = partly("");
    struct trace_reader *r = trace_reader_new(&params);
    struct trace_figures f;
    struct err err = { "" };
    json_t *answer;

    ok(trace_reader_feed(r, text, strlen(text), &err) == 0 && trace_reader_finish(r, &err) == 0,
       "a trace of some of a job's ranks is read %s", err.text);
    trace_reader_figures_get(r, &f);
    is_int(f.size, 4, "the header says how many ranks the job has");
    answer = answer_so_far_json(r);
    is_near(json_number_value(json_object_get(json_object_get(answer, "skew_s"), "p50")), 0.003, 0.05,
            "who has records is compared, and not waited for who has none");
    ok(strstr(json_string_value(json_object_get(answer, "sentence")),
              "Rank 3 came last to 3 of 3 collectives, and the others waited 9.00 ms for it alone"),
       "few steps are told of: %s", json_string_value(json_object_get(answer, "sentence")));
    json_decref(answer);
    trace_reader_free(r);
    free(text);
}

/* A rank stays away once, for longer than all of the steps take. */
static void check_held_up(void)
{
    struct trace_reader *r = trace_reader_new(&params);
    struct text t = { 0 };
    struct err err = { "" };
    const char *sentence;
    unsigned ms = 0;
    json_t *answer;

    put(&t,
        "{\"format\":\"syncguard-trace\",\"version\":2,\"size\":4,\"ranks\":[{\"rank\":0},{\"rank\":1},{\"rank\":2},{\"rank\":3}]}\n");
    for (unsigned i = 0; i < 120; i++) {
        unsigned began = ms;

        ms += i == 60 ? 8000 : 20;
        for (unsigned rank = 0; rank < 4; rank++)
            put(&t,
                "{\"r\":%u,\"c\":\"world\",\"s\":%u,\"o\":\"barrier\",\"b\":0,\"t0\":%u000000,\"t1\":%u000000}\n",
                rank, i, rank == 2 ? ms - 2 : began + 18, ms);
    }
    ok(trace_reader_feed(r, t.s, strlen(t.s), &err) == 0 && trace_reader_finish(r, &err) == 0,
       "a trace in which a rank stays away once is read %s", err.text);
    answer = answer_so_far_json(r);
    sentence = json_string_value(json_object_get(answer, "sentence"));
    ok(strstr(sentence, "No rank was slow step by step") && strstr(sentence, "s for rank 2 alone (") &&
           !strstr(sentence, "Healthy"),
       "such a run is not called healthy\n%s", sentence);
    json_decref(answer);
    trace_reader_free(r);
    free(t.s);
}

/* How long calls held their ranks, and nothing else. */
static void check_untimed(void)
{
    char *text = partly("\"untimed\":true,");
    struct trace_reader *r = trace_reader_new(&params);
    struct err err = { "" };
    const char *sentence;
    json_t *answer;

    ok(trace_reader_feed(r, text, strlen(text), &err) == 0 && trace_reader_finish(r, &err) == 0,
       "a trace without times is read %s", err.text);
    answer = answer_so_far_json(r);
    sentence = json_string_value(json_object_get(answer, "sentence"));
    ok(strstr(sentence, "and not when") &&
           strstr(
               sentence,
               "Rank 3 came last to 3 of 3 collectives, and the others waited 9.00 ms for it alone: 3.00 ms each time"),
       "without times it is known who came last: %s", sentence);
    ok(json_is_null(json_object_get(answer, "synchronisation_ratio")) &&
           json_is_null(json_object_get(answer, "steps_per_s")) &&
           json_is_null(json_object_get(json_object_get(answer, "trace"), "seconds")),
       "without times nothing is said of shares, rates and the length");
    json_decref(answer);
    trace_reader_free(r);
    free(text);
}

/* More communicators than are followed: the others go on. */
static void check_beyond(void)
{
    struct text t = { 0 };
    struct trace_figures f;
    struct err err = { "" };
    int rc;

    put(&t, "%s", HEADER);
    for (unsigned c = 0; c < TRACE_COMMS_MAX + 2; c++)
        for (int r = 0; r < 2; r++)
            put(&t, "{\"r\":%d,\"c\":\"c%u\",\"s\":0,\"o\":\"barrier\",\"b\":0,\"t0\":%u,\"t1\":%u}\n", r, c,
                10 * c, 10 * c + 5);
    f = figures_of(t.s, &err, &rc);
    ok(rc == 0 && f.comms == TRACE_COMMS_MAX && f.records == 2 * TRACE_COMMS_MAX && f.beyond == 4,
       "beyond %u communicators records are left out and counted %s", TRACE_COMMS_MAX, err.text);
    free(t.s);
}

/* Records of two communicators take turns, one at a time: each collective counts once. */
static void check_turns(void)
{
    enum { COLLECTIVES = 50 };
    struct text t = { 0 };
    struct err err = { "" };
    int rc;

    put(&t, "%s", HEADER);
    for (unsigned seq = 0; seq < COLLECTIVES; seq++)
        for (int r = 0; r < 2; r++)
            for (int c = 0; c < 2; c++)
                put(&t, "{\"r\":%d,\"c\":\"c%d\",\"s\":%u,\"o\":\"barrier\",\"b\":0,\"t0\":%u,\"t1\":%u}\n",
                    r, c, seq, 20 * seq + 10 * (unsigned)c, 20 * seq + 10 * (unsigned)c + 5);
    is_int((long long)figures_of(t.s, &err, &rc).collectives, 2 * COLLECTIVES,
           "collectives whose records do not stand together are counted once %s", err.text);
    free(t.s);
}

/* ---- lines: the scanner and the parser agree ---- */

static void check_lines(void)
{
    static const char *const lines[] = {
        "{\"r\":3,\"c\":\"world\",\"s\":41,\"o\":\"allreduce\",\"b\":26214400,\"t0\":5,\"t1\":7}",
        " { \"t1\" : null ,\t\"t0\":5,\"b\":0 , \"o\":\"barrier\",\"s\":0,\"c\":\"4@8.1\",\"r\":65535 } \r",
        ("{\"x\":1,\"y\":\"z\",\"z\":null,\"w\":true,\"r\":3,\"c\":\"c\",\"s\":1,\"o\":\"scan\",\"b\":1,"
         "\"t0\":5,\"t1\":7}"),
        "{\"r\":3,\"r\":4,\"c\":\"c\",\"s\":1,\"o\":\"scan\",\"b\":1,\"t0\":5,\"t1\":null,\"t1\":7}",
        "{\"r\":3,\"c\":\"c\",\"s\":1,\"o\":\"scan\",\"b\":1,\"t0\":5,\"t1\":7,\"t1\":null}",
        "{\"r\":3,\"c\":\"c\",\"s\":1,\"o\":\"access\",\"b\":1,\"rb\":9,\"p\":2,\"ti\":4,\"t0\":5,\"t1\":7}",
    };
    static const char *const careful[] = {
        "{\"r\":3,\"c\":\"wor\\u006cd\",\"s\":41,\"o\":\"allreduce\",\"b\":1,\"t0\":5,\"t1\":7}",
        ("{\"r\":3,\"c\":\"world\",\"s\":41,\"o\":\"allreduce\",\"b\":1,\"t0\":5,\"t1\":7,\"x\":{\"r\":[1,-2."
         "5e3]}}"),
        "{\"r\":3,\"c\":\"world\",\"s\":41,\"o\":\"allreduce\",\"b\":1,\"t0\":5,\"t1\":1000000000000000000}",
        "{\"r\":3,\"c\":\"w\xc3\xb6rld\",\"s\":41,\"o\":\"allreduce\",\"b\":1,\"t0\":5,\"t1\":7}",
    };
    static const char whole[] =
        "{\"r\":3,\"c\":\"c\",\"s\":1,\"o\":\"access\",\"b\":1,\"p\":2,\"t0\":5,\"t1\":7}";
    static const char begun[] =
        "{\"r\":0,\"c\":\"world\",\"o\":\"send\",\"p\":1,\"g\":7,\"s\":1,\"b\":8,\"ti\":3,\"t0\":8,\"t1\":9}";
    struct trace_record a, b;
    struct err err;

    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
        memset(&a, 0, sizeof(a));
        memset(&b, 0, sizeof(b));
        ok(trace_record_scan(lines[i], strlen(lines[i]), &a), "line %zu is scanned", i);
        ok(trace_record_parse(lines[i], strlen(lines[i]), &b, &err) == 0 &&
               !memcmp(&a.call, &b.call, offsetof(struct call, flags) + 1) && a.left == b.left &&
               a.comm_bytes == b.comm_bytes && !strcmp(a.comm, b.comm),
           "a scanned line equals the parsed line");
    }
    for (size_t i = 0; i < ARRAY_SIZE(careful); i++) {
        ok(!trace_record_scan(careful[i], strlen(careful[i]), &a), "careful line %zu is not scanned", i);
        is_int(trace_record_parse(careful[i], strlen(careful[i]), &b, &err), 0,
               "a line that is not scanned is parsed");
    }
    trace_record_parse(careful[0], strlen(careful[0]), &b, &err);
    is_str(b.comm, "world", "escapes in names are read");
    ok(trace_record_scan(begun, strlen(begun), &a) && a.call.op == RING_OP_SEND && a.call.begin_ns == 3 &&
           call_is_nonblocking(&a.call),
       "the beginning of a nonblocking send is read");
    ok(trace_record_scan(lines[5], strlen(lines[5]), &a) && a.call.op == RING_OP_ACCESS &&
           a.call.read_bytes == 9 && a.call.bytes == 1 && a.call.peer == 2 && !call_is_nonblocking(&a.call),
       "what an access read and wrote is read, and it blocks");
    ok(!trace_record_scan(whole, strlen(whole), &a) &&
           trace_record_parse(whole, strlen(whole), &b, &err) < 0 && strstr(err.text, "\"rb\""),
       "an access that does not say what was read is rejected\n%s", err.text);
}

/* As libraries and frameworks write them. */
static void check_aliases(void)
{
    static const struct {
        const char *name;
        enum ring_op op;
    } names[] = {
        { "all_gather", RING_OP_ALLGATHER },
        { "AllReduce", RING_OP_ALLREDUCE },
        { "broadcast", RING_OP_BCAST },
        { "_allgather_base", RING_OP_ALLGATHER },
        { "reduce_scatter_tensor", RING_OP_REDUCE_SCATTER },
        { "REDUCE_SCATTER", RING_OP_REDUCE_SCATTER },
        { "all_to_all_single", RING_OP_ALLTOALL },
        { "reduce_scatter_block", RING_OP_REDUCE_SCATTER_BLOCK },
        { "collective", RING_OP_NONE },
    };

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct trace_record rec;
        char line[160];

        snprintf(line, sizeof(line), "{\"r\":0,\"c\":\"w\",\"s\":1,\"o\":\"%s\",\"b\":0,\"t0\":8,\"t1\":9}",
                 names[i].name);
        ok(trace_record_scan(line, strlen(line), &rec) && rec.call.op == names[i].op,
           "the operation %s is read as %s", names[i].name, ring_op_name(names[i].op));
    }
}

#define MESSAGES \
    "{\"format\":\"syncguard-trace\",\"version\":2,\"ranks\":[{\"rank\":0,\"node\":\"a\"},{\"rank\":1,\"node\":\"b\"}]}\n"
#define SEND(s)                                                                                \
    "{\"r\":0,\"c\":\"world\",\"o\":\"send\",\"p\":1,\"g\":7,\"s\":" #s ",\"b\":8,\"t0\":1" #s \
    "000,\"t1\":1" #s "100}\n"
#define RECV(s)                                                                                \
    "{\"r\":1,\"c\":\"world\",\"o\":\"recv\",\"p\":0,\"g\":7,\"s\":" #s ",\"b\":8,\"t0\":1" #s \
    "000,\"t1\":1" #s "200}\n"

static void check_messages(void)
{
    static const struct {
        const char *what, *text;
        unsigned records, messages, lost, duplicates;
    } cases[] = {
        { "both ends of a message are records", MESSAGES SEND(0) RECV(0), 2, 2, 0, 0 },
        { "a missing number is a lost record", MESSAGES SEND(0) SEND(3) RECV(0), 3, 3, 2, 0 },
        { "a message that comes twice is a duplicate", MESSAGES SEND(0) SEND(1) SEND(0), 2, 2, 0, 1 },
        { "messages that one wait completes may come in any order", MESSAGES SEND(2) SEND(0) SEND(1) RECV(0),
          4, 4, 0, 0 },
        { "a nonblocking collective is a record",
          MESSAGES
          "{\"r\":0,\"c\":\"world\",\"s\":0,\"o\":\"allreduce\",\"b\":8,\"ti\":5,\"t0\":7,\"t1\":9}\n" SEND(
              0),
          2, 1, 0, 0 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err err = { "" };
        int rc;
        struct trace_figures f = figures_of(cases[i].text, &err, &rc);

        ok(rc == 0 && f.records == cases[i].records && f.messages == cases[i].messages &&
               f.lost == cases[i].lost && f.duplicates == cases[i].duplicates,
           "%s: %s", cases[i].what, err.text);
    }
}

/* Rank 0 posts two sends in each step of 10 ms, waits for the second one at once, and for the first one in
 * the next step: nothing is lost, and how long it worked is known in every step. */
static void check_completed_late(void)
{
    struct view_rank_figures f;
    struct text t = { 0 };
    struct trace_reader *r;
    struct err err;
    int rc;

    put(&t, "%s", MESSAGES);
    for (unsigned i = 0; i < 60; i++) {
        unsigned long long ns = 1000000000ull + 10000000ull * i;

        if (i > 0)
            put(&t,
                "{\"r\":0,\"c\":\"world\",\"o\":\"send\",\"p\":1,\"g\":7,\"s\":%u,\"b\":8,\"ti\":%llu,\"t0\":%llu,\"t1\":%llu}\n",
                2 * i - 2, ns - 5000000, ns + 1000000, ns + 1000100);
        put(&t,
            "{\"r\":0,\"c\":\"world\",\"o\":\"send\",\"p\":1,\"g\":7,\"s\":%u,\"b\":8,\"ti\":%llu,\"t0\":%llu,\"t1\":%llu}\n",
            2 * i + 1, ns + 5100000, ns + 5200000, ns + 5200100);
        for (unsigned n = 0; n < 2; n++)
            put(&t,
                "{\"r\":1,\"c\":\"world\",\"o\":\"recv\",\"p\":0,\"g\":7,\"s\":%u,\"b\":8,\"t0\":%llu,\"t1\":%llu}\n",
                2 * i + n, ns + 5300000 + 1000 * n, ns + 5300500 + 1000 * n);
        for (unsigned rank = 0; rank < 2; rank++)
            put(&t,
                "{\"r\":%u,\"c\":\"world\",\"s\":%u,\"o\":\"allreduce\",\"b\":8,\"t0\":%llu,\"t1\":%llu}\n",
                rank, i, ns + 9000000, ns + 10000000);
    }
    r = read_pieces(t.s, t.n, 0, &err, &rc);
    is_int(rc, 0, "a trace of sends that are completed late is read");
    is_int((long long)trace_reader_lost(r, 0), 1,
           "none of them is lost but the one that the trace ends before");
    view_rank_get(trace_reader_view(r), trace_reader_now_s(r), 0, &f);
    ok(fabs(f.compute_s - 0.009) < 2e-4, "and the sender's own work is known\n%g s a step", f.compute_s);
    trace_reader_free(r);
    free(t.s);
}

/* Ranks reduce what they worked out while they work on, twice a step of 100 ms; from step `from` on the last
 * rank takes 180 ms. */
static char *trace_overlapped(unsigned from, unsigned steps, size_t *bytes)
{
    uint64_t state = 7, ns = 1000000000;
    struct text t = { 0 };

    put_header(&t, 2);
    for (unsigned step = 0; step < steps; step++) {
        uint64_t work[RANKS], longest = 0;

        for (int rank = 0; rank < RANKS; rank++) {
            work[rank] =
                (rank == RANKS - 1 && step >= from ? 90000000 : 50000000) + random_next(&state) % 500000;
            longest = work[rank] > longest ? work[rank] : longest;
        }
        for (unsigned half = 1; half <= 2; half++)
            for (int rank = 0; rank < RANKS; rank++) {
                uint64_t worked = ns + 2 * work[rank], first = ns + longest + 100000,
                         whole = ns + half * longest + 100000;

                put(&t,
                    "{\"r\":%d,\"c\":\"world\",\"s\":%u,\"o\":\"allreduce\",\"b\":%u,\"ti\":%llu,\"t0\":%llu,\"t1\":%llu}\n",
                    rank, 2 * step + half - 1, 4096 * half, (unsigned long long)(ns + half * work[rank]),
                    (unsigned long long)(half == 1 || worked > first ? worked : first),
                    (unsigned long long)(whole > worked ? whole : worked));
            }
        ns += 2 * longest + 100000;
    }
    *bytes = t.n;
    return t.s;
}

/* What came before the first step that is judged was not slow, however early the rank becomes so. */
static void check_price_of_early(void)
{
    enum { STEPS = 50, JUDGED = 16 };

    for (unsigned from = 4; from <= 20; from += 2) {
        double wanted = (from * 0.1 + (STEPS - from) * 0.18) / (STEPS * 0.1);
        const struct view_verdict *d;
        struct view_figures f;
        struct err err = { "" };
        size_t bytes, n;
        char *text = trace_overlapped(from, STEPS, &bytes);
        int rc;
        struct trace_reader *r = read_pieces(text, bytes, 0, &err, &rc);

        view_figures_get(trace_reader_view(r), trace_reader_now_s(r), &f);
        is_int((long long)f.steps, STEPS, "steps count from the program's first one on");
        n = rc == 0 ? view_verdicts_raised(trace_reader_view(r), &d) : 0;
        ok(n == 1 && d->finding.class == FINDING_STRAGGLER && fabs(d->finding.slowdown / wanted - 1) < 0.03,
           "a rank that is slow from step %u on costs %.3f\n%.3f", from, wanted,
           n ? d->finding.slowdown : NAN);
        ok(n == 1 && d->since_step >= from && d->since_step <= (from > JUDGED ? from : JUDGED) + 3,
           "and is said to be so since then, or since the first step that is judged\n%lld",
           n ? (long long)d->since_step : -1LL);
        trace_reader_free(r);
        free(text);
    }
}

/* Eight nodes in a ring work for 100 ms, and exchange with both neighbours in 4 ms; node 2 in 24 ms. Then
 * they all meet. */
static char *trace_slow_node(unsigned steps, size_t *bytes)
{
    enum { N = 8 };
    uint64_t state = 11, ns = 1000000000;
    struct text t = { 0 };

    put(&t, "{\"format\":\"syncguard-trace\",\"version\":2,\"ranks\":[");
    for (unsigned r = 0; r < N; r++)
        put(&t, "%s{\"rank\":%u,\"node\":\"n%u\"}", r ? "," : "", r, r);
    put(&t, "]}\n");
    for (unsigned step = 0; step < steps; step++) {
        uint64_t sent[N], left[N], all = 0;

        for (unsigned r = 0; r < N; r++) {
            sent[r] = ns + 100000000 + random_next(&state) % 50000;
            for (unsigned way = 0; way < 2; way++)
                put(&t,
                    "{\"r\":%u,\"c\":\"world\",\"o\":\"send\",\"p\":%u,\"g\":%u,\"s\":%u,\"b\":1048576,\"t0\":%llu,\"t1\":%llu}\n",
                    r, (r + (way ? N - 1 : 1)) % N, way, step, (unsigned long long)sent[r] + way * 2000,
                    (unsigned long long)sent[r] + way * 2000 + 1000);
        }
        for (unsigned r = 0; r < N; r++) {
            left[r] = sent[r] + 4000;
            for (unsigned way = 0; way < 2; way++) {
                unsigned peer = (r + (way ? 1 : N - 1)) % N;
                uint64_t takes =
                    (r == 2 || peer == 2 ? 24000000 : 4000000) - way * 300000 + random_next(&state) % 100000;
                uint64_t there = sent[peer] + way * 2000 + takes, from = left[r];

                left[r] = there > from + 1000 ? there : from + 1000;
                put(&t,
                    "{\"r\":%u,\"c\":\"world\",\"o\":\"recv\",\"p\":%u,\"g\":%u,\"s\":%u,\"b\":1048576,\"t0\":%llu,\"t1\":%llu}\n",
                    r, peer, way, step, (unsigned long long)from, (unsigned long long)left[r]);
            }
            all = left[r] > all ? left[r] : all;
        }
        ns = all + 100000;
        for (unsigned r = 0; r < N; r++)
            put(&t,
                "{\"r\":%u,\"c\":\"world\",\"s\":%u,\"o\":\"allreduce\",\"b\":8,\"t0\":%llu,\"t1\":%llu}\n",
                r, step, (unsigned long long)left[r], (unsigned long long)ns);
    }
    *bytes = t.n;
    return t.s;
}

static void check_slow_node(void)
{
    const struct view_verdict *d;
    struct err err = { "" };
    size_t bytes, n;
    char *text = trace_slow_node(100, &bytes);
    int rc;
    struct trace_reader *r = read_pieces(text, bytes, 0, &err, &rc);

    n = rc == 0 ? view_verdicts_raised(trace_reader_view(r), &d) : 0;
    is_int((long long)n, 1, "a node whose messages are all slow from the start is the only verdict");
    if (n == 1) {
        is_str(d->culprit[0], "n2", "it names the node");
        ok(strstr(d->text, "From the start messages to and from n2 take ") &&
               strstr(d->text, " those between other nodes that do the same"),
           "the sentence compares it with others, not with before\n%s", d->text);
        is_near(d->finding.slowdown, 124.5 / 104.5, 0.02, "its price is what a step is longer");
    }
    trace_reader_free(r);
    free(text);
}

/* ---- other orders of the same records ---- */

struct line_at {
    const char *text;
    size_t bytes, at; /* at: when it comes */
};

static int by_time(const void *a, const void *b)
{
    const struct line_at *x = a, *y = b;

    return x->at != y->at ? x->at < y->at ? -1 : 1 : (x->text > y->text) - (x->text < y->text);
}

/* The same records, each rank's in its order: those of the ranks on node n come n x lag lines later, and in
 * runs of so many lines. */
static char *reordered(const char *text, size_t bytes, size_t lag, size_t run)
{
    struct line_at *line = NULL;
    size_t n = 0, cap = 0, at = 0;
    char *other = xcalloc(bytes + 1, 1), *to = other;

    for (size_t next; at < bytes; at = next, n++) {
        const char *begin = text + at;
        size_t node = (size_t)atoi(begin + 5) / PER_NODE; /* {"r":12, */

        next = (size_t)((char *)memchr(begin, '\n', bytes - at) - text) + 1;
        line = xgrow(line, &cap, n + 1, sizeof(*line));
        line[n] = (struct line_at){ begin, next - at, n ? 1 + (n + node * lag) / run : 0 };
    }
    qsort(line, n, sizeof(*line), by_time);
    for (size_t i = 0; i < n; to += line[i++].bytes)
        memcpy(to, line[i].text, line[i].bytes);
    free(line);
    return other;
}

/* Of a trace in which the records of some nodes come up to a step late, as from agents that send at other
 * times, the same is said: whom, since when, and at about which price, of which some is counted from when
 * steps came.
 */
static void check_orders(void)
{
    static const struct plan plans[] = { { 120, 40, 5, -1, 0, false, false, 0 },
                                         { 120, 40, 5, -1, 0, true, false, 0 },
                                         { 120, 0, -1, -1, 0, true, false, 0 } };
    static const struct {
        size_t lag, run;
    } orders[] = { { 0, 1 }, { 7, 1 }, { 7, 24 } };

    for (size_t i = 0; i < ARRAY_SIZE(plans) + 2; i++)
        for (size_t k = 0; k < ARRAY_SIZE(orders); k++) {
            size_t bytes, n[2];
            char *text = i < ARRAY_SIZE(plans)    ? trace_make(&plans[i], &bytes)
                         : i == ARRAY_SIZE(plans) ? trace_overlapped(20, 60, &bytes)
                                                  : trace_overlapped(60, 60, &bytes),
                 *other = reordered(text, bytes, orders[k].lag, orders[k].run);
            const struct view_verdict *d[2];
            struct trace_reader *r[2];
            struct err err = { "" };
            int rc[2];
            bool same;

            r[0] = read_pieces(text, bytes, 0, &err, &rc[0]);
            r[1] = read_pieces(other, strlen(other), 0, &err, &rc[1]);
            for (int j = 0; j < 2; j++)
                n[j] = view_verdicts_raised(trace_reader_view(r[j]), &d[j]);
            same = rc[0] == 0 && rc[1] == 0 && strlen(other) == bytes && n[0] == n[1];
            for (size_t j = 0; same && j < n[0]; j++)
                same = d[0][j].finding.class == d[1][j].finding.class &&
                       !strcmp(d[0][j].culprit[0], d[1][j].culprit[0]) &&
                       d[0][j].since_step == d[1][j].since_step &&
                       near(d[0][j].finding.slowdown, d[1][j].finding.slowdown, 0.01);
            ok(same && n[0] == (i != 2 && i != ARRAY_SIZE(plans) + 1),
               "trace %zu: with nodes %zu lines apart, in runs of %zu, its verdicts are the same\n%zu, %zu: %s, %s",
               i, orders[k].lag, orders[k].run, n[0], n[1], n[0] ? d[0]->text : "", n[1] ? d[1]->text : "");
            for (int j = 0; j < 2; j++)
                trace_reader_free(r[j]);
            free(text);
            free(other);
        }
}

/* A report that is drawn while the trace is read takes prices that its end takes again. */
static void check_watched(void)
{
    enum { KINDS = 4, PIECE = 512, EACH = 5 };
    static const struct plan plans[] = { { 60, 20, 5, -1, 0.01, true, false, 0 },
                                         { 40, 20, -1, 6, 0, false, false, 0 },
                                         { 100, 50, -1, -1, 0, false, true, 0 } };

    for (size_t i = 0; i < KINDS; i++) {
        struct trace_reader *r = trace_reader_new(&params);
        size_t bytes, looks = 0;
        char *text = i < ARRAY_SIZE(plans) ? trace_make(&plans[i], &bytes) : trace_overlapped(20, 50, &bytes);
        char *whole = answer_of(text, bytes, 0), *watched;
        struct err err;

        for (size_t at = 0; at < bytes; at += PIECE) {
            trace_reader_feed(r, text + at, PIECE < bytes - at ? PIECE : bytes - at, &err);
            if (++looks % EACH == 0)
                free(answer_so_far(r));
        }
        trace_reader_finish(r, &err);
        watched = answer_so_far(r);
        ok(looks > 100 && !strcmp(watched, whole),
           "what is said in the end is the same where it was watched, byte for byte\n%zu looks",
           looks / EACH);
        free(watched);
        free(whole);
        free(text);
        trace_reader_free(r);
    }
}

int main(void)
{
    check_messages();
    check_completed_late();
    check_price_of_early();
    check_lines();
    check_aliases();
    check_fatal();
    check_counted();
    check_backward();
    check_partly();
    check_held_up();
    check_untimed();
    check_beyond();
    check_turns();
    check_pieces();
    check_watched();
    check_orders();
    check_slow_node();
    check_prefixes();
    check_all_slower();
    check_single_delays();
    check_first_a_verdict();
    check_never_left();
    check_verdicts();
    return done_testing();
}
