/* What programs mark of their steps, in the view: phases on the typical rank, who deviates, whose value is no
 * number. */
#include <jansson.h>

#include "report/report_marks.h"
#include "report/report_overlap.h"
#include "tests/tap.h"
#include "view/marks.h"
#include "view/view_private.h"

#define RANKS 4u
#define MS    UINT64_C(1000000)

static const struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 30 };

static struct view *four_ranks(void)
{
    struct view *v = view_new(&params, 0);
    char node[16];

    for (uint32_t r = 0; r < RANKS; r++) {
        snprintf(node, sizeof(node), "node%u", r / 2);
        view_rank_add(v, r, 0, node, NULL);
    }
    return v;
}

/* Steps of so much input, and 60 ms of other phases. */
static struct telemetry_item steps_of(uint32_t rank, uint32_t steps, uint64_t input_ms)
{
    return (struct telemetry_item){ .kind = TELEMETRY_PHASES,
                                    .phases = { .rank = rank,
                                                .phase = MARKS_INPUT,
                                                .age_ns = 3000 * MS,
                                                .used = 1u << MARKS_INPUT | 1u << MARKS_FORWARD |
                                                        1u << MARKS_BACKWARD,
                                                .steps = steps,
                                                .duration_ns = steps * (60 + input_ms) * MS,
                                                .phase_ns = { [MARKS_INPUT] = steps * input_ms * MS,
                                                              [MARKS_FORWARD] = steps * 20 * MS,
                                                              [MARKS_BACKWARD] = steps * 35 * MS,
                                                              [MARKS_OTHER] = steps * 5 * MS } } };
}

static void value(struct view *v, double now_s, uint32_t rank, enum marks_value which, uint64_t given,
                  uint64_t since, double newest)
{
    struct telemetry_item i = { .kind = TELEMETRY_VALUE,
                                .value = { .rank = rank,
                                           .value = (uint8_t)which,
                                           .given = given,
                                           .since = since,
                                           .non_finite = since ? given - since + 1 : 0,
                                           .newest = newest } };

    view_item(v, now_s, &i);
}

static void put(struct view *v, double now_s, struct telemetry_item i)
{
    view_item(v, now_s, &i);
}

/* An event about values, once time passes. */
static bool said(struct view *v, double now_s, struct view_event *e)
{
    step_marks_roll(v->marks, now_s);
    return view_event_take(v, e);
}

static json_t *phases_of(const struct view *v, double now_s, const struct report_overlap *overlap)
{
    struct report_step_phases s;

    report_step_phases_get(&s, v, now_s, overlap);
    return report_step_phases_json(&s);
}

