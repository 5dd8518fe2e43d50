/* syncguard-slurm-helper - the controller's helper: makes one change in Slurm.  It reads a request
 * (actions/slurm_helper.h) from standard input and writes the outcome to standard output.  It has only the
 * rights of the user who runs it. */
#include <stdio.h>
#include <string.h>

#include "actions/slurm_helper.h"

static const char usage[] = "usage: syncguard-slurm-helper < REQUEST\n"
                            "Makes one change in Slurm for syncguardd: a JSON object in, a JSON object out.\n"
                            "Not meant to be run by hand; use sgctl action and sgctl node.\n";

int main(int argc, char **argv)
{
    static char text[SLURM_HELPER_REQUEST_MAX];
    size_t bytes;
    json_t *request, *answer;

    if (argc == 2 && !strcmp(argv[1], "--version")) {
        puts("syncguard-slurm-helper " PACKAGE_VERSION);
        return 0;
    }
    if (argc > 1) {
        fputs(usage, strcmp(argv[1], "--help") ? stderr : stdout);
        return strcmp(argv[1], "--help") ? 2 : 0;
    }
    bytes = fread(text, 1, sizeof(text), stdin);
    request = bytes < sizeof(text) ? json_loadb(text, bytes, JSON_REJECT_DUPLICATES, NULL) : NULL;
    if (!json_is_object(request)) {
        fprintf(stderr, "syncguard-slurm-helper: a request is one JSON object of at most %u bytes\n",
                SLURM_HELPER_REQUEST_MAX - 1);
        return 2;
    }
    answer = slurm_helper_do(request);
    json_dumpf(answer, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(answer);
    json_decref(request);
    return fflush(stdout) == 0 ? 0 : 1;
}
