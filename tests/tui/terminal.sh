#!/bin/bash
# sgtop in a real terminal (tmux) against tests/tui/fakecontroller: what a person does with it.
# TAP; a case whose tool is missing is skipped by name.
set -u
: "${top_builddir:=.}" "${top_srcdir:=.}"
SGTOP=$top_builddir/sgtop FAKE=$top_builddir/tests/tui/fakecontroller COST=$top_builddir/tests/tui/cost
DIR=$(mktemp -d) || exit 99
export LC_ALL=C.UTF-8
N=0 FAILED=0 FAKE_PID= SERVER=0
echo 'set -g default-terminal tmux-256color' >"$DIR/tmux.conf"

ok() { # STATUS NAME
    N=$((N + 1))
    if [ "$1" = 0 ]; then echo "ok $N - $2"; else echo "not ok $N - $2"; FAILED=1; fi
}

tm() { tmux -S "$DIR/tmux$SERVER" -f "$DIR/tmux.conf" "$@" 9>&-; }

# What is on the screen; with -e in colour.
screen() { tm capture-pane -p "$@" -t t; }

# Wait until the screen shows a text (10 s), then say so.
shows() { # TEXT NAME
    local i
    for i in $(seq 100); do
        screen | grep -qF -- "$1" && { ok 0 "$2"; return; }
        sleep 0.1
    done
    ok 1 "$2"
    screen | sed 's/^/# /'
}

# What stty says after sgtop's end; it says so a moment after the status.
restored() {
    local i
    for i in $(seq 100); do
        screen | grep -q ' icanon' && screen | grep -q ' echo ' &&
            { ok 0 "and leaves the terminal as it was"; return; }
        sleep 0.1
    done
    ok 1 "and leaves the terminal as it was"
    screen | sed 's/^/# /'
}

hides() { # TEXT NAME
    local i
    for i in $(seq 100); do
        screen | grep -qF -- "$1" || { ok 0 "$2"; return; }
        sleep 0.1
    done
    ok 1 "$2"
    screen | sed 's/^/# /'
}

keys() { tm send-keys -t t "$@"; }

