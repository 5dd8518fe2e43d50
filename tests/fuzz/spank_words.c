/* Any bytes as what the plugin is told: plugstack.conf's arguments, a word a line, --sync-guard=, and the
 * user's LD_PRELOAD. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "spank/args.h"
#include "spank/text.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct choice c;

    memcpy(text, data, size);
    text[size] = '\0';
    if (choice_parse(&c, text))
        check_choice(&c);
    preload(text, size + sizeof(PROBE) + 2);
    preload(text, size / 2 + 1);
    read_args(text);
    free(text);
    return 0;
}
