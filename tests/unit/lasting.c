/* Faults that last: a verdict stands for as long as its fault, with its price and its beginning, and goes
 * when it ends. */
#include "view/figures.h"
#include "view/verdicts.h"
#include "view/view.h"
#include "view/view_private.h"

#include <stdlib.h>
#include <string.h>

#include "ring/ring.h"
#include "tests/random.h"
#include "tests/tap.h"

#define RANKS_MAX  16u
#define WORLD      0x1234u
#define OTHER      0x77u
#define WORK_S     0.02
#define TRANSFER_S 0.0005
#define MESSAGE_S  0.0002
#define CALL_S     5e-6
#define ONSET      300u

enum shape { BARRIER, RING, LINE }; /* all meet; neighbours exchange messages, too, in a circle or a line */

struct job {
    const char *what;
    enum shape shape;
    uint32_t ranks, per_node;
    double noise, rho, differ;
    uint32_t inner;       /* iterations before all meet */
    uint32_t first, last; /* ranks that are slower ... */
    double factor;        /* ... by this, from ONSET on */
    double transfer;
    uint32_t end, steps; /* steps; the fault's end, the run's */
};

static struct run {
    const struct job *job;
    struct view *view;
    double t[RANKS_MAX], state[RANKS_MAX], differ[RANKS_MAX];
    uint32_t k, reduces, sent;
    double now_s;
} run;

static void begin(const struct job *job)
{
    static const struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 30 };
    char node[16];

    run = (struct run){ .job = job, .view = view_new(&params, 0) };
    for (uint32_t r = 0; r < job->ranks; r++) {
        struct telemetry_item item = { .kind = TELEMETRY_COMM,
                                       .comm = { .rank = r,
                                                 .name = WORLD,
                                                 .membership = WORLD,
                                                 .size = job->ranks,
                                                 .comm_rank = r,
                                                 .first = 0,
                                                 .last = job->ranks - 1 } };

        snprintf(node, sizeof(node), "node%u", r / job->per_node);
        view_rank_add(run.view, r, 0, node, "");
        view_item(run.view, 0, &item);
        item.comm.name = item.comm.membership = OTHER;
        view_item(run.view, 0, &item);
        run.differ[r] = 1 + job->differ * box_muller();
        run.t[r] = 1;
    }
}

/* The fault comes in bursts of so many steps, every so many; 0: it lasts. */
static uint32_t burst_every, burst_steps;

static bool is_on(void)
{
    return run.k >= ONSET && run.k < run.job->end &&
           (!burst_every || (run.k - ONSET) % burst_every < burst_steps);
}

/* Of all ranks alike, from a step on. */
static struct rhythm {
    uint32_t every, from;
    double by;
    uint32_t more; /* heavy steps in a row beside the first */
} rhythm;

/* From a step on, in every sixth step another rank is struck: for long, but for a while in between. */
static struct strikes {
    uint32_t from, short_from, long_from;
    double long_ratio, short_ratio; /* of the work */
} strikes;

static double strike_ratio(uint32_t r)
{
    if (!strikes.from || run.k < strikes.from || run.k % 6 || r != run.k / 6 * 5 % run.job->ranks)
        return 0;
    return run.k >= strikes.short_from && run.k < strikes.long_from ? strikes.short_ratio
                                                                    : strikes.long_ratio;
}

static double own_s(uint32_t r)
{
    const struct job *job = run.job;
    double s;

    run.state[r] = job->rho * run.state[r] + sqrt(1 - job->rho * job->rho) * box_muller();
    s = WORK_S / job->inner * run.differ[r] * fmax(0.3, 1 + job->noise * run.state[r]);
    if (rhythm.every && run.k >= rhythm.from && (run.k + rhythm.every - 1) % rhythm.every <= rhythm.more)
        s *= rhythm.by;
    s += WORK_S * strike_ratio(r);
    return is_on() && r >= job->first && r <= job->last ? s * job->factor : s;
}

static uint64_t ns(double s)
{
    return (uint64_t)llrint(s * 1e9);
}

static void message(uint8_t op, uint32_t rank, uint32_t peer, int32_t tag, double enter_s, double leave_s)
{
    view_call(run.view, run.now_s,
              &(struct call){ .rank = rank,
                              .op = op,
                              .comm = WORLD,
                              .seq = run.sent,
                              .peer = peer,
                              .tag = tag,
                              .bytes = 65536,
                              .enter_ns = ns(enter_s),
                              .leave_ns = ns(leave_s) });
}

