/* control_page.c - see control_page.h */
#include "ring/control_page.h"

#include <errno.h>
#include <sys/mman.h>

#include "ring/shared.h"

/* Agent and ranks may make the page at the same time and must end up with the same one: the first stays,
 * unless it is not a page. */
static int control_make(const char *dir, bool replace)
{
    static const struct control_page fresh = {
        .magic = CONTROL_PAGE_MAGIC, .version = CONTROL_PAGE_VERSION, .generation = 1, .record = 1
    };

    return shared_publish(dir, CONTROL_PAGE_FILE, &fresh, sizeof(fresh), sizeof(fresh), replace);
}

/* An agent uses the page of an earlier agent or of a rank, because probes have it mapped. */
struct control_page *control_page_create(const char *dir)
{
    struct control_page *page = shared_map(dir, CONTROL_PAGE_FILE, sizeof(*page), true);

    if (!page && control_make(dir, errno != ENOENT) == 0)
        page = shared_map(dir, CONTROL_PAGE_FILE, sizeof(*page), true);
    if (page) {
        page->magic = CONTROL_PAGE_MAGIC;
        page->version = CONTROL_PAGE_VERSION;
        __atomic_store_n(&page->record, 1, __ATOMIC_RELAXED);
        __atomic_add_fetch(&page->generation, 1, __ATOMIC_RELEASE);
    }
    return page;
}

const struct control_page *control_page_follow(const char *dir)
{
    static const struct control_page record = { .record = 1 };
    const struct control_page *page = control_page_open(dir);

    if (!page && errno == ENOENT && control_make(dir, false) == 0)
        page = control_page_open(dir);
    return page ? page : &record;
}

const struct control_page *control_page_open(const char *dir)
{
    const struct control_page *page = shared_map(dir, CONTROL_PAGE_FILE, sizeof(*page), false);

    if (page && (page->magic != CONTROL_PAGE_MAGIC || page->version != CONTROL_PAGE_VERSION)) {
        control_page_close(page);
        errno = EPROTO;
        return NULL;
    }
    return page;
}

void control_page_close(const struct control_page *page)
{
    if (page)
        munmap((void *)page, sizeof(*page));
}

/* Sequentially consistent, as steps_due() is: when the agent finds all counts below `at` after it has written
 * the state, every rank will see that state at its call `at`. */
void control_page_ask(struct control_page *page, uint64_t at, uint32_t app, enum control_page_asked state)
{
    struct control_page_checkpoint *c = &page->checkpoint;

    if (__atomic_load_n(&c->at, __ATOMIC_SEQ_CST) != at ||
        __atomic_load_n(&c->app, __ATOMIC_SEQ_CST) != app) {
        __atomic_store_n(&c->state, CONTROL_PAGE_ASKED_NONE, __ATOMIC_SEQ_CST);
        __atomic_store_n(&c->app, app, __ATOMIC_SEQ_CST);
        __atomic_store_n(&c->at, at, __ATOMIC_SEQ_CST);
    }
    __atomic_store_n(&c->state, (uint32_t)state, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&page->generation, 1, __ATOMIC_RELEASE);
}

bool control_page_asked(const struct control_page *page, uint64_t n, uint32_t app)
{
    const struct control_page_checkpoint *c = &page->checkpoint;

    return __atomic_load_n(&c->at, __ATOMIC_SEQ_CST) == n &&
           __atomic_load_n(&c->state, __ATOMIC_SEQ_CST) == CONTROL_PAGE_ASKED_COMMITTED &&
           __atomic_load_n(&c->app, __ATOMIC_SEQ_CST) == app &&
           __atomic_load_n(&c->at, __ATOMIC_SEQ_CST) == n;
}
