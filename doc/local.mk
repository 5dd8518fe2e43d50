# doc/: manual pages, the protocol, decisions
PROGRAM_MANUALS = doc/sgctl.1 doc/sgplan.1 doc/sgring.1 doc/sgrun.1 doc/sgtop.1 doc/syncguardd.8 doc/syncguard-agent.8 doc/syncguard-credential.8
MANUALS = $(PROGRAM_MANUALS) doc/syncguard.7 doc/syncguard.conf.5
man_MANS = $(MANUALS)
CLEANFILES += $(MANUALS)
EXTRA_DIST += $(MANUALS:%=%.in)

# Pages name the paths that were configured; the TABLES line is where the program's own tables go.
PATHS = -e 's|@sysconfdir[@]|$(sysconfdir)|g' -e 's|@localstatedir[@]|$(localstatedir)|g' \
	-e 's|@pkglibdir[@]|$(pkglibdir)|g' -e 's|@pkglibexecdir[@]|$(pkglibexecdir)|g' -e 's|@docdir[@]|$(docdir)|g' \
	-e 's|@sbindir[@]|$(sbindir)|g' -e 's|@pkgdatadir[@]|$(pkgdatadir)|g'

doc/sgctl.1: sgctl$(EXEEXT)
doc/sgplan.1: sgplan$(EXEEXT)
doc/sgring.1: sgring$(EXEEXT)
doc/sgrun.1: sgrun$(EXEEXT)
doc/sgtop.1: sgtop$(EXEEXT)
doc/syncguardd.8: syncguardd$(EXEEXT)
doc/syncguard-agent.8: syncguard-agent$(EXEEXT)
doc/syncguard-credential.8: syncguard-credential$(EXEEXT)
$(PROGRAM_MANUALS): %: %.in Makefile
	$(AM_V_GEN)$(MKDIR_P) doc && ./$(basename $(notdir $@))$(EXEEXT) --mdoc >$@.tables && \
	$(SED) $(PATHS) -e '/^@TABLES[@]$$/{r $@.tables' -e 'd;}' $(srcdir)/$@.in >$@.new && \
	rm $@.tables && mv $@.new $@

# The keys of syncguard.conf come from its own tables: a TABLE line each.
doc/syncguard.conf.5: doc/syncguard.conf.5.in sgctl$(EXEEXT) Makefile
	$(AM_V_GEN)$(MKDIR_P) doc && $(SED) $(PATHS) $(srcdir)/$@.in >$@.plain && \
	$(AWK) '!/^@TABLE /{print; next} {n = 0; ask = "./sgctl$(EXEEXT) config --mdoc " $$2; \
	  while ((ask | getline line) > 0) {print line; n++} close(ask); if (!n) exit 1}' $@.plain >$@.new && \
	rm $@.plain && mv $@.new $@

doc/syncguard.7: %: %.in Makefile
	$(AM_V_GEN)$(MKDIR_P) doc && $(SED) $(PATHS) $(srcdir)/$@.in >$@.new && mv $@.new $@

# Examples, installed beside the documentation.
nodist_example_DATA = daemon/syncguardd.service
dist_example_DATA += doc/grafana.json doc/alerts.yml
dist_doc_DATA = README.md doc/getting-started.md doc/administrators-guide.md doc/operators-guide.md doc/screens.md doc/pytorch.md doc/overview.md doc/costs.md doc/screen.svg
CLEANFILES += daemon/syncguardd.service
EXTRA_DIST += daemon/syncguardd.service.in doc/bench.json doc/faults.json doc/faults.md doc/doctor-table.md doc/live-table.md doc/pace-table.md \
	doc/forms-table.md doc/forms.json doc/gloo.json doc/matrix.json doc/nccl.json doc/nccl-table.md doc/placement.json doc/placement-table.md doc/programs-table.md doc/constants.md
EXTRA_DIST += $(call dist_files,doc/decisions/*.md)

daemon/syncguardd.service: %: %.in Makefile
	$(AM_V_GEN)$(MKDIR_P) daemon && $(SED) $(PATHS) $(srcdir)/$@.in >$@.new && mv $@.new $@

# The keys of scenarios come from sgplan's own tables.
man_MANS += doc/sgplan-scenario.5
CLEANFILES += doc/sgplan-scenario.5
EXTRA_DIST += doc/sgplan-scenario.5.in
doc/sgplan-scenario.5: doc/sgplan-scenario.5.in sgplan$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) doc && ./sgplan$(EXEEXT) simulate --mdoc >$@.tables && \
	$(SED) -e 's|@pkgdatadir[@]|$(pkgdatadir)|g' -e '/^@TABLES[@]$$/{r $@.tables' -e 'd;}' $(srcdir)/$@.in >$@.new && \
	rm $@.tables && mv $@.new $@

# The library's page
man_MANS += doc/syncguard.3
CLEANFILES += doc/syncguard.3
EXTRA_DIST += doc/syncguard.3.in
doc/syncguard.3: %: %.in Makefile
	$(AM_V_GEN)$(MKDIR_P) doc && $(SED) $(PATHS) $(srcdir)/$@.in >$@.new && mv $@.new $@
dist_example_DATA += api/examples/trainer.c api/examples/trainer.py
