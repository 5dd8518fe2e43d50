/* What sgplan's answers look like to people and to programs. */
#include "plan/answer.h"

#include <jansson.h>
#include <stdlib.h>

#include "tests/tap.h"

static const struct answer_column columns[] = { { "name", "STRATEGY", ANSWER_WORDS },
                                                { "time_s", "TIME", ANSWER_SECONDS } };

static struct answer *sample(void)
{
    struct answer *a = answer_new();

    answer_title(a, "A question about %d ranks", 8);
    answer_figure(a, "time_s", 0.0123, ANSWER_SECONDS, "until all have it");
    answer_figure(a, "bytes_per_rank", 2e9, ANSWER_BYTES, "that each sends");
    answer_figure(a, "ranks", 133, ANSWER_COUNT, "%s", "");
    answer_figure(a, "unknown", NAN, ANSWER_SHARE, "was not given");
    answer_figure(a, "mtbf_s", INFINITY, ANSWER_SECONDS, "nothing fails");
    answer_word(a, "regime", "compute", "dominates");
    answer_figure(a, "pays", false, ANSWER_FLAG, "as it is");
    answer_table(a, "strategies", "All of them:", columns, 2);
    answer_cell_words(a, "ring");
    answer_cell(a, 1.5);
    answer_cell_words(a, "tree");
    answer_cell(a, NAN);
    answer_note(a, "What no figure says.");
    answer_source(a, "Somebody 1999");
    answer_assumes(a, "a lot");
    return a;
}

static void for_people(const struct answer *a)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    answer_print(a, f, 80);
    fclose(f);
    is_str(text,
           "A question about 8 ranks\n"
           "  time_s          12.3 ms  until all have it\n"
           "  bytes_per_rank  2.00 GB  that each sends\n"
           "  ranks               133\n"
           "  unknown               ?  was not given\n"
           "  mtbf_s            never  nothing fails\n"
           "  regime          compute  dominates\n"
           "  pays                 no  as it is\n"
           "\n"
           "All of them:\n"
           "  STRATEGY    TIME\n"
           "  ring      1.50 s\n"
           "  tree           ?\n"
           "\n"
           "What no figure says.\n"
           "\n"
           "Source: Somebody 1999\n"
           "Assumes: a lot\n",
           "the printed text");
    free(text);
}

static void for_programs(const struct answer *a)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    json_t *json, *rows;

    answer_print_json(a, f);
    fclose(f);
    json = json_loads(text, 0, NULL);
    ok(json_is_object(json), "the JSON answer is one object");
    ok(json_number_value(json_object_get(json, "time_s")) == 0.0123, "figures in JSON keep all digits");
    ok(json_is_integer(json_object_get(json, "ranks")), "counts in JSON are integers");
    ok(json_is_null(json_object_get(json, "unknown")) && json_is_null(json_object_get(json, "mtbf_s")),
       "unknown and infinite values are null in JSON");
    ok(json_is_false(json_object_get(json, "pays")), "flags are booleans in JSON");
    is_str(json_string_value(json_object_get(json, "regime")), "compute", "words are strings in JSON");
    rows = json_object_get(json, "strategies");
    ok(json_array_size(rows) == 2 && json_is_null(json_object_get(json_array_get(rows, 1), "time_s")),
       "tables are arrays of objects in JSON");
    is_str(json_string_value(json_object_get(json, "source")), "Somebody 1999", "the source is in JSON");
    ok(json_array_size(json_object_get(json, "notes")) == 1, "notes are an array in JSON");
    json_decref(json);
    free(text);
}

int main(void)
{
    struct answer *a = answer_new();

    ok(answer_empty(a), "a new answer is empty");
    answer_free(a);
    a = sample();
    ok(!answer_empty(a), "an answer with figures is not empty");
    for_people(a);
    for_programs(a);
    answer_free(a);
    return done_testing();
}
