# lib/common/: what all our programs share
noinst_LIBRARIES += libcommon.a
libcommon_a_SOURCES = \
	lib/common/conf.c lib/common/conf.h \
	lib/common/config.c lib/common/config.h lib/common/config_print.c \
	lib/common/config_policy.c lib/common/config_policy.h \
	lib/common/key.c lib/common/key.h lib/common/key_print.c lib/common/value.c lib/common/value.h \
	lib/common/cpuset.c lib/common/cpuset.h \
	lib/common/proc.c lib/common/proc.h \
	lib/common/units.c lib/common/units.h \
	lib/common/err.c lib/common/err.h \
	lib/common/hostlist.c lib/common/hostlist.h \
	lib/common/hosts.c lib/common/hosts.h \
	lib/common/log.c lib/common/log.h \
	lib/common/map.c lib/common/map.h \
	lib/common/names.c lib/common/names.h \
	lib/common/nccl_conf.c lib/common/nccl_conf.h \
	lib/common/options.c lib/common/options.h lib/common/options_complete.c lib/common/options_grammar.c \
	lib/common/options_page.c lib/common/options_parse.c lib/common/options_private.h \
	lib/common/path.c lib/common/path.h \
	lib/common/preload.c lib/common/preload.h \
	lib/common/suggest.c lib/common/suggest.h \
	lib/common/text.c lib/common/text.h lib/common/tool.c lib/common/tool.h lib/common/trust.c lib/common/trust.h lib/common/utf8.c lib/common/utf8.h \
	lib/common/divisor.h lib/common/hash.h lib/common/now.h lib/common/xalloc.c lib/common/xalloc.h
COMMON_LIBS = libcommon.a -lm

EXTRA_DIST += lib/ring/ring.h lib/ring/control_page.h doc/ARCHITECTURE.md doc/THREATS.md doc/protocol.md