# One report of a mouse button as this terminal makes it: 0 press, 3 release, 64 and 65 the wheel.
mouse() { # BUTTON COLUMN ROW
    # shellcheck disable=SC2059
    keys -l "$(printf "\033[M\\$(printf %o $((32 + $1)))\\$(printf %o $((32 + $2)))\\$(printf %o $((32 + $3)))")"
}

click() { # COLUMN ROW
    mouse 0 "$@"
    mouse 3 "$@"
}

start_fake() { # ARGUMENT...
    mkfifo "$DIR/in" 2>/dev/null
    "$FAKE" "$@" <"$DIR/in" >"$DIR/address" 2>"$DIR/fake.err" &
    FAKE_PID=$!
    exec 9>"$DIR/in" # it ends when this end of its input is closed
    local i
    for i in $(seq 100); do
        [ -s "$DIR/address" ] && break
        kill -0 "$FAKE_PID" 2>/dev/null || break
        sleep 0.1
    done
    read -r HOSTS SOCKET <"$DIR/address"
}

stop_fake() {
    [ -n "$FAKE_PID" ] || return 0
    exec 9>&-
    wait "$FAKE_PID" 2>/dev/null
    FAKE_PID=
}

close_terminal() {
    [ -S "$DIR/tmux$SERVER" ] && tm kill-server 2>/dev/null
}

finish() {
    close_terminal
    stop_fake
    rm -rf "$DIR"
}
trap finish EXIT
trap 'exit 1' INT TERM

# A new terminal that runs sgtop and then tells its status and the terminal's settings. bash: unlike dash it lets a program that
# catches Ctrl-C decide.
open_terminal() { # ARGUMENT...
    close_terminal
    SERVER=$((SERVER + 1)) # a name of its own: the server before may still be on its way out
    tm new-session -d -s t -x 80 -y 24 bash -c "${ENV:-env} $SGTOP $* ; echo status \$?; stty -a; exec sleep 100"
}

if ! command -v munged >/dev/null && [ ! -x /usr/sbin/munged ]; then
    echo "1..0 # SKIP munged is missing: apt-get install munge"
    exit 0
fi
start_fake --at 20 --frozen
if [ -z "${HOSTS:-}" ]; then
    sed 's/^/# /' "$DIR/fake.err"
    echo "1..0 # SKIP the test's munged does not start"
    exit 0
fi
AT="--controller $HOSTS --munge-socket $SOCKET"

# ---- without a terminal ----
# shellcheck disable=SC2086
{
    "$SGTOP" $AT >"$DIR/report" 2>&1 </dev/null
    ok $? "a pipe gets a report"
    grep -q 'Everybody waits for r9' "$DIR/report"
    ok $? "the report has the sentence"
    [ "$(grep -c 'LATENESS\|BLAMED' "$DIR/report")" = 2 ]
    ok $? "and ranks and nodes"
    "$SGTOP" $AT --dump --size=80x24 4711 >"$DIR/report"
    [ "$(wc -l <"$DIR/report")" = 24 ]
    ok $? "--size gives that many lines"
    "$SGTOP" $AT --json 4711 | python3 -c 'import json,sys; j=json.load(sys.stdin); sys.exit(len(j["rank_table"]) != 64)'
    ok $? "--json gives the whole answer"
    LC_ALL=C "$SGTOP" $AT 4711 | LC_ALL=C grep -q '[^ -~]'
    [ $? = 1 ]
    ok $? "without UTF-8 the report is plain ASCII"
    "$SGTOP" $AT 99 >/dev/null 2>"$DIR/err"
    [ $? = 1 ] && grep -q 'no guarded job has this id' "$DIR/err"
    ok $? "status 1 and the reason for a job that is not there"
    "$SGTOP" --controller 127.0.0.1:1 >/dev/null 2>"$DIR/err"
    [ $? = 1 ] && grep -q '127.0.0.1:1: Connection refused' "$DIR/err"
    ok $? "status 1 and the reason without a controller"
    "$SGTOP" --nonsense >/dev/null 2>"$DIR/err"
    [ $? = 2 ] && [ "$(wc -l <"$DIR/err")" = 1 ]
    ok $? "status 2 and one line for a wrong option"

    # ---- a trace ----
    awk 'BEGIN {
        printf "{\"format\":\"syncguard-trace\",\"version\":1,\"job\":\"7.0\",\"ranks\":["
        for (r = 0; r < 8; r++) printf "%s{\"rank\":%d,\"node\":\"n%d\"}", r ? "," : "", r, r / 2
        print "]}"
        for (s = 0; s < 300; s++) {
            for (last = r = 0; r < 8; r++) {
                t0[r] = now + (80 + (r * 7919 + s * 104729) % 97 / 60) * (r == 5 && s > 100 ? 1.5 : 1) * 1e6
                if (t0[r] > last) last = t0[r]
            }
            now = last + 1e5
            for (r = 0; r < 8; r++)
                printf "{\"r\":%d,\"c\":\"world\",\"s\":%d,\"o\":\"allreduce\",\"b\":8,\"t0\":%.0f,\"t1\":%.0f}\n", r, s, t0[r], now
        }
    }' >"$DIR/slow.jsonl"
    "$SGTOP" --replay "$DIR/slow.jsonl" >"$DIR/report" </dev/null
    ok $? "a trace gives a report of itself"
    grep -q 'found   straggler r5' "$DIR/report" && grep -q 'critical path' "$DIR/report"
    ok $? "with what was found, and the critical path"
    "$SGTOP" --replay - <"$DIR/slow.jsonl" | sed 1d | cmp -s - <(sed 1d "$DIR/report")
    ok $? "from a pipe the same"
    [ "$("$top_builddir/sgctl" replay --json "$DIR/slow.jsonl" | python3 -c 'import json,sys; print(json.load(sys.stdin)["sentence"])')" = \
        "$("$top_builddir/sgctl" analyze --json "$DIR/slow.jsonl" | python3 -c 'import json,sys; print(json.load(sys.stdin)["sentence"])')" ]
    ok $? "sgctl replay says what sgctl analyze says"
    "$SGTOP" --replay "$DIR/slow.jsonl" --json </dev/null | python3 -c 'import json,sys; j=json.load(sys.stdin); sys.exit(j["id"] != "7.0" or len(j["rank_table"]) != 8)'
    ok $? "and as JSON what a controller would have answered"
    "$SGTOP" --replay "$DIR/none" >/dev/null 2>"$DIR/err" </dev/null
    [ $? = 1 ] && grep -q 'none: No such file' "$DIR/err"
    ok $? "status 1 and the reason for a trace that is not there"

    # ---- what it costs (a figure, and a limit far beyond it for machines that are busy) ----
    cost=$("$COST" 2 80x24 "$SGTOP" $AT 4711)
    echo "# $cost"
    python3 -c 'import json,sys; c=json.loads(sys.argv[1]); sys.exit(not (0 <= c["first_paint_s"] < 1 and c["restored"] and c["status"] == 0))' "$cost"
    ok $? "paints, quits with 0 and restores the terminal"
    cost=$("$COST" 1 80x24 "$SGTOP" --controller 127.0.0.1:1)
    echo "# without a controller: $cost"
    python3 -c 'import json,sys; c=json.loads(sys.argv[1]); sys.exit(not (0 <= c["first_paint_s"] < 1))' "$cost"
    ok $? "paints at once without a controller"
    cost=$("$COST" 2 80x24 "$SGTOP" $AT 4711)
    python3 -c 'import json,sys; c=json.loads(sys.argv[1]); sys.exit(c["bytes_per_s"] > 0)' "$cost"
    ok $? "writes nothing when nothing changes"
}

