/* identity.c - fuzz target: what a credential can say, and what an agent can be handed.  The first byte
 * chooses. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "wire/auth.h"
#include "wire/identity.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *payload;
static size_t payload_bytes;

/* Instead of munge: any user can have any payload signed. */
ssize_t auth_decode(const char *socket, const char *credential, void *out, size_t max, uid_t *uid,
                    struct err *err)
{
    (void)socket;
    (void)credential;
    if (payload_bytes > max)
        return err_set(err, "munge: credential with another payload");
    memcpy(out, payload, payload_bytes);
    *uid = 1000;
    return (ssize_t)payload_bytes;
}

char *auth_encode(const char *socket, const void *data, size_t bytes, struct err *err)
{
    (void)socket;
    (void)data;
    (void)bytes;
    (void)err;
    return NULL;
}

static void check(void)
{
    struct identity_check c;
    struct err err;

    if (identity_check(NULL, "MUNGE:x:", 8, &c, &err) < 0) {
        if (c.claims)
            abort();
        return;
    }
    if (c.role < IDENTITY_STEP || c.role > IDENTITY_USER || !json_is_object(c.claims))
        abort();
    identity_check_clear(&c);
}

static void load(void)
{
    int fd = memfd_create("identity", MFD_CLOEXEC);
    struct identity *i;
    struct err err;

    if (write(fd, payload, payload_bytes) != (ssize_t)payload_bytes)
        abort();
    i = identity_load(fd, &err);
    if (i && strlen(i->credential) > IDENTITY_CREDENTIAL_MAX)
        abort();
    identity_free(i);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    payload = data + 1;
    payload_bytes = size - 1;
    if (*data & 1)
        load();
    else
        check();
    return 0;
}
