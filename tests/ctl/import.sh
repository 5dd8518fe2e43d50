#!/bin/bash
# sgctl import: other programs' records of a training become traces that are judged right; what sgctl export wrote comes back as it was.
# With timelines of real trainings beside the source tree (shared/timelines, or SYNCGUARD_TIMELINES), dumps of real hangs and other projects'
# samples of formats (shared/import, or SYNCGUARD_IMPORT), these are read, too.
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99
command -v jq >/dev/null || skip_all "jq is not installed"
command -v python3 >/dev/null || skip_all "there is no python3"
checker=$(cd "$top_srcdir/tests/ctl" && pwd)/timeline.py || exit 1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
PATH=$top_builddir:$PATH
samples=$(cd "$top_srcdir/tests/trace/samples" && pwd) || exit 1
timelines=${SYNCGUARD_TIMELINES:-$(cd "$top_srcdir" && pwd)/../shared/timelines}
others=${SYNCGUARD_IMPORT:-$(cd "$top_srcdir" && pwd)/../shared/import}
unset SYNCGUARD_CONF
cd "$dir" || exit 1

# try NAME FILE...: NAME.jsonl, NAME.err, NAME.json
try() {
    local name=$1
    shift
    sgctl import "$@" -o "$name.jsonl" 2>"$name.err"
    is $? 0 "$name: sgctl import exits with 0" || show "$name.err"
    sgctl analyze --json "$name.jsonl" >"$name.json" 2>>"$name.err"
    is $? 0 "$name: what is imported can be analysed" || show "$name.err"
}

# ---- a pipeline: rank 2 is slower by half from step 25 on
try pipeline "$samples/pipeline.json"
is "$(jq -c '.verdicts | map([.class, .scope, .culprits])' pipeline.json)" '[["straggler","rank",["r2"]]]' "pipeline: the slow worker is named"
# Its extra work is 1.5 times (2 x 20 + 2 x 40 ms) less that, all of it on the critical path: 25 x 60 ms of 10.9 s.
jq -e '.verdicts[0].slowdown > 1.14 and .verdicts[0].slowdown < 1.18' pipeline.json >/dev/null
ok $? "pipeline: its price is what the timeline was made with, 1.16" || jq -c .verdicts pipeline.json
jq -e '.steps >= 40 and (.step_s.p50 > 0.18 and .step_s.p50 < 0.25)' pipeline.json >/dev/null
ok $? "pipeline: steps are those of the timeline, without the gaps between them"
like "$(sgctl analyze pipeline.jsonl | tr '\n' ' ')" 'rank 2 computed [0-9.]+ % longer' "pipeline: the sentence names a rank without a node"
like "$(sgctl step pipeline.jsonl | tr '\n' ' ')" 'of r2 \(its peers work 12[0-9] ms\)' "pipeline: the step compares a stage with the same stage of the other replicas"
like "$(cat pipeline.err)" '^sgctl: timelines, [0-9]+ kB: 6 ranks, 300 records of collectives and 1200 of messages' "pipeline: what was read is said"

# ---- the flight recorder: rank 2 never came to collective 41
try flight "$samples"/nccl_trace_rank_[012].json
is "$(jq -c '.verdicts | map([.class, .scope, .culprits])' flight.json)" '[["hang","rank",["r2"]]]' "flight recorder: the rank that is behind is named"
like "$(jq -r .sentence flight.json)" 'allreduce 41 of world \(3 ranks\).* 2 inside, waiting for rank 2 \(its last record is leaving allreduce 40' \
    "flight recorder: the collective, who is in it and who is not"

