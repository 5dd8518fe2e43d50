# lib/ring/: one rank's events in shared memory.  Built twice: for our own programs, and for the probe, which lives in
# other people's processes and must bring neither a sanitizer's runtime nor code that is not position-independent.
ring_sources = lib/ring/ring.h lib/ring/call.h lib/ring/control_page.h lib/ring/layout.h lib/ring/clock.h lib/ring/clock.c lib/ring/control_page.c lib/ring/hot.h lib/ring/launch.c lib/ring/launch.h lib/ring/marks.c lib/ring/marks.h \
	lib/ring/note.c lib/ring/note.h lib/ring/op.c \
	lib/ring/pacing.c lib/ring/pacing.h lib/ring/reader.c lib/ring/seqlock.h lib/ring/shared.c lib/ring/shared.h lib/ring/steps.c lib/ring/steps.h lib/ring/writer.c
noinst_LIBRARIES += libring.a
noinst_LTLIBRARIES += libring_guest.la
libring_a_SOURCES = $(ring_sources)
RING_LIBS = libring.a
libring_guest_la_SOURCES = $(ring_sources)
libring_guest_la_CFLAGS = $(HOT_CFLAGS)
libring_guest_la_LDFLAGS =

bin_PROGRAMS += sgring
sgring_SOURCES = lib/ring/sgring.c
sgring_LDADD = $(RING_LIBS) $(COMMON_LIBS)
