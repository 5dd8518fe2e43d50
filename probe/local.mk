# probe/: guest in the job's processes.  libc and libm only: no MPI, no sanitizer.
pkglib_LTLIBRARIES += libsyncguard_probe.la
libsyncguard_probe_la_SOURCES = probe/abi.c probe/abi.h probe/call.h probe/collective.c probe/collective.def probe/comm.c probe/comm.h \
	probe/create.c probe/init.c probe/next.c probe/next.h probe/message.h probe/mix.h probe/nested.c probe/nested.h probe/number.c probe/number.h probe/onesided.c probe/p2p.c probe/p2p.h \
	probe/pace.c probe/pace.h probe/probe.c probe/probe.h probe/request.c probe/request.h probe/scr.c probe/thread.c probe/wait.c probe/window.c probe/window.h
libsyncguard_probe_la_SOURCES += $(gloo_sources)
libsyncguard_probe_la_CFLAGS = $(HOT_CFLAGS)
libsyncguard_probe_la_LDFLAGS = $(HARDEN_LINK) -module -avoid-version -no-undefined -Wl,-z,defs \
	-Wl,--version-script=$(top_srcdir)/probe/probe.map
libsyncguard_probe_la_LIBADD = libring_guest.la libpacing_guest.la -lm
libsyncguard_probe_la_DEPENDENCIES = libring_guest.la libpacing_guest.la probe/probe.map
EXTRA_DIST += probe/probe.map
