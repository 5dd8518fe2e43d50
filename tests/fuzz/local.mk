# tests/fuzz/: each NAME.c but replay.c is a target with LLVMFuzzerTestOneInput(), its old findings are NAME.corpus/.
# Without --enable-fuzzers a target is a test that replays its corpus.
# (Their names, FUZZ_TARGETS, come from configure.ac.)
check_DATA += $(FUZZ_TARGETS)
CLEANFILES += $(FUZZ_TARGETS) tests/fuzz/*.o

if FUZZERS
FUZZ_ENGINE = -fsanitize=fuzzer
else
FUZZ_MAIN = tests/fuzz/libreplay.a
endif
check_LIBRARIES += tests/fuzz/libreplay.a
tests_fuzz_libreplay_a_SOURCES = tests/fuzz/replay.c

# Automake's own rule makes the objects; their headers are recorded beside replay's.
$(FUZZ_TARGETS:.fuzz=.o): tests/fuzz/$(DEPDIR)/$(am__dirstamp)
$(FUZZ_TARGETS): %.fuzz: %.o $(FUZZ_MAIN) $(filter %.a,$(LDADD))
	$(AM_V_CCLD)$(LINK) $(FUZZ_ENGINE) $< $(FUZZ_MAIN) $(LDADD) $(LIBS)
-include $(FUZZ_TARGETS:tests/fuzz/%.fuzz=tests/fuzz/$(DEPDIR)/%.Po)
distclean-local:
	-rm -f tests/fuzz/$(DEPDIR)/*.Po
