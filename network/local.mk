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
check_PROGRAMS += tests/unit/agenda tests/unit/network tests/unit/schedule tests/unit/share
tests_unit_agenda_SOURCES = tests/unit/agenda.c
tests_unit_agenda_LDADD = libnetwork.la
tests_unit_network_SOURCES = tests/unit/network.c
tests_unit_network_LDADD = libnetwork.la
tests_unit_schedule_SOURCES = tests/unit/schedule.c
tests_unit_schedule_LDADD = libnetwork.la
tests_unit_share_SOURCES = tests/unit/share.c
tests_unit_share_LDADD = libnetwork.la
