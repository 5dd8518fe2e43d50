/* Any text as a condition: what is understood can be written out, read again and evaluated. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rules/condition.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(const struct condition *c, struct condition_memory *m, double value)
{
    struct condition_term term[CONDITION_NODES_MAX];
    char text[2048];
    struct figures f;
    enum truth t;

    figures_clear(&f);
    for (int i = 0; i < FIGURES; i++) {
        if (value_is_number(&figure_table[i].type))
            f.value[i] = value;
        else if (!value_is_text(&figure_table[i].type) && !isnan(value))
            f.value[i] = 1;
        else if (!isnan(value))
            f.text[i] = "n5";
    }
    t = condition_eval(c, &f, 10, true, 0.1, m);
    if (t > TRUTH_UNKNOWN || (isnan(value) && t != TRUTH_UNKNOWN))
        abort(); /* nothing is known: nothing may come of it */
    condition_explain(c, &f, text, sizeof(text));
    if (condition_terms(c, &f, term, CONDITION_NODES_MAX) < 1)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[2 * CONDITION_TEXT_MAX];
    struct condition_memory m;
    struct condition c;
    struct err err = { "" };

    if (size >= sizeof(text))
        size = sizeof(text) - 1;
    memcpy(text, data, size);
    text[size] = '\0';
    if (condition_parse(&c, text, &err) < 0) {
        if (strncmp(err.text, "column ", strlen("column ")) != 0)
            abort(); /* a failure without its place */
        return 0;
    }
    condition_forget(&m);
    look(&c, &m, NAN);
    look(&c, &m, 1);
    look(&c, &m, -1e9);
    return 0;
}
