#!/bin/bash
# The whole way, on a real Slurm: a job that really trains, guarded; what is said of it; what it survives.
. "$(dirname "$(readlink -f "$0")")/prelude.sh"

trainer=$top_builddir/tests/workloads/trainer.openmpi
needs "$trainer" "the trainer is not built for Open MPI"
installed
up 4

start() { # srun's arguments; its output in $here/out, its job's number in $job
    C_TIMEOUT=3600 C exec srun "$@" >"$here/out" 2>"$here/err" &
    srun=$!
    job=$((job + 1))
}
result() { sed -n 's/^result: //p' "$1"; }

# ---- guarded and unguarded: the same result, bit by bit ----

steps=400
work=("$trainer" --steps $steps --batch 16 --log "$here/steps")
start -N4 "${work[@]}"
wait $srun
bare=$(result "$here/out")
rm "$here/steps"
start --sync-guard -N4 "${work[@]}"
until_true 300 '.steps > 0' >/dev/null
# It counts from the first step that was recognised: that was done by now, and is in this file or in the 4 KiB before.
unseen=$(($(wc -l <"$here/steps") + 4096 / 20))
wait $srun
is $? 0 "a guarded job exits with 0"
is "$(result "$here/out")" "$bare" "a guarded job has the same loss and parameters as an unguarded one, bit by bit"
is "$(cat "$here/err")" "" "a guarded job prints nothing more on standard error"
until_true 60 '.state == "finished"'
ok $? "an ended job's state is finished"
is "$(figure '.probe | [.ranks_guarded, .ranks_total, .dropped, .missed] | join(" ")')" "4 4 0 0" "an ended job: 4 of 4 ranks were guarded, no record was dropped or missed"
is "$(figure '[.ranks, .nodes, .nodes_total] | join(" ")')" "4 4 4" "an ended job: its report still has 4 ranks on 4 of 4 nodes"
is "$(figure '.period')" 5 "the step of the trainer has a period of 5 collectives"
figure '"#   steps: \(.steps)"'
# One may be told twice.
test "$(figure ".steps <= $steps + 1")" = true
ok $? "an ended job: no more steps were counted than it made"
test "$(figure ".steps > 0 and .steps >= $steps - $unseen")" = true
ok $? "an ended job: all steps after the first that was counted were counted"
echo "#   $unseen steps at most were made before"
is "$(C on node1 sh -c 'ls /dev/shm/syncguard* | wc -l')" 0 "no step directory is left in shared memory"

# ---- live: figures, a slowed node, a trace ----

live=100000000 # seconds: until it is ended
start --sync-guard -N4 "$trainer" --seconds $live --batch 256
until_true 300 '.state == "running" and .steps != null and .steps > 20'
ok $? "a running job's report counts more than 20 steps"
is "$(figure '[.ranks, .nodes, .nodes_total] | join(" ")')" "4 4 4" "a running job's report has 4 ranks on 4 of 4 nodes"
test "$(figure '.shares | add | . > 0.99 and . < 1.01')" = true
ok $? "the shares of a running job's time sum up to 1"
C exec sgctl record "$job" --seconds 3 -o "$here/trace.jsonl" 2>"$here/err"
is "$(head -1 "$here/trace.jsonl" | jq -r '[.format, .version, (.ranks | length)] | join(" ")')" "syncguard-trace 2 4" "sgctl record: the trace begins with its header"
is "$(sed 1d "$here/trace.jsonl" | jq -s 'group_by([.c, .s]) | map(length) | .[2:-2] | unique | tostring' -r)" "[4]" "sgctl record: the trace has four ranks' records of every collective"
is "$(sed 1d "$here/trace.jsonl" | jq -r '"\(.c) \(.s)"' | uniq | sort | uniq -d | head -1)" "" "sgctl record: the records of one collective stand together"
C slow node3 400 >/dev/null
until_true 300 'any(.verdicts[]; .class == "straggler" and .culprits == ["node3"])'
ok $? "a slowed node is reported as straggler"
C slow node3 off >/dev/null

# ---- kill -9 of what guards: the job goes on, the picture comes back ----

