/* What holds a job back: said soon when it is so, with its place and its price; never when it is noise. */
#include "detect/diagnosis.h"

#include <stdlib.h>

#include "tests/random.h"
#include "tests/tap.h"

#define RANKS_MAX 64u
#define COMPUTE_S 0.05
#define ONSET     200u
#define AGAIN     1500u

/* A job of nodes of 2 ranks, switches of 4 nodes. Noise of one step has memory (AR(1), rho), ranks differ a
 * little for good, rare spikes hit one rank. From step ONSET to `end` (0: for good) something is wrong. */
struct job {
    uint32_t ranks;
    double noise, rho, differ, spikes;
    enum finding_class fault; /* FINDING_CLASSES: none */
    uint32_t first, last;     /* ranks that are slower */
    double severity;
    uint32_t end; /* 0: never; what ended is there again from AGAIN on */
};

static bool is_on(const struct job *job, uint32_t k)
{
    return k >= ONSET && (!job->end || k < job->end || k >= AGAIN);
}

#define HEALTHY FINDING_CLASSES

static double own_factor(const struct job *job, uint32_t rank, uint32_t k, uint32_t delayed)
{
    if (!is_on(job, k))
        return 1;
    switch (job->fault) {
    case FINDING_STRAGGLER:
        return rank >= job->first && rank <= job->last ? 1 + job->severity : 1;
    case FINDING_DRIFT:
        return rank >= job->first && rank <= job->last ? 1 + job->severity * fmin(1, (k - ONSET) / 150.0) : 1;
    case FINDING_JITTER:
        return rank == delayed ? 1 + job->severity : 1;
    case FINDING_OSCILLATION:
        return k / 2 % 2 ? 1 + job->severity : 1;
    default:
        return 1;
    }
}

static double transfer_factor(const struct job *job, uint32_t k)
{
    bool burst = (k - ONSET) % 30 < 6;

    return is_on(job, k) &&
                   (job->fault == FINDING_COMMUNICATION || (job->fault == FINDING_CONGESTION && burst))
               ? 1 + job->severity
               : 1;
}

struct run {
    struct diagnosis *d;
    double state[RANKS_MAX], differ[RANKS_MAX];
    double time_s, faultless_s;
    uint32_t k;
    uint32_t delayed; /* this rank takes twice as long in the next step, if detours */
    bool detours;
};

static void begin(struct run *run, const struct job *job)
{
    *run = (struct run){ .d = diagnosis_new() };
    for (uint32_t r = 0; r < job->ranks; r++) {
        diagnosis_place(run->d, r, 100 + r / 2, 200 + r / 8);
        run->differ[r] = 1 + job->differ * box_muller();
    }
}

static void one_step(struct run *run, const struct job *job)
{
    uint32_t k = run->k++, delayed = (uint32_t)(uniform() * 3 * job->ranks);
    float own[RANKS_MAX], longest = 0, faultless = 0;
    double transfer_s = 0.02 * fmax(0.5, 1 + 0.04 * box_muller());

    for (uint32_t r = 0; r < job->ranks; r++) {
        double usual;
        double noise = job->fault == FINDING_IMBALANCE && k >= ONSET ? job->severity : job->noise;

        run->state[r] = job->rho * run->state[r] + sqrt(1 - job->rho * job->rho) * box_muller();
        usual = COMPUTE_S * run->differ[r] * fmax(0.2, 1 + job->noise * run->state[r]);
        own[r] = (float)(COMPUTE_S * run->differ[r] * fmax(0.2, 1 + noise * run->state[r]));
        if (uniform() < job->spikes)
            usual = own[r] = own[r] * 2;
        own[r] *= (float)own_factor(job, r, k, delayed) * (run->detours && r == run->delayed ? 2 : 1);
        longest = fmaxf(longest, own[r]);
        faultless = fmaxf(faultless, (float)usual);
    }
    run->detours = false;
    run->faultless_s += faultless + transfer_s;
    transfer_s *= transfer_factor(job, k);
    run->time_s += longest + transfer_s;
    diagnosis_step(run->d,
                   &(struct diagnosis_step){ .seq = 4 * k + 3,
                                             .period = 4,
                                             .own_s = own,
                                             .n = job->ranks,
                                             .duration_s = longest + transfer_s,
                                             .transfer_s = transfer_s,
                                             .ended_s = run->time_s },
                   1.01);
}

/* Draw what so many runs of so many steps would draw: what follows is the same whether they are tried or not.
 */
static void pass_over(const struct job *job, uint32_t steps, uint32_t runs)
{
    uint64_t normal = 2, draws = normal * job->ranks + steps * (1 + normal + job->ranks * (1 + normal));

    for (uint64_t n = runs * draws; n; n--)
        uniform();
}

static const struct finding *costliest(struct run *run)
{
    const struct finding *list, *best = NULL;
    size_t n = diagnosis_findings(run->d, &list);

    for (size_t i = 0; i < n; i++)
        if (!best || list[i].saved_s > best->saved_s)
            best = &list[i];
    return best;
}

static const struct finding *standing(struct run *run)
{
    const struct finding *list;
    size_t n = diagnosis_findings(run->d, &list);

    for (size_t i = n; i-- > 0;)
        if (list[i].standing)
            return &list[i];
    return NULL;
}

