/* Hot pieces of work, now of this and now of that member of each group; memory for a step's pieces is taken
 * once. */
#include "calls/hot.h"

#include "tests/random.h"
#include "tests/tap.h"

#define GROUP  4u /* members */
#define GROUPS 4u
#define RANKS  (GROUP * GROUPS)
#define TIMES  4u /* that each group meets in a step, at most */

static const bool held[RANKS];

/* A step in which each group meets so many times, before which one of its members has more to do. */
static struct graph_step step(struct graph_op *op, uint32_t number, uint32_t times, double more)
{
    struct graph_step s = { .number = number, .op = op };

    for (uint32_t t = 0; t < times; t++)
        for (uint32_t g = 0; g < GROUPS; g++) {
            uint32_t hot = (uint32_t)(GROUP * uniform());

            for (uint32_t m = 0; m < GROUP; m++)
                op[s.n++] = (struct graph_op){
                    .rank = g * GROUP + m,
                    .meeting = number * GROUPS * TIMES + t * GROUPS + g,
                    .work_s = (float)(0.01 * (m == hot ? 1 + more : 1) * (1 + 0.01 * gauss())),
                    .usual_s = 0.01f,
                    .does = GRAPH_ARRIVES,
                    .known = true,
                    .has_work = true,
                };
        }
    return s;
}

int main(void)
{
    struct graph_op op[RANKS * TIMES];
    struct hot hot = { 0 };
    struct hot_room room;
    struct graph_step s;
    bool same = true;

    for (uint32_t i = 0; i < 100; i++) {
        s = step(op, i, 2, 0.5);
        hot_step(&hot, &s, held);
        if (i)
            same = same && hot.room.end == room.end && hot.room.op == room.op &&
                   hot.room.scratch == room.scratch && hot.room.is_hot == room.is_hot;
        room = hot.room;
    }
    ok(hot.standing && near(hot.excess, 0.5, 0.05), "members that have half more to do in turns are hot\n%g",
       hot.excess);
    is_near(hot.share, 1.0 / GROUP, 0.01, "one of each group is");
    ok(same, "memory for the pieces of a step is taken once");
    for (uint32_t i = 100; i < 120; i++) {
        s = step(op, i, TIMES, 0.5);
        hot_step(&hot, &s, held);
    }
    ok(hot.standing && near(hot.share, 1.0 / GROUP, 0.01), "in larger steps they are, too");
    for (uint32_t i = 120; i < 140; i++) {
        s = step(op, i, 1, 0);
        hot_step(&hot, &s, held);
    }
    ok(!hot.standing, "where all have the same to do none is");
    hot_reset(&hot);
    ok(!hot.room.op && !hot.rank, "what was forgotten holds no memory");
    return done_testing();
}
