/* Rare delays that come as often as ever are the machine's own noise, however they cluster and however long
 * some are; more of them than before, and those that cost much from the first step on, are jitter. */
#include "detect/detours.h"

#include <math.h>
#include <string.h>

#include "detect/diagnosis.h"
#include "ring/ring.h"
#include "tests/calls.h"
#include "tests/random.h"
#include "tests/tap.h"
#include "view/verdicts.h"
#include "view/view.h"

#define RANKS  16u
#define WORK_S 0.1
#define REST_S 0.01 /* of a step: its collective */

/* Distributions of their lengths, all with a mean of 1. */
enum lengths { CONSTANT, EXPONENTIAL, LOGNORMAL, PARETO, LENGTHS };
static const char *const names[LENGTHS] = { "one length", "exponential", "lognormal", "Pareto" };

static double one_length(enum lengths of)
{
    switch (of) {
    case EXPONENTIAL:
        return -log(1 - uniform());
    case LOGNORMAL: /* of sigma 1 */
        return exp(box_muller() - 0.5);
    case PARETO: /* of index 1.8: its variance is infinite */
        return 0.8 / 1.8 * pow(1 - uniform(), -1 / 1.8);
    default:
        return 1;
    }
}

/* Delays of any rank, `rate` of them a step, `mean` times the work long, until step `onset`, and then others.
 */
struct job {
    enum lengths of;
    double rate, mean;
    uint32_t onset;
    double then_rate, then_mean;
    uint32_t steps;
};

/* How many come in a step (Poisson). */
static uint32_t how_many(double rate)
{
    double u = uniform(), p = exp(-rate), sum = p;
    uint32_t n = 0;

    for (; u > sum && n < RANKS; sum += p)
        p *= rate / ++n;
    return n;
}

/* Step k; returns how many findings of jitter there have been, *f the last. */
static uint32_t step_of(const struct job *job, struct diagnosis *d, uint32_t k, double *time_s,
                        struct finding *f)
{
    bool then = k >= job->onset;
    uint32_t n = how_many(then ? job->then_rate : job->rate), told = 0;
    float own[RANKS], longest = 0;
    const struct finding *list;
    size_t findings;

    for (uint32_t r = 0; r < RANKS; r++)
        own[r] = (float)(WORK_S * (1 + 0.01 * box_muller()));
    while (n--)
        own[(uint32_t)(uniform() * RANKS)] +=
            (float)(WORK_S * (then ? job->then_mean : job->mean) * one_length(job->of));
    for (uint32_t r = 0; r < RANKS; r++)
        longest = fmaxf(longest, own[r]);
    *time_s += longest + REST_S;
    diagnosis_step(d,
                   &(struct diagnosis_step){ .seq = k,
                                             .period = 1,
                                             .own_s = own,
                                             .n = RANKS,
                                             .duration_s = longest + REST_S,
                                             .transfer_s = REST_S,
                                             .ended_s = *time_s },
                   1.01);
    findings = diagnosis_findings(d, &list);
    for (size_t i = 0; i < findings; i++)
        if (list[i].class == FINDING_JITTER) {
            *f = list[i];
            told++;
        }
    return told;
}

/* The step after which jitter is told; 0: it never is. */
static uint32_t told_after(const struct job *job)
{
    struct diagnosis *d = diagnosis_new();
    struct finding f;
    double time_s = 0;
    uint32_t told = 0;

    for (uint32_t k = 0; k < job->steps && !told; k++)
        told = step_of(job, d, k, &time_s, &f) ? k + 1 : 0;
    diagnosis_free(d);
    return told;
}

struct outcome {
    uint32_t before, since; /* runs in which jitter was told before the onset, and since */
    uint32_t latest;        /* steps since the onset until it was told, at most */
};

static struct outcome try_runs(const struct job *job, uint32_t runs)
{
    struct outcome o = { 0 };

