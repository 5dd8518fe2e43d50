#include "tests/tui/fake.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"

#define STEP_S   0.0241
#define WORK_S   (STEP_S * 0.78)
#define EXTRA_S  0.0062 /* what the slow node needs longer */
#define LONGER   ((WORK_S + EXTRA_S) / WORK_S)
#define COLUMN_S 0.5
#define JOB_ID   "4711.0"
#define HUNG_ID  "4712.0" /* of which little is known */
#define STOOD_ID "4712.1" /* the same, and what its ranks do */
#define START_AT 1790000000.0

const struct fake fake_default = {
    .ranks = 64, .ranks_per_node = 8, .slow_at_s = 12, .slow_node = 5, .jobs = 3
};

/* 0..1, the same for the same arguments. */
static double noise(uint64_t a, uint64_t b)
{
    uint64_t x = a * 0x9e3779b97f4a7c15u ^ (b + 1) * 0xc2b2ae3d27d4eb4fu;

    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 32;
    return (double)(x >> 11) / 9007199254740992.0;
}

static json_t *number(double x)
{
    return isnan(x) ? json_null() : json_real(x);
}

static char *node_name(char buf[32], int node)
{
    snprintf(buf, 32, "node%02d", node);
    return buf;
}

static char *switch_name(char buf[32], int node)
{
    snprintf(buf, 32, "leaf%d", node / 4);
    return buf;
}

static bool slow(const struct fake *f, double t_s)
{
    return t_s >= f->slow_at_s;
}

/* Lateness of a rank in the column of time that ends at t_s. */
static double lateness(const struct fake *f, int rank, double t_s)
{
    uint64_t column = (uint64_t)(t_s / COLUMN_S);
    double late =
        0.0002 + 0.0009 * pow(noise((uint64_t)rank, column), 3) + 0.0003 * noise((uint64_t)rank, 77);

    if (rank / f->ranks_per_node == f->slow_node && slow(f, t_s))
        late += EXTRA_S * (0.8 + 0.2 * noise((uint64_t)rank, column + 1));
    return late;
}

static double step_s(const struct fake *f, double t_s)
{
    return STEP_S + (slow(f, t_s) ? EXTRA_S : 0) + 0.0006 * noise(5, (uint64_t)(t_s / COLUMN_S));
}

/* ---- a JOB row ---- */

/* What befalls the job, in seconds of its time: one that stays, and from MANY_AT_S on more of them. */
#define MANY_AT_S 100.0

static const struct trouble {
    const char *class, *scope, *culprit, *text, *cause, *next;
    double from_s, to_s, slowdown;
    bool onset_unknown;
} troubles[] = {
    { "straggler", "node", "node05", "node05 holds the others back: its ranks compute 33 % longer",
      "its CPUs run at 54 % of their clock", "sgctl action " JOB_ID " exclude node05", 12, INFINITY,
      (STEP_S + EXTRA_S) / STEP_S, false },
    { "jitter", "none", NULL,
      "rare long delays hold up another rank each time: 1 step of 90 takes 3 times as long", NULL,
      "sgctl record " JOB_ID " --seconds=60s --output=" JOB_ID ".trace", MANY_AT_S - 15, MANY_AT_S - 8, 1.021,
      false },
    { "drift", "rank", "r17", "r17 becomes slower by 2 % a minute", NULL, "sgctl step " JOB_ID,
      MANY_AT_S - 12, INFINITY, 1.04, true },
    { "communication", "none", NULL, "an Allreduce of 4 MiB takes 420 µs, 160 µs at the beginning", NULL,
      "sgctl doctor --cluster --probe --mpi", MANY_AT_S - 4, INFINITY, 1.12, false },
    { "oscillation", "none", NULL, "all ranks together alternate between 24 ms and 31 ms every 40 steps",
      NULL, "sgctl job " JOB_ID " --full", MANY_AT_S - 6, MANY_AT_S - 3, 1.06, false },
};

static double from_s(const struct fake *f, const struct trouble *t)
{
    return t == troubles ? f->slow_at_s : t->from_s;
}

static bool known(const struct fake *f, const struct trouble *t, double t_s)
{
    return t_s >= (t == troubles ? from_s(f, t) : MANY_AT_S);
}

static json_t *culprits(const struct trouble *t)
{
    return t->culprit ? json_pack("[s]", t->culprit) : json_array();
}

/* Of the interval of its price, which is known only of the first. */
static json_t *limit(const struct trouble *t, double away)
{
    return t == troubles ? json_real(t->slowdown + away) : json_null();
}

static json_t *verdict(const struct fake *f, const struct trouble *t, double t_s)
{
    double onset = floor(from_s(f, t) / STEP_S), since_s = t_s - from_s(f, t);

    return json_pack("{s:s, s:s, s:o, s:f, s:o, s:o, s:I, s:o, s:f, s:s, s:I, s:I, s:I, s:b, s:n, s:s?, s:s}",
                     "class", t->class, "scope", t->scope, "culprits", culprits(t), "slowdown", t->slowdown,
                     "slowdown_low", limit(t, -0.03), "slowdown_high", limit(t, 0.04), "since_step",
                     (json_int_t)onset, "since_s", t->onset_unknown ? json_null() : json_real(since_s),
                     "found_s", since_s, "text", t->text, "found_step", (json_int_t)(onset + 9), "onset_seq",
                     (json_int_t)(onset * 7), "detected_seq", (json_int_t)(onset * 7 + 41), "standing", 1,
                     "over_s", "cause", t->cause, "next", t->next);
}

static json_t *verdicts(const struct fake *f, double t_s)
{
    json_t *list = json_array();

    for (size_t i = 0; i < ARRAY_SIZE(troubles); i++)
        if (known(f, &troubles[i], t_s) && t_s < troubles[i].to_s)
            json_array_append_new(list, verdict(f, &troubles[i], t_s));
    return list;
}

