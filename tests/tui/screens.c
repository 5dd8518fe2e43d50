/* The screens at several sizes, from the smallest on, as text, against tests/tui/expected/NAME.  To take over
 * an intended change:
 *     tests/tui/screens --write   (then look at the difference before it is committed) */
#include "tests/tap.h"

#include <locale.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "tests/tui/fake.h"
#include "tui/frame.h"
#include "tui/ui.h"
#include "tui/user_action.h"

static const struct {
    const char *name;
    enum screen screen;
    int width, height;
    double t_s;
    const char *keys;
    bool ascii;
    const char *job; /* NULL: 4711.0 */
} cases[] = {
    { "jobs-80x24", SCREEN_JOBS, 80, 24, 30, "", false, NULL },
    { "jobs-120x40", SCREEN_JOBS, 120, 40, 30, "", false, NULL },
    { "jobs-200x50", SCREEN_JOBS, 200, 50, 30, "", false, NULL },
    { "job-80x24", SCREEN_JOB, 80, 24, 30, "", false, NULL },
    { "job-80x24-ascii", SCREEN_JOB, 80, 24, 30, "", true, NULL },
    { "job-80x24-quiet", SCREEN_JOB, 80, 24, 8, "j", false, NULL },
    { "job-100x30", SCREEN_JOB, 100, 30, 30, "/node05\n", false, NULL },
    { "job-200x50", SCREEN_JOB, 200, 50, 60, "", false, NULL },
    { "job-80x24-many", SCREEN_JOB, 80, 24, 110, "", true, NULL },
    { "job-120x40-many", SCREEN_JOB, 120, 40, 110, "", false, NULL },
    { "job-80x24-bare", SCREEN_JOB, 80, 24, 30, "", false, "4712.0" },
    { "hang-80x24", SCREEN_JOB, 80, 24, 30, "", false, "4712.1" },
    { "hang-60x16", SCREEN_JOB, 60, 16, 30, "", false, "4712.1" },
    { "hang-120x40", SCREEN_JOB, 120, 40, 30, "j", false, "4712.1" },
    { "job-120x40", SCREEN_JOB, 120, 40, 30, "", false, NULL },
    { "evidence-120x40", SCREEN_JOB, 120, 40, 30, "v", false, NULL },
    { "ways-120x40", SCREEN_JOB, 120, 40, 30, "w", false, NULL },
    { "switches-120x40", SCREEN_JOB, 120, 40, 30, "T", false, NULL },
    { "confirm-120x40", SCREEN_JOB, 120, 40, 30, "X", false, NULL },
    { "nodes-120x40", SCREEN_NODES, 120, 40, 30, "", false, NULL },
    { "help-120x40", SCREEN_JOB, 120, 40, 30, "?", false, NULL },
    { "evidence-80x24-hang", SCREEN_JOB, 80, 24, 30, "v", false, "4712.1" },
    { "evidence-80x24", SCREEN_JOB, 80, 24, 30, "v", false, NULL },
    { "evidence-80x24-end", SCREEN_JOB, 80, 24, 110, "vG", true, NULL },
    { "evidence-80x24-bare", SCREEN_JOB, 80, 24, 30, "v", false, "4712.0" },
    { "evidence-120x40-quiet", SCREEN_JOB, 120, 40, 8, "v", false, NULL },
    { "evidence-200x50-many", SCREEN_JOB, 200, 50, 110, "v", false, NULL },
    { "step-80x24", SCREEN_JOB, 80, 24, 30, "t", false, NULL },
    { "step-80x24-ascii", SCREEN_JOB, 80, 24, 8, "t", true, NULL },
    { "step-80x24-end", SCREEN_JOB, 80, 24, 30, "tG", false, NULL },
    { "step-80x24-frozen", SCREEN_JOB, 80, 24, 30, "t ", true, NULL },
    { "step-80x24-bare", SCREEN_JOB, 80, 24, 30, "t", false, "4712.0" },
    { "step-120x40", SCREEN_JOB, 120, 40, 30, "t", false, NULL },
    { "path-80x24", SCREEN_JOB, 80, 24, 30, "c", false, NULL },
    { "path-80x24-ascii", SCREEN_JOB, 80, 24, 8, "c", true, NULL },
    { "path-80x24-bare", SCREEN_JOB, 80, 24, 30, "c", false, "4712.0" },
    { "path-120x40", SCREEN_JOB, 120, 40, 30, "c", false, NULL },
    { "scaling-80x24", SCREEN_JOB, 80, 24, 30, "x", false, NULL },
    { "scaling-80x24-ascii", SCREEN_JOB, 80, 24, 30, "x", true, NULL },
    { "scaling-80x24-bare", SCREEN_JOB, 80, 24, 30, "x", false, "4712.0" },
    { "scaling-120x40", SCREEN_JOB, 120, 40, 30, "x", false, NULL },
    { "ways-80x24", SCREEN_JOB, 80, 24, 30, "w", false, NULL },
    { "ways-80x24-ascii", SCREEN_JOB, 80, 24, 30, "wG", true, NULL },
    { "ways-80x24-bare", SCREEN_JOB, 80, 24, 30, "w", false, "4712.0" },
    { "ways-132x43", SCREEN_JOB, 132, 43, 30, "w", false, NULL },
    { "policy-80x24", SCREEN_JOB, 80, 24, 30, "p", false, NULL },
    { "policy-80x24-end", SCREEN_JOB, 80, 24, 30, "pG", true, NULL },
    { "policy-80x24-bare", SCREEN_JOB, 80, 24, 30, "p", false, "4712.0" },
    { "policy-120x40", SCREEN_JOB, 120, 40, 30, "p", false, NULL },
    { "switches-80x24", SCREEN_JOB, 80, 24, 30, "T", false, NULL },
    { "switches-80x24-ascii", SCREEN_JOB, 80, 24, 8, "T", true, NULL },
    { "switches-80x24-end", SCREEN_JOB, 80, 24, 30, "TG", false, NULL },
    { "switches-80x24-frozen", SCREEN_JOB, 80, 24, 30, " T", false, NULL },
    { "switches-80x24-bare", SCREEN_JOB, 80, 24, 30, "T", false, "4712.0" },
    { "switches-200x50-many", SCREEN_JOB, 200, 50, 110, "T", false, NULL },
    { "confirm-80x24", SCREEN_JOB, 80, 24, 30, "X", false, NULL },
    { "nodes-80x24", SCREEN_NODES, 80, 24, 30, "", false, NULL },
    { "nodes-80x24-frozen", SCREEN_NODES, 80, 24, 30, " ", false, NULL },
    { "nodes-200x50", SCREEN_NODES, 200, 50, 30, "", false, NULL },
    { "help-80x24", SCREEN_JOB, 80, 24, 30, "?", false, NULL },
    { "overview-60x16", SCREEN_JOBS, 60, 16, 30, "m", false, NULL },
    { "overview-80x24", SCREEN_JOBS, 80, 24, 30, "m", false, NULL },
    { "overview-120x40", SCREEN_JOBS, 120, 40, 30, "mj", true, NULL },
    { "sort-60x16", SCREEN_JOBS, 60, 16, 30, "oG", false, NULL },
    { "sort-80x24", SCREEN_JOBS, 80, 24, 30, "ojj", false, NULL },
    { "sort-120x40", SCREEN_JOB, 120, 40, 30, "o", false, NULL },
    { "jobs-60x16", SCREEN_JOBS, 60, 16, 30, "", false, NULL },
    { "job-60x16", SCREEN_JOB, 60, 16, 30, "", false, NULL },
    { "job-60x16-bare", SCREEN_JOB, 60, 16, 30, "", true, "4712.0" },
    { "evidence-60x16", SCREEN_JOB, 60, 16, 30, "v", false, NULL },
    { "step-60x16", SCREEN_JOB, 60, 16, 30, "t", false, NULL },
    { "path-60x16", SCREEN_JOB, 60, 16, 30, "c", false, NULL },
    { "scaling-60x16", SCREEN_JOB, 60, 16, 30, "x", false, NULL },
    { "ways-60x16", SCREEN_JOB, 60, 16, 30, "w", false, NULL },
    { "policy-60x16", SCREEN_JOB, 60, 16, 30, "p", false, NULL },
    { "switches-60x16", SCREEN_JOB, 60, 16, 30, "T", false, NULL },
    { "confirm-60x16", SCREEN_JOB, 60, 16, 30, "X", false, NULL },
    { "nodes-60x16", SCREEN_NODES, 60, 16, 30, "", false, NULL },
    { "help-60x16", SCREEN_JOB, 60, 16, 30, "?", false, NULL },
    { "help-60x16-end", SCREEN_JOBS, 60, 16, 30, "?G", false, NULL },
};

