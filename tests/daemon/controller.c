/* The real controller with the agents of a simulated job: what it answers, to whom, and what it survives. */
#include <errno.h>
#include <event2/event.h>

#include "tests/daemon/live.h"
#include "wire/json.h"
#include "wire/telemetry.h"

static void questions(void)
{
    json_t *a = ask("{\"query\":\"status\", \"tag\":7}");

    is_int((long long)number(a, "tag"), 7, "an answer carries the question's tag");
    ok(json_is_true(at(a, "operator")) && number(a, "jobs") == 0,
       "status counts no job, and its asker is an operator");
    ok(number(a, "rss_bytes") > 1e6 && json_is_null(at(a, "batches_per_s")),
       "status has a rate that is not known yet as null, not zero");
    json_decref(a);
    a = ask("{\"query\":\"weather\"}");
    ok(strstr(text(a, "error"), "status, jobs, job, nodes, scaling, record"),
       "the error on an unknown query lists the known ones");
    json_decref(a);
    a = ask("{\"query\":\"job\", \"job\":\"12x\"}");
    ok(strstr(text(a, "error"), "123.0"), "the error on a malformed job id has the expected form: %s",
       text(a, "error"));
    json_decref(a);
    a = ask("{\"query\":\"job\", \"job\":\"99\"}");
    ok(strstr(text(a, "error"), "no guarded job"),
       "the error on an unknown job states that it is not guarded: %s", text(a, "error"));
    json_decref(a);
}

static void a_job(void)
{
    json_t *a =
        ask("{\"query\":\"job\", \"job\":4242, \"view\":{\"sort\":\"lateness\",\"count\":3,\"columns\":4}}");

    is_str(text(a, "id"), "4242.0", "a job is found by its number");
    is_str(text(a, "state"), "running", "the simulated job runs");
    is_int((long long)number(a, "ranks"), 8, "the job's report counts 8 ranks");
    is_int((long long)number(a, "period"), 3, "the job's step has a period of three collectives");
    ok(number(a, "step_s.p50") > 0.04 && number(a, "step_s.p50") < 0.08,
       "the job's median step time is 0.04 to 0.08 s\n%.3f s", number(a, "step_s.p50"));
    is_str(text(a, "verdicts.0.class"), "straggler", "the verdict on the slower rank is straggler");
    is_str(text(a, "verdicts.0.culprits.0"), "sim3", "the verdict names the slower rank's node");
    ok(number(a, "verdicts.0.slowdown") > 1.1, "the verdict's price is above 1.1\n%.2f",
       number(a, "verdicts.0.slowdown"));
    is_int((long long)json_array_size(at(a, "rank_table")), 3,
           "the table of ranks has the three rows that the view asks for");
    is_int((long long)number(a, "rank_table.0.rank"), 3, "the table of ranks begins with the slowest rank");
    is_int((long long)json_array_size(at(a, "heat.rows")), 3,
           "the heat map has as many rows as the table of ranks");
    is_int((long long)number(a, "rank_table_total"), 8, "the table of ranks has a total of 8");
    ok(json_is_null(at(a, "samples_per_s")),
       "samples a second are unknown of a job that does not report them");
    is_str(text(a, "timeline.0.class"), "straggler", "the timeline begins with the straggler");
    ok(number(a, "efficiency.parallel") > 0.5 && number(a, "efficiency.parallel") < 0.95 &&
           near(number(a, "efficiency.parallel"),
                number(a, "efficiency.load_balance") * number(a, "efficiency.serialisation") *
                    number(a, "efficiency.transfer"),
                1e-6),
       "the parallel efficiency is the product of its factors\n%.2f", number(a, "efficiency.parallel"));
    ok(number(a, "communicators.0.efficiency.run.parallel") > 0,
       "a communicator has efficiencies of the run");
    ok(number(a, "critical_path.ranks.0.rank") == 3 && number(a, "critical_path.concentration") > 0.25 &&
           number(a, "critical_path.ranks.0.delay_s") > 0,
       "the critical path runs through the slower rank\nthe last in %.2f, costing %.4f s a step",
       number(a, "critical_path.concentration"), number(a, "critical_path.ranks.0.delay_s"));
    ok(number(a, "rank_table.0.delay_s") > number(a, "rank_table.1.delay_s") &&
           number(a, "rank_table.0.wait_s") < number(a, "rank_table.1.wait_s"),
       "the slower rank causes more waiting than the next one, and waits less");
    ok(near(number(a, "agents.0.health.frequency_hz"), 3.1e9, 1e-6) &&
           !at(a, "agents.0.health.throttled_per_s") && !at(a, "agents.0.health.gpus"),
       "an agent has its node's health, without the keys of unknown figures");
    ok(number(a, "rank_table.0.health.involuntary_per_s") > 10 &&
           json_is_false(at(a, "rank_table.0.health.shared_cpu")) && !at(a, "rank_table.0.health.gpu"),
       "a rank has its health, without the keys of unknown figures");
    ok(strstr(text(a, "rank_table.0.health.cause"), "its CPU is shared with other processes") &&
           json_is_null(at(a, "rank_table.1.health.cause")),
       "the health of the slower rank has a cause, that of the next rank has none\n%s",
       text(a, "rank_table.0.health.cause"));
    ok(at(a, "projection.warning") && *text(a, "projection.text"),
       "the projection has a warning flag and a sentence\n%s", text(a, "projection.text"));
    printf("# %s\n", text(a, "sentence"));
    json_decref(a);

    a = ask("{\"query\":\"jobs\"}");
    is_int((long long)json_array_size(at(a, "jobs")), 1, "the list of jobs has one job");
    json_decref(a);
    a = ask("{\"query\":\"nodes\"}");
    is_str(text(a, "nodes.3.node"), "sim3", "the list of nodes is in the order of their names");
    ok(number(a, "nodes.3.culprit_count") >= 1, "the list of nodes counts the culprit's verdicts");
    ok(near(number(a, "nodes.3.agent.health.frequency_hz"), 3.1e9, 1e-6),
       "the list of nodes has their health");
    json_decref(a);
}

