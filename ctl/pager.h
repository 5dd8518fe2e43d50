/* pager.h - long text on a terminal goes through a pager, as git's does: PAGER, otherwise less, which shows
 * colours and ends at once where the text fits (LESS=FRX, unless LESS is set).  PAGER empty or cat: none.
 * What fits on the screen, and what goes elsewhere than to a terminal, is printed as it is; so is all text
 * where the pager cannot be started. */
#ifndef SYNCGUARD_CTL_PAGER_H
#define SYNCGUARD_CTL_PAGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct pager {
    FILE *out; /* print there */
    char *text;
    size_t size;
};
void pager_begin(struct pager *p);
void pager_end(struct pager *p); /* shows what was printed, and returns when the pager has ended */

/* Standard output is a terminal with colours, and NO_COLOR is not set (no-color.org). */
bool pager_colour(void);
/* The terminal's columns; 0: standard output is none, or its width is not known. */
int pager_columns(void);

#endif