static void ask(struct ui *ui, double t_s)
{
    struct ui_asked asked;
    json_t *request = user_action_question(ui);
    json_t *reply = request ? fake_answer(&fake_default, request, t_s) : NULL;
    json_t *question = ui_question(ui, &asked), *answer = fake_answer(&fake_default, question, t_s);

    if (request)
        user_action_answer(ui, reply);
    json_decref(request);
    json_decref(reply);
    ui_answer(ui, ui->screen, &asked, answer);
    json_decref(question);
    json_decref(answer);
}

static void load(struct ui *ui, size_t i)
{
    json_t *question = ui_question_status(), *answer = fake_answer(&fake_default, question, cases[i].t_s);

    ui_init(ui);
    ui_link_changed(ui, true, NULL);
    ui->now_s = 100;
    ui->wall_s = 1790000000 + cases[i].t_s;
    ui_answer_status(ui, answer);
    json_decref(question);
    json_decref(answer);
    if (cases[i].screen == SCREEN_JOB)
        ui_open(ui, cases[i].job ? cases[i].job : "4711.0");
    ui->screen = cases[i].screen;
    ui_fit(ui, cases[i].width, cases[i].height);
    ask(ui, cases[i].t_s);
    for (const char *key = cases[i].keys; *key; key++) {
        ui_key(ui, *key);
        ui_fit(ui, cases[i].width, cases[i].height);
        ask(ui, cases[i].t_s);
        ui_fit(ui, cases[i].width, cases[i].height);
    }
    ui_fit(ui, cases[i].width, cases[i].height);
    ask(ui, cases[i].t_s);
    ui_fit(ui, cases[i].width, cases[i].height);
}

