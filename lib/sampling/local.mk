# lib/sampling/: pure, events of a rank to samples and steps
noinst_LIBRARIES += libsampling.a
libsampling_a_SOURCES = \
	lib/sampling/flow.c lib/sampling/flow.h \
	lib/sampling/period.c lib/sampling/period.h
SAMPLING_LIBS = libsampling.a $(WIRE_LIBS) $(RING_LIBS) -lm
