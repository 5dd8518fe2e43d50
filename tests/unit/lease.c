/* The lease of two controllers: takeover, a holder that is late, storage that fails, files that are no lease.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/xalloc.h"
#include "history/lease.h"
#include "tests/tap.h"

#define VALID_S 6.0

static char dir[] = "/tmp/lease-XXXXXX";

#define fail(...) (printf("Bail out! " __VA_ARGS__), exit(1))

static struct lease *holder(const char *name)
{
    struct err err;
    struct lease *l = lease_open(dir, name, VALID_S, &err);

    if (!l)
        fail("%s", err.text);
    return l;
}

static char *file(unsigned epoch)
{
    return xasprintf("%s/lease/%u", dir, epoch);
}

static void put(unsigned epoch, const char *text)
{
    char *path = file(epoch);
    FILE *f = fopen(path, "w");

    if (!f || fputs(text, f) < 0 || fclose(f) != 0)
        fail("cannot write %s", path);
    free(path);
}

static const struct {
    const char *text, *holder; /* NULL: rejected */
    uint64_t epoch;
    bool released;
} files[] = {
    { "syncguard-lease 1 7 12 held ctl1\n", "ctl1", 7, false },
    { "syncguard-lease 1 8 0 released ctl2.site\n", "ctl2.site", 8, true },
    { "", NULL, 0, false },
    { "syncguard-lease 2 7 12 held ctl1\n", NULL, 0, false },
    { "syncguard-lease 1 0 12 held ctl1\n", NULL, 0, false },
    { "syncguard-lease 1 7 12 kept ctl1\n", NULL, 0, false },
    { "syncguard-lease 1 7 12 held ctl1", NULL, 0, false },
    { "syncguard-lease 1 7 12 held ctl1\nmore\n", NULL, 0, false },
    { "syncguard-lease 1 7 12 held \033[2J\n", NULL, 0, false },
    { "syncguard-lease 1 99999999999999999999 1 held a\n", NULL, 0, false },
};

static void test_parse(void)
{
    struct lease_record r;
    struct err err;

    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        int rc = lease_parse(files[i].text, strlen(files[i].text), &r, &err);

        ok(files[i].holder ? rc == 0 && r.epoch == files[i].epoch && r.released == files[i].released &&
                                 !strcmp(r.holder, files[i].holder)
                           : rc < 0 && strstr(err.text, "not a lease"),
           "lease_parse: case %zu has the expected outcome", i);
    }
}

static void test_takeover(void)
{
    struct lease *a = holder("a"), *b = holder("b");
    struct err err;
    double at_s;

    is_int(lease_tick(a, 0, &err), LEASE_HELD, "the first takes a lease that nobody has");
    is_int(lease_tick(b, 0, &err), LEASE_STANDBY, "the second is a standby");
    is_str(lease_holder(b), "a", "the standby knows the holder");
    for (at_s = 0.5; at_s <= 30; at_s += 0.5)
        if (lease_tick(a, at_s, &err) != LEASE_HELD || lease_tick(b, at_s, &err) != LEASE_STANDBY)
            break;
    is_int(at_s > 30, 1, "a lease that is renewed is not taken over");
    ok(lease_in_force(a, 30), "the holder may act");
    for (; lease_tick(b, at_s, &err) != LEASE_HELD && at_s < 60; at_s += 0.5)
        if (lease_held(a, at_s) && at_s > 36)
            break;
    ok(lease_in_force(b, at_s) && at_s < 38,
       "a standby takes over a lease that is not renewed, after its validity");
    is_int(lease_epoch(b), 2, "each takeover has the next epoch");
    ok(!lease_held(a, at_s), "the former holder has stopped by its own clock when the standby takes over");
    ok(!lease_in_force(a, 31),
       "the former holder does not act after the takeover, even if its clock stood still");
    is_int(lease_tick(a, 33, &err), LEASE_LOST,
           "a holder whose clock stood still loses the lease when it renews");
    is_str(err.text, "another controller has taken over", "the reason is that another has it");
    is_int(lease_tick(a, 34, &err), LEASE_LOST, "a lost lease stays lost");
    lease_release(a, 34);
    ok(lease_in_force(b, at_s), "one who has lost the lease cannot release it");
    lease_free(a);
    a = holder("a");
    lease_tick(a, at_s, &err);
    lease_release(b, at_s);
    is_int(lease_tick(a, at_s + 0.5, &err), LEASE_HELD, "a released lease is taken over at once");
    lease_free(a);
    lease_free(b);
}

