# actions/: what the controller does to jobs and nodes, and by which way
noinst_LIBRARIES += libactions.a
libactions_a_SOURCES = \
	actions/slurm_helper.h \
	actions/action.c actions/action.h \
	actions/action_record.c actions/action_record.h \
	actions/action_book.c actions/action_book.h \
	actions/action_way.c actions/action_way.h \
	actions/attempt.h \
	actions/http.c actions/http.h \
	actions/rest.c actions/rest.h actions/rest_answer.c actions/rest_answer.h \
	actions/secret.c actions/secret.h \
	actions/template.c actions/template.h \
	actions/webhook.c actions/webhook.h
libactions_a_CPPFLAGS = $(AM_CPPFLAGS) $(CURL_CFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS) $(SQLITE_CFLAGS)
ACTIONS_LIBS = libactions.a $(HISTORY_LIBS) $(SLURMFACTS_LIBS) $(RULES_LIBS) $(COMMON_LIBS) $(CURL_LIBS) $(EVENT_LIBS) $(JANSSON_LIBS) $(SQLITE_LIBS)

# The controller's helper that calls libslurm.
if HAVE_LIBSLURM
pkglibexec_PROGRAMS += syncguard-slurm-helper
syncguard_slurm_helper_SOURCES = actions/slurm_helper_main.c actions/slurm_helper.c actions/slurm_helper.h slurm/comment.c slurm/compat.c slurm/compat.h slurm/nodelist.c slurm/nodelist.h wire/json.c wire/json.h
syncguard_slurm_helper_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
syncguard_slurm_helper_LDADD = $(RULES_LIBS) $(COMMON_LIBS) $(JANSSON_LIBS) -lslurm
else
EXTRA_DIST += actions/slurm_helper_main.c actions/slurm_helper.c slurm/compat.c slurm/compat.h slurm/nodelist.c slurm/nodelist.h tests/unit/nodelist.c
endif
