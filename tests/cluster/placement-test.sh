#!/bin/bash
# The order of ranks at launch on a real private Slurm: two switches, and an allocation whose nodes are on them in turn.
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/prelude.sh"

trainer=$top_builddir/tests/workloads/trainer.openmpi
needs "$trainer" "the trainer is not built for Open MPI"
C_TIMEOUT=300
installed
up 4 --cpus 4 --leaf 2 --deal
plugin=$here/inst/lib/syncguard/syncguard.so
cat >"$here/turns.conf" <<'CONF'
SwitchName=odd Nodes=node[1,3]
SwitchName=even Nodes=node[2,4]
SwitchName=top Switches=odd,even
CONF
use() { # ARGUMENTS of plugstack.conf
    echo "optional $plugin conf=$here/c/etc/syncguard.conf answer=60s topology=$here/turns.conf $*" >"$here/c/etc/plugstack.d/syncguard.conf"
}
use

# Nodes in the order of their ranks, once each in a row, of a step in an allocation of 4 nodes.
order() { # SALLOC'S OPTIONS -- SRUN'S WORDS
    local options=()

    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    C exec salloc -Q -N4 "${options[@]}" srun -l "$@" sh -c 'echo "$SLURMD_NODENAME ${SLURM_HOSTFILE:-none}"' 2>"$here/err" >"$here/out"
    status=$?
    nodes=$(sort -n "$here/out" | sed 's/^ *[0-9]*: node\([0-9]\) .*/\1/' | tr -d '\n')
}
says() { grep -c -- "$1" "$here/err"; }
slurms=1234 placed=1324

is "$(C exec srun -w node3 printenv SLURM_TOPOLOGY_ADDR)" spine0.leaf0.node3 "--deal: the third node is on the first switch"
order --
is "$status $nodes" "0 $slurms" "without the option ranks are in Slurm's order"
order -- -v --sync-guard=placement=on
is "$status $nodes $(says 'ranks are ordered along the switches: ring, 4 ranks on 4 nodes')" "0 $placed 1" \
    "placement=on: ranks are in the order of the switches, and one line says it with -v"
is "$(grep -c none "$here/out")" 4 "placement=on: the tasks have no SLURM_HOSTFILE"
order -- --sync-guard=placement=on
is "$status $nodes $(wc -c <"$here/err")" "0 $placed 0" "placement=on says nothing without -v"
order --sync-guard=placement=on --
is "$status $nodes" "0 $placed" "salloc's placement=on holds for the step inside"
order --sync-guard=placement=on -- --sync-guard=placement=off
is "$status $nodes" "0 $slurms" "the step's own placement=off overrides it"
order -- -v --sync-guard
is "$status $nodes $(says 'with placement=on ranks would be ordered')" "0 $slurms 1" "by default the order is Slurm's, and -v says what another one would gain"

order -n8 --ntasks-per-node=2 -- --sync-guard=placement=on
is "$status $nodes" "0 11332244" "two tasks per node: they follow one another"
per_node() { grep -o . <<<"$nodes" | sort | uniq -c | tr -s ' \n' ' '; }
order -n7 --
slurm_nodes=$(per_node)
order -n7 -- --sync-guard=placement=on
is "$status $(per_node)" "0 $slurm_nodes" "7 tasks of the allocation: each node has as many as without the guard"
is "$(uniq <(grep -o . <<<"$nodes") | tr -d '\n')" "$placed" "7 tasks of the allocation: in the order of the switches"
order --exclusive -- -n16 --sync-guard=placement=on
is "$status $nodes" "0 1111333322224444" "a task for each CPU: they follow one another"
order --exclusive -- -v -n6 --sync-guard=placement=on
is "$status ${#nodes} $(says "left in Slurm's order: how many tasks each node gets is not certain")" "0 6 1" "-n6: left to Slurm, because it is not certain where the tasks go"
order -- -v -N2 --sync-guard=placement=on
is "$status $nodes $(says "left in Slurm's order: the step may have other nodes")" "0 12 1" "-N2: left to Slurm"

order -- -v -w 'node[1-4]' --sync-guard=placement=on
is "$status $nodes $(says "left in Slurm's order: --nodelist is given")" "0 $slurms 1" "-w: left as the user wants it"
order -- -v -n4 -m cyclic --sync-guard=placement=on
is "$status $nodes $(says "left in Slurm's order: --distribution is given")" "0 $slurms 1" "-m: left as the user wants it"
printf 'node%d\n' 4 3 2 1 >"$here/mine"
SLURM_HOSTFILE=$here/mine order -- --sync-guard=placement=on
is "$status $nodes" "0 4321" "SLURM_HOSTFILE: left as the user wants it"
C exec sh -c "salloc -Q -N4 srun -n4 --sync-guard=placement=on sh -c 'srun --overlap -n1 -N1 -w \$SLURMD_NODENAME true || echo \$SLURMD_NODENAME fails'" >"$here/out" 2>"$here/err"
is "$? $(wc -c <"$here/out")" "0 0" "srun inside a placed step works"
C exec sh -c "salloc -Q -N4 srun -n4 --sync-guard=placement=on sh -c 'srun --overlap -n1 true || echo \$SLURMD_NODENAME fails; echo \${SLURM_DISTRIBUTION:-none}'" >"$here/out" 2>"$here/err"
is "$(sort -u "$here/out")" none "also where it says nothing of nodes: the order is not inherited"

