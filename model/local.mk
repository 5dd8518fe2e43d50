# model/: pure formulas; what they need is libm alone
noinst_LTLIBRARIES += libmodel.la
libmodel_la_SOURCES = \
	model/step.c model/step.h
libmodel_la_LIBADD = -lm