static void test_paused(void)
{
    struct lease *a = holder("a"), *b = holder("b");
    struct err err;

    put(10, "syncguard-lease 1 10 3 released x\n");
    lease_tick(a, 0, &err);
    lease_tick(b, 0, &err);
    is_int(lease_tick(a, 20, &err), LEASE_LOST,
           "a holder that was paused for 20 s has lost the lease, before anybody took it");
    is_str(err.text, "the lease was not renewed in time", "the reason is the time");
    ok(!lease_in_force(a, 20), "a holder that was paused does not act");
    is_int(lease_tick(b, 20, &err), LEASE_HELD, "the standby takes over then");
    lease_free(a);
    lease_free(b);
}

static void test_race(void)
{
    struct lease *a = holder("a"), *b = holder("b");
    struct err err;
    char *path = file(20);

    put(20, "syncguard-lease 1 20 3 held x\n");
    lease_tick(a, 0, &err);
    lease_tick(b, 0, &err);
    is_int((lease_tick(a, 7, &err) == LEASE_HELD) + (lease_tick(b, 7, &err) == LEASE_HELD), 1,
           "of two standbys one takes over");
    is_int(access(path, F_OK), -1, "the file of the former epoch is removed");
    free(path);
    lease_free(a);
    lease_free(b);
}

static void test_broken(void)
{
    struct lease *a = holder("a");
    struct err err;

    put(30, "this is no lease\n");
    is_int(lease_tick(a, 0, &err), LEASE_STANDBY, "a malformed lease is not taken at once");
    ok(strstr(err.text, "lease/30: not a lease: expected 'syncguard-lease 1 EPOCH"),
       "the reason has file and format\n%s", err.text);
    is_int(lease_tick(a, 7, &err), LEASE_HELD, "a malformed lease that does not change is taken over");
    is_int(lease_epoch(a), 31, "its epoch is that of its name");
    lease_free(a);
}

static void test_storage(void)
{
    struct lease *a = holder("a");
    struct err err;
    char *inner = xasprintf("%s/lease", dir), *away = xasprintf("%s/away", dir);

    put(40, "syncguard-lease 1 40 3 held x\n");
    lease_tick(a, 0, &err);
    rename(inner, away);
    is_int(lease_tick(a, 7, &err), LEASE_STANDBY, "a standby that cannot see the lease does not take it");
    ok(strstr(err.text, "No such file"), "the reason is the storage's\n%s", err.text);
    rename(away, inner);
    is_int(lease_tick(a, 8, &err), LEASE_STANDBY, "time in which the lease was not seen does not count");
    is_int(lease_tick(a, 14, &err), LEASE_HELD,
           "the lease is taken once it was seen unchanged for its validity");
    rename(inner, away);
    ok(!lease_in_force(a, 15), "a holder that cannot read the lease does not act");
    is_int(lease_tick(a, 20, &err), LEASE_LOST, "a holder without storage loses the lease");
    rename(away, inner);
    ok(!lease_in_force(a, 20), "it stays lost when the storage is back");
    ok(!lease_open("/proc/nowhere", "a", VALID_S, &err), "a folder that cannot be created is an error\n%s",
       err.text);
    ok(!lease_open(dir, "a b", VALID_S, &err), "a holder that is no host's name is an error: %s", err.text);
    free(inner);
    free(away);
    lease_free(a);
}

int main(void)
{
    char *command;

    if (!mkdtemp(dir))
        fail("%s", "cannot make a folder");
    command = xasprintf("rm -rf %s", dir);
    test_parse();
    test_takeover();
    test_paused();
    test_race();
    test_broken();
    test_storage();
    ok(system(command) == 0, "the folder is removed");
    free(command);
    return done_testing();
}
