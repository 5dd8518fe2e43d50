/* Which file sets a variable of NCCL's: lines as src/misc/param.cc of NCCL takes them, and its files. */
#include "common/nccl_conf.h"

#include <sys/stat.h>
#include <unistd.h>

#include "tests/tap.h"

#define VARIABLE "NCCL_PROFILER_PLUGIN"

static char base[] = "/tmp/nccl_conf-XXXXXX";

static void test_lines(void)
{
    static const struct {
        const char *text, *value; /* NULL: none */
    } cases[] = {
        { "", NULL },
        { VARIABLE, NULL },
        { VARIABLE "\n", NULL },
        { VARIABLE "=", "" },
        { VARIABLE "=mine", "mine" },
        { VARIABLE "=mine\n", "mine" },
        { VARIABLE "=mine\r\n", "mine" },
        { VARIABLE "=none\n" VARIABLE "=mine\n", "none" },
        { "NCCL_DEBUG=INFO\n\n=\n" VARIABLE "=a=b c \n", "a=b c " },
        { "#" VARIABLE "=mine\n", NULL },
        { " " VARIABLE "=mine\n", NULL },
        { VARIABLE " =mine\n", NULL },
        { VARIABLE "S=mine\n", NULL },
        { "MY_" VARIABLE "=mine\n", NULL },
        { "A=" VARIABLE "=mine\n", NULL },
    };
    char value[NCCL_CONF_VALUE], text[2000];

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        bool found = nccl_conf_value(cases[i].text, strlen(cases[i].text), VARIABLE, value);

        ok(found == (cases[i].value != NULL) && (!found || !strcmp(value, cases[i].value)),
           "the value of a text of settings, case %zu: '%s'\n'%s'", i,
           cases[i].value ? cases[i].value : "(none)", found ? value : "(none)");
    }
    ok(!nccl_conf_value(VARIABLE "=x", sizeof(VARIABLE) - 1, VARIABLE, value),
       "what is behind the end of a text is not read");
    ok(!nccl_conf_value(VARIABLE "\0=x", sizeof(VARIABLE) + 2, VARIABLE, value),
       "a line ends at a zero byte, as it does for NCCL");
    snprintf(text, sizeof(text), VARIABLE "=%01500d", 0);
    ok(nccl_conf_value(text, strlen(text), VARIABLE, value) && strlen(value) == NCCL_CONF_VALUE - 1,
       "a value is cut to the 1023 bytes that NCCL takes");
}

static void write_conf(const char *name, const char *text)
{
    char path[128];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", base, name);
    unlink(path);
    f = text ? fopen(path, "we") : NULL;
    if (f) {
        fputs(text, f);
        fclose(f);
    }
}

/* The file that is found, without its folder; "": none. */
static const char *found(const char *named, bool home)
{
    static char path[128];
    char conf[64];
    const struct nccl_conf_files files = { .named = named ? conf : NULL,
                                           .home = home ? base : NULL,
                                           .etc = base,
                                           .variable = VARIABLE,
                                           .ours = "/ours.so" };

    snprintf(conf, sizeof(conf), "%s%s%s", named && *named ? base : "", named && *named ? "/" : "",
             named ? named : "");
    return nccl_conf_find(&files, path, sizeof(path)) ? strrchr(path, '/') + 1 : "";
}

static void test_files(void)
{
    static const char mine[] = VARIABLE "=mine\n", ours[] = VARIABLE "=/ours.so\n";
    char path[128];

    is_str(found(NULL, true), "", "without any file nothing is found");
    is_str(found("my.conf", true), "", "nor where NCCL_CONF_FILE names none");
    write_conf("nccl.conf", mine);
    is_str(found(NULL, true), "nccl.conf", "what the node's nccl.conf sets is found");
    is_str(found("my.conf", false), "nccl.conf", "also beside NCCL_CONF_FILE");
    write_conf(".nccl.conf", ours);
    is_str(found(NULL, true), "", "but where the home directory's says the same as ours that one is first");
    is_str(found("my.conf", true), "nccl.conf", "which is not read where NCCL_CONF_FILE is set");
    is_str(found("", true), "", "and is where it is empty");
    is_str(found(NULL, false), "nccl.conf", "nor where there is no home directory");
    write_conf("my.conf", mine);
    is_str(found("my.conf", true), "my.conf", "NCCL_CONF_FILE's is found first");
    write_conf("my.conf", ours);
    is_str(found("my.conf", true), "", "and where it says the same as ours nothing is");
    write_conf("nccl.conf", "NCCL_DEBUG=WARN\n");
    write_conf(".rccl.conf", mine);
    is_str(found(NULL, true), ".rccl.conf", "RCCL's file in the home directory is found");
    write_conf(".rccl.conf", NULL);
    write_conf("rccl.conf", mine);
    is_str(found(NULL, true), "rccl.conf", "and that of the node");
    write_conf("rccl.conf", NULL);
    snprintf(path, sizeof(path), "%s/rccl.conf", base);
    ok(mkfifo(path, 0600) == 0, "a pipe can be made in its place");
    is_str(found(NULL, true), "", "a pipe is not waited for");
    unlink(path);
    ok(mkdir(path, 0700) == 0, "and a directory");
    is_str(found(NULL, true), "", "a directory is none");
    rmdir(path);
    write_conf("nccl.conf", NULL);
    write_conf(".nccl.conf", NULL);
    write_conf("my.conf", NULL);
}

/* What is behind the bytes that are read is not found. */
static void test_large(void)
{
    char *text = malloc(NCCL_CONF_BYTES + 100);

    if (!text)
        return;
    memset(text, '#', NCCL_CONF_BYTES + 99);
    strcpy(text + NCCL_CONF_BYTES - 30, "\n" VARIABLE "=mine\n");
    write_conf("nccl.conf", text);
    is_str(found(NULL, false), "nccl.conf", "a file of 64 KiB is read whole");
    memset(text, '#', NCCL_CONF_BYTES + 99);
    strcpy(text + NCCL_CONF_BYTES, "\n" VARIABLE "=mine\n");
    write_conf("nccl.conf", text);
    is_str(found(NULL, false), "", "what is behind 64 KiB is not read");
    write_conf("nccl.conf", NULL);
    free(text);
}

int main(void)
{
    if (!mkdtemp(base))
        return skip_all("there is no temporary folder");
    test_lines();
    test_files();
    test_large();
    rmdir(base);
    return done_testing();
}
