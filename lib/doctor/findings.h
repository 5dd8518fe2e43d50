/* findings.h - what the doctor found of a cluster: one entry for each check, with its evidence and the
 * command to type next.
 *
 * A fault is claimed only with evidence: what could not be seen is unknown, and what is only worth knowing is
 * a note. */
#ifndef SYNCGUARD_DOCTOR_FINDINGS_H
#define SYNCGUARD_DOCTOR_FINDINGS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum finding_state { FINDING_OK, FINDING_NOTE, FINDING_UNKNOWN, FINDING_FAULT };

struct findings {
    struct cluster_finding {
        enum finding_state state;
        const char *check; /* a literal: "nodes", "versions", ... */
        char *text;        /* what was found, with its figures and where they come from */
        char *next;        /* the command to type; NULL: none */
        json_t *nodes;     /* names; empty: it is of no particular node */
    } * finding;
    size_t n, cap;
    json_t *clocks; /* [{"node", "ahead_s", "doubt_s"}]: doctor/clocks.h; NULL: not measured */
};

/* Commands to type next for a node, as formats. */
#define FINDINGS_NEXT_VERSION "srun -N1 -w %.200s sgctl --version   (install the same version there)"
#define FINDINGS_NEXT_CLOCK \
    "srun -N1 -w %.200s chronyc tracking   (systemctl enable --now chrony, if it does not run)"

/* nodes is taken; NULL: none.  next may be NULL. */
__attribute__((format(printf, 6, 7))) void findings_add(struct findings *f, enum finding_state state,
                                                        const char *check, json_t *nodes, const char *next,
                                                        const char *fmt, ...);
size_t findings_count(const struct findings *f, enum finding_state state);
/* It has a fault of that check and node. */
bool findings_has(const struct findings *f, const char *check, const char *node);
void findings_print(const struct findings *f, FILE *out);
/* {"faults", "unknown", "findings": [...], "clocks": [...]}, the caller's; without the last where clocks were
 * not measured. */
json_t *findings_json(const struct findings *f);
void findings_free(struct findings *f); /* leaves it empty */

#endif
