/* pairwise_mpi.c - the same pairs by MPI, beside what sockets reached between them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/now.h"
#include "common/text.h"
#include "common/tool.h"
#include "common/xalloc.h"
#include "doctor/pairwise_private.h"
#include "wire/json.h"

#define ASK_S     5.0 /* srun --mpi=list */
#define FOUND_MAX 256u
#define SHOWN     8
#define MUCH      3.0
#define LOOK      "srun -N1 -w %.200s sh -c 'ucx_info -d; fi_info -l; ibstat'   (which devices there are for MPI)"

/* ---- what is said ---- */

/* Another device makes MPI several times slower; smaller differences come from the processors. */
static bool suggests_device(const struct survey_finding *s)
{
    bool delay = s->kind == SURVEY_NODE_DELAY || s->kind == SURVEY_PAIR_DELAY;

    return (delay ? s->value / s->usual : s->usual / s->value) >= MUCH;
}

/* Both ways of a pair have one rate, and a delay explains it. */
static bool is_explained(const struct survey_finding *found, size_t i)
{
    for (size_t k = 0; k < i && found[i].kind == SURVEY_PAIR_RATE; k++)
        if ((found[k].a == found[i].a && found[k].b == found[i].b) ||
            (found[k].a == found[i].b && found[k].b == found[i].a))
            return true;
    return false;
}

/* value and usual are ratios: of times to sockets' times, or of rates to sockets' rates. */
static void say_finding(const struct pairwise_by_mpi *p, const struct survey *relative,
                        const struct survey_finding *s, struct findings *f)
{
    const struct pairwise group = { .n = p->n, .name = p->name, .survey = relative };
    char next[400], list[300];
    json_t *slow;

    snprintf(next, sizeof(next), LOOK, p->name[s->a]);
    switch (s->kind) {
    case SURVEY_NODE_DELAY:
        findings_add(
            f, FINDING_FAULT, "mpi", pairwise_names(p->name, s->a, s->b), next,
            "round trips with %.200s take %s as long by MPI as by sockets, between other nodes %s (medians, of its %zu partners): it may "
            "use another device there",
            p->name[s->a], text_times(s->value).s, text_times(s->usual).s, s->count);
        break;
    case SURVEY_NODE_RATE:
    case SURVEY_NODE_OUT:
    case SURVEY_NODE_IN:
        findings_add(
            f, FINDING_FAULT, "mpi", pairwise_names(p->name, s->a, s->b), next,
            "%.200s sends and receives by MPI %s of what it does by sockets, other nodes %s (medians, of its %zu partners): it may use "
            "another device there",
            p->name[s->a], text_percent(s->value).s, text_percent(s->usual).s, s->count);
        break;
    case SURVEY_PAIR_DELAY:
        findings_add(
            f, FINDING_FAULT, "mpi", pairwise_names(p->name, s->a, s->b), next,
            "round trips between %.200s and %.200s take %s as long by MPI as by sockets, between others %s (the best of %zu "
            "measurements): it may use another device between them",
            p->name[s->a], p->name[s->b], text_times(s->value).s, text_times(s->usual).s, s->count);
        break;
    case SURVEY_PAIR_RATE:
        findings_add(
            f, FINDING_FAULT, "mpi", pairwise_names(p->name, s->a, s->b), next,
            "between %.200s and %.200s go by MPI %s of what goes by sockets, between others %s (the best of %zu measurements): it may "
            "use another device between them",
            p->name[s->a], p->name[s->b], text_percent(s->value).s, text_percent(s->usual).s, s->count);
        break;
    case SURVEY_MIXED:
        slow = pairwise_slower_group(&group, s);
        findings_add(f, FINDING_FAULT, "mpi", json_incref(slow), next,
                     "%zu of %zu nodes reach by MPI %s of what they do by sockets, the others %s: %s",
                     s->count, p->n, text_percent(s->value).s, text_percent(s->usual).s,
                     json_show_list(slow, SHOWN, list, sizeof(list)));
        json_decref(slow);
        break;
    case SURVEY_UPLINK_DELAY: /* no switches are declared to this survey */
    case SURVEY_UPLINK_RATE:
    case SURVEY_SWITCH:
        break;
    }
}