static void phases(void)
{
    struct report_overlap none = { .missing = "no steps are seen yet" };
    struct view *v = four_ranks();
    struct view_marked m;
    struct view_figures figures;
    struct telemetry_item bad = steps_of(0, 10, 10);
    char slow[256] = "its CPU is shared", none_of_it[256] = "";
    double age_s = NAN;
    json_t *o;

    ok(!view_marked_get(v, &m) && m.step.ranks == 0 && isnan(m.phase[MARKS_INPUT].median_s),
       "nothing is known of phases before a rank has marked one");
    ok(view_rank_phase(v, 0, 0, &age_s) == MARKS_PHASES, "no rank is known to be in a phase");
    o = phases_of(v, 0, &none);
    ok(json_integer_value(json_object_get(o, "ranks")) == 0 &&
           json_array_size(json_object_get(o, "phases")) == 0 && json_is_null(json_object_get(o, "step_s")) &&
           json_is_null(json_object_get(o, "inferred")) && json_is_null(json_object_get(o, "text")),
       "the report of a job that marks nothing has no phases, and no zero in their place");
    json_decref(o);
    for (uint32_t r = 0; r < RANKS; r++)
        put(v, 1, steps_of(r, 10, r == 3 ? 50 : 10));
    ok(view_marked_get(v, &m), "ranks that mark steps are known");
    is_near(m.step.median_s, 0.070, 1e-9, "the typical rank's step takes 70 ms");
    is_near(m.phase[MARKS_INPUT].median_s, 0.010, 1e-9, "the typical rank waits 10 ms for input");
    ok(near(m.phase[MARKS_INPUT].most_s, 0.050, 1e-9) && m.phase[MARKS_INPUT].most_rank == 3,
       "the rank that waits longest for input is known");
    ok(m.phase[MARKS_OPTIMIZER].ranks == 0 && isnan(m.phase[MARKS_OPTIMIZER].median_s),
       "a phase that nobody marks is unknown, not zero");
    is_near(m.phase[MARKS_OTHER].median_s, 0.005, 1e-9,
            "what is in no phase is known where phases are marked");
    ok(view_rank_phase(v, 1, 3, &age_s) == MARKS_INPUT && near(age_s, 3, 1e-6),
       "the phase that a rank is in is known, and for how long\n%g s", age_s);
    o = phases_of(v, 1, &none);
    is_str(
        json_string_value(json_object_get(o, "text")),
        "input 10.0 ms (14.3 %), forward 20.0 ms (28.6 %), backward 35.0 ms (50.0 %), other 5.00 ms (7.14 %); input takes "
        "longest on rank 3 on node1: 50.0 ms",
        "the report says what a step consists of, and which rank deviates");
    is_int((long long)json_array_size(json_object_get(o, "phases")), 4,
           "the report has the four phases that are known");
    json_decref(o);
    step_marks_cause(v->marks, SCOPE_RANK, 3, slow, sizeof(slow));
    is_str(slow,
           "its CPU is shared; it waits 50.0 ms a step for input, the typical rank 10.0 ms, by its own marks",
           "of a slow rank its marks are a cause, behind others");
    step_marks_cause(v->marks, SCOPE_RANK, 2, none_of_it, sizeof(none_of_it));
    is_str(none_of_it, "", "of a rank like the others its marks are none");
    step_marks_inside(v->marks, 1, 2, none_of_it, sizeof(none_of_it));
    is_str(none_of_it, "by its own marks it is in the phase input of its step",
           "of a rank that holds up the others its phase is");
    for (int i = 0; i < 60; i++)
        put(v, 2 + i, steps_of(3, 10, 10));
    view_marked_get(v, &m);
    is_near(m.phase[MARKS_INPUT].most_s, 0.010, 0.01, "a minute later older steps do not count any more");
    bad.phases.phase_ns[MARKS_INPUT] += 1;
    put(v, 62, bad);
    bad = steps_of(0, 0, 0);
    bad.phases.duration_ns = 1;
    put(v, 62, bad);
    view_figures_get(v, 62, &figures);
    is_int((long long)figures.refused, 2, "items whose phases do not add up to the steps are refused");
    view_free(v);
}

/* The same, as a guest sees them. */
static struct telemetry_item seen_of(uint32_t rank, uint32_t steps, uint64_t input_ms)
{
    struct telemetry_item i = steps_of(rank, steps, input_ms);

    i.phases.used |= MARKS_SEEN;
    return i;
}

static void seen(void)
{
    struct report_overlap none = { .missing = "no steps are seen yet" };
    struct view *v = four_ranks();
    struct view_marked m;
    char still[256] = "", works[256] = "";
    struct telemetry_item own;
    json_t *o;

    for (uint32_t r = 0; r < RANKS; r++)
        put(v, 1, seen_of(r, 10, r == 3 ? 50 : 10));
    view_marked_get(v, &m);
    ok(m.seen && near(m.phase[MARKS_INPUT].most_s, 0.050, 1e-9) && m.phase[MARKS_INPUT].most_rank == 3,
       "phases that a guest sees are known where a program marks none");
    o = phases_of(v, 1, &none);
    is_str(json_string_value(json_object_get(o, "source")), "PyTorch", "the report has their source");
    is_str(
        json_string_value(json_object_get(o, "text")),
        "still before forward 10.0 ms (14.3 %), forward 20.0 ms (28.6 %), backward 35.0 ms (50.0 %), other 5.00 ms (7.14 %); "
        "still before forward takes longest on rank 3 on node1: 50.0 ms; as PyTorch's calls show",
        "and names what a guest cannot know to be input by what it sees");
    json_decref(o);
    step_marks_cause(v->marks, SCOPE_RANK, 3, still, sizeof(still));
    is_str(
        still,
        "it stands still for 50.0 ms before each forward pass (waiting for input?), the typical rank for 10.0 ms, as PyTorch's "
        "calls show",
        "of a slow rank they are a cause, which says what is not certain");
    *still = '\0';
    step_marks_cause(v->marks, SCOPE_NODE, roster_at(v->roster, 3)->node, still, sizeof(still));
    is_str(still, "", "of a node whose ranks do not do the same they are none");
    put(v, 1000, seen_of(2, 10, 50)); /* steps of before do not count any more */
    step_marks_cause(v->marks, SCOPE_NODE, roster_at(v->roster, 3)->node, still, sizeof(still));
    ok(strstr(still, "its 2 ranks stand still for ") == still, "of one whose ranks do they are\n%s", still);
    put(v, 2000, seen_of(2, 10, 10));
    own = seen_of(2, 10, 10);
    own.phases.phase_ns[MARKS_OTHER] += 400 * MS;
    own.phases.duration_ns += 400 * MS;
    put(v, 2000, own);
    step_marks_cause(v->marks, SCOPE_RANK, 2, works, sizeof(works));
    ok(strstr(works, "it works for ") == works &&
           strstr(
               works,
               " before each forward pass (optimizer, preparing input), the typical rank for 5.00 ms, as PyTorch's"),
       "so is what it does before a forward pass\n%s", works);
    own = steps_of(3, 0, 0);
    own.phases.used = 0;
    put(v, 3, own);
    put(v, 3, steps_of(1, 1, 30));
    put(v, 3, seen_of(1, 10, 10));
    view_marked_get(v, &m);
    ok(near(m.phase[MARKS_INPUT].most_s, 0.050, 1e-9) && m.phase[MARKS_INPUT].ranks == RANKS,
       "a program that marks no phase leaves what a guest sees");
    own = steps_of(3, 1, 10);
    put(v, 4, own);
    view_marked_get(v, &m);
    is_near(m.phase[MARKS_INPUT].most_s, 0.030, 1e-9, "what a program marks takes its place, and stays");
    view_free(v);
}

