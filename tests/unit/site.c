/* A site's own policy: which files are loaded and which refused, and the advice of the shipped example. */
#include "rules/site.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/xalloc.h"
#include "policies/site.h"
#include "tests/tap.h"

static char dir[] = "/tmp/sg-site.XXXXXX";

static char *built(const char *name)
{
    const char *top = getenv("top_builddir");

    return xasprintf("%s/%s", top ? top : ".", name);
}

/* A copy of the file that the test may change; the path is valid until the next call. */
static const char *copy(const char *name, mode_t mode)
{
    static char path[128];
    char *from = built(name), *command;

    snprintf(path, sizeof(path), "%s/module.so", dir);
    command = xasprintf("rm -f %s; cp '%s' %s", path, from, path);
    if (system(command) || chmod(path, mode) < 0)
        printf("# cannot copy %s\n", from);
    free(command);
    free(from);
    return path;
}

static void refused(const char *path, const char *why)
{
    struct err err = { "" };
    struct site *s = site_open(path, &err);

    ok(!s && strstr(err.text, path) && strstr(err.text, why), "a module is refused: %s\n%s", why, err.text);
    site_close(s);
}

#define EXAMPLE "policies/.libs/site_example.so"
#define OTHER   "tests/daemon/.libs/site_other.so"
#define ODD     "tests/daemon/.libs/site_odd.so"
#define NONE    "tests/daemon/.libs/site_none.so"

static void test_refused(void)
{
    const char *path;

    refused("/nonexistent/x.so", "No such file");
    refused("/dev/null", "not a regular file");
    refused(copy(EXAMPLE, 0775), "the file is writable by others than root (mode 0775)");
    refused(copy(OTHER, 0755), "compiled for version 99 of the interface; this controller has 1");
    refused(copy(NONE, 0755), "it does not export syncguard_site_policy");
    path = copy(EXAMPLE, 0755);
    if (chown(path, 65534, (gid_t)-1) == 0)
        refused(path, "the file is owned by uid 65534: expected root");
}

static void figures(struct figures *f, double nodes, double slowdown)
{
    figures_clear(f);
    f->value[FIGURE_NODES] = nodes;
    f->value[FIGURE_SLOWDOWN] = slowdown;
    figures_word(f, FIGURE_CLASS, "straggler");
}

static const struct {
    double nodes, slowdown;
    bool act;
} cases[] = {
    { 100, 1.02, true }, { 100, 1.005, false }, { 10, 1.2, true },
    { 10, 1.1, false },  { NAN, 2, false },     { 64, NAN, false },
};

static void test_example(void)
{
    struct err err = { "" }, ignored;
    struct site *s = site_open(copy(EXAMPLE, 0755), &err);
    struct figures f;
    struct advice a;
    struct site_question q = { "1.0", "p", &f, 10 };

    ok(s != NULL, "the shipped example is loaded %s", err.text);
    if (!s)
        return;
    is_str(site_name(s), "node-equivalents", "the shipped example has its name");
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        figures(&f, cases[i].nodes, cases[i].slowdown);
        site_ask(s, &q, &a, &ignored);
        ok(a.act == cases[i].act && a.action == -1 && !*ignored.text,
           "the shipped example on %g nodes with a slowdown of %g advises: %s", cases[i].nodes,
           cases[i].slowdown, cases[i].act ? a.reason : "nothing");
    }
    figures(&f, 100, 1.25);
    site_ask(s, &q, &a, &ignored);
    is_str(a.reason, "20.0 of 100 nodes are lost to straggler",
           "the shipped example's advice has its reason");
    ok(isnan(a.projected_ratio) && !strcmp(site_name(s), "node-equivalents"),
       "the shipped example gives no projection");
    site_close(s);
}

/* Advice with invalid numbers, bytes and actions. */
static void test_odd(void)
{
    struct err err = { "" }, ignored;
    struct site *s = site_open(copy(ODD, 0755), &err);
    struct figures f;
    struct advice a;
    struct site_question q = { "1.0", "p", &f, 10 };

    ok(s != NULL, "a policy with invalid advice is loaded %s", err.text);
    if (!s)
        return;
    figures(&f, 8, 1.2);
    site_ask(s, &q, &a, &ignored);
    ok(a.act && a.action == -1, "the valid part of its advice is used");
    ok(isnan(a.projected_ratio), "a negative projection is ignored");
    is_str(ignored.text, "the site's policy odd projects -inf of the step time",
           "that a projection is ignored is reported");
    ok(strlen(a.reason) == 159 && strspn(a.reason, "?[2J lost") == 159,
       "control characters and invalid bytes of its reason are replaced: %s", a.reason);
    figures_word(&f, FIGURE_CLASS, "hang");
    site_ask(s, &q, &a, &ignored);
    ok(!a.act, "advice of an unknown action is ignored");
    ok(strstr(ignored.text, "which is not an action of a rule") != NULL,
       "that an action is ignored is reported\n%s", ignored.text);
    site_ask(s, &q, &a, &ignored);
    ok(!a.act && !*ignored.text, "that an action is ignored is reported once");
    site_close(s);
}

int main(void)
{
    struct err err = { "" };

    umask(022);
    if (geteuid())
        return skip_all("needs root, because the file must be owned by root");
    if (!mkdtemp(dir))
        return skip_all("cannot create a temporary folder");
    chmod(dir, 0755);
    test_refused();
    test_example();
    test_odd();
    chmod(dir, 0777);
    ok(!site_open(copy(EXAMPLE, 0755), &err) && strstr(err.text, "its folder is writable by others"),
       "a file in a folder that others may write is refused\n%s", err.text);
    if (unlink(copy(EXAMPLE, 0755)) || rmdir(dir))
        ok(false, "cannot remove the temporary folder");
    return done_testing();
}
