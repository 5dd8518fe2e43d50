/* agent-test.c - runs the real agent with real rings and a small controller, through what may happen in a
 * step. */
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
#include "ring/hot.h"
#include "ring/layout.h"
#include "ring/ring.h"
#include "ring/steps.h"
#include "tests/agent/controller.h"
#include "tests/munge.h"
#include "tests/tap.h"

#define COMM_WORLD 0x1111u
/* for what happens at once, or within seconds, where the machine has nothing else to do */
#define LIMIT_S   60.0
#define KEEP_S    30.0 /* how long the agent keeps what was acknowledged */
#define COMM_SELF 0x2222u
#define COMM_PAIR 0x3333u

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

/* The agent's exit status; -1 when it does not end, or was killed.  The controller runs meanwhile. */
static int agent_exit(pid_t pid)
{
    double until = clock_s() + LIMIT_S;
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

static void emit_at(struct ring *r, uint64_t comm, uint32_t seq, uint8_t op, uint64_t leave)
{
    struct ring_event e = {
        .enter = leave - 1000, .leave = leave, .comm = comm, .seq = seq, .op = op, .bytes = 64, .root = -1
    };

    ring_emit(r, &e);
}

static void emit(struct ring *r, uint64_t comm, uint32_t seq, uint8_t op)
{
    emit_at(r, comm, seq, op, ring_now(r));
}

static void emit_some(struct ring *r, uint32_t first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        emit(r, COMM_WORLD, first + i, RING_OP_ALLREDUCE);
}

/* ---- what the controller has received ---- */

static size_t count_items(const struct controller *c, enum telemetry_kind kind)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n_items; i++)
        n += c->items[i].kind == kind;
    return n;
}

/* Collectives of a rank on COMM_WORLD in [first, first + n) that arrived, each counted once. */
static int arrived(const struct controller *c, uint32_t rank, uint32_t first, uint32_t n, bool *twice)
{
    unsigned char *seen = calloc(n, 1);
    int count = 0;

    *twice = false;
    for (size_t i = 0; i < c->n_items; i++) {
        const struct sample *s = &c->items[i].sample;

        if (c->items[i].kind != TELEMETRY_SAMPLE || s->rank != rank || s->comm != COMM_WORLD ||
            s->flags & SAMPLE_WHOLE)
            continue;
        for (uint32_t q = s->seq; q < s->seq + s->n; q++) {
            if (q < first || q >= first + n)
                continue;
            *twice |= seen[q - first];
            count += !seen[q - first];
            seen[q - first] = 1;
        }
    }
    free(seen);
    return count;
}

