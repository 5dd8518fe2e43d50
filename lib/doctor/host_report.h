/* host_report.h - what a host tells of its own setup: `sgctl doctor --json`, which doctor --cluster has run
 * on every node.
 *
 * It is written on one host and read on another, perhaps by another version, and belongs to the user who
 * asked: texts are cut, and what is not understood is unknown. */
#ifndef SYNCGUARD_DOCTOR_HOST_REPORT_H
#define SYNCGUARD_DOCTOR_HOST_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"
#include "doctor/doctor.h"

#define HOST_REPORT_BYTES_MAX (64u << 10) /* of its text */
#define HOST_CHECKS_MAX       32u
/* Set in the tasks of such a step: the asking host's credential, "" if it has none. */
#define HOST_ENV_CREDENTIAL "SYNCGUARD_DOCTOR_CREDENTIAL"

enum host_file { HOST_CONFIGURATION, HOST_PLUGIN, HOST_PROBE, HOST_AGENT, HOST_FILES };
extern const char *const host_file_names[HOST_FILES]; /* "configuration", ... */

struct host_report {
    char node[256], version[64];
    char platform[64];    /* files of one version differ between platforms */
    double at_s;          /* its wall clock, read last; NAN: unknown */
    char credential[512]; /* made there, for this user alone; "" */
    char refused[300]; /* why munge there does not decode the asking host's; "": it does, or was given none */
    struct host_digest {
        char path[300];
        char hash[33]; /* of the contents; "": cannot be read */
    } file[HOST_FILES];
    struct host_check {
        char name[32];
        bool missing;
        char found[300], next[300];
    } check[HOST_CHECKS_MAX];
    size_t n_checks;
};

/* This host's.  credential: another host's, to be decoded here; NULL: none. */
void host_report_take(struct host_report *r, const struct doctor *d, const char *credential);
json_t *host_report_json(const struct host_report *r); /* the caller's */
/* -1 with the reason: it is not such a report. */
int host_report_read(struct host_report *r, const char *text, size_t bytes, struct err *err);

/* A credential for processes of this user, which the caller frees; NULL with munge's reason. */
char *host_credential_make(const char *munge_socket, struct err *err);
/* Does this host's munge decode it?  One that this munge has decoded before counts, because nodes may share a
 * munge. */
int host_credential_check(const char *munge_socket, const char *credential, struct err *err);

#endif
