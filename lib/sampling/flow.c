#include "sampling/flow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "sampling/period.h"

#define BLOCK_MAX      4096u /* collectives in a block */
#define NEAR_UNUSUAL   4u    /* collectives sent whole on each side of an unusual one */
#define UNUSUAL        5.0   /* times the usual stay or gap */
#define UNUSUAL_NS     2e6   /* and at least so much */
#define USUAL_MIN      16u   /* events before anything is called unusual */
#define STEPS_HZ       20.0  /* step items a second at the most */
#define STEP_BLOCK_MAX 1024u
/* The step's communicator may be quiet so long before another is taken. */
#define SILENT_NS (10ull * 1000000000u)

struct flow_comm {
    uint64_t name;
    uint32_t size;
    uint32_t filled; /* of block */
    uint64_t last_ns;
    uint32_t next_seq;
    uint32_t events;
    double usual_stay_ns, usual_gap_ns; /* running medians, by stochastic approximation */
    struct sample block;                /* open while block.n > 0 */
    struct sample *recent; /* NEAR_UNUSUAL; the newest ones, to be sent whole when the next is unusual */
    uint32_t recent_n;
    uint32_t whole_left;
    struct period period;
    uint64_t left_ns;                                /* when the rank left its newest collective, and ... */
    uint64_t gap_then_ns, p2p_then_ns, stay_then_ns; /* ... what the rank's sums were */
};

struct flow {
    uint32_t rank;
    uint16_t app;
    double rate_hz;
    bool whole;
    uint32_t block_n;              /* power of two */
    uint64_t second_ns, in_second; /* the rate is counted over seconds of event time */
    uint64_t last_leave_ns;
    struct flow_comm **comm;
    size_t n_comms, comms_cap;
    struct flow_comm *main;           /* whose period makes the steps */
    uint64_t gap_ns, p2p_ns, stay_ns; /* sums of all so far */
    struct step step;                 /* open while step.period > 0 */
    struct step done;                 /* as it was when its last step was complete */
    uint32_t step_in;                 /* steps in it already */
    uint32_t step_next;               /* the sequence number that goes on with it */
    bool incomplete;     /* records are missing since the main communicator's newest collective */
    uint32_t step_block; /* steps an item */
    double step_s;       /* smoothed */
};

struct flow *flow_new(uint32_t rank, uint16_t app, double rate_hz)
{
    struct flow *f = xcalloc(1, sizeof(*f));

    f->rank = rank;
    f->app = app;
    f->rate_hz = rate_hz;
    f->block_n = 1;
    f->step_block = 1;
    return f;
}

static void comm_clear(struct flow_comm *c)
{
    period_free(&c->period);
    free(c->recent);
    memset(c, 0, sizeof(*c));
}

void flow_free(struct flow *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->n_comms; i++) {
        comm_clear(f->comm[i]);
        free(f->comm[i]);
    }
    free(f->comm);
    free(f);
}

