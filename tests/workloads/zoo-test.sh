#!/bin/bash
# The zoo without a probe: what it checks and counts must hold by itself before a probe is tried on it.
. "$top_srcdir/tests/tap.sh" || exit 99
. "$top_srcdir/tests/workloads/mpi.sh" || exit 99

here=$top_builddir/tests/workloads
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

libraries=$(mpi_libraries "$here/mpizoo")
if [ -z "$libraries" ]; then
    skip_all "no MPI library to run the zoo with"
fi

run() {
    rm -f "$dir"/zoo.*
    mpi_run "$mpi" "$ranks" "$here/mpizoo.$mpi" --output "$dir/zoo" "$@"
}

# zoo RANKS OPTION...: every rank says ok, and all members of a communicator count the same collectives on it
zoo() {
    ranks=$1
    shift
    case $* in
    --abort) mpi_aborts "$mpi" "$dir/out" run "$@" ;;
    *) run "$@" >"$dir/out" 2>&1 ;;
    esac
    status=$?
    [ "$status" -eq "${want:-0}" ] && [ "$(cat "$dir"/zoo.* | grep -c '^zoo: rank=[0-9]* ok$')" -eq "$ranks" ]
    ok $? "$mpi: zoo on $ranks ranks $*: every rank ends as expected"
    [ "$status" -eq "${want:-0}" ] || sed 's/^/# /' "$dir/out" | head -n 20
}

# Without rank and place, the lines of a world communicator's members are the same.
alike() {
    [ "$(grep -h 'comm=world ' "$dir"/zoo.* | sed 's/rank=[0-9]* //; s/place=[0-9]* //' | sort -u | wc -l)" -eq 1 ]
    ok $? "$mpi: all ranks count the same collectives on the world communicator"
}

for mpi in $libraries; do
    for n in 1 2 3 4; do
        zoo "$n"
    done
    alike
    zoo 3 --threads --fork
    alike
    want=3 zoo 2 --abort
    unset want
    if [ -x "$here/zoo_f.$mpi" ]; then
        mpi_run "$mpi" 3 "$here/zoo_f.$mpi" >"$dir/out" 2>&1 && [ "$(grep -c ' ok$' "$dir/out")" -eq 3 ]
        ok $? "$mpi: the Fortran zoo gets right results on 3 ranks"
    fi
    mpi_run "$mpi" 2 "$here/dlopen_mpi" "$mpi" >"$dir/out" 2>&1 && [ "$(grep -c ' ok$' "$dir/out")" -eq 2 ]
    ok $? "$mpi: a program that loads MPI by dlopen with RTLD_LOCAL gets right results"
    "$here/mpizoo.$mpi" --nonsense >/dev/null 2>&1 # it looks at its options first: no launcher is needed
    [ $? -eq 2 ]
    ok $? "$mpi: the zoo rejects an unknown option with status 2"
done
[ "$("$here/nompi")" = ok ]
ok $? 'a program without MPI prints ok'
done_testing
