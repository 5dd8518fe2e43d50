#!/bin/bash
# A training with DistributedDataParallel over Gloo under sgrun: what PyTorch computes is unchanged, and its ranks, collectives and messages are seen.
. "${top_srcdir:=$PWD}/tests/gloo/torch.sh" || exit 99

probed() { mkdir -m 700 "$dir/step" && SYNCGUARD_DIR=$dir/step LD_PRELOAD=$top_builddir/.libs/libsyncguard_probe.so "$@"; }
ring() { "$top_builddir/sgring" --json --events=100 "$dir/step/$1.0.0.ring"; }

# ---- every call ----

"$python" "$top_srcdir/tests/gloo/calls.py" 4 | sort >"$dir/bare"
probed "$python" "$top_srcdir/tests/gloo/calls.py" 4 2>"$dir/err" | sort >"$dir/out"
is "$(wc -l <"$dir/bare")" 4 "each of four ranks that do all that PyTorch has over Gloo ends"
is "$(cat "$dir/out")" "$(cat "$dir/bare")" "they get the same with the probe and without"
"$top_builddir/tests/probe/compare" "$dir/step" - 4 >"$dir/compare" 2>&1
ok $? "their rings agree" || show "$dir/compare"
echo "# $(tail -n 1 "$dir/compare")"
like "$(tail -n 1 "$dir/compare")" "^[0-9]{3,} collectives, [0-9]{2,} ends of messages, 16 communicators, 0 differences" "collectives, messages and the groups of halves are in them"
is "$(ring 0 | jq -c '[.rings[0]|.counts.missed, .counts.messages_missed, .live.op]')" '[0,0,"none"]' "nothing was missed, and no call is shown as in progress"
rm -r "$dir/step"

probed "$python" "$top_srcdir/tests/gloo/calls.py" 4 killed 2>"$dir/err" | sort >"$dir/out"
is "$(cat "$dir/out")" "$(printf '%s RuntimeError RuntimeError RuntimeError\n' 0 1 2)" "the exceptions of a rank that is gone reach the others' programs"
is "$(ring 0 | jq -c '[.rings[0].events[]|select(.op == "allreduce")|(.flags // [])|index("failed") != null]')" '[false,false,false,true,true]' "and the collectives that they end are recorded as failed"
rm -r "$dir/step"

# ---- the same loss ----

bare=$(training --steps 60 --work 0 | loss)
guarded --steps 60 --work 0
is $? 0 "a guarded training ends as it should"
like "$bare" "^0x1\.[0-9a-f]+p" "the training without SyncGuard prints its loss"
is "$(loss <"$dir/out")" "$bare" "its loss is that of the training without SyncGuard, bit by bit"
is "$(jq -c '[.state, .ranks, .probe.missed, .probe.dropped]' "$dir/report")" '["finished",4,0,0]' "each rank is seen, and each of their collectives"
jq -e '.probe.events >= 4 * 60 * 3' "$dir/report" >/dev/null
ok $? "each bucket of each rank in each step is recorded" || jq -c .probe "$dir/report"

# ---- a straggler ----

# By ten times what a busy machine keeps a rank waiting, here and below.
guarded --steps 120 --work 8 --slow 2 --by 150
is "$(jq -c '[.verdicts[]|select(.class == "straggler" or .class == "drift").culprits][0]' "$dir/report")" '["r2"]' "a rank that works longer is named, before anybody else"

# ---- messages ----

guarded pipeline --steps 120 --work 8 --slow 1 --by 150
is "$(jq -c '[.verdicts[]|select(.class == "straggler" or .class == "drift").culprits][0]' "$dir/report")" '["r1"]' "a stage of a pipeline that works longer is named, before any other"

# ---- nothing to record ----

sgrun "$python" -c 'import time, torch; time.sleep(15)'
like "$(jq -r .sentence "$dir/report")" "^Ended without a call of MPI, NCCL or Gloo: python3 .pid [0-9]+.: has loaded PyTorch" "a program that has PyTorch and does not communicate: the sentence says so"
like "$(jq -r '.notes[]' "$dir/report")" "nothing seen for 10 s: python3 .pid [0-9]+.: has loaded PyTorch, and no function .* was seen" "and its notes say what was seen"
done_testing
