/* Finding the plugin in plugstack.conf. */
#include "ctl/plugstack.h"

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
       "a line of it");
    is_str(p.plugin, "/usr/lib/syncguard/syncguard.so", "the plugin");
    is_str(p.arguments, "conf=/etc/x  default=on", "its arguments");
    snprintf(wanted, sizeof(wanted), "%s:3", path_of("plugstack.conf"));
    is_str(p.where, wanted, "its place");
    ok(!p.required, "optional");
    ok(find("required syncguard.so\n", &p, &err) == 0 && p.required && !*p.arguments,
       "required, without arguments");
    ok(find("optional /a/other.so\n#optional /a/syncguard.so\nsyncguard.so\n", &p, &err) == -1,
       "comments and others");
    snprintf(wanted, sizeof(wanted), "%s does not name syncguard.so", path_of("plugstack.conf"));
    is_str(err.text, wanted, "it is said where it was looked for");
    ok(find("optional", &p, &err) == -1 && find("", &p, &err) == -1 && find("\n\n", &p, &err) == -1,
       "next to nothing");
}

static void includes(void)
{
    struct plugstack p;
    struct err err = { "" };

    mkdir(path_of("d"), 0700);
    file("d/10-other.conf", "optional x.so\n");
    file("d/20-sg.conf", "optional syncguard.so conf=/a\n");
    ok(find("include d/*.conf\n", &p, &err) == 0, "a relative pattern");
    is_str(p.arguments, "conf=/a", "the included line");
    ok(find("include plugstack.conf\n", &p, &err) == -1, "a file that includes itself");
    ok(find("include plugstack.conf\ninclude plugstack.conf\ninclude plugstack.conf\n"
            "include plugstack.conf\ninclude plugstack.conf\ninclude plugstack.conf\n"
            "include plugstack.conf\ninclude plugstack.conf\ninclude plugstack.conf\n"
            "include plugstack.conf\ninclude plugstack.conf\ninclude plugstack.conf\n",
            &p, &err) == -1 &&
           p.files < 1000,
       "one that does it twelve times: %u files are looked into", p.files);
    ok(find("include /nowhere/*\noptional syncguard.so\n", &p, &err) == 0, "a pattern that matches nothing");
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
    is_str(p.path, path_of("plugstack.conf"), "beside slurm.conf");
    file("slurm.conf", "plugstackconfig=/elsewhere/p.conf # so\n");
    plugstack_locate(&p, conf);
    is_str(p.path, "/elsewhere/p.conf", "where slurm.conf says");
    setenv("SLURM_CONF", "/nowhere/slurm.conf", 1);
    plugstack_locate(&p, conf);
    is_str(p.path, "/nowhere/plugstack.conf", "where SLURM_CONF says");
    ok(plugstack_find(&p, "syncguard.so", &err) == -1, "a file that is not there");
    is_str(err.text, "/nowhere/plugstack.conf: No such file or directory", "is named");
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
