#!/bin/bash
# An ordinary user floods the controller in every way that tests/daemon/hostile.c knows, all at once, while root has a job of four
# nodes guarded and asks: neither notices.
# They last until all of them have been felt.  SIEGE_SECONDS: so long at least (0).  SIEGE_JSON: a file for the figures, those of time included, on which no test depends.  SYNCGUARDD: see
# tests/cluster/prelude.sh; its memory is not bounded here, and it is so slow that it may leave a question without an answer.
. "$(dirname "$(readlink -f "$0")")/../cluster/prelude.sh"

trainer=$top_builddir/tests/workloads/trainer.openmpi
[ "$(id -u)" -eq 0 ] || skip_all "only root can be two users"
command -v setpriv >/dev/null || skip_all "setpriv is not installed"
needs "$trainer" "the trainer is not built for Open MPI"
installed
chmod 755 "$here"
cp "$(readlink -f "$top_builddir/tests/daemon/hostile")" "$here/hostile" && chmod 755 "$here/hostile"
ulimit -n "$(ulimit -Hn)"
seconds=${SIEGE_SECONDS:-0}
C_TIMEOUT=$((seconds * 4 + 900))
up 4
# On which host each flood begins: an address may make so many connections a second, so that one flood would hold up another of the
# same address.  Root asks from the host of the strangers who greet.
declare -A floods=([greetings]=ctl [jobs]=node1 [ranks]=node1 [comms]=node2 [period]=node2 [reports]=node2
    [questions]=node3 [halves]=node3 [silence]=node4)
user=65534
log=$here/c/log/syncguardd.log
on_failure() { tail -n 20 "$log"; }

