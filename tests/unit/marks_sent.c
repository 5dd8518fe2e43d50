/* What becomes telemetry of what a program marks: by the agent's half alone, and through a page. */
#include "agent/marks.h"

#include <stdlib.h>
#include <unistd.h>

#include "agent/checkpoint.h"
#include "api/syncguard.h"
#include "ring/ring.h"
#include "ring/steps.h"
#include "tests/tap.h"

#define MS UINT64_C(1000000)

static struct marks_figures f;

static struct telemetry_item items[64];
static size_t n_items;

static void keep(const struct telemetry_item *item, void *arg)
{
    (void)arg;
    if (n_items < ARRAY_SIZE(items))
        items[n_items++] = *item;
}

static size_t send(struct marks_sent *s, bool due)
{
    n_items = 0;
    if (marks_news(s, &f, due))
        marks_send(s, &f, 3, 1, 100 * MS, due, keep, NULL);
    return n_items;
}

static void items_of_marks(void)
{
    struct marks_sent sent = { 0 };
    size_t repeated = 0;

    f = (struct marks_figures){ 0 };
    ok(!send(&sent, true), "a rank that marks nothing sends nothing");
    f.steps = 2;
    f.steps_ns = 80 * MS;
    f.phase_ns[MARKS_INPUT] = 30 * MS;
    f.phase_ns[MARKS_OTHER] = 50 * MS;
    f.used = 1u << MARKS_INPUT;
    f.phase = MARKS_INPUT;
    f.since_ns = 90 * MS;
    ok(!send(&sent, false), "steps wait for the second");
    is_int((long long)send(&sent, true), 1, "steps are one item");
    ok(items[0].kind == TELEMETRY_PHASES && items[0].phases.rank == 3 && items[0].phases.app == 1 &&
           items[0].phases.steps == 2 && items[0].phases.duration_ns == 80 * MS &&
           items[0].phases.phase_ns[MARKS_INPUT] == 30 * MS && items[0].phases.phase == MARKS_INPUT &&
           items[0].phases.age_ns == 10 * MS,
       "the item has the steps' time, that of their phases, and how long the rank is in its phase");
    ok(!send(&sent, true), "the same is not sent again a second later");
    f.steps = 3;
    f.steps_ns = 110 * MS;
    f.phase_ns[MARKS_OTHER] = 80 * MS;
    send(&sent, true);
    ok(items[0].phases.steps == 1 && items[0].phases.duration_ns == 30 * MS &&
           items[0].phases.phase_ns[MARKS_INPUT] == 0,
       "the next item has the step since then alone");
    for (int i = 0; i < 10; i++)
        repeated += send(&sent, true);
    is_int((long long)repeated, 2,
           "what does not change is repeated every 5 s, for a controller that has lost it");
    f.steps = 1;
    send(&sent, true);
    ok(items[0].phases.steps == 0 && items[0].phases.duration_ns == 0,
       "steps that became fewer are not believed");

    f.value[MARKS_LOSS] = (struct marks_series){ .given = 5, .newest = 1 };
    ok(!send(&sent, false), "a loss that is finite waits for the second");
    f.value[MARKS_LOSS] = (struct marks_series){ .given = 6, .since = 6, .non_finite = 1, .newest = NAN };
    is_int((long long)send(&sent, false), 1, "a loss that is not finite is sent at once");
    ok(items[0].kind == TELEMETRY_VALUE && items[0].value.value == MARKS_LOSS && items[0].value.since == 6 &&
           isnan(items[0].value.newest),
       "the item has the step of the first loss that is not finite");
    f.value[MARKS_LOSS] = (struct marks_series){ .given = 7, .since = 6, .non_finite = 2, .newest = NAN };
    ok(!send(&sent, false), "further ones wait for the second");
    f.value[MARKS_LOSS] = (struct marks_series){ .given = 8, .non_finite = 2, .newest = 1 };
    is_int((long long)send(&sent, false), 1, "a loss that is finite again is sent at once");
}

/* ---- both ends, through a file ---- */

static uint32_t known_pid;

static bool name(pid_t pid, uint32_t *rank, uint16_t *app, void *arg)
{
    (void)arg;
    *rank = 42;
    *app = 7;
    return (uint32_t)pid == known_pid;
}

static void note(const char *text, void *arg)
{
    (void)arg;
    printf("# note: %s\n", text);
}

static void through_a_page(void)
{
    static const struct checkpoint_sink to = { name, keep, NULL };
    struct checkpoint *c;
    char dir[] = "/dev/shm/syncguard-marks-XXXXXX", command[64];

    if (!mkdtemp(dir))
        return;
    setenv(RING_ENV_DIR, dir, 1);
    c = checkpoint_new(dir, 1, NULL, note, NULL);
    is_int(sg_phase(SG_INPUT), SG_OTHER, "a program's first phase follows none");
    sg_step();
    is_int(sg_phase(SG_FORWARD), SG_INPUT, "the library returns the phase before");
    sg_step();
    sg_loss(1.5);
    checkpoint_scan(c);
    n_items = 0;
    ok(!checkpoint_marks(c, true, &to) && !n_items, "the marks of a process that is no rank yet wait");
    known_pid = (uint32_t)getpid();
    ok(checkpoint_marks(c, true, &to) && n_items == 2 && items[0].kind == TELEMETRY_PHASES &&
           items[0].phases.rank == 42 && items[0].phases.app == 7 && items[0].phases.steps == 1 &&
           items[0].phases.phase_ns[MARKS_OTHER] == 0 &&
           items[0].phases.phase_ns[MARKS_INPUT] + items[0].phases.phase_ns[MARKS_FORWARD] ==
               items[0].phases.duration_ns,
       "a step of a program becomes an item by the rank's names, and its phases add up to it");
    ok(items[1].kind == TELEMETRY_VALUE && items[1].value.newest == 1.5, "its loss becomes an item");
    sg_grad_norm(INFINITY);
    n_items = 0;
    json_decref(checkpoint_report(c, false));
    ok(checkpoint_marks(c, false, &to) && n_items == 1 && items[0].value.value == MARKS_GRAD_NORM &&
           items[0].value.since == 1,
       "a norm of the gradient that is infinite is sent without waiting for the second");
    checkpoint_free(c);
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    if (system(command))
        printf("# %s remains\n", dir);
}

int main(void)
{
    unsetenv(RING_ENV_DIR);
    items_of_marks();
    through_a_page();
    return done_testing();
}
