#include "report/report_step.h"

#include <math.h>
#include <string.h>

#include "common/xalloc.h"
#include "view/figures.h"
#include "wire/json.h"

static const struct json_field picture_fields[] = {
    { "step", FIELD_COUNT, FIELD(struct picture, step) },
    { "duration_s", FIELD_AMOUNT, FIELD(struct picture, duration_s) },
    { "span_s", FIELD_AMOUNT, FIELD(struct picture, span_s) },
    { "age_s", FIELD_AMOUNT, FIELD(struct picture, age_s) },
    { "ranks", FIELD_COUNT, FIELD(struct picture, ranks) },
    { "roles", FIELD_COUNT, FIELD(struct picture, roles) },
    { "text", FIELD_TEXT, FIELD(struct picture, text) },
    { "path_ranks", FIELD_COUNT, FIELD(struct picture, path_ranks) },
    { "path_s.work", FIELD_AMOUNT, FIELD(struct picture, path_s[PATH_WORK]) },
    { "path_s.wait", FIELD_AMOUNT, FIELD(struct picture, path_s[PATH_WAIT]) },
    { "path_s.transfer", FIELD_AMOUNT, FIELD(struct picture, path_s[PATH_TRANSFER]) },
    { "path_s.call", FIELD_AMOUNT, FIELD(struct picture, path_s[PATH_CALL]) },
    { "path_s.unknown", FIELD_AMOUNT, FIELD(struct picture, path_s[PATH_UNKNOWN]) },
    { "messages_total", FIELD_COUNT, FIELD(struct picture, messages) },
    { 0 },
};

static const struct json_field row_fields[] = {
    { "rank", FIELD_COUNT, FIELD(struct picture_row, rank) },
    { "node", FIELD_TEXT, FIELD(struct picture_row, node) },
    { "role", FIELD_COUNT, FIELD(struct picture_row, role) },
    { "work_s", FIELD_AMOUNT, FIELD(struct picture_row, work_s) },
    { "wait_s", FIELD_AMOUNT, FIELD(struct picture_row, wait_s) },
    { "transfer_s", FIELD_AMOUNT, FIELD(struct picture_row, transfer_s) },
    { "call_s", FIELD_AMOUNT, FIELD(struct picture_row, call_s) },
    { "peers_s", FIELD_AMOUNT, FIELD(struct picture_row, peers_s) },
    { "path_s", FIELD_AMOUNT, FIELD(struct picture_row, path_s) },
    { "coarse", FIELD_TRUE, FIELD(struct picture_row, coarse) },
    { 0 },
};

static const struct json_field piece_fields[] = {
    { "rank", FIELD_COUNT, FIELD(struct picture_piece, rank) },
    { "from", FIELD_COUNT, FIELD(struct picture_piece, from) },
    { "begin_s", FIELD_AMOUNT, FIELD(struct picture_piece, begin_s) },
    { "end_s", FIELD_AMOUNT, FIELD(struct picture_piece, end_s) },
    { 0 },
};

static const struct json_field part_fields[] = {
    { "rank", FIELD_COUNT, FIELD(struct picture_part, rank) },
    { "from", FIELD_COUNT, FIELD(struct picture_part, from) },
    { "node", FIELD_TEXT, FIELD(struct picture_part, node) },
    { "time_s", FIELD_AMOUNT, FIELD(struct picture_part, time_s) },
    { "text", FIELD_TEXT, FIELD(struct picture_part, text) },
    { 0 },
};

static const struct json_field message_fields[] = {
    { "from", FIELD_COUNT, FIELD(struct picture_message, from) },
    { "to", FIELD_COUNT, FIELD(struct picture_message, to) },
    { "sent_s", FIELD_NUMBER, FIELD(struct picture_message, sent_s) },
    { "received_s", FIELD_NUMBER, FIELD(struct picture_message, received_s) },
    { "held_s", FIELD_AMOUNT, FIELD(struct picture_message, held_s) },
    { "on_path", FIELD_TRUE, FIELD(struct picture_message, on_path) },
    { 0 },
};

/* ---- writing ---- */

static json_t *segments_json(const struct picture *p, const struct picture_row *row)
{
    json_t *list = json_array();

    for (size_t i = row->first; i < row->first + row->n; i++) {
        json_t *o = json_array();

        json_array_append_new(o, json_string(picture_kind_name(p->segment[i].kind)));
        json_array_append_new(o, json_of_real(p->segment[i].begin_s));
        json_array_append_new(o, json_of_real(p->segment[i].end_s));
        json_array_append_new(list, o);
    }
    return list;
}

/* Beside the fields: the word for what an element is. */
static void put_kinds(json_t *o, const char *key, const uint8_t *kind, size_t size)
{
    json_t *element;
    size_t i;

    json_array_foreach(json_object_get(o, key), i, element)
        json_put_text(element, "kind", picture_kind_name(*(const uint8_t *)((const char *)kind + i * size)));
}

