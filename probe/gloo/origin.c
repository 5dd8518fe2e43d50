#include "gloo/origin.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define VERSION_SIZE 64
#define FILE_SIZE    1024 /* of PyTorch's file of its version, as far as it is read */

/* Beside the folder of a wheel's libtorch_cpu.so, a Python file with a line __version__ = '2.5.1+cpu'. */
static void version_of_file(const char *path, char version[VERSION_SIZE])
{
    static const char key[] = "__version__ = '";
    const char *slash = strrchr(path, '/');
    char file[PATH_MAX], text[FILE_SIZE], *at;
    ssize_t n = -1;
    int fd;

    if (!slash ||
        snprintf(file, sizeof(file), "%.*s/../version.py", (int)(slash - path), path) >= (int)sizeof(file))
        return;
    fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return;
    n = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    at = strstr(text, key);
    if (!at)
        return;
    at += strlen(key);
    at[strcspn(at, "'\n")] = '\0';
    snprintf(version, VERSION_SIZE, "%s", at);
}

const char *origin_text(const void *function, char *buf, size_t size)
{
    char version[VERSION_SIZE] = "";
    Dl_info info = { 0 };
    const char *path =
        dladdr(function, &info) && info.dli_fname ? info.dli_fname : "a library that is not known";
    const char *so = strstr(path, ".so."); /* of "libtorch_cpu.so.2.6" */

    if (so)
        snprintf(version, sizeof(version), "%s", so + strlen(".so."));
    if (!*version)
        version_of_file(path, version);
    snprintf(buf, size, "PyTorch %s, %s", *version ? version : "of an unknown version", path);
    return buf;
}
