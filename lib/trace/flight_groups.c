#include "trace/flight_groups.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/map.h"
#include "common/names.h"
#include "common/xalloc.h"
#include "trace/import_format.h"
#include "view/view.h"
#include "wire/json.h"

#define UNKNOWN     (-1)
#define MEMBERS_MAX (1u << 22) /* of all groups: who is in further ones is not known */

/* What the dump that is read shows of a group. */
struct here {
    uint32_t dump; /* that it is of; 0: of none yet */
    bool configured;
    int64_t pg_id, newest, completed, pending; /* pending: the oldest collective that is not over */
};

struct group {
    char description[64];
    uint32_t *rank; /* by place */
    size_t n;
    bool doubtful; /* what a status counts in it is not its collectives alone, or not known */
    struct here here;
};

struct status { /* of the dump that is read */
    int64_t pg_id, enqueued, completed;
};

/* How far a rank has come in a group: by its entries, by its status. */
struct reached {
    uint32_t group, rank;
    int64_t left, called, status_left, status_called;
};

struct flight_groups {
    struct names *names;
    struct group *group;
    size_t group_cap;
    uint32_t dump;  /* the one that is read; the first is 1 */
    uint32_t *used; /* the groups that it shows */
    size_t n_used, used_cap;
    struct status *status;
    size_t statuses, status_cap;
    struct reached *reached;
    size_t n, cap;
    size_t members;    /* of all groups */
    uint32_t *scratch; /* VIEW_RANKS_MAX ranks */
    bool *seen;        /* by rank; all false between calls */
};

struct flight_groups *flight_groups_new(void)
{
    struct flight_groups *g = xcalloc(1, sizeof(*g));

    g->names = names_new();
    g->scratch = xcalloc(VIEW_RANKS_MAX, sizeof(*g->scratch));
    g->seen = xcalloc(VIEW_RANKS_MAX, sizeof(*g->seen));
    return g;
}

void flight_groups_free(struct flight_groups *g)
{
    if (!g)
        return;
    for (uint32_t i = 0; i < names_count(g->names); i++)
        free(g->group[i].rank);
    names_free(g->names);
    free(g->group);
    free(g->used);
    free(g->status);
    free(g->reached);
    free(g->scratch);
    free(g->seen);
    free(g);
}

/* ---- of the dump that is read ---- */

void flight_groups_begin(struct flight_groups *g)
{
    g->dump++;
    g->n_used = 0;
    g->statuses = 0;
}

static struct here *here_of(struct flight_groups *g, uint32_t group)
{
    struct here *h = &g->group[group].here;

    if (h->dump == g->dump)
        return h;
    *h = (struct here){
        .dump = g->dump, .pg_id = UNKNOWN, .newest = UNKNOWN, .completed = UNKNOWN, .pending = UNKNOWN
    };
    g->used = xgrow(g->used, &g->used_cap, g->n_used + 1, sizeof(*g->used));
    g->used[g->n_used++] = group;
    return h;
}

static uint32_t group_get(struct flight_groups *g, const char *name)
{
    uint32_t number = names_find(g->names, name, strlen(name));

    if (number == NAMES_NONE && names_count(g->names) < VIEW_COMMS_MAX) {
        number = names_add(g->names, name, strlen(name));
        g->group = xgrow(g->group, &g->group_cap, number + 1, sizeof(*g->group));
        g->group[number] = (struct group){ .n = 0 };
    }
    if (number == NAMES_NONE)
        return FLIGHT_NO_GROUP;
    here_of(g, number);
    return number;
}

/* The ranks of a group into scratch; 0: not known, too many, or one of them stands there twice. */
static size_t read_ranks(struct flight_groups *g, const json_t *ranks)
{
    size_t n = import_ranks(ranks, g->scratch, VIEW_RANKS_MAX);
    bool twice = false;

    for (size_t i = 0; i < n; i++) {
        twice |= g->seen[g->scratch[i]];
        g->seen[g->scratch[i]] = true;
    }
    for (size_t i = 0; i < n; i++)
        g->seen[g->scratch[i]] = false;
    return twice || g->members + n > MEMBERS_MAX ? 0 : n;
}

/* {"0":{"name":"0","desc":"default_pg","ranks":"[0, 1]"}} */
void flight_groups_config(struct flight_groups *g, const json_t *config)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)config, key, value) {
        uint32_t number = group_get(g, key);
        struct group *k;

        if (number == FLIGHT_NO_GROUP)
            continue;
        k = &g->group[number];
        k->here.configured = true;
        if (k->n)
            continue;
        free(k->rank);
        k->n = read_ranks(g, json_object_get(value, "ranks"));
        g->members += k->n;
        k->rank = xcalloc(k->n + 1, sizeof(*k->rank));
        memcpy(k->rank, g->scratch, k->n * sizeof(*k->rank));
        json_get_text(value, "desc", k->description, sizeof(k->description));
    }
}

