# tests/: see doc/ARCHITECTURE.md
include tests/spank/local.mk

# What needs no cluster and no program but itself: for sanitizers, other compilers and distcheck.
UNIT_TESTS = $(filter tests/unit/% tests/fuzz/%,$(check_PROGRAMS)) tests/tree.py
.PHONY: check-unit distcheck-unit
check-unit:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(UNIT_TESTS)'
distcheck-unit:
	$(MAKE) $(AM_MAKEFLAGS) distcheck TESTS='$(UNIT_TESTS)'

# The folders are what doc/ARCHITECTURE.md says
dist_check_SCRIPTS += tests/tree.py

# Units, configuration files
check_PROGRAMS += tests/unit/units tests/unit/text tests/unit/config tests/fuzz/conf
tests_unit_text_SOURCES = tests/unit/text.c
tests_unit_text_LDADD = libcommon.la
tests_unit_units_SOURCES = tests/unit/units.c
tests_unit_units_LDADD = libcommon.la
tests_unit_config_SOURCES = tests/unit/config.c
tests_unit_config_LDADD = libcommon.la
tests_fuzz_conf_SOURCES = tests/fuzz/conf.c
tests_fuzz_conf_LDADD = libcommon.la
if FUZZERS
tests_fuzz_conf_LDFLAGS = -fsanitize=fuzzer
else
tests_fuzz_conf_SOURCES += tests/fuzz/replay.c
endif
EXTRA_DIST += tests/fuzz/conf.corpus/good tests/fuzz/conf.corpus/open-quote tests/fuzz/conf.corpus/include \
	tests/fuzz/conf.corpus/continued-end tests/fuzz/conf.corpus/reserved tests/fuzz/conf.corpus/nul \
	tests/fuzz/conf.corpus/many-keys tests/fuzz/conf.corpus/long-line
include tests/workloads/local.mk
include tests/probe/local.mk
include tests/bench/hook.mk
include tests/simgrid/local.mk


# sgctl
check_PROGRAMS += tests/unit/page tests/unit/usage tests/unit/trace tests/unit/plugstack
tests_unit_page_SOURCES = tests/unit/page.c
tests_unit_page_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_unit_page_LDADD = libctl.la
tests_unit_usage_SOURCES = tests/unit/usage.c
tests_unit_usage_LDADD = libctl.la
tests_unit_trace_SOURCES = tests/unit/trace.c
tests_unit_trace_LDADD = libctl.la
tests_unit_plugstack_SOURCES = tests/unit/plugstack.c
tests_unit_plugstack_LDADD = libctl.la
check_PROGRAMS += tests/unit/trace_reader
tests_unit_trace_reader_SOURCES = tests/unit/trace_reader.c
tests_unit_trace_reader_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_unit_trace_reader_LDADD = libctl.la
CTL_CASES = status status-empty jobs jobs-none nodes nodes-none job-straggler job-hang job-starting job-hostile actions actions-none \
	policies policies-unknown policy policy-unknown control control-unknown explain explain-no-rules explain-unknown \
	audit audit-none audit-unknown try try-unknown
check_PROGRAMS += tests/fuzz/answer
tests_fuzz_answer_SOURCES = tests/fuzz/answer.c
tests_fuzz_answer_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_fuzz_answer_LDADD = libctl.la
if FUZZERS
tests_fuzz_answer_LDFLAGS = -fsanitize=fuzzer
else
tests_fuzz_answer_SOURCES += tests/fuzz/replay.c
endif
EXTRA_DIST += $(addprefix tests/fuzz/answer.corpus/,actions audit control explain explain-unknown job-hostile job-hang nodes policies policy trace try)
check_PROGRAMS += tests/fuzz/trace_reader
tests_fuzz_trace_reader_SOURCES = tests/fuzz/trace_reader.c
tests_fuzz_trace_reader_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_fuzz_trace_reader_LDADD = libctl.la
if FUZZERS
tests_fuzz_trace_reader_LDFLAGS = -fsanitize=fuzzer
else
tests_fuzz_trace_reader_SOURCES += tests/fuzz/replay.c
endif
EXTRA_DIST += $(addprefix tests/fuzz/trace_reader.corpus/,bad-header duplicates escapes hang huge keys members-learnt no-header not-json reordered \
	second-header small sparse-ranks times-apart torn)
