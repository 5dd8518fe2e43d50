#!/bin/bash
# The plugin on a real private Slurm, with stand-ins for agent and probe: every way to ask for the guard, every
# kind of job, everything that can be missing or die.
set -u
top_srcdir=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
. "$top_srcdir/tests/tap.sh" || exit 99
cluster=${SYNCGUARD_CLUSTER_TOOL:-$top_srcdir/tests/cluster/slurm}
plugin=$top_builddir/.libs/syncguard.so agent=$top_builddir/tests/spank/standin-agent
probe=$top_builddir/.libs/standin-probe.so

[ -x "$cluster" ] || skip_all "there is no cluster tool at $cluster"
for file in "$plugin" "$agent" "$probe"; do
    [ -e "$file" ] || skip_all "$file is not built"
done
why=$("$cluster" check 2>&1) || skip_all "no private Slurm here: ${why//$'\n'/; }"

work=$(mktemp -d /tmp/sg-spank-test.XXXXXX) dir=$work/cluster
chmod 755 "$work"
trap '"$cluster" --dir "$dir" down >/dev/null 2>&1; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# An environment says nothing and is long.
on_failure() {
    grep -v '^[A-Za-z_]*=' "$work/out" | tail -n 15 | sed 's/^/#   out: /'
    tail -n 15 "$work/err" | sed 's/^/#   err: /'
}

# On the control host; leaves $work/out, $work/err and $status.
run() {
    timeout -k 5 300 "$cluster" --dir "$dir" exec "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
}
# The same, and then until the agents are through.
step() {
    run "$@"
    wait_for 120 nodes_clean
}
# $work/job.sh as a job, and then until the agents are through; leaves what it printed in $work/out, and $status is 0 when each of its tasks
# completed. `sbatch -W` looks every ten seconds only.
batch() {
    run sbatch --parsable -o "$work/batch" "$work/job.sh"
    batch=$(cat "$work/out")
    wait_for 300 ended
    wait_for 120 nodes_clean
    status=$(states | grep -cvx JobState=COMPLETED)
    cp "$work/batch" "$work/out"
}
states() { timeout -k 5 120 "$cluster" --dir "$dir" exec scontrol -o show job "$batch" | grep -o 'JobState=[A-Z_]*'; }
ended() { ! states | grep -vqE '=(COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL|BOOT_FAIL|OUT_OF_MEMORY)$'; }
# A job in the background, which lives until `release`.
begin() {
    : >"$work/hold"
    : >"$work/out" # that of the command before is not this one's
    timeout -k 5 600 "$cluster" --dir "$dir" exec "$@" >"$work/out" 2>"$work/err" </dev/null &
    waiting=$!
}
# Its status.
release() {
    rm -f "$work/hold"
    wait $waiting
}
on() {
    timeout -k 5 120 "$cluster" --dir "$dir" on "$@" </dev/null
}
out() { grep -c -- "$1" "$work/out"; }
err() { grep -c -- "$1" "$work/err"; }
forget() { rm -f "$work"/agent.log.*; }
lives() { find "$work" -name "agent.log.${1:-*}.*" | wc -l; }
lived() { [ "$(lives "${2:-}")" -ge "$1" ]; } # TIMES [NODE]
# How many agents have that line in their papers.
told() { cat "$work"/agent.log.* 2>/dev/null | grep -cx -- "$1"; }
use() { # ARGUMENTS of plugstack.conf
    echo "optional $work/syncguard.so $*" >"$dir/etc/plugstack.d/syncguard.conf"
}
# Whatever state Slurm's schedulers have a node in, it is not out of use.
none_drained() { # WHAT
    run sinfo -h -N -o '%N %E' -t all
    is "$(sort -u "$work/out" | tr '\n' ' ')" "node1 none node2 none node3 none node4 none " "$1"
}
script() { # stdin becomes a job script, SEEN in it the program of that name
    { echo '#!/bin/bash'; sed "s:SEEN:$work/seen:g"; } >"$work/job.sh"
}
nodes_clean() {
    local n
    for n in node1 node2 node3 node4; do
        [ -z "$(on "$n" sh -c 'ls /dev/shm/syncguard*; grep -lx -e sg-keeper -e agent /proc/[0-9]*/comm' 2>/dev/null)" ] ||
            return 1
    done
}

