#!/bin/bash
# A rank whose GPU is held down for its temperature: what stands beside its verdict, in sgctl and sgtop.
# (Reading GPUs: tests/agent/agent-test.)
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99
command -v jq >/dev/null || skip_all "jq is not installed"
. "$top_srcdir/tests/controller.sh" || exit 99
sgctl() { timeout 120 "$top_builddir/sgctl" --timeout 60 "$@"; }
on_failure() { show "$dir/syncguardd.log"; }

controller_start
ok $? "the controller answers" || done_testing
job_start --nodes 4 --per-node 2 --step 0.05 --slow-rank 5 --slow-after 1 --gpus
cause='its GPU 1 runs at 1110 of 1980 MHz, held down for its temperature (91 C), the others'"'"' at 98.0 % of the largest clock; it counts 2 uncorrected memory errors since its agent began'
# The figures are smoothed over some seconds: until they are what they were given as.
named() { sgctl job 4242 --json >"$dir/job.json" 2>/dev/null && [ "$(jq -r '.verdicts[0].cause' "$dir/job.json")" = "$cause" ]; }
wait_for 240 named
is "$(jq -rc '.verdicts[0] | [.class, .culprits, .cause]' "$dir/job.json")" "$(jq -nc --arg cause "$cause" '["straggler", ["r5"], $cause]')" \
    "the slow rank's verdict has its GPU's clock, reason, temperature and errors"
flat() { tr -s ' \n' ' '; }
like "$(sgctl job 4242 | flat)" 'its GPU 1 runs at 1110 of 1980 MHz, held down for its temperature \(91 C\)' "sgctl job prints the cause"
like "$(sgctl job 4242 --full | flat)" 'its GPU 1 runs at 1110 of 1980 MHz, held down for its temperature \(91 C\)' "sgctl job --full prints the cause"
is "$(jq -c '[.agents[] | select(.node == "sim2") | .health.gpus[] | [.index, (.clock_mhz | round), .clock_max_mhz, .uncorrected_errors, .corrected_errors, .mig, .throttle]]' "$dir/job.json")" \
    '[[0,1940,1980,0,0,false,null],[1,1110,1980,2,0,false,"thermal"]]' "its node has the figures of both GPUs"
is "$(jq -c '[.rank_table[] | select(.rank == 5) | .health | [.gpu, .several_gpus]]' "$dir/job.json")" '[[1,false]]' "the rank has its GPU"
# The screen of the evidence (tests/tui/screens) shows what sgtop has of the job.
like "$(timeout 120 "$top_builddir/sgtop" --json 4242 | jq -r '.verdicts[0].cause')" '1110 of 1980 MHz' "sgtop has the cause"
done_testing
