/* device.h - an accelerator that is not there: what the rank would have handed to it takes time, and no CPU.
 * Its clock can be changed while the job runs, as a hot device lowers it: the file named after the host in
 * the clock folder holds a factor (0.8: a fifth slower). Without the file, or when it holds nonsense, it
 * is 1. */
#ifndef SYNCGUARD_WORKLOADS_DEVICE_H
#define SYNCGUARD_WORKLOADS_DEVICE_H

struct device {
    double step_s;         /* of computing in a step, at clock 1; 0: there is no device */
    const char *clock_dir; /* NULL: the clock is always 1 */
};

/* Wait until the device has computed a step that began at begun_s of CLOCK_MONOTONIC. */
void device_wait(const struct device *d, double begun_s);

#endif
