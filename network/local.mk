# network/: a fabric, and collectives as messages on it
noinst_LTLIBRARIES += libnetwork.la
libnetwork_la_SOURCES = \
	network/agenda.c network/agenda.h \
	network/fabric.c network/fabric.h \
	network/gate.c network/gate.h \
	network/gates.c network/gates.h \
	network/network.c network/network.h network/network_private.h network/play.c network/rounds.c \
	network/ring.c network/ring.h \
	network/sample.c \
	network/schedule.c network/schedule.h \
	network/share.c network/share.h
libnetwork_la_LIBADD = libcommon.la -lm
