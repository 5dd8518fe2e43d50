# probe/nccl/: guest in the job's processes.  libc only: no NCCL, no CUDA, no sanitizer.
# It stays loaded (nodelete), because threads that it knows may end after NCCL has unloaded it.
pkglib_LTLIBRARIES += libsyncguard_nccl.la
libsyncguard_nccl_la_SOURCES = probe/nccl/plugin.c probe/nccl/profiler.h probe/nccl/record.c probe/nccl/record.h
libsyncguard_nccl_la_CFLAGS = $(HOT_CFLAGS)
libsyncguard_nccl_la_LDFLAGS = $(HARDEN_LINK) -module -avoid-version -no-undefined -Wl,-z,defs -Wl,-z,nodelete \
	-Wl,--version-script=$(top_srcdir)/probe/nccl/nccl.map
libsyncguard_nccl_la_LIBADD = libring_guest.la
libsyncguard_nccl_la_DEPENDENCIES = libring_guest.la probe/nccl/nccl.map
EXTRA_DIST += probe/nccl/nccl.map
