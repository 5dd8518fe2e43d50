/* sgctl_jobs.c - the list of jobs, all of them or those that --state and --cost keep. */
#include <math.h>

#include "ctl/page.h"
#include "ctl/sgctl.h"
#include "report/job_line.h"
#include "wire/json.h"

/* Rows that the filter does not keep are taken out of the answer, which says how many they were. */
static void filter_jobs(json_t *answer, const void *arg)
{
    const struct job_filter *f = arg;
    json_t *rows = json_object_get(answer, "jobs");
    size_t all = json_array_size(rows);

    for (size_t i = all; i-- > 0;) {
        struct report_row row;

        report_row_read(&row, json_array_get(rows, i));
        if (!job_line_wanted(&row, f))
            json_array_remove(rows, i);
        report_row_free(&row);
    }
    json_put_count(answer, "left_out", (int64_t)(all - json_array_size(rows)));
}

/* A state that only ended steps have asks for them. */
static bool wants_ended(const struct options *o, const struct job_filter *f)
{
    static const struct report_row finished = { .state = "finished" }, lost = { .state = "lost" };

    return options_given(o, "finished") ||
           (f->state && (job_line_in_state(&finished, f->state) || job_line_in_state(&lost, f->state)));
}

int run_jobs(const struct options *o)
{
    struct job_filter filter = { .state = options_given(o, "state") ? options_text(o, "state") : NULL,
                                 .cost = options_given(o, "cost") ? options_number(o, "cost") / 100 : NAN };
    bool filters = filter.state || !isnan(filter.cost);

    return query_filtered(o,
                          json_pack("{s:s, s:b, s:i}", "query", "jobs", "finished", wants_ended(o, &filter),
                                    "newest", options_int(o, "newest", 100)),
                          filters ? filter_jobs : NULL, &filter, page_jobs);
}
