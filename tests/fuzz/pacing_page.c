/* pacing_page.c - fuzz target: a page of any content in the place of the one that paced ranks share.  The
 * agent reads it, the controller takes what the agent tells, a rank joins. */
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/pacing.h"
#include "job/pacing.h"
#include "pacing/pacer.h"
#include "ring/pacing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[] = "/dev/shm/pacing-fuzz.XXXXXX", path[64];

static void remove_dir(void)
{
    unlink(path);
    rmdir(dir);
}

/* A ratio is unknown or one that can be. */
static void check_lever(const json_t *lever)
{
    static const char *const ratios[] = { "ratio", "low", "high" };

    for (size_t i = 0; i < 3; i++) {
        const json_t *v = json_object_get(lever, ratios[i]);

        if (!v || (!json_is_null(v) && !(json_number_value(v) > 0 && isfinite(json_number_value(v)))))
            abort();
    }
}

static void tell(void)
{
    struct job_agent agent = { .node = "n" }, *agents[] = { &agent };
    /* without a view */
    struct job job = { .params = { .non_finite = CONFIG_IGNORE }, .agent = agents, .n_agents = 1 };
    struct pacing *p = pacing_new(dir);
    json_t *news = pacing_news(p, 1), *lever;
    struct report_pace report;
    size_t i;

    if (news) {
        json_array_foreach(json_object_get(news, "levers"), i, lever)
            check_lever(lever);
        if (i != PACER_LEVERS)
            abort();
        pacing_take(&agent, news);
        pacing_get(&report, &job, SIZE_MAX);
        if (report.n != 1)
            abort();
        json_decref(report_pace_json(&report));
        report_pace_free(&report);
        json_decref(news);
        news = pacing_news(p, 2);
        if (news)
            abort(); /* nothing is new */
    }
    pacing_free(p);
}

static void join(void)
{
    struct pacing_page *page = pacing_join(dir);
    struct pacing_gate *g;

    for (uint64_t key = 1; page && key < 200; key += 33) {
        g = pacing_gate_join(page, key);
        for (uint32_t seq = 0; g && seq < 3; seq++)
            if (!pacing_gate_arrive(g, seq) && key == 1)
                pacing_gate_sleep(g, seq, 0);
    }
    pacing_close(page);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    /* Inputs of even size are filled up to a page: else the fuzzer would have to invent it. */
    off_t bytes = size & 1 ? (off_t)size : (off_t)sizeof(struct pacing_page);

    if (fd < 0) {
        if (!mkdtemp(dir))
            return 0;
        snprintf(path, sizeof(path), "%s/" PACING_FILE, dir);
        fd = open(path, O_RDWR | O_CREAT, 0600);
        atexit(remove_dir);
    }
    if (ftruncate(fd, 0) < 0 || pwrite(fd, data, size, 0) < 0 || ftruncate(fd, bytes) < 0)
        return 0;
    tell();
    join();
    return 0;
}
