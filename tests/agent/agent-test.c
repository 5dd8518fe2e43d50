/* The real agent, real rings, a small controller: everything that may happen to an agent in a step's life. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event2/event.h>

#include "ring/control_page.h"
#include "ring/ring.h"
#include "tests/agent/controller.h"
#include "tests/munge.h"
#include "tests/tap.h"

#define COMM_WORLD 0x1111u
#define COMM_SELF  0x2222u

static struct test_munge mung;
static struct controller ctl;
static char dir[128], program[4096];

/* ---- the agent ---- */

static pid_t start_agent_in(const char *where, const char *hosts)
{
    pid_t pid = fork();
    int null;

    if (pid)
        return pid;
    null = open("/dev/null", O_WRONLY);
    if (!getenv("AGENT_TEST_VERBOSE"))
        dup2(null, 2);
    setenv("SLURM_JOB_ID", "4711", 1);
    setenv("SLURM_STEP_ID", "3", 1);
    setenv("SLURM_NNODES", "2", 1);
    setenv("SLURM_NTASKS", "8", 1);
    setenv("SLURM_JOB_NAME", "tr\xe4in", 1); /* Latin-1: no UTF-8 */
    setenv("SLURM_TOPOLOGY_ADDR", "core.leaf1.node3", 1);
    setenv("SYNCGUARD_LOCAL_TASKS", "4", 1);
    setenv("SYNCGUARD_NOTES", "the probe is old\nthe moon is full", 1);
    execl(program, "syncguard-agent", "--dir", where, "--policy", "observe", "--controller", hosts,
          "--munge-socket", mung.socket, "--rate", "10000", "--node", "node3", NULL);
    _exit(127);
}

static pid_t start_agent(void)
{
    return start_agent_in(dir, ctl.hosts);
}

static void make_dir(void)
{
    strcpy(dir, "/dev/shm/syncguard-test-XXXXXX");
    if (!mkdtemp(dir))
        perror("# mkdtemp");
}

/* Its exit status within so many seconds, while the controller lives on; -1: it did not end, or was killed.
 */
static int agent_exit(pid_t pid, double seconds)
{
    double until = clock_s() + seconds;
    int status;

    while (waitpid(pid, &status, WNOHANG) != pid) {
        if (clock_s() > until) {
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            return -1;
        }
        run_for(&ctl, 0.01);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void remove_tree(const char *path)
{
    pid_t pid = fork();

    if (!pid) {
        execlp("rm", "rm", "-rf", path, NULL);
        _exit(127);
    }
    waitpid(pid, NULL, 0);
}

/* ---- ranks ---- */

static struct ring *make_rank(uint32_t rank, uint32_t thread)
{
    struct ring_info info = {
        .rank = rank, .thread = thread, .task = rank, .world_rank = rank, .world_size = 4
    };
    struct ring_comm world = { .name = COMM_WORLD, .membership = 5, .size = 4, .rank = rank, .last = 3 };
    struct ring_comm self = { .name = COMM_SELF, .membership = 6, .size = 1, .first = rank, .last = rank };
    struct ring *r;

    strcpy(info.program, "train");
    strcpy(info.library, "Open MPI 4.1.4");
    r = ring_create(dir, &info, thread ? RING_CAPACITY_THREAD : RING_CAPACITY_MAIN);
    if (r && !thread) {
        ring_comm_add(r, &world);
        ring_comm_add(r, &self);
    }
    return r;
}

static void emit(struct ring *r, uint64_t comm, uint32_t seq, uint8_t op)
{
    uint64_t now = ring_now(r);
    struct ring_event e = {
        .enter = now - 1000, .leave = now, .comm = comm, .seq = seq, .op = op, .bytes = 64, .root = -1
    };

    ring_emit(r, &e);
}

static void emit_some(struct ring *r, uint32_t first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        emit(r, COMM_WORLD, first + i, RING_OP_ALLREDUCE);
}

/* ---- what the controller has heard ---- */

static size_t count_items(const struct controller *c, enum telemetry_kind kind)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n_items; i++)
        n += c->items[i].kind == kind;
    return n;
}

/* Collectives of a rank on COMM_WORLD in [first, first + n) that arrived, each counted once; -1 when one came
 * twice. */
