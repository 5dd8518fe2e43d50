/* nompi - is linked with no MPI and calls none: a probe that is loaded into it has nothing to do and must
 * show in nothing.  Prints "ok"; exits with the status given. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    puts("ok");
    return argc > 1 ? atoi(argv[1]) : 0;
}
