/* view_health.c - how ranks and nodes fare beside their arrivals, and what of that may be why somebody is
 * late. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/view_private.h"
#include "common/xalloc.h"

#define SMOOTH_S     3.0
#define VALID_S      30.0 /* agents tell every 5 s, on a node with very many ranks seldomer */
#define NORM_EVERY_S 4.0
#define FADE         0.97f /* of the moments, an item */
#define FOLLOWS_MIN  8.0f  /* items that a correlation needs */
#define GPU_IDLE     1u    /* nvml.h: nvmlClocksThrottleReasonGpuIdle */
#define PER_SECOND   1e12f

/* ---- items, bounded and smoothed ---- */

struct figure {
    size_t offset;
    float max; /* the least is 0 */
};
#define FIGURE(type, member, max)          \
    {                                      \
        offsetof(struct type, member), max \
    }

static const struct figure node_figures[] = {
    FIGURE(node_item, run_queue, 1e7f),
    FIGURE(node_item, busy_ratio, 2),
    FIGURE(node_item, steal_ratio, 2),
    FIGURE(node_item, frequency_hz, 1e12f),
    FIGURE(node_item, frequency_ratio, 100),
    FIGURE(node_item, throttled_per_s, PER_SECOND),
    FIGURE(node_item, quota_ratio, 1e5f), /* summed over the CPUs by the kernel */
    FIGURE(node_item, cpu_pressure_ratio, 2),
    FIGURE(node_item, memory_pressure_ratio, 2),
    FIGURE(node_item, io_pressure_ratio, 2),
    FIGURE(node_item, swap_per_s, PER_SECOND),
    FIGURE(node_item, retransmits_per_s, PER_SECOND),
    FIGURE(node_item, nic_errors_per_s, PER_SECOND),
    { 0 },
}, task_figures[] = {
    FIGURE(task_item, run_delay_ratio, 2),
    FIGURE(task_item, cpu_ratio, 65536),
    FIGURE(task_item, foreign_ratio, 2),
    FIGURE(task_item, involuntary_per_s, PER_SECOND),
    FIGURE(task_item, voluntary_per_s, PER_SECOND),
    FIGURE(task_item, major_faults_per_s, PER_SECOND),
    { 0 },
}, gpu_figures[] = {
    FIGURE(gpu_item, clock_ratio, 100),
    FIGURE(gpu_item, temperature_c, 1000),
    FIGURE(gpu_item, power_w, 1e6f),
    FIGURE(gpu_item, busy_ratio, 2),
    { 0 },
};

static bool within_bounds(const void *item, const struct figure *f)
{
    for (; f->max > 0; f++) {
        float x = *(const float *)((const char *)item + f->offset);

        if (!isnan(x) && !(x >= 0 && x <= f->max))
            return false;
    }
    return true;
}

/* item becomes what is shown: between what was shown and what is told now. */
static void smooth(void *item, const void *before, const struct figure *f, double passed_s)
{
    float weight = (float)(1 - exp(-fmax(passed_s, 0) / SMOOTH_S));

    for (; f->max > 0; f++) {
        float *x = (float *)((char *)item + f->offset),
              old = *(const float *)((const char *)before + f->offset);

        if (!isnan(*x) && !isnan(old))
            *x = old + weight * (*x - old);
    }
}

/* Texts go to terminals. */
static void make_printable(char *text)
{
    for (; *text; text++)
        if (*text < 32 || *text > 126)
            *text = '?';
}

/* The health of the node that a rank is on; NULL: the rank was not told of, or its node was not. */
static struct node_health *node_of(struct view *v, uint32_t rank, uint16_t app)
{
    struct view_rank *k = view_rank_told(v, rank, app);

    if (!k || k->node == WORK_PLACE_NONE)
        return NULL;
    if (k->node >= v->n_node_health) {
        v->node_health = xgrow(v->node_health, &v->node_health_cap, k->node + 1, sizeof(*v->node_health));
        v->n_node_health = k->node + 1;
    }
    return &v->node_health[k->node];
}

void view_take_node(struct view *v, double now_s, const struct node_item *n)
{
    struct node_health *h;
    struct node_item item = *n;

    if (!within_bounds(n, node_figures)) {
        v->refused++;
        return;
    }
    if (!(h = node_of(v, n->rank, n->app)))
        return;
    if (h->told)
        smooth(&item, &h->figures, node_figures, now_s - h->told_s);
    make_printable(item.nic);
    v->n_health += !h->told;
    h->figures = item;
    h->told = true;
    h->told_s = now_s;
}