static int covered(const struct controller *c, uint32_t rank, uint32_t first, uint32_t n)
{
    unsigned char *seen = calloc(n, 1);
    int count = 0;

    for (size_t i = 0; i < c->n_items; i++) {
        const struct sample *s = &c->items[i].sample;

        if (c->items[i].kind != TELEMETRY_SAMPLE || s->rank != rank || s->comm != COMM_WORLD ||
            s->flags & SAMPLE_WHOLE)
            continue;
        for (uint32_t q = s->seq; q < s->seq + s->n; q++) {
            if (q < first || q >= first + n)
                continue;
            if (seen[q - first]++) {
                free(seen);
                return -1;
            }
            count++;
        }
    }
    free(seen);
    return count;
}

static const char *state_of(const struct controller *c, const char *key)
{
    const char *state = json_string_value(json_object_get(json_object_get(c->ranks, key), "state"));

    return state ? state : "";
}

static struct {
    uint32_t rank, first, n;
    const char *key, *state;
} want;

static bool has_samples(const struct controller *c)
{
    return covered(c, want.rank, want.first, want.n) == (int)want.n;
}

static bool has_hello(const struct controller *c)
{
    return c->hellos > 0;
}

static bool has_state(const struct controller *c)
{
    return !strcmp(state_of(c, want.key), want.state);
}

static bool has_stats(const struct controller *c)
{
    return json_object_get(c->stats, "rss_bytes") != NULL;
}

static bool has_live(const struct controller *c)
{
    return count_items(c, TELEMETRY_LIVE) > 0;
}

static bool has_notes(const struct controller *c)
{
    return json_array_size(c->notes) > 0;
}

static bool has_bye(const struct controller *c)
{
    return c->bye;
}

static bool expect_samples(uint32_t rank, uint32_t first, uint32_t n, double seconds)
{
    want.rank = rank;
    want.first = first;
    want.n = n;
    return wait_until(&ctl, has_samples, seconds);
}

static bool expect_state(const char *key, const char *state, double seconds)
{
    want.key = key;
    want.state = state;
    return wait_until(&ctl, has_state, seconds);
}

/* ---- the life of an agent ---- */

static struct ring *rank0;

static void beginning(void)
{
    const struct comm_item *comm = NULL;
    size_t comms = 0;

    ok(wait_until(&ctl, has_hello, 5), "the agent says hello");
    is_str(json_string_value(json_object_get(ctl.hello, "node")), "node3", "from its node");
    is_str(json_string_value(json_object_get(ctl.hello, "switch")), "leaf1", "below its switch");
    is_str(json_string_value(json_object_get(ctl.hello, "name")), "tr?in",
           "a name in another encoding is made readable");
    is_int(json_integer_value(json_object_get(ctl.hello, "job")), 4711, "of the job");
    ok(json_is_null(json_object_get(ctl.hello, "array_job")) &&
           json_is_null(json_object_get(ctl.hello, "user")),
       "what is not known is null");
    is_int((long long)json_array_size(json_object_get(ctl.hello, "notes")), 2, "with the plugin's notes");

    rank0 = make_rank(0, 0);
    emit_some(rank0, 0, 100);
    emit(rank0, COMM_SELF, 0, RING_OP_BARRIER);
    ok(expect_samples(0, 0, 100, 5), "every collective of a new rank arrives");
    ok(expect_state("0.0", "running", 5), "and the rank itself");
    is_int(json_integer_value(json_object_get(json_object_get(ctl.ranks, "0.0"), "pid")), getpid(),
           "with its process");
    for (size_t i = 0; i < ctl.n_items; i++)
        if (ctl.items[i].kind == TELEMETRY_COMM) {
            comm = &ctl.items[i].comm;
            comms++;
        }
    ok(comms == 1 && comm->name == COMM_WORLD && comm->size == 4 && comm->last == 3,
       "and its communicator, without the one of one member");
    ok(wait_until(&ctl, has_stats, 5) && json_integer_value(json_object_get(ctl.stats, "rss_bytes")) > 100000,
       "and what the agent itself costs");
    ok(json_object_get(ctl.stats, "energy_j") && !json_is_integer(json_object_get(ctl.stats, "energy_j")),
       "and the node's energy, if only that it is unknown");
    is_int(ctl.gaps + ctl.bad, 0, "batches come without gaps");
}

static const struct live *last_live(void)
{
    for (size_t i = ctl.n_items; i-- > 0;)
        if (ctl.items[i].kind == TELEMETRY_LIVE)
            return &ctl.items[i].live;
    return NULL;
}

