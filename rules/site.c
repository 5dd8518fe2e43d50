#include "rules/site.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/config.h"
#include "common/log.h"
#include "common/utf8.h"
#include "common/xalloc.h"
#include "policies/site.h"

#define SYMBOL "syncguard_site_policy"

#define PROJECTED_MAX 1000.0 /* times the step time now, or a part of it: beyond, it is a mistake */

struct site {
    int fd; /* open as long as it is loaded: its name is the loader's, and no other file's */
    void *handle;
    const struct site_policy *policy;
    char reason[160];
    bool complained, doubted;
};

/* ---- loading ---- */

/* Whoever can write to the file or its folder can run any code in the controller. */
static int check_owner(const char *path, const struct stat *st, const char *what, struct err *err)
{
    if (st->st_uid != 0)
        return err_set(err, "%s: %s belongs to uid %u: root's is accepted", path, what, (unsigned)st->st_uid);
    if (st->st_mode & (S_IWGRP | S_IWOTH) && !(S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX))
        return err_set(err, "%s: %s may be written by others than root (mode %04o): 0755 is accepted", path,
                       what, (unsigned)st->st_mode & 07777);
    return 0;
}

static int open_file(const char *path, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    char *folder = xstrdup(path), *slash = strrchr(folder, '/');
    struct stat st, above;
    int rc = -1;

    if (slash)
        slash[slash == folder] = '\0';
    if (fd < 0 || fstat(fd, &st) < 0 || stat(slash ? folder : ".", &above) < 0)
        err_set(err, "%s: %s", path, strerror(errno));
    else if (!S_ISREG(st.st_mode))
        err_set(err, "%s: a plain file is expected", path);
    else if (check_owner(path, &st, "the file", err) == 0)
        rc = check_owner(path, &above, "its folder", err);
    free(folder);
    if (rc == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static int check_policy(const struct site_policy *p, const char *path, struct err *err)
{
    if (p->version != SITE_POLICY_VERSION)
        return err_set(err, "%s: compiled for version %u of the interface; this controller has %u", path,
                       p->version, SITE_POLICY_VERSION);
    if (!p->name || strlen(p->name) > 31 || !value_is_name(p->name) || !p->decide)
        return err_set(
            err, "%s: its policy has no name of at most 31 letters, digits, '_', '-' and '.', or no decide",
            path);
    return 0;
}

struct site *site_open(const char *path, struct err *err)
{
    struct site *s = xcalloc(1, sizeof(*s));
    char name[32];

    s->fd = open_file(path, err);
    if (s->fd < 0)
        goto fail;
    /* What was looked at is what is loaded. */
    snprintf(name, sizeof(name), "/proc/self/fd/%d", s->fd);
    s->handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!s->handle) {
        err_set(err, "%s: %s", path, dlerror());
        goto fail;
    }
    s->policy = dlsym(s->handle, SYMBOL);
    if (!s->policy) {
        err_set(err, "%s: no policy: it does not export %s", path, SYMBOL);
        goto fail;
    }
    if (check_policy(s->policy, path, err) < 0)
        goto fail;
    return s;
fail:
    site_close(s);
    return NULL;
}

void site_close(struct site *s)
{
    if (!s)
        return;
    if (s->handle)
        dlclose(s->handle);
    if (s->fd >= 0)
        close(s->fd);
    free(s);
}

const char *site_name(const struct site *s)
{
    return s ? s->policy->name : "";
}

/* ---- asking ---- */

static double number(const struct site_view *v, const char *name)
{
    const struct figures *f = v->controllers;
    int id = figure_find(name);

    return id >= 0 && (value_is_number(&figure_table[id].type) || figure_is_flag((enum figure_id)id))
               ? f->value[id]
               : NAN;
}

static const char *text(const struct site_view *v, const char *name)
{
    const struct figures *f = v->controllers;
    int id = figure_find(name);

    if (id < 0)
        return NULL;
    if (value_is_text(&figure_table[id].type))
        return f->text[id];
    return figure_table[id].type.kind == VALUE_WORD && !figure_is_flag((enum figure_id)id) &&
                   !isnan(f->value[id])
               ? figure_table[id].type.words[(int)f->value[id]]
               : NULL;
}

/* Its words go to terminals. */
static const char *clean(struct site *s, const struct site_decision *d)
{
    snprintf(s->reason, sizeof(s->reason), "%.*s", (int)sizeof(d->reason), d->reason);
    for (char *c = s->reason; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    return utf8_mend(s->reason);
}

/* What it projects, if that can be. */
static double projected(struct site *s, double ratio)
{
    if (isnan(ratio) || (ratio >= 1 / PROJECTED_MAX && ratio <= PROJECTED_MAX))
        return ratio;
    if (!s->doubted)
        log_warn("the site's policy %s projects %g of the step time: that is left out", s->policy->name,
                 ratio);
    s->doubted = true;
    return NAN;
}

/* -1: the rule's, or none that a rule could have. */
static int action_of(const struct site_decision *d)
{
    int kind = d->action ? action_parse(d->action) : -1;

    return kind >= 0 && !action_by_hand_only((enum action_kind)kind) ? kind : -1;
}

void site_ask(struct site *s, const struct site_question *q, struct advice *out)
{
    const struct figures *f = q->figures;
    struct site_view v = { .version = SITE_POLICY_VERSION,
                           .job = q->job,
                           .policy = q->policy,
                           .now_s = q->now_s,
                           .number = number,
                           .text = text,
                           .node = f->node,
                           .n_nodes = f->n_nodes < FIGURE_NODES_MAX ? f->n_nodes : FIGURE_NODES_MAX,
                           .controllers = f };
    struct site_decision d = { .projected_ratio = NAN };

    s->policy->decide(&v, &d);
    *out = (struct advice){ .module = s->policy->name,
                            .act = d.act,
                            .action = action_of(&d),
                            .reason = clean(s, &d),
                            .projected_ratio = projected(s, d.projected_ratio) };
    if (!d.action || out->action >= 0)
        return;
    out->act = false; /* what it wants nobody knows */
    if (!s->complained)
        log_warn("the site's policy %s wants '%.40s', which is no action of a rule: it is not heard",
                 s->policy->name, d.action);
    s->complained = true;
}
