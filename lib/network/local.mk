# lib/network/: a fabric, and collectives as messages on it
noinst_LIBRARIES += libnetwork.a
libnetwork_a_SOURCES = \
	lib/network/agenda.c lib/network/agenda.h \
	lib/network/early.c lib/network/early.h \
	lib/network/fabric.c lib/network/fabric.h \
	lib/network/gate_queues.c lib/network/gate_queues.h \
	lib/network/network.c lib/network/network.h lib/network/network_alone.c lib/network/network_collective.c \
	lib/network/network_play.c lib/network/network_private.h lib/network/network_rounds.c lib/network/network_sample.c \
	lib/network/ring_rounds.c lib/network/ring_rounds.h \
	lib/network/schedule.c lib/network/schedule.h \
	lib/network/share.c lib/network/share.h
NETWORK_LIBS = libnetwork.a $(COMMON_LIBS) -lm
