# tests/: what adding a test takes.
#   a unit test      NAME.c in tests/unit, and its name in UNIT_TESTS
#   a fuzz target    tests/fuzz/NAME.c and the folder tests/fuzz/NAME.corpus; both are found by name
#   a script         tests/AREA/NAME.sh that begins with `. "$top_srcdir/tests/tap.sh"`, and its name in dist_check_SCRIPTS
# A program consists of the one file of its name and is linked with everything there is, unless a line below lists more.

UNIT_TESTS = \
	tests/unit/ability \
	tests/unit/assignment \
	tests/unit/accounting \
	tests/unit/algorithm \
	tests/unit/already \
	tests/unit/action \
	tests/unit/action_kind \
	tests/unit/action_parts \
	tests/unit/adapter \
	tests/unit/advice \
	tests/unit/agenda \
	tests/unit/agent_arguments \
	tests/unit/agents \
	tests/unit/answers \
	tests/unit/audit \
	tests/unit/arrange \
	tests/unit/arrivals \
	tests/unit/backlog \
	tests/unit/cadence \
	tests/unit/cadence_job \
	tests/unit/cadence_policy \
	tests/unit/cause \
	tests/unit/child \
	tests/unit/client \
	tests/unit/collective \
	tests/unit/clocks \
	tests/unit/cluster \
	tests/unit/commands \
	tests/unit/condition \
	tests/unit/config \
	tests/unit/cores \
	tests/unit/path_shares \
	tests/unit/step_paths \
	tests/unit/trace_events \
	tests/unit/numbering \
	tests/unit/binding \
	tests/unit/baseline \
	tests/unit/before \
	tests/unit/believed \
	tests/unit/boundary \
	tests/unit/bounds \
	tests/unit/connections \
	tests/unit/cycle \
	tests/unit/delay \
	tests/unit/detours \
	tests/unit/deviate \
	tests/unit/diagnosis \
	tests/unit/efficiency \
	tests/unit/energy \
	tests/unit/early \
	tests/unit/earlier \
	tests/unit/engine \
	tests/unit/exchange \
	tests/unit/failure \
	tests/unit/flow \
	tests/unit/gpu \
	tests/unit/graph \
	tests/unit/guarded \
	tests/unit/health \
	tests/unit/history \
	tests/unit/hold \
	tests/unit/hosts \
	tests/unit/hot \
	tests/unit/http \
	tests/unit/jobtime \
	tests/unit/import \
	tests/unit/map \
	tests/unit/flight \
	tests/unit/pickle \
	tests/unit/interval \
	tests/unit/jobs \
	tests/unit/join \
	tests/unit/json \
	tests/unit/keeper \
	tests/unit/last \
	tests/unit/launch \
	tests/unit/onset \
	tests/unit/phases \
	tests/unit/lasting \
	tests/unit/lease \
	tests/unit/lemon \
	tests/unit/log \
	tests/unit/link \
	tests/unit/linkfit \
	tests/unit/links \
	tests/unit/loop \
	tests/unit/marks \
	tests/unit/members \
	tests/unit/mixed \
	tests/unit/marks_sent \
	tests/unit/nccl_conf \
	tests/unit/network \
	tests/unit/nodes \
	tests/unit/number \
	tests/unit/openmetrics \
	tests/unit/operators \
	tests/unit/options \
	tests/unit/order \
	tests/unit/oscillation \
	tests/unit/outages \
	tests/unit/overlap \
	tests/unit/pace \
	tests/unit/pacer \
	tests/unit/pacing \
	tests/unit/pairs \
	tests/unit/pacing_messages \
	tests/unit/page \
	tests/unit/page_html \
	tests/unit/pages \
	tests/unit/paired \
	tests/unit/pairwise \
	tests/unit/past \
	tests/unit/path \
	tests/unit/period \
	tests/unit/picture \
	tests/unit/pipeline \
	tests/unit/placed \
	tests/unit/placement \
	tests/unit/plan_answer \
	tests/unit/plugstack \
	tests/unit/proc \
	tests/unit/process \
	tests/unit/projection \
	tests/unit/phase \
	tests/unit/price \
	tests/unit/question \
	tests/unit/rails \
	tests/unit/random \
	tests/unit/recurrence \
	tests/unit/rendezvous \
	tests/unit/recorder \
	tests/unit/sampling \
	tests/unit/regime \
	tests/unit/job_line \
	tests/unit/report \
	tests/unit/report_print \
	tests/unit/report_next \
	tests/unit/report_parts \
	tests/unit/report_read \
	tests/unit/rhythm \
	tests/unit/ring \
	tests/unit/ring_threads \
	tests/unit/roles \
	tests/unit/scaling \
	tests/unit/scenario \
	tests/unit/rounds \
	tests/unit/schedule \
	tests/unit/seal \
	tests/unit/serving \
	tests/unit/share \
	tests/unit/shield \
	tests/unit/sim_job \
	tests/unit/sim_pace \
	tests/unit/site \
	tests/unit/slow_links \
	tests/unit/slurm_release \
	tests/unit/slurmd \
	tests/unit/srun \
	tests/unit/staleness \
	tests/unit/statistics \
	tests/unit/stall \
	tests/unit/step \
	tests/unit/stepdir \
	tests/unit/steps \
	tests/unit/starts \
	tests/unit/store \
	tests/unit/strategy \
	tests/unit/suggest \
	tests/unit/survey \
	tests/unit/telemetry \
	tests/unit/tempo \
	tests/unit/text \
	tests/unit/topology \
	tests/unit/topology_yaml \
	tests/unit/trace \
	tests/unit/trace_reader \
	tests/unit/trade \
	tests/unit/traffic \
	tests/unit/train \
	tests/unit/transfer_excess \
	tests/unit/trend \
	tests/unit/trust \
	tests/unit/try \
	tests/unit/tuning \
	tests/unit/units \
	tests/unit/unseen \
	tests/unit/updates \
	tests/unit/value \
	tests/unit/variation \
	tests/unit/verifier \
	tests/unit/view \
	tests/unit/view_bounds \
	tests/unit/view_marks
