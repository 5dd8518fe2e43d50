#include "report/verdict_words.h"

#include <stdio.h>
#include <string.h>

#include "common/xalloc.h"

static const struct {
    const char *class, *one, *several; /* after the culprits; NULL: the class blames nobody */
    const char *nobody;                /* without culprits */
} words[] = {
    { "straggler", "is slow", "are slow", "slow work" },
    { "drift", "becomes slower and slower", "become slower and slower",
      "work that becomes slower and slower" },
    { "hang", "holds up the others", "hold up the others", "nothing moves" },
    { "jitter", NULL, NULL, "rare long delays, no single node" },
    { "imbalance", "has more work than the other ranks", "have more work than the other ranks", "uneven work, no single node" },
    { "communication", "sends and receives slowly", "send and receive slowly", "slow collectives" },
    { "congestion", NULL, NULL, "collectives slow in bursts" },
    { "oscillation", NULL, NULL, "fast and slow steps in turn" },
};

char *verdict_words(char *buf, size_t size, const char *class, const char *culprits, size_t n_culprits)
{
    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        if (strcmp(class, words[i].class) != 0)
            continue;
        if (n_culprits && words[i].one)
            snprintf(buf, size, "%s %s (%s)", culprits, n_culprits > 1 ? words[i].several : words[i].one,
                     class);
        else
            snprintf(buf, size, "%s (%s)", words[i].nobody, class);
        return buf;
    }
    snprintf(buf, size, "%s%s%s", n_culprits ? culprits : "", n_culprits ? ": " : "", class);
    return buf;
}