dist_check_SCRIPTS += tests/ctl/commands.sh tests/ctl/live.sh tests/doc/pages.sh tests/analysis/corpus.sh
EXTRA_DIST += $(CTL_CASES:%=tests/ctl/%.json) $(CTL_CASES:%=tests/ctl/%.txt)


# Telemetry, links and their parts
check_PROGRAMS += tests/unit/telemetry tests/unit/hosts tests/unit/seal tests/unit/link tests/unit/client \
	tests/fuzz/telemetry tests/fuzz/frames
tests_unit_telemetry_SOURCES = tests/unit/telemetry.c
tests_unit_telemetry_LDADD = libwire.la libcommon.la
tests_unit_hosts_SOURCES = tests/unit/hosts.c
tests_unit_hosts_LDADD = libwire.la
tests_unit_seal_SOURCES = tests/unit/seal.c
tests_unit_seal_LDADD = libwire.la
tests_unit_link_SOURCES = tests/unit/link.c tests/munge.h
tests_unit_link_LDADD = libwire.la
tests_unit_client_SOURCES = tests/unit/client.c tests/munge.h
tests_unit_client_LDADD = libwire.la
tests_fuzz_telemetry_SOURCES = tests/fuzz/telemetry.c
tests_fuzz_telemetry_LDADD = libwire.la libcommon.la
tests_fuzz_frames_SOURCES = tests/fuzz/frames.c
tests_fuzz_frames_LDADD = libwire.la
if FUZZERS
tests_fuzz_telemetry_LDFLAGS = -fsanitize=fuzzer
tests_fuzz_frames_LDFLAGS = -fsanitize=fuzzer
else
tests_fuzz_telemetry_SOURCES += tests/fuzz/replay.c
tests_fuzz_frames_SOURCES += tests/fuzz/replay.c
endif
EXTRA_DIST += tests/fuzz/telemetry.corpus/all-kinds tests/fuzz/telemetry.corpus/empty-batch \
	tests/fuzz/telemetry.corpus/cut tests/fuzz/telemetry.corpus/health tests/fuzz/telemetry.corpus/bad-kind tests/fuzz/telemetry.corpus/bad-block \
	tests/fuzz/frames.corpus/nothing tests/fuzz/frames.corpus/three-and-garbage tests/fuzz/frames.corpus/huge-length \
	tests/fuzz/frames.corpus/hosts

# The controller
check_PROGRAMS += tests/unit/recorder
tests_unit_recorder_SOURCES = tests/unit/recorder.c
tests_unit_recorder_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_unit_recorder_LDADD = libtrace.la libjob.la $(JANSSON_LIBS)
noinst_PROGRAMS += tests/daemon/simjob
tests_daemon_simjob_SOURCES = tests/daemon/simjob.c
tests_daemon_simjob_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
tests_daemon_simjob_LDADD = libanalysis.la libring.la libwire.la
check_PROGRAMS += tests/daemon/controller
tests_daemon_controller_SOURCES = tests/daemon/controller.c tests/munge.h
tests_daemon_controller_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
tests_daemon_controller_LDADD = libwire.la $(EVENT_LIBS) $(JANSSON_LIBS)

check_PROGRAMS += tests/unit/agents
tests_unit_agents_SOURCES = tests/unit/agents.c
tests_unit_agents_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_agents_LDADD = libdaemon.la $(JANSSON_LIBS)
check_PROGRAMS += tests/unit/lemon tests/unit/past tests/unit/store tests/unit/history
tests_unit_history_SOURCES = tests/unit/history.c tests/random.h
tests_unit_history_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_history_LDADD = libdaemon.la libanalysis.la libring.la $(JANSSON_LIBS)
tests_unit_lemon_SOURCES = tests/unit/lemon.c
tests_unit_lemon_LDADD = libdaemon.la
tests_unit_past_SOURCES = tests/unit/past.c tests/random.h
tests_unit_past_LDADD = libdaemon.la
tests_unit_store_SOURCES = tests/unit/store.c
tests_unit_store_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS) $(SQLITE_CFLAGS)
tests_unit_store_LDADD = libdaemon.la $(SQLITE_LIBS) $(JANSSON_LIBS)

