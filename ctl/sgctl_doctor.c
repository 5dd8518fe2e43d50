/* sgctl_doctor.c - sgctl doctor: what this host lacks, or the whole cluster. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "ctl/sgctl.h"
#include "doctor/cluster.h"
#include "doctor/doctor.h"
#include "doctor/host_report.h"
#include "doctor/nodes.h"
#include "doctor/slurmd.h"
#include "topology/slurm_conf.h"
#include "wire/session.h"

/* For the step on the nodes: what does not answer by then does not answer a job either. */
#define NODES_LIMIT_S 20.0

static int run_cluster(const struct options *o, const struct doctor *d)
{
    const char *allocation = getenv("SLURM_JOB_ID") ? getenv("SLURM_JOB_NODELIST") : NULL;
    struct slurm_nodes slurm = { 0 };
    struct findings f = { 0 };
    struct err err, slurm_err = { "" };
    bool has_slurm;
    struct session *s = session_open(o, &err);
    struct pairwise_options measure = { .save = options_text(o, "measured"),
                                        .clock_limit_s = options_number(o, "clock-limit"),
                                        .mpi = options_given(o, "mpi") };
    char *program = NULL;
    size_t faults;
    json_t *answer;

    if (!s)
        return complain(FAILED, &err);
    if (options_given(o, "probe")) { /* it is installed beside the agent */
        const char *slash = strrchr(s->config.agent, '/');

        measure.program = program =
            xasprintf("%.*s/syncguard-measure", slash ? (int)(slash - s->config.agent) : 0, s->config.agent);
    }
    has_slurm = slurm_nodes_ask(&slurm, options_number(o, "timeout"), &slurm_err) == 0;
    if (has_slurm)
        slurmd_check(&slurm, allocation, &f);
    cluster_check(&s->client, options_number(o, "timeout"), options_text(o, "topology"),
                  has_slurm ? &slurm : NULL, slurm_err.text, program ? &measure : NULL, &f);
    free(program);
    session_close(s);
    if (has_slurm)
        nodes_check(d, options_text(o, "conf"), &slurm, allocation, NODES_LIMIT_S, &f);
    slurm_nodes_free(&slurm);
    faults = findings_count(&f, FINDING_FAULT);
    if (options_given(o, "json")) {
        answer = findings_json(&f);
        print_answer(o, answer, NULL);
        json_decref(answer);
    } else {
        findings_print(&f, stdout);
    }
    findings_free(&f);
    return faults ? FAILED : OK;
}

/* For doctor --cluster on another host, whose step this is, and for scripts. */
static int print_report(const struct options *o, struct doctor *d)
{
    struct host_report *r = xcalloc(1, sizeof(*r));
    json_t *answer;
    size_t missing = 0;

    d->in_step = getenv(HOST_ENV_CREDENTIAL) != NULL;
    host_report_take(r, d, getenv(HOST_ENV_CREDENTIAL));
    for (size_t i = 0; i < r->n_checks; i++)
        missing += r->check[i].missing;
    answer = host_report_json(r);
    print_answer(o, answer, NULL);
    json_decref(answer);
    free(r);
    return missing && !d->in_step ? FAILED : OK; /* srun would report each task that fails */
}

static int check_doctor(const struct options *o, struct err *err)
{
    if (!options_given(o, "cluster") && (options_given(o, "topology") || options_given(o, "probe")))
        return err_set(err, "--probe and --topology belong to --cluster");
    if (!options_given(o, "probe") &&
        (options_given(o, "measured") || options_given(o, "clock-limit") || options_given(o, "mpi")))
        return err_set(err, "--measured, --mpi and --clock-limit belong to --probe");
    return 0;
}

int run_doctor(const struct options *o)
{
    char slurm_conf[4096];
    struct doctor d = { .timeout_s = options_number(o, "timeout"), .slurm_conf = slurm_conf };
    const char *controller = options_text(o, "controller");
    struct session *s;
    int missing, rc;

    if (check_doctor(o, &d.config_err) < 0)
        return options_misuse(o, &d.config_err);
    s = session_open(o, &d.config_err);
    slurm_conf_locate(SLURM_CONF_NAME, slurm_conf, sizeof(slurm_conf));
    d.config = s ? &s->config : NULL;
    d.config_path = config_path(options_text(o, "conf"));
    if (!d.config_path)
        d.config_path = CONFIG_DEFAULT_PATH;
    d.client = s ? s->client
                 : (struct client_options){ .hosts = controller ? controller : "localhost",
                                            .end = { .munge_socket = options_text(o, "munge-socket") } };
    if (options_given(o, "cluster") || options_given(o, "json")) {
        rc = options_given(o, "cluster") ? run_cluster(o, &d) : print_report(o, &d);
        session_close(s);
        return rc;
    }
    missing = doctor_run(&d, stdout);
    session_close(s);
    if (missing)
        printf("\n%d missing. Run the commands after `next:`, then `sgctl doctor` again.\n", missing);
    return missing ? FAILED : OK;
}
