# wire/: what our programs say to each other, and how
noinst_LTLIBRARIES += libwire.la
libwire_la_SOURCES = \
	wire/auth.c wire/auth.h \
	wire/client.c wire/client.h \
	wire/hosts.c wire/hosts.h \
	wire/link.c wire/link.h \
	wire/lookup.c wire/lookup.h \
	wire/seal.c wire/seal.h \
	wire/telemetry.c wire/telemetry.h
libwire_la_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS) $(SODIUM_CFLAGS)
libwire_la_LIBADD = libcommon.la $(EVENT_LIBS) $(JANSSON_LIBS) $(SODIUM_LIBS) $(MUNGE_LIBS)
