/* panel_policy.c - what is decided and done about the job: its policy, pacing and checkpoints, the rules and
 * why they act or not, what was decided with its outcome, the parameters; and the keys that act. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/xalloc.h"
#include "report/verdict_words.h"
#include "term/padded.h"
#include "term/sheet.h"
#include "tui/look.h"
#include "tui/panel.h"

#define LABEL       13 /* columns of what stands before a fact */
#define NODES_WIDTH 50 /* of those that a decision is about */

static int draw_fact(struct canvas *c, int y, const char *label, enum style style, const char *text)
{
    canvas_put(c, y, 1, LABEL - 1, STYLE_DIM, label);
    return y + canvas_wrap(c, y, LABEL, LABEL, c->width - LABEL - 1, 3, style, text);
}

/* ---- policy ---- */

static int draw_policy(struct canvas *c, int y, const struct report_control *p, const char *unconfirmed)
{
    bool enforce = !strcmp(p->action, "enforce");
    char text[300];

    snprintf(text, sizeof(text), "%s, %s%s", p->name,
             enforce ? "enforce: decisions are carried out" : "dry run: decisions are only recorded",
             p->paused ? "; PAUSED: the rules decide nothing" : "");
    if (*unconfirmed) {
        char why[160];

        snprintf(why, sizeof(why), "%s; nothing acts on the job", unconfirmed);
        y = draw_fact(c, y, "unconfirmed", STYLE_WARN, why);
    }
    return draw_fact(c, y, "policy", p->paused ? STYLE_WARN : STYLE_BOLD, text);
}

/* ---- pacing ---- */

static int draw_lever(struct canvas *c, int y, const struct report_lever *l, int64_t nodes)
{
    char text[300], ratio[80] = ""; /* "the time 0.43x (0.41x to 0.46x)" */

    if (l->compared > 0 && !isnan(l->ratio)) {
        text_append(ratio, sizeof(ratio), "the time %s", text_times(l->ratio).s);
        if (!isnan(l->low) && !isnan(l->high))
            text_append(ratio, sizeof(ratio), " (%s to %s)", text_times(l->low).s, text_times(l->high).s);
    }
    if (l->in_force > 0)
        snprintf(text, sizeof(text), "%.16s in force on %lld of %lld nodes%s%s", l->name,
                 (long long)l->in_force, (long long)nodes, ratio[0] ? ": " : "", ratio);
    else if (l->trial > 0)
        snprintf(text, sizeof(text), "%.16s on trial on %lld of %lld nodes", l->name, (long long)l->trial,
                 (long long)nodes);
    else
        snprintf(text, sizeof(text), "%.16s off: %.128s%s%s", l->name, l->why[0] ? l->why : "-",
                 ratio[0] ? "; " : "", ratio);
    return y + canvas_wrap(c, y, LABEL, LABEL, c->width - LABEL - 1, 2, l->in_force ? STYLE_GOOD : STYLE_TEXT,
                           text);
}

static int draw_pacing(struct canvas *c, int y, const struct report_pace *p)
{
    struct report_lever lever[REPORT_LEVERS_MAX];
    size_t n = report_pace_levers(p, lever);
    int64_t late = 0;
    char text[100];

    if (!p->known)
        return draw_fact(c, y, "pacing", STYLE_DIM, "-");
    if (!p->levers[0])
        return draw_fact(c, y, "pacing", STYLE_TEXT, "off");
    if (!n)
        return draw_fact(c, y, "pacing", STYLE_TEXT, "allowed; no node has reported yet");
    canvas_put(c, y, 1, LABEL - 1, STYLE_DIM, "pacing");
    for (size_t i = 0; i < n; i++)
        y = draw_lever(c, y, &lever[i], (int64_t)p->n);
    for (size_t i = 0; i < p->n; i++)
        late += p->node[i].late_holds > 0 ? p->node[i].late_holds : 0;
    if (late > 0) {
        snprintf(text, sizeof(text), "%lld hold%s ended by PaceMaxDelay before all ranks had arrived",
                 (long long)late, text_plural(late));
        y += canvas_wrap(c, y, LABEL, LABEL, c->width - LABEL - 1, 2, STYLE_TEXT, text);
    }
    return y;
}

