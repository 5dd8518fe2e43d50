# api/: libsyncguard, a guest in programs that report their steps.  libc only.  Functions shared with our programs are
# renamed, because users' programs link the static library.
API_SOURCES = api/syncguard.c api/syncguard.h lib/ring/control_page.c lib/ring/control_page.h lib/ring/marks.c lib/ring/marks.h lib/ring/seqlock.h lib/ring/shared.c \
	lib/ring/shared.h lib/ring/steps.c lib/ring/steps.h
API_CFLAGS = $(GUEST_CFLAGS) -O2 $(addprefix -include $(top_srcdir)/,api/names.h)
lib_LTLIBRARIES += libsyncguard.la
libsyncguard_la_SOURCES = $(API_SOURCES) api/names.h
libsyncguard_la_CFLAGS = $(API_CFLAGS)
libsyncguard_la_LDFLAGS = $(HARDEN_LINK) -version-info 1:0:1 -no-undefined -Wl,-z,defs -Wl,-z,nodelete
libsyncguard_la_LIBADD = -lpthread
lib_LIBRARIES += api/libsyncguard.a
api_libsyncguard_a_SOURCES = $(API_SOURCES) api/names.h
api_libsyncguard_a_CFLAGS = $(API_CFLAGS) -fPIC
include_HEADERS = api/syncguard.h
pythondatadir = $(pkgdatadir)
dist_pythondata_DATA = api/syncguard.py
pkgconfigdir = $(libdir)/pkgconfig
nodist_pkgconfig_DATA = api/syncguard.pc
CLEANFILES += api/syncguard.pc
EXTRA_DIST += api/syncguard.pc.in
api/syncguard.pc: api/syncguard.pc.in Makefile
	$(AM_V_GEN)$(MKDIR_P) api && $(SED) -e 's|@version[@]|$(VERSION)|' -e 's|@docdir[@]|$(docdir)|' -e 's|@libdir[@]|$(libdir)|' \
		-e 's|@includedir[@]|$(includedir)|' $(srcdir)/$@.in >$@.new && mv $@.new $@
