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
#include "common/utf8.h"
#include "common/xalloc.h"
#include "policies/site.h"

#define SYMBOL "syncguard_site_policy"

/* a projection of a step time this many times longer or shorter is ignored */
#define PROJECTED_MAX 1000.0

struct site {
    int fd; /* stays open while loaded, so that its name in /proc stays that of no other file */
    void *handle;
    const struct site_policy *policy;
    char reason[160];
    bool action_reported, projection_reported;
};

/* ---- loading ---- */

/* Only root may be able to write to the file and its folder: it runs in the controller. */
static int check_owner(const char *path, const struct stat *st, const char *what, struct err *err)
{
    if (st->st_uid != 0)
        return err_set(err, "%s: %s is owned by uid %u: expected root", path, what, (unsigned)st->st_uid);
    if (st->st_mode & (S_IWGRP | S_IWOTH) && !(S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX))
        return err_set(err, "%s: %s is writable by others than root (mode %04o): expected 0755", path, what,
                       (unsigned)st->st_mode & 07777);
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
        err_set(err, "%s: not a regular file", path);
    else if (check_owner(path, &st, "the file", err) == 0)
        rc = check_owner(path, &above, "its folder", err);
    free(folder);
    if (rc == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

struct site *site_open(const char *path, struct err *err)
{
    struct site *s = xcalloc(1, sizeof(*s));
    const struct site_policy *p;
    char name[32];

    s->fd = open_file(path, err);
    if (s->fd < 0)
        goto fail;
    /* Load by descriptor, so that the file is the one that was checked. */
    snprintf(name, sizeof(name), "/proc/self/fd/%d", s->fd);
    s->handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!s->handle) {
        err_set(err, "%s: %s", path, dlerror());
        goto fail;
    }
    s->policy = p = dlsym(s->handle, SYMBOL);
    if (!p)
        err_set(err, "%s: not a policy: it does not export %s", path, SYMBOL);
    else if (p->version != SITE_POLICY_VERSION)
        err_set(err, "%s: compiled for version %u of the interface; this controller has %u", path, p->version,
                SITE_POLICY_VERSION);
    else if (!p->name || strlen(p->name) > 31 || !value_is_name(p->name) || !p->decide)
        err_set(err, "%s: its policy lacks decide, or a name of at most 31 letters, digits, '_', '-' and '.'",
                path);
    else
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

/* ---- advice ---- */

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

/* The policy's reason, without control characters because terminals show it. */
static const char *clean_reason(struct site *s, const struct site_decision *d)
{
    snprintf(s->reason, sizeof(s->reason), "%.*s", (int)sizeof(d->reason), d->reason);
    for (char *c = s->reason; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    return utf8_mend(s->reason);
}

void site_ask(struct site *s, const struct site_question *q, struct advice *out, struct err *ignored)
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
    *out = (struct advice){ .act = d.act,
                            .action = d.action ? action_parse(d.action) : -1,
                            .reason = clean_reason(s, &d),
                            .projected_ratio = d.projected_ratio };
    if (out->action >= 0 && action_table[out->action].by_hand_only)
        out->action = -1;
    if (!(d.projected_ratio >= 1 / PROJECTED_MAX && d.projected_ratio <= PROJECTED_MAX))
        out->projected_ratio = NAN;
    ignored->text[0] = '\0';
    if (d.action && out->action < 0) {
        out->act = false; /* its action is unknown */
        if (!s->action_reported)
            err_set(ignored, "the site's policy %s requests '%.40s', which is not an action of a rule",
                    s->policy->name, d.action);
        s->action_reported = true;
    } else if (!isnan(d.projected_ratio) && isnan(out->projected_ratio) && !s->projection_reported) {
        err_set(ignored, "the site's policy %s projects %g of the step time", s->policy->name,
                d.projected_ratio);
        s->projection_reported = true;
    }
}