static json_t *timeline(const struct fake *f, double t_s)
{
    json_t *list = json_array();

    for (size_t i = 0; i < ARRAY_SIZE(troubles); i++) {
        const struct trouble *t = &troubles[i];

        if (known(f, t, t_s))
            json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:f, s:f, s:o, s:s}", "class", t->class,
                                                  "scope", t->scope, "culprits", culprits(t), "slowdown",
                                                  t->slowdown, "from_s", t_s - from_s(f, t), "to_s",
                                                  t_s < t->to_s ? json_null() : json_real(t_s - t->to_s),
                                                  "text", t->text));
    }
    return list;
}

static json_t *sentence(const struct fake *f, double t_s)
{
    char name[32], text[512];

    if (!slow(f, t_s))
        return json_string("All ranks keep step: 2 % of their time is spent waiting for a later one.");
    snprintf(text, sizeof(text),
             "%s is slow: its %d ranks arrive 6.2 ms late since %.0f s; the step takes 30.6 ms, without it "
             "24.4 ms (20 %% of the job's time is lost).",
             node_name(name, f->slow_node), f->ranks_per_node, t_s - f->slow_at_s);
    return json_string(text);
}

static void put_times(json_t *job, const struct fake *f, double t_s)
{
    double step = step_s(f, t_s), late = slow(f, t_s) ? EXTRA_S : 0.0009;

    json_object_set_new(job, "step_s",
                        json_pack("{s:f, s:f, s:f, s:f, s:i, s:f}", "mean", step, "p50", step, "p95",
                                  step * 1.04, "p99", step * 1.07, "p99_steps", 600, "cv", 0.02));
    json_object_set_new(job, "steps_per_s", json_real(1 / step));
    json_object_set_new(job, "samples_per_s", json_real(2048 / step));
    json_object_set_new(job, "skew_s", json_pack("{s:f, s:f}", "p50", late, "p95", late * 1.3));
    json_object_set_new(job, "synchronisation_ratio", json_real(slow(f, t_s) ? 0.196 : 0.021));
    json_object_set_new(job, "shares",
                        json_pack("{s:f, s:f, s:f, s:f}", "compute", slow(f, t_s) ? 0.62 : 0.78,
                                  "communication", 0.171, "synchronisation", slow(f, t_s) ? 0.196 : 0.021,
                                  "point_to_point", 0.004));
}

static json_t *job_row(const struct fake *f, double t_s)
{
    int slow_rank = f->slow_node * f->ranks_per_node + 3, nodes = f->ranks / f->ranks_per_node;
    char name[32];
    json_t *job =
        json_pack("{s:i, s:i, s:s, s:s, s:s, s:s, s:s, s:s}", "job", 4711, "step", 0, "id", JOB_ID, "name",
                  "train-lm", "user", "alice", "partition", "gpu", "policy", "balanced", "state", "running");

    json_object_set_new(job, "start", json_real(START_AT));
    json_object_set_new(job, "elapsed_s", json_real(3723 + floor(t_s)));
    json_object_set_new(job, "age_s", json_real(0.1));
    json_object_set_new(job, "ranks", json_integer(f->ranks));
    json_object_set_new(job, "nodes", json_integer(nodes));
    json_object_set_new(job, "nodes_total", json_integer(nodes));
    json_object_set_new(job, "steps", json_integer((json_int_t)((3723 + t_s) / STEP_S)));
    json_object_set_new(job, "period", json_integer(7));
    put_times(job, f, t_s);
    json_object_set_new(job, "regime", json_string(slow(f, t_s) ? "synchronisation" : "compute"));
    json_object_set_new(job, "trend", json_string(slow(f, t_s) ? "rising" : "steady"));
    json_object_set_new(job, "judged", json_string("yes"));
    json_object_set_new(job, "mds_ratio", json_real(0.021));
    json_object_set_new(job, "limits", json_pack("{s:f, s:f}", "work", 0.021, "transfers", 0.15));
    json_object_set_new(job, "verdicts", verdicts(f, t_s));
    json_object_set_new(job, "sentence", sentence(f, t_s));
    json_object_set_new(job, "worst",
                        json_pack("{s:i, s:s, s:f, s:f}", "rank", slow(f, t_s) ? slow_rank : 17, "node",
                                  node_name(name, slow(f, t_s) ? f->slow_node : 17 / f->ranks_per_node),
                                  "lateness_s", lateness(f, slow_rank, t_s), "last_ratio",
                                  slow(f, t_s) ? 0.31 : 0.04));
    return job;
}

/* What holds up a job that hangs; process: with its process, if that is known. */
static json_t *hung_sentence(double t_s, const char *process, const char *does)
{
    char text[300];

    snprintf(text, sizeof(text),
             "rank 9%s on node11 is %s, after allreduce 127476 of world, for %s, one collective behind; 31 "
             "others wait in allreduce 127477 of world",
             process, does, text_s(41 + t_s).s);
    return json_string(text);
}

static json_t *hung_row(double t_s)
{
    json_t *job =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:s}", "id", HUNG_ID, "name",
                  "namd-équilibre", "user", "bob", "partition", "batch", "policy", "observe", "state",
                  "stalled", "ranks", 32, "nodes", 4, "nodes_total", 4, "steps", 18211, "regime", "stalled");

    json_object_set_new(
        job, "switches",
        json_pack("{s:i, s:i, s:i, s:[]}", "total", 0, "nodes", 4, "unknown_nodes", 4, "list"));
    json_object_set_new(job, "unconfirmed", json_string("Slurm has no job of this number and user"));
    json_object_set_new(job, "elapsed_s", json_real(90211));
    json_object_set_new(job, "age_s", json_real(0.2));
    json_object_set_new(job, "verdicts",
                        json_pack("[{s:s, s:s, s:[s], s:n, s:f, s:b, s:o, s:s}]", "class", "hang", "scope",
                                  "rank", "culprits", "r9", "slowdown", "since_s", 41 + t_s, "standing", 1,
                                  "text", hung_sentence(t_s, "", "between calls"), "next",
                                  "sgctl doctor --cluster"));
    json_object_set_new(job, "sentence", hung_sentence(t_s, "", "between calls"));
    json_object_set_new(
        job, "worst",
        json_pack("{s:i, s:s, s:n, s:n}", "rank", 9, "node", "node11", "lateness_s", "last_ratio"));
    return job;
}

