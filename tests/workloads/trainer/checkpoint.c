#include "tests/workloads/trainer/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/hash.h"
#include "common/xalloc.h"
#include "tests/workloads/shared/text.h"

static const char magic[8] = { 'S', 'G', 'T', 'R', 'A', 'I', 'N', '1' };

struct header {
    char magic[8];
    struct checkpoint_run run;
    int64_t step;
    uint64_t count;
    uint64_t hash; /* of everything before it and the arrays */
};

static uint64_t hash_all(const struct header *h, const struct checkpoint *c)
{
    uint64_t sum = hash_bytes(HASH_START, h, offsetof(struct header, hash));

    sum = hash_bytes(sum, c->parameters, c->count * sizeof(float));
    return hash_bytes(sum, c->velocity, c->count * sizeof(float));
}

/* A rename is durable once its folder is. */
static int sync_folder(const char *path)
{
    char *copy = xstrdup(path);
    int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd < 0 ? -1 : fsync(fd);

    if (fd >= 0)
        close(fd);
    free(copy);
    return rc;
}

int checkpoint_write(const char *path, const struct checkpoint *c, struct err *err)
{
    struct header h = { .run = c->run, .step = c->step, .count = c->count };
    char *beside = xasprintf("%s.tmp", path);
    FILE *f = fopen(beside, "wb");
    int rc = 0;

    memcpy(h.magic, magic, sizeof(magic));
    h.hash = hash_all(&h, c);
    if (!f) {
        rc = err_set(err, "%s: %s", beside, strerror(errno));
        goto done;
    }
    if (fwrite(&h, sizeof(h), 1, f) != 1 || fwrite(c->parameters, sizeof(float), c->count, f) != c->count ||
        fwrite(c->velocity, sizeof(float), c->count, f) != c->count || fflush(f) != 0 || fsync(fileno(f)) < 0)
        rc = err_set(err, "%s: %s", beside, strerror(errno));
    if (fclose(f) != 0 && rc == 0)
        rc = err_set(err, "%s: %s", beside, strerror(errno));
    if (rc == 0 && (rename(beside, path) < 0 || sync_folder(path) < 0))
        rc = err_set(err, "%s: %s", path, strerror(errno));
done:
    free(beside);
    return rc;
}

static int read_checked(FILE *f, const char *path, struct checkpoint *c, struct err *err)
{
    struct checkpoint got = *c;
    struct header h;

    if (fread(&h, sizeof(h), 1, f) != 1 || memcmp(h.magic, magic, sizeof(magic)) != 0)
        return err_set(err, "%s: not a checkpoint of this program", path);
    if (memcmp(&h.run, &c->run, sizeof(h.run)) != 0 || h.count != c->count)
        return err_set(
            err,
            "%s: of another run (its seed %llu, ranks %d, batch %d, context %d, hidden %d, inner %d); text "
            "and options must be the same",
            path, (unsigned long long)h.run.seed, h.run.ranks, h.run.batch, h.run.context, h.run.hidden,
            h.run.inner);
    if (fread(got.parameters, sizeof(float), c->count, f) != c->count ||
        fread(got.velocity, sizeof(float), c->count, f) != c->count || fgetc(f) != EOF ||
        hash_all(&h, &got) != h.hash)
        return err_set(err, "%s: damaged", path);
    c->step = h.step;
    return 0;
}

int checkpoint_read(const char *path, struct checkpoint *c, struct err *err)
{
    FILE *f = fopen(path, "rb");
    int rc;

    if (!f)
        return err_set(err, "%s: %s", path, strerror(errno));
    rc = read_checked(f, path, c, err);
    fclose(f);
    return rc;
}
