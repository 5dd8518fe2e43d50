# stages.sh - the stages of ./check, how one is run and how its results are counted. To be sourced (bash), from the top of the source tree.
# A stage is a command with a time limit, whose output goes to a log; one of tests is a `make check` in a build folder.
# Stages may run side by side, in lanes: subshells that share what stands in files.
#   $top $work $logs $jobs    the source tree, build-check in it, its logs, how many processors there are
#   $tally                    a line "PASSED FAILED SKIPPED" for each stage
#   $again                    a line for each test that failed and is to have a second look
# shellcheck shell=bash
top=$PWD
work=$top/build-check
logs=$work/logs
jobs=$(nproc)
tally=$logs/tally
again=$logs/again
export top

stages_begin() {
    mkdir -p "$logs" && rm -rf "$logs/first" "$logs/running" && mkdir "$logs/running" && : >"$tally" && : >"$again"
}

# How the tests of a build are run: words for env(1).
as_gcc=
as_clang="ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1"
# clang 14's runtime knows no address space that is as random as newer kernels make it.
as_threads="setarch $(uname -m) -R"

# A stage's name as the name of a file.
file_of() { echo "${1//[^a-zA-Z0-9]/-}"; }

count() { echo "$1 $2 $3" >>"$tally"; }

# The last line. Good when something passed and nothing failed.
closing() {
    awk '{ passed += $1; failed += $2; skipped += $3 }
        END { printf "%d passed, %d failed%s\n", passed, failed, skipped ? ", " skipped " skipped" : ""; exit failed || !passed }' "$tally"
}

# lane FUNCTION ARGUMENT...: beside what follows; a signal ends what it runs.
lane() {
    (
        trap 'jobs -p | xargs -r kill -TERM; wait; exit 1' TERM
        "$@"
    ) &
}

