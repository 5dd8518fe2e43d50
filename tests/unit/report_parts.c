/* Parts of a report: what is written of a struct is read into the same struct, and written again it is the
 * same; keys in the order of sgctl(1). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "report/report_cadence.h"
#include "report/report_control.h"
#include "report/report_launch.h"
#include "report/report_pace.h"
#include "report/report_past.h"
#include "report/report_seen.h"
#include "tests/tap.h"
#include "wire/json.h"

/* Takes both. */
static void is_json(json_t *got, const char *want, const char *what)
{
    char *text = got ? json_dumps(got, JSON_COMPACT | JSON_REAL_PRECISION(6)) : xstrdup("null");

    is_str(text, want, "%s", what);
    free(text);
    json_decref(got);
}

static json_t *json(const char *text)
{
    return json_loads(text, 0, NULL);
}

/* A FIELD_PART of a report. */
static void read_part(void *to, const json_t *o, const struct json_field *field)
{
    *(bool *)to = json_is_object(o);
    json_get_fields(to, o, field);
}

static json_t *part_json(const void *from, const struct json_field *field)
{
    return *(const bool *)from ? json_of_fields(from, field) : NULL;
}

static void test_launch(void)
{
    static const char placement[] =
        "{\"pattern\":\"ring\",\"applied\":true,\"compared\":true,\"slurm_s\":0.5,\"chosen_s\":0.25,"
        "\"effect\":{\"placed\":4,\"held_out\":3,\"ratio\":0.75,\"low\":0.5,\"high\":null,\"text\":\"\"}}";
    static const char algorithm[] = "{\"name\":null,\"applied\":false,\"compared\":false,\"usual_s\":null,"
                                    "\"most_s\":null,\"effect\":null}";
    struct report_placement p;
    struct report_algorithm a;
    json_t *o = json(placement);

    read_part(&p, o, report_placement_fields);
    json_decref(o);
    is_json(part_json(&p, report_placement_fields), placement,
            "an order with its effect is written as it was read");
    read_part(&p, NULL, report_placement_fields);
    is_json(part_json(&p, report_placement_fields), "null", "an order that was not read is null");
    o = json(algorithm);
    read_part(&a, o, report_algorithm_fields);
    json_decref(o);
    is_json(part_json(&a, report_algorithm_fields), algorithm,
            "that no algorithm is faster is written as it was read");
    ok(!a.effect.known && a.effect.placed < 0, "an effect that was not read is unknown");
}

static void test_past(void)
{
    static const char past[] =
        "{\"runs\":6,\"step_p50_s\":0.5,\"step_ratio\":1.5,\"run_spread\":0.125,\"spread_ratio\":null,"
        "\"reruns\":1,\"starts\":7,\"energy_j_per_step\":12.5,\"energy_ratio\":1.25,\"unusual\":true,"
        "\"text\":\"slower than 6 earlier runs\"}";
    static const char guarded[] =
        "{\"reference\":\"hold-out\",\"text\":\"it helps\",\"ratios\":{\"step\":{\"reference\":\"hold-out\","
        "\"value\":0.75,\"low\":0.5,\"high\":0.875,\"selected\":false},\"throughput\":null,\"cv\":null,"
        "\"synchronisation\":null,\"skew\":{\"reference\":\"before\",\"value\":0.5,\"low\":null,"
        "\"high\":null,\"selected\":true},\"energy\":null}}";
    struct report_past p;
    struct report_guarded g;
    json_t *o = json(past);

    read_part(&p, o, report_past_fields);
    json_decref(o);
    is_json(part_json(&p, report_past_fields), past,
            "a comparison with earlier runs is written as it was read");
    read_part(&p, NULL, report_past_fields);
    is_json(part_json(&p, report_past_fields), "null", "a comparison that was not read is null");
    o = json(guarded);
    report_guarded_read(&g, o);
    json_decref(o);
    is_json(report_guarded_json(&g), guarded, "ratios under the guard are written as they were read");
    ok(g.known, "the guard's effect is known where the ratio of the step time is");
    report_guarded_read(&g, NULL);
    ok(!g.known && !*g.ratio[GUARDED_STEP].reference,
       "the guard's effect is unknown where there are no ratios");
}