/* Which keys an object has, one a line in their order, with those of the objects that hold a list of rows:
 * the others' depend on what is known. */
static void keys(char *buf, size_t size, const char *prefix, json_t *o)
{
    const char *key;
    json_t *value;

    json_object_foreach(o, key, value) {
        char name[200];
        size_t n = strlen(buf);

        snprintf(name, sizeof(name), "%s%s%s", prefix, *prefix ? "." : "", key);
        snprintf(buf + n, size - n, "%s\n", name);
        if (json_is_object(value) && (!strcmp(name, "heat") || !strcmp(name, "pace")))
            keys(buf, size, name, value);
    }
}

/* The report as sgctl prints it, and what it did to get it. */
static json_t *printed_job(const char *job, int *status)
{
    char *sgctl = built("sgctl"),
         *command = xasprintf("%s job %s --json --conf %s --timeout 60s", sgctl, job, live.conf);
    FILE *in = popen(command, "r");
    json_t *o = json_loadf(in, 0, NULL);

    *status = pclose(in);
    free(sgctl);
    free(command);
    return o;
}

static void rows(void)
{
    static const char *const none[] = { "rank_table", "heat.rows", "agents", "pace.nodes" };
    json_t *a = ask("{\"query\":\"rows\", \"job\":4242, \"list\":\"rank_table\"}"), *whole;
    char of_whole[8192] = "", of_printed[8192] = "";
    int status;

    ok(strstr(text(a, "error"), "rows_later"), "rows that were not left out of an answer are refused: %s",
       text(a, "error"));
    json_decref(a);
    a = ask("{\"query\":\"rows\", \"job\":4242, \"list\":\"events\"}");
    ok(strstr(text(a, "error"), "rank_table, heat.rows"),
       "the error on an unknown list has the known ones: %s", text(a, "error"));
    json_decref(a);
    a = ask("{\"query\":\"job\", \"job\":4242, \"rows_later\":true}");
    for (size_t i = 0; i < ARRAY_SIZE(none); i++)
        ok(json_is_array(at(a, none[i])) && !json_array_size(at(a, none[i])),
           "%s is left out of a job's answer with rows_later", none[i]);
    is_int((long long)json_array_size(at(a, "rows_later")), 4, "the answer names the lists that it lacks");
    json_decref(a);
    a = printed_job("4242", &status);
    whole = ask("{\"query\":\"job\", \"job\":4242}");
    keys(of_whole, sizeof(of_whole), "", whole);
    keys(of_printed, sizeof(of_printed), "", a);
    is_str(of_printed, of_whole, "sgctl prints the keys of the whole answer");
    ok(!status && json_array_size(at(a, "rank_table")) == 8 && json_array_size(at(a, "heat.rows")) == 8 &&
           json_array_size(at(a, "agents")) == 8 && number(a, "rank_table.0.rank") == 3,
       "sgctl prints all rows, the latest rank first");
    json_decref(a);
    json_decref(whole);
    a = ask("{\"query\":\"job\", \"job\":4242, \"view\":{\"count\":1, \"agents\":2}}");
    ok(json_array_size(at(a, "agents")) == 2 &&
           !strcmp(text(a, "agents.0.node"), text(a, "rank_table.0.node")) &&
           number(a, "agents_total") == 8 && number(a, "agents_silent.number") == 0,
       "a view's agents are as many as it asks for, that of the selected rank first");
    json_decref(a);
}

