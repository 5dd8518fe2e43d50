/* Finding the plugin in plugstack.conf. */
#include "doctor/plugstack.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/tap.h"

static char dir[] = "/tmp/plugstack-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[256];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    return path;
}

static void file(const char *name, const char *text)
{
    FILE *f = fopen(path_of(name), "we");

    fputs(text, f);
    fclose(f);
}

static int find(const char *text, struct plugstack *p, struct err *err)
{
    file("plugstack.conf", text);
    *p = (struct plugstack){ 0 };
    snprintf(p->path, sizeof(p->path), "%s", path_of("plugstack.conf"));
    return plugstack_find(p, "syncguard.so", err);
}

static void lines(void)
{
    struct plugstack p;
    struct err err = { "" };
    char wanted[300];

    ok(find("# comment\n\n  optional\t/usr/lib/syncguard/syncguard.so  conf=/etc/x  default=on # here\n", &p,
            &err) == 0,
       "plugstack: a line with the plugin is found, with comments and blanks around it");
    is_str(p.plugin, "/usr/lib/syncguard/syncguard.so", "plugstack: the path of the plugin is read");
    is_str(p.arguments, "conf=/etc/x  default=on", "plugstack: the arguments of the plugin are read");
    snprintf(wanted, sizeof(wanted), "%s:3", path_of("plugstack.conf"));
    is_str(p.where, wanted, "plugstack: file and line of the plugin are reported");
    ok(!p.required, "plugstack: an optional plugin is not required");
    ok(find("required syncguard.so\n", &p, &err) == 0 && p.required && !*p.arguments,
       "plugstack: a required plugin without arguments is found");
    ok(find("optional /a/other.so\n#optional /a/syncguard.so\nsyncguard.so\n", &p, &err) == -1,
       "plugstack: comments, other plugins and lines without a keyword are skipped");
    snprintf(wanted, sizeof(wanted), "%s does not name syncguard.so", path_of("plugstack.conf"));
    is_str(err.text, wanted, "plugstack: the reason names the file without the plugin");
    ok(find("optional", &p, &err) == -1 && find("", &p, &err) == -1 && find("\n\n", &p, &err) == -1,
       "plugstack: an empty file and an incomplete line name no plugin");
}

static void includes(void)
{
    struct plugstack p;
    struct err err = { "" };

    mkdir(path_of("d"), 0700);
    file("d/10-other.conf", "optional x.so\n");
    file("d/20-sg.conf", "optional syncguard.so conf=/a\n");
    ok(find("include d/*.conf\n", &p, &err) == 0,
       "plugstack: a pattern is relative to the file that includes it");
    is_str(p.arguments, "conf=/a", "plugstack: the arguments of an included line are read");
    ok(find("include plugstack.conf\n", &p, &err) == -1, "plugstack: a file that includes itself ends");
    ok(find("include plugstack.conf\ninclude plugstack.conf\ninclude plugstack.conf\n"
            "include plugstack.conf\ninclude plugstack.conf\ninclude plugstack.conf\n"
            "include plugstack.conf\ninclude plugstack.conf\ninclude plugstack.conf\n"
            "include plugstack.conf\ninclude plugstack.conf\ninclude plugstack.conf\n",
            &p, &err) == -1 &&
           p.files < 1000,
       "plugstack: a file that includes itself twelve times ends\n%u files are read", p.files);
    ok(find("include /nowhere/*\noptional syncguard.so\n", &p, &err) == 0,
       "plugstack: a pattern without matches is skipped");
}

static void located(void)
{
    struct plugstack p;
    struct err err = { "" };
    char conf[256];

    snprintf(conf, sizeof(conf), "%s", path_of("slurm.conf"));
    unsetenv("SLURM_CONF");
    file("slurm.conf", "ClusterName=x\n");
    plugstack_locate(&p, conf);
    is_str(p.path, path_of("plugstack.conf"), "plugstack: the file is beside slurm.conf");
    file("slurm.conf", "plugstackconfig=/elsewhere/p.conf # so\n");
    plugstack_locate(&p, conf);
    is_str(p.path, "/elsewhere/p.conf", "plugstack: PlugStackConfig= of slurm.conf has precedence");
    setenv("SLURM_CONF", "/nowhere/slurm.conf", 1);
    plugstack_locate(&p, conf);
    is_str(p.path, "/nowhere/plugstack.conf",
           "plugstack: SLURM_CONF has precedence over the configured slurm.conf");
    ok(plugstack_find(&p, "syncguard.so", &err) == -1, "plugstack: a missing file is an error");
    is_str(err.text, "/nowhere/plugstack.conf: No such file or directory",
           "plugstack: the reason names the missing file");
}

int main(void)
{
    static const char *const made[] = { "d/10-other.conf", "d/20-sg.conf", "d", "plugstack.conf",
                                        "slurm.conf" };

    if (!mkdtemp(dir))
        return skip_all("no directory in /tmp");
    lines();
    includes();
    located();
    for (size_t i = 0; i < ARRAY_SIZE(made); i++)
        remove(path_of(made[i]));
    rmdir(dir);
    return done_testing();
}
