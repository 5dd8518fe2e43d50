#include "report/step_svg.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "report/markup.h"
#include "report/step_axis.h"

#define WIDTH 1120
#define LEFT  150 /* where the chart begins ... */
#define CHART 820 /* ... and how wide it is */
#define ROW   22
#define BAR   14 /* of a row's height */
#define LINE  16
#define TEXT  150 /* characters of a line */
#define TICKS 10
#define LEAST 0.05 /* narrower segments are not drawn */

/* No variables: not every viewer knows them.  Within a page the rules reach only this drawing. */
static const char style[] =
    "<style>\n"
    ".step{font:12px system-ui,sans-serif}\n"
    ".step .paper{fill:#fff} .step text{fill:#1b1f24} .step .dim{fill:#5f6875} .step .head{font-weight:600;font-size:15px}\n"
    ".step .grid{stroke:#e3e6ea} .step .work{fill:#5b8def} .step .wait{fill:none;stroke:#a8b0bb;stroke-dasharray:2 2}\n"
    ".step .transfer{fill:url(#stripes)} .step .stripe{stroke:#d9941a;stroke-width:3} .step .back{fill:#f3d9a8}\n"
    ".step .call{fill:#d8dde4} .step .unknown{fill:none;stroke:#5f6875} .step .msg{fill:none;stroke:#8a63d2;stroke-opacity:.7}\n"
    ".step .path{fill:none;stroke:#c2255c;stroke-width:3;stroke-linejoin:round;stroke-linecap:round}\n"
    "@media (prefers-color-scheme:dark){\n"
    ".step .paper{fill:#14171c} .step text{fill:#e6e8eb} .step .dim{fill:#9aa3af} .step .grid{stroke:#2b313a} .step .work{fill:#4a78d0}\n"
    ".step .wait{stroke:#6a7380} .step .stripe{stroke:#d9941a} .step .back{fill:#4d3a16} .step .call{fill:#3a424d}\n"
    ".step .unknown{stroke:#9aa3af} .step .msg{stroke:#b79cf0} .step .path{stroke:#ff6b9d}}\n"
    "</style>\n"
    "<defs><pattern id=\"stripes\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" class=\"back\"/>"
    "<path class=\"stripe\" d=\"M0 0V6\"/></pattern></defs>\n";

struct svg {
    FILE *out;
    const struct picture *p;
    double top; /* of the first row */
};

