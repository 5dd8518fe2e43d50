/* page_files.h - answers of the controller in tests/ctl/NAME.json, and the pages that are printed of them, in
 * files beside these. */
#ifndef SYNCGUARD_TESTS_PAGE_FILES_H
#define SYNCGUARD_TESTS_PAGE_FILES_H

#include <stdio.h>
#include <stdlib.h>

#define PAGE_FILE_MAX (1u << 20)

/* Valid until the next call. */
static inline const char *page_file_path(const char *name, const char *suffix)
{
    static char path[4096];
    const char *top = getenv("top_srcdir");

    snprintf(path, sizeof(path), "%s/tests/ctl/%s.%s", top ? top : ".", name, suffix);
    return path;
}

/* What the page should be, "" without a file; with UPDATE=1 what it is, which the file then has.  The caller
 * frees it. */
static inline char *page_file_wanted(const char *name, const char *suffix, const char *got)
{
    char *text = calloc(1, PAGE_FILE_MAX);
    FILE *f;

    if (getenv("UPDATE")) {
        f = fopen(page_file_path(name, suffix), "we");
        fputs(got, f);
        fclose(f);
    }
    f = fopen(page_file_path(name, suffix), "re");
    if (f) {
        text[fread(text, 1, PAGE_FILE_MAX - 1, f)] = '\0';
        fclose(f);
    }
    return text;
}

#endif