cp "$plugin" "$work/syncguard.so"
cp "$agent" "$work/agent"
cp "$probe" "$work/probe.so"
cat >"$work/syncguard.conf" <<CONF
Controller=ctl
AgentPath=$work/agent
ProbePath=$work/probe.so
Policy=night Description="At night"
CONF
conf="conf=$work/syncguard.conf"
# Runs its words, and then lives until the agent of its step on its node has written down how it was started: nothing is
# started for a step that is over. Without words only the latter.
cat >"$work/seen" <<SEEN
#!/bin/sh
[ \$# = 0 ] || "\$@"
status=\$? tries=0
dir=\${SYNCGUARD_DIR:-".*/[0-9]*\\.\$SLURM_JOB_ID\\.\$SLURM_STEP_ID\\.\$SLURMD_NODENAME"}
until grep -qsx "arg --dir=\$dir" "$work/agent.log.\$SLURMD_NODENAME".*; do
    tries=\$((tries + 1))
    [ \$tries -lt 1000 ] || exit 99
    sleep .1
done
exit \$status
SEEN
chmod 755 "$work/seen"
# Lives as long as the test wants.
held='while [ -e '$work/hold' ]; do sleep .1; done'
if ! timeout -k 5 600 "$cluster" --dir "$dir" up 4 --cpus 4 >"$work/out" 2>"$work/err"; then
    show "$work/err"
    bail_out "the private cluster does not start"
fi
use "$conf"
export STANDIN_RING=1 # the stand-in probe makes rings
unset LD_PRELOAD SYNCGUARD_DIR

# ---- asking for it ----

step srun -N4 env
is "$status $(out SYNCGUARD_DIR) $(out LD_PRELOAD) $(lives)" "0 0 0 0" "srun without the option sets no variable and starts no agent"
step srun -N4 --sync-guard "$work/seen" sh -c 'echo "$SLURMD_NODENAME $SYNCGUARD_DIR $LD_PRELOAD"; stat -c "%a %u" $SYNCGUARD_DIR'
is "$status $(out "^node[1-4] /dev/shm/syncguard[-0-9]*/$(id -u).[0-9]*.0.node[1-4] $work/probe.so\$") $(out "^700 $(id -u)\$")" \
    "0 4 4" "srun --sync-guard: every node has LD_PRELOAD and a directory of its own of mode 700"
is "$(lives) $(told 'arg --policy=balanced')" "4 4" "srun --sync-guard: every node has an agent with the default policy balanced"
is "$(told 'env SLURM_NNODES=4') $(told 'env SLURM_NTASKS=4') $(told 'env SYNCGUARD_LOCAL_TASKS=1') $(told 'env SLURM_NODEID=3')" \
    "4 4 4 1" "srun --sync-guard: every agent knows the step's nodes, tasks and its own node"
is "$(wc -c <"$work/err")" 0 "srun --sync-guard prints nothing on standard error"
nodes_clean
ok $? "no directory and no process is left on the nodes"

for launcher in srun "sbatch --wrap=true" "salloc -Q"; do
    command=(${launcher%% *} -N1 --sync-guard=nosuch)
    case $launcher in
    sbatch*) command+=(--wrap=true) ;;
    *) command+=(true) ;;
    esac
    run "${command[@]}"
    [ "$status" -ne 0 ] && [ "$(err 'unknown policy; known are observe, balanced, night, off')" = 1 ]
    ok $? "${launcher%% *}: an unknown policy is rejected with the list of known ones"
    command[2]=--sync-guard=help
    run "${command[@]}"
    is "$status $(out '^  night  *At night') $(out '^  balanced .*\[default\]') $(wc -c <"$work/err")" "0 1 1 0" \
        "${launcher%% *} --sync-guard=help lists the policies and marks the default"
done
run squeue -h
is "$(wc -l <"$work/out")" 0 "rejected policies and --sync-guard=help leave no job in the queue"

forget
step srun -N1 --sync-guard=off env
is "$status $(out SYNCGUARD_DIR) $(lives)" "0 0 0" "srun --sync-guard=off sets no variable and starts no agent"
SLURM_SPANK__SLURM_SPANK_OPTION_syncguard_sync_guard=night step srun -N1 "$work/seen"
is "$status $(told 'arg --policy=night')" "0 1" "the option's environment variable selects a policy"
SLURM_SPANK__SLURM_SPANK_OPTION_syncguard_sync_guard=nosuch step srun -N1 true
[ "$status" -ne 0 ] && [ "$(err 'unknown policy')" = 1 ]
ok $? "an unknown policy in the environment variable is rejected"
cp "$work/probe.so" "$work/tool.so"
LD_PRELOAD=$work/tool.so NCCL_DEBUG=WARN step srun -N1 --sync-guard env
is "$(out "^LD_PRELOAD=$work/tool.so:$work/probe.so\$") $(out '^NCCL_DEBUG=WARN$')" "1 1" "the user's LD_PRELOAD and NCCL_DEBUG are kept"
step srun -N1 --sync-guard sh -c 'exit 7'
is "$status" 7 "a guarded step's exit status is the program's"
step srun -N1 --sync-guard sh -c 'kill -SEGV $$'
[ "$status" -ne 0 ]
ok $? "a guarded program that crashes fails the step"