static char *picture(size_t i)
{
    struct canvas *c = canvas_new(cases[i].width, cases[i].height, cases[i].ascii);
    struct ui ui;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    load(&ui, i);
    frame_draw(c, &ui);
    canvas_print(c, out);
    fclose(out);
    ui_reset(&ui);
    canvas_free(c);
    return text;
}

static char *read_file(const char *path)
{
    FILE *in = fopen(path, "r");
    char *text = xcalloc(1, 1 << 16);
    size_t n;

    if (in) {
        n = fread(text, 1, (1 << 16) - 1, in);
        text[n] = '\0';
        fclose(in);
    }
    return text;
}

static void write_file(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");

    if (!out || fputs(text, out) < 0 || fclose(out) != 0)
        perror(path);
}

/* No line may be wider than the screen: a terminal would wrap it. */
static bool fits(const char *text, int width, int height)
{
    int lines = 0;

    while (*text) {
        const char *end = strchr(text, '\n');
        char line[2048];

        snprintf(line, sizeof(line), "%.*s", (int)(end - text), text);
        if (canvas_text_width(line) > width)
            return false;
        text = end + 1;
        lines++;
    }
    return lines == height;
}

int main(int argc, char **argv)
{
    const char *top = getenv("top_srcdir");
    bool write = argc > 1 && !strcmp(argv[1], "--write");

    setenv("TZ", "UTC", 1);
    if (!setlocale(LC_ALL, "C.UTF-8") && !setlocale(LC_ALL, "en_US.UTF-8"))
        return skip_all("no UTF-8 locale here");
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char *path = xasprintf("%s/tests/tui/expected/%s", top ? top : ".", cases[i].name);
        char *got = picture(i), *want = read_file(path);

        if (write) {
            write_file(path, got);
            puts(got);
        } else {
            ok(fits(got, cases[i].width, cases[i].height), "%s fits its size", cases[i].name);
            is_str(got, want, "screen: %s is drawn as in its file", cases[i].name);
        }
        free(got);
        free(want);
        free(path);
    }
    return done_testing();
}
