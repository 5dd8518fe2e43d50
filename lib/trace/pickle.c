#include "trace/pickle.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/utf8.h"
#include "common/xalloc.h"
#include "trace/pickle_opcode.h"

#define PROTOCOL_MAX 5u
#define MEMO_MAX     (1u << 22)
#define DIGITS_MAX   64u  /* of a number that is written out */
#define LONG_MAX_N   128u /* bytes of a binary one */
#define TEXT_UNIT    16u  /* bytes of text that count as a value */

/* Bytes of memory: jansson 2.14, rounded up. */
#define SCALAR_BYTES 64u
#define LIST_BYTES   192u
#define DICT_BYTES   512u
#define ITEM_BYTES   16u
#define ENTRY_BYTES  128u

struct value {
    json_t *json;
    uint32_t box; /* of a container; 0: it is none */
};

struct box {
    bool closed; /* it is part of another one, and does not change any more: so none can contain itself */
    uint8_t depth;
    uint32_t parts;
};

struct machine {
    const unsigned char *data;
    size_t bytes, at, op_at; /* op_at: of the instruction */
    struct value *stack;
    size_t n, cap;
    size_t *mark; /* places on the stack */
    size_t marks, marks_cap;
    struct value *memo;
    size_t memos, memo_cap; /* memos: numbers are below */
    uint64_t remembered;
    struct box *box;
    size_t boxes, boxes_cap;
    size_t memory, memory_max;
    bool done;
    struct err *err;
};

/* ---- what goes wrong ---- */

__attribute__((format(printf, 2, 3))) static int refuse(struct machine *m, const char *fmt, ...)
{
    char why[200];
    const char *name = m->op_at < m->bytes ? pickle_opcode_name(m->data[m->op_at]) : NULL;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(why, sizeof(why), fmt, ap);
    va_end(ap);
    return err_set(m->err, "a pickle that is not read: %s at byte %zu: %s", name ? name : "no instruction",
                   m->op_at + 1, why);
}

static int charge(struct machine *m, size_t bytes)
{
    m->memory += bytes;
    return m->memory > m->memory_max
               ? refuse(m, "its values take more than %s of memory", text_bytes((double)m->memory_max).s)
               : 0;
}

/* ---- arguments ---- */

/* NULL: so many bytes are not left. */
static const unsigned char *take(struct machine *m, uint64_t bytes)
{
    const unsigned char *p = m->data + m->at;

    if (bytes > m->bytes - m->at) {
        refuse(m, "%llu bytes are expected and %zu are left, so the file is not complete",
               (unsigned long long)bytes, m->bytes - m->at);
        return NULL;
    }
    m->at += (size_t)bytes;
    return p;
}

/* Without its newline. */
static const char *take_line(struct machine *m, size_t *bytes)
{
    const char *p = (const char *)m->data + m->at,
               *end = m->at < m->bytes ? memchr(p, '\n', m->bytes - m->at) : NULL;

    if (!end) {
        refuse(m, "a line without an end: the file is not complete");
        return NULL;
    }
    *bytes = (size_t)(end - p);
    m->at += *bytes + 1;
    return p;
}

/* A number of so many bytes, the lowest first. */
static int take_number(struct machine *m, unsigned bytes, uint64_t *number)
{
    const unsigned char *p = take(m, bytes);

    if (!p)
        return -1;
    *number = 0;
    for (unsigned i = bytes; i-- > 0;)
        *number = *number << 8 | p[i];
    return 0;
}

static int take_digits(struct machine *m, char buf[DIGITS_MAX + 1])
{
    size_t bytes;
    const char *line = take_line(m, &bytes);

    if (!line)
        return -1;
    if (!bytes || bytes > DIGITS_MAX)
        return refuse(m, "a number of %zu characters", bytes);
    memcpy(buf, line, bytes);
    buf[bytes] = '\0';
    return 0;
}

/* ---- the stack ---- */

/* Below it stands what a mark keeps apart. */
static size_t bottom(const struct machine *m)
{
    return m->marks ? m->mark[m->marks - 1] : 0;
}

static int need(struct machine *m, size_t values)
{
    return m->n - bottom(m) < values ? refuse(m, "too few values are on the stack") : 0;
}

