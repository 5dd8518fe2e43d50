#include "rules/condition.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/units.h"

#define WORD_MAX 128
#define NOBODY   0xff /* the comparison is not with another figure */

enum kind { COMPARE, NOT, AND, OR, FOR };
/* An operator precedes those that it begins with. */
enum op { GREATER_EQUAL, LESS_EQUAL, EQUAL, DIFFERENT, GREATER, LESS, EQUAL_SHORT, OPS };
static const char *const ops[OPS] = { ">=", "<=", "==", "!=", ">", "<", "=" };

const char *truth_name(enum truth t)
{
    static const char *const names[] = { "no", "yes", "unknown" };

    return names[t];
}

void condition_forget(struct condition_memory *m)
{
    for (size_t i = 0; i < CONDITION_FORS_MAX; i++)
        m->since_s[i] = NAN;
}

/* ---- tokens ---- */

enum token { END, OPEN, CLOSE, OPERATOR, WORD, QUOTED, BROKEN };

struct parser {
    struct condition *c;
    struct err *err;
    const char *at; /* text after the token */
    enum token token;
    size_t column; /* of the token, from 1 */
    enum op op;
    char word[WORD_MAX];
    size_t words; /* bytes used of c->words */
    unsigned depth;
};

__attribute__((format(printf, 2, 3))) static int fail_at(const struct parser *p, const char *fmt, ...)
{
    char reason[320];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(reason, sizeof(reason), fmt, ap);
    va_end(ap);
    return err_set(p->err, "column %zu: %s", p->column, reason);
}

static void take_word(struct parser *p, size_t length)
{
    if (length >= sizeof(p->word)) {
        p->token = BROKEN;
        length = sizeof(p->word) - 1;
    }
    memcpy(p->word, p->at, length);
    p->word[length] = '\0';
    p->at += length;
}

static void next_token(struct parser *p)
{
    const char *end;
    int op = 0;

    p->at += strspn(p->at, " \t");
    p->column = (size_t)(p->at - p->c->text) + 1;
    p->word[0] = '\0';
    switch (*p->at) {
    case '\0':
        p->token = END;
        return;
    case '(':
    case ')':
        p->token = *p->at == '(' ? OPEN : CLOSE;
        take_word(p, 1);
        return;
    case '<':
    case '>':
    case '=':
    case '!':
        while (op < OPS && strncmp(p->at, ops[op], strlen(ops[op])) != 0)
            op++;
        p->token = op < OPS ? OPERATOR : BROKEN;
        p->op = op < EQUAL_SHORT ? (enum op)op : EQUAL;
        take_word(p, op < OPS ? strlen(ops[op]) : 1);
        return;
    case '"':
    case '\'':
        end = strchr(p->at + 1, *p->at);
        p->at++;
        p->token = end ? QUOTED : BROKEN;
        take_word(p, end ? (size_t)(end - p->at) : strlen(p->at));
        p->at += end != NULL;
        return;
    default:
        p->token = WORD;
        take_word(p, strcspn(p->at, " \t()<>=!\"'"));
    }
}

static bool is_word(const struct parser *p, const char *word)
{
    return p->token == WORD && !strcasecmp(p->word, word);
}

/* ---- parsing ---- */

/* Index of a new node; -1: there are too many. */
static int node_new(struct parser *p, enum kind kind)
{
    if (p->c->n == CONDITION_NODES_MAX)
        return fail_at(p, "the condition is too long: at most %d comparisons and words between them",
                       CONDITION_NODES_MAX);
    p->c->node[p->c->n] = (struct condition_node){ .kind = kind, .other = NOBODY };
    return p->c->n++;
}

static int node_pair(struct parser *p, enum kind kind, int a, int b)
{
    int n = a < 0 || b < 0 ? -1 : node_new(p, kind);

    if (n >= 0) {
        p->c->node[n].a = (uint8_t)a;
        p->c->node[n].b = (uint8_t)b;
    }
    return n;
}

static int parse_or(struct parser *p);

