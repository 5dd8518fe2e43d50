/* view_health.c - the health of ranks' processes and of nodes, and what of it may be why a rank is late. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "detect/cause.h"
#include "view/health.h"
#include "view/view_private.h"

#define SMOOTH_S 3.0
/* agents report every 5 s, on a node with very many ranks less often */
#define VALID_S      30.0
#define NORM_EVERY_S 4.0
#define SOON_S       8.0   /* after the first item: processes have been looked at twice */
#define FADE         0.97f /* of the moments, an item */
#define FOLLOWS_MIN  8.0f  /* items that a correlation needs */
#define PER_SECOND   1e12f

struct task_health { /* of a rank's process */
    bool reported;
    double at_s;
    struct task_item figures;            /* smoothed */
    float n, mean_x, mean_y, xx, yy, xy; /* of run delay and lateness, old ones fade; n: how many count */
};

struct gpu_health {
    bool reported;
    double at_s;
    struct gpu_item figures;
    bool state_reported;
    double state_at_s;
    struct gpu_state_item state;
};

struct node_health { /* of a place that is a node */
    bool reported;
    double at_s;
    struct node_item figures;
    float involuntary_per_s; /* of all its ranks */
    struct gpu_health gpu[VIEW_GPUS_MAX];
};

struct view_health {
    struct quota *quota;
    struct roster *roster;
    const struct columns *columns;
    struct task_health *task; /* by rank */
    struct node_health *node; /* by place */
    size_t n_tasks, tasks_cap, n_nodes, nodes_cap;
    bool any;                            /* a rank or a node ever reported */
    struct cause_norm norm[CAUSE_KINDS]; /* of all ranks and nodes, at norm_s */
    double norm_s;
};

struct view_health *view_health_new(struct quota *quota, struct roster *roster, const struct columns *columns)
{
    struct view_health *s = xcalloc(1, sizeof(*s));

    s->quota = quota;
    s->roster = roster;
    s->columns = columns;
    return s;
}

void view_health_free(struct view_health *s)
{
    free(s->task);
    free(s->node);
    free(s);
}

void view_health_forget(struct view_health *s)
{
    /* What is known of nodes does not depend on the program. */
    s->n_tasks = 0;
}

/* ---- items, bounded and smoothed ---- */

struct bound {
    size_t offset;
    float max; /* the least is 0 */
};
#define BOUND(type, member, max)           \
    {                                      \
        offsetof(struct type, member), max \
    }

static const struct bound node_bounds[] = {
    BOUND(node_item, run_queue, 1e7f),
    BOUND(node_item, busy_ratio, 2),
    BOUND(node_item, steal_ratio, 2),
    BOUND(node_item, frequency_hz, 1e12f),
    BOUND(node_item, frequency_ratio, 100),
    BOUND(node_item, throttled_per_s, PER_SECOND),
    BOUND(node_item, quota_ratio, 1e5f), /* summed over the CPUs by the kernel */
    BOUND(node_item, cpu_pressure_ratio, 2),
    BOUND(node_item, memory_pressure_ratio, 2),
    BOUND(node_item, io_pressure_ratio, 2),
    BOUND(node_item, swap_per_s, PER_SECOND),
    BOUND(node_item, retransmits_per_s, PER_SECOND),
    BOUND(node_item, nic_errors_per_s, PER_SECOND),
    { 0 },
}, task_bounds[] = {
    BOUND(task_item, run_delay_ratio, 2),
    BOUND(task_item, cpu_ratio, 65536),
    BOUND(task_item, foreign_ratio, 2),
    BOUND(task_item, involuntary_per_s, PER_SECOND),
    BOUND(task_item, voluntary_per_s, PER_SECOND),
    BOUND(task_item, major_faults_per_s, PER_SECOND),
    { 0 },
}, gpu_bounds[] = {
    BOUND(gpu_item, clock_ratio, 100),
    BOUND(gpu_item, temperature_c, 1000),
    BOUND(gpu_item, power_w, 1e6f),
    BOUND(gpu_item, busy_ratio, 2),
    { 0 },
}, gpu_state_bounds[] = {
    BOUND(gpu_state_item, clock_mhz, 1e6f),
    BOUND(gpu_state_item, clock_max_mhz, 1e6f),
    { 0 },
};

static bool within_bounds(const void *item, const struct bound *f)
{
    for (; f->max > 0; f++) {
        float x = *(const float *)((const char *)item + f->offset);

        if (!isnan(x) && !(x >= 0 && x <= f->max))
            return false;
    }
    return true;
}