/* The same; -1 when one came twice. */
static int covered(const struct controller *c, uint32_t rank, uint32_t first, uint32_t n)
{
    bool twice;
    int count = arrived(c, rank, first, n, &twice);

    return twice ? -1 : count;
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

static bool has_arrived(const struct controller *c)
{
    bool twice;

    return arrived(c, want.rank, want.first, want.n, &twice) == (int)want.n;
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

static bool expect_samples(uint32_t rank, uint32_t first, uint32_t n)
{
    want.rank = rank;
    want.first = first;
    want.n = n;
    return wait_until(&ctl, has_samples, LIMIT_S);
}

static bool expect_arrival(uint32_t rank, uint32_t first, uint32_t n)
{
    want.rank = rank;
    want.first = first;
    want.n = n;
    return wait_until(&ctl, has_arrived, LIMIT_S);
}

static bool expect_state(const char *key, const char *state)
{
    want.key = key;
    want.state = state;
    return wait_until(&ctl, has_state, LIMIT_S);
}

static double beginning_s; /* when the first collectives were made */
static struct ring *rank0, *filled;

/* ---- what the agent has done ---- */

static bool has_page(const struct controller *c)
{
    char page[256];

    (void)c;
    snprintf(page, sizeof(page), "%s/" CONTROL_PAGE_FILE, dir);
    return access(page, F_OK) == 0;
}

static struct {
    const struct control_page *page;
    uint32_t record;
} recording;

static bool has_record(const struct controller *c)
{
    (void)c;
    return recording.page && recording.page->record == recording.record;
}

/* Sends a request for recording or none, with more; true when the control page shows that the agent has it.
 */
static bool asked(const struct control_page *page, bool record, const char *more)
{
    char text[256];

    snprintf(text, sizeof(text), "{\"control\":{\"record\":%s%s},\"unknown\":[1]}", record ? "true" : "false",
             more);
    controller_send(&ctl, text);
    recording.page = page;
    recording.record = record;
    return wait_until(&ctl, has_record, LIMIT_S);
}

/* Returns when the agent has this request: what is recorded then is its answer. */
static void ask_agent(const char *request)
{
    const struct control_page *page = control_page_open(dir);

    asked(page, false, request);
    asked(page, true, "");
    control_page_close(page);
}

/* The agent has looked at its node and ranks so often, a second apart, and what it found has arrived. */
static void looks(int n)
{
    static uint32_t seq = 100000;

    for (int i = 0; i <= n; i++) { /* the first may be on its way */
        json_object_clear(ctl.stats);
        wait_until(&ctl, has_stats, LIMIT_S);
    }
    emit_some(rank0, seq, 1);
    expect_samples(0, seq++, 1);
}

/* ---- the tests ---- */

static void beginning(void)
{
    const struct comm_item *comm = NULL;
    size_t comms = 0;

    ok(wait_until(&ctl, has_hello, LIMIT_S), "the agent sends a hello");
    is_str(json_string_value(json_object_get(ctl.hello, "node")), "node3",
           "the hello names the agent's node");
    is_str(json_string_value(json_object_get(ctl.hello, "switches")), "core.leaf1",
           "the agent names the switches above its node");
    is_str(json_string_value(json_object_get(ctl.hello, "switch")), "leaf1",
           "the hello names the node's switch");
    is_str(json_string_value(json_object_get(ctl.hello, "name")), "tr?in",
           "the hello replaces the byte of a job's name that is not UTF-8");
    is_int(json_integer_value(json_object_get(ctl.hello, "job")), 4711, "the hello has the job's id");
    ok(json_is_null(json_object_get(ctl.hello, "het_job")) &&
           json_is_null(json_object_get(ctl.hello, "user")),
       "the hello has null for what is not known");
    is_int((long long)json_array_size(json_object_get(ctl.hello, "notes")), 2,
           "the hello has the plugin's two notes");

    rank0 = make_rank(0, 0);
    beginning_s = clock_s();
    emit_some(rank0, 0, 100);
    emit(rank0, COMM_SELF, 0, RING_OP_BARRIER);
    ok(expect_samples(0, 0, 100), "all 100 collectives of a new rank arrive");
    ok(expect_state("0.0", "running"), "a new rank is reported as running");
    is_int(json_integer_value(json_object_get(json_object_get(ctl.ranks, "0.0"), "pid")), getpid(),
           "a new rank is reported with its process id");
    for (size_t i = 0; i < ctl.n_items; i++)
        if (ctl.items[i].kind == TELEMETRY_COMM) {
            comm = &ctl.items[i].comm;
            comms++;
        }
    ok(comms == 1 && comm->name == COMM_WORLD && comm->size == 4 && comm->last == 3,
       "the communicator of a new rank is reported, but not one with a single member");
    ok(wait_until(&ctl, has_stats, LIMIT_S) &&
           json_integer_value(json_object_get(ctl.stats, "rss_bytes")) > 100000,
       "the agent reports its own memory");
    ok(json_object_get(ctl.stats, "energy_j") && !json_is_integer(json_object_get(ctl.stats, "energy_j")),
       "the agent reports the node's energy, or null");
    is_int(ctl.gaps + ctl.bad, 0, "batches arrive without gaps or errors");
}

static const struct live *last_live(void)
{
    for (size_t i = ctl.n_items; i-- > 0;)
        if (ctl.items[i].kind == TELEMETRY_LIVE)
            return &ctl.items[i].live;
    return NULL;
}

static bool is_repeated(const struct controller *c)
{
    return count_items(c, TELEMETRY_LIVE) > 1;
}

static bool has_left(const struct controller *c)
{
    (void)c;
    return last_live()->op == RING_OP_NONE;
}

/* Inside of a collective until that was reported twice.  True: its end is reported, and not only because
 * nothing was called for a second since. */
static bool inside_once(uint32_t seq)
{
    struct ring_event live = { .root = -1,
                               .comm = COMM_WORLD,
                               .enter = ring_now(rank0),
                               .seq = seq,
                               .op = RING_OP_ALLREDUCE,
                               .bytes = 64 };

    controller_forget(&ctl);
    hot_enter(rank0, &live);
    if (wait_until(&ctl, has_live, LIMIT_S) && last_live()->seq == seq)
        wait_until(&ctl, is_repeated, LIMIT_S);
    ring_leave(rank0, ring_now(rank0));
    return count_items(&ctl, TELEMETRY_LIVE) && wait_until(&ctl, has_left, LIMIT_S) &&
           last_live()->age_ns < 1000000000u;
}

static const struct live *nth_live(size_t n)
{
    for (size_t i = 0; i < ctl.n_items; i++)
        if (ctl.items[i].kind == TELEMETRY_LIVE && !n--)
            return &ctl.items[i].live;
    return NULL;
}

static void inside(void)
{
    bool ended = false;
    const struct live *l;

    /* An agent that got no CPU for a second has no news of the end that are younger. */
    for (int i = 0; i < 20 && !ended; i++)
        ended = inside_once(100);
    l = nth_live(0);
    ok(l != NULL, "a collective that lasts is reported");
    ok(l && l->op == RING_OP_ALLREDUCE && l->seq == 100 && l->age_ns >= 1000000000u,
       "a collective that lasts is reported with operation and age");
    l = nth_live(1);
    ok(l && l->op == RING_OP_ALLREDUCE && l->seq == 100, "a collective that lasts is reported again");
    ok(ended, "the end of a long collective is reported");
}

static void control(void)
{
    const struct control_page *page = control_page_open(dir);

    ok(page && page->record == 1, "the agent makes the control page, with recording on");
    ok(asked(page, false, ""), "the agent turns recording off when the controller asks for it");
    ok(asked(page, true, ",\"rate_hz\":1e99,\"calls\":5"),
       "the agent turns recording on when the controller asks for it");
    control_page_close(page);
}

static void garbage(void)
{
    static const char *const lines[] = { "no json", "[]", "{\"welcome\":\"agent\"}",
                                         "{\"welcome\":\"agent\",\"controller\":\"x\",\"batch\":-5}" };

    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
        controller_forget(&ctl);
        controller_send(&ctl, lines[i]);
        ok(wait_until(&ctl, has_hello, LIMIT_S), "after the invalid message %s the agent connects again",
           lines[i]);
    }
    controller_send(&ctl, "{\"ack\":18446744073709551615}");
    controller_send(&ctl, "{\"ack\":99999999}");
    controller_send(&ctl, "{\"control\":7}");
    controller_forget(&ctl);
    emit_some(rank0, 100, 10);
    ok(expect_samples(0, 100, 10), "collectives still arrive after impossible acknowledgements");
}

static void restart_controller(void)
{
    controller_down(&ctl);
    controller_forget(&ctl);
    emit_some(rank0, 110, 20);
    run_for(&ctl, 1); /* the agent tries in vain */
    is_int(ctl.hellos, 0, "no hello arrives while the controller is stopped");
    controller_up(&ctl, NULL);
    ok(expect_samples(0, 110, 20), "collectives made while the controller was stopped arrive later");
    is_int(covered(&ctl, 0, 0, 110), 0, "collectives that arrived before the outage are not sent again");
    ok(ctl.gaps == 0, "batches have no gap after an outage");
    controller_down(&ctl);
    controller_forget(&ctl);
    controller_up(&ctl, "second");
    ok(expect_samples(0, 100, 30),
       "a controller that was restarted gets what the one before has acknowledged");
    /* They were acknowledged later than made. */
    if (clock_s() - beginning_s < KEEP_S / 2)
        ok(expect_samples(0, 0, 130), "a controller that was restarted gets the whole backlog");
    else
        ok(true,
           "a controller that was restarted gets the whole backlog # SKIP a part of it is too old to be kept");
    ok(expect_state("0.0", "running") && count_items(&ctl, TELEMETRY_COMM) == 1,
       "a controller that was restarted gets ranks and communicators");
    ok(ctl.bad == 0, "a controller that was restarted gets only valid batches");
}

static pid_t kill_agent(pid_t agent)
{
    char instance[32];

    strcpy(instance, ctl.instance);
    kill(agent, SIGKILL);
    waitpid(agent, NULL, 0);
    controller_forget(&ctl);
    emit_some(rank0, 130, 40);
    agent = start_agent();
    ok(expect_samples(0, 130, 40),
       "an agent started after another was killed sends the collectives that follow");
    ok(strcmp(ctl.instance, instance) != 0, "an agent started after another was killed has a new id");
    ok(covered(&ctl, 0, 0, 130) <= 1,
       /* a block that was open stays lost */
       "an agent started after another was killed does not send earlier collectives again");
    ok(expect_state("0.0", "running") && count_items(&ctl, TELEMETRY_COMM) == 1,
       "an agent started after another was killed reports rank and communicator again");
    return agent;
}

/* It is killed between two batches, which are 200 ms apart: the next one sends what it had read. */
static pid_t kill_between_batches(pid_t agent)
{
    struct ring *r = make_rank(8, 0);
    uint32_t seq = 0;

    controller_forget(&ctl);
    for (int round = 0; round < 5; round++, seq += 40) {
        run_for(&ctl, 0.15); /* the first batch follows its start at once */
        emit_some(r, seq, 40);
        run_for(&ctl, 0.07); /* it reads every 40 ms */
        kill(agent, SIGKILL);
        waitpid(agent, NULL, 0);
        agent = start_agent();
    }
    ok(expect_arrival(8, 0, seq), "agents that are killed between two batches lose no collective");
    ring_state_set(r, RING_STATE_FINALIZED);
    ring_close(r);
    return agent;
}

static bool has_room(const struct controller *c)
{
    (void)c;
    return filled->head - atomic_load(&filled->file->tail) < RING_CAPACITY_MAIN / 2;
}

/* The backlog overflows while no controller takes its batches: with a sample of each collective, which were
 * made in the past and so far from each other that the agent need not be sparing. */
static void overflow(void)
{
    const uint32_t rounds = 25, each = 4000;
    const uint64_t apart = 400000; /* ticks: 0.1 ms of the fastest clock */
    struct ring *r = make_rank(5, 0);
    uint64_t at = ring_now(r) - rounds * each * apart;
    uint32_t n = 0;

    filled = r;
    ask_agent(",\"rate_hz\":10000,\"calls\":{\"open_s\":1,\"period_s\":1}");
    controller_down(&ctl);
    controller_forget(&ctl);
    for (uint32_t i = 0; i < rounds && wait_until(&ctl, has_room, LIMIT_S); i++)
        for (uint32_t j = 0; j < each; j++, n++, at += apart)
            emit_at(r, COMM_WORLD, n, RING_OP_ALLREDUCE, at);
    controller_up(&ctl, NULL);
    ok(n == rounds * each && expect_samples(5, n - each, each),
       "when the backlog has overflowed, the newest collectives arrive");
    ok(covered(&ctl, 5, 0, each) == 0 && ctl.gaps == 1,
       "when the backlog has overflowed, the oldest collectives are missing after one gap");
    ok(count_items(&ctl, TELEMETRY_COMM) == 2 && ctl.items[0].kind == TELEMETRY_COMM,
       "when the backlog has overflowed, communicators are reported again before their collectives");
    json_object_clear(ctl.stats);
    ok(wait_until(&ctl, has_stats, LIMIT_S) &&
           json_integer_value(json_object_get(ctl.stats, "lost_batches")) > 0,
       "lost batches are counted in the agent's statistics");
    ask_agent(",\"rate_hz\":100,\"calls\":{\"open_s\":0,\"period_s\":0}");
    ring_state_set(r, RING_STATE_FINALIZED);
    ring_close(r);
}

/* Put n messages, each between two collectives. */
static void call_some(struct ring *r, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct ring_event e = { .leave = ring_now(r),
                                .comm = COMM_WORLD,
                                .seq = i,
                                .root = 3,
                                .tag = 9,
                                .bytes = 100 + i,
                                .op = i % 2 ? RING_OP_RECV : RING_OP_SEND };

        e.enter = e.leave - 1000;
        emit(r, COMM_WORLD, 2 * i + 1, RING_OP_ALLREDUCE);
        ring_emit(r, &e);
        emit(r, COMM_WORLD, 2 * i + 2, RING_OP_ALLREDUCE);
    }
}

