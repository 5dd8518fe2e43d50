#include "trace/json_pieces.h"

#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

enum state {
    OUTSIDE,  /* between documents */
    KEY,      /* a key, or the end of the object */
    IN_KEY,   /* within its quotes */
    COLON,    /* behind it */
    VALUE,    /* a member's value begins */
    ITEM,     /* an item begins, or the array ends */
    IN_VALUE, /* within a member's value or an item */
    BEHIND,   /* a comma, or the end of the object or array */
};

struct json_pieces {
    int (*each)(const struct json_piece *piece, void *arg, struct err *err);
    void *arg;
    enum state state;
    bool array;  /* the document is one */
    bool items;  /* within an array that is taken apart */
    bool scalar; /* the value is a number or a word: it ends before what cannot belong to it */
    bool quoted, escaped;
    unsigned depth; /* of brackets within the value */
    char key[JSON_KEY_MAX + 1];
    size_t key_bytes;
    char *text;
    size_t bytes, cap;
    uint64_t at, value_at;
};

struct json_pieces *json_pieces_new(int (*each)(const struct json_piece *piece, void *arg, struct err *err),
                                    void *arg)
{
    struct json_pieces *p = xcalloc(1, sizeof(*p));

    p->each = each;
    p->arg = arg;
    return p;
}

void json_pieces_free(struct json_pieces *p)
{
    if (p)
        free(p->text);
    free(p);
}

bool json_pieces_torn(const struct json_pieces *p)
{
    return p->state != OUTSIDE;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static int unexpected(const struct json_pieces *p, const char *expected, struct err *err)
{
    return err_set(err, "no JSON at byte %llu: %s is expected", (unsigned long long)p->at + 1, expected);
}

static int end_document(struct json_pieces *p, struct err *err)
{
    const struct json_piece piece = { .kind = JSON_END, .key = "", .text = "", .at = p->at };

    p->state = OUTSIDE;
    return p->each(&piece, p->arg, err);
}

/* Append the value's next bytes; how many of them belong to it. *done: it is complete. */
static size_t scan_value(struct json_pieces *p, const char *data, size_t bytes, bool *done)
{
    size_t i = 0;

    for (; i < bytes && !*done; i++) {
        char c = data[i];

        if (p->quoted) {
            if (p->escaped)
                p->escaped = false;
            else if (c == '\\')
                p->escaped = true;
            else if (c == '"') {
                p->quoted = false;
                *done = !p->depth;
            }
        } else if (p->scalar) {
            if (is_space(c) || c == ',' || c == ']' || c == '}') {
                *done = true;
                break;
            }
        } else if (c == '"') {
            p->quoted = true;
        } else if (c == '{' || c == '[') {
            p->depth++;
        } else if (c == '}' || c == ']') {
            *done = !--p->depth;
        }
    }
    return i;
}

static int take_value(struct json_pieces *p, const char *data, size_t bytes, size_t *taken, struct err *err)
{
    bool done = false;

    *taken = scan_value(p, data, bytes, &done);
    if (p->bytes + *taken > JSON_PIECE_MAX)
        return err_set(err, "the value at byte %llu has more than %u bytes",
                       (unsigned long long)p->value_at + 1, JSON_PIECE_MAX);
    if (*taken) {
        p->text = xgrow(p->text, &p->cap, p->bytes + *taken + 1, 1);
        memcpy(p->text + p->bytes, data, *taken);
        p->bytes += *taken;
    }
    p->at += *taken;
    if (!done)
        return 0;
    p->state = BEHIND;
    return p->each(&(struct json_piece){ .kind = p->items ? JSON_ITEM : JSON_MEMBER,
                                         .key = p->key,
                                         .text = p->text,
                                         .bytes = p->bytes,
                                         .at = p->value_at },
                   p->arg, err);
}

/* The array that is taken apart ends. */
static int end_items(struct json_pieces *p, struct err *err)
{
    p->items = false;
    p->state = BEHIND;
    return p->array ? end_document(p, err) : 0;
}

/* A byte of a key, or between pieces. *again: it begins a value. */
static int take_byte(struct json_pieces *p, char c, bool *again, struct err *err)
{
    switch (p->state) {
    case OUTSIDE:
        if (c != '{' && c != '[')
            return unexpected(p, "an object or an array", err);
        p->array = p->items = c == '[';
        p->key[0] = '\0';
        p->state = p->array ? ITEM : KEY;
        return 0;
    case KEY:
        if (c == '}')
            return end_document(p, err);
        if (c != '"')
            return unexpected(p, "a key in quotes", err);
        p->state = IN_KEY;
        p->key_bytes = 0;
        p->escaped = false;
        return 0;
    case IN_KEY:
        if (!p->escaped && c == '"') {
            p->key[p->key_bytes] = '\0';
            p->state = COLON;
            return 0;
        }
        p->escaped = !p->escaped && c == '\\';
        if (p->key_bytes < JSON_KEY_MAX)
            p->key[p->key_bytes++] = c;
        return 0;
    case COLON:
        if (c != ':')
            return unexpected(p, "a colon", err);
        p->state = VALUE;
        return 0;
    case VALUE:
        if (c == '[') {
            p->items = true;
            p->state = ITEM;
            return 0;
        }
        break;
    case ITEM:
        if (c == ']')
            return end_items(p, err);
        break;
    default: /* BEHIND */
        if (c == ',') {
            p->state = p->items ? ITEM : KEY;
            return 0;
        }
        if (p->items && c == ']')
            return end_items(p, err);
        if (!p->items && c == '}')
            return end_document(p, err);
        return unexpected(p, p->items ? "a comma or ]" : "a comma or }", err);
    }
    if (c == ',' || c == '}' || c == ']' || c == ':')
        return unexpected(p, "a value", err);
    p->state = IN_VALUE; /* c is taken with it */
    p->scalar = c != '{' && c != '[' && c != '"';
    p->quoted = p->escaped = false;
    p->depth = 0;
    p->bytes = 0;
    p->value_at = p->at;
    *again = true;
    return 0;
}

int json_pieces_feed(struct json_pieces *p, const char *data, size_t bytes, struct err *err)
{
    for (size_t i = 0; i < bytes;) {
        bool again = false;
        size_t taken = 1;

        if (p->state == IN_VALUE) {
            if (take_value(p, data + i, bytes - i, &taken, err) < 0)
                return -1;
        } else if (p->state != IN_KEY && is_space(data[i])) {
            p->at++;
        } else {
            if (take_byte(p, data[i], &again, err) < 0)
                return -1;
            taken = again ? 0 : 1;
            p->at += taken;
        }
        i += taken;
    }
    return 0;
}
