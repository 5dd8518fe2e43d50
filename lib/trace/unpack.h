/* unpack.h - the bytes of a file that may be compressed with gzip (RFC 1952, several members one after
 * another), in pieces.
 *
 * Content tells whether it is.  Archives and other compressions are refused, with what to type.  What a
 * damaged or hostile file unpacks to is bounded: a piece at a time is in memory, and UNPACK_BYTES_MAX in all
 * come of it. */
#ifndef SYNCGUARD_TRACE_UNPACK_H
#define SYNCGUARD_TRACE_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/err.h"

#define UNPACK_BYTES_MAX ((uint64_t)1 << 36) /* that a compressed file may have when it is unpacked */

struct unpack;

/* in is lent until it is freed. */
struct unpack *unpack_new(FILE *in);
void unpack_free(struct unpack *u); /* NULL is fine */
/* The next bytes, as many as data has room for unless the file ends: how many, 0 at the end, -1 with the
 * reason. */
int64_t unpack_read(struct unpack *u, char *data, size_t bytes, struct err *err);
/* Once something was read: it is compressed; its compressed bytes ended too early. */
bool unpack_is_packed(const struct unpack *u);
bool unpack_torn(const struct unpack *u);

#endif
