#include "ctl/import.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/text.h"
#include "ctl/output.h"
#include "trace/import.h"

static int read_file(struct import *m, const char *name, struct err *err)
{
    bool standard = !strcmp(name, "-");
    FILE *in = standard ? stdin : fopen(name, "re");
    int rc;

    if (!in)
        return err_set(err, "%s: %s", name, strerror(errno));
    rc = import_read(m, in, standard ? "standard input" : name, err);
    if (!standard)
        fclose(in);
    return rc;
}

/* "1 call" or "N calls", and what is said of them. */
static void say_count(uint64_t n, const char *one, const char *more, const char *what_one,
                      const char *what_more)
{
    fprintf(stderr, "sgctl: %" PRIu64 " %s %s\n", n, n == 1 ? one : more, n == 1 ? what_one : what_more);
}

/* What is missing in the trace: a line each, and none for what is not. */
static void say_left_out(const struct import_figures *f)
{
    const struct calls_figures *c = &f->calls;

    if (c->untimed)
        fprintf(
            stderr,
            "sgctl: the records say how long calls were, and not when: who comes last, and by how much, will "
            "be known; steps and prices will not (the manual says what to record)\n");
    if (c->size > c->ranks && c->ranks > 1)
        fprintf(stderr, "sgctl: the job has %u ranks, of which %u %s no records: give the files of all\n",
                c->size, c->size - c->ranks, c->size - c->ranks == 1 ? "has" : "have");
    if (f->broken)
        fprintf(stderr, "sgctl: %" PRIu64 " broken line%s skipped, the first: %s\n", f->broken,
                text_plural(f->broken), f->broken_first);
    if (f->ungrouped)
        say_count(f->ungrouped, "record of a collective names", "records of collectives name",
                  "no group: it is taken as of all ranks", "no group: they are taken as of all ranks");
    if (f->unclear)
        fprintf(stderr, "sgctl: %" PRIu64 " left out, the first: %s\n", f->unclear, f->why);
    if (c->alone)
        say_count(c->alone, "collective", "collectives",
                  "left out: no other rank of its group is in the files",
                  "left out: no other rank of their group is in the files");
    if (c->silent)
        say_count(c->silent, "of the ranks that others wait for or exchange messages with",
                  "of the ranks that others wait for or exchange messages with", "has no file",
                  "have no file");
    if (f->late)
        say_count(
            f->late, "call ends", "calls end",
            "when the recorder looked, which is after it was over: times of steps and of waiting are only as exact as that",
            "when the recorder looked, which is after they were over: times of steps and of waiting are only as exact as that");
    if (c->repeated)
        say_count(c->repeated, "call", "calls", "left out: another call of its rank has the same number",
                  "left out: another call of their rank has the same number");
    if (c->strange)
        say_count(
            c->strange, "collective is", "collectives are",
            "another operation on another rank: the files may begin at different steps, and verdicts be wrong",
            "another operation on another rank: the files may begin at different steps, and verdicts be wrong");
    if (c->unsized)
        say_count(c->unsized, "call has", "calls have", "no size in the files: 0 bytes are written",
                  "no size in the files: 0 bytes are written");
    if (c->one_clock_apart)
        fprintf(stderr, "sgctl: some ranks never met the others: their clocks cannot be compared\n");
    if (c->ranks == 1)
        fprintf(stderr,
                "sgctl: one rank alone cannot be compared with others: give the files of all ranks\n");
    if (f->torn)
        fprintf(stderr, "sgctl: %u of %u file%s too early: what was complete is used\n", f->torn, f->files,
                f->files == 1  ? " ends"
                : f->torn == 1 ? "s ends"
                               : "s end");
}

int import_run(const char *format, char *const *file, int n, const char *path, struct err *err)
{
    struct import *m;
    struct import_figures f;
    const struct calls_figures *c = &f.calls;
    FILE *out;
    int rc = 0;

    if (!strcmp(path, "-") && isatty(STDOUT_FILENO))
        return err_set(err, "a trace is not readable on a terminal: use -o FILE or > FILE");
    out = output_open(path, err);
    if (!out)
        return -1;
    m = import_new(format);
    for (int i = 0; i < n && rc == 0; i++)
        rc = read_file(m, file[i], err);
    rc = output_close(out, path, rc == 0 ? import_write(m, out, &f, err) : -1, err);
    if (rc == 0) {
        fprintf(stderr,
                "sgctl: %s, %s: %u rank%s, %" PRIu64 " record%s of collectives and %" PRIu64 " of messages",
                f.format, text_bytes((double)f.bytes).s, c->ranks, text_plural(c->ranks), c->collectives,
                text_plural((int64_t)c->collectives), c->messages);
        if (c->stuck)
            fprintf(stderr, ", %" PRIu64 " of them never left", c->stuck);
        if (f.other)
            fprintf(stderr, "; %" PRIu64 " other item%s skipped", f.other, text_plural((int64_t)f.other));
        fputc('\n', stderr);
        say_left_out(&f);
    }
    import_free(m);
    return rc;
}
