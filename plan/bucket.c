/* sgplan bucket: how large the buckets of gradients should be. */
#include "model/bucket.h"

#include <math.h>

#include "model/collective.h"
#include "plan/answer.h"
#include "plan/job.h"
#include "plan/options.h"
#include "plan/question.h"

static const struct option_spec bucket_size = { "bucket", "SIZE", VALUE_RANGE(VALUE_BYTES, 1, INFINITY),
                                                "evaluate this bucket size, too" };

static const struct option_use uses[] = {
    { &option_gradient_bytes, OPTION_REQUIRED },
    { &option_backward, OPTION_REQUIRED },
    JOB_NETWORK_USES,
    { &option_algo, "ring" },
    { &bucket_size, NULL },
    { NULL, NULL },
};

static int run(const struct options *a, struct answer *answer, struct err *err)
{
    static const struct answer_column columns[] = { { "bucket_bytes", "BUCKET", ANSWER_BYTES },
                                                    { "buckets", "BUCKETS", ANSWER_COUNT },
                                                    { "exposed_comm_s", "EXPOSED", ANSWER_SECONDS } };
    double given = options_number(a, "bucket"), best;
    struct collective_cost cost;
    struct collective c;
    struct bucket b;

    job_network(a, &c);
    c.algo = (enum collective_algo)options_number(a, "algo");
    if (job_network_check(&c, err) < 0)
        return -1;
    cost = collective_cost(&c);
    b = (struct bucket){ options_number(a, "gradient-bytes"), options_number(a, "backward"), cost.fixed_s,
                         cost.s_per_byte };
    if (b.bytes <= 0)
        return err_set(err, "--gradient-bytes: must be more than zero");
    best = bucket_best_count(&b);
    answer_title(answer, "Gradients in buckets, %s over %.0f ranks", collective_algos[c.algo], c.ranks);
    if (!isnan(given)) {
        answer_figure(answer, "exposed_comm_s", bucket_even_exposed_s(&b, fmin(given, b.bytes)),
                      ANSWER_SECONDS, "exposed communication with --bucket");
        answer_figure(answer, "buckets", ceil(b.bytes / given), ANSWER_COUNT, "number of these buckets");
    }
    answer_figure(answer, "best_bucket_bytes", b.bytes / best, ANSWER_BYTES,
                  "bucket size with the least exposed communication");
    answer_figure(answer, "best_buckets", best, ANSWER_COUNT, "number of these buckets");
    answer_figure(answer, "best_exposed_comm_s", bucket_even_exposed_s(&b, b.bytes / best), ANSWER_SECONDS,
                  "exposed communication with these buckets");
    answer_figure(answer, "unbucketed_comm_s", cost.fixed_s + cost.s_per_byte * b.bytes, ANSWER_SECONDS,
                  "one exchange after the backward pass");
    answer_table(answer, "curve", "Small buckets pay latency, large ones start late:", columns, 3);
    for (int octave = -4; octave <= 4; octave++) {
        double n = round(best * exp2(-octave));

        if (n >= 1 && (octave == -4 || n != round(best * exp2(-octave + 1))))
            answer_cells(answer, b.bytes / n, n, bucket_even_exposed_s(&b, b.bytes / n));
    }
    answer_source(
        answer,
        "finish_j = max(ready_j, finish_(j-1)) + T(bucket_j), exposed = max(0, finish - backward) (Li et al. "
        "2020)");
    answer_assumes(
        answer, "gradients become ready evenly over the backward pass; exchanges run one after another and "
                "do not slow down the computation");
    return 0;
}

const struct question question_bucket = {
    .command.name = "bucket",
    .command.operands = "",
    .command.text = "how large the buckets of gradients should be",
    .command.uses = uses,
    .run = run,
};
