#include "topology/topology_yaml.h"

#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/conf.h"
#include "common/xalloc.h"

#define SUFFIX ".yaml"

bool topology_yaml_is(const char *path)
{
    size_t n = strlen(path);

    return n > strlen(SUFFIX) && !strcmp(path + n - strlen(SUFFIX), SUFFIX);
}

#if HAVE_YAML

#include <yaml.h>

#define LIBRARY   "libyaml-0.so.2"
#define DEPTH_MAX 16u /* of what is skipped */

enum kind { TREE = 1, BLOCK = 2, FLAT = 4 };

struct library {
    void *handle;
    int (*initialize)(yaml_parser_t *parser);
    void (*set_input_string)(yaml_parser_t *parser, const unsigned char *input, size_t size);
    int (*parse)(yaml_parser_t *parser, yaml_event_t *event);
    void (*free_event)(yaml_event_t *event);
    void (*free_parser)(yaml_parser_t *parser);
};

struct reading {
    struct library lib;
    yaml_parser_t parser;
    yaml_event_t event;        /* the newest */
    const char *name, *wanted; /* the file; a topology, or NULL: the default one */
    struct topology *best, *t; /* best: of those that were read */
    bool found;                /* none that comes is better */
    unsigned n;
};

static int load(struct library *l, struct err *err)
{
    static const struct {
        const char *name;
        size_t offset;
    } symbols[] = { { "yaml_parser_initialize", offsetof(struct library, initialize) },
                    { "yaml_parser_set_input_string", offsetof(struct library, set_input_string) },
                    { "yaml_parser_parse", offsetof(struct library, parse) },
                    { "yaml_event_delete", offsetof(struct library, free_event) },
                    { "yaml_parser_delete", offsetof(struct library, free_parser) } };

    l->handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!l->handle)
        return err_set(err, "%s is needed to read it (Debian: libyaml-0-2)", LIBRARY);
    for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
        void *symbol = dlsym(l->handle, symbols[i].name);

        if (!symbol)
            return err_set(err, "%s has no %s", LIBRARY, symbols[i].name);
        memcpy((char *)l + symbols[i].offset, &symbol, sizeof(symbol));
    }
    return 0;
}

/* ---- events ---- */

__attribute__((format(printf, 3, 4))) static int refuse(const struct reading *r, struct err *err,
                                                        const char *fmt, ...)
{
    char text[200];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    return err_set(err, "%s:%zu: %s", r->name, r->event.start_mark.line + 1, text);
}

static int next(struct reading *r, struct err *err)
{
    r->lib.free_event(&r->event);
    if (!r->lib.parse(&r->parser, &r->event))
        return err_set(err, "%s:%zu: %s", r->name, r->parser.problem_mark.line + 1,
                       r->parser.problem ? r->parser.problem : "this is not YAML");
    if (r->event.type == YAML_ALIAS_EVENT)
        return refuse(r, err, "aliases are not accepted");
    return 0;
}

/* Begin with the event of a value, and end with its last one. */
typedef int take_fn(struct reading *r, const char *key, void *arg, struct err *err);

static int each_pair(struct reading *r, const char *what, take_fn *take, void *arg, struct err *err)
{
    char key[64];
    int rc;

    if (r->event.type != YAML_MAPPING_START_EVENT)
        return refuse(r, err, "%s: keys and values are accepted", what);
    while ((rc = next(r, err)) == 0 && r->event.type != YAML_MAPPING_END_EVENT) {
        if (r->event.type != YAML_SCALAR_EVENT || r->event.data.scalar.length >= sizeof(key))
            return refuse(r, err, "%s: a key is expected", what);
        snprintf(key, sizeof(key), "%s", (const char *)r->event.data.scalar.value);
        if (next(r, err) < 0 || take(r, key, arg, err) < 0)
            return -1;
    }
    return rc;
}

static int each_item(struct reading *r, const char *what, take_fn *take, void *arg, struct err *err)
{
    int rc;

    if (r->event.type != YAML_SEQUENCE_START_EVENT)
        return refuse(r, err, "%s: a list is accepted", what);
    while ((rc = next(r, err)) == 0 && r->event.type != YAML_SEQUENCE_END_EVENT)
        if (take(r, what, arg, err) < 0)
            return -1;
    return rc;
}

