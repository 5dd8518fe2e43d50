# common/: what all our programs share
noinst_LTLIBRARIES += libcommon.la
libcommon_la_SOURCES = \
	common/conf.c common/conf.h \
	common/config.c common/config.h \
	common/units.c common/units.h \
	common/err.c common/err.h \
	common/log.c common/log.h \
	common/xalloc.c common/xalloc.h
EXTRA_DIST += tests/tap.h common/client.h common/link.h common/telemetry.h ring/ring.h ring/control.h doc/ARCHITECTURE.md doc/protocol.md
libcommon_la_LIBADD = -lm