/* A number, which JSON dumps have as text. */
static int64_t number_of(const json_t *o, const char *key)
{
    const json_t *value = json_object_get(o, key);
    const char *text = json_string_value(value);
    char *end = NULL;
    int64_t number = json_is_integer(value) ? json_integer_value(value)
                     : text                 ? strtoll(text, &end, 10)
                                            : UNKNOWN;

    return (end && (*end || end == text)) || number < 0 || number >= CALLS_IN_ORDER ? UNKNOWN : number;
}

/* {"0":{"last_enqueued_collective":7,"last_started_collective":-1,"last_completed_collective":7}} */
void flight_groups_status(struct flight_groups *g, const json_t *status)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)status, key, value) {
        char *end;
        long long pg_id = strtoll(key, &end, 10);

        if (*end || end == key || pg_id < 0 || pg_id > INT32_MAX || g->statuses >= VIEW_COMMS_MAX)
            continue;
        g->status = xgrow(g->status, &g->status_cap, g->statuses + 1, sizeof(*g->status));
        g->status[g->statuses++] = (struct status){ pg_id, number_of(value, "last_enqueued_collective"),
                                                    number_of(value, "last_completed_collective") };
    }
}

uint32_t flight_groups_entry(struct flight_groups *g, const json_t *entry)
{
    const json_t *pair = json_object_get(entry, "process_group");
    const char *name = json_string_value(json_array_get(pair, 0)),
               *description = json_string_value(json_array_get(pair, 1));
    int64_t pg_id = json_get_int(entry, "pg_id", 0, INT32_MAX, UNKNOWN);
    char number[32];
    uint32_t group;

    if (!name) { /* before version 2 */
        snprintf(number, sizeof(number), "%lld", (long long)(pg_id < 0 ? 0 : pg_id));
        name = number;
    }
    group = group_get(g, name);
    if (group == FLIGHT_NO_GROUP)
        return group;
    if (description && !g->group[group].description[0])
        snprintf(g->group[group].description, sizeof(g->group[group].description), "%s", description);
    if (pg_id >= 0)
        g->group[group].here.pg_id = pg_id;
    return group;
}

void flight_groups_collective(struct flight_groups *g, uint32_t group, uint32_t seq, bool over)
{
    struct here *h = here_of(g, group);

    h->newest = seq > h->newest ? seq : h->newest;
    if (over)
        h->completed = seq > h->completed ? seq : h->completed;
    else if (h->pending < 0 || seq < h->pending)
        h->pending = seq;
}

void flight_groups_message(struct flight_groups *g, uint32_t group)
{
    g->group[group].doubtful = true;
}

/* ---- the end of a dump ---- */

static int by_pg_id(const void *left, const void *right)
{
    const struct status *a = left, *b = right;

    return (a->pg_id > b->pg_id) - (a->pg_id < b->pg_id);
}

struct numbered {
    unsigned long long name;
    uint32_t group;
};

static int by_name(const void *left, const void *right)
{
    const struct numbered *a = left, *b = right;

    return (a->name > b->name) - (a->name < b->name);
}

/* The groups of this dump in the order of their names, which are numbers; NULL: they are not, or they are not
 * as many as the statuses. */
static struct numbered *order_groups(const struct flight_groups *g)
{
    struct numbered *order = xcalloc(g->n_used + 1, sizeof(*order));
    size_t n = 0;

    for (size_t i = 0; i < g->n_used; i++) {
        const char *name = names_text(g->names, g->used[i]);
        char *end;

        if (!g->group[g->used[i]].here.configured || !isdigit((unsigned char)*name))
            break;
        order[n].group = g->used[i];
        order[n].name = strtoull(name, &end, 10);
        if (*end)
            break;
        n++;
    }
    if (n < g->n_used || n != g->statuses) {
        free(order);
        return NULL;
    }
    qsort(order, n, sizeof(*order), by_name);
    return order;
}

/* Complete what numbers the groups have in this process; where the entries contradict the order, nothing is
 * concluded from it. */
static void number_groups(struct flight_groups *g)
{
    struct numbered *order;

    if (!g->statuses)
        return;
    qsort(g->status, g->statuses, sizeof(*g->status), by_pg_id);
    order = order_groups(g);
    for (size_t i = 0; order && i < g->statuses; i++) {
        int64_t pg_id = g->group[order[i].group].here.pg_id;

        if (pg_id >= 0 && pg_id != g->status[i].pg_id) {
            free(order);
            order = NULL;
        }
    }
    for (size_t i = 0; order && i < g->statuses; i++)
        g->group[order[i].group].here.pg_id = g->status[i].pg_id;
    free(order);
}