/* A nonblocking collective, which is waited for towards its end; or by nobody, as one of NCCL. */
static void begin_and_end(struct ring *r, uint32_t number, bool waited)
{
    struct ring_event e = { .leave = ring_now(r),
                            .comm = COMM_WORLD,
                            .seq = number,
                            .root = -1,
                            .op = RING_OP_ALLREDUCE,
                            .flags = RING_EVENT_NONBLOCKING | (waited ? 0 : RING_EVENT_UNWAITED) };

    e.enter = e.leave - 5000;
    e.wait = waited ? e.leave - 2000 : 0;
    ring_emit(r, &e);
}

static bool has_all_calls(const struct controller *c)
{
    return count_items(c, TELEMETRY_CALL) >= 1 + 3 * 20 + 2;
}

static const struct call *nth_call(size_t n)
{
    for (size_t i = 0; i < ctl.n_items; i++)
        if (ctl.items[i].kind == TELEMETRY_CALL && !n--)
            return &ctl.items[i].call;
    return NULL;
}

/* Calls are sent one by one while the controller asks for them, in order. */
static void calls(void)
{
    struct ring *r = make_rank(6, 0);
    const struct call *c;

    emit_some(r, 0, 1);
    ok(expect_samples(6, 0, 1), "before calls are asked for, collectives arrive in samples alone");
    controller_forget(&ctl);
    ask_agent(",\"calls\":{\"open_s\":1,\"period_s\":1}");
    call_some(r, 20);
    begin_and_end(r, 41, true);
    begin_and_end(r, 42, false);
    ok(wait_until(&ctl, has_all_calls, LIMIT_S),
       "collectives and messages arrive one by one while calls are asked for");
    c = nth_call(0);
    ok(c && c->rank == 6 && c->op == RING_OP_NONE, "the first item says that calls are missing before it");
    c = nth_call(2);
    ok(c && c->op == RING_OP_SEND && c->peer == 3 && c->tag == 9 && c->bytes == 100,
       "a message arrives between the collectives around it, with partner, tag and size");
    c = nth_call(1);
    ok(c && c->begin_ns == c->enter_ns && c->enter_ns < c->leave_ns && c->root == -1,
       "a blocking collective begins when it is entered");
    c = nth_call(61);
    ok(c && c->seq == 41 && c->begin_ns < c->enter_ns && c->enter_ns < c->leave_ns,
       "a nonblocking collective holds its rank from the wait for it on");
    c = nth_call(62);
    ok(c && c->seq == 42 && c->begin_ns < c->enter_ns && c->enter_ns == c->leave_ns,
       "a nonblocking collective that nobody waits for does not hold its rank");
    ask_agent(",\"calls\":{\"open_s\":0,\"period_s\":0}");
    controller_forget(&ctl);
    call_some(r, 2);
    expect_arrival(6, 1, 4); /* a call would have come before */
    is_int((long long)count_items(&ctl, TELEMETRY_CALL), 0, "no call arrives while none is asked for");
    ask_agent(",\"calls\":{\"open_s\":0.000001,\"period_s\":3600}");
    controller_forget(&ctl);
    call_some(r, 20);
    expect_arrival(6, 1, 40);
    is_int((long long)count_items(&ctl, TELEMETRY_CALL), 0,
           "no call arrives that was left outside of the asked stretch");
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

static bool has_missed(const struct controller *c)
{
    (void)c;
    return missed_by(1) >= 3;
}

/* A job may write anything into its rings. */
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
    ok(expect_samples(1, 0, 3), "valid events between impossible ones arrive");
    wait_until(&ctl, has_missed, LIMIT_S);
    is_int((long long)missed_by(1), 3, "impossible events are counted as missed");
    snprintf(path, sizeof(path), "%s/7.0.0.ring", dir);
    fd = open(path, O_WRONLY | O_CREAT, 0600);
    if (write(fd, junk, sizeof(junk)) < 0)
        perror("# write");
    close(fd);
    ok(wait_until(&ctl, has_notes, LIMIT_S), "a file that is not a ring is reported in a note");
    ring_close(r);
}

