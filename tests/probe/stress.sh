#!/bin/bash
# Legal programs drawn at random do the same with the probe as without; names, numbers and both ends of messages agree, and nothing is
# uncounted.  STRESS_SEEDS: how many programs for each library; STRESS_OPERATIONS: of each.  What differs is printed with what repeats it.
. "$top_srcdir/tests/tap.sh" || exit 99
. "$top_srcdir/tests/workloads/mpi.sh" || exit 99

probe=$top_builddir/.libs/libsyncguard_probe.so
program=$top_builddir/tests/probe/stress
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

libraries=$(mpi_libraries "$program")
[ -n "$libraries" ] || skip_all "needs an MPI library"
few=2
[ "${SYNCGUARD_FULL:-}" != yes ] || few=20
seeds=${STRESS_SEEDS:-$few} operations=${STRESS_OPERATIONS:-600}

# result OUTPUT CMD...: sets result to its status and what it printed.  In one of some hundred runs on a busy machine Open MPI's launcher
# crashes when all its ranks have ended.
result() {
    local output=$1 status
    shift
    for _ in 1 2 3; do
        "$@" >"$output" 2>"$output.err"
        status=$?
        [ "$mpi.$status.$(grep -c ' ok ' "$output")" = openmpi.139.4 ] || break
    done
    result="$status $(sort "$output")"
}

# differs SEED [threads]: prints what does, nothing where all is well
differs() {
    local bare guarded

    result "$dir/bare" mpi_run "$mpi" 4 "$program.$mpi" "$1" "$operations" "${@:2}"
    bare=$result
    result "$dir/out" mpi_guarded "$mpi" 4 "$program.$mpi" "$1" "$operations" "${@:2}"
    guarded=$result
    [ "$(grep -c ' ok ' "$dir/bare")" = 4 ] || printf 'without the probe: %s\n%s\n' "$bare" "$(head -n 5 "$dir/bare.err")"
    [ "$guarded" = "$bare" ] || printf 'with the probe: %s\nwithout: %s\n%s\n' "$guarded" "$bare" "$(head -n 5 "$dir/out.err")"
    "$top_builddir/tests/probe/compare" "$dir/step" - 4 >"$dir/compare" 2>&1 || cat "$dir/compare"
    calls=$((calls + $(awk '/ calls$/ { n += $(NF - 1) } END { print n + 0 }' "$dir/out")))
}

for mpi in $libraries; do
    for mode in '' threads; do
        calls=0 wrong=
        for ((seed = 1; seed <= seeds; seed++)); do
            differs $seed $mode >"$dir/differs"
            [ ! -s "$dir/differs" ] || wrong="$wrong$(printf '\nstress.%s %s %s %s:\n' "$mpi" $seed "$operations" "$mode"; head -n 12 "$dir/differs")"
        done
        is "$wrong" "" "$mpi${mode:+, two threads}: programs drawn at random do what they do without the probe, and their rings agree"
        echo "# $seeds programs, $calls calls"
    done
done
done_testing