/* What messages between those ranks and others take longer by while the fault is there: by that time, or
 * waiting for a processor, by that on the mean. */
static struct slow_messages {
    double more_s;
    bool waits;
} slow_messages;

static double message_s(uint32_t a, uint32_t b)
{
    const struct job *job = run.job;
    bool its = (a >= job->first && a <= job->last) != (b >= job->first && b <= job->last);
    double more_s = its && is_on() ? slow_messages.more_s : 0;

    return MESSAGE_S + (more_s > 0 && slow_messages.waits ? -log(uniform()) * more_s : more_s);
}

/* Each rank sends to its neighbours, then receives from them. */
static void exchange(void)
{
    uint32_t n = run.job->ranks;
    double sent_s[RANKS_MAX][2];

    for (uint32_t r = 0; r < n; r++)
        for (uint32_t side = 0; side < 2; side++) {
            uint32_t peer = (r + (side ? 1 : n - 1)) % n;

            if (run.job->shape == LINE && (side ? r + 1 == n : r == 0))
                continue;
            sent_s[r][side] = run.t[r];
            run.t[r] += CALL_S;
            message(RING_OP_SEND, r, peer, (int32_t)side, sent_s[r][side], run.t[r]);
        }
    for (uint32_t r = 0; r < n; r++)
        for (uint32_t side = 0; side < 2; side++) {
            uint32_t peer = (r + (side ? n - 1 : 1)) % n;
            double enter_s = run.t[r];

            if (run.job->shape == LINE && (side ? r == 0 : r + 1 == n))
                continue;
            run.t[r] = fmax(enter_s + CALL_S, sent_s[peer][side] + message_s(r, peer));
            message(RING_OP_RECV, r, peer, (int32_t)side, enter_s, run.t[r]);
        }
    run.sent++;
}

static void reduce(void)
{
    double all_s = 0, transfer_s = TRANSFER_S * fmax(0.5, 1 + 0.05 * box_muller()) *
                                   (is_on() && run.job->transfer > 0 ? run.job->transfer : 1);

    for (uint32_t r = 0; r < run.job->ranks; r++)
        all_s = fmax(all_s, run.t[r]);
    for (uint32_t r = 0; r < run.job->ranks; r++) {
        view_call(run.view, run.now_s,
                  &(struct call){ .rank = r,
                                  .op = RING_OP_ALLREDUCE,
                                  .comm = WORLD,
                                  .seq = run.reduces,
                                  .bytes = 8,
                                  .enter_ns = ns(run.t[r]),
                                  .leave_ns = ns(all_s + transfer_s) });
        run.t[r] = all_s + transfer_s;
    }
    run.reduces++;
}

static void barrier_step(void)
{
    double own[RANKS_MAX], longest = 0;
    double transfer_s = TRANSFER_S * fmax(0.5, 1 + 0.05 * box_muller()) *
                        (is_on() && run.job->transfer > 0 ? run.job->transfer : 1);

    for (uint32_t r = 0; r < run.job->ranks; r++)
        longest = fmax(longest, own[r] = own_s(r));
    for (uint32_t r = 0; r < run.job->ranks; r++) {
        struct telemetry_item item = { .kind = TELEMETRY_STEP,
                                       .step = { .rank = r,
                                                 .comm = WORLD,
                                                 .seq = run.k,
                                                 .period = 1,
                                                 .parts = 1,
                                                 .n_steps = 1,
                                                 .duration_ns = ns(longest + transfer_s),
                                                 .gap_ns = ns(own[r]),
                                                 .stay_ns = ns(longest + transfer_s - own[r]),
                                                 .stay_s = { (float)(longest + transfer_s - own[r]) } } };

        run.t[r] += longest + transfer_s;
        view_item(run.view, run.now_s, &item);
    }
}

/* From this step on all meet in another communicator, too, after every tenth; 0: never. */
static uint32_t other_from, others;

