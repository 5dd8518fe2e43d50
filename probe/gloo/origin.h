/* origin.h - which library a function is of, and of which version of PyTorch, for notes: read once, when
 * something cannot be recorded. */
#ifndef SYNCGUARD_GLOO_ORIGIN_H
#define SYNCGUARD_GLOO_ORIGIN_H

#include <stddef.h>

/* "PyTorch 2.5.1+cpu, /opt/venv/lib/python3.11/site-packages/torch/lib/libtorch_cpu.so" of the library that
 * has the function, into buf, which is returned; the version from the library's name or from PyTorch's own
 * file of it beside the library, else "unknown".  Does not allocate; errno may change. */
const char *origin_text(const void *function, char *buf, size_t size);

#endif
