#include "calls/overlap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "model/bucket.h"
#include "model/statistics.h"

#define OPS_MAX (1u << 16) /* in the steps that are replayed: some ms a replay */
/* Transfers of a kind that show what those take that nobody waited for. Chosen: the median of fewer is moved
 * by few that waited for a link. */
#define UNWAITED_MIN 8u
/* Share of unknown transfers from which on their sum is unknown. Chosen: it bounds the error of the sum at
 * about as much. */
#define UNKNOWN_MOST 0.02
/* Buckets this much smaller or larger than what was seen are looked at, too. Chosen: a line of times by bytes
 * holds about as far as that beyond its points. */
#define SIZES_BEYOND 2.0
#define COUNTS_MAX   4096
/* Of what is exposed, that the model may differ from what was measured: beyond, nothing is said. Chosen: a
 * model off by more than half cannot rank buckets whose times differ by less ... */
#define MODEL_OFF   0.5
#define MODEL_OFF_S 0.02 /* ... or of the step */

struct rank_in_group {
    uint32_t step; /* whose calls are looked at; GRAPH_NONE: none yet */
    uint32_t begun;
    bool awaited;
    double first_s, last_s; /* when calls were begun */
    bool takes_part;
};

/* A rank's newest operation: what it began, unless the next one shows that it was half of a blocking call. */
struct newest {
    uint32_t meeting, place, step; /* meeting GRAPH_NONE: none */
    bool arrived;
    double at_s;
};

struct hidden_sums {
    double stays, calls, nonblocking, waiting_s, exposed_s;
    double hidden_s, low_s, high_s; /* low, high: with what transfers take at least, at most */
    double transfers, unknown;      /* unknown: nothing bounds them, or nothing but a bound is known */
    bool boundless;
    double single_steps;                                             /* of a rank that begins one call */
    double bucket_steps, buckets, bucket_bytes, backward_s, slack_s; /* steps of a rank that begins some */
    uint32_t begun[256];                                             /* by operation */
};

struct measuring {
    const struct graph *graph;
    const uint32_t *group;
    size_t n_groups;
    uint32_t ranks;
    struct rank_in_group *rank; /* by rank and group */
    struct newest *newest;      /* by rank */
    struct usual {
        float median_s, error_s; /* error: of the median, 90 % */
        uint32_t n;
    } * kind;                 /* by kind: of transfers that a rank waited for */
    struct hidden_sums *sums; /* by group */
    uint32_t without;         /* group whose transfers take no time; n_groups: all */
};

/* ---- what was ---- */

static void take_begin(struct measuring *w, uint32_t rank, const struct newest *at)
{
    uint32_t kind = graph_meeting_get(w->graph, at->meeting)->kind, group = w->group[kind];
    const struct graph_kind_info *info = graph_kind_get(w->graph, kind);
    struct rank_in_group *k;
    struct hidden_sums *t;

    if (info->message || group >= w->n_groups)
        return;
    k = &w->rank[(size_t)rank * w->n_groups + group];
    t = &w->sums[group];
    if (k->step != at->step)
        *k = (struct rank_in_group){ .step = at->step, .first_s = at->at_s, .takes_part = true };
    k->begun++;
    k->last_s = at->at_s;
    t->bucket_bytes += info->bytes;
    t->buckets++;
    t->begun[info->op]++;
}

/* The first completion after all were begun: that is how the buckets of this step were spread. */
static void take_awaited(struct rank_in_group *k, struct hidden_sums *t, const struct graph_step *s,
                         double at_s)
{
    if (k->step != s->number || k->awaited)
        return;
    k->awaited = true;
    if (k->begun < 2) {
        t->single_steps++;
        return;
    }
    t->bucket_steps++;
    t->backward_s += (k->last_s - k->first_s) * k->begun / (k->begun - 1);
    t->slack_s += fmax(0, at_s - k->last_s);
}

