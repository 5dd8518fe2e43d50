#include "doctor/pairwise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "doctor/pairwise_private.h"
#include "wire/json.h"

#define FOUND_MAX 256u
#define SHOWN     4

json_t *pairwise_names(const char *const *name, uint32_t a, uint32_t b)
{
    return b == TOPOLOGY_NONE ? json_pack("[o]", json_of_text(name[a]))
                              : json_pack("[o, o]", json_of_text(name[a]), json_of_text(name[b]));
}

static struct text rate_text(double bytes_per_s)
{
    struct text t = text_bytes(bytes_per_s);

    if (!isnan(bytes_per_s))
        text_append(t.s, sizeof(t.s), "/s");
    return t;
}

static const char *switch_name(const struct pairwise *p, uint32_t at)
{
    return p->topology && at < p->topology->n_switches ? p->topology->a_switch[at].name : "?";
}

#define LOOK_RATE \
    "srun -N1 -w %.200s sh -c 'grep . /sys/class/net/*/speed'   (what its links negotiated, in Mbit/s)"
#define LOOK_ERROR "srun -N1 -w %.200s ip -s link   (errors and drops; then look at its cable)"

/* ---- nodes and pairs ---- */

static void say_node(const struct pairwise *p, const struct survey_finding *s, struct findings *f)
{
    const char *a = p->name[s->a];
    char next[400];

    if (s->kind == SURVEY_NODE_DELAY) {
        snprintf(next, sizeof(next), LOOK_ERROR, a);
        findings_add(f, FINDING_FAULT, "delay", pairwise_names(p->name, s->a, s->b), next,
                     "round trips with %.200s take %s, %s between other nodes (medians, of its %zu partners)",
                     a, text_about_s(s->value).s, text_about_s(s->usual).s, s->count);
        return;
    }
    snprintf(next, sizeof(next), LOOK_RATE, a);
    if (s->kind == SURVEY_NODE_RATE)
        findings_add(f, FINDING_FAULT, "rate", pairwise_names(p->name, s->a, s->b), next,
                     "%.200s sends and receives %s, other nodes %s (medians, of its %zu partners)", a,
                     rate_text(s->value).s, rate_text(s->usual).s, s->count);
    else
        findings_add(f, FINDING_FAULT, "rate", pairwise_names(p->name, s->a, s->b), next,
                     "%.200s %s %s, but %s %s as others do (%s; medians, of its %zu partners)", a,
                     s->kind == SURVEY_NODE_OUT ? "sends" : "receives", rate_text(s->value).s,
                     s->kind == SURVEY_NODE_OUT ? "receives" : "sends", rate_text(s->other).s,
                     rate_text(s->usual).s, s->count);
}

static void say_pair(const struct pairwise *p, const struct survey_finding *s, struct findings *f)
{
    char next[700];

    snprintf(next, sizeof(next), "srun -N1 -w %.200s tracepath %.200s   (the way that it takes)",
             p->name[s->a], p->name[s->b]);
    if (s->kind == SURVEY_PAIR_DELAY)
        findings_add(
            f, FINDING_FAULT, "delay", pairwise_names(p->name, s->a, s->b), next,
            "round trips between %.200s and %.200s take %s, %s between others as far apart (the best of %zu measurements)",
            p->name[s->a], p->name[s->b], text_about_s(s->value).s, text_about_s(s->usual).s, s->count);
    else
        findings_add(
            f, FINDING_FAULT, "rate", pairwise_names(p->name, s->a, s->b), next,
            "%.200s sends %s to %.200s, which sends %s back; others as far apart %s (the best of %zu measurements)",
            p->name[s->a], rate_text(s->value).s, p->name[s->b], rate_text(s->other).s, rate_text(s->usual).s,
            s->count);
}

/* ---- switches ---- */

static void say_uplink(const struct pairwise *p, const struct survey_finding *s, struct findings *f)
{
    const char *leaf = switch_name(p, s->declared);
    json_t *list = json_array();
    char next[300];

    for (size_t a = 0; a < p->n; a++)
        if (p->survey->leaf[a] == s->declared)
            json_array_append_new(list, json_of_text(p->name[a]));
    snprintf(next, sizeof(next),
             "scontrol show topology %.200s   (then look at that switch's ports and cables)", leaf);
    if (s->kind == SURVEY_UPLINK_DELAY)
        findings_add(
            f, FINDING_FAULT, "delay", list, next,
            "round trips between nodes below %.200s and others take %s, %s elsewhere; among themselves they are as usual "
            "(medians, of %zu pairs)",
            leaf, text_about_s(s->value).s, text_about_s(s->usual).s, s->count);
    else
        findings_add(
            f, FINDING_FAULT, "rate", list, next,
            "between nodes below %.200s and others go %s one way and %s the other, %s elsewhere; among themselves they are "
            "as usual (medians, of %zu pairs)",
            leaf, rate_text(s->value).s, rate_text(s->other).s, rate_text(s->usual).s, s->count);
}

