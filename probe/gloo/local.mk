# probe/gloo/: guest in the job's processes, a part of the probe (probe/local.mk).  No Gloo, no PyTorch, no C++.
gloo_sources = probe/gloo/collective.c probe/gloo/collective.h probe/gloo/group.c probe/gloo/group.h probe/gloo/guest.c probe/gloo/guest.h probe/gloo/inside.c probe/gloo/inside.h probe/gloo/layout.h probe/gloo/message.c probe/gloo/message.h \
	probe/gloo/origin.c probe/gloo/origin.h probe/gloo/phase.c probe/gloo/phase.h probe/gloo/unwind.c probe/gloo/unwind.h probe/gloo/wrappers.c
