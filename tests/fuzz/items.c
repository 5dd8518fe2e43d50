/* Any bytes as a batch, its items into a view: whatever an agent may send. */
#include <stdint.h>

#include "view/comms.h"
#include "view/health.h"
#include "view/marks.h"
#include "view/timeline.h"
#include "view/view_private.h"
#include "wire/telemetry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 5 };
    struct view *v = view_new(&params, 0);
    struct telemetry_reader r;
    struct telemetry_item item;
    struct view_figures f;
    struct view_comm comm[4];
    struct view_rank_figures figures;
    struct view_efficiency e;
    struct view_critical_path path;
    struct view_projection p;
    struct view_rank_health rank_health;
    struct view_node_health node_health;
    struct view_marked marked;
    struct view_value value;
    char text[256];
    double now_s = 0, age_s;

    for (uint32_t rank = 0; rank < 4; rank++)
        view_rank_add(v, rank, 0, rank < 2 ? "a" : "b", "s");
    if (telemetry_open(&r, data, size, NULL) == 0)
        while (telemetry_next(&r, &item)) {
            view_item(v, now_s, &item);
            now_s += 0.1;
            if (item.kind == TELEMETRY_LIVE)
                view_tick(v, now_s);
        }
    view_tick(v, now_s + 1);
    view_figures_get(v, now_s, &f);
    view_comms_get(v, now_s, comm, 4);
    view_rank_get(v, now_s, 0, &figures);
    view_efficiency_get(v, &e);
    view_critical_path_get(v, &path);
    view_picture(v, now_s, 2);
    view_projection_get(v, now_s, &p);
    view_sentence(v, now_s, text, sizeof(text));
    view_tick(v, now_s + 5); /* health is compared every few seconds */
    for (int scope = SCOPE_NONE; scope <= SCOPE_SWITCH; scope++) {
        struct view_verdict d = { .finding.class = FINDING_CONGESTION,
                                  .finding.scope = (enum finding_scope)scope,
                                  .culprit = { "r1", "a", "s" },
                                  .n_culprits = 3 };

        view_cause(v, &d, text, sizeof(text));
    }
    view_marked_get(v, &marked);
    view_value_get(v, MARKS_LOSS, &value);
    view_rank_phase(v, now_s, 1, &age_s);
    view_rank_health_get(v, now_s, 1, &rank_health);
    view_node_health_get(v, now_s, "a", &node_health);
    view_free(v);
    return 0;
}
