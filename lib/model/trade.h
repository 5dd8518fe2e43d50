/* trade.h - trading less communication for more iterations: local steps and compression.
 * Pure.  The number of additional iterations is an input; it is never assumed here. */
#ifndef SYNCGUARD_MODEL_TRADE_H
#define SYNCGUARD_MODEL_TRADE_H

/* Local SGD: an exchange every k steps, iterations grow as 1 + penalty k.  Time for what one synchronous step
 * does. */
double trade_local_s(double compute_s, double comm_s, double penalty, double k);
/* The k that minimises this time, as a real number: sqrt(Tm / (c Tc)); infinity for penalty 0. */
double trade_local_best(double compute_s, double comm_s, double penalty);
/* The best whole k >= 1. */
double trade_local_best_whole(double compute_s, double comm_s, double penalty);

/* Compression of what is sent to `ratio` of it, for iterations_ratio times the iterations, pays iff
 * communication over work is above (I-1)/(1-r I); infinity: never (r I >= 1); 0: always (I <= 1). */
double trade_compress_break_even(double ratio, double iterations_ratio);
/* Time with over time without it: above 1 it costs. */
double trade_compress_time_ratio(double compute_s, double comm_s, double ratio, double iterations_ratio);

#endif
