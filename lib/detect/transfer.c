#include "detect/finding.h"
#include "detect/transfer.h"
#include "model/statistics.h"

#include <math.h>
#include <string.h>

/* What labelled episodes say when one of these is halved or doubled: doc/constants.md. */

/* Where "chosen" is said, the value is between the two in brackets, which were tried on the labelled traces
 * of tests/analysis (22 programs, 48 episodes). */

/* Chosen: with a smaller one the sum would rise for changes of a few per cent, which SLOW_MIN refuses anyway;
 * with a larger maximum a noisy network would hide what takes four times as long. */
#define TRANSFER_SIGMA_MIN 0.02
#define TRANSFER_SIGMA_MAX 1.0
/* Of the noise, that the usual transfer and its noise move a step. Chosen: transfer_cost() has what it costs
 * in accuracy; with a larger one a fault would become usual before the sum has shown it. */
#define USUAL_GAIN 0.03
/* its variance, of normal noise with 1 (order statistics: David & Nagaraja 2003) */
#define MEDIAN_OF_THREE 0.4487
/* Standard deviations a step: half of the smallest change that is looked for, which is the best slack for it
 * (Page, Biometrika 41, 1954; Hawkins & Olwell 1998): one of two standard deviations. */
#define SLACK 1.0
/* of one step, in standard deviations: two steps are needed to pass the limit, whatever the first was */
#define STEP_MAX 6.0
/* Chosen (4, 16): with 4 all are judged alike, and some found sooner; with 16 one is judged otherwise, and
 * others are found later. */
#define CUSUM_LIMIT 8.0
/* Relative excess of a slow stretch. Chosen (0.05, 0.3): all are judged alike. */
#define SLOW_MIN 0.15
/* ... and in standard deviations: of normal noise one step in 160 is above it */
#define SLOW_Z 2.5
/* steps as before that end a stretch: the median of three has none of it left */
#define CALM 3u
/* Steps; what was slow for longer was no burst. Chosen (10, 100): with 10 the bursts of three traces are
 * taken for transfers that stay slow; with 100 all are judged alike, and what stays slow is found later. */
#define BURST_MAX 40u
/* slow steps in a row that need no window; chosen: fewer may be a burst */
#define LASTS 10u
/* steps that bursts are priced over, as all that is recent (DIAGNOSIS_RECENT) */
#define BURST_WINDOW 64u
/* steps without a burst: congestion is over; chosen: five times BURST_MAX, the longest burst */
#define BURST_QUIET 200u

static float median3(const float v[3])
{
    float low = fminf(v[0], v[1]), high = fmaxf(v[0], v[1]);

    return fmaxf(low, fminf(high, v[2]));
}

/* The first steps show what is usual: their median, and its noise. */
static void learn_usual(struct transfer *t, float transfer_s)
{
    float v[TRANSFER_LEARN];

    t->first_s[t->learnt++] = transfer_s;
    if (t->learnt < TRANSFER_LEARN)
        return;
    memcpy(v, t->first_s, sizeof(v));
    t->usual_s = statistics_medianf(v, TRANSFER_LEARN);
    for (uint32_t i = 0; i < TRANSFER_LEARN; i++)
        v[i] = fabsf(t->first_s[i] / (float)t->usual_s - 1);
    t->sigma = fmin(TRANSFER_SIGMA_MAX,
                    fmax(TRANSFER_SIGMA_MIN, statistics_medianf(v, TRANSFER_LEARN) / STATISTICS_SD_TO_MAD));
}

/* Running medians by stochastic approximation: of the transfer, and of its absolute deviation. */
static void follow_usual(struct transfer *t, double excess)
{
    double step = USUAL_GAIN * t->sigma;

    t->usual_s *= excess > 0 ? 1 + step : 1 - step;
    t->sigma += fabs(excess) > STATISTICS_SD_TO_MAD * t->sigma ? step : -step;
    t->sigma = fmin(TRANSFER_SIGMA_MAX, fmax(TRANSFER_SIGMA_MIN, t->sigma));
}

/* Step time over the step time without it, over the steps since then, but at least a minimum of the newest.
 * What is no longer remembered took as long as what is. */
static double slowdown_since(const struct work *w, uint64_t since, uint32_t min_steps, double saved_s)
{
    uint64_t steps = w->steps - since > min_steps ? w->steps - since : min_steps;
    uint32_t kept = steps < work_kept(w) ? (uint32_t)steps : work_kept(w);
    double all_s = work_time_s(w, kept) * fmax(1, (double)(w->steps - since) / kept);

    return fmax(1, finding_slowdown(all_s, saved_s));
}

static bool is_slow(const struct transfer *t, double excess)
{
    double limit = transfer_limit(t);

    /* In a stretch half of its height decides: its noise grows with it. */
    if (t->slow && t->height_n >= 3)
        limit = fmax(limit, t->height / 2);
    return excess > limit;
}

/* It is over: what comes next is another one. */
static void let_go(struct transfer *t)
{
    t->standing = t->congestion = false;
    t->bursts = 0;
    t->longest = 0;
    t->saved_s = 0;
}