# ---- its pickles: pending calls alone, an empty list of the rank that never came
try pickles "$samples"/_dump_[0123]
is "$(jq -c '.verdicts | map([.class, .scope, .culprits])' pickles.json)" '[["hang","rank",["r1","r3"]]]' "pickles: the ranks at the ends of all chains are named"
like "$(jq -r .sentence pickles.json)" 'rank 1 has not come to alltoall 41 of world ep \(4 ranks\), in which 2 wait: it is in no call' "pickles: the call that a rank misses"
like "$(jq -r .sentence pickles.json)" 'rank 3 is still in allgather 12 of tp 2,3, which others have left' "pickles: the call that a rank does not leave"
sgctl import "$samples"/_dump_3 "$samples"/_dump_1 "$samples"/_dump_0 "$samples"/_dump_2 2>err | sgctl analyze --json - >mixed.json 2>>err
is "$(jq -c .verdicts mixed.json)" "$(jq -c .verdicts pickles.json)" "pickles: the order of the files does not matter" || show err
head -c 200 "$samples/_dump_0" >_dump_0
sgctl import _dump_0 >out 2>err
is $? 1 "pickles: a file that ends too early is refused"
like "$(cat err)" '^sgctl: _dump_0: a pickle .* the file is not complete$' "pickles: that it does is said"
printf "cos\nsystem\n(S'touch run'\ntR." | cat <(printf '\x80\x02') - >_dump_1
sgctl import _dump_1 >out 2>err
is "$? $(cat err)" "1 sgctl: _dump_1: a pickle that is not read: GLOBAL at byte 3: it could import, call or fetch something, and only data is read" \
    "pickles: one that calls something is refused"
[ ! -e run ]
ok $? "pickles: what it would call did not run"

# ---- torch.profiler and NCCL Inspector: 2 ranks, rank 1 works 3 ms longer
for name in kineto inspector; do
    case $name in
        kineto) try kineto "$samples"/kineto-rank[01].json ;;
        inspector) try inspector "$samples"/inspector-[01].jsonl ;;
    esac
    # Clocks of two files differ by seconds; the later rank is last by 3 ms all the same.
    is "$(jq -c '[.ranks, .skew_s.p50 * 1000 | round]' $name.json)" '[2,3]' "$name: rank 1 is late by 3 ms, whatever the clocks show"
done
like "$(jq -r .sentence kineto.json)" 'Rank 1 came last to 12 of 24 collectives, and the others waited 36.0 ms for it alone \(1[0-9.]+ % of the time\): 3.00 ms each time that the same 2 collectives came \(90 % interval of 12: ' \
    "kineto: twelve steps tell for whom the others waited, and how surely" || jq .sentence kineto.json
is "$(grep -c '"o":"send"' kineto.jsonl) $(grep -c '"o":"recv"' kineto.jsonl)" "24 24" "kineto: a batch of messages is its parts"
is "$(head -n 1 inspector.jsonl | jq -c '[.ranks[].node]')" '["gpu-0","gpu-1"]' "inspector: nodes are the hosts"

# ---- compressed files are read as they are
gzip -c "$samples/kineto-rank0.json" >rank0.json.gz
gzip -c "$samples/kineto-rank1.json" >rank1.json.gz
try packed rank0.json.gz rank1.json.gz
cmp -s packed.jsonl kineto.jsonl
ok $? "compressed: the trace is that of the uncompressed timelines" || show packed.err
tar -czf both.tar.gz -C "$samples" kineto-rank0.json kineto-rank1.json
sgctl import both.tar.gz >out 2>err
is "$? $(cat err)" "1 sgctl: both.tar.gz: it is an archive of files: unpack it first, with tar -xf, and give the files in it" \
    "compressed: an archive is refused with what to type"

# ---- plain lines of NCCL Inspector: rank 1 is held for 3 ms less in each collective, so it came 3 ms later
plain() { # RANK WRITTEN: lines that jq makes of numbers 1 to 12; WRITTEN: when, in us, by the number .
    seq 12 | jq -c --argjson rank "$1" '. as $n | {header: {id: "0x1", rank: $rank, n_ranks: 2}, metadata: {dump_timestamp_us: ('"$2"'), hostname: "n\($rank)",
        pid: 1}, coll_perf: {coll: "AllReduce", coll_sn: $n, coll_msg_size_bytes: 65536, coll_exec_time_us: (4000 - 3000 * $rank)}}'
}
for rank in 0 1; do
    plain $rank '1000000 + 20000 * $n' >soon-$rank.log
    plain $rank '9000000 + 10 * $n' >late-$rank.log