/* item, as reported, becomes what is shown: between that and what was shown before. */
static void smooth_figures(void *item, const void *before, const struct bound *f, double passed_s)
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

/* The health of the node that a rank is on; NULL: the rank or its node is unknown. */
static struct node_health *node_of(struct view_health *s, uint32_t rank, uint16_t app)
{
    const struct view_rank *k = roster_find(s->roster, rank, app);

    if (!k || k->node == WORK_PLACE_NONE)
        return NULL;
    if (k->node >= s->n_nodes) {
        s->node = xgrow(s->node, &s->nodes_cap, k->node + 1, sizeof(*s->node));
        s->n_nodes = k->node + 1;
    }
    return &s->node[k->node];
}

void view_health_take_node(struct view_health *s, double now_s, const struct node_item *n)
{
    struct node_health *h;
    struct node_item item = *n;

    if (!within_bounds(n, node_bounds)) {
        s->quota->refused++;
        return;
    }
    if (!(h = node_of(s, n->rank, n->app)))
        return;
    if (h->reported)
        smooth_figures(&item, &h->figures, node_bounds, now_s - h->at_s);
    make_printable(item.nic);
    h->figures = item;
    h->at_s = now_s;
    h->reported = s->any = true;
}

void view_health_take_gpu(struct view_health *s, double now_s, const struct gpu_item *g)
{
    struct node_health *h;
    struct gpu_health *k;
    struct gpu_item item = *g;

    if (!within_bounds(g, gpu_bounds) || g->index >= VIEW_GPUS_MAX) {
        s->quota->refused++;
        return;
    }
    if (!(h = node_of(s, g->rank, g->app)))
        return;
    k = &h->gpu[g->index];
    if (k->reported)
        smooth_figures(&item, &k->figures, gpu_bounds, now_s - k->at_s);
    k->reported = true;
    k->at_s = now_s;
    k->figures = item;
}

void view_health_take_gpu_state(struct view_health *s, double now_s, const struct gpu_state_item *g)
{
    struct node_health *h;
    struct gpu_health *k;
    struct gpu_state_item item = *g;

    if (!within_bounds(g, gpu_state_bounds) || g->index >= VIEW_GPUS_MAX) {
        s->quota->refused++;
        return;
    }
    if (!(h = node_of(s, g->rank, g->app)))
        return;
    k = &h->gpu[g->index];
    if (k->state_reported)
        smooth_figures(&item, &k->state, gpu_state_bounds, now_s - k->state_at_s);
    k->state_reported = true;
    k->state_at_s = now_s;
    k->state = item;
}

/* ---- does the lateness follow the run delay ---- */

/* Moments with weights that fade (West 1979, Updating mean and variance estimates). */
static void correlate_lateness(struct task_health *h, float x, float y)
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

static const struct task_health *task_health(const struct view *v, uint32_t rank)
{
    return rank < v->health->n_tasks && v->health->task[rank].reported ? &v->health->task[rank] : NULL;
}

void view_health_take_task(struct view_health *s, double now_s, const struct task_item *t)
{
    struct task_item item = *t;
    struct task_health *k;
    struct cell cell;

    if (!within_bounds(t, task_bounds)) {
        s->quota->refused++;
        return;
    }
    if (!roster_find(s->roster, t->rank, t->app))
        return;
    s->task = xgrow(s->task, &s->tasks_cap, t->rank + 1, sizeof(*s->task));
    for (; s->n_tasks <= t->rank; s->n_tasks++)
        s->task[s->n_tasks].reported = false;
    k = &s->task[t->rank];
    if (!k->reported)
        *k = (struct task_health){ .reported = true };
    else
        smooth_figures(&item, &k->figures, task_bounds, now_s - k->at_s);
    make_printable(item.cpus);
    cell = columns_newest(s->columns, t->rank);
    if (cell.joined && !isnan(t->run_delay_ratio))
        correlate_lateness(k, t->run_delay_ratio, cell.lateness_s / (float)cell.joined);
    k->figures = item;
    k->at_s = now_s;
    s->any = true;
}

/* ---- figures by kind ---- */

static const struct task_item *task_of(const struct view *v, uint32_t rank)
{
    const struct task_health *k = task_health(v, rank);

    return k && roster_at(v->roster, rank)->known && k->at_s + VALID_S > v->now_s ? &k->figures : NULL;
}

double view_health_cpu_ratio(const struct view *v, uint32_t rank)
{
    const struct task_item *t = task_of(v, rank);

    return t ? t->cpu_ratio : NAN;
}

