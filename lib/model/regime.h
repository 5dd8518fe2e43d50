/* regime.h - the regime of a job by what its time goes into; the one definition, of jobs as they run and of
 * projections. */
#ifndef SYNCGUARD_MODEL_REGIME_H
#define SYNCGUARD_MODEL_REGIME_H

enum regime { REGIME_COMPUTE, REGIME_COMMUNICATION, REGIME_SYNCHRONISATION, REGIMES };
extern const char *const regime_names[REGIMES];

/* of the time, which waiting has to be at least to be the regime */
#define REGIME_SYNC_SHARE 0.10
/* a regime is left when it is below this share of what began it */
#define REGIME_LEAVE 0.80

/* Synchronisation, where waiting for later ranks is at least REGIME_SYNC_SHARE of the time and not less than
 * communication (transfers and messages); else the larger of communication and compute.  The three are times
 * or shares.  was: the regime before, which stays within REGIME_LEAVE, so that it does not change to and fro
 * at a bound; REGIMES: there is none. */
enum regime regime_of(double compute, double communication, double synchronisation, enum regime was);

#endif
