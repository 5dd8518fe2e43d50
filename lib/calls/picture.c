#include "calls/picture.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "model/statistics.h"

#define PATH_ROWS 2 /* half of the rows at most are chosen for the path ... */
#define ROLE_ROWS 4 /* ... and a quarter because they stand for a role */
/* clocks are no more exact: a shorter piece is merged with its neighbour */
#define SHORTEST_S 1e-6
#define WORTH      0.02 /* of the step: what is less in calls is left out of the text */
#define LONGER     1.05 /* than its duration: ranks begin it while others end the step before */
#define SLOWER     1.05 /* from here on a rank's work is compared with its peers' in the text */

static const char *const kinds[PATH_KINDS] = { "work", "wait", "transfer", "call", "unknown" };

const char *picture_kind_name(enum path_kind k)
{
    return k < PATH_KINDS ? kinds[k] : "unknown";
}

bool picture_find_row(const struct picture *p, int64_t rank, size_t *row)
{
    for (*row = 0; *row < p->n_rows; ++*row)
        if (p->row[*row].rank == rank)
            return true;
    return false;
}

static void *copy_of(const void *list, size_t n, size_t size)
{
    void *copy = xcalloc(n, size);

    if (n)
        memcpy(copy, list, n * size);
    return copy;
}

struct picture *picture_copy(const struct picture *p)
{
    struct picture *copy = p ? copy_of(p, 1, sizeof(*p)) : NULL;

    if (!copy)
        return NULL;
    copy->row = copy_of(p->row, p->n_rows, sizeof(*p->row));
    copy->segment = copy_of(p->segment, p->n_segments, sizeof(*p->segment));
    copy->piece = copy_of(p->piece, p->n_pieces, sizeof(*p->piece));
    copy->message = copy_of(p->message, p->n_messages, sizeof(*p->message));
    return copy;
}

void picture_free(struct picture *p)
{
    if (!p)
        return;
    free(p->row);
    free(p->segment);
    free(p->piece);
    free(p->message);
    free(p);
}

struct known {
    double work_s, wait_s, transfer_s, call_s, path_s; /* NaN: some of it is not known */
    uint32_t role;
    bool chosen, there;
};

/* Median work of the others of the rank's role. */
static double peers_s(const struct known *k, uint32_t n, uint32_t rank)
{
    double *work_s = xcalloc(n, sizeof(*work_s)), median;
    size_t m = 0;

    for (uint32_t r = 0; r < n; r++)
        if (k[r].there && r != rank && k[r].role == k[rank].role && !isnan(k[r].work_s))
            work_s[m++] = k[r].work_s;
    median = statistics_median(work_s, m);
    free(work_s);
    return median;
}

/* ---- which ranks get a row ---- */

struct candidate {
    uint32_t rank;
    double much;
};

