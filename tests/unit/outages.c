/* slurm/outages: which events of Slurm's accounting are failures of nodes, and what a job sees of them. */
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
        { "", 0, "nothing happened" },
        { "node1|2026-11-01T10:00:00|2026-11-01T12:00:00|DOWN*|slurm(64030)|Not responding\n", 1,
          "a node fell silent" },
        { "node1|2026-11-01T10:00:00|Unknown|DOWN|slurm(64030)|Node unexpectedly rebooted\n", 1,
          "and lies still" },
        { "node1|2026-11-01T10:00:00|2026-11-01T10:20:00|DOWN*|slurm(64030)|Not responding\n"
          "node1|2026-11-01T10:20:00|2026-11-01T12:00:00|DOWN|slurm(64030)|Node unexpectedly rebooted\n"
          "node1|2026-11-01T12:00:00|2026-11-02T12:00:00|DRAINED|ann(1000)|memory is replaced\n",
          1, "one crash, in the words of Slurm and of the administrator" },
        { "node1|2026-11-01T10:00:00|2026-11-01T11:00:00|DOWN*|slurm(64030)|Not responding\n"
          "node1|2026-11-03T10:00:00|2026-11-03T11:00:00|DOWN*|slurm(64030)|Not responding\n",
          2, "two crashes" },
        { "node1|2026-11-01T10:00:00|2026-11-01T12:00:00|DRAINED|ann(1000)|maintenance\n", 0, "a drain" },
        { "node1|2026-11-01T10:00:00|2026-11-01T12:00:00|DRAIN|root(0)|maintenance\n"
          "node1|2026-11-01T12:00:00|2026-11-01T13:00:00|DOWN*|slurm(64030)|Not responding\n",
          0, "a drained node that is switched off" },
        { "node1|2026-11-01T10:00:00|2026-11-01T12:00:00|DOWN|ann(1000)|new board\n", 0,
          "set down by an administrator" },
        { "node1|2026-11-01T10:00:00|2026-11-01T12:00:00|DOWN$|slurm(64030)|Not responding\n", 0,
          "in a reservation for maintenance" },
        { "node1|2026-11-01T10:00:00|2026-11-01T12:00:00|DOWN^|slurm(64030)|reboot issued\n", 0,
          "a reboot that was asked for" },
        { "node1|2026-11-01T10:00:00|2026-11-01T12:00:00|DOWN+DRAIN|slurm(64030)|Not responding\n", 0,
          "draining" },
        { "node1|2026-11-01T10:00:00|2026-11-01T12:00:00|DOWN+CLOUD+POWERED_DOWN|slurm(64030)|\n", 0,
          "saving power" },
        { "node1|2026-11-01T10:00:00|2026-11-01T10:00:00|UNK|root(0)|cold-start\n", 0,
          "slurmctld without its state" },
        { "node1|2026-11-01T10:00:00|2026-11-01T10:00:00|UNK|root(0)|cold-start\n"
          "node1|2026-11-01T10:01:00|Unknown|DOWN*|slurm(64030)|Not responding\n",
          1, "a crash after it" },
        { "node9|2026-11-01T10:00:00|2026-11-01T12:00:00|DOWN*|slurm(64030)|Not responding\n", 0,
          "a node of another partition" },
        { "node1|2026-07-01T10:00:00|2026-10-01T12:00:00|DOWN*|slurm(64030)|Not responding\n", 0,
          "a crash before the time that is looked at" },
        { "node1|2026-12-01T10:00:00|Unknown|DOWN*|slurm(64030)|Not responding\n", 0, "one in the future" },
        { "node1|2026-11-01T10:00:00|Unknown|DOWN*||a | in | the reason\n", 1,
          "nobody's, with bars in the reason" },
        { "node1|2026-11-01T10:00:00|Unknown|DOWN*|slurm\nnode1|soon|Unknown|DOWN|slurm|x\n||||\n\n|", 0,
          "lines that are none" },
    };
    struct outages_seen s;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        ok(seen(cases[i].text, "", &s) == cases[i].want, "%s: %.2f", cases[i].what, s.failures);
}

static void span(void)
{
    static const char event[] = "node1|2026-11-11T15:30:00|Unknown|DOWN*|slurm(64030)|Not responding\n";
    struct outages_seen s = { .nodes = 0 };
    struct outages *o;

    seen(event, "", &s);
    ok(s.events == 1 && s.nodes == 8 && s.span_s == 90 * DAY && s.node_s == 720 * DAY,
       "the partition's nodes, over the days that are looked at");
    seen(event, "PurgeEventAfter        = 30 days*\n", &s);
    ok(s.span_s == 30 * DAY, "over those for which events are kept");
    seen(event, "PurgeEventAfter        = 2 months\n", &s);
    ok(s.span_s > 60 * DAY && s.span_s < 62 * DAY, "months too");
    seen(event, "PurgeEventAfter        = NONE\n", &s);
    ok(s.span_s == 90 * DAY, "and all, where none are purged");
    o = outages_new("|2026-11-20T15:30:00|Unknown||slurm|Cluster Registered TRES\n", "", nodes, "slurm",
                    NOW - 90 * DAY, NOW);
    ok(outages_see(o, "main", 1, &s) && s.span_s == DAY && s.failures == 0,
       "a cluster that is new: since it was registered");
    ok(!outages_see(o, "gone", 1, &s) && !outages_see(o, "mai", 1, &s) && !outages_see(o, "", 1, &s),
       "of a partition that is none nothing is known");
    outages_free(o);
    o = outages_new(event, "", nodes, "slurm", NOW - 90 * DAY, NOW);
    ok(outages_see(o, "main", 1, &s) && s.span_s == 10 * DAY,
       "without a registration: since the first event");
    outages_free(o);
    o = outages_new("", "", nodes, "slurm", NOW - 90 * DAY, NOW);
    ok(!outages_known(o) && !outages_see(o, "main", 1, &s), "without any event nothing is known");
    outages_free(o);
    outages_free(NULL);
}

/* The power went, and all of 100 nodes with it; later one crashed. */
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
           "on %.0f of 100 nodes: %.3f failures of nodes", cases[i].nodes, s.failures);
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
