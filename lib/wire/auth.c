#include "wire/auth.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <munge.h>

static munge_ctx_t open_ctx(const char *socket, struct err *err)
{
    munge_ctx_t ctx = munge_ctx_create();

    if (!ctx) {
        err_set(err, "munge: out of memory");
        return NULL;
    }
    if (socket && *socket && munge_ctx_set(ctx, MUNGE_OPT_SOCKET, socket) != EMUNGE_SUCCESS) {
        err_set(err, "munge: %s", munge_ctx_strerror(ctx));
        munge_ctx_destroy(ctx);
        return NULL;
    }
    return ctx;
}

static void set_reason(munge_ctx_t ctx, munge_err_t rc, struct err *err)
{
    const char *detail = munge_ctx_strerror(ctx);

    err_set(err, "munge: %s", detail ? detail : munge_strerror(rc));
}

char *auth_encode(const char *socket, const void *payload, size_t bytes, struct err *err)
{
    munge_ctx_t ctx = open_ctx(socket, err);
    char *credential = NULL;
    munge_err_t rc;

    if (!ctx)
        return NULL;
    rc = munge_encode(&credential, ctx, payload, (int)bytes);
    if (rc != EMUNGE_SUCCESS) {
        set_reason(ctx, rc, err);
        free(credential);
        credential = NULL;
    }
    munge_ctx_destroy(ctx);
    return credential;
}

/* munge delivers the payload of these, too, and it is the creator's (munge_decode(3)). */
static bool authentic(munge_err_t rc)
{
    return rc == EMUNGE_SUCCESS || rc == EMUNGE_CRED_EXPIRED || rc == EMUNGE_CRED_REWOUND ||
           rc == EMUNGE_CRED_REPLAYED;
}

ssize_t auth_decode(const char *socket, const char *credential, void *payload, size_t max, uid_t *uid,
                    struct err *err)
{
    munge_ctx_t ctx = open_ctx(socket, err);
    void *got = NULL;
    int len = 0;
    ssize_t result = -1;
    uid_t maker = (uid_t)-1;
    munge_err_t rc;

    if (!ctx)
        return -1;
    rc = munge_decode(credential, ctx, &got, &len, &maker, NULL);
    if (!authentic(rc)) {
        set_reason(ctx, rc, err);
    } else if (!got || len < 0 || (size_t)len > max) {
        err_set(err, "munge: credential with another payload");
    } else {
        memcpy(payload, got, (size_t)len);
        *uid = maker;
        result = len;
    }
    free(got);
    munge_ctx_destroy(ctx);
    return result;
}