/* Values of the figure, of any size: what is out of its range has an error of its own, check_range(). */
static struct value_type any_size(int figure)
{
    struct value_type t = figure_table[figure].type;

    t.min = -INFINITY;
    t.max = INFINITY;
    return t;
}

static int refuse_value(const struct parser *p, int figure)
{
    const struct value_type t = any_size(figure);
    char accepts[160];

    if (value_is_number(&t))
        value_accepts(&t, accepts, sizeof(accepts));
    else
        figure_accepts((enum figure_id)figure, accepts, sizeof(accepts));
    return fail_at(p, "cannot compare %s with '%s': expected %s", figure_table[figure].name, p->word,
                   accepts);
}

static int parse_figure(const struct parser *p, int figure, double *value)
{
    const struct value_type t = any_size(figure);
    const char *text = p->word + (*p->word == '-' && (t.kind == VALUE_RATIO || t.kind == VALUE_NUMBER));

    if (value_parse(&t, text, value, NULL) < 0)
        return -1;
    if (text != p->word)
        *value = -*value;
    return 0;
}

/* Append a text to words; all texts together are not longer than the condition. */
static int parse_text(struct parser *p, struct condition_node *n)
{
    size_t length = strlen(p->word) + 1;

    if (p->words + length > sizeof(p->c->words))
        return fail_at(p, "the condition is too long: at most %d characters", CONDITION_TEXT_MAX - 1);
    n->word = (uint16_t)p->words;
    memcpy(p->c->words + p->words, p->word, length);
    p->words += length;
    return 0;
}

/* Accept "5 %", with a blank. */
static void join_percent(struct parser *p)
{
    const char *behind = p->at + strspn(p->at, " \t");
    size_t length = strlen(p->word);

    if (*behind == '%' && length + 1 < sizeof(p->word)) {
        strcpy(p->word + length, "%");
        p->at = behind + 1;
    }
}

/* Whether the comparison is the same for all values that the figure can have. */
static enum truth constant(const struct condition_node *n)
{
    double min = figure_table[n->figure].type.min, max = figure_table[n->figure].type.max, v = n->value;
    bool outside = v < min || v > max;

    switch (n->op) {
    case GREATER:
        return min > v ? TRUTH_YES : max <= v ? TRUTH_NO : TRUTH_UNKNOWN;
    case GREATER_EQUAL:
        return min >= v ? TRUTH_YES : max < v ? TRUTH_NO : TRUTH_UNKNOWN;
    case LESS:
        return max < v ? TRUTH_YES : min >= v ? TRUTH_NO : TRUTH_UNKNOWN;
    case LESS_EQUAL:
        return max <= v ? TRUTH_YES : min > v ? TRUTH_NO : TRUTH_UNKNOWN;
    case EQUAL:
        return outside ? TRUTH_NO : TRUTH_UNKNOWN;
    case DIFFERENT:
        return outside ? TRUTH_YES : TRUTH_UNKNOWN;
    default:
        return TRUTH_UNKNOWN;
    }
}

/* A comparison with a number has to be able to be true, and to be false. */
static int check_range(const struct parser *p, const struct condition_node *n)
{
    const struct figure *f = &figure_table[n->figure];
    enum truth always = constant(n);
    char range[80], meant[64] = "";

    if (always == TRUTH_UNKNOWN)
        return 0;
    if (f->type.kind == VALUE_RATIO && f->type.min == 1 && n->value > 0 && n->value < 1)
        snprintf(meant, sizeof(meant), ". Did you mean '%s %s %.4g'?", f->name, ops[n->op], 1 + n->value);
    else if (f->type.kind == VALUE_RATIO && f->type.max == 1 && n->value > 1 && n->value <= 100)
        snprintf(meant, sizeof(meant), ". Did you mean '%s %s %.4g%%'?", f->name, ops[n->op], n->value);
    return fail_at(p, "'%s %s %s' is %s true: %s is %s%s", f->name, ops[n->op], p->word,
                   always == TRUTH_YES ? "always" : "never", f->name,
                   *value_range(&f->type, range, sizeof(range)) ? range : "never negative", meant);
}

