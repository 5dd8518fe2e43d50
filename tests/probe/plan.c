/* plan.c - writes the pages that pacing reads, in place of agent and controller.
 *
 *   plan DIR LEVERS [LEVER [EVERY]]   make DIR's control page, which allows LEVERS ("" for none); with LEVER,
 *                                     also a page of pacing on which that lever is in force in all but one
 *                                     of EVERY (2) epochs
 *   plan DIR                          print what the ranks report, as JSON
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pacing/pacer.h"
#include "ring/control_page.h"
#include "ring/pacing.h"

static uint32_t levers_of(const char *list)
{
    uint32_t levers = 0;

    for (uint32_t i = 0; i < PACER_LEVERS; i++)
        if (strstr(list, pacer_lever_name(1u << i)))
            levers |= 1u << i;
    return levers;
}

static void number(const char *key, double v, const char *end)
{
    if (isfinite(v))
        printf("\"%s\":%.4f%s", key, v, end);
    else
        printf("\"%s\":null%s", key, end);
}

static int show(const char *dir)
{
    struct pacing_page *p = pacing_look(dir);
    struct pacing_report r;
    const char *lever;

    if (!p || !pacing_report_get(p, &r)) {
        puts("{}");
        return 1;
    }
    lever = pacer_lever_name(r.lever);
    printf("{\"mode\":%u,\"lever\":\"%s\",\"collectives\":%" PRIu64 ",\"with\":%" PRIu64
           ",\"without\":%" PRIu64 ",\"late\":%" PRIu64 ",\"ranks\":%u,\"cores\":%u,",
           r.mode, lever ? lever : "", r.collectives, r.with, r.without, r.late, r.ranks, r.cores);
    number("switches_hz", r.switches_hz, ",");
    number("wait_ratio", r.wait_ratio, ",\"levers\":[");
    for (uint32_t i = 0; i < PACING_LEVERS; i++) {
        const struct pacing_lever *l = &r.levers[i];

        printf("%s{\"lever\":\"%s\",\"why\":\"%s\",\"compared\":%u,", i ? "," : "", pacer_lever_name(1u << i),
               pacer_why_text(l->why), l->compared);
        number("ratio", exp(l->log_mean), ",");
        number("low", exp(l->log_low), ",");
        number("high", exp(l->log_high), "}");
    }
    puts("]}");
    return 0;
}

int main(int argc, char **argv)
{
    struct control_page *c;
    struct pacing_page *p;

    if (argc == 2)
        return show(argv[1]);
    c = argc > 2 ? control_page_create(argv[1]) : NULL;
    if (!c)
        return 2;
    c->pace = (struct control_page_pace){ .levers = levers_of(argv[2]),
                                          .max_delay_us = 20000,
                                          .share = 800,
                                          .epoch = PACER_EPOCH_MAX,
                                          .every = HOLDOUT_EVERY_MAX };
    if (argc == 3)
        return 0;
    p = pacing_join(argv[1]);
    if (!p)
        return 2;
    atomic_store(&p->fresh_ns, UINT64_MAX / 2);
    atomic_store(&p->leader, PACING_SLOTS + 1);
    atomic_store(&p->plan, pacing_plan(levers_of(argv[3]), 1, argc > 4 ? (uint32_t)atoi(argv[4]) : 2));
    return 0;
}
