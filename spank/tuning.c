#include "spank/tuning.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PARAMETERS_MAX 65536 /* of Open MPI's file of parameters; what is behind is not read */

/* ---- what the user has set ---- */

/* Anything about how collectives are done: which component, which algorithm, which sizes it is for, which
 * file says so. */
static bool is_own(const char *variable)
{
    static const char mpich[] = "MPIR_CVAR_";

    if (!strncmp(variable, "OMPI_MCA_coll", strlen("OMPI_MCA_coll")))
        return true;
    return !strncmp(variable, mpich, sizeof(mpich) - 1) &&
           (strstr(variable, "_ALGORITHM=") || strstr(variable, "ALLREDUCE") || strstr(variable, "COLL"));
}

/* A line of Open MPI's parameters begins with coll. */
static bool file_has_own(const char *home)
{
    char path[4200], *text;
    bool own = false;
    struct stat st;
    ssize_t n;
    int fd;

    if ((size_t)snprintf(path, sizeof(path), "%s/.openmpi/mca-params.conf", home) >= sizeof(path))
        return false;
    fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    text = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? malloc(PARAMETERS_MAX + 1) : NULL;
    n = text ? read(fd, text, PARAMETERS_MAX) : 0;
    if (n > 0)
        text[n] = '\0';
    for (const char *line = n > 0 ? text : ""; *line; line += strcspn(line, "\n"), line += *line == '\n')
        own |= !strncmp(line + strspn(line, " \t"), "coll", 4);
    free(text);
    close(fd);
    return own;
}

/* False with the reason in t. */
static bool is_free(struct tuning *t, char *const *environment)
{
    for (char *const *e = environment; *e; e++) {
        if (is_own(*e)) {
            snprintf(t->text, sizeof(t->text), "%.*s is set", (int)strcspn(*e, "="), *e);
            return false;
        }
        if (!strncmp(*e, "HOME=", 5) && file_has_own(*e + 5)) {
            snprintf(t->text, sizeof(t->text), "~/.openmpi/mca-params.conf has parameters of collectives");
            return false;
        }
    }
    return true;
}

/* ---- the library ---- */

static bool find_library(const char *name, bool one_per_node, struct tuning *t)
{
    static const struct {
        const char *name;
        enum algorithm_library library;
        unsigned major, least, most; /* minor versions whose rules are known */
        bool one_per_node;
    } known[] = {
        { "Open MPI", ALGORITHM_OPENMPI, 4, 1, 1, false },
        { "Open MPI", ALGORITHM_OPENMPI, 5, 0, 0, true }, /* with more, coll/han comes before coll/tuned */
        { "MPICH", ALGORITHM_MPICH, 4, 0, 3, true },
    };
    unsigned major, minor;

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        size_t length = strlen(known[i].name);

        if (strncmp(name, known[i].name, length) != 0 ||
            sscanf(name + length, " %3u.%3u", &major, &minor) != 2 || major != known[i].major ||
            minor < known[i].least || minor > known[i].most)
            continue;
        t->library = known[i].library;
        if (!known[i].one_per_node || one_per_node)
            return true;
        snprintf(t->text, sizeof(t->text), "with several ranks per node, %s combines them on the node first",
                 name);
        return false;
    }
    snprintf(t->text, sizeof(t->text), "what %s chooses by itself is not known", name);
    return false;
}

size_t tuning_variables(enum algorithm_library l, enum algorithm a,
                        struct tuning_variable out[TUNING_VARIABLES])
{
    static const char *const openmpi[ALGORITHMS] = {
        [ALGORITHM_DOUBLING] = "3", [ALGORITHM_RABENSEIFNER] = "6"
    };
    static const char *const mpich[ALGORITHMS] = {
        [ALGORITHM_DOUBLING] = "recursive_doubling", [ALGORITHM_RABENSEIFNER] = "reduce_scatter_allgather"
    };

    if (a >= ALGORITHMS || !algorithm_keeps_order(a))
        return 0;
    if (l == ALGORITHM_MPICH) {
        out[0] = (struct tuning_variable){ "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM", mpich[a] };
        return 1;
    }
    out[0] = (struct tuning_variable){ "OMPI_MCA_coll_tuned_use_dynamic_rules", "1" };
    out[1] = (struct tuning_variable){ "OMPI_MCA_coll_tuned_allreduce_algorithm", openmpi[a] };
    return 2;
}

/* ---- the choice ---- */

static void describe_choice(struct tuning *t, const char *library)
{
    const struct algorithm_choice *c = &t->choice;
    double gain = c->usual_s / c->most_s;
    struct tuning_variable v[TUNING_VARIABLES];
    size_t n = tuning_variables(t->library, c->algorithm, v);

    if (n)
        snprintf(
            t->text, sizeof(t->text),
            "%s (%s=%s), by the model at least %.2f times as fast as what %s chooses for the sizes of the job's last run",
            algorithm_name(c->algorithm), v[n - 1].name, v[n - 1].value, gain, library);
    else
        snprintf(
            t->text, sizeof(t->text),
            "%s would be at least %.2f times as fast as what %s chooses, and is not set because %s does it wrongly for operations that do not commute",
            algorithm_name(c->algorithm), gain, library, library);
}

void tuning_choose(struct tuning *t, const struct earlier *earlier, uint32_t ranks, uint32_t nodes,
                   const struct algorithm_cost *cost, char *const *environment)
{
    static const char *const why_not[] = {
        [ALGORITHM_UNKNOWN] = "what the library chooses, or what that costs, is not known",
        [ALGORITHM_STRANGE] = "the times of the job's last run are not those of any network",
        [ALGORITHM_UNSURE] = "no algorithm is surely faster for what the job's last run did",
        [ALGORITHM_LITTLE] = "another algorithm gains less than 1 % of a step",
    };
    struct algorithm_job job = { .ranks = ranks };
    struct algorithm_choice any;

    *t = (struct tuning){ .result = TUNING_OWN };
    if (!is_free(t, environment))
        return;
    t->result = TUNING_LEFT;
    if (!earlier || !*earlier->library || !earlier->n) {
        snprintf(t->text, sizeof(t->text), "no earlier run shows the job's all-reduces");
        return;
    }
    if (!find_library(earlier->library, ranks == nodes, t))
        return;
    job.library = t->library;
    job.step_s = earlier->step_s;
    job.slower = topology_usual.node_bytes_per_s / ALGORITHM_LEAST_RATE;
    memcpy(job.cost, cost, sizeof(job.cost));
    memcpy(job.size, earlier->size, sizeof(job.size));
    job.n = earlier->n;
    algorithm_choose(&job, algorithm_keeps_order, &t->choice);
    if (t->choice.result == ALGORITHM_FASTER) {
        t->result = TUNING_FASTER;
    } else {
        algorithm_choose(&job, NULL, &any);
        if (any.result != ALGORITHM_FASTER) {
            snprintf(t->text, sizeof(t->text), "%s", why_not[t->choice.result]);
            return;
        }
        t->result = TUNING_NAMED;
        t->choice = any;
    }
    describe_choice(t, earlier->library);
}
