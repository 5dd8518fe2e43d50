# common/: what all our programs share
noinst_LTLIBRARIES += libcommon.la
libcommon_la_SOURCES = \
	common/conf.c common/conf.h \
	common/config.c common/config.h common/config_key.c common/config_key.h \
	common/config_policy.c common/config_policy.h common/config_print.c \
	common/units.c common/units.h \
	common/err.c common/err.h \
	common/log.c common/log.h \
	common/telemetry.c common/telemetry.h \
	common/text.c common/text.h \
	common/now.h common/xalloc.c common/xalloc.h
libcommon_la_LIBADD = -lm

# Links between programs; apart, so that the guests need none of these libraries.
noinst_LTLIBRARIES += liblink.la
liblink_la_SOURCES = \
	common/auth.c common/auth.h \
	common/client.c common/client.h \
	common/hosts.c common/hosts.h \
	common/link.c common/link.h \
	common/lookup.c common/lookup.h \
	common/seal.c common/seal.h
liblink_la_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS) $(SODIUM_CFLAGS)
liblink_la_LIBADD = libcommon.la $(EVENT_LIBS) $(JANSSON_LIBS) $(SODIUM_LIBS) $(MUNGE_LIBS)

EXTRA_DIST += tests/tap.h ring/ring.h ring/control.h doc/ARCHITECTURE.md doc/protocol.md