/* How much of a transfer of that length ran while its rank was not in the call. */
static double beside_s(double transfer_s, const struct graph_meeting *m, double inside_s)
{
    return fmax(0, (isnan(m->max_s) ? transfer_s : fmin(m->max_s, transfer_s)) - inside_s);
}

static void take_transfer(const struct measuring *w, struct hidden_sums *t, const struct graph_meeting *m,
                          const struct graph_stay *stay)
{
    double inside_s = fmax(0, fmin(stay->over_s, stay->leave_s) - fmax(stay->begin_s, stay->enter_s));
    double hidden_s = fmax(0, stay->over_s - stay->begin_s - inside_s);
    const struct usual *k = &w->kind[m->kind];

    t->transfers++;
    if (!isnan(m->transfer_s)) {
        t->hidden_s += hidden_s;
        t->low_s += hidden_s;
        t->high_s += hidden_s;
        return;
    }
    t->unknown += !k->n;
    if (k->n >= UNWAITED_MIN) {
        t->hidden_s += beside_s(k->median_s, m, inside_s);
        t->low_s += beside_s(k->median_s - k->error_s, m, inside_s);
        t->high_s += beside_s(k->median_s + k->error_s, m, inside_s);
        return;
    }
    t->hidden_s += k->n ? beside_s(k->median_s, m, inside_s) : hidden_s;
    if (isnan(m->max_s))
        t->boundless = true;
    else
        t->high_s += fmax(hidden_s, m->max_s - inside_s);
}

static void take_stay(const struct graph_op *op, const struct graph_step *s, const struct graph_stay *stay,
                      void *arg)
{
    struct measuring *w = arg;
    const struct graph_meeting *m = graph_meeting_get(w->graph, op->meeting);
    const struct graph_kind_info *kind = graph_kind_get(w->graph, m->kind);
    uint32_t group = w->group[m->kind];
    struct newest *at = &w->newest[op->rank];
    bool sends = kind->message && kind->from == op->rank;
    /* the second half of the blocking call that the newest operation began */
    bool blocks = (op->does & GRAPH_IS_HELD) && at->meeting == op->meeting && at->place == op->place &&
                  op->work_s == 0 && op->usual_s == 0;
    struct rank_in_group *k;
    struct hidden_sums *t;

    if (at->arrived && !blocks)
        take_begin(w, op->rank, at);
    *at = (struct newest){ op->meeting, op->place, s->number, op->does == GRAPH_ARRIVES, stay->enter_s };
    if (group >= w->n_groups)
        return;
    k = &w->rank[(size_t)op->rank * w->n_groups + group];
    t = &w->sums[group];
    k->takes_part = true;
    if (!(op->does & GRAPH_IS_HELD)) { /* begun, or sent */
        t->exposed_s += stay->leave_s - stay->enter_s;
        t->calls += sends && stay->leave_s > stay->enter_s;
        return;
    }
    t->calls++;
    t->nonblocking += !blocks;
    if (!blocks && !kind->message)
        take_awaited(k, t, s, stay->enter_s);
    if (!isfinite(stay->begin_s)) { /* the other end of a message is not known */
        t->transfers++;
        t->unknown++;
        t->boundless = true;
        return;
    }
    t->waiting_s += fmax(0, fmin(stay->begin_s, stay->leave_s) - stay->enter_s);
    t->exposed_s += fmax(0, stay->leave_s - fmax(stay->begin_s, stay->enter_s));
    if (!sends)
        take_transfer(w, t, m, stay);
}

struct kind_time {
    uint32_t kind;
    float transfer_s;
};

static int by_kind(const void *a, const void *b)
{
    const struct kind_time *x = a, *y = b;

    return x->kind != y->kind ? (x->kind > y->kind) - (x->kind < y->kind)
                              : (x->transfer_s > y->transfer_s) - (x->transfer_s < y->transfer_s);
}

