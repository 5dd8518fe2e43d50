/* Which place connections that became slower have in common: eight nodes, each of which sends to some of the
 * others. */
#include "view/pairs.h"

#include <string.h>

#include "tests/random.h"
#include "tests/tap.h"

#define NODES 8u
#define ONSET 20.0

static struct pairs *t;
static double sends_s[NODES][NODES]; /* for a megabyte, between two nodes; 0: they send nothing */
static double more_s[NODES][NODES];  /* than that, since the onset */
static double noise;

/* Neighbours in a ring, and those that are half of it away, who send at another rate. */
static void begin(void)
{
    random_state = 11;
    noise = 0.2;
    pairs_free(t);
    t = pairs_new();
    memset(sends_s, 0, sizeof(sends_s));
    for (uint32_t n = 0; n < NODES; n++) {
        sends_s[n][(n + 1) % NODES] = 0.04;
        sends_s[(n + 1) % NODES][n] = 0.12;
        sends_s[n][(n + NODES / 2) % NODES] = 0.3;
    }
    for (uint32_t a = 0; a < NODES; a++)
        for (uint32_t b = 0; b < NODES; b++)
            more_s[a][b] = 0;
}

static void adapter(uint32_t node, double s)
{
    for (uint32_t n = 0; n < NODES; n++)
        more_s[n][node] = more_s[node][n] = s;
}

static void run(double from_s, double to_s)
{
    for (double s = from_s; s < to_s; s += 1)
        for (uint32_t a = 0; a < NODES; a++)
            for (uint32_t b = 0; b < NODES; b++) {
                double mb = 1 + uniform(), took = sends_s[a][b];
                struct traffic_item item = { .local = { 1, 100 + a }, .remote = { 1, 100 + b } };

                if (!(took > 0))
                    continue;
                took = took * fmax(0.2, 1 + noise * gauss()) + (s >= ONSET ? more_s[a][b] : 0);
                item.bytes = (uint64_t)(1e6 * mb);
                item.busy_ns = (uint64_t)(1e9 * mb * took);
                pairs_take(t, s + 0.5, a, &item);
            }
}

static bool found(double after_s, struct pairs_place *place)
{
    run(0, ONSET + after_s);
    return pairs_find(t, ONSET + after_s, ONSET - 0.2, place);
}

static void adapters(void)
{
    struct pairs_place p;

    begin();
    adapter(3, 0.1);
    ok(found(6, &p) && p.nodes == 1 && p.node[0] == 3,
       "a node is named whose connections all take 100 ms longer for a megabyte");
    ok(p.times > 1.4 && p.times < 2.2 && near(p.others, 1, 0.1),
       "with by how much they, and the others, became slower\n%.2f, %.2f", p.times, p.others);
    begin();
    adapter(3, 0.1);
    ok(!found(1, &p), "not before some seconds have passed");
    begin();
    adapter(5, 0.005);
    ok(!found(10, &p), "5 ms are less than they vary by");
}

static void links(void)
{
    struct pairs_place p;

    begin();
    more_s[2][3] = more_s[3][2] = 0.1;
    ok(found(6, &p) && p.nodes == 2 && p.node[0] == 2 && p.node[1] == 3,
       "of one link that is slow both ways, the link is named");
    begin();
    for (uint32_t a = 0; a < NODES; a++)
        for (uint32_t b = 0; b < NODES; b++)
            sends_s[a][b] = a != b && a < 2 && b < 2 ? 0.1 : 0;
    adapter(1, 0.1);
    ok(found(6, &p) && p.nodes == 2 && isnan(p.others),
       "of two nodes, none can be told from the link between them");
}

static void nowhere(void)
{
    struct pairs_place p;
    uint32_t named = 0;

    begin();
    for (uint32_t n = 0; n < NODES; n++)
        adapter(n, 0.1);
    ok(!found(6, &p), "no place is named where all connections became slower");
    for (uint32_t i = 0; i < 300; i++) {
        uint64_t state = random_state;

        begin();
        random_state = state + 1;
        noise = 0.4;
        named += found(3 + i % 10, &p);
    }
    is_int(named, 0, "nor, of 300 times, where connections only vary");
    begin();
    adapter(3, 0.1);
    run(0, ONSET + 60);
    ok(!pairs_find(t, ONSET + 60, ONSET, &p), "nor when what was before has been forgotten");
    begin();
    run(0, 10);
    run(1000, 1010);
    ok(!pairs_find(t, 1010, 1005, &p), "nor across a pause");
}

static void bounds(void)
{
    struct pairs_place p;
    size_t bytes;

    begin();
    for (uint32_t i = 0; i < 100000; i++)
        pairs_take(t, 1, i % 4,
                   &(struct traffic_item){
                       .local = { i, 1 }, .remote = { i, 2 }, .bytes = UINT64_MAX, .busy_ns = UINT64_MAX });
    bytes = pairs_bytes(t);
    ok(bytes < 64 << 10, "addresses without end take less than 64 KiB\n%zu bytes", bytes);
    pairs_take(t, 1, UINT32_MAX, &(struct traffic_item){ .bytes = 1 });
    pairs_take(t, NAN, 0, &(struct traffic_item){ .bytes = 1 });
    pairs_take(t, -5, 0, &(struct traffic_item){ .bytes = 1 });
    ok(!pairs_find(t, NAN, NAN, &p) && !pairs_find(t, -1, 1e300, &p), "times that are none find nothing");
}

int main(void)
{
    adapters();
    links();
    nowhere();
    bounds();
    pairs_free(t);
    pairs_free(NULL);
    return done_testing();
}
