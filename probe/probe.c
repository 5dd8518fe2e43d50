#include "probe/probe.h"

struct probe probe;
