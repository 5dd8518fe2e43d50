#include "doctor/host_report.h"

#include <gnu/libc-version.h>
#include <math.h>
#include <munge.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/now.h"
#include "common/utf8.h"
#include "common/xalloc.h"
#include "doctor/plugstack.h"
#include "wire/json.h"

#define HASH_BYTES     16
#define FILE_BYTES_MAX (256u << 20) /* of one that is hashed */

const char *const host_file_names[HOST_FILES] = { [HOST_CONFIGURATION] = "configuration",
                                                  [HOST_PLUGIN] = "plugin",
                                                  [HOST_PROBE] = "probe",
                                                  [HOST_AGENT] = "agent" };

/* ---- credentials ---- */

static munge_ctx_t new_context(const char *socket)
{
    munge_ctx_t ctx = munge_ctx_create();

    if (ctx && socket && *socket)
        munge_ctx_set(ctx, MUNGE_OPT_SOCKET, socket);
    return ctx;
}

static int why_not(munge_ctx_t ctx, munge_err_t e, struct err *err)
{
    return err_set(err, "%s", ctx && munge_ctx_strerror(ctx) ? munge_ctx_strerror(ctx) : munge_strerror(e));
}

char *host_credential_make(const char *munge_socket, struct err *err)
{
    munge_ctx_t ctx = new_context(munge_socket);
    munge_err_t e = EMUNGE_NO_MEMORY;
    char *credential = NULL;

    if (ctx && (e = munge_ctx_set(ctx, MUNGE_OPT_UID_RESTRICTION, geteuid())) == EMUNGE_SUCCESS)
        e = munge_encode(&credential, ctx, NULL, 0);
    if (e != EMUNGE_SUCCESS)
        why_not(ctx, e, err);
    munge_ctx_destroy(ctx);
    return credential;
}

int host_credential_check(const char *munge_socket, const char *credential, struct err *err)
{
    munge_ctx_t ctx = new_context(munge_socket);
    munge_err_t e = ctx ? munge_decode(credential, ctx, NULL, NULL, NULL, NULL) : EMUNGE_NO_MEMORY;
    int rc = e == EMUNGE_SUCCESS || e == EMUNGE_CRED_REPLAYED ? 0 : why_not(ctx, e, err);

    munge_ctx_destroy(ctx);
    return rc;
}

/* ---- taking ---- */

/* In hex; "": it cannot be read, or is not a file of a sensible size. */
static void hash_file(const char *path, char hex[2 * HASH_BYTES + 1])
{
    unsigned char hash[HASH_BYTES], part[65536];
    crypto_generichash_state state;
    size_t n, all = 0;
    FILE *f = fopen(path, "re");

    hex[0] = '\0';
    if (!f)
        return;
    crypto_generichash_init(&state, NULL, 0, sizeof(hash));
    while ((n = fread(part, 1, sizeof(part), f)) > 0 && (all += n) <= FILE_BYTES_MAX)
        crypto_generichash_update(&state, part, n);
    crypto_generichash_final(&state, hash, sizeof(hash));
    if (!ferror(f) && all <= FILE_BYTES_MAX)
        sodium_bin2hex(hex, 2 * HASH_BYTES + 1, hash, sizeof(hash));
    fclose(f);
}

static void take_check(const struct doctor_check *check, void *arg)
{
    struct host_report *r = arg;
    struct host_check *to;

    if (r->n_checks == HOST_CHECKS_MAX)
        return;
    to = &r->check[r->n_checks++];
    utf8_clean(to->name, sizeof(to->name), check->name);
    to->missing = check->missing;
    utf8_clean(to->found, sizeof(to->found), check->found);
    utf8_clean(to->next, sizeof(to->next), check->next);
}

