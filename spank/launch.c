#include "spank/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <slurm/spank.h>

#include "common/hash.h"
#include "spank/cmdline.h"
#include "spank/earlier.h"
#include "spank/placement.h"
#include "spank/settings.h"
#include "spank/tuning.h"
#include "topology/slurm_conf.h"

#define ENV_HOSTFILE "SLURM_HOSTFILE"
/* Tells the agents, by the tasks' environment: "on PATTERN SECONDS SECONDS", what a step's communication
 * costs in Slurm's order and in the one chosen; "advise" where the ranks are in Slurm's. "placed" and
 * "held-out" likewise, where such starts are compared. */
#define ENV_PLACEMENT "SYNCGUARD_PLACEMENT"
/* From 23.11 on srun ends with "--nodes is incompatible with --distribution=arbitrary", which is what a host
 * file makes of the distribution. */
#define FILE_BESIDE_NODES (SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(23, 11, 0))
/* Likewise "on NAME SECONDS SECONDS": of a step's all-reduces, by the library's own choice and by the
 * algorithm of that name at most; or "default": none is known to be faster. Not set where nobody has looked,
 * or the user decided. */
#define ENV_ALGORITHM   "SYNCGUARD_ALGORITHM"
#define ALGORITHM_TURNS 0x616c676fu /* its starts are held out apart from those of the order */

/* Whether a choice is carried out in this start. */
struct turn {
    bool set;                /* it is: the variables that say so are ours */
    bool compared, held_out; /* the start is one of those whose effect is compared; and does without */
};

static struct {
    int mode; /* CONFIG_PLACEMENT_... */
    struct placement placement;
    bool chosen; /* placement is valid */
    struct turn order;
    int fd;           /* of the host file; -1: none */
    const char *conf; /* of the controller that is asked */
    double answer_s;  /* what its answer may take */
    bool patterned;   /* the user gave the pattern */
    bool nodes_given; /* which keeps the order from being set */
    struct {
        int mode; /* CONFIG_PLACEMENT_... */
        struct tuning tuning;
        bool looked; /* tuning is valid */
        struct turn turn;
    } algorithm;
    enum { NOT_ASKED, UNKNOWN, KNOWN } asked;
    struct earlier earlier; /* KNOWN */
    uint64_t key;           /* of the job whose runs they are */
} launch = { .fd = -1 };

/* Takes back what tells a library the algorithm of this name, where it is still that. */
static void unset_variables(const char *name)
{
    struct tuning_variable v[TUNING_VARIABLES];

    for (enum algorithm_library l = 0; l < ALGORITHM_LIBRARIES; l++)
        for (enum algorithm a = 0; a < ALGORITHMS; a++) {
            size_t n = strcmp(name, algorithm_name(a)) == 0 ? tuning_variables(l, a, v) : 0;
            const char *value = n ? getenv(v[n - 1].name) : NULL;

            for (size_t i = 0; value && !strcmp(value, v[n - 1].value) && i < n; i++)
                unsetenv(v[i].name);
        }
}

/* Also those of a step that this srun runs in: its variables are not the user's own. */
static void forget_choices(void)
{
    const char *told = getenv(ENV_ALGORITHM);
    char word[16], name[32];

    if (told && sscanf(told, "%15s %31s", word, name) == 2 &&
        (!strcmp(word, "on") || !strcmp(word, "placed")))
        unset_variables(name);
    unsetenv(ENV_ALGORITHM);
    launch.algorithm.looked = false;
    launch.algorithm.turn = (struct turn){ false, false, false };
    if (launch.order.set)
        unsetenv(ENV_HOSTFILE);
    unsetenv(ENV_PLACEMENT);
    if (launch.fd >= 0)
        close(launch.fd);
    placement_free(&launch.placement);
    launch.order = (struct turn){ false, false, false };
    launch.chosen = false;
    launch.fd = -1;
}

static void fail_to(const char *what)
{
    launch.placement.result = PLACEMENT_FAILED;
    snprintf(launch.placement.text, sizeof(launch.placement.text), "cannot %s: %s", what, strerror(errno));
}

static bool write_all(int fd, const char *text, size_t bytes)
{
    while (bytes > 0) {
        ssize_t n = write(fd, text, bytes);

        if (n <= 0)
            return false;
        text += n;
        bytes -= (size_t)n;
    }
    return true;
}

