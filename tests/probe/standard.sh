#!/bin/bash
# A program with the standard's ABI is recorded; with a library whose ABI is not known it runs as without the probe, and a note says so.
. "$top_srcdir/tests/tap.sh" || exit 99
. "$top_srcdir/tests/workloads/mpi.sh" || exit 99

probe=$top_builddir/.libs/libsyncguard_probe.so
here=$(readlink -f "$top_builddir/tests/probe")
program=$here/standard
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

[ -x "$program" ] && command -v mpiexec.mpich >/dev/null || skip_all "needs MPICH"
export LD_LIBRARY_PATH=$here

mpi_run mpich 4 "$program" >"$dir/bare" 2>&1
is "$? $(grep -c ' ok$' "$dir/bare")" "0 4" "the program does what it must" || show "$dir/bare"

mpi_guarded mpich 4 "$program" >"$dir/out" 2>&1
is "$? $(sort "$dir/out")" "0 $(sort "$dir/bare")" "and the same with the probe" || show "$dir/out"
"$top_builddir/tests/probe/compare" "$dir/step" - 4 >"$dir/compare" 2>&1
ok $? "the rings of its ranks agree, and nothing was missed" || show "$dir/compare"
like "$(tail -n 1 "$dir/compare")" "^52 collectives, 80 ends of messages, 16 communicators," "and all its calls are in them" || show "$dir/compare"

# unknown NAME [LIBRARY]: nothing is recorded, and why
unknown() {
    is "$? $(sort "$dir/out")" "0 $(sort "$dir/bare")" "$1: the program does what it does without the probe" || show "$dir/out"
    is "$(find "$dir/step" -name '*.ring')" "" "$1: nothing is recorded"
    like "$(readlink "$dir/step"/*.note | head -n 1)" "unguarded: the ABI of this MPI library is not known: ${2:-MPICH}" "$1: a note says why"
}
export STANDIN_ABI=2
mpi_guarded mpich 4 "$program" >"$dir/out" 2>&1
unknown "another version of the standard's ABI"
unset STANDIN_ABI
cp "$here/libmpi_abi.so.0" "$dir/libother.so"
mpi_guarded mpich 4 env LD_PRELOAD="$probe:$dir/libother.so" "$program" >"$dir/out" 2>&1
unknown "a library of MPI 5 by another name"
cp "$here/libmpi_abi.so.0" "$dir/libmpitrampoline.so.5"
mpi_guarded mpich 4 env LD_PRELOAD="$probe:$dir/libmpitrampoline.so.5" "$program" >"$dir/out" 2>&1
unknown "a forwarder by its file"
export STANDIN_FORWARDER="MPIwrapper 2.11.1, using MPIABI 2.9.0"
mpi_guarded mpich 4 "$program" >"$dir/out" 2>&1
unknown "a forwarder by what it says" MPIwrapper
done_testing
