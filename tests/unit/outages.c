/* slurm/outages: which events of Slurm's accounting are failures of nodes, and how many of them a job would
 * have. */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "slurm/outages.h"
#include "tests/tap.h"

#define DAY 86400.0
#define NOW 1795275000.0 /* 2026-11-21T15:30:00 */

static char nodes[4000];
static const char cluster[] = "|2026-01-01T00:00:00|Unknown||slurm(64030)|Cluster Registered TRES\n";

/* Of the partition main, for a job on one node, from the last 90 days; -1: not known. */
static double seen(const char *text, const char *purge, struct outages_seen *s)
{
    char *all;
    struct outages *o;
    bool known;

    if (asprintf(&all, "%s%s", cluster, text) < 0)
        abort();
    o = outages_new(all, purge, nodes, "slurm", NOW - 90 * DAY, NOW);
    known = outages_see(o, "main", 1, s);
    outages_free(o);
    free(all);
    return known ? s->failures : -1;
}

static void make_nodes(void)
{
    size_t at = 0;

    for (int i = 8; i >= 1; i--)
        at += (size_t)snprintf(nodes + at, sizeof(nodes) - at, "main|node%d\n", i);
    at += (size_t)snprintf(nodes + at, sizeof(nodes) - at, "main|node3\nmain2|node9\nodd\n|x1\n\n");
    for (int i = 1; i <= 100; i++)
        at += (size_t)snprintf(nodes + at, sizeof(nodes) - at, "big|n%03d\n", i);
}

static void events(void)
{
    static const struct {
        const char *text;
        double want;
        const char *what;
    } cases[] = {
        { "", 0, "no event" },
        { "node1|2026-11-01T10:00:00|2026-11-01T12:00:00|DOWN*|slurm(64030)|Not responding\n", 1,
          "a node that does not respond" },
        { "node1|2026-11-01T10:00:00|Unknown|DOWN|slurm(64030)|Node unexpectedly rebooted\n", 1,
          "a node that rebooted and is still down" },
        { "node1|2026-11-01T10:00:00|2026-11-01T10:20:00|DOWN*|slurm(64030)|Not responding\n"
          "node1|2026-11-01T10:20:00|2026-11-01T12:00:00|DOWN|slurm(64030)|Node unexpectedly rebooted\n"
          "node1|2026-11-01T12:00:00|2026-11-02T12:00:00|DRAINED|ann(1000)|memory is replaced\n",
          1, "one crash with three events" },
        { "node1|2026-11-01T10:00:00|2026-11-01T11:00:00|DOWN*|slurm(64030)|Not responding\n"
          "node1|2026-11-03T10:00:00|2026-11-03T11:00:00|DOWN*|slurm(64030)|Not responding\n",
          2, "two crashes" },
        { "node1|2026-11-01T10:00:00|2026-11-01T12:00:00|DRAINED|ann(1000)|maintenance\n", 0, "a drain" },
        { "node1|2026-11-01T10:00:00|2026-11-01T12:00:00|DRAIN|root(0)|maintenance\n"
          "node1|2026-11-01T12:00:00|2026-11-01T13:00:00|DOWN*|slurm(64030)|Not responding\n",
          0, "a drained node that is switched off" },
        { "node1|2026-11-01T10:00:00|2026-11-01T12:00:00|DOWN|ann(1000)|new board\n", 0,
          "a node that an administrator set down" },
        { "node1|2026-11-01T10:00:00|2026-11-01T12:00:00|DOWN$|slurm(64030)|Not responding\n", 0,
          "a node in a reservation for maintenance" },
        { "node1|2026-11-01T10:00:00|2026-11-01T12:00:00|DOWN^|slurm(64030)|reboot issued\n", 0,
          "a requested reboot" },
        { "node1|2026-11-01T10:00:00|2026-11-01T12:00:00|DOWN+DRAIN|slurm(64030)|Not responding\n", 0,
          "a draining node" },
        { "node1|2026-11-01T10:00:00|2026-11-01T12:00:00|DOWN+CLOUD+POWERED_DOWN|slurm(64030)|\n", 0,
          "a node that saves power" },
        { "node1|2026-11-01T10:00:00|2026-11-01T10:00:00|UNK|root(0)|cold-start\n", 0,
          "a start of slurmctld without its state" },
        { "node1|2026-11-01T10:00:00|2026-11-01T10:00:00|UNK|root(0)|cold-start\n"
          "node1|2026-11-01T10:01:00|Unknown|DOWN*|slurm(64030)|Not responding\n",
          1, "a crash after a start without state" },
        { "node9|2026-11-01T10:00:00|2026-11-01T12:00:00|DOWN*|slurm(64030)|Not responding\n", 0,
          "a node of another partition" },
        { "node1|2026-07-01T10:00:00|2026-10-01T12:00:00|DOWN*|slurm(64030)|Not responding\n", 0,
          "a crash before the period" },
        { "node1|2026-12-01T10:00:00|Unknown|DOWN*|slurm(64030)|Not responding\n", 0,
          "a crash in the future" },
        { "node1|2026-11-01T10:00:00|Unknown|DOWN*||a | in | the reason\n", 1,
          "an event without user and with bars in the reason" },
        { "node1|2026-11-01T10:00:00|Unknown|DOWN*|slurm\nnode1|soon|Unknown|DOWN|slurm|x\n||||\n\n|", 0,
          "malformed lines" },
    };
    struct outages_seen s;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        ok(seen(cases[i].text, "", &s) == cases[i].want, "%s: the outages are counted\n%.0f of %.0f",
           cases[i].what, s.failures, cases[i].want);
}

