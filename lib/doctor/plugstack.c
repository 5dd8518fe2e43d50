#include "doctor/plugstack.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/conf.h"

#define LINE_BYTES    4096 /* Slurm takes what follows for another line, too */
#define BLANKS        " \t\n"
#define INCLUDE_DEPTH 8    /* bounds a file that includes itself */
#define FILES_MAX     256u /* bounds a file that includes itself twice */

/* name in the folder that path is in. */
static void beside(const char *path, const char *name, char *buf, size_t size)
{
    const char *slash = strrchr(path, '/');

    snprintf(buf, size, "%.*s/%s", slash ? (int)(slash - path) : 1, slash ? path : ".", name);
}

/* ---- slurm.conf ---- */

/* The last one counts. */
static int take_keys(const struct conf_line *line, void *arg, struct err *err)
{
    struct plugstack *p = arg;

    (void)err;
    for (size_t i = 0; i < line->n; i++) {
        if (!strcasecmp(line->pairs[i].key, "PlugStackConfig"))
            snprintf(p->path, sizeof(p->path), "%s", line->pairs[i].value);
        else if (!strcasecmp(line->pairs[i].key, "PluginDir"))
            snprintf(p->plugin_dir, sizeof(p->plugin_dir), "%s", line->pairs[i].value);
    }
    return 0;
}

void plugstack_locate(struct plugstack *p, const char *slurm_conf)
{
    const char *set = getenv("SLURM_CONF");

    if (set && *set)
        slurm_conf = set;
    beside(slurm_conf, "plugstack.conf", p->path, sizeof(p->path));
    p->plugin_dir[0] = '\0';
    conf_load_slurm(slurm_conf, NULL, 0, take_keys, p, NULL);
}

/* ---- plugstack.conf ---- */

struct search {
    struct plugstack *p;
    const char *name;
    const char *path; /* of the file that is read */
    int number;       /* of its line */
    int depth;
};

static void mark(const struct search *s, struct plugstack_line *line)
{
    snprintf(line->file, sizeof(line->file), "%s", s->path);
    line->number = s->number;
}

static bool ends_with_return(const char *word)
{
    return *word && word[strlen(word) - 1] == '\r';
}

/* A carriage return at the name's end is not a part of it for whoever wrote the line. */
static bool is_named(const char *plugin, const char *name)
{
    const char *slash = strrchr(plugin, '/'), *base = slash ? slash + 1 : plugin;
    size_t length = strlen(name);

    return !strncmp(base, name, length) && (!base[length] || !strcmp(base + length, "\r"));
}

/* The first of the directories, separated by colons, that has the file; else the last of them. */
static void set_plugin(struct plugstack *p, const char *plugin)
{
    const char *dir = p->plugin_dir;

    snprintf(p->plugin, sizeof(p->plugin), "%s", plugin);
    if (*plugin == '/')
        return;
    while (*dir) {
        size_t length = strcspn(dir, ":");

        if (length)
            snprintf(p->plugin, sizeof(p->plugin), "%.*s/%s", (int)length, dir, plugin);
        if (access(p->plugin, F_OK) == 0)
            return;
        dir += length + (dir[length] == ':');
    }
}

static void take_plugin(const struct search *s, const char *keyword, const char *plugin, char **rest)
{
    struct plugstack *p = s->p;
    bool required = !strcmp(keyword, "required"), known = required || !strcmp(keyword, "optional");
    bool returns = ends_with_return(plugin);
    const char *word;
    size_t at = 0;

    if (!is_named(plugin, s->name))
        return;
    if (!known || returns) {
        mark(s, &p->spoiled);
        p->carriage_return = known;
        return;
    }
    if (*p->line.file) {
        if (!*p->again.file)
            mark(s, &p->again);
        return;
    }
    mark(s, &p->line);
    set_plugin(p, plugin);
    p->required = required;
    while (at < sizeof(p->arguments) && (word = strtok_r(NULL, BLANKS, rest))) {
        if (ends_with_return(word)) {
            mark(s, &p->spoiled);
            p->carriage_return = true;
        }
        at += (size_t)snprintf(p->arguments + at, sizeof(p->arguments) - at, "%s%.*s", at ? " " : "",
                               (int)strcspn(word, "\r"), word);
    }
}

static int find_in(struct search s, struct err *err);

static void take_include(const struct search *s, const char *pattern)
{
    char full[2 * PLUGSTACK_PATH_SIZE];
    glob_t matches = { 0 };
    size_t n;

    if (*pattern == '/')
        snprintf(full, sizeof(full), "%s", pattern);
    else /* relative to the including file */
        beside(s->path, pattern, full, sizeof(full));
    n = glob(full, 0, NULL, &matches) == 0 ? matches.gl_pathc : 0;
    if (n == 0 && ends_with_return(pattern)) {
        mark(s, &s->p->spoiled);
        s->p->carriage_return = true;
    }
    for (size_t i = 0; i < n; i++)
        find_in((struct search){ s->p, s->name, matches.gl_pathv[i], 0, s->depth + 1 }, NULL);
    globfree(&matches);
}

/* 0, or -1 when the file cannot be read. */
static int find_in(struct search s, struct err *err)
{
    char line[LINE_BYTES], *keyword, *word, *rest;
    FILE *f = s.depth < INCLUDE_DEPTH && s.p->files++ < FILES_MAX ? fopen(s.path, "re") : NULL;

    if (!f)
        return err_set(err, "%s: %s", s.path, strerror(errno));
    while (s.p->files <= FILES_MAX && fgets(line, sizeof(line), f)) {
        s.number++;
        line[strcspn(line, "#")] = '\0';
        keyword = strtok_r(line, BLANKS, &rest);
        word = keyword ? strtok_r(NULL, BLANKS, &rest) : NULL;
        if (word && !strcmp(keyword, "include"))
            take_include(&s, word);
        else if (word)
            take_plugin(&s, keyword, word, &rest);
    }
    fclose(f);
    return 0;
}

int plugstack_find(struct plugstack *p, const char *name, struct err *err)
{
    p->files = 0;
    p->line.file[0] = p->again.file[0] = p->spoiled.file[0] = '\0';
    p->plugin[0] = p->arguments[0] = '\0';
    p->carriage_return = p->required = false;
    if (find_in((struct search){ p, name, p->path, 0, 0 }, err) < 0)
        return -1;
    if (*p->line.file)
        return 0;
    if (!*p->spoiled.file)
        return err_set(err, "%s does not name %s", p->path, name);
    return err_set(err, "%s:%d: %s", p->spoiled.file, p->spoiled.number,
                   p->carriage_return ? "Slurm takes the carriage return at its end for a part of the name"
                                      : "Slurm accepts 'optional', 'required' and 'include', in lower case");
}