/* The rings of two threads become one sequence in order of time. */
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
    ok(expect_samples(2, 0, 400), "all collectives of two threads arrive");
    for (size_t i = 0; i < ctl.n_items; i++) {
        const struct sample *s = &ctl.items[i].sample;

        if (ctl.items[i].kind != TELEMETRY_SAMPLE || s->rank != 2)
            continue;
        /* Two readings of the counter may be equal, so their order is arbitrary. */
        ordered &= s->enter_ns + 100 >= last;
        last = s->enter_ns;
    }
    ok(ordered, "collectives of two threads arrive in order of time");
    ring_state_set(r[0], RING_STATE_FINALIZED);
    ok(expect_state("2.0", "finalized"), "a rank that has called MPI_Finalize is reported as finalized");
    ring_close(r[0]);
    ring_close(r[1]);
}

static bool process_is(const struct controller *c, enum process_state state)
{
    for (size_t i = c->n_items; i-- > 0;)
        if (c->items[i].kind == TELEMETRY_PROCESS)
            return c->items[i].process.rank == 3 && c->items[i].process.state == state;
    return false;
}

static bool is_stopped(const struct controller *c)
{
    return process_is(c, PROCESS_STOPPED);
}

static bool runs_again(const struct controller *c)
{
    return process_is(c, PROCESS_RUNS);
}

