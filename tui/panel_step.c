/* panel_step.c - one step, drawn: ranks down, time across, the critical path through them. */
#include <math.h>
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "report/step_axis.h"
#include "term/padded.h"
#include "term/sheet.h"
#include "tui/panel.h"

#define LABEL    17 /* columns before the chart: path's mark, rank, node */
#define WORK     8  /* behind it: the rank's work */
#define PEERS    9  /* its peers', from ... */
#define WIDE     100
#define DOWN     0x25bcu
#define UP       0x25b2u
#define TICK     9  /* columns between two ticks, at least */
#define MESSAGES 12 /* listed */

/* In both shape and colour: the path's work is taller than other work, its transfers are denser than
 * others. */
static const struct look {
    uint32_t ch;
    enum style style;
    const char *text;
} looks[PATH_KINDS] = {
    [PATH_WORK] = { 0x2584, STYLE_SHARE_COMPUTE, "work" },
    [PATH_WAIT] = { 0xb7, STYLE_DIM, "waiting" },
    [PATH_TRANSFER] = { 0x2500, STYLE_SHARE_COMMUNICATION, "transfer" },
    [PATH_CALL] = { 0x2504, STYLE_DIM, "in call" },
    [PATH_UNKNOWN] = { '?', STYLE_DIM, "not known" },
},
  path_looks[PATH_KINDS] = {
    [PATH_WORK] = { 0x2588, STYLE_BAD, "work" },
    [PATH_WAIT] = { 0xb7, STYLE_BAD, "waiting" },
    [PATH_TRANSFER] = { 0x2592, STYLE_BAD, "transfer" },
    [PATH_CALL] = { 0x259a, STYLE_BAD, "in call" },
    [PATH_UNKNOWN] = { '?', STYLE_BAD, "not known" },
};

struct chart {
    struct canvas *c;
    const struct picture *p;
    int y, x, width; /* of the first row's first column; columns */
};

/* What the rank does in most of each column. */
static void draw_lane(const struct chart *h, size_t i)
{
    const struct picture_row *row = &h->p->row[i];
    double column_s = h->p->span_s / h->width;
    size_t at = row->first, end = row->first + row->n;

    for (int x = 0; x < h->width; x++) {
        double from_s = x * column_s, to_s = from_s + column_s, time_s[PATH_KINDS] = { 0 };
        enum path_kind most = PATH_WORK;

        while (at < end && h->p->segment[at].end_s <= from_s)
            at++;
        for (size_t k = at; k < end && h->p->segment[k].begin_s < to_s; k++) {
            const struct picture_segment *s = &h->p->segment[k];

            time_s[s->kind] += fmax(0, fmin(to_s, s->end_s) - fmax(from_s, s->begin_s));
        }
        for (enum path_kind k = PATH_WORK; k < PATH_KINDS; k++)
            most = time_s[k] > time_s[most] ? k : most;
        if (time_s[most] > 0)
            canvas_fill(h->c, h->y + (int)i, h->x + x, 1, looks[most].style, looks[most].ch);
    }
}

static int column_of(const struct chart *h, double at_s)
{
    int x = (int)floor(at_s / h->p->span_s * h->width);

    return x < 0 ? 0 : x >= h->width ? h->width - 1 : x;
}

/* Over the lanes: the path's pieces, and a mark where it goes to another rank.  Columns are shared by short
 * pieces: the longer wins. */
static void draw_path(const struct chart *h)
{
    double column_s = h->p->span_s / h->width;

    for (size_t i = 0; i < h->p->n_pieces; i++) {
        const struct picture_piece *piece = &h->p->piece[i];
        int from = column_of(h, piece->begin_s + column_s / 2),
            to = column_of(h, piece->end_s + column_s / 2);
        size_t row;

        if (!picture_find_row(h->p, piece->rank, &row))
            continue;
        if (to == h->width - 1 && piece->end_s >= h->p->span_s - column_s / 2)
            to = h->width;
        canvas_fill(h->c, h->y + (int)row, h->x + from, to - from, path_looks[piece->kind].style,
                    path_looks[piece->kind].ch);
    }
    for (size_t i = 0; i < h->p->n_pieces; i++) {
        const struct picture_piece *piece = &h->p->piece[i];
        size_t from, to;

        if (piece->rank != piece->from && picture_find_row(h->p, piece->from, &from) &&
            picture_find_row(h->p, piece->rank, &to) && from != to)
            canvas_fill(h->c, h->y + (int)from, h->x + column_of(h, piece->begin_s), 1, STYLE_BAD,
                        to > from ? DOWN : UP);
    }
}

