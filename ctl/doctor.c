#include "ctl/doctor.h"

#include <errno.h>
#include <math.h>
#include <munge.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/now.h"
#include "common/text.h"
#include "common/trust.h"
#include "common/xalloc.h"
#include "ctl/plugstack.h"
#include "wire/json.h"

#define PLUGIN_NAME   "syncguard.so"
#define SHM           "/dev/shm"
#define SHM_BYTES_MIN (64u << 20)
/* Munge refuses credentials at 300 s; well before, logs of two hosts no longer match. */
#define CLOCK_WARN_S 5.0

/* What a check found. */
struct finding {
    bool missing;
    char found[1200];
    char next[1200]; /* the command to type */
};

__attribute__((format(printf, 2, 3))) static void found(struct finding *f, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(f->found, sizeof(f->found), fmt, ap);
    va_end(ap);
}

__attribute__((format(printf, 2, 3))) static void next(struct finding *f, const char *fmt, ...)
{
    va_list ap;

    f->missing = true;
    va_start(ap, fmt);
    vsnprintf(f->next, sizeof(f->next), fmt, ap);
    va_end(ap);
}

/* How many bytes of a path name its folder. */
static int folder_bytes(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (int)(slash - path) : 0;
}

/* slurmstepd uses no file that others can change.  True when this is such a file. */
static bool check_trust(const char *path, struct finding *f)
{
    struct err err = { "" };

    if (trust_check(path, &err) == 0)
        return false;
    found(f, "%s: nodes use only what root alone can change", err.text);
    next(f, "chown root:root PATH; chmod go-w PATH   (of what is named above)");
    return true;
}

static void check_configuration(const struct doctor *d, struct finding *f)
{
    char names[512];

    if (!d->config) {
        found(f, "%s", d->config_err.text);
        next(f, "sgctl config check %s", d->config_path);
    } else if (access(d->config_path, R_OK) < 0) {
        found(f, "%s: %s (defaults are used)", d->config_path, strerror(errno));
        next(f, "mkdir -p %.*s && echo Controller=HOST-OF-SYNCGUARDD > %s", folder_bytes(d->config_path),
             d->config_path, d->config_path);
    } else if (!check_trust(d->config_path, f)) {
        found(f, "%s, policies %s", d->config_path, config_policy_names(d->config, names, sizeof(names)));
    }
}

static void check_munge(const struct doctor *d, struct finding *f)
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
        found(f, "creates and decodes credentials");
    } else {
        found(f, "%s", ctx && munge_ctx_strerror(ctx) ? munge_ctx_strerror(ctx) : munge_strerror(e));
        next(f, "systemctl enable --now munge");
    }
    free(credential);
    munge_ctx_destroy(ctx);
}

static json_t *ask(const struct doctor *d, const char *query, struct err *err)
{
    json_t *question = json_pack("{s:s}", "query", query);
    json_t *answer = client_ask(&d->client, question, d->timeout_s, err);

    json_decref(question);
    return answer;
}

static void check_controller(const struct doctor *d, struct finding *f)
{
    struct err err = { "" };
    json_t *answer = ask(d, "status", &err);
    char host[128], version[64];

    if (answer) {
        found(f, "syncguardd %s on %s", show_text(answer, "version", version, sizeof(version)),
              show_text(answer, "host", host, sizeof(host)));
    } else {
        found(f, "%s", err.text);
        next(f, "systemctl enable --now syncguardd   (on %s)", d->client.hosts);
    }
    json_decref(answer);
}

