/* plan_live.c - fuzz target: whatever a controller answers when sgplan asks it about a job.  Takes the place
 * of wire/client.c. */
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plan/answer.h"
#include "plan/question.h"
#include "wire/client.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *given;
static size_t given_bytes;
static char conf[] = "--conf=/tmp/plan-fuzz.XXXXXX"; /* empty */

static void remove_conf(void)
{
    unlink(strchr(conf, '/'));
}

json_t *client_ask(const struct client_options *o, const json_t *question, double timeout_s, struct err *err)
{
    json_t *answer = json_loadb((const char *)given, given_bytes, 0, NULL);

    (void)o;
    (void)timeout_s;
    if (!json_is_string(json_object_get(question, "job")))
        abort();
    if (!answer)
        err_set(err, "no answer");
    return answer;
}

/* Nothing that moves a terminal's cursor. */
static void check_words(const char *text)
{
    for (; *text; text++)
        if (*text != '\n' && ((unsigned char)*text < 0x20 || *text == 0x7f))
            abort();
}

static void ask(const char *name, const char *more)
{
    char *argv[] = { (char *)"sgplan", (char *)name, (char *)"--job=1", (char *)"--controller=c", conf,
                     (char *)more,     NULL };
    struct answer *answer = answer_new();
    struct err err = { "" };
    struct options a;
    char *text = NULL;
    size_t length;
    json_t *json;
    FILE *f;

    if (options_parse(&a, &sgplan_program, more ? 6 : 5, argv, &err) < 0)
        abort();
    if (question_asked(&a)->run(&a, answer, &err) == 0) {
        f = open_memstream(&text, &length);
        answer_print(answer, f, 80);
        fclose(f);
        check_words(text);
        free(text);
        f = open_memstream(&text, &length);
        answer_print_json(answer, f);
        fclose(f);
        json = json_loads(text, 0, NULL);
        if (!json_is_object(json))
            abort();
        json_decref(json);
        free(text);
    } else if (!err.text[0]) {
        abort(); /* no answer and no reason */
    }
    answer_free(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;

    if (fd < 0) {
        fd = mkstemp(strchr(conf, '/'));
        if (fd < 0)
            return 0;
        atexit(remove_conf);
    }
    given = data;
    given_bytes = size;
    ask("compare", NULL);
    ask("compare", "--iterations=1000");
    ask("scale", NULL);
    return 0;
}
