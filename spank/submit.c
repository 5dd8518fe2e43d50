#include "spank/submit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <slurm/spank.h>

#include "spank/advice.h"
#include "spank/cmdline.h"
#include "spank/lemons.h"
#include "spank/settings.h"
#include "topology/slurm_conf.h"

#define ENV_OPTION "SLURM_SPANK__SLURM_SPANK_OPTION_syncguard_sync_guard"

static struct {
    int mode;            /* CONFIG_PLACEMENT_...; OFF: there is nothing to say */
    bool verbose, asked; /* -v was given; placement was asked for, by the user or the site */
    bool set;            /* the variables are ours */
    enum command_program program;
    struct advice advice;
    size_t n_lemons;
    char lemons[LEMONS_SIZE];
} submit;

static void set_switches(void)
{
    char req[ADVICE_NAME_SIZE], wait[ADVICE_NAME_SIZE], number[16];

    snprintf(number, sizeof(number), "%u", submit.advice.leaves.fewest);
    submit.set = true;
    if (setenv(advice_variable(submit.program, "REQ_SWITCH", req), number, 1) == 0 &&
        setenv(advice_variable(submit.program, "WAIT4SWITCH", wait), ADVICE_WAIT, 1) == 0)
        return;
    /* Never without a bound. */
    unsetenv(req);
    submit.set = false;
    submit.advice.result = ADVICE_FAILED;
    snprintf(submit.advice.text, sizeof(submit.advice.text), "cannot set %s: out of memory", req);
}

static struct choice read_choice(const struct args *args, const struct command *c,
                                 const struct advice_files *files)
{
    const char *text = c->sync_guard ? c->sync_guard : getenv(ENV_OPTION),
               *partition = advice_partition(c, getenv);
    struct choice choice = { .kind = CHOICE_OFF };
    struct slurm_partition p = { .nodes = NULL };

    if (text) {
        choice_parse(&choice, text, NULL); /* what is wrong with it, the option's callback says */
        return choice;
    }
    if (!partition && args->n_partitions && slurm_conf_read(files->slurm, NULL, &p, NULL) == 0)
        partition = p.name;
    choice = args_default(args, partition);
    slurm_partition_free(&p);
    return choice;
}

/* Whether the job is guarded and its placement not off; sets mode and asked. */
static bool read_settings(const struct args *args, const struct command *c, const struct advice_files *files)
{
    struct choice choice = read_choice(args, c, files);
    struct config *config =
        choice.kind == CHOICE_OFF || choice.kind == CHOICE_HELP ? NULL : calloc(1, sizeof(*config));
    const struct config_policy *policy;

    if (!config)
        return false;
    settings_load(config, args, NULL);
    policy = settings_policy(config, &choice);
    submit.mode = settings_placement(policy, args, &choice);
    submit.asked = submit.mode == CONFIG_PLACEMENT_ON || choice.placement != ARGS_UNSAID ||
                   args->placement != ARGS_UNSAID;
    free(config);
    return submit.mode != CONFIG_PLACEMENT_OFF;
}

/* Of the partition, if it is known. Only where somebody hears of it, and has not chosen among the nodes
 * himself. */
static void find_lemons(const struct args *args, const struct command *c, const struct advice_files *files)
{
    const char *partition = advice_partition(c, getenv);
    struct slurm_partition p = { .nodes = NULL };

    if ((!submit.verbose && !submit.asked) || c->decided || c->limits)
        return;
    if (!partition || !strchr(partition, ','))
        slurm_conf_read(files->slurm, partition, &p, NULL);
    submit.n_lemons = lemons_ask(settings_conf_path(args), args->answer_s,
                                 p.nodes && *p.nodes ? p.nodes : NULL, submit.lemons);
    slurm_partition_free(&p);
}

/* Read sbatch's script as well; c then has both. False: it cannot be known what the job asks for. */
static bool read_script(struct cmdline *line, struct command *c, struct err *err)
{
    char *name;
    int rc;

    if (c->program != COMMAND_SBATCH || c->wrap)
        return true;
    if (!c->what) {
        err_set(err, "the script comes from standard input");
        return false;
    }
    if (c->chdir && *c->what != '/') {
        err_set(err, "the script is not certain with --chdir");
        return false;
    }
    name = strdup(c->what); /* the line is about to move */
    rc = name ? cmdline_insert_script(line, name, err) : err_set(err, "out of memory");
    free(name);
    /* A failure leaves the line, and c, as they were. */
    return rc == 0 && command_read(c, line->words, line->bytes, err) == 0;
}

void submit_begin(const struct args *args)
{
    char topology[4200], slurm[4200];
    const struct advice_files files = { topology, slurm };
    struct err err = { "" };
    struct cmdline line;
    struct command c;
    bool known;

    if (cmdline_own(&line, NULL) < 0)
        return;
    if (command_read(&c, line.words, line.bytes, NULL) < 0)
        goto done;
    known = read_script(&line, &c, &err);
    slurm_conf_locate(SLURM_CONF_NAME, slurm, sizeof(slurm));
    settings_topology_path(args, topology, sizeof(topology));
    if (!read_settings(args, &c, &files))
        goto done;
    submit.verbose = c.verbose;
    submit.program = c.program;
    if (!known) {
        submit.advice.result = ADVICE_NONE;
        snprintf(submit.advice.text, sizeof(submit.advice.text), "%s", err.text);
        goto done;
    }
    advice_choose(&submit.advice, &c, &files, getenv);
    if (submit.advice.result == ADVICE_FITS && submit.mode == CONFIG_PLACEMENT_ON)
        set_switches();
    find_lemons(args, &c, &files);
done:
    cmdline_free(&line);
}

static void report_advice(void)
{
    const struct advice *a = &submit.advice;
    char fits[128];

    snprintf(fits, sizeof(fits), "%u nodes fit below %u of %u leaf switches", a->nodes, a->leaves.fewest,
             a->leaves.all);
    if (a->result == ADVICE_FITS && submit.set)
        slurm_spank_log("sync-guard: %s: Slurm is asked for that with --switches=%u@" ADVICE_WAIT, fits,
                        a->leaves.fewest);
    else if (a->result == ADVICE_FITS && (submit.verbose || submit.asked))
        slurm_spank_log("sync-guard: %s: --switches=%u@" ADVICE_WAIT
                        " asks Slurm for that, and waits a minute at most",
                        fits, a->leaves.fewest);
    else if (a->result != ADVICE_FITS &&
             (submit.verbose || (a->result == ADVICE_FAILED && submit.mode == CONFIG_PLACEMENT_ON)))
        slurm_spank_log("sync-guard: no advice on switches: %s", a->text);
    if (submit.n_lemons)
        slurm_spank_log("sync-guard: %s held jobs back again and again: --exclude=%s keeps this one off",
                        submit.lemons, submit.lemons);
}

void submit_read(void)
{
    char name[ADVICE_NAME_SIZE];

    if (submit.mode != CONFIG_PLACEMENT_OFF)
        report_advice();
    submit.mode = CONFIG_PLACEMENT_OFF; /* once, also for heterogeneous jobs */
    if (!submit.set)
        return;
    unsetenv(advice_variable(submit.program, "REQ_SWITCH", name));
    unsetenv(advice_variable(submit.program, "WAIT4SWITCH", name));
    submit.set = false;
}
