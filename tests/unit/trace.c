/* What sgctl record keeps of what it is sent. */
#include "trace/sink.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/tap.h"

#define HEADER "{\"format\":\"syncguard-trace\",\"version\":1,\"job\":\"1.0\",\"ranks\":[]}\n"

static int file_new(void)
{
    char path[] = "/tmp/trace-XXXXXX";
    int fd = mkstemp(path);

    unlink(path);
    return fd;
}

static char *content(int fd)
{
    static char text[8192];
    ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

    text[n > 0 ? n : 0] = '\0';
    return text;
}

static int put(struct trace *t, const char *text, struct err *err)
{
    return trace_put(t, text, strlen(text), err);
}

static void record(char *line, size_t size, int rank, const char *comm, int seq)
{
    snprintf(line, size,
             "{\"r\":%d,\"c\":\"%s\",\"s\":%d,\"o\":\"allreduce\",\"b\":8,\"t0\":1,\"t1\":null}\n", rank,
             comm, seq);
}

static void whole_lines(void)
{
    int fd = file_new();
    struct trace *t = trace_new(fd);
    struct err err = { "" };
    const char *a = "{\"r\":0,\"c\":\"w\",\"s\":5}\n",
               *b = "{\"r\":3,\"c\":\"w\",\"s\":5}\n{\"r\":0,\"c\":\"w\",\"s\":8}\n";
    char wanted[1024];

    ok(put(t, HEADER, &err) == 0 && put(t, a, &err) == 0 && put(t, "", &err) == 0 && put(t, b, &err) == 0,
       "complete lines are written");
    ok(put(t, "{\"r\":0,\"c\"", &err) == -1, "an incomplete line is rejected");
    is_str(err.text, "the controller sent a torn line", "the reason for a rejected line");
    ok(put(t, HEADER "{\"r\":3,\"c\":\"v\",\"s\":1}\n", &err) == 0, "a second header is accepted");
    snprintf(wanted, sizeof(wanted), "%s%s%s{\"r\":3,\"c\":\"v\",\"s\":1}\n", HEADER, a, b);
    is_str(content(fd), wanted, "a second header is omitted, all other lines are written unchanged");
    is_int((long long)trace_counts_get(t).bytes, (long long)strlen(wanted), "bytes written are counted");
    is_int((long long)trace_counts_get(t).records, 4, "records are counted");
    is_int((long long)trace_counts_get(t).ranks, 2, "ranks are counted");
    is_int((long long)trace_counts_get(t).lost, 2, "a gap of two sequence numbers counts two lost records");
    trace_free(t);
    close(fd);
}

/* 64 ranks in 65 communicators, out of order, one in ten lost. */
static void account(void)
{
    int fd = open("/dev/null", O_WRONLY);
    struct trace *t = trace_new(fd);
    struct err err = { "" };
    char line[256], comm[32];
    int lost = 0;
    bool good = true;

    for (int seq = 99; seq >= 0; seq--) {
        for (int rank = 0; rank < 64; rank++) {
            snprintf(comm, sizeof(comm), "c%d", rank);
            record(line, sizeof(line), rank, seq % 2 ? "world" : comm, seq / 2);
            if ((seq * 64 + rank) % 10 == 3 && seq > 1 && seq < 98)
                lost++;
            else
                good &= put(t, line, &err) == 0;
        }
    }
    ok(good, "records of many streams are written");
    is_int((long long)trace_counts_get(t).ranks, 64, "ranks of many streams are counted");
    is_int((long long)trace_counts_get(t).lost, lost, "lost records of many streams are counted");
    trace_free(t);
    close(fd);
}

static void strange(void)
{
    int fd = open("/dev/null", O_WRONLY);
    struct trace *t = trace_new(fd);
    struct err err = { "" };

    ok(put(t,
           "not JSON\n\n{\"r\":-1,\"c\":\"w\",\"s\":1}\n{\"r\":1e9,\"c\":7,\"s\":[]}\n"
           "{\"r\":9223372036854775807,\"c\":\"w\",\"s\":9223372036854775807}\n"
           "{\"r\":9223372036854775807,\"c\":\"w\",\"s\":0}\n{\"r\":0,\"c\":\"w\",\"s\":-5}\n",
           &err) == 0,
       "malformed records are written unchanged");
    ok(trace_counts_get(t).records == 7 && trace_counts_get(t).ranks == 0,
       "malformed records are counted, their ranks are not");
    trace_free(t);
    close(fd);
}

/* The file may have 1000 bytes: it then ends with a whole line. */
static void full(void)
{
    int fd = file_new();
    struct rlimit old, limit = { 1000, 1000 };
    struct trace *t = trace_new(fd);
    struct err err = { "" };
    char line[256], *text;
    int i, rc = 0;

    getrlimit(RLIMIT_FSIZE, &old);
    limit.rlim_max = old.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    for (i = 0; i < 100 && rc == 0; i++) {
        record(line, sizeof(line), 1, "world", i);
        rc = put(t, line, &err);
    }
    setrlimit(RLIMIT_FSIZE, &old);
    is_str(err.text, "cannot write the trace: File too large", "a full file system is reported");
    text = content(fd);
    ok(strlen(text) > 800 && strlen(text) < 1000 && text[strlen(text) - 1] == '\n',
       "the file ends with a complete line after a failed write");
    trace_free(t);
    close(fd);
}

int main(void)
{
    whole_lines();
    account();
    strange();
    full();
    return done_testing();
}
