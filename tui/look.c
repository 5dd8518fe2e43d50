#include "tui/look.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/xalloc.h"

enum style look_severity_style(enum severity s)
{
    static const enum style styles[] = { STYLE_DIM, STYLE_GOOD, STYLE_WARN, STYLE_BAD };

    return styles[s];
}

enum style look_severity_tag_style(enum severity s)
{
    static const enum style styles[] = { STYLE_TITLE, STYLE_GOOD_TAG, STYLE_WARN_TAG, STYLE_BAD_TAG };

    return styles[s];
}

enum severity look_job_severity(const struct report_row *j)
{
    return report_row_alive(j) ? report_row_severity(j) : SEVERITY_NONE;
}

enum severity look_verdict_severity(const struct report_verdict *v)
{
    return v->standing ? report_verdict_severity(v) : SEVERITY_NONE;
}

static const struct verdict_class {
    const char *name;
    char letter;
    enum style style;
} classes[] = {
    { "hang", 'H', STYLE_HANG },
    { "lost", 'L', STYLE_HANG },
    { "straggler", 'S', STYLE_STRAGGLER },
    { "drift", 'D', STYLE_DRIFT },
    { "jitter", 'J', STYLE_JITTER },
    { "imbalance", 'I', STYLE_IMBALANCE },
    { "communication", 'C', STYLE_COMMUNICATION },
    { "congestion", 'G', STYLE_CONGESTION },
    { "oscillation", 'O', STYLE_OSCILLATION },
};

static const struct verdict_class *find_class(const char *name)
{
    static const struct verdict_class unknown = { "", '?', STYLE_BOLD };

    for (size_t i = 0; i < ARRAY_SIZE(classes); i++)
        if (!strcmp(name, classes[i].name))
            return &classes[i];
    return &unknown;
}

enum style look_class_style(const char *class)
{
    return find_class(class)->style;
}

void look_class_draw(struct canvas *c, int y, int x, const char *class)
{
    canvas_fill(c, y, x, 1, look_class_style(class), (uint32_t)find_class(class)->letter);
}

int look_classes_draw(struct canvas *c, int y, int x, int width)
{
    int at = 0, rows = 1;

    for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
        int need = (int)strlen(classes[i].name) + 2;

        if (at && at + need > width) {
            at = 0;
            rows++;
        }
        look_class_draw(c, y + rows - 1, x + at, classes[i].name);
        canvas_put(c, y + rows - 1, x + at + 2, width - at - 2, STYLE_TEXT, classes[i].name);
        at += need + 2;
    }
    return rows;
}

void look_shares_draw(struct canvas *c, int y, int x, int width, const double share[SHARES])
{
    static const struct {
        enum style style;
        uint32_t ch;
    } look[SHARES] = {
        [SHARE_COMPUTE] = { STYLE_SHARE_COMPUTE, 0x2588 },
        [SHARE_COMMUNICATION] = { STYLE_SHARE_COMMUNICATION, 0x2593 },
        [SHARE_SYNCHRONISATION] = { STYLE_SHARE_SYNCHRONISATION, 0x2592 },
        [SHARE_P2P] = { STYLE_SHARE_P2P, 0x2591 },
    };
    double sum = 0;
    int from = 0;

    for (int i = 0; i < SHARES; i++) {
        int to;

        if (!(share[i] > 0))
            continue;
        sum += share[i];
        to = (int)lround(fmin(sum, 1) * width);
        canvas_fill(c, y, x + from, to - from, look[i].style, look[i].ch);
        from = to;
    }
}
