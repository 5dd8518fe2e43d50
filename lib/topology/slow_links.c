#include "topology/slow_links.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "common/conf.h"
#include "common/hostlist.h"
#include "common/value.h"

#define TIME_FORMAT "%Y-%m-%dT%H:%M:%SZ"
#define LINES       "Measured with Nodes; then Node, Switch or Pair with Slower, Delay or (of a node) Below"

enum { MEASURED, NODES, NODE, SWITCH, PAIR, SLOWER, DELAY, BELOW, KEYS };
static const char *const keys[KEYS] = { "Measured", "Nodes",  "Node",  "Switch",
                                        "Pair",     "Slower", "Delay", "Below" };
static const struct value_type types[KEYS] = {
    [NODES] = VALUE_RANGE(VALUE_INTEGER, 2, TOPOLOGY_NODES_MAX),
    [SLOWER] = VALUE_RANGE(VALUE_NUMBER, 1, SLOW_LINKS_SLOWER_MAX),
    [DELAY] = VALUE_RANGE(VALUE_SECONDS, 0, SLOW_LINKS_DELAY_S),
};

/* ---- a list of them ---- */

int slow_links_add(struct slow_links *s, const struct slow_link *link, struct err *err)
{
    struct slow_link l = *link;

    if (!value_is_name(l.name) || (l.other && !value_is_name(l.other)))
        return err_set(err, "a name of letters, digits, '_', '-' and '.' is accepted");
    if (s->n == SLOW_LINKS_MAX)
        return err_set(err, "at most %u slow links are accepted", SLOW_LINKS_MAX);
    if (s->n == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 16;
        struct slow_link *more = reallocarray(s->link, cap, sizeof(*more));

        if (!more)
            return err_set(err, "out of memory");
        s->link = more;
        s->cap = cap;
    }
    l.name = strdup(l.name);
    l.other = l.other ? strdup(l.other) : NULL;
    if (!l.name || (link->other && !l.other)) {
        free(l.name);
        free(l.other);
        return err_set(err, "out of memory");
    }
    s->link[s->n++] = l;
    return 0;
}

void slow_links_free(struct slow_links *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->link[i].name);
        free(s->link[i].other);
    }
    free(s->link);
    *s = (struct slow_links){ .measured_s = NAN };
}

/* ---- as text ---- */

static int read_number(const struct conf_line *line, const struct conf_pair *pair, int key, double *number,
                       struct err *err)
{
    struct err why;

    if (!pair || value_parse(&types[key], pair->value, number, &why) == 0)
        return 0;
    return conf_error(line, pair, err, "%s", why.text);
}

static int read_head(struct slow_links *s, const struct conf_line *line, const struct conf_pair *const *given,
                     struct err *err)
{
    struct tm tm = { 0 };
    const char *end = strptime(given[MEASURED]->value, TIME_FORMAT, &tm);
    double nodes = NAN;

    if (!end || *end)
        return conf_error(line, given[MEASURED], err,
                          "a time in UTC such as 2026-11-25T05:00:00Z is accepted");
    if (!given[NODES])
        return conf_error(line, given[MEASURED], err,
                          "Nodes is missing, the number of nodes between which was measured");
    if (read_number(line, given[NODES], NODES, &nodes, err) < 0)
        return -1;
    s->measured_s = (double)timegm(&tm);
    s->nodes = (unsigned)nodes;
    return 0;
}

struct adding {
    struct slow_links *s;
    struct slow_link link;
};

static int add_node(void *arg, const char *name, struct err *err)
{
    struct adding *a = arg;

    a->link.name = (char *)name;
    return slow_links_add(a->s, &a->link, err);
}

static int add_pair(struct adding *a, const char *text, struct err *err)
{
    const char *comma = strchr(text, ',');
    char name[HOSTLIST_NAME_MAX + 1];
    size_t length = comma ? (size_t)(comma - text) : 0;

    if (!length || length >= sizeof(name) || strchr(comma + 1, ',') ||
        (strlen(comma + 1) == length && !strncmp(text, comma + 1, length)))
        return err_set(err, "two nodes are accepted, as in node1,node2");
    memcpy(name, text, length);
    name[length] = '\0';
    a->link.name = name;
    a->link.other = (char *)comma + 1;
    return slow_links_add(a->s, &a->link, err);
}

static int read_link(struct slow_links *s, const struct conf_line *line, const struct conf_pair *const *given,
                     struct err *err)
{
    const struct conf_pair *what = given[NODE] ? given[NODE] : given[SWITCH] ? given[SWITCH] : given[PAIR];
    enum slow_link_kind kind = given[NODE] ? SLOW_NODE : given[SWITCH] ? SLOW_SWITCH : SLOW_PAIR;
    struct adding a = { s, { .kind = kind, .slower = 1 } };
    struct err why = { "" };
    int rc;

    if (read_number(line, given[SLOWER], SLOWER, &a.link.slower, err) < 0 ||
        read_number(line, given[DELAY], DELAY, &a.link.delay_s, err) < 0)
        return -1;
    if (given[BELOW] && kind != SLOW_NODE)
        return conf_error(line, given[BELOW], err, "Below is accepted of a node");
    if (!given[SLOWER] && !given[DELAY] && !given[BELOW])
        return conf_error(line, what, err, "Slower, Delay or Below is missing");
    a.link.name = (char *)what->value;
    a.link.other = given[BELOW] ? (char *)given[BELOW]->value : NULL;
    rc = kind == SLOW_NODE   ? hostlist_each(what->value, SLOW_LINKS_MAX, add_node, &a, &why)
         : kind == SLOW_PAIR ? add_pair(&a, what->value, &why)
                             : slow_links_add(s, &a.link, &why);
    return rc < 0 ? conf_error(line, what, err, "%s", why.text) : 0;
}

