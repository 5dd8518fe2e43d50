/* experiment: the search, the means, and the plot of the published experiment. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/chart.h"
#include "plan/search.h"
#include "plan/trial.h"
#include "tests/tap.h"

/* Least at (2, 5), in a bent valley (Rosenbrock 1960, scaled); nothing hangs on the third unknown. */
static int valley(void *arg, const double *x, double *residual)
{
    double a = x[0] / 2, b = x[1] / 5;
    int *calls = arg;

    residual[0] = 1 - a;
    residual[1] = 10 * (b - a * a);
    residual[2] = 0;
    return ++*calls > 1000 ? -1 : 0;
}

static void search(void)
{
    double low[] = { 0.1, 0.1, 0 }, high[] = { 10, 100, 0 }, x[] = { 0.5, 20, 0 }, least;
    int calls = 0;
    struct search s = { 3, 3, low, high, 50, valley, &calls };

    is_int(search_run(&s, x, &least), 0, "a search with a narrow valley succeeds");
    ok(near(x[0], 2, 1e-3) && near(x[1], 5, 1e-3) && x[2] == 0,
       "the search finds the minimum of the valley\n%.4f %.4f after %d evaluations", x[0], x[1], calls);
    ok(least < 1e-6, "the residual at the minimum is 0");
    high[0] = 1.5;
    x[0] = 0.5;
    is_int(search_run(&s, x, &least), 0, "a search with a limit succeeds");
    ok(near(x[0], 1.5, 1e-3), "a search ends at the limit of an unknown: %.4f", x[0]);
    calls = 1000;
    ok(search_run(&s, x, &least) < 0, "a search fails when its function gives up");
}

static void means(void)
{
    struct trial_figures a = { 3, { 11, 22, 33 }, { 0 } }, b = { 3, { 10, 20, 30 }, { 0 } };

    ok(near(trial_gain(&a, &b).mean, 0.1, 1e-12) && trial_gain(&a, &b).error < 1e-12,
       "trial_gain compares rates seed by seed");
}

/* Columns, not bytes. */
static size_t width(const char *line)
{
    size_t n = 0;

    for (; *line && *line != '\n'; line++)
        n += ((unsigned char)*line & 0xc0) != 0x80;
    return n;
}

static void chart(void)
{
    double rising[] = { 1024, 1980, NAN, 5800, 8200 }, same[] = { 1024, 1980, 3600, 5800, 8200 };
    struct chart c = { "Samples a second",
                       21,
                       5,
                       { 4, 8, 16, 32, 64 },
                       "nodes",
                       2,
                       { { "published", rising, true }, { "simulated", same, false } } };

    for (int utf8 = 0; utf8 < 2; utf8++) {
        char *text = NULL, line[512];
        size_t size, widest = 0, beyond = 0, marks = 0;
        FILE *f = open_memstream(&text, &size);

        chart_print(&c, f, utf8);
        fclose(f);
        f = fmemopen(text, size, "r");
        while (fgets(line, sizeof(line), f))
            widest = width(line) > widest ? width(line) : widest;
        fclose(f);
        for (size_t i = 0; i < size; i++) {
            beyond += (unsigned char)text[i] > 127;
            marks += text[i] == 'O';
        }
        ok(widest <= CHART_WIDTH, "no line of a chart has more than %d columns\n%zu", CHART_WIDTH, widest);
        ok(utf8 ? beyond > 0 : beyond == 0, "a chart has characters beyond ASCII only with utf8");
        ok(utf8 || marks == 6, "a chart shows all five places and the legend\n%zu", marks);
        ok(strstr(text, "  10000 ") && strstr(text, "   2000 "), "a chart has round labels");
        free(text);
    }
}

static void chart_of_nothing(void)
{
    double none[] = { NAN };
    struct chart c = { "Nothing", 6, 1, { 4 }, "nodes", 1, { { "none", none, true } } };
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    chart_print(&c, f, false);
    fclose(f);
    ok(strstr(text, "nodes") != NULL, "a chart of one place without a value is printed");
    free(text);
}

static void locale(void)
{
    unsetenv("LC_ALL");
    unsetenv("LC_CTYPE");
    setenv("LANG", "de_DE.UTF-8", 1);
    ok(chart_utf8(), "LANG with UTF-8 selects utf8");
    setenv("LC_ALL", "C", 1);
    ok(!chart_utf8(), "LC_ALL overrides LANG");
}

int main(void)
{
    search();
    means();
    chart();
    chart_of_nothing();
    locale();
    return done_testing();
}
