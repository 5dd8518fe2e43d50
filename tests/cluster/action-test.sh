#!/bin/bash
# Actions on a real Slurm: by hand through libslurm and slurmrestd, who may and who may not, the effect of a rule's and a person's
# in the next run of the job, a controller that is killed.
. "$(dirname "$(readlink -f "$0")")/prelude.sh"

needs "$top_builddir/syncguard-slurm-helper" "built without libslurm"
installed

# A second user, where we are root: whoever is nobody.
other=$([ "$(id -u)" = 0 ] && id -u nobody)
plugins=$(scontrol show config 2>/dev/null | sed -n 's/^PluginDir *= //p')
jwt=
# slurmrestd has a plugin for each version (Slurm 22.05), or one for all: those versions do what v0.0.38 leaves to libslurm.
api=openapi/v0.0.38 admin=": AdminComment set" drained=": drained"
for dir in ${plugins//:/ } /usr/lib/*/slurm-wlm /usr/lib64/slurm; do
    [ ! -e "$dir/openapi_slurmctld.so" ] || api=openapi/slurmctld admin="slurmrestd: comment set" drained="slurmrestd: drained"
    [ -e "$dir/auth_jwt.so" ] && [ -n "$other" ] && command -v slurmrestd >/dev/null && jwt=1
done
if [ -n "$jwt" ]; then
    (umask 077 && head -c 32 /dev/urandom >"$here/jwt.key")
    printf 'AuthAltTypes=auth/jwt\nAuthAltParameters=jwt_key=%s\n' "$here/jwt.key" >"$here/extra.conf"
fi
chmod 755 "$here"
up 4 ${jwt:+--conf "$here/extra.conf"}
conf=$here/c/etc/syncguard.conf
echo "SlurmHelperPath=$here/inst/libexec/syncguard/syncguard-slurm-helper" >>"$conf"
C controller restart >/dev/null

as() { # UID COMMAND...: on the control host
    local uid=$1

    shift
    if [ "$uid" = "$(id -u)" ]; then C exec "$@"; else C exec setpriv --reuid="$uid" --regid="$uid" --clear-groups "$@"; fi
}
me=$(id -u)
field() { C exec scontrol show "$1" "$2" | grep -oE "\b$3=.*" | head -1 | sed "s/^$3=//; s/ *\$//"; }
word() { field "$@" | cut -d' ' -f1; }
reason() { field node "$1" Reason | sed 's/ \[.*//'; }
# Slurm calls a node NOT_RESPONDING until it has answered a ping.
state() { word node "$1" State | sed 's/+NOT_RESPONDING//'; }
outcome() { C exec sgctl actions --json | jq -r "[.actions[] | select($1)][0] | \"\(.state): \(.outcome)\""; }

cat >"$here/task" <<TASK
#!/bin/bash
trap 'echo \$SLURM_JOB_ID.\$SLURM_STEP_ID >>$here/got.\$SLURM_JOB_ID' USR1
while :; do sleep .25; done
TASK
cat >"$here/job" <<JOB
#!/bin/bash
trap 'echo batch >>$here/got.\$SLURM_JOB_ID' USR1
srun --sync-guard -n1 $here/task
JOB
chmod 755 "$here/task" "$here/job"
mkdir -m 1777 "$here/out"

is_guarded() { [ -n "$(C exec sgctl jobs --json | jq -r ".jobs[] | select(.job == $job and .nodes > 0 and .unconfirmed == null) | .id")" ]; }
submit() { # UID SBATCH-ARGUMENTS...: its number in $job, once its step is guarded and confirmed
    local uid=$1

    shift
    job=$(as "$uid" sbatch --parsable --requeue -N1 -o "$here/out/%j" "$@" "$here/job")
    wait_for 300 is_guarded || echo "#   job $job is never guarded: $(cat "$here/out/$job")"
}

# ---- by hand, through libslurm ----

submit "$me" -w node1 --comment=mine
is "$(C exec sgctl action "$job" requeue --dry-run)" "would requeue for job $job.0" "sgctl action requeue --dry-run prints what would be done"
is "$(word job "$job" Restarts) $(word job "$job" JobState)" "0 RUNNING" "sgctl action requeue --dry-run does not requeue the job"
C exec sgctl action "$job" requeue </dev/null 2>"$here/err"
is "$? $(grep -c -- '--yes' "$here/err")" "2 1" "sgctl action without a terminal exits with 2 and asks for --yes"
like "$(C exec sgctl action "$job" comment --yes rank 3 is slow)" "Comment set" "sgctl action comment reports that the comment is set"
is "$(field job "$job" Comment)" "mine; SyncGuard: rank 3 is slow" "the job's comment keeps the user's own text and adds SyncGuard's"
like "$(C exec sgctl action "$job" signal USR1 --yes)" "signal USR1 sent to step $job.0" "sgctl action signal USR1 reports the step"
wait_for 120 test -s "$here/got.$job"
is "$(cat "$here/got.$job")" "$job.0" "the signal reaches the guarded step alone, not the batch script"
C exec sgctl action "$job.7" signal USR1 --yes >/dev/null 2>"$here/err"
is $? 1 "sgctl action on a step that does not exist exits with 1"
show "$here/err"
like "$(C exec sgctl action "$job" exclude node1 --yes)" "requeued, ExcNodeList=node1" "sgctl action exclude requeues the job without the node"
is "$(word job "$job" Restarts) $(word job "$job" ExcNodeList)" "1 node1" "Slurm shows one restart and the excluded node"
is "$(C exec sgctl actions "$job" --json | jq -r '[.actions[] | .action + " " + .state] | join(", ")')" \
    "exclude done, signal done, job_comment done" "sgctl actions lists the three actions, the newest first"
C exec scancel "$job"

# What Slurm would not do is refused, in a dry run as well.
submit "$me" -w node1 --no-requeue
for how in --dry-run --yes; do
    like "$(C exec sgctl action "$job" requeue $how 2>&1)" "^sgctl: job $job.0 cannot be requeued: Slurm has Requeue=0" "sgctl action requeue $how of a job with --no-requeue is refused"
    like "$(C exec sgctl action "$job" exclude node1 $how 2>&1)" "^sgctl: job $job.0 cannot be requeued: Slurm has Requeue=0" "sgctl action exclude $how of it is refused"
done
is "$(word job "$job" Restarts) $(word job "$job" JobState)" "0 RUNNING" "it runs on"
C exec scancel "$job"
C exec srun -w node1 -J by-hand --sync-guard "$here/task" 2>/dev/null &
by_hand() { job=$(C exec squeue -h -n by-hand -o %i) && [ -n "$job" ] && is_guarded; }
wait_for 300 by_hand
like "$(C exec sgctl action "$job" requeue --dry-run 2>&1)" "^sgctl: job $job.0 cannot be requeued: it is not a batch job" "sgctl action requeue --dry-run of a job of srun is refused"
C exec scancel "$job"
submit "$me" -w node1
C exec sgctl action "$job" exclude 'node[1,77]' --yes >/dev/null 2>"$here/err"
is "$? $(grep -c 'node node77 does not exist' "$here/err") $(word job "$job" Restarts)" "1 1 0" "sgctl action exclude of an unknown node names it and does not requeue the job"
C exec scancel "$job"

like "$(C exec sgctl node node3 drain --yes its fan is loud)" "drained" "sgctl node drain reports that the node is drained"
is "$(state node3) $(reason node3)" "IDLE+DRAIN SyncGuard: its fan is loud" "Slurm shows the drained node with SyncGuard's reason"
like "$(C exec sgctl node node3 drain --yes again)" "drained already" "sgctl node drain of a drained node reports that it was drained already"
is "$(reason node3)" "SyncGuard: its fan is loud" "draining a drained node keeps its reason"
like "$(C exec sgctl node node3 resume --yes the fan is new)" "resumed" "sgctl node resume reports that the node is resumed"
# Slurm removes the reason in its accounts' plugin: 24.11 keeps it where it keeps no accounts. scontrol shows what this Slurm does.
C exec scontrol update nodename=node4 state=drain reason="SyncGuard: its fan is loud"
C exec scontrol update nodename=node4 state=resume
is "$(state node3) $(reason node3)" "IDLE $(reason node4)" "Slurm shows the resumed node as idle, with or without its reason as after scontrol's own resume"
like "$(C exec sgctl node node3 resume --yes)" "node3 is not drained" "sgctl node resume of a node in service reports that it is not drained"
C exec scontrol update nodename=node3 state=drain reason=burnt
like "$(C exec sgctl node 'node[3-4]' resume --yes)" "resumed; node4 is not drained" "sgctl node resume of several nodes resumes those that are drained"
is "$(word node node3 State | grep -c DRAIN)" 0 "sgctl node resume resumes nodes that others drained"
is "$(outcome '.action == "resume" and .reason == "the fan is new"')" "done: resumed" "sgctl actions has the resume with its reason and outcome"
C exec scontrol update nodename=node4 comment=rack9
like "$(C exec sgctl node 'node[3-4]' comment --yes slow at times)" "comment set" "sgctl node comment reports that the comment is set"
is "$(field node node4 Comment)" "rack9; SyncGuard: slow at times" "a node's comment keeps what others wrote"
C exec sgctl node 'node[3,77]' drain --dry-run x >/dev/null 2>"$here/err"
is "$? $(cat "$here/err")" "1 sgctl: Slurm has no such node: Node node77 not found" "sgctl node drain names an unknown node before it asks for confirmation"
C exec sgctl node node77 drain --yes x >/dev/null 2>"$here/err"
like "$(cat "$here/err")" "node node77 does not exist" "sgctl node drain of an unknown node names it"
C exec sgctl node 'node[3,77]' drain --yes x >/dev/null 2>"$here/err"
is "$? $(word node node3 State | grep -c DRAIN)" "1 0" "sgctl node drain of a list with an unknown node drains none of them"

# ---- who may ----

if [ -n "$other" ]; then
    submit "$me" -w node1
    mine=$job
    C exec chmod 777 "$here/out"
    submit "$other" -w node2
    theirs=$job
    S() { as "$other" env SYNCGUARD_CONF="$conf" "$here/inst/bin/sgctl" "$@"; }
    S action "$mine" requeue --yes 2>"$here/err"
    is $? 1 "a user cannot requeue another user's job"
    show "$here/err"
    for what in "signal USR1" "exclude node1" "comment x" checkpoint; do
        # shellcheck disable=SC2086 # words
        S action "$mine" $what --yes 2>/dev/null
        is $? 1 "a user cannot apply '$what' to another user's job"
    done
    S node node1 drain --yes x 2>"$here/err"
    is "$? $(grep -c 'only operators' "$here/err")" "1 1" "a user who is no operator cannot drain a node"
    C exec scontrol update nodename=node4 state=drain reason=burnt
    S node node4 resume --yes 2>"$here/err"
    is "$? $(grep -c 'only operators' "$here/err") $(state node4)" "1 1 IDLE+DRAIN" "a user who is no operator cannot resume a node"
    like "$(C exec sgctl node node4 resume --yes)" "resumed" "an operator can resume a node"
    S action "$theirs" webhook --yes x 2>"$here/err"
    is "$? $(grep -c 'only operators' "$here/err")" "1 1" "a user who is no operator cannot call the webhook"
    like "$(S action "$theirs" comment --yes my own)" "Comment set" "a user can set the comment of the own job"
    is "$(word job "$theirs" AdminComment)" "" "a user's comment does not set the administrator's comment"
    like "$(S action "$theirs" signal USR1 --yes)" "sent" "a user can signal the own job"
    like "$(S action "$theirs" requeue --yes)" "requeued" "a user can requeue the own job"
    is "$(S actions --json | jq '[.actions[] | select(.job != "'"$theirs"'.0")] | length')" 0 "sgctl actions lists a user's own actions alone"
    like "$(C exec sgctl action "$mine" requeue --yes)" "requeued" "an operator can requeue a user's job"
    C exec scancel "$mine" "$theirs"
    # An agent that claims another's job: Slurm is asked whose it is.
    submit "$me" -w node1
    like "$(as "$other" sh -c 'echo "{\"do\":\"requeue\",\"job\":'"$job"',\"uid\":'"$other"'}" | '"$here/inst/libexec/syncguard/syncguard-slurm-helper")" \
        "refused.*is not user" "syncguard-slurm-helper refuses a user who claims another user's job"
    C exec scancel "$job"
else
    skip "a user cannot act on other users' jobs" "only root can be two users"
fi

# ---- through slurmrestd ----

if [ -n "$jwt" ]; then
    (umask 077 && C exec scontrol token lifespan=3600 username="$(id -un)" | sed 's/^SLURM_JWT=//' >"$here/token")
    mkdir -m 777 "$here/rest"
    C exec setpriv --reuid="$other" --regid="$other" --clear-groups env SLURM_JWT=daemon SLURM_CONF="$here/c/etc/slurm.conf" \
        slurmrestd -s "$api" -a rest_auth/jwt "unix:$here/rest/socket" 127.0.0.1:6820 >"$here/rest.log" 2>&1 &
    wait_for 120 test -S "$here/rest/socket"
    for url in "unix:$here/rest/socket" http://127.0.0.1:6820; do
        sed -i '/^Slurmrestd/d' "$conf"
        printf 'Slurmrestd=%s\nSlurmrestdToken=%s\n' "$url" "$here/token" >>"$conf"
        C controller restart >/dev/null
        submit "$other" -w node1 --comment=mine
        like "$(S action "$job" comment --yes "rank 3 is slow")" "slurmrestd: comment set" "slurmrestd by ${url%%:*}: a comment is set through it"
        is "$(field job "$job" Comment)" "mine; SyncGuard: rank 3 is slow" "slurmrestd by ${url%%:*}: the comment keeps the user's own text"
        like "$(S action "$job" comment --yes "rank 3 is slow")" "has this comment already" "slurmrestd by ${url%%:*}: the same comment is not set twice"
        like "$(C exec sgctl action "$job" comment --yes "rank 3 is slow")" "$admin" "slurmrestd by ${url%%:*}: the administrator's comment is set through it, before v0.0.39 through libslurm"
        like "$(C exec sgctl node node3 drain --yes its fan)" "$drained" "slurmrestd by ${url%%:*}: a node is drained through it, before v0.0.40 through libslurm"
        C exec scontrol update nodename=node3 state=resume
        C exec scancel "$job"
    done
    echo nonsense >"$here/token"
    submit "$me" -w node1
    like "$(C exec sgctl action "$job" comment --yes "with a bad token")" "^[^:]*: Comment set" "with a token that slurmrestd rejects the comment is set through libslurm"
    C exec scancel "$job"
    test "$(grep -cF "$(cut -c1-40 "$here/token")" "$here/c/log/syncguardd.log")" = 0
    ok $? "the controller's log does not contain the token"
else
    skip "actions go through slurmrestd" "it wants root here, slurmrestd and Slurm's auth_jwt.so"
fi
sed -i '/^Slurmrestd/d' "$conf"

# ---- the effect of ending a run: measured in the next one ----

trainer=$top_builddir/tests/workloads/trainer.openmpi
# The requeued job runs. Slurm lets it wait for two minutes; what starts in the second in which its last run was killed, a
# node takes for that run ("Job credential revoked").
again() { # RESTARTS
    pending() { [ "$(word job "$job" Restarts) $(word job "$job" JobState)" = "$1 PENDING" ]; }
    running() {
        C exec scontrol update jobid="$job" starttime=now 2>/dev/null
        [ "$(word job "$job" Restarts) $(word job "$job" JobState)" = "$1 RUNNING" ]
    }
    wait_for 120 pending "$1"
    sleep 2 # a clock's next second, and not what a machine has done by then
    wait_for 300 running "$1" && return
    C exec scontrol show job "$job" | grep -E 'JobState|StartTime|NodeList' | sed 's/^/#/'
    C exec sinfo -N -h -o '#  %n %T %E'
    sed 's/^/#   /' "$here/out/$job"
    return 1
}
decided() { # ACTION FIELD: of the newest such decision that the job's report has
    figure "[.policy.decisions[] | select(.action == \"$1\")][0].$2"
}
if [ -x "$trainer" ]; then
    mkdir "$here/clock"
    printf '#!/bin/bash\nsrun --sync-guard %s --batch 16 --device 0.2 --seconds 100000000\n' "$trainer" >"$here/bare"
    job=$(C exec sbatch --parsable -N2 -o "$here/out/%j" "$here/bare")
    deadly() { C exec sgctl action "$job" signal USR1 --dry-run >"$here/out/deadly" 2>&1; grep -q 'no handler for SIGUSR1' "$here/out/deadly"; }
    wait_for 300 deadly
    is "$(sed "s/rank [0-9]*'s/rank 0's/" "$here/out/deadly")" "sgctl: job $job.0: rank 0's program has no handler for SIGUSR1: it would be killed; sgctl action --force sends it anyway" \
        "sgctl action signal --dry-run is refused where it would kill the program"
    C exec sgctl action "$job" signal USR1 --yes >/dev/null 2>&1
    is "$? $(word job "$job" JobState)" "1 RUNNING" "so is the signal itself, and the job runs on"
    is "$(C exec sgctl action "$job" signal TERM --dry-run)" "would signal TERM for job $job.0" "a signal that is sent to end it is not refused"
    is "$(C exec sgctl action "$job" signal USR1 --dry-run --force)" "would signal USR1 for job $job.0" "nor is one that is forced"
    C exec scancel "$job"
    # Steps from before the node was slow are not in the window before the action.
    cat >>"$conf" <<'CONF'
Policy=act Action=enforce EffectWindow=5s
Rule=slow Policy=act When="class == straggler and slowdown > 1.1" Hold=6s CoolDown=1h Action=exclude
CONF
    C controller restart >/dev/null
    printf '#!/bin/bash\nsrun --sync-guard=act %s --batch 16 --device 0.2 --device-clock %s --seconds 100000000\n' "$trainer" "$here/clock" >"$here/train"
    job=$(C exec sbatch --parsable --requeue -N2 -o "$here/out/%j" "$here/train")
    until_true 300 '.steps > 30'
    ok $? "the trainer under policy act has done more than 30 steps"
    slow=$(C exec scontrol show hostnames "$(word job "$job" NodeList)" | tail -1)
    # Half the clock, so that what else goes on in a step of a busy machine matters little.
    echo 0.5 >"$here/clock/$slow"
    until_true 300 '.policy.decisions[0] | .action == "exclude" and .outcome == "done"'
    ok $? "the rule's exclude of the slow node is done"
    decided exclude sentence | sed 's/^/#   /'
    is "$(decided exclude nodes[0])" "$slow" "the rule excludes the node whose clock was lowered"
    like "$(C exec sgctl actions "$job")" " exclude $slow +slow +done " "sgctl actions lists the exclude of the slow node"
    again 1
    ok $? "the requeued job runs again"
    is "$(C exec scontrol show hostnames "$(word job "$job" NodeList)" | grep -cx "$slow")" 0 "the requeued job runs without the excluded node"
    until_true 300 'any(.policy.decisions[]; .action == "exclude" and .effect != null)'
    ok $? "the effect of the exclude is measured"
    effect=$(decided exclude effect)
    echo "#   $effect"
    like "$effect" "^excluded $slow: 0\\.[0-9]+ of the step time \\([^)]*\\), (as projected|0\\.[0-9]+ was projected)" "the effect of the exclude is a shorter step, next to the projected one"
    # The clock sets the least time of a step, on any machine: 0.4 s before and 0.2 s after.
    test "$(figure '[.policy.decisions[] | select(.action == "exclude")][0] |
        .effect_ratio < 1 and .step_before_s > 0.39 and .step_before_s * .effect_ratio > 0.19')" = true
    ok $? "the effect of the exclude is that of steps from 0.4 s to 0.2 s"
    figure '[.policy.decisions[] | select(.action == "exclude")][0] | "# \(.step_before_s) s times \(.effect_ratio)"'
    is "$(C exec sgctl policy explain "$job" | tr -s ' \n' '  ' | grep -cF "$effect")" 1 "sgctl policy explain prints the effect of the exclude in the new run"
    is "$(C exec sgctl audit "$job" | tr -s ' \n' '  ' | grep -cF "$effect")" 1 "sgctl audit prints the effect of the exclude"
    like "$(C exec sgctl action "$job" requeue --yes)" "requeued" "sgctl action requeue by hand reports that the job is requeued"
    again 2
    ok $? "the job requeued by hand runs again"
    until_true 300 'any(.policy.decisions[]; .action == "requeue" and .effect != null)'
    ok $? "the effect of the requeue by hand is measured"
    effect=$(decided requeue effect)
    echo "#   $effect"
    like "$effect" "^requeued the job: [0-9]+\\.[0-9]+ of the step time \\([^)]*\\)$" "the effect of the requeue by hand has no projection"
    like "$(C exec sgctl policy explain "$job")" "^by hand: requeue the job \(by $(id -un "$me")\)" "sgctl policy explain names the user who requeued by hand"
    C exec scancel "$job"
else
    skip "the effect of ending a run is measured" "the trainer is not built for Open MPI"
fi

# ---- a controller that is killed in the midst ----

mv "$here/inst/libexec/syncguard/syncguard-slurm-helper" "$here/slurm-helper"
printf '#!/bin/sh\nif mkdir %s/first 2>/dev/null; then %s >/dev/null; sleep infinity; fi\nexec %s\n' "$here" "$here/slurm-helper" "$here/slurm-helper" \
    >"$here/inst/libexec/syncguard/syncguard-slurm-helper"
chmod 755 "$here/inst/libexec/syncguard/syncguard-slurm-helper"
C controller restart >/dev/null
submit "$me" -w node1
C exec sgctl action "$job" requeue --yes --timeout 2 >/dev/null 2>&1 &
requeued() { [ "$(word job "$job" Restarts)" = 1 ]; }
wait_for 300 requeued
C controller kill >/dev/null
C controller start >/dev/null
wait $!
settled() { [[ $(outcome '.action == "requeue"') != pending* ]]; }
wait_for 300 settled
is "$(outcome '.action == "requeue"')" "done: the job was requeued already" "an action done before the controller was killed is recorded as done already"
is "$(word job "$job" Restarts)" 1 "an action done before the controller was killed is not repeated"
C exec scancel "$job"

done_testing