/* Rank 9 is stopped, rank 17 is on a node that has gone silent, the others wait for rank 9. */
static json_t *stood_rank(int rank, double t_s)
{
    json_t *row = json_pack("{s:i, s:s, s:s, s:i, s:s, s:n, s:n}", "rank", rank, "node",
                            rank < 16 ? "node11" : "node12", "switch", "leaf2", "pid", 271819 + rank, "state",
                            rank == 9    ? "stopped"
                            : rank == 17 ? "unknown"
                                         : "running",
                            "lateness_s", "inside");

    if (rank == 9) {
        json_object_set_new(row, "state_s", json_real(41 + t_s));
        json_object_set_new(row, "outside_s", json_real(42 + t_s));
    } else if (rank != 17) {
        json_object_set_new(row, "inside",
                            json_pack("{s:s, s:s, s:i, s:f}", "op", "allreduce", "comm", "world", "seq",
                                      127477, "age_s", 40.0 + t_s));
    }
    return row;
}

static json_t *stood_job(double t_s)
{
    json_t *job = hung_row(t_s), *rows = json_array();

    json_object_set_new(job, "id", json_string(STOOD_ID));
    json_object_set_new(job, "start", json_real(START_AT - 90211));
    json_object_set_new(job, "left_s", json_real(40000 - t_s));
    json_object_set_new(json_array_get(json_object_get(job, "verdicts"), 0), "process",
                        json_pack("{s:i, s:s, s:i}", "rank", 9, "node", "node11", "pid", 271828));
    json_object_set_new(job, "sentence",
                        hung_sentence(t_s, " (pid 271828)", "stopped (SIGSTOP) between calls"));
    json_object_set_new(json_array_get(json_object_get(job, "verdicts"), 0), "text",
                        json_incref(json_object_get(job, "sentence")));
    json_array_append_new(rows, stood_rank(9, t_s));
    for (int rank = 0; rank < 32; rank++)
        if (rank != 9)
            json_array_append_new(rows, stood_rank(rank, t_s));
    json_object_set_new(job, "rank_table", rows);
    json_object_set_new(job, "rank_table_total", json_integer(32));
    return job;
}

static json_t *quiet_row(int i)
{
    static const char *const names[] = { "cfd-wing", "lammps-melt", "prepare \033[31mdata",
                                         "語言模型-large" };
    static const char *const states[] = { "running", "starting", "finished", "running" };
    static const char *const regimes[] = { "communication", "starting", "compute", "compute" };
    char id[32];
    json_t *job;

    snprintf(id, sizeof(id), "%d.0", 4690 + i);
    job = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:[], s:s}", "id", id, "name", names[i % 4],
                    "user", i % 2 ? "carol" : "a-rather-long-user-name", "partition", "batch", "policy",
                    "balanced", "state", states[i % 4], "regime", regimes[i % 4], "ranks", 16 << i % 4,
                    "verdicts", "sentence", "All ranks keep step.");
    json_object_set_new(job, "elapsed_s", json_real(600.0 * (i + 1)));
    json_object_set_new(job, "judged", json_string(i % 4 == 1 ? "no" : "yes"));
    if (i % 4 == 1)
        return job;
    if (i % 4 != 2)
        json_object_set_new(job, "trend", json_string(i % 4 ? "falling" : "steady"));
    json_object_set_new(job, "age_s", json_real(i % 4 == 3 ? 37 : i % 4 == 2 ? 185 : 0.1));
    json_object_set_new(job, "step_s", json_pack("{s:f}", "p50", 1.25 * (i + 1)));
    json_object_set_new(job, "steps_per_s", json_real(0.8 / (i + 1)));
    json_object_set_new(job, "skew_s", json_pack("{s:f}", "p50", 0.0000421 * (i + 1)));
    json_object_set_new(job, "synchronisation_ratio", json_real(0.013 * (i + 1)));
    json_object_set_new(job, "worst", json_pack("{s:i, s:s}", "rank", 3, "node", "node07"));
    return job;
}

static json_t *jobs(const struct fake *f, const json_t *q, double t_s)
{
    json_t *rows = json_array();

    json_array_append_new(rows, job_row(f, t_s));
    if (f->jobs)
        json_array_append_new(rows, hung_row(t_s));
    for (int i = 0; i < f->jobs; i++)
        if (i % 4 != 2 || json_is_true(json_object_get(q, "finished")))
            json_array_append_new(rows, quiet_row(i));
    return json_pack("{s:f, s:o}", "now", START_AT + t_s, "jobs", rows);
}

/* ---- one job ---- */

static json_t *efficiency(double balance, double serialisation, double transfer)
{
    return json_pack("{s:f, s:f, s:f, s:f}", "parallel", balance * serialisation * transfer, "load_balance",
                     balance, "serialisation", serialisation, "transfer", transfer);
}