void flow_control(struct flow *f, double rate_hz, bool whole)
{
    f->rate_hz = rate_hz;
    f->whole = whole;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static void send_sample(const struct sample *s, flow_sink *sink, void *arg)
{
    struct telemetry_item item = { .kind = TELEMETRY_SAMPLE, .sample = *s };

    sink(&item, arg);
}

static void close_block(struct flow_comm *c, flow_sink *sink, void *arg)
{
    if (!c->block.n)
        return;
    if (c->filled < c->block.n)
        c->block.flags |= SAMPLE_GAP;
    send_sample(&c->block, sink, arg);
    c->block.n = 0;
    c->filled = 0;
}

static struct flow_comm *comm_get(struct flow *f, const struct call *call, flow_sink *sink, void *arg)
{
    struct flow_comm *c, *oldest = NULL;

    for (size_t i = 0; i < f->n_comms; i++) {
        c = f->comm[i];
        if (c->name == call->comm)
            return c;
        if (!oldest || c->last_ns < oldest->last_ns)
            oldest = c;
    }
    if (f->n_comms < FLOW_COMMS_MAX) {
        if (f->n_comms == f->comms_cap) { /* most ranks meet in one or two */
            f->comms_cap += f->comms_cap ? f->comms_cap : 1;
            f->comm = xrealloc(f->comm, f->comms_cap, sizeof(struct flow_comm *));
        }
        c = f->comm[f->n_comms++] = xcalloc(1, sizeof(*c));
    } else {
        c = oldest;
        close_block(c, sink, arg);
        if (f->main == c)
            f->main = NULL;
        comm_clear(c);
    }
    c->name = call->comm;
    c->next_seq = call->seq;
    return c;
}

/* How many collectives a block, from what the last second brought.  Only ever a factor of two at a time, so
 * that the ranks of a job stay near each other. */
static void count_rate(struct flow *f, uint64_t now_ns)
{
    double elapsed_s, rate_hz;

    f->in_second++;
    if (!f->second_ns)
        f->second_ns = now_ns;
    if (now_ns < f->second_ns + 1000000000u)
        return;
    elapsed_s = (double)(now_ns - f->second_ns) * 1e-9;
    rate_hz = (double)f->in_second / elapsed_s;
    if (rate_hz / f->block_n > f->rate_hz && f->block_n < BLOCK_MAX)
        f->block_n *= 2;
    else if (f->block_n > 1 && rate_hz / f->block_n < f->rate_hz / 3)
        f->block_n /= 2;
    f->second_ns = now_ns;
    f->in_second = 0;
}

/* Largest power of two that divides seq and is not above n. */
static uint32_t block_size(uint32_t seq, uint32_t n)
{
    uint32_t divides = seq ? seq & -seq : n;

    return divides < n ? divides : n;
}

static void add_to_block(struct flow *f, struct flow_comm *c, const struct sample *one, flow_sink *sink,
                         void *arg)
{
    if (c->block.n && one->seq >= c->block.seq + c->block.n)
        close_block(c, sink, arg);
    if (!c->block.n) {
        uint32_t n = f->whole ? 1 : block_size(one->seq, f->block_n);

        if (n == 1) {
            send_sample(one, sink, arg);
            return;
        }
        c->block = *one;
        c->block.n = n;
        c->filled = 1;
    } else {
        c->block.stay_sum_ns += one->stay_sum_ns;
        c->block.gap_sum_ns += one->gap_sum_ns;
        c->block.p2p_sum_ns += one->p2p_sum_ns;
        c->filled++;
    }
    if (one->seq + 1 == c->block.seq + c->block.n)
        close_block(c, sink, arg);
}

static void send_whole(struct sample s, flow_sink *sink, void *arg)
{
    s.flags |= SAMPLE_WHOLE;
    send_sample(&s, sink, arg);
}

/* A running median: a step towards the value, the size of the step relative to the median itself. */
static void usual_update(double *usual, double value, uint32_t n)
{
    double gain = n < USUAL_MIN ? 0.5 : 0.05;

    if (n == 0)
        *usual = value;
    else if (value > *usual)
        *usual += gain * fmin(value - *usual, *usual + 1);
    else
        *usual -= gain * fmin(*usual - value, *usual);
}

static bool unusual(double value, double usual)
{
    return value > UNUSUAL * usual && value > UNUSUAL_NS;
}

/* Send an unusual collective and its neighbours whole, where the block would hide them. */
static void keep_unusual(struct flow_comm *c, const struct sample *one, bool hidden, flow_sink *sink,
                         void *arg)
{
    bool now = c->events >= USUAL_MIN && (unusual((double)one->stay_ns, c->usual_stay_ns) ||
                                          unusual((double)one->gap_sum_ns, c->usual_gap_ns));

    usual_update(&c->usual_stay_ns, (double)one->stay_ns, c->events);
    usual_update(&c->usual_gap_ns, (double)one->gap_sum_ns, c->events);
    c->events++;
    if (now && hidden) {
        for (uint32_t i = 0; i < c->recent_n; i++)
            send_whole(c->recent[i], sink, arg);
        c->recent_n = 0;
        c->whole_left = NEAR_UNUSUAL + 1;
    }
    if (c->whole_left && hidden) {
        c->whole_left--;
        send_whole(*one, sink, arg);
        return;
    }
    if (!c->recent)
        c->recent = xcalloc(NEAR_UNUSUAL, sizeof(*c->recent));
    if (c->recent_n == NEAR_UNUSUAL) {
        memmove(c->recent, c->recent + 1, (NEAR_UNUSUAL - 1) * sizeof(c->recent[0]));
        c->recent_n--;
    }
    c->recent[c->recent_n++] = *one;
}

static void send_step(struct flow *f, flow_sink *sink, void *arg)
{
    struct telemetry_item item = { .kind = TELEMETRY_STEP, .step = f->done };

    if (f->step.period && f->step_in) {
        item.step.n_steps = f->step_in;
        sink(&item, arg);
    }
    f->step.period = 0;
    f->step_in = 0;
}

/* Steps an item: a power of two, so that the items of all ranks end at steps that nest like the blocks do.
 * Changed only when the step time is well past the limit, or the ranks would not agree for long. */
static void update_step_block(struct flow *f)
{
    double step_s = (double)f->step.duration_ns * 1e-9 / f->step_in, item_s;

    f->step_s = f->step_s > 0 ? f->step_s + (step_s - f->step_s) / 8 : step_s;
    item_s = f->step_s * f->step_block;
    if (f->whole)
        f->step_block = 1;
    else if (item_s < 0.8 / STEPS_HZ && f->step_block < STEP_BLOCK_MAX)
        f->step_block *= 2;
    else if (item_s > 2.5 / STEPS_HZ && f->step_block > 1)
        f->step_block /= 2;
}

static void begin_step(struct flow *f, const struct flow_comm *c, uint32_t seq)
{
    uint32_t period = c->period.length;

    f->step = (struct step){ .rank = f->rank,
                             .app = f->app,
                             .comm = c->name,
                             .seq = seq,
                             .period = period,
                             .parts = (uint8_t)(period < STEP_PARTS_MAX ? period : STEP_PARTS_MAX),
                             .enter_ns = c->left_ns };
    f->step_in = 0;
    f->step_next = seq;
    if (!c->left_ns) /* the communicator's first: when its work began is not known */
        f->step.flags |= STEP_INCOMPLETE;
}

/* The collective at this place of the step is over (not a number and 0: its record is lost). */
static void step_collective(struct flow *f, const struct flow_comm *c, uint32_t seq, uint32_t place,
                            float stay_s, uint64_t leave_ns, flow_sink *sink, void *arg)
{
    uint32_t period = c->period.length;

    if (f->step.period != period || f->step.comm != c->name || f->step_next != seq)
        send_step(f, sink, arg);
    if (!f->step.period && place)
        return;
    if (!f->step.period)
        begin_step(f, c, seq);
    f->step_next = seq + 1;
    /* What the rank did since it left the communicator's previous collective is the step's. */
    f->step.gap_ns += f->gap_ns - c->gap_then_ns;
    f->step.p2p_ns += f->p2p_ns - c->p2p_then_ns;
    f->step.stay_ns += f->stay_ns - c->stay_then_ns;
    if (f->incomplete)
        f->step.flags |= STEP_INCOMPLETE;
    f->step.stay_s[(uint64_t)(seq % period) * f->step.parts / period] += stay_s;
    if (place + 1 < period)
        return;
    f->step_in++;
    if (!(f->step.flags & STEP_INCOMPLETE))
        f->step.duration_ns = minus(leave_ns, f->step.enter_ns);
    f->done = f->step;
    if (!(f->step.flags & STEP_INCOMPLETE)) {
        if ((seq + 1) / period % f->step_block != 0 && f->step_in < f->step_block)
            return;
        update_step_block(f);
    }
    send_step(f, sink, arg);
}

/* The step is read off the largest communicator with a period; between equals the first that had one. */
static bool is_main(struct flow *f, struct flow_comm *c, uint64_t now_ns)
{
    if (!c->period.length)
        return false;
    if (!f->main || c->size > f->main->size || f->main->last_ns + SILENT_NS < now_ns)
        f->main = c;
    return f->main == c;
}

/* Of a smaller communicator than the main one no cycle is looked for, as long as that one is heard of. */
static bool may_be_main(const struct flow *f, const struct flow_comm *c, uint64_t now_ns)
{
    return !f->main || f->main == c || c->size >= f->main->size || f->main->last_ns + SILENT_NS < now_ns;
}

/* Records of a communicator are missing: its cycle goes on behind them, where that can be, and of the rank's
 * own work at that time nothing is known. */
static void count_over(struct flow *f, struct flow_comm *c, const struct call *call, flow_sink *sink,
                       void *arg)
{
    uint32_t lost = call->seq - c->next_seq, place = c->period.at;
    bool steps = c->period.locked && is_main(f, c, call->leave_ns);

    f->incomplete = true;
    if (!period_gap(&c->period, lost)) {
        if (f->main == c)
            f->step.period = 0;
        return;
    }
    for (uint32_t i = 0; steps && i < lost; i++, place = place + 1 == c->period.length ? 0 : place + 1)
        step_collective(f, c, c->next_seq + i, place, NAN, 0, sink, arg);
}

/* The collective as part of a step: the work before it and the stay in it. */
static void take_in_step(struct flow *f, struct flow_comm *c, const struct call *call, uint64_t gap_ns,
                         const struct sample *one, flow_sink *sink, void *arg)
{
    uint32_t place = 0;
    float work = c->left_ns ? (float)(f->gap_ns + gap_ns - c->gap_then_ns) : NAN;
    bool in_cycle = false;

    if (may_be_main(f, c, call->leave_ns))
        in_cycle = period_push(&c->period, period_token(call->op, call->bytes, call->root), work, &place);
    else
        period_free(&c->period);

    f->gap_ns += gap_ns;
    f->p2p_ns += one->p2p_sum_ns;
    f->stay_ns += one->stay_sum_ns;
    if (is_main(f, c, call->leave_ns) && in_cycle)
        step_collective(f, c, call->seq, place, (float)((double)one->stay_sum_ns * 1e-9), call->leave_ns,
                        sink, arg);
    else if (f->main == c)
        send_step(f, sink, arg);
    f->incomplete = f->incomplete && f->main != c;
    c->left_ns = call->leave_ns;
    c->gap_then_ns = f->gap_ns;
    c->p2p_then_ns = f->p2p_ns;
    c->stay_then_ns = f->stay_ns;
}

void flow_call(struct flow *f, const struct call *call, uint32_t members, uint64_t p2p_ns, flow_sink *sink,
               void *arg)
{
    uint64_t begin_ns = call_begin_ns(call);
    uint64_t gap_ns = f->last_leave_ns ? minus(call->enter_ns, f->last_leave_ns) : 0;
    uint64_t held_ns =
        minus(call->leave_ns, call->enter_ns > f->last_leave_ns ? call->enter_ns : f->last_leave_ns);
    struct sample one = {
        .rank = f->rank,
        .app = f->app,
        .op = call->op,
        .flags = call->flags & (RING_EVENT_NONBLOCKING | RING_EVENT_PERSISTENT | RING_EVENT_UNWAITED |
                                RING_EVENT_FAILED | RING_EVENT_INTER),
        .comm = call->comm,
        .seq = call->seq,
        .n = 1,
        .root = call->root,
        .bytes = call->bytes,
        .enter_ns = begin_ns,
        .stay_ns = minus(call->leave_ns, begin_ns),
        .stay_sum_ns = held_ns,
        .gap_sum_ns = gap_ns,
        .p2p_sum_ns = p2p_ns < gap_ns ? p2p_ns : gap_ns,
    };
    struct flow_comm *c;

    if (members == 1)
        return;
    c = comm_get(f, call, sink, arg);
    if (members)
        c->size = members;
    if (call->seq != c->next_seq)
        count_over(f, c, call, sink, arg);
    count_rate(f, call->leave_ns);
    take_in_step(f, c, call, gap_ns, &one, sink, arg);
    c->next_seq = call->seq + 1;
    c->last_ns = call->leave_ns;

    add_to_block(f, c, &one, sink, arg);
    if (!f->whole)
        keep_unusual(c, &one, c->block.n > 1 || f->block_n > 1, sink, arg);
    if (call->leave_ns > f->last_leave_ns)
        f->last_leave_ns = call->leave_ns;
}

void flow_lost(struct flow *f)
{
    f->incomplete = true;
}

void flow_flush(struct flow *f, uint64_t now_ns, uint64_t max_age_ns, flow_sink *sink, void *arg)
{
    for (size_t i = 0; i < f->n_comms; i++) {
        struct flow_comm *c = f->comm[i];

        if (c->block.n && (!max_age_ns || c->block.enter_ns + max_age_ns < now_ns))
            close_block(c, sink, arg);
    }
    if (!max_age_ns)
        send_step(f, sink, arg);
}
