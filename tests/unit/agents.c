/* A batch of an agent counts once, or not at all. */
#include <jansson.h>

#include "common/log.h"
#include "daemon/agents.h"
#include "ring/ring.h"
#include "tests/tap.h"
#include "view/figures.h"
#include "view/view.h"
#include "wire/telemetry.h"

static uint8_t batch[TELEMETRY_BATCH_MAX];

/* Rank 0 is inside a barrier; two samples are of a rank that nobody announced, which the view counts. */
static size_t write_batch(uint64_t number, bool bad)
{
    struct telemetry_writer w;
    struct telemetry_item live = { .kind = TELEMETRY_LIVE, .live = { .op = RING_OP_BARRIER, .comm = 5 } };
    struct telemetry_item sample = { .kind = TELEMETRY_SAMPLE,
                                     .sample = { .rank = 9, .op = RING_OP_ALLREDUCE, .n = 1 } };

    telemetry_begin(&w, batch, sizeof(batch));
    telemetry_put(&w, &live);
    telemetry_put(&w, &sample);
    sample.sample.n = bad ? 3 : 1; /* blocks are powers of two */
    telemetry_put(&w, &sample);
    return telemetry_end(&w, number, 1);
}

static void is_state(struct peer *p, uint64_t number, uint64_t items, const char *when)
{
    struct view_rank_figures rank;
    struct view_figures f;
    char what[128];

    view_figures_get(p->job->view, controller_now_s(), &f);
    view_rank_get(p->job->view, controller_now_s(), 0, &rank);
    snprintf(what, sizeof(what), "%s: the number of the last accepted batch is right", when);
    is_int((long long)p->agent->batch, (long long)number, "%s", what);
    snprintf(what, sizeof(what), "%s: samples of an unknown rank are counted as rejected", when);
    is_int((long long)f.refused, (long long)items, "%s", what);
    snprintf(what, sizeof(what), "%s: the collective that rank 0 is inside of is right", when);
    is_int(rank.inside_op, items ? RING_OP_BARRIER : RING_OP_NONE, "%s", what);
}

/* Rank 0 sends to a place in a communicator whose members have, or have not, described themselves. */
static uint64_t unplaced_after(struct peer *p, uint64_t number, bool described)
{
    struct telemetry_item call = {
        .kind = TELEMETRY_CALL,
        .call = { .op = RING_OP_SEND, .flags = RING_EVENT_MEMBER, .comm = 6, .peer = 1 }
    };
    struct telemetry_writer w;
    struct view_figures f;

    telemetry_begin(&w, batch, sizeof(batch));
    for (uint32_t r = 0; r < 2 && described; r++)
        telemetry_put(&w, &(struct telemetry_item){ .kind = TELEMETRY_COMM,
                                                    .comm = { .rank = r,
                                                              .name = 6,
                                                              .size = 2,
                                                              .comm_rank = r,
                                                              .last = 1,
                                                              .flags = RING_COMM_BOUNDED } });
    telemetry_put(&w, &call);
    agents_batch(p, batch, telemetry_end(&w, number, 1));
    view_figures_get(p->job->view, controller_now_s(), &f);
    return f.messages_unplaced;
}

int main(void)
{
    static const struct config_policy policy = { .min_slowdown_ratio = 1.02, .hang_timeout_s = 30 };
    struct controller controller = { .start_s = 0 };
    struct job *j = job_new(&(struct job_id){ .job = 7 }, &policy, 0);
    struct job_agent agent = { .node = "a" };
    struct peer peer = { .controller = &controller, .job = j, .agent = &agent };
    struct err err;

    if (log_open("agents", "/dev/null", LOG_LEVEL_ERROR, &err) < 0)
        return skip_all(err.text);
    view_rank_add(j->view, 0, 0, "a", NULL);
    is_state(&peer, 0, 0, "before the first batch");
    agents_batch(&peer, batch, write_batch(1, true));
    is_state(&peer, 0, 0, "after a batch whose last item is bad");
    is_int((long long)controller.batches, 0, "a refused batch is not counted");
    agents_batch(&peer, batch, write_batch(1, true));
    is_state(&peer, 0, 0, "after the bad batch was repeated");
    agents_batch(&peer, batch, write_batch(1, false));
    is_state(&peer, 1, 2, "after a good batch of the same number");
    agents_batch(&peer, batch, write_batch(1, false));
    is_state(&peer, 1, 2, "after the good batch was repeated");
    agents_batch(&peer, batch, write_batch(2, false));
    is_state(&peer, 2, 4, "after the next batch");
    view_rank_add(j->view, 1, 0, "a", NULL);
    is_int((long long)unplaced_after(&peer, 3, false), 1,
           "a message to a place that nobody has described is counted once");
    is_int((long long)unplaced_after(&peer, 4, true), 1, "one to a place that is described is taken");
    job_free(j);
    return done_testing();
}
