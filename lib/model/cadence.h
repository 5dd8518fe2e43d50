/* cadence.h - how often to write a checkpoint.
 *
 * Pure.  Seconds: write (the time a checkpoint blocks the job), mtbf (mean time between failures of the whole
 * job, exponential), restart (from a failure until work goes on), interval (of work between checkpoints). */
#ifndef SYNCGUARD_MODEL_CADENCE_H
#define SYNCGUARD_MODEL_CADENCE_H

/* sqrt(2 C M): Young, Commun. ACM 17 (1974). */
double cadence_young_s(double write_s, double mtbf_s);

/* Daly, Future Gener. Comput. Syst. 22 (2006), higher order: sqrt(2CM) (1 + sqrt(C/2M)/3 + (C/2M)/9) - C for
 * C < 2M, else M. */
double cadence_daly_s(double write_s, double mtbf_s);

/* The exact optimum: M (1 + W0(-e^(-1 - C/M))); 0 when a checkpoint costs nothing.  It does not depend on the
 * restart time. */
double cadence_optimal_s(double write_s, double mtbf_s);

/* Work over the expected time to complete and save an interval of it, M e^(R/M) (e^((tau+C)/M) - 1), and that
 * time over work less 1. */
double cadence_goodput(double interval_s, double write_s, double restart_s, double mtbf_s);
double cadence_overhead(double interval_s, double write_s, double restart_s, double mtbf_s);

#endif