/* Takes json. */
static int push_value(struct machine *m, struct value v, size_t memory)
{
    if (!v.json)
        return refuse(m, "its value cannot be kept");
    m->stack = xgrow(m->stack, &m->cap, m->n + 1, sizeof(*m->stack));
    m->stack[m->n++] = v;
    return charge(m, memory + sizeof(v));
}

static int push(struct machine *m, json_t *json)
{
    return push_value(m, (struct value){ json, 0 }, SCALAR_BYTES);
}

static int push_float(struct machine *m, double number)
{
    return push(m, isfinite(number) ? json_real(number) : json_null());
}

static int push_text(struct machine *m, const char *text, size_t bytes)
{
    json_t *json;

    if (charge(m, bytes) < 0)
        return -1;
    json = json_stringn(text, bytes);
    if (!json) {
        char *mended = xcalloc(bytes + 1, 1);

        memcpy(mended, text, bytes);
        for (size_t at = 0; at < bytes; at += strlen(mended + at) + 1) /* NUL is a character of it */
            utf8_mend(mended + at);
        json = json_stringn(mended, bytes);
        free(mended);
    }
    return push(m, json);
}

static struct value new_container(struct machine *m, json_t *json)
{
    m->boxes += !m->boxes; /* 0 is none */
    m->box = xgrow(m->box, &m->boxes_cap, m->boxes + 1, sizeof(*m->box));
    m->box[m->boxes] = (struct box){ .depth = 1, .parts = 1 };
    return (struct value){ json, (uint32_t)m->boxes++ };
}

static int push_container(struct machine *m, json_t *json, size_t memory)
{
    return push_value(m, new_container(m, json), memory + sizeof(struct box));
}

static void drop(struct machine *m, size_t to)
{
    while (m->n > to)
        json_decref(m->stack[--m->n].json);
}

static int take_mark(struct machine *m, size_t *from)
{
    if (!m->marks)
        return refuse(m, "no mark is on the stack");
    *from = m->mark[--m->marks];
    return 0;
}

/* ---- containers ---- */

static uint64_t parts_of(const struct machine *m, const struct value *v)
{
    return v->box ? m->box[v->box].parts : 1 + json_string_length(v->json) / TEXT_UNIT;
}

/* v becomes a part of the container: may it? */
static int join_part(struct machine *m, const struct value *container, const struct value *v)
{
    struct box *b = &m->box[container->box], *inner = v->box ? &m->box[v->box] : NULL;
    uint64_t parts = b->parts + parts_of(m, v);

    if (b == inner)
        return refuse(m, "a container would contain itself");
    if (b->closed)
        return refuse(m, "a container changes that is part of another one already");
    if (parts > PICKLE_PARTS_MAX)
        return refuse(m, "more than %u values, with repeated parts", PICKLE_PARTS_MAX);
    b->parts = (uint32_t)parts;
    if (!inner)
        return 0;
    if (inner->depth >= PICKLE_DEPTH_MAX)
        return refuse(m, "more than %u containers inside of each other", PICKLE_DEPTH_MAX);
    inner->closed = true;
    if (b->depth <= inner->depth)
        b->depth = (uint8_t)(inner->depth + 1);
    return 0;
}

static int append(struct machine *m, const struct value *list, const struct value *v)
{
    if (!json_is_array(list->json))
        return refuse(m, "what it adds to is not a list");
    if (charge(m, ITEM_BYTES) < 0 || join_part(m, list, v) < 0)
        return -1;
    return json_array_append(list->json, v->json) < 0 ? refuse(m, "its value cannot be kept") : 0;
}

static int set_item(struct machine *m, const struct value *dict, const struct value *key,
                    const struct value *v)
{
    const char *name = json_string_value(key->json);
    char number[24];

    if (!json_is_object(dict->json))
        return refuse(m, "what it adds to is not a dictionary");
    if (!name && !json_is_integer(key->json))
        return refuse(m, "a key that is neither text nor a whole number");
    if (!name) {
        snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(key->json));
        name = number;
    }
    if (charge(m, ENTRY_BYTES + strlen(name)) < 0 || join_part(m, dict, v) < 0)
        return -1;
    return json_object_set_nocheck(dict->json, name, v->json) < 0 ? refuse(m, "its value cannot be kept") : 0;
}

/* The values from that place on become a list. */
static int collect(struct machine *m, size_t from)
{
    struct value list = new_container(m, json_array());
    int rc = 0;

    for (size_t i = from; i < m->n && rc == 0; i++)
        rc = append(m, &list, &m->stack[i]);
    drop(m, from);
    if (rc == 0)
        return push_value(m, list, LIST_BYTES + sizeof(struct box));
    json_decref(list.json);
    return -1;
}

