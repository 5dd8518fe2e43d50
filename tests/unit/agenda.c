/* agenda: items come in the order of their times, whatever is put in, moved and taken out between. */
#include "network/agenda.h"

#include <math.h>
#include <stdlib.h>

#include "tests/tap.h"

static void few(void)
{
    struct agenda *a = agenda_new();

    ok(agenda_first_s(a) == INFINITY, "an empty agenda has no first time");
    agenda_set(a, 3, 7);
    agenda_set(a, 100, 5);
    agenda_after(a, 2, 4, 2);
    ok(agenda_first_s(a) == 5, "the first time of three entries");
    is_int(agenda_take(a), 100, "the entry with the smallest time is taken first");
    agenda_set(a, 3, 5.5);
    is_int(agenda_take(a), 3, "an entry that was moved forward is taken at its new time");
    is_int(agenda_take(a), 2, "an entry with agenda_after is taken at its time");
    ok(agenda_first_s(a) == INFINITY, "an agenda with all entries taken is empty");
    agenda_set(a, 9, 1);
    agenda_set(a, 4, 1);
    agenda_set(a, 70, 1);
    is_int(agenda_take(a), 4, "of three entries of one time the lowest number comes first");
    is_int(agenda_take(a), 9, "of three entries of one time the middle number comes second");
    is_int(agenda_take(a), 70, "of three entries of one time the highest number comes last");
    agenda_free(a);
    agenda_free(NULL);
}

enum { ITEMS = 700 };

/* What stands there, item by item. */
struct world {
    struct agenda *agenda;
    double time[ITEMS];
    bool fixed[ITEMS];
    double now;
};

static double least(const struct world *w)
{
    double t = INFINITY;

    for (int i = 0; i < ITEMS; i++)
        t = fmin(t, w->time[i]);
    return t;
}

/* `delays`: so many different ones follow a moment. */
static void put(struct world *w, int delays)
{
    uint32_t item = (uint32_t)rand() % ITEMS;

    if (w->time[item] == INFINITY && rand() % 2) {
        double delay = 1 + rand() % delays;

        agenda_after(w->agenda, item, w->now, delay);
        w->time[item] = w->now + delay;
        w->fixed[item] = true;
    } else if (!w->fixed[item]) {
        w->time[item] = w->now + rand() % 50 / 4.0;
        agenda_set(w->agenda, item, w->time[item]);
    }
}

static bool take(struct world *w)
{
    double t = least(w);
    uint32_t item;

    if (agenda_first_s(w->agenda) != t)
        return false;
    if (t == INFINITY)
        return true;
    item = agenda_take(w->agenda);
    if (item >= ITEMS || w->time[item] != t)
        return false;
    w->now = t;
    w->time[item] = INFINITY;
    w->fixed[item] = false;
    return true;
}

static void many(int delays)
{
    int wrong = 0, steps = 20000;

    for (int seed = 1; seed <= 5; seed++) {
        struct world w = { .agenda = agenda_new() };

        srand((unsigned)seed);
        for (int i = 0; i < ITEMS; i++)
            w.time[i] = INFINITY;
        for (int i = 0; i < steps; i++) {
            if (rand() % (i / 1000 % 2 ? 3 : 2))
                put(&w, delays);
            else
                wrong += !take(&w);
        }
        agenda_free(w.agenda);
    }
    ok(!wrong, "random insertions, moves and removals, %d delays: the first is always taken\n%d wrong",
       delays, wrong);
}

int main(void)
{
    few();
    many(3);
    many(40);
    return done_testing();
}