static int parse_value(struct parser *p, struct condition_node *n)
{
    const struct value_type *t = &figure_table[n->figure].type;
    int other = p->token == WORD ? figure_find(p->word) : -1;

    if (p->token != WORD && p->token != QUOTED)
        return refuse_value(p, n->figure);
    if (!value_is_number(t) && n->op != EQUAL && n->op != DIFFERENT)
        return fail_at(p, "%s has no order: == and != are accepted", figure_table[n->figure].name);
    if (t->kind == VALUE_RATIO && p->token == WORD)
        join_percent(p);
    if (t->kind == VALUE_WORD)
        return value_parse(t, p->word, &n->value, NULL) < 0 ? refuse_value(p, n->figure) : 0;
    if (value_is_text(t))
        return parse_text(p, n);
    if (other >= 0 && figure_table[other].type.kind == t->kind) {
        n->other = (uint8_t)other;
        return 0;
    }
    if (p->token != WORD || parse_figure(p, n->figure, &n->value) < 0)
        return refuse_value(p, n->figure);
    return check_range(p, n);
}

static int parse_comparison(struct parser *p)
{
    int figure = figure_find(p->word), i;
    const char *alike = figure < 0 ? figure_alike(p->word) : NULL;
    struct condition_node *n;

    if (alike)
        return fail_at(p, "unknown figure '%s'. Did you mean '%s'?", p->word, alike);
    if (figure < 0)
        return fail_at(p, "unknown figure '%s'; `sgctl policy figures` lists them", p->word);
    if ((i = node_new(p, COMPARE)) < 0)
        return -1;
    n = &p->c->node[i];
    n->figure = (uint8_t)figure;
    n->op = EQUAL;
    n->value = 1;
    next_token(p);
    if (p->token != OPERATOR) {
        if (figure_is_flag((enum figure_id)figure))
            return i;
        return fail_at(p,
                       "a comparison of %s is expected: >, >=, <, <=, == or !=", figure_table[figure].name);
    }
    n->op = p->op;
    next_token(p);
    if (parse_value(p, n) < 0)
        return -1;
    next_token(p);
    return i;
}

static int parse_primary(struct parser *p)
{
    int i;

    if (p->token == WORD)
        return parse_comparison(p);
    if (p->token != OPEN)
        return fail_at(p, "a figure, \"not\" or \"(\" is expected");
    next_token(p);
    i = parse_or(p);
    if (i < 0)
        return -1;
    if (p->token != CLOSE)
        return fail_at(p, "\"and\", \"or\" or \")\" is expected");
    next_token(p);
    return i;
}

static int parse_for(struct parser *p, int i)
{
    static const struct value_type period = VALUE_RANGE(VALUE_SECONDS, 0, 86400);
    struct err reason;
    double seconds;
    int n;

    next_token(p);
    if (value_parse(&period, p->token == WORD ? p->word : "", &seconds, &reason) < 0)
        return fail_at(p, "invalid time '%s': %s", p->word, reason.text);
    if (p->c->n_fors == CONDITION_FORS_MAX)
        return fail_at(p, "at most %d times \"for\"", CONDITION_FORS_MAX);
    n = node_pair(p, FOR, i, 0);
    if (n < 0)
        return -1;
    p->c->node[n].value = seconds;
    p->c->node[n].b = p->c->n_fors++;
    next_token(p);
    return n;
}

static int parse_factor(struct parser *p)
{
    int i;

    if (p->depth++ == CONDITION_DEPTH_MAX)
        return fail_at(p, "nested too deeply: at most %d times", CONDITION_DEPTH_MAX);
    if (is_word(p, "not")) {
        next_token(p);
        i = node_pair(p, NOT, parse_factor(p), 0);
    } else {
        i = parse_primary(p);
        if (i >= 0 && is_word(p, "for"))
            i = parse_for(p, i);
    }
    p->depth--;
    return i;
}

