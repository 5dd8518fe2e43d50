/* Which algorithm a step's MPI library is told to take: what the user has set, what is not known, and the
 * variables of both libraries. */
#include "spank/tuning.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/tap.h"

static char home[] = "/tmp/tuning-XXXXXX";

/* 4 ranks on one switch; the last run did all-reduces of 2 KiB with 1 ms for each of four messages one after
 * another, and of one number with two. */
static const struct algorithm_cost cost[ALGORITHMS] = { { 4e-6, 2e-10 },
                                                        { 8e-6, 1.5e-10 },
                                                        { 12e-6, 1.5e-10 } };

static struct earlier earlier_of(const char *library)
{
    struct earlier e = { .step_s = 0.01,
                         .size = { { 8, 1, 2e-3, 2e-3, 0 }, { 2048, 1, 4e-3, 4e-3, 0 } },
                         .n = 2 };

    snprintf(e.library, sizeof(e.library), "%s", library);
    return e;
}

static void choose(struct tuning *t, const char *library, uint32_t nodes, const char *variable)
{
    char *environment[] = { (char *)"PATH=/bin", (char *)variable, NULL };
    struct earlier e = earlier_of(library);

    tuning_choose(t, &e, 4, nodes, cost, environment);
}

static void test_own(void)
{
    static const char *const own[] = { "OMPI_MCA_coll_tuned_allreduce_algorithm=4",
                                       "OMPI_MCA_coll_tuned_use_dynamic_rules=0",
                                       "OMPI_MCA_coll_tuned_dynamic_rules_filename=/rules",
                                       "OMPI_MCA_coll=^tuned",
                                       "OMPI_MCA_coll_hcoll_enable=1",
                                       "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=auto",
                                       "MPIR_CVAR_BCAST_INTRA_ALGORITHM=binomial",
                                       "MPIR_CVAR_ALLREDUCE_SHORT_MSG_SIZE=1",
                                       "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=/x",
                                       "MPIR_CVAR_DEVICE_COLLECTIVES=none" };
    static const char *const others[] = { "OMPI_MCA_pml=ob1", "OMPI_MCA_btl_tcp_if_include=lo",
                                          "MPIR_CVAR_CH4_NUM_VCIS=2", "MY_ALGORITHM=4",
                                          "XOMPI_MCA_coll=basic" };
    struct tuning t;

    for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
        choose(&t, "MPICH 4.0.2", 4, own[i]);
        ok(t.result == TUNING_OWN && strstr(t.text, " is set") &&
               !strncmp(t.text, own[i], strcspn(own[i], "=")),
           "the user's own: %s", t.text);
    }
    for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
        choose(&t, "MPICH 4.0.2", 4, others[i]);
        ok(t.result == TUNING_FASTER, "none of the user's own: %s: %s", others[i], t.text);
    }
}

static void write_parameters(const char *text)
{
    char path[96];
    FILE *f;

    snprintf(path, sizeof(path), "%s/.openmpi", home);
    mkdir(path, 0700);
    snprintf(path, sizeof(path), "%s/.openmpi/mca-params.conf", home);
    f = fopen(path, "we");
    if (f) {
        fputs(text, f);
        fclose(f);
    }
}

static void test_file(void)
{
    char variable[64], path[96];
    struct tuning t;

    snprintf(variable, sizeof(variable), "HOME=%s", home);
    choose(&t, "Open MPI 5.0.7", 4, variable);
    ok(t.result == TUNING_LEFT, "no file of parameters: %s", t.text);
    write_parameters("# coll_tuned_use_dynamic_rules = 1\nbtl = tcp,self\n");
    choose(&t, "MPICH 4.0.2", 4, variable);
    ok(t.result == TUNING_FASTER, "a file that has none of collectives: %s", t.text);
    write_parameters("btl = tcp,self\n  coll_tuned_use_dynamic_rules = 1\n");
    choose(&t, "MPICH 4.0.2", 4, variable);
    ok(t.result == TUNING_OWN && strstr(t.text, "mca-params.conf"), "a file that has: %s", t.text);
    snprintf(path, sizeof(path), "%s/.openmpi/mca-params.conf", home);
    unlink(path);
    ok(mkfifo(path, 0600) == 0, "a pipe in its place");
    choose(&t, "MPICH 4.0.2", 4, variable);
    ok(t.result == TUNING_FASTER, "is not waited for: %s", t.text);
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
}

