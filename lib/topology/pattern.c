#include "topology/pattern.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "network/schedule.h"

static const struct {
    const char *name;
    enum schedule_algorithm algorithm; /* of the all-reduce that it is */
} kinds[] = {
    [PATTERN_RING] = { "ring", SCHEDULE_RING },
    [PATTERN_HALVING] = { "halving", SCHEDULE_HALVING },
    [PATTERN_DOUBLING] = { "doubling", SCHEDULE_DOUBLING },
    [PATTERN_GROUPS] = { "groups", SCHEDULE_HIERARCHICAL_RING },
    [PATTERN_PIPELINE] = { .name = "pipeline" },
};

/* A number from 1 to PATTERN_RANKS_MAX; the text behind it, or NULL: there is none. */
static const char *number(const char *s, uint32_t *value)
{
    unsigned long long n = 0;
    const char *p = s;

    for (; *p >= '0' && *p <= '9' && n <= PATTERN_RANKS_MAX; p++)
        n = 10 * n + (unsigned)(*p - '0');
    if (n == 0 || n > PATTERN_RANKS_MAX)
        return NULL;
    *value = (uint32_t)n;
    return p;
}

int pattern_parse(struct pattern *p, const char *text, struct err *err)
{
    const char *rest = strpbrk(text, ":="), *end = "";
    size_t word = rest ? (size_t)(rest - text) : strlen(text);
    struct pattern read = { .kind = PATTERN_RING, .bytes = p->bytes };

    while (read.kind <= PATTERN_PIPELINE &&
           (strlen(kinds[read.kind].name) != word || strncmp(text, kinds[read.kind].name, word) != 0))
        read.kind++;
    if (read.kind > PATTERN_PIPELINE || !rest != (read.kind < PATTERN_GROUPS)) {
        end = NULL;
    } else if (read.kind == PATTERN_GROUPS) {
        end = number(rest + 1, &read.group);
    } else if (read.kind == PATTERN_PIPELINE) {
        end = number(rest + 1, &read.stages);
        end = end && *end == 'x' ? number(end + 1, &read.replicas) : NULL;
    }
    if (!end || *end)
        return err_set(err,
                       "pattern '%.60s' is not accepted: " PATTERN_ACCEPTS ", as in groups:8 or pipeline:8x4",
                       text);
    *p = read;
    return 0;
}

char *pattern_name(const struct pattern *p, char buf[PATTERN_NAME_SIZE])
{
    if (p->kind == PATTERN_GROUPS)
        snprintf(buf, PATTERN_NAME_SIZE, "groups:%u", p->group);
    else if (p->kind == PATTERN_PIPELINE)
        snprintf(buf, PATTERN_NAME_SIZE, "pipeline:%ux%u", p->stages, p->replicas);
    else
        snprintf(buf, PATTERN_NAME_SIZE, "%s", kinds[p->kind].name);
    return buf;
}

int pattern_check(const struct pattern *p, uint32_t ranks, struct err *err)
{
    if (!ranks || ranks > PATTERN_RANKS_MAX)
        return err_set(err, "%u ranks: 1 to %u are accepted", ranks, PATTERN_RANKS_MAX);
    if (p->kind == PATTERN_GROUPS && ranks % p->group)
        return err_set(err, "groups:%u: %u ranks cannot be divided into such groups", p->group, ranks);
    if (p->kind == PATTERN_PIPELINE && (uint64_t)p->stages * p->replicas != ranks)
        return err_set(err, "pipeline:%ux%u has %llu ranks, and there are %u", p->stages, p->replicas,
                       (unsigned long long)p->stages * p->replicas, ranks);
    return 0;
}

uint32_t pattern_row(const struct pattern *p)
{
    if (p->kind == PATTERN_GROUPS)
        return p->group;
    return p->kind == PATTERN_PIPELINE ? p->replicas : 0;
}

/* ---- messages ---- */

struct building {
    struct flows *flows;
    uint32_t ranks, per_slot;
    uint32_t *last; /* by slot: 1 + the index of its newest flow to that slot; only of the sender in `from` */
    uint32_t *from;
    bool failed;
};

/* The next phase, with room for two flows of each rank: a pipeline's rank sends forward and back. */
static struct phase *begin_phase(struct building *b, double rounds, double bytes)
{
    struct flows *f = b->flows;
    struct phase *more = reallocarray(f->phase, f->n_phases + 1, sizeof(*more));
    struct flow *flow = more && !b->failed ? calloc(2 * (size_t)b->ranks, sizeof(*flow)) : NULL;

