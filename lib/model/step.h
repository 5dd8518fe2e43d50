/* step.h - one training step: work, communication, the part of it that is hidden, and how it scales.
 * Pure.  Seconds; counts are double, so that they may be arbitrarily large.  Where a quantity does not
 * exist the result is NaN or infinity, as noted. */
#ifndef SYNCGUARD_MODEL_STEP_H
#define SYNCGUARD_MODEL_STEP_H

/* Communication that the work does not hide: max(0, comm - overlap * backward), where backward is the work
 * that can hide it and overlap the share of it that does. */
double step_exposed_s(double comm_s, double overlap, double backward_s);

/* Of a step of `accumulate` rounds of work and one exchange: share of the time that is work. */
double step_efficiency(double compute_s, double exposed_s, double accumulate);

/* Strong scaling: the work is divided, communication is not: T(n) = compute/n + comm, against T(1) as it
 * stands, compute + comm (Amdahl 1967 with the communication as the serial part). */
double step_speedup(double compute_s, double comm_s, double ranks);
/* Ranks at which work and communication take equally long; infinity without communication. */
double step_ranks_at_balance(double compute_s, double comm_s);
/* The speed-up of infinitely many ranks: 1 + compute/comm. */
double step_speedup_max(double compute_s, double comm_s);

#endif
