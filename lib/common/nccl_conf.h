/* nccl_conf.h - whether a file that NCCL or RCCL reads sets a variable of theirs.
 *
 * Both take a variable from the environment, else from the first of these files that sets it, each a list of
 * lines NAME=VALUE (src/misc/param.cc of NCCL 2.23 to 2.30.7; of RCCL as in ROCm/rocm-systems):
 *
 *   NCCL   $NCCL_CONF_FILE where that is set and not empty, else ~/.nccl.conf; then /etc/nccl.conf
 *   RCCL   $NCCL_CONF_FILE where that is set and not empty, else ~/.rccl.conf; then /etc/rccl.conf
 *
 * Which of them a program uses is not known, so both are looked at.  Blanks are part of names and values, as
 * they are to NCCL.  Before 2.30 it takes the home directory from the user database, here it is $HOME.
 *
 * The files may be a user's own: to be called as that user, in a process of his, where it also waits if a
 * file system does.  At most NCCL_CONF_BYTES of a file are read, of regular files only.  It never aborts. */
#ifndef SYNCGUARD_COMMON_NCCL_CONF_H
#define SYNCGUARD_COMMON_NCCL_CONF_H

#include <stdbool.h>
#include <stddef.h>

#define NCCL_CONF_BYTES 65536u
#define NCCL_CONF_VALUE 1024u /* bytes of a value with its final 0: NCCL takes no more of it */

/* The first value that the text of a file gives to a variable, cut to what NCCL takes.  False: none. */
bool nccl_conf_value(const char *text, size_t bytes, const char *variable, char value[NCCL_CONF_VALUE]);

struct nccl_conf_files {
    const char *named;    /* $NCCL_CONF_FILE; NULL or "": not set */
    const char *home;     /* the home directory; NULL or "": not known */
    const char *etc;      /* "/etc" */
    const char *variable; /* looked for, in what neither library finds in the environment */
    const char *ours;     /* a value that is as if it were not set */
};

/* Whether a library would find another value than ours; then path is the file's, cut to its size. */
bool nccl_conf_find(const struct nccl_conf_files *f, char *path, size_t size);

#endif