static int skip(struct reading *r, struct err *err)
{
    unsigned depth = 0;

    for (;;) {
        bool opens = r->event.type == YAML_MAPPING_START_EVENT || r->event.type == YAML_SEQUENCE_START_EVENT,
             closes = r->event.type == YAML_MAPPING_END_EVENT || r->event.type == YAML_SEQUENCE_END_EVENT;

        if (opens && depth == DEPTH_MAX)
            return refuse(r, err, "at most %u levels are accepted", DEPTH_MAX);
        depth += opens ? 1 : 0;
        depth -= closes ? 1 : 0;
        if (!depth)
            return 0;
        if (next(r, err) < 0)
            return -1;
    }
}

static int take_text(const struct reading *r, const char *key, char **text, struct err *err)
{
    if (r->event.type != YAML_SCALAR_EVENT)
        return refuse(r, err, "%s: a name or a list such as node[1-16] is accepted", key);
    if (*text)
        return refuse(r, err, "%s is given twice", key);
    *text = strdup((const char *)r->event.data.scalar.value);
    return *text ? 0 : err_set(err, "%s: out of memory", r->name);
}

static int take_flag(const struct reading *r, const char *key, bool *flag, struct err *err)
{
    const char *text =
        r->event.type == YAML_SCALAR_EVENT ? (const char *)r->event.data.scalar.value : "a list";

    *flag = !strcasecmp(text, "true") || !strcasecmp(text, "yes") || !strcasecmp(text, "on");
    if (*flag || !strcasecmp(text, "false") || !strcasecmp(text, "no") || !strcasecmp(text, "off"))
        return 0;
    return refuse(r, err, "%s: %.40s: true or false is accepted", key, text);
}

/* ---- what there is in the file ---- */

struct unit { /* a switch or a block */
    char *name, *nodes, *children;
};

static int take_unit_key(struct reading *r, const char *key, void *arg, struct err *err)
{
    struct unit *u = arg;

    if (!strcmp(key, "switch") || !strcmp(key, "block"))
        return take_text(r, key, &u->name, err);
    if (!strcmp(key, "nodes"))
        return take_text(r, key, &u->nodes, err);
    if (!strcmp(key, "children"))
        return take_text(r, key, &u->children, err);
    return refuse(r, err, "%s: switch with children or nodes, and block with nodes are accepted", key);
}

static int take_unit(struct reading *r, const char *what, void *arg, struct err *err)
{
    unsigned line = (unsigned)r->event.start_mark.line + 1;
    struct unit u = { .name = NULL };
    int rc = each_pair(r, what, take_unit_key, &u, err);

    (void)arg;
    if (rc == 0 && (!u.name || !*u.name))
        rc = err_set(err, "%s:%u: it has no name", r->name, line);
    if (rc == 0)
        rc = topology_add(r->t, u.name, u.nodes, u.children, NAN, line, err);
    free(u.name);
    free(u.nodes);
    free(u.children);
    return rc;
}

static int take_units(struct reading *r, const char *key, void *arg, struct err *err)
{
    if (!strcmp(key, "switches") || !strcmp(key, "blocks"))
        return each_item(r, key, take_unit, arg, err);
    if (!strcmp(key, "block_sizes"))
        return skip(r, err);
    return refuse(r, err, "%s: switches, blocks and block_sizes are accepted", key);
}

struct one { /* topology */
    char *name;
    bool is_default;
    unsigned kinds;
};

static int take_topology_key(struct reading *r, const char *key, void *arg, struct err *err)
{
    struct one *o = arg;
    bool flat = true;

    if (!strcmp(key, "topology"))
        return take_text(r, key, &o->name, err);
    if (!o->name)
        return refuse(r, err, "%s: topology: with its name comes first", key);
    if (!strcmp(key, "cluster_default"))
        return take_flag(r, key, &o->is_default, err);
    if (o->kinds)
        return refuse(r, err, "%s: one of tree, block and flat is accepted", key);
    if (!strcmp(key, "tree") || !strcmp(key, "block")) {
        o->kinds = *key == 't' ? TREE : BLOCK;
        return each_pair(r, key, take_units, NULL, err);
    }
    if (strcmp(key, "flat") != 0)
        return refuse(r, err, "%s: topology, cluster_default and one of tree, block and flat are accepted",
                      key);
    if (r->event.type == YAML_SCALAR_EVENT ? take_flag(r, key, &flat, err) < 0 : skip(r, err) < 0)
        return -1;
    o->kinds = flat ? FLAT : 0;
    return 0;
}

