#include "wire/identity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/xalloc.h"
#include "wire/auth.h"

#define MAGIC  "SGID"
#define FORMAT 1u

/* The payload: this head, then the claims as JSON. */
struct head {
    char magic[4];
    uint8_t version, role;
    uint8_t public_key[SEAL_KEY_BYTES];
};

/* What is saved: this head, then the credential's text. */
struct saved {
    char magic[4];
    uint8_t credential_bytes[4];
    struct seal_pair pair;
};

/* The caller frees the credential. */
static char *vouch(const char *munge_socket, const struct head *head, const char *claims, struct err *err)
{
    size_t bytes = strlen(claims);
    uint8_t *payload;
    char *credential;

    if (bytes > IDENTITY_CLAIMS_MAX) {
        err_set(err, "the claims have %zu bytes, expected at most %u", bytes, IDENTITY_CLAIMS_MAX);
        return NULL;
    }
    payload = xcalloc(1, sizeof(*head) + bytes);
    memcpy(payload, head, sizeof(*head));
    memcpy(payload + sizeof(*head), claims, bytes);
    credential = auth_encode(munge_socket, payload, sizeof(*head) + bytes, err);
    free(payload);
    if (!credential || strlen(credential) <= IDENTITY_CREDENTIAL_MAX)
        return credential;
    err_set(err, "munge: credential of %zu bytes, expected at most %u", strlen(credential),
            IDENTITY_CREDENTIAL_MAX);
    free(credential);
    return NULL;
}

struct identity *identity_new(const char *munge_socket, enum identity_role role, const json_t *claims,
                              struct err *err)
{
    struct identity *i = xcalloc(1, sizeof(*i));
    struct head head = { .magic = MAGIC, .version = FORMAT, .role = (uint8_t)role };
    char *text = claims ? json_dumps(claims, JSON_COMPACT) : xstrdup("{}");

    if (!text) {
        err_set(err, "the claims cannot be written as JSON");
    } else if (seal_pair_new(&i->pair) < 0) {
        err_set(err, "no random numbers for a key");
    } else {
        memcpy(head.public_key, i->pair.public_key, sizeof(head.public_key));
        i->credential = vouch(munge_socket, &head, text, err);
    }
    free(text);
    if (i->credential)
        return i;
    identity_free(i);
    return NULL;
}

void identity_free(struct identity *i)
{
    if (!i)
        return;
    seal_wipe(&i->pair, sizeof(i->pair));
    free(i->credential);
    free(i);
}

/* ---- handed to another process ---- */

static int write_all(int fd, const void *data, size_t bytes, struct err *err)
{
    const char *p = data;

    while (bytes) {
        ssize_t n = write(fd, p, bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return err_set(err, "cannot write the identity: %s", strerror(errno));
        p += n;
        bytes -= (size_t)n;
    }
    return 0;
}

int identity_save(const struct identity *i, int fd, struct err *err)
{
    struct saved saved = { .magic = MAGIC, .pair = i->pair };
    int rc;

    seal_u32_put(saved.credential_bytes, (uint32_t)strlen(i->credential));
    rc = write_all(fd, &saved, sizeof(saved), err);
    seal_wipe(&saved, sizeof(saved));
    return rc < 0 ? rc : write_all(fd, i->credential, strlen(i->credential), err);
}

struct identity *identity_load(int fd, struct err *err)
{
    struct identity *i = xcalloc(1, sizeof(*i));
    struct saved saved;
    char why[300] = "";
    uint32_t bytes = 0;

    if (pread(fd, &saved, sizeof(saved), 0) == sizeof(saved) &&
        !memcmp(saved.magic, MAGIC, sizeof(saved.magic)))
        bytes = seal_u32_get(saved.credential_bytes);
    if (bytes && bytes <= IDENTITY_CREDENTIAL_MAX) {
        i->pair = saved.pair;
        i->credential = xcalloc(1, bytes + 1);
        if (pread(fd, i->credential, bytes, sizeof(saved)) == (ssize_t)bytes)
            return i;
    }
    if (!bytes && pread(fd, why, sizeof(why) - 1, 0) > 0)
        why[strcspn(why, "\n")] = '\0';
    err_set(err, "%s", *why ? why : "no identity was handed over");
    identity_free(i);
    return NULL;
}

/* ---- of another ---- */

int identity_check(const char *munge_socket, const char *credential, size_t bytes,
                   struct identity_check *check, struct err *err)
{
    struct {
        struct head head;
        char claims[IDENTITY_CLAIMS_MAX];
    } payload;
    char text[IDENTITY_CREDENTIAL_MAX + 1];
    ssize_t n;

    memset(check, 0, sizeof(*check));
    if (bytes > IDENTITY_CREDENTIAL_MAX)
        return err_set(err, "credential of %zu bytes, expected at most %u", bytes, IDENTITY_CREDENTIAL_MAX);
    memcpy(text, credential, bytes);
    text[bytes] = '\0';
    n = auth_decode(munge_socket, text, &payload, sizeof(payload), &check->maker, err);
    if (n < 0)
        return -1;
    if ((size_t)n < sizeof(payload.head) || memcmp(payload.head.magic, MAGIC, sizeof(payload.head.magic)) ||
        payload.head.version != FORMAT || payload.head.role < IDENTITY_STEP ||
        payload.head.role > IDENTITY_USER)
        return err_set(err, "the credential was made for something else");
    check->claims =
        json_loadb(payload.claims, (size_t)n - sizeof(payload.head), JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(check->claims)) {
        identity_check_clear(check);
        return err_set(err, "the credential's claims are not a JSON object");
    }
    check->role = payload.head.role;
    memcpy(check->public_key, payload.head.public_key, sizeof(check->public_key));
    return 0;
}

void identity_check_clear(struct identity_check *check)
{
    json_decref(check->claims);
    check->claims = NULL;
}
