/* What is known of earlier runs of a job: sgctl's answer, that asking for it is bounded, and which start is
 * held out. */
#include "spank/earlier.h"
#include "spank/args.h"
#include "spank/question.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/tap.h"

static char folder[] = "/tmp/earlier-XXXXXX";

static const char *name_of(const struct pattern *p)
{
    static char name[PATTERN_NAME_SIZE];

    return pattern_name(p, name);
}

static void test_answers(void)
{
    static const struct {
        const char *answer, *want; /* "": no pattern; NULL: it is no answer */
    } cases[] = {
        { "runs 3\npattern pipeline:4x2\ncommunication 0.31\n", "pipeline:4x2" },
        { "pattern groups:4\n", "groups:4" },
        { "pattern groups:4", "groups:4" },
        { "algorithm ring\nsome other line of a newer one\n\npattern ring\n", "ring" },
        { "runs 0\n", "" },
        { "", "" },
        { "pattern\n", "" },
        { "pattern \n", NULL },
        { "pattern star\n", NULL },
        { "pattern ring \n", NULL },
        { "patterns ring\n", "" },
        { " pattern ring\n", "" },
        { "pattern ring\npattern groups:4\n", NULL },
        { "pattern ring\npattern star\n", NULL },
        { "sgctl: no controller\n", "" },
        { "pattern ring\nplaced 3\nheld_out 2\nlast placed\n", "ring" },
        { "placed -1\n", NULL },
        { "placed 65537\n", NULL },
        { "held_out 1.5\n", NULL },
        { "held_out two\n", NULL },
        { "placed 1\nplaced 1\n", NULL },
        { "last none\n", NULL },
        { "library MPICH 4.0.2\nstep 0.01\nallreduce 8 1 1e-3 2e-3 0\nallreduce 2048 2.5 1e-3 1e-3 0.1\nalgorithm_placed 1\n",
          "" },
        { "library \n", NULL },
        { "library MPICH\nlibrary MPICH\n", NULL },
        { "step 0\n", NULL },
        { "step 1e10\n", NULL },
        { "allreduce 8 1 1e-3 2e-3\n", NULL },
        { "allreduce 8 1 1e-3 2e-3 0 0\n", NULL },
        { "allreduce 8 1 2e-3 1e-3 0\n", NULL },
        { "allreduce 0 1 1e-3 1e-3 0\n", NULL },
        { "allreduce nan 1 1e-3 1e-3 0\n", NULL },
        { "allreduce 8 inf 1e-3 1e-3 0\n", NULL },
        { "allreduce 8 1 1e-3 1e-3 -1\n", NULL },
        { "algorithm_last maybe\n", NULL },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct earlier e = { .pattern = { .kind = PATTERN_HALVING, .bytes = 5 }, .order.placed = 7 };
        bool found = cases[i].want && *cases[i].want;

        ok(earlier_parse(cases[i].answer, &e) == (cases[i].want != NULL), "answer %zu: whether it is one", i);
        ok(e.patterned == found, "answer %zu: whether there is a pattern", i);
        is_str(name_of(&e.pattern), found ? cases[i].want : "halving",
               "answer %zu: it, or nothing has changed", i);
        ok(e.pattern.bytes == 5, "answer %zu: the bytes stay", i);
        ok(cases[i].want || (e.order.placed == 7 && !e.order.held_out && !e.order.held_out_last),
           "answer %zu: what is no answer changes no count", i);
    }
}

static void test_counts(void)
{
    struct earlier e = { .n = 0 };

    ok(earlier_parse("runs 9\nplaced 4\nheld_out 3\nlast held_out\n", &e),
       "an answer with starts that are compared");
    ok(e.order.placed == 4 && e.order.held_out == 3 && e.order.held_out_last,
       "how many were placed, how many held out, and which was the last");
    ok(earlier_parse("placed 65536\nlast placed", &e) && e.order.placed == EARLIER_STARTS_MAX &&
           !e.order.held_out_last,
       "the most of them");
}

static void test_allreduces(void)
{
    struct earlier e = { .n = 0 };
    char many[32 * (ALGORITHM_SIZES + 1) + 1] = "";

    ok(earlier_parse(
           "library Open MPI 4.1.4\nstep 0.25\nallreduce 8 1 0.001 0.002 0\nallreduce 2048 2.5 0.003 0.004 0.1\nalgorithm_placed 2\n"
           "algorithm_held_out 1\nalgorithm_last held_out\n",
           &e),
       "an answer with all-reduces");
    ok(!strcmp(e.library, "Open MPI 4.1.4") && near(e.step_s, 0.25, 1e-9), "the library, and a step's time");
    ok(e.n == 2 && near(e.size[1].bytes, 2048, 1e-9) && near(e.size[1].per_step, 2.5, 1e-9) &&
           near(e.size[1].time_s, 0.003, 1e-9) && near(e.size[1].stay_s, 0.004, 1e-9) &&
           near(e.size[1].time_error, 0.1, 1e-9),
       "the sizes");
    ok(e.algorithm.placed == 2 && e.algorithm.held_out == 1 && e.algorithm.held_out_last && !e.order.placed,
       "their turns are not those of orders");
    for (size_t i = 0; i <= ALGORITHM_SIZES; i++)
        strcat(many, "allreduce 8 1 0.001 0.002 0\n");
    ok(!earlier_parse(many, &e) && e.n == 2, "more sizes than are taken: no answer");
}

