#!/bin/bash
# sgctl export: a recorded trace as a timeline that Perfetto and Chrome read; the clocks of its nodes are aligned.
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99
command -v jq >/dev/null || skip_all "jq is not installed"
command -v python3 >/dev/null || skip_all "there is no python3"
checker=$(cd "$top_srcdir/tests/ctl" && pwd)/timeline.py || exit 1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
PATH=$top_builddir:$PATH
unset SYNCGUARD_CONF
cd "$dir" || exit 1

# Two nodes of two ranks meet once a step; rank 0 sends to rank 2 before.  The second node's clock is 3 s ahead and 50 us a second fast.
jq -ncr '
  def at(n): if n == 1 then 3e9 + . * 1.00005 else . end | floor;
  {format: "syncguard-trace", version: 2, job: "7.0 <\"&>", ranks: [range(4) | {rank: ., node: "n\"\(. / 2 | floor)"}]},
  (range(200) as $s | (1e9 + $s * 2e7) as $t |
    {r: 0, c: "world", s: $s, o: "send", b: 100, p: 2, g: 5, t0: ($t | at(0)), t1: ($t + 1e4 | at(0))},
    {r: 2, c: "world", s: $s, o: "recv", b: 100, p: 0, g: 5, t0: ($t - 1e5 | at(1)), t1: ($t + 5e4 | at(1))},
    (range(4) as $r | ($r / 2 | floor) as $n |
      {r: $r, c: "world", s: $s, o: "allreduce", b: 8, ti: ($t + 1e5 | at($n)), t0: ($t + 1e6 + $r * 1e5 | at($n)), t1: ($t + 2e6 | at($n))}))' >trace.jsonl
sgctl export trace.jsonl -o timeline.json 2>err
is $? 0 "sgctl export TRACE -o FILE exits with 0" || show err
jq -e . timeline.json >/dev/null
ok $? "the timeline is JSON, whatever names the trace has"
like "$(cat err)" '^sgctl: 1200 calls of 4 ranks on 2 nodes; clocks aligned, standard deviation [0-9.]+ .s; the critical path of 199 steps$' "what was written, and how well the clocks are aligned, is said"
like "$(python3 "$checker" timeline.json)" '^sound: [0-9]+ slices, 200 arrows, 199 steps$' "the timeline has nothing that Perfetto drops, and the critical path fills each step"
is "$(jq -c '[.traceEvents[] | select(.ph == "X" and .cat != "critical path")] | [length, (map(.tid) | unique), (map(.pid) | unique), (map(.dur >= 0) | all)]' timeline.json)" \
    "[1200,[0,1,2,3],[1,2],true]" "each call is a slice of its rank's thread, on its node's process"
is "$(jq -c '[.traceEvents[] | select(.ph == "M") | .args.name | select(.)] | unique' timeline.json)" '["critical path","n\"0","n\"1","rank 0","rank 1","rank 2","rank 3","steps"]' "nodes and ranks have their names"
is "$(jq -c '[.traceEvents[] | select(.ph == "s" or .ph == "f") | .id] | [length, (unique | length)]' timeline.json)" "[400,200]" "a message is an arrow with two ends"
is "$(jq -c '[.traceEvents[] | select(.ph == "b" or .ph == "e") | .id] | [length, (unique | length)]' timeline.json)" "[1600,800]" \
    "what was begun before is an asynchronous slice of its rank"
# All ranks leave a collective together, by the common clock; by their own they are 3 s apart.
jq -e '[.traceEvents[] | select(.ph == "X" and .name == "allreduce")] | group_by(.args.number) |
    map(map(.ts + .dur) | max - min) | max < 20' timeline.json >/dev/null
ok $? "the ends of a collective are together although the clocks are 3 s apart and drift"
jq -e '[.traceEvents[] | select(.ts)] | map(.ts) | min >= 0 and min < 200' timeline.json >/dev/null
ok $? "the timeline begins at 0"
is "$(jq -c '[.otherData.job, .otherData.nodes_without_common_clock, (.otherData.clock_error_s | . >= 0 and . < 1e-5)]' timeline.json)" '["7.0 <\"&>",0,true]' \
    "the file has the job, and how well the clocks are aligned"

