/* order.h - order statistics: the time of a step when all wait for the slowest of n independent ranks.
 *
 * Pure, by quadrature to 1e-9 or better for up to 1e7 ranks (the asymptotic sqrt(2 ln n) overshoots by 11 to
 * 43 % at cluster sizes).  David & Nagaraja, "Order Statistics", 3rd ed. 2003, ch. 2 and 3. */
#ifndef SYNCGUARD_MODEL_ORDER_H
#define SYNCGUARD_MODEL_ORDER_H

enum order_dist { ORDER_NORMAL, ORDER_LOGNORMAL };

/* Mean of the (dropped+1)th largest of n standard normals: z_n with dropped = 0.  0 <= dropped < n, whole. */
double order_z(double n, double dropped);

/* The same for ranks of mean 1 and this coefficient of variation: E[slowest]/mean, the time of a step over
 * a rank's own work.  Lognormal: sigma^2 = ln(1 + cv^2). */
double order_amplification(enum order_dist dist, double n, double dropped, double cv);

/* One of the n always takes slow_ratio times as long, with the same noise: the maximum of both, over the mean
 * of the others.  1e-6. */
double order_amplification_slow(enum order_dist dist, double n, double cv, double slow_ratio);

/* Probability that at least one of n is slow if each is with probability p: 1 - (1-p)^n, exact for small p */
double order_any(double n, double p);

/* With a barrier only every k steps, independent noise averages out over them: about 1 + cv z_n / sqrt(k). */
double order_amplification_every(double n, double cv, double k);

/* One rank always takes ratio times as long, and work is distributed in proportion to speed: B / sum of
 * speeds. */
double order_rebalanced(double n, double ratio);

#endif
