/* tree.h - a folder of the test's own with files in it, as the kernel would have written them. */
#ifndef SYNCGUARD_TESTS_TREE_H
#define SYNCGUARD_TESTS_TREE_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char root[64]; /* "" until tree_new() */

static inline void tree_new(void)
{
    strcpy(root, "/tmp/tree-test-XXXXXX");
    if (!mkdtemp(root))
        perror("# mkdtemp");
}

static inline void tree_remove(void)
{
    char rm[128];

    snprintf(rm, sizeof(rm), "rm -rf %s", root);
    if (system(rm))
        perror("# rm");
}

/* Write a file under the root, with the folders on the way to it. */
__attribute__((format(printf, 2, 3))) static inline void put(const char *path, const char *fmt, ...)
{
    char full[512];
    va_list ap;
    FILE *f;

    snprintf(full, sizeof(full), "%s/%s", root, path);
    for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        mkdir(full, 0700);
        *p = '/';
    }
    f = fopen(full, "we");
    va_start(ap, fmt);
    vfprintf(f, fmt, ap);
    va_end(ap);
    fclose(f);
}

#endif
