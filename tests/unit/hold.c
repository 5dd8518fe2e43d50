/* A loss that is not finite: what rules see of it, and what it holds. */
#include <jansson.h>
#include <stdlib.h>

#include "common/config.h"
#include "common/xalloc.h"
#include "job/job.h"
#include "job/jobs.h"
#include "job/pacing.h"
#include "report/rule_figures.h"
#include "tests/tap.h"
#include "view/view.h"

static void loss(struct view *v, uint32_t rank, uint64_t step, double newest)
{
    struct telemetry_item i = { .kind = TELEMETRY_VALUE,
                                .value = { .rank = rank,
                                           .value = MARKS_LOSS,
                                           .given = step,
                                           .since = isfinite(newest) ? 0 : step,
                                           .non_finite = !isfinite(newest),
                                           .newest = newest } };

    view_item(v, 1, &i);
}

static void figures(void)
{
    static const struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 30 };
    struct view *v = view_new(&params, 0);
    struct figures f;

    for (uint32_t r = 0; r < 3; r++)
        view_rank_add(v, r, 0, "node0", NULL);
    rule_figures(v, 1, 1, &f);
    ok(isnan(f.value[FIGURE_NON_FINITE]) && isnan(f.value[FIGURE_LOSS]),
       "without values it is unknown, not false, whether one is not finite");
    for (uint32_t r = 0; r < 3; r++)
        loss(v, r, 7, 2 + r);
    rule_figures(v, 1, 1, &f);
    ok(f.value[FIGURE_NON_FINITE] == 0 && near(f.value[FIGURE_LOSS], 3, 1e-9) &&
           isnan(f.value[FIGURE_GRAD_NORM]),
       "rules see the median of the losses, and that they are finite");
    loss(v, 0, 8, NAN);
    rule_figures(v, 1, 1, &f);
    ok(f.value[FIGURE_NON_FINITE] == 1 && near(f.value[FIGURE_LOSS], 3.5, 1e-9),
       "rules see that one is not finite, and the median of the others");
    view_free(v);
}

static void holds(void)
{
    struct config *config = xcalloc(1, sizeof(*config));
    struct job_id id = { .uid = 1, .job = 7 };
    struct config_policy policy;
    struct job *j;
    struct report_pace pace;

    config_parse(config, "t", "", 0, NULL);
    policy = *config_policy_find(config, "balanced");
    policy.pacing = 1;
    j = job_new(&id, &policy, 0);
    view_rank_add(j->view, 0, 0, "node0", NULL);
    loss(j->view, 0, 1, 1);
    ok(!job_hold(j), "a finite loss holds nothing");
    pacing_get(&pace, j, 0);
    ok(*pace.levers, "with a finite loss pacing has its levers");
    report_pace_free(&pace);
    loss(j->view, 0, 2, NAN);
    ok(job_hold(j) != NULL, "a loss that is not finite holds the levers: %s", job_hold(j));
    pacing_get(&pace, j, 0);
    is_str(pace.levers, "", "pacing has no levers while it is held");
    is_str(pace.held, job_hold(j), "the report of pacing says why");
    report_pace_free(&pace);
    policy.non_finite = CONFIG_IGNORE;
    job_policy_set(j, &policy);
    ok(!job_hold(j), "NonFinite=ignore: it holds nothing");
    pacing_get(&pace, j, 0);
    ok(*pace.levers && !*pace.held, "NonFinite=ignore: pacing goes on");
    report_pace_free(&pace);
    job_free(j);
    free(config);
}

int main(void)
{
    figures();
    holds();
    return done_testing();
}
