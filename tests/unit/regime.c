/* The regime: one definition, which does not change to and fro at its bounds. */
#include "model/regime.h"

#include "tests/tap.h"

static const struct {
    const char *what;
    double compute, communication, synchronisation;
    enum regime was, is;
} cases[] = {
    { "all work", 1, 0, 0, REGIMES, REGIME_COMPUTE },
    { "waits for a tenth", 0.85, 0.05, 0.10, REGIMES, REGIME_SYNCHRONISATION },
    { "waits for less", 0.86, 0.05, 0.09, REGIMES, REGIME_COMPUTE },
    { "waits for less than it did", 0.86, 0.05, 0.09, REGIME_SYNCHRONISATION, REGIME_SYNCHRONISATION },
    { "waits for much less than it did", 0.88, 0.05, 0.07, REGIME_SYNCHRONISATION, REGIME_COMPUTE },
    { "waits, and communicates for longer", 0.6, 0.21, 0.19, REGIMES, REGIME_COMPUTE },
    { "goes on waiting, and communicates for a little longer", 0.6, 0.21, 0.19, REGIME_SYNCHRONISATION,
      REGIME_SYNCHRONISATION },
    { "communicates for most of the time", 0.45, 0.5, 0.05, REGIMES, REGIME_COMMUNICATION },
    { "communicates for a little less than it computes", 0.5, 0.45, 0.05, REGIMES, REGIME_COMPUTE },
    { "the same, after it communicated for more", 0.5, 0.45, 0.05, REGIME_COMMUNICATION,
      REGIME_COMMUNICATION },
    { "times instead of shares", 8, 1, 3, REGIMES, REGIME_SYNCHRONISATION },
};

int main(void)
{
    enum regime was = REGIME_COMPUTE, now;
    int changes = 0;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        now = regime_of(cases[i].compute, cases[i].communication, cases[i].synchronisation, cases[i].was);
        is_str(regime_names[now], regime_names[cases[i].is], "%s", cases[i].what);
    }
    for (int i = 0; i < 100; i++) { /* about a tenth */
        now = regime_of(0.9, 0, i % 2 ? 0.105 : 0.095, was);
        changes += now != was;
        was = now;
    }
    is_int(changes, 1, "a share that goes to and fro about its bound changes the regime once");
    return done_testing();
}