/* The plugin's configuration must be the one that was checked above. */
static void check_plugin(const struct doctor *d, struct finding *f)
{
    struct plugstack p;
    struct err err = { "" };

    plugstack_locate(&p, d->slurm_conf);
    if (plugstack_find(&p, PLUGIN_NAME, &err) < 0) {
        found(f, "%s", err.text);
        next(f, "echo 'optional %s/%s' >> %s", PKGLIBDIR, PLUGIN_NAME, p.path);
    } else if (strchr(p.plugin, '/') && access(p.plugin, R_OK) < 0) {
        found(f, "%s: %s: %s", p.where, p.plugin, strerror(errno));
        next(f, "sed -i 's|%s|%s/%s|' %s", p.plugin, PKGLIBDIR, PLUGIN_NAME, p.path);
    } else if (p.required) {
        found(f, "%s: with 'required', a failing guard would fail jobs", p.where);
        next(f, "sed -i '/%s/s/required/optional/' %s", PLUGIN_NAME, p.path);
    } else {
        found(f, "%s%s%s", p.where, *p.arguments ? ", with " : "", p.arguments);
    }
}

/* Other users' jobs use these files: all must be able to.  word, letter: of chmod(1). */
static void check_file(const char *path, mode_t mode, const char *word, const char *letter, struct finding *f)
{
    struct stat st;

    if (stat(path, &st) < 0) {
        found(f, "%s: %s", path, strerror(errno));
        next(f, "make install   (in SyncGuard's tree, on every node)");
    } else if (!S_ISREG(st.st_mode) || (st.st_mode & mode) != mode) {
        found(f, "%s is not %s for all users (mode %03o)", path, word, (unsigned)(st.st_mode & 0777));
        next(f, "chmod a+%s %s", letter, path);
    } else if (!check_trust(path, f)) {
        found(f, "%s", path);
    }
}

static void check_probe(const struct doctor *d, struct finding *f)
{
    check_file(d->config ? d->config->probe : PKGLIBDIR "/libsyncguard_probe.so", S_IROTH, "readable", "r",
               f);
}

static void check_agent(const struct doctor *d, struct finding *f)
{
    check_file(d->config ? d->config->agent : PKGLIBEXECDIR "/syncguard-agent", S_IXOTH, "executable", "x",
               f);
}

static void check_shm(const struct doctor *d, struct finding *f)
{
    struct statvfs v;
    double left;

    (void)d;
    if (statvfs(SHM, &v) < 0 || access(SHM, W_OK) < 0) {
        found(f, "%s: %s", SHM, strerror(errno));
        next(f, "mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs %s", SHM);
        return;
    }
    left = (double)v.f_bavail * (double)v.f_frsize;
    found(f, "%s has %s left; a rank takes at most 2 MiB", SHM, text_bytes(left).s);
    if (left < SHM_BYTES_MIN)
        next(f, "ls -l %s   (remove what no running job needs)", SHM);
}

static void check_clock(const struct doctor *d, struct finding *f)
{
    struct err err = { "" };
    double before_s = wall_s();
    json_t *answer = ask(d, "jobs", &err);
    double apart = (before_s + wall_s()) / 2 - get_number(answer, "now");

    if (isnan(apart)) {
        found(f, "unknown: the controller does not answer");
        next(f, "sgctl doctor   (again, when the controller answers)");
    } else if (fabs(apart) > CLOCK_WARN_S) {
        found(f, "%s %s the controller's; munge refuses at 5 minutes", text_s(fabs(apart)).s,
              apart > 0 ? "ahead of" : "behind");
        next(f, "systemctl enable --now chrony");
    } else {
        found(f, "agrees with the controller's (lateness needs no common clock, munge does)");
    }
    json_decref(answer);
}

static const struct {
    const char *name;
    void (*run)(const struct doctor *d, struct finding *f);
} checks[] = {
    { "configuration", check_configuration },
    { "munge", check_munge },
    { "controller", check_controller },
    { "plugin", check_plugin },
    { "probe", check_probe },
    { "agent", check_agent },
    { "shared memory", check_shm },
    { "clock", check_clock },
};

int doctor_run(const struct doctor *d, FILE *out)
{
    int missing = 0;

    for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
        struct finding f = { 0 };

        checks[i].run(d, &f);
        fprintf(out, "%-8s %-14s %s\n", f.missing ? "missing" : "ok", checks[i].name, f.found);
        if (f.missing)
            fprintf(out, "%-8s %-14s next: %s\n", "", "", f.next);
        fflush(out); /* the next one may have to wait for an answer */
        missing += f.missing;
    }
    return missing;
}
