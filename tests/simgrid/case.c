/* One case for the comparison with SimGrid: steps of compute and an all-reduce on a fat tree.
 *
 *   case write DIR CASE...                  the case for smpirun: platform.xml, hosts, trace
 *   case auto|rounds|exact|sampled CASE...  runs it; prints the simulated seconds, and what was done
 *
 * CASE: topo_parameters of SimGrid's FAT_TREE, algorithm, bytes, steps, mean compute seconds, their spread
 * (the standard deviation over the mean), seed, "ordered" or "shuffled" ranks. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "network/network.h"

#define LATENCY_S   2e-6
#define BYTES_PER_S 10e9
#define FLOPS       1e9

struct scene {
    struct fabric_shape shape;
    enum schedule_algorithm algorithm;
    double bytes, compute_s, spread;
    uint32_t steps, ranks;
    uint64_t random;
    uint32_t *node; /* of each rank */
    const char *topology;
};

/* Knuth's MMIX generator, its upper bits. */
static double uniform(struct scene *c)
{
    c->random = c->random * 6364136223846793005u + 1442695040888963407u;
    return ((double)(c->random >> 11) + 0.5) * 0x1p-53;
}

static double normal(struct scene *c)
{
    double r = sqrt(-2 * log(uniform(c)));

    return r * cos(2 * M_PI * uniform(c));
}

static double compute_s(struct scene *c)
{
    double sigma2 = log(1 + c->spread * c->spread);

    return c->spread > 0 ? c->compute_s * exp(sqrt(sigma2) * normal(c) - sigma2 / 2) : c->compute_s;
}

/* "2;8,8;1,4;1,1": levels; children; parents; cables, always 1. */
static int parse_topology(struct fabric_shape *s, const char *text)
{
    struct fabric_level *l = s->level;
    unsigned n = 0;
    int end = 0;

    switch (*text) {
    case '1':
        n = sscanf(text, "1;%u;%u;1%n", &l[0].children, &l[0].parents, &end) == 2;
        break;
    case '2':
        n = sscanf(text, "2;%u,%u;%u,%u;1,1%n", &l[0].children, &l[1].children, &l[0].parents, &l[1].parents,
                   &end) == 4;
        break;
    case '3':
        n = sscanf(text, "3;%u,%u,%u;%u,%u,%u;1,1,1%n", &l[0].children, &l[1].children, &l[2].children,
                   &l[0].parents, &l[1].parents, &l[2].parents, &end) == 6;
        break;
    }
    if (!n || !end || text[end])
        return -1;
    s->levels = (uint32_t)(*text - '0');
    s->nodes = s->ranks_per_node = s->rails = 1;
    for (uint32_t i = 0; i < s->levels; i++) {
        s->nodes *= l[i].children;
        l[i].latency_s = LATENCY_S;
        l[i].bytes_per_s = BYTES_PER_S;
    }
    return 0;
}

static int parse(struct scene *c, char **argv)
{
    c->topology = argv[0];
    while (schedule_algorithms[c->algorithm] && strcmp(schedule_algorithms[c->algorithm], argv[1]))
        c->algorithm++;
    if (parse_topology(&c->shape, argv[0]) < 0 || !schedule_algorithms[c->algorithm])
        return -1;
    c->bytes = atof(argv[2]);
    c->steps = (uint32_t)atoi(argv[3]);
    c->compute_s = atof(argv[4]);
    c->spread = atof(argv[5]);
    c->random = strtoull(argv[6], NULL, 10);
    c->ranks = c->shape.nodes;
    c->node = xcalloc(c->ranks, sizeof(*c->node));
    for (uint32_t i = 0; i < c->ranks; i++)
        c->node[i] = i;
    for (uint32_t i = c->ranks; i > 1 && !strcmp(argv[7], "shuffled"); i--) {
        uint32_t j = (uint32_t)(uniform(c) * i), swap = c->node[i - 1];

        c->node[i - 1] = c->node[j];
        c->node[j] = swap;
    }
    return 0;
}

/* ---- for SimGrid ---- */

static FILE *create(const char *dir, const char *name)
{
    char *path = xasprintf("%s/%s", dir, name);
    FILE *f = fopen(path, "w");

    if (!f)
        perror(path);
    free(path);
    return f;
}

static void write_platform(const struct scene *c, FILE *f)
{
    fprintf(f,
            "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
            "<platform version=\"4.1\"><zone id=\"world\" routing=\"Full\">\n"
            "<cluster id=\"c\" prefix=\"n\" suffix=\"\" radical=\"0-%u\" speed=\"%.0ff\" bw=\"%.0fBps\" "
            "lat=\"%.9fs\"\n topology=\"FAT_TREE\" topo_parameters=\"%s\" sharing_policy=\"SPLITDUPLEX\" "
            "loopback_bw=\"100GBps\" loopback_lat=\"0\"/>\n</zone></platform>\n",
            c->ranks - 1, FLOPS, BYTES_PER_S, LATENCY_S, c->topology);
}

