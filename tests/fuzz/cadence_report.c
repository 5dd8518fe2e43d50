/* cadence_report.c - fuzz target: what an agent reports of checkpoints, line by line, while a request is
 * under way. */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "job/cadence.h"
#include "job/jobs.h"
#include "report/report_cadence.h"
#include "wire/link.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The agents' links lead nowhere. */
int link_send(struct link *l, enum link_frame type, const void *data, size_t bytes)
{
    (void)l;
    (void)type;
    (void)data;
    (void)bytes;
    return 0;
}

size_t link_pending_bytes(const struct link *l)
{
    (void)l;
    return 0;
}

static void line(struct job *j, double now_s, const char *text, size_t n, size_t agent)
{
    json_t *o = json_loadb(text, n, 0, NULL);
    struct report_cadence report;
    struct err err;

    cadence_take(j, j->agent[agent], now_s, o);
    json_decref(o);
    cadence_tick(j, now_s);
    cadence_request(j, "fuzz", &err);
    cadence_get(&report, j, now_s);
    o = report_cadence_json(&report);
    if (!json_object_get(o, "requests"))
        abort();
    json_decref(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct config_policy policy = { .hang_timeout_s = 30,
                                    .checkpoint = CONFIG_CHECKPOINT_REQUEST,
                                    .checkpoint_cost_s = 1,
                                    .checkpoint_max_interval_s = 5 };
    struct job_id id = { .uid = 1, .job = 1 };
    struct job *j = job_new(&id, &policy, 0);
    const char *at = (const char *)data, *end = at + size, *next;

    j->nodes_total = 2;
    job_agent_get(j, "a")->link = (struct link *)&id;
    job_agent_get(j, "b")->link = (struct link *)&id;
    for (int i = 0; at < end && i < 200; i++, at = next + 1) {
        next = memchr(at, '\n', (size_t)(end - at));
        next = next ? next : end;
        line(j, 1 + 0.3 * i, at, (size_t)(next - at), (size_t)i % 2);
    }
    job_free(j);
    return 0;
}
