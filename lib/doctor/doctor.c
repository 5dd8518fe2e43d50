#include "doctor/doctor.h"

#include <errno.h>
#include <dlfcn.h>
#include <math.h>
#include <munge.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/now.h"
#include "common/preload.h"
#include "common/text.h"
#include "common/trust.h"
#include "common/xalloc.h"
#include "doctor/plugstack.h"
#include "doctor/slurm_release.h"
#include "ring/ring.h"
#include "wire/json.h"

#define SHM           "/dev/shm"
#define SHM_PARENT    SHM "/syncguard" /* as the plugin makes it where slurmd is root */
#define SHM_BYTES_MIN (64u << 20)
#define FILES_SPARE   64 /* of the agent, beside the rings: connections, /proc, libraries */

__attribute__((format(printf, 2, 3))) static void set_found(struct doctor_check *f, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(f->found, sizeof(f->found), fmt, ap);
    va_end(ap);
}

__attribute__((format(printf, 2, 3))) static void set_next(struct doctor_check *f, const char *fmt, ...)
{
    va_list ap;

    f->missing = true;
    va_start(ap, fmt);
    vsnprintf(f->next, sizeof(f->next), fmt, ap);
    va_end(ap);
}

/* slurmstepd uses no file that others can change.  True when this is such a file. */
static bool check_trust(const char *path, struct doctor_check *f)
{
    struct err err = { "" };

    if (trust_check(path, &err) == 0)
        return false;
    set_found(f, "%s: nodes use only what root alone can change", err.text);
    set_next(f, "chown root:root PATH; chmod go-w PATH   (of what is named above)");
    return true;
}

static void check_configuration(const struct doctor *d, struct doctor_check *f)
{
    const char *slash = strrchr(d->config_path, '/');
    char names[512];

    if (!d->config) {
        set_found(f, "%s", d->config_err.text);
        set_next(f, "sgctl config check %s", d->config_path);
    } else if (access(d->config_path, R_OK) < 0) {
        set_found(f, "%s: %s: a node without it leaves each step unguarded", d->config_path, strerror(errno));
        set_next(f, "mkdir -p %.*s && echo Controller=HOST-OF-SYNCGUARDD > %s",
                 slash ? (int)(slash - d->config_path) : 0, d->config_path, d->config_path);
    } else if (!check_trust(d->config_path, f)) {
        set_found(f, "%s, policies %s", d->config_path, config_policy_names(d->config, names, sizeof(names)));
    }
}

static void check_munge(const struct doctor *d, struct doctor_check *f)
{
    munge_ctx_t ctx = munge_ctx_create();
    char *credential = NULL;
    munge_err_t e = EMUNGE_NO_MEMORY;

    if (ctx && d->client.end.munge_socket)
        munge_ctx_set(ctx, MUNGE_OPT_SOCKET, d->client.end.munge_socket);
    if (ctx)
        e = munge_encode(&credential, ctx, NULL, 0);
    if (e == EMUNGE_SUCCESS)
        e = munge_decode(credential, ctx, NULL, NULL, NULL, NULL);
    if (e == EMUNGE_SUCCESS) {
        set_found(f, "creates and decodes credentials");
    } else {
        set_found(f, "%s", ctx && munge_ctx_strerror(ctx) ? munge_ctx_strerror(ctx) : munge_strerror(e));
        set_next(f, "systemctl enable --now munge");
    }
    free(credential);
    munge_ctx_destroy(ctx);
}

static json_t *ask_controller(const struct doctor *d, const char *query, struct err *err)
{
    json_t *question = json_pack("{s:s}", "query", query);
    json_t *answer = client_ask(&d->client, question, d->timeout_s, err);

    json_decref(question);
    return answer;
}

static void check_controller(const struct doctor *d, struct doctor_check *f)
{
    struct err err = { "" };
    json_t *answer = ask_controller(d, "status", &err);
    char host[128], version[64];

    if (answer) {
        set_found(f, "syncguardd %s on %s", json_show_text(answer, "version", version, sizeof(version)),
                  json_show_text(answer, "host", host, sizeof(host)));
    } else {
        set_found(f, "%s", err.text);
        set_next(f, "systemctl enable --now syncguardd   (on %s)", d->client.hosts);
    }
    json_decref(answer);
}

