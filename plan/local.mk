# plan/: sgplan, predictions
noinst_LTLIBRARIES += libplan.la
libplan_la_SOURCES = \
	plan/answer.c plan/answer.h \
	plan/options.c plan/options.h \
	plan/question.c plan/question.h \
	plan/questions.c plan/questions.h \
	plan/speedup.c \
	plan/step.c
libplan_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libplan_la_LIBADD = libmodel.la libcommon.la $(JANSSON_LIBS) -lm

bin_PROGRAMS += sgplan
sgplan_SOURCES = plan/sgplan.c
sgplan_LDADD = libplan.la

dist_bashcompletion_DATA += plan/completion/sgplan