void view_take_gpu(struct view *v, double now_s, const struct gpu_item *g)
{
    struct node_health *h;
    struct gpu_item item = *g;

    if (!within_bounds(g, gpu_figures) || g->index >= VIEW_GPUS_MAX) {
        v->refused++;
        return;
    }
    if (!(h = node_of(v, g->rank, g->app)))
        return;
    if (h->gpu[g->index].told)
        smooth(&item, &h->gpu[g->index].figures, gpu_figures, now_s - h->gpu[g->index].told_s);
    h->gpu[g->index].figures = item;
    h->gpu[g->index].told = true;
    h->gpu[g->index].told_s = now_s;
}

/* ---- does the lateness follow the run delay ---- */

/* Moments with weights that fade (West 1979, Updating mean and variance estimates). */
static void correlate(struct task_health *h, float x, float y)
{
    float dx = x - h->mean_x, dy = y - h->mean_y, weight;

    h->n = FADE * h->n + 1;
    weight = 1 / h->n;
    h->mean_x += weight * dx;
    h->mean_y += weight * dy;
    h->xx = FADE * h->xx + dx * (x - h->mean_x);
    h->yy = FADE * h->yy + dy * (y - h->mean_y);
    h->xy = FADE * h->xy + dx * (y - h->mean_y);
}

static double correlation(const struct task_health *h)
{
    return h && h->n >= FOLLOWS_MIN && h->xx > 0 && h->yy > 0 ? h->xy / sqrt((double)h->xx * h->yy) : NAN;
}

void view_take_task(struct view *v, double now_s, const struct task_item *t)
{
    struct view_rank *k;
    struct task_item item = *t;
    struct cell cell;

    if (!within_bounds(t, task_figures)) {
        v->refused++;
        return;
    }
    if (!(k = view_rank_told(v, t->rank, t->app)))
        return;
    make_printable(item.cpus);
    if (!k->health) {
        k->health = xcalloc(1, sizeof(*k->health));
        v->n_health++;
    } else {
        smooth(&item, &k->health->figures, task_figures, now_s - k->health->told_s);
    }
    view_newest_cell(v, t->rank, &cell);
    if (cell.joined && !isnan(t->run_delay_ratio))
        correlate(k->health, t->run_delay_ratio, cell.lateness_s / (float)cell.joined);
    k->health->figures = item;
    k->health->told_s = now_s;
}

/* ---- figures by kind ---- */

static const struct task_item *task_of(const struct view *v, uint32_t rank)
{
    const struct view_rank *k = &v->rank[rank];

    return k->known && k->health && k->health->told_s + VALID_S > v->now_s ? &k->health->figures : NULL;
}

static const struct node_item *node_at(const struct view *v, uint32_t place)
{
    const struct node_health *h = place < v->n_node_health ? &v->node_health[place] : NULL;

    return h && h->told && h->told_s + VALID_S > v->now_s ? &h->figures : NULL;
}

static const struct gpu_item *gpu_of(const struct view *v, uint32_t rank)
{
    const struct task_item *t = task_of(v, rank);
    uint32_t place = v->rank[rank].node;

    if (!t || t->gpu < 0 || t->gpu >= (int)VIEW_GPUS_MAX || place >= v->n_node_health ||
        !v->node_health[place].gpu[t->gpu].told ||
        v->node_health[place].gpu[t->gpu].told_s + VALID_S <= v->now_s)
        return NULL;
    return &v->node_health[place].gpu[t->gpu].figures;
}

static double rank_value(const struct view *v, enum cause_kind kind, uint32_t rank)
{
    const struct task_item *t = task_of(v, rank);
    const struct gpu_item *g;

    if (!t)
        return NAN;
    switch (kind) {
    case CAUSE_RUN_DELAY:
        return t->run_delay_ratio;
    case CAUSE_FAULTS:
        return t->major_faults_per_s;
    case CAUSE_GPU_FAR:
        return t->numa >= 0 && t->gpu_numa >= 0 ? t->numa != t->gpu_numa : NAN;
    case CAUSE_GPU_CLOCK: /* of an idle GPU it says nothing */
        g = gpu_of(v, rank);
        return g && !(g->throttle & GPU_IDLE) ? g->clock_ratio : NAN;
    default:
        return NAN;
    }
}