/* 16,384 ranks: no frame has room for all of them. */
static void large_job(void)
{
    char *path = built("tests/daemon/simjob");
    char *argv[] = { path,
                     (char *)"--controller",
                     live.hosts,
                     (char *)"--munge-socket",
                     live.munge.socket,
                     (char *)"--job",
                     (char *)"5000",
                     (char *)"--nodes",
                     (char *)"256",
                     (char *)"--per-node",
                     (char *)"64",
                     (char *)"--step",
                     (char *)"2",
                     (char *)"--seconds",
                     (char *)"1e6",
                     NULL };
    pid_t pid = spawn(argv), small_job = live_job("5001", "1e6", "8");
    char of_large[8192] = "", of_small[8192] = "";
    json_t *a, *small;
    bool once = true;
    char *seen;
    int status;

    wait_until_least("{\"query\":\"job\",\"job\":5000,\"view\":{\"count\":0,\"agents\":0}}", "steps", 3);
    a = ask("{\"query\":\"job\", \"job\":5000}");
    ok(json_array_size(at(a, "rank_table")) > 100 && number(a, "rank_table_total") == 16384 &&
           (double)json_array_size(at(a, "rank_table")) + number(a, "cut.rank_table") == 16384 &&
           json_array_size(at(a, "heat.rows")) + (size_t)json_get_count(at(a, "cut"), "heat.rows") == 16384,
       "a whole answer with 16,384 ranks has those that a frame has room for, and says how many are left out\n%zu rows",
       json_array_size(at(a, "rank_table")));
    json_decref(a);
    a = printed_job("5000", &status);
    small = ask("{\"query\":\"job\", \"job\":5001}");
    keys(of_large, sizeof(of_large), "", a);
    keys(of_small, sizeof(of_small), "", small);
    ok(a && !status, "sgctl prints a job of 16,384 ranks as one JSON object");
    is_str(of_large, of_small, "its keys are those of a small job");
    seen = xcalloc(16384, 1);
    for (size_t i = 0; i < json_array_size(at(a, "rank_table")); i++) {
        json_t *rank = json_array_get(at(a, "rank_table"), i);
        size_t r = (size_t)number(rank, "rank");

        once = once && r < 16384 && !seen[r] &&
               number(json_array_get(at(a, "heat.rows"), i), "rank") == (double)r;
        seen[r < 16384 ? r : 0] = 1;
    }
    ok(once && json_array_size(at(a, "rank_table")) == 16384 && json_array_size(at(a, "heat.rows")) == 16384,
       "each of the 16,384 ranks is in the table and in the heat map once, in the same order");
    is_int((long long)json_array_size(at(a, "agents")), 256, "all agents are in it");
    free(seen);
    json_decref(a);
    json_decref(small);
    kill(pid, SIGTERM);
    kill(small_job, SIGTERM);
    waitpid(pid, NULL, 0);
    waitpid(small_job, NULL, 0);
    free(path);
}