/* The plugin's configuration must be the one that was checked above. */
static void check_plugin(const struct doctor *d, struct doctor_check *f)
{
    struct plugstack p;
    struct err err = { "" };
    int rc;

    plugstack_locate(&p, d->slurm_conf);
    rc = plugstack_find(&p, DOCTOR_PLUGIN, &err);
    if (*p.spoiled.file && p.carriage_return) {
        set_found(f, "%s", rc < 0 ? err.text : "");
        if (rc == 0)
            set_found(f, "%s:%d: Slurm takes the carriage return at its end for a part of the last argument",
                      p.spoiled.file, p.spoiled.number);
        set_next(f, "sed -i 's/\\r$//' %s", p.spoiled.file);
    } else if (rc < 0 && *p.spoiled.file) {
        set_found(f, "%s", err.text);
        set_next(f, "sed -i '%ds/^[[:space:]]*[^[:space:]]*/optional/' %s", p.spoiled.number, p.spoiled.file);
    } else if (rc < 0) {
        set_found(f, "%s", err.text);
        set_next(f, "echo 'optional %s/%s' >> %s", PKGLIBDIR, DOCTOR_PLUGIN, p.path);
    } else if (strchr(p.plugin, '/') && access(p.plugin, R_OK) < 0) {
        set_found(f, "%s:%d: %s: %s", p.line.file, p.line.number, p.plugin, strerror(errno));
        set_next(f, "sed -i '%ds|[^[:space:]]*%s|%s/%s|' %s", p.line.number, DOCTOR_PLUGIN, PKGLIBDIR,
                 DOCTOR_PLUGIN, p.line.file);
    } else if (*p.again.file) {
        set_found(f, "%s:%d names the plugin, and %s:%d names it again, without effect", p.line.file,
                  p.line.number, p.again.file, p.again.number);
        set_next(f, "sed -i '%dd' %s", p.again.number, p.again.file);
    } else if (p.required) {
        set_found(f, "%s:%d: with 'required', a failing guard would fail jobs", p.line.file, p.line.number);
        set_next(f, "sed -i '%ds/required/optional/' %s", p.line.number, p.line.file);
    } else {
        set_found(f, "%s:%d%s%s", p.line.file, p.line.number, *p.arguments ? ", with " : "", p.arguments);
    }
}

static void check_release(const struct doctor *d, struct doctor_check *f)
{
    struct slurm_release built = slurm_release_built(), here;
    struct err err;

    (void)d;
    if (slurm_release_installed(&here, &err) < 0) {
        set_found(f, "built for Slurm %u.%02u; which is installed here is not known: %s", built.major,
                  built.minor, err.text);
    } else if (here.major != built.major || here.minor != built.minor) {
        set_found(f, "built for Slurm %u.%02u, and %u.%02u is installed here, which leaves out the plugin",
                  built.major, built.minor, here.major, here.minor);
        set_next(f, "./configure && make install   (in SyncGuard's tree, with the headers of Slurm %u.%02u)",
                 here.major, here.minor);
    } else {
        set_found(f, "built for Slurm %u.%02u, which is installed here", built.major, built.minor);
    }
}

/* Other users' jobs use these files: all must be able to.  word, letter: of chmod(1). */
static void check_file(const char *path, mode_t mode, const char *word, const char *letter,
                       struct doctor_check *f)
{
    struct stat st;

    if (stat(path, &st) < 0) {
        set_found(f, "%s: %s", path, strerror(errno));
        set_next(f, "make install   (in SyncGuard's tree; or its package syncguard-node; on every node)");
    } else if (!S_ISREG(st.st_mode) || (st.st_mode & mode) != mode) {
        set_found(f, "%s is not %s for all users (mode %03o)", path, word, (unsigned)(st.st_mode & 0777));
        set_next(f, "chmod a+%s %s", letter, path);
    } else if (!check_trust(path, f)) {
        set_found(f, "%s", path);
    }
}

