/* plugin.c - syncguard.so, the SPANK plugin: the callbacks that Slurm calls.
 *
 *   plugstack.conf:  optional PKGLIBDIR/syncguard.so [conf=FILE] [default=...] [partition=...] ...
 *
 * See args.h for the arguments.  Every callback except the option's returns 0 whatever happens: a failing
 * plugin can fail jobs and drain nodes.  A second line that names the plugin does nothing: see instance.h. */
#include <stddef.h>
#include <stdlib.h>

#pragma GCC visibility push(default)
#include <slurm/slurm_errno.h>
#include <slurm/spank.h>
SPANK_PLUGIN(syncguard, 1)
#pragma GCC visibility pop

#include "spank/args.h"
#include "spank/instance.h"
#include "spank/launch.h"
#include "spank/local.h"
#include "spank/preloaded.h"
#include "spank/profiler.h"
#include "spank/remote.h"
#include "spank/submit.h"
#include "spank/task.h"

static struct {
    struct args args;
    const char *unknown;  /* first invalid argument; NULL: none */
    bool chosen;          /* --sync-guard was given */
    struct choice choice; /* by the last --sync-guard */
} plugin;

/* Called for an inherited option first, then for one on the command line. */
static int on_option(int val, const char *text, int remote)
{
    struct choice choice;

    (void)val;
    if (!remote) {
        if (local_option(&plugin.args, text, spank_context() == S_CTX_LOCAL, &choice) < 0)
            return -1;
    } else if (choice_parse(&choice, text, NULL) < 0) {
        return 0; /* srun or sbatch has refused it */
    }
    plugin.choice = choice;
    plugin.chosen = true;
    return 0;
}

static struct spank_option option = {
    .name = (char *)"sync-guard",
    .arginfo = (char *)"POLICY",
    .usage = (char *)"guard the job's synchronised steps; POLICY, off, or help to list the policies",
    .has_arg = 2,
    .cb = on_option,
};

int slurm_spank_init(spank_t sp, int argc, char **argv)
{
    spank_context_t context = spank_context();

    if (!instance_begin()) {
        if (context == S_CTX_SLURMD)
            slurm_error("sync-guard: plugstack.conf names the plugin twice; the first line counts");
        return 0;
    }
    plugin.unknown = args_parse(&plugin.args, argc, argv);
    /* Logged once, when slurmd starts; users see it only with srun --verbose. */
    if (plugin.unknown && context == S_CTX_SLURMD)
        slurm_error("sync-guard: plugstack.conf: invalid argument %s, ignored", plugin.unknown);
    else if (plugin.unknown && context != S_CTX_REMOTE)
        slurm_verbose("sync-guard: plugstack.conf: invalid argument %s, ignored", plugin.unknown);
    if (context == S_CTX_LOCAL || context == S_CTX_ALLOCATOR || context == S_CTX_REMOTE)
        spank_option_register(sp, &option);
    if (context == S_CTX_ALLOCATOR || (context == S_CTX_LOCAL && !getenv("SLURM_JOB_ID")))
        submit_begin(&plugin.args);
    if (context == S_CTX_REMOTE)
        remote_init();
    if (context == S_CTX_LOCAL)
        local_default(&plugin.args, getenv("SLURM_JOB_PARTITION"));
    return 0;
}

int slurm_spank_init_post_opt(spank_t sp, int argc, char **argv)
{
    (void)sp, (void)argc, (void)argv;
    if (!instance_is_first(INSTANCE_POST_OPT))
        return 0;
    launch_read();
    submit_read();
    return 0;
}

int slurm_spank_local_user_init(spank_t sp, int argc, char **argv)
{
    (void)sp, (void)argc, (void)argv;
    if (instance_is_first(INSTANCE_LOCAL_USER))
        launch_report();
    return 0;
}

int slurm_spank_user_init(spank_t sp, int argc, char **argv)
{
    (void)argc, (void)argv;
    if (instance_is_first(INSTANCE_USER))
        remote_begin(sp, &plugin.args, plugin.chosen ? &plugin.choice : NULL, plugin.unknown);
    return 0;
}

int slurm_spank_task_init_privileged(spank_t sp, int argc, char **argv)
{
    (void)sp, (void)argc, (void)argv;
    remote_task_show();
    return 0;
}

int slurm_spank_task_init(spank_t sp, int argc, char **argv)
{
    (void)argc, (void)argv;
    if (!instance_is_first(INSTANCE_TASK))
        return 0;
    preloaded_check(sp);
    remote_task_check(sp);
    profiler_give_way(sp);
    task_bind(sp);
    return 0;
}

int slurm_spank_task_exit(spank_t sp, int argc, char **argv)
{
    (void)sp, (void)argc, (void)argv;
    if (instance_is_first(INSTANCE_TASK_EXIT))
        remote_task_exit();
    return 0;
}

int slurm_spank_exit(spank_t sp, int argc, char **argv)
{
    (void)sp, (void)argc, (void)argv;
    if (!instance_is_first(INSTANCE_EXIT))
        return 0;
    remote_end();
    launch_end();
    return 0;
}