static void draw_labels(const struct chart *h, size_t i)
{
    const struct picture_row *row = &h->p->row[i];
    int y = h->y + (int)i, right = h->x + h->width + 1;
    enum style style = row->path_s > 0 ? STYLE_BAD : STYLE_TEXT;

    if (row->path_s > 0)
        canvas_put(h->c, y, 0, 1, STYLE_BAD, ">");
    canvas_printf(h->c, y, 1, 6, style, "r%lld", (long long)row->rank);
    canvas_put(h->c, y, 8, h->x - 9, STYLE_DIM, row->node);
    if (!row->n)
        canvas_put(h->c, y, h->x, h->width, STYLE_DIM, "not known: its clock cannot be compared");
    canvas_put_right(h->c, y, right, WORK, style, text_s(row->work_s).s);
    if (h->c->width >= WIDE)
        canvas_put_right(h->c, y, right + WORK, PEERS, STYLE_DIM, text_s(row->peers_s).s);
}

static void draw_axis(const struct chart *h, int y)
{
    double tick_s = step_axis_tick_s(h->p->span_s, h->width / TICK);
    int right = h->x + h->width + 1;
    char label[32];

    canvas_put(h->c, y, 1, 4, STYLE_DIM, "RANK");
    canvas_put(h->c, y, 8, h->x - 9, STYLE_DIM, "NODE");
    for (int i = 0; i * tick_s < h->p->span_s; i++) {
        int x = column_of(h, i * tick_s);

        step_axis_label(label, sizeof(label), i * tick_s);
        if (x + 1 + (int)strlen(label) <= h->width)
            canvas_printf(h->c, y, h->x + x, h->width - x, STYLE_DIM, "|%s", label);
        else
            canvas_put(h->c, y, h->x + x, 1, STYLE_DIM, "|");
    }
    canvas_put_right(h->c, y, right, WORK, STYLE_DIM, "WORK");
    if (h->c->width >= WIDE)
        canvas_put_right(h->c, y, right + WORK, PEERS, STYLE_DIM, "PEERS'");
}

static int draw_chart(struct canvas *c, int y, const struct picture *p)
{
    struct chart h = { c, p, y + 1, LABEL, c->width - LABEL - 2 - WORK - (c->width >= WIDE ? PEERS : 0) };

    if (h.width < TICK)
        return y;
    draw_axis(&h, y);
    for (size_t i = 0; i < p->n_rows; i++) {
        draw_labels(&h, i);
        draw_lane(&h, i);
    }
    draw_path(&h);
    return h.y + (int)p->n_rows;
}

/* "work █▄": as it is drawn on the critical path, and elsewhere. */
static int draw_key(struct canvas *c, int y, int x, enum path_kind k)
{
    x += canvas_put(c, y, x, c->width - x, STYLE_DIM, looks[k].text) + 1;
    canvas_fill(c, y, x, 1, path_looks[k].style, path_looks[k].ch);
    canvas_fill(c, y, x + 1, 1, looks[k].style, looks[k].ch);
    return x + 4;
}

static int draw_legend(struct canvas *c, int y)
{
    int x = draw_key(c, y, 1, PATH_WORK);

    x = draw_key(c, y, x, PATH_TRANSFER);
    x = draw_key(c, y, x, PATH_CALL) - 1;
    x += canvas_put(c, y, x, c->width - x, STYLE_DIM, "(first: critical)") + 2;
    x += canvas_put(c, y, x, c->width - x, STYLE_DIM, "goes on") + 1;
    canvas_fill(c, y, x, 1, STYLE_BAD, DOWN);
    x += 3 + canvas_put(c, y, x + 3, c->width - x - 3, STYLE_DIM, "waiting") + 1;
    canvas_fill(c, y, x, 1, looks[PATH_WAIT].style, looks[PATH_WAIT].ch);
    return y + 1;
}