sgctl export trace.jsonl >piped.json 2>/dev/null
cmp -s timeline.json piped.json
ok $? "without -o the timeline goes to standard output"
sgctl export --perfetto trace.jsonl 2>/dev/null | cmp -s - timeline.json
ok $? "--perfetto names the format that is written without it, too"
like "$(sgctl --complete sgctl export --p)" 'perfetto' "the format's option is completed"
sgctl export trace.jsonl -o timeline.json 2>err
is "$? $(cat err)" "1 sgctl: timeline.json exists: name another file, or remove it first" "an existing file is not overwritten"
{ cat trace.jsonl; echo '{"r":9,"c":"world","s":1,"o":"barrier","b":0,"t0":1,"t1":2}'; } >strange.jsonl
sgctl export strange.jsonl -o strange.json 2>err
is "$? $(cat err)" "1 sgctl: strange.jsonl:1202: rank 9 is not in the header" "a malformed line is named"
[ ! -e strange.json ]
ok $? "of a malformed trace no half of a timeline is left"
head -c -20 trace.jsonl >torn.jsonl
sgctl export torn.jsonl 2>err | jq -e '[.traceEvents[] | select(.ph == "X" and .cat != "critical path")] | length == 1199' >/dev/null
ok $? "a torn last line is left out"
sgctl export /dev/null >out 2>err
is "$? $(cat err)" "1 sgctl: /dev/null: no header: it is no syncguard-trace, or an empty one" "an empty file is refused"
sgctl export - <trace.jsonl >out 2>err
is "$?" 1 "a pipe is refused"
# Nodes that never meet have clocks of their own.
jq -c 'select(.format or .r < 2 and .o == "allreduce"), (select(.r >= 2 and .o == "allreduce") | .c = "other")' trace.jsonl >apart.jsonl
sgctl export apart.jsonl -o apart.json 2>err
like "$(cat err)" ' on 2 nodes, 1 of them without a clock in common with the first; the critical path of 199 steps$' "nodes that never meet are said"
python3 "$checker" apart.json >out
ok $? "a timeline of nodes that never meet is sound" || show out
is "$(jq -c '[.traceEvents[] | select(.cat == "critical path") | .args.rank | select(. != null)] | unique | . - [0, 1]' apart.json)" "[]" \
    "of nodes that never meet, the critical path is that of the first one's ranks"

# ---- the critical path ----

# All wait for rank 3, whose clock is another one: 15 ms of work, then 1 ms of the collective.
jq -ncr '
  def at(n): if n == 1 then 3e9 + . * 1.00005 else . end | floor;
  {format: "syncguard-trace", version: 1, job: "8", ranks: [range(4) | {rank: ., node: "n\(. / 2 | floor)"}]},
  (range(200) as $s | (1e9 + $s * 16e6) as $t | range(4) as $r | ($r / 2 | floor) as $n |
    {r: $r, c: "world", s: $s, o: "allreduce", b: 8, t0: ($t + (if $r == 3 then 15e6 else 10e6 end) | at($n)), t1: ($t + 16e6 | at($n))})' >slow.jsonl
sgctl export slow.jsonl -o slow.json 2>err
like "$(python3 "$checker" slow.json)" '^sound: .* 199 steps$' "one slow rank: the timeline is sound"
is "$(jq -c '[.traceEvents[] | select(.cat == "critical path" and .args.step) | [.name, (.dur / 100 | round)]] | unique' slow.json)" \
    '[["allreduce entered last by rank 3",10],["work of rank 3",150]]' "one slow rank: each step waits for its work, then for the collective"
is "$(jq -c '[.traceEvents[] | select(.cat == "critical path" and (.name | test("^step "))) | .args | map_values(. / 100 | round)] | unique' slow.json)" \
    '[{"work_us":150,"transfer_us":10}]' "one slow rank: a step says what its path is made of"
jq -e '[.traceEvents[] | select(.cat == "critical path" and (.name | test("^step "))) | .name | ltrimstr("step ") | tonumber] |
    . == [range(.[0]; .[0] + length)]' slow.json >/dev/null
ok $? "one slow rank: steps have consecutive numbers"

# Rank 0 sends to rank 1 what that works on: the path goes through both, and the message between them.
jq -ncr '
  {format: "syncguard-trace", version: 2, job: "9", ranks: [range(3) | {rank: ., node: "n"}]},
  (range(200) as $s | (1e9 + $s * 16e6) as $t |
    {r: 0, c: "world", s: $s, o: "send", b: 100, p: 1, g: 5, t0: ($t + 5e6), t1: ($t + 5e6 + 1e4)},
    {r: 1, c: "world", s: $s, o: "recv", b: 100, p: 0, g: 5, t0: ($t + 1e6), t1: ($t + 7e6)},
    (range(3) as $r | {r: $r, c: "world", s: $s, o: "barrier", b: 0, t0: ($t + (if $r == 1 then 15e6 else 8e6 end)), t1: ($t + 16e6)})) | map_values(if type == "number" then floor else . end)' >pair.jsonl