if ! command -v tmux >/dev/null; then
    N=$((N + 1))
    echo "ok $N # SKIP tmux is missing: apt-get install tmux"
    echo "1..$N"
    exit $FAILED
fi

# ---- a person at the keys ----
open_terminal "$AT"
shows "4711.0" "the list of jobs"
shows "Everybody waits for r9 on node11" "the sentence of the job under the cursor"
keys Down
shows "node05 is slow" "the next one's"
keys Enter
shows "RANK   NODE" "Enter opens the job"
shows "node05!" "the culprit's node is marked"
keys '?'
shows "this help" "? helps"
keys '?'
hides "this help" "? again does not"
keys v
shows "97 % sure" "v shows the evidence"
keys Down
shows " 2 to 19 of " "Down scrolls it"
keys c
shows "collectives wait for the same rank" "c shows the critical path"
keys q
shows "RANK   NODE" "q goes back to the ranks"
keys / node03
shows "/node03" "the filter is typed at the bottom"
shows "r24 " "its ranks are shown"
hides "r41 " "the others are not"
keys Enter
shows "filter: node03" "Enter keeps it"
keys Escape
shows "r41 " "Esc drops it"
keys s
shows "COMPUT▼" "s sorts by the next column"
keys Space
shows "FROZEN" "Space freezes"
keys End
shows "64/64" "a frozen picture can be scrolled to its end"
keys Space
hides "FROZEN" "Space goes on"
keys Home
shows " 1/64" "back at the top"
mouse 65 20 12
shows " 4/64" "the wheel scrolls"
click 20 12
shows " 5/64" "a click chooses a row"
click 4 10
shows "RANK▼" "a click on a title sorts"
click 33 1
shows "LEMON" "a click on a screen's name shows it"
keys 1
shows "REGIME" "1 is the list"
tm resize-window -t t -x 60 -y 20
shows "sgtop needs 80x24, this is 60x20" "too small a terminal is told so"
tm resize-window -t t -x 120 -y 40
shows "SAMP/S" "a wider one shows more columns"
[ "$(screen | grep -c .)" -gt 3 ] && screen | sed -n 40p | grep -q '? help'
ok $? "and uses all of its height"
keys q
shows "status 0" "q quits with 0"
restored

