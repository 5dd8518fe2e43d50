#include "agent/executable.h"

#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#define SEGMENTS_MAX 128

static bool read_at(int fd, void *to, size_t bytes, uint64_t at)
{
    return pread(fd, to, bytes, (off_t)at) == (ssize_t)bytes;
}

static bool read_header(int fd, ElfW(Ehdr) *h)
{
    return read_at(fd, h, sizeof(*h), 0) && !memcmp(h->e_ident, ELFMAG, SELFMAG);
}

/* As this program was built. */
static bool is_native(const ElfW(Ehdr) *h)
{
    static ElfW(Ehdr) own;

    if (!own.e_machine) {
        int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

        if (fd < 0 || !read_header(fd, &own))
            own = *h; /* nothing is known against it */
        if (fd >= 0)
            close(fd);
    }
    return h->e_ident[EI_CLASS] == own.e_ident[EI_CLASS] && h->e_ident[EI_DATA] == own.e_ident[EI_DATA] &&
           h->e_machine == own.e_machine;
}

static bool read_loader(int fd, const ElfW(Ehdr) *h, struct executable *x)
{
    if (h->e_phentsize != sizeof(ElfW(Phdr)))
        return false;
    for (unsigned i = 0; i < h->e_phnum && i < SEGMENTS_MAX; i++) {
        ElfW(Phdr) segment;

        if (!read_at(fd, &segment, sizeof(segment), h->e_phoff + i * sizeof(segment)))
            return false;
        if (segment.p_type == PT_INTERP)
            return segment.p_filesz > 1 && segment.p_filesz < sizeof(x->loader) &&
                   read_at(fd, x->loader, segment.p_filesz, segment.p_offset);
    }
    return true;
}

bool executable_read(struct executable *x, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ElfW(Ehdr) h;
    bool good = fd >= 0 && read_header(fd, &h);

    memset(x, 0, sizeof(*x));
    if (good) {
        x->native = is_native(&h);
        good = !x->native || read_loader(fd, &h, x);
    }
    if (fd >= 0)
        close(fd);
    return good;
}
