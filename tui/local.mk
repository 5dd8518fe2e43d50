# tui/: sgtop
noinst_LIBRARIES += libtui.a
libtui_a_SOURCES = \
	tui/user_action.c tui/user_action.h \
	tui/filter.c tui/filter.h \
	tui/frame.c tui/frame.h \
	tui/health.c tui/health.h \
	tui/keymap.c tui/keymap.h \
	tui/look.c tui/look.h \
	tui/arguments.c tui/arguments.h \
	tui/outlook.c tui/outlook.h \
	tui/panel.c tui/panel.h tui/panel_evidence.c tui/panel_path.c \
	tui/panel_policy.c tui/panel_scaling.c tui/panel_step.c tui/panel_switches.c tui/panel_ways.c \
	tui/overview.c tui/overview.h \
	tui/playback.c tui/playback.h \
	tui/player.c tui/player.h \
	tui/replay.c tui/replay.h \
	tui/batch.c tui/batch.h \
	tui/rows.c tui/rows.h \
	tui/screen.c tui/screen.h tui/screen_help.c tui/screen_job.c tui/screen_jobs.c tui/screen_list.c \
	tui/screen_nodes.c \
	tui/sort_menu.c tui/sort_menu.h \
	tui/timeline.c tui/timeline.h \
	tui/ui.c tui/ui.h tui/ui_state.h
libtui_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(EVENT_CFLAGS)
TUI_LIBS = libtui.a $(TERM_LIBS) $(TRACE_LIBS) $(REPORT_LIBS) $(WIRE_LIBS) $(COMMON_LIBS) $(JANSSON_LIBS) $(EVENT_LIBS) -lm

bin_PROGRAMS += sgtop
sgtop_SOURCES = tui/sgtop.c
sgtop_CPPFLAGS = $(libtui_a_CPPFLAGS)
sgtop_LDADD = $(TUI_LIBS)
