# trace/: recorded traces, from their bytes to a view and from a controller to a file
noinst_LIBRARIES += libtrace.a
libtrace_a_SOURCES = \
	trace/file.c trace/file.h \
	trace/line.c trace/line.h \
	trace/reader.c trace/reader.h \
	trace/sink.c trace/sink.h
libtrace_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
TRACE_LIBS = libtrace.a $(ANALYSIS_LIBS) $(COMMON_LIBS) $(JANSSON_LIBS)
