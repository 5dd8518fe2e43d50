#include "tui/screen.h"

const struct screen_ops *const screens[SCREENS] = {
    [SCREEN_JOBS] = &screen_jobs,
    [SCREEN_JOB] = &screen_job,
    [SCREEN_NODES] = &screen_nodes,
};