/* A job that marks nothing: 100 ms a step, of which 20 ms hold a rank. */
static void inferred(void)
{
    struct report_overlap o = { .step_s = 0.100,
                                .all = { .waiting_s = 0.005,
                                         .exposed_s = 0.015,
                                         .ready_s = 0.030,
                                         .hidden_s = { 0.025, 0.020, 0.030 } } };
    struct view *v = four_ranks();
    json_t *p = phases_of(v, 0, &o), *guess = json_object_get(p, "inferred");

    is_near(json_number_value(json_object_get(guess, "backward_s")), 0.030, 1e-9,
            "a backward pass is inferred from when its buckets become ready");
    is_near(json_number_value(json_object_get(guess, "rest_s")), 0.050, 1e-9,
            "the rest of the own work is not told apart");
    ok(json_integer_value(json_object_get(p, "ranks")) == 0 &&
           json_array_size(json_object_get(p, "phases")) == 0,
       "what is inferred does not stand among what is marked");
    ok(!strncmp(json_string_value(json_object_get(p, "text")), "inferred: ", 10),
       "the text says that it is inferred: %s", json_string_value(json_object_get(p, "text")));
    json_decref(p);
    o.all.ready_s = NAN;
    p = phases_of(v, 0, &o);
    guess = json_object_get(p, "inferred");
    ok(json_is_null(json_object_get(guess, "backward_s")) &&
           near(json_number_value(json_object_get(guess, "rest_s")), 0.080, 1e-9),
       "where no bucket shows it the backward pass is unknown, and all own work is the rest");
    json_decref(p);
    view_free(v);
}

