#include "sim/cores.h"

#include "tests/tap.h"

#define N 4

static const double at_once[N] = { 0 }, works[N] = { 1, 2, 3, 4 };

static void is_done(const double *done, double a, double b, double c, double d, const char *what)
{
    const double want[N] = { a, b, c, d };
    bool good = true;

    for (int i = 0; i < N; i++)
        good = good && near(done[i], want[i], 1e-9);
    ok(good, "%s", what);
    if (!good)
        printf("# got %g %g %g %g\n", done[0], done[1], done[2], done[3]);
}

int main(void)
{
    static const double late[N] = { 0, 0, 0, 6 }, equal[N] = { 1, 1, 1, 1 }, sleep[N] = { 2, 0, 0, 0 };
    double done[N];

    cores_run(N, 4, CORES_SPIN, at_once, works, NULL, done);
    is_done(done, 1, 2, 3, 4, "with a core each every rank takes its own time");
    cores_run(N, 2, CORES_SPIN, at_once, works, NULL, done);
    is_done(done, 2, 4, 6, 8, "two cores, finished ranks spin: all run at half speed");
    /* By hand: 1 is done at 2; three share two cores until 3.5; then two cores for two. */
    cores_run(N, 2, CORES_GATE, at_once, works, NULL, done);
    is_done(done, 2, 3.5, 4.5, 5.5, "two cores, finished ranks yield: the others get their cores");
    cores_run(N, 4, CORES_GATE, at_once, works, NULL, done);
    is_done(done, 1, 2, 3, 4, "with a core each a gate changes nothing");
    /* The first is done at 2 and sleeps until 4: between, three share two cores. */
    cores_run(N, 2, CORES_SLEEP, at_once, works, sleep, done);
    is_done(done, 2, 3.5, 2 + 2 + (3 - 1 - 4.0 / 3) * 2, 7.3333333333,
            "two cores, one rank sleeps before it spins: the others get its core meanwhile");
    cores_run(N, 3, CORES_GATE, late, equal, NULL, done);
    is_done(done, 1, 1, 1, 7, "ranks that have not started use no core with a gate");
    cores_run(N, 3, CORES_SPIN, late, equal, NULL, done);
    is_done(done, 4.0 / 3, 4.0 / 3, 4.0 / 3, 6 + 4.0 / 3, "ranks that have not started spin without a gate");
    cores_run(1, 1, CORES_GATE, at_once, at_once, NULL, done);
    ok(done[0] == 0, "no work takes no time");
    return done_testing();
}
