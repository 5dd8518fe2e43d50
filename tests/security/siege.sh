#!/bin/bash
# An ordinary user floods the controller in every way that tests/daemon/hostile.c knows, all at once, while root has a job of four
# nodes guarded and asks: neither notices.
# SIEGE_SECONDS: how long (15).  SIEGE_JSON: a file for the figures, those of time included, on which no test depends.  SYNCGUARDD: see
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
seconds=${SIEGE_SECONDS:-15}
C_TIMEOUT=$((seconds * 4 + 120))
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
status() { C exec sgctl status --json | jq "$1"; }

# ---- root's job, and the same one without the guard ----

# Long enough that floods, and what comes before and after, end first: the device takes 50 ms a step.  Results do not depend on it.
work=("$trainer" --batch 8 --steps $((20 * (seconds + 30))))
C exec srun --sync-guard=off -N4 "${work[@]}" >"$here/bare" 2>&1
mkdir "$here/clock"
C exec srun --sync-guard -N4 "${work[@]}" --device 0.05 --device-clock "$here/clock" >"$here/out" 2>"$here/err" &
srun=$!
job=2
until_true 30 '.state == "running" and .unconfirmed == null and (.steps // 0) > 20'
ok $? "root's job of four nodes is guarded, and its steps are counted"

device() { # FACTOR of its clock, from the next step on
    local node

    for node in node1 node2 node3 node4; do
        echo "$1" >"$here/clock/new" && mv "$here/clock/new" "$here/clock/$node"
    done
}
reported() { sed -n 's/^step *\([0-9]*\) .*/\1/p' "$here/out" | tail -n 1; }
passed() { [ "$(reported)" -gt "$1" ]; }

# count STEP_OF_PROGRAM STEPS_RECORDED (names of variables): both, at the same moment.  A step takes 2.5 s meanwhile, at whose end the
# program reports; its records have arrived long before the next one.  The steps before the job's pattern was known are not recorded:
# they are the difference of the first count.
count() {
    local -n program=$1 recorded=$2

    device 0.02
    for _ in 1 2; do
        program=$(reported)
        wait_for 20 passed "$program" || return
    done
    for _ in 1 2 3 4 5; do
        program=$(reported)
        sleep 1
        recorded=$(figure .steps)
        [ "$(reported)" != "$program" ] || break
    done
    device 1
}

# ---- the floods ----

cat >"$here/ask" <<'ASK'
#!/bin/bash
# ask SECONDS: asks for as long; of each question the exit status and the microseconds
end=$((SECONDS + $1))
while [ $SECONDS -lt $end ]; do
    begin=$EPOCHREALTIME
    sgctl status >/dev/null
    status=$? now=$EPOCHREALTIME
    echo "$status $((${now/[.,]/} - ${begin/[.,]/}))"
    sleep .2
done
ASK
chmod 755 "$here/ask"

pid=$(controller) before=$(memory VmRSS) refused=$(status .bounds.refused)
count program_from recorded_from || bail_out "the job takes no steps before the floods"
flooders=()
for what in "${!floods[@]}"; do
    on "${floods[$what]}" setpriv --reuid=$user --regid=$user --clear-groups "$here/hostile" ctl:6825 "$here/c/munge/sock" "$what" \
        "$seconds" >"$here/$what.flood" 2>&1 </dev/null &
    flooders+=($!)
done
C exec "$here/ask" "$seconds" >"$here/asked" 2>"$here/asked.err"
ended=0
for flooder in "${flooders[@]}"; do
    wait "$flooder" && ended=$((ended + 1))
done
count program_to recorded_to || bail_out "the job takes no steps after the floods"
peak=$(memory VmHWM)

expected=$((program_to - program_from)) recorded=$((recorded_to - recorded_from))
asked=$(wc -l <"$here/asked") unanswered=$(grep -vc '^0 ' "$here/asked")
at_share() { cut -d ' ' -f 2 "$here/asked" | sort -n | awk -v share="$1" '{ t[NR] = $1 } END { n = int(NR * share + .999); print t[n ? n : 1] / 1e6 }'; }
p50=$(at_share .5) p95=$(at_share .95)
echo "# $seconds s of floods: half of $asked answers within $p50 s, 95 % within $p95 s"
is "$ended" "${#floods[@]}" "all floods lasted to their end" || show "$here"/*.flood
[ "$expected" -gt 0 ] && [ $((recorded * 100)) -ge $((expected * 99)) ]
ok $? "at least 99 % of the job's steps are recorded: $recorded of $expected"
is "$(figure '[.nodes, .ranks, .probe.ranks_guarded] | join(" ")')" "4 4 4" "all of the job's nodes and ranks are guarded"
if [ -z "${SYNCGUARDD-}" ]; then
    is "$((asked > 0)) $unanswered" "1 0" "root asks, and every question is answered" || show "$here/asked.err"
    [ "$peak" -le $((256 << 20)) ]
    ok $? "the controller has at most 256 MiB: $((peak >> 20)) MiB"
fi
is "$(controller)" "$pid" "the controller is the one that was there before"

# ---- who was refused, and why ----

now_refused=$(status .bounds.refused)
[ "$now_refused" -gt "$refused" ]
ok $? "the controller counts what it refused: $((now_refused - refused))"
refused_by() { grep -qE "refused: .*\($1\)$" "$log"; }
refused_by HandshakesPerSecond
ok $? "the log has the key that bounds a refused connection: HandshakesPerSecond"
# A busy machine's floods may not come as far; tests/daemon/bounds.sh fills the memory without a siege.
if refused_by UserMemory; then
    grep -q '"error":.*(UserMemory)' "$here"/*.flood
    ok $? "the log has the key that bounds a refused step, UserMemory, and the user is told it"
else
    skip "the log has the key that bounds a refused step, UserMemory" "the floods were too slow to reach it"
fi
[ "$(stat -c %s "$log")" -le 1000000 ]
ok $? "the log has at most a megabyte: $(stat -c %s "$log") bytes"
is "$(C exec sinfo -h -N -o %T | grep -cvE '^(allocated|mixed|idle)$')" 0 "no node is drained"

# ---- afterwards ----

device 10
wait $srun
is $? 0 "the job ends with 0"
is "$(grep -c '^result: ' "$here/bare") $(grep '^result: ' "$here/out")" "1 $(grep '^result: ' "$here/bare")" "the job's result is that of an unguarded run, bit by bit"
is "$(cat "$here/err")" "" "the job prints nothing on standard error"
# Steps whose agents are gone are lost after half a minute, and then no more than their reports is kept.
given_back() { resident=$(memory VmRSS) && [ $((resident - before)) -le $(((peak - before) / 2)) ]; }
if [ -z "${SYNCGUARDD-}" ]; then
    wait_for 120 given_back
    ok $? "the controller gives back at least half of what the floods took: $((resident >> 20)) of $((peak >> 20)) MiB are left, $((before >> 20)) MiB before"
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