/* A stopped process is reported to a controller that can read it, and so is that it runs again. */
static void stop(pid_t pid)
{
    controller_forget(&ctl);
    kill(pid, SIGSTOP);
    looks(3); /* a halt is one after 1.5 s */
    is_int((long long)count_items(&ctl, TELEMETRY_PROCESS), 0,
           "no process item is sent to a controller whose welcome names no kinds of items");
    ctl.newest_item = TELEMETRY_PROCESS;
    controller_down(&ctl);
    controller_up(&ctl, NULL);
    ok(wait_until(&ctl, is_stopped, LIMIT_S),
       "a rank's process that a signal stopped is reported as stopped");
    kill(pid, SIGCONT);
    ok(wait_until(&ctl, runs_again, LIMIT_S), "a rank's process that goes on is reported as running again");
    looks(2);
    ok(count_items(&ctl, TELEMETRY_PROCESS) > 1 && runs_again(&ctl),
       "a process that runs again is reported once");
}

static void vanish(void)
{
    pid_t pid = fork();
    int status;

    if (!pid) {
        struct ring *r;

        close_range(3, ~0u, 0); /* the test's link ends when the test closes it */
        r = make_rank(3, 0);
        emit_some(r, 0, 25);
        for (;;)
            pause();
    }
    ok(expect_state("3.0", "running"), "a rank in a process of its own is reported as running");
    stop(pid);
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    ok(expect_state("3.0", "vanished"), "a rank whose process was killed is reported as vanished");
    ok(expect_samples(3, 0, 25), "the collectives of a rank whose process was killed arrive");
}

/* A number that is no process of this node, for one that is to have it in a container. */
static pid_t free_number(void)
{
    pid_t pid = 20000;

    while (!kill(pid, 0) || errno != ESRCH)
        pid++;
    return pid;
}

/* Continue as a process that has this number in a PID namespace of its own; false: it cannot be made. */
static bool enter_container(pid_t inner)
{
    FILE *f;

    if (unshare(geteuid() ? CLONE_NEWUSER | CLONE_NEWPID : CLONE_NEWPID) < 0)
        return false;
    if (fork()) { /* goes away with the container's first process */
        wait(NULL);
        _exit(0);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    f = fopen("/proc/sys/kernel/ns_last_pid", "w");
    if (!f || fprintf(f, "%d", (int)inner - 1) < 0 || fclose(f) != 0)
        return false;
    if (fork()) {
        wait(NULL);
        _exit(0);
    }
    return true;
}

static void contained(void)
{
    pid_t inner = free_number(), pid = fork();
    json_int_t known;
    int status;

    if (!pid) {
        close_range(3, ~0u, 0);
        if (enter_container(inner) && getpid() == inner)
            emit_some(make_rank(9, 0), 0, 25);
        else
            ring_state_set(make_rank(9, 0), RING_STATE_ABORTED);
        for (;;)
            pause();
    }
    ok(expect_samples(9, 0, 25) || !strcmp(state_of(&ctl, "9.0"), "aborted"),
       "the collectives of a rank in a container arrive");
    if (strcmp(state_of(&ctl, "9.0"), "aborted") != 0) {
        known = json_integer_value(json_object_get(json_object_get(ctl.ranks, "9.0"), "pid"));
        ok(known > 1 && known != inner, "its process is named as this node counts");
        kill((pid_t)known, SIGKILL);
        ok(expect_state("9.0", "vanished"), "it has vanished when that process is gone");
    }
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
}

/* MPI is over, NCCL in the same process is not. */
static void guest_goes_on(void)
{
    struct ring *mpi = make_rank(13, 0), *nccl = make_rank(13, RING_NCCL_FIRST);

    emit_some(mpi, 0, 5);
    ok(expect_state("13.0", "running"), "a rank with two libraries runs");
    ring_state_set(mpi, RING_STATE_FINALIZED);
    looks(4);
    is_str(state_of(&ctl, "13.0"), "running", "it runs while one of them is not over");
    emit_some(nccl, 10, 40);
    ok(expect_samples(13, 10, 40), "what that one does arrives");
    ring_state_set(nccl, RING_STATE_FINALIZED);
    ok(expect_state("13.0", "finalized"), "it is over when both are");
    ring_close(mpi);
    ring_close(nccl);
}

static bool has_world_sample(const struct controller *c)
{
    for (size_t i = 0; i < c->n_items; i++)
        if (c->items[i].kind == TELEMETRY_SAMPLE && c->items[i].sample.rank == want.rank &&
            c->items[i].sample.comm == COMM_WORLD)
            return true;
    return false;
}

/* A rank whose records say that it has come to a collective, which the other one never does, and has been in
 * others since that began before it ended. */
static void hoarder(void)
{
    const uint32_t rounds = 5 * RING_CAPACITY_MAIN / 4000, each = 4000;
    struct ring *r[2] = { make_rank(14, 0), make_rank(15, 0) };
    struct ring_event e = { .comm = COMM_PAIR, .op = RING_OP_BARRIER, .flags = RING_EVENT_EARLY, .root = -1 };

    filled = r[0];
    for (uint32_t i = 0; i < 2; i++) {
        const struct ring_comm pair = { .name = COMM_PAIR, .size = 2, .rank = i, .first = 14, .last = 15 };

        ring_comm_add(r[i], &pair);
        e.enter = e.leave = ring_now(r[i]);
        ring_emit(r[i], &e);
    }
    e.enter = e.leave = ring_now(r[0]);
    e.seq = 1;
    ring_emit(r[0], &e);
    for (uint32_t i = 0; i < rounds * each && (i % each || wait_until(&ctl, has_room, LIMIT_S)); i++) {
        const struct ring_event later = { .enter = e.enter - 1000,
                                          .leave = ring_now(r[0]),
                                          .comm = COMM_WORLD,
                                          .seq = i,
                                          .op = RING_OP_ALLREDUCE,
                                          .root = -1 };

        ring_emit(r[0], &later);
    }
    want.rank = 14;
    ok(wait_until(&ctl, has_world_sample, LIMIT_S),
       "a rank that waits for another for ever is believed until it has been in too many others");
    for (int i = 0; i < 2; i++) {
        ring_state_set(r[i], RING_STATE_FINALIZED);
        ring_close(r[i]);
    }
}

static void ending(pid_t agent)
{
    struct stat st;
    double t;

    controller_forget(&ctl);
    emit_some(rank0, 170, 1);
    /* one that is not waits less */
    ok(expect_samples(0, 170, 1), "the agent is connected before the end of the step");
    is_int(agent_exit(start_agent_in(dir, ctl.hosts)), 1,
           "a second agent in the same directory exits with 1");
    emit_some(rank0, 171, 29);
    ring_state_set(rank0, RING_STATE_FINALIZED);
    t = clock_s();
    kill(agent, SIGTERM);
    is_int(agent_exit(agent), 0, "the agent exits with 0 at the end of the step");
    printf("# the agent's end takes %.0f ms\n", (clock_s() - t) * 1e3);
    wait_until(&ctl, has_bye, LIMIT_S);
    ok(covered(&ctl, 0, 170, 30) == 30, "the last collectives arrive before the agent exits");
    is_str(state_of(&ctl, "0.0"), "finalized", "the last state of a rank arrives before the agent exits");
    ok(has_bye(&ctl), "the agent says goodbye at the end of the step");
    ok(lstat(dir, &st) < 0 && errno == ENOENT, "the agent removes the directory at the end of the step");
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
    wait_until(&ctl, has_page, LIMIT_S);
    t = clock_s();
    kill(agent, SIGTERM);
    is_int(agent_exit(agent), 0, "an agent without a controller exits with 0");
    printf("# without a controller it takes %.0f ms\n", (clock_s() - t) * 1e3);
    ok(lstat(dir, &st) < 0, "an agent without a controller removes the directory");
    ring_close(rank0);

    make_dir();
    snprintf(away, sizeof(away), "%s.away", dir);
    controller_up(&ctl, "third");
    controller_forget(&ctl);
    agent = start_agent();
    wait_until(&ctl, has_hello, LIMIT_S);
    rename(dir, away);
    is_int(agent_exit(agent), 0, "the agent exits with 0 when its directory is removed");
    wait_until(&ctl, has_bye, LIMIT_S);
    ok(has_bye(&ctl), "the agent says goodbye when its directory is removed");
    remove_tree(away);
}

/* A rank that computes all the time on a CPU that it shares with another process. */
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
    ok(wait_until(&ctl, has_node, LIMIT_S), "the node's figures arrive");
    ok(wait_until(&ctl, has_run_delay, LIMIT_S),
       "a rank that shares its CPU with another process is reported to wait for it");
    kill(rank, SIGKILL);
    kill(other, SIGKILL);
    waitpid(rank, NULL, 0);
    waitpid(other, NULL, 0);
    kill(agent, SIGTERM);
    is_int(agent_exit(agent), 0, "an agent whose rank shares its CPU exits with 0");
}