# ---- jobs with steps inside ----

forget
script <<'JOB'
#SBATCH -N2 --sync-guard=night
echo "batch ${SYNCGUARD_DIR:-none} ${LD_PRELOAD:-none}"
srun SEEN sh -c 'echo inherits $SYNCGUARD_DIR'
srun --sync-guard=observe SEEN sh -c 'echo own $SYNCGUARD_DIR'
srun --sync-guard=off sh -c 'echo off ${SYNCGUARD_DIR:-none} ${LD_PRELOAD:-none}'
srun -N1 SEEN sh -c 'srun --overlap -N1 SEEN sh -c "echo nested \$SYNCGUARD_DIR \$LD_PRELOAD"; srun --overlap -N1 --sync-guard=off sh -c "echo nestedoff \${SYNCGUARD_DIR:-none} \${LD_PRELOAD:-none}"'
JOB
batch
is "$status $(out '^batch none none$') $(out '^inherits .*\.0\.node[12]$') $(out '^own .*\.1\.node[12]$') $(out '^off none none$')" \
    "0 1 2 2 2" "sbatch --sync-guard: steps inherit the policy, a step's own option wins, the script is not guarded"
is "$(out "^nested .*\.4\.node[12] $work/probe.so\$") $(out '^nestedoff none none$')" "1 1" \
    "srun inside a guarded step starts a guard of its own, or none with off"
is "$(told 'arg --policy=night') $(told 'arg --policy=observe')" "4 2" "sbatch: 4 agents have the inherited policy, 2 the step's own"
forget
step salloc -Q -N2 --sync-guard=night srun "$work/seen" sh -c 'echo $SYNCGUARD_DIR'
is "$status $(out syncguard) $(told 'arg --policy=night')" "0 2 2" "salloc --sync-guard: steps inherit the policy"

forget
# Each task waits for those of all three steps.
script <<JOB
#SBATCH -N2 -n4 --sync-guard
for i in 1 2 3; do
    srun --overlap -n4 SEEN sh -c 'echo "\$SYNCGUARD_DIR"; : >"$work/met.\$SLURM_STEP_ID.\$SLURM_PROCID"
        for try in \$(seq 1000); do [ \$(ls "$work"/met.* | wc -l) = 12 ] && exit; sleep .1; done; echo "\$try: the others do not run"' &
done
wait
JOB
batch
is "$status $(sort -u "$work/out" | wc -l) $(lives)" "0 6 6" \
    "three steps at once on two nodes have six directories and six agents"

# Without MPI: when both components end at once, Slurm 22.05's mpi/pmix in srun may wait for ever for its thread, guarded or not.
forget
step srun --mpi=none -N1 -n1 --sync-guard "$work/seen" sh -c 'echo A $SYNCGUARD_DIR' : \
    --mpi=none -N2 -n2 --sync-guard "$work/seen" sh -c 'echo B $SYNCGUARD_DIR'
is "$status $(out '^A .*syncguard') $(out '^B .*syncguard') $(lives)" "0 1 2 3" "every component of a heterogeneous job is guarded"
is "$(told 'env SLURM_HET_JOB_OFFSET=0') $(told 'env SLURM_HET_JOB_OFFSET=1') $(told 'env SLURM_NTASKS=3') $(told 'env SLURM_NNODES=3')" "1 2 3 3" \
    "agents of a heterogeneous job know their component's offset, all 3 tasks and all 3 nodes"
first=$(sed -n 's/.*syncguard.[0-9]*\.\([0-9]*\).*/\1/p' "$work/out" | sort -n | head -1)
is "$(told "env SLURM_HET_JOB_ID=$first")" 3 "agents of a heterogeneous job know the same job id"