# On a terminal: what is running and since when, in a line that the next one replaces.
progress() {
    local file text

    [ -t 1 ] || return 0
    while sleep 1; do
        text=
        for file in "$logs"/running/*; do
            [ -e "$file" ] || continue
            text+="${text:+, }$(cat "$file") $(($(date +%s) - $(stat -c %Y "$file"))) s"
        done 2>/dev/null
        [ -z "$text" ] || printf '\r\033[K%s' "${text:0:100}"
    done
}

# run LIMIT_S LOG FOLDER COMMAND...: its output goes to the log; what it leaves running of a folder's programs is ended.
run() {
    local limit=$1 log=$2 folder=$3 command alarm first rc
    shift 3
    timeout -k 15 "$limit" "$@" >>"$log" 2>&1 </dev/null &
    command=$!
    sleep $((limit - 1)) &
    alarm=$!
    wait -n -p first "$command" "$alarm"
    rc=$?
    if [ "${first-}" = "$alarm" ]; then
        {
            echo "check: took longer than $limit s; a second before its end these ran:"
            ps -o pid,ppid,stat,etimes,wchan:20,args --forest -p "$(below "$work" 'exe\|cwd')" | tail -n 40 | cut -c1-160
        } >>"$log"
        wait "$command"
        rc=$?
    else
        kill "$alarm"
        wait "$alarm"
    fi 2>/dev/null
    end_leftovers "$folder" >>"$log"
    return $rc
}

# below FOLDER 'exe\|cwd': the processes whose program (or current folder) lies in it
below() {
    find /proc -maxdepth 2 -regex "/proc/[0-9]+/\($2\)" -lname "$1/*" -printf '%h\n' 2>/dev/null | sed 's:/proc/::' | sort -un | paste -sd,
}

# Ranks that a stage left running would take the processors from the next one.
end_leftovers() { # FOLDER
    local pids

    pids=$(below "$1" exe)
    [ -n "$pids" ] || return 0
    echo "check: left running, ended:"
    ps -o pid,ppid,stat,etimes,args -p "$pids"
    tr , '\n' <<<"$pids" | xargs kill -KILL 2>/dev/null
}

# say LINE: in the place of the line of progress
say() {
    [ ! -t 1 ] || printf '\r\033[K'
    echo "$1"
}

# stage NAME LIMIT_S FOLDER COMMAND...: one line with seconds; the end of the log ($shown lines) when it failed. Counts nothing.
shown=30
stage() {
    local name=$1 limit=$2 folder=$3 start=$SECONDS mark log rc
    shift 3
    log=$logs/$(file_of "$name").log
    mark=$logs/running/$(file_of "$name")
    : >"$log"
    echo "$name" >"$mark"
    run "$limit" "$log" "$folder" "$@"
    rc=$?
    rm -f "$mark"
    if [ $rc -eq 0 ]; then
        say "$(printf '%-44sok      %s s' "$name" $((SECONDS - start)))"
    else
        say "$(printf '%-44sFAILED  %s s   %s\n' "$name" $((SECONDS - start)) "$log"
            tail -n $((rc == 124 ? 60 : shown)) "$log" | sed 's/^/    /')"
    fi
    return $rc
}

# The same, counted as one.
counted() {
    if stage "$@"; then
        count 1 0 0
    else
        count 0 1 0
        return 1
    fi
}

skip() {
    say "$(printf '%-44sskipped: %s' "$1" "$2")"
    count 0 0 1
}

# The records of tests (.trs) below a folder, added up: "PASSED FAILED SKIPPED". A program with a failed assertion also exits with 1: that is
# not counted once more.
results() { # FOLDER
    find "$1" -name '*.trs' -print0 | xargs -0 awk '
        FNR == 1 { failed += worse + (errors && !worse); worse = errors = 0 }
        /^:test-result: (PASS|XFAIL)/ { good++ }
        /^:test-result: (FAIL|XPASS)/ { worse++ }
        /^:test-result: ERROR/ { errors++ }
        /^:test-result: SKIP/ { skips++ }
        END { print good + 0, failed + worse + (errors && !worse), skips + 0 }' /dev/null
}

# The tests below a folder that failed, as tests/AREA/NAME.
not_green() { # FOLDER
    find "$1" -name '*.trs' -exec grep -lE '^:test-result: (FAIL|ERROR|XPASS)' {} + | sed "s:^$1/::; s:\.trs\$::" | sort
}

# What a failed test said, from its log.
said() { # LOG
    { grep -nE '^(not ok|Bail out|# )' "$1" | head -n 40; echo ...; tail -n 15 "$1"; } | sed 's/^/        /'
}

# The ten tests of a folder that took longest, and a second or more; tests/timed wrote into each record how long it took.
slowest() {
    find "$1" -name '*.trs' -exec grep -H '^:seconds: ' {} + | sed 's/.*\/\([^/]*\)\.trs::seconds: \(.*\)/\2 \1/' | sort -rn |
        awk 'NR <= 10 && $1 >= 1 { printf "%s%s %.0f s", NR == 1 ? "    slowest: " : ", ", $2, $1; n++ } END { if (n) print "" }'
}

# What was skipped below a folder, each once with its reason.
skips() { # FOLDER
    find "$1" -name '*.trs' -exec grep -lE '^:test-result: SKIP' {} + | sort | while read -r trs; do
        sed -nE "s:^(ok [0-9]+ (- )?|1\.\.0 )(.*)# SKIP (.*):    skipped\: $(basename "$trs" .trs)\: \3(\4):p" "${trs%.trs}.log"
    done
}

# tests NAME LIMIT_S FOLDER HOW ARGUMENT-OF-MAKE...: HOW is one of $as_... Tests that failed are kept for second_look().
tests() {
    local name=$1 limit=$2 folder=$3 how=$4 first rc test good failed skipped kept=0
    shift 4
    first=$logs/first/$(file_of "$name")
    find "$folder" -name '*.trs' -delete
    # shellcheck disable=SC2086
    shown=0 stage "$name" "$limit" "$folder" env $how make -C "$folder" "$@"
    rc=$?
    slowest "$folder"
    skips "$folder"
    for test in $(not_green "$folder"); do
        mkdir -p "$first/${test%/*}" && cp "$folder/$test.log" "$first/$test.log"
        rm "$folder/$test.trs"
        echo "$folder|$name|$how|$test" >>"$again"
        echo "    $test: failed, to be run once more, alone:"
        said "$first/$test.log"
        kept=$((kept + 1))
    done
    read -r good failed skipped < <(results "$folder")
    # A run that died without a failed test (one did not build, the time was over) is a failure too.
    if [ $rc -ne 0 ] && [ $kept -eq 0 ]; then
        failed=$((failed + 1))
        tail -n 40 "$logs/$(file_of "$name").log" | sed 's/^/    /'
    fi
    count "$good" "$failed" "$skipped"
    return $rc
}

# Each test that failed is run once more, with nothing beside it. One that passes now is unstable: a fault of the test, said and not counted.
second_look() {
    local folder name how test first good failed skipped

    while IFS='|' read -r folder name how test <&3; do
        first=$logs/first/$(file_of "$name")/$test.log
        find "$folder" -name '*.trs' -delete
        # shellcheck disable=SC2086
        shown=0 stage "once more: $test" 900 "$folder" env $how make -C "$folder" check "TEST_LOGS=$test.log"
        read -r good failed skipped < <(results "$folder")
        if [ "$failed" -eq 0 ] && [ $((good + skipped)) -gt 0 ]; then
            echo "unstable: $test ($name): failed at first, passed when run alone: $first, $folder/$test.log"
            grep -E '^(not ok|Bail out)' "$first" | head -n 20 | sed 's/^/    /'
        else
            [ "$failed" -gt 0 ] || failed=1
            echo "    $test: failed again ($name): $folder/$test.log"
            said "$folder/$test.log"
        fi
        count "$good" "$failed" "$skipped"
    done 3<"$again"
    : >"$again"
}

# What was compiled once is not compiled again: distcheck compiles what gcc's build did, and the next run most of this one's.
ccache=
use_ccache() {
    command -v ccache >/dev/null || return 0
    ccache='ccache '
    export CCACHE_BASEDIR=$top CCACHE_NOHASHDIR=1 CCACHE_COMPILERCHECK=content
}

# build NAME ARGUMENTS-OF-CONFIGURE...: in build-check/NAME, with everything that tests need.
build() {
    local name=$1
    shift
    rm -rf "${work:?}/$name" && mkdir -p "$work/$name"
    counted "$name: configure and build" 2700 "$work/$name" bash -ec '
        cd "$1"; shift; jobs=$1; shift; top=$1; shift
        "$top/configure" --enable-silent-rules "$@"
        make -j"$jobs"
        make -j"$jobs" check TESTS=' build "$work/$name" "$jobs" "$top" "$@"
}

build_gcc() { build gcc CC="${ccache}gcc" --enable-werror; }

# clang's warnings, its sanitizers, and the fuzz targets, all by one build. Where clang has no libFuzzer, the targets read their corpora as tests.
build_clang() {
    local fuzz=--enable-fuzzers

    has_fuzzer || fuzz=
    build clang CC="${ccache}clang" --enable-werror --enable-sanitizers $fuzz
}

has_fuzzer() {
    [ ! -x "$logs/libfuzzer.out" ] || return 0
    echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n); int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d && n > 9; }' |
        clang -fsanitize=fuzzer -x c - -o "$logs/libfuzzer.out" 2>/dev/null
}

fuzz_targets() {
    local source

    for source in tests/fuzz/*.c; do
        [ "$source" = tests/fuzz/replay.c ] || basename "$source" .c
    done
}

# The stages of tests, by name; tests/repeat takes them from here too.
stage_units() { tests "gcc: unit tests" 1200 "$work/gcc" "$as_gcc" -j"$jobs" check-unit; }
# Programs and clusters wait more than they compute.
stage_programs() { tests "gcc: programs and scripts" 1800 "$work/gcc" "$as_gcc" -j$((jobs + 1)) check-programs; }
stage_cluster() { tests "gcc: the private cluster" 2400 "$work/gcc" "$as_gcc" -j2 check-cluster; }
stage_sanitized() { tests "clang: unit tests" 1800 "$work/clang" "$as_clang" -j"$jobs" check-unit; }
# Each input of each corpus once; what is found lies in build-check/logs.
stage_corpora() { fuzzers "clang: corpora of the fuzz targets" -runs=0; }

# fuzzers NAME OPTION-OF-LIBFUZZER...: all targets, one a processor; each counts as one.
fuzzers() {
    local name=$1 target targets good=0 failed=0
    shift
    has_fuzzer || return 0
    mapfile -t targets < <(fuzz_targets)
    rm -rf "$work/clang/found" && mkdir -p "$work/clang/found"
    stage "$name" 1800 "$work/clang" bash -c '
        cd "$1" && printf "%s\n" "${@:4}" | xargs -P "$2" -I NAME bash -c "
            mkdir -p found/NAME && tests/fuzz/NAME.fuzz $3 -timeout=5 -rss_limit_mb=2048 \
                -artifact_prefix=\"$0/fuzz-NAME-\" found/NAME \"$top/tests/fuzz/NAME.corpus\" >\"$0/fuzz-NAME.log\" 2>&1 &&
            touch found/NAME.good"
    ' "$logs" "$work/clang" "$jobs" "$*" "${targets[@]}"
    for target in "${targets[@]}"; do
        if [ -e "$work/clang/found/$target.good" ]; then
            good=$((good + 1))
        else
            failed=$((failed + 1))
            echo "    fuzz target $target: failed: $logs/fuzz-$target.log"
            tail -n 20 "$logs/fuzz-$target.log" | sed 's/^/        /'
        fi
    done
    count $good $failed 0
}
