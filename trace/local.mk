# trace/: recorded traces, from their bytes to a view and from a controller to a file
noinst_LIBRARIES += libtrace.a
libtrace_a_SOURCES = \
	trace/calls.c trace/calls.h \
	trace/file.c trace/file.h \
	trace/import.c trace/import.h \
	trace/import_chrome.c trace/import_dialect.h \
	trace/import_flight.c \
	trace/import_format.c trace/import_format.h \
	trace/import_inspector.c \
	trace/import_kineto.c \
	trace/import_pipeline.c \
	trace/json_pieces.c trace/json_pieces.h \
	trace/line.c trace/line.h \
	trace/reader.c trace/reader.h \
	trace/sink.c trace/sink.h \
	trace/timeline.c trace/timeline.h
libtrace_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
TRACE_LIBS = libtrace.a $(ANALYSIS_LIBS) $(COMMON_LIBS) $(JANSSON_LIBS)
