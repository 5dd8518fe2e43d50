#!/bin/bash
# What an ordinary user can make the controller believe, and a controller that is none: each attack, tried on a real Slurm.
# SYNCGUARDD: see tests/cluster/prelude.sh.
. "$(dirname "$(readlink -f "$0")")/../cluster/prelude.sh"

[ "$(id -u)" -eq 0 ] || skip_all "only root can be two users"
command -v setpriv >/dev/null || skip_all "setpriv is not installed"
installed
chmod 755 "$here"
cp "$top_builddir/tests/daemon/simjob" "$here/"
up 2
conf=$here/c/etc/syncguard.conf
port=$(sed -n 's/^Port=//p' "$conf" | tail -1)
user=65534
as_user() { C exec setpriv "--reuid=$user" "--regid=$user" --clear-groups "$@" </dev/null; }
on_failure() { tail -n 30 "$here/c/log/syncguardd.log"; }

cat >"$here/hook" <<HOOK
#!/bin/sh
cat >/dev/null
echo ran >>$here/hooked
HOOK
chmod 755 "$here/hook"
cat >>"$conf" <<CONF
CommandHook=$here/hook
Policy=strict Action=enforce
PolicyFor=strict Partition=main Override=no
Rule=out Policy=strict When="class == straggler" Hold=1s Action=drain
Rule=page Policy=strict When="class == straggler" Hold=1s Action=command
Rule=call Policy=balanced When="class == straggler" Hold=1s Action=command
CONF
C controller restart >/dev/null

# Agents that nobody vouches for but who runs them, until ended: a straggler.
simulated=("$here/simjob" --controller "ctl:${port:-6825}" --munge-socket "$here/c/munge/sock" --seconds 100000 --user root --slow-rank 3
    --slow-after 1 --factor 1.5 --step 0.05)
