/* job/cadence with simulated agents and ranks: all ranks receive a request at the same call, whichever
 * message is late and whichever process dies or restarts. */
#include <stdlib.h>

#include "common/xalloc.h"
#include "job/cadence.h"
#include "job/job_figures.h"
#include "job/jobs.h"
#include "report/report_cadence.h"
#include "rules/condition.h"
#include "tests/random.h"
#include "tests/tap.h"
#include "view/view.h"
#include "wire/link.h"

#define NODES 4
#define RANKS 2 /* per node */
#define MAIL  256

/* A node: its control page and its ranks' counts; dead: the agent does not answer. */
struct node {
    uint64_t at, calls[RANKS], yes[RANKS], yes_at[RANKS];
    uint32_t app, state, own[RANKS]; /* own: the ranks' incarnations */
    int64_t serial;
    bool dead, missed, notice;
    double delay_s;   /* additional delay of messages, each way */
    double last_s[2]; /* when the latest message each way arrives; messages stay in order */
    uint64_t writes;
    double write_s;
    bool writing;
};

/* A message in transit, to a node or from it. */
struct mail {
    double at_s;
    int node;
    bool to_node;
    json_t *o;
};

static struct world {
    struct job *j;
    struct node node[NODES];
    struct mail mail[MAIL];
    double now_s, step_s, next_s, last_report_s, ticked_s;
    uint64_t step;
    int split; /* steps at which only some ranks received a request */
    int yes;   /* steps at which all ranks received one */
} w;

static void post(int node, bool to_node, json_t *o)
{
    double *last_s = &w.node[node].last_s[to_node];

    *last_s = fmax(*last_s + 1e-6, w.now_s + 0.0005 + 0.003 * uniform() + w.node[node].delay_s);
    for (size_t i = 0; i < MAIL; i++)
        if (!w.mail[i].o) {
            w.mail[i] = (struct mail){ *last_s, node, to_node, o };
            return;
        }
    json_decref(o);
}

/* The agents' links: each is the node it leads to. */
int link_send(struct link *l, enum link_frame type, const void *data, size_t bytes)
{
    (void)type;
    post((int)((struct node *)l - w.node), true, json_loadb(data, bytes, 0, NULL));
    return 0;
}

size_t link_pending_bytes(const struct link *l)
{
    (void)l;
    return 0;
}

static void report(int n)
{
    static const char *const states[] = { "none", "armed", "committed" };
    struct node *k = &w.node[n];
    uint64_t low = UINT64_MAX, high = 0, yes_low = UINT64_MAX, yes_high = 0;

    if (k->dead)
        return;
    for (int r = 0; r < RANKS; r++) {
        low = k->calls[r] < low ? k->calls[r] : low;
        high = k->calls[r] > high ? k->calls[r] : high;
        yes_low = k->yes_at[r] < yes_low ? k->yes_at[r] : yes_low;
        yes_high = k->yes_at[r] > yes_high ? k->yes_at[r] : yes_high;
    }
    post(n, false,
         json_pack("{s:{s:I,s:I,s:I,s:s,s:b},s:i,s:i,s:b,s:i,s:[I,I],s:[I,I],s:f,s:f,s:I,s:i,s:I,s:f,s:b}",
                   "asked", "serial", (json_int_t)k->serial, "at", (json_int_t)k->at, "app",
                   (json_int_t)k->app, "state", states[k->state], "missed", k->missed, "callers", RANKS,
                   "deaf", 0, "mixed", k->own[0] != k->own[1], "app", (int)k->own[0], "calls",
                   (json_int_t)low, (json_int_t)high, "yes_at", (json_int_t)yes_low, (json_int_t)yes_high,
                   "age_s", w.now_s - (w.next_s - w.step_s), "step_s", w.step_s, "samples",
                   (json_int_t)(high * 32), "writing", (int)k->writing, "writes", (json_int_t)k->writes,
                   "write_s", k->write_s, "notice", k->notice));
}