static uint64_t steps_marked(const struct controller *c)
{
    uint64_t n = 0;

    for (size_t i = 0; i < c->n_items; i++)
        if (c->items[i].kind == TELEMETRY_PHASES && c->items[i].phases.rank == 2)
            n += c->items[i].phases.steps;
    return n;
}

static bool has_steps(const struct controller *c)
{
    return steps_marked(c) == 20;
}

static bool has_no_number(const struct controller *c)
{
    for (size_t i = 0; i < c->n_items; i++)
        if (c->items[i].kind == TELEMETRY_VALUE && c->items[i].value.rank == 2 && c->items[i].value.since)
            return true;
    return false;
}

/* A program that marks its steps, and whose loss becomes no number. */
static void marks(void)
{
    struct steps *s;
    pid_t agent;

    make_dir();
    setenv(RING_ENV_DIR, dir, 1);
    ctl.newest_item = TELEMETRY_NEWEST;
    controller_forget(&ctl);
    agent = start_agent();
    rank0 = make_rank(2, 0);
    s = steps_join();
    for (int i = 0; i <= 20; i++) {
        steps_mark_phase(s, MARKS_INPUT);
        steps_mark_value(s, MARKS_LOSS, 1.0 / (i + 1));
        steps_mark_step(s);
    }
    wait_until(&ctl, has_steps, LIMIT_S);
    is_int((long long)steps_marked(&ctl), 20,
           "each step that a program marks arrives, by the name of its rank");
    ok(!has_no_number(&ctl), "a loss that is finite is not reported as another");
    steps_mark_value(s, MARKS_LOSS, NAN);
    ok(wait_until(&ctl, has_no_number, LIMIT_S), "a loss that is no number arrives");
    steps_leave(s);
    kill(agent, SIGTERM);
    is_int(agent_exit(agent), 0, "an agent whose rank marked its steps exits with 0");
    is_int((long long)steps_marked(&ctl), 20, "no step arrives twice");
    is_int(ctl.bad, 0, "every batch with marks is one that is accepted");
    ring_close(rank0);
    unsetenv(RING_ENV_DIR);
}

static bool has_all_comms(const struct controller *c)
{
    return count_items(c, TELEMETRY_COMM) >= RING_COMMS_MAX - 1; /* MPI_COMM_SELF is not sent */
}