on() { # HOST COMMAND...
    if [ "$1" = ctl ]; then C exec "${@:2}"; else C on "$@"; fi
}
controller() { cut -d ' ' -f 1 "$here/c/run/syncguardd"; }
memory() { C exec awk -v key="$1:" '$1 == key { printf "%d", $2 * 1024 }' "/proc/$(controller)/status"; } # VmHWM or VmRSS, in bytes
told() { grep -qE "\"error\":.*\(($1)\)" "$here"/*.flood; }
status() { C exec sgctl --timeout 60 status --json | jq "$1"; }
refused_by() { grep -qE "refused: .*\($1\)$" "$log"; }

# ---- root's job ----

# The device takes 50 ms a step, and 5 s while steps are counted; results do not depend on it.
mkdir "$here/clock"
touch "$here/siege" "$here/work"
C exec srun --sync-guard -N4 "$trainer" --batch 8 --rate 0.05 --while "$here/work" --device 0.05 --device-clock "$here/clock" >"$here/out" 2>"$here/err" &
srun=$!
job=1
until_true 240 '.state == "running" and .unconfirmed == null and (.steps // 0) > 20'
ok $? "root's job of four nodes is guarded, and its steps are counted"

device() { # FACTOR of its clock, from the next step on
    local node

    for node in node1 node2 node3 node4; do
        echo "$1" >"$here/clock/new" && mv "$here/clock/new" "$here/clock/$node"
    done
}
reported() { sed -n 's/^step *\([0-9]*\) .*/\1/p' "$here/out" | tail -n 1; }
passed() { [ "$(reported)" -gt "$1" ]; }

# Sets program_from and recorded_from: steps of the program, and those of them that are recorded, which the ones before its pattern was known
# are not.  A step takes 5 s meanwhile, at whose end the program reports; the count is good when no step ended while the
# controller was asked, and when it had come to rest.
count() {
    local again

    device 0.01
    for _ in 1 2; do
        program_from=$(reported)
        wait_for 120 passed "$program_from" || return
    done
    for _ in $(seq 60); do
        program_from=$(reported)
        sleep 1
        recorded_from=$(figure .steps)
        sleep .5
        again=$(figure .steps)
        [ "$(reported)-$again" != "$program_from-$recorded_from" ] || break
    done
    device 1
}

# ---- the floods ----

cat >"$here/ask" <<'ASK'
#!/bin/bash
# ask FILE: asks until FILE is gone; of each question the exit status and the microseconds
while [ -e "$1" ]; do
    begin=$EPOCHREALTIME
    sgctl --timeout 60 status >/dev/null
    status=$? now=$EPOCHREALTIME
    echo "$status $((${now/[.,]/} - ${begin/[.,]/}))"
    sleep .2
done
ASK
chmod 755 "$here/ask"

pid=$(controller) before=$(memory VmRSS) refused=$(status .bounds.refused)
count || bail_out "the job takes no steps before the floods"
flooders=()
begin=$SECONDS
for what in "${!floods[@]}"; do
    on "${floods[$what]}" setpriv --reuid=$user --regid=$user --clear-groups "$here/hostile" ctl:6825 "$here/c/munge/sock" "$what" \
        "$here/siege" >"$here/$what.flood" 2>&1 </dev/null &
    flooders+=($!)
done
C exec "$here/ask" "$here/siege" >"$here/asked" 2>"$here/asked.err" &
asker=$!
# So many steps of root's job and answers to root while the floods go on, which have been refused something by then.
felt() {
    refused_by HandshakesPerSecond && told "UserMemory|UserLoad" && [ "$(wc -l <"$here/asked")" -ge 20 ] &&
        [ "$(reported)" -ge $((program_from + 100)) ] && [ $((SECONDS - begin)) -ge "$seconds" ]
}
wait_for $((600 + seconds)) felt
ok $? "all of this while the floods go on: refused connections, refused steps or questions, 100 steps of root's job, 20 answers to root" ||
    echo "# $(reported) steps from $program_from, $(wc -l <"$here/asked") answers"
seconds=$((SECONDS - begin))
rm -f "$here/siege"
wait $asker
ended=0
for flooder in "${flooders[@]}"; do
    wait "$flooder" && ended=$((ended + 1))
done
peak=$(memory VmHWM)

asked=$(wc -l <"$here/asked") unanswered=$(grep -vc '^0 ' "$here/asked")
at_share() { cut -d ' ' -f 2 "$here/asked" | sort -n | awk -v share="$1" '{ t[NR] = $1 } END { n = int(NR * share + .999); print t[n ? n : 1] / 1e6 }'; }
p50=$(at_share .5) p95=$(at_share .95)
echo "# $seconds s of floods: half of $asked answers within $p50 s, 95 % within $p95 s"
is "$ended" "${#floods[@]}" "all floods lasted to their end" || show "$here"/*.flood
is "$(figure '[.nodes, .ranks, .probe.ranks_guarded] | join(" ")')" "4 4 4" "all of the job's nodes and ranks are guarded"
if [ -z "${SYNCGUARDD-}" ]; then
    is "$((asked > 0)) $unanswered" "1 0" "root asks, and every question is answered" || show "$here/asked.err"
    [ "$peak" -le $((256 << 20)) ]
    ok $? "the controller has at most 256 MiB"
    echo "# $((peak >> 20)) MiB"
fi
is "$(controller)" "$pid" "the controller is the one that was there before"

# ---- who was refused, and why ----

now_refused=$(status .bounds.refused)
[ "$now_refused" -gt "$refused" ]
ok $? "the controller counts what it refused"
echo "# $((now_refused - refused)) refused"
refused_by HandshakesPerSecond
ok $? "the log has the key that bounds a refused connection: HandshakesPerSecond"
told "UserMemory|UserLoad"
ok $? "the user is told the key that bounds a refused step or question: UserMemory or UserLoad"
# Where the floods take the most of the controller's time before they have filled its memory: tests/daemon/bounds.sh fills it without a siege.
if refused_by UserMemory; then
    told UserMemory
    ok $? "the log has the key that bounds a refused step, UserMemory, and the user is told it"
else
    skip "the log has the key that bounds a refused step, UserMemory, and the user is told it" "the floods were bounded by UserLoad before"
fi
[ "$(stat -c %s "$log")" -le 1000000 ]
ok $? "the log has at most a megabyte"
is "$(C exec sinfo -h -N -o %T | grep -cvE '^(allocated|mixed|idle)$')" 0 "no node is drained"

# ---- afterwards ----

device 10
rm -f "$here/work"
wait $srun
is $? 0 "the job ends with 0"
has_ended() { is_true '.state == "finished"'; }
wait_for 120 has_ended
ok $? "the controller knows that the job has ended"
program_to=$(sed -n 's/^result: step \([0-9]*\) .*/\1/p' "$here/out") recorded_to=$(figure .steps)
expected=$((program_to - program_from)) recorded=$((recorded_to - recorded_from))
[ "$expected" -gt 100 ] && [ $((recorded * 100)) -ge $((expected * 99)) ]
ok $? "at least 99 % of the job's steps are recorded"
echo "# $recorded of $expected steps"
C exec srun --sync-guard=off -N4 "$trainer" --batch 8 --rate 0.05 --steps "$program_to" >"$here/bare" 2>&1
is "$(grep -c '^result: ' "$here/bare") $(grep '^result: ' "$here/out")" "1 $(grep '^result: ' "$here/bare")" "the job's result is that of an unguarded run, bit by bit"
is "$(cat "$here/err")" "" "the job prints nothing on standard error"
# Steps whose agents are gone are lost after half a minute, and then no more than their reports is kept. That takes its time.
given_back() { resident=$(memory VmRSS) && [ $((resident - before)) -le $(((peak - before) / 2)) ]; }
if [ "${SYNCGUARD_FULL-}${SIEGE_JSON:+yes}" = "" ]; then
    skip "the controller gives back at least half of what the floods took" "only with SYNCGUARD_FULL=yes"
elif [ -z "${SYNCGUARDD-}" ]; then
    wait_for 300 given_back
    ok $? "the controller gives back at least half of what the floods took"
    echo "# $((resident >> 20)) of $((peak >> 20)) MiB are left, $((before >> 20)) MiB before"
fi
given_back
controller_silent
ok $? "the controller ends without a word on its standard error, such as a sanitizer's report"
if [ -n "${SIEGE_JSON-}" ]; then
    jq -n "{seconds: $seconds, steps_expected: $expected, steps_recorded: $recorded, steps_ratio: ($recorded / $expected), asked: $asked,
        unanswered: $unanswered, status_p50_s: $p50, status_p95_s: $p95, peak_bytes: $peak, before_bytes: $before,
        resident_bytes: $resident, refused: $((now_refused - refused)), failed: $tap_failed}" >"$SIEGE_JSON"
fi
done_testing