static void hear(int n, const json_t *o)
{
    const json_t *c = json_object_get(json_object_get(o, "control"), "checkpoint");
    const char *state = json_string_value(json_object_get(c, "state"));
    struct node *k = &w.node[n];

    if (k->dead || !state)
        return;
    k->serial = json_integer_value(json_object_get(c, "serial"));
    k->at = (uint64_t)json_integer_value(json_object_get(c, "at"));
    k->app = (uint32_t)json_integer_value(json_object_get(c, "app"));
    k->state = !strcmp(state, "committed") ? 2 : !strcmp(state, "armed");
    k->missed = false;
    for (int r = 0; r < RANKS; r++)
        k->missed |= k->calls[r] >= k->at;
    report(n);
}

/* The oldest message that has arrived; -1: none. */
static int arrived(void)
{
    int first = -1;

    for (int i = 0; i < MAIL; i++)
        if (w.mail[i].o && w.mail[i].at_s <= w.now_s && (first < 0 || w.mail[i].at_s < w.mail[first].at_s))
            first = i;
    return first;
}

static void deliver(void)
{
    int i;

    while ((i = arrived()) >= 0) {
        struct mail m = w.mail[i];

        w.mail[i].o = NULL;
        if (m.to_node)
            hear(m.node, m.o);
        else if (!w.node[m.node].dead)
            cadence_take(w.j, w.j->agent[m.node], w.now_s, m.o);
        json_decref(m.o);
    }
}

static void step(void)
{
    int yes = 0;

    w.step++;
    for (int n = 0; n < NODES; n++)
        for (int r = 0; r < RANKS; r++) {
            struct node *k = &w.node[n];

            k->calls[r]++;
            if (k->at == k->calls[r] && k->state == 2 && k->app == k->own[r]) {
                k->yes[r]++;
                k->yes_at[r] = k->calls[r];
                yes++;
            }
        }
    w.split += yes > 0 && yes < NODES * RANKS;
    w.yes += yes == NODES * RANKS;
}

/* Simulate this many seconds, a millisecond at a time. */
static void play(double seconds)
{
    double until_s = w.now_s + seconds;

    while (w.now_s < until_s) {
        w.now_s += 0.001;
        while (w.step_s > 0 && w.now_s >= w.next_s) {
            step();
            w.next_s += w.step_s * (1 + 0.01 * gauss());
        }
        deliver();
        if (w.now_s >= w.last_report_s + 1) {
            w.last_report_s = w.now_s;
            for (int n = 0; n < NODES; n++)
                report(n);
        }
        if (w.now_s >= w.ticked_s + 0.25) {
            w.ticked_s = w.now_s;
            w.j->heard_s = w.now_s;
            cadence_tick(w.j, w.now_s);
        }
    }
}

static struct config_policy policy = { .name = "test",
                                       .hang_timeout_s = 30,
                                       .min_slowdown_ratio = 1.02,
                                       .checkpoint = CONFIG_CHECKPOINT_REQUEST,
                                       .checkpoint_cost_s = 60,
                                       .checkpoint_min_interval_s = 1,
                                       .checkpoint_max_interval_s = 1e6,
                                       .preemption_grace_s = 30 };

static void controller(void)
{
    struct job_id id = { .uid = 1, .job = 7 };
    char name[8];

    w.j = job_new(&id, &policy, w.now_s);
    w.j->nodes_total = NODES;
    for (int n = 0; n < NODES; n++) {
        snprintf(name, sizeof(name), "%d", n);
        job_agent_get(w.j, name)->link = (struct link *)&w.node[n];
    }
    for (int n = 0; n < NODES; n++)
        cadence_hello(w.j, w.j->agent[n]);
}

static void begin(double step_s)
{
    w = (struct world){ .now_s = 1000, .step_s = step_s, .next_s = 1000 + step_s };
    for (int n = 0; n < NODES; n++)
        w.node[n].serial = -1;
    controller();
    play(3 + 3 * step_s);
}

