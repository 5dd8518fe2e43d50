#include "spank/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <slurm/spank.h>

#include "spank/cmdline.h"
#include "spank/placement.h"
#include "spank/settings.h"
#include "topology/topology_conf.h"

#define ENV_HOSTFILE "SLURM_HOSTFILE"
/* Tells the agents, by the tasks' environment: "on PATTERN SECONDS SECONDS", what a step's communication costs in Slurm's order and in the
 * one chosen; "advise" where the ranks are in Slurm's. */
#define ENV_PLACEMENT "SYNCGUARD_PLACEMENT"

static struct {
    int mode; /* CONFIG_PLACEMENT_... */
    struct placement placement;
    bool chosen, set; /* placement is valid; ENV_HOSTFILE is ours */
    int fd;           /* of the host file; -1: none */
} launch = { .fd = -1 };

static void forget(void)
{
    if (launch.set)
        unsetenv(ENV_HOSTFILE);
    unsetenv(ENV_PLACEMENT); /* also one inherited from a step that this srun runs in */
    if (launch.fd >= 0)
        close(launch.fd);
    placement_free(&launch.placement);
    launch.set = launch.chosen = false;
    launch.fd = -1;
}

static void fail(const char *what)
{
    launch.placement.result = PLACEMENT_FAILED;
    snprintf(launch.placement.text, sizeof(launch.placement.text), "cannot %s: %s", what, strerror(errno));
}

static void topology_path(const struct args *args, char *path, size_t size)
{
    if (*args->topology)
        snprintf(path, size, "%s", args->topology);
    else
        topology_conf_locate(path, size);
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
        fail("write the host file");
        return;
    }
    snprintf(path, sizeof(path), "/proc/self/fd/%d", launch.fd);
    if (setenv(ENV_HOSTFILE, path, 1) < 0)
        fail("set " ENV_HOSTFILE);
    else
        launch.set = true;
}

static void tell_agents(const struct pattern *pattern)
{
    char text[128], name[PATTERN_NAME_SIZE];

    if (launch.placement.result < PLACEMENT_SLURM)
        return;
    snprintf(text, sizeof(text), "%s %s %.9g %.9g", config_placements[launch.set ? CONFIG_PLACEMENT_ON : CONFIG_PLACEMENT_ADVISE],
             pattern_name(pattern, name), launch.placement.slurm_s, launch.placement.chosen_s);
    setenv(ENV_PLACEMENT, text, 1);
}

void launch_place(const struct args *args, const struct choice *choice, const struct config_policy *policy)
{
    struct placement *p = &launch.placement;
    struct err err = { "" };
    struct cmdline line;
    char path[4200];

    forget();
    launch.mode = settings_placement(policy, args, choice);
    if (choice->kind == CHOICE_OFF || choice->kind == CHOICE_HELP || launch.mode == CONFIG_PLACEMENT_OFF)
        return;
    launch.chosen = true;
    if (cmdline_own(&line, &err) < 0) {
        p->result = PLACEMENT_FAILED;
        snprintf(p->text, sizeof(p->text), "%s", err.text);
        return;
    }
    topology_path(args, path, sizeof(path));
    placement_choose(p, &choice->pattern, path, line.words, line.bytes, getenv);
    cmdline_free(&line);
    if (p->result == PLACEMENT_BETTER && launch.mode == CONFIG_PLACEMENT_ON)
        set_hostfile();
    tell_agents(&choice->pattern);
}

void launch_read(void)
{
    if (launch.set)
        unsetenv(ENV_HOSTFILE);
    launch.set = false;
}

void launch_report(void)
{
    const struct placement *p = &launch.placement;
    bool on = launch.mode == CONFIG_PLACEMENT_ON;

    if (!launch.chosen)
        return;
    if (p->result == PLACEMENT_FAILED && on)
        slurm_spank_log("sync-guard: ranks are left in Slurm's order: %s", p->text);
    else if (p->result == PLACEMENT_BETTER)
        slurm_verbose("sync-guard: %s: %s", on ? "ranks are ordered along the switches" : "with placement=on ranks would be ordered along the switches", p->text);
    else
        slurm_verbose("sync-guard: ranks are left in Slurm's order: %s", p->text);
}

void launch_end(void)
{
    forget();
}