# analysis/
check_PROGRAMS += tests/unit/flow tests/unit/join tests/fuzz/items
tests_unit_flow_SOURCES = tests/unit/flow.c
tests_unit_flow_LDADD = libanalysis.la libring.la libcommon.la
tests_unit_join_SOURCES = tests/unit/join.c
tests_unit_join_LDADD = libanalysis.la libring.la libcommon.la
tests_fuzz_items_SOURCES = tests/fuzz/items.c
tests_fuzz_items_LDADD = libanalysis.la libring.la libcommon.la
if FUZZERS
tests_fuzz_items_LDFLAGS = -fsanitize=fuzzer
else
tests_fuzz_items_SOURCES += tests/fuzz/replay.c
endif
EXTRA_DIST += tests/fuzz/items.corpus/a-job tests/fuzz/items.corpus/all-kinds tests/fuzz/items.corpus/health tests/fuzz/items.corpus/empty-batch
include tests/cluster/local.mk
# The agent
check_PROGRAMS += tests/agent/agent-test tests/unit/backlog tests/unit/options
tests_agent_agent_test_SOURCES = tests/agent/agent-test.c tests/agent/controller.c tests/agent/controller.h tests/munge.h
tests_agent_agent_test_LDADD = libwire.la libring.la
tests_unit_backlog_SOURCES = tests/unit/backlog.c
tests_unit_backlog_LDADD = libagent.la
tests_unit_options_SOURCES = tests/unit/options.c
tests_unit_options_LDADD = libagent.la
check_PROGRAMS += tests/unit/adapter
tests_unit_adapter_SOURCES = tests/unit/adapter.c tests/tree.h
tests_unit_adapter_LDADD = libagent.la
check_PROGRAMS += tests/unit/energy
tests_unit_energy_SOURCES = tests/unit/energy.c
tests_unit_energy_LDADD = libagent.la
check_PROGRAMS += tests/unit/health tests/fuzz/health_text
tests_unit_health_SOURCES = tests/unit/health.c tests/tree.h
tests_unit_health_LDADD = libagent.la
tests_fuzz_health_text_SOURCES = tests/fuzz/health_text.c
tests_fuzz_health_text_LDADD = libagent.la
if FUZZERS
tests_fuzz_health_text_LDFLAGS = -fsanitize=fuzzer
else
tests_fuzz_health_text_SOURCES += tests/fuzz/replay.c
endif
check_PROGRAMS += tests/unit/gpu
tests_unit_gpu_SOURCES = tests/unit/gpu.c tests/tree.h
tests_unit_gpu_LDADD = libagent.la
check_LTLIBRARIES += tests/agent/fake_nvml.la
tests_agent_fake_nvml_la_SOURCES = tests/agent/fake-nvml.c
tests_agent_fake_nvml_la_LDFLAGS = -module -avoid-version -rpath /nowhere
EXTRA_DIST += $(addprefix tests/fuzz/health_text.corpus/,cgroup cpus dev pressure process schedstat snmp stat status vmstat)
noinst_PROGRAMS += tests/agent/writers
tests_agent_writers_SOURCES = tests/agent/writers.c
tests_agent_writers_LDADD = libring.la
check_PROGRAMS += tests/unit/diagnosis
tests_unit_diagnosis_SOURCES = tests/unit/diagnosis.c
tests_unit_diagnosis_LDADD = libanalysis.la libring.la libcommon.la
# model/, plan/
check_PROGRAMS += tests/unit/cadence tests/unit/collective tests/unit/failure tests/unit/order tests/unit/pipeline \
	tests/unit/staleness tests/unit/step tests/unit/trade tests/unit/train
