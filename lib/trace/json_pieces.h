/* json_pieces.h - takes large JSON apart while it is read, so that no document has to fit into memory.
 *
 * A document is an object or an array; several may follow each other, as in JSON Lines.  Of an object each
 * member is a piece, of a member that is an array, and of a document that is one, each item.  The text of a
 * piece is not checked: whoever parses it does that.  What stands between pieces is.
 *
 * A document that ends too early is no error: what was complete of it was passed on (json_pieces_torn). */
#ifndef SYNCGUARD_TRACE_JSON_PIECES_H
#define SYNCGUARD_TRACE_JSON_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

#define JSON_PIECE_MAX (16u << 20) /* bytes of a piece */
#define JSON_KEY_MAX   255u        /* bytes of a key; longer ones are cut */

struct json_piece {
    enum json_piece_kind { JSON_MEMBER, JSON_ITEM, JSON_END } kind; /* JSON_END: of a document */
    const char *key;  /* the member's, as it is written; "": an item of a document that is an array */
    const char *text; /* bytes of it; lent */
    size_t bytes;
    uint64_t at; /* where it begins: bytes before it */
};

struct json_pieces;

/* each returns 0, or -1 to end the reading with that error. */
struct json_pieces *json_pieces_new(int (*each)(const struct json_piece *piece, void *arg, struct err *err),
                                    void *arg);
void json_pieces_free(struct json_pieces *p); /* NULL is fine */
/* The next bytes.  0, or -1 with the place that is no JSON, or with the error of each; then no more bytes may
 * come. */
int json_pieces_feed(struct json_pieces *p, const char *data, size_t bytes, struct err *err);
/* The bytes ended inside of a document. */
bool json_pieces_torn(const struct json_pieces *p);

#endif
