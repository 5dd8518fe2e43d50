#include "run/guard.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/conf.h"
#include "common/now.h"
#include "common/xalloc.h"
#include "wire/client.h"
#include "wire/json.h"

/* munged and the controller take a tenth of a second each, on an idle machine */
#define START_S      10.0
#define SETTLE_S     10.0 /* the agent may have rings to read */
#define GRACE_S      2.0
#define ASK_S        2.0
#define PORT_TRIES   5
#define LAST_BYTES   4096
#define LOOK_NS      5000000
#define NAME_MUNGED  "munged"
#define NAME_CONTROL "syncguardd"
#define NAME_AGENT   "syncguard-agent"

static void pause_shortly(void)
{
    const struct timespec look = { 0, LOOK_NS };

    nanosleep(&look, NULL);
}

/* ---- where our programs are ---- */

const char *guard_program(const char *name, char path[WORKSPACE_SIZE])
{
    static const char *const folders[] = { "", "../sbin/" };
    char own[WORKSPACE_SIZE];
    ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);
    char *slash;

    own[n > 0 ? n : 0] = '\0';
    slash = strrchr(own, '/');
    for (size_t i = 0; slash && i < ARRAY_SIZE(folders); i++) {
        slash[1] = '\0';
        if (snprintf(path, WORKSPACE_SIZE, "%s%s%s", own, folders[i], name) < WORKSPACE_SIZE &&
            access(path, X_OK) == 0)
            return path;
    }
    snprintf(path, WORKSPACE_SIZE, "%s", name);
    return path;
}

static const char *munged_program(void)
{
    static const char *const places[] = { "/usr/sbin/munged", "/usr/local/sbin/munged", "/sbin/munged" };

    for (size_t i = 0; i < ARRAY_SIZE(places); i++)
        if (access(places[i], X_OK) == 0)
            return places[i];
    return NAME_MUNGED;
}

/* ---- starting ---- */

void guard_last_words(const struct guard *g, const char *service, char *line, size_t size)
{
    char name[64], path[WORKSPACE_SIZE], text[LAST_BYTES];
    FILE *f;
    size_t n;
    char *from;

    snprintf(name, sizeof(name), "%s.log", service);
    *line = '\0';
    f = fopen(workspace_path(&g->workspace, name, path), "re");
    if (!f)
        return;
    if (fseek(f, -(long)sizeof(text) + 1, SEEK_END) < 0)
        rewind(f);
    n = fread(text, 1, sizeof(text) - 1, f);
    fclose(f);
    while (n && text[n - 1] == '\n')
        n--;
    text[n] = '\0';
    from = strrchr(text, '\n');
    snprintf(line, size, "%s", from ? from + 1 : text);
}

static int service_start(struct guard *g, struct process *p, const char *service, struct process_plan *plan,
                         struct err *err)
{
    char name[64], path[WORKSPACE_SIZE];

    snprintf(name, sizeof(name), "%s.log", service);
    plan->output = workspace_path(&g->workspace, name, path);
    plan->own_group = plan->service = true;
    return process_start(p, plan, err);
}

/* The service ended instead of answering, or does not answer. */
static int service_failed(const struct guard *g, const struct process *p, const char *service,
                          struct err *err)
{
    char line[512];

    guard_last_words(g, service, line, sizeof(line));
    return err_set(err, "%s %s%s%.400s", service, p->pid > 0 ? "does not answer" : "ended at once",
                   *line ? ": " : "", line);
}

