/* What a program tells of its steps, and what it hears: both ends in one process. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/checkpoint.h"
#include "api/syncguard.h"
#include "ring/control_page.h"
#include "ring/ring.h"
#include "ring/steps.h"
#include "tests/tap.h"

static char dir[64];
static struct control_page *page;
static int notes, signalled;

static void count_note(const char *text, void *arg)
{
    (void)arg;
    printf("# note: %s\n", text);
    notes++;
}

static void count_signal(int sig, void *arg)
{
    (void)arg;
    signalled = sig;
}

static double number(const json_t *o, const char *key, int i)
{
    const json_t *v = json_object_get(json_object_get(o, "checkpoint"), key);

    return json_number_value(i < 0 ? v : json_array_get(v, (size_t)i));
}

static void no_guard(void)
{
    int yes = 0;

    unsetenv(RING_ENV_DIR);
    ok(steps_join() == NULL, "no guard: nothing to join");
    errno = 77;
    for (int i = 0; i < 1000; i++) {
        sg_checkpoint_begin();
        yes += sg_checkpoint_due() || sg_guarded();
        sg_checkpoint_end(1);
        sg_samples(3);
        sg_preempted();
    }
    ok(!yes && errno == 77, "without one the library is silent, and errno stays");
    ok(!steps_due(NULL), "nobody's steps are not due");
    setenv(RING_ENV_DIR, "/nowhere/at/all", 1);
    ok(steps_join() == NULL && errno == 77, "a directory that is not there is no guard");
    setenv(RING_ENV_DIR, dir, 1);
}

/* The n-th call says yes only if it was committed for this program. */
static void answers(void)
{
    struct steps *s, *again, *late;
    int yes = 0;

    setenv("SLURM_PROCID", "7", 1);
    late = steps_join();
    for (int i = 0; i < 3; i++)
        yes += steps_due(late);
    page = control_page_create(dir);
    yes += steps_due(late);
    control_page_ask(page, 5, 0, CONTROL_PAGE_ASKED_COMMITTED);
    ok(!yes && steps_due(late), "a control page that came later is found");
    s = steps_join(); /* incarnation 1 */
    control_page_ask(page, 2, 1, CONTROL_PAGE_ASKED_ARMED);
    ok(!steps_due(s) && !steps_due(s), "armed and not committed: no");
    control_page_ask(page, 4, 1, CONTROL_PAGE_ASKED_ARMED);
    control_page_ask(page, 4, 1, CONTROL_PAGE_ASKED_COMMITTED);
    ok(!steps_due(s) && steps_due(s) && !steps_due(s), "committed: yes, at that call alone");
    control_page_ask(page, 7, 0, CONTROL_PAGE_ASKED_COMMITTED);
    ok(!steps_due(s) && !steps_due(s), "another incarnation's request is not ours");
    control_page_ask(page, 9, 1, CONTROL_PAGE_ASKED_COMMITTED);
    control_page_ask(page, 9, 1, CONTROL_PAGE_ASKED_NONE);
    ok(!steps_due(s) && !steps_due(s), "taken back: no");
    control_page_ask(page, 12, 1, CONTROL_PAGE_ASKED_COMMITTED);
    control_page_close(page);
    page = control_page_create(dir);
    ok(!steps_due(s) && !steps_due(s) && steps_due(s), "an agent that died after the commit is not needed");
    again = steps_join(); /* incarnation 2: the rank was started again */
    control_page_ask(page, 3, 1, CONTROL_PAGE_ASKED_COMMITTED);
    ok(!steps_due(again) && !steps_due(again) && !steps_due(again),
       "a rank that was restarted counts anew and says no");
    steps_leave(again);
    steps_leave(s);
    steps_leave(late);
}

static void figures(void)
{
    struct steps *s = steps_join(), *r;
    struct steps_figures f;

    steps_due(s);
    steps_samples(s, 40);
    steps_samples(s, 2);
    steps_write_end(s, true);
    r = steps_open(dir, "7.3.steps");
    if (!ok(r != NULL, "the agent finds the page"))
        exit(done_testing());
    steps_figures_get(r, &f);
    ok(f.rank == 7 && f.incarnation == 3 && f.pid == getpid() && f.calls == 1 && f.samples == 42 && f.hears &&
           f.writes == 0,
       "with what was told; the end of a write that never began is none");
    steps_write_begin(s);
    steps_write_begin(s);
    steps_figures_get(r, &f);
    ok(f.begun_ns > 0 && f.begun_ns >= f.call_ns, "a write that is going on");
    steps_write_end(s, false);
    steps_write_begin(s);
    steps_write_end(s, true);
    steps_notice(s);
    steps_figures_get(r, &f);
    ok(f.writes == 1 && f.begun_ns == 0 && f.write_ns < 1000000000 && f.notice,
       "one was written, one failed");
    steps_leave(s);
    steps_figures_get(r, &f);
    ok(f.state == STEPS_LEFT, "it left");
    steps_close(r);
}