static json_t *critical_path(const struct fake *f, double t_s)
{
    json_t *ranks = json_array(), *moves = json_array();
    char name[32];
    int first = slow(f, t_s) ? f->slow_node * f->ranks_per_node : 16;

    for (int i = 0; i < 4; i++) {
        static const double last[] = { 0.58, 0.11, 0.07, 0.03 };
        int rank = first + (3 + i) % f->ranks_per_node;

        json_array_append_new(ranks, json_pack("{s:i, s:s, s:f, s:f}", "rank", rank, "node",
                                               node_name(name, rank / f->ranks_per_node), "last_ratio",
                                               slow(f, t_s) ? last[i] : 0.04, "delay_s",
                                               slow(f, t_s) ? EXTRA_S * last[i] : 0.0001));
    }
    if (slow(f, t_s))
        json_array_append_new(moves, json_pack("{s:s, s:s, s:f, s:i}", "from", "node01", "to",
                                               node_name(name, f->slow_node), "age_s", t_s - f->slow_at_s,
                                               "step", 412));
    json_array_append_new(
        moves, json_pack("{s:n, s:s, s:f, s:i}", "from", "to", "node01", "age_s", t_s - 2, "step", 17));
    return json_pack("{s:f, s:o, s:o}", "concentration", slow(f, t_s) ? 0.58 : 0.04, "ranks", ranks, "moves",
                     moves);
}

static json_t *projection(const struct fake *f, double t_s)
{
    if (!slow(f, t_s))
        return json_pack("{s:f, s:s, s:n, s:f, s:n, s:b, s:s}", "synchronisation_ratio", 0.021, "trend",
                         "none", "per_hour", "limit", 0.3, "reach_s", "warning", 0, "text", "no trend");
    return json_pack("{s:f, s:s, s:f, s:f, s:{s:f, s:f, s:f}, s:b, s:s}", "synchronisation_ratio", 0.196,
                     "trend", "rising", "per_hour", 0.15, "limit", 0.3, "reach_s", "p10", 1500.0, "p50",
                     2400.0, "p90", 4200.0, "warning", t_s >= MANY_AT_S, "text",
                     "synchronisation in about 40 min (25 to 70)");
}

static json_t *scaling_point(double factor, double step_s, double spread, double wait_share,
                             double transfer_share, const char *regime)
{
    double rate = factor * STEP_S / step_s, tail = 1.07 + 0.05 * log2(factor);
    json_t *point;

    point = json_pack("{s:f, s:f, s:{s:f, s:f, s:f}, s:{s:f, s:f, s:f}, s:f, s:{s:f, s:f, s:f}, s:s, s:f}",
                      "ranks", 64 * factor, "factor", factor, "step_s", "p5", step_s * (1 - spread), "p50",
                      step_s, "p95", step_s * (1 + spread), "throughput_ratio", "p5", rate / (1 + spread),
                      "p50", rate, "p95", rate / (1 - spread), "ideal_ratio", factor, "shares", "compute",
                      1 - wait_share - transfer_share, "communication", transfer_share, "synchronisation",
                      wait_share, "regime", regime, "regime_share", 0.9);
    json_object_set_new(point, "step_p99_ratio",
                        json_pack("{s:f, s:f, s:f}", "p5", tail - spread, "p50", tail, "p95", tail + spread));
    return point;
}

static json_t *scaling(void)
{
    json_t *points = json_array(), *links = json_array(), *segments = json_array();

    json_array_append_new(points, scaling_point(1, STEP_S, 0, 0.06, 0.11, "compute"));
    json_array_append_new(points, scaling_point(2, 1.07 * STEP_S, 0.03, 0.09, 0.12, "compute"));
    json_array_append_new(points, scaling_point(4, 1.19 * STEP_S, 0.06, 0.16, 0.13, "synchronisation"));
    json_array_append_new(points, scaling_point(8, 1.40 * STEP_S, 0.10, 0.24, 0.14, "synchronisation"));
    json_array_append_new(points, scaling_point(16, 2.45 * STEP_S, 0.20, 0.20, 0.45, "communication"));
    json_array_append_new(segments,
                          json_pack("{s:f, s:f, s:{s:f}, s:{s:f}}", "from_bytes", 65536.0, "to_bytes",
                                    104857600.0, "fixed_s", "value", 310e-6, "s_per_byte", "value", 8e-11));
    json_array_append_new(links,
                          json_pack("{s:s, s:i, s:o}", "op", "allreduce", "ranks", 64, "segments", segments));
    return json_pack("{s:s, s:i, s:f, s:s, s:o, s:{s:f, s:s, s:i}, s:o, s:[s, s]}", "mode", "weak", "ranks",
                     64, "step_s", STEP_S, "text",
                     "synchronisation overtakes communication at about 190 ranks (2.97 times as many)",
                     "points", points, "noise", "cv", 0.041, "shape", "lognormal", "steps", 256, "links",
                     links, "assumes", "each rank has the same work as now (weak scaling)",
                     "messages have the same size, and further ranks are like the present ones");
}

static json_t *way(const char *name, double ratio, double spread, bool per_sample, const char *reason,
                   const char *assumes)
{
    return json_pack("{s:s, s:{s:f}, s:{s:f, s:f, s:f}, s:o, s:b, s:s, s:s?}", "strategy", name, "step_s",
                     "p50", STEP_S / ratio, "throughput_ratio", "p5", ratio - spread, "p50", ratio, "p95",
                     ratio + spread, "iterations_ratio", per_sample ? json_null() : json_real(1),
                     "per_sample", per_sample, "reason", reason, "assumes", assumes);
}