static void begin_stretch(struct transfer *t, double excess)
{
    if (!t->standing && !t->bursts)
        t->saved_s = 0;
    t->slow = true;
    t->since = t->rises;
    t->calm = 0;
    t->stretch_s = t->pending_s;
    t->height = excess;
    t->height_n = 1;
}

static void end_stretch(struct transfer *t, uint64_t now)
{
    uint64_t lasted = now - CALM - t->since;

    t->slow = false;
    t->cusum = 0;
    if (t->height < SLOW_MIN)
        return;
    if (lasted <= BURST_MAX) {
        t->first_burst = t->bursts++ ? t->first_burst : t->since;
        t->longest = lasted > t->longest ? lasted : t->longest;
        t->congestion = t->congestion || t->standing;
    } else if (t->standing && !t->congestion) {
        let_go(t);
    }
}

/* A stretch that lasts must be worth it while it lasts, bursts over a window at the least. */
static void report_stretch(struct transfer *t, const struct work *w, double min_slowdown)
{
    uint64_t first = t->bursts ? t->first_burst : t->since;

    if (t->standing || t->height_n < 2 ||
        (slowdown_since(w, first, BURST_WINDOW, t->saved_s + t->stretch_s) < min_slowdown &&
         (t->height_n < LASTS || slowdown_since(w, t->since, 0, t->stretch_s) < min_slowdown)))
        return;
    t->standing = true;
    t->congestion = t->bursts > 0;
    t->onset = first;
}

static void in_stretch(struct transfer *t, const struct work *w, double excess, double excess_s,
                       double min_slowdown)
{
    bool slow = is_slow(t, excess);

    t->calm = slow ? 0 : t->calm + 1;
    if (slow) {
        t->height_n++;
        t->height += (excess - t->height) / t->height_n;
        t->tall = t->height;
        report_stretch(t, w, min_slowdown);
    }
    t->stretch_s += excess_s;
    /* Slow for longer than any burst: it stays. */
    if (t->standing && t->congestion && w->steps - t->since > BURST_MAX &&
        w->steps - t->since > 2 * t->longest)
        t->congestion = false;
    if (t->calm < CALM)
        return;
    t->saved_s += fmax(0, t->stretch_s);
    t->stretch_s = 0;
    end_stretch(t, w->steps);
}

static void out_of_stretch(struct transfer *t, const struct work *w, double excess, double excess_s)
{
    if (t->cusum <= 0) {
        /* The median of three shows a step when the next one is there. */
        t->rises = w->steps > 1 ? w->steps - 2 : 0;
        t->pending_s = t->before_s;
    }
    t->cusum = fmin(2 * CUSUM_LIMIT, fmax(0, t->cusum + fmin(STEP_MAX, excess / t->sigma) - SLACK));
    t->pending_s += excess_s;
    t->before_s = excess_s;
    if (t->cusum > CUSUM_LIMIT && is_slow(t, excess))
        begin_stretch(t, excess);
    else
        follow_usual(t, excess); /* what is little above the usual for long becomes it */
    if (t->bursts && w->steps > t->since + BURST_QUIET)
        let_go(t);
}

double transfer_limit(const struct transfer *t)
{
    return t->learnt < TRANSFER_LEARN ? NAN : fmax(SLOW_MIN, SLOW_Z * t->sigma);
}

/* Steps of USUAL_GAIN standard deviations leave a running median of normal noise a variance of USUAL_GAIN /
 * (4 phi(0)) of that noise's (Kushner & Yin, Stochastic Approximation and Recursive Algorithms, 2003, chapter
 * 10); the slow steps' own noise, which the median of three shows only a share of, averages out; and when a
 * stretch begins or ends is known to a step. */
struct interval transfer_cost(const struct transfer *t)
{
    double edges = t->congestion ? 2.0 * (t->bursts + t->slow) : 1;
    double slow = (t->saved_s + fmax(0, t->stretch_s)) / (t->tall * t->usual_s); /* steps */
    double square = t->sigma * t->sigma * (USUAL_GAIN / (4 * 0.3989) + 1 / (MEDIAN_OF_THREE * slow)) /
                        (t->tall * t->tall) +
                    edges / 3 / (slow * slow);

    return slow > 0 ? interval_of(1, sqrt(square), INFINITY) : INTERVAL_UNKNOWN;
}

void transfer_step(struct transfer *t, const struct work *w, double min_slowdown)
{
    float transfer_s = w->step[work_slot(w, 0)].transfer_s;
    double excess;

    if (isnan(transfer_s) || !(transfer_s > 0))
        return;
    t->newest_s[t->steps++ % 3] = transfer_s;
    if (t->learnt < TRANSFER_LEARN) {
        learn_usual(t, transfer_s);
        return;
    }
    excess = median3(t->newest_s) / t->usual_s - 1;
    if (t->slow)
        in_stretch(t, w, excess, transfer_s - t->usual_s, min_slowdown);
    else
        out_of_stretch(t, w, excess, transfer_s - t->usual_s);
}
