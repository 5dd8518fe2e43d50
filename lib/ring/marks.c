#include "ring/marks.h"

#include <math.h>
#include <string.h>

#include "ring/seqlock.h"

#define ATTEMPTS 4

const char *marks_phase_name(enum marks_phase phase)
{
    static const char *const names[MARKS_PHASES] = {
        [MARKS_OTHER] = "other",
        [MARKS_INPUT] = "input",
        [MARKS_FORWARD] = "forward",
        [MARKS_BACKWARD] = "backward",
        [MARKS_COMMUNICATION] = "communication",
        [MARKS_OPTIMIZER] = "optimizer",
    };

    return (unsigned)phase < MARKS_PHASES ? names[phase] : "unknown";
}

const char *marks_value_name(enum marks_value value)
{
    static const char *const names[MARKS_VALUES] = { [MARKS_LOSS] = "loss", [MARKS_GRAD_NORM] = "grad_norm" };

    return (unsigned)value < MARKS_VALUES ? names[value] : "unknown";
}

/* ---- write ---- */

static void publish_figures(struct marks_page *p, const struct marks_figures *f)
{
    uint64_t word[MARKS_WORDS];

    memcpy(word, f, sizeof(*f));
    seqlock_write(&p->version, p->word, word, MARKS_WORDS);
}

/* The time until now belongs to the phase so far. */
static void close_stretch(struct marks *m, uint64_t now_ns)
{
    m->open_ns[m->f.phase] += now_ns - m->f.since_ns;
    m->f.since_ns = now_ns;
}

enum marks_phase marks_phase(struct marks *m, struct marks_page *p, int phase, uint64_t now_ns)
{
    enum marks_phase before = (enum marks_phase)m->f.phase;

    if (phase < 0 || phase >= MARKS_PHASES)
        return before;
    close_stretch(m, now_ns);
    m->f.phase = (uint64_t)phase;
    m->f.used |= UINT64_C(1) << phase;
    publish_figures(p, &m->f);
    return before;
}

void marks_step(struct marks *m, struct marks_page *p, uint64_t now_ns)
{
    close_stretch(m, now_ns);
    if (m->begun_ns) {
        m->f.steps++;
        m->f.steps_ns += now_ns - m->begun_ns;
        for (int i = 0; i < MARKS_PHASES; i++)
            m->f.phase_ns[i] += m->open_ns[i];
    }
    memset(m->open_ns, 0, sizeof(m->open_ns));
    m->begun_ns = now_ns;
    publish_figures(p, &m->f);
}

void marks_value(struct marks *m, struct marks_page *p, enum marks_value value, double x)
{
    struct marks_series *s = &m->f.value[value];

    s->given++;
    s->newest = x;
    if (isfinite(x)) {
        s->since = 0;
    } else {
        s->non_finite++;
        if (!s->since)
            s->since = s->given;
    }
    publish_figures(p, &m->f);
}

/* ---- read ---- */

bool marks_get(const struct marks_page *p, struct marks_figures *f)
{
    for (int n = 0; n < ATTEMPTS; n++) {
        uint64_t word[MARKS_WORDS];

        if (!seqlock_read(&p->version, p->word, word, MARKS_WORDS))
            continue;
        memcpy(f, word, sizeof(*f));
        return true;
    }
    return false;
}