static int collect_dict(struct machine *m, size_t from)
{
    struct value dict = new_container(m, json_object());
    int rc = (m->n - from) % 2 ? refuse(m, "a key without a value") : 0;

    for (size_t i = from; i < m->n && rc == 0; i += 2)
        rc = set_item(m, &dict, &m->stack[i], &m->stack[i + 1]);
    drop(m, from);
    if (rc == 0)
        return push_value(m, dict, DICT_BYTES + sizeof(struct box));
    json_decref(dict.json);
    return -1;
}

/* The values from that place on are added to what stands below them. */
static int add_items(struct machine *m, size_t from, bool pairs)
{
    const struct value *to;
    int rc = 0;

    if (from <= bottom(m))
        return refuse(m, "too few values are on the stack");
    if (pairs && (m->n - from) % 2)
        return refuse(m, "a key without a value");
    to = &m->stack[from - 1];
    if (!to->box)
        return refuse(m, "what it adds to is not a container");
    for (size_t i = from; i < m->n && rc == 0; i += pairs ? 2 : 1)
        rc = pairs ? set_item(m, to, &m->stack[i], &m->stack[i + 1]) : append(m, to, &m->stack[i]);
    drop(m, from);
    return rc;
}

static int make_container(struct machine *m, enum pickle_opcode op)
{
    size_t from = 0;

    switch (op) {
    case PICKLE_EMPTY_LIST:
    case PICKLE_EMPTY_TUPLE:
    case PICKLE_EMPTY_SET:
        return push_container(m, json_array(), LIST_BYTES);
    case PICKLE_EMPTY_DICT:
        return push_container(m, json_object(), DICT_BYTES);
    case PICKLE_TUPLE1:
    case PICKLE_TUPLE2:
    case PICKLE_TUPLE3:
        return need(m, op - PICKLE_TUPLE1 + 1u) < 0 ? -1 : collect(m, m->n - (op - PICKLE_TUPLE1 + 1u));
    case PICKLE_APPEND:
        return need(m, 2) < 0 ? -1 : add_items(m, m->n - 1, false);
    case PICKLE_SETITEM:
        return need(m, 3) < 0 ? -1 : add_items(m, m->n - 2, true);
    default:
        break;
    }
    if (take_mark(m, &from) < 0)
        return -1;
    switch (op) {
    case PICKLE_DICT:
        return collect_dict(m, from);
    case PICKLE_APPENDS:
    case PICKLE_ADDITEMS:
        return add_items(m, from, false);
    case PICKLE_SETITEMS:
        return add_items(m, from, true);
    case PICKLE_POP_MARK:
        drop(m, from);
        return 0;
    default: /* LIST, TUPLE, FROZENSET */
        return collect(m, from);
    }
}

/* ---- numbers ---- */

static int push_digits(struct machine *m, bool may_be_bool)
{
    char digits[DIGITS_MAX + 1], *end;
    long long number;

    if (take_digits(m, digits) < 0)
        return -1;
    if (may_be_bool && (!strcmp(digits, "00") || !strcmp(digits, "01")))
        return push(m, json_boolean(digits[1] == '1'));
    errno = 0;
    number = strtoll(digits, &end, 10);
    if (end != digits && errno == ERANGE)
        return push_float(m, strtod(digits, NULL));
    if (end == digits || (*end && strcmp(end, "L") != 0))
        return refuse(m, "no number");
    return push(m, json_integer(number));
}

static int push_long(struct machine *m, unsigned length_bytes)
{
    const unsigned char *p;
    uint64_t bytes;
    double number;
    int64_t whole;

    if (take_number(m, length_bytes, &bytes) < 0)
        return -1;
    if (bytes > LONG_MAX_N)
        return refuse(m, "a number of %llu bytes", (unsigned long long)bytes);
    p = take(m, bytes);
    if (!p)
        return -1;
    if (!bytes)
        return push(m, json_integer(0));
    /* two's complement, the lowest byte first */
    number = (signed char)p[bytes - 1];
    whole = (signed char)p[bytes - 1];
    for (size_t i = (size_t)bytes - 1; i-- > 0;) {
        number = number * 256 + p[i];
        whole = (int64_t)((uint64_t)whole << 8 | p[i]);
    }
    return bytes > sizeof(whole) ? push_float(m, number) : push(m, json_integer(whole));
}

