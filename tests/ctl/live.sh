#!/bin/bash
# sgctl, the real controller and the agents of a simulated job: every question, and a recording in all its endings.
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99
command -v jq >/dev/null || skip_all "jq is not installed"
. "$top_srcdir/tests/controller.sh" || exit 99
yes() { # yes WORDS COMMAND...
    local words=$1
    shift
    "$@" >/dev/null
    is $? 0 "$words"
}
wait_for_quiet() { wait_for "$@" >/dev/null 2>&1; }
sgctl() { timeout 120 "$top_builddir/sgctl" --timeout 60 "$@"; }

echo CommandHook=/bin/true >>"$SYNCGUARD_CONF"
controller_start
is $? 0 "the controller answers"
is "$(sgctl jobs)" "No guarded job that you may see is running or has ended. To start one: srun --sync-guard PROGRAM" "sgctl jobs without guarded jobs prints how to start one"
sgctl job 4242 >"$dir/out" 2>"$dir/err"
is $? 1 "sgctl job of an unknown job exits with 1"
is "$(wc -c <"$dir/out") $(wc -l <"$dir/err")" "0 1" "sgctl job of an unknown job prints one line, on standard error"

job_start --nodes 4 --per-node 2 --step 0.05 --slow-rank 5 --slow-after 1
running() { sgctl job 4242 --json | jq '.steps > 40' | grep -q true; }
wait_for_quiet 120 running
is $? 0 "more than 40 steps of the running job are counted"
yes "sgctl status prints 1 job with 8 ranks" grep -q '^Guards  *1 job, 8 ranks' <(sgctl status)
is "$(sgctl jobs | awk 'NR == 2 { print $1 }')" 4242.0 "sgctl jobs lists the job"
yes "sgctl job --full prints a median step time" grep -qE '^  Step time +median [0-9.]+ ms' <(sgctl job --full 4242.0)
sgctl job 4242 >"$dir/brief"
is $? 0 "sgctl job reports the running job"
is "$(grep -c . "$dir/brief" | awk '{ print $1 <= 12 }')" 1 "sgctl job prints at most twelve lines"
yes "sgctl job says what the job is, and where the rest is" grep -qE '^  Job +4242\.0 .* 8 ranks on 4 nodes$' "$dir/brief"
like "$(tail -n 1 "$dir/brief")" 'sgctl job 4242\.0 --full' "its last line says where the rest is"
sgctl job 4242 --html -o "$dir/page.html"
is "$? $("$top_srcdir/tests/ctl/page.py" "$dir/page.html" 'Job 4242.0' 'Mean step time of each' 'The newest step, drawn')" "0 " \
    "sgctl job --html writes a valid page with the job's charts"
is "$(grep -oE '> ?[a-z]+[0-9]+ r[0-7]</text>' "$dir/page.html" | sort -u | wc -l)" 8 "its map has all 8 ranks with their nodes"
yes "sgctl nodes lists connected nodes" grep -qE '^[a-z]+[0-9]+ .* connected' <(sgctl nodes)
# What the controller collected of the collectives says how the job would do on more ranks.
projected() { timeout 120 "$top_builddir/sgplan" scale --job 4242 --json >"$dir/scale.json" 2>"$dir/err"; }
wait_for_quiet 120 projected
is "$(jq -c '.points | map(.ranks)' "$dir/scale.json")" "[8,16,32,64,128]" "sgplan scale --job projects the running job to 8 to 128 ranks"
yes "sgplan scale --job: every projected step time lies within its range" jq -e '.points | all(.step_low_s <= .step_s and .step_s <= .step_high_s)' "$dir/scale.json"
timeout 120 "$top_builddir/sgplan" scale --job 4343 >"$dir/out" 2>"$dir/err"
is "$? $(wc -c <"$dir/out") $(wc -l <"$dir/err")" "1 0 1" "sgplan scale --job of an unknown job exits with 1 and one line of error"
is "$(sgctl job 4242 --json | jq -r 'keys_unsorted | map(select(. == "id" or . == "state" or . == "ranks" or . == "nodes" or
    . == "steps" or . == "step_s" or . == "steps_per_s" or . == "skew_s" or . == "synchronisation_ratio" or . == "regime" or . == "verdicts" or
    . == "probe")) | sort | join(" ")')" "id nodes probe ranks regime skew_s state step_s steps steps_per_s synchronisation_ratio verdicts" \
    "sgctl job --json has every stable key"
clock=$(sgctl doctor | grep -A1 clock)
is "${clock:0:2}" ok "sgctl doctor reports that the controller's clock agrees"
yes "sgctl doctor --cluster reports the agents' versions" jq -e '[.findings[] | select(.check == "versions") | .state] == ["ok"]' <(sgctl doctor --cluster --json)

