#!/bin/bash
# What MPI allows and few programs do: the program does the same with the probe and without, and its ranks' rings agree.
. "$top_srcdir/tests/tap.sh" || exit 99
. "$top_srcdir/tests/workloads/mpi.sh" || exit 99

probe=$top_builddir/.libs/libsyncguard_probe.so
program=$top_builddir/tests/probe/legal
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

libraries=$(mpi_libraries "$program")
[ -n "$libraries" ] || skip_all "needs an MPI library"

for mpi in $libraries; do
    for kind in attributes jumps agreement threads refused cancelled many parts successive; do
        ranks=4
        [ $kind != many ] || ranks=2
        mpi_run "$mpi" $ranks "$program.$mpi" $kind >"$dir/bare" 2>"$dir/bare.err"
        bare=$?
        mpi_guarded "$mpi" $ranks "$program.$mpi" $kind >"$dir/out" 2>"$dir/err"
        is "$? $(sort "$dir/out")" "$bare $(sort "$dir/bare")" "$mpi, $kind: the program prints and returns what it does without the probe" || show "$dir/err"
        is "$(grep -c ' ok$' "$dir/bare")" $ranks "$mpi, $kind: which is what it must" || show "$dir/bare" "$dir/bare.err"
        "$top_builddir/tests/probe/compare" "$dir/step" - $ranks >"$dir/compare" 2>&1
        ok $? "$mpi, $kind: the rings of its ranks agree, and nothing was missed" || show "$dir/compare"
        echo "# $(tail -n 1 "$dir/compare")"
    done
done
done_testing