static void meet_elsewhere(void)
{
    double all_s = 0;

    for (uint32_t r = 0; r < run.job->ranks; r++)
        all_s = fmax(all_s, run.t[r]);
    for (uint32_t r = 0; r < run.job->ranks; r++) {
        view_call(run.view, run.now_s,
                  &(struct call){ .rank = r,
                                  .op = RING_OP_BCAST,
                                  .comm = OTHER,
                                  .seq = others,
                                  .bytes = 800,
                                  .enter_ns = ns(run.t[r]),
                                  .leave_ns = ns(all_s + TRANSFER_S) });
        run.t[r] = all_s + TRANSFER_S;
    }
    others++;
}

static void step(void)
{
    run.now_s = run.t[0];
    if (run.job->shape == BARRIER) {
        barrier_step();
    } else {
        for (uint32_t i = 0; i < run.job->inner; i++) {
            for (uint32_t r = 0; r < run.job->ranks; r++)
                run.t[r] += own_s(r);
            exchange();
        }
        reduce();
    }
    if (other_from && run.k >= other_from && run.k % 10 == 9)
        meet_elsewhere();
    run.k++;
    view_tick(run.view, run.now_s);
}

/* The verdict of this class that stands, or that was raised. */
static const struct view_verdict *verdict(enum finding_class class, bool raised)
{
    const struct view_verdict *d;
    size_t n = raised ? view_verdicts_raised(run.view, &d) : view_verdicts_get(run.view, &d);

    for (size_t i = 0; i < n; i++)
        if (d[i].finding.class == class && (raised || !d[i].minor))
            return &d[i];
    return NULL;
}

static const struct job jobs[] = {
    { "one barrier a step", BARRIER, 8, 2, 0.03, 0, 0.005, 1, 2, 3, 2.0, 0, 3000, 3200 },
    { "one barrier a step, uneven steps", BARRIER, 8, 2, 0.10, 0.5, 0.01, 1, 2, 3, 2.0, 0, 3000, 3200 },
    { "one barrier a step, half of the nodes", BARRIER, 4, 2, 0.05, 0.3, 0.01, 1, 2, 3, 2.0, 0, 3000, 3200 },
    { "one barrier a step, one of two ranks", BARRIER, 2, 1, 0.05, 0.3, 0.01, 1, 1, 1, 1.6, 0, 3000, 3200 },
    { "one barrier a step, little slower", BARRIER, 8, 2, 0.03, 0.3, 0.005, 1, 2, 2, 1.15, 0, 3000, 3200 },
    { "one barrier a step, slow transfers", BARRIER, 8, 2, 0.03, 0, 0.005, 1, 0, 0, 1, 8, 3000, 3200 },
    { "neighbours in a ring", RING, 8, 2, 0.03, 0, 0.005, 1, 2, 3, 2.0, 0, 3000, 3200 },
    { "neighbours in a ring, uneven steps", RING, 8, 2, 0.10, 0.5, 0.01, 1, 2, 3, 2.0, 0, 3000, 3200 },
    { "neighbours in a ring, ten exchanges a barrier", RING, 8, 2, 0.05, 0.5, 0.01, 10, 2, 3, 2.0, 0, 1200,
      1400 },
    { "neighbours in a line, two that do the same as others", LINE, 8, 2, 0.03, 0, 0.005, 1, 2, 3, 2.0, 0,
      3000, 3200 },
    { "neighbours in a line, one that does what no other does", LINE, 8, 2, 0.03, 0, 0.005, 1, 0, 1, 2.0, 0,
      3000, 3200 },
    { "neighbours in a line, one alone on its node", LINE, 8, 1, 0.05, 0.3, 0.005, 1, 0, 0, 2.0, 0, 3000,
      3200 },
    { "neighbours in a line, half of the nodes", LINE, 4, 2, 0.05, 0.3, 0.005, 1, 2, 3, 2.0, 0, 3000, 3200 },
    { "neighbours in a ring, two nodes at the same time", RING, 16, 2, 0.03, 0, 0.005, 1, 4, 7, 2.0, 0, 1200,
      1400 },
    { "neighbours in a ring, three ranks, each alone on its node", RING, 12, 1, 0.03, 0.3, 0.005, 1, 4, 6,
      1.5, 0, 1200, 1400 },
    { "neighbours in a ring, slow transfers", RING, 8, 2, 0.03, 0, 0.005, 1, 0, 0, 1, 8, 3000, 3200 },
};

