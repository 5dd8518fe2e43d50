/* pairwise_run.c - what is measured: the nodes, by sockets and by MPI, and the file that is written of it. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/hostlist.h"
#include "common/now.h"
#include "common/text.h"
#include "common/tool.h"
#include "common/xalloc.h"
#include "doctor/pairwise_private.h"
#include "wire/json.h"

#define ASK_S 5.0 /* sinfo */
#define SHOWN 8   /* names in a sentence */

/* ---- which nodes ---- */

char *pairwise_nodes(const char *text, const char *partition)
{
    char name[256], *list = NULL;
    int used;

    for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
        bool is_default;
        const char *nodes;
        size_t length;

        end = strchrnul(line, '\n');
        if (sscanf(line, "%254s %n", name, &used) != 1 || line + used >= end)
            continue;
        nodes = line + used;
        length = strlen(name);
        is_default = name[length - 1] == '*';
        if (is_default)
            name[length - 1] = '\0';
        if (partition ? strcmp(name, partition) != 0 : !is_default)
            continue;
        free(list);
        list = strndup(nodes, (size_t)(end - nodes));
    }
    return list;
}

static char *choose_nodes(struct err *err)
{
    static const char *const argv[] = { "sinfo", "-h", "-r", "-t", "idle", "-o", "%P %N", NULL };
    const char *job = getenv("SLURM_JOB_NODELIST");
    char *text, *list;

    if (job)
        return xstrdup(job);
    text = tool_run(argv, ASK_S, 1u << 20, err);
    list = text ? pairwise_nodes(text, getenv("SLURM_PARTITION")) : NULL;
    if (text && !list)
        err_set(err, "no node is idle (sinfo -t idle)");
    free(text);
    return list;
}

struct asked {
    const struct slurm_nodes *slurm; /* NULL: not known */
    json_t *names;
};

static int add_name(void *arg, const char *name, struct err *err)
{
    struct asked *a = arg;
    const struct slurm_node *node = a->slurm ? slurm_nodes_find(a->slurm, name) : NULL;

    (void)err;
    if (!node || !node->silent)
        json_array_append_new(a->names, json_of_text(name));
    return 0;
}

/* Nodes on which the program did not start, or cannot be used. */
static void judge_start(const struct pairwise_run *r, const json_t *asked, const char *program,
                        struct findings *f)
{
    json_t *missing = json_array(), *other = json_array(), *name;
    char list[512], next[1400];
    size_t i;

    /* A node with a program of another protocol has one of another version, too: that is said where the setup
     * of each node is. */
    for (i = 0; i < r->step.tasks; i++)
        if (r->task[i].other)
            json_array_append_new(other, json_of_text(r->task[i].hello.node));
    json_array_foreach(asked, i, name) {
        bool seen = false;

        for (size_t k = 0; k < r->n && !seen; k++)
            seen = !strcmp(r->name[k], json_string_value(name));
        for (size_t k = 0; k < r->step.tasks && !seen; k++)
            seen = r->task[k].other && !strcmp(r->task[k].hello.node, json_string_value(name));
        if (!seen)
            json_array_append(missing, name);
    }
    if (json_array_size(other)) {
        snprintf(next, sizeof(next), FINDINGS_NEXT_VERSION, json_string_value(json_array_get(other, 0)));
        findings_add(f, FINDING_UNKNOWN, "measured", json_incref(other), next,
                     "%zu %s another version of syncguard-measure, so %s not measured: %s",
                     json_array_size(other), json_array_size(other) == 1 ? "node has" : "nodes have",
                     json_array_size(other) == 1 ? "it was" : "they were",
                     json_show_list(other, SHOWN, list, sizeof(list)));
    }
    if (json_array_size(missing)) {
        const char *first = json_string_value(json_array_get(missing, 0));

        snprintf(next, sizeof(next), "srun -N1 -w %.200s ls -l %.1000s   (install the same version there)",
                 first ? first : "NODE", program);
        findings_add(f, r->n ? FINDING_FAULT : FINDING_UNKNOWN, "measured", json_incref(missing), next,
                     "syncguard-measure did not start on %zu of %zu nodes: %s%s%s", json_array_size(missing),
                     r->step.tasks, json_show_list(missing, SHOWN, list, sizeof(list)),
                     r->step.words[0] ? "; srun: " : "", r->step.words);
    }
    json_decref(other);
    json_decref(missing);
}

