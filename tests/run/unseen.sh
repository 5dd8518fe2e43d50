#!/bin/bash
# Programs of which nothing is recorded, under sgrun: after ten seconds the job says why.
. "${top_srcdir:=$PWD}/tests/run/prelude.sh" || exit 99
. "$top_srcdir/tests/workloads/mpi.sh" || exit 99
libraries=$(mpi_libraries "$top_builddir/tests/workloads/loop")

# All at a time: each of them waits for the agent's first look, 10 s after its start.
children=()
begin() {
    local name=$1
    shift
    timeout -k 5 300 "$top_builddir/sgrun" --no-screen --report="$dir/$name.json" "$@" >"$dir/$name.out" 2>"$dir/$name.err" &
    children+=($!)
}
# is_said NAME REASON SENTENCE
is_said() {
    is "$(jq -c '[.state, .regime, .unseen.reason]' "$dir/$1.json")" "[\"finished\",null,\"$2\"]" "$1: it is finished, without a regime, and the reason is '$2'"
    like "$(jq -r .sentence "$dir/$1.json")" "$3" "$1: its sentence says why nothing was seen"
    like "$(jq -r '.notes[]' "$dir/$1.json")" ': nothing seen for 10 s: ' "$1: so do its notes"
}

echo '#include <unistd.h>
int main(void) { return sleep(14); }' >"$dir/static.c"
${CC:-cc} -static -o "$dir/static" "$dir/static.c" 2>/dev/null || rm -f "$dir/static"

begin sleep sleep 14
begin empty env -i sleep 14
begin wrapped sh -c 'LD_PRELOAD= sleep 14; :'
begin short true
begin briefly sh -c 'LD_PRELOAD= sleep 5; :'
begin brief sleep 5
[ -x "$dir/static" ] && begin static "$dir/static"
for library in $libraries; do
    echo '#include <mpi.h>
#include <unistd.h>
int main(int argc, char **argv) { sleep(14); return MPI_Init(&argc, &argv) + MPI_Finalize(); }' >"$dir/late.c"
    "mpicc.$library" -o "$dir/late.$library" "$dir/late.c" 2>/dev/null && begin "late.$library" "mpiexec.$library" -n 2 "$dir/late.$library"
done
for child in "${children[@]}"; do
    wait "$child" || echo "# a program ended with $?"
done

is_said sleep nothing '^Ended without a call of MPI, NCCL or Gloo: sleep \(pid [0-9]+\): has loaded no library'
is_said empty preload '^Ended unseen: sleep \(pid [0-9]+\): LD_PRELOAD was taken out'
is_said wrapped preload '^Ended unseen: sleep \(pid [0-9]+\): LD_PRELOAD was taken out'
is "$(jq -c '[.state, .regime, .unseen, .notes]' "$dir/short.json")" '["finished",null,null,[]]' "a program that ended before the first look: nothing is claimed"
is "$(jq -c '[.state, .unseen.reason]' "$dir/briefly.json")" '["finished","preload"]' "a program without the probe that ended before it was told of: it is told at the end"
like "$(jq -r '.notes[]' "$dir/briefly.json")" ': nothing seen for [0-9]+ s: sleep \(pid [0-9]+\): LD_PRELOAD was taken out' "so do its notes"
is "$(jq -c '[.state, .unseen, .notes]' "$dir/brief.json")" '["finished",null,[]]' "one with the probe that ended so early may have been about to call: nothing is claimed"
if [ -x "$dir/static" ]; then
    is_said static static '^Ended unseen: static \(pid [0-9]+\): linked statically'
else
    skip "static: the reason is 'static'" "no program can be linked statically"
fi
# They call in the end.
for library in $libraries; do
    [ -e "$dir/late.$library.json" ] || continue
    is "$(jq -c '[.state, .ranks]' "$dir/late.$library.json")" '["finished",2]' "late.$library: its ranks are known in the end"
    like "$(jq -r '.notes[]' "$dir/late.$library.json")" "nothing seen for 10 s: 2 processes, such as late.$library \(pid [0-9]+\): has loaded MPI, and no function of MPI was seen" \
        "late.$library: its notes say that it has loaded MPI and called nothing"
    is "$(jq -c .unseen "$dir/late.$library.json")" null "late.$library: nothing of it is unseen any more"
    like "$(jq -r '.notes[]' "$dir/late.$library.json")" "[12] ranks? (was|were) seen [0-9]+ s after the start" "late.$library: and its notes say when they came"
done
done_testing
