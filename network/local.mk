# network/: a fabric, and collectives as messages on it
noinst_LIBRARIES += libnetwork.a
libnetwork_a_SOURCES = \
	network/agenda.c network/agenda.h \
	network/fabric.c network/fabric.h \
	network/gate_queues.c network/gate_queues.h \
	network/network.c network/network.h network/network_play.c network/network_private.h network/network_rounds.c \
	network/network_sample.c \
	network/ring_rounds.c network/ring_rounds.h \
	network/schedule.c network/schedule.h \
	network/share.c network/share.h
NETWORK_LIBS = libnetwork.a $(COMMON_LIBS) -lm
