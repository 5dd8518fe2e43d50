#include "history/action_record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "wire/json.h"

void action_record_free(struct action_record *r)
{
    if (!r)
        return;
    free((char *)r->key);
    free((char *)r->job_text);
    free((char *)r->nodes);
    free((char *)r->rule);
    free((char *)r->policy);
    free((char *)r->reason);
    free((char *)r->outcome);
    free((char *)r->figures);
    free(r);
}

bool action_own_comment(const struct action_record *r)
{
    return r->by == r->job.uid;
}

bool action_of_job(const struct action_record *r)
{
    return action_table[r->kind].scope == ACTION_ON_NODES && r->job.job && r->by == ACTION_BY_ITSELF;
}

static void put_figure(json_t *o, const struct figures *f, enum figure_id id)
{
    const struct figure *figure = &figure_table[id];
    char word[64];

    if (value_is_text(&figure->type) ? !f->text[id] : isnan(f->value[id]))
        json_put_json(o, figure->name, NULL);
    else if (value_is_number(&figure->type))
        json_put_real(o, figure->name, f->value[id]);
    else
        json_put_string(o, figure->name, figure_write(f, id, word, sizeof(word)));
}

char *action_figures_text(const struct action *a)
{
    json_t *o = a->figures ? json_object() : NULL;
    char *text;

    for (int i = 0; o && i < FIGURES; i++)
        put_figure(o, a->figures, (enum figure_id)i);
    if (o)
        json_put_text(o, "next", a->next ? a->next : "");
    text = json_dumps(o, JSON_COMPACT);
    json_decref(o);
    return text;
}

json_t *action_figures(const struct action_record *r)
{
    json_t *o = r->figures ? json_loads(r->figures, 0, NULL) : NULL;

    if (!o)
        return json_object();
    json_object_del(o, "next");
    return o;
}

char *action_next(const struct action_record *r, char *buf, size_t size)
{
    json_t *o = r->figures ? json_loads(r->figures, 0, NULL) : NULL;

    json_get_text(o, "next", buf, size);
    json_decref(o);
    return buf;
}

json_t *action_object(const struct action_record *r)
{
    static const char *const states[] = { "pending", "done", "failed" };
    json_t *o =
        json_pack("{s:I,s:s,s:s,s:s,s:I,s:f}", "id", (json_int_t)r->id, "action", action_name(r->kind), "key",
                  r->key, "state", states[r->state], "tries", (json_int_t)r->tries, "asked", r->asked_s);

    json_put_text(o, "job", r->job.job ? r->job_text : "");
    json_put_text(o, "nodes", r->nodes);
    json_put_json(o, "signal", r->signal ? json_string(action_signal_name(r->signal)) : NULL);
    json_put_text(o, "rule", r->rule);
    json_put_text(o, "policy", r->policy);
    json_put_text(o, "reason", r->reason);
    json_put_count(o, "by", r->by == ACTION_BY_ITSELF ? -1 : (int64_t)r->by);
    json_put_real(o, "tried", r->tried_s);
    json_put_real(o, "ended", r->ended_s);
    json_put_text(o, "outcome", r->outcome);
    return o;
}

char *action_phrase(const struct action_record *r, char *buf, size_t size)
{
    snprintf(buf, size, "%s%s%s%s%.200s%s%s", action_name(r->kind), r->signal ? " " : "",
             r->signal ? action_signal_name(r->signal) : "", *r->nodes ? " " : "", r->nodes,
             r->job.job ? " for job " : "", r->job.job ? r->job_text : "");
    return buf;
}