static const struct status *status_of(const struct flight_groups *g, int64_t pg_id)
{
    const struct status key = { .pg_id = pg_id };

    return g->statuses && pg_id >= 0 ? bsearch(&key, g->status, g->statuses, sizeof(*g->status), by_pg_id)
                                     : NULL;
}

void flight_groups_end(struct flight_groups *g, uint32_t rank)
{
    number_groups(g);
    for (size_t i = 0; i < g->n_used; i++) {
        struct group *k = &g->group[g->used[i]];
        const struct here *h = &k->here;
        const struct status *s = status_of(g, h->pg_id);
        int64_t before = h->pending > 0 ? h->pending - 1 : UNKNOWN;
        struct reached r = { .group = g->used[i],
                             .rank = rank,
                             .left = h->completed > before ? h->completed : before,
                             .called = h->newest,
                             .status_left = s ? s->completed : UNKNOWN,
                             .status_called = s ? s->enqueued : UNKNOWN };

        k->doubtful |= h->newest >= 0 && s && s->enqueued != h->newest;
        if (r.left < 0 && r.called < 0 && r.status_left < 0 && r.status_called < 0)
            continue;
        g->reached = xgrow(g->reached, &g->cap, g->n + 1, sizeof(*g->reached));
        g->reached[g->n++] = r;
    }
}

/* ---- all of them ---- */

size_t flight_groups_count(const struct flight_groups *g)
{
    return names_count(g->names);
}

const uint32_t *flight_groups_ranks(const struct flight_groups *g, uint32_t group, size_t *n)
{
    *n = g->group[group].n;
    return g->group[group].rank;
}

const uint32_t *flight_groups_world(const struct flight_groups *g, size_t *n)
{
    for (uint32_t i = 0; i < names_count(g->names); i++)
        if (!strcmp(g->group[i].description, "default_pg") && g->group[i].n)
            return flight_groups_ranks(g, i, n);
    *n = 0;
    return NULL;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* How far a rank has come, by all that can be believed. */
static int give_member(const struct group *k, struct reached r, struct calls *calls, int64_t comm,
                       struct err *err)
{
    if (!k->doubtful) {
        r.left = larger(r.left, r.status_left);
        r.called = larger(r.called, r.status_called);
    }
    return calls_member(calls, comm, r.rank, r.left, larger(r.called, r.left), err);
}

/* Where no dump says who is in a group, those are that show it. */
static int give_members(const struct flight_groups *g, uint32_t group, const struct map *at,
                        struct calls *calls, int64_t comm, struct err *err)
{
    const struct group *k = &g->group[group];
    int rc = 0;

    for (size_t i = 0; i < k->n && rc == 0; i++) {
        uint32_t found = map_get(at, (uint64_t)group << 32 | k->rank[i]);
        struct reached none = { .rank = k->rank[i],
                                .left = UNKNOWN,
                                .called = UNKNOWN,
                                .status_left = UNKNOWN,
                                .status_called = UNKNOWN };

        rc = give_member(k, found == MAP_NONE ? none : g->reached[found], calls, comm, err);
    }
    for (size_t i = 0; i < g->n && rc == 0 && !k->n; i++)
        if (g->reached[i].group == group)
            rc = give_member(k, g->reached[i], calls, comm, err);
    return rc;
}

int flight_groups_give(const struct flight_groups *g, struct calls *calls, size_t world, int64_t *comm,
                       struct err *err)
{
    bool *given = xcalloc(VIEW_COMMS_MAX, sizeof(*given)); /* by communicator */
    struct map at = { 0 };
    int rc = 0;

    for (size_t i = 0; i < g->n; i++)
        map_put(&at, (uint64_t)g->reached[i].group << 32 | g->reached[i].rank, (uint32_t)i);
    for (uint32_t i = 0; i < names_count(g->names) && rc == 0; i++) {
        const struct group *k = &g->group[i];
        char name[TRACE_NAME_MAX + 1], alone[2 * TRACE_NAME_MAX];

        import_group_name(name, sizeof(name), names_text(g->names, i), k->description, k->rank, k->n, world);
        comm[i] = calls_comm(calls, name, err);
        if (comm[i] >= 0 && given[comm[i]]) { /* another group of the same ranks */
            snprintf(alone, sizeof(alone), "%.40s #%.20s", name, names_text(g->names, i));
            comm[i] = calls_comm(calls, alone, err);
        }
        rc = comm[i] < 0 ? -1 : 0;
        if (rc == 0 && !given[comm[i]])
            rc = give_members(g, i, &at, calls, comm[i], err);
        if (rc == 0)
            given[comm[i]] = true;
    }
    map_free(&at);
    free(given);
    return rc;
}