/* The error of a normal distribution's median is 1.253 times that of its mean.  Twice that, for the deviation
 * of those that it stands for. */
static struct usual usual_of(const struct kind_time *t, uint32_t n)
{
    float half = (t[n - 1 - n / 4].transfer_s - t[n / 4].transfer_s) / 2;

    return (struct usual){ (t[n / 2].transfer_s + t[(n - 1) / 2].transfer_s) / 2,
                           (float)(2 * 1.645 * 1.253 / STATISTICS_SD_TO_MAD * half / sqrt(n)), n };
}

static void find_usual(struct measuring *w, uint32_t steps)
{
    struct kind_time *t = NULL;
    size_t n = 0, cap = 0;

    w->kind = xcalloc(graph_kinds(w->graph), sizeof(*w->kind));
    for (uint32_t back = 0; back < steps; back++) {
        struct graph_step s = graph_step_get(w->graph, back);

        for (size_t i = 0; i < s.n; i++) {
            const struct graph_meeting *m = graph_meeting_get(w->graph, s.op[i].meeting);

            if (!s.op[i].first || isnan(m->transfer_s))
                continue;
            t = xgrow(t, &cap, n + 1, sizeof(*t));
            t[n++] = (struct kind_time){ m->kind, m->transfer_s };
        }
    }
    if (n)
        qsort(t, n, sizeof(*t), by_kind);
    for (size_t i = 0, next; i < n; i = next) {
        next = i + 1;
        while (next < n && t[next].kind == t[i].kind)
            next++;
        w->kind[t[i].kind] = usual_of(t + i, (uint32_t)(next - i));
    }
    free(t);
}

/* Transfers that run at the same time run beside the same work, so that what is hidden is no more than the
 * time that ranks spend outside of their calls; a bound beyond it is none. */
static struct overlap_group group_of(const struct hidden_sums *t, double steps, uint32_t ranks, double step_s)
{
    double n = steps * ranks, beside_s = fmax(0, step_s - (t->waiting_s + t->exposed_s) / n);
    bool known = t->unknown <= UNKNOWN_MOST * t->transfers;
    bool bounded = !t->boundless && (known || t->high_s / n < beside_s);

    return (struct overlap_group){
        .ranks = ranks,
        .calls = t->calls / n,
        .nonblocking_ratio = t->calls > 0 ? t->nonblocking / t->calls : 0,
        .waiting_s = t->waiting_s / n,
        .exposed_s = t->exposed_s / n,
        .hidden_s = { known ? fmin(t->hidden_s / n, beside_s) : NAN, fmin(t->low_s / n, beside_s),
                      bounded ? fmin(t->high_s / n, beside_s) : NAN },
        .ready_s = t->bucket_steps > t->single_steps ? fmin(t->backward_s / t->bucket_steps, step_s) : NAN,
        .most_won_s = NAN
    };
}

static void add_sums(struct hidden_sums *to, const struct hidden_sums *t)
{
    to->calls += t->calls;
    to->nonblocking += t->nonblocking;
    to->waiting_s += t->waiting_s;
    to->exposed_s += t->exposed_s;
    to->hidden_s += t->hidden_s;
    to->low_s += t->low_s;
    to->high_s += t->high_s;
    to->transfers += t->transfers;
    to->unknown += t->unknown;
    to->boundless = to->boundless || t->boundless;
}

static uint32_t take_part(const struct measuring *w, size_t group)
{
    uint32_t n = 0;

    for (uint32_t r = 0; r < w->ranks; r++)
        for (size_t i = group == w->n_groups ? 0 : group; i < w->n_groups; i++) {
            n += w->rank[(size_t)r * w->n_groups + i].takes_part;
            if (group < w->n_groups || w->rank[(size_t)r * w->n_groups + i].takes_part)
                break;
        }
    return n;
}

/* ---- what could be won ---- */

