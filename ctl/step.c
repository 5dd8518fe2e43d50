#include "ctl/step.h"

#include <stdio.h>

#include "ctl/output.h"
#include "report/report_step.h"
#include "report/step_svg.h"
#include "trace/file.h"
#include "view/view.h"
#include "wire/json.h"

json_t *step_of_trace(const char *path, const struct view_params *p, unsigned rows, struct err *err)
{
    struct trace_reader *r = trace_reader_new(p);
    struct trace_figures f;
    json_t *answer = NULL;

    if (trace_file_read(path, r, err) == 0) {
        trace_reader_figures_get(r, &f);
        answer = json_object();
        put_text(answer, "job", f.job);
        put_json(answer, "picture", report_step(trace_reader_view(r), trace_reader_now_s(r), rows));
    }
    trace_reader_free(r);
    return answer;
}

int step_draw(const json_t *answer, const char *path, struct err *err)
{
    struct picture *p = report_step_read(get_object(answer, "picture"));
    char job[64];
    FILE *out;

    if (!p)
        return err_set(err, "no step is known yet");
    out = output_open(path, err);
    if (!out) {
        picture_free(p);
        return -1;
    }
    get_text(answer, "job", job, sizeof(job));
    step_svg_print(out, p, job[0] ? job : "trace");
    picture_free(p);
    return output_close(out, path, 0, err);
}
