# lib/term/: screens of text, and the terminal that shows them
noinst_LIBRARIES += libterm.a
libterm_a_SOURCES = \
	lib/term/canvas.c lib/term/canvas.h \
	lib/term/draw.c lib/term/draw.h \
	lib/term/padded.c lib/term/padded.h \
	lib/term/sheet.c lib/term/sheet.h \
	lib/term/table.c lib/term/table.h \
	lib/term/term.c lib/term/term.h
libterm_a_CPPFLAGS = $(AM_CPPFLAGS) $(NCURSES_CFLAGS)
TERM_LIBS = libterm.a $(COMMON_LIBS) $(NCURSES_LIBS) -lm