static double take_no_time(const struct graph_meeting *m, const struct graph_step *s, void *arg)
{
    const struct measuring *w = arg;

    (void)s;
    return w->without == w->n_groups || w->group[m->kind] == w->without ? 0 : m->over_s;
}

static double most_won_s(struct graph *g, struct measuring *w, size_t group, uint32_t steps, double all_s)
{
    struct graph_change change = { .transfer = take_no_time, .arg = w };

    w->without = (uint32_t)group;
    return fmax(0, all_s - graph_replay(g, steps, &change)) / steps;
}

/* How long a transfer of the group takes over its size. */
static void fit_price(const struct measuring *w, uint32_t group, int op, uint32_t steps,
                      struct linkfit_result *r)
{
    struct linkfit *fit = xcalloc(1, sizeof(*fit));

    for (uint32_t back = steps; back-- > 0;) {
        struct graph_step s = graph_step_get(w->graph, back);

        for (size_t i = 0; i < s.n; i++) {
            const struct graph_meeting *m = graph_meeting_get(w->graph, s.op[i].meeting);
            const struct graph_kind_info *k = graph_kind_get(w->graph, m->kind);

            if (s.op[i].first && w->group[m->kind] == group && k->op == op && m->transfer_s > 0)
                linkfit_add(fit, k->bytes, m->transfer_s, 1);
        }
    }
    linkfit_fit(fit, r);
    free(fit);
}

static double exposed_s(struct bucket b, const struct linkfit_range *a, const struct linkfit_range *per_byte,
                        int bound, double count, double slack_s)
{
    b.fixed_s = fmax(0, bound < 0 ? a->low : bound > 0 ? a->high : a->value);
    b.s_per_byte = fmax(0, bound < 0 ? per_byte->high : bound > 0 ? per_byte->low : per_byte->value);
    return fmax(0, bucket_even_exposed_s(&b, b.bytes / count) - slack_s);
}

/* Which number of equal buckets exposes least, among sizes near those seen. */
static void find_best(struct overlap_buckets *o, const struct bucket *b, const struct linkfit_segment *price,
                      double slack_s)
{
    double fewest = fmax(1, ceil(b->bytes / (SIZES_BEYOND * price->to_bytes))),
           max = fmin(COUNTS_MAX, floor(SIZES_BEYOND * b->bytes / price->from_bytes)), best_s = INFINITY;
    const struct linkfit_range *fixed = &price->a_s, *per_byte = &price->b_s_per_byte;
    double won_s[3];

    o->best = o->now;
    for (double n = fewest; n <= max; n++) {
        double s = exposed_s(*b, fixed, per_byte, 0, n, slack_s);

        if (s < best_s * (1 - 1e-9)) {
            best_s = s;
            o->best = n;
        }
    }
    o->best_bytes = b->bytes / o->best;
    for (int bound = -1; bound <= 1; bound++)
        won_s[bound + 1] = exposed_s(*b, fixed, per_byte, bound, o->now, slack_s) -
                           exposed_s(*b, fixed, per_byte, bound, o->best, slack_s);
    o->won_s = (struct linkfit_range){ won_s[1], fmin(won_s[0], fmin(won_s[1], won_s[2])),
                                       fmax(won_s[0], fmax(won_s[1], won_s[2])) };
}