tests_unit_cadence_LDADD = libmodel.la
tests_unit_collective_LDADD = libmodel.la
tests_unit_failure_LDADD = libmodel.la
tests_unit_order_LDADD = libmodel.la
tests_unit_pipeline_LDADD = libmodel.la
tests_unit_staleness_LDADD = libmodel.la
tests_unit_step_LDADD = libmodel.la
tests_unit_trade_LDADD = libmodel.la
tests_unit_train_LDADD = libmodel.la
check_PROGRAMS += tests/unit/plan_answer tests/unit/question
tests_unit_plan_answer_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_unit_plan_answer_LDADD = libplan.la
tests_unit_question_LDADD = libplan.la
check_PROGRAMS += tests/fuzz/plan_words
tests_fuzz_plan_words_SOURCES = tests/fuzz/plan_words.c
tests_fuzz_plan_words_LDADD = libplan.la
if FUZZERS
tests_fuzz_plan_words_LDFLAGS = -fsanitize=fuzzer
else
tests_fuzz_plan_words_SOURCES += tests/fuzz/replay.c
endif
dist_check_SCRIPTS += tests/plan/commands.sh tests/plan/oracles.sh
EXTRA_DIST += tests/plan/known.csv \
	$(addprefix tests/fuzz/plan_words.corpus/,bits bucket checkpoint collective crossover help memory mtbf numbers \
	pipeline straggler train twice whatif)
# The simulator
dist_check_SCRIPTS += tests/plan/simulate.sh

# Actions
check_PROGRAMS += tests/unit/action_parts tests/unit/action
tests_unit_action_parts_SOURCES = tests/unit/action_parts.c
tests_unit_action_parts_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_unit_action_parts_LDADD = libdaemon.la librules.la $(JANSSON_LIBS)
tests_unit_action_SOURCES = tests/unit/action.c
tests_unit_action_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_action_LDADD = libdaemon.la librules.la $(EVENT_LIBS) $(JANSSON_LIBS)
check_PROGRAMS += tests/fuzz/restd
tests_fuzz_restd_SOURCES = tests/fuzz/restd.c
tests_fuzz_restd_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_fuzz_restd_LDADD = libdaemon.la librules.la $(JANSSON_LIBS)
if FUZZERS
tests_fuzz_restd_LDFLAGS = -fsanitize=fuzzer
else
tests_fuzz_restd_SOURCES += tests/fuzz/replay.c
endif
EXTRA_DIST += $(addprefix tests/fuzz/restd.corpus/,hostlist job-38 job-40 node refused squeue template torn)

# Checkpoints: what programs tell and hear
check_PROGRAMS += tests/unit/steps tests/fuzz/steps_open
tests_unit_steps_SOURCES = tests/unit/steps.c api/syncguard.c
tests_unit_steps_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_unit_steps_LDADD = libagent.la libring.la $(JANSSON_LIBS)
tests_fuzz_steps_open_SOURCES = tests/fuzz/steps_open.c
tests_fuzz_steps_open_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_fuzz_steps_open_LDADD = libagent.la libring.la $(JANSSON_LIBS)
if FUZZERS
tests_fuzz_steps_open_LDFLAGS = -fsanitize=fuzzer
else
tests_fuzz_steps_open_SOURCES += tests/fuzz/replay.c
endif
EXTRA_DIST += $(addprefix tests/fuzz/steps_open.corpus/,huge other-version short)
check_PROGRAMS += tests/unit/cadence_policy tests/policies/goodput
tests_unit_cadence_policy_SOURCES = tests/unit/cadence_policy.c tests/random.h
tests_unit_cadence_policy_LDADD = librules.la libmodel.la
tests_policies_goodput_SOURCES = tests/policies/goodput.c tests/random.h
tests_policies_goodput_LDADD = librules.la libpacing.la libmodel.la libcommon.la
check_PROGRAMS += tests/unit/cadence_job
tests_unit_cadence_job_SOURCES = tests/unit/cadence_job.c tests/random.h
tests_unit_cadence_job_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_unit_cadence_job_LDADD = libjob.la $(JANSSON_LIBS)
# The example in C, with each MPI that is there
API_EXAMPLE_FLAGS = -D_GNU_SOURCE -I$(top_srcdir)/api -std=gnu11 -O2 -g $(WARN)
if HAVE_OPENMPI
check_SCRIPTS += tests/workloads/api_trainer.openmpi
tests/workloads/api_trainer.openmpi: api/examples/trainer.c api/syncguard.h libsyncguard.la
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_OPENMPI) $(API_EXAMPLE_FLAGS) -o $@ $(top_srcdir)/api/examples/trainer.c -L.libs -lsyncguard
CLEANFILES += tests/workloads/api_trainer.openmpi
endif
dist_check_SCRIPTS += tests/cluster/checkpoint-test.sh
# Policies in the controller
check_PROGRAMS += tests/daemon/policy
tests_daemon_policy_SOURCES = tests/daemon/policy.c tests/daemon/live.h tests/munge.h
tests_daemon_policy_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
tests_daemon_policy_LDADD = libwire.la $(EVENT_LIBS) $(JANSSON_LIBS)

