# lib/trace/: recorded traces, from their bytes to a view and from a controller to a file
noinst_LIBRARIES += libtrace.a
libtrace_a_SOURCES = \
	lib/trace/calls.c lib/trace/calls.h \
	lib/trace/file.c lib/trace/file.h \
	lib/trace/flight_groups.c lib/trace/flight_groups.h \
	lib/trace/import.c lib/trace/import.h \
	lib/trace/import_chrome.c lib/trace/import_dialect.h \
	lib/trace/import_flight.c \
	lib/trace/import_format.c lib/trace/import_format.h \
	lib/trace/import_inspector.c \
	lib/trace/import_kineto.c \
	lib/trace/import_pipeline.c \
	lib/trace/import_records.c lib/trace/import_records.h \
	lib/trace/json_pieces.c lib/trace/json_pieces.h \
	lib/trace/line.c lib/trace/line.h \
	lib/trace/numbering.c lib/trace/numbering.h \
	lib/trace/pickle.c lib/trace/pickle.h \
	lib/trace/pickle_opcode.c lib/trace/pickle_opcode.h \
	lib/trace/progress.c lib/trace/progress.h \
	lib/trace/reader.c lib/trace/reader.h \
	lib/trace/sink.c lib/trace/sink.h \
	lib/trace/spans.c lib/trace/spans.h \
	lib/trace/timeline.c lib/trace/timeline.h \
	lib/trace/trace_events.c lib/trace/trace_events.h \
	lib/trace/unpack.c lib/trace/unpack.h
libtrace_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(ZLIB_CFLAGS)
TRACE_LIBS = libtrace.a $(SAMPLING_LIBS) $(VIEW_LIBS) $(COMMON_LIBS) $(JANSSON_LIBS) $(ZLIB_LIBS)
