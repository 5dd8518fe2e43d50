/* syncguard-credential: vouch for one step on one node.
 *
 * The plugin's keeper runs it as root, before it starts the agent, and passes its output to the agent: a key,
 * and root's munge credential, which says whose key it is (wire/identity.h).  It reads only its command line,
 * which slurmstepd wrote. */
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/options.h"
#include "common/xalloc.h"
#include "wire/identity.h"

#define ID_MAX 4294967294.0

static const struct option_spec cluster = { "cluster", "NAME", VALUE(VALUE_ANY), "the cluster's name" };
static const struct option_spec uid = { "uid", "UID", VALUE_RANGE(VALUE_INTEGER, 0, ID_MAX),
                                        "user of the step" };
static const struct option_spec job = { "job", "NUMBER", VALUE_RANGE(VALUE_INTEGER, 1, ID_MAX),
                                        "the job's number" };
static const struct option_spec step = { "step", "NUMBER", VALUE_RANGE(VALUE_INTEGER, 0, ID_MAX),
                                         "the step's number" };
static const struct option_spec node = { "node", "NAME", VALUE(VALUE_NAME), "name of this node" };
static const struct option_spec ranks = { "ranks", "LIST", VALUE(VALUE_ANY),
                                          "ranks on this node, such as 0-3,8" };
static const struct option_spec tasks = { "tasks", "N", VALUE_RANGE(VALUE_INTEGER, 1, ID_MAX),
                                          "tasks of the step" };
static const struct option_spec nodes = { "nodes", "N", VALUE_RANGE(VALUE_INTEGER, 1, ID_MAX),
                                          "nodes of the step" };

static const struct option_use uses[] = {
    { &option_munge_socket, NULL },
    { &cluster, NULL },
    { &uid, OPTION_REQUIRED },
    { &job, OPTION_REQUIRED },
    { &step, OPTION_REQUIRED },
    { &node, OPTION_REQUIRED },
    { &ranks, NULL },
    { &tasks, OPTION_REQUIRED },
    { &nodes, OPTION_REQUIRED },
    { NULL, NULL },
};

static const struct options_command only = { .name = "", .operands = "", .uses = uses };

static const struct options_program program = {
    .name = "syncguard-credential",
    .text =
        "Write to standard output a new key and a credential that vouches for one job step on one node. Started by the Slurm "
        "plugin, not by hand.",
    .only = &only,
};

int main(int argc, char **argv)
{
    static const char *const numbers[] = { "uid", "job", "step", "tasks", "nodes" };
    static const char *const texts[] = { "cluster", "node", "ranks" };
    struct identity *identity;
    struct options options;
    json_t *claims;
    struct err err;
    int rc;

    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
    rc = options_start(&options, &program, argc, argv);
    if (rc >= 0)
        return rc;
    claims = json_object();
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        const char *text = options_text(&options, texts[i]);

        json_object_set_new(claims, texts[i], json_string(text ? text : ""));
    }
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        json_object_set_new(claims, numbers[i],
                            json_integer((json_int_t)options_number(&options, numbers[i])));
    identity = identity_new(options_text(&options, "munge-socket"), IDENTITY_STEP, claims, &err);
    json_decref(claims);
    rc = identity ? identity_save(identity, STDOUT_FILENO, &err) : -1;
    identity_free(identity);
    if (rc == 0)
        return 0;
    fprintf(stderr, "syncguard-credential: %s\n", err.text);
    return 1;
}
