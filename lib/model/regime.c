#include "model/regime.h"

const char *const regime_names[REGIMES] = { "compute", "communication", "synchronisation" };

enum regime regime_of(double compute, double communication, double synchronisation, enum regime was)
{
    double all = compute + communication + synchronisation,
           stay = was == REGIME_SYNCHRONISATION ? REGIME_LEAVE : 1;

    if (synchronisation >= REGIME_SYNC_SHARE * all * stay && synchronisation >= communication * stay)
        return REGIME_SYNCHRONISATION;
    return communication > compute * (was == REGIME_COMMUNICATION ? REGIME_LEAVE : 1) ? REGIME_COMMUNICATION
                                                                                      : REGIME_COMPUTE;
}