static void say_switch(const struct pairwise *p, const struct survey_finding *s, struct findings *f)
{
    const char *a = p->name[s->a], *is = switch_name(p, s->measured), *declared = switch_name(p, s->declared);
    bool rates = s->other > 0;
    char next[1500];

    snprintf(next, sizeof(next),
             "scontrol reconfigure   (after moving %.200s to %.200s in %.600s, or its cable to %.200s)", a,
             is, p->path, declared);
    findings_add(
        f, FINDING_FAULT, "place", pairwise_names(p->name, s->a, s->b), next,
        "%.200s is declared below %.200s, but is near to the nodes below %.200s: %s %s with those, %s with %.200s's (medians, of "
        "%zu pairs)",
        a, declared, is, rates ? "rates are" : "round trips take",
        rates ? rate_text(s->usual).s : text_about_s(s->usual).s,
        rates ? rate_text(s->value).s : text_about_s(s->value).s, declared, s->count);
}

json_t *pairwise_slower_group(const struct pairwise *p, const struct survey_finding *s)
{
    json_t *list = json_array();

    for (size_t a = 0; a < p->n; a++) {
        double best = 0;

        for (size_t b = 0; b < p->n; b++)
            best = fmax(best, fmax(p->survey->cell[a * p->n + b].bytes_per_s,
                                   p->survey->cell[b * p->n + a].bytes_per_s));
        if (best > 0 && best < sqrt(s->value * s->usual))
            json_array_append_new(list, json_of_text(p->name[a]));
    }
    return list;
}

static void say_finding(const struct pairwise *p, const struct survey_finding *s, struct findings *f)
{
    char next[400], list[300];
    json_t *slow;

    switch (s->kind) {
    case SURVEY_NODE_DELAY:
    case SURVEY_NODE_RATE:
    case SURVEY_NODE_OUT:
    case SURVEY_NODE_IN:
        say_node(p, s, f);
        break;
    case SURVEY_PAIR_DELAY:
    case SURVEY_PAIR_RATE:
        say_pair(p, s, f);
        break;
    case SURVEY_UPLINK_DELAY:
    case SURVEY_UPLINK_RATE:
        say_uplink(p, s, f);
        break;
    case SURVEY_SWITCH:
        say_switch(p, s, f);
        break;
    case SURVEY_MIXED:
        snprintf(next, sizeof(next), LOOK_RATE, p->name[s->a]);
        slow = pairwise_slower_group(p, s);
        findings_add(f, FINDING_FAULT, "rate", json_incref(slow), next,
                     "links of two rates: %zu of %zu nodes reach %s, the others %s: %s", s->count, p->n,
                     rate_text(s->value).s, rate_text(s->usual).s,
                     json_show_list(slow, SHOWN, list, sizeof(list)));
        json_decref(slow);
        break;
    }
}

/* ---- by MPI over by sockets ---- */

/* In bytes per second, of both ways together. */
static double mean_rate(const struct survey *s, size_t a, size_t b)
{
    return 2 / (1 / s->cell[a * s->n + b].bytes_per_s + 1 / s->cell[b * s->n + a].bytes_per_s);
}

struct survey *pairwise_relative(const struct survey *mpi, const char *const *name,
                                 const struct survey *sockets, const uint32_t *of)
{
    struct survey *s = survey_new(NULL, name, mpi->n);

    for (size_t a = 0; s && a < s->n; a++)
        for (size_t b = 0; b < s->n; b++) {
            const struct survey_cell *by_mpi = &mpi->cell[a * s->n + b];
            size_t at = of[a] * sockets->n + of[b];

            if (a != b && by_mpi->times)
                s->cell[a * s->n + b] =
                    (struct survey_cell){ by_mpi->rtt_s / sockets->cell[at].rtt_s,
                                          mean_rate(mpi, a, b) / mean_rate(sockets, of[a], of[b]),
                                          by_mpi->times };
        }
    return s;
}

/* ---- as a file of slow links ---- */

/* What is no name is left out: it came from a task. */
static void add_slow(struct slow_links *to, enum slow_link_kind kind, const char *name, const char *other,
                     double slower, double delay_s)
{
    struct slow_link l = { kind, (char *)name, (char *)other, fmin(fmax(slower, 1), SLOW_LINKS_SLOWER_MAX),
                           fmin(fmax(delay_s, 0), SLOW_LINKS_DELAY_S) };

    slow_links_add(to, &l, NULL);
}

