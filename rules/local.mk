# rules/: what policies decide, from figures alone
noinst_LIBRARIES += librules.a
librules_a_SOURCES = \
	rules/action.c rules/action.h \
	rules/cadence.c rules/cadence.h \
	rules/condition.c rules/condition.h \
	rules/effect.c rules/effect.h \
	rules/engine.c rules/engine.h \
	rules/figures.c rules/figures.h \
	rules/rule.c rules/rule.h \
	rules/site.c rules/site.h
RULES_LIBS = librules.a $(MODEL_LIBS) $(COMMON_LIBS) -lm
