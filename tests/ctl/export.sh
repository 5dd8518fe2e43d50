#!/bin/bash
# sgctl export: a recorded trace as a timeline that Perfetto and Chrome read; the clocks of its nodes are aligned.
. "${top_srcdir:=$PWD}/tests/tap.sh"
command -v jq >/dev/null || skip_all "jq is not installed"
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
like "$(cat err)" '^sgctl: 1200 calls of 4 ranks on 2 nodes; clocks aligned, standard deviation [0-9.]+ .s$' "what was written, and how well the clocks are aligned, is said"
is "$(jq -c '[.traceEvents[] | select(.ph == "X")] | [length, (map(.tid) | unique), (map(.pid) | unique), (map(.dur >= 0) | all)]' timeline.json)" \
    "[1200,[0,1,2,3],[1,2],true]" "each call is a slice of its rank's thread, on its node's process"
is "$(jq -c '[.traceEvents[] | select(.ph == "M")] | map(.args.name) | unique' timeline.json)" '["n\"0","n\"1","rank 0","rank 1","rank 2","rank 3"]' "nodes and ranks have their names"
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
sgctl export trace.jsonl -o timeline.json 2>err
is "$? $(cat err)" "1 sgctl: timeline.json exists: name another file, or remove it first" "an existing file is not overwritten"
{ cat trace.jsonl; echo '{"r":9,"c":"world","s":1,"o":"barrier","b":0,"t0":1,"t1":2}'; } >strange.jsonl
sgctl export strange.jsonl -o strange.json 2>err
is "$? $(cat err)" "1 sgctl: strange.jsonl:1202: rank 9 is not in the header" "a malformed line is named"
[ ! -e strange.json ]
ok $? "of a malformed trace no half of a timeline is left"
head -c -20 trace.jsonl >torn.jsonl
sgctl export torn.jsonl 2>err | jq -e '[.traceEvents[] | select(.ph == "X")] | length == 1199' >/dev/null
ok $? "a torn last line is left out"
sgctl export /dev/null >out 2>err
is "$? $(cat err)" "1 sgctl: /dev/null: no header: it is no syncguard-trace, or an empty one" "an empty file is refused"
sgctl export - <trace.jsonl >out 2>err
is "$?" 1 "a pipe is refused"
# Nodes that never meet have clocks of their own.
jq -c 'select(.format or .r < 2 and .o == "allreduce"), (select(.r >= 2 and .o == "allreduce") | .c = "other")' trace.jsonl >apart.jsonl
sgctl export apart.jsonl -o apart.json 2>err
like "$(cat err)" ' on 2 nodes, 1 of them without a clock in common with the first$' "nodes that never meet are said"
done_testing
