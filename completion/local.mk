# completion/: what the shells need to ask the programs themselves.  Where it goes: --with-bash-completion-dir, ...
COMPLETED = sgctl sgtop sgplan sgring sgrun syncguardd
COMPLETIONS = $(COMPLETED:%=completion/bash/%) $(COMPLETED:%=completion/fish/%.fish)
CLEANFILES += $(COMPLETIONS)
EXTRA_DIST += completion/program.bash.in completion/program.fish.in completion/_syncguard completion/_syncguard_srun \
	completion/srun.bash completion/syncguard.fish

$(COMPLETED:%=completion/bash/%): completion/program.bash.in Makefile
	$(AM_V_GEN)$(MKDIR_P) completion/bash && $(SED) 's|@PROGRAM[@]|$(notdir $@)|g' $(srcdir)/completion/program.bash.in >$@.new && mv $@.new $@
$(COMPLETED:%=completion/fish/%.fish): completion/program.fish.in Makefile
	$(AM_V_GEN)$(MKDIR_P) completion/fish && $(SED) 's|@PROGRAM[@]|$(basename $(notdir $@))|g' $(srcdir)/completion/program.fish.in >$@.new && mv $@.new $@

if BASH_COMPLETION
bashcompletiondir = $(BASH_COMPLETION_DIR)
nodist_bashcompletion_DATA = $(COMPLETED:%=completion/bash/%)
bashcompatdir = $(sysconfdir)/bash_completion.d
bashcompat_DATA = completion/bash_completion.d/syncguard-srun
CLEANFILES += completion/bash_completion.d/syncguard-srun
completion/bash_completion.d/syncguard-srun: completion/srun.bash
	$(AM_V_GEN)$(MKDIR_P) completion/bash_completion.d && cp $(srcdir)/completion/srun.bash $@
endif
if ZSH_COMPLETION
zshcompletiondir = $(ZSH_COMPLETION_DIR)
zshcompletion_DATA = completion/_syncguard completion/_syncguard_srun
endif
if FISH_COMPLETION
fishcompletiondir = $(FISH_COMPLETION_DIR)
nodist_fishcompletion_DATA = $(COMPLETED:%=completion/fish/%.fish)
# Read when fish starts: what it adds to srun's completion does not replace a file of that name.
fishconfdir = $(datadir)/fish/vendor_conf.d
fishconf_DATA = completion/syncguard.fish
endif
EXTRA_DIST += tests/completion/capture.zsh
