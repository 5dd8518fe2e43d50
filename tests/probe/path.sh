#!/bin/bash
# The probe's hot path: no system call, no allocation, no lock, and few instructions.
. "$top_srcdir/tests/tap.sh" || exit 99
. "$top_srcdir/tests/workloads/mpi.sh" || exit 99

probe=$top_builddir/.libs/libsyncguard_probe.so
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
calls=2000

libraries=$(mpi_libraries "$top_builddir/tests/probe/path")
if [ -z "$libraries" ] || ! command -v strace >/dev/null || ! command -v valgrind >/dev/null; then
    skip_all "needs an MPI library, strace and valgrind"
fi

# instructions N GUARD: inside of path_calls(), by callgrind
instructions() {
    rm -rf "$dir/step"
    mkdir "$dir/step"
    if [ "$2" = guarded ]; then
        set -- "$1" LD_PRELOAD="$probe" SYNCGUARD_DIR="$dir/step"
    else
        set -- "$1" GUARD=none
    fi
    n=$1
    shift
    env "$@" timeout 1200 valgrind --tool=callgrind --toggle-collect=path_calls --callgrind-out-file="$dir/callgrind" \
        "$top_builddir/tests/probe/path.$mpi" "$n" >"$dir/out" 2>&1 || return 1
    sed -n 's/^c\{0,1\}fn=([0-9]*) \(.*\)/\1/p' "$dir/callgrind" | sed "s/'.*//; s/@.*//" | sort -u >"$dir/functions"
    sed -n 's/^summary: *\([0-9]*\).*/\1/p; s/^totals: *\([0-9]*\).*/\1/p' "$dir/callgrind" | head -n 1
}

for mpi in $libraries; do
    mkdir "$dir/$mpi"
    SYNCGUARD_DIR=$dir/$mpi LD_PRELOAD=$probe timeout 300 strace -o "$dir/trace" "$top_builddir/tests/probe/path.$mpi" $calls
    ok $? "$mpi: the guarded program exits with 0 under strace"
    between=$(awk '/^getpgid/ { on = !on; marks++; next } on { n++ } END { print (marks == 2 ? n + 0 : "no marks") }' "$dir/trace")
    [ "$between" = 0 ]
    ok $? "$mpi: no system call between the marks of $calls rounds of collectives" || echo "# $between"
    events=$("$top_builddir/sgring" --json "$dir/$mpi" | sed -n 's/.*"events":\([0-9]*\),"dropped":0,"missed":0.*/\1/p')
    [ "$events" -eq $((21 + calls * 2 + calls / 10)) ]
    ok $? "$mpi: every collective of $calls rounds is recorded, none dropped" || echo "# $events"

    bare=$(instructions $calls bare) && mv "$dir/functions" "$dir/bare" && guarded=$(instructions $calls guarded)
    each=$(awk "BEGIN { print int(($guarded - $bare) / $calls / 2.1) }")
    [ "${each:-9999}" -le 300 ]
    ok $? "$mpi: the probe adds at most 300 instructions to a collective"
    echo "# $each instructions"
    comm -13 "$dir/bare" "$dir/functions" >"$dir/added"
    # Where the processor's counter is not invariant the time is clock_gettime()'s, of the kernel's page.
    [ -s "$dir/added" ] && ! grep -Eq 'alloc|free$|(^|[^c])lock|dlsym|open|write|syscall' "$dir/added"
    ok $? "$mpi: no function that the probe adds allocates or locks"
    echo "# $(tr '\n' ' ' <"$dir/added")"

    mkdir "$dir/$mpi.switch"
    { printf 'TCGS\002\000\000\000\001\000\000\000\001\000\000\000' && head -c 4080 /dev/zero; } >"$dir/$mpi.switch/control"
    SYNCGUARD_DIR=$dir/$mpi.switch LD_PRELOAD=$probe timeout 300 "$top_builddir/tests/probe/path.$mpi" switch
    ok $? "$mpi: a program whose recording is switched off and on exits with 0"
    numbers=$("$top_builddir/sgring" --json --events=100 "$dir/$mpi.switch" | grep -o '"seq":[0-9]*,"root"' | tr -dc '0-9\n' | tr '\n' ' ')
    [ "$numbers" = '0 1 2 3 4 11 12 13 14 15 ' ]
    ok $? "$mpi: while recording is off, sequence numbers go on from 4 to 11" || echo "# $numbers"
done
done_testing
