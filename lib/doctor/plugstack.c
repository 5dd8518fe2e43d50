#include "doctor/plugstack.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LINE_BYTES    4096
#define INCLUDE_DEPTH 8    /* bounds a file that includes itself */
#define FILES_MAX     256u /* bounds a file that includes itself twice */

/* name in the folder that path is in. */
static void beside(const char *path, const char *name, char *buf, size_t size)
{
    const char *slash = strrchr(path, '/');

    snprintf(buf, size, "%.*s/%s", slash ? (int)(slash - path) : 1, slash ? path : ".", name);
}

/* The next line without comment and blanks at its ends; NULL at the end of the file. */
static char *next_line(FILE *f, char *line, int *number)
{
    char *end;

    if (!fgets(line, LINE_BYTES, f))
        return NULL;
    ++*number;
    line[strcspn(line, "#\n")] = '\0';
    line += strspn(line, " \t");
    for (end = line + strlen(line); end > line && strchr(" \t\r", end[-1]); end--)
        end[-1] = '\0';
    return line;
}

/* Cuts the first word off and returns what follows it. */
static char *cut_word(char *line)
{
    char *rest = line + strcspn(line, " \t");

    if (*rest)
        *rest++ = '\0';
    return rest + strspn(rest, " \t");
}

void plugstack_locate(struct plugstack *p, const char *slurm_conf)
{
    static const char key[] = "PlugStackConfig=";
    const char *set = getenv("SLURM_CONF");
    char line[LINE_BYTES], *text;
    FILE *f;
    int number = 0;

    if (set && *set)
        slurm_conf = set;
    beside(slurm_conf, "plugstack.conf", p->path, sizeof(p->path));
    f = fopen(slurm_conf, "re");
    if (!f)
        return;
    while ((text = next_line(f, line, &number)))
        if (!strncasecmp(text, key, strlen(key)))
            snprintf(p->path, sizeof(p->path), "%s", text + strlen(key));
    fclose(f);
}

/* 1: found, 0: not there, -1: cannot be read. */
static int find_in(struct plugstack *p, const char *path, const char *name, int depth, struct err *err)
{
    char line[LINE_BYTES], full[2 * LINE_BYTES], *word;
    int number = 0, found = 0;
    FILE *f = depth < INCLUDE_DEPTH && p->files++ < FILES_MAX ? fopen(path, "re") : NULL;

    if (!f)
        return err_set(err, "%s: %s", path, strerror(errno));
    while (!found && p->files <= FILES_MAX && (word = next_line(f, line, &number))) {
        char *plugin = cut_word(word), *arguments, *slash;

        if (!strcasecmp(word, "include")) {
            glob_t matches = { 0 };
            size_t n;

            if (*plugin == '/')
                snprintf(full, sizeof(full), "%s", plugin);
            else /* relative to the including file */
                beside(path, plugin, full, sizeof(full));
            n = glob(full, 0, NULL, &matches) == 0 ? matches.gl_pathc : 0;
            for (size_t i = 0; i < n && !found; i++)
                found = find_in(p, matches.gl_pathv[i], name, depth + 1, NULL) > 0;
            globfree(&matches);
            continue;
        }
        if (strcasecmp(word, "required") && strcasecmp(word, "optional"))
            continue;
        arguments = cut_word(plugin);
        slash = strrchr(plugin, '/');
        if (strcmp(slash ? slash + 1 : plugin, name) != 0)
            continue;
        found = 1;
        p->required = !strcasecmp(word, "required");
        snprintf(p->where, sizeof(p->where), "%s:%d", path, number);
        snprintf(p->plugin, sizeof(p->plugin), "%s", plugin);
        snprintf(p->arguments, sizeof(p->arguments), "%s", arguments);
    }
    fclose(f);
    return found;
}

int plugstack_find(struct plugstack *p, const char *name, struct err *err)
{
    int rc;

    p->files = 0;
    rc = find_in(p, p->path, name, 0, err);
    if (rc == 0)
        return err_set(err, "%s does not name %s", p->path, name);
    return rc < 0 ? -1 : 0;
}