sgctl export pair.jsonl -o pair.json 2>err
like "$(python3 "$checker" pair.json)" '^sound: .* 200 arrows, 199 steps$' "a message on the path: the timeline is sound"
is "$(jq -c '[.traceEvents[] | select(.cat == "critical path" and .args.step)] | group_by(.args.step) | map(map([.name, (.dur / 100 | round)])) | unique' pair.json)" \
    '[[["work of rank 0",50],["transfer from rank 0 to rank 1",20],["work of rank 1",80],["barrier entered last by rank 1",10]]]' \
    "a message on the path: it goes from the sender's work to the receiver's, in this order"

# What is missing is not called work, and does not leave a gap.
awk 'NR % 97 != 50' pair.jsonl >lossy.jsonl
sgctl export lossy.jsonl -o lossy.json 2>err
python3 "$checker" lossy.json | grep -v '^arrow ' >out
is "$(cat out)" "" "with missing records the timeline has no other fault than arrows with one end"
like "$(cat err)" 'the critical path of 1[0-9][0-9] steps$' "with missing records most steps have a path"

# A receive that was tested while the rank did something else overlaps that.
jq -ncr '
  {format: "syncguard-trace", version: 2, job: "10", ranks: [range(2) | {rank: ., node: "n"}]},
  (range(100) as $s | (1e9 + $s * 16e6) as $t |
    {r: 1, c: "world", s: $s, o: "send", b: 100, p: 0, g: 5, t0: ($t + 5e6), t1: ($t + 5e6 + 1e4)},
    (range(2) as $r | {r: $r, c: "world", s: (2 * $s), o: "barrier", b: 0, t0: ($t + 6e6), t1: ($t + 7e6)}),
    {r: 0, c: "world", s: $s, o: "recv", b: 100, p: 1, g: 5, ti: ($t + 1e6), t0: ($t + 6500001), t1: ($t + 8e6 + 7)},
    (range(2) as $r | {r: $r, c: "world", s: (2 * $s + 1), o: "barrier", b: 0, t0: ($t + 15e6), t1: ($t + 16e6)})) | map_values(if type == "number" then floor else . end)' >tested.jsonl
sgctl export tested.jsonl -o tested.json 2>err
like "$(python3 "$checker" tested.json)" '^sound: ' "calls that overlap: the timeline is sound"
is "$(jq -c '[.traceEvents[] | select(.ph == "X" and .name == "recv")] | [length, (map(.args.entered) | map(type) | unique)]' tested.json)" '[100,["number"]]' \
    "calls that overlap: the slice has when the rank entered the call"
calls() { jq -c 'select(.format | not) | [.r, .c, .s, .o, .b, .p, .g, .t0, .t1, .ti]' "$1" | jq -sc '(map(.[7]) | min) as $first | map(.[7] -= $first | .[8] -= $first | if .[9] then .[9] -= $first else . end) | sort[]'; }
for name in pair tested; do
    # An importer takes a rank as held by one call at a time: one that overlaps another holds it from that one's end on.
    sgctl import "$name.json" -o "$name-back.jsonl" 2>err
    calls "$name.jsonl" | jq -c 'if .[9] then .[7] = ([.[7], (.[8] - 1000007)] | max) else . end' >there
    calls "$name-back.jsonl" >back
    cmp -s there back
    ok $? "there and back: $name has the same calls with the same times, and nothing of the critical path" || diff there back | head -5
done

# The checker finds what it is for.
bad() { jq -c "$2" pair.json >bad.json; like "$(python3 "$checker" bad.json)" "$3" "the check of timelines finds $1"; }
bad "an arrow with one end" 'del(.traceEvents[[.traceEvents[].ph] | index("f")])' '^arrow '
bad "an overlap" '.traceEvents[[.traceEvents[] | .ph == "X" and .name == "recv"] | index(true)].dur = 14500' 'overlaps another one in part'
bad "a gap in the critical path" 'del(.traceEvents[[.traceEvents[].name] | index("work of rank 1")])' 'what was before it ends at'
bad "a thread without a name" 'del(.traceEvents[[.traceEvents[] | .name == "thread_name"] | index(true)])' 'has no name'
done_testing