# A trace is a header and whole records, a line each. How many there are is up to the machine where the recording ends by time.
good_trace() { # FILE RECORDS: at least so many
    jq -es --argjson least "$2" '.[0].format == "syncguard-trace" and .[0].version == 2 and (.[0].ranks | length) == 8 and length > $least and
        (.[1:] | all((.r | type) == "number" and (.c | type) == "string" and (.s | type) == "number" and has("t1")))' "$1" \
        >/dev/null && [ "$(tail -c 1 "$1" | od -An -c | tr -d ' ')" = '\n' ]
}
recorded() { [ "$(wc -l <"$2")" -gt "$1" ]; }
timeout 600 "$top_builddir/sgctl" record 4242 --seconds 3 -o "$dir/a.jsonl" 2>"$dir/err"
is $? 0 "sgctl record --seconds 3 exits with 0"
good_trace "$dir/a.jsonl" 1
is $? 0 "sgctl record --seconds 3 writes a header and whole records"
yes "sgctl record --seconds 3 reports records, ranks, duration and that the time is up" \
    grep -qE '[0-9]+ records of [1-8] ranks, .* in [0-9.]+ [a-z]+; .*; the time is up$' "$dir/err"
sed 's/^/# /' "$dir/err"

# Until so much is recorded that the slow rank stands out: 12 s of steps of 50 ms.
"$top_builddir/sgctl" record 4242 --seconds 3600 >"$dir/b.jsonl" 2>"$dir/err" &
pid=$!
wait_for_quiet 240 recorded 5760 "$dir/b.jsonl"
kill -INT $pid
wait $pid
is $? 0 "sgctl record exits with 0 on Ctrl-C"
good_trace "$dir/b.jsonl" 5760
is $? 0 "a recording ended by Ctrl-C is a whole trace"
yes "sgctl record reports the records of 8 ranks, and that it was interrupted" grep -qE 'records of 8 ranks, .*; nothing lost; interrupted$' "$dir/err"
yes "sgctl analyze names the slow rank in the recorded trace" jq -e '.trace.ranks == 8 and .trace.reordered == 0 and
    ([.verdicts[] | select(.class == "straggler") | .culprits[]] | index("r5"))' <(sgctl analyze --json "$dir/b.jsonl")

# What runs on a node is listed at once, and not only once it is in the history.
slow_node=$(sgctl job 4242 --json | jq -r '.rank_table[] | select(.rank == 5) | .node')
blamed() { sgctl nodes "$slow_node" --json >"$dir/node.json" && jq -e '.steps[0].culprit_s > 0' "$dir/node.json" >/dev/null; }
wait_for_quiet 120 blamed
is "$(jq -r '[.steps | length, (.[0] | .id, .running, .class, .slowdown > 1, .lost_s > 0, .culprit_s <= .time_s)] | join(" ")' "$dir/node.json")" \
    "1 4242.0 true straggler true true true" "sgctl nodes NODE lists the running job, and for how long a verdict has named the node"
yes "what the verdict says of it, too" jq -e '.steps[0].verdict | test("rank 5 ")' "$dir/node.json"
is "$(sgctl nodes node-of-nobody)" "No guarded job step on node-of-nobody is known that you may see." "sgctl nodes of an unknown node says that nothing is known of it"

sgctl record 4242 --seconds 3600 2>"$dir/err" | head -n 20 >"$dir/c.jsonl"
is "${PIPESTATUS[0]} $(jq -es length "$dir/c.jsonl")" "1 20" "sgctl record into a pipe that is closed exits with 1, after 20 whole records"
yes "sgctl record into a pipe that is closed reports Broken pipe" grep -q 'cannot write the trace: Broken pipe' "$dir/err"

# The controller goes and comes back in the middle; the recording goes on in the same file.
"$top_builddir/sgctl" record 4242 --seconds 3600 -o "$dir/d.jsonl" 2>"$dir/err" &
pid=$!
wait_for_quiet 120 recorded 200 "$dir/d.jsonl"
kill -KILL $controller
wait $controller 2>/dev/null
before=$(wc -l <"$dir/d.jsonl")
controller_start
wait_for_quiet 240 recorded $((before + 200)) "$dir/d.jsonl"
is $? 0 "sgctl record goes on after the controller was killed and started again"
job_end
wait $pid
is $? 0 "sgctl record exits with 0 when the step ends"
good_trace "$dir/d.jsonl" 400
is $? 0 "a recording that outlived the controller has one header and whole lines"
sgctl analyze "$dir/d.jsonl" >"$dir/out" 2>"$dir/err2"
is $? 0 "sgctl analyze reads a recording that outlived the controller"
yes "sgctl record reports that it lost the controller and tries again" grep -q 'lost the controller, trying again' "$dir/err"
sed 's/^/# /' "$dir/err"
finished() { sgctl jobs --finished | grep -q '^4242.0 .* ended '; }
wait_for_quiet 120 finished
is $? 0 "sgctl jobs --finished lists the ended step"
is "$(sgctl nodes "$slow_node" --json | jq -r '[.steps | length, (.[0] | .id, .running, .culprit_s > 0)] | join(" ")')" "1 4242.0 false true" \
    "sgctl nodes NODE lists the ended step once, as ended"
yes "sgctl job still reports the ended step" grep -q 4242.0 <(sgctl job 4242)
sgctl job 4242 --html >"$dir/ended.html"
is "$? $("$top_srcdir/tests/ctl/page.py" "$dir/ended.html" 'Job 4242.0' 'Ended ' 'Mean step time of each' 'The newest step, drawn')" "0 " \
    "sgctl job --html writes a page about the ended step, too"
