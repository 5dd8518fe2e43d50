/* fill - what a controller keeps of steps that ended, without the months that they take: fill CONF STEPS
 * UID... writes so many into the StateDir of CONF, of these users in turn, and of every tenth a decision of
 * its policy and an action.  Views follow a few jobs of 4 to 128 ranks; each of them is stored many times, by
 * the history's own functions. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/now.h"
#include "common/xalloc.h"
#include "daemon/control.h"
#include "daemon/controller.h"
#include "history/audit.h"
#include "history/history.h"
#include "job/jobs.h"
#include "job/report_job.h"
#include "report/report.h"
#include "ring/ring.h"
#include "sampling/flow.h"
#include "tests/random.h"
#include "view/view.h"
#include "wire/json.h"

#define RANKS_MAX  128u
#define WORLD      0x77u
#define STEPS      200u
#define SAVED_ROWS 512u /* as the controller does */
#define DAY_S      86400.0

static const struct {
    uint32_t ranks, per_node;
    double slow; /* of the last rank */
} shapes[] = { { 4, 2, 1 }, { 16, 4, 1.3 }, { 64, 8, 1 }, { 128, 8, 1.2 } };

struct run {
    struct job *job;
    struct flow *flow[RANKS_MAX];
    double now_s;
};

static struct controller s;

static void to_view(const struct telemetry_item *item, void *arg)
{
    struct run *r = arg;

    view_item(r->job->view, r->now_s, item);
}

static void collective(struct run *r, uint32_t ranks, double slow, uint32_t seq)
{
    double enter_s[RANKS_MAX], last_s = 0;

    for (uint32_t i = 0; i < ranks; i++) {
        enter_s[i] = r->now_s + 0.05 * (1 + 0.03 * gauss()) * (i + 1 == ranks ? slow : 1);
        last_s = fmax(last_s, enter_s[i]);
    }
    for (uint32_t i = 0; i < ranks; i++)
        flow_call(r->flow[i],
                  &(struct call){ .enter_ns = (uint64_t)((enter_s[i] + 1) * 1e9),
                                  .leave_ns = (uint64_t)((last_s + 1.001) * 1e9),
                                  .comm = WORLD,
                                  .bytes = seq % 2 ? 8 : 1 << 20,
                                  .seq = seq,
                                  .root = -1,
                                  .op = RING_OP_ALLREDUCE },
                  ranks, 0, to_view, r);
    r->now_s = last_s + 0.001;
}

static void follow(struct run *r, uint32_t ranks, uint32_t per_node, double slow)
{
    const struct config_policy *policy = config_policy_find(&s.config, s.config.default_policy);
    struct job *j = r->job = job_new(&(struct job_id){ 0 }, policy, 0);
    struct err err;

    j->trust = JOB_CONFIRMED;
    j->nodes_total = ranks / per_node;
    j->tasks = ranks;
    snprintf(j->name, sizeof(j->name), "train-%u", ranks);
    snprintf(j->partition, sizeof(j->partition), "gpu");
    snprintf(j->policy, sizeof(j->policy), "%s", policy->name);
    controls_add(s.controls, j, policy, 0);
    for (uint32_t i = 0; i < ranks; i++) {
        char node[16];

        snprintf(node, sizeof(node), "node%u", i / per_node);
        job_agent_get(j, node);
        r->flow[i] = flow_new(i, 0, 100);
        view_rank_add(j->view, i, 0, node, "leaf0");
        view_item(j->view, 0,
                  &(struct telemetry_item){ .kind = TELEMETRY_COMM,
                                            .comm = { .rank = i,
                                                      .name = WORLD,
                                                      .membership = 1,
                                                      .size = ranks,
                                                      .comm_rank = i,
                                                      .last = ranks - 1 } });
    }
    for (uint32_t i = 0; i < 2 * STEPS; i++) {
        collective(r, ranks, i > STEPS ? slow : 1, i);
        view_tick(j->view, r->now_s);
        history_verdicts(s.history, j, r->now_s, &err);
    }
    for (size_t i = 0; i < j->n_agents; i++)
        j->agent[i]->bye = true;
    job_tick(j, r->now_s, NULL, NULL);
    job_scaling_renew(j, r->now_s, false);
}

