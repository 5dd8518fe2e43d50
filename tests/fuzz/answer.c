/* Whatever a controller answers: the reports print it, the trace takes or refuses it. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/page.h"
#include "ctl/page_html.h"
#include "report/report.h"
#include "report/report_step.h"
#include "report/report_switches.h"
#include "report/step_svg.h"
#include "trace/sink.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As SVG and as a page: whatever is in it, no control character and no script. */
static void draw(const json_t *answer)
{
    struct picture *p = report_step_read(json_object_get(answer, "picture"));
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    struct report *r = report_read(answer, NULL);

    if (p)
        step_svg_print(out, p, "job");
    if (r)
        page_html(out, r);
    report_free(r);
    fclose(out);
    if (strstr(text, "<script"))
        abort();
    for (size_t c = 0; c < bytes; c++)
        if (text[c] != '\n' && ((unsigned char)text[c] < 0x20 || text[c] == 0x7f))
            abort();
    free(text);
    picture_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int (*const reports[])(FILE *, const json_t *, struct page_form, struct err *) = {
        page_status, page_jobs,    page_job,     page_brief, page_nodes, page_actions, page_policies,
        page_policy, page_control, page_explain, page_try,   page_audit, page_step,
    };
    static int null = -1;
    json_t *answer = json_loadb((const char *)data, size, 0, NULL);
    struct trace *trace;
    struct err err;

    if (null < 0)
        null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    for (size_t i = 0; answer && i < sizeof(reports) / sizeof(reports[0]); i++) {
        char *text = NULL;
        size_t bytes;
        FILE *out = open_memstream(&text, &bytes);

        reports[i](out, answer, (struct page_form){ .columns = 80 }, &err);
        fclose(out);
        for (size_t c = 0; c < bytes; c++) /* nothing that moves a terminal's cursor */
            if (text[c] != '\n' && ((unsigned char)text[c] < 0x20 || text[c] == 0x7f))
                abort();
        free(text);
    }
    draw(answer);
    report_switches_free(report_switches_read(json_object_get(answer, "switches")));
    json_decref(answer);
    trace = trace_new(null);
    trace_put(trace, (const char *)data, size, &err);
    trace_counts_get(trace);
    trace_free(trace);
    return 0;
}