static double node_value(const struct view *v, enum cause_kind kind, uint32_t place)
{
    static const size_t offset[CAUSE_KINDS] = {
        [CAUSE_STEAL] = offsetof(struct node_item, steal_ratio),
        [CAUSE_CLOCK] = offsetof(struct node_item, frequency_hz),
        [CAUSE_THROTTLED] = offsetof(struct node_item, throttled_per_s),
        [CAUSE_QUOTA] = offsetof(struct node_item, quota_ratio),
        [CAUSE_MEMORY] = offsetof(struct node_item, memory_pressure_ratio),
        [CAUSE_IO] = offsetof(struct node_item, io_pressure_ratio),
        [CAUSE_SWAP] = offsetof(struct node_item, swap_per_s),
        [CAUSE_RETRANSMITS] = offsetof(struct node_item, retransmits_per_s),
        [CAUSE_NIC_ERRORS] = offsetof(struct node_item, nic_errors_per_s),
    };
    const struct node_item *n = node_at(v, place);

    return n ? *(const float *)((const char *)n + offset[kind]) : NAN;
}

/* ---- who is compared with whom ---- */

/* Members are ranks, or nodes by their place: values of those whose share of culprits is, or is not, above
 * zero. */
struct group {
    const struct view *view;
    float *rank, *node; /* share of culprits among a rank (0 or 1), among a node's ranks; NaN: not a node */
    float *value;       /* scratch */
};

static size_t collect(const struct group *g, enum cause_kind kind, bool culprits)
{
    bool of_node = kind >= CAUSE_OF_NODE;
    uint32_t n = of_node ? (uint32_t)g->view->n_node_health : g->view->n_ranks;
    const float *share = of_node ? g->node : g->rank;
    size_t got = 0;

    for (uint32_t i = 0; i < n; i++) {
        double x;

        if (isnan(share[i]) || (share[i] > 0) != culprits)
            continue;
        x = of_node ? node_value(g->view, kind, i) : rank_value(g->view, kind, i);
        if (!isnan(x))
            g->value[got++] = (float)x;
    }
    return got;
}

static void group_open(struct group *g, const struct view *v)
{
    size_t n = v->n_ranks > v->n_node_health ? v->n_ranks : v->n_node_health;

    *g = (struct group){ .view = v,
                         .rank = xcalloc(v->n_ranks + 1, sizeof(float)),
                         .node = xcalloc(v->n_node_health + 1, sizeof(float)),
                         .value = xcalloc(n + 1, sizeof(float)) };
}

static void group_close(struct group *g)
{
    free(g->rank);
    free(g->node);
    free(g->value);
}

/* How many of a node's ranks are culprits. */
static void share_nodes(struct group *g)
{
    const struct view *v = g->view;
    uint32_t *ranks = xcalloc(v->n_node_health + 1, sizeof(*ranks));

    for (uint32_t r = 0; r < v->n_ranks; r++)
        if (v->rank[r].known && v->rank[r].node < v->n_node_health) {
            ranks[v->rank[r].node]++;
            g->node[v->rank[r].node] += g->rank[r];
        }
    for (uint32_t p = 0; p < v->n_node_health; p++)
        g->node[p] = ranks[p] ? g->node[p] / (float)ranks[p] : NAN;
    free(ranks);
}

static void mark_culprits(struct group *g, const struct view_verdict *d)
{
    const struct view *v = g->view;

    for (uint32_t r = 0; r < v->n_ranks; r++) {
        char name[16];
        const char *is = name;

        snprintf(name, sizeof(name), "r%u", r);
        if (d->finding.scope == SCOPE_NODE)
            is = view_place_name(v, v->rank[r].node);
        else if (d->finding.scope == SCOPE_SWITCH)
            is = view_place_name(v, v->rank[r].leaf);
        for (uint32_t c = 0; c < d->n_culprits && v->rank[r].known && !(g->rank[r] > 0); c++)
            g->rank[r] = !strcmp(is, d->culprit[c]);
    }
    share_nodes(g);
}

/* ---- the norm of all, for single rows ---- */

