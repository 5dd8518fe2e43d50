#!/bin/bash
# sgctl as a shell sees it: exit codes, streams.  No controller is asked; where one is needed, none is there.
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
PATH=$top_builddir:$PATH
unset SYNCGUARD_CONF SLURM_CONF
code() { # code WANTED WORDS...: exit code; stdout and stderr are in $dir, which the test's name leaves out
    local wanted=$1
    shift
    timeout 120 sgctl "$@" >"$dir/out" 2>"$dir/err" </dev/null
    is $? "$wanted" "sgctl ${*//"$dir/"/}: exit status"
}
nobody=(--controller 127.0.0.1:1 --timeout 2)

code 0 --version
is "$(cut -d' ' -f1 "$dir/out")" sgctl "sgctl --version begins with the program's name"
code 0 --help
code 0 help record
code 2 help nothing
code 2
is "$(wc -c <"$dir/out")" 0 "sgctl without a command prints nothing on standard output"
code 2 job 12x
is "$(cat "$dir/err")" "sgctl: invalid job '12x': expected 123, 123.0 (a step), 123_4 (of an array) or 123+1 (of a het job)
Try 'sgctl help job' for more information." "sgctl job 12x: the error lists the accepted forms of a job, then how to get help"
code 2 jbos
is "$(head -1 "$dir/err")" "sgctl: unknown command 'jbos'. Did you mean 'jobs'?" "sgctl jbos: the error names the command that was probably meant"
is "$(SYNCGUARD_CONF='' sgctl --controller 127.0.0.1:1 jobs 2>&1)" "$(sgctl --controller 127.0.0.1:1 jobs 2>&1)" \
    "sgctl takes an empty SYNCGUARD_CONF as unset"
SYNCGUARD_CONF='' sgtop --dump --controller 127.0.0.1:1 >"$dir/out" 2>"$dir/err"
is "$? $(grep -c 'Connection refused' "$dir/err")" "1 1" "sgtop takes an empty SYNCGUARD_CONF as unset"
for job in 1 1.0 1_2 1_2.3 1+0 1+0.1; do
    code 1 "${nobody[@]}" job $job
done
for job in . 1. 1_ _1 1+x 1.0.0 -- '1 2' 12345678901; do
    code 2 "${nobody[@]}" job "$job"
done
is "$(wc -c <"$dir/out")" 0 "sgctl job without a controller prints nothing on standard output"
code 1 "${nobody[@]}" job 1 --full
code 1 "${nobody[@]}" job 1 --html -o "$dir/page.html"
is "$(wc -c <"$dir/out") $(ls "$dir/page.html" 2>/dev/null)" "0 " "sgctl job --html without a controller leaves no page"
code 2 job 1 --full --json
code 2 job 1 --full --html
code 2 job 1 --html --json
code 2 job 1 -o "$dir/page.html"
is "$(head -1 "$dir/err")" "sgctl: --output belongs to --html" "sgctl job -o without --html: the error says what it belongs to"
code 1 "${nobody[@]}" status --json
code 1 "${nobody[@]}" jobs --finished
code 1 "${nobody[@]}" lemons
code 1 "${nobody[@]}" nodes
is "$(wc -l <"$dir/err")" 1 "sgctl nodes without a controller prints one line of error"

code 2 action 1
code 2 action 1 dance
is "$(head -1 "$dir/err")" "sgctl: unknown action 'dance'" "sgctl action 1 dance: the error names the unknown action"
code 2 action x1 requeue
code 2 action 1 signal
code 2 action 1 requeue now
code 2 node n1 drain
code 2 node n1 shoot
is "$(head -1 "$dir/err")" "sgctl: unknown action 'shoot'" "sgctl node n1 shoot: the error names the unknown action"
for list in 'node[1-' 'node]' 'node[3-1]' 'a,,b' 'a b'; do
    code 2 "${nobody[@]}" node "$list" drain --yes its fan is loud
    like "$(head -1 "$dir/err")" "^sgctl: '.*' is not accepted: names such as node1 or node" "sgctl node $list: the error says what is accepted"
    code 2 "${nobody[@]}" action 1 exclude "$list" --yes