static void test_seen(void)
{
    static const char probe[] =
        "{\"events\":9000,\"dropped\":1,\"missed\":2,\"messages_missed\":3,\"streams_forgotten\":4,"
        "\"comms_missed\":5,\"messages_unplaced\":6,\"comms_disputed\":8,\"tasks\":9,\"ranks_guarded\":7,\"ranks_total\":null,"
        "\"overhead_ratio\":0.125}";
    static const char silent[] = "{\"number\":12,\"nodes\":[\"n1\",\"n2\"]}";
    struct report_unseen u = { .known = true, .reason = "static", .processes = 8, .nodes = 2, .node = "n1" };
    struct report_probe p;
    struct report_silent s;
    char names[64];
    json_t *o = json(probe);

    read_part(&p, o, report_probe_fields);
    json_decref(o);
    is_json(part_json(&p, report_probe_fields), probe, "what probes recorded is written as it was read");
    o = json(silent);
    json_get_fields(&s, o, report_silent_fields);
    json_decref(o);
    is_json(json_of_fields(&s, report_silent_fields), silent,
            "agents that are not heard are written as they were read");
    is_str(report_silent_names(&s, SIZE_MAX, names, sizeof(names)), "n1, n2 and 10 more",
           "and are counted beyond those whose names are kept");
    is_str(report_silent_names(&s, 1, names, sizeof(names)), "n1 and 11 more", "or shown");
    json_texts_free(&s.nodes);
    json_get_fields(&s, NULL, report_silent_fields);
    ok(s.number < 0 && !s.nodes.n, "how many agents are not heard is unknown where it was not read");
    is_json(part_json(&u, report_unseen_fields),
            "{\"reason\":\"static\",\"processes\":8,\"nodes\":2,\"node\":\"n1\",\"text\":null}",
            "unseen processes are written with every key");
    u.known = false;
    is_json(part_json(&u, report_unseen_fields), "null", "where no processes are unseen there is null");
}

static void test_cadence(void)
{
    static const char off[] = "{\"mode\":\"off\"}";
    static const char checkpoint[] =
        "{\"mode\":\"request\",\"interval_s\":600.0,\"optimal_s\":500.0,\"reason\":\"interval\","
        "\"cost_s\":{\"value\":2.0,\"low\":1.0,\"high\":4.0},\"cost_source\":\"program\","
        "\"failure_rate\":{\"value\":0.5,\"low\":0.25,\"high\":0.75,\"failures\":3.0,\"node_days\":6.0,"
        "\"source\":\"slurm\",\"source_text\":null,\"own_failures\":1.0},\"mtbf_s\":7.0,"
        "\"goodput_most\":0.875,\"written\":null,\"last_s\":null,\"next_due_s\":-1.0,\"lost_work_s\":9.0,"
        "\"perhaps\":{\"pause_s\":1.5,\"age_s\":2.5},\"too_late\":true,\"limit_s\":null,"
        "\"notice_s\":null,\"callers\":8,\"requests\":{\"asked\":5,\"heard\":1,\"delivered\":1,"
        "\"failed\":2,\"split\":1,\"newest\":{\"reason\":\"by hand\",\"state\":\"heard\",\"call\":null,"
        "\"age_s\":0.5},\"missing\":null}}";
    struct report_cadence c;
    json_t *o = json(checkpoint);

    report_cadence_read(&c, o);
    json_decref(o);
    is_json(report_cadence_json(&c), checkpoint, "checkpoints are written as they were read");
    o = json(off);
    report_cadence_read(&c, o);
    json_decref(o);
    is_json(report_cadence_json(&c), off,
            "of checkpoints that are left to the program only the mode is written");
    ok(isnan(c.interval_s) && c.asked < 0 && !c.perhaps.known && !c.newest.known,
       "of checkpoints that are left to the program all else is unknown");
}

static void test_pace(void)
{
    static const char pace[] =
        "{\"levers\":\"spin,hold\",\"max_delay_s\":0.5,\"share\":0.25,\"epoch\":12,\"holdout\":4,"
        "\"held\":null,\"nodes\":["
        "{\"mode\":\"in force\",\"lever\":\"spin\",\"ranks\":8,\"cores\":8,\"collectives\":90,"
        "\"with\":60,\"without\":30,\"late_holds\":null,\"switches_hz\":null,\"wait_ratio\":0.5,"
        "\"levers\":[{\"lever\":\"spin\",\"why\":\"it helps\",\"compared\":9,\"ratio\":0.5,"
        "\"low\":0.25,\"high\":0.75}],\"node\":\"n1\"},"
        "{\"mode\":\"trial\",\"lever\":\"hold\",\"ranks\":8,\"cores\":8,\"collectives\":90,"
        "\"with\":60,\"without\":30,\"late_holds\":2,\"switches_hz\":null,\"wait_ratio\":null,"
        "\"levers\":[{\"lever\":\"spin\",\"why\":\"it does not\",\"compared\":12,\"ratio\":1.5,"
        "\"low\":null,\"high\":null},{\"lever\":\"hold\",\"why\":null,\"compared\":0,"
        "\"ratio\":null,\"low\":null,\"high\":null}],\"node\":\"n2\"}]}";
    struct report_lever lever[REPORT_LEVERS_MAX];
    struct report_pace p;
    json_t *o = json(pace);

    report_pace_read(&p, o);
    json_decref(o);
    is_json(report_pace_json(&p), pace, "pacing is written as it was read");
    is_int((long long)report_pace_levers(&p, lever), 2, "each lever is counted once over all nodes");
    ok(lever[0].in_force == 1 && lever[0].compared == 12 && lever[0].ratio == 1.5 &&
           !strcmp(lever[0].why, "it does not"),
       "a lever has the ratio of the node where most was compared");
    ok(lever[1].trial == 1 && !lever[1].in_force && isnan(lever[1].ratio),
       "a lever on trial has no ratio yet");
    report_pace_free(&p);
    report_pace_read(&p, NULL);
    ok(!p.known && !p.n && !report_pace_levers(&p, lever), "pacing that was not read is unknown");
    report_pace_free(&p);
}