static void inside(void)
{
    struct ring_live live = {
        .comm = COMM_WORLD, .enter = ring_now(rank0), .seq = 100, .op = RING_OP_ALLREDUCE, .bytes = 64
    };
    size_t before;

    controller_forget(&ctl);
    ring_enter(rank0, &live);
    ok(wait_until(&ctl, has_live, 4), "a collective that lasts is told");
    ok(last_live()->op == RING_OP_ALLREDUCE && last_live()->seq == 100 && last_live()->age_ns >= 1000000000u,
       "with what it is and for how long");
    before = count_items(&ctl, TELEMETRY_LIVE);
    run_for(&ctl, 1.3);
    ok(count_items(&ctl, TELEMETRY_LIVE) > before, "again each second");
    ring_leave(rank0, ring_now(rank0));
    run_for(&ctl, 0.4);
    ok(last_live()->op == RING_OP_NONE && last_live()->age_ns < 1000000000u, "and at once when it has ended");
}

static void control(void)
{
    const struct control_page *page = control_page_open(dir);

    ok(page && page->record == 1, "the control page is there");
    controller_send(&ctl, "{\"control\":{\"record\":false}}");
    run_for(&ctl, 0.3);
    ok(page && page->record == 0, "the controller turns recording off");
    controller_send(&ctl, "{\"control\":{\"record\":true,\"rate_hz\":1e99,\"whole\":true},\"unknown\":[1]}");
    run_for(&ctl, 0.3);
    ok(page && page->record == 1, "and on again");
    control_page_close(page);
}

static void garbage(void)
{
    static const char *const lines[] = { "no json", "[]", "{\"welcome\":\"agent\"}",
                                         "{\"welcome\":\"agent\",\"controller\":\"x\",\"batch\":-5}" };

    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
        controller_forget(&ctl);
        controller_send(&ctl, lines[i]);
        ok(wait_until(&ctl, has_hello, 5), "after %s it begins anew", lines[i]);
        run_for(&ctl, 0.1);
    }
    controller_send(&ctl, "{\"ack\":18446744073709551615}");
    controller_send(&ctl, "{\"ack\":99999999}");
    controller_send(&ctl, "{\"control\":7}");
    controller_forget(&ctl);
    emit_some(rank0, 100, 10);
    ok(expect_samples(0, 100, 10, 5), "impossible acknowledgements change nothing");
}

static void restart_controller(void)
{
    controller_down(&ctl);
    controller_forget(&ctl);
    emit_some(rank0, 110, 20);
    run_for(&ctl, 5);
    is_int(ctl.hellos, 0, "the controller is away for five seconds");
    controller_up(&ctl, NULL);
    ok(expect_samples(0, 110, 20, 5), "what happened meanwhile arrives");
    is_int(covered(&ctl, 0, 0, 110), 0, "and nothing twice");
    ok(ctl.gaps == 0, "without a gap");
    controller_down(&ctl);
    controller_forget(&ctl);
    controller_up(&ctl, "second");
    ok(expect_samples(0, 0, 130, 6), "a new controller gets the whole backlog");
    ok(expect_state("0.0", "running", 2) && count_items(&ctl, TELEMETRY_COMM) == 1,
       "with ranks and communicators");
    ok(ctl.bad == 0, "and all of it well-formed");
}

static pid_t kill_agent(pid_t agent)
{
    char life[32];

    strcpy(life, ctl.life);
    kill(agent, SIGKILL);
    waitpid(agent, NULL, 0);
    controller_forget(&ctl);
    emit_some(rank0, 130, 40);
    agent = start_agent();
    ok(expect_samples(0, 130, 40, 5),
       "an agent that was killed is followed by one that goes on where it was");
    ok(strcmp(ctl.life, life) != 0, "with a life of its own");
    ok(covered(&ctl, 0, 0, 130) <= 1, "without what was sent before"); /* a block that was open stays lost */
    ok(expect_state("0.0", "running", 3) && count_items(&ctl, TELEMETRY_COMM) == 1,
       "it tells rank and communicator again");
    return agent;
}

/* More than the backlog holds, while nobody takes it. */
static void overflow(void)
{
    struct ring *r = make_rank(5, 0);
    uint32_t n = 0;

    controller_send(&ctl, "{\"control\":{\"whole\":true}}");
    run_for(&ctl, 0.3);
    controller_down(&ctl);
    controller_forget(&ctl);
    for (int i = 0; i < 30; i++, n += 4000) {
        emit_some(r, n, 4000);
        run_for(&ctl, 0.1);
    }
    controller_up(&ctl, NULL);
    ok(expect_samples(5, n - 4000, 4000, 6), "after too long an absence the newest arrives");
    ok(covered(&ctl, 5, 0, 4000) == 0 && ctl.gaps == 1, "the oldest is lost, and seen to be");
    ok(count_items(&ctl, TELEMETRY_COMM) == 2 && ctl.items[0].kind == TELEMETRY_COMM,
       "the communicators are told again, before anything that needs them");
    json_object_clear(ctl.stats);
    ok(wait_until(&ctl, has_stats, 3) && json_integer_value(json_object_get(ctl.stats, "lost_batches")) > 0,
       "and counted");
    ring_state_set(r, RING_STATE_FINALIZED);
    ring_close(r);
}

