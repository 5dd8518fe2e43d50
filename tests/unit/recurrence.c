/* Who is late again and again, but not always: named with its place, its rhythm and its price; chance never
 * is. */
#include "detect/diagnosis.h"

#include <stdlib.h>

#include "detect/straggler.h"
#include "tests/random.h"
#include "tests/tap.h"

#define RANKS  16u /* two on each of eight nodes, eight below each of two switches */
#define WORK_S 0.1

/* From step `from` to `to` ranks first to last are late by `severity` times a step's work, in one step of
 * `every`; 0: in a share of the steps.  Other ranks have delays of half a step, as often as chance has it. */
struct job {
    uint32_t first, last, from, to, every;
    double share, severity, chance;
};

struct run {
    struct diagnosis *d;
    double time_s, faultless_s;
    uint32_t k;
};

static void begin(struct run *run)
{
    *run = (struct run){ .d = diagnosis_new() };
    for (uint32_t r = 0; r < RANKS; r++)
        diagnosis_place(run->d, r, 100 + r / 2, 200 + r / 8);
}

static void one_step(struct run *run, const struct job *job)
{
    uint32_t k = run->k++;
    bool late = job->every ? k && k % job->every == 0 : uniform() < job->share;
    float own[RANKS], longest = 0, faultless = 0;

    for (uint32_t r = 0; r < RANKS; r++) {
        own[r] = (float)(WORK_S * (1 + 0.01 * box_muller()));
        if (uniform() < job->chance)
            own[r] += (float)(WORK_S / 2);
        faultless = fmaxf(faultless, own[r]);
        if (late && k >= job->from && (!job->to || k < job->to) && r >= job->first && r <= job->last)
            own[r] += (float)(WORK_S * job->severity * (0.9 + 0.2 * uniform()));
        longest = fmaxf(longest, own[r]);
    }
    run->time_s += longest;
    run->faultless_s += faultless;
    diagnosis_step(run->d,
                   &(struct diagnosis_step){ .seq = k,
                                             .period = 1,
                                             .own_s = own,
                                             .n = RANKS,
                                             .duration_s = longest,
                                             .transfer_s = NAN,
                                             .ended_s = run->time_s },
                   1.01);
}

static void run_to(struct run *run, const struct job *job, uint32_t steps)
{
    while (run->k < steps)
        one_step(run, job);
}

/* The only finding of a straggler; NULL: there is none, or are several. */
static const struct finding *straggler(struct run *run)
{
    const struct finding *list, *found = NULL;
    size_t n = diagnosis_findings(run->d, &list), stragglers = 0;

    for (size_t i = 0; i < n; i++)
        if (list[i].class <= FINDING_DRIFT && !list[i].withdrawn) {
            found = &list[i];
            stragglers++;
        }
    return stragglers == 1 ? found : NULL;
}

static void is_priced(struct run *run, const struct finding *f, const char *what)
{
    double saved_s = run->time_s - run->faultless_s;

    is_near(f->saved_s, saved_s, 0.05, "%s: it cost what the run without it would be shorter by", what);
}

static void seldom_but_long(void)
{
    static const struct job job = { .first = 0, .last = 0, .every = 30, .severity = 7 };
    const struct finding *f;
    struct run run;

    begin(&run);
    run_to(&run, &job, 250);
    f = straggler(&run);
    ok(f && f->scope == SCOPE_RANK && f->place == 0, "a rank that evaluates in every 30th step is named");
    if (!f)
        return;
    is_int(f->period, 30, "every 30th step is its rhythm");
    is_near(f->rate, 1.0 / 30, 0.05, "it is late in one step of 30");
    is_near(f->excess, 7, 0.05, "it is late by seven steps' work");
    ok(f->onset_step <= 2, "it has been so from the beginning\nstep %u", (unsigned)f->onset_step);
    is_priced(&run, f, "every 30th step");
    diagnosis_free(run.d);
}

static void few_checkpoints(void)
{
    static const struct job job = { .first = 4, .last = 5, .every = 34, .severity = 7 };
    const struct finding *f;
    struct run run;

    begin(&run);
    run_to(&run, &job, 190);
    f = straggler(&run);
    ok(f && f->scope == SCOPE_NODE && f->place == 102,
       "a node of eight that is late in each of five checkpoints is named");
    if (f)
        is_priced(&run, f, "five checkpoints");
    diagnosis_free(run.d);
}

