#!/bin/bash
# The probe on every kind of MPI call, with both libraries: the rings hold what the programs count, and the programs'
# results are the same as without it.
. "$top_srcdir/tests/tap.sh" || exit 99
. "$top_srcdir/tests/workloads/mpi.sh" || exit 99

work=$top_builddir/tests/workloads
probe=$top_builddir/.libs/libsyncguard_probe.so
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

libraries=$(mpi_libraries "$work/mpizoo")
if [ -z "$libraries" ]; then
    skip_all "no MPI library to try the probe with"
fi

# guard RANKS CMD...: with a new directory $dir/step
guard() {
    rm -f "$dir"/zoo.*
    mpi_guarded "$mpi" "$@"
}

# The same with the output in $dir/out, and the test ends where the run does not.
guarded() {
    guard "$@" >"$dir/out" 2>&1
    guarded_status=$?
    case $guarded_status in
    124 | 137) # two dozen runs that take their whole time would take most of an hour
        why "$dir/out" 40
        bail_out "$mpi: a guarded run did not end, on this number of ranks: $*"
        ;;
    esac
    return $guarded_status
}

why() {
    sed 's/^/# /' "$1" | head -n "${2:-10}"
}

# zoo RANKS OPTION...
zoo() {
    ranks=$1
    shift
    guarded "$ranks" "$work/mpizoo.$mpi" --output "$dir/zoo" "$@"
    status=$?
    [ $status -eq 0 ] && [ "$(cat "$dir"/zoo.* | grep -c '^zoo: rank=[0-9]* ok$')" -eq "$ranks" ]
    ok $? "$mpi: guarded zoo on $ranks ranks $*: every rank gets correct results" || why "$dir/out"
    "$top_builddir/tests/probe/compare" "$dir/step" "$dir/zoo" "$ranks" >"$dir/compare" 2>&1
    same=$?
    ok $same "$mpi: guarded zoo on $ranks ranks $*: the rings hold what it did"
    [ $same -eq 0 ] || why "$dir/compare"
}

states() {
    "$top_builddir/sgring" --json "$dir/step" | grep -o '"state":"[a-z]*"' | sort | uniq -c | tr -s ' "\n' ' '
}

for mpi in $libraries; do
    for n in 1 2 3 4; do
        zoo "$n"
    done
    [ "$(states)" = ' 4 state : finalized ' ]
    ok $? "$mpi: the rings of 4 ranks have the state finalized"
    zoo 3 --threads --fork
    mpi_aborts "$mpi" "$dir/out" guard 2 "$work/mpizoo.$mpi" --output "$dir/zoo" --abort
    is $? 3 "$mpi: a guarded program that calls MPI_Abort(3) exits with 3" || why "$dir/out" 40
    case $(states) in
    *aborted*) true ;;
    *) false ;;
    esac
    ok $? "$mpi: the ring of a rank that called MPI_Abort has the state aborted" || echo "#$(states)"
    if [ -x "$work/zoo_f.$mpi" ]; then
        guarded 3 "$work/zoo_f.$mpi" && [ "$(grep -c ' ok$' "$dir/out")" -eq 3 ]
        ok $? "$mpi: a guarded Fortran program gets correct results on 3 ranks"
        "$top_builddir/tests/probe/compare" "$dir/step" - 3 >"$dir/compare"
        ok $? "$mpi: the rings of a Fortran program's ranks agree"
        why "$dir/compare" 5
        # A window is made, used between two fences and freed: five calls on each rank, whatever layers they pass through.
        is "$("$top_builddir/sgring" --json "$dir/step" | grep -o '"p2p_calls":[0-9]*,"p2p_bytes":[0-9]*' | sort | uniq -c | sed 's/^ *//')" \
            '3 "p2p_calls":5,"p2p_bytes":4' "$mpi: a Fortran program's one-sided calls are counted once"
        for rank in 0 1 2; do # once, whatever layers a call passes through
            want=$(sed -n "s/^zoo: rank=$rank comm=.* total=\([0-9]*\).*/\1/p" "$dir/out" | awk '{ n += $1 } END { print n }')
            got=$("$top_builddir/sgring" --json "$dir/step/$rank.0.0.ring" | sed -n 's/.*"events":\([0-9]*\).*/\1/p')
            [ "$got" = "$want" ]
            ok $? "$mpi: a Fortran program's call is recorded once on rank $rank" || echo "# $got of $want"
        done
    fi
    guarded 2 "$work/dlopen_mpi" "$mpi" && [ "$(grep -c ' ok$' "$dir/out")" -eq 2 ]
    ok $? "$mpi: a guarded program that loads MPI by dlopen gets correct results"
    rm -rf "$dir/step"
    mpi_run "$mpi" 2 env SYNCGUARD_DIR="$dir/step" LD_PRELOAD="$probe" "$work/mpizoo.$mpi" >"$dir/out" 2>&1
    ok $? "$mpi: a program whose step directory is missing exits with 0"
    mpi_run "$mpi" 2 env LD_PRELOAD="$probe" "$work/mpizoo.$mpi" >"$dir/out" 2>&1
    ok $? "$mpi: a program without SYNCGUARD_DIR exits with 0"
done

if /usr/bin/python3 -c 'import mpi4py' 2>/dev/null; then # built for one of the libraries, and loads it with RTLD_LOCAL
    # Only asked for its name: initialised, a process without mpiexec would start a daemon of its own.
    mpi=$(/usr/bin/python3 -c 'import mpi4py; mpi4py.rc.initialize = False
import mpi4py.MPI as m; print(m.get_vendor()[0])' | tr -d ' ' | tr '[:upper:]' '[:lower:]')
    guarded 2 /usr/bin/python3 -c '
from mpi4py import MPI
w = MPI.COMM_WORLD
d = w.Dup()
for i in range(10):
    assert d.allreduce(i) == 2 * i
r = d.Ibarrier()
r.Wait()
d.Free()'
    ok $? "$mpi: a guarded mpi4py program gets correct results" || why "$dir/out"
    "$top_builddir/tests/probe/compare" "$dir/step" - 2 >"$dir/compare" && ! grep -q '^0 collectives' "$dir/compare"
    ok $? "$mpi: the rings of an mpi4py program's ranks agree"
fi

rm -rf "$dir/step"
mkdir "$dir/step"
[ "$(SYNCGUARD_DIR="$dir/step" LD_PRELOAD="$probe" "$work/nompi")" = ok ] && [ -z "$(ls "$dir/step")" ]
ok $? 'a program without MPI runs with the probe and leaves no ring'
done_testing
