/* switches - print the switches that a file declares, one per line, in one form for both:
 *
 *   switches FILE        a topology.conf, as we read it
 *   switches --shown FILE   what `scontrol show topology` printed
 *
 * or the nodes that a partition has:
 *
 *   switches --partition FILE NAME   by slurm.conf, as we read it
 *   switches --list NODES            as `scontrol show partition` printed them
 *
 * Names are sorted and expanded, and each is there once.  Exits with 1 and the reason when we refuse it. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hostlist.h"
#include "topology/slurm_conf.h"
#include "topology/topology_conf.h"

struct names {
    char **name;
    size_t n;
};

static int keep(void *arg, const char *name, struct err *err)
{
    struct names *names = arg;

    (void)err;
    names->name = realloc(names->name, (names->n + 1) * sizeof(*names->name));
    names->name[names->n++] = strdup(name);
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void print_names(const char *key, const char *list)
{
    struct names names = { NULL, 0 };
    struct err err;

    if (hostlist_each_written(list, TOPOLOGY_LINKS_MAX, keep, &names, &err) < 0)
        printf(" %s: %s", key, err.text);
    if (names.n)
        qsort(names.name, names.n, sizeof(*names.name), by_name);
    for (size_t i = 0; i < names.n; i++)
        if (!i || strcmp(names.name[i - 1], names.name[i]) != 0)
            printf("%s%s", i ? "," : key, names.name[i]);
    for (size_t i = 0; i < names.n; i++)
        free(names.name[i]);
    free(names.name);
}

/* Slurm shows all nodes below a switch that has switches; the file says only those.  The largest speed says
 * nothing. */
static void print_switch(const char *name, unsigned level, double speed, const char *nodes,
                         const char *switches)
{
    printf("%s level=%u speed=%.0f", name, level, speed == UINT32_MAX ? 0 : speed);
    if (switches && *switches)
        print_names(" switches=", switches);
    else
        print_names(" nodes=", nodes ? nodes : "");
    putchar('\n');
}

/* Cut off what begins with the key, and return what is behind it.  Names may have blanks, quotes and '#'. */
static const char *cut(char *line, const char *key)
{
    char *at = strstr(line, key);

    if (!at)
        return "";
    *at = '\0';
    return at + strlen(key);
}

static int print_shown(const char *path, struct err *err)
{
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t bytes;

    if (!f)
        return err_set(err, "%s: cannot be read", path);
    while (getline(&line, &bytes, f) > 0) {
        const char *switches, *nodes, *speed, *level, *name;

        line[strcspn(line, "\n")] = '\0';
        if (!strstr(line, "SwitchName="))
            continue; /* "No topology information available" */
        switches = cut(line, " Switches=");
        nodes = cut(line, " Nodes=");
        speed = cut(line, " LinkSpeed=");
        level = cut(line, " Level=");
        name = cut(line, "SwitchName=");
        print_switch(name, (unsigned)atoi(level), atof(speed), nodes, switches);
    }
    free(line);
    fclose(f);
    return 0;
}

/* ---- what the reader of topology.conf adds: a finished topology has each node below one switch only ---- */

struct added {
    char *name, *nodes, *switches;
    double speed;
};

static struct added *all;
static size_t n_all;

int __real_topology_add(struct topology *t, const char *name, const char *nodes, const char *switches,
                        double link_speed, unsigned line, struct err *err);
int __wrap_topology_add(struct topology *t, const char *name, const char *nodes, const char *switches,
                        double link_speed, unsigned line, struct err *err);

int __wrap_topology_add(struct topology *t, const char *name, const char *nodes, const char *switches,
                        double link_speed, unsigned line, struct err *err)
{
    all = realloc(all, (n_all + 1) * sizeof(*all));
    all[n_all++] = (struct added){ strdup(name), strdup(nodes ? nodes : ""), strdup(switches ? switches : ""),
                                   link_speed };
    return __real_topology_add(t, name, nodes, switches, link_speed, line, err);
}

static int print_declared(const char *path, struct err *err)
{
    struct topology *t = topology_conf_read(path, NULL, err);

    for (size_t i = 0; i < n_all; i++) {
        uint32_t at = t ? topology_find_switch(t, all[i].name) : TOPOLOGY_NONE;

        if (at != TOPOLOGY_NONE)
            print_switch(all[i].name, t->a_switch[at].height, isnan(all[i].speed) ? 1 : all[i].speed,
                         all[i].nodes, all[i].switches);
        free(all[i].name);
        free(all[i].nodes);
        free(all[i].switches);
    }
    free(all);
    topology_free(t);
    return t ? 0 : -1;
}

static int print_partition(const char *path, const char *name, struct err *err)
{
    struct slurm_partition p;

    if (slurm_conf_read(path, name, &p, err) < 0)
        return -1;
    print_names("", p.nodes ? p.nodes : "ALL");
    putchar('\n');
    slurm_partition_free(&p);
    return 0;
}

int main(int argc, char **argv)
{
    const char *option = argc > 2 ? argv[1] : "";
    struct err err = { "" };
    int rc = 0;

    if (argc == 2) {
        rc = print_declared(argv[1], &err);
    } else if (argc == 3 && !strcmp(option, "--shown")) {
        rc = print_shown(argv[2], &err);
    } else if (argc == 3 && !strcmp(option, "--list")) {
        print_names("", argv[2]);
        putchar('\n');
    } else if (argc == 4 && !strcmp(option, "--partition")) {
        rc = print_partition(argv[2], argv[3], &err);
    } else {
        fputs("Usage: switches FILE | --shown FILE | --list NODES | --partition FILE NAME\n", stderr);
        return 2;
    }
    if (rc < 0)
        fprintf(stderr, "%s\n", err.text);
    return rc < 0;
}