static json_t *ways(void)
{
    json_t *list = json_array();

    json_array_append_new(
        list, way("replace node node05, the slowest", 1.24, 0.03, false,
                  "the other ranks no longer wait for it: waiting 3.1 % of a step instead of 21.0 %",
                  "the replacement is as fast as the others"));
    json_array_append_new(list, way("synchronous, ring", 1.01, 0.04, false,
                                    "a ring sends the fewest bytes: hardly any difference", NULL));
    json_array_append_new(list, way("as it is", 1, 0, false, "measured", NULL));
    json_array_append_new(
        list, way("synchronous, tree", 0.81, 0.09, false,
                  "a tree has few hops, but sends the whole vector at each: exchange 34 % of a step "
                  "instead of 11 %",
                  NULL));
    json_array_append_new(list,
                          way("bounded staleness 2", 1.31, 0.02, true,
                              "a rank may be 2 steps ahead: waiting 14 % of a step instead of 21 %, exchange "
                              "0.0 % of a step instead of 11.0 %",
                              "the exchange goes on beside the work"));
    return json_pack("{s:o, s:[s]}", "strategies", list, "assumes",
                     "the ranks' work continues as in the latest steps");
}

static json_t *guarded_ratio(double value, double spread, const char *reference)
{
    return json_pack("{s:f, s:f, s:f, s:s}", "value", value, "low", value - spread, "high", value + spread,
                     "reference", reference);
}

static json_t *guarded(void)
{
    return json_pack(
        "{s:s, s:s, s:{s:o, s:o, s:{s:f, s:n, s:n, s:s}, s:n, s:o, s:n}}", "reference", "hold-out", "text",
        "A step takes 0.93 times what it took in its own hold-out epochs (0.91 to 0.95): the job is "
        "faster.",
        "ratios", "step", guarded_ratio(0.93, 0.02, "hold-out"), "throughput",
        guarded_ratio(1.075, 0.023, "hold-out"), "cv", "value", 0.84, "low", "high", "reference", "runs",
        "synchronisation", "skew", guarded_ratio(0.6, 0.1, "before"), "energy");
}

static json_t *past(void)
{
    return json_pack("{s:i, s:f, s:f, s:f, s:i, s:n, s:n, s:s}", "runs", 7, "step_p50_s", STEP_S,
                     "step_ratio", 1.26, "spread_ratio", 0.03, "reruns", 1, "energy_j_per_step",
                     "energy_ratio", "text",
                     "26 % slower a step than the median of 7 similar runs, which differ by 3 %");
}

struct row {
    int rank;
    double lateness_s, last_ratio, compute_s;
};

static char sort_key; /* qsort has no argument */

static int compare_rows(const void *pa, const void *pb)
{
    const struct row *a = pa, *b = pb;
    double x = 0, y = 0;

    if (sort_key == 'l')
        x = a->lateness_s, y = b->lateness_s;
    else if (sort_key == 'a')
        x = a->last_ratio, y = b->last_ratio;
    else if (sort_key == 'c')
        x = a->compute_s, y = b->compute_s;
    return x != y ? (x < y) - (x > y) : a->rank - b->rank;
}

static double last_ratio(const struct fake *f, int rank, double t_s)
{
    if (!slow(f, t_s))
        return 2 * noise((uint64_t)rank, 4) / f->ranks;
    if (rank / f->ranks_per_node != f->slow_node)
        return 0.1 * noise((uint64_t)rank, 4) / f->ranks;
    return rank % f->ranks_per_node == 3 ? 0.58 : 0.4 / f->ranks_per_node * noise((uint64_t)rank, 5);
}

static size_t fill_rows(const struct fake *f, const json_t *view, double t_s, struct row *rows)
{
    const char *sort = json_string_value(json_object_get(view, "sort"));
    const char *filter = json_string_value(json_object_get(view, "filter"));
    size_t n = 0;

    for (int rank = 0; rank < f->ranks; rank++) {
        char name[32], label[32];

        snprintf(label, sizeof(label), "r%d", rank);
        node_name(name, rank / f->ranks_per_node);
        if (filter && !strstr(name, filter) && !strstr(label, filter))
            continue;
        rows[n++] =
            (struct row){ rank, lateness(f, rank, floor(t_s / COLUMN_S / 8) * COLUMN_S * 8),
                          last_ratio(f, rank, t_s),
                          WORK_S + 0.0002 * noise((uint64_t)rank, 6) +
                              (rank / f->ranks_per_node == f->slow_node && slow(f, t_s) ? EXTRA_S : 0) };
    }
    sort_key = !sort || !strcmp(sort, "lateness") ? 'l' : !strcmp(sort, "last") ? 'a' : sort[0];
    qsort(rows, n, sizeof(*rows), compare_rows);
    return n;
}

static json_t *rank_row(const struct fake *f, const struct row *r, double t_s)
{
    char node[32], leaf[32];
    int n = r->rank / f->ranks_per_node;
    bool late = n == f->slow_node && slow(f, t_s);
    json_t *row =
        json_pack("{s:i, s:s, s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:f}", "rank", r->rank, "node",
                  node_name(node, n), "switch", switch_name(leaf, n), "state", "running", "lateness_s",
                  r->lateness_s, "lateness_p95_s", r->lateness_s * 1.4, "last_ratio", r->last_ratio,
                  "compute_s", r->compute_s, "stay_s", STEP_S * 0.2, "slowdown", late ? LONGER : 1.0);

    json_object_set_new(row, "lateness_p50_s", json_real(r->lateness_s * 0.9));
    json_object_set_new(row, "lateness_p99_s", json_real(r->lateness_s * 1.8));
    json_object_set_new(row, "wait_s", json_real(late ? 0.0004 : EXTRA_S * 0.8));
    json_object_set_new(row, "delay_s", json_real(late ? EXTRA_S * r->last_ratio : 0));
    json_object_set_new(row, "health",
                        json_pack("{s:f, s:f, s:s, s:b, s:s?}", "run_delay_ratio", late ? 0.21 : 0.002,
                                  "involuntary_per_s", late ? 212.0 : 1.5, "cpus", "0-3,64-67", "shared_cpu",
                                  late, "cause", late ? "its CPUs are shared with r40" : NULL));
    json_object_set_new(row, "inside",
                        late && r->rank % f->ranks_per_node == 1
                            ? json_pack("{s:s, s:s, s:I, s:f}", "op", "Allreduce", "comm", "WORLD", "seq",
                                        (json_int_t)(t_s / STEP_S * 7), "age_s", 1.0)
                            : json_null());
    return row;
}

