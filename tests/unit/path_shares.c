/* On which node the critical path lies, and when it moves. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"
#include "view/view_private.h"

#define NODES 64u

static double now_s;

static struct view *view_of(uint32_t nodes)
{
    static const struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 30 };
    struct view *v = view_new(&params, 0);
    char name[16];

    now_s = 0;
    for (uint32_t r = 0; r < 2 * nodes; r++) {
        snprintf(name, sizeof(name), "n%u", r / 2);
        view_rank_add(v, r, 0, name, "");
    }
    return v;
}

/* Steps whose work differs a little; slow: a rank with more than all others, UINT32_MAX none. */
static void steps(struct view *v, uint32_t nodes, uint32_t n, uint32_t slow)
{
    float work_s[2 * NODES];

    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t r = 0; r < 2 * nodes; r++)
            work_s[r] = 0.1f * (1 + 0.05f * (float)drand48()) * (r == slow ? 1.2f : 1);
        path_shares_take_work(v->path_shares, now_s += 0.1, work_s, 2 * nodes);
    }
}

/* The newest event that is about the path, "" none. */
static const char *newest_event(struct view *v)
{
    static char text[512];
    struct view_event e;

    text[0] = '\0';
    while (view_event_take(v, &e))
        if (strstr(e.text, "critical path"))
            snprintf(text, sizeof(text), "%s", e.text);
    return text;
}

static void healthy(void)
{
    static const uint32_t nodes[] = { 1, 2, 3, 4, 8, NODES };

    for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
        struct view *v = view_of(nodes[i]);
        struct view_move move[VIEW_MOVES_MAX];

        steps(v, nodes[i], 5000, UINT32_MAX);
        is_int((long long)path_shares_moves(v->path_shares, move), 0,
               "%u nodes: a path that lies on anyone by chance does not move", nodes[i]);
        is_str(newest_event(v), "", "%u nodes: there is no event either", nodes[i]);
        view_free(v);
    }
}

static void moves(void)
{
    struct view *v = view_of(NODES);
    struct view_move move[VIEW_MOVES_MAX];
    struct view_critical_path c;

    steps(v, NODES, 100, UINT32_MAX);
    steps(v, NODES, 50, 6); /* from 10 s on */
    is_int((long long)path_shares_moves(v->path_shares, move), 1, "a slow rank: the path lies on its node");
    ok(!strcmp(move[0].from, "") && !strcmp(move[0].to, "n3"), "before, it lay on no node: \"%s\" to \"%s\"",
       move[0].from, move[0].to);
    ok(move[0].at_s > 10 && move[0].at_s < 13, "it came there when the rank became slow: %g s", move[0].at_s);
    is_str(newest_event(v), "", "that it first lies on a node is no event");
    steps(v, NODES, 50, 15);
    is_int((long long)path_shares_moves(v->path_shares, move), 2,
           "another rank becomes slower: the path moves");
    ok(!strcmp(move[0].from, "n3") && !strcmp(move[0].to, "n7"),
       "the newest move comes first: \"%s\" to \"%s\"", move[0].from, move[0].to);
    is_str(newest_event(v), "the critical path moved from n3 to n7", "a move is an event");
    view_critical_path_get(v, &c);
    ok(c.moves == 2 && !strcmp(c.move[0].to, "n7") && !strcmp(c.move[1].to, "n3"),
       "the view's critical path has its moves\n%zu", c.moves);
    for (uint32_t i = 0; i < 20; i++)
        steps(v, NODES, 400, 2 * i);
    is_int((long long)path_shares_moves(v->path_shares, move), VIEW_MOVES_MAX, "the newest moves are kept");
    is_str(move[0].to, "n19", "after thousands of steps moves are still seen");
    view_free(v);
}

int main(void)
{
    srand48(7);
    healthy();
    moves();
    return done_testing();
}