static void names(void)
{
    static const char *const bad[] = { "7.steps",    "07.0.steps", "7.0.0.ring", "4294967297.0.steps",
                                       "-1.0.steps", "7.0.steps " };
    uint32_t rank, incarnation;
    bool any = false;
    char path[128];

    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        any |= steps_name_parse(bad[i], &rank, &incarnation);
    ok(!any && steps_name_parse("4294967295.4095.steps", &rank, &incarnation), "names of pages");
    snprintf(path, sizeof(path), "%s/8.0.steps", dir);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    ok(!steps_open(dir, "8.0.steps") && errno == EPROTO, "an empty file is no page");
    unlink(path);
    mkfifo(path, 0600);
    ok(!steps_open(dir, "8.0.steps"), "nor is a pipe, which does not hold us up");
    unlink(path);
}

/* ---- the agent's side ---- */

static void say(struct checkpoint *c, const char *text)
{
    json_t *o = json_loads(text, 0, NULL);

    checkpoint_control(c, o, count_signal);
    json_decref(o);
}

static void agent_side(void)
{
    struct checkpoint *c = checkpoint_new(dir, 42, page, count_note, NULL);
    struct steps *s;
    struct stat st;
    char path[128], text[256];
    json_t *o;

    setenv("SLURM_PROCID", "9", 1);
    s = steps_join();
    for (int i = 0; i < 10; i++)
        steps_due(s);
    steps_samples(s, 640);
    checkpoint_scan(c);
    checkpoint_second(c);
    o = checkpoint_report(c, true);
    ok(number(o, "callers", -1) == 1 && number(o, "calls", 0) == 10 && number(o, "calls", 1) == 10 &&
           number(o, "samples", -1) == 682,
       "the agent sums up those that run; samples are of all");
    json_decref(o);
    ok(!checkpoint_report(c, false), "nothing new, nothing said");
    say(c, "{\"serial\":5,\"at\":12,\"app\":0,\"state\":\"armed\"}");
    o = checkpoint_report(c, false);
    ok(o && json_is_false(
                json_object_get(json_object_get(json_object_get(o, "checkpoint"), "asked"), "missed")),
       "a request ahead of all ranks is acknowledged at once");
    json_decref(o);
    say(c, "{\"serial\":6,\"at\":12,\"app\":0,\"state\":\"committed\"}");
    ok(!steps_due(s) && steps_due(s), "the rank hears it");
    o = checkpoint_report(c, false);
    ok(number(o, "yes_at", 0) == 12 && number(o, "yes_at", 1) == 12, "and the agent tells where");
    json_decref(o);
    say(c, "{\"serial\":7,\"at\":12,\"app\":0,\"state\":\"armed\"}");
    o = checkpoint_report(c, false);
    ok(json_is_true(json_object_get(json_object_get(json_object_get(o, "checkpoint"), "asked"), "missed")),
       "a request for a call that is over is told to be missed");
    json_decref(o);
    say(c, "{\"at\":-4,\"state\":\"armed\"}");
    say(c, "{\"at\":1e300,\"state\":\"committed\",\"app\":\"x\"}");
    say(c, "{\"signal\":99999}");
    say(c, "[]");
    ok(!signalled, "what cannot be is passed over");
    say(c, "{\"signal\":10}");
    ok(signalled == 10, "a signal is handed on");
    snprintf(text, sizeof(text), "{\"file\":\"%s/now.%%j\"}", dir);
    snprintf(path, sizeof(path), "%s/now.42", dir);
    say(c, text);
    ok(stat(path, &st) == 0, "a file is touched, %%j is the job");
    unlink(path);
    say(c, "{\"file\":\"relative\"}");
    ok(notes == 1, "a path that is none is a note");
    steps_leave(s);
    checkpoint_free(c);
}

/* A rank that died without leaving is none that the agent waits for. */
static void dead_rank(void)
{
    struct checkpoint *c = checkpoint_new(dir, 42, page, count_note, NULL);
    int told[2];
    char go;
    pid_t pid;
    json_t *o;

    if (pipe(told) < 0)
        exit(1);
    fflush(stdout);
    pid = fork();
    if (!pid) {
        struct steps *s;

        setenv("SLURM_PROCID", "11", 1);
        s = steps_join();
        steps_due(s);
        if (write(told[1], "x", 1) == 1)
            pause();
        _exit(0);
    }
    if (read(told[0], &go, 1) != 1)
        exit(1);
    checkpoint_scan(c);
    checkpoint_second(c);
    o = checkpoint_report(c, true);
    ok(number(o, "callers", -1) == 1, "a rank in another process");
    json_decref(o);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    checkpoint_second(c);
    o = checkpoint_report(c, true);
    ok(number(o, "callers", -1) == 0, "killed: no caller any more");
    json_decref(o);
    checkpoint_free(c);
}

int main(void)
{
    char command[128];

    strcpy(dir, "/dev/shm/syncguard-steps-XXXXXX");
    if (!mkdtemp(dir))
        return skip_all("no /dev/shm");
    unsetenv("OMPI_COMM_WORLD_RANK");
    unsetenv("PMIX_RANK");
    unsetenv("PMI_RANK");
    unsetenv("RANK");
    no_guard();
    answers();
    figures();
    names();
    agent_side();
    dead_rank();
    control_page_close(page);
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command) || done_testing();
}