/* A file without a name, which no other user can open and nobody has to remove. */
static void set_hostfile(void)
{
    struct placement *p = &launch.placement;
    char path[48];

    launch.fd = memfd_create("syncguard-hosts", MFD_CLOEXEC);
    if (launch.fd < 0 || !write_all(launch.fd, p->hosts, p->hosts_bytes)) {
        fail_to("write the host file");
        return;
    }
    snprintf(path, sizeof(path), "/proc/self/fd/%d", launch.fd);
    if (setenv(ENV_HOSTFILE, path, 1) < 0)
        fail_to("set " ENV_HOSTFILE);
    else
        launch.order.set = true;
}

/* Once: one command line is one job, and srun waits. */
static bool ask_earlier(struct pattern *p, const char *name, uint32_t ranks, uint32_t nodes)
{
    const uint32_t numbers[] = { ranks, nodes };

    if (launch.asked == NOT_ASKED) {
        launch.earlier = (struct earlier){ .pattern = *p };
        launch.key = hash_bytes(hash_bytes(HASH_START, name, strlen(name)), numbers, sizeof(numbers));
        launch.asked =
            earlier_ask(launch.conf, launch.answer_s, name, ranks, nodes, &launch.earlier) ? KNOWN : UNKNOWN;
    }
    if (launch.asked != KNOWN || !launch.earlier.patterned || launch.patterned)
        return false;
    *p = launch.earlier.pattern;
    return true;
}

/* Sets compared and held_out.  False when it is this start's turn to do without. */
static bool take_turn(struct turn *t, const struct earlier_turns *turns, uint64_t key, uint32_t holdout)
{
    t->compared = holdout && launch.asked == KNOWN;
    t->held_out = t->compared && earlier_holds_out(turns, key, holdout);
    return !t->held_out;
}

/* The word for the agents. */
static const char *turn_name(const struct turn *t)
{
    if (t->held_out)
        return "held-out";
    if (!t->set)
        return config_placements[CONFIG_PLACEMENT_ADVISE];
    return t->compared ? "placed" : config_placements[CONFIG_PLACEMENT_ON];
}

/* ---- the algorithm of all-reduces ---- */

static void set_variables(void)
{
    const struct tuning *t = &launch.algorithm.tuning;
    struct tuning_variable v[TUNING_VARIABLES];
    size_t n = tuning_variables(t->library, t->choice.algorithm, v);

    launch.algorithm.turn.set = n > 0;
    for (size_t i = 0; i < n; i++)
        if (setenv(v[i].name, v[i].value, 1) < 0)
            launch.algorithm.turn.set = false;
    if (!launch.algorithm.turn.set)
        unset_variables(algorithm_name(t->choice.algorithm));
}

static void choose_algorithm(uint32_t holdout)
{
    const struct placement *p = &launch.placement;
    struct tuning *t = &launch.algorithm.tuning;
    char text[128];

    if (launch.algorithm.mode == CONFIG_PLACEMENT_OFF || p->result < PLACEMENT_SLURM)
        return;
    tuning_choose(t, launch.asked == KNOWN ? &launch.earlier : NULL, p->ranks, p->nodes,
                  launch.order.set ? p->chosen : p->slurm, environ);
    launch.algorithm.looked = true;
    if (t->result == TUNING_OWN)
        return;
    if (t->result == TUNING_FASTER && launch.algorithm.mode == CONFIG_PLACEMENT_ON &&
        take_turn(&launch.algorithm.turn, &launch.earlier.algorithm, hash_mix(launch.key + ALGORITHM_TURNS),
                  holdout))
        set_variables();
    if (t->result == TUNING_LEFT)
        snprintf(text, sizeof(text), "default");
    else
        snprintf(text, sizeof(text), "%s %s %.9g %.9g", turn_name(&launch.algorithm.turn),
                 algorithm_name(t->choice.algorithm), t->choice.usual_s, t->choice.most_s);
    setenv(ENV_ALGORITHM, text, 1);
}