static void values(void)
{
    struct view *v = four_ranks();
    struct view_non_finite bad;
    struct view_value x;
    struct view_event e;
    struct view_figures figures;
    struct report_values values_now, again = { 0 };
    char sentence[512];
    json_t *o;

    ok(!view_values_known(v), "without values none is known");
    for (uint32_t r = 0; r < RANKS; r++)
        value(v, 1, r, MARKS_LOSS, 100, 0, 2 + r);
    ok(view_values_known(v) && !view_non_finite(v), "losses that are finite are known to be");
    ok(view_value_get(v, MARKS_LOSS, &x) && x.least == 2 && x.most == 5 && x.step == 100 && x.ranks == 4,
       "the report has the range of the losses, and their step");

    /* Rank 2 first; its gradient reaches the others in the same step, whose losses follow a step later. */
    value(v, 2, 0, MARKS_LOSS, 102, 102, NAN);
    ok(said(v, 2, &e) && strstr(e.text, "loss of rank 0 on node0"),
       "a loss that is not finite is an event: %s", e.text);
    value(v, 2, 1, MARKS_LOSS, 102, 102, NAN);
    ok(!said(v, 2, &e), "further ranks of the same step are no further event");
    value(v, 2, 2, MARKS_LOSS, 101, 101, INFINITY);
    ok(said(v, 2, &e) && strstr(e.text, "loss of rank 2 on node1"),
       "a rank that was earlier, and is heard of later, is one: %s", e.text);
    value(v, 2, 3, MARKS_GRAD_NORM, 101, 101, NAN);
    ok(view_non_finite_get(v, &bad) && bad.rank == 2 && bad.step == 101 && bad.value == MARKS_LOSS &&
           bad.ranks == 1,
       "the first is the rank of the earliest step, by its loss before a gradient");
    is_str(view_sentence(v, 2, sentence, sizeof(sentence)),
           "The loss of rank 2 on node1 is not a finite number since step 101.",
           "the sentence about the job says it");
    report_values_get(&values_now, v, 2);
    o = json_of_fields(&values_now, report_values_fields);
    json_get_fields(&again, o, report_values_fields);
    ok(!memcmp(&again, &values_now, sizeof(again)), "values are read as they were written");
    ok(json_integer_value(json_object_get(json_object_get(o, "non_finite"), "rank")) == 2 &&
           json_integer_value(json_object_get(json_object_get(o, "loss"), "non_finite")) == 3 &&
           json_integer_value(json_object_get(json_object_get(o, "loss"), "step")) == 102,
       "the report has the first rank, and how many there are now");
    json_decref(o);

    value(v, 3, 2, MARKS_LOSS, 100, 0, 1);
    ok(view_non_finite_get(v, &bad) && bad.rank == 2, "a value that is older than the newest is ignored");
    for (uint32_t r = 0; r < RANKS; r++)
        value(v, 3, r, MARKS_LOSS, 110, 0, 1);
    value(v, 3, 3, MARKS_GRAD_NORM, 110, 0, 1);
    ok(!view_non_finite(v) && said(v, 2, &e) && strstr(e.text, "finite again"),
       "that all are finite again is an event: %s", e.text);
    for (uint32_t r = 0; r < RANKS; r++)
        value(v, 4, r, MARKS_GRAD_NORM, 120, 120, INFINITY);
    is_str(
        view_sentence(v, 4, sentence, sizeof(sentence)),
        "The norm of the gradient is not a finite number since step 120, on rank 0 and 3 others alike: on which of them it began "
        "cannot be told.",
        "of a gradient that all ranks share it is said that nobody can be named");
    value(v, 5, 0, MARKS_LOSS, UINT64_MAX, 0, 1);
    value(v, 5, 0, MARKS_LOSS, 120, 121, NAN);
    value(v, 5, 0, MARKS_LOSS, 121, 0, NAN);
    value(v, 5, 0, MARKS_LOSS, 121, 121, 1);
    view_figures_get(v, 5, &figures);
    is_int((long long)figures.refused, 4,
           "values that contradict themselves, or were given more often than can be, are refused");
    view_rank_add(v, 0, 1, "node0", NULL);
    ok(!view_non_finite(v) && !view_value_get(v, MARKS_LOSS, &x),
       "another program of the step begins without values");
    view_free(v);
}

/* A rank, or its agent, whose loss is a number and none in turn. */
static void turns(void)
{
    struct view *v = four_ranks();
    struct view_event e;

    for (uint64_t step = 1; step <= 201; step++)
        value(v, 1, 0, MARKS_LOSS, step, step & 1 ? step : 0, step & 1 ? NAN : 1);
    ok(said(v, 1, &e) && strstr(e.text, "since step 201"),
       "of a loss that turns with each item the newest turn is said: %s", e.text);
    ok(!said(v, 1.25, &e), "it is said once");
    value(v, 1.5, 0, MARKS_LOSS, 202, 0, 1);
    value(v, 1.5, 0, MARKS_LOSS, 203, 203, NAN);
    ok(said(v, 1.5, &e) && strstr(e.text, "since step 203"),
       "and said again when it was finite for a moment: %s", e.text);
    value(v, 1.75, 0, MARKS_LOSS, 204, 0, 1);
    value(v, 1.75, 0, MARKS_LOSS, 205, 205, NAN);
    value(v, 1.75, 0, MARKS_LOSS, 206, 0, 1);
    ok(said(v, 1.75, &e) && strstr(e.text, "finite again") && !said(v, 2, &e),
       "that it is over is said once, too: %s", e.text);
    view_free(v);
}

int main(void)
{
    phases();
    seen();
    inferred();
    values();
    turns();
    return done_testing();
}
