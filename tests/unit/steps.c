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
    ok(steps_join() == NULL, "steps_join() returns NULL without SYNCGUARD_DIR");
    errno = 77;
    for (int i = 0; i < 1000; i++) {
        sg_checkpoint_begin();
        yes += sg_checkpoint_due() || sg_guarded();
        sg_checkpoint_end(1);
        sg_samples(3);
        sg_preempted();
        yes += sg_phase(SG_BACKWARD) != SG_OTHER;
        sg_step();
        sg_loss(NAN);
        sg_grad_norm(1);
    }
    ok(!yes && errno == 77, "without a guard the library answers no, knows no phase and keeps errno");
    ok(!steps_due(NULL), "steps_due(NULL) is false");
    setenv(RING_ENV_DIR, "/nowhere/at/all", 1);
    ok(steps_join() == NULL && errno == 77, "steps_join() returns NULL for a missing directory");
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
    ok(!yes && steps_due(late), "a control page that is made later is found");
    s = steps_join(); /* incarnation 1 */
    control_page_ask(page, 2, 1, CONTROL_PAGE_ASKED_ARMED);
    ok(!steps_due(s) && !steps_due(s), "a request that is armed but not committed is not due");
    control_page_ask(page, 4, 1, CONTROL_PAGE_ASKED_ARMED);
    control_page_ask(page, 4, 1, CONTROL_PAGE_ASKED_COMMITTED);
    ok(!steps_due(s) && steps_due(s) && !steps_due(s), "a committed request is due in its call only");
    control_page_ask(page, 7, 0, CONTROL_PAGE_ASKED_COMMITTED);
    ok(!steps_due(s) && !steps_due(s), "a request for another incarnation is not due");
    control_page_ask(page, 9, 1, CONTROL_PAGE_ASKED_COMMITTED);
    control_page_ask(page, 9, 1, CONTROL_PAGE_ASKED_NONE);
    ok(!steps_due(s) && !steps_due(s), "a request that was withdrawn is not due");
    control_page_ask(page, 12, 1, CONTROL_PAGE_ASKED_COMMITTED);
    control_page_close(page);
    page = control_page_create(dir);
    ok(!steps_due(s) && !steps_due(s) && steps_due(s), "a committed request is due without the agent");
    again = steps_join(); /* incarnation 2: the rank was started again */
    control_page_ask(page, 3, 1, CONTROL_PAGE_ASKED_COMMITTED);
    ok(!steps_due(again) && !steps_due(again) && !steps_due(again),
       "a restarted rank counts calls from 1 and answers no");
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
       "the page has what was reported, without the end of a write that never began");
    steps_write_begin(s);
    steps_write_begin(s);
    steps_figures_get(r, &f);
    ok(f.begun_ns > 0 && f.begun_ns >= f.call_ns, "the page has the start of a write in progress");
    steps_write_end(s, false);
    steps_write_begin(s);
    steps_write_end(s, true);
    steps_notice(s);
    steps_figures_get(r, &f);
    ok(f.writes == 1 && f.begun_ns == 0 && f.write_ns < 1000000000 && f.notice,
       "the page counts the write that succeeded, not the one that failed");
    steps_leave(s);
    steps_figures_get(r, &f);
    ok(f.state == STEPS_LEFT, "the state after steps_leave() is left");
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
    ok(!any && steps_name_parse("4294967295.4095.steps", &rank, &incarnation),
       "only well-formed names of pages are parsed");
    snprintf(path, sizeof(path), "%s/8.0.steps", dir);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    ok(!steps_open(dir, "8.0.steps") && errno == EPROTO, "steps_open() refuses an empty file");
    unlink(path);
    mkfifo(path, 0600);
    ok(!steps_open(dir, "8.0.steps"), "steps_open() refuses a pipe without blocking");
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
       "the agent adds up ranks that run, and the samples of all ranks");
    json_decref(o);
    ok(!checkpoint_report(c, false), "there is no report when nothing has changed");
    say(c, "{\"serial\":5,\"at\":12,\"app\":0,\"state\":\"armed\"}");
    o = checkpoint_report(c, false);
    ok(o && json_is_false(
                json_object_get(json_object_get(json_object_get(o, "checkpoint"), "asked"), "missed")),
       "a request ahead of all ranks is acknowledged at once");
    json_decref(o);
    say(c, "{\"serial\":6,\"at\":12,\"app\":0,\"state\":\"committed\"}");
    ok(!steps_due(s) && steps_due(s), "the rank gets the request in its call");
    o = checkpoint_report(c, false);
    ok(number(o, "yes_at", 0) == 12 && number(o, "yes_at", 1) == 12,
       "the agent reports the call in which the rank got the request");
    json_decref(o);
    say(c, "{\"serial\":7,\"at\":12,\"app\":0,\"state\":\"armed\"}");
    o = checkpoint_report(c, false);
    ok(json_is_true(json_object_get(json_object_get(json_object_get(o, "checkpoint"), "asked"), "missed")),
       "a request for a call in the past is reported as missed");
    json_decref(o);
    say(c, "{\"at\":-4,\"state\":\"armed\"}");
    say(c, "{\"at\":1e300,\"state\":\"committed\",\"app\":\"x\"}");
    say(c, "{\"signal\":99999}");
    say(c, "[]");
    ok(!signalled, "impossible requests are ignored");
    say(c, "{\"signal\":10}");
    ok(signalled == 10, "a requested signal is sent");
    snprintf(text, sizeof(text), "{\"file\":\"%s/now.%%j\"}", dir);
    snprintf(path, sizeof(path), "%s/now.42", dir);
    say(c, text);
    ok(stat(path, &st) == 0, "the requested file is touched, with %%j replaced by the job's id");
    unlink(path);
    say(c, "{\"file\":\"relative\"}");
    ok(notes == 1, "an invalid path causes a note");
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
    ok(number(o, "callers", -1) == 1, "a rank in another process is counted as a caller");
    json_decref(o);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    checkpoint_second(c);
    o = checkpoint_report(c, true);
    ok(number(o, "callers", -1) == 0, "a rank whose process was killed is not counted as a caller");
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
