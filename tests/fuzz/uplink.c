/* uplink.c - fuzz target: whatever a controller says to an agent, a frame a line: welcome, acknowledgements,
 * control.  Takes the place of wire/link.c. */
#include <event2/event.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/checkpoint.h"
#include "agent/messages.h"
#include "agent/pacing.h"
#include "agent/uplink.h"
#include "pacing/holdout.h"
#include "pacing/pacer.h"
#include "wire/link.h"

#define LINES_MAX 200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- the link ---- */

struct link {
    const struct link_events *events;
    void *arg;
    bool open;
};
static struct link controller;

struct link *link_connect(struct event_base *base, const char *hosts, unsigned index,
                          const struct link_end *end, const struct link_events *events, void *arg,
                          struct err *err)
{
    (void)base;
    (void)hosts;
    (void)index;
    (void)end;
    (void)err;
    controller = (struct link){ events, arg, true };
    return &controller;
}

int link_send(struct link *l, enum link_frame type, const void *data, size_t bytes)
{
    (void)data;
    if (!l->open || (type == LINK_JSON && !bytes))
        abort();
    return 0;
}

size_t link_pending_bytes(const struct link *l)
{
    return l->open ? 0 : SIZE_MAX;
}

const char *link_peer(const struct link *l)
{
    (void)l;
    return "controller";
}

void link_close(struct link *l)
{
    if (l)
        l->open = false;
}

/* ---- the agent ---- */

static struct control_page page;
static struct control_request wanted;
static struct checkpoint *checkpoint;

static json_t *hello(void *arg)
{
    (void)arg;
    return json_pack("{s:s}", "hello", "agent");
}

static void ready(bool fresh, uint64_t lacks, void *arg)
{
    (void)fresh;
    (void)arg;
    if (!lacks)
        abort(); /* batches are numbered from 1 */
}

static void trouble(const char *why, void *arg)
{
    (void)why;
    (void)arg;
}

static void note(const char *text, void *arg)
{
    trouble(text, arg);
}

static void kill_ranks(int sig, void *arg)
{
    (void)arg;
    if (sig < 1 || sig >= NSIG)
        abort();
}

static void check_bounds(void)
{
    const struct control_page_pace *p = &page.pace;

    if (!(wanted.rate_hz >= 0.1 && wanted.rate_hz <= 10000) || p->levers >= 1u << PACER_LEVERS ||
        p->max_delay_us > 1000000 || p->share > 1000 || p->epoch > PACER_EPOCH_MAX ||
        p->every > HOLDOUT_EVERY_MAX)
        abort();
}

static void on_control(const json_t *control, void *arg)
{
    json_t *asked = json_deep_copy(json_object_get(control, "checkpoint")), *report;

    (void)arg;
    message_control(control, &wanted);
    pacing_apply(&page, &wanted.pace);
    check_bounds();
    json_object_del(asked, "file"); /* it would be made */
    if (asked)
        checkpoint_control(checkpoint, asked, kill_ranks);
    json_decref(asked);
    report = checkpoint_report(checkpoint, true);
    if (report && !json_object_get(report, "checkpoint"))
        abort();
    json_decref(report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct uplink_events events = { hello, ready, on_control, trouble };
    const char *at = (const char *)data, *end = at + size, *next;
    struct event_base *base = event_base_new();
    struct backlog *backlog = backlog_new(1, 1 << 16, 30);
    const struct link_end nobody = { 0 };
    struct uplink *u = uplink_new(base, "controller", &nobody, backlog, &events, NULL);

    memset(&page, 0, sizeof(page));
    wanted = (struct control_request){ .record = true, .rate_hz = 50 };
    checkpoint = checkpoint_new("/nonexistent", 1, &page, note, NULL);
    for (int i = 0; i < 3; i++)
        backlog_add(backlog, "batch", 5, 0);
    event_base_loop(base, EVLOOP_NONBLOCK); /* connects */
    if (!controller.open)
        abort();
    controller.events->up(&controller, controller.arg);
    for (int i = 0; at < end && i < LINES_MAX && controller.open; i++, at = next + 1) {
        next = memchr(at, '\n', (size_t)(end - at));
        next = next ? next : end;
        controller.events->frame(&controller, LINK_JSON, at, (size_t)(next - at), controller.arg);
    }
    uplink_through(u);
    uplink_free(u);
    checkpoint_free(checkpoint);
    backlog_free(backlog);
    event_base_free(base);
    return 0;
}