forget
script <<'JOB'
#SBATCH -N1 --array=3,5 --sync-guard
srun SEEN
JOB
batch
is "$status $(cat "$work"/agent.log.* | grep -c 'env SLURM_JOB_ID') $(sort -u "$work"/agent.log.* | grep -c 'env SLURM_JOB_ID')" "0 2 2" \
    "each task of an array is guarded as a job of its own"

forget
script <<JOB
#SBATCH -N2 --sync-guard --requeue
srun SEEN sh -c 'echo "\$SLURM_RESTART_COUNT \$SYNCGUARD_DIR" >>$work/requeued.\$SLURMD_NODENAME; [ "\$SLURM_RESTART_COUNT" = 1 ] || $held'
JOB
: >"$work/hold"
run sbatch --parsable -o /dev/null "$work/job.sh"
job=$(cat "$work/out")
first_life() { lived 2 && cat "$work"/requeued.* 2>/dev/null | grep -c syncguard | grep -qx 2; }
wait_for 120 first_life
run scontrol requeue "$job"
# Slurm lets a requeued job wait for two minutes, once it has left its nodes.
second_life() {
    sleep 1 # each update sends Slurm through its queue again
    "$cluster" --dir "$dir" exec scontrol update "JobId=$job" StartTime=now >/dev/null 2>&1
    cat "$work"/requeued.* | grep -c '^1 /dev/shm/syncguard' | grep -qx 2
}
wait_for 240 second_life
ok $? "a requeued job is guarded again on both nodes"
second_papers() { [ "$(told 'env SLURM_RESTART_COUNT=1')" -eq 2 ]; }
wait_for 120 second_papers
ok $? "agents of a requeued job know its restart count"
wait_for 120 nodes_clean
ok $? "a requeued job leaves no directory and no process of either run"

# ---- defaults ----

forget
use "$conf" default=on
step srun -N1 "$work/seen" env
is "$(out ^SYNCGUARD_DIR) $(lives)" "1 1" "default=on: a step without the option is guarded"
step srun -N1 --sync-guard=off env
is "$(out ^SYNCGUARD_DIR)" 0 "default=on: --sync-guard=off is obeyed"
use "$conf" partition=main:night
forget
step srun -N1 "$work/seen"
is "$(told 'arg --policy=night')" 1 "partition=main:night: a step without the option gets policy night"
use "$conf" default=on partition=main:off colour=red
step srun -N1 env
is "$status $(out ^SYNCGUARD_DIR) $(wc -c <"$work/err")" "0 0 0" "partition=main:off wins over default=on, and an unknown argument is ignored silently"

# ---- the plugin's line twice, as an `echo >>` that was run twice leaves it ----

forget
{
    echo "optional $work/syncguard.so $conf"
    echo "optional $work/syncguard.so $conf default=on"
} >"$dir/etc/plugstack.d/syncguard.conf"
keepers() { on node1 sh -c 'cat /proc/[0-9]*/comm 2>/dev/null' | grep -cx -e sg-keeper -e agent; }
begin srun -N2 --sync-guard=night sh -c "$held; echo \$LD_PRELOAD"
wait_for 120 lived 1 node1 && wait_for 120 lived 1 node2
is "$(keepers)" 2 "the line twice: a node has one keeper and one agent"
release
is "$? $(out "^$work/probe.so\$") $(wc -c <"$work/err") $(lives) $(told 'arg --policy=night')" "0 2 0 2 2" \
    "the line twice: a step is guarded once, with the policy that it asks for"
wait_for 120 nodes_clean
step srun -N1 --sync-guard=help
is "$status $(out '^  night ')" "0 1" "the line twice: --sync-guard=help lists the policies once"
step srun -N1 env
is "$(out ^SYNCGUARD_DIR)" 0 "the line twice: default=on of the second counts for nothing"

# ---- what can be missing ----

forget
use "$conf" agent=/nonexistent/agent
step srun -N4 --sync-guard env
is "$status $(out ^SYNCGUARD_DIR) $(out ^LD_PRELOAD) $(err 'runs unguarded: .*cannot run the agent /nonexistent/agent')" "0 0 0 1" \
    "a missing agent: the job runs unguarded and one line reports it for four nodes"
use "$conf" probe=/nonexistent/probe.so
step srun -N4 --sync-guard "$work/seen" env
is "$status $(out ^SYNCGUARD_DIR) $(out ^LD_PRELOAD) $(err 'runs unguarded: .*cannot read the probe /nonexistent/probe.so')" "0 0 0 1" \
    "a missing probe: the job runs unguarded and one line reports it"