static uint64_t missed_by(uint32_t rank)
{
    for (size_t i = ctl.n_items; i-- > 0;)
        if (ctl.items[i].kind == TELEMETRY_COUNTS && ctl.items[i].counts.rank == rank)
            return ctl.items[i].counts.missed;
    return 0;
}

/* What is in a ring is the job's own writing. */
static void liars(void)
{
    struct ring *r = make_rank(1, 0);
    struct ring_event e = { .enter = ring_now(r), .leave = ring_now(r), .comm = COMM_WORLD, .op = 200 };
    char path[256], junk[5000] = "this is no ring";
    int fd;

    controller_forget(&ctl);
    ring_emit(r, &e);
    e.op = RING_OP_BARRIER;
    e.leave = e.enter - 5;
    ring_emit(r, &e);
    e.leave = UINT64_MAX;
    ring_emit(r, &e);
    emit_some(r, 0, 3);
    ok(expect_samples(1, 0, 3, 5), "events that cannot be do not hide those that can");
    run_for(&ctl, 1.5);
    is_int((long long)missed_by(1), 3, "they are counted");
    snprintf(path, sizeof(path), "%s/7.0.0.ring", dir);
    fd = open(path, O_WRONLY | O_CREAT, 0600);
    if (write(fd, junk, sizeof(junk)) < 0)
        perror("# write");
    close(fd);
    ok(wait_until(&ctl, has_notes, 5), "a file that is no ring is noted");
    ring_close(r);
}

/* Two threads' rings become one sequence in time. */
static void threads(void)
{
    struct ring *r[2] = { make_rank(2, 0), make_rank(2, 1) };
    uint64_t last = 0;
    bool ordered = true;

    controller_forget(&ctl);
    for (uint32_t i = 0; i < 400; i++) {
        emit(r[i % 2], COMM_WORLD, i, RING_OP_ALLREDUCE);
        if (i % 20 == 0)
            run_for(&ctl, 0.005);
    }
    ok(expect_samples(2, 0, 400, 5), "two threads' collectives all arrive");
    for (size_t i = 0; i < ctl.n_items; i++) {
        const struct sample *s = &ctl.items[i].sample;

        if (ctl.items[i].kind != TELEMETRY_SAMPLE || s->rank != 2)
            continue;
        /* Two readings of the counter may be the same: the order within that is anybody's. */
        ordered &= s->enter_ns + 100 >= last;
        last = s->enter_ns;
    }
    ok(ordered, "in the order of time");
    ring_state_set(r[0], RING_STATE_FINALIZED);
    ok(expect_state("2.0", "finalized", 4), "a rank that finalises is told");
    ring_close(r[0]);
    ring_close(r[1]);
}

static void vanish(void)
{
    pid_t pid = fork();
    int status;

    if (!pid) {
        struct ring *r = make_rank(3, 0);

        emit_some(r, 0, 25);
        usleep(600000);
        raise(SIGKILL);
    }
    ok(expect_state("3.0", "running", 5), "a process with a rank");
    waitpid(pid, &status, 0);
    ok(expect_state("3.0", "vanished", 5), "that is killed has vanished");
    ok(expect_samples(3, 0, 25, 3), "what it left behind arrives");
}

static void ending(pid_t agent)
{
    struct stat st;
    double t;

    is_int(agent_exit(start_agent_in(dir, ctl.hosts), 5), 1, "a second agent in the same directory refuses");
    controller_forget(&ctl);
    emit_some(rank0, 170, 30);
    ring_state_set(rank0, RING_STATE_FINALIZED);
    t = clock_s();
    kill(agent, SIGTERM);
    is_int(agent_exit(agent, 5), 0, "at the step's end it exits well");
    t = clock_s() - t;
    ok(t < 1, "quickly: %.0f ms", t * 1e3);
    run_for(&ctl, 0.2);
    ok(covered(&ctl, 0, 170, 30) == 30, "after the last events were sent");
    is_str(state_of(&ctl, "0.0"), "finalized", "and the last state");
    ok(has_bye(&ctl), "and a goodbye");
    ok(lstat(dir, &st) < 0 && errno == ENOENT, "and the directory is gone");
    ring_close(rank0);
}