static void end(void)
{
    for (size_t i = 0; i < MAIL; i++)
        json_decref(w.mail[i].o);
    job_free(w.j);
}

static void request(void)
{
    struct err err;

    if (cadence_request(w.j, "test", &err) < 0)
        printf("# refused: %s\n", err.text);
}

static json_t *figure(const char *a, const char *b)
{
    static json_t *last;
    struct report_cadence c;
    json_t *o;

    json_decref(last);
    cadence_get(&c, w.j, w.now_s);
    last = report_cadence_json(&c);
    o = json_object_get(last, a);
    return b ? json_object_get(o, b) : o;
}

static long long count(const char *key)
{
    return json_integer_value(figure("requests", key));
}

static void usual(void)
{
    static const double steps_s[] = { 0.0011, 0.01, 0.1, 0.5, 2, 7 };

    for (size_t i = 0; i < ARRAY_SIZE(steps_s); i++) {
        begin(steps_s[i]);
        for (int k = 0; k < 10; k++) {
            request();
            play(4 + 2 * steps_s[i]);
        }
        ok(w.yes == 10 && w.split == 0 && count("heard") == 10,
           "steps of %g s: all 10 requests are received by all ranks at one step\n%d", steps_s[i], w.yes);
        end();
    }
}

static void late_agent(void)
{
    begin(0.2);
    w.node[2].delay_s = 0.8;
    request();
    play(20);
    ok(w.split == 0 && w.yes == 1,
       "an agent that is 0.8 s late: later calls are tried until it gets the request in time");
    end();
    begin(0.2);
    request();
    for (int i = 0; i < 400 && w.node[1].state != 1; i++)
        play(0.001);
    w.node[1].delay_s = 3; /* armed; then its link stalls */
    play(2);
    w.node[1].delay_s = 0;
    play(20);
    ok(w.split == 0 && w.yes == 1,
       "an agent whose link stalls between arm and commit: the request is withdrawn and repeated");
    end();
}

static void dead_agent(void)
{
    begin(0.2);
    w.node[3].dead = true;
    request();
    play(40);
    ok(w.split == 0 && w.yes == 0 && count("failed") == 1, "a dead agent: no rank receives the request (%s)",
       json_string_value(json_object_get(figure("requests", "newest"), "state")));
    end();
    begin(0.2);
    request();
    for (int i = 0; i < 400 && w.node[3].state != 2; i++)
        play(0.001);
    play(0.01);
    w.node[3].dead = true; /* its page remains */
    play(5);
    ok(w.split == 0 && w.yes == 1, "an agent that dies after the commit: all ranks receive the request");
    end();
}

static void dead_controller(void)
{
    begin(0.2);
    request();
    for (int i = 0; i < 400 && w.node[0].state != 1; i++)
        play(0.001);
    job_free(w.j);
    for (size_t i = 0; i < MAIL; i++) {
        json_decref(w.mail[i].o);
        w.mail[i].o = NULL;
    }
    controller(); /* a new one without state */
    play(5);
    ok(w.split == 0 && w.yes == 0, "a controller that dies before the commit: no rank receives the request");
    request();
    play(6);
    ok(w.split == 0 && w.yes == 1, "a restarted controller: all ranks receive its request");
    end();
}

static void restarted_rank(void)
{
    begin(0.2);
    request();
    for (int i = 0; i < 400 && w.node[1].state != 1; i++)
        play(0.001);
    w.node[1].calls[0] = 0;
    w.node[1].own[0] = 1;
    w.step_s = 0; /* the others wait for it */
    play(1.2);
    w.step_s = 0.2;
    w.next_s = w.now_s;
    play(40);
    ok(w.split == 0 && w.yes == 0, "a rank that restarts while a request is armed: no rank receives it");
    for (int n = 0; n < NODES; n++)
        for (int r = 0; r < RANKS; r++) {
            w.node[n].own[r] = 1;
            w.node[n].calls[r] = 3;
        }
    play(3);
    request();
    play(6);
    ok(w.split == 0 && w.yes == 1, "after all ranks restarted, all receive a request");
    w.node[0].calls[0] += 50;
    request();
    play(20);
    ok(w.split == 0 && w.yes == 1 &&
           strstr(json_string_value(json_object_get(figure("requests", "newest"), "state")), "once a step"),
       "ranks whose counts differ by 50 get no request");
    end();
}