static json_t *heat_row(const struct fake *f, int rank, int columns, double t_s)
{
    static const double scale[] = { 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1 };
    char levels[513];
    int i;

    for (i = 0; i < columns && i < 512; i++) {
        double at = t_s - (columns - 1 - i) * COLUMN_S, late;
        int level = 0;

        late = at < 0 ? 0 : lateness(f, rank, at) / step_s(f, at);
        while (level < 8 && late >= scale[level])
            level++;
        levels[i] = at < 0 ? '.' : (char)('0' + level);
    }
    levels[i] = '\0';
    return json_pack("{s:i, s:s}", "rank", rank, "levels", levels);
}

static json_t *history(const struct fake *f, int columns, double t_s)
{
    json_t *step = json_array(), *rate = json_array(), *skew = json_array(), *lost = json_array();

    for (int i = 0; i < columns; i++) {
        double at = t_s - (columns - 1 - i) * COLUMN_S;
        double s = at < 0 ? NAN : step_s(f, at);

        json_array_append_new(step, number(s));
        json_array_append_new(rate, number(1 / s));
        json_array_append_new(skew, number(at < 0 ? NAN
                                                  : (slow(f, at) ? EXTRA_S : 0.0009) *
                                                        (1 + 0.1 * noise(9, (uint64_t)(at / COLUMN_S)))));
        json_array_append_new(lost, number(at < 0 ? NAN : slow(f, at) ? 0.196 : 0.021));
    }
    return json_pack("{s:f, s:o, s:o, s:o, s:o}", "column_s", COLUMN_S, "step_s", step, "steps_per_s", rate,
                     "skew_s", skew, "synchronisation_ratio", lost);
}

static void put_ranks(json_t *job, const struct fake *f, const json_t *view, double t_s)
{
    struct row *rows = xcalloc((size_t)f->ranks, sizeof(*rows));
    size_t n = fill_rows(f, view, t_s, rows), offset = 0, count = n;
    int columns = view ? (int)json_integer_value(json_object_get(view, "columns")) : 60;
    json_t *table = json_array(), *heat = json_array();

    if (view) {
        offset = (size_t)json_integer_value(json_object_get(view, "offset"));
        count = (size_t)json_integer_value(json_object_get(view, "count"));
    }
    for (size_t i = offset; i < n && i < offset + count; i++) {
        json_array_append_new(table, rank_row(f, &rows[i], t_s));
        json_array_append_new(heat, heat_row(f, rows[i].rank, columns, t_s));
    }
    free(rows);
    json_object_set_new(job, "rank_table", table);
    json_object_set_new(job, "rank_table_total", json_integer((json_int_t)n));
    json_object_set_new(job, "heat",
                        json_pack("{s:f, s:i, s:[f,f,f,f,f,f,f,f], s:o}", "column_s", COLUMN_S, "columns",
                                  columns, "scale", 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, "rows",
                                  heat));
    json_object_set_new(job, "history", history(f, columns, t_s));
}

/* Of node05 with a CPU and a GPU held down, of node02 with too little memory. */
static json_t *health(int node)
{
    json_t *gpus = json_array();

    for (int i = 0; i < 2; i++) {
        bool held = node == 5 && i;

        json_array_append_new(gpus,
                              json_pack("{s:i, s:f, s:f, s:f, s:f, s:i, s:s?}", "index", i, "clock_ratio",
                                        held ? 0.71 : 0.99, "clock_max_mhz", held ? 1980.0 : -1,
                                        "temperature_c", 64.0 + node, "power_w", 301.0, "uncorrected_errors",
                                        held ? 2 : 0, "throttle", held ? "thermal" : NULL));
    }
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:o}", "run_queue", 8.5,
                     "involuntary_per_s", 11.0, "steal_ratio", 0.001, "frequency_ratio",
                     node == 5 ? 0.54 : 0.93, "throttled_per_s", 0.0, "memory_pressure_ratio",
                     node == 2 ? 0.08 : 0.0, "io_pressure_ratio", 0.004, "retransmits_per_s", 0.5,
                     "nic_errors_per_s", 0.0, "gpus", gpus);
}

static json_t *agent(int node, double t_s)
{
    char name[32];
    json_t *o;

    o = json_pack("{s:s, s:b, s:b, s:f, s:i, s:i, s:i, s:f}", "node", node_name(name, node), "connected",
                  node != 13 && node != 14, "ended", node == 13, "cpu_ratio",
                  0.004 + 0.001 * noise((uint64_t)node, (uint64_t)t_s), "rss_bytes", 5 << 20, "backlog_bytes",
                  node == 14 ? 1 << 20 : 0, "lost_batches", 0, "age_s", node == 14 ? 12.0 : 0.1);
    if (node != 14)
        json_object_set_new(o, "health", health(node));
    return o;
}

static json_t *events(const struct fake *f, double t_s)
{
    json_t *a = json_array();

    if (slow(f, t_s)) {
        json_array_append_new(a, json_pack("{s:f, s:s}", "age_s", t_s - f->slow_at_s, "text",
                                           "straggler: node05 holds the others back (x1.26)"));
        json_array_append_new(a, json_pack("{s:f, s:s}", "age_s", t_s - f->slow_at_s, "text",
                                           "regime compute -> synchronisation"));
    }
    json_array_append_new(a,
                          json_pack("{s:f, s:s}", "age_s", 3700 + t_s, "text", "regime starting -> compute"));
    json_array_append_new(a, json_pack("{s:f, s:s}", "age_s", 3723 + t_s, "text", "all agents are heard"));
    return a;
}