static void false_alarms(void)
{
    /* Own work that varies by more than WIDE is imbalance, and rightly called so: only places are looked for.
     */
    static const struct {
        struct job job;
        bool places;
    } cases[] = {
        { { 8, 0.02, 0.0, 0.005, 0, HEALTHY, 0, 0, 0, 0 }, false },
        { { 8, 0.05, 0.0, 0.010, 0, HEALTHY, 0, 0, 0, 0 }, false },
        { { 8, 0.25, 0.0, 0, 0, HEALTHY, 0, 0, 0, 0 }, true },
        { { 8, 0.25, 0.5, 0, 0, HEALTHY, 0, 0, 0, 0 }, true },
        { { 64, 0.004, 0.0, 0.005, 0, HEALTHY, 0, 0, 0, 0 }, false },
        { { 64, 0.05, 0.0, 0.010, 0, HEALTHY, 0, 0, 0, 0 }, false },
        { { 64, 0.10, 0.5, 0, 0, HEALTHY, 0, 0, 0, 0 }, true },
        { { 16, 0.05, 0.0, 0.005, 0.0002, HEALTHY, 0, 0, 0, 0 }, false },
        { { 16, 0.10, 0.3, 0, 0.0002, HEALTHY, 0, 0, 0, 0 }, true },
        { { 2, 0.05, 0.0, 0.005, 0, HEALTHY, 0, 0, 0, 0 }, false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct job *job = &cases[i].job;
        uint32_t jobs = tried_of(20), alarms = 0;

        for (uint32_t n = 0; n < jobs; n++) {
            const struct finding *list;
            struct run run;
            size_t found;

            begin(&run, job);
            while (run.k < 2000)
                one_step(&run, job);
            found = diagnosis_findings(run.d, &list);
            for (size_t f = 0; f < found; f++)
                if (!cases[i].places || list[f].scope != SCOPE_NONE)
                    alarms++;
            diagnosis_free(run.d);
        }
        pass_over(job, 2000, 20 - jobs);
        is_int(alarms, 0,
               "%u ranks, noise %.1f %%, memory %.1f, spikes %.4f: no alarm in jobs of 2,000 steps",
               job->ranks, 100 * job->noise, job->rho, job->spikes);
    }
}

static void detections(void)
{
    static const struct {
        const char *name;
        struct job job;
        enum finding_scope scope;
        uint32_t place, within; /* steps */
    } cases[] = {
        { "a rank", { 8, 0.02, 0, 0, 0, FINDING_STRAGGLER, 3, 3, 0.20, 0 }, SCOPE_RANK, 3, 6 },
        { "a rank in noise", { 8, 0.05, 0, 0.01, 0, FINDING_STRAGGLER, 3, 3, 0.20, 0 }, SCOPE_RANK, 3, 16 },
        { "a rank, noise with memory",
          { 8, 0.05, 0.5, 0, 0, FINDING_STRAGGLER, 0, 0, 0.20, 0 },
          SCOPE_RANK,
          0,
          36 },
        { "one of 64", { 64, 0.02, 0, 0.005, 0, FINDING_STRAGGLER, 40, 40, 0.10, 0 }, SCOPE_RANK, 40, 12 },
        { "one of two", { 2, 0.02, 0, 0, 0, FINDING_STRAGGLER, 1, 1, 0.20, 0 }, SCOPE_RANK, 1, 10 },
        { "a node", { 16, 0.03, 0, 0.005, 0, FINDING_STRAGGLER, 4, 5, 0.15, 0 }, SCOPE_NODE, 102, 10 },
        { "a switch", { 32, 0.03, 0, 0.005, 0, FINDING_STRAGGLER, 8, 15, 0.10, 0 }, SCOPE_SWITCH, 201, 8 },
        { "half of all", { 16, 0.03, 0, 0.005, 0, FINDING_STRAGGLER, 0, 7, 0.15, 0 }, SCOPE_SWITCH, 200, 8 },
        { "a drift", { 16, 0.02, 0, 0.005, 0, FINDING_DRIFT, 2, 2, 0.30, 0 }, SCOPE_RANK, 2, 60 },
        { "jitter", { 16, 0.02, 0, 0.005, 0, FINDING_JITTER, 0, 0, 0.80, 0 }, SCOPE_NONE, 0, 40 },
        { "imbalance", { 16, 0.02, 0, 0.005, 0, FINDING_IMBALANCE, 0, 0, 0.20, 0 }, SCOPE_NONE, 0, 80 },
        { "slower transfers",
          { 16, 0.02, 0, 0, 0, FINDING_COMMUNICATION, 0, 0, 0.50, 0 },
          SCOPE_NONE,
          0,
          12 },
        { "bursts", { 16, 0.02, 0, 0, 0, FINDING_CONGESTION, 0, 0, 3.0, 0 }, SCOPE_NONE, 0, 20 },
        { "fast and slow steps",
          { 16, 0.02, 0, 0, 0, FINDING_OSCILLATION, 0, 0, 0.15, 0 },
          SCOPE_NONE,
          0,
          40 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct job *job = &cases[i].job;
        uint32_t runs = tried_of(20), right = 0, placed = 0, worst = 0;
        double error = 0;

        for (uint32_t n = 0; n < runs; n++) {
            const struct finding *f;
            struct run run;
            double slowdown, truth;
            uint32_t named;

            begin(&run, job);
            while (run.k < 500)
                one_step(&run, job);
            f = costliest(&run);
            named = f && f->named_step > ONSET ? (uint32_t)f->named_step - ONSET : 1000;
            right += f && f->class == job->fault && f->standing;
            placed +=
                f && f->scope == cases[i].scope && (f->scope == SCOPE_NONE || f->place == cases[i].place);
            worst = named > worst ? named : worst;
            truth = run.time_s / run.faultless_s;
            slowdown = f ? run.time_s / (run.time_s - f->saved_s) : 1;
            error = fmax(error, fabs(slowdown - truth));
            diagnosis_free(run.d);
        }
        pass_over(job, 500, 20 - runs);
        is_int(right, runs, "%s: the class is %s in all runs", cases[i].name, finding_class_name(job->fault));
        is_int(placed, runs, "%s: the place is right in all runs", cases[i].name);
        ok(worst <= cases[i].within, "%s: the finding is named within %u steps", cases[i].name,
           cases[i].within);
        ok(error <= 0.03, "%s: the price is off by at most 0.03", cases[i].name);
        printf("# named within %u steps, price off by %.4f\n", worst, error);
    }
}

/* The interval of a price holds the truth at least about as often as it claims, and it is no wider than this.
 */
static void intervals(void)
{
    static const struct {
        const char *what;
        struct job job;
        uint32_t least; /* of 100 intervals */
        double width;   /* of the cost, at the most */
    } cases[] = {
        { "a rank", { 16, 0.03, 0, 0.005, 0, FINDING_STRAGGLER, 3, 3, 0.20, 0 }, 80, 0.15 },
        { "a rank whose noise has a memory",
          { 16, 0.03, 0.6, 0.005, 0, FINDING_STRAGGLER, 3, 3, 0.20, 0 },
          80,
          0.25 },
        { "a node", { 16, 0.03, 0, 0.005, 0, FINDING_STRAGGLER, 6, 7, 0.25, 0 }, 80, 0.1 },
        { "a drift", { 16, 0.02, 0, 0.005, 0, FINDING_DRIFT, 2, 2, 0.30, 0 }, 70, 0.3 },
        { "jitter", { 16, 0.02, 0, 0.005, 0, FINDING_JITTER, 0, 0, 0.80, 0 }, 80, 0.2 },
        { "imbalance", { 16, 0.02, 0, 0.005, 0, FINDING_IMBALANCE, 0, 0, 0.20, 0 }, 70, 0.3 },
        { "slower transfers", { 16, 0.02, 0, 0, 0, FINDING_COMMUNICATION, 0, 0, 0.50, 0 }, 80, 0.1 },
        { "bursts", { 16, 0.02, 0, 0, 0, FINDING_CONGESTION, 0, 0, 3.0, 0 }, 80, 0.2 },
        { "fast and slow steps", { 16, 0.02, 0, 0, 0, FINDING_OSCILLATION, 0, 0, 0.15, 0 }, 80, 0.2 },
    };
    uint32_t runs = tried_of(100);
    uint64_t before = random_state;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        uint32_t known = 0, covered = 0;
        double width = 0;

        for (uint32_t n = 0; n < runs; n++) {
            const struct finding *f;
            struct run run;
            double saved_s;

            begin(&run, &cases[i].job);
            while (run.k < 350)
                one_step(&run, &cases[i].job);
            f = costliest(&run);
            saved_s = run.time_s - run.faultless_s;
            if (f && f->class == cases[i].job.fault && interval_known(f->cost)) {
                known++;
                covered += f->saved_s * f->cost.low <= saved_s && saved_s <= f->saved_s * f->cost.high;
                width += f->cost.high - f->cost.low;
            }
            diagnosis_free(run.d);
        }
        ok(known * 100 >= runs * 95, "%s: the interval is known in 95 of 100 runs\n%u of %u", cases[i].what,
           known, runs);
        ok(covered * 100 >= runs * cases[i].least,
           "%s: the interval holds the truth as often as it has to\n%u of %u", cases[i].what, covered, runs);
        ok(width / known < cases[i].width, "%s: the interval is narrow\n%.3f of the cost", cases[i].what,
           width / known);
    }
    random_state = before; /* what follows does not depend on how many runs these are */
}

/* What is over is said to be over, and its price stays; the same again is another finding at its own price.
 */
static void endings(void)
{
    static const struct job jobs[] = {
        { 16, 0.03, 0, 0.005, 0, FINDING_STRAGGLER, 3, 3, 0.20, 300 },
        { 16, 0.03, 0, 0.005, 0, FINDING_COMMUNICATION, 0, 0, 0.80, 300 },
        { 16, 0.03, 0, 0.005, 0, FINDING_CONGESTION, 0, 0, 4.0, 400 },
        { 16, 0.03, 0, 0.005, 0, FINDING_OSCILLATION, 0, 0, 0.20, 300 },
        { 16, 0.03, 0, 0.005, 0, FINDING_JITTER, 0, 0, 0.80, 300 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(jobs); i++) {
        const struct finding *f;
        struct run run;
        double truth, before_s;

        begin(&run, &jobs[i]);
        while (run.k < jobs[i].end)
            one_step(&run, &jobs[i]);
        f = costliest(&run);
        ok(f && f->standing, "%s: the finding stands at the end of the fault",
           finding_class_name(jobs[i].fault));
        while (run.k < 700)
            one_step(&run, &jobs[i]);
        f = costliest(&run);
        truth = run.time_s / run.faultless_s;
        ok(f && f->class == jobs[i].fault && !f->standing,
           "%s: the finding is over after the fault has ended", finding_class_name(jobs[i].fault));
        ok(f && near(run.time_s / (run.time_s - f->saved_s), truth, 0.02),
           "%s: the finding keeps its price after the fault has ended", finding_class_name(jobs[i].fault));
        while (run.k < AGAIN)
            one_step(&run, &jobs[i]);
        before_s = run.time_s - run.faultless_s;
        while (run.k < AGAIN + 120)
            one_step(&run, &jobs[i]);
        f = standing(&run);
        truth = run.time_s - run.faultless_s - before_s;
        ok(f && f->class == jobs[i].fault && near(f->saved_s, truth, 0.2),
           "%s: the same fault again has its price\n%.2f s of %.2f", finding_class_name(jobs[i].fault),
           f ? f->saved_s : NAN, truth);
        diagnosis_free(run.d);
    }
}

/* Of a fault that began soon, places have their evidence against the others only, and lose it in one step
 * when it is over: the node sooner than one of its ranks. */
static void heals(void)
{
    static const struct job job = { 16, 0.012, 0.8, 0.006, 0, FINDING_STRAGGLER, 2, 3, 0.28, ONSET + 75 };
    uint32_t whole = 0, priced = 0;

    for (uint32_t i = 0; i < 40; i++) {
        const struct finding *f;
        struct run run;

        begin(&run, &job);
        run.k = ONSET - 66; /* its first step */
        while (run.k < job.end + 60)
            one_step(&run, &job);
        f = costliest(&run);
        whole += f && f->scope == SCOPE_NODE && f->place == 101 && !f->standing;
        priced += f && near(run.time_s / (run.time_s - f->saved_s), run.time_s / run.faultless_s, 0.02);
        diagnosis_free(run.d);
    }
    is_int(whole, 40, "a node that was slow stays what was found when it is over");
    is_int(priced, 40, "it keeps its price then");
}

/* Steps of which only what each rank computes matters. */
static void give_step(struct run *run, const float *own_s, uint32_t n, float longest_s)
{
    run->time_s += longest_s + 0.01;
    run->k++;
    diagnosis_step(run->d,
                   &(struct diagnosis_step){ .seq = 4 * run->k,
                                             .period = 4,
                                             .own_s = own_s,
                                             .n = n,
                                             .duration_s = longest_s + 0.01,
                                             .transfer_s = 0.01,
                                             .ended_s = run->time_s },
                   1.01);
}

/* Two equally slow ranks: without one of them the other still holds all back, so that they have one price. */
static void two_at_once(void)
{
    struct job job = { .ranks = 16, .fault = HEALTHY };
    const struct finding *list;
    struct run run;
    double saved_s = 0;
    uint32_t ranks = 0;
    size_t n;

    begin(&run, &job);
    while (run.k < 400) {
        float own[16], longest = 0, without = 0;

        for (uint32_t r = 0; r < 16; r++) {
            float own_s = (float)(COMPUTE_S * (1 + 0.02 * box_muller()));

            own[r] = own_s * (run.k >= ONSET && (r == 3 || r == 12) ? 1.2F : 1);
            longest = fmaxf(longest, own[r]);
            without = fmaxf(without, own_s);
        }
        saved_s += longest - without;
        give_step(&run, own, 16, longest);
    }
    n = diagnosis_findings(run.d, &list);
    for (size_t i = 0; i < n; i++)
        if (list[i].standing && list[i].scope == SCOPE_RANK && (list[i].place == 3 || list[i].place == 12))
            ranks++;
    is_int((long long)n, 2, "two slow ranks are two findings");
    is_int(ranks, 2, "two findings have their own places");
    ok(n == 2 && list[1].with == list[0].id && near(list[0].saved_s, saved_s, 0.05),
       "they are reported together, and cost together what both do\n%.2f s of %.2f", list[0].saved_s,
       saved_s);
    ok(list[0].alone > 1 && list[0].alone < 1 + (list[0].slowdown - 1) / 5 && isnan(list[1].alone),
       "mending one of them gains little\n%.3f of %.3f", list[0].alone, list[0].slowdown);
    diagnosis_free(run.d);
}

/* More ranks than two that are slow, alike or not: what they cost together is what all of them do. */
static void several_at_once(void)
{
    static const struct {
        const char *what;
        uint32_t n, rank[4];
        float excess[4];
    } cases[] = {
        { "three alike", 3, { 3, 7, 12 }, { 0.2F, 0.2F, 0.2F } },
        { "four alike", 4, { 1, 3, 7, 12 }, { 0.2F, 0.2F, 0.2F, 0.2F } },
        { "three that differ", 3, { 3, 7, 12 }, { 0.26F, 0.23F, 0.2F } },
    };

    for (size_t c = 0; c < ARRAY_SIZE(cases); c++) {
        struct job job = { .ranks = 32, .fault = HEALTHY };
        const struct finding *list;
        double cost_s = 0, saved_s = 0;
        struct run run;
        size_t n;

        begin(&run, &job);
        while (run.k < 400) {
            float own[32], longest = 0, without = 0;

            for (uint32_t r = 0; r < 32; r++) {
                float own_s = (float)(COMPUTE_S * (1 + 0.01 * box_muller()));

                own[r] = own_s;
                for (uint32_t i = 0; i < cases[c].n && run.k >= ONSET; i++)
                    own[r] *= r == cases[c].rank[i] ? 1 + cases[c].excess[i] : 1;
                longest = fmaxf(longest, own[r]);
                without = fmaxf(without, own_s);
            }
            cost_s += longest - without;
            give_step(&run, own, 32, longest);
        }
        n = diagnosis_findings(run.d, &list);
        for (size_t i = 0; i < n; i++)
            saved_s += list[i].standing && list[i].with == list[i].id ? list[i].saved_s : 0;
        ok(n == cases[c].n && near(saved_s, cost_s, 0.05),
           "%s: they cost together what all of them do\n%.2f s of %.2f", cases[c].what, saved_s, cost_s);
        diagnosis_free(run.d);
    }
}

/* What costs a tenth of each step, from the first one on, is seen in the newest 20 steps of 120; all ranks
 * paused in two steps before. */
static void cost_before_pauses(void)
{
    struct diagnosis *d = diagnosis_new();
    const struct finding *f;
    double now_s = 0;

    for (uint32_t r = 0; r < 8; r++)
        diagnosis_place(d, r, 100 + r, 200);
    for (uint32_t k = 1; k <= 120; k++) {
        bool pause = k == 40 || k == 80;
        float own[8];

        for (uint32_t r = 0; r < 8; r++)
            own[r] = (float)(COMPUTE_S * (1 + 0.01 * box_muller()) + (pause ? 3.0 : 0));
        now_s += COMPUTE_S + (pause ? 3.0 : 0);
        diagnosis_step(d,
                       &(struct diagnosis_step){ .seq = k,
                                                 .period = 1,
                                                 .own_s = own,
                                                 .n = 8,
                                                 .duration_s = COMPUTE_S + (pause ? 3.0 : 0),
                                                 .transfer_s = NAN,
                                                 .ended_s = now_s },
                       1.01);
    }
    diagnosis_other(d, &(struct diagnosis_other){ .class = FINDING_IMBALANCE,
                                                  .scope = SCOPE_RANKS,
                                                  .standing = true,
                                                  .saved_s = 20 * COMPUTE_S / 10,
                                                  .of_s = 20 * COMPUTE_S,
                                                  .slowdown = 1.11 });
    is_int((long long)diagnosis_findings(d, &f), 1, "the ranks of a role are the finding");
    ok(near(f->saved_s, 120 * COMPUTE_S / 10, 0.02),
       "over the run it cost a tenth of all steps but of the pauses\n%g s", f->saved_s);
    diagnosis_free(d);
}

/* Rank 3 takes 1.9 times as long from a step on, in its first step for half of it; all pause for a second in
 * another one. */
static struct finding slow_rank_of_few_steps(uint32_t onset, uint32_t pause)
{
    struct run run = { .d = diagnosis_new() };
    const struct finding *f;
    struct finding first = { 0 };

    for (uint32_t r = 0; r < 8; r++)
        diagnosis_place(run.d, r, 100 + r, 200);
    for (uint32_t k = 0; k < 30; k++) {
        float own[8], longest = 0;

        for (uint32_t r = 0; r < 8; r++) {
            double slow = r != 3 || k < onset ? 0 : k == onset && onset ? 0.43 : 0.9;

            own[r] = (float)(COMPUTE_S * (1 + 0.005 * box_muller()) * (1 + slow) + (k == pause ? 1 : 0));
            longest = fmaxf(longest, own[r]);
        }
        give_step(&run, own, 8, longest);
    }
    if (diagnosis_findings(run.d, &f))
        first = f[0];
    diagnosis_free(run.d);
    return first;
}

/* What a rank is slower by is not known from the step in which that began, and not from a pause. */
static void what_shows_an_excess(void)
{
    struct finding began = slow_rank_of_few_steps(6, 99), paused = slow_rank_of_few_steps(0, 2);

    ok(near(began.excess, 0.9, 0.015),
       "a rank that became slow in the middle of its seventh step is 90 %% slower\n%g", began.excess);
    ok(near(paused.excess, 0.9, 0.015),
       "one that has been slow from the start is, too, though all paused in the third step\n%g",
       paused.excess);
}

/* The first steps of a slow rank look like detours until it is named. Together with two real ones they are no
 * jitter. */
static void detours_of_straggler(void)
{
    static const struct job job = {
        .ranks = 8, .noise = 0.03, .fault = FINDING_STRAGGLER, .first = 4, .last = 4, .severity = 0.5
    };
    uint32_t runs = tried_of(20), alone = 0;

    for (uint32_t n = 0; n < runs; n++) {
        const struct finding *list;
        struct run run;
        size_t found;

        begin(&run, &job);
        while (run.k < ONSET + 100) {
            run.detours = run.k == ONSET - 30 || run.k == ONSET + 30;
            run.delayed = run.k < ONSET ? 1 : 6;
            one_step(&run, &job);
        }
        found = diagnosis_findings(run.d, &list);
        alone += found == 1 && list[0].class == FINDING_STRAGGLER && list[0].scope == SCOPE_RANK;
        diagnosis_free(run.d);
    }
    pass_over(&job, ONSET + 100, 20 - runs);
    is_int(alone, runs,
           "a slow rank beside two delays of others: the straggler is the only finding in all runs");
}

/* A controller that was started again hears of ranks' places one by one, while steps go on. */
static void placed_late(void)
{
    struct job job = { 16, 0.02, 0, 0, 0, FINDING_STRAGGLER, 4, 5, 0.30, 0 };
    const struct finding *f;
    struct run run;

    begin(&run, &job);
    diagnosis_free(run.d);
    run.d = diagnosis_new();
    diagnosis_place(run.d, job.ranks - 1, 107, 201);
    for (uint32_t r = 0; r < job.ranks; r++) {
        while (run.k < 10 * (r + 1))
            one_step(&run, &job);
        diagnosis_place(run.d, r, 100 + r / 2, 200 + r / 8);
    }
    while (run.k < ONSET + 60)
        one_step(&run, &job);
    f = costliest(&run);
    ok(f && f->scope == SCOPE_NODE && f->place == 102, "a place that is known only later is named");
    diagnosis_place(run.d, 4, 110, 200);
    diagnosis_place(run.d, 5, 110, 200);
    while (run.k < ONSET + 300)
        one_step(&run, &job);
    f = standing(&run);
    ok(f && f->scope == SCOPE_NODE && f->place == 110, "a rank that moved is named by its new node");
    diagnosis_free(run.d);
}

/* Four ranks, each alone on its node, two nodes a switch: those of one switch are a little slower, and then
 * one of them is much slower. */
static void alone_on_their_nodes(void)
{
    struct diagnosis *d = diagnosis_new();
    const struct finding *f;
    bool was_switch = false, is_node = false;

    for (uint32_t r = 0; r < 4; r++)
        diagnosis_place(d, r, 100 + r, 200 + r / 2);
    for (uint32_t k = 1; k <= 120; k++) {
        float own[4], longest = 0;

        for (uint32_t r = 0; r < 4; r++) {
            double more = r > 1 || k < 60 ? 0 : k < 80 ? 0.2 : r == 0 ? 0.8 : 0;

            own[r] = (float)(COMPUTE_S * (1 + more) * (1 + 0.02 * box_muller()));
            longest = fmaxf(longest, own[r]);
        }
        diagnosis_step(d,
                       &(struct diagnosis_step){ .seq = k,
                                                 .period = 1,
                                                 .own_s = own,
                                                 .n = 4,
                                                 .duration_s = longest,
                                                 .transfer_s = NAN,
                                                 .ended_s = k },
                       1.01);
        for (size_t i = 0, n = diagnosis_findings(d, &f); i < n; i++) {
            was_switch = was_switch || (f[i].standing && f[i].scope == SCOPE_SWITCH && f[i].place == 200);
            is_node = f[i].standing && f[i].scope == SCOPE_NODE && f[i].place == 100;
        }
    }
    ok(was_switch && is_node,
       "where a switch was named, a rank alone on its node that is much slower is named by its node");
    diagnosis_free(d);
}

/* Ranks that take far longer than all noise, from their step `onset` on: after how many steps are they named?
 * Two ranks a node. */
static uint32_t named_after(uint32_t first, uint32_t last, double excess, double noise, uint32_t onset)
{
    struct diagnosis *d = diagnosis_new();
    const struct finding *f;
    uint32_t after = 0;
    double time_s = 0;

    for (uint32_t r = 0; r < 16; r++)
        diagnosis_place(d, r, 100 + r / 2, WORK_PLACE_NONE);
    for (uint32_t k = 1; k < onset + 40 && !after; k++) {
        float own[16], longest = 0;

        for (uint32_t r = 0; r < 16; r++) {
            own[r] = (float)(COMPUTE_S * (1 + noise * box_muller()));
            own[r] *= r >= first && r <= last && k >= onset ? (float)(1 + excess) : 1;
            longest = fmaxf(longest, own[r]);
        }
        time_s += longest;
        diagnosis_step(d,
                       &(struct diagnosis_step){ .seq = k,
                                                 .period = 1,
                                                 .own_s = own,
                                                 .n = 16,
                                                 .duration_s = longest,
                                                 .transfer_s = NAN,
                                                 .ended_s = time_s },
                       1.01);
        if (diagnosis_findings(d, &f) && f->standing && k >= onset)
            after = k - onset + 1;
    }
    diagnosis_free(d);
    return after;
}

/* What is beyond doubt is named as soon as three steps show it, whatever the price of the first of them alone
 * was. */
static void named_at_once(void)
{
    static const struct {
        const char *what;
        uint32_t first, last, onset, within;
        double excess, noise;
    } cases[] = {
        { "a rank, by 80 %", 3, 3, 40, 3, 0.8, 0.001 },
        { "a rank, by 10 %", 3, 3, 40, 3, 0.1, 0.001 },
        { "a rank, by 80 %, from the tenth step on", 3, 3, 10, 3, 0.8, 0.003 },
        { "a node, by 80 %", 4, 5, 40, 3, 0.8, 0.003 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        uint32_t worst = 0, never = 0;

        for (uint32_t n = 0; n < 20; n++) {
            uint32_t after =
                named_after(cases[i].first, cases[i].last, cases[i].excess, cases[i].noise, cases[i].onset);

            never += !after;
            worst = after > worst ? after : worst;
        }
        ok(!never && worst <= cases[i].within,
           "%s, which is far beyond the noise: named within %u steps\n%u never, %u", cases[i].what,
           cases[i].within, never, worst);
    }
}

/* Four ranks, two on a node, of which one is slow since a few steps before the other: named one by one, they
 * are their node. */
static void ranks_of_a_node(void)
{
    struct diagnosis *d = diagnosis_new();
    const struct finding *f;
    bool was_rank = false;
    size_t n = 0;

    for (uint32_t r = 0; r < 4; r++)
        diagnosis_place(d, r, 100 + r / 2, 200);
    for (uint32_t k = 1; k <= 160; k++) {
        float own[4], longest = 0;

        for (uint32_t r = 0; r < 4; r++) {
            own[r] = (float)(COMPUTE_S * (1 + 0.02 * box_muller()) * (r < 2 && k >= 100 + 6 * r ? 1.8 : 1));
            longest = fmaxf(longest, own[r]);
        }
        diagnosis_step(d,
                       &(struct diagnosis_step){ .seq = k,
                                                 .period = 1,
                                                 .own_s = own,
                                                 .n = 4,
                                                 .duration_s = longest,
                                                 .transfer_s = NAN,
                                                 .ended_s = k },
                       1.01);
        n = diagnosis_findings(d, &f);
        was_rank = was_rank || (n && f[0].scope == SCOPE_RANK);
    }
    ok(was_rank && n == 1 && f[0].scope == SCOPE_NODE && f[0].place == 100,
       "two slow ranks that are all of a node are one slow node");
    diagnosis_free(d);
}

/* Sixteen ranks, two on a node, four nodes below a switch: those of one switch are slower from the first step
 * on, before which half a step was seen. */
static void half_of_a_kind(void)
{
    struct diagnosis *d = diagnosis_new();
    double time_s = 0, faultless_s = 0;
    uint64_t before = random_state; /* other tests draw what they drew without this one */
    const struct finding *f;
    size_t n;

    for (uint32_t r = 0; r < 16; r++)
        diagnosis_place(d, r, 100 + r / 2, 200 + r / 8);
    for (uint32_t k = 0; k < 120; k++) {
        float own[16], longest = 0, usual = 0;

        for (uint32_t r = 0; r < 16; r++) {
            double s = COMPUTE_S * (1 + 0.005 * box_muller());

            own[r] = (float)(s * (r >= 8 && k ? 1.2 : 1));
            longest = fmaxf(longest, own[r]);
            usual = fmaxf(usual, (float)s);
        }
        time_s += longest;
        faultless_s += usual;
        diagnosis_step(d,
                       &(struct diagnosis_step){ .seq = k,
                                                 .period = 1,
                                                 .own_s = own,
                                                 .n = 16,
                                                 .duration_s = longest,
                                                 .transfer_s = NAN,
                                                 .ended_s = time_s },
                       1.01);
    }
    n = diagnosis_findings(d, &f);
    while (n && !f->standing) {
        f++;
        n--;
    }
    ok(n == 1 && f->scope == SCOPE_SWITCH && f->place == 201,
       "nodes that are slow alike and are all of a switch are one slow switch");
    if (n) {
        ok(near(f->excess, 0.2, 0.05), "it is slow by all that it differs from the others\n%g", f->excess);
        ok(near(f->saved_s, time_s - faultless_s, 0.1),
           "it costs what the run without it would be shorter by\n%g of %g", f->saved_s,
           time_s - faultless_s);
    }
    diagnosis_free(d);
    random_state = before;
}

/* Eight ranks, two on a node; delayed and slow take `ratio` times as long.  The step takes `longer` times the
 * usual work. */
static void uneven_step(struct diagnosis *d, uint32_t k, double work_s, uint32_t delayed, uint32_t slow_node,
                        double ratio, double longer)
{
    float own[8];

    for (uint32_t r = 0; r < 8; r++) {
        diagnosis_place(d, r, 100 + r / 2, 200);
        own[r] =
            (float)(work_s * (1 + 0.01 * box_muller()) * (r == delayed || r / 2 == slow_node ? ratio : 1));
    }
    diagnosis_step(d,
                   &(struct diagnosis_step){ .seq = k,
                                             .period = 1,
                                             .own_s = own,
                                             .n = 8,
                                             .duration_s = longer * work_s,
                                             .transfer_s = NAN,
                                             .ended_s = k * work_s },
                   1.01);
}

static void plain_step(struct diagnosis *d, uint32_t k, double work_s, uint32_t delayed, uint32_t slow_node,
                       double longer)
{
    uneven_step(d, k, work_s, delayed, slow_node, 2, longer);
}

/* A rank's work is told without a pause that all made, and that some made longer. */
static void work_beside_pause(void)
{
    struct job job = { .ranks = 8, .fault = HEALTHY };
    struct run run;
    int usual = 0;

    begin(&run, &job);
    while (run.k < 60) {
        float own[8], longest = 0;

        for (uint32_t r = 0; r < 8; r++) {
            own[r] = (float)(COMPUTE_S * (1 + 0.01 * box_muller())) + (run.k == 54 ? 1 + r : 0);
            longest = fmaxf(longest, own[r]);
        }
        give_step(&run, own, 8, longest);
    }
    for (uint32_t r = 0; r < 8; r++)
        usual += fabs(diagnosis_excess(run.d, r)) < 0.05;
    is_int(usual, 8, "a pause in which ranks differ is none of their work");
    diagnosis_free(run.d);
}

/* Four short delays that come close together by chance are no jitter; when they go on they are. */
static void detours_by_chance(void)
{
    enum { NOBODY = 99, STEPS = 80 };

    for (uint32_t last = 34; last <= STEPS; last += STEPS - 34) {
        struct diagnosis *d = diagnosis_new();
        bool told = false;

        for (uint32_t k = 1; k <= STEPS; k++) {
            bool detours = k > 22 && k <= last && k % 3 == 1;
            const struct finding *f;

            uneven_step(d, k, COMPUTE_S, detours ? k / 3 * 3 % 8 : NOBODY, NOBODY, 1.2, detours ? 1.3 : 1.1);
            told = told || diagnosis_findings(d, &f);
        }
        is_int(told, last == STEPS, "delays in every third step %s",
               last == STEPS ? "that go on are jitter" : "are none when there were only four");
        diagnosis_free(d);
    }
}

/* Delays of any rank in two of five steps since the first, before anything shows how long a step usually
 * takes; now and then of several ranks at once; and where records are lost, also of ranks whose work is not
 * known then.  Returns what the verdict says they cost, over what they cost; 0: there is none. */
static double priced_from_the_start(double lost)
{
    enum { RANKS = 16, STEPS = 250 };
    struct diagnosis *d = diagnosis_new();
    double cost_s = 0, said_s = 0;
    const struct finding *f;

    for (uint32_t k = 1; k <= STEPS; k++) {
        float own[RANKS], longest = 0, usual = 0;

        for (uint32_t r = 0; r < RANKS; r++) {
            float plain = (float)(COMPUTE_S * (1 + 0.02 * box_muller()));
            bool delayed = k == 2 ? r == 5 : uniform() < 0.5 / RANKS;

            own[r] = delayed ? (float)(plain + COMPUTE_S * (k == 2 ? 5 : 0.3 + uniform())) : plain;
            longest = fmaxf(longest, own[r]);
            usual = fmaxf(usual, plain);
        }
        if (k > 4) /* of the first steps nothing is said */
            cost_s += longest - usual;
        for (uint32_t r = 0; r < RANKS; r++)
            own[r] = uniform() < lost ? NAN : own[r];
        diagnosis_step(d,
                       &(struct diagnosis_step){ .seq = k,
                                                 .period = 1,
                                                 .own_s = own,
                                                 .n = RANKS,
                                                 .duration_s = longest + 0.005,
                                                 .transfer_s = 0.005,
                                                 .ended_s = k * COMPUTE_S },
                       1.01);
    }
    for (size_t i = 0, n = diagnosis_findings(d, &f); i < n; i++)
        said_s += f[i].class == FINDING_JITTER ? f[i].saved_s : 0;
    diagnosis_free(d);
    return said_s / cost_s;
}

static void struck_from_the_start(void)
{
    static const double lost[] = { 0, 0.15 };
    uint64_t before = random_state;

    for (size_t i = 0; i < ARRAY_SIZE(lost); i++) {
        uint32_t runs = tried_of(100), near = 0;
        double sum = 0;

        for (uint32_t n = 0; n < runs; n++) {
            double said = priced_from_the_start(lost[i]);

            sum += said / runs;
            near += fabs(said - 1) < 0.15;
        }
        ok(fabs(sum - 1) < 0.05,
           "delays from the first step on, %.0f %% of the work unknown: told at what they cost\n%.3f of it",
           100 * lost[i], sum);
        ok(near * 100 >= runs * 85, "in 85 of 100 runs within 15 %%\n%u of %u", near, runs);
    }
    random_state = before;
}

/* Where nobody has to wait for the ranks that take long, steps are as long as others, and it is no jitter. */
static void hidden_detours(void)
{
    enum { NOBODY = 99 };

    for (int hidden = 0; hidden < 2; hidden++) {
        struct diagnosis *d = diagnosis_new();
        const struct finding *f;

        for (uint32_t k = 1; k <= 300; k++) {
            bool detours = k > 100 && k % 7 == 0;

            plain_step(d, k, COMPUTE_S, detours ? k / 7 * 3 % 8 : NOBODY, NOBODY,
                       detours && !hidden ? 2.1 : 1.1);
        }
        is_int((long long)diagnosis_findings(d, &f), !hidden, "detours that %s",
               hidden ? "cost nothing are nothing" : "make steps longer are jitter");
        diagnosis_free(d);
    }
}

/* The first time, in seconds after step `from`, at which something may be told. */
static double told_after_s(double work_s, uint32_t from, uint32_t turn, uint32_t steps)
{
    struct diagnosis *d = diagnosis_new();
    double after_s = NAN;

    for (uint32_t k = 1; k <= steps; k++) {
        const struct finding *f;

        plain_step(d, k, work_s, 99, k < from ? 99 : (k - from) / turn % 4, k < from ? 1.1 : 2.1);
        for (size_t i = 0, n = diagnosis_findings(d, &f); i < n; i++)
            if (isnan(after_s) && !f[i].unconfirmed)
                after_s = (k - from) * work_s;
    }
    diagnosis_free(d);
    return after_s;
}

static void short_steps(void)
{
    double after_s;

    ok(isnan(told_after_s(0.002, 1000, 200, 5000)),
       "steps of 2 ms, nodes that are slow in turn, for 0.4 s each: nothing is told");
    after_s = told_after_s(0.002, 1000, 5000, 5000);
    ok(after_s > 1 && after_s < 1.2, "steps of 2 ms, a node that is slow for good\ntold after %.2f s",
       after_s);
    after_s = told_after_s(0.05, 100, 1000, 300);
    ok(after_s < 0.5, "steps of 50 ms, a node that is slow for good\ntold after %.2f s", after_s);
}

static void no_cost_below_nothing(void)
{
    char text[64];

    is_str(finding_lost_text(&(struct finding){ .slowdown = 1.25, .cost = { -0.5, 2 } }, false, text,
                             sizeof(text)),
           "20 % (0 to 40 %)", "a cost is not less than nothing, however uncertain");
    is_str(finding_share_text(1.25, (struct interval){ 0.85, 1.6667 }, false, text, sizeof(text)),
           "20 % (0 to 40 %)", "nor is a share of what is read");
}

/* Work that is uneven in each of the four blocks of a step, at the end of which all ranks meet.  Returns the
 * finding; truth: what it cost. */
static struct finding uneven_blocks(bool transfers, double *truth)
{
    static const struct job job = { .ranks = 16 };
    const struct finding *f;
    struct finding found;
    struct run run;

    begin(&run, &job);
    *truth = 0;
    for (uint32_t k = 0; k < 350; k++) {
        float own[RANKS_MAX] = { 0 };
        double all_s = 0, sum_s = 0;

        for (uint32_t p = 0; p < 4; p++) {
            double longest = 0, even = 0;

            for (uint32_t r = 0; r < job.ranks; r++) {
                double z = box_muller(), usual = COMPUTE_S / 4 * (1 + 0.04 * z);
                double work = k < ONSET ? usual : COMPUTE_S / 4 * fmax(0.2, 1 + 0.25 * z);

                own[r] += (float)work;
                sum_s += work;
                longest = fmax(longest, work);
                even = fmax(even, usual);
            }
            all_s += longest;
            *truth += longest - even;
        }
        run.time_s += all_s + 0.02;
        diagnosis_step(run.d,
                       &(struct diagnosis_step){ .seq = 4 * k + 3,
                                                 .period = 4,
                                                 .own_s = own,
                                                 .n = job.ranks,
                                                 .duration_s = all_s + 0.02,
                                                 .transfer_s = transfers ? 0.02 : NAN,
                                                 .wait_s = transfers ? all_s - sum_s / job.ranks : NAN,
                                                 .ended_s = run.time_s },
                       1.01);
    }
    f = costliest(&run);
    found = f ? *f : (struct finding){ 0 };
    diagnosis_free(run.d);
    return found;
}

static void blocks_of_a_step(void)
{
    double truth;
    struct finding f = uneven_blocks(true, &truth);

    ok(f.class == FINDING_IMBALANCE, "uneven work in several blocks of a step is imbalance");
    is_near(f.saved_s, truth, 0.15, "it costs what each block waits for its last rank");
    f = uneven_blocks(false, &truth);
    ok(f.class == FINDING_IMBALANCE && f.saved_s < 0.75 * truth,
       "where it is not known who waited, its price is what the sums of work show\n%g of %g s", f.saved_s,
       truth);
    ok(f.saved_s * f.cost.high >= truth, "and its upper limit is above what it costs\n%g of %g s",
       f.saved_s * f.cost.high, truth);
}

/* Two blocks a step, each of half of the work: with noise of their own and of the rank's in the whole step,
 * and with one rank that does more in the first and another in the second.  NULL: nothing stands. */
static const struct finding *two_blocks(struct run *run, double own, double common, double more,
                                        double *truth)
{
    static const struct job job = { .ranks = 32 };

    begin(run, &job);
    *truth = 0;
    for (uint32_t k = 0; k < 200; k++) {
        double block[2][RANKS_MAX], all_s = 0, sum_s = 0;
        float own_s[RANKS_MAX] = { 0 };

        for (uint32_t r = 0; r < job.ranks; r++) {
            double whole = common * box_muller();

            for (uint32_t p = 0; p < 2; p++)
                block[p][r] = COMPUTE_S / 2 * (1 + whole + own * box_muller() + (r == 5 + p ? more : 0));
        }
        for (uint32_t p = 0; p < 2; p++) {
            double longest = 0;

            for (uint32_t r = 0; r < job.ranks; r++) {
                longest = fmax(longest, block[p][r]);
                own_s[r] += (float)block[p][r];
                sum_s += block[p][r];
            }
            all_s += longest;
        }
        *truth += all_s - COMPUTE_S;
        run->time_s += all_s + 0.02;
        diagnosis_step(run->d,
                       &(struct diagnosis_step){ .seq = 2 * k + 1,
                                                 .period = 2,
                                                 .own_s = own_s,
                                                 .n = job.ranks,
                                                 .duration_s = all_s + 0.02,
                                                 .transfer_s = 0.02,
                                                 .wait_s = all_s - sum_s / job.ranks,
                                                 .ended_s = run->time_s },
                       1.01);
    }
    return costliest(run);
}

static void noise_of_blocks(void)
{
    const struct finding *f;
    struct run run;
    double truth;

    f = two_blocks(&run, 0.1, 0, 0, &truth);
    ok(f && f->class == FINDING_IMBALANCE,
       "blocks that vary by 10 %% are imbalance though steps vary by 7 %%");
    is_near(
        f ? f->saved_s : 0, 0.75 * truth, 0.05,
        "it costs what the blocks of all steps wait for, less that for 2.5 of the 10 %%, from the first one");
    ok(f && f->saved_s * f->cost.high > truth, "at most all of it");
    diagnosis_free(run.d);
    f = two_blocks(&run, 0.01, 0.05, 0, &truth);
    ok(!f, "ranks that vary by 5 %% in both blocks of a step alike are ordinary");
    diagnosis_free(run.d);
    f = two_blocks(&run, 0.05, 0, 0, &truth);
    ok(!f, "so are blocks that vary by 5 %%");
    diagnosis_free(run.d);
    f = two_blocks(&run, 0.01, 0.02, 0.3, &truth);
    ok(!f || f->class != FINDING_IMBALANCE,
       "that one rank is the last in each first block and another in each second one is no noise");
    diagnosis_free(run.d);
}

int main(void)
{
    random_state = 42;
    false_alarms();
    detections();
    intervals();
    endings();
    two_at_once();
    several_at_once();
    cost_before_pauses();
    what_shows_an_excess();
    detours_of_straggler();
    placed_late();
    alone_on_their_nodes();
    ranks_of_a_node();
    half_of_a_kind();
    work_beside_pause();
    detours_by_chance();
    hidden_detours();
    struck_from_the_start();
    short_steps();
    no_cost_below_nothing();
    blocks_of_a_step();
    named_at_once();
    heals();
    noise_of_blocks();
    return done_testing();
}
