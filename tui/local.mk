# tui/: sgtop
noinst_LTLIBRARIES += libtui.la
libtui_la_SOURCES = \
	tui/canvas.c tui/canvas.h \
	tui/deed.c tui/deed.h \
	tui/draw.c tui/draw.h \
	tui/figures.c tui/figures.h \
	tui/frame.c \
	tui/health.c tui/health.h \
	tui/keymap.c tui/keymap.h \
	tui/options.c tui/options.h \
	tui/outlook.c tui/outlook.h \
	tui/panel.c tui/panel.h tui/panel_evidence.c tui/panel_path.c \
	tui/panel_policy.c tui/panel_scaling.c tui/panel_ways.c \
	tui/pace.c tui/pace.h \
	tui/replay.c tui/replay.h \
	tui/report.c tui/report.h \
	tui/rows.c tui/rows.h \
	tui/screen.h tui/screen_help.c tui/screen_job.c tui/screen_jobs.c tui/screen_nodes.c \
	tui/snap_control.c tui/snap_control.h \
	tui/snapshot.c tui/snapshot.h \
	tui/source.c tui/source.h \
	tui/table.c tui/table.h \
	tui/term.c tui/term.h \
	tui/timeline.c tui/timeline.h \
	tui/ui.c tui/ui.h \
	tui/value.c tui/value.h
libtui_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(NCURSES_CFLAGS) $(EVENT_CFLAGS)
libtui_la_LIBADD = libtrace.la libjob.la libwire.la libcommon.la $(JANSSON_LIBS) $(NCURSES_LIBS) $(EVENT_LIBS) -lm

bin_PROGRAMS += sgtop
sgtop_SOURCES = tui/sgtop.c
sgtop_CPPFLAGS = $(libtui_la_CPPFLAGS)
sgtop_LDADD = libtui.la

check_PROGRAMS += tests/tui/screens
tests_tui_screens_SOURCES = tests/tui/screens.c tests/tui/fake.c tests/tui/fake_control.c tests/tui/fake.h
tests_tui_screens_CPPFLAGS = $(libtui_la_CPPFLAGS)
tests_tui_screens_LDADD = libtui.la

# The program itself: a controller for it, what it costs, and a person at the keys.
noinst_PROGRAMS += tests/tui/fakecontroller tests/tui/cost
tests_tui_cost_SOURCES = tests/tui/cost.c
tests_tui_cost_LDADD = -lutil
dist_check_SCRIPTS += tests/tui/terminal.sh
tests_tui_fakecontroller_SOURCES = tests/tui/fakecontroller.c tests/tui/fake.c tests/tui/fake_control.c tests/tui/fake.h tests/munge.h
tests_tui_fakecontroller_CPPFLAGS = $(libtui_la_CPPFLAGS)
tests_tui_fakecontroller_LDADD = libtui.la
dist_man_MANS += doc/sgtop.1

TUI_SCREENS = jobs-80x24 jobs-200x50 job-80x24 job-80x24-ascii job-80x24-quiet job-100x30 job-200x50 nodes-80x24 \
	nodes-200x50 help-80x24 job-80x24-many job-120x40-many job-80x24-bare evidence-80x24 evidence-80x24-end \
	evidence-80x24-bare evidence-120x40-quiet evidence-200x50-many path-80x24 path-80x24-ascii path-80x24-bare \
	path-120x40 scaling-80x24 scaling-80x24-ascii scaling-80x24-bare scaling-120x40 \
	ways-80x24 ways-80x24-ascii ways-80x24-bare ways-132x43 \
	policy-80x24 policy-80x24-end policy-80x24-bare policy-120x40 confirm-80x24
EXTRA_DIST += $(TUI_SCREENS:%=tests/tui/expected/%)

check_PROGRAMS += tests/tui/snapshot tests/tui/keys tests/tui/replay tests/fuzz/snapshot
tests_tui_replay_SOURCES = tests/tui/replay.c
tests_tui_replay_CPPFLAGS = $(libtui_la_CPPFLAGS)
tests_tui_replay_LDADD = libtui.la
tests_tui_snapshot_SOURCES = tests/tui/snapshot.c
tests_tui_snapshot_CPPFLAGS = $(libtui_la_CPPFLAGS)
tests_tui_snapshot_LDADD = libtui.la
tests_tui_keys_SOURCES = tests/tui/keys.c tests/tui/fake.c tests/tui/fake_control.c tests/tui/fake.h
tests_tui_keys_CPPFLAGS = $(libtui_la_CPPFLAGS)
tests_tui_keys_LDADD = libtui.la
tests_fuzz_snapshot_SOURCES = tests/fuzz/snapshot.c
tests_fuzz_snapshot_CPPFLAGS = $(libtui_la_CPPFLAGS)
tests_fuzz_snapshot_LDADD = libtui.la
if FUZZERS
tests_fuzz_snapshot_LDFLAGS = -fsanitize=fuzzer
else
tests_fuzz_snapshot_SOURCES += tests/fuzz/replay.c
endif
EXTRA_DIST += tests/fuzz/snapshot.corpus/job tests/fuzz/snapshot.corpus/jobs tests/fuzz/snapshot.corpus/nodes \
	tests/fuzz/snapshot.corpus/error tests/fuzz/snapshot.corpus/job-without-id tests/fuzz/snapshot.corpus/huge-numbers \
	tests/fuzz/snapshot.corpus/evidence tests/fuzz/snapshot.corpus/evidence-hostile \
	tests/fuzz/snapshot.corpus/nodes-health tests/fuzz/snapshot.corpus/scaling \
	tests/fuzz/snapshot.corpus/policy tests/fuzz/snapshot.corpus/ways