static void every_second_step(void)
{
    static const struct job job = { .first = 5, .last = 5, .every = 2, .severity = 0.3 };
    const struct finding *f;
    struct run run;

    begin(&run);
    run_to(&run, &job, 200);
    f = straggler(&run);
    ok(f && f->scope == SCOPE_RANK && f->place == 5 && f->period == 2,
       "a rank that does more in every second step is named with its rhythm");
    if (f)
        is_priced(&run, f, "every second step");
    diagnosis_free(run.d);
}

static void as_it_comes(void)
{
    static const struct job job = { .first = 6, .last = 7, .from = 100, .share = 0.3, .severity = 0.5 };
    const struct finding *f;
    struct run run;

    begin(&run);
    run_to(&run, &job, 300);
    f = straggler(&run);
    ok(f && f->scope == SCOPE_NODE && f->place == 103,
       "a node whose ranks are late together in a third of the steps is named, not its ranks");
    if (f) {
        is_int(f->period, 0, "it has no rhythm");
        ok(f->rate > 0.2 && f->rate < 0.4, "it is late in about a third of the steps\n%.2f", f->rate);
        ok(f->onset_step >= 98 && f->onset_step <= 115,
           "it began at step 100 or with the first late one\nstep %u", (unsigned)f->onset_step);
        is_priced(&run, f, "a third of the steps");
    }
    diagnosis_free(run.d);
}

/* Delays that hit another rank each time are jitter, however long the run is. */
static void chance_names_nobody(void)
{
    uint32_t named = 0;

    for (uint32_t n = 0; n < 20; n++) {
        struct job job = { .every = 1000000, .chance = 0.002 * (1 + n % 8) };
        struct run run;

        begin(&run);
        for (uint32_t k = 0; k < 2000; k += 100) {
            const struct finding *f;

            run_to(&run, &job, k + 100);
            f = straggler(&run);
            named += f && !isnan(f->rate);
        }
        diagnosis_free(run.d);
    }
    is_int(named, 0, "delays by chance: no place is named in 20 runs of 2,000 steps");
}

/* What it looked like until it was seen that it is always the same rank. */
static void no_jitter(void)
{
    static const struct job job = { .first = 3, .last = 3, .every = 12, .severity = 2, .chance = 0.001 };
    const struct finding *list;
    struct run run;
    size_t n, jitter = 0;

    begin(&run);
    run_to(&run, &job, 400);
    n = diagnosis_findings(run.d, &list);
    for (size_t i = 0; i < n; i++)
        jitter += list[i].class == FINDING_JITTER && !list[i].withdrawn && list[i].slowdown > 1.05;
    ok(straggler(&run) && straggler(&run)->place == 3,
       "a rank that is late beside rare delays of others is named");
    is_int(jitter, 0, "its delays are nobody else's");
    diagnosis_free(run.d);
}

static void endings(void)
{
    static const struct job job = { .first = 2, .last = 2, .to = 200, .every = 5, .severity = 1 };
    const struct finding *f;
    struct run run;
    double saved_s;

    begin(&run);
    run_to(&run, &job, 200);
    f = straggler(&run);
    ok(f && f->standing, "a rank that is late in every fifth step is named");
    saved_s = run.time_s - run.faultless_s;
    run_to(&run, &job, 300);
    f = straggler(&run);
    ok(f && !f->standing, "when it comes in time for long it is over");
    is_near(f ? f->saved_s : 0, saved_s, 0.05, "it keeps the price that it had");
    diagnosis_free(run.d);
}

/* What was late in all steps for some time keeps what it was and cost, whatever comes after it. */
static void heals(void)
{
    uint32_t right = 0, priced = 0, again = 0;

    for (uint32_t n = 0; n < 16; n++) {
        struct job job = { .first = n, .last = n, .from = 60, .to = 110 + n, .every = 1, .severity = 0.3 };
        const struct finding *f, *list;
        double saved_s = 0, lost_s;
        struct run run;
        size_t found;

        begin(&run);
        run_to(&run, &job, 160);
        lost_s = run.time_s - run.faultless_s;
        f = straggler(&run);
        right += f && !f->standing && f->place == n && near(f->excess, 0.3, 0.05) &&
                 llabs((long long)f->onset_step - 61) <= 1;
        priced += f && near(f->saved_s, lost_s, 0.05);
        job.from = 160;
        job.to = 200;
        run_to(&run, &job, 240);
        found = diagnosis_findings(run.d, &list);
        for (size_t i = 0; i < found; i++)
            saved_s += list[i].saved_s;
        again += near(saved_s, run.time_s - run.faultless_s, 0.05);
        diagnosis_free(run.d);
    }
    is_int(right, 16,
           "a rank that was late for 50 steps is over, with its onset and by how much it was late");
    is_int(priced, 16, "a rank that was late for 50 steps cost what it did in these");
    is_int(again, 16, "when it is late again both times cost what they did, and none is counted twice");
}