if HAVE_LIBSLURM
UNIT_TESTS += tests/unit/nodelist
endif

# Tests that start our programs, or take longer.
check_PROGRAMS += $(UNIT_TESTS) \
	tests/agent/agent-test \
	tests/daemon/controller \
	tests/daemon/policy \
	tests/daemon/site \
	tests/plan/projection \
	tests/policies/goodput \
	tests/spank/fakehost \
	tests/tui/keys \
	tests/nccl/beside \
	tests/nccl/replay \
	tests/tui/replay \
	tests/tui/screens

dist_check_SCRIPTS += \
	tests/analysis/before.sh tests/analysis/corpus.sh tests/analysis/episodes.sh tests/analysis/overlap.sh tests/analysis/programs.sh tests/analysis/setup.sh tests/analysis/together.sh \
	tests/cluster/accounting-test.sh \
	tests/cluster/action-test.sh \
	tests/cluster/advice-test.sh \
	tests/cluster/binding-test.sh \
	tests/cluster/checkpoint-test.sh \
	tests/cluster/container-test.sh \
	tests/cluster/doctor-test.sh \
	tests/cluster/gloo-test.sh \
	tests/cluster/badday-test.sh \
	tests/cluster/guard-test.sh \
	tests/cluster/packages-test.sh \
	tests/cluster/pace-test.sh \
	tests/cluster/placement-test.sh \
	tests/cluster/probe-test.sh \
	tests/cluster/slurm-test.sh \
	tests/cluster/spank-test.sh \
	tests/completion/shells.sh \
	tests/ctl/commands.sh \
	tests/ctl/export.sh \
	tests/ctl/gpu.sh \
	tests/ctl/hang.sh \
	tests/ctl/html.sh \
	tests/ctl/import.sh \
	tests/ctl/live.sh \
	tests/ctl/plugstack.sh \
	tests/ctl/step.sh \
	tests/ctl/terminal.sh \
	tests/daemon/backup.sh \
	tests/daemon/bounds.sh \
	tests/daemon/lease.sh \
	tests/daemon/lists.sh \
	tests/daemon/metrics.sh \
	tests/daemon/unit.sh \
	tests/daemon/upgrade.sh \
	tests/doc/figures.py \
	tests/doc/guide.sh \
	tests/doc/names.py \
	tests/doc/pages.sh \
	tests/plan/commands.sh \
	tests/plan/oracles.sh \
	tests/plan/simulate.sh \
	tests/plan/strategies.sh \
	tests/probe/cases.sh \
	tests/probe/environments.sh \
	tests/probe/legal.sh \
	tests/probe/messages.sh \
	tests/probe/onesided.sh \
	tests/probe/pace.sh \
	tests/probe/path.sh \
	tests/probe/record.sh \
	tests/probe/rings.sh \
	tests/probe/scr.sh \
	tests/probe/copies.sh \
	tests/probe/standard.sh \
	tests/probe/stress.sh \
	tests/probe/tool.sh \
	tests/probe/zoo.sh \
	tests/gloo/both.sh \
	tests/gloo/fake.sh \
	tests/gloo/guarded.sh \
	tests/gloo/guests.sh \
	tests/gloo/phases.sh \
	tests/nccl/guarded.sh \
	tests/run/sgrun.sh \
	tests/run/unseen.sh \
	tests/security/impostors.sh \
	tests/security/node.sh \
	tests/security/siege.sh \
	tests/simgrid/agree.sh \
	tests/dist.sh tests/format.sh tests/packages.py tests/tree.py \
	tests/topology/slurmctld.sh \
	tests/tui/terminal.sh \
	tests/workloads/halo-test.sh \
	tests/workloads/pipeline-test.sh \
	tests/workloads/server-test.sh \
	tests/workloads/shares.sh \
	tests/workloads/trainer-test.sh \
	tests/workloads/zoo-test.sh

