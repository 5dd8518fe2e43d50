/* The page that paced ranks share: found by all, refused when it is another's, gates open for the last one.
 */
#include "ring/pacing.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/tap.h"

#define RANKS  4
#define ROUNDS 2000u

static char dir[] = "/tmp/syncguard-pacing.XXXXXX";

static void test_page(void)
{
    struct pacing_page *a, *b;
    char path[64];

    ok(!pacing_look(dir) && errno == ENOENT, "pacing_look() fails before a page is made");
    a = pacing_join(dir);
    b = pacing_join(dir);
    ok(a && b, "two ranks map the page of pacing");
    atomic_store(&a->plan, pacing_plan(2, 3, 12));
    ok(atomic_load(&b->plan) == (12ull << 48 | 3ull << 32 | 2), "two ranks see the same plan");
    ok(pacing_communicator(1) != pacing_communicator(2) && pacing_communicator(0) &&
           !(pacing_communicator(7) & 0xff),
       "a plan may be for one communicator");
    pacing_close(a);
    pacing_close(b);
    pacing_close(NULL);
    snprintf(path, sizeof(path), "%s/" PACING_FILE, dir);
    ok(truncate(path, 100) == 0 && !pacing_join(dir) && errno == EPROTO, "a page of another size is refused");
    unlink(path);
    ok(!pacing_join("/nonexistent") && errno == ENOENT, "pacing_join() fails in a missing directory");
}

static void test_report(struct pacing_page *p)
{
    struct pacing_report put = { .mode = 2, .lever = 1, .ranks = 8, .cores = 2, .wait_ratio = 0.5 }, got;

    ok(!pacing_report_get(p, &got), "a new page has no report");
    put.levers[3].log_mean = -0.25;
    pacing_report_put(p, &put);
    ok(pacing_report_get(p, &got) && got.ranks == 8 && got.wait_ratio == 0.5 &&
           got.levers[3].log_mean == -0.25,
       "a report is read as it was written");
    atomic_store(&p->report_version, 7);
    ok(!pacing_report_get(p, &got), "a report that is being written is not read");
    pacing_report_put(p, &put);
    ok(pacing_report_get(p, &got), "a report that was left incomplete can be written again");
}

static _Atomic unsigned early, inside;

static void *rank(void *arg)
{
    struct pacing_gate *g = arg;

    for (unsigned seq = 0; seq < ROUNDS; seq++) {
        atomic_fetch_add(&inside, 1);
        if (!pacing_gate_arrive(g, seq))
            while (!pacing_gate_sleep(g, seq, 1000000000))
                ;
        early += atomic_load(&inside) < RANKS * (seq + 1);
    }
    return NULL;
}

static void test_gate(struct pacing_page *p)
{
    pthread_t thread[RANKS];
    struct pacing_gate *g = NULL, *other;

    for (int i = 0; i < RANKS; i++)
        g = pacing_gate_join(p, 42);
    ok(g && atomic_load(&g->members) == RANKS, "four ranks get the same gate");
    for (int i = 0; i < RANKS; i++)
        pthread_create(&thread[i], NULL, rank, g);
    for (int i = 0; i < RANKS; i++)
        pthread_join(thread[i], NULL);
    ok(early == 0, "in %u rounds no rank passes the gate before the last one has arrived", ROUNDS);
    ok(atomic_load(&g->sleepers) == 0, "no rank is left asleep at the gate");
    ok(!pacing_gate_arrive(g, ROUNDS) && !pacing_gate_sleep(g, ROUNDS, 1000000),
       "a rank that arrives alone is released when its time is up");
    ok(!pacing_gate_arrive(g, 3) && pacing_gate_sleep(g, 3, 1000000000),
       "a rank does not wait in a collective that the others have left");
    other = pacing_gate_join(p, 43);
    ok(other && other != g && pacing_gate_arrive(other, 9),
       "a rank that is alone in a communicator does not wait");
    for (uint64_t key = 1000; key < 1000 + PACING_GATES; key++)
        other = pacing_gate_join(p, key);
    ok(!other, "pacing_gate_join() returns NULL when no gate is free");
    ok(pacing_gate_join(p, 42) == g, "existing gates are found when no gate is free");
}

int main(void)
{
    struct pacing_page *p;

    if (!mkdtemp(dir))
        return 99;
    test_page();
    p = pacing_join(dir);
    if (!p)
        return 99;
    test_report(p);
    test_gate(p);
    pacing_close(p);
    if (chdir(dir) == 0 && unlink(PACING_FILE) == 0)
        rmdir(dir);
    return done_testing();
}