void host_report_take(struct host_report *r, const struct doctor *d, const char *credential)
{
    const char *socket = d->client.end.munge_socket;
    const char *node = getenv("SLURMD_NODENAME");
    const char *paths[HOST_FILES] = { [HOST_CONFIGURATION] = d->config_path,
                                      [HOST_PROBE] = d->config ? d->config->probe : NULL,
                                      [HOST_AGENT] = d->config ? d->config->agent : NULL };
    struct plugstack p;
    struct utsname u = { 0 };
    struct err err = { "" };
    char *own;

    *r = (struct host_report){ 0 };
    uname(&u);
    utf8_clean(r->node, sizeof(r->node), node && *node ? node : u.nodename);
    snprintf(r->version, sizeof(r->version), "%s", PACKAGE_VERSION);
    snprintf(r->platform, sizeof(r->platform), "%.30s libc %.20s", u.machine, gnu_get_libc_version());
    doctor_each(d, take_check, r);
    plugstack_locate(&p, d->slurm_conf);
    if (plugstack_find(&p, DOCTOR_PLUGIN, NULL) == 0 && *p.plugin == '/')
        paths[HOST_PLUGIN] = p.plugin;
    for (size_t i = 0; i < HOST_FILES; i++) {
        if (!paths[i])
            continue;
        utf8_clean(r->file[i].path, sizeof(r->file[i].path), paths[i]);
        hash_file(paths[i], r->file[i].hash);
    }
    own = host_credential_make(socket, NULL);
    if (own && strlen(own) < sizeof(r->credential))
        snprintf(r->credential, sizeof(r->credential), "%s", own);
    if (own && credential && *credential && host_credential_check(socket, credential, &err) < 0)
        utf8_clean(r->refused, sizeof(r->refused), err.text);
    free(own);
    r->at_s = wall_s();
}

/* ---- as text ---- */

static const struct json_field fields[] = {
    { "node", FIELD_TEXT, FIELD(struct host_report, node) },
    { "version", FIELD_TEXT, FIELD(struct host_report, version) },
    { "platform", FIELD_TEXT, FIELD(struct host_report, platform) },
    { "credential", FIELD_TEXT, FIELD(struct host_report, credential) },
    { "refused", FIELD_TEXT, FIELD(struct host_report, refused) },
    { "at_s", FIELD_NUMBER, FIELD(struct host_report, at_s) },
    { 0 },
};
static const struct json_field digest_fields[] = {
    { "path", FIELD_TEXT, FIELD(struct host_digest, path) },
    { "hash", FIELD_TEXT, FIELD(struct host_digest, hash) },
    { 0 },
};
static const struct json_field check_fields[] = {
    { "check", FIELD_TEXT, FIELD(struct host_check, name) },
    { "missing", FIELD_TRUE, FIELD(struct host_check, missing) },
    { "text", FIELD_TEXT, FIELD(struct host_check, found) },
    { "next", FIELD_TEXT, FIELD(struct host_check, next) },
    { 0 },
};

json_t *host_report_json(const struct host_report *r)
{
    json_t *o = json_object(), *files = json_object();

    json_put_fields(o, r, fields);
    for (size_t i = 0; i < HOST_FILES; i++) {
        json_t *file = json_object();

        json_put_fields(file, &r->file[i], digest_fields);
        json_put_json(files, host_file_names[i], file);
    }
    json_put_json(o, "files", files);
    json_put_rows(o, "checks", r->check, sizeof(*r->check), r->n_checks, check_fields);
    return o;
}

int host_report_read(struct host_report *r, const char *text, size_t bytes, struct err *err)
{
    json_error_t e;
    json_t *o;
    const json_t *files;

    *r = (struct host_report){ .at_s = NAN };
    if (bytes > HOST_REPORT_BYTES_MAX)
        return err_set(err, "its report has more than %u bytes", HOST_REPORT_BYTES_MAX);
    o = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &e);
    if (!o)
        return err_set(err, "its report is not JSON: line %d: %s", e.line, e.text);
    files = json_get_object(o, "files");
    json_get_fields(r, o, fields);
    for (size_t i = 0; i < HOST_FILES; i++)
        json_get_fields(&r->file[i], json_get_object(files, host_file_names[i]), digest_fields);
    r->n_checks = json_get_rows(r->check, sizeof(*r->check), HOST_CHECKS_MAX, o, "checks", check_fields);
    json_decref(o);
    return *r->node && *r->version ? 0 : err_set(err, "its report has no node or no version");
}