static bool has_comm_end(const struct controller *c)
{
    return count_items(c, TELEMETRY_COMM_END) > 0;
}

static bool has_lost_comms(const struct controller *c)
{
    return count_items(c, TELEMETRY_LOSSES) > 0;
}

static const struct telemetry_item *newest(enum telemetry_kind kind)
{
    for (size_t i = ctl.n_items; i-- > 0;)
        if (ctl.items[i].kind == kind)
            return &ctl.items[i];
    return NULL;
}

/* A program that makes more communicators than its ring has places for. */
static void comms(void)
{
    struct ring_comm comm = { .name = 1000, .membership = 5, .size = 4, .rank = 3, .last = 3 };
    const struct telemetry_item *item;
    int place = -1;
    pid_t agent;

    make_dir();
    ctl.newest_item = TELEMETRY_NEWEST;
    controller_forget(&ctl);
    agent = start_agent();
    rank0 = make_rank(3, 0);
    while (comm.name < 1000 + RING_COMMS_MAX - 2) {
        place = ring_comm_add(rank0, &comm);
        comm.name++;
    }
    ok(wait_until(&ctl, has_all_comms, LIMIT_S), "all communicators that have a place arrive");
    ok(!has_comm_end(&ctl) && !has_lost_comms(&ctl), "of none is it said that it was freed, or lost");
    ring_comm_end(rank0, place);
    ring_comm_add(rank0, &comm);
    ok(wait_until(&ctl, has_comm_end, LIMIT_S), "the end of one arrives whose place another one has");
    item = newest(TELEMETRY_COMM_END);
    ok(item && item->comm_end.rank == 3 && item->comm_end.name == comm.name - 1, "by its name and rank");
    item = newest(TELEMETRY_COMM);
    ok(item && item->comm.name == comm.name, "and the other one arrives");
    comm.name++;
    ring_comm_add(rank0, &comm);
    ok(wait_until(&ctl, has_lost_comms, LIMIT_S), "one that has no place is reported as lost");
    item = newest(TELEMETRY_LOSSES);
    ok(item && item->losses.rank == 3 && item->losses.comms == 1 && !item->losses.messages &&
           !item->losses.streams,
       "and nothing else");
    kill(agent, SIGTERM);
    is_int(agent_exit(agent), 0, "an agent whose rank makes many communicators exits with 0");
    is_int(ctl.bad, 0, "every batch with communicators is one that is accepted");
    ring_close(rank0);
}

static bool has_call_of_collective(const struct controller *c)
{
    for (size_t i = 0; i < c->n_items; i++)
        if (c->items[i].kind == TELEMETRY_CALL && c->items[i].call.op == RING_OP_ALLREDUCE)
            return true;
    return false;
}

static bool has_last_call(const struct controller *c)
{
    return count_items(c, TELEMETRY_LEFT) > 0;
}

static bool has_member(const struct controller *c)
{
    return count_items(c, TELEMETRY_MEMBER) > 0;
}

static size_t calls_of(uint8_t op)
{
    size_t n = 0;

    for (size_t i = 0; i < ctl.n_items; i++)
        n += ctl.items[i].kind == TELEMETRY_CALL && ctl.items[i].call.op == op;
    return n;
}

/* A message whose other end has a place in its communicator, and no rank: known: to a controller that can
 * read of such. */
static void members(bool known)
{
    struct ring_event e = {
        .comm = 1000, .bytes = 8, .seq = 5, .root = 1, .op = RING_OP_SEND, .flags = RING_EVENT_MEMBER
    };
    const struct telemetry_item *item;
    pid_t agent;

    make_dir();
    ctl.newest_item = known ? TELEMETRY_NEWEST : TELEMETRY_SIGNALS;
    controller_forget(&ctl);
    agent = start_agent();
    rank0 = make_rank(3, 0);
    emit_some(rank0, 0, 1);
    expect_samples(3, 0, 1);
    ask_agent(",\"calls\":{\"open_s\":1,\"period_s\":1}");
    emit_some(rank0, 1, 1);
    e.leave = ring_now(rank0);
    e.enter = e.leave - 1000;
    ring_emit(rank0, &e);
    ring_leave(rank0, ring_now(rank0));
    ok(wait_until(&ctl, has_call_of_collective, LIMIT_S), "the call before it arrives");
    if (!known) {
        emit_some(rank0, 2, 1);
        expect_samples(3, 0, 3);
        is_int(
            (long long)(calls_of(RING_OP_SEND) + count_items(&ctl, TELEMETRY_LEFT)), 0,
            "a controller of before gets no message whose other end is a place, for it would take that for a rank");
    } else {
        ok(wait_until(&ctl, has_last_call, LIMIT_S),
           "of a rank that is in no call for long its last call arrives");
        item = newest(TELEMETRY_LEFT);
        ok(item && item->left.rank == 3 && item->left.op == RING_OP_SEND && item->left.comm == 1000 &&
               item->left.seq == 5 && item->left.peer == 1 && (item->left.flags & RING_EVENT_MEMBER),
           "with operation, communicator, number and the place of its other end");
        is_int((long long)calls_of(RING_OP_SEND), 1, "the message itself arrives among the calls");
        e.op = RING_OP_RECV;
        hot_enter_message(rank0, ring_now(rank0), false, hot_message_new(&e));
        ok(wait_until(&ctl, has_member, LIMIT_S), "a message that a call lasts for arrives by its place");
        item = newest(TELEMETRY_MEMBER);
        ok(item && item->member.op == RING_OP_RECV && item->member.comm == 1000 && item->member.place == 1 &&
               item->member.enter_ns == last_live()->enter_ns && !count_items(&ctl, TELEMETRY_PARTNER),
           "with its communicator, and not as if the place were a rank");
    }
    kill(agent, SIGTERM);
    is_int(agent_exit(agent), 0, "an agent whose rank passes such messages exits with 0");
    is_int(ctl.bad, 0, "every batch with such messages is one that is accepted");
    ring_close(rank0);
}