/* Links that stall at random, agents that die and come back, many requests. */
static void storm(void)
{
    int asked = 0;

    random_state = 5;
    begin(0.05);
    for (int i = 0; i < 400; i++) {
        struct node *k = &w.node[(int)(uniform() * NODES)];
        double what = uniform();

        request();
        play(0.3 * uniform());
        k->delay_s = what < 0.3 ? 2 * uniform() : 0;
        k->dead = what > 0.9;
        play(0.5 * uniform());
        k->delay_s = 0;
        k->dead = false;
        play(3);
        asked++;
    }
    play(60);
    printf("# %d requests under stalls and deaths: received by all %d, by some %d; reported as split %lld\n",
           asked, w.yes, w.split, count("split"));
    ok(w.yes > asked / 2 && w.split <= asked / 200,
       "random stalls and deaths: over half of the requests reach all ranks, at most 1 in 200 only some");
    ok(count("split") == w.split, "random stalls and deaths: every split request is reported as split");
    end();
}

/* The value of a rule's condition for the job. */
static enum truth rule_sees(const char *condition)
{
    struct condition_memory memory;
    struct condition c;
    struct figures f;
    struct err err;

    if (condition_parse(&c, condition, &err) < 0)
        return TRUTH_NO;
    condition_forget(&memory);
    job_figures(w.j, w.now_s, &f);
    return condition_eval(&c, &f, w.now_s, false, 0, &memory);
}

static void writes(void)
{
    begin(0.2);
    for (int i = 0; i < 6; i++) {
        for (int n = 0; n < NODES; n++)
            w.node[n].writing = true;
        play(2);
        for (int n = 0; n < NODES; n++) {
            w.node[n].writing = false;
            w.node[n].writes++;
            w.node[n].write_s = n == 2 ? 2.0 + 0.01 * i : 0.5;
        }
        play(5);
    }
    ok(near(json_number_value(figure("cost_s", "value")), 2.025, 0.01) &&
           !strcmp(json_string_value(figure("cost_source", NULL)), "program"),
       "the cost of a write is that of the slowest rank\n%.2f s",
       json_number_value(figure("cost_s", "value")));
    ok(json_number_value(figure("last_s", NULL)) < 6 && json_integer_value(figure("written", NULL)) == 6,
       "6 writes are counted, and the time of the last is known");
    ok(near(cadence_samples_per_s(w.j), NODES * 32 / 0.2, 0.1),
       "samples per second are computed from the ranks' counts\n%.0f", cadence_samples_per_s(w.j));
    ok(rule_sees("samples_per_s > 500 and samples_per_s < 800") == TRUTH_YES, "a rule can use samples_per_s");
    end();
    begin(0.2);
    ok(rule_sees("samples_per_s < 800") == TRUTH_UNKNOWN,
       "samples_per_s is unknown until ranks report samples");
    end();
}

/* Report a step of all ranks to the view. */
static void view_step(double gap_s)
{
    static uint32_t seq;

    play(gap_s);
    for (uint32_t r = 0; r < NODES * RANKS; r++)
        view_item(w.j->view, w.now_s,
                  &(struct telemetry_item){ .kind = TELEMETRY_STEP,
                                            .step = { .rank = r,
                                                      .comm = 1,
                                                      .seq = seq,
                                                      .period = 1,
                                                      .parts = 1,
                                                      .n_steps = 1,
                                                      .duration_ns = (uint64_t)(1e9 * gap_s),
                                                      .gap_ns = (uint64_t)(1e9 * gap_s) } });
    seq++;
    view_tick(w.j->view, w.now_s);
}