static int parse_and(struct parser *p)
{
    int i = parse_factor(p);

    while (i >= 0 && is_word(p, "and")) {
        next_token(p);
        i = node_pair(p, AND, i, parse_factor(p));
    }
    return i;
}

static int parse_or(struct parser *p)
{
    int i = parse_and(p);

    while (i >= 0 && is_word(p, "or")) {
        next_token(p);
        i = node_pair(p, OR, i, parse_and(p));
    }
    return i;
}

int condition_parse(struct condition *c, const char *text, struct err *err)
{
    struct parser p = { .c = c, .err = err };
    int root;

    memset(c, 0, sizeof(*c));
    if (strlen(text) >= sizeof(c->text))
        return err_set(err, "column %d: the condition is too long: at most %d characters", CONDITION_TEXT_MAX,
                       CONDITION_TEXT_MAX - 1);
    strcpy(c->text, text);
    p.at = c->text;
    next_token(&p);
    root = parse_or(&p);
    if (root < 0)
        return -1;
    if (p.token != END)
        return fail_at(&p, "'%s': \"and\", \"or\", \"for\" or the end is expected", p.word);
    c->root = (uint8_t)root;
    return 0;
}

/* ---- evaluation ---- */

static enum truth truth_of(bool b)
{
    return b ? TRUTH_YES : TRUTH_NO;
}

/* What a bound is relaxed by a share of: it, or less where the figure ends near it.  A slowdown is never
 * below 1: a tenth of 1.1 would be taken back by none. */
static double span_of(const struct figure *f, double bound)
{
    double span = fabs(bound);

    if (isfinite(f->type.min))
        span = fmin(span, fabs(bound - f->type.min));
    if (isfinite(f->type.max))
        span = fmin(span, fabs(f->type.max - bound));
    return span;
}

/* relax: share by which the bound is relaxed; negative: by which it is tightened. */
static enum truth compare(const struct condition *c, const struct condition_node *n, const struct figures *f,
                          double relax)
{
    double x = f->value[n->figure], bound = n->other == NOBODY ? n->value : f->value[n->other], slack;
    const char *text = f->text[n->figure];

    if (value_is_text(&figure_table[n->figure].type))
        return !text ? TRUTH_UNKNOWN : truth_of(!strcasecmp(text, c->words + n->word) == (n->op == EQUAL));
    if (isnan(x) || isnan(bound))
        return TRUTH_UNKNOWN;
    slack = relax * span_of(&figure_table[n->figure], bound);
    switch ((enum op)n->op) {
    case GREATER:
        return truth_of(x > bound - slack);
    case GREATER_EQUAL:
        return truth_of(x >= bound - slack);
    case LESS:
        return truth_of(x < bound + slack);
    case LESS_EQUAL:
        return truth_of(x <= bound + slack);
    case EQUAL:
        return truth_of(x == bound);
    default:
        return truth_of(x != bound);
    }
}

struct look {
    const struct condition *c;
    const struct figures *f;
    double now_s, hysteresis;
    struct condition_memory *m;
};

/* Always evaluate both sides, because a `for` in either of them keeps time. */
static enum truth eval_node(const struct look *l, uint8_t i, double relax)
{
    const struct condition_node *n = &l->c->node[i];
    double *since_s;
    enum truth a, b;

    switch ((enum kind)n->kind) {
    case COMPARE:
        return compare(l->c, n, l->f, relax);
    case FOR:
        since_s = &l->m->since_s[n->b];
        a = eval_node(l, n->a, isnan(*since_s) ? relax : l->hysteresis);
        if (a != TRUTH_YES)
            *since_s = NAN;
        else if (isnan(*since_s))
            *since_s = l->now_s;
        return a != TRUTH_YES ? a : truth_of(l->now_s - *since_s >= n->value);
    case NOT:
        a = eval_node(l, n->a, -relax);
        return a == TRUTH_UNKNOWN ? a : truth_of(a == TRUTH_NO);
    case AND:
        a = eval_node(l, n->a, relax);
        b = eval_node(l, n->b, relax);
        if (a == TRUTH_NO || b == TRUTH_NO)
            return TRUTH_NO;
        return a == TRUTH_YES ? b : a;
    default:
        a = eval_node(l, n->a, relax);
        b = eval_node(l, n->b, relax);
        if (a == TRUTH_YES || b == TRUTH_YES)
            return TRUTH_YES;
        return a == TRUTH_NO ? b : a;
    }
}