static int read_line(const struct conf_line *line, void *arg, struct err *err)
{
    const struct conf_pair *given[KEYS] = { NULL }, *first = &line->pairs[0];
    struct slow_links *s = arg;

    for (size_t i = 0; i < line->n; i++) {
        int k = 0;

        while (k < KEYS && strcasecmp(line->pairs[i].key, keys[k]) != 0)
            k++;
        if (k == KEYS)
            return conf_error(line, &line->pairs[i], err, LINES " are accepted");
        if (given[k])
            return conf_error(line, &line->pairs[i], err, "%s is given twice", keys[k]);
        given[k] = &line->pairs[i];
    }
    if ((given[MEASURED] != NULL) != (isnan(s->measured_s) != 0) ||
        (given[MEASURED] && line->n > 1u + !!given[NODES]))
        return conf_error(line, first, err, "one line of Measured and Nodes is accepted, the first");
    if (given[MEASURED])
        return read_head(s, line, given, err);
    if (given[NODES] || !!given[NODE] + !!given[SWITCH] + !!given[PAIR] != 1)
        return conf_error(line, first, err, LINES " are accepted");
    return read_link(s, line, given, err);
}

/* text NULL: the file itself. */
static int read_from(struct slow_links *s, const char *name, const char *text, size_t bytes, struct err *err)
{
    int rc;

    *s = (struct slow_links){ .measured_s = NAN };
    rc = conf_load(name, text, bytes, read_line, s, err);
    if (rc == 0 && isnan(s->measured_s))
        rc = err_set(
            err,
            "%.200s: nothing in it: a first line such as Measured=2026-11-25T05:00:00Z Nodes=64 is accepted",
            name);
    if (rc < 0)
        slow_links_free(s);
    return rc;
}

int slow_links_read(struct slow_links *s, const char *path, struct err *err)
{
    return read_from(s, path, NULL, 0, err);
}

int slow_links_parse(struct slow_links *s, const char *name, const char *text, size_t bytes, struct err *err)
{
    return read_from(s, name, text, bytes, err);
}

void slow_links_write(const struct slow_links *s, FILE *out)
{
    static const char *const kinds[] = {
        [SLOW_NODE] = "Node", [SLOW_SWITCH] = "Switch", [SLOW_PAIR] = "Pair"
    };
    time_t at = isnan(s->measured_s) ? 0 : (time_t)s->measured_s;
    char when[32] = "", delay[32];
    struct tm tm;

    if (gmtime_r(&at, &tm))
        strftime(when, sizeof(when), TIME_FORMAT, &tm);
    fputs(
        "# Links that were slower than others of their kind, as sgctl doctor --cluster --probe measured them.\n",
        out);
    fprintf(out, "Measured=%s Nodes=%u\n", when, s->nodes);
    for (size_t i = 0; i < s->n; i++) {
        const struct slow_link *l = &s->link[i];

        fprintf(out, "%s=%s%s%s", kinds[l->kind], l->name, l->kind == SLOW_PAIR ? "," : "",
                l->kind == SLOW_PAIR ? l->other : "");
        /* a line says at least one of them */
        if (l->slower > 1 || (!(l->delay_s > 0) && !(l->kind == SLOW_NODE && l->other)))
            fprintf(out, " Slower=%.3g", l->slower);
        snprintf(delay, sizeof(delay), "%.3g", l->delay_s); /* what was measured is known to no more digits */
        if (l->delay_s > 0)
            fprintf(out, " Delay=%s", value_write(&types[DELAY], strtod(delay, NULL), delay, sizeof(delay)));
        if (l->kind == SLOW_NODE && l->other)
            fprintf(out, " Below=%s", l->other);
        fputc('\n', out);
    }
}

/* ---- on a tree ---- */

static void slow_down(struct topology_link *up, const struct slow_link *l)
{
    up->slower = fmax(up->slower, l->slower);
    up->delay_s = fmax(up->delay_s, l->delay_s / 2);
}

/* 1: it is a link of t; 0: not; -1: no memory. */
static int apply_link(const struct slow_link *l, struct topology *t)
{
    uint32_t a = l->kind == SLOW_SWITCH ? topology_find_switch(t, l->name) : topology_find_node(t, l->name),
             b = TOPOLOGY_NONE;

    if (a == TOPOLOGY_NONE)
        return 0;
    if (l->kind == SLOW_SWITCH) {
        slow_down(&t->a_switch[a].up, l);
        return 1;
    }
    if (l->kind == SLOW_PAIR) {
        b = topology_find_node(t, l->other);
        return b == TOPOLOGY_NONE ? 0 : topology_slow_pair(t, a, b, l->slower, l->delay_s / 2) < 0 ? -1 : 1;
    }
    slow_down(&t->node[a].up, l);
    b = l->other ? topology_find_switch(t, l->other) : TOPOLOGY_NONE;
    if (b != TOPOLOGY_NONE && t->a_switch[b].height == 0)
        topology_move(t, a, b);
    return 1;
}

int slow_links_apply(const struct slow_links *s, struct topology *t, struct err *err)
{
    int n = 0;

    for (size_t i = 0; i < s->n; i++) {
        int rc = apply_link(&s->link[i], t);

        if (rc < 0)
            return err_set(err, "out of memory");
        n += rc;
    }
    return n;
}
