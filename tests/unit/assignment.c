/* What an sgrun on a host is told: written and read, and what is refused. */
#include <string.h>

#include "run/assignment.h"
#include "tests/tap.h"

static struct assignment told(void)
{
    static char path[] = "PATH=/opt/bin:/bin", odd[] = "ODD=a \"quoted\"\nline";
    static char *environment[] = { path, odd, NULL };
    struct assignment j = { .node = "node2",
                            .number = 1,
                            .count = 3,
                            .controller = "10.0.0.1:4242",
                            .name = "train",
                            .policy = "balanced",
                            .policy_asked = true,
                            .rate_hz = 12.5,
                            .agent = "/opt/agent",
                            .probe = "/opt/probe.so",
                            .nccl = "/opt/nccl.so",
                            .nccl_events = "count",
                            .folder = "/home/me/my work",
                            .environment = environment };

    for (size_t i = 0; i < sizeof(j.key); i++)
        j.key[i] = (unsigned char)(i * 5);
    return j;
}

static void round_trip(void)
{
    struct assignment j = told(), k;
    struct err err = { "" };
    char *line = assignment_write(&j);

    ok(line && strchr(line, '\n') == line + strlen(line) - 1, "it is one line");
    ok(assignment_read(&k, line, strlen(line), &err) == 0, "which is read again\n%s", err.text);
    ok(!strcmp(k.node, "node2") && k.number == 1 && k.count == 3 && !strcmp(k.controller, j.controller) &&
           !strcmp(k.folder, j.folder),
       "with the host, the controller and the folder");
    ok(!memcmp(k.key, j.key, sizeof(j.key)), "the key");
    ok(!strcmp(k.policy, "balanced") && k.policy_asked && near(k.rate_hz, 12.5, 1e-12), "the policy");
    ok(!strcmp(k.environment[0], j.environment[0]) && !strcmp(k.environment[1], j.environment[1]) &&
           !k.environment[2],
       "and the environment, whatever is in it");
    assignment_free(&k);
    free(line);
}

static void refused(const char *from, const char *to, const char *why)
{
    struct assignment j = told(), k;
    struct err err = { "" };
    char *line = assignment_write(&j), *at = strstr(line, from), changed[8192];

    snprintf(changed, sizeof(changed), "%.*s%s%s", (int)(at - line), line, to, at + strlen(from));
    ok(assignment_read(&k, changed, strlen(changed), &err) < 0 && strstr(err.text, why), "refused: %s\n%s",
       why, err.text);
    free(line);
}

static void signals(void)
{
    char buf[ASSIGNMENT_SIGNAL_SIZE];

    is_str(assignment_write_signal(15, buf), "signal 15\n", "a signal is a line");
    is_int(assignment_read_signal("signal 15"), 15, "which is read without its newline");
    ok(!assignment_read_signal("signal 0") && !assignment_read_signal("signal -9") &&
           !assignment_read_signal("signal 15x") && !assignment_read_signal("signal 4000") &&
           !assignment_read_signal(""),
       "other lines name none");
}

int main(void)
{
    round_trip();
    refused("\"node\":\"node2\"", "\"node\":\"\"", "'node'");
    refused("\"count\":3", "\"count\":1", "'number' and 'count'");
    refused("\"count\":3", "\"count\":100000", "'number' and 'count'");
    refused("\"rate_hz\":12.5", "\"rate_hz\":0", "'rate_hz'");
    refused("\"key\":\"00", "\"key\":\"", "'key'");
    refused("PATH=", "PATH", "'environment'");
    refused("{", "[", "not a line");
    signals();
    ok(assignment_takes_variable("PATH=/bin") && assignment_takes_variable("PWDX=1") &&
           !assignment_takes_variable("PWD=/") && !assignment_takes_variable("SLURM_JOB_ID=7") &&
           !assignment_takes_variable("nothing"),
       "variables of a host or a session stay there");
    return done_testing();
}