check_PROGRAMS += tests/unit/jobtime
tests_unit_jobtime_SOURCES = tests/unit/jobtime.c
tests_unit_jobtime_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_unit_jobtime_LDADD = libdaemon.la
check_PROGRAMS += tests/unit/outages tests/unit/accounting tests/fuzz/slurm_text
tests_unit_outages_SOURCES = tests/unit/outages.c
tests_unit_outages_LDADD = libdaemon.la
tests_unit_accounting_SOURCES = tests/unit/accounting.c tests/tree.h
tests_unit_accounting_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_accounting_LDADD = libdaemon.la $(EVENT_LIBS) $(JANSSON_LIBS)
tests_fuzz_slurm_text_SOURCES = tests/fuzz/slurm_text.c
tests_fuzz_slurm_text_LDADD = libdaemon.la
if FUZZERS
tests_fuzz_slurm_text_LDFLAGS = -fsanitize=fuzzer
else
tests_fuzz_slurm_text_SOURCES += tests/fuzz/replay.c
endif
EXTRA_DIST += $(addprefix tests/fuzz/slurm_text.corpus/,nonsense two-crashes)
check_PROGRAMS += tests/fuzz/cadence_told
tests_fuzz_cadence_told_SOURCES = tests/fuzz/cadence_told.c
tests_fuzz_cadence_told_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_fuzz_cadence_told_LDADD = libjob.la $(JANSSON_LIBS)
if FUZZERS
tests_fuzz_cadence_told_LDFLAGS = -fsanitize=fuzzer
else
tests_fuzz_cadence_told_SOURCES += tests/fuzz/replay.c
endif
EXTRA_DIST += $(addprefix tests/fuzz/cadence_told.corpus/,a-request nonsense)
# A site's own policy
check_PROGRAMS += tests/unit/site
tests_unit_site_SOURCES = tests/unit/site.c
tests_unit_site_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_unit_site_LDADD = libdaemon.la
check_LTLIBRARIES += tests/daemon/site_other.la tests/daemon/site_none.la tests/daemon/site_odd.la
tests_daemon_site_other_la_SOURCES = tests/daemon/site_other.c
tests_daemon_site_other_la_LDFLAGS = -module -avoid-version -rpath /nowhere
tests_daemon_site_none_la_SOURCES = tests/daemon/site_none.c
tests_daemon_site_none_la_LDFLAGS = -module -avoid-version -rpath /nowhere
tests_daemon_site_odd_la_SOURCES = tests/daemon/site_odd.c
tests_daemon_site_odd_la_LDFLAGS = -module -avoid-version -rpath /nowhere
check_PROGRAMS += tests/daemon/site
tests_daemon_site_SOURCES = tests/daemon/site.c tests/daemon/live.h tests/munge.h
tests_daemon_site_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
tests_daemon_site_LDADD = libwire.la $(EVENT_LIBS) $(JANSSON_LIBS)
check_PROGRAMS += tests/unit/audit
tests_unit_audit_SOURCES = tests/unit/audit.c
tests_unit_audit_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_audit_LDADD = libdaemon.la $(JANSSON_LIBS)

