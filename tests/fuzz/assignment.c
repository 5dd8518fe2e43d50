/* What an sgrun on a host reads from the one that started it: the line that it joins by, then lines of
 * signals. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "run/assignment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char line[ASSIGNMENT_SIGNAL_SIZE] = "", *again;
    struct assignment j, k;
    struct err err;

    memcpy(line, data, bytes < sizeof(line) - 1 ? bytes : sizeof(line) - 1);
    if (assignment_read_signal(line) < 0)
        abort();
    if (assignment_read(&j, (const char *)data, bytes, &err) < 0)
        return 0;
    again = assignment_write(&j);
    if (!again || assignment_read(&k, again, strlen(again), &err) < 0 || strcmp(j.node, k.node) != 0 ||
        j.count != k.count)
        abort();
    free(again);
    assignment_free(&j);
    assignment_free(&k);
    return 0;
}