static void report_algorithm(void)
{
    const struct tuning *t = &launch.algorithm.tuning;

    if (!launch.algorithm.looked)
        return;
    if (launch.algorithm.turn.held_out)
        slurm_verbose(
            "sync-guard: all-reduces are left to the library's own choice, to compare with that: %s",
            t->text);
    else if (launch.algorithm.turn.set)
        slurm_verbose("sync-guard: all-reduces are done by %s", t->text);
    else if (t->result == TUNING_FASTER)
        slurm_verbose("sync-guard: with algorithm=on all-reduces would be done by %s", t->text);
    else
        slurm_verbose("sync-guard: all-reduces are left to the library's own choice: %s", t->text);
}

void launch_place(const struct args *args, const struct choice *choice, const struct config_policy *policy)
{
    struct placement *p = &launch.placement;
    struct err err = { "" };
    struct cmdline line;
    uint32_t holdout;
    char path[4200], slurm[4200], text[128], name[PATTERN_NAME_SIZE];
    const struct placement_files files = { path, slurm, *args->measured ? args->measured : NULL };
    bool asks;

    forget_choices();
    launch.mode = settings_placement(policy, args, choice);
    launch.algorithm.mode = settings_algorithm(policy, args, choice);
    if (choice->kind == CHOICE_OFF || choice->kind == CHOICE_HELP || launch.mode == CONFIG_PLACEMENT_OFF)
        return;
    launch.chosen = true;
    if (cmdline_own(&line, &err) < 0) {
        p->result = PLACEMENT_FAILED;
        snprintf(p->text, sizeof(p->text), "%s", err.text);
        return;
    }
    settings_topology_path(args, path, sizeof(path));
    slurm_conf_locate(SLURM_CONF_NAME, slurm, sizeof(slurm));
    launch.conf = settings_conf_path(args);
    launch.answer_s = args->answer_s;
    launch.patterned = choice->patterned;
    holdout = policy && launch.mode == CONFIG_PLACEMENT_ON ? (uint32_t)policy->placement_holdout : 0;
    asks = !launch.patterned || holdout || launch.algorithm.mode != CONFIG_PLACEMENT_OFF;
    placement_choose(p, &choice->pattern, asks ? ask_earlier : NULL, &files,
                     launch.algorithm.mode != CONFIG_PLACEMENT_OFF, line.words, line.bytes, getenv);
    cmdline_free(&line);
    launch.nodes_given = p->nodes_given && launch.mode == CONFIG_PLACEMENT_ON && !FILE_BESIDE_NODES;
    if (launch.nodes_given)
        launch.mode = CONFIG_PLACEMENT_ADVISE;
    if (p->result == PLACEMENT_BETTER && launch.mode == CONFIG_PLACEMENT_ON &&
        take_turn(&launch.order, &launch.earlier.order, launch.key, holdout))
        set_hostfile();
    if (p->result >= PLACEMENT_SLURM) {
        snprintf(text, sizeof(text), "%s %s %.9g %.9g", turn_name(&launch.order),
                 pattern_name(&p->pattern, name), p->slurm_s, p->chosen_s);
        setenv(ENV_PLACEMENT, text, 1);
    }
    choose_algorithm(holdout);
}

void launch_read(void)
{
    if (launch.order.set)
        unsetenv(ENV_HOSTFILE);
    launch.order.set = false;
}

void launch_report(void)
{
    const struct placement *p = &launch.placement;
    bool on = launch.mode == CONFIG_PLACEMENT_ON;

    if (!launch.chosen)
        return;
    if (p->result == PLACEMENT_FAILED && on)
        slurm_spank_log("sync-guard: ranks are left in Slurm's order: %s", p->text);
    else if (launch.order.held_out)
        slurm_verbose(
            "sync-guard: ranks are left in Slurm's order, to compare with that along the switches: %s",
            p->text);
    else if (p->result == PLACEMENT_BETTER)
        slurm_verbose("sync-guard: %s: %s",
                      on                   ? "ranks are ordered along the switches"
                      : launch.nodes_given ? "but for --nodes ranks would be ordered along the switches"
                                           : "with placement=on ranks would be ordered along the switches",
                      p->text);
    else
        slurm_verbose("sync-guard: ranks are left in Slurm's order: %s", p->text);
    report_algorithm();
}

void launch_end(void)
{
    forget_choices();
}