    for (uint32_t n = 0; n < runs; n++) {
        uint32_t at = told_after(job);

        o.before += at && at <= job->onset;
        o.since += at > job->onset;
        o.latest = at > job->onset && at - job->onset > o.latest ? at - job->onset : o.latest;
    }
    return o;
}

/* Delays from the first step on that cost 1.5 %. Where all are as long, few cluster by chance as if they
 * were more: see bounds(). */
static void noise_of_the_machine(void)
{
    uint32_t runs = tried_of(200);

    for (enum lengths of = EXPONENTIAL; of < LENGTHS; of++) {
        struct job rare = { of, 0.03, 0.5, 0, 0.03, 0.5, 400 };
        struct job frequent = { of, 0.08, 0.2, 0, 0.08, 0.2, 400 };

        is_int(try_runs(&rare, runs).since, 0,
               "a delay in one step of 33 (%s) is the machine's noise, in each run", names[of]);
        is_int(try_runs(&frequent, runs).since, 0,
               "a delay in one step of 12 (%s) is the machine's noise, in each run", names[of]);
    }
}

/* The same, and then more of it. */
static void rises(void)
{
    uint32_t runs = tried_of(40);

    for (enum lengths of = 0; of < LENGTHS; of++) {
        struct job more = { of, 0.02, 0.4, 200, 0.3, 0.4, 600 };
        struct job longer = { of, 0.06, 0.2, 200, 0.15, 2, 600 };
        struct outcome o = try_runs(&more, runs);

        is_int(o.before, 0, "delays that become fifteen times as many (%s) are none before", names[of]);
        is_int(o.since, runs, "delays that become fifteen times as many (%s) are jitter", names[of]);
        printf("# at most %u steps later\n", o.latest);
        o = try_runs(&longer, runs);
        is_int(o.before, 0, "delays that become ten times as long (%s) are none before", names[of]);
        is_int(o.since, runs, "delays that become ten times as long (%s) are jitter", names[of]);
        printf("# at most %u steps later\n", o.latest);
    }
}

/* What costs much is told wherever it begins, and in a short job, too. */
static void from_the_start(void)
{
    uint32_t runs = tried_of(40);

    for (enum lengths of = 0; of < LENGTHS; of++) {
        struct job much = { of, 0.25, 0.4, 0, 0.25, 0.4, 300 };
        struct job brief = { of, 0.4, 1.5, 0, 0.4, 1.5, 45 };

        is_int(try_runs(&much, runs).since, runs,
               "delays that cost 10 %% from the first step on (%s) are jitter", names[of]);
        is_int(try_runs(&brief, runs).since, runs,
               "delays that make a job of 45 steps half as long again (%s) are jitter", names[of]);
    }
}

/* What jitter cost that is over is no evidence that the machine's noise after it is more; and jitter that was
 * there from the first step on began then, however late that is known. */
static void over_and_begun(void)
{
    static const struct job ends = { EXPONENTIAL, 0.3, 0.4, 200, 0.02, 0.4, 1000 },
                            slight = { CONSTANT, 0.1, 0.6, 0, 0.1, 0.6, 400 };
    uint32_t runs = tried_of(40), again = 0, told = 0, from_first = 0;

    for (uint32_t n = 0; n < 2 * runs; n++) {
        const struct job *job = n % 2 ? &slight : &ends;
        struct diagnosis *d = diagnosis_new();
        struct finding f;
        double time_s = 0;
        uint32_t found = 0;

        for (uint32_t k = 0; k < job->steps; k++)
            found = step_of(job, d, k, &time_s, &f);
        again += job == &ends && found > 1;
        told += job == &slight && found;
        from_first += job == &slight && found && f.onset_step < 50;
        diagnosis_free(d);
    }
    is_int(again, 0, "rare delays after jitter that is over are the machine's noise, in each run");
    ok(told > runs / 2, "delays that cost 5 %% from the first step on are jitter in most runs of 400 steps");
    ok(10 * from_first >= 9 * told, "it began with the first of them in nine runs of ten\n%u of %u",
       from_first, told);
}

