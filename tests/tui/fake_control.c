/* fake_control.c - what the fake controller decides about its job, and how it answers who wants something
 * done. */
#include <string.h>

#include "tests/tui/fake.h"

static const char policy_text[] =
    "{'name': 'balanced', 'text': 'The default', 'action': 'enforce', 'beyond_enforced': true, 'paused': "
    "false,"
    " 'params': ["
    "  {'key': 'MinSlowdown', 'value': '1.02', 'default': '1.02', 'range': 'a ratio from 1 to 10', 'set': "
    "false},"
    "  {'key': 'Pacing', 'value': 'auto', 'default': 'auto', 'range': 'off or auto', 'set': false},"
    "  {'key': 'PaceMaxDelay', 'value': '5ms', 'default': '20ms', 'range': 'a time from 10 us to 1 s', "
    "'set': true}],"
    " 'rules': ["
    "  {'name': 'slow-node', 'action': 'exclude', 'signal': null, 'phase': 'holding', 'held_s': 18, "
    "'hold_s': 60,"
    "   'cooling_s': null, 'acted': 0},"
    "  {'name': 'page', 'action': 'webhook', 'signal': null, 'phase': 'cooling', 'held_s': 18, 'hold_s': 5,"
    "   'cooling_s': 290, 'acted': 1},"
    "  {'name': 'warn', 'action': 'signal', 'signal': 'USR1', 'phase': 'unknown', 'held_s': null, 'hold_s': "
    "0,"
    "   'cooling_s': null, 'acted': 0}],"
    " 'decisions': ["
    "  {'at': 1790000017, 'state': 'enforced', 'rule': 'page', 'action': 'webhook', 'signal': null, 'nodes': "
    "[],"
    "   'sentence': 'page: synchronisation_ratio (19.6 %) > 5.00 % has held for 5.00 s: call the webhook',"
    "   'outcome': 'done', 'outcome_text': 'answered 204', 'effect': null},"
    "  {'at': 1789999000, 'state': 'enforced', 'rule': 'slow-node', 'action': 'exclude', 'signal': null,"
    "   'nodes': ['node07'], 'sentence': 'slow-node: class (straggler) == straggler has held for 1 min: "
    "exclude node07',"
    "   'outcome': 'done', 'outcome_text': 'requeued without node07',"
    "   'effect': 'excluded node07: 0.83 of the step time, as projected (0.82)'},"
    "  {'at': 1789998000, 'state': 'command', 'rule': null, 'action': null, 'signal': null, 'nodes': [], "
    "'by': 1000,"
    "   'sentence': 'set PaceMaxDelay=5ms', 'outcome': null, 'outcome_text': null, 'effect': null}]}";

static const char pace_text[] =
    "{'levers': 'release,gate', 'nodes': ["
    "  {'node': 'node00', 'mode': 'in force', 'lever': 'release', 'late_holds': 7, 'levers': ["
    "   {'lever': 'release', 'why': 'it helps', 'compared': 40, 'ratio': 0.43, 'low': 0.41, 'high': 0.46},"
    "   {'lever': 'gate', 'why': 'tried; not proven to help', 'compared': 16, 'ratio': 0.998, 'low': "
    "0.93,"
    "    'high': 1.07}]},"
    "  {'node': 'node01', 'mode': 'off', 'lever': null, 'levers': ["
    "   {'lever': 'release', 'why': 'no cause on this node that it could help against', 'compared': 0, 'ratio': null,"
    "    'low': null, 'high': null}]}]}";

static const char checkpoint_text[] =
    "{'mode': 'request', 'interval_s': 742, 'optimal_s': 742, 'reason': "
    "'optimum', 'cost_s': {'value': 21.5, 'low': 20,"
    " 'high': 23}, 'cost_source': 'program', 'goodput_most': 0.962, 'last_s': "
    "400, 'next_due_s': 342, 'lost_work_s': 400,"
    " 'requests': {'asked': 5, 'heard': 5, 'missing': null}}";

/* JSON with ' in place of ", so that it can be read here. */
static json_t *json_of(const char *text)
{
    char buf[4096];
    size_t n = strlen(text);

    if (n >= sizeof(buf))
        return NULL;
    for (size_t i = 0; i <= n; i++)
        buf[i] = text[i] == '\'' ? '"' : text[i];
    return json_loads(buf, 0, NULL);
}

void fake_put_control(json_t *job)
{
    json_object_set_new(job, "policy", json_of(policy_text));
    json_object_set_new(job, "pace", json_of(pace_text));
    json_object_set_new(job, "checkpoint", json_of(checkpoint_text));
}

json_t *fake_act(const json_t *q)
{
    const char *action = json_string_value(json_object_get(q, "action"));

    if (!action)
        return json_pack("{s:s, s:o}", "job", "4711.0", "policy", json_of(policy_text));
    if (!strcmp(action, "exclude") && json_is_true(json_object_get(q, "dry_run")))
        return json_pack("{s:b, s:s}", "dry_run", 1, "text", "exclude node05 for job 4711.0");
    if (!strcmp(action, "exclude"))
        return json_pack("{s:{s:s}}", "action", "state", "pending");
    return json_pack("{s:s}", "error", "no rank of this job asks for checkpoints");
}