static int push_float_line(struct machine *m)
{
    char digits[DIGITS_MAX + 1], *end;
    double number;

    if (take_digits(m, digits) < 0)
        return -1;
    number = strtod(digits, &end);
    return end == digits || *end ? refuse(m, "no number") : push_float(m, number);
}

static int push_binfloat(struct machine *m)
{
    const unsigned char *p = take(m, 8);
    uint64_t bits = 0;
    double number;

    if (!p)
        return -1;
    for (int i = 0; i < 8; i++)
        bits = bits << 8 | p[i];
    memcpy(&number, &bits, sizeof(number));
    return push_float(m, number);
}

static int push_binint(struct machine *m, unsigned bytes)
{
    uint64_t number;

    if (take_number(m, bytes, &number) < 0)
        return -1;
    return push(m, json_integer(bytes == 4 ? (int32_t)(uint32_t)number : (json_int_t)number));
}

static int push_number(struct machine *m, enum pickle_opcode op)
{
    switch (op) {
    case PICKLE_INT:
    case PICKLE_LONG:
        return push_digits(m, op == PICKLE_INT);
    case PICKLE_BININT:
        return push_binint(m, 4);
    case PICKLE_BININT1:
        return push_binint(m, 1);
    case PICKLE_BININT2:
        return push_binint(m, 2);
    case PICKLE_LONG1:
        return push_long(m, 1);
    case PICKLE_LONG4:
        return push_long(m, 4);
    case PICKLE_BINFLOAT:
        return push_binfloat(m);
    default: /* FLOAT */
        return push_float_line(m);
    }
}

/* ---- text ---- */