done
try soon soon-[01].log
is "$(jq -c '[.ranks, (.skew_s.p50 * 1000 | round), .trace.untimed]' soon.json)" '[2,3,false]' "plain lines: written soon, they tell who is late, and when"
jq -e '.trace.seconds > 0.2 and .trace.seconds < 0.25' soon.json >/dev/null
ok $? "plain lines: written soon, they tell how long the training was" || jq -c .trace soon.json
try late late-[01].log
is "$(jq -c '[.ranks, (.skew_s.p50 * 1000 | round), .trace.untimed]' late.json)" '[2,3,true]' "plain lines: written at the end, they tell who is late, and not when"
is "$(jq -c '[.rank_table[] | [.rank, (.lateness_s * 1000 | round)]]' late.json)" '[[1,3],[0,0]]' "plain lines: written at the end, they tell by how much"
is "$(jq -c '[.trace.seconds, .synchronisation_ratio, .steps_per_s, (.verdicts | length), .communicators[0].collectives_per_s]' late.json)" '[null,null,null,0,null]' \
    "plain lines: written at the end, nothing is said of steps and of what lies between calls"
like "$(sgctl analyze late.jsonl | tr '\n' ' ')" '^Trace: 2 ranks on 2 nodes, 12 collectives\. The records say how long collectives held their ranks, and not when' \
    "plain lines: written at the end, the page says what is not known"
like "$(cat late.err)" 'say how long calls were, and not when' "plain lines: written at the end, the import says it, too"
sgctl export late.jsonl >out 2>err
like "$? $(cat err)" '^1 sgctl: late.jsonl: its calls have no times' "plain lines: without times no timeline is drawn"
sgctl import late-1.log >out 2>err
is $? 1 "plain lines: one rank's are refused where their times are not known"
like "$(cat err)" 'rank 1 of 2 of communicator 0x1' "plain lines: whose they are is said"
sed 5s/coll_perf/x/ late-0.log | sed '7s/$/x/' >broken-0.log
sgctl import broken-0.log late-1.log >broken.jsonl 2>err
is $? 0 "plain lines: a broken one is skipped"
like "$(cat err)" '^sgctl: 1 broken line skipped, the first: broken-0.log: line 7: ' "plain lines: which one is broken is said" || show err

# ---- clocks: a rank's clock may show anything
for rank in 0 1; do
    grep "\"r\":$rank," kineto.jsonl | tail -n 1 | jq -c '.t1 / 1e9 | floor'
done >clocks
ok $(($(sed -n 2p clocks) - $(sed -n 1p clocks) == 7 ? 0 : 1)) "clocks: those of two files are 7 s apart" || show clocks
is "$(sgctl step --json kineto.jsonl | jq -c '.picture.span_s < 0.1')" true "clocks: a step of ranks whose clocks are 7 s apart is as long as each rank's"

# ---- there and back
sgctl export pipeline.jsonl -o pipeline-timeline.json 2>err
is $? 0 "there and back: the trace is exported" || show err
like "$(python3 "$checker" pipeline-timeline.json)" '^sound: [0-9]+ slices, 600 arrows, [1-9][0-9] steps$' \
    "there and back: the timeline is sound, and has a critical path"
try back pipeline-timeline.json
same='{verdicts: (.verdicts | map({class, scope, culprits, slowdown: (.slowdown * 1000 | round)})), steps, ranks, step: (.step_s.p50 * 1e5 | round), trace: (.trace | {records, collectives, messages, never_left})}'
is "$(jq -cS "$same" back.json)" "$(jq -cS "$same" pipeline.json)" "there and back: the same records, steps, verdicts and prices"
is "$(sgctl step --json back.jsonl | jq -c '[.picture.rows[]? | [.rank, .role]]')" "$(sgctl step --json pipeline.jsonl | jq -c '[.picture.rows[]? | [.rank, .role]]')" \
    "there and back: the same roles"
