/* prices.h - what a suspect costs, as the detectors ask for it and whoever can replay steps answers (calls/price.h). */
#ifndef SYNCGUARD_DETECT_PRICES_H
#define SYNCGUARD_DETECT_PRICES_H

#include <stdint.h>

struct price {
    double of_s, saved_s; /* what some steps took; what they would be shorter */
};

/* Of the steps from c->from on, as far as they are remembered, and of those of them from number `recent` on. */
struct prices {
    struct price all, recent;
};

/* A price that was taken of `steps` steps is taken again after this many more: an eighth of them is new then. */
static inline uint32_t price_again(uint32_t steps)
{
    return steps / 8;
}

#endif
