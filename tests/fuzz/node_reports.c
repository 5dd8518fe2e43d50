/* node_reports.c - fuzz target: what a step of doctor --cluster prints, and what is made of it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "doctor/nodes.h"

#define TASKS 3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *decode(void *arg, const char *credential, struct err *err)
{
    (void)arg;
    if (*credential == 'x')
        err_set(err, "Invalid credential");
    return *credential == 'x' ? err->text : "";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const nodes[TASKS] = { "node1", "node2", "node3" };
    char *text = xcalloc(1, size + 1), *rest = text, *line;
    struct host_report own = { .version = "1.0",
                               .platform = "x86_64",
                               .file = { { .hash = "1" }, { .hash = "2" } } };
    struct node_answers answers;
    struct nodes_facts c = {
        .asked = nodes, .n = TASKS, .answers = &answers, .own = &own, .limit_s = 20, .decode = decode
    };
    struct findings f = { 0 };

    memcpy(text, data, size);
    node_answers_begin(&answers, TASKS, 1000);
    while ((line = strsep(&rest, "\n")))
        node_answers_line(&answers, line, 1001);
    if (node_answers_count(&answers) > TASKS)
        abort();
    nodes_judge(&c, &f);
    if (!f.n) /* three nodes were asked: something can be said of them */
        abort();
    findings_free(&f);
    node_answers_free(&answers);
    free(text);
    return 0;
}