static int start_munged(struct guard *g, struct err *err)
{
    static const char *const options[][2] = {
        { "--key-file", "munge.key" },  { "--log-file", "munged-own.log" },
        { "--pid-file", "munged.pid" }, { "--seed-file", "munge.seed" },
        { "--socket", "munge" },
    };
    char arguments[ARRAY_SIZE(options)][WORKSPACE_SIZE + 32], path[WORKSPACE_SIZE];
    char program[WORKSPACE_SIZE];
    const char *argv[ARRAY_SIZE(options) + 5] = { program, "--foreground", "--force", "--num-threads=2" };
    struct process_plan plan = { .argv = argv };
    double until_s = now_s() + START_S;
    struct stat st;

    snprintf(program, sizeof(program), "%s", munged_program());
    for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
        snprintf(arguments[i], sizeof(arguments[i]), "%s=%s", options[i][0],
                 workspace_path(&g->workspace, options[i][1], path));
        argv[4 + i] = arguments[i];
    }
    if (workspace_write(&g->workspace, "munge.key", g->key, sizeof(g->key), err) < 0)
        return -1;
    if (service_start(g, &g->munged, NAME_MUNGED, &plan, err) < 0)
        return errno == ENOENT
                   ? err_set(
                         err,
                         "munged is not installed (Debian's package munge has it): programs authenticate each other by it, "
                         "and its own daemon need not run")
                   : -1;
    workspace_path(&g->workspace, "munge", path);
    while (stat(path, &st) < 0 || !S_ISSOCK(st.st_mode)) {
        if (process_ended(&g->munged) || now_s() > until_s)
            return service_failed(g, &g->munged, NAME_MUNGED, err);
        pause_shortly();
    }
    return 0;
}

static const char *address_of(const struct guard_plan *plan)
{
    return plan->address ? plan->address : "127.0.0.1";
}

static struct sockaddr_in socket_address(const struct guard_plan *plan, int port)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };

    inet_pton(AF_INET, address_of(plan), &a.sin_addr);
    return a;
}

/* One that is free now. 0: none. */
static int free_port(const struct guard_plan *plan)
{
    struct sockaddr_in a = socket_address(plan, 0);
    socklen_t length = sizeof(a);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), port = 0;

    if (fd >= 0 && bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0 &&
        getsockname(fd, (struct sockaddr *)&a, &length) == 0)
        port = ntohs(a.sin_port);
    if (fd >= 0)
        close(fd);
    return port;
}