static json_t *overlap_group(const char *label, int ranks, double waiting_s, double exposed_s, double won_s)
{
    return json_pack("{s:s,s:i,s:i,s:f,s:f,s:f,s:f,s:f}", "label", label, "ranks", ranks, "instances", 1,
                     "calls", 3.0, "nonblocking_ratio", 0.5, "waiting_s", waiting_s, "exposed_s", exposed_s,
                     "most_won_s", won_s);
}

static json_t *overlap(const struct fake *f)
{
    json_t *world = overlap_group("WORLD", f->ranks, 0.0081, 0.0012, 0.0011),
           *messages = overlap_group("messages", f->ranks - 2, 0.0001, 0.00011, 0);

    json_object_set_new(world, "hidden_s",
                        json_pack("{s:f,s:f,s:f}", "value", 0.0042, "low", 0.0039, "high", 0.0046));
    json_object_set_new(messages, "hidden_s",
                        json_pack("{s:n,s:f,s:f}", "value", "low", 0.0, "high", 0.0003));
    return json_pack(
        "{s:s,s:i,s:f,s:[o,o]}", "text",
        "in the newest 32 steps transfers hold a rank for 1.31 ms a step (2.63 %) and run beside "
        "its work for 4.20 ms; with all of them hidden a step would be at most 1.10 ms shorter "
        "(2.21 %)",
        "steps", 32, "step_s", 0.0498, "groups", world, messages);
}

/* A node that a verdict names. */
static json_t *named(const struct fake *f, int node, const char *class, const char *scope,
                     const char *culprit, double slowdown)
{
    char name[32];

    return json_pack("{s:s, s:s, s:s, s:s, s:i, s:f, s:f}", "node", node_name(name, node), "class", class,
                     "scope", scope, "culprit", culprit, "ranks", f->ranks_per_node, "slowdown", slowdown,
                     "wait_s", 0.0004);
}

static json_t *a_switch(const struct fake *f, int depth, const char *name, int nodes, int worst_rank,
                        double worst, json_t *list)
{
    char node[32];

    return json_pack("{s:s, s:n, s:i, s:i, s:i, s:i, s:f, s:f, s:f, s:i, s:s, s:o}", "switch", name, "class",
                     "depth", depth, "slow_routes", 0, "nodes", nodes, "ranks", nodes * f->ranks_per_node,
                     "slowdown", 1 + (worst - 1) / nodes, "wait_s", EXTRA_S * 0.6, "worst_slowdown", worst,
                     "worst_rank", worst_rank, "worst_node", node_name(node, worst_rank / f->ranks_per_node),
                     "named", list);
}

/* Of a larger job than the rest of the answer: leaves of four nodes, then quiet ones of 32, one with a
 * hostile name. */
static json_t *switches(const struct fake *f, double t_s)
{
    json_t *list = json_array(), *leaf0 = json_array(), *leaf1 = json_array(), *item;
    bool many = t_s >= MANY_AT_S, late = slow(f, t_s);
    char name[32], other[32];

    node_name(other, 7);
    if (late)
        json_array_append_new(
            leaf1, named(f, f->slow_node, "straggler", "node", node_name(name, f->slow_node), LONGER));
    if (many) {
        json_array_append_new(leaf1, named(f, 7, "communication", "link", node_name(name, 2), 1.0));
        json_array_append_new(leaf0, named(f, 2, "communication", "link", other, 1.0));
        json_array_append_new(leaf0, named(f, 2, "drift", "rank", "r17", 1.04));
    }
    json_array_append_new(list, a_switch(f, 0, "core", 1000, 43, late ? LONGER : 1.02, json_array()));
    json_array_append_new(list, a_switch(f, 1, "spine0", 8, 43, late ? LONGER : 1.02, json_array()));
    json_array_append_new(list, a_switch(f, 2, "leaf1", 4, 43, late ? LONGER : 1.01, leaf1));
    json_array_append_new(list, a_switch(f, 2, "leaf0", 4, 17, many ? 1.04 : 1.02, leaf0));
    for (size_t i = 2; many && i < 4; i++)
        json_object_set_new(json_array_get(list, i), "slow_routes", json_integer(1));
    for (int i = 2; i < 33; i++) {
        if (i == 2 || i == 18) {
            snprintf(name, sizeof(name), "spine%d", i == 2 ? 1 : 2);
            json_array_append_new(list,
                                  a_switch(f, 1, name, i == 2 ? 512 : 480, i * 256 + 5, 1.02, json_array()));
        }
        snprintf(name, sizeof(name), i == 4 ? "leaf%d\033[31m" : "leaf%d", i);
        item = a_switch(f, 2, name, 32, i * 256 + 5, 1.02, json_array());
        if (many && i == 2)
            json_object_set_new(item, "class", json_string("straggler"));
        json_array_append_new(list, item);
    }
    return json_pack("{s:i, s:i, s:i, s:i, s:i, s:o}", "total", 37, "eventful", late + 2 * many, "nodes",
                     1003, "unknown_nodes", 3 * many, "ranks", 8024, "list", list);
}