#define LASTS     1200u /* step at which a fault ends that need not last longer */
#define NAMED_MAX 30u   /* steps */
#define GONE_MAX  40u
#define SETTLED   100u /* after which the price is what it is */

static double time_without_fault(const struct job *job)
{
    struct job healthy = *job;
    double s;

    healthy.factor = healthy.transfer = 1;
    begin(&healthy);
    while (run.k < healthy.steps)
        step();
    s = run.t[0];
    view_free(run.view);
    return s;
}

static void lasts(const struct job *job, uint64_t seed)
{
    enum finding_class class = job->transfer > 0 ? FINDING_COMMUNICATION : FINDING_STRAGGLER;
    uint32_t early = 0, named = 0, lost = 0, gone = 0, id = 0;
    double healthy_s, least = INFINITY, most = 0;
    int64_t since = -1, moved = 0;
    const struct view_verdict *d;

    random_state = seed;
    healthy_s = time_without_fault(job);
    random_state = seed;
    begin(job);
    for (step(); run.k < job->steps; step()) {
        d = verdict(class, false);
        if (run.k <= ONSET) {
            early += d != NULL;
            continue;
        }
        if (run.k > job->end) {
            gone = d && d->finding.id == id ? run.k - job->end : gone;
            continue;
        }
        if (d && !named) {
            named = run.k;
            id = d->finding.id;
        }
        lost += named && (!d || d->finding.id != id);
        if (!d || run.k < named + SETTLED)
            continue;
        least = fmin(least, d->finding.slowdown);
        most = fmax(most, d->finding.slowdown);
        since = since < 0 ? d->since_step : since;
        moved = llabs(d->since_step - since) > moved ? llabs(d->since_step - since) : moved;
    }
    is_int(early, 0, "%s: nothing is named before the fault", job->what);
    ok(named && named <= ONSET + NAMED_MAX, "%s: named soon after the onset\n%d steps", job->what,
       (int)named - (int)ONSET);
    is_int(lost, 0, "%s: the verdict stands for as long as the fault", job->what);
    is_int(moved, 0, "%s: it keeps its beginning\nstep %lld", job->what, (long long)since);
    ok(most - 1 < 1.35 * (least - 1), "%s: its price stays\n%.3f to %.3f", job->what, least, most);
    ok(gone <= GONE_MAX, "%s: it goes soon after the end of the fault\n%u steps", job->what, gone);
    d = verdict(class, true);
    is_near(d ? d->finding.slowdown : NAN, run.t[0] / healthy_s, 0.05, "%s: its price over the run is right",
            job->what);
    view_free(run.view);
}

/* The figures of the ranks agree with the sentence, and in a healthy job nobody is named. */
static void agrees(const struct job *job, bool graph)
{
    struct view_rank_figures f;
    const struct view_verdict *d;
    double last = 0;

    random_state = 5;
    begin(job);
    while (run.k < ONSET)
        step();
    ok(!view_latest_get(run.view, run.now_s, &f), "%s: no rank is the latest before the fault", job->what);
    while (run.k < ONSET + 40)
        step();
    d = verdict(FINDING_STRAGGLER, false);
    ok(view_latest_get(run.view, run.now_s, &f) && f.rank >= job->first && f.rank <= job->last,
       "%s: the latest rank is one of the slow ones", job->what);
    for (uint32_t r = 0; d && r < job->ranks; r++) {
        view_rank_get(run.view, run.now_s, r, &f);
        last += r >= job->first && r <= job->last ? f.last_ratio : 0;
    }
    is_near(last, d ? d->finding.last_ratio : NAN, 0.001,
            "%s: its ranks were together last as often as the sentence says", job->what);
    ok(d && (d->finding.onset_seq < 0) == graph, "%s: only collectives are numbered as collectives",
       job->what);
    ok(d && d->found_step >= d->since_step && d->found_step <= d->since_step + NAMED_MAX,
       "%s: found soon after it began\nat step %lld, found at step %lld", job->what,
       d ? (long long)d->since_step : -1, d ? (long long)d->found_step : -1);
    view_free(run.view);
}