forge() { as_user "${simulated[@]}" --partition main --job "$@" >>"$here/forge.log" 2>&1; } # JOB ARGUMENTS..., in the partition whose policy enforces
ended() { # PROCESS...: of forge
    C exec pkill -x simjob
    wait "$@"
}
answer() { # FILTER ARGUMENTS of sgctl...
    C exec sgctl --timeout 60 "${@:2}" --json | jq -r "$1"
}
has_verdict() { [ "$(answer '[.verdicts[] | select(.class == "straggler")] | length > 0' job "$1" 2>/dev/null)" = true ]; }
# The policy that they get instead has a rule like the strict ones: once it has made its decision, in a dry run, those would have acted.
decided() { # FIRST LAST
    [ "$(answer "[.audit[].job | split(\".\")[0] | tonumber | select(. >= $1 and . <= $2)] | unique | length" audit 2>/dev/null)" = $(($2 - $1 + 1)) ]
}

# ---- a job that does not exist ----

forge 999001 &
forger=$!
wait_for 120 has_verdict 999001
ok $? "an invented job is shown, with its straggler"
wait_for 120 decided 999001 999001
ok $? "the rule of the policy that it gets makes a decision"
is "$(answer '.unconfirmed' job 999001)" "nobody but its user vouches for its agents" "the invented job is said to be unconfirmed"
is "$(answer '.policy.name + " " + .policy.action' job 999001)" "balanced dryrun" "the partition that it claims does not choose its policy"
as_user sgctl --timeout 60 policy set 999001 Action=enforce >"$here/out" 2>&1
is "$? $(grep -c 'is unconfirmed' "$here/out")" "1 1" "its user cannot enforce a policy on it"
as_user sgctl --timeout 60 action 999001 requeue --yes >"$here/out" 2>&1
is "$? $(grep -c 'is unconfirmed' "$here/out")" "1 1" "its user cannot ask for an action on it"
ended $forger
is "$(ls "$here/hooked" 2>/dev/null)" "" "the site's command did not run for it"
is "$(C exec sinfo -h -N -o %T | sort -u)" idle "no node is drained"

# ---- a budget ----

forgers=()
for number in $(seq 999101 999140); do
    forge "$number" --nodes 4 --per-node 1 &
    forgers+=($!)
done
wait_for 240 decided 999101 999140
ok $? "for each of 40 invented jobs with a straggler a decision is made"
ended "${forgers[@]}"
C exec sgctl --timeout 60 audit --json >"$here/audit"
is "$(jq '[.audit[] | select(.state == "enforced")] | length' "$here/audit")" 0 "40 invented jobs use up nothing of the cluster's budget"
is "$(ls "$here/hooked" 2>/dev/null)" "" "the site's command did not run for any of them"
C exec sgctl --timeout 60 status >/dev/null
ok $? "the controller answers after them"

# ---- another user's job ----

C exec sbatch -D /tmp -o "$here/victim.out" -w node1 --wrap "srun --sync-guard sleep 3600" >"$here/out"
job=$(sed -n 's/.* \([0-9]*\)$/\1/p' "$here/out")
confirmed() { [ "$(answer '.unconfirmed == null and .user == "root"' job "$job" 2>/dev/null)" = true ]; }
wait_for 120 confirmed
ok $? "a job of root's is guarded, and confirmed by Slurm"
forge "$job" &
forger=$!
claimed() { [ "$(C exec sgctl --timeout 60 jobs --json | jq "[.jobs[] | select(.job == $job)] | length")" = 2 ]; }
wait_for 120 claimed
ok $? "another user claims to run a job of that number"
is "$(answer '.unconfirmed == null' job "$job")" true "sgctl job shows the one that Slurm confirms"
C exec sgctl --timeout 60 policy pause "$job" >/dev/null
is "$(answer '.policy.paused' job "$job")" true "sgctl policy pause pauses that one"
ended $forger

# ---- a job of the user's own ----

as_user sbatch -D /tmp -o /dev/null -N2 --wrap "srun --sync-guard sleep 3600" >"$here/out"
own=$(sed -n 's/.* \([0-9]*\)$/\1/p' "$here/out")
own_confirmed() { [ "$(answer '.unconfirmed == null and .nodes == 2' job "$own" 2>/dev/null)" = true ]; }
wait_for 120 own_confirmed
ok $? "a job of the user's is guarded, and confirmed by Slurm"
forge "$own" &
forger=$!
refused() { [ "$(grep -c 'agent refused: root vouches for this step' "$here/c/log/syncguardd.log")" -ge 8 ]; } # more where they try again
wait_for 120 refused
ok $? "eight agents of his own making are refused for it"
is "$(answer '.nodes' job "$own")" 2 "it keeps its own agents alone"
ended $forger
C exec scancel "$job" "$own"

# ---- a controller that is none ----

C controller stop >/dev/null
mkdir -m 700 "$here/rogue"
chown "$user" "$here/rogue"
grep -v '^StateDir\|^LogFile\|^CommandHook\|^Rule' "$conf" >"$here/rogue.conf"
printf 'StateDir=%s\nLogFile=%s\n' "$here/rogue" "$here/rogue/log" >>"$here/rogue.conf"
chmod 644 "$here/rogue.conf"
as_user timeout 600 "$here/inst/sbin/syncguardd" --conf "$here/rogue.conf" >"$here/out" 2>&1 &
rogue=$!
listens() { grep -qs 'listens on' "$here/rogue/log"; }
wait_for 120 listens
ok $? "a user starts a controller of his own in its place" || cat "$here/out" "$here/rogue/log"
C exec sgctl --timeout 60 status >"$here/out" 2>"$here/err"
is "$? $(wc -c <"$here/out")" "1 0" "sgctl does not believe it"
like "$(cat "$here/err")" "$user" "and names the user who vouches for it"
# The job lives until its agent has come and gone several times: one that believed the controller would have presented itself at the first.
C exec srun -w node1 --sync-guard sh -c "until [ -e $here/gone ]; do sleep .1; done; echo done" >"$here/out" 2>"$here/err" &
srun=$!
node1=$(sed -n 's/^\([0-9.]*\) .*\bnode1$/\1/p' "$here/c/etc/hosts")
gone() { [ "$(grep -cF " $node1:" "$here/rogue/log")" -ge 3 ] && grep -F " $node1:" "$here/rogue/log" | grep -q 'closed by the peer during the handshake'; }
wait_for 120 gone
ok $? "its agent connects to the controller and leaves during the handshake, again and again" || cat "$here/rogue/log"
touch "$here/gone"
wait "$srun"
is "$? $(cat "$here/out")" "0 done" "a guarded job runs to its end"
is "$(grep -c ': guarded,' "$here/rogue/log")" 0 "its agent does not present itself to a controller that nobody vouches for"
kill "$rogue" 2>/dev/null
wait "$rogue" 2>/dev/null

# ---- what is kept ----

is "$(as_user sh -c "cat $here/c/state/syncguard/* 2>/dev/null | wc -c")" 0 "a user cannot read the history, the audit log and the actions"
C controller start >/dev/null
controller_silent
ok $? "the controller ends without a word on its standard error, such as a sanitizer's report"
done_testing