static void take_slow(const struct pairwise *p, const struct survey_finding *s, struct slow_links *to)
{
    bool delay =
        s->kind == SURVEY_NODE_DELAY || s->kind == SURVEY_PAIR_DELAY || s->kind == SURVEY_UPLINK_DELAY;
    double slower = delay ? 1 : s->usual / s->value, delay_s = delay ? s->value - s->usual : 0;
    json_t *group, *name;
    size_t i;

    switch (s->kind) {
    case SURVEY_NODE_DELAY:
    case SURVEY_NODE_RATE:
    case SURVEY_NODE_OUT:
    case SURVEY_NODE_IN:
        add_slow(to, SLOW_NODE, p->name[s->a], NULL, slower, delay_s);
        break;
    case SURVEY_PAIR_DELAY:
    case SURVEY_PAIR_RATE:
        add_slow(to, SLOW_PAIR, p->name[s->a], p->name[s->b], slower, delay_s);
        break;
    case SURVEY_UPLINK_DELAY:
    case SURVEY_UPLINK_RATE:
        add_slow(to, SLOW_SWITCH, switch_name(p, s->declared), NULL, slower, delay_s);
        break;
    case SURVEY_SWITCH:
        add_slow(to, SLOW_NODE, p->name[s->a], switch_name(p, s->measured), 1, 0);
        break;
    case SURVEY_MIXED:
        group = pairwise_slower_group(p, s);
        json_array_foreach(group, i, name)
            add_slow(to, SLOW_NODE, json_string_value(name), NULL, slower, 0);
        json_decref(group);
        break;
    }
}

/* ---- what could not be measured ---- */

static void judge_gaps(const struct pairwise *p, struct findings *f)
{
    json_t *list = json_array();
    char text[600] = "", next[400];
    size_t alone = 0;

    for (size_t i = 0; i < p->n_gaps; i++) {
        const struct pairwise_gap *g = &p->gap[i];

        if (p->given_up[g->a] || p->given_up[g->b])
            continue;
        if (alone++ < SHOWN)
            text_append(text, sizeof(text), "%s%.60s and %.60s (%s)", alone > 1 ? ", " : "", p->name[g->a],
                        p->name[g->b], g->why);
        if (alone == 1)
            snprintf(next, sizeof(next), "srun -N1 -w %.150s ping -c 3 %.150s", p->name[g->a], p->name[g->b]);
        if (alone == 1)
            list = (json_decref(list), pairwise_names(p->name, g->a, g->b));
    }
    if (alone)
        findings_add(f, FINDING_FAULT, "reach", json_incref(list), next,
                     "nothing could be measured between %zu %s: %s%s", alone,
                     alone == 1 ? "pair of nodes" : "pairs of nodes", text, alone > SHOWN ? ", ..." : "");
    json_decref(list);
    for (uint32_t a = 0; a < p->n; a++) {
        const struct pairwise_gap *g = p->gap;

        if (!p->given_up[a])
            continue;
        while (g < p->gap + p->n_gaps && g->a != a && g->b != a)
            g++;
        snprintf(next, sizeof(next),
                 "srun -N1 -w %.200s ip address   (and its firewall: nodes must reach each other's ports)",
                 p->name[a]);
        findings_add(f, FINDING_FAULT, "reach", pairwise_names(p->name, a, TOPOLOGY_NONE), next,
                     "nothing could be measured between %.200s and several others: %s", p->name[a],
                     g < p->gap + p->n_gaps ? g->why : "no answer");
    }
}

static void judge_extent(const struct pairwise *p, size_t faults, struct findings *f)
{
    size_t all = p->n * (p->n - 1) / 2;
    struct survey_summary s;
    struct err err;

    if (survey_summarize(p->survey, &s, &err) < 0) {
        findings_add(f, FINDING_UNKNOWN, "measured", NULL, NULL, "%s", err.text);
        return;
    }
    findings_add(
        f, faults ? FINDING_NOTE : FINDING_OK, "measured", NULL, NULL,
        "%zu of %zu pairs of %zu nodes, by plain TCP: round trips take %s, %s of one connection (medians)%s",
        s.pairs, all, p->n, text_about_s(s.rtt_s).s, rate_text(s.bytes_per_s).s,
        faults ? "" : "; no node and no pair differs");
    if (s.pairs < all)
        findings_add(
            f, FINDING_NOTE, "measured", NULL, NULL,
            "a slow pair among the %zu that were not measured, or a node below another switch, may have been missed",
            all - s.pairs);
    if (p->unconfirmed)
        findings_add(f, FINDING_NOTE, "measured", NULL, "sgctl doctor --cluster --probe   (again)",
                     "%zu %s slow, and could not be measured often enough to say whether by chance",
                     p->unconfirmed, p->unconfirmed == 1 ? "pair was" : "pairs were");
    if (p->topology && !s.tells_switches)
        findings_add(
            f, FINDING_NOTE, "place", NULL, NULL,
            "nodes below one switch are not measurably nearer to each other than to others, or %s is wrong for most of them: "
            "a node below another switch than declared would not be seen",
            p->path);
}

void pairwise_judge(const struct pairwise *p, struct findings *f, struct slow_links *slow)
{
    struct survey_finding *found = xcalloc(FOUND_MAX, sizeof(*found));
    size_t n, before = findings_count(f, FINDING_FAULT);
    struct err err;

    judge_gaps(p, f);
    if (survey_judge(p->survey, found, FOUND_MAX, &n, &err) < 0)
        findings_add(f, FINDING_UNKNOWN, "measured", NULL, NULL, "%s", err.text);
    else
        for (size_t i = 0; i < n; i++) {
            say_finding(p, &found[i], f);
            if (slow)
                take_slow(p, &found[i], slow);
        }
    judge_extent(p, findings_count(f, FINDING_FAULT) - before, f);
    free(found);
}