void pairwise_judge_mpi(const struct pairwise_by_mpi *p, struct findings *f)
{
    struct survey_finding *found = xcalloc(FOUND_MAX, sizeof(*found));
    struct survey *relative = pairwise_relative(p->survey, p->name, p->sockets, p->of);
    struct survey_summary mpi, sockets;
    size_t n = 0, faults = findings_count(f, FINDING_FAULT), all = p->n * (p->n - 1) / 2;
    struct err err = { "no memory" };

    if (!relative || survey_judge(relative, found, FOUND_MAX, &n, &err) < 0 ||
        survey_summarize(p->survey, &mpi, &err) < 0 || survey_summarize(p->sockets, &sockets, &err) < 0) {
        findings_add(f, FINDING_UNKNOWN, "mpi", NULL, NULL, "%s", err.text);
    } else {
        bool enough = 2 * mpi.pairs >= all;
        char rates[200] = "";

        for (size_t i = 0; i < n; i++)
            if (suggests_device(&found[i]) && !is_explained(found, i))
                say_finding(p, relative, &found[i], f);
        faults = findings_count(f, FINDING_FAULT) - faults;
        if (!isnan(mpi.bytes_per_s))
            snprintf(rates, sizeof(rates), "; %s/s of messages of 1 MiB, by sockets %s/s",
                     text_bytes(mpi.bytes_per_s).s, text_bytes(sockets.bytes_per_s).s);
        findings_add(
            f,
            faults   ? FINDING_NOTE
            : enough ? FINDING_OK
                     : FINDING_UNKNOWN,
            "mpi", NULL, NULL,
            "%zu of %zu pairs by %.60s (srun --mpi=%.30s): round trips take %s, by sockets %s%s (medians)%s",
            mpi.pairs, all, p->library, p->type, text_about_s(mpi.rtt_s).s, text_about_s(sockets.rtt_s).s,
            rates, faults || !enough ? "" : "; no node and no pair has a much slower MPI than others");
        if (mpi.pairs < all)
            findings_add(
                f, FINDING_NOTE, "mpi", NULL, NULL,
                "%zu %s not measured by MPI: there was no time, or something else ran on their processors, of which each rank needs one",
                all - mpi.pairs, all - mpi.pairs == 1 ? "pair was" : "pairs were");
        if (p->unconfirmed)
            findings_add(
                f, FINDING_NOTE, "mpi", NULL, "sgctl doctor --cluster --probe --mpi   (again)",
                "by MPI %zu %s slow, and could not be measured often enough to say whether by chance",
                p->unconfirmed, p->unconfirmed == 1 ? "pair was" : "pairs were");
    }
    survey_free(relative);
    free(found);
}

/* ---- how it is measured ---- */

static const struct pairwise_limits limits = { .start_s = 20,
                                               .start_gap_s = 8,
                                               .measure_s = 27,
                                               .again_s = 14,
                                               .confirm_s = 29,
                                               .last_s = 31,
                                               .round_s = 6 };

const char *pairwise_mpi_type(const char *text)
{
    static const char *const types[] = { "pmix", "pmi2" };

    for (size_t i = 0; i < ARRAY_SIZE(types); i++)
        for (const char *at = strstr(text, types[i]); at; at = strstr(at + 1, types[i]))
            if ((at == text || strchr(" \t\n", at[-1])) && (!at[4] || strchr(" \t\n", at[4])))
                return types[i];
    return NULL;
}

/* As the user has it set, or as the cluster offers.  NULL: neither. */
static const char *choose_type(void)
{
    static const char *const argv[] = { "srun", "--mpi=list", NULL };
    const char *set = getenv("SLURM_MPI_TYPE");
    char *text = set ? NULL : tool_run(argv, ASK_S, 1u << 16, NULL);
    const char *type = set ? set : text ? pairwise_mpi_type(text) : NULL;

    free(text);
    return type;
}

