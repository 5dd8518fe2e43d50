/* The order in which credentials from several addresses are checked, and what becomes of cancelled ones. */
#include "wire/verifier.h"

#include <event2/event.h>

#include "common/xalloc.h"
#include "tests/munge.h"
#include "tests/tap.h"
#include "wire/loop.h"

#define MANY 1000

static struct event_base *base;
static struct verifier *verifier;
static char done[2 * MANY + 1]; /* who was checked, in order */
static unsigned n_done;

static void on_done(struct identity_check *check, const char *why, void *arg)
{
    (void)check;
    done[n_done++] = why ? *(const char *)arg : '!';
}

/* A credential that munged rejects, from the address that ends with the letter; arg is the letter. */
static struct verification *begin(const char *letter)
{
    struct in6_addr from = { 0 };

    from.s6_addr[15] = (uint8_t)*letter;
    return verifier_begin(verifier, &from, "MUNGE:x:", 8, on_done, (void *)letter);
}

static void run(unsigned until)
{
    while (n_done < until)
        event_base_loop(base, EVLOOP_ONCE);
}

int main(void)
{
    struct verification *flood[MANY], *last;
    struct test_munge munge;
    struct err err;
    unsigned flooded;

    if (!test_munge_start(&munge))
        return skip_all("munged is not there, or does not start");
    base = loop_new_priorities();
    verifier = verifier_new(base, munge.socket, &err);
    if (!verifier)
        return skip_all(err.text);

    kill(munge.pid, SIGSTOP); /* so that none is checked before all are waiting */
    for (unsigned i = 0; i < MANY; i++)
        flood[i] = begin("a");
    for (unsigned i = 0; i < 3; i++)
        begin("b");
    begin("c");
    kill(munge.pid, SIGCONT);
    run(MANY + 4);
    ok(!strchr(done, '!') && strspn(done, "abc") == MANY + 4, "none of %d credentials at once is refused",
       MANY + 4);
    flooded = (unsigned)strcspn(done, "b");
    ok(flooded <= 2, "the first credential from another address waits for at most 2 of the %d before it\n%u",
       MANY, flooded);
    ok(!strncmp(done + flooded, "bcababaa", 8), "addresses take turns: %.12s", done + flooded);

    n_done = 0;
    memset(done, 0, sizeof(done));
    for (unsigned i = 0; i < MANY; i++)
        flood[i] = begin("a");
    last = begin("a");
    for (unsigned i = 0; i < MANY; i++)
        verification_cancel(flood[i]);
    begin("a");
    run(2);
    ok(last && !strcmp(done, "aa"), "cancelled ones are not reported, and those after them are: %.12s", done);
    begin("a");
    last = begin("b");
    verification_cancel(last);
    run(3);
    ok(!strcmp(done, "aaa"), "the last in the queue can be cancelled");
    begin("a");
    verifier_free(verifier);
    ok(!strcmp(done, "aaa"), "no callback is called by verifier_free");
    verifier_free(NULL);
    event_base_free(base);
    test_munge_stop(&munge);
    return done_testing();
}
