# lib/wire/: connections between our programs, and what they send
noinst_LIBRARIES += libwire.a
libwire_a_SOURCES = \
	lib/wire/auth.c lib/wire/auth.h \
	lib/wire/client.c lib/wire/client.h \
	lib/wire/identity.c lib/wire/identity.h \
	lib/wire/json.c lib/wire/json.h \
	lib/wire/link.c lib/wire/link.h \
	lib/wire/lookup.c lib/wire/lookup.h \
	lib/wire/loop.c lib/wire/loop.h \
	lib/wire/pages.c lib/wire/pages.h \
	lib/wire/seal.c lib/wire/seal.h \
	lib/wire/session.c lib/wire/session.h \
	lib/wire/telemetry.c lib/wire/telemetry.h \
	lib/wire/verifier.c lib/wire/verifier.h
libwire_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS) $(SODIUM_CFLAGS)
WIRE_LIBS = libwire.a $(COMMON_LIBS) $(EVENT_LIBS) $(JANSSON_LIBS) $(SODIUM_LIBS) $(MUNGE_LIBS)