/* The same where steps are judged by calls: teams of four meet twice a step, and all of them at its end. */
#define WORLD 1u
#define TEAM  4u /* the first one's communicator; and ranks of a team */
#define PARTS 2u

/* When all of these ranks are there, and a moment later. */
static double together(double *at_s, uint32_t first, uint32_t ranks)
{
    double over_s = 0;

    for (uint32_t r = first; r < first + ranks; r++)
        over_s = fmax(over_s, at_s[r]);
    for (uint32_t r = first; r < first + ranks; r++)
        at_s[r] = over_s + REST_S / 10;
    return over_s + REST_S / 10;
}

static double meet(struct view *v, uint64_t comm, uint32_t seq, uint32_t first, uint32_t ranks, double *at_s)
{
    double over_s = 0;

    for (uint32_t r = first; r < first + ranks; r++)
        over_s = fmax(over_s, at_s[r]);
    over_s += REST_S / 10;
    for (uint32_t r = first; r < first + ranks; r++) {
        give_collective(v, over_s,
                        &(struct call){ .rank = r,
                                        .op = RING_OP_ALLREDUCE,
                                        .comm = comm,
                                        .seq = seq,
                                        .bytes = 1000,
                                        .enter_ns = (uint64_t)(at_s[r] * 1e9),
                                        .leave_ns = (uint64_t)(over_s * 1e9) });
        at_s[r] = over_s;
    }
    return over_s;
}

/* Is jitter told of it, at any time?  lost: what it is said to cost over what it does. */
static bool told_by_calls(const struct job *job, double *lost)
{
    struct view *v = view_new(&(struct view_params){ .min_slowdown = 1.02, .hang_timeout_s = 100 }, 0);
    const struct view_verdict *verdict;
    double at_s[RANKS], quiet_s[RANKS], now_s = 5;
    bool told = false;
    size_t n;

    for (uint32_t r = 0; r < RANKS; r++) {
        char node[16];

        snprintf(node, sizeof(node), "n%u", r);
        view_rank_add(v, r, 0, node, "");
        give_member(v, r, WORLD, RANKS, r, 0, RANKS - 1);
        give_member(v, r, TEAM + r / TEAM, TEAM, r % TEAM, r / TEAM * TEAM, r / TEAM * TEAM + TEAM - 1);
        at_s[r] = quiet_s[r] = now_s;
    }
    for (uint32_t k = 0; k < job->steps; k++) {
        uint32_t delays = k < job->onset ? 0 : how_many(job->rate), late[RANKS];

        for (uint32_t i = 0; i < delays; i++)
            late[i] = (uint32_t)(uniform() * RANKS);
        for (uint32_t part = 0; part < PARTS; part++) {
            for (uint32_t r = 0; r < RANKS; r++) {
                double work_s = WORK_S / PARTS * (1 + 0.01 * box_muller());

                at_s[r] += work_s;
                quiet_s[r] += work_s;
            }
            for (uint32_t i = 0; i < delays && !part; i++)
                at_s[late[i]] += WORK_S * job->mean * one_length(job->of);
            for (uint32_t r = 0; r < RANKS; r += TEAM) {
                meet(v, TEAM + r / TEAM, PARTS * k + part, r, TEAM, at_s);
                together(quiet_s, r, TEAM);
            }
        }
        now_s = meet(v, WORLD, k, 0, RANKS, at_s);
        together(quiet_s, 0, RANKS);
        view_tick(v, now_s);
    }
    view_finish(v, now_s);
    n = view_verdicts_raised(v, &verdict);
    for (size_t i = 0; i < n; i++)
        if (verdict[i].finding.class == FINDING_JITTER) {
            told = true;
            *lost = verdict[i].finding.saved_s / (now_s - quiet_s[0]);
        }
    view_free(v);
    return told;
}

