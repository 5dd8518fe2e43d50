#include "tui/batch.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/xalloc.h"
#include "report/report_print.h"
#include "tui/frame.h"
#include "tui/panel.h"
#include "tui/ui.h"

#define WIDTH         100
#define WIDTH_MAX     400
#define HEIGHT_TO_ASK 60

static int report_width(const struct arguments *o)
{
    const char *columns = getenv("COLUMNS");
    int width = o->width ? o->width : columns ? atoi(columns) : WIDTH;

    return width < FRAME_WIDTH_MIN && !o->width ? WIDTH : width > WIDTH_MAX ? WIDTH_MAX : width;
}

static json_t *ask(const struct batch_source *source, json_t *question, struct err *err)
{
    json_t *answer = source->ask(question, source->arg, err);

    json_decref(question);
    return answer;
}

static int load(struct ui *ui, const struct batch_source *source, enum screen screen, struct err *err)
{
    struct ui_asked asked;
    json_t *answer;

    ui->screen = screen;
    if (source->replay) {
        replay_show(source->replay, ui);
        return 0;
    }
    answer = ask(source, ui_question(ui, &asked), err);
    if (!answer)
        return -1;
    ui_answer(ui, screen, &asked, answer);
    json_decref(answer);
    return ui->problem[screen][0] ? err_set(err, "%s", ui->problem[screen]) : 0;
}

static int print_screen(struct ui *ui, const struct batch_source *source, const struct arguments *o,
                        enum screen screen, FILE *out, struct err *err)
{
    int width = report_width(o), height;
    struct canvas *c;

    if (load(ui, source, screen, err) < 0)
        return -1;
    height = o->height ? o->height : frame_natural_height(ui, width);
    c = canvas_new(width, height, o->ascii);
    ui_fit(ui, width, height);
    frame_draw(c, ui);
    canvas_print(c, out);
    canvas_free(c);
    return 0;
}

/* The job's screen, and the panels that have content. */
static int print_job(struct ui *ui, const struct batch_source *source, const struct arguments *o, FILE *out,
                     struct err *err)
{
    int width = report_width(o);

    if (print_screen(ui, source, o, SCREEN_JOB, out, err) < 0)
        return -1;
    for (int p = PANEL_EVIDENCE; p <= PANEL_SWITCHES && !o->height; p++) {
        struct canvas *c;

        if (!panel_of((enum panel)p)->has_content(ui->view))
            continue;
        ui->panel = (enum panel)p;
        c = canvas_new(width, panel_rows(ui, width) + 2, o->ascii);
        panel_draw(c, ui, 0);
        canvas_print(c, out);
        canvas_free(c);
    }
    ui->panel = PANEL_RANKS;
    return 0;
}

static int print_all(struct ui *ui, const struct batch_source *source, const struct arguments *o, FILE *out,
                     struct err *err)
{
    const struct ui_list *l = &ui->list[SCREEN_JOBS];

    if (print_screen(ui, source, o, SCREEN_JOBS, out, err) < 0)
        return -1;
    if (l->n && report_row_alive(&ui->jobs->job[l->order[0]])) {
        ui_open(ui, ui->jobs->job[l->order[0]].id);
        fputc('\n', out);
        /* It may have ended meanwhile, or be another user's: the list and the nodes are still printed. */
        if (print_job(ui, source, o, out, err) < 0)
            fprintf(out, "%s: %s\n", ui->job_id, err->text);
    }
    fputc('\n', out);
    return print_screen(ui, source, o, SCREEN_NODES, out, err);
}

int batch_text(const struct batch_source *source, const struct arguments *o, FILE *out, struct err *err)
{
    struct ui ui;
    int rc;

    ui_init(&ui);
    ui.report = true;
    ui.link = UI_UP;
    ui.wall_s = (double)time(NULL);
    ui.playback.on = o->replay != NULL; /* times are the trace's, not the clock's */
    ui_fit(&ui, report_width(o), o->height ? o->height : HEIGHT_TO_ASK);
    if (o->job) {
        ui_open(&ui, o->job);
        rc = print_job(&ui, source, o, out, err);
    } else {
        rc = print_all(&ui, source, o, out, err);
    }
    ui_reset(&ui);
    return rc;
}

int batch_json(const struct batch_source *source, const struct arguments *o, FILE *out, struct err *err)
{
    json_t *answer;
    int rc;

    if (source->replay) {
        struct report *report = replay_report(source->replay, &REPORT_ALL);

        answer = report_json(report);
        report_free(report);
    } else if (o->job) {
        answer = ask(source, report_print_question(o->job), err);
    } else {
        answer = ask(
            source,
            json_pack("{s:s, s:b, s:i}", "query", "jobs", "finished", 1, "newest", REPORT_FINISHED_MAX), err);
    }
    if (!answer)
        return -1;
    rc = report_print(out, answer, source->ask, source->arg, err);
    json_decref(answer);
    return rc;
}
