# lib/rules/: what policies decide, from figures alone
noinst_LIBRARIES += librules.a
librules_a_SOURCES = \
	lib/rules/action.c lib/rules/action.h \
	lib/rules/cadence.c lib/rules/cadence.h \
	lib/rules/condition.c lib/rules/condition.h \
	lib/rules/effect.c lib/rules/effect.h \
	lib/rules/engine.c lib/rules/engine.h \
	lib/rules/figures.c lib/rules/figures.h \
	lib/rules/rule.c lib/rules/rule.h \
	lib/rules/site.c lib/rules/site.h
RULES_LIBS = librules.a $(MODEL_LIBS) $(COMMON_LIBS) -lm