static bool store(struct run *r, uint32_t number, uid_t uid, double ago_s, size_t *bytes, struct err *err)
{
    struct report_selection some = REPORT_ALL;
    struct job *j = r->job;
    struct report *report;
    json_t *saved;
    bool done;

    j->id = (struct job_id){ .uid = uid, .job = number };
    j->start_wall_s = wall_s() - ago_s;
    snprintf(j->text_id, sizeof(j->text_id), "%u.0", number);
    snprintf(j->user, sizeof(j->user), "user%u", (unsigned)uid);
    some.count = some.agents = SAVED_ROWS;
    some.picture = 16;
    report = report_job_get(j, r->now_s, &some);
    controls_get(s.controls, j, r->now_s, &report->control);
    done = history_save(s.history, j, r->now_s, NAN, report, err) == 0;
    saved = report_json(report);
    *bytes = json_dumpb(saved, NULL, 0, JSON_COMPACT);
    json_decref(saved);
    report_free(report);
    history_forget(s.history, j);
    return done;
}

static bool act(const struct job *j, struct err *err)
{
    struct audit_entry e = { .at = j->start_wall_s,
                             .job = j->id,
                             .by = AUDIT_NOBODY,
                             .outcome = AUDIT_DONE,
                             .effect_ratio = { NAN, NAN, NAN } };
    struct action a = { .kind = ACTION_EXCLUDE,
                        .job = j->id,
                        .job_text = j->text_id,
                        .nodes = "node0",
                        .rule = "slow",
                        .policy = j->policy,
                        .reason = "slow: exclude node0: rank 3 is 1.3 times as slow as the others",
                        .by = ACTION_BY_ITSELF };
    struct action_record *r;
    char key[64];
    bool done;

    snprintf(e.job_text, sizeof(e.job_text), "%s", j->text_id);
    snprintf(e.policy, sizeof(e.policy), "%s", j->policy);
    snprintf(e.outcome_text, sizeof(e.outcome_text), "node0 is in the job's list of excluded nodes");
    e.d = (struct decision){ .state = DECISION_ENFORCED,
                             .rule = "slow",
                             .action = a.kind,
                             .n_nodes = 1,
                             .node = { "node0" },
                             .projected_ratio = 0.8 };
    snprintf(e.d.sentence, sizeof(e.d.sentence), "%s", a.reason);
    snprintf(key, sizeof(key), "filled-%s", j->text_id);
    a.key = key;
    if (audit_add(s.audit, &e, err) < 0 ||
        !(r = audit_action_get(s.audit, audit_action_add(s.audit, &a, e.at, err))))
        return false;
    r->state = ACTION_DONE;
    r->tries = 1;
    r->tried_s = r->ended_s = e.at + 1;
    done = audit_action_update(s.audit, r, err) == 0;
    action_record_free(r);
    return done;
}

int main(int argc, char **argv)
{
    uint32_t steps = argc > 3 ? (uint32_t)atoi(argv[2]) : 0;
    struct run run[ARRAY_SIZE(shapes)] = { 0 };
    size_t least = SIZE_MAX, most = 0, bytes;
    struct err err = { "" };

    if (!steps)
        return fprintf(stderr, "usage: fill CONF STEPS UID...\n"), 2;
    if (config_load(&s.config, argv[1], &err) < 0 || !(s.store = store_open(s.config.state_dir, &err)))
        goto fail;
    s.history = history_new(s.store);
    s.audit = audit_open(s.config.state_dir, &err);
    s.controls = controls_new(&s, &s.config, &err);
    if (!s.controls)
        goto fail;
    for (size_t i = 0; i < ARRAY_SIZE(shapes); i++)
        follow(&run[i], shapes[i].ranks, shapes[i].per_node, shapes[i].slow);
    for (uint32_t i = 0; i < steps; i++) {
        struct run *r = &run[i % ARRAY_SIZE(shapes)];

        if (!store(r, i + 1, (uid_t)atoi(argv[3 + i % (uint32_t)(argc - 3)]), DAY_S * (steps - i) / steps,
                   &bytes, &err) ||
            (i % 10 == 0 && !act(r->job, &err)))
            goto fail;
        least = bytes < least ? bytes : least;
        most = bytes > most ? bytes : most;
    }
    printf("%u steps, reports of %zu to %zu bytes\n", steps, least, most);
    audit_close(s.audit);
    store_close(s.store);
    return 0;
fail:
    fprintf(stderr, "fill: %s\n", err.text);
    return 1;
}