static void check_probe(const struct doctor *d, struct doctor_check *f)
{
    check_file(d->config ? d->config->probe : PKGLIBDIR "/libsyncguard_probe.so", S_IROTH, "readable", "r",
               f);
}

static void check_agent(const struct doctor *d, struct doctor_check *f)
{
    check_file(d->config ? d->config->agent : PKGLIBEXECDIR "/syncguard-agent", S_IXOTH, "executable", "x",
               f);
}

static void check_shm(const struct doctor *d, struct doctor_check *f)
{
    struct statvfs v;
    struct stat st;
    double left;

    (void)d;
    /* The plugin makes it, and puts another in the place of what somebody else made; where that fails, it
     * says so. */
    if (lstat(SHM_PARENT, &st) == 0 && (!S_ISDIR(st.st_mode) || st.st_uid != 0 || st.st_mode & 022)) {
        set_found(f, "%s is not a directory that only root can change (uid %u, mode %03o)", SHM_PARENT,
                  (unsigned)st.st_uid, (unsigned)(st.st_mode & 0777));
        set_next(f, "rm -r %s", SHM_PARENT);
        return;
    }
    if (statvfs(SHM, &v) < 0 || access(SHM, W_OK) < 0) {
        set_found(f, "%s: %s", SHM, strerror(errno));
        set_next(f, "mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs %s", SHM);
        return;
    }
    left = (double)v.f_bavail * (double)v.f_frsize;
    if (!v.f_blocks) {
        set_found(f, "%s has no limit; a rank takes at most 2 MiB", SHM);
        return;
    }
    set_found(f, "%s has %s left; a rank takes at most 2 MiB", SHM, text_bytes(left).s);
    if (left < SHM_BYTES_MIN)
        set_next(f, "ls -l %s   (remove what no running job needs)", SHM);
}

static void check_clock(const struct doctor *d, struct doctor_check *f)
{
    struct err err = { "" };
    double before_s = wall_s();
    json_t *answer = ask_controller(d, "status", &err);
    double half_s = (wall_s() - before_s) / 2; /* the controller answered at some time in between */
    double apart_s = before_s + half_s - json_get_number(answer, "now");

    if (isnan(apart_s)) {
        set_found(f, answer ? "unknown: the controller is of an earlier release"
                            : "unknown: the controller does not answer");
        set_next(f, "sgctl doctor   (again, when the controller answers)");
    } else if (fabs(apart_s) - half_s > DOCTOR_CLOCK_S) {
        set_found(f, "%s %s the controller's, give or take %s; munge refuses at 5 minutes",
                  text_s(fabs(apart_s)).s, apart_s > 0 ? "ahead of" : "behind", text_s(half_s).s);
        set_next(f, "systemctl enable --now chrony");
    } else if (fabs(apart_s) + half_s > DOCTOR_CLOCK_S) {
        set_found(f, "unknown: the controller took %s to answer", text_s(2 * half_s).s);
        set_next(f, "sgctl doctor   (again, when the controller is less busy)");
    } else {
        set_found(f, "agrees with the controller's (lateness needs no common clock, munge does)");
    }
    json_decref(answer);
}

/* ---- in a step: what a task finds on its node ---- */

static bool is_listed(const char *list, const char *path)
{
    size_t length = strlen(path);

    for (; *list; list += strcspn(list, ": "), list += strspn(list, ": "))
        if (!strncmp(list, path, length) && (!list[length] || strchr(": ", list[length])))
            return true;
    return false;
}

static const char *variable(const char *name)
{
    const char *value = getenv(name);

    return value ? value : "";
}

