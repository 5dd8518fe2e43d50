/* How much of the controller users and addresses may have. */
#include "daemon/bounds.h"

#include <arpa/inet.h>
#include <math.h>

#include "tests/tap.h"

static struct config config; /* large */

static struct bounds_address *address(struct bounds *b, const char *text, double now_s)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };

    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
        return bounds_address(b, (struct sockaddr *)&v4, now_s);
    inet_pton(AF_INET6, text, &v6.sin6_addr);
    return bounds_address(b, (struct sockaddr *)&v6, now_s);
}

static void test_addresses(struct bounds *b)
{
    struct bounds_address *a = address(b, "192.0.2.1", 0), *other = address(b, "192.0.2.2", 0);
    int n = 0;

    ok(a == address(b, "::ffff:192.0.2.1", 0), "an IPv4 address and its form in IPv6 are the same");
    for (int i = 0; i < 5000; i++)
        n += bounds_connects(b, a, 1);
    is_int(n, 50, "ten seconds' worth of connections may come from an address at once");
    ok(bounds_connects(b, other, 1), "another address does not notice");
    n = 0;
    for (int i = 0; i < 1000; i++)
        n += bounds_connects(b, a, 3);
    is_int(n, 10, "two seconds later two seconds' worth may come");
    is_int((long long)bounds_sums_get(b).refused, 4950 + 990, "refused connections are counted");
    a->unfinished = 512;
    ok(bounds_crowded(a), "an address with 512 unfinished handshakes is crowded");
    ok(!bounds_crowded(other), "an address without any is not crowded");
    is_int((long long)bounds_sums_get(b).unfinished, 512, "unfinished handshakes are summed up");
    bounds_tick(b, 1000);
    ok(a == address(b, "192.0.2.1", 1000), "an address with unfinished handshakes is kept");
    a->unfinished = 0;
    bounds_tick(b, 1001);
}

static void test_users(struct bounds *b)
{
    struct bounds_user *u = bounds_user(b, 1000), *other = bounds_user(b, 1001);
    struct err err;

    u->connections = 4;
    is_int(bounds_connection(b, u, &err), 0, "a user below UserConnections may connect");
    u->connections = 5;
    is_int(bounds_connection(b, u, &err), -1, "a user with UserConnections connections may not connect");
    is_str(err.text, "uid 1000 has 5 connections, the most that a user may have (UserConnections)",
           "the refusal names the key");
    is_int(bounds_connection(b, other, &err), 0, "another user may connect");
    u->free = true;
    is_int(bounds_connection(b, u, &err), 0, "an operator may connect");
    u->free = false;
    u->steps = 3;
    is_int(bounds_step(b, u, &err), -1, "a user with UserSteps steps may not have another");
    u->steps = 2;
    is_int(bounds_step(b, u, &err), 0, "a user below UserSteps may have another step");
    is_near(bounds_step_bytes(b, u, 10), 10 + 4 * (1 << 20), 1, "a step may take what is left of UserMemory");
    bounds_holds(b, u, 3 * (1 << 20));
    is_near(bounds_step_bytes(b, u, 10), 10 + (1 << 20), 1, "a step may take what the others leave");
    bounds_holds(b, other, 2.5 * (1 << 20));
    is_near(bounds_step_bytes(b, u, 10), 10 + 0.5 * (1 << 20), 1, "a step may take what is left of Memory");
    bounds_holds(b, other, 1 << 20);
    is_int(bounds_step(b, other, &err), -1, "with all of Memory in use nobody may have another step");
    ok(strstr(err.text, "(Memory)") != NULL, "the refusal names Memory");
    bounds_holds(b, other, -3.5 * (1 << 20));
    bounds_holds(b, u, 1 << 20);
    is_int(bounds_step(b, u, &err), -1, "a user with all of UserMemory in use may not have another step");
    bounds_holds(b, u, -4 * (1 << 20));
    u->recordings = 4;
    is_int(bounds_recording(u, &err), -1, "a user may record four times at once");
    u->waiting_bytes = 17 << 20;
    is_int(bounds_question(b, u, &err), -1, "a user who does not read his answers may not ask");
    u->waiting_bytes = 0;
    is_int(bounds_question(b, u, &err), 0, "a user who reads his answers may ask");
    u->arriving_bytes = 32 << 20;
    is_int(bounds_arriving(u, 1 << 20, &err), 0, "32 MiB of a user's messages may have arrived in part");
    u->arriving_bytes++;
    is_int(bounds_arriving(u, 1 << 20, &err), -1,
           "with more the connections that hold much of it have to go");
    is_int(bounds_arriving(u, 1000, &err), 0, "those that hold little of it stay");
    u->arriving_bytes = 0;
}

static void test_time(struct bounds *b)
{
    struct bounds_user *u;
    struct err err;

    bounds_tick(b, 2000);
    u = bounds_user(b, 2000);
    ok(bounds_time(u), "a user who took no time may take some");
    bounds_took(u, BOUNDS_TIME_S);
    ok(bounds_time(u), "a user who took what he may have at once is not yet above it");
    bounds_took(u, 1);
    ok(!bounds_time(u), "a user who took more has no time left");
    is_int(bounds_question(b, u, &err), -1, "his queries are refused");
    is_str(
        err.text,
        "your queries and guarded steps take more than 25.0 % of the controller's time (UserLoad): try again in 4 s",
        "the refusal has when to try again");
    bounds_tick(b, 2003);
    ok(!bounds_time(u), "after three seconds a quarter of them has come back");
    bounds_tick(b, 2005);
    ok(bounds_time(u), "after five seconds he has time again");
    bounds_tick(b, 3000);
    is_int((long long)bounds_sums_get(b).users, 1,
           "a user with nothing is forgotten, one with a connection is not");
}

int main(void)
{
    struct bounds *b = bounds_new();

    config = (struct config){ .user_connections = 5,
                              .user_steps = 3,
                              .user_memory = 4 << 20,
                              .memory = 6 << 20,
                              .user_load = 0.25,
                              .handshakes_per_s = 5 };
    bounds_configure(b, &config);
    test_addresses(b);
    test_users(b);
    test_time(b);
    bounds_free(b);
    return done_testing();
}