# ---- colours ----
ENV= open_terminal "$AT" 4711
shows "node05!" "a job as argument"
screen -e | grep -q '38;5;196'
ok $? "a culprit is red"
ENV="env NO_COLOR=1" open_terminal "$AT" 4711
shows "node05!" "NO_COLOR"
screen -e | grep -q '[34]8;5;\|\[3[1-7]m'
[ $? = 1 ]
ok $? "has no colours"
ENV="env LC_ALL=C" open_terminal "$AT" 4711 --mono
shows "LATEv" "a locale without UTF-8"
screen | LC_ALL=C grep -q '[^ -~]'
[ $? = 1 ]
ok $? "has no characters beyond ASCII"
ENV="env TERM=no-such-terminal" open_terminal "$AT"
shows "TERM=no-such-terminal is not known" "an unknown terminal is told so"

# ---- signals ----
for signal in TERM HUP QUIT; do
    ENV= open_terminal "$AT"
    shows "4711.0" "running, before SIG$signal"
    pid=$(tm list-panes -t t -F '#{pane_pid}')
    kill -"$signal" "$(ps -o pid= --ppid "$pid" | head -1)"
    shows "status $((128 + $(kill -l $signal)))" "dies of it"
    restored
done
ENV= open_terminal "$AT"
shows "4711.0" "running, before Ctrl-Z"
pid=$(ps -o pid= --ppid "$(tm list-panes -t t -F '#{pane_pid}')" | head -1)
keys C-z
for _ in $(seq 50); do
    [ "$(ps -o state= -p $pid)" = T ] && break
    sleep 0.1
done
[ "$(ps -o state= -p $pid)" = T ]
ok $? "Ctrl-Z stops it"
kill -CONT $pid
shows "4711.0" "and it paints again when it goes on"
for _ in $(seq 20); do # the old picture may still stand there: what is typed before it listens again is lost
    [ "$(ps -o state= -p $pid)" = T ] || keys C-c
    sleep 0.3
    ps -o state= -p $pid >/dev/null || break
done
shows "status 0" "Ctrl-C quits"

# ---- a controller that comes and goes ----
ENV= open_terminal "$AT"
shows "4711.0" "a controller is there"
stop_fake
shows "STALE" "when it is gone the picture is called old"
shows "connection lost" "and why"
screen | grep -q '4711.0'
ok $? "and is still there"
open_terminal "$AT"
shows "Connection refused" "started without it: the reason"
shows "What to check" "and what to check"
start_fake --at 20 --port "${HOSTS#*:}"
# Its munged is another one: this sgtop asks the old socket, a new one asks the new.
open_terminal "--controller $HOSTS --munge-socket $SOCKET"
shows "4711.0" "and it fills when the controller is there"

# ---- a trace ----
# shellcheck disable=SC2086
keys Q
shows "status 0" "Q quits"
ENV= open_terminal --replay "$DIR/slow.jsonl" --from 5
shows "replay ×1  5." "a trace is played from where it was asked for"
keys Space
shows "paused ×1" "Space pauses"
before=$(screen | head -n 1)
sleep 0.4
[ "$(screen | head -n 1)" = "$before" ]
ok $? "then it stands still"
keys +
shows "paused ×2" "+ is faster"
keys Right
shows "paused ×2  15." "Right goes on by 10 s"
keys Left
shows "paused ×2  5." "Left goes back by 10 s"
keys n
shows "r5 " "n goes on by a step"
keys End
shows "ENDED" "End shows the end"
shows " of " "whose time is known now"
keys v
shows "evidence: what was found" "the panels are there"
keys v
keys Home
shows "paused ×2  0.00 ms" "Home is the beginning"
keys Space
hides "paused" "Space goes on"
keys '?'
shows "pause the replay" "? tells the keys of a replay"
keys '?'
keys 3
shows "LATE" "the nodes of a trace"
keys q
shows "REGIME" "q goes back to the list of its one job"
keys q
shows "status 0" "q quits with 0"

echo "1..$N"
exit $FAILED