static const struct node_item *node_at(const struct view *v, uint32_t place)
{
    const struct node_health *h = place < v->health->n_nodes ? &v->health->node[place] : NULL;

    return h && h->reported && h->at_s + VALID_S > v->now_s ? &h->figures : NULL;
}

static const struct gpu_health *gpu_health(const struct view *v, uint32_t rank)
{
    const struct task_item *t = task_of(v, rank);
    uint32_t place = roster_at(v->roster, rank)->node;

    if (!t || t->gpu < 0 || t->gpu >= (int)VIEW_GPUS_MAX || place >= v->health->n_nodes)
        return NULL;
    return &v->health->node[place].gpu[t->gpu];
}

static const struct gpu_item *gpu_of(const struct view *v, uint32_t rank)
{
    const struct gpu_health *g = gpu_health(v, rank);

    return g && g->reported && g->at_s + VALID_S > v->now_s ? &g->figures : NULL;
}

static const struct gpu_state_item *gpu_state_of(const struct view *v, uint32_t rank)
{
    const struct gpu_health *g = gpu_health(v, rank);

    return g && g->state_reported && g->state_at_s + VALID_S > v->now_s ? &g->state : NULL;
}

static double errors_of(uint64_t n)
{
    return n == GPU_ERRORS_UNKNOWN ? NAN : (double)n;
}

