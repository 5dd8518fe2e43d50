#include "ctl/step.h"

#include <stdio.h>

#include "ctl/output.h"
#include "report/report_step.h"
#include "report/step_svg.h"
#include "trace/file.h"
#include "view/figures.h"
#include "view/view.h"
#include "wire/json.h"

json_t *step_of_trace(const char *path, const struct view_params *p, unsigned rows, struct err *err)
{
    struct trace_reader *r = trace_file_open(path, p, err);
    struct trace_figures f;
    json_t *answer;

    if (!r)
        return NULL;
    trace_reader_figures_get(r, &f);
    answer = json_object();
    json_put_text(answer, "job", f.job);
    json_put_json(answer, "picture", report_step(trace_reader_view(r), trace_reader_now_s(r), rows));
    trace_reader_free(r);
    return answer;
}

static int draw_picture(const struct picture *p, const char *job, const char *path, struct err *err)
{
    FILE *out;

    if (!p || !(p->span_s > 0))
        return err_set(err, "no step is known yet");
    out = output_open(path, err);
    if (!out)
        return -1;
    step_svg_print(out, p, *job ? job : "trace");
    return output_close(out, path, 0, err);
}

int step_draw(const json_t *answer, const char *path, struct err *err)
{
    struct picture *p = report_step_read(json_get_object(answer, "picture"));
    char job[64];
    int rc;

    json_get_text(answer, "job", job, sizeof(job));
    rc = draw_picture(p, job, path, err);
    picture_free(p);
    return rc;
}

int step_draw_trace(const char *trace, const struct view_params *p, const char *path, struct err *err)
{
    struct trace_reader *r = trace_file_open(trace, p, err);
    struct trace_figures f;
    int rc;

    if (!r)
        return -1;
    trace_reader_figures_get(r, &f);
    rc = draw_picture(view_picture(trace_reader_view(r), trace_reader_now_s(r), PICTURE_ROWS_MAX), f.job,
                      path, err);
    trace_reader_free(r);
    return rc;
}
