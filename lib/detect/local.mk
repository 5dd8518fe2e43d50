# lib/detect/: pure, arrays in, findings out
noinst_LIBRARIES += libdetect.a
libdetect_a_SOURCES = \
	lib/detect/cause.c lib/detect/cause.h \
	lib/detect/delay.c lib/detect/delay.h \
	lib/detect/detours.c lib/detect/detours.h \
	lib/detect/diagnosis.c lib/detect/diagnosis.h \
	lib/detect/diagnosis_before.c \
	lib/detect/diagnosis_by_replays.c \
	lib/detect/diagnosis_by_work.c \
	lib/detect/diagnosis_price.c \
	lib/detect/diagnosis_private.h \
	lib/detect/efficiency.c lib/detect/efficiency.h \
	lib/detect/finding.c lib/detect/finding.h \
	lib/detect/growth.c lib/detect/growth.h \
	lib/detect/onset.c lib/detect/onset.h \
	lib/detect/oscillation.c lib/detect/oscillation.h \
	lib/detect/places.c lib/detect/places.h \
	lib/detect/pricing.h \
	lib/detect/recurrence.c lib/detect/recurrence.h \
	lib/detect/rhythm.c lib/detect/rhythm.h \
	lib/detect/straggler.c lib/detect/straggler.h \
	lib/detect/transfer.c lib/detect/transfer.h \
	lib/detect/trend.c lib/detect/trend.h \
	lib/detect/variability.c lib/detect/variability.h \
	lib/detect/work.c lib/detect/work.h
DETECT_LIBS = libdetect.a $(MODEL_LIBS) $(COMMON_LIBS) -lm