/* Each of them alone costs nothing: they are one verdict, which names all. */
static void together(const struct job *job, uint32_t n, const char *begins)
{
    const struct view_verdict *d;

    random_state = 5;
    begin(job);
    while (run.k < ONSET + 100)
        step();
    d = verdict(FINDING_STRAGGLER, false);
    is_int(d ? d->n_culprits : 0, n, "%s: one verdict names %u places", job->what, n);
    ok(d && !strncmp(d->text, begins, strlen(begins)), "%s: '%s'", job->what, d ? d->text : "");
    ok(d && strstr(d->text, "together this costs") &&
           strstr(d->text, ", and mending only one of them gains at most "),
       "%s: the price is that of all: %s", job->what, d ? d->text : "");
    is_int((long long)view_verdicts_get(run.view, &d), 1, "%s: nothing else is listed", job->what);
    view_free(run.view);
}

/* What mending one of them would have gained is said of the run, too, as what all of them cost. */
static void together_for_a_while(const struct job *job, uint32_t end, uint32_t steps)
{
    struct job some = *job;
    const struct view_verdict *d;
    double of_all = NAN, of_one = NAN, share;

    some.end = end;
    some.steps = steps;
    random_state = 5;
    begin(&some);
    while (run.k < some.steps) {
        step();
        if (run.k == end && (d = verdict(FINDING_STRAGGLER, false))) {
            of_all = 1 - 1 / d->finding.slowdown;
            of_one = 1 - 1 / d->finding.alone;
        }
    }
    view_finish(run.view, run.now_s);
    share = of_one / of_all;
    if (!is_int((long long)view_verdicts_reported(run.view, &d), 1, "%s for a while: it is reported",
                job->what))
        return;
    of_one = 1 - 1 / d->finding.alone;
    ok(near(of_one / (1 - 1 / d->finding.slowdown), share, 0.25) &&
           1 - 1 / d->finding.slowdown < of_all / 2 &&
           strstr(d->text, ", and mending only one of them would have gained at most "),
       "%s for a while: mending one of them would have gained that share of what both cost\n%g: %s",
       job->what, share, d->text);
    view_free(run.view);
}

/* A rhythm from the start is the program's; one that began later is a fault, and so are as many slow steps in
 * a row as fast ones. */
static void rhythms(void)
{
    static const struct rhythm cases[] = { { 2, 0, 1.4, 0 },     { 3, 0, 1.4, 0 },     { 5, 0, 1.1, 0 },
                                           { 8, 0, 1.4, 0 },     { 10, 0, 1.4, 0 },    { 20, 0, 1.4, 0 },
                                           { 50, 0, 1.4, 0 },    { 2, 0, 2.0, 0 },     { 6, 0, 1.4, 1 },
                                           { 2, ONSET, 1.4, 0 }, { 5, ONSET, 1.4, 0 }, { 4, 0, 1.4, 1 },
                                           { 6, 0, 1.1, 2 } };
    static const struct job shapes[] = {
        { "one barrier a step", BARRIER, 8, 2, 0.05, 0.3, 0.01, 1, 0, 0, 1, 0, 1200, 1200 },
        { "neighbours in a ring", RING, 8, 2, 0.05, 0.3, 0.01, 1, 0, 0, 1, 0, 1200, 1200 }
    };

    /* of each kind one with either shape: from the start, since later, as many slow steps as fast ones,
     * several heavy steps */
    static const bool few[ARRAY_SIZE(cases) * ARRAY_SIZE(shapes)] = {
        [0] = true, [5] = true, [18] = true, [21] = true, [22] = true, [23] = true, [24] = true, [25] = true
    };

    for (size_t i = 0; i < ARRAY_SIZE(shapes) * ARRAY_SIZE(cases); i++) {
        const struct job *job = &shapes[i % ARRAY_SIZE(shapes)];
        const struct view_verdict *d;
        struct view_phases p;
        size_t n;

        if (tried_in_part() && !few[i])
            continue;
        rhythm = cases[i / ARRAY_SIZE(shapes)];
        random_state = 100 + i;
        begin(job);
        while (run.k < job->steps)
            step();
        view_phases_get(run.view, &p);
        n = view_verdicts_raised(run.view, &d);
        if (rhythm.from || (rhythm.more && rhythm.every == 2 * (rhythm.more + 1))) {
            is_int(p.rhythm_steps, 0,
                   "%s: %u of %u steps, slow from step %u on, are no rhythm of the program", job->what,
                   rhythm.more + 1, rhythm.every, rhythm.from);
            ok(verdict(FINDING_OSCILLATION, false), "%s: they are an oscillation", job->what);
        } else {
            is_int((long long)n, 0, "%s, every %u steps %.1f times the work: no verdict", job->what,
                   rhythm.every, rhythm.by);
            is_int(p.rhythm_steps, rhythm.every, "%s: every %u steps is the rhythm", job->what, rhythm.every);
            is_int(p.rhythm_heavy, rhythm.more + 1, "%s: %u of them heavy", job->what, rhythm.more + 1);
            is_near(p.rhythm_ratio, rhythm.by, 0.04, "%s: by %.1f", job->what, rhythm.by);
        }
        view_free(run.view);
    }
    rhythm = (struct rhythm){ 0 };
}

