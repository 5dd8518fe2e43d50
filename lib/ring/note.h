/* note.h - what a guest tells the agent in words: why it records nothing, or not all.
 *
 * A note is a symbolic link NAME.note in the step's directory (ring.h), whose target is the text; the agent
 * makes it a note of the step.  A link and not a file: tmpfs keeps a target of fewer than 128 bytes beside
 * the inode, so that a /dev/shm without a free page still takes the note that says so. No allocation, no
 * lock, nothing that waits. */
#ifndef SYNCGUARD_RING_NOTE_H
#define SYNCGUARD_RING_NOTE_H

#include <stdbool.h>

#define NOTE_MAX    256u /* bytes with the final 0; what is longer is cut */
#define NOTE_SUFFIX ".note"

/* Leave the note of this name; replace: in place of one that is there, else that one stays.  Who cannot leave
 * it says nothing. */
void note_leave(const char *dir, const char *name, const char *text, bool replace);
/* Agent: read the note of that file name.  False: it is none. */
bool note_read(const char *dir, const char *file, char text[NOTE_MAX]);

#endif
