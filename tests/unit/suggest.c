/* Suggestions for misspelled words. */
#include "common/suggest.h"

#include "tests/tap.h"

int main(void)
{
    static const char *const commands[] = { "status", "jobs", "job", "nodes", "action", "actions", "record" };
    static const struct {
        const char *word, *best; /* NULL: none is near */
    } cases[] = {
        { "jbos", "jobs" },      /* two neighbours swapped: one error */
        { "stauts", "status" },  /* the same */
        { "sttus", "status" },   /* one is missing */
        { "recordd", "record" }, /* one too many */
        { "JOBS", "jobs" },      /* case is no error */
        { "acton", "action" },   /* nearer than actions */
        { "actons", "actions" }, /* and the other way round */
        { "x", NULL },           /* nothing would be left of it */
        { "dance", NULL },
        { "", NULL },
        { "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
          NULL },
    };
    struct suggestion s;
    char text[64];

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        s = suggest_for(cases[i].word);
        for (size_t c = 0; c < ARRAY_SIZE(commands); c++)
            suggest_offer(&s, commands[c]);
        is_str(s.best ? s.best : "nothing", cases[i].best ? cases[i].best : "nothing",
               "suggest_offer: the best candidate for '%s'", cases[i].word);
    }
    s = suggest_for("jbos");
    is_str(suggest_text(&s, text, sizeof(text)), "",
           "suggest_text: without a similar candidate the text is empty");
    suggest_offer(&s, "jobs");
    is_str(suggest_text(&s, text, sizeof(text)), ". Did you mean 'jobs'?",
           "suggest_text: the text names the similar candidate");
    return done_testing();
}