# Programs that tests and benchmarks run.
noinst_PROGRAMS += \
	tests/agent/agent-next \
	tests/agent/writers \
	tests/bench/engine \
	tests/bench/nccl \
	tests/bench/network \
	tests/cluster/cpuslow \
	tests/cluster/enter \
	tests/cluster/linkdelay \
	tests/daemon/fill \
	tests/daemon/hostile \
	tests/daemon/simjob \
	tests/daemon/syncguardd-next \
	tests/nccl/pipeline \
	tests/probe/compare \
	tests/probe/plan \
	tests/probe/steps_ask \
	tests/simgrid/case \
	tests/spank/standin-agent \
	tests/topology/switches \
	tests/tui/cost \
	tests/tui/fakecontroller

# What a program without an LDADD of its own is linked with: all libraries, each once and behind those that use it. libtool takes seconds for a list
# in which the same names return, as in the folders' own, and there are 200 programs.
LDADD = tests/libtest.a librun.a libplan.a libsim.a libctl.a libdoctor.a libtui.a libterm.a libtrace.a libagent.a libnodefigures.a libtopology.a libnetwork.a libdaemon.a libactions.a libhistory.a \
	libslurmfacts.a libjob.a libreport.a librules.a libpacing.a libsampling.a libview.a libcalls.a libdetect.a libgraph.a libmodel.a libring.a libwire.a libcommon.a $(SECCOMP_LIBS) \
	$(MUNGE_LIBS) $(MICROHTTPD_LIBS) $(CURL_LIBS) $(EVENT_LIBS) $(JANSSON_LIBS) $(NCURSES_LIBS) $(SODIUM_LIBS) $(SQLITE_LIBS) $(ZLIB_LIBS) -ldl -lpthread -lm
AM_CPPFLAGS += $(EVENT_CFLAGS) $(JANSSON_CFLAGS) $(SQLITE_CFLAGS) $(ZLIB_CFLAGS)

# Guests' own objects have no sanitizer; these have.
check_LIBRARIES += tests/libtest.a
tests_libtest_a_SOURCES = api/syncguard.c probe/number.c spank/advice.c spank/args.c spank/binding.c spank/cmdline.c spank/command.c spank/earlier.c spank/keeper.c spank/lemons.c spank/placement.c spank/question.c spank/stepdir.c spank/tasks.c spank/text.c spank/tuning.c
tests_libtest_a_CFLAGS = $(AM_CFLAGS)

# More than one file
tests_agent_agent_test_SOURCES = tests/agent/agent-test.c tests/agent/controller.c tests/agent/controller.h
tests_tui_screens_SOURCES = tests/tui/screens.c tests/tui/fake.c tests/tui/fake_control.c tests/tui/fake_step.c tests/tui/fake.h
tests_tui_keys_SOURCES = tests/tui/keys.c tests/tui/fake.c tests/tui/fake_control.c tests/tui/fake_step.c tests/tui/fake.h
tests_tui_fakecontroller_SOURCES = tests/tui/fakecontroller.c tests/tui/fake.c tests/tui/fake_control.c tests/tui/fake_step.c tests/tui/fake.h

# Of a release whose protocol has a newer version, whatever this one's is.
NEXT_CPPFLAGS = $(AM_CPPFLAGS) -DLINK_VERSION=1000u
tests_agent_agent_next_SOURCES = agent/main.c lib/wire/link.c
tests_agent_agent_next_CPPFLAGS = $(NEXT_CPPFLAGS)
tests_daemon_syncguardd_next_SOURCES = daemon/syncguardd.c lib/wire/link.c
tests_daemon_syncguardd_next_CPPFLAGS = $(NEXT_CPPFLAGS)

# What it puts in the place of.
ANSWERS_WRAP = view_verdicts_get view_verdicts_raised view_verdicts_reported view_sentence view_figures_get view_comms_get \
	view_comm_label view_shortfalls_get view_critical_path_get view_projection_get view_cpu_lack view_value_get \
	view_non_finite_get view_columns_get view_stretches_get view_rank_columns view_rank_get view_latest_get \
	view_rank_health_get view_node_health_get view_picture report_switches_get report_scaling_get report_strategies_get \
	report_overlap_get audit_list actions_get actions_list history_effect history_lemons store_usual link_uid link_send
tests_unit_answers_LDFLAGS = $(AM_LDFLAGS) $(ANSWERS_WRAP:%=-Wl,--wrap=%)

tests_topology_switches_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=topology_add

