/* sgctl_trace.c - the commands that read or show a recorded trace, and the live screen. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "ctl/analyze.h"
#include "ctl/import.h"
#include "ctl/output.h"
#include "ctl/page.h"
#include "ctl/sgctl.h"
#include "ctl/step.h"
#include "trace/file.h"
#include "trace/timeline.h"
#include "view/view.h"
#include "wire/session.h"

/* Of the configured default policy: traces are judged by it. */
static int read_params(const struct options *o, struct view_params *params, struct err *err)
{
    struct config *c = xcalloc(1, sizeof(*c));
    const struct config_policy *policy = config_default_policy(c, options_text(o, "conf"), err);

    if (policy)
        *params = view_params_of(policy);
    free(c);
    return policy ? 0 : -1;
}

int run_analyze(const struct options *o)
{
    struct view_params params;
    bool html = options_given(o, "html");
    struct trace_reader *r;
    struct report *report;
    struct err err;
    int rc;

    if (check_page(o, &err) < 0)
        return options_misuse(o, &err);
    if (read_params(o, &params, &err) < 0)
        return complain(FAILED, &err);
    r = trace_file_open(o->operands[0], &params, &err);
    if (!r)
        return complain(FAILED, &err);
    report = analyze_report(r, html);
    if (html)
        report_verdicts_drop_minor(&report->timeline);
    rc = html ? write_page(o, report) : show_report(o, report);
    if (rc == OK && options_given(o, "fail") && analyze_stands(report))
        rc = FAILED;
    report_free(report);
    trace_reader_free(r);
    return rc;
}

static json_t *ask_step(const struct options *o, unsigned rows, struct err *err)
{
    struct session *s = session_open(o, err);
    json_t *question =
        json_pack("{s:s, s:s, s:i}", "query", "step", "job", o->operands[0], "rows", (int)rows);
    json_t *answer = s ? client_ask(&s->client, question, options_number(o, "timeout"), err) : NULL;

    json_decref(question);
    session_close(s);
    return answer;
}

int run_step(const struct options *o)
{
    const char *what = o->operands[0], *path = options_text(o, "output");
    bool of_job = session_check_job(what, NULL) == 0;
    struct view_params params;
    json_t *answer = NULL;
    struct err err;
    int rc;

    if (path && options_given(o, "json")) {
        err_set(&err, "--output writes a drawing, --json prints figures: give one of them");
        return options_misuse(o, &err);
    }
    if (!of_job && read_params(o, &params, &err) < 0)
        return complain(FAILED, &err);
    if (path && !of_job)
        return step_draw_trace(what, &params, path, &err) < 0 ? complain(FAILED, &err) : OK;
    answer = of_job ? ask_step(o, path ? PICTURE_ROWS_MAX : STEP_RANKS, &err)
                    : step_of_trace(what, &params, STEP_RANKS, &err);
    if (!answer)
        return complain(FAILED, &err);
    if (!path)
        rc = print_answer(o, answer, page_step);
    else
        rc = step_draw(answer, path, &err) < 0 ? complain(FAILED, &err) : OK;
    json_decref(answer);
    return rc;
}

int run_export(const struct options *o)
{
    const char *trace = o->operands[0], *path = output_of(o);
    FILE *in = fopen(trace, "re"), *out = NULL;
    struct timeline_figures f;
    struct err err;
    int rc = -1;

    if (!in)
        err_set(&err, "%s: %s", trace, strerror(errno));
    else if ((out = output_open(path, &err)))
        rc = output_close(out, path, timeline_write(in, trace, out, &f, &err), &err);
    if (in)
        fclose(in);
    if (rc < 0)
        return complain(FAILED, &err);
    fprintf(stderr, "sgctl: %llu call%s of %u rank%s on %u node%s", (unsigned long long)f.records,
            text_plural((int64_t)f.records), f.ranks, text_plural(f.ranks), f.nodes, text_plural(f.nodes));
    if (f.apart)
        fprintf(stderr, ", %u of them without a clock in common with the first", f.apart);
    else if (f.nodes > 1)
        fprintf(stderr, "; clocks aligned, standard deviation %s", text_about_s(f.error_s).s);
    if (f.steps)
        fprintf(stderr, "; the critical path of %llu step%s", (unsigned long long)f.steps,
                text_plural((int64_t)f.steps));
    else
        fputs("; no critical path: the calls do not repeat as steps do", stderr);
    fputc('\n', stderr);
    return OK;
}

int run_import(const struct options *o)
{
    struct err err;

    return import_run(options_text(o, "format"), o->operands, o->n_operands, output_of(o), &err) < 0
               ? complain(FAILED, &err)
               : OK;
}

struct passed_on {
    const char *name, *value; /* value NULL: not given */
};

/* The sgtop beside this sgctl if there is one, else the one in PATH; does not return unless there is none. */
static int start_sgtop(const struct passed_on *options, size_t n_options, char *const *operands,
                       int n_operands)
{
    char self[PATH_MAX] = "", beside[PATH_MAX + 8];
    const char **argv = xcalloc(2 * n_options + (size_t)n_operands + 2, sizeof(*argv));
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char *slash = n > 0 ? strrchr(self, '/') : NULL;
    struct err err;
    int argc = 0;

    argv[argc++] = "sgtop";
    for (size_t i = 0; i < n_options; i++) {
        if (!options[i].value)
            continue;
        argv[argc++] = options[i].name;
        if (*options[i].value) /* a flag has none */
            argv[argc++] = options[i].value;
    }
    for (int i = 0; i < n_operands; i++)
        argv[argc++] = operands[i];
    if (slash) {
        snprintf(beside, sizeof(beside), "%.*s/sgtop", (int)(slash - self), self);
        execv(beside, (char *const *)argv);
    }
    execvp("sgtop", (char *const *)argv);
    err_set(&err, "cannot start sgtop: %s", strerror(errno));
    free(argv);
    return complain(FAILED, &err);
}

int run_top(const struct options *o)
{
    const struct passed_on options[] = { { "--conf", config_path(options_text(o, "conf")) },
                                         { "--controller", options_text(o, "controller") },
                                         { "--munge-socket", options_text(o, "munge-socket") } };

    return start_sgtop(options, ARRAY_SIZE(options), o->operands, o->n_operands);
}

int run_replay(const struct options *o)
{
    const struct passed_on options[] = { { "--conf", options_text(o, "conf") },
                                         { "--speed", options_text(o, "speed") },
                                         { "--from", options_text(o, "from") },
                                         { "--json", options_given(o, "json") ? "" : NULL },
                                         { "--replay", o->operands[0] } };

    return start_sgtop(options, ARRAY_SIZE(options), NULL, 0);
}
