# lib/actions/: what the controller does to jobs and nodes, and by which way
noinst_LIBRARIES += libactions.a
libactions_a_SOURCES = \
	lib/actions/slurm_helper.h \
	lib/actions/action.c lib/actions/action.h \
	lib/actions/action_way.c lib/actions/action_way.h \
	lib/actions/attempt.h \
	lib/actions/http.c lib/actions/http.h \
	lib/actions/rest.c lib/actions/rest.h lib/actions/rest_answer.c lib/actions/rest_answer.h \
	lib/actions/secret.c lib/actions/secret.h \
	lib/actions/template.c lib/actions/template.h \
	lib/actions/webhook.c lib/actions/webhook.h
libactions_a_CPPFLAGS = $(AM_CPPFLAGS) $(CURL_CFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS) $(SQLITE_CFLAGS)
ACTIONS_LIBS = libactions.a $(HISTORY_LIBS) $(SLURMFACTS_LIBS) $(RULES_LIBS) $(COMMON_LIBS) $(CURL_LIBS) $(EVENT_LIBS) $(JANSSON_LIBS) $(SQLITE_LIBS)

# The controller's helper that calls libslurm.
if HAVE_LIBSLURM
pkglibexec_PROGRAMS += syncguard-slurm-helper
syncguard_slurm_helper_SOURCES = lib/actions/slurm_helper_main.c lib/actions/slurm_helper.c lib/actions/slurm_helper.h lib/slurm/comment.c lib/slurm/compat.c lib/slurm/compat.h lib/slurm/nodelist.c lib/slurm/nodelist.h lib/wire/json.c lib/wire/json.h
syncguard_slurm_helper_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
syncguard_slurm_helper_LDADD = $(RULES_LIBS) $(COMMON_LIBS) $(JANSSON_LIBS) -lslurm
else
EXTRA_DIST += lib/actions/slurm_helper_main.c lib/actions/slurm_helper.c lib/slurm/compat.c lib/slurm/compat.h lib/slurm/nodelist.c lib/slurm/nodelist.h tests/unit/nodelist.c
endif
