/* What a program marks of its steps, and what a reader finds on the page. */
#include "ring/marks.h"

#include "tests/tap.h"

#define MS UINT64_C(1000000)

static struct marks marks;
static struct marks_page page;
static struct marks_figures f;

static void begin(void)
{
    marks = (struct marks){ 0 };
    page = (struct marks_page){ 0 };
}

static void read_page(void)
{
    f = (struct marks_figures){ 0 };
    marks_get(&page, &f);
}

/* Three steps: input 5 ms, forward 10 ms, backward 20 ms with 4 ms of waiting for communication in it, 1 ms
 * of nothing. */
static void phases(void)
{
    uint64_t now = 7 * MS, sum = 0;

    begin();
    ok(marks_get(&page, &f) && !f.steps && !f.used,
       "a page on which nothing was marked has no steps and no phases");
    marks_phase(&marks, &page, MARKS_INPUT, now);
    now += 1000 * MS; /* set-up */
    marks_step(&marks, &page, now);
    read_page();
    ok(f.steps == 0 && f.steps_ns == 0, "what comes before the first mark of a step belongs to none");
    for (int i = 0; i < 3; i++) {
        int before;

        marks_phase(&marks, &page, MARKS_INPUT, now);
        marks_phase(&marks, &page, MARKS_FORWARD, now += 5 * MS);
        marks_phase(&marks, &page, MARKS_BACKWARD, now += 10 * MS);
        before = (int)marks_phase(&marks, &page, MARKS_COMMUNICATION, now += 10 * MS);
        is_int(marks_phase(&marks, &page, before, now += 4 * MS), MARKS_COMMUNICATION,
               "marking a phase returns the one before, to go back to it");
        marks_phase(&marks, &page, MARKS_OTHER, now += 10 * MS);
        marks_step(&marks, &page, now += MS);
    }
    read_page();
    is_int((long long)f.steps, 3, "three steps have ended");
    is_int((long long)f.steps_ns, 3 * 40 * MS, "three steps of 40 ms take 120 ms");
    is_int((long long)f.phase_ns[MARKS_BACKWARD], 3 * 20 * MS,
           "a phase that was interrupted has both of its parts");
    is_int((long long)f.phase_ns[MARKS_COMMUNICATION], 3 * 4 * MS,
           "a phase inside of another one is not counted twice");
    is_int((long long)f.phase_ns[MARKS_INPUT], 3 * 5 * MS, "the input is 5 ms a step");
    is_int((long long)f.phase_ns[MARKS_OTHER], 3 * MS, "what is in no phase is counted apart");
    for (int p = 0; p < MARKS_PHASES; p++)
        sum += f.phase_ns[p];
    is_int((long long)sum, (long long)f.steps_ns, "the phases add up to the steps");
    ok(f.used == (1u << MARKS_INPUT | 1u << MARKS_FORWARD | 1u << MARKS_BACKWARD | 1u << MARKS_COMMUNICATION |
                  1u << MARKS_OTHER),
       "phases that were never marked are known as such\n%#llx", (unsigned long long)f.used);
    marks_phase(&marks, &page, MARKS_FORWARD, now += MS);
    is_int(marks_phase(&marks, &page, 77, now + MS), MARKS_FORWARD,
           "a number that is no phase's changes nothing");
    is_int(marks_phase(&marks, &page, -1, now + MS), MARKS_FORWARD, "a negative number changes nothing");
    read_page();
    ok(f.phase == MARKS_FORWARD && f.since_ns == now && f.steps == 3,
       "the page has the phase that the rank is in, and since when; a step in progress is not counted");
}

static void values(void)
{
    begin();
    marks_value(&marks, &page, MARKS_LOSS, 2.5);
    marks_value(&marks, &page, MARKS_LOSS, NAN);
    marks_value(&marks, &page, MARKS_LOSS, INFINITY);
    read_page();
    ok(f.value[MARKS_LOSS].given == 3 && f.value[MARKS_LOSS].since == 2 &&
           f.value[MARKS_LOSS].non_finite == 2,
       "the second of three losses is the first that is not finite");
    is_int((long long)f.value[MARKS_GRAD_NORM].given, 0, "a value that was not given is not known");
    marks_value(&marks, &page, MARKS_LOSS, -1e300);
    read_page();
    ok(f.value[MARKS_LOSS].since == 0 && f.value[MARKS_LOSS].non_finite == 2 &&
           f.value[MARKS_LOSS].newest == -1e300,
       "a value that is finite again ends it, and the others stay counted");
    page.version |= 1;
    ok(!marks_get(&page, &f), "a page that is being written is not read");
}

static void names(void)
{
    is_str(marks_phase_name(MARKS_OPTIMIZER), "optimizer", "a phase has a name");
    is_str(marks_phase_name((enum marks_phase)99), "unknown", "a number that is no phase's has none");
    is_str(marks_value_name(MARKS_GRAD_NORM), "grad_norm", "a value has a name");
}

int main(void)
{
    phases();
    values();
    names();
    return done_testing();
}
