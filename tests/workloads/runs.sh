# runs.sh - for tests of the workloads, to be read with `.` after tap.sh: runs of one program and what they print.
# Sets $libraries and $dir, a folder that is gone with the test; skips the test where no MPI library is there.
#   runs_of NAME                 the program, for the functions below; they use the library $mpi
#   run NAME RANKS OPTION...     its output in $dir/NAME, its exit status; $common are further options
#   guarded NAME RANKS OPTION... the same with the probe, whose rings are in $dir/NAME.rings
#   result NAME                  the result that the run printed
#   same A B WHAT                assertion: two runs have a result, and the same one
#   rejects 'OPTION...'          assertion: status 2 and one line, without the launcher of MPI
# shellcheck shell=bash
. "$top_srcdir/tests/workloads/mpi.sh" || exit 99
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
common=

runs_of() {
    name=$1 program=$top_builddir/tests/workloads/$1
    libraries=$(mpi_libraries "$program")
    [ -n "$libraries" ] || skip_all "no MPI library to run the $name with"
}

run() {
    local out=$dir/$1 ranks=$2

    shift 2
    # shellcheck disable=SC2086
    mpi_run "$mpi" "$ranks" "${probe[@]}" "$program.$mpi" $common "$@" >"$out" 2>&1
}

probe=()
guarded() {
    mkdir -m 700 "$dir/$1.rings"
    local probe=(env "SYNCGUARD_DIR=$dir/$1.rings" "LD_PRELOAD=$top_builddir/.libs/libsyncguard_probe.so")

    run "$@"
}

result() { sed -n 's/^result: //p' "$dir/$1"; }

same() {
    [ -n "$(result "$1")" ] && [ "$(result "$1")" = "$(result "$2")" ]
    ok $? "$mpi: $3" || show "$dir/$1" "$dir/$2"
}

rejects() {
    # shellcheck disable=SC2086
    "$program.$mpi" $1 >"$dir/bad" 2>&1
    [ $? -eq 2 ] && [ "$(wc -l <"$dir/bad")" -eq 1 ]
    ok $? "$mpi: $name $1: rejected with status 2 in one line" || show "$dir/bad"
}
