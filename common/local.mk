# common/: what all our programs share
noinst_LIBRARIES += libcommon.a
libcommon_a_SOURCES = \
	common/conf.c common/conf.h \
	common/config.c common/config.h common/config_print.c \
	common/config_policy.c common/config_policy.h \
	common/key.c common/key.h common/key_print.c common/value.c common/value.h \
	common/cpuset.c common/cpuset.h \
	common/proc.c common/proc.h \
	common/units.c common/units.h \
	common/err.c common/err.h \
	common/hostlist.c common/hostlist.h \
	common/hosts.c common/hosts.h \
	common/log.c common/log.h \
	common/map.c common/map.h \
	common/options.c common/options.h common/options_complete.c common/options_page.c common/options_private.h \
	common/preload.c common/preload.h \
	common/suggest.c common/suggest.h \
	common/text.c common/text.h common/tool.c common/tool.h common/trust.c common/trust.h common/utf8.c common/utf8.h \
	common/hash.h common/now.h common/xalloc.c common/xalloc.h
COMMON_LIBS = libcommon.a -lm

EXTRA_DIST += ring/ring.h ring/control_page.h doc/ARCHITECTURE.md doc/THREATS.md doc/protocol.md
