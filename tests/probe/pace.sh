#!/bin/bash
# Pacing on every kind of MPI call, with both libraries: results and recorded events are right, and sums are the same to
# the bit with each lever and without.
. "$top_srcdir/tests/tap.sh" || exit 99
. "$top_srcdir/tests/workloads/mpi.sh" || exit 99

work=$top_builddir/tests/workloads
probe=$top_builddir/.libs/libsyncguard_probe.so
pages=$top_builddir/tests/probe/plan
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
# The probe uses release only where the library's own yielding is not set.
unset OMPI_MCA_mpi_yield_when_idle
held=60
[ "${SYNCGUARD_FULL-}" != yes ] || held=150

libraries=$(mpi_libraries "$work/mpizoo")
if [ -z "$libraries" ]; then
    skip_all "no MPI library to pace"
fi

# paced RANKS CMD...: with the pages in $dir/step; output in $dir/out
paced() {
    ranks=$1
    shift
    mpi_run "$mpi" "$ranks" env SYNCGUARD_DIR="$dir/step" LD_PRELOAD="$probe" "$@" >"$dir/out" 2>&1
}

fresh() {
    rm -rf "$dir/step" "$dir"/zoo.*
    mkdir -m 700 "$dir/step"
    "$pages" "$dir/step" "$@"
}

sums() {
    sed -n 's/.*"sums":"\([0-9a-f]*\)".*/\1/p' "$dir/out"
}

for mpi in $libraries; do
    for lever in release gate delay stagger; do
        fresh "$lever" "$lever"
        paced 3 "$work/mpizoo.$mpi" --output "$dir/zoo" --threads
        status=$?
        [ $status -eq 0 ] && [ "$(cat "$dir"/zoo.* | grep -c '^zoo: rank=[0-9]* ok$')" -eq 3 ]
        ok $? "$mpi: pacing by $lever: all 3 ranks of a program with threads get correct results" || sed 's/^/# /' "$dir/out" | head
        "$top_builddir/tests/probe/compare" "$dir/step" "$dir/zoo" 3 >"$dir/compare" 2>&1
        ok $? "$mpi: pacing by $lever: the rings hold what the program did" || show "$dir/compare"
    done
    bare=
    for lever in '' release gate delay stagger; do
        fresh "$lever" ${lever:+"$lever"}
        paced 3 "$top_builddir/tests/bench/pace.$mpi" --steps 60 --work 0.5 --slow 1 --bytes 40000
        [ -n "$bare" ] || bare=$(sums)
        [ -n "$bare" ] && [ "$(sums)" = "$bare" ]
        ok $? "$mpi: the sums with ${lever:-no lever} are the same to the bit"
    done
    fresh release,gate
    paced 4 "$top_builddir/tests/bench/pace.$mpi" --steps 120 --work 0.3 --slow 1
    ok $? "$mpi: 4 ranks with release and gate, without an agent, exit with 0"
    "$pages" "$dir/step" >"$dir/report" && ! grep -q '"collectives":0,' "$dir/report"
    ok $? "$mpi: 4 ranks with release and gate report collectives" || show "$dir/report"
    # The slow rank comes later than the limit for which the others are held (tests/probe/plan.c: 20 ms). The gate is tried in the 32 steps
    # after the first 16.
    fresh gate
    paced 4 "$top_builddir/tests/bench/pace.$mpi" --steps $held --work 4 --slow 1 --factor 10
    "$pages" "$dir/step" >"$dir/report"
    if grep -q '"with":0,' "$dir/report"; then
        skip "$mpi: holds at the gate that reached their limit are counted" "there are enough cores for the ranks, so the gate is not tried"
    else
        ! grep -q '"late":0,' "$dir/report"
        ok $? "$mpi: holds at the gate that reached their limit are counted" || show "$dir/report"
    fi
done
done_testing
