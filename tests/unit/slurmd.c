/* Which nodes' slurmds answer, asked of real sockets, and what the doctor says of it. */
#include "doctor/slurmd.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tap.h"

/* connections to a socket that accepts none: further ones get no answer */
#define BACKLOG_FULL 4

static int listening(int backlog, uint16_t *port)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, backlog) < 0 ||
        getsockname(fd, (struct sockaddr *)&at, &length) < 0)
        return -1;
    *port = ntohs(at.sin_port);
    return fd;
}

/* What a slurmd does with a peer that says nothing more: it ends the connection.  In a child, until that is
 * killed. */
static pid_t ending(int fd)
{
    pid_t child = fork();
    char byte;

    while (child == 0) {
        int one = accept(fd, NULL, NULL);

        if (read(one, &byte, 1) == 0)
            close(one);
    }
    return child;
}

static void fill(uint16_t port, int *fd)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                              .sin_port = htons(port) };

    for (int i = 0; i < BACKLOG_FULL; i++) {
        fd[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        if (connect(fd[i], (struct sockaddr *)&at, sizeof(at)) < 0)
            continue; /* in progress */
    }
}

/* Not on a machine without /etc/hosts. */
static bool has_address(const char *name)
{
    struct addrinfo *all;

    if (getaddrinfo(name, NULL, NULL, &all) != 0)
        return false;
    freeaddrinfo(all);
    return true;
}

static void check_sockets(void)
{
    uint16_t open, gone, stuck, deaf;
    int answers = listening(16, &open), closed = listening(1, &gone), full = listening(0, &stuck),
        hangs = listening(16, &deaf);
    int held[BACKLOG_FULL];
    struct slurmd_peer peer[] = {
        { "127.0.0.1", open, SLURMD_SILENT },  { "127.0.0.1", gone, SLURMD_ANSWERS },
        { "localhost", open, SLURMD_UNKNOWN }, { "127.0.0.1", stuck, SLURMD_ANSWERS },
        { "127.0.0.1", 0, SLURMD_ANSWERS },    { "", open, SLURMD_ANSWERS },
        { "127.0.0.1", deaf, SLURMD_ANSWERS },
    };
    pid_t child;

    close(closed);
    child = ending(answers); /* it holds what is open, too */
    fill(stuck, held);
    slurmd_ask(peer, ARRAY_SIZE(peer), SLURMD_LIMIT_S);
    is_int(peer[0].state, SLURMD_ANSWERS, "who ends the connection answers");
    is_int(peer[1].state, SLURMD_REFUSES, "where nothing listens the connection is refused");
    is_int(peer[2].state, has_address("localhost") ? SLURMD_ANSWERS : SLURMD_UNKNOWN,
           "a name with an address where nothing listens, and one where something does, answers");
    is_int(peer[3].state, SLURMD_SILENT, "a full queue gives no answer");
    is_int(peer[4].state, SLURMD_UNKNOWN, "a port that is not known is not asked");
    is_int(peer[5].state, SLURMD_UNKNOWN, "an address that is not known is not asked");
    is_int(peer[6].state, SLURMD_HANGS, "who accepts and does not end the connection hangs");
    slurmd_ask(peer, 1, 0);
    is_int(peer[0].state, SLURMD_UNKNOWN, "without time nothing is asked, and nothing is known");
    for (int i = 0; i < BACKLOG_FULL; i++)
        close(held[i]);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(answers);
    close(full);
    close(hangs);
}

static const struct {
    const char *what;
    enum slurmd_state state[4];
    int faults, unknown;
    const char *silent; /* a letter for each node */
    const char *has;
} cases[] = {
    { "all answer", { SLURMD_ANSWERS, SLURMD_ANSWERS, SLURMD_ANSWERS, SLURMD_ANSWERS }, 0, 0, "----", "" },
    { "one refuses",
      { SLURMD_ANSWERS, SLURMD_ANSWERS, SLURMD_REFUSES, SLURMD_ANSWERS },
      1,
      0,
      "--s-",
      "no slurmd answers on node3 (connection refused)" },
    { "two are silent",
      { SLURMD_SILENT, SLURMD_ANSWERS, SLURMD_ANSWERS, SLURMD_SILENT },
      1,
      0,
      "s--s",
      "no slurmd answers on node1, node4 (connection timed out)" },
    { "one hangs",
      { SLURMD_ANSWERS, SLURMD_HANGS, SLURMD_ANSWERS, SLURMD_ANSWERS },
      1,
      0,
      "-s--",
      "no slurmd answers on node2 (it accepts a connection, and says nothing)" },
    { "one of each kind",
      { SLURMD_SILENT, SLURMD_ANSWERS, SLURMD_REFUSES, SLURMD_NO_ROUTE },
      3,
      0,
      "s-ss",
      "on node4 (no route to its address)" },
    { "what is not known is asked by srun",
      { SLURMD_UNKNOWN, SLURMD_ANSWERS, SLURMD_UNKNOWN, SLURMD_ANSWERS },
      0,
      0,
      "----",
      "" },
    { "this host reaches nobody",
      { SLURMD_SILENT, SLURMD_SILENT, SLURMD_UNKNOWN, SLURMD_SILENT },
      0,
      1,
      "----",
      "this host reaches no node's slurmd (connection timed out)" },
    { "all refuse",
      { SLURMD_REFUSES, SLURMD_REFUSES, SLURMD_REFUSES, SLURMD_REFUSES },
      1,
      0,
      "ssss",
      "systemctl status slurmd   (on node1" },
};

static void check_case(size_t i)
{
    static char name[4][8] = { "node1", "node2", "node3", "node4" };
    struct slurmd_peer peer[4];
    struct slurm_node node[4], *lent[4];
    struct findings f = { 0 };
    char *text, silent[5] = "";
    size_t bytes;
    FILE *out;

    for (size_t k = 0; k < 4; k++) {
        peer[k] = (struct slurmd_peer){ .state = cases[i].state[k] };
        node[k] = (struct slurm_node){ .name = name[k] };
        lent[k] = &node[k];
    }
    slurmd_judge(peer, lent, 4, &f);
    for (size_t k = 0; k < 4; k++)
        silent[k] = node[k].silent ? 's' : '-';
    out = open_memstream(&text, &bytes);
    findings_print(&f, out);
    fclose(out);
    is_int((long long)findings_count(&f, FINDING_FAULT), cases[i].faults, "%s: faults", cases[i].what);
    is_int((long long)findings_count(&f, FINDING_UNKNOWN), cases[i].unknown, "%s: unknown", cases[i].what);
    is_str(silent, cases[i].silent, "%s: which nodes no step waits for", cases[i].what);
    ok(strstr(text, cases[i].has) != NULL, "%s: the answer has '%s'", cases[i].what, cases[i].has);
    free(text);
    findings_free(&f);
}

int main(void)
{
    check_sockets();
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        check_case(i);
    return done_testing();
}
