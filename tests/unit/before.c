/* What a replay misses of a straggler's cost, from the steps before its onset: jobs whose replays know a part
 * of what a slow node costs. */
#include <math.h>
#include <stdlib.h>

#include "calls/price.h"
#include "detect/diagnosis.h"
#include "tests/tap.h"

#define RANKS  8u
#define STEPS  180u
#define ONSET  100u
#define PAUSE  150u
#define WORK_S 0.1
#define SLOW   0.5 /* the node's work is so much longer */

struct job {
    double missed;  /* of the work: steps are longer by that, too, and no replay knows */
    double grows;   /* all do so much more from step 150 on */
    double detours; /* every fifth step since the onset is longer by that */
    double hidden;  /* in two of three steps since the onset another rank's work is so much longer */
    double pause_s; /* all do nothing for so long before step PAUSE */
    double longer;  /* replays take steps as they were for so much longer */
    bool company;   /* something else began with it */
    bool transfers; /* nobody is slow; from the third step that is judged transfers are */
    /* Slow from the first step that is judged, of which so many before are not; and in how many of those the
     * graph of calls has it slow. */
    uint32_t unseen;
    double already;
    double duration_s[STEPS + 1], saved_s[STEPS + 1];
    uint32_t steps;
    double ended_s;
};

static struct prices replayed(void *arg, const struct straggler *list, size_t n, uint32_t from,
                              uint32_t recent)
{
    const struct job *job = arg;
    struct prices p = { 0 };

    (void)list;
    from -= job->unseen;
    recent -= job->unseen;
    for (uint32_t k = n ? from : job->steps + 1; k <= job->steps; k++) {
        double more_s = job->longer * job->duration_s[k];

        p.all.of_s += job->duration_s[k] + more_s;
        p.all.saved_s += job->saved_s[k] + more_s;
        p.recent.of_s += k >= recent ? job->duration_s[k] + more_s : 0;
        p.recent.saved_s += k >= recent ? job->saved_s[k] + more_s : 0;
    }
    return p;
}

static uint32_t each_replayed(void *arg, const struct straggler *list, size_t n, uint32_t from,
                              double *saved_s, double *more)
{
    const struct job *job = arg;
    uint32_t steps = 0;

    (void)list;
    (void)n;
    for (uint32_t k = from - job->unseen; k <= job->steps; k++) {
        saved_s[steps] = job->saved_s[k];
        more[steps++] = 1;
    }
    return steps;
}

static double already(void *arg, const struct straggler *straggler, uint32_t from)
{
    const struct job *job = arg;

    (void)straggler;
    return from == job->unseen + 1 ? job->already : NAN;
}

static void one_step(struct diagnosis *d, struct job *job)
{
    uint32_t k = ++job->steps;
    double work_s = WORK_S * (k >= 150 ? 1 + job->grows : 1) * (1 + 0.01 * sin(k * 78.233));
    double pause_s = k == PAUSE ? job->pause_s : 0;
    bool slow = !job->transfers && (job->unseen || k >= ONSET), late = job->transfers && k >= 3;
    uint32_t from = late ? 3 : ONSET;
    float own[RANKS];

    for (uint32_t r = 0; r < RANKS; r++)
        own[r] =
            (float)(work_s * (1 + 0.01 * sin(r * 12.9898 + k * 7.1)) * (slow && r / 2 == 1 ? 1 + SLOW : 1) +
                    pause_s);
    if (slow && k % 3)
        own[RANKS - 1] *= (float)(1 + job->hidden);
    job->saved_s[k] = slow ? (SLOW - (k % 3 ? job->hidden : 0)) * work_s : late ? 0.1 * WORK_S : 0;
    job->duration_s[k] = (slow ? 1 + SLOW : 1) * work_s + pause_s + (late ? job->saved_s[k] : 0) +
                         (slow ? job->missed * work_s : 0) + (slow && k % 5 == 0 ? job->detours : 0);
    /* steps that are not judged took as long without it as those that are would take */
    job->ended_s += job->duration_s[k] + (k == 1 ? 1.2 * WORK_S * job->unseen : 0);
    diagnosis_step(d,
                   &(struct diagnosis_step){ .seq = job->unseen + k,
                                             .period = 1,
                                             .own_s = own,
                                             .n = RANKS,
                                             .duration_s = job->duration_s[k],
                                             .transfer_s = NAN,
                                             .began_s = 0,
                                             .ended_s = job->ended_s },
                   1.01);
    if ((job->company && slow) || late)
        diagnosis_other(d, &(struct diagnosis_other){ .class = FINDING_COMMUNICATION,
                                                      .scope = SCOPE_NONE,
                                                      .place = WORK_PLACE_NONE,
                                                      .standing = true,
                                                      .from = job->unseen + from,
                                                      .saved_s = 0.1 * WORK_S * (k - from + 1),
                                                      .of_s = (late ? 1.1 : 1.5) * WORK_S * (k - from + 1),
                                                      .slowdown = 1.07,
                                                      .excess = 1,
                                                      .cost = INTERVAL_UNKNOWN });
}