bool condition_names(const struct condition *c, enum figure_id figure)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->node[i].kind == COMPARE && (c->node[i].figure == figure || c->node[i].other == figure))
            return true;
    return false;
}

enum truth condition_eval(const struct condition *c, const struct figures *f, double now_s, bool held,
                          double hysteresis, struct condition_memory *m)
{
    struct look l = { c, f, now_s, hysteresis, m };

    return eval_node(&l, c->root, held ? hysteresis : 0);
}

/* ---- as text ---- */

struct writer {
    const struct condition *c;
    const struct figures *f; /* NULL: without values */
    char *buf;
    size_t size, at;
};

__attribute__((format(printf, 2, 3))) static void put_text(struct writer *w, const char *fmt, ...)
{
    va_list ap;

    if (w->at >= w->size)
        return;
    va_start(ap, fmt);
    w->at += (size_t)vsnprintf(w->buf + w->at, w->size - w->at, fmt, ap);
    va_end(ap);
}

static void put_comparison(struct writer *w, const struct condition_node *n)
{
    const struct figure *figure = &figure_table[n->figure];
    char value[72];

    put_text(w, "%s", figure->name);
    if (w->f)
        put_text(w, " (%s)", figure_write(w->f, n->figure, value, sizeof(value)));
    if (figure_is_flag((enum figure_id)n->figure) && n->op == EQUAL && n->value == 1)
        return;
    put_text(w, " %s ", ops[n->op]);
    if (value_is_text(&figure->type))
        put_text(w, "'%s'", w->c->words + n->word);
    else if (n->other == NOBODY)
        put_text(w, "%s", figure_write_value(n->figure, n->value, value, sizeof(value)));
    else
        put_text(w, "%s", figure_table[n->other].name);
    if (n->other != NOBODY && w->f)
        put_text(w, " (%s)", figure_write(w->f, n->other, value, sizeof(value)));
}

static void put_node(struct writer *w, uint8_t i, enum kind outer)
{
    const struct condition_node *n = &w->c->node[i];
    bool paren = (n->kind == AND || n->kind == OR) && n->kind != outer;
    char value[32];

    if (paren)
        put_text(w, "(");
    switch ((enum kind)n->kind) {
    case COMPARE:
        put_comparison(w, n);
        break;
    case NOT:
        put_text(w, "not ");
        put_node(w, n->a, NOT);
        break;
    case FOR:
        put_node(w, n->a, FOR);
        put_text(w, " for %s", units_format_s(value, sizeof(value), n->value));
        break;
    default:
        put_node(w, n->a, n->kind);
        put_text(w, n->kind == AND ? " and " : " or ");
        put_node(w, n->b, n->kind);
    }
    if (paren)
        put_text(w, ")");
}

char *condition_explain(const struct condition *c, const struct figures *f, char *buf, size_t size)
{
    struct writer w = { c, f, buf, size, 0 };

    put_node(&w, c->root, (enum kind)c->node[c->root].kind);
    return buf;
}

size_t condition_terms(const struct condition *c, const struct figures *f, struct condition_term *out,
                       size_t max)
{
    size_t k = 0;

    for (uint8_t i = 0; i < c->n && k < max; i++) {
        const struct condition_node *n = &c->node[i];
        struct writer w = { c, NULL, out[k].text, sizeof(out[k].text), 0 };

        if (n->kind != COMPARE)
            continue;
        put_comparison(&w, n);
        figure_write(f, n->figure, out[k].value, sizeof(out[k].value));
        out[k++].truth = compare(c, n, f, 0);
    }
    return k;
}
