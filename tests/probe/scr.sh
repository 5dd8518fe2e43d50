#!/bin/bash
# A program that checkpoints with SCR gets SyncGuard's requests through the probe, and SCR's own answer stays.
. "$top_srcdir/tests/tap.sh" || exit 99
. "$top_srcdir/tests/workloads/mpi.sh" || exit 99

work=$top_builddir/tests/probe
probe=$top_builddir/.libs/libsyncguard_probe.so
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
export LD_LIBRARY_PATH="$work${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

libraries=$(mpi_libraries "$work/scr_program")
[ -n "$libraries" ] || skip_all "needs an MPI library"
for mpi in $libraries; do
    mpi_run "$mpi" 2 "$work/scr_program.$mpi" >"$dir/out" 2>"$dir/err"
    [ "$(cat "$dir/out")" = "due 8 on 2" ]
    ok $? "$mpi: an unguarded program checkpoints when SCR decides, at step 8"
    rm -rf "$dir/step" && mkdir -m 700 "$dir/step"
    "$work/steps_ask" ask "$dir/step" 5
    mpi_run "$mpi" 2 env SYNCGUARD_DIR="$dir/step" LD_PRELOAD="$probe" "$work/scr_program.$mpi" >"$dir/out" 2>"$dir/err"
    ok $? "$mpi: a guarded program that uses SCR exits with 0"
    [ "$(cat "$dir/out")" = "due 5 on 2
due 8 on 2" ]
    ok $? "$mpi: a guarded program checkpoints at the guard's request and at SCR's, on both ranks" || sed 's/^/# /' "$dir/out" "$dir/err"
    for r in 0 1; do
        [ "$("$work/steps_ask" show "$dir/step" $r.0.steps)" = "calls 10 yes 1 at 5 writes 2 left 1" ]
        ok $? "$mpi: rank $r's page of steps counts its questions, requests and writes" || "$work/steps_ask" show "$dir/step" $r.0.steps
    done
done
done_testing