static bool has_hot_gpu(const struct controller *c)
{
    const struct telemetry_item *item = newest(TELEMETRY_GPU_STATE);

    (void)c;
    return item && item->gpu_state.index == 1 && item->gpu_state.uncorrected > 0;
}

static bool has_its_gpu(const struct controller *c)
{
    const struct telemetry_item *item = newest(TELEMETRY_TASK);

    (void)c;
    return item && item->task.gpu == 1;
}

/* A rank on the second GPU of a driver that is a stand-in. */
static void gpus(void)
{
    const char *top = getenv("top_builddir");
    char libraries[] = "/tmp/syncguard-nvml-XXXXXX", fake[4096], as[4200], pid[16];
    const struct telemetry_item *item = NULL;
    pid_t agent;

    if (SANITIZED) /* nothing may be loaded before the sanitizer's library */
        return;
    snprintf(fake, sizeof(fake), "%s/tests/agent/.libs/fake_nvml.so", top ? top : ".");
    if (!mkdtemp(libraries) || !realpath(fake, as) || strlen(as) >= sizeof(fake)) {
        ok(false, "the stand-in for NVIDIA's library is there");
        return;
    }
    strcpy(fake, as);
    snprintf(as, sizeof(as), "%s/libnvidia-ml.so.1", libraries);
    ok(symlink(fake, as) == 0, "the stand-in for NVIDIA's library has its name");
    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    make_dir();
    ctl.newest_item = TELEMETRY_NEWEST;
    controller_forget(&ctl);
    setenv("LD_PRELOAD", fake, 1);
    setenv("LD_LIBRARY_PATH", libraries, 1);
    setenv("FAKE_NVML_PID", pid, 1);
    agent = start_agent();
    unsetenv("LD_PRELOAD");
    unsetenv("LD_LIBRARY_PATH");
    unsetenv("FAKE_NVML_PID");
    rank0 = make_rank(2, 0);
    ok(wait_until(&ctl, has_hot_gpu, LIMIT_S), "memory errors of a GPU since the agent began arrive");
    item = newest(TELEMETRY_GPU_STATE);
    ok(item && item->gpu_state.clock_mhz == 1188 && item->gpu_state.clock_max_mhz == 1980 &&
           item->gpu_state.uncorrected % 2 == 0 &&
           item->gpu_state.corrected == 20 * item->gpu_state.uncorrected,
       "with the GPU's clock, and no errors of before");
    item = newest(TELEMETRY_GPU);
    ok(item && item->gpu.index == 1 && item->gpu.throttle == 0x40 && item->gpu.temperature_c == 91,
       "beside why it is held down, and its temperature");
    ok(wait_until(&ctl, has_its_gpu, LIMIT_S), "the rank that computes on it is reported with it");
    kill(agent, SIGTERM);
    is_int(agent_exit(agent), 0, "an agent that watches GPUs exits with 0");
    is_int(ctl.bad, 0, "every batch with GPUs is one that is accepted");
    ring_close(rank0);
    remove_tree(libraries);
}

static bool is_over(const struct controller *c)
{
    return c->bye || !c->link;
}

/* The step ends before the clock is calibrated and before the controller has answered.  The agent waits for
 * it for 150 ms, in which a busy machine may not answer: then there is another such step. */
static void end_at_once(void)
{
    double until = clock_s() + LIMIT_S;
    int status = 0, n = 0;

    controller_forget(&ctl);
    while (!ctl.bye && !status && clock_s() < until) {
        pid_t agent;

        make_dir();
        rank0 = make_rank(0, 0);
        emit_some(rank0, 0, RING_CAPACITY_MAIN - 1);
        ring_state_set(rank0, RING_STATE_FINALIZED);
        controller_forget(&ctl);
        agent = start_agent();
        wait_until(&ctl, has_page, LIMIT_S);
        kill(agent, SIGTERM);
        status = agent_exit(agent);
        wait_until(&ctl, is_over, LIMIT_S);
        ring_close(rank0);
        n++;
    }
    is_int(status, 0, "an agent that is ended right after its start exits with 0");
    printf("# %d such steps\n", n);
    ok(ctl.bye, "an agent that is ended right after its start says goodbye");
    is_int(covered(&ctl, 0, 0, RING_CAPACITY_MAIN - 1), RING_CAPACITY_MAIN - 1,
           "an agent that is ended right after its start sends a whole ring");
}

int main(void)
{
    const char *top = getenv("top_builddir");
    pid_t agent;

    signal(SIGPIPE, SIG_IGN); /* an acknowledgement may go to an agent that was just killed */
    snprintf(program, sizeof(program), "%s/syncguard-agent", top ? top : ".");
    if (!test_munge_start(&mung))
        return skip_all("needs munged");
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
    calls();
    liars();
    threads();
    vanish();
    contained();
    guest_goes_on();
    hoarder();
    agent = kill_between_batches(agent);
    ending(agent);
    alone();
    end_at_once();
    shared_cpu();
    marks();
    comms();
    members(true);
    members(false);
    gpus();
    controller_free(&ctl);
    event_base_free(ctl.base);
    test_munge_stop(&mung);
    return done_testing();
}
