/* pickle.h - reads what Python's pickle module writes, protocols 0 to 5, as data alone.
 *
 * A pickle is a program for a small machine with a stack.  Its instructions that make numbers, text and
 * containers are carried out here; those that could import, call or fetch anything are refused, and nothing
 * of them is done.  What is made: None, booleans, whole numbers and floats as in JSON (a float that is not
 * finite, null), text and bytes as text (what is not UTF-8 becomes '?'), lists, tuples and sets as arrays,
 * dictionaries as objects, whose keys are text or whole numbers.
 *
 * Nothing that the file says is believed before it is checked: lengths against what is left of the file,
 * depth, the memory that is taken in all, and how much there would be if each part that is used several times
 * were written out each time.  No container can become a part of itself. */
#ifndef SYNCGUARD_TRACE_PICKLE_H
#define SYNCGUARD_TRACE_PICKLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

#define PICKLE_FILE_MAX (256u << 20) /* bytes of a file */
/* Bytes that its values take, estimated from above: at most so many, and so many times those of the file and
 * a little more. */
#define PICKLE_MEMORY_MAX   (512u << 20)
#define PICKLE_MEMORY_RATIO 64u
#define PICKLE_MEMORY_MORE  (16u << 20)
#define PICKLE_DEPTH_MAX    64u        /* containers inside of each other */
#define PICKLE_PARTS_MAX    (1u << 26) /* values, and 16 bytes of text each, with repeated parts written out */

/* Do these first bytes of a file begin a pickle?  None of them begins JSON. */
bool pickle_begins(const unsigned char *data, size_t bytes);
/* The value that it makes, which the caller gives back with json_decref().  NULL with the instruction and the
 * byte, counted from 1, at which it stands.  What follows the end of the pickle is not looked at. */
json_t *pickle_read(const unsigned char *data, size_t bytes, struct err *err);

#endif