static void sum_switches(struct view *v)
{
    for (uint32_t p = 0; p < v->n_node_health; p++)
        v->node_health[p].involuntary_per_s = NAN;
    for (uint32_t r = 0; r < v->n_ranks; r++) {
        const struct task_item *t = v->rank[r].node < v->n_node_health ? task_of(v, r) : NULL;
        float *sum = t ? &v->node_health[v->rank[r].node].involuntary_per_s : NULL;

        if (t && !isnan(t->involuntary_per_s))
            *sum = t->involuntary_per_s + (isnan(*sum) ? 0 : *sum);
    }
}

void view_roll_health(struct view *v, double now_s)
{
    struct group g;

    if (!v->n_health || (now_s < v->norm_s + NORM_EVERY_S && v->norm_s <= now_s))
        return;
    v->norm_s = now_s;
    group_open(&g, v);
    for (int kind = 0; kind < CAUSE_KINDS; kind++)
        v->norm[kind] = cause_norm(kind, g.value, collect(&g, kind, false)); /* nobody is a culprit */
    group_close(&g);
    sum_switches(v);
}

/* ---- causes ---- */

static void describe_ranks(const struct group *g, struct cause *c)
{
    const struct view *v = g->view;
    double foreign = 0, threads = 0;
    uint32_t shared = 0, n = 0;

    c->follows = NAN;
    for (uint32_t r = 0; r < v->n_ranks; r++) {
        const struct task_item *t = g->rank[r] > 0 ? task_of(v, r) : NULL;
        const struct gpu_item *gpu = t ? gpu_of(v, r) : NULL;

        if (!t)
            continue;
        n++;
        shared += t->flags & TASK_SHARED_CPU;
        foreign += isnan(t->foreign_ratio) ? 0 : t->foreign_ratio;
        threads += isnan(t->cpu_ratio) || !t->n_cpus ? 0 : t->cpu_ratio / t->n_cpus;
        c->throttle |= gpu ? gpu->throttle : 0;
        c->follows = correlation(v->rank[r].health);
    }
    c->ranks = n;
    c->shared = 2 * shared > n;
    c->foreign_ratio = n ? foreign / n : 0;
    c->threads_ratio = n ? threads / n : 0;
    if (n != 1)
        c->follows = NAN;
}

static void describe_nodes(const struct group *g, struct cause *c, char label[80])
{
    const struct view *v = g->view;
    uint32_t n = 0;

    c->nic = "";
    for (uint32_t p = 0; p < v->n_node_health; p++) {
        if (!(g->node[p] > 0))
            continue;
        if (!n++)
            snprintf(label, 80, "%.64s", view_place_name(v, p));
        if (!*c->nic)
            c->nic = v->node_health[p].figures.nic;
    }
    if (n > 1)
        snprintf(label, 80, "%u nodes", n);
    c->node = label;
}

/* A node's trouble strikes all of its ranks: the fewer of them are culprits, the less it explains. */
static double culprits_share(const struct group *g, enum cause_kind kind)
{
    double sum = 0;
    uint32_t n = 0;

    if (kind < CAUSE_OF_NODE)
        return 1;
    for (uint32_t p = 0; p < g->view->n_node_health; p++)
        if (g->node[p] > 0) {
            sum += g->node[p];
            n++;
        }
    return n ? sum / n : 0;
}

static double compare(const struct group *g, enum cause_kind kind, struct cause *c)
{
    size_t n = collect(g, kind, true);
    struct cause_norm mine = cause_norm(kind, g->value, n), others;

    if (!n)
        return 0;
    n = collect(g, kind, false);
    others = cause_norm(kind, g->value, n);
    c->kind = kind;
    c->value = mine.median;
    c->others = others.median;
    return cause_score(kind, c->value, &others) * culprits_share(g, kind);
}

static void strongest(const struct group *g, const bool asked[CAUSE_KINDS], char *buf, size_t size)
{
    struct cause best = { 0 };
    double best_score = 0;
    char label[80] = "";

    for (int kind = 0; kind < CAUSE_KINDS; kind++) {
        struct cause c = { 0 };
        double score = asked[kind] ? compare(g, kind, &c) : 0;

        if (score > best_score) {
            best_score = score;
            best = c;
        }
    }
    if (best_score <= 0)
        return;
    describe_ranks(g, &best);
    describe_nodes(g, &best, label);
    cause_text(&best, buf, size);
}

