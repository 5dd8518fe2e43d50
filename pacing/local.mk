# pacing/: pure rules that the probe and the simulator call alike.  Built twice, as ring/ is: for our own programs,
# and for the probe, without a sanitizer's runtime.
pacing_sources = pacing/holdout.c pacing/holdout.h pacing/pace.c pacing/pace.h pacing/pacer.c pacing/pacer.h
noinst_LIBRARIES += libpacing.a
noinst_LTLIBRARIES += libpacing_guest.la
libpacing_a_SOURCES = $(pacing_sources)
PACING_LIBS = libpacing.a -lm
libpacing_guest_la_SOURCES = $(pacing_sources)
libpacing_guest_la_CFLAGS = $(HOT_CFLAGS)
libpacing_guest_la_LDFLAGS =