/* A job that has ended leads with what cost it most, though it was over long before. */
static void ended(const struct job *job, const char *begins)
{
    const struct view_verdict *d;
    char sentence[512];
    size_t n;

    random_state = 3;
    begin(job);
    while (run.k < job->steps)
        step();
    view_sentence(run.view, run.now_s, sentence, sizeof(sentence));
    ok(!strncmp(sentence, "Healthy", 7), "%s: nothing is wrong at the end: %s", job->what, sentence);
    n = view_verdicts_reported(run.view, &d);
    is_int((long long)n, 0, "%s: what stands is reported while it runs", job->what);
    view_finish(run.view, run.now_s);
    view_sentence(run.view, run.now_s, sentence, sizeof(sentence));
    ok(!strncmp(sentence, begins, strlen(begins)), "%s: when it has ended the costliest comes first: %s",
       job->what, sentence);
    n = view_verdicts_reported(run.view, &d);
    ok(n && !d->finding.standing && !strcmp(d->text, sentence), "%s: as in the list", job->what);
    for (size_t i = 0; i + 1 < n; i++)
        ok(d[i].finding.saved_s >= d[i + 1].finding.saved_s,
           "%s: verdict %zu of the list costs more than the next", job->what, i);
    view_free(run.view);
}

/* A step stays what it is when the program begins to use another communicator. */
static void steps_stay(void)
{
    static const struct job job = {
        "neighbours in a ring, ten exchanges a barrier", RING, 8, 2, 0.02, 0, 0.01, 10, 0, 0, 1, 0, 1200, 1200
    };
    struct view_figures before, after;

    random_state = 11;
    other_from = 600;
    begin(&job);
    while (run.k < other_from)
        step();
    view_figures_get(run.view, run.now_s, &before);
    while (run.k < job.steps)
        step();
    view_figures_get(run.view, run.now_s, &after);
    is_near(after.step_p50_s, before.step_p50_s, 0.1, "%s: a step stays what it is", job.what);
    is_near((double)after.steps, 2 * (double)before.steps, 0.02, "%s: all steps are counted alike", job.what);
    view_free(run.view);
    other_from = 0;
}

/* What came and went several times is one verdict of the run; what another place did is another one. */
static void same_verdicts(void)
{
    static const struct view_verdict stage = { .finding = { .class = FINDING_IMBALANCE,
                                                            .scope = SCOPE_RANKS },
                                               .culprit = { "r0", "r4" },
                                               .n_culprits = 2 };
    struct view_verdict other = stage;

    ok(view_verdict_same(&stage, &other), "verdicts of the same ranks are the same");
    strcpy(other.culprit[1], "r8");
    ok(!view_verdict_same(&stage, &other), "verdicts that share their first rank only are not");
    other = stage;
    other.finding.scope = SCOPE_RANK;
    ok(!view_verdict_same(&stage, &other), "verdicts of another scope are not");
}

/* The work of a node and its adapter become slow at once: two findings, each at its own price.  The messages
 * of a node that waits for its processors become slow, too, and are no finding of their own. */