/* Slow collectives have no culprit: the node whose network stands out from that of the others is one. */
static void mark_worst_network(struct group *g)
{
    const struct view *v = g->view;
    double best = 0;
    uint32_t worst = WORK_PLACE_NONE;

    for (uint32_t p = 0; p < v->n_node_health; p++)
        for (int kind = CAUSE_RETRANSMITS; kind <= CAUSE_NIC_ERRORS; kind++) {
            double score = cause_score(kind, node_value(v, kind, p), &v->norm[kind]);

            if (score > best) {
                best = score;
                worst = p;
            }
        }
    for (uint32_t r = 0; r < v->n_ranks; r++)
        g->rank[r] = v->rank[r].known && v->rank[r].node == worst && worst != WORK_PLACE_NONE;
    share_nodes(g);
}

char *view_cause(const struct view *v, const struct view_verdict *d, char *buf, size_t size)
{
    bool network = d->finding.class == FINDING_COMMUNICATION || d->finding.class == FINDING_CONGESTION;
    bool asked[CAUSE_KINDS];
    struct group g;

    buf[0] = '\0';
    if (!v->n_health || (d->finding.scope == SCOPE_NONE && !network))
        return buf;
    for (int kind = 0; kind < CAUSE_KINDS; kind++)
        asked[kind] = d->finding.scope != SCOPE_NONE || kind == CAUSE_RETRANSMITS || kind == CAUSE_NIC_ERRORS;
    group_open(&g, v);
    if (d->finding.scope == SCOPE_NONE)
        mark_worst_network(&g);
    else
        mark_culprits(&g, d);
    strongest(&g, asked, buf, size);
    group_close(&g);
    return buf;
}

static void rank_cause(const struct view *v, uint32_t rank, char *buf, size_t size)
{
    const struct task_item *t = task_of(v, rank);
    const struct gpu_item *gpu = gpu_of(v, rank);
    uint32_t place = v->rank[rank].node;
    struct cause best = { 0 };
    double best_score = 0;

    for (int kind = 0; kind < CAUSE_KINDS; kind++) {
        double x = kind >= CAUSE_OF_NODE ? node_value(v, kind, place) : rank_value(v, kind, rank);
        double score = cause_score(kind, x, &v->norm[kind]);

        if (score > best_score) {
            best_score = score;
            best = (struct cause){ .kind = kind, .value = x, .others = v->norm[kind].median, .ranks = 1 };
        }
    }
    buf[0] = '\0';
    if (best_score <= 0)
        return;
    best.shared = t->flags & TASK_SHARED_CPU;
    best.foreign_ratio = t->foreign_ratio;
    best.threads_ratio = t->n_cpus ? t->cpu_ratio / t->n_cpus : NAN;
    best.follows = correlation(v->rank[rank].health);
    best.throttle = gpu ? gpu->throttle : 0;
    best.node = view_place_name(v, place);
    best.nic = place < v->n_node_health ? v->node_health[place].figures.nic : "";
    cause_text(&best, buf, size);
}

/* ---- telling ---- */

bool view_rank_health_get(const struct view *v, double now_s, uint32_t rank, struct view_rank_health *h)
{
    const struct task_health *k = rank < v->n_ranks ? v->rank[rank].health : NULL;

    if (!k || k->told_s + VALID_S <= now_s || !task_of(v, rank))
        return false;
    h->figures = k->figures;
    h->follows = correlation(k);
    rank_cause(v, rank, h->cause, sizeof(h->cause));
    return true;
}

bool view_node_health_get(const struct view *v, double now_s, const char *node, struct view_node_health *h)
{
    uint32_t place = 0;

    while (place < v->n_node_health && strcmp(view_place_name(v, place), node))
        place++;
    if (place == v->n_node_health || !v->node_health[place].told ||
        v->node_health[place].told_s + VALID_S <= now_s)
        return false;
    *h = (struct view_node_health){ .figures = v->node_health[place].figures,
                                    .involuntary_per_s = v->node_health[place].involuntary_per_s };
    for (size_t i = 0; i < VIEW_GPUS_MAX; i++)
        if (v->node_health[place].gpu[i].told && v->node_health[place].gpu[i].told_s + VALID_S > now_s)
            h->gpu[h->n_gpus++] = v->node_health[place].gpu[i].figures;
    return true;
}
