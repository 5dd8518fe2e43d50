#include "plan/job.h"

#include <math.h>

#include "plan/options.h"

const struct option_spec job_batch_per_rank = { "batch-per-rank", "N", VALUE_RANGE(VALUE_COUNT, 1, 1e12),
                                                "samples per rank and step" };
const struct option_spec job_min_steps = { "min-steps", "N", VALUE_RANGE(VALUE_COUNT, 1, 1e15),
                                           "steps to the target with an unlimited batch size" };
const struct option_spec job_critical_batch = {
    "critical-batch", "N", VALUE_RANGE(VALUE_COUNT, 0, 1e15),
    "batch size that needs twice as many steps; must be measured"
};
const struct option_spec job_checkpoint_write = { "checkpoint-write", "TIME",
                                                  VALUE_RANGE(VALUE_SECONDS, 0, INFINITY),
                                                  "how long writing a checkpoint stops the job" };
const struct option_spec job_node_mtbf = { "node-mtbf", "TIME",
                                           VALUE_RANGE(VALUE_SECONDS, VALUE_POSITIVE, INFINITY),
                                           "mean time between failures of one node" };
const struct option_spec job_bubble = { "bubble", "SHARE", VALUE_RANGE(VALUE_RATIO, 0, 0.99),
                                        "share of the time in which a pipeline is idle (see pipeline)" };

void job_network(const struct options *a, struct collective *c)
{
    *c = (struct collective){
        .op = COLLECTIVE_ALLREDUCE,
        .algo = COLLECTIVE_RING,
        .ranks = options_number(a, "ranks"),
        .link = { options_number(a, "latency"), options_number(a, "bandwidth") },
        .intra = { options_number(a, "intra-latency"), options_number(a, "intra-bandwidth") },
        .slowest_bytes_per_s = INFINITY,
        .ranks_per_node = options_number(a, "ranks-per-node"),
        .rails = options_number(a, "rails"),
        .shards = 1,
        .skew = 1,
    };
}

bool job_network_has_nodes(const struct collective *c)
{
    return c->ranks_per_node >= 1 && fmod(c->ranks, c->ranks_per_node) == 0 &&
           c->rails <= c->ranks_per_node && !isnan(c->intra.latency_s) && !isnan(c->intra.bytes_per_s);
}

int job_network_check(const struct collective *c, struct err *err)
{
    if (!collective_has(c->op, c->algo))
        return err_set(err, "%s has no algorithm %s", collective_ops[c->op], collective_algos[c->algo]);
    if (isnan(c->link.latency_s) && c->op != COLLECTIVE_PARAMETER_SERVER)
        return err_set(err, "--latency=TIME is needed: latency of one message, as in --latency=10us");
    if (c->algo != COLLECTIVE_HIERARCHICAL)
        return 0;
    if (isnan(c->ranks_per_node) || isnan(c->intra.latency_s) || isnan(c->intra.bytes_per_s))
        return err_set(err, "hierarchical needs --ranks-per-node, --intra-latency and --intra-bandwidth");
    if (fmod(c->ranks, c->ranks_per_node) != 0)
        return err_set(
            err, "--ranks=%.0f is not a multiple of --ranks-per-node=%.0f: hierarchical needs full nodes",
            c->ranks, c->ranks_per_node);
    if (c->rails > c->ranks_per_node)
        return err_set(err, "--rails=%.0f is more than --ranks-per-node=%.0f: a rank uses one rail", c->rails,
                       c->ranks_per_node);
    return 0;
}

enum order_dist job_dist(const struct options *a)
{
    return (enum order_dist)options_number(a, "dist");
}

int job_overlap_check(const struct options *a, struct err *err)
{
    if (options_number(a, "overlap") > 0 && !options_given(a, "backward"))
        return err_set(err, "--overlap needs --backward=TIME: the work that can overlap communication");
    if (options_number(a, "backward") > options_number(a, "compute"))
        return err_set(err, "--backward is a part of --compute: it cannot be longer");
    return 0;
}

int job_train(const struct options *a, struct train *t, struct err *err)
{
    *t = (struct train){
        .ranks = options_number(a, "ranks"),
        .ranks_per_node = options_number(a, "ranks-per-node"),
        .compute_s = options_number(a, "compute"),
        .cv = options_number(a, "cv"),
        .dist = job_dist(a),
        .gradient_bytes = options_number(a, "gradient-bytes"),
        .backward_s = options_number(a, "backward"),
        .overlap = options_number(a, "overlap"),
        .bubble = options_number(a, "bubble"),
        .misc_s = options_number(a, "misc"),
        .batch_per_rank = options_number(a, "batch-per-rank"),
        .min_steps = options_number(a, "min-steps"),
        .critical_batch = options_number(a, "critical-batch"),
        .write_s = options_number(a, "checkpoint-write"),
        .restart_s = options_number(a, "restart"),
        .node_mtbf_s = options_given(a, "node-mtbf") ? options_number(a, "node-mtbf") : INFINITY,
    };
    job_network(a, &t->exchange);
    t->exchange.algo = (enum collective_algo)options_number(a, "algo");
    if (job_network_check(&t->exchange, err) < 0 || job_overlap_check(a, err) < 0)
        return -1;
    if (isnan(t->batch_per_rank) != isnan(t->min_steps) || isnan(t->min_steps) != isnan(t->critical_batch))
        return err_set(
            err, "--batch-per-rank, --min-steps and --critical-batch are needed together: steps = min-steps "
                 "(1 + critical-batch / batch)");
    if (!isinf(t->node_mtbf_s) && isnan(t->write_s))
        return err_set(
            err, "--node-mtbf needs --checkpoint-write=TIME: without checkpoints a failure loses everything");
    if (!isinf(t->node_mtbf_s) && isnan(t->ranks_per_node))
        return err_set(err, "--node-mtbf needs --ranks-per-node=N: it determines the number of nodes");
    if (isnan(t->ranks_per_node)) /* only failures and hierarchical collectives depend on it */
        t->ranks_per_node = 1;
    return 0;
}
