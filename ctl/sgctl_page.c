/* sgctl_page.c - a report as a page for a browser. */
#include <string.h>
#include <unistd.h>

#include "ctl/gather.h"
#include "ctl/output.h"
#include "ctl/page.h"
#include "ctl/page_html.h"
#include "ctl/sgctl.h"
#include "report/report.h"
#include "wire/session.h"

const char *output_of(const struct options *o)
{
    return options_given(o, "output") ? options_text(o, "output") : "-";
}

int check_page(const struct options *o, struct err *err)
{
    if (!options_given(o, "html"))
        return options_given(o, "output") ? err_set(err, "--output belongs to --html") : 0;
    if (options_given(o, "json"))
        return err_set(err, "--html writes a page, --json prints figures: give one of them");
    if (!strcmp(output_of(o), "-") && isatty(STDOUT_FILENO))
        return err_set(err, "--html writes a page for a browser: name its file with --output");
    return 0;
}

int write_page(const struct options *o, const struct report *r)
{
    const char *path = output_of(o);
    struct err err;
    FILE *out = output_open(path, &err);

    if (out)
        page_html(out, r);
    return out && output_close(out, path, 0, &err) == 0 ? OK : complain(FAILED, &err);
}

int write_job_page(const struct options *o, const char *job)
{
    struct err err;
    struct session *s = session_open(o, &err);
    json_t *answer =
        s ? gather_job(&s->client, job, options_int(o, "run", 0), options_number(o, "timeout"), &err) : NULL;
    struct report *r = answer ? page_read(answer, &err) : NULL;
    int rc = r ? write_page(o, r) : complain(FAILED, &err);

    report_free(r);
    json_decref(answer);
    session_close(s);
    return rc;
}
