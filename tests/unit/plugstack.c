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
    is_str(p.arguments, "conf=/etc/x default=on", "plugstack: the arguments of the plugin are read");
    is_str(p.line.file, path_of("plugstack.conf"), "plugstack: the file of the plugin's line is reported");
    is_int(p.line.number, 3, "plugstack: the number of the plugin's line is reported");
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

/* Lines that Slurm does not take as they were meant. */
static void spoiled(void)
{
    struct plugstack p;
    struct err err = { "" };
    char wanted[300];

    ok(find("\nOptional syncguard.so\n", &p, &err) == -1 && !p.carriage_return,
       "plugstack: a keyword in upper case loads nothing");
    snprintf(wanted, sizeof(wanted),
             "%s:2: Slurm accepts 'optional', 'required' and 'include', in lower case",
             path_of("plugstack.conf"));
    is_str(err.text, wanted, "plugstack: the reason names the line with the wrong keyword");
    ok(find("optional syncguard.so\r\n", &p, &err) == -1 && p.carriage_return && p.spoiled.number == 1,
       "plugstack: a carriage return behind the name loads nothing");
    ok(find("optional syncguard.so a=b c=d\r\n", &p, &err) == 0 && p.carriage_return,
       "plugstack: a carriage return behind an argument is reported");
    is_str(p.arguments, "a=b c=d", "plugstack: the arguments are printed without the carriage return");
    ok(find("include d/*.conf\r\n", &p, &err) == -1 && p.carriage_return,
       "plugstack: a carriage return behind a pattern is reported");
    ok(find("optional \\\nsyncguard.so\n", &p, &err) == -1, "plugstack: a backslash continues no line");
    ok(find("optional \"syncguard.so\"\n", &p, &err) == -1, "plugstack: a quoted name is another name");
    ok(find("optional a/syncguard.so x\n#\nrequired b/syncguard.so\noptional syncguard.so\n", &p, &err) ==
               0 &&
           p.line.number == 1 && p.again.number == 3,
       "plugstack: the first and the second line of the plugin are reported");
    is_str(p.plugin, "a/syncguard.so", "plugstack: the plugin is the first line's");
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
    file("slurm.conf", "PLUGSTACKCONFIG = \"/a b/p.conf\"\r\nPluginDir=/x:\\\n/y\r\n");
    plugstack_locate(&p, conf);
    is_str(p.path, "/a b/p.conf", "plugstack: blanks, quotes, upper case and carriage returns in slurm.conf");
    is_str(p.plugin_dir, "/x:/y", "plugstack: a continued line of slurm.conf");
    file("more.conf", "PlugStackConfig=/included/p.conf\n");
    file("slurm.conf", "PlugStackConfig=/first\nInclude more.conf\n");
    plugstack_locate(&p, conf);
    is_str(p.path, "/included/p.conf", "plugstack: the key in a file that slurm.conf includes");
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
    static const char *const made[] = { "d/10-other.conf", "d/20-sg.conf", "d",
                                        "plugstack.conf",  "slurm.conf",   "more.conf" };

    if (!mkdtemp(dir))
        return skip_all("no directory in /tmp");
    lines();
    spoiled();
    includes();
    located();
    for (size_t i = 0; i < ARRAY_SIZE(made); i++)
        remove(path_of(made[i]));
    rmdir(dir);
    return done_testing();
}