static struct overlap_buckets buckets_of(const struct measuring *w, uint32_t group, uint32_t steps,
                                         const struct overlap_group *o, double step_s)
{
    const struct hidden_sums *t = &w->sums[group];
    struct overlap_buckets out = {
        .now = NAN, .now_bytes = NAN, .best = NAN, .best_bytes = NAN, .won_s = { NAN, NAN, NAN }
    };
    struct linkfit_result r;
    const struct linkfit_segment *price;
    struct bucket b;
    double slack_s, now_s;
    int op = 0; /* of the nonblocking collectives; of several that with most calls */

    if (!(t->bucket_steps + t->single_steps > 0)) {
        out.missing = "none of its collectives is begun before it is awaited";
        return out;
    }
    out.now = t->buckets / (t->bucket_steps + t->single_steps);
    out.now_bytes = t->bucket_bytes / t->buckets;
    if (t->bucket_steps <= t->single_steps) {
        out.missing = "one call a step does not show when its data becomes ready";
        return out;
    }
    slack_s = t->slack_s / t->bucket_steps;
    b = (struct bucket){ .bytes = out.now * out.now_bytes, .backward_s = t->backward_s / t->bucket_steps };
    for (int i = 1; i < (int)ARRAY_SIZE(t->begun); i++)
        op = t->begun[i] > t->begun[op] ? i : op;
    fit_price(w, group, op, steps, &r);
    price = linkfit_segment(&r, out.now_bytes);
    if (!price || isnan(price->b_s_per_byte.value)) {
        out.missing = price ? "its transfers have one size, which does not show what another one would take"
                            : "no rank waits for its transfers, so that their time is not known";
        return out;
    }
    now_s = exposed_s(b, &price->a_s, &price->b_s_per_byte, 0, out.now, slack_s);
    if (fabs(now_s - o->exposed_s) > fmax(MODEL_OFF * fmax(now_s, o->exposed_s), MODEL_OFF_S * step_s)) {
        out.missing = "its calls are not begun at an even rate, as the estimate assumes";
        return out;
    }
    find_best(&out, &b, price, slack_s);
    return out;
}

void overlap_measure(struct overlap *o, struct graph *g, const uint32_t *group, size_t n_groups)
{
    struct measuring w = { .graph = g, .group = group, .n_groups = n_groups };
    struct graph_change watch = { .stay = take_stay, .arg = &w };
    struct hidden_sums all = { 0 };
    double all_s, longest_s = NAN;
    uint32_t steps = 0;
    size_t ops = 0;

    while (steps < graph_steps(g) && steps < OVERLAP_STEPS && (!steps || ops < OPS_MAX))
        ops += graph_step_about(g, steps++).n;
    for (uint32_t back = 0; back < steps; back++) {
        struct graph_step s = graph_step_get(g, back);

        for (size_t i = 0; i < s.n; i++)
            w.ranks = s.op[i].rank >= w.ranks ? s.op[i].rank + 1 : w.ranks;
    }
    memset(o, 0, sizeof(*o));
    if (!steps || !w.ranks || !n_groups || n_groups > OVERLAP_GROUPS_MAX)
        return;
    w.rank = xcalloc((size_t)w.ranks * n_groups, sizeof(*w.rank));
    w.sums = xcalloc(n_groups, sizeof(*w.sums));
    w.newest = xcalloc(w.ranks, sizeof(*w.newest));
    for (uint32_t r = 0; r < w.ranks; r++)
        w.newest[r].meeting = GRAPH_NONE;
    for (size_t i = 0; i < w.ranks * n_groups; i++)
        w.rank[i].step = GRAPH_NONE;
    find_usual(&w, steps);
    all_s = graph_replay(g, steps, &watch);
    o->steps = steps;
    o->step_s = all_s / steps;
    o->n = n_groups;
    for (size_t i = 0; i < n_groups; i++) {
        add_sums(&all, &w.sums[i]);
        o->group[i] = group_of(&w.sums[i], steps, take_part(&w, i), o->step_s);
        o->group[i].most_won_s = most_won_s(g, &w, i, steps, all_s);
        longest_s = fmax(longest_s, o->group[i].ready_s); /* NaN gives way */
        o->group[i].buckets = buckets_of(&w, (uint32_t)i, steps, &o->group[i], o->step_s);
    }
    o->all = group_of(&all, steps, take_part(&w, n_groups), o->step_s);
    o->all.most_won_s = most_won_s(g, &w, n_groups, steps, all_s);
    o->all.ready_s = longest_s;
    free(w.rank);
    free(w.kind);
    free(w.newest);
    free(w.sums);
}
