#include "tests/workloads/shared/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/hash.h"
#include "common/xalloc.h"

static int add_file(struct text *t, const char *path, size_t size, struct err *err)
{
    FILE *f = fopen(path, "rb");
    size_t got;

    if (!f)
        return err_set(err, "%s: %s", path, strerror(errno));
    t->byte = xrealloc(t->byte, t->length + size + 1, 1);
    got = fread(t->byte + t->length, 1, size, f);
    fclose(f);
    if (got != size)
        return err_set(err, "%s: read %zu of %zu bytes", path, got, size);
    t->length += size;
    return 0;
}

static int is_regular(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

/* By name, so that every rank on every node reads the same; links would only repeat a text. */
static int add_folder(struct text *t, const char *folder, struct err *err)
{
    struct dirent **entry;
    int n = scandir(folder, &entry, is_regular, alphasort), rc = 0;

    if (n < 0)
        return err_set(err, "%s: %s", folder, strerror(errno));
    for (int i = 0; i < n; i++) {
        char path[4096];
        struct stat st;

        snprintf(path, sizeof(path), "%s/%s", folder, entry[i]->d_name);
        if (rc == 0 && lstat(path, &st) == 0 && S_ISREG(st.st_mode))
            rc = add_file(t, path, (size_t)st.st_size, err);
        free(entry[i]);
    }
    free(entry);
    return rc;
}

static int add_path(struct text *t, const char *path, struct err *err)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return err_set(err, "%s: %s", path, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return add_folder(t, path, err);
    if (!S_ISREG(st.st_mode))
        return err_set(err, "%s: neither a file nor a folder", path);
    return add_file(t, path, (size_t)st.st_size, err);
}

static void number_symbols(struct text *t)
{
    bool seen[256] = { false };

    for (size_t i = 0; i < t->length; i++)
        seen[t->byte[i]] = true;
    for (int c = 0; c < 256; c++)
        if (seen[c]) {
            t->letter[t->symbols] = (unsigned char)c;
            t->id[c] = (unsigned char)t->symbols++;
        }
}

int text_load(struct text *t, const struct paths *paths, struct err *err)
{
    const struct paths licences = { (char *[]){ (char[]){ TEXT_DEFAULT } }, 1 };

    *t = (struct text){ 0 };
    if (paths->n == 0)
        paths = &licences;
    for (size_t i = 0; i < paths->n; i++)
        if (add_path(t, paths->path[i], err) < 0)
            goto fail;
    if (t->length < 1000) {
        err_set(err, "%s: %zu bytes of text in all, at least 1000 are needed", paths->path[0], t->length);
        goto fail;
    }
    t->train = t->length - t->length / 20;
    t->hash = hash_bytes(HASH_START, t->byte, t->length);
    number_symbols(t);
    return 0;
fail:
    text_free(t);
    return -1;
}

void text_free(struct text *t)
{
    free(t->byte);
    *t = (struct text){ 0 };
}
