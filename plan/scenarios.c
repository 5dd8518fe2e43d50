#include "plan/scenarios.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "common/suggest.h"

#define SUFFIX ".conf"

static int is_scenario(const struct dirent *d)
{
    size_t n = strlen(d->d_name), suffix = strlen(SUFFIX);

    return *d->d_name != '.' && n > suffix && !strcmp(d->d_name + n - suffix, SUFFIX);
}

/* List names without their suffix, sorted.  Returns their number, 0 if the directory is missing. */
static int list_names(const char *dir, struct dirent ***entries)
{
    int n = scandir(dir, entries, is_scenario, alphasort);

    for (int i = 0; i < n; i++)
        (*entries)[i]->d_name[strlen((*entries)[i]->d_name) - strlen(SUFFIX)] = '\0';
    return n > 0 ? n : 0;
}

static void free_names(struct dirent **entries, int n)
{
    for (int i = 0; i < n; i++)
        free(entries[i]);
    if (n > 0)
        free(entries);
}

static int refuse_name(const char *dir, const char *name, struct dirent *const *entries, int n,
                       struct err *err)
{
    struct suggestion near = suggest_for(name);
    char meant[128], names[256] = "";
    size_t at = 0;

    for (int i = 0; i < n; i++) {
        suggest_offer(&near, entries[i]->d_name);
        if (!strncmp(entries[i]->d_name, name, strlen(name)) && at < sizeof(names))
            at +=
                (size_t)snprintf(names + at, sizeof(names) - at, "%s%s", at ? ", " : "", entries[i]->d_name);
    }
    if (*names)
        return err_set(err, "ambiguous scenario '%s': %s", name, names);
    return err_set(err, "unknown scenario '%s': neither a file nor in %s%s", name, dir,
                   suggest_text(&near, meant, sizeof(meant)));
}

int scenarios_find(const char *dir, const char *name, char *path, size_t size, struct err *err)
{
    struct dirent **entries = NULL;
    int n = list_names(dir, &entries), found = -1, alike = 0, rc = 0;
    size_t typed = strlen(name), suffix = strlen(SUFFIX);

    if (typed > suffix && !strcmp(name + typed - suffix, SUFFIX))
        typed -= suffix;
    for (int i = 0; i < n && typed; i++) {
        if (strncmp(entries[i]->d_name, name, typed) != 0)
            continue;
        found = i;
        alike++;
        if (!entries[i]->d_name[typed]) { /* sorted: the full name comes first */
            alike = 1;
            break;
        }
    }
    if (alike == 1)
        snprintf(path, size, "%s/%s%s", dir, entries[found]->d_name, SUFFIX);
    else
        rc = refuse_name(dir, name, entries, n, err);
    free_names(entries, n);
    return rc;
}

void scenarios_print(const char *dir, FILE *out)
{
    struct dirent **entries = NULL;
    int n = list_names(dir, &entries);

    for (int i = 0; i < n; i++)
        fprintf(out, "%s\n", entries[i]->d_name);
    free_names(entries, n);
}