/* The job to its end: what is said of the slow node, or of transfers; slowdown 0: nothing. */
static struct finding said_of(struct job *job)
{
    struct diagnosis *d = diagnosis_new();
    struct finding said = { 0 };
    const struct finding *list;

    diagnosis_price_by_replays(
        d, &(struct replays){ .all = replayed, .each = each_replayed, .earlier = already, .arg = job });
    for (uint32_t r = 0; r < RANKS; r++)
        diagnosis_place(d, r, 100 + r / 2, 200);
    while (job->steps < STEPS)
        one_step(d, job);
    for (size_t i = 0, n = diagnosis_findings(d, &list); i < n; i++)
        if (list[i].class == (job->transfers ? FINDING_COMMUNICATION : FINDING_STRAGGLER))
            said = list[i];
    diagnosis_free(d);
    return said;
}

/* What the slow node cost, in all steps. */
static double lost_by(const struct job *job)
{
    double lost_s = 0;

    for (uint32_t k = 1; k <= job->steps; k++)
        lost_s += job->saved_s[k] * (1 + job->missed / SLOW);
    return lost_s;
}

/* What the steps with it took. */
static double took_s(const struct job *job)
{
    double sum_s = 0;

    for (uint32_t k = ONSET; k <= job->steps; k++)
        sum_s += job->duration_s[k];
    return sum_s;
}

int main(void)
{
    struct job job;
    struct finding whole = said_of(&(struct job){ 0 }), part = said_of(&(struct job){ .missed = 0.2 });
    struct interval cost = finding_slowdown_interval(&part);

    ok(fabs(whole.slowdown - 1.5) < 0.01, "a replay that knows all: its price is 1.5\n%.3f", whole.slowdown);
    ok(fabs(part.slowdown - 1.7) < 0.02,
       "steps of 1.7 times as long, of which a replay knows 0.5: the price is 1.7\n%.3f", part.slowdown);
    ok(cost.low > 1.5 && cost.low < 1.7 && cost.high > 1.7,
       "its interval reaches from what the replay knows to above 1.7\n%.3f to %.3f", cost.low, cost.high);
    part = said_of(&(struct job){ .missed = 0.2, .grows = 0.5 });
    ok(fabs(part.slowdown - 1.7) < 0.02, "also when all do more later\n%.3f", part.slowdown);
    whole = said_of(&(struct job){ .detours = 0.1 * WORK_S });
    ok(fabs(whole.slowdown - 1.52 / 1.02) < 0.01, "what delays a few steps is not its cost\n%.3f",
       whole.slowdown);
    whole = said_of(&(struct job){ .hidden = 0.3 });
    ok(fabs(whole.slowdown - 1.5 / 1.2) < 0.01,
       "nor are delays of others, in most steps, that it hides: its price is 1.25\n%.3f", whole.slowdown);
    part = said_of(&(struct job){ .missed = 0.2, .company = true });
    ok(fabs(part.slowdown - 1.7 / 1.2) < 0.02,
       "where something else began with it, the price is what the replay knows\n%.3f", part.slowdown);
    job = (struct job){ .missed = 0.2, .pause_s = 30 * WORK_S };
    part = said_of(&job);
    is_near(part.saved_s, lost_by(&job), 0.02, "a pause of all was not longer by it");
    job = (struct job){ .longer = 0.1 };
    part = said_of(&job);
    is_near(part.saved_s, (lost_by(&job) + 0.1 * took_s(&job)) / 1.1, 0.02,
            "where replays take a tenth longer than the steps did, it cost its share of what they took");
    for (uint32_t i = 0; i < 2; i++) {
        job = (struct job){ .unseen = 60, .already = i ? 10 : NAN };
        whole = said_of(&job);
        if (i)
            is_near(whole.saved_s, lost_by(&job) * (1 + 60 * 1.2 / 1.5 / STEPS * 10 / 60), 0.02,
                    "slow in ten of sixty steps before: it cost a sixth of that time as much a second");
        else
            ok(whole.saved_s > lost_by(&job) * 1.001, "it is not known in how many: the steps' times say it");
    }
    job = (struct job){ .unseen = 60, .transfers = true };
    whole = said_of(&job);
    is_near(whole.saved_s, lost_by(&job), 0.02,
            "slow transfers cost nothing before the steps that they are slow against");
    return done_testing();
}
