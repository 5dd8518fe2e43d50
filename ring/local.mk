# ring/: one rank's events in shared memory.  Built twice: for our own programs, and for the probe, which lives in
# other people's processes and must bring neither a sanitizer's runtime nor code that is not position-independent.
ring_sources = ring/ring.h ring/control_page.h ring/layout.h ring/clock.h ring/clock.c ring/control_page.c ring/hot.h ring/launch.c ring/launch.h ring/marks.c ring/marks.h \
	ring/op.c \
	ring/pacing.c ring/pacing.h ring/reader.c ring/seqlock.h ring/shared.c ring/shared.h ring/steps.c ring/steps.h ring/writer.c
noinst_LIBRARIES += libring.a
noinst_LTLIBRARIES += libring_guest.la
libring_a_SOURCES = $(ring_sources)
RING_LIBS = libring.a
libring_guest_la_SOURCES = $(ring_sources)
libring_guest_la_CFLAGS = $(HOT_CFLAGS)
libring_guest_la_LDFLAGS =

bin_PROGRAMS += sgring
sgring_SOURCES = ring/sgring.c
sgring_LDADD = $(RING_LIBS) $(COMMON_LIBS)
