# lib/nodefigures/: what a node says of itself and of the ranks' processes
noinst_LIBRARIES += libnodefigures.a
libnodefigures_a_SOURCES = \
	lib/nodefigures/adapter.c lib/nodefigures/adapter.h \
	lib/nodefigures/connections.c lib/nodefigures/connections.h \
	lib/nodefigures/energy.c lib/nodefigures/energy.h \
	lib/nodefigures/gpu.c lib/nodefigures/gpu.h \
	lib/nodefigures/gpu_watch.c lib/nodefigures/gpu_watch.h \
	lib/nodefigures/health.c lib/nodefigures/health.h \
	lib/nodefigures/health_node.c lib/nodefigures/health_node.h \
	lib/nodefigures/health_task.c lib/nodefigures/health_task.h \
	lib/nodefigures/health_text.c lib/nodefigures/health_text.h \
	lib/nodefigures/rate.h
NODEFIGURES_LIBS = libnodefigures.a $(WIRE_LIBS) $(TOPOLOGY_LIBS) -ldl -lm