/* ---- turns ---- */

static void take_turn(struct earlier_turns *e, uint64_t key, uint32_t every)
{
    e->held_out_last = earlier_holds_out(e, key, every);
    *(e->held_out_last ? &e->held_out : &e->placed) += 1;
}

static void test_turns(void)
{
    struct earlier_turns e = { .placed = 0 };
    uint32_t firsts = 0, rows = 0;

    for (uint32_t i = 0; i < 100; i++)
        ok(!earlier_holds_out(&(struct earlier_turns){ .placed = i }, i, 0), "0: start %u is not held out",
           i);
    for (uint32_t every = 2; every <= 12; every++)
        for (uint64_t key = 0; key < 20; key++) {
            bool even = true;

            e = (struct earlier_turns){ .placed = 0 };
            for (uint32_t round = 1; round <= 50; round++) {
                for (uint32_t i = 0; i < every; i++)
                    take_turn(&e, key, every);
                even = even && e.held_out == round;
            }
            ok(even, "one in %u starts of job %llu: one of each %u", every, (unsigned long long)key, every);
        }
    for (uint64_t key = 0; key < 200; key++)
        firsts += earlier_holds_out(&(struct earlier_turns){ .placed = 0 }, key, 2);
    ok(firsts > 60 && firsts < 140, "the first start is held out of 60 to 140 in 200 jobs\n%u", firsts);
    /* One in 12 was held out until now, one in 2 is from now on; and starts at the same time had both been
     * placed. */
    e = (struct earlier_turns){ .placed = 22, .held_out = 2, .held_out_last = true };
    for (uint32_t i = 0; i < 100; i++) {
        bool before = e.held_out_last;

        take_turn(&e, 5, 2);
        rows += before && e.held_out_last;
    }
    ok(!rows && e.held_out == 52,
       "turns that were missed are taken, but never two in a row\n%u were placed, %u held out", e.placed,
       e.held_out);
    e = (struct earlier_turns){ .placed = 0, .held_out = 8 };
    for (uint32_t i = 0; i < 8; i++)
        take_turn(&e, 5, 2);
    is_int(e.placed, 8, "after too many that were held out, starts are placed");
}

/* A program of this name answers in the controller's stead.  Returns the pattern, "none" or "no answer". */
static const char *ask(const char *answer, double limit_s)
{
    struct earlier e = { .pattern.bytes = 5 };
    char path[64];
    bool found;
    FILE *f;

    snprintf(path, sizeof(path), "%s/sgctl", folder);
    f = fopen(path, "we");
    if (!f)
        return "no file";
    fprintf(f, "#!/bin/sh\n%s\n", answer);
    fclose(f);
    chmod(path, 0700);
    found = earlier_ask("/nonexistent", limit_s, "my job", 8, 4, &e);
    unlink(path);
    return !found ? "no answer" : e.patterned ? name_of(&e.pattern) : "none";
}

static void test_asking(void)
{
    struct earlier e = { .pattern.bytes = 5 };
    char path[64], name[200];

    snprintf(path, sizeof(path), "%s:/usr/bin:/bin", folder);
    setenv("PATH", path, 1);
    is_str(ask("echo pattern groups:4", 60), "groups:4", "sgctl answers");
    is_str(
        ask("test \"$*\" = '--conf /nonexistent --timeout 45000ms earlier --name=my job --ranks=8 --nodes=4' && echo pattern ring",
            60),
        "ring", "it is asked for the job");
    is_str(ask("echo pattern groups:3", 60), "none", "8 ranks cannot be groups of 3");
    is_str(ask("echo pattern ring; exit 1", 60), "no answer", "sgctl fails");
    is_str(ask("echo pattern ring; exec sleep 1000", QUESTION_LIMIT_S), "no answer",
           "sgctl does not end: it is not waited for");
    is_str(ask("yes pattern ring", 60), "no answer", "sgctl prints without an end");
    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    ok(!earlier_ask("/nonexistent", 60, name, 8, 4, &e), "a name that no job has is not asked for");
    setenv("PATH", folder, 1);
    ok(!earlier_ask("/nonexistent", 60, "job", 8, 4, &e), "there is no sgctl");
}

/* plugstack.conf: how long an answer may take. */
static void test_limit(void)
{
    static const struct {
        const char *argument;
        bool taken;
        double want_s;
    } cases[] = { { "answer=2s", true, 2 },
                  { "answer=500ms", true, 0.5 },
                  { "answer=0s", false, QUESTION_LIMIT_S },
                  { "answer=2m", false, QUESTION_LIMIT_S },
                  { "answer=", false, QUESTION_LIMIT_S } };
    struct args *a = calloc(1, sizeof(*a));

    for (size_t i = 0; a && i < ARRAY_SIZE(cases); i++) {
        char argument[32], *argv[] = { argument };

        snprintf(argument, sizeof(argument), "%s", cases[i].argument);
        is_int(!args_parse(a, 1, argv), cases[i].taken, "%s is %s", cases[i].argument,
               cases[i].taken ? "accepted" : "skipped");
        is_near(a->answer_s, cases[i].want_s, 1e-9, "%s: the limit of an answer", cases[i].argument);
    }
    free(a);
}

int main(void)
{
    if (!mkdtemp(folder))
        return skip_all("there is no temporary folder");
    test_answers();
    test_counts();
    test_allreduces();
    test_turns();
    test_asking();
    test_limit();
    rmdir(folder);
    return done_testing();
}
