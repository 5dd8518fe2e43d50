# lib/pacing/: pure rules that the probe and the simulator call alike.  Built twice, as lib/ring/ is: for our own programs,
# and for the probe, without a sanitizer's runtime.
pacing_sources = lib/pacing/holdout.c lib/pacing/holdout.h lib/pacing/pace.c lib/pacing/pace.h lib/pacing/pacer.c lib/pacing/pacer.h
noinst_LIBRARIES += libpacing.a
noinst_LTLIBRARIES += libpacing_guest.la
libpacing_a_SOURCES = $(pacing_sources)
PACING_LIBS = libpacing.a -lm
libpacing_guest_la_SOURCES = $(pacing_sources)
libpacing_guest_la_CFLAGS = $(HOT_CFLAGS)
libpacing_guest_la_LDFLAGS =
