/* arguments.h - sgtop's command line (common/options.h). */
#ifndef SYNCGUARD_TUI_ARGUMENTS_H
#define SYNCGUARD_TUI_ARGUMENTS_H

#include <stdbool.h>

#include "common/options.h"

struct arguments {
    const struct options *options;
    const char *job;    /* NULL: the list */
    const char *replay; /* a trace instead of a controller */
    double interval_s, speed, from_s;
    int width, height; /* of --size; 0: natural */
    bool dump, json, mono, ascii;
};

extern const struct options_program sgtop_program;

/* 0, or -1 with what is accepted.  Options are borrowed. */
int arguments_read(struct arguments *a, const struct options *o, struct err *err);

#endif
