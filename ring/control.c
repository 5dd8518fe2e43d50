/* control.c - see control.h */
#include "ring/control.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int control_path(char path[PATH_MAX], const char *dir, const char *suffix)
{
    if (snprintf(path, PATH_MAX, "%s/" CONTROL_FILE "%s", dir, suffix) < PATH_MAX)
        return 0;
    errno = ENAMETOOLONG;
    return -1;
}

/* A new agent takes over the page of the one before (probes keep it mapped), and a page that is no page is
 * replaced.  Made under another name first: a probe sees all of it or nothing. */
struct control_page *control_create(const char *dir)
{
    static const struct control_page fresh = {
        .magic = CONTROL_MAGIC, .version = CONTROL_VERSION, .generation = 1, .record = 1
    };
    char path[PATH_MAX], temporary[PATH_MAX];
    struct control_page *page = NULL;
    struct stat st;
    void *map;
    int fd;

    if (control_path(path, dir, "") < 0 || control_path(temporary, dir, ".new") < 0)
        return NULL;
    fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size != (off_t)sizeof(fresh))) {
        close(fd);
        fd = -1;
    }
    if (fd < 0) {
        unlink(temporary);
        fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
            return NULL;
        if (write(fd, &fresh, sizeof(fresh)) != (ssize_t)sizeof(fresh) || rename(temporary, path) < 0) {
            int saved = errno;

            unlink(temporary);
            close(fd);
            errno = saved;
            return NULL;
        }
    }
    map = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map != MAP_FAILED) {
        page = map;
        page->magic = CONTROL_MAGIC;
        page->version = CONTROL_VERSION;
        __atomic_store_n(&page->record, 1, __ATOMIC_RELAXED);
        __atomic_add_fetch(&page->generation, 1, __ATOMIC_RELEASE);
    }
    close(fd);
    return page;
}

const struct control_page *control_open(const char *dir)
{
    char path[PATH_MAX];
    const struct control_page *page;
    struct stat st;
    void *map;
    int fd;

    if (control_path(path, dir, "") < 0)
        return NULL;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size != (off_t)sizeof(*page)) {
        close(fd);
        errno = EPROTO;
        return NULL;
    }
    map = mmap(NULL, sizeof(*page), PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (map == MAP_FAILED)
        return NULL;
    page = map;
    if (page->magic != CONTROL_MAGIC || page->version != CONTROL_VERSION) {
        control_close(page);
        errno = EPROTO;
        return NULL;
    }
    return page;
}

void control_close(const struct control_page *page)
{
    if (page)
        munmap((void *)page, sizeof(*page));
}

/* Sequentially consistent, as steps_due() is: when the agent finds all counts below `at` after it has written
 * the state, every rank will see that state at its call `at`. */
void control_ask(struct control_page *page, uint64_t at, uint32_t app, enum control_asked state)
{
    struct control_checkpoint *c = &page->checkpoint;

    if (__atomic_load_n(&c->at, __ATOMIC_SEQ_CST) != at ||
        __atomic_load_n(&c->app, __ATOMIC_SEQ_CST) != app) {
        __atomic_store_n(&c->state, CONTROL_ASKED_NONE, __ATOMIC_SEQ_CST);
        __atomic_store_n(&c->app, app, __ATOMIC_SEQ_CST);
        __atomic_store_n(&c->at, at, __ATOMIC_SEQ_CST);
    }
    __atomic_store_n(&c->state, (uint32_t)state, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&page->generation, 1, __ATOMIC_RELEASE);
}

bool control_asked(const struct control_page *page, uint64_t n, uint32_t app)
{
    const struct control_checkpoint *c = &page->checkpoint;

    return __atomic_load_n(&c->at, __ATOMIC_SEQ_CST) == n &&
           __atomic_load_n(&c->state, __ATOMIC_SEQ_CST) == CONTROL_ASKED_COMMITTED &&
           __atomic_load_n(&c->app, __ATOMIC_SEQ_CST) == app &&
           __atomic_load_n(&c->at, __ATOMIC_SEQ_CST) == n;
}