is "$(told 'env SYNCGUARD_NOTES=unguarded: cannot read the probe /nonexistent/probe.so: No such file or directory')" 4 \
    "a missing probe: every agent gets the reason as a note"
use conf=/nonexistent/syncguard.conf
step srun -N4 --sync-guard env
is "$status $(out ^SYNCGUARD_DIR) $(err 'runs unguarded: .*/nonexistent/syncguard.conf: No such file')" "0 0 1" \
    "a missing configuration: the job runs unguarded and one line reports it"
step srun -N2 --sync-guard=night true
is "$status $(err 'cannot check policy night')" "0 1" "a missing configuration: one line reports that the policy cannot be checked"
forget
mkdir -p "$work/mine" && cp "$work/agent" "$work/mine/" && chmod 777 "$work/mine"
SYNCGUARD_SETTINGS="AgentPath=$work/agent ProbePath=$work/probe.so Controller=ctl" step srun -N2 --sync-guard env
is "$status $(out ^SYNCGUARD_DIR) $(lives)" "0 0 0" "a node takes no setting from the job's environment"
use "$conf" "agent=$work/mine/agent"
step srun -N2 --sync-guard env
is "$status $(out ^SYNCGUARD_DIR) $(lives) $(err "$work/mine can be written by all users")" "0 0 0 1" \
    "an agent in a directory that all can write is not started, and one line reports it"

# ---- what can die ----

use "$conf"
forget
begin srun -N2 --sync-guard sh -c "$held; echo done"
wait_for 120 lived 1 node1 && wait_for 120 lived 1 node2
victim=$(find "$work" -name 'agent.log.node1.*' | sed 's/.*\.//')
on node1 kill -9 "$victim"
wait_for 120 lived 2 node1
ok $? "an agent ended by kill -9 is started again"
keeper=$(on node2 sh -c 'cd /proc && for p in [0-9]*; do grep -qx sg-keeper $p/comm 2>/dev/null && echo $p; done')
on node2 kill -9 "$keeper"
wait_for 120 lived 2 node2
ok $? "a keeper ended by kill -9 is started again, with a new agent"
guards() { on node2 sh -c 'cat /proc/[0-9]*/comm 2>/dev/null' | grep -x -e sg-keeper -e agent | sort | tr '\n' ' '; }
one_pair() { [ "$(guards)" = "agent sg-keeper " ]; }
wait_for 60 one_pair
is "$(guards)" "agent sg-keeper " "the old keeper's agent has ended: one keeper and one agent run"
release
is "$? $(out done) $(wc -c <"$work/err")" "0 2 0" "after kill -9 of agent and keeper the job ends with 0 and prints nothing more"
wait_for 120 nodes_clean
ok $? "after kill -9 of agent and keeper no directory and no process is left"

forget
: >"$work/agent.fail"
begin srun -N2 --sync-guard sh -c "$held; echo done"
wait_for 120 lived 2 node1 && wait_for 120 lived 2 node2
ok $? "an agent that fails each time is started again on each node"
release
is "$? $(out done) $(wc -c <"$work/err")" "0 2 0" "an agent that fails each time: the job does not notice"
rm "$work/agent.fail"
wait_for 120 nodes_clean

forget
begin srun -N2 --job-name=tocancel --sync-guard sh -c "$held"
wait_for 120 lived 2
run scancel --name=tocancel
wait $waiting
wait_for 120 nodes_clean
ok $? "a cancelled job leaves no directory and no process"

forget
begin srun -N1 --job-name=signalled --sync-guard sh -c "trap 'echo got it' USR1; $held"
wait_for 120 lived 1
agent=$(find "$work" -name 'agent.log.*' | sed 's/.*\.log\.//')
# Once the second has come, the first is with all whom it is for.
got() { [ "$(grep -cx 'got it' "$work/out")" -ge "$1" ]; }
for times in 1 2; do
    timeout -k 5 120 "$cluster" --dir "$dir" exec scancel --signal=USR1 --name=signalled
    wait_for 120 got $times
done
ok $? "a signal to the job reaches its task"
is "$(on "${agent%.*}" cat "/proc/${agent#*.}/comm") $(lives)" "agent 1" "a signal to the job does not end the agent"
release

# ---- the cluster is as it was ----

wait_for 120 nodes_clean
ok $? "no directory and no process is left on the nodes"
none_drained "no node was drained"

done_testing
