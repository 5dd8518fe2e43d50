#!/bin/bash
# Two controllers on one state directory: one acts, the other takes over when it is killed, paused or ended; a terminal follows, and
# actions and their records stay.
. "${top_srcdir:=$PWD}/tests/tap.sh" || exit 99
command -v jq >/dev/null || skip_all "jq is not installed"
. "$top_srcdir/tests/controller.sh" || exit 99
sgctl() { timeout 120 "$top_builddir/sgctl" --timeout 60 "$@"; }
show_logs() { show "$memory"/syncguardd.[ab].log; }
on_failure() { show_logs; }

# A command that is under way when its controller is lost.
cat >"$dir/hook" <<HOOK
#!/bin/sh
cat >/dev/null
echo begun >>"$dir/begun"
while [ -e "$dir/begun" ]; do sleep 0.2; done
HOOK
chmod 755 "$dir/hook"
free_port other
# A controller that could not renew its lease in time gives it up, and rightly: what the machine does beside this test must not bring that
# about. So the lease is long, and lies where no disk has to be waited for.
memory=$(mktemp -d /dev/shm/syncguard-lease-XXXXXX) || bail_out "no folder in /dev/shm"
folders+=("$memory")
state=$memory/state
sed -i "s/^Controller=.*/Controller=127.0.0.1:$port,127.0.0.1:$other/; /^Port=/d; /^LogFile=/d; s|^StateDir=.*|StateDir=$state|" "$dir/syncguard.conf"
printf 'LeaseTime=10s\nCommandHook=%s\n' "$dir/hook" >>"$dir/syncguard.conf"
for which in a b; do
    { cat "$dir/syncguard.conf"; echo "LogFile=$memory/syncguardd.$which.log"; } >"$dir/$which.conf"
done
echo "Port=$port" >>"$dir/a.conf"
echo "Port=$other" >>"$dir/b.conf"

declare -A process
begin() {
    "$top_builddir/syncguardd" --conf "$dir/$1.conf" &
    process[$1]=$!
    pids+=($!)
}
logged() { grep -q "$2" "$memory/syncguardd.$1.log"; }
takes() { logged "$1" "active: took the lease, epoch $2\$"; }
answers() { sgctl status >/dev/null 2>"$dir/err"; }
ended() { ! kill -0 "${process[$1]}" 2>/dev/null; }
watches() { [ "$(grep -c 'standby: the active' "$memory/syncguardd.$1.log")" -ge "$2" ]; }
known() { sgctl job 4242 >/dev/null 2>&1; }
action() { sgctl actions --json 2>/dev/null | jq -r ".actions[0].$1"; }
failed() { [ "$(action state)" = failed ]; }

touch "$memory/syncguardd.a.log" "$memory/syncguardd.b.log"
begin a
wait_for 120 takes a 1
is $? 0 "the first controller takes the lease"
wait_for 120 answers
is $? 0 "a terminal is answered by it"
begin b
wait_for 120 logged b "standby: the active controller is on"
is $? 0 "the second controller is a standby, and logs who is active"
is "$(find "$state" -name '*-wal' | wc -l)" 0 "databases on shared storage have no WAL"
job_start --nodes 2
wait_for 120 known
is $? 0 "a step is guarded"
sgctl action 4242 command "test of the lease" --yes >"$dir/out" 2>&1 & # waits for the outcome
wait_for 120 test -s "$dir/begun"
is $? 0 "the command is under way"

kill -KILL "${process[a]}"
wait_for 120 takes b 2
is $? 0 "kill -9 of the active controller: the standby takes over with the next epoch"
wait_for 120 answers
is $? 0 "kill -9 of the active controller: the terminal is answered by the other"
wait_for 120 failed
is $? 0 "the command that was under way is recorded as failed by the other controller"
like "$(action outcome)" "not known whether it took effect" "its outcome is that it is not known"
is "$(wc -l <"$dir/begun")" 1 "the command was not run twice"
begin a
wait_for 120 logged a "standby: the active controller is on"
is $? 0 "the controller that was killed is the standby when it is started again"

kill -STOP "${process[b]}"
wait_for 120 takes a 3
is $? 0 "SIGSTOP of the active controller: the standby takes over with the next epoch"
kill -CONT "${process[b]}"
wait_for 120 ended b
wait "${process[b]}"
is $? 3 "a controller that was paused ends when it goes on"
like "$(cat "$memory/syncguardd.b.log")" "steps down" "its log says that it steps down"
wait_for 120 answers
is $? 0 "SIGSTOP of the active controller: the terminal is answered by the other"

begin b
wait_for 120 watches b 2
is $? 0 "the controller that stepped down is the standby when it is started again"
is "$(action state)" failed "records of actions are still there after two takeovers"
kill -TERM "${process[a]}"
wait "${process[a]}"
is $? 0 "SIGTERM ends the active controller"
wait_for 120 takes b 4
is $? 0 "SIGTERM of the active controller: the standby takes over"
done_testing