/* Keep it if it is better than what there was. */
static int finish_one(struct reading *r, const struct one *o, struct err *err)
{
    bool flat = o->kinds == FLAT, named = r->wanted ? !strcmp(o->name, r->wanted) : o->is_default,
         better = r->wanted ? named : !r->best || (!flat && (r->best->flat || named));

    if (!better || r->found)
        return 0;
    if (o->kinds == BLOCK && topology_join(r->t, err) < 0)
        return -1;
    if (topology_finish(r->t, err) < 0)
        return -1;
    r->t->flat = flat;
    topology_free(r->best);
    r->best = r->t;
    r->found = named && (r->wanted || !flat);
    r->t = NULL;
    return 0;
}

static int take_topology(struct reading *r, const char *what, void *arg, struct err *err)
{
    struct one o = { .name = NULL };
    unsigned line = (unsigned)r->event.start_mark.line + 1;
    int rc;

    (void)arg;
    r->n++;
    r->t = topology_new(r->name);
    rc = r->t ? each_pair(r, what, take_topology_key, &o, err) : err_set(err, "%s: out of memory", r->name);
    if (rc == 0 && !o.kinds)
        rc = err_set(err, "%s:%u: topology %.64s is none of tree, block and flat", r->name, line,
                     o.name ? o.name : "without a name");
    if (rc == 0)
        rc = finish_one(r, &o, err);
    topology_free(r->t);
    r->t = NULL;
    free(o.name);
    return rc;
}

static int read_stream(struct reading *r, struct err *err)
{
    /* the stream and the document begin */
    if (next(r, err) < 0 || next(r, err) < 0)
        return -1;
    if (r->event.type == YAML_STREAM_END_EVENT)
        return err_set(err, "%s: it has no topology", r->name);
    if (next(r, err) < 0 || each_item(r, "the file", take_topology, NULL, err) < 0)
        return -1;
    if (!r->n)
        return err_set(err, "%s: it has no topology", r->name);
    return r->best ? 0 : err_set(err, "%s: there is no topology %.64s", r->name, r->wanted);
}

struct topology *topology_yaml_parse(const char *name, const char *text, size_t bytes, const char *wanted,
                                     struct err *err)
{
    struct reading r = { .name = name, .wanted = wanted };
    struct err why;
    int rc = load(&r.lib, &why);

    if (rc < 0) {
        err_set(err, "%s: %s", name, why.text);
    } else if (!r.lib.initialize(&r.parser)) {
        rc = err_set(err, "%s: out of memory", name);
    } else {
        r.lib.set_input_string(&r.parser, (const unsigned char *)text, bytes);
        rc = read_stream(&r, err);
        r.lib.free_event(&r.event);
        r.lib.free_parser(&r.parser);
    }
    if (r.lib.handle)
        dlclose(r.lib.handle);
    if (rc < 0) {
        topology_free(r.best);
        return NULL;
    }
    topology_assume(r.best, &topology_usual);
    return r.best;
}

#else

struct topology *topology_yaml_parse(const char *name, const char *text, size_t bytes, const char *wanted,
                                     struct err *err)
{
    (void)text;
    (void)bytes;
    (void)wanted;
    err_set(err, "%s: SyncGuard was built without libyaml (Debian: libyaml-dev)", name);
    return NULL;
}

#endif

struct topology *topology_yaml_read(const char *path, const char *wanted, struct err *err)
{
    struct topology *t = NULL;
    char *text;
    size_t bytes;

    if (conf_file_read(path, &text, &bytes, err) == 0)
        t = topology_yaml_parse(path, text, bytes, wanted, err);
    free(text);
    return t;
}