done
code 1 "${nobody[@]}" action 1 exclude 'node[1-3,07],a' --yes
code 1 "${nobody[@]}" action 1 requeue --yes
code 1 "${nobody[@]}" node n1 drain --yes its fan is loud
code 1 "${nobody[@]}" node n1 resume --yes
code 1 "${nobody[@]}" actions

code 1 "${nobody[@]}" record 1 -o "$dir/trace"
[ ! -e "$dir/trace" ]; ok $? "a recording that could not begin leaves no file"
echo mine >"$dir/trace"
code 1 "${nobody[@]}" record 1 -o "$dir/trace"
is "$(cat "$dir/err")" "sgctl: $dir/trace exists: name another file, or remove it first" "sgctl record -o of a file that exists is refused before the controller is asked"
is "$(cat "$dir/trace")" mine "sgctl record -o leaves the file that exists as it was"
code 1 "${nobody[@]}" record 1 -o "$dir/no/such/folder"
is "$(cat "$dir/err")" "sgctl: $dir/no/such/folder: No such file or directory" "sgctl record -o into a missing folder names the file and the reason"
sgctl "${nobody[@]}" --timeout 600 record 1 >"$dir/out" 2>"$dir/err" &
pid=$!
# Until then the signal would just end it: sgctl catches SIGINT (bit 1) and SIGTERM (bit 14) once its loop runs.  Before that the process is
# still this shell, which may catch both, too, and would lose it.
catches() { local caught; [ "$(readlink /proc/$pid/exe)" != "$(readlink /proc/$$/exe)" ] && caught=$(sed -n 's/^SigCgt:\t//p' /proc/$pid/status) && (((16#${caught:-0} & 2) && (16#${caught:-0} & 16384))); }
wait_for 60 catches
kill -INT $pid
wait $pid
is $? 1 "sgctl record exits with 1 on Ctrl-C before the recording began"
is "$(cat "$dir/err")" "sgctl: interrupted before the recording began" "... and says so"

# Ranks 0 to 7 on two nodes; rank 3 takes half as long again for its own work in every step from the 30th on.
awk 'BEGIN {
    printf "{\"format\":\"syncguard-trace\",\"version\":1,\"job\":\"7.0\",\"ranks\":["
    for (r = 0; r < 8; r++) printf "%s{\"rank\":%d,\"node\":\"n%d\"}", r ? "," : "", r, r / 4
    print "]}"
    for (s = 0; s < 120; s++) {
        for (r = last = 0; r < 8; r++) {
            t0[r] = now + 1e8 + (s * 7 + r * 13) % 10 * 1e5 + (r == 3 && s >= 30 ? 5e7 : 0)
            if (t0[r] > last) last = t0[r]
        }
        now = last + 1e6
        for (r = 0; r < 8; r++)
            printf "{\"r\":%d,\"c\":\"world\",\"s\":%d,\"o\":\"allreduce\",\"b\":8,\"t0\":%.0f,\"t1\":%.0f}\n", r, s, t0[r], now
    }
}' >"$dir/slow.jsonl"
head -c 40000 "$dir/slow.jsonl" >"$dir/torn.jsonl"
head -200 "$dir/slow.jsonl" >"$dir/healthy.jsonl"
code 2 analyze
code 1 analyze "$dir/none.jsonl"
is "$(cat "$dir/err")" "sgctl: $dir/none.jsonl: No such file or directory" "sgctl analyze of a missing file names it and the reason"
code 0 analyze --json "$dir/slow.jsonl"
cp "$dir/out" "$dir/whole"
python3 - "$dir/whole" >"$dir/words" <<'END'
import json, sys
a = json.load(open(sys.argv[1]))
print(a["ranks"], a["collectives_per_step"], a["trace"]["records"], a["trace"]["lost"], sorted({c for v in a["verdicts"] for c in v["culprits"]}))
END
is "$(cat "$dir/words")" "8 1 960 0 ['r3']" "sgctl analyze --json: 8 ranks, 1 collective a step, 960 records, none lost, r3 is the culprit"
is "$( (head -c 5000; sleep 0.1; cat) <"$dir/slow.jsonl" | sgctl analyze --json - | cmp - "$dir/whole" && echo same)" same \
    "sgctl analyze of a pipe that comes in pieces prints the same answer"
code 0 analyze "$dir/slow.jsonl"
is "$(sed -n 1p "$dir/out")" "Trace of 7.0: 8 ranks on 2 nodes, 120 collectives in 16.6 s." "sgctl analyze: the first line gives job, ranks, nodes and duration of the trace"
is "$(grep -c 'r3 is slow (straggler)' "$dir/out")" 1 "sgctl analyze: the slow rank is reported once"
is "$(wc -c <"$dir/err")" 0 "sgctl analyze prints no progress where standard error is no terminal"
code 0 analyze "$dir/torn.jsonl"
is "$(grep -c 'the last line is incomplete' "$dir/out")" 1 "sgctl analyze reports that the last line is torn"
code 1 analyze --fail "$dir/slow.jsonl"
code 0 analyze --fail "$dir/healthy.jsonl"
sed '9s/"t1":[0-9]*/"t1":0/' "$dir/slow.jsonl" >"$dir/set.jsonl"
code 0 analyze "$dir/set.jsonl"
is "$(grep -c '^  1 record ends before it begins, as where a clock was set: dropped' "$dir/out")" 1 "sgctl analyze skips and counts a record inside which the clock was set back"
sed '9s/"t1":[0-9]*/"t1":"0"/' "$dir/slow.jsonl" >"$dir/wrong.jsonl"
code 1 analyze "$dir/wrong.jsonl"
is "$(cat "$dir/err")" "sgctl: $dir/wrong.jsonl: line 9: invalid \"t1\" in a record: an integer is expected, nanoseconds, 0 to 2^62 - 1, or null" "sgctl analyze: a malformed record is reported with its line number"

echo 'Controller=nowhere' >"$dir/good.conf"
printf 'Controller=a\nPrt=1\n' >"$dir/bad.conf"
code 0 config
code 0 config check "$dir/good.conf"
code 1 config check "$dir/bad.conf"
is "$(grep -c "bad.conf:2.*Prt" "$dir/err")" 1 "sgctl config check names file, line and the unknown key"
code 2 config chek "$dir/good.conf"
code 1 --conf "$dir/bad.conf" jobs
is "$(SYNCGUARD_CONF=$dir/bad.conf sgctl jobs 2>&1 | grep -c 'bad.conf:2')" 1 "sgctl reads the file that SYNCGUARD_CONF names"

# Policies: what a file says, what it would have decided; nobody is asked.
cat >"$dir/policy.conf" <<'END'
Policy=mine Description="Mine" NodesAtOnce=2
Rule=slow Policy=mine Hold=3s CoolDown=1h Action=exclude \
    When="class == straggler and slowdown > 1.1"
END
sed 's/straggler/stragler/' "$dir/policy.conf" >"$dir/wrong.conf"
code 0 policy check "$dir/policy.conf"
is "$(cat "$dir/out")" "$dir/policy.conf is fine: policies observe, balanced, mine; 1 rule, 0 selections" "sgctl policy check counts policies, rules and selections"
code 1 policy check "$dir/wrong.conf"
is "$(sed 's/ with .*//' "$dir/err")" "sgctl: $dir/wrong.conf:3: Rule=slow When=class == stragler and slowdown > 1.1: column 10: cannot compare class" \
    "sgctl policy check reports file, line, key and column of an error"
is "$(grep -c 'expected none, straggler, drift' "$dir/err")" 1 "sgctl policy check lists the accepted classes"
code 1 config check "$dir/wrong.conf"
code 0 policy figures
is "$(grep -c '^  synchronisation_ratio$' "$dir/out")" 1 "sgctl policy figures lists synchronisation_ratio"
code 0 policy try "$dir/policy.conf" "$dir/slow.jsonl"
is "$(grep -c 'dryrun: slow: class (straggler) == straggler and slowdown (1.*exclude n0; projected: 0\.' <(tr -s ' \n' ' ' <"$dir/out"))" 1 \
    "sgctl policy try of a slow job's trace prints the dry-run decision with its reason"
code 0 policy try "$dir/policy.conf" "$dir/healthy.jsonl"
is "$(sed '1s/trace of .*:/trace of T:/' "$dir/out")" "Policy mine on a trace of T: 0 decisions
  slow: the condition was never true; at the end of the trace: class (none) == straggler and
  slowdown (?) > 1.1" "sgctl policy try of a healthy job's trace prints no decision, and why there is none"
sed 's/Hold=3s/Hold=1h/' "$dir/policy.conf" >"$dir/long.conf"
code 0 policy try "$dir/long.conf" "$dir/slow.jsonl"
like "$(tr -s ' \n' ' ' <"$dir/out")" ': 0 decisions slow: the condition was true for at most [0-9.]+ s at a time, and Hold is 1h00m: class == straggler and slowdown > 1.1 $' \
    "sgctl policy try says that a condition did not hold for long enough"
echo 'Policy=bare' >"$dir/bare.conf"
code 0 --json policy try "$dir/bare.conf" "$dir/slow.jsonl" bare
is "$(jq -c '[.decisions, .reasons]' "$dir/out")" '[[],["the policy has no rules"]]' "sgctl --json policy try says that the policy has no rules"
code 0 --json policy try "$dir/policy.conf" "$dir/slow.jsonl" mine
is "$(python3 -c 'import json,sys; a=json.load(open(sys.argv[1])); d=a["decisions"]; print(len(d), d[0]["action"], d[0]["nodes"], d[0]["state"])' "$dir/out")" \
    "1 exclude ['n0'] dryrun" "sgctl --json policy try has that one decision"
is "$(jq -c .reasons "$dir/out")" '[]' "sgctl --json policy try gives no reason where something was decided"
code 1 policy try "$dir/policy.conf" "$dir/slow.jsonl" other
code 2 policy dance
is "$(cat "$dir/err")" "sgctl: unknown command 'policy dance'
Try 'sgctl help policy' for more information." "sgctl policy dance: the error names the command, then how to get help"
code 2 policy set 1
code 2 policy set 1x HangTimeout=5s
code 2 policy check
code 1 "${nobody[@]}" policy set 1 HangTimeout=5s
code 1 "${nobody[@]}" policy pause 1
code 1 "${nobody[@]}" policy explain 1
code 1 "${nobody[@]}" policy
code 1 "${nobody[@]}" policy show balanced
code 1 "${nobody[@]}" audit
code 2 audit x

# On a terminal of 60 columns a report is at most that wide, unless --wide asks for all of it.
on_terminal() { # on_terminal COMMAND...
    NO_COLOR=1 PAGER=cat script -qec "stty cols 60; $*" /dev/null </dev/null | tr -d '\r'
}
if command -v script >/dev/null; then
    is "$(on_terminal sgctl analyze "$dir/slow.jsonl" | awk 'length > 60' | head -1)" "" \
        "sgctl analyze on a terminal of 60 columns prints no wider line"
    is "$(on_terminal sgctl analyze --wide "$dir/slow.jsonl")" "$(sgctl analyze "$dir/slow.jsonl")" \
        "sgctl analyze --wide on a terminal of 60 columns prints what it prints into a pipe"
    is "$(on_terminal sgctl config | awk 'length > 60 && / .* /' | head -1)" "" \
        "sgctl config on a terminal of 60 columns prints no wider line"
else
    skip "tables on a terminal" "script is not installed"
fi

printf 'optional /x/syncguard.so\n' >"$dir/plugstack.conf"
: >"$dir/slurm.conf"
SLURM_CONF=$dir/slurm.conf code 1 --conf "$dir/good.conf" --controller 127.0.0.1:1 --timeout 1 doctor
is "$(grep -c '^ok ' "$dir/out") $(grep -c '^missing ' "$dir/out")" \
    "$(($(grep -cE '^(ok|missing) ' "$dir/out") - $(grep -c 'next: ' "$dir/out"))) $(grep -c 'next: ' "$dir/out")" \
    "sgctl doctor has a next command for everything that is missing"
is "$(grep -c "^missing  plugin .*plugstack.conf:1: /x/syncguard.so: No such file" "$dir/out")" 1 "sgctl doctor reports a plugin of plugstack.conf that does not exist"
is "$(grep -c '^ok  *configuration' "$dir/out")" 1 "sgctl doctor reports the configuration as ok"
mkdir "$dir/open" && cp "$dir/good.conf" "$dir/open/" && chmod 777 "$dir/open"
SLURM_CONF=$dir/slurm.conf code 1 --conf "$dir/open/good.conf" --controller 127.0.0.1:1 --timeout 1 doctor
is "$(grep -c "^missing  configuration .*$dir/open can be written by all users" "$dir/out")" 1 "sgctl doctor reports a configuration that all users could exchange"

# The cluster, with a scontrol that prints lines in the form of the real one.
mkdir "$dir/bin"
cat >"$dir/bin/scontrol" <<'END'
#!/bin/sh
case "$*" in
*nodes) printf 'NodeName=node%d Arch=x86_64 NodeAddr=10.0.0.%d Version=22.05.8 State=IDLE Partitions=main \n' 1 1 2 2 3 3 4 4 ;;
*) printf 'SwitchName=%s Level=%d LinkSpeed=1 Nodes=%s\n' odd 0 'node[1,3]' even 0 'node[2,4]' top 1 'node[1-4]' ;;
esac
END
printf '#!/bin/sh\necho "srun: error: Unable to allocate resources: Requested nodes are busy" >&2\nexit 1\n' >"$dir/bin/srun"
chmod +x "$dir/bin/scontrol" "$dir/bin/srun"
cluster() { # STATUS OPTIONS...: doctor --cluster beside that topology.conf, no controller
    local expected=$1
    shift
    PATH=$dir/bin:$PATH SLURM_CONF=$dir/slurm.conf code "$expected" --conf "$dir/good.conf" --controller 127.0.0.1:1 --timeout 2 doctor --cluster "$@"
}
printf 'SwitchName=odd Nodes=node[1,3]\nSwitchName=even Nodes=node[2,4]\nSwitchName=top Switches=odd,even\n' >"$dir/topology.conf"
cluster 1
is "$(grep -cE '^ok +(topology|nodes|loaded) ' "$dir/out") $(grep -c '^fault ' "$dir/out") $(grep -cE '^fault +controller ' "$dir/out")" "3 1 1" \
    "sgctl doctor --cluster: the file is Slurm's, and only the controller is missing"
printf 'SwitchName=odd Nodes=node[1,3]\nSwitchName=even Nodes=node2\nSwitchName=top Switches=odd,even\n' >"$dir/topology.conf"
cluster 1
is "$(grep -cE '^fault +nodes .*1 of .* 4 nodes .*: node4$' "$dir/out") $(grep -cE '^fault +loaded .*node4 is below no switch in the file, below even for slurmctld' "$dir/out")" "1 1" \
    "sgctl doctor --cluster names the node that topology.conf lacks"
cluster 1 --json
is "$(jq -c '[.findings[] | select(.check == "nodes") | .state, .nodes]' "$dir/out")" '["fault",["node4"]]' "sgctl doctor --cluster --json has the node"
echo 'SwitchName=top Switches=top' >"$dir/loop.conf"
cluster 1 --topology "$dir/loop.conf"
is "$(grep -cE "^fault +topology +$dir/loop.conf:1: " "$dir/out")" 1 "sgctl doctor --cluster names the line of a broken topology.conf"
cluster 1 --topology "$dir/none.conf"
is "$(grep -cE "^fault +topology +.*$dir/none.conf.*No such file" "$dir/out")" 1 "sgctl doctor --cluster --topology: a missing file is a fault"
cluster 1
is "$(grep -cE '^unknown +answers .*Slurm gives no step on . nodes.*Requested nodes are busy' "$dir/out")" 1 "sgctl doctor --cluster: nodes that Slurm gives no step on are unknown, with the reason"
printf '#!/bin/sh\necho "slurm_load_node error: Unable to contact slurm controller" >&2\nexit 1\n' >"$dir/bin/scontrol"
cluster 1
is "$(grep -cE '^unknown +slurm .*Unable to contact slurm controller' "$dir/out")" 1 "sgctl doctor --cluster: what Slurm does not answer is unknown"
SLURM_CONF=$dir/slurm.conf code 2 --conf "$dir/good.conf" doctor --topology "$dir/topology.conf"
is "$(grep -c -- '--probe and --topology belong to --cluster' "$dir/err")" 1 "sgctl doctor --topology without --cluster is rejected with the reason"
SLURM_CONF=$dir/slurm.conf code 1 --conf "$dir/good.conf" --controller 127.0.0.1:1 --timeout 1 doctor --json
is "$(jq -r '[.checks[] | select(.check == "plugin") | .missing, .text] | join(" ")' "$dir/out" | grep -c '^true .*plugstack.conf:1: /x/syncguard.so: No such file')" 1 \
    "sgctl doctor --json has the plugin that does not exist"
is "$(jq -r '.files.configuration.hash | length' "$dir/out") $(jq -r '.files.plugin.hash' "$dir/out")" "32 null" "sgctl doctor --json has hashes of the files that are there"

# Another release of Slurm than the plugin's, and the plugin's.
for release in 9.05.3 "$(jq -r '.checks[] | select(.check == "release") | .text' "$dir/out" | sed 's/^built for Slurm \([0-9.]*\).*/\1/').1"; do
    printf '#!/bin/sh\necho "slurm-wlm %s"\n' "$release" >"$dir/bin/scontrol"
    PATH=$dir/bin:$PATH SLURM_CONF=$dir/slurm.conf code 1 --conf "$dir/good.conf" --controller 127.0.0.1:1 --timeout 1 doctor --json
    jq -r '.checks[] | select(.check == "release") | .missing, .text, .next // "" | tostring' "$dir/out" >"$dir/release.${release%%.*}"
done
is "$(grep -c 'built for Slurm .* and 9.05 is installed here, which leaves out the plugin' "$dir/release.9") $(grep -c 'headers of Slurm 9.05' "$dir/release.9")" "1 1" \
    "sgctl doctor: a Slurm of another release than the plugin's is a fault, and what to rebuild is said"
is "$(sed -n 1p "$dir/release.${release%%.*}") $(grep -c ', which is installed here$' "$dir/release.${release%%.*}")" "false 1" "sgctl doctor: a Slurm of the plugin's release is none"

printf '#!/bin/sh\necho "$@"\n' >"$dir/sgtop" && chmod +x "$dir/sgtop"
cp "$top_builddir/sgctl" "$dir/sgctl" 2>/dev/null
is "$("$dir/sgctl" replay --speed 10 --from=5s "$dir/slow.jsonl")" "--speed 10 --from 5s --replay $dir/slow.jsonl" \
    "sgctl replay starts sgtop with --replay and its own options"
is "$("$dir/sgctl" -c a,b top --json 5.0)" "--controller a,b --json 5.0" "sgctl top hands its arguments to sgtop"

done_testing
