/* health.h - a node's figures in words, and which of them are unusual. */
#ifndef SYNCGUARD_TUI_HEALTH_H
#define SYNCGUARD_TUI_HEALTH_H

#include <stddef.h>

#include "report/report.h"

/* What is out of the ordinary, worst kinds first: "clock 62 %, steal 4 %"; "fine"; "" when nothing was
 * reported. Returns how bad. */
enum severity health_symptoms(const struct report_health *h, char *buf, size_t size);
/* All figures that are known and not zero: "run queue 3.2 · steal 0.4 % · ..."; "" for none. Returns buf. */
char *health_figures(const struct report_health *h, char *buf, size_t size);
/* The GPUs: "GPU0 clock 98 % 64 °C 301 W · ..."; "" for none. Returns buf. */
char *health_gpus_text(const struct report_health *h, char *buf, size_t size);

#endif