sgctl export flight.jsonl -o flight-timeline.json 2>err
try hung flight-timeline.json
is "$(jq -c '.verdicts | map([.class, .culprits])' hung.json)" "$(jq -c '.verdicts | map([.class, .culprits])' flight.json)" "there and back: a hang stays one"
# Of each rank an access before each collective, whose number is the collective's.
jq -ncr '{format: "syncguard-trace", version: 2, job: "9", ranks: [range(2) | {rank: ., node: "n"}]},
  (range(20) as $s | (1e9 + $s * 1e6) as $t |
    (range(2) as $r | {r: $r, c: "world", s: $s, o: "access", b: 8, rb: 0, p: (1 - $r), t0: ($t + 1e5), t1: ($t + 2e5)}),
    (range(2) as $r | {r: $r, c: "world", s: $s, o: "allreduce", b: 8, t0: ($t + 4e5), t1: ($t + 5e5)}))' >access.jsonl
sgctl export access.jsonl -o access-timeline.json 2>err
is $? 0 "there and back: a trace with one-sided accesses is exported" || show err
try accesses access-timeline.json
is "$(sed 1d accesses.jsonl | jq -r .o | sort | uniq -c | xargs)" "40 allreduce" "there and back: the collectives beside one-sided accesses, and no others"
like "$(cat accesses.err)" '40 records of collectives and 0 of messages; 40 other items skipped$' "there and back: one-sided accesses are counted as skipped"

# ---- the command
cat "$samples/pipeline.json" | sgctl import - >piped.jsonl 2>err
cmp -s piped.jsonl pipeline.jsonl
ok $? "a timeline is read from standard input, and a trace written to standard output" || show err
sgctl import "$samples/pipeline.json" -o pipeline.jsonl 2>err
is "$? $(cat err)" "1 sgctl: pipeline.jsonl exists: name another file, or remove it first" "an existing file is not overwritten"
sgctl import --format=nccl-inspector "$samples/pipeline.json" -o x 2>err
is $? 1 "another format than the file's is an error"
[ ! -e x ]
ok $? "of a failed import no file is left"
sgctl import --format=tea "$samples/pipeline.json" >out 2>err
is $? 2 "an unknown format is wrong usage"
sgctl import "$samples/pipeline.json" "$samples/inspector-0.jsonl" >out 2>err
is $? 1 "files of two formats are refused"
like "$(cat err)" "inspector-0.jsonl: it is NCCL Inspector's lines, the files before are timelines: import one format at a time" "which they are is said"
sgctl import missing.json >out 2>err
is "$? $(cat err)" "1 sgctl: missing.json: No such file or directory" "a missing file is named"
head -c 300000 "$samples/pipeline.json" >torn.json
sgctl import torn.json >torn.jsonl 2>err
is $? 0 "a timeline that ends too early is read as far as it goes"
like "$(cat err)" '1 of 1 file ends too early' "that it does is said"
like "$(sgctl --complete sgctl import --format= '' 2>/dev/null; sgctl --complete sgctl import --format=ch)" 'chrome' "formats are completed"

# ---- timelines of real trainings (tests/trace/samples/README.md)
for name in AR ST; do
    if [ -f "$timelines/timeline-$name.json.gz" ]; then
        gzip -dc "$timelines/timeline-$name.json.gz" >"$name.real.json"
        try $name "$name.real.json"
        case $name in
            AR) like "$(sgctl step AR.jsonl | tr '\n' ' ')" 'is work of r0 \(its peers work 19' "AR: the worker that was slowed down is on the critical path" ;;
            ST) like "$(sgctl step ST.jsonl | tr '\n' ' ')" 'r7 +1.4[0-9] s +1.4[0-9] s' "ST: the last stage has more work than the others" ;;
        esac
    else
        skip "$name: a real timeline" "no timelines beside the source tree"
    fi
done

# ---- dumps of real hangs, with a log of the ranks that were hurt
for name in gpu_error_1st lock_gil_1st; do
    set=$others/flight_recorder/$name
    if [ -f "$set/fault_injection.log" ]; then
        hurt=$(sed -n 's/^Fault ranks: //p' "$set/fault_injection.log" | jq -c 'map("r\(.)")')
        try $name "$set"/_dump_*
        is "$(jq -c '.verdicts | map([.class, .culprits])' $name.json)" "[[\"hang\",$hurt]]" "$name: the ranks that were hurt are named, and no others"
        like "$(jq -r .sentence $name.json)" '(have not come to|is missed in) alltoall [0-9]+ of EXPERT_MODEL' "$name: the call that they miss is named"
    else
        skip "$name: dumps of a real hang" "no dumps beside the source tree"
    fi