static void work_and_adapter(void)
{
    static const struct job job = {
        "work and messages of a node", RING, 8, 2, 0.03, 0, 0.005, 1, 2, 3, 1.4, 0, 500, 500
    };
    struct job healthy = job;
    const struct view_verdict *work, *messages;
    double all_s, without_s[2];

    healthy.factor = 1;
    for (uint32_t i = 0; i < 2; i++) {
        slow_messages.more_s = i ? 0.008 : 0;
        random_state = 19;
        begin(i ? &healthy : &job);
        while (run.k < job.steps)
            step();
        without_s[i] = run.t[0];
        view_free(run.view);
    }
    for (uint32_t i = 0; i < 2; i++) {
        slow_messages.waits = i;
        random_state = 19;
        begin(&job);
        while (run.k < job.steps)
            step();
        all_s = run.t[0];
        work = verdict(FINDING_STRAGGLER, false);
        messages = verdict(FINDING_COMMUNICATION, false);
        ok(work && work->finding.scope == SCOPE_NODE, "%s: the node's work is found", job.what);
        ok(!messages == slow_messages.waits, "%s: %s", job.what,
           slow_messages.waits ? "what waits for a processor has no verdict of its own"
                               : "the adapter is found beside it");
        if (!slow_messages.waits) {
            ok(messages && messages->finding.scope == SCOPE_NODE, "%s: it is the node's", job.what);
            work = verdict(FINDING_STRAGGLER, true);
            messages = verdict(FINDING_COMMUNICATION, true);
            is_near(messages ? messages->finding.slowdown : NAN, all_s / without_s[0], 0.02,
                    "%s: what the adapter costs", job.what);
            is_near(work ? work->finding.slowdown : NAN, all_s / without_s[1], 0.02,
                    "%s: what the work costs", job.what);
        }
        view_free(run.view);
    }
    slow_messages = (struct slow_messages){ 0 };
}

/* The sentence of a healthy job promises no more than is kept: what differs since the first step is told from
 * what changes, and what costs less than is reported would not be seen. */
static void what_would_be_seen(void)
{
    static const struct job job = {
        "two ranks that meet", BARRIER, 2, 1, 0.005, 0, 0, 1, 0, 0, 1, 0, 400, 400
    };
    static const double from_start[] = { 1, 1.05 };

    for (size_t i = 0; i < ARRAY_SIZE(from_start); i++) {
        struct view_figures f;
        char sentence[512];

        random_state = 31;
        begin(&job);
        run.differ[0] = from_start[i];
        while (run.k < job.steps)
            step();
        view_figures_get(run.view, run.now_s, &f);
        view_sentence(run.view, run.now_s, sentence, sizeof(sentence));
        ok(f.mds >= 1.02, "what costs less than MinSlowdown is not promised: %.4f", f.mds);
        if (from_start[i] > 1) {
            ok(f.mds_from_start > from_start[i],
               "nor is a rank that is as slow from the start as one that is not named: %.3f",
               f.mds_from_start);
            ok(strstr(sentence, "slower from the start,"), "the sentence tells the two apart: %s", sentence);
        } else {
            ok(strstr(sentence, "slower or more would be seen"), "ranks that are alike have one limit: %s",
               sentence);
        }
        view_free(run.view);
    }
}

/* Transfers are slow for three steps, every fifty: the verdict stands until these are well over, and the
 * price of all is what they cost. */
static void bursts(void)
{
    static const struct job job = {
        "transfers in bursts", RING, 8, 2, 0.03, 0, 0.005, 1, 0, 0, 1, 20, 650, 660
    };
    const struct view_verdict *list;
    uint32_t stands = 0, all = 0;
    double healthy_s, saved_s = 0;
    size_t n;

    random_state = 23;
    healthy_s = time_without_fault(&job);
    random_state = 23;
    begin(&job);
    burst_every = 50;
    burst_steps = 3;
    for (step(); run.k < job.steps; step())
        if (run.k >= ONSET && run.k < job.end && (run.k - ONSET) % burst_every == burst_steps + 3) {
            all++;
            stands += verdict(FINDING_COMMUNICATION, false) != NULL;
        }
    is_int(stands, all, "%s: it stands three steps after each", job.what);
    n = view_verdicts_raised(run.view, &list);
    for (size_t i = 0; i < n; i++)
        saved_s += list[i].finding.class == FINDING_COMMUNICATION ? list[i].finding.saved_s : 0;
    is_near(saved_s, run.t[0] - healthy_s, 0.05, "%s: what they cost", job.what);
    view_free(run.view);
    burst_every = 0;
}

/* Every tenth step is heavy, which transfers do not follow: soon after they become slow it is not known what
 * they cost.  They are one finding, and have one price, all the same. */