/* ---- checkpoints ---- */

static int draw_cadence(struct canvas *c, int y, const struct report_cadence *cadence)
{
    char text[400];

    if (!cadence->known || !strcmp(cadence->mode, "off") || isnan(cadence->interval_s))
        return draw_fact(c, y, "checkpoints", STYLE_TEXT,
                         cadence->known && !strcmp(cadence->mode, "off") ? "left to the program" : "-");
    snprintf(text, sizeof(text), "%s every %s of work (%s), a write costs %s",
             !strcmp(cadence->mode, "request") ? "requested" : "recommended", text_age(cadence->interval_s).s,
             cadence->reason, text_s(cadence->cost_s.value).s);
    if (!isnan(cadence->goodput_most))
        text_append(text, sizeof(text), "; goodput at most %s", text_percent(cadence->goodput_most).s);
    if (cadence->next_due_s > 0)
        text_append(text, sizeof(text), "; next in %s", text_age(cadence->next_due_s).s);
    else if (!isnan(cadence->next_due_s))
        text_append(text, sizeof(text), "; one is due now");
    if (cadence->asked > 0)
        text_append(text, sizeof(text), "; %lld request%s, %lld heard by all ranks",
                    (long long)cadence->asked, text_plural(cadence->asked), (long long)cadence->heard);
    if (cadence->missing[0])
        text_append(text, sizeof(text), "; requests are impossible: %s", cadence->missing);
    return draw_fact(c, y, "checkpoints", STYLE_TEXT, text);
}

/* ---- rules ---- */

static enum style phase_style(const void *row)
{
    const char *phase = ((const struct report_rule *)row)->phase;

    return !strcmp(phase, "due")                                     ? STYLE_BAD
           : !strcmp(phase, "holding") || !strcmp(phase, "withheld") ? STYLE_WARN
                                                                     : STYLE_TEXT;
}

static void draw_does(const struct table_cell *at, const void *row)
{
    const struct report_rule *r = row;
    char text[64];

    snprintf(text, sizeof(text), "%s%s%s", r->action, *r->signal ? " " : "", r->signal);
    table_put(at, STYLE_TEXT, text);
}

static const struct table_column rule_columns[] = {
    { "RULE", 14, 10, 0, TABLE_TEXT, .field = offsetof(struct report_rule, name) },
    { "DOES", 14, 10, 0, TABLE_TEXT, .draw = draw_does },
    { "IS", 8, 0, 0, TABLE_TEXT, offsetof(struct report_rule, phase), .style = phase_style },
    { "TRUE FOR", 8, 0, 0, TABLE_SECONDS, .field = offsetof(struct report_rule, held_s) },
    { "OF", 7, 0, 0, TABLE_SECONDS, .field = offsetof(struct report_rule, hold_s) },
    { "COOLS", 7, 0, 0, TABLE_SECONDS, .field = offsetof(struct report_rule, cooling_s) },
    { "ACTED", 5, 0, 0, TABLE_COUNT, .field = offsetof(struct report_rule, acted) },
};

/* ---- decisions ---- */

/* "dry run: exclude node5"; and what came of it. */
static int draw_decision(struct canvas *c, int y, const struct report_decision *d, double wall_s)
{
    bool command = !strcmp(d->state, "command"), failed = !strcmp(d->outcome, "failed");
    char text[800], nodes[160];

    verdict_names(nodes, sizeof(nodes), NODES_WIDTH, &d->nodes);
    canvas_put_right(c, y, 1, 6, STYLE_DIM, padded_age(wall_s - d->at).s);
    snprintf(text, sizeof(text), "%s: ",
             !strcmp(d->state, "dryrun") ? "dry run"
             : command                   ? "by hand"
                                         : d->state);
    if (command)
        text_append(text, sizeof(text), "%s", d->sentence);
    else
        text_append(text, sizeof(text), "%s%s%s", d->action, *nodes ? " " : "", nodes);
    text_append(text, sizeof(text), "%s%s%s%s", d->outcome[0] ? ": " : "", d->outcome,
                d->outcome_text[0] ? ": " : "", d->outcome_text);
    y = sheet_text(c, y, 9,
                   failed                          ? STYLE_BAD
                   : !strcmp(d->state, "enforced") ? STYLE_BOLD
                                                   : STYLE_TEXT,
                   text);
    if (d->effect[0])
        y = sheet_text(c, y, 11, STYLE_GOOD, d->effect);
    if (!command && d->sentence[0])
        y = sheet_text(c, y, 11, STYLE_DIM, d->sentence);
    return y;
}