static void span(void)
{
    static const char event[] = "node1|2026-11-11T15:30:00|Unknown|DOWN*|slurm(64030)|Not responding\n";
    struct outages_seen s = { .nodes = 0 };
    struct outages *o;

    seen(event, "", &s);
    ok(s.events == 1 && s.nodes == 8 && s.span_s == 90 * DAY && s.node_s == 720 * DAY,
       "an answer has the partition's nodes and the period");
    seen(event, "PurgeEventAfter        = 30 days*\n", &s);
    ok(s.span_s == 30 * DAY, "events that are purged after 30 days cover 30 days");
    seen(event, "PurgeEventAfter        = 2 months\n", &s);
    ok(s.span_s > 60 * DAY && s.span_s < 62 * DAY, "a purge after months is read");
    seen(event, "PurgeEventAfter        = NONE\n", &s);
    ok(s.span_s == 90 * DAY, "without a purge events cover the whole period");
    o = outages_new("|2026-11-20T15:30:00|Unknown||slurm|Cluster Registered TRES\n", "", nodes, "slurm",
                    NOW - 90 * DAY, NOW);
    ok(outages_see(o, "main", 1, &s) && s.span_s == DAY && s.failures == 0,
       "events of a new cluster cover the time since its registration");
    ok(!outages_see(o, "gone", 1, &s) && !outages_see(o, "mai", 1, &s) && !outages_see(o, "", 1, &s),
       "the outages of a partition that does not exist are unknown");
    outages_free(o);
    o = outages_new(event, "", nodes, "slurm", NOW - 90 * DAY, NOW);
    ok(outages_see(o, "main", 1, &s) && s.span_s == 10 * DAY,
       "without a registration events cover the time since the first one");
    outages_free(o);
    o = outages_new("", "", nodes, "slurm", NOW - 90 * DAY, NOW);
    ok(!outages_known(o) && !outages_see(o, "main", 1, &s), "without any event outages are unknown");
    outages_free(o);
    outages_free(NULL);
}

/* All 100 nodes went down at once; later one crashed. */
static void together(void)
{
    static const struct {
        double nodes, want;
    } cases[] = { { 1, 101 }, { 100, 2 }, { 50, 3 }, { 1e9, 2 }, { 0, 101 } };
    char *text = strdup(cluster), *more;
    struct outages_seen s;
    struct outages *o;

    for (int i = 1; i <= 100; i++) {
        if (asprintf(&more,
                     "%sn%03d|2026-11-01T10:%02d:00|2026-11-01T18:00:00|DOWN*|slurm(64030)|Not responding\n",
                     text, i, i % 2) < 0)
            abort();
        free(text);
        text = more;
    }
    if (asprintf(&more, "%sn007|2026-11-09T10:00:00|Unknown|DOWN*|slurm(64030)|Not responding\n", text) < 0)
        abort();
    o = outages_new(more, "", nodes, "slurm", NOW - 90 * DAY, NOW);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        ok(outages_see(o, "big", cases[i].nodes, &s) && fabs(s.failures - cases[i].want) < 1e-9 &&
               s.events == 2,
           "a job on %.0f of 100 nodes: %.3f failures, %.0f expected", cases[i].nodes, s.failures,
           cases[i].want);
    }
    outages_free(o);
    free(text);
    free(more);
}

int main(void)
{
    setenv("TZ", "UTC", 1);
    tzset();
    make_nodes();
    events();
    span();
    together();
    return done_testing();
}
