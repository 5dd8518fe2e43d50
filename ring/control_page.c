/* control_page.c - see control_page.h */
#include "ring/control_page.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int control_path(char path[PATH_MAX], const char *dir, const char *suffix)
{
    if (snprintf(path, PATH_MAX, "%s/" CONTROL_PAGE_FILE "%s", dir, suffix) < PATH_MAX)
        return 0;
    errno = ENAMETOOLONG;
    return -1;
}

/* Make the page under another name first, so that it is complete when it becomes visible.  Agent and ranks may make
 * it at the same time and must end up with the same one: the first stays, unless it is not a page. */
static int control_make(const char *dir, const char *path, bool replace)
{
    static const struct control_page fresh = {
        .magic = CONTROL_PAGE_MAGIC, .version = CONTROL_PAGE_VERSION, .generation = 1, .record = 1
    };
    char temporary[PATH_MAX];
    int fd, rc = -1, saved;

    if (snprintf(temporary, PATH_MAX, "%s/." CONTROL_PAGE_FILE ".%ld.tmp", dir, (long)getpid()) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    unlink(temporary);
    fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -1;
    if (write(fd, &fresh, sizeof(fresh)) == (ssize_t)sizeof(fresh))
        rc = replace ? rename(temporary, path) : link(temporary, path);
    if (rc < 0 && errno == EEXIST)
        rc = 0;
    saved = errno;
    unlink(temporary);
    close(fd);
    errno = saved;
    return rc;
}

/* Open it for writing.  -1: missing, or not a page (errno EPROTO). */
static int control_fd(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    struct stat st;

    if (fd >= 0 &&
        (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size != (off_t)sizeof(struct control_page))) {
        close(fd);
        errno = EPROTO;
        return -1;
    }
    return fd;
}

/* An agent uses the page of an earlier agent or of a rank, because probes have it mapped. */
struct control_page *control_page_create(const char *dir)
{
    char path[PATH_MAX];
    struct control_page *page = NULL;
    void *map;
    int fd;

    if (control_path(path, dir, "") < 0)
        return NULL;
    fd = control_fd(path);
    if (fd < 0) {
        if (control_make(dir, path, errno != ENOENT) < 0)
            return NULL;
        fd = control_fd(path);
        if (fd < 0)
            return NULL;
    }
    map = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map != MAP_FAILED) {
        page = map;
        page->magic = CONTROL_PAGE_MAGIC;
        page->version = CONTROL_PAGE_VERSION;
        __atomic_store_n(&page->record, 1, __ATOMIC_RELAXED);
        __atomic_add_fetch(&page->generation, 1, __ATOMIC_RELEASE);
    }
    close(fd);
    return page;
}

const struct control_page *control_page_join(const char *dir)
{
    const struct control_page *page = control_page_open(dir);
    char path[PATH_MAX];

    if (page || errno != ENOENT || control_path(path, dir, "") < 0 || control_make(dir, path, false) < 0)
        return page;
    return control_page_open(dir);
}

const struct control_page *control_page_open(const char *dir)
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
    if (page->magic != CONTROL_PAGE_MAGIC || page->version != CONTROL_PAGE_VERSION) {
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