cat >"$here/job.sh" <<'JOB'
#!/bin/bash
#SBATCH -N4 -n4 --sync-guard=placement=on
srun -l sh -c 'echo $SLURMD_NODENAME'
JOB
C exec sbatch -W -o "$here/batch" "$here/job.sh" >/dev/null 2>&1
is "$? $(sort -n "$here/batch" | sed 's/.*node//' | tr -d '\n')" "0 $placed" "sbatch --sync-guard=placement=on holds for its steps"

for mode in on advise; do
    job=$(C exec salloc -Q -N4 sh -c "echo \$SLURM_JOB_ID; srun --sync-guard=observe,placement=$mode '$trainer' --steps 60 --batch 64 >/dev/null" 2>"$here/err")
    until_true 120 '.state == "finished"'
    is "$(figure '.placement | [.pattern, .applied, .slurm_s / .chosen_s > 1.5] | join(" ")')" "ring $([ $mode = on ] && echo true || echo false) true" \
        "placement=$mode: the job's report has what was found"
    is "$(C exec sgctl job "$job" --full | grep -c '^  Order  .*(ring) .* times as fast')" 1 "placement=$mode: sgctl job --full says it in a line"
done

# The second start of a job takes the pattern of the first.
again() { # SRUN'S OPTIONS
    C exec salloc -Q -N4 -J again srun -v "$@" "$trainer" --steps 60 --batch 64 >/dev/null 2>"$here/err"
}
known() { C exec sgctl earlier --name again --ranks 4 --nodes 4 | grep -q '^pattern ring$'; }
again --sync-guard=observe,placement=on
is "$(says 'from the job.s last run')" 0 "a first start: there is no earlier run"
wait_for 120 known
ok $? "sgctl earlier says what it communicated"
is "$(C exec sgctl earlier --name again --ranks 8)" "runs 0" "of another number of ranks nothing is known"
again --sync-guard=observe,placement=on
is "$(says "ranks are ordered along the switches: ring (from the job's last run), 4 ranks on 4 nodes")" 1 "the second start takes the pattern of the first"
again --sync-guard=observe,placement=on,groups=2
is "$(says 'from the job.s last run')" 0 "a pattern that the user gives is not replaced"

# One in two starts of a job is held out, and the effect is shown.
echo 'Policy=turns Placement=on PlacementHoldout=2' >>"$here/c/etc/syncguard.conf"
C controller kill >/dev/null 2>&1
C controller start >/dev/null 2>&1
answers() { C exec sgctl status >/dev/null 2>&1; }
wait_for 120 answers
runs() { C exec sgctl earlier --name turns --ranks 4 --nodes 4 | grep -q "^runs $1$"; }
said=0 told=
for start in 1 2 3 4; do
    job=$(C exec salloc -Q -N4 -J turns sh -c "echo \$SLURM_JOB_ID; srun -v --sync-guard=turns '$trainer' --steps 60 --batch 64 >/dev/null" 2>"$here/err")
    until_true 120 '.state == "finished"'
    wait_for 120 runs $start
    ok $? "PlacementHoldout=2: start $start is known to the controller before the next one" || report | jq -c '{state, steps, probe, notes}' | sed 's/^/#   /'
    said=$((said + $(says "left in Slurm's order, to compare with that along the switches")))
    told+="$(figure '.placement | [.compared, .applied] | join(",")') "
done
is "$(tr ' ' '\n' <<<"${told% }" | sort | uniq -c | tr -s ' \n' ' ')" " 2 true,false 2 true,true " "PlacementHoldout=2: two of four starts are held out" || echo "#   $told"
is "$said" 2 "srun -v says so"
[[ $told =~ ^(true,true\ true,false|true,false\ true,true)\ (true,true\ true,false|true,false\ true,true)\ $ ]]
ok $? "one of each two"
is "$(C exec sgctl earlier --name turns --ranks 4 --nodes 4 | grep -E '^(placed|held_out) ' | tr '\n' ' ')" "placed 2 held_out 2 " "sgctl earlier counts them"
until_true 120 '.placement.effect | .placed == 2 and .held_out == 2'
is "$(figure '.placement.effect | [.placed, .held_out, .ratio > 0, .low] | map(tostring) | join(" ")')" "2 2 true null" "the job's report has the effect, without an interval yet"
is "$(C exec sgctl job "$job" --full | grep -c '2 starts along the switches and 2 held out in Slurm.s order: [0-9.]* of the step time')" 1 "sgctl job --full says it"
is "$(C exec sgctl actions "$job" | grep -c "$job.* turns *ring .* held out in Slurm's order: [0-9.]* of the step time")" 1 "and sgctl actions"

# The algorithm of all-reduces: links of long latency, and a library that does them in twice the rounds that it could. A first start sets nothing.
echo 'Policy=tuned Placement=on Algorithm=on' >>"$here/c/etc/syncguard.conf"
C controller kill >/dev/null 2>&1
C controller start >/dev/null 2>&1
wait_for 120 answers
solver=$top_builddir/tests/workloads/loop.mpich
# A start that lives until it has made more than so many steps, and is ended then: MPICH may hang in MPI_Finalize here (config.sh)
told() { # STEPS OPTIONS...
    : >"$here/out" # that of the start before must not be taken for this one's
    C exec salloc -Q -N4 -J solver sh -c "echo \$SLURM_JOB_ID; exec srun -v --mpi=pmi2 ${*:2} sh -c 'echo told=\$MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM; exec $solver solver 1000000'" \
        >"$here/out" 2>"$here/err" &
    srun=$! most=$1
    enough() { job=$(head -n 1 "$here/out") && [ -n "$job" ] && [ "$(grep -c '^told=' "$here/out")" = 4 ] && is_true ".steps > $most"; }
    wait_for 240 enough
    C exec scancel --user="$(id -un)" >/dev/null 2>&1
    wait $srun 2>/dev/null
    until_true 120 '.state != "running"'
}
knows() { C exec sgctl earlier --name solver --ranks 4 --nodes 4 | grep -q '^allreduce 2048 '; }
if [ -x "$solver" ]; then
    for node in 1 2 3 4; do
        C shape node$node 10ms || bail_out "the link of node$node cannot be delayed"
    done
    told 30 --sync-guard=tuned
    is "$(grep -c '^told=$' "$here/out") $(says "left to the library's own choice: no earlier run shows the job's all-reduces")" "4 1" "Algorithm=on: a first start sets nothing, and -v says so"
    is "$(figure '.algorithm | [.name, .applied] | map(tostring) | join(" ")')" "null false" "its report says that no algorithm is known to be faster"
    wait_for 120 knows
    ok $? "sgctl earlier says what its all-reduces took"
    # The times of a busy machine may show nothing for sure: these are what the delays make of them.
    C controller stop >/dev/null 2>&1
    python3 - "$(find "$here/c" -name history.sqlite)" <<'PYTHON'
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as history:
    history.execute("UPDATE algorithm SET allreduces='[[8,2,0.04,0.042,0.01],[2048,4,0.08,0.084,0.01]]', step_s=0.4 WHERE name='solver'")
PYTHON
    C controller start >/dev/null 2>&1
    wait_for 120 answers
    told 2 --sync-guard=tuned
    is "$(grep -c '^told=recursive_doubling$' "$here/out") $(says 'all-reduces are done by recursive_doubling (MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=recursive_doubling)')" "4 1" \
        "the second start: the library is told recursive doubling in each task's environment, and -v says so"
    is "$(figure '.algorithm | [.name, .applied, .usual_s > .most_s] | map(tostring) | join(" ")')" "recursive_doubling true true" "its report has it"
    is "$(C exec sgctl job "$job" --full | grep -c '^  All-reduces  *recursive_doubling, as the library was told; by the model, at least [0-9.]* times as fast as its own choice')" 1 \
        "sgctl job --full says it in a line"
    MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=reduce_scatter_allgather told 0 --sync-guard=tuned
    is "$(grep -c '^told=reduce_scatter_allgather$' "$here/out") $(says 'MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM is set')" "4 1" "the user's own setting stays, and -v says so"
    for node in 1 2 3 4; do
        C shape node$node off
    done
else
    skip "the algorithm of all-reduces" "the loop is not built for MPICH"
fi

use placement=on default=on
order --
is "$status $nodes" "0 $placed" "placement=on and default=on in plugstack.conf hold for a step without options"
order -- --sync-guard=off
is "$status $nodes" "0 $slurms" "--sync-guard=off overrides them"
use
echo 'SwitchName=top Switches=top' >"$here/turns.conf"
order -- --sync-guard=placement=on
is "$status $nodes $(wc -l <"$here/err") $(says "left in Slurm's order: $here/turns.conf:1: ")" "0 $slurms 1 1" \
    "a broken topology.conf: Slurm's order, and one line names the place"
echo 'SwitchName=odd Nodes=node[1-3]' >"$here/turns.conf"
order -- --sync-guard=placement=on
is "$status $nodes $(says "left in Slurm's order: .*node4 is below no switch")" "0 $slurms 1" "a topology.conf without one of the nodes: Slurm's order, and a line"
rm "$here/turns.conf"
order -- --sync-guard=placement=on
is "$status $nodes $(wc -c <"$here/err")" "0 $slurms 0" "no topology.conf: Slurm's order"
for launcher in srun salloc; do
    C exec $launcher -N1 --sync-guard=placement=maybe true >"$here/out" 2>"$here/err"
    [ $? -ne 0 ] && [ "$(says 'placement=maybe: off, advise and on are accepted')" = 1 ]
    ok $? "$launcher refuses placement=maybe"
done
# Whatever state Slurm's schedulers have a node in, there is no reason that it is out of use for.
C exec sinfo -h -N -o '%N %E' >"$here/out"
is "$(sort -u "$here/out" | tr '\n' ' ')" "node1 none node2 none node3 none node4 none " "no node was drained"

done_testing