static void view_ranks(void)
{
    for (uint32_t r = 0; r < NODES * RANKS; r++) {
        view_rank_add(w.j->view, r, 0, w.j->agent[r / RANKS]->node, "leaf");
        view_item(w.j->view, w.now_s,
                  &(struct telemetry_item){ .kind = TELEMETRY_COMM,
                                            .comm = { .rank = r,
                                                      .name = 1,
                                                      .membership = 1,
                                                      .size = NODES * RANKS,
                                                      .comm_rank = r,
                                                      .last = NODES * RANKS - 1 } });
    }
}

/* The program reports no writes. */
static void pauses(void)
{
    begin(0.2);
    view_ranks();
    for (int i = 0; i < 60; i++)
        view_step(0.2);
    view_step(4);
    play(1);
    ok(figure("perhaps", "pause_s") && near(json_number_value(figure("perhaps", "pause_s")), 3.8, 0.1),
       "a pause of all ranks is reported as a possible checkpoint");
    ok(json_is_null(figure("last_s", NULL)) && json_is_null(figure("written", NULL)) &&
           near(json_number_value(figure("lost_work_s", NULL)), w.now_s - 1000, 0.1),
       "a possible checkpoint does not count: a failure would cost all work since the start\n%.1f s",
       json_number_value(figure("lost_work_s", NULL)));
    for (int i = 0; i < 60; i++)
        view_step(0.2);
    request();
    for (int i = 0; i < 25; i++)
        view_step(0.2);
    view_step(4);
    play(1);
    ok(json_integer_value(figure("written", NULL)) == 1 &&
           json_number_value(figure("lost_work_s", NULL)) < 3 && json_is_null(figure("perhaps", NULL)),
       "a pause right after a request is the requested checkpoint");
    end();
}

static void loss(uint64_t step, double newest)
{
    view_item(w.j->view, w.now_s,
              &(struct telemetry_item){ .kind = TELEMETRY_VALUE,
                                        .value = { .value = MARKS_LOSS,
                                                   .given = step,
                                                   .non_finite = !isfinite(newest),
                                                   .since = isfinite(newest) ? 0 : step,
                                                   .newest = newest } });
}

static void reasons(void)
{
    begin(0.2);
    w.node[1].notice = true;
    play(1.5);
    ok(w.yes == 1 && w.split == 0,
       "a rank reports a preemption: all ranks are asked for a checkpoint at once");
    play(5);
    end();
    policy.checkpoint_max_interval_s = 10;
    policy.checkpoint_cost_s = 0.1;
    begin(0.2);
    play(12);
    ok(w.yes == 1, "after CheckpointMaxInterval a checkpoint is requested without a command");
    end();
    begin(0.2);
    view_rank_add(w.j->view, 0, 0, "0", NULL);
    loss(2, NAN);
    play(12);
    ok(w.yes == 0,
       "while the loss is not finite no checkpoint is requested, which would keep what is worthless");
    loss(3, 1);
    play(12);
    ok(w.yes > 0, "once the loss is finite again a checkpoint is requested");
    end();
    policy.checkpoint = CONFIG_CHECKPOINT_ADVISE;
    begin(0.2);
    play(12);
    ok(w.yes == 0 && json_number_value(figure("next_due_s", NULL)) == 0 && figure("interval_s", NULL),
       "Checkpoint=advise: due is reported, and nothing is requested");
    end();
    policy.checkpoint_max_interval_s = 1e6;
    policy.checkpoint = CONFIG_CHECKPOINT_REQUEST;
}

int main(void)
{
    usual();
    late_agent();
    dead_agent();
    dead_controller();
    restarted_rank();
    storm();
    writes();
    pauses();
    reasons();
    return done_testing();
}
