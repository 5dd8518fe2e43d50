#!/bin/bash
# Programs that users of other interposing tools reported, where they are at hand (../shared/cases/mpi): each does the same with the probe and
# without, and its ranks' rings agree. Our own tests hold each kind; this is to see that they hold the programs, too.
. "$top_srcdir/tests/tap.sh" || exit 99
. "$top_srcdir/tests/workloads/mpi.sh" || exit 99

cases=$top_srcdir/../shared/cases/mpi
[ -e "$cases/run.sh" ] || skip_all "no $cases"
[ "${SYNCGUARD_FULL-}" = yes ] || skip_all "takes minutes; ./check --full runs it"
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
"$cases/build.sh" "$dir/built" >"$dir/build" 2>&1
libraries=$(mpi_libraries "$dir/built/c06c")
[ -n "$libraries" ] || skip_all "needs an MPI library and its compiler"

# What the scripts take for an installed build.
export PREFIX=$dir/prefix TMPDIR=$dir QUIET=1
mkdir -p "$PREFIX/lib/syncguard" "$PREFIX/bin"
cp "$top_builddir/.libs/libsyncguard_probe.so" "$PREFIX/lib/syncguard"
cp "$top_builddir/sgring" "$PREFIX/bin"

agrees() { # WHAT
    is "$? $(grep -c WRONG "$dir/out")" "0 0" "$1: the rings of its ranks agree" || show "$dir/out"
}

# More requests and streams of messages than the probe has places for: what got none is counted.
counts() { # WHAT
    like "$(grep -c ' forg=[1-9]' "$dir/out")" '^[1-9]' "$1: what did not fit was counted" || show "$dir/out"
}

while read -r ranks rings program args; do
    for mpi in $libraries; do
        # shellcheck disable=SC2086
        "$cases/run.sh" "$mpi" "$ranks" "$dir/built/$program.$mpi" $args >"$dir/out" 2>&1
        "$rings" "$mpi, $program $args"
        case $(grep ' rc ' "$dir/out") in
        *' rc 0 '*) like "$(grep ' rc ' "$dir/out")" ' rc 0 -> 0;.*; same$' "$mpi, $program $args: prints and returns what it does without the probe" || show "$dir/out" ;;
        *) skip "$mpi, $program $args: prints and returns what it does without the probe" "the library itself crashes" ;;
        esac
    done
done <<'CASES'
4 agrees c06c 100
4 agrees c06c 100 more
2 agrees c08
2 counts c09 6000 persistent 20
2 counts c09b 4000 600
4 agrees c14
2 agrees c16 first
2 agrees c16 persistent
2 agrees c21 wait
2 agrees c21 waitall
2 agrees c21 test
2 agrees c21 rfree
2 agrees c21 start
2 agrees c21 free
2 agrees c21 alltoallv
2 agrees c21 rscatter
4 agrees c29
2 agrees c32 recv
2 agrees c32 sendrecv
4 agrees c35
CASES

# Open MPI reaches a spawned world over TCP alone.
unset OMPI_MCA_btl OMPI_MCA_pml
for mpi in $libraries; do
    "$cases/spawn.sh" "$mpi" 1 "$dir/built/c28b.$mpi" >"$dir/out" 2>&1
    agrees "$mpi, c28b"
    if grep -q '^plain rc 0$' "$dir/out"; then
        is "$(grep -c '^probe rc 0$' "$dir/out")" 1 "$mpi, c28b: ends well as it does without the probe" || show "$dir/out"
    else
        skip "$mpi, c28b: ends well as it does without the probe" "$(grep '^plain' "$dir/out")"
    fi
done
done_testing