static void judged_by_calls(void)
{
    static const struct job brief = { EXPONENTIAL, 0.5, 1.5, 0, 0, 0, 36 },
                            noisy = { EXPONENTIAL, 0.04, 0.5, 0, 0, 0, 150 };
    uint32_t runs = tried_of(20), of_brief = 0, of_noisy = 0;
    double lost;

    for (uint32_t n = 0; n < runs; n++) {
        of_brief += told_by_calls(&brief, &lost);
        of_noisy += told_by_calls(&noisy, &lost);
    }
    is_int(of_brief, runs, "by calls, too, delays that cost 40 %% of 36 steps are jitter");
    is_int(of_noisy, 0, "by calls, too, a delay in one step of 25 is the machine's noise");
}

/* More of them after a long quiet time is told where it costs 2 %, less than noise may. */
static void little_but_more(void)
{
    static const struct job job = { EXPONENTIAL, 0.004, 0.25, 1000, 0.12, 0.2, 1500 };
    uint32_t runs = tried_of(20);
    struct outcome o = try_runs(&job, runs);

    is_int(o.before, 0, "one delay in 250 steps is the machine's noise");
    is_int(o.since, runs, "delays that cost 2 %% are jitter after a thousand steps that had few");
}

/* Delays one after the other, in the module alone: how often chance is taken for more than that. */
static uint32_t chances(double rate, double mean, uint32_t steps, uint32_t runs, bool cost)
{
    uint32_t told = 0;

    for (uint32_t n = 0; n < runs; n++) {
        struct detours d = { 0 };
        bool any = false;

        for (uint32_t k = 1; k <= steps && !any; k++) {
            double longer = uniform() < rate ? mean * one_length(LOGNORMAL) : 0;
            uint64_t first;

            detours_step(&d, 1 + longer);
            if (!(longer > 0))
                continue;
            detours_add(&d, k, (uint32_t)(uniform() * RANKS), (float)longer, 1);
            any = cost ? detours_cost(&d, &first) : detours_increased(&d, &first);
        }
        told += any;
    }
    return told;
}

static void bounds(void)
{
    static const struct {
        double rate;
        bool cost;
        double at_most;
        const char *what;
    } cases[] = {
        { 0.1, false, 1e-2, "as often as ever is taken for more of them in one run of a hundred at most" },
        { 0.02, false, 1e-2, "seldom, but as often as ever, is taken for more in one of a hundred at most" },
        { 0.04, true, 0.05, "so that they cost 2 % is taken for 4 % in one of twenty runs at most" },
        { 0.02, true, 1e-3, "so that they cost 1 % is taken for 4 % in one of a thousand runs at most" },
    };
    enum { RUNS = 2000 };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        uint32_t told = chances(cases[i].rate, 0.5, 1500, RUNS, cases[i].cost);

        ok(told <= cases[i].at_most * RUNS, "that delays come %s", cases[i].what);
        printf("# %u of %u\n", told, RUNS);
    }
}

/* Delays of the same rank in steps that follow one another, with one cause. */
static void in_a_row(void)
{
    struct detours d = { 0 };
    uint64_t first;
    bool costly = false;

    for (uint32_t k = 1; k <= 40; k++) {
        bool late = k > 30;

        detours_step(&d, late ? 1.3 : 1);
        if (!late)
            continue;
        detours_add(&d, k, 3, 0.3F, 1);
        costly = costly || detours_cost(&d, &first) || detours_increased(&d, &first);
    }
    is_int((long long)d.as_long[0], 1, "a rank that is late in ten steps running has one delay");
    is_int(costly, 0, "it is no jitter");
    for (uint64_t i = 0; i < 10; i++)
        detours_forget(&d, i);
    is_int((long long)d.as_long[0], 0, "forgotten, it has none");
    is_near(d.saved_s, 0, 1e-6, "and they cost nothing");
}

