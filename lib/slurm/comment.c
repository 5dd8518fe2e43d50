#include "slurm/comment.h"

#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

/* Length of the text of others: SyncGuard's begins with the mark, at the start or after "; ". */
static size_t others(const char *old)
{
    const char *at = old;

    while ((at = strstr(at, COMMENT_MARK))) {
        if (at == old)
            return 0;
        if (at - old >= 2 && at[-2] == ';' && at[-1] == ' ')
            return (size_t)(at - old) - 2;
        at++;
    }
    return strlen(old);
}

char *comment_merge(const char *old, const char *text)
{
    size_t n = old ? others(old) : 0;
    char *merged = xasprintf("%.*s%s" COMMENT_MARK "%s", (int)n, old ? old : "", n ? "; " : "", text);

    for (char *c = merged; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = ' ';
    return merged;
}