/* Ranks that did not start.  true: all did. */
static bool judge_start(const struct pairwise_run *r, const char *type, struct findings *f)
{
    json_t *list = json_array();
    const char *why = "";
    char text[300], next[400];
    size_t came = 0;

    for (size_t i = 0; i < r->step.tasks; i++) {
        const struct measure_reply *hello = &r->task[i].hello;

        came += hello->node[0] != '\0';
        if (!hello->why[0])
            continue;
        why = hello->why;
        json_array_append_new(list, json_of_text(hello->node));
    }
    if (json_array_size(list)) {
        bool all = json_array_size(list) == came && came == r->step.tasks;

        snprintf(next, sizeof(next),
                 "srun -N1 -w %.200s sh -c 'ldconfig -p | grep libmpi'   (or load MPI's module before)",
                 json_string_value(json_array_get(list, 0)));
        findings_add(f, all ? FINDING_UNKNOWN : FINDING_FAULT, "mpi", json_incref(list), next,
                     "by MPI nothing was measured (srun --mpi=%.30s): %s on %s", type, why,
                     json_show_list(list, SHOWN, text, sizeof(text)));
    } else if (r->n < r->step.tasks) {
        findings_add(
            f, FINDING_UNKNOWN, "mpi", NULL,
            "SLURM_MPI_TYPE=pmi2 sgctl doctor --cluster --probe --mpi   (or another of srun --mpi=list)",
            "by MPI nothing was measured: %zu of %zu ranks did not start under srun --mpi=%.30s within %.0f s%s%s",
            r->step.tasks - r->n, r->step.tasks, type, r->limits->start_s, r->step.words[0] ? "; srun: " : "",
            r->step.words);
    }
    json_decref(list);
    return r->n == r->step.tasks;
}

/* The round in which not all answered was the last one. */
static void judge_gaps(const struct pairwise_run *r, struct findings *f)
{
    char text[600] = "", next[400];

    if (!r->n_gaps)
        return;
    snprintf(
        next, sizeof(next),
        "srun -N2 -w %.150s,%.150s ip -br address   (does MPI choose an interface that only one of them has?)",
        r->name[r->gap->a], r->name[r->gap->b]);
    for (size_t i = 0; i < r->n_gaps && i < SHOWN; i++)
        text_append(text, sizeof(text), "%s%.60s and %.60s", i ? ", " : "", r->name[r->gap[i].a],
                    r->name[r->gap[i].b]);
    findings_add(
        f, 4 * r->n_gaps > r->n ? FINDING_UNKNOWN : FINDING_FAULT, "mpi", NULL, next,
        "by MPI nothing came back within %.0f s between %zu %s of nodes, and so nothing more was measured: %s%s",
        r->limits->round_s, r->n_gaps, r->n_gaps == 1 ? "pair" : "pairs", text,
        r->n_gaps > SHOWN ? ", ..." : "");
}

static void measure_pairs(struct pairwise_run *r, const struct pairwise_run *sockets, const char *type,
                          struct findings *f)
{
    uint32_t *of = xcalloc(r->step.tasks, sizeof(*of));
    struct pairwise_by_mpi p = { .sockets = sockets->survey, .of = of, .type = type };
    bool ready;

    pairwise_run_gather(r, NULL);
    ready = judge_start(r, type, f);
    for (size_t i = 0; i < r->n; i++)
        while (of[i] + 1 < sockets->n && strcmp(sockets->name[of[i]], r->name[i]) != 0)
            of[i]++;
    r->survey = ready ? survey_new(NULL, r->name, r->n) : NULL;
    if (r->survey) {
        r->sockets = sockets->survey;
        r->of = of;
        p.unconfirmed = pairwise_run_measure(r);
    }
    measure_step_end(&r->step);
    if (r->survey) {
        p.n = r->n;
        p.name = r->name;
        p.survey = r->survey;
        p.library = r->task[0].hello.mpi;
        judge_gaps(r, f);
        pairwise_judge_mpi(&p, f);
    }
    free(of);
}

void pairwise_mpi(const struct pairwise_run *sockets, const char *program, struct findings *f)
{
    struct pairwise_run *r = xcalloc(1, sizeof(*r));
    json_t *nodes = json_array();
    const char *type = choose_type();

    for (size_t i = 0; i < sockets->n; i++)
        if (!sockets->given_up[i])
            json_array_append_new(nodes, json_of_text(sockets->name[i]));
    r->step.begin_s = now_s();
    r->limits = &limits;
    if (!type) {
        findings_add(f, FINDING_UNKNOWN, "mpi", NULL, "srun --mpi=list",
                     "srun offers neither pmix nor pmi2, so by MPI nothing was measured");
    } else if (json_array_size(nodes) >= SURVEY_NODES_MIN) {
        pairwise_run_begin(r, nodes, program, type);
        measure_pairs(r, sockets, type, f);
    }
    pairwise_run_free(r);
    json_decref(nodes);
    free(r);
}