    f->phase = more ? more : f->phase;
    if (!flow) {
        b->failed = true;
        return NULL;
    }
    f->phase[f->n_phases] = (struct phase){ rounds, bytes, flow, 0 };
    for (uint32_t i = 0; i < f->slots; i++)
        b->from[i] = UINT32_MAX;
    return &f->phase[f->n_phases++];
}

/* Ranks of a slot send one after another, so what goes to the same slot is added up in one flow. */
static void add_flow(struct building *b, struct phase *ph, uint32_t from, uint32_t to)
{
    uint32_t one = from / b->per_slot, two = to / b->per_slot;

    if (one == two)
        return;
    if (b->from[two] == one) {
        ph->flow[b->last[two]].messages++;
        return;
    }
    b->from[two] = one;
    b->last[two] = (uint32_t)ph->n_flows;
    ph->flow[ph->n_flows++] = (struct flow){ one, two, 1 };
}

/* Give back what the phase does not need. */
static void end_phase(struct building *b, struct phase *ph)
{
    struct flow *fewer;

    if (ph->n_flows) {
        fewer = reallocarray(ph->flow, ph->n_flows, sizeof(*ph->flow));
        ph->flow = fewer ? fewer : ph->flow;
    } else {
        free(ph->flow);
        b->flows->n_phases--;
    }
}

struct message {
    struct building *building;
    struct phase *phase;
};

static void add_message(void *arg, const struct schedule_message *m)
{
    const struct message *to = arg;

    add_flow(to->building, to->phase, m->from, m->to);
}

/* Stages with the same partners and sizes, such as the two halves of a ring, become one phase. */
static void add_schedule(struct building *b, const struct schedule_spec *spec)
{
    struct schedule s;

    schedule_init(&s, spec);
    for (uint32_t i = 0; i < s.stages; i++) {
        const struct schedule_stage *st = &s.stage[i];
        struct message to = { b, NULL };
        double rounds = 0;
        bool again = false;

        for (uint32_t k = 0; k < s.stages; k++) {
            const struct schedule_stage *other = &s.stage[k];

            if (other->pattern != st->pattern || other->size != st->size || other->stride != st->stride ||
                other->distance != st->distance)
                continue;
            again |= k < i;
            rounds += other->rounds;
        }
        to.phase = again ? NULL : begin_phase(b, rounds, st->bytes);
        for (uint32_t member = 0; to.phase && member < b->ranks; member++)
            schedule_sends(&s, st->first, member, add_message, &to);
        if (to.phase)
            end_phase(b, to.phase);
    }
}

static void add_pipeline(struct building *b, const struct pattern *p)
{
    struct phase *ph = begin_phase(b, 1, p->bytes);
    uint32_t n = p->replicas;

    for (uint32_t i = 0; ph && i + n < b->ranks; i++) {
        add_flow(b, ph, i, i + n);
        add_flow(b, ph, i + n, i);
    }
    if (ph)
        end_phase(b, ph);
    if (n < 2 || !(ph = begin_phase(b, 2 * (n - 1.0), p->bytes / n)))
        return;
    for (uint32_t i = 0; i < b->ranks; i++)
        add_flow(b, ph, i, i / n * n + (i + 1) % n);
    end_phase(b, ph);
}

struct flows *flows_new(const struct pattern *p, uint32_t ranks, uint32_t per_slot)
{
    struct schedule_spec spec = {
        .algorithm = kinds[p->kind].algorithm, .members = ranks, .bytes = p->bytes, .group = p->group
    };
    struct building b = { .flows = calloc(1, sizeof(*b.flows)), .ranks = ranks, .per_slot = per_slot };

    if (!b.flows)
        return NULL;
    b.flows->slots = ranks / per_slot;
    b.last = calloc(b.flows->slots, sizeof(*b.last));
    b.from = calloc(b.flows->slots, sizeof(*b.from));
    b.failed = !b.last || !b.from;
    if (!b.failed && p->kind == PATTERN_PIPELINE)
        add_pipeline(&b, p);
    else if (!b.failed)
        add_schedule(&b, &spec);
    free(b.last);
    free(b.from);
    if (b.failed) {
        flows_free(b.flows);
        return NULL;
    }
    return b.flows;
}

void flows_free(struct flows *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->n_phases; i++)
        free(f->phase[i].flow);
    free(f->phase);
    free(f);
}