static void write_trace(struct scene *c, FILE *f)
{
    for (uint32_t r = 0; r < c->ranks; r++)
        fprintf(f, "%u init\n", r);
    for (uint32_t s = 0; s < c->steps; s++)
        for (uint32_t r = 0; r < c->ranks; r++)
            fprintf(f, "%u compute %.3f\n%u allreduce %.0f 0\n", r, FLOPS * compute_s(c), r, c->bytes);
    for (uint32_t r = 0; r < c->ranks; r++)
        fprintf(f, "%u finalize\n", r);
}

static int write_all(struct scene *c, const char *dir)
{
    FILE *platform = create(dir, "platform.xml"), *hosts = create(dir, "hosts"),
         *trace = create(dir, "trace"), *traces = create(dir, "traces");

    if (!platform || !hosts || !trace || !traces)
        return 1;
    write_platform(c, platform);
    for (uint32_t r = 0; r < c->ranks; r++)
        fprintf(hosts, "n%u\n", c->node[r]);
    write_trace(c, trace);
    fprintf(traces, "%s/trace\n", dir);
    return fclose(platform) || fclose(hosts) || fclose(trace) || fclose(traces);
}

/* ---- ours ---- */

struct job {
    struct scene *scene;
    struct network_collective *collective;
    double *compute_s; /* [step][rank] */
    uint32_t *asked;
    double end_s;
};

static void job_next(void *arg, uint32_t rank, double now_s, struct network_op *op)
{
    struct job *j = arg;
    uint32_t n = j->asked[rank]++;

    j->end_s = now_s;
    if (n == 2 * j->scene->steps)
        op->kind = NETWORK_END;
    else if (n % 2)
        *op = (struct network_op){ .kind = NETWORK_ENTER, .collective = j->collective, .member = rank };
    else
        *op = (struct network_op){ .kind = NETWORK_COMPUTE,
                                   .seconds = j->compute_s[(size_t)(n / 2) * j->scene->ranks + rank] };
}

static double run_steps(const struct job *j, enum network_mode mode, struct network_count *count)
{
    uint32_t ranks = j->scene->ranks;
    double *at = xcalloc(ranks, sizeof(*at)), last = 0;

    for (uint32_t s = 0; s < j->scene->steps; s++) {
        for (uint32_t r = 0; r < ranks; r++)
            at[r] += j->compute_s[(size_t)s * ranks + r];
        network_run(j->collective, mode, at, at, count);
    }
    for (uint32_t r = 0; r < ranks; r++)
        last = fmax(last, at[r]);
    free(at);
    return last;
}

static int run(struct scene *c, enum network_mode mode)
{
    struct schedule_spec spec = { c->algorithm, c->ranks, c->bytes, 0, 0 };
    struct job j = { c, NULL, xcalloc((size_t)c->steps * c->ranks, sizeof(double)), xcalloc(c->ranks, 4), 0 };
    struct network_job job = { c->ranks, job_next, &j };
    struct network_count count = { 0 };
    struct fabric f;
    struct err err;

    for (size_t i = 0; i < (size_t)c->steps * c->ranks; i++)
        j.compute_s[i] = compute_s(c);
    if (fabric_init(&f, &c->shape, &err) < 0)
        goto fail;
    struct network *n = network_new(&f);

    network_weigh_latency(n, true);
    j.collective = network_collective_new(n, &spec, c->node);
    if (mode == NETWORK_EXACT)
        network_play(n, &job, 1, &count);
    else
        j.end_s = run_steps(&j, mode, &count);
    printf("{\"seconds\": %.12g, \"mode\": \"%s\", \"shared\": %s, \"messages\": %llu, \"walked\": %llu, "
           "\"events\": %llu, \"solves\": %llu, \"samples\": %llu}\n",
           j.end_s, network_modes[count.mode], count.shared ? "true" : "false",
           (unsigned long long)count.messages, (unsigned long long)count.walked,
           (unsigned long long)count.events, (unsigned long long)count.solves,
           (unsigned long long)count.samples);
    network_collective_free(j.collective);
    network_free(n);
    free(j.compute_s);
    free(j.asked);
    free(c->node);
    return 0;
fail:
    fprintf(stderr, "%s\n", err.text);
    return 1;
}

int main(int argc, char **argv)
{
    struct scene c = { .shape = { 0 } };
    enum network_mode mode = NETWORK_AUTO;
    bool writes = argc == 11 && !strcmp(argv[1], "write");

    while (mode <= NETWORK_SAMPLED && strcmp(argc > 1 ? argv[1] : "", network_modes[mode]))
        mode++;
    if ((!writes && (mode > NETWORK_SAMPLED || argc != 10)) || parse(&c, argv + (writes ? 3 : 2)) < 0) {
        fprintf(stderr, "usage: case write DIR|auto|rounds|exact|sampled TOPOLOGY ALGORITHM BYTES STEPS "
                        "COMPUTE SPREAD SEED "
                        "ordered|shuffled\n");
        return 2;
    }
    return writes ? write_all(&c, argv[2]) : run(&c, mode);
}