__attribute__((format(printf, 5, 6))) static void put_text(const struct svg *s, double x, double y,
                                                           const char *class, const char *fmt, ...)
{
    char text[1024];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    fprintf(s->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
    markup_text(s->out, text);
    fputs("</text>\n", s->out);
}

/* Bytes of the next line of a paragraph. */
static size_t line_of(const char *text)
{
    size_t n = strlen(text);

    if (n <= TEXT)
        return n;
    for (n = TEXT; n > 1 && text[n] != ' ';)
        n--;
    return n > 1 ? n : TEXT; /* a word longer than the line */
}

/* As many lines as it needs, or only counts them; returns how many. */
static int put_paragraph(const struct svg *s, double y, const char *text)
{
    int lines = 0;

    for (; *(text += strspn(text, " ")); text += line_of(text), lines++)
        if (s)
            put_text(s, 12, y + lines * LINE, "", "%.*s", (int)line_of(text), text);
    return lines;
}

static double x_of(const struct svg *s, double at_s)
{
    return LEFT + CHART * fmin(fmax(at_s / s->p->span_s, 0), 1);
}

static double y_of(const struct svg *s, size_t row)
{
    return s->top + (double)row * ROW;
}

static void put_axis(const struct svg *s)
{
    double tick_s = step_axis_tick_s(s->p->span_s, TICKS), end = y_of(s, s->p->n_rows) + 2;
    char label[32];

    for (int i = 0; i * tick_s <= s->p->span_s * (1 + 1e-9); i++) {
        double x = x_of(s, i * tick_s);

        fprintf(s->out, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", x, s->top - 4, end);
        fprintf(s->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"dim\" text-anchor=\"%s\">%s</text>\n", x,
                s->top - 8, x > LEFT + CHART - 24 ? "end" : "middle",
                step_axis_label(label, sizeof(label), i * tick_s));
    }
}

static void put_segment(const struct svg *s, const struct picture_row *row, const struct picture_segment *x,
                        double y)
{
    double from = x_of(s, x->begin_s), width = x_of(s, x->end_s) - from;
    static const double share[PATH_KINDS] = { 1, 0.4, 0.7, 0.7, 1 }; /* of the bar's height */
    double height = BAR * share[x->kind < PATH_KINDS ? x->kind : PATH_UNKNOWN];

    if (width < LEAST)
        return;
    fprintf(
        s->out,
        "<rect class=\"%s\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"><title>r%lld: %s %s, from %s to %s</title></rect>\n",
        picture_kind_name(x->kind), from, y + (BAR - height) / 2, width, height, (long long)row->rank,
        picture_kind_name(x->kind), text_s(x->end_s - x->begin_s).s, text_s(x->begin_s).s,
        text_s(x->end_s).s);
}

static void put_row(const struct svg *s, size_t i)
{
    const struct picture_row *row = &s->p->row[i];
    double y = y_of(s, i);

    put_text(s, 12, y + BAR - 2, "", "r%lld", (long long)row->rank);
    put_text(s, 64, y + BAR - 2, "dim", "%.12s", row->node);
    for (size_t n = row->first; n < row->first + row->n; n++)
        put_segment(s, row, &s->p->segment[n], y);
    if (!row->n)
        put_text(s, LEFT + 4, y + BAR - 2, "dim", "not known: its clock cannot be compared with the others'");
    put_text(s, LEFT + CHART + 10, y + BAR - 2, "", "%s", text_s(row->work_s).s);
    put_text(s, LEFT + CHART + 76, y + BAR - 2, "dim", "%s", text_s(row->peers_s).s);
}

static void put_messages(const struct svg *s)
{
    for (size_t i = 0; i < s->p->n_messages; i++) {
        const struct picture_message *m = &s->p->message[i];
        size_t from, to;

        if (!picture_find_row(s->p, m->from, &from) || !picture_find_row(s->p, m->to, &to) ||
            isnan(m->sent_s) || isnan(m->received_s))
            continue;
        fprintf(
            s->out,
            "<path class=\"msg\" d=\"M%.2f %.1fL%.2f %.1f\"><title>message r%lld to r%lld: %s, its receiver waited %s</title></path>\n",
            x_of(s, m->sent_s), y_of(s, from) + BAR / 2.0, x_of(s, m->received_s), y_of(s, to) + BAR / 2.0,
            (long long)m->from, (long long)m->to, text_s(m->received_s - m->sent_s).s, text_s(m->held_s).s);
    }
}

/* Below the bars of the ranks that it is on, and across where a transfer leads from one to another. */
static void put_path(const struct svg *s)
{
    bool drawn = false;

    fputs("<path class=\"path\" d=\"", s->out);
    for (size_t i = 0; i < s->p->n_pieces; i++) {
        const struct picture_piece *x = &s->p->piece[i];
        size_t from, to;

        if (!picture_find_row(s->p, x->from, &from) || !picture_find_row(s->p, x->rank, &to)) {
            drawn = false;
            continue;
        }
        fprintf(s->out, "%c%.2f %.1fL%.2f %.1f", drawn ? 'L' : 'M', x_of(s, x->begin_s),
                y_of(s, from) + BAR + 2, x_of(s, x->end_s), y_of(s, to) + BAR + 2);
        drawn = true;
    }
    fputs("\"><title>critical path</title></path>\n", s->out);
}

static void put_legend(const struct svg *s, double y)
{
    static const struct {
        const char *class, *text;
    } keys[] = { { "work", "own work" },
                 { "wait", "waiting for others" },
                 { "transfer", "transfer" },
                 { "call", "in a call, after the transfer" },
                 { "unknown", "not known" } };
    double x = 12;

    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        fprintf(s->out, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"26\" height=\"10\"/>\n",
                keys[i].class, x, y - 9);
        put_text(s, x + 32, y, "dim", "%s", keys[i].text);
        x += 48 + 7 * (double)strlen(keys[i].text);
    }
    fprintf(s->out, "<path class=\"path\" d=\"M%.1f %.1fh26\"/>\n", x, y - 4);
    put_text(s, x + 32, y, "dim", "critical path");
    x += 48 + 7 * 13;
    if (s->p->messages > 0) {
        fprintf(s->out, "<path class=\"msg\" d=\"M%.1f %.1fl26 -8\"/>\n", x, y);
        put_text(s, x + 32, y, "dim", "message");
    }
}

static void put_notes(const struct svg *s, double y)
{
    const struct picture *p = s->p;
    int64_t hidden = p->ranks - (int64_t)p->n_rows;

    if (hidden > 0)
        put_text(
            s, 12, y, "dim",
            "%lld of %lld ranks are not shown: those on the critical path, one of each role and the slowest are.",
            (long long)hidden, (long long)p->ranks);
    else if (p->basis == PICTURE_OF_SUMS)
        put_text(
            s, 12, y, "dim",
            "Calls are not known one by one: each rank has the sums of its work, waiting and transfers.");
    else if (p->messages > (int64_t)p->n_messages)
        put_text(s, 12, y, "dim", "%zu of %lld messages are shown.", p->n_messages, (long long)p->messages);
}

void step_svg_print(FILE *out, const struct picture *p, const char *job)
{
    double y = 46, height;
    struct svg s = { out, p, 0 };

    s.top = y + put_paragraph(NULL, 0, p->text) * LINE + 24;
    height = s.top + (double)p->n_rows * ROW + 40 + LINE * ((double)p->n_parts + 3) + 40;
    fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"step\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\" role=\"img\">\n",
        WIDTH, height, WIDTH, height);
    fputs("<title>", out);
    markup_text(out, job);
    fprintf(out, ": step %lld</title>\n", (long long)p->step);
    fputs(style, out);
    fprintf(out, "<rect class=\"paper\" width=\"%d\" height=\"%.0f\"/>\n", WIDTH, height);
    put_text(&s, 12, 24, "head", "%s: step %lld took %s", job, (long long)p->step, text_s(p->duration_s).s);
    put_paragraph(&s, y, p->text);
    put_text(&s, LEFT + CHART + 10, s.top - 8, "dim", "work");
    put_text(&s, LEFT + CHART + 76, s.top - 8, "dim", "its peers'");
    put_axis(&s);
    for (size_t i = 0; i < p->n_rows; i++)
        put_row(&s, i);
    put_messages(&s);
    put_path(&s);
    y = y_of(&s, p->n_rows) + 20;
    put_legend(&s, y);
    put_text(&s, 12, y + 30, "head", "The critical path");
    y += 30 + LINE + 4;
    for (size_t i = 0; i < p->n_parts; i++, y += LINE) {
        put_text(&s, 12, y, "", "%s", text_s(p->part[i].time_s).s);
        put_text(&s, 90, y, "dim", "%s", text_percent(p->part[i].time_s / p->span_s).s);
        put_text(&s, LEFT, y, "", "%s", p->part[i].text);
    }
    put_notes(&s, y + 10);
    fputs("</svg>\n", out);
}