is "$(sgctl jobs)" "No guarded job that you may see is running; 1 ended: sgctl jobs --finished" "sgctl jobs counts the ended step when none runs"
is "$(sgctl jobs --state ended | awk 'NR == 2 { print $1 }')" 4242.0 "sgctl jobs --state ended lists the ended step"
is "$(sgctl jobs --finished --cost 99)" "No job step matches; without --state and --cost there is 1." "sgctl jobs --cost says that there is no such step"
is "$(sgctl jobs --finished --state running --json | jq -c '[.jobs, .left_out]')" '[[],1]' "sgctl jobs --state takes rows out of JSON, too"
# Whatever a job is asked for, an ended or unknown one exits with 1 and the reason, before anybody is asked to confirm.
refused() { # refused REASON COMMAND...
    local reason=$1
    shift
    sgctl "$@" >"$dir/out" 2>"$dir/err" </dev/null
    is "$? $(wc -c <"$dir/out") $(cat "$dir/err")" "1 0 sgctl: $reason" "sgctl $*: exits with 1 and the reason"
}
for words in "record 4242" "action 4242 requeue" "policy pause 4242" "policy set 4242 HangTimeout=40s"; do
    # shellcheck disable=SC2086
    refused "job 4242.0 has ended" $words
done
unknown="no guarded job 77: it is pending, runs without --sync-guard, has started no step (ranks that mpirun starts on its own node are in none: use srun), was over within a second without a call of MPI, NCCL or Gloo, or does not exist (squeue --job=77)"
for words in "job 77" "record 77" "action 77 requeue" "actions 77" "audit 77" "policy pause 77" "policy explain 77"; do
    # shellcheck disable=SC2086
    refused "$unknown" $words
done
"$top_builddir/sgtop" --dump 77 >"$dir/out" 2>"$dir/err"
is "$? $(cat "$dir/err")" "1 sgtop: $unknown" "sgtop --dump of an unknown job exits with 1 and the reason"

# More ranks than a page has rows for: the rows come later, and each is of two ranks.
job_start --job 4343 --nodes 8 --per-node 12 --step 0.05
mapped() { sgctl job 4343 --html >"$dir/many.html" && grep -q '>r92-r93<' "$dir/many.html"; }
wait_for_quiet 240 mapped
is $? 0 "sgctl job --html of a job of 96 ranks maps all of them, though the table of ranks has 64"
is "$("$top_srcdir/tests/ctl/page.py" "$dir/many.html" 'Job 4343.0' 'A row is the latest of the ranks that it stands for.')" "" "the page is valid, and says what a row is"

# A dry run refuses what would be refused, and has the keys of what would be done.
deaf="job 4343.0 cannot be asked for a checkpoint: the program does not ask whether a checkpoint is due (libsyncguard, SCR), and the policy has neither CheckpointSignal nor CheckpointFile"
for how in "" --yes --dry-run "--dry-run --json"; do
    # shellcheck disable=SC2086
    refused "$deaf" action 4343 checkpoint $how
done
sgctl action 4343 command rank 3 is slow --dry-run --json >"$dir/dry.json"
is "$? $(jq -r '"\(.dry_run) \(.id) \(.state) \(.action) \(.job) \(.reason)"' "$dir/dry.json")" "0 true null null command 4343.0 rank 3 is slow" \
    "sgctl action --dry-run --json prints what would be done, as JSON"
is "$(sgctl actions 4343 --json | jq '.actions | length')" 0 "it does nothing"
sgctl action 4343 command rank 3 is slow --yes --json >"$dir/real.json"
is "$? $(jq -r '"\(.dry_run) \(.state)"' "$dir/real.json")" "0 null done" "the same without --dry-run is done"
is "$(jq -c 'del(.dry_run) | keys' "$dir/dry.json")" "$(jq -c keys "$dir/real.json")" "both have the same keys"

# Slurm requeued it: the number names the run that goes on, and --run any of them.
job_end
job_start --job 4343 --restarts 1 --nodes 2 --per-node 2 --step 0.05
again() { sgctl job 4343 --json | jq -e '.restarts == 1 and .steps > 20' >/dev/null; }
wait_for_quiet 240 again
is $? 0 "sgctl job shows the run that goes on"
is "$(for run in 1 2; do sgctl job 4343 --run=$run --json | jq -c '[.restarts, .ranks, .state]'; done)" $'[0,96,"finished"]\n[1,4,"running"]' \
    "sgctl job --run shows the one that was asked for"
for run in 1:96:Ended 2:4:Verdicts; do
    IFS=: read -r number ranks word <<<"$run"
    sgctl job 4343 --run="$number" --html >"$dir/run.html"
    is "$? $("$top_srcdir/tests/ctl/page.py" "$dir/run.html" 'Job 4343.0' "$ranks ranks" "$word" 'The newest step, drawn')" "0 " "so does the page of run $number"
done
refused "no guarded run 3 of this job is known" job 4343 --run=3 --html
done_testing