/* The file is whole or as it was before: srun may read it at any time. */
static void save_slow(struct slow_links *slow, size_t nodes, const char *path, struct findings *f)
{
    char *next = xasprintf("%s.%ld", path, (long)getpid());
    int fd = open(next, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644), rc = -1;
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;

    slow->measured_s = wall_s();
    slow->nodes = (unsigned)nodes;
    if (out) {
        slow_links_write(slow, out);
        rc = ferror(out) ? -1 : 0;
        rc |= fclose(out);
    } else if (fd >= 0) {
        close(fd);
    }
    if (rc == 0)
        rc = rename(next, path);
    if (rc < 0)
        findings_add(f, FINDING_FAULT, "measured", NULL, NULL, "cannot write %s: %s", path, strerror(errno));
    else
        findings_add(f, FINDING_NOTE, "measured", NULL, NULL, "%zu slow %s written to %s", slow->n,
                     slow->n == 1 ? "link is" : "links are", path);
    if (rc < 0 && fd >= 0)
        unlink(next);
    free(next);
}

static const struct pairwise_limits limits = { .start_s = 12,
                                               .start_gap_s = 4,
                                               .measure_s = 23,
                                               .again_s = 12,
                                               .confirm_s = 25.5,
                                               .last_s = 26.5,
                                               .round_s =
                                                   MEASURE_LIMIT_S + 0.5 /* for what tasks say to arrive */ };

static void measure_nodes(struct pairwise_run *r, const struct topology *t, const char *path,
                          const struct slurm_nodes *slurm, const json_t *asked,
                          const struct pairwise_options *o, struct findings *f)
{
    struct pairwise p = { .path = path, .topology = t };
    struct slow_links slow = { .measured_s = NAN };

    pairwise_run_begin(r, asked, o->program, NULL);
    pairwise_run_gather(r, slurm);
    if (r->n >= SURVEY_NODES_MIN && !r->step.ended) {
        r->survey = survey_new(t, r->name, r->n);
        r->clocks = clocks_new(r->n);
    }
    if (r->survey && r->clocks)
        p.unconfirmed = pairwise_run_measure(r);
    measure_step_end(&r->step);
    judge_start(r, asked, o->program, f);
    if (!r->survey || !r->clocks)
        return;
    p.n = r->n;
    p.name = r->name;
    p.survey = r->survey;
    p.given_up = r->given_up;
    p.gap = r->gap;
    p.n_gaps = r->n_gaps;
    pairwise_judge(&p, f, &slow);
    clocks_judge(r->clocks, r->name, o->clock_limit_s, f);
    if (o->save)
        save_slow(&slow, p.n, o->save, f);
    slow_links_free(&slow);
    if (o->mpi)
        pairwise_mpi(r, o->program, f);
}

void pairwise_check(const struct topology *t, const char *path, const struct slurm_nodes *slurm,
                    const struct pairwise_options *o, struct findings *f)
{
    struct pairwise_run *r = xcalloc(1, sizeof(*r));
    struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
    struct err err = { "" };
    struct asked asked = { .slurm = slurm, .names = json_array() };
    char *nodes;

    r->step.begin_s = now_s();
    r->limits = &limits;
    nodes = choose_nodes(&err);
    if (!nodes || hostlist_each(nodes, SLURM_NODES_MAX, add_name, &asked, &err) < 0) {
        findings_add(f, FINDING_UNKNOWN, "measured", NULL, "sinfo -N", "%s", err.text);
    } else if (json_array_size(asked.names) < SURVEY_NODES_MIN ||
               json_array_size(asked.names) > SURVEY_NODES_MAX) {
        findings_add(
            f, FINDING_UNKNOWN, "measured", NULL, "salloc -N 64 sgctl doctor --cluster --probe",
            "%zu %s idle or allocated here: between %u and %u can be compared", json_array_size(asked.names),
            json_array_size(asked.names) == 1 ? "node is" : "nodes are", SURVEY_NODES_MIN, SURVEY_NODES_MAX);
    } else {
        sigaction(SIGPIPE, &ignore, &before); /* tasks that have gone are seen by what they do not say */
        measure_nodes(r, t, path, slurm, asked.names, o, f);
        sigaction(SIGPIPE, &before, NULL);
    }
    pairwise_run_free(r);
    free(nodes);
    json_decref(asked.names);
    free(r);
}