static json_t *job(const struct fake *f, const json_t *q, double t_s)
{
    const char *id = json_string_value(json_object_get(q, "job"));
    json_t *o, *agents;
    unsigned rows;

    if (!id || (strcmp(id, JOB_ID) && strcmp(id, "4711"))) {
        if (id && !strcmp(id, HUNG_ID))
            return hung_row(t_s);
        if (id && !strcmp(id, STOOD_ID))
            return stood_job(t_s);
        return json_pack("{s:s}", "error", "no guarded job has this id");
    }
    o = job_row(f, t_s);
    agents = json_array();
    json_object_set_new(o, "probe",
                        json_pack("{s:I, s:i, s:i, s:i, s:i, s:f}", "events",
                                  (json_int_t)(t_s / STEP_S * 7 * f->ranks), "dropped", 0, "missed", 0,
                                  "ranks_guarded", f->ranks, "ranks_total", f->ranks, "overhead_ratio",
                                  0.0004));
    for (int i = 0; i < f->ranks / f->ranks_per_node; i++)
        json_array_append_new(agents, agent(i, t_s));
    json_object_set_new(o, "agents", agents);
    json_object_set_new(o, "communicators",
                        json_pack("[{s:s,s:s,s:i,s:i,s:f,s:f,s:f,s:f},{s:s,s:s,s:i,s:i,s:f,s:f,s:f,s:f}]",
                                  "name", "9f3a21c04417beef", "label", "WORLD", "size", f->ranks, "instances",
                                  1, "collectives_per_s", 7 / step_s(f, t_s), "bytes_per_s", 4.1e8, "skew_s",
                                  slow(f, t_s) ? EXTRA_S : 0.0009, "transfer_s", 0.00042, "name",
                                  "11aa21c04417beef", "label", "inner group of 8", "size", 8, "instances",
                                  f->ranks / 8, "collectives_per_s", 2 / step_s(f, t_s), "bytes_per_s", 2.2e6,
                                  "skew_s", 0.00031, "transfer_s", 0.000061));
    json_object_set_new(json_array_get(json_object_get(o, "communicators"), 0), "efficiency",
                        efficiency(slow(f, t_s) ? 0.79 : 0.97, 0.99, 0.98));
    json_object_set_new(json_array_get(json_object_get(o, "communicators"), 1), "efficiency",
                        efficiency(0.96, 0.99, 0.995));
    json_object_set_new(o, "efficiency", efficiency(slow(f, t_s) ? 0.81 : 0.97, 0.985, 0.98));
    json_object_set_new(o, "overlap", overlap(f));
    json_object_set_new(o, "critical_path", critical_path(f, t_s));
    json_object_set_new(o, "projection", projection(f, t_s));
    json_object_set_new(o, "scaling", scaling());
    json_object_set_new(o, "strategies", ways());
    json_object_set_new(o, "guarded", guarded());
    json_object_set_new(o, "past", slow(f, t_s) ? past() : json_null());
    json_object_set_new(o, "timeline", timeline(f, t_s));
    json_object_set_new(o, "events", events(f, t_s));
    json_object_set_new(o, "notes", json_pack("[s]", "node03: /dev/shm is 91 % full"));
    rows = (unsigned)json_integer_value(json_object_get(json_object_get(q, "view"), "picture"));
    if (rows)
        json_object_set_new(o, "picture", fake_step(rows));
    if (json_integer_value(json_object_get(json_object_get(q, "view"), "switches")) > 0)
        json_object_set_new(o, "switches", switches(f, t_s));
    fake_put_control(o);
    put_ranks(o, f, json_object_get(q, "view"), t_s);
    return o;
}

/* ---- nodes, status ---- */

static json_t *nodes(const struct fake *f, double t_s)
{
    json_t *rows = json_array();
    int n = f->ranks / f->ranks_per_node;

    for (int i = 0; i < n + 8; i++) {
        bool late = i == f->slow_node && slow(f, t_s);
        char name[32], leaf[32];
        json_t *row = json_pack("{s:s, s:s, s:[s], s:i, s:f, s:f, s:i}", "node", node_name(name, i), "switch",
                                switch_name(leaf, i), "jobs", i < n ? JOB_ID : HUNG_ID, "ranks",
                                f->ranks_per_node, "lateness_s", lateness(f, i * f->ranks_per_node, t_s),
                                "slowdown", late ? LONGER : 1.0, "culprit_count", late ? 3 : i % 5 == 2);

        json_object_set_new(row, "verdict", late ? json_string("straggler") : json_null());
        json_object_set_new(row, "last_culprit", late ? json_real(START_AT + f->slow_at_s) : json_null());
        json_object_set_new(row, "agent", agent(i, t_s));
        json_object_set_new(row, "lemon_score",
                            i == 3 ? json_null() : json_real(late ? 0.97 : 0.01 * (i % 5)));
        json_object_set_new(row, "culprit_jobs", json_integer(late ? 3 : i % 5 == 2));
        json_object_set_new(row, "seen_jobs", json_integer(12));
        json_array_append_new(rows, row);
    }
    return json_pack("{s:o}", "nodes", rows);
}

static json_t *status(const struct fake *f, double t_s)
{
    return json_pack("{s:s, s:s, s:f, s:i, s:i, s:i, s:f, s:i}", "version", "0.1.0", "host", "ctl01",
                     "uptime_s", 86400 * 3.0 + floor(t_s), "jobs", f->jobs + (f->jobs ? 2 : 1), "agents",
                     f->ranks / f->ranks_per_node, "ranks", f->ranks + 32, "cpu_ratio", 0.012, "rss_bytes",
                     21 << 20);
}

json_t *fake_answer(const struct fake *f, const json_t *question, double t_s)
{
    const char *query = json_string_value(json_object_get(question, "query"));

    if (!query)
        return json_pack("{s:s}", "error", "a question has a query");
    if (!strcmp(query, "jobs"))
        return jobs(f, question, t_s);
    if (!strcmp(query, "job"))
        return job(f, question, t_s);
    if (!strcmp(query, "nodes"))
        return nodes(f, t_s);
    if (!strcmp(query, "status"))
        return status(f, t_s);
    if (!strcmp(query, "control") || !strcmp(query, "action"))
        return fake_act(question);
    return json_pack("{s:s}", "error", "unknown query");
}