/* The job has run for two seconds when its first step is judged, and the fault begins four steps later. */
static void early(void)
{
    static const struct job job = { .first = 3, .last = 3, .from = 4, .every = 1, .severity = 0.3 };
    const struct finding *f;
    struct run run;

    begin(&run);
    run.time_s = run.faultless_s = 2;
    run_to(&run, &job, 60);
    f = straggler(&run);
    is_int(f ? (long long)f->onset_step : 0, 5, "a fault that began four steps after the first one did so");
    if (f)
        is_priced(&run, f, "four steps after the first one");
    diagnosis_free(run.d);
}

static void becomes_lasting(void)
{
    static const struct job now_and_then = { .first = 9, .last = 9, .every = 4, .severity = 0.5 },
                            always = { .first = 9, .last = 9, .every = 1, .severity = 0.5 };
    const struct finding *f;
    struct run run;
    uint32_t id;

    begin(&run);
    run_to(&run, &now_and_then, 150);
    f = straggler(&run);
    id = f ? f->id : UINT32_MAX;
    ok(f && f->rate > 0, "a rank that is late in every fourth step is named");
    run_to(&run, &always, 230);
    f = straggler(&run);
    ok(f && f->id == id && isnan(f->rate) && f->standing,
       "when it is late in all steps it is the same finding, and late in all of them");
    diagnosis_free(run.d);
}

/* Several late steps in a row look as if all were to be: it is let go of as that, and stays what it is. */
static void late_in_two_steps_of_five(void)
{
    uint32_t one = 0, priced = 0, first = 0;

    for (uint32_t n = 0; n < 40; n++) {
        struct job job = { .first = n % RANKS, .last = n % RANKS, .from = 60, .share = 0.4, .severity = 0.5 };
        const struct finding *f;
        struct run run;
        bool lasting = false;

        begin(&run);
        while (run.k < 300) {
            run_to(&run, &job, run.k + 1);
            f = straggler(&run);
            lasting = lasting || (f && isnan(f->rate));
        }
        f = straggler(&run);
        first += lasting;
        one += f && f->standing && f->rate > 0 && f->place == job.first;
        priced += f && near(f->saved_s, run.time_s - run.faultless_s, 0.05);
        diagnosis_free(run.d);
    }
    ok(first > 0, "late in two steps of five: some look for a while as if they were late in all");
    ok(one >= 39,
       "late in two steps of five: there is one finding, of a rank that is late now and then, unless none of "
       "its newest nine steps was late\n%u of 40",
       one);
    ok(priced >= 39,
       "late in two steps of five: it cost what the run without it would be shorter by, with the same "
       "exception\n%u of 40",
       priced);
}

/* Whose lateness stands out in some of its steps only, by the noise, is not late now and then for that. */
static void ended_is_not_now_and_then(void)
{
    uint32_t over = 0, named = 0;

    for (uint32_t n = 0; n < 40; n++) {
        struct job job = { .first = 4, .last = 4, .from = 60, .to = 100 + n, .every = 1, .severity = 0.11 };
        const struct finding *f;
        struct run run;

        begin(&run);
        run_to(&run, &job, 250);
        f = straggler(&run);
        named += f != NULL;
        over += f && !f->standing && isnan(f->rate);
        diagnosis_free(run.d);
    }
    is_int(named, 40, "a rank that is a little late for some time is named");
    is_int(over, named, "when it comes in time again it is over, and was late in all");
}

int main(void)
{
    random_state = 0;
    seldom_but_long();
    every_second_step();
    as_it_comes();
    chance_names_nobody();
    no_jitter();
    endings();
    becomes_lasting();
    late_in_two_steps_of_five();
    ended_is_not_now_and_then();
    few_checkpoints();
    heals();
    early();
    return done_testing();
}
