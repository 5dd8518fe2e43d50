#!/bin/bash
# NCCL's calls, replayed by ranks that are processes, under sgrun: plugin, agent and controller are the real ones, and what is said
# at the end is the controller's.
. "${top_srcdir:=$PWD}/tests/run/prelude.sh" || exit 99
on_failure() { show "$dir/err"; }

cat >>"$SYNCGUARD_CONF" <<CONF
NcclPath=$top_builddir/.libs/libsyncguard_nccl.so
Policy=device NcclEvents=device HangTimeout=2
Policy=host
CONF
unset NCCL_PROFILER_PLUGIN RANK WORLD_SIZE
train() { # POLICY VERSION SLOW [PAUSE [ALGORITHM]]
    timeout -k 5 600 "$top_builddir/sgrun" --no-screen --policy="$1" --report="$dir/report" "$top_builddir/tests/nccl/replay" train "$2" "$3" 400 ${4:+"$4"} ${5:+"$5"} \
        >"$dir/out" 2>"$dir/err"
    is $? 0 "version $2, policy $1: NCCL's calls return what it expects"
}

for version in 4 5 6 7; do
    slow=$(((version - 3) % 4))
    train device "$version" "$slow"
    is "$(jq -c '[.state, .ranks]' "$dir/report")" '["finished",4]' "version $version: the report has the job's ranks"
    is "$(jq -c '[.verdicts[]|select(.class == "straggler").culprits][0]' "$dir/report")" "[\"r$slow\"]" "version $version: the controller names the rank that works longer, before anybody else"
done
train device 7 1 6
is "$(jq -c '[.verdicts[]|select(.class == "hang").culprits]' "$dir/report")" '[["r1"]]' "a rank that does not come to a collective in which the others' GPUs are: a hang, and it is named"

# By trees ranks record an end that lies before the last one came.
train device 6 2 0 TREE
is "$(jq -c '[.verdicts[]|select(.class == "straggler").culprits][0]' "$dir/report")" '["r2"]' "trees: the controller names the rank that works longer, before anybody else"
is "$(jq -r .judged "$dir/report")" yes "trees: the job is judged"
train device 7 1 6 TREE
is "$(jq -c '[.verdicts[]|select(.class == "hang").culprits]' "$dir/report")" '[["r1"]]' "trees: a rank that does not come is a hang, and it is named"
like "$(jq -r '.verdicts[]|select(.class == "hang").text' "$dir/report")" ': 3 inside, waiting for rank 1 ' "trees: those whose recorded end lies before it came are still inside"

# Two replicas of two stages, in communicators of two ranks each: messages are matched, and who is missing is a rank of the job.
pipeline() { # SLOW STEPS [PAUSE]
    timeout -k 5 600 "$top_builddir/sgrun" --no-screen --policy=device --report="$dir/report" "$top_builddir/tests/nccl/pipeline" 6 "$1" "$2" ${3:+"$3"} \
        >"$dir/out" 2>"$dir/err"
    is $? 0 "pipeline, rank $1${3:+ stops}: NCCL's calls return what it expects"
    is "$(jq -c '[.state, .ranks, .probe.messages_missed, .probe.messages_unplaced, .probe.comms_disputed]' "$dir/report")" '["finished",4,0,0,0]' \
        "pipeline, rank $1${3:+ stops}: each message is recorded, and both its ends are known"
}
pipeline 1 250
is "$(jq -c '[.verdicts[]|select(.class == "straggler").culprits][0]' "$dir/report")" '["r1"]' "pipeline: the rank of the first stage that works longer is named, before anybody else"
pipeline 1 120 8
is "$(jq -c '[.verdicts[]|select(.class == "hang").culprits]' "$dir/report")" '[["r1"]]' "pipeline: a rank that sends no more while the others' GPUs wait is a hang, and it is named"
like "$(jq -r '.verdicts[]|select(.class == "hang").text' "$dir/report")" \
    'allreduce 60 of 2@0(\.1)? \(2 ranks\) .*: 1 inside, waiting for rank 1 \(pid [0-9]+\) on .* \(between calls for .*, its last call was send 240 to rank 3 on 2@1 .* ago\)' \
    "pipeline: of the missing rank it is said what it called last, and when"

for version in 3 7; do
    train host "$version" 2
    is "$(jq -c '[.ranks, .verdicts]' "$dir/report")" '[4,[]]' "version $version, host events: the ranks are there, and nothing is found"
    like "$(tr '\n' ' ' <"$dir/err")" 'Not judged: what is recorded of the collectives does not +show who waits' "version $version, host events: it is said that nobody can be named"
    jq -e '.probe.events >= 3200' "$dir/report" >/dev/null
    ok $? "version $version, host events: each collective of each rank is recorded" || jq -c .probe "$dir/report"
done
NCCL_PROFILER_PLUGIN=none timeout 300 "$top_builddir/sgrun" --no-screen sh -c 'echo "$NCCL_PROFILER_PLUGIN"' >"$dir/out" 2>"$dir/err"
is "$? $(cat "$dir/out")" "0 none" "sgrun: a profiler that the user set stays"
like "$(cat "$dir/err")" "^sgrun: NCCL's collectives are not recorded: NCCL_PROFILER_PLUGIN is set$" "sgrun: and it is said"
profiler() { HOME=$dir timeout 300 "$top_builddir/sgrun" --no-screen sh -c 'echo "${NCCL_PROFILER_PLUGIN-none}"' >"$dir/out" 2>"$dir/err"; }
echo NCCL_PROFILER_PLUGIN=mine >"$dir/.nccl.conf"
profiler
is "$? $(cat "$dir/out")" "0 none" "sgrun: a profiler that ~/.nccl.conf names stays, so that the environment names none"
like "$(cat "$dir/err")" "^sgrun: NCCL's collectives are not recorded: $dir/.nccl.conf sets NCCL_PROFILER_PLUGIN$" "sgrun: and the file is named"
rm "$dir/.nccl.conf"
profiler
is "$? $(cat "$dir/out")" "0 $top_builddir/.libs/libsyncguard_nccl.so" "sgrun: without such a file NCCL is told of the plugin"
done_testing
