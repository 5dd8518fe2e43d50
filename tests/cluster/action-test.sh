#!/bin/bash
# Actions on a real Slurm: by hand through libslurm and slurmrestd, who may and who may not, what a rule's and a person's
# brought in the next run of the job, a controller that is killed.
. "$(dirname "$(readlink -f "$0")")/prelude.sh"

needs "$top_builddir/syncguard-act" "built without libslurm"
installed

# A second user, where we are root: whoever is nobody.
other=$([ "$(id -u)" = 0 ] && id -u nobody)
plugins=$(scontrol show config 2>/dev/null | sed -n 's/^PluginDir *= //p')
jwt=
for dir in ${plugins//:/ } /usr/lib/*/slurm-wlm /usr/lib64/slurm; do
    [ -e "$dir/auth_jwt.so" ] && [ -n "$other" ] && command -v slurmrestd >/dev/null && jwt=1
done
if [ -n "$jwt" ]; then
    (umask 077 && head -c 32 /dev/urandom >"$here/jwt.key")
    printf 'AuthAltTypes=auth/jwt\nAuthAltParameters=jwt_key=%s\n' "$here/jwt.key" >"$here/extra.conf"
fi
chmod 755 "$here"
up 4 ${jwt:+--conf "$here/extra.conf"}
conf=$here/c/etc/syncguard.conf
echo "ActPath=$here/inst/libexec/syncguard/syncguard-act" >>"$conf"
C controller restart >/dev/null

as() { # UID COMMAND...: on the control host
    local uid=$1

    shift
    if [ "$uid" = "$(id -u)" ]; then C exec "$@"; else C exec setpriv --reuid="$uid" --regid="$uid" --clear-groups "$@"; fi
}
me=$(id -u)
field() { C exec scontrol show "$1" "$2" | grep -oE "\b$3=.*" | head -1 | sed "s/^$3=//; s/ *\$//"; }
word() { field "$@" | cut -d' ' -f1; }
outcome() { C exec sgctl actions --json | jq -r "[.actions[] | select($1)][0] | \"\(.state): \(.outcome)\""; }

cat >"$here/task" <<TASK
#!/bin/bash
trap 'echo \$SLURM_JOB_ID.\$SLURM_STEP_ID >>$here/got.\$SLURM_JOB_ID' USR1
for ((i = 0; i < 1200; i++)); do sleep .25; done
TASK
cat >"$here/job" <<JOB
#!/bin/bash
trap 'echo batch >>$here/got.\$SLURM_JOB_ID' USR1
srun --sync-guard -n1 $here/task
JOB
chmod 755 "$here/task" "$here/job"
mkdir -m 1777 "$here/out"

submit() { # UID SBATCH-ARGUMENTS...: its number in $job, once its step is guarded
    local uid=$1 i

    shift
    job=$(as "$uid" sbatch --parsable --requeue -N1 -o "$here/out/%j" "$@" "$here/job")
    for ((i = 0; i < 100; i++)); do
        [ -n "$(C exec sgctl jobs --json | jq -r ".jobs[] | select(.job == $job and .nodes > 0) | .id")" ] && return
        sleep .2
    done
    echo "#   job $job is never guarded: $(cat "$here/out/$job")"
}

# ---- by hand, through libslurm ----

submit "$me" -w node1 --comment=mine
is "$(C exec sgctl action "$job" requeue --dry-run)" "would requeue for job $job.0" "a dry run says what would be done"
is "$(word job "$job" Restarts) $(word job "$job" JobState)" "0 RUNNING" "and does nothing"
C exec sgctl action "$job" requeue </dev/null 2>"$here/err"
is "$? $(grep -c -- '--yes' "$here/err")" "2 1" "without a terminal it wants --yes"
has "$(C exec sgctl action "$job" comment --yes rank 3 is slow)" "Comment set" "a comment is set"
is "$(field job "$job" Comment)" "mine; SyncGuard: rank 3 is slow" "beside the user's own"
has "$(C exec sgctl action "$job" signal USR1 --yes)" "signal USR1 sent to step $job.0" "a signal is sent"
for ((i = 0; i < 40; i++)); do [ -s "$here/got.$job" ] && break; sleep .25; done
is "$(cat "$here/got.$job")" "$job.0" "to the guarded step alone, not to the batch script"
C exec sgctl action "$job.7" signal USR1 --yes >/dev/null 2>"$here/err"
is $? 1 "a step that is not there: $(cat "$here/err")"
has "$(C exec sgctl action "$job" exclude node1 --yes)" "requeued, ExcNodeList=node1" "requeued without the node"
is "$(word job "$job" Restarts) $(word job "$job" ExcNodeList)" "1 node1" "Slurm says so too"
is "$(C exec sgctl actions "$job" --json | jq -r '[.actions[] | .action + " " + .state] | join(", ")')" \
    "exclude done, signal done, job_comment done" "and the list has it all"
C exec scancel "$job"

has "$(C exec sgctl node node3 drain --yes its fan is loud)" "drained" "a node is drained"
is "$(word node node3 State) $(field node node3 Reason | sed 's/ \[.*//')" "IDLE+DRAIN SyncGuard: its fan is loud" "with the reason"
has "$(C exec sgctl node node3 drain --yes again)" "drained already" "twice is once"
is "$(field node node3 Reason | sed 's/ \[.*//')" "SyncGuard: its fan is loud" "and the reason stays"
has "$(C exec sgctl node node3 resume --yes the fan is new)" "resumed" "it is taken back"
# Slurm calls it NOT_RESPONDING until it has answered a ping.
has "$(word node node3 State) $(field node node3 Reason)" "^IDLE(\+NOT_RESPONDING)? $" "and the reason is gone"
has "$(C exec sgctl node node3 resume --yes)" "node3 is not drained" "once"
C exec scontrol update nodename=node3 state=drain reason=burnt
has "$(C exec sgctl node 'node[3-4]' resume --yes)" "resumed; node4 is not drained" "of several those that are drained"
is "$(word node node3 State | grep -c DRAIN)" 0 "whoever drained them"
is "$(outcome '.action == "resume" and .reason == "the fan is new"')" "done: resumed" "which the record has"
C exec scontrol update nodename=node4 comment=rack9
has "$(C exec sgctl node 'node[3-4]' comment --yes slow at times)" "comment set" "nodes get a comment"
is "$(field node node4 Comment)" "rack9; SyncGuard: slow at times" "beside what others wrote"
C exec sgctl node node77 drain --yes x >/dev/null 2>"$here/err"
has "$(cat "$here/err")" "no node node77" "a node that is not there"

# ---- who may ----

if [ -n "$other" ]; then
    submit "$me" -w node1
    mine=$job
    C exec chmod 777 "$here/out"
    submit "$other" -w node2
    theirs=$job
    S() { as "$other" env SYNCGUARD_CONF="$conf" "$here/inst/bin/sgctl" "$@"; }
    S action "$mine" requeue --yes 2>"$here/err"
    is $? 1 "a user cannot touch another's job: $(cat "$here/err")"
    for what in "signal USR1" "exclude node1" "comment x" checkpoint; do
        # shellcheck disable=SC2086 # words
        S action "$mine" $what --yes 2>/dev/null
        is $? 1 "nor with $what"
    done
    S node node1 drain --yes x 2>"$here/err"
    is "$? $(grep -c 'only operators' "$here/err")" "1 1" "nor a node"
    C exec scontrol update nodename=node4 state=drain reason=burnt
    S node node4 resume --yes 2>"$here/err"
    is "$? $(grep -c 'only operators' "$here/err") $(word node node4 State)" "1 1 IDLE+DRAIN" "nor take one back"
    has "$(C exec sgctl node node4 resume --yes)" "resumed" "an operator does"
    S action "$theirs" webhook --yes x 2>"$here/err"
    is "$? $(grep -c 'only operators' "$here/err")" "1 1" "nor ring the bell"
    has "$(S action "$theirs" comment --yes my own)" "Comment set" "it may comment its own"
    is "$(word job "$theirs" AdminComment)" "" "the administrator's comment is not its to set"
    has "$(S action "$theirs" signal USR1 --yes)" "sent" "signal it"
    has "$(S action "$theirs" requeue --yes)" "requeued" "and requeue it"
    is "$(S actions --json | jq '[.actions[] | select(.job != "'"$theirs"'.0")] | length')" 0 "it sees nothing of others"
    has "$(C exec sgctl action "$mine" requeue --yes)" "requeued" "an operator may"
    C exec scancel "$mine" "$theirs"
    # An agent that claims another's job: Slurm is asked whose it is.
    submit "$me" -w node1
    has "$(as "$other" sh -c 'echo "{\"do\":\"requeue\",\"job\":'"$job"',\"uid\":'"$other"'}" | '"$here/inst/libexec/syncguard/syncguard-act")" \
        "refused.*is not user" "whoever claims another's job is refused"
    C exec scancel "$job"
else
    skip "who may" "only root can be two users"
fi

# ---- through slurmrestd ----

if [ -n "$jwt" ]; then
    (umask 077 && C exec scontrol token lifespan=3600 username="$(id -un)" | sed 's/^SLURM_JWT=//' >"$here/token")
    mkdir -m 777 "$here/rest"
    C exec setpriv --reuid="$other" --regid="$other" --clear-groups env SLURM_JWT=daemon SLURM_CONF="$here/c/etc/slurm.conf" \
        slurmrestd -s openapi/v0.0.38 -a rest_auth/jwt "unix:$here/rest/socket" 127.0.0.1:6820 >"$here/rest.log" 2>&1 &
    for ((i = 0; i < 50; i++)); do [ -S "$here/rest/socket" ] && break; sleep .1; done
    for url in "unix:$here/rest/socket" http://127.0.0.1:6820; do
        sed -i '/^Slurmrestd/d' "$conf"
        printf 'Slurmrestd=%s\nSlurmrestdToken=%s\n' "$url" "$here/token" >>"$conf"
        C controller restart >/dev/null
        submit "$other" -w node1 --comment=mine
        has "$(S action "$job" comment --yes "rank 3 is slow")" "slurmrestd: comment set" "${url%%:*}: slurmrestd sets a comment"
        is "$(field job "$job" Comment)" "mine; SyncGuard: rank 3 is slow" "beside the user's"
        has "$(S action "$job" comment --yes "rank 3 is slow")" "has this comment already" "once"
        has "$(C exec sgctl action "$job" comment --yes "rank 3 is slow")" ": AdminComment set" "v0.0.38 cannot set the administrator's"
        has "$(C exec sgctl node node3 drain --yes its fan)" ": drained" "what v0.0.38 cannot goes through libslurm"
        C exec scontrol update nodename=node3 state=resume
        C exec scancel "$job"
    done
    echo nonsense >"$here/token"
    submit "$me" -w node1
    has "$(C exec sgctl action "$job" comment --yes "with a bad token")" "^[^:]*: Comment set" "where slurmrestd does not let us in libslurm steps in"
    C exec scancel "$job"
    ok "no token is in the log" test "$(grep -cF "$(cut -c1-40 "$here/token")" "$here/c/log/syncguardd.log")" = 0
else
    skip "slurmrestd" "it wants root here, slurmrestd and Slurm's auth_jwt.so"
fi
sed -i '/^Slurmrestd/d' "$conf"

# ---- what ending a run brought: measured in the next one ----

trainer=$top_builddir/tests/workloads/trainer.openmpi
# The requeued job runs. Slurm lets it wait for two minutes; what starts in the second in which its last run was killed, a
# node takes for that run ("Job credential revoked").
again() { # RESTARTS
    local i

    sleep 3
    for ((i = 0; i < 150; i++)); do
        [ "$(word job "$job" Restarts) $(word job "$job" JobState)" = "$1 RUNNING" ] && return
        ((i % 4)) || C exec scontrol update jobid="$job" starttime=now 2>/dev/null
        sleep 1
    done
    C exec scontrol show job "$job" | grep -E 'JobState|StartTime|NodeList' | sed 's/^/#/'
    C exec sinfo -N -h -o '#  %n %T %E'
    sed 's/^/#   /' "$here/out/$job"
    return 1
}
brought() { # ACTION FIELD: of the newest such decision that the job's report has
    figure "[.policy.decisions[] | select(.action == \"$1\")][0].$2"
}
if [ -x "$trainer" ]; then
    mkdir "$here/clock"
    cat >>"$conf" <<'CONF'
Policy=act Action=enforce EffectWindow=8s
Rule=slow Policy=act When="class == straggler and slowdown > 1.1" Hold=3s CoolDown=1h Action=exclude
CONF
    C controller restart >/dev/null
    printf '#!/bin/bash\nsrun --sync-guard=act %s --batch 16 --device 0.1 --device-clock %s --seconds 600\n' "$trainer" "$here/clock" >"$here/train"
    job=$(C exec sbatch --parsable --requeue -N2 -o "$here/out/%j" "$here/train")
    ok "a job trains on two nodes" until_true 60 '.steps > 60'
    slow=$(C exec scontrol show hostnames "$(word job "$job" NodeList)" | tail -1)
    echo 0.77 >"$here/clock/$slow"
    ok "a rule excludes the one that is slow" until_true 60 '.policy.decisions[0] | .action == "exclude" and .outcome == "done"'
    brought exclude sentence | sed 's/^/#   /'
    is "$(brought exclude nodes[0])" "$slow" "this one"
    has "$(C exec sgctl actions "$job")" " exclude $slow +slow +done " "and the record names it"
    ok "the job runs again" again 1
    is "$(C exec scontrol show hostnames "$(word job "$job" NodeList)" | grep -cx "$slow")" 0 "elsewhere"
    ok "what that brought is measured" until_true 60 'any(.policy.decisions[]; .action == "exclude" and .effect != null)'
    effect=$(brought exclude effect)
    echo "#   $effect"
    has "$effect" "^excluded $slow: 0\\.[0-9]+ of the step time, (as projected|0\\.[0-9]+ was projected)" "a shorter step, beside what was projected"
    ok "the ratio is below 1" test "$(figure '[.policy.decisions[] | select(.action == "exclude")][0] | .effect_ratio > 0.6 and .effect_ratio < 0.95')" = true
    is "$(C exec sgctl policy explain "$job" | tr -s ' \n' '  ' | grep -cF "$effect")" 1 "policy explain tells it in the new run"
    is "$(C exec sgctl audit "$job" | tr -s ' \n' '  ' | grep -cF "$effect")" 1 "and so does the audit"
    has "$(C exec sgctl action "$job" requeue --yes)" "requeued" "a person requeues it"
    ok "it runs once more" again 2
    ok "what that brought is measured, too" until_true 60 'any(.policy.decisions[]; .action == "requeue" and .effect != null)'
    effect=$(brought requeue effect)
    echo "#   $effect"
    has "$effect" "^requeued the job: [01]\\.[0-9]+ of the step time$" "nothing was projected for it"
    has "$(C exec sgctl policy explain "$job")" "^by hand: requeue the job \(uid $me\)" "and who it was is told"
    C exec scancel "$job"
else
    skip "what ending a run brought" "the trainer is not built for Open MPI"
fi

# ---- a controller that is killed in the midst ----

mv "$here/inst/libexec/syncguard/syncguard-act" "$here/act"
printf '#!/bin/sh\nif mkdir %s/first 2>/dev/null; then %s >/dev/null; sleep 100; fi\nexec %s\n' "$here" "$here/act" "$here/act" \
    >"$here/inst/libexec/syncguard/syncguard-act"
chmod 755 "$here/inst/libexec/syncguard/syncguard-act"
C controller restart >/dev/null
submit "$me" -w node1
C exec sgctl action "$job" requeue --yes --timeout 2 >/dev/null 2>&1 &
for ((i = 0; i < 100; i++)); do [ "$(word job "$job" Restarts)" = 1 ] && break; sleep .2; done
C controller kill >/dev/null
C controller start >/dev/null
wait $!
for ((i = 0; i < 100; i++)); do [[ $(outcome '.action == "requeue"') == pending* ]] || break; sleep .2; done
is "$(outcome '.action == "requeue"')" "done: the job was requeued already" "what was done before the kill is seen, not repeated"
is "$(word job "$job" Restarts)" 1 "the job was requeued once"
C exec scancel "$job"

echo "1..$n"
