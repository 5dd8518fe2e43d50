# agent/: one process a node and job step
noinst_LIBRARIES += libagent.a
libagent_a_SOURCES = \
	agent/agent.c agent/agent.h \
	agent/backlog.c agent/backlog.h \
	agent/checkpoint.c agent/checkpoint.h \
	agent/comms.c agent/comms.h \
	agent/executable.c agent/executable.h \
	agent/marks.c agent/marks.h \
	agent/messages.c agent/messages.h \
	agent/arguments.c agent/arguments.h \
	agent/outbox.c agent/outbox.h \
	agent/pacing.c agent/pacing.h \
	agent/processes.c agent/processes.h \
	agent/rank.c agent/rank.h \
	agent/ranks.c agent/ranks.h \
	agent/rendezvous.c agent/rendezvous.h \
	agent/shield.c agent/shield.h \
	agent/unseen.c agent/unseen.h \
	agent/uplink.c agent/uplink.h
libagent_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS) $(SECCOMP_CFLAGS)
AGENT_LIBS = libagent.a $(NODEFIGURES_LIBS) $(PACING_LIBS) $(SAMPLING_LIBS) $(WIRE_LIBS) $(RING_LIBS) $(TOPOLOGY_LIBS) $(SECCOMP_LIBS)

pkglibexec_PROGRAMS += syncguard-agent syncguard-credential
syncguard_agent_SOURCES = agent/main.c
syncguard_agent_LDADD = $(AGENT_LIBS)
syncguard_credential_SOURCES = agent/credential.c
syncguard_credential_LDADD = $(WIRE_LIBS)