C on node2 sh -c 'kill -9 $(pidof syncguard-agent)'
until_true 300 '.nodes == 4 and any(.events[]; .text | test("node2.*restarted"))'
ok $? "an agent that is killed is started again and reports it"
C on node3 pkill -KILL -x sg-keeper
until_true 300 '.nodes == 4 and any(.events[]; .text | test("node3.*restarted"))'
ok $? "a keeper that is killed is started again, and the controller accepts its agent with the new credential"
C controller kill >/dev/null 2>&1
sleep 1
C controller start >/dev/null 2>&1
until_true 300 '.state == "running" and .nodes == 4 and .steps > 50'
ok $? "after a kill of the controller the job's report comes back with its steps"
kill -0 $srun
ok $? "the job outlives kills of agent and controller"
C exec scancel --signal=KILL "$job"
wait $srun
until_true 120 '.state == "finished"'
ok $? "a cancelled job's state is finished"

# ---- a rank that stops ----

start --sync-guard -N4 "$trainer" --seconds $live --batch 64
until_true 300 '.state == "running" and .steps != null and .steps > 20' >/dev/null
C on node4 sh -c 'kill -STOP $(pidof trainer.openmpi)'
until_true 300 '.state == "stalled" and .regime == "stalled"'
ok $? "a job with a stopped rank is reported as stalled"
C on node4 sh -c 'kill -CONT $(pidof trainer.openmpi)'
until_true 300 '.state == "running"'
ok $? "the stall ends after the rank goes on"
C exec scancel --signal=KILL "$job"
wait $srun

# ---- no MPI at all ----

start --sync-guard -N2 sleep infinity
until_true 300 '.ranks == 0 and .probe.ranks_total == 2'
ok $? "a guarded job without MPI is reported with 0 of 2 ranks guarded"
until_true 120 '.unseen.reason == "nothing" and .unseen.nodes == 2 and (.sentence | test("^No rank has called .*sleep .pid"))'
ok $? "a guarded job without MPI: its sentence says that no such library is loaded"
C exec scancel --signal=KILL "$job"
wait $srun
start --sync-guard -N2 --ntasks-per-node=2 sh -c 'env -i sleep 100000; :'
until_true 120 '.unseen.reason == "preload" and .unseen.nodes == 2 and .unseen.processes == 4'
ok $? "tasks whose environment was taken away are found, and why nothing is seen of them is said"
C exec scancel --signal=KILL "$job"
wait $srun
until_true 60 '.state == "finished" and .regime == null and (.sentence | test("^Ended unseen: node[1-4] and 1 other node: 2 processes, such as sleep"))'
ok $? "when they have ended, it is said that they were unseen"

# ---- nodes that lack something ----

cp "$here/c/etc/syncguard.conf" "$here/whole.conf"
for program in Agent Credential; do
    path=$(sed -n "s/^${program}Path=//p" "$here/whole.conf")
    node=$([ $program = Agent ] && echo node4 || echo node3)
    printf '#!/bin/sh\n[ "$(hostname)" != %s ] || { echo "no munge" >&2; exit 1; }\nexec %s "$@"\n' "$node" "$path" >"$here/$program"
    chmod 755 "$here/$program"
    sed -i "s:^${program}Path=.*:${program}Path=$here/$program:" "$here/c/etc/syncguard.conf"
done
start --sync-guard -N4 "$trainer" --seconds $live --batch 64
until_true 300 '.ranks == 2 and .agents_missing.number == 2 and .agents_missing.nodes == ["node3", "node4"]'
ok $? "nodes without a credential and without an agent are named as those of which nothing was heard"
until_true 60 'any(.notes[]; . == "node3: unconfirmed: no munge")'
ok $? "the job's notes say why the credential is missing on its node"
C exec scancel --signal=KILL "$job"
wait $srun
cp "$here/whole.conf" "$here/c/etc/syncguard.conf"

# ---- mpirun and mpiexec in a script ----

