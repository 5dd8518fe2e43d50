/* copies.c - a program that loads two modules, each linked with a copy of UCX of its own, and with SCR, so
 * that no other object sees their libraries; and before them, if it is given, a library for all to see. */
#include <dlfcn.h>
#include <stdio.h>

static void *load(const char *path, int scope)
{
    void *module = dlopen(path, RTLD_NOW | scope);

    if (!module)
        fprintf(stderr, "%s\n", dlerror());
    return module;
}

int main(int argc, char **argv)
{
    void *module[2] = { NULL, NULL };
    int due = 7;

    if (argc > 3 && !load(argv[3], RTLD_GLOBAL))
        return 2;
    for (int i = 0; i < 2; i++)
        if (argc < 3 || !(module[i] = load(argv[1 + i], RTLD_LOCAL)))
            return 2;
    for (int i = 0; i < 2; i++)
        if (((int (*)(void))dlsym(module[i], "module_begin"))() != 0)
            return 3;
    for (int i = 0; i < 4; i++)
        printf("%u\n", ((unsigned (*)(void))dlsym(module[i % 2], "module_poll"))());
    printf("%d", ((int (*)(int *))dlsym(module[0], "module_asks"))(&due));
    printf(" %d\n", due);
    return 0;
}