static double rank_value(const struct view *v, enum cause_kind kind, uint32_t rank)
{
    const struct task_item *t = task_of(v, rank);
    const struct gpu_state_item *state;
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
    case CAUSE_GPU_CLOCK: /* an idle GPU's clock means nothing */
        g = gpu_of(v, rank);
        return g && !(g->throttle & GPU_THROTTLE_IDLE) ? g->clock_ratio : NAN;
    case CAUSE_GPU_ERRORS:
        state = gpu_state_of(v, rank);
        return state ? errors_of(state->uncorrected) : NAN;
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

static size_t collect_values(const struct group *g, enum cause_kind kind, bool culprits)
{
    bool of_node = kind >= CAUSE_OF_NODE;
    uint32_t n = of_node ? (uint32_t)g->view->health->n_nodes : roster_limit(g->view->roster);
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
    size_t n = roster_limit(v->roster) > v->health->n_nodes ? roster_limit(v->roster) : v->health->n_nodes;

    *g = (struct group){ .view = v,
                         .rank = xcalloc(roster_limit(v->roster) + 1, sizeof(float)),
                         .node = xcalloc(v->health->n_nodes + 1, sizeof(float)),
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
    size_t nodes = v->health->n_nodes;
    uint32_t *ranks = xcalloc(nodes + 1, sizeof(*ranks));

    for (uint32_t r = 0; r < roster_limit(v->roster); r++) {
        const struct view_rank *k = roster_at(v->roster, r);

        if (k->known && k->node < nodes) {
            ranks[k->node]++;
            g->node[k->node] += g->rank[r];
        }
    }
    for (uint32_t p = 0; p < nodes; p++)
        g->node[p] = ranks[p] ? g->node[p] / (float)ranks[p] : NAN;
    free(ranks);
}

static void mark_culprits(struct group *g, const struct view_verdict *d)
{
    const struct view *v = g->view;

    for (uint32_t r = 0; r < roster_limit(v->roster); r++) {
        const struct view_rank *k = roster_at(v->roster, r);
        char name[16];
        const char *is = name;

        snprintf(name, sizeof(name), "r%u", r);
        if (d->finding.scope == SCOPE_NODE)
            is = roster_place_name(v->roster, k->node);
        else if (d->finding.scope == SCOPE_SWITCH)
            is = roster_place_name(v->roster, k->switch_id);
        for (uint32_t c = 0; c < d->n_culprits && k->known && !(g->rank[r] > 0); c++)
            g->rank[r] = !strcmp(is, d->culprit[c]);
    }
    share_nodes(g);
}

/* ---- the norm of all, for single rows ---- */

bool view_health_is_due(const struct view *v, double now_s)
{
    return v->health->any && !v->health->norm[CAUSE_RUN_DELAY].n && now_s < v->watched_s + SOON_S;
}

void view_health_roll(struct view *v, double now_s)
{
    struct view_health *s = v->health;
    struct group g;

    if (!s->any || (now_s < s->norm_s + NORM_EVERY_S && s->norm_s <= now_s && !view_health_is_due(v, now_s)))
        return;
    s->norm_s = now_s;
    group_open(&g, v);
    for (int kind = 0; kind < CAUSE_KINDS; kind++)
        s->norm[kind] = cause_norm(kind, g.value, collect_values(&g, kind, false)); /* nobody is a culprit */
    group_close(&g);
    for (uint32_t p = 0; p < s->n_nodes; p++)
        s->node[p].involuntary_per_s = NAN;
    for (uint32_t r = 0; r < roster_limit(v->roster); r++) {
        uint32_t place = roster_at(v->roster, r)->node;
        const struct task_item *t = place < s->n_nodes ? task_of(v, r) : NULL;
        float *sum = t ? &s->node[place].involuntary_per_s : NULL;

        if (t && !isnan(t->involuntary_per_s))
            *sum = t->involuntary_per_s + (isnan(*sum) ? 0 : *sum);
    }
}

/* ---- causes ---- */

static struct cause_gpu describe_gpu(const struct view *v, uint32_t rank)
{
    const struct task_item *t = task_of(v, rank);
    const struct gpu_item *item = gpu_of(v, rank);
    const struct gpu_state_item *state = gpu_state_of(v, rank);

    return (struct cause_gpu){ .rank = rank,
                               .index = item || state ? t->gpu : -1,
                               .clock_mhz = state ? state->clock_mhz : NAN,
                               .clock_max_mhz = state ? state->clock_max_mhz : NAN,
                               .temperature_c = item ? item->temperature_c : NAN,
                               .corrected = state ? errors_of(state->corrected) : NAN,
                               .uncorrected = state ? errors_of(state->uncorrected) : NAN,
                               .parts = state && state->flags & GPU_STATE_PARTS,
                               .several = t && t->flags & TASK_SEVERAL_GPUS };
}

/* Of the culprits' GPUs the one that shows the cause most; its reasons, too. */
static void describe_gpus(const struct group *g, struct cause *c)
{
    const struct view *v = g->view;
    enum cause_kind kind = c->kind == CAUSE_GPU_ERRORS ? CAUSE_GPU_ERRORS : CAUSE_GPU_CLOCK;
    double worst = NAN;

    c->gpu.index = -1;
    for (uint32_t r = 0; r < roster_limit(v->roster); r++) {
        double x = g->rank[r] > 0 ? rank_value(v, kind, r) : NAN;

        if (isnan(x) || (kind == CAUSE_GPU_CLOCK ? x >= worst : x <= worst))
            continue;
        worst = x;
        c->gpu = describe_gpu(v, r);
        c->throttle = gpu_of(v, r) ? gpu_of(v, r)->throttle : 0;
    }
}

static void describe_ranks(const struct group *g, struct cause *c)
{
    const struct view *v = g->view;
    double foreign = 0, threads = 0;
    uint32_t shared = 0, n = 0;

    c->follows = NAN;
    for (uint32_t r = 0; r < roster_limit(v->roster); r++) {
        const struct task_item *t = g->rank[r] > 0 ? task_of(v, r) : NULL;

        if (!t)
            continue;
        n++;
        shared += t->flags & TASK_SHARED_CPU;
        foreign += isnan(t->foreign_ratio) ? 0 : t->foreign_ratio;
        threads += isnan(t->cpu_ratio) || !t->n_cpus ? 0 : t->cpu_ratio / t->n_cpus;
        c->follows = correlation(task_health(v, r));
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
    for (uint32_t p = 0; p < v->health->n_nodes; p++) {
        if (!(g->node[p] > 0))
            continue;
        if (!n++)
            snprintf(label, 80, "%.64s", roster_place_name(v->roster, p));
        if (!*c->nic)
            c->nic = v->health->node[p].figures.nic;
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
    for (uint32_t p = 0; p < g->view->health->n_nodes; p++)
        if (g->node[p] > 0) {
            sum += g->node[p];
            n++;
        }
    return n ? sum / n : 0;
}

static double compare_groups(const struct group *g, enum cause_kind kind, struct cause *c)
{
    size_t n = collect_values(g, kind, true);
    struct cause_norm mine = cause_norm(kind, g->value, n), others;

    if (!n)
        return 0;
    n = collect_values(g, kind, false);
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
        double score = asked[kind] ? compare_groups(g, kind, &c) : 0;

        if (score > best_score) {
            best_score = score;
            best = c;
        }
    }
    if (best_score <= 0)
        return;
    describe_ranks(g, &best);
    describe_gpus(g, &best);
    describe_nodes(g, &best, label);
    cause_text(&best, buf, size);
}

/* Slow collectives have no culprit: the node whose network stands out from that of the others is one. */
static void mark_worst_network(struct group *g)
{
    const struct view *v = g->view;
    double best = 0;
    uint32_t worst = WORK_PLACE_NONE;

    for (uint32_t p = 0; p < v->health->n_nodes; p++)
        for (int kind = CAUSE_RETRANSMITS; kind <= CAUSE_NIC_ERRORS; kind++) {
            double score = cause_score(kind, node_value(v, kind, p), &v->health->norm[kind]);

            if (score > best) {
                best = score;
                worst = p;
            }
        }
    for (uint32_t r = 0; r < roster_limit(v->roster); r++)
        g->rank[r] = roster_at(v->roster, r)->known && roster_at(v->roster, r)->node == worst &&
                     worst != WORK_PLACE_NONE;
    share_nodes(g);
}

double view_cpu_lack(const struct view *v, char *buf, size_t size)
{
    static const enum cause_kind kinds[] = { CAUSE_RUN_DELAY, CAUSE_STEAL, CAUSE_QUOTA };
    double most = 0;

    buf[0] = '\0';
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        double ratio = cause_common_ratio(kinds[i], &v->health->norm[kinds[i]]);

        if (ratio <= most)
            continue;
        most = ratio;
        cause_common_text(kinds[i], ratio, buf, size);
    }
    return most;
}

char *view_cause(const struct view *v, const struct view_verdict *d, char *buf, size_t size)
{
    bool network = d->finding.class == FINDING_COMMUNICATION || d->finding.class == FINDING_CONGESTION;
    bool asked[CAUSE_KINDS];
    struct group g;

    buf[0] = '\0';
    if (!v->health->any || (d->finding.scope == SCOPE_NONE && !network))
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
    uint32_t place = roster_at(v->roster, rank)->node;
    struct cause best = { 0 };
    double best_score = 0;

    for (int kind = 0; kind < CAUSE_KINDS; kind++) {
        double x = kind >= CAUSE_OF_NODE ? node_value(v, kind, place) : rank_value(v, kind, rank);
        double score = cause_score(kind, x, &v->health->norm[kind]);

        if (score > best_score) {
            best_score = score;
            best = (struct cause){
                .kind = kind, .value = x, .others = v->health->norm[kind].median, .ranks = 1
            };
        }
    }
    buf[0] = '\0';
    if (best_score <= 0)
        return;
    best.shared = t->flags & TASK_SHARED_CPU;
    best.foreign_ratio = t->foreign_ratio;
    best.threads_ratio = t->n_cpus ? t->cpu_ratio / t->n_cpus : NAN;
    best.follows = correlation(task_health(v, rank));
    best.throttle = gpu ? gpu->throttle : 0;
    best.gpu = describe_gpu(v, rank);
    best.node = roster_place_name(v->roster, place);
    best.nic = place < v->health->n_nodes ? v->health->node[place].figures.nic : "";
    cause_text(&best, buf, size);
}

bool view_rank_health_get(const struct view *v, double now_s, uint32_t rank, struct view_rank_health *h)
{
    const struct task_health *k = task_health(v, rank);

    if (!k || k->at_s + VALID_S <= now_s || !task_of(v, rank))
        return false;
    h->figures = k->figures;
    h->follows = correlation(k);
    rank_cause(v, rank, h->cause, sizeof(h->cause));
    return true;
}

bool view_node_health_get(const struct view *v, double now_s, const char *node, struct view_node_health *h)
{
    const struct node_health *k;
    uint32_t place = roster_place_find(v->roster, node);

    if (place >= v->health->n_nodes)
        return false;
    k = &v->health->node[place];
    if (!k->reported || k->at_s + VALID_S <= now_s)
        return false;
    *h = (struct view_node_health){ .figures = k->figures, .involuntary_per_s = k->involuntary_per_s };
    for (size_t i = 0; i < VIEW_GPUS_MAX; i++) {
        const struct gpu_health *g = &k->gpu[i];

        if (!g->reported || g->at_s + VALID_S <= now_s)
            continue;
        h->gpu[h->n_gpus] = g->figures;
        if (g->state_reported && g->state_at_s + VALID_S > now_s)
            h->state[h->n_gpus] = g->state;
        else
            h->state[h->n_gpus] = (struct gpu_state_item){ .clock_mhz = NAN,
                                                           .clock_max_mhz = NAN,
                                                           .corrected = GPU_ERRORS_UNKNOWN,
                                                           .uncorrected = GPU_ERRORS_UNKNOWN };
        h->n_gpus++;
    }
    return true;
}