# With libslurm, which only the controller's helper is linked with.
tests_unit_nodelist_SOURCES = tests/unit/nodelist.c lib/slurm/nodelist.c lib/slurm/nodelist.h
tests_unit_nodelist_LDADD = $(COMMON_LIBS) -lslurm

# Where configure knows of NCCL's own headers
if NCCL_HEADERS
check_PROGRAMS += tests/nccl/layout
tests_nccl_layout_CPPFLAGS = $(AM_CPPFLAGS) -isystem $(NCCL_HEADERS)
endif

# Fewer libraries: they stand for others' programs.
tests_spank_fakehost_LDFLAGS = -export-dynamic
tests_spank_fakehost_LDADD =
tests_spank_standin_agent_LDADD =
tests_cluster_cpuslow_LDADD =
tests_cluster_enter_LDADD =
tests_cluster_linkdelay_LDADD =
tests_tui_cost_LDADD = -lutil

# Loaded at run time. An rpath makes a shared object of what is not installed.
LOADED = -module -avoid-version -rpath /nowhere
check_LTLIBRARIES += tests/agent/fake_nvml.la tests/agent/fake_nvml_old.la tests/daemon/site_none.la tests/daemon/site_odd.la tests/daemon/site_other.la
tests_agent_fake_nvml_la_SOURCES = tests/agent/fake-nvml.c
tests_agent_fake_nvml_la_LDFLAGS = $(LOADED)
tests_agent_fake_nvml_old_la_SOURCES = tests/agent/fake-nvml.c
tests_agent_fake_nvml_old_la_CPPFLAGS = $(AM_CPPFLAGS) -DOLD_DRIVER
tests_agent_fake_nvml_old_la_LDFLAGS = $(LOADED)
tests_daemon_site_none_la_LDFLAGS = $(LOADED)
tests_daemon_site_odd_la_LDFLAGS = $(LOADED)
tests_daemon_site_other_la_LDFLAGS = $(LOADED)
noinst_LTLIBRARIES += standin-probe.la
standin_probe_la_SOURCES = tests/spank/standin-probe.c
standin_probe_la_CFLAGS = $(GUEST_CFLAGS)
standin_probe_la_LDFLAGS = $(LOADED)

include tests/fuzz/local.mk
include tests/workloads/local.mk
include tests/probe/local.mk
include tests/bench/hook.mk

# What needs no cluster and no program but itself (also for sanitizers, other compilers and distcheck), the programs and
# scripts, and what runs on the private cluster: that measures, so its tests are not run beside each other.
SINGLE_TESTS = $(filter tests/unit/%,$(check_PROGRAMS)) $(FUZZ_TESTS) tests/dist.sh tests/format.sh tests/tree.py tests/packages.py tests/doc/figures.py tests/doc/names.py
CLUSTER_TESTS = $(filter tests/cluster/% tests/security/%,$(dist_check_SCRIPTS))
PROGRAM_TESTS = $(filter-out $(SINGLE_TESTS) $(CLUSTER_TESTS),$(check_PROGRAMS) $(dist_check_SCRIPTS))
.PHONY: check-unit check-programs check-cluster distcheck-unit
check-programs:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(PROGRAM_TESTS)'
check-cluster:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(CLUSTER_TESTS)'
check-unit:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(SINGLE_TESTS)'
distcheck-unit:
	$(MAKE) $(AM_MAKEFLAGS) distcheck TESTS='$(SINGLE_TESTS)'

# Files of tests, by pattern.
dist_files = $(patsubst $(srcdir)/%,%,$(wildcard $(addprefix $(srcdir)/,$(1))))
EXTRA_DIST += packages.txt tests/timed $(call dist_files,tests/*.h tests/*.sh tests/*/*.h tests/topology/files/* tests/run/prelude.sh tests/gloo/torch.sh tests/ctl/*.json tests/ctl/*.txt tests/ctl/*.html tests/ctl/*.py tests/daemon/*.yml tests/tui/expected/* tests/trace/samples/* \
	tests/fuzz/*.c tests/fuzz/*.corpus/* tests/plan/known.csv tests/plan/*.py tests/plan/*-simulated tests/simgrid/compare tests/doc/picture.py tests/workloads/*.sh \
	tests/analysis/*.py tests/analysis/sensitivity tests/cluster/slurm tests/cluster/*.sh tests/cluster/install-packages tests/cluster/packages-install tests/cluster/live-table \
	tests/cluster/demo-score tests/cluster/doctor-table tests/matrix tests/repeat tests/cluster/placement-table tests/cluster/programs-table tests/cluster/gloo-table tests/cluster/forms-table tests/nccl/nccl-table tests/nccl/train.py tests/nccl/loop.c tests/gloo/paired.py tests/gloo/elastic.py tests/gloo/mixed.py \
	tests/cluster/slowdevice.c tests/cluster/wrongclock.c)