/* Policies and rules, as they stand in the file; all else is sgrun's to say, and may be said only once. */
static int copy_policy(const struct conf_line *line, void *arg, struct err *err)
{
    FILE *out = arg;

    (void)err;
    if (strcasecmp(line->pairs[0].key, "Policy") != 0 && strcasecmp(line->pairs[0].key, "Rule") != 0)
        return 0;
    for (size_t i = 0; i < line->n; i++) {
        fprintf(out, "%s%s=\"", i ? " " : "", line->pairs[i].key);
        for (const char *c = line->pairs[i].value; *c; c++)
            fprintf(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
        fputc('"', out);
    }
    fputc('\n', out);
    return 0;
}

/* The policy is the default one: a job that only its user vouches for has that. */
static int write_conf(struct guard *g, const struct guard_plan *plan, int port, struct err *err)
{
    const struct config *from = plan->config;
    const char *dir = g->workspace.dir;
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    int rc = 0;

    if (!out)
        return err_set(err, "out of memory");
    fprintf(
        out,
        "Controller=%s:%d\nPort=%d\nListen=%s\nAuthInfo=socket=%s/munge\nStateDir=%s/state\nConfirm=credential\n"
        "LogFile=%s/" NAME_CONTROL ".log\nSlurmHelperPath=/dev/null\nDefaultPolicy=%s\n",
        address_of(plan), port, port, address_of(plan), dir, dir, dir, plan->policy->name);
    fprintf(out, "AgentPath=\"%s\"\nProbePath=\"%s\"\n", from->agent, from->probe);
    if (*from->path)
        rc = conf_read(from->path, copy_policy, out, err);
    if (fclose(out) != 0)
        rc = err_set(err, "out of memory");
    if (rc == 0)
        rc = workspace_write(&g->workspace, "syncguard.conf", text, bytes, err);
    free(text);
    return rc;
}

static bool answers(const struct guard_plan *plan, int port)
{
    struct sockaddr_in a = socket_address(plan, port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool up = fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0;

    if (fd >= 0)
        close(fd);
    return up;
}

/* Its PATH has no command of Slurm: what they say of a job of this number is about another. */
static int start_controller_at(struct guard *g, const struct guard_plan *plan, int port, struct err *err)
{
    const struct process_variable path = { "PATH", g->workspace.rings };
    char program[WORKSPACE_SIZE], conf[WORKSPACE_SIZE + 16];
    const char *argv[] = { program, conf, NULL };
    struct process_plan start = { .argv = argv, .environment = &path, .n_environment = 1 };
    double until_s = now_s() + START_S;

    if (write_conf(g, plan, port, err) < 0)
        return -1;
    guard_program(NAME_CONTROL, program);
    snprintf(conf, sizeof(conf), "--conf=%s", g->conf);
    if (service_start(g, &g->controller, NAME_CONTROL, &start, err) < 0)
        return -1;
    while (!answers(plan, port)) {
        if (process_ended(&g->controller) || now_s() > until_s)
            return service_failed(g, &g->controller, NAME_CONTROL, err);
        pause_shortly();
    }
    /* Another program may have taken the port in the meantime, and answers. */
    return process_ended(&g->controller) ? service_failed(g, &g->controller, NAME_CONTROL, err) : 0;
}

static int start_controller(struct guard *g, const struct guard_plan *plan, struct err *err)
{
    int port;

    workspace_path(&g->workspace, "syncguard.conf", g->conf);
    for (int i = 0; i < PORT_TRIES; i++) {
        port = free_port(plan);
        if (!port)
            return err_set(err, "there is no free port on %s: %s", address_of(plan), strerror(errno));
        if (start_controller_at(g, plan, port, err) == 0)
            return config_load(g->config, g->conf, err);
        if (g->controller.pid)
            return -1;
    }
    return -1;
}

/* An agent, and the host it is on. */
struct agent_plan {
    const char *name, *policy; /* of the job */
    bool policy_asked;
    double rate_hz;
    const char *node; /* NULL: this host, by its own name */
    unsigned number, count;
};

/* The controller knows the job when this returns. */
static int start_agent(struct guard *g, const struct agent_plan *plan, struct err *err)
{
    char own[16], number[16], count[16];
    const struct process_variable environment[] = {
        { "SLURM_JOB_ID", GUARD_JOB },
        { "SLURM_STEP_ID", "0" },
        { "SLURM_NNODES", count },
        { "SLURM_JOB_NAME", plan->name },
        { "SYNCGUARD_TASKS_PARENT", own },
        { "SLURM_NODEID", plan->node ? number : NULL },
        { "SLURMD_NODENAME", plan->node },
        /* what a job of Slurm's around this run would say of itself */
        { "SLURM_TOPOLOGY_ADDR", NULL },
        { "SLURM_JOB_END_TIME", NULL },
        { "SLURM_HET_JOB_ID", NULL },
        { "SLURM_HET_JOB_OFFSET", NULL },
        { "SLURM_RESTART_COUNT", NULL },
        { "SLURM_NTASKS", NULL },
        { "SYNCGUARD_PLACEMENT", NULL },
        { "SYNCGUARD_ALGORITHM", NULL },
        { "SYNCGUARD_LOCAL_TASKS", NULL },
        { "SYNCGUARD_NOTES", NULL },
        { "LD_PRELOAD", NULL },
    };
    char dir[WORKSPACE_SIZE + 8], controller[sizeof(g->config->controller) + 16], name[64], rate[48],
        munge[160];
    const char *argv[] = { g->config->agent,
                           dir,
                           controller,
                           name,
                           rate,
                           munge,
                           plan->policy_asked ? "--policy-asked" : NULL,
                           NULL };
    struct process_plan p = { .argv = argv,
                              .environment = environment,
                              .n_environment = ARRAY_SIZE(environment) };
    double until_s;
    json_t *job;

    snprintf(own, sizeof(own), "%d", (int)getpid());
    snprintf(number, sizeof(number), "%u", plan->number);
    snprintf(count, sizeof(count), "%u", plan->count);
    snprintf(dir, sizeof(dir), "--dir=%s", g->workspace.rings);
    snprintf(controller, sizeof(controller), "--controller=%s", g->config->controller);
    snprintf(name, sizeof(name), "--policy=%s", plan->policy);
    snprintf(rate, sizeof(rate), "--rate=%g", plan->rate_hz);
    snprintf(munge, sizeof(munge), "--munge-socket=%s", g->config->munge_socket);
    if (service_start(g, &g->agent, NAME_AGENT, &p, err) < 0)
        return -1;
    until_s = now_s() + START_S;
    while (!(job = guard_ask(g, err))) {
        if (process_ended(&g->agent) || now_s() > until_s)
            return service_failed(g, &g->agent, NAME_AGENT, err);
        pause_shortly();
    }
    json_decref(job);
    return 0;
}

static int begin_guard(struct guard *g, const unsigned char *key, struct err *err)
{
    *g = (struct guard){ .config = xcalloc(1, sizeof(*g->config)),
                         .workspace = { .dir_lock = -1, .shm_lock = -1 } };
    if (key)
        memcpy(g->key, key, sizeof(g->key));
    else if (getrandom(g->key, sizeof(g->key), 0) != sizeof(g->key))
        return err_set(err, "cannot make a key: %s", strerror(errno));
    if (workspace_make(&g->workspace, NULL, NULL, err) < 0)
        return -1;
    return start_munged(g, err);
}

static int end_with(struct guard *g, int rc)
{
    if (rc < 0)
        guard_end(g);
    return rc;
}

int guard_start(struct guard *g, const struct guard_plan *plan, struct err *err)
{
    const struct agent_plan agent = { .name = plan->name,
                                      .policy = plan->policy->name,
                                      .policy_asked = plan->policy_asked,
                                      .rate_hz = plan->policy->sample_rate_hz,
                                      .count = 1 };

    if (begin_guard(g, NULL, err) < 0 || start_controller(g, plan, err) < 0)
        return end_with(g, -1);
    g->has_controller = true;
    if (plan->address)
        return 0;
    g->has_agent = true;
    return end_with(g, start_agent(g, &agent, err));
}

int guard_join(struct guard *g, const struct assignment *assignment, struct err *err)
{
    const struct agent_plan agent = { .name = assignment->name,
                                      .policy = assignment->policy,
                                      .policy_asked = assignment->policy_asked,
                                      .rate_hz = assignment->rate_hz,
                                      .node = assignment->node,
                                      .number = assignment->number,
                                      .count = assignment->count };
    char text[2 * WORKSPACE_SIZE + sizeof(assignment->controller) + 64];
    int n;

    if (begin_guard(g, assignment->key, err) < 0)
        return end_with(g, -1);
    n = snprintf(text, sizeof(text), "Controller=%s\nAuthInfo=socket=%s/munge\nStateDir=%s/state\n",
                 assignment->controller, g->workspace.dir, g->workspace.dir);
    workspace_path(&g->workspace, "syncguard.conf", g->conf);
    if (workspace_write(&g->workspace, "syncguard.conf", text, (size_t)n, err) < 0 ||
        config_load(g->config, g->conf, err) < 0)
        return end_with(g, -1);
    snprintf(g->config->agent, sizeof(g->config->agent), "%s", assignment->agent);
    g->has_agent = true;
    return end_with(g, start_agent(g, &agent, err));
}

/* ---- while it runs, and its end ---- */

json_t *guard_ask(const struct guard *g, struct err *err)
{
    struct client_options client = { .hosts = g->config->controller };
    json_t *question = json_pack("{s:s, s:s}", "query", "job", "job", GUARD_JOB), *answer;

    link_end_configure(&client.end, g->config);
    answer = client_ask(&client, question, ASK_S, err);
    json_decref(question);
    return answer;
}

bool guard_settle(struct guard *g)
{
    double until_s = now_s() + SETTLE_S;
    bool over = !g->has_controller;
    struct err ignored;

    if (g->has_agent && process_ended(&g->agent))
        return false;
    process_end(&g->agent, SETTLE_S);
    while (!over && now_s() < until_s && !process_ended(&g->controller)) {
        json_t *job = guard_ask(g, &ignored);

        over = job && !strcmp(json_get_word(job, "state"), "finished");
        json_decref(job);
        if (!over)
            pause_shortly();
    }
    return over;
}

void guard_end(struct guard *g)
{
    process_end(&g->agent, GRACE_S);
    process_end(&g->controller, GRACE_S);
    process_end(&g->munged, GRACE_S);
    workspace_remove(&g->workspace);
    free(g->config);
    g->config = NULL;
}