/* What somebody else sees: the other user's process asks for itself. */
static void another_user(void)
{
    int status = -1;
    pid_t pid;

    if (geteuid()) {
        ok(true, "another user sees the status and no job # SKIP only root can become another user");
        return;
    }
    fflush(stdout);
    pid = fork();
    if (!pid) {
        json_t *status_a, *jobs, *job, *record;

        if (setgid(65534) < 0 || setuid(65534) < 0)
            _exit(100);
        status_a = ask("{\"query\":\"status\"}");
        jobs = ask("{\"query\":\"jobs\"}");
        job = ask("{\"query\":\"job\",\"job\":4242}");
        record = ask("{\"query\":\"record\",\"job\":4242}");
        _exit(!*text(status_a, "version") * 1 + json_is_true(at(status_a, "operator")) * 2 +
              (json_array_size(at(jobs, "jobs")) != 0) * 4 + !*text(job, "error") * 8 +
              !*text(record, "error") * 16);
    }
    waitpid(pid, &status, 0);
    is_int(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0, "another user sees the status and not the job");
}

/* ---- peers that misbehave ---- */

struct bad {
    struct event_base *base;
    const char *send;
    char answer[512];
    bool down;
};

static void bad_up(struct link *l, void *arg)
{
    struct bad *b = arg;

    if (b->send)
        link_send(l, LINK_JSON, b->send, strlen(b->send));
}

static void bad_frame(struct link *l, enum link_frame type, const void *data, size_t bytes, void *arg)
{
    struct bad *b = arg;

    (void)l;
    (void)type;
    snprintf(b->answer + strlen(b->answer), sizeof(b->answer) - strlen(b->answer), "%.*s", (int)bytes,
             (const char *)data);
    event_base_loopbreak(b->base);
}

static void bad_down(struct link *l, const char *why, void *arg)
{
    struct bad *b = arg;

    (void)l;
    (void)why;
    b->down = true;
    event_base_loopbreak(b->base);
}

/* What the controller says to one frame; then: a batch, which it has read once it refuses what comes behind.
 */
static void say(struct bad *b, const char *frame, const void *then, size_t bytes)
{
    static const struct link_events events = { .up = bad_up, .frame = bad_frame, .down = bad_down };
    struct timeval limit = { 60, 0 };
    struct link *l;
    struct err err;

    *b = (struct bad){ .base = event_base_new(), .send = frame };
    l = link_connect(b->base, live.hosts, 0, &live.end, &events, b, &err);
    event_base_loopexit(b->base, &limit);
    event_base_dispatch(b->base);
    if (then && !b->down) {
        link_send(l, LINK_TELEMETRY, then, bytes);
        link_send(l, LINK_JSON, "[1]", 3);
        event_base_dispatch(b->base);
    }
    if (!b->down)
        link_close(l);
    event_base_free(b->base);
}

static bool still_answers(void)
{
    json_t *a = ask("{\"query\":\"status\"}");
    bool good = *text(a, "version") != '\0';

    json_decref(a);
    return good;
}

