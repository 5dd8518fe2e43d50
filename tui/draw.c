#include "tui/draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/xalloc.h"

#define NAMES_WIDTH 20u /* of culprits in a line; the first is never cut */

#define FULL_BLOCK 0x2588u

/* ▁ to █: 1 to 8 eighths from below. */
static uint32_t lower_block(int eighths)
{
    return 0x2580u + (uint32_t)eighths;
}

void draw_bar(struct canvas *c, int y, int x, int width, enum style style, double ratio)
{
    int eighths, whole;

    if (!(ratio > 0))
        return;
    eighths = (int)lround(fmin(ratio, 1) * width * 8);
    if (eighths == 0)
        eighths = 1;
    whole = eighths / 8;
    canvas_fill(c, y, x, whole, style, FULL_BLOCK);
    if (eighths % 8)
        canvas_fill(c, y, x + whole, 1, style, FULL_BLOCK + 8 - (uint32_t)eighths % 8); /* ▏ to ▉ */
}

static void range(const struct snap_series *s, size_t first, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t i = first; i < s->n; i++) {
        if (isnan(s->value[i]))
            continue;
        *low = fmin(*low, s->value[i]);
        *high = fmax(*high, s->value[i]);
    }
    if (*high - *low < 0.2 * *high) {
        double middle = (*high + *low) / 2;

        *low = middle * 0.9;
        *high = middle * 1.1;
    }
}

void draw_spark(struct canvas *c, int y, int x, int width, enum style style, const struct snap_series *s)
{
    size_t first = s->n > (size_t)width ? s->n - (size_t)width : 0;
    int at = x + width - (int)(s->n - first);
    double low, high;

    range(s, first, &low, &high);
    for (size_t i = first; i < s->n; i++, at++) {
        double part = high > low ? (s->value[i] - low) / (high - low) : 0;

        if (!isnan(s->value[i]))
            canvas_fill(c, y, at, 1, style, lower_block(1 + (int)lround(part * 7)));
    }
}

void draw_heat(struct canvas *c, int y, int x, int width, const char *levels, size_t n_scale)
{
    size_t n = strlen(levels), first = n > (size_t)width ? n - (size_t)width : 0;
    int at = x + width - (int)(n - first);

    for (size_t i = first; i < n; i++, at++) {
        int level = levels[i] - '0', heat;

        if (levels[i] == '.')
            continue;
        if (level > (int)n_scale)
            level = (int)n_scale;
        heat = n_scale ? (level * (CANVAS_HEATS - 1) + (int)n_scale - 1) / (int)n_scale : 0;
        canvas_fill(c, y, at, 1, (enum style)(STYLE_HEAT + heat), heat ? lower_block(heat) : 0xb7u);
    }
}

void draw_shares(struct canvas *c, int y, int x, int width, const double share[SHARES])
{
    static const struct {
        enum style style;
        uint32_t ch;
    } look[SHARES] = {
        [SHARE_COMPUTE] = { STYLE_SHARE_COMPUTE, FULL_BLOCK },
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

void draw_rule(struct canvas *c, int y, int x, int width, const char *title)
{
    canvas_fill(c, y, x, width, STYLE_DIM, 0x2500);
    if (title[0])
        canvas_printf(c, y, x + 2, width - 4, STYLE_BOLD, " %s ", title);
}

enum style draw_severity_style(enum severity s)
{
    static const enum style styles[] = { STYLE_DIM, STYLE_GOOD, STYLE_WARN, STYLE_BAD };

    return styles[s];
}

enum style draw_severity_tag_style(enum severity s)
{
    static const enum style styles[] = { STYLE_TITLE, STYLE_GOOD_TAG, STYLE_WARN_TAG, STYLE_BAD_TAG };

    return styles[s];
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

enum style draw_class_style(const char *class)
{
    return find_class(class)->style;
}

void draw_class(struct canvas *c, int y, int x, const char *class)
{
    canvas_fill(c, y, x, 1, draw_class_style(class), (uint32_t)find_class(class)->letter);
}

int draw_classes(struct canvas *c, int y, int x, int width)
{
    int at = 0, rows = 1;

    for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
        int need = (int)strlen(classes[i].name) + 2;

        if (at && at + need > width) {
            at = 0;
            rows++;
        }
        draw_class(c, y + rows - 1, x + at, classes[i].name);
        canvas_put(c, y + rows - 1, x + at + 2, width - at - 2, STYLE_TEXT, classes[i].name);
        at += need + 2;
    }
    return rows;
}

char *draw_culprits(char *buf, size_t size, const char *culprits, size_t n)
{
    size_t end = strcspn(culprits, ","), shown = culprits[0] != '\0';

    while (culprits[end] == ',' && culprits[end + 1] == ' ') {
        size_t next = end + 2 + strcspn(culprits + end + 2, ",");

        if (next > NAMES_WIDTH)
            break;
        end = next;
        shown++;
    }
    if (n > shown)
        snprintf(buf, size, "%.*s +%zu", (int)end, culprits, n - shown);
    else
        snprintf(buf, size, "%.*s", (int)end, culprits);
    return buf;
}

const char *draw_job_tag(const struct snap_job *j)
{
    static const struct {
        const char *state, *tag;
    } states[] = { { "finished", "ENDED" }, { "lost", "LOST" }, { "suspended", "SUSP" } },
      judged[] = { { "early", "EARLY" }, { "partly", "PART" }, { "no", "START" } };

    for (size_t i = 0; i < ARRAY_SIZE(states); i++)
        if (!strcmp(j->state, states[i].state))
            return states[i].tag;
    for (size_t i = 0; i < j->n_verdicts; i++)
        if (!strcmp(j->verdict[i].class, "lost"))
            return "LOST";
    for (size_t i = 0; i < j->n_verdicts; i++)
        if (!strcmp(j->verdict[i].class, "hang"))
            return "HUNG";
    if (!strcmp(j->state, "stalled"))
        return "HUNG";
    if (j->non_finite)
        return "NAN";
    for (size_t i = 0; i < j->n_verdicts; i++)
        if (!j->verdict[i].acknowledged)
            return "SLOW";
    if (j->n_verdicts)
        return "SEEN";
    if (!strcmp(j->state, "starting"))
        return "START";
    if (!strcmp(j->judged, "yes"))
        return "OK";
    for (size_t i = 0; i < ARRAY_SIZE(judged); i++)
        if (!strcmp(j->judged, judged[i].state))
            return judged[i].tag;
    return "?";
}
