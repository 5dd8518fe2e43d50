#!/bin/bash
# What a guest of Python's programs meets: loaders that are forked, launchers that start workers again, a program without a file, ranks that leave at once.
. "${top_srcdir:=$PWD}/tests/gloo/torch.sh" || exit 99
program=$top_srcdir/tests/gloo/elastic.py
launcher=("$python" -m torch.distributed.run --standalone --nproc_per_node 2 --max_restarts 1 --no_python)
"${launcher[@]}" true 2>/dev/null || launcher=("$python" "$program" start)
echo "# started by ${launcher[*]}"
guarded() { sgrun "${launcher[@]}" "$@"; }
report() { jq -c "$1" "$dir/report"; }
loss=$("${launcher[@]}" "$python" "$program" 2>/dev/null)
like "$loss" "^loss -?0x" "without a guard the training ends"

guarded "$python" "$program"
is "$? $(cat "$dir/out")" "0 $loss" "with forked loaders: the same loss, bit by bit"
is "$(report "[.state, .ranks, .probe.missed, .probe.dropped, $other_notes]")" '["finished",2,0,0,0]' "its ranks are seen, and nothing else"
is "$(report '.probe.events >= 2 * 36')" true "each step of them"

guarded "$python" "$program" again "$dir/failed"
is "$? $(cat "$dir/out")" "0 $loss" "workers that are started again: the same loss"
is "$(report '[.state, .ranks, (.rank_table|map(.rank)|sort)]')" '["finished",2,[0,1]]' "they are the same ranks"
is "$(report '.probe.missed')" 0 "and nothing of either start is missed"

guarded "$python" -c "$(cat "$program")"
is "$? $(cat "$dir/out")" "0 $loss" "python -c: the same loss"
is "$(report '[.state, .ranks]')" '["finished",2]' "its ranks are seen"

guarded "$python" "$program" leave
is "$? $(cat "$dir/out")" "0 $loss" "ranks that leave by os._exit(): the same loss"
is "$(report '[.state, .ranks, (.verdicts|map(.class))]')" '["finished",2,[]]' "nobody is said to hold anything up"
done_testing