done
if [ -f "$others/flight_recorder/tutorial_2.3.json" ]; then
    sgctl import "$others/flight_recorder/tutorial_2.3.json" >out 2>err
    is $? 1 "tutorial: the number in the name is none of a rank"
    cp "$others/flight_recorder/tutorial_2.3.json" rank_0.json
    try tutorial rank_0.json
    is "$(jq -c '[.ranks, .trace.records, (.verdicts | length)]' tutorial.json)" '[1,1,0]' "tutorial: one call of one rank, and no verdict"
    like "$(cat tutorial.err)" '1 call ends when the recorder looked, which is after it was over: ' "tutorial: the end of a call is when somebody looked, which is said"
else
    skip "tutorial: a dump of version 2.3" "no dumps beside the source tree"
fi
# ---- other projects' samples
if [ -d "$others" ]; then
    try datadog "$others/inspector/datadog_fixture.jsonl"
    like "$(cat datadog.err)" '1 broken line skipped, the first: .*datadog_fixture.jsonl: line 4: ' "Inspector's lines as Datadog has them: the broken one is named"
    is "$(jq -c '[.trace.size, .trace.untimed, [.rank_table[] | [.rank, (.lateness_s * 1e6 | round)]]]' datadog.json)" '[3,true,[[0,18],[1,0]]]' \
        "Inspector's lines as Datadog has them: rank 0 came 18 us later"
    sgctl import "$others/inspector/nvidia_readme_v4.0.jsonl" >out 2>err
    is $? 1 "Inspector's lines of NVIDIA's text, of two ranks that never met, are refused"
    like "$(cat err)" 'rank 2 of 8 of communicator 0x7f8c496ae9f661' "Inspector's lines of NVIDIA's text: whose they are is said"
    mkdir dlrm && tar -xzf "$others/kineto/dlrm_kineto.tar.gz" -C dlrm
    try dlrm dlrm/dlrm_kineto/worker*.json
    is "$(jq -c '[.ranks, .trace.collectives, .trace.lost]' dlrm.json)" '[8,8,0]' "a step of DLRM: eight ranks meet eight times"
    is "$(jq -c '[.rank_table[] | select(.last_ratio == 0.625) | .rank]' dlrm.json)" '[7]' "a step of DLRM: rank 7 comes last to five of eight collectives"
    like "$(jq -r .sentence dlrm.json)" '^Ended before a repeating step was known. Rank [0-9] came last to [0-9] of 8 collectives, and the others waited .* for it alone .*; whether it is so each time takes several steps to tell' \
        "a step of DLRM: for whom the others waited is said, and that one step shows no more" || jq .sentence dlrm.json
    like "$(cat dlrm.err)" '64 records of collectives name no group' "a step of DLRM: that its kernels name no group is said"
    sgctl import "$others/kineto/cpu_only_rank-34.json.gz" >out 2>err
    like "$? $(cat err)" '^1 .*all calls are of rank 34 of 300' "a timeline of one rank of 300 is refused with the reason" || show err
    sgctl import "$others/kineto/distributed_info_not_found.json.gz" >out 2>err
    like "$? $(cat err)" '^1 .*the timeline has no distributedInfo with its rank' "a timeline of an unknown rank is refused with the reason" || show err
    sgctl import "$others/kineto/dlrm_kineto.tar.gz" >out 2>err
    like "$? $(cat err)" '^1 .*it is an archive of files' "the archive of DLRM's timelines is refused"
    sgctl import "$others/kineto/merged_trace.json" >out 2>err
    like "$? $(cat err)" '^1 .*has 512 forward and backward passes of 4 pipeline stages in 1 iteration, and none of the messages' \
        "a pipeline's passes without messages are refused with the reason"
else
    skip "other projects' samples" "none are beside the source tree"
fi
done_testing