/* Delays since the first steps that were judged, before which there were steps that are remembered. */
static void begun_by_calls(void)
{
    static const struct job began = { EXPONENTIAL, 0.8, 1.5, 13, 0, 0, 40 };
    uint32_t runs = tried_of(20), told = 0, dear = 0;
    double lost = 0;

    for (uint32_t n = 0; n < runs; n++) {
        told += told_by_calls(&began, &lost);
        dear += lost > 1.1;
    }
    is_int(told, runs, "by calls, too, delays that begin in the fourteenth step of 40 are jitter");
    ok(5 * dear <= runs, "what they cost is not counted for the steps before that, which had none\n%u of %u",
       dear, runs);
}

/* Steps with a detour are 1; since when they are as frequent as at the end. */
static void began(void)
{
    static const struct {
        const char *steps;
        uint32_t latest, from;
        const char *what;
    } cases[] = {
        { "0000000000001011101111", 16, 12, "the first of them, though the rate is seen later" },
        { "0000000000001001100111011111", 19, 12, "not the end of a gap that is longer than most" },
        { "0100000000000000000000000010110111", 28, 26, "not a single one long before" },
        { "1111111111111111", 12, 0, "the first step of those that are known" },
        { "0000000000000000000000001111", 24, 24, "the step that it was found for" },
        { "0000000000000000000000001111", 22, 22, "none after the latest that it may be" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        bool had[64];
        uint32_t n = (uint32_t)strlen(cases[i].steps);

        for (uint32_t k = 0; k < n; k++)
            had[k] = cases[i].steps[k] == '1';
        is_int(detours_began(had, n, cases[i].latest), cases[i].from, "frequent detours began in %s",
               cases[i].what);
    }
}

/* delay_s[k] delays one rank in step k; the ranks take turns, five steps each.  Returns the number of delays
 * reported as single ones, and in *cost_s their reported cost. */
static uint32_t single_delays(const double *delay_s, uint32_t steps, double *cost_s)
{
    struct diagnosis *d = diagnosis_new();
    double now_s = 0;
    uint32_t n;

    for (uint32_t k = 0; k < steps; k++) {
        float own_s[RANKS], longest_s = 0;

        for (uint32_t r = 0; r < RANKS; r++)
            own_s[r] = (float)(WORK_S * (1 + 0.01 * box_muller()) + (r == k / 5 % RANKS ? delay_s[k] : 0));
        for (uint32_t r = 0; r < RANKS; r++)
            longest_s = fmaxf(longest_s, own_s[r]);
        now_s += longest_s + REST_S;
        diagnosis_step(d,
                       &(struct diagnosis_step){ .seq = k,
                                                 .period = 1,
                                                 .own_s = own_s,
                                                 .n = RANKS,
                                                 .duration_s = longest_s + REST_S,
                                                 .transfer_s = REST_S,
                                                 .ended_s = now_s },
                       1.02);
    }
    n = diagnosis_delays(d, 1.015, cost_s);
    diagnosis_free(d);
    return n;
}

static void single(void)
{
    double delay_s[400] = { [30] = 2 * WORK_S, [45] = 0.3 * WORK_S, [61] = 3 * WORK_S }, cost_s;

    is_int(single_delays(delay_s, 100, &cost_s), 2,
           "two long delays in a run are counted, a short one is not");
    is_near(cost_s, 5 * WORK_S, 0.05, "... with what they cost");
    delay_s[46] = WORK_S;
    delay_s[62] = WORK_S;
    is_int(single_delays(delay_s, 100, &cost_s), 3, "a delay that goes on in the rank's next step is one");
    is_near(cost_s, 7.3 * WORK_S, 0.05, "... with what it cost there");
    delay_s[46] = delay_s[62] = 0;
    is_int(single_delays(delay_s, 400, &cost_s), 0,
           "of a run that is longer they cost too little to speak of");
    is_int(single_delays(&delay_s[100], 100, &cost_s), 0, "a run without delays has none");
}

int main(void)
{
    random_state = 81;
    noise_of_the_machine();
    rises();
    from_the_start();
    over_and_begun();
    judged_by_calls();
    little_but_more();
    bounds();
    in_a_row();
    begun_by_calls();
    began();
    single();
    return done_testing();
}
