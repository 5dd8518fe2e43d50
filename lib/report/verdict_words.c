#include "report/verdict_words.h"

#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "detect/finding.h"

#define ABSURD 1e6 /* slowdowns from here on are not believed */

static const struct {
    const char *class, *one, *several; /* after the culprits; NULL: the class blames nobody */
    const char *nobody;                /* without culprits */
} words[] = {
    { "straggler", "is slow", "are slow", "slow work" },
    { "drift", "becomes slower and slower", "become slower and slower",
      "work that becomes slower and slower" },
    { "hang", "holds up the others", "hold up the others", "nothing moves" },
    { "lost", "is lost", "are lost", "a node is lost" },
    { "jitter", NULL, NULL, "rare long delays, no single node" },
    { "imbalance", "has more work than the other ranks", "have more work than the other ranks",
      "uneven work, no single node" },
    { "communication", "sends and receives slowly", "send and receive slowly", "slow collectives" },
    { "congestion", NULL, NULL, "collectives slow in bursts" },
    { "oscillation", NULL, NULL, "fast and slow steps in turn" },
};

char *verdict_words(char *buf, size_t size, const char *class, const char *culprits, size_t n_culprits)
{
    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        if (strcmp(class, words[i].class) != 0)
            continue;
        if (n_culprits && words[i].one)
            snprintf(buf, size, "%s %s (%s)", culprits, n_culprits > 1 ? words[i].several : words[i].one,
                     class);
        else
            snprintf(buf, size, "%s (%s)", words[i].nobody, class);
        return buf;
    }
    snprintf(buf, size, "%s%s%s", n_culprits ? culprits : "", n_culprits ? ": " : "", class);
    return buf;
}

char *verdict_names(char *buf, size_t size, size_t width, const struct json_texts *names)
{
    size_t shown = 0;

    buf[0] = '\0';
    for (; shown < names->n; shown++) {
        const char *name = names->text[shown];

        if (shown && strlen(buf) + 2 + strlen(name) > width)
            break;
        text_append(buf, size, "%s%s", shown ? ", " : "", name);
    }
    if (names->n > shown)
        text_append(buf, size, " +%zu", names->n - shown);
    return buf;
}

bool verdict_stops(const char *class)
{
    for (enum finding_class c = 0; c < FINDING_CLASSES; c++)
        if (!strcmp(class, finding_class_name(c)))
            return finding_stops(c);
    return false;
}

char *verdict_lost(char *buf, size_t size, double slowdown, double low, double high)
{
    struct interval of = { slowdown, slowdown };

    buf[0] = '\0';
    if (low > 0 && low <= high && high < ABSURD)
        of = (struct interval){ low, high };
    if (slowdown >= 1 && slowdown < ABSURD)
        finding_share_text(slowdown, of, false, buf, size);
    return buf;
}

/* ---- what to do: doc/operators-guide.md says more, and how to confirm each verdict first ---- */

/* {job}, {nodes}, {host} and {pid} are written as they are known.  The first row that fits; scope NULL: any,
 * TWO_SPEEDS: a link of which some messages are slow; next NULL: the same. */
#define TWO_SPEEDS "two speeds"
static const struct {
    const char *class, *scope, *now, *next;
} advice[] = {
    { "straggler", "node", "sgctl action {job} exclude {nodes} (requeues), or sgctl node {nodes} drain WHY",
      "for the next start: sbatch --exclude={nodes}" },
    { "drift", "node",
      "at the next checkpoint sgctl action {job} exclude {nodes}; have the cooling looked at",
      "for the next start: sbatch --exclude={nodes}; have the cooling looked at" },
    { "straggler", "switch", "look at the power and the cooling that its nodes share", NULL },
    { "drift", "switch", "look at the power and the cooling that its nodes share", NULL },
    { "straggler", "ranks", "give these ranks less work; other nodes change nothing", NULL },
    { "straggler", NULL,
      "look what else runs on its CPUs and GPU; if it is slow on every node, it has more work", NULL },
    { "drift", NULL, "look at its memory and temperature; if it is slow on every node, its work grows",
      NULL },
    { "imbalance", NULL, "even out the ranks' work; other nodes change nothing", NULL },
    { "jitter", NULL, "keep daemons off the ranks' cores (CoreSpecCount); sgctl record shows the moments",
      NULL },
    { "communication", "none",
      "sgctl doctor --cluster --probe --mpi finds slow links, and a library on another device", NULL },
    { "communication", TWO_SPEEDS,
      "flows may share a path (ECMP hash): spread them over more; if it stays, one path is bad", NULL },
    { "communication", NULL, "sgctl doctor --cluster --probe confirms it; then cable, port or adapter",
      NULL },
    { "congestion", NULL, "fewer switches for the next start (srun --switches=1): it is others' traffic",
      NULL },
    { "oscillation", NULL, "look at power caps, and at what feeds the input", NULL },
    { "hang", NULL, "on {host}: sgring, gdb -p {pid}; a stopped process continues after kill -CONT {pid}",
      "if it hangs again: sgring and gdb -p PID on the node, before it ends" },
    { "lost", NULL,
      "look at the node ({nodes}: power, network, kernel); start from the newest checkpoint without it",
      "for the next start: sbatch --exclude={nodes}, until the node is back" },
};

/* The names in braces become what is known of them. */
static void fill(char *buf, size_t size, const char *text, const struct verdict_case *c)
{
    const struct {
        const char *name, *value, *unknown;
    } known[] = {
        { "{job}", c->job, "JOB" },
        { "{nodes}", c->nodes, "NODES" },
        { "{host}", c->host, "the node" },
        { "{pid}", c->pid, "PID" },
    };

    buf[0] = '\0';
    while (*text) {
        size_t plain = strcspn(text, "{");

        text_append(buf, size, "%.*s", (int)plain, text);
        text += plain;
        for (size_t i = 0; *text && i < ARRAY_SIZE(known); i++)
            if (!strncmp(text, known[i].name, strlen(known[i].name)))
                text_append(buf, size, "%s", *known[i].value ? known[i].value : known[i].unknown);
        text += strcspn(text, "}");
        text += *text == '}';
    }
}

char *verdict_advice(char *buf, size_t size, const struct verdict_case *c)
{
    const char *scope = c->two_speeds ? TWO_SPEEDS : c->scope;

    buf[0] = '\0';
    for (size_t i = 0; i < ARRAY_SIZE(advice); i++) {
        if (strcmp(c->class, advice[i].class) != 0 ||
            (advice[i].scope && strcmp(scope, advice[i].scope) != 0))
            continue;
        fill(buf, size,
             advice[i].next && (c->ended || (c->no_requeue && strstr(advice[i].now, " exclude ")))
                 ? advice[i].next
                 : advice[i].now,
             c);
        break;
    }
    return buf;
}
