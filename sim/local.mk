# sim/: a fabric, collectives as messages on it, jobs
noinst_LTLIBRARIES += libsim.la
libsim_la_SOURCES =
libsim_la_LIBADD = libcommon.la -lm
# The network
libsim_la_SOURCES += \
	sim/agenda.c sim/agenda.h \
	sim/fabric.c sim/fabric.h \
	sim/network.c sim/network.h sim/network_private.h sim/play.c sim/rounds.c \
	sim/ring.c sim/ring.h \
	sim/schedule.c sim/schedule.h \
	sim/share.c sim/share.h

check_PROGRAMS += tests/unit/network tests/unit/schedule tests/unit/share
tests_unit_network_SOURCES = tests/unit/network.c
tests_unit_network_LDADD = libsim.la
tests_unit_schedule_SOURCES = tests/unit/schedule.c
tests_unit_schedule_LDADD = libsim.la
tests_unit_share_SOURCES = tests/unit/share.c
tests_unit_share_LDADD = libsim.la