static size_t put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (char)(0xc0 | c >> 6);
        to[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (char)(0xe0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 0x3f));
        to[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | (c >> 18 & 7));
    to[1] = (char)(0x80 | (c >> 12 & 0x3f));
    to[2] = (char)(0x80 | (c >> 6 & 0x3f));
    to[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/* Of the escape behind a backslash: how many characters it has, and what it stands for.  raw: as in UNICODE,
 * where others stand for themselves.  0: none, and *c stays. */
static size_t escape_of(const char *at, const char *end, bool raw, uint32_t *c)
{
    static const char letters[] = "abfnrtv\\'\"", meant[] = "\a\b\f\n\r\t\v\\'\"";
    size_t digits = at == end ? 0 : *at == 'u' ? 4 : *at == 'U' ? 8 : *at == 'x' && !raw ? 2 : 0;
    const char *letter = at < end && *at && !raw ? strchr(letters, *at) : NULL;
    char hex[9] = "";
    uint32_t number;

    if (letter) {
        *c = (unsigned char)meant[letter - letters];
        return 1;
    }
    if (!digits || (size_t)(end - at) <= digits)
        return 0;
    memcpy(hex, at + 1, digits);
    if (strspn(hex, "0123456789abcdefABCDEF") < digits)
        return 0;
    number = (uint32_t)strtoul(hex, NULL, 16);
    if (number > 0x10ffff)
        return 0;
    *c = number;
    return 1 + digits;
}

/* The line of UNICODE (raw), or the quoted one of STRING. */
static int push_escaped(struct machine *m, bool raw)
{
    size_t bytes, room, n = 0;
    const char *at = take_line(m, &bytes), *end;
    char *text;
    int rc;

    if (!at)
        return -1;
    end = at + bytes;
    if (!raw && (bytes < 2 || (*at != '\'' && *at != '"') || end[-1] != *at))
        return refuse(m, "text without its quotes");
    if (!raw) {
        at++;
        end--;
    }
    room = 2 * bytes + 4; /* a byte above 127 takes two, an escape less than it has characters */
    if (charge(m, room) < 0)
        return -1;
    text = xcalloc(room, 1);
    while (at < end) {
        uint32_t c = (unsigned char)*at++;

        if (c == '\\')
            at += escape_of(at, end, raw, &c);
        n += put_utf8(text + n, c);
    }
    rc = push_text(m, text, n);
    free(text);
    m->memory -= room;
    return rc;
}

static int push_counted(struct machine *m, unsigned length_bytes)
{
    const unsigned char *p;
    uint64_t bytes;

    if (take_number(m, length_bytes, &bytes) < 0 || !(p = take(m, bytes)))
        return -1;
    return push_text(m, (const char *)p, (size_t)bytes);
}

static int push_string(struct machine *m, enum pickle_opcode op)
{
    switch (op) {
    case PICKLE_STRING:
    case PICKLE_UNICODE:
        return push_escaped(m, op == PICKLE_UNICODE);
    case PICKLE_SHORT_BINSTRING:
    case PICKLE_SHORT_BINUNICODE:
    case PICKLE_SHORT_BINBYTES:
        return push_counted(m, 1);
    case PICKLE_BINSTRING:
    case PICKLE_BINUNICODE:
    case PICKLE_BINBYTES:
        return push_counted(m, 4);
    default: /* BINUNICODE8, BINBYTES8, BYTEARRAY8 */
        return push_counted(m, 8);
    }
}

/* ---- what is remembered ---- */

static int remember(struct machine *m, uint64_t number)
{
    struct value *v;

    if (need(m, 1) < 0)
        return -1;
    if (number >= MEMO_MAX)
        return refuse(m, "a memo number above %u", MEMO_MAX - 1);
    if (number >= m->memos) {
        if (charge(m, ((size_t)number + 1 - m->memos) * sizeof(*m->memo)) < 0)
            return -1;
        m->memo = xgrow(m->memo, &m->memo_cap, (size_t)number + 1, sizeof(*m->memo));
        m->memos = (size_t)number + 1;
    }
    v = &m->memo[number];
    m->remembered += !v->json;
    json_decref(v->json);
    *v = m->stack[m->n - 1];
    json_incref(v->json);
    return 0;
}

static int recall(struct machine *m, uint64_t number)
{
    struct value v;

    if (number >= m->memos || !m->memo[number].json)
        return refuse(m, "nothing was remembered under %llu", (unsigned long long)number);
    v = m->memo[number];
    json_incref(v.json);
    return push_value(m, v, 0);
}

static int use_memo(struct machine *m, enum pickle_opcode op)
{
    bool puts = op == PICKLE_PUT || op == PICKLE_BINPUT || op == PICKLE_LONG_BINPUT || op == PICKLE_MEMOIZE;
    char digits[DIGITS_MAX + 1], *end = digits;
    uint64_t number = 0;

    if (op == PICKLE_MEMOIZE) {
        number = m->remembered;
    } else if (op == PICKLE_GET || op == PICKLE_PUT) {
        if (take_digits(m, digits) < 0)
            return -1;
        number = strtoull(digits, &end, 10);
        if (*end || end == digits || digits[0] == '-')
            return refuse(m, "no number");
    } else if (take_number(m, op == PICKLE_BINGET || op == PICKLE_BINPUT ? 1 : 4, &number) < 0) {
        return -1;
    }
    return puts ? remember(m, number) : recall(m, number);
}

/* ---- the program ---- */

static int arrange(struct machine *m, enum pickle_opcode op)
{
    uint64_t number;

    switch (op) {
    case PICKLE_PROTO:
        if (take_number(m, 1, &number) < 0)
            return -1;
        return number > PROTOCOL_MAX
                   ? refuse(m, "protocol %u, and 0 to %u are known", (unsigned)number, PROTOCOL_MAX)
                   : 0;
    case PICKLE_FRAME:
        if (take_number(m, 8, &number) < 0)
            return -1;
        return number > m->bytes - m->at
                   ? refuse(m, "a frame of %llu bytes, and %zu are left, so the file is not complete",
                            (unsigned long long)number, m->bytes - m->at)
                   : 0;
    case PICKLE_MARK:
        m->mark = xgrow(m->mark, &m->marks_cap, m->marks + 1, sizeof(*m->mark));
        m->mark[m->marks++] = m->n;
        return charge(m, sizeof(*m->mark));
    case PICKLE_POP:
        if (m->marks && m->n == bottom(m)) {
            m->marks--;
            return 0;
        }
        if (need(m, 1) < 0)
            return -1;
        drop(m, m->n - 1);
        return 0;
    case PICKLE_DUP:
        if (need(m, 1) < 0)
            return -1;
        json_incref(m->stack[m->n - 1].json);
        return push_value(m, m->stack[m->n - 1], 0);
    default: /* STOP */
        m->done = true;
        return m->marks ? refuse(m, "a mark is left on the stack") : need(m, 1);
    }
}

static int step(struct machine *m)
{
    enum pickle_opcode op;

    m->op_at = m->at;
    if (m->at == m->bytes)
        return err_set(m->err,
                       "a pickle without an end: its %zu bytes have no STOP, so the file is not complete",
                       m->bytes);
    op = (enum pickle_opcode)m->data[m->at++];
    switch (op) {
    case PICKLE_MARK:
    case PICKLE_STOP:
    case PICKLE_POP:
    case PICKLE_DUP:
    case PICKLE_PROTO:
    case PICKLE_FRAME:
        return arrange(m, op);
    case PICKLE_NONE:
        return push(m, json_null());
    case PICKLE_NEWTRUE:
    case PICKLE_NEWFALSE:
        return push(m, json_boolean(op == PICKLE_NEWTRUE));
    case PICKLE_INT:
    case PICKLE_LONG:
    case PICKLE_FLOAT:
    case PICKLE_BININT:
    case PICKLE_BININT1:
    case PICKLE_BININT2:
    case PICKLE_LONG1:
    case PICKLE_LONG4:
    case PICKLE_BINFLOAT:
        return push_number(m, op);
    case PICKLE_STRING:
    case PICKLE_UNICODE:
    case PICKLE_BINSTRING:
    case PICKLE_SHORT_BINSTRING:
    case PICKLE_BINUNICODE:
    case PICKLE_SHORT_BINUNICODE:
    case PICKLE_BINUNICODE8:
    case PICKLE_BINBYTES:
    case PICKLE_SHORT_BINBYTES:
    case PICKLE_BINBYTES8:
    case PICKLE_BYTEARRAY8:
        return push_string(m, op);
    case PICKLE_GET:
    case PICKLE_BINGET:
    case PICKLE_LONG_BINGET:
    case PICKLE_PUT:
    case PICKLE_BINPUT:
    case PICKLE_LONG_BINPUT:
    case PICKLE_MEMOIZE:
        return use_memo(m, op);
    case PICKLE_EMPTY_LIST:
    case PICKLE_EMPTY_TUPLE:
    case PICKLE_EMPTY_SET:
    case PICKLE_EMPTY_DICT:
    case PICKLE_TUPLE1:
    case PICKLE_TUPLE2:
    case PICKLE_TUPLE3:
    case PICKLE_APPEND:
    case PICKLE_SETITEM:
    case PICKLE_LIST:
    case PICKLE_TUPLE:
    case PICKLE_FROZENSET:
    case PICKLE_DICT:
    case PICKLE_APPENDS:
    case PICKLE_ADDITEMS:
    case PICKLE_SETITEMS:
    case PICKLE_POP_MARK:
        return make_container(m, op);
    }
    if (pickle_opcode_name((unsigned char)op))
        return refuse(m, "it could import, call or fetch something, and only data is read");
    return refuse(m, "0x%02x is none", op);
}

static void clear(struct machine *m)
{
    drop(m, 0);
    for (size_t i = 0; i < m->memos; i++)
        json_decref(m->memo[i].json);
    free(m->stack);
    free(m->mark);
    free(m->memo);
    free(m->box);
}

bool pickle_begins(const unsigned char *data, size_t bytes)
{
    if (bytes >= 2 && data[0] == PICKLE_PROTO && data[1] <= PROTOCOL_MAX)
        return true;
    /* without PROTO, as in protocols 0 and 1: a dictionary or a list */
    return bytes >= 2 &&
           (data[0] == PICKLE_MARK || data[0] == PICKLE_EMPTY_DICT || data[0] == PICKLE_EMPTY_LIST);
}

json_t *pickle_read(const unsigned char *data, size_t bytes, struct err *err)
{
    struct machine m = { .data = data, .bytes = bytes, .err = err };
    json_t *made = NULL;
    int rc = 0;

    m.memory_max = bytes < (PICKLE_MEMORY_MAX - PICKLE_MEMORY_MORE) / PICKLE_MEMORY_RATIO
                       ? bytes * PICKLE_MEMORY_RATIO + PICKLE_MEMORY_MORE
                       : PICKLE_MEMORY_MAX;
    while (rc == 0 && !m.done)
        rc = step(&m);
    if (rc == 0)
        made = json_incref(m.stack[m.n - 1].json);
    clear(&m);
    return made;
}
