# gloo/: guest in the job's processes, a part of the probe (probe/local.mk).  No Gloo, no PyTorch, no C++.
gloo_sources = gloo/collective.c gloo/collective.h gloo/group.c gloo/group.h gloo/guest.c gloo/guest.h gloo/layout.h gloo/message.c gloo/message.h \
	gloo/origin.c gloo/origin.h gloo/phase.c gloo/phase.h gloo/unwind.c gloo/unwind.h gloo/wrappers.c