static void alone(void)
{
    char away[256];
    struct stat st;
    pid_t agent;
    double t;

    make_dir();
    rank0 = make_rank(0, 0);
    emit_some(rank0, 0, 1000);
    controller_down(&ctl);
    agent = start_agent();
    run_for(&ctl, 0.5);
    t = clock_s();
    kill(agent, SIGTERM);
    is_int(agent_exit(agent, 5), 0, "without a controller it ends well, too");
    t = clock_s() - t;
    ok(t < 0.5, "in %.0f ms", t * 1e3);
    ok(lstat(dir, &st) < 0, "and removes the directory");
    ring_close(rank0);

    make_dir();
    snprintf(away, sizeof(away), "%s.away", dir);
    controller_up(&ctl, "third");
    controller_forget(&ctl);
    agent = start_agent();
    wait_until(&ctl, has_hello, 5);
    rename(dir, away);
    is_int(agent_exit(agent, 5), 0, "it ends when its directory disappears");
    ok(has_bye(&ctl), "and says goodbye");
    remove_tree(away);
}

/* A rank that computes all the time on a CPU that it has to share with another process. */
static bool has_run_delay(const struct controller *c)
{
    for (size_t i = 0; i < c->n_items; i++) {
        const struct task_item *t = &c->items[i].task;

        if (c->items[i].kind == TELEMETRY_TASK && t->rank == 6 && t->run_delay_ratio > 0.2f &&
            t->foreign_ratio > 0.2f && t->involuntary_per_s > 1)
            return true;
    }
    return false;
}

static bool has_node(const struct controller *c)
{
    return count_items(c, TELEMETRY_NODE) > 0;
}

static pid_t burn(const cpu_set_t *cpus, uint32_t rank)
{
    pid_t pid = fork();

    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sched_setaffinity(0, sizeof(*cpus), cpus);
    if (rank != UINT32_MAX)
        make_rank(rank, 0);
    for (volatile unsigned i = 0;; i++)
        ;
}

static void shared_cpu(void)
{
    cpu_set_t allowed, one;
    pid_t agent, rank, other;
    int cpu = 0;

    sched_getaffinity(0, sizeof(allowed), &allowed);
    while (!CPU_ISSET(cpu, &allowed))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    make_dir();
    controller_forget(&ctl);
    agent = start_agent();
    rank = burn(&one, 6);
    other = burn(&one, UINT32_MAX);
    ok(wait_until(&ctl, has_node, 10), "the node's own figures arrive");
    ok(wait_until(&ctl, has_run_delay, 30), "a rank whose CPU another process uses is seen to wait for it");
    kill(rank, SIGKILL);
    kill(other, SIGKILL);
    waitpid(rank, NULL, 0);
    waitpid(other, NULL, 0);
    kill(agent, SIGTERM);
    is_int(agent_exit(agent, 5), 0, "and the agent ends well");
}

/* Ended within a blink: before the clock is calibrated, before the controller has answered. */
static void blink(void)
{
    char page[256];
    pid_t agent;

    make_dir();
    rank0 = make_rank(0, 0);
    emit_some(rank0, 0, 16384);
    ring_state_set(rank0, RING_STATE_FINALIZED);
    controller_forget(&ctl);
    agent = start_agent();
    snprintf(page, sizeof(page), "%s/" CONTROL_PAGE_FILE, dir);
    for (int i = 0; i < 5000 && access(page, F_OK) < 0; i++)
        run_for(&ctl, 0.001);
    kill(agent, SIGTERM);
    is_int(agent_exit(agent, 5), 0, "an agent may end right after it began");
    run_for(&ctl, 0.1);
    is_int(covered(&ctl, 0, 0, 16384), 16384, "and still sends a whole ring");
    ring_close(rank0);
}

int main(void)
{
    const char *top = getenv("top_builddir");
    pid_t agent;

    signal(SIGPIPE, SIG_IGN); /* an acknowledgement may go to an agent that was just killed */
    snprintf(program, sizeof(program), "%s/syncguard-agent", top ? top : ".");
    if (!test_munge_start(&mung))
        return skip_all("munged is not there, or does not start");
    make_dir();
    controller_init(&ctl, event_base_new(), mung.socket);
    controller_up(&ctl, "first");
    agent = start_agent();
    beginning();
    inside();
    control();
    garbage();
    restart_controller();
    agent = kill_agent(agent);
    overflow();
    liars();
    threads();
    vanish();
    ending(agent);
    alone();
    blink();
    shared_cpu();
    controller_free(&ctl);
    event_base_free(ctl.base);
    test_munge_stop(&mung);
    return done_testing();
}