script() { # LIBRARY NODES: two ranks a node; the job's number in $job
    cat >"$here/job.sh" <<JOB
#!/bin/bash
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_pml=ob1 OMPI_MCA_btl=tcp,self OMPI_MCA_mpi_yield_when_idle=1
exec mpiexec.$1 -n $(($2 * 2)) $top_builddir/tests/workloads/trainer.$1 --seconds $live --batch 16
JOB
    job=$(C exec sbatch --parsable --sync-guard "-N$2" --ntasks-per-node=2 -o "$here/out" "$here/job.sh")
}
if command -v mpiexec.mpich >/dev/null && [ -x "${trainer%.openmpi}.mpich" ]; then
    script mpich 2
    until_true 300 '.ranks == 4 and .steps > 0 and (.probe | .ranks_guarded == 4 and .ranks_total == 4 and .tasks == 2)'
    ok $? "MPICH's mpiexec: its four ranks are one job, in a step of two tasks"
    C exec scancel "$job"
else
    skip "MPICH's mpiexec" "apt-get install mpich"
fi
script openmpi 2
until_true 300 '.ranks == 2 and .probe.ranks_guarded == 2 and .probe.ranks_total == 4 and .probe.tasks == 1'
ok $? "Open MPI's mpirun on two nodes: the ranks on the other node are guarded, of four"
C exec sgctl job "$job" >"$here/page"
is "$(grep -c 'only 2 of 4 ranks are guarded; .* start the ranks with srun' "$here/page")" 1 "one line says why two are not, and what to do"
C exec scancel "$job"
script openmpi 1
C exec sgctl job "$job" >"$here/page" 2>&1
is "$(grep -c 'has started no step (ranks that mpirun starts .* use srun)' "$here/page")" 1 "Open MPI's mpirun on one node: one line says that its ranks are in no step, and what to do"
C exec scancel "$job"

# ---- programs that nobody here wrote: the same results ----

if command -v hpcc >/dev/null; then
    for kind in bare guarded; do
        mkdir -p "$here/hpcc-$kind"
        sed -e 's/^1000 *Ns/200 Ns/' -e 's/^1000/200/' /usr/share/doc/hpcc/examples/_hpccinf.txt >"$here/hpcc-$kind/hpccinf.txt"
        flag=$([ $kind = guarded ] && echo --sync-guard || echo --sync-guard=off)
        start "$flag" -N2 --ntasks-per-node=2 --chdir="$here/hpcc-$kind" hpcc
        wait $srun
        # What it checks, without what it times.
        grep -hE '^Found|^Node\(s\) with error|^\|\|Ax-b|tests completed|^Success=|_Errors=|^PTRANS_residual=' \
            "$here/hpcc-$kind/hpccoutf.txt" >"$here/hpcc-$kind.result"
    done
    test -s "$here/hpcc-bare.result"
    ok $? "HPC Challenge writes results"
    cmp -s "$here/hpcc-bare.result" "$here/hpcc-guarded.result"
    ok $? "HPC Challenge: guarded and unguarded runs pass the same checks"
    test "$(figure '.probe.ranks_guarded == 4 or .state == "finished"')" = true
    ok $? "HPC Challenge: its ranks were guarded"
else
    skip "HPC Challenge" "apt-get install hpcc"
fi
if command -v lmp >/dev/null; then
    cat >"$here/melt.in" <<'IN'
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 8 0 8 0 8
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
thermo 20
run 200
IN
    for flag in --sync-guard=off --sync-guard; do
        start "$flag" -N2 --ntasks-per-node=2 --chdir="$here" lmp -in "$here/melt.in" -log none
        wait $srun
        sed -n '/^ *Step/,/^Loop/p' "$here/out" | grep -v '^Loop' >"$here/lmp$flag.result"
    done
    test "$(wc -l <"$here/lmp--sync-guard.result")" -ge 11
    ok $? "LAMMPS prints its thermodynamic table"
    cmp -s "$here/lmp--sync-guard=off.result" "$here/lmp--sync-guard.result"
    ok $? "LAMMPS: guarded and unguarded runs print the same table to the last digit"
else
    skip "LAMMPS" "apt-get install lammps"
fi

done_testing
