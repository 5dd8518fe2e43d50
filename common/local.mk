# common/: what all our programs share
noinst_LTLIBRARIES += libcommon.la
libcommon_la_SOURCES = \
	common/conf.c common/conf.h \
	common/config.c common/config.h common/config_key.c common/config_key.h \
	common/config_policy.c common/config_policy.h common/config_print.c \
	common/units.c common/units.h \
	common/err.c common/err.h \
	common/log.c common/log.h \
	common/text.c common/text.h \
	common/hash.h common/now.h common/xalloc.c common/xalloc.h
libcommon_la_LIBADD = -lm

EXTRA_DIST += ring/ring.h ring/control.h doc/ARCHITECTURE.md doc/protocol.md