#define DECISION                                                                                                  \
    "{\"id\":7,\"at\":100.5,\"job\":\"12.0\",\"restarts\":1,\"policy\":\"balanced\",\"state\":\"enforced\","      \
    "\"by\":null,\"rule\":\"slow-node\",\"action\":\"exclude\",\"signal\":null,\"nodes\":[\"n1\",\"n2\"],"        \
    "\"sentence\":\"because\",\"why_not\":null,\"projected_ratio\":0.5,\"outcome\":\"done\","                     \
    "\"outcome_text\":null,\"step_before_s\":2.0,\"effect_ratio\":0.75,\"effect_low\":null,\"effect_high\":null," \
    "\"effect\":\"faster\"}"
#define RULE                                                                                                   \
    "\"name\":\"slow-node\",\"text\":null,\"when\":\"slowdown > 1.2\",\"module\":null,\"action\":\"exclude\"," \
    "\"signal\":null,\"hold_s\":60.0,\"hysteresis_ratio\":0.125,\"cool_down_s\":600.0,\"max_per_job\":null"
#define PARAMS                                                                                                 \
    "\"params\":[{\"key\":\"HangTimeout\",\"value\":\"60 s\",\"number\":60.0,\"default\":\"\",\"unit\":\"s\"," \
    "\"range\":\"a time\",\"min\":1.0,\"max\":null,\"meaning\":\"How long.\",\"set\":true}]"

static void test_control(void)
{
    static const char control[] =
        "{\"name\":\"balanced\",\"text\":null,\"action\":\"enforce\",\"beyond_enforced\":false,"
        "\"paused\":true," PARAMS ",\"rules\":[{" RULE ",\"phase\":\"holding\",\"why_not\":null,"
        "\"truth\":\"yes\",\"terms\":[{\"text\":\"slowdown > 1.2\",\"value\":\"1.3\",\"truth\":\"yes\"}],"
        "\"held_s\":5.0,\"cooling_s\":null,\"acted\":1,\"last\":" DECISION "}],"
        "\"budget\":{\"actions\":1,\"actions_per_hour\":4,\"nodes\":2,\"nodes_per_hour\":3,"
        "\"nodes_at_once\":1,\"cluster_actions\":5,\"cluster_actions_per_hour\":20,\"cluster_nodes\":6,"
        "\"cluster_nodes_per_hour\":10},\"decisions\":[" DECISION "," DECISION "]}";
    static const char policy[] = "{\"name\":\"observe\",\"text\":\"Only looks.\",\"action\":\"dryrun\","
                                 "\"default\":true,\"jobs\":3,\"rules\":[{" RULE "}]," PARAMS "}";
    struct report_control c;
    struct report_policy p;
    json_t *o = json(control);

    report_control_read(&c, o);
    json_decref(o);
    is_json(report_control_json(&c), control, "a job's policy is written as it was read");
    report_control_free(&c);
    o = json(policy);
    report_policy_read(&p, o);
    json_decref(o);
    is_json(report_policy_json(&p), policy, "a policy as configured is written as it was read");
    report_policy_free(&p);
    report_control_read(&c, NULL);
    ok(!c.known && !*c.action && !c.rules.list && !c.decisions.n && !c.budget.known,
       "a policy that was not read is unknown");
    report_control_free(&c);
}

int main(void)
{
    test_launch();
    test_past();
    test_seen();
    test_cadence();
    test_pace();
    test_control();
    return done_testing();
}
