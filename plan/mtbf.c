/* sgplan mtbf: how often a job fails, with a confidence interval. */
#include <math.h>

#include "model/failure.h"
#include "plan/answer.h"
#include "plan/job.h"
#include "plan/options.h"
#include "plan/question.h"

#define NODE_DAY 86400.0

enum { RATE, FAILURES, NODE_DAYS, PRIOR_FAILURES, PRIOR_DAYS, DURATION };

static const struct option_spec own[] = {
    [RATE] = { "failures-per-1000-node-days", "F", VALUE_RANGE(VALUE_NUMBER, 0, 1e9),
               "failure rate, as clusters publish it" },
    [FAILURES] = { "failures", "K", VALUE_RANGE(VALUE_COUNT, 0, 1e9), "failures observed in --node-days" },
    [NODE_DAYS] = { "node-days", "D", VALUE_RANGE(VALUE_NUMBER, VALUE_POSITIVE, 1e12),
                    "observation time, nodes times days" },
    [PRIOR_FAILURES] = { "prior-failures", "K", VALUE_RANGE(VALUE_NUMBER, 0, 1e9),
                         "failures observed earlier, for example on the whole cluster" },
    [PRIOR_DAYS] = { "prior-node-days", "D", VALUE_RANGE(VALUE_NUMBER, 0, 1e12),
                     "observation time of the earlier failures" },
    [DURATION] = { "duration", "TIME", VALUE_RANGE(VALUE_SECONDS, VALUE_POSITIVE, INFINITY),
                   "duration of the job, for the probability of no failure" },
};

static const struct option_use uses[] = {
    { &option_nodes, OPTION_REQUIRED }, { &own[RATE], NULL },      { &job_node_mtbf, NULL },
    { &own[FAILURES], NULL },           { &own[NODE_DAYS], NULL }, { &own[PRIOR_FAILURES], NULL },
    { &own[PRIOR_DAYS], NULL },         { &own[DURATION], NULL },  { NULL, NULL },
};

/* Rate from counts of failures. */
static int read_counts(const struct options *a, struct failure_rate *r, struct err *err)
{
    if (!options_given(a, "failures") || !options_given(a, "node-days"))
        return err_set(err, "--failures=K and --node-days=D are needed together");
    if (options_given(a, "prior-failures") != options_given(a, "prior-node-days"))
        return err_set(err, "--prior-failures=K and --prior-node-days=D are needed together");
    *r = failure_rate_unknown();
    if (options_given(a, "prior-failures"))
        *r = (struct failure_rate){ options_number(a, "prior-failures"),
                                    options_number(a, "prior-node-days") * NODE_DAY };
    r->failures += options_number(a, "failures");
    r->node_s += options_number(a, "node-days") * NODE_DAY;
    if (r->failures <= 0)
        return err_set(err, "--prior-failures must be more than zero if --failures is zero");
    return 0;
}

static int run(const struct options *a, struct answer *answer, struct err *err)
{
    int counts = options_given(a, "failures") || options_given(a, "node-days");
    double n = options_number(a, "nodes"), duration_s = options_number(a, "duration"), rate_s, mtbf_s;
    struct failure_rate r;

    if (counts + options_given(a, "failures-per-1000-node-days") + options_given(a, "node-mtbf") != 1)
        return err_set(
            err,
            "one of --failures-per-1000-node-days=F, --node-mtbf=TIME, or --failures=K with --node-days=D is "
            "needed");
    if (counts && read_counts(a, &r, err) < 0)
        return -1;
    rate_s = counts ? failure_rate_mean(&r)
             : options_given(a, "node-mtbf")
                 ? 1 / options_number(a, "node-mtbf")
                 : options_number(a, "failures-per-1000-node-days") / (1000 * NODE_DAY);
    mtbf_s = failure_mtbf_s(n, rate_s);
    answer_title(answer, "A job on %.0f nodes that fails when any of them fails", n);
    answer_figure(answer, "mtbf_s", mtbf_s, ANSWER_SECONDS, "mean time between failures of the job");
    answer_figure(answer, "node_mtbf_s", failure_mtbf_s(1, rate_s), ANSWER_SECONDS,
                  "mean time between failures of one node");
    answer_figure(answer, "failures_per_1000_node_days", rate_s * 1000 * NODE_DAY, ANSWER_NUMBER,
                  "failure rate of one node");
    if (!isnan(duration_s)) {
        answer_figure(answer, "p_no_failure", failure_none(duration_s, mtbf_s), ANSWER_SHARE,
                      "probability that the job has no failure");
        answer_figure(answer, "failures_expected", isinf(mtbf_s) ? 0 : duration_s / mtbf_s, ANSWER_NUMBER,
                      "expected failures in --duration");
    }
    if (counts) {
        answer_figure(answer, "mtbf_low_s", failure_mtbf_s(n, failure_rate_quantile(&r, 0.95)),
                      ANSWER_SECONDS, "lower end of the 90 %% interval");
        answer_figure(answer, "mtbf_high_s", failure_mtbf_s(n, failure_rate_quantile(&r, 0.05)),
                      ANSWER_SECONDS, "upper end of the 90 %% interval");
    }
    answer_source(answer, "M = 1/(N r)%s",
                  counts ? "; gamma posterior of the rate (Jeffreys' prior, or the earlier failures)" : "");
    answer_assumes(
        answer,
        "nodes fail independently at a constant rate; jobs have no other causes of failure, although most failures of "
        "small jobs have");
    return 0;
}

const struct question question_mtbf = {
    .command.name = "mtbf",
    .command.operands = "",
    .command.text = "how often a job fails, from the failure rate of its nodes",
    .command.more =
        "With counts (--failures in --node-days, added to the earlier failures) the answer has a 90 % "
        "interval.",
    .command.uses = uses,
    .run = run,
};