static int by_much(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    if (x->much != y->much)
        return x->much < y->much ? 1 : -1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Choose the first of them, until there are `most` rows. */
static uint32_t choose_first(struct known *k, struct candidate *c, size_t n, uint32_t chosen, uint32_t max)
{
    if (n)
        qsort(c, n, sizeof(*c), by_much);
    for (size_t i = 0; i < n && chosen < max; i++) {
        chosen += !k[c[i].rank].chosen;
        k[c[i].rank].chosen = true;
    }
    return chosen;
}

/* The median work of each role; roles: one more than the largest. */
static double *work_of_roles(const struct known *k, uint32_t n, uint32_t roles)
{
    double *median_s = xcalloc(roles, sizeof(*median_s)), *work_s = xcalloc(n, sizeof(*work_s));
    uint32_t *begin = xcalloc(roles + 1, sizeof(*begin)), *at = xcalloc(roles + 1, sizeof(*at));

    for (uint32_t r = 0; r < n; r++)
        if (k[r].there && !isnan(k[r].work_s))
            begin[k[r].role + 1]++;
    for (uint32_t i = 0; i < roles; i++)
        at[i] = begin[i + 1] += begin[i];
    for (uint32_t r = 0; r < n; r++)
        if (k[r].there && !isnan(k[r].work_s))
            work_s[--at[k[r].role]] = k[r].work_s;
    for (uint32_t i = 0; i < roles; i++)
        median_s[i] = statistics_median(work_s + begin[i], begin[i + 1] - begin[i]);
    free(work_s);
    free(begin);
    free(at);
    return median_s;
}

/* Those on the critical path, then one of each role, then the slowest among their peers. */
static uint32_t choose_rows(struct known *k, uint32_t n, uint32_t max)
{
    struct candidate *c = xcalloc(n, sizeof(*c));
    uint32_t roles = 1, chosen = 0;
    double *median_s;
    bool *has;
    size_t m = 0;

    for (uint32_t r = 0; r < n; r++) {
        roles = k[r].there && k[r].role >= roles ? k[r].role + 1 : roles;
        if (k[r].there && k[r].path_s > 0)
            c[m++] = (struct candidate){ r, k[r].path_s };
    }
    chosen = choose_first(k, c, m, chosen, (max + 1) / PATH_ROWS);
    median_s = work_of_roles(k, n, roles);
    has = xcalloc(roles, sizeof(*has));
    m = 0;
    for (uint32_t r = 0; r < n; r++)
        has[k[r].role] = has[k[r].role] || k[r].chosen;
    for (uint32_t r = 0; r < n; r++)
        if (k[r].there && !has[k[r].role]) {
            has[k[r].role] = true;
            c[m++] = (struct candidate){ r, 0 };
        }
    chosen = choose_first(k, c, m, chosen, chosen + max / ROLE_ROWS < max ? chosen + max / ROLE_ROWS : max);
    m = 0;
    for (uint32_t r = 0; r < n; r++)
        if (k[r].there && !k[r].chosen)
            c[m++] = (struct candidate){ r, median_s[k[r].role] > 0 && !isnan(k[r].work_s)
                                                ? k[r].work_s / median_s[k[r].role]
                                                : 0 };
    chosen = choose_first(k, c, m, chosen, max);
    free(has);
    free(median_s);
    free(c);
    return chosen;
}

static void put_rows(struct picture *p, struct known *k, uint32_t n, uint32_t max)
{
    uint32_t rows = choose_rows(k, n, max < PICTURE_ROWS_MAX ? max : PICTURE_ROWS_MAX);

    p->row = xcalloc(rows, sizeof(*p->row));
    for (uint32_t r = 0; r < n; r++) {
        p->ranks += k[r].there;
        if (k[r].chosen)
            p->row[p->n_rows++] = (struct picture_row){ .rank = r,
                                                        .role = p->roles ? (int64_t)k[r].role : -1,
                                                        .work_s = k[r].work_s,
                                                        .wait_s = k[r].wait_s,
                                                        .transfer_s = k[r].transfer_s,
                                                        .call_s = k[r].call_s,
                                                        .peers_s = peers_s(k, n, r),
                                                        .path_s = k[r].path_s };
    }
}

/* ---- segments ---- */

struct lane { /* of one row */
    struct picture_segment *segment;
    size_t n, cap;
};

static void lane_add(struct lane *l, enum path_kind kind, double begin_s, double end_s)
{
    struct picture_segment *last = l->n ? &l->segment[l->n - 1] : NULL;

    if (!(end_s > begin_s))
        return;
    if (last && last->kind == kind && begin_s <= last->end_s) {
        last->end_s = fmax(last->end_s, end_s);
        return;
    }
    l->segment = xgrow(l->segment, &l->cap, l->n + 1, sizeof(*l->segment));
    l->segment[l->n++] = (struct picture_segment){ (uint8_t)kind, begin_s, end_s };
}

/* As `most` segments of equal length.  Each has the kind of which most is due: what a segment does not show
 * is carried on to the next, so that the kinds keep their shares. */
static void lane_coarsen(struct lane *l, size_t max)
{
    double begin_s = l->segment[0].begin_s, piece_s = (l->segment[l->n - 1].end_s - begin_s) / (double)max;
    double due_s[PATH_KINDS] = { 0 };
    struct lane out = { 0 };

    for (size_t b = 0, i = 0; b < max; b++) {
        double from_s = begin_s + (double)b * piece_s, to_s = from_s + piece_s;
        enum path_kind kind = PATH_WORK;

        while (i > 0 && l->segment[i - 1].end_s > from_s)
            i--;
        for (; i < l->n && l->segment[i].begin_s < to_s; i++)
            due_s[l->segment[i].kind] +=
                fmax(0, fmin(to_s, l->segment[i].end_s) - fmax(from_s, l->segment[i].begin_s));
        for (enum path_kind k = PATH_WORK; k < PATH_KINDS; k++)
            kind = due_s[k] > due_s[kind] ? k : kind;
        due_s[kind] -= piece_s;
        lane_add(&out, kind, from_s, to_s);
    }
    free(l->segment);
    *l = out;
}

static void put_lane(struct picture *p, struct picture_row *row, struct lane *l, size_t *cap)
{
    size_t max = PICTURE_SEGMENTS_MAX / p->n_rows;

    max = max < PICTURE_ROW_SEGMENTS ? max : PICTURE_ROW_SEGMENTS;
    row->coarse = l->n > max;
    if (row->coarse)
        lane_coarsen(l, max);
    row->first = p->n_segments;
    row->n = l->n;
    p->segment = xgrow(p->segment, cap, p->n_segments + l->n, sizeof(*p->segment));
    for (size_t i = 0; i < l->n; i++)
        p->segment[p->n_segments++] = l->segment[i];
    free(l->segment);
}

/* ---- the critical path ---- */

static const struct picture_part *largest(const struct picture *p, enum path_kind kind, bool pair)
{
    for (size_t i = 0; i < p->n_parts; i++)
        if (p->part[i].kind == kind && (!pair || p->part[i].rank != p->part[i].from))
            return &p->part[i];
    return NULL;
}

/* Times are remembered to a part in a thousand: closer ones are equal. */
static long about(double time_s)
{
    return time_s > 0 ? lround(500 * log(time_s)) : LONG_MIN;
}

static int by_time(const void *a, const void *b)
{
    const struct picture_part *x = a, *y = b;

    if (about(x->time_s) != about(y->time_s))
        return about(x->time_s) < about(y->time_s) ? 1 : -1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static int by_who(const void *a, const void *b)
{
    const struct path_piece *x = a, *y = b;

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* A sender's time in its call is part of the transfer to its receiver. */
static struct path_piece of_pair(struct path_piece x, const struct graph *g)
{
    const struct graph_kind_info *k;

    if (x.kind != PATH_TRANSFER || x.meeting == GRAPH_NONE)
        return x;
    k = graph_kind_get(g, graph_meeting_get(g, x.meeting)->kind);
    if (k->message) {
        x.from = k->from;
        x.rank = k->to;
    }
    return x;
}

/* What the path's time is made of, by rank and by pair of ranks. */
static void put_parts(struct picture *p, const struct path_piece *piece, size_t n, const struct graph *g)
{
    struct path_piece *sorted = xcalloc(n, sizeof(*sorted));
    struct picture_part *part = xcalloc(n, sizeof(*part));
    size_t parts = 0;

    for (size_t i = 0; i < n; i++)
        sorted[i] = of_pair(piece[i], g);
    if (n)
        qsort(sorted, n, sizeof(*sorted), by_who);
    for (size_t i = 0; i < n; i++) {
        if (!i || by_who(&sorted[i - 1], &sorted[i]))
            part[parts++] = (struct picture_part){ .kind = sorted[i].kind,
                                                   .rank = sorted[i].rank,
                                                   .from = sorted[i].from };
        part[parts - 1].time_s += sorted[i].end_s - sorted[i].begin_s;
        p->path_s[sorted[i].kind] += sorted[i].end_s - sorted[i].begin_s;
    }
    for (size_t i = 0; i < parts; i++)
        p->path_ranks += part[i].kind == PATH_WORK;
    if (parts)
        qsort(part, parts, sizeof(*part), by_time);
    p->n_parts = parts < PICTURE_PARTS_MAX ? parts : PICTURE_PARTS_MAX;
    memcpy(p->part, part, p->n_parts * sizeof(*part));
    for (size_t i = p->n_parts; i < parts && !largest(p, PATH_TRANSFER, true); i++)
        if (part[i].kind == PATH_TRANSFER && part[i].rank != part[i].from)
            p->part[p->n_parts - 1] = part[i];
    free(sorted);
    free(part);
}

static void add_piece(struct picture *p, const struct path_piece *x, double begin_s, double end_s)
{
    struct picture_piece *last = p->n_pieces ? &p->piece[p->n_pieces - 1] : NULL;

    if (last && last->kind == x->kind && last->rank == x->rank && last->from == x->from)
        last->end_s = end_s;
    else
        p->piece[p->n_pieces++] = (struct picture_piece){ x->kind, x->rank, x->from, begin_s, end_s };
}

/* The pieces, since begin_s.  Of too many, the longest in each of equal parts of the time. */
static void put_pieces(struct picture *p, const struct path_piece *piece, size_t n, double begin_s)
{
    double first_s = n ? piece[0].begin_s : 0, part_s;

    p->piece = xcalloc(n < PICTURE_PIECES_MAX ? n : PICTURE_PIECES_MAX, sizeof(*p->piece));
    for (size_t i = 0; i < n && n <= PICTURE_PIECES_MAX; i++)
        add_piece(p, &piece[i], piece[i].begin_s - begin_s, piece[i].end_s - begin_s);
    if (n <= PICTURE_PIECES_MAX)
        return;
    part_s = (piece[n - 1].end_s - first_s) / PICTURE_PIECES_MAX;
    for (size_t b = 0, i = 0; b < PICTURE_PIECES_MAX; b++) {
        double from_s = first_s + (double)b * part_s, to_s = from_s + part_s, max_s = 0;
        const struct path_piece *longest = &piece[i];

        for (;; i++) {
            double s = fmin(to_s, piece[i].end_s) - fmax(from_s, piece[i].begin_s);

            longest = s > max_s ? &piece[i] : longest;
            max_s = fmax(s, max_s);
            if (i + 1 == n || piece[i].end_s > to_s)
                break;
        }
        add_piece(p, longest, from_s - begin_s, to_s - begin_s);
    }
}

/* ---- messages ---- */

static int by_importance(const void *a, const void *b)
{
    const struct picture_message *x = a, *y = b;

    if (x->on_path != y->on_path)
        return x->on_path ? -1 : 1;
    if (x->held_s != y->held_s)
        return x->held_s < y->held_s ? 1 : -1;
    if (isnan(x->sent_s) != isnan(y->sent_s))
        return isnan(x->sent_s) - isnan(y->sent_s);
    return x->sent_s < y->sent_s ? -1 : x->sent_s > y->sent_s;
}

/* Can the clocks of both ends be compared with that of the path's end? */
static bool is_shown(const struct graph *g, const struct path *path, const struct graph_kind_info *k)
{
    uint32_t last = path->piece[path->n - 1].rank;

    return graph_comparable(g, k->from, last) && graph_comparable(g, k->to, last);
}

static void put_messages(struct picture *p, const struct path *path, const struct graph *g, double begin_s)
{
    bool *on_path = xcalloc(path->meetings, sizeof(*on_path));
    size_t cap = 0;

    for (size_t i = 0; i < path->n; i++)
        if (path->piece[i].meeting != GRAPH_NONE && path->piece[i].rank != path->piece[i].from)
            on_path[path->piece[i].meeting - path->base] = true;
    for (uint32_t i = 0; i < path->step.n; i++) {
        const struct graph_op *op = &path->step.op[i];
        const struct graph_meeting *m = graph_meeting_get(g, op->meeting);
        const struct graph_kind_info *k = graph_kind_get(g, m->kind);
        double sent_s = path_begin_s(path, g, i);
        bool shown = is_shown(g, path, k);

        if (!k->message || op->rank != k->to || !(op->does & GRAPH_IS_HELD) || isnan(sent_s))
            continue;
        p->message = xgrow(p->message, &cap, p->n_messages + 1, sizeof(*p->message));
        p->message[p->n_messages++] = (struct picture_message){ k->from,
                                                                k->to,
                                                                shown ? sent_s - begin_s : NAN,
                                                                shown ? m->end_s - begin_s : NAN,
                                                                fmax(0, path->out_s[i] - path->enter_s[i]),
                                                                on_path[op->meeting - path->base] };
    }
    if (p->n_messages)
        qsort(p->message, p->n_messages, sizeof(*p->message), by_importance);
    p->messages = (int64_t)p->n_messages;
    if (p->n_messages > PICTURE_MESSAGES_MAX)
        p->n_messages = PICTURE_MESSAGES_MAX;
    free(on_path);
}

/* ---- a step of calls ---- */

/* What an operation's rank did from the end of the one before it, handed on piece by piece. */
static void each_segment(const struct path *path, const struct graph *g, uint32_t i,
                         void (*take)(void *arg, enum path_kind kind, double begin_s, double end_s),
                         void *arg)
{
    const struct graph_op *op = &path->step.op[i];
    double enter_s = path->enter_s[i], out_s = path->out_s[i], there_s = path_begin_s(path, g, i);
    double over_s = out_s;

    take(arg, op->known ? PATH_WORK : PATH_UNKNOWN, enter_s - op->work_s, enter_s);
    if (isnan(there_s) || (!(op->does & GRAPH_IS_HELD) && there_s >= out_s)) { /* a sender copies */
        take(arg, op->does & GRAPH_IS_HELD ? PATH_UNKNOWN : PATH_TRANSFER, enter_s, out_s);
        return;
    }
    there_s = fmin(fmax(there_s, enter_s), out_s);
    if (op->does & GRAPH_IS_HELD)
        over_s = fmin(fmax(graph_meeting_get(g, op->meeting)->end_s, there_s), out_s);
    there_s = there_s - enter_s < SHORTEST_S ? enter_s : there_s;
    over_s = out_s - over_s < SHORTEST_S ? out_s : over_s;
    take(arg, PATH_WAIT, enter_s, there_s);
    take(arg, PATH_TRANSFER, there_s, over_s);
    take(arg, PATH_CALL, over_s, out_s);
}

static void take_time(void *arg, enum path_kind kind, double begin_s, double end_s)
{
    struct known *k = arg;
    double s = fmax(0, end_s - begin_s);

    k->work_s += kind == PATH_WORK ? s : kind == PATH_UNKNOWN && s > 0 ? NAN : 0;
    k->wait_s += kind == PATH_WAIT ? s : 0;
    k->transfer_s += kind == PATH_TRANSFER ? s : 0;
    k->call_s += kind == PATH_CALL ? s : 0;
}

struct lane_from {
    struct lane lane;
    double begin_s;
};

static void take_segment(void *arg, enum path_kind kind, double begin_s, double end_s)
{
    struct lane_from *l = arg;

    lane_add(&l->lane, kind, begin_s - l->begin_s, end_s - l->begin_s);
}

static struct known *known_of(const struct path *path, const struct graph *g)
{
    struct known *k = xcalloc(path->ranks, sizeof(*k));

    for (uint32_t r = 0; r < path->ranks; r++) {
        k[r].there = path->first[r] != GRAPH_NONE;
        k[r].role = k[r].there ? graph_role(g, r) : 0;
        k[r].role = k[r].role == GRAPH_NONE ? 0 : k[r].role;
    }
    for (uint32_t i = 0; i < path->step.n; i++)
        each_segment(path, g, i, take_time, &k[path->step.op[i].rank]);
    for (size_t i = 0; i < path->n; i++)
        if (path->piece[i].kind == PATH_WORK)
            k[path->piece[i].rank].path_s += path->piece[i].end_s - path->piece[i].begin_s;
    return k;
}

struct picture *picture_of_calls(const struct graph *g, uint32_t back, uint32_t ranks, uint32_t rows)
{
    struct path *path = path_new(g, back, ranks);
    struct picture *p;
    struct known *k;
    struct graph_step before;
    double begin_s;
    size_t cap = 0;

    if (!path || !path->n) {
        path_free(path);
        return NULL;
    }
    p = xcalloc(1, sizeof(*p));
    /* on the first of the ranks whose clocks can be compared with those of the path */
    begin_s = path->piece[0].begin_s;
    for (uint32_t r = 0; r < path->ranks; r++) {
        uint32_t i = path->first[r];

        if (i != GRAPH_NONE && graph_comparable(g, r, path->piece[path->n - 1].rank))
            begin_s = fmin(begin_s, path->enter_s[i] - path->step.op[i].work_s);
    }
    p->roles = graph_roles(g);
    p->basis = PICTURE_OF_CALLS;
    p->step = path->step.number;
    p->span_s = path->piece[path->n - 1].end_s - begin_s;
    before = back + 1 < graph_steps(g) ? graph_step_about(g, back + 1) : path->step;
    p->duration_s = before.number + 1 == path->step.number ? path->step.end_s - before.end_s : p->span_s;
    p->age_s = NAN;
    k = known_of(path, g);
    put_rows(p, k, path->ranks, rows);
    for (size_t i = 0; i < p->n_rows; i++) {
        struct lane_from l = { .begin_s = begin_s };

        if (graph_comparable(g, (uint32_t)p->row[i].rank, path->piece[path->n - 1].rank))
            for (uint32_t o = path->first[(uint32_t)p->row[i].rank]; o != GRAPH_NONE; o = path->after[o])
                each_segment(path, g, o, take_segment, &l);
        put_lane(p, &p->row[i], &l.lane, &cap);
    }
    put_parts(p, path->piece, path->n, g);
    put_pieces(p, path->piece, path->n, begin_s);
    put_messages(p, path, g, begin_s);
    free(k);
    path_free(path);
    return p;
}

/* ---- a step of sums ---- */

struct picture *picture_of_work(const struct work *w, int64_t step, uint32_t rows)
{
    struct picture *p;
    struct known *k;
    struct path_piece piece[3];
    double transfer_s, met_s;
    uint32_t last = UINT32_MAX;
    size_t cap = 0, n = 0;

    if (!work_kept(w))
        return NULL;
    k = xcalloc(w->n, sizeof(*k));
    for (uint32_t r = 0; r < w->n; r++) {
        k[r].there = !isnan(w->newest_s[r]);
        k[r].work_s = w->newest_s[r];
        if (k[r].there && (last == UINT32_MAX || k[r].work_s > k[last].work_s))
            last = r;
    }
    if (last == UINT32_MAX) {
        free(k);
        return NULL;
    }
    p = xcalloc(1, sizeof(*p));
    p->basis = PICTURE_OF_SUMS;
    p->step = step;
    p->age_s = NAN;
    p->duration_s = p->span_s = fmax(w->step[work_slot(w, 0)].duration_s, k[last].work_s);
    /* What is neither the slowest rank's work nor the transfer is waiting in turn. */
    transfer_s = p->span_s - k[last].work_s;
    if (w->step[work_slot(w, 0)].transfer_s < transfer_s)
        transfer_s = w->step[work_slot(w, 0)].transfer_s;
    met_s = p->span_s - transfer_s;
    for (uint32_t r = 0; r < w->n; r++) {
        k[r].wait_s = met_s - k[r].work_s;
        k[r].transfer_s = transfer_s;
    }
    k[last].path_s = k[last].work_s;
    put_rows(p, k, w->n, rows);
    for (size_t i = 0; i < p->n_rows; i++) {
        struct lane l = { 0 };

        lane_add(&l, PATH_WORK, 0, p->row[i].work_s);
        lane_add(&l, PATH_WAIT, p->row[i].work_s, met_s);
        lane_add(&l, PATH_TRANSFER, met_s, p->span_s);
        put_lane(p, &p->row[i], &l, &cap);
    }
    piece[n++] = (struct path_piece){ last, last, GRAPH_NONE, PATH_WORK, 0, k[last].work_s };
    if (met_s > k[last].work_s)
        piece[n++] = (struct path_piece){ last, last, GRAPH_NONE, PATH_WAIT, k[last].work_s, met_s };
    if (p->span_s > met_s)
        piece[n++] = (struct path_piece){ last, last, GRAPH_NONE, PATH_TRANSFER, met_s, p->span_s };
    put_parts(p, piece, n, NULL);
    put_pieces(p, piece, n, 0);
    free(k);
    return p;
}

/* ---- in words ---- */

static void describe_work(struct picture *p)
{
    const struct picture_part *most = largest(p, PATH_WORK, false);
    size_t size = sizeof(p->text), at;
    const struct picture_row *row = most && picture_find_row(p, most->rank, &at) ? &p->row[at] : NULL;

    if (!most)
        return;
    text_append(p->text, size, "%s is work of ", text_s(p->path_s[PATH_WORK]).s);
    if (p->path_ranks > 1)
        text_append(p->text, size, "%lld ranks, %s of it of ", (long long)p->path_ranks,
                    text_s(most->time_s).s);
    text_append(p->text, size, "r%lld", (long long)most->rank);
    if (most->node[0])
        text_append(p->text, size, " on %s", most->node);
    if (!row || !(row->work_s > SLOWER * row->peers_s))
        return;
    if (row->work_s < SLOWER * most->time_s)
        text_append(p->text, size, " (its peers work %s)", text_s(row->peers_s).s);
    else
        text_append(p->text, size, " (in all it works %s, its peers %s)", text_s(row->work_s).s,
                    text_s(row->peers_s).s);
}

/* Before the next part of the text. */
static const char *separator(const struct picture *p)
{
    size_t n = strlen(p->text);

    return n && p->text[n - 1] != ' ' ? "; " : "";
}

void picture_describe(struct picture *p)
{
    static const char *const of[PATH_KINDS] = { "work of", "waiting in turn of", "collective entered last by",
                                                "inside calls of", "not known, of" };
    const struct picture_part *pair = largest(p, PATH_TRANSFER, true), *call = largest(p, PATH_CALL, false);
    size_t size = sizeof(p->text);

    for (struct picture_part *x = p->part; x < p->part + p->n_parts; x++)
        if (x->rank != x->from)
            snprintf(x->text, sizeof(x->text), "%s from r%lld to r%lld", kinds[x->kind], (long long)x->from,
                     (long long)x->rank);
        else
            snprintf(x->text, sizeof(x->text), "%s r%lld%s%s", of[x->kind], (long long)x->rank,
                     x->node[0] ? " on " : "", x->node);
    p->text[0] = '\0';
    if (p->span_s > LONGER * p->duration_s)
        text_append(p->text, size, "It spans %s, partly beside the step before: ", text_s(p->span_s).s);
    describe_work(p);
    if (p->path_s[PATH_TRANSFER] > 0) {
        text_append(p->text, size, "%s%s is transfers", separator(p), text_s(p->path_s[PATH_TRANSFER]).s);
        if (pair)
            text_append(p->text, size, ", %s of them from r%lld to r%lld", text_s(pair->time_s).s,
                        (long long)pair->from, (long long)pair->rank);
    }
    if (p->path_s[PATH_CALL] >= WORTH * p->span_s && call)
        text_append(p->text, size, "%s%s is inside calls whose transfer was over, %s of it of r%lld",
                    separator(p), text_s(p->path_s[PATH_CALL]).s, text_s(call->time_s).s,
                    (long long)call->rank);
    if (p->path_s[PATH_WAIT] > 0)
        text_append(p->text, size, "%s%s is waiting in turn", separator(p), text_s(p->path_s[PATH_WAIT]).s);
    if (p->path_s[PATH_UNKNOWN] > 0)
        text_append(p->text, size, "%s%s is not known: calls are missing", separator(p),
                    text_s(p->path_s[PATH_UNKNOWN]).s);
}
