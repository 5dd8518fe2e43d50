/* replay.c - a main for fuzz targets without a fuzzer: files for LLVMFuzzerTestOneInput, a TAP line each.
 *     PROGRAM [FILE|FOLDER...]    without arguments: $top_srcdir/tests/fuzz/NAME.corpus, of NAME.fuzz */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/tap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A path's last two names, as in conf.corpus/loop: the source tree lies elsewhere in another run. */
static const char *named(const char *path)
{
    const char *at = strrchr(path, '/');

    while (at && at > path && at[-1] != '/')
        at--;
    return at ? at : path;
}

static void replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    size_t size = 0, cap = 1u << 24;
    uint8_t *data = malloc(cap), *exact;

    if (f && data)
        size = fread(data, 1, cap, f);
    /* A block of exactly that size: reading past its end is then seen by the sanitizer. */
    exact = malloc(size ? size : 1);
    if (!f || !data || !exact) {
        ok(false, "%s cannot be read", named(path));
    } else {
        memcpy(exact, data, size);
        LLVMFuzzerTestOneInput(exact, size);
        ok(true, "%s", named(path));
    }
    free(exact);
    free(data);
    if (f)
        fclose(f);
}

static void replay(const char *path)
{
    struct dirent **names;
    char file[4096];
    struct stat st;
    int n;

    if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode)) {
        replay_file(path);
        return;
    }
    n = scandir(path, &names, NULL, alphasort);
    if (n < 0) {
        ok(false, "%s cannot be read", named(path));
        return;
    }
    for (int i = 0; i < n; i++) {
        snprintf(file, sizeof(file), "%s/%s", path, names[i]->d_name);
        if (names[i]->d_name[0] != '.')
            replay_file(file);
        free(names[i]);
    }
    free(names);
}

int main(int argc, char **argv)
{
    const char *top = getenv("top_srcdir"), *slash = strrchr(argv[0], '/');
    const char *name = slash ? slash + 1 : argv[0];
    char corpus[4096];

    if (!strncmp(name, "lt-", 3)) /* libtool's own name for it in the build tree */
        name += 3;
    snprintf(corpus, sizeof(corpus), "%s/tests/fuzz/%.*s.corpus", top ? top : ".", (int)strcspn(name, "."),
             name);
    if (argc < 2)
        replay(corpus);
    for (int i = 1; i < argc; i++)
        replay(argv[i]);
    return done_testing();
}