static void found_once(void)
{
    static const struct job job = {
        "slow transfers beside a rhythm", RING, 8, 2, 0.03, 0, 0.005, 1, 0, 0, 1, 20, 400, 410
    };
    const struct view_verdict *list;
    uint32_t found = 0;
    double healthy_s, saved_s = 0;
    size_t n;

    rhythm = (struct rhythm){ .every = 10, .by = 2.1 };
    random_state = 29;
    healthy_s = time_without_fault(&job);
    random_state = 29;
    begin(&job);
    while (run.k < job.steps)
        step();
    n = view_verdicts_raised(run.view, &list);
    for (size_t i = 0; i < n; i++)
        if (list[i].finding.class == FINDING_COMMUNICATION) {
            saved_s += list[i].finding.saved_s;
            found++;
        }
    is_int(found, 1, "%s: they are found once", job.what);
    is_near(saved_s, run.t[0] - healthy_s, 0.03, "%s: what they cost", job.what);
    view_free(run.view);
    rhythm = (struct rhythm){ 0 };
}

/* Jitter that is over and comes again: what was lost to the first is not counted once more in the second. */
static void comes_again(void)
{
    static const struct job job = {
        "jitter that comes again", RING, 8, 2, 0.03, 0, 0.005, 1, 0, 0, 1, 0, 0, 620
    };
    double without_s, lost_s = 0;
    const struct view_verdict *d;
    uint32_t over = 0; /* the step in which the first no longer stands */
    bool found = false;
    size_t n;

    random_state = 5;
    without_s = time_without_fault(&job);
    random_state = 5;
    strikes = (struct strikes){ 120, 300, 460, 0.6, 0.11 };
    begin(&job);
    while (run.k < job.steps) {
        step();
        found = found || verdict(FINDING_JITTER, false);
        over = found && !over && !verdict(FINDING_JITTER, false) ? run.k : over;
    }
    n = view_verdicts_raised(run.view, &d);
    for (size_t i = 0; i < n; i++)
        lost_s += d[i].finding.saved_s;
    is_int((int64_t)n, 2, "%s: is found twice", job.what);
    ok(n == 2 && d[1].finding.onset_step - d[0].finding.onset_step >= over - strikes.from,
       "%s: the second begins when the first is over", job.what);
    is_near(lost_s, run.t[0] - without_s, 0.2, "%s: both together cost what was lost", job.what);
    view_free(run.view);
    strikes = (struct strikes){ 0 };
}

int main(void)
{
    static const struct job slow = {
        "a node was slow", BARRIER, 8, 2, 0.03, 0, 0.005, 1, 2, 3, 2.0, 0, 600, 1500
    };
    static const struct job messages = {
        "a node was slow in a ring", RING, 8, 2, 0.03, 0, 0.005, 1, 4, 5, 1.5, 0, 600, 1500
    };

    static const struct job two_of_one_barrier = {
        "two nodes were slow", BARRIER, 16, 2, 0.03, 0, 0.005, 1, 4, 7, 1.5, 0, 600, 1500
    };
    static const struct job two_nodes = {
        "two nodes were slow in a ring", RING, 16, 2, 0.03, 0, 0.005, 1, 4, 7, 1.5, 0, 600, 1500
    };

    same_verdicts();
    agrees(&slow, false);
    agrees(&messages, true);
    together(&two_of_one_barrier, 2, "node2 (2 ranks) and node3 (2 ranks) compute ");
    together(&two_nodes, 2, "node2 (2 ranks) and node3 (2 ranks) compute ");
    together_for_a_while(&two_of_one_barrier, ONSET + 200, 1500);
    rhythms();
    comes_again();
    steps_stay();
    ended(&slow, "node1 (2 ranks) computed ");
    ended(&messages, "node2 (2 ranks) computed ");
    work_and_adapter();
    bursts();
    what_would_be_seen();
    found_once();
    /* the others take the same ways through the code */
    for (size_t i = 0; i < ARRAY_SIZE(jobs); i += tried_in_part() ? 3 : 1) {
        struct job job = jobs[i];

        if (tried_in_part()) {
            job.steps -= job.end - LASTS;
            job.end = LASTS;
        }
        lasts(&job, 7 + i);
    }
    return done_testing();
}
