# wire/: connections between our programs, and what they send
noinst_LIBRARIES += libwire.a
libwire_a_SOURCES = \
	wire/auth.c wire/auth.h \
	wire/client.c wire/client.h \
	wire/identity.c wire/identity.h \
	wire/json.c wire/json.h \
	wire/link.c wire/link.h \
	wire/lookup.c wire/lookup.h \
	wire/loop.c wire/loop.h \
	wire/pages.c wire/pages.h \
	wire/seal.c wire/seal.h \
	wire/session.c wire/session.h \
	wire/telemetry.c wire/telemetry.h \
	wire/verifier.c wire/verifier.h
libwire_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS) $(SODIUM_CFLAGS)
WIRE_LIBS = libwire.a $(COMMON_LIBS) $(EVENT_LIBS) $(JANSSON_LIBS) $(SODIUM_LIBS) $(MUNGE_LIBS)
