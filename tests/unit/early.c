/* early: rounds are found in the list that they were put into, whatever other lists share its memory. */
#include "network/early.h"

#include "tests/tap.h"

int main(void)
{
    struct early e;
    uint32_t a = EARLY_NONE, b = EARLY_NONE;

    early_init(&e);
    ok(!early_take(&e, &a, 0), "an empty list has no message");
    early_put(&e, &a, 3);
    early_put(&e, &b, 4);
    early_put(&e, &a, 5);
    early_put(&e, &a, 5);
    ok(!early_take(&e, &a, 4), "a list does not have the message of another one");
    ok(early_take(&e, &a, 3) && !early_take(&e, &a, 3), "a message at the end of its list is taken once");
    ok(early_take(&e, &a, 5) && early_take(&e, &a, 5) && a == EARLY_NONE,
       "two messages of one round are taken one by one");
    ok(early_take(&e, &b, 4) && b == EARLY_NONE, "a list still has what it had before the other one changed");
    is_int(e.n, 4, "four messages at once take memory for four");
    for (uint32_t i = 0; i < 100; i++) {
        early_put(&e, &a, i);
        early_put(&e, &b, i);
        if (i % 2)
            early_forget(&e, &a);
        else
            early_take(&e, &a, i);
        early_take(&e, &b, i);
    }
    is_int(e.n, 4, "messages that were taken or forgotten make room for later ones");
    early_clear(&e);
    return done_testing();
}
