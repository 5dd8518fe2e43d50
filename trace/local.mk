# trace/: recorded traces, from their bytes to a view and from a controller to a file
noinst_LTLIBRARIES += libtrace.la
libtrace_la_SOURCES = \
	trace/line.c trace/line.h \
	trace/reader.c trace/reader.h \
	trace/sink.c trace/sink.h
libtrace_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libtrace_la_LIBADD = libanalysis.la libcommon.la $(JANSSON_LIBS)
