/* options.h - sgtop's command line: one table for parsing and --help. */
#ifndef SYNCGUARD_TUI_OPTIONS_H
#define SYNCGUARD_TUI_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "common/err.h"

struct options {
    const char *job;                              /* NULL: the list */
    const char *controller, *munge_socket, *conf; /* NULL: as the configuration says */
    const char *replay;                           /* a trace instead of a controller */
    double interval_s, speed, from_s;
    int width, height; /* of --size; 0: natural */
    bool dump, json, mono, ascii, help, version;
};

/* 0, or -1 with what is accepted. */
int options_parse(struct options *o, int argc, char **argv, struct err *err);
void options_help(FILE *out);
/* "-x, --xxx VALUE" of every option, for the test of the manual page. */
void options_names(FILE *out);

#endif
