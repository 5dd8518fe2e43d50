/* The node's energy, read from an invented powercap folder. */
#include "nodefigures/energy.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/xalloc.h"
#include "tests/tap.h"

static char root[64];

static void write_text(const char *zone, const char *file, const char *text)
{
    char *path = xasprintf("%s/sys/class/powercap/%s/%s", root, zone, file);
    FILE *f = fopen(path, "we");

    if (f) {
        fputs(text, f);
        fclose(f);
    }
    free(path);
}

static void make_zone(const char *zone, const char *name, const char *range, const char *counter)
{
    char *path = xasprintf("%s/sys/class/powercap/%s", root, zone);

    mkdir(path, 0755);
    free(path);
    write_text(zone, "name", name);
    write_text(zone, "max_energy_range_uj", range);
    write_text(zone, "energy_uj", counter);
}

static void begin(void)
{
    static const char *const folders[] = { "/sys", "/sys/class", "/sys/class/powercap" };

    snprintf(root, sizeof(root), "/tmp/energy-test.XXXXXX");
    if (!mkdtemp(root))
        printf("Bail out! cannot create a directory\n");
    for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
        char *path = xasprintf("%s%s", root, folders[i]);

        mkdir(path, 0755);
        free(path);
    }
}

static void end(void)
{
    char *command = xasprintf("rm -r %s", root);

    ok(system(command) == 0, "the test's directory is removed");
    free(command);
}

static void two_packages(void)
{
    struct energy *e;

    begin();
    make_zone("intel-rapl:0", "package-0\n", "1000000000\n", "999000000\n");
    make_zone("intel-rapl:1", "package-1\n", "1000000000\n", "5000000\n");
    make_zone("intel-rapl:0:0", "core\n", "1000000000\n", "77\n");
    make_zone("intel-rapl:0:1", "dram\n", "500000000\n", "0\n");
    make_zone("intel-rapl:2", "psys\n", "1000000000\n", "5\n");
    make_zone("intel-rapl-mmio:0", "package-0\n", "1000000000\n", "1\n");
    e = energy_open(root);
    ok(energy_j(e) == 0, "energy is 0 J after opening");
    write_text("intel-rapl:1", "energy_uj", "7500000\n");
    write_text("intel-rapl:0:1", "energy_uj", "250000\n");
    ok(near(energy_j(e), 2.75, 1e-9), "the 2.5 J of a package and the 0.25 J of its memory are added");
    write_text("intel-rapl:0:0", "energy_uj", "99999999\n");
    write_text("intel-rapl:2", "energy_uj", "99999999\n");
    write_text("intel-rapl-mmio:0", "energy_uj", "99999999\n");
    ok(near(energy_j(e), 2.75, 1e-9), "cores, the platform and the MMIO interface are not counted again");
    write_text("intel-rapl:0", "energy_uj", "500000\n");
    ok(near(energy_j(e), 4.25, 1e-9), "a counter that wraps continues at its range");
    write_text("intel-rapl:1", "energy_uj", "2000000000\n");
    ok(isnan(energy_j(e)), "a counter above its range makes the energy unknown");
    write_text("intel-rapl:1", "energy_uj", "8000000\n");
    ok(isnan(energy_j(e)), "energy that was unknown once stays unknown");
    energy_close(e);
    end();
}

static void unreadable(void)
{
    static const char *const texts[] = { "", "-5\n", "x\n", "12 34\n", "99999999999999999999999\n", " 5\n" };
    struct energy *e;

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        begin();
        make_zone("intel-rapl:0", "package-0\n", "1000000000\n", "100\n");
        make_zone("intel-rapl:1", "package-1\n", "1000000000\n", texts[i]);
        e = energy_open(root);
        ok(isnan(energy_j(e)), "with one of two counters unreadable the energy is unknown (%zu)", i);
        energy_close(e);
        end();
    }
    begin();
    e = energy_open(root);
    ok(isnan(energy_j(e)), "without counters the energy is unknown");
    energy_close(e);
    end();
    e = energy_open("/nonexistent");
    ok(isnan(energy_j(e)), "without powercap the energy is unknown");
    energy_close(e);
    energy_close(NULL);
}

int main(void)
{
    two_packages();
    unreadable();
    return done_testing();
}
