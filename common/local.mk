# common/: what all our programs share
noinst_LTLIBRARIES += libcommon.la
libcommon_la_SOURCES = \
	common/err.c common/err.h \
	common/log.c common/log.h \
	common/xalloc.c common/xalloc.h
EXTRA_DIST += tests/tap.h common/units.h common/config.h common/client.h common/link.h common/telemetry.h ring/ring.h ring/control.h doc/ARCHITECTURE.md doc/protocol.md
