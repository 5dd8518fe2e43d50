/* page_form.h - how text for people is laid out. */
#ifndef SYNCGUARD_CTL_PAGE_FORM_H
#define SYNCGUARD_CTL_PAGE_FORM_H

#include <stdbool.h>

struct page_form {
    /* the terminal's width; 0 where there is none: tables are as wide as they need (common/text.h) */
    int columns;
    /* titles and what is good or bad stand out by the terminal's own colours; words say the same */
    bool colour;
    /* how to have the rest of a job's report, where the controller cannot be asked for it; NULL: sgctl job
     * --full */
    const char *more;
};

#endif
