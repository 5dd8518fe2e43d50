#!/bin/bash
# The probe in a program that calls what PyTorch has, without PyTorch: order of the events, what cannot be read, and what cannot be reached.
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99
: "${top_builddir:?}"
dir=$(mktemp -d /tmp/gloo-fake-XXXXXX) || exit 99
trap 'rm -rf "$dir"' EXIT

fake() { # MODE
    rm -rf "$dir/step"
    mkdir -m 700 "$dir/step"
    SLURM_PROCID=5 SYNCGUARD_DIR=$dir/step LD_PRELOAD=$top_builddir/.libs/libsyncguard_probe.so timeout 60 "$top_builddir/tests/gloo/fake.program" "$1" >"$dir/out" 2>&1
    is $? 0 "$1: the program ends as it should"
    "$top_builddir/sgring" --json --events=100 "$dir/step"/*.ring >"$dir/ring.json" 2>/dev/null
}
told() { readlink "$dir/step"/*.note; }
ring() { jq -c ".rings[0]|$1" "$dir/ring.json"; }

command -v jq >/dev/null || skip_all "jq is not installed"
[ -x "$top_builddir/tests/gloo/fake.program" ] || skip_all "the program was not built"
fake good
is "$(ring '[.rank, .task, .world_size, .library, .state]')" '[0,5,2,"Gloo","finalized"]' "good: the ring tells whose it is"
is "$(ring '[.events[]|select(.op == "allreduce").seq]')" "[$(seq -s, 0 19)]" "good: events come in the order of tags, one that ended before an earlier one too"
is "$(ring '[.events[]|select(.op == "allreduce")|.leave_ns]|. == sort')" true "good: and in the order of their ends"
is "$(ring '[.events[]|select(.op == "allreduce").bytes]|unique')" '[400]' "good: with the bytes of their buffers"
is "$(ring '[.events[]|select(.op == "send")|.peer, .tag, .bytes]')" '[1,3,64]' "good: a message has its partner, tag and size"
is "$(ring '[.counts.missed, .counts.messages_missed, .live.op]')" '[0,0,"none"]' "good: nothing was missed, and no call is in progress"
fake later
is "$(ring '[.events[]|select(.op == "allreduce").seq]')" "[$(seq -s, 0 19)]" "later: collectives of a Gloo whose contexts are laid out in a newer way are recorded"
is "$(ring '[.events[]|select(.op == "send")|.peer, .tag, .bytes]')" '[1,3,64]' "later: and its messages"
fake odd
is "$(ring '[.counts.missed, (.events|length)]')" '[19,1]' "odd: options that contradict themselves are counted as missed, and not recorded"
like "$(told)" "^unguarded: Gloo is not recorded: .* options laid out in another way .PyTorch of an unknown version, /" "odd: and the reason is there for the agent, with the library"
fake unreached
is "$(find "$dir/step" -name '*.ring')" "" "unreached: there is no ring"
like "$(told)" "^unguarded: Gloo is not recorded: .* cannot be reached .PyTorch of an unknown version, /" "unreached: and the reason is there for the agent"
fake foreign
is "$(ring '.counts.missed')" 1 "foreign: a collective on a context that was not seen being made is counted as missed"
like "$(told)" "on a context that was not seen being made .PyTorch" "foreign: and the reason is there for the agent"

# As a wheel has it, and as Debian does.
mkdir -p "$dir/torch/lib"
echo "__version__ = '2.5.1+cpu'" >"$dir/torch/version.py"
cp "$top_builddir/tests/gloo/libfake.so" "$dir/torch/lib/libfake.so"
LD_LIBRARY_PATH=$dir/torch/lib fake odd
like "$(told)" "PyTorch 2.5.1.cpu, $dir/torch/lib/libfake.so.$" "a wheel: its version is told"
done_testing