static void check_preload(const struct doctor *d, struct doctor_check *f)
{
    const char *set = variable(PRELOAD_ENV_ADDED), *list = variable("LD_PRELOAD");
    void *loaded = *set ? dlopen(set, RTLD_NOLOAD | RTLD_LAZY) : NULL;

    (void)d;
    if (!*set) {
        set_found(
            f,
            "the plugin set nothing in this step's environment: it runs unguarded, or something replaced the environment");
        set_next(f, "srun -N1 -w %s --sync-guard env | grep -e SYNCGUARD -e LD_PRELOAD",
                 variable("SLURMD_NODENAME"));
    } else if (!is_listed(list, set)) {
        set_found(
            f,
            "the plugin added %s to LD_PRELOAD, and the task has '%.200s': a TaskProlog, a wrapper or a setuid program removed it",
            set, list);
        set_next(f, "scontrol show config | grep -i prolog");
    } else if (!loaded) {
        set_found(f, "LD_PRELOAD has %s, and the program did not load it", set);
        set_next(f, "srun -N1 -w %s ldd %s", variable("SLURMD_NODENAME"), set);
    } else {
        set_found(f, "the probe is loaded");
    }
    if (loaded)
        dlclose(loaded);
}

/* Of all limits, two matter: a rank makes a file of that size, and the agent, which has slurmstepd's limits,
 * opens a file for each rank.  Nothing of ours is locked in memory or dumped as core. */
static void check_limits(const struct doctor *d, struct doctor_check *f)
{
    double files = NAN, ranks = (double)sysconf(_SC_NPROCESSORS_CONF);
    char path[48], line[256];
    struct rlimit size;
    FILE *in;

    (void)d;
    /* the hard limit of open files of the process that starts the agent; NaN: "unlimited", or not known */
    snprintf(path, sizeof(path), "/proc/%d/limits", (int)getppid());
    in = fopen(path, "re");
    while (in && fgets(line, sizeof(line), in))
        if (!strncmp(line, "Max open files", 14) && sscanf(line + 14, " %*s %lf", &files) != 1)
            files = NAN;
    if (in)
        fclose(in);
    if (getrlimit(RLIMIT_FSIZE, &size) == 0 && size.rlim_cur < RING_MAIN_BYTES) {
        set_found(f,
                  "tasks may write files of %s at most, and a rank's ring has %s: no rank would be recorded",
                  text_bytes((double)size.rlim_cur).s, text_bytes(RING_MAIN_BYTES).s);
        set_next(
            f,
            "ulimit -f unlimited   (before srun, or in the limits of slurmd: PropagateResourceLimits in slurm.conf)");
    } else if (files < ranks + FILES_SPARE) {
        set_found(
            f,
            "slurmstepd may open %.0f files, and the agent needs one for each rank: %.0f with a rank for each CPU",
            files, ranks + FILES_SPARE);
        set_next(f, "systemctl edit slurmd   (LimitNOFILE=131072)");
    } else {
        set_found(f, "files of a ring's size, and a file for each rank, are within the limits");
    }
}

static const struct {
    const char *name;
    void (*run)(const struct doctor *d, struct doctor_check *f);
    bool alone, in_step; /* where it is made */
} checks[] = {
    { "configuration", check_configuration, true, true },
    { "munge", check_munge, true, true },
    { "controller", check_controller, true, true },
    { "plugin", check_plugin, true, true },
    { "release", check_release, true, true },
    { "probe", check_probe, true, true },
    { "agent", check_agent, true, true },
    { "shared memory", check_shm, true, true },
    { "clock", check_clock, true, false }, /* many nodes are compared with the host that asks */
    { "limits", check_limits, false, true },
    { "preload", check_preload, false, true },
};

const char *doctor_check_name(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(checks); i++)
        if (checks[i].in_step && !strcmp(checks[i].name, name))
            return checks[i].name;
    return "setup";
}

int doctor_each(const struct doctor *d, doctor_fn *report, void *arg)
{
    int missing = 0;

    for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
        struct doctor_check f = { .name = checks[i].name };

        if (d->in_step ? !checks[i].in_step : !checks[i].alone)
            continue;
        checks[i].run(d, &f);
        report(&f, arg);
        missing += f.missing;
    }
    return missing;
}

static void print_check(const struct doctor_check *f, void *arg)
{
    FILE *out = arg;

    fprintf(out, "%-8s %-14s %s\n", f->missing ? "missing" : "ok", f->name, f->found);
    if (f->missing)
        fprintf(out, "%-8s %-14s next: %s\n", "", "", f->next);
    fflush(out); /* the next one may have to wait for an answer */
}

int doctor_run(const struct doctor *d, FILE *out)
{
    return doctor_each(d, print_check, out);
}
