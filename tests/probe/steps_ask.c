/* steps_ask.c - stands in for an agent: `ask DIR CALL` commits a call number on the control page, `show DIR
 * NAME` prints what a rank reported. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ring/control_page.h"
#include "ring/steps.h"

int main(int argc, char **argv)
{
    struct steps_figures f;
    struct control_page *page;
    struct steps *s;

    if (argc == 4 && !strcmp(argv[1], "ask") && (page = control_page_create(argv[2]))) {
        control_page_ask(page, strtoull(argv[3], NULL, 10), 0, CONTROL_PAGE_ASKED_COMMITTED);
        return 0;
    }
    if (argc == 4 && !strcmp(argv[1], "show") && (s = steps_open(argv[2], argv[3]))) {
        steps_figures_get(s, &f);
        printf("calls %" PRIu64 " yes %" PRIu64 " at %" PRIu64 " writes %" PRIu64 " left %d\n", f.calls,
               f.yes, f.yes_at, f.writes, f.state == STEPS_LEFT);
        return 0;
    }
    return 1;
}