json_t *report_step_json(const struct picture *p)
{
    json_t *o, *row;
    size_t i;

    if (!p)
        return json_null();
    o = json_object();
    json_put_fields(o, p, picture_fields);
    json_put_text(o, "basis", p->basis == PICTURE_OF_CALLS ? "calls" : "sums");
    json_put_rows(o, "parts", p->part, sizeof(p->part[0]), p->n_parts, part_fields);
    put_kinds(o, "parts", &p->part[0].kind, sizeof(p->part[0]));
    json_put_rows(o, "rows", p->row, sizeof(p->row[0]), p->n_rows, row_fields);
    json_array_foreach(json_object_get(o, "rows"), i, row)
        json_put_json(row, "segments", segments_json(p, &p->row[i]));
    json_put_rows(o, "path", p->piece, sizeof(p->piece[0]), p->n_pieces, piece_fields);
    if (p->n_pieces)
        put_kinds(o, "path", &p->piece[0].kind, sizeof(p->piece[0]));
    json_put_rows(o, "messages", p->message, sizeof(p->message[0]), p->n_messages, message_fields);
    return o;
}

json_t *report_step(const struct view *v, double now_s, uint32_t rows)
{
    return report_step_json(rows ? view_picture(v, now_s, rows) : NULL);
}

/* ---- reading ---- */

static uint8_t kind_of(const char *name)
{
    for (enum path_kind k = PATH_WORK; k < PATH_UNKNOWN; k++)
        if (!strcmp(name, picture_kind_name(k)))
            return (uint8_t)k;
    return PATH_UNKNOWN;
}

/* Times are in order, and none is beyond the step. */
static bool within(double begin_s, double end_s, double span_s)
{
    return begin_s >= 0 && begin_s <= end_s && end_s <= 2 * span_s;
}

static void read_segments(struct picture *p, struct picture_row *row, const json_t *list, size_t *cap)
{
    const json_t *o;
    size_t i;

    row->first = p->n_segments;
    json_array_foreach(list, i, o) {
        const char *kind = json_string_value(json_array_get(o, 0));
        double begin_s = json_number_of(json_array_get(o, 1)), end_s = json_number_of(json_array_get(o, 2));

        if (i >= PICTURE_ROW_SEGMENTS || p->n_segments >= PICTURE_SEGMENTS_MAX)
            break;
        if (!kind || !within(begin_s, end_s, p->span_s))
            continue;
        p->segment = xgrow(p->segment, cap, p->n_segments + 1, sizeof(*p->segment));
        p->segment[p->n_segments++] = (struct picture_segment){ kind_of(kind), begin_s, end_s };
    }
    row->n = p->n_segments - row->first;
}

struct picture *report_step_read(const json_t *o)
{
    struct picture *p;
    size_t n, cap = 0;

    if (!json_is_object(o) || !(json_get_amount(o, "span_s") > 0))
        return NULL;
    p = xcalloc(1, sizeof(*p));
    json_get_fields(p, o, picture_fields);
    p->basis = !strcmp(json_get_word(o, "basis"), "sums") ? PICTURE_OF_SUMS : PICTURE_OF_CALLS;
    p->row = xcalloc(PICTURE_ROWS_MAX, sizeof(*p->row));
    p->n_rows = json_get_rows(p->row, sizeof(*p->row), PICTURE_ROWS_MAX, o, "rows", row_fields);
    for (size_t i = 0; i < p->n_rows; i++)
        read_segments(p, &p->row[i], json_get_array(json_array_get(json_get_array(o, "rows"), i), "segments"),
                      &cap);
    p->piece = xcalloc(PICTURE_PIECES_MAX, sizeof(*p->piece));
    n = json_get_rows(p->piece, sizeof(*p->piece), PICTURE_PIECES_MAX, o, "path", piece_fields);
    for (size_t i = 0; i < n; i++) {
        struct picture_piece *x = &p->piece[i];

        x->kind = kind_of(json_get_word(json_array_get(json_get_array(o, "path"), i), "kind"));
        if (within(x->begin_s, x->end_s, p->span_s))
            p->piece[p->n_pieces++] = *x;
    }
    p->n_parts = json_get_rows(p->part, sizeof(p->part[0]), PICTURE_PARTS_MAX, o, "parts", part_fields);
    for (size_t i = 0; i < p->n_parts; i++)
        p->part[i].kind = kind_of(json_get_word(json_array_get(json_get_array(o, "parts"), i), "kind"));
    p->message = xcalloc(PICTURE_MESSAGES_MAX, sizeof(*p->message));
    p->n_messages =
        json_get_rows(p->message, sizeof(*p->message), PICTURE_MESSAGES_MAX, o, "messages", message_fields);
    return p;
}
