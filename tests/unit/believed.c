/* No figure of a report is longer than what was seen, nor a share more than all, however far clocks lie
 * apart.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "ctl/analyze.h"
#include "tests/tap.h"
#include "tests/text.h"
#include "trace/reader.h"

enum { RANKS = 8, STEPS = 60 };

/* Stages of a pipeline: each even rank sends to the odd one behind it, each on a node of its own. */
static const struct program {
    const char *what;
    bool back;     /* messages go back too */
    bool world;    /* all ranks meet at the end of a step */
    bool replicas; /* the ranks of a stage sum what they worked out, beside their work */
    int hangs;     /* from half of the steps on this rank does nothing; -1: none */
} programs[] = {
    { "messages one way", false, false, false, -1 },
    { "messages one way, sums of stages", false, false, true, -1 },
    { "messages both ways, sums of stages", true, false, true, -1 },
    { "messages one way, all meet", false, true, false, -1 },
    { "messages both ways, all meet, sums of stages", true, true, true, -1 },
    { "messages both ways, sums of stages, a hang", true, false, true, 4 },
};

/* What a rank's clock shows: days from any other's. */
static unsigned long long clock_ns(int rank, double s)
{
    return (unsigned long long)((rank * 37 % RANKS + 1) * 130000.0 * 1e9 + s * 1e9);
}

static void put_message(struct text *t, int from, int to, int number, double sent_s, double asked_s)
{
    double got_s = (asked_s > sent_s ? asked_s : sent_s) + 0.0002;

    put(t, "{\"r\":%d,\"c\":\"world\",\"s\":%d,\"o\":\"send\",\"b\":4096,\"p\":%d,\"g\":1,\"t0\":%llu", from,
        number, to, clock_ns(from, sent_s));
    put(t, ",\"t1\":%llu}\n", clock_ns(from, sent_s + 0.0001));
    put(t, "{\"r\":%d,\"c\":\"world\",\"s\":%d,\"o\":\"recv\",\"b\":4096,\"p\":%d,\"g\":1,\"t0\":%llu", to,
        number, from, clock_ns(to, asked_s));
    put(t, ",\"t1\":%llu}\n", clock_ns(to, got_s));
}

static char *trace_of(const struct program *p)
{
    struct text t = { 0 };

    put(&t, "{\"format\":\"syncguard-trace\",\"version\":2,\"job\":\"1\",\"ranks\":[");
    for (int r = 0; r < RANKS; r++)
        put(&t, "%s{\"rank\":%d,\"node\":\"n%d\",\"switch\":\"s%d\"}", r ? "," : "", r, r, r / 4);
    put(&t, "]}\n");
    for (int step = 0; step < STEPS; step++) {
        double at_s = step * 0.1;
        bool hangs = p->hangs >= 0 && step >= STEPS / 2;

        for (int r = 0; r < RANKS; r += 2) {
            double late_s = 0.003 * ((step * 7 + r) % 5);

            if (hangs && r == p->hangs)
                continue;
            put_message(&t, r, r + 1, step, at_s + 0.02 + late_s, at_s + 0.025);
            if (p->back)
                put_message(&t, r + 1, r, step, at_s + 0.05, at_s + 0.051 + late_s);
        }
        for (int r = 0; p->replicas && r < RANKS; r++) {
            if (hangs && r == p->hangs)
                continue;
            put(&t, "{\"r\":%d,\"c\":\"dp%d\",\"s\":%d,\"o\":\"allreduce\",\"b\":65536,\"ti\":%llu", r, r % 2,
                step, clock_ns(r, at_s + 0.06));
            put(&t, ",\"t0\":%llu", clock_ns(r, at_s + 0.09));
            if (hangs && r % 2 == p->hangs % 2)
                put(&t, ",\"t1\":null}\n");
            else
                put(&t, ",\"t1\":%llu}\n", clock_ns(r, at_s + 0.0901));
        }
        for (int r = 0; p->world && r < RANKS; r++) {
            put(&t, "{\"r\":%d,\"c\":\"world\",\"s\":%d,\"o\":\"barrier\",\"b\":0,\"t0\":%llu", r, step,
                clock_ns(r, at_s + 0.095 + 0.0001 * ((step + r) % 3)));
            put(&t, ",\"t1\":%llu}\n", clock_ns(r, at_s + 0.096));
        }
        if (hangs)
            break;
    }
    return t.s;
}

/* ---- each figure ---- */

struct walk {
    double most_s;
    uint32_t figures, beyond;
    char first[256]; /* of those that are beyond */
};

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);

    return n >= m && !strcmp(s + n - m, end);
}

/* Of what is planned, not observed: a job of another size may be faster. */
static bool is_planned(const char *key)
{
    return !strcmp(key, "scaling") || !strcmp(key, "strategies");
}

static void look_at(struct walk *w, const json_t *o, const char *key, bool seconds, bool share);

static void walk_object(struct walk *w, const json_t *o, bool seconds, bool share)
{
    const char *key;
    json_t *v;

    json_object_foreach((json_t *)o, key, v) {
        bool is_s = ends_with(key, "_s") && !ends_with(key, "per_s"), ratio = ends_with(key, "_ratio");

        if (is_planned(key) || !strcmp(key, "rhythm_ratio") || ends_with(key, "_steps"))
            continue;
        look_at(w, v, key, is_s || (seconds && !ratio), ratio || (share && !is_s));
    }
}

static void look_at(struct walk *w, const json_t *o, const char *key, bool seconds, bool share)
{
    const json_t *v;
    size_t i;

    if (json_is_object(o))
        walk_object(w, o, seconds, share);
    json_array_foreach((json_t *)o, i, v)
        look_at(w, v, key, seconds, share);
    if (!json_is_number(o) || !(seconds || share))
        return;
    w->figures++;
    if (json_number_value(o) >= 0 && json_number_value(o) <= (seconds ? w->most_s : 1))
        return;
    if (!w->beyond++)
        snprintf(w->first, sizeof(w->first), "%s: %g", key, json_number_value(o));
}

static void check_program(const struct program *p)
{
    static const struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 30 };
    struct trace_reader *r = trace_reader_new(&params);
    char *text = trace_of(p);
    struct report *report;
    struct walk w = { 0 };
    struct err err = { "" };
    json_t *answer;

    ok(trace_reader_feed(r, text, strlen(text), &err) == 0 && trace_reader_finish(r, &err) == 0,
       "%s: the trace is read\n%s", p->what, err.text);
    report = analyze_report(r, true);
    answer = report_json(report);
    /* mds_ratio is a slowdown, which is above 1 */
    json_object_del(answer, "mds_ratio");
    w.most_s = json_number_value(json_object_get(json_object_get(answer, "trace"), "seconds"));
    ok(w.most_s > 1 && w.most_s < STEPS * 0.1 + 1, "%s: it is as long as what it holds\n%g s", p->what,
       w.most_s);
    look_at(&w, answer, "", false, false);
    ok(w.figures && !w.beyond, "%s: no figure is beyond what was seen\n%u of %u, %s", p->what, w.beyond,
       w.figures, w.first);
    json_decref(answer);
    report_free(report);
    trace_reader_free(r);
    free(text);
}

int main(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
        check_program(&programs[i]);
    return done_testing();
}
