#!/bin/bash
# What an ordinary user can do to a node, its slurmstepd and the guard of other users: each attack, tried on a real Slurm.
. "$(dirname "$(readlink -f "$0")")/../cluster/prelude.sh"

[ "$(id -u)" -eq 0 ] || skip_all "only root can be two users"
command -v setpriv >/dev/null || skip_all "setpriv is not installed"
installed
chmod 755 "$here"
up 2
user=65534
as_user=(setpriv "--reuid=$user" "--regid=$user" --clear-groups)
on_failure() { show "$here/out" "$here/err"; }

step() { # ARGUMENTS of srun, as the user
    C exec "${as_user[@]}" srun -D /tmp "$@" >"$here/out" 2>"$here/err" </dev/null
}
on_node1() { C on node1 "$@" </dev/null; }
dirs() { on_node1 sh -c 'ls -A /dev/shm/syncguard 2>/dev/null | wc -l'; }
no_dirs() { [ "$(dirs)" = 0 ]; }
processes() { on_node1 sh -c "ps -o pid= -u $user | wc -l"; }
no_processes() { [ "$(processes)" = 0 ]; }
agent() { on_node1 sh -c 'pidof syncguard-agent || true'; }
has_agent() { [ -n "$(agent)" ]; }
filled() { on_node1 sh -c 'test -e /dev/shm/syncguard/*/x100000'; }
queue_empty() { [ -z "$(C exec squeue -h)" ]; }

# ---- names in shared memory ----

on_node1 "${as_user[@]}" sh -c 'mkdir -m 777 /dev/shm/syncguard && touch /dev/shm/syncguard/mine'
C exec srun -w node1 --sync-guard sh -c 'echo "$SYNCGUARD_DIR"; stat -c "%u %a" "${SYNCGUARD_DIR%/*}"' >"$here/out" 2>"$here/err"
like "$(cat "$here/out")" '^/dev/shm/syncguard/0\.[0-9]+\.0\.node1$' "a user who has made /dev/shm/syncguard first does not keep others unguarded"
like "$(cat "$here/out")" '^0 755$' "the steps' parent directory belongs to root, and only root can write to it"
is "$(wc -c <"$here/err")" 0 "a step whose parent directory was taken prints nothing"
on_node1 "${as_user[@]}" mkdir /dev/shm/syncguard/0.999.0.node1 2>/dev/null
[ $? -ne 0 ]
ok $? "a user cannot make a directory for somebody else's step"

# ---- the end of a step ----

cat >"$here/fill.sh" <<'STEP'
cd "$SYNCGUARD_DIR" || exit 1
seq 1 100000 | sed s/^/x/ | xargs -n 5000 touch
while [ ! -e "$1" ]; do sleep .1; done # the one who stops everything of this user's
pkill -STOP -u "$(id -u)" -x syncguard-agent
pkill -9 -x sg-keeper && echo "ended the keeper"
exit 0
STEP
begin=$SECONDS
step -w node1 --sync-guard bash "$here/fill.sh" "$here/stops" &
srun=$!
wait_for 300 filled
# Not before: a task is a slurmstepd of the user's until it starts its program.
on_node1 "${as_user[@]}" timeout 900 bash -c 'while :; do pkill -STOP -u $UID -x slurmstepd; pkill -STOP -u $UID -x sg-keeper; done' &
stopper=$!
stops() { on_node1 pgrep -u "$user" -f 'pkill -STOP' >/dev/null; }
wait_for 120 stops
touch "$here/stops"
wait "$srun"
is "$? $(grep -c ended "$here/out")" "0 0" "a step that fills its directory and stops its agent ends with 0, and cannot end the keeper"
wait_for 120 queue_empty
ok $? "its job leaves the queue while the user stops every process of his"
echo "# the step took $((SECONDS - begin)) s in all"
is "$(C exec sinfo -h -n node1 -o %T)" idle "no node is drained or completing"
kill "$stopper" 2>/dev/null
on_node1 pkill -u "$user" -x bash
wait "$stopper" 2>/dev/null
wait_for 300 no_dirs
ok $? "the directory with 100,000 files is removed"
wait_for 120 no_processes
ok $? "no process of the user is left on the node" || on_node1 ps -u "$user"

# ---- a full /dev/shm ----

on_node1 mount -o remount,size=256k /dev/shm
step -N2 --sync-guard sh -c 'echo "$SLURMD_NODENAME ${SYNCGUARD_DIR:-none} ${LD_PRELOAD:+preloaded}"'
is "$?" 0 "a step on a node with a full /dev/shm ends with 0"
is "$(grep -c 'node1: no space in /dev/shm' "$here/err") $(wc -l <"$here/err")" "1 1" "the user gets one line that names the node and /dev/shm"
is "$(grep -c '^node1 none $' "$here/out") $(grep -c '^node2 /dev/shm/.* preloaded$' "$here/out")" "1 1" "the node runs unguarded, the other one guarded"
on_node1 mount -o remount,size=64m /dev/shm

# ---- the agent ----

touch "$here/attacked"
step -w node1 --sync-guard sh -c "while [ -e $here/attacked ]; do sleep .2; done" &
srun=$!
wait_for 120 has_agent
ok $? "a step on a node whose /dev/shm has space again has an agent" || on_node1 ps -e -o pid,ppid,stat,etimes,args
pid=$(agent)
privileges=NoNewPrivs:.1
! grep -q 'DHAVE_SECCOMP=1' "$top_builddir/Makefile" || privileges=Seccomp:.2 # which it sets last
shielded() { on_node1 grep -q "^$privileges\$" "/proc/$pid/status"; }
wait_for 120 shielded
is "$(on_node1 "${as_user[@]}" sh -c "cat /proc/$pid/environ /proc/$pid/maps 2>/dev/null | wc -c")" 0 "the user cannot read the agent's memory"
if command -v gdb >/dev/null; then
    on_node1 "${as_user[@]}" gdb -p "$pid" -batch -ex 'call (int)getpid()' >"$here/out" 2>&1
    like "$(cat "$here/out")" 'Operation not permitted|ptrace' "the user cannot trace the agent"
else
    skip "the user cannot trace the agent" "gdb is not installed"
fi
is "$(on_node1 sh -c "sed -n 's/^NoNewPrivs:.//p' /proc/$pid/status")" 1 "the agent cannot gain privileges"
if grep -q 'DHAVE_SECCOMP=1' "$top_builddir/Makefile"; then
    is "$(on_node1 sh -c "sed -n 's/^Seccomp:.//p' /proc/$pid/status")" 2 "the agent has a filter of system calls"
else
    skip "the agent has a filter of system calls" "it was built without one"
fi
is "$(on_node1 sh -c "sed -n 's/^Max core file size *//p' /proc/$pid/limits" | cut -d' ' -f1)" 0 "the agent leaves no core file"
on_node1 "${as_user[@]}" pkill -STOP -x sg-keeper 2>/dev/null
[ $? -ne 0 ]
ok $? "the user cannot stop the keeper"
rm -f "$here/attacked"
wait "$srun"
is $? 0 "a step whose agent was attacked ends with 0"
wait_for 120 no_dirs
ok $? "and leaves no directory"
wait_for 120 no_processes
ok $? "and no process of the user"
is "$(C exec sinfo -h -N -o %T | sort -u)" idle "no node was drained"

done_testing
