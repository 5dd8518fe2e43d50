#!/bin/bash
# A tool between the probe and the library makes other calls of the program's: each is recorded once, as the program made it.
. "$top_srcdir/tests/tap.sh" || exit 99
. "$top_srcdir/tests/workloads/mpi.sh" || exit 99

probe=$top_builddir/.libs/libsyncguard_probe.so
work=$top_builddir/tests/workloads
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

libraries=$(mpi_libraries "$work/mpizoo")
[ -n "$libraries" ] || skip_all "needs an MPI library"
command -v jq >/dev/null || skip_all "jq is not installed"

# guarded PRELOADS RANKS CMD...: with a new directory $dir/step; output in $dir/out
guarded() {
    local preloads=$1 ranks=$2
    shift 2
    rm -f "$dir"/zoo.*
    mpi_guarded "$mpi" "$ranks" env LD_PRELOAD="$preloads" "$@" >"$dir/out" 2>&1
}

for mpi in $libraries; do
    tool=$(readlink -f "$top_builddir/tests/probe/tool.$mpi")
    guarded "$probe:$tool" 3 "$work/mpizoo.$mpi" --output "$dir/zoo"
    is "$? $(cat "$dir"/zoo.* | grep -c '^zoo: rank=[0-9]* ok$')" "0 3" "$mpi: the zoo gets correct results with the probe before a tool" || show "$dir/out"
    "$top_builddir/tests/probe/compare" "$dir/step" "$dir/zoo" 3 >"$dir/compare" 2>&1
    ok $? "$mpi: the rings hold what the zoo did, and not what the tool made of it" || show "$dir/compare"
    echo "# $(tail -n 1 "$dir/compare")"

    export TOOL_OWN=yes
    guarded "$probe:$tool" 4 "$top_builddir/tests/probe/messages.$mpi" 3
    ok $? "$mpi: a program that passes messages ends well with the probe before a tool" || show "$dir/out"
    "$top_builddir/tests/probe/compare" "$dir/step" - 4 >"$dir/compare" 2>&1
    ok $? "$mpi: both ends of each message agree" || show "$dir/compare"
    "$top_builddir/sgring" --json --events=10000 "$dir/step" |
        jq -r '.rings[] | .rank as $rank | .events[] | select(.op == "send" or .op == "recv") | "\($rank) \(.op) \(.peer) \(.tag)"' | sort | uniq -c |
        awk '{ print $2, $3, $4, $5, $1 }' | sort >"$dir/got"
    grep -E '^[0-9]+ (send|recv) ' "$dir/out" | cut -d' ' -f1-5 | sort >"$dir/want"
    cmp -s "$dir/want" "$dir/got"
    ok $? "$mpi: each message is recorded once" || diff "$dir/want" "$dir/got" | sed 's/^/# /' | head -n 20

    guarded "$tool:$probe" 4 "$top_builddir/tests/probe/messages.$mpi" 3
    ok $? "$mpi: it ends well with the tool before the probe" || show "$dir/out"
    "$top_builddir/tests/probe/compare" "$dir/step" - 4 >"$dir/compare" 2>&1
    ok $? "$mpi: both ends of each message agree there, too" || show "$dir/compare"
    unset TOOL_OWN
done

# With fault tolerance an error is told otherwise where statuses are ignored, so that none may be asked for in the program's stead.
if [[ $libraries = *openmpi* ]]; then
    mpi=openmpi tolerant=$(readlink -f "$top_builddir/tests/probe/tolerant.openmpi")
    mpi_run openmpi 4 env LD_PRELOAD="$tolerant" "$top_builddir/tests/probe/messages.openmpi" 3 >"$dir/out" 2>&1
    ok $? "a tolerant Open MPI: the program ends well" || show "$dir/out"
    grep ' with statuses$' "$dir/out" | sort >"$dir/want"
    guarded "$probe:$tolerant" 4 "$top_builddir/tests/probe/messages.openmpi" 3
    ok $? "a tolerant Open MPI: it does so with the probe" || show "$dir/out"
    is "$(grep ' with statuses$' "$dir/out" | sort)" "$(cat "$dir/want")" "a tolerant Open MPI: ignored statuses stay ignored"
    is "$(wc -l <"$dir/want")" 4 "a tolerant Open MPI: each rank has told"
fi
done_testing