/* ---- what it is of, and whether it goes on ---- */

static int draw_head(struct canvas *c, const struct ui *ui, const struct picture *p)
{
    char state[96] = "", of[64] = "";
    bool stopped = ui->frozen || (ui->playback.on && ui->playback.paused);
    int x = 1;

    x += canvas_printf(c, 0, x, c->width - 2, STYLE_BOLD, "step %lld took %s", (long long)p->step,
                       text_s(p->duration_s).s);
    if ((int64_t)p->n_rows < p->ranks)
        snprintf(of, sizeof(of), "%zu of %lld ranks", p->n_rows, (long long)p->ranks);
    if (of[0])
        x += canvas_printf(c, 0, x, c->width - x - 1, STYLE_DIM, ", %s shown", of);
    if (stopped)
        snprintf(state, sizeof(state), "FROZEN: Space goes on");
    else if (ui->report || ui->playback.ended || !report_row_alive(&ui->view->job))
        snprintf(state, sizeof(state), "the newest step");
    else
        snprintf(state, sizeof(state), "following, %s old", text_age(p->age_s).s);
    canvas_put_right(c, 0, x + 1, c->width - x - 2, stopped ? STYLE_WARN : STYLE_DIM, state);
    return sheet_text(c, 1, 1, STYLE_TEXT, p->text);
}

/* ---- below the chart ---- */

static const struct table_column part_columns[] = {
    { "TIME", 8, 0, 0, TABLE_SECONDS, .field = offsetof(struct picture_part, time_s), .plain = STYLE_BOLD },
    { "OF THE CRITICAL PATH", 40, 40, 0, TABLE_TEXT, .field = offsetof(struct picture_part, text) },
};

static void draw_pair(const struct table_cell *at, const void *row)
{
    const struct picture_message *m = row;
    char text[64];

    snprintf(text, sizeof(text), "r%lld to r%lld%s", (long long)m->from, (long long)m->to,
             m->on_path ? ", critical" : "");
    table_put(at, m->on_path ? STYLE_BAD : STYLE_TEXT, text);
}

static const struct table_column message_columns[] = {
    { "MESSAGE", 22, 10, 0, TABLE_TEXT, .draw = draw_pair },
    { "SENT AT", 9, 0, 0, TABLE_SECONDS, .field = offsetof(struct picture_message, sent_s) },
    { "RECEIVED AT", 11, 0, 0, TABLE_SECONDS, .field = offsetof(struct picture_message, received_s) },
    { "RECEIVER WAITED", 15, 0, 0, TABLE_SECONDS, .field = offsetof(struct picture_message, held_s) },
};

static int draw_messages(struct canvas *c, int y, const struct picture *p)
{
    size_t n = p->n_messages < MESSAGES ? p->n_messages : MESSAGES;
    char text[96];

    if (!n)
        return y;
    snprintf(text, sizeof(text), "messages: %zu of %lld, the critical ones first", n, (long long)p->messages);
    y = sheet_heading(c, y, text);
    return sheet_table(c, y, message_columns, ARRAY_SIZE(message_columns), p->message, n,
                       sizeof(p->message[0]));
}

static int draw(struct canvas *c, const struct ui *ui)
{
    const struct picture *p = ui->view->picture;
    int y;

    if (!p) {
        canvas_put(c, 0, 1, c->width - 2, STYLE_DIM,
                   ui->frozen ? "frozen before a step was asked for: Space goes on" : "no step is known yet");
        return 1;
    }
    y = draw_head(c, ui, p);
    y = draw_chart(c, y, p);
    y = draw_legend(c, y);
    if (p->basis == PICTURE_OF_SUMS)
        y = sheet_text(
            c, y, 1, STYLE_DIM,
            "Calls are not known one by one: each rank has the sums of its work, waiting and transfers.");
    if (p->n_parts)
        y = sheet_table(c, y + 1, part_columns, ARRAY_SIZE(part_columns), p->part, p->n_parts,
                        sizeof(p->part[0]));
    return draw_messages(c, y, p);
}

static bool has_content(const struct report *v)
{
    return v->picture;
}

const struct panel_ops panel_step = { "one step, drawn", draw, has_content };
