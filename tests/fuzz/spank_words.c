/* Any bytes as what the plugin is told: plugstack.conf's arguments, a word a line, --sync-guard=, and the
 * user's LD_PRELOAD, srun's command line, a word a line, the environment's numbers of tasks, and a script of
 * sbatch; and what sgctl prints. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/preload.h"
#include "spank/args.h"
#include "spank/cmdline.h"
#include "spank/earlier.h"
#include "spank/lemons.h"
#include "spank/tasks.h"
#include "spank/text.h"
#include "spank/tuning.h"

#define WORDS_MAX 100
#define PROBE     "/usr/lib/syncguard/probe.so"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_choice(const struct choice *c)
{
    if (c->kind > CHOICE_HELP || !memchr(c->policy, '\0', sizeof(c->policy)) ||
        (c->kind == CHOICE_POLICY) != (c->policy[0] != '\0'))
        abort();
}

static void read_args(char *text)
{
    char *argv[WORDS_MAX], *rest = text;
    struct args a;
    int argc = 0;

    while (rest && argc < WORDS_MAX)
        argv[argc++] = strsep(&rest, "\n");
    args_parse(&a, argc, argv);
    check_choice(&a.standard);
    if (a.n_partitions > ARGS_PARTITIONS_MAX)
        abort();
    for (size_t i = 0; i < a.n_partitions; i++) {
        struct choice c = args_default(&a, a.partitions[i].name);

        check_choice(&c);
    }
}

/* Added it is there, taken out it is gone; other entries stay. */
static void preload(const char *list, size_t room)
{
    char *added = malloc(room), *removed = malloc(room), *bare = malloc(room);

    if (preload_add(list, PROBE, added, room)) {
        if (!strstr(added, PROBE) || !preload_remove(added, PROBE, removed, room))
            abort();
        preload_remove(list, PROBE, bare, room);
        if (strcmp(removed, bare))
            abort();
    }
    free(bare);
    free(removed);
    free(added);
}

static char *text_env; /* what each variable that takes a number or a list has */

static char *env(const char *name)
{
    static const char *const filled[] = { "SLURM_JOB_NODELIST", "SLURM_NTASKS", "SLURM_TASKS_PER_NODE",
                                          "SLURM_JOB_CPUS_PER_NODE" };

    for (size_t i = 0; i < sizeof(filled) / sizeof(filled[0]); i++)
        if (!strcmp(name, filled[i]))
            return i == 0 && strchr(text_env, '(') ? (char *)"n[1-8]" : i == 1 ? (char *)"8" : text_env;
    return !strcmp(name, "SLURM_JOB_ID") ? (char *)"1" : NULL;
}

static void command_line(const char *text, size_t size)
{
    char *words = malloc(size + 6);
    struct command c;
    struct tasks t;

    memcpy(words, "srun", 5);
    for (size_t i = 0; i <= size; i++)
        words[5 + i] = i < size && text[i] != '\n' ? text[i] : '\0';
    if (command_read(&c, words, size + 6, NULL) == 0 && tasks_read(&t, &c, env, NULL) == 0) {
        uint32_t sum = 0;

        for (size_t i = 0; i < t.n; i++)
            sum += t.node[i].ranks;
        if (t.n < 2 || sum != t.total)
            abort();
        tasks_free(&t);
    }
    free(words);
}

/* The words stay words, between the first and the last of the command line. */
static void script(const char *text, size_t size)
{
    static const char own[] = "sbatch\0-N4\0job";
    struct cmdline l = { malloc(sizeof(own)), sizeof(own) };
    struct command c;

    memcpy(l.words, own, sizeof(own));
    if (cmdline_insert(&l, text, size, NULL) < 0 && l.bytes != sizeof(own))
        abort();
    if (l.bytes < sizeof(own) || l.bytes > sizeof(own) + size + 1 || strcmp(l.words, "sbatch") != 0 ||
        memcmp(l.words + l.bytes - 8, "-N4\0job", 8) != 0)
        abort();
    command_read(&c, l.words, l.bytes, NULL);
    cmdline_free(&l);
}

static void lemons(const char *text)
{
    char list[LEMONS_SIZE];
    size_t n = lemons_parse(text, NULL, list), commas = 0;

    for (const char *at = list; *at; at++)
        commas += *at == ',';
    if (n > LEMONS_MAX || (n ? commas + 1 : commas) != n || strpbrk(list, " \t\n$;&|'\"`()<>\\"))
        abort();
}

/* What is taken is a pattern that can be written and read again, and counts within bounds. */
static void earlier(const char *text)
{
    struct earlier e = { .pattern = { .kind = PATTERN_HALVING, .bytes = 5 } };
    static const struct algorithm_cost cost[ALGORITHMS] = { { 4e-6, 4e-10 },
                                                            { 6e-6, 3.5e-10 },
                                                            { 10e-6, 1.667e-10 } };
    struct pattern again = e.pattern;
    struct tuning t;
    char name[PATTERN_NAME_SIZE];

    if (!earlier_parse(text, &e) &&
        (e.patterned || e.order.placed || e.order.held_out || e.order.held_out_last || e.n || *e.library))
        abort();
    if (!e.patterned ? e.pattern.kind != PATTERN_HALVING
                     : pattern_parse(&again, pattern_name(&e.pattern, name), NULL) < 0)
        abort();
    if (e.pattern.bytes < 5 || e.pattern.bytes > 5 || e.order.placed > EARLIER_STARTS_MAX ||
        e.order.held_out > EARLIER_STARTS_MAX || e.algorithm.placed > EARLIER_STARTS_MAX ||
        e.n > ALGORITHM_SIZES || !memchr(e.library, '\0', sizeof(e.library)))
        abort();
    earlier_holds_out(&e.order, 1, 2);
    tuning_choose(&t, &e, 6, 6, cost, (char *[]){ NULL });
    if (t.result == TUNING_FASTER && !(t.choice.most_s < t.choice.usual_s))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct choice c;

    memcpy(text, data, size);
    text[size] = '\0';
    if (choice_parse(&c, text, NULL) == 0)
        check_choice(&c);
    preload(text, size + sizeof(PROBE) + 2);
    preload(text, size / 2 + 1);
    text_env = text;
    command_line(text, size);
    script(text, size);
    lemons(text);
    earlier(text);
    read_args(text);
    free(text);
    return 0;
}