# What comes from outside, beside the parsers above
check_PROGRAMS += tests/fuzz/pacing_page
tests_fuzz_pacing_page_SOURCES = tests/fuzz/pacing_page.c
tests_fuzz_pacing_page_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
tests_fuzz_pacing_page_LDADD = libagent.la libdaemon.la libcommon.la $(JANSSON_LIBS) -lm
if FUZZERS
tests_fuzz_pacing_page_LDFLAGS = -fsanitize=fuzzer
else
tests_fuzz_pacing_page_SOURCES += tests/fuzz/replay.c
endif
EXTRA_DIST += $(addprefix tests/fuzz/pacing_page.corpus/,being-written gates report short)
check_PROGRAMS += tests/fuzz/uplink
tests_fuzz_uplink_SOURCES = tests/fuzz/uplink.c
tests_fuzz_uplink_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
tests_fuzz_uplink_LDADD = libagent.la $(EVENT_LIBS) $(JANSSON_LIBS) -lm
if FUZZERS
tests_fuzz_uplink_LDFLAGS = -fsanitize=fuzzer
else
tests_fuzz_uplink_SOURCES += tests/fuzz/replay.c
endif
EXTRA_DIST += $(addprefix tests/fuzz/uplink.corpus/,a-day another cannot-be torn)
check_PROGRAMS += tests/fuzz/peers
tests_fuzz_peers_SOURCES = tests/fuzz/peers.c
tests_fuzz_peers_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
tests_fuzz_peers_LDADD = libdaemon.la $(EVENT_LIBS) $(JANSSON_LIBS) -lm
if FUZZERS
tests_fuzz_peers_LDFLAGS = -fsanitize=fuzzer
else
tests_fuzz_peers_SOURCES += tests/fuzz/replay.c
endif
EXTRA_DIST += $(addprefix tests/fuzz/peers.corpus/,a-job commands long-names no-nodes nonsense)
check_PROGRAMS += tests/fuzz/plan_live
tests_fuzz_plan_live_SOURCES = tests/fuzz/plan_live.c
tests_fuzz_plan_live_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_fuzz_plan_live_LDADD = libplan.la
if FUZZERS
tests_fuzz_plan_live_LDFLAGS = -fsanitize=fuzzer
else
tests_fuzz_plan_live_SOURCES += tests/fuzz/replay.c
endif
EXTRA_DIST += $(addprefix tests/fuzz/plan_live.corpus/,both missing nonsense nothing)
check_PROGRAMS += tests/fuzz/scaling_run
tests_fuzz_scaling_run_SOURCES = tests/fuzz/scaling_run.c
tests_fuzz_scaling_run_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
tests_fuzz_scaling_run_LDADD = libjob.la $(JANSSON_LIBS) -lm
if FUZZERS
tests_fuzz_scaling_run_LDFLAGS = -fsanitize=fuzzer
else
tests_fuzz_scaling_run_SOURCES += tests/fuzz/replay.c
endif
EXTRA_DIST += $(addprefix tests/fuzz/scaling_run.corpus/,a-run not-ours unknown)
check_PROGRAMS += tests/fuzz/spank_words
# The plugin's own objects are a guest's, and have no sanitizer.
tests_fuzz_spank_words_SOURCES = tests/fuzz/spank_words.c spank/args.c spank/text.c
tests_fuzz_spank_words_CPPFLAGS = $(AM_CPPFLAGS)
if FUZZERS
tests_fuzz_spank_words_LDFLAGS = -fsanitize=fuzzer
else
tests_fuzz_spank_words_SOURCES += tests/fuzz/replay.c
endif
EXTRA_DIST += $(addprefix tests/fuzz/spank_words.corpus/,long plugstack policy preload)
check_PROGRAMS += tests/fuzz/plugstack
tests_fuzz_plugstack_SOURCES = tests/fuzz/plugstack.c
tests_fuzz_plugstack_CPPFLAGS = $(AM_CPPFLAGS)
tests_fuzz_plugstack_LDADD = libctl.la
if FUZZERS
tests_fuzz_plugstack_LDFLAGS = -fsanitize=fuzzer
else
tests_fuzz_plugstack_SOURCES += tests/fuzz/replay.c
endif
EXTRA_DIST += $(addprefix tests/fuzz/plugstack.corpus/,itself plain slurm)