/* ---- parameters ---- */

static enum style value_style(const void *row)
{
    return ((const struct report_param *)row)->set ? STYLE_WARN : STYLE_BOLD;
}

static const struct table_column param_columns[] = {
    { "PARAMETER", 21, 4, 0, TABLE_TEXT, .field = offsetof(struct report_param, key) },
    { "VALUE", 12, 12, 0, TABLE_TEXT, offsetof(struct report_param, value), .style = value_style },
    { "DEFAULT", 12, 8, 0, TABLE_TEXT, .field = offsetof(struct report_param, standard) },
    { "ACCEPTED", 20, 60, 0, TABLE_TEXT, .field = offsetof(struct report_param, range) },
};

/* ---- the panel ---- */

static int draw_keys(struct canvas *c, int y, const struct report *v)
{
    const struct {
        const char *key, *does;
    } keys[] = { { "P", v->pace.levers[0] ? "pacing off" : "pacing on" },
                 { "C", "checkpoint now" },
                 { "A", "acknowledge" },
                 { "Z", v->control.paused ? "resume policy" : "pause policy" },
                 { "X", "exclude node" } };
    int x = 1;

    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        x += canvas_put(c, y, x, c->width - x, STYLE_KEY, keys[i].key) + 1;
        x += canvas_put(c, y, x, c->width - x, STYLE_TEXT, keys[i].does) + 2;
    }
    return y + 1;
}

static bool has_content(const struct report *v)
{
    return v->control.known;
}

static int draw(struct canvas *c, const struct ui *ui)
{
    const struct report_control *p = &ui->view->control;
    int y = 0;

    if (!p->known) {
        canvas_put(c, 0, 1, c->width - 2, STYLE_DIM,
                   ui->playback.on
                       ? "a recorded job has no policy; sgctl policy try shows what one would decide"
                       : "the job has no active policy; sgctl audit lists past decisions");
        return 1;
    }
    if (!ui->report)
        y = draw_keys(c, y, ui->view);
    y = draw_policy(c, y, p, ui->view->job.unconfirmed);
    y = draw_pacing(c, y, &ui->view->pace);
    y = draw_cadence(c, y, &ui->view->cadence);
    if (!p->rules.n) {
        y = sheet_text(c, y + 1, 1, STYLE_DIM, "the policy has no rules: it only observes");
    } else {
        y = sheet_heading(c, y, "rules");
        y = sheet_table(c, y, rule_columns, ARRAY_SIZE(rule_columns), p->rules.list, p->rules.n,
                        sizeof(p->rules.list[0]));
    }
    y = sheet_heading(c, y, "decisions, the newest first");
    if (!p->decisions.n)
        y = sheet_text(c, y, 3, STYLE_DIM, "nothing yet");
    for (size_t i = 0; i < p->decisions.n; i++)
        y = draw_decision(c, y, &p->decisions.list[i], ui->wall_s);
    if (!p->params.n)
        return y;
    y = sheet_heading(c, y, "parameters (sgctl policy set JOB Key=Value changes them for this run)");
    return sheet_table(c, y, param_columns, ARRAY_SIZE(param_columns), p->params.list, p->params.n,
                       sizeof(p->params.list[0]));
}

const struct panel_ops panel_policy = { "policy: decisions and actions", draw, has_content };