static void test_nothing(void)
{
    static const struct {
        const char *library;
        uint32_t nodes;
        const char *why;
    } cases[] = {
        { "", 4, "no earlier run shows" },
        { "MPICH 3.4.1", 4, "what MPICH 3.4.1 chooses by itself is not known" },
        { "MPICH 5.0.0", 4, "is not known" },
        { "MPICH", 4, "is not known" },
        { "Open MPI 4.0.5", 4, "is not known" },
        { "Intel MPI 2021.9", 4, "is not known" },
        { "Open MPI 5.1.0", 4, "is not known" },
        { "MPICH 4.0.2", 2, "with several ranks per node, MPICH 4.0.2 combines them on the node first" },
        { "Open MPI 5.0.7", 2, "with several ranks per node" },
        /* it does recursive doubling for both: they would take as long */
        { "Open MPI 4.1.4", 4, "not those of any network" },
        { "Open MPI 4.1.4", 2, "not those of any network" },
    };
    char *none[] = { NULL };
    struct earlier e = earlier_of("MPICH 4.0.2");
    struct tuning t;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        choose(&t, cases[i].library, cases[i].nodes, "A=b");
        ok(t.result == TUNING_LEFT && strstr(t.text, cases[i].why), "'%s' on %u nodes: left: %s",
           cases[i].library, cases[i].nodes, t.text);
    }
    tuning_choose(&t, NULL, 4, 4, cost, none);
    ok(t.result == TUNING_LEFT && strstr(t.text, "no earlier run"), "no answer: left");
    e.n = 0;
    tuning_choose(&t, &e, 4, 4, cost, none);
    ok(t.result == TUNING_LEFT && strstr(t.text, "no earlier run"), "no sizes: left");
    e = earlier_of("MPICH 4.0.2");
    e.step_s = 10;
    tuning_choose(&t, &e, 4, 4, cost, none);
    ok(t.result == TUNING_LEFT && strstr(t.text, "less than 1 %"), "a long step: left: %s", t.text);
    e.size[0].time_s = e.size[0].stay_s = 9;
    tuning_choose(&t, &e, 4, 4, cost, none);
    ok(t.result == TUNING_LEFT && strstr(t.text, "not those of any network"), "times of no network: left: %s",
       t.text);
}

static void test_variables(void)
{
    struct tuning_variable v[TUNING_VARIABLES];
    struct earlier e = earlier_of("Open MPI 4.1.4");
    char *none[] = { NULL };
    struct tuning t;

    is_int((long long)tuning_variables(ALGORITHM_MPICH, ALGORITHM_DOUBLING, v), 1, "MPICH: one variable");
    is_str(v[0].name, "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM", "MPICH: its name");
    is_str(v[0].value, "recursive_doubling", "MPICH: recursive doubling");
    tuning_variables(ALGORITHM_MPICH, ALGORITHM_RABENSEIFNER, v);
    is_str(v[0].value, "reduce_scatter_allgather", "MPICH: Rabenseifner's algorithm");
    is_int((long long)tuning_variables(ALGORITHM_OPENMPI, ALGORITHM_DOUBLING, v), 2,
           "Open MPI: two variables");
    is_str(v[0].name, "OMPI_MCA_coll_tuned_use_dynamic_rules", "Open MPI: the first one");
    is_str(v[0].value, "1", "Open MPI: without it the other one does nothing");
    is_str(v[1].name, "OMPI_MCA_coll_tuned_allreduce_algorithm", "Open MPI: the second one");
    is_str(v[1].value, "3", "Open MPI: recursive doubling");
    tuning_variables(ALGORITHM_OPENMPI, ALGORITHM_RABENSEIFNER, v);
    is_str(v[1].value, "6", "Open MPI: Rabenseifner's algorithm");
    ok(!tuning_variables(ALGORITHM_OPENMPI, ALGORITHM_RING, v) &&
           !tuning_variables(ALGORITHM_OPENMPI, ALGORITHMS, v),
       "a ring is never set");
    /* 6 ranks, as in tests/unit/algorithm.c */
    e.size[0] = (struct algorithm_size){ 8, 1, 8e-6, 8e-6, 0 };
    e.size[1] = (struct algorithm_size){ 1e7, 1, 3.5e-3, 3.5e-3, 0 };
    tuning_choose(
        &t, &e, 6, 6,
        (const struct algorithm_cost[]){ { 8e-6, 4e-10 }, { 12e-6, 3.5e-10 }, { 20e-6, 1.667e-10 } }, none);
    ok(t.result == TUNING_NAMED && t.choice.algorithm == ALGORITHM_RING &&
           strstr(t.text, "is not set because"),
       "but it is named: %s", t.text);
}

int main(void)
{
    if (!mkdtemp(home))
        return skip_all("there is no temporary folder");
    test_own();
    test_file();
    test_nothing();
    test_variables();
    rmdir(home);
    return done_testing();
}
