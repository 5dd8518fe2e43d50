/* Which policy `sgctl policy try FILE TRACE` tries. */
#include <stdlib.h>
#include <unistd.h>

#include <jansson.h>

#include "common/config.h"
#include "ctl/try.h"
#include "tests/tap.h"

#define RULE(policy, name) \
    "Policy=" policy "\nRule=" name " Policy=" policy " Action=job_comment When=\"class == hang\"\n"

static char conf[] = "/tmp/try-XXXXXX", trace[] = "/tmp/try-XXXXXX";

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "we");

    fputs(text, f);
    fclose(f);
}

static void tries(const char *file, const char *want, const char *what)
{
    struct err err = { "" };
    json_t *answer = try_policy(file, trace, NULL, &err);
    const char *policy = json_string_value(json_object_get(answer, "policy"));

    is_str(policy ? policy : err.text, want, "%s", what);
    json_decref(answer);
}

int main(void)
{
    const char *top = getenv("top_srcdir");
    char shipped[4096], throughput[4200];
    int one = mkstemp(conf), two = mkstemp(trace);

    if (!top || one < 0 || two < 0)
        return skip_all("there is no temporary folder, or no source tree");
    close(one);
    close(two);
    snprintf(shipped, sizeof(shipped), "%s/policies", top);
    snprintf(throughput, sizeof(throughput), "%s/throughput.conf", shipped);
    config_shipped_policies = shipped;
    write_file(
        trace,
        "{\"format\":\"syncguard-trace\",\"version\":1,\"job\":\"7.0\",\"ranks\":["
        "{\"rank\":0,\"node\":\"n0\",\"switch\":\"s\"},{\"rank\":1,\"node\":\"n1\",\"switch\":\"s\"}]}\n");
    write_file(conf, RULE("mine", "a"));
    tries(conf, "mine", "the only one with rules of its own, beside those that are installed");
    write_file(conf, RULE("mine", "a") RULE("other", "b"));
    tries(conf, "balanced", "of two with rules the default one");
    write_file(conf, "DefaultPolicy=other\n" RULE("mine", "a") RULE("other", "b"));
    tries(conf, "other", "of two with rules the file's default one");
    write_file(conf, "Policy=mine\n");
    tries(conf, "balanced", "of none with rules the default one");
    tries(throughput, "throughput", "a shipped policy, when its own file is given");
    unlink(conf);
    unlink(trace);
    return done_testing();
}