static void misbehaviour(void)
{
    static const char *const odd_placements[] = {
        "{\"pattern\":\"ring\\n\",\"applied\":true,\"slurm_s\":2,\"chosen_s\":1}",
        "{\"pattern\":\"\",\"slurm_s\":2,\"chosen_s\":1}",
        "{\"pattern\":\"ring\",\"slurm_s\":1,\"chosen_s\":2}",
        "{\"pattern\":\"ring\",\"slurm_s\":1e300,\"chosen_s\":1}",
        "{\"pattern\":\"ring\",\"slurm_s\":2,\"chosen_s\":0}",
        "{\"pattern\":\"ring\",\"slurm_s\":\"2\",\"chosen_s\":1}",
        "[\"ring\",2,1]"
    };
    static const char *const odd_algorithms[] = { "{\"name\":\"ring 1\",\"usual_s\":2,\"most_s\":1}",
                                                  "{\"name\":\"ring\",\"usual_s\":1,\"most_s\":2}",
                                                  "{\"name\":\"ring\",\"usual_s\":2,\"most_s\":0}",
                                                  "{\"name\":\"ring\",\"usual_s\":2}",
                                                  "[\"ring\",2,1]",
                                                  "\"ring\"" };
    static const struct {
        const char *unseen, *sentence;
    } odd_unseen[] = {
        { "{\"reason\":\"static\",\"quiet\":false,\"processes\":2,\"text\":\"2 processes: \\u001b[2J\"}",
          "Not seen: evil?[2J: 2 processes: ?[2J." },
        { "{\"reason\":\"calls\",\"quiet\":true,\"processes\":-1,\"text\":\"train\"}",
          "No rank has called MPI, NCCL or Gloo yet: evil?[2J: train." },
        { "{\"reason\":7,\"quiet\":\"no\",\"text\":[1]}", "No call of MPI, NCCL or Gloo was seen yet." },
        { "null", "No call of MPI, NCCL or Gloo was seen yet." },
    };
    struct sockaddr_in a = { .sin_family = AF_INET,
                             .sin_port = htons((uint16_t)live.port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    char garbage[4096];
    struct bad b;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    for (size_t i = 0; i < sizeof(garbage); i++)
        garbage[i] = (char)(i * 37);
    if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0 && write(fd, garbage, sizeof(garbage)) < 0)
        printf("# %s\n", strerror(errno));
    ok(still_answers(), "the controller answers after raw garbage on its port");
    close(fd);
    say(&b, "[1,2,3]", NULL, 0);
    ok(strstr(b.answer, "one JSON object"),
       "a frame that is not a JSON object is rejected with its reason: %s", b.answer);
    say(&b, "{\"hello\":\"agent\",\"job\":1,\"node\":\"n\"}", NULL, 0);
    ok(strstr(b.answer, "lacks uid, job or step"),
       "a hello without required keys is rejected with their names: %s", b.answer);
    char *nowhere = xasprintf("{\"hello\":\"agent\",\"job\":88,\"step\":0,\"uid\":%u}", (unsigned)getuid());

    say(&b, nowhere, NULL, 0);
    free(nowhere);
    ok(strstr(b.answer, "lacks the node"), "so is one without a node: %s", b.answer);
    json_t *none = ask("{\"query\":\"job\",\"job\":88}");
    ok(*text(none, "error"), "and no step comes of it, which nothing would end: %s", text(none, "error"));
    json_decref(none);
    for (size_t i = 0; i < ARRAY_SIZE(odd_placements); i++) {
        char *hello =
            xasprintf("{\"hello\":\"agent\",\"job\":77,\"step\":0,\"uid\":%u,\"node\":\"evil\\u001b["
                      "2J\",\"policy\":\"none\",\"placement\":%s}",
                      (unsigned)getuid(), odd_placements[i]);

        say(&b, hello, garbage, sizeof(garbage));
        free(hello);
        json_t *o = ask("{\"query\":\"job\",\"job\":77}");
        ok(*text(o, "agents.0.node") && json_is_null(json_object_get(o, "placement")),
           "not believed: \"placement\": %s", odd_placements[i]);
        json_decref(o);
    }
    for (size_t i = 0; i < ARRAY_SIZE(odd_algorithms); i++) {
        char *hello =
            xasprintf("{\"hello\":\"agent\",\"job\":77,\"step\":0,\"uid\":%u,\"node\":\"evil\\u001b["
                      "2J\",\"policy\":\"none\",\"algorithm\":%s}",
                      (unsigned)getuid(), odd_algorithms[i]);

        say(&b, hello, garbage, sizeof(garbage));
        free(hello);
        json_t *o = ask("{\"query\":\"job\",\"job\":77}");
        ok(*text(o, "agents.0.node") && json_is_null(json_object_get(o, "algorithm")),
           "not believed: \"algorithm\": %s", odd_algorithms[i]);
        json_decref(o);
    }
    for (size_t i = 0; i < ARRAY_SIZE(odd_unseen); i++) {
        char *hello =
            xasprintf("{\"hello\":\"agent\",\"job\":77,\"step\":0,\"uid\":%u,\"node\":\"evil\\u001b["
                      "2J\",\"policy\":\"none\",\"nodes\":1,\"unseen\":%s}",
                      (unsigned)getuid(), odd_unseen[i].unseen);

        say(&b, hello, garbage, sizeof(garbage));
        free(hello);
        json_t *o = ask("{\"query\":\"job\",\"job\":77}");
        is_str(text(o, "sentence"), odd_unseen[i].sentence,
               "the sentence of a step whose agent tells \"unseen\": %s", odd_unseen[i].unseen);
        json_decref(o);
    }
    ok(strstr(b.answer, "welcome") && strstr(b.answer, "one JSON object") && still_answers(),
       "the controller answers after a malformed batch");
    json_t *j = ask("{\"query\":\"job\",\"job\":77}");
    is_str(text(j, "agents.0.node"), "evil?[2J", "a control character in a node's name is replaced");
    is_str(text(j, "regime"), "starting", "no item of the malformed batch is used");
    json_decref(j);
}

static void history(pid_t job)
{
    double age_s;
    json_t *a;

    kill(job, SIGUSR1);
    waitpid(job, NULL, 0);
    a = ask_until("{\"query\":\"job\", \"job\":\"4242.0\"}", "state", "finished");
    is_str(text(a, "state"), "finished", "the step is finished after its agents ended");
    ok(number(a, "verdicts.0.since_s") <= number(a, "elapsed_s"),
       "a verdict lasts no longer than the step\n%.1f s of %.1f s", number(a, "verdicts.0.since_s"),
       number(a, "elapsed_s"));
    ok(!strcmp(text(a, "placement.pattern"), "groups:8") &&
           near(number(a, "placement.slurm_s"), 0.04, 1e-9) &&
           near(number(a, "placement.chosen_s"), 0.02, 1e-9),
       "the report has the order of ranks that srun found");
    json_decref(a);
    is_int(live_stop(SIGTERM), 0, "SIGTERM ends the controller cleanly");
    live_start();
    a = ask("{\"query\":\"job\", \"job\":\"4242.0\"}");
    ok(!strcmp(text(a, "state"), "finished") && number(a, "steps") > 20,
       "a controller that was started again has the finished step in its history\n%.0f steps",
       number(a, "steps"));
    age_s = number(a, "age_s");
    json_decref(a);
    usleep(300000);
    a = ask("{\"query\":\"job\", \"job\":\"4242.0\"}");
    ok(number(a, "age_s") >= age_s + 0.2 && number(a, "events.0.age_s") >= 0.3,
       "the ages in a stored report go on\nended %.2f s ago, then %.2f s ago, newest event %.2f s ago", age_s,
       number(a, "age_s"), number(a, "events.0.age_s"));
    json_decref(a);
    a = ask("{\"query\":\"jobs\", \"finished\":true}");
    ok(json_array_size(at(a, "jobs")) >= 1, "a controller that was started again lists the finished step");
    json_decref(a);
}

/* The same once more: history knows the run before, and the node that was slow then. */
static void once_more(void)
{
    pid_t job = live_job("4243", "1e6", "8");
    json_t *a;

    json_decref(ask_until("{\"query\":\"job\", \"job\":\"4243.0\"}", "state", "running"));
    a = ask("{\"query\":\"nodes\"}");
    is_int((long long)json_array_size(at(a, "nodes")), 8, "the second run is on the same nodes");
    for (size_t i = 0; i < json_array_size(at(a, "nodes")); i++) {
        json_t *node = json_array_get(at(a, "nodes"), i);
        bool slow = !strcmp(text(node, "node"), "sim3");

        if (number(node, "seen_jobs") != 1 || number(node, "culprit_jobs") != slow ||
            !at(node, "lemon_score"))
            ok(false, "%s: its numbers of jobs in the list of nodes are wrong", text(node, "node"));
    }
    json_decref(a);
    a = ask("{\"query\":\"lemons\"}");
    ok(json_is_array(at(a, "lemons")) && !json_array_size(at(a, "lemons")), "two jobs make no lemon");
    json_decref(a);
    a = ask("{\"query\":\"earlier\"}");
    ok(strstr(text(a, "error"), "lacks") != NULL, "a question for earlier runs of no job is an error: %s",
       text(a, "error"));
    json_decref(a);
    a = ask("{\"query\":\"earlier\", \"name\":\"no such\", \"ranks\":8}");
    ok(number(a, "runs") == 0 && json_is_null(at(a, "pattern")), "of another name there are no earlier runs");
    json_decref(a);
    wait_until_least("{\"query\":\"job\", \"job\":\"4243.0\"}", "steps", 60);
    kill(job, SIGUSR1);
    waitpid(job, NULL, 0);
    a = ask_until("{\"query\":\"job\", \"job\":\"4243.0\"}", "state", "finished");
    is_int((long long)number(a, "past.runs"), 1, "the second run is compared with one earlier run");
    ok(number(a, "past.step_ratio") > 0.5 && number(a, "past.step_ratio") < 2,
       "the second run's step time is 0.5 to 2 times that of the first\n%s", text(a, "past.text"));
    ok(number(a, "past.energy_j_per_step") > 20 && number(a, "past.energy_ratio") > 0.3,
       "energy per step is reported and compared\n%.0f J, %.2f times that of the first run",
       number(a, "past.energy_j_per_step"), number(a, "past.energy_ratio"));
    json_decref(a);
    a = ask("{\"query\":\"job\", \"job\":\"4242.0\"}");
    ok(json_is_null(at(a, "past")), "the first run is compared with none");
    json_decref(a);
    a = ask("{\"query\":\"nodes\"}");
    ok(json_array_size(at(a, "nodes")) == 8 && !json_array_size(at(a, "nodes.3.jobs")) &&
           json_is_null(at(a, "nodes.3.agent")) && number(a, "nodes.3.seen_jobs") >= 1,
       "nodes on which no job runs any more are listed, with what is known of them\n%s: %zu jobs run, %.0f ran",
       text(a, "nodes.3.node"), json_array_size(at(a, "nodes.3.jobs")), number(a, "nodes.3.seen_jobs"));
    json_decref(a);
}

static void reload(void)
{
    json_t *a = ask("{\"query\":\"status\"}");
    size_t n = json_array_size(at(a, "policies"));
    char *next = xasprintf("policies.%zu", n);

    json_decref(a);
    live_configure("Policy=gentle MinSlowdown=1.5");
    kill(live.controller, SIGHUP);
    a = ask_until("{\"query\":\"status\"}", next, "gentle");
    is_str(text(a, next), "gentle", "a policy that was added to the configuration is known after SIGHUP");
    json_decref(a);
    live_configure("Policy=gentle MinSlowdown=0.5");
    kill(live.controller, SIGHUP);
    ok(live_logged("keeping the present configuration"), "a wrong configuration is reported in the log");
    a = ask("{\"query\":\"status\"}");
    is_int((long long)json_array_size(at(a, "policies")), (long long)n + 1,
           "a wrong configuration changes nothing");
    json_decref(a);
    free(next);
    is_int(live_stop(SIGKILL), SIGKILL, "SIGKILL ends the controller");
    live_configure("");
    live_start();
    ok(still_answers(), "a controller that is started after SIGKILL answers");
}

int main(void)
{
    pid_t job;

    if (!live_begin())
        return skip_all("munged is not here, or does not start");
    live_configure("");
    live_start();
    questions();
    job = live_job("4242", "1e6", "8");
    wait_until_least("{\"query\":\"job\",\"job\":4242}", "steps",
                     85); /* the later half of them with a slow rank */
    a_job();
    rows();
    another_user();
    misbehaviour();
    history(job);
    once_more();
    reload();
    large_job();
    live_stop(SIGTERM);
    live_end();
    return done_testing();
}
